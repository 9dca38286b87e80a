# SPDX-License-Identifier: BSD-3-Clause
"""mpiwatch check: expectations that hold, that do not, and that cannot be judged; as git bisect run needs it."""

import json
import os
import subprocess

try:
    import jsonschema
except ImportError:
    jsonschema = None

import build_trace as b
import fabric_jobs as f
from build_trace import job
from cli import MPIWATCH, ROOT, CliTest, main
from fabric_jobs import MEBI, all_pairs, exchange, finish, openmpi

HOLDS, FAILS, CANNOT, USAGE = 0, 1, 125, 129


def memory_job(count=2, reason=1, **more):
    """Ranks of one node, over shared memory."""
    ranks = [openmpi(rank, count, **more) for rank in range(count)]
    exchange(ranks)
    f.sockets(ranks, {})
    return finish(ranks, reason=reason)


def tcp_job(count=2, host="node{}", btls=("self", "vader", "tcp"), reason=1):
    ranks = [openmpi(rank, count, host=host.format(rank), btls=btls) for rank in range(count)]
    exchange(ranks)
    f.sockets(ranks, all_pairs(ranks, 102 * MEBI))
    return finish(ranks, reason=reason)


def mixed_job():
    """Two nodes of two ranks: shared memory within, cxi in between would be better than this tcp."""
    ranks = [openmpi(rank, 4, host="node%d" % (rank // 2)) for rank in range(4)]
    exchange(ranks)
    f.sockets(ranks, {(src, dst): 102 * MEBI for src in range(4) for dst in range(4)
                      if src // 2 != dst // 2})
    return finish(ranks)


def cxi_job():
    ranks = [openmpi(rank, 2, host="node%d" % rank, pml="cm", mtl="ofi", btls=())
             for rank in range(2)]
    exchange(ranks)
    f.fabric(ranks, all_pairs(ranks, 100 * MEBI))
    return finish(ranks)


class Check(CliTest):
    with open(os.path.join(ROOT, "docs", "report.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    schema["oneOf"] = [{"$ref": "#/definitions/check"}]

    def write(self, *ranks, name="job.mpiw"):
        return b.write(self.path(name), job(), *ranks)

    def check(self, ranks, expectation, code, *said):
        trace = self.write(*ranks)
        expectations = [expectation] if isinstance(expectation, str) else expectation
        options = [word for one in expectations for word in ("--expect", one)]
        result = self.run_cli("check", *options, trace, code=code)
        for words in said:
            self.assertIn(words, result.out)
        self.assertEqual(len(result.out.splitlines()), max(len(expectations), 1), result.out)
        doc = self.run_cli("check", "--format", "json", *options, trace, code=code).json()
        self.assertEqual(doc["exit_code"], code)
        self.assertEqual(doc["document"], "check")
        verdicts = {HOLDS: "holds", FAILS: "fails", CANNOT: "cannot be judged"}
        self.assertEqual(doc["verdict"], verdicts[code])
        for entry in doc["expectations"]:
            self.assertEqual(entry["verdict"] == "holds", not entry["reasons"])
        if jsonschema:
            jsonschema.validate(doc, self.schema)
        return result

    def test_transports(self):
        self.check(cxi_job(), "transport=cxi", HOLDS, "holds: transport=cxi")
        self.check(cxi_job(), "transport!=tcp", HOLDS)
        self.check(tcp_job(), "transport=cxi", FAILS,
                   "fails: transport=cxi: found tcp (Open MPI BTL, eth0) on 2 of 2 pairs, 200 MiB: "
                   "0 -> 1, 1 -> 0")
        self.check(tcp_job(), "transport!=tcp", FAILS, "found tcp")
        self.check(tcp_job(), "transport=cxi,tcp", HOLDS)
        self.check(memory_job(), "transport=vader", HOLDS)
        self.check(memory_job(), "transport=shared-memory", HOLDS)
        self.check(memory_job(), "transport!=network", HOLDS)
        self.check(memory_job(), "transport=single-copy", FAILS, "found vader")

    def test_layers(self):
        ranks = cxi_job()
        for rank in ranks:
            rank.extra = [part.replace(b"cxi", b"udp") for part in rank.extra]
        ranks = [openmpi(rank, 2, pml="cm", mtl="ofi", btls=()) for rank in range(2)]
        exchange(ranks)
        f.fabric(ranks, all_pairs(ranks, 100 * MEBI), provider="tcp;ofi_rxm", domain="lo")
        finish(ranks)
        self.check(ranks, "transport!=tcp", FAILS, "tcp;ofi_rxm")
        self.check(ranks, "transport=tcp;ofi_rxm", HOLDS)
        self.check(ranks, "transport=ofi_rx", FAILS)

    def test_scopes(self):
        ranks = mixed_job()
        self.check(ranks, "transport[intra-node]=vader", HOLDS)
        self.check(ranks, "transport[inter-node]=tcp", HOLDS)
        self.check(ranks, "transport[inter-node]!=tcp", FAILS, "on 8 of 8 pairs")
        self.check(ranks, "transport=tcp", FAILS, "found vader", "on 4 of 12 pairs")
        self.check(memory_job(), "transport[inter-node]=cxi", CANNOT,
                   "no pair of ranks between nodes exchanged messages")

    def test_unknown_transports(self):
        ranks = [openmpi(rank, 2, host="node%d" % rank, pml="cm", mtl="ofi", btls=())
                 for rank in range(2)]
        exchange(ranks)
        finish(ranks)
        self.check(ranks, "transport=cxi", CANNOT, "cannot be judged: transport=cxi: the transport "
                   "of 2 of 2 pairs is not known (0 -> 1: ")
        self.check(ranks, "no-finding", CANNOT, "is not known")
        old = [b.Process(rank, 2).world() for rank in range(2)]
        exchange(old)
        self.check(finish(old), "transport=vader", CANNOT, "no transport records")

    def test_one_failure_beats_what_cannot_be_judged(self):
        self.check(tcp_job(reason=4), ["transport=cxi", "no-finding", "ranks=2"], FAILS,
                   "fails: transport=cxi", "cannot be judged: no-finding", "holds: ranks=2")
        self.check(tcp_job(reason=4), ["no-finding", "ranks=2"], CANNOT)

    def test_crashed_jobs_and_missing_ranks(self):
        self.check(memory_job(reason=4), "transport=vader", CANNOT, "rank 0 died, and 1 more")
        self.check(memory_job(reason=3), "no-finding", CANNOT, "called MPI_Abort")
        self.check(memory_job(3)[:2], "transport=vader", CANNOT, "rank 2 was not recorded")
        self.check([], "no-finding", CANNOT, "the trace has no process")

    def test_findings(self):
        healthy, slow = memory_job(), tcp_job(host="node0", btls=("self", "tcp"))
        self.check(healthy, "no-finding", HOLDS)
        self.check(healthy, [], HOLDS, "holds: no-finding>=warning")
        self.check(slow, [], FAILS, "found warning network-inside-node: 100 % of the bytes")
        self.check(slow, "no-finding>=critical", HOLDS)
        self.check(slow, "no-finding=network-inside-node", FAILS)
        self.check(slow, "no-finding=fallback", HOLDS)
        self.check(slow, "finding=network-inside-node", HOLDS)
        self.check(slow, "finding=fallback", FAILS, "found only network-inside-node")
        self.check(healthy, "finding=fallback", FAILS, "found no finding at all")

    def test_a_finding_of_a_job_that_died(self):
        ranks = [openmpi(rank, 2, hint=True) for rank in range(2)]
        for rank in ranks:
            f.modules(rank, f.OFI)
            f.offer(rank)
            f.fail(rank, call="fi_domain")
        finish(ranks, at=5000, reason=2)
        self.check(ranks, "finding=fallback", HOLDS)
        self.check(ranks, "no-finding", FAILS, "The job ended in MPI_Init")
        self.check(ranks, "ended=MPI_Finalize", FAILS, "found another end of ranks 0-1: exit")

    def test_ranks_and_ends(self):
        self.check(memory_job(), "ranks=2", HOLDS)
        self.check(memory_job(), "ranks=3", FAILS, "found 2 of 2 recorded")
        self.check(memory_job(4)[:3], "ranks=4", FAILS, "found 3 of 4 recorded")
        self.check(memory_job(), "ended=MPI_Finalize", HOLDS)
        self.check(memory_job(reason=3), "ended=abort", HOLDS)
        self.check(memory_job(reason=4), "ended=MPI_Finalize", FAILS, "ranks 0-1: collected")
        self.check(memory_job(4)[:3], "ended=MPI_Finalize", CANNOT, "rank 3 was not recorded")
        self.check(memory_job(reason=2), "ended=exit", HOLDS)

    def test_exit_without_finalize(self):
        """With which code is not recorded, so it may have been an error."""
        self.check(memory_job(reason=2), "no-finding", CANNOT, "rank 0 left without MPI_Finalize")

    def test_wrong_usage(self):
        trace = self.write(*memory_job())
        for wrong in ("", "transport", "transport=", "transport=a,,b", "transport=,a", "transport[x]=a",
                      "transport>cxi", "transports=cxi", "no-finding=nonsense", "no-finding>=bad",
                      "no-findings", "finding", "finding=", "ranks=", "ranks=two", "ranks=-1",
                      "ended=well", "bandwidth>=3"):
            result = self.run_cli("check", "--expect", wrong, trace, code=USAGE)
            self.assertEqual(result.out, "")
            self.assertIn("--expect: \"%s" % wrong, result.err)
            self.assertIn("transport=NAME[,NAME...]", result.err)
        self.run_cli("check", code=USAGE)
        self.run_cli("check", "--format", "xml", trace, code=USAGE)
        self.run_cli("check", "--nonsense", trace, code=USAGE)
        told = self.run_cli("check", "--help").out
        self.assertIn("no-finding>=SEVERITY", told)
        for line in told.split("EXPECTATION is one of\n")[1].split("\n\n")[0].splitlines():
            self.assertRegex(line, r"^  \S+ +\S", "an expectation and its words stand in one line")

    def test_unreadable_traces(self):
        good = self.write(*memory_job())
        self.run_cli("check", self.path("missing.mpiw"), code=CANNOT)
        with open(self.path("text.mpiw"), "w", encoding="utf-8") as out:
            out.write("no trace\n" * 100)
        self.run_cli("check", self.path("text.mpiw"), code=CANNOT)
        self.run_cli("check", good, self.path("missing.mpiw"), code=CANNOT)
        with open(good, "rb") as file:
            content = bytearray(file.read())
        content[len(content) // 2] ^= 0xff
        with open(self.path("damaged.mpiw"), "wb") as out:
            out.write(content)
        result = self.run_cli("check", self.path("damaged.mpiw"), code=CANNOT)
        self.assertIn("cannot be read", result.out)

    def test_output_that_cannot_be_written(self):
        trace = self.write(*memory_job())
        self.run_cli("check", "-o", self.path("no/such/folder"), trace, code=CANNOT)
        if os.path.exists("/dev/full"):
            self.run_cli("check", "-o", "/dev/full", trace, code=CANNOT)

    def test_bisection(self):
        """git bisect finds the commit that broke the transport, over commits that do not build or crash."""
        def git(*words):
            whole = dict(os.environ, GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@example.org",
                         GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@example.org",
                         GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1", LC_ALL="C")
            return subprocess.run(["git", *words], cwd=self.path("repo"), env=whole, check=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode()
        os.mkdir(self.path("repo"))
        git("init", "-q")
        kinds = {"good": cxi_job(), "bad": tcp_job(), "crash": tcp_job(reason=4)[:1]}
        commits = []
        for kind in ("good", "good", "crash", "good", "bad", "bad", "none", "bad"):
            trace = self.path("repo/job.mpiw")
            if kind == "none":
                os.unlink(trace)
            else:
                b.write(trace, job(), *kinds[kind])
            with open(self.path("repo/state"), "a", encoding="utf-8") as out:
                out.write(kind + "\n")
            git("add", "-A")
            git("commit", "-q", "-m", kind)
            commits.append(git("rev-parse", "HEAD").strip())
        git("bisect", "start", commits[-1], commits[0])
        said = git("bisect", "run", MPIWATCH, "check", "-e", "transport=cxi", "job.mpiw")
        self.assertIn(commits[4] + " is the first bad commit", said)


if __name__ == "__main__":
    main()
