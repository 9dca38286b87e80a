# SPDX-License-Identifier: BSD-3-Clause
#
# Programs with several MPI_COMM_WORLDs: ranks of the same number are told apart in every command, and
# messages between worlds go to the ranks that they went to, as far as both sides were recorded. What an
# MPI can do here without us is seen first: Debian's MPICH cannot spawn.
"""Several worlds."""

import csv
import io
import json
import os

from harness import Skip, check, command, main, mpi_test, same, setting, tidy
from trace import Trace

PARENTS = 2


def cli(folder, *argv):
    return command([setting("MW_CLI"), *argv], folder).expect(0).stdout


def matrix(folder, path, *options):
    rows = list(csv.reader(io.StringIO(cli(folder, "matrix", "-f", "csv", *options, path))))
    return {(src, dst): int(value) for src, dst, value in rows[1:]}


def record(mpi, folder, source, children, parents=PARENTS, arguments=()):
    """Runs a program that spawns; the children are recorded, too, where they inherit LD_PRELOAD."""
    program = [mpi.build(source), *arguments]
    plain = mpi.run(parents, program, folder, timeout=100)
    if plain.code:
        raise Skip("MPI_Comm_spawn does not work here: %s" % " ".join(plain.stderr.split())[-100:])
    if children:
        path = os.path.join(folder, "job.mpiw")
        env = {"LD_PRELOAD": mpi.library(), "MPIWATCH_OUT": path}
        job = mpi.run(parents, program, folder, env=env, timeout=100)
    else:
        job, path = mpi.record(parents, program, folder, timeout=100)
    same(
        (job.code, tidy(job.stdout), tidy(job.stderr)),
        (plain.code, tidy(plain.stdout), tidy(plain.stderr)),
        "result",
    )
    same([name for name in os.listdir(folder) if name.endswith(".mpiw")], ["job.mpiw"], "traces")
    trace = Trace(path)
    check(not trace.damage, "damage: %s" % trace.damage)
    for process in trace.processes:
        same((process.end, process.health), ("finalize", []), "end, health")
    return trace, path


def worlds_of(folder, path):
    return json.loads(cli(folder, "report", "-f", "json", path))["processes"]["worlds"]


@mpi_test
def parents_alone_are_recorded(mpi, folder):
    trace, path = record(mpi, folder, "spawn.c", children=False)
    same([process.rank for process in trace.processes], [0, 1], "ranks")
    for process in trace.processes:
        sent = [event for call in process.calls() for event in call.events if event.kind == "SEND"]
        same([event.peer for event in sent], [-16 - process.rank], "a process of another world")
    same(matrix(folder, path), {}, "matrix")
    for words, argv in (
        ("2 messages to ranks of remote groups, not recorded", ("matrix", path)),
        ("rank 1 of a remote group (which one is not known)", ("dump", path)),
    ):
        check(words in cli(folder, *argv), words)


@mpi_test(variants=((), ("multiple",)))
def parents_and_children(mpi, folder, arguments):
    trace, path = record(mpi, folder, "spawn.c", children=True, arguments=arguments)
    same(sorted(process.rank for process in trace.processes), [0, 0, 1, 1], "ranks")
    same(
        [(at["ranks"], at["recorded"], at["spawned_by"]) for at in worlds_of(folder, path)],
        [(2, 2, None), (2, 2, 1)],
        "worlds",
    )
    same(
        matrix(folder, path, "-m", "messages"),
        {("1:0", "2:0"): 1, ("1:1", "2:1"): 1, ("2:0", "1:0"): 1, ("2:1", "1:1"): 1},
        "messages",
    )


def expected(port):
    """What programs/worlds.c says of itself, in bytes; port: MPI_MAX_PORT_NAME."""
    out = {("1:1", "2:2"): 112 + 1000}
    for parent in range(PARENTS):
        for server in range(3):
            size = 100 + 10 * parent + server
            out.setdefault(("1:%d" % parent, "2:%d" % server), size)
            out["2:%d" % server, "1:%d" % parent] = 2 * size
    for server in range(3):
        out["2:%d" % server, "3:0"] = 3000 + server
    out["2:0", "1:0"] += port
    out["1:0", "3:0"] = port
    out["3:0", "1:0"], out["4:0", "1:0"] = 2000, 2001
    return out


