# SPDX-License-Identifier: BSD-3-Clause
#
# Where the benchmarks are. They are not part of this repository: MPIWATCH_BENCH names a folder that holds
# openmpi/bin and mpich/bin with osu_*, IMB-MPI1, lulesh2.0 and xhpcg; without it the tests skip.
"""The programs in MPIWATCH_BENCH."""

import os

from harness import Skip


def binary(mpi, name):
    bench = os.environ.get("MPIWATCH_BENCH")
    if not bench:
        raise Skip("MPIWATCH_BENCH is not set")
    path = os.path.join(bench, mpi.name, "bin", name)
    if not os.path.exists(path):
        raise Skip("no %s in MPIWATCH_BENCH" % name)
    return path
