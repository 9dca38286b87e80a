# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic jobs of which it is known where their ranks sat: machines (machines.py), masks, and what was used."""

import build_trace as b
import fabric_jobs as f
from machines import MACHINES, runs

SECOND = b.SECOND


def topology(process, machine, xml=True, **more):
    """The process that writes the facts of its node."""
    fields = machine.records()
    if xml:
        fields["xml"] = machine.xml()
    else:
        fields["failure"] = "hwloc is not installed"
    return process.add("TOPOLOGY", **{"source": "hwloc 2.9.0", "took": 20000000, **fields, **more})


def look(process, cpus, when=1, time=2000, parent=None, group=None, numa=None, **more):
    """A look at a process; sets of CPUs."""
    fields = {"when": when, "time": time, "cpus": runs(cpus), "cpu": min(cpus) + 1, "policy": "default", **more}
    if parent is not None:
        fields["parent_cpus"] = runs(parent)
        fields.setdefault("parent", "orted")
    if group is not None:
        fields["cgroup_cpus"] = runs(group)
    if numa is not None:
        fields["node"] = numa + 1
    process.add("PLACEMENT", **fields)
    return process


def place(process, cpus, **more):
    """The same at the beginning and at the end."""
    look(process, cpus, **more)
    return look(process, cpus, **{**more, "when": 3, "time": 8 * SECOND})


def bound(ranks, machine, cpus_of, host_ranks=None):
    """Each rank bound by its launcher; the first rank of each host tells of the node."""
    hosts = set()
    for process in ranks:
        if process.host not in hosts:
            hosts.add(process.host)
            topology(process, machine)
        cpus = cpus_of(process.rank)
        place(process, cpus, parent=machine.cpus(), group=machine.cpus(),
              numa=next(n for n in range(machine.node_count()) if min(cpus) in machine.cpus(n)))
    return ranks


def one_a_numa(machine):
    """Rank r on the first CPU of NUMA node r."""
    return lambda rank: [machine.cpus(rank % machine.node_count())[0]]


def two_nodes(machine, per_node=8, cpus_of=None, amount=100 * f.MEBI, device="mlx5_0", provider="verbs;ofi_rxm",
              gap=None, count=20, size=f.MEBI, mpi=f.openmpi):
    """Ranks of node1 each with a partner on node2, over a card. gap: nanoseconds of a message by rank of node1."""
    ranks = [mpi(rank, 2 * per_node, host="node%d" % (1 + rank // per_node), pml="cm", mtl="ofi", btls=())
             for rank in range(2 * per_node)]
    cpus_of = cpus_of or one_a_numa(machine)
    bound(ranks, machine, lambda rank: cpus_of(rank % per_node))
    pairs = [(rank, rank + per_node) for rank in range(per_node)] + [(rank + per_node, rank) for rank in range(per_node)]
    at = 10000
    for src, dst in pairs:
        at = f.exchange(ranks, size=size, count=count, pairs=[(src, dst)], start=at,
                        gap=gap(src % per_node) if gap else 1000000)
    f.fabric(ranks, dict.fromkeys(pairs, amount), provider=provider, domain=device)
    for process in ranks:
        f.node_ports(process, f.port(device, "infiniband", f.SLINGSHOT, "4: ACTIVE"))
    f.sockets(ranks, {})
    return f.finish(ranks)


__all__ = [name for name in dir() if not name.startswith("_")]
assert MACHINES
