# SPDX-License-Identifier: BSD-3-Clause
"""What was tried and failed, with which log lines, and what lay idle."""

from show import ShowTest, b, main

EDOMAIN = (-262, "Invalid resource domain")
CXI = {"provider": "cxi", "domain": "cxi0", "device": "cxi0", "speed": 200 * 10 ** 9,
       "state": "up", "driver": "cxi_ss1"}
TCP = {"provider": "tcp;ofi_rxm", "domain": "eth0"}


class Rank(b.Process):
    def __init__(self, number, size, end=1, init=True, **fields):
        super().__init__(number, size, hint=not init, **fields)
        if init:
            self.world()
        for probe in ("libfabric", "ucx", "sockets"):
            self.choice("probe", probe, "on")
        self.choice("pml", "ob1")
        self.add("MODULES", b.module(3, "/usr/lib/openmpi/mca_mtl_ofi.so", role=1),
                 b.module(4, "/opt/rccl/librccl.so"))
        if end:
            self.finalize(9000, reason=end)
        self.next, self.time = 1, 1100

    def tried(self, call, result=0, words="", library="libfabric", end=True, caller=3, lines=(), **fields):
        start = self.time
        for text in lines:
            self.time += 1
            self.log(self.next * 100 + self.time, text, provider=fields.get("logs", fields.get(
                "provider", "")), time=self.time, library=library)
        fields.pop("logs", None)
        self.time += 10
        self.attempt(self.next, call, result=result, words=words, start=start, library=library,
                     end=self.time if end else 0, caller=caller, **fields)
        self.next += 1
        return self

    def opened_until(self, step, result, words, lines=()):
        """cxi, which fails in one step."""
        self.tried("fi_getinfo", offer=[CXI, TCP])
        for call in ("fi_fabric", "fi_domain", "fi_endpoint", "fi_enable"):
            bad = call == step
            self.tried(call, result if bad else 0, words if bad else "", provider="cxi",
                       domain="cxi0", lines=lines if bad else ["on the way to " + call])
            if bad:
                return self
        return self


