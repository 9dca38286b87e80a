#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Golden traces: what the C reader makes of files that were once written, and of files that it must
refuse.

    test_golden.py DUMP_EVENTS
"""

import os
import subprocess
import sys
import unittest

V1 = os.path.join(os.path.dirname(os.path.abspath(__file__)), "v1")
DUMP = os.path.abspath(sys.argv.pop(1))


def run(*arguments):
    return subprocess.run([DUMP, *arguments], cwd=V1, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60, check=False)


def read(name):
    path = os.path.join(V1, name)
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as handle:
        return handle.read()


def traces(folder=""):
    return sorted(os.path.join(folder, name[:-len(".expected")])
                  for name in os.listdir(os.path.join(V1, folder)) if name.endswith(".expected"))


class Golden(unittest.TestCase):
    maxDiff = 4000

    def test_traces_read_as_ever(self):
        self.assertGreaterEqual(len(traces()), 11)
        for trace in traces():
            with self.subTest(trace=trace):
                result = run(trace)
                self.assertEqual(result.stderr, b"")
                self.assertEqual(result.returncode, 0)
                self.assertEqual(result.stdout.decode(), read(trace + ".expected").decode())

    def test_what_is_wrong_is_said(self):
        for trace in traces():
            with self.subTest(trace=trace):
                result = run("--messages", trace)
                self.assertEqual(result.returncode, 0)
                self.assertEqual(result.stdout.decode(), read(trace + ".messages").decode())

    def test_what_is_no_trace_is_refused(self):
        self.assertGreaterEqual(len(traces("refused")), 10)
        for trace in traces("refused"):
            with self.subTest(trace=trace):
                result = run(trace)
                self.assertEqual(result.returncode, 1)
                self.assertEqual(result.stdout, b"")
                self.assertEqual(result.stderr.decode(),
                                 f"{trace}: {read(trace + '.expected').decode()}")

    def test_refused_beside_good_ones_is_damage(self):
        for bad in traces("refused"):
            with self.subTest(trace=bad):
                good, both = run("hang.mpiw"), run("hang.mpiw", bad)
                self.assertEqual(both.returncode, 0)
                lines = both.stdout.decode().splitlines()
                damage = [line for line in lines if '"record":"damage"' in line]
                self.assertTrue(damage, "not named")
                for line in damage:
                    self.assertIn(f'"file":"{bad}"', line)
                rest = [line for line in lines if line not in damage and bad not in line]
                self.assertEqual(rest, good.stdout.decode().splitlines())


if __name__ == "__main__":
    unittest.main()
