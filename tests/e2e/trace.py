# SPDX-License-Identifier: BSD-3-Clause
#
# Traces as the tests look at them: read by the independent decoder (tests/decoder/mwdecode.py), as
# JSON lines, and turned into processes, calls and events with words instead of numbers.
"""A trace, read without any code of mpiwatch itself."""

import ipaddress
import json
import os
import subprocess
import sys

from harness import SOURCE, Failure

FLAGS = (
    "part error nested request foreign ordinal counted status matched any_source any_tag "
    "cancelled persistent freed "
    "inter sync buffered ready nothing collective offset"
).split()
KINDS = {
    1: "CALL",
    2: "SEND",
    3: "RECV",
    4: "DONE",
    5: "COLL",
    6: "POLL",
    8: "RMA",
    9: "EPOCH",
    10: "READ",
    11: "WRITE",
    12: "FILE",
}
HOW = (
    "unknown world self dup create create_group split split_type cart cart_sub graph dist_graph "
    "intercomm merge "
    "from_group spawn connect accept join parent"
).split()
COLLECTIVE_OVER_PARENT = {
    "dup",
    "create",
    "split",
    "split_type",
    "cart",
    "cart_sub",
    "graph",
    "dist_graph",
    "merge",
}
ENDS = {0: "none", 1: "finalize", 2: "exit", 3: "abort", 4: "collected", 5: "snapshot"}
ABIS = {0: "unknown", 1: "openmpi", 2: "mpich", 3: "standard"}


class Event:
    def __init__(self, line, names):
        self.number = line["number"]
        self.kind = KINDS[line["kind"]]
        self.flags = {flag for bit, flag in enumerate(FLAGS) if line["flags"] >> bit & 1}
        self.function = names.get(line["function"], "function %d" % line["function"])
        for name in (
            "start",
            "end",
            "comm",
            "peer",
            "tag",
            "bytes",
            "bytes_in",
            "site",
            "request",
            "origin",
            "ordinal",
            "polls",
            "busy",
            "code",
        ):
            setattr(self, name, line[name])
        self.offset = line.get("offset")  # where it is given
        self.spaces = (line["flags"] >> 21 & 31, line["flags"] >> 26 & 31)  # send, receive

    def __repr__(self):
        return "%s %s peer=%d tag=%d bytes=%d in=%d comm=%d request=%d %s" % (
            self.function,
            self.kind,
            self.peer,
            self.tag,
            self.bytes,
            self.bytes_in,
            self.comm,
            self.request,
            ",".join(sorted(self.flags)),
        )


class Call:
    """One call of the program: its own event and its parts."""

    def __init__(self, event, parts, incomplete):
        self.event, self.parts, self.incomplete = event, parts, bool(incomplete)
        self.function, self.kind = event.function, event.kind
        self.start, self.end = event.start, event.end

    @property
    def events(self):
        return self.parts + [self.event]

    @property
    def error(self):
        return "error" in self.event.flags

    @property
    def nested(self):
        return "nested" in self.event.flags

    def __repr__(self):
        return "%r%s" % (self.event, " with %r" % self.parts if self.parts else "")


class Comm:
    def __init__(self, line):
        self.id, self.parent, self.number, self.size = (
            line["id"],
            line["parent"],
            line["number"],
            line["size"],
        )
        self.how = HOW[line["how"]]
        self.rank, self.remote_size, self.hash = line["rank"], line["remote_size"], line["hash"]
        self.name, self.freed = line["name"], line["freed"]
        self.members, self.remote_members = spread(line["members"]), spread(line["remote_members"])


def spread(runs):
    members = []
    for start, stride, count in zip(runs[::3], runs[1::3], runs[2::3]):
        members += [start + stride * i for i in range(count)]
    return members


