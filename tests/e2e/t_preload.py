# SPDX-License-Identifier: BSD-3-Clause
#
# Ways in which a preload meets a program: on some ranks only, with early binding, in front of plug-
# ins and interpreters, beside other tools, with weak symbols; and what the shared objects
# themselves look like.
"""Every way the library gets in."""

import glob
import os
import re
import subprocess

from harness import (
    SOURCE,
    Skip,
    check,
    command,
    library,
    main,
    mpi_test,
    same,
    setting,
    test,
    tidy,
)
from mpi import MPICH, OPENMPI
from tools import counter_tool, profiling_tool, tool_at_the_ends, tool_counts, tool_in_program
from trace import Trace

EXPECTED_50 = {
    "MPI_Sendrecv": 50,
    "MPI_Irecv": 50,
    "MPI_Isend": 50,
    "MPI_Waitall": 50,
    "MPI_Allreduce": 7,
    "MPI_Barrier": 1,
}


def calls_of(process):
    counted = {}
    for call in process.all_calls():
        counted[call.function] = counted.get(call.function, 0) + 1
    return {name: calls for name, calls in counted.items() if name in EXPECTED_50}


@mpi_test(variants=("first", "last", "all but one"))
def on_some_ranks_only(mpi, folder, who):
    """The others' results are unchanged, nothing hangs, and the trace holds the ranks that had the
    library."""
    program = mpi.build("ending.c")
    plain = mpi.run(4, [program, "exit0", 50], folder)
    trace = os.path.join(folder, "job.mpiw")
    bare = [program, "exit0", "50"]
    ours = ["env", "LD_PRELOAD=%s" % mpi.library()] + bare
    parts, recorded = {
        "first": ([(1, ours), (3, bare)], [0]),
        "last": ([(3, bare), (1, ours)], [3]),
        "all but one": ([(1, ours), (1, bare), (2, ours)], [0, 2, 3]),
    }[who]
    job = command(mpi.launch_parts(parts), folder, env={"MPIWATCH_OUT": trace})
    same(
        (job.code, tidy(job.stdout), tidy(job.stderr)),
        (plain.code, tidy(plain.stdout), tidy(plain.stderr)),
        "result",
    )
    read = Trace(trace)
    same([process.rank for process in read.processes], recorded, "recorded ranks")
    for process in read.processes:
        same(process.size, 4, "size of the world")
        same(calls_of(process), EXPECTED_50, "calls of rank %d" % process.rank)


@mpi_test
def with_early_binding(mpi, folder):
    program = mpi.build("ending.c")
    job, path = mpi.record(3, [program, "exit0", 50], folder, env={"LD_BIND_NOW": "1"})
    job.expect(0)
    same(tidy(job.stderr), ["a line on stderr"], "stderr")
    for process in Trace(path).processes:
        same(calls_of(process), EXPECTED_50, "calls of rank %d" % process.rank)


def plugin_and_host(mpi):
    plugin = mpi.build("plugin.c", "-shared", "-fPIC", name="plugin.so")
    host = mpi.build("plugin_host.c", "-ldl")
    # The MPI's compiler wrapper links libmpi into the host: build that one without it.
    bare = os.path.join(os.path.dirname(host), "plugin_host_bare")
    subprocess.run(
        ["gcc", "-g", os.path.join(SOURCE, "tests/e2e/programs/plugin_host.c"), "-o", bare, "-ldl"],
        check=True,
    )
    return bare, plugin


@mpi_test
def a_plugin_that_looks_past_us(mpi, folder):
    """RTLD_DEEPBIND: its calls do not come by. Nothing is recorded of them, and nothing breaks."""
    bare, plugin = plugin_and_host(mpi)
    plain = mpi.run(2, [bare, plugin, "deep"], folder).expect(0)
    job, path = mpi.record(2, [bare, plugin, "deep"], folder)
    same((job.code, job.stdout, job.stderr), (plain.code, plain.stdout, plain.stderr), "result")
    check(not os.path.exists(path), "there is a trace")


@mpi_test
def a_plugin_that_is_linked_with_mpi(mpi, folder):
    """libmpi comes in by dlopen(RTLD_LOCAL); the program itself has none."""
    bare, plugin = plugin_and_host(mpi)
    plain = mpi.run(2, [bare, plugin], folder).expect(0)
    job, path = mpi.record(2, [bare, plugin], folder)
    same((job.code, job.stdout, job.stderr), (plain.code, plain.stdout, plain.stderr), "result")
    trace = Trace(path)
    same([process.rank for process in trace.processes], [0, 1], "ranks")
    for process in trace.processes:
        functions = [call.function for call in process.calls()]
        same(functions.count("MPI_Sendrecv"), 10, "MPI_Sendrecv")
        same(functions.count("MPI_Allreduce"), 1, "MPI_Allreduce")


