# SPDX-License-Identifier: BSD-3-Clause
"""Findings: each rule fires on what it is for, says the facts, and is silent on neighbours and healthy jobs."""

import build_trace as b
import fabric_jobs as f
import sums
from build_trace import job
from cli import CliTest, main
from fabric_jobs import MEBI, all_pairs, exchange, facts, finish, mpich, openmpi

TWO_NODES = ("node1", "node2")


class Findings(CliTest):
    def found(self, ranks):
        """The findings of a job, and the text that shows them."""
        trace = b.write(self.path("job.mpiw"), job(), *ranks)
        findings = self.report(trace)["findings"]
        shown = self.run_cli("report", trace).out
        self.assert_fits(shown)
        self.shown = " ".join(shown.split())
        order = ["critical", "warning", "notice"]
        severities = [order.index(finding["severity"]) for finding in findings]
        self.assertEqual(severities, sorted(severities))
        for finding in findings:
            self.assertEqual(finding["link"], "docs/findings.md#" + finding["id"])
            self.assertTrue(finding["evidence"])
            self.assertTrue(finding["advice"])
            self.assertIn("%s %s: " % (finding["severity"].upper(), finding["id"]), self.shown)
        return findings

    def only(self, ranks, ident, severity):
        findings = self.found(ranks)
        self.assertEqual([(one["id"], one["severity"]) for one in findings], [(ident, severity)],
                         findings)
        return findings[0]

    def none(self, ranks):
        self.assertEqual(self.found(ranks), [])
        self.assertNotIn("Findings", self.shown)

    def says(self, finding, *facts_wanted):
        whole = "\n".join([finding["title"], *finding["evidence"], finding["cost"] or "",
                           finding["advice"]])
        for fact in facts_wanted:
            self.assertIn(fact, whole)


def two_over_tcp(hosts=TWO_NODES, size=MEBI, count=100, **more):
    """Two ranks whose messages go over TCP."""
    ranks = [openmpi(rank, 2, host=hosts[rank], btls=("self", "tcp"), **more) for rank in (0, 1)]
    exchange(ranks, size=size, count=count)
    f.sockets(ranks, all_pairs(ranks, size * count + 20 * count))
    return finish(ranks)


class Healthy(Findings):
    def test_shared_memory(self):
        ranks = [openmpi(rank, 4) for rank in range(4)]
        exchange(ranks)
        f.sockets(ranks, {})
        self.none(finish(ranks))

    def test_single_copies(self):
        ranks = [openmpi(rank, 2) for rank in range(2)]
        exchange(ranks)
        for rank in ranks:
            rank.cma([{"pid": 1001 - rank.rank, "reads": 100, "read": 100 * MEBI}])
        self.none(finish(ranks))

    def test_native_provider(self):
        for hosts in (TWO_NODES, ("node1", "node1")):
            ranks = [openmpi(rank, 2, host=hosts[rank], pml="cm", mtl="ofi", btls=())
                     for rank in (0, 1)]
            exchange(ranks)
            for rank in ranks:
                f.offer(rank)
            f.fabric(ranks, all_pairs(ranks, 100 * MEBI))
            f.sockets(ranks, {})
            facts(ranks[0], ("parameter", "OMPI_MCA_pml", "^ucx", f.DEBIAN + ":75"))
            self.none(finish(ranks))

    def test_tcp_where_nothing_better_is(self):
        ranks = two_over_tcp()
        for rank in ranks:
            f.node_ports(rank, f.port("eth0", "net", f.GIGABIT), f.port("lo", "net", 0, "unknown"))
        self.none(ranks)

    def test_an_old_trace(self):
        ranks = [b.Process(rank, 2).world() for rank in range(2)]
        exchange(ranks)
        self.none(finish(ranks))

    def test_nothing_at_all(self):
        self.none([])


def fallback_job(ranks, failing=None, **failure):
    """A provider fails, TCP is used."""
    for rank in ranks if failing is None else [ranks[i] for i in failing]:
        f.modules(rank, f.OFI, "/opt/fabric/libcxi-fi.so")
        if failure.get("call") != "fi_getinfo":
            f.offer(rank)
        f.log(rank)
        f.fail(rank, **failure)
    return ranks


