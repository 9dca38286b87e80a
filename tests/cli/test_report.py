# SPDX-License-Identifier: BSD-3-Clause
"""mpiwatch report: figures of jobs that are known, text against golden files, JSON against the schema."""

import os
import pty
import subprocess
import sys
import tempfile
import unittest

import build_trace as b
import mwwrite as w
import test_transports
from build_trace import Process, job, number, record, text
from cli import MPIWATCH, ROOT, CliTest, main

EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected")


def two_ranks():
    """Rank 0 sends, computes and reduces; rank 1 receives late."""
    zero, one = Process(0, 2), Process(1, 2, host="node2")
    for process in (zero, one):
        process.world()
        process.call("MPI_Init", 1000, 2000)
    zero.send(1, 1000, 3000, 3500)
    request = zero.start()
    zero.send(1, 4096, 4000, 4100, name="MPI_Isend", flags=w.REQUEST, request=request)
    zero.done(request, name="MPI_Wait", start=5000, end=5300)
    one.recv(0, 1000, 2500, 3600)
    request = one.start()
    one.recv(0, 8192, 3700, 3800, name="MPI_Irecv", flags=w.REQUEST, request=request)
    one.done(request, name="MPI_Wait", flags=w.STATUS, bytes_in=4096, start=5000, end=5400)
    zero.coll("MPI_Allreduce", 6000, 7000, 0)
    one.coll("MPI_Allreduce", 6900, 7000, 0)
    one.event(w.POLL, "MPI_Iprobe", peer=-1, tag=-1, start=7100, end=9100, polls=20, busy=500)
    for process in (zero, one):
        process.call("MPI_Finalize", 9500, 10000)
        process.finalize(10000)
        process.add("COUNTS", *[record(1, number(1, b.F[name]), text(2, name), number(3, calls))
                                for name, calls in (("MPI_Init", 1), ("MPI_Comm_rank", 7))])
        process.add("ENVIRONMENT",
                    record(3, text(1, "env"), text(2, "UCX_TLS"), text(3, "tcp,self"),
                           text(4, "environment")),
                    record(3, text(1, "env"), text(2, "OMPI_MCA_pml"),
                           text(3, "ob1" if process.rank else "ucx"), text(4, "environment")))
        process.add("COST", number(1, 5000), number(2, 700), number(3, 300), number(4, 2000),
                    number(5, 10), number(6, 100), number(7, 444), number(9, 1 << 20),
                    number(10, 20000))
        process.add("HEALTH", text(1, "no_libunwind"), text(2, "call sites have one frame"),
                    number(3, 2))
    return job(), zero, one


