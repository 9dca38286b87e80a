# SPDX-License-Identifier: BSD-3-Clause
#
# GPUs, over stubs of HIP and CUDA (tests/stubs/gpu) whose memory is the host's: the kind of memory of
# every buffer, the devices and what joins them, and that a program notices nothing of our asking.
"""Memory of GPUs in messages, and the devices of ranks."""

import glob
import json
import os
import re
import subprocess

from harness import STUBS, check, command, main, mpi_test, same, setting, test
from mpi import build_folder, compile_file
from trace import Trace

KINDS = {1: "pinned", 2: "managed", 3: "device", 4: "registered", 5: "unknown"}
MOVES = ("SEND", "RECV", "COLL", "RMA", "READ", "WRITE")
BUSES = "c1 c6 c9 ce d1 d6 d9 de".split()
HSA = "libhsa-runtime64.so.1"
CUDA_HEADERS = sorted(glob.glob("/usr/local/cuda*/include/cuda.h"))


def build_stub(source, output, *flags):
    """One stub; what has changed in their headers counts as well."""
    flags = list(flags) + ["-Wl,-soname," + os.path.basename(output)]
    for name in ("stub.h", "hsa_types.h"):
        flags.append("-DSTUB_%d" % os.stat(os.path.join(STUBS, "gpu", name)).st_mtime)
    if source == "cuda" and CUDA_HEADERS:
        flags += ["-isystem", os.path.dirname(CUDA_HEADERS[-1])]
    return compile_file(
        "gcc",
        os.path.join(STUBS, "gpu", source + ".c"),
        output,
        "-std=c11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror -shared -fPIC".split() + flags,
    )


def stub_folder():
    """The stubs: tables that the loader seals, and one that it fills while the program runs."""
    folder = os.path.join(build_folder(), "gpu")
    os.makedirs(folder, exist_ok=True)
    here = ["-L" + folder, "-Wl,-rpath," + folder]
    build_stub("hsa", os.path.join(folder, HSA), "-Wl,-z,now,-z,relro")
    build_stub("hip", os.path.join(folder, "libamdhip64.so"), "-l:" + HSA, *here)
    build_stub("cuda", os.path.join(folder, "libcuda.so.1"), "-Wl,-z,lazy")
    return folder


def program(mpi, runtime):
    folder = stub_folder()
    if runtime == "cuda":
        return mpi.build("gpu.c", "-DWITH_CUDA", "-ldl", name="gpu_cuda")
    return mpi.build("gpu.c", "-L" + folder, "-Wl,-rpath," + folder, "-lamdhip64", name="gpu_hip")


def setup(folder, **more):
    return {
        "LD_LIBRARY_PATH": stub_folder(),
        "MWTEST_EXPECT": os.path.join(folder, "expect"),
        "MWTEST_FILE": os.path.join(folder, "data.bin"),
        **more,
    }


def expected(folder, rank):
    with open(os.path.join(folder, "expect.%d" % rank)) as file:
        return file.read().splitlines()


def word(process, number):
    if number == 0:
        return "host"
    space = process.spaces[number]
    kind = KINDS[space["kind"]]
    return "device:%d" % space["device"] if kind == "device" else kind


def devices_of(process):
    """By number, as there is one runtime; its peers by theirs."""
    return {
        device["index"]: {**device, "peers": {peer["index"]: peer for peer in device["peers"]}}
        for device in process.devices
    }


def moved(process):
    """What each event that moved something moved from and into, as the program writes it down."""
    lines = []
    for call in process.all_calls():
        for event in call.events:
            if event.kind not in MOVES or not (event.bytes or event.bytes_in):
                check(event.spaces == (0, 0), "spaces of %r" % event)
                continue
            out = event.kind in ("SEND", "WRITE") or event.kind in ("COLL", "RMA") and event.bytes
            into = event.kind in ("RECV", "READ") or event.bytes_in
            send, receive = event.spaces
            lines.append(
                "%s %s"
                % (word(process, send) if out else "-", word(process, receive) if into else "-")
            )
    return lines


