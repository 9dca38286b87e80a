# SPDX-License-Identifier: BSD-3-Clause
#
# Speeds and waits of real jobs against what the programs themselves saw, and against what a plain
# socket gets over a link whose rate is known.
"""Measured messages."""

import json
import os
import shutil
import subprocess
import sys

from harness import SOURCE, check, command, main, mpi_test, same, setting, test
from mpi import OPENMPI
from nodes import Nodes
from quiet import again

BYTES, WINDOWS, HOURS = 1 << 18, 100, 3 * 3600
# Over the network that the test nodes have, and kind to each other where there are fewer processors than ranks.
OVER_TCP = {"openmpi": (["--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "eth0",
                         "--mca", "mpi_yield_when_idle", "1"], {}),
            "mpich": ([], {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"})}
RECEIVER = """
import socket
server = socket.socket()
server.bind(("10.77.0.%d", 5555))
server.listen(1)
print("ready", flush=True)
peer = server.accept()[0]
while peer.recv(1 << 16):
    pass
"""
SENDER = """
import socket, time
peer = socket.create_connection(("10.77.0.%d", 5555))
block, total = b"x" * 65536, %d
start = time.monotonic()
for _ in range(total // len(block)):
    peer.sendall(block)
peer.shutdown(socket.SHUT_WR)
while peer.recv(1):
    pass
print(total / (time.monotonic() - start))
"""


def example(mpi, name):
    return mpi.build(os.path.join(SOURCE, "examples", name + ".c"), name="example_" + name)


def shown(folder, trace, *arguments):
    run = command([setting("MW_CLI"), *arguments, "--format", "json", trace], folder).expect(0)
    return json.loads(run.stdout)


def matrix(folder, trace, metric, size=None):
    """{(src, dst): value} of what is certain."""
    options = ["matrix", "--metric", metric] + (["--size", str(size)] if size else [])
    return {(c["src"], c["dst"]): c["value"] for c in shown(folder, trace, *options)["cells"]
            if not c.get("bound")}


def printed(job):
    """{(src, dst): bytes per second} as examples/pairs.c saw it."""
    lines = [line.split() for line in job.stdout.splitlines()]
    return {(int(line[0]), int(line[1])): float(line[2]) for line in lines if len(line) == 4}


@mpi_test
def pairs_against_the_program(mpi, folder):
    """Throughput as the program printed it; nothing in flight is slower; every message is matched."""
    program = example(mpi, "pairs")

    def run():
        shutil.rmtree(os.path.join(folder, "job.mpiw"), ignore_errors=True)
        job, trace = mpi.record(2, [program, "alone", BYTES, WINDOWS], folder)
        job.expect(0)
        counts = shown(folder, trace, "report")["clocks"]["matching"]
        for name in ("sends_alone", "receives_alone", "unfinished", "ambiguous", "uncounted"):
            same(counts[name], 0, name)
        seen, told = matrix(folder, trace, "throughput", BYTES), printed(job)
        in_flight = matrix(folder, trace, "bandwidth", BYTES)
        same(sorted(seen), [(0, 1), (1, 0)], "pairs")
        for pair, value in seen.items():
            check(abs(value / told[pair] - 1) < 0.02, pair, "throughput", value, "printed", told[pair])
            check(in_flight.get(pair, value) > 0.97 * value, pair, "in flight", in_flight, value)

    again(run)


@mpi_test
def accesses_to_windows(mpi, folder):
    """Each rank puts 200 times 4,000 bytes to its right and gets 100 times as much, in two windows: 4,000 bytes are one
    class, and no figure is faster than any memory or slower than the whole program."""
    job, trace = mpi.record(2, [mpi.build("onesided.c")], folder)
    job.expect(0)
    took = max(1e-6, job.seconds)
    for metric in ("throughput", "bandwidth"):
        cells = shown(folder, trace, "matrix", "--kind", "rma", "--metric", metric)["cells"]
        same([(c["src"], c["dst"]) for c in cells], [(0, 1), (1, 0)], "pairs")
        check(all(2 * 300 * 4000 / took < c["value"] < 1e12 for c in cells), metric, cells)
    for entry in shown(folder, trace, "report")["speeds"]["accesses"]["listed"]:
        same(entry["messages"] + entry["warm_up_messages"], 600, "accesses")
        same(entry["from"], 2048, "size class")
        check(entry["at_least_bytes_s"] is None or entry["throughput_bytes_s"] is not None, entry)


@mpi_test
def a_late_rank_by_construction(mpi, folder):
    """What the others wait is what the late rank computed."""
    program = example(mpi, "late")

    def run():
        shutil.rmtree(os.path.join(folder, "job.mpiw"), ignore_errors=True)
        job, trace = mpi.record(2, [program, 1, 20, 30], folder)
        job.expect(0)
        computed = float(job.stdout)
        ranks = {r["rank"]: r for r in shown(folder, trace, "waits")["waits"]["ranks"]["listed"]}
        found = [f["id"] for f in shown(folder, trace, "report")["findings"]]
        waited = ranks[0]["by_kind"]["wait_at_barrier"]["time_s"]
        check(abs(waited / computed - 1) < 0.03, "waited", waited, "computed", computed)
        check("late-rank" in found and "slow-pair" not in found, found)

    again(run, 5)


def raw_rate(nodes, number, to, folder, total=32 << 20):
    """Bytes per second of a plain socket from a node to another."""
    paths = [os.path.join(folder, name) for name in ("receiver.py", "sender.py")]
    for path, text in zip(paths, (RECEIVER % to, SENDER % (to, total))):
        with open(path, "w") as file:
            file.write(text)
    receiver = subprocess.Popen(nodes.on(to, [sys.executable, paths[0]]), stdout=subprocess.PIPE)
    try:
        receiver.stdout.readline()
        sender = command(nodes.on(number, [sys.executable, paths[1]]), folder).expect(0)
        return float(sender.stdout)
    finally:
        receiver.kill()
        receiver.wait()


@mpi_test(only="openmpi", variants=(3, 4))
def a_limited_link_is_the_slow_one(mpi, folder, count):
    """One node sends at 100 Mbit/s, the others at 800: the matrix shows what a socket gets over that link, the finding
    names the node, and no other."""
    program = example(mpi, "pairs")
    options = OVER_TCP[mpi.name][0]
    trace = os.path.join(folder, "job.mpiw")

    def run(nodes):
        shutil.rmtree(trace, ignore_errors=True)
        raw = raw_rate(nodes, 3, 1, folder)
        nodes.record(mpi, count, [program, "alone", BYTES, 6], trace, *options).expect(0)
        report = shown(folder, trace, "report")
        check(all(node["synchronised"] for node in report["clocks"]["nodes"]), report["clocks"])
        same(report["clocks"]["violations"], 0, "violations")
        found = [f["title"].split(" is far")[0] for f in report["findings"]
                 if f["id"] in ("slow-pair", "asymmetric-pair")]
        same(found, ["Everything that node3 sends"], "findings")
        seen = matrix(folder, trace, "bandwidth", BYTES)
        for dst in set(range(count)) - {2}:
            check(abs(seen[2, dst] / raw - 1) < 0.05, "2 ->", dst, seen[2, dst], "a socket", raw)

    with Nodes(count, folder) as nodes:
        for number in range(1, count + 1):
            nodes.rate(number, "100mbit" if number == 3 else "800mbit")
        again(lambda: run(nodes))


@test
def links_as_a_socket_sees_them(folder):
    """Links of 100, 400 and 800 Mbit/s: each direction is what a socket gets over it."""
    program = example(OPENMPI, "pairs")
    trace = os.path.join(folder, "job.mpiw")

    def run(nodes, rates):
        for number, rate in rates.items():
            nodes.rate(number, rate)
        shutil.rmtree(trace, ignore_errors=True)
        raw = {(0, 1): raw_rate(nodes, 1, 2, folder), (1, 0): raw_rate(nodes, 2, 1, folder)}
        nodes.record(OPENMPI, 2, [program, "alone", BYTES, 12], trace, *OVER_TCP["openmpi"][0]).expect(0)
        seen = matrix(folder, trace, "bandwidth", BYTES)
        same(sorted(seen), [(0, 1), (1, 0)], "pairs")
        for pair, value in seen.items():
            check(abs(value / raw[pair] - 1) < 0.05, pair, value, "a socket", raw[pair])

    with Nodes(2, folder) as nodes:
        again(lambda: run(nodes, {1: "100mbit", 2: "400mbit"}))
        again(lambda: run(nodes, {1: "800mbit", 2: "400mbit"}))


@mpi_test
def computing_between_post_and_wait(mpi, folder):
    """Messages that nobody waited for are no slow ones."""
    program = mpi.build("overlap.c")
    for bytes_ in (65536, 1 << 20):
        shutil.rmtree(os.path.join(folder, "job.mpiw"), ignore_errors=True)
        job, trace = mpi.record(4, [program, 100, bytes_, 300], folder, env={"OMPI_MCA_mpi_yield_when_idle": "1"})
        job.expect(0)
        report = shown(folder, trace, "report")
        check(report["clocks"]["matching"]["messages"] == 800, report["clocks"]["matching"])
        found = [f["title"] for f in report["findings"] if f["id"] in ("slow-pair", "asymmetric-pair", "size-cliff")]
        same(found, [], "findings at %d bytes" % bytes_)


def ahead_by(folder, trace):
    """By how many seconds the clock of rank 1's events is ahead of rank 0's, beside CLOCK_REALTIME."""
    lines = command([setting("MW_CLI"), "dump", "-f", "json", trace], folder).expect(0).stdout.splitlines()
    clocks = [line for line in map(json.loads, lines) if line["type"] == "clock"]
    since = {line["rank"]: line["time"] - line["real_ns"] for line in clocks}
    return (since[1] - since[0]) * 1e-9


@mpi_test
def a_clock_that_is_hours_ahead(mpi, folder):
    """One node's CLOCK_MONOTONIC, which times are taken from: amounts, speeds and waits are what the programs say, as
    without, and the true difference of the clocks, which is none where CLOCK_REALTIME is one, is within the error."""
    pairs, late = example(mpi, "pairs"), example(mpi, "late")
    options, env = OVER_TCP[mpi.name]
    env = dict(env, MPIWATCH_CLOCK="monotonic")

    def clocks(report):
        same([node["synchronised"] for node in report["clocks"]["nodes"]], [True, True], "synchronised")
        same(report["clocks"]["violations"], 0, "violations")
        for node in report["clocks"]["nodes"]:
            check(abs(node["correction_s"]) <= node["error_s"] + 20e-6, "error", node)

    def run(nodes, name, ahead):
        trace = os.path.join(folder, name + ".mpiw")
        shutil.rmtree(trace, ignore_errors=True)
        job = nodes.record(mpi, 2, [pairs, "alone", BYTES, 20], trace, *options, env=env).expect(0)
        clocks(shown(folder, trace, "report"))
        seen, told = matrix(folder, trace, "throughput", BYTES), printed(job)
        same(sorted(seen), [(0, 1), (1, 0)], "pairs")
        for pair, value in seen.items():
            check(abs(value / told[pair] - 1) < 0.05, pair, "throughput", value, "printed", told[pair])
        moved = matrix(folder, trace, "bytes")
        check(abs(ahead_by(folder, trace) - ahead) < 1, "ahead by", ahead_by(folder, trace), "not", ahead)
        shutil.rmtree(trace)
        job = nodes.record(mpi, 2, [late, 1, 20, 30], trace, *options, env=env).expect(0)
        clocks(shown(folder, trace, "report"))
        ranks = {r["rank"]: r for r in shown(folder, trace, "waits")["waits"]["ranks"]["listed"]}
        waited, computed = ranks[0]["by_kind"]["wait_at_barrier"]["time_s"], float(job.stdout)
        check(abs(waited / computed - 1) < 0.03, "waited", waited, "computed", computed)
        return moved

    with Nodes(2, folder) as nodes:
        usual = again(lambda: run(nodes, "usual", 0))
        nodes.ahead(2, HOURS)
        same(again(lambda: run(nodes, "ahead", HOURS)), usual, "bytes by pair")


@mpi_test(only="openmpi")
def a_limit_in_the_wrong_place(mpi, folder):
    """The eager limit at 512 bytes makes a step that is said, with the parameter; the default's is not."""
    program = example(mpi, "sizes")
    limits = {"OMPI_MCA_btl": "vader,self", "OMPI_MCA_btl_vader_eager_limit": "512"}

    def run(env):
        shutil.rmtree(os.path.join(folder, "job.mpiw"), ignore_errors=True)
        job, trace = mpi.record(2, [program, 1000, 16384], folder, env=env)
        job.expect(0)
        return [f for f in shown(folder, trace, "report")["findings"] if f["id"] == "size-cliff"]

    def runs():
        found = run(limits)
        same(len(found), 1, "findings")
        check("at messages of 512 B" in found[0]["title"], found)
        check(any("OMPI_MCA_btl_vader_eager_limit=512" in fact for fact in found[0]["evidence"]), found)
        same(run({"OMPI_MCA_btl": "vader,self"}), [], "findings without the setting")

    again(runs)


if __name__ == "__main__":
    main()
