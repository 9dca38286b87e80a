# SPDX-License-Identifier: BSD-3-Clause
"""Settings: which value is in force, what it overrode, and verdicts on names and lists, with made-up
libraries of which every text is known."""

import re
import shutil
import subprocess

import build_trace as b
from build_trace import Process, chunk, job, module, number, record, text
from cli import CliTest, main

OPENMPI, MPICH = 1, 2


def fact(section, key, value, source="environment"):
    return record(3, text(1, section), text(2, key), text(3, value), text(4, source))


class AbiProcess(Process):
    """A process of another MPI than Open MPI."""

    abi = OPENMPI

    def metadata(self):
        out = super().metadata()
        if self.abi != OPENMPI:  # of two chunks the later counts
            out.insert(1, chunk("PROCESS", text(1, self.host), number(2, 1000 + self.rank),
                                number(3, 77), number(8, 3), number(9, self.abi),
                                number(11, self.rank + 1), number(12, self.size),
                                number(13, self.began), text(14, "boot-" + self.host),
                                process=self.key))
        return out


class Settings(CliTest):
    def setUp(self):
        super().setUp()
        if not (shutil.which("gcc") and shutil.which("readelf")):
            self.skipTest("no compiler to make libraries with")

    def library(self, name, *texts, needs=()):
        """A library that has these texts; (path, build id)."""
        lines = "".join('const char *const text%d = "%s";\n' % pair for pair in enumerate(texts))
        with open(self.path("library.c"), "w", encoding="utf-8") as file:
            file.write(lines)
        path = self.path(name)
        subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,--build-id=sha1", "-Wl,--no-as-needed",
                        "library.c", *needs, "-o", path], cwd=self.folder, check=True)
        notes = subprocess.run(["readelf", "-n", path], check=True,
                               stdout=subprocess.PIPE).stdout.decode()
        return path, bytes.fromhex(re.search(r"Build ID: ([0-9a-f]+)", notes).group(1))

    def job(self, facts, libraries=(), abi=OPENMPI, version=None, more=()):
        """Settings by name of a job of processes with these lists of facts."""
        if facts and not isinstance(facts[0], list):
            facts = [facts]
        processes = []
        for rank, own in enumerate(facts):
            process = AbiProcess(rank, len(facts))
            process.abi = abi
            process.version = version or ("Open MPI v4.1.4" if abi == OPENMPI else
                                          "MPICH Version: 4.0.2\nMPICH Device: ch4:ucx\n")
            process.add("ENVIRONMENT", *own)
            process.add("MODULES", *[module(i + 1, path, build_id, role)
                                     for i, (path, build_id, role) in enumerate(libraries)])
            for add in more:
                add(process)
            processes.append(process.finalize(5000))
        path = b.write(self.path("job.mpiw"), job(), *processes)
        report = self.report(path)
        self.text = self.run_cli("report", path).out
        return {setting["name"]: setting for setting in report["settings"]}

    def openmpi(self, *facts, **options):
        libmpi = self.library("libmpi.so.40", "pml", "btl", "mtl", "osc", "coll", "base", "verbose", "ob1",
                              "mwtest_%s_algorithm", "coll_tuned", "short_end_of_it")
        tcp = self.library("mca_btl_tcp.so", "tcp", "if_include", "links")
        common = self.library("libmca_common_ucx.so.40", "shared_name")
        self.library("mca_pml_ucx.so", "ucx", "tls", needs=[common[0]])
        return self.job(list(facts), [(*libmpi, 1), (*tcp, 1)], **options)

    def verdicts(self, settings):
        return {name: settings[name]["verdict"] for name in settings}

    def test_sources_that_need_a_line_of_their_own(self):
        name, where = "OMPI_MCA_pml_" + "x" * 40, "/etc/openmpi/openmpi-mca-params.conf:63"
        for length in range(8, 16):  # the break is before, within and behind the blanks in between
            self.openmpi(fact("parameter", name, "v" * length, where))
            lines = self.text.splitlines()
            self.assertEqual([line for line in lines if line != line.rstrip()], [])
            self.assertTrue(any(line.strip().endswith("(%s)" % where) for line in lines), self.text)

    def test_places(self):
        one = [fact("parameter.override", "OMPI_MCA_pml", "ob1", "/etc/o.conf:1"),
               fact("env", "OMPI_MCA_pml", "ucx"),
               fact("parameter", "OMPI_MCA_pml", "cm", "/home/alice/m.conf:2"),
               fact("parameter.weaker", "OMPI_MCA_pml#2", "b", "/etc/x.conf:3"),
               fact("parameter.weaker", "OMPI_MCA_pml#1", "a", "/etc/x.conf:4"),
               fact("launcher", "OMPI_MCA_pml", "l", "command line of mpirun (pid 7)"),
               fact("parameter.perhaps", "OMPI_MCA_pml#1", "p", "/etc/p.conf:1"),
               fact("env", "OMPI_MCA_mtl", "^ofi"),
               fact("env", "PATH", "x"), fact("limit", "nofile", "1")]
        settings = self.job(one)
        pml = settings["OMPI_MCA_pml"]
        self.assertEqual(len(pml["variants"]), 1)
        variant = pml["variants"][0]
        self.assertEqual((variant["value"], variant["source"], variant["origin"]),
                         ("ob1", "/etc/o.conf:1", "override"))
        self.assertEqual([place["value"] for place in variant["overridden"]],
                         ["ucx", "cm", "a", "b", "l", "p"])
        self.assertTrue(pml["everywhere"])
        self.assertEqual(set(settings), {"OMPI_MCA_pml", "OMPI_MCA_mtl"})
        self.assertIn("overridden: cm   (/home/alice/m.conf:2)", self.text)
        self.assertIn("not passed on to the ranks", " ".join(self.text.split()))

    def test_ranks_that_differ(self):
        settings = self.job([[fact("env", "UCX_TLS", "rc")], [fact("env", "UCX_TLS", "rc")],
                             [fact("env", "UCX_TLS", "tcp")], [fact("env", "FI_X", "1")]])
        tls = settings["UCX_TLS"]
        self.assertFalse(tls["everywhere"])
        self.assertEqual([(v["value"], v["ranks"]) for v in tls["variants"]],
                         [("rc", "0-1"), ("tcp", "2")])

    def test_pid_of_the_launcher_makes_no_difference(self):
        settings = self.job([[fact("env", "UCX_TLS", "rc", "environment, from the command line of "
                                   "mpirun (pid %d)" % pid)] for pid in (1, 2)])
        self.assertTrue(settings["UCX_TLS"]["everywhere"])

    def test_prefer_sysconfig(self):
        file = fact("parameter", "FI_PROVIDER", "tcp", "/etc/libfabric.conf:1")
        settings = self.job([file, fact("env", "FI_PROVIDER", "cxi")])
        self.assertEqual(settings["FI_PROVIDER"]["variants"][0]["value"], "cxi")
        settings = self.job([file, fact("env", "FI_PROVIDER", "cxi"),
                             fact("parameter", "FI_PREFER_SYSCONFIG", "yes", "x:2")])
        self.assertEqual(settings["FI_PROVIDER"]["variants"][0]["value"], "tcp")

    def test_names_of_openmpi(self):
        names = {"OMPI_MCA_pml": "known", "OMPI_MCA_btl_tcp_if_include": "known",
                 "OMPI_MCA_btl_base_verbose": "known", "OMPI_MCA_mwtest_bcast_algorithm": "known",
                 "OMPI_MCA_pml_ucx_tls": "not_loaded", "OMPI_MCA_pml_ucx_shared_name": "not_loaded",
                 "OMPI_MCA_end_of_it": "unchecked", "OMPI_MCA_plm_rsh_agent": "launcher",
                 "OMPI_MCA_orte_x": "launcher", "OMPI_MCA_btll": "unknown",
                 "OMPI_MCA_btl_tcp_if_inclde": "unknown", "OMPI_MCA_blt_tcp_links": "unknown",
                 "OMPI_MCA_pml_ucx_tsl": "unknown", "OMPI_MCA_wholly_made_up": "unknown",
                 "OMPI_MAC_btl": "unknown", "OMPI_MCA_BTL": "unknown",
                 "OMPI_MCA_Btl_tcp_links": "unknown", "MPIR_CVAR_X": "idle", "I_MPI_FABRICS": "idle"}
        settings = self.openmpi(*[fact("env", name, "1") for name in names])
        self.assertEqual(self.verdicts(settings), names)
        for name, meant in {"OMPI_MCA_btll": "OMPI_MCA_btl",
                            "OMPI_MCA_btl_tcp_if_inclde": "OMPI_MCA_btl_tcp_if_include",
                            "OMPI_MCA_blt_tcp_links": "OMPI_MCA_btl_tcp_links",
                            "OMPI_MCA_pml_ucx_tsl": "OMPI_MCA_pml_ucx_tls",
                            "OMPI_MCA_wholly_made_up": None,
                            "OMPI_MAC_btl": "OMPI_MCA_btl", "OMPI_MCA_BTL": "OMPI_MCA_btl",
                            "OMPI_MCA_Btl_tcp_links": "OMPI_MCA_btl_tcp_links"}.items():
            self.assertEqual(settings[name]["suggestion"], meant, name)
        self.assertEqual(settings["OMPI_MCA_pml_ucx_tls"]["component"], "pml/ucx")
        self.assertEqual(settings["OMPI_MCA_btl_tcp_if_include"]["library"], "mca_btl_tcp.so")
        self.assertIn("did you mean OMPI_MCA_btl?", self.text)

    def test_lists_of_openmpi(self):
        settings = self.openmpi(fact("env", "OMPI_MCA_btl", "tpc,self,tcp"),
                                fact("env", "OMPI_MCA_pml", "^uxc,absent,ob1"),
                                fact("env", "OMPI_MCA_mtl", "^absent"),
                                fact("env", "OMPI_MCA_osc", "^uct,openib"),
                                fact("env", "OMPI_MCA_coll", "it"))
        strangers = {name: [(s["word"], s["suggestion"])
                            for s in setting["variants"][0]["strangers"]]
                     for name, setting in settings.items()}
        # "self" is in no file here; "absent" may be absent where it is kept out, and so may what
        # other versions have, however close; the end of another text is no component
        self.assertEqual(strangers, {"OMPI_MCA_btl": [("tpc", "tcp"), ("self", None)],
                                     "OMPI_MCA_pml": [("uxc", "ucx")], "OMPI_MCA_mtl": [],
                                     "OMPI_MCA_osc": [],
                                     "OMPI_MCA_coll": [("it", None)]})

    def test_another_build(self):
        libmpi = self.library("libmpi.so.40", "pml")
        for build_id, why in ((b"\1" * 20, "another build-id"), (b"", "no build-id")):
            settings = self.job([fact("env", "OMPI_MCA_pmll", "1")], [(libmpi[0], build_id, 1)])
            self.assertEqual(settings["OMPI_MCA_pmll"]["verdict"], "unchecked")
            self.assertIn(why, settings["OMPI_MCA_pmll"]["reason"])
        settings = self.job([fact("env", "OMPI_MCA_pmll", "1")],
                            [("/nowhere/libmpi.so.40", b"\1" * 20, 1)])
        self.assertIn("not on this machine", settings["OMPI_MCA_pmll"]["reason"])

    def test_read_by_another_library(self):
        """Whoever has the whole name may read it: the program, a tool."""
        libmpi = self.library("libmpi.so.40", "pml", "send_pipeline_depth")
        tool = self.library("libtool.so", "OMPI_MCA_mine_alone")
        settings = self.job([fact("env", "OMPI_MCA_mine_alone", "1")],
                            [(*libmpi, 1), (*tool, 0)])
        self.assertEqual(settings["OMPI_MCA_mine_alone"]["verdict"], "known")
        self.assertEqual(settings["OMPI_MCA_mine_alone"]["library"], "libtool.so")

    def test_components_that_nobody_saw(self):
        """Open MPI whose components are neither in its libraries nor in files that are here."""
        libmpi = self.library("libmpi.so.40", "pml")
        settings = self.job([fact("env", "OMPI_MCA_pmll", "1")], [(*libmpi, 1)])
        self.assertEqual(settings["OMPI_MCA_pmll"]["verdict"], "unchecked")

    def mpich(self, *names, libraries=(), value="1", more=()):
        libmpi = self.library("libmpich.so.12", "MPIR_CVAR_CH4_NETMOD", "MPICH_ASYNC_PROGRESS", "ucx",
                              "ofi")
        return self.job([fact("env", name, value) for name in names],
                        [(*libmpi, 1), *libraries], abi=MPICH, more=more)

    def ucx(self):
        return self.library("libucp.so.0", "RC_VERBS_", "TX_MIN", "TLS", "RNDV_THRESH", "tcp", "self",
                            "posix")

    def test_names_of_mpich_and_ucx(self):
        names = {"MPIR_CVAR_CH4_NETMOD": "known", "MPIR_CVAR_CH4_NETMODD": "unknown",
                 "MPIR_CVAR_MADE_UP": "unknown", "MPICH_ASYNC_PROGRES": "unknown",
                 "MPICH_FAR_AWAY": "unchecked", "MPICH_HOME": "unchecked", "UCX_ROOT": "unchecked",
                 "OMPI_MCA_btl": "idle", "UCX_TLS": "known", "UCX_RC_VERBS_TX_MIN": "known",
                 "UCX_TLSS": "unknown", "UCX_RNDV_THRES": "unknown", "UCX_RC_VERB_TX_MIN": "unknown",
                 "UCX_RC_VERBS": "unknown", "I_MPI_PIN": "idle"}
        settings = self.mpich(*names, libraries=[(*self.ucx(), 0)])
        self.assertEqual(self.verdicts(settings), names)
        for name, meant in {"MPIR_CVAR_CH4_NETMODD": "MPIR_CVAR_CH4_NETMOD",
                            "MPICH_ASYNC_PROGRES": "MPICH_ASYNC_PROGRESS", "UCX_TLSS": "UCX_TLS",
                            "UCX_RNDV_THRES": "UCX_RNDV_THRESH",
                            "UCX_RC_VERB_TX_MIN": "UCX_RC_VERBS_TX_MIN",
                            "MPIR_CVAR_MADE_UP": None}.items():
            self.assertEqual(settings[name]["suggestion"], meant, name)

    def test_lists_of_ucx(self):
        for value, strangers in (("tcp,self", []), ("all", []), ("sm,rc_x,\\self", []),
                                 ("^rc", []), ("tcp,foo,sel", [("foo", None), ("sel", "self")]),
                                 ("ud:aux,tcp", [])):
            settings = self.mpich("UCX_TLS", libraries=[(*self.ucx(), 0)], value=value)
            found = [(s["word"], s["suggestion"])
                     for s in settings["UCX_TLS"]["variants"][0]["strangers"]]
            self.assertEqual(found, strangers, value)

    def test_libfabric(self):
        fabric = self.library("libfabric.so.1", "provider", "tcp", "iface", "layer ofi_rxm", "use_srx")
        names = {"FI_PROVIDER": "known", "FI_TCP_IFACE": "known", "FI_OFI_RXM_USE_SRX": "unchecked",
                 "FI_OFI_RXM_USE_SXR": "unknown", "FI_PROVIDR": "unknown", "FI_TCP_IFCE": "unknown"}
        settings = self.mpich(*names, libraries=[(*fabric, 0)], value="tcp;ofi_rxm")
        self.assertEqual(self.verdicts(settings), names)
        self.assertEqual(settings["FI_PROVIDR"]["suggestion"], "FI_PROVIDER")
        self.assertEqual(settings["FI_TCP_IFCE"]["suggestion"], "FI_TCP_IFACE")
        self.assertEqual(settings["FI_OFI_RXM_USE_SXR"]["suggestion"], "FI_OFI_RXM_USE_SRX")
        self.assertEqual(settings["FI_PROVIDER"]["variants"][0]["strangers"], [])
        for value, word in (("tpc", "tcp"), ("tcp;ofi_rxn", "ofi_rxm")):
            settings = self.mpich("FI_PROVIDER", libraries=[(*fabric, 0)], value=value)
            self.assertEqual([s["suggestion"] for s in
                              settings["FI_PROVIDER"]["variants"][0]["strangers"]], [word])
        # it was offered, so there is such a provider
        settings = self.mpich("FI_PROVIDER", libraries=[(*fabric, 0)], value="tpc", more=[
            lambda process: process.attempt(1, "fi_getinfo", offer=[{"provider": "tpc"}])])
        self.assertEqual(settings["FI_PROVIDER"]["variants"][0]["strangers"], [])

    def test_library_that_never_came(self):
        settings = self.mpich("FI_PROVIDER", "UCX_TLS", "PSM2_DEVICES", "PSM3_X")
        self.assertEqual(set(self.verdicts(settings).values()), {"idle"})
        self.assertIn("ch4:ofi", settings["FI_PROVIDER"]["reason"])
        # it came and went again
        came = [lambda process: process.attempt(1, "fi_getinfo")]
        settings = self.mpich("FI_PROVIDER", more=came)
        self.assertEqual(settings["FI_PROVIDER"]["verdict"], "unchecked")
        # the probe says so, also where the files are not here
        absent = [lambda process: process.choice("probe", "libfabric", "absent")]
        gone = [("/nowhere/libmpi.so.12", b"\1" * 20, 1)]
        settings = self.job([fact("env", "FI_PROVIDER", "x")], gone, abi=MPICH, more=absent)
        self.assertEqual(settings["FI_PROVIDER"]["verdict"], "idle")
        settings = self.job([fact("env", "FI_PROVIDER", "x")], gone, abi=MPICH)
        self.assertEqual(settings["FI_PROVIDER"]["verdict"], "unchecked")

    def test_library_inside_another(self):
        """An MPI that was built with a libfabric of its own."""
        libmpi = self.library("libmpi.so.12", "FI_%s_%s", "provider", "tcp", "iface")
        settings = self.job([fact("env", "FI_PROVIDER", "tpc"), fact("env", "FI_PROVIDR", "x"),
                             fact("env", "FI_TCP_IFACE", "x")], [(*libmpi, 1)], abi=MPICH)
        self.assertEqual(self.verdicts(settings), {"FI_PROVIDER": "known", "FI_PROVIDR": "unknown",
                                                   "FI_TCP_IFACE": "known"})
        self.assertEqual(settings["FI_PROVIDR"]["suggestion"], "FI_PROVIDER")
        self.assertEqual(settings["FI_PROVIDER"]["variants"][0]["strangers"][0]["suggestion"], "tcp")

    def test_old_traces_and_hostile_texts(self):
        self.assertEqual(self.job([[]]), {})
        settings = self.job([fact("env", "UCX_" + "A_" * 60 + "\x1b[31m", "\x1b[31m\n"),
                             fact("env", "OMPI_MCA_", "x"), fact("parameter", "#", "x"),
                             fact("parameter.weaker", "#1", "x"), fact("env", "UCX_" + "x" * 300,
                                                                       "y")])
        self.assertNotIn("\x1b", self.text)
        self.assert_fits(self.text)
        self.assertTrue(all(setting["verdict"] != "known" for setting in settings.values()))


if __name__ == "__main__":
    main()
