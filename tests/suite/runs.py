# SPDX-License-Identifier: BSD-3-Clause
#
# One run of a program of a suite, without the library or with it, and what came of it: a state that can be
# compared ("pass", "fail, exit 1", "hang", "hang, said no errors"), and of a run under the library whether its trace can be
# read.
"""Runs programs of a suite."""

import collections
import json
import os
import re
import shutil
import subprocess
import tempfile

from harness import Failure, Job, StillRunning, remove_mappings, setting
from mpi import crashed

WITHOUT, WITH = "without", "with"
LAUNCHER_CRASHES = 4  # starts of a run whose launcher crashes by itself
GOOD = re.compile(r"\s*(No [Ee]rrors|Test [Pp]assed)\s*$")
COUNT = re.compile(r"\s*Found\s+\d+\s+errors\s*$", re.M)

# `seconds` it took; `note`: the first line that a passing program would not have printed; `trace`: "read",
# "none" (there is none), "-" (no library), else what is wrong with it; `health`: codes of notes in it.
Run = collections.namedtuple("Run", "state seconds note trace health")


def odd_lines(job):
    """Lines that a program that passes does not print."""
    lines = (job.stdout + "\n" + job.stderr).splitlines()
    return [
        line
        for line in lines
        if line.strip() and not GOOD.match(line) and "FORTRAN STOP" not in line
    ]


def said_good(job):
    return any(re.match(r"\s*No [Ee]rrors\s*$", line) for line in job.stdout.splitlines())


def judge(entry, job):
    """Whether a run that has ended passed, by the suite's own rule; with the exit code where it is not
    0, since a test that is to be aborted passes with any other. Some of the suite's programs end with the
    number of errors that a rank counted, which is another one in each run."""
    said = said_good(job)
    good = {
        "": job.code == 0 and said and not odd_lines(job),
        "TestStatus": job.code != 0,
        "TestErrFatal": job.code != 0,
        "TestStatusNoErrors": job.code != 0 and said and not odd_lines(job),
    }.get(entry.result, False)
    if not good and job.code > 1 and COUNT.search(job.stdout):
        return "fail, exit by count"
    return ("pass" if good else "fail") + (", exit %d" % job.code if job.code else "")


def read_trace(path):
    """(what `mpiwatch report` makes of it, codes of its health notes)."""
    if not os.path.exists(path):
        return "none", ""
    try:
        done = subprocess.run(
            [setting("MW_CLI"), "report", "--format", "json", path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=120,
        )
    except subprocess.TimeoutExpired:
        return "report does not end", ""
    try:
        report = json.loads(done.stdout.decode(errors="replace"))
    except ValueError:
        report = None
    if done.returncode or not report:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        return "report exits %d: %s" % (done.returncode, said[-1:] or "without a report"), ""
    if report["damage"]:
        return "damaged: %s" % json.dumps(report["damage"])[:200], ""
    return "read", ",".join(sorted({note["code"] for note in report["health"]}))


class Runner:
    """Runs entries of the suite in `build` under `mpi`."""

    def __init__(self, mpi, build, options):
        self.mpi, self.build, self.options = mpi, os.path.abspath(build), options

    def _command(self, entry, preload):
        options = self.options
        argv = [entry.path(self.build)] + entry.arguments
        if preload and not options.everywhere:
            argv = ["env", "LD_PRELOAD=%s" % " ".join(preload)] + argv
        launcher = entry.launcher if self.mpi.name == "mpich" else []  # they are MPICH's
        argv = self.mpi.launch(min(entry.ranks, options.ranks), launcher + argv)
        return ([options.launcher] if options.launcher else argv[:1]) + argv[1:]

    def run(self, entry, side):
        """Runs once; side: WITHOUT or WITH."""
        folder = tempfile.mkdtemp(prefix="mwsuite-")
        try:
            return self._run_in(folder, entry, side)
        finally:
            remove_mappings(folder)
            shutil.rmtree(folder, ignore_errors=True)

    def _attempt(self, folder, entry, preload, env):
        """(state, job) of one start; nothing of it is left."""
        job = Job(
            self._command(entry, preload),
            folder,
            env=env,
            timeout=min(self.options.timeout, entry.limit or self.options.timeout),
            cwd=os.path.dirname(entry.path(self.build)),
        )
        try:
            job.wait()
            return judge(entry, job), job
        except StillRunning:
            # Open MPI's MPI_Finalize waits for ever after some spawns: whether the test was through
            return "hang, said no errors" if said_good(job) else "hang", job
        except Failure:  # what it started outlives it
            return judge(entry, job) + ", left processes", job
        finally:
            job.stop()

    def _run_in(self, folder, entry, side):
        trace = os.path.join(folder, "job.mpiw")
        preload = list(self.options.preload)
        env = dict(entry.environment)
        if side == WITH:
            preload.append(self.mpi.library())
            env["MPIWATCH_OUT"] = trace
        if preload and self.options.everywhere:
            env["LD_PRELOAD"] = " ".join(preload)
        for _ in range(LAUNCHER_CRASHES):
            state, job = self._attempt(folder, entry, preload, env)
            if not crashed(self.mpi, env, job):
                break
            shutil.rmtree(trace, ignore_errors=True)
        seconds = getattr(job, "seconds", job.timeout)
        note = (odd_lines(job) or [""])[0].replace("\t", " ")[:200]
        found, health = read_trace(trace) if side == WITH else ("-", "")
        return Run(state, "%.2f" % seconds, note, found, health)