class Figures(CliTest):
    def setUp(self):
        super().setUp()
        self.trace = b.write(self.path("job.mpiw"), *two_ranks())
        self.doc = self.report(self.trace)

    def call(self, name):
        return next(call for call in self.doc["calls"] if call["function"] == name)

    def test_time_by_rank(self):
        zero, one = self.doc["ranks"]
        self.assertAlmostEqual(zero["time_s"], (1000 + 500 + 100 + 300 + 1000 + 500) / 1e9)
        self.assertAlmostEqual(one["time_s"], (1000 + 1100 + 100 + 400 + 100 + 500 + 500) / 1e9)
        self.assertAlmostEqual(one["polling_s"], 500e-9)
        self.assertAlmostEqual(one["point_to_point_s"], 1600e-9)
        self.assertAlmostEqual(zero["collective_s"], 1000e-9)
        self.assertAlmostEqual(zero["init_and_finalize_s"], 1500e-9)
        self.assertAlmostEqual(zero["wall_s"], 9000e-9)
        self.assertAlmostEqual(zero["share"], 3400 / 9000)
        spread = self.doc["time"]["per_rank"]
        self.assertEqual((spread["min_rank"], spread["max_rank"]), (0, 1))
        self.assertAlmostEqual(self.doc["time"]["mpi_s"], 7100e-9)
        by_class = self.doc["time"]["by_class"]
        self.assertAlmostEqual(sum(by_class.values()), 7100e-9)

    def test_calls(self):
        self.assertEqual(self.call("MPI_Iprobe")["calls"], 20)
        self.assertAlmostEqual(self.call("MPI_Iprobe")["time_s"], 500e-9)
        self.assertEqual(self.call("MPI_Send")["sent_bytes"], 1000)
        self.assertEqual(self.call("MPI_Irecv")["received_bytes"], 4096)
        self.assertEqual(self.call("MPI_Wait")["received_bytes"], 0)
        self.assertEqual(self.call("MPI_Wait")["calls"], 2)
        self.assertEqual(self.call("MPI_Allreduce")["max_rank"], 0)
        self.assertAlmostEqual(self.call("MPI_Allreduce")["min_s"], 100e-9)
        only_counted = self.call("MPI_Comm_rank")
        self.assertFalse(only_counted["recorded"])
        self.assertEqual(only_counted["counted_calls"], 14)
        self.assertIsNone(only_counted["time_s"])
        times = [call["time_s"] or 0 for call in self.doc["calls"]]
        self.assertEqual(times, sorted(times, reverse=True))

    def test_messages(self):
        messages = self.doc["messages"]
        self.assertEqual((messages["messages"], messages["bytes"]), (2, 5096))
        self.assertEqual(messages["listed"][0]["src"], 0)
        sizes = {size["from"]: size for size in self.doc["sizes"]}
        self.assertEqual(sizes[512]["messages"], 1)
        self.assertEqual(sizes[4096]["messages"], 1)
        self.assertEqual((sizes[4096]["from"], sizes[4096]["to"]), (4096, 8191))
        self.assertEqual(sizes[8]["collectives"], 2)

    def test_job(self):
        self.assertEqual(self.doc["job"]["began"], "2023-11-14T22:13:20.000Z")
        self.assertEqual(self.doc["job"]["program"], "solver")
        self.assertEqual([node["host"] for node in self.doc["nodes"]], ["node1", "node2"])
        self.assertEqual(self.doc["processes"]["recorded_ranks"], 2)
        self.assertEqual(self.doc["processes"]["missing_count"], 0)
        pml = next(fact for fact in self.doc["environment"] if fact["key"] == "OMPI_MCA_pml")
        self.assertFalse(pml["everywhere"])
        self.assertEqual({value["value"]: value["ranks"] for value in pml["values"]},
                         {"ucx": "0", "ob1": "1"})
        self.assertEqual(self.doc["health"][0]["ranks"], "0-1")
        self.assertEqual(self.doc["cost"]["events"], 200)

    def test_parts_of_a_trace_are_said_to_be(self):
        _, zero, _ = two_ranks()
        half = self.report(b.write(self.path("half.mpiw"), job(), zero))
        self.assertEqual(half["processes"]["missing_ranks"], "1")
        self.assertEqual(half["processes"]["missing_count"], 1)
        shown = self.run_cli("report", self.path("half.mpiw")).out
        self.assertIn("1 of 2 ranks", shown)
        self.assertIn("1 rank was not recorded (1)", shown)

    def test_the_order_of_processes_does_not_matter(self):
        head, zero, one = two_ranks()
        other = self.report(b.write(self.path("other.mpiw"), one, head, zero))
        for section in ("ranks", "calls", "sites", "messages", "sizes", "communicators", "time"):
            self.assertEqual(other[section], self.doc[section], section)


