#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Do the generated wrappers do what they should? Runs those that wrapper_check.c calls, with
# stand-ins around them; compiles all against the real handlers.h, where a warning is a failure.

import argparse
import os
import subprocess
import sys
import tempfile

import check_api
import mpi_facts

CALLED = ("Send", "Send_c", "Isend", "Send_init", "Wait", "Alltoallv", "Alltoallv_c", "Comm_dup",
          "Comm_rank", "Comm_f2c", "Wtime", "Aint_diff")
WARNINGS = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wmissing-prototypes", "-Wshadow", "-Werror"]


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description="Check the generated wrappers.")
    parser.add_argument("--cc", default="cc", nargs="+", help="the C compiler")
    parser.add_argument("--root", default=os.path.join(here, "..", ".."), help="the source tree")
    args = parser.parse_args()
    compiler = args.cc if isinstance(args.cc, list) else [args.cc]
    root = os.path.abspath(args.root)
    interpose = os.path.join(root, "interpose")
    table_module, generate = check_api.load(os.path.join(interpose, "api"))
    table = table_module.read_table(os.path.join(interpose, "api", "mpi.table"))
    with tempfile.TemporaryDirectory() as folder:
        files = generate.outputs(table, [])
        for name in files:
            mpi_facts.write(folder, name, files[name]())
        called = [table.function("MPI_" + name) for name in CALLED]
        mpi_facts.write(folder, "called.c", generate.wrappers_source(called))
        compile_command = compiler + WARNINGS + ["-D_GNU_SOURCE", "-I.", "-I" + interpose,
                                                 "-I" + os.path.join(root, "include")]
        mpi_facts.run(compile_command + ["called.c", os.path.join(here, "wrapper_check.c"),
                                         "-o", "wrapper_check"], folder)
        for name in sorted(files):
            if name.endswith(".c") and name != "mpi_check.c":
                mpi_facts.run(compile_command + ["-c", name, "-o", os.devnull], folder)
        return subprocess.run([os.path.join(folder, "wrapper_check")], timeout=60).returncode


if __name__ == "__main__":
    sys.exit(main())