class Fallback(Findings):
    def test_all_ranks(self):
        ranks = fallback_job(two_over_tcp())
        finding = self.only(ranks, "fallback", "critical")
        self.assertEqual((finding["ranks"], finding["processes"]), ("0-1", 2))
        self.says(finding, "Fallback on 2 of 2 ranks: libfabric provider cxi (domain cxi0) was "
                  "tried first; fi_enable returned -262 (Invalid resource domain)",
                  "ranks 0-1: fi_enable returned -262", "called by mca_mtl_ofi.so", *f.LOG,
                  "/opt/fabric/libcxi-fi.so (build-id 0202",
                  "Open MPI then used PML ob1 with BTLs", "self,tcp", "200 MiB in 200 messages of "
                  "2 pairs went over tcp", "pair 0 -> 1 reached at least 1.05 of 25.0 GB/s (cxi0's line rate) over tcp",
                  "mpirun --mca pml cm")
        self.assertEqual(finding["cost"], "large messages reached at least 4.2 % of the line rate (1.05 of 25.0 GB/s) over tcp")

    def test_sums_only(self):
        """Of messages whose times nobody knows there is no figure."""
        ranks = fallback_job(two_over_tcp())
        finding = self.only([sums.Summed(rank) for rank in ranks], "fallback", "critical")
        self.says(finding, "200 MiB in 200 messages of 2 pairs went over tcp")
        self.assertNotIn("reached", "\n".join(finding["evidence"]))
        self.assertEqual(finding["cost"], "200 MiB went over tcp")

    def test_every_call(self):
        for call in ("fi_fabric", "fi_domain", "fi_endpoint"):
            ranks = fallback_job(two_over_tcp(), call=call, result=-12,
                                 words="Cannot allocate memory")
            finding = self.only(ranks, "fallback", "critical")
            self.says(finding, "%s returned -12 (Cannot allocate memory)" % call)

    def test_getinfo(self):
        """It is not offered, and only what it logged tells that it was there."""
        ranks = two_over_tcp()
        for rank in ranks:
            f.modules(rank, f.OFI, "/opt/fabric/libcxi-fi.so")
            rank.attempt(1, "fi_getinfo", result=-61, words="No data available", asked="cxi",
                         caller=1, start=1300, end=1400)
            f.log(rank)
        finding = self.only(ranks, "fallback", "critical")
        self.says(finding, "provider cxi", "fi_getinfo", "No data available", *f.LOG)

    def test_one_rank_only(self):
        ranks = [openmpi(0, 3, host="node1"), openmpi(1, 3, host="node2"),
                 openmpi(2, 3, host="node3")]
        exchange(ranks)
        f.sockets(ranks, all_pairs(ranks, 102 * MEBI))
        finding = self.only(fallback_job(finish(ranks), failing=[1]), "fallback", "critical")
        self.assertEqual(finding["ranks"], "1")
        self.says(finding, "Fallback on 1 of 3 ranks", "it did not fail on ranks 0,2")

    def test_the_job_ended_in_init(self):
        ranks = [openmpi(rank, 2, host=TWO_NODES[rank], hint=True) for rank in range(2)]
        for rank in ranks:
            rank.finalize(5000, reason=2, code=1)
        finding = self.only(fallback_job(ranks, call="fi_domain"), "fallback", "critical")
        self.says(finding, "The job ended in MPI_Init on 2 of 2 ranks, after libfabric provider "
                  "cxi (domain cxi0) failed: fi_domain returned -262",
                  "rank 0 left by exit before MPI_Init returned")

    def test_processes_without_a_rank(self):
        ranks = [openmpi(rank, 0, hint=True) for rank in range(2)]
        for rank in ranks:
            rank.rank_hint = None
        chunks = []
        for rank in fallback_job(ranks):
            rank.rank = -1  # no hint of the launcher
            rank.extra = [part for part in rank.extra]
            rank.finalize(5000, reason=4)
            chunks.append(rank)
        finding = self.only(chunks, "fallback", "critical")
        self.says(finding, "2 of 2 processes", "node1 pid")

    def test_it_hangs(self):
        ranks = [openmpi(rank, 2, hint=True) for rank in range(2)]
        for rank in ranks:
            rank.finalize(5000, reason=4)
            rank.open_call("MPI_Init", 1000)
        finding = self.only(fallback_job(ranks, end=0, result=0, words=""), "fallback", "critical")
        self.says(finding, "The job did not come out of MPI_Init on 2 of 2 ranks: fi_enable of "
                  "libfabric provider cxi (domain cxi0) had not returned",
                  "died before MPI_Init returned")

    def test_shared_memory_instead(self):
        ranks = [openmpi(rank, 2) for rank in range(2)]
        exchange(ranks)
        f.sockets(ranks, {})
        finding = self.only(fallback_job(finish(ranks)), "fallback", "warning")
        self.says(finding, "went over vader", "between nodes it would be felt")

    def test_within_a_node_it_is_one_finding(self):
        finding = self.only(fallback_job(two_over_tcp(hosts=("node1", "node1"), size=8)),
                            "fallback", "critical")
        self.says(finding, "the line rate of cxi0 is 25.0 GB/s")

    def test_many_log_lines(self):
        ranks = two_over_tcp()
        for rank in ranks:
            f.modules(rank, f.OFI)
            f.log(rank, ["line %d" % i for i in range(40)], time=1301)
            f.fail(rank)
        finding = self.only(ranks, "fallback", "critical")
        quoted = [fact for fact in finding["evidence"] if "logged on" in fact]
        self.assertEqual(len(quoted), 20)
        self.says(finding, "20 more log lines of it")

    def test_ucx_as_a_whole(self):
        ranks = two_over_tcp()
        for rank in ranks:
            f.modules(rank, "/usr/lib/openmpi/mca_pml_ucx.so", "/usr/lib/libucp.so.0")
            facts(rank, ("env", "UCX_TLS", "rc"))
            rank.attempt(1, "ucp_init", library="ucx", result=-16, words="No such device",
                         caller=1, start=1300, end=1400)
        finding = self.only(ranks, "fallback", "warning")
        self.says(finding, "UCX was tried first; ucp_init returned -16 (No such device)",
                  "UCX_TLS=rc (environment)", "Most often UCX_TLS names what is not there",
                  "--mca pml ucx")

    def ucx_asked_for(self, line, tls, transport, device):
        ranks = [mpich(rank, 2) for rank in range(2)]
        exchange(ranks)
        for rank in ranks:
            facts(rank, ("env", "UCX_TLS", tls))
            rank.log(1, line, library="ucx", level="WARN", function="ucp_report_unavailable")
            peer = (77 + 1 - rank.rank).to_bytes(8, "little")
            rank.endpoint(1, (77 + rank.rank).to_bytes(8, "little"), library="ucx", peer=[
                {"address": peer, "sends": 100, "sent": 100 * MEBI,
                 "lane": [{"use": "am", "transport": transport, "device": device}]}])
        return finish(ranks)

    def test_ucx_goes_on_without(self):
        line = "transport%s not available, please use one or more of: posix, self, 'tcp'"
        ranks = self.ucx_asked_for(line % " 'rc' is", "rc,tcp,self", "tcp", "lo")
        finding = self.only(ranks, "fallback", "critical")
        self.says(finding, "Fallback on 2 of 2 ranks: UCX was asked for rc, which is not available",
                  "UCX_TLS=rc,tcp,self (environment)", "200 MiB")
        ranks = self.ucx_asked_for(line % "s 'dc','rc' are", "dc,rc,posix", "posix", "memory")
        self.says(self.only(ranks, "fallback", "notice"), "asked for dc, rc")
        ranks = self.ucx_asked_for("network device 'mlx5_0:1' is not available, please use one or "
                                   "more of: 'eth0'(tcp)", "all", "tcp", "lo")
        self.says(self.only(ranks, "fallback", "critical"), "UCX was asked for mlx5_0:1")
        ranks = self.ucx_asked_for(line % " 'knem' is", "knem,posix", "posix", "memory")
        self.none(ranks)
        ranks = self.ucx_asked_for(line % " 'dc' is", "dc,rc", "rc_mlx5", "mlx5_0:1")
        self.only(ranks, "network-inside-node", "warning")  # by the NIC's loopback

    def test_silent_when_it_worked_later(self):
        ranks = [openmpi(rank, 2, host=TWO_NODES[rank], pml="cm", mtl="ofi", btls=())
                 for rank in range(2)]
        exchange(ranks)
        for rank in ranks:
            f.fail(rank, ident=2)
        f.fabric(ranks, all_pairs(ranks, 100 * MEBI))
        self.none(finish(ranks))

    def test_silent_about_questions(self):
        """Nothing fits, and nobody complains: there is no such device."""
        ranks = two_over_tcp()
        for rank in ranks:
            f.modules(rank, f.OFI)
            rank.attempt(1, "fi_getinfo", result=-61, words="No data available", caller=1,
                         start=1300, end=1400)
        self.none(ranks)

    def test_silent_about_emulated_ones(self):
        ranks = two_over_tcp()
        for rank in ranks:
            f.modules(rank, f.OFI)
            f.fail(rank, call="fi_endpoint", provider="tcp;ofi_rxm", domain="eth0")
        self.assertEqual([one for one in self.found(ranks) if one["id"] == "fallback"], [])

    def test_silent_about_layers(self):
        ranks = two_over_tcp()
        for rank in ranks:
            f.modules(rank, "/usr/lib/libfabric.so.1")
            f.fail(rank, inner=1)
        self.none(ranks)

    def test_somebody_else_than_mpi(self):
        ranks = two_over_tcp()
        for rank in ranks:
            f.modules(rank, "/opt/rccl/librccl-net.so")
            f.fail(rank)
        finding = self.only(ranks, "fallback", "notice")
        self.says(finding, "librccl-net.so, not MPI, tried libfabric provider cxi")


