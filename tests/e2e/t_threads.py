# SPDX-License-Identifier: BSD-3-Clause
#
# Many threads that call MPI: none of their calls is lost or counted twice, however many there are, come
# and go.
"""Threads."""

from harness import check, main, mpi_test, same
from matrices import by_command
from trace import Trace

PROGRAM = "thread_counts.c"


def run(mpi, folder, mode, threads, messages):
    program = mpi.build(PROGRAM, "-lpthread")
    job, path = mpi.record(1, [program, mode, threads, messages], folder, timeout=120)
    job.expect(0)
    return path


def record(mpi, folder, mode, threads, messages):
    process = Trace(run(mpi, folder, mode, threads, messages)).rank(0)
    same(process.counts["MPI_Sendrecv"], threads * messages, "calls counted")
    calls = [call for call in process.all_calls() if call.function == "MPI_Sendrecv"]
    same(len(calls), threads * messages, "calls recorded")
    same(process.missing, 0, "missing events")
    same(process.health, [], "health")
    by_tag = {}
    for call in calls:
        by_tag.setdefault(call.event.tag, set()).add(call.event.ordinal)
    same(len(by_tag), threads, "tags")
    return process, by_tag


@mpi_test
def exact_counts(mpi, folder):
    """Eight threads, 100,000 calls each."""
    path = run(mpi, folder, "run", 8, 100000)
    process = Trace(path, events=False).rank(0)
    same(process.counts["MPI_Sendrecv"], 800000, "calls counted")
    same(process.health, [], "health")
    same(by_command(path, folder, "messages"), {(0, 0): 800000.0}, "messages")
    same(by_command(path, folder, "bytes"), {(0, 0): 3200000.0}, "bytes")


@mpi_test
def threads_that_come_and_go(mpi, folder):
    """Their places are handed on."""
    process, _ = record(mpi, folder, "come", 1000, 10)
    check(len(process.threads) < 32, "%d threads have a place" % len(process.threads))


@mpi_test
def hundreds_at_once(mpi, folder):
    """All are recorded; what one started and another completed is told, whatever its number."""
    process, _ = record(mpi, folder, "hold", 400, 50)
    same(len(process.threads), 401, "threads")
    waits = [call for call in process.calls() if call.function == "MPI_Waitall"]
    same(len(waits), 1, "waits")
    same(sorted(part.origin for part in waits[0].parts), list(range(1, 401)), "started by")
    for part in waits[0].parts:
        same(process.started(part).function, "MPI_Irecv", "what was started")


main()
