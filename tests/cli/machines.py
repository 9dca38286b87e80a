# SPDX-License-Identifier: BSD-3-Clause
"""Machines for tests: what hwloc and the kernel would say of them, made from a short description.

    epyc = Machine(packages=2, numas=4, cores=16, l3=2, nics={6: ["mlx5_0 ib0"]}, gpus={0: 2})
    epyc.xml()           hwloc's XML
    epyc.records()       fields of a TOPOLOGY chunk: slit, pci, gpu, link
"""

import json


def mask(cpus):
    """A set of CPUs as hwloc writes it."""
    cpus = set(cpus)
    words = max(cpus, default=0) // 32 + 1
    return ",".join("0x%08x" % sum(1 << bit for bit in range(32) if word * 32 + bit in cpus)
                    for word in reversed(range(words)))


def runs(cpus):
    """The same as pairs of first and count."""
    out = []
    for cpu in sorted(cpus):
        if out and out[-1] + out[-2] == cpu:
            out[-1] += 1
        else:
            out += [cpu, 1]
    return out


def element(tag, inner=(), **attributes):
    words = "".join(' %s="%s"' % (key, value) for key, value in attributes.items())
    return ["<%s%s>" % (tag, words), *inner, "</%s>" % tag] if inner else ["<%s%s/>" % (tag, words)]


def numbers(tag, values):
    """hwloc wants the numbers of a matrix right behind their tag."""
    text = "".join("%d " % value for value in values)
    return ['<%s length="%d">%s</%s>' % (tag, len(text), text, tag)]


# What MI250X nodes have: GPU dies of a card share 4 links, others 1, 2 or none.
GCD_LINKS = {(0, 1): 4, (2, 3): 4, (4, 5): 4, (6, 7): 4, (0, 2): 1, (1, 3): 2, (1, 5): 1, (0, 6): 2,
             (2, 4): 2, (3, 7): 1, (4, 6): 1, (5, 7): 2}
LINK_MBS = 50000


