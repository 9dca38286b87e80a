# SPDX-License-Identifier: BSD-3-Clause
#
# Well-known benchmarks with and without the library: same results, and matrices that equal what
# they are known to send.
"""Benchmarks under the library."""

import glob
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from benchmark import binary  # noqa: E402
from harness import check, main, mpi_test, same  # noqa: E402
from matrices import by_command, decoded, monitoring  # noqa: E402
from trace import Trace  # noqa: E402


def both(mpi, ranks, argv, folder, stable):
    """Runs with and without; compares the parts of the output that `stable` keeps. Returns the
    trace's path."""
    plain = mpi.run(ranks, argv, folder, timeout=200).expect(0)
    job, path = mpi.record(ranks, argv, folder, timeout=200)
    job.expect(0)
    same(stable(job.stdout), stable(plain.stdout), "output")
    same(job.stderr, plain.stderr, "stderr")
    check(stable(plain.stdout), "nothing to compare in\n" + plain.stdout)
    return path


def osu_sizes(text):
    """The sizes measured and whether their data was right."""
    return re.findall(r"^(\d+)\s+[\d.]+.*?(Pass|Fail)?$", text, re.M)


def sizes(largest, smallest=1):
    size = smallest
    while size <= largest:
        yield size
        size *= 2


@mpi_test
def osu_bw(mpi, folder):
    largest, iterations, skip, window = 65536, 40, 5, 64
    path = both(
        mpi,
        2,
        [binary(mpi, "osu_bw"), "-m", "1:%d" % largest, "-i", iterations, "-x", skip, "-W", window],
        folder,
        osu_sizes,
    )
    rounds = iterations + skip
    messages = {
        (0, 1): float(sum(window * rounds for _ in sizes(largest))),
        (1, 0): float(sum(rounds for _ in sizes(largest))),
    }
    amounts = {
        (0, 1): float(sum(window * rounds * size for size in sizes(largest))),
        (1, 0): messages[1, 0],
    }
    same(
        by_command(path, folder, "messages"),
        messages,
        "messages: window x iterations and one answer each",
    )
    same(by_command(path, folder, "bytes"), amounts, "bytes: window x iterations x size")


@mpi_test
def osu_latency(mpi, folder):
    largest, iterations, skip = 65536, 100, 10
    path = both(
        mpi,
        2,
        [binary(mpi, "osu_latency"), "-m", "1:%d" % largest, "-i", iterations, "-x", skip],
        folder,
        osu_sizes,
    )
    rounds = iterations + skip
    count = float(sum(rounds for _ in sizes(largest)))
    amount = float(sum(rounds * size for size in sizes(largest)))
    same(by_command(path, folder, "messages"), {(0, 1): count, (1, 0): count}, "messages")
    same(by_command(path, folder, "bytes"), {(0, 1): amount, (1, 0): amount}, "bytes")


@mpi_test
def osu_latency_with_validation(mpi, folder):
    both(
        mpi,
        2,
        [binary(mpi, "osu_latency"), "-m", "1:65536", "-i", "20", "-x", "2", "-c"],
        folder,
        osu_sizes,
    )


@mpi_test(variants=("osu_allreduce", "osu_alltoall", "osu_bcast"))
def osu_collective(mpi, folder, name):
    largest, iterations, skip, ranks = 16384, 50, 5, 2
    path = both(
        mpi,
        ranks,
        [binary(mpi, name), "-m", "4:%d" % largest, "-i", iterations, "-x", skip],
        folder,
        osu_sizes,
    )
    function = "MPI_" + name[4:].capitalize()
    rounds = iterations + skip
    for process in Trace(path).processes:
        mine = [
            event
            for call in process.calls()
            if call.function == function
            for event in call.events
            if event.kind == "COLL"
        ]
        for size in sizes(largest, 4):
            given = size * (ranks if name == "osu_alltoall" else 1)
            if name == "osu_bcast":
                found = [event for event in mine if max(event.bytes, event.bytes_in) == given]
            else:
                found = [event for event in mine if event.bytes == given]
            # 8 and 4 bytes also occur in the benchmark's own sums.
            check(
                len(found) == rounds or (size <= 8 and len(found) >= rounds),
                "%s of %d bytes: %d calls instead of %d" % (function, size, len(found), rounds),
            )


