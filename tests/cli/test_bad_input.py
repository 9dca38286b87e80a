# SPDX-License-Identifier: BSD-3-Clause
"""What bad input gets: one clear line that names file and offset, and everything readable still shown."""

import os
import random

import build_trace as b
import mwwrite as w
from build_trace import Process, job
from cli import ROOT, CliTest, main

COMMANDS = (("report",), ("report", "-f", "json"), ("matrix",), ("matrix", "-f", "csv"), ("info",),
            ("dump",), ("dump", "-f", "json"))


def small_job():
    ranks = [Process(rank, 2).world() for rank in range(2)]
    ranks[0].send(1, 100, 2000, 2100)
    ranks[1].recv(0, 100, 1900, 2200)
    for rank in ranks:
        rank.finalize(9000)
    return [job(), *ranks]


class Usage(CliTest):
    def test_exit_codes(self):
        self.run_cli(code=129)
        self.run_cli("frobnicate", code=129)
        for command in ("report", "matrix", "info", "dump", "pack", "anonymize", "run"):
            result = self.run_cli(command, code=129)
            self.assertIn("mpiwatch " + command, result.err)
            self.run_cli(command, "--no-such-option", code=129)
        self.run_cli("pack", "x.mpiw", code=129)
        self.run_cli("report", "--top", "many", "x.mpiw", code=129)
        self.run_cli("dump", "--rank", "-1", "x.mpiw", code=129)

    def test_unknown_command_is_named(self):
        self.assertIn('"frobnicate"', self.run_cli("frobnicate", code=129).err)


class NotATrace(CliTest):
    def assert_refused(self, path, *words):
        for command in COMMANDS:
            result = self.run_cli(*command, path, code=1)
            self.assertEqual(result.out, "", command)
            self.assertEqual(len(result.err.splitlines()), 1, result.err)
            for word in (path, *words):
                self.assertIn(word, result.err)

    def test_missing(self):
        self.assert_refused("no-such.mpiw", "No such file or directory")

    def test_other_files(self):
        for name, content in (("empty", b""), ("text", b"Hello, world\n" * 100),
                              ("zeros", bytes(5000)), ("elf", b"\x7fELF" + bytes(200))):
            b.write(self.path(name), content)
            self.assert_refused(name, "offset 0", "not an mpiwatch trace")
        os.mkdir(self.path("folder.mpiw"))
        self.assert_refused("folder.mpiw", "no trace files in folder.mpiw")

    def test_newer(self):
        b.write(self.path("newer.mpiw"), w.frame("RANK", b"", 1, version=2))
        self.assert_refused("newer.mpiw", "offset 0", "newer")

    def test_the_first_part_of_a_chunk(self):
        whole = small_job()[0]
        for length in (20, 33):
            b.write(self.path("cut.mpiw"), whole[:length])
            self.assert_refused("cut.mpiw", "offset 0")

    def test_no_permission(self):
        if os.geteuid() == 0:
            self.skipTest("root may read everything")
        b.write(self.path("secret.mpiw"), *small_job())
        os.chmod(self.path("secret.mpiw"), 0)
        self.assert_refused("secret.mpiw", "Permission denied")


class Damaged(CliTest):
    def whole(self):
        return b"".join(part if isinstance(part, bytes) else part.chunks() for part in small_job())

    def test_cut_anywhere(self):
        content = self.whole()
        begins = []
        at = 0
        while at < len(content):
            begins.append(at)
            at += 32 + int.from_bytes(content[at + 16:at + 20], "little")
        for length in range(begins[1], len(content), 29):
            path = b.write(self.path("cut.mpiw"), content[:length])
            result = self.run_cli("report", path)
            self.assertIn("mpiwatch report: solver", result.out)
            if length in begins:
                self.assertEqual(result.err, "")
                continue
            lines = result.err.splitlines()
            self.assertEqual(len(lines), 1, result.err)
            last = max(begin for begin in begins if begin < length)
            self.assertIn(f"cut.mpiw: offset {last}: ", lines[0])

    def test_any_byte_changed(self):
        content = self.whole()
        chunks = len(b.parse(content))
        rng = random.Random(5)
        for position in sorted(rng.sample(range(len(content)), 60)):
            changed = bytearray(content)
            changed[position] ^= 1 << rng.randrange(8)
            path = b.write(self.path("changed.mpiw"), bytes(changed))
            result = self.run_cli("info", path, code=None)
            self.assertIn(result.code, (0, 1))
            self.assertIn("changed.mpiw: offset ", result.err, position)
            # All the others are still there.
            document = self.run_cli("info", "-f", "json", path).json()
            self.assertGreaterEqual(document["files"][0]["chunks"], chunks - 1, position)

    def test_what_is_around_damage_is_shown(self):
        head, zero, one = small_job()
        path = b.write(self.path("holes.mpiw"), b"garbage", head, zero, b"\0" * 99, one, b"MWCK")
        for command in COMMANDS:
            result = self.run_cli(*command, path)
            self.assertEqual(len(result.err.splitlines()), 3, result.err)
            self.assertIn("holes.mpiw: offset 0: ", result.err)
        self.assertEqual(self.matrix(path), {("0", "1"): 100})
        document = self.report(path)
        self.assertEqual([entry["offset"] for entry in document["damage"]][0], 0)
        self.assertEqual(len(document["damage"]), 3)
        self.assertIn("Damage: what could not be read", self.run_cli("report", path).out)

    def test_events_that_turn_out_malformed(self):
        zero = Process(0, 1).world()
        zero.send(0, 10, 2000, 2100)
        broken = w.frame("EVENTS", w.events_head(first=1, count=3) + w.compress(b"\x03\x03\x77"),
                         zero.key)
        path = b.write(self.path("broken.mpiw"), zero, broken)
        result = self.run_cli("report", path)
        self.assertIn("broken.mpiw: offset ", result.err)
        document = self.report(path)
        self.assertEqual(len(document["damage"]), 1)
        self.assertEqual(document["ranks"][0]["events_missing"], 3)
        self.assertEqual(document["messages"]["messages"], 1)
        self.assertIn("3 events are missing", self.run_cli("report", path).out)

    def test_golden_files(self):
        golden = os.path.join(ROOT, "tests", "golden", "v1")
        for folder, code in ((golden, 0), (os.path.join(golden, "refused"), 1)):
            names = [name for name in sorted(os.listdir(folder)) if name.endswith(".mpiw")]
            self.assertTrue(names)
            for name in names:
                for command in COMMANDS:
                    with self.subTest(name, command=command):
                        result = self.run_cli(*command, os.path.join(folder, name), code=code)
                        if code:
                            self.assertIn(name, result.err)

    def test_one_path_of_several(self):
        head, zero, one = small_job()
        b.write(self.path("a.mpiw"), head, zero)
        b.write(self.path("b.mpiw"), one)
        result = self.run_cli("report", "-f", "json", "a.mpiw", "gone.mpiw", "b.mpiw")
        self.assertIn("gone.mpiw", result.err)
        self.assertEqual(result.json()["processes"]["recorded_ranks"], 2)


if __name__ == "__main__":
    main()
