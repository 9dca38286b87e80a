# SPDX-License-Identifier: BSD-3-Clause
#
# One-sided communication and MPI-IO: each access and each call on a file is one record with the right
# window or file, target and amount, by what the program wrote down itself; so are the windows and files.
"""What is recorded of windows and files."""

import csv
import io
import json
import os
import re

import expectation
from harness import Skip, check, command, main, mpi_test, same, setting
from matrices import by_command, written_down
from trace import Trace


def lines_of(prefix, rank):
    with open("%s.%d" % (prefix, rank)) as file:
        return file.read().splitlines()


def run(mpi, folder, ranks, program, **env):
    """Runs it; returns (path of the trace, lines of each rank)."""
    prefix = os.path.join(folder, "expect")
    # Both MPIs keep a shared file pointer in a file beside the data.
    env = dict(env, MWTEST_EXPECT=prefix, MWTEST_FILE=os.path.join(folder, "data.bin"))
    job, path = mpi.record(ranks, [program], folder, env=env, timeout=120)
    job.expect(0)
    same(job.stdout, "done\n", "output")
    same(job.stderr, "", "stderr")
    return path, [lines_of(prefix, rank) for rank in range(ranks)]


@mpi_test(variants=(2, 4))
def every_access_and_every_call_on_a_file(mpi, folder, ranks):
    path, lines = run(mpi, folder, ranks, mpi.build("rma_io.c"))
    trace = Trace(path)
    check(not trace.damage, "damage: %s" % trace.damage)
    for rank in range(ranks):
        expectation.compare(trace.rank(rank), lines[rank])


@mpi_test(variants=(2, 3))
def the_same_in_fortran(mpi, folder, ranks):
    path, lines = run(mpi, folder, ranks, mpi.build("rma_io.F90", name="rma_io_f08"))
    trace = Trace(path)
    for rank in range(ranks):
        # The window and its communicator are the same everywhere.
        some = [
            line + " window=0 comm=world" if " peer=" in line and "window" not in line else line
            for line in lines[rank]
        ]
        expectation.compare(trace.rank(rank), some)


def sums(lines):
    """What the lines add up to: ({(src, dst): [accesses, bytes]}, {(rank, file): [reads, bytes read,
    writes, bytes written]}), files as in the lines."""
    rma, files = {}, {}
    for rank, some in enumerate(lines):
        for line in some:
            number = {key: int(value) for key, value in re.findall(r"(\w+)!?=(-?\d+)", line)}
            if " | RMA " in line and number["peer"] >= 0:
                peer, out, fetched = number["peer"], number["out"], number["in"]
                for pair, amount in (((rank, peer), out), ((peer, rank), fetched)):
                    if amount or (pair == (rank, peer) and not fetched):
                        entry = rma.setdefault(pair, [0, 0])
                        entry[0] += 1
                        entry[1] += amount
            if " | READ " in line or " | WRITE " in line:
                at = 0 if " | READ " in line else 2
                entry = files.setdefault((rank, number["file"]), [0, 0, 0, 0])
                entry[at] += 1
                entry[at + 1] += number["bytes"]
    return rma, files


@mpi_test(variants=(2, 4))
def matrices_of_windows_and_files(mpi, folder, ranks):
    path, lines = run(mpi, folder, ranks, mpi.build("rma_io.c"))
    rma, files = sums(lines)
    for index, metric in enumerate(("messages", "bytes")):
        same(
            by_command(path, folder, metric, "--kind", "rma"),
            {pair: float(entry[index]) for pair, entry in rma.items() if entry[index]},
            "one-sided matrix of " + metric,
        )
    name = "file:" + os.path.join(folder, "data.bin")
    for index, metric in enumerate(("messages", "bytes")):
        out = command(
            [setting("MW_CLI"), "matrix", "-k", "io", "-m", metric, "-f", "csv", path], folder
        )
        rows = {(row[0], row[1]): int(row[2]) for row in list(csv.reader(io.StringIO(out.stdout)))[1:]}
        expected = {}
        for (rank, _), entry in files.items():
            expected[name, str(rank)] = entry[index]
            expected[str(rank), name] = entry[2 + index]
        same(rows, expected, "matrix of files by " + metric)
    times = by_command(path, folder, "time", "--kind", "rma")
    check(times and set(times) <= set(rma), "times: %s" % times)
    text = command([setting("MW_CLI"), "report", path], folder).expect(0).stdout
    check("One-sided communication" in text and "Files (" in text, text)


