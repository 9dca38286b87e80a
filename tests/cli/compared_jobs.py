# SPDX-License-Identifier: BSD-3-Clause
"""Made runs of one program on one node, whose transport, speed and stack are chosen: for the tests of comparisons."""

import random

import build_trace as b
import fabric_jobs as f
from fabric_jobs import MEBI

MILLI = 1000000
SMALL = 8


def traffic(zero, one, took, noise, seed, counts):
    """So many messages both ways, by size, whose receives were there first, and that took `took` ns, give or take `noise`."""
    chance = random.Random(seed)
    at = 10000
    numbers = {}
    for size, count in counts.items():
        for src, dst in ((zero, one), (one, zero)):
            for _ in range(count):
                time = max(100, int(took[size] * chance.gauss(1, noise)))
                number = numbers.get(src.rank, 0)
                numbers[src.rank] = number + 1
                src.send(dst.rank, size, at, at + time, comm=0, flags=b.w.COUNTED, ordinal=number)
                dst.recv(src.rank, size, at, at + time, comm=0, flags=b.w.COUNTED | b.w.STATUS, ordinal=number)
                at += time + 1000
    return at


def transport_evidence(ranks, transport, device, amount):
    if transport == "tcp":
        f.sockets(ranks, f.all_pairs(ranks, amount), interface=device or "eth0", address="10.0.0.{}")
    elif transport == "cxi":
        f.fabric(ranks, f.all_pairs(ranks, amount), domain=device or "cxi0")
    elif transport == "vader":
        f.sockets(ranks, {})


def stack(ranks, libraries, facts):
    for process in ranks:
        process.add("MODULES", *[b.module(i + 1, path, bytes([build] * 20))
                                 for i, (path, build) in enumerate(libraries)])
        f.facts(process, *facts)


def run(transport="vader", slower=1.0, noise=0.01, seed=1, count=200, device="", size=2, reason=1, recorded=None,
        libraries=(("/usr/lib/libmpi.so.40.30.4", 1),), facts=(), arguments=None, program=None, sizes=(SMALL, MEBI),
        between=(), end=9 * b.SECOND):
    """The processes of a run: messages of 8 bytes take 10 us, of a MiB a millisecond, times `slower`. `count` of each
    size, or by size."""
    own = {"cxi": {"pml": "cm", "mtl": "ofi", "btls": ()}, "tcp": {"btls": ("self", "tcp")}, "vader": {}, "unknown": {"btls": ()}}[transport]
    ranks = [f.openmpi(rank, size, **own) for rank in range(size)]
    for process in ranks:
        process.program = program or process.program
        process.arguments = arguments or process.arguments
    took = {SMALL: 10000 * slower, MEBI: MILLI * slower}
    counts = count if isinstance(count, dict) else dict.fromkeys(sizes, count)
    traffic(ranks[0], ranks[1], took, noise, seed, counts)
    transport_evidence(ranks[:2], transport, device, sum(size * times for size, times in counts.items()))
    stack(ranks, libraries, facts)
    for change in between:
        change(ranks)
    f.finish(ranks, at=end, reason=reason)
    return [process for process in ranks if recorded is None or process.rank in recorded]


def two_worlds(transport):
    """Two worlds of two ranks that know nothing of each other."""
    own = {"cxi": {"pml": "cm", "mtl": "ofi", "btls": ()}, "tcp": {"btls": ("self", "tcp")}}[transport]
    processes = []
    for number in (1, 2):
        ranks = [f.openmpi(rank, 2, key=number * 256 + rank, launched=number, began=number * 1000, **own) for rank in range(2)]
        traffic(ranks[0], ranks[1], {SMALL: 10000, MEBI: MILLI}, 0.01, number, {SMALL: 50, MEBI: 50})
        pairs = f.all_pairs(ranks, 50 * (SMALL + MEBI))
        if transport == "cxi":
            f.fabric(ranks, pairs, ident=number)
        else:
            f.sockets(ranks, pairs, address="10.0.%d.{}" % number)
        processes += f.finish(ranks)
    return processes
