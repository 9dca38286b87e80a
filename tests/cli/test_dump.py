# SPDX-License-Identifier: BSD-3-Clause
"""mpiwatch dump and info."""

import ipaddress
import json
import os
import struct

import build_trace as b
import mwwrite as w
from build_trace import Process, job, number, record, text
from cli import CliTest, main


class Dump(CliTest):
    def setUp(self):
        super().setUp()
        zero, one = Process(0, 2).world("main"), Process(1, 2).world()
        self.items = [
            zero.send(1, 100, 2000, 2100, flags=w.COUNTED | w.SYNC, ordinal=0),
            zero.recv(-1, 64, 2200, 2250, name="MPI_Irecv", flags=w.REQUEST | w.ANY_SOURCE,
                      request=0),
            zero.done(0, flags=w.PART | w.STATUS | w.MATCHED, peer=1, tag=3, bytes_in=60),
            zero.call("MPI_Waitall", 2300, 2400, site=7),
            zero.event(w.POLL, "MPI_Iprobe", start=2500, end=2900, polls=12, busy=100),
            zero.send(1, 0, 3000, 3001, flags=w.ERROR, code=-5),
        ]
        zero.call("MPI_Barrier", 5000, 6000, thread=1)
        one.recv(0, 100, 1900, 2200)
        self.trace = b.write(self.path("job.mpiw"), job(), zero, one)

    def lines(self, *options):
        return [json.loads(line) for line in
                self.run_cli("dump", "-f", "json", *options, self.trace).out.splitlines()]

    def test_events_come_back(self):
        names = {number: name for name, number in b.F.items()}
        kinds = {w.CALL: "CALL", w.SEND: "SEND", w.RECV: "RECV", w.DONE: "DONE", w.POLL: "POLL"}
        events = [line for line in self.lines("--rank", "0", "--thread", "0")
                  if line["type"] == "event"]
        self.assertEqual(len(events), len(self.items))
        for place, (event, item) in enumerate(zip(events, self.items)):
            self.assertEqual(event["number"], place)
            self.assertEqual(event["kind"], kinds[item["kind"]])
            self.assertEqual(event["function"], names[item["function"]])
            for field in ("comm", "peer", "tag", "bytes", "bytes_in"):
                self.assertEqual(event[field], item[field], field)
            if not item["flags"] & w.PART:
                self.assertEqual((event["start"], event["end"]), (item["start"], item["end"]))
                self.assertAlmostEqual(event["duration_s"], (item["end"] - item["start"]) / 1e9)
                self.assertAlmostEqual(event["start_s"], (item["start"] - 1000) / 1e9)
        self.assertEqual(events[0]["flags"], ["ORDINAL", "COUNTED", "SYNC"])
        self.assertEqual(events[0]["ordinal"], 0)
        self.assertEqual(events[2]["request"], 0)
        self.assertEqual((events[4]["polls"], events[4]["busy"]), (12, 100))
        self.assertEqual(events[5]["code"], -5)

    def test_selection(self):
        events = [line for line in self.lines() if line["type"] == "event"]
        self.assertEqual({(e["rank"], e["thread"]) for e in events}, {(0, 0), (0, 1), (1, 0)})
        only = [line for line in self.lines("--rank", "1") if line["type"] in ("event", "process")]
        self.assertEqual({line["rank"] for line in only}, {1})
        self.assertIn("rank 9 is not in this trace",
                      self.run_cli("dump", "--rank", "9", self.trace, code=1).err)

    def test_text(self):
        lines = self.run_cli("dump", "-r", "0", self.trace).out.splitlines()
        self.assertIn("0.0 #0 0.000001000 +0.000000100 SEND MPI_Send peer 1 tag 5 bytes 100 comm 0 "
                      "ordinal 0 SYNC", lines)
        self.assertIn("0.0 #2   DONE part of MPI_Waitall peer 1 tag 3 received 60 comm 0 request 0 "
                      "STATUS MATCHED", lines)
        self.assertIn("0.0 #5 0.000002000 +0.000000001 SEND MPI_Send peer 1 tag 5 bytes 0 comm 0 "
                      "code -5 ERROR", lines)

    def test_missing_events_are_said(self):
        zero = Process(0, 1)
        calls = [w.event(w.CALL, function=b.F["MPI_Barrier"], start=at, end=at + 5, comm=-1)
                 for at in (2000, 2100)]
        gap = w.events(calls[:1], zero.key) + w.events(calls[1:], zero.key, first=11)
        self.trace = b.write(self.path("gap.mpiw"), zero, gap)
        missing = [line for line in self.lines() if line["type"] == "missing"]
        self.assertEqual([line["events"] for line in missing], [10])
        self.assertIn("10 events are missing", self.run_cli("dump", self.trace).out)