@mpi_test(variants=(2, 4))
def windows_and_files_are_the_same_on_all(mpi, folder, ranks):
    path, _ = run(mpi, folder, ranks, mpi.build("rma_io.c"))
    trace = Trace(path)
    for process in trace.processes:
        same(sorted(process.windows), [0, 1, 2, 3, 4], "windows")
        same(
            [process.windows[i]["flavour"] for i in range(5)], [1, 2, 2, 4, 3], "how they were made"
        )
        same(process.windows[0]["name"], "halo", "name")
        same(process.comms[process.windows[0]["comm"]].how, "split", "its communicator")
        same([process.windows[i]["number"] for i in range(5)], [0, 0, 1, 2, 3], "numbers")
        check(all(window["freed"] for window in process.windows.values()), "not freed")
        same(process.windows[1]["size"], 256, "size")
        same(process.windows[1]["unit"], 4, "unit")
        same(len(process.iofiles), 2, "files")
        same(
            {file["name"] for file in process.iofiles.values()},
            {os.path.join(folder, "data.bin")},
            "names",
        )
        same([process.iofiles[i]["number"] for i in (0, 1)], [0, 0], "numbers of files")
        check(all(file["closed"] for file in process.iofiles.values()), "not closed")


@mpi_test(variants=(2, 4))
def collectives_by_their_data_flow(mpi, folder, ranks):
    prefix = os.path.join(folder, "sent")
    job, path = mpi.record(
        ranks, [mpi.build("coll_flow.c")], folder, env={"MWTEST_EXPECT": prefix}, timeout=120
    )
    job.expect(0)
    same(job.stdout, "done\n", "output")
    expected = written_down(prefix, ranks)
    for index, metric in enumerate(("messages", "bytes")):
        same(
            sorted(by_command(path, folder, metric, "--kind", "coll").items()),
            sorted((pair, float(entry[index])) for pair, entry in expected.items()),
            "collective matrix of " + metric,
        )
    out = command([setting("MW_CLI"), "matrix", "-k", "coll", "-f", "json", path], folder).stdout
    check('"collective_bytes_left_out": 0' in out, out[-3000:])


@mpi_test
def threads_that_share_windows_and_files(mpi, folder):
    data = os.path.join(folder, "data.bin")
    program = mpi.build("rma_threads.c", "-lpthread")
    plain = mpi.run(2, [program], folder, env={"MWTEST_FILE": data}, timeout=120)
    if plain.code == 77:
        raise Skip("no threads here")
    plain.expect(0)
    job, path = mpi.record(2, [program], folder, env={"MWTEST_FILE": data}, timeout=120)
    job.expect(0)
    trace = Trace(path)
    for process in trace.processes:
        other = 1 - process.rank
        events = [event for call in process.all_calls() for event in call.events]
        accesses = [event for event in events if event.kind == "RMA"]
        same(len(accesses), 4 * (2 * 500 + 10), "accesses")
        same({event.peer for event in accesses}, {other}, "targets")
        same(len(process.windows), 41, "windows")
        check(all(window["freed"] for window in process.windows.values()), "not all are freed")
        done = [event for event in events if event.kind == "DONE"]
        same(len(done), 4 * 500 + 4, "completions")
        foreign = [event for event in done if "foreign" in event.flags]
        same({process.started(event).kind for event in foreign}, {"WRITE"}, "completed elsewhere")
        same(len(foreign), 4, "completions by another thread")
        written = sum(event.bytes for event in events if event.kind == "WRITE")
        same(written, 4 * 64, "bytes written")
    same(
        by_command(path, folder, "messages", "--kind", "rma"),
        {pair: float(4 * 1010 + 4 * 500) for pair in ((0, 1), (1, 0))},
        "accesses by pair",
    )


@mpi_test
def amounts_by_peer_of_a_killed_job(mpi, folder):
    """They are written once a second; how much was not yet is known from the events."""
    _, path = mpi.record(2, [mpi.build("coll_kill.c")], folder)
    command([setting("MW_CLI"), "collect", path], folder).expect(0)
    out = command([setting("MW_CLI"), "matrix", "-k", "coll", "-f", "json", path], folder).stdout
    document = json.loads(out)
    cells = {(cell["src"], cell["dst"]): cell["value"] for cell in document["cells"]}
    same(set(cells), {(0, 1), (1, 0)}, "pairs")
    calls = [value // 40 for value in cells.values()]
    check(all(1 <= one <= 6 for one in calls), "written: %s" % cells)
    left_out = document["besides"]["collective_bytes_left_out"]
    same(left_out, sum(48 * (6 - one) for one in calls), "bytes left out")
    same(document["complete"], left_out == 0, "complete")


main()
