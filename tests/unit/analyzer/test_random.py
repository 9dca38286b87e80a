# SPDX-License-Identifier: BSD-3-Clause
"""Random jobs: whatever is recorded, the analysis ends, and what it says is consistent."""

import os
import random
import subprocess

import show
from show import ShowTest, b, main

import mwrandom

PROVIDERS = ["cxi", "tcp", "tcp;ofi_rxm", "verbs;ofi_rxm", "shm", "sockets", "self", "", ";", "cxi;cxi"]
TRANSPORTS = ["tcp", "posix", "sysv", "cma", "self", "rc_mlx5", "knem", ""]
DEVICES = ["cxi0", "eth0", "lo", "memory", "mlx5_0:1", "", ":"]
CALLS = ["fi_getinfo", "fi_fabric", "fi_domain", "fi_endpoint", "fi_enable", "ucp_init", ""]
CHOICES = [("pml", "ob1"), ("pml", "cm"), ("pml", "ucx"), ("pml", "v"), ("mtl", "ofi"), ("mtl", "psm2"),
           ("btl", "vader"), ("btl", "tcp"), ("btl", "self"), ("btl", "openib"), ("netmod", "ucx"),
           ("netmod", "ofi"), ("netmod", "nemesis:tcp"), ("shm", "posix"), ("shm", "none"),
           ("device", "/dev/xpmem"), ("probe", "cma"), ("probe", "sockets"), ("probe", "libfabric")]
HOWS = ["selected", "loaded", "default", "open", "mapped", "on", "off", "absent", "not covered", "partly"]


class Job:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def some(self, make, most=4):
        return [make() for _ in range(self.r.randrange(most))]

    def count(self):
        return self.r.choice((0, 1, 5, 4096, 1 << 20, (1 << 64) - 1))

    def address(self):
        kind = self.r.randrange(4)
        if kind == 0:
            return bytes([2, 0, 0, self.r.randrange(4), 10, 0, 0, self.r.randrange(3)]) + bytes(8)
        if kind == 1:
            return bytes([10, 0, 0, self.r.randrange(4)]) + bytes(20) + bytes([self.r.randrange(3)]) * 4
        return bytes([self.r.randrange(3)]) * self.r.choice((0, 1, 2, 4, 7, 8, 16, 28))

    def lane(self):
        return {"use": self.r.choice(("am", "rma_bw", "am_bw", "", "wireup")),
                "transport": self.r.choice(TRANSPORTS), "device": self.r.choice(DEVICES)}

    def peer(self):
        names = ("sends", "sent", "puts", "put", "gets", "got", "unsized")
        return {"address": self.address(), "lane": self.some(self.lane),
                **{name: self.count() for name in names}}

    def offer(self):
        return {"provider": self.r.choice(PROVIDERS), "domain": self.r.choice(DEVICES),
                "device": self.r.choice(DEVICES), "speed": self.count(), "state": "up"}

    def connection(self):
        size = self.r.choice((6, 6, 18, 5, 0))
        ends = [bytes([self.r.choice((10, 127, 0))] + [self.r.randrange(2)] * 17)[:size] for _ in range(2)]
        return {"local": ends[0], "remote": ends[1], "sent": self.count(), "received": self.count(),
                "cookie": self.r.randrange(3), "fd": self.r.randrange(4), "interface": self.r.choice(DEVICES)}

    def rank(self, number, size):
        r = self.r
        rank = b.Process(number, size, host=r.choice(("a", "b")), hint=r.random() < .2)
        rank.world()
        rank.add("PROCESS", host=rank.host, pid=r.randrange(1, 4), boot_id=r.choice(("", "x")),
                 pid_ns=r.randrange(2), clock=3, abi=r.randrange(4), rank_hint=number + 1, size_hint=size)
        for what, name in r.sample(CHOICES, r.randrange(len(CHOICES))):
            rank.choice(what, name, r.choice(HOWS))
        for ident in range(1, r.randrange(1, 6)):
            start = r.randrange(1000, 5000)
            rank.attempt(ident, r.choice(CALLS), result=r.choice((0, 0, -22, -61, 1)), start=start,
                         end=r.choice((0, start + 100)), library=r.choice(("libfabric", "ucx", "")),
                         provider=r.choice(PROVIDERS), domain=r.choice(DEVICES), offer=self.some(self.offer),
                         inner=r.randrange(2), endpoint=r.randrange(3), caller=r.randrange(3))
        for ident in range(1, r.randrange(1, 4)):
            rank.endpoint(ident, self.address(), self.some(self.peer, 6), provider=r.choice(PROVIDERS),
                          library=r.choice(("libfabric", "ucx")), domain=r.choice(DEVICES),
                          format=r.choice((0, 1, 2, 3, 9, 15)), inner=r.random() < .2, unlisted=r.randrange(2))
        for ident in range(r.randrange(4)):
            rank.log(ident + 1, "line %d" % ident, provider=r.choice(PROVIDERS), time=r.randrange(1000, 5100))
        for when in range(r.randrange(4)):
            rank.sockets(when, 1000 * when, self.some(self.connection, 6), unseen=r.randrange(2))
        rank.cma([{"pid": r.randrange(1, 4), "reads": self.count(), "read": self.count(),
                   "writes": self.count(), "written": self.count(), "refused": r.randrange(2)}
                  for _ in range(r.randrange(3))])
        rank.ports(3, 8000, [{"name": r.choice(DEVICES), "kind": r.choice(("net", "infiniband", "")),
                              "rate": self.count(), "state": r.choice(("up", "4: ACTIVE", ""))}])
        for turn in range(r.randrange(20)):
            peer, amount = r.randrange(size), r.choice((0, 8, 5000, 1 << 20))
            at = 2000 + 100 * turn
            (rank.send if r.randrange(2) else rank.recv)(peer, amount, at, at + 50)
        if r.randrange(2):
            rank.finalize(9000, reason=r.randrange(1, 6))
        return rank


class RandomJobs(ShowTest):
    def test_consistent(self):
        for seed in range(150):
            with self.subTest(seed=seed):
                size = 1 + seed % 5
                job = Job(seed)
                shown = self.show(*(job.rank(number, size) for number in range(size)))
                for pair in shown["pairs"]:
                    self.assertEqual((pair["remainder"] - pair["carried"] + pair["bytes"]) % (1 << 64), 0)
                    self.assertTrue(pair["messages"] or pair["carried"] or pair["routes"])
                    self.assertTrue(pair["routes"] or pair["unknown"] or not pair["messages"])
                    self.assertEqual(pair["label"] == "unknown", not pair["routes"])
                    self.assertEqual(pair["where"] == "self", pair["src"] == pair["dst"])
                for failure in shown["failures"]:
                    self.assertEqual(failure["processes"], sorted(set(failure["processes"])))
                    self.assertTrue(failure["processes"])

    def test_nonsense(self):
        path = os.path.join(self.folder, "random.mpiw")
        for seed in range(100):
            with open(path, "wb") as out:
                out.write(b"".join(mwrandom.Random(seed, few=seed % 2 == 0).trace()))
            done = subprocess.run([show.SHOW, path], stdout=subprocess.DEVNULL, timeout=60, check=False)
            self.assertIn(done.returncode, (0, 1), "seed %d" % seed)


if __name__ == "__main__":
    main()
