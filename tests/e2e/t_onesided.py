# SPDX-License-Identifier: BSD-3-Clause
#
# One-sided communication and MPI-IO: each access and each call on a file is one record with the right
# window or file, target and amount, by what the program wrote down itself; so are the windows and files.
"""What is recorded of windows and files."""

import os

import expectation
from harness import check, main, mpi_test, same
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


main()