def run(mpi, folder, runtime, *arguments, ranks=2, **env):
    job, path = mpi.record(
        ranks,
        [program(mpi, runtime)] + list(arguments),
        folder,
        env=setup(folder, **env),
        timeout=60,
    )
    job.expect(0)
    same(job.stdout, "done\n", "output")
    same(job.stderr, "", "stderr")
    trace = Trace(path)
    check(not trace.damage, trace.damage)
    return trace


@mpi_test(variants=("hip", "cuda"))
def every_buffer(mpi, folder, runtime):
    trace = run(mpi, folder, runtime)
    for process in trace.processes:
        same(moved(process), expected(folder, process.rank), "rank %d" % process.rank)
        probe = process.choice("probe", "gpu")
        same((probe["how"], probe["source"]), ("on", ""), "the probe")
        for space in process.spaces.values():
            events = [
                event
                for call in process.all_calls()
                for event in call.events
                if space["id"] in event.spaces
            ]
            same(space["calls"], len(events), "calls of a space")
            same(space["runtime"], "" if space["kind"] == 5 else runtime, "runtime of a space")
    check(any("MPI_BOTTOM" in space["note"] for space in trace.rank(0).spaces.values()), "no note")


@mpi_test
def a_driver_that_cannot_be_watched(mpi, folder):
    """It calls the kernel in another way: each buffer is asked for."""
    other = os.path.join(folder, "driver")
    os.mkdir(other)
    build_stub("cuda", os.path.join(other, "libcuda.so.1"), "-DSTUB_NO_IOCTL")
    trace = run(mpi, folder, "cuda", LD_LIBRARY_PATH=other)
    for process in trace.processes:
        same(moved(process), expected(folder, process.rank), "rank %d" % process.rank)
        check("cannot be watched" in process.choice("probe", "gpu")["source"], "the probe")


@mpi_test(variants=("hip", "cuda"))
def a_runtime_that_comes_late(mpi, folder, runtime):
    trace = run(mpi, folder, runtime, "late")
    for process in trace.processes:
        same(moved(process), expected(folder, process.rank), "rank %d" % process.rank)
        same(len(process.devices), 8, "devices")


@mpi_test(variants=("hip", "cuda"))
def devices_and_links(mpi, folder, runtime):
    trace = run(mpi, folder, runtime, "exchange", ranks=2)
    devices = devices_of(trace.rank(0))
    same(
        [devices[i]["pci"] for i in range(8)],
        ["0000:%s:00.0" % bus for bus in BUSES],
        "addresses",
    )
    first = devices[0]
    check(first["memory"] >> 30 in (64, 80) and first["name"].startswith("Stub"), first)
    check(first["uuid"].startswith("GPU-"), first)
    same(sorted(first["peers"]), [1, 2, 3, 4, 5, 6, 7], "peers")
    links = {i: first["peers"][i]["link"] for i in (1, 2, 3, 5)}
    same(
        [bool(first["peers"][i]["access"]) for i in (1, 2, 3, 5)],
        [True, True, True, False],
        "access",
    )
    if runtime == "hip":
        same(links, {1: "xgmi", 2: "xgmi", 3: "xgmi", 5: "pcie"}, "links")
        same([first["peers"][i]["hops"] for i in (1, 5)], [1, 2], "hops")
    else:
        same(
            links,
            {1: "native atomics", 2: "native atomics", 3: "no native atomics", 5: ""},
            "links",
        )
        same([devices_of(trace.rank(1))[i]["current"] for i in (0, 1)], [0, 1], "chosen")


def places(trace, runtime):
    """(PCI address of each rank's device memory, visible)."""
    found = []
    for process in trace.processes:
        used = {space["device"] for space in process.spaces.values() if space["kind"] == 3}
        found.append([devices_of(process)[index]["pci"] for index in sorted(used)])
    return found