class Process:
    def __init__(self, line):
        self.key, self.host, self.pid = line["process"], line["host"], line["pid"]
        self.rank, self.size, self.has_rank = line["rank"], line["size"], bool(line["has_rank"])
        self.rank_hint = line["rank_hint"]
        self.thread_level, self.library_version = line["thread_level"], line["library_version"]
        self.standard, self.exe = line["standard"], line["exe"]
        self.abi = ABIS.get(line["abi"], "?")
        self.end, self.end_code = ENDS.get(line["end_reason"], "?"), line["end_code"]
        self.counts, self.comms, self.open_calls, self.health, self.facts = {}, {}, [], [], []
        self.modules, self.sites, self.cost, self.alive = {}, {}, {}, 0
        # What it saw of fabrics and of the kernel: lists of the decoder's lines. An attempt has a
        # list "offers", an endpoint "peers", a peer "lanes", a look at sockets "connections", one
        # at ports "ports"; addresses are hex, those of connections pairs ("10.0.0.1", port).
        self.attempts, self.endpoints, self.log, self.log_lost = [], [], [], 0
        self.sockets, self.ports, self.cma, self.cma_time, self.choices = [], [], [], 0, []
        self.windows, self.iofiles, self.flows = {}, {}, {}  # by id; flows by (comm, peer)
        # The node (a dict with lists "slit", "pci", "gpu", "link"; xml as bytes), looks with lists
        # "placed_threads" and "foreigners", GPUs with "peers", kinds of memory by id.
        self.topology, self.placements, self.devices, self.spaces = None, [], [], {}
        self.visible = ""  # which settings leave GPUs out
        self.facts_node = line["facts_node"]
        self.threads = {}  # index: list of calls
        self.missing = 0
        self._starts = None

    def calls(self, thread=0):
        return self.threads.get(thread, [])

    def all_calls(self):
        return [call for thread in sorted(self.threads) for call in self.threads[thread]]

    def started(self, done):
        """The event that started the request which `done` completed: the last one before it where
        numbers repeat."""
        if self._starts is None:
            self._starts = {}
            for thread, calls in self.threads.items():
                for call in calls:
                    for event in call.events:
                        if "request" in event.flags and event.kind != "DONE":
                            self._starts[thread, event.request] = event
        return self._starts.get((done.origin, done.request))

    def comm_word(self, number):
        return (
            "none" if number < 0 else self.comms[number].how if number in self.comms else "unlisted"
        )

    def comm_identity(self, number):
        """What two processes agree on when they hold the same communicator."""
        comm = self.comms.get(number)
        if comm is None:
            raise Failure("rank %s: communicator %s is not in the trace" % (self.rank, number))
        # Kinds that are collective over their parent are told apart by it; the two sides of others
        # have different parents.
        parent = (
            self.comm_identity(comm.parent)
            if comm.how in COLLECTIVE_OVER_PARENT and comm.parent >= 0
            else ()
        )
        return (comm.how, comm.number, comm.hash) + (parent,)


    def choice(self, what, name=None):
        """The items of CHOICE of this kind, as a dict of name and how; of one name its line."""
        if name is None:
            return {item["name"]: item["how"] for item in self.choices if item["what"] == what}
        for item in self.choices:
            if (item["what"], item["name"]) == (what, name):
                return item
        return None

    def take_fabric(self, line):
        """A line of the decoder that belongs to ATTEMPT ... CHOICE. False for others."""
        record = line["record"]
        if record == "attempt":
            self.attempts.append({**line, "offers": []})
        elif record == "offer":
            self.attempts[-1]["offers"].append(line)
        elif record == "endpoint":
            self.endpoints.append({**line, "peers": []})
        elif record == "peer":
            self.endpoints[-1]["peers"].append({**line, "lanes": []})
        elif record == "lane":
            self.endpoints[-1]["peers"][-1]["lanes"].append(line)
        elif record == "log":
            self.log.append(line)
        elif record == "log_lost":
            self.log_lost = line["count"]
        elif record == "sockets":
            self.sockets.append({**line, "connections": []})
        elif record == "connection":
            ends = {name: socket_end(line[name]) for name in ("local", "remote")}
            self.sockets[-1]["connections"].append({**line, **ends})
        elif record == "ports":
            self.ports.append({**line, "ports": []})
        elif record == "port":
            self.ports[-1]["ports"].append(line)
        elif record == "cma":
            self.cma_time = line["time"]
        elif record == "cma_peer":
            self.cma.append(line)
        elif record == "choice":
            self.choices.append(line)
        elif record == "window":
            self.windows[line["id"]] = line
        elif record == "iofile":
            self.iofiles[line["id"]] = line
        elif record == "flow":
            self.flows[line["comm"], line["peer"]] = (line["messages"], line["bytes"])
        else:
            return self.take_placement(line)
        return True

    def take_placement(self, line):
        """The same for TOPOLOGY, PLACEMENT, DEVICE and BUFFER."""
        record = line["record"]
        if record == "topology":
            self.topology = {**line, "xml": bytes.fromhex(line["xml"]), "slit": [], "pci": [],
                             "gpu": [], "link": []}
        elif record in ("slit", "pci", "gpu", "link"):
            self.topology[record].append(line)
        elif record == "placement":
            self.placements.append({**line, "placed_threads": [], "foreigners": []})
        elif record == "placed_thread":
            self.placements[-1]["placed_threads"].append(line)
        elif record == "foreign":
            self.placements[-1]["foreigners"].append(line)
        elif record == "devices":
            self.visible = line["visible"]
        elif record == "device":
            self.devices.append({**line, "peers": []})
        elif record == "device_peer":
            self.devices[-1]["peers"].append(line)
        elif record == "space":
            self.spaces[line["id"]] = line
        else:
            return False
        return True


