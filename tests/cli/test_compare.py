# SPDX-License-Identifier: BSD-3-Clause
"""mpiwatch compare, and check --baseline: what changed between runs, and the verdict that scripts bisect on."""

import json
import os
import random
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: the Python module jsonschema is missing")
    sys.exit(77)

# pylint: disable=wrong-import-position
import build_trace as b  # noqa: E402
import placed_jobs  # noqa: E402
from build_trace import job  # noqa: E402
from cli import MPIWATCH, ROOT, CliTest, main  # noqa: E402
from compared_jobs import MEBI, run, two_worlds  # noqa: E402

FINE, WORSE, CANNOT, USAGE = 0, 1, 125, 129
ABORT = 3


class CompareTest(CliTest):
    with open(os.path.join(ROOT, "docs", "compare.schema.json"), encoding="utf-8") as file:
        schema = jsonschema.Draft7Validator(json.load(file))

    def trace(self, name, *processes, **options):
        """Each a job of its own."""
        return b.write(self.path(name + ".mpiw"), job(key=options.pop("key", name)), *(processes or run(**options)))

    def side(self, name, count=5, noise=0.02, **options):
        """Runs whose speed differs from one to the next."""
        chance = random.Random(name)
        slower = options.pop("slower", 1.0)
        return [self.trace("%s%d" % (name, i), slower=slower * chance.gauss(1, noise), seed=i, **options)
                for i in range(count)]

    def compare(self, *arguments, code=None):
        """Both forms, of which the text must fit a terminal, the document the schema."""
        text = self.run_cli("compare", *arguments, code=code)
        self.assert_fits(text.out)
        document = self.run_cli("compare", "-f", "json", *arguments, code=text.code).json()
        self.assertEqual([error.message for error in self.schema.iter_errors(document)], [])
        self.assertEqual(document["exit_code"], text.code)
        self.assertTrue(text.out.startswith(document["verdict"] + ":"), text.out)
        document["text"] = text.out
        return document

    def kinds(self, document):
        return [group["kind"] for group in document["identity"]]

    def figures(self, document, **like):
        return [figure for figure in document["figures"]["listed"]
                if all(figure[name] == value for name, value in like.items())]


