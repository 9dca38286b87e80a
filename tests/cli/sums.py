# SPDX-License-Identifier: BSD-3-Clause
"""Makes sums of a synthetic process's events, from docs/format.md (AGGREGATE) alone: what a recorder would have
written of the same calls, had it kept no detail."""

import mwwrite as w
from build_trace import chunk

MESSAGES = (w.SEND, w.RECV)
# Of a call with several operations: which of them its time belongs to.
FIRST = (w.SEND, w.RECV, w.COLL, w.RMA, w.READ, w.WRITE)


def is_counted(item):
    later = item["kind"] in (w.RECV, w.READ) and item["flags"] & w.REQUEST
    return item["kind"] != w.CALL and not item["flags"] & w.ERROR and not later


def amounts(item):
    """(bytes, bytes_in) of an event that starts an operation."""
    return item["bytes"], 0 if item["flags"] & w.OFFSET else item["bytes_in"]


class Sums:
    def __init__(self, process):
        self.process, self.rows, self.slices = process, {}, {}
        self.requests = {
            (thread, item["request"]): item
            for thread, items in process.threads.items()
            for item in items
            if item["flags"] & w.REQUEST and item["kind"] != w.DONE
        }

    def row(self, thread, kind, function, site, flags=0, comm=-1, peer=-2, size=0, object=0, spaces=0):
        key = (thread, kind, function, site, flags, comm, peer, size.bit_length(), object, spaces)
        return self.rows.setdefault(key, dict(calls=0, time=0, least=w.MASK, most=0, errors=0,
                                              operations=0, bytes=0, bytes_in=0, next=0))

    def operation(self, thread, start, peer, size, size_in, flags, call=0):
        """One operation; start: the event of the call that started it; call: flags of the row's calls."""
        kind, kept = start["kind"], 0
        if kind in (w.COLL, w.RMA):
            kept |= (w.ROW_SENT if size else 0) | (w.ROW_RECEIVED if size_in else 0)
        if kind == w.COLL:
            kept |= start["flags"] & (w.INTER | w.PERSISTENT)
        if kind in (w.READ, w.WRITE):
            kept |= start["flags"] & w.COLLECTIVE
        if kind in (w.RECV, w.READ):
            kept |= flags & w.STATUS
        measure = {w.RECV: size_in, w.RMA: size + size_in}.get(kind, size)
        row = self.row(thread, kind, start["function"], start["site"], kept | call, start["comm"], peer,
                       measure, self.object(start), self.spaces(start))
        row["operations"] += 1
        row["bytes"] += size
        row["bytes_in"] += size_in
        if kind == w.COLL and start["flags"] & w.COUNTED:
            row["next"] = max(row["next"], start["ordinal"] + 1)
        return row

    @staticmethod
    def spaces(start):
        return start["flags"] >> 21 & 0x3ff

    @staticmethod
    def object(start):
        named = start["kind"] > w.POLL or (start["kind"] == w.COLL and start["flags"] & w.PERSISTENT)
        return start["tag"] if named else 0

    def completion(self, thread, item):
        """(start, peer) of a completion, its operation counted where only it tells; None: unknown."""
        origin = item["origin"] if item["flags"] & w.FOREIGN else thread
        start = self.requests.get((origin, item["request"]))
        if start is None:
            return None
        flags, kind = item["flags"], start["kind"]
        peer = item["peer"] if flags & w.MATCHED else start["peer"]
        known, cancelled = flags & w.STATUS, flags & w.CANCELLED
        size = item["bytes_in"] if known else start["bytes" if kind == w.READ else "bytes_in"]
        if flags & (w.ERROR | w.FREED):
            return start, peer
        if cancelled and kind in MESSAGES:
            row = self.row(thread, kind, start["function"], start["site"], w.CANCELLED, start["comm"], peer,
                           start["bytes"] if kind == w.SEND else 0, spaces=self.spaces(start))
            row["operations"] += 1
            row["bytes"] += start["bytes"] if kind == w.SEND else 0
        elif kind == w.RECV:
            self.operation(thread, start, peer, 0, size, flags)
        elif kind == w.READ:
            self.operation(thread, start, peer, size, 0, flags)
        return start, peer

    def call(self, row, thread, item, calls=1, time=None):
        time = max(0, item["end"] - item["start"]) if time is None else time
        row["calls"] += calls
        row["time"] += time
        row["least"], row["most"] = min(row["least"], time), max(row["most"], time)
        row["errors"] += bool(item["flags"] & w.ERROR)
        part = self.slices.setdefault(thread, dict(start=w.MASK, end=0, last_end=0))
        part["start"], part["end"] = min(part["start"], item["start"]), max(part["end"], item["end"])
        if not item["flags"] & w.NESTED and item["end"] >= part["last_end"]:
            part.update(last_function=item["function"], last_site=item["site"], last_end=item["end"])

    def several(self, thread, item, done):
        """A call with parts: (kind, peer, comm) of each of its operations."""
        kinds = {kind for kind, _, _ in done}
        kind = next((first for first in FIRST if first in kinds), w.CALL)
        alone = len(kinds) == 1 and (kind not in MESSAGES or len({peer for _, peer, _ in done}) == 1)
        row = self.row(thread, kind, item["function"], item["site"],
                       item["flags"] & (w.NESTED | w.ERROR) | (w.REQUEST if kind > w.POLL else 0),
                       done[-1][2] if kind == w.COLL and alone else -1,
                       done[0][1] if kind in MESSAGES and alone else -2,
                       0, -1 if kind > w.POLL else 0)
        self.call(row, thread, item)

    def own(self, thread, item):
        """A call with one event."""
        where = item["function"], item["site"]
        flags = item["flags"] & (w.NESTED | w.ERROR)
        if item["kind"] == w.POLL:
            row = self.row(thread, w.POLL, *where, flags)
            return self.call(row, thread, item, item["polls"], item["busy"])
        if item["kind"] == w.DONE:
            found = self.completion(thread, item)
            if found is None:
                return self.call(self.row(thread, w.CALL, *where, flags), thread, item)
            start, peer = found
            kind = start["kind"]
            if kind > w.POLL:
                flags |= w.REQUEST
            if kind == w.RMA:
                flags |= (w.ROW_SENT if start["bytes"] else 0) | (w.ROW_RECEIVED if start["bytes_in"] else 0)
            row = self.row(thread, kind, *where, flags, start["comm"] if kind == w.COLL else -1, peer, 0,
                           self.object(start))
            return self.call(row, thread, item)
        if is_counted(item):
            row = self.operation(thread, item, item["peer"], *amounts(item), item["flags"], flags)
        else:
            peer = -2 if item["kind"] == w.CALL else item["peer"]
            row = self.row(thread, item["kind"], *where, flags, item["comm"], peer, 0, self.object(item))
        return self.call(row, thread, item)

    def take(self, thread, items):
        parts = []
        for item in w.give_ordinals(items):
            if item["flags"] & w.PART:
                parts.append(item)
                continue
            done = []
            for part in parts + [item] * bool(parts):
                if part["kind"] == w.DONE:
                    found = self.completion(thread, part)
                    if found:
                        done.append((found[0]["kind"], found[1], found[0]["comm"]))
                elif part["kind"] in FIRST:
                    started = dict(part, function=item["function"], site=item["site"])
                    if is_counted(part):
                        self.operation(thread, started, part["peer"], *amounts(part), part["flags"])
                    done.append((part["kind"], part["peer"], part["comm"]))
            if done:
                self.several(thread, item, done)
            else:
                self.own(thread, item)
            parts = []

    def chunks(self):
        out = []
        for thread, items in self.process.threads.items():
            self.take(thread, items)
        names = ("kind", "function", "site", "flags", "comm", "peer", "class", "object", "spaces")
        for thread, part in self.slices.items():
            rows = [dict(zip(names, key[1:]), **row) for key, row in self.rows.items() if key[0] == thread]
            for row in rows:
                row["least"] = min(row["least"], row["most"])
            out.append(chunk("AGGREGATE", thread=thread, number=0, why=1, spaces=1, row=rows, process=self.process.key,
                             **part))
        return b"".join(out)


class Summed:
    """A process whose calls are sums; for build_trace.write."""

    def __init__(self, process):
        self.process = process

    def chunks(self):
        return b"".join(self.process.metadata() + self.process.extra) + Sums(self.process).chunks()

