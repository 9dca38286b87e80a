# SPDX-License-Identifier: BSD-3-Clause
"""How fast messages were: the figures of docs/metrics.md, "Speeds" and "Collectives' bandwidth"."""

import json
import os
import subprocess

from show import ShowTest, b, main, w
from counted import ranks

SHOW = os.environ.get("MW_TEST_SHOW_SPEEDS", "show_speeds")
WARM = 4
KIB, SECOND = 1024, 1000000000


class ExchangeTest(ShowTest):
    def exchange(self, *processes):
        path = b.write(os.path.join(self.folder, "job.mpiw"), b.job(), *processes)
        done = subprocess.run([SHOW, path], stdout=subprocess.PIPE, timeout=100, check=False)
        self.assertEqual(done.returncode, 0)
        self.shown = json.loads(done.stdout)
        self.speeds = {(s["src"], s["dst"], s["class"]): s for s in self.shown["speeds"]}
        return self.shown


class Speeds(ExchangeTest):
    def assert_speed(self, key, **expected):
        found = self.speeds[key]
        self.assertEqual({name: found[name] for name in expected}, expected)

    def warm_up(self, zero, one, size=1000, at=2000, count=WARM):
        """The first messages of the pair and size class, whatever they take."""
        for n in range(count):
            one.take(0, size, at + 100 * n, at + 100 * n + 80)
            zero.to(1, size, at + 100 * n + 10, at + 100 * n + 90)

    def test_warm_up_is_apart(self):
        zero, one = ranks(2)
        self.warm_up(zero, one)
        self.exchange(zero, one)
        self.assert_speed((0, 1, 10), messages=0, certain=0, warm_messages=4, warm=[4000, 4 * 70], in_flight=[0, 0],
                          throughput=[4000, 370])

    def test_receives_that_were_there_first(self):
        zero, one = ranks(2)
        self.warm_up(zero, one)
        for n in range(20):
            at = 10000 + 1000 * n
            one.take(0, 1000, at, at + 600)
            zero.to(1, 1000, at + 200, at + 500)
        self.exchange(zero, one)
        self.assert_speed((0, 1, 10), messages=20, bytes=20000, certain=20, bounded=0, in_flight=[20000, 20 * 400],
                          at_least=[20000, 20 * 400], bursts=1, throughput=[24000, 29400 - 2010 + 200],
                          best=[16000, 15 * 1000 + 400], latencies=20, min=400, error=0.0)
        self.assertLess(abs(self.speeds[0, 1, 10]["median"] - 400), 400 / 32 + 1)

    def test_a_send_that_waited_for_its_receiver(self):
        zero, one = ranks(2)
        self.warm_up(zero, one)
        zero.to(1, 1000, 10000, 30400)  # a rendezvous
        one.take(0, 1000, 30000, 30500)
        self.exchange(zero, one)
        self.assert_speed((0, 1, 10), certain=1, in_flight=[1000, 500], latencies=0)

    def test_a_send_that_was_buffered_gives_a_bound(self):
        zero, one = ranks(2)
        self.warm_up(zero, one)
        zero.to(1, 1000, 10000, 10100)
        one.take(0, 1000, 30000, 30100)
        self.exchange(zero, one)
        self.assert_speed((0, 1, 10), certain=0, bounded=1, in_flight=[0, 0], at_least=[1000, 20100], latencies=0)

    def test_a_completion_that_was_looked_at_late_gives_a_bound(self):
        zero, one = ranks(2)
        self.warm_up(zero, one)
        posted = one.irecv(0, 1000, 9000, 9010)
        zero.to(1, 1000, 10000, 10100)
        one.wait(posted, 50000, 50010, flags=w.STATUS, bytes_in=1000)
        self.exchange(zero, one)
        self.assert_speed((0, 1, 10), certain=0, bounded=1, at_least=[1000, 40010])

    def test_a_wait_that_blocked(self):
        zero, one = ranks(2)
        self.warm_up(zero, one)
        posted = one.irecv(0, 1000, 9000, 9010)
        zero.to(1, 1000, 10000, 10100)
        one.wait(posted, 9500, 11000, flags=w.STATUS, bytes_in=1000)
        self.exchange(zero, one)
        self.assert_speed((0, 1, 10), certain=1, in_flight=[1000, 1000], latencies=1)

    def test_windows_of_one_waitall(self):
        """As osu_bw: the first messages are sent before the receiver has posted all and waits."""
        zero, one = ranks(2)
        self.warm_up(zero, one)
        for window in range(3):
            at = 100000 * (window + 1)
            posted = [one.irecv(0, 1000, at + 100 * n, at + 100 * n + 50) for n in range(8)]
            one.waitall(posted, at + 900, at + 20000, size=1000)
            sent = [zero.isend(1, 1000, at + 120 + 200 * n, at + 130 + 200 * n) for n in range(8)]
            zero.waitall(sent, at + 2000, at + 19000, size=1000)
        self.exchange(zero, one)
        self.assert_speed((0, 1, 10), messages=24, certain=24, latencies=0,
                          in_flight=[24000, 3 * (20000 - 120)], bursts=1,
                          throughput=[28000, 320000 - 2010])

    def test_what_recording_took_is_not_the_programs_time(self):
        """Messages last until the program goes on; what lies before that is no time outside MPI."""
        zero, one = ranks(2)
        self.warm_up(zero, one)
        for window in range(3):
            at = SECOND * (window + 1) // 10
            posted = [one.irecv(0, 1000, at + 100 * n, at + 100 * n + 50) for n in range(8)]
            one.waitall(posted, at + 900, at + 20000, size=1000, held=90000000)
            sent = [zero.isend(1, 1000, at + 120 + 200 * n, at + 130 + 200 * n) for n in range(8)]
            zero.waitall(sent, at + 2000, at + 19000, size=1000, held=90000000)
        self.exchange(zero, one)
        self.assert_speed((0, 1, 10), messages=24, certain=24, in_flight=[24000, 3 * (90020000 - 120)], bursts=1,
                          throughput=[28000, 390020000 - 2010])

    def test_a_call_that_claims_to_have_been_held_up_for_ever(self):
        for held in (-1, (1 << 63) - 1, -(1 << 63)):
            zero, one = ranks(2)
            self.warm_up(zero, one)
            posted = [one.irecv(0, 1000, 10000 + n, 10001 + n) for n in range(8)]
            sent = [zero.isend(1, 1000, 20000 + n, 20001 + n) for n in range(8)]
            zero.waitall(sent, 20100, 20500, size=1000)
            one.waitall(posted, 11000, 21000, size=1000, held=held)
            shown = self.exchange(zero, one)
            self.assertEqual(shown["violations"], 0)

    def test_what_was_completed_with_the_warm_up_is_warm_up(self):
        """Their times are one: without some of its messages the window would seem slow."""
        zero, one = ranks(2)
        for window in range(3):
            at = 100000 * (window + 1)
            posted = [one.irecv(0, 1000, at + 10 * n, at + 10 * n + 5) for n in range(8)]
            one.waitall(posted, at + 90, at + 20000, size=1000)
            sent = [zero.isend(1, 1000, at + 120 + 200 * n, at + 130 + 200 * n) for n in range(8)]
            zero.waitall(sent, at + 2000, at + 19000, size=1000)
        self.exchange(zero, one)
        self.assert_speed((0, 1, 10), warm_messages=8, warm=[8000, 20000 - 120], messages=16, certain=16,
                          in_flight=[16000, 2 * (20000 - 120)])

    def test_a_waitall_over_several_ranks_gives_bounds(self):
        zero, one, two = ranks(3)
        for n in range(WARM + 3):
            at = 10000 * (n + 1)
            posted = [zero.irecv(peer, 1000, at, at + 10) for peer in (1, 2)]
            zero.waitall(posted, at + 20, at + 1000, size=1000)
            for rank in (one, two):
                rank.to(0, 1000, at + 100, at + 200)
        self.exchange(zero, one, two)
        for sender in (1, 2):
            self.assert_speed((sender, 0, 10), certain=0, bounded=3, at_least=[3000, 3 * 900])

    def test_compute_between_post_and_wait_is_no_slow_pair(self):
        zero, one = ranks(2)
        for n in range(WARM + 10):
            at = 100000 * (n + 1)
            for mine, other in ((zero, 1), (one, 0)):
                posted = mine.irecv(other, 100000, at, at + 10)
                sent = mine.isend(other, 100000, at + 20, at + 30)
                mine.waitall([posted, sent], at + 50000, at + 50010, size=100000)
        self.exchange(zero, one)
        self.assert_speed((0, 1, 17), certain=0, bounded=10)

    def test_messages_that_overlap_count_their_time_once(self):
        zero, one = ranks(2)
        self.warm_up(zero, one)
        posted = [one.irecv(0, 1000, 10000 + n, 10001 + n) for n in range(3)]
        for n in range(3):
            zero.to(1, 1000, 20000 + 100 * n, 20050 + 100 * n)
        for n, request in enumerate(posted):
            one.wait(request, 11000 + (n > 0) * (9500 + 200 * n), 20600 + 200 * n, flags=w.STATUS, bytes_in=1000)
        self.exchange(zero, one)
        self.assert_speed((0, 1, 10), at_least=[3000, 1000])

    def test_a_pause_ends_a_burst(self):
        zero, one = ranks(2)
        self.warm_up(zero, one)
        for n in range(4):
            at = SECOND + (n // 2) * SECOND + (n % 2) * 1000
            one.take(0, 1000, at, at + 600)
            zero.to(1, 1000, at + 200, at + 500)
        self.exchange(zero, one)
        self.assert_speed((0, 1, 10), bursts=3, throughput=[8000, 370 + 2 * 1400])

    def test_a_barrier_of_both_ends_a_burst(self):
        """As a benchmark's turns that it does not count end; one that only one of them enters ends nothing."""
        zero, one, two = ranks(3)
        self.warm_up(zero, one)
        for n in range(6):
            at = 10000 * (n + 1)
            one.take(0, 1000, at, at + 600)
            zero.to(1, 1000, at + 200, at + 500)
            for rank in {0: (zero, one, two), 3: (zero,)}.get(n, ()):
                rank.all("MPI_Barrier", at + 1000, at + 1100, size=0)
        self.exchange(zero, one, two)
        self.assert_speed((0, 1, 10), bursts=2, throughput=[10000, 10600 - 2010 + 40400], largest=[5000, 40400])

    def test_an_answer_is_its_bursts(self):
        """The first message back that was sent when all was there; one sent before is none, a second one is not it."""
        zero, one = ranks(2)
        zero.take(1, 1, 1000, 2700)
        one.to(0, 1, 2100, 2110)
        self.warm_up(zero, one)
        for at in (3000, 4000):
            zero.take(1, 1, at - 100, at + 20)
            one.to(0, 1, at, at + 10)
        self.exchange(zero, one)
        self.assert_speed((0, 1, 10), bursts=1, throughput=[4000, 3020 - 2010])
        self.assert_speed((1, 0, 1), bursts=1)

    def test_what_comes_back_after_a_pause_or_a_barrier_is_no_answer(self):
        for later, barrier in ((SECOND, 0), (3000, 1)):
            zero, one = ranks(2)
            self.warm_up(zero, one)
            for rank in (zero, one) if barrier else ():
                rank.all("MPI_Barrier", 2500, 2600, size=0)
            zero.take(1, 1, later - 100, later + 20)
            one.to(0, 1, later, later + 10)
            self.exchange(zero, one)
            self.assert_speed((0, 1, 10), bursts=1, throughput=[4000, 370])

    def test_slow_certain_samples_beside_fast_others(self):
        """What all messages reached at least says more than the few of which somebody waited for each."""
        zero, one = ranks(2)
        self.warm_up(zero, one)
        one.take(0, 1000, 10000, 60000)
        zero.to(1, 1000, 11000, 60000)
        for n in range(20):
            at = 100000 + 1000 * n
            zero.to(1, 1000, at, at + 10)
            one.take(0, 1000, at + 100, at + 150)
        self.exchange(zero, one)
        self.assert_speed((0, 1, 10), certain=1, bounded=20, in_flight=[1000, 49000], at_least=[21000, 49000 + 20 * 150],
                          shown=[403846153, 1])

    def test_waiting_in_mpi_is_no_pause(self):
        """A rank that is kept in a call, by another or by the machine, has not paused."""
        zero, one = ranks(2)
        self.warm_up(zero, one)
        for n in range(2):
            at = SECOND + n * SECOND
            one.take(0, 1000, at - 999000000, at + 600)
            zero.to(1, 1000, at + 200, at + 500)
            zero.call("MPI_Probe", at + 600, at + SECOND - 100)
        self.exchange(zero, one)
        self.assert_speed((0, 1, 10), bursts=2, throughput=[6000, 370 + SECOND + 400])

    def test_slices(self):
        zero, one = ranks(2)
        self.warm_up(zero, one)
        for at in (2 * SECOND, 8 * SECOND, 8 * SECOND + 1000):
            one.take(0, 1000, at, at + 600)
            zero.to(1, 1000, at + 200, at + 500)
        self.exchange(zero, one)
        slices = self.speeds[0, 1, 10]["slices"]
        self.assertEqual({n: s for n, s in enumerate(slices) if s[0]}, {3: [1000, 400], 12: [2000, 800]})

    def test_nodes(self):
        four = ranks(4)
        for n in range(WARM + 5):
            at = 10000 * (n + 1)
            for src, dst in ((0, 1), (2, 3)):
                four[dst].take(src, 1000, at, at + 1000)
                four[src].to(dst, 1000, at + 500 + 100 * src, at + 600 + 100 * src)
        self.exchange(*four)
        # all messages: 500 ns of each of the one pair, 300 ns of the other, at the same time
        self.assertEqual(self.shown["nodes"], [[0, 0, 18, 18000, 9 * 500, 9 * 800]])

    def test_clocks_that_nothing_ties(self):
        zero, one = ranks(2, hosts=["node1", "node2"])
        zero.to(1, 8, 1000, 1010)
        one.take(0, 8, 1000, 1020)
        self.exchange(zero, one)
        self.assertEqual((self.shown["unsynchronised"], self.shown["speeds"]), (1, []))

    def test_received_before_it_was_sent(self):
        zero, one = ranks(2)
        zero.to(1, 8, 2000, 2010)
        one.take(0, 8, 1000, 1020)
        self.exchange(zero, one)
        self.assertEqual((self.shown["violations"], self.shown["speeds"]), (1, []))

    def test_a_clock_that_is_wrong_gives_the_same_speeds(self):
        """Rank 1's node is three hours ahead, by CLOCK_REALTIME too."""
        hours = 3 * 3600 * SECOND
        shown = []
        for ahead in (0, hours):
            zero, one = ranks(2, hosts=["node1", "node2"])
            one.clocks = (ahead, ahead + 10 * SECOND)
            for n in range(WARM + 50):
                at = SECOND + 100000 * n
                one.take(0, 1000, ahead + at, ahead + at + 50600)
                zero.to(1, 1000, at + 200, at + 500)
                one.to(0, 1000, ahead + at + 51000, ahead + at + 51100)
                zero.take(1, 1000, at + 600, at + 51500)
            self.exchange(zero, one)
            shown.append(self.speeds)
        for key in ((0, 1, 10), (1, 0, 10)):
            for name in ("messages", "bursts", "certain"):
                self.assertEqual(shown[0][key][name], shown[1][key][name])
            for name in ("in_flight", "throughput"):
                self.assertLess(abs(shown[0][key][name][1] - shown[1][key][name][1]), 60)


class Accesses(ExchangeTest):
    def accesses(self, *ranks_):
        self.exchange(*ranks_)
        return {(s["src"], s["dst"], s["class"]): s for s in self.shown["accesses"]}

    def assert_access(self, found, **expected):
        self.assertEqual({name: found[name] for name in expected}, expected)

    def test_until_the_flush(self):
        """From the access to the end of the flush, which came at once: certain. Others to the same window go on."""
        zero, one, two = ranks(3)
        for n in range(WARM + 5):
            at = 10000 * (n + 1)
            zero.access("MPI_Put", 1, at, at + 1000, out=4096)
            zero.window("MPI_Win_flush", at + 1010, at + 2000, peer=1)
            zero.access("MPI_Put", 2, at + 3000, at + 3100, out=4096)
        zero.window("MPI_Win_flush_all", 200000, 200500)
        found = self.accesses(zero, one, two)
        self.assertEqual(sorted(found), [(0, 1, 13), (0, 2, 13)])
        self.assert_access(found[0, 1, 13], messages=5, certain=5, in_flight=[5 * 4096, 5 * 2000],
                           at_least=[5 * 4096, 5 * 2000], throughput=[9 * 4096, 82000], warm_messages=4)
        # the warm-up is what one call completed together: all
        self.assert_access(found[0, 2, 13], messages=0, warm_messages=9, throughput=[9 * 4096, 200500 - 13000])

    def test_late_completions_give_bounds(self):
        """Computation, a collective and the lock of others between access and completion."""
        zero, one = ranks(2)
        for n in range(WARM + 6):
            at = 10000 * (n + 1)
            zero.access("MPI_Get", 1, at, at + 100, back=4096)
            if n % 3 == 0:
                zero.window("MPI_Win_flush", at + 1000, at + 2000, peer=1)
            elif n % 3 == 1:
                zero.all("MPI_Barrier", at + 100, at + 1000, size=0)
                zero.window("MPI_Win_flush", at + 1000, at + 2000, peer=1)
            else:
                zero.window("MPI_Win_unlock", at + 100, at + 2000, peer=1)
        found = self.accesses(zero, one)
        self.assertEqual(sorted(found), [(1, 0, 13)])
        self.assert_access(found[1, 0, 13], messages=6, certain=0, bounded=6, at_least=[6 * 4096, 6 * 2000])

    def test_what_is_complete_after_what(self):
        """A local flush leaves what was sent on its way; a fence ends all of its window, of both ways."""
        zero, one = ranks(2)
        zero.access("MPI_Put", 1, 1000, 1100, out=4096)
        zero.access("MPI_Get", 1, 1100, 1200, back=4096)
        zero.access("MPI_Get", 1, 1200, 1300, back=4096, window=1)
        zero.window("MPI_Win_flush_local", 1300, 2000, peer=1)
        zero.access("MPI_Get_accumulate", 1, 3000, 3100, out=4096, back=4096)
        zero.window("MPI_Win_lock", 3100, 3200, peer=1)
        zero.window("MPI_Win_fence", 4000, 5000)
        found = self.accesses(zero, one)
        self.assert_access(found[1, 0, 13], warm=[2 * 4096, 900 + 2000])
        self.assert_access(found[0, 1, 13], warm=[2 * 4096, 4000])

    def test_requests(self):
        """What only fetches is there when its request is; of what is sent a flush tells."""
        zero, one = ranks(2)
        for n in range(WARM + 3):
            at = 10000 * (n + 1)
            fetch, put = zero.start(), zero.start()
            zero.access("MPI_Rget", 1, at, at + 10, back=4096, flags=w.REQUEST, request=fetch)
            zero.wait(fetch, at + 10, at + 1000)
            zero.access("MPI_Rput", 1, at + 2000, at + 2010, out=4096, flags=w.REQUEST, request=put)
            zero.wait(put, at + 2010, at + 2500)
            zero.window("MPI_Win_flush", at + 2500, at + 4000, peer=1)
        found = self.accesses(zero, one)
        self.assert_access(found[1, 0, 13], messages=3, certain=3, in_flight=[3 * 4096, 3 * 1000])
        self.assert_access(found[0, 1, 13], messages=3, at_least=[3 * 4096, 3 * 2000])

    def test_errors_and_nobody(self):
        zero, one = ranks(2)
        zero.access("MPI_Put", 1, 1000, 1100, out=4096, flags=w.ERROR)
        zero.access("MPI_Put", -2, 1100, 1200, out=4096)
        zero.access("MPI_Put", 1, 1200, 1300, out=4096)  # and never completed
        self.assertEqual(self.accesses(zero, one), {})


class Collectives(ExchangeTest):
    def test_bandwidths(self):
        four = ranks(4)
        for n, rank in enumerate(four):
            rank.all("MPI_Allreduce", 1000 + 10 * n, 2000 + 10 * n, size=4096)  # 1030 to 2030
            rank.all("MPI_Allreduce", 3000, 3500 + n, size=4096)
            rank.all("MPI_Bcast", 4000 + n, 5003, size=800, root=0)
            rank.all("MPI_Barrier", 6000, 6100, size=0)
        self.exchange(*four)
        self.assertEqual(self.shown["collectives"], [
            ["MPI_Allreduce", 13, 2, 4, [8192, 1503], 1.5, 503],
            ["MPI_Bcast", 10, 1, 4, [800, 1000], 1.0, 1000]])


if __name__ == "__main__":
    main()
