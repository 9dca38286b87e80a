# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic traces for the tests of the command: jobs of which every figure is known."""

import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "decoder"))
try:
    import mwwrite as w
    from mwwrite import chunk, data, number, packed, record, runs, signed, text
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

EPOCH = 1700000000000000000  # 2023-11-14T22:13:20Z
SECOND = 1000000000


def functions():
    """Numbers of MPI functions by name, from the table."""
    path = os.path.join(HERE, "..", "..", "interpose", "api", "mpi.table")
    found = {}
    with open(path, encoding="utf-8") as table:
        for line in table:
            words = line.split()
            if len(words) >= 3 and words[0].isdigit() and words[1].startswith("MPI_"):
                found[words[1]] = int(words[0])
    return found


F = functions()


class Process:
    """One process: its metadata and events. Times are nanoseconds (clock 3), from 0 on."""

    def __init__(self, rank, size, host="node1", key=None, began=1000, hint=False, launched=0,
                 name=0, spawner=0):
        self.rank, self.size, self.host, self.began = rank, size, host, began
        self.key = key if key is not None else 0x1000 + rank
        self.hint = hint
        self.launched = launched  # PROCESS.world
        self.name, self.spawner = name, spawner
        self.parent = 1
        self.extra = []
        self.threads = {}
        self.program = "/opt/app/bin/solver"
        self.arguments = ["./solver", "--steps=10"]
        self.cwd = "/home/alice/run"
        self.library = "/usr/lib/libmpi.so.40"
        self.abi = 1  # Open MPI
        self.version = "Open MPI v4.1.4, package: Debian OpenMPI"
        self.clocks = (0, 10 * SECOND)
        self.request = 0
        self.numbers = {}

    def add(self, kind, *fields, **options):
        self.extra.append(chunk(kind, *fields, process=self.key, **options))
        return self

    def event(self, kind, name, thread=0, **fields):
        item = w.event(kind, function=F[name], **fields)
        self.threads.setdefault(thread, []).append(item)
        return item

    def number(self, *key):
        """What the recorder counts: how many there were before of this key."""
        found = self.numbers.get(key, 0)
        self.numbers[key] = found + 1
        return found

    def call(self, name, start, end, **fields):
        return self.event(w.CALL, name, start=start, end=end, comm=-1, **fields)

    def send(self, peer, size, start, end, name="MPI_Send", flags=0, tag=5, **fields):
        return self.event(w.SEND, name, peer=peer, bytes=size, start=start, end=end, tag=tag,
                          flags=flags, **fields)

    def recv(self, peer, size, start, end, name="MPI_Recv", flags=w.STATUS, tag=5, **fields):
        return self.event(w.RECV, name, peer=peer, bytes_in=size, start=start, end=end, tag=tag,
                          flags=flags, **fields)

    def coll(self, name, start, end, instance, size=8, comm=0, root=-1, flags=0, **fields):
        return self.event(w.COLL, name, start=start, end=end, bytes=size, bytes_in=size, comm=comm,
                          peer=root, flags=w.COUNTED | w.ORDINAL | flags, ordinal=instance,
                          **fields)

    def start(self):
        """The number of the next request."""
        self.request += 1
        return self.request - 1

    def done(self, request, name="MPI_Waitall", flags=0, thread=0, **fields):
        return self.event(w.DONE, name, request=request, flags=w.REQUEST | flags, thread=thread,
                          **fields)

    def world(self, name=""):
        fields = [number(1, 0), number(2, 1), number(5, self.size), number(6, self.rank),
                  number(8, 777)]
        if self.rank == 0:
            fields.append(runs(9, [(0, 1, self.size)]))
        if name:
            fields.append(text(11, name))
        return self.add("COMM", *fields)

    def comm(self, ident, how, size, remote_size=0, members=None, remote=None, places=None, **fields):
        """A communicator that not only the world is in: `members` as runs, by default the world."""
        members = [(0, 1, self.size)] if members is None else members
        if remote_size and remote is None:
            remote = [(-16, -1, remote_size)]
        groups = [w.runs(9, members)] + ([w.runs(10, remote)] if remote else [])
        groups += [w.runs(16, places)] if places else []
        self.extra.append(chunk("COMM", *groups, process=self.key, id=ident, how=how, size=size,
                                rank=self.rank, remote_size=remote_size, **fields))
        return self

    def finalize(self, time, reason=1, code=0):
        return self.add("END", number(1, reason), number(2, time), signed(3, code),
                        number(4, time if reason == 1 else 0))

    def open_call(self, name, start, instance=None, peer=-2, tag=0, comm=0, taken=None, alive=0,
                  site=0):
        fields = [number(1, 0), number(2, F[name]), number(3, start), number(4, comm + 1),
                  signed(5, peer), signed(6, tag), number(8, site), text(9, name)]
        if instance is not None:
            fields.append(number(7, instance + 1))
        rest = [number(2, EPOCH + taken)] if taken is not None else []
        return self.add("OPEN", record(1, *fields), *rest, number(3, alive))

    # What it saw of the fabric and the kernel. Fields by their names in docs/format.md; `peer`,
    # `offer`, `connection`, `port` are lists of dicts.

    def attempt(self, ident, call, result=0, start=1100, end=1200, library="libfabric", **fields):
        return self.add("ATTEMPT", id=ident, library=library, call=call, result=result, start=start,
                        end=end, **fields)

    def endpoint(self, ident, address, peer=(), library="libfabric", **fields):
        return self.add("ENDPOINT", id=ident, library=library, address=address, peer=peer,
                        **fields)

    def log(self, ident, words, library="libfabric", level="warn", count=1, time=1150, **fields):
        return self.add("LOG", id=ident, library=library, level=level, text=words, count=count,
                        time=time, **fields)

    def sockets(self, when, time, connection, **fields):
        return self.add("SOCKETS", when=when, time=time, connection=connection, **fields)

    def ports(self, when, time, port):
        return self.add("PORTS", when=when, time=time, port=port)

    def cma(self, peer, time=0):
        return self.add("CMA", peer=peer, time=time)

    def spaces(self, *kinds):
        """Memory spaces 1, 2 … of these kinds (docs/format.md, BUFFER), of HIP's device 0."""
        return self.add("BUFFER", space=[
            {"id": ident, "kind": kind, "runtime": "hip", "device": 1, "calls": 1, "bytes": 1}
            for ident, kind in enumerate(kinds, 1)])

    def choice(self, what, name, how="selected", source=""):
        return self.add("CHOICE", item=[{"what": what, "name": name, "how": how,
                                         "source": source}])

    def metadata(self):
        out = [chunk("PROCESS", text(1, self.host), number(2, 1000 + self.rank), number(3, 77),
                     number(4, self.parent), text(5, self.program),
                     *[text(6, argument) for argument in self.arguments], text(7, self.cwd),
                     number(8, 3), number(9, self.abi), text(10, self.library), number(11, self.rank + 1),
                     number(12, self.size), number(13, self.began), text(14, "boot-" + self.host),
                     number(17, self.launched), number(18, self.name), number(19, self.spawner),
                     process=self.key)]
        if not self.hint:
            out.append(chunk("RANK", number(1, self.rank), number(2, self.size),
                             text(3, self.version), number(4, 31), number(5, 0),
                             number(6, self.began + 100), text(7, self.host), process=self.key))
        for time in self.clocks:
            out.append(chunk("CLOCK", number(1, time), number(2, time), number(3, EPOCH + time),
                             number(4, time), process=self.key))
        return out

    def chunks(self):
        out = self.metadata() + self.extra
        for thread, items in sorted(self.threads.items()):
            out.append(w.events(w.give_ordinals(items), self.key, thread=thread))
        return b"".join(out)


