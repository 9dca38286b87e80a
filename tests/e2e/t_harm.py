# SPDX-License-Identifier: BSD-3-Clause
#
# Nothing that a program or its user can see changes: results, exit codes, output, error handling,
# signals, threads; and processes that never initialise MPI are left alone entirely.
"""Do no harm."""

import glob
import os
import re
import shutil
import subprocess
import sys
import time

from harness import Job, Skip, check, command, library, main, mpi_test, same, test, tidy
from trace import Trace

ENDINGS = (
    "exit0",
    "exit3",
    "mpi_abort",
    "abort",
    "segv",
    "kill",
    "term",
    "exit_one",
    "exit_without",
    "exit5_without",
    "quick_exit",
)


def without_frames(text):
    """A backtrace may count a few frames more where a wrapper is on the stack: the crash is told,
    the frames are not compared."""
    return [
        line
        for line in tidy(text)
        if not re.match(r"\s*(\[HOST:PID\] )?\[?\s*\d+\]?\s+\S+\(.*\)\s*\[0xADDRESS\]", line)
    ]


def outcome(mpi, mode, job):
    """What a job came to. MPICH's launcher reports the rank that it happens to notice first, the
    one that died or one that it has just killed itself (9, 15): which of them is no property of the
    program. When ranks leave by exit without MPI_Finalize, it may or may not be in time to kill the
    others, and say so."""
    out, code = tidy(job.stdout), job.code
    if mpi.name == "mpich" and mode in ("exit_one", "exit_without", "exit5_without", "quick_exit"):
        return "any", [line for line in out if line.startswith("total")], tidy(job.stderr)
    if mpi.name == "mpich":
        out = [re.sub(r"(EXIT CODE:|EXIT STRING:).*", r"\1 ...", line) for line in out]
        code = "a failure" if code else 0
    return code, out, without_frames(job.stderr)


@mpi_test(variants=ENDINGS)
def ends_as_without_us(mpi, folder, mode):
    """Exit code, stdout and stderr of the whole job."""
    program = mpi.build("ending.c")
    job, path = mpi.record(3, [program, mode, 50], folder)
    check(os.path.isdir(path), "no trace")
    ours = outcome(mpi, mode, job)
    for _ in range(3):  # who comes first is a matter of luck: a few runs show what may happen
        plain = outcome(mpi, mode, mpi.run(3, [program, mode, 50], folder))
        if plain == ours:
            return
    same(ours[0], plain[0], "exit code of the job")
    same(ours[1], plain[1], "stdout")
    same(ours[2], plain[2], "stderr")


@mpi_test(variants=ENDINGS)
def a_single_process_ends_as_without_us(mpi, folder, mode):
    """Without a launcher between: the exact exit code or signal."""
    program = mpi.build("ending.c")
    trace = os.path.join(folder, "job.mpiw")
    job = command(
        [program, mode, "50"], folder, env={"LD_PRELOAD": mpi.library(), "MPIWATCH_OUT": trace}
    )
    for _ in range(3):  # Open MPI without mpirun sometimes fails to show its help text
        plain = command([program, mode, "50"], folder)
        if tidy(plain.stderr) == tidy(job.stderr):
            break
    same(job.code, plain.code, "exit code (negative: signal)")
    same(
        (tidy(job.stdout), without_frames(job.stderr)),
        (tidy(plain.stdout), without_frames(plain.stderr)),
        "output",
    )
    check(os.path.isdir(trace), "no trace")


@mpi_test(variants=("", "0", "1", "2", "3"))
def process_state(mpi, folder, level):
    """Signal dispositions, threads, masks, limits, what MPI says of itself: for MPI_Init and each
    thread level."""
    program = mpi.build("state.c", "-lm")
    arguments = [program] + ([level] if level else [])
    plain = mpi.run(2, arguments, folder)
    job, path = mpi.record(2, arguments, folder)
    same(job.stdout.splitlines(), plain.stdout.splitlines(), "state")
    same((job.code, job.stderr), (plain.code, plain.stderr), "exit code and stderr")