class Special(CliTest):
    def test_nested_calls_are_not_counted_twice(self):
        zero = Process(0, 1).world()
        zero.coll("MPI_Allreduce", 2000, 5000, 0)
        zero.send(0, 10, 2500, 3500, flags=w.NESTED)
        zero.finalize(9000)
        # A nested call ends before its outer one.
        zero.threads[0].reverse()
        doc = self.report(b.write(self.path("a.mpiw"), zero))
        self.assertAlmostEqual(doc["ranks"][0]["time_s"], 3000e-9)
        send = next(call for call in doc["calls"] if call["function"] == "MPI_Send")
        self.assertEqual((send["calls"], send["nested_calls"]), (0, 1))
        self.assertAlmostEqual(send["nested_time_s"], 1000e-9)
        self.assertEqual(send["time_s"], 0)
        self.assertEqual(doc["messages"]["messages"], 1)

    def test_sizes_that_are_not_known_are_upper_bounds(self):
        zero = Process(0, 2).world()
        zero.recv(1, 5000, 2000, 3000, flags=0)
        doc = self.report(b.write(self.path("a.mpiw"), zero))
        recv = next(call for call in doc["calls"] if call["function"] == "MPI_Recv")
        self.assertEqual(recv["received_bytes"], 0)
        self.assertEqual(recv["receives_of_unknown_size"], 1)
        self.assertEqual(recv["receive_room_bytes"], 5000)
        self.assertIn("<=4.88 KiB", self.run_cli("report", self.path("a.mpiw")).out)

    def test_without_clock_readings_times_are_unknown(self):
        zero = Process(0, 1).world()
        zero.clocks = ()
        zero.call("MPI_Barrier", 2000, 3000)
        # A TSC whose rate nobody knows.
        content = zero.chunks().replace(number(8, 3) + number(9, 1), number(8, 1) + number(9, 1))
        path = b.write(self.path("a.mpiw"), fix(content))
        doc = self.report(path)
        self.assertIsNone(doc["ranks"][0]["time_s"])
        self.assertIsNone(doc["time"]["mpi_s"])
        self.assertEqual(doc["time"]["processes_without_clock"], 1)
        self.assertIn("their times are not known", self.run_cli("report", path).out)

    def test_requests_completed_by_another_thread(self):
        zero = Process(0, 2).world()
        request = zero.start()
        zero.recv(1, 100, 2000, 2100, name="MPI_Irecv", flags=w.REQUEST, request=request)
        zero.done(request, name="MPI_Wait", thread=1, flags=w.FOREIGN | w.STATUS, origin=0,
                  bytes_in=60, start=2200, end=2400)
        doc = self.report(b.write(self.path("a.mpiw"), zero))
        irecv = next(call for call in doc["calls"] if call["function"] == "MPI_Irecv")
        self.assertEqual(irecv["received_bytes"], 60)
        self.assertEqual(doc["ranks"][0]["threads"], 2)

    def test_calls_that_have_no_event_are_noticed(self):
        zero = Process(0, 1).world()
        zero.call("MPI_Barrier", 2000, 3000)
        zero.add("COUNTS", record(1, number(1, b.F["MPI_Barrier"]), text(2, "MPI_Barrier"),
                                  number(3, 5)))
        doc = self.report(b.write(self.path("a.mpiw"), zero))
        self.assertEqual(doc["ranks"][0]["calls_missing"], 4)
        self.assertIn("4 calls were counted but have no event",
                      self.run_cli("report", self.path("a.mpiw")).out)

    def test_a_rank_that_two_have(self):
        doc = self.report(b.write(self.path("a.mpiw"), Process(0, 2, key=1).world(),
                                  Process(0, 2, key=2).world()))
        self.assertEqual(doc["processes"]["duplicate_ranks"], 1)
        self.assertEqual(len(doc["processes"]["worlds"]), 1)

    def test_traces_without_an_end_are_lower_bounds(self):
        ranks = [Process(rank, 6).world() for rank in range(6)]
        for rank in ranks:
            rank.send((rank.rank + 1) % 6, 10, 2000, 2100)
        for rank, reason in ((3, 1), (4, 4), (5, 5)):
            ranks[rank].finalize(9000, reason=reason)
        path = b.write(self.path("a.mpiw"), job(), *ranks)
        processes = self.report(path)["processes"]
        self.assertEqual((processes["incomplete"], processes["incomplete_count"]), ("0-2,5", 4))
        note = "ranks 0-2,5: their traces have no end; all figures are lower bounds"
        shown = " ".join(self.run_cli("report", path).out.split())
        self.assertIn("recorded 6 of 6 ranks incomplete " + note, shown)
        self.assertIn("Health of the recording " + note, shown)
        self.assertNotIn("no complaints", shown)
        self.assertIn(note, " ".join(self.run_cli("matrix", path).out.split()))
        document = self.run_cli("matrix", "-f", "json", path).json()
        self.assertIs(document["complete"], False)
        self.assertEqual(document["processes"]["incomplete"], "0-2,5")
        one = b.write(self.path("one.mpiw"), Process(0, 1).world())
        self.assertIn("incomplete rank 0: its trace has no end",
                      " ".join(self.run_cli("report", one).out.split()))

    def test_traces_with_an_end_are_complete(self):
        zero, one = (Process(rank, 2).world() for rank in range(2))
        zero.finalize(9000)
        one.finalize(9000, reason=4)
        path = b.write(self.path("a.mpiw"), zero, one)
        self.assertEqual(self.report(path)["processes"]["incomplete"], "")
        shown = self.run_cli("report", path).out
        self.assertIn("no complaints", shown)
        self.assertNotIn("lower bounds", shown + self.run_cli("matrix", path).out)
        self.assertIs(self.run_cli("matrix", "-f", "json", path).json()["complete"], True)
        content = zero.chunks() + one.chunks()
        torn = b.write(self.path("torn.mpiw"), content + content[:50])
        self.assertNotIn("no complaints", self.run_cli("report", torn).out)
        self.assertIs(self.run_cli("matrix", "-f", "json", torn).json()["complete"], False)

    def test_several_programs(self):
        ranks = [Process(rank, 5).world() for rank in range(5)]
        for rank in ranks[3:]:
            rank.program, rank.arguments = "/opt/app/bin/io", ["./io", "--out", "x"]
        ranks[2].arguments = ["./solver", "--coarse"]
        for rank in ranks:
            rank.finalize(9000)
        path = b.write(self.path("a.mpiw"), *ranks)
        programs = self.report(path)["job"]["programs"]
        self.assertEqual([(entry["program"], entry["arguments"], entry["ranks"])
                          for entry in programs],
                         [("/opt/app/bin/solver", ["./solver", "--steps=10"], "0-1"),
                          ("/opt/app/bin/solver", ["./solver", "--coarse"], "2"),
                          ("/opt/app/bin/io", ["./io", "--out", "x"], "3-4")])
        shown = " ".join(self.run_cli("report", path).out.split())
        self.assertIn("programs ./solver --steps=10 (ranks 0-1) ./solver --coarse (rank 2) "
                      "./io --out x (ranks 3-4)", shown)
        one = b.write(self.path("one.mpiw"), *ranks[:2])
        self.assertNotIn("programs ", self.run_cli("report", one).out)

    def test_text_of_a_trace_cannot_play_with_the_terminal(self):
        evil = "x\x1b]0;title\x07\x1b[31m\u202e\u009b31m\x7f"
        zero = Process(0, 1, host="node\x1b[2J").world(name=evil)
        zero.coll("MPI_Barrier", 2000, 3000, 0)
        zero.add("HEALTH", text(1, "c"), w.data(2, b"bad \xff\xfe utf-8 \x1b[0m"))
        path = b.write(self.path("a.mpiw"), job(program=evil, command=evil), zero)
        for command in ("report", "info", "dump", "matrix", "transports"):
            shown = self.run_cli(command, path)
            for character in "\x1b\x07\u202e\u009b":
                self.assertNotIn(character, shown.out, command)
            self.assertNotIn("\udcff", shown.out)
            plain = self.run_cli(command, "-f", "json", path).out
            for character in "\x1b\x07\x7f\u009b\u202e":
                self.assertNotIn(character, plain, command + " as JSON")
        doc = self.report(path)
        self.assertEqual(doc["job"]["program"], evil)
        self.assertEqual(doc["health"][0]["message"], "bad \\xff\\xfe utf-8 \x1b[0m")

    def test_top(self):
        zero = Process(0, 40).world()
        for peer in range(1, 40):
            zero.send(peer, 10 * peer, 2000 + 100 * peer, 2050 + 100 * peer)
        path = b.write(self.path("a.mpiw"), zero)
        self.assertEqual(len(self.report(path)["messages"]["listed"]), 39)
        doc = self.report(path, "--top", "3")
        self.assertEqual([pair["dst"] for pair in doc["messages"]["listed"]], [39, 38, 37])
        self.assertEqual(doc["messages"]["pairs"], 39)
        self.assertIn("... 29 more pairs", self.run_cli("report", path).out)


