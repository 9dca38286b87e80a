# SPDX-License-Identifier: BSD-3-Clause
#
# Programs that use MPI by sessions, with and without a world: recorded from the first MPI_Session_init to
# the last MPI_Session_finalize, however often. Which MPIs can do what is asked of them without us is
# seen first.
"""Sessions."""

import os

from harness import Failure, Skip, command, main, mpi_test, same, setting
from trace import Trace

RANKS = 2


def said(job):
    """What the program itself wrote."""
    return [line for line in job.stdout.splitlines() if line.startswith("cycle")]


def record(mpi, folder, *arguments):
    try:
        program = mpi.build("sessions.c")
    except Failure:
        raise Skip("this MPI has no sessions")
    argv = [program] + [str(argument) for argument in arguments]
    plain = mpi.run(RANKS, argv, folder)
    killed = arguments[0] == "kill"
    if plain.code not in ((9, 137) if killed else (0,)):
        raise Skip("without us, too, this MPI fails: exit %d" % plain.code)
    library = os.path.join(os.path.dirname(setting("MW_LIBRARY")), "libmpiwatch-mpi4.so")
    job, path = mpi.record(RANKS, argv, folder, preload=None if mpi.name == "mpich" else library)
    same((job.code, said(job)), (plain.code, said(plain)), "code and output")
    if killed:
        command([setting("MW_CLI"), "collect", path], folder).expect(0)
    trace = Trace(path)
    same(sorted(process.rank for process in trace.processes), list(range(RANKS)), "ranks")
    for process in trace.processes:
        same((process.size, process.missing), (RANKS, 0), "size, missing")
        same([note for note in process.health if note["code"] != "wrong-library"], [], "health")
    return trace


def exchanged(process):
    """(tag, peer, ordinal) of the messages received."""
    return [(call.event.tag, call.event.peer, call.event.ordinal) for call in process.calls()
            if call.function == "MPI_Sendrecv"]


def expected(rank, *tags):
    return [(tag, (rank - 1) % RANKS, i) for tag in tags for i in range(5)]


@mpi_test
def sessions_alone(mpi, folder):
    """The process set of all is what ranks refer to."""
    for process in record(mpi, folder, "alone", 1).processes:
        same(exchanged(process), expected(process.rank, 0), "messages")
        same(process.end, "finalize", "end")
        calls = [call.function for call in process.calls()]
        same((calls[0], calls[-1]), ("MPI_Session_init", "MPI_Session_finalize"), "first and last")
        same({comm.how for comm in process.comms.values()}, {"from_group"}, "communicators")


@mpi_test
def several_cycles(mpi, folder):
    trace = record(mpi, folder, "alone", 3)
    for process in trace.processes:
        same(exchanged(process), expected(process.rank, 0, 1, 2), "messages")
        same((process.end, process.counts["MPI_Session_init"]), ("finalize", 3), "end, cycles")


@mpi_test
def two_at_once(mpi, folder):
    """World ranks outlive the session that they were asked of."""
    for process in record(mpi, folder, "two", 1).processes:
        same(exchanged(process), expected(process.rank, 0, 100), "messages")
        same(process.end, "finalize", "end")


@mpi_test
def a_world_in_between(mpi, folder):
    """MPI_Finalize is not the end while there is a session."""
    for process in record(mpi, folder, "world").processes:
        same(exchanged(process), expected(process.rank, 50, 99, 51), "messages")
        same(process.end, "finalize", "end")
        same(process.calls()[-1].function, "MPI_Session_finalize", "last call")
        same(process.rank_hint, process.rank, "rank and the launcher's word")


@mpi_test(variants=(1, 2))
def killed_in_a_session(mpi, folder, cycles):
    """The end of the cycle before is none."""
    trace = record(mpi, folder, "kill", cycles)
    same(trace.rank(RANKS - 1).end, "collected", "end")
    if exchanged(trace.rank(0))[-1][0] == cycles - 1:  # it came that far
        same(exchanged(trace.rank(RANKS - 1)), expected(RANKS - 1, *range(cycles)), "messages")


main()
