# SPDX-License-Identifier: BSD-3-Clause
"""Traces that were made to harm: whatever is in one, each command ends soon, in little memory, and
shows nothing that a terminal, a script or a spreadsheet would obey.

MPIWATCH_HOSTILE_RECORDS: how many records of each kind (4000); the limits grow with it. For a build
with sanitizers: MPIWATCH_HOSTILE_MEMORY=0, which needs all addresses.
"""

import csv
import json
import os
import re
import resource
import subprocess
import sys
import time
import unicodedata
import xml.etree.ElementTree
from xml.sax.saxutils import escape

import build_trace as b
import mwformat
import mwwrite as w
import placed_jobs as p
from build_trace import F, Process, job
from cli import MPIWATCH, CliTest, main
from machines import MACHINES

RECORDS = int(os.environ.get("MPIWATCH_HOSTILE_RECORDS", "4000"))
SECONDS = 20 + RECORDS // 5000
MEMORY = int(os.environ.get("MPIWATCH_HOSTILE_MEMORY", str(1500 + RECORDS // 250))) << 20
MASK = (1 << 64) - 1
EVIL = "a\x1b]0;owned\x07\x1b[31m\r\n\t\x9b2J\x7f\u202e\u2066</script><b>&\"',=cmd|' /C calc'!A0 %s%n\\\u0000"
RAW = EVIL.encode()[:-1] + b"\xc0\xaf\xff\xfe\x80 \xed\xa0\x80"

FORMATS = ("text", "csv", "json")


def matrices(metrics, kinds, groupings):
    """Each of these matrices in each format."""
    return [("matrix", "--metric=" + metric, "--kind=" + kinds, "--by=" + by, "--format=" + how)
            for metric in metrics for by in groupings for how in FORMATS]


PLACES = ("rank", "node", "numa", "socket", "gpu")
VIEWS = [
    ("report",), ("report", "--format=json"), ("transports",), ("transports", "--format=json"),
    ("transports", "--format=csv"), ("transports", "--rank=0"), ("info",), ("info", "--format=json"),
    ("dump",), ("dump", "--format=json"), ("check",), ("check", "--format=json"),
    ("check", "-e", "transport=tcp", "-e", "transport[inter-node]=cxi", "-e", "no-finding"),
    ("check", "--format=json", "-e", "ranks=2", "-e", "ended=abort", "-e", "finding=late-rank", "-e", "transport!=shm"),
    ("placement",), ("placement", "--format=json"), ("placement", "--format=svg"),
    ("placement", "--top=1", "--format=svg"), ("waits",), ("waits", "--format=json"), ("waits", "--top=1"),
    ("compare", "--force"), ("compare", "--force", "--format=json"), ("check", "-e", "bandwidth>=1B/s"),
    ("pack", "-o", "out.mpiw"), ("anonymize", "-o", "out.mpiw"),
    *matrices(("bytes", "messages"), "p2p,rma,coll,io", ("rank", "node")),
    *matrices(("bytes",), "p2p,rma,coll", ("numa", "socket", "gpu")), *matrices(("time",), "p2p,rma", PLACES),
    *matrices(("time",), "p2p,rma,io", ("rank",)), *matrices(("transport",), "p2p", PLACES),
    *matrices(("bandwidth", "throughput", "latency", "wait"), "p2p", ("rank",)),
    *matrices(("bandwidth",), "p2p", ("node",)),
]
# One of each kind of work, for what is about amounts.
WORK = [("report",), ("transports", "--format=json"), ("dump",), ("check",), ("info", "--format=json"),
        ("anonymize", "-o", "out.mpiw"), ("matrix", "--kind=p2p,rma,coll,io", "--format=csv"), ("placement",),
        ("placement", "--format=svg"), ("waits", "--format=json"), ("matrix", "--by=numa", "--format=csv"), ("compare", "--force", "--format=json")]


class Ran:
    """A command at work on a trace, with limits of memory and time."""

    def __init__(self, folder, arguments, trace):
        self.out_path, self.err_path = (os.path.join(folder, name) for name in ("stdout", "stderr"))
        environment = dict(os.environ, LC_ALL="C.UTF-8", UBSAN_OPTIONS="halt_on_error=1")
        traces = [trace] * (2 if arguments[0] == "compare" else 1)  # with itself
        began = time.monotonic()
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            child = subprocess.Popen([MPIWATCH, *arguments, *traces], stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=err, cwd=folder, env=environment, preexec_fn=self.limit)
            _, status, self.used = os.wait4(child.pid, 0)
            child.returncode = 0
        self.seconds = time.monotonic() - began
        self.cpu = self.used.ru_utime + self.used.ru_stime
        self.code = os.waitstatus_to_exitcode(status)

    @staticmethod
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (4 * SECONDS, 4 * SECONDS))
        if MEMORY:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    def read(self, path):
        with open(path, "rb") as stream:
            return stream.read()


def obeyed(character):
    """Whether a terminal might do something else than show it."""
    return character != "\n" and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")


class Hostile(CliTest):
    views = VIEWS

    @staticmethod
    def codes_of(view):
        """Whatever is in a trace, it is shown; only a rank may not be there."""
        return (0, 1, 125) if view[0] in ("check", "compare") else (0, 1) if "--rank=0" in view else (0,)

    def run_all(self, trace):
        slow = []
        for view in self.views:
            if os.path.exists(self.path("out.mpiw")):
                os.remove(self.path("out.mpiw"))
            with self.subTest(view=" ".join(view)):
                ran = Ran(self.folder, view, trace)
                errors = ran.read(ran.err_path).decode("utf-8", "strict")
                self.assertIn(ran.code, self.codes_of(view), errors[-2000:])
                self.assertLess(ran.cpu, SECONDS, "processor time")
                self.assertFalse([c for c in errors if obeyed(c)], errors[:500])
                self.assertLess(len(errors.splitlines()), 40)
                self.check_output(view, ran)
                slow.append((ran.cpu, ran.used.ru_maxrss // 1024, " ".join(view)))
        self.slowest(slow)

    def slowest(self, slow):
        """For whoever runs it with many records."""
        if "MPIWATCH_HOSTILE_RECORDS" in os.environ and slow:
            for cpu, megabytes, view in (max(slow), max(slow, key=lambda entry: entry[1])):
                print("%-50s %6.1f s %6d MiB  %s" % (self._testMethodName, cpu, megabytes, view))
                sys.stdout.flush()

    def check_output(self, view, ran):
        size = os.path.getsize(ran.out_path)
        self.assertLess(size, 20000 * (RECORDS + 1000), "bytes of output")
        if size > 1 << 27:
            return
        text = ran.read(ran.out_path).decode("utf-8", "strict")
        if "--format=json" not in view:
            self.assertFalse({c for c in text if obeyed(c)})
        elif view[0] == "dump":
            for line in text.splitlines()[:2000]:
                json.loads(line)
        elif text:
            json.loads(text)
        if "--format=csv" in view and text:
            self.check_csv(text)
        if "--format=svg" in view:
            self.check_svg(text)

    def check_csv(self, text):
        columns = text.splitlines()[0].count(",") + 1
        for line in text.splitlines()[:2000]:
            self.assertEqual(len(next(csv.reader([line], strict=True))), columns, line)

    def check_svg(self, text):
        """Shapes and texts, nothing that a browser would run or fetch."""
        for element in xml.etree.ElementTree.fromstring(text).iter():
            self.assertIn(element.tag.rpartition("}")[2], ("svg", "style", "rect", "text"))
            for name, value in element.attrib.items():
                self.assertFalse(name.startswith("on") or "href" in name, element.attrib)
                self.assertNotIn("url(", value)


def everything(kind, value, raw=RAW):
    """A chunk with all its fields, each number `value` and each text `raw`."""
    def fields(description):
        out = b""
        for field in description:
            if field.what in ("number", "signed"):
                out += w.number(field.number, value)
            elif field.what == "record":
                out += w.data(field.number, fields(field.inner))
            elif field.what == "packed":
                out += w.packed(field.number, [value] * field.group)
            else:
                out += w.data(field.number, raw)
        return out
    return fields(mwformat.CHUNKS[kind])


class Contents(Hostile):
    def test_texts(self):
        """Control characters, markup and formulas in every text of every chunk, at 3 of 4 ranks."""
        parts = [w.chunk(kind, everything(kind, 1), process=0) for kind in ("JOB", "FILE")]
        for rank in range(4):
            process = Process(rank, 4, host="n%d" % (rank // 2)).world()
            for kind in mwformat.CHUNKS:
                if rank and kind not in ("JOB",):
                    extra = everything(kind, rank)
                    process.add(kind, extra if kind not in ("RANK", "PROCESS") else extra + w.number(1, rank)
                                if kind == "RANK" else extra + w.number(8, 3))
            process.call("MPI_Barrier", 2000, 3000, site=rank)
            process.send((rank + 1) % 4, 100, 4000, 4100)
            process.event(w.RMA, "MPI_Put", comm=0, peer=1, tag=rank, bytes=5, start=5000, end=5100)
            process.event(w.WRITE, "MPI_File_write", comm=0, tag=rank, bytes=5, start=6000, end=6100)
            process.event(w.FILE, "MPI_File_sync", comm=0, tag=rank, start=7000, end=7100)
            parts.append(process)
        self.run_all(b.write(self.path("job.mpiw"), *parts))

    def test_numbers(self):
        """All numbers extreme: no size of anything follows from a number in a trace."""
        for value in (0, (1 << 31) - 1, 1 << 31, (1 << 63) - 1, MASK):
            with self.subTest(value=value):
                parts = [w.chunk(kind, everything(kind, value), process=key)
                         for key in (1, 2) for kind in mwformat.CHUNKS]
                parts += [w.chunk(kind, everything(kind, value), process=3) for kind in ("RANK", "COMM")]
                most = value >> 1
                items = [w.event(kind, function=value, comm=most - 1, peer=peer, tag=most, bytes=value,
                                 bytes_in=value, site=value, start=value, end=value, request=value,
                                 polls=value, busy=value, flags=flags, ordinal=most, code=most, offset=most)
                         for kind in mwformat.KINDS for peer in (most, -most - 1, 0)
                         for flags in (0, w.COUNTED | w.ORDINAL, w.REQUEST, w.ERROR, w.OFFSET)]
                parts += [w.events(w.give_ordinals([dict(item) for item in items]), key) for key in (1, 2)]
                self.run_all(b.write(self.path("job.mpiw"), *parts))

    def test_a_world_without_end(self):
        """Two ranks of 2^31 - 1, that say whatever they like of the others."""
        size = (1 << 31) - 1
        ranks = [Process(rank, size, key=1 + rank % 7) for rank in (0, size - 1)]
        for process in ranks:
            process.add("COMM", w.number(1, 0), w.number(2, 1), w.number(5, size), w.number(8, 7),
                        w.runs(9, [(0, 1, size)] * 300))
            for peer in range(0, size, size // 500):
                process.send(peer, 1 << 62, 2000, 2001)
            process.coll("MPI_Allreduce", 3000, 3001, 0, size=1 << 40)
            process.coll("MPI_Bcast", 3000, 3001, 1, size=1 << 40, root=0)
            process.coll("MPI_Gather", 3000, 3001, 2, size=1 << 40, root=5)
            process.coll("MPI_Alltoall", 3000, 3001, 3, size=1 << 40)
        self.run_all(b.write(self.path("job.mpiw"), job(), *ranks))


class Machines(Hostile):
    """hwloc's XML, and what the kernel says of a node."""

    views = [view for view in VIEWS if view[0] in ("report", "placement", "transports", "dump", "anonymize")
             or "--by=numa" in view or "--by=gpu" in view]
    machine = MACHINES["switches"]

    def on(self, xml_text, **records):
        """Two ranks, each on such a node of its own."""
        ranks = [Process(rank, 2, host="n%d" % rank).world() for rank in range(2)]
        for process in ranks:
            process.add("TOPOLOGY", xml=xml_text.encode("utf-8", "surrogateescape"),
                        **{**self.machine.records(), **records})
            p.place(process, self.machine.cpus()[:2], parent=self.machine.cpus(), group=self.machine.cpus())
            p.gpus(process, self.machine.gpu_addresses(), [0, 1])
            process.send(1 - process.rank, 8, 2000, 2001)
        self.run_all(b.write(self.path("job.mpiw"), job(), *ranks))

    def test_names(self):
        """Names of devices and files, in both."""
        evil = RAW.decode("utf-8", "surrogateescape").replace("\r", "").replace("\n", "")
        named = self.machine.xml()
        for name in ("mlx5_0", "card0", "renderD128", "0000:01:00.0"):
            named = named.replace('"%s"' % name, '"%s"' % escape(evil, {'"': "&quot;"}))
        pci = [{**record, "names": RAW, "address": RAW, "driver": RAW} for record in self.machine.records()["pci"]]
        self.on(named, pci=pci)
        self.on(named)

    def test_many_names(self):
        pci = self.machine.records()["pci"]
        self.on(self.machine.xml(), pci=[{**pci[0], "names": " ".join("n%d" % n for n in range(20 * RECORDS))}, *pci[1:]])

    def test_others(self):
        """Busy processes of others: each the child of the next, on CPUs of its own, and busy beyond all measure."""
        for others in ([{"pid": 10000 + n, "parent": 10001 + n, "cpu": 1, "busy": 90} for n in range(RECORDS)],
                       [{"pid": 10000 + n, "cpu": 1, "busy": 50, "cpus": [n, 1]} for n in range(RECORDS)],
                       [{"pid": 7, "cpu": 1, "busy": MASK >> 1, "cpus": [0, 1 << 16]}]):
            ranks = [Process(rank, 2, host="n").world() for rank in range(2)]
            for process in ranks:
                p.topology(process, self.machine)
                p.look(process, [0, 1], when=3, time=8 * b.SECOND, watched=7 * b.SECOND,
                       foreign=[{"name": "x", **other} for other in others])
            self.run_all(b.write(self.path("job.mpiw"), job(), *ranks))

    def test_numbers(self):
        """Too large, negative and missing ones."""
        for number in ("4294967295", "18446744073709551616", "-1", "", "1e9"):
            told = re.sub('(os_index|depth|nbobjs|length|pci_busid|gp_index)="[^"]*"',
                          lambda found, n=number: '%s="%s"' % (found[1], n), self.machine.xml())
            self.on(re.sub('set="[^"]*"', 'set="0xf...f,%s"' % number, told))
            self.on(re.sub('(<u64values[^>]*>)[^<]*', r"\g<1>%s " % number, self.machine.xml()))

    def test_more_than_a_machine_has(self):
        """Deep, wide, with large sets, with entities that grow; and text that ends too soon."""
        large = '<object type="Group" cpuset="%s"' % ",".join(["0xffffffff"] * 4000)
        head = '<?xml version="1.0"?><topology version="2.0">'
        self.on(head + '<object type="Group" cpuset="0x1">' * RECORDS)
        self.on(head + (large + "/>") * 100 + (large + ">") * 100)
        self.on(head + "".join('<object type="NUMANode" os_index="%d" cpuset="0x3" nodeset="0x1"/>' % n
                               for n in range(RECORDS)) + "</topology>")
        self.on('<?xml version="1.0"?><!DOCTYPE t [<!ENTITY a "aaaaaaaaaa">' + "".join(
            '<!ENTITY a%d "%s">' % (n, ("&a%d;" % (n - 1) if n else "&a;") * 10) for n in range(12)) +
            ']><topology version="2.0"><object type="Machine" name="&a11;"/></topology>')
        self.on(head + "".join('<object type="NUMANode" os_index="%d" cpuset="0x3" nodeset="0x1"/>' % n
                               for n in range(500)) + "</topology>")
        for at in range(0, len(self.machine.xml()), 4001):
            self.on(self.machine.xml()[:at])


class Chains(Hostile):
    views = WORK

    def test_facts_that_build_on_each_other(self):
        parts = []
        for n in range(1, RECORDS):
            parts.append(w.chunk("ENVIRONMENT", w.number(2, n + 1 if n + 1 < RECORDS else 1 + RECORDS // 2), w.record(
                3, w.text(1, "env"), w.text(2, "UCX_%d" % (n % 100)), w.text(3, "v")), process=n))
        self.run_all(b.write(self.path("job.mpiw"), job(), *parts))

    def test_communicators_of_each_other(self):
        """Parents in a ring and in a long chain."""
        ring, chain = Process(0, 2).world(), Process(1, 2).world()
        for n in range(1, RECORDS):
            after = n % (RECORDS - 1) + 1
            for process, parent in ((ring, after), (chain, n - 1)):
                process.add("COMM", id=n, how=3, parent=parent + 1, number=0, size=2, hash=n)
        for process in (ring, chain):
            for n in range(1, 1000):
                process.coll("MPI_Barrier", 2000, 2001, 0, comm=n)
        self.run_all(b.write(self.path("job.mpiw"), job(), ring, chain))

    def test_a_name_as_long_as_a_chunk(self):
        process = Process(0, 1).world("x" * (1 << 20))
        process.add("HEALTH", code="c", message="m" * (1 << 20))
        process.add("LOG", id=1, library="ucx", text="\x1b" * (1 << 20), count=1)
        process.add("ENVIRONMENT", fact=[{"section": "env", "key": "UCX_" + "A" * 100000, "value": "," * 100000}])
        self.run_all(b.write(self.path("job.mpiw"), job(), process))


def many(kind, record, number):
    """RECORDS chunks, or chunks of up to 1000 records: number n is record(n)."""
    if number is None:
        return [{**record(n)} for n in range(RECORDS)]
    return [{number: [record(n) for n in range(at, min(at + 1000, RECORDS))]} for at in range(0, RECORDS, 1000)]


MANY = {
    "MODULES": ("module", lambda n: {"id": n, "path": "/lib/m%d.so" % n, "build_id": b"%020d" % n, "start": n << 16}),
    "SITES": ("site", lambda n: {"id": n + 1, "frames": [1, n, 2, n * 2, 3, 7]}),
    "COMM": (None, lambda n: {"id": n, "how": 3, "parent": 1, "number": n, "size": 2, "hash": n, "name": "c%d" % n}),
    "COUNTS": ("function", lambda n: {"id": n, "name": "MPI_F%d" % n, "calls": n}),
    "OPEN": ("call", lambda n: {"thread": n, "function": 1, "start": n, "comm": 1, "name": "MPI_Send"}),
    "HEALTH": (None, lambda n: {"code": "code%d" % n, "message": "text %d" % n, "count": n}),
    "ENVIRONMENT": ("fact", lambda n: {"section": "env", "key": "UCX_%x" % n, "value": "v%d" % n, "source": "s"}),
    "CLOCK": (None, lambda n: {"time": n * 7, "raw": n * 5, "real": n, "mono": n}),
    "THREAD": (None, lambda n: {"thread": n, "tid": n, "name": "t%d" % n}),
    "ATTEMPT": (None, lambda n: {"id": n + 1, "library": "libfabric", "call": "fi_domain", "result": -(n % 300),
                                 "words": "w%d" % n, "provider": "p%d" % n, "domain": "d%d" % n, "start": n,
                                 "end": n + 1, "offer": [{"provider": "o%d" % n, "domain": "x"}]}),
    "ENDPOINT": (None, lambda n: {"id": n + 1, "library": "libfabric", "provider": "p%d" % (n % 1000),
                                  "domain": "d%d" % n, "address": b"%08d" % n, "format": 3,
                                  "peer": [{"address": b"%08d" % (n + 1), "sends": 1, "sent": n}]}),
    "LOG": (None, lambda n: {"id": n + 1, "library": "ucx", "text": "line %d" % n, "provider": "p%d" % n, "count": 1,
                             "time": n}),
    "SOCKETS": ("connection", lambda n: {"local": w.socket_address("10.0.0.1", n & 0xffff),
                                         "remote": w.socket_address("10.%d.0.2" % (n >> 16 & 255), 77), "cookie": n,
                                         "sent": n, "fd": n, "interface": "i%d" % n}),
    "PORTS": ("port", lambda n: {"name": "eth%d" % n, "kind": "net", "sent": n, "rate": n}),
    "CMA": ("peer", lambda n: {"pid": n, "reads": 1, "read": n}),
    "CHOICE": ("item", lambda n: {"what": ("btl", "device", "version", "probe")[n % 4], "name": "n%d" % n,
                                  "how": "h%d" % n}),
    "WINDOW": (None, lambda n: {"id": n, "flavour": 1, "comm": 0, "number": n, "size": n, "name": "w%d" % n}),
    "IOFILE": (None, lambda n: {"id": n, "comm": 0, "number": n, "name": "/f%d" % n}),
    "FLOW": (None, lambda n: {"comm": 0, "peers": [2 * n, 1, n], "time": n}),
    "END": (None, lambda n: {"reason": n % 6, "time": n}),
    "COST": (None, lambda n: {"init": n}),
    "JOB": (None, lambda n: {"key": "k%d" % n, "program": "p%d" % n, "command": ["a%d" % n]}),
    "FILE": (None, lambda n: {"host": "h%d" % n}),
    "PROCESS": (None, lambda n: {"host": "h%d" % n, "clock": 3, "argument": ["a%d" % n]}),
    "RANK": (None, lambda n: {"rank": n, "size": RECORDS}),
}


def any_record(description, n):
    """A record of a kind that has no line above: each of its numbers and texts tells n."""
    values = {"number": n, "signed": n, "text": "x%d" % n, "bytes": b"%08d" % n}
    out = {}
    for field in description:
        value = any_record(field.inner, n) if field.what == "record" else (
            [n] * field.group if field.what == "packed" else values[field.what])
        out[field.name] = [value] if field.repeated else value
    return out


for KIND in mwformat.CHUNKS:
    MANY.setdefault(KIND, (None, lambda n, kind=KIND: any_record(mwformat.CHUNKS[kind], n)))


class Many(Hostile):
    """So many of one record, at two ranks or of as many processes, that anything quadratic shows."""

    views = WORK

    def trace(self, kind):
        group, record = MANY[kind]
        parts = [job()]
        ranks = [Process(rank, 2, host="n%d" % rank).world() for rank in range(2)]
        for process in ranks:
            for named in many(kind, record, group):
                process.add(kind, **named)
            process.send(1 - process.rank, 8, 2000, 2001)
            process.event(w.RMA, "MPI_Put", comm=0, peer=1, tag=RECORDS // 2, bytes=5, start=5000, end=5100)
            process.event(w.WRITE, "MPI_File_write", comm=0, tag=RECORDS // 2, bytes=5, start=6000, end=6100)
        return b.write(self.path("job.mpiw"), *parts, *ranks)

    def test_processes(self):
        """As many processes, of which each says little; each kind in its turn."""
        kinds = [kind for kind in MANY if kind not in ("JOB", "FILE", "PROCESS", "RANK")]
        parts = [job()]
        for n in range(RECORDS):
            group, record = MANY[kinds[n % len(kinds)]]
            named = record(n)
            parts.append(w.chunk("PROCESS", host="n%d" % (n // 10), pid=n, clock=3, abi=1, process=10 + n))
            parts.append(w.chunk("RANK", rank=n, size=RECORDS, process=10 + n))
            parts.append(w.chunk(kinds[n % len(kinds)], process=10 + n, **({group: [named]} if group else named)))
        self.run_all(b.write(self.path("job.mpiw"), *parts))

    def events(self, make):
        process, other = Process(0, RECORDS).world(), Process(1, RECORDS).world()
        for one in (process, other):
            for n in range(RECORDS):
                make(one, n)
            self.in_pieces(one)
        trace = b.write(self.path("job.mpiw"), job(), process, other)
        document = self.run_cli("info", "--format=json", trace, timeout=600)
        self.assertEqual(document.err, "")  # a chunk that is too large would be damage, and nothing read
        self.assertEqual(document.json()["trace"]["events"], 2 * RECORDS)
        return trace

    @staticmethod
    def in_pieces(process, size=100000):
        """Its events as chunks that are not too large."""
        items = process.threads.pop(0)
        for at in range(0, len(items), size):
            process.extra.append(w.events(w.give_ordinals(items[at:at + size]), process.key, first=at))

    def test_peers_tags_and_sites(self):
        self.run_all(self.events(lambda process, n: process.send(
            n, 1 << n % 60, 2000 + n, 2001 + n, tag=n, site=n, flags=w.COUNTED | w.ORDINAL, ordinal=n)))

    def test_communicators_and_instances(self):
        self.run_all(self.events(lambda process, n: process.coll(
            "MPI_Allreduce", 2000 + n, 2001 + n, n, comm=n, size=n)))

    def test_functions_and_requests_without_end(self):
        def make(process, n):
            process.threads.setdefault(0, []).append(w.event(
                w.RECV, function=n, comm=0, peer=-1, tag=-1, bytes_in=n, start=2000 + n, end=2001 + n,
                flags=w.REQUEST | w.ANY_SOURCE | w.ANY_TAG, request=n))
        self.run_all(self.events(make))

    def test_windows_and_files(self):
        def make(process, n):
            process.event((w.RMA, w.EPOCH, w.READ, w.WRITE, w.FILE)[n % 5], "MPI_Put", comm=n, peer=n, tag=n,
                          bytes=n, start=2000 + n, end=2001 + n)
        self.run_all(self.events(make))

    def test_threads(self):
        process = Process(0, 1).world()
        for n in range(min(RECORDS, 100000)):
            process.event(w.CALL, "MPI_Barrier", thread=n, start=2000, end=2001, comm=-1)
        self.run_all(b.write(self.path("job.mpiw"), job(), process))


def of_kind(kind):
    def test(self):
        self.run_all(self.trace(kind))
    return test


for KIND in MANY:
    setattr(Many, "test_" + KIND.lower(), of_kind(KIND))


if __name__ == "__main__":
    main()
