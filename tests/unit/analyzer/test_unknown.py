# SPDX-License-Identifier: BSD-3-Clause
"""Each "unknown, because" of a pair's transport (docs/metrics.md)."""

from ranks import Rank, ob1, sockaddr
from show import ShowTest, b, main


class Unknown(ShowTest):
    def reason(self, *ranks):
        self.show(*ranks)
        self.assertEqual(self.pairs[0, 1]["routes"], [])
        return self.pairs[0, 1]["unknown"]

    def test_old_traces(self):
        zero, one = b.Process(0, 2).world(), b.Process(1, 2).world()
        zero.send(1, 100, 2000, 2100)
        self.assertEqual(self.reason(zero, one), "the trace has no transport records")
        self.assertEqual((self.failures, self.idle), ([], []))

    def test_a_sender_without_records(self):
        zero = b.Process(0, 2).world()
        zero.send(1, 100, 2000, 2100)
        self.assertEqual(self.reason(zero, ob1(1, 2)), "the sender's trace has no transport records")

    def test_ranks_that_were_not_recorded(self):
        self.assertEqual(self.reason(ob1(0, 2).to(1, 100)), "the receiver was not recorded")
        one = ob1(1, 2)
        one.recv(0, 100, 2000, 2100)
        self.assertEqual(self.reason(one), "the sender was not recorded")
        self.assertEqual(self.pairs[0, 1]["remainder_is"], "not counted")

    def test_a_choice_that_is_not_known(self):
        zero, one = Rank(0, 2).to(1, 100), Rank(1, 2)
        self.assertEqual(self.reason(zero, one), "the sender's connections were not looked at")
        zero.connected()
        self.assertEqual(self.reason(zero, one),
                         "which part of MPI moves its messages is not known")
        zero.choice("probe", "openmpi", "not covered", "no symbol")
        self.assertEqual(self.reason(zero, one), "the probe openmpi did not see all: no symbol")

    def test_connections_that_were_not_all_looked_at(self):
        ranks = [ob1(number, 2, host="n%d" % number, btl="self,tcp,openib") for number in range(2)]
        ranks[0].to(1, 100).connected(unseen=7)
        self.assertEqual(self.reason(*ranks), "not all of the sender's connections were looked at")

    def test_a_full_list(self):
        ranks = [Rank(number, 2, host="n%d" % number, netmod="ofi") for number in range(2)]
        for number, rank in enumerate(ranks):
            rank.endpoint(1, sockaddr("10.0.0.1", 5 + number), provider="cxi", format=2, unlisted=9)
        ranks[0].to(1, 100)
        self.assertEqual(self.reason(*ranks), "the sender's list of peers was full")

    def test_counts_that_were_never_written(self):
        ranks = [Rank(number, 2, host="n%d" % number, pml="cm", mtl="ofi", end=0) for number in range(2)]
        self.assertEqual(self.reason(ranks[0].to(1, 100), ranks[1]),
                         "the sender's last counts were not written before it died or was looked at")

    def test_connections_tell_where_the_choice_is_not_known(self):
        zero, one = Rank(0, 2), Rank(1, 2)
        a, c = ("10.0.0.1", 1), ("10.0.0.2", 2)
        zero.to(1, 1000, 10).connected(b.connection(a, c, sent=10400))
        one.connected(b.connection(c, a))
        self.show(zero, one)
        self.assert_route((0, 1), name="tcp", layer="", seen=True)


if __name__ == "__main__":
    main()
