# SPDX-License-Identifier: BSD-3-Clause
#
# Many threads that call MPI: none of their calls is lost or counted twice, however many there are, come
# and go.
"""Threads."""

import os
import shutil

from harness import check, command, main, mpi_test, same, setting
from matrices import by_command
from trace import Trace

PROGRAM = "thread_counts.c"


def run(mpi, folder, mode, threads, messages, env=None):
    program = mpi.build(PROGRAM, "-lpthread")
    job, path = mpi.record(1, [program, mode, threads, messages], folder, timeout=120, env=env)
    check((job.code != 0) == (mode == "killed"), job.describe())
    return path


def size(path):
    return sum(os.path.getsize(os.path.join(path, name)) for name in os.listdir(path))


def record(mpi, folder, mode, threads, messages):
    path = run(mpi, folder, mode, threads, messages)
    if mode == "killed":
        command([setting("MW_CLI"), "collect", path], folder).expect(0)
    process = Trace(path).rank(0)
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


@mpi_test(variants=("come", "killed"))
def threads_that_come_and_go(mpi, folder, mode):
    """Their places are handed on, with what is not in the file yet."""
    process, _ = record(mpi, folder, mode, 1000, 10)
    check(len(process.threads) < 32, "%d threads have a place" % len(process.threads))
    same(process.end, {"come": "finalize", "killed": "collected"}[mode], "end")


@mpi_test
def a_thread_for_each_message(mpi, folder):
    """Each is described, and costs little more than that; its events have no chunk of their own. When the budget is used
    up, threads are no more described, and the trace stays within it."""
    count = 10000
    told, sizes = [], []
    for budget in (256 << 20, 256 << 10):
        path = run(mpi, folder, "come", count, 1, env={"MPIWATCH_BUDGET": str(budget)})
        process = Trace(path, events=False).rank(0)
        same(process.counts["MPI_Sendrecv"], count, "calls counted")
        same(by_command(path, folder, "messages"), {(0, 0): float(count)}, "messages")
        told.append([note["code"] for note in process.health])
        sizes.append(size(path))
        shutil.rmtree(path)
    check(sizes[0] < 90 * count, "%d bytes for %d threads" % (sizes[0], count))
    check(sizes[1] < 256 << 10, "%d bytes with a budget of 256 KiB" % sizes[1])
    same(told, [[], ["unlisted-names"]], "health")


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