@mpi_test
def errors_are_reported_as_without_us(mpi, folder):
    program = mpi.build("errors.c")
    plain = mpi.run(2, [program], folder).expect(0)
    job, path = mpi.record(2, [program], folder)
    same(job.stdout.splitlines(), plain.stdout.splitlines(), "errors")
    same((job.code, job.stderr), (plain.code, plain.stderr), "exit code and stderr")
    process = Trace(path).rank(0)
    sends = [call for call in process.calls() if call.function == "MPI_Send"]
    check(
        all(call.error or call.function != "MPI_Send" for call in sends if call.event.peer == 99),
        "a send to rank 99 is recorded as if it had worked",
    )
    check(
        "MPI_Allreduce" in [call.function for call in process.calls()][-6:],
        "what follows 3000 jumps out of error handlers is not recorded: %s" % process.calls()[-6:],
    )


@mpi_test
def calls_outside_of_mpi(mpi, folder):
    """MPI_Initialized, MPI_Finalized, MPI_Get_version before and after; a program that links MPI
    and never starts it."""
    program = mpi.build("never.c")
    plain = command([program], folder).expect(0)
    trace = os.path.join(folder, "never.mpiw")
    job = command([program], folder, env={"LD_PRELOAD": mpi.library(), "MPIWATCH_OUT": trace})
    same(
        (job.code, job.stdout, job.stderr),
        (plain.code, plain.stdout, plain.stderr),
        "code and output",
    )
    check(not os.path.exists(trace), "a trace of a program that never initialised MPI")
    check(not our_mappings(job), "a mapping left behind")


def our_mappings(job):
    return glob.glob("/dev/shm/mpiwatch-%d-%d-*" % (os.getuid(), job.process.pid))


@mpi_test
def nothing_is_left_behind(mpi, folder):
    job, path = mpi.record(2, [mpi.build("ending.c"), "exit0", 50], folder)
    job.expect(0)
    trace = Trace(path)
    same(len(trace.processes), 2, "processes")
    for process in trace.processes:
        left = glob.glob("/dev/shm/mpiwatch-*-%d-*" % process.pid)
        check(not left, "left in /dev/shm: %s" % left)
    for name in os.listdir(folder):
        check(name in ("job.mpiw",), "an unexpected file: %s" % name)


@mpi_test
def default_name_of_the_trace(mpi, folder):
    """Without MPIWATCH_OUT: one trace in the working directory, all ranks in it, a name of its own
    each time."""
    program = mpi.build("ending.c")
    for round_ in (1, 2):
        mpi.run(2, [program, "exit0", 5], folder, preload=mpi.library()).expect(0)
        traces = sorted(name for name in os.listdir(folder) if name.endswith(".mpiw"))
        same(len(traces), round_, "traces %s" % traces)
        check(all(name.startswith("mpiwatch-ending-") for name in traces), "names: %s" % traces)
    for name in traces:
        same(
            [process.rank for process in Trace(os.path.join(folder, name)).processes],
            [0, 1],
            "ranks in %s" % name,
        )


# ---- Processes that are not MPI programs


def maps(text):
    return sorted(set(re.findall(r"(/\S+\.so\S*)", text)))


@test
def inert_in_ordinary_programs(folder):
    """sh, sed, cat, python under the preload: no thread, no file, no further library."""
    env = {"LD_PRELOAD": library(), "MPIWATCH_OUT": os.path.join(folder, "never.mpiw")}
    plain = command(["cat", "/proc/self/maps"], folder)
    job = command(["cat", "/proc/self/maps"], folder, env=env).expect(0)
    same(
        [path for path in maps(job.stdout) if path != os.path.realpath(library())],
        maps(plain.stdout),
        "libraries in cat",
    )
    check(os.path.realpath(library()) in maps(job.stdout), "the preload did not work")
    same(
        command(
            [
                "sh",
                "-c",
                "ls /proc/self/task | wc -l; ls /proc/self/fd | wc -l; echo one | sed s/one/two/",
            ],
            folder,
            env=env,
        ).stdout,
        command(
            [
                "sh",
                "-c",
                "ls /proc/self/task | wc -l; ls /proc/self/fd | wc -l; echo one | sed s/one/two/",
            ],
            folder,
        ).stdout,
        "threads, descriptors and output",
    )
    script = (
        "import threading, subprocess, sys; "
        "print(threading.active_count(), subprocess.call(['true']), sys.argv)"
    )
    same(
        command([sys.executable, "-c", script], folder, env=env).stdout,
        command([sys.executable, "-c", script], folder).stdout,
        "python",
    )
    check(os.listdir(folder) == [], "files: %s" % os.listdir(folder))


