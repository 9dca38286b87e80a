# SPDX-License-Identifier: BSD-3-Clause
#
# When the trace cannot be written where it should: the job is untouched, one process says one line,
# and where possible there is a trace in $TMPDIR instead. Tests that mount need root and unshare(1).
"""Bad output folders, full disks, full /dev/shm."""

import glob
import hashlib
import os
import shlex
import shutil

from harness import Skip, check, command, main, mpi_test, same, tidy
from mpi import patient
from trace import Trace


def run_with(mpi, folder, out, iterations=50, prepare=None, keep=(), ranks=3, launch_env=None):
    """Runs the job under the library with MPIWATCH_OUT=out, in a mount namespace of its own when
    `prepare` (shell text) is given; then the folders in `keep` are copied out to folder/kept.
    Returns the job and the folder that is its $TMPDIR. """
    program = mpi.build("ending.c")
    spare = os.path.join(folder, "spare")
    os.makedirs(spare, exist_ok=True)
    argv = mpi.launch(
        ranks,
        [
            "env",
            "LD_PRELOAD=%s" % mpi.library(),
            "MPIWATCH_OUT=%s" % out,
            program,
            "exit0",
            str(iterations),
        ],
    )
    if prepare is not None:
        if os.getuid() or not shutil.which("unshare"):
            raise Skip("mounting needs root and unshare")
        kept = os.path.join(folder, "kept")
        script = "%s\n%s\ncode=$?\nmkdir -p %s\n%s\nexit $code\n" % (
            prepare,
            " ".join(shlex.quote(part) for part in argv),
            shlex.quote(kept),
            "\n".join("cp -a %s %s/" % (shlex.quote(path), shlex.quote(kept)) for path in keep),
        )
        argv = ["unshare", "-m", "sh", "-c", script]
    env = dict(launch_env or {}, TMPDIR=spare)
    job = patient(
        mpi, env, lambda limit: command(argv, folder, env=env, timeout=limit or 60), out
    )
    if "unshare:" in job.stderr or "mount:" in job.stderr:
        raise Skip("mounting is not allowed here: %s" % job.stderr.strip())
    return job, spare


def plain_run(mpi, folder, iterations=50, ranks=3, env=None):
    return mpi.run(ranks, [mpi.build("ending.c"), "exit0", iterations], folder, env=env).expect(0)


def untouched(job, plain, lines=1):
    """The job did as without us, but for at most one line of ours on stderr. Returns that line."""
    same(job.code, plain.code, "exit code: %s" % job.describe())
    same(tidy(job.stdout), tidy(plain.stdout), "stdout")
    ours = [line for line in job.stderr.splitlines() if "mpiwatch" in line]
    rest = "\n".join(line for line in job.stderr.splitlines() if "mpiwatch" not in line)
    same(tidy(rest), tidy(plain.stderr), "stderr of the program")
    check(len(ours) <= lines, "more than one line on stderr:\n%s" % "\n".join(ours))
    return ours[0] if ours else ""


def spare_trace(spare, ranks=3):
    """The trace in $TMPDIR, with all ranks."""
    found = sorted(glob.glob(os.path.join(spare, "**", "*.mpiw"), recursive=True))
    folders = [path for path in found if os.path.isdir(path)]
    check(folders, "no trace in $TMPDIR: %s" % os.listdir(spare))
    same(len(folders), 1, "traces in $TMPDIR: %s" % folders)
    trace = Trace(folders[0])
    same(
        [process.rank for process in trace.processes],
        list(range(ranks)),
        "ranks in the spare trace",
    )
    for process in trace.processes:
        same(
            [call.function for call in process.calls()].count("MPI_Sendrecv"),
            50,
            "calls of rank %d" % process.rank,
        )
    return folders[0]


def digest(path):
    state = hashlib.sha256()
    for base, folders, files in os.walk(path):
        folders.sort()
        for name in sorted(files):
            full = os.path.join(base, name)
            state.update(full.encode())
            with open(full, "rb") as file:
                state.update(file.read())
    return state.hexdigest()


@mpi_test
def missing_folder(mpi, folder):
    """The folder of MPIWATCH_OUT does not exist: made, or the trace goes to $TMPDIR."""
    out = os.path.join(folder, "not", "there", "job.mpiw")
    job, spare = run_with(mpi, folder, out)
    line = untouched(job, plain_run(mpi, folder))
    if os.path.isdir(out):
        same(line, "", "a line on stderr though all went well")
        same([process.rank for process in Trace(out).processes], [0, 1, 2], "ranks")
    else:
        check(line, "not a word on stderr")
        spare_trace(spare)


