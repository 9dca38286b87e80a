#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs each program of a foreign test suite without the library and with it, repeats what differs, and
# prints what passes, fails and hangs alike and each difference by name. Exit code 0: the same programs
# pass; 1: they do not, or a trace cannot be read; 2: nothing to run. See README.md in this folder.
"""Compares a test suite with and without the library."""

import argparse
import collections
import fnmatch
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from harness import SOURCE  # noqa: E402
from mpi import ALL  # noqa: E402
from runs import WITH, WITHOUT, Run, Runner  # noqa: E402
from testlists import entries  # noqa: E402

# What is said of an entry, worst first; the first two make the exit code 1.
DIFFERS, AT_TIMES, CHANCE, PASSES, FAILS, HANGS = (
    "differs",  # never the same with the library as without
    "differs at times",  # with it in a way that was not seen without
    "by chance",  # without the library, too, now so and now so
    "pass",
    "fail",
    "hang",
)
KINDS = (PASSES, FAILS, HANGS, CHANCE, AT_TIMES, DIFFERS)


class Results:
    """Runs by entry and side; kept in a file, if there is one, from which a comparison that was broken
    off goes on."""

    def __init__(self, path):
        self.runs, self.file = collections.defaultdict(list), None
        if path:
            if os.path.exists(path):
                with open(path) as file:
                    for line in file:
                        key, side, *rest = line.rstrip("\n").split("\t")
                        self.runs[key, side].append(Run(*rest))
            self.file = open(path, "a", buffering=1)

    def add(self, key, side, run):
        self.runs[key, side].append(run)
        if self.file:
            self.file.write("\t".join((key, side) + run) + "\n")

    def of(self, key, side):
        return self.runs[key, side]

    def states(self, key, side):
        return {run.state for run in self.runs[key, side]}


def verdict(without, with_library):
    """What the states seen on both sides (sets) say of an entry."""
    if len(without) == 1 and with_library == without:
        (state,) = without
        return state.split(",")[0]
    if with_library <= without:
        return CHANCE
    return AT_TIMES if with_library & without else DIFFERS


def compare(runner, entry, results, repeats):
    """Runs an entry on both sides, again where they differ; returns the verdict."""
    for side in (WITHOUT, WITH):
        if not results.of(entry.key, side):
            results.add(entry.key, side, runner.run(entry, side))
    for number in range(repeats):
        if results.states(entry.key, WITHOUT) == results.states(entry.key, WITH):
            break
        # Not always the same one first: a run may leave a file that the next one meets.
        for side in (WITH, WITHOUT) if number % 2 == 0 else (WITHOUT, WITH):
            results.add(entry.key, side, runner.run(entry, side))
    return verdict(results.states(entry.key, WITHOUT), results.states(entry.key, WITH))


def show_entry(key, kind, results):
    print("%s: %s" % (kind.upper(), key))
    for side in (WITHOUT, WITH):
        seen = collections.Counter(
            (run.state, run.note and ": " + run.note) for run in results.of(key, side)
        )
        for (state, note), times in seen.items():
            print("    %-7s %d x %s%s" % (side, times, state, note))


def show_table(table):
    width = max([len(folder) for folder in table] + [9])
    print("%-*s %6s" % (width, "folder", "runs") + "".join("%18s" % kind for kind in KINDS))
    rows = sorted(table.items())
    rows.append(("all", sum(table.values(), collections.Counter())))
    for folder, counts in rows:
        print(
            "%-*s %6d" % (width, folder, sum(counts.values()))
            + "".join("%18s" % (counts[kind] or ".") for kind in KINDS)
        )


def show_traces(chosen, results):
    """Says what the traces were like; returns how many could not be read."""
    runs = [(entry.key, run) for entry in chosen for run in results.of(entry.key, WITH)]
    bad = [(key, run) for key, run in runs if run.trace not in ("read", "none", "-")]
    for key, run in bad:
        print("TRACE: %s: %s" % (key, run.trace))
    count = collections.Counter(run.trace for key, run in runs)
    print("traces: %d read, %d bad, %d runs left none" % (count["read"], len(bad), count["none"]))
    notes = collections.Counter(code for key, run in runs for code in run.health.split(",") if code)
    if notes:
        print("notes in them: " + ", ".join("%s %d" % pair for pair in notes.most_common()))
    return len(bad)


