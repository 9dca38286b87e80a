# SPDX-License-Identifier: BSD-3-Clause
"""Fields, chunks and events of mpiwatch traces, read as docs/format.md says and by that document
alone (see mwdecode.py). Section numbers are that document's."""

import struct

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
TYPES.update({17: "TOPOLOGY", 18: "PLACEMENT", 19: "ATTEMPT", 20: "ENDPOINT", 21: "LOG",
              22: "SOCKETS", 23: "PORTS", 24: "WINDOW", 25: "IOFILE", 26: "REGION",
              27: "AGGREGATE", 28: "DEVICE", 29: "BUFFER", 31: "CMA", 32: "CHOICE", 33: "FLOW"})

CALL, SEND, RECV, DONE, COLL, POLL = range(1, 7)
RMA, EPOCH, READ, WRITE, FILE = range(8, 13)
KINDS = (CALL, SEND, RECV, DONE, COLL, POLL, RMA, EPOCH, READ, WRITE, FILE)
FLAGS = ("PART ERROR NESTED REQUEST FOREIGN ORDINAL COUNTED STATUS MATCHED ANY_SOURCE ANY_TAG "
         "CANCELLED PERSISTENT FREED INTER SYNC BUFFERED READY - COLLECTIVE OFFSET").split()
FLAG = {name: 1 << bit for bit, name in enumerate(FLAGS) if name != "-"}
SPACES = 0x3FF << 21  # two numbers: memory spaces
ALL_FLAGS = sum(FLAG.values()) | SPACES
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
OFFER = describe("1 provider:text 2 domain:text 3 fabric:text 4 device:text 5 speed 6 state:text "
                 "7 driver:text")
LANE = describe("1 use:text 2 transport:text 3 device:text")
PEER = describe("1 address:bytes 2 sends 3 sent 4 puts 5 put 6 gets 7 got 8 unsized") + [
    Field(9, "lane", "record", True, LANE)]
CONNECTION = describe("1 local:bytes 2 remote:bytes 3 sent 4 received 5 rtt 6 retransmits "
                      "7 interface:text 8 cookie 9 state 10 fd 11 waiting 12 min_rtt")
PORT = describe("1 name:text 2 kind:text 3 number 4 received 5 sent 6 rate 7 state:text 8 errors "
                "9 address:text")
CMA_PEER = describe("1 pid 2 reads 3 read 4 writes 5 written 6 refused 7 error 8 error_time")
ROW = describe("1 function 2 site 3 kind 4 flags 5 comm:signed 6 peer:signed 7 class 8 region "
               "9 calls 10 time 11 least 12 most 13 errors 14 operations 15 bytes 16 bytes_in "
               "17 next 18 object:signed 19 spaces")
CHOICE_ITEM = describe("1 what:text 2 name:text 3 how:text 4 source:text")
SLIT = describe("1 node 4 memory") + [Field(2, "distance", "packed"),
                                      Field(3, "cpus", "packed", group=2)]
PCI = describe("1 address:text 2 parent:text 3 class 4 vendor 5 device 6 node 7 speed 8 speed_max "
               "9 width 10 width_max 11 driver:text 12 names:text") + [
                   Field(13, "cpus", "packed", group=2)]
GPU = describe("1 node 2 pci:text 3 gpu_id 4 name:text 5 unique_id 6 hive")
GPU_LINK = describe("1 from 2 to 3 type 4 weight 5 min_bandwidth 6 max_bandwidth")
PLACED_THREAD = describe("1 tid 2 cpu 4 ticks 5 name:text 6 mpi") + [
    Field(3, "cpus", "packed", group=2)]
FOREIGN = describe("1 pid 2 name:text 3 cpu 4 busy 5 same_user 6 parent") + [
    Field(7, "cpus", "packed", group=2)]
DEVICE_PEER = describe("1 index 2 access 3 link:text 4 hops")
GPU_DEVICE = describe("1 runtime:text 2 index 3 pci:text 4 name:text 5 memory 6 uuid:text "
                      "8 current") + [Field(7, "peer", "record", True, DEVICE_PEER)]
SPACE = describe("1 id 2 kind 3 runtime:text 4 device 5 note:text 6 calls 7 bytes")

