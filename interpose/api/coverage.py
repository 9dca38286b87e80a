#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Writes docs/coverage.md: every function of the table, what is recorded of it, since which MPI it
# exists, and which test programs call it. The functions and versions come from mpi.table, the tests
# from the sources of the end-to-end tests; only the words for the record classes stand here.
#
#     coverage.py --check FILE     says how FILE differs from what would be written
#     coverage.py FILE             writes it

import difflib
import os
import re
import sys

import table as mpi_table

HERE = os.path.dirname(os.path.abspath(__file__))
E2E = os.path.join(HERE, "..", "..", "tests", "e2e")
SHOWN = 3  # programs named of one function

COMM = "a communicator (COMM)"
ACCESS = "RMA: bytes %s, target, window"

# Record class -> what is recorded of a call. The kinds of events are those of docs/format.md.
RECORDS = {
    "local": "counted only",
    "call": "CALL",
    "pcontrol": "CALL: the region that it opens or goes back to (REGION)",
    "init": "CALL; the process, its rank and surroundings",
    "init_thread": "CALL; the process, its rank and surroundings",
    "finalize": "CALL; the end (END)",
    "abort": "the end (END), with the code",
    "session_init": "CALL; the process, its rank and surroundings",
    "session_finalize": "CALL; with the last one the end (END)",
    "send": "SEND: bytes, destination, tag",
    "recv": "RECV: bytes, source, tag",
    "recv_start": "RECV: room in the buffer, source, tag",
    "sendrecv": "SEND and RECV: bytes, peers, tags",
    "sendrecv_start": "SEND and RECV: bytes, room, peers, tags",
    "probe": "CALL: source, tag",
    "poll": "CALL; POLL while in vain",
    "mprobe": "CALL: source, tag; counts the message",
    "improbe": "CALL: source, tag; counts the message; POLL while in vain",
    "mrecv": "RECV: bytes, source, tag",
    "mrecv_start": "RECV: room in the buffer, source, tag",
    "wait": "DONE: bytes and match of the request",
    "waitany": "DONE: bytes and match of the request",
    "waitsome": "a DONE for each that completed",
    "waitall": "a DONE for each that completed",
    "test": "DONE; POLL while in vain",
    "testany": "DONE; POLL while in vain",
    "testsome": "a DONE for each that completed; POLL while in vain",
    "testall": "a DONE for each that completed; POLL while in vain",
    "request_poll": "CALL; POLL while in vain",
    "request_free": "DONE, freed",
    "cancel": "CALL; the completion says whether it was",
    "start": "SEND, RECV or COLL that was prepared",
    "startall": "a SEND, RECV or COLL for each that was prepared",
    "part_send": "SEND: bytes of all partitions, destination, tag",
    "part_recv": "RECV: bytes of all partitions, source, tag",
    "part_ready": "CALL: peer, tag of the message",
    "part_arrived": "CALL: peer, tag of the message; POLL while in vain",
    "barrier": "COLL: instance",
    "win_new": "COLL: instance; a window (WINDOW)",
    "win_free": "EPOCH, collective; when the window was freed",
    "win_name": "counted only; the window's name (WINDOW)",
    "rma_put": ACCESS % "to the target",
    "rma_get": ACCESS % "from the target",
    "rma_fetch": ACCESS % "both ways",
    "rma_fetch_one": ACCESS % "both ways",
    "epoch": "EPOCH: window",
    "epoch_target": "EPOCH: target, window",
    "epoch_group": "an EPOCH for each of the group, window",
    "epoch_poll": "EPOCH: window; POLL while in vain",
    "file_open": "COLL: instance; a file (IOFILE)",
    "file_close": "FILE, collective; when it was closed",
    "file_move": "%s: bytes, file",
    "file_start": "%s: bytes, file",
    "file_begin": "%s: bytes, file, collective",
    "file_end": "DONE: bytes",
    "file_call": "FILE: file",
    "file_call_at": "FILE: file, offset or size",
    "comm_free": "COLL: instance; when it was freed",
    "comm_name": "counted only; the communicator's name (COMM)",
    "type_free": "counted only; the size is looked up anew",
}
ROOTED = ("bcast", "reduce", "gather", "gatherv", "scatter", "scatterv")
BY_PEER = ("gatherv", "scatterv", "allgatherv", "alltoallv", "alltoallw")
ONE_TO_ALL = ("allreduce", "reduce_scatter", "reduce_scatter_block", "allgather", "alltoall")
STARTS = "; its request's end is a DONE"


def collective(record):
    """Words for a collective that moves bytes, or None."""
    if not (record in ROOTED + BY_PEER + ONE_TO_ALL or record.startswith("neighbor_")):
        return None
    words = "COLL: instance, bytes both ways"
    words += ", root" if record in ROOTED else ""
    by_peer = record in BY_PEER or record.startswith("neighbor_")
    return words + ("; amounts by peer (FLOW)" if by_peer else "")


def made_communicator(function):
    """A new communicator is a collective on its parent, where there is one that all members share."""
    counted = function.arguments[0] in ("MW_COMM_DUP", "MW_COMM_CREATE", "MW_COMM_SPLIT",
                                        "MW_COMM_SPLIT_TYPE", "MW_COMM_CART", "MW_COMM_CART_SUB",
                                        "MW_COMM_GRAPH", "MW_COMM_DIST_GRAPH", "MW_COMM_MERGE")
    return ("COLL: instance; " if counted else "CALL; ") + COMM