MPI4PY = """
from mpi4py import MPI
import sys
comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
right, left = (rank + 1) % size, (rank - 1) % size
data = bytearray(1000)
for i in range(5):
    comm.Sendrecv([bytes(1000), MPI.BYTE], dest=right, sendtag=3,
                  recvbuf=[data, MPI.BYTE], source=left, recvtag=3)
total = comm.allreduce(rank)
objects = comm.gather({"rank": rank}, root=0)
if rank == 0:
    print(total, objects)
"""


@mpi_test(only="openmpi")
def mpi4py(mpi, folder):
    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", "import mpi4py"], stderr=subprocess.DEVNULL).returncode:
        raise Skip("python3-mpi4py is not installed")
    script = os.path.join(folder, "script.py")
    with open(script, "w") as file:
        file.write(MPI4PY)
    plain = mpi.run(2, [python, script], folder).expect(0)
    job, path = mpi.record(2, [python, script], folder)
    same((job.code, job.stdout, job.stderr), (plain.code, plain.stdout, plain.stderr), "result")
    trace = Trace(path)
    same([process.rank for process in trace.processes], [0, 1], "ranks")
    for process in trace.processes:
        sent = [
            event
            for call in process.calls()
            if call.function == "MPI_Sendrecv"
            for event in call.events
            if event.kind == "SEND"
        ]
        same(
            [(event.peer, event.tag, event.bytes) for event in sent],
            [(1 - process.rank, 3, 1000)] * 5,
            "messages",
        )
        check(
            process.counts.get("MPI_Allreduce")
            or process.counts.get("MPI_Allgather")
            or process.counts.get("MPI_Bcast"),
            "allreduce of an object left nothing: %s" % process.counts,
        )


# ---- Other tools


@mpi_test(
    variants=[(order, style) for order in ("before us", "after us") for style in ("pmpi", "next")]
)
def another_tool(mpi, folder, variant):
    """Both see each call of the program once, whichever comes first in LD_PRELOAD."""
    order, style = variant
    tool = profiling_tool(style)
    program = mpi.build("calls.c")
    alone = os.path.join(folder, "alone")
    plain = mpi.run(4, [program], folder, preload=tool, env={"MWTOOL_OUT": alone}).expect(0)
    both = os.path.join(folder, "both")
    pair = [tool, mpi.library()] if order == "before us" else [mpi.library(), tool]
    job, path = mpi.record(4, [program], folder, preload=":".join(pair), env={"MWTOOL_OUT": both})
    same((job.code, job.stdout, job.stderr), (plain.code, plain.stdout, plain.stderr), "result")

    def ordered(counts):
        return sorted(tuple(sorted(entry.items())) for entry in counts)

    same(ordered(tool_counts(both)), ordered(tool_counts(alone)), "what the tool saw")
    names = set(tool_counts(alone)[0])
    ours = [
        {name: process.counts.get(name, 0) for name in names} for process in Trace(path).processes
    ]
    same(ordered(ours), ordered(tool_counts(alone)), "what we counted")


@mpi_test(variants=("pmpi", "next"))
def a_tool_linked_into_the_program(mpi, folder, style):
    """It sees what it sees without us, and so do we."""
    program = tool_in_program(mpi, style, "calls.c")
    alone, both = os.path.join(folder, "alone"), os.path.join(folder, "both")
    plain = mpi.run(4, [program], folder, env={"MWTOOL_OUT": alone}).expect(0)
    job, path = mpi.record(4, [program], folder, env={"MWTOOL_OUT": both})
    same((job.code, job.stdout, job.stderr), (plain.code, plain.stdout, plain.stderr), "result")

    def ordered(counts):
        return sorted(tuple(sorted(entry.items())) for entry in counts)

    same(ordered(tool_counts(both)), ordered(tool_counts(alone)), "what the tool saw")
    names = set(tool_counts(alone)[0])
    ours = [
        {name: process.counts.get(name, 0) for name in names} for process in Trace(path).processes
    ]
    same(ordered(ours), ordered(tool_counts(alone)), "what we counted")