@mpi_test
def a_file_in_the_way(mpi, folder):
    """MPIWATCH_OUT lies below a file: cannot be made."""
    wall = os.path.join(folder, "wall")
    with open(wall, "w") as file:
        file.write("brick\n")
    job, spare = run_with(mpi, folder, os.path.join(wall, "job.mpiw"))
    check(untouched(job, plain_run(mpi, folder)), "not a word on stderr")
    spare_trace(spare)
    same(open(wall).read(), "brick\n", "the file")


@mpi_test
def the_name_is_a_file(mpi, folder):
    out = os.path.join(folder, "job.mpiw")
    with open(out, "w") as file:
        file.write("precious\n")
    job, spare = run_with(mpi, folder, out)
    check("taken" in untouched(job, plain_run(mpi, folder)), "not a word on stderr")
    same(open(out).read(), "precious\n", "the file that was there")
    others = [path for path in glob.glob(os.path.join(folder, "*.mpiw")) if path != out]
    if others:
        same([process.rank for process in Trace(others[0]).processes], [0, 1, 2], "ranks")
    else:
        spare_trace(spare)


@mpi_test
def the_name_is_a_folder_of_other_things(mpi, folder):
    """Nothing is put between the files of others; an empty folder may have been made for us."""
    out = os.path.join(folder, "job.mpiw")
    os.mkdir(out)
    with open(os.path.join(out, "letter"), "w") as file:
        file.write("precious\n")
    job, spare = run_with(mpi, folder, out)
    check("taken" in untouched(job, plain_run(mpi, folder)), "not a word on stderr")
    same(os.listdir(out), ["letter"], "the folder that was there")
    empty = os.path.join(folder, "empty.mpiw")
    os.mkdir(empty)
    job, spare = run_with(mpi, folder, empty)
    same(untouched(job, plain_run(mpi, folder)), "", "a line on stderr though all went well")
    same([process.rank for process in Trace(empty).processes], [0, 1, 2], "ranks")


@mpi_test
def the_mark_is_a_pipe(mpi, folder):
    """Whoever may write to the folder can have put one there: nobody waits at its other end."""
    out = os.path.join(folder, "job.mpiw")
    os.mkdir(out)
    os.mkfifo(os.path.join(out, "job.mpiw"))
    job, _ = run_with(mpi, folder, out)
    check("taken" in untouched(job, plain_run(mpi, folder)), "not a word on stderr")
    same(os.listdir(out), ["job.mpiw"], "the folder that was there")


@mpi_test
def the_name_is_an_older_trace(mpi, folder):
    """A trace of an earlier job is never touched; the new one gets a name of its own."""
    out = os.path.join(folder, "job.mpiw")
    first, spare = run_with(mpi, folder, out)
    first.expect(0)
    before = digest(out)
    job, spare = run_with(mpi, folder, out)
    check("taken" in untouched(job, plain_run(mpi, folder)), "not a word on stderr")
    same(digest(out), before, "the older trace")
    found = [
        path
        for path in glob.glob(os.path.join(folder, "*.mpiw"))
        + glob.glob(os.path.join(spare, "*.mpiw"))
        if path != out
    ]
    same(len(found), 1, "new traces: %s" % found)
    trace = Trace(found[0])
    same([process.rank for process in trace.processes], [0, 1, 2], "ranks of the new trace")


@mpi_test
def a_read_only_folder(mpi, folder):
    """Root may write nearly everywhere, so the folder is on a read-only mount."""
    target = os.path.join(folder, "closed")
    os.mkdir(target)
    job, spare = run_with(
        mpi,
        folder,
        os.path.join(target, "job.mpiw"),
        prepare="mount --bind %s %s && mount -o remount,bind,ro %s || exit 99"
        % (target, target, target),
    )
    check(untouched(job, plain_run(mpi, folder)), "not a word on stderr")
    spare_trace(spare)


