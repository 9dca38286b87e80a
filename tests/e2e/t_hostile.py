# SPDX-License-Identifier: BSD-3-Clause
#
# Programs that do what no program should: mistakes, jumps, signals, threads that never end,
# descriptors that are closed or few. Each is run with and without us and must not differ; then what
# the trace has of it is checked.
"""Hostile programs."""

import os

from alike import both, kinds
from harness import check, main, mpi_test, same
from trace import Trace


@mpi_test
def null_pointers(mpi, folder):
    """MPI reports them; we do not follow them."""
    _, path = both(mpi, folder, mpi.build("hostile_nulls.c"), [])
    process = Trace(path).rank(0)
    failed = [call.function for call in process.calls() if call.error]
    for function in ("MPI_Wait", "MPI_Waitall", "MPI_Testsome", "MPI_Request_free", "MPI_Start"):
        check(function in failed, function, "is not recorded as failed")


@mpi_test
def jumps_out_of_error_handlers(mpi, folder):
    """What follows is recorded, not as if a callback had called it; no request is taken for another."""
    _, path = both(mpi, folder, mpi.build("hostile_jumps.c"), [])
    process = Trace(path).rank(0)
    same(kinds(process, "MPI_Allreduce"), ["COLL"] * 200, "reductions")
    same([call for call in process.calls() if call.nested], [], "nested calls")
    receives = [call.event for call in process.calls() if call.function == "MPI_Irecv"]
    same(len(receives), 400, "receives")
    long_ones = {event.request for event in receives if event.bytes_in == 16}
    done = [call.event.request for call in process.calls()
            if call.function == "MPI_Wait" and call.kind == "DONE" and not call.error]
    if mpi.name == "mpich":  # Open MPI 4.1 does not report that a message to itself is too long
        same(set(done), long_ones, "receives that completed")


def left(call):
    """Whether the trace says that the call did not return."""
    return call.error and call.event.code == 0


@mpi_test(variants=("jump", "throw"))
def calls_that_do_not_return(mpi, folder, how):
    """Each has its event, in its place; what surrounds it is as if it had returned."""
    job, path = both(mpi, folder, mpi.build("left.cc", "-lstdc++"), [how], ranks=2)
    same(job.stdout.count("was left"), 7, "calls that were left")
    process = Trace(path).rank(0)
    found = [(call.function, call.kind, left(call), call.nested) for call in process.calls()
             if call.function in ("MPI_Send", "MPI_Recv", "MPI_Bcast", "MPI_Barrier", "MPI_Comm_dup")]
    same(found, [
        ("MPI_Send", "CALL", True, False),
        ("MPI_Recv", "CALL", True, False),
        ("MPI_Recv", "RECV", False, False),
        ("MPI_Bcast", "COLL", True, False),
        ("MPI_Comm_dup", "COLL", False, False),
        ("MPI_Send", "CALL", True, True),
        ("MPI_Barrier", "COLL", False, True),
        ("MPI_Comm_dup", "COLL", False, False),
        ("MPI_Send", "CALL", True, True),
        ("MPI_Send", "CALL", True, False),
    ], "calls")
    calls = process.calls()
    same([(call.event.peer, call.event.tag) for call in calls if call.function == "MPI_Recv"],
         [(1, 6)] * 2, "peer and tag")
    for before, call in zip(calls, calls[1:]):
        check(call.start <= call.end, call, "ends before it starts")
        check(call.nested or before.nested or before.start <= call.start, call, "is out of order")
    same(process.counts["MPI_Reduce_local"], 1, "local calls")
    same(process.counts["MPI_Send"], 4, "sends")
    same(process.open_calls, [], "open calls")
    same(process.missing, 0, "missing events")


@mpi_test
def failures_keep_count(mpi, folder):
    """A receive that failed because its message was too long has its number; a collective that was refused has
    none, so that the ranks stay in step."""
    program = mpi.build("failing.c")
    plain = mpi.run(2, [program], folder)
    job, path = mpi.record(2, [program], folder)
    same((job.code, sorted(job.stdout.splitlines())), (plain.code, sorted(plain.stdout.splitlines())),
         "code and output")
    same(job.stdout.count("truncated, then message 1"), 7, "messages that were taken")
    trace = Trace(path)
    process = trace.rank(1)
    for form in range(7):
        taken = [(event.ordinal, "error" in event.flags) for call in process.calls()
                 for event in call.events if "counted" in event.flags and event.peer == 0 and
                 event.tag == form and (event.kind == "RECV" or "matched" in event.flags)]
        same(taken, [(0, True), (1, False)], "receives of form %d" % form)
    reached = []
    for process in trace.processes:
        world = [number for number in process.comms if process.comms[number].how == "world"][0]
        reached.append([(event.function, event.ordinal) for call in process.calls()
                        for event in call.events if event.kind == "COLL" and event.comm == world])
        same([process.comm_identity(n) for n in process.comms if process.comms[n].how == "dup"],
             [("dup", 0, process.comms[world].hash, process.comm_identity(world))], "communicator")
    same(reached[0], reached[1], "collectives")
    same([ordinal for _, ordinal in reached[0]], list(range(len(reached[0]))), "instances")
    failed = [call for call in trace.rank(0).calls() if call.function == "MPI_Gather"]
    same([(call.kind, call.error) for call in failed], [("COLL", True)], "the one that was entered")


