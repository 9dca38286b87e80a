# SPDX-License-Identifier: BSD-3-Clause
"""Size classes of pairs, half round trips and rates: the figures of docs/metrics.md, "Reached"."""

from show import ShowTest, b, main, w

KIB = 1024


class Speed(ShowTest):
    def speeds(self, *processes):
        self.shown = self.show(*processes)
        return {(one["src"], one["dst"]): one for one in self.shown["speeds"]}

    def ranks(self, count=2):
        return [b.Process(number, count).world() for number in range(count)]

    def ping_pong(self, zero, one, rounds, size=8, trip=2000, start=10000):
        """Rank 0 asks, rank 1 answers; the clock of rank 1 is elsewhere."""
        for n in range(rounds):
            at = start + 10 * trip * n
            zero.send(1, size, at, at + 10)
            zero.recv(1, size, at + 20, at + trip)
            one.recv(0, size, at + 7000, at + 7500)
            one.send(0, size, at + 7600, at + 7700)

    def test_ping_pong(self):
        zero, one = self.ranks()
        self.ping_pong(zero, one, 100)
        speeds = self.speeds(zero, one)
        forth, back = speeds[0, 1], speeds[1, 0]
        self.assertEqual((forth["half_min"], forth["half_samples"], forth["half_unsure"]), (1000, 100, 0))
        self.assertLess(abs(forth["half_median"] - 1000), 1000 / 32 + 1)
        # from rank 1's send to its next receive a whole period passes
        self.assertEqual((back["half_samples"], back["half_min"]), (99, (20000 - 7600 + 7500) // 2))

    def test_the_median(self):
        zero, one = self.ranks()
        for n, trip in enumerate([1000] * 40 + [3000] * 61):
            self.ping_pong(zero, one, 1, trip=trip, start=100000 * (n + 1))
        forth = self.speeds(zero, one)[0, 1]
        self.assertEqual((forth["half_samples"], forth["half_min"]), (101, 500))
        self.assertLess(abs(forth["half_median"] - 1500), 1500 / 32 + 1)

    def test_messages_that_cross_are_no_round_trip(self):
        zero, one = self.ranks()
        for n in range(10):
            at = 10000 + 1000 * n
            for rank in (zero, one):
                rank.send(1 - rank.rank, 8, at, at + 10)
                rank.recv(1 - rank.rank, 8, at + 20, at + 40)
        speeds = self.speeds(zero, one)
        for pair in ((0, 1), (1, 0)):
            self.assertEqual(speeds[pair]["half_samples"], 0)
        # one side could still be right (its peer might always have had one message more): not sure, not shown
        self.assertEqual(speeds[0, 1]["half_unsure"], 10)

    def test_what_is_no_round_trip(self):
        zero, one = self.ranks()
        zero.send(1, 65, 10000, 10010)     # too large
        zero.recv(1, 8, 10020, 10040)
        zero.send(1, 8, 20000, 20010)
        zero.recv(1, 65, 20020, 20040)     # too large
        zero.send(1, 8, 30000, 30010)
        zero.coll("MPI_Barrier", 30020, 30030, 0)
        zero.recv(1, 8, 30040, 30050)
        zero.send(1, 8, 40000, 40010)
        zero.send(1, 8, 40020, 40030)      # two questions
        zero.recv(1, 8, 40040, 40050)      # answers the second
        for at in (10005, 20005, 30005, 40025, 40028):
            one.recv(0, 8, at, at + 1)
        for at in (10015, 20015, 30035, 40035):
            one.send(0, 8, at, at + 1)
        one.threads[0].sort(key=lambda item: item["start"])
        forth = self.speeds(zero, one)[0, 1]
        self.assertEqual(forth["half_samples"] + forth["half_unsure"], 1)

    def test_a_peer_that_was_not_recorded_confirms_nothing(self):
        zero, one = self.ranks()
        self.ping_pong(zero, one, 10)
        forth = self.speeds(zero)[0, 1]
        self.assertEqual((forth["half_samples"], forth["half_unsure"]), (0, 10))

    def test_rate(self):
        zero, one = self.ranks()
        one.recv(0, 256 * KIB, 1000, 2000)
        one.recv(0, 1024 * KIB, 5000, 6500)
        one.recv(0, 256 * KIB - 1, 7000, 9000)  # too small
        one.recv(0, 512 * KIB, 9000, 9500, flags=0)  # its size is not known
        for at in (1000, 5000, 7000, 9000):
            zero.send(1, 256 * KIB, at, at + 10)  # more large ones than there are receives for
        forth = self.speeds(zero, one)[0, 1]
        self.assertEqual((forth["rate_bytes"], forth["rate_time"], forth["rate_samples"]),
                         (1280 * KIB, 3000, 2))  # the time of all counts

    def test_sizes_that_only_the_sender_knows(self):
        zero, one = self.ranks()
        for n in range(3):  # MPI_STATUS_IGNORE, room for more than comes, and once for much more
            one.recv(0, 1024 * KIB, 1000 * n + 1000, 1000 * n + 1500, flags=0)
        zero.send(1, 300 * KIB, 1000, 1010)
        zero.send(1, 400 * KIB, 2000, 2010)
        zero.send(1, 8, 3000, 3010)
        forth = self.speeds(zero, one)[0, 1]
        self.assertEqual((forth["rate_bytes"], forth["rate_time"], forth["rate_samples"]),
                         (700 * KIB, 1500, 2))
        self.assertEqual(self.speeds(one), {})

    def test_receives_that_overlap_count_their_time_once(self):
        zero, one = self.ranks()
        requests = []
        for n in range(4):
            requests.append(one.start())
            one.recv(0, 300 * KIB, 1000 + 100 * n, 1010 + 100 * n, name="MPI_Irecv",
                     flags=w.REQUEST, request=requests[-1])
        for n, request in enumerate(requests):
            one.done(request, name="MPI_Wait", flags=w.STATUS, bytes_in=300 * KIB,
                     start=2000 + 1000 * n, end=2500 + 1000 * n)
        last = one.start()
        one.recv(0, 300 * KIB, 8000, 8010, name="MPI_Irecv", flags=w.REQUEST, request=last)
        one.done(last, name="MPI_Wait", flags=w.STATUS, bytes_in=300 * KIB, start=8500, end=9000)
        forth = self.speeds(zero, one)[0, 1]
        self.assertEqual((forth["rate_bytes"], forth["rate_time"], forth["rate_samples"]),
                         (1500 * KIB, 5500 - 1000 + 1000, 5))

    def test_many_stretches(self):
        zero, one = self.ranks()
        for n in range(50):
            one.recv(0, 256 * KIB, 1000 + 1000 * n, 1400 + 1000 * n)
        forth = self.speeds(zero, one)[0, 1]
        self.assertEqual((forth["rate_time"], forth["rate_samples"]), (50 * 400, 50))

    def test_classes(self):
        zero, one = self.ranks()
        for size in (0, 1, 8, 15, 15, 1 << 20):
            zero.send(1, size, 1000, 1010)
            one.recv(0, size, 1000, 1010)  # the sender counts
        one.send(1, 3, 2000, 2010)
        cancelled = zero.start()
        zero.send(1, 70, 2200, 2300, name="MPI_Isend", flags=w.REQUEST, request=cancelled)
        zero.done(cancelled, name="MPI_Wait", flags=w.CANCELLED, start=2400, end=2500)
        self.speeds(zero, one)
        self.assertEqual(self.shown["classes"], [
            [0, 1, 0, 1, 0], [0, 1, 1, 1, 1], [0, 1, 4, 3, 38], [0, 1, 21, 1, 1 << 20], [1, 1, 2, 1, 3]])

    def test_classes_of_a_sender_that_was_not_recorded(self):
        one = b.Process(1, 2).world()
        one.recv(0, 100, 1000, 1010)
        self.speeds(one)
        self.assertEqual(self.shown["classes"], [[0, 1, 7, 1, 100]])


if __name__ == "__main__":
    main()
