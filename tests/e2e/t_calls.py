# SPDX-License-Identifier: BSD-3-Clause
#
# Each call of a program is one record, with the right peer, size, tag and communicator, in C and in
# the three Fortran bindings, under each MPI and under the standard ABI.
"""What is recorded of each kind of call."""

import os
import shutil

import expectation
from harness import Failure, Job, STUBS, PROGRAMS, check, library, main, mpi_test, same, test
from mpi import build_folder, compile_file, WARNINGS
from trace import Trace
from tools import counter_tool, tool_counts

LANGUAGES = ("C", "mpif.h", "use mpi", "use mpi_f08")


def lines_of(prefix, rank):
    with open("%s.%d" % (prefix, rank)) as file:
        return file.read().splitlines()


def program(mpi, language):
    if language == "C":
        return mpi.build("calls.c")
    binding = LANGUAGES.index(language)
    return mpi.build("calls.F90", "-DBINDING=%d" % binding, name="calls_f%d" % binding)


@mpi_test(variants=LANGUAGES)
def same_records_in_every_language(mpi, folder, language):
    prefix = os.path.join(folder, "expect")
    plain = mpi.run(4, [mpi.build("calls.c")], folder, env={"MWTEST_EXPECT": prefix}).expect(0)
    job, path = mpi.record(4, [program(mpi, language)], folder)
    job.expect(0)
    same(job.stdout, plain.stdout, "the program's output")
    same(job.stderr, plain.stderr, "stderr")
    trace = Trace(path)
    check(not trace.damage, "damage: %s" % trace.damage)
    same(len(trace.processes), 4, "processes")
    for rank in range(4):
        expectation.compare(
            trace.rank(rank),
            lines_of(prefix, rank),
            optional={"MPI_Buffer_attach", "MPI_Buffer_detach"},
        )


@mpi_test
def communicators_are_the_same_on_all_their_members(mpi, folder):
    job, path = mpi.record(4, [mpi.build("calls.c")], folder)
    job.expect(0)
    trace = Trace(path)
    holders = {}
    for process in trace.processes:
        for comm in process.comms.values():
            if comm.how not in ("self",):
                identity = process.comm_identity(comm.id)
                holders.setdefault(identity, []).append((process.rank, comm))
    words = {comm.how for entries in holders.values() for _, comm in entries}
    missing = {
        "world",
        "dup",
        "split",
        "split_type",
        "create",
        "create_group",
        "cart",
        "cart_sub",
        "graph",
        "dist_graph",
        "intercomm",
        "merge",
    } - words
    check(not missing, "never seen: %s" % sorted(missing))
    for identity, entries in holders.items():
        ranks = sorted(rank for rank, _ in entries)
        for rank, comm in entries:
            members = comm.members + comm.remote_members
            same(
                sorted(members),
                ranks,
                "%s: who holds it, and its members by rank %d" % (identity, rank),
            )
            same(comm.members[comm.rank], rank, "%s: own place" % (identity,))
            same(comm.size, len(comm.members), "%s: size" % (identity,))
            same(comm.remote_size or 0, len(comm.remote_members), "%s: remote size" % (identity,))
    # Two splits of world into halves and one of dup: orders as the program asked for.
    by_how = {}
    for process in trace.processes:
        for comm in process.comms.values():
            by_how.setdefault((process.rank, comm.how), []).append(comm)
    check([2, 0] in [comm.members for comm in by_how[0, "split"]], "the reversed split")
    check(
        [2, 3, 0, 1] in [comm.members for comm in by_how[0, "merge"]]
        or [0, 1, 2, 3] in [comm.members for comm in by_how[0, "merge"]],
        "the merged halves",
    )


@mpi_test
def every_message_has_its_ordinal_on_both_sides(mpi, folder):
    job, path = mpi.record(4, [mpi.build("calls.c")], folder)
    job.expect(0)
    sides = {"SEND": {}, "RECV": {}}
    for process in Trace(path).processes:
        for call in process.calls():
            for event in call.events:
                kind = event.kind
                if "counted" not in event.flags or kind not in ("SEND", "RECV", "DONE"):
                    continue
                start = process.started(event) if kind == "DONE" else event
                identity = process.comm_identity(start.comm)
                peer, tag = event.peer, event.tag
                if "cancelled" in event.flags or tag == 999:
                    continue
                pair = (process.rank, peer) if kind == "SEND" else (peer, process.rank)
                sides["SEND" if kind == "SEND" else "RECV"].setdefault(
                    (identity, pair, tag), []
                ).append(event.ordinal)
    for key in sorted(set(sides["SEND"]) | set(sides["RECV"]), key=str):
        sent, received = (sorted(sides[kind].get(key, [])) for kind in ("SEND", "RECV"))
        same(sent, list(range(len(sent))), "%s: ordinals of the sends" % (key,))
        same(received, sent, "%s: ordinals of the receives" % (key,))


