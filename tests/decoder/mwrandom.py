# SPDX-License-Identifier: BSD-3-Clause
"""Random traces and random nonsense, the same for the same seed: for tests and as fuzz corpus."""

import random

import mwformat
import mwwrite as w

KEYS = [1, 2, 3, (1 << 64) - 1]


class Random:
    """Random traces: mostly right, sometimes extreme. `few`: few different numbers and texts, so
    that much meets under one key."""

    def __init__(self, seed, few=False):
        self.random = random.Random(seed)
        self.few = few

    def number(self):
        if self.few:
            return self.random.randrange(3)
        bits = self.random.choice((0, 1, 3, 7, 8, 14, 31, 32, 33, 62, 63, 64))
        return self.random.getrandbits(bits) if bits else 0

    def signed(self):
        value = self.number() >> 1
        return self.random.choice((value, -value - 1))

    def words(self):
        if self.few:
            return self.random.choice((b"", b"a", b"ab", b"b", b"a\0b", b"123456", bytes(18)))
        return self.random.randbytes(self.random.randrange(6)) + self.random.choice((b"", b"word"))

    def fields(self, description):
        out = b""
        for field in self.random.choices(description, k=self.random.randrange(1, 12)):
            out += self.field(field)
        return out

    def field(self, field):
        number = field.number
        if self.random.random() < 0.03:
            return self.random.choice((w.number(number, self.number()),
                                       w.data(number, self.words())))
        if field.what in ("number", "signed"):
            return w.number(number, self.number())
        if field.what == "record":
            return w.data(number, self.fields(field.inner))
        if field.what == "packed":
            count = self.random.randrange(4) * field.group
            return w.packed(number, [self.number() for _ in range(count)])
        return w.data(number, self.words())

    def metadata(self, kind=None):
        kind = kind or self.random.choice(list(mwformat.CHUNKS))
        process = KEYS[0] if self.few else self.random.choice(KEYS)
        return w.chunk(kind, self.fields(mwformat.CHUNKS[kind]), process=process,
                       zstd=self.random.random() < 0.2)

    def event(self, shapes):
        if shapes and self.random.random() < 0.7:
            item = dict(self.random.choice(shapes))
        else:
            item = w.event(self.random.choice(mwformat.KINDS),
                           flags=self.random.getrandbits(31) & mwformat.ALL_FLAGS,
                           function=self.number(), comm=(self.number() >> 1) - 1,
                           peer=self.signed(), tag=self.signed(), bytes=self.number(),
                           bytes_in=self.number(), site=self.number())
            shapes.append(item)
        item.update(start=self.number(), end=self.number(), request=self.number(),
                    origin=self.number(), polls=self.number(), busy=self.number(),
                    code=self.signed(), offset=self.signed(), ordinal=self.random.randrange(1 << 40))
        return item

    def events(self):
        shapes = []
        items = [self.event(shapes) for _ in range(self.random.randrange(1, 80))]
        shift = self.random.choice((0, 0, 4, 63))
        return w.events(w.give_ordinals(items), self.random.choice(KEYS),
                        thread=self.random.randrange(3), first=self.random.randrange(60),
                        shift=shift, base=self.number() >> shift, request=self.number(),
                        step=self.random.randrange(1, 50))

    def trace(self):
        return [self.events() if self.random.random() < 0.3 else self.metadata()
                for _ in range(self.random.randrange(1, 40))]

    def nonsense(self, payload):
        """Some bytes of it changed, cut or doubled."""
        out = bytearray(payload)
        for _ in range(self.random.randrange(1, 4)):
            at = self.random.randrange(len(out) + 1)
            change = self.random.randrange(4)
            if change == 0 and at < len(out):
                out[at] ^= 1 << self.random.randrange(8)
            elif change == 1 and at < len(out):
                out[at] = self.random.choice((0, 1, 0x7F, 0x80, 0xFF))
            elif change == 2:
                out[at:at] = self.random.randbytes(self.random.randrange(3))
            elif change == 3:
                del out[at:at + self.random.randrange(3)]
        return bytes(out)
