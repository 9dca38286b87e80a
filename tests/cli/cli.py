# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the command share: running it, temporary folders, checks of its output."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

MPIWATCH = os.environ.get("MW_TEST_CLI", "mpiwatch")
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SKIP = 77


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def json(self):
        return json.loads(self.out)


class CliTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="mpiwatch-cli-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_cli(self, *arguments, code=0, env=None, cwd=None, timeout=60):
        """Runs the command and checks its exit code (None: any)."""
        whole = dict(os.environ, LC_ALL="C.UTF-8", **(env or {}))
        done = subprocess.run([MPIWATCH, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=whole, cwd=cwd or self.folder,
                              timeout=timeout, check=False, stdin=subprocess.DEVNULL)
        result = Result(done.returncode, done.stdout.decode("utf-8", "surrogateescape"),
                        done.stderr.decode("utf-8", "surrogateescape"))
        if code is not None:
            self.assertEqual(result.code, code, result.err)
        return result

    def report(self, path, *options):
        return self.run_cli("report", "--format", "json", *options, path).json()

    def assert_fits(self, text, width=80):
        """No line is wider than a terminal, and no control character is in it."""
        for line in text.splitlines():
            self.assertLessEqual(len(line), width, line)
            for character in line:
                self.assertGreaterEqual(ord(character), 32, repr(line))
                self.assertFalse(0x7f <= ord(character) < 0xa0, repr(line))

    def matrix(self, path, *options):
        """The CSV form as {(src, dst): value}."""
        lines = self.run_cli("matrix", "--format", "csv", *options, path).out.splitlines()
        self.assertEqual(lines[0], "src,dst,value")
        found = {}
        for line in lines[1:]:
            src, dst, value = line.split(",")
            self.assertNotIn((src, dst), found)
            found[src, dst] = float(value) if "." in value else int(value)
        return found


def main():
    if not os.path.exists(MPIWATCH) and not shutil.which(MPIWATCH):
        print("the command was not built:", MPIWATCH)
        sys.exit(1)
    unittest.main(verbosity=1)
