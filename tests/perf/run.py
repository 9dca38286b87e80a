#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# The cost of recording, from one interleaved run: no preload, the floor (an empty preload that
# takes two time stamps, see tests/stubs/floor.c), mpiwatch, and mpiwatch in summary mode, in turn,
# round after round; medians of the differences within a round. Then bytes per event of real programs when MPIWATCH_BENCH names
# a folder of benchmarks (PATH/openmpi/bin, PATH/mpich/bin). Run by "meson test --benchmark"; with
# --quick one short round, to see that it works.
"""Prints what mpiwatch costs."""

import os
import re
import statistics
import struct
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from harness import Failure, Skip  # noqa: E402
from mpi import ALL  # noqa: E402
from tools import floor_tool  # noqa: E402
from trace import Trace  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
# What runs are compared, and their settings.
PRELOAD = {
    "none": lambda mpi: None,
    "floor": lambda mpi: floor_tool(),
    "ours": lambda mpi: mpi.library(),
    "sums": lambda mpi: mpi.library(),
}
SETTINGS = {"sums": {"MPIWATCH_MODE": "summary"}}
ROWS = (
    ("iprobe", "MPI_Iprobe"),
    ("self_message", "(Irecv+Isend+Waitall)/3, to self"),
    ("allreduce", "MPI_Allreduce, one rank"),
    ("ping_pong", "8-byte message, one way"),
)
DELAYS = (
    ("delay_p99.9", "one call of 1,000 takes"),
    ("delay_p99.99", "one call of 10,000 takes"),
    ("delay_max", "the longest call takes"),
)


def figures(mpi, variant, folder, calls, number):
    """One run of both programs; {name: nanoseconds} and what the trace says of its own longest
    delay."""
    program = mpi.build(os.path.join(HERE, "percall.c"))
    found = {}
    trace = os.path.join(folder, "perf-%d.mpiw" % number)
    for ranks, mode in ((1, "one"), (2, "two")):
        job = mpi.run(
            ranks,
            [program, mode, calls],
            folder,
            preload=PRELOAD[variant](mpi),
            timeout=120,
            env=dict(SETTINGS.get(variant, {}), MPIWATCH_OUT="%s.%s.mpiw" % (trace, mode)),
        ).expect(0)
        found.update(
            (name, float(value))
            for name, value in re.findall(r"^(\S+) ([\d.]+)$", job.stdout, re.M)
        )
    path = trace + ".one.mpiw"
    if os.path.isdir(path):
        process = Trace(path, events=False).rank(0)
        found["own_longest"] = process.cost.get("longest", 0)
        found["own_encode"] = process.cost.get("encode", 0) / max(1, process.cost.get("events", 1))
    return found


def interleaved(mpi, folder, rounds, calls):
    variants = list(PRELOAD)
    results = {name: [] for name in variants}
    for number in range(rounds):
        first = number % len(variants)
        for name in variants[first:] + variants[:first]:
            run = number * len(variants) + variants.index(name)
            results[name].append(figures(mpi, name, folder, calls, run))
        print("  round %d of %d" % (number + 1, rounds), file=sys.stderr, flush=True)
    return results


def show(mpi, results):
    def median(values):
        return statistics.median(values)

    rounds = range(len(results["none"]))
    print("%s, medians over %d interleaved rounds" % (mpi.name, len(rounds)))
    print(
        "  %-34s %9s %12s %12s %12s %11s %11s"
        % (
            "ns per call", "none", "added: floor", "added: ours", "added: sums", "floor/none", "ours/none"
        )
    )
    for key, title in ROWS:
        base = median(results["none"][i][key] for i in rounds)
        added = [
            median(results[name][i][key] - results["none"][i][key] for i in rounds)
            for name in ("floor", "ours", "sums")
        ]
        ratio = [
            median(results[name][i][key] / results["none"][i][key] for i in rounds)
            for name in ("floor", "ours")
        ]
        print(
            "  %-34s %9.1f %12.1f %12.1f %12.1f %11.2f %11.2f"
            % ((title, base) + tuple(added) + tuple(ratio))
        )
    print("  %-34s %9s %12s %12s %12s" % ("ns, median of the rounds", *PRELOAD))
    for key, title in DELAYS:
        print(
            "  %-34s %9.0f %12.0f %12.0f %12.0f"
            % ((title,) + tuple(median(results[name][i][key] for i in rounds) for name in PRELOAD))
        )
    own = [entry["own_longest"] for entry in results["ours"] if "own_longest" in entry]
    if own:
        print(
            "  longest delay of a call that mpiwatch itself saw (its trace):"
            " median %.0f ns, most %.0f ns"
            % (median(own), max(own))
        )
        print(
            "  encoding, per event (its trace): %.1f ns"
            % median(entry["own_encode"] for entry in results["ours"])
        )


