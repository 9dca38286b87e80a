# SPDX-License-Identifier: BSD-3-Clause
"""A large job: time grows with what is in the trace, not with pairs of ranks."""

import resource
import struct

from show import ShowTest, b, main

RANKS, PEERS = 20000, 10


def used():
    """Seconds of processor time of the programs that have been run: a busy machine takes no more of it."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def address(rank):
    return struct.pack("<HBBBBBB8x", 2, 1, 1, 10, rank >> 16, rank >> 8 & 255, rank & 255)


class Scale(ShowTest):
    def test_many_ranks_with_few_peers(self):
        """Endpoints joined by address, one message a rank; there are 400 million pairs of ranks."""
        def rank(number):
            process = b.Process(number, RANKS, host="node%d" % (number // 100), key=1000 + number)
            peers = [{"address": address((number + 1 + 7 * n) % RANKS), "sends": 1 + n, "sent": 1000 * n}
                     for n in range(PEERS)]
            process.choice("pml", "cm").choice("mtl", "ofi").choice("probe", "libfabric", "on")
            process.endpoint(1, address(number), peers, provider="cxi", domain="cxi0", format=2)
            process.send((number + 8) % RANKS, 1000, 2000, 2010)
            return process.chunks()
        parts = [rank(number) for number in range(RANKS)]
        before = used()
        shown = self.show(*parts, options=["--count"], timeout=120)
        took = used() - before
        self.assertEqual(shown, {"pairs": RANKS * (PEERS - 1), "ways": 1, "unknown": 0,
                                 "seen": RANKS * (PEERS - 1), "failures": 0, "classes": RANKS})
        self.assertLess(took, 15)
        print("%d pairs in %.1f s" % (shown["pairs"], took))


if __name__ == "__main__":
    main()
