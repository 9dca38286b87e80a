#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Instructions that recording adds to a call, counted by valgrind: the same on every machine and
# however busy it is (the clock is the system's there, as valgrind hides the processor's). With
# detail, encoding and writing included, and where calls are only summed up. Fails where they are more
# than the limits, which leave room for other compilers; skips without valgrind. --quick: one MPI.
"""Prints what a call costs in instructions."""

import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from harness import Failure  # noqa: E402
from mpi import ALL  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = 2000
# kind, calls in a round, most instructions that a call may cost with detail and with sums
ROWS = (
    ("iprobe", 1, 550, 740),
    ("self_message", 3, 1950, 1610),
    ("allreduce", 1, 1290, 1160),
)
MODES = (("none", None), ("full", {}), ("summary", {"MPIWATCH_MODE": "summary"}))


def instructions(mpi, folder, kind, env):
    log = os.path.join(folder, "valgrind.log")
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-file=" + log]
    tool += ["--toggle-collect=counted"]
    argv = tool + [mpi.build(os.path.join(HERE, "count.c"), "-lpthread", "-O1"), kind, ROUNDS]
    path = os.path.join(folder, "%s-%d.mpiw" % (kind, len(os.listdir(folder))))
    preload = None if env is None else mpi.library()
    env = dict(env or {}, MPIWATCH_OUT=path)
    mpi.run(1, argv, folder, preload=preload, env=env, timeout=300).expect(0)
    with open(log) as file:
        return int(re.search(r"Collected : (\d+)", file.read()).group(1))


def show(mpi, folder):
    """Prints the table of one MPI; returns what is over its limit."""
    over = []
    print("%s, instructions a call" % mpi.name)
    print("  %-14s %8s %12s %12s" % ("", "none", "added: full", "added: sums"))
    for kind, calls, *limits in ROWS:
        found = []
        for _, env in MODES:
            found.append(instructions(mpi, folder, kind, env) / (ROUNDS * calls))
        added = [count - found[0] for count in found[1:]]
        print("  %-14s %8.0f %12.0f %12.0f" % (kind, found[0], *added))
        for (mode, _), count, limit in zip(MODES[1:], added, limits):
            if count > limit:
                over.append("%s %s, %s: %.0f, more than %d" % (mpi.name, kind, mode, count, limit))
    return over


def main(arguments):
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        return 77
    over, measured = [], 0
    for mpi in ALL:
        reason = mpi.missing()
        if reason:
            print("%s: skipped, %s" % (mpi.name, reason))
            continue
        with tempfile.TemporaryDirectory(prefix="mwinstructions-") as folder:
            over += show(mpi, folder)
        measured += 1
        if "--quick" in arguments:
            break
    print("\n".join(over))
    return 1 if over else 0 if measured else 77


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as problem:
        print(problem)
        sys.exit(1)
