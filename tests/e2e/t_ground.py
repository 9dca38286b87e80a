# SPDX-License-Identifier: BSD-3-Clause
#
# Programs that take the ground away, and that treat requests, datatypes and communicators as badly as the standard
# allows. Each is run with and without us and must not differ; then what the trace has of it is checked.
"""Missing ground and misused objects."""

import os

from alike import both, kinds
from harness import Skip, main, mpi_test, same, tidy
from trace import Trace

PLACES = ("cwd", "name", "dumpable", "locked", "chroot", "user", "network", "shm", "trap", "limits", "nothing")
MESSAGES = 20000


def complete(path):
    """Everything that wild_places.c does is in this trace."""
    process = Trace(path).rank(0)
    same(process.end, "finalize", "end")
    same((len(kinds(process, "MPI_Sendrecv")), process.missing), (MESSAGES, 0), "recorded and missing calls")


@mpi_test(variants=("clearenv", "environ"))
def no_environment(mpi, folder, mode):
    """Neither MPI can bear that for long: each ends as without us."""
    program = mpi.build("wild_places.c", "-D_GNU_SOURCE", "-lm")
    plain = mpi.run(1, [program, mode], folder)
    job, _ = mpi.record(1, [program, mode], folder)
    same((job.code, tidy(job.stdout)), (plain.code, tidy(plain.stdout)), "code and output")


@mpi_test(variants=PLACES)
def places(mpi, folder, mode):
    """Folders, identity, memory, descriptors, arithmetic."""
    if mode in ("chroot", "user", "network") and os.geteuid() != 0:
        raise Skip("needs to be root")
    program = mpi.build("wild_places.c", "-D_GNU_SOURCE", "-lm")
    path = {"cwd": "gone", "chroot": "."}.get(mode, "")
    env = {"UCX_LOG_LEVEL": "fatal"} if mode == "nothing" else None  # it complains with times and addresses
    _, path = both(mpi, folder, program, [mode, path and os.path.join(folder, path)], env=env)
    complete(path)


# mode: how many of them, what the trace is to have
OBJECTS = {
    "free": (2000, {"MPI_Isend": 2000, "MPI_Request_free": 2000, "MPI_Recv": 2000}),
    "copies": (500, {"MPI_Wait": 500, "MPI_Waitany": 500}),
    "alias": (500, {"MPI_Wait": 1000, "MPI_Sendrecv": 500}),
    "million": (20000, {"MPI_Waitall": 1}),
    "types": (200, {"MPI_Ialltoallw": 200, "MPI_Waitall": 200}),
    "comm": (500, {"MPI_Comm_dup": 500, "MPI_Waitall": 500}),
    "negative": (1, {}),
    "wild": (1, {}),
    "generalized": (200, {"MPI_Sendrecv": 200, "MPI_Allreduce": 200}),
    "persistent": (200, {"MPI_Startall": 800, "MPI_Waitall": 600, "MPI_Wait": 200}),
}


@mpi_test(variants=tuple(OBJECTS))
def objects(mpi, folder, mode):
    """Completed through copies, freed while active, thirty deep, tens of thousands in one wait."""
    if mode == "free" and mpi.name == "mpich":
        raise Skip("MPICH 4.0 hangs by itself")
    count, expected = OBJECTS[mode]
    _, path = both(mpi, folder, mpi.build("wild_requests.c"), [mode, count])
    process = Trace(path).rank(0)
    same((process.end, process.missing, process.health), ("finalize", 0, []), "end, missing events, health")
    for function, calls in expected.items():
        same(process.counts[function], calls, function)
    nested = {call.function for call in process.calls() if call.nested}
    same(nested, {"MPI_Sendrecv", "MPI_Allreduce"} if mode == "generalized" else set(), "nested calls")


main()