class Identity(CompareTest):
    def test_the_same_run(self):
        trace = self.trace("a")
        document = self.compare(trace, trace, code=FINE)
        self.assertEqual(document["identity"], [])
        self.assertEqual(document["suspects"]["total"], 0)
        self.assertEqual(document["figures"]["verdicts"]["slower"], 0)
        self.assertEqual({figure["ratio"] for figure in self.figures(document, verdict="same")}, {1.0})

    def fallback(self):
        old = self.trace("a", transport="cxi", slower=0.1,
                         libraries=(("/usr/lib/libmpi.so.40.30.4", 1), ("/opt/a/libcxi-fi.so", 2), ("/lib/libz.so.1", 1)))
        new = self.trace("b", transport="tcp",
                         libraries=(("/usr/lib/libmpi.so.40.30.5", 2), ("/opt/b/libcxi-fi.so", 3), ("/lib/libz.so.1", 2)))
        return old, new

    def test_a_transport_that_fell_back(self):
        document = self.compare(*self.fallback(), code=WORSE)
        first = document["identity"][0]
        self.assertEqual((first["kind"], first["worse"], first["base"], first["new"], first["pairs"]),
                         ("transport", True, "cxi (cxi0)", "tcp (lo)", 2))
        self.assertEqual([(pair["src"], pair["dst"]) for pair in first["listed"]], [(0, 1), (1, 0)])
        self.assertAlmostEqual(first["largest_effect"]["slower_times"], 10, delta=1)
        suspects = document["suspects"]["listed"]
        self.assertEqual((suspects[0]["name"], suspects[0]["base_detail"], suspects[0]["new_detail"]),
                         ("libcxi-fi.so", "/opt/a/libcxi-fi.so", "/opt/b/libcxi-fi.so"))
        self.assertIn("build-id " + "03" * 20, suspects[0]["new"])
        self.assertEqual([suspect["name"] for suspect in suspects], ["libcxi-fi.so", "libmpi.so"])
        lines = document["text"].splitlines()
        self.assertLess(lines.index("What went another way"), lines.index("What got slower"))
        self.assertLess(lines.index("What got slower"), lines.index("What could explain it, the nearest first"))
        self.assertIn("cxi (cxi0) -> tcp (lo), 2 pairs", document["text"])

    def test_a_fallback_is_a_regression_even_where_it_is_not_slower(self):
        self.compare(self.trace("a", transport="cxi"), self.trace("b", transport="tcp", slower=0.5), code=WORSE)

    def test_a_better_transport_is_none(self):
        old, new = self.fallback()
        document = self.compare(new, old, code=FINE)
        self.assertEqual((document["identity"][0]["kind"], document["identity"][0]["worse"]), ("transport", False))
        self.assertGreater(document["figures"]["verdicts"]["faster"], 0)

    def test_a_better_transport_that_is_slower(self):
        self.compare(self.trace("a", transport="tcp"), self.trace("b", transport="cxi", slower=2), code=WORSE)

    def test_another_device(self):
        document = self.compare(self.trace("a", transport="cxi", device="cxi0"),
                                self.trace("b", transport="cxi", device="cxi1"), code=FINE)
        self.assertEqual(self.kinds(document), ["device"])

    def test_another_memory(self):
        jobs = [placed_jobs.gpu_job(placed_jobs.MACHINES["switches"], [0, 1], space=space, count=50) for space in (0, 1)]
        document = self.compare(self.trace("a", *jobs[0]), self.trace("b", *jobs[1]))
        self.assertIn("buffer", self.kinds(document))

    def test_another_placement(self):
        def on(machine, *cpus):
            def place(ranks):
                placed_jobs.topology(ranks[0], machine)
                for process, mine in zip(ranks, cpus):
                    placed_jobs.place(process, mine, parent=machine.cpus())
            return place
        machine = placed_jobs.MACHINES["epyc"]
        near = self.trace("a", between=[on(machine, machine.cpus(0)[:1], machine.cpus(0)[1:2])])
        far = self.trace("b", between=[on(machine, machine.cpus(0)[:1], machine.cpus(1))])
        document = self.compare(near, far, code=FINE)
        groups = {group["name"]: group for group in document["identity"] if group["kind"] == "placement"}
        self.assertEqual(sorted(groups), ["bound_to", "numa_node"])
        self.assertEqual((groups["bound_to"]["base"], groups["bound_to"]["new"]), ("CPU", "CPU (1 rank), NUMA node (1 rank)"))

    def test_pairs_of_several_worlds(self):
        old, new = (self.trace(name, *two_worlds(transport)) for name, transport in (("a", "cxi"), ("b", "tcp")))
        document = self.compare(old, new, code=WORSE)
        self.assertEqual([(pair["src"], pair["dst"]) for pair in document["identity"][0]["listed"]],
                         [("1:0", "1:1"), ("1:1", "1:0"), ("2:0", "2:1"), ("2:1", "2:0")])
        self.assertIn("1:0 -> 1:1, 1:1 -> 1:0, 2:0 -> 2:1", " ".join(document["text"].split()))
        self.assertIn("transport of 2:0 -> 2:1: tcp", self.run_cli("check", "-b", old, new, code=WORSE).out)

    def test_ways_that_nobody_knows_are_no_answer(self):
        base, lost = self.trace("a"), self.trace("b", transport="unknown")
        for arguments in ((base, lost), (lost, self.trace("c", transport="unknown"))):
            document = self.compare("--only=transports", *arguments, code=CANNOT)
            self.assertEqual(document["verdict"], "not sure")
            self.assertIn("known", document["notes"][0])

    def test_a_transport_that_falls_back_in_some_runs(self):
        base = self.side("a", transport="cxi")
        new = self.side("b", count=4, transport="cxi") + [self.trace("c", transport="tcp")]
        document = self.compare("--only=transports", *base, "--", *new, code=CANNOT)
        group = document["identity"][0]
        self.assertEqual((group["worse"], group["doubtful"], group["steady"], group["new"]), (False, True, False, "tcp (lo)"))
        self.assertIn("(not in each run)", document["text"])
        arguments = [word for trace in base for word in ("--baseline", trace)]
        self.assertIn("in some runs", self.run_cli("check", *arguments, *new, code=CANNOT).out)

    def test_only_transports(self):
        old, new = self.trace("a"), self.trace("b", slower=3)
        self.compare("--only", "transports", old, new, code=FINE)
        self.compare("--only", "classes", old, new, code=WORSE)
        document = self.compare("--only=pairs", old, new, code=WORSE)
        self.assertEqual({figure["scope"] for figure in document["figures"]["listed"]}, {"pair"})


