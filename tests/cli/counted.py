# SPDX-License-Identifier: BSD-3-Clause
"""Processes whose messages carry running numbers, for the tests of matching, speeds and waits."""

import build_trace as b
import mwwrite as w

WORLD = 0


class Rank(b.Process):
    """Counts as the recorder does: sends and receives by (communicator, peer, tag) and thread, wildcards when they
    are matched, collectives by communicator."""

    def __init__(self, rank, size, **options):
        super().__init__(rank, size, **options)
        self.world()

    def skip(self, kind, peer, count, tag=5, comm=WORLD, thread=0):
        """Messages that were counted and not recorded."""
        key = (kind, comm, peer, tag, thread)
        self.numbers[key] = self.numbers.get(key, 0) + count

    def to(self, peer, size, start, end, tag=5, flags=0, thread=0, **fields):
        return self.send(peer, size, start, end, tag=tag, flags=w.COUNTED | flags, thread=thread,
                         ordinal=self.number("send", WORLD, peer, tag, thread), **fields)

    def take(self, peer, size, start, end, tag=5, flags=w.STATUS, thread=0, **fields):
        return self.recv(peer, size, start, end, tag=tag, flags=w.COUNTED | flags, thread=thread,
                         ordinal=self.number("recv", WORLD, peer, tag, thread), **fields)

    def isend(self, peer, size, start, end, **fields):
        request = self.start()
        self.to(peer, size, start, end, name="MPI_Isend", request=request,
                flags=w.REQUEST | fields.pop("flags", 0), **fields)
        return request

    def irecv(self, peer, size, start, end, **fields):
        request = self.start()
        self.take(peer, size, start, end, name="MPI_Irecv", flags=w.REQUEST, request=request,
                  **fields)
        return request

    def any(self, start, end, size=100, tag=5, any_tag=False, peer=-1):
        """A wildcard receive."""
        request = self.start()
        flags = w.REQUEST | (w.ANY_SOURCE if peer == -1 else 0) | (w.ANY_TAG if any_tag else 0)
        self.recv(peer, size, start, end, name="MPI_Irecv", flags=flags, request=request,
                  tag=-1 if any_tag else tag)
        return request

    def wait(self, request, start, end, flags=0, name="MPI_Wait", **fields):
        return self.done(request, name=name, flags=flags, start=start, end=end, **fields)

    def matched(self, request, peer, size, start, end, tag=5, **fields):
        """The completion of a wildcard receive."""
        return self.wait(request, start, end, flags=w.STATUS | w.MATCHED | w.COUNTED, peer=peer,
                         tag=tag, bytes_in=size,
                         ordinal=self.number("recv", WORLD, peer, tag, 0), **fields)

    def waitall(self, requests, start, end, size=100, held=None):
        """held: ns for which recording kept the call after its end."""
        for request in requests:
            self.done(request, flags=w.STATUS | w.PART, bytes_in=size, start=start, end=end)
        told = {} if held is None else {"flags": w.OFFSET, "offset": held}
        self.call("MPI_Waitall", start, end, **told)

    def access(self, name, peer, start, end, out=0, back=0, window=0, flags=0, **fields):
        return self.event(w.RMA, name, comm=WORLD, peer=peer, tag=window, bytes=out, bytes_in=back, start=start, end=end,
                          flags=flags, **fields)

    def window(self, name, start, end, peer=-1, window=0, **fields):
        """A call that opens, closes or orders accesses; peer -1: to all."""
        return self.event(w.EPOCH, name, comm=WORLD, peer=peer, tag=window, start=start, end=end, **fields)

    def all(self, name, start, end, **fields):
        return self.coll(name, start, end, self.number("coll"), **fields)


def ranks(count, hosts=None, **options):
    return [Rank(n, count, host=hosts[n] if hosts else "node1", **options) for n in range(count)]