def job(program="solver", command="mpirun -n 2 ./solver --steps=10", key="job-key"):
    return chunk("JOB", text(1, key), text(2, "Open MPI"), text(3, "4711"), text(4, program),
                 text(5, command))


def write(path, *parts):
    """A packed file of bytes, processes or both."""
    with open(path, "wb") as out:
        for part in parts:
            out.write(part if isinstance(part, bytes) else part.chunks())
    return path


def parse(content):
    """The chunks of a file: (type, version, flags, process, payload as stored)."""
    out, at = [], 0
    while at < len(content):
        magic, kind, version, flags, process, length, _, _, _ = struct.unpack(
            "<4sHBBQIIII", content[at:at + 32])
        assert magic == b"MWCK", at
        out.append((kind, version, flags, process, content[at + 32:at + 32 + length]))
        at += 32 + length
    return out


def connection(local, remote, fd=10, **fields):
    """A connection of SOCKETS; local and remote are ("10.0.0.1", port)."""
    return {"local": w.socket_address(*local), "remote": w.socket_address(*remote), "fd": fd,
            "cookie": fields.pop("cookie", 100 + fd), "state": fields.pop("state", 1), **fields}


def module(ident, path, build_id=b"", role=0, start=0x400000, end=0x500000):
    return record(1, number(1, ident), text(2, path), data(3, build_id), number(4, start),
                  number(5, end), number(6, role))


def site(ident, *frames):
    return record(1, number(1, ident), packed(2, [n for frame in frames for n in frame]))
