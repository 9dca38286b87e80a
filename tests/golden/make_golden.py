#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the golden traces. They were made once, for format version 1, and are kept for ever: a file
that exists is not written again, so that a reader keeps reading what older writers wrote.

    make_golden.py [--check]     --check: only say whether this program still makes the same

Every file has a NAME.expected beside it: the canonical dump as made by the Python decoder
(tests/decoder), or, in refused/, what mw_trace_open says; and where something is wrong in it a
NAME.messages: the lines of the reader about it.
"""

import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "decoder"))
# pylint: disable=wrong-import-position
import mwwrite as w  # noqa: E402
from mwwrite import chunk, data, event, events, frame, number, packed  # noqa: E402
from mwwrite import record, runs, signed, text  # noqa: E402

A, B, C, D = 0x1111111111111111, 0x2222222222222222, 0x3333333333333333, 0xD0D0D0D0D0D0D0D0
MASK = (1 << 64) - 1


def file_chunk(host, process):
    return chunk("FILE", text(1, "mpiwatch 0.1.0"), text(2, host), text(3, "boot-of-" + host),
                 number(4, 4026531836), number(5, 4026531840), number(6, 4026531837),
                 process=process)


def job_chunk(process=0):
    return chunk("JOB", text(1, "job-key-1"), text(2, "Open MPI mpirun 4.1.4"), text(3, "4711"),
                 text(4, "halo"), text(5, "mpirun"), text(5, "-n"), text(5, "2"), text(5, "./halo"),
                 process=process)


def process_chunk(process, rank, host="node1", clock=1):
    return chunk("PROCESS", text(1, host), number(2, 1000 + rank), number(3, 123456 + rank),
                 number(4, 999), text(5, "/opt/app/halo"), text(6, "./halo"), text(6, "--steps=10"),
                 text(6, ""), text(7, "/home/user/run"), number(8, clock), number(9, 1),
                 text(10, "/usr/lib/libmpi.so.40"), number(11, rank + 1), number(12, 2),
                 number(13, 5000), text(14, "boot-of-" + host), number(15, 4026531836),
                 number(16, 2), process=process)


def rank_chunk(process, rank):
    return chunk("RANK", number(1, rank), number(2, 2), text(3, "Open MPI v4.1.4, package: Debian"),
                 number(4, 31), number(5, 1), number(6, 90000), text(7, "node1"), number(8, 1),
                 process=process)


def clock_chunk(process, time, ns):
    return chunk("CLOCK", number(1, time), number(2, ns), number(3, 1700000000000000000 + ns),
                 number(4, ns + 5), number(5, 40), process=process)


def every_metadata(process, rank):
    """Every chunk type but EVENTS, with every field."""
    return b"".join([
        process_chunk(process, rank),
        rank_chunk(process, rank),
        clock_chunk(process, 1000, 500),
        chunk("MODULES",
              record(1, number(1, 1), text(2, "/opt/app/halo"), data(3, bytes(range(20))),
                     number(4, 0x400000), number(5, 0x480000), number(6, 0)),
              record(1, number(1, 2), text(2, "/usr/lib/libmpi.so.40"),
                     data(3, b"\xde\xad\xbe\xef"), number(4, 0x7F0000000000),
                     number(5, 0x7F0000100000), number(6, 1)),
              record(1, number(1, 3), text(2, "/usr/lib/libmpi_mpifh.so.40"), number(6, 2)),
              record(1, number(1, 4), text(2, "/opt/tool/libtool.so"), number(6, 3)),
              record(1, number(1, 5), text(2, "/usr/lib/libmpiwatch.so"), number(6, 4)),
              process=process, zstd=True),
        chunk("SITES",
              record(1, number(1, 1), packed(2, [1, 0x1234, 1, 0x2000])),
              record(1, number(1, 2), packed(2, [2, 0x99, 1, 0x2100, 1, 0x30]), number(3, 1)),
              process=process),
        chunk("COMM", number(1, 0), number(2, 1), number(5, 2), number(6, rank),
              number(8, 0x9E3779B97F4A7C15), runs(9, [(0, 1, 2)]), text(11, "MPI_COMM_WORLD"),
              process=process),
        chunk("COMM", number(1, 7), number(2, 12), number(3, 1), number(4, 3), number(5, 1),
              number(6, 0), number(7, 4), number(8, MASK), runs(9, [(rank, 0, 1)]),
              runs(10, [(-16, -1, 3), (1, 1, 1)]), text(11, "between"), process=process),
        chunk("COMM", number(1, 7), number(12, 77777), process=process),
        chunk("COUNTS", record(1, number(1, 1), text(2, "MPI_Send"), number(3, 10)),
              record(1, number(1, 300), text(2, "MPI_Future_call"), number(3, 1)), number(2, 0),
              process=process),
        chunk("COUNTS", record(1, number(1, 1), text(2, "MPI_Send"), number(3, 5)), number(2, 1),
              process=process),
        chunk("OPEN", record(1, number(1, 0), number(2, 60), number(3, 95000), number(4, 1),
                             signed(5, -2), signed(6, 0), number(7, 13), number(8, 2),
                             text(9, "MPI_Barrier")),
              number(2, 1700000000000123456), number(3, 0), process=process),
        chunk("HEALTH", text(1, "no_libunwind"), text(2, "call sites have one frame"), number(3, 1),
              number(4, 6000), process=process),
        chunk("ENVIRONMENT", number(1, 1),
              record(3, text(1, "mpi"), text(2, "version"), text(3, "4.1.4"), text(4, "library")),
              record(3, text(1, "env"), text(2, "OMPI_MCA_btl"), text(3, "tcp,self"),
                     text(4, "environment")),
              process=process),
        chunk("COST", *(number(field, field * 111) for field in range(1, 11)), process=process),
        chunk("THREAD", number(1, 0), number(2, 1000 + rank), text(3, "halo"), number(4, 1),
              process=process),
        chunk("THREAD", number(1, 1), number(2, 2000 + rank), text(3, "worker"), process=process),
        chunk("END", number(1, 1), number(2, 200000), signed(3, -1), number(4, 210000),
              process=process),
        clock_chunk(process, 201000, 100500),
    ])


def every_event():
    """Every kind and every flag, in a plausible order."""
    items = [
        event(w.CALL, function=99, start=1000, end=1010, site=1),
        event(w.SEND, function=1, comm=0, peer=1, tag=5, bytes=800, site=1, start=1100, end=1150,
              flags=w.COUNTED, ordinal=0),
        event(w.SEND, function=1, comm=0, peer=1, tag=5, bytes=800, site=1, start=1200, end=1240,
              flags=w.COUNTED, ordinal=1),
        event(w.SEND, function=3, comm=0, peer=1, tag=5, bytes=16, site=2, start=1300, end=1310,
              flags=w.COUNTED | w.REQUEST | w.SYNC, ordinal=2, request=0),
        event(w.SEND, function=4, comm=0, peer=1, tag=6, bytes=16, start=1320, end=1321,
              flags=w.COUNTED | w.REQUEST | w.BUFFERED, ordinal=0, request=1),
        event(w.SEND, function=5, comm=0, peer=1, tag=6, bytes=16, start=1322, end=1325,
              flags=w.COUNTED | w.REQUEST | w.READY | w.PERSISTENT, ordinal=1, request=2),
        event(w.RECV, function=2, comm=0, peer=-1, tag=-1, bytes_in=4096, start=1330, end=1340,
              flags=w.REQUEST | w.ANY_SOURCE | w.ANY_TAG, request=3),
        event(w.RECV, function=2, comm=0, peer=1, tag=9, bytes_in=64, start=1350, end=1460,
              flags=w.COUNTED | w.STATUS, ordinal=41),
        event(w.RECV, function=2, comm=0, peer=1, tag=9, bytes_in=64, start=1470, end=1480,
              flags=w.COUNTED | w.STATUS | w.MATCHED | w.ANY_SOURCE, ordinal=42),
        # A Waitall: its parts, then itself.
        event(w.DONE, function=30, comm=0, peer=1, tag=5, flags=w.PART | w.REQUEST, request=0),
        event(w.DONE, function=30, comm=0, peer=1, tag=6, flags=w.PART | w.REQUEST, request=1),
        event(w.DONE, function=30, comm=0, peer=1, tag=33, bytes_in=128, request=3, ordinal=7,
              flags=w.PART | w.REQUEST | w.STATUS | w.MATCHED | w.COUNTED | w.ANY_SOURCE |
              w.ANY_TAG),
        event(w.CALL, function=30, start=1500, end=1900, site=2),
        event(w.DONE, function=31, comm=0, peer=1, tag=6, start=1910, end=1911, request=2,
              flags=w.REQUEST | w.PERSISTENT | w.CANCELLED),
        event(w.DONE, function=32, comm=0, peer=0, tag=1, start=1920, end=1921, request=17,
              origin=1, flags=w.REQUEST | w.FOREIGN),
        event(w.DONE, function=33, comm=0, peer=0, tag=2, start=1930, end=1931, request=18,
              flags=w.REQUEST | w.FREED),
        event(w.POLL, function=34, comm=0, peer=-1, tag=-1, start=2000, end=2600, polls=250,
              busy=300),
        event(w.COLL, function=60, comm=0, peer=-1, start=2700, end=2800, flags=w.COUNTED,
              ordinal=12),
        event(w.COLL, function=61, comm=0, peer=0, bytes=8, bytes_in=16, start=2810, end=2900,
              flags=w.COUNTED, ordinal=13),
        event(w.COLL, function=62, comm=7, peer=-1, bytes=1 << 33, bytes_in=1 << 34, start=2910,
              end=3000, flags=w.COUNTED | w.INTER | w.REQUEST, ordinal=0, request=4),
        event(w.CALL, function=70, comm=7, start=3100, end=3200, flags=w.NESTED),
        event(w.SEND, function=1, comm=7, peer=-17, tag=0, start=3300, end=3310,
              flags=w.ERROR | w.INTER, code=-15),
        event(w.CALL, function=71, comm=-1, start=3320, end=3330, flags=w.ERROR, code=1 << 30),
    ]
    return w.give_ordinals(items)


def full():
    """Two processes of one file, everything in it."""
    out = file_chunk("node1", A) + job_chunk()
    out += every_metadata(A, 0) + every_metadata(B, 1)
    out += events(every_event(), A, request=0, step=7)
    worker = [event(w.CALL, function=80, start=1000 + 10 * i, end=1005 + 10 * i) for i in range(5)]
    out += events(worker, A, thread=1, shift=0)
    sends = [event(w.SEND, function=1, comm=0, peer=0, tag=1, bytes=i, start=64 * i,
                   end=64 * i + 32, flags=w.COUNTED, ordinal=i) for i in range(3)]
    return out + events(w.give_ordinals(sends), B, shift=4)


def ordinary_events(count, first=0):
    return [event(w.CALL, function=10 + i % 3, start=100 * i, end=100 * i + 50, site=i % 2)
            for i in range(first, first + count)]


def folder():
    """A folder: a process in two files, chunks that overlap, facts that build on others'."""
    calls = ordinary_events(60)
    parts = [event(w.DONE, function=30, comm=0, peer=1, tag=5, flags=w.PART | w.REQUEST, request=i)
             for i in range(6)]
    waitall = parts + [event(w.CALL, function=30, start=9000, end=9100)]
    node1 = file_chunk("node1", A) + process_chunk(A, 0) + rank_chunk(A, 0)
    node1 += chunk("ENVIRONMENT", number(1, 1),
                   record(3, text(1, "os"), text(2, "kernel"), text(3, "6.1.0"), text(4, "uname")),
                   record(3, text(1, "env"), text(2, "OMP_NUM_THREADS"), text(3, "4")),
                   record(3, text(1, "env"), text(2, "FI_PROVIDER"), text(3, "tcp")), process=A)
    node1 += process_chunk(B, 1)
    node1 += chunk("ENVIRONMENT", number(2, A),
                   record(3, text(1, "env"), text(2, "OMP_NUM_THREADS"), text(3, "8")),
                   record(3, text(1, "env"), text(2, "FI_PROVIDER"), number(5, 1)),
                   record(3, text(1, "env"), text(2, "ONLY_HERE"), text(3, "yes")), process=B)
    node1 += chunk("ENVIRONMENT", number(2, B), process=C)
    node1 += events(calls[:20], A) + events(calls[10:40], A, first=10)
    node1 += events(calls[5:15], A, first=5) + events(calls[:20], A)
    node1 += events(waitall[:4], B)  # a Waitall over two chunks
    node1 += chunk("HEALTH", text(1, "code"), text(2, "early"), number(3, 1), number(4, 5),
                   process=A)
    node2 = file_chunk("node2", C) + rank_chunk(B, 1)
    node2 += chunk("COMM", number(1, 3), number(2, 3), number(3, 1), text(11, "dup"), process=C)
    node2 += events(calls[45:], A, first=45)  # 40 to 44 are missing
    node2 += events(waitall[4:], B, first=4)
    node2 += chunk("HEALTH", text(1, "code"), text(2, "late"), number(3, 9), number(4, 6),
                   process=A)
    node2 += chunk("COUNTS", record(1, number(1, 10), number(3, 40)), process=A)
    node2 += chunk("COUNTS", record(1, number(1, 10), number(3, 20)), process=A)  # an older state
    node2 += clock_chunk(A, 10, 10) + clock_chunk(A, 10, 10)
    node2 += chunk("END", number(1, 1), number(2, 10), process=A)
    node2 += chunk("END", number(1, 4), number(2, 20), process=A)  # does not hide the first
    node2 += chunk("END", number(1, 5), number(2, 20), process=B)
    node2 += chunk("END", number(1, 4), number(2, 30), process=B)
    node2 += chunk("OPEN", record(1, number(1, 0), number(2, 60), text(9, "MPI_Barrier")),
                   number(3, 1), process=A)  # said nothing any more
    return {"job.mpiw": job_chunk(), "node1.mpiw": node1, "node2.mpiw": node2,
            "README": b"not a part of the trace\n"}


