# SPDX-License-Identifier: BSD-3-Clause
"""Which way a pair's messages took over libfabric and UCX, and under MPICH, by each rule of docs/metrics.md."""

from ranks import MIB, Rank, sockaddr, uid
from show import ShowTest, b, main


class Libfabric(ShowTest):
    OFI = {"netmod": "ofi"}

    def ranks(self, provider="cxi", domain="cxi0", addresses=(("10.0.0.1", 5), ("10.0.0.2", 6)),
              fmt=2, peers=None, counts=None, hosts=("node1", "node2"), chosen=None, **endpoint):
        out = []
        for number in range(2):
            rank = Rank(number, 2, host=hosts[number], **(chosen or {"pml": "cm", "mtl": "ofi"}))
            own = sockaddr(*addresses[number])
            other = sockaddr(*(peers or addresses)[1 - number])
            counted = (counts or [{"sends": 10, "sent": 10000}, {"sends": 0}])[number]
            rank.endpoint(1, own, [{"address": other, **counted}], provider=provider, domain=domain,
                          format=fmt, **endpoint)
            out.append(rank)
        out[0].to(1, 1000, 10)
        return out

    def test_native(self):
        self.show(*self.ranks(device="cxi0", speed=2 * 10 ** 11))
        self.assert_route((0, 1), name="cxi", layer="libfabric", device="cxi0", kind=4, seen=True,
                          speed=2 * 10 ** 11, software=0, messages=10, carried=10000,
                          evidence="counts of the libfabric endpoint (10 operations)")
        self.assertEqual((self.pairs[0, 1]["remainder"], self.pairs[0, 1]["remainder_is"]), (0, ""))
        self.assertEqual(list(self.pairs), [(0, 1)])

    def test_software(self):
        ranks = self.ranks(provider="tcp;ofi_rxm", domain="eth0")
        ranks[0].ports(3, 8000, [{"name": "eth0", "kind": "net", "rate": 10 ** 9}])
        ranks[0].endpoint(2, sockaddr("10.0.0.1", 5), [{"address": sockaddr("10.0.0.2", 6),
                                                        "sends": 12, "sent": 10900}],
                          provider="tcp", domain="eth0", format=2, inner=1)
        self.show(*ranks)
        self.assert_route((0, 1), name="tcp;ofi_rxm", device="eth0", software=1, speed=10 ** 9,
                          carried=10000)
        self.assertEqual(self.pairs[0, 1]["label"], "tcp;ofi_rxm (eth0)")

    def test_what_the_receiver_fetched(self):
        self.show(*self.ranks(counts=[{"sends": 10, "sent": 640},
                                      {"gets": 10, "got": 9900, "sends": 10, "sent": 500}]))
        self.assert_route((0, 1), name="cxi", carried=10540)
        self.assertEqual(self.pairs[1, 0]["carried"], 500)

    def test_padding_of_an_address_means_nothing(self):
        ranks = self.ranks()
        ranks[1].endpoint(1, sockaddr("10.0.0.2", 6)[:8] + b"\x01garbage", provider="cxi", format=2)
        self.show(*ranks)
        self.assert_route((0, 1), name="cxi")

    def test_ipv6(self):
        self.show(*self.ranks(addresses=(("fd00::1", 5), ("fd00::2", 6)), fmt=3))
        self.assert_route((0, 1), name="cxi")

    def test_other_addresses_are_compared_as_they_are(self):
        ranks = [Rank(number, 2, host="n%d" % number, pml="cm", mtl="ofi") for number in range(2)]
        for number, rank in enumerate(ranks):
            rank.endpoint(1, bytes([number] * 6), [{"address": bytes([1 - number] * 6), "sends": 1,
                                                    "sent": 100}], provider="cxi", format=15)
        ranks[0].to(1, 100)
        self.show(*ranks)
        self.assert_route((0, 1), name="cxi", carried=100)

    def test_an_address_that_two_processes_have(self):
        ranks = self.ranks(addresses=(("10.0.0.1", 5), ("10.0.0.1", 5)), chosen=self.OFI)
        self.show(*ranks)
        self.assertEqual(self.pairs[0, 1]["unknown"],
                         "several processes answer to the address that the sender used")

    def test_the_address_of_nobody(self):
        self.show(*self.ranks(addresses=(("0.0.0.0", 5), ("0.0.0.0", 6)), chosen=self.OFI))
        self.assertEqual(self.pairs[0, 1]["unknown"],
                         "the sender's counts name a peer whose address is not known")
        self.show(*self.ranks(peers=(("10.9.9.9", 5), ("10.9.9.9", 6)), chosen=self.OFI))
        self.assertEqual(self.pairs[0, 1]["unknown"],
                         "nobody who was recorded answers to the address that the sender used")

    def test_loopback_within_a_node_only(self):
        addresses = (("127.0.0.1", 5), ("127.0.0.1", 6))
        self.show(*self.ranks(provider="tcp;ofi_rxm", addresses=addresses, chosen=self.OFI))
        self.assertEqual(self.pairs[0, 1]["routes"], [])
        self.show(*self.ranks(provider="tcp;ofi_rxm", addresses=addresses, hosts=("n", "n")))
        self.assert_route((0, 1), name="tcp;ofi_rxm", device="lo")
        self.assertEqual(self.pairs[0, 1]["where"], "node")

    def test_shm(self):
        ranks = [Rank(number, 2, pml="cm", mtl="ofi") for number in range(2)]
        names = [b"fi_shm://%d\0" % (1000 + number) for number in range(2)]
        for number, rank in enumerate(ranks):
            rank.endpoint(1, names[number], [{"address": names[1 - number], "sends": 14,
                                              "sent": 4 * MIB + 1000}], provider="shm", format=9)
        ranks[0].to(1, 100, 10).to(1, MIB, 4)
        ranks[1].cma([{"pid": 1000, "reads": 4, "read": 4 * MIB}])
        self.show(*ranks)
        self.assert_route((0, 1), 0, name="shm", kind=2, device="memory", carried=1000, messages=10)
        self.assert_route((0, 1), 1, name="cma", layer="libfabric", messages=4, seen=True)
        self.assertEqual(self.pairs[0, 1]["remainder"], 0)

    def test_endpoints_that_mpi_did_not_open(self):
        ranks = self.ranks()
        ranks[0].add("MODULES", b.module(3, "/opt/rccl/librccl.so"))
        ranks[0].endpoint(1, sockaddr("10.0.0.1", 5), caller=3)
        self.show(*ranks)
        self.assertEqual(self.pairs[0, 1]["routes"], [])
        self.assertEqual(self.pairs[0, 1]["unknown"], "nothing was counted between the two")
        self.assertEqual(list(self.pairs), [(0, 1)])

    def test_a_peer_that_was_not_recorded(self):
        self.show(self.ranks(device="cxi0")[0])
        self.assert_route((0, 1), name="cxi", seen=False, carried=0, messages=10,
                          evidence="PML cm sends every message through the one endpoint that the "
                                   "sender opened")
        self.assertEqual(self.pairs[0, 1]["where"], "unknown")

    def test_everything_goes_by_the_one_endpoint_of_cm(self):
        self.show(*self.ranks(addresses=(("10.0.0.1", 5), ("10.0.0.1", 5))))
        self.assert_route((0, 1), name="cxi", seen=False, carried=0, messages=10)
        self.assertIsNone(self.pairs[0, 1]["unknown"])

    def test_an_mtl_without_libfabric(self):
        ranks = [Rank(number, 2, host="n%d" % number, pml="cm", mtl="psm2") for number in range(2)]
        self.show(ranks[0].to(1, 10), ranks[1])
        self.assert_route((0, 1), name="psm2", layer="Open MPI MTL", kind=4, seen=False)