def sockaddr(words, port, scope=0):
    """struct sockaddr_in or _in6 of Linux on a little-endian machine."""
    address = ipaddress.ip_address(words)
    if address.version == 4:
        return struct.pack("<H", 2) + struct.pack(">H", port) + address.packed + bytes(8)
    return (struct.pack("<H", 10) + struct.pack(">HI", port, 0) + address.packed +
            struct.pack("<I", scope))


class Fabric(CliTest):
    """What was seen of fabrics and of the kernel."""

    def setUp(self):
        super().setUp()
        zero = Process(0, 1)
        zero.add("MODULES", b.module(4, "/usr/lib/libmpi.so.40", role=1))
        zero.attempt(2, "fi_enable", result=-262, words="Invalid resource domain", provider="cxi",
                     domain="cxi0", caller=4, endpoint=1)
        zero.attempt(1, "fi_getinfo", asked="cxi", start=1050, end=1060, offer=[
            {"provider": "cxi", "domain": "cxi0", "device": "cxi0", "speed": 200 * 10**9,
             "state": "up", "driver": "cxi_ss1"}])
        zero.attempt(3, "ucp_init", library="ucx", end=0, inner=1)
        zero.log(1, "Failed to allocate CP, ret: -22", provider="cxi", function="cxip_ep", line=7)
        zero.add("LOG", count=5)
        zero.sockets(3, 900, [b.connection(("10.0.0.1", 4000), ("2001:db8::1", 65535), sent=77),
                              {"fd": 11, "local": b"abc"}], unseen=2)
        zero.ports(1, 100, [{"name": "hsn0", "kind": "net", "rate": 200 * 10**9, "sent": 5}])
        zero.cma([{"pid": 7, "reads": 3, "read": 4096, "refused": 1, "error": 1}], time=800)
        zero.choice("pml", "ob1", source="mca_pml_base_selected_component")
        self.zero = zero

    def endpoints(self, *endpoints):
        for number, (library, form, address) in enumerate(endpoints, 1):
            self.zero.endpoint(number, address, library=library, format=form, peer=[
                {"address": address + b"x", "sends": 2, "sent": 10,
                 "lane": [{"use": "am", "transport": "tcp", "device": "eth0"}]}])

    def lines(self):
        b.write(self.path("fabric.mpiw"), job(), self.zero)
        out = self.run_cli("dump", "-f", "json", "fabric.mpiw").out
        found = {}
        for line in map(json.loads, out.splitlines()):
            found.setdefault(line["type"], []).append(line)
        return found

    def test_everything_is_shown(self):
        lines = self.lines()
        first, second, third = lines["attempt"]
        self.assertEqual([first["call"], second["call"], third["call"]],
                         ["fi_getinfo", "fi_enable", "ucp_init"])
        self.assertEqual(first["offers"], [{"provider": "cxi", "domain": "cxi0", "fabric": "",
                                            "device": "cxi0", "state": "up", "driver": "cxi_ss1",
                                            "speed": 200 * 10**9}])
        self.assertEqual((second["result"], second["words"], second["caller_path"]),
                         (-262, "Invalid resource domain", "/usr/lib/libmpi.so.40"))
        self.assertEqual((third["end"], third["inner"], third["caller_path"]), (0, True, None))
        self.assertEqual((lines["log"][0]["text"], lines["log"][0]["line"]),
                         ("Failed to allocate CP, ret: -22", 7))
        self.assertEqual(lines["log_lost"][0]["count"], 5)
        look = lines["sockets"][0]
        self.assertEqual((look["when"], look["unseen"], look["connections"]), (3, 2, 2))
        connection, other = lines["connection"]
        self.assertEqual((connection["local"], connection["remote"], connection["sent"]),
                         ("10.0.0.1:4000", "[2001:db8::1]:65535", 77))
        self.assertEqual((other["local"], other["remote"], other["fd"]), ("", "", 11))
        port, cma, choice = lines["port"][0], lines["cma"][0], lines["choice"][0]
        self.assertEqual((port["name"], port["rate"]), ("hsn0", 200 * 10**9))
        self.assertEqual((cma["read"], cma["error"]), (4096, 1))
        self.assertEqual((choice["name"], choice["how"]), ("ob1", "selected"))

    def test_addresses_in_words(self):
        gid = ipaddress.ip_address("fe80::21").packed
        cases = (
            ("libfabric", 2, sockaddr("192.168.7.9", 4711), "192.168.7.9:4711"),
            ("libfabric", 1, sockaddr("192.168.7.9", 4711), "192.168.7.9:4711"),
            ("libfabric", 3, sockaddr("fe80::9", 80, 3), "[fe80::9%3]:80"),
            ("libfabric", 17, sockaddr("2001:db8::9", 80), "[2001:db8::9]:80"),
            ("libfabric", 4, struct.pack("<H", 27) + bytes.fromhex("ffff00000000") + gid +
             bytes.fromhex("0000000001060fa1") + bytes(16),
             "gid fe80::21 pkey 0xffff service 0x0000000001060fa1"),
            ("libfabric", 9, b"fi_shm://4711\0", "fi_shm://4711"),
            ("libfabric", 12, gid + struct.pack("<HHI", 5, 0, 99) + bytes(8),
             "gid fe80::21 qp 5 connection 99"),
            ("libfabric", 15, struct.pack("<IHH", 0x1234 << 9 | 17, 1, 0), "nic 0x1234 pid 17"),
            ("libfabric", 2, b"abc", "616263"),
            ("libfabric", 77, b"\0\xff", "00ff"),
            ("ucx", 0, struct.pack("<Q", 0x8c1f000000000001), "uid 0x8c1f000000000001"),
            ("ucx", 0, b"ab", "6162"),
            ("libfabric", 2, b"", ""),
        )
        self.endpoints(*(case[:3] for case in cases))
        lines = self.lines()
        self.assertEqual([line["address"] for line in lines["endpoint"]],
                         [case[3] for case in cases])
        self.assertEqual([line["address_bytes"] or "" for line in lines["endpoint"]],
                         [case[2].hex() for case in cases])
        self.assertEqual([line["endpoint"] for line in lines["peer"]],
                         list(range(1, len(cases) + 1)))
        self.assertEqual(lines["peer"][0]["lanes"],
                         [{"use": "am", "transport": "tcp", "device": "eth0"}])

    def test_text(self):
        self.endpoints(("libfabric", 2, sockaddr("192.168.7.9", 4711)))
        self.zero.log(2, "evil\x1b[31m line")
        b.write(self.path("fabric.mpiw"), job(), self.zero)
        out = self.run_cli("dump", "fabric.mpiw").out
        self.assertIn(" address=192.168.7.9:4711 ", out)
        self.assertIn(" call=fi_enable result=-262 words=Invalid resource domain ", out)
        self.assertIn(" text=evil\\x1b[31m line\n", out)

    def test_info_counts(self):
        self.endpoints(("libfabric", 2, sockaddr("192.168.7.9", 4711)))
        b.write(self.path("fabric.mpiw"), job(), self.zero)
        self.assertEqual(self.run_cli("info", "-f", "json", "fabric.mpiw").json()["fabric"], {
            "attempts": 3, "failed_attempts": 1, "open_attempts": 1, "endpoints": 1, "peers": 1,
            "log_lines": 1, "lost_log_lines": 5, "connections": 2, "ports": 1, "cma_peers": 1,
            "choices": 1})
        out = self.run_cli("info", "fabric.mpiw").out
        self.assertIn("3 attempts to open a fabric, 1 of them failed", out)
        self.assertNotIn("fabric", self.run_cli("info", b.write(
            self.path("none.mpiw"), job(), Process(0, 1))).out)