class SoftwareProvider(Findings):
    def job(self, offers=True, failing=False, hosts=TWO_NODES, provider="sockets"):
        ranks = [openmpi(rank, 2, host=hosts[rank], pml="cm", mtl="ofi", btls=())
                 for rank in range(2)]
        exchange(ranks)
        for rank in ranks:
            f.modules(rank, f.OFI, "/usr/lib/libfabric.so.1")
            facts(rank, ("env", "FI_PROVIDER", "sockets"))
            if offers:
                f.offer(rank)
            if failing:
                f.fail(rank)
        f.fabric(ranks, all_pairs(ranks, 100 * MEBI), provider=provider, domain="eth0", speed=0)
        return finish(ranks)

    def test_native_one_offered(self):
        finding = self.only(self.job(), "software-provider", "warning")
        self.says(finding, "libfabric used sockets", "2 of 2 ranks", "cxi0", "25.0 GB/s",
                  "200 MiB", "FI_PROVIDER=sockets", "by the environment")

    def test_layered_on_tcp(self):
        finding = self.only(self.job(provider="tcp;ofi_rxm"), "software-provider", "warning")
        self.says(finding, "tcp;ofi_rxm")

    def test_silent_without_a_native_one(self):
        self.none(self.job(offers=False))

    def test_hidden_by_a_setting(self):
        ranks = self.job(offers=False)
        for rank in ranks:
            f.modules(rank, f.OFI, "/usr/lib/libfabric.so.1", "/opt/fabric/libcxi-fi.so")
        finding = self.only(ranks, "software-provider", "notice")
        self.says(finding, "was not allowed to look at cxi", "FI_PROVIDER=sockets (environment)",
                  "/opt/fabric/libcxi-fi.so was loaded")

    def test_a_failure_is_a_fallback(self):
        self.only(self.job(failing=True), "fallback", "critical")

    def test_nic_of_the_node(self):
        ranks = self.job(offers=False)
        for rank in ranks:
            f.node_ports(rank, f.port("hfi1_0", "hfi1", 100 * f.GIGABIT, "ACTIVE"))
        finding = self.only(ranks, "software-provider", "warning")
        self.says(finding, "hfi1_0", "12.5 GB/s")