class Failures(ShowTest):
    def one(self, *ranks):
        self.show(*ranks)
        self.assertEqual(len(self.failures), 1, self.failures)
        return self.failures[0]

    def test_a_native_provider_on_all_ranks(self):
        lines = ["Failed to allocate CP, ret: -22", "Failed to allocate control TXQ, ret: -28"]
        failure = self.one(*(Rank(number, 3).opened_until("fi_enable", *EDOMAIN, lines)
                             for number in range(3)))
        self.assertEqual(failure, {
            "library": "libfabric", "call": "fi_enable", "words": "Invalid resource domain",
            "provider": "cxi", "domain": "cxi0", "device": "cxi0", "opener": "mca_mtl_ofi.so",
            "result": -262, "speed": 200 * 10 ** 9, "inner": False, "hangs": False, "native": True,
            "silent": False, "weight": "matters", "processes": [0, 1, 2], "log": lines})
        idle = [one for one in self.idle if one["native"]]
        self.assertEqual([(one["provider"], one["device"], one["speed"], one["tried"], one["processes"])
                          for one in idle], [("cxi", "cxi0", 200 * 10 ** 9, True, [0, 1, 2])])

    def test_an_endpoint_that_could_not_be_enabled_is_not_used(self):
        rank = Rank(0, 1).tried("fi_getinfo", offer=[CXI]).tried("fi_endpoint", provider="cxi", endpoint=5)
        rank.endpoint(5, b"", provider="cxi", domain="cxi0", device="cxi0")
        rank.tried("fi_enable", *EDOMAIN, provider="cxi", domain="cxi0", endpoint=5)
        self.one(rank)
        self.assertEqual([(one["provider"], one["tried"]) for one in self.idle], [("cxi", True)])

    def test_each_step(self):
        for step in ("fi_fabric", "fi_domain", "fi_endpoint"):
            failure = self.one(Rank(0, 1).opened_until(step, -22, "Invalid argument", ["bad"]))
            self.assertEqual((failure["call"], failure["weight"], failure["log"]),
                             (step, "matters", ["bad"]))

    def test_lines_that_had_been_logged_before_stand_for_repeated_ones(self):
        rank = Rank(0, 1).opened_until("fi_domain", -22, "Invalid argument", ["bad"])
        rank.tried("fi_fabric", provider="cxi")
        rank.tried("fi_domain", -22, "Invalid argument", provider="cxi", domain="cxi1")
        self.show(rank)
        self.assertEqual([failure["log"] for failure in self.failures],
                         [["bad"], ["on the way to fi_fabric", "bad"]])

    def test_on_one_rank_only(self):
        ranks = [Rank(number, 3) for number in range(3)]
        ranks[1].opened_until("fi_enable", *EDOMAIN)
        self.assertEqual(self.one(*ranks)["processes"], [1])

    def test_failures_that_mean_nothing(self):
        rank = Rank(0, 1)
        rank.tried("fi_getinfo", -61, "No data available", asked="psm2")
        rank.tried("fi_domain", -22, "Invalid argument", provider="tcp", inner=1)
        rank.tried("fi_endpoint", -38, "Function not implemented", provider="verbs")
        rank.tried("fi_endpoint", 0, provider="verbs;ofi_rxm")
        rank.tried("fi_domain", -12, "Cannot allocate memory", provider="cxi", caller=4)
        self.show(rank)
        self.assertEqual([(failure["weight"], failure["provider"], failure["call"], failure["opener"])
                          for failure in self.failures],
                         [("minor", "cxi", "fi_domain", "librccl.so"),
                          ("recovered", "verbs", "fi_endpoint", "mca_mtl_ofi.so"),
                          ("layer", "tcp", "fi_domain", "mca_mtl_ofi.so"),
                          ("nothing", "psm2", "fi_getinfo", "mca_mtl_ofi.so")])

    def test_other_results_are_other_failures(self):
        ranks = [Rank(0, 3).opened_until("fi_enable", *EDOMAIN),
                 Rank(1, 3).opened_until("fi_enable", -12, "Cannot allocate memory"),
                 Rank(2, 3).opened_until("fi_enable", *EDOMAIN)]
        self.show(*ranks)
        self.assertEqual([(failure["result"], failure["processes"]) for failure in self.failures],
                         [(-262, [0, 2]), (-12, [1])])

    def test_a_hang_in_init(self):
        rank = Rank(0, 2, end=4, init=False)
        rank.tried("fi_getinfo", offer=[CXI]).tried("fi_domain", provider="cxi", end=False,
                                                    lines=["waiting for the NIC"])
        failure = self.one(rank)
        self.assertEqual((failure["hangs"], failure["weight"], failure["call"], failure["log"]),
                         (True, "matters", "fi_domain", ["waiting for the NIC"]))

    def test_who_sits_in_a_call_when_another_ends_the_job_does_not_hang(self):
        zero, one = Rank(0, 2, end=0, init=False), Rank(1, 2, end=0, init=False)
        zero.opened_until("fi_enable", *EDOMAIN)
        one.tried("fi_getinfo", end=False)
        self.show(zero, one)
        self.assertEqual([(failure["call"], failure["weight"], failure["processes"])
                          for failure in self.failures],
                         [("fi_enable", "matters", [0]), ("fi_getinfo", "minor", [1])])

    def test_a_record_that_was_lost_is_no_hang(self):
        self.show(Rank(0, 1).tried("fi_domain", provider="cxi", end=False))
        self.assertEqual(self.failures, [])

    def test_an_abort_in_init(self):
        rank = Rank(0, 2, end=3, init=False)
        failure = self.one(rank.tried("fi_getinfo", -61, "No data available", asked="cxi"))
        self.assertEqual((failure["provider"], failure["weight"]), ("cxi", "matters"))

    def test_ucx(self):
        rank = Rank(0, 1)
        rank.tried("ucp_init", -12, "No such device", library="ucx", lines=["no usable transports"])
        failure = self.one(rank)
        self.assertEqual((failure["library"], failure["weight"], failure["log"], failure["native"]),
                         ("ucx", "matters", ["no usable transports"], False))
        rank.tried("ucp_init", 0, library="ucx")
        self.assertEqual(self.one(rank)["weight"], "recovered")


