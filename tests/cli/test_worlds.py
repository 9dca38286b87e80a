# SPDX-License-Identifier: BSD-3-Clause
"""Traces of several MPI_COMM_WORLDs: told apart in every command, and joined where they met."""

import build_trace as b
import mwwrite as w
from build_trace import EPOCH, Process, job
from cli import CliTest, main

SPAWN, CONNECT, ACCEPT, PARENT, MERGE, DUP, SPLIT, CREATE_GROUP = 15, 16, 17, 19, 13, 3, 6, 5
INTER = 9  # ids of communicators in these traces


def world(key, size, began=1000, host="node1"):
    return [Process(rank, size, key=key * 256 + rank, launched=key, began=began, host=host).world()
            for rank in range(size)]


def spawn(parents, children, began=1500, made=9000, ident=INTER):
    """How both sides write what MPI_Comm_spawn made."""
    for parent in parents:
        parent.comm(ident, SPAWN, len(parents), len(children), parent=1, number=ident - INTER,
                    began=began, made=made)
    for child in children:
        child.comm(INTER, PARENT, len(children), len(parents))


def send(process, outside, size, start=20000, comm=INTER):
    process.send(-16 - outside, size, start, start + 100, comm=comm, flags=w.INTER)


def parents_and_children():
    parents, children = world(1, 2), world(2, 3, began=2000)
    spawn(parents, children)
    parents[0].send(1, 1000, 2000, 2100)
    children[0].send(1, 10, 3000, 3100)
    send(parents[1], 2, 7)
    send(children[2], 1, 70)
    children[2].recv(-17, 7, 30000, 31000, comm=INTER, flags=w.STATUS | w.INTER)
    return parents + children


