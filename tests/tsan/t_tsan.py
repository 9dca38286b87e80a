# SPDX-License-Identifier: BSD-3-Clause
#
# The library's own code under ThreadSanitizer: built with it in a folder of its own, then its unit tests
# and programs with many threads. MPI and the programs are not instrumented: what they do among themselves
# is not looked at (ignore_noninstrumented_modules), what they cause in us is.
"""ThreadSanitizer."""

import glob
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from harness import SOURCE, Failure, Skip, check, command, main, mpi_test, same, test  # noqa: E402
from trace import Trace  # noqa: E402

BUILD = os.environ.get("MW_TSAN_BUILD", "")
UNIT = {
    "unit": ("chunk", "fields", "encoder", "decoder", "residue", "collect"),
    "unit/interpose": ("modules", "callsite", "libmpi", "probes", "ucx", "ucx_log", "libfabric", "cma",
                       "aggregate", "regions"),
}
OPTIONS = "ignore_noninstrumented_modules=1 report_signal_unsafe=0 exitcode=66"


def runtime():
    """The sanitizer's library; it has to come before ours."""
    found = subprocess.run(["gcc", "-print-file-name=libtsan.so"], stdout=subprocess.PIPE)
    path = os.path.realpath(found.stdout.decode().strip())
    if not os.path.isabs(path) or not os.path.exists(path):
        raise Skip("gcc has no ThreadSanitizer here")
    return path


def run_quietly(argv, timeout):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=timeout)
    if done.returncode:
        raise Failure("%s\n%s" % (" ".join(argv), done.stdout.decode(errors="replace")[-4000:]))


def built():
    """Builds what has changed since the last time."""
    runtime()
    if not BUILD:
        raise Skip("MW_TSAN_BUILD is not set: run by meson")
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        run_quietly(["meson", "setup", BUILD, SOURCE, "-Db_sanitize=thread", "-Db_lundef=false",
                     "-Dbuildtype=debugoptimized"], 200)
    targets = ["interpose/libmpiwatch.so", "interpose/libmpiwatch-mpi3.so"]
    targets += ["tests/%s/test_%s" % (place, name) for place in UNIT for name in UNIT[place]]
    stubs = os.path.join(BUILD, "tests", "unit", "interpose")
    listed = subprocess.run(["ninja", "-C", BUILD, "-t", "targets", "all"], stdout=subprocess.PIPE)
    for line in listed.stdout.decode().splitlines():
        name = line.split(":")[0]
        if os.path.join(BUILD, name).startswith(stubs + os.sep) and ".so" in name and ".p/" not in name:
            if not name.endswith(".symbols"):
                targets.append(name)
    run_quietly(["nice", "ninja", "-C", BUILD] + targets, 1200)


def options(folder):
    return {"TSAN_OPTIONS": OPTIONS + " log_path=" + os.path.join(folder, "race")}


def no_reports(folder):
    for path in glob.glob(os.path.join(folder, "race*")):
        with open(path, errors="replace") as file:
            raise Failure(file.read()[:6000])


@test
def a_race_is_noticed(folder):
    """In a preloaded library, in a process that is not instrumented."""
    library = os.path.join(folder, "race.so")
    run_quietly(["gcc", "-fsanitize=thread", "-g", "-shared", "-fPIC",
                 os.path.join(SOURCE, "tests", "tsan", "race.c"), "-o", library], 60)
    job = command(["env", "LD_PRELOAD=%s %s" % (runtime(), library), "/bin/true"], folder,
                  env=options(folder))
    same(job.code, 66, "exit code")
    check(glob.glob(os.path.join(folder, "race.*")), "no report")


@test
def unit_tests(folder):
    built()
    for place, names in UNIT.items():
        for name in names:
            program = os.path.join(BUILD, "tests", place, "test_" + name)
            env = dict(options(folder), STUBS=os.path.join(BUILD, "tests", "unit", "interpose"))
            job = command([program], folder, env=env, timeout=200)
            no_reports(folder)
            job.expect(0)


@mpi_test(variants=("run", "come", "hold", "trade", "stay", "sums run", "sums trade", "sums stay"))
def threaded_programs(mpi, folder, how):
    """The memory hooks of UCX and the sanitizer's do not go together, also without us."""
    built()
    mode = "summary" if how.startswith("sums ") else "full"
    program, ranks, arguments = {
        "run": ("thread_counts.c", 1, ["run", 8, 2000]),
        "come": ("thread_counts.c", 1, ["come", 64, 100]),
        "hold": ("thread_counts.c", 1, ["hold", 100, 20]),
        "trade": ("threads.c", 2, []),
        "stay": ("hostile_threads.c", 1, [500]),
    }[how.split()[-1]]
    library = os.path.join(BUILD, "interpose", os.path.basename(mpi.library()))
    env = dict(options(folder), UCX_MEM_MMAP_HOOK_MODE="none", MPIWATCH_MODE=mode)
    argv = [mpi.build(program, "-lpthread")] + arguments
    job, path = mpi.record(ranks, argv, folder, env=env, timeout=120,
                           preload="%s %s" % (runtime(), library))
    no_reports(folder)
    job.expect(0)
    for process in Trace(path, events=False).processes:
        same(process.missing, 0, "missing events")


main()
