#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Comparisons of which the answer is known: runs of one kind against each other (A/A), and against runs that are a
# tenth slower (A/B). Records a pool of runs, all kinds in turn, then draws sides of one and of five runs from it, ten
# times with each of three seeds, and asks `mpiwatch compare`. Prints the table of docs/regression.md. By hand, on a quiet machine, as root (it makes network
# namespaces), about half an hour:
#
#   MW_LIBRARY=... MW_LIBRARY_MPI3=... MW_CLI=... MPIWATCH_BENCH=... tests/perf/aa.py FOLDER [RUNS [KIND ...]]
#
# With KIND (osu_bw, link ...): instead, each run of these kinds against each other one of its kind.
# MPIWATCH_BENCH as in tests/bench/benchmark.py. A pool that is there is added to until each kind has RUNS (20) of them.
"""False and missed regressions."""

import collections
import glob
import itertools
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), os.path.join(HERE, "..", "bench")]
from benchmark import binary  # noqa: E402
from harness import STUBS, command, setting  # noqa: E402
from mpi import OPENMPI, build_folder, compile_file, patient  # noqa: E402
from nodes import Nodes  # noqa: E402

RATE = 800  # Mbit/s of the link; a tenth less when it is slower
COPIES = os.environ.get("COPIES_PERCENT", "80")  # so much that osu_bw prints about a tenth less
DRAWS = 10  # with each seed
SEEDS = (7, 8, 9)
WORDS = {0: "no regression", 1: "regression", 125: "cannot be judged"}


def recorded(line, trace, env=None):
    full = dict(env or {}, MPIWATCH_OUT=trace)
    job = patient(OPENMPI, full, lambda limit: command(line, POOL, env=full, timeout=limit or 120), trace)
    with open(trace + ".out", "w") as file:
        file.write(job.expect(0).stdout)


def local(name, ranks, arguments, preload=(), env=None):
    """A kind of run on this machine."""
    libraries = ":".join([OPENMPI.library()] + list(preload))
    program = ["env", "LD_PRELOAD=%s" % libraries, binary(OPENMPI, name)] + arguments
    return lambda trace: recorded(OPENMPI.launch(ranks, program), trace, env)


def over_link(mbit):
    """osu_bw between two nodes whose link has this rate."""

    def run(trace):
        with Nodes(2, POOL) as nodes:
            for number in (1, 2):
                nodes.rate(number, "%dmbit" % mbit)
            program = [binary(OPENMPI, "osu_bw"), "-m", "65536:1048576", "-x", "2", "-i", "6"]
            options = ["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "eth0"]
            job = nodes.record(OPENMPI, 2, program, trace, *options).expect(0)
        with open(trace + ".out", "w") as file:
            file.write(job.stdout)

    return run


def kinds():
    copies = compile_file(OPENMPI.cc, os.path.join(STUBS, "copies.c"), os.path.join(build_folder(), "copies.so"),
                          ["-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-ldl"])
    osu = ["-m", "65536:1048576", "-i", "100", "-x", "20"]
    return {
        "osu_bw": local("osu_bw", 2, osu),
        "LULESH": local("lulesh2.0", 8, ["-s", "8", "-i", "400"]),
        "HPCG": local("xhpcg", 2, ["--nx=16", "--ny=16", "--nz=16", "--rt=2"]),
        "osu_bw, copies": local("osu_bw", 2, osu, [copies], {"COPIES_PERCENT": COPIES}),
        "link": over_link(RATE),
        "link, slower": over_link(RATE * 9 // 10),
    }


def record(runs):
    made = kinds()
    for number in range(1, runs + 1):
        for kind, run in made.items():
            trace = os.path.join(POOL, "%s-%d.mpiw" % (re.sub(r"\W+", "_", kind), number))
            if not os.path.exists(trace + ".out"):
                run(trace)
        print("recorded %d of %d" % (number, runs), file=sys.stderr, flush=True)


def pool(kind):
    return sorted(path[:-4] for path in glob.glob(os.path.join(POOL, re.sub(r"\W+", "_", kind) + "-*.mpiw.out")))


def compared(base, fresh):
    line = [setting("MW_CLI"), "compare"] + base + ["--"] + fresh
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    answer = WORDS.get(done.returncode, "exit %d" % done.returncode)
    with open(os.path.join(POOL, "answers.txt"), "a") as file:
        file.write("%s\n%s\n%s\n" % (answer, " ".join(line[2:]), done.stdout.decode()))
    return answer


def row(what, base, fresh, side):
    """Comparisons of so many runs a side; `fresh` None: both sides from one pool."""
    answers = collections.Counter()
    for seed in SEEDS:
        drawn = random.Random("%d %s %s %d" % (seed, base, fresh, side))  # rows do not depend on each other
        for _ in range(DRAWS):
            one = drawn.sample(pool(base), side if fresh else 2 * side)
            two = drawn.sample(pool(fresh), side) if fresh else one[side:]
            answers[compared(one[:side], two)] += 1
    print("| %s | %d | %s |" % (what, side, " | ".join(str(answers.pop(word, 0)) for word in WORDS.values())),
          "" if not answers else dict(answers), flush=True)


def each_against_each(kind):
    answers = collections.Counter(compared([one], [other]) for one, other in itertools.permutations(pool(kind), 2))
    print("%s, each run against each other: %s" % (kind, dict(answers)), flush=True)


def printed(kind):
    """What osu_bw itself says of its largest messages, MB/s, on average over the pool."""
    values = []
    for trace in pool(kind):
        with open(trace + ".out") as file:
            values.append(float(file.read().split()[-1]))
    return sum(values) / len(values)


def main():
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    os.makedirs(POOL, exist_ok=True)
    record(runs)
    if len(sys.argv) > 3:
        for kind in sys.argv[3:]:
            each_against_each(kind)
        return
    print("| runs | a side | %s |" % " | ".join(WORDS.values()))
    print("|---|---|---|---|---|")
    for side in (1, 5):
        for kind in ("osu_bw", "LULESH", "HPCG", "link"):
            row("%s against itself" % kind, kind, None, side)
        for base, fresh in (("osu_bw", "osu_bw, copies"), ("link", "link, slower")):
            slower = 100 * (1 - printed(fresh) / printed(base))
            row("%s against %s (osu_bw prints %.1f %% less)" % (base, fresh, slower), base, fresh, side)


POOL = os.path.realpath(sys.argv[1]) if len(sys.argv) > 1 else None
if __name__ == "__main__":
    main()
