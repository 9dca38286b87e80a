# SPDX-License-Identifier: BSD-3-Clause
"""Flat tables of distances, ranks that move, cards used unevenly, slow links."""

import fabric_jobs as f
import placed_jobs as p
from cli import main
from machines import MACHINES, Machine
from placed import MEBI, Placed, local, on_one_node


class OtherRules(Placed):
    def test_memory_without_processors(self):
        """Two sockets are two places, whatever memory without processors stands beside them."""
        machine = Machine(packages=2, cores=8, slit=lambda a, b: 10 if a == b else 20)
        fields = machine.records()
        fields["slit"].append({"node": 2, "memory": 1 << 38})
        for row in fields["slit"]:
            row["distance"] = [10 if row["node"] == node else 20 for node in range(3)]
        process = f.openmpi(0, 1)
        process.add("TOPOLOGY", xml=machine.xml(), source="hwloc", **fields)
        p.place(process, [0])
        self.none(f.finish([process]))

    def test_flat_table(self):
        ranks = local(on_one_node(MACHINES["flat"], [[0], [1]]))
        self.says(self.only(ranks, "slit-flat", "notice"), "on 1 of 1 nodes", "each of the 4 NUMA nodes is 20 from every other",
                  "2 sockets")
        for name in ("switches", "desktop", "epyc", "interleaved"):
            self.none(local(on_one_node(MACHINES[name], [[0], [1]])))

    def test_migrated(self):
        machine = MACHINES["switches"]
        ranks = [f.openmpi(0, 1)]
        p.topology(ranks[0], machine)
        for when, numa in ((1, 0), (3, 1)):
            p.look(ranks[0], machine.cpus(), when=when, time=when * 1000, parent=machine.cpus(), numa=numa, migrations=18)
        self.says(self.only(f.finish(ranks), "migrated"), "1 of 1 rank moved between NUMA nodes",
                  "rank 0 was found on NUMA nodes 0-1, changed its CPU 17 times")
        for mask, policy in (([0, 1], "default"), (machine.cpus(), "interleave:0-1")):
            ranks = [f.openmpi(0, 1)]
            p.topology(ranks[0], machine)
            for when, numa in ((1, 0), (3, 1)):
                p.look(ranks[0], mask, when=when, time=when * 1000, numa=numa, policy=policy)
            self.none(f.finish(ranks))

    def two_cards(self, users, machine=None):
        """Eight ranks a node on the socket of each card; users: the card of each rank."""
        machine = machine or MACHINES["switches"]
        ranks = [f.openmpi(rank, 16, host="node%d" % (rank // 8), pml="cm", mtl="ofi", btls=()) for rank in range(16)]
        p.bound(ranks, machine, lambda rank: [rank % 8 if users[rank % 8] == "mlx5_0" else 8 + rank % 8])
        pairs = {(rank, (rank + 8) % 16): 100 * MEBI for rank in range(16)}
        f.exchange(ranks, count=1, pairs=list(pairs))
        for card in sorted(set(users)):
            those = [process for process in ranks if users[process.rank % 8] == card]
            f.fabric(those, {pair: amount for pair, amount in pairs.items() if users[pair[0] % 8] == card},
                     provider="verbs;ofi_rxm", domain=card)
        for process in ranks:
            f.node_ports(process, *(f.port(name, "infiniband", f.SLINGSHOT, "4: ACTIVE") for name in ("mlx5_0", "mlx5_1")))
        f.sockets(ranks, {})
        return f.finish(ranks)

    def test_uneven_cards(self):
        found = [finding for finding in self.findings(self.two_cards(["mlx5_0"] * 8)) if finding["id"] == "uneven-nics"]
        self.assertEqual([finding["ranks"] for finding in found], ["0-7", "8-15"])
        self.says(found[0], "100 % of what ranks of node0 sent went through mlx5_0, one of 2 equal network cards",
                  "mlx5_1 at NUMA node 1 (socket 1): 0 B")
        self.none(self.two_cards(["mlx5_0", "mlx5_1"] * 4))

    def slow(self, width=(16, 16), speed=(16000, 16000), port=(16, 16000)):
        machine = Machine(packages=2, cores=8, nics={0: ["mlx5_0"]}, width=width, speed=speed)
        ranks = p.two_nodes(machine, per_node=1, count=1)
        for process in (ranks[0], ranks[1]):
            fields = machine.records()
            fields["pci"][0]["parent"] = "0000:00:01.0"
            fields["pci"].append({"address": "0000:00:01.0", "class": 0x060400, "vendor": 0x8086, "node": 1, "width_max": port[0],
                                  "width": min(width[0], port[0]), "speed": speed[0], "speed_max": port[1]})
            process.add("TOPOLOGY", **fields)
        return ranks

    def test_slow_link(self):
        found = self.findings(self.slow(width=(8, 16)))
        self.assertEqual([finding["id"] for finding in found], ["slow-link"] * 2)
        self.says(found[0], "The PCI link of mlx5_0 on node1 runs below its width", "has 8 lanes", "can do 16")
        self.says(self.findings(self.slow(speed=(8000, 16000)))[0], "below its speed", "8.0 GT/s", "can do 16.0")
        self.none(self.slow())
        self.none(self.slow(width=(8, 16), port=(8, 16000)))
        self.none(self.slow(speed=(8000, 16000), port=(16, 8000)))

    def test_this_kind_of_machine(self):
        """Two CPUs, one NUMA node, no card: nothing to find."""
        machine = Machine(cores=2)
        self.none(local(on_one_node(machine, [[0], [1]])))
        self.none(local(on_one_node(machine, [machine.cpus()] * 2)))


if __name__ == "__main__":
    main()