class Silent(ShowTest):
    """A provider that fails inside fi_getinfo is just not among the offers."""

    def rank(self, number=0, provider="cxi", level="warn", result=0, offer=(TCP,), **fields):
        rank = Rank(number, 2, **fields)
        rank.log(1, "cxil_get_device_list returned: -22", provider=provider, time=1105, level=level)
        return rank.tried("fi_getinfo", result, "No data available" if result else "", offer=offer)

    def test_with_its_device(self):
        ranks = [self.rank(number) for number in range(2)]
        ranks[0].ports(3, 8000, [{"name": "cxi0", "kind": "cxi"}])  # of the node of both
        self.show(*ranks)
        self.assertEqual(len(self.failures), 1)
        failure = self.failures[0]
        self.assertEqual((failure["call"], failure["provider"], failure["silent"], failure["weight"],
                          failure["result"], failure["processes"], failure["native"], failure["log"]),
                         ("fi_getinfo", "cxi", True, "matters", 0, [0, 1], True,
                          ["cxil_get_device_list returned: -22"]))

    def test_asked_for(self):
        for key in ("FI_PROVIDER", "OMPI_MCA_mtl_ofi_provider_include"):
            rank = self.rank(result=-61)
            rank.add("ENVIRONMENT", fact=[{"section": "env", "key": key, "value": "cxi,efa"}])
            self.show(rank)
            self.assertEqual([(failure["silent"], failure["weight"], failure["words"])
                              for failure in self.failures],
                             [(True, "matters", "No data available"),
                              (False, "nothing", "No data available")])

    def test_excluded(self):
        rank = self.rank()
        rank.add("ENVIRONMENT", fact=[{"section": "env", "key": "FI_PROVIDER", "value": "^efa,cxi"}])
        self.show(rank)
        self.assertEqual([failure["weight"] for failure in self.failures], ["minor"])

    def test_nothing_shows_that_it_is_there(self):
        rank = self.rank()  # libraries of providers are loaded wherever a stack has them
        self.show(rank.add("MODULES", b.module(9, "/opt/prov/libcxi-fi.so")))
        self.assertEqual([failure["weight"] for failure in self.failures], ["minor"])
        rank = self.rank(provider="efa").choice("device", "/dev/infiniband/uverbs0", "open")
        self.show(rank.ports(3, 8000, [{"name": "mlx5_0", "kind": "infiniband"}]))
        self.assertEqual([failure["weight"] for failure in self.failures], ["minor"])

    def test_a_device_of_it(self):
        self.show(self.rank().choice("device", "/dev/cxi0", "present"))
        self.assertEqual([failure["weight"] for failure in self.failures], ["matters"])

    def test_lines_that_are_no_failure(self):
        for rank in (self.rank(level="info"), self.rank(provider="core"), self.rank(provider="ofi_rxm"),
                     self.rank(offer=(TCP, CXI)), self.rank().tried("fi_domain", provider="cxi")):
            self.show(rank)
            self.assertEqual(self.failures, [])


