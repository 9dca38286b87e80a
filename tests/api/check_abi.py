#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Are the ABI descriptors of interpose/abi/ what this MPI has? Compiles abi_check.c together with
# them and runs it, on one rank of MPI when a launcher is given. Exit status as in check_api.py.

import argparse
import os
import subprocess
import sys
import tempfile

import check_api
import mpi_facts

DESCRIPTORS = ("openmpi.c", "mpich.c", "standard.c")


def build(mpi, root, table, generate):
    """The path of the program, compiled for this MPI."""
    here = os.path.dirname(os.path.abspath(__file__))
    interpose = os.path.join(root, "interpose")
    mpi_facts.write(mpi.folder, "mpi_functions.h", generate.functions_header(table))
    sources = [os.path.join(here, "abi_check.c")]
    sources += [os.path.join(interpose, "abi", name) for name in DESCRIPTORS]
    mpi_facts.run([mpi.compiler, "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-I.", "-I" + interpose,
                   "-I" + os.path.join(root, "include")] + sources + ["-o", "abi_check", "-ldl"],
                  mpi.folder)
    return os.path.join(mpi.folder, "abi_check")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description="Compare an ABI descriptor with an installed MPI.")
    parser.add_argument("--cc", required=True, help="the MPI's compiler wrapper")
    parser.add_argument("--launcher", help='such as "mpirun.mpich -n 1"; without: constants only')
    parser.add_argument("--root", default=os.path.join(here, "..", ".."), help="the source tree")
    args = parser.parse_args()
    root = os.path.abspath(args.root)
    api = os.path.join(root, "interpose", "api")
    table_module, generate = check_api.load(api)
    with tempfile.TemporaryDirectory() as folder:
        try:
            mpi = mpi_facts.Mpi(args.cc, folder)
        except mpi_facts.Unavailable as error:
            print("skipped: %s" % error)
            return check_api.SKIP
        table = table_module.read_table(os.path.join(api, "mpi.table"))
        program = build(mpi, root, table, generate)
        command = [program]
        if args.launcher:
            command = args.launcher.split() + [program, "live"]
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1",
                           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        done = subprocess.run(["timeout", "60"] + command, env=environment, cwd=folder)
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
