# SPDX-License-Identifier: BSD-3-Clause
"""mpiwatch anonymize: nothing of people, machines and places is left; what explains the job is."""

import re

import build_trace as b
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
        strange = [w.frame(17, b"<xml>nid00123</xml>", 0x1000), w.frame(200, b"alice", 1),
                   w.frame("RANK", b"alice", 1, version=2),
                   chunk("RANK", number(1, 0), text(99, "alice"), process=0x1000)]
        b.write(self.path("strange.mpiw"), *everything(), *strange)
        result = self.run_cli("anonymize", "strange.mpiw", "-o", "out.mpiw")
        self.assertIn("1 chunks of type 17 (TOPOLOGY)", result.err)
        self.assertIn("1 chunks of type 200 (UNKNOWN)", result.err)
        self.assertIn("1 chunks of type 4 (RANK)", result.err)
        with open(self.path("out.mpiw"), "rb") as file:
            content = file.read()
        self.assertNotIn(b"alice", content)
        self.assertFalse({17, 200} & {kind for kind, *_ in b.parse(content)})

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


if __name__ == "__main__":
    main()