class Speed(CompareTest):
    def test_one_run_a_side(self):
        base = self.trace("base")
        self.compare(base, self.trace("a", slower=1.03, seed=2), code=FINE)
        document = self.compare(base, self.trace("b", slower=1.10, seed=3), code=CANNOT)
        self.assertEqual(document["verdict"], "not sure")
        self.compare(base, self.trace("e", slower=1.40, seed=4), code=CANNOT)  # single runs of one stack do as much
        document = self.compare(base, self.trace("c", slower=1.70, seed=4), code=WORSE)
        (figure,) = self.figures(document, scope="class", metric="bandwidth", **{"from": MEBI})
        self.assertEqual(figure["verdict"], "slower")
        self.assertLess(abs(figure["ratio"] - 1 / 1.7), 0.03)
        self.assertLess(figure["ratio_low"], figure["ratio"])
        self.assertLess(figure["ratio"], figure["ratio_high"])
        (latency,) = self.figures(document, scope="class", metric="latency", **{"from": MEBI})
        self.assertLess(abs(latency["ratio"] - 1.7), 0.05)
        self.compare(base, self.trace("d", slower=0.6, seed=5), code=FINE)

    def test_several_runs_a_side(self):
        base = self.side("base")
        document = self.compare(*base, "--", *self.side("a", slower=1.10), code=WORSE)
        self.assertGreater(document["figures"]["verdicts"]["slower"], 1)
        self.compare(*base, "--", *self.side("b"), code=FINE)
        self.compare(*base, "--", *self.side("c", slower=0.8), code=FINE)

    def test_threshold(self):
        base, new = self.side("base"), self.side("a", slower=1.10)
        self.compare("--threshold", "15%", *base, "--", *new, code=FINE)
        self.compare("-t3", *base, "--", *new, code=WORSE)

    def test_noise_is_said_to_be_too_much(self):
        base = [self.trace("a%d" % i, slower=slower) for i, slower in enumerate((1, 1.2, 0.9))]
        new = [self.trace("b%d" % i, slower=slower) for i, slower in enumerate((1.1, 1.4, 0.95))]
        document = self.compare(*base, "--", *new, code=CANNOT)
        self.assertEqual(document["verdict"], "not sure")
        self.assertGreater(document["runs_needed"], 3)
        self.assertIn("runs a side would tell", document["text"])

    def test_looks_are_stricter(self):
        base, new = self.side("base", noise=0.04), self.side("b", noise=0.04)
        self.compare("--looks", "4", *base[:2], "--", *new[:2], code=CANNOT)

    def test_a_disturbed_machine(self):
        def crowd(ranks):
            placed_jobs.topology(ranks[0], placed_jobs.MACHINES["desktop"])
            for process in ranks:
                placed_jobs.place(process, [0], parent=[0])
        base, new = self.trace("a", between=[crowd]), self.trace("b", slower=1.5, between=[crowd])
        document = self.compare(base, new, code=CANNOT)
        self.assertIn("was disturbed", document["notes"][0])

    def test_a_machine_that_was_busy_for_one_side(self):
        def crowd(ranks):
            placed_jobs.topology(ranks[0], placed_jobs.MACHINES["desktop"])
            for process in ranks:
                placed_jobs.place(process, [0], parent=[0])
        busy, fast = self.side("a", slower=1.5, between=[crowd]), self.side("b")
        document = self.compare(*fast, "--", *busy, code=CANNOT)
        self.assertIn("more of the new runs were disturbed", " ".join(document["notes"]))
        self.assertIsNone(document["runs_needed"])
        self.compare(*self.side("c", between=[crowd]), "--", *busy, code=WORSE)

    def test_one_run_twice_is_one_run(self):
        base, new = self.trace("a"), self.trace("b", slower=1.5)
        document = self.compare(base, base, "--", new, new, code=CANNOT)
        self.assertEqual(len(document["obstacles"]), 2)
        self.assertIn("are the same run", document["obstacles"][0])

    def test_short_runs_have_to_be_several(self):
        """What else ran then may have lasted as long."""
        short = {"end": b.SECOND}
        document = self.compare(self.trace("a", **short), self.trace("b", slower=2, seed=2, **short), code=CANNOT)
        self.assertIn("a single run this short", document["figures"]["listed"][0]["why"])
        self.assertRegex(" ".join(document["text"].split()), r"a single run this short shows what else ran then \(\d+ of them\)")
        self.compare(*self.side("c", **short), "--", *self.side("d", slower=2, **short), code=WORSE)

    def test_small_steps_need_several_runs(self):
        """8 bytes that take 1 us or 2: two cores of one machine may be so far apart."""
        options = {"sizes": (8,), "count": 400}
        base, new = self.trace("a", slower=0.1, **options), self.trace("b", slower=0.2, seed=2, **options)
        document = self.compare(base, new, code=CANNOT)
        self.assertIn("from run to run", document["figures"]["listed"][0]["why"])
        self.compare(*self.side("c", slower=0.1, **options), "--", *self.side("d", slower=0.2, **options), code=WORSE)

    def test_too_few_samples(self):
        base, new = self.trace("a", count=8), self.trace("b", count=8, slower=3)
        document = self.compare(base, new, code=CANNOT)
        self.assertGreater(document["figures"]["too_few_samples"], 0)
        self.assertEqual((document["figures"]["judged_messages"], document["figures"]["judged_bytes"]), (0, 0))
        self.assertIn("no speed could be judged", document["text"])

    def test_small_answers_do_not_speak_for_large_messages(self):
        """Eleven messages of a MiB are too few to see how noisy a run was, thirty answers are not."""
        runs = [self.trace(name, seed=i, count={8: 30, MEBI: 11}) for i, name in enumerate("ab")]
        document = self.compare(*runs, code=CANNOT)
        self.assertEqual(document["verdict"], "not sure")
        self.assertGreater(document["figures"]["verdicts"]["same"], 0)
        self.assertLess(document["figures"]["judged_bytes"], 0.01)
        self.assertIn("have 0 % of the bytes, could be judged", " ".join(document["text"].split()))
        self.assertIn("could be judged", self.run_cli("check", "-b", *runs, code=CANNOT).out)
        self.compare("--only=transports", *runs, code=FINE)

    def test_times_of_calls(self):
        document = self.compare(*self.side("a"), "--", *self.side("b", slower=1.5), code=WORSE)
        self.assertTrue(self.figures(document, scope="call", name="MPI_Send", verdict="slower"))


