# SPDX-License-Identifier: BSD-3-Clause
"""Matching, clocks and speeds of a large job: memory follows what is under way, not the events; all is matched."""

import json
import os
import resource
import subprocess

from show import ShowTest, main

MAKE = os.environ.get("MW_TEST_MAKE_TRACE", "make_trace")
SHOW = os.environ.get("MW_TEST_SHOW_SPEEDS", "show_speeds")


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


if __name__ == "__main__":
    main()
