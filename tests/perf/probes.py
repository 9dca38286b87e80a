#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# What the probes cost (interpose/probe): the same job recorded with MPIWATCH_PROBES=none and with all of
# them, in turn, round after round; medians of the differences and ratios within a round. The 8-byte
# message of percall.c over each transport that can be had here, and osu_latency where MPIWATCH_BENCH
# names a folder of benchmarks. Run by "meson test --benchmark probes"; --quick: one short round.
"""Prints what the probes add to a message."""

import os
import re
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from harness import Failure, command  # noqa: E402
from mpi import ALL, patient  # noqa: E402
from stacks import shared_btl  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
UCX = ["--mca", "pml", "ucx", "--mca", "opal_common_ucx_tls", "any",
       "--mca", "opal_common_ucx_devices", "any"]
OFI = ["--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include",
       "tcp;ofi_rxm"]


def stacks(mpi):
    """(what, options of the launcher, environment)."""
    if mpi.name == "mpich":
        return [("UCX, shared memory", [], {}), ("UCX, tcp", [], {"UCX_TLS": "tcp,self"})]
    ob1 = ["--mca", "pml", "ob1", "--mca", "btl"]
    return [
        ("ob1, shared memory", ob1 + [shared_btl() + ",self"], {}),
        ("ob1, tcp", ob1 + ["tcp,self"], {}),
        ("UCX, shared memory", UCX, {}),
        ("UCX, tcp", UCX, {"UCX_TLS": "tcp,self"}),
        ("libfabric, tcp;ofi_rxm", OFI, {}),
    ]


def run(mpi, folder, argv, options, env, probes, number):
    line = mpi.launch(2, ["env", "LD_PRELOAD=%s" % mpi.library()] + [str(part) for part in argv])
    more = dict(env, MPIWATCH_PROBES=probes,
                MPIWATCH_OUT=os.path.join(folder, "%s-%d.mpiw" % (probes, number)))
    done = patient(
        mpi, more, lambda limit: command(line[:1] + options + line[1:], folder, env=more,
                                         timeout=limit or 120), more["MPIWATCH_OUT"])
    return done.expect(0).stdout


def one_way(text):
    """Nanoseconds that percall.c gives an 8-byte message."""
    return float(re.search(r"^ping_pong ([\d.]+)$", text, re.M).group(1))


def osu(text):
    """Nanoseconds that osu_latency gives an 8-byte message."""
    return 1000 * float(re.search(r"^8\s+([\d.]+)", text, re.M).group(1))


def compare(mpi, what, argv, value, rounds, options, env):
    with tempfile.TemporaryDirectory(prefix="mwprobes-") as folder:
        found = {"none": [], "all": []}
        for number in range(rounds):
            for probes in ("none", "all") if number % 2 else ("all", "none"):
                found[probes].append(
                    value(run(mpi, folder, argv, options, env, probes, number)))
    added = statistics.median(a - n for a, n in zip(found["all"], found["none"]))
    ratio = statistics.median(a / n for a, n in zip(found["all"], found["none"]))
    print("  %-10s %-36s %9.1f %+9.1f %8.3f"
          % (mpi.name, what, statistics.median(found["none"]), added, ratio), flush=True)


def main(arguments):
    quick = "--quick" in arguments
    rounds = 1 if quick else int(os.environ.get("MPIWATCH_PERF_ROUNDS", "15"))
    calls = 40 if quick else 400
    bench = os.environ.get("MPIWATCH_BENCH")
    measured = 0
    print("8-byte message, one way; medians over %d interleaved rounds" % rounds)
    print("  %-10s %-36s %9s %9s %8s" % ("", "ns", "no probes", "all: +", "ratio"))
    for mpi in ALL:
        if mpi.missing():
            print("  %-10s skipped, %s" % (mpi.name, mpi.missing()))
            continue
        program = mpi.build(os.path.join(HERE, "percall.c"))
        for what, options, env in stacks(mpi):
            compare(mpi, what, [program, "two", calls], one_way, rounds, options, env)
            latency = os.path.join(bench or "", mpi.name, "bin", "osu_latency")
            if bench and os.path.exists(latency):
                argv = [latency, "-m", "8:8", "-i", "200" if quick else "20000"]
                compare(mpi, "osu_latency, " + what, argv, osu, rounds, options, env)
            measured += 1
    return 0 if measured else 77


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as problem:
        print(problem)
        sys.exit(1)
