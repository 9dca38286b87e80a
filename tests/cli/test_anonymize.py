# SPDX-License-Identifier: BSD-3-Clause
"""mpiwatch anonymize: nothing of people, machines and places is left; what explains the job is."""

import ipaddress
import json
import os
import re
import struct

import build_trace as b
import mwformat
import mwwrite as w
from build_trace import Process, chunk, job, module, number, record, site, text
from cli import CliTest, main

HOSTS = ("login7.cluster.example.org", "nid00123", "vm")
# Everything that must not be found, in any case.
SECRETS = (
    "nid00123", "nid00124", "login7", "cluster.example.org", "alice", "bob.smith", "/home", "/scratch",
    "secretproject", "input-of-patient", "patient42", "4711999", "192.168.17.23", "2001:db8::17",
    "52:54:00:12:34:56", "0002:c903:00a1:b2c3", "boot-nid00123", "a81b2c3d-1111-2222-3333-444455556666",
    "chem-account", "debugqueue", "mail.example.org", "fe80::5054:ff:fe12:3456", "grouplead",
    "deadbeefdeadbeefdeadbeefdeadbeef",
)
KEPT = (
    b"libmpi.so.40", b"solver", b"UCX_TLS", b"tcp,self", b"MPI_Send", b"openmpi-mca-params.conf",
    b"6.1.0-18-amd64", b"mlx5_0:1", b"0000:03:00.0", b"AMD EPYC 7543", b"--steps=10", b"Open MPI",
    b"/sys/class/infiniband", b"halo ring", b"12.5",
)
BUILD_ID = bytes(range(20))


def fact(section, key, value, source="environment"):
    return record(3, text(1, section), text(2, key), text(3, value), text(4, source))


