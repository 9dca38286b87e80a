# SPDX-License-Identifier: BSD-3-Clause
"""Messages between GPUs that go the wrong way (C11)."""

import build_trace as b
import fabric_jobs as f
import placed_jobs as p
import sums
from cli import main
from machines import MACHINES
from placed import MEBI, Placed


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

    def test_speed(self):
        ranks = self.job(visible=([0, 1], [1, 0]))
        self.says(self.only(ranks, "gpu-staged"), "large messages of ranks 0 -> 1 reached 1049 of 200 GB/s (the links between their GPUs)")
        finding = self.only([sums.Summed(rank) for rank in ranks], "gpu-staged")
        self.assertIsNone(finding["cost"])

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
                for _ in range(14 if src is not dst else 0):
                    f.message([src, dst], src.rank, dst.rank, MEBI, at, at + gap, (1, 1))
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


if __name__ == "__main__":
    main()
