#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Counts what "meson test" ran: each case of a test that prints TAP, each other test once. Names
# what failed, what passed only when it was begun again, and what was skipped; ends with the line
# "N passed, N failed, N skipped"; exit code 1 when something failed, too much had to be begun again,
# or nothing ran.
"""Sums up a run of meson test."""

import json
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

GOOD = ("OK", "EXPECTEDFAIL", "SKIP")
SAID_LINES, SAID_WIDTH = 24, 400  # of what a failed case said
MOST_AGAIN = 2  # cases that may pass at the second try only: more is no accident


def cases(folder):
    """Yields (test, case, outcome, reason) from the JUnit log."""
    for suite in (
        ElementTree.parse(os.path.join(folder, "testlog.junit.xml")).getroot().iter("testsuite")
    ):
        for case in suite.iter("testcase"):
            outcome, reason = "passed", ""
            for child in case:
                if child.tag in ("failure", "error"):
                    outcome = "failed"
                elif child.tag == "skipped" and outcome == "passed":
                    outcome, reason = "skipped", child.get("message") or (child.text or "")
            yield suite.get("name"), case.get("name"), outcome, reason


def comments(folder):
    """({case: why it was skipped}, {case: what its failure said}, [(case, why it was begun again)]): TAP tells,
    the JUnit log does not."""
    skipped, failed, again, said, case = {}, {}, [], None, ""
    with open(os.path.join(folder, "testlog.txt"), errors="replace") as log:
        for line in log:
            match = re.match(r"(not )?ok (\d+ - .*?)(?: # SKIP (.*))?$", line)
            if match:
                case = match.group(2)
                said = failed.setdefault(case, []) if match.group(1) else None
                if match.group(3):
                    skipped[case] = match.group(3)
            elif said is not None and line.startswith("# ") and len(said) < SAID_LINES:
                said.append("  " + line[2:].rstrip()[:SAID_WIDTH])
            elif line.startswith("# note: again: "):
                again.append((case, line[len("# note: again: ") :].rstrip()[:SAID_WIDTH]))
    return skipped, failed, again


def main(folder):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    lines, broken, skipped, again = [], [], {}, []
    try:
        failed_in = set()
        why, said, again = comments(folder)
        for suite, case, outcome, reason in cases(folder):
            counts[outcome] += 1
            if outcome == "failed":
                failed_in.add(suite)
                failed_in.add(case)
            reason = (reason or why.get(case, "")).strip()
            if outcome == "skipped":
                skipped.setdefault((suite, reason), []).append(case)
            elif outcome == "failed":
                lines.append("FAILED: %s: %s" % (suite, case))
                lines.extend(said.get(case, ()))
        with open(os.path.join(folder, "testlog.json")) as log:
            for line in log:
                entry = json.loads(line)
                if entry["result"] in GOOD:
                    continue
                # A program that died or ran out of time may have reported no failed case of its
                # own.
                name = entry["name"]
                if not any(known == name or known.endswith("." + name) for known in failed_in):
                    broken.append("FAILED: %s: %s" % (name, entry["result"]))
    except (OSError, ElementTree.ParseError, ValueError) as error:
        broken.append("FAILED: no results to count: %s" % error)
    if len(again) > MOST_AGAIN:
        broken.append("FAILED: %d cases passed only when they were begun again" % len(again))
    counts["failed"] += len(broken)
    for (suite, reason), some in skipped.items():
        print("SKIPPED: %s: %d%s" % (suite, len(some), reason and ", " + reason))
    for case, reason in again:
        print("AGAIN: %s: %s" % (case, reason))
    for line in lines + broken:
        print(line)
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