class Machine:
    """packages × numas × cores (of each NUMA node) × threads; l3 caches of each NUMA node. nics: {NUMA: [names]},
    gpus: {NUMA: how many}, each of them below a host bridge of its own NUMA node, or, with switch=True, all of a
    NUMA node below one PCIe switch. slit: function of two NUMA nodes; None: the firmware has no table."""

    def __init__(self, packages=1, numas=1, cores=2, threads=1, l3=1, nics=None, gpus=None, slit=None,
                 switch=False, links=None, speed=(16000, 16000), width=(16, 16), threads_last=True, gpu_names=True):
        self.packages, self.numas, self.cores, self.threads, self.l3 = packages, numas, cores, threads, l3
        self.nics, self.gpus, self.slit, self.switch = nics or {}, gpus or {}, slit, switch
        self.links, self.speed, self.width = links or {}, speed, width
        self.threads_last = threads_last  # second hardware threads are numbered behind all first ones
        self.gpu_names = gpu_names  # False: no driver is there that would give them any
        self.gp = 0

    # --- processors ---

    def node_count(self):
        return self.packages * self.numas

    def core_cpus(self, core):
        total = self.node_count() * self.cores
        return [core + total * t if self.threads_last else core * self.threads + t
                for t in range(self.threads)]

    def cpus(self, node=None):
        """Of a NUMA node; of all."""
        nodes = range(self.node_count()) if node is None else [node]
        return sorted(cpu for n in nodes for core in range(n * self.cores, (n + 1) * self.cores)
                      for cpu in self.core_cpus(core))

    def package_cpus(self, package):
        return sorted(cpu for n in range(package * self.numas, (package + 1) * self.numas)
                      for cpu in self.cpus(n))

    def package(self, node):
        return node // self.numas

    # --- devices: (address, class, vendor, names) by NUMA node ---

    def devices(self, node):
        out = [("0000:%02x:00.%d" % (0x10 * node + 1, i), 0x0207, 0x15b3, names)
               for i, names in enumerate(self.nics.get(node, []))]
        first = sum(count for n, count in self.gpus.items() if n < node)
        out += [("0000:%02x:00.0" % (0x10 * node + 4 + i), 0x0380, 0x1002,
                 "card%d renderD%d" % (first + i, 128 + first + i) if self.gpu_names else "") for i in range(self.gpus.get(node, 0))]
        return out

    def gpu_addresses(self):
        return [address for node in range(self.node_count())
                for address, kind, _, _ in self.devices(node) if kind == 0x0380]

    # --- hwloc's XML ---

    def object(self, what, cpus=None, inner=(), **more):
        self.gp += 1
        sets = {}
        if cpus is not None:
            nodes = {n for n in range(self.node_count()) if set(self.cpus(n)) & set(cpus)}
            sets = {"cpuset": mask(cpus), "complete_cpuset": mask(cpus), "nodeset": mask(nodes),
                    "complete_nodeset": mask(nodes)}
        return element("object", inner, type=what, **more, **sets, gp_index=self.gp)

    def xml_device(self, address, kind, vendor, names):
        inner = []
        for name in names.split():
            what = 3 if name.startswith("mlx") else 1 if kind == 0x0380 else 2
            info = element("info", name="Address", value="00:11:22:33:44:55") if what == 2 else ()
            inner += self.object("OSDev", None, info, name=name, osdev_type=what)
        return self.object("PCIDev", None, inner, pci_busid=address,
                           pci_type="%04x [%04x:1234] [0000:0000] 00" % (kind, vendor),
                           pci_link_speed="31.507692")

    def xml_io(self, node):
        devices = self.devices(node)
        if not devices:
            return []
        first, last = 0x10 * node, 0x10 * node + 15
        inner = [line for device in devices for line in self.xml_device(*device)]
        if self.switch:
            inner = self.object("Bridge", None, inner, bridge_type="1-1", depth=1, pci_type="0604 [1000:c010] [0000:0000] 00",
                                bridge_pci="0000:[%02x-%02x]" % (first + 1, last),
                                pci_busid="0000:%02x:01.0" % first, pci_link_speed="31.507692")
        return self.object("Bridge", None, inner, bridge_type="0-1", depth=0,
                           bridge_pci="0000:[%02x-%02x]" % (first, last))

    def xml_core(self, core):
        pus = [line for cpu in self.core_cpus(core) for line in self.object("PU", [cpu], os_index=cpu)]
        return self.object("Core", self.core_cpus(core), pus, os_index=core)

    def xml_numa(self, node):
        each = self.cores // self.l3
        inner = self.object("NUMANode", self.cpus(node), os_index=node, local_memory=64 << 30)
        for cache in range(self.l3):
            cores = range(node * self.cores + cache * each, node * self.cores + (cache + 1) * each)
            cpus = sorted(cpu for core in cores for cpu in self.core_cpus(core))
            inner += self.object("L3Cache", cpus, [line for core in cores for line in self.xml_core(core)],
                                 cache_size=32 << 20, depth=3, cache_linesize=64, cache_associativity=16,
                                 cache_type=0)
        inner += self.xml_io(node)
        if self.numas == 1:
            return inner
        return self.object("Group", self.cpus(node), inner, kind=0, subkind=0)

    def xml_distances(self):
        nodes = range(self.node_count())
        if not self.slit or len(nodes) < 2:
            return []
        values = [self.slit(a, b) for a in nodes for b in nodes]
        return element("distances2", numbers("indexes", nodes) + numbers("u64values", values),
                       type="NUMANode", nbobjs=len(nodes), kind=5, name="NUMALatency", indexing="os")

    def xml(self):
        self.gp = 0
        inner = []
        for package in range(self.packages):
            numas = [line for node in range(package * self.numas, (package + 1) * self.numas)
                     for line in self.xml_numa(node)]
            inner += self.object("Package", self.package_cpus(package), numas, os_index=package)
        machine = self.object("Machine", self.cpus(), inner, os_index=0, allowed_cpuset=mask(self.cpus()),
                              allowed_nodeset=mask(range(self.node_count())))
        lines = element("topology", machine + self.xml_distances(), version="2.0")
        return ('<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'
                + "\n".join(lines) + "\n")

    # --- what the kernel says ---

    def records(self):
        fields = {"slit": [], "pci": [], "gpu": [], "link": []}
        nodes = range(self.node_count())
        for node in nodes:
            fields["slit"].append({"node": node, "cpus": runs(self.cpus(node)), "memory": 64 << 30,
                                   **({"distance": [self.slit(node, to) for to in nodes]} if self.slit else {})})
            for address, kind, vendor, names in self.devices(node):
                fields["pci"].append({"address": address, "class": kind << 8, "vendor": vendor, "device": 0x1234,
                                      "node": node + 1, "speed": self.speed[0], "speed_max": self.speed[1],
                                      "width": self.width[0], "width_max": self.width[1], "names": names,
                                      "cpus": runs(self.cpus(node))})
        for number, address in enumerate(self.gpu_addresses()):
            fields["gpu"].append({"node": number + self.packages, "pci": address, "gpu_id": 1000 + number,
                                  "name": "gfx90a"})
        for (a, b), count in self.links.items():
            for one, two in ((a, b), (b, a)):
                fields["link"].append({"from": one + self.packages, "to": two + self.packages, "type": 11,
                                       "weight": 15, "min_bandwidth": LINK_MBS,
                                       "max_bandwidth": count * LINK_MBS})
        return {name: values for name, values in fields.items() if values}


