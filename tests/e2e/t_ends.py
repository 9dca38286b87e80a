# SPDX-License-Identifier: BSD-3-Clause
#
# Signal handlers, children and ends of programs as nobody would write them on purpose. Each is run with and
# without us and must not differ; then what the trace has of it is checked.
"""Signals, children, ends."""

from alike import both, kinds
from harness import check, main, mpi_test, same
from trace import Trace


@mpi_test(variants=("segv", "abort", "fault", "calls", "profile", "queue"))
def handlers(mpi, folder, mode):
    """They jump out of calls, abort the job, call MPI, walk the stack, interrupt each other."""
    _, path = both(mpi, folder, mpi.build("wild_signals.c", "-lpthread"), [mode])
    process = Trace(path).rank(0)
    same(process.missing, 0, "missing events")
    same(process.health, [], "health")
    same(process.end, "abort" if mode in ("abort", "fault") else "finalize", "end")
    if mode not in ("abort", "fault"):
        same(process.counts["MPI_Sendrecv"], 20000, "calls counted")
        same(len(kinds(process, "MPI_Sendrecv")), 20000, "calls recorded")


@mpi_test(variants=("fork", "clone", "_Fork", "vfork", "spawn", "shell", "vm", "daemon"))
def children(mpi, folder, mode):
    """Other threads are in MPI meanwhile. No child records or counts anything, however it was made."""
    job, path = both(mpi, folder, mpi.build("wild_children.c", "-D_GNU_SOURCE", "-lpthread"), [mode, 20])
    check("20 children, 0 failed" in job.stdout, job.describe())
    trace = Trace(path)
    same(len(trace.processes), 1, "processes")
    process = trace.rank(0)
    same((process.end, process.missing, process.health), ("finalize", 0, []), "end, missing events, health")
    same(len(kinds(process, "MPI_Sendrecv")), process.counts.get("MPI_Sendrecv", 0), "calls")
    for function in ("MPI_Initialized", "MPI_Wtime"):
        check(function not in process.counts, function, "of a child was counted")


ENDS = {
    "atexit": "finalize",
    "destructor": "finalize",
    "operation": "exit",
    "errhandler": "exit",
    "attribute": "exit",
    "race": "exit",
    "main": "finalize",
    "cancel": "finalize",
}


@mpi_test(variants=tuple(ENDS))
def ends(mpi, folder, mode):
    """What comes before the end is recorded, and calls that the end has left are said to be."""
    _, path = both(mpi, folder, mpi.build("wild_ends.c", "-lpthread", "-ldl"), [mode])
    process = Trace(path).rank(0)
    same((process.end, process.missing, process.health), (ENDS[mode], 0, []), "end, missing events, health")
    left = [call.function for call in process.calls() if call.error and call.event.code == 0]
    if mode != "race":
        same(left, {"errhandler": ["MPI_Send"], "attribute": ["MPI_Finalize"]}.get(mode, []), "left calls")


@mpi_test
def a_thread_leaves_by_exit(mpi, folder):
    """_exit() in one thread, others in MPI."""
    both(mpi, folder, mpi.build("wild_ends.c", "-lpthread", "-ldl"), ["thread"])


@mpi_test(variants=("library", "global"))
def a_library_finalizes(mpi, folder, mode):
    """In its destructor, which comes after ours: recorded, and no end without MPI_Finalize."""
    library = mpi.build("wild_library.c", "-shared", "-fPIC")
    _, path = both(mpi, folder, mpi.build("wild_ends.c", "-lpthread", "-ldl"), [mode, library])
    process = Trace(path).rank(0)
    same(process.end, "finalize", "end")
    same([call.function for call in process.calls()],
         ["MPI_Init", "MPI_Sendrecv", "MPI_Allreduce", "MPI_Finalize"], "calls")


main()
