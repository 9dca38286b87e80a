# SPDX-License-Identifier: BSD-3-Clause
"""Matrices by where ranks sat, also over the traces of several jobs."""

import build_trace as b
import placed_jobs as p
from cli import main
from machines import MACHINES
from placed import MEBI, Placed, local, on_one_node


class Matrices(Placed):
    def cells(self, *arguments):
        document = self.run_cli("matrix", "-f", "json", *arguments).json()
        return document, {(cell["src"], cell["dst"]): cell for cell in document["cells"]}

    def test_by_numa_and_socket(self):
        ranks = p.two_nodes(MACHINES["epyc"])
        path = self.trace(ranks)
        document, cells = self.cells("-b", "numa", path)
        self.assertEqual(len(document["vertices"]), 16)
        self.assertEqual(cells["node1/numa3", "node2/numa3"]["value"], 20 * MEBI)
        self.assertEqual(cells["node1/numa3", "node2/numa3"]["distance"], "other-node")
        self.assertEqual(self.matrix(path, "-b", "socket"),
                         {("node%d/socket%d" % (a, s), "node%d/socket%d" % (3 - a, s)): 80 * MEBI for a in (1, 2) for s in (0, 1)})

    def test_within_a_node(self):
        machine = MACHINES["epyc"]
        path = self.trace(local(on_one_node(machine, [[0], [16], [64]])))
        _, cells = self.cells("-b", "numa", path)
        self.assertEqual([(pair, cell["value"], cell["distance"], cell["slit"]) for pair, cell in cells.items()],
                         [(("node1/numa0", "node1/numa4"), 16, "other-socket", 32)])
        self.assertIn("What lies between", self.run_cli("matrix", "-b", "numa", path).out)

    def test_places_that_are_not_known(self):
        machine = MACHINES["epyc"]
        path = self.trace(local(on_one_node(machine, [machine.cpus(), [16]])))
        self.assertEqual(self.matrix(path, "-b", "numa"), {("", "node1/numa1"): 16})
        self.assertIn("not known", self.run_cli("matrix", "-b", "numa", path).out)

    def expected_links(self):
        links = {}
        for (one, two), count in p.GCD_LINKS.items():
            links[one, two] = links[two, one] = "xGMI, %d link%s" % (count, "s" if count > 1 else "")
        return links

    def test_one_job_of_eight_and_28_of_two(self):
        """The same matrix, with the classes of the links: 4, 2 or 1, or none that is direct."""
        machine = MACHINES["epyc"]
        names = ["node1/" + address for address in machine.gpu_addresses()]
        links = self.expected_links()
        whole = self.trace(p.gpu_job(machine, range(8)))
        pairs = []
        for one in range(8):
            for two in range(one + 1, 8):
                first = 0x1000 * (8 * one + two)
                ranks = p.gpu_job(machine, [one, two],
                                  mpi=lambda rank, size, first=first: p.f.openmpi(rank, size, key=first + rank))
                # a launcher may call two jobs by one name
                key = "job-%d-%d" % (one, two if two < 6 else 6)
                pairs.append(b.write(self.path("pair-%d-%d.mpiw" % (one, two)), b.job(key=key), *ranks))
        for arguments, jobs in (([whole], 1), (pairs, 28)):
            document, cells = self.cells("-b", "gpu", "-u", "device", *arguments)
            self.assertEqual(document["jobs"], jobs)
            self.assertEqual([vertex["name"] for vertex in document["vertices"]], names)
            self.assertEqual(set(cells), {(a, z) for a in names for z in names if a != z})
            self.assertEqual({cell["value"] for cell in cells.values()}, {10 * MEBI})
            for (src, dst), cell in cells.items():
                pair = names.index(src), names.index(dst)
                self.assertEqual(cell["link"], links.get(pair, "xGMI, 2 hops"), (jobs, pair))
        texts = [self.run_cli("matrix", "-b", "gpu", *paths).out.splitlines()[2:] for paths in ([whole], pairs)]
        self.assertEqual(*texts)
        self.assert_fits("\n".join(texts[0]))
        self.assertEqual(self.matrix(whole, "-b", "gpu", "-u", "host"), {})

    def test_memory(self):
        machine = MACHINES["epyc"]
        for kind, device, host in ((3, 2, 0), (2, 2, 0), (1, 0, 2), (4, 0, 2), (5, 0, 0)):
            path = self.trace(p.gpu_job(machine, [0, 1], kind=kind))
            for where, count in (("device", device), ("host", host), ("any", 2)):
                self.assertEqual(len(self.matrix(path, "-u", where)), count, (kind, where))
        path = self.trace(p.gpu_job(machine, [0, 1], space=31))
        self.assertEqual((self.matrix(path, "-u", "device"), self.matrix(path, "-u", "host")), ({}, {}))

    def test_jobs_on_several_nodes(self):
        paths = []
        for number in range(2):
            ranks = [b.Process(rank, 2, host="node%d" % (rank + number), key=1000 + 10 * number + rank).world() for rank in range(2)]
            ranks[0].send(1, 8, 2000, 2100)
            paths.append(b.write(self.path("job%d.mpiw" % number), b.job(key="key%d" % number), *ranks))
        self.assertEqual(self.matrix(paths[0], "-b", "node", paths[1]), {("node0", "node1"): 8, ("node1", "node2"): 8})
        result = self.run_cli("matrix", "-b", "node", "-m", "transport", *paths, code=1)
        self.assertIn("one job at a time", result.err)

    def test_one_trace_in_parts(self):
        """Files of one job are one job."""
        ranks = [b.Process(rank, 2, host="node%d" % rank).world() for rank in range(2)]
        ranks[0].send(1, 8, 2000, 2100)
        paths = [b.write(self.path("part%d.mpiw" % rank.rank), b.job(), rank) for rank in ranks]
        self.assertEqual(self.matrix(paths[0], "-b", "node", paths[1]), {("node0", "node1"): 8})

    def test_wrong_usage(self):
        path = self.trace(local(on_one_node(MACHINES["flat"], [[0], [1]])))
        for arguments in (("-u", "device", "-m", "time"), ("-u", "host", "-k", "coll"), ("-b", "gpu", "-k", "io")):
            self.run_cli("matrix", *arguments, path, code=129)
        self.run_cli("matrix", "-b", "numa", path, self.path("none.mpiw"), code=1)


if __name__ == "__main__":
    main()
