# SPDX-License-Identifier: BSD-3-Clause
#
# However a job ends, no call that had completed is missing: the program logs each call that has
# returned, and what the files of the trace hold after "mpiwatch collect" is compared with that. And
# what is said of jobs that died or hang.
"""Deaths and hangs."""

import glob
import json
import os
import random
import signal
import subprocess
import time

from harness import Failure, check, command, main, mpi_test, same, setting
from trace import Trace

# mode: (reason the dying rank gives, its code, what the others' end may be, the open call of rank 0
# and 2)
ONE_DIES = ("mpi_abort", "abort", "segv", "kill", "term", "exit_one")
ALL_END = ("exit0", "exit_without", "exit5_without", "quick_exit")


def logged(prefix, rank):
    with open("%s.%d" % (prefix, rank)) as file:
        return file.read().split()


def recorded(process):
    """The functions of all calls that ended, in order; polls left out."""
    return [
        call.function for call in process.calls() if call.kind != "POLL" and not call.incomplete
    ]


def compare_with_log(process, log):
    """Every logged call is there, in order; at most one more, which returned but was not logged any
    more."""
    names = set(log)
    seen = [name for name in recorded(process) if name in names]
    same(seen[: len(log)], log, "calls of rank %d" % process.rank)
    check(
        len(seen) <= len(log) + 1,
        "rank %d: more calls than were made: %s" % (process.rank, seen[len(log) :]),
    )
    same(process.missing, 0, "missing events of rank %d" % process.rank)


def collect(path, folder):
    """mpiwatch collect; once more where a process was not quite gone yet."""
    for _ in range(40):
        job = command([setting("MW_CLI"), "collect", path], folder)
        check(job.code == 0, "mpiwatch collect: %s" % job.describe())
        pids = [process.pid for process in Trace(path, events=False).processes]
        left = [
            pid
            for pid in pids
            if glob.glob("/dev/shm/mpiwatch-*-%d-*" % pid) and os.path.exists("/proc/%d" % pid)
        ]
        if not left:
            break
        time.sleep(0.1)
    return job


def no_mappings_of(trace):
    for process in trace.processes:
        left = glob.glob("/dev/shm/mpiwatch-*-%d-*" % process.pid)
        check(not left, "still in /dev/shm after collect: %s" % left)


@mpi_test(variants=ONE_DIES)
def one_rank_dies(mpi, folder, mode):
    log = os.path.join(folder, "log")
    job, path = mpi.record(3, [mpi.build("ending.c"), mode, 400], folder, env={"MWTEST_LOG": log})
    check(job.code != 0, "the job did not die: %s" % job.describe())
    collect(path, folder)
    trace = Trace(path)
    check(not trace.damage, "damage: %s" % trace.damage)
    same([process.rank for process in trace.processes], [0, 1, 2], "ranks")
    for process in trace.processes:
        compare_with_log(process, logged(log, process.rank))
    dead = trace.rank(1)
    if mode == "mpi_abort":
        same((dead.end, dead.end_code), ("abort", 7), "end of rank 1")
    elif mode == "exit_one":
        same(dead.end, "exit", "end of rank 1")
    else:
        same(dead.end, "collected", "end of rank 1")
    for rank, function in ((0, "MPI_Recv"), (2, "MPI_Barrier")):
        opened = trace.rank(rank).open_calls
        same(
            [call["name"] for call in opened],
            [function],
            "open call of rank %d (%s)" % (rank, trace.rank(rank).end),
        )
        if rank == 0:
            same((opened[0]["peer"], opened[0]["tag"]), (1, 77), "whom rank 0 waits for")
    no_mappings_of(trace)


@mpi_test(variants=ALL_END)
def all_ranks_end(mpi, folder, mode):
    log = os.path.join(folder, "log")
    job, path = mpi.record(3, [mpi.build("ending.c"), mode, 400], folder, env={"MWTEST_LOG": log})
    collect(path, folder)
    trace = Trace(path)
    for process in trace.processes:
        calls = [name for name in logged(log, process.rank)]
        compare_with_log(process, calls)
        # A launcher may take down the others as soon as the first has gone.
        expected = {"exit0": ("finalize",), "quick_exit": ("collected",)}.get(
            mode, ("exit", "collected")
        )
        check(process.end in expected, "rank %d ended by %s" % (process.rank, process.end))
        same(process.open_calls, [], "open calls of rank %d" % process.rank)
    no_mappings_of(trace)