def fix(content):
    """The same chunks with right checksums."""
    return b"".join(w.frame(kind, payload, process, flags=flags)
                    for kind, _, flags, process, payload in b.parse(content))



def golden_traces(folder):
    """Name → trace of the texts in expected/."""
    head, zero, one = two_ranks()
    yield "two_ranks", b.write(os.path.join(folder, "two_ranks.mpiw"), head, zero, one)
    golden = os.path.join(ROOT, "tests", "golden", "v1")
    yield "full", os.path.join(golden, "full.mpiw")
    yield "hang", os.path.join(golden, "hang.mpiw")
    yield "wide", b.write(os.path.join(folder, "wide.mpiw"), job(), *wide_job())
    yield "fallback", b.write(os.path.join(folder, "fallback.mpiw"), job(),
                              *test_transports.two_nodes(count=20))


def wide_job():
    """Forty ranks with long host names."""
    for rank in range(40):
        process = Process(rank, 40, host=f"compute-node-with-a-long-name-{rank // 8:04d}").world()
        process.call("MPI_Init", 1000, 2000 + rank)
        for step in range(1, 4):
            process.send((rank + step) % 40, 100000 * step, 3000 * step, 3000 * step + 100 + rank)
        process.coll("MPI_Neighbor_alltoallw", 20000, 21000, 0, size=123456789)
        process.finalize(90000)
        yield process


