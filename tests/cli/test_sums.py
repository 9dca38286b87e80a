# SPDX-License-Identifier: BSD-3-Clause
"""Sums in the place of events: the same jobs as in other tests, without a single event, and what the report and
the dump say of reduced detail and of regions."""

import json
from unittest import mock

import build_trace as b
import mwwrite as w
import sums
import test_matrix
import test_objects
import test_report
from build_trace import SECOND, Process, job, number
from cli import CliTest, main


class WithoutEvents:
    """Every trace that the tests of the other class write has sums only."""

    def setUp(self):
        write = mock.patch.object(b, "write", lambda path, *parts, real=b.write: real(path, *map(
            lambda part: sums.Summed(part) if isinstance(part, Process) else part, parts)))
        write.start()
        self.addCleanup(write.stop)
        super().setUp()


class Objects(WithoutEvents, test_objects.Objects):
    pass


class Matrix(WithoutEvents, test_matrix.Matrix):
    pass


class Figures(WithoutEvents, test_report.Figures):
    def test_there_is_no_event(self):
        self.assertEqual(self.doc["time"]["events"], 0)
        self.assertEqual(self.doc["detail"]["summed_calls"], self.doc["detail"]["calls"])
        self.assertEqual(self.doc["detail"]["calls"], 2 * 6 + 20)


class Special(WithoutEvents, test_report.Special):
    pass


class Detail(CliTest):
    def setUp(self):
        super().setUp()
        self.zero, self.one = Process(0, 2).world(), Process(1, 2).world()

    def slices(self, process, *parts):
        """(why, start, calls) of each: calls of 10 ns."""
        for number, (why, start, calls) in enumerate(parts):
            row = dict(kind=w.CALL, function=b.F["MPI_Comm_dup"], comm=-1, peer=-2, calls=calls, time=10 * calls,
                       least=10, most=10)
            process.add("AGGREGATE", number=number, why=why, start=start, end=start + 10 * calls, row=[row],
                        last_function=b.F["MPI_Comm_dup"], last_end=start + 10 * calls)

    def told(self):
        self.trace = b.write(self.path("job.mpiw"), job(), self.zero, self.one)
        return self.report(self.trace)

    def test_nothing_is_reduced(self):
        self.zero.call("MPI_Comm_dup", 2000, 2010)
        doc = self.told()
        self.assertEqual(doc["detail"], {"calls": 1, "summed_calls": 0, "reduced": []})
        self.assertIsNone(doc["ranks"][0]["reduced_from_s"])
        self.assertNotIn("reduced", self.run_cli("report", self.trace).out)

    def test_since_when_and_why(self):
        self.zero.call("MPI_Comm_dup", 2000, 2010)
        self.slices(self.zero, (3, 2 * SECOND, 5), (2, 4 * SECOND, 7), (2, 3 * SECOND, 1))
        self.slices(self.one, (2, 6 * SECOND, 100))
        doc = self.told()
        self.assertEqual((doc["detail"]["calls"], doc["detail"]["summed_calls"]), (114, 113))
        budget, pcontrol = doc["detail"]["reduced"]
        self.assertEqual((budget["why"], budget["ranks"], budget["calls"]), ("budget", "0-1", 108))
        self.assertAlmostEqual(budget["first_s"], 3 - 1e-6)
        self.assertAlmostEqual(budget["last_s"], 6 - 1e-6)
        self.assertEqual((pcontrol["why"], pcontrol["ranks"], pcontrol["calls"]), ("MPI_Pcontrol", "0", 5))
        self.assertAlmostEqual(doc["ranks"][0]["reduced_from_s"], 2 - 1e-6)
        self.assertEqual(doc["ranks"][1]["last_call"]["function"], "MPI_Comm_dup")
        text = self.run_cli("report", self.trace).out
        self.assert_fits(text)
        self.assertIn("MPIWATCH_BUDGET", text)
        self.assertIn("MPI_Pcontrol(0)", text)

    def test_a_reason_of_a_later_version(self):
        self.slices(self.zero, (1 << 40, SECOND, 5))
        self.assertEqual(self.told()["detail"]["reduced"][0]["why"], "unknown")
        self.assertIn("does not know", self.run_cli("report", self.trace).out)

    def test_dump(self):
        self.slices(self.zero, (2, SECOND, 5))
        self.zero.add("COST", number(4, 2000), number(7, 444))
        self.told()
        lines = [json.loads(line) for line in
                 self.run_cli("dump", "-f", "json", self.trace).out.splitlines()]
        part, = [line for line in lines if line["type"] == "sums"]
        self.assertEqual((part["why"], part["rows"], part["start"]), (2, 1, SECOND))
        row, = [line for line in lines if line["type"] == "sum"]
        self.assertEqual((row["function"], row["kind"], row["calls"], row["time"]), ("MPI_Comm_dup", "CALL", 5, 50))
        cost, = [line for line in lines if line["type"] == "cost" and line["rank"] == 0]
        self.assertEqual((cost["bytes"], cost["longest_ns"]), (2000, 444))


