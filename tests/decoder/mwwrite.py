# SPDX-License-Identifier: BSD-3-Clause
"""Writes mpiwatch traces for tests, from docs/format.md alone: independent of the C encoder.

A chunk is bytes; a file is chunks, one after the other. Nothing stops a test from writing nonsense:
all numbers can be given as one likes, and `frame` takes any payload.

    file = chunk("RANK", number(1, 3), number(2, 4), process=KEY)
    file += chunk("CHOICE", item=[{"what": "pml", "name": "ob1"}], process=KEY)
    file += events([send(peer=1, bytes=8), ...], process=KEY)
"""

import ipaddress
import struct

import xxhash
import zstandard

import mwformat

HEADER = struct.Struct("<4sHBBQIII")
TYPE = {name: number for number, name in enumerate(
    "FILE JOB PROCESS RANK CLOCK MODULES SITES COMM EVENTS COUNTS OPEN HEALTH ENVIRONMENT END COST "
    "THREAD".split(), 1)}
TYPE.update(ATTEMPT=19, ENDPOINT=20, LOG=21, SOCKETS=22, PORTS=23, CMA=31, CHOICE=32,
            WINDOW=24, IOFILE=25, FLOW=33, TOPOLOGY=17, PLACEMENT=18, DEVICE=28, BUFFER=29,
            REGION=26, AGGREGATE=27)

PART, ERROR, NESTED, REQUEST, FOREIGN, ORDINAL, COUNTED, STATUS, MATCHED, ANY_SOURCE, ANY_TAG, \
    CANCELLED, PERSISTENT, FREED, INTER, SYNC, BUFFERED, READY = (1 << bit for bit in range(18))
COLLECTIVE, OFFSET = 1 << 19, 1 << 20
ROW_SENT, ROW_RECEIVED = 1 << 24, 1 << 25


def spaces(send=0, receive=0):
    """Flags: the memory spaces that a call sends from and receives into."""
    return send << 21 | receive << 26


CALL, SEND, RECV, DONE, COLL, POLL = range(1, 7)
RMA, EPOCH, READ, WRITE, FILE = range(8, 13)
MASK = (1 << 64) - 1


def checksum(data):
    return xxhash.xxh64_intdigest(data, 0) & 0xFFFFFFFF


# --- numbers and fields --------------------------------------------------------------------------

def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value):
    return value * 2 if value >= 0 else -value * 2 - 1


def signed_varint(value):
    return varint(zigzag(value))


def number(field, value):
    return varint(field * 2) + varint(value)


def signed(field, value):
    return number(field, zigzag(value))


def data(field, content):
    return varint(field * 2 + 1) + varint(len(content)) + content


def text(field, content):
    return data(field, content.encode())


def record(field, *content):
    return data(field, b"".join(content))


def packed(field, values):
    return data(field, b"".join(varint(value) for value in values))


def runs(field, triples):
    return packed(field, [n for start, stride, count in triples
                          for n in (zigzag(start), zigzag(stride), count)])


def listed(description, values):
    """Fields by name, as mwformat.CHUNKS describes them; of a repeated field a list of values, of a
    record a dict."""
    by_name = {field.name: field for field in description}
    out = b""
    for name, value in values.items():
        field = by_name[name]
        for one in value if field.repeated else [value]:
            if field.what == "record":
                out += data(field.number, listed(field.inner, one))
            elif field.what == "packed":
                out += packed(field.number, one)
            elif field.what == "signed":
                out += signed(field.number, one)
            elif field.what == "number":
                out += number(field.number, one)
            else:
                out += data(field.number, one.encode() if isinstance(one, str) else one)
    return out


def socket_address(words, port):
    """'10.0.0.1' or 'fe80::1' and a port as a CONNECTION has them."""
    return ipaddress.ip_address(words).packed + struct.pack(">H", port)


# --- chunks --------------------------------------------------------------------------------------

def frame(kind, payload, process=0, version=1, flags=0, length=None, raw_length=None, check=None,
          magic=b"MWCK"):
    """A framed payload; whatever is not given is right."""
    length = len(payload) if length is None else length
    raw_length = length if raw_length is None else raw_length
    check = checksum(payload) if check is None else check
    header = HEADER.pack(magic, TYPE.get(kind, kind), version, flags, process, length, raw_length,
                         check)
    return header + struct.pack("<I", checksum(header)) + payload


def compress(content, level=3):
    return zstandard.ZstdCompressor(level=level).compress(content)


def chunk(kind, *fields, process=0, zstd=False, **named):
    payload = b"".join(fields) + (listed(mwformat.CHUNKS[kind], named) if named else b"")
    if not zstd:
        return frame(kind, payload, process)
    return frame(kind, compress(payload), process, flags=1, raw_length=len(payload))