class Ucx(ShowTest):
    SHM = [{"use": "am", "transport": "posix", "device": "memory"},
           {"use": "rma_bw", "transport": "cma", "device": "memory"}]

    def ranks(self, lanes, sent=10000, hosts=("node1", "node1"), chosen=None, **fields):
        out = []
        for number in range(2):
            rank = Rank(number, 2, host=hosts[number], **(chosen or {"netmod": "ucx", "shm": "none"}),
                        **fields)
            rank.endpoint(1, uid(number), [{"address": uid(1 - number), "sends": 10 - 10 * number,
                                            "sent": sent - sent * number, "lane": lanes}],
                          library="ucx")
            out.append(rank)
        return out

    def test_one_transport(self):
        zero, one = self.ranks([{"use": "am", "transport": "tcp", "device": "eth0"},
                                {"use": "rma_bw", "transport": "tcp", "device": "lo"},
                                {"use": "wireup", "transport": "tcp", "device": "eth9"}])
        zero.ports(3, 8000, [{"name": "eth0", "kind": "net", "rate": 10 ** 9},
                             {"name": "lo", "kind": "net", "rate": 0}])
        self.show(zero.to(1, 1000, 10), one)
        self.assert_route((0, 1), name="tcp", layer="UCX", device="lo", kind=4, seen=True,
                          carried=10000, speed=0,
                          evidence="UCX lane tcp, counts of the worker (10 operations)")
        self.assertEqual(self.pairs[0, 1]["where"], "node")

    def test_two_rails(self):
        zero, one = self.ranks([{"use": "am", "transport": "rc_mlx5", "device": "mlx5_0:1"},
                                {"use": "rma_bw", "transport": "rc_mlx5", "device": "mlx5_0:1"},
                                {"use": "rma_bw", "transport": "rc_mlx5", "device": "mlx5_1:1"}],
                               hosts=("a", "b"))
        zero.ports(3, 8000, [{"name": "mlx5_%d" % n, "kind": "infiniband", "rate": 10 ** 11}
                             for n in range(2)])
        self.show(zero.to(1, 1000, 10), one)
        self.assert_route((0, 1), device="mlx5_0:1, mlx5_1:1", speed=2 * 10 ** 11, software=0)

    def test_memory_and_copies_by_the_kernel(self):
        zero, one = self.ranks(self.SHM, sent=5000 + 4 * MIB)
        one.cma([{"pid": 1000, "reads": 4, "read": 4 * MIB}])
        self.show(zero.to(1, 1000, 5).to(1, MIB, 4), one)
        self.assert_route((0, 1), 0, name="posix", kind=2, messages=5, carried=5000, seen=False,
                          evidence="UCX lane am (posix)")
        self.assert_route((0, 1), 1, name="cma", layer="UCX", kind=3, messages=4, seen=True)
        self.assertEqual(self.pairs[0, 1]["remainder"], 0)

    def test_a_lane_that_nothing_used(self):
        zero, one = self.ranks(self.SHM)
        self.show(zero.to(1, 1000, 10), one)
        self.assertEqual([route["name"] for route in self.pairs[0, 1]["routes"]], ["posix"])

    def test_two_transports_of_which_nobody_counted(self):
        zero, one = self.ranks([{"use": "am", "transport": "ud_mlx5", "device": "mlx5_0:1"},
                                {"use": "rma_bw", "transport": "rc_mlx5", "device": "mlx5_0:1"}],
                               hosts=("a", "b"))
        self.show(zero.to(1, 1000, 10), one)
        self.assert_route((0, 1), 0, name="ud_mlx5", messages=10, seen=False)
        self.assert_route((0, 1), 1, name="rc_mlx5", messages=0, seen=False)
        self.assertEqual(self.pairs[0, 1]["unknown"], "from which size on UCX uses rc_mlx5 instead "
                                                      "of ud_mlx5 is not recorded")

    def test_lanes_without_their_use(self):
        lanes = [{"transport": "posix", "device": "memory"}, {"transport": "cma", "device": "memory"},
                 {"transport": "tcp", "device": "lo"}]
        zero, one = self.ranks(lanes, sent=5000 + 4 * MIB)
        one.cma([{"pid": 1000, "reads": 4, "read": 4 * MIB}])
        self.show(zero.to(1, 1000, 5).to(1, MIB, 4), one)
        self.assertEqual([route["name"] for route in self.pairs[0, 1]["routes"]], ["posix", "cma"])
        self.show(*(rank.to(1 - rank.rank, 1000) for rank in
                    self.ranks([{"transport": "tcp", "device": "lo"},
                                {"transport": "self", "device": "memory"}])))
        self.assertEqual([route["name"] for route in self.pairs[0, 1]["routes"]], ["self"])
        self.assertFalse(self.route((0, 1))["seen"])

    def test_no_lanes(self):
        zero, one = self.ranks([])
        self.show(zero.to(1, 1000, 10), one)
        self.assertEqual(self.pairs[0, 1]["routes"], [])
        self.assertEqual(self.pairs[0, 1]["unknown"],
                         "the lanes of the UCX endpoint were not recorded")
        self.assertEqual(self.pairs[0, 1]["carried"], 10000)

    def test_collectives_are_in_the_counts(self):
        zero, one = self.ranks([{"use": "am", "transport": "tcp", "device": "lo"}], sent=1000000)
        zero.coll("MPI_Allreduce", 3000, 3100, 0)
        self.show(zero.to(1, 1000, 10), one)
        pair = self.pairs[0, 1]
        self.assertEqual((pair["remainder"], pair["remainder_is"]),
                         (990000, "collectives, one-sided operations and control"))

    def test_small_ones_that_drown_in_what_was_counted(self):
        lanes = [{"use": "am", "transport": "posix", "device": "memory"},
                 {"use": "rma_bw", "transport": "tcp", "device": "lo"}]
        zero, one = self.ranks(lanes, sent=400 + 5 * MIB)
        a, c = ("10.0.0.1", 1), ("10.0.0.1", 2)
        zero.connected(b.connection(a, c, sent=5 * MIB + 5000, interface="eth0"))
        one.connected(b.connection(c, a))
        self.show(zero.to(1, 8, 50).to(1, MIB, 5), one)
        self.assertEqual([(route["name"], route["messages"]) for route in
                          self.pairs[0, 1]["routes"]], [("posix", 50), ("tcp", 5)])

    def test_operations_of_unknown_size(self):
        zero, one = self.ranks([{"use": "am", "transport": "posix", "device": "memory"}])
        zero.endpoint(1, uid(0), [{"address": uid(1), "sends": 10, "sent": 400, "unsized": 9, "lane": [
            {"use": "am", "transport": "posix", "device": "memory"}]}], library="ucx")
        self.show(zero.to(1, 1000, 10), one)
        self.assert_route((0, 1), name="posix", messages=10, carried=400)
        self.assertEqual((self.pairs[0, 1]["remainder"], self.pairs[0, 1]["remainder_is"]),
                         (-9600, "operations whose bytes are not known"))

    def test_workers_of_one_sided_components_are_not_the_pml(self):
        zero, one = self.ranks([{"use": "am", "transport": "tcp", "device": "lo"}], sent=50000,
                               chosen={"pml": "ob1", "btl": "self,vader"})
        zero.add("MODULES", b.module(3, "/usr/lib/openmpi/mca_osc_ucx.so", role=1))
        zero.endpoint(1, uid(0), library="ucx", caller=3)
        self.show(zero.to(1, 1000, 10), one)
        self.assert_route((0, 1), 0, name="vader", messages=10)
        self.assert_route((0, 1), 1, name="tcp", layer="UCX", messages=0, carried=50000, seen=True,
                          evidence="counts of an endpoint beside the one for messages")
        self.assertEqual((self.pairs[0, 1]["remainder"], self.pairs[0, 1]["remainder_is"]),
                         (40000, "one-sided operations and control"))


