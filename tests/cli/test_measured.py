# SPDX-License-Identifier: BSD-3-Clause
"""What is measured of messages, as the command shows it: matrices of speeds and waits, the report, mpiwatch waits."""

import build_trace as b
import fabric_jobs as f
import placed_jobs as p
from build_trace import job
from cli import CliTest, main
from counted import Rank, ranks

WARM = 4


class Measured(CliTest):
    def setUp(self):
        super().setUp()
        zero, one, two = ranks(3, hosts=["node1", "node1", "node1"])
        for n in range(WARM + 10):
            at = 10000 * (n + 1)
            one.take(0, 1000, at, at + 600, tag=1)          # 400 ns in flight
            zero.to(1, 1000, at + 200, at + 500, tag=1)
            one.take(0, 65536, at + 1000, at + 3000, tag=2)  # 1 us, after 1 us of waiting
            zero.to(1, 65536, at + 2000, at + 2900, tag=2)
            two.to(1, 8, at + 4000, at + 4010)               # buffered, fetched late
            one.take(2, 8, at + 5000, at + 5010)
        for rank in (zero, one, two):
            rank.all("MPI_Barrier", 900000 if rank.rank == 2 else 300000, 900100, size=0)
        self.trace = b.write(self.path("job.mpiw"), job(), zero, one, two)

    def test_bandwidth(self):
        self.assertEqual(self.matrix(self.trace, "-m", "bandwidth"), {("0", "1"): 65536000000})
        self.assertEqual(self.matrix(self.trace, "-m", "bandwidth", "--size", "512-1023"),
                         {("0", "1"): 2500000000})
        self.assertEqual(self.matrix(self.trace, "-m", "bandwidth", "--size", "64k"), {("0", "1"): 65536000000})
        self.assertEqual(self.matrix(self.trace, "-m", "bandwidth", "--size", "128K-1M"), {})

    def test_throughput(self):
        """From the first start to the last completion, gaps included; the warm-up, too."""
        self.assertEqual(self.matrix(self.trace, "-m", "throughput")[("0", "1")],
                         14 * 65536 * 10**9 // (13 * 10000 + 1000))

    def test_latency(self):
        median = self.matrix(self.trace, "-m", "latency", "--size", "1000")[("0", "1")]
        self.assertLess(abs(median - 400e-9), 400e-9 / 32 + 1e-9)

    def test_wait(self):
        self.assertEqual(self.matrix(self.trace, "-m", "wait"),
                         {("0", "1"): 14 * 1200e-9})  # 200 ns for the small, 1000 ns for the large ones

    def test_bounds_are_no_figures_but_are_shown(self):
        cells = {(c["src"], c["dst"]): c
                 for c in self.run_cli("matrix", "-m", "bandwidth", "-f", "json", self.trace).json()["cells"]}
        self.assertEqual(cells[2, 1], {"src": 2, "dst": 1, "value": 7920792, "bound": True, "from": 8, "to": 15,
                                       "messages": 10, "certain": 0})
        self.assertFalse(cells[0, 1]["bound"])
        shown = self.run_cli("matrix", "-m", "bandwidth", self.trace).out
        self.assertIn(">= 7.92 MB/s", shown)
        self.assertIn("65.5 GB/s", shown)
        self.assertIn("1 pair has a lower bound only", shown)

    def test_by_node(self):
        cells = self.run_cli("matrix", "-m", "bandwidth", "-b", "node", "-f", "json", self.trace).json()["cells"]
        moved, time = 14 * (1000 + 65536 + 8), 14 * (400 + 1000 + 1010)
        self.assertEqual([(c["src"], c["value"]) for c in cells], [("node1", moved * 10**9 // time)])

    def test_wrong_usage(self):
        for options in (("-m", "latency", "-b", "node"), ("-m", "wait", "-k", "rma"), ("-m", "latency", "-k", "rma"),
                        ("-m", "bandwidth", "-k", "p2p,rma"), ("--size", "1-2"),
                        ("-m", "latency", "--size", "x"), ("-m", "latency", "--size", "2-1"),
                        ("-m", "latency", "--size", "1T"), ("-m", "latency", "--size", "")):
            self.run_cli("matrix", *options, self.trace, code=129)

    def test_report(self):
        report = self.run_cli("report", "-f", "json", self.trace).json()
        self.assertEqual(report["clocks"]["matching"]["messages"], 42)
        classes = {c["from"]: c for c in report["speeds"]["classes"]}
        large = classes[65536]
        self.assertEqual((large["distance"], large["transport"], large["pairs"], large["judged_pairs"]),
                         ("same node", "unknown", 1, 1))
        self.assertEqual(large["best"], {"src": 0, "dst": 1, "in_flight_bytes_s": 65.536e9})
        self.assertIsNone(classes[8]["in_flight_bytes_s"])
        self.assertEqual(report["speeds"]["pairs"]["listed"][0]["certain"], 10)
        self.assertIn("65.5 GB/s (0 to 1)", self.run_cli("report", self.trace).out)

    def test_waits(self):
        document = self.run_cli("waits", "-f", "json", self.trace).json()
        kinds = document["waits"]["by_kind"]
        self.assertEqual(kinds["late_sender"], {"count": 28, "time_s": 16.8e-6})
        self.assertEqual(kinds["wait_at_barrier"], {"count": 2, "time_s": 1200e-6})
        first = document["waits"]["ranks"]["listed"][0]
        self.assertEqual((first["rank"], first["caused_s"], first["last"]), (2, 1200e-6, 1))
        shown = self.run_cli("waits", self.trace).out
        self.assertIn("Late Sender 16.8 us (28), Wait at Barrier 1.20 ms (2)", shown)
        self.assertIn("600 us", shown)
        self.run_cli("waits", code=129)
        self.run_cli("waits", "-f", "csv", self.trace, code=129)


class Accesses(CliTest):
    def test_matrix_and_report(self):
        zero, one = ranks(2)
        for n in range(WARM + 10):
            at = 10000 * (n + 1)
            zero.access("MPI_Put", 1, at, at + 1000, out=65536)
            zero.window("MPI_Win_flush", at + 1000, at + 2000, peer=1)
            one.access("MPI_Get", 0, at, at + 1000, back=4096)
            one.window("MPI_Win_flush", at + 4000, at + 5000, peer=0)
        trace = b.write(self.path("job.mpiw"), job(), zero, one)
        kind = ("-k", "rma", "-m")
        self.assertEqual(self.matrix(trace, *kind, "bandwidth", "-s", "64K"), {("0", "1"): 32768000000})
        self.assertEqual(self.matrix(trace, *kind, "throughput", "-s", "4K"), {("0", "1"): 14 * 4096 * 10**9 // 135000})
        cells = self.run_cli("matrix", *kind, "bandwidth", "-s", "4K", "-f", "json", trace).json()["cells"]
        self.assertEqual([(c["value"], c["bound"]) for c in cells], [(819200000, True)])
        self.assertEqual(self.matrix(trace, "-m", "bandwidth"), {})
        listed = self.run_cli("report", "-f", "json", trace).json()["speeds"]["accesses"]["listed"]
        self.assertEqual([(s["src"], s["dst"], s["from"], s["certain"], s["bounded"]) for s in listed],
                         [(0, 1, 65536, 10, 0), (0, 1, 4096, 0, 10)])
        self.assertIn("0 to 1 64.0 KiB       14 32.8 GB/s 32.8 GB/s", self.run_cli("report", trace).out)


class Places(CliTest):
    def test_cards_and_numa_nodes(self):
        """Ranks 0, 1 on NUMA nodes 0 and 1 of node1, 2 and 3 likewise on node2; 0 and 1 send to both at a time."""
        machine = p.MACHINES["flat"]
        four = [Rank(n, 4, host="node%d" % (1 + n // 2)) for n in range(4)]
        p.bound(four, machine, lambda rank: p.one_a_numa(machine)(rank % 2))
        for n in range(20):
            at = 1000000 * (n + 1)
            for src, dst in ((0, 2), (1, 3)):
                four[dst].take(src, 100000, at, at + 100000 * (1 + src))
                four[src].to(dst, 100000, at, at + 50000)
                for there, back, ping in ((dst, src, at + 500000), (src, dst, at + 600000)):  # tie the clocks
                    four[back].take(there, 8, ping, ping + 1000)
                    four[there].to(back, 8, ping, ping + 100)
            four[1].take(0, 1000, at + 700000, at + 701000)
            four[0].to(1, 1000, at + 700000, at + 700500)
        f.fabric(four, {(0, 2): 2100000, (1, 3): 2100000, (2, 0): 200, (3, 1): 200}, provider="verbs;ofi_rxm", domain="mlx5_0", speed=f.SLINGSHOT)
        trace = b.write(self.path("job.mpiw"), job(), *four)
        speeds = self.run_cli("report", "-f", "json", trace).json()["speeds"]
        numas = {(s["host"], s["numa"]): s for s in speeds["numa_nodes"]["listed"]}
        self.assertEqual(sorted(numas), [("node1", 0), ("node1", 1), ("node2", 0), ("node2", 1)])
        self.assertEqual([numas["node1", n]["sent"]["bytes"] for n in (0, 1)], [20 * 101008, 20 * 100008])
        self.assertEqual(numas["node1", 1]["received"]["messages"], 40)
        nics = {s["host"]: s for s in speeds["nics"]["listed"]}
        sent = nics["node1"]["sent"]
        self.assertEqual((nics["node1"]["nic"], nics["node1"]["processes"], nics["node1"]["line_rate_bits_s"]),
                         ("mlx5_0", 2, f.SLINGSHOT))
        self.assertEqual((sent["bytes"], sent["messages"]), (40 * 100008, 80))  # not what stays on the node
        # 200 us of each ms something is on its way, for the half of it two messages
        self.assertLess(abs(sent["at_least_bytes_s"] / 1e9 - 1), 0.05)
        self.assertLess(abs(sent["concurrency"] - 1.5), 0.05)
        self.assertLess(abs(sent["messages_per_s"] / 20000 - 1), 0.05)
        self.assertEqual(nics["node2"]["received"]["bytes"], 40 * 100008)
        self.assertIn("mlx5_0", self.run_cli("report", trace).out.split("NUMA nodes together")[1])


if __name__ == "__main__":
    main()