def report(chosen, verdicts, absent, results):
    """Prints everything; returns whether the same programs pass and each trace can be read."""
    for kind in (CHANCE, AT_TIMES, DIFFERS):
        for entry in chosen:
            if verdicts[entry.key] == kind:
                show_entry(entry.key, kind, results)
    table = collections.defaultdict(collections.Counter)
    for entry in chosen:
        table[entry.top][verdicts[entry.key]] += 1
    show_table(table)
    bad = show_traces(chosen, results)
    programs = {entry.key.split()[0] for entry in chosen}
    total = collections.Counter(verdicts.values())
    print(
        "%d programs in %d runs: %d pass, %d fail and %d hang without and with the library, %d by chance;"
        " %d differ; %d lines of the lists are of programs that are not built"
        % (
            len(programs),
            len(chosen),
            total[PASSES],
            total[FAILS],
            total[HANGS],
            total[CHANCE],
            total[DIFFERS] + total[AT_TIMES],
            absent,
        )
    )
    return not (total[DIFFERS] or total[AT_TIMES] or bad)


def choose(options):
    """(entries to run, number of those whose program is not built)."""
    chosen, absent = [], 0
    for folder in options.only or [""]:
        for entry in entries(options.suite, folder):
            if any(fnmatch.fnmatch(entry.key, pattern) for pattern in options.leave_out):
                continue
            if entry.memory > options.memory or (entry.to_fail and not options.xfail):
                continue
            if os.access(entry.path(options.suite), os.X_OK):
                chosen.append(entry)
            else:
                absent += 1
    return chosen, absent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("suite", help="folder in which the suite is built")
    add("--mpi", required=True, choices=[mpi.name for mpi in ALL])
    add("--launcher", help="another launcher than mpirun.MPI")
    add("--only", action="append", default=[], metavar="FOLDER", help="these of its folders alone")
    add("--leave-out", action="append", default=[], metavar="PATTERN", help="runs, as printed")
    add("--ranks", type=int, default=4, help="at most so many (default: 4)")
    add("--timeout", type=int, default=30, help="seconds for a run (default: 30)")
    add("--memory", type=float, default=8, help="leave out what says it needs more (GB)")
    add("--xfail", action="store_true", help="what its lists expect to fail, too")
    add("--repeat", type=int, default=3, help="how often what differs is repeated (default: 3)")
    add("--preload", action="append", default=[], metavar="LIBRARY", help="in both runs, first")
    add("--everywhere", action="store_true", help="preload into the launcher and what is spawned")
    add("--results", metavar="FILE", help="keep all runs there, and go on from what it has")
    return parser.parse_args()


def main():
    options = arguments()
    build = os.path.join(SOURCE, "build")
    os.environ.setdefault("MW_LIBRARY", os.path.join(build, "interpose", "libmpiwatch.so"))
    os.environ.setdefault(
        "MW_LIBRARY_MPI3", os.path.join(build, "interpose", "libmpiwatch-mpi3.so")
    )
    os.environ.setdefault("MW_CLI", os.path.join(build, "analyzer", "mpiwatch"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    (mpi,) = [mpi for mpi in ALL if mpi.name == options.mpi]
    chosen, absent = choose(options)
    if not chosen:
        print("no program in %s" % options.suite, file=sys.stderr)
        return 2
    runner, results, verdicts = Runner(mpi, options.suite, options), Results(options.results), {}
    for number, entry in enumerate(chosen, 1):
        verdicts[entry.key] = compare(runner, entry, results, options.repeat)
        if verdicts[entry.key] not in (PASSES, FAILS):
            print(
                "%d of %d: %s: %s" % (number, len(chosen), entry.key, verdicts[entry.key]),
                file=sys.stderr,
                flush=True,
            )
    return 0 if report(chosen, verdicts, absent, results) else 1


if __name__ == "__main__":
    sys.exit(main())
