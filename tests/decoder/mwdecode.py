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
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from mwformat import CALL, CHUNKS, FLAG, HEADER, MASK, PEER_NONE, TYPES, VERSION  # noqa: E402
from mwformat import EventChunk, Malformed, chunks, content, read_list, unzigzag  # noqa: E402


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
        self.last = {}       # by name of the type, the fields of the chunk that counts
        self.clocks, self.modules, self.sites, self.comms = set(), {}, {}, {}
        self.counts, self.health, self.threads = {}, {}, {}
        self.facts, self.base, self.base_place, self.node = {}, 0, None, 0
        self.attempts, self.endpoints, self.log, self.log_lost = {}, {}, {}, 0
        self.sockets, self.ports, self.cma, self.cma_time, self.choices = {}, {}, {}, 0, {}
        self.windows, self.iofiles, self.flows, self.flow_time = {}, {}, {}, 0
        self.topology, self.placements, self.spaces = None, {}, {}
        self.devices, self.device_time, self.visible = {}, 0, ""
        self.regions, self.aggregates = {}, {}
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

    def add_attempt(self, fields):
        self.attempts[fields["id"]] = fields

    def add_endpoint(self, fields):
        known, peers = self.endpoints.setdefault(
            fields["id"], (read_list(b"", CHUNKS["ENDPOINT"]), {}))
        for name in fields["given"]:
            known[name] = fields[name]
        for peer in fields["peer"]:
            peers[peer["address"]] = peer

    def add_log(self, fields):
        if fields["id"]:
            self.log[fields["id"]] = fields
        else:
            self.log_lost = fields["count"]

    @staticmethod
    def look(looks, fields):
        """What is known of one look at connections or ports: [fields of the chunk, rows]."""
        key = (fields["time"], small(fields["when"], 0))
        known = looks.setdefault(key, ({}, {}))
        for name in fields["given"]:
            known[0][name] = fields[name]
        return known[1]

    def add_sockets(self, fields):
        rows = self.look(self.sockets, fields)
        for row in fields["connection"]:
            rows[row["fd"], row["cookie"]] = row

    def add_ports(self, fields):
        rows = self.look(self.ports, fields)
        for row in fields["port"]:
            rows[row["kind"], row["name"], row["number"]] = row

    def add_cma(self, fields):
        for peer in fields["peer"]:
            self.cma[peer["pid"]] = peer
        if "time" in fields["given"]:
            self.cma_time = fields["time"]

    def add_choice(self, fields):
        for item in fields["item"]:
            self.choices[item["what"], item["name"]] = item

    def add_window(self, fields):
        self.add_object(self.windows, "WINDOW", fields)

    def add_iofile(self, fields):
        self.add_object(self.iofiles, "IOFILE", fields)

    @staticmethod
    def add_object(objects, kind, fields):
        known = objects.setdefault(fields["id"], read_list(b"", CHUNKS[kind]))
        for name in fields["given"]:
            known[name] = fields[name]

    def add_flow(self, fields):
        if "time" in fields["given"]:
            self.flow_time = fields["time"]
        peers = fields["peers"]
        for peer, messages, amount in zip(peers[::3], peers[1::3], peers[2::3]):
            self.flows[less_one(fields["comm"]), unzigzag(peer)] = (messages, amount)

    KEYS = {"slit": ("node",), "pci": ("address",), "gpu": ("node",),
            "link": ("from", "to", "type")}

    def add_topology(self, fields):
        if self.topology is None:
            self.topology = read_list(b"", CHUNKS["TOPOLOGY"])
            self.topology.update((name, {}) for name in self.KEYS)
        for name in fields["given"] - set(self.KEYS):
            self.topology[name] = fields[name]
        for name, key in self.KEYS.items():
            for row in fields[name]:
                self.topology[name][tuple(row[part] for part in key)] = row

    def add_placement(self, fields):
        known, threads, foreign = self.placements.setdefault(
            (fields["time"], small(fields["when"], 0)),
            (read_list(b"", CHUNKS["PLACEMENT"]), {}, {}))
        for name in fields["given"]:
            known[name] = fields[name]
        threads.update((thread["tid"], thread) for thread in fields["thread"])
        foreign.update((process["pid"], process) for process in fields["foreign"])

    def add_device(self, fields):
        for device in fields["device"]:
            self.devices[device["runtime"], device["index"]] = device
        if "time" in fields["given"]:
            self.device_time = fields["time"]
        if "visible" in fields["given"]:
            self.visible = fields["visible"]

    def add_buffer(self, fields):
        for space in fields["space"]:
            self.spaces[space["id"]] = space

    def add_region(self, fields):
        self.regions[fields["id"]] = fields

    def add_aggregate(self, fields):
        fields["weight"] = sum(row["calls"] + row["operations"] for row in fields["row"]) & MASK
        known = self.aggregates.get((fields["thread"], fields["number"]))
        if known is None or fields["weight"] >= known["weight"]:
            self.aggregates[fields["thread"], fields["number"]] = fields

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