@mpi_test(variants=("hip", "cuda"))
def a_device_for_each_rank(mpi, folder, runtime):
    """ROCR_VISIBLE_DEVICES, or CUDA's, different in each rank: the number is 0 in both, the device is not."""
    name = "ROCR_VISIBLE_DEVICES" if runtime == "hip" else "CUDA_VISIBLE_DEVICES"
    path = os.path.join(folder, "job.mpiw")
    parts = [
        (
            1,
            [
                "env",
                "LD_PRELOAD=" + mpi.library(),
                "%s=%d" % (name, device),
                program(mpi, runtime),
                "exchange",
                "0",
            ],
        )
        for device in (2, 5)
    ]
    command(mpi.launch_parts(parts), folder, env=setup(folder, MPIWATCH_OUT=path)).expect(0)
    trace = Trace(path)
    same(places(trace, runtime), [["0000:c9:00.0"], ["0000:d6:00.0"]], "devices")
    for process, device in zip(trace.processes, (2, 5)):
        same(process.visible, "%s=%d" % (name, device), "what leaves devices out")
        same(len(process.devices), 1, "devices")


@mpi_test
def hip_visible_devices(mpi, folder):
    """HIP's own list, in an order of its own, on top of HSA's."""
    trace = run(
        mpi,
        folder,
        "hip",
        "exchange",
        ROCR_VISIBLE_DEVICES="1,3,5,7",
        HIP_VISIBLE_DEVICES="3,0,9,1",
    )
    for process in trace.processes:
        same(
            {key: device["pci"] for key, device in devices_of(process).items()},
            {0: "0000:de:00.0", 1: "0000:c6:00.0"},
            "devices",
        )
    same(places(trace, "hip"), [["0000:de:00.0"], ["0000:c6:00.0"]], "the ranks' devices")


@mpi_test(variants=("hip", "cuda"))
def a_runtime_that_fails(mpi, folder, runtime):
    trace = run(mpi, folder, runtime, "exchange", STUB_FAIL="pointer")
    spaces = trace.rank(0).spaces
    same([KINDS[space["kind"]] for space in spaces.values()], ["unknown"], "kinds")
    check("error" in spaces[1]["note"], spaces)


@mpi_test
def a_process_that_is_killed(mpi, folder):
    """Its events name spaces: these are known, too."""
    job, path = mpi.record(
        2, [program(mpi, "hip"), "killed"], folder, env=setup(folder), timeout=60
    )
    check(job.code != 0, "it was not killed")
    command([setting("MW_CLI"), "collect", path], folder).expect(0)
    for process in Trace(path).processes:
        same(moved(process), expected(folder, process.rank), "rank %d" % process.rank)


@mpi_test(variants=("hip", "cuda"))
def switched_off(mpi, folder, runtime):
    trace = run(mpi, folder, runtime, MPIWATCH_PROBES="-gpu")
    for process in trace.processes:
        check(not process.spaces and not process.devices, "something was recorded")
        same(process.choice("probe", "gpu")["how"], "off", "the probe")
        check(all(event.spaces == (0, 0) for call in process.all_calls() for event in call.events))


@mpi_test
def nothing_where_there_is_no_gpu(mpi, folder):
    """No library that was not there, and no function that would make a program believe that there is one."""
    absent = mpi.build("gpu_absent.c", "-ldl")
    plain = mpi.run(2, [absent], folder).expect(0)
    job, path = mpi.record(2, [absent], folder)
    job.expect(0)
    same(plain.stdout, "done\n", "what the program finds without us")
    same(job.stdout, "done\n", "what the program finds")
    for process in Trace(path).processes:
        same(process.choice("probe", "gpu")["how"], "absent", "the probe")
        check(not process.devices and not process.spaces, "something was recorded")


def matrix(paths):
    """Messages between memories of GPUs, as the command says: (traces, {(src, dst): (bytes, link)})."""
    line = [setting("MW_CLI"), "matrix", "--by", "gpu", "--buffer", "device", "-f", "json"]
    shown = subprocess.run(line + paths, stdout=subprocess.PIPE, check=True, timeout=60).stdout
    document = json.loads(shown)
    cells = {
        (cell["src"], cell["dst"]): (cell["value"], cell["link"]) for cell in document["cells"]
    }
    return document["jobs"], cells


