# SPDX-License-Identifier: BSD-3-Clause
"""Matching, clocks and speeds of a large job: memory follows what is under way, not the events; all is matched.

MPIWATCH_LONG=1: the bounded report is of 10^8 events, which takes five minutes."""

import json
import os
import resource
import subprocess

from show import ShowTest, main

MAKE = os.environ.get("MW_TEST_MAKE_TRACE", "make_trace")
SHOW = os.environ.get("MW_TEST_SHOW_SPEEDS", "show_speeds")
CLI = os.environ.get("MW_TEST_CLI", "mpiwatch")
BOUND = 1 << 30
EVENTS_A_STEP = 10  # of a rank, as make_trace makes them
LONG = bool(os.environ.get("MPIWATCH_LONG"))


def bounded():
    resource.setrlimit(resource.RLIMIT_AS, (BOUND, BOUND))


class Scale(ShowTest):
    def run_on(self, ranks, steps, per_node):
        """What is shown, and the megabytes that the largest program so far has needed."""
        path = os.path.join(self.folder, "job.mpiw")
        subprocess.run([MAKE, path, str(ranks), str(steps), str(per_node)], check=True, timeout=100)
        done = subprocess.run([SHOW, path], stdout=subprocess.PIPE, check=True, timeout=200)
        return json.loads(done.stdout), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024

    def check(self, ranks, steps, per_node):
        shown, used = self.run_on(ranks, steps, per_node)
        self.assertEqual((shown["matched"], shown["violations"], shown["unsynchronised"], shown["unusable"]),
                         (2 * ranks * steps, 0, 0, 0))
        self.assertEqual(len(shown["speeds"]), 2 * ranks)
        self.assertEqual(shown["waits"]["instances"], steps)
        return used

    def test_memory(self):
        """In this order: what is measured is the most that any of the programs needed."""
        few = self.check(256, 100, 16)
        many = self.check(256, 800, 16)
        ranks = self.check(4096, 10, 64)
        print("%.0f MB for 256,000 events, %.0f MB for two million; %.0f MB for 4,096 ranks" % (few, many, ranks))
        self.assertLess(many, 100)
        self.assertLess(many - few, 30)
        self.assertLess(ranks, 400)

    def test_report_in_a_gibibyte(self):
        """A report of 1,024 ranks where no process gets more memory."""
        if subprocess.run([CLI, "--version"], preexec_fn=bounded, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("the command does not start within a bound (sanitizers map more)")
        path = os.path.join(self.folder, "job.mpiw")
        steps = (10 ** 8 if LONG else 10 ** 6) // 1024 // EVENTS_A_STEP + 1
        subprocess.run([MAKE, path, "1024", str(steps), "64"], check=True, timeout=1200)
        done = subprocess.run([CLI, "report", "--format", "json", path], preexec_fn=bounded,
                              stdout=subprocess.PIPE, check=True, timeout=1200)
        report = json.loads(done.stdout)
        self.assertEqual((report["messages"]["messages"], report["clocks"]["violations"]), (2 * 1024 * steps, 0))
        self.assertEqual(sum(of["messages"] for of in report["speeds"]["classes"]), 2048 * (steps - 4))  # warm-up


if __name__ == "__main__":
    main()