@mpi_test
def a_disk_that_is_full_at_once(mpi, folder):
    target = os.path.join(folder, "full")
    os.mkdir(target)
    job, spare = run_with(
        mpi,
        folder,
        os.path.join(target, "job.mpiw"),
        keep=[target],
        prepare="mount -t tmpfs -o size=8k none %s && head -c 8192 /dev/zero >%s/filler; true"
        % (target, target),
    )
    check(untouched(job, plain_run(mpi, folder)), "not a word on stderr")


@mpi_test
def a_disk_that_fills_up(mpi, folder):
    """Room for some chunks only: the job goes on, and the rest of the trace is in $TMPDIR."""
    target = os.path.join(folder, "small")
    os.mkdir(target)
    iterations = 20000
    job, spare = run_with(
        mpi,
        folder,
        os.path.join(target, "job.mpiw"),
        iterations=iterations,
        keep=[target],
        ranks=2,
        prepare="mount -t tmpfs -o size=96k none %s || exit 99" % target,
    )
    check(untouched(job, plain_run(mpi, folder, iterations, ranks=2)), "not a word on stderr")
    kept = os.path.join(folder, "kept", "small", "job.mpiw")
    found = [
        path for path in [kept] + glob.glob(os.path.join(spare, "*.mpiw")) if os.path.isdir(path)
    ]
    same(len(found), 2, "folders")
    trace = Trace(*found)
    same([process.rank for process in trace.processes], [0, 1], "ranks")
    for process in trace.processes:
        check(len(process.calls()) > iterations, "calls of rank %d are missing" % process.rank)
        same(process.missing, 0, "events that are missing of rank %d" % process.rank)


def shm_size_that_mpi_can_bear(mpi, folder):
    """The job runs without us on a /dev/shm this small. MPI itself must not use it: sockets
    only."""
    env = {
        "openmpi": {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_shmem": "mmap"},
        "mpich": {"UCX_TLS": "tcp,self", "MPIR_CVAR_NOLOCAL": "1"},
    }[mpi.name]
    for size in ("16k", "64k", "256k"):
        line = " ".join(
            shlex.quote(part) for part in mpi.launch(3, [mpi.build("ending.c"), "exit0", "50"])
        )
        mounted = "mount -t tmpfs -o size=%s none /dev/shm || exit 99; exec %s" % (size, line)
        job = patient(
            mpi,
            env,
            lambda limit: command(
                ["unshare", "-m", "sh", "-c", mounted], folder, env=env, timeout=limit or 60
            ),
        )
        if job.code == 0:
            return size, env
    raise Skip("MPI itself needs more of /dev/shm: %s" % job.describe())


@mpi_test
def a_full_dev_shm(mpi, folder):
    """No room for the crash-safe mapping: no SIGBUS, private memory instead, a note in the
    trace."""
    if os.getuid() or not shutil.which("unshare"):
        raise Skip("mounting needs root and unshare")
    size, env = shm_size_that_mpi_can_bear(mpi, folder)
    out = os.path.join(folder, "job.mpiw")
    job, spare = run_with(
        mpi,
        folder,
        out,
        prepare="mount -t tmpfs -o size=%s none /dev/shm || exit 99" % size,
        launch_env=env,
    )
    untouched(job, plain_run(mpi, folder, env=env))
    trace = Trace(out)
    same([process.rank for process in trace.processes], [0, 1, 2], "ranks")
    for process in trace.processes:
        same(
            [call.function for call in process.calls()].count("MPI_Sendrecv"),
            50,
            "calls of rank %d" % process.rank,
        )
        check(process.health, "no note of it in the trace of rank %d" % process.rank)


@mpi_test
def a_file_a_process(mpi, folder):
    """MPIWATCH_FILES=process: each process has a file of its own, and the trace is the same."""
    out = os.path.join(folder, "job.mpiw")
    job = mpi.run(
        3,
        [mpi.build("ending.c"), "exit0", 50],
        folder,
        preload=mpi.library(),
        env={"MPIWATCH_OUT": out, "MPIWATCH_FILES": "process"},
    ).expect(0)
    same(tidy(job.stderr), ["a line on stderr"], "stderr")
    files = sorted(name for name in os.listdir(out) if name != "job.mpiw")
    same(len(files), 3, "files %s" % files)
    trace = Trace(out)
    same([process.rank for process in trace.processes], [0, 1, 2], "ranks")
    for process in trace.processes:
        same(
            [call.function for call in process.calls()].count("MPI_Sendrecv"),
            50,
            "calls of rank %d" % process.rank,
        )


main()
