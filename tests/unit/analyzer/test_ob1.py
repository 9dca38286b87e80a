# SPDX-License-Identifier: BSD-3-Clause
"""Which way a pair's messages took where Open MPI's ob1 moves them, by each rule of docs/metrics.md."""

from ranks import MIB, Rank, ob1
from show import ShowTest, b, main


class Ob1(ShowTest):
    A, B = ("10.0.0.1", 40000), ("10.0.0.2", 1024)

    def nodes(self, **fields):
        return ob1(0, 2, host="node1", **fields), ob1(1, 2, host="node2", **fields)

    def test_tcp_between_nodes(self):
        zero, one = self.nodes()
        zero.to(1, 1000, 100).connected(b.connection(self.A, self.B, sent=103000, received=3000,
                                                     interface="eth0"))
        zero.ports(3, 8000, [{"name": "eth0", "kind": "net", "rate": 10 ** 10, "state": "up"}])
        one.connected(b.connection(self.B, self.A, sent=3000, received=103000, interface="eth1"))
        self.show(zero, one)
        self.assert_route((0, 1), name="tcp", layer="Open MPI BTL", device="eth0", kind=4, seen=True,
                          messages=100, bytes=100000, carried=103000, first=10, last=10,
                          speed=10 ** 10, software=0, evidence="TCP_INFO of 1 connection")
        pair = self.pairs[0, 1]
        self.assertEqual((pair["where"], pair["carried"], pair["remainder"], pair["remainder_is"]),
                         ("network", 103000, 3000, "headers and control"))
        self.assertIsNone(pair["unknown"])
        self.assertEqual(pair["label"], "tcp (eth0)")
        back = self.pairs[1, 0]  # no message went this way, bytes did
        self.assertEqual((back["messages"], back["carried"]), (0, 3000))
        self.assert_route((1, 0), name="tcp", device="eth1", messages=0, carried=3000)

    def test_what_was_carried_before_the_end_of_init_does_not_count(self):
        zero, one = self.nodes()
        zero.to(1, 1000, 100)
        zero.connected(b.connection(self.A, self.B, sent=5000), when=1, time=1100)
        zero.connected(b.connection(self.A, self.B, sent=107000), b.connection(
            ("10.0.0.1", 40001), self.B, fd=11, sent=7), when=3)
        one.connected(b.connection(self.B, self.A), b.connection(
            self.B, ("10.0.0.1", 40001), fd=11))
        self.show(zero, one)
        self.assertEqual(self.pairs[0, 1]["carried"], 102007)
        self.assert_route((0, 1), evidence="TCP_INFO of 2 connections")

    def test_several_interfaces(self):
        zero, one = self.nodes()
        ends = [(("10.%d.0.1" % n, 40000), ("10.%d.0.2" % n, 1024)) for n in range(3)]
        zero.to(1, 1000, 100).connected(*(
            b.connection(*ends[n], fd=10 + n, interface="eth%d" % n, sent=(60000, 40000, 500)[n])
            for n in range(3)))
        one.connected(*(b.connection(ends[n][1], ends[n][0], fd=10 + n) for n in range(3)))
        zero.ports(3, 8000, [{"name": "eth%d" % n, "kind": "net", "rate": 10 ** 9} for n in range(3)])
        self.show(zero, one)
        self.assert_route((0, 1), device="eth0, eth1", speed=2 * 10 ** 9, carried=100500,
                          evidence="TCP_INFO of 3 connections")

    def test_one_socket_under_two_numbers_counts_once(self):
        zero, one = self.nodes()
        zero.to(1, 1000, 10)
        zero.connected(b.connection(self.A, self.B, fd=10, cookie=5, sent=10400),
                       b.connection(self.A, self.B, fd=11, cookie=5, sent=10400))
        one.connected(b.connection(self.B, self.A, received=10400))
        self.show(zero, one)
        self.assertEqual(self.pairs[0, 1]["carried"], 10400)

    def test_the_receiver_counted_what_the_sender_did_not_see_acknowledged(self):
        zero, one = self.nodes(end=0)
        zero.to(1, 1000, 10).connected(b.connection(self.A, self.B, sent=2000), when=2)
        one.connected(b.connection(self.B, self.A, received=10300))
        self.show(zero, one)
        self.assert_route((0, 1), name="tcp", seen=True, carried=10300)

    def test_last_look_of_a_killed_process(self):
        zero, one = self.nodes(end=0)
        zero.to(1, 1000, 10).connected(b.connection(self.A, self.B, sent=2000), when=2)
        one.connected(b.connection(self.B, self.A, received=2000), when=2)
        self.show(zero, one)
        self.assert_route((0, 1), name="tcp", seen=False, carried=2000)
        self.assertEqual(self.pairs[0, 1]["remainder_is"], "after the last count")

    def test_ipv6(self):
        zero, one = self.nodes()
        a, c = ("fd00::1", 40000), ("fd00::2", 1024)
        zero.to(1, 1000, 10).connected(b.connection(a, c, sent=10400))
        one.connected(b.connection(c, a))
        self.show(zero, one)
        self.assert_route((0, 1), name="tcp", seen=True)

    def test_addresses_of_several_processes_are_not_guessed_at(self):
        ranks = [ob1(number, 4, host="node%d" % number) for number in range(4)]
        for src, dst in ((0, 1), (2, 3)):  # two networks with the same addresses
            ranks[src].to(dst, 1000, 10).connected(b.connection(self.A, self.B, sent=10400))
            ranks[dst].connected(b.connection(self.B, self.A, received=10400))
        self.show(*ranks)
        for pair in ((0, 1), (2, 3)):
            self.assertEqual(self.pairs[pair]["carried"], 0)
            self.assert_route(pair, name="tcp", seen=False,
                              evidence="BTL tcp is the only one that reaches other nodes")

    def test_ambiguous_addresses_where_nothing_excludes_the_others(self):
        ranks = [ob1(number, 4, host="node%d" % number, btl="self,tcp,openib") for number in range(4)]
        for src, dst in ((0, 1), (2, 3)):
            ranks[src].to(dst, 1000, 10).connected(b.connection(self.A, self.B, sent=10400))
            ranks[dst].connected(b.connection(self.B, self.A, received=10400))
        self.show(*ranks)
        self.assertEqual(self.pairs[0, 1]["routes"], [])
        self.assertEqual(self.pairs[0, 1]["unknown"],
                         "several processes answer to the address that the sender used")
        self.assertEqual(self.pairs[0, 1]["label"], "unknown")

    def test_loopback_addresses_hold_within_a_network_namespace(self):
        a, c = ("127.0.0.1", 40000), ("127.0.0.1", 1024)
        ranks = [ob1(number, 4, host="node%d" % (number // 2), btl="self,tcp") for number in range(4)]
        for src, dst in ((0, 1), (2, 3)):
            ranks[src].to(dst, 1000, 10).connected(b.connection(a, c, sent=10400, interface="lo"))
            ranks[dst].connected(b.connection(c, a, received=10400, interface="lo"))
        self.show(*ranks)
        for pair in ((0, 1), (2, 3)):
            self.assertEqual(self.pairs[pair]["where"], "node")
            self.assert_route(pair, name="tcp", device="lo", seen=True, carried=10400)
        self.assertNotIn((0, 3), self.pairs)

    def test_vader(self):
        zero, one = ob1(0, 2), ob1(1, 2)
        zero.to(1, 100, 10)
        self.show(zero, one)
        self.assert_route((0, 1), name="vader", layer="Open MPI BTL", device="memory", kind=2,
                          seen=False, messages=10, bytes=1000, carried=0)
        pair = self.pairs[0, 1]
        self.assertEqual((pair["where"], pair["remainder"], pair["remainder_is"], pair["label"]),
                         ("node", -1000, "shared memory (concluded)", "vader"))

    def test_vader_with_copies_by_the_kernel(self):
        zero, one = ob1(0, 2), ob1(1, 2)
        zero.to(1, 100, 50).to(1, 4096, 5).to(1, MIB, 4)
        one.cma([{"pid": 1000, "reads": 4, "read": 4 * MIB}, {"pid": 1001, "reads": 1, "read": 8}])
        self.show(zero, one)
        self.assert_route((0, 1), 0, name="vader", first=7, last=13, messages=55, bytes=25480,
                          carried=0, seen=False)
        self.assert_route((0, 1), 1, name="cma", layer="Open MPI BTL", kind=3, first=21, last=21,
                          messages=4, bytes=4 * MIB, carried=4 * MIB, seen=True,
                          evidence="4 calls of process_vm_readv or writev")
        pair = self.pairs[0, 1]
        self.assertEqual((pair["remainder"], pair["remainder_is"]),
                         (-25480, "shared memory (concluded)"))
        self.assertEqual(pair["label"], "vader, from 1 MiB on cma")
        self.assertNotIn((1, 1), self.pairs)  # trying it on itself is no message

    def test_writes_count_in_their_direction(self):
        zero, one = ob1(0, 2), ob1(1, 2)
        zero.to(1, MIB, 4).cma([{"pid": 1001, "writes": 4, "written": 4 * MIB}])
        self.show(zero, one)
        self.assertEqual([route["name"] for route in self.pairs[0, 1]["routes"]], ["cma"])
        self.assertEqual((self.pairs[0, 1]["remainder"], self.pairs[0, 1]["remainder_is"]), (0, ""))

    def test_collectives_that_the_kernel_copied_move_no_small_messages(self):
        zero, one = ob1(0, 2), ob1(1, 2)
        zero.to(1, 8, 1000)
        one.cma([{"pid": 1000, "reads": 5000, "read": 50 * MIB}])
        self.show(zero, one)
        self.assert_route((0, 1), 0, name="vader", messages=1000)
        self.assert_route((0, 1), 1, name="cma", messages=0, carried=50 * MIB)
        self.assertEqual(self.pairs[0, 1]["label"], "vader, also cma")

    def test_collectives_beside_large_messages(self):
        zero, one = ob1(0, 2), ob1(1, 2)
        zero.to(1, 8, 10).to(1, MIB, 4)
        one.coll("MPI_Bcast", 3000, 3100, 0, size=6 * MIB)
        one.cma([{"pid": 1000, "reads": 10, "read": 10 * MIB}])
        self.show(zero, one)
        self.assert_route((0, 1), 0, name="vader", messages=10)
        self.assert_route((0, 1), 1, name="cma", messages=4, seen=False, carried=10 * MIB)
        self.assertEqual(self.pairs[0, 1]["remainder_is"],
                         "collectives, one-sided operations and control")

    def test_a_pml_before_another(self):
        ranks = [Rank(number, 2, pml="monitoring", btl="self,vader,tcp") for number in range(2)]
        ranks[1].cma([{"pid": 1000, "reads": 4, "read": 4 * MIB}])
        self.show(ranks[0].to(1, 100, 10).to(1, MIB, 4), ranks[1])
        self.assertEqual(self.pairs[0, 1]["label"], "vader, from 1 MiB on cma")
        ranks[0].choice("probe", "ucx", "off")
        self.show(*ranks)
        self.assertEqual(self.pairs[0, 1]["unknown"], "what PML monitoring does is not known here")

    def test_collectives_alone(self):
        zero, one = ob1(0, 2), ob1(1, 2)
        one.cma([{"pid": 1000, "reads": 10, "read": 10 * MIB}])
        self.show(zero, one)
        self.assertEqual([(route["name"], route["messages"], route["carried"])
                          for route in self.pairs[0, 1]["routes"]], [("cma", 0, 10 * MIB)])
        self.assertIsNone(self.pairs[0, 1]["unknown"])

    def test_each_kind_of_buffer_has_its_way(self):
        def job(*copied):
            zero, one = ob1(0, 2), ob1(1, 2)
            zero.spaces(3, 2)
            zero.to(1, 100, 10).to(1, MIB, 4)
            for space, count in ((1, 3), (2, 2)):
                for _ in range(count):
                    zero.send(1, MIB, zero.clock, zero.clock + 5, flags=space << 21)
                    zero.clock += 10
            one.cma([{"pid": 1000, "reads": count, "read": count * MIB} for count in copied])
            self.show(zero, one)
            pair = self.pairs[0, 1]
            return pair["label"], sorted(
                (route["buffer"], route["name"], route["messages"], route["seen"],
                 route["carried"] // MIB) for route in pair["routes"])

        # all was copied by the kernel: what came from the GPU as well, so it was staged
        self.assertEqual(job(9), ("vader, from 1 MiB on cma", [
            ("device", "cma", 3, True, 3), ("host", "cma", 4, True, 4), ("host", "vader", 10, False, 0),
            ("managed", "cma", 2, True, 2)]))
        # as much as did not come from the GPU
        self.assertEqual(job(6), ("vader, from 1 MiB on cma; device memory: vader", [
            ("device", "vader", 3, False, 0), ("host", "cma", 4, True, 4),
            ("host", "vader", 10, False, 0), ("managed", "cma", 2, True, 2)]))
        # nothing: one way for all
        self.assertEqual(job(), ("vader", [
            ("device", "vader", 3, False, 0), ("host", "vader", 14, False, 0),
            ("managed", "vader", 2, False, 0)]))

    def test_copies_that_were_not_counted(self):
        last = "whether the kernel copied messages of 4 KiB and more: "
        for fields, choice, why in (
                ({"end": 0}, None, last + "the last counts were not written"),
                ({}, ("probe", "cma", "off"), last + "the probe cma was off"),
                ({}, ("device", "/dev/xpmem", "open"), "whether xpmem copied messages of 4 KiB and "
                                                       "more is not counted")):
            zero, one = ob1(0, 2), ob1(1, 2, **fields)
            if choice:
                one.choice(*choice)
            self.show(zero.to(1, 100, 10).to(1, MIB, 4), one)
            self.assertEqual([(route["name"], route["messages"]) for route in
                              self.pairs[0, 1]["routes"]], [("vader", 10)])
            self.assertEqual(self.pairs[0, 1]["unknown"], why)
            self.assertEqual(self.pairs[0, 1]["remainder_is"], "not counted")
            self.show(ob1(0, 2).to(1, 100, 10), one)  # nothing large, nothing unknown
            self.assertIsNone(self.pairs[0, 1]["unknown"])
        one = ob1(1, 2, end=0)  # all that there was had been counted
        one.cma([{"pid": 1000, "reads": 4, "read": 4 * MIB}])
        self.show(ob1(0, 2).to(1, 100, 10).to(1, MIB, 4), one)
        self.assertEqual(self.pairs[0, 1]["label"], "vader, from 1 MiB on cma")
        one = ob1(1, 2, end=0)  # half of it
        one.cma([{"pid": 1000, "reads": 2, "read": 2 * MIB}])
        self.show(ob1(0, 2).to(1, 100, 10).to(1, MIB, 4), one)
        self.assertEqual([(route["name"], route["messages"]) for route in
                          self.pairs[0, 1]["routes"]], [("vader", 10), ("cma", 0)])
        self.assertIsNotNone(self.pairs[0, 1]["unknown"])

    def test_the_only_btl_inside_a_node(self):
        zero, one = (ob1(number, 2, btl="self,tcp", end=0) for number in range(2))
        self.show(zero.to(1, 100, 10), one)
        self.assert_route((0, 1), name="tcp", device="lo", seen=False,
                          evidence="BTL tcp is the only one that reaches other ranks")

    def test_pids_hold_within_a_namespace(self):
        zero, one = ob1(0, 2, pid=7, pid_ns=1), ob1(1, 2, pid=7, pid_ns=2)
        zero.to(1, MIB, 4)
        one.cma([{"pid": 7, "reads": 4, "read": 4 * MIB}])  # its own
        self.show(zero, one)
        self.assertEqual(self.pairs[0, 1]["carried"], 0)

    def test_tcp_inside_a_node(self):
        zero, one = ob1(0, 2, btl="self,tcp"), ob1(1, 2, btl="self,tcp")
        zero.to(1, 1000, 10).connected(b.connection(self.A, self.B, sent=10400, interface="eth0"))
        one.connected(b.connection(self.B, self.A))
        self.show(zero, one)
        self.assert_route((0, 1), name="tcp", device="lo",
                          evidence="TCP_INFO of 1 connection between addresses of eth0")
        self.assertEqual(self.pairs[0, 1]["where"], "node")

    def test_network_namespaces_of_one_host(self):
        zero, one = (ob1(number, 2, btl="self,tcp", net="net:[%d]" % number) for number in range(2))
        zero.to(1, 1000, 10).connected(b.connection(self.A, self.B, sent=10400, interface="eth0"))
        one.connected(b.connection(self.B, self.A))
        self.show(zero, one)
        self.assert_route((0, 1), name="tcp", device="eth0")

    def beside_vader(self, sent, size=1000, count=100, mounts="mnt:[1]"):
        zero, one = ob1(0, 2), ob1(1, 2)
        zero.to(1, size, count).connected(b.connection(self.A, self.B, sent=sent))
        one.connected(b.connection(self.B, self.A))
        for process in (zero, one):
            process.fact("namespace", "mnt", mounts or "mnt:[%d]" % process.rank)
        self.show(zero, one)

    def test_a_connection_of_the_program_beside_vader(self):
        """It carries less or more than the messages come to."""
        for sent, size in ((500, 1000), (40 * MIB, 1000), (40 * MIB, 10 * 1024), (5000, 0)):
            self.beside_vader(sent, size=size)
            self.assert_route((0, 1), 0, name="vader", messages=100, carried=0, seen=False,
                              evidence="same node, BTL vader is in use, no connection is MPI's")
            self.assertEqual(len(self.pairs[0, 1]["routes"]), 1)
            self.assertNotIn("own", self.pairs[0, 1]["remainder_is"])

    def test_what_fits_the_messages_is_theirs(self):
        self.beside_vader(1030000, size=10 * 1024)
        self.assert_route((0, 1), 0, name="tcp", layer="Open MPI BTL", messages=100, seen=True)

    def test_mounts_of_their_own_may_keep_vader_away(self):
        self.beside_vader(40 * MIB, mounts=None)
        self.assert_route((0, 1), 0, name="tcp", layer="Open MPI BTL", messages=100)

    def test_self(self):
        self.show(ob1(0, 1).to(0, 1000, 3))
        self.assert_route((0, 0), name="self", kind=1, messages=3, seen=False)
        self.assertEqual((self.pairs[0, 0]["where"], self.pairs[0, 0]["remainder_is"]),
                         ("self", "within the rank"))

    def test_connections_of_a_process_to_itself_are_nobodys(self):
        zero = ob1(0, 1)
        zero.connected(b.connection(self.A, self.B, sent=18), b.connection(self.B, self.A, fd=11,
                                                                           received=18))
        self.show(zero)
        self.assertEqual(self.pairs, {})

    def test_one_node(self):
        def where(first, second):
            self.show(ob1(0, 2, **first).to(1, 5), ob1(1, 2, **second))
            return self.pairs[0, 1]["where"]
        self.assertEqual(where({"host": "a"}, {"host": "a"}), "node")
        self.assertEqual(where({"host": "a", "boot": "x"}, {"host": "b", "boot": "x"}), "network")
        # containers that share the host's network
        self.assertEqual(where({"host": "a", "boot": "x", "net": "net:[1]"},
                               {"host": "b", "boot": "x", "net": "net:[1]"}), "node")
        # network namespaces with names of their own are nodes
        self.assertEqual(where({"host": "a", "boot": "x", "net": "net:[1]"},
                               {"host": "b", "boot": "x", "net": "net:[2]"}), "network")
        # two machines of one name; numbers of namespaces are those of a boot
        self.assertEqual(where({"host": "a", "boot": "x", "net": "net:[1]"},
                               {"host": "a", "boot": "y", "net": "net:[1]"}), "network")


if __name__ == "__main__":
    main()