@test
def no_system_call_of_ours_in_ordinary_programs(folder):
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    empty = os.path.join(folder, "empty.so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", empty], check=True)

    def calls(preload):
        log = os.path.join(folder, "log")
        job = command(
            [
                "strace",
                "-f",
                "-qq",
                "-o",
                log,
                "-E",
                "LD_PRELOAD=" + preload,
                "-E",
                "MPIWATCH_OUT=%s/never.mpiw" % folder,
                "sh",
                "-c",
                "echo one | sed s/one/two/; true",
            ],
            folder,
        )
        if "ptrace" in job.stderr.lower() or job.code:
            raise Skip("strace does not work here: %s" % job.stderr.strip())
        with open(log) as file:
            lines = [re.sub(r"^\d+ +", "", line) for line in file]
        # What the loader does for the preload itself is the same for any preload, but for its size.
        return sorted(
            re.match(r"\w+", line).group()
            for line in lines
            if re.match(
                r"(openat|open|socket|connect|clone\w*|vfork|fork|rt_sigaction|mkdir\w*|unlink\w*|"
                r"pipe\w*|"
                r"readlink\w*|prctl|sigaltstack|ftruncate|memfd_create|shm\w*|uname|getcwd|kill)\(",
                line,
            )
        )

    same(calls(library()), calls(empty), "system calls")


@mpi_test
def inert_in_the_launcher(mpi, folder):
    """LD_PRELOAD on mpirun itself: only the ranks record; the launcher and its helpers load and
    open nothing."""
    program = mpi.build("hang.c")
    trace = os.path.join(folder, "job.mpiw")
    listing = {}
    for name, preload in (("plain", None), ("ours", mpi.library())):
        job = Job(
            mpi.launch(2, [program]), folder, env={"LD_PRELOAD": preload, "MPIWATCH_OUT": trace}
        )
        try:
            for _ in range(200):
                if job.stdout.count("waiting") == 2:
                    break
                time.sleep(0.05)
            check(job.stdout.count("waiting") == 2, "the job did not start: %s" % job.describe())
            ranks = job.pids(program)
            same(len(ranks), 2, "ranks")
            listing[name] = helpers(job, ranks)
        finally:
            job.stop()
    check(listing["plain"], "no launcher was seen")
    ours = os.path.realpath(mpi.library())
    for entry in listing["ours"]:
        check(ours in entry[1], "the preload did not reach %s" % entry[0])
        entry[1].remove(ours)
    same(listing["ours"], listing["plain"], "launcher processes: libraries, threads, descriptors")
    check(os.path.isdir(trace), "the ranks did not record")
    same(sorted(process.rank for process in Trace(trace).processes), [0, 1], "recorded")


def helpers(job, ranks):
    """(name, libraries, threads, files that are open) of the job's processes that are no ranks."""
    from harness import marked

    found = []
    for pid in marked(job.mark):
        if pid in ranks:
            continue
        try:
            name = os.path.basename(os.path.realpath("/proc/%d/exe" % pid))
            with open("/proc/%d/maps" % pid) as file:
                libraries = maps(file.read())
            threads = len(os.listdir("/proc/%d/task" % pid))
            files = sorted(
                path
                for path in (
                    os.readlink("/proc/%d/fd/%s" % (pid, fd))
                    for fd in os.listdir("/proc/%d/fd" % pid)
                )
                if "mpiw" in path
            )
        except OSError:
            continue
        found.append([name, libraries, threads, files])
    return sorted(found)


@mpi_test
def launcher_under_the_preload_gives_the_same_trace(mpi, folder):
    program = mpi.build("ending.c")
    plain = command(mpi.launch(3, [program, "exit0", "50"]), folder)
    trace = os.path.join(folder, "job.mpiw")
    job = command(
        mpi.launch(3, [program, "exit0", "50"]),
        folder,
        env={"LD_PRELOAD": mpi.library(), "MPIWATCH_OUT": trace},
    )
    same(
        (job.code, tidy(job.stdout), tidy(job.stderr)),
        (plain.code, tidy(plain.stdout), tidy(plain.stderr)),
        "result",
    )
    same([process.rank for process in Trace(trace).processes], [0, 1, 2], "ranks")


main()