class Placement(CliTest):
    def setUp(self):
        super().setUp()
        self.zero = Process(0, 1)
        self.zero.add("TOPOLOGY", xml=b"<topology/>", source="hwloc, interface 2.8.0", took=5,
                      slit=[{"node": 0, "distance": [10, 32], "cpus": [0, 4, 9, 1]}],
                      pci=[{"address": "0000:c1:00.0", "names": "mlx5_0", "speed": 8000}],
                      gpu=[{"node": 4, "pci": "0000:d1:00.0"}], link=[{"from": 4, "to": 5}])
        self.zero.add("PLACEMENT", when=3, time=2000, cpus=[2, 1], node=1, threads=2, watched=9,
                      thread=[{"tid": 7, "cpu": 3, "mpi": 1}],
                      foreign=[{"pid": 9, "name": "spin\x1b", "busy": 99}])
        self.zero.add("DEVICE", visible="X=1", device=[
            {"runtime": "hip", "index": 1, "peer": [{"index": 0, "link": "xgmi", "hops": 1}]}])
        self.zero.add("BUFFER", space=[{"id": 1, "kind": 3, "runtime": "hip", "device": 2}])
        self.zero.send(0, 8, 2000, 2100, flags=w.spaces(1, 31))
        self.trace = b.write(self.path("placed.mpiw"), job(), self.zero)

    def test_lines(self):
        lines = {line["type"]: line for line in map(json.loads, self.run_cli(
            "dump", "-f", "json", self.trace).out.splitlines())}
        self.assertEqual((lines["topology"]["xml_bytes"], lines["topology"]["took_ns"]), (11, 5))
        self.assertEqual((lines["numa_node"]["cpus"], lines["numa_node"]["distances"]),
                         ("0-3,9", [10, 32]))
        self.assertEqual((lines["pci"]["names"], lines["pci"]["node"]), ("mlx5_0", None))
        self.assertEqual(lines["gpu"]["pci"], "0000:d1:00.0")
        self.assertEqual((lines["gpu_link"]["from"], lines["gpu_link"]["to"]), (4, 5))
        look = lines["placement"]
        self.assertEqual((look["cpus"], look["cpu"], look["node"], look["watched_ns"]),
                         ("2", None, 0, 9))
        self.assertEqual((lines["placed_thread"]["tid"], lines["placed_thread"]["cpu"]), (7, 2))
        self.assertEqual(lines["foreign"]["busy_percent"], 99)
        self.assertEqual(lines["device"]["peers"],
                         [{"index": 0, "access": 0, "hops": 1, "link": "xgmi"}])
        self.assertEqual((lines["space"]["kind"], lines["space"]["device"]), ("device", 1))
        self.assertEqual((lines["event"]["send_space"], lines["event"]["receive_space"]), (1, 31))

    def test_text(self):
        out = self.run_cli("dump", self.trace).out
        self.assertIn("from space 1 into space 31", out)
        self.assertNotIn("\x1b", out)