def socket_end(text):
    """("10.0.0.1", port) of an end of a connection, None where it is not known."""
    raw = bytes.fromhex(text)
    if not raw:
        return None
    return str(ipaddress.ip_address(raw[:-2])), int.from_bytes(raw[-2:], "big")


class Trace:
    """Reads a folder or files; with `events` false only what surrounds them."""

    def __init__(self, *paths, events=True):
        for path in paths:
            if not os.path.exists(path):
                raise Failure(
                    "no trace %s (there is: %s)" % (path, os.listdir(os.path.dirname(path) or "."))
                )
        argv = [sys.executable, os.path.join(SOURCE, "tests", "decoder", "mwdecode.py")]
        argv += ([] if events else ["--no-events"]) + list(paths)
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        if done.returncode:
            raise Failure(
                "the decoder failed on %s: %s"
                % (paths, done.stderr.decode(errors="replace")[-2000:])
            )
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.names = {line["function"]: line["name"] for line in lines if line["record"] == "count"}
        for line in lines:
            if line["record"] == "open_call" and line["name"]:
                self.names.setdefault(line["function"], line["name"])
        self.files, self.damage, self.job, self.processes = [], [], None, []
        self._take(lines)
        self.processes.sort(key=lambda process: (not process.has_rank, process.rank, process.pid))

    def _take(self, lines):
        process, thread, parts = None, None, []
        for line in lines:
            record = line["record"]
            if record == "file":
                self.files.append(line)
            elif record == "damage":
                self.damage.append(line)
            elif record == "job":
                self.job = line
            elif record == "process":
                process = Process(line)
                self.processes.append(process)
            elif record == "thread":
                thread = process.threads.setdefault(line["thread"], [])
            elif record == "part":
                parts.append(Event(line, self.names))
            elif record == "call":
                thread.append(Call(Event(line, self.names), parts, line["incomplete"]))
                parts = []
            elif record == "missing":
                process.missing += line["events"]
            elif record == "comm":
                process.comms[line["id"]] = Comm(line)
            elif record == "count":
                process.counts[line["name"]] = line["calls"]
            elif record == "open_call":
                process.open_calls.append(line)
            elif record == "open":
                process.alive = line["alive"]
            elif record == "health":
                process.health.append(line)
            elif record == "fact":
                process.facts.append(line)
            elif record == "module":
                process.modules[line["id"]] = line
            elif record == "site":
                process.sites[line["id"]] = line
            elif record == "cost":
                process.cost = line
            elif process is not None:
                process.take_fabric(line)

    def rank(self, number):
        for process in self.processes:
            if process.has_rank and process.rank == number:
                return process
        raise Failure(
            "rank %d is not in the trace; there are %s"
            % (number, [process.rank for process in self.processes])
        )
