# SPDX-License-Identifier: BSD-3-Clause
#
# The MPIs that the tests run under: how to compile for each, how to start a job, and which of the
# two libraries suits it.
"""The MPI implementations under test."""

import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
import tempfile

from harness import PROGRAMS, STUBS, Failure, Job, Skip, StillRunning, library, note

# mpi.h of both MPIs makes gcc 12 warn about MPI_STATUSES_IGNORE and MPI_UNWEIGHTED.
WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wno-unused-parameter",
    "-Wno-stringop-overflow",
    "-Wno-stringop-overread",
]


def build_folder():
    folder = os.environ.get("MW_TEST_BUILD") or os.path.join(
        tempfile.gettempdir(), "mwtest-programs-%d" % os.getuid()
    )
    os.makedirs(folder, exist_ok=True)
    return folder


def included(source):
    """What a test program includes from its folder, and what that does."""
    with open(source, errors="replace") as file:
        names = re.findall(r'^#include "(\w+\.[ch])"', file.read(), re.M)
    paths = [os.path.join(os.path.dirname(source), name) for name in names]
    found = [path for path in paths if os.path.exists(path)]
    return found + [inner for path in found for inner in included(path)]


def compile_file(compiler, source, output, flags):
    """Compiles unless the same was compiled before; test programs in parallel may share the
    folder."""
    state = hashlib.sha256(repr([compiler] + flags).encode())
    for path in [source] + included(source):
        with open(path, "rb") as file:
            state.update(file.read())
    stamp = output + ".stamp"
    with open(output + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (
            os.path.exists(output)
            and os.path.exists(stamp)
            and open(stamp).read() == state.hexdigest()
        ):
            return output
        argv = [compiler] + flags + [source, "-o", output]
        if compiler.split(".")[0] == "mpifort":  # libraries after the source
            argv = (
                [compiler] + [f for f in flags if not f.startswith("-l")] + [source, "-o", output]
            )
        libraries = [flag for flag in flags if flag.startswith("-l")]
        argv = [part for part in argv if part not in libraries] + libraries
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        if done.returncode:
            raise Failure("%s\n%s" % (" ".join(argv), done.stdout.decode(errors="replace")[-4000:]))
        with open(stamp, "w") as file:
            file.write(state.hexdigest())
    return output


def patient(mpi, env, run, trace=None):
    """The job that run(timeout) starts, begun again where an MPI of Debian 12 fails by itself, recorded or not
    (docs/tested-stacks.md). `trace`: what such a run leaves."""
    for timeout in _short_of_a_hang(mpi, env or {}):
        try:
            job = run(timeout)
            if not crashed(mpi, env or {}, job):
                return job
            why = "%s died of signal %d" % (job.argv[0], -job.code)
        except StillRunning:
            if timeout is None:  # not one of those hangs
                raise
            why = "a job over tcp did not end"
        note("%s and was begun again" % why)
        if trace:
            shutil.rmtree(trace, ignore_errors=True)
    return run(None)


def _short_of_a_hang(mpi, env):
    """Time-outs of the attempts before the last. MPICH 4.0 over UCX's tcp hangs in MPI_Finalize in one of twenty
    runs."""
    over_tcp = "tcp" in (env.get("UCX_TLS") or "")  # None: unset
    return [20, 20, 40, 40] if mpi.name == "mpich" and over_tcp else [None] * 3


def crashed(mpi, env, job):
    """Whether the launcher itself crashed: mpirun of Open MPI 4.1, in which nothing of ours is, does so now and
    then when ranks complain at once."""
    return mpi.name == "openmpi" and not env.get("LD_PRELOAD") and job.code == -signal.SIGSEGV


class Mpi:
    name = cc = fc = launcher = ""
    standard = 31

    def missing(self):
        """Why this MPI cannot be used here; None when it can."""
        for tool in (self.cc, self.launcher):
            if not shutil.which(tool):
                return "%s is not installed" % tool
        return None

    def library(self, other=False):
        """The library for programs of this MPI: the one whose exports end where the MPI's do."""
        return library(mpi3=(self.standard < 40) != other)

    def build(self, source, *flags, name=None):
        """Compiles tests/e2e/programs/SOURCE (or a stub) for this MPI and returns the program's
        path."""
        path = source
        if not os.path.isabs(path):
            path = os.path.join(PROGRAMS, source)
            if not os.path.exists(path):
                path = os.path.join(STUBS, source)
        fortran = path.endswith((".f", ".F90", ".f90"))
        if fortran and not shutil.which(self.fc):
            raise Skip("%s is not installed" % self.fc)
        stem = name or os.path.splitext(os.path.basename(path))[0]
        folder = os.path.join(build_folder(), self.name)
        output = os.path.join(folder, stem)
        modules = os.path.join(folder, stem + ".modules")
        os.makedirs(modules if fortran else folder, exist_ok=True)
        options = ["-g", "-O1"] + list(flags)
        if fortran:
            options += ["-w", "-ffree-line-length-none", "-fallow-argument-mismatch", "-J", modules]
        else:
            options += WARNINGS
        return compile_file(self.fc if fortran else self.cc, path, output, options)

    def launch(self, ranks, argv):
        """The command line that starts `ranks` ranks of `argv`."""
        raise NotImplementedError

    def launch_parts(self, parts):
        """The command line for several (ranks, argv)."""
        raise NotImplementedError

    def start(self, ranks, argv, folder, preload=None, env=None, **options):
        """Starts a job; `preload` reaches the ranks' program alone, by way of env(1)."""
        argv = [str(part) for part in argv]
        if preload:
            argv = ["env", "LD_PRELOAD=%s" % preload] + argv
        return Job(self.launch(ranks, argv), folder, env=env, **options)

    def run(self, ranks, argv, folder, **options):
        env = options.get("env")
        return patient(
            self,
            env,
            lambda timeout: self.start(ranks, argv, folder, **options).wait(timeout),
            (env or {}).get("MPIWATCH_OUT"),
        )

    def record(self, ranks, argv, folder, trace="job.mpiw", env=None, preload=None, **options):
        """Runs a job under the library; returns (job, path of the trace)."""
        path = os.path.join(folder, trace)
        job = self.run(
            ranks,
            argv,
            folder,
            preload=preload or self.library(),
            env=dict(env or {}, MPIWATCH_OUT=path),
            **options
        )
        return job, path


class OpenMpi(Mpi):
    name, cc, fc, launcher = "openmpi", "mpicc.openmpi", "mpifort.openmpi", "mpirun.openmpi"
    head = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"]

    def launch(self, ranks, argv):
        return self.head + ["-n", str(ranks)] + argv

    def launch_parts(self, parts):
        line = list(self.head)
        for i, (ranks, argv) in enumerate(parts):
            line += ([":"] if i else []) + ["-n", str(ranks)] + argv
        return line


class Mpich(Mpi):
    name, cc, fc, launcher = "mpich", "mpicc.mpich", "mpifort.mpich", "mpirun.mpich"
    standard = 40

    def launch(self, ranks, argv):
        return ["mpirun.mpich", "-n", str(ranks)] + argv

    def launch_parts(self, parts):
        line = ["mpirun.mpich"]
        for i, (ranks, argv) in enumerate(parts):
            line += ([":"] if i else []) + ["-n", str(ranks)] + argv
        return line


OPENMPI, MPICH = OpenMpi(), Mpich()
ALL = (OPENMPI, MPICH)
