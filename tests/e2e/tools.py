# SPDX-License-Identifier: BSD-3-Clause
#
# The other preloads of the tests (tests/stubs): built on demand, their counts read back.
"""Stub tools."""

import glob
import os
import platform
import re
import subprocess
import sys

from harness import Failure, STUBS, Skip
from mpi import build_folder, compile_file

sys.path.insert(0, STUBS)


def _shared(source, name, *flags):
    os.makedirs(build_folder(), exist_ok=True)
    return compile_file(
        "gcc",
        source,
        os.path.join(build_folder(), name),
        ["-g", "-O2", "-Wall", "-shared", "-fPIC"] + list(flags) + ["-ldl"],
    )


def profiling_tool(style):
    """A tool that wraps MPI_X and calls PMPI_X ("pmpi") or the next MPI_X ("next")."""
    return _shared(
        os.path.join(STUBS, "tool.c"),
        "tool_%s.so" % style,
        "-DSTYLE=%d" % (1 if style == "pmpi" else 2),
    )


def tool_in_program(mpi, style, source):
    """A program with such a tool linked into it, as with -lmpiP; the program's path."""
    return mpi.build(
        source,
        os.path.join(STUBS, "tool.c"),
        "-DSTYLE=%d" % (1 if style == "pmpi" else 2),
        "-ldl",
        name="%s_with_%s" % (os.path.splitext(source)[0], style),
    )


def tool_at_the_ends(mpi):
    """One that calls MPI in MPI_Init, in MPI_Finalize and from exit."""
    return mpi.build("ends.c", "-shared", "-fPIC", name="ends.so")


def floor_tool():
    return _shared(os.path.join(STUBS, "floor.c"), "floor.so")


def mpi_library(mpi):
    """The path of the libmpi that programs of this MPI load."""
    listing = subprocess.run(
        ["ldd", mpi.build("hang.c")], stdout=subprocess.PIPE, check=True
    ).stdout.decode()
    found = re.search(r"libmpi(?:ch)?\.so\S* => (\S+)", listing)
    if not found:
        raise Failure("no libmpi in\n" + listing)
    return found.group(1)


def counter_tool(mpi):
    """A tool that counts every call that reaches libmpi."""
    if platform.machine() != "x86_64":
        raise Skip("the exact counter is x86-64 assembly")
    import make_counter

    source = os.path.join(build_folder(), "counter_%s.c" % mpi.name)
    text = make_counter.source(mpi_library(mpi))
    if not os.path.exists(source) or open(source).read() != text:
        with open(source + ".new%d" % os.getpid(), "w") as file:
            file.write(text)
        os.rename(file.name, source)
    return _shared(source, "counter_%s.so" % mpi.name)


def tool_counts(prefix):
    """What the processes of a job wrote: a list of {function: calls}."""
    found = []
    for path in sorted(glob.glob(glob.escape(prefix) + ".*")):
        with open(path) as file:
            found.append(
                {name: int(calls) for name, calls in (line.split() for line in file) if int(calls)}
            )
    return found
