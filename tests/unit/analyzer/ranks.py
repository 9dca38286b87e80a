# SPDX-License-Identifier: BSD-3-Clause
"""Ranks with what probes saw of their transports, for synthetic jobs."""

import struct

from show import b, w

MIB = 1 << 20
PROBES = ("libfabric", "ucx", "openmpi", "mpich", "sockets", "cma", "openfiles", "ports")


def sockaddr(address, port):
    packed = w.socket_address(address, port)
    if len(packed) == 6:
        return struct.pack("<H", 2) + packed[4:] + packed[:4] + bytes(8)
    return struct.pack("<H", 10) + packed[16:] + bytes(4) + packed[:16] + bytes(4)


def uid(number):
    return struct.pack("<Q", 0x1234567800000000 + number)


class Rank(b.Process):
    """A rank whose probes were on and which ended well."""

    def __init__(self, number, size, host="node1", net="", boot="", probes=PROBES, end=1, pid=None,
                 pid_ns=1, **chosen):
        super().__init__(number, size, host=host)
        self.world()
        self.add("PROCESS", host=host, pid=pid if pid is not None else 1000 + number,
                 boot_id=boot or "boot-" + host, pid_ns=pid_ns, clock=3,
                 abi=2 if "netmod" in chosen or "shm" in chosen else 1, began=1000)
        for name in probes:
            self.choice("probe", name, "on")
        for what, names in chosen.items():
            for name in names.split(","):
                self.choice(what, name, "loaded" if what == "btl" else "selected")
        if net:
            self.fact("namespace", "net", net)
        if end:
            self.finalize(9000, reason=end)
        self.clock = 2000

    def fact(self, section, key, value):
        return self.add("ENVIRONMENT", fact=[{"section": section, "key": key, "value": value}])

    def to(self, peer, size, count=1):
        for _ in range(count):
            self.send(peer, size, self.clock, self.clock + 5)
            self.clock += 10
        return self

    def connected(self, *connections, when=3, time=8000, **fields):
        return self.sockets(when, time, list(connections), **fields)


def ob1(number, size, btl="self,vader,tcp", **fields):
    return Rank(number, size, pml="ob1", btl=btl, **fields)