INFINIBAND = (("infiniband", "mlx5_0.port1.state", "4: ACTIVE", "/sys"),
              ("infiniband", "mlx5_0.port1.rate", "200 Gb/sec (4X HDR)", "/sys"))


def with_infiniband(ranks, state="ACTIVE"):
    for rank in ranks:
        f.node_ports(rank, f.port("eth0", "net", 10 * f.GIGABIT),
                     f.port("mlx5_0", "infiniband", 200 * f.GIGABIT, state))
    return ranks


def debian(ranks, *lines):
    """The parameter file that comes with Debian's Open MPI."""
    lines = lines or (("btl", "^uct,openib,ofi", 72), ("pml", "^ucx", 75), ("mtl", "^ofi", 73))
    for rank in ranks:
        facts(rank, *[("parameter", "OMPI_MCA_" + name, value, "%s:%d" % (f.DEBIAN, line))
                      for name, value, line in lines])
    return ranks


class Excluded(Findings):
    def test_by_a_file(self):
        finding = self.only(debian(with_infiniband(two_over_tcp())), "excluded", "critical")
        self.says(finding, "UCX (pml ucx)", "OFI (mtl ofi)", f.DEBIAN + ", lines 72-75, not by "
                  "your environment", "OMPI_MCA_pml=^ucx (%s:75)" % f.DEBIAN, "mlx5_0",
                  "25.0 GB/s", "200 MiB")

    def test_few_bytes(self):
        ranks = debian(with_infiniband(two_over_tcp(size=1024, count=100)))
        self.only(ranks, "excluded", "warning")

    def test_within_a_node(self):
        ranks = [openmpi(rank, 2) for rank in range(2)]
        exchange(ranks)
        f.sockets(ranks, {})
        self.only(debian(with_infiniband(finish(ranks))), "excluded", "notice")

    def test_by_the_environment(self):
        ranks = with_infiniband(two_over_tcp())
        for rank in ranks:
            facts(rank, ("env", "OMPI_MCA_pml", "ob1"))
        finding = self.only(ranks, "excluded", "critical")
        self.says(finding, "by the environment", "not in the list, OMPI_MCA_pml=ob1")
        self.assertNotIn("not by your environment", finding["title"])

    def test_lists_of_providers(self):
        for name, value, fires in (("include", "psm2,verbs", True), ("include", "psm2,cxi", False),
                                   ("exclude", "tcp,cxi", True), ("exclude", "tcp", False)):
            ranks = two_over_tcp()
            for rank in ranks:
                f.modules(rank, "/usr/lib/libfabric.so.1")
                f.offer(rank)
                facts(rank, ("env", "OMPI_MCA_mtl_ofi_provider_" + name, value,
                             "environment, from the command line of mpirun (pid 7)"))
            finding = self.only(ranks, "excluded" if fires else "idle-fabric",
                                "critical" if fires else "warning")
            if fires:
                self.says(finding, "libfabric's provider cxi is excluded by the launcher's command "
                          "line", "OMPI_MCA_mtl_ofi_provider_" + name)

    def test_several_devices_kept_out_by_one_list(self):
        ranks = two_over_tcp()
        for rank in ranks:
            for ident, domain in enumerate(("cxi0", "cxi1"), 1):
                f.offer(rank, ident=ident, domain=domain)
            f.modules(rank, f.OFI, "/opt/fabric/libfabric.so.1")
            facts(rank, ("env", "OMPI_MCA_mtl_ofi_provider_include", "psm2"))
        finding = self.only(ranks, "excluded", "critical")
        self.says(finding, "libfabric's provider cxi is excluded by the environment", "cxi0", "cxi1")
        self.assertEqual(sum("not in the list" in fact for fact in finding["evidence"]), 1)

    def test_the_environment_wins(self):
        """Allowed again, so nothing is excluded; that it was not used is another matter."""
        ranks = debian(with_infiniband(two_over_tcp()), ("pml", "^ucx", 75))
        for rank in ranks:
            facts(rank, ("env", "OMPI_MCA_pml", "ucx,ob1"))
        self.only(ranks, "idle-fabric", "warning")

    def test_silent_without_a_device(self):
        self.none(debian(two_over_tcp()))

    def test_silent_when_the_port_is_down(self):
        self.none(debian(with_infiniband(two_over_tcp(), "DOWN")))

    def test_ucx_does_not_drive_cxi(self):
        ranks = two_over_tcp()
        for rank in ranks:
            f.offer(rank)
        debian(ranks, ("pml", "^ucx", 75))
        self.only(ranks, "idle-fabric", "warning")
        ranks = two_over_tcp()
        for rank in ranks:
            f.offer(rank)
        self.only(debian(ranks), "excluded", "critical")