def hang():
    """Killed in a Waitall: parts without their call, the open call; a thread with nothing else."""
    out = file_chunk("node1", A) + process_chunk(A, 0) + rank_chunk(A, 0)
    out += events(ordinary_events(3) + [
        event(w.DONE, function=30, comm=0, peer=1, tag=5, flags=w.PART | w.REQUEST, request=i)
        for i in range(2)], A)
    out += chunk("OPEN", record(1, number(1, 0), number(2, 30), number(3, 777), signed(5, -2),
                                number(8, 4), text(9, "MPI_Waitall")),
                 record(1, number(1, 0), number(2, 31), number(3, 888), text(9, "MPI_Wait")),
                 record(1, number(1, 9), number(2, 60), number(3, 999), number(4, 1), signed(5, -1),
                        number(7, 1), text(9, "MPI_Barrier")),
                 number(2, 1700000000000000000), process=A)
    return out + chunk("END", number(1, 4), number(2, 900), process=A)


def edges():
    """Extreme values, unknown and wrong things that must be skipped, odd texts."""
    big = event(w.SEND, function=MASK, comm=(1 << 63) - 2, peer=-(1 << 63), tag=(1 << 63) - 1,
                bytes=MASK, bytes_in=MASK, site=MASK, start=MASK - 5, end=3,
                flags=w.COUNTED | w.ORDINAL | w.REQUEST | w.FOREIGN | w.ERROR, request=MASK,
                origin=MASK, ordinal=(1 << 63) - 1, code=-(1 << 63))
    back = event(w.CALL, function=0, start=500, end=400)  # ends before it starts
    last = event(w.DONE, function=0, comm=-1, start=0, end=MASK, flags=w.REQUEST, request=0)
    out = process_chunk(D, 3, host="node1", clock=1 << 40)
    out += events([big, back, last], D, first=MASK - 3, base=7, request=12345)
    out += events([event(w.CALL, start=1 << 63, end=1 << 63), event(w.POLL, start=0, end=1 << 63,
                                                                  busy=1 << 63, polls=MASK)],
                  D, thread=MASK, shift=63)
    out += events([event(w.CALL, function=i % 5, start=i, end=i) for i in range(300)], D, thread=2)
    out += events([], D, thread=5)
    out += chunk("RANK", number(1, 1 << 31), number(2, MASK), number(5, 1 << 31), number(8, MASK),
                 process=D)
    out += chunk("END", number(1, 1 << 35), signed(3, -(1 << 63)), process=D)
    out += chunk("COMM", number(1, 5), number(2, MASK), number(3, MASK), process=D)
    out += chunk("COMM", number(1, 6), number(2, 19), runs(9, [(-(1 << 63), (1 << 63) - 1, MASK)]),
                 process=D)
    out += chunk("COMM", number(1, 6), number(9, 1), data(2, b"x"), process=D)  # of the wrong kind
    out += chunk("HEALTH", data(1, b"\xff\xfe\0hidden"), data(2, b"a\n\t\"\\\x7f\x1b"), process=D)
    out += chunk("THREAD", number(1, 2), text(3, "first"), text(3, "last counts"), number(3, 0),
                 text(9999, "unknown"), number(1 << 62, 5), number(4, 77), process=D)
    out += chunk("MODULES", number(1, 5), record(1, number(1, 1), number(2, 3), number(6, MASK)),
                 record(1), record(2, number(1, 3)), process=D)
    out += chunk("SITES", record(1, number(1, MASK), packed(2, [])), process=D)
    out += chunk("RANK", process=C) + chunk("PROCESS", process=C, zstd=True)
    out += frame(12345, b"of a type that nobody knows", C) + frame(30, b"", 0)
    out += chunk("RANK", number(1, 1), process=0)  # of no process
    return out


