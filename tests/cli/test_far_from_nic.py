# SPDX-License-Identifier: BSD-3-Clause
"""Ranks far from the network card that they use (C7)."""

import fabric_jobs as f
import placed_jobs as p
import sums
from cli import main
from machines import MACHINES, Machine
from placed import MEBI, Placed


class FarFromNic(Placed):
    """C7."""

    def test_measured(self):
        ranks = p.two_nodes(MACHINES["epyc"], gap=lambda rank: 85000 if rank >= 4 else 154000)
        finding = self.only(ranks, "far-from-nic")
        self.assertEqual((finding["ranks"], finding["processes"]), ("0-3,8-11", 8))
        self.says(finding, "8 of 16 ranks use mlx5_0 from the other socket", "ranks 0-3 on node1, at NUMA nodes 0-3 "
                  "(socket 0), use mlx5_0 at NUMA node 6 (socket 1); the firmware's distance is 32",
                  "pairs with a far rank reached 6.81 GB/s, those of pairs of near ranks 12.3 GB/s", "55.2 %")

    def test_sums_only(self):
        ranks = p.two_nodes(MACHINES["epyc"], gap=lambda rank: 85000 if rank >= 4 else 154000)
        finding = self.only([sums.Summed(rank) for rank in ranks], "far-from-nic", "notice")
        self.says(finding, "what the distance costs cannot be told")
        self.assertNotIn("reached", "\n".join(finding["evidence"]))
        self.assertIsNone(finding["cost"])

    def test_measured_to_cost_nothing(self):
        self.none(p.two_nodes(MACHINES["epyc"], gap=lambda rank: 85000))

    def test_far_ranks_that_talk_to_near_ones(self):
        """Both ends of each such pair are equally slow: that says nothing about the distance."""
        crossed = p.two_nodes(MACHINES["epyc"], gap=lambda rank: 154000, partner=lambda rank: (rank + 4) % 8)
        finding = self.only(crossed, "far-from-nic", "notice")
        self.says(finding, "reached 6.81 GB/s; what the distance costs cannot be told")
        self.assertIsNone(finding["cost"])
        # Ranks 6 and 7 have partners near their card, and show it.
        some = p.two_nodes(MACHINES["epyc"], gap=lambda rank: 85000 if rank >= 6 else 154000,
                           partner=lambda rank: rank if rank >= 6 else (rank + 3) % 6)
        finding = self.only(some, "far-from-nic")
        self.says(finding, "pairs with a far rank reached 6.81 GB/s, those of pairs of near ranks 12.3 GB/s", "55.2 %")

    def test_sockets_that_nobody_knows(self):
        """Without hwloc only the firmware's table tells what is far; the words are those of the table of ranks."""
        ranks = p.two_nodes(MACHINES["epyc"], gap=lambda rank: 85000 if rank >= 4 else 154000, xml=False)
        finding = self.only(ranks, "far-from-nic")
        self.says(finding, "8 of 16 ranks use mlx5_0 from a far NUMA node", "ranks 0-3 on node1, at NUMA nodes 0-3, use "
                  "mlx5_0 at NUMA node 6; the firmware's distance is 32", "CPUs near the card are used by no rank")
        self.assertNotIn("socket", "\n".join([finding["title"], *finding["evidence"], finding["advice"]]))
        self.assertEqual({rank["nics"][0]["nearest"] for rank in self.section(ranks)["ranks"][:4]}, {"same-node"})

    def test_one_rank(self):
        machine = MACHINES["epyc"]
        ranks = p.two_nodes(machine, per_node=5, cpus_of=lambda rank: [16 if rank == 0 else 64 + rank], size=1024)
        self.says(self.only(ranks, "far-from-nic"), "rank 0 on node1, at NUMA node 1 (socket 0), uses mlx5_0 at",
                  "cannot be told: too few large messages")

    def test_all_on_the_wrong_socket(self):
        machine = MACHINES["epyc"]
        finding = self.only(p.two_nodes(machine, per_node=4, count=1), "far-from-nic")
        self.says(finding, "8 of 8 ranks", "64 CPUs of the card's socket are used by no rank")

    def test_near_ones(self):
        machine = MACHINES["epyc"]
        self.none(p.two_nodes(machine, per_node=4, cpus_of=lambda rank: [64 + 16 * rank]))

    def test_a_rank_a_socket(self):
        """There is one card, and somebody has to be far."""
        machine = MACHINES["epyc"]
        self.none(p.two_nodes(machine, per_node=2, size=1024, cpus_of=machine.package_cpus))
        self.none(p.two_nodes(machine, per_node=2, size=1024, cpus_of=lambda rank: [64 * rank]))

    def test_spread_on_purpose(self):
        finding = self.only(p.two_nodes(MACHINES["epyc"], size=1024), "far-from-nic", "notice")
        self.says(finding, "8 of 16 ranks")

    def test_the_other_card(self):
        machine = MACHINES["flat"]
        ranks = p.two_nodes(machine, per_node=2, count=1, cpus_of=lambda rank: [16 + 8 * rank])
        for process in ranks:
            process.extra = [chunk for chunk in process.extra if chunk[4] != 23]  # PORTS
            f.node_ports(process, *(f.port(name, "infiniband", f.SLINGSHOT, "4: ACTIVE") for name in ("mlx5_0", "mlx5_1")))
        finding = [one for one in self.findings(ranks) if one["id"] == "far-from-nic"][0]
        self.assertEqual(finding["severity"], "warning")
        self.says(finding, "mlx5_1, which is up, is near them, at NUMA node 2 (socket 1)")

    def test_unbound(self):
        machine = MACHINES["epyc"]
        self.none(p.two_nodes(machine, cpus_of=lambda rank: machine.cpus()))

    def test_slow_network(self):
        """Over Ethernet of a gigabit nobody notices the distance."""
        machine = Machine(packages=2, cores=8, nics={1: ["eth0"]})
        ranks = [f.openmpi(rank, 2, host="node%d" % rank) for rank in range(2)]
        p.bound(ranks, machine, lambda rank: [0])
        f.exchange(ranks)
        f.sockets(ranks, p.f.all_pairs(ranks, 100 * MEBI))
        for process in ranks:
            f.node_ports(process, f.port("eth0", "net", f.GIGABIT))
        self.none(f.finish(ranks))


if __name__ == "__main__":
    main()