class IdleFabric(Findings):
    def test_infiniband(self):
        finding = self.only(with_infiniband(two_over_tcp()), "idle-fabric", "warning")
        self.says(finding, "mlx5_0 was there and never tried: messages of 2 of 2 ranks went over "
                  "tcp", "ACTIVE", "25.0 GB/s", "PML ob1")

    def test_a_faster_interface(self):
        ranks = two_over_tcp()
        for rank in ranks:
            f.node_ports(rank, f.port("eth0", "net", f.GIGABIT),
                         f.port("eth1", "net", 100 * f.GIGABIT))
        finding = self.only(ranks, "idle-fabric", "warning")
        self.says(finding, "eth1", "--mca btl_tcp_if_include eth1")

    def test_silent_about_virtual_and_equal_interfaces(self):
        ranks = two_over_tcp()
        for rank in ranks:
            f.node_ports(rank, f.port("eth0", "net", f.GIGABIT), f.port("eth1", "net", f.GIGABIT),
                         f.port("eth2", "net", 100 * f.GIGABIT, "down"),
                         f.port("veth3", "net", 100 * f.GIGABIT))
        self.none(ranks)

    def test_silent_within_a_node(self):
        ranks = [openmpi(rank, 2) for rank in range(2)]
        exchange(ranks)
        f.sockets(ranks, {})
        self.none(with_infiniband(finish(ranks)))