class Idle(ShowTest):
    def test_offers(self):
        ranks = []
        for number in range(2):
            rank = Rank(number, 2)
            rank.tried("fi_getinfo", offer=[CXI, TCP, {"provider": "tcp", "domain": "lo"},
                                            {"provider": "sockets", "domain": "eth0"}])
            rank.endpoint(1, b"\1", provider="tcp;ofi_rxm", domain="eth0", format=15)
            rank.endpoint(2, b"\2", provider="tcp", domain="lo", inner=1, format=15)
            ranks.append(rank)
        self.show(*ranks)
        self.assertEqual(self.idle, [
            {"library": "libfabric", "provider": "cxi", "device": "cxi0", "driver": "cxi_ss1",
             "state": "up", "speed": 200 * 10 ** 9, "native": True, "tried": False,
             "processes": [0, 1]},
            {"library": "libfabric", "provider": "sockets", "device": "eth0", "driver": "",
             "state": "", "speed": 0, "native": False, "tried": False, "processes": [0, 1]}])

    def test_resources_of_ucx(self):
        offers = [{"provider": p, "device": d} for p, d in (
            ("tcp", "eth0"), ("rc_mlx5", "mlx5_0:1"), ("ud_mlx5", "mlx5_0:1"), ("rc_mlx5", "mlx5_1:1"))]
        rank = Rank(0, 1).tried("ucp_init", library="ucx", offer=offers)
        rank.endpoint(1, b"12345678", [{"address": b"87654321", "sends": 1, "lane": [
            {"use": "am", "transport": "rc_mlx5", "device": "mlx5_0:1"}]}], library="ucx")
        self.show(rank)
        self.assertEqual([(one["provider"], one["device"], one["native"]) for one in self.idle],
                         [("rc_mlx5", "mlx5_1:1", True), ("tcp", "eth0", False)])

    def test_no_lanes_no_verdict(self):
        rank = Rank(0, 1).tried("ucp_init", library="ucx", offer=[{"provider": "tcp", "device": "lo"}])
        self.show(rank)
        self.assertEqual(self.idle, [])

    def ports(self, *rows):
        return [{"name": name, "kind": kind, "rate": rate, "state": state}
                for name, kind, rate, state in rows]

    def test_devices_of_the_node(self):
        ranks = [Rank(0, 2, host="node1"), Rank(1, 2, host="node2")]
        a, c = ("10.0.0.1", 1), ("10.0.0.2", 2)
        ranks[0].sockets(3, 8000, [b.connection(a, c, sent=500, interface="eth0")])
        ranks[1].sockets(3, 8000, [b.connection(c, a, sent=1, interface="eth0")])
        for rank in ranks:
            rank.ports(3, 8000, self.ports(
                ("lo", "net", 0, "unknown"), ("eth0", "net", 10 ** 9, "up"),
                ("eth1", "net", 10 ** 10, "up"), ("eth2", "net", 10 ** 10, "down"),
                ("eth3", "net", 10 ** 8, "up"), ("mlx5_0", "infiniband", 2 * 10 ** 11, "4: ACTIVE"),
                ("mlx5_1", "infiniband", 2 * 10 ** 11, "1: DOWN")))
        self.show(*ranks)
        self.assertEqual([(one["library"], one["provider"], one["device"], one["native"], one["speed"],
                           one["processes"]) for one in self.idle],
                         [("", "infiniband", "mlx5_0", True, 2 * 10 ** 11, [0, 1]),
                          ("", "net", "eth1", False, 10 ** 10, [0, 1])])

    def test_a_device_that_is_in_use(self):
        rank = Rank(0, 1)
        rank.endpoint(1, b"\1", provider="verbs;ofi_rxm", domain="mlx5_0-xrc", format=15)
        rank.ports(3, 8000, self.ports(("mlx5_0", "infiniband", 10 ** 11, "4: ACTIVE")))
        self.show(rank)
        self.assertEqual(self.idle, [])

    def test_tcp_over_the_interface_of_a_fabric_leaves_the_fabric_idle(self):
        rank, other = Rank(0, 2), Rank(1, 2, host="node2")
        a, c = ("10.0.0.1", 1), ("10.0.0.2", 2)
        rank.sockets(3, 8000, [b.connection(a, c, sent=500, interface="ib0")])
        other.sockets(3, 8000, [b.connection(c, a, sent=1, interface="ib0")])
        rank.ports(3, 8000, self.ports(("ib0", "net", 2 * 10 ** 11, "up"),
                                       ("mlx5_0", "infiniband", 2 * 10 ** 11, "4: ACTIVE")))
        self.show(rank, other)
        self.assertEqual([one["device"] for one in self.idle], ["mlx5_0"])

    def test_one_node_has_no_use_for_its_ethernet(self):
        rank = Rank(0, 1).ports(3, 8000, self.ports(("eth0", "net", 10 ** 10, "up")))
        self.show(rank)
        self.assertEqual(self.idle, [])

    def test_facts_where_nobody_read_the_ports(self):
        rank = Rank(0, 1)
        rank.add("ENVIRONMENT", node=1, fact=[
            {"section": "infiniband", "key": "mlx5_0.port1.state", "value": "4: ACTIVE"},
            {"section": "infiniband", "key": "mlx5_0.port1.rate", "value": "200 Gb/sec (4X HDR)"},
            {"section": "infiniband", "key": "mlx5_1.port1.state", "value": "1: DOWN"}])
        self.show(rank)
        self.assertEqual([(one["device"], one["speed"]) for one in self.idle], [("mlx5_0", 2 * 10 ** 11)])

    def test_choices_and_coverage(self):
        rank = Rank(0, 1).choice("btl", "vader", "loaded").choice("btl", "self", "loaded")
        rank.choice("shm", "none", "default").choice("shm", "SYSV", "mapped").choice("mtl", "ofi")
        rank.choice("probe", "ucx", "partly", "an older version")
        shown = self.show(rank)
        self.assertEqual(shown["choices"], [{"pml": "ob1", "mtl": "ofi", "netmod": "", "shm": "none",
                                             "btls": "self,vader"}])
        self.assertIn({"probe": "ucx", "how": "partly", "why": "an older version", "processes": [0]},
                      shown["coverage"])


if __name__ == "__main__":
    main()
