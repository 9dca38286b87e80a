# SPDX-License-Identifier: BSD-3-Clause
#
# Speeds of well-known benchmarks as the trace has them, against the tables that the programs print in the same run;
# docs/metrics.md ("What benchmarks print") has the conversion of each. Throughput agrees on a busy machine, too, as
# both look at the same clock; what is in flight, and latency, only where nothing else runs.
"""Figures of benchmarks."""

import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from benchmark import binary  # noqa: E402
from harness import Failure, Skip, check, command, main, mpi_test, note, setting  # noqa: E402
from quiet import BUSY, again, used  # noqa: E402

# Sizes, turns of each, and messages of a window: so many that neither the first turn, in which memory is touched for
# the first time, nor the way of one empty answer counts.
STEPS = (("4096", "16384", "2000", "256"), ("32768", "262144", "300", "256"), ("524288", "4194304", "40", "64"))
SHARED, TCP = {}, {"openmpi": {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self"}, "mpich": {"UCX_TLS": "tcp,self"}}
ROUNDS = 3


def table(text, column=1):
    """{bytes: the number in a column} of the lines of numbers."""
    rows = [line.split() for line in text.splitlines() if re.fullmatch(r"\s*\d+(\s+[\d.]+)+\s*", line)]
    return {int(row[0]): float(row[column]) for row in rows if int(row[0])}


def measured(mpi, argv, folder, env=None, column=1):
    """What the program printed, and {(src, dst, bytes): entry of the report's speeds}."""
    shutil.rmtree(os.path.join(folder, "job.mpiw"), ignore_errors=True)
    job, trace = mpi.record(2, argv, folder, env=env, timeout=250)
    job.expect(0)
    line = [setting("MW_CLI"), "report", "--format", "json", "--top", "1000", trace]
    pairs = json.loads(command(line, folder).expect(0).stdout)["speeds"]["pairs"]["listed"]
    speeds = {(s["src"], s["dst"], s["from"]): s for s in pairs}
    printed = table(job.stdout, column)
    check(printed, "no table in", job.stdout)
    return printed, speeds


def near(what, found, expected, part):
    check(found and abs(found / expected - 1) <= part, what, "found", found, "printed", expected)


def not_below_throughput(speed):
    """In flight, for certain or at least; the warm-up is in the throughput only."""
    there = speed["in_flight_bytes_s"] or speed["at_least_bytes_s"]
    part = speed["messages"] / (speed["messages"] + speed["warm_up_messages"])
    check(there >= speed["throughput_bytes_s"] * part * 0.9999, "in flight", there, "throughput", speed)


def same_throughput(mpi, folder, argv, factor, part, directions=((0, 1),), column=1,
                    figure="largest_burst_bytes_s"):
    """Megabytes a second as printed are `factor` times the figure, summed over directions."""

    def run():
        printed, speeds = measured(mpi, argv, folder, column=column)
        for size, value in printed.items():
            both = [speeds[src, dst, size] for src, dst in directions]
            for speed in both:
                not_below_throughput(speed)
            near("%d B" % size, factor * sum(speed[figure] for speed in both) / 1e6, value, part)

    again(run)


def osu(mpi, name, least, most, turns, window, uncounted=0):
    return [binary(mpi, name), "-m", "%s:%s" % (least, most), "-i", turns, "-x", uncounted, "-W", window]


def imb(mpi, name, turns=2000):
    return [binary(mpi, "IMB-MPI1"), "-npmin", 2, "-msglog", "12:19", "-iter", turns, "-iter_policy", "off", name]


@mpi_test(variants=STEPS)
def osu_bw(mpi, folder, step):
    """Bytes of windows until the last answer: the throughput of 0 to 1."""
    same_throughput(mpi, folder, osu(mpi, "osu_bw", *step), 1, 0.01)


@mpi_test(variants=STEPS)
def osu_bw_in_flight(mpi, folder, step):
    """On a quiet machine all but the answers is in flight. The first window is in neither figure: it is our warm-up."""

    def run():
        if used() > BUSY:
            raise Skip("the machine is too busy to measure what is in flight")
        printed, speeds = measured(mpi, osu(mpi, "osu_bw", *step, 1), folder)
        for size, value in printed.items():
            near("%d B in flight" % size, (speeds[0, 1, size]["in_flight_bytes_s"] or 0) / 1e6, value, 0.02)

    again(run)


@mpi_test(variants=STEPS)
def osu_bibw(mpi, folder, step):
    """Both directions at a time, added."""
    same_throughput(mpi, folder, osu(mpi, "osu_bibw", *step), 1, 0.01, ((0, 1), (1, 0)))


@mpi_test(variants=STEPS)
def osu_mbw_mr(mpi, folder, step):
    """One pair, whose ranks meet in a barrier before each window: all bursts together."""
    least, most, turns, window = step
    argv = osu(mpi, "osu_mbw_mr", least, most, int(turns) // 8, window)
    same_throughput(mpi, folder, argv, 1, 0.01, figure="throughput_bytes_s")


@mpi_test
def imb_pingpong(mpi, folder):
    """Bytes over half a turn; in the other half the answer is on its way."""
    same_throughput(mpi, folder, imb(mpi, "PingPong"), 2, 0.03, column=-1)


@mpi_test
def imb_exchange(mpi, folder):
    """Two messages to each side, which with two ranks is one: four a turn, two of them from 0 to 1."""
    same_throughput(mpi, folder, imb(mpi, "Exchange"), 2, 0.03, column=-1)


def latency(mpi, folder, env, part):
    """Half a round trip of the same run without the library: recording takes its time outside of a message's. Medians
    of both (-z50): a mean is that of the machine's pauses, too. Over all sizes up to 64 B, which take the same time, as
    two digits are printed and clocks move in steps. A printed turn also has one reading of MPI_Wtime."""
    argv = [binary(mpi, "osu_latency"), "-m", "1:64", "-i", 20000, "-x", 1000, "-z50"]
    reading = float(mpi.run(2, [mpi.build("wtime.c")], folder).expect(0).stdout)
    ours, plain = [], []
    if used() > BUSY:
        raise Skip("the machine is too busy to measure latencies")
    for _ in range(ROUNDS):
        printed = table(mpi.run(2, argv, folder, env=env, timeout=250).expect(0).stdout, -1)
        _, speeds = measured(mpi, argv, folder, env)
        both = [speeds[src, 1 - src, size]["latency_s"] * 1e6 for size in printed for src in (0, 1)]
        plain.append(sum(printed.values()) / len(printed) - reading / 2)
        ours.append(sum(both) / len(both))
    try:
        near("latency", min(ours), min(plain), part)
    except Failure:
        if used() > BUSY:
            raise Skip("the machine became too busy to measure latencies") from None
        raise
    note("latency %.4f us, printed %.4f, MPI_Wtime %.4f" % (min(ours), min(plain) + reading / 2, reading))


@mpi_test
def osu_latency(mpi, folder):
    latency(mpi, folder, SHARED, 0.10)


@mpi_test
def osu_latency_over_tcp(mpi, folder):
    latency(mpi, folder, TCP[mpi.name], 0.05)


main()
