# SPDX-License-Identifier: BSD-3-Clause
#
# The comparison of a foreign suite (suite.py), tried on a small one that is made here: programs that pass,
# fail, hang, differ under the library, differ by chance, are not built, spoil their trace.
"""The comparison of a suite with and without the library."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from harness import SOURCE, check, command, main, mpi_test, same  # noqa: E402

PLACE = os.path.join(SOURCE, "tests", "suite")
TOTAL = re.compile(
    r"^(\d+) programs in (\d+) runs: (\d+) pass, (\d+) fail and (\d+) hang without and with the library,"
    r" (\d+) by chance; (\d+) differ; (\d+) lines",
    re.M,
)


def make_suite(mpi, folder, lists):
    """Lays out a suite: lists[folder] are the lines of its testlist, of programs `act` and `other`."""
    program = mpi.build(os.path.join(PLACE, "programs", "act.c"))
    suite = os.path.join(folder, "suite")
    for name, lines in lists.items():
        place = os.path.join(suite, name)
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, "testlist"), "w") as file:
            file.write("\n".join(lines) + "\n")
        for link in ("act", "other"):
            os.symlink(program, os.path.join(place, link))
    return suite


def compare(mpi, folder, suite, *options):
    argv = ["/usr/bin/python3", os.path.join(PLACE, "suite.py"), suite, "--mpi", mpi.name]
    return command(argv + list(options), folder, timeout=150)


def totals(job):
    """(programs, runs, pass, fail, hang, by chance, differ, not built)."""
    found = TOTAL.search(job.stdout)
    check(found, "no last line:", job.describe())
    return tuple(int(number) for number in found.groups())


@mpi_test
def what_is_alike(mpi, folder):
    """Nothing to object to: exit code 0, and what fails or hangs fails or hangs on both sides."""
    lists = {
        "": ["# a comment", "pt2pt", "", "absent 2"],
        "pt2pt": ["act 2 arg=pass", "act 3 arg=fail", "below", "act 2 arg=pass"],
        "pt2pt/below": [
            "other",
            "act 2 arg=count",
            "act 2 arg=abort resultTest=TestStatus",
            "act 2 arg=hang timeLimit=4",
            "act 2 mem=99 arg=fail",
            "act 3 xfail=ticket1 arg=abort",
        ],
    }
    job = compare(mpi, folder, make_suite(mpi, folder, lists)).expect(0)
    same(totals(job), (3, 6, 3, 2, 1, 0, 0, 1), "totals")
    check("traces: 6 read, 0 bad, 0 runs left none" in job.stdout, job.describe())
    job = compare(mpi, folder, os.path.join(folder, "suite"), "--xfail", "--leave-out", "*hang")
    same(totals(job.expect(0)), (3, 6, 3, 3, 0, 0, 0, 1), "totals with what is to fail")


@mpi_test
def what_differs(mpi, folder):
    """Named, repeated, exit code 1."""
    lists = {
        "": ["coll"],
        "coll": [
            "act 2 arg=pass",
            "act 2 arg=differ",
            "act 2 arg=abort-differ resultTest=TestErrFatal",
        ],
    }
    job = compare(mpi, folder, make_suite(mpi, folder, lists), "--repeat", "1").expect(1)
    same(totals(job), (1, 3, 1, 0, 0, 0, 2, 0), "totals")
    named = re.findall(r"^DIFFERS: (.*)$", job.stdout, re.M)
    same(named, ["coll/act 2 differ", "coll/act 2 abort-differ"], "named")
    check("    with    2 x fail: Found 1 errors\n" in job.stdout, job.describe())
    check("    without 2 x pass\n" in job.stdout, job.describe())
    check(re.search(r"^    with    \d x pass, exit 4", job.stdout, re.M), job.describe())


@mpi_test
def hangs_that_differ(mpi, folder):
    """What hangs on both sides, but with the library before it was through."""
    lists = {
        "": ["act 2 arg=hang-through timeLimit=4", "act 2 arg=hang-differ timeLimit=4"],
    }
    job = compare(mpi, folder, make_suite(mpi, folder, lists), "--repeat", "1").expect(1)
    same(totals(job), (1, 2, 0, 0, 1, 0, 1, 0), "totals")
    check("DIFFERS: act 2 hang-differ\n" in job.stdout, job.describe())
    check("    without 2 x hang, said no errors\n    with    2 x hang\n" in job.stdout, job.describe())


@mpi_test
def what_differs_by_chance(mpi, folder):
    """Passes on one side and fails on the other the first time, and both ways on both later."""
    lists = {"": ["turn"], "turn": ["act 2 arg=turn arg=times"]}
    suite = make_suite(mpi, folder, lists)
    results = os.path.join(folder, "results.tsv")
    with open(results, "w") as file:  # as if it had failed without the library before
        file.write("turn/act 2 turn times\twithout\tfail\t0.1\tFound 1 errors\t-\t\n")
    job = compare(mpi, folder, suite, "--results", results, "--repeat", "4").expect(0)
    same(totals(job), (1, 1, 0, 0, 0, 1, 0, 0), "totals")
    check("BY CHANCE: turn/act 2 turn times" in job.stdout, job.describe())


@mpi_test
def a_trace_that_cannot_be_read(mpi, folder):
    lists = {"": ["act 2 arg=spoil", "act 2 arg=pass"]}
    job = compare(mpi, folder, make_suite(mpi, folder, lists)).expect(1)
    same(totals(job), (1, 2, 2, 0, 0, 0, 0, 0), "totals")
    check(re.search(r"^TRACE: act 2 spoil: ", job.stdout, re.M), job.describe())
    check("traces: 1 read, 1 bad" in job.stdout, job.describe())


@mpi_test
def choosing_and_going_on(mpi, folder):
    """--only, --leave-out; what is in the results file is not run again."""
    lists = {
        "": ["one", "two"],
        "one": ["act 2 arg=differ", "act 2 arg=pass"],
        "two": ["act 2 arg=differ"],
    }
    suite = make_suite(mpi, folder, lists)
    results = os.path.join(folder, "results.tsv")
    options = ("--only", "one", "--leave-out", "*differ", "--results", results)
    for _ in range(2):
        job = compare(mpi, folder, suite, *options).expect(0)
        same(totals(job), (1, 1, 1, 0, 0, 0, 0, 0), "totals")
    with open(results) as file:
        sides = [line.split("\t")[:3] for line in file]
    same(
        sides,
        [["one/act 2 pass", "without", "pass"], ["one/act 2 pass", "with", "pass"]],
        "results kept",
    )


@mpi_test
def nothing_to_run(mpi, folder):
    job = compare(mpi, folder, make_suite(mpi, folder, {"": ["absent 2"]})).expect(2)
    check("no program in" in job.stderr, job.describe())


main()
