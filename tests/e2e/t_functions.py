# SPDX-License-Identifier: BSD-3-Clause
#
# Programs by area that call what the other topics' programs do not: every recorded call is compared with what the program
# expects, and of those that are only counted, how often.
"""Functions of every area, recorded and counted."""

import collections
import os
import re

import expectation
from harness import PROGRAMS, Skip, check, main, mpi_test, same
from trace import Trace

# Area: (program, ranks).
AREAS = {
    "files": ("files.c", 2),
    "communicators, windows, requests": ("management.c", 2),
    "datatypes": ("datatypes.c", 1),
    "groups and topologies": ("groups.c", 2),
    "error handlers, info, handles": ("handlers.c", 2),
    "MPI-4.1 and 5.0": ("calls41.c", 2),
    "public names": ("names.c", 1),
    "tools information": ("tools.c", 1),
    "what MPI-3 removed": ("removed.c", 2),
}
# What is in no library that the compiler links by itself.
LIBRARIES = {("error handlers, info, handles", "mpich"): ("-lmpichfort",)}


def renamed(source):
    """{"MPI_Put": "MPI_Put_c"}: what a program defines as something else."""
    with open(os.path.join(PROGRAMS, source)) as file:
        return dict(re.findall(r"^#define (MPI_\w+) (MPI_\w+)$", file.read(), re.M))


def written(prefix, rank, names):
    """(lines to compare, calls by function) of what a rank wrote down."""
    with open("%s.%d" % (prefix, rank)) as file:
        lines = [re.sub(r"\bMPI_\w+", lambda found: names.get(found[0], found[0]), line) for line in file.read().splitlines()]
    counts = collections.Counter(line[1:] for line in lines if line.startswith("#"))
    return [line for line in lines if not line.startswith("#")], counts


def compare(mpi, folder, source, ranks, *flags):
    prefix = os.path.join(folder, "expect")
    data = os.path.join(folder, "data.bin")
    env = {"MWTEST_EXPECT": prefix, "MWTEST_FILE": data}
    program = mpi.build(source, *flags)
    plain = mpi.run(ranks, [program], folder, env=env, timeout=120)
    if plain.code == 77:
        raise Skip("this MPI cannot do it here")
    plain.expect(0)
    if os.path.exists(data):
        os.remove(data)
    job, path = mpi.record(ranks, [program], folder, env=env, timeout=120)
    same((job.code, job.stdout, job.stderr), (plain.code, plain.stdout, plain.stderr), "result")
    trace = Trace(path)
    check(not trace.damage, "damage: %s" % trace.damage)
    same(len(trace.processes), ranks, "processes")
    for process in trace.processes:
        lines, counts = written(prefix, process.rank, renamed(source))
        expectation.compare(process, lines)
        same({name: process.counts.get(name, 0) for name in counts}, dict(counts), "calls by function")


@mpi_test(variants=tuple(AREAS))
def every_call_of(mpi, folder, area):
    compare(mpi, folder, *AREAS[area], *LIBRARIES.get((area, mpi.name), ()))


@mpi_test(only="mpich", variants=(2, 4))
def windows_and_files_with_large_counts(mpi, folder, ranks):
    compare(mpi, folder, "rma_io_large.c", ranks)


@mpi_test(only="mpich")
def more_of_files_with_large_counts(mpi, folder):
    compare(mpi, folder, "files_large.c", 2)


main()
