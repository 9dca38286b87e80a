# SPDX-License-Identifier: BSD-3-Clause
#
# Programs that load and unload libraries which use libfabric, before, in and after MPI, from threads
# and in children, two copies of libfabric in one process: each with and without us, and nobody may
# see a difference.
"""Hostile users of libfabric."""

import os
import shutil
import subprocess

from fabric import need_headers
from harness import PROGRAMS, check, command, library, main, mpi_test, note, same, test, tidy
from mpi import build_folder, compile_file
from trace import Trace

SOURCE = os.path.join(PROGRAMS, "fabric_hostile.c")
SECOND = "libfabrix.so.1"  # as long as the name that it replaces


def loaded_libfabric():
    text = subprocess.run(["ldconfig", "-p"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return [line.split()[-1] for line in text.splitlines() if "libfabric.so.1 " in line][0]


def libraries():
    """Two libraries that do the same; the second one has a libfabric of its own."""
    need_headers()
    folder = build_folder()
    copy = os.path.join(folder, SECOND)
    with open(loaded_libfabric(), "rb") as file:
        image = file.read().replace(b"libfabric.so.1\0", SECOND.encode() + b"\0")
    with open("%s.%d" % (copy, os.getpid()), "wb") as file:
        file.write(image)
    os.rename(file.name, copy)
    flags = ["-g", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-DPLUGIN"]
    paths = []
    for name, link in (
        ("fabric_hostile1.so", ["-lfabric"]),
        ("fabric_hostile2.so", ["-L" + folder, "-l:" + SECOND, "-Wl,-rpath," + folder]),
    ):
        paths.append(os.path.join(folder, name))
        compile_file("gcc", SOURCE, paths[-1], flags + link)
    return paths


def leaving(steps, run, quiet):
    """run(), and again where it crashed while it left: a program that exits while its threads use libfabric races
    with libfabric's own end, with us or without (one in four runs of 1.17). quiet: it says nothing else on stderr."""
    for _ in range(30 if "x" in steps else 0):
        job = run()
        if job.code == 3 and not (quiet and job.stderr):
            return job
        note("crashed at exit: %s" % (job.stderr.strip() or job.code))
    return run()


@test
def without_mpi(folder):
    """Nothing is written, and libfabric works as it does without us, whoever seems to call."""
    program = os.path.join(build_folder(), "fabric_hostile_alone")
    flags = ["-g", "-O2", "-Wall", "-Wextra", "-DNO_MPI", "-lpthread", "-ldl"]
    compile_file("gcc", SOURCE, program, flags)
    for steps in ("oucoucouc", "duc", "oOuUcUC", "t", "ouf", "ox"):
        argv = [program, steps] + libraries()
        plain = leaving(steps, lambda: command(argv, folder), True)
        job = leaving(steps, lambda: command(argv, folder, env={"LD_PRELOAD": library()}), True)
        same((job.code, job.stdout, job.stderr), (plain.code, plain.stdout, plain.stderr), steps)
        same(plain.code, 3 if "x" in steps else 0, "exit code of " + steps)
        check("seems ours" not in plain.stdout, plain.stdout)
    same(os.listdir(folder), [], "files")


STEPS = ("ouIuF", "IouFuc", "ocIoucF", "dIuF", "oIuOUuFU", "oIfF", "IotuF", "oIx", "oIa")


@mpi_test(variants=STEPS)
def with_mpi(mpi, folder, steps):
    program = mpi.build("fabric_hostile.c", "-lpthread", "-ldl")
    argv = [program, steps] + libraries()
    path = os.path.join(folder, "job.mpiw")

    def record():
        shutil.rmtree(path, ignore_errors=True)
        return mpi.record(1, argv, folder)[0]

    plain = leaving(steps, lambda: mpi.run(1, argv, folder), False)
    job = leaving(steps, record, False)
    same((job.code, tidy(job.stdout)), (plain.code, tidy(plain.stdout)), "what a user sees")
    process = Trace(path).rank(0)
    ends = {"oIx": "exit", "oIa": "abort"}
    same(process.end, ends.get(steps, "finalize"), "end")
    sent = sum(
        peer["sent"] for endpoint in process.endpoints if not endpoint["inner"]
        for peer in endpoint["peers"]
    )
    uses = {"ouIuF": 2, "IouFuc": 2, "ocIoucF": 2, "oIuOUuFU": 6, "IotuF": 50}
    if steps in uses and process.choice("mtl", "ofi") is None:
        check(sent >= 64 * 3, "sent: %d" % sent)


if __name__ == "__main__":
    main()