@mpi_test
def who_talks_over_worlds(mpi, folder):
    """Spawned twice, connected at a port, merged, and what was made of that."""
    port = 1024 if mpi.name == "openmpi" else 256
    _, path = record(mpi, folder, "worlds.c", children=True)
    same(sorted(matrix(folder, path).items()), sorted(expected(port).items()), "bytes")
    merged = ["1:0", "1:1", "2:0", "2:1", "2:2"]
    same(
        sorted(matrix(folder, path, "-k", "coll").items()),
        sorted(((src, dst), 7) for src in merged for dst in merged if src != dst),
        "all to all in the merged communicator",
    )
    same(
        [(at["spawned_by"], at["connected_to"]) for at in worlds_of(folder, path)],
        [(None, []), (1, [3]), (1, [2]), (1, [])],
        "worlds",
    )
    report = json.loads(cli(folder, "report", "-f", "json", path))
    same(report["messages"]["outside_world"]["messages"], 0, "messages to nobody")
    # seven ranks share the processors of a small machine, which is said
    same([f["id"] for f in report["findings"] if f["id"] != "shared-cpu"], [], "findings")
    check("peer 2:2" in cli(folder, "dump", "--rank", "1:1", path), "dump")
    pairs = json.loads(cli(folder, "transports", "--rank", "3:0", "-f", "json", path))["pairs"]
    check(pairs["total"] >= 5, "pairs of 3:0: %d" % pairs["total"])


@mpi_test
def families(mpi, folder):
    """Parts of merged worlds, children of several worlds, and children that were spawned at the same time."""
    _, path = record(mpi, folder, "families.c", children=True)
    got = matrix(folder, path)
    own = {pair: got.pop(pair) for pair in list(got) if got[pair] in (10, 11)}
    same(sorted((pair[0], size) for pair, size in own.items()), [("1:0", 10), ("1:1", 11)], "own")
    same(sorted(pair[1] for pair in own), ["2:0", "3:0"], "each its own child")
    same(
        got,
        {
            ("1:0", "4:0"): 100,
            ("1:1", "4:1"): 101,
            ("4:0", "1:0"): 202,
            ("4:1", "1:1"): 203 + 300 + 301,
            ("1:1", "4:0"): 302 + 601,
            ("4:1", "1:0"): 603,
            ("4:1", "5:0"): 500,
        },
        "bytes",
    )
    same([at["spawned_by"] for at in worlds_of(folder, path)], [None, 1, 1, 1, 1], "worlds")
    groups = [
        comm["processes"]
        for comm in json.loads(cli(folder, "report", "-f", "json", path))["communicators"]["listed"]
        if comm["how"] == "create_group"
    ]
    same(groups, [2, 2, 2], "groups")


@mpi_test
def joined_over_a_socket(mpi, folder):
    _, path = record(mpi, folder, "join.c", children=True, parents=1)
    same(matrix(folder, path), {("1:0", "2:0"): 4 + 777}, "bytes")
    same(
        [(at["spawned_by"], at["connected_to"]) for at in worlds_of(folder, path)],
        [(None, [2]), (1, [1])],
        "worlds",
    )


@mpi_test
def programs_that_were_started_one_by_one(mpi, folder):
    """Without a launcher each is rank 0 of its own world."""
    program = mpi.build("hello.c")
    path = os.path.join(folder, "job.mpiw")
    env = {"LD_PRELOAD": mpi.library(), "MPIWATCH_OUT": path}
    for _ in range(2):
        command([program], folder, env=env).expect(0)
    same(len(worlds_of(folder, path)), 2, "worlds")
    ranks = json.loads(cli(folder, "report", "-f", "json", path))["ranks"]
    same([rank["rank"] for rank in ranks], ["1:0", "2:0"], "ranks")


PROXY = """import subprocess, sys
for _ in range(2):
    subprocess.run([sys.argv[1]], check=True)
"""


@mpi_test(only="mpich")
def jobs_that_hydra_calls_by_one_name(mpi, folder):
    """The port of mpiexec comes again: ranks of another proxy are another job's, those of one proxy are of one."""
    env = {"LD_PRELOAD": mpi.library(), "MPIWATCH_OUT": os.path.join(folder, "job.mpiw"), "PMI_SIZE": "1"}
    proxy = ["/usr/bin/python3", "-c", PROXY, mpi.build("hello.c"), "--control-port", "node:1", "--pgid", "0"]
    for _ in range(2):
        command(proxy, folder, env=env).expect(0)
    for name in ("job.mpiw", "job-2.mpiw"):
        same(len(Trace(os.path.join(folder, name)).processes), 2, name)


@mpi_test
def scripts_between_launcher_and_rank(mpi, folder):
    """One job, one world, one trace, although each rank has a parent of its own."""
    program = mpi.build("hello.c")
    script = os.path.join(folder, "run.sh")
    with open(script, "w") as file:
        file.write("#!/bin/sh\n%s\nexit $?\n" % program)
    os.chmod(script, 0o755)
    job, path = mpi.record(2, [script], folder)
    job.expect(0)
    same([name for name in os.listdir(folder) if name.endswith(".mpiw")], ["job.mpiw"], "traces")
    same([at["recorded"] for at in worlds_of(folder, path)], [2], "worlds")


main()
