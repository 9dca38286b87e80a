# SPDX-License-Identifier: BSD-3-Clause
"""What the analyzer reads from hwloc's XML: equal to what hwloc itself says, and harmless whatever stands in it."""

import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "cli"))
from machines import MACHINES, GCD_LINKS, Machine  # noqa: E402  pylint: disable=wrong-import-position

SHOW = os.environ["MW_TEST_TOPOLOGY"]
SANITIZED = os.environ.get("MW_TEST_SANITIZED", "none") != "none"
MEMORY_MAX = 1 << 30
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'


def cpu_list(text):
    """'0-2,5' as a set."""
    out = set()
    for part in text.split(",") if text else []:
        first, _, last = part.partition("-")
        out |= set(range(int(first), int(last or first) + 1))
    return out


class Topology(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="mpiwatch-topology-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, text, name="machine.xml"):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as out:
            out.write(text if isinstance(text, bytes) else text.encode())
        return path

    def show(self, *paths, env=None):
        """The lines as lists of words."""
        def limit():
            if not SANITIZED:
                resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_MAX, MEMORY_MAX))
        done = subprocess.run([SHOW, *paths], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                              check=False, env=dict(os.environ, **(env or {})), preexec_fn=limit)
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
        return [line.split() for line in done.stdout.decode(errors="replace").splitlines()]

    def facts(self, machine, name):
        return self.show(self.write(machine.xml(), name + ".xml"))

    def problem(self, text, *words):
        lines = self.show(self.write(text))
        self.assertEqual(lines[0][0], "problem", lines[:3])
        for word in words:
            self.assertIn(word, " ".join(lines[0]))
        self.assertEqual([line[0] for line in lines[1:]], ["cpus", "tells"], lines[:5])

    # --- what is right ---

    def test_as_described(self):
        for name, machine in MACHINES.items():
            lines = self.facts(machine, name)
            self.assertNotEqual(lines[0][0], "problem", lines[0])
            parts = {kind: [cpu_list(line[2]) for line in lines if line[0] == kind]
                     for kind in ("core", "l3", "numa", "package")}
            nodes = range(machine.node_count())
            self.assertEqual(parts["numa"], [set(machine.cpus(node)) for node in nodes], name)
            self.assertEqual(parts["package"],
                             [set(machine.package_cpus(p)) for p in range(machine.packages)], name)
            self.assertEqual(parts["core"], [set(machine.core_cpus(core))
                                             for core in range(machine.cores * len(nodes))], name)
            self.assertEqual(len(parts["l3"]), machine.l3 * len(nodes))
            devices = {line[1]: int(line[3]) for line in lines if line[0] == "device" and line[2] in ("nic", "gpu")}
            self.assertEqual(devices, {device[0]: node for node in nodes for device in machine.devices(node)}, name)
            slit = [[int(value) for value in line[2:]] for line in lines if line[0] == "slit"]
            said = [[machine.slit(a, b) for b in nodes] for a in nodes] if machine.slit and len(nodes) > 1 else []
            self.assertEqual(slit, said, name)

    def test_flat_tables(self):
        tells = {name: self.facts(machine, name) for name, machine in MACHINES.items()}
        tells = {name: [line[1] for line in lines if line[0] == "tells"][0] for name, lines in tells.items()}
        self.assertEqual(tells, {"epyc": "1", "epyc_four_values": "1", "flat": "0", "desktop": "0", "switches": "0",
                                 "interleaved": "0", "eight_sockets": "0"})

    def test_paths(self):
        def paths(name):
            return {(line[1], line[2]): " ".join(line[3:]) for line in self.facts(MACHINES[name], name)
                    if line[0] == "path"}
        switches, epyc = paths("switches"), paths("epyc")
        self.assertEqual(switches["0000:04:00.0", "0000:01:00.0"], "PCIe switch")
        self.assertEqual(switches["0000:04:00.0", "0000:11:00.0"], "other socket")
        self.assertEqual(epyc["0000:04:00.0", "0000:05:00.0"], "host bridge")
        self.assertEqual(epyc["0000:04:00.0", "0000:24:00.0"], "same socket")
        self.assertEqual(epyc["0000:61:00.0", "0000:74:00.0"], "same socket")
        self.assertEqual(epyc["0000:61:00.0", "0000:04:00.0"], "other socket")
        self.assertEqual(paths("interleaved")["0000:11:00.0", "0000:11:00.1"], "same device")
        self.assertTrue(GCD_LINKS)

    def test_hwloc_2_0(self):
        """Its tables have no names; the first of several is the firmware's."""
        text = MACHINES["epyc_four_values"].xml()
        older = text.replace(' name="NUMALatency"', "")
        self.assertNotEqual(older, text)
        at = older.index("<distances2"), older.index("</topology>")
        second = older[at[0]:at[1]].replace("16", "61")
        for xml in (older, older.replace("</topology>", second + "</topology>")):
            self.assertEqual(self.show(self.write(xml)), self.show(self.write(text, "named.xml")))
        for other in ('kind="9"', 'kind="5" name="Else"'):
            lines = self.show(self.write(older.replace('kind="5"', other)))
            self.assertNotIn("slit", [line[0] for line in lines])

    def test_two_memories_of_the_same_cpus(self):
        """As with high-bandwidth memory: a device is near the first."""
        machine = Machine(packages=2, cores=2, nics={1: ["mlx5_0"]})
        node = '<object type="NUMANode" os_index="1"'
        more = '<object type="NUMANode" os_index="7" cpuset="0x0000000c" nodeset="0x80"/>\n'
        before, after = machine.xml().split(node)
        for text, near in ((before + more + node + after, "7"), (before + node + after.replace("/>", "/>" + more, 1), "1")):
            self.assertIn(["device", "0000:11:00.0", "nic", near, "mlx5_0"], self.show(self.write(text)))

    def test_memory_of_a_whole_machine(self):
        """Which comes first among the NUMA nodes: it makes nothing near to anything."""
        machine = Machine(packages=2, cores=2, nics={1: ["mlx5_0"]})
        wide = '<object type="NUMANode" os_index="7" cpuset="0x0000000f" nodeset="0x80"/>'
        text = machine.xml()
        at = text.index("<object", text.index('type="Machine"'))
        path = self.write(text[:at] + wide + text[at:])
        lines = self.show(path)
        self.assertEqual([line[1:] for line in lines if line[0] == "numa"], [["7", "0-3"], ["0", "0-1"], ["1", "2-3"]])
        self.assertIn(["device", "0000:11:00.0", "nic", "1", "mlx5_0"], lines)

    def test_hwloc_3(self):
        """Newer than the hwloc that may be here. Cards are named by what fabric libraries call them."""
        text = Machine(packages=2, cores=2, nics={0: ["ib0 mlx5_0"]}).xml()
        newer = text.replace('version="2.0"', 'version="3.0"').replace('osdev_type="3"', 'osdev_type="48"').replace(
            'osdev_type="2"', 'osdev_type="16"')
        self.assertNotEqual(text, newer)
        for xml in (text, newer):
            lines = self.show(self.write(xml))
            self.assertIn(["device", "0000:01:00.0", "nic", "0", "mlx5_0", "ib0"], lines)

    # --- what hwloc says ---

    def calc(self, path, *arguments):
        done = subprocess.run(["hwloc-calc", "--disallowed", "-i", path, *arguments], stdout=subprocess.PIPE, check=True,
                              stderr=subprocess.DEVNULL, timeout=30)
        return done.stdout.decode().strip()

    def against_hwloc(self, path, lines=None):
        lines = lines or self.show(path)
        self.assertNotEqual(lines[0][0], "problem", lines[0])
        for kind in ("numa", "package", "l3"):
            for number, line in enumerate(line for line in lines if line[0] == kind):
                place = ("--pi", "numa:" + line[1]) if kind == "numa" else ("%s:%d" % (kind, number),)
                self.assertEqual(cpu_list("".join(line[2:])), cpu_list(self.calc(path, *place, "--po", "-I", "pu")), (path, place))
        cores = [line[2] for line in lines if line[0] == "core"]
        for number in range(0, len(cores), max(1, len(cores) // 4)):
            self.assertEqual(cpu_list(cores[number]),
                             cpu_list(self.calc(path, "core:%d" % number, "--po", "-I", "pu")), (path, number))
        devices = [line for line in lines if line[0] == "device" and line[2] != "bridge"]
        with open(path, encoding="utf-8") as file:
            text = file.read()
        numas = {line[1]: line[2:] for line in lines if line[0] == "numa"}
        for line in devices:
            if text.count('pci_busid="%s"' % line[1]) > 1:  # in files that were put together
                continue
            near = self.calc(path, "pci=" + line[1], "--po", "-I", "numa")
            alike = {tuple(numas[number]) for number in near.split(",")} if near else ()  # memories of the same CPUs
            self.assertIn(line[3], near.split(",") if len(alike) == 1 else ["-1"], (path, line, near))
            for name in line[4:]:
                if sum(name in device[4:] for device in devices) == 1:
                    self.assertEqual(self.calc(path, "os=" + name, "--po", "-I", "numa"), near, (path, name))

    def latencies(self, path):
        """The firmware's table as lstopo shows it; None: there is none of NUMA nodes."""
        done = subprocess.run(["lstopo-no-graphics", "--disallowed", "-i", path, "--distances", "-p"], stdout=subprocess.PIPE,
                              check=True, stderr=subprocess.DEVNULL, timeout=30)
        lines = done.stdout.decode().splitlines()
        heads = [at for at, line in enumerate(lines) if re.search(r"name (NUMALatency|\(null\)) kind 5\) .* NUMANodes", line)]
        if not heads:
            return None
        count = int(re.search(r"between (\d+) NUMANodes", lines[heads[0]]).group(1))
        rows = (line.split() for line in lines[heads[0] + 2:heads[0] + 2 + count])
        return {int(row[0]): [int(float(value)) for value in row[1:]] for row in rows}

    @unittest.skipUnless(os.environ.get("MPIWATCH_HWLOC_XMLS"), "MPIWATCH_HWLOC_XMLS names no folder of XML files")
    def test_a_folder_of_machines(self):
        """By hand, for XML files that are not ours to keep, as hwloc's own tests have."""
        folder, counts = os.environ["MPIWATCH_HWLOC_XMLS"], {}
        for name in sorted(os.listdir(folder)):
            outcome, path = "equal", os.path.join(folder, name)
            if "hwloc 1," in " ".join(self.show(path)[0]):  # hwloc rewrites it
                outcome, old, path = "equal, rewritten", path, os.path.join(self.folder, name)
                subprocess.run(["lstopo-no-graphics", "-i", old, "--whole-io", "--of", "xml", "-f", path], check=False,
                               timeout=60, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            shown, older = self.show(path), os.path.join(self.folder, "older-" + name)
            with open(path, encoding="utf-8") as file, open(older, "w", encoding="utf-8") as out:
                out.write(file.read().replace('version="3.0"', 'version="2.0"'))  # what hwloc 2 can read of it
            path = older
            if subprocess.run(["lstopo-no-graphics", "-i", path, "--of", "console"], check=False, timeout=60,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
                outcome = "refused by this hwloc"
            else:
                with self.subTest(name):
                    self.against_hwloc(path, shown)
                    said = self.latencies(path)
                    order = [int(line[1]) for line in shown if line[0] == "numa"]
                    slit = {order[int(line[1])]: dict(zip(order, map(int, line[2:]))) for line in shown if line[0] == "slit"}
                    said = said and {a: dict(zip(said, row)) for a, row in said.items()}
                    self.assertEqual(slit, said or {})
            counts[outcome] = counts.get(outcome, 0) + 1
        print("\n%s: %s" % (folder, ", ".join("%d %s" % (count, what) for what, count in sorted(counts.items()))))
        self.assertTrue(counts)

    @unittest.skipUnless(shutil.which("hwloc-calc"), "hwloc-calc is missing")
    def test_equal_to_hwloc(self):
        for name, machine in MACHINES.items():
            self.against_hwloc(self.write(machine.xml(), name + ".xml"))

    @unittest.skipUnless(shutil.which("lstopo-no-graphics"), "lstopo is missing")
    def test_what_lstopo_writes(self):
        """XML of hwloc's own making: of synthetic machines, of this one, and of ours once it went through hwloc."""
        sources = [("-i", text) for text in ("pack:2 core:64 pu:2", "numa:4 l3:2 core:4 pu:2", "pack:1 core:2 pu:1")]
        sources.append(())
        sources += [("-i", self.write(MACHINES[name].xml(), name + ".xml")) for name in ("flat", "switches")]
        for number, source in enumerate(sources):
            path = os.path.join(self.folder, "by-hwloc-%d.xml" % number)
            subprocess.run(["lstopo-no-graphics", *source, "--whole-io", "--of", "xml", "-f", path], check=True, timeout=60,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.against_hwloc(path)

    # --- what is wrong ---

    def test_no_environment_matters(self):
        path = self.write(MACHINES["epyc"].xml())
        plain = self.show(path)
        for name, value in (("HWLOC_XMLFILE", self.write("", "none.xml")), ("HWLOC_SYNTHETIC", "pu:3"),
                            ("HWLOC_COMPONENTS", "synthetic"), ("HWLOC_FSROOT", self.folder),
                            ("HWLOC_DEBUG_CHECK", "1"), ("HWLOC_PLUGINS_PATH", self.folder)):
            self.assertEqual(self.show(path, env={name: value}), plain, name)

    def test_other_text(self):
        self.problem("no XML at all", "nothing in it")
        self.problem("<html><body/></html>", "not a topology")
        self.problem(HEAD + "<topology><object type='Machine'/></topology>", "hwloc 1")
        self.problem(HEAD + '<topology version="2.0"></topology>', "nothing in it")
        self.problem(HEAD + '<topology version="2.0"><object type="Machine" cpuset="0x1"/>', "cut short")
        self.problem(HEAD + "</topology>", "close")
        self.problem(b"\xff\xfe\x00<\x00", "")

    def test_entities_are_not_expanded(self):
        bomb = ('<?xml version="1.0"?>\n<!DOCTYPE topology [<!ENTITY a "aaaaaaaaaa">'
                + "".join('<!ENTITY %s "%s">' % (chr(98 + i), "&%s;" % chr(97 + i) * 10) for i in range(10))
                + ']>\n<topology version="2.0"><object type="Machine" cpuset="&k;"/></topology>')
        self.problem(bomb, "entities")
        outside = '<!DOCTYPE topology [<!ENTITY x SYSTEM "file:///etc/passwd">]><topology version="2.0">&x;</topology>'
        self.problem(outside, "entities")

    def test_too_deep(self):
        depth = 1000000
        self.problem(HEAD + '<topology version="2.0">' + '<object type="Group">' * depth + "</object>" * depth
                     + "</topology>", "too deep")

    def test_too_many(self):
        self.problem(HEAD + '<topology version="2.0"><object type="Machine">'
                     + '<object type="Core" cpuset="0x1"/>' * 300000 + "</object></topology>", "more objects")
        wide = "0x1" + "," * 2000
        self.problem(HEAD + '<topology version="2.0"><object type="Machine">'
                     + '<object type="Core" cpuset="%s"/>' % wide * 10000 + "</object></topology>", "more objects")

    def test_huge_numbers(self):
        huge = "18446744073709551615"
        lines = self.show(self.write(
            HEAD + '<topology version="2.0"><object type="Machine" cpuset="0x3">'
            '<object type="NUMANode" os_index="%s" cpuset="0x1" local_memory="%s9"/>'
            '<object type="NUMANode" os_index="1" cpuset="0xf...f"/>'
            '<object type="Core" cpuset="%s"/><object type="Core" cpuset="0x123456789"/>'
            '<object type="PCIDev" pci_busid="ffffffff:ff:1f.7" pci_type="0207 [15b3"/>'
            '<object type="PCIDev" pci_busid="0000:00:20.0"/></object>'
            '<distances2 type="NUMANode" name="NUMALatency" indexing="os"><indexes length="9">%s 1 </indexes>'
            '<u64values length="99">10 %s 1 10 </u64values></distances2></topology>'
            % (huge, huge, "0x1," * 100000 + "0x1", huge, huge)))
        self.assertEqual(lines[0], ["cpus", "0-1"])
        self.assertEqual([line for line in lines if line[0] == "device"],
                         [["device", "ffffffff:ff:1f.7", "nic", "-1"]])

    def test_cut_anywhere(self):
        text = MACHINES["interleaved"].xml().encode()
        paths = [self.write(text[:at], "cut-%d.xml" % at) for at in range(1, len(text) - 12, 97)]
        for path in paths:
            lines = self.show(path)
            self.assertEqual(lines[0][0], "problem", path)

    def test_changed_anywhere(self):
        chance = random.Random(7)
        whole = MACHINES["switches"].xml().encode()
        paths = []
        for number in range(300):
            text = bytearray(whole)
            for _ in range(chance.randint(1, 20)):
                at = chance.randrange(len(text))
                kind = chance.randrange(4)
                if kind == 0:
                    text[at] = chance.randrange(1, 256)
                elif kind == 1:
                    del text[at:at + chance.randint(1, 400)]
                elif kind == 2:
                    text[at:at] = text[at:at + chance.randint(1, 400)]
                else:
                    text[at:at] = chance.choice((b"<", b">", b'"', b"/>", b"99999999999", b"0xffffffff,", b"&amp;", b"-->"))
            paths.append(self.write(bytes(text) or b"x", "changed-%d.xml" % number))
        self.show(*paths)

    def test_bridges_in_circles(self):
        """A device within a device of the same address is above itself."""
        inner = '<object type="PCIDev" pci_busid="0000:02:00.0" pci_type="0380 [1002:1"/>'
        for address in ("0000:02:00.0", "0000:01:00.0", "0000:02:00.0"):
            inner = '<object type="Bridge" bridge_type="1-1" pci_busid="%s">%s</object>' % (address, inner)
        self.show(self.write(HEAD + '<topology version="2.0"><object type="Machine" cpuset="0x1">%s'
                             '<object type="PCIDev" pci_busid="0000:03:00.0" pci_type="0380 [1002:1"/></object></topology>' % inner))


if __name__ == "__main__":
    unittest.main(verbosity=1)
