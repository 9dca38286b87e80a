#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Both decoders say the same: of the golden traces, of what is left when they are cut
anywhere, of random traces and of random nonsense with right checksums.

    test_decoders.py DUMP_EVENTS [SEED]
"""

import os
import random
import struct
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
# pylint: disable=wrong-import-position
import compare  # noqa: E402
import mwformat  # noqa: E402
import mwwrite as w  # noqa: E402
from mwrandom import Random  # noqa: E402

GOLDEN = os.path.join(HERE, "..", "golden", "v1")
DUMP = os.path.abspath(sys.argv.pop(1))
SEED = int(sys.argv.pop(1)) if len(sys.argv) > 1 else 20261130


def golden_files():
    for folder, _, names in os.walk(GOLDEN):
        for name in sorted(names):
            if name.endswith(".mpiw"):
                yield os.path.join(folder, name)


def read(path):
    with open(path, "rb") as handle:
        return handle.read()


def reframe(header, payload):
    """The chunk with another payload, and right checksums."""
    return w.frame(header.type, payload, header.process, header.version, header.flags & ~1)


class Decoders(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def same(self, content, what):
        path = os.path.join(self.folder.name, "t.mpiw")
        with open(path, "wb") as handle:
            handle.write(content)
        found = compare.difference(DUMP, path)
        self.assertIsNone(found, f"{what}: {found}\n{content.hex()}")

    def test_golden(self):
        traces = list(golden_files()) + [os.path.join(GOLDEN, "folder.mpiw")]
        self.assertGreater(len(traces), 15)
        for trace in traces:
            self.assertIsNone(compare.difference(DUMP, trace), trace)

    def test_cut_anywhere(self):
        content = read(os.path.join(GOLDEN, "full.mpiw"))
        starts = [header.offset for header, _ in mwformat.chunks(content, lambda *_: None)]
        places = {start + more for start in starts for more in (-1, 0, 1, 31, 32, 33)}
        places |= set(range(5, len(content), 97))
        for place in sorted(place for place in places if 0 <= place <= len(content)):
            self.same(content[:place], f"cut at {place}")
            if place % 5 == 0:
                self.same(content[place:], f"without the first {place}")

    def test_any_byte_changed(self):
        generator = random.Random(SEED)
        for name in ("full.mpiw", "fabric.mpiw", "placement.mpiw", "aggregates.mpiw"):
            content = read(os.path.join(GOLDEN, name))
            for _ in range(150):
                changed = bytearray(content)
                at = generator.randrange(len(content))
                changed[at] ^= 1 << generator.randrange(8)
                self.same(bytes(changed), f"{name}: byte {at} changed")

    def test_random_traces(self):
        for seed in range(SEED, SEED + 150):
            self.same(b"".join(Random(seed).trace()), f"seed {seed}")

    def test_rows_add_up_in_any_order(self):
        """Few keys, many chunks: the later one counts, whatever came between."""
        for seed in range(SEED, SEED + 60):
            maker = Random(seed, few=True)
            kinds = maker.random.choices(("ATTEMPT", "ENDPOINT", "LOG", "SOCKETS", "PORTS", "CMA",
                                          "CHOICE", "TOPOLOGY", "PLACEMENT", "DEVICE", "BUFFER",
                                          "REGION", "AGGREGATE"), k=100)
            self.same(b"".join(map(maker.metadata, kinds)), f"seed {seed}")

    def test_chunks_in_any_arrangement(self):
        for seed in range(SEED, SEED + 60):
            maker = Random(seed)
            chunks = maker.trace()
            out = b""
            for chunk in chunks:
                cut = maker.random.randrange(len(chunk)) if maker.random.random() < 0.2 else None
                out += chunk[:cut] + maker.random.choice((b"", b"", b"", b"MW", b"\0" * 40, chunk))
            self.same(out, f"seed {seed}")

    def test_nonsense_with_right_checksums(self):
        for seed in range(SEED, SEED + 150):
            maker = Random(seed)
            out = b""
            for chunk in maker.trace():
                header = mwformat.Header(chunk, 0)
                payload = chunk[32:]
                if header.flags & 1:
                    payload = mwformat.content(header, payload)
                if header.type == w.TYPE["EVENTS"]:
                    out += self.nonsense_events(maker, header, payload)
                else:
                    out += reframe(header, maker.nonsense(payload))
            self.same(out, f"seed {seed}")

    @staticmethod
    def nonsense_events(maker, header, payload):
        """Changes the head or the content, not the frame: a broken one is zstd's affair."""
        chunk = mwformat.EventChunk(payload)
        head = payload[:len(payload) - len(chunk.frame)]
        content = mwformat.decompress_beginning(chunk.frame)
        if maker.random.random() < 0.2:
            return w.frame(header.type, maker.nonsense(head) + chunk.frame, header.process)
        return w.frame(header.type, head + w.compress(maker.nonsense(content)), header.process)


class Writer(unittest.TestCase):
    """What the tests write is what they mean to write."""

    def test_events_come_back(self):
        for seed in range(100):
            maker = Random(seed)
            shapes = []
            items = w.give_ordinals([maker.event(shapes) for _ in range(50)])
            written = w.events(items, 1, step=7)
            header = mwformat.Header(written, 0)
            events, whole = mwformat.EventChunk(written[32:]).events()
            self.assertTrue(header.within and whole)
            self.assertEqual(len(events), len(items))
            for item, event in zip(items, events):
                self.compare(item, event)

    def compare(self, item, event):
        for name in ("kind", "flags", "function", "comm", "peer", "tag", "bytes", "bytes_in",
                     "site"):
            self.assertEqual(item[name], event[name])
        for name, flag in (("request", w.REQUEST), ("ordinal", w.COUNTED), ("origin", w.FOREIGN),
                           ("code", w.ERROR)):
            if item["flags"] & flag:
                self.assertEqual(item[name], event[name])
        if not item["flags"] & w.PART:
            self.assertEqual((item["start"], item["end"]), (event["start"], event["end"]))
        if item["kind"] == w.POLL:
            self.assertEqual((item["polls"], item["busy"]), (event["polls"], event["busy"]))

    def test_header(self):
        framed = w.frame("RANK", b"abc", 7)
        self.assertEqual(framed[:4], b"MWCK")
        self.assertEqual(struct.unpack_from("<HBBQII", framed, 4), (4, 1, 0, 7, 3, 3))


if __name__ == "__main__":
    unittest.main()