class NetworkInsideNode(Findings):
    def test_tcp_btl(self):
        ranks = two_over_tcp(hosts=("node1", "node1"))
        for rank in ranks:
            facts(rank, ("env", "OMPI_MCA_btl", "tcp,self",
                         "environment, from the command line of mpirun (pid 7)"))
        finding = self.only(ranks, "network-inside-node", "warning")
        self.says(finding, "100 %", "tcp (Open MPI BTL, lo)", "pairs 0 -> 1, 1 -> 0", "200 MiB",
                  "OMPI_MCA_btl=tcp,self (environment, from the command line of mpirun (pid 7))")

    def test_a_part_of_the_pairs(self):
        ranks = [openmpi(0, 3), openmpi(1, 3), openmpi(2, 3, btls=("self", "tcp"))]
        exchange(ranks, pairs=[(0, 1), (1, 2)])
        f.sockets(ranks, {(1, 2): 102 * MEBI})
        findings = self.found(finish(ranks))
        finding = [one for one in findings if one["id"] == "network-inside-node"][0]
        self.says(finding, "50.0 %", "pairs 1 -> 2")
        self.assertEqual(finding["ranks"], "1-2")

    def test_ucx_over_tcp(self):
        ranks = [mpich(rank, 2) for rank in range(2)]
        exchange(ranks)
        for rank in ranks:
            facts(rank, ("env", "UCX_TLS", "tcp,self"))
            peer = (77 + 1 - rank.rank).to_bytes(8, "little")
            rank.endpoint(1, (77 + rank.rank).to_bytes(8, "little"), library="ucx", peer=[
                {"address": peer, "sends": 100, "sent": 100 * MEBI,
                 "lane": [{"use": "am", "transport": "tcp", "device": "lo"}]}])
        f.sockets(ranks, all_pairs(ranks, 102 * MEBI), interface="lo")
        finding = self.only(finish(ranks), "network-inside-node", "warning")
        self.says(finding, "tcp (UCX, lo)", "UCX_TLS=tcp,self", "1.00 MiB")

    def apart(self, space, *more):
        ranks = two_over_tcp(hosts=("node1", "node1"))
        for rank in ranks:
            facts(rank, ("namespace", space, "%s:[%d]" % (space, rank.rank)), *more)
        return self.only(ranks, "network-inside-node", "warning")

    def test_containers_of_one_rank_each(self):
        self.says(self.apart("ipc"), "the ranks are in different ipc namespaces",
                  "2 of 2 pairs are in different ipc namespaces", "in one container")
        self.says(self.apart("mnt"), "the ranks are in different mount namespaces")

    def test_a_setting_explains_more_than_containers(self):
        """Containers that share /dev/shm have mount namespaces of their own, too."""
        finding = self.apart("mnt", ("parameter", "OMPI_MCA_btl", "tcp,self", "environment"))
        self.says(finding, "though the ranks could share memory", "OMPI_MCA_btl=tcp,self")
        self.assertNotIn("namespace", str(finding))

    def test_silent_about_a_few_bytes(self):
        self.none(two_over_tcp(hosts=("node1", "node1"), size=8, count=10))

    def test_silent_between_nodes(self):
        self.none(two_over_tcp())


