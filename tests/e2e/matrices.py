# SPDX-License-Identifier: BSD-3-Clause
#
# Matrices of who sent how much to whom, from every source that there is: what the program wrote
# down, the independent decoder, "mpiwatch matrix" and Open MPI's own monitoring. All are {(source,
# destination): ...}.
"""Traffic matrices."""

import csv
import glob
import io
import os
import re

from harness import check, command, same, setting


def written_down(prefix, ranks):
    matrix = {}
    for rank in range(ranks):
        with open("%s.%d" % (prefix, rank)) as file:
            for line in file:
                peer, messages, amount = map(int, line.split())
                if messages:
                    matrix[rank, peer] = (messages, amount)
    return matrix


def decoded(trace):
    matrix = {}
    for process in trace.processes:
        for call in process.all_calls():
            for event in call.events:
                if event.kind == "SEND" and "error" not in event.flags:
                    messages, amount = matrix.get((process.rank, event.peer), (0, 0))
                    matrix[process.rank, event.peer] = (messages + 1, amount + event.bytes)
    return matrix


def by_command(path, folder, metric, *options):
    job = command(
        [setting("MW_CLI"), "matrix", "--metric", metric, "--format", "csv", *options, path], folder
    ).expect(0)
    rows = list(csv.reader(io.StringIO(job.stdout)))
    same(rows[0], ["src", "dst", "value"], "header")
    return {(int(src), int(dst)): float(value) for src, dst, value in rows[1:]}


def monitoring(mpi, ranks, argv, folder, env=None):
    """Runs under the library and under Open MPI's monitoring at once. Returns its matrix of
    external point-to-point messages, {pair: (messages, bytes)}, and the path of the trace."""
    prefix = os.path.join(folder, "monitoring")
    settings = {
        "OMPI_MCA_pml_monitoring_enable": 2,
        "OMPI_MCA_pml_monitoring_enable_output": 3,
        "OMPI_MCA_pml_monitoring_filename": prefix,
    }
    job, path = mpi.record(ranks, argv, folder, env=dict(env or {}, **settings), timeout=200)
    job.expect(0)
    matrix = {}
    for name in glob.glob(prefix + ".*.prof"):
        with open(name) as file:
            for line in file:
                found = re.match(r"E\s+(\d+)\s+(\d+)\s+(\d+) bytes\s+(\d+) msgs sent", line)
                if found:
                    source, destination, amount, messages = map(int, found.groups())
                    matrix[source, destination] = (messages, amount)
    check(matrix, "Open MPI's monitoring wrote nothing: %s" % os.listdir(folder))
    return matrix, path
