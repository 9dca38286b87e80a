# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that died or hang: who sat where, and which collective never came together."""

import build_trace as b
from build_trace import Process, job, number, record, runs, text
from cli import CliTest, main

SECOND = 1000000000


def world(size, reason=4):
    ranks = [Process(rank, size).world() for rank in range(size)]
    for rank in ranks:
        rank.finalize(9 * SECOND, reason=reason)
        rank.coll("MPI_Bcast", 2000, 2100, 0, root=0)
    return ranks


class Stuck(CliTest):
    def doc(self, *processes):
        self.trace = b.write(self.path("job.mpiw"), job(), *processes)
        return self.report(self.trace)["stuck"]

    def shown(self):
        shown = self.run_cli("report", self.trace).out
        self.assert_fits(shown)
        return " ".join(shown.split())

    def test_one_rank_never_comes(self):
        ranks = world(4)
        for rank in (0, 2, 3):
            ranks[rank].open_call("MPI_Allreduce", 3 * SECOND, instance=1, taken=8 * SECOND)
        ranks[1].open_call("MPI_Recv", 2 * SECOND, peer=3, tag=42, taken=8 * SECOND)
        doc = self.doc(*ranks)
        self.assertEqual(len(doc["calls"]), 4)
        first = doc["calls"][0]
        self.assertEqual((first["rank"], first["function"], first["instance"]),
                         (0, "MPI_Allreduce", 1))
        self.assertEqual(first["since"], "2023-11-14T22:13:23.000Z")
        self.assertAlmostEqual(first["held_s"], 5)
        recv = doc["calls"][1]
        self.assertEqual((recv["peer"], recv["tag"], recv["instance"]), (3, 42, None))
        self.assertEqual(len(doc["collectives"]), 1)
        collective = doc["collectives"][0]
        self.assertEqual(collective["inside"],
                         [{"function": "MPI_Allreduce", "count": 3, "ranks": "0,2-3"}])
        self.assertEqual(collective["never_reached"],
                         [{"state": "in MPI_Recv", "count": 1, "ranks": "1", "last_instance": 0}])
        shown = self.shown()
        self.assertIn("rank 0,2-3: MPI_Allreduce, on MPI_COMM_WORLD, instance 1", shown)
        self.assertIn("since 22:13:23.000, for 5.00 s", shown)
        self.assertIn("rank 1: MPI_Recv, peer rank 3, tag 42, on MPI_COMM_WORLD", shown)
        self.assertIn("1 never reached it: rank 1, came as far as instance 0; in MPI_Recv", shown)

    def test_a_rank_that_died_outside_mpi(self):
        ranks = world(2)
        ranks[0].open_call("MPI_Barrier", 3 * SECOND, instance=1, taken=8 * SECOND)
        doc = self.doc(*ranks)
        self.assertEqual([entry["rank"] for entry in doc["outside_mpi"]], [1])
        self.assertEqual(doc["outside_mpi"][0]["last_call"]["function"], "MPI_Bcast")
        self.assertEqual(doc["collectives"][0]["never_reached"][0]["state"], "outside MPI")
        self.assertIn("the last call was MPI_Bcast", self.shown())

    def test_a_rank_that_was_past_it_and_one_that_ended(self):
        ranks = world(4)
        ranks[0].open_call("MPI_Reduce", 3 * SECOND, instance=1, taken=8 * SECOND)
        ranks[1].coll("MPI_Reduce", 3000, 3100, 1, root=0)  # left it: it is not the root
        ranks[2].extra.pop(1)
        ranks[2].finalize(5 * SECOND, reason=1)
        doc = self.doc(*ranks[:3])
        collective = doc["collectives"][0]
        self.assertEqual((collective["passed"], collective["not_recorded"]), (1, 1))
        self.assertEqual(collective["never_reached"],
                         [{"state": "ended by MPI_Finalize", "count": 1, "ranks": "2",
                           "last_instance": 0}])

    def test_different_collectives(self):
        ranks = world(2)
        ranks[0].open_call("MPI_Barrier", 3 * SECOND, instance=1, taken=8 * SECOND)
        ranks[1].open_call("MPI_Bcast", 3 * SECOND, instance=1, taken=8 * SECOND, peer=0)
        doc = self.doc(*ranks)
        self.assertEqual({part["function"] for part in doc["collectives"][0]["inside"]},
                         {"MPI_Barrier", "MPI_Bcast"})
        self.assertIn("Different collectives on one communicator", self.shown())

    def test_two_communicators_block_each_other(self):
        ranks = world(2)
        for rank in ranks:
            rank.add("COMM", number(1, 1), number(2, 3), number(3, 1), number(4, 0), number(5, 2),
                     number(6, rank.rank), number(8, 777))
        ranks[0].open_call("MPI_Barrier", 3 * SECOND, instance=1, comm=0, taken=8 * SECOND)
        ranks[1].open_call("MPI_Barrier", 3 * SECOND, instance=0, comm=1, taken=8 * SECOND)
        doc = self.doc(*ranks)
        states = {instance["communicator"]: instance["never_reached"][0]["state"]
                  for instance in doc["collectives"]}
        self.assertEqual(states["MPI_COMM_WORLD"],
                         "in MPI_Barrier on dup #0 of MPI_COMM_WORLD, instance 0")
        self.assertEqual(states["dup #0 of MPI_COMM_WORLD"],
                         "in MPI_Barrier on MPI_COMM_WORLD, instance 1")

    def test_nonblocking_collectives_are_reached_when_they_start(self):
        ranks = world(2)
        ranks[0].open_call("MPI_Barrier", 3 * SECOND, instance=2, taken=8 * SECOND)
        ranks[1].coll("MPI_Ibarrier", 3000, 3010, 1, flags=b.w.REQUEST, request=0)
        ranks[1].open_call("MPI_Wait", 3 * SECOND, taken=8 * SECOND, comm=-1)
        never = self.doc(*ranks)["collectives"][0]["never_reached"]
        self.assertEqual((never[0]["last_instance"], never[0]["state"]), (1, "in MPI_Wait"))

    def test_still_running(self):
        ranks = world(1, reason=5)
        ranks[0].open_call("MPI_Recv", 3 * SECOND, peer=-1, tag=-1, taken=4 * SECOND, alive=1)
        self.doc(*ranks)
        shown = self.shown()
        self.assertIn("still running when it was read: 1 (0)", shown)
        self.assertIn("peer any rank", shown)
        self.assertIn("for 1.00 s so far", shown)

    def test_a_job_that_ended_well_has_no_such_section(self):
        ranks = world(2, reason=1)
        doc = self.doc(*ranks)
        self.assertEqual(doc, {"calls": [], "collectives": [], "outside_mpi": []})
        self.assertNotIn("Where the ranks were", self.shown())

    def test_ends_are_told_apart(self):
        ranks = [Process(rank, 6).world() for rank in range(6)]
        for rank, (reason, code) in zip(ranks, ((1, 0), (2, 0), (3, 17), (4, 0), (5, 0))):
            rank.finalize(SECOND, reason=reason, code=code)
        path = b.write(self.path("job.mpiw"), *ranks)
        ends = {end["how"]: end for end in self.report(path)["processes"]["ended"]}
        self.assertEqual(set(ends), {"MPI_Finalize", "exit", "abort", "collected", "snapshot",
                                     "none"})
        self.assertEqual((ends["abort"]["code"], ends["abort"]["ranks"]), (17, "2"))
        shown = self.run_cli("report", path).out
        self.assertIn("MPI_Abort with code 17: 1 (2)", shown)

    def test_a_process_that_died_in_mpi_init(self):
        early = Process(3, 8, hint=True)
        early.open_call("MPI_Init", 2000, comm=-1, taken=2 * SECOND)
        early.finalize(SECOND, reason=4)
        doc = self.doc(early)
        self.assertEqual((doc["calls"][0]["rank"], doc["calls"][0]["function"]), (3, "MPI_Init"))

    def test_members_are_joined_by_identity(self):
        """Two groups of a split have one number, but other members."""
        ranks = world(4)
        for rank in ranks:
            color = rank.rank % 2
            rank.add("COMM", number(1, 5 + rank.rank), number(2, 6), number(3, 1), number(4, 0),
                     number(5, 2), number(6, rank.rank // 2), number(8, 1000 + color),
                     runs(9, [(color, 2, 2)]))
            if rank.rank < 3:
                rank.open_call("MPI_Barrier", 3 * SECOND, instance=0, comm=5 + rank.rank,
                               taken=8 * SECOND)
        doc = self.doc(*ranks)
        self.assertEqual(len(doc["collectives"]), 2)
        whole = next(c for c in doc["collectives"] if c["inside_count"] == 2)
        self.assertEqual((whole["inside"][0]["ranks"], whole["never_reached"]), ("0,2", []))
        half = next(c for c in doc["collectives"] if c["inside_count"] == 1)
        self.assertEqual((half["inside"][0]["ranks"], half["never_reached"][0]["ranks"],
                          half["never_reached"][0]["last_instance"]), ("1", "3", None))

    def test_many_ranks_take_few_lines(self):
        ranks = world(500)
        for rank in ranks:
            if rank.rank % 100 != 7:
                rank.open_call("MPI_Barrier", 3 * SECOND, instance=1, taken=8 * SECOND)
        doc = self.doc(*ranks)
        self.assertEqual(len(doc["calls"]), 495)
        shown = self.run_cli("report", self.trace).out
        self.assert_fits(shown)
        self.assertIn("5 never reached it: rank 7,107,207,307,407", shown)
        self.assertLess(len(shown.splitlines()), 80)


class Unnamed(CliTest):
    def test_an_open_call_without_a_communicator_that_is_known(self):
        process = Process(0, 2)
        process.add("OPEN", record(1, number(2, 999999), number(3, 5000), number(4, 8),
                                   number(7, 4), text(9, "MPI_New")), number(2, b.EPOCH + 6000))
        process.finalize(SECOND, reason=4)
        path = b.write(self.path("job.mpiw"), process)
        doc = self.report(path)["stuck"]
        self.assertEqual(doc["calls"][0]["communicator"], "comm 7")
        self.assertEqual(doc["collectives"], [])


if __name__ == "__main__":
    main()