@mpi_test(variants=("one rank", "all ranks", "the launcher", "all ranks by SIGTERM"))
def killed_in_the_midst(mpi, folder, who):
    """From outside, at a random moment, while the ranks are busy and buffers fill and empty."""
    program = mpi.build("ending.c")
    log = os.path.join(folder, "log")
    path = os.path.join(folder, "job.mpiw")
    job = mpi.start(
        2,
        [program, "endless", 100],
        folder,
        preload=mpi.library(),
        env={"MWTEST_LOG": log, "MPIWATCH_OUT": path},
    )
    try:
        for _ in range(400):
            if "total" in job.stdout:
                break
            time.sleep(0.05)
        check("total" in job.stdout, "the job did not start: %s" % job.describe())
        for _ in range(300):  # until the buffers, of 8192 events, have been emptied a few times
            if os.path.getsize(log + ".0") > 400000:
                break
            time.sleep(0.05)
        time.sleep(random.uniform(0, 0.1))
        pids = job.pids(program)
        same(len(pids), 2, "ranks")
        number = signal.SIGTERM if who.endswith("SIGTERM") else signal.SIGKILL
        for pid in {"one rank": pids[1:2], "the launcher": [job.process.pid]}.get(who, pids):
            os.kill(pid, number)
        if who == "the launcher":
            job.process.wait(20)
            time.sleep(2)  # some launchers' ranks notice, some do not
            for pid in job.pids(program):
                os.kill(pid, signal.SIGKILL)
        job.wait(30)
    finally:
        job.stop()
    collect(path, folder)
    trace = Trace(path)
    check(not trace.damage, "damage: %s" % trace.damage)
    same([process.rank for process in trace.processes], [0, 1], "ranks")
    total = 0
    for process in trace.processes:
        calls = logged(log, process.rank)
        total += len(calls)
        compare_with_log(process, calls)
    check(total > 3000, "only %d calls before the end: too few to show anything" % total)
    no_mappings_of(trace)


@mpi_test
def the_next_job_cleans_up(mpi, folder):
    """What a dead process left is appended to its trace by the next job of the same user, without
    any command."""
    program = mpi.build("ending.c")
    log = os.path.join(folder, "log")
    job, path = mpi.record(2, [program, "quick_exit", 100], folder, env={"MWTEST_LOG": log})
    dead = Trace(path, events=False)
    same([process.has_rank for process in dead.processes], [True, True], "ranks known already")
    mpi.record(2, [program, "exit0", 5], folder, trace="next.mpiw")[0].expect(0)
    trace = Trace(path)
    for process in trace.processes:
        compare_with_log(process, logged(log, process.rank))
    no_mappings_of(trace)


@mpi_test
def collect_twice_changes_nothing(mpi, folder):
    log = os.path.join(folder, "log")
    job, path = mpi.record(
        2, [mpi.build("ending.c"), "quick_exit", 100], folder, env={"MWTEST_LOG": log}
    )
    collect(path, folder)
    before = {name: os.path.getsize(os.path.join(path, name)) for name in os.listdir(path)}
    collect(path, folder)
    same(
        {name: os.path.getsize(os.path.join(path, name)) for name in os.listdir(path)},
        before,
        "sizes of the files",
    )
    for process in Trace(path).processes:
        compare_with_log(process, logged(log, process.rank))


@mpi_test(variants=("kill", "exit0", "exit3"))
def mpiwatch_run_collects_at_the_end(mpi, folder, mode):
    """The command sets the preload for the ranks alone, ends with the job's code, and leaves
    nothing to collect."""
    program = mpi.build("ending.c")
    log, path = os.path.join(folder, "log"), os.path.join(folder, "job.mpiw")
    argv = mpi.launch(3, [program, mode, "100"])
    job = command(
        [setting("MW_CLI"), "run", "-o", path, "--"] + argv, folder, env={"MWTEST_LOG": log}
    )
    codes = {"exit0": (0,), "exit3": (3,), "kill": (137, 9)}[
        mode
    ]  # Open MPI's and hydra's way to tell a SIGKILL
    check(job.code in codes, job.describe())
    trace = Trace(path)
    same([process.rank for process in trace.processes], [0, 1, 2], "ranks")
    for process in trace.processes:
        compare_with_log(process, logged(log, process.rank))
    no_mappings_of(trace)
    ours = [line for line in job.stderr.splitlines() if "mpiwatch" in line]
    check(0 < len(ours) <= 2, "what the command says at the end: %s" % ours)


