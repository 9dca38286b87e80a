# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic jobs of which it is known where their ranks sat: machines (machines.py), masks, and what was used."""

import build_trace as b
import fabric_jobs as f
from machines import GCD_LINKS, MACHINES, runs

SECOND = b.SECOND


def topology(process, machine, xml=True, **more):
    """The process that writes the facts of its node."""
    fields = machine.records()
    if xml:
        fields["xml"] = machine.xml()
    else:
        fields["failure"] = "hwloc is not installed"
    return process.add("TOPOLOGY", **{"source": "hwloc 2.9.0", "took": 20000000, **fields, **more})


def look(process, cpus, when=1, time=2000, parent=None, group=None, numa=None, starter="orted", **more):
    """A look at a process; sets of CPUs. starter: name of the parent."""
    fields = {"when": when, "time": time, "cpus": runs(cpus), "cpu": min(cpus) + 1, "policy": "default", **more}
    if parent is not None:
        fields["parent_cpus"] = runs(parent)
        fields["parent"] = starter
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


def bound(ranks, machine, cpus_of, xml=True):
    """Each rank bound by its launcher; the first rank of each host tells of the node."""
    hosts = set()
    for process in ranks:
        if process.host not in hosts:
            hosts.add(process.host)
            topology(process, machine, xml=xml)
        cpus = cpus_of(process.rank)
        place(process, cpus, parent=machine.cpus(), group=machine.cpus(),
              numa=next(n for n in range(machine.node_count()) if min(cpus) in machine.cpus(n)))
    return ranks


def one_a_numa(machine):
    """Rank r on the first CPU of NUMA node r."""
    return lambda rank: [machine.cpus(rank % machine.node_count())[0]]


def two_nodes(machine, per_node=8, cpus_of=None, amount=100 * f.MEBI, device="mlx5_0", provider="verbs;ofi_rxm",
              gap=None, count=20, size=f.MEBI, mpi=f.openmpi, partner=lambda rank: rank, xml=True):
    """Ranks of node1 each with a partner on node2, over a card. gap: nanoseconds of a message by rank of node1.
    partner: which rank of node2, counted there."""
    ranks = [mpi(rank, 2 * per_node, host="node%d" % (1 + rank // per_node), pml="cm", mtl="ofi", btls=())
             for rank in range(2 * per_node)]
    cpus_of = cpus_of or one_a_numa(machine)
    bound(ranks, machine, lambda rank: cpus_of(rank % per_node), xml=xml)
    there = [(rank, partner(rank) + per_node) for rank in range(per_node)]
    pairs = there + [(dst, src) for src, dst in there]
    at = 10000
    for src, dst in pairs:
        # messages of nothing tie the nodes' clocks together
        at = f.exchange(ranks, size=0, count=1, pairs=[(src, dst), (dst, src)], start=at, gap=1000)
        at = f.exchange(ranks, size=size, count=count, pairs=[(src, dst)], start=at,
                        gap=gap(min(src, dst)) if gap else 1000000)
    f.exchange(ranks, size=0, count=1, pairs=pairs, start=at, gap=1000)
    f.fabric(ranks, dict.fromkeys(pairs, amount), provider=provider, domain=device)
    for process in ranks:
        f.node_ports(process, f.port(device, "infiniband", f.SLINGSHOT, "4: ACTIVE"))
    f.sockets(ranks, {})
    return f.finish(ranks)


# --- GPUs ---

def gpus(process, addresses, visible, peers=None, kind=3, runtime="hip", amount=0):
    """Devices that a process sees: numbers into the addresses; the first one is used. peers: {(a, b): (link, hops)}."""
    devices = []
    for index, number in enumerate(visible):
        peer = [{"index": at, "access": 1, "link": peers[number, other][0], "hops": peers[number, other][1]}
                for at, other in enumerate(visible) if peers and (number, other) in peers]
        devices.append({"runtime": runtime, "index": index, "pci": addresses[number], "name": "MI250X",
                        "current": int(index == 0), "peer": peer})
    process.add("DEVICE", device=devices, time=1500)
    return process.add("BUFFER", space=[{"id": 1, "kind": kind, "runtime": runtime, "device": 1, "calls": 10, "bytes": amount}])


def gpu_job(machine, numbers, xml=True, size=f.MEBI, count=10, space=1, mpi=f.openmpi, hidden=True, **more):
    """Each rank uses the GPU of this number, and sends to every other out of its memory. hidden: it sees no other GPU."""
    ranks = [mpi(rank, len(numbers)) for rank in range(len(numbers))]
    topology(ranks[0], machine, xml=xml)
    for process, number in zip(ranks, numbers):
        node = next(n for n in range(machine.node_count())
                    if machine.gpu_addresses()[number] in [device[0] for device in machine.devices(n)])
        place(process, [machine.cpus(node)[number % 4]], parent=machine.cpus())
        visible = [number] + [other for other in numbers if other != number and not hidden]
        gpus(process, machine.gpu_addresses(), visible, **more)
    at = 10000
    for src in ranks:
        for dst in ranks:
            for _ in range(count if src is not dst else 0):
                f.message([src, dst], src.rank, dst.rank, size, at, at + 1000, (space, space))
                at += 2000
    return f.finish(ranks)


__all__ = [name for name in dir() if not name.startswith("_")]
assert MACHINES and GCD_LINKS