def everything():
    """A trace with every kind of name in every place where it may be."""
    zero, one = Process(0, 2, host=HOSTS[0]), Process(1, 2, host=HOSTS[1])
    zero.program = "/home/alice/secretproject/bin/solver"
    zero.cwd = "/scratch/alice/run of bob.smith"
    zero.library = "/home/alice/openmpi-4.1.4/lib/libmpi.so.40"
    zero.arguments = ["/home/alice/secretproject/bin/solver", "--steps=10", "12.5",
                      "--input=/scratch/alice/input-of-patient", "patient42", "-hnid00124",
                      "--user", "grouplead"]
    zero.version = "Open MPI v4.1.4, package: Open MPI alice@login7.cluster.example.org Distribution"
    zero.world(name="halo ring of alice")
    one.world()
    zero.add("MODULES", module(1, zero.program, BUILD_ID), module(2, zero.library, BUILD_ID, role=1),
             zstd=True)
    zero.add("SITES", site(1, (1, 0x1234)))
    zero.add("THREAD", number(1, 0), number(2, 1000), text(3, "alice-worker"), number(4, 1))
    zero.add("WINDOW", id=0, comm=1, name="ghosts of alice")
    zero.add("IOFILE", id=0, comm=1, name="/scratch/alice/patient42.h5")
    zero.add("FLOW", comm=1, peers=[2, 1, 8])
    zero.add("HEALTH", text(1, "output"),
             text(2, "cannot write /scratch/alice/x.mpiw on nid00123: No space left"), number(3, 1))
    zero.add("ENVIRONMENT", number(1, 1),
             fact("env", "UCX_TLS", "tcp,self"),
             fact("env", "UCX_NET_DEVICES", "mlx5_0:1"),
             fact("env", "SLURM_JOB_ID", "4711999"),
             fact("env", "SLURM_JOB_NODELIST", "nid[00123-00124]"),
             fact("env", "SLURM_JOB_ACCOUNT", "chem-account"),
             fact("env", "SLURM_JOB_PARTITION", "debugqueue"),
             fact("env", "SLURM_JOB_USER", "bob.smith"),
             fact("env", "PMIX_NAMESPACE", "slurm.pmix.4711999.0"),
             fact("env", "OMPI_MCA_orte_hnp_uri", "1.0;tcp://192.168.17.23:4000"),
             fact("env", "OMPI_MCA_btl_tcp_if_include", "192.168.17.23/24"),
             fact("env", "OMPI_ARGV", "--steps=10 patient42"),
             fact("env", "SLURM_STEP_NOTE", "see mail.example.org or ask alice@mail.example.org"),
             fact("env", "I_MPI_HYDRA_HOST_FILE", "/home/alice/hosts"),
             fact("env", "UCX_STEP", "job 4711999 of ALICE on NID00123"),
             fact("env", "LOADEDMODULES", "openmpi/4.1.4:/home/bob.smith/modules/x"),
             fact("network", "eth0.address", "52:54:00:12:34:56"),
             fact("network", "eth0.inet6", "fe80::5054:ff:fe12:3456 2001:db8::17"),
             fact("network", "mlx5_0.node", "0002:c903:00a1:b2c3", "/sys/class/infiniband/mlx5_0"),
             fact("network", "mlx5_0.pci", "0000:03:00.0"),
             fact("system", "boot_parameters", "root=UUID=a81b2c3d-1111-2222-3333-444455556666"),
             fact("system", "machine_id", "deadbeefdeadbeefdeadbeefdeadbeef"),
             fact("system", "kernel", "6.1.0-18-amd64"),
             fact("cpu", "model", "AMD EPYC 7543"),
             fact("cgroup", "path", "/system.slice/slurmstepd.scope/job_4711999/user_alice"),
             fact("parameter", "OMPI_MCA_pml", "^ucx", "/etc/openmpi/openmpi-mca-params.conf:69"),
             fact("parameter", "OMPI_MCA_btl", "tcp,self", "/home/alice/.openmpi/mca-params.conf:1"),
             zstd=True)
    one.add("ENVIRONMENT", number(2, zero.key), fact("env", "RANK_FACT", "4711999"))
    zero.send(1, 100, 2000, 2100, site=1)
    one.recv(0, 100, 1900, 2200)
    one.add("COUNTS", record(1, number(1, b.F["MPI_Send"]), text(2, "MPI_Send"), number(3, 2)))
    zero.finalize(9000)
    command = ("mpirun --host nid00123,nid00124 --mca pml ob1 -wd '/scratch/alice/run of bob.smith' "
               "/home/alice/secretproject/bin/solver --steps=10 patient42")
    files = [chunk("FILE", text(1, "mpiwatch 0.1.0"), text(2, host), text(3, "boot-" + host),
                   process=process.key) for host, process in zip(HOSTS, (zero, one))]
    return [job(command=command, key="key-of-nid00123"),
            *files, zero, one]