class Mpich(ShowTest):
    def test_shared_memory_beside_the_netmod(self):
        ranks = [Rank(number, 2, netmod="ofi", shm="posix") for number in range(2)]
        ranks[0].endpoint(1, sockaddr("10.0.0.1", 5), [{"address": sockaddr("10.0.0.1", 6),
                                                        "sends": 2, "sent": 300}],
                          provider="tcp;ofi_rxm", domain="eth0", format=2)
        ranks[1].endpoint(1, sockaddr("10.0.0.1", 6), provider="tcp;ofi_rxm", domain="eth0", format=2)
        self.show(ranks[0].to(1, 1000, 10), ranks[1])
        self.assert_route((0, 1), 0, name="posix", layer="MPICH", kind=2, seen=False, messages=10)
        self.assert_route((0, 1), 1, name="tcp;ofi_rxm", messages=0, carried=300)
        self.assertEqual(self.pairs[0, 1]["remainder_is"], "shared memory (concluded)")

    def test_not_concluded_where_the_netmod_was_not_watched(self):
        for how, why, text in (("off", "MPIWATCH_PROBES", "the probe libfabric was off (MPIWATCH_PROBES)"),
                               ("not covered", "no call of it came through us",
                                "the probe libfabric did not see all: no call of it came through us"),
                               ("absent", "", "the probe libfabric saw no library of that kind in the "
                                              "sender")):
            ranks = [Rank(number, 2, netmod="ofi", shm="posix") for number in range(2)]
            ranks[0].choice("probe", "libfabric", how, why)
            self.show(ranks[0].to(1, 1000, 10), ranks[1])
            self.assertEqual(self.pairs[0, 1]["routes"], [])
            self.assertEqual(self.pairs[0, 1]["unknown"], text)

    def test_nothing_between_nodes(self):
        ranks = [Rank(number, 2, host="n%d" % number, netmod="ofi", shm="posix") for number in range(2)]
        self.show(ranks[0].to(1, 1000, 10), ranks[1])
        self.assertEqual(self.pairs[0, 1]["unknown"], "nothing was counted between the two")

    def test_ch3(self):
        ranks = [Rank(number, 2, netmod="nemesis:tcp", shm="nemesis") for number in range(2)]
        self.show(ranks[0].to(1, 1000, 10), ranks[1])
        self.assert_route((0, 1), name="nemesis", kind=2)


if __name__ == "__main__":
    main()