CHUNKS = {
    "FILE": describe("1 writer:text 2 host:text 3 boot_id:text 4 pid_ns 5 mnt_ns 6 user_ns 7 daemon"),
    "JOB": describe("1 key:text 2 launcher:text 3 job_id:text 4 program:text 5 command:text*"),
    "PROCESS": describe(
        "1 host:text 2 pid 3 start_time 4 ppid 5 exe:text 6 argument:text* 7 cwd:text 8 clock "
        "9 abi 10 mpi_library:text 11 rank_hint 12 size_hint 13 began 14 boot_id:text 15 pid_ns "
        "16 thread_level 17 world 18 name 19 spawner"),
    "RANK": describe("1 rank 2 size 3 library_version:text 4 standard 5 thread_level 6 init_end "
                     "7 processor_name:text 8 appnum"),
    "CLOCK": describe("1 time 2 raw 3 real 4 mono 5 width"),
    "MODULES": [Field(1, "module", "record", True, MODULE)],
    "SITES": [Field(1, "site", "record", True, SITE)],
    "COMM": describe("1 id 2 how 3 parent 4 number 5 size 6 rank 7 remote_size 8 hash 11 name:text "
                     "12 freed 13 began 14 made 15 port 17 place_hash") + [
                         Field(9, "members", "packed", group=3),
                         Field(10, "remote_members", "packed", group=3),
                         Field(16, "places", "packed", group=3)],
    "COUNTS": [Field(1, "function", "record", True, COUNT), Field(2, "thread")],
    "OPEN": [Field(1, "call", "record", True, OPEN_CALL), Field(2, "taken"), Field(3, "alive")],
    "HEALTH": describe("1 code:text 2 message:text 3 count 4 time"),
    "ENVIRONMENT": describe("1 node 2 base") + [Field(3, "fact", "record", True, FACT)],
    "END": describe("1 reason 2 time 3 code:signed 4 finalize_end"),
    "COST": describe("1 init 2 encode 3 write 4 bytes 5 chunks 6 events 7 longest 8 finalize "
                     "9 memory 10 stamp"),
    "THREAD": describe("1 thread 2 tid 3 name:text 4 main"),
    "ATTEMPT": describe(
        "1 id 2 library:text 3 call:text 4 result:signed 5 words:text 6 provider:text "
        "7 domain:text 8 fabric:text 9 caller 10 start 11 end 12 inner 13 device:text 14 speed "
        "15 driver:text 17 asked:text 18 endpoint") + [Field(16, "offer", "record", True, OFFER)],
    "ENDPOINT": describe(
        "1 id 2 library:text 3 provider:text 4 domain:text 5 caller 6 address:bytes 7 format "
        "9 device:text 10 speed 11 inner 12 time 13 unlisted") + [
            Field(8, "peer", "record", True, PEER)],
    "LOG": describe("1 id 2 library:text 3 level:text 4 subsystem:text 5 provider:text "
                    "6 function:text 7 line 8 text:text 9 count 10 time"),
    "SOCKETS": describe("1 when 2 time 4 unseen") + [
        Field(3, "connection", "record", True, CONNECTION)],
    "PORTS": describe("1 when 2 time") + [Field(3, "port", "record", True, PORT)],
    "WINDOW": describe("1 id 2 flavour 3 comm 4 number 5 size 6 unit 7 name:text 8 freed"),
    "IOFILE": describe("1 id 2 comm 3 number 4 name:text 5 mode 6 closed"),
    "FLOW": [Field(1, "comm"), Field(2, "peers", "packed", group=3), Field(3, "time")],
    "CMA": [Field(1, "peer", "record", True, CMA_PEER), Field(2, "time")],
    "CHOICE": [Field(1, "item", "record", True, CHOICE_ITEM)],
    "TOPOLOGY": describe("1 xml:bytes 2 source:text 3 took 4 failure:text") + [
        Field(5, "slit", "record", True, SLIT), Field(6, "pci", "record", True, PCI),
        Field(7, "gpu", "record", True, GPU), Field(8, "link", "record", True, GPU_LINK)],
    "PLACEMENT": describe("1 when 2 time 6 parent:text 8 cpu 9 node 10 policy:text 11 migrations "
                          "12 involuntary 13 voluntary 18 watched 19 unwatched 20 threads") + [
        *(Field(number, name, "packed", group=2) for number, name in (
            (3, "cpus"), (4, "process_cpus"), (5, "parent_cpus"), (7, "cgroup_cpus"),
            (14, "mems"))),
        Field(15, "thread", "record", True, PLACED_THREAD),
        Field(16, "foreign", "record", True, FOREIGN)],
    "DEVICE": describe("2 time 3 visible:text") + [Field(1, "device", "record", True, GPU_DEVICE)],
    "BUFFER": [Field(1, "space", "record", True, SPACE)],
    "REGION": describe("1 id 2 parent 3 level:signed 4 name:text 5 entries 6 time 7 since"),
    "AGGREGATE": describe("1 thread 2 number 3 start 4 end 5 why 7 last_function 8 last_site "
                          "9 last_end 10 spaces") + [Field(6, "row", "record", True, ROW)],
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
            if shape.kind not in KINDS:
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
            if shape.flags & FLAG["OFFSET"]:
                event["offset"] = 0
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
        for event, _ in having("OFFSET"):
            event["offset"] = source.signed()

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
