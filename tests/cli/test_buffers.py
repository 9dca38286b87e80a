# SPDX-License-Identifier: BSD-3-Clause
"""Messages by the kind of memory that they come from: amounts, transports, and both where only sums are kept."""

import csv
import io

import build_trace as b
import sums
import mwwrite as w
from build_trace import Process
from cli import CliTest, main

MIB = 1 << 20


def rank(number):
    process = Process(number, 2).world()
    process.choice("pml", "ob1").choice("btl", "self", "loaded").choice("btl", "vader", "loaded")
    for probe in ("libfabric", "ucx", "sockets", "cma", "openfiles", "gpu"):
        process.choice("probe", probe, "on")
    return process.finalize(9 * 10 ** 6).spaces(3, 2, 1)  # device, managed, pinned


class Buffers(CliTest):
    def setUp(self):
        super().setUp()
        zero, one = rank(0), rank(1)
        time = 2000
        for space, count, size in ((0, 4, 1000), (1, 3, MIB), (2, 2, MIB), (3, 1, MIB), (0, 2, MIB), (31, 1, 100)):
            for _ in range(count):
                zero.send(1, size, time, time + 5, flags=space << 21)
                one.recv(0, size, time, time + 9, flags=w.STATUS | 1 << 26)  # the sender's memory counts
                time += 10
        request = zero.start()  # taken back from where it was counted
        zero.send(1, MIB, time, time + 5, name="MPI_Isend", flags=w.REQUEST | 1 << 21, request=request)
        zero.done(request, "MPI_Wait", flags=w.CANCELLED, start=time + 10, end=time + 20)
        self.trace = self.write(zero, one)

    def write(self, *processes):
        return b.write(self.path("job.mpiw"), b.job(), *processes)

    def matrix(self, *options):
        cells = self.run_cli("matrix", "-f", "json", *options, self.trace).json()["cells"]
        return cells[0] if cells else None

    def test_amounts(self):
        for buffer, messages, amount in (("any", 13, 8 * MIB + 4100), ("device", 5, 5 * MIB), ("host", 7, 3 * MIB + 4000)):
            self.assertEqual(self.matrix("--metric", "messages", "--buffer", buffer)["value"], messages)
            self.assertEqual(self.matrix("--metric", "bytes", "--buffer", buffer)["value"], amount)

    def test_transports(self):
        found = {}
        for buffer in ("any", "device", "host"):
            cell = self.matrix("--metric", "transport", "--buffer", buffer)
            found[buffer] = {route["buffer"]: (route["transport"], route["messages"]) for route in cell["routes"]}
            self.assertEqual(cell["messages"], sum(messages for _, messages in found[buffer].values()))
        device = {"device": ("vader", 3), "managed": ("vader", 2)}
        host = {"host": ("vader", 6), "pinned host": ("vader", 1)}
        self.assertEqual(found, {"device": device, "host": host, "any": {**device, **host, "unknown": ("vader", 1)}})

    def test_report_and_transports(self):
        whole = self.report(self.trace)["transports"]
        for section in (whole, self.run_cli("transports", "-f", "json", self.trace).json()["transports"]):
            (way,) = section["ways"]
            self.assertEqual(way["bytes_by_buffer"], {
                "host": 2 * MIB + 4000, "pinned host": MIB, "device": 3 * MIB, "managed": 2 * MIB, "unknown": 100})
        self.assertIn(", out of memory: device:", self.run_cli("transports", self.trace).out)
        rows = list(csv.DictReader(io.StringIO(self.run_cli("transports", "-f", "csv", self.trace).out)))
        self.assertEqual({row["buffer"]: int(row["messages"]) for row in rows},
                         {"host": 6, "pinned host": 1, "device": 3, "managed": 2, "unknown": 1})


class Summed(Buffers):
    """The same without a single event."""

    def write(self, *processes):
        return super().write(*map(sums.Summed, processes))

    def test_sums_that_do_not_tell(self):
        row = dict(kind=w.SEND, function=b.F["MPI_Send"], peer=1, operations=2, bytes=200, calls=2, **{"class": 7})
        for fields, expected in (({}, {"unknown": 2}), ({"spaces": 1}, {"host": 2})):
            zero = rank(0).add("AGGREGATE", number=0, why=1, start=2000, end=3000, row=[row], **fields)
            self.trace = b.write(self.path("old.mpiw"), b.job(), zero, rank(1))
            cell = self.matrix("--metric", "transport")
            self.assertEqual({route["buffer"]: route["messages"] for route in cell["routes"]}, expected)


if __name__ == "__main__":
    main()
