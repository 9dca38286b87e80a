# SPDX-License-Identifier: BSD-3-Clause
"""What a run comes down to: work, stack, ways, figures (regression/digest.h)."""

import json
import os
import subprocess
import unittest

from show import ShowTest, b
import counted
import fabric_jobs as f
import placed_jobs
from fabric_jobs import MEBI

SHOW = os.environ.get("MW_TEST_SHOW_DIGEST", "show_digest")
FINALIZE, EXIT, ABORT = 1, 2, 3


def cxi_job(count=2, reason=FINALIZE, device="cxi0"):
    ranks = [f.openmpi(rank, count, host="node%d" % rank, pml="cm", mtl="ofi", btls=())
             for rank in range(count)]
    f.exchange(ranks)
    f.fabric(ranks, f.all_pairs(ranks, 100 * MEBI), domain=device)
    for rank in ranks:
        rank.coll("MPI_Barrier", 5 * b.SECOND, 5 * b.SECOND + 1000, 0)
    return f.finish(ranks, reason=reason)


class Digest(ShowTest):
    def digest(self, *processes, code=0):
        path = b.write(os.path.join(self.folder, "job.mpiw"), b.job(), *processes)
        done = subprocess.run([SHOW, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, code)
        if code:
            return done.stderr.decode()
        self.assertEqual(done.stderr, b"")
        digest = json.loads(done.stdout)
        for figure in digest["figures"]:
            self.assertTrue(figure["found"], figure)
        return digest

    def figures(self, digest, **like):
        return [figure for figure in digest["figures"]
                if all(figure[name] == value for name, value in like.items())]

    def facts(self, digest, kind):
        return [fact[1:] for fact in digest["stack"] if fact[0] == kind]

    def test_work(self):
        digest = self.digest(*cxi_job())
        self.assertEqual(digest["program"], "solver")
        self.assertEqual(digest["arguments"], "--steps=10")
        self.assertEqual((digest["ranks"], digest["recorded_ranks"], digest["nodes"]), (2, 2, 2))
        self.assertEqual((digest["messages"], digest["bytes"]), (200, 200 * MEBI))
        self.assertEqual(digest["collective_calls"], 2)
        self.assertEqual(digest["calls"], 402)
        self.assertEqual(digest["identity"], "job-key")
        self.assertEqual(digest["began"], b.EPOCH // b.SECOND)
        self.assertEqual((digest["crashed"], digest["incomplete"]), (None, None))

    def test_a_job_that_was_aborted_or_not_all_recorded(self):
        self.assertIn("called MPI_Abort", self.digest(*cxi_job(reason=ABORT))["crashed"])
        self.assertIn("rank 1 was not", self.digest(cxi_job()[0])["incomplete"])

    def test_no_trace(self):
        done = subprocess.run([SHOW, os.path.join(self.folder, "none.mpiw")], timeout=60,
                              stderr=subprocess.PIPE, stdout=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"none.mpiw: No such file", done.stderr)

    def test_ways_and_pairs(self):
        digest = self.digest(*cxi_job())
        size_class = MEBI.bit_length()
        self.assertEqual([way[2:] for way in digest["ways"]],
                         [["cxi", "libfabric", "cxi0", size_class, size_class, 2, 200, 200 * MEBI]])
        self.assertEqual([pair[:2] + pair[3:] for pair in digest["pairs"]],
                         [[0, 1, "cxi (cxi0)", 100, 100 * MEBI], [1, 0, "cxi (cxi0)", 100, 100 * MEBI]])

    def timed_job(self):
        """30 messages of 400 ns, one a microsecond, whose receives were there first."""
        zero, one = counted.ranks(2)
        for n in range(30):
            at = 10000 + 1000 * n
            one.take(0, 1000, at, at + 600)
            zero.to(1, 1000, at + 200, at + 500)
        return zero, one

    def test_speeds(self):
        digest = self.digest(*self.timed_job())
        (bandwidth,) = self.figures(digest, scope="class", metric="bandwidth")
        self.assertEqual((bandwidth["distance"], bandwidth["transport"], bandwidth["class"], bandwidth["samples"]),
                         ("same node", "unknown", 10, 26))
        self.assertLess(abs(bandwidth["value"] / 2.5e9 - 1), 1 / 16)
        for block in bandwidth["blocks"]:
            self.assertLess(abs(block / 2.5e9 - 1), 1e-6)
        (latency,) = self.figures(digest, scope="class", metric="latency")
        self.assertLess(abs(latency["value"] / 400e-9 - 1), 1 / 16)
        (pair,) = self.figures(digest, scope="pair", metric="bandwidth")
        self.assertEqual((pair["src"], pair["dst"], pair["value"]), (0, 1, bandwidth["value"]))
        self.assertEqual(len(self.figures(digest, metric="throughput")), 2)

    def test_times(self):
        digest = self.digest(*cxi_job())
        (send,) = self.figures(digest, scope="call", name="MPI_Send")
        self.assertEqual((send["samples"], send["unit"]), (200, "s"))
        self.assertAlmostEqual(send["value"], 0.2)
        (wall,) = self.figures(digest, scope="job", name="wall")
        self.assertGreater(wall["value"], 5)

    def test_stack(self):
        ranks = cxi_job()
        for rank in ranks:
            f.modules(rank, "/opt/lib/libfabric.so.1.20.1", "/opt/lib/libfabric.so.1.20.1")
            f.facts(rank, ("env", "FI_CXI_RX_MATCH_MODE", "hybrid"), ("system", "kernel", "6.1"),
                    ("env", "OMP_NUM_THREADS", str(rank.rank)), ("namespace", "pid", "pid:[%d]" % rank.rank))
        digest = self.digest(*ranks)
        self.assertEqual(self.facts(digest, "mpi"), [["version", "Open MPI v4.1.4, package: Debian OpenMPI", "", 0]])
        self.assertIn(["libfabric.so", "1.20.1, build-id " + "01" * 20, "/opt/lib/libfabric.so.1.20.1", 0],
                      self.facts(digest, "library"))
        self.assertEqual(self.facts(digest, "parameter"),
                         [["FI_CXI_RX_MATCH_MODE", "hybrid", "environment", 0],
                          ["OMP_NUM_THREADS", "0", "environment", 1], ["OMP_NUM_THREADS", "1", "environment", 1]])
        self.assertEqual(self.facts(digest, "machine"),
                         [["host", "node0", "", 1], ["host", "node1", "", 1], ["system.kernel", "6.1", "environment", 0]])
        self.assertEqual(self.facts(digest, "placement"), [["ranks_a_node", "1", "", 0]])

    def test_memory_of_gpus(self):
        digest = self.digest(*placed_jobs.gpu_job(placed_jobs.MACHINES["switches"], [0, 1]))
        self.assertEqual([way[1] for way in digest["ways"]], ["device"])


if __name__ == "__main__":
    unittest.main()