class SingleCopy(Findings):
    def job(self, size=MEBI, **refusal):
        ranks = [openmpi(rank, 2) for rank in range(2)]
        exchange(ranks, size=size)
        for rank in ranks:
            peer = {"pid": 1001 - rank.rank, "refused": 100, "error": 1, **refusal}
            rank.cma([peer])
            facts(rank, ("process", "seccomp", "filter", "/proc/self/status"))
        f.sockets(ranks, {})
        return finish(ranks)

    def test_refused(self):
        finding = self.only(self.job(), "single-copy-refused", "warning")
        self.says(finding, "The kernel refuses process_vm_readv between ranks 0-1 (EPERM; seccomp "
                  "mode 2 (filter)): 200 messages above the eager size, 200 MiB, were copied "
                  "twice", "200 calls were refused")

    def test_one_rank_is_kept_from_it(self):
        ranks = [openmpi(rank, 3) for rank in range(3)]
        exchange(ranks)
        ranks[1].cma([{"pid": 1000, "refused": 100, "error": 1},
                      {"pid": 1002, "refused": 100, "error": 1}])
        ranks[0].cma([{"pid": 1001, "reads": 100, "read": 100 * MEBI},
                      {"pid": 1002, "reads": 100, "read": 100 * MEBI}])
        ranks[2].cma([{"pid": 1001, "reads": 100, "read": 100 * MEBI},
                      {"pid": 1000, "reads": 100, "read": 100 * MEBI}])
        f.sockets(ranks, {})
        finding = self.only(finish(ranks), "single-copy-refused", "warning")
        self.says(finding, "The kernel refuses process_vm_readv to rank 1 (EPERM): 200 messages")

    def test_silent_about_small_messages(self):
        self.none(self.job(size=512))

    def test_ucx_takes_the_network_then(self):
        """It tried on itself whether it may, and has no other way for large messages than TCP."""
        ranks = [mpich(rank, 2) for rank in range(2)]
        exchange(ranks)
        for rank in ranks:
            rank.cma([{"pid": 1000 + rank.rank, "refused": 2, "error": 1}])
            peer = (77 + 1 - rank.rank).to_bytes(8, "little")
            rank.endpoint(1, (77 + rank.rank).to_bytes(8, "little"), library="ucx", peer=[
                {"address": peer, "sends": 100, "sent": 100 * MEBI,
                 "lane": [{"use": "am", "transport": "posix", "device": "memory"},
                          {"use": "rma_bw", "transport": "tcp", "device": "lo"}]}])
        f.sockets(ranks, all_pairs(ranks, 100 * MEBI), interface="lo")
        finding = self.only(finish(ranks), "single-copy-refused", "warning")
        self.says(finding, "The kernel refuses process_vm_readv between ranks 0-1 (EPERM): 200 "
                  "messages above the eager size, 200 MiB, went over tcp (UCX, lo)")

    def test_silent_about_tries(self):
        self.none(self.job(error=14))
        self.none(self.job(pid=4711))

    def test_silent_when_it_worked(self):
        self.none(self.job(reads=100, read=100 * MEBI))

    def namespaces(self, size=MEBI, **variables):
        ranks = [openmpi(rank, 2) for rank in range(2)]
        exchange(ranks, size=size)
        for rank in ranks:
            facts(rank, ("namespace", "user", "user:[%d]" % (4026 + rank.rank)),
                  *[("env", name, value) for name, value in variables.items()])
        f.sockets(ranks, {})
        return finish(ranks)

    def test_user_namespaces(self):
        finding = self.only(self.namespaces(), "single-copy-refused", "warning")
        self.says(finding, "No single copies between ranks 0-1, as they are in different user "
                  "namespaces", "rank 0 user:[4026], rank 1 user:[4027]", "200 MiB")

    def test_silent_when_switched_off(self):
        self.assertEqual([one for one in self.found(self.namespaces(
            OMPI_MCA_btl_vader_single_copy_mechanism="none")) if one["severity"] != "notice"], [])

    def test_ptrace_scope(self):
        ranks = [openmpi(rank, 2) for rank in range(2)]
        exchange(ranks)
        for rank in ranks:
            facts(rank, ("kernel", "yama.ptrace_scope", "2", "/proc"),
                  ("process", "capabilities", "0000000000000000", "/proc"))
        f.sockets(ranks, {})
        finding = self.only(finish(ranks), "single-copy-refused", "warning")
        self.says(finding, "kernel.yama.ptrace_scope is 2")