@mpi_test(
    variants=[(order, mode) for order in ("before us", "after us") for mode in ("exit0", "exit_without")]
)
def a_tool_that_works_at_the_ends(mpi, folder, variant):
    """In MPI_Init, in MPI_Finalize, from exit, where it finalizes MPI itself if the program has not."""
    order, mode = variant
    tool = tool_at_the_ends(mpi)
    program = mpi.build("ending.c")
    alone, both = os.path.join(folder, "alone"), os.path.join(folder, "both")
    argv = [program, mode, 10]
    plain = mpi.run(2, argv, folder, preload=tool, env={"MWTOOL_OUT": alone})
    pair = [tool, mpi.library()] if order == "before us" else [mpi.library(), tool]
    job, path = mpi.record(2, argv, folder, preload=":".join(pair), env={"MWTOOL_OUT": both})
    same(
        (job.code, tidy(job.stdout), tidy(job.stderr)),
        (plain.code, tidy(plain.stdout), tidy(plain.stderr)),
        "result",
    )
    same(
        sorted(sorted(entry.items()) for entry in tool_counts(both)),
        sorted(sorted(entry.items()) for entry in tool_counts(alone)),
        "what the tool found",
    )
    trace = Trace(path)
    for process in trace.processes:
        same((process.end, process.health), ("finalize", []), "end, health")
        functions = [call.function for call in process.calls()]
        for name, count in (("MPI_Init", 1), ("MPI_Sendrecv", 10), ("MPI_Finalize", 1)):
            same(functions.count(name), count, name)


@test
def two_mpi_libraries_in_one_process(folder):
    """Plug-ins of both MPIs: the one that is initialised first is recorded, the other left alone."""
    for mpi in (OPENMPI, MPICH):
        if mpi.missing():
            raise Skip(mpi.missing())
    plugins = {mpi.name: mpi.build("plugin.c", "-shared", "-fPIC", name="plugin.so")
               for mpi in (OPENMPI, MPICH)}
    host = os.path.join(os.path.dirname(plugins["mpich"]), "two_libraries")
    subprocess.run(
        ["gcc", "-g", os.path.join(SOURCE, "tests/e2e/programs/two_libraries.c"), "-o", host, "-ldl"],
        check=True,
    )
    tried = 0
    for first, second in (("openmpi", "mpich"), ("mpich", "openmpi")):
        argv = [host, plugins[first], plugins[second]]
        plain = command(argv, folder)
        if plain.code:
            continue  # the two do not get along by themselves
        tried += 1
        path = os.path.join(folder, first + ".mpiw")
        env = {"LD_PRELOAD": setting("MW_LIBRARY"), "MPIWATCH_OUT": path}
        job = command(argv, folder, env=env)
        same((job.code, job.stdout, job.stderr), (plain.code, plain.stdout, plain.stderr), "result")
        trace = Trace(path)
        same(len(trace.processes), 1, "processes")
        process = trace.processes[0]
        same((process.abi, process.end), (first, "finalize"), "library, end")
        functions = [call.function for call in process.calls()]
        same(functions.count("MPI_Sendrecv"), 10, "calls: those of one library")
        same(functions.count("MPI_Init"), 1, "MPI_Init")
    if not tried:
        raise Skip("the two MPIs do not work in one process here, without us, too")


@mpi_test(variants=("calls.c", "nested.c", "errors.c", "hello.c", "traffic.c"))
def no_communication_of_our_own(mpi, folder, source):
    """A counter between us and libmpi sees the calls that it sees without us, and no other: what we
    ask MPI for ourselves goes past other tools, and never to other processes."""
    counter = counter_tool(mpi)
    program = mpi.build(source)
    ranks = 4 if source == "calls.c" else 2
    alone, both = os.path.join(folder, "alone"), os.path.join(folder, "both")
    mpi.run(ranks, [program], folder, preload=counter, env={"MWTOOL_OUT": alone}).expect(0)
    mpi.record(
        ranks,
        [program],
        folder,
        preload="%s:%s" % (mpi.library(), counter),
        env={"MWTOOL_OUT": both},
    )[0].expect(0)
    polling = re.compile(r"P?MPI_(Test|Testany|Testsome|Testall|Iprobe|Improbe|Waitsome)$")

    def ordered(prefix):
        return sorted(
            sorted((name, calls) for name, calls in counts.items() if not polling.match(name))
            for counts in tool_counts(prefix)
        )

    found, expected = ordered(both), ordered(alone)
    same(len(found), len(expected), "processes that called MPI")
    for process, (got, want) in enumerate(zip(found, expected)):
        same(got, want, "process %d" % process)


@mpi_test
def weak_symbols_of_newer_standards(mpi, folder):
    """A program that asks for MPI-4 functions by weak symbols gets the answer that it gets without
    us."""
    program = mpi.build("weak.c", "-Wno-address")
    plain = mpi.run(2, [program], folder).expect(0)
    job, path = mpi.record(2, [program], folder)
    same((job.code, job.stdout, job.stderr), (plain.code, plain.stdout, plain.stderr), "result")
    process = Trace(path).rank(0)
    sent = [event for call in process.calls() for event in call.events if event.kind == "SEND"]
    same([(event.peer, event.bytes) for event in sent], [(1, 4)], "the message")


