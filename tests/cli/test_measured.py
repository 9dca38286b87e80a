# SPDX-License-Identifier: BSD-3-Clause
"""What is measured of messages, as the command shows it: matrices of speeds and waits, the report, mpiwatch waits."""

import build_trace as b
from build_trace import job
from cli import CliTest, main
from counted import ranks

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
        for options in (("-m", "latency", "-b", "node"), ("-m", "wait", "-k", "rma"), ("--size", "1-2"),
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


if __name__ == "__main__":
    main()