def recorded(function):
    """What is recorded of a function, in words."""
    record = function.record
    if record in ("comm_new", "comm_port"):
        words = made_communicator(function)
    else:
        words = collective(record) or RECORDS.get(record)
    if words is None:
        raise mpi_table.TableError("%s: coverage.py has no words for the record class %s" % (
            function.name, record))
    if "%s" in words:
        words %= function.arguments[0][len("MW_EVENT_"):]
    if "MW_EVENT_OFFSET" in function.arguments:
        words += ", offset"
    if "MW_EVENT_COLLECTIVE" in function.arguments:
        words += ", collective"
    if record == "call":
        return words
    if function.mode == "prepares":
        return "CALL; each start is a " + words
    return words + (STARTS if function.mode == "starts" or record == "file_begin" else "")


def read(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def calls_only(text):
    """A source without comments, and without the names that it gives another meaning."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    return re.sub(r"^#(define|undef|ifdef|ifndef) +MPI_\w+", "", text, flags=re.M)


class Tests:
    """Which programs of the end-to-end tests name a function, and which topics run them."""

    def __init__(self):
        topics = {name[2:-3]: read(os.path.join(E2E, name)) for name in sorted(os.listdir(E2E))
                  if name.startswith("t_") and name.endswith(".py")}
        self.programs = {}  # (not compared call by call, topic, program) -> functions, in lower case
        folder = os.path.join(E2E, "programs")
        sources = {name: read(os.path.join(folder, name)) for name in sorted(os.listdir(folder))
                   if name.endswith((".c", ".cc", ".F90"))}
        compared = {name.rpartition(".")[0] for name, text in sources.items()
                    if '"expect.h"' in text}
        for name, text in sources.items():
            runs = [topic for topic, words in topics.items() if '"%s"' % name in words]
            if runs:
                star = "\\*" if name.rpartition(".")[0] in compared else ""
                self.programs[not star, runs[0], name + star] = set(
                    re.findall(r"\bp?(mpi_\w+)\b", calls_only(text).lower()))

    def of(self, function):
        """"calls (calls.F90*, calls.c*), traffic (coll_flow.c) and others"; those with a star come first. How many
        others is not said: each new program would change half of the table."""
        found = sorted(key for key, names in self.programs.items() if function.name.lower() in names)
        topics = {}
        for _, topic, program in found[:SHOWN]:
            topics.setdefault(topic, []).append(program)
        words = ", ".join("%s (%s)" % (topic, ", ".join(names)) for topic, names in topics.items())
        return words + (" and others" if len(found) > SHOWN else "") or "-"


def head(table, tests):
    functions = table.functions
    events = sum(not function.is_local for function in functions)
    tested = sum(tests.of(function) != "-" for function in functions)
    untested = sum(tests.of(function) == "-" and not function.is_local for function in functions)
    return """\
# What is recorded of each MPI function

Made from `interpose/api/mpi.table` and the sources of the tests by `ninja -C build update-coverage`; a test compares.
%d functions have a wrapper: %d are recorded, with time and call site of each call, the others are only counted. Every one is
counted, in every binding. The end-to-end tests call %d of them; of the recorded ones %d are called by none.

* **Recorded as**: the kind of event (`docs/format.md`, section 5) and what it holds; chunks in capitals in parentheses. A call that fails is recorded
  with its error code.
* **Since**: the MPI standard that has it first.
* **Tested by**: topics and, in parentheses, programs of `tests/e2e`, up to %d. With a star the program writes down each call as it makes it, and the topic
  compares the record of every one with that; the others are compared as far as their topic is about them. `-`: no program calls it. Beside that, `tests/api`
  compares the prototype of every wrapper with the installed `mpi.h`.
* What came with MPI-4.1 or later neither Debian's Open MPI nor its MPICH has; calls41.c skips there and runs with MPICH 5 (`docs/tested-stacks.md`).
  Open MPI 4.1 has nothing of MPI-4.0: those run with MPICH.
""" % (len(functions), events, tested, untested, SHOWN)


def document(table):
    tests = Tests()
    text, section = head(table, tests), None
    for function in sorted(table.functions, key=lambda f: (f.line, f.number)):
        if function.section != section:
            section = function.section
            text += "\n## %s\n\n| function | recorded as | since | tested by |\n|---|---|---|---|\n" % section
        since = function.version
        if "removed" in function.attributes and not function.large:
            since += ", removed in " + function.attributes["removed"]
        text += "| %s | %s | %s | %s |\n" % (function.name, recorded(function), since, tests.of(function))
    return text


def main(arguments):
    check, path = arguments[:1] == ["--check"], arguments[-1]
    try:
        text = document(mpi_table.read_table(os.path.join(HERE, "mpi.table")))
        if not check:
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(text)
            return 0
        old = read(path)
    except (OSError, mpi_table.TableError) as error:
        return str(error)
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), text.splitlines(True), path,
                                               "what it should be", n=0))
    return 0 if old == text else "%s is out of date: ninja update-coverage" % path


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit("usage: coverage.py [--check] FILE")
    sys.exit(main(sys.argv[1:]))