class Info(CliTest):
    def test_document(self):
        os.mkdir(self.path("job.mpiw"))
        b.write(self.path("job.mpiw/job.mpiw"), job())
        zero, one = Process(0, 2, host="n1"), Process(1, 2, host="n2")
        for at in range(5):
            zero.call("MPI_Barrier", 2000 + 10 * at, 2005 + 10 * at)
        zero.call("MPI_Barrier", 3000, 3001, thread=4)
        strange = w.frame(77, b"x", zero.key)
        b.write(self.path("job.mpiw/n1.mpiw"),
                b.chunk("FILE", text(1, "mpiwatch 9.9"), text(2, "n1"), process=zero.key), zero,
                strange)
        b.write(self.path("job.mpiw/n2.mpiw"), one)
        info = self.run_cli("info", "-f", "json", "job.mpiw").json()
        self.assertEqual([os.path.basename(file["path"]) for file in info["files"]],
                         ["job.mpiw", "n1.mpiw", "n2.mpiw"])
        self.assertEqual(info["files"][1]["writer"], "mpiwatch 9.9")
        self.assertEqual(sum(file["bytes"] for file in info["files"]), info["trace"]["bytes"])
        self.assertEqual(sum(file["chunks"] for file in info["files"]),
                         sum(chunk["count"] for chunk in info["chunks"]))
        self.assertEqual(sum(chunk["bytes"] for chunk in info["chunks"]), info["trace"]["bytes"])
        self.assertIn({"type": 77, "name": "UNKNOWN", "count": 1, "bytes": 33}, info["chunks"])
        first = info["process_list"][0]
        self.assertEqual((first["rank"], first["threads"], first["events"]), (0, 2, 6))
        self.assertEqual(info["trace"]["events"], 6)
        shown = self.run_cli("info", "job.mpiw").out
        self.assertIn("6 events", shown)
        self.assertIn("type 77, not known to this version", shown)

    def test_events_that_are_there_twice_count_once(self):
        zero = Process(0, 1)
        zero.call("MPI_Barrier", 2000, 2005)
        whole = zero.chunks()
        b.write(self.path("twice.mpiw"), whole, whole)
        info = self.run_cli("info", "-f", "json", "twice.mpiw").json()
        self.assertEqual(info["trace"]["events"], 1)

    def test_unnamed_functions(self):
        zero = Process(0, 1)
        zero.threads[0] = [w.event(w.CALL, function=60000, start=2000, end=2001, comm=-1),
                           w.event(w.CALL, function=60001, start=2002, end=2003, comm=-1)]
        zero.add("COUNTS", record(1, number(1, 60000), text(2, "MPI_Tomorrow"), number(3, 1)))
        b.write(self.path("new.mpiw"), zero)
        functions = [call["function"] for call in self.report("new.mpiw")["calls"]]
        self.assertEqual(sorted(functions), ["MPI_Tomorrow", "MPI_function_60001"])


if __name__ == "__main__":
    main()
