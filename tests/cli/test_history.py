# SPDX-License-Identifier: BSD-3-Clause
"""mpiwatch history: runs kept whole whoever writes, what changed between them, and pages that nothing
in a trace can turn into something else."""

import glob
import html.parser
import json
import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import time

try:
    import jsonschema
except ImportError:
    jsonschema = None

import build_trace as b
import history_jobs as h
import test_check
from cli import MPIWATCH, ROOT, CliTest, main

OLD, NEW = "/opt/lib/libfabric.so.1.20.1", "/opt/lib/libfabric.so.1.21.0"
# What the pages may hold of it is escaped text.
EVIL = "a\x1b[31m\u202e</script><img src=x onerror=alert(1)>&\"'%s\t<!--"


class Page(html.parser.HTMLParser):
    """Elements, links and text of a page; fails on one that is not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.said = [], [], [], ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.said += data

    def handle_comment(self, data):
        raise AssertionError("a comment: " + data)


class HistoryTest(CliTest):
    def setUp(self):
        super().setUp()
        self.file = self.path("runs.db")
        with open(os.path.join(ROOT, "docs", "history.schema.json"), encoding="utf-8") as file:
            self.schema = json.load(file)

    def checked(self, document):
        if jsonschema:
            jsonschema.Draft7Validator(self.schema).validate(document)
        return document

    def history(self, *words, code=0):
        return self.run_cli("history", *words, code=code)

    def read(self, *words):
        return self.checked(self.history(*words, "-f", "json").json())

    def run_of(self, day, **more):
        return h.run(self.path("day%d.mpiw" % day), day, **more)

    def add(self, *traces, code=0, **tags):
        words = [word for key, value in tags.items() for word in ("-t", "%s=%s" % (key, value))]
        done = self.history("add", "-f", "json", self.file, *traces, *words, code=code)
        return self.checked(done.json())["traces"]

    def runs(self):
        return self.read("list", self.file)["runs"]

    def sql(self, statement):
        with sqlite3.connect(self.file) as connection:
            return connection.execute(statement).fetchall()

    def pages(self):
        """{name: Page} of the site, and the documents of the benchmarks."""
        folder = self.path("site")
        self.history("html", self.file, "-o", folder)
        names = os.listdir(folder)
        self.assertTrue(all(name.isascii() and name.replace("-", "").replace(".", "").isalnum()
                            for name in names), names)
        pages, documents = {}, []
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            if name.endswith(".html"):
                pages[name] = Page(text)
            else:
                document = self.checked(json.loads(text))
                documents += [document] if document["document"] == "history-benchmark" else []
        return pages, documents


class Adding(HistoryTest):
    def test_a_run(self):
        trace = self.run_of(0)
        (added,) = self.add(trace, commit="1a2b", site="here")
        self.assertEqual((added["result"], added["run"], added["benchmark"]),
                         ("added", 1, "solver --steps=10, 2 ranks"))
        (run,) = self.runs()
        self.assertEqual((run["id"], run["stack"], run["tags"], run["in_trends"]),
                         (1, added["stack"], {"commit": "1a2b", "site": "here"}, True))
        self.assertEqual((run["messages"], run["bytes"], run["began"][:10]), (30, 30000, "2023-11-14"))
        said = self.history("list", self.file).out
        self.assertIn("solver --steps=10, 2 ranks", said)
        self.assertIn("commit=1a2b", said)
        self.assert_fits(said)

    def test_the_same_run_again(self):
        trace = self.run_of(0)
        self.add(trace)
        packed = self.path("packed.mpiw")
        self.run_cli("pack", "-o", packed, trace)
        before = self.runs()
        for again in (trace, packed):
            (added,) = self.add(again, tag="other")
            self.assertEqual((added["result"], added["run"]), ("there", 1))
        self.assertEqual(self.runs(), before)
        self.assertIn("is there already, as run 1", self.history("add", self.file, trace).out)
        self.assertEqual([run["result"] for run in self.add(self.run_of(1), trace, self.run_of(2))],
                         ["added", "there", "added"])
        # the same job key at another time is another run
        (added,) = self.add(self.run_of(7, key="job-" + trace))
        self.assertEqual(added["result"], "added")

    def test_a_trace_that_became_whole(self):
        (added,) = self.add(self.run_of(0, only_rank=0, key="k"), commit="1")
        self.assertIn("rank 1", added["incomplete"])
        self.assertFalse(self.runs()[0]["in_trends"])
        self.assertIn("not in trends", self.history("add", self.path("other.db"),
                                                    self.path("day0.mpiw")).out)
        (added,) = self.add(self.run_of(0, key="k"), site="here")
        self.assertEqual((added["result"], added["run"]), ("completed", 1))
        (run,) = self.runs()
        self.assertEqual((run["in_trends"], run["tags"]), (True, {"commit": "1", "site": "here"}))
        self.assertEqual(self.add(self.run_of(0, only_rank=0, key="k"))[0]["result"], "there")
        self.assertEqual(self.sql("SELECT count(DISTINCT run) FROM figure"), [(1,)])

    def test_crashed_runs(self):
        (added,) = self.add(self.run_of(0, reason=h.ABORT), site="here")
        self.assertIn("MPI_Abort", added["crashed"])
        self.assertIn("site=here; crashed:", self.history("list", self.file).out)
        self.assertIn("MPI_Abort", self.history("show", self.file, "1").out)

    def test_benchmarks(self):
        self.add(self.run_of(0), self.run_of(1, arguments="--steps=20"))
        self.add(self.run_of(2, arguments="--seed=4"), benchmark="the solver")
        self.add(self.run_of(3, arguments="--seed=5"), benchmark="the solver")
        self.assertEqual([run["benchmark"] for run in self.runs()],
                         ["solver --steps=10, 2 ranks", "solver --steps=20, 2 ranks", "the solver", "the solver"])

    def test_identity_of_the_stack(self):
        """Versions and values count; where libraries lie, who set a parameter and the host do not."""
        env = ("env", "FI_CXI_RX_MATCH_MODE", "hybrid")
        same = [self.run_of(0, facts=[env]),
                self.run_of(1, facts=[env, ("system", "kernel", "7.0")]),
                self.run_of(2, facts=[env], libraries=["/home/x/" + os.path.basename(OLD)])]
        other = [self.run_of(3), self.run_of(4, facts=[env], libraries=[NEW]),
                 self.run_of(5, facts=[("env", "FI_CXI_RX_MATCH_MODE", "software")])]
        stacks = [run["stack"] for run in self.add(*same, *other)]
        self.assertEqual(len(set(stacks[:3])), 1)
        self.assertEqual(len(set(stacks)), 4)
        self.assertTrue(all(len(stack) == 16 for stack in stacks))

    def test_traces_that_cannot_be_read(self):
        good, text = self.run_of(0), self.path("text")
        with open(text, "w", encoding="utf-8") as out:
            out.write("hello")
        empty = b.write(self.path("empty.mpiw"), b.job(key=""))
        for bad in (text, empty, self.path("none.mpiw")):
            result = self.history("add", self.path("x.db"), bad, code=1)
            self.assertIn(os.path.basename(bad), result.err)
        results = self.add(good, text, code=1)
        self.assertEqual([result["result"] for result in results], ["added", "failed"])
        self.assertIn("text", results[1]["why"])
        self.assertEqual(len(self.runs()), 1)


class Writers(HistoryTest):
    def start(self, *traces):
        return subprocess.Popen([MPIWATCH, "history", "add", self.file, *traces], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, cwd=self.folder)

    def test_many_at_once(self):
        """They make the file, too; two of them add the same run."""
        traces = [self.run_of(day) for day in range(24)]
        writers = [self.start(*traces[first:first + 4]) for first in range(0, 24, 4)]
        writers.append(self.start(*traces[:4]))
        for writer in writers:
            _, said = writer.communicate(timeout=120)
            self.assertEqual(writer.returncode, 0, said)
        self.assertEqual(sorted(run["path"] for run in self.runs()), sorted(traces))
        self.assertEqual(self.sql("SELECT count(*) FROM run_fact GROUP BY run"),
                         self.sql("SELECT count(*) FROM run_fact GROUP BY run")[:1] * 24)
        self.assertEqual(self.sql("PRAGMA integrity_check"), [("ok",)])
        self.assertEqual(self.sql("PRAGMA foreign_key_check"), [])

    def test_killed_writers(self):
        """Whatever was said to be added is there, whole; the file goes on working."""
        chance = random.Random(7)
        traces = [self.run_of(day) for day in range(30)]
        self.add(traces[0])
        for _ in range(12):
            writer = self.start(*traces)
            time.sleep(chance.uniform(0, 0.15))
            writer.send_signal(signal.SIGKILL)
            writer.communicate(timeout=60)
        numbers = [run["id"] for run in self.runs()]
        for table in ("run_fact", "way", "figure"):
            self.assertEqual([row[0] for row in self.sql("SELECT DISTINCT run FROM %s ORDER BY run" % table)],
                             sorted(numbers))
        self.add(*traces)
        self.assertEqual(sorted(run["path"] for run in self.runs()), sorted(traces))
        self.assertEqual(self.sql("PRAGMA integrity_check"), [("ok",)])
        counts = {count for count, in self.sql("SELECT count(*) FROM figure GROUP BY run")}
        self.assertEqual(len(counts), 1)

    def test_waits_for_another(self):
        """For a program that has begun to write, and for one that died with a journal left."""
        self.add(self.run_of(0))
        other = sqlite3.connect(self.file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        writer = self.start(self.run_of(1))
        time.sleep(0.7)
        self.assertIsNone(writer.poll())
        self.assertEqual(len(self.runs()), 1)  # readers do not wait
        other.execute("COMMIT")
        other.close()
        self.assertEqual(writer.wait(timeout=60), 0)
        writer.communicate()
        self.assertEqual(len(self.runs()), 2)

    def test_a_journal_that_was_left(self):
        self.add(self.run_of(0))
        script = ("import sqlite3, os, sys\nc = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
                  "c.execute('PRAGMA cache_size=1')\nc.execute('BEGIN IMMEDIATE')\n"
                  "c.execute('DELETE FROM run_fact')\nc.execute('DELETE FROM figure')\n"
                  "c.execute('UPDATE run SET benchmark=hex(zeroblob(900000))')\nos._exit(9)\n")
        subprocess.run(["/usr/bin/python3", "-c", script, self.file], check=False, timeout=60)
        self.assertTrue(os.path.exists(self.file + "-journal"))
        self.assertEqual(self.runs()[0]["benchmark"], "solver --steps=10, 2 ranks")
        self.assertTrue(self.read("show", self.file, "1")["facts"])

    def test_mode(self):
        for mask, mode in ((0o022, 0o644), (0o002, 0o664), (0o077, 0o600)):
            name = self.path("mode%o.db" % mask)
            old = os.umask(mask)
            try:
                self.history("add", name, self.run_of(0))
            finally:
                os.umask(old)
            self.assertEqual(stat.S_IMODE(os.stat(name).st_mode), mode)


class Files(HistoryTest):
    def refused(self, *said, file=None):
        for words in (("list", file or self.file), ("show", file or self.file, "1"),
                      ("html", file or self.file, "-o", self.path("site")),
                      ("add", file or self.file, self.run_of(0))):
            result = self.history(*words, code=1)
            for word in said:
                self.assertIn(word, result.err)
            self.assertEqual(len(result.err.splitlines()), 1, result.err)
        self.assertFalse(os.path.exists(self.path("site")))

    def test_no_file(self):
        for words in (("list", self.file), ("show", self.file, "1"), ("html", self.file, "-o", self.path("x"))):
            self.assertIn("No such file", self.history(*words, code=1).err)
        self.assertFalse(os.path.exists(self.file))
        self.assertIn("No such file", self.history("add", self.path("no/where"), self.run_of(0), code=1).err)

    def test_not_a_history(self):
        with open(self.file, "wb") as out:
            out.write(b"#!/bin/sh\n" * 500)
        self.refused("not a history")
        with open(self.file, "rb") as file:
            self.assertEqual(file.read(), b"#!/bin/sh\n" * 500)
        os.remove(self.file)
        self.sql("CREATE TABLE mine(x)")
        self.refused("another program")
        self.assertEqual(self.sql("SELECT name FROM sqlite_master"), [("mine",)])
        self.refused("folder", file=self.folder)
        os.mkfifo(self.path("pipe"))
        self.refused("is no file", file=self.path("pipe"))
        open(self.path("empty.db"), "wb").close()
        self.assertIn("empty", self.history("list", self.path("empty.db"), code=1).err)

    def test_a_newer_one(self):
        self.add(self.run_of(0))
        self.sql("PRAGMA user_version=2")
        self.refused("newer")

    def test_names_that_mean_something_to_sqlite(self):
        for name in (":memory:", "file:x.db?mode=memory", "a'b\"c;--.db", "-x.db"):
            path = name if not name.startswith("-") else "./" + name
            self.history("add", path, self.run_of(0))
            self.assertTrue(os.path.exists(self.path(name)), name)
            self.assertIn("1 run", self.history("list", path).out)

    def test_damaged_ones(self):
        """Never a crash, whichever bytes are changed; at most one line of what is wrong."""
        self.add(*[self.run_of(day) for day in range(3)])
        with open(self.file, "rb") as file:
            whole = file.read()
        chance, failed = random.Random(11), 0
        for number in range(60):
            content = bytearray(whole)
            if number % 3 == 0:
                del content[chance.randrange(len(content)):]
            for _ in range(chance.choice((1, 20, 400))):
                if content:
                    content[chance.randrange(len(content))] = chance.randrange(256)
            damaged = self.path("damaged.db")
            with open(damaged, "wb") as out:
                out.write(content)
            for words in (("list", damaged), ("show", damaged, "2"), ("html", damaged, "-o", self.path("site")),
                          ("add", damaged, self.path("day1.mpiw"))):
                result = self.history(*words, code=None)
                self.assertIn(result.code, (0, 1), (number, words, result.err))
                failed += result.code
                self.assertLessEqual(len(result.err.splitlines()), 1)
            if os.path.exists(damaged + "-journal"):
                os.remove(damaged + "-journal")
        self.assertGreater(failed, 10)

    def test_strange_values(self):
        """A file may come from anybody: types, numbers and words that no digest has."""
        self.add(self.run_of(0), self.run_of(1))
        self.sql("UPDATE run SET ranks='many', messages=-5, began=9e18, crashed=x'ff00fe', nodes=NULL WHERE id=1")
        self.sql("UPDATE figure SET value='fast', size_class=9999, scope='class', samples=1e300 WHERE run=1")
        self.sql("UPDATE figure SET value=1e-300, metric='beauty' WHERE run=2 AND metric='latency'")
        self.sql("UPDATE way SET first_class=-3, last_class=5000, transport=NULL, distance=NULL")
        self.sql("UPDATE fact SET kind='wonder' WHERE kind='machine'")
        for words in (("list", self.file), ("show", self.file, "1"), ("show", self.file, "2")):
            self.history(*words)
            self.history(*words, "-f", "json").json()
        self.history("html", self.file, "-o", self.path("site"))


class Changes(HistoryTest):
    def step(self, slower=1.5, runs=8):
        chance = random.Random(5)
        traces = [self.run_of(day, ns=int(chance.gauss(1, 0.02) * (400 if day < runs else 400 * slower)),
                              libraries=[OLD if day < runs else NEW]) for day in range(2 * runs)]
        self.add(*traces)
        return traces

    def test_a_step_and_what_changed_then(self):
        self.step()
        self.add(self.run_of(9, reason=h.ABORT, ns=9000, key="crash"),
                 self.run_of(10, only_rank=0, ns=9000, key="part"))
        pages, (document,) = self.pages()
        (step,) = document["steps"]
        self.assertEqual((step["before"], step["run"], step["same_stack"]), (8, 9, False))
        self.assertEqual({(change["metric"], change["worse"]) for change in step["changes"]},
                         {("bandwidth", True), ("latency", True)})
        for change in step["changes"]:
            factor = 1.5 if change["metric"] == "latency" else 1 / 1.5
            self.assertLess(abs(change["ratio"] / factor - 1), 0.1)
        (suspect,) = step["suspects"]["listed"]
        self.assertEqual((suspect["kind"], suspect["name"]), ("library", "libfabric.so"))
        self.assertIn("1.20.1", suspect["base"])
        self.assertIn("1.21.0", suspect["new"])
        for trend in document["trends"]:
            self.assertEqual(len(trend["points"]), 16)
        page = next(page for name, page in pages.items() if name.startswith("benchmark"))
        self.assertIn("slower: latency", page.said)
        self.assertIn("libfabric.so: 1.20.1", page.said)
        self.assertIn("slower at run 9", page.said)
        self.assertIn(("href", "#change-9"), page.attributes)
        self.assertIn(("id", "change-9"), page.attributes)
        self.assertIn("last change", pages["index.html"].said)

    def test_a_step_to_the_better(self):
        self.step(slower=1 / 1.5)
        _, (document,) = self.pages()
        (step,) = document["steps"]
        self.assertEqual({change["worse"] for change in step["changes"]}, {False})

    def test_nothing_changed(self):
        self.step(slower=1)
        pages, (document,) = self.pages()
        self.assertEqual(document["steps"], [])
        page = next(page for name, page in pages.items() if name.startswith("benchmark"))
        self.assertIn("Nothing that stands out", page.said)

    def test_order_is_that_of_time(self):
        traces = [self.run_of(day) for day in (5, 1, 3)]
        self.add(*traces)
        self.assertEqual([run["id"] for run in self.runs()], [2, 3, 1])
        self.assertEqual(self.read("show", self.file, "1")["difference"]["before"], 3)
        self.assertIsNone(self.read("show", self.file, "2")["difference"])

    def test_another_way_of_messages(self):
        """One run is enough: it is seen, not concluded from noise."""
        for number, ranks in enumerate((test_check.cxi_job(), test_check.tcp_job())):
            self.add(b.write(self.path("way%d.mpiw" % number), b.job(key="way%d" % number),
                             *[h.at_day(rank, number) for rank in ranks]))
        shown = self.read("show", self.file, "2")
        self.assertIn(("cxi by libfabric", True), [(change["base"], "tcp" in change["new"])
                                                   for change in shown["difference"]["identity"]])
        self.assertIn("cxi by libfabric -> tcp", self.history("show", self.file, "2").out)
        _, (document,) = self.pages()
        self.assertEqual([(step["before"], step["run"]) for step in document["steps"]], [(1, 2)])

    def test_show(self):
        self.add(self.run_of(0), self.run_of(1, libraries=[NEW], facts=[("env", "UCX_TLS", "tcp")]),
                 self.run_of(2, reason=h.ABORT), self.run_of(3, libraries=[NEW]))
        said = self.history("show", self.file, "2").out
        self.assert_fits(said)
        for words in ("What changed since run 1", "library libfabric.so: 1.20.1", "parameter UCX_TLS: not there -> tcp",
                      "Figures", "The stack"):
            self.assertIn(words, " ".join(said.split()))
        self.assertIn("The first run", self.history("show", self.file, "1").out)
        # not compared with the crashed one
        self.assertIn("What changed since run 2", self.history("show", self.file, "4").out)
        figures = self.read("show", self.file, "2")["figures"]
        self.assertEqual({figure["scope"] for figure in figures}, {"class", "call", "wait", "job"})
        self.assertIn("no run 9", self.history("show", self.file, "9", code=1).err)

    def test_a_name_that_somebody_else_wrote(self):
        """It ends at its NUL in all of them."""
        self.add(*[self.run_of(day, key=str(day)) for day in range(2)])
        with sqlite3.connect(self.file) as connection:
            connection.execute("UPDATE run SET benchmark='a' || char(0) || 'b' WHERE id=1")
            connection.execute("UPDATE run SET benchmark='a' WHERE id=2")
        self.assertIn("\na\n", self.history("list", self.file).out)
        self.assertEqual(self.read("show", self.file, "1")["run"]["benchmark"], "a")
        self.assertEqual(self.read("show", self.file, "2")["difference"]["before"], 1)
        pages, documents = self.pages()
        self.assertEqual((len(documents), sorted(pages)[-2:]), (1, ["run-1.html", "run-2.html"]))


class Pages(HistoryTest):
    def test_hostile_texts(self):
        self.add(*[self.run_of(day, arguments=EVIL.replace(" ", "_"), program="/opt/" + EVIL.replace("/", "|"),
                               libraries=["/opt/lib/" + EVIL.replace("/", "|") + ".so.%d" % day],
                               facts=[("env", "UCX_" + EVIL, EVIL + str(day)), ("system", "kernel", EVIL)],
                               key="%d" % day) for day in range(3)], **{"note": EVIL})
        self.add(self.run_of(4, key="4"), benchmark=EVIL)
        pages, documents = self.pages()
        self.assertEqual(len(documents), 2)
        allowed = {"html", "head", "meta", "title", "style", "body", "p", "a", "h1", "h2", "h3", "ul", "li", "table",
                   "tr", "th", "td", "section", "svg", "line", "text", "circle", "details", "summary", "code", "footer"}
        for name, page in pages.items():
            self.assertLessEqual(set(page.tags), allowed, name)
            for key, value in page.attributes:
                self.assertFalse(key.startswith("on") or key in ("src", "style"), (name, key))
                if key == "href":
                    self.assertRegex(value, r"^(index|run-\d+|benchmark-[0-9a-f]{16})?(\.html)?(#change-\d+)?$")
            self.assertFalse([c for c in page.said if c != "\n" and (ord(c) < 32 or c == "\u202e")], name)
        self.assertIn("onerror=alert(1)", pages["run-1.html"].said)
        for name in glob.glob(os.path.join(self.path("site"), "*.json")):
            with open(name, encoding="utf-8") as file:
                self.assertNotIn("\u202e", file.read(), name)
        for words in (("list", self.file), ("show", self.file, "2")):
            self.assert_fits(self.history(*words).out, width=10000)
            plain = self.history(*words, "-f", "json").out
            self.assertFalse([c for c in plain if c != "\n" and (ord(c) < 32 or c == "\u202e")], words)
            self.assertIn("\\u202e", plain)
            json.loads(plain)

    def test_nothing_is_loaded(self):
        self.add(self.run_of(0))
        self.pages()
        with open(self.path("site/index.html"), encoding="utf-8") as file:
            text = file.read()
        self.assertNotIn("http:", text)
        self.assertNotIn("https:", text)
        self.assertNotIn("url(", text)
        self.assertIn("default-src 'none'", text)
        self.assertIn("prefers-color-scheme:dark", text)

    def test_charts_have_tables(self):
        self.add(*[self.run_of(day) for day in range(3)])
        pages, (document,) = self.pages()
        page = next(page for name, page in pages.items() if name.startswith("benchmark"))
        self.assertEqual(page.tags.count("svg"), len(document["trends"]))
        self.assertEqual(page.tags.count("svg"), page.tags.count("details"))
        self.assertEqual(page.tags.count("circle"), sum(len(trend["points"]) for trend in document["trends"]))
        self.assertEqual(page.attributes.count(("role", "img")), page.tags.count("svg"))

    def test_links_lead_somewhere(self):
        self.add(*[self.run_of(day) for day in range(2)])
        pages, _ = self.pages()
        links = {value.partition("#")[0] for page in pages.values() for key, value in page.attributes if key == "href"}
        self.assertLessEqual(links - {""}, set(pages))

    def test_symbolic_links_are_replaced(self):
        self.add(self.run_of(0))
        os.mkdir(self.path("site"))
        with open(self.path("precious"), "w", encoding="utf-8") as out:
            out.write("mine")
        os.symlink(self.path("precious"), self.path("site/run-1.html"))
        os.symlink(self.path("outside"), self.path("site/run-1.json"))
        self.pages()
        with open(self.path("precious"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")
        self.assertFalse(os.path.islink(self.path("site/run-1.html")) or os.path.exists(self.path("outside")))

    def test_folders(self):
        self.add(self.run_of(0))
        self.pages()
        self.pages()  # again, over its own
        os.mkdir(self.path("theirs"))
        with open(self.path("theirs/index.html"), "w", encoding="utf-8") as out:
            out.write("<h1>welcome</h1>")
        said = self.history("html", self.file, "-o", self.path("theirs"), code=1).err
        self.assertIn("not overwritten", said)
        self.assertEqual(os.listdir(self.path("theirs")), ["index.html"])
        self.history("html", self.file, "-o", self.file, code=1)
        self.history("html", self.file, "-o", self.path("no/where"), code=1)
        if os.path.isdir("/proc/self"):
            self.history("html", self.file, "-o", "/proc/self", code=1)
        self.assertFalse([name for name in os.listdir(self.path("site")) if name.startswith(".")])

    def test_no_runs(self):
        self.add(self.run_of(0))
        self.sql("DELETE FROM run")
        self.assertEqual(self.runs(), [])
        pages, documents = self.pages()
        self.assertEqual((list(pages), documents), (["index.html"], []))


class Usage(HistoryTest):
    def test_wrong_usage(self):
        self.add(self.run_of(0))
        for words in ((), ("add",), ("add", self.file), ("list",), ("show", self.file), ("html", self.file),
                      ("show", self.file, "one"), ("show", self.file, "0"), ("show", self.file, "1", "2"),
                      ("list", self.file, "x"), ("frobnicate", self.file), ("list", self.file, "-t", "a=b"),
                      ("add", self.file, "x", "-t", "novalue"), ("add", self.file, "x", "-t", "=v"),
                      ("add", self.file, "x", "-t", "k="), ("add", self.file, "x", "-t", "k=1", "-t", "k=2"),
                      ("html", self.file, "-o", self.path("x"), "-f", "json"), ("list", self.file, "-f", "csv")):
            result = self.history(*words, code=129)
            self.assertIn("mpiwatch history", result.err)
        self.assertFalse(os.path.exists(self.path("x")))

    def test_output(self):
        self.add(self.run_of(0))
        self.history("list", self.file, "-o", self.path("out"))
        with open(self.path("out"), encoding="utf-8") as file:
            self.assertEqual(file.read(), self.history("list", self.file).out)
        if os.path.exists("/dev/full"):
            self.history("list", self.file, "-o", "/dev/full", code=1)

    def test_a_folder_trace(self):
        os.mkdir(self.path("folder.mpiw"))
        shutil.move(self.run_of(0), self.path("folder.mpiw/node1.mpiw"))
        self.assertEqual(self.add(self.path("folder.mpiw"))[0]["result"], "added")


if __name__ == "__main__":
    main()
