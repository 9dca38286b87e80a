# SPDX-License-Identifier: BSD-3-Clause
"""Which send meets which receive, and the members of collectives: docs/metrics.md, "Matching"."""

import json
import os
import subprocess

from show import ShowTest, b, main, w
from counted import Rank, ranks

SHOW = os.environ.get("MW_TEST_SHOW_MATCHING", "show_matching")


class MatchTest(ShowTest):
    def match(self, *processes):
        path = b.write(os.path.join(self.folder, "job.mpiw"), b.job(), *processes)
        done = subprocess.run([SHOW, path], stdout=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual(done.returncode, 0)
        self.shown = json.loads(done.stdout)
        self.counts = self.shown["counts"]
        return self.shown["messages"]

    def pairs(self, *processes):
        """(bytes, start of the send, start of the receive) of each message, by bytes."""
        return sorted((m["bytes"], m["send"]["start"], m["recv"]["start"])
                      for m in self.match(*processes))

    def assert_counts(self, **expected):
        names = ("messages", "sends", "receives", "unfinished", "outside", "uncounted", "ambiguous")
        found = {name: self.counts[name] for name in names if self.counts[name]}
        self.assertEqual(found, expected)


class Matching(MatchTest):
    def test_blocking(self):
        zero, one = ranks(2)
        zero.to(1, 8, 1000, 1010)
        zero.to(1, 16, 1100, 1400)
        one.take(0, 8, 1200, 1210)
        one.take(0, 16, 1300, 1390)
        first, second = self.match(zero, one)
        self.assertEqual((first["bytes"], first["send"]["start"], first["recv"]["start"]), (8, 1000, 1200))
        self.assertEqual(second["send"], {"rank": 0, "start": 1100, "wait": 1100, "done": 1400, "flags": 3,
                                          "mates": 1, "site": 0, "outside": 90})
        self.assertEqual(second["recv"]["done"], 1390)
        self.assertEqual(second["error"], 0)
        self.assert_counts(messages=2)

    def test_tags_and_directions_are_apart(self):
        zero, one = ranks(2)
        zero.to(1, 1, 1000, 1010, tag=7)
        zero.to(1, 2, 1020, 1030, tag=8)
        one.take(0, 2, 1040, 1050, tag=8)
        one.take(0, 1, 1060, 1070, tag=7)
        one.to(0, 3, 1080, 1090, tag=7)
        zero.take(1, 3, 1040, 1100, tag=7)
        self.assertEqual(self.pairs(zero, one), [(1, 1000, 1060), (2, 1020, 1040), (3, 1080, 1040)])
        self.assert_counts(messages=3)

    def test_nonblocking(self):
        zero, one = ranks(2)
        requests = [zero.isend(1, 10 + n, 1000 + 10 * n, 1005 + 10 * n) for n in range(3)]
        zero.waitall(requests, 1100, 1200)
        posted = [one.irecv(0, 100, 900 + 10 * n, 905 + 10 * n) for n in range(3)]
        one.waitall(posted, 950, 1190)
        found = self.match(zero, one)
        self.assertEqual([(m["bytes"], m["recv"]["start"]) for m in found], [(10, 900), (11, 910), (12, 920)])
        for message in found:
            self.assertEqual((message["recv"]["wait"], message["recv"]["done"], message["recv"]["flags"],
                              message["recv"]["mates"]), (950, 1190, 2, 3))
        self.assert_counts(messages=3)

    def test_several_ranks_in_one_waitall(self):
        zero, one, two = ranks(3)
        one.to(0, 1, 1000, 1010)
        two.to(0, 2, 1000, 1010)
        posted = [zero.irecv(n, 100, 900 + n, 902 + n) for n in (1, 2)]
        zero.waitall(posted, 950, 1190)
        self.assertEqual([m["recv"]["flags"] for m in self.match(zero, one, two)], [0, 0])

    def test_messages_after_an_interval_that_was_not_recorded(self):
        zero, one = ranks(2)
        zero.to(1, 1, 1000, 1010)
        zero.skip("send", 1, 5)
        zero.to(1, 7, 3000, 3010)
        one.take(0, 1, 1020, 1030)
        one.take(0, 2, 2020, 2030)  # the receiver went on recording for one more
        one.skip("recv", 0, 4)
        one.take(0, 7, 3020, 3030)
        self.assertEqual(self.pairs(zero, one), [(1, 1000, 1020), (7, 3000, 3020)])
        self.assert_counts(messages=2, receives=1)

    def test_wildcards(self):
        zero, one, two = ranks(3)
        one.to(0, 1, 1000, 1010)
        two.to(0, 2, 1000, 1010, tag=6)
        first = zero.any(900, 905)
        second = zero.any(910, 915, any_tag=True)
        zero.matched(second, 2, 2, 950, 1020, tag=6)
        zero.matched(first, 1, 1, 1030, 1040)
        self.assertEqual(self.pairs(zero, one, two), [(1, 1000, 900), (2, 1000, 910)])
        self.assert_counts(messages=2)

    def test_posted_order_of_wildcards_and_others(self):
        """The wildcard was posted first, so it took the first message, although it was looked at last."""
        zero, one = ranks(2)
        for n in range(3):
            zero.to(1, n, 1000 + 10 * n, 1005 + 10 * n)
        wild = one.any(900, 905)
        posted = [one.irecv(0, 100, 910 + 10 * n, 915 + 10 * n) for n in range(2)]
        one.waitall(posted, 1100, 1110)
        one.matched(wild, 0, 0, 1120, 1130)
        self.assertEqual(self.pairs(zero, one), [(0, 1000, 900), (1, 1010, 910), (2, 1020, 920)])
        self.assert_counts(messages=3)

    def test_wildcards_that_complete_in_another_order(self):
        zero, one = ranks(2)
        for n in range(2):
            zero.to(1, n, 1000 + 10 * n, 1005 + 10 * n)
        first, second = one.any(900, 905), one.any(910, 915)
        one.matched(second, 0, 1, 1100, 1110)
        one.matched(first, 0, 0, 1120, 1130)
        self.assertEqual(self.pairs(zero, one), [(0, 1000, 900), (1, 1010, 910)])
        self.assert_counts(messages=2)

    def test_a_wildcard_that_is_never_matched_holds_up_no_other_tag(self):
        zero, one = ranks(2)
        one.any(800, 805, tag=99)
        for n in range(10):
            zero.to(1, n, 1000 + 10 * n, 1005 + 10 * n)
            one.take(0, n, 2000 + 10 * n, 2005 + 10 * n)
        self.assertEqual(len(self.match(zero, one)), 10)
        self.assert_counts(messages=10, receives=1)

    def test_cancelled(self):
        zero, one = ranks(2)
        cancelled = one.irecv(0, 100, 900, 905)
        one.wait(cancelled, 910, 920, flags=w.CANCELLED)
        one.take(0, 1, 930, 1010)
        gone = zero.any(900, 905)
        zero.wait(gone, 910, 920, flags=w.CANCELLED)
        zero.to(1, 1, 1000, 1010)
        self.assertEqual(self.pairs(zero, one), [(1, 1000, 930)])
        self.assert_counts(messages=1)

    def test_cancelled_when_others_wait_behind_it(self):
        zero, one = ranks(2)
        cancelled = one.irecv(0, 100, 900, 905)
        kept = one.irecv(0, 100, 910, 915)
        zero.to(1, 1, 1000, 1010)  # seems to be for the first one
        one.wait(cancelled, 1100, 1110, flags=w.CANCELLED)
        one.wait(kept, 1120, 1130, flags=w.STATUS, bytes_in=1)
        self.assertEqual(self.pairs(zero, one), [(1, 1000, 910)])
        self.assert_counts(messages=1)

    def test_sendrecv(self):
        zero, one = ranks(2)
        for mine, peer in ((zero, 1), (one, 0)):
            mine.to(peer, 4 + peer, 0, 0, flags=w.PART, name="MPI_Sendrecv")
            mine.take(peer, 9, 1000, 1100, name="MPI_Sendrecv")
        self.assertEqual(self.pairs(zero, one), [(4, 1000, 1000), (5, 1000, 1000)])
        self.assertEqual([m["send"]["flags"] for m in self.shown["messages"]], [0, 0])

    def test_isendrecv_does_not_tell_when_the_send_ends(self):
        zero, one = ranks(2)
        request = zero.start()
        zero.to(1, 4, 0, 0, flags=w.PART, name="MPI_Isendrecv")
        zero.take(1, 9, 1000, 1010, name="MPI_Isendrecv", flags=w.REQUEST, request=request)
        zero.wait(request, 1020, 1200, flags=w.STATUS, bytes_in=5)
        one.take(0, 4, 1020, 1030)
        one.to(0, 5, 1040, 1050)
        self.match(zero, one)
        self.assertEqual([m["send"]["flags"] & 4 for m in self.shown["messages"]], [4, 0])

    def test_truncated_ones_count(self):
        zero, one = ranks(2)
        zero.to(1, 100, 1000, 1010)
        zero.to(1, 8, 1020, 1030)
        one.take(0, 0, 1040, 1050, flags=w.ERROR, code=15)
        one.take(0, 8, 1060, 1070)
        self.assertEqual(self.pairs(zero, one), [(8, 1020, 1060), (100, 1000, 1040)])
        self.assertEqual([m["recv"]["flags"] & 16 for m in self.shown["messages"]], [16, 0])

    def test_matched_probe(self):
        """The probe took the first message; another receive got the second before it was fetched."""
        zero, one = ranks(2)
        zero.to(1, 1, 1000, 1010)
        zero.to(1, 2, 1020, 1030)
        probed = one.number("recv", 0, 0, 5, 0)
        one.call("MPI_Mprobe", 1040, 1050)
        one.take(0, 2, 1060, 1070)
        one.recv(0, 1, 1080, 1090, name="MPI_Mrecv", flags=w.COUNTED | w.STATUS, ordinal=probed)
        self.assertEqual(self.pairs(zero, one), [(1, 1000, 1080), (2, 1020, 1060)])

    def test_persistent_and_polled(self):
        zero, one = ranks(2)
        for n in range(2):
            request = zero.isend(1, n, 1000 * n + 1000, 1000 * n + 1010, flags=w.PERSISTENT)
            one.event(w.POLL, "MPI_Test", start=1000 * n + 900, end=1000 * n + 1080, polls=5, busy=90)
            zero.wait(request, 1000 * n + 1020, 1000 * n + 1030, flags=w.PERSISTENT)
        one.threads[0] = []
        for n in range(2):
            at = 1000 * n
            posted = one.irecv(0, 100, at + 850, at + 860)
            one.event(w.POLL, "MPI_Test", start=at + 900, end=at + 1080, polls=5, busy=90, comm=-1)
            one.wait(posted, at + 1090, at + 1100, name="MPI_Test", flags=w.STATUS, bytes_in=n)
        found = self.match(zero, one)
        self.assertEqual([(m["recv"]["wait"], m["recv"]["done"]) for m in found], [(900, 1100), (1900, 2100)])

    def test_threads(self):
        zero, one = ranks(2)
        zero.to(1, 1, 1000, 1010, thread=0)
        zero.to(1, 2, 1020, 1030, thread=1)
        zero.to(1, 3, 1040, 1050, thread=0)
        for n in range(3):
            one.take(0, n + 1, 1100 + 10 * n, 1105 + 10 * n)
        self.assertEqual(self.pairs(zero, one), [(1, 1000, 1100), (2, 1020, 1110), (3, 1040, 1120)])
        self.assert_counts(messages=3)

    def test_threads_at_once_are_said(self):
        zero, one = ranks(2)
        zero.to(1, 1, 1000, 1030, thread=0)
        zero.to(1, 2, 1020, 1040, thread=1)
        for n in range(2):
            one.take(0, n + 1, 1100 + 10 * n, 1105 + 10 * n)
        self.match(zero, one)
        self.assert_counts(messages=2, ambiguous=1)

    def test_who_was_not_recorded(self):
        zero = Rank(0, 3)
        zero.to(1, 1, 1000, 1010)
        zero.send(2, 1, 1020, 1030)
        zero.take(-16, 1, 1020, 1030)
        two = Rank(2, 3)
        two.send(0, 1, 1000, 1010)
        self.match(zero, two)
        self.assert_counts(outside=2, uncounted=2)

    def test_left_over(self):
        zero, one = ranks(2)
        zero.to(1, 1, 1000, 1010)
        zero.isend(1, 2, 1020, 1030)
        one.take(0, 1, 1000, 1010)
        one.take(0, 2, 1020, 1050)
        one.take(0, 3, 1060, 1070)
        self.match(zero, one)
        self.assert_counts(messages=1, unfinished=1, receives=1)

    def test_many_that_wait(self):
        """A receiver that was not recorded for long: its messages are given up, the later ones still match."""
        zero, one = ranks(2)
        for n in range(6000):
            zero.to(1, 8, 1000 + n, 1001 + n)
        one.skip("recv", 0, 5990)
        for n in range(10):
            one.take(0, 8, 8000 + n, 8001 + n)
        self.assertEqual(self.match(zero, one)[0]["send"]["start"], 1000 + 5990)
        self.assert_counts(messages=10, sends=5990)


class Collectives(MatchTest):
    def test_members_meet_by_instance(self):
        three = ranks(3)
        for n, rank in enumerate(three):
            rank.all("MPI_Barrier", 1000 + n, 1100)
            rank.all("MPI_Bcast", 2000 + n, 2100, root=1)
        self.match(*three)
        first, second = self.shown["instances"]
        self.assertEqual((first["name"], first["number"], first["whole"], first["mixed"]), ("MPI_Barrier", 0, True, False))
        self.assertEqual(sorted(first["members"]), [[0, 1000, 1100], [1, 1001, 1100], [2, 1002, 1100]])
        self.assertEqual((second["name"], second["root"]), ("MPI_Bcast", 1))
        self.assertEqual((self.counts["instances"], self.counts["partial"]), (2, 0))

    def test_a_rank_that_was_not_recorded(self):
        zero, one = Rank(0, 3), Rank(1, 3)
        for rank in (zero, one):
            rank.all("MPI_Barrier", 1000, 1100)
        self.match(zero, one)
        self.assertEqual([i["whole"] for i in self.shown["instances"]], [False])

    def test_after_an_interval_that_was_not_recorded(self):
        zero, one = ranks(2)
        zero.all("MPI_Barrier", 1000, 1100)
        one.all("MPI_Barrier", 1010, 1100)
        for rank in (zero, one):
            rank.numbers[("coll",)] = 10000
        zero.all("MPI_Barrier", 2000, 2100)
        one.all("MPI_Barrier", 2010, 2100)
        self.match(zero, one)
        self.assertEqual([(i["number"], len(i["members"])) for i in self.shown["instances"]], [(0, 2), (10000, 2)])

    def test_two_functions_in_one_instance(self):
        zero, one = ranks(2)
        zero.all("MPI_Barrier", 1000, 1100)
        one.all("MPI_Bcast", 1000, 1100, root=0)
        self.match(zero, one)
        self.assertEqual([i["mixed"] for i in self.shown["instances"]], [True])


class Clocks(MatchTest):
    """Times of build_trace.py are CLOCK_REALTIME, too: so an error of a node's clock is one that NTP would make."""

    def nodes(self, ahead):
        zero, one = ranks(2, hosts=["node1", "node2"])
        self.ahead = ahead
        return zero, one

    def ping_pong(self, zero, one, times, latency=1000):
        """True times on node1's clock; node2's is ahead by self.ahead(t)."""
        for at in times:
            there = at + latency
            zero.to(1, 8, at, at + 100)
            one.take(0, 8, there - 300 + self.ahead(there), there + self.ahead(there))
            back = there + 500
            one.to(0, 8, back + self.ahead(back), back + 100 + self.ahead(back))
            zero.take(1, 8, at + 200, back + latency)

    def check(self, errors=2000):
        clock = self.shown["clocks"][1]
        self.assertTrue(clock["synchronised"])
        for message in self.shown["messages"]:
            sent, received = message["send"]["start"], message["recv"]["done"]
            self.assertLessEqual(abs(received - sent - 1000), message["error"] + 1)
            self.assertLess(message["error"], errors)
        return clock

    def test_one_node_needs_no_correction(self):
        zero, one = ranks(2)
        zero.to(1, 8, 1000, 1010)
        one.take(0, 8, 1000, 1020)
        self.match(zero, one)
        self.assertEqual(len(self.shown["clocks"]), 1)
        self.assertEqual(self.shown["messages"][0]["error"], 0)

    def test_a_constant_offset(self):
        for ahead in (5000000, -3000000000, 0):
            zero, one = self.nodes(lambda t, by=ahead: by)
            self.ping_pong(zero, one, range(5000000000, 9000000000, 40000000))
            self.match(zero, one)
            clock = self.check(1100)
            self.assertLessEqual(abs(clock["first"] + ahead), 1001)
            self.assertEqual(clock["pieces"], 1)

    def test_drift(self):
        zero, one = self.nodes(lambda t: 1000000 + t // 50000)  # 20 ppm
        self.ping_pong(zero, one, range(1000000000, 9000000000, 40000000))
        self.match(zero, one)
        clock = self.check(1600)
        self.assertEqual(clock["pieces"], 1)
        self.assertAlmostEqual(clock["first"] - clock["last"], 160000, delta=3000)

    def test_drift_that_changes(self):
        zero, one = self.nodes(lambda t: abs(t - 5000000000) // 20000)  # -50 ppm, then +50 ppm
        self.ping_pong(zero, one, range(1000000000, 9000000000, 20000000))
        self.match(zero, one)
        clock = self.shown["clocks"][1]
        self.assertGreaterEqual(clock["pieces"], 2)
        right = [m for m in self.shown["messages"]
                 if abs(m["recv"]["done"] - m["send"]["start"] - 1000) <= m["error"] + 1]
        self.assertGreater(len(right), 0.95 * len(self.shown["messages"]))

    def test_one_direction_ties_nothing(self):
        zero, one = self.nodes(lambda t: 0)
        zero.to(1, 8, 1000, 1010)
        one.take(0, 8, 1000, 1020)
        self.match(zero, one)
        self.assertFalse(self.shown["clocks"][1]["synchronised"])
        self.assertIsNone(self.shown["messages"][0]["error"])

    def test_barriers_tie_nodes_that_never_talk(self):
        three = ranks(3, hosts=["node1", "node2", "node3"])
        ahead = (0, 1000000, -2000000)
        for at in range(4000000, 100000000, 1000000):
            for n, rank in enumerate(three):
                rank.all("MPI_Barrier", at + 10 * n + ahead[n], at + 700 + ahead[n])
        self.match(*three)
        for n, clock in enumerate(self.shown["clocks"]):
            self.assertTrue(clock["synchronised"])
            self.assertLessEqual(abs(clock["first"] + ahead[n]), clock["error"])
            self.assertLess(clock["error"], 800)

    def test_over_a_third_node(self):
        zero, one, two = ranks(3, hosts=["node1", "node2", "node3"])
        self.ahead = lambda t: 7000
        self.ping_pong(zero, one, range(1000000, 2000000, 10000))
        for at in range(3000000, 4000000, 10000):  # node2 and node3 have the same clock
            one.to(2, 8, at, at + 100)
            two.take(1, 8, at + 10, at + 1000)
            two.to(1, 8, at + 1100, at + 1200)
            one.take(2, 8, at + 200, at + 2100)
        self.match(zero, one, two)
        last = self.shown["clocks"][2]
        self.assertTrue(last["synchronised"])
        self.assertLessEqual(abs(last["first"] + 7000), last["error"])


if __name__ == "__main__":
    main()