@mpi_test
def the_other_library_works_too(mpi, folder):
    """libmpiwatch.so under an MPI of standard 3.1, libmpiwatch-mpi3.so under one of 4.0: at most
    one line on stderr."""
    program = mpi.build("ending.c")
    plain = mpi.run(3, [program, "exit0", 50], folder)
    job, path = mpi.record(3, [program, "exit0", 50], folder, preload=mpi.library(other=True))
    same((job.code, tidy(job.stdout)), (plain.code, tidy(plain.stdout)), "result")
    ours = [line for line in job.stderr.splitlines() if line not in plain.stderr.splitlines()]
    check(len(ours) <= 1, "more than one line on stderr: %s" % ours)
    for process in Trace(path).processes:
        same(calls_of(process), EXPECTED_50, "calls of rank %d" % process.rank)


# ---- The shared objects themselves


def dynamic(path, *options):
    return subprocess.run(
        ["readelf", "-W"] + list(options) + [path], stdout=subprocess.PIPE, check=True
    ).stdout.decode()


def exported(path):
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", path], stdout=subprocess.PIPE, check=True
    ).stdout.decode()
    return {
        line.split()[2].split("@")[0]: line.split()[1]
        for line in listing.splitlines()
        if len(line.split()) == 3
    }


@test
def needs_libc_alone(folder):
    for path in (library(), library(mpi3=True)):
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic(path, "-d"))
        check(
            set(needed) <= {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"},
            "%s needs %s" % (path, needed),
        )
        check("libc.so.6" in needed, "%s needs %s" % (path, needed))
        check("TEXTREL" not in dynamic(path, "-d"), "%s has text relocations" % path)
        check(
            "(RPATH)" not in dynamic(path, "-d") and "(RUNPATH)" not in dynamic(path, "-d"),
            "%s has a run path" % path,
        )


def exports_of_the_probes():
    """The functions of other libraries that the probes wrap, by their version scripts, and the names of the
    versions."""
    names = set()
    for path in glob.glob(os.path.join(SOURCE, "interpose/probe/*.map")):
        with open(path) as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
        names.update(re.findall(r"^\s*(\w+);", text, re.MULTILINE))
        names.update(re.findall(r"^(\S+) \{", text, re.MULTILINE))
    check({"fi_getinfo", "ucp_ep_create", "process_vm_readv", "FABRIC_1.3"} <= names, names)
    return names


@test
def exports_mpi_and_what_the_probes_wrap_alone(folder):
    probes = exports_of_the_probes()
    full, small = exported(library()), exported(library(mpi3=True))
    for path, names in ((library(), full), (library(mpi3=True), small)):
        strange = sorted(
            name
            for name, kind in names.items()
            if not re.match(r"P?MPI_[A-Z]", name)
            and kind != "A"
            and not name.startswith("MPIWATCH_")
            and name.split("@")[0] not in probes
        )
        check(not strange, "%s exports %s" % (path, strange[:10]))
        for name in names:
            if name.startswith("PMPI_"):
                check(name[1:] in names, "%s without %s" % (name, name[1:]))
            elif name.startswith("MPI_") and name not in ("MPI_Pcontrol",):
                check(
                    "P" + name in names or name.endswith(("_FN", "_fn")),
                    "%s without P%s" % (name, name),
                )
    mpi3 = {name for name in small if name.startswith("MPI_")}
    newer = sorted(
        name
        for name in mpi3
        if name.endswith("_c")
        and name != "MPI_Comm_c2f"
        or name
        in (
            "MPI_Session_init",
            "MPI_Isendrecv",
            "MPI_Psend_init",
            "MPI_Allreduce_init",
            "MPI_Comm_idup_with_info",
            "MPI_Info_get_string",
            "MPI_Buffer_flush",
            "MPI_Status_get_error",
        )
    )
    check(not newer, "libmpiwatch-mpi3.so exports %s" % newer)
    check(
        {"MPI_Send", "MPI_Neighbor_alltoallw", "MPI_Mprobe", "MPI_Address"} <= mpi3,
        "functions of MPI-3.1 are missing",
    )
    check(
        {"MPI_Send_c", "MPI_Session_init", "MPI_Isendrecv"} <= set(full),
        "functions of MPI-4 are missing",
    )
    check(
        mpi3 < set(full),
        "the smaller library has names that the full one lacks: %s" % sorted(mpi3 - set(full)),
    )


@test
def exports_are_those_of_the_table(folder):
    numbers = {}
    with open(os.path.join(SOURCE, "interpose/api/mpi.table")) as file:
        for line in file:
            match = re.match(r"(\d+) (MPI_\w+) (\d+\.\d+)(.*)$", line)
            if match:
                numbers[match.group(2)] = match.group(4)
                if "large=" in match.group(4):
                    numbers[match.group(2) + "_c"] = match.group(4)
    names = {name for name in exported(library()) if name.startswith("MPI_")}
    same(sorted(names), sorted(numbers), "exports against interpose/api/mpi.table")


main()