class Regions(CliTest):
    def test_time_and_calls_within(self):
        zero, one = Process(0, 2).world(), Process(1, 2).world()
        for process, times in ((zero, 1), (one, 3)):
            process.add("REGION", id=1, level=2, name="solve", entries=1, time=4000 * times)
            process.add("REGION", id=2, parent=1, level=3, name="halo", entries=2, time=1000 * times)
            process.call("MPI_Pcontrol", 2000, 2000, tag=1)
            process.coll("MPI_Barrier", 2100, 2400, 0)
            process.call("MPI_Pcontrol", 2500, 2500, tag=2)
            process.coll("MPI_Barrier", 2600, 2700, 1)
            process.call("MPI_Pcontrol", 3500, 3500, tag=0)
            process.coll("MPI_Barrier", 4600, 4700, 2)
        one.add("AGGREGATE", why=3, start=2800, end=2850, row=[dict(
            kind=w.COLL, function=b.F["MPI_Barrier"], comm=0, peer=-1, region=2, calls=4, time=40, least=10, most=10,
            operations=4, next=7)])
        trace = b.write(self.path("job.mpiw"), job(), zero, one)
        solve, halo = self.report(trace)["regions"]["listed"]
        self.assertEqual((solve["region"], solve["depth"], solve["entries"], solve["max_rank"]), ("solve", 0, 2, 1))
        self.assertEqual((halo["region"], halo["depth"], halo["entries"]), ("halo", 1, 4))
        self.assertAlmostEqual(solve["time_s"] * 1e9, 16000)
        self.assertAlmostEqual(solve["max_s"] * 1e9, 12000)
        # the calls that mark are within what they begin
        self.assertEqual((halo["mpi_calls"], solve["mpi_calls"]), (2 * 2 + 4, 2 * 4 + 4))
        self.assertAlmostEqual(halo["mpi_s"] * 1e9, 2 * 100 + 40)
        self.assertAlmostEqual(solve["mpi_s"] * 1e9, 2 * 400 + 40)
        text = self.run_cli("report", trace).out
        self.assert_fits(text)
        self.assertIn("  halo", text)

    def test_an_entry_that_never_ended_and_a_loop(self):
        zero = Process(0, 1).world()
        zero.add("REGION", id=1, level=2, name="a", entries=1, since=5000)
        zero.add("REGION", id=2, parent=2, level=3, name="own \x1b[m parent", entries=1)
        zero.add("REGION", id=3, parent=9, level=3, name="", entries=1)
        zero.call("MPI_Comm_dup", 5500, 6000)
        zero.finalize(9000, reason=4)
        trace = b.write(self.path("job.mpiw"), job(), zero)
        listed = self.report(trace)["regions"]["listed"]
        self.assertEqual({region["depth"] for region in listed}, {0})
        self.assertEqual([(r["never_ended"], round(r["time_s"] * 1e9)) for r in listed if r["region"] == "a"],
                         [(1, 4000)])
        self.assert_fits(self.run_cli("report", trace).out)


if __name__ == "__main__":
    main()
