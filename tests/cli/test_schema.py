# SPDX-License-Identifier: BSD-3-Clause
"""Every JSON document follows docs/report.schema.json, and the schema would notice if not."""

import copy
import json
import os
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: the Python module jsonschema is missing")
    sys.exit(77)

# pylint: disable=wrong-import-position
import build_trace as b  # noqa: E402
import placed_jobs  # noqa: E402
import test_transports  # noqa: E402
import test_worlds  # noqa: E402
from build_trace import Process, job  # noqa: E402
from cli import ROOT, CliTest, main  # noqa: E402

COMMANDS = (("report",), ("report", "-n", "0"), ("matrix",), ("matrix", "-m", "messages"),
            ("matrix", "-m", "time", "-b", "node"), ("matrix", "-m", "transport"),
            ("matrix", "-m", "transport", "-b", "node"), ("matrix", "-k", "p2p,rma,coll,io"),
            ("matrix", "-k", "io", "-b", "node"), ("transports",), ("matrix", "-b", "numa"), ("matrix", "-b", "socket", "-m", "transport"), ("matrix", "-b", "gpu", "-u", "device"), ("placement",), ("placement", "-n", "1"),
            ("transports", "-n", "0"), ("matrix", "-m", "bandwidth"), ("matrix", "-m", "bandwidth", "-b", "node"),
            ("matrix", "-m", "latency"), ("matrix", "-m", "wait"), ("waits",), ("waits", "-n", "0"), ("info",))


def schema(document=None):
    with open(os.path.join(ROOT, "docs", "report.schema.json"), encoding="utf-8") as file:
        whole = json.load(file)
    if document:  # one kind alone gives readable errors
        whole["oneOf"] = [{"$ref": "#/definitions/" + document}]
    return whole


def hanging_job():
    ranks = [Process(rank, 4).world() for rank in range(3)]
    for rank in ranks:
        rank.send((rank.rank + 1) % 4, 10, 2000, 2100)
        rank.coll("MPI_Bcast", 2200, 2300, 0)
        rank.finalize(9000, reason=4)
        rank.extra.append(b.chunk("ENVIRONMENT", b.record(
            3, b.text(1, "env"), b.text(2, "RANK"), b.text(3, str(rank.rank))), process=rank.key))
    ranks[0].open_call("MPI_Barrier", 3000, instance=1, taken=10000)
    ranks[1].open_call("MPI_Recv", 3000, peer=-1, tag=-1, taken=10000)
    return [job(), *ranks]


def real_and_golden(folder):
    golden = os.path.join(ROOT, "tests", "golden", "v1")
    for name in sorted(os.listdir(golden)):
        if name.endswith(".mpiw"):
            yield os.path.join(golden, name)
    yield b.write(os.path.join(folder, "hang.mpiw"), *hanging_job())
    yield b.write(os.path.join(folder, "nothing.mpiw"), job())
    yield b.write(os.path.join(folder, "fabric.mpiw"), job(), *test_transports.two_nodes())
    yield b.write(os.path.join(folder, "worlds.mpiw"), job(), *test_worlds.parents_and_children())
    yield b.write(os.path.join(folder, "placed.mpiw"), job(),
                  *placed_jobs.two_nodes(placed_jobs.MACHINES["epyc"]))


class Schema(CliTest):
    def test_the_schema_is_one(self):
        jsonschema.Draft7Validator.check_schema(schema())

    def test_documents(self):
        whole = jsonschema.Draft7Validator(schema())
        for trace in real_and_golden(self.folder):
            for command in COMMANDS:
                with self.subTest(os.path.basename(trace), command=command):
                    document = self.run_cli(*command, "-f", "json", trace).json()
                    single = jsonschema.Draft7Validator(schema(document["document"]))
                    self.assertEqual([error.message for error in single.iter_errors(document)], [])
                    self.assertTrue(whole.is_valid(document))

    def test_pairs_of_a_rank(self):
        trace = b.write(self.path("fabric.mpiw"), job(), *test_transports.two_nodes())
        document = self.run_cli("transports", "-r", "0", "-f", "json", trace).json()
        self.assertEqual(len(document["pairs"]["listed"]), 6)
        jsonschema.Draft7Validator(schema("transports")).validate(document)
        trace = b.write(self.path("worlds.mpiw"), job(), *test_worlds.parents_and_children())
        document = self.run_cli("transports", "-r", "2:2", "-f", "json", trace).json()
        jsonschema.Draft7Validator(schema("transports")).validate(document)

    def test_mistakes_are_noticed(self):
        trace = b.write(self.path("hang.mpiw"), *hanging_job())
        report = self.run_cli("report", "-f", "json", trace).json()
        matrix = self.run_cli("matrix", "-f", "json", trace).json()
        whole = jsonschema.Draft7Validator(schema())

        def mistake(document, change):
            wrong = copy.deepcopy(document)
            change(wrong)
            self.assertFalse(whole.is_valid(wrong))

        mistake(report, lambda d: d.pop("stuck"))
        mistake(report, lambda d: d.update(extra=1))
        mistake(report, lambda d: d.update(schema=2))
        mistake(report, lambda d: d["ranks"][0].pop("share"))
        mistake(report, lambda d: d["ranks"][0].update(extra=1))
        mistake(report, lambda d: d["calls"][0].update(calls=-1))
        mistake(report, lambda d: d["stuck"]["calls"][0].update(since="yesterday"))
        mistake(report, lambda d: d["processes"]["ended"][0].update(how="well"))
        mistake(matrix, lambda d: d["cells"][0].update(value=0))
        mistake(matrix, lambda d: d.update(metric="speed"))
        mistake(matrix, lambda d: d.pop("besides"))
        trace = b.write(self.path("fabric.mpiw"), job(), *test_transports.two_nodes())
        transports = self.run_cli("transports", "-r", "0", "-f", "json", trace).json()
        matrix = self.run_cli("matrix", "-m", "transport", "-f", "json", trace).json()
        for change in (lambda d: d.pop("pairs"), lambda d: d["transports"].pop("ways"),
                       lambda d: d["transports"]["ways"][0].update(extra=1),
                       lambda d: d["transports"]["ways"][0].update(kind="pigeons"),
                       lambda d: d["transports"]["groups"]["listed"][0]["routes"][0].pop("sizes"),
                       lambda d: d["transports"]["failures"]["listed"][0].update(result="bad"),
                       lambda d: d["transports"]["log"]["listed"][0].pop("ranks"),
                       lambda d: d["transports"]["ports"]["listed"][0].update(seconds=-1),
                       lambda d: d["pairs"]["listed"][0].update(where="nowhere")):
            mistake(transports, change)
        mistake(matrix, lambda d: d["cells"][0].update(value=3))
        mistake(matrix, lambda d: d["cells"][0]["routes"][0].pop("certainty"))
        mistake(matrix, lambda d: d["cells"][0].pop("routes"))

    def test_dump_lines(self):
        trace = b.write(self.path("hang.mpiw"), *hanging_job())
        kinds = {json.loads(line)["type"]
                 for line in self.run_cli("dump", "-f", "json", trace).out.splitlines()}
        self.assertLessEqual({"file", "job", "process", "clock", "comm", "open", "event"}, kinds)


if __name__ == "__main__":
    main()
