# SPDX-License-Identifier: BSD-3-Clause
"""Where ranks sat: the command, its pictures, and the findings that rest on it, on machines of every kind."""

import os
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

import build_trace as b
import fabric_jobs as f
import placed_jobs as p
from cli import ROOT, CliTest, main
from machines import MACHINES, Machine, epyc, runs

MEBI = f.MEBI
RULES = ("far-from-nic", "shared-cpu", "uneven-nics", "migrated", "slow-link", "slit-flat", "gpu-staged", "gpu-links")


class Placed(CliTest):
    def trace(self, ranks, name="job.mpiw"):
        return b.write(self.path(name), b.job(), *ranks)

    def section(self, ranks):
        return self.run_cli("placement", "-f", "json", self.trace(ranks)).json()["placement"]

    def findings(self, ranks):
        return [finding for finding in self.report(self.trace(ranks))["findings"] if finding["id"] in RULES]

    def only(self, ranks, rule, severity="warning"):
        found = self.findings(ranks)
        self.assertEqual([(finding["id"], finding["severity"]) for finding in found], [(rule, severity)],
                         [finding["title"] for finding in found])
        return found[0]

    def none(self, ranks):
        self.assertEqual([finding["title"] for finding in self.findings(ranks)], [])

    def says(self, finding, *words):
        whole = "\n".join([finding["title"], *finding["evidence"], finding["cost"] or "", finding["advice"]])
        for word in words:
            self.assertIn(word, whole)


LAUNCHER = 900  # its pid


def local(ranks):
    """A job that ran to its end and talked within its node."""
    f.exchange(ranks, size=8, count=2, pairs=[(ranks[0].rank, ranks[-1].rank)] if len(ranks) > 1 else [])
    return f.finish(ranks)


def on_one_node(machine, masks, **more):
    ranks = [f.openmpi(rank, len(masks)) for rank in range(len(masks))]
    p.topology(ranks[0], machine)
    for process, cpus in zip(ranks, masks):
        process.parent = LAUNCHER
        p.place(process, cpus, **{"parent": machine.cpus(), "group": machine.cpus(), **more})
    return ranks