class Anonymize(CliTest):
    def setUp(self):
        super().setUp()
        b.write(self.path("job.mpiw"), *everything())

    def anonymous(self, *options):
        self.run_cli("anonymize", "job.mpiw", "-o", "anonymous.mpiw", *options)
        with open(self.path("anonymous.mpiw"), "rb") as file:
            return file.read()

    def test_nothing_is_left(self):
        content = self.anonymous()
        for secret in SECRETS:
            self.assertNotIn(secret.lower().encode(), content.lower(), secret)
        dump = self.run_cli("dump", "anonymous.mpiw").out + self.run_cli("report", "anonymous.mpiw").out
        for secret in SECRETS:
            self.assertNotIn(secret.lower(), dump.lower(), secret)

    def test_the_test_would_find_it(self):
        """Every secret is in the trace that went in, in some chunk."""
        dump = self.run_cli("dump", "job.mpiw").out.lower()
        for secret in SECRETS:
            self.assertIn(secret.lower(), dump)

    def test_metadata_is_not_compressed(self):
        for kind, _, flags, _, _ in b.parse(self.anonymous()):
            self.assertEqual(flags, 0, kind)

    def test_what_explains_the_job_stays(self):
        content = self.anonymous()
        for kept in KEPT:
            self.assertIn(kept, content)
        self.assertIn(BUILD_ID, content)

    def test_the_figures_are_the_same(self):
        self.anonymous()
        before, after = self.report("job.mpiw"), self.report("anonymous.mpiw")
        for section in ("time", "calls", "messages", "sizes"):
            self.assertEqual(before[section], after[section], section)
        self.assertEqual([rank["time_s"] for rank in before["ranks"]],
                         [rank["time_s"] for rank in after["ranks"]])
        self.assertEqual(before["stack"]["mpi"][0]["build_id"], after["stack"]["mpi"][0]["build_id"])
        self.assertEqual(self.matrix("anonymous.mpiw"), {("0", "1"): 100})

    def test_the_same_name_gets_the_same_stand_in(self):
        self.anonymous()
        nodes = [node["host"] for node in self.report("anonymous.mpiw")["nodes"]]
        self.assertEqual(len(set(nodes)), 2)
        for node in nodes:
            self.assertRegex(node, r"^node\d+(\.domain\d+)?$")
        health = self.report("anonymous.mpiw")["health"][0]["message"]
        self.assertRegex(health, r"^cannot write /path\d+ on node\d+: No space left$")
        self.assertIn(re.search(r"node\d+", health).group(), nodes)

    def test_command_lines(self):
        self.anonymous()
        command = self.report("anonymous.mpiw")["job"]["command"][0]
        self.assertRegex(command, r"^mpirun --host arg\d+ --mca pml ob1 -wd arg\d+ /dir\d+/solver "
                                  r"--steps=10 arg\d+$")
        arguments = self.report("anonymous.mpiw")["job"]["arguments"]
        self.assertRegex(" ".join(arguments), r"^/dir\d+/solver --steps=10 12.5 --input=arg\d+ "
                                              r"arg\d+ -harg\d+ --user arg\d+$")

    def test_keys_are_others_and_still_fit(self):
        content = self.anonymous()
        keys = {process for _, _, _, process, _ in b.parse(content)} - {0}
        self.assertEqual(len(keys), 2)
        self.assertFalse(keys & {0x1000, 0x1001})
        facts = self.report("anonymous.mpiw")["environment"]
        tls = next(fact for fact in facts if fact["key"] == "UCX_TLS")
        self.assertTrue(tls["everywhere"], "rank 1 has it from its base")

    def test_events_are_copied_as_they_are(self):
        with open(self.path("job.mpiw"), "rb") as file:
            before = [payload for kind, _, _, _, payload in b.parse(file.read()) if kind == 9]
        after = [payload for kind, _, _, _, payload in b.parse(self.anonymous()) if kind == 9]
        self.assertEqual(before, after)

    def test_unknown_content_is_left_out_and_named(self):
        strange = [w.frame(30, b"<xml>nid00123</xml>", 0x1000), w.frame(200, b"alice", 1),
                   w.frame("RANK", b"alice", 1, version=2),
                   chunk("RANK", number(1, 0), text(99, "alice"), process=0x1000)]
        b.write(self.path("strange.mpiw"), *everything(), *strange)
        result = self.run_cli("anonymize", "strange.mpiw", "-o", "out.mpiw")
        self.assertIn("1 chunks of type 30 (INDEX)", result.err)
        self.assertIn("1 chunks of type 200 (UNKNOWN)", result.err)
        self.assertIn("1 chunks of type 4 (RANK)", result.err)
        with open(self.path("out.mpiw"), "rb") as file:
            content = file.read()
        self.assertNotIn(b"alice", content)
        self.assertFalse({30, 200} & {kind for kind, *_ in b.parse(content)})

    def test_more_words(self):
        self.assertIn(b"halo ring", self.anonymous())
        self.run_cli("anonymize", "job.mpiw", "-o", "more.mpiw", "--also", "halo", "-a", "EPYC")
        with open(self.path("more.mpiw"), "rb") as file:
            content = file.read()
        self.assertNotIn(b"halo", content)
        self.assertNotIn(b"EPYC", content)

    def test_never_overwrites(self):
        b.write(self.path("there.mpiw"), b"precious")
        self.run_cli("anonymize", "job.mpiw", "-o", "there.mpiw", code=1)
        with open(self.path("there.mpiw"), "rb") as file:
            self.assertEqual(file.read(), b"precious")

    def test_hosts_and_addresses_in_any_place(self):
        """Where no name says that a host follows: arguments, unknown settings, URLs."""
        process = Process(0, 1, host="nid00123").world()
        process.arguments = ["solver", "10.20.30.40", "10.20.30.41,10.20.30.42",
                             "--peer=10.20.30.43", "-s10.20.30.44", "4.1.4",
                             "a.secrethost1.example"]
        settings = {
            "UCX_FOO": "host:secrethost8.corp.example",
            "UCX_LIST": "a=secret_host9.corp.example;10.20.30.45,eth0:10.20.30.46 x_10.20.30.47_y",
            "MPICH_URL": "https://bob:pw@host.example/x/hiddenpath?q=hiddenquery",
            "MPICH_URL2": "tcp://bob:p,w!zz@10.20.30.48:4711,udp://secretshort:99",
            "MPICH_SEEN": "nid00123-ib0.corp.example and NID00123 and nid0012345 "
                          "...secrethost7.example",
            "MPICH_AT": "@secrethost6.example login.secretuni.ac.in/hidden ::ffff:10.20.30.55",
            "OMPI_ARGV": "10.20.30.49 --peer=10.20.30.50",
            "UCX_PLAIN": "ucx 1.13.1 libfoo.so.1 libbar.so run.sh input.xml main.c x.conf C.UTF-8 "
                         "v4.1.4 127.0.0.1 1.2.3.4.5 6.1.0-18-amd64 end.",
            "boot_parameters": "net.ifnames=0 rd.lvm.lv=x ip=10.20.30.51",
        }
        process.add("ENVIRONMENT", *(fact("env", *setting) for setting in settings.items()))
        secrets = ("10.20.30", "secret", "corp", "bob", "pw@", "zz", "host.example", "hidden",
                   "nid0012", "-ib0", "20.30")
        command = ("mpirun --peer 10.20.30.52 -x A=10.20.30.53 ./solver 10.20.30.54 "
                   "secrethost5.corp.example")
        b.write(self.path("hosts.mpiw"), job(command=command), process)
        before = self.run_cli("dump", "hosts.mpiw").out.lower()
        self.run_cli("anonymize", "hosts.mpiw", "-o", "hosts-anonymous.mpiw")
        after = (self.run_cli("dump", "hosts-anonymous.mpiw").out +
                 self.run_cli("report", "hosts-anonymous.mpiw").out).lower()
        for secret in secrets:
            self.assertIn(secret, before)
            self.assertNotIn(secret, after, secret)
        report = self.report("hosts-anonymous.mpiw")
        facts = {f["key"]: f["values"][0]["value"] for f in report["environment"]}
        self.assertEqual(facts["UCX_PLAIN"], settings["UCX_PLAIN"])
        self.assertRegex(facts["UCX_FOO"], r"^host:node\d+$")
        self.assertRegex(facts["MPICH_URL"], r"^https://node\d+/path\d+$")
        self.assertRegex(facts["MPICH_URL2"], r"^tcp://address\d+:4711,udp://node\d+:99$")
        self.assertRegex(facts["MPICH_SEEN"], r"^(node\d+) and \1 and node\d+ \.\.\.node\d+$")
        self.assertRegex(facts["boot_parameters"], r"^net\.ifnames=0 rd\.lvm\.lv=x ip=address\d+$")
        self.assertIn("4.1.4", report["job"]["arguments"])

    def test_short_names_do_not_spoil_words(self):
        process = Process(0, 1, host="vm").world()
        process.add("ENVIRONMENT", fact("kernel", "vm.swappiness", "60", "/proc/sys/vm/swappiness"),
                    fact("x", "y", "the vm here, not overvmed"))
        b.write(self.path("vm.mpiw"), process)
        self.run_cli("anonymize", "vm.mpiw", "-o", "vm-anonymous.mpiw")
        dump = self.run_cli("dump", "vm-anonymous.mpiw").out
        self.assertIn("vm.swappiness", dump)
        self.assertIn("/proc/sys/vm/swappiness", dump)
        self.assertIn("the node1 here, not overvmed", dump)


