# SPDX-License-Identifier: BSD-3-Clause
#
# What differs between the versions of an MPI that the tests may meet.
"""Versions of the stacks under test."""

import subprocess


def open_mpi_version():
    text = subprocess.run(["mpirun.openmpi", "--version"], stdout=subprocess.PIPE).stdout.decode()
    for word in text.split():
        if word[0].isdigit():
            return int(word.split(".")[0])
    return 4


def shared_btl():
    """The BTL for shared memory."""
    return "sm" if open_mpi_version() >= 5 else "vader"