class Worlds(CliTest):
    def write(self, *groups):
        self.trace = b.write(self.path("job.mpiw"), job(),
                             *[process for group in groups for process in group])
        return self.trace

    def report(self):
        return self.run_cli("report", "-f", "json", self.trace).json()

    def test_ranks_of_two_worlds_are_not_added_up(self):
        self.write(parents_and_children())
        self.assertEqual(self.matrix(self.trace), {
            ("1:0", "1:1"): 1000, ("2:0", "2:1"): 10, ("1:1", "2:2"): 7, ("2:2", "1:1"): 70})
        text = self.run_cli("matrix", self.trace).out
        for words in ("5 of 5 ranks recorded", "world 2: 3 of 3 ranks, solver, spawned by world 1",
                      "2:2"):
            self.assertIn(words, text)
        cells = self.run_cli("matrix", "-f", "json", self.trace).json()["cells"]
        self.assertIn({"src": "1:1", "dst": "2:2", "value": 7}, cells)

    def test_the_report_tells_them_apart(self):
        self.write(parents_and_children())
        report = self.report()
        processes = report["processes"]
        self.assertEqual([(at["world"], at["ranks"], at["spawned_by"]) for at in processes["worlds"]],
                         [(1, 2, None), (2, 3, 1)])
        self.assertEqual((processes["world_size"], processes["recorded_ranks"],
                          processes["duplicate_ranks"], processes["missing_ranks"]), (5, 5, 0, ""))
        self.assertEqual([rank["rank"] for rank in report["ranks"]],
                         ["1:0", "1:1", "2:0", "2:1", "2:2"])
        self.assertEqual({comm["communicator"]: comm["processes"]
                          for comm in report["communicators"]["listed"]},
                         {"MPI_COMM_WORLD of world 1": 2, "MPI_COMM_WORLD of world 2": 3,
                          "spawn #0 of MPI_COMM_WORLD of world 1": 5})
        self.assertEqual(report["messages"]["outside_world"]["messages"], 0)
        text = self.run_cli("report", self.trace).out
        self.assertIn("2: ranks are written WORLD:RANK", text)
        self.assertIn("1:0-1,2:0-2", text)

    def test_dump_and_transports_take_a_rank_of_a_world(self):
        self.write(parents_and_children())
        lines = self.run_cli("dump", "--rank", "2:2", self.trace).out.splitlines()
        self.assertTrue(any("2:2.0 #0" in line and "peer 1:1" in line for line in lines), lines)
        events = [line for line in self.run_cli("dump", "-f", "json", "--rank", "1:1", self.trace)
                  .out.splitlines() if '"event"' in line]
        self.assertEqual(len(events), 1)
        self.assertIn('"peer": -18', events[0])
        self.assertIn('"peer_rank": "2:2"', events[0])
        self.assertIn("which?", self.run_cli("dump", "--rank", "1", self.trace, code=1).err)
        self.assertIn("3:0 is not in this trace",
                      self.run_cli("dump", "--rank", "3:0", self.trace, code=1).err)
        pairs = self.run_cli("transports", "-f", "json", "--rank", "1:1", self.trace).json()["pairs"]
        self.assertEqual(pairs["rank"], "1:1")
        self.assertEqual(sorted((at["src"], at["dst"]) for at in pairs["listed"]),
                         [("1:0", "1:1"), ("1:1", "2:2"), ("2:2", "1:1")])
        rows = self.run_cli("transports", "-f", "csv", self.trace).out
        self.assertIn("1:1,2:2,", rows)

    def test_two_traces_read_together(self):
        parents, children = world(1, 2), world(2, 2, began=2000)
        spawn(parents, children)
        send(parents[0], 1, 5)
        one = b.write(self.path("one.mpiw"), job(), *parents)
        two = b.write(self.path("two.mpiw"), job(key="other"), *children)
        self.assertEqual(self.matrix(one, two), {("1:0", "2:1"): 5})
        self.assertEqual(self.matrix(two, one), {("1:0", "2:1"): 5})

    def test_a_side_that_was_not_recorded(self):
        parents = world(1, 2)
        spawn(parents, world(2, 2))
        send(parents[0], 1, 5)
        self.write(parents)
        self.assertEqual(self.matrix(self.trace), {})
        self.assertIn("1 messages to ranks of remote groups, not recorded or not told from others,",
                      self.run_cli("matrix", self.trace).out)
        self.assertIn("peer rank 1 of a remote group (which one is not known)",
                      self.run_cli("dump", self.trace).out)
        children = world(2, 2)
        spawn(world(1, 2), children)
        self.write(children)
        self.assertIn("spawned by a world that is not known",
                      self.run_cli("report", self.trace).out)

    def test_times_tell_two_spawned_worlds_apart(self):
        parents, first, second = world(1, 1), world(2, 2, began=2000), world(3, 2, began=20000000)
        spawn(parents, first)
        spawn(parents, second, began=15000000, made=30000000, ident=INTER + 1)
        send(parents[0], 0, 1)
        send(parents[0], 1, 2, comm=INTER + 1)
        send(second[1], 0, 3)
        self.write(parents, first, second)
        self.assertEqual(self.matrix(self.trace), {
            ("1:0", "2:0"): 1, ("1:0", "3:1"): 2, ("3:1", "1:0"): 3})

    def test_what_fits_two_is_not_guessed(self):
        parents, first, second = world(1, 1), world(2, 2, began=2000), world(3, 2, began=3000)
        spawn(parents, first)
        spawn(parents, second, began=1600, made=8000, ident=INTER + 1)
        send(parents[0], 0, 1)
        self.write(parents, first, second)
        self.assertEqual(self.matrix(self.trace), {})
        self.assertEqual(self.report()["messages"]["outside_world"]["messages"], 1)

    def clients(self, ports=(5, 5), count=2):
        """A server that accepts one client after the other, both of which wait from the start."""
        server = world(1, 1)
        groups = [world(2 + i, 1, began=1000 + i) for i in range(2)]
        for i in range(2):
            at = 100000000 * (i + 1)
            server[0].comm(INTER + i, ACCEPT, 1, 1, parent=1, number=i, began=at, made=at + 50000000,
                           port=5)
            send(server[0], 0, 10 + i, start=at + 60000000, comm=INTER + i)
            groups[i][0].comm(INTER, CONNECT, 1, 1, parent=1, began=2000,
                              made=at + 50000000, port=ports[i])
        return self.write(server, *groups[:count])

    def test_clients_of_a_port(self):
        self.clients()
        self.assertEqual(self.matrix(self.trace), {("1:0", "2:0"): 10, ("1:0", "3:0"): 11})
        self.assertEqual([at["connected_to"] for at in self.report()["processes"]["worlds"]],
                         [[2, 3], [1], [1]])
        self.assertIn("connected to world 2, 3", self.run_cli("report", self.trace).out)

    def test_a_client_of_another_port(self):
        self.clients(ports=(5, 6))
        self.assertEqual(self.matrix(self.trace), {("1:0", "2:0"): 10})

    def test_a_client_that_was_not_recorded(self):
        """The one that is may have been served first or second."""
        server = world(1, 1)
        client = world(2, 1)
        for i in range(2):
            server[0].comm(INTER + i, ACCEPT, 1, 1, number=i, began=100000000, made=200000000, port=5)
            send(server[0], 0, 10, start=300000000, comm=INTER + i)
        client[0].comm(INTER, CONNECT, 1, 1, began=2000, made=200000000, port=5)
        self.write(server, client)
        self.assertEqual(self.matrix(self.trace), {})

    def test_merged(self):
        """Of an intra-communicator of two worlds each side knows its own half."""
        parents, children = world(1, 2), world(2, 2, began=2000)
        spawn(parents, children)
        for parent in parents:
            parent.comm(20, MERGE, 4, parent=INTER + 1, members=[(0, 1, 2), (-18, -1, 2)])
            parent.comm(21, DUP, 4, parent=21, members=[(0, 1, 2), (-18, -1, 2)])
        for child in children:
            child.comm(20, MERGE, 4, parent=INTER + 1, members=[(-16, -1, 2), (0, 1, 2)])
            child.comm(30, DUP, 4, parent=21, members=[(-16, -1, 2), (0, 1, 2)])
        parents[0].send(-16 - 3, 5, 20000, 20100, comm=21)
        for process in parents + children:
            process.coll("MPI_Allgather", 30000, 31000, 0, size=100, comm=20)
        self.write(parents, children)
        self.assertEqual(self.matrix(self.trace), {("1:0", "2:1"): 5})
        everybody = ("1:0", "1:1", "2:0", "2:1")
        self.assertEqual(self.matrix(self.trace, "-k", "coll"), {
            (src, dst): 100 for src in everybody for dst in everybody if src != dst})
        merged = [comm for comm in self.report()["communicators"]["listed"]
                  if comm["how"] == "merge"]
        self.assertEqual([(comm["processes"], comm["size"]) for comm in merged], [(4, 4)])

    def two_and_two(self):
        """Parents are ranks 0 and 1, children 2 and 3 of a merged communicator, id 20."""
        parents, children = world(1, 2), world(2, 2, began=2000)
        spawn(parents, children)
        for parent in parents:
            parent.comm(20, MERGE, 4, parent=INTER + 1, members=[(0, 1, 2), (-18, -1, 2)])
        for child in children:
            child.comm(20, MERGE, 4, parent=INTER + 1, members=[(-16, -1, 2), (0, 1, 2)])
        return parents, children

    @staticmethod
    def pair(low, high, ident, how, place_hash, parent=21, low_first=True, **fields):
        """A communicator of a parent and a child of two_and_two."""
        first, second = (low, high) if low_first else (high, low)
        places = [(low.rank, 1, 1), (high.rank + 2, 1, 1)]
        fields.setdefault("hash", place_hash)
        for own in (low, high):
            members = [(own.rank, 1, 1) if at is own else (-16 - i, 1, 1)
                       for i, at in enumerate((first, second))]
            own.comm(ident, how, 2, parent=parent, members=members, place_hash=place_hash,
                     places=places if low_first else places[::-1], **fields)

    def test_split_out_of_merged_worlds(self):
        """Two halves by one call: what each rank was in the parent tells which is which."""
        parents, children = self.two_and_two()
        self.pair(parents[0], children[1], 30, SPLIT, 7)
        self.pair(parents[1], children[0], 30, SPLIT, 8, low_first=False)
        self.pair(parents[1], children[0], 31, DUP, 9, parent=31, low_first=False)
        parents[0].send(-17, 1, 20000, 20100, comm=30)
        children[0].send(-17, 2, 20000, 20100, comm=30)
        parents[1].send(-16, 3, 20000, 20100, comm=31)
        self.write(parents, children)
        self.assertEqual(self.matrix(self.trace), {
            ("1:0", "2:1"): 1, ("2:0", "1:1"): 2, ("1:1", "2:0"): 3})
        halves = [comm for comm in self.report()["communicators"]["listed"]
                  if comm["how"] == "split"]
        self.assertEqual([comm["processes"] for comm in halves], [2, 2])

    def test_split_where_the_other_half_was_not_recorded(self):
        """The parent tells who it was, if its world is known."""
        parents, children = self.two_and_two()
        self.pair(parents[0], children[1], 30, SPLIT, 7)
        places = [(0, 1, 2)]  # of the copy in the half
        parents[0].comm(32, DUP, 2, parent=31, members=[(0, 1, 1), (-17, 1, 1)], places=places,
                        place_hash=11)
        parents[0].send(-17, 1, 20000, 20100, comm=30)
        parents[0].send(-17, 2, 21000, 21100, comm=32)
        self.write(parents, children[:1])
        self.assertEqual(self.matrix(self.trace), {("1:0", "2:1"): 3})

    def test_groups_out_of_merged_worlds(self):
        """Of two groups of which a process knows the same of each, and of one twice."""
        parents, children = self.two_and_two()
        for ident, child, key in ((30, 0, 5), (31, 1, 6), (32, 0, 5)):
            self.pair(parents[0], children[child], ident, CREATE_GROUP, key, hash=1, number=ident)
            parents[0].send(-17, ident, 20000 + ident, 20100 + ident, comm=ident)
        self.write(parents, children)
        self.assertEqual(self.matrix(self.trace), {("1:0", "2:0"): 62, ("1:0", "2:1"): 31})
        groups = [comm for comm in self.report()["communicators"]["listed"]
                  if comm["how"] == "create_group"]
        self.assertEqual([comm["processes"] for comm in groups], [2, 2, 2])

    def test_spawned_by_merged_worlds(self):
        """Two worlds stand on one side: their ranks are no strangers' of the other."""
        parents, children = self.two_and_two()
        grandchild = world(3, 1, began=6000)
        for members, group in (([(0, 1, 2), (-18, -1, 2)], parents), ([(-16, -1, 2), (0, 1, 2)], children)):
            for process in group:
                process.comm(40, SPAWN, 4, 1, parent=21, members=members, places=[(0, 1, 4)],
                             place_hash=3, hash=3, began=5000, made=9000)
        grandchild[0].comm(INTER, PARENT, 1, 4)
        send(children[1], 0, 5, comm=40)
        send(grandchild[0], 3, 6)
        send(grandchild[0], 0, 7, start=30000)
        self.write(parents, children, grandchild)
        self.assertEqual(self.matrix(self.trace), {
            ("2:1", "3:0"): 5, ("3:0", "2:1"): 6, ("3:0", "1:0"): 7})

    def simultaneous(self, spawners):
        """Two ranks spawn one process each, at the same time."""
        parents = world(1, 2)
        children = [world(2 + i, 1, began=2000) for i in range(2)]
        for i, parent in enumerate(parents):
            parent.name = 70 + i
            parent.comm(INTER, SPAWN, 1, 1, parent=2, members=[(i, 1, 1)], hash=50 + i, began=1500, made=9000)
            children[i][0].comm(INTER, PARENT, 1, 1)
            children[i][0].spawner = spawners[i]
            send(parent, 0, 10 + i)
        self.write(parents, *children)
        return self.matrix(self.trace)

    def test_the_launcher_says_who_spawned_whom(self):
        self.assertEqual(self.simultaneous((71, 70)), {("1:0", "3:0"): 10, ("1:1", "2:0"): 11})
        self.assertEqual(self.simultaneous((71, 0)), {("1:0", "3:0"): 10, ("1:1", "2:0"): 11})

    def test_who_spawned_whom_is_not_guessed(self):
        self.assertEqual(self.simultaneous((0, 0)), {})
        self.assertEqual(self.simultaneous((99, 98)), {})  # not recorded

    def test_absurd_ranks_in_a_parent(self):
        parents, children = self.two_and_two()
        for ident, places in ((30, [(-(1 << 63), (1 << 63) - 1, (1 << 64) - 1)]), (31, [(1, 0, 1 << 63)] * 3),
                              (32, [(31, 1, 9)])):
            parents[0].comm(ident, SPLIT, 2, parent=ident + 1, members=[(0, 1, 1), (-17, 1, 1)],
                            places=places, place_hash=7)
            parents[0].send(-17, 5, 20000 + ident, 20100 + ident, comm=ident)
        self.write(parents, children)
        self.assertEqual(self.matrix(self.trace), {})

    def test_copies_of_self_are_no_communicator_of_two_worlds(self):
        first, second = world(1, 1), world(2, 1)
        for process in first + second:
            process.comm(1, 2, 1, members=[(0, 1, 1)])
            process.comm(2, DUP, 1, parent=2, members=[(0, 1, 1)])
        self.write(first, second)
        copies = [comm for comm in self.report()["communicators"]["listed"] if comm["how"] == "dup"]
        self.assertEqual([comm["processes"] for comm in copies], [1, 1])

    def test_processes_alone_in_their_world(self):
        """Without a word from the launcher, as two programs that were started from a shell."""
        first, second = (Process(0, 1, key=key).world() for key in (1, 2))
        self.write([first], [second])
        self.assertEqual([rank["rank"] for rank in self.report()["ranks"]], ["1:0", "2:0"])

    def test_absurd_sizes(self):
        worlds = [[Process(0, (1 << 31) - 1, key=key, launched=key).world()] for key in range(1, 6)]
        self.write(*worlds)
        for command in ("report", "matrix", "transports", "info", "dump"):
            self.run_cli(command, self.trace)
        self.assertEqual(self.report()["processes"]["without_rank"], 4)


if __name__ == "__main__":
    main()