def report_json(path, folder, *options):
    job = command([setting("MW_CLI"), "report", "--format", "json", *options, path], folder).expect(
        0
    )
    return json.loads(job.stdout)


@mpi_test(variants=("alive", "killed"))
def a_hang_is_told(mpi, folder, state):
    """Rank 1 never reaches the third barrier: the report says who sits where, and which instance
    rank 1 did not reach."""
    program = mpi.build("hang.c")
    path = os.path.join(folder, "job.mpiw")
    job = mpi.start(3, [program], folder, preload=mpi.library(), env={"MPIWATCH_OUT": path})
    try:
        for _ in range(400):
            if job.stdout.count("waiting") == 3:
                break
            time.sleep(0.05)
        time.sleep(1)
        pids = job.pids(program)
        same(len(pids), 3, "ranks")
        if state == "killed":
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            job.wait(30)
            collect(path, folder)
        text = command([setting("MW_CLI"), "report", path], folder).expect(0).stdout
        told = report_json(path, folder)
    finally:
        job.stop()
    if state == "killed":
        trace = Trace(path)
        opened = {process.rank: process.open_calls for process in trace.processes}
        same(
            [[call["name"] for call in opened[rank]] for rank in range(3)],
            [["MPI_Barrier"], [], ["MPI_Recv"]],
            "open calls",
        )
        same(opened[0][0]["instance"], 2, "instance of the barrier")
        same((opened[2][0]["peer"], opened[2][0]["tag"]), (1, 42), "whom rank 2 waits for")
    flat = json.dumps(told)
    check(
        "MPI_Barrier" in text and "MPI_Recv" in text, "the report does not name the calls:\n" + text
    )
    check("MPI_Barrier" in flat and "MPI_Recv" in flat, "the JSON does not name the calls")
    lines = [line for line in text.splitlines() if "MPI_Barrier" in line]
    check(
        any("rank 0" in line or " 0 " in line for line in lines),
        "who sits in the barrier:\n" + text,
    )
    check("wait_in_barrier" in text or "hang" in text, "where in the program:\n" + text)
    if state == "alive":
        collect(path, folder)


@mpi_test
def a_report_of_a_crashed_job(mpi, folder):
    job, path = mpi.record(3, [mpi.build("ending.c"), "segv", 50], folder)
    collect(path, folder)
    job = command([setting("MW_CLI"), "report", path], folder)
    same(job.code, 0, "mpiwatch report")
    check(
        "MPI_Recv" in job.stdout and "MPI_Barrier" in job.stdout,
        "the open calls are not told:\n" + job.stdout,
    )
    told = report_json(path, folder)
    check(told, "an empty report")


@mpi_test
def death_inside_mpi_init(mpi, folder):
    """A process that is killed before MPI_Init returns leaves a trace that says so."""
    program = mpi.build("hello.c")
    path = os.path.join(folder, "job.mpiw")
    # A helper preloaded after us: its PMPI_Init, which we call, never returns.
    source = os.path.join(folder, "stuck.c")
    with open(source, "w") as file:
        file.write(
            "#include <signal.h>\nint MPI_Init(int *c, char ***v)"
            " { (void)c; (void)v; raise(SIGKILL); return 0; }\n"
        )
    stuck = os.path.join(folder, "stuck.so")
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", stuck], check=True)
    job = mpi.run(
        2, [program], folder, preload="%s:%s" % (mpi.library(), stuck), env={"MPIWATCH_OUT": path}
    )
    check(job.code != 0, "it did not die")
    if not os.path.isdir(path):
        raise Failure("no trace of a death inside MPI_Init")
    collect(path, folder)
    trace = Trace(path)
    check(trace.processes, "no process in the trace")
    for process in trace.processes:
        check(not process.has_rank, "a rank, though MPI_Init never returned")
    # The launcher may have ended the other rank before it came as far.
    opened = [[call["name"] for call in process.open_calls] for process in trace.processes]
    check(
        ["MPI_Init"] in opened and all(names in ([], ["MPI_Init"]) for names in opened),
        "open calls: %s" % opened,
    )
    same(command([setting("MW_CLI"), "report", path], folder).code, 0, "mpiwatch report")


main()
