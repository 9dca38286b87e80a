# SPDX-License-Identifier: BSD-3-Clause
"""Runs show_transports on synthetic traces, for the tests of the analysis of transports."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cli"))
import build_trace as b
import mwwrite as w

SHOW = os.environ.get("MW_TEST_SHOW", "show_transports")


class ShowTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="mpiwatch-show-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def show(self, *processes, options=(), timeout=60):
        """What the analysis says of a job of these processes."""
        path = b.write(os.path.join(self.folder, "job.mpiw"), b.job(), *processes)
        done = subprocess.run([SHOW, *options, path], stdout=subprocess.PIPE, timeout=timeout,
                              check=False)
        self.assertEqual(done.returncode, 0)
        shown = json.loads(done.stdout)
        if not options:
            self.pairs = {(pair["src"], pair["dst"]): pair for pair in shown["pairs"]}
            self.assertEqual([pair for pair in shown["pairs"] if "lookup" in pair], [])
            self.assertEqual(list(self.pairs), sorted(self.pairs))
            self.failures, self.idle = shown["failures"], shown["idle"]
            for pair in shown["pairs"]:
                counted = sum(route["messages"] for route in pair["routes"])
                self.assertLessEqual(counted, pair["messages"])
                if counted < pair["messages"]:
                    self.assertTrue(pair["unknown"])
        return shown

    def route(self, pair, number=0):
        return self.pairs[pair]["routes"][number]

    def assert_route(self, pair, number=0, **expected):
        route = self.route(pair, number)
        self.assertEqual({name: route[name] for name in expected}, expected)


def main():
    if not os.path.exists(SHOW):
        print("the program was not built:", SHOW)
        sys.exit(1)
    unittest.main(verbosity=1)