@mpi_test(variants=("hip", "cuda"))
def one_matrix_of_28_runs_and_of_one(mpi, folder, runtime):
    """Each pair of eight GPUs in a run of its own, and all in one run of eight ranks: the same matrix."""
    variable = "HIP_VISIBLE_DEVICES" if runtime == "hip" else "CUDA_VISIBLE_DEVICES"

    def path(name, **options):
        own = os.path.join(folder, name)
        os.mkdir(own)
        run(mpi, own, runtime, "exchange", **options)
        return os.path.join(own, "job.mpiw")

    paths = [
        path("%d-%d" % (a, b), **{variable: "%d,%d" % (a, b)})
        for a in range(8)
        for b in range(a + 1, 8)
    ]
    jobs, of_pairs = matrix(paths)
    same((jobs, len(of_pairs)), (28, 56), "traces and pairs")
    addresses = {name.rpartition("/")[2] for pair in of_pairs for name in pair}
    same(addresses, {"0000:%s:00.0" % bus for bus in BUSES}, "GPUs")
    jobs, of_one = matrix([path("all", ranks=8)])
    same(jobs, 1, "traces")
    same(of_one, of_pairs, "bytes between GPUs, and what joins them")


@mpi_test(variants=("hip", "cuda"))
def sums_keep_the_memory_apart(mpi, folder, runtime):
    """Messages, and what the traffic is by the kind of buffer, without a single event as with all."""

    def ways(path):
        line = [setting("MW_CLI"), "matrix", "--metric", "transport", "-f", "json", path]
        shown = subprocess.run(line, stdout=subprocess.PIPE, check=True, timeout=60).stdout
        return {
            (cell["src"], cell["dst"], route["buffer"]): (route["messages"], route["bytes"])
            for cell in json.loads(shown)["cells"]
            for route in cell["routes"]
            if route["messages"]
        }

    def record(mode, *arguments):
        own = os.path.join(folder, "-".join((mode,) + arguments))
        os.mkdir(own)
        trace = run(mpi, own, runtime, *arguments, MPIWATCH_MODE=mode)
        events = any(process.all_calls() for process in trace.processes)
        same(events, mode == "full", "events")
        return os.path.join(own, "job.mpiw")

    found = [ways(record(mode)) for mode in ("full", "summary")]
    matrices = [matrix([record(mode, "exchange")]) for mode in ("full", "summary")]
    check({key[2] for key in found[0]} >= {"host", "device", "pinned host"}, found[0])
    same(found[1], found[0], "messages by kind of buffer")
    same(matrices[1], matrices[0], "between GPUs")


@mpi_test
def the_example(mpi, folder):
    """Which loads HIP itself: its large messages are all between the GPUs that it chose."""
    source = os.path.join(STUBS, "..", "..", "examples", "pairs.c")
    stubs = stub_folder()
    pairs = mpi.build(source, "-ldl", name="example_pairs")
    job, path = mpi.record(4, [pairs, "alone", "65536", "2", "hip"], folder,
                           env={"LD_LIBRARY_PATH": stubs}, timeout=60)
    job.expect(0)
    same(len(job.stdout.splitlines()), 12, "pairs that it measured")
    _, cells = matrix([path])
    same({value for value, _ in cells.values()}, {2 * 16 * 65536}, "bytes between GPUs")
    used = {"0000:%s:00.0" % bus for bus in BUSES[:4]}
    same({name.rpartition("/")[2] for pair in cells for name in pair}, used, "GPUs")
    same(mpi.run(1, [pairs, "alone", "8", "1", "tape"], folder).code != 0, True, "no such memory")


@test
def nothing_is_exported(folder):
    """By any of the libraries."""
    base = os.path.dirname(setting("MW_LIBRARY"))
    for library in sorted(glob.glob(os.path.join(base, "libmpiwatch*.so"))):
        listed = subprocess.run(
            ["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE, check=True
        ).stdout.decode()
        wrong = re.findall(r"^\S+ \S ((?:hip|cuda|hsa)\w*|cu[A-Z]\w*|ioctl)(?:@|$)", listed, re.M)
        same(wrong, [], "exports of %s" % library)


if __name__ == "__main__":
    main()