def known(fields, *names):
    """Fields that are younger than the first golden files: shown where they say something."""
    return {name: fields[name] for name in names if fields[name]}


def print_process(process):
    about = process.last.get("PROCESS", read_list(b"", CHUNKS["PROCESS"]))
    rank = process.last.get("RANK")
    end = process.last.get("END", read_list(b"", CHUNKS["END"]))
    has_rank = rank is not None
    rank = rank or read_list(b"", CHUNKS["RANK"])
    emit("process", process=f"{process.key:016x}",
         **pick(about, "host", "pid", "start_time", "ppid", "exe", "cwd", "boot_id", "mpi_library"),
         arguments=about["argument"], clock=small(about["clock"], 0), abi=small(about["abi"], 0),
         rank_hint=less_one(about["rank_hint"]),
         size_hint=small(about["size_hint"], -1) or -1, began=about["began"],
         pid_ns=about["pid_ns"], thread_level_asked=small(about["thread_level"], 0) - 1,
         has_rank=int(has_rank), rank=small(rank["rank"], -1) if has_rank else -1,
         size=small(rank["size"], -1) if has_rank else -1,
         **pick(rank, "library_version", "processor_name"),
         standard=small(rank["standard"], 0),
         thread_level=small(rank["thread_level"], -1) if has_rank else -1,
         init_end=rank["init_end"], appnum=less_one(rank["appnum"]),
         end_reason=end["reason"], end_time=end["time"], finalize_end=end["finalize_end"],
         end_code=end["code"], facts_base=f"{process.base:016x}", facts_node=int(process.node),
         **known(about, "world", "name", "spawner"))
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
             **pick(comm, "name", "freed"), **known(comm, "began", "made", "port"),
             **({"places": runs(comm["places"])} if comm["places"] else {}),
             **known(comm, "place_hash"))


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


def socket_address(value):
    return value.hex() if len(value) in (6, 18) else ""


OFFER = ("provider", "domain", "fabric", "device", "speed", "state", "driver")
ATTEMPT = ("id", "library", "call", "result", "words", "provider", "domain", "fabric", "caller",
           "start", "end")
PEER = ("sends", "sent", "puts", "put", "gets", "got", "unsized")
CONNECTION = ("sent", "received", "rtt", "retransmits", "interface", "cookie", "state", "fd",
              "waiting", "min_rtt")
PORT = ("name", "kind", "number", "received", "sent", "rate", "state", "errors", "address")
CMA_PEER = ("pid", "reads", "read", "writes", "written", "refused", "error", "error_time")


def print_fabric(process):
    for _, attempt in sorted(process.attempts.items()):
        emit("attempt", **pick(attempt, *ATTEMPT), inner=int(attempt["inner"] != 0),
             **pick(attempt, "device", "speed", "driver", "asked", "endpoint"))
        for offer in attempt["offer"]:
            emit("offer", **pick(offer, *OFFER))
    for _, (endpoint, peers) in sorted(process.endpoints.items()):
        emit("endpoint", **pick(endpoint, "id", "library", "provider", "domain", "caller"),
             address=endpoint["address"].hex(), **pick(endpoint, "format", "device", "speed"),
             inner=int(endpoint["inner"] != 0), **pick(endpoint, "time", "unlisted"))
        for _, peer in sorted(peers.items()):
            emit("peer", address=peer["address"].hex(), **pick(peer, *PEER))
            for lane in peer["lane"]:
                emit("lane", **pick(lane, "use", "transport", "device"))
    for _, line in sorted(process.log.items()):
        emit("log", **pick(line, "id", "library", "level", "subsystem", "provider", "function",
                           "line", "text", "count", "time"))
    if process.log_lost:
        emit("log_lost", count=process.log_lost)


def print_kernel(process):
    for (time, when), (look, rows) in sorted(process.sockets.items(), key=lambda item: item[0]):
        emit("sockets", when=when, time=time, unseen=look.get("unseen", 0))
        for _, row in sorted(rows.items()):
            emit("connection", local=socket_address(row["local"]),
                 remote=socket_address(row["remote"]), **pick(row, *CONNECTION))
    for (time, when), (_, rows) in sorted(process.ports.items(), key=lambda item: item[0]):
        emit("ports", when=when, time=time)
        for _, row in sorted(rows.items()):
            emit("port", **pick(row, *PORT))
    if process.cma:
        emit("cma", time=process.cma_time)
    for _, peer in sorted(process.cma.items()):
        emit("cma_peer", **pick(peer, *CMA_PEER))
    for _, item in sorted(process.choices.items()):
        emit("choice", **pick(item, "what", "name", "how", "source"))


