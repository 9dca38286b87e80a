# SPDX-License-Identifier: BSD-3-Clause
"""Who waited for whom: docs/metrics.md, "Waits"."""

from show import main, w
from counted import Rank, ranks
from test_speeds import ExchangeTest


class Waits(ExchangeTest):
    def waits(self, *processes):
        self.exchange(*processes)
        return [rank["by"] for rank in self.shown["waits"]["ranks"]]

    def test_late_sender(self):
        zero, one = ranks(2)
        one.take(0, 8, 1000, 5200, site=3)
        zero.to(1, 8, 5000, 5100)
        self.assertEqual(self.waits(zero, one), [{}, {"late_sender": [1, 4000]}])
        self.assertEqual(self.shown["waits"]["sites"], [["MPI_Recv", 3, 4000]])
        self.assertEqual(self.shown["waits"]["pairs"], [[0, 1, 4000, 0]])

    def test_late_sender_in_a_wait(self):
        zero, one = ranks(2)
        request = one.irecv(0, 8, 1000, 1010, site=3)
        one.wait(request, 3000, 5200, flags=w.STATUS, bytes_in=8, site=4)
        zero.to(1, 8, 5000, 5100)
        self.assertEqual(self.waits(zero, one), [{}, {"late_sender": [1, 2000]}])
        self.assertEqual(self.shown["waits"]["sites"], [["MPI_Wait", 4, 2000]])

    def test_a_wait_for_several_blames_nobody(self):
        zero, one, two = ranks(3)
        requests = [one.irecv(peer, 8, 1000, 1010) for peer in (0, 2)]
        one.waitall(requests, 1100, 5200)
        for rank in (zero, two):
            rank.to(1, 8, 5000, 5100)
        self.assertEqual(self.waits(zero, one, two), [{}, {}, {}])

    def test_late_receiver(self):
        zero, one = ranks(2)
        zero.to(1, 100000, 1000, 5500)
        one.take(0, 100000, 5000, 5600)
        self.assertEqual(self.waits(zero, one), [{"late_receiver": [1, 4000]}, {}])

    def test_a_buffered_send_waits_for_nobody(self):
        zero, one = ranks(2)
        zero.to(1, 8, 1000, 1100)
        one.take(0, 8, 5000, 5100)
        self.assertEqual(self.waits(zero, one), [{}, {}])

    def test_a_late_rank_in_barriers(self):
        three = ranks(3)
        for n in range(10):
            at = 1000000 * (n + 1)
            for rank in three:
                rank.all("MPI_Barrier", at + (500000 if rank.rank == 1 else 10 * rank.rank), at + 500100, size=0)
        found = self.waits(*three)
        self.assertEqual(found, [{"wait_at_barrier": [10, 5000000]}, {}, {"wait_at_barrier": [10, 4999800]}])
        self.assertEqual([(rank["caused"], rank["last"]) for rank in self.shown["waits"]["ranks"]],
                         [(0, 0), (9999800, 10), (0, 0)])

    def test_nxn(self):
        two = ranks(2)
        two[0].all("MPI_Allreduce", 1000, 3000)
        two[1].all("MPI_Allreduce", 2500, 3000)
        two[0].all("MPI_Alltoall", 4000, 4010, size=0)
        two[1].all("MPI_Alltoall", 5000, 5010, size=0)
        self.assertEqual(self.waits(*two), [{"wait_at_nxn": [1, 1500]}, {}])

    def test_late_broadcast(self):
        three = ranks(3)
        for rank, start in zip(three, (3000, 1000, 2000)):
            rank.all("MPI_Bcast", start, 3500, root=0)
        self.assertEqual(self.waits(*three), [{}, {"late_broadcast": [1, 2000]}, {"late_broadcast": [1, 1000]}])

    def test_early_reduce(self):
        three = ranks(3)
        for rank, start in zip(three, (1000, 4000, 3000)):
            rank.all("MPI_Reduce", start, 4500, root=0)
        self.assertEqual(self.waits(*three), [{"early_reduce": [1, 2000]}, {}, {}])

    def test_a_collective_that_not_all_recorded_is_not_judged(self):
        zero, one = Rank(0, 3), Rank(1, 3)
        zero.all("MPI_Barrier", 1000, 9000)
        one.all("MPI_Barrier", 8000, 9000)
        self.assertEqual(self.waits(zero, one), [{}, {}])
        self.assertEqual(self.shown["waits"]["instances"], 0)

    def test_nonblocking_ones_are_no_waits(self):
        zero, one = ranks(2)
        for rank, start in ((zero, 1000), (one, 5000)):
            rank.all("MPI_Ibarrier", start, start + 10, flags=w.REQUEST, request=rank.start())
        self.assertEqual(self.waits(zero, one), [{}, {}])


if __name__ == "__main__":
    main()
