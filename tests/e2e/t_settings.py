# SPDX-License-Identifier: BSD-3-Clause
#
# The variables that the README names do what it says, a wrong value harms nobody, and special
# programs are recorded as they are: those that fork, and those that ask for newer functions.
"""Settings and special programs."""

import os

from harness import check, main, mpi_test, same, tidy
from trace import Trace


def calls(process):
    return [call.function for call in process.calls() if call.kind != "POLL"]


@mpi_test
def switched_off(mpi, folder):
    program = mpi.build("ending.c")
    plain = mpi.run(2, [program, "exit0", 5], folder)
    job, path = mpi.record(2, [program, "exit0", 5], folder, env={"MPIWATCH": "off"})
    same(
        (job.code, tidy(job.stdout), tidy(job.stderr)),
        (plain.code, tidy(plain.stdout), tidy(plain.stderr)),
        "result",
    )
    same(os.listdir(folder), [], "files")


@mpi_test(variants=("0", "1", "2", "8", "32"))
def depth_of_call_sites(mpi, folder, depth):
    job, path = mpi.record(
        2, [mpi.build("ending.c"), "exit0", 20], folder, env={"MPIWATCH_STACK": depth}
    )
    job.expect(0)
    process = Trace(path).rank(0)
    used = {call.event.site for call in process.calls()}
    frames = [len(process.sites[site]["frames"]) // 2 for site in used if site]
    if depth == "0":
        same(used, {0}, "call sites")
        return
    check(
        0 not in used,
        "calls without a call site: %s"
        % [call for call in process.calls() if not call.event.site][:3],
    )
    check(max(frames) <= int(depth), "more than %s frames: %s" % (depth, frames))
    check(
        depth not in ("1", "2") or set(frames) == {int(depth)},
        "frames with a depth of %s: %s" % (depth, frames),
    )
    # Five different calls in work(), and others in main() and by the start-up code: they are told
    # apart.
    check(len(used) >= 8, "call sites: %s" % used)
    sends = {call.event.site for call in process.calls() if call.function == "MPI_Isend"}
    same(len(sends), 1, "call sites of the one MPI_Isend")


@mpi_test
def clock_of_the_system(mpi, folder):
    job, path = mpi.record(
        2, [mpi.build("ending.c"), "exit0", 20], folder, env={"MPIWATCH_CLOCK": "monotonic"}
    )
    job.expect(0)
    for process in Trace(path).processes:
        spans = [call.end - call.start for call in process.calls()]
        check(all(0 <= span < 60e9 for span in spans), "spans: %s" % spans[:5])
        starts = [call.start for call in process.calls()]
        check(starts == sorted(starts), "calls of a thread are out of order")


@mpi_test(
    variants=(
        "MPIWATCH_STACK=deep",
        "MPIWATCH_CLOCK=sundial",
        "MPIWATCH_FILES=many",
        "MPIWATCH=perhaps",
    )
)
def a_value_that_makes_no_sense(mpi, folder, wrong):
    program = mpi.build("ending.c")
    plain = mpi.run(2, [program, "exit0", 5], folder)
    name, _, value = wrong.partition("=")
    job, path = mpi.record(2, [program, "exit0", 5], folder, env={name: value})
    same((job.code, tidy(job.stdout)), (plain.code, tidy(plain.stdout)), "result")
    ours = [line for line in job.stderr.splitlines() if "mpiwatch" in line.lower()]
    check(len(ours) <= 1, "more than one line: %s" % ours)
    trace = Trace(path)
    same([process.rank for process in trace.processes], [0, 1], "ranks")
    check(
        ours
        or any(
            name in health["message"] for process in trace.processes for health in process.health
        ),
        "nobody is told that %s is not understood" % wrong,
    )
    check(not ours or name in ours[0], "the line does not name the variable: %s" % ours)


@mpi_test
def a_program_that_forks(mpi, folder):
    program = mpi.build("forks.c")
    plain = mpi.run(2, [program], folder)
    job, path = mpi.record(2, [program], folder)
    same(
        (job.code, tidy(job.stdout), tidy(job.stderr)),
        (plain.code, tidy(plain.stdout), tidy(plain.stderr)),
        "result",
    )
    trace = Trace(path)
    check(not trace.damage, "damage: %s" % trace.damage)
    same([process.rank for process in trace.processes], [0, 1], "processes: the children are none")
    for process in trace.processes:
        same(process.end, "finalize", "end")
        same(calls(process).count("MPI_Allreduce"), 7, "calls")
    same(sorted(os.listdir(folder)), ["job.mpiw"], "files")


@mpi_test(only="openmpi")
def newer_functions_seem_to_be_there(mpi, folder):
    """libmpiwatch.so exports all of MPI-4, so a program that asks by weak symbols is misled under
    an MPI-3.1: that is said, in one line that names the library to take."""
    program = mpi.build("weak.c", "-Wno-address")
    job, path = mpi.record(2, [program, "ask"], folder, preload=mpi.library(other=True))
    job.expect(0)
    ours = [line for line in job.stderr.splitlines() if "mpiwatch" in line]
    same(len(ours), 1, "lines on stderr: %s" % ours)
    check("libmpiwatch-mpi3.so" in ours[0], ours[0])


main()