def sockaddr(words, port):
    """struct sockaddr_in or _in6 of Linux on a little-endian machine."""
    address = ipaddress.ip_address(words)
    if address.version == 4:
        return struct.pack("<H", 2) + struct.pack(">H", port) + address.packed + bytes(8)
    return (struct.pack("<H", 10) + struct.pack(">HI", port, 0) + address.packed +
            struct.pack("<I", 3))


GID = ipaddress.ip_address("fe80::5054:ff:fe12:3456").packed
# (library, addr_format, address of rank 0, of rank 1): each is the peer of the other.
ADDRESSES = (
    ("libfabric", 2, sockaddr("192.168.17.23", 4000), sockaddr("192.168.17.24", 4000)),
    ("libfabric", 1, sockaddr("2001:db8::17", 4001), sockaddr("fe80::5054:ff:fe12:3456", 4001)),
    ("libfabric", 4, struct.pack("<H", 27) + bytes(6) + GID + bytes(24),
     struct.pack("<H", 27) + bytes(6) + GID[::-1] + bytes(24)),
    ("libfabric", 9, b"fi_sockaddr_in://192.168.17.23:4000\0", b"fi_shm://secretuid:1\0\0"),
    ("libfabric", 9, b"secretname\0", b"secretname2\0"),
    ("libfabric", 12, GID + bytes(16), GID[::-1] + bytes(16)),
    ("libfabric", 15, struct.pack("<II", 0x5ec7e << 9 | 5, 1),
     struct.pack("<II", 0x5ec7f << 9 | 5, 1)),
    ("libfabric", 13, b"secret-opaque-bytes-of-32-length", b"secret-opaque-bytes-of-32-lengti"),
    ("libfabric", 99, b"secret-other", b"secret-othes"),
    ("ucx", 0, struct.pack("<Q", 0x8c1f000000000001), struct.pack("<Q", 0x8c1f000000000002)),
    ("ucx", 0, b"secret-no-uid", b"secret-no-uie"),
    ("", 2, sockaddr("192.168.17.23", 4000), sockaddr("192.168.17.24", 4000)),
)


