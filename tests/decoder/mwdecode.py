#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A second decoder of mpiwatch traces, written from docs/format.md alone.

It exists to keep the norm honest: what it prints must be what the C reader prints
(dump_events.c), line for line. It is written for reading, not for speed, and holds the whole
trace in memory. Needs the packages zstandard and xxhash.

    mwdecode.py [--no-events] PATH...      canonical JSON lines on stdout

Bytes of texts are printed as the code points U+0000 to U+00FF, so that any bytes come through.
"""

import json
import os
import stat
import struct
import sys

import xxhash
import zstandard

VERSION = 1
HEADER = struct.Struct("<4sHBBQIIII")
MAGIC = b"MWCK"
MAX_STORED = 1 << 24
MAX_RAW = 1 << 26
MASK = (1 << 64) - 1

TYPES = dict(enumerate(
    "FILE JOB PROCESS RANK CLOCK MODULES SITES COMM EVENTS COUNTS OPEN HEALTH ENVIRONMENT END "
    "COST THREAD".split(), 1))

CALL, SEND, RECV, DONE, COLL, POLL = range(1, 7)
FLAGS = ("PART ERROR NESTED REQUEST FOREIGN ORDINAL COUNTED STATUS MATCHED ANY_SOURCE ANY_TAG "
         "CANCELLED PERSISTENT FREED INTER SYNC BUFFERED READY").split()
FLAG = {name: 1 << bit for bit, name in enumerate(FLAGS)}
ALL_FLAGS = (1 << len(FLAGS)) - 1
PEER_NONE = -2


class Malformed(Exception):
    """Content that is not as the norm says."""


def checksum(data):
    return xxhash.xxh64_intdigest(data, 0) & 0xFFFFFFFF


# --- numbers and fields (sections 2 and 3) -------------------------------------------------------

class Bytes:
    """A place in some bytes, from which numbers are read."""

    def __init__(self, data, at=0):
        self.data = data
        self.at = at

    def more(self):
        return self.at < len(self.data)

    def varint(self):
        value = 0
        for shift in range(0, 70, 7):
            if self.at >= len(self.data):
                raise Malformed("a number is cut short")
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value > MASK:
                    break
                return value
        raise Malformed("a number over 64 bits")

    def signed(self):
        return unzigzag(self.varint())

    def byte(self):
        if self.at >= len(self.data):
            raise Malformed("cut short")
        self.at += 1
        return self.data[self.at - 1]

    def take(self, size):
        if size > len(self.data) - self.at:
            raise Malformed("bytes are cut short")
        self.at += size
        return self.data[self.at - size:self.at]


def unzigzag(value):
    return (value >> 1) ^ -(value & 1)


def numbers(data):
    source, values = Bytes(data), []
    while source.more():
        values.append(source.varint())
    return values


def raw_fields(data):
    """(id, kind, value) of each field of a list."""
    source, found = Bytes(data), []
    while source.more():
        tag = source.varint()
        if tag & 1:
            found.append((tag >> 1, 1, source.take(source.varint())))
        else:
            found.append((tag >> 1, 0, source.varint()))
    return found


def text(data):
    return data.split(b"\0", 1)[0].decode("latin-1")


class Field:
    """How one field is read: its number, its name, what it is and whether it is repeated."""

    def __init__(self, number, name, what="number", repeated=False, inner=None, group=1):
        self.number = number
        self.name = name
        self.what = what
        self.repeated = repeated
        self.inner = inner  # of a record
        self.group = group  # of a packed field

    def wants(self):
        return 0 if self.what in ("number", "signed") else 1

    def nothing(self):
        if self.repeated:
            return []
        return {"number": 0, "signed": 0, "text": "", "bytes": b"", "packed": []}[self.what]

    def read(self, value):
        if self.what == "signed":
            return unzigzag(value)
        if self.what == "text":
            return text(value)
        if self.what == "record":
            return read_list(value, self.inner)
        if self.what == "packed":
            values = numbers(value)
            if len(values) % self.group:
                raise Malformed("a packed field with a number too few")
            return values
        return value


def read_list(data, description):
    """A dict of all described fields, with "given": the names of those that are there."""
    by_number = {field.number: field for field in description}
    result = {field.name: field.nothing() for field in description}
    result["given"] = set()
    for number, kind, value in raw_fields(data):
        field = by_number.get(number)
        if field is None:
            continue
        result["given"].add(field.name)
        if kind != field.wants():
            if not field.repeated:
                result[field.name] = field.nothing()
        elif field.repeated:
            result[field.name].append(field.read(value))
        else:
            result[field.name] = field.read(value)
    return result


def describe(words):
    """'1 id 2 path:text 3 argument:text*' as fields; '*' is repeated."""
    found = []
    parts = words.split()
    for number, word in zip(parts[::2], parts[1::2]):
        name, _, what = word.rstrip("*").partition(":")
        found.append(Field(int(number), name, what or "number", word.endswith("*")))
    return found


MODULE = describe("1 id 2 path:text 3 build_id:bytes 4 start 5 end 6 role")
SITE = describe("1 id 3 truncated") + [Field(2, "frames", "packed", group=2)]
COUNT = describe("1 id 2 name:text 3 calls")
OPEN_CALL = describe("1 thread 2 function 3 start 4 comm 5 peer:signed 6 tag:signed 7 instance "
                     "8 site 9 name:text")
FACT = describe("1 section:text 2 key:text 3 value:text 4 source:text 5 removed")

CHUNKS = {
    "FILE": describe("1 writer:text 2 host:text 3 boot_id:text 4 pid_ns 5 mnt_ns 6 user_ns"),
    "JOB": describe("1 key:text 2 launcher:text 3 job_id:text 4 program:text 5 command:text*"),
    "PROCESS": describe(
        "1 host:text 2 pid 3 start_time 4 ppid 5 exe:text 6 argument:text* 7 cwd:text 8 clock "
        "9 abi 10 mpi_library:text 11 rank_hint 12 size_hint 13 began 14 boot_id:text 15 pid_ns "
        "16 thread_level"),
    "RANK": describe("1 rank 2 size 3 library_version:text 4 standard 5 thread_level 6 init_end "
                     "7 processor_name:text 8 appnum"),
    "CLOCK": describe("1 time 2 raw 3 real 4 mono 5 width"),
    "MODULES": [Field(1, "module", "record", True, MODULE)],
    "SITES": [Field(1, "site", "record", True, SITE)],
    "COMM": describe("1 id 2 how 3 parent 4 number 5 size 6 rank 7 remote_size 8 hash 11 name:text "
                     "12 freed") + [Field(9, "members", "packed", group=3),
                                    Field(10, "remote_members", "packed", group=3)],
    "COUNTS": [Field(1, "function", "record", True, COUNT), Field(2, "thread")],
    "OPEN": [Field(1, "call", "record", True, OPEN_CALL), Field(2, "taken"), Field(3, "alive")],
    "HEALTH": describe("1 code:text 2 message:text 3 count 4 time"),
    "ENVIRONMENT": describe("1 node 2 base") + [Field(3, "fact", "record", True, FACT)],
    "END": describe("1 reason 2 time 3 code:signed 4 finalize_end"),
    "COST": describe("1 init 2 encode 3 write 4 bytes 5 chunks 6 events 7 longest 8 finalize "
                     "9 memory 10 stamp"),
    "THREAD": describe("1 thread 2 tid 3 name:text 4 main"),
}


# --- chunks (section 3) --------------------------------------------------------------------------

class Header:
    """The 32 bytes before a payload; None of it is trusted unless `right`."""

    def __init__(self, data, offset):
        self.offset = offset
        self.right = self.within = False
        if len(data) - offset < HEADER.size:
            return
        (magic, self.type, self.version, self.flags, self.process, self.length, self.raw_length,
         self.check, check) = HEADER.unpack_from(data, offset)
        self.right = magic == MAGIC and check == checksum(data[offset:offset + 28])
        self.within = self.right and self.length <= MAX_STORED and self.raw_length <= MAX_RAW
        self.payload = offset + HEADER.size
        self.end = self.payload + self.length


def next_header(data, at):
    while True:
        at = data.find(MAGIC, at)
        if at < 0 or len(data) - at < HEADER.size:
            return len(data)
        if Header(data, at).within:
            return at
        at += 1


def chunks(data, damage):
    """(header, payload) of each whole chunk; damage(offset, length, status) for the rest."""
    at = 0
    while at < len(data):
        header = Header(data, at)
        status, search = None, None
        if len(data) - at < HEADER.size:
            status, search = "TRUNCATED", len(data)
        elif not header.right:
            status, search = "CORRUPT", at + 1
        elif not header.within:
            status, search = "LIMIT", header.payload
        elif header.end > len(data):
            status, search = "TRUNCATED", header.payload
        elif checksum(data[header.payload:header.end]) != header.check:
            follows = header.end == len(data) or Header(data, header.end).within
            status, search = "CORRUPT", header.end if follows else header.payload
        if status is None:
            yield header, data[header.payload:header.end]
            at = header.end
        else:
            following = next_header(data, search)
            damage(at, following - at, status)
            at = following


def decompress(frame, limit):
    """The content of exactly one zstd frame, at most `limit` bytes."""
    try:
        if zstandard.frame_content_size(frame) > limit:
            raise Malformed("more than the header says")
        stream = zstandard.ZstdDecompressor().decompressobj()
        content = bytearray()
        for at in range(0, len(frame), 256):
            content += stream.decompress(frame[at:at + 256])
            if len(content) > limit:
                raise Malformed("more than the header says")
        if not stream.eof or stream.unused_data:
            raise Malformed("not one frame")
        return bytes(content)
    except zstandard.ZstdError as error:
        raise Malformed(str(error)) from error


def content(header, payload):
    if header.flags & 1:
        payload = decompress(payload, header.raw_length)
    if len(payload) != header.raw_length:
        raise Malformed("not as long as the header says")
    return payload


# --- events (section 5) --------------------------------------------------------------------------

class Shape:
    """What events have in common; filled column by column."""

    COLUMNS = (("flags", Bytes.varint), ("function", Bytes.varint), ("comm", Bytes.varint),
               ("peer", Bytes.signed), ("tag", Bytes.signed), ("bytes", Bytes.varint),
               ("bytes_in", Bytes.varint), ("site", Bytes.varint))

    def key(self):
        if self.kind == COLL:
            return (COLL, self.comm)
        return (SEND if self.kind == SEND else RECV, self.comm, self.peer, self.tag)


class EventChunk:
    """One EVENTS chunk: its head at once, its events when they are wanted."""

    def __init__(self, payload):
        source = Bytes(payload)
        (self.thread, self.first, self.count, self.shift, self.base,
         self.request) = (source.varint() for _ in range(6))
        self.frame = payload[source.at:]
        if self.shift > 63 or self.count > MAX_RAW or self.first + self.count > MASK:
            raise Malformed("absurd numbers")
        self.end = self.first + self.count

    def events(self):
        """The events, as far as they are well formed, and whether that is all of them."""
        events = []
        try:
            try:
                data = decompress_beginning(self.frame)
            except Malformed:
                return events, False
            self.source = Bytes(data)
            self.shapes, self.next_ordinal = [], {}
            self.last_end, self.expected = self.base, self.request
            while len(events) < self.count:
                events.extend(self.step(self.count - len(events)))
        except Malformed:
            return events, False
        return events, True

    def introduce(self, count):
        new = [Shape() for _ in range(count)]
        for shape in new:
            shape.kind = self.source.byte()
            if not CALL <= shape.kind <= POLL:
                raise Malformed("an unknown kind")
        for name, read in Shape.COLUMNS:
            for shape in new:
                setattr(shape, name, read(self.source))
        for shape in new:
            if shape.flags & ~ALL_FLAGS:
                raise Malformed("an unknown flag")
            if shape.comm >> 63:
                raise Malformed("an absurd communicator")
        self.shapes += new
        if len(self.shapes) > 65536:
            raise Malformed("too many shapes")

    def step(self, left):
        source = self.source
        n, m = source.varint(), source.varint()
        if not 1 <= n <= 4096 or m > n or n > left:
            raise Malformed("absurd numbers in a step")
        self.introduce(m)
        events = []
        for _ in range(n):
            number = source.varint()
            if number >= len(self.shapes):
                raise Malformed("a shape that was not introduced")
            shape = self.shapes[number]
            event = {"kind": shape.kind, "flags": shape.flags, "function": shape.function,
                     "start": 0, "end": 0, "comm": shape.comm - 1, "peer": shape.peer,
                     "tag": shape.tag, "bytes": shape.bytes, "bytes_in": shape.bytes_in,
                     "site": shape.site, "request": 0, "origin": 0, "ordinal": -1, "polls": 0,
                     "busy": 0, "code": 0}
            events.append((event, shape))
        self.columns(events)
        return [event for event, _ in events]

    def columns(self, events):
        source = self.source

        def having(flag):
            return (pair for pair in events if pair[0]["flags"] & FLAG[flag])

        timed = [event for event, _ in events if not event["flags"] & FLAG["PART"]]
        gaps = [source.signed() for _ in timed]
        durations = [source.varint() for _ in timed]
        for event, gap, duration in zip(timed, gaps, durations):
            start = (self.last_end + gap) & MASK
            self.last_end = (start + duration) & MASK
            event["start"] = (start << self.shift) & MASK
            event["end"] = (self.last_end << self.shift) & MASK
        for event, _ in having("REQUEST"):
            value = source.signed()
            event["origin"] = self.thread
            if event["kind"] == DONE:
                event["request"] = (self.expected - value) & MASK
            else:
                event["request"] = (self.expected + value) & MASK
                self.expected = (event["request"] + 1) & MASK
        for event, _ in having("FOREIGN"):
            event["origin"] = source.varint()
        given = {id(event): source.varint() for event, _ in having("ORDINAL")}
        for event, shape in events:
            self.ordinal(event, shape, given.get(id(event)))
        polls = [event for event, _ in events if event["kind"] == POLL]
        for event in polls:
            event["polls"] = source.varint()
        for event in polls:
            event["busy"] = (source.varint() << self.shift) & MASK
        for event, _ in having("ERROR"):
            event["code"] = source.signed()

    def ordinal(self, event, shape, given):
        if given is not None and given >> 63:
            raise Malformed("an absurd ordinal")
        if not event["flags"] & FLAG["COUNTED"]:
            return
        key = shape.key()
        if given is None:
            given = self.next_ordinal.get(key)
            if given is None or given >> 63:
                raise Malformed("no ordinal to go on from")
        event["ordinal"] = given
        self.next_ordinal[key] = given + 1


def decompress_beginning(frame):
    """The content of a frame as far as it goes: what is missing shows when it is read."""
    stream = zstandard.ZstdDecompressor(max_window_size=1 << 23).decompressobj()
    content_ = bytearray()
    try:
        for at in range(0, len(frame), 256):
            content_ += stream.decompress(frame[at:at + 256])
            if len(content_) > MAX_RAW:
                raise Malformed("more content than the format allows")
            if stream.eof:
                break
    except zstandard.ZstdError:
        pass
    return bytes(content_)


# --- the trace -----------------------------------------------------------------------------------

def small(value, otherwise):
    return value if value < 1 << 31 else otherwise


def less_one(value):
    return value - 1 if value < 1 << 63 else -1


CLOCK_FIELDS = ("time", "raw", "real", "mono", "width")


class Process:
    """What all chunks of one process key say."""

    def __init__(self, key):
        self.key = key
        self.last = {}       # type: fields of the chunk that counts
        self.clocks, self.modules, self.sites, self.comms = set(), {}, {}, {}
        self.counts, self.health, self.threads = {}, {}, {}
        self.facts, self.base, self.base_place, self.node = {}, 0, None, 0
        self.chunks = []     # of events

    def add(self, name, fields, place):
        handler = getattr(self, "add_" + name.lower(), None)
        if handler is None:
            self.last[name] = fields
        elif name == "ENVIRONMENT":
            handler(fields, place)
        else:
            handler(fields)

    def add_clock(self, fields):
        self.clocks.add(tuple(fields[name] for name in CLOCK_FIELDS))

    def add_modules(self, fields):
        for module in fields["module"]:
            self.modules[module["id"]] = module

    def add_sites(self, fields):
        for site in fields["site"]:
            self.sites[site["id"]] = site

    def add_comm(self, fields):
        known = self.comms.setdefault(fields["id"], read_list(b"", CHUNKS["COMM"]))
        for name in fields["given"]:
            known[name] = fields[name]

    def add_counts(self, fields):
        total = sum(function["calls"] for function in fields["function"]) & MASK
        known = self.counts.get(fields["thread"])
        if known is None or total >= known[0]:
            self.counts[fields["thread"]] = (total, fields["function"])

    def add_health(self, fields):
        self.health[fields["code"]] = fields

    def add_thread(self, fields):
        self.threads[fields["thread"]] = fields

    def add_end(self, fields):
        weight = {5: 1, 4: 2}
        fields["reason"] = small(fields["reason"], 0)
        known = self.last.get("END")
        if (known is None or not known["reason"] or
                weight.get(fields["reason"], 3) >= weight.get(known["reason"], 3)):
            self.last["END"] = fields

    def add_environment(self, fields, place):
        self.node |= fields["node"] != 0
        if fields["base"]:
            self.base, self.base_place = fields["base"], place
        for fact in fields["fact"]:
            self.facts[fact["section"], fact["key"]] = fact

    def open_calls(self):
        end = self.last.get("END")
        opened = self.last.get("OPEN")
        if opened and opened["alive"] and end and end["reason"] and end["reason"] != 5:
            return None
        return opened


class Trace:
    """All files of a trace, read."""

    def __init__(self, paths):
        self.files, self.damage, self.processes = [], [], {}
        self.nobody = Process(0)
        self.order = []
        for path in paths:
            self.add_path(path)

    def add_path(self, path):
        if not os.path.isdir(path):
            self.add_file(path)
            return
        for name in sorted(os.listdir(os.fsencode(path))):
            if name.endswith(b".mpiw") and len(name) > 5:
                full = os.path.join(path.rstrip("/") or "/", os.fsdecode(name))
                if stat.S_ISREG(os.lstat(full).st_mode):
                    self.add_file(full)
                else:
                    self.damage.append((full, 0, 0, "NOT_TRACE"))

    def process(self, key):
        if key == 0:
            return self.nobody
        if key not in self.processes:
            self.processes[key] = Process(key)
        return self.processes[key]

    def add_file(self, path):
        with open(path, "rb") as handle:
            data = handle.read()
        file = {"path": path, "size": len(data), "chunks": 0,
                "fields": read_list(b"", CHUNKS["FILE"])}
        self.files.append(file)
        newer = []

        def damage(offset, length, status):
            self.damage.append((path, offset, length, status))

        for header, payload in chunks(data, damage):
            file["chunks"] += 1
            if header.version > VERSION:
                newer.append(header.offset)
                continue
            try:
                if header.version == 0:
                    raise Malformed("version 0")
                self.add_chunk(file, header, payload)
            except Malformed:
                damage(header.offset, HEADER.size + header.length, "CORRUPT")
        if newer:
            self.damage.append((path, newer[0], 0, "NEWER"))

    def add_chunk(self, file, header, payload):
        name = TYPES.get(header.type)
        if name is None:
            return
        if name == "EVENTS":
            if header.flags & 1 or header.process == 0 or header.raw_length != header.length:
                raise Malformed("not as EVENTS must be")
            chunk = EventChunk(payload)
            self.process(header.process).chunks.append(chunk)
            return
        fields = read_list(content(header, payload), CHUNKS[name])
        process = self.process(header.process)
        if name == "FILE":
            file["fields"] = fields
        else:
            process.add(name, fields, (file["path"], header.offset))

    # Facts build on those of other processes.

    def in_cycle(self, process):
        seen, at = set(), process
        while at.base and at.base in self.processes and at.key not in seen:
            seen.add(at.key)
            at = self.processes[at.base]
            if at is process:
                return True
        return False

    def facts(self, process):
        chain = [process]
        while True:
            last = chain[-1]
            if not last.base or last.base not in self.processes or self.in_cycle(last):
                break
            chain.append(self.processes[last.base])
        facts = {}
        for link in reversed(chain):
            for key, fact in link.facts.items():
                facts.pop(key, None)
                if not fact["removed"]:
                    facts[key] = fact
        return facts

    def judge_facts(self):
        for process in self.processes.values():
            if process.base and process.base not in self.processes:
                self.damage.append((*process.base_place, 0, "NOT_FOUND"))
            elif process.base and self.in_cycle(process):
                self.damage.append((*process.base_place, 0, "CORRUPT"))

    def job(self):
        """job.mpiw says most; what it does not say comes from a process of the same job."""
        job = None
        for process in [self.nobody] + list(self.processes.values()):
            other = process.last.get("JOB")
            if other is None:
                continue
            if job is None:
                job = dict(other)
            elif not job["key"] or job["key"] == other["key"]:
                for name in ("key", "launcher", "job_id", "program", "command"):
                    job[name] = job[name] or other[name]
        return job or read_list(b"", CHUNKS["JOB"])


def thread_events(chunks_of_thread):
    """(number, event) in order, None where events are missing; and how many those are."""
    result, missing, position = [], 0, 0
    left = sorted(chunks_of_thread, key=lambda chunk: (chunk.first, -chunk.count))
    known_end = max((chunk.end for chunk in left), default=0)
    while True:
        having = [chunk for chunk in left if chunk.first <= position < chunk.end]
        if having:
            chunk = max(having, key=lambda c: c.end)
            left.remove(chunk)
            events, _ = chunk.events()
            for number, event in enumerate(events, chunk.first):
                if number >= position:
                    result.append((number, event))
                    position = number + 1
            continue
        following = min((chunk.first for chunk in left if chunk.first > position),
                        default=known_end)
        if following > position:
            missing += following - position
            position = following
            result.append(None)
        if not any(chunk.end > position for chunk in left):
            return result, missing


def calls(events, opened):
    """(number, parts, call, incomplete) of each call, in order."""
    parts = []

    def incomplete(at_end):
        call = {"kind": CALL, "flags": 0, "function": 0, "start": 0, "end": 0, "comm": -1,
                "peer": PEER_NONE, "tag": 0, "bytes": 0, "bytes_in": 0, "site": 0, "request": 0,
                "origin": 0, "ordinal": -1, "polls": 0, "busy": 0, "code": 0}
        if at_end and opened:
            call.update(function=opened[0]["function"], site=opened[0]["site"],
                        start=opened[0]["start"], end=opened[0]["start"])
        return finish(parts[-1][0] + 1, call, 1)

    def finish(number, call, is_incomplete):
        for _, part in parts:
            part["start"], part["end"] = call["start"], call["end"]
        done = (number, [part for _, part in parts], call, is_incomplete)
        parts.clear()
        return done

    for item in events:
        if item is None:
            if parts:
                yield incomplete(False)
            continue
        number, event = item
        if event["flags"] & FLAG["PART"]:
            parts.append((number, dict(event)))
        else:
            yield finish(number, dict(event), 0)
    if parts:
        yield incomplete(True)


# --- printing ------------------------------------------------------------------------------------

def emit(record, **fields):
    print(json.dumps({"record": record, **fields}, separators=(",", ":")))


def bytes_text(path):
    return os.fsencode(path).decode("latin-1")


def pick(fields, *names):
    return {name: fields[name] for name in names}


def print_process(process):
    about = process.last.get("PROCESS", read_list(b"", CHUNKS["PROCESS"]))
    rank = process.last.get("RANK")
    end = process.last.get("END", read_list(b"", CHUNKS["END"]))
    known = rank is not None
    rank = rank or read_list(b"", CHUNKS["RANK"])
    emit("process", process=f"{process.key:016x}",
         **pick(about, "host", "pid", "start_time", "ppid", "exe", "cwd", "boot_id", "mpi_library"),
         arguments=about["argument"], clock=small(about["clock"], 0), abi=small(about["abi"], 0),
         rank_hint=less_one(about["rank_hint"]),
         size_hint=small(about["size_hint"], -1) or -1, began=about["began"],
         pid_ns=about["pid_ns"], thread_level_asked=small(about["thread_level"], 0) - 1,
         has_rank=int(known), rank=small(rank["rank"], -1) if known else -1,
         size=small(rank["size"], -1) if known else -1,
         **pick(rank, "library_version", "processor_name"),
         standard=small(rank["standard"], 0),
         thread_level=small(rank["thread_level"], -1) if known else -1,
         init_end=rank["init_end"], appnum=less_one(rank["appnum"]),
         end_reason=end["reason"], end_time=end["time"], finalize_end=end["finalize_end"],
         end_code=end["code"], facts_base=f"{process.base:016x}", facts_node=int(process.node))
    cost = process.last.get("COST", read_list(b"", CHUNKS["COST"]))
    emit("cost", **pick(cost, "init", "encode", "write", "bytes", "chunks", "events", "longest",
                        "finalize", "memory", "stamp"))


def print_tables(process):
    for clock in sorted(process.clocks):
        emit("clock", **dict(zip(CLOCK_FIELDS, clock)))
    for _, module in sorted(process.modules.items()):
        emit("module", id=module["id"], path=module["path"], build_id=module["build_id"].hex(),
             start=module["start"], end=module["end"], role=small(module["role"], 0))
    for _, site in sorted(process.sites.items()):
        emit("site", id=site["id"], frames=site["frames"], truncated=int(site["truncated"] != 0))
    for _, comm in sorted(process.comms.items()):
        emit("comm", id=comm["id"], how=small(comm["how"], 20), parent=less_one(comm["parent"]),
             **pick(comm, "number", "size", "rank", "remote_size", "hash"),
             members=runs(comm["members"]), remote_members=runs(comm["remote_members"]),
             **pick(comm, "name", "freed"))


def runs(packed):
    return [value if at % 3 == 2 else unzigzag(value) for at, value in enumerate(packed)]


def print_counts(process):
    total = {}
    for _, (_, functions) in sorted(process.counts.items()):
        for function in functions:
            calls_, name = total.get(function["id"], (0, ""))
            total[function["id"]] = ((calls_ + function["calls"]) & MASK, function["name"] or name)
    for function, (calls_, name) in sorted(total.items()):
        emit("count", function=function, name=name, calls=calls_)


def print_rest(trace, process):
    opened = process.open_calls() or read_list(b"", CHUNKS["OPEN"])
    emit("open", taken=opened["taken"], alive=int(opened["alive"] != 0))
    for call in opened["call"]:
        emit("open_call", **pick(call, "thread", "function", "start", "site", "name"),
             comm=less_one(call["comm"]), peer=call["peer"], tag=call["tag"],
             instance=less_one(call["instance"]))
    for health in sorted(process.health.values(), key=lambda h: (h["time"], h["code"])):
        emit("health", **pick(health, "code", "message", "count", "time"))
    for _, fact in sorted(trace.facts(process).items()):
        emit("fact", **pick(fact, "section", "key", "value", "source"))


def print_thread(process, thread, with_events):
    known = process.threads.get(thread, read_list(b"", CHUNKS["THREAD"]))
    emit("thread", thread=thread, tid=known["tid"], name=known["name"],
         main=int(known["main"] != 0))
    if not with_events:
        return
    events, missing = thread_events([c for c in process.chunks if c.thread == thread and c.count])
    opened = process.open_calls()
    opened = [call for call in opened["call"] if call["thread"] == thread] if opened else []
    for number, parts, call, incomplete in calls(events, opened):
        for at, part in enumerate(parts):
            emit("part", number=number - len(parts) + at, **part)
        emit("call", number=number, parts=len(parts), incomplete=incomplete, **call)
    emit("missing", events=missing)


def print_trace(trace, with_events):
    trace.judge_facts()
    for file in trace.files:
        emit("file", path=bytes_text(file["path"]), size=file["size"], chunks=file["chunks"],
             **pick(file["fields"], "writer", "host", "boot_id", "pid_ns", "mnt_ns", "user_ns"))
    for path, offset, length, status in sorted(trace.damage):
        emit("damage", file=bytes_text(path), offset=offset, length=length, status=status)
    emit("job", **pick(trace.job(), "key", "launcher", "job_id", "program", "command"))
    for _, process in sorted(trace.processes.items()):
        print_process(process)
        print_tables(process)
        print_counts(process)
        print_rest(trace, process)
        opened = process.open_calls()
        threads = set(process.threads) | {chunk.thread for chunk in process.chunks if chunk.count}
        threads |= {call["thread"] for call in opened["call"]} if opened else set()
        for thread in sorted(threads):
            print_thread(process, thread, with_events)


def main(arguments):
    with_events = "--no-events" not in arguments
    paths = [argument for argument in arguments if not argument.startswith("--")]
    if not paths:
        print(__doc__, file=sys.stderr)
        return 129
    print_trace(Trace(paths), with_events)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