# --- events --------------------------------------------------------------------------------------

DEFAULTS = {"flags": 0, "function": 1, "comm": 0, "peer": -2, "tag": 0, "bytes": 0, "bytes_in": 0,
            "site": 0, "start": 0, "end": 0, "request": 0, "origin": 0, "ordinal": 0, "polls": 0,
            "busy": 0, "code": 0, "offset": 0}


def event(kind, **fields):
    """An event; comm is the id, -1 none. Which fields are written follows from kind and flags."""
    unknown = set(fields) - set(DEFAULTS)
    assert not unknown, unknown
    return {**DEFAULTS, **fields, "kind": kind}


def difference(a, b):
    """a - b modulo 2^64, as the nearest signed number."""
    value = (a - b) & MASK
    return value - (1 << 64) if value >> 63 else value


class EventWriter:
    """Content of one EVENTS chunk. ORDINAL is set as given in the events: the caller decides."""

    def __init__(self, base, request, shift):
        self.shapes, self.out = {}, bytearray()
        self.last_end, self.expected, self.shift = base, request, shift

    def step(self, events):
        out = self.out
        new, used = [], []
        for item in events:
            shape = tuple(item[name] for name in ("kind", "flags", "function", "comm", "peer",
                                                  "tag", "bytes", "bytes_in", "site"))
            if shape not in self.shapes:
                self.shapes[shape] = len(self.shapes)
                new.append(item)
            used.append(self.shapes[shape])
        out += varint(len(events)) + varint(len(new))
        out += bytes(item["kind"] for item in new)
        for name in ("flags", "function"):
            out += b"".join(varint(item[name]) for item in new)
        out += b"".join(varint(item["comm"] + 1) for item in new)
        for name in ("peer", "tag"):
            out += b"".join(signed_varint(item[name]) for item in new)
        for name in ("bytes", "bytes_in", "site"):
            out += b"".join(varint(item[name]) for item in new)
        out += b"".join(varint(shape) for shape in used)
        self.columns(events)

    def columns(self, events):
        gaps, durations, requests = bytearray(), bytearray(), bytearray()
        for item in events:
            if not item["flags"] & PART:
                start, end = item["start"] >> self.shift, item["end"] >> self.shift
                gaps += signed_varint(difference(start, self.last_end))
                durations += varint((end - start) & MASK)
                self.last_end = end
        for item in events:
            if not item["flags"] & REQUEST:
                continue
            if item["kind"] == DONE:
                requests += signed_varint(difference(self.expected, item["request"]))
            else:
                requests += signed_varint(difference(item["request"], self.expected))
                self.expected = (item["request"] + 1) & MASK
        self.out += gaps + durations + requests

        def column(name, code, wanted):
            self.out += b"".join(code(item[name]) for item in events if wanted(item))

        column("origin", varint, lambda e: e["flags"] & FOREIGN)
        column("ordinal", varint, lambda e: e["flags"] & ORDINAL)
        column("polls", varint, lambda e: e["kind"] == POLL)
        column("busy", lambda busy: varint(busy >> self.shift), lambda e: e["kind"] == POLL)
        column("code", signed_varint, lambda e: e["flags"] & ERROR)
        column("offset", signed_varint, lambda e: e["flags"] & OFFSET)


def events_head(thread=0, first=0, count=0, shift=0, base=0, request=0):
    return b"".join(varint(value) for value in (thread, first, count, shift, base, request))


def events_content(events, base=0, request=0, shift=0, step=4096):
    writer = EventWriter(base, request, shift)
    for at in range(0, len(events), step):
        writer.step(events[at:at + step])
    return bytes(writer.out)


def events(items, process, thread=0, first=0, shift=0, base=None, request=0, step=4096, count=None):
    """A framed EVENTS chunk of these events. `count` only to lie about it."""
    if base is None:
        timed = [item["start"] for item in items if not item["flags"] & PART]
        base = (timed[0] if timed else 0) >> shift
    head = events_head(thread, first, len(items) if count is None else count, shift, base, request)
    content = events_content(items, base, request, shift, step)
    return frame("EVENTS", head + compress(content), process)


def give_ordinals(items):
    """Sets ORDINAL where it is needed: at the first of a key, and where the ordinal jumps."""
    last = {}
    for item in items:
        if not item["flags"] & COUNTED:
            continue
        kind = item["kind"] if item["kind"] in (SEND, COLL) else RECV
        key = (kind, item["comm"]) + (() if kind == COLL else (item["peer"], item["tag"]))
        if last.get(key) == item["ordinal"] - 1:
            item["flags"] &= ~ORDINAL
        else:
            item["flags"] |= ORDINAL
        last[key] = item["ordinal"]
    return items
