# SPDX-License-Identifier: BSD-3-Clause
"""Windows, files and the data flow of collectives: matrices and report of jobs that are known."""

import build_trace as b
import mwwrite as w
from build_trace import F, Process, job
from cli import CliTest, main
from mwwrite import packed, runs, zigzag


class Objects(CliTest):
    def write(self, *processes):
        self.trace = b.write(self.path("job.mpiw"), job(), *processes)
        return self.trace

    def windows(self, ranks=3):
        processes = [Process(rank, ranks).world() for rank in range(ranks)]
        for process in processes:
            process.add("WINDOW", id=0, flavour=2, comm=1, number=0, size=100, unit=4,
                        name="field")
        return processes

    def test_accesses_go_where_the_data_goes(self):
        zero, one, two = self.windows()
        access = dict(tag=0, start=2000, end=2010)
        zero.event(w.RMA, "MPI_Put", peer=1, bytes=100, **access)
        zero.event(w.RMA, "MPI_Get", peer=1, bytes_in=7, **access)
        zero.event(w.RMA, "MPI_Fetch_and_op", peer=2, bytes=8, bytes_in=8, **access)
        zero.event(w.RMA, "MPI_Put", peer=2, bytes=0, **access)
        zero.event(w.RMA, "MPI_Put", peer=-2, bytes=0, **access)           # to nobody
        zero.event(w.RMA, "MPI_Put", peer=1, flags=w.ERROR, code=6, **access)
        zero.event(w.RMA, "MPI_Put", peer=-3, bytes=5, **access)           # not known to whom
        zero.event(w.EPOCH, "MPI_Win_flush", peer=1, tag=0, start=2100, end=2500)
        zero.event(w.EPOCH, "MPI_Win_fence", peer=-1, tag=0, start=2500, end=2600)
        request = one.start()
        one.event(w.RMA, "MPI_Rput", peer=0, bytes=50, flags=w.REQUEST, request=request, **access)
        one.done(request, name="MPI_Wait", start=2020, end=2120)
        self.write(zero, one, two)
        self.assertEqual(self.matrix(self.trace, "-k", "rma"),
                         {("0", "1"): 100, ("0", "2"): 8, ("1", "0"): 57, ("2", "0"): 8})
        self.assertEqual(self.matrix(self.trace, "-k", "rma", "-m", "messages"),
                         {("0", "1"): 1, ("0", "2"): 2, ("1", "0"): 2, ("2", "0"): 1})
        times = self.matrix(self.trace, "-k", "rma", "-m", "time")
        self.assertEqual({pair: round(value * 1e9) for pair, value in times.items()},
                         {("0", "1"): 410, ("0", "2"): 20, ("1", "0"): 120})
        document = self.run_cli("matrix", "-k", "rma", "-f", "json", self.trace).json()
        self.assertEqual(document["besides"]["one_sided_unknown_target"],
                         {"messages": 1, "bytes": 5})
        self.assertEqual(self.matrix(self.trace), {})
        report = self.report(self.trace)
        self.assertEqual(report["one_sided"]["accesses"], 6)
        self.assertEqual(report["one_sided"]["sent_bytes"], 163)
        window, = report["one_sided"]["windows"]["listed"]
        self.assertEqual((window["name"], window["flavour"], window["processes"],
                          window["exposed_bytes"], window["epoch_calls"]),
                         ("field", "allocate", 3, 300, 2))
        self.assertEqual(window["fetched_bytes"], 15)
        self.assertEqual(report["ranks"][1]["one_sided"],
                         {"accesses": 1, "sent_bytes": 50, "fetched_bytes": 0})
        shown = self.run_cli("report", self.trace).out
        self.assert_fits(shown)
        self.assertIn("One-sided communication (6 accesses, 163 B to targets, 15 B from them)",
                      shown)

    def test_who_sits_in_an_access(self):
        zero, one, _ = self.windows()
        for process, name, peer in ((zero, "MPI_Win_lock", 1), (one, "MPI_Win_fence", -2)):
            process.finalize(9000, reason=4)
            process.open_call(name, 3000, peer=peer, taken=10000)
        self.write(zero, one)
        shown = self.run_cli("report", self.trace).out
        self.assertIn("MPI_Win_lock, target rank 1, on MPI_COMM_WORLD", shown)
        self.assertIn("MPI_Win_fence, on MPI_COMM_WORLD", shown)

    def files(self):
        zero, one = Process(0, 2).world(), Process(1, 2).world()
        for process in (zero, one):
            process.add("IOFILE", id=0, comm=1, number=0, name="/data/out.bin", mode=9)
        one.add("IOFILE", id=1, comm=2, number=0, name="own, \"odd\"\x1b.bin")
        return zero, one

    def test_reads_and_writes(self):
        zero, one = self.files()
        zero.event(w.WRITE, "MPI_File_write_at", tag=0, bytes=100, start=2000, end=2100,
                   flags=w.OFFSET, offset=5)
        zero.event(w.READ, "MPI_File_read_all", tag=0, bytes=30, start=2200, end=2300,
                   flags=w.STATUS | w.COLLECTIVE)
        request = one.start()
        one.event(w.READ, "MPI_File_iread", tag=0, bytes=64, start=2000, end=2010,
                  flags=w.REQUEST, request=request)
        one.done(request, name="MPI_Wait", bytes_in=11, flags=w.STATUS, start=2020, end=2030)
        request = one.start()
        one.event(w.READ, "MPI_File_read_all_begin", tag=1, bytes=40, start=2100, end=2110,
                  flags=w.REQUEST | w.COLLECTIVE, request=request)
        one.done(request, name="MPI_File_read_all_end", flags=w.COLLECTIVE, start=2120, end=2130)
        one.event(w.WRITE, "MPI_File_write", tag=-1, bytes=9, start=2200, end=2210)
        one.event(w.WRITE, "MPI_File_write", tag=0, start=2200, end=2210, flags=w.ERROR, code=3)
        self.write(zero, one)
        self.assertEqual(self.run_cli("matrix", "-k", "io", "-f", "csv", self.trace).out.splitlines(),
                         ["src,dst,value", "0,file:/data/out.bin,100", "file:/data/out.bin,0,30",
                          "file:/data/out.bin,1,11",
                          '"file:own, ""odd""\\x1b.bin",1,40'])
        document = self.run_cli("matrix", "-k", "io", "-m", "messages", "-f", "json",
                                self.trace).json()
        self.assertEqual(document["kind"], "io")
        self.assertEqual(document["besides"]["operations_on_unknown_files"], 1)
        self.assertIn({"src": 0, "dst": {"file": "/data/out.bin"}, "value": 1}, document["cells"])
        by_node = self.run_cli("matrix", "-k", "io", "-b", "node", "-f", "csv", self.trace).out
        self.assertIn("\nfile:/data/out.bin,node1,41\n", by_node)
        files = self.report(self.trace)["files"]
        self.assertEqual((files["reads"], files["writes"], files["total"]), (3, 2, 2))
        first = files["listed"][0]
        self.assertEqual((first["name"], first["opens"], first["read_bytes"], first["collective"]),
                         ("/data/out.bin", 2, 41, 1))
        self.assertEqual(files["listed"][1]["reads_of_unknown_size"], 1)
        for command in (("report",), ("matrix", "-k", "io"), ("matrix", "-k", "io,rma,coll,p2p")):
            self.assert_fits(self.run_cli(*command, self.trace).out)

    def world_of(self, ranks):
        return [Process(rank, ranks).world() for rank in range(ranks)]

    def coll(self, process, name, out, into, root=-1, **fields):
        self.instance = getattr(self, "instance", 0) + 1
        process.event(w.COLL, name, start=2000 + self.instance, end=2001 + self.instance,
                      bytes=out, bytes_in=into, comm=fields.pop("comm", 0), peer=root, **fields)

    def of_coll(self, *processes, metric="bytes"):
        self.write(*processes)
        return self.matrix(self.trace, "-k", "coll", "-m", metric)

    def test_to_and_from_a_root(self):
        zero, one, two = self.world_of(3)
        for process in (zero, one, two):
            self.coll(process, "MPI_Bcast", 10 * (process is one), 10 * (process is not one), 1)
            self.coll(process, "MPI_Igatherv", 1 + process.rank, 6 * (process is two), 2)
            self.coll(process, "MPI_Barrier", 0, 0)
            self.coll(process, "MPI_Reduce", 0, 0, 0)
        self.assertEqual(self.of_coll(zero, one, two),
                         {("1", "0"): 10, ("1", "2"): 12, ("0", "2"): 1})
        self.assertEqual(self.of_coll(zero, one, two, metric="messages")["1", "2"], 2)

    def test_each_to_each(self):
        zero, one, two = self.world_of(3)
        for process in (zero, one, two):
            self.coll(process, "MPI_Allgatherv", 1 << process.rank, 7)
        self.assertEqual(self.of_coll(zero, one, two),
                         {("0", "1"): 1, ("0", "2"): 1, ("1", "0"): 2, ("1", "2"): 2,
                          ("2", "0"): 4, ("2", "1"): 4})
        zero, one, two = self.world_of(3)
        for process in (zero, one, two):
            self.coll(process, "MPI_Alltoall", 30, 30)
            self.coll(process, "MPI_Reduce_scatter", 99, process.rank)
            self.coll(process, "MPI_Exscan", 5, 5)
        self.assertEqual(self.of_coll(zero, one, two),
                         {("0", "1"): 16, ("0", "2"): 17, ("1", "0"): 10, ("1", "2"): 17,
                          ("2", "0"): 10, ("2", "1"): 11})

    def test_what_was_sent_to_each_peer(self):
        zero, one, _ = self.world_of(3)
        self.coll(zero, "MPI_Alltoallv", 60, 0)
        zero.add("FLOW", w.number(1, 1), packed(2, [zigzag(0), 1, 10, zigzag(1), 2, 20]))
        zero.add("FLOW", w.number(1, 1), packed(2, [zigzag(1), 3, 30]))
        self.coll(one, "MPI_Neighbor_allgather", 5, 0)
        one.add("FLOW", w.number(1, 1), packed(2, [zigzag(2), 1, 5]))
        self.assertEqual(self.of_coll(zero, one), {("0", "1"): 30, ("1", "2"): 5})
        document = self.run_cli("matrix", "-k", "coll", "-f", "json", self.trace).json()
        self.assertEqual(document["besides"]["collective_bytes_left_out"], 20)
        self.assertFalse(document["complete"])
        self.assertIn("left out", self.run_cli("matrix", "-k", "coll", self.trace).out)

    def test_a_persistent_one_is_what_prepared_it(self):
        zero, one = self.world_of(2)
        for process in (zero, one):
            for _ in range(3):
                request = process.start()
                self.coll(process, "MPI_Start", 4, 4, tag=F["MPI_Allreduce_init"],
                          flags=w.REQUEST | w.PERSISTENT, request=request)
                process.done(request, name="MPI_Wait", flags=w.PERSISTENT, start=9000, end=9001)
        self.assertEqual(self.of_coll(zero, one), {("0", "1"): 12, ("1", "0"): 12})

    def test_sides_of_an_inter_communicator(self):
        zero, one, two = self.world_of(3)
        for process, mine, others in ((zero, 0, (1, 2)), (one, 1, (0,)), (two, 1, (0,))):
            process.add("COMM", w.number(1, 5), w.number(2, 12), w.number(5, 2 - mine == 1 and 2),
                        w.number(7, len(others)),
                        runs(10, [(rank, 1, 1) for rank in others]))
            self.coll(process, "MPI_Allgather", 3, 0, comm=5, flags=w.INTER)
        self.assertEqual(self.of_coll(zero, one, two),
                         {("0", "1"): 3, ("0", "2"): 3, ("1", "0"): 3, ("2", "0"): 3})

    def test_a_communicator_without_members(self):
        zero = Process(0, 2)
        self.coll(zero, "MPI_Allreduce", 8, 8, comm=9)
        self.assertEqual(self.of_coll(zero), {})
        document = self.run_cli("matrix", "-k", "coll", "-f", "json", self.trace).json()
        self.assertEqual(document["besides"]["collective_bytes_left_out"], 8)

    def test_a_root_that_is_not_known(self):
        zero, _ = self.world_of(2)
        self.coll(zero, "MPI_Reduce", 8, 0, root=-3)
        self.coll(zero, "MPI_Gather", 2, 0, root=1)
        self.assertEqual(self.of_coll(zero), {("0", "1"): 2})
        document = self.run_cli("matrix", "-k", "coll", "-f", "json", self.trace).json()
        self.assertEqual(document["besides"]["collective_bytes_left_out"], 8)

    def test_a_trace_that_claims_too_many(self):
        zero = Process(0, 2)
        zero.add("COMM", w.number(1, 0), w.number(2, 1), w.number(5, (1 << 64) - 1),
                 runs(9, [(0, 0, (1 << 64) - 1)]))
        self.coll(zero, "MPI_Allreduce", 8, 8)
        self.coll(zero, "MPI_Alltoall", 8, 8)
        self.assertEqual(self.of_coll(zero), {})

    def test_kinds_are_added_up(self):
        zero, one, two = self.windows()
        zero.send(1, 1000, 2000, 2100)
        zero.event(w.RMA, "MPI_Put", peer=1, tag=0, bytes=200, start=2200, end=2210)
        for process in (zero, one, two):
            self.coll(process, "MPI_Allreduce", 3, 3)
        self.write(zero, one, two)
        self.assertEqual(self.matrix(self.trace, "-k", "coll,p2p,rma")["0", "1"], 1203)
        self.assertEqual(self.matrix(self.trace, "-k", "p2p,rma")["0", "1"], 1200)
        document = self.run_cli("matrix", "-k", "rma,p2p", "-f", "json", self.trace).json()
        self.assertEqual(document["kind"], "p2p,rma")

    def test_wrong_usage(self):
        self.write(*self.windows())
        for options in (("-k", "all"), ("-k", ""), ("-k", "p2p,"), ("-k", "rma", "-m", "transport"),
                        ("-k", "p2p,coll", "-m", "time")):
            self.run_cli("matrix", *options, self.trace, code=129)


if __name__ == "__main__":
    main()