def near_and_far(same, socket, other):
    """The simplified table: 10 for itself, and one number for each of the rest."""
    return lambda a, b: 10 if a == b else socket if a // 4 == b // 4 else other


def four_values(a, b):
    """10, 16 in the quadrant, 22 and 28 across, by how far the quadrants are apart."""
    if a == b:
        return 10
    if a // 4 == b // 4:
        return 16
    return 22 if a % 4 == b % 4 else 28


GPUS_OF_EPYC = {0: 2, 2: 2, 4: 2, 7: 2}


def epyc(slit=near_and_far(10, 12, 32), **more):
    """Two sockets of four NUMA nodes, one card at NUMA node 6, eight GPU dies."""
    options = {"packages": 2, "numas": 4, "cores": 16, "l3": 2, "nics": {6: ["mlx5_0 ib0"]},
               "gpus": GPUS_OF_EPYC, "links": GCD_LINKS}
    return Machine(**{**options, **more}, slit=slit)


MACHINES = {
    "epyc": epyc(),
    "epyc_four_values": epyc(slit=four_values),
    "flat": Machine(packages=2, numas=2, cores=8, l3=1, nics={0: ["mlx5_0 ib0"], 2: ["mlx5_1 ib1"]},
                    slit=lambda a, b: 10 if a == b else 20),
    "desktop": Machine(cores=4, threads=2),
    "switches": Machine(packages=2, cores=8, threads=2, switch=True, nics={0: ["mlx5_0 ib0"], 1: ["mlx5_1 ib1"]},
                        gpus={0: 2, 1: 2}, slit=lambda a, b: 10 if a == b else 21),
    # The facts of 16amd64-8n2c-cpusets.xml of hwloc's own tests (open-mpi/hwloc, tests/hwloc/xml).
    "eight_sockets": Machine(packages=8, cores=2, slit=lambda a, b: 10 if a == b else 20),
    "interleaved": Machine(packages=2, cores=4, threads=2, threads_last=False, nics={1: ["eth0", "eth1"]},
                           slit=lambda a, b: 10 if a == b else 21),
}

if __name__ == "__main__":
    print(json.dumps(sorted(MACHINES)))