def event_bytes(path):
    """(bytes of EVENTS chunks, bytes of all files, events) of a trace."""
    head = struct.Struct("<4sHBBQIIII")
    in_events = total = 0
    for name in os.listdir(path):
        with open(os.path.join(path, name), "rb") as file:
            data = file.read()
        total += len(data)
        at = 0
        while at + head.size <= len(data):
            magic, kind, _, _, _, length, _, _, _ = head.unpack_from(data, at)
            if magic != b"MWCK":
                raise Failure("no chunk at %d of %s" % (at, name))
            if kind == 9:
                in_events += head.size + length
            at += head.size + length
    return (
        in_events,
        total,
        sum(process.cost.get("events", 0) for process in Trace(path, events=False).processes),
    )


def applications(mpi, bench, folder, quick):
    base = os.path.join(bench, mpi.name, "bin")
    runs = [
        (
            "LULESH, 8 ranks",
            8,
            [os.path.join(base, "lulesh2.0"), "-s", "8", "-i", "20" if quick else "300"],
        ),
        ("HPCG 16^3, 2 ranks", 2, [os.path.join(base, "xhpcg"), "16", "16", "16", "2"]),
        (
            "osu_latency",
            2,
            [os.path.join(base, "osu_latency"), "-m", "1:64", "-i", "200" if quick else "20000"],
        ),
    ]
    print("%s, size of the trace" % mpi.name)
    print(
        "  %-20s %12s %14s %14s %10s" % ("", "events", "bytes/event", "with the rest", "time ratio")
    )
    for title, ranks, argv in runs:
        if not os.path.exists(argv[0]):
            print("  %-20s no %s" % (title, argv[0]))
            continue
        ratios = []
        for number in range(1 if quick else 5):
            began = time.monotonic()
            mpi.run(ranks, argv, folder, timeout=300).expect(0)
            plain = time.monotonic() - began
            job, path = mpi.record(
                ranks,
                argv,
                folder,
                trace="app-%d-%s.mpiw" % (number, title.split(",")[0].replace(" ", "")),
                timeout=300,
            )
            job.expect(0)
            ratios.append(job.seconds / plain)
        in_events, total, events = event_bytes(path)
        print(
            "  %-20s %12d %14.2f %14.2f %10.2f"
            % (
                title,
                events,
                in_events / max(1, events),
                total / max(1, events),
                statistics.median(ratios),
            )
        )


def main(arguments):
    quick = "--quick" in arguments
    rounds = 1 if quick else int(os.environ.get("MPIWATCH_PERF_ROUNDS", "9"))
    calls = 40 if quick else 400
    bench = os.environ.get("MPIWATCH_BENCH")
    measured = 0
    with tempfile.TemporaryDirectory(prefix="mwperf-") as folder:
        for mpi in ALL:
            reason = mpi.missing()
            if reason:
                print("%s: skipped, %s" % (mpi.name, reason))
                continue
            own = os.path.join(folder, mpi.name)  # traces of the other MPI have the same names
            os.mkdir(own)
            try:
                show(mpi, interleaved(mpi, own, rounds, calls))
                if bench:
                    applications(mpi, bench, own, quick)
                measured += 1
            except Skip as skipped:
                print("%s: skipped, %s" % (mpi.name, skipped))
    if not bench:
        print("bytes per event: set MPIWATCH_BENCH to a folder with openmpi/bin and mpich/bin")
    return 0 if measured else 77


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Failure, Skip) as problem:
        print(problem)
        sys.exit(1)
