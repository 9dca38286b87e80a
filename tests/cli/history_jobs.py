# SPDX-License-Identifier: BSD-3-Clause
"""Runs of one benchmark for tests of histories: when, how fast, over which libraries, how they ended."""

import build_trace as b
import counted
import fabric_jobs as f

FINALIZE, ABORT = 1, 3
DAY = 86400 * b.SECOND


def run(path, day, ns=400, libraries=("/opt/lib/libfabric.so.1.20.1",), key=None, reason=FINALIZE,
        arguments="--steps=10", only_rank=None, facts=(), program="/opt/app/bin/solver"):
    """30 messages of 1000 bytes from rank 0 to 1, each `ns` under way; the receives were there first."""
    zero, one = ranks = counted.ranks(2)
    for n in range(30):
        at = 100000 + 10000 * n
        one.take(0, 1000, at, at + 200 + ns)
        zero.to(1, 1000, at + 200, at + 200 + ns // 2)
    for rank in ranks:
        rank.program = program
        rank.arguments = ["./solver", *arguments.split()]
        f.modules(rank, *libraries)
        if facts:
            f.facts(rank, *facts)
        if reason:
            rank.finalize(9 * b.SECOND, reason=reason)
    kept = ranks if only_rank is None else [ranks[only_rank]]
    return b.write(path, b.job(key=key or "job-%s" % path), *[at_day(rank, day) for rank in kept])


def at_day(rank, day):
    """The process's bytes, with its clock that many days later."""
    epoch = b.EPOCH
    b.EPOCH = epoch + day * DAY
    try:
        return rank.chunks()
    finally:
        b.EPOCH = epoch