@mpi_test
def imb(mpi, folder):
    path = both(
        mpi,
        2,
        [
            binary(mpi, "IMB-MPI1"),
            "-npmin",
            "2",
            "-msglog",
            "0:12",
            "-iter",
            "50",
            "-iter_policy",
            "off",
            "PingPong",
            "Sendrecv",
            "Allreduce",
        ],
        folder,
        lambda text: re.findall(r"^\s+(\d+)\s+(\d+)\s+[\d.]+", text, re.M),
    )
    pairs = set(by_command(path, folder, "bytes"))
    same(pairs, {(0, 1), (1, 0)}, "pairs")


@mpi_test
def lulesh(mpi, folder):
    path = both(
        mpi,
        8,
        [binary(mpi, "lulesh2.0"), "-s", "6", "-i", "20"],
        folder,
        lambda text: re.findall(r"^.*(?:Iteration count|Energy|Diff).*$", text, re.M),
    )
    trace = Trace(path)
    same([process.rank for process in trace.processes], list(range(8)), "ranks")
    matrix = decoded(trace)
    received = {}
    for process in trace.processes:
        for call in process.all_calls():
            for event in call.events:
                if event.kind == "RECV" and "request" in event.flags:
                    received[event.peer, process.rank] = (
                        received.get((event.peer, process.rank), 0) + 1
                    )
    same(
        {pair: entry[0] for pair, entry in matrix.items()},
        received,
        "messages sent and receives posted",
    )


@mpi_test
def hpcg(mpi, folder):
    def run(name, preload):
        here = os.path.join(folder, name)
        os.mkdir(here)
        shutil.copy(os.path.join(os.path.dirname(binary(mpi, "xhpcg")), "hpcg.dat"), here)
        mpi.run(
            2,
            [binary(mpi, "xhpcg"), "16", "16", "16", "2"],
            here,
            preload=preload,
            timeout=200,
            env={"MPIWATCH_OUT": os.path.join(folder, "job.mpiw")},
        ).expect(0)
        with open(sorted(glob.glob(os.path.join(here, "HPCG-Benchmark*.txt")))[0]) as file:
            text = file.read()
        check("HPCG result is VALID" in text, "not valid:\n" + text[-500:])
        # How many sets fit into the time, and so the mean residual's last digits, are free; what is
        # tested is not.
        found = re.findall(
            r"^.*(?:Iteration Count Information::(?!.*(?:sets|Total))|Departure|spectral"
            r"|Number of (?:Equations|Nonzero)).*$",
            text,
            re.M,
        )
        check(len(found) > 5, "few results in\n" + text)
        return found

    same(run("ours", mpi.library()), run("plain", None), "results")
    same(
        [process.rank for process in Trace(os.path.join(folder, "job.mpiw")).processes],
        [0, 1],
        "ranks",
    )


@mpi_test(only="openmpi", variants=("osu_bw", "osu_latency", "lulesh2.0"))
def as_open_mpi_counts_itself(mpi, folder, name):
    """The matrices of messages and bytes equal those of Open MPI's own monitoring, in the same
    run."""
    options = (
        ["-s", "6", "-i", "20"] if name == "lulesh2.0" else ["-m", "1:4096", "-i", "50", "-x", "5"]
    )
    found, path = monitoring(
        mpi, 8 if name == "lulesh2.0" else 2, [binary(mpi, name)] + options, folder
    )
    ours = {pair: entry for pair, entry in decoded(Trace(path)).items()}
    same(sorted(ours.items()), sorted(found.items()), "(messages, bytes) of each pair")


main()