def damaged():
    """Whole chunks around damage of each kind."""
    good = [rank_chunk(A, 0), rank_chunk(B, 1), process_chunk(A, 0), clock_chunk(A, 1, 2)]
    out = good[0] + b"\0" * 100 + b"MWCK then nonsense" + good[1]
    torn = events(ordinary_events(50), A)
    out += torn[:len(torn) // 2] + good[2]         # cut in the writing
    out += torn[:20] + good[3]                     # in its header
    out += frame("HEALTH", text(1, "flipped"), A, check=1)
    out += frame("HEALTH", b"x" * 50, A, length=(1 << 24) + 1, raw_length=5)
    out += frame("HEALTH", b"", A, length=0, raw_length=(1 << 26) + 1)
    out += frame("HEALTH", text(1, "zero"), A, version=0)
    out += frame("HEALTH", text(1, "newer"), A, version=2) + frame("HEALTH", b"?", A, version=255)
    out += chunk("HEALTH", text(1, "after"), process=A)
    return out + events(ordinary_events(10), A)[:-7]   # the end of the file


def malformed():
    """Right checksums, wrong content."""
    bad = [
        frame("HEALTH", b"\x03", A),                              # a length is missing
        frame("HEALTH", b"\x03\x05ab", A),                        # bytes are cut short
        frame("HEALTH", text(1, "half") + b"\x80", A),            # a number is cut short
        frame("HEALTH", text(1, "half") + b"\x08" + b"\xff" * 10 + b"\x01", A),
        frame("HEALTH", text(1, "half") + b"\x08" + b"\xff" * 9 + b"\x02", A),  # 65 bits
        chunk("SITES", record(1, number(1, 1), packed(2, [1, 2, 3])), process=A),
        chunk("COMM", number(1, 1), packed(9, [1, 2]), process=A),
        chunk("COMM", number(1, 1), data(10, b"\x80"), process=A),
        chunk("MODULES", record(1, number(1, 1)), data(1, b"\x03\x50"), process=A),
        chunk("COUNTS", data(1, b"\xff"), process=A),
        chunk("OPEN", data(1, b"\xff"), process=A),
        chunk("ENVIRONMENT", record(3, text(1, "a")), data(3, b"\x80\x80"), process=A),
        frame("HEALTH", text(1, "lie"), A, raw_length=3),
        frame("HEALTH", w.compress(text(1, "bomb") * 10), A, flags=1, raw_length=5),
        frame("HEALTH", w.compress(text(1, "short")), A, flags=1, raw_length=1 << 26),
        frame("HEALTH", w.compress(text(1, "two")) * 2, A, flags=1, raw_length=10),
        frame("HEALTH", w.compress(text(1, "cut"))[:-3], A, flags=1, raw_length=5),
        frame("HEALTH", b"no frame at all", A, flags=1, raw_length=5),
        frame("HEALTH", b"", A, flags=1, raw_length=0),
        events(ordinary_events(2), 0),                            # of no process
        frame("EVENTS", w.compress(b""), A, flags=1, raw_length=0),
        frame("EVENTS", w.events_head(shift=64, count=1) + w.compress(b"\1"), A),
        frame("EVENTS", w.events_head(count=(1 << 26) + 1) + w.compress(b"\1"), A),
        frame("EVENTS", w.events_head(first=MASK, count=1) + w.compress(b"\1"), A),
        frame("EVENTS", b"\0\0\1", A),
    ]
    return rank_chunk(A, 0) + b"".join(bad) + chunk("HEALTH", text(1, "after"), process=A)


def malformed_events():
    """Chunks that go wrong in the middle; another one has the same events, or not."""
    good = ordinary_events(30)
    step = w.events_content(good[:10], step=10)

    def bad(content, first, count, thread):
        return frame("EVENTS", w.events_head(thread, first, count) + w.compress(content), A)

    one = w.events_content(good[:1])
    out = bad(step + b"\xff", 0, 30, 0) + events(good[:20], A)    # 20 to 29 are lost
    out += events(good[25:], A, first=25)                         # and 25 to 29 found again
    wrong = [
        b"\x00\x00", b"\x01\x02", b"\x81\x20\x00",                # n of 0, m over n, n over 4096
        b"\x02\x00\x00\x00",                                      # n over what is left
        b"\x01\x01\x07" + one[3:], b"\x01\x01\x00" + one[3:],     # unknown kinds
        b"\x01\x00\x09",                                          # a shape that is not there
        b"\x01\x01\x01" + w.varint(1 << 18) + one[4:],            # an unknown flag
        one[:-1], b"", one + b"what follows means nothing",
        w.events_content([event(w.SEND, flags=w.COUNTED)]),       # no ordinal to go on from
        w.events_content([event(w.SEND, flags=w.COUNTED | w.ORDINAL, ordinal=1 << 63)]),
        w.events_content([event(w.CALL, comm=(1 << 63) - 1)]),
    ]
    for thread, content in enumerate(wrong, 1):
        out += bad(content, 0, 1, thread)
    out += frame("EVENTS", w.events_head(50, 0, 5) + b"no frame", A)
    lost = [event(w.DONE, flags=w.PART | w.REQUEST, request=i) for i in range(3)]
    out += events(lost, A, thread=60) + events(good[:2], A, thread=60, first=10)
    return out


def facts():
    """Facts that build on themselves, on nothing, and on a long chain."""
    def own(process, base, value):
        return chunk("ENVIRONMENT", number(2, base),
                     record(3, text(1, "own"), text(2, f"{process:x}"), text(3, value)),
                     process=process)

    out = own(1, 2, "in a ring of three") + own(2, 3, "second") + own(3, 1, "third")
    out += own(4, 4, "on itself") + own(5, 3, "on the ring") + own(6, 0x777, "on nobody")
    for link in range(100, 112):
        out += own(link, link + 1 if link < 111 else 0, "chain")
    return out


def deep():
    """Records in records in records, where the format has them and where it has not."""
    nested = text(1, "core")
    for _ in range(2000):
        nested = data(3, nested)
    frames = packed(2, [1] * 2000)
    out = chunk("ENVIRONMENT", nested, process=A) + chunk("HEALTH", nested, text(1, "x"), process=A)
    out += chunk("SITES", record(1, number(1, 1), frames), process=A)
    return out + chunk("MODULES", *[record(1)] * 300, process=A)


LANES = [{"use": "am", "transport": "rc_mlx5", "device": "mlx5_0:1"},
         {"use": "", "transport": "cma", "device": "memory"}]
OFFER = {"provider": "cxi", "domain": "cxi0", "fabric": "cxi", "device": "cxi0",
         "speed": 200 * 10**9, "state": "up", "driver": "cxi_ss1"}


def endpoint(number_, process=A, **fields):
    return chunk("ENDPOINT", id=number_, process=process, **fields)


def look(kind, when, time, *rows, **fields):
    """A chunk of SOCKETS or PORTS."""
    rows_of = {"SOCKETS": "connection", "PORTS": "port"}[kind]
    return chunk(kind, when=when, time=time, process=A, **{rows_of: rows}, **fields)


def fabric_attempts():
    first = chunk("ATTEMPT", id=1, library="libfabric", call="fi_getinfo", result=0, start=100,
                  end=200, caller=2, asked="cxi", offer=[OFFER, {}, {"speed": MASK}], process=A)
    begun = chunk("ATTEMPT", id=2, library="libfabric", call="fi_enable", start=300, process=A)
    done = chunk("ATTEMPT", id=2, library="libfabric", call="fi_enable", result=-262,
                 words="Invalid resource domain", provider="cxi", domain="cxi0", fabric="cxi",
                 caller=2, start=300, end=400, inner=7, device="cxi0", speed=200 * 10**9,
                 driver="cxi_ss1", endpoint=1, process=A)
    hangs = chunk("ATTEMPT", id=MASK, library="ucx", call="ucp_init", start=MASK,
                  result=-(1 << 63), offer=[{"provider": "tcp", "domain": "eth0"}], process=A)
    odd = chunk("ATTEMPT", number(2, 5), number(16, 5), text(4, "seven"), process=A)
    return hangs + first + begun + done + first + odd


def fabric_endpoints():
    peers = [{"address": bytes([2, 0, 9]), "sends": 1}, {"address": b"", "sends": 3, "unsized": 3},
             {"address": bytes([2]), "sends": 4, "sent": 400, "puts": 5, "put": MASK, "gets": 6,
              "got": 600, "lane": LANES}]
    out = endpoint(1, library="libfabric", provider="cxi", domain="cxi0", caller=2, format=15,
                   address=b"\0\1\2\0", peer=peers, device="cxi0", speed=200 * 10**9, time=10)
    out += endpoint(2, library="ucx", address=bytes(range(8)), inner=1, peer=[
        {"address": bytes(8), "lane": LANES[:1]}, {"address": bytes(8), "lane": LANES[1:]}])
    # Only what they carry is replaced; a peer as a whole; others come.
    out += endpoint(1, time=20, unlisted=7, peer=[{"address": bytes([2]), "sends": 9},
                                                  {"address": bytes([255] * 40), "sends": 1}])
    out += chunk("ENDPOINT", number(1, 1), text(9, "hsn0"), number(4, 1), process=A)
    return out + endpoint(3, peer=[{}]) + endpoint(0, format=MASK, inner=1 << 40)


def fabric_kernel():
    one = {"local": w.socket_address("10.0.0.1", 4000), "interface": "hsn0", "fd": 5, "cookie": 77,
           "remote": w.socket_address("10.0.0.2", 65535), "sent": 1 << 40, "received": 2, "rtt": 80,
           "retransmits": 1, "state": 1, "waiting": 12, "min_rtt": 60}
    six = {"local": w.socket_address("fe80::1", 1), "remote": w.socket_address("2001:db8::1", 2),
           "fd": 6}
    out = look("SOCKETS", 3, 900, one, six, {"fd": 5, "cookie": 78, "remote": b"12345"})
    out += look("SOCKETS", 1, 100, one, unseen=4)
    out += look("SOCKETS", 3, 900, {**one, "sent": 5}, {"fd": 4}, unseen=1)  # goes on
    out += look("SOCKETS", 2, 900) + look("SOCKETS", 1 << 31, 900, {"fd": MASK})
    out += look("SOCKETS", 1, 100, one, unseen=4)  # there twice
    eth = {"name": "eth0", "kind": "net", "number": 0, "received": 10, "sent": 20, "rate": 10**10,
           "state": "up", "errors": 3, "address": "52:54:00:12:34:56"}
    mlx = {"name": "mlx5_0", "kind": "infiniband", "number": 2, "rate": 2 * 10**11}
    out += look("PORTS", 3, 900, eth, mlx, {**mlx, "number": 1}) + look("PORTS", 1, 100, eth)
    out += look("PORTS", 1, 100, {**eth, "sent": 21}, {})
    out += chunk("CMA", time=500, peer=[{"pid": 9, "reads": 1, "read": 4096},
                                        {"pid": 7, "refused": 1, "error": 1, "error_time": 400}],
                 process=A)
    again = {"pid": 9, "reads": 2, "read": MASK, "writes": 3, "written": 4}
    return out + chunk("CMA", peer=[again], process=A)


def fabric():
    """What was seen of fabrics and of the kernel: all fields, added up, replaced and repeated."""
    out = process_chunk(A, 0) + fabric_attempts() + fabric_endpoints() + fabric_kernel()
    line = {"library": "libfabric", "level": "warn", "subsystem": "ep_ctrl", "provider": "cxi",
            "function": "cxip_ep_enable", "line": 123, "text": "Failed to allocate CP, ret: -22"}
    out += chunk("LOG", id=2, count=1, time=5, **line, process=A)
    out += chunk("LOG", id=1, text=b"odd \xff\x1b[31m\0hidden", process=A)
    out += chunk("LOG", id=2, count=40, time=5, **line, process=A, zstd=True)
    out += chunk("LOG", count=3, process=A) + chunk("LOG", count=9, text="not a line", process=A)
    items = [{"what": "pml", "name": "ob1", "how": "selected", "source": "symbol"},
             {"what": "btl", "name": "vader", "how": "loaded"},
             {"what": "probe", "name": "ucx", "how": "absent"}, {}]
    out += chunk("CHOICE", item=items, process=A)
    out += chunk("CHOICE", item=[{"what": "probe", "name": "ucx", "how": "on"}], process=A)
    # Of no process, and of one that says nothing else.
    return out + chunk("CHOICE", item=items) + chunk("CMA", process=B)


def malformed_fabric():
    """Right checksums, wrong content, up to three lists deep: of none is anything used."""
    short = b"\x80"
    lane, peer = data(9, short), record(8, text(1, "p"), data(9, b"\x03\x05ab"))
    bad = [
        chunk("ATTEMPT", number(1, 1), data(16, short), process=A),
        chunk("ENDPOINT", number(1, 1), data(8, short), process=A),
        chunk("ENDPOINT", number(1, 1), data(8, lane), process=A),
        chunk("ENDPOINT", number(1, 1), record(8, text(1, "good")), peer, process=A),
        frame("LOG", number(1, 1) + b"\x11", A),
        chunk("SOCKETS", number(1, 1), record(3, number(10, 4)), data(3, short), process=A),
        chunk("PORTS", data(3, b"\x03\x05ab"), process=A),
        chunk("CMA", record(1, number(1, 5)), data(1, short), process=A),
        chunk("CHOICE", record(1, text(1, "pml")), data(1, b"\x08" + b"\xff" * 10), process=A),
        frame("CHOICE", w.compress(record(1, text(1, "pml"))), A, flags=1, raw_length=99),
    ]
    # What looks nested where the format has nothing inside is only bytes.
    good = chunk("ENDPOINT", record(8, record(9, data(2, short))), process=B)
    return rank_chunk(A, 0) + b"".join(bad) + good + chunk("LOG", data(8, short), process=B)


def object_events():
    items = [
        event(w.COLL, function=320, comm=0, peer=-1, start=1000, end=1010, flags=w.COUNTED),
        event(w.RMA, function=99, comm=0, peer=1, tag=0, bytes=40, start=1100, end=1110, site=1),
        event(w.RMA, function=106, comm=0, peer=1, tag=0, bytes_in=80, start=1120, end=1130,
              flags=w.REQUEST, request=0),
        event(w.DONE, function=30, comm=0, start=1140, end=1150, flags=w.REQUEST, request=0),
        event(w.RMA, function=103, comm=0, peer=-2, tag=-1, start=1160, end=1170),
        event(w.RMA, function=99, comm=0, peer=1, tag=0, start=1180, end=1190, flags=w.ERROR,
              code=-6),
        event(w.EPOCH, function=116, comm=0, peer=1, tag=0, flags=w.PART),
        event(w.EPOCH, function=116, comm=0, peer=0, tag=0, flags=w.PART),
        event(w.EPOCH, function=116, comm=0, peer=-2, tag=0, start=1200, end=1210),
        event(w.EPOCH, function=107, comm=0, peer=-1, tag=0, start=1220, end=1230,
              flags=w.COLLECTIVE | w.NESTED),
        event(w.WRITE, function=379, comm=0, tag=1, bytes=4096, start=1300, end=1400,
              flags=w.OFFSET, offset=1 << 40),
        event(w.WRITE, function=379, comm=0, tag=1, bytes=4096, start=1400, end=1500,
              flags=w.OFFSET, offset=(1 << 40) + 4096),
        event(w.READ, function=361, comm=0, tag=1, bytes=17, start=1510, end=1520,
              flags=w.STATUS | w.COLLECTIVE),
        event(w.READ, function=373, comm=0, tag=1, bytes=99, start=1530, end=1540, request=1,
              flags=w.REQUEST | w.COLLECTIVE | w.OFFSET, offset=0),
        event(w.DONE, function=374, comm=0, bytes_in=98, start=1550, end=1560, request=1,
              flags=w.REQUEST | w.STATUS | w.COLLECTIVE),
        event(w.FILE, function=394, comm=0, tag=1, start=1570, end=1580,
              flags=w.OFFSET | w.ERROR, offset=-(1 << 63), code=12),
        event(w.POLL, function=120, comm=0, tag=0, start=1600, end=1700, polls=3, busy=9),
    ]
    return w.give_ordinals(items)


def objects():
    """Windows, files and amounts by peer, each with later chunks that add."""
    out = rank_chunk(A, 0) + clock_chunk(A, 0, 0) + clock_chunk(A, 10000, 5000)
    out += chunk("WINDOW", id=0, flavour=1, comm=1, number=0, size=400, unit=4, process=A)
    out += chunk("WINDOW", id=1, flavour=1 << 31, comm=MASK, number=MASK, process=A)
    out += chunk("WINDOW", id=0, name=b"halo\x1b[m \xff", process=A)
    out += chunk("WINDOW", id=0, freed=1800, process=A)
    out += chunk("WINDOW", id=0, comm=0, process=B)
    out += chunk("IOFILE", id=1, comm=2, number=3, name=b"/scratch/u/data.bin", mode=9, process=A)
    out += chunk("IOFILE", id=1, closed=1900, process=A) * 2
    out += chunk("IOFILE", data(1, b"x"), text(2, "y"), process=A)
    far = (1 << 63) - 1
    for peers, time in (([0, 1, 80, 2, 2, 8, 1, 5, 77], 1000), ([2, 3, 12], 1500)):
        out += chunk("FLOW", number(1, 1), packed(2, peers), number(3, time), process=A)
    out += chunk("FLOW", number(1, 0), packed(2, [w.zigzag(-far - 1), MASK, MASK]), process=A)
    bad = [chunk("FLOW", number(1, 1), packed(2, [1, 2]), process=A),
           chunk("FLOW", number(1, 1), data(2, b"\x80"), process=A)]
    return out + b"".join(bad) + events(object_events(), A, shift=1)


XML = b"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x000000ff" nodeset="0x00000003" gp_index="1">
    <info name="HostName" value="node1" /><info name="CPUModel" value="EPYC" />
    <info name="DMIBoardSerial" value="serial-1" />
    <object type="OSDev" name="mlx5_0" osdev_type="3" gp_index="9"/>
    <userdata name="u" length="3">abc</userdata>
  </object>
</topology>
"""


def topology():
    """A node's facts, added up; the later record of a key counts."""
    one = {"node": 0, "distance": [10, 32], "cpus": [0, 4, 16, 4], "memory": 1 << 36}
    nic = {"address": "0000:c1:00.0", "parent": "0000:c0:01.1", "class": 0x020700, "vendor": 0x15b3,
           "device": 0x101b, "node": 2, "speed": 8000, "speed_max": 16000, "width": 8,
           "width_max": 16, "driver": "mlx5_core", "names": "mlx5_0 ib0", "cpus": [4, 4]}
    gpu = {"node": 4, "pci": "0000:d1:00.0", "gpu_id": 50000, "name": "gfx90a", "unique_id": MASK,
           "hive": 0x1234}
    link = {"from": 4, "to": 5, "type": 11, "weight": 15, "min_bandwidth": 50000,
            "max_bandwidth": 200000}
    out = chunk("TOPOLOGY", xml=XML, source="hwloc 2.9.0", took=12345678, slit=[one], pci=[nic],
                gpu=[gpu], link=[link, {**link, "from": 5, "to": 4}], process=A, zstd=True)
    out += chunk("TOPOLOGY", failure="without I/O devices: more than 512", link=[
        {**link, "weight": 30}, {**link, "type": 2}], process=A)
    out += chunk("TOPOLOGY", slit=[{"node": 1, "distance": [32, 10]}, {**one, "memory": 5}, {}],
                 pci=[{"address": "0000:c0:01.1", "class": 0x060400}, {"node": MASK}], process=A)
    odd = [number(1, 5), number(5, 5), text(3, "x"), text(2, "file of alice")]
    return out + chunk("TOPOLOGY", xml=XML, process=B) + chunk("TOPOLOGY", *odd, process=B)


def placements():
    first = {"cpus": [0, 8, 64, 8], "parent_cpus": [0, 128], "parent": "orted",
             "cgroup_cpus": [0, 128], "cpu": 4, "node": 1, "policy": "default", "migrations": 3,
             "involuntary": 1, "voluntary": 200, "mems": [0, 2], "threads": 3}
    threads = [{"tid": 1000, "cpu": 4, "ticks": 77, "name": "halo", "mpi": 1},
               {"tid": 1001, "cpu": 65, "cpus": [64, 1], "ticks": 5, "name": "async"}]
    spinner = {"pid": 77, "name": "spin", "cpu": 4, "busy": 99, "same_user": 1, "parent": 1,
               "cpus": [0, 1]}
    out = chunk("PLACEMENT", when=1, time=100, thread=threads, process=A, **first)
    out += chunk("PLACEMENT", when=3, time=900, **{**first, "cpu": 9}, process=A)
    out += chunk("PLACEMENT", when=3, time=900, watched=10**9, unwatched=4, foreign=[
        spinner, {"pid": 5}, {**spinner, "busy": 50}], thread=threads[:1], process=A)
    out += chunk("PLACEMENT", when=3, time=900, policy="bind:0", thread=[{"tid": 1000}], process=A)
    out += chunk("PLACEMENT", number(3, 1), text(8, "x"), process_cpus=[5, 1, 1, MASK], process=A)
    return out + chunk("PLACEMENT", when=1 << 31, process=B)


def devices():
    peers = [{"index": 1, "access": 1, "link": "xgmi", "hops": 1}, {}]
    hip = {"runtime": "hip", "index": 0, "pci": "0000:d1:00.0", "name": "AMD Instinct MI250X",
           "memory": 1 << 36, "uuid": "GPU-deadbeef01234567", "peer": peers, "current": 1}
    out = chunk("DEVICE", device=[hip, {**hip, "index": 1, "current": 0, "peer": peers[:1]}],
                time=500, visible="ROCR_VISIBLE_DEVICES=2,3", process=A)
    out += chunk("DEVICE", device=[{**hip, "peer": []}, {"runtime": "cuda", "index": MASK}],
                 process=A)
    out += chunk("DEVICE", number(1, 1), visible="", process=B)
    spaces = [{"id": 1, "kind": 3, "runtime": "hip", "device": 1, "calls": 5, "bytes": 1 << 40},
              {"id": 2, "kind": 1 << 31, "note": "IPC memory of another process"}]
    out += chunk("BUFFER", space=spaces, process=A)
    return out + chunk("BUFFER", space=[{"id": 1, "kind": 1}, {"id": 30, "kind": 4}], process=A)


def placement():
    """What a node is, where its processes sit, GPUs and the memory of messages."""
    items = [
        event(w.SEND, function=1, comm=0, peer=1, tag=5, bytes=8, start=1000, end=1010,
              flags=w.COUNTED | w.spaces(send=1), ordinal=0),
        event(w.RECV, function=2, comm=0, peer=1, tag=5, bytes_in=8, start=1020, end=1030,
              flags=w.COUNTED | w.STATUS | w.spaces(receive=30), ordinal=0),
        event(w.COLL, function=61, comm=0, peer=-1, bytes=8, bytes_in=8, start=1040, end=1050,
              flags=w.COUNTED | w.spaces(31, 2), ordinal=0),
        event(w.RMA, function=99, comm=0, peer=1, tag=0, bytes=8, start=1060, end=1070,
              flags=w.spaces(send=16)),
    ]
    bad = [chunk("TOPOLOGY", data(5, data(2, b"\x80")), text(2, "bad"), process=A),
           chunk("TOPOLOGY", record(6, packed(13, [1])), text(2, "bad"), process=A),
           chunk("PLACEMENT", number(2, 100), packed(3, [1, 2, 3]), process=A),
           chunk("PLACEMENT", number(2, 100), record(16, packed(7, [5])), process=A),
           chunk("PLACEMENT", number(2, 100), record(15, packed(3, [5])), process=A),
           chunk("DEVICE", record(1, data(7, b"\x80")), number(2, 9), process=A),
           chunk("BUFFER", data(1, b"\x80"), process=A)]
    out = process_chunk(A, 0) + rank_chunk(A, 0) + topology() + placements() + devices()
    return out + b"".join(bad) + events(w.give_ordinals(items), A)


def left_calls():
    """Calls that did not return: an error without a code."""
    items = [
        event(w.CALL, function=2, comm=0, peer=1, tag=3, start=1000, end=1500, flags=w.ERROR, code=0),
        event(w.COLL, function=60, comm=0, peer=-1, start=1600, end=1700, ordinal=4,
              flags=w.COUNTED | w.ERROR, code=0),
        event(w.DONE, function=30, start=1800, end=1900, request=0, flags=w.REQUEST | w.ERROR, code=0),
        event(w.FILE, function=394, comm=0, tag=1, start=2000, end=2100, flags=w.ERROR, code=0),
        event(w.COLL, function=60, comm=0, peer=-1, start=2200, end=2300, ordinal=5,
              flags=w.COUNTED),
    ]
    return w.give_ordinals(items)


def endings():
    """Ends that are taken back, replaced, and not replaced."""
    def end(process, *reasons):
        return b"".join(chunk("END", number(1, reason), number(2, 100 * place + reason),
                              signed(3, -reason), number(4, 7 * place), process=process)
                        for place, reason in enumerate(reasons, 1))

    out = rank_chunk(A, 0) + events(left_calls(), A)
    return out + b"".join(end(process, *reasons) for process, reasons in (
        (A, (1, 0)), (B, (0,)), (C, (1, 0, 4)), (D, (1, 0, 1)), (5, (2, 4, 5)), (6, (4, 5)),
        (7, (5, 4)), (8, (5, 0, 5)), (9, (3, 0)), (10, (4, 0, 2)), (11, ())))


def held():
    """Calls that say how long recording held them up, in ticks that are not shifted."""
    parts = [event(w.DONE, function=30, comm=0, peer=-2, flags=w.PART | w.REQUEST, request=i) for i in range(8)]
    items = parts + [event(w.CALL, function=30, start=1024, end=2048, flags=w.OFFSET, offset=801)]
    items += parts + [event(w.CALL, function=30, start=4096, end=4352, flags=w.OFFSET | w.NESTED, offset=0)]
    items += [event(w.CALL, function=30, start=5120, end=5376, flags=w.OFFSET, offset=-(1 << 63)),
              event(w.CALL, function=30, start=6144, end=6400)]
    return file_chunk("node1", A) + process_chunk(A, 0) + rank_chunk(A, 0) + events(items, A, shift=8)


def worlds():
    """A world that spawned another, told apart by what the launcher said, and clients of a port."""
    out = b""
    for key, world in ((A, 11), (B, MASK)):
        out += chunk("PROCESS", text(1, "node1"), number(2, 1), number(8, 3), number(17, world),
                     process=key)
        out += chunk("RANK", number(1, 0), number(2, 1), process=key)
    strangers = w.runs(10, [(-16, -1, 2)])
    out += chunk("COMM", number(1, 5), number(2, 15), number(5, 1), number(7, 2), strangers,
                 number(13, 100), number(14, 900), process=A)
    out += chunk("COMM", number(1, 6), number(2, 17), number(13, 950), number(14, 990),
                 number(15, MASK), process=A)
    out += chunk("COMM", number(1, 6), number(12, 1000), process=A)
    return out + chunk("COMM", number(1, 2), number(2, 19), strangers, process=B)


def places():
    """Communicators split out of one of two worlds, whose members are told by their ranks in the parent; and processes
    by what the launcher calls them."""
    out = b""
    for key, name, spawner in ((A, 77, 0), (B, MASK, 77)):
        out += chunk("PROCESS", text(1, "node1"), number(2, 1), number(8, 3), number(17, name),
                     number(18, name), *([number(19, spawner)] if spawner else []), process=key)
        out += chunk("RANK", number(1, 0), number(2, 1), process=key)
    out += chunk("COMM", number(1, 5), number(2, 6), number(3, 4), number(5, 3),
                 w.runs(9, [(0, 1, 1), (-17, -1, 2)]), w.runs(16, [(3, -2, 2), (0, 1, 1)]), number(17, MASK),
                 process=A)
    out += chunk("COMM", number(1, 5), number(12, 1000), process=A)  # adds to it
    out += chunk("COMM", number(1, 6), number(2, 5), w.runs(16, [(9, 9, 9)]), number(17, 1), process=A)
    out += chunk("COMM", number(1, 6), w.runs(16, [(8, 8, 8)]), process=A)  # the later one counts
    return out + chunk("COMM", number(1, 7), number(16, 5), w.data(17, b"x"), process=B)  # of the wrong kind


def aggregates():
    """Sums instead of calls: all fields, slices that were written twice, regions that grow."""
    out = process_chunk(A, 0) + rank_chunk(A, 0) + clock_chunk(A, 1000, 500)
    send = {"function": 1, "site": 2, "kind": w.SEND, "flags": 0, "comm": 0, "peer": 1, "class": 4,
            "region": 1, "calls": 10, "time": 500, "least": 20, "most": 90, "operations": 10,
            "bytes": 80}
    wait = {"function": 30, "site": 3, "kind": w.RECV, "comm": -1, "peer": -2, "calls": 4,
            "time": 900, "least": 100, "most": 400}
    done = {"function": 2, "kind": w.RECV, "flags": w.STATUS, "peer": 1, "class": 7,
            "operations": 8, "bytes_in": 512}
    coll = {"function": 60, "kind": w.COLL, "comm": 7, "peer": -1, "calls": 2, "time": 70,
            "least": 30, "most": 40, "operations": 2, "bytes": 16, "bytes_in": 32, "next": 14}
    poll = {"function": 34, "kind": w.POLL, "peer": -1, "calls": MASK, "time": MASK, "most": MASK}
    error = {"function": 71, "kind": w.CALL, "flags": w.ERROR | w.NESTED, "comm": -1,
             "peer": -(1 << 63), "class": 65, "region": MASK, "calls": 1, "errors": 1}
    got = {"function": 106, "site": 1, "kind": w.RMA, "flags": w.ROW_RECEIVED, "peer": 1, "class": 7,
           "calls": 2, "time": 20, "least": 9, "most": 11, "operations": 2, "bytes_in": 160}
    read = {"function": 361, "kind": w.READ, "flags": w.STATUS | w.COLLECTIVE, "peer": -2,
            "class": 5, "operations": 3, "bytes": 51, "object": 1}
    waited = {"function": 30, "kind": w.READ, "flags": w.REQUEST, "peer": -2, "calls": 3,
              "time": 300, "least": 100, "most": 100, "object": -1}
    last = {"last_function": 60, "last_site": 5, "last_end": 7900}
    out += chunk("REGION", id=1, level=2, name="solve", since=4000, process=A)
    out += chunk("REGION", id=2, parent=1, level=-(1 << 63), name=b"in\xffner\0hidden", process=A)
    out += events(ordinary_events(4), A)
    out += chunk("AGGREGATE", number=1, start=5000, end=8000, why=2, row=[send, wait, done],
                 **last, process=A)
    out += chunk("AGGREGATE", number=0, start=5000, end=7000, why=2, row=[send], process=A)
    out += chunk("AGGREGATE", number=0, start=5000, end=7500, why=2, row=[send, coll, poll],
                 process=A, zstd=True)                               # fuller: the sum is MASK-near
    out += chunk("AGGREGATE", number=2, start=8000, end=9000, why=2, row=[coll, error], process=A)
    out += chunk("AGGREGATE", number=2, start=8000, end=8900, why=2, row=[coll], process=A)
    out += chunk("AGGREGATE", number=1, start=5000, end=8001, why=3, row=[send, wait, done],
                 process=A)                                          # as full: the later one counts
    out += chunk("AGGREGATE", thread=9, number=MASK, why=77, row=[{}], process=A)
    out += chunk("AGGREGATE", thread=3, process=A)                   # of nothing
    out += chunk("AGGREGATE", thread=3, number=1, why=1, row=[got, read, waited], process=A)
    out += chunk("REGION", id=1, level=2, name="solve", entries=3, time=600, process=A)
    out += frame("AGGREGATE", number(2, 5) + data(6, b"\x80"), A)    # malformed: not used at all
    return out + chunk("AGGREGATE", row=[send]) + chunk("REGION", process=B)


def buffers_of_sums():
    """Sums that tell memory spaces apart, beside some that do not."""
    out = process_chunk(A, 0) + rank_chunk(A, 0) + clock_chunk(A, 1000, 500)
    send = {"function": 1, "kind": w.SEND, "peer": 1, "class": 7, "calls": 3, "time": 30, "least": 9,
            "most": 11, "operations": 3, "bytes": 192}
    out += chunk("BUFFER", space=[{"id": 1, "kind": 3, "runtime": "hip", "device": 1, "calls": 3,
                                   "bytes": 192}], process=A)
    out += chunk("AGGREGATE", number=0, start=5000, end=7000, why=1, spaces=1, row=[
        dict(send, spaces=1), send, dict(send, kind=w.RECV, spaces=1 << 5),
        dict(send, kind=w.COLL, spaces=31 | 2 << 5), dict(send, peer=2, spaces=MASK)], process=A)
    return out + chunk("AGGREGATE", number=1, start=7000, end=8000, why=2, row=[send], process=A)


TRACES = {
    "full.mpiw": full, "folder.mpiw": folder, "hang.mpiw": hang, "edges.mpiw": edges,
    "damaged.mpiw": damaged, "malformed.mpiw": malformed, "malformed-events.mpiw": malformed_events,
    "facts.mpiw": facts, "deep.mpiw": deep, "fabric.mpiw": fabric,
    "malformed-fabric.mpiw": malformed_fabric, "objects.mpiw": objects,
    "malformed-fabric.mpiw": malformed_fabric, "objects.mpiw": objects, "endings.mpiw": endings,
    "placement.mpiw": placement, "aggregates.mpiw": aggregates,
    "worlds.mpiw": worlds, "buffers-of-sums.mpiw": buffers_of_sums,
    "places.mpiw": places, "held.mpiw": held,
}


def noise(size):
    return random.Random(1).randbytes(size)


REFUSED = {
    "empty.mpiw": (b"", "NOT_TRACE"),
    "text.mpiw": (b"mpiwatch? no, a text file\n" * 20, "NOT_TRACE"),
    "noise.mpiw": (noise(1000), "NOT_TRACE"),
    "magic.mpiw": (rank_chunk(A, 0).replace(b"MWCK", b"MWCL"), "NOT_TRACE"),
    "newer.mpiw": (frame("RANK", b"", A, version=2) + frame(77, b"", A, version=3), "NEWER"),
    "cut-header.mpiw": (rank_chunk(A, 0)[:31], "TRUNCATED"),
    "cut-payload.mpiw": (rank_chunk(A, 0)[:-1], "TRUNCATED"),
    "flipped.mpiw": (rank_chunk(A, 0)[:-1] + b"\0", "CORRUPT"),
    "huge.mpiw": (frame("RANK", b"", A, length=MASK >> 32, raw_length=0), "LIMIT"),
    "folder-without.mpiw": ({"README": b"nothing here\n"}, "NOT_TRACE"),
}


def all_files():
    """(path below v1/, content) of all of them."""
    made = [(name, make()) for name, make in TRACES.items()]
    made += [(os.path.join("refused", name), content) for name, (content, _) in REFUSED.items()]
    for name, content in made:
        if isinstance(content, dict):
            for inner, inner_content in content.items():
                yield os.path.join(name, inner), inner_content
        else:
            yield name, content


def main(arguments):
    differs = 0
    for name, content in all_files():
        path = os.path.join(HERE, "v1", name)
        if os.path.exists(path):
            with open(path, "rb") as handle:
                if handle.read() != content:
                    print("differs:", name)
                    differs += 1
            continue
        if "--check" in arguments:
            print("missing:", name)
            differs += 1
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "xb") as handle:
            handle.write(content)
        print("made:", name)
    if "--check" not in arguments:
        make_expectations()
    return differs != 0


def make_expectations():
    """What does not exist yet: by the Python decoder. To be read by a person before it is kept."""
    def keep(name, content):
        path = os.path.join(HERE, "v1", name + ".expected")
        if not os.path.exists(path):
            with open(path, "xb") as handle:
                handle.write(content)

    decoder = os.path.join(HERE, "..", "decoder", "mwdecode.py")
    for name in TRACES:
        keep(name, subprocess.run([sys.executable, "-B", decoder, name], check=True,
                                  stdout=subprocess.PIPE, cwd=os.path.join(HERE, "v1")).stdout)
    for name, (_, status) in REFUSED.items():
        keep(os.path.join("refused", name), status.encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