@mpi_test
def counts_are_the_calls_that_the_program_made(mpi, folder):
    counter = counter_tool(mpi)
    prefix = os.path.join(folder, "counts")
    mpi.run(4, [mpi.build("calls.c")], folder, preload=counter, env={"MWTOOL_OUT": prefix}).expect(
        0
    )
    made = sorted(tool_counts(prefix), key=lambda counts: sorted(counts.items()))
    job, path = mpi.record(4, [mpi.build("calls.c")], folder)
    job.expect(0)
    recorded = sorted(
        (process.counts for process in Trace(path).processes),
        key=lambda counts: sorted(counts.items()),
    )
    free = expectation.POLLING

    def fixed(counts):
        return sorted((name, calls) for name, calls in counts.items() if name not in free)

    same(sorted(map(fixed, recorded)), sorted(map(fixed, made)), "calls by function")


@mpi_test
def polls_in_vain_are_coalesced_and_counted(mpi, folder):
    job, path = mpi.record(2, [mpi.build("polls.c")], folder)
    job.expect(0)
    process = Trace(path).rank(1)
    polls = {}
    records = 0
    for call in process.calls():
        if call.kind == "POLL":
            records += 1
            polls[call.function] = polls.get(call.function, 0) + call.event.polls
            check(
                call.event.busy <= call.end - call.start, "longer inside than it lasted: %s" % call
            )
    same(
        polls,
        {"MPI_Iprobe": 1000, "MPI_Test": 1000, "MPI_Testall": 500, "MPI_Testany": 300},
        "polls",
    )
    check(records <= 40, "%d records for four spans" % records)
    same(
        [process.counts[name] for name in ("MPI_Iprobe", "MPI_Test", "MPI_Testall", "MPI_Testany")],
        [1000, 1000, 500, 300],
        "counts",
    )


@mpi_test
def user_code_inside_mpi_is_recorded(mpi, folder):
    prefix = os.path.join(folder, "expect")
    job, path = mpi.record(2, [mpi.build("nested.c")], folder, env={"MWTEST_EXPECT": prefix})
    job.expect(0)
    trace = Trace(path)
    for rank in range(2):
        # An inner call ends, and is recorded, before the call it is in; the program wrote them down
        # in that order.
        expectation.compare(trace.rank(rank), lines_of(prefix, rank))


@mpi_test
def threads_have_their_own_records(mpi, folder):
    program_path = mpi.build("threads.c", "-pthread")
    plain = mpi.run(2, [program_path], folder)
    if plain.code == 77:
        raise Failure("no MPI_THREAD_MULTIPLE")
    job, path = mpi.record(2, [program_path], folder)
    job.expect(0)
    same(job.stdout, plain.stdout, "the program's output")
    for process in Trace(path).processes:
        # A thread that ends leaves its place, and its number, to a later one.
        others = {thread: process.calls(thread) for thread in process.threads if thread}
        functions = [
            call.function for calls in others.values() for call in calls if call.kind != "POLL"
        ]
        same(
            [functions.count(name) for name in ("MPI_Send", "MPI_Irecv", "MPI_Wait")],
            [1500, 1500, 1501],
            "calls",
        )
        same(len(functions), 4501, "calls of all threads but the main one")
        tags = [
            {event.tag for call in calls for event in call.events if event.kind == "SEND"}
            for calls in others.values()
        ]
        same(sorted(tag for some in tags for tag in some), [1, 2, 3], "tags: each in one thread")
        foreign = [
            event
            for calls in others.values()
            for call in calls
            for event in call.events
            if "foreign" in event.flags
        ]
        same([event.kind for event in foreign], ["DONE"], "what is marked as another thread's")
        start = process.started(foreign[0])
        same((start.function, start.tag), ("MPI_Irecv", 50), "the start of that request")
        check(
            start in [event for call in process.calls(0) for event in call.events],
            "it was not the main thread's",
        )


