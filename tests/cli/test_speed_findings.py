# SPDX-License-Identifier: BSD-3-Clause
"""Findings that rest on measured messages: each fires on what it is for, and is silent on neighbours."""

import build_trace as b
import placed_jobs
from cli import main
from counted import ranks
from fabric_jobs import facts, port
from machines import MACHINES
from test_findings import Findings

KIB, SECOND = 1024, 1000000000


def transfer(src, dst, size, at, time, tag=7):
    """A message whose receive was there first; ends after `time`."""
    dst.take(src.rank, size, at - 50, at + time, tag=tag)
    src.to(dst.rank, size, at, at + time - 10, tag=tag)


def order(*processes):
    """As the recorder writes them: in the order in which calls ended."""
    for process in processes:
        for items in process.threads.values():
            items.sort(key=lambda item: item["end"])
        process.finalize(9 * SECOND)
    return processes


class SlowPairs(Findings):
    def job(self, hosts, time, count=30, size=256 * KIB, gap=0, cpus=None):
        """Each pair in turn; time(src, dst, n) in ns, None no message. cpus: of each rank, on machines of two sockets."""
        all_ranks = ranks(len(hosts), hosts=hosts)
        at = SECOND
        if cpus:
            placed_jobs.bound(all_ranks, MACHINES["switches"], cpus)
        for n in range(count):
            at += gap
            for small in (True, False):  # small ones tie the clocks
                for src in all_ranks:
                    for dst in all_ranks:
                        if src is not dst:
                            took = 900 if small else time(src.rank, dst.rank, n)
                            if not took:
                                continue
                            transfer(src, dst, 8 if small else size, at, took, tag=small)
                            at += took + 1000
        return order(*all_ranks)

    def test_even_ones(self):
        self.none(self.job(["n1", "n2", "n3", "n4"], lambda src, dst, n: 100000 + 7919 * (src + 3 * dst + n) % 60000))

    def test_one_slow_node(self):
        finding = self.only(self.job(["n1", "n2", "n3", "n4"],
                                     lambda src, dst, n: 1000000 if src == 2 else 100000), "slow-pair", "warning")
        self.says(finding, "Everything that n3 sends", "3 pairs", "2 -> 0: 262 MB/s, its peers' median is 2.62 GB/s",
                  "in the whole run", "other node")

    def test_counters_beside_it(self):
        job = self.job(["n1", "n2", "n3", "n4"], lambda src, dst, n: 1000000 if src == 2 else 100000)
        for rank in job:
            ends = ("10.0.0.%d" % (rank.rank + 1), 4000), ("10.0.0.%d" % ((rank.rank + 1) % 4 + 1), 5000)
            for when, time, again in ((1, 2000, 5), (3, 8 * SECOND, 925 if rank.rank == 2 else 5 + rank.rank)):
                rank.sockets(when, time, [b.connection(*ends, sent=time, retransmits=again, interface="eth0")])
                rank.ports(when, time, [{**port("eth0", "net", 10**10), "sent": time, "errors": when * (rank.rank == 2)}])
        finding = self.only(job, "slow-pair", "warning")
        self.says(finding, "TCP segments that a slow sender sent again: at most 920; of the other ranks at most 3",
                  "port eth0 of n3: 2 errors more")

    def test_of_three_nodes(self):
        findings = self.found(self.job(["n1", "n2", "n3"], lambda src, dst, n: 1000000 if 2 in (src, dst) else 100000))
        self.assertEqual({f["title"].split(" is far")[0] for f in findings},
                         {"Everything that n3 sends", "Everything that n3 receives"})

    def test_of_few_pairs_that_tell(self):
        """That one node receives from the slow one alone is no fault of its own."""
        times = {(2, 0): 1000000, (2, 1): 1000000, (2, 3): 1000000, (0, 3): 100000, (3, 0): 100000}
        finding = self.only(self.job(["n1", "n2", "n3", "n4"], lambda src, dst, n: times.get((src, dst))), "slow-pair",
                            "warning")
        self.says(finding, "Everything that n3 sends", "3 pairs")
        del times[2, 0], times[2, 3]
        self.none(self.job(["n1", "n2", "n3", "n4"], lambda src, dst, n: times.get((src, dst))))

    def test_one_slow_pair(self):
        finding = self.only(self.job(["n1", "n2", "n3", "n4"],
                                     lambda src, dst, n: 900000 if (src, dst) == (0, 3) and n >= 15 else 100000,
                                     gap=SECOND // 5),
                            "slow-pair", "warning")
        self.says(finding, "1 of 12 pairs is far slower", "0 -> 3", "of the run's time on")

    def test_within_a_node(self):
        finding = self.only(self.job(["n1"] * 4, lambda src, dst, n: 900000 if (src, dst) == (1, 2) else 100000),
                            "slow-pair", "warning")
        self.says(finding, "1 of 12 pairs", "1 -> 2", "same node")

    def test_a_pair_with_good_moments_is_no_slow_link(self):
        """Its rank was kept from running now and then."""
        self.none(self.job(["n1", "n2", "n3", "n4"],
                           lambda src, dst, n: 9000000 if (src, dst) == (0, 3) and n < 8 else 100000))

    def test_few_peers_or_small_messages(self):
        self.none(self.job(["n1", "n2"], lambda src, dst, n: 190000 if src else 100000))
        self.none(self.job(["n1", "n2", "n3", "n4"], lambda src, dst, n: 1000 + 9000 * (src == 2), size=64))

    def test_asymmetry(self):
        finding = self.only(self.job(["n1", "n2"], lambda src, dst, n: 900000 if src else 100000), "asymmetric-pair",
                            "warning")
        self.says(finding, "1 -> 0: 291 MB/s, back: 2.62 GB/s")

    def test_slower_inside(self):
        hosts = ["n1", "n1", "n2", "n2"]
        finding = self.only(self.job(hosts, lambda src, dst, n: 400000 if src // 2 == dst // 2 else 100000),
                            "slower-inside", "warning")
        self.says(finding, "655 MB/s of 2.62 GB/s", "4 pairs", "8 pairs")
        self.none(self.job(hosts, lambda src, dst, n: 50000 if src // 2 == dst // 2 else 100000))

    # --- distances within a node ---

    @staticmethod
    def two_sockets(rank):
        """A core for each, the last ones on the other socket: eight cores have CPUs 0 to 7 and 16 to 23."""
        return [rank if rank < 6 else rank + 2]

    def test_the_other_socket_is_no_slow_pair(self):
        """Of 42 pairs the 12 with the only rank that is over there are slower."""
        def far(src, dst, n):
            return 400000 if (src < 6) != (dst < 6) else 100000
        self.none(self.job(["n1"] * 7, far, count=16, cpus=self.two_sockets))
        self.assertTrue(self.found(self.job(["n1"] * 7, lambda src, dst, n: 400000 if src == 6 else 100000, count=16)))

    def test_a_slow_pair_among_its_equals(self):
        def time(src, dst, n):
            slow = 9 if (src, dst) == (6, 2) else 1
            return slow * (400000 if (src < 6) != (dst < 6) else 100000)
        finding = self.only(self.job(["n1"] * 7, time, count=16, cpus=self.two_sockets), "slow-pair", "warning")
        self.says(finding, "1 of 12 pairs", "6 -> 2", "other socket")

    def test_slower_between_sockets_than_between_nodes(self):
        """Which is no wonder; with both on one socket it is one."""
        def time(near):
            return lambda src, dst, n: (100000 if src // 4 != dst // 4 else near if src // 2 == dst // 2 else 400000)

        def cpus(rank):
            return [rank % 2 + 8 * (rank // 2 % 2)]
        hosts = ["n1"] * 4 + ["n2"] * 4
        self.none(self.job(hosts, time(50000), count=16, cpus=cpus))
        finding = self.only(self.job(hosts, time(300000), count=16, cpus=cpus), "slower-inside", "warning")
        self.says(finding, "874 MB/s of 2.62 GB/s", "8 pairs", "32 pairs")

    def test_ranks_that_move_are_just_on_one_node(self):
        machine = MACHINES["switches"]
        job = self.job(["n1"] * 4, lambda src, dst, n: 900000 if (src, dst) == (1, 2) else 100000,
                       cpus=lambda rank: machine.cpus())
        self.says(self.only(job, "slow-pair", "warning"), "same node")
        job = self.job(["n1"] * 4, lambda src, dst, n: 900000 if (src, dst) == (1, 2) else 100000,
                       cpus=lambda rank: machine.cpus(0))
        self.says(self.only(job, "slow-pair", "warning"), "same L3 cache")

    def test_a_late_rank_is_not_the_networks_fault(self):
        job = self.job(["n1", "n2", "n3", "n4"], lambda src, dst, n: 1000000 if src == 2 else 100000)
        for n in range(20):
            for rank in job:
                rank.all("MPI_Barrier", 2 * SECOND + n * 200000000 + (150000000 if rank.rank == 2 else 0),
                         2 * SECOND + n * 200000000 + 150001000, size=0)
        self.only(job, "late-rank", "warning")


class LateRanks(Findings):
    def job(self, late, hosts=("n1",) * 4, count=20):
        """late(rank, n): ns after the others."""
        all_ranks = ranks(len(hosts), hosts=list(hosts))
        for n in range(20):  # that ties the clocks
            for src, dst in ((0, 2), (2, 0)):
                transfer(all_ranks[src], all_ranks[dst], 8, SECOND // 2 + 100000 * n + 1000 * src, 900)
        for n in range(count):
            at = SECOND + n * 300000000
            end = at + max(late(rank.rank, n) for rank in all_ranks) + 1000
            for rank in all_ranks:
                rank.all("MPI_Allreduce", at + late(rank.rank, n), end)
        return order(*all_ranks)

    def test_one(self):
        finding = self.only(self.job(lambda rank, n: 100000000 if rank == 3 else 10 * rank), "late-rank", "warning")
        self.says(finding, "The others wait for rank 3 in collectives: 6.00 s", "last to 20 of 20 collectives",
                  "most of the waiting is in MPI_Allreduce", "of the time of all ranks")

    def test_a_node(self):
        finding = self.only(self.job(lambda rank, n: 100000000 + 1000000 * (rank == n % 2 + 2) if rank > 1 else 0,
                                     hosts=("n1", "n1", "n2", "n2")), "late-rank", "warning")
        self.says(finding, "ranks 2-3 (all on n2)")

    def test_now_this_one_now_that(self):
        self.none(self.job(lambda rank, n: 100000000 if rank == n % 4 else 0))

    def test_a_little(self):
        self.none(self.job(lambda rank, n: 100000 if rank == 3 else 0))
        self.none(self.job(lambda rank, n: 100000000 if rank == 3 else 0, count=5))


class Cliffs(Findings):
    def job(self, latency, sizes=tuple(1 << n for n in range(6, 17)), **options):
        zero, one = ranks(2, hosts=["n1", "n1"])
        at = SECOND
        for size in sizes:
            for _ in range(60):
                for src, dst in ((zero, one), (one, zero)):
                    transfer(src, dst, size, at, latency(size))
                    at += 200000
        return order(zero, one)

    def limited(self, latency, **options):
        """The same, where somebody has set the eager limit."""
        pair = self.job(latency, **options)
        for rank in pair:
            facts(rank, ("parameter", "OMPI_MCA_btl_vader_eager_limit", "4096", "/etc/openmpi.conf:7"))
        return pair

    def test_a_step(self):
        def steps(size):
            return (1000 if size < 4096 else 10000) + size // 10
        finding = self.only(self.limited(steps), "size-cliff", "warning")
        self.says(finding, "at messages of 4.00 KiB, on 2 of 2 pairs", "x8.", "of all matched messages",
                  "OMPI_MCA_btl_vader_eager_limit=4096 (/etc/openmpi.conf:7)")
        self.none(self.job(steps))  # a default's

    def test_a_default_that_much_is_above(self):
        """Nobody set anything, and most messages are just above the step: worth knowing, and called what it is."""
        def steps(size):
            return (1000 if size < 4096 else 10000) + size // 10
        finding = self.only(self.job(steps, sizes=(1024, 2048) + (4096,) * 4), "size-cliff", "notice")
        self.says(finding, "at messages of 4.00 KiB, on 2 of 2 pairs", "65.6 % of all matched messages",
                  "nobody has set such a limit", "which transport the messages took is not known")

    def test_what_is_even(self):
        self.none(self.limited(lambda size: 1000 + size))
        self.none(self.limited(lambda size: (1000 if size < 4096 else 2500) + size // 10))

    def test_what_is_steep_all_along(self):
        self.none(self.limited(lambda size: size * size // 64 + 100, sizes=(256, 512, 1024, 2048)))


if __name__ == "__main__":
    main()
