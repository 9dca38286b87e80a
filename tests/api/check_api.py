#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Is the table of the MPI API what this MPI has? Compiles the generated prototypes against its mpi.h
# and compares the table with the functions that the header declares and the library exports.
# Exit 0: it is; 1: it is not, each difference on a line; 77: this MPI is not installed.

import argparse
import os
import re
import sys
import tempfile

import mpi_facts

SKIP = 77


def standard_names(table):
    """Exported name -> function, for every function of the table."""
    return {name: function for function in table.functions for name in function.exports}


def prototype_differences(table, generate, mpi):
    declared = "".join("#define MW_DECLARES_%s 1\n" % f.name for f in table.functions
                       if f.name in mpi.declared)
    mpi_facts.write(mpi.folder, "mw_declared.h", declared)
    mpi_facts.write(mpi.folder, "mpi_check.c", generate.check_source(table))
    messages = mpi.compile("mpi_check.c", "-std=gnu11", "-Wno-deprecated-declarations", "-I.")
    if messages is None:
        return []
    found = re.findall(r"error: static assertion failed: \"(.*?)\"", messages)
    return found if found else [messages]


def name_differences(table, mpi):
    known = standard_names(table)
    known_or_excluded = set(known) | set(table.excluded)
    for name in sorted(mpi.exported - known_or_excluded):
        yield "exported, not in the table: " + name
    for name in sorted(mpi.declared - known_or_excluded):
        yield "declared, not in the table: " + name
    for name in sorted((mpi.declared & set(known)) - mpi.exported):
        if "optional" not in known[name].attributes:
            yield "declared, not exported: " + name
    for name in sorted((mpi.exported & set(known)) - mpi.declared):
        if "removed" not in known[name].attributes:
            yield "exported, not declared: " + name


def looking_present(table, generate, mpi):
    """Functions that libmpiwatch-mpi3.so would seem to add to an MPI of version 3.1."""
    if mpi.version != generate.LAST_MPI3:
        return
    for function in generate.in_smaller_list(table):
        if function.name not in mpi.exported:
            yield "in the smaller export list, not in this MPI-3.1: " + function.name


def absent(table, mpi):
    """Functions that this MPI lacks, and those of them that its version of MPI promises."""
    functions = [f for f in table.functions if f.name not in mpi.exported]
    promised = [f.name for f in functions
                if not f.is_newer_than(mpi.version) and "removed" not in f.attributes]
    return functions, promised


def check(table, generate, mpi):
    """The list of differences; empty when the table tells the truth."""
    differences = prototype_differences(table, generate, mpi)
    differences += name_differences(table, mpi)
    differences += looking_present(table, generate, mpi)
    early = [f.name for f in table.functions
             if f.name in mpi.exported and f.is_newer_than(mpi.version)]
    lacking, promised = absent(table, mpi)
    print("%s: MPI-%s, %d functions declared, %d exported by %s" % (
        mpi.compiler, mpi.version, len(mpi.declared), len(mpi.exported),
        " ".join(sorted(mpi.libraries))))
    print("in the table, not in this MPI: %d" % len(lacking))
    print("  of these, in the version of the standard that it claims: " + " ".join(promised))
    print("in this MPI, from a later version of the standard: " + " ".join(early))
    return differences


def arguments():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description="Compare the table with an installed MPI.")
    parser.add_argument("--cc", required=True, help="the MPI's compiler wrapper")
    parser.add_argument("--api", default=os.path.join(here, "..", "..", "interpose", "api"),
                        help="the folder of mpi.table and its generator")
    parser.add_argument("--table", help="another table")
    return parser.parse_args()


def load(api):
    """The table module and the generator, as they are in the source tree."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, api)
    import generate
    import table
    return table, generate


def main():
    args = arguments()
    table_module, generate = load(args.api)
    table = table_module.read_table(args.table or os.path.join(args.api, "mpi.table"))
    with tempfile.TemporaryDirectory() as folder:
        try:
            mpi = mpi_facts.Mpi(args.cc, folder)
        except mpi_facts.Unavailable as error:
            print("skipped: %s" % error)
            return SKIP
        differences = check(table, generate, mpi)
    for difference in differences:
        print("DIFFERENT: " + difference)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