def fabric_trace():
    """Two ranks that name each other in every way there is."""
    zero, one = Process(0, 2, host="nid00123"), Process(1, 2, host="nid00124")
    for number_, (library, form, *pair) in enumerate(ADDRESSES, 1):
        for process, own, other in ((zero, *pair), (one, *reversed(pair))):
            process.endpoint(number_, own, library=library, format=form)
            # A later chunk does not say again how addresses look.
            process.add("ENDPOINT", id=number_, peer=[
                {"address": other, "sends": 3, "sent": 1000 + number_,
                 "lane": [{"use": "am", "transport": "tcp", "device": "eth0"}]}])
    here, there, six = ("192.168.17.23", 5000), ("192.168.17.24", 5001), ("2001:db8::17", 5002)
    loop = ("127.0.0.1", 5003)
    zero.sockets(3, 900, [b.connection(here, there, fd=5, interface="eth0", sent=77),
                          b.connection(six, ("fe80::5054:ff:fe12:3456", 9), fd=6),
                          b.connection(loop, ("127.0.0.1", 5004), fd=7, interface="lo"),
                          b.connection(("::1", 1), ("::ffff:192.168.17.24", 5), fd=8)])
    one.sockets(3, 900, [b.connection(there, here, fd=5, received=77),
                         {"fd": 6, "local": b"secret"[:5]}])
    zero.attempt(1, "fi_getinfo", asked="cxi", offer=[
        {"provider": "tcp;ofi_rxm", "domain": "eth0", "fabric": "192.168.17.0/24", "device": "eth0",
         "speed": 10**10}])
    zero.attempt(2, "fi_enable", result=-262, words="Invalid resource domain", provider="cxi",
                 domain="cxi0", device="cxi0", fabric="cxi", driver="cxi_ss1", endpoint=1)
    zero.log(1, "cannot reach 192.168.17.24:5001 (nid00124, alice@login7.cluster.example.org) by "
                "/home/alice/lib/x.c, see /dev/infiniband/uverbs0", provider="cxi",
             function="cxip_ep_enable", subsystem="ep_ctrl", line=77)
    zero.ports(1, 100, [{"name": "hsn0", "kind": "net", "state": "up", "rate": 2 * 10**11,
                         "address": "52:54:00:12:34:56"},
                        {"name": "lo", "kind": "net", "address": "00:00:00:00:00:00"}])
    zero.cma([{"pid": 1001, "reads": 3, "read": 4096, "refused": 1, "error": 1}], time=5)
    zero.choice("device", "/dev/infiniband/uverbs0", "open", "/proc/self/fd/7")
    zero.choice("version", "libfabric", "1.17.0", "/home/alice/lib/libfabric.so.1")
    return zero, one


