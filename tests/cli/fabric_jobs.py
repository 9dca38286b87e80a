# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic jobs for the tests of findings and of check: what MPI chose, what was opened, and which way messages went."""

import build_trace as b
from build_trace import Process, connection, number, record, text

GIGABIT = 10 ** 9
SLINGSHOT = 200 * GIGABIT
MEBI = 1 << 20
PROBES = ("libfabric", "ucx", "openmpi", "mpich", "sockets", "cma", "openfiles", "ports")
OFI = "/usr/lib/openmpi/mca_mtl_ofi.so"
BTL_LIST = ("self", "vader", "tcp")
DEBIAN = "/etc/openmpi/openmpi-mca-params.conf"


def facts(process, *entries):
    """Facts (section, key, value[, source]) of a process."""
    return process.add("ENVIRONMENT", *[
        record(3, text(1, entry[0]), text(2, entry[1]), text(3, entry[2]),
               text(4, entry[3] if len(entry) > 3 else "environment")) for entry in entries])


def modules(process, *paths):
    return process.add("MODULES", *[b.module(i + 1, path, bytes([i + 1] * 20), role=0)
                                    for i, path in enumerate(paths)])


def mpi_process(rank, size, host="node1", mpich=False, **more):
    process = Process(rank, size, host=host, **more).world()
    if mpich:
        process.abi = 2
        process.version = "MPICH Version: 4.0.2"
        process.library = "/usr/lib/libmpich.so.12"
    for probe in PROBES:
        process.choice("probe", probe, "on")
    process.pid = 1000 + rank
    process.seen = {}
    return process


def openmpi(rank, size, host="node1", pml="ob1", mtl="", btls=BTL_LIST, **more):
    process = mpi_process(rank, size, host, **more)
    process.choice("pml", pml)
    if mtl:
        process.choice("mtl", mtl)
    for btl in btls:
        process.choice("btl", btl)
    return process


def mpich(rank, size, host="node1", netmod="ucx", shm="posix"):
    process = mpi_process(rank, size, host, mpich=True)
    process.choice("netmod", netmod)
    return process.choice("shm", shm, "default")


def message(ranks, src, dst, size, start, end, spaces=(0, 0)):
    """By number of rank; what was not recorded is not among the ranks. spaces: memory at both ends."""
    for process in ranks:
        if process.rank == src:
            process.send(dst, size, start, end, comm=0, flags=b.w.COUNTED | b.w.spaces(spaces[0], 0),
                         ordinal=process.number("send", dst))
        if process.rank == dst:
            process.recv(src, size, start, end, comm=0, flags=b.w.COUNTED | b.w.STATUS | b.w.spaces(0, spaces[1]),
                         ordinal=process.number("receive", src))


def exchange(ranks, size=MEBI, count=100, pairs=None, gap=1000000, start=10000):
    """Every pair, or the given ones: `count` messages of `size` bytes each way, which arrive in `gap` ns."""
    if pairs is None:
        pairs = [(src.rank, dst.rank) for src in ranks for dst in ranks if src is not dst]
    at = start
    for src, dst in pairs:
        ends = [process for process in ranks if process.rank in (src, dst)]
        for _ in range(count):
            message(ends, src, dst, size, at, at + gap)
            at += gap + 1000
    return at


def finish(ranks, at=9 * b.SECOND, reason=1, code=0):
    for process in ranks:
        process.finalize(at, reason=reason, code=code)
    return ranks


def sockets(ranks, amounts, interface="eth0", address="10.0.0.{}"):
    """Connections with so many bytes: {(src, dst): bytes}."""
    lists = {process.rank: [] for process in ranks}
    for fd, (src, dst) in enumerate(sorted({tuple(sorted(pair)) for pair in amounts}), 20):
        one, two = (address.format(src + 1), 4000 + fd), (address.format(dst + 1), 5000 + fd)
        there, back = amounts.get((src, dst), 0), amounts.get((dst, src), 0)
        lists[src].append(connection(one, two, fd=fd, sent=there, received=back,
                                     interface=interface))
        lists[dst].append(connection(two, one, fd=fd, sent=back, received=there, cookie=7000 + fd,
                                     interface=interface))
    for process in ranks:
        process.sockets(1, 2000, [])
        process.sockets(3, 8 * b.SECOND, lists[process.rank])


def all_pairs(ranks, amount):
    return {(src.rank, dst.rank): amount for src in ranks for dst in ranks if src is not dst}


def fabric(ranks, amounts, provider="cxi", domain="cxi0", speed=SLINGSHOT, sends=100, ident=1):
    """Endpoints of libfabric with so many bytes to each peer."""
    def address(rank):
        return b"addr-%s-%d" % (provider.encode(), rank)
    for process in ranks:
        peers = [{"address": address(dst), "sends": sends, "sent": amount}
                 for (src, dst), amount in sorted(amounts.items()) if src == process.rank]
        process.endpoint(ident, address(process.rank), peer=peers, provider=provider, domain=domain,
                         device=domain, speed=speed, format=0xffff)
        process.attempt(40 + ident, "fi_enable", provider=provider, domain=domain, endpoint=ident)


def offer(process, provider="cxi", domain="cxi0", speed=SLINGSHOT, state="up", ident=1,
          call="fi_getinfo", library="libfabric", **more):
    return process.attempt(ident, call, library=library, start=1100, end=1200, offer=[
        {"provider": provider, "domain": domain, "device": domain, "speed": speed, "state": state,
         "driver": "cxi_core" if provider == "cxi" else "", **more}])


def fail(process, call="fi_enable", result=-262, words="Invalid resource domain", ident=9,
         provider="cxi", domain="cxi0", caller=1, end=1400, **more):
    return process.attempt(ident, call, result=result, words=words, provider=provider,
                           domain=domain, start=1300, end=end, caller=caller, speed=SLINGSHOT,
                           device=domain, **more)


LOG = ("Failed to allocate CP, ret: -22", "Failed to allocate control TXQ, ret: -28",
       "Unable to create TX command queue")


def log(process, lines=LOG, time=1350, provider="cxi"):
    for i, line in enumerate(lines, 1):
        process.log(i, line, subsystem="ep_ctrl", provider=provider, function="cxip_pte_alloc",
                    line=100 + i, time=time + i)
    return process


def port(name, kind, rate, state="up", moved=0):
    return {"name": name, "kind": kind, "number": 1, "rate": rate, "state": state, "sent": moved,
            "received": moved, "errors": 0, "address": ""}


def node_ports(process, *ports):
    process.ports(1, 2000, list(ports))
    return process.ports(3, 8 * b.SECOND, list(ports))


__all__ = [name for name in dir() if not name.startswith("_")]
assert number
