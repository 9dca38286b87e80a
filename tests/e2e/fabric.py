# SPDX-License-Identifier: BSD-3-Clause
#
# The test provider "cxi" (tests/stubs/fabric/cxi.c, which says what it can be told) and what makes
# Open MPI use libfabric with it. For any test; built once, against the headers that are installed.
"""A fabric that works or fails on command."""

import os
import subprocess
import time

from harness import STUBS, Failure, Skip
from mpi import build_folder, compile_file
from trace import Trace

HEADER = "rdma/providers/fi_prov.h"


def need_headers():
    """Skips the test where libfabric's headers are not installed."""
    if not os.path.exists(os.path.join("/usr/include", HEADER)):
        raise Skip("libfabric's headers are not installed")


def provider_folder(copies=1):
    """A folder for FI_PROVIDER_PATH with the provider in it, under that many names."""
    need_headers()
    folder = os.path.join(build_folder(), "providers%d" % copies)
    os.makedirs(folder, exist_ok=True)
    for i in range(copies):
        compile_file(
            "gcc",
            os.path.join(STUBS, "fabric", "cxi.c"),
            os.path.join(folder, "libcxi%s-fi.so" % (i or "")),
            ["-g", "-O1", "-Wall", "-Wextra", "-shared", "-fPIC", "-lfabric", "-ldl"],
        )
    return folder


def other_library(name, kind, *changes):
    """A folder with a copy of a library that says it is another version, or lacks something: (what is there at
    one place, what is to be there)..."""
    listed = subprocess.run(["ldconfig", "-p"], stdout=subprocess.PIPE, check=True).stdout.decode()
    paths = [line.split()[-1] for line in listed.splitlines() if line.split()[:1] == [name]]
    if not paths:
        raise Skip("%s is not installed" % name)
    with open(paths[0], "rb") as file:
        image = file.read()
    for old, new in changes:
        if image.count(old) != 1:
            raise Skip("what is to be changed in %s was not found" % paths[0])
        image = image.replace(old, new)
    folder = os.path.join(build_folder(), "%s-%s" % (kind, name))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "%s.%d" % (name, os.getpid())), "wb") as file:
        file.write(image)
    os.rename(file.name, os.path.join(folder, name))
    return folder


def over_libfabric(provider="tcp;ofi_rxm", forced=True, **more):
    """The environment of an Open MPI job that prefers this provider of libfabric; `forced`: it ends
    rather than use anything else. Debian's parameter file excludes libfabric, the environment
    has the last word."""
    env = {
        "OMPI_MCA_mtl": "ofi",
        "OMPI_MCA_mtl_ofi_provider_include": provider,
        "OMPI_MCA_btl": "tcp,self",
        "OMPI_MCA_btl_tcp_if_include": "lo",
        "OMPI_MCA_orte_base_help_aggregate": "0",
    }
    if forced:
        env["OMPI_MCA_pml"] = "cm"
    env.update(more)
    return env


def over_cxi(forced=False, copies=1, **fake):
    """The same with our provider; `fake` are its variables: FAIL="enable" for FAKE_FAIL=enable."""
    env = over_libfabric("cxi", forced, FI_PROVIDER_PATH=provider_folder(copies))
    env.update({"FAKE_" + name: str(value) for name, value in fake.items()})
    return env


def wait_for_open_calls(path, wanted, seconds=60):
    """Until the calls that have not returned, by process, are these in the trace of a running job. What
    layers of libfabric call does not count."""
    end = time.monotonic() + seconds
    calls = []
    while time.monotonic() < end:
        if os.path.exists(path):
            calls = [
                [a["call"] for a in process.attempts if not a["end"] and not a["inner"]]
                for process in Trace(path).processes
            ]
        if calls == wanted:
            return
        time.sleep(0.1)
    raise Failure("calls without an end: %s" % calls)
