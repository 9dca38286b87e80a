#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Can check_api.py fail? Breaks the table in many ways and expects every break to be reported,
# function by function. Exit status as in check_api.py.

import argparse
import copy
import os
import subprocess
import sys
import tempfile

import check_api
import mpi_facts


def altered(c_type):
    """Another C type, as close to the given one as the compiler can still tell from it."""
    if c_type.startswith("const "):
        return c_type[len("const "):]
    if c_type.endswith("*"):
        return "const " + c_type if c_type.count("*") == 1 else c_type[:-1]
    return "unsigned int" if c_type == "int" else "short"


class Alteration:
    """A stand-in for a Parameter whose C type is not the right one."""

    def __init__(self, parameter):
        self.parameter = parameter
        self.name = parameter.name

    def c_type(self, large):
        return altered(self.parameter.c_type(large))

    def wrapper_type(self, large):
        return self.c_type(large)


def changed_functions(table, change):
    """A copy of the table in which change(function) altered the functions for which it is true."""
    other = copy.copy(table)
    other.functions = []
    names = set()
    for function in table.functions:
        function = copy.copy(function)
        function.parameters = list(function.parameters)
        if not function.differences and change(function):
            names.add(function.name)
        other.functions.append(function)
    return other, names


def alter_parameter(position):
    def change(function):
        if len(function.parameters) <= position:
            return False
        function.parameters[position] = Alteration(function.parameters[position])
        return True
    return change


def drop_last_parameter(function):
    return function.parameters and function.parameters.pop() is not None


def repeat_first_parameter(function):
    if not function.parameters or function.is_handwritten:
        return False
    function.parameters.insert(0, function.parameters[0])
    return True


class ReturnsShort:
    def c_type(self, large):
        return "short"

    def wrapper_type(self, large):
        return "short"


def alter_return(function):
    function.returns = ReturnsShort()
    return True


def prototype_misses(table, generate, mpi):
    """Altered functions that the compilation does not complain about."""
    most = max(len(function.parameters) for function in table.functions)
    changes = [("parameter %d altered" % (i + 1), alter_parameter(i)) for i in range(most)]
    changes += [("last parameter dropped", drop_last_parameter),
                ("first parameter repeated", repeat_first_parameter),
                ("return type altered", alter_return)]
    for what, change in changes:
        other, names = changed_functions(table, change)
        reported = " ".join(check_api.prototype_differences(other, generate, mpi)) + " "
        names &= mpi.declared
        print("%s: %d functions" % (what, len(names)))
        if not names:
            yield what + " touches no function of this MPI"
        for name in sorted(names):
            if "differs: %s " % name not in reported or "differs: P%s " % name not in reported:
                yield "%s: not noticed in %s" % (what, name)


def missing_functions(table, mpi):
    """Functions whose absence from the table is not reported."""
    for function in table.functions:
        other = copy.copy(table)
        other.functions = [f for f in table.functions if f is not function]
        found = list(check_api.name_differences(other, mpi))
        there = function.name in mpi.exported or function.name in mpi.declared
        if there != any(line.endswith(": " + function.name) for line in found):
            yield "dropping %s: not noticed" % function.name


def not_exported(table, generate, mpi):
    """Is a function noticed that header and table have and the library lacks?"""
    poorer = copy.copy(mpi)
    poorer.exported = mpi.exported - {"MPI_Bcast"}
    if "declared, not exported: MPI_Bcast" not in check_api.name_differences(table, poorer):
        yield "a declared function that is not exported: not noticed"
    poorer.version = generate.LAST_MPI3
    if not any(line.endswith(": MPI_Bcast")
               for line in check_api.looking_present(table, generate, poorer)):
        yield "a function that only the smaller export list has: not noticed"


def command_line(args, path):
    """The exit status of the real program, for the table as it is and with one mistake each."""
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    program = [sys.executable, "-B", os.path.abspath(check_api.__file__), "--cc", args.cc,
               "--api", args.api, "--table"]
    mistakes = [("no mistake", text, 0),
                ("one function less", text.replace("51 MPI_Bcast 1.0", "51 MPI_Broadcast 1.0"), 1),
                ("one kind changed", text.replace(" sendtag:tag", " sendtag:offset", 1), 1)]
    for what, changed, expected in mistakes:
        if expected and changed == text:
            yield what + ": the table has changed, so must this test"
        with tempfile.TemporaryDirectory() as folder:
            table = mpi_facts.write(folder, "mpi.table", changed)
            done = subprocess.run(program + [table], stdout=subprocess.DEVNULL)
        if done.returncode != expected:
            yield "%s: exit status %d" % (what, done.returncode)


def main():
    args = check_api.arguments()
    table_module, generate = check_api.load(args.api)
    path = os.path.join(args.api, "mpi.table")
    table = table_module.read_table(path)
    with tempfile.TemporaryDirectory() as folder:
        try:
            mpi = mpi_facts.Mpi(args.cc, folder)
        except mpi_facts.Unavailable as error:
            print("skipped: %s" % error)
            return check_api.SKIP
        misses = list(prototype_misses(table, generate, mpi))
        misses += missing_functions(table, mpi)
        misses += not_exported(table, generate, mpi)
        misses += command_line(args, path)
    for miss in misses:
        print("MISSED: " + miss)
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