class Text(CliTest):
    def test_golden(self):
        for name, trace in golden_traces(self.folder):
            with self.subTest(name):
                shown = self.run_cli("report", trace).out
                with open(os.path.join(EXPECTED, name + ".txt"), encoding="utf-8") as file:
                    self.assertEqual(shown, file.read(),
                                     "if the change is wanted: test_report.py --write")

    def test_fits_a_terminal(self):
        for name, trace in golden_traces(self.folder):
            for command in ("report", "info", "matrix", "transports"):
                with self.subTest(name, command=command):
                    self.assert_fits(self.run_cli(command, trace).out)

    def test_help_and_version(self):
        version = self.run_cli("--version").out
        self.assertRegex(version, r"^mpiwatch \d+\.\d+\.\d+\n$")
        commands = ("run", "report", "transports", "matrix", "check", "info", "dump", "collect", "pack", "anonymize")
        overview = self.run_cli("--help").out
        for command in commands:
            self.assertIn("\n  " + command, overview)
            self.assertIn("Usage: mpiwatch " + command, self.run_cli(command, "--help").out)
            self.assertEqual(self.run_cli(command, "--version").out, version)
            self.assert_fits(self.run_cli(command, "--help").out)
        self.assertEqual(self.run_cli("help", "report").out, self.run_cli("report", "--help").out)
        self.assert_fits(overview)


class Output(CliTest):
    def setUp(self):
        super().setUp()
        self.trace = b.write(self.path("job.mpiw"), *two_ranks())

    def test_file(self):
        shown = self.run_cli("report", self.trace).out
        self.run_cli("report", "-o", "out.txt", self.trace)
        with open(self.path("out.txt"), encoding="utf-8") as file:
            self.assertEqual(file.read(), shown)
        self.run_cli("report", "-o", "out.txt", self.trace)  # a report may be made again
        self.assertEqual(sorted(os.listdir(self.folder)), ["job.mpiw", "out.txt"])

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_device(self):
        for command in ("report", "transports", "matrix", "info", "dump"):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([MPIWATCH, command, self.trace], stdout=full, check=False,
                                      stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 1, command)
            self.assertIn(b"No space left", done.stderr)

    def test_missing_folder(self):
        result = self.run_cli("report", "-o", "no/such/out.txt", self.trace, code=1)
        self.assertIn("No such file or directory", result.err)

    def on_terminal(self, **env):
        """What the report shows on a terminal."""
        master, slave = pty.openpty()
        whole = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        process = subprocess.Popen([MPIWATCH, "report", self.trace], stdout=slave,
                                   env={**whole, **env})
        os.close(slave)
        shown = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # the other end was closed
                break
            if not piece:
                break
            shown += piece
        os.close(master)
        self.assertEqual(process.wait(timeout=30), 0)
        return shown

    def test_colour_only_on_terminals(self):
        self.assertNotIn("\x1b", self.run_cli("report", self.trace, env={"TERM": "xterm"}).out)
        self.assertIn(b"\x1b[1m", self.on_terminal(TERM="xterm"))
        self.assertNotIn(b"\x1b", self.on_terminal(TERM="xterm", NO_COLOR="1"))
        self.assertNotIn(b"\x1b", self.on_terminal(TERM="dumb"))


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        os.makedirs(EXPECTED, exist_ok=True)
        with tempfile.TemporaryDirectory() as temporary:
            for title, where in golden_traces(temporary):
                with open(os.path.join(EXPECTED, title + ".txt"), "wb") as target:
                    subprocess.run([MPIWATCH, "report", where], stdout=target, check=True,
                                   env=dict(os.environ, LC_ALL="C.UTF-8"))
        sys.exit(0)
    main()