@mpi_test
def corners_of_the_standard(mpi, folder):
    prefix = os.path.join(folder, "expect")
    program_path = mpi.build("corners.c")
    plain = mpi.run(4, [program_path], folder, env={"MWTEST_EXPECT": prefix}, timeout=120).expect(0)
    job, path = mpi.record(4, [program_path], folder, timeout=120)
    same((job.code, job.stdout, job.stderr), (plain.code, plain.stdout, plain.stderr), "result")
    trace = Trace(path)
    check(not trace.damage, "damage: %s" % trace.damage)
    for rank in range(4):
        process = trace.rank(rank)
        expectation.compare(
            process, lines_of(prefix, rank), optional={"MPI_Pcontrol", "MPI_Request_get_status"}
        )
        same(process.counts["MPI_Pcontrol"], 2, "MPI_Pcontrol")
        big = [call for call in process.calls() if len(call.events) >= 6000]
        same(len(big), 1, "calls with thousands of completions")
        tags = sorted(process.started(event).tag for event in big[0].events if event.kind == "DONE")
        same(
            tags,
            sorted(2 * [100 + i % 1000 for i in range(3000)]),
            "what the big MPI_Waitall completed",
        )
        calls = process.calls()
        after = calls[calls.index(big[0]) + 1]
        check(0 < big[0].event.offset <= after.start - big[0].end, "held up for", big[0].event.offset, "before", after)
        splits = [comm for comm in process.comms.values() if comm.how == "split"]
        same(len(splits), 301, "communicators")
        same(len({comm.id for comm in splits}), 301, "their ids")


@mpi_test(only="mpich")
def functions_of_mpi4(mpi, folder):
    prefix = os.path.join(folder, "expect")
    program_path = mpi.build("calls4.c")
    plain = mpi.run(2, [program_path], folder, env={"MWTEST_EXPECT": prefix}).expect(0)
    job, path = mpi.record(2, [program_path], folder)
    same((job.code, job.stdout, job.stderr), (plain.code, plain.stdout, plain.stderr), "result")
    trace = Trace(path)
    for rank in range(2):
        expectation.compare(trace.rank(rank), lines_of(prefix, rank))


def build_abi(folder):
    """The stub library and the program for it."""
    base = os.path.join(build_folder(), "abi")
    os.makedirs(base, exist_ok=True)
    stub = os.path.join(STUBS, "abi")
    shared = compile_file(
        "gcc",
        os.path.join(stub, "libmpi_abi.c"),
        os.path.join(base, "libmpi_abi.so.0"),
        WARNINGS
        + [
            "-g",
            "-O2",
            "-shared",
            "-fPIC",
            "-I" + stub,
            "-Wl,-soname,libmpi_abi.so.0",
            os.path.join(stub, "libmpi_abi_comm.c"),
        ],
    )
    return base, compile_file(
        "gcc",
        os.path.join(PROGRAMS, "abi_calls.c"),
        os.path.join(base, "abi_calls"),
        WARNINGS + ["-g", "-I" + stub, "-L" + base, "-l:" + os.path.basename(shared)],
    )


@test
def the_standard_abi(folder):
    base, path = build_abi(folder)
    prefix, trace_path = os.path.join(folder, "expect"), os.path.join(folder, "job.mpiw")

    def run(preload, env):
        sockets = os.path.join(folder, "s")
        shutil.rmtree(sockets, ignore_errors=True)
        os.mkdir(sockets)
        jobs = [
            Job(
                [path],
                folder,
                env=dict(
                    env,
                    MPI_STUB_RANK=rank,
                    MPI_STUB_SIZE=2,
                    MPI_STUB_DIR="s",
                    LD_LIBRARY_PATH=base,
                    LD_PRELOAD=preload,
                ),
            )
            for rank in range(2)
        ]
        for job in jobs:
            job.wait().expect(0)
        return [job.stdout for job in jobs] + [job.stderr for job in jobs]

    plain = run(None, {"MWTEST_EXPECT": prefix})
    same(run(library(), {"MPIWATCH_OUT": trace_path, "MPIWATCH_JOB": "abi"}), plain, "output")
    trace = Trace(trace_path)
    same([process.abi for process in trace.processes], ["standard", "standard"], "ABI")
    for rank in range(2):
        process = trace.rank(rank)
        same(process.thread_level, 2, "thread level (serialized)")
        expectation.compare(process, lines_of(prefix, rank))


main()