class Disagree(Findings):
    def test_ranks_chose_differently(self):
        ranks = [openmpi(rank, 4, host="node%d" % rank) for rank in range(3)]
        ranks.append(openmpi(3, 4, host="node3", pml="cm", mtl="ofi", btls=()))
        finding = self.only(finish(ranks), "transports-disagree", "warning")
        self.assertEqual(finding["ranks"], "3")
        self.says(finding, "rank 3 PML cm with MTL ofi, ranks 0-2 PML ob1")

    def test_a_rank_without_shared_memory(self):
        """All pairs go over TCP then; what differs are the BTLs, and why is known."""
        ranks = [openmpi(rank, 3, btls=("self", "tcp") if rank == 2 else f.BTL_LIST)
                 for rank in range(3)]
        exchange(ranks)
        facts(ranks[2], ("env", "OMPI_MCA_btl", "tcp,self"))
        f.sockets(ranks, all_pairs(ranks, 102 * MEBI))
        found = {one["id"]: one for one in self.found(finish(ranks))}
        self.assertEqual(set(found), {"network-inside-node", "transports-disagree"})
        self.says(found["transports-disagree"], "rank 2 PML ob1 with BTLs self,tcp, ranks 0-1 PML "
                  "ob1 with BTLs self,tcp,vader", "set on rank 2 only: OMPI_MCA_btl=tcp,self "
                  "(environment)")
        self.assertEqual(found["transports-disagree"]["ranks"], "2")
        self.says(found["network-inside-node"], "by the environment of rank 2: OMPI_MCA_btl=")

    def test_silent_about_a_rank_that_is_alone_on_its_node(self):
        ranks = [openmpi(0, 3), openmpi(1, 3), openmpi(2, 3, host="node2", btls=("self", "tcp"))]
        exchange(ranks)
        f.sockets(ranks, {(src, dst): 102 * MEBI for src in range(3) for dst in range(3)
                          if src != dst and 2 in (src, dst)})
        self.none(finish(ranks))

    def test_pairs_within_a_node(self):
        ranks = [openmpi(rank, 4) for rank in range(4)]
        exchange(ranks)
        f.sockets(ranks, {(0, 3): 102 * MEBI, (3, 0): 102 * MEBI})
        findings = {one["id"]: one for one in self.found(finish(ranks))}
        self.assertEqual(set(findings), {"network-inside-node", "transports-disagree"})
        self.says(findings["transports-disagree"], "2 pairs within nodes use tcp, the others "
                  "shared memory: 0 -> 3, 3 -> 0")
        self.assertEqual(findings["transports-disagree"]["ranks"], "0,3")

    def test_two_directions(self):
        ranks = [openmpi(rank, 2) for rank in range(2)]
        exchange(ranks)
        f.sockets(ranks, {(1, 0): 102 * MEBI})
        findings = {one["id"]: one for one in self.found(finish(ranks))}
        self.assertIn("transports-disagree", findings)
        self.says(findings["transports-disagree"], "the other way round")

    def test_silent_about_pairs_that_cannot_share_memory(self):
        ranks = [openmpi(rank, 4) for rank in range(4)]
        exchange(ranks)
        for rank in ranks:
            facts(rank, ("namespace", "ipc", "ipc:[%d]" % (rank.rank // 2)))
        f.sockets(ranks, {(src, dst): 103 * MEBI for src in range(4) for dst in range(4)
                          if src // 2 != dst // 2})
        self.only(finish(ranks), "network-inside-node", "warning")

    def test_silent_about_kinds_of_pairs(self):
        """Shared memory within nodes, TCP between them, copies once or twice by size."""
        ranks = [openmpi(rank, 4, host=TWO_NODES[rank // 2]) for rank in range(4)]
        end = exchange(ranks)
        exchange(ranks, size=100, start=end)
        f.sockets(ranks, {(src, dst): 103 * MEBI for src in range(4) for dst in range(4)
                          if src // 2 != dst // 2})
        ranks[0].cma([{"pid": 1001, "reads": 100, "read": 100 * MEBI}])
        self.none(finish(ranks))


class DeadSetting(Findings):
    def test_library_that_never_came(self):
        ranks = [mpich(rank, 2) for rank in range(2)]
        exchange(ranks, size=100)
        f.sockets(ranks, {})
        for rank in ranks:
            f.modules(rank, "/usr/lib/libmpich.so.12", "/usr/lib/libucp.so.0")
            facts(rank, ("env", "OMPI_MCA_pml", "ob1"), ("env", "OMPI_MCA_btl", "tcp,self"))
        finding = self.only(finish(ranks), "dead-setting", "notice")
        self.says(finding, "OMPI_MCA_pml=ob1 (environment)", "OMPI_MCA_btl=tcp,self (environment)",
                  "2 settings are for libraries that this job did not use")


if __name__ == "__main__":
    main()