class Obstacles(CompareTest):
    def assert_obstacle(self, words, *options):
        base = self.trace("base")
        document = self.compare(base, self.trace("new", **dict(options)), code=CANNOT)
        self.assertEqual(document["verdict"], "cannot be compared")
        self.assertTrue([text for text in document["obstacles"] if words in text], document["obstacles"])
        self.assertIn(words.split()[0], document["text"])
        return base, self.path("new.mpiw")

    def test_other_program(self):
        self.assert_obstacle("other programs", ("program", "/opt/app/bin/another"))

    def test_other_arguments(self):
        base, new = self.assert_obstacle("other arguments", ("arguments", ["./solver", "--steps=11"]))
        self.compare("--force", base, new, code=FINE)

    def test_other_ranks(self):
        self.assert_obstacle("2 ranks in", ("size", 3))

    def test_other_work(self):
        self.assert_obstacle("another amount of work", ("count", 100))

    def test_crashed(self):
        self.assert_obstacle("did not end well", ("reason", ABORT))

    def test_not_all_recorded(self):
        self.assert_obstacle("is not whole", ("recorded", [0]))

    def test_a_little_more_work(self):
        document = self.compare(self.trace("a"), self.trace("b", count=205), code=FINE)
        self.assertIn("exactly the same work", " ".join(document["notes"]))
        self.assertEqual(self.figures(document, scope="job"), [])


