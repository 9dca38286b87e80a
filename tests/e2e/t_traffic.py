# SPDX-License-Identifier: BSD-3-Clause
#
# The matrices are exact: bytes and messages of every pair equal what the program wrote down that it
# sent, by the independent decoder, by "mpiwatch matrix", and under Open MPI by its own monitoring.
"""Who sent how much to whom."""


import csv
import io
import json
import os

from harness import Failure, Skip, check, command, main, mpi_test, same, setting
from matrices import by_command, decoded, monitoring, written_down
from trace import Trace


@mpi_test(variants=(2, 4))
def every_pair_and_every_way_of_sending(mpi, folder, ranks):
    prefix = os.path.join(folder, "sent")
    job, path = mpi.record(
        ranks, [mpi.build("traffic.c")], folder, env={"MWTEST_EXPECT": prefix}, timeout=120
    )
    job.expect(0)
    expected = written_down(prefix, ranks)
    same(len(expected), ranks * ranks, "pairs")
    same(sorted(decoded(Trace(path)).items()), sorted(expected.items()), "decoded")
    for index, metric in enumerate(("messages", "bytes")):
        same(
            sorted(by_command(path, folder, metric).items()),
            sorted((pair, float(entry[index])) for pair, entry in expected.items() if entry[index]),
            "matrix of " + metric,
        )
        same(
            sorted(by_command(path, folder, metric, "--kind", "p2p").items()),
            sorted((pair, float(entry[index])) for pair, entry in expected.items() if entry[index]),
            "p2p matrix of " + metric,
        )
    times = by_command(path, folder, "time")
    check(
        set(times) <= set(expected) and times and all(value > 0 for value in times.values()),
        "times: %s" % times,
    )
    told = json.loads(
        command(
            [setting("MW_CLI"), "matrix", "--metric", "bytes", "--format", "json", path], folder
        )
        .expect(0)
        .stdout
    )
    check(told, "no JSON")
    by_node = command(
        [setting("MW_CLI"), "matrix", "--metric", "bytes", "--by", "node", "--format", "csv", path],
        folder,
    ).expect(0)
    values = [float(row[2]) for row in list(csv.reader(io.StringIO(by_node.stdout)))[1:]]
    same(
        sum(values),
        float(sum(entry[1] for entry in expected.values())),
        "sum of the matrix by node",
    )


@mpi_test(only="openmpi")
def as_open_mpi_counts_itself(mpi, folder):
    """Open MPI's monitoring misses persistent sends, so the program makes none here."""
    program = mpi.build("traffic.c", "-DNO_PERSISTENT", name="traffic_plain")
    found, path = monitoring(mpi, 4, [program], folder)
    same(
        sorted(decoded(Trace(path)).items()),
        sorted(found.items()),
        "(messages, bytes) of each pair",
    )


@mpi_test
def matrix_of_a_packed_trace_is_the_same(mpi, folder):
    prefix = os.path.join(folder, "sent")
    job, path = mpi.record(
        2, [mpi.build("traffic.c")], folder, env={"MWTEST_EXPECT": prefix}, timeout=120
    )
    job.expect(0)
    packed = os.path.join(folder, "packed.mpiw")
    command([setting("MW_CLI"), "pack", path, "-o", packed], folder).expect(0)
    same(by_command(packed, folder, "bytes"), by_command(path, folder, "bytes"), "bytes")
    same(sorted(decoded(Trace(packed)).items()), sorted(written_down(prefix, 2).items()), "decoded")


@mpi_test
def one_rank_without_the_library(mpi, folder):
    """What an unrecorded rank sent counts by what its partners received, and the report says how
    many were recorded."""
    prefix, path = os.path.join(folder, "sent"), os.path.join(folder, "job.mpiw")
    program = mpi.build("traffic.c")
    ours = ["env", "LD_PRELOAD=%s" % mpi.library(), program]
    job = command(
        mpi.launch_parts([(1, ours), (1, [program])]),
        folder,
        env={"MPIWATCH_OUT": path, "MWTEST_EXPECT": prefix},
        timeout=120,
    )
    job.expect(0)
    expected = written_down(prefix, 2)
    found = by_command(path, folder, "bytes")
    same(
        {pair: value for pair, value in found.items() if pair[0] == 0},
        {pair: float(entry[1]) for pair, entry in expected.items() if pair[0] == 0},
        "what rank 0 sent",
    )
    same(found.get((1, 0)), float(expected[1, 0][1]), "what rank 1 sent to rank 0")
    text = command([setting("MW_CLI"), "report", path], folder).expect(0).stdout
    check("1 of 2" in text, "the report does not say that 1 of 2 ranks recorded:\n" + text)


@mpi_test
def partitioned_messages(mpi, folder):
    """One message for each use, of all partitions together; matched apart from ordinary ones."""
    try:
        program = mpi.build("parts.c")
    except Failure:
        raise Skip("this MPI has no partitioned messages")
    plain = mpi.run(2, [program], folder)
    if plain.code:
        raise Skip("partitioned messages do not work here without us: exit %d" % plain.code)
    library = os.path.join(os.path.dirname(setting("MW_LIBRARY")), "libmpiwatch-mpi4.so")
    job, path = mpi.record(2, [program], folder, preload=None if mpi.name == "mpich" else library)
    same((job.code, job.stdout), (plain.code, plain.stdout), "result")
    trace = Trace(path)
    sender, receiver = sorted(trace.processes, key=lambda process: process.rank)
    sends = [(192, 2, 0)] + [(1600, 1, use) for use in range(3)] + [(20, 0, 0)]
    events = {process.rank: [event for call in process.calls() for event in call.events]
              for process in trace.processes}
    same(
        [(at.bytes, at.bytes_in, at.ordinal) for at in events[sender.rank] if at.kind == "SEND"],
        sends,
        "sends: bytes, which initialisation, which use",
    )
    same(
        [(at.bytes_in, at.bytes, at.ordinal) for at in events[receiver.rank] if at.kind == "RECV"],
        sends,
        "receives",
    )
    same(
        [(at.bytes_in, "status" in at.flags) for at in events[receiver.rank] if at.kind == "DONE"],
        [(size, True) for size, _, _ in sends[:4]],
        "completions",
    )
    named = [(at.function, at.peer, at.tag) for at in events[sender.rank]]
    for name, count in (("MPI_Pready", 4), ("MPI_Pready_range", 2), ("MPI_Pready_list", 1)):
        same(named.count((name, 1, 7)), count, name)
    polls = [at for at in events[receiver.rank] if at.kind == "POLL"]
    check(all((at.peer, at.tag) == (0, 7) for at in polls), "polls: %s" % polls)
    same([call.function for call in receiver.calls()].count("MPI_Parrived") - len(polls), 3,
         "arrivals")
    same(by_command(path, folder, "bytes"), {(0, 1): 192.0 + 3 * 1600 + 20}, "matrix of bytes")
    same(by_command(path, folder, "messages"), {(0, 1): 5.0}, "matrix of messages")
    report = json.loads(
        command([setting("MW_CLI"), "report", "-f", "json", path], folder).expect(0).stdout
    )
    same(report["ranks"][1]["received_bytes"], 192 + 3 * 1600, "received, as far as a status tells")


main()
