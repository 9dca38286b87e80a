# SPDX-License-Identifier: BSD-3-Clause
"""mpiwatch dump and info."""

import json
import os

import build_trace as b
import mwwrite as w
from build_trace import Process, job, number, record, text
from cli import CliTest, main


class Dump(CliTest):
    def setUp(self):
        super().setUp()
        zero, one = Process(0, 2).world("main"), Process(1, 2).world()
        self.items = [
            zero.send(1, 100, 2000, 2100, flags=w.COUNTED | w.SYNC, ordinal=0),
            zero.recv(-1, 64, 2200, 2250, name="MPI_Irecv", flags=w.REQUEST | w.ANY_SOURCE, request=0),
            zero.done(0, flags=w.PART | w.STATUS | w.MATCHED, peer=1, tag=3, bytes_in=60),
            zero.call("MPI_Waitall", 2300, 2400, site=7),
            zero.event(w.POLL, "MPI_Iprobe", start=2500, end=2900, polls=12, busy=100),
            zero.send(1, 0, 3000, 3001, flags=w.ERROR, code=-5),
        ]
        zero.call("MPI_Barrier", 5000, 6000, thread=1)
        one.recv(0, 100, 1900, 2200)
        self.trace = b.write(self.path("job.mpiw"), job(), zero, one)

    def lines(self, *options):
        return [json.loads(line) for line in
                self.run_cli("dump", "-f", "json", *options, self.trace).out.splitlines()]

    def test_events_come_back(self):
        names = {number: name for name, number in b.F.items()}
        kinds = {w.CALL: "CALL", w.SEND: "SEND", w.RECV: "RECV", w.DONE: "DONE", w.POLL: "POLL"}
        events = [line for line in self.lines("--rank", "0", "--thread", "0")
                  if line["type"] == "event"]
        self.assertEqual(len(events), len(self.items))
        for place, (event, item) in enumerate(zip(events, self.items)):
            self.assertEqual(event["number"], place)
            self.assertEqual(event["kind"], kinds[item["kind"]])
            self.assertEqual(event["function"], names[item["function"]])
            for field in ("comm", "peer", "tag", "bytes", "bytes_in"):
                self.assertEqual(event[field], item[field], field)
            if not item["flags"] & w.PART:
                self.assertEqual((event["start"], event["end"]), (item["start"], item["end"]))
                self.assertAlmostEqual(event["duration_s"], (item["end"] - item["start"]) / 1e9)
                self.assertAlmostEqual(event["start_s"], (item["start"] - 1000) / 1e9)
        self.assertEqual(events[0]["flags"], ["ORDINAL", "COUNTED", "SYNC"])
        self.assertEqual(events[0]["ordinal"], 0)
        self.assertEqual(events[2]["request"], 0)
        self.assertEqual((events[4]["polls"], events[4]["busy"]), (12, 100))
        self.assertEqual(events[5]["code"], -5)

    def test_selection(self):
        events = [line for line in self.lines() if line["type"] == "event"]
        self.assertEqual({(e["rank"], e["thread"]) for e in events}, {(0, 0), (0, 1), (1, 0)})
        only = [line for line in self.lines("--rank", "1") if line["type"] in ("event", "process")]
        self.assertEqual({line["rank"] for line in only}, {1})
        self.assertIn("rank 9 is not in this trace",
                      self.run_cli("dump", "--rank", "9", self.trace, code=1).err)

    def test_text(self):
        lines = self.run_cli("dump", "-r", "0", self.trace).out.splitlines()
        self.assertIn("0.0 #0 0.000001000 +0.000000100 SEND MPI_Send peer 1 tag 5 bytes 100 comm 0 "
                      "ordinal 0 SYNC", lines)
        self.assertIn("0.0 #2   DONE part of MPI_Waitall peer 1 tag 3 received 60 comm 0 request 0 "
                      "STATUS MATCHED", lines)
        self.assertIn("0.0 #5 0.000002000 +0.000000001 SEND MPI_Send peer 1 tag 5 bytes 0 comm 0 "
                      "code -5 ERROR", lines)

    def test_missing_events_are_said(self):
        zero = Process(0, 1)
        calls = [w.event(w.CALL, function=b.F["MPI_Barrier"], start=at, end=at + 5, comm=-1)
                 for at in (2000, 2100)]
        gap = w.events(calls[:1], zero.key) + w.events(calls[1:], zero.key, first=11)
        self.trace = b.write(self.path("gap.mpiw"), zero, gap)
        missing = [line for line in self.lines() if line["type"] == "missing"]
        self.assertEqual([line["events"] for line in missing], [10])
        self.assertIn("10 events are missing", self.run_cli("dump", self.trace).out)


class Info(CliTest):
    def test_document(self):
        os.mkdir(self.path("job.mpiw"))
        b.write(self.path("job.mpiw/job.mpiw"), job())
        zero, one = Process(0, 2, host="n1"), Process(1, 2, host="n2")
        for at in range(5):
            zero.call("MPI_Barrier", 2000 + 10 * at, 2005 + 10 * at)
        zero.call("MPI_Barrier", 3000, 3001, thread=4)
        strange = w.frame(77, b"x", zero.key)
        b.write(self.path("job.mpiw/n1.mpiw"),
                b.chunk("FILE", text(1, "mpiwatch 9.9"), text(2, "n1"), process=zero.key), zero, strange)
        b.write(self.path("job.mpiw/n2.mpiw"), one)
        info = self.run_cli("info", "-f", "json", "job.mpiw").json()
        self.assertEqual([os.path.basename(file["path"]) for file in info["files"]],
                         ["job.mpiw", "n1.mpiw", "n2.mpiw"])
        self.assertEqual(info["files"][1]["writer"], "mpiwatch 9.9")
        self.assertEqual(sum(file["bytes"] for file in info["files"]), info["trace"]["bytes"])
        self.assertEqual(sum(file["chunks"] for file in info["files"]),
                         sum(chunk["count"] for chunk in info["chunks"]))
        self.assertEqual(sum(chunk["bytes"] for chunk in info["chunks"]), info["trace"]["bytes"])
        self.assertIn({"type": 77, "name": "UNKNOWN", "count": 1, "bytes": 33}, info["chunks"])
        first = info["process_list"][0]
        self.assertEqual((first["rank"], first["threads"], first["events"]), (0, 2, 6))
        self.assertEqual(info["trace"]["events"], 6)
        shown = self.run_cli("info", "job.mpiw").out
        self.assertIn("6 events", shown)
        self.assertIn("type 77, not known to this version", shown)

    def test_events_that_are_there_twice_count_once(self):
        zero = Process(0, 1)
        zero.call("MPI_Barrier", 2000, 2005)
        whole = zero.chunks()
        b.write(self.path("twice.mpiw"), whole, whole)
        self.assertEqual(self.run_cli("info", "-f", "json", "twice.mpiw").json()["trace"]["events"], 1)

    def test_unnamed_functions(self):
        zero = Process(0, 1)
        zero.threads[0] = [w.event(w.CALL, function=60000, start=2000, end=2001, comm=-1),
                           w.event(w.CALL, function=60001, start=2002, end=2003, comm=-1)]
        zero.add("COUNTS", record(1, number(1, 60000), text(2, "MPI_Tomorrow"), number(3, 1)))
        b.write(self.path("new.mpiw"), zero)
        functions = [call["function"] for call in self.report("new.mpiw")["calls"]]
        self.assertEqual(sorted(functions), ["MPI_Tomorrow", "MPI_function_60001"])


if __name__ == "__main__":
    main()
