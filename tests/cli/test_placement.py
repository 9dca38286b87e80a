# SPDX-License-Identifier: BSD-3-Clause
"""mpiwatch placement: the command and its pictures, on machines of every kind."""

import os
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

import build_trace as b
import fabric_jobs as f
import placed_jobs as p
from cli import ROOT, main
from machines import MACHINES, Machine, epyc
from placed import Placed, local, on_one_node


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

    def test_a_cache_of_several_numa_nodes(self):
        """Ranks of two NUMA nodes are not as near as those of one, though they share a cache."""
        machine = Machine(packages=2, numas=2, cores=4)
        caches = "".join("".join(machine.object("L3Cache", machine.package_cpus(socket))) for socket in range(2))
        text = re.sub('<object type="(L3Cache)"', '<object type="Group"', machine.xml())
        for masks, expected in (([[0], [1]], "same-numa"), ([[0], [4]], "same-socket"), ([[0], [8]], "other-socket")):
            ranks = on_one_node(machine, masks)
            ranks[0].add("TOPOLOGY", xml=text.replace("</topology>", caches + "</topology>"), source="hwloc")
            section = self.section(local(ranks))
            self.assertEqual(section["nodes"][0]["l3_caches"], 2)
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
                ("hydra_pmi_proxy", ["HYDRA_USER_PROVIDED_BINDING=1"], "launcher"), ("hydra_pmi_proxy", [], "narrowed"),
                ("bash", ["HYDRA_USER_PROVIDED_BINDING=1"], "narrowed"),
                ("slurmstepd", ["SLURM_CPU_BIND_TYPE=mask_cpu:", "SLURM_CPU_BIND_LIST=0x2,0x1,0x4", "SLURM_LOCALID=1"],
                 "launcher"),
                ("slurmstepd", ["SLURM_CPU_BIND_TYPE=mask_cpu:", "SLURM_CPU_BIND_LIST=0x2,0x1,0x4", "SLURM_LOCALID=2"],
                 "narrowed"),
                ("slurmstepd", ["SLURM_CPU_BIND_TYPE=mask_cpu:", "SLURM_CPU_BIND_LIST=0x1", "SLURM_LOCALID=99"], "narrowed"),
                ("slurmstepd", ["SLURM_CPU_BIND_TYPE=none", "SLURM_CPU_BIND_LIST=0x1", "SLURM_LOCALID=0"], "narrowed"),
                ("prted", ["PRTE_LAUNCHED=1"], "narrowed"), ("orted", [], "narrowed"), ("bash", ["OMPI_MCA_orte_bound_at_launch=1"], "narrowed"),
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


if __name__ == "__main__":
    main()