def print_objects(process):
    for _, window in sorted(process.windows.items()):
        emit("window", id=window["id"], flavour=small(window["flavour"], 0),
             comm=less_one(window["comm"]), **pick(window, "number", "size", "unit", "name",
                                                   "freed"))
    for _, file in sorted(process.iofiles.items()):
        emit("iofile", id=file["id"], comm=less_one(file["comm"]),
             **pick(file, "number", "name", "mode", "closed"))
    if process.flows:
        emit("flows", time=process.flow_time)
    for (comm, peer), (messages, amount) in sorted(process.flows.items()):
        emit("flow", comm=comm, peer=peer, messages=messages, bytes=amount)


def cpus(values):
    return list(zip(values[::2], values[1::2]))


PCI = ("address", "parent", "class", "vendor", "device")
PCI_LINK = ("speed", "speed_max", "width", "width_max", "driver", "names")


def print_topology(process):
    topology = process.topology
    if topology is None:
        return
    emit("topology", xml=topology["xml"].hex(), **pick(topology, "source", "took", "failure"))
    for _, row in sorted(topology["slit"].items()):
        emit("slit", **pick(row, "node", "memory", "distance"), cpus=cpus(row["cpus"]))
    for _, row in sorted(topology["pci"].items()):
        emit("pci", **pick(row, *PCI), node=less_one(row["node"]), **pick(row, *PCI_LINK),
             cpus=cpus(row["cpus"]))
    for _, row in sorted(topology["gpu"].items()):
        emit("gpu", **pick(row, "node", "pci", "gpu_id", "name", "unique_id", "hive"))
    for _, row in sorted(topology["link"].items()):
        emit("link", **pick(row, "from", "to", "type", "weight", "min_bandwidth", "max_bandwidth"))


MASKS = ("cpus", "process_cpus", "parent_cpus", "cgroup_cpus", "mems")


def print_placements(process):
    for (time, when), (look, threads, foreign) in sorted(process.placements.items(),
                                                         key=lambda item: item[0]):
        emit("placement", when=when, time=time, **{name: cpus(look[name]) for name in MASKS},
             **pick(look, "parent", "policy"),
             **{name: less_one(look[name]) for name in ("cpu", "node", "migrations")},
             **pick(look, "involuntary", "voluntary", "threads", "watched", "unwatched"))
        for _, row in sorted(threads.items()):
            emit("placed_thread", tid=row["tid"], cpu=less_one(row["cpu"]), cpus=cpus(row["cpus"]),
                 **pick(row, "ticks", "name"), mpi=int(row["mpi"] != 0))
        for _, row in sorted(foreign.items()):
            emit("foreign", **pick(row, "pid", "parent", "name", "busy"), cpu=less_one(row["cpu"]),
                 same_user=int(row["same_user"] != 0), cpus=cpus(row["cpus"]))


def print_devices(process):
    if process.devices:
        emit("devices", time=process.device_time, visible=process.visible)
    for _, row in sorted(process.devices.items()):
        emit("device", **pick(row, "runtime", "index", "pci", "name", "memory", "uuid"),
             current=int(row["current"] != 0))
        for peer in row["peer"]:
            emit("device_peer", **pick(peer, "index", "access", "link", "hops"))
    for _, row in sorted(process.spaces.items()):
        emit("space", id=row["id"], kind=small(row["kind"], 0), runtime=row["runtime"],
             device=less_one(row["device"]), **pick(row, "note", "calls", "bytes"))


ROW = ("function", "site", "kind", "flags", "comm", "peer", "class", "region", "calls", "time",
       "least", "most", "errors", "operations", "bytes", "bytes_in", "next", "object", "spaces")


def print_sums(process):
    for _, region in sorted(process.regions.items()):
        emit("region", **pick(region, "id", "parent", "level", "name", "entries", "time", "since"))
    for _, part in sorted(process.aggregates.items()):
        emit("aggregate", **pick(part, "thread", "number", "start", "end", "why", "last_function",
                                 "last_site", "last_end", "spaces"))
        for row in part["row"]:
            emit("row", **pick(row, *ROW))


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
        print_fabric(process)
        print_kernel(process)
        print_objects(process)
        print_topology(process)
        print_placements(process)
        print_devices(process)
        print_sums(process)
        opened = process.open_calls()
        threads = set(process.threads) | {chunk.thread for chunk in process.chunks if chunk.count}
        threads |= {call["thread"] for call in opened["call"]} if opened else set()
        threads |= {thread for thread, _ in process.aggregates}
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