@mpi_test
def small_stacks(mpi, folder):
    """Threads with 64 KiB."""
    _, path = both(mpi, folder, mpi.build("narrow.c", "-lpthread"), ["stack", 64])
    process = Trace(path, events=False).rank(0)
    same(process.counts["MPI_Waitall"], 4 * 5010, "calls counted")
    same(process.health, [], "health")


@mpi_test
def blocked_signals(mpi, folder):
    """The program's mask stays as it is, and nothing is left pending."""
    _, path = both(mpi, folder, mpi.build("narrow.c", "-lpthread"), ["blocked"])
    same(Trace(path, events=False).rank(0).counts["MPI_Waitall"], 5000, "calls counted")


@mpi_test(variants=("count", "jump", "exit"))
def signals(mpi, folder, mode):
    """A thousand a second, into whatever we are doing."""
    _, path = both(mpi, folder, mpi.build("hostile_signals.c", "-lpthread"), [mode])
    trace = Trace(path, events=mode == "count")
    process = trace.rank(0)
    same(process.counts["MPI_Sendrecv"], 2000, "calls counted")
    same(process.end, "finalize" if mode == "count" else "exit", "end")
    if mode == "count":
        same(len(kinds(process, "MPI_Sendrecv")), 2000, "calls recorded")
        same(process.missing, 0, "missing events")


@mpi_test(variants=("", "/nonexistent"))
def threads_that_do_not_end(mpi, folder, shm):
    """With and without a mapping: all calls are recorded, a wait completes its own thread's request."""
    _, path = both(mpi, folder, mpi.build("hostile_threads.c", "-lpthread"), [500],
                   env={"MPIWATCH_SHM": shm} if shm else None)
    process = Trace(path).rank(0)
    for function in ("MPI_Isend", "MPI_Recv", "MPI_Wait"):
        same(len(kinds(process, function)), 2000, function)
    foreign = [call for call in process.all_calls() if "foreign" in call.event.flags]
    same(foreign, [], "completed in another thread")


@mpi_test(variants=("closed", "few", "low", "gone"))
def descriptors(mpi, folder, mode):
    """The program's own, and their numbers, are left alone."""
    program = mpi.build("hostile_descriptors.c")
    report = os.path.join(folder, "report")
    trace = os.path.join(folder, "job.mpiw")
    more = {"few": [40 if mpi.name == "mpich" else 16],
            "gone": [trace, os.path.join(folder, "own")]}.get(mode, [])
    found = []
    for preload in (None, mpi.library()):
        job = mpi.run(1, [program, mode, report] + more, folder, preload=preload,
                      env={"MPIWATCH_OUT": trace})
        text = None
        if os.path.exists(report):
            with open(report) as file:
                text = file.read()
            os.remove(report)
        found.append((job.code, text))
    same(found[1], found[0], "code and report")
    if mode in ("closed", "low") or (mode == "few" and found[0][0] == 0):
        same(len(kinds(Trace(trace).rank(0), "MPI_Sendrecv")), 6000, "calls recorded")


@mpi_test
def many_requests(mpi, folder):
    """In one wait, in reverse order: no chain is walked for each. Of several that fail and succeed at
    once each is told."""
    count = 60000
    job, path = both(mpi, folder, mpi.build("hostile_requests.c"), [count])
    seconds = float([line for line in job.stderr.splitlines() if line[:1].isdigit()][0])
    check(seconds < 2, "%d requests took %.3f s in one wait" % (2 * count, seconds))
    process = Trace(path).rank(0)
    parts = [part for call in process.calls() if call.function == "MPI_Waitall"
             for part in call.parts]
    same(len(parts), 2 * count, "completed requests")
    same(len({part.request for part in parts}), 2 * count, "different ones")
    some = [part for call in process.calls() if call.function == "MPI_Waitsome"
            for part in call.events if part.kind == "DONE"]
    same(len(some), 2, "completed by Waitsome")
    if "failed" in job.stdout:  # not with Open MPI 4.1, see above
        same([part.bytes_in for part in some if "error" not in part.flags], [4],
             "bytes of what succeeded")


main()