class Explanation(CompareTest):
    def test_order(self):
        old = self.trace("a", facts=(("env", "UCX_TLS", "sm"), ("system", "kernel", "6.1")),
                         libraries=(("/usr/lib/libc.so.6", 1), ("/usr/lib/libmpi.so.40", 1)))
        new = self.trace("b", slower=2, facts=(("env", "UCX_TLS", "tcp"), ("system", "kernel", "6.2")),
                         libraries=(("/usr/lib/libc.so.6", 2), ("/usr/lib/libmpi.so.40", 2)))
        suspects = self.compare(old, new, code=WORSE)["suspects"]["listed"]
        self.assertEqual([(suspect["kind"], suspect["name"]) for suspect in suspects],
                         [("library", "libmpi.so"), ("parameter", "UCX_TLS"), ("machine", "system.kernel")])
        self.assertEqual(suspects[1]["new_detail"], "environment")

    def test_libc_only_where_there_is_nothing_else(self):
        old, new = (self.trace(name, libraries=(("/usr/lib/libc.so.6", build),)) for name, build in (("a", 1), ("b", 2)))
        suspects = self.compare(old, new, code=FINE)["suspects"]["listed"]
        self.assertEqual([suspect["name"] for suspect in suspects], ["libc.so"])

    def test_what_differs_within_a_side_explains_nothing(self):
        runs = [self.trace(name, seed=i, facts=(("system", "kernel", kernel),), libraries=(("/opt/libmpi.so.1", build),))
                for i, (name, kernel, build) in enumerate((("a", "1", 1), ("b", "2", 1), ("c", "1", 2), ("d", "2", 2)))]
        suspects = self.compare(*runs[:2], "--", *runs[2:], code=FINE)["suspects"]["listed"]
        self.assertEqual([suspect["name"] for suspect in suspects], ["libmpi.so"])


class Input(CompareTest):
    def test_usage(self):
        trace = self.trace("a")
        for arguments in ((), (trace,), (trace, trace, trace), ("--", trace), (trace, "--"), (trace, trace, "--", ),
                          ("--threshold", "much", trace, trace), ("--threshold=0", trace, trace),
                          ("--only", "nothing", trace, trace), ("--looks", "0", trace, trace)):
            with self.subTest(arguments):
                code = FINE if arguments == (trace, trace, "--") else USAGE
                self.run_cli("compare", *arguments, code=code)

    def test_unreadable(self):
        trace = self.trace("a")
        garbage = self.path("garbage.mpiw")
        with open(garbage, "wb") as file:
            file.write(os.urandom(1000))
        for other in (self.path("none.mpiw"), garbage):
            for arguments in ((trace, other), (other, trace), (trace, trace, "--", trace, other)):
                result = self.run_cli("compare", *arguments, code=CANNOT)
                self.assertEqual(result.out, "")
                self.assertIn(os.path.basename(other), result.err)
        self.run_cli("compare", trace, trace, "-o", self.path("no/such/folder"), code=CANNOT)

    def test_too_little_memory_is_no_regression(self):
        trace = self.trace("a")
        codes = set()
        for more in range(0, 4096, 64):  # KiB above what it takes to begin
            line = ["sh", "-c", 'ulimit -v "$0"; exec "$@"', str(8 * 1024 + 8 * more), MPIWATCH, "compare", trace, trace]
            codes.add(subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode)
        self.assertNotIn(WORSE, codes)
        self.assertIn(CANNOT, codes)

    def test_a_truncated_trace(self):
        trace = self.trace("a")
        with open(trace, "rb") as file:
            content = file.read()
        with open(self.path("short.mpiw"), "wb") as file:
            file.write(content[:len(content) - 300])
        self.compare(trace, self.path("short.mpiw"), code=CANNOT)

    def test_hostile_texts(self):
        evil = "\x1b[31m\n\u202eevil\t\x07" + "x" * 300
        old = self.trace("a", facts=(("env", "UCX_TLS", "sm"),), arguments=["./solver", evil])
        new = self.trace("b", facts=(("env", "UCX_TLS", evil), ("system", evil, evil)), arguments=["./solver", evil],
                         libraries=(("/opt/" + evil + "/libmpi.so.1", 2), ("/" + evil, 1)), transport="tcp", device=evil)
        text = self.run_cli("compare", old, new, code=None).out
        self.assert_fits(text)
        self.assertIn("\\x1b", text)
        self.run_cli("compare", "-f", "json", old, new, code=None).json()
        other = self.trace("c", program="/bin/" + evil)
        self.assert_fits(self.run_cli("compare", old, other, code=CANNOT).out)

    def test_nothing_in_it(self):
        empty = b.write(self.path("empty.mpiw"), job())
        self.compare(empty, empty, code=CANNOT)
        self.compare("--force", empty, empty, code=CANNOT)