class Command(Placed):
    def test_section(self):
        section = self.section(p.two_nodes(MACHINES["epyc"]))
        self.assertEqual(section["recorded"], 16)
        node = section["nodes"][0]
        self.assertEqual((node["host"], node["ranks"], node["cpus"], node["cores"], node["l3_caches"]),
                         ("node1", "0-7", "0-127", 128, 16))
        self.assertEqual([numa["package"] for numa in node["numa"]], [0] * 4 + [1] * 4)
        self.assertEqual(node["numa"][0]["distances"], [10, 12, 12, 12, 32, 32, 32, 32])
        self.assertTrue(node["distances_tell"])
        self.assertEqual([(nic["name"], nic["numa"], nic["package"]) for nic in node["nics"]], [("mlx5_0", 6, 1)])
        self.assertEqual([gpu["numa"] for gpu in node["gpus"]], [0, 0, 2, 2, 4, 4, 7, 7])
        paths = {(path["from"], path["to"]): path["title"] for path in node["gpu_paths"]}
        gpus = MACHINES["epyc"].gpu_addresses()
        self.assertEqual(len(paths), 56)
        self.assertEqual([paths[gpus[0], gpus[to]] for to in range(1, 8)],
                         ["xGMI, 4 links", "xGMI, 1 link", "xGMI, 2 hops", "xGMI, 2 hops", "xGMI, 2 hops",
                          "xGMI, 2 links", "xGMI, 2 hops"])
        self.assertEqual({path["kind"] for path in node["gpu_nics"]}, {"other-socket", "same-socket"})
        rank = section["ranks"][2]
        self.assertEqual((rank["cpus"], rank["numa"], rank["package"], rank["origin"], rank["parent"]),
                         ("32", 2, 0, "narrowed", "orted"))
        nic = rank["nics"][0]
        self.assertEqual((nic["name"], nic["numa"], nic["nearest"], nic["farthest"], nic["slit_most"]),
                         ("mlx5_0", 6, "other-socket", "other-socket", 32))
        self.assertEqual([(entry["distance"], entry["pairs"]) for entry in section["distances"]],
                         [("other-node", 16)])

    @unittest.skipUnless(shutil.which("lstopo-no-graphics"), "lstopo is missing")
    def test_distances_of_memory(self):
        """What the firmware says, from the kernel's table and from hwloc's, as lstopo shows it."""
        seen = set()
        for name, machine in MACHINES.items():
            xml_path = self.path(name + ".xml")
            with open(xml_path, "w", encoding="utf-8") as file:
                file.write(machine.xml())
            shown = subprocess.run(["lstopo-no-graphics", "-i", xml_path, "--distances"], timeout=60, check=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
            rows = [[int(word) for word in line.split()] for line in shown.splitlines() if line.strip()[:1].isdigit()]
            self.assertEqual([row[0] for row in rows], list(range(machine.node_count() if machine.slit else 0)), name)
            seen.add(len({value for row in rows for value in row[1:]}))
            process = f.openmpi(0, 1)
            p.topology(process, machine)
            p.place(process, [0])
            numas = self.section(f.finish([process]))["nodes"][0]["numa"]
            told = [numa["distances"] for numa in numas] if rows else []
            self.assertEqual(told, [row[1:] for row in rows], name)
        self.assertEqual(seen, {0, 2, 3, 4})

    def test_distances_of_pairs(self):
        machine = MACHINES["switches"]  # second hardware threads from 16 on
        for masks, expected in (([[0], [0]], "same-cpu"), ([[0], [16]], "same-core"), ([[0], [1]], "same-l3"),
                                ([[0], [9]], "other-socket"), ([range(8), [3]], "same-l3"),
                                ([range(16), [3]], "other-socket")):
            section = self.section(local(on_one_node(machine, masks)))
            self.assertEqual([entry["distance"] for entry in section["distances"]], [expected], masks)
        for masks, expected in (([[0], [17]], "same-socket"), ([[0], [9]], "same-numa"), ([[0], [7]], "same-l3")):
            section = self.section(local(on_one_node(MACHINES["epyc"], masks)))
            self.assertEqual([entry["distance"] for entry in section["distances"]], [expected], masks)

    def test_without_xml(self):
        """The kernel's tables are enough for NUMA nodes; of sockets and caches nobody knows."""
        ranks = [f.openmpi(rank, 2) for rank in range(2)]
        p.topology(ranks[0], MACHINES["flat"], xml=False)
        for process, cpus in zip(ranks, ([0], [9])):
            p.place(process, cpus)
        section = self.section(local(ranks))
        node = section["nodes"][0]
        self.assertIn("hwloc is not installed", node["problem"])
        self.assertEqual([numa["cpus"] for numa in node["numa"]], ["0-7", "8-15", "16-23", "24-31"])
        self.assertEqual((node["packages"], node["cores"], node["l3_caches"]), ([], None, None))
        self.assertEqual([nic["numa"] for nic in node["nics"]], [0, 2])
        self.assertEqual([rank["numa"] for rank in section["ranks"]], [0, 1])
        self.assertEqual([entry["distance"] for entry in section["distances"]], ["same-node"])

    def test_nothing_recorded(self):
        ranks = local([f.openmpi(rank, 2) for rank in range(2)])
        section = self.section(ranks)
        self.assertEqual((section["recorded"], section["nodes"][0]["numa"]), (0, []))
        self.assertIn("not recorded", self.run_cli("placement", self.trace(ranks)).out)
        self.assertNotIn("Where ranks sat", self.run_cli("report", self.trace(ranks)).out)

    def test_bad_xml_is_said(self):
        ranks = [f.openmpi(0, 1)]
        p.topology(ranks[0], MACHINES["flat"], xml=False)
        ranks[0].add("TOPOLOGY", xml='<topology version="2.0"><object', source="hwloc")
        p.place(ranks[0], [0])
        section = self.section(f.finish(ranks))
        self.assertIn("cannot be used", section["nodes"][0]["problem"])
        self.assertEqual(len(section["nodes"][0]["numa"]), 4)

    def test_a_description_that_the_site_gave(self):
        """It wins over the kernel, of which only what it lacks is taken."""
        process = f.openmpi(0, 1)
        fields = MACHINES["desktop"].records()
        fields["slit"][0]["distance"] = [10]
        process.add("TOPOLOGY", **{**fields, "xml": MACHINES["epyc"].xml(), "source": "file /etc/node.xml"})
        p.place(process, [16])
        ranks = f.finish([process])
        node = self.section(ranks)["nodes"][0]
        self.assertEqual((node["cpus"], node["numa"][0]["cpus"]), ("0-127", "0-15"))
        self.assertEqual(node["numa"][0]["distances"], [10, 12, 12, 12, 32, 32, 32, 32])
        self.none(ranks)

    def test_a_description_from_within_a_cpuset(self):
        """hwloc saw one of two sockets: its distances are of those NUMA nodes, though the kernel knows others."""
        seen = Machine(numas=2, slit=lambda a, b: 10 if a == b else 17)
        process = f.openmpi(0, 1)
        process.add("TOPOLOGY", xml=seen.xml(), source="hwloc", **Machine(packages=2, numas=2).records())
        p.place(process, [0])
        numa = self.section(f.finish([process]))["nodes"][0]["numa"]
        self.assertEqual([node["distances"] for node in numa],
                         [[10, 17, None, None], [17, 10, None, None], [None] * 4, [None] * 4])

    def test_tables_that_are_not_whole(self):
        """What the kernel does not say is not known, and no table is called flat for that."""
        process = f.openmpi(0, 1)
        fields = MACHINES["epyc"].records()
        fields["slit"] = fields["slit"][:2]
        for row in fields["slit"]:
            row["distance"] = row["distance"][:2]
        process.add("TOPOLOGY", **{**fields, "xml": epyc(slit=None).xml(), "source": "hwloc"})
        p.place(process, [16])
        ranks = f.finish([process])
        node = self.section(ranks)["nodes"][0]
        self.assertEqual(node["numa"][0]["distances"], [10, 12] + [None] * 6)
        self.none(ranks)

    def test_origin(self):
        machine = MACHINES["epyc"]
        every = machine.cpus()
        for mask, parent, group, later, origin in (
                (every, every, every, None, "none"), ([0], every, every, None, "narrowed"),
                ([0], [0], every, None, "inherited"), ([0, 1], [0, 1], [0, 1], None, "cgroup"),
                ([0], [0, 1], [0, 1], None, "narrowed"), ([0], None, None, None, "unknown"),
                ([0, 1], every, every, [0], "program")):
            process = f.openmpi(0, 1)
            p.topology(process, machine)
            p.look(process, mask, parent=parent, group=group)
            p.look(process, later or mask, when=3, time=8 * b.SECOND, parent=parent, group=group)
            rank = self.section(f.finish([process]))["ranks"][0]
            self.assertEqual(rank["origin"], origin, (mask, parent, group))

    def test_who_narrowed(self):
        """The launcher alone where it says so and nothing else may have done it."""
        every = MACHINES["epyc"].cpus()
        for starter, settings, origin in (
                ("orted", ["OMPI_MCA_orte_bound_at_launch=1"], "launcher"),
                ("mpirun.openmpi", ["OMPI_MCA_orte_bound_at_launch=1", "OMP_PROC_BIND=FALSE"], "launcher"),
                ("orted", [], "narrowed"), ("bash", ["OMPI_MCA_orte_bound_at_launch=1"], "narrowed"),
                ("orted", ["OMPI_MCA_orte_bound_at_launch=1", "OMP_PROC_BIND=close"], "narrowed"),
                ("orted", ["OMPI_MCA_orte_bound_at_launch=1", "GOMP_CPU_AFFINITY=0"], "narrowed")):
            process = f.openmpi(0, 1)
            p.topology(process, MACHINES["epyc"])
            p.place(process, [0], parent=every, group=every, starter=starter)
            f.facts(process, *[("env", *setting.split("=")) for setting in settings])
            self.assertEqual(self.section(f.finish([process]))["ranks"][0]["origin"], origin, (starter, settings))

    def test_text(self):
        for name in ("epyc", "epyc_four_values", "flat", "desktop", "switches"):
            machine = MACHINES[name]
            nodes = machine.node_count()
            ranks = local(on_one_node(machine, [machine.cpus(n % nodes)[:2] for n in range(4)]))
            out = self.run_cli("placement", self.trace(ranks)).out
            self.assert_fits(out)
            self.golden(name, out)

    def golden(self, name, out):
        expected = os.path.join(ROOT, "tests", "cli", "expected", "placement_%s.txt" % name)
        if os.environ.get("MW_TEST_UPDATE"):
            with open(expected, "w", encoding="utf-8") as file:
                file.write(out)
        with open(expected, encoding="utf-8") as file:
            self.assertEqual(out, file.read())

    def test_mixed_nodes(self):
        """Nodes of two kinds in one job."""
        ranks = [f.openmpi(rank, 2, host="node%d" % rank) for rank in range(2)]
        for process, name in zip(ranks, ("epyc", "desktop")):
            p.topology(process, MACHINES[name])
            p.place(process, [2])
        section = self.section(local(ranks))
        self.golden("mixed", self.run_cli("placement", self.path("job.mpiw")).out)
        self.assertEqual([len(node["numa"]) for node in section["nodes"]], [8, 1])
        self.assertEqual([entry["distance"] for entry in section["distances"]], ["other-node"])

    def test_gpus_without_links(self):
        """Eight GPUs that only PCI joins, with names and without: every row is of a GPU that can be told."""
        for machine, name in ((epyc(links={}), "card0"), (epyc(links={}, gpu_names=False), None)):
            out = self.run_cli("placement", self.trace(local(on_one_node(machine, [[0], [64]])))).out
            self.assert_fits(out)
            section = out[out.index("Between GPUs"):out.index("\nRanks")]
            rows = [line.split() for line in section.splitlines()[2:10]]
            self.assertEqual([row[:2] for row in rows], [[str(i), address] for i, address in enumerate(machine.gpu_addresses())])
            self.assertEqual(rows[0][2:], [name] if name else [])
            for address in machine.gpu_addresses():
                self.assertEqual(section.count(address), 1)
            squares = section.split("\n\n")[1:]
            heads = [square.splitlines()[0].split() for square in squares]
            self.assertEqual([number for head in heads for number in head], [str(i) for i in range(8)])
            self.assertTrue(all(len(square.splitlines()) == 9 for square in squares))
            for raw in ("other-socket", "host-bridge", "pcie-switch"):
                self.assertNotIn(raw, out)
            self.assertIn("other socket", section)

    def test_no_cards(self):
        """A column that would be empty for everybody is left out."""
        trace = self.trace(local(on_one_node(MACHINES["desktop"], [[0], [1]])))
        for command in ("report", "placement"):
            out = self.run_cli(command, trace).out
            self.assertIn("bound by", out)
            self.assertNotIn("network card", out)
        self.assertIn("network card", self.run_cli("report", self.trace(p.two_nodes(MACHINES["epyc"]))).out)

    def test_one_pair(self):
        ranks = [f.openmpi(rank, 2) for rank in range(2)]
        f.exchange(ranks, size=8, count=2, pairs=[(0, 1)])
        self.assertIn("16 B in all, 1 pair; 2 of 2 ranks", self.run_cli("matrix", self.trace(f.finish(ranks))).out)

    def test_lines_on_a_terminal(self):
        """Boxes of lines where a terminal for UTF-8 shows them, ASCII for files and other terminals."""
        import pty  # pylint: disable=import-outside-toplevel
        path = self.trace(local(on_one_node(MACHINES["flat"], [[0], [8]])))
        for locale, lines in (("C.UTF-8", True), ("C", False)):
            leader, follower = pty.openpty()
            subprocess.run([os.environ["MW_TEST_CLI"], "placement", "-n", "1", path], stdout=follower, check=True,
                           env=dict(os.environ, LC_ALL=locale), timeout=60, stdin=subprocess.DEVNULL)
            os.close(follower)
            shown = b""
            try:
                while piece := os.read(leader, 65536):
                    shown += piece
            except OSError:
                pass
            os.close(leader)
            self.assertEqual("\u250c" in shown.decode(), lines)

    def test_svg(self):
        process = f.openmpi(0, 1, host='<script>"&')
        p.topology(process, MACHINES["epyc"], source="x")
        p.place(process, [0])
        self.run_cli("placement", "-f", "svg", "-o", "nodes.svg", self.trace(f.finish([process])))
        root = xml.etree.ElementTree.parse(self.path("nodes.svg")).getroot()
        space = "{http://www.w3.org/2000/svg}"
        texts = [text.text for text in root.iter(space + "text")]
        self.assertIn('<script>"&: 2 sockets, 8 NUMA nodes, 128 CPUs', texts)
        self.assertIn("NIC mlx5_0 ib0  0000:61:00.0", texts)
        boxes = [box.get("class") for box in root.iter(space + "rect")]
        self.assertEqual((boxes.count("node"), boxes.count("package"), boxes.count("numa")), (1, 2, 8))
        self.assertEqual({element.tag for element in root.iter()},
                         {space + tag for tag in ("svg", "style", "rect", "text")})


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


class FarFromNic(Placed):
    """C7."""

    def test_measured(self):
        ranks = p.two_nodes(MACHINES["epyc"], gap=lambda rank: 85000 if rank >= 4 else 154000)
        finding = self.only(ranks, "far-from-nic")
        self.assertEqual((finding["ranks"], finding["processes"]), ("0-3,8-11", 8))
        self.says(finding, "8 of 16 ranks use mlx5_0 from the other socket", "ranks 0-3 on node1, at NUMA nodes 0-3 "
                  "(socket 0), use mlx5_0 at NUMA node 6 (socket 1); the firmware's distance is 32",
                  "pairs with a far rank reached 6.81 GB/s, those of pairs of near ranks 12.3 GB/s", "55.2 %")

    def test_measured_to_cost_nothing(self):
        self.none(p.two_nodes(MACHINES["epyc"], gap=lambda rank: 85000))

    def test_far_ranks_that_talk_to_near_ones(self):
        """Both ends of each such pair are equally slow: that says nothing about the distance."""
        crossed = p.two_nodes(MACHINES["epyc"], gap=lambda rank: 154000, partner=lambda rank: (rank + 4) % 8)
        finding = self.only(crossed, "far-from-nic", "notice")
        self.says(finding, "reached 6.81 GB/s; what the distance costs cannot be told")
        self.assertIsNone(finding["cost"])
        # Ranks 6 and 7 have partners near their card, and show it.
        some = p.two_nodes(MACHINES["epyc"], gap=lambda rank: 85000 if rank >= 6 else 154000,
                           partner=lambda rank: rank if rank >= 6 else (rank + 3) % 6)
        finding = self.only(some, "far-from-nic")
        self.says(finding, "pairs with a far rank reached 6.81 GB/s, those of pairs of near ranks 12.3 GB/s", "55.2 %")

    def test_sockets_that_nobody_knows(self):
        """Without hwloc only the firmware's table tells what is far; the words are those of the table of ranks."""
        ranks = p.two_nodes(MACHINES["epyc"], gap=lambda rank: 85000 if rank >= 4 else 154000, xml=False)
        finding = self.only(ranks, "far-from-nic")
        self.says(finding, "8 of 16 ranks use mlx5_0 from a far NUMA node", "ranks 0-3 on node1, at NUMA nodes 0-3, use "
                  "mlx5_0 at NUMA node 6; the firmware's distance is 32", "CPUs near the card are used by no rank")
        self.assertNotIn("socket", "\n".join([finding["title"], *finding["evidence"], finding["advice"]]))
        self.assertEqual({rank["nics"][0]["nearest"] for rank in self.section(ranks)["ranks"][:4]}, {"same-node"})

    def test_one_rank(self):
        machine = MACHINES["epyc"]
        ranks = p.two_nodes(machine, per_node=5, cpus_of=lambda rank: [16 if rank == 0 else 64 + rank], size=1024)
        self.says(self.only(ranks, "far-from-nic"), "rank 0 on node1, at NUMA node 1 (socket 0), uses mlx5_0 at",
                  "cannot be told: too few large messages")

    def test_all_on_the_wrong_socket(self):
        machine = MACHINES["epyc"]
        finding = self.only(p.two_nodes(machine, per_node=4, count=1), "far-from-nic")
        self.says(finding, "8 of 8 ranks", "64 CPUs of the card's socket are used by no rank")

    def test_near_ones(self):
        machine = MACHINES["epyc"]
        self.none(p.two_nodes(machine, per_node=4, cpus_of=lambda rank: [64 + 16 * rank]))

    def test_a_rank_a_socket(self):
        """There is one card, and somebody has to be far."""
        machine = MACHINES["epyc"]
        self.none(p.two_nodes(machine, per_node=2, size=1024, cpus_of=machine.package_cpus))
        self.none(p.two_nodes(machine, per_node=2, size=1024, cpus_of=lambda rank: [64 * rank]))

    def test_spread_on_purpose(self):
        finding = self.only(p.two_nodes(MACHINES["epyc"], size=1024), "far-from-nic", "notice")
        self.says(finding, "8 of 16 ranks")

    def test_the_other_card(self):
        machine = MACHINES["flat"]
        ranks = p.two_nodes(machine, per_node=2, count=1, cpus_of=lambda rank: [16 + 8 * rank])
        for process in ranks:
            process.extra = [chunk for chunk in process.extra if chunk[4] != 23]  # PORTS
            f.node_ports(process, *(f.port(name, "infiniband", f.SLINGSHOT, "4: ACTIVE") for name in ("mlx5_0", "mlx5_1")))
        finding = [one for one in self.findings(ranks) if one["id"] == "far-from-nic"][0]
        self.assertEqual(finding["severity"], "warning")
        self.says(finding, "mlx5_1, which is up, is near them, at NUMA node 2 (socket 1)")

    def test_unbound(self):
        machine = MACHINES["epyc"]
        self.none(p.two_nodes(machine, cpus_of=lambda rank: machine.cpus()))

    def test_slow_network(self):
        """Over Ethernet of a gigabit nobody notices the distance."""
        machine = Machine(packages=2, cores=8, nics={1: ["eth0"]})
        ranks = [f.openmpi(rank, 2, host="node%d" % rank) for rank in range(2)]
        p.bound(ranks, machine, lambda rank: [0])
        f.exchange(ranks)
        f.sockets(ranks, p.f.all_pairs(ranks, 100 * MEBI))
        for process in ranks:
            f.node_ports(process, f.port("eth0", "net", f.GIGABIT))
        self.none(f.finish(ranks))


class SharedCpu(Placed):
    """C8."""

    def test_pinned_to_one(self):
        every = MACHINES["desktop"].cpus()
        for parent, starter, bind, words in (
                ([0], "orted", None, "from its launcher orted: taskset, a batch system or a script did that before"),
                ([0], "bash", None, "from its parent bash: its launcher, a wrapper or a script before it did that"),
                (every, "orted", None, "its launcher, a wrapper (taskset) or the program itself did that"),
                (every, "orted", "true", "or the program itself (OMP_PROC_BIND=true) did that")):
            ranks = on_one_node(MACHINES["desktop"], [[0], [0]], parent=parent, starter=starter)
            for process in ranks if bind else []:
                f.facts(process, ("env", "OMP_PROC_BIND", bind))
            finding = self.only(local(ranks), "shared-cpu")
            self.assertEqual(finding["ranks"], "0-1")
            self.says(finding, "ranks 0-1 (2 ranks) share CPU 0 on node1", words)
            self.assertEqual("without taskset around mpirun" in finding["advice"], "from its launcher" in words)

    def test_bound_by_the_launcher(self):
        ranks = on_one_node(MACHINES["desktop"], [[0], [0]])
        for process in ranks:
            f.facts(process, ("env", "OMPI_MCA_orte_bound_at_launch", "1"))
        finding = self.only(local(ranks), "shared-cpu")
        self.says(finding, "its launcher bound it: its parent orted has more CPUs", "--bind-to core")

    def test_more_ranks_than_cpus(self):
        machine = MACHINES["desktop"]
        finding = self.only(local(on_one_node(machine, [machine.cpus()] * 9, involuntary=77)), "shared-cpu")
        self.says(finding, "ranks 0-8 (9 ranks) share 8 CPUs (0-7)", "nobody bound it",
                  "had 77 involuntary context switches (with those where it gave way itself", "mpi_yield_when_idle 1")
        self.none(local(on_one_node(machine, [machine.cpus()] * 8)))

    def test_it_gives_way_already(self):
        """Open MPI's launcher lets ranks yield where it knows of more than there are CPUs."""
        machine = MACHINES["desktop"]
        for setting in ("OMPI_MCA_mpi_oversubscribe", "OMPI_MCA_mpi_yield_when_idle"):
            ranks = on_one_node(machine, [machine.cpus()] * 9)
            for process in ranks:
                f.facts(process, ("env", setting, "1"))
            finding = self.only(local(ranks), "shared-cpu")
            self.says(finding, "Start no more ranks")
            self.assertNotIn("mpi_yield_when_idle", finding["advice"])

    def used(self, masks, *shares):
        """Ranks that used so many percent of a processor between their looks."""
        ranks = on_one_node(MACHINES["desktop"], masks)
        for process, share in zip(ranks, shares):
            for when, time, ticks in ((1, 2000, 50), (3, 8 * b.SECOND, 50 + 8 * share)):
                p.look(process, masks[process.rank], when=when, time=time,
                       thread=[{"tid": 1, "ticks": ticks, "mpi": 1}])
        return local(ranks)

    def test_ranks_that_sleep(self):
        """They wait in the kernel, and need no CPU of their own."""
        every = MACHINES["desktop"].cpus()  # 8
        for masks, shares, number in (([[0]] * 3, [0, 1, 0], 0), ([[0]] * 3, [0, 99, 1], 0), ([[0]] * 2, [5, 4], 0),
                                      ([[0]] * 2, [50, 49], 1), ([[0]] * 3, [1, 49, 50], 1), ([[0]] * 2, [50], 1),
                                      ([[0]] * 20, [5] * 20, 1), ([every] * 16, [10] * 16, 0),
                                      ([every] * 16, [50] * 16, 1)):
            found = self.findings(self.used(masks, *shares))
            self.assertEqual([finding["id"] for finding in found], ["shared-cpu"] * number, (masks, shares))

    def test_the_one_that_looked_sleeps(self):
        ranks = on_one_node(MACHINES["desktop"], [[0], [1]])
        for when, time in ((1, 2000), (3, 8 * b.SECOND)):
            foreign = [{"pid": 7, "name": "x", "cpu": 2, "busy": 49, "parent": 3}] if when == 3 else []
            p.look(ranks[0], [0], when=when, time=time, thread=[{"tid": 1, "ticks": 50, "mpi": 1}], foreign=foreign)
        self.assertEqual(self.only(local(ranks), "shared-cpu")["ranks"], "1")

    def test_some_of_them(self):
        """Ranks 1 to 3 have two CPUs; the others are fine."""
        masks = [[0], [2, 3], [2], [3], [4, 5], [4, 5]]
        finding = self.only(local(on_one_node(MACHINES["desktop"], masks)), "shared-cpu")
        self.says(finding, "ranks 1-3 (3 ranks) share 2 CPUs (2-3)")

    def test_room_is_found(self):
        """Masks overlap, but each rank can have a CPU: 0 on 2, 1 on 1, 2 on 0."""
        self.none(local(on_one_node(MACHINES["desktop"], [[0, 1, 2], [0, 1], [0]])))

    def test_hardware_threads(self):
        machine = MACHINES["desktop"]
        self.assertEqual(machine.core_cpus(0), [0, 4])
        self.none(local(on_one_node(machine, [[0], [4]])))

    def test_two_groups(self):
        found = self.findings(local(on_one_node(MACHINES["desktop"], [[0], [0], [3], [3], [5]])))
        self.assertEqual([finding["ranks"] for finding in found], ["0-1", "2-3"])

    def test_other_nodes_do_not_matter(self):
        ranks = [f.openmpi(rank, 2, host="node%d" % rank) for rank in range(2)]
        self.none(local(p.bound(ranks, MACHINES["desktop"], lambda rank: [0])))

    def foreign(self, masks, **process):
        ranks = on_one_node(MACHINES["desktop"], masks)
        record = {"pid": 7, "name": "spinner", "cpu": 1, "busy": 99, "same_user": 1, "parent": 1, **process}
        p.look(ranks[0], masks[0], when=3, time=8 * b.SECOND + 1, parent=MACHINES["desktop"].cpus(), foreign=[record])
        return local(ranks)

    def test_a_busy_process_of_others(self):
        finding = self.only(self.foreign([[0], [1]]), "shared-cpu")
        self.assertEqual(finding["ranks"], "0")
        self.says(finding, "rank 0 shares CPU 0 on node1 with 1 busy process of others",
                  "process 7 (spinner) of the same user used 99 % of CPU 0")

    def test_left_over(self):
        """When it began is not recorded: only what was seen is said."""
        finding = self.only(self.foreign([[0], [1]], name="solver"), "shared-cpu")
        self.says(finding, "it has this program's name, and its parent has ended")
        self.assertNotIn("left over", "".join(finding["evidence"]))
        for other in ({"name": "sol"}, {"name": "solver", "parent": 9}):
            finding = self.only(self.foreign([[0], [1]], **other), "shared-cpu")
            self.assertNotIn("this program", "".join(finding["evidence"]))

    def test_the_jobs_own(self):
        """Ranks have the numbers 1000 and 1001 (build_trace.py)."""
        for pid, parent in ((1001, 1), (1001, 5), (5, 1000), (5, LAUNCHER), (LAUNCHER, 1)):
            self.none(self.foreign([[0], [1]], pid=pid, parent=parent))

    def test_descendants_of_the_jobs(self):
        """A chain of busy ones up to a rank; one that goes round in circles ends."""
        one = {"pid": 5, "parent": 6, "name": "child", "cpu": 1, "busy": 99, "same_user": 1}
        for parent, number in ((1000, 0), (5, 1)):
            ranks = on_one_node(MACHINES["desktop"], [[0], [1]])
            p.look(ranks[0], [0], when=3, time=8 * b.SECOND + 1, parent=MACHINES["desktop"].cpus(),
                   foreign=[one, {**one, "pid": 6, "parent": parent}])
            self.assertEqual(len(self.findings(local(ranks))), number)

    def test_process_1(self):
        """It is the launcher in a container, else it adopts whoever has lost his parent."""
        for starter, number in (("mpirun.openmpi", 0), ("systemd", 1)):
            ranks = on_one_node(MACHINES["desktop"], [[0], [1]], starter=starter)
            for process in ranks:
                process.parent = 1
            p.look(ranks[0], [0], when=3, time=8 * b.SECOND + 1,
                   foreign=[{"pid": 5, "parent": 1, "name": "x", "cpu": 1, "busy": 99, "same_user": 1}])
            self.assertEqual(len(self.findings(local(ranks))), number)

    def several(self, masks, *busy, watched=8 * b.SECOND, **process):
        ranks = on_one_node(MACHINES["desktop"], masks)
        p.look(ranks[0], masks[0], when=3, time=8 * b.SECOND + 1, parent=MACHINES["desktop"].cpus(), watched=watched,
               foreign=[{"pid": 7 + n, "name": "make", "cpu": 1, "busy": share, "same_user": 1, "parent": 3, **process}
                        for n, share in enumerate(busy)])
        return local(ranks)

    def test_a_fair_share_is_less_than_half(self):
        """The kernel gives a rank and a spinner on one CPU 50 % each, rounded down 49 %."""
        self.says(self.only(self.foreign([[0], [1]], busy=49), "shared-cpu"), "used 49 % of CPU 0")
        self.none(self.several([[0], [1]], 29))

    def test_they_add_up(self):
        finding = self.only(self.several([[0], [1]], 20, 20), "shared-cpu")
        self.says(finding, "with 2 busy processes of others", "process 7 (make)", "process 8 (make)")
        self.none(self.several([[0], [1]], 10, 19))

    def test_more_demand_than_cpus(self):
        """Nobody is bound: only what does not fit in sum is a finding."""
        every = MACHINES["desktop"].cpus()  # 8
        for ranks, busy, expected in ((7, [60, 60], 0), (7, [70, 70], 1), (7, [99], 0), (8, [49], 0), (8, [50], 1),
                                      (4, [99] * 4, 0), (4, [99] * 5, 1), (5, [290], 0), (5, [390], 1), (8, [40] * 4, 0)):
            found = self.findings(self.several([every] * ranks, *busy, cpus=runs(every)))
            self.assertEqual([finding["id"] for finding in found], ["shared-cpu"] * expected, (ranks, busy))
        self.none(self.several([every] * 8, 99, 99, cpus=runs(every), watched=b.SECOND // 2))  # it may have run by
        self.only(self.several([[cpu] for cpu in every], 99, cpus=runs(every)), "shared-cpu")

    def test_it_does_not_matter(self):
        self.none(self.foreign([[0], [1]], busy=29))
        self.none(self.foreign([[0], [1]], cpu=8))
        self.none(self.foreign([[0, 1], [0, 1]], cpu=8))
        self.none(self.foreign([[0], [1]], cpus=runs([0, 5])))  # it can go elsewhere


class Gpus(Placed):
    """C11."""

    def over(self, ranks, transport, device, visible=None):
        """Their messages went this way, as UCX tells."""
        uids = {process.rank: b"uid-%04d" % process.rank for process in ranks}
        for process in ranks:
            process.extra = [chunk for chunk in process.extra if chunk[4:6] != b"\x20\x00"]  # CHOICE
            process.choice("pml", "ucx")
            for probe in f.PROBES:
                process.choice("probe", probe, "on")
            if visible:
                p.gpus(process, MACHINES["epyc"].gpu_addresses(), visible[process.rank], amount=10 * MEBI)
                f.facts(process, ("env", "HIP_VISIBLE_DEVICES", str(visible[process.rank][0])))
            process.endpoint(1, uids[process.rank], library="ucx", peer=[
                {"address": uids[other.rank], "sends": 10, "sent": 10 * MEBI,
                 "lane": [{"use": use, "transport": transport, "device": device} for use in ("am", "rma_bw")]}
                for other in ranks if other is not process])
        return ranks

    def job(self, transport="posix", device="memory", visible=None, **more):
        return self.over(p.gpu_job(MACHINES["epyc"], [0, 1], **more), transport, device, visible)

    def test_through_the_host(self):
        finding = self.only(self.job(visible=([0, 1], [1, 0])), "gpu-staged")
        self.assertEqual(finding["ranks"], "0-1")
        self.says(finding, "20.0 MiB between GPUs of a node went through host memory, by posix", "on 2 pairs",
                  "rank 0 (0000:04:00.0) -> rank 1 (0000:05:00.0), joined by xGMI, 4 links", "rocm_ipc")
        self.assertNotIn("does not see", "".join(finding["evidence"]))

    def test_hidden(self):
        finding = self.only(self.job(visible=([0], [1])), "gpu-staged")
        self.says(finding, "rank 0 does not see the GPU of the other; HIP_VISIBLE_DEVICES=0", "Let every rank see all GPUs")

    def test_by_the_gpus_themselves(self):
        self.none(self.job(transport="rocm_ipc", device="rocm_ipc"))

    def test_ways_that_are_only_concluded(self):
        """MPI may have moved GPU memory itself there: no probe sees that."""
        for mpi in (f.openmpi, f.mpich):
            ranks = p.gpu_job(MACHINES["epyc"], [0, 1], mpi=mpi)
            f.sockets(ranks, {})
            self.none(ranks)
            groups = self.run_cli("transports", "-f", "json", self.path("job.mpiw")).json()["transports"]["groups"]
            self.assertEqual([route["certainty"] for route in groups["listed"][0]["routes"]], ["concluded"])

    def test_counted_for_a_part_only(self):
        """10 MiB came from a GPU; what was counted may be all of the rest."""
        for counted, found in ((MEBI, 0), (12 * MEBI, 1)):
            ranks = p.gpu_job(MACHINES["epyc"], [0, 1], mpi=self.over_tcp)
            f.sockets(ranks, f.all_pairs(ranks, counted), interface="lo")
            self.assertEqual(len(self.findings(ranks)), found, counted)

    @staticmethod
    def over_tcp(rank, size):
        return f.openmpi(rank, size, btls=("self", "tcp"))

    @staticmethod
    def cray(rank, size):
        process = f.mpich(rank, size, netmod="ofi", shm="none")
        process.version = "MPI VERSION    : CRAY MPICH version 8.1.28.2 (ANL base 3.4a2)"
        return process

    def test_advice_fits_the_mpi(self):
        support = "MPICH_GPU_SUPPORT_ENABLED"
        for mpi, setting, words, others in (
                (self.over_tcp, None, "Use an Open MPI with a UCX that has rocm_ipc", "MPICH"),
                (self.cray, None, "Set MPICH_GPU_SUPPORT_ENABLED=1.", "UCX"),
                (self.cray, (support, "0"), "MPICH_GPU_SUPPORT_ENABLED is 0: set it to 1.", "UCX"),
                (self.cray, (support, "1"), "MPICH_GPU_SUPPORT_ENABLED=1 is set", "Set MPICH")):
            ranks = p.gpu_job(MACHINES["epyc"], [0, 1], mpi=mpi, hidden=False)
            carried = f.all_pairs(ranks, 12 * MEBI)
            if mpi is self.cray:
                f.fabric(ranks, carried, provider="tcp;ofi_rxm", domain="lo")
            else:
                f.sockets(ranks, carried, interface="lo")
            for process in ranks if setting else ():
                f.facts(process, ("env", *setting))
            finding = [one for one in self.findings(ranks) if one["id"] == "gpu-staged"][0]
            self.assertIn(words, finding["advice"])
            self.assertNotIn(others, finding["advice"])
        ranks = self.job(visible=([0, 1], [1, 0]))
        f.facts(ranks[0], ("env", "UCX_TLS", "posix,cma"))
        self.says(self.only(ranks, "gpu-staged"), "UCX_TLS=posix,cma must not leave them out")

    def test_host_memory(self):
        self.none(self.job(kind=1))
        self.none(self.job(size=1024))

    def links(self, gaps, numbers=range(8)):
        """gaps: nanoseconds of a message by number of links."""
        machine = MACHINES["epyc"]
        links = dict(p.GCD_LINKS)
        links.update({(two, one): count for (one, two), count in p.GCD_LINKS.items()})
        ranks = p.gpu_job(machine, list(numbers), count=0)
        at = 10000
        for src in ranks:
            for dst in ranks:
                gap = gaps(src.rank, dst.rank, links.get((src.rank, dst.rank), 0))
                for _ in range(10 if src is not dst else 0):
                    src.send(dst.rank, MEBI, at, at + gap, flags=b.w.spaces(1, 0))
                    dst.recv(src.rank, MEBI, at, at + gap, flags=b.w.STATUS | b.w.spaces(0, 1))
                    at += gap + 1000
        return self.over(ranks, "rocm_ipc", "rocm_ipc")

    def test_speeds_that_follow_the_links(self):
        self.none(self.links(lambda src, dst, links: 60000 // (links or 1)))
        self.none(self.links(lambda src, dst, links: 30000))

    def test_a_pair_that_does_not(self):
        finding = self.only(self.links(lambda src, dst, links: 90000 if (src, dst) == (0, 1) else 60000 // (links or 1)),
                            "gpu-links")
        self.assertEqual(finding["ranks"], "0-1")
        self.says(finding, "1 pair of GPUs is slower", "rank 0 (0000:04:00.0) -> rank 1 (0000:05:00.0), joined by xGMI, 4 links",
                  "without a link of their own")
        finding = self.only(self.links(lambda src, dst, links: 31000 if (src, dst) == (2, 3) else 60000 // (links or 1)),
                            "gpu-links")
        self.says(finding, "pairs with 4 links reach")


class OtherRules(Placed):
    def test_flat_table(self):
        ranks = local(on_one_node(MACHINES["flat"], [[0], [1]]))
        self.says(self.only(ranks, "slit-flat", "notice"), "on 1 of 1 nodes", "each of the 4 NUMA nodes is 20 from every other",
                  "2 sockets")
        for name in ("switches", "desktop", "epyc", "interleaved"):
            self.none(local(on_one_node(MACHINES[name], [[0], [1]])))

    def test_migrated(self):
        machine = MACHINES["switches"]
        ranks = [f.openmpi(0, 1)]
        p.topology(ranks[0], machine)
        for when, numa in ((1, 0), (3, 1)):
            p.look(ranks[0], machine.cpus(), when=when, time=when * 1000, parent=machine.cpus(), numa=numa, migrations=18)
        self.says(self.only(f.finish(ranks), "migrated"), "1 of 1 rank moved between NUMA nodes",
                  "rank 0 was found on NUMA nodes 0-1, changed its CPU 17 times")
        for mask, policy in (([0, 1], "default"), (machine.cpus(), "interleave:0-1")):
            ranks = [f.openmpi(0, 1)]
            p.topology(ranks[0], machine)
            for when, numa in ((1, 0), (3, 1)):
                p.look(ranks[0], mask, when=when, time=when * 1000, numa=numa, policy=policy)
            self.none(f.finish(ranks))

    def two_cards(self, users, machine=None):
        """Eight ranks a node on the socket of each card; users: the card of each rank."""
        machine = machine or MACHINES["switches"]
        ranks = [f.openmpi(rank, 16, host="node%d" % (rank // 8), pml="cm", mtl="ofi", btls=()) for rank in range(16)]
        p.bound(ranks, machine, lambda rank: [rank % 8 if users[rank % 8] == "mlx5_0" else 8 + rank % 8])
        pairs = {(rank, (rank + 8) % 16): 100 * MEBI for rank in range(16)}
        f.exchange(ranks, count=1, pairs=list(pairs))
        for card in sorted(set(users)):
            those = [process for process in ranks if users[process.rank % 8] == card]
            f.fabric(those, {pair: amount for pair, amount in pairs.items() if users[pair[0] % 8] == card},
                     provider="verbs;ofi_rxm", domain=card)
        for process in ranks:
            f.node_ports(process, *(f.port(name, "infiniband", f.SLINGSHOT, "4: ACTIVE") for name in ("mlx5_0", "mlx5_1")))
        f.sockets(ranks, {})
        return f.finish(ranks)

    def test_uneven_cards(self):
        found = [finding for finding in self.findings(self.two_cards(["mlx5_0"] * 8)) if finding["id"] == "uneven-nics"]
        self.assertEqual([finding["ranks"] for finding in found], ["0-7", "8-15"])
        self.says(found[0], "100 % of what ranks of node0 sent went through mlx5_0, one of 2 equal network cards",
                  "mlx5_1 at NUMA node 1 (socket 1): 0 B")
        self.none(self.two_cards(["mlx5_0", "mlx5_1"] * 4))

    def slow(self, width=(16, 16), speed=(16000, 16000), port=(16, 16000)):
        machine = Machine(packages=2, cores=8, nics={0: ["mlx5_0"]}, width=width, speed=speed)
        ranks = p.two_nodes(machine, per_node=1, count=1)
        for process in (ranks[0], ranks[1]):
            fields = machine.records()
            fields["pci"][0]["parent"] = "0000:00:01.0"
            fields["pci"].append({"address": "0000:00:01.0", "class": 0x060400, "vendor": 0x8086, "node": 1, "width_max": port[0],
                                  "width": min(width[0], port[0]), "speed": speed[0], "speed_max": port[1]})
            process.add("TOPOLOGY", **fields)
        return ranks

    def test_slow_link(self):
        found = self.findings(self.slow(width=(8, 16)))
        self.assertEqual([finding["id"] for finding in found], ["slow-link"] * 2)
        self.says(found[0], "The PCI link of mlx5_0 on node1 runs below its width", "has 8 lanes", "can do 16")
        self.says(self.findings(self.slow(speed=(8000, 16000)))[0], "below its speed", "8.0 GT/s", "can do 16.0")
        self.none(self.slow())
        self.none(self.slow(width=(8, 16), port=(8, 16000)))
        self.none(self.slow(speed=(8000, 16000), port=(16, 8000)))

    def test_this_kind_of_machine(self):
        """Two CPUs, one NUMA node, no card: nothing to find."""
        machine = Machine(cores=2)
        self.none(local(on_one_node(machine, [[0], [1]])))
        self.none(local(on_one_node(machine, [machine.cpus()] * 2)))


if __name__ == "__main__":
    main()
