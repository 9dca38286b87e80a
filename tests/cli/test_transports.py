# SPDX-License-Identifier: BSD-3-Clause
"""mpiwatch transports, matrix --metric transport: jobs whose transports are known, in all forms."""

import csv
import io
import os
import subprocess
import sys
import tempfile
import time

import build_trace as b
import fabric_jobs as f
from build_trace import Process, connection, job
from cli import MPIWATCH, ROOT, CliTest, main
from fabric_jobs import GIGABIT, MEBI, exchange, finish, log, openmpi

EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected", "transports.txt")
HEADER = ["src", "dst", "where", "transport", "layer", "device", "from", "to", "messages", "bytes",
          "carried", "certainty", "evidence", "unknown", "buffer"]


def two_nodes(size=4, per_node=2, count=4):
    """Shared memory within nodes, TCP between them, because cxi failed."""
    ranks = [openmpi(rank, size, host="node%d" % (rank // per_node + 1)) for rank in range(size)]
    exchange(ranks, count=count)
    f.sockets(ranks, {(src, dst): (count + 1) * MEBI for src in range(size) for dst in range(size)
                      if src // per_node != dst // per_node})
    for rank in ranks:
        rank.choice("version", "libfabric", "1.17.0")
        rank.choice("device", "/dev/cxi0", "open")
        f.offer(rank)
        f.offer(rank, provider="tcp;ofi_rxm", domain="eth0", speed=0, ident=2)
        f.fail(rank)
        log(rank)
        rank.log(9, "unused env variable: UCX_TLSS", library="ucx", level="WARN", provider="",
                 subsystem="", function="parser.c", line=2045)
        if rank.rank % per_node == 0:
            rank.ports(1, 0, [f.port("eth0", "net", 25 * GIGABIT, moved=1000),
                              f.port("cxi0", "cxi", 200 * GIGABIT)])
            rank.ports(3, 4 * b.SECOND, [
                dict(f.port("eth0", "net", 25 * GIGABIT, moved=1000 + 40 * MEBI), errors=3),
                f.port("cxi0", "cxi", 200 * GIGABIT)])
    return finish(ranks)


class Transports(CliTest):
    def write(self, *ranks, name="job.mpiw"):
        self.trace = b.write(self.path(name), job(), *ranks)
        return self.trace

    def document(self, *options):
        return self.run_cli("transports", "-f", "json", *options, self.trace).json()

    def section(self, *options):
        return self.document(*options)["transports"]

    def shown(self, *options):
        """The text, blanks and line ends made one blank."""
        text = self.run_cli("transports", *options, self.trace).out
        self.assert_fits(text)
        return " ".join(text.split())

    def rows(self, *options):
        text = self.run_cli("transports", "-f", "csv", *options, self.trace).out
        rows = list(csv.reader(io.StringIO(text)))
        self.assertEqual(rows[0], HEADER)
        return [dict(zip(HEADER, row)) for row in rows[1:]]


class Content(Transports):
    def test_ways(self):
        self.write(*two_nodes())
        section = self.section()
        self.assertIsNone(section["missing"])
        self.assertEqual((section["messages"], section["bytes"]), (48, 48 * MEBI))
        ways = {way["transport"]: way for way in section["ways"]}
        self.assertEqual(set(ways), {"tcp", "vader"})
        tcp = ways["tcp"]
        self.assertEqual((tcp["kind"], tcp["device"], tcp["layer"]),
                         ("network", "eth0", "Open MPI BTL"))
        self.assertEqual(tcp["line_rate_bits_s"], 25 * GIGABIT)
        self.assertEqual((tcp["pairs"], tcp["ranks"], tcp["messages"], tcp["bytes"]),
                         (8, "0-3", 32, 32 * MEBI))
        self.assertEqual((tcp["bytes_within_nodes"], tcp["bytes_between_nodes"]), (0, 32 * MEBI))
        self.assertEqual(tcp["carried_bytes"], 40 * MEBI)
        self.assertEqual(tcp["sizes"], {"from": MEBI, "to": 2 * MEBI - 1})
        self.assertAlmostEqual(tcp["share"], 2 / 3)
        self.assertIsNone(tcp["reached"])  # there are no messages after the warm-up
        vader = ways["vader"]
        self.assertEqual((vader["bytes_concluded"], vader["bytes_seen"]), (16 * MEBI, 0))
        self.assertEqual((vader["bytes_within_nodes"], vader["bytes_between_nodes"]),
                         (16 * MEBI, 0))
        self.assertEqual(sum(way["bytes"] for way in ways.values()), section["bytes"])

    def test_speeds(self):
        """1 MiB in a millisecond. Between nodes nothing smaller ties the clocks, so that it is a bound."""
        ranks = two_nodes(count=20)
        for n in range(20):  # 5 us within a node
            at = 5 * b.SECOND + 10000 * n
            f.message(ranks, 2 + n % 2, 3 - n % 2, 8, at, at + 5000)
        self.write(*ranks)
        ways = {way["transport"]: way for way in self.section()["ways"]}
        for name, bound in (("tcp", True), ("vader", False)):
            reached = ways[name]["reached"]
            self.assertAlmostEqual(reached["bytes_s"], MEBI * 1000, delta=MEBI)
            self.assertEqual(reached["bound"], bound)
        self.assertAlmostEqual(ways["tcp"]["reached"]["share_of_line_rate"],
                               ways["tcp"]["reached"]["bytes_s"] / (25e9 / 8))
        self.assertIsNone(ways["tcp"]["latency_s"])
        self.assertAlmostEqual(ways["vader"]["latency_s"], 5e-6, delta=5e-6 / 32)
        self.assertIn("reached >= 1.05 of 3.12 GB/s, from rank 0 to rank 2, the best of 8 pairs", self.shown())
        pairs = self.document("-r", "3")["pairs"]["listed"]
        by_pair = {(pair["src"], pair["dst"]): pair for pair in pairs}
        self.assertAlmostEqual(by_pair[3, 0]["reached_bytes_s"], MEBI * 1000, delta=MEBI)
        self.assertEqual([by_pair[3, peer]["bound"] for peer in (0, 2)], [True, False])
        self.assertAlmostEqual(by_pair[3, 2]["latency_s"], 5e-6, delta=5e-6 / 32)
        self.assertIn("reached >= 1.05 GB/s", self.shown("-r", "3"))

    def test_groups(self):
        self.write(*two_nodes())
        groups = self.section()["groups"]
        self.assertEqual(groups["total"], 2)
        across, within = groups["listed"]
        self.assertEqual((across["shape"], across["pairs"], across["where"]),
                         ("with each other across nodes", 8, "network"))
        self.assertEqual((within["shape"], within["pairs"], within["where"]),
                         ("with each other within nodes", 4, "node"))
        self.assertEqual(across["carried_bytes"] - across["bytes"], across["remainder_bytes"])
        self.assertEqual([route["certainty"] for route in across["routes"]], ["seen"])
        self.assertIn("connection", across["routes"][0]["evidence"])

    def test_shapes(self):
        for pairs, shape in (([(0, 1)], "all to all"), ([(0, 1), (1, 0)], "with each other"),
                             ([(0, 2), (0, 3), (1, 2), (1, 3)], "all to all"),
                             ([(0, 1), (1, 2), (2, 3)], "some"), ([(2, 2)], "each to itself")):
            with self.subTest(shape):
                ranks = [openmpi(rank, 4) for rank in range(4)]
                exchange(ranks, pairs=pairs, count=1)
                f.sockets(ranks, {})
                self.write(*finish(ranks))
                group = self.section()["groups"]["listed"][0]
                self.assertEqual(group["shape"], shape)
                self.assertEqual(group["pairs"], len(pairs))

    def test_choices_where_ranks_differ(self):
        ranks = [openmpi(0, 3), openmpi(1, 3, btls=("self", "tcp")), openmpi(2, 3)]
        self.write(*finish(ranks))
        choices = {choice["btls"]: choice["ranks"] for choice in self.section()["choices"]}
        self.assertEqual(choices, {"self,tcp,vader": "0,2", "self,tcp": "1"})
        self.assertIn("PML ob1, BTLs self,tcp (rank 1)", self.shown())

    def test_failures(self):
        self.write(*two_nodes())
        section = self.section()
        failure = section["failures"]["listed"][0]
        self.assertEqual((failure["call"], failure["result"], failure["words"]),
                         ("fi_enable", -262, "Invalid resource domain"))
        self.assertEqual((failure["provider"], failure["domain"], failure["weight"]),
                         ("cxi", "cxi0", "matters"))
        self.assertEqual((failure["ranks"], failure["log_of"]), ("0-3", "0"))
        self.assertEqual([line["text"] for line in failure["log"]], list(f.LOG))
        idle = section["idle"]["listed"]
        self.assertTrue(any(entry["provider"] == "cxi" and entry["tried"] for entry in idle))
        logged = section["log"]
        self.assertEqual((logged["total"], logged["lost"]), (4, 0))
        besides = [line for line in logged["listed"] if not line["with_failure"]]
        self.assertEqual([(line["text"], line["count"], line["ranks"]) for line in besides],
                         [("unused env variable: UCX_TLSS", 4, "0-3")])
        shown = self.shown()
        self.assertIn("fi_enable returned -262 (Invalid resource domain) on ranks 0-3", shown)
        for line in f.LOG:
            self.assertEqual(shown.count(line), 1)

    def test_more_attempts_than_are_looked_at(self):
        """The recorder never writes so many of one process; all would be compared with all."""
        ranks = two_nodes()
        for ident in range(100, 3100):
            ranks[0].attempt(ident, "fi_domain", result=-1, provider="p%d" % ident)
        self.write(*ranks)
        failures = self.section()["failures"]
        self.assertEqual(failures["left_out"], 3000 + 3 - 2048)
        self.assertIn("%d attempts, log lines and offers were not looked at" % failures["left_out"],
                      " ".join(self.shown().split()))

    def test_ports(self):
        self.write(*two_nodes())
        ports = self.section()["ports"]
        self.assertEqual(ports["total"], 4)
        eth = ports["listed"][0]
        self.assertEqual((eth["host"], eth["port"], eth["sent_bytes"], eth["errors"]),
                         ("node1", "eth0", 40 * MEBI, 3))
        self.assertAlmostEqual(eth["seconds"], 4)
        self.assertAlmostEqual(eth["sent_bytes_s"], 10 * MEBI)
        self.assertEqual(ports["listed"][2]["port"], "cxi0")

    def test_ports_that_say_little(self):
        zero, one = openmpi(0, 2, host="n1"), openmpi(1, 2, host="n2")
        zero.ports(1, 0, [f.port("eth0", "net", 0, moved=500)])
        zero.ports(3, b.SECOND, [f.port("eth0", "net", 0, moved=499), f.port("new", "net", 0)])
        one.ports(1, 0, [f.port("eth0", "net", GIGABIT, moved=500)])  # killed: one look
        self.write(*finish([zero, one]))
        ports = self.section()["ports"]["listed"]
        self.assertEqual(len(ports), 3)
        for port in ports:
            self.assertIsNone(port["sent_bytes"])
            self.assertIsNone(port["sent_bytes_s"])
        self.assertIn("eth0", self.shown())

    def test_tcp(self):
        zero, one = openmpi(0, 2), openmpi(1, 2)
        early = connection(("10.0.0.1", 1), ("10.0.0.2", 2), fd=5, sent=1000, retransmits=7,
                           interface="eth0")
        late = connection(("10.0.0.1", 1), ("10.0.0.2", 2), fd=5, sent=5000, retransmits=9,
                          interface="eth0", rtt=300, min_rtt=100)
        opened = connection(("10.0.0.1", 3), ("10.0.0.2", 4), fd=6, sent=600, retransmits=1,
                            interface="eth0", rtt=200, min_rtt=90)
        zero.sockets(1, 1000, [early])
        zero.sockets(3, 9000, [late, opened], unseen=11)
        one.sockets(3, 9000, [connection(("127.0.0.1", 1), ("127.0.0.1", 2), sent=5,
                                         interface="lo")])
        self.write(*finish([zero, one]))
        tcp = self.section()["tcp"]
        self.assertEqual(tcp["unseen_descriptors"], 11)
        eth, lo = tcp["interfaces"]
        self.assertEqual((eth["interface"], eth["connections"], eth["sent_bytes"]),
                         ("eth0", 2, 4600))
        self.assertEqual((eth["retransmitted_segments"], eth["most_retransmits_of"]), (3, "0"))
        self.assertAlmostEqual(eth["min_round_trip_s"], 90e-6)
        self.assertAlmostEqual(eth["max_round_trip_s"], 300e-6)
        self.assertEqual((lo["interface"], lo["ranks"], lo["retransmitted_segments"]),
                         ("lo", "1", 0))

    def test_lines_that_found_no_room(self):
        zero = openmpi(0, 1)
        zero.log(0, "", library="", level="", count=1234)
        zero.log(1, "x", count=99)
        self.write(*finish([zero]))
        self.assertEqual(self.section()["log"]["lost"], 1234)
        self.assertIn("x (99 times)", self.shown())
        self.assertIn("1234 more log lines found no room", self.shown())

    def test_probes(self):
        zero, one = openmpi(0, 2), openmpi(1, 2)
        one.choice("probe", "ucx", "not covered", "libucp 9.9 is newer than what is known")
        zero.choice("probe", "ucx", "absent")
        self.write(*finish([zero, one]))
        probes = {(probe["probe"], probe["how"]): probe for probe in self.section()["probes"]}
        self.assertEqual(probes["ucx", "not covered"]["ranks"], "1")
        self.assertEqual(probes["ucx", "absent"]["ranks"], "0")
        shown = self.shown()
        self.assertIn("ucx not covered on rank 1: libucp 9.9 is newer than what is known", shown)
        self.assertNotIn("absent", shown)


class Missing(Transports):
    def test_old_traces(self):
        zero, one = Process(0, 2).world(), Process(1, 2).world()
        zero.send(1, 100, 2000, 2100)
        self.write(*finish([zero, one]))
        section = self.section()
        self.assertIn("no records of transports", section["missing"])
        self.assertEqual(section["recorded"]["processes"], 0)
        self.assertEqual(section["unknown"]["pairs"], 1)
        self.assertEqual(section["unknown"]["bytes"], 100)
        self.assertIn("Not known: the trace has no records of transports", self.shown())
        report = " ".join(self.run_cli("report", self.trace).out.split())
        self.assertEqual(report.count("no records of transports"), 1)
        row, = self.rows()
        self.assertEqual((row["transport"], row["messages"], row["bytes"]), ("", "1", "100"))
        self.assertTrue(row["unknown"])

    def test_nothing_to_say(self):
        self.write(*finish([openmpi(0, 1)]))
        self.assertEqual(self.section()["ways"], [])
        self.assertEqual(self.rows(), [])
        self.assertIn("No two ranks exchanged messages", self.shown())
        self.trace = b.write(self.path("none.mpiw"), job())
        self.assertEqual(self.section()["groups"], {"total": 0, "listed": []})
        self.shown()

    def test_ranks_that_were_not_recorded(self):
        ranks = [openmpi(rank, 4, host="node%d" % rank) for rank in range(4)]
        exchange(ranks[:2], count=1, pairs=[(0, 1), (0, 3), (1, 3)])
        self.write(*finish(ranks[:2]))
        section = self.section()
        reasons = [group["unknown"] for group in section["groups"]["listed"] if group["unknown"]]
        self.assertTrue(any("not recorded" in reason for reason in reasons), reasons)
        self.assertIn("2 of 4 ranks", self.shown())
        self.assertIn("not known", self.shown())

    def test_bytes_of_no_messages(self):
        zero, one = openmpi(0, 2, pml="cm", mtl="ofi"), openmpi(1, 2, pml="cm", mtl="ofi")
        f.fabric([zero, one], {(0, 1): MEBI})  # collectives, one-sided operations
        self.write(*finish([zero, one]))
        group, = self.section()["groups"]["listed"]
        self.assertEqual((group["messages"], group["carried_bytes"]), (0, MEBI))
        self.assertIn("no messages cxi over cxi0 (libfabric): used, but not for messages",
                      self.shown())

    def test_damaged_traces(self):
        with open(self.write(*two_nodes()), "rb") as whole:
            content = whole.read()
        golden = os.path.join(ROOT, "tests", "golden", "v1")
        paths = [os.path.join(golden, name) for name in sorted(os.listdir(golden))
                 if name.endswith(".mpiw")]
        for i in range(40):
            cut = len(content) * (i + 1) // 41
            spoiled = bytearray(content[:cut])
            spoiled[cut // 2] ^= 0x55
            path = self.path("cut%d.mpiw" % i)
            with open(path, "wb") as out:
                out.write(spoiled)
            paths.append(path)
        for path in paths:
            for command in (("transports",), ("transports", "-f", "csv"),
                            ("matrix", "-m", "transport"), ("report",)):
                with self.subTest(path, command=command):
                    result = self.run_cli(*command, path, code=None)
                    self.assertIn(result.code, (0, 1))
                    self.assertTrue(result.out or result.err)

    def test_what_is_wrong_usage(self):
        self.write(*finish([openmpi(0, 1)]))
        for options, words in ((("--format", "xml"), "text, json, csv"),
                               (("--rank", "x"), "not a rank"),
                               (("--top", "-1"), "not a whole number")):
            result = self.run_cli("transports", *options, self.trace, code=129)
            self.assertIn(words, result.err)
        result = self.run_cli("transports", "-r", "7", self.trace, code=1)
        self.assertIn("rank 7 is not in this trace", result.err)
        self.assertEqual(result.out, "")
        self.run_cli("transports", code=129)
        self.run_cli("transports", "no-such.mpiw", code=1)


class Forms(Transports):
    def test_golden(self):
        self.write(*two_nodes(count=20))
        with open(EXPECTED, encoding="utf-8") as file:
            self.assertEqual(self.run_cli("transports", self.trace).out, file.read(),
                             "if the change is wanted: test_transports.py --write")

    def test_csv_has_what_json_has(self):
        self.write(*two_nodes())
        rows = self.rows()
        self.assertEqual(sum(int(row["bytes"]) for row in rows), 48 * MEBI)
        self.assertEqual(len({(row["src"], row["dst"]) for row in rows}), 12)
        for row in rows:
            near = int(row["src"]) // 2 == int(row["dst"]) // 2
            self.assertEqual((row["where"], row["transport"]),
                             ("node", "vader") if near else ("network", "tcp"))
        pairs = self.document("-r", "1")["pairs"]
        mine = self.rows("--rank", "1")
        self.assertEqual(pairs["total"], 6)
        self.assertEqual([(str(pair["src"]), str(pair["dst"]), str(pair["routes"][0]["bytes"]))
                          for pair in pairs["listed"]],
                         [(row["src"], row["dst"], row["bytes"]) for row in mine])
        self.assertTrue(all("1" in (row["src"], row["dst"]) for row in mine))

    def test_one_rank(self):
        self.write(*two_nodes())
        shown = self.shown("-r", "3")
        self.assertIn("Pairs of rank 3", shown)
        self.assertIn("3 to 0, between nodes: 4.00 MiB in 4 messages", shown)
        self.assertIn("2 to 3, within a node: 4.00 MiB in 4 messages", shown)
        self.assertNotIn("with each other", shown)
        pair = self.document("-r", "3")["pairs"]["listed"][0]
        self.assertEqual((pair["reached_bytes_s"], pair["bound"], pair["latency_s"]), (None, False, None))

    def test_top(self):
        self.write(*two_nodes())
        section = self.section("-n", "1")
        for part in ("groups", "failures", "idle", "log", "ports"):
            self.assertEqual(len(section[part]["listed"]), 1, part)
        self.assertEqual(section["groups"]["total"], 2)
        self.assertIn("... 1 more groups of pairs", self.shown("-n", "1"))
        self.assertEqual(len(self.document("-r", "0", "-n", "2")["pairs"]["listed"]), 2)

    def test_many_devices(self):
        size = 60
        ranks = [openmpi(rank, size, host="n%d" % rank, pml="cm", mtl="ofi") for rank in range(size)]
        for rank in ranks:
            rank.choice("probe", "ucx", "partly", "reason %d" % rank.rank)
            rank.choice("mtl", "ofi%d" % rank.rank)
            rank.send((rank.rank + 1) % size, 1000 + rank.rank, 2000, 2100)
            f.fabric([rank], {(rank.rank, (rank.rank + 1) % size): 1000 + rank.rank},
                     domain="nic%d" % rank.rank)
        self.write(*finish(ranks))
        self.assertEqual(len(self.section()["ways"]), size)
        shown = self.shown()
        self.assertIn("more transports (--format json has all)", shown)
        self.assertIn("... 48 more (--format json has all)", shown)
        report = self.run_cli("report", self.trace).out
        self.assertIn("... 48 more transports", report)
        self.assertLess(len(self.run_cli("transports", self.trace).out.splitlines()), 250)

    def test_output_file(self):
        self.write(*two_nodes())
        self.run_cli("transports", "-o", "out.csv", "-f", "csv", self.trace)
        with open(self.path("out.csv"), encoding="utf-8") as file:
            self.assertEqual(file.readline().strip().split(","), HEADER)

    def test_text_of_a_trace_cannot_play_with_the_terminal(self):
        evil = "x\x1b]0;t\x07\u202e,\"y"
        zero, one = openmpi(0, 2), openmpi(1, 2)
        for rank in (zero, one):
            f.offer(rank, provider=evil, domain=evil)
            f.fail(rank, provider=evil, domain=evil, words=evil)
            rank.log(1, evil, provider=evil, function=evil, subsystem=evil)
            rank.choice("version", evil, evil)
            rank.choice("probe", evil, "partly", evil)
            rank.ports(1, 0, [f.port(evil, "net", 5, state=evil)])
        exchange([zero, one], count=1)
        f.fabric([zero, one], f.all_pairs([zero, one], MEBI), provider=evil, domain=evil)
        self.write(*finish([zero, one]))
        for command in (("transports",), ("transports", "-r", "0"), ("transports", "-f", "csv"),
                        ("matrix", "-m", "transport"), ("matrix", "-m", "transport", "-f", "csv"),
                        ("report",)):
            text = self.run_cli(*command, self.trace).out
            for character in "\x1b\x07\u202e":
                self.assertNotIn(character, text, command)

    def test_many_ranks_fit_a_screen(self):
        size, per_node = 1000, 50
        ranks = [openmpi(rank, size, host="node%03d" % (rank // per_node)) for rank in range(size)]
        amounts = {}
        for rank in ranks:
            for step in (1, 2, 100, 200):
                peer = (rank.rank + step) % size
                rank.send(peer, MEBI, 3000 + step * 10, 3005 + step * 10)
                if rank.rank // per_node != peer // per_node:
                    amounts[rank.rank, peer] = MEBI + 20
        f.sockets(ranks, amounts, address="fd00::{}")
        self.write(*finish(ranks))
        began = time.monotonic()
        text = self.run_cli("transports", self.trace).out
        self.assertLess(time.monotonic() - began, 30)
        self.assert_fits(text)
        self.assertLess(len(text.splitlines()), 80)
        self.assertIn("pairs of ranks 0-999", text)


class Matrix(Transports):
    def cells(self, *options):
        text = self.run_cli("matrix", "-m", "transport", "-f", "csv", *options, self.trace).out
        rows = list(csv.reader(io.StringIO(text)))
        self.assertEqual(rows[0], ["src", "dst", "value"])
        return {(src, dst): value for src, dst, value in rows[1:]}

    def matrix_json(self, *options):
        return self.run_cli("matrix", "-m", "transport", "-f", "json", *options,
                            self.trace).json()

    def matrix_text(self, *options):
        text = self.run_cli("matrix", "-m", "transport", *options, self.trace).out
        self.assert_fits(text)
        return text

    def test_by_rank(self):
        self.write(*two_nodes())
        cells = self.cells()
        self.assertEqual(len(cells), 12)
        for (src, dst), value in cells.items():
            self.assertEqual(value, "vader" if int(src) // 2 == int(dst) // 2 else "tcp")
        document = self.matrix_json()
        self.assertEqual((document["metric"], document["unit"]), ("transport", "transport"))
        self.assertEqual({(str(cell["src"]), str(cell["dst"])): cell["value"]
                          for cell in document["cells"]}, cells)
        self.assertEqual(document["total"], 48 * MEBI)
        self.assertEqual(document["cells"][0]["routes"][0]["transport"], "vader")
        grid = [line.split() for line in self.matrix_text().splitlines()]
        self.assertIn(["0", ".", "vader", "tcp", "tcp"], grid)
        self.assertIn(["3", "tcp", "tcp", "vader", "."], grid)

    def test_by_node(self):
        self.write(*two_nodes())
        self.assertEqual(self.cells("-b", "node"),
                         {("node1", "node1"): "vader", ("node1", "node2"): "tcp",
                          ("node2", "node1"): "tcp", ("node2", "node2"): "vader"})
        cell = self.matrix_json("-b", "node")["cells"][1]
        self.assertEqual((cell["src"], cell["dst"], cell["bytes"]), ("node1", "node2", 16 * MEBI))
        self.assertEqual(cell["routes"][0]["carried_bytes"], 20 * MEBI)
        self.assertIn("tcp over eth0 16.0 MiB", self.matrix_text("-b", "node"))

    def test_sizes_that_go_different_ways(self):
        zero, one = openmpi(0, 2), openmpi(1, 2)
        exchange([zero, one], size=8, count=3, pairs=[(0, 1)])
        exchange([zero, one], size=MEBI, count=3, pairs=[(0, 1)], start=10 ** 8)
        f.sockets([zero, one], {})
        one.cma([{"pid": 1000, "reads": 3, "read": 3 * MEBI}])
        self.write(*finish([zero, one]))
        self.assertEqual(self.cells(), {("0", "1"): "vader+cma"})
        routes = self.matrix_json()["cells"][0]["routes"]
        self.assertEqual([(route["transport"], route["messages"]) for route in routes],
                         [("vader", 3), ("cma", 3)])
        self.assertIn("     0 . vader+cma\n", self.matrix_text())

    def test_letters(self):
        ranks = [openmpi(rank, 20, host="node%d" % (rank // 10)) for rank in range(20)]
        exchange(ranks, count=1)
        f.sockets(ranks, {(src, dst): 2 * MEBI for src in range(20) for dst in range(20)
                          if src // 10 != dst // 10})
        self.write(*finish(ranks))
        text = self.matrix_text()
        self.assertIn("   0 .AAAAAAAAABBBBBBBBBB\n", text)
        self.assertIn("  19 BBBBBBBBBBAAAAAAAAA.\n", text)
        self.assertIn("A  vader\n", text)
        self.assertIn("B  tcp\n", text)

    def test_a_list_of_many(self):
        ranks = [openmpi(rank, 100) for rank in range(100)]
        exchange(ranks, count=1, pairs=[(rank, (rank + 1) % 100) for rank in range(100)])
        f.sockets(ranks, {})
        self.write(*finish(ranks))
        text = self.matrix_text("-n", "5")
        self.assertIn("... 95 more pairs", text)
        self.assertIn("vader 1.00 MiB", text)
        self.assertEqual(len(self.cells()), 100)

    def test_what_is_not_known(self):
        ranks = [openmpi(rank, 3, host="node%d" % rank) for rank in range(2)]
        exchange(ranks, count=1, pairs=[(0, 2)])
        self.write(*finish(ranks))
        self.assertEqual(self.cells(), {("0", "2"): "unknown"})
        cell, = self.matrix_json()["cells"]
        self.assertEqual((cell["routes"], cell["unknown_pairs"]), ([], 1))
        self.assertTrue(cell["unknown"])
        text = self.matrix_text()
        self.assertIn("unknown", text)
        self.assertIn("1 pair not known", text)
        self.assertEqual(self.cells("-b", "node"), {("node0", ""): "unknown"})

    def test_nothing(self):
        self.write(*finish([openmpi(0, 1)]))
        self.assertEqual(self.cells(), {})
        self.assertEqual(self.matrix_json()["cells"], [])
        self.matrix_text()


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        with tempfile.TemporaryDirectory() as temporary:
            where = b.write(os.path.join(temporary, "job.mpiw"), job(), *two_nodes(count=20))
            with open(EXPECTED, "wb") as target:
                subprocess.run([MPIWATCH, "transports", where], stdout=target, check=True,
                               env=dict(os.environ, LC_ALL="C.UTF-8"))
        sys.exit(0)
    main()
