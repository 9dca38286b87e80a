# SPDX-License-Identifier: BSD-3-Clause
#
# Much of one kind: communicators, tags, requests. Tables grow, or the trace says that they did not.
# And what is rare about beginning and ending.
"""Storms."""

import glob
import json
import os

from harness import Skip, check, command, main, mpi_test, same, setting
from trace import Trace


def run(mpi, folder, *arguments):
    """Runs without and with us; the same comes of it."""
    argv = [mpi.build("storm.c", "-lpthread")] + [str(argument) for argument in arguments]
    plain = mpi.run(1, argv, folder, timeout=100)
    job, path = mpi.record(1, argv, folder, timeout=100)
    same((job.code, job.stdout), (plain.code, plain.stdout), "code and output")
    return path


def ordinals(path, folder):
    """(communicator, tag): running numbers of the messages received, by the command, as there are many."""
    found = {}
    dump = command([setting("MW_CLI"), "dump", "--format", "json", path], folder, timeout=100).expect(0)
    for line in dump.stdout.splitlines():
        if '"RECV"' in line:
            event = json.loads(line)
            check("ordinal" in event, "not counted:", line)
            found.setdefault((event["comm"], event["tag"]), []).append(event["ordinal"])
    return found


@mpi_test
def communicators_that_come_and_go(mpi, folder):
    """More than a thread's table of running numbers has room for."""
    count = 60000
    path = run(mpi, folder, "dup", count)
    process = Trace(path, events=False).rank(0)
    same(process.health, [], "health")
    same(process.counts["MPI_Comm_free"] + process.counts["MPI_Comm_disconnect"], count, "freed")
    same(len([comm for comm in process.comms.values() if comm.how == "dup" and comm.freed]), count,
         "communicators")
    found = ordinals(path, folder)
    same(len(found), count + 1, "keys")
    same(sorted(len(numbers) for numbers in found.values())[-1], 3, "messages in the world")
    for numbers in found.values():
        same(numbers, list(range(len(numbers))), "running numbers")


@mpi_test
def many_tags(mpi, folder):
    path = run(mpi, folder, "tags", 100000)
    same(Trace(path, events=False).rank(0).health, [], "health")
    found = ordinals(path, folder)
    same(len(found), 100000, "keys")
    for numbers in found.values():
        same(numbers, list(range(len(numbers))), "running numbers")
    same(len([numbers for numbers in found.values() if len(numbers) > 1]), 11,
         "tags used again: ten, and one at the end")


@mpi_test
def a_million_requests(mpi, folder):
    """MPICH has no room for that many."""
    count = 1000000 if mpi.name == "openmpi" else 60000
    path = run(mpi, folder, "requests", count)
    process = Trace(path, events=False).rank(0)
    same(process.health, [], "health")
    same(process.counts["MPI_Irecv"], count, "receives")
    matrix = command([setting("MW_CLI"), "matrix", "--metric", "messages", "--format", "csv", path],
                     folder, timeout=100).expect(0)
    same(matrix.stdout.split()[1:], ["0,0,%d" % (count + 1)], "messages")


@mpi_test
def initialised_twice(mpi, folder):
    """Open MPI ends the program, MPICH refuses the second call."""
    process = Trace(run(mpi, folder, "init")).rank(0)
    if mpi.name == "mpich":
        calls = [call for call in process.calls() if call.function.startswith("MPI_Init")]
        same([call.error for call in calls], [False, True], "calls")
        same(process.end, "finalize", "end")


@mpi_test
def finalized_by_another_thread(mpi, folder):
    process = Trace(run(mpi, folder, "thread")).rank(0)
    same(process.end, "finalize", "end")
    same([call.function for call in process.calls(1)], ["MPI_Finalize"], "calls of the other")
    same(process.missing, 0, "missing events")


def traces(folder):
    return sorted(glob.glob(os.path.join(folder, "*.mpiw")))


def alone(mpi, folder, *arguments):
    """Without a launcher; some MPIs cannot begin a second time under one."""
    path = os.path.join(folder, "job.mpiw")
    argv = [mpi.build("replaced.c")] + list(arguments)
    plain = command(argv, folder)
    job = command(["env", "LD_PRELOAD=" + mpi.library()] + argv, folder, env={"MPIWATCH_OUT": path})
    same((job.code, job.stdout), (plain.code, plain.stdout), "code and output")
    return plain, path


def exchanged(process):
    return [call.event.tag for call in process.calls() if call.function == "MPI_Sendrecv"]


@mpi_test
def replaced_by_another_program(mpi, folder):
    """What the first had recorded is in the trace as soon as the second has begun, and nothing is left behind."""
    plain, path = alone(mpi, folder)
    if plain.code:
        raise Skip("this MPI does not begin again after exec")
    processes = [each for name in traces(folder) for each in Trace(name).processes]
    processes.sort(key=lambda process: process.end != "collected")
    same([exchanged(process) for process in processes], [[1] * 100, [2] * 100], "messages")
    same([process.end for process in processes], ["collected", "finalize"], "ends")
    same(processes[0].pid, processes[1].pid, "process ids")
    same([process.missing for process in processes], [0, 0], "missing events")
    same(glob.glob("/dev/shm/mpiwatch-*-%d-*" % processes[0].pid), [], "left in /dev/shm")


@mpi_test
def programs_started_by_vfork(mpi, folder):
    _, path = alone(mpi, folder, "vfork")
    process = Trace(path).rank(0)
    same(exchanged(process), [1] * 300, "messages")
    same((process.end, process.missing), ("finalize", 0), "end")


main()
