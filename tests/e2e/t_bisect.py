# SPDX-License-Identifier: BSD-3-Clause
#
# examples/bisect over little repositories whose history brings a regression: a provider of libfabric that
# fails, a program that takes longer. Commits that do not build and commits whose job crashes lie between.
# Guix and Spack are stand-ins that take the same command lines.
"""Bisection."""

import os
import shutil
import stat
import subprocess

import fabric
from harness import PROGRAMS, SOURCE, STUBS, Job, Skip, check, main, mpi_test, same, setting
from mpi import OPENMPI

SCRIPTS = os.path.join(SOURCE, "examples", "bisect")
OVER_CXI = ["--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include", "cxi", "--mca", "btl", "tcp,self",
            "--mca", "btl_tcp_if_include", "lo"]


def need_git():
    if not (shutil.which("git") and shutil.which("make")):
        raise Skip("git or make is not installed")


def write(path, text, executable=False):
    with open(path, "w") as file:
        file.write(text)
    if executable:
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)


class Repository:
    """A history that is made commit by commit, in folder/source."""

    def __init__(self, folder, files):
        self.folder = folder
        self.path = os.path.join(folder, "source")
        self.tools = os.path.join(folder, "bin")
        self.commits = []
        os.mkdir(self.tools)
        os.symlink(setting("MW_CLI"), os.path.join(self.tools, "mpiwatch"))
        self.git("init", "-q", self.path, where=folder)
        for path in files:
            shutil.copy(path, self.path)

    def environment(self, more=None):
        env = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "test",
               "GIT_AUTHOR_EMAIL": "test@example.org", "GIT_COMMITTER_NAME": "test",
               "GIT_COMMITTER_EMAIL": "test@example.org", "HOME": self.folder,
               "PATH": "%s:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" % self.tools}
        env.update(more or {})
        return env

    def git(self, *arguments, where=None):
        done = subprocess.run(["git"] + list(arguments), cwd=where or self.path, check=True,
                              env=dict(os.environ, **self.environment()), stdout=subprocess.PIPE)
        return done.stdout.decode().strip()

    def commit(self, subject, **files):
        """One more commit; the files' names have _ for the dot."""
        for name, text in files.items():
            write(os.path.join(self.path, name.replace("_", ".")), text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        self.commits.append(self.git("rev-parse", "HEAD"))

    def bisect(self, script, options, argv, env=None, timeout=400):
        """Runs the bisection between the first commit and the last; returns what git said."""
        self.git("bisect", "start", self.commits[-1], self.commits[0])
        line = ["git", "bisect", "run", os.path.join(SCRIPTS, script)] + options + ["--"] + argv
        return Job(line, self.folder, cwd=self.path, env=self.environment(env), timeout=timeout).wait()

    def step(self, commit, script, options, argv, env=None):
        """One step by hand, at one commit."""
        self.git("checkout", "-q", commit)
        line = [os.path.join(SCRIPTS, script)] + options + ["--"] + argv
        return Job(line, self.folder, cwd=self.path, env=self.environment(env), timeout=200).wait()

    def found(self, job, culprit):
        """That git named this commit, and no other."""
        job.expect(0)
        check("%s is the first bad commit" % culprit in job.stdout, job.describe())

    def skipped(self):
        """The commits that could not be judged."""
        log = self.git("bisect", "log").splitlines()
        return {line.split("[")[1].split("]")[0] for line in log if line.startswith("# skip: ")}


PROVIDER = """/* What the card does. */
#include <stdlib.h>
__attribute__((constructor)) static void state(void)
{
%s}
"""
WORKS, FAILS = PROVIDER % "", PROVIDER % '    setenv("FAKE_FAIL", "enable", 0);\n'
MAKEFILE = """all: libcxi-fi.so job
libcxi-fi.so: cxi.c state.c
\tgcc -g -O1 -shared -fPIC cxi.c state.c -o $@ -lfabric -ldl
job: pairs.c end.c
\t%s -g -O1 pairs.c end.c -o $@
"""
ENDS = "/* nothing */\n"
CRASHES = "#include <stdlib.h>\n__attribute__((constructor)) static void end(void) { abort(); }\n"


def provider_history(folder, mpi):
    """Of twelve commits the fifth brings a provider that fails; one before and one behind it cannot be
    judged."""
    fabric.need_headers()
    need_git()
    made = Repository(folder, [os.path.join(STUBS, "fabric", "cxi.c"), os.path.join(PROGRAMS, "pairs.c")])
    made.commit("start", state_c=WORKS, end_c=ENDS, Makefile=MAKEFILE % mpi.cc)
    made.commit("words")
    made.commit("does not build", state_c="nonsense")
    made.commit("builds again", state_c=WORKS)
    made.commit("the provider fails", state_c=FAILS)
    made.commit("more words")
    made.commit("crashes", end_c=CRASHES)
    made.commit("does not crash", end_c=ENDS)
    for number in range(4):
        made.commit("and more words %d" % number)
    return made


def over_the_card(mpi):
    line = mpi.launch(2, ["./job", "8x50", "65536x20"])
    return line[:1] + OVER_CXI + line[1:]


@mpi_test(only="openmpi")
def the_commit_where_the_provider_fails(mpi, folder):
    """C2: a change of transport shows in one run a side."""
    made = provider_history(folder, mpi)
    job = made.bisect("git-bisect.sh", ["-b", "make -s", "-c", "--only=transports"], over_the_card(mpi),
                      {"FI_PROVIDER_PATH": "."})
    made.found(job, made.commits[4])
    check(made.skipped() & {made.commits[2], made.commits[6]}, "no commit was met that cannot be judged")
    check("cxi" in job.stderr and "libcxi-fi.so" in job.stderr, "no suspect:\n" + job.stderr[-4000:])


@mpi_test(only="openmpi")
def steps_end_with_what_git_understands(mpi, folder):
    made = provider_history(folder, mpi)
    env = {"FI_PROVIDER_PATH": "."}
    options = ["-b", "make -s", "-g", made.commits[0], "-c", "--only=transports"]
    for commit, code in ((1, 0), (2, 125), (3, 0), (4, 1), (6, 125), (8, 1)):
        made.step(made.commits[commit], "git-bisect.sh", options, over_the_card(mpi), env).expect(code)
    made.step(made.commits[1], "git-bisect.sh", ["-n", "none"], ["true"], env).expect(129)
    good = ["-b", "make -s", "-g", made.commits[0]]
    for asked, code in ((["-c", "--only transports"], 0), (["-c", "-Otransports", "-n", "1"], 0), (["-n", "1"], 129),
                        (["-n", "1", "-c", "--only=transports", "-c", "--only=classes"], 129)):
        made.step(made.commits[1], "git-bisect.sh", good + asked, over_the_card(mpi), env).expect(code)
    made.step(made.commits[1], "git-bisect.sh", ["-x"], ["true"], env).expect(129)
    made.step(made.commits[1], "git-bisect.sh", options, [], env).expect(129)
    made.step(made.commits[1], "git-bisect.sh", ["-b", "true"], ["true"], env).expect(129)  # no good one
    made.step(made.commits[8], "git-bisect.sh", options, ["false"], env).expect(129)  # the good one fails
    made.step(made.commits[1], "git-bisect.sh", ["-g", made.commits[2], "-b", "make -s"], ["true"],
              env).expect(129)  # the good one does not build
    alone = os.path.join(folder, "git-bisect.sh")
    shutil.copy(os.path.join(SCRIPTS, "git-bisect.sh"), alone)  # without judge.sh
    made.step(made.commits[1], alone, options, ["true"], env).expect(129)
    os.remove(os.path.join(made.tools, "mpiwatch"))
    made.step(made.commits[1], "git-bisect.sh", options, over_the_card(mpi), env).expect(129)


DELAYED = """#define DELAY %d /* microseconds */
"""


@mpi_test
def the_commit_that_takes_longer(mpi, folder):
    """Half as much again, in runs that differ by up to 5 % to each side."""
    need_git()
    made = Repository(folder, [os.path.join(PROGRAMS, "delayed.c")])
    made.commit("start", delay_h=DELAYED % 8000)
    made.commit("words")
    made.commit("slower", delay_h=DELAYED % 12000)
    made.commit("more words")
    made.commit("and more words")
    options = ["-b", "%s -O1 -include delay.h delayed.c -o job" % mpi.cc,
               "-c", "--only=calls", "-c", "--threshold=15%", "-n", "20"]
    job = made.bisect("git-bisect.sh", options, mpi.launch(2, ["./job", "200", "5"]))
    made.found(job, made.commits[2])
    check("in 1 runs" not in job.stderr, "a speed was judged by one run:\n" + job.stderr)


# ---- stand-ins: they check their command line, know which commit is in it, and run the rest. Commits whose
# subject says so cannot be built, or lack shared memory.

STAND_IN = """#!/bin/sh
# Where COMMIT was asked for, runs the rest of the command line as that commit would have it.
as_of() {
    subject=$(git -C "$SOURCES" log -1 --format=%s "$1") || exit 3
    shift
    case $subject in
    *broken*) echo "build of $1 failed" >&2; exit 1 ;;
    *slow*) OMPI_MCA_btl=tcp,self; export OMPI_MCA_btl ;;
    esac
    "$@"
}
"""
GUIX = STAND_IN + """
case $1 in
time-machine)
    commit=${2#--commit=}
    [ "$3 $4 $5 $6 $7" = "-- shell openmpi osu-micro-benchmarks --" ] || exit 4
    shift 7 ;;
shell)
    commit=${2#--with-commit=libfabric=}
    [ "$3 $4 $5" = "openmpi osu-micro-benchmarks --" ] || exit 4
    shift 5 ;;
*) exit 5 ;;
esac
as_of "$commit" "$@"
"""
SPACK = STAND_IN + """
spec=${2#--sh}
[ "$1 $2" != "load --sh" ] || spec=$3
commit=${spec##*@git.}
commit=${commit%=main}
[ "$spec" = "osu-micro-benchmarks ^openmpi ^libfabric@git.$commit=main ^fabtests@git.$commit=main" ] || exit 4
case $1 in
install) as_of "$commit" true ;;
load) as_of "$commit" sh -c 'echo "export OMPI_MCA_btl=${OMPI_MCA_btl-};"' ;;
*) exit 5 ;;
esac
"""


def stood_in(folder, tool, text):
    """A history whose third commit brings a lesser transport, behind one that cannot be built."""
    need_git()
    made = Repository(folder, [])
    write(os.path.join(made.tools, tool), text, executable=True)
    for subject in ("start", "fine", "broken", "fine too", "slow", "still slow", "slow again"):
        made.commit(subject)
    return made


@mpi_test(only="openmpi", variants=("guix", "guix package", "spack"))
def stand_ins(mpi, folder, variant):
    tool = variant.split()[0]
    made = stood_in(folder, tool, GUIX if tool == "guix" else SPACK)
    options = ["-c", "--only=transports"]
    if tool == "spack":
        options += ["-s", "osu-micro-benchmarks ^openmpi ^libfabric@git.{}=main ^fabtests@git.{}=main"]
    else:
        options += ["-s", "openmpi osu-micro-benchmarks"]
    if variant == "guix package":
        options += ["-p", "libfabric"]
    argv = mpi.launch(2, [mpi.build("pairs.c"), "8x50", "65536x20"])
    env = {"SOURCES": made.path}
    job = made.bisect(tool + ".sh", options, argv, env)
    made.found(job, made.commits[4])
    made.step(made.commits[2], tool + ".sh", options + ["-g", made.commits[0]], argv, env).expect(125)
    made.step(made.commits[1], tool + ".sh", options + ["-g", made.commits[2]], argv, env).expect(129)
    made.step(made.commits[1], tool + ".sh", ["-g", made.commits[0]], argv, env).expect(129)


main()