class Baseline(CompareTest):
    def test_it_is_an_expectation(self):
        base, slow = self.trace("a"), self.trace("b", slower=2)
        self.run_cli("check", "--baseline", base, self.trace("c", seed=7), code=FINE)
        result = self.run_cli("check", "--baseline", base, slow, code=WORSE)
        self.assertIn("fails: no regression against " + base, result.out)
        document = self.run_cli("check", "-f", "json", "-b", base, "-e", "ranks=2", slow, code=WORSE).json()
        self.assertEqual([entry["verdict"] for entry in document["expectations"]], ["holds", "fails"])
        self.assertIn("bandwidth of same node", " ".join(document["expectations"][1]["reasons"]))

    def test_several_runs(self):
        base, new = self.side("a"), self.side("b", slower=1.1)
        arguments = [word for trace in base for word in ("--baseline", trace)]
        self.run_cli("check", *arguments, *new, code=WORSE)
        self.run_cli("check", "--threshold=20%", *arguments, *new, code=FINE)
        document = self.run_cli("check", "-f", "json", *arguments, *new, code=WORSE).json()
        self.assertEqual(document["trace"]["paths"], new[:1])
        self.run_cli("check", "-e", "ranks=2", *arguments, *new, code=USAGE)

    def test_it_cannot_be_judged(self):
        base = self.trace("a")
        result = self.run_cli("check", "-b", base, self.trace("b", arguments=["./solver", "-x"]), code=CANNOT)
        self.assertIn("cannot be judged", result.out)
        self.run_cli("check", "-b", self.path("none.mpiw"), base, code=CANNOT)


class Expectations(CompareTest):
    """A MiB takes a millisecond: 1.05 GB/s; 8 bytes take 10 us."""

    def expect(self, text, code, **options):
        return self.run_cli("check", "-e", text, self.trace("a", **options), code=code).out

    def test_units_and_relations(self):
        for text in ("bandwidth(>=1MiB) >= 1GB/s", "bandwidth( >= 1 MiB )>900MiB/s", "bandwidth(>=1MiB)<=1.2GB/s",
                     "bandwidth(intra-node,>=1MiB)>=8Gbit/s", "latency(<=64B) <= 12us", "latency(<1KiB)>9000ns",
                     "throughput(>=1MB) >= 800MB/s", "bandwidth(same-node, >512KiB, transport=vader) > 1000000kB/s",
                     "latency < 10ms", "bandwidth(transport=shared-memory,>=1MiB)>1GB/s"):
            with self.subTest(text):
                self.assertEqual(self.expect(text, FINE).split(":")[0], "holds")

    def test_what_breaks_them_is_said(self):
        out = self.expect("bandwidth(>=1MiB) >= 20GB/s", WORSE)
        self.assertIn("found 1.0", out)
        self.assertIn("on 0 -> 1 from 1.00 MiB", out)
        self.expect("latency(<=64B) <= 2us", WORSE)

    def test_what_was_not_measured_cannot_be_judged(self):
        self.expect("bandwidth(inter-node) >= 1B/s", CANNOT)
        self.expect("bandwidth(transport=cxi) >= 1B/s", CANNOT)
        self.expect("bandwidth(>=1GiB) >= 1B/s", CANNOT)
        self.expect("bandwidth(>=1MiB) >= 1B/s", CANNOT, count=8)
        self.expect("bandwidth(>=1MiB) >= 1B/s", CANNOT, reason=ABORT)

    def test_usage(self):
        for text in ("bandwidth", "bandwidth(", "bandwidth()", "bandwidth>=1", "bandwidth>=1us", "latency<=1GB/s",
                     "bandwidth(far)>=1B/s", "bandwidth(>=1parsec)>=1B/s", "bandwidth(>=1MiB>=1GB/s", "bandwidth(<0B)>1B/s",
                     "bandwidth(,)>1B/s", "latency<=-1us", "latency<=nanus", "bandwidthx>=1B/s", "bandwidth=1B/s",
                     "bandwidth(transport=)>1B/s", "latency<=1us1", "latency(>=1e30B)<1us"):
            with self.subTest(text):
                self.expect(text, USAGE)


if __name__ == "__main__":
    main()
