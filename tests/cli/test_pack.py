# SPDX-License-Identifier: BSD-3-Clause
"""mpiwatch pack and collect."""

import os

import build_trace as b
import mwwrite as w
from build_trace import Process, chunk, job, number, text
from cli import CliTest, main


class Pack(CliTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("job.mpiw"))
        self.zero, self.one = Process(0, 2, host="n1").world(), Process(1, 2, host="n2").world()
        self.zero.send(1, 100, 2000, 2100)
        self.one.recv(0, 100, 1900, 2200)
        b.write(self.path("job.mpiw/job.mpiw"), job())
        b.write(self.path("job.mpiw/n1.mpiw"), self.zero)
        b.write(self.path("job.mpiw/n2.mpiw"), self.one)

    def packed(self, *traces):
        self.run_cli("pack", *traces, "-o", "packed.mpiw")
        with open(self.path("packed.mpiw"), "rb") as file:
            return b.parse(file.read())

    def test_every_chunk_once(self):
        wanted = b.parse(job() + self.zero.chunks() + self.one.chunks())
        self.assertEqual(self.packed("job.mpiw"), wanted)

    def test_reads_like_the_folder(self):
        self.packed("job.mpiw")
        for command in (("report",), ("matrix", "-f", "csv"), ("matrix", "-f", "csv", "-b", "node")):
            self.assertEqual(self.run_cli(*command, "packed.mpiw").out,
                             self.run_cli(*command, "job.mpiw").out)

    def test_single_files_and_folders_mean_the_same(self):
        chunks = self.packed("job.mpiw/n2.mpiw", "job.mpiw/job.mpiw", "job.mpiw/n1.mpiw")
        self.assertEqual(sorted(chunks), sorted(b.parse(job() + self.zero.chunks() +
                                                        self.one.chunks())))

    def test_repeated_chunks(self):
        twice = self.zero.chunks()
        b.write(self.path("twice.mpiw"), twice, twice)
        self.assertEqual(self.packed("twice.mpiw"), b.parse(twice))

    def test_of_repeated_chunks_the_last_counts(self):
        """What replaces something older must not lose its place."""
        old, new = (chunk("COMM", number(1, 0), text(11, name), process=1) for name in ("a", "b"))
        b.write(self.path("again.mpiw"), old, new, old)
        self.assertEqual(self.packed("again.mpiw"), b.parse(new + old))

    def test_what_adds_up_still_adds_up(self):
        """Endpoints, looks at sockets and counters come in several chunks, some of them twice."""
        golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "v1",
                              "fabric.mpiw")
        self.packed(golden)
        before, after = (self.run_cli("dump", "-f", "json", path).out.splitlines()[1:]
                         for path in (golden, "packed.mpiw"))
        self.assertGreater(len(before), 30)
        self.assertEqual(before, after)

    def test_unknown_chunks_and_versions_are_kept(self):
        strange = w.frame(200, b"future", 1) + w.frame("RANK", b"\x02\x05", 1, version=9)
        b.write(self.path("strange.mpiw"), self.zero, strange)
        chunks = self.packed("strange.mpiw")
        self.assertIn((200, 1, 0, 1, b"future"), chunks)
        self.assertIn((4, 9, 0, 1, b"\x02\x05"), chunks)

    def test_never_overwrites(self):
        b.write(self.path("there.mpiw"), b"precious")
        result = self.run_cli("pack", "job.mpiw", "-o", "there.mpiw", code=1)
        self.assertIn("there.mpiw: exists already", result.err)
        with open(self.path("there.mpiw"), "rb") as file:
            self.assertEqual(file.read(), b"precious")
        os.symlink("nowhere", self.path("link.mpiw"))
        self.run_cli("pack", "job.mpiw", "-o", "link.mpiw", code=1)
        self.assertFalse(os.path.exists(self.path("nowhere")))

    def test_nothing_is_left_behind_by_a_failure(self):
        before = sorted(os.listdir(self.folder))
        self.run_cli("pack", "gone.mpiw", "-o", "new.mpiw", code=1)
        self.run_cli("pack", "job.mpiw", "-o", "no/such/folder.mpiw", code=1)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_one_unreadable_argument_stops_it(self):
        b.write(self.path("other.txt"), b"Hello, world\n" * 100)
        os.mkdir(self.path("empty"))
        before = sorted(os.listdir(self.folder))
        for bad, why in (("gone.mpiw", "No such file"), ("other.txt", "not an mpiwatch trace"),
                         ("empty", "no trace files in empty")):
            for order in (("job.mpiw", bad), (bad, "job.mpiw")):
                result = self.run_cli("pack", *order, "-o", "new.mpiw", code=1)
                self.assertIn(bad, result.err)
                self.assertIn(why, result.err)
                self.assertEqual(result.out, "")
                self.assertEqual(sorted(os.listdir(self.folder)), before)


class Collect(CliTest):
    """What collecting does to mappings is in tests/unit and tests/e2e; here is the command around it."""

    def test_nothing_there(self):
        os.mkdir(self.path("shm"))
        result = self.run_cli("collect", env={"MPIWATCH_SHM": self.path("shm")})
        self.assertIn("nothing to collect", result.out)
        self.assertEqual(self.run_cli("collect", "-q", env={"MPIWATCH_SHM": self.path("shm")}).out, "")

    def test_a_trace_that_is_not_there(self):
        self.assertIn("No such file", self.run_cli("collect", "gone.mpiw", code=1).err)
        b.write(self.path("packed.mpiw"), job())
        self.assertIn("no folder", self.run_cli("collect", "packed.mpiw", code=1).err)

    def test_a_mapping_that_makes_no_sense(self):
        os.mkdir(self.path("shm"))
        name = f"mpiwatch-{os.geteuid()}-1-1"
        b.write(self.path("shm/" + name), b"nonsense" * 1000)
        result = self.run_cli("collect", env={"MPIWATCH_SHM": self.path("shm")}, code=1)
        self.assertIn(name, result.err)
        self.assertTrue(os.path.exists(self.path("shm/" + name)))


if __name__ == "__main__":
    main()
