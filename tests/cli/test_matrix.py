# SPDX-License-Identifier: BSD-3-Clause
"""mpiwatch matrix: metrics of jobs that are known, in all three forms."""

import build_trace as b
import mwwrite as w
from build_trace import Process, job
from cli import CliTest, main


class Matrix(CliTest):
    def write(self, *processes):
        self.trace = b.write(self.path("job.mpiw"), job(), *processes)
        return self.trace

    def test_bytes_and_messages(self):
        zero, one = Process(0, 3).world(), Process(1, 3).world()
        zero.send(1, 100, 2000, 2100)
        zero.send(1, 28, 2200, 2300)
        zero.send(2, 0, 2400, 2500)
        one.send(0, 1 << 40, 2000, 2100)
        one.recv(0, 100, 3000, 3100)  # the sender counts
        self.write(zero, one)
        self.assertEqual(self.matrix(self.trace), {("0", "1"): 128, ("1", "0"): 1 << 40})
        self.assertEqual(self.matrix(self.trace, "--metric", "messages"),
                         {("0", "1"): 2, ("0", "2"): 1, ("1", "0"): 1})

    def test_sends_that_are_none(self):
        zero, one = Process(0, 2).world(), Process(1, 2).world()
        zero.send(1, 0, 2000, 2100, flags=w.ERROR, code=5)
        request = zero.start()
        zero.send(1, 70, 2200, 2300, name="MPI_Isend", flags=w.REQUEST, request=request)
        zero.done(request, name="MPI_Wait", flags=w.CANCELLED, start=2400, end=2500)
        zero.send(1, 5, 2600, 2700)
        self.write(zero, one)
        self.assertEqual(self.matrix(self.trace, "-m", "messages"), {("0", "1"): 1})
        self.assertEqual(self.matrix(self.trace), {("0", "1"): 5})
        document = self.run_cli("matrix", "-f", "json", self.trace).json()
        self.assertEqual(document["besides"]["cancelled"], 1)

    def test_persistent_sends_count_each_start(self):
        zero = Process(0, 2).world()
        for step in range(3):
            request = zero.start()
            zero.send(1, 10, 2000 + 100 * step, 2010 + 100 * step, name="MPI_Start",
                      flags=w.REQUEST | w.PERSISTENT, request=request)
            zero.done(request, name="MPI_Wait", flags=w.PERSISTENT, start=2020 + 100 * step,
                      end=2030 + 100 * step)
        self.write(zero)
        self.assertEqual(self.matrix(self.trace, "-m", "messages"), {("0", "1"): 3})
        self.assertEqual(self.matrix(self.trace), {("0", "1"): 30})

    def test_a_sender_that_was_not_recorded(self):
        one = Process(1, 3).world()
        one.recv(0, 100, 2000, 2100)
        one.recv(0, 4000, 2200, 2300, flags=0)  # MPI_STATUS_IGNORE: room only
        request = one.start()
        one.recv(-1, 500, 2400, 2500, name="MPI_Irecv", flags=w.REQUEST | w.ANY_SOURCE,
                 request=request)
        one.done(request, name="MPI_Wait", peer=2, tag=5, bytes_in=60, start=2600, end=2700,
                 flags=w.STATUS | w.MATCHED | w.ANY_SOURCE)
        cancelled = one.start()
        one.recv(0, 999, 2800, 2810, name="MPI_Irecv", flags=w.REQUEST, request=cancelled)
        one.done(cancelled, name="MPI_Wait", flags=w.CANCELLED | w.STATUS, start=2820, end=2830)
        self.write(one)
        self.assertEqual(self.matrix(self.trace), {("0", "1"): 4100, ("2", "1"): 60})
        self.assertEqual(self.matrix(self.trace, "-m", "messages"), {("0", "1"): 2, ("2", "1"): 1})
        document = self.run_cli("matrix", "-f", "json", self.trace).json()
        self.assertEqual(document["besides"]["counted_at_receiver"], 3)
        self.assertEqual(document["besides"]["sizes_that_are_upper_bounds"], 1)
        self.assertEqual(document["processes"]["missing_ranks"], "0,2")
        shown = self.run_cli("matrix", self.trace).out
        self.assertIn("1 of 3 ranks recorded", shown)
        self.assertIn("3 messages from ranks that were not recorded are counted at their",
                      shown)

    def test_time(self):
        zero, one, two = (Process(rank, 3).world() for rank in range(3))
        zero.send(1, 10, 2000, 2500)            # 500 to 0→1
        one.recv(0, 10, 1800, 2600)             # 800 to 0→1
        first, second = one.start(), one.start()
        one.recv(2, 10, 3000, 3010, name="MPI_Irecv", flags=w.REQUEST, request=first)   # 10 to 2→1
        one.recv(2, 10, 3010, 3030, name="MPI_Irecv", flags=w.REQUEST, request=second)  # 20 to 2→1
        one.done(first, flags=w.PART)
        one.done(second, flags=w.PART)
        one.call("MPI_Waitall", 3100, 3400)     # 300 to 2→1: both are its
        third, fourth = zero.start(), zero.start()
        zero.send(1, 1, 4000, 4001, name="MPI_Isend", flags=w.REQUEST, request=third)   # 1 to 0→1
        zero.send(2, 1, 4002, 4004, name="MPI_Isend", flags=w.REQUEST, request=fourth)  # 2 to 0→2
        zero.done(third, flags=w.PART)
        zero.done(fourth, flags=w.PART)
        zero.call("MPI_Waitall", 4100, 4400)    # to two: nobody's
        two.event(w.POLL, "MPI_Test", start=5000, end=6000, polls=9, busy=900)
        self.write(zero, one, two)
        self.assertEqual(self.matrix(self.trace, "--metric", "time"),
                         {("0", "1"): 1301e-9, ("2", "1"): 330e-9, ("0", "2"): 2e-9})
        document = self.run_cli("matrix", "-m", "time", "-f", "json", self.trace).json()
        self.assertEqual(document["unit"], "seconds")
        self.assertAlmostEqual(document["besides"]["time_in_pairs_s"], 1633e-9)
        self.assertAlmostEqual(document["besides"]["time_s"], 1933e-9)

    def test_sendrecv(self):
        zero, one = Process(0, 2).world(), Process(1, 2).world()
        zero.event(w.SEND, "MPI_Sendrecv", peer=1, bytes=10, tag=1, flags=w.PART)
        zero.event(w.RECV, "MPI_Sendrecv", peer=1, bytes_in=20, tag=1, start=2000, end=2500,
                   flags=w.STATUS)
        self.write(zero, one)
        self.assertEqual(self.matrix(self.trace), {("0", "1"): 10})
        self.assertEqual(self.matrix(self.trace, "-m", "time"), {})

    def test_by_node(self):
        ranks = [Process(rank, 5, host=f"node{rank // 2}").world() for rank in range(4)]
        ranks[0].send(1, 1, 2000, 2100)
        ranks[0].send(2, 2, 2200, 2300)
        ranks[1].send(3, 4, 2200, 2300)
        ranks[3].send(0, 8, 2200, 2300)
        ranks[2].send(4, 16, 2200, 2300)  # nobody knows where rank 4 is
        self.write(*ranks)
        self.assertEqual(self.matrix(self.trace, "--by", "node"),
                         {("node0", "node0"): 1, ("node0", "node1"): 6, ("node1", "node0"): 8,
                          ("node1", ""): 16})
        cells = self.run_cli("matrix", "-b", "node", "-f", "json", self.trace).json()["cells"]
        self.assertIn({"src": "node1", "dst": None, "value": 16}, cells)
        self.assertIn("not recorded", self.run_cli("matrix", "-b", "node", self.trace).out)

    def test_messages_that_are_in_no_pair(self):
        zero = Process(0, 2).world()
        zero.send(-17, 100, 2000, 2100)  # rank 1 of another world
        zero.send(-3, 7, 2200, 2300)     # a rank that could not be told
        zero.send(1, 5, 2400, 2500)
        self.write(zero)
        self.assertEqual(self.matrix(self.trace), {("0", "1"): 5})
        besides = self.run_cli("matrix", "-f", "json", self.trace).json()["besides"]
        self.assertEqual(besides["outside_world"], {"messages": 1, "bytes": 100})
        self.assertEqual(besides["unknown_peer"], {"messages": 1, "bytes": 7})

    def test_forms_agree(self):
        ranks = [Process(rank, 6).world() for rank in range(6)]
        for rank in ranks:
            for peer in range(6):
                if peer != rank.rank:
                    at = 2000 + 100 * peer
                    rank.send(peer, 10 * rank.rank + peer, at, at + 50)
        self.write(*ranks)
        cells = self.run_cli("matrix", "-f", "json", self.trace).json()
        by_csv = self.matrix(self.trace)
        self.assertEqual({(str(cell["src"]), str(cell["dst"])): cell["value"]
                          for cell in cells["cells"]}, by_csv)
        self.assertEqual(cells["cell_count"], len(by_csv))
        self.assertEqual(cells["total"], sum(by_csv.values()))
        grid = self.run_cli("matrix", self.trace).out.splitlines()
        row = next(line.split() for line in grid if line.split()[:1] == ["5"])
        self.assertEqual([word for word in row[1:] if word != "B"],
                         [str(50 + peer) for peer in range(5)] + ["."])

    def test_large_ones_are_abbreviated(self):
        ranks = [Process(rank, 300).world() for rank in range(300)]
        for rank in ranks:
            rank.send((rank.rank + 1) % 300, 1000 + rank.rank, 2000, 2100)
        self.write(*ranks)
        shown = self.run_cli("matrix", self.trace).out
        self.assert_fits(shown)
        self.assertLess(len(shown.splitlines()), 30)
        self.assertIn("... 280 more pairs", shown)
        self.assertIn("299", shown)  # the largest one first
        self.assertEqual(len(self.matrix(self.trace)), 300)

    def test_an_empty_one(self):
        self.write(Process(0, 1).world())
        self.assertEqual(self.run_cli("matrix", "-f", "csv", self.trace).out, "src,dst,value\n")
        self.assertEqual(self.run_cli("matrix", "-f", "json", self.trace).json()["cells"], [])

    def test_names_that_are_not_known(self):
        self.write(Process(0, 1).world())
        for option, value, known in (("--metric", "speed", "bytes, messages, time"),
                                     ("--kind", "gpu", "p2p, rma, coll, io"), ("--by", "core", "rank, node, numa, socket, gpu"), ("--buffer", "disk", "any, device, host"),
                                     ("--format", "xml", "text, csv, json")):
            result = self.run_cli("matrix", option, value, self.trace, code=129)
            self.assertIn(value, result.err)
            self.assertIn(known, result.err)
            self.assertEqual(result.out, "")

    def test_host_names_that_csv_must_quote(self):
        process = Process(0, 1, host='a,"b').world()
        process.send(0, 3, 2000, 2100)
        self.write(process)
        self.assertIn('"a,""b","a,""b",3', self.run_cli("matrix", "-f", "csv", "-b", "node",
                                                        self.trace).out)


if __name__ == "__main__":
    main()