class Fabric(CliTest):
    """Addresses are others and still fit together."""

    SECRETS = ("192.168.17", "2001:db8::17", "5054:ff", "nid00123", "nid00124", "alice", "login7",
               "52:54:00", "secret", "/home", "c0a81117", "c0a81118", "505400fffe123456",
               "7365637265", "5ec7e", "5ec7f")

    def setUp(self):
        super().setUp()
        b.write(self.path("job.mpiw"), job(), *fabric_trace())
        self.run_cli("anonymize", "job.mpiw", "-o", "anonymous.mpiw")

    def lines(self, name):
        found = {}
        for line in self.run_cli("dump", "-f", "json", name).out.splitlines():
            line = json.loads(line)
            found.setdefault((line.get("rank"), line["type"]), []).append(line)
        return found

    def test_nothing_is_left(self):
        before = self.run_cli("dump", "-f", "json", "job.mpiw").out.lower()
        after = self.run_cli("dump", "-f", "json", "anonymous.mpiw").out.lower()
        with open(self.path("anonymous.mpiw"), "rb") as file:
            content = file.read()
        for secret in self.SECRETS:
            self.assertIn(secret, before)
            self.assertNotIn(secret, after)
            self.assertNotIn(secret.encode(), content.lower())
        for address in ("192.168.17.23", "192.168.17.24", "2001:db8::17",
                        "fe80::5054:ff:fe12:3456"):
            self.assertNotIn(ipaddress.ip_address(address).packed, content)

    def test_ranks_still_find_each_other(self):
        before, after = self.lines("job.mpiw"), self.lines("anonymous.mpiw")
        for number_, (library, form, *pair) in enumerate(ADDRESSES):
            for rank in (0, 1):
                own = after[rank, "endpoint"][number_]
                peer = after[1 - rank, "peer"][number_]
                self.assertEqual(own["address_bytes"], peer["address_bytes"], (library, form))
                self.assertEqual(peer["sent"], 1001 + number_)
                self.assertEqual(peer["lanes"], before[1 - rank, "peer"][number_]["lanes"])
                same = own["address_bytes"] == before[rank, "endpoint"][number_]["address_bytes"]
                self.assertEqual(same, library == "ucx" and len(pair[0]) == 8, (library, form))
            mine, other = (after[rank, "endpoint"][number_]["address_bytes"] for rank in (0, 1))
            self.assertNotEqual(mine, other, (library, form))

    def transports(self, name):
        """What `mpiwatch transports` says."""
        return self.run_cli("transports", "-f", "json", name).json()["transports"]

    def test_transports_are_the_same(self):
        """Each pair of addresses alone, and a connection alone, explain the same messages."""
        ways = [(library, form, pair) for library, form, *pair in ADDRESSES if library]
        for way in ways + [None]:
            shared = way and b"fi_shm" in way[2][1]  # which names nobody on another node
            zero = Process(0, 2, host="nid00123")
            one = Process(1, 2, host="nid00123" if shared else "nid00124")
            zero.send(1, 100000, 2000, 2100)
            one.recv(0, 100000, 1900, 2200)
            if way is None:
                ends = (("192.168.17.23", 5000), ("192.168.17.24", 5001))
                for process, own, other, sent in ((zero, *ends, 100100), (one, *ends[::-1], 50)):
                    process.choice("pml", "ob1").choice("btl", "tcp")
                    process.choice("probe", "sockets", "on")
                    process.sockets(3, 900, [b.connection(own, other, interface="eth0", sent=sent,
                                                          received=100150 - sent)])
            else:
                library, form, pair = way
                for process, own, other in ((zero, *pair), (one, *pair[::-1])):
                    lane = {"use": "am", "transport": "tcp", "device": "eth0"}
                    process.endpoint(1, own, [{"address": other, "sends": 1, "sent": 100000,
                                               "lane": [lane]}],
                                     library=library, format=form, provider="x", domain="x0")
            b.write(self.path("way.mpiw"), job(), zero, one)
            self.run_cli("anonymize", "way.mpiw", "-o", "way-anonymous.mpiw")
            before, after = self.transports("way.mpiw"), self.transports("way-anonymous.mpiw")
            self.assertEqual(before, after, way)
            self.assertEqual([found["bytes_seen"] for found in before["ways"]], [100000], way)
            os.unlink(self.path("way-anonymous.mpiw"))

    def test_addresses_keep_their_shape(self):
        shown = [line["address"] for line in self.lines("anonymous.mpiw")[0, "endpoint"]]
        expected = (r"240\.0\.0\.\d+:4000", r"\[2001:db8::[0-9a-f]+%3\]:4001",
                    r"gid fe80::[0-9a-f]+ pkey 0x0 service 0x0{16}",
                    r"fi_sockaddr_in://address\d+:4000", r"address\d+",
                    r"gid fe80::[0-9a-f]+ qp 0 connection 0", r"nic 0x[0-9a-f]{1,2} pid 5",
                    r"[0-9a-f]{64}", r"[0-9a-f]{24}", r"uid 0x8c1f000000000001", r"[0-9a-f]{26}",
                    r"[0-9a-f]{32}")
        self.assertEqual(len(shown), len(expected))
        for address, pattern in zip(shown, expected):
            self.assertRegex(address, f"^{pattern}$")

    def test_both_ends_of_a_connection(self):
        after = self.lines("anonymous.mpiw")
        first, second, loop, mapped = after[0, "connection"]
        other, nothing = after[1, "connection"]
        self.assertEqual((first["local"], first["remote"]), (other["remote"], other["local"]))
        self.assertRegex(first["local"], r"^240\.0\.0\.\d+:5000$")
        self.assertRegex(second["local"], r"^\[2001:db8::[0-9a-f]+\]:5002$")
        self.assertRegex(second["remote"], r"^\[fe80::[0-9a-f]+\]:9$")
        self.assertEqual((loop["local"], loop["remote"]), ("127.0.0.1:5003", "127.0.0.1:5004"))
        self.assertEqual(mapped["local"], "[::1]:1")
        self.assertEqual(mapped["remote"], f"[::ffff:{first['remote'].split(':')[0]}]:5")
        self.assertEqual((nothing["local"], nothing["fd"]), ("", 6))
        self.assertEqual((first["interface"], first["sent"], loop["interface"]), ("eth0", 77, "lo"))

    def test_texts(self):
        after = self.lines("anonymous.mpiw")
        getinfo, enable = after[0, "attempt"]
        self.assertRegex(getinfo["offers"][0]["fabric"], r"^address\d+/24$")
        self.assertEqual((getinfo["asked"], getinfo["offers"][0]["provider"],
                          getinfo["offers"][0]["domain"]), ("cxi", "tcp;ofi_rxm", "eth0"))
        self.assertEqual((enable["words"], enable["result"], enable["device"], enable["driver"]),
                         ("Invalid resource domain", -262, "cxi0", "cxi_ss1"))
        line = after[0, "log"][0]
        self.assertRegex(line["text"], r"^cannot reach address\d+:5001 \(node\d+, "
                                       r"user\d+@node\d+\) by /path\d+, "
                                       r"see /dev/infiniband/uverbs0$")
        self.assertEqual((line["function"], line["subsystem"], line["line"]),
                         ("cxip_ep_enable", "ep_ctrl", 77))
        number_ = re.search(r"address(\d+)", line["text"]).group(1)
        self.assertEqual(after[0, "connection"][0]["remote"], f"240.0.0.{number_}:5001")
        hsn, loop = after[0, "port"]
        self.assertRegex(hsn["address"], r"^address\d+$")
        self.assertEqual((hsn["name"], hsn["state"], loop["address"]),
                         ("hsn0", "up", "00:00:00:00:00:00"))
        device, version = after[0, "choice"]
        self.assertEqual((device["name"], device["source"]),
                         ("/dev/infiniband/uverbs0", "/proc/self/fd/7"))
        self.assertRegex(version["source"], r"^/dir\d+/libfabric\.so\.1$")
        self.assertEqual((after[0, "cma"][0]["pid"], after[0, "cma"][0]["error"]), (1001, 1))

    def test_a_machine_without_its_name(self):
        """Of hwloc's XML the shape stays, and what is known to be harmless."""
        xml = (b'<?xml version="1.0"?>\n<topology version="2.0">\n  <object type="Machine" cpuset="0xff">'
               b'<info name="HostName" value="nid00123"/><info name="CPUModel" value="AMD EPYC 7543" />'
               b'<info name="DMIProductSerial" value="S12345"/><info value="x" name="Unheard"/>'
               b'<object type="OSDev" name="ib0"><info name="NodeGUID" value="0002:c903:00a1:b2c3"/>'
               b'</object><userdata name="n">YWxpY2U=</userdata><userdata name="e"/><!-- alice --></object>'
               b'</topology>\n<unfinished alice')
        zero = Process(0, 1)
        zero.add("TOPOLOGY", xml=xml, gpu=[{"node": 1, "unique_id": 0xABCDEF}], zstd=True)
        zero.add("PLACEMENT", foreign=[{"pid": 1, "name": "alice-tool", "busy": 90}])
        zero.add("DEVICE", device=[{"runtime": "hip", "uuid": "GPU-abcdef"}])
        b.write(self.path("machine.mpiw"), job(), zero)
        self.run_cli("anonymize", "machine.mpiw", "-o", "safe.mpiw")
        with open(self.path("safe.mpiw"), "rb") as file:
            lists = {mwformat.TYPES[header.type]: mwformat.content(header, payload)
                     for header, payload in mwformat.chunks(file.read(), lambda *_: None)}
        topology = mwformat.read_list(lists["TOPOLOGY"], mwformat.CHUNKS["TOPOLOGY"])
        self.assertEqual(topology["xml"], b'<?xml version="1.0"?>\n<topology version="2.0">\n'
                         b'<object type="Machine" cpuset="0xff">\n<info name="CPUModel" value="AMD EPYC '
                         b'7543"/><object type="OSDev" name="ib0">\n</object>\n</object>\n</topology>\n')
        self.assertEqual(topology["gpu"][0]["unique_id"], 1)
        for kind, secret in (("PLACEMENT", b"alice"), ("DEVICE", b"abcdef")):
            self.assertNotIn(secret, lists[kind])

    def test_every_field_has_a_rule(self):
        """What the format has, and no rule, would be left out in silence."""
        golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "v1")
        for name in ("fabric.mpiw", "full.mpiw", "placement.mpiw"):
            out = name.replace(".mpiw", "-anonymous.mpiw")
            self.run_cli("anonymize", os.path.join(golden, name), "-o", out)
            with open(os.path.join(golden, name), "rb") as file:
                before = given(file.read())
            with open(self.path(out), "rb") as file:
                self.assertEqual(before - given(file.read()), set())


def given(content):
    """(chunk, field) of every field that is there with something in it, also in records."""
    found = set()

    def walk(name, description, data_):
        for field in description:
            for number_, kind, value in mwformat.raw_fields(data_):
                if number_ != field.number or kind != field.wants() or not value:
                    continue
                found.add((name, field.name))
                if field.what == "record":
                    walk(f"{name} {field.name}", field.inner, value)

    for header, payload in mwformat.chunks(content, lambda *_: None):
        kind = mwformat.TYPES.get(header.type)
        try:
            if kind in mwformat.CHUNKS:
                mwformat.read_list(mwformat.content(header, payload), mwformat.CHUNKS[kind])
                walk(kind, mwformat.CHUNKS[kind], mwformat.content(header, payload))
        except mwformat.Malformed:
            pass
    return found


if __name__ == "__main__":
    main()
