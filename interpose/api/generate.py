#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Writes the C files and version scripts that follow from mpi.table; runs at build time only. What a
# call means is in the table, how a wrapper looks is in templates/, what a wrapper does is in the
# hand-written handlers: there should be no reason to name an MPI function here. Python >= 3.6.

import argparse
import os
import re
import string
import sys

import table as mpi_table

BANNER = """\
/* SPDX-License-Identifier: BSD-3-Clause
 * Generated from mpi.table: edit that, not this. %s */
"""
LAST_MPI3 = "3.1"  # names newer than this are missing from the smaller export list
FLAG_LOCAL, FLAG_LIFECYCLE, FLAG_NEW, FLAG_EARLY = 1, 2, 4, 8
WRAPPER_FILES = 8
LIBRARY_NODE = "MPIWATCH_1"
TAKEN_NAMES = ("entry", "caller", "frame", "call", "real", "real_fn", "rc")


def template(name):
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "templates", name), encoding="utf-8") as stream:
        return string.Template(stream.read())


def fold(text, indent="    "):
    """One long C line, broken after commas so that generated code can be read."""
    lines, current = [], ""
    for piece in re.split(r"(?<=,) ", text):
        if current and len(current) + 1 + len(piece) > 100:
            lines.append(current)
            current = indent + piece
        else:
            current = current + " " + piece if current else piece
    return "\n".join(lines + [current])


def declaration(c_type, name):
    return c_type + name if c_type.endswith("*") else c_type + " " + name


def functions_header(table):
    lines = [BANNER % "The ids of MPI functions, as stored in traces.",
             "#ifndef MPIWATCH_MPI_FUNCTIONS_H", "#define MPIWATCH_MPI_FUNCTIONS_H", "",
             "enum mw_function {"]
    lines += ["    MW_FN_%s = %d," % (f.short_name, f.number) for f in table.functions]
    lines += ["    MW_FN_COUNT_ = %d" % table.next_number(), "};", "",
              "enum mw_function_flag {",
              "    MW_FUNCTION_LOCAL = %d, /* only counted, never an event */" % FLAG_LOCAL,
              "    MW_FUNCTION_LIFECYCLE = %d, /* starts or ends MPI */" % FLAG_LIFECYCLE,
              "    MW_FUNCTION_NEW = %d, /* introduced after MPI-%s */" % (FLAG_NEW, LAST_MPI3),
              "    MW_FUNCTION_EARLY = %d /* a program's first MPI call may be this */" % FLAG_EARLY,
              "};", "",
              "/* Both are indexed by enum mw_function; unused numbers have NULL and 0. */",
              "extern const char *const mw_function_names[MW_FN_COUNT_];",
              "extern const unsigned char mw_function_flags[MW_FN_COUNT_];",
              "", "#endif", ""]
    return "\n".join(lines)


def function_flags(function):
    return (FLAG_LOCAL * function.is_local + FLAG_LIFECYCLE * function.is_lifecycle
            + FLAG_NEW * function.is_newer_than(LAST_MPI3) + FLAG_EARLY * function.is_early)


def names_source(table):
    lines = [BANNER % "Names and flags of MPI functions.", '#include "mpi_functions.h"', "",
             "const char *const mw_function_names[MW_FN_COUNT_] = {"]
    lines += ['    [%d] = "%s",' % (f.number, f.name) for f in table.functions]
    lines += ["};", "", "const unsigned char mw_function_flags[MW_FN_COUNT_] = {"]
    lines += ["    [%d] = %d," % (f.number, function_flags(f)) for f in table.functions
              if function_flags(f)]
    return "\n".join(lines + ["};", ""])


def handler_arguments(function, first):
    """What both handlers get after the call (and, in the end handler, the return code)."""
    words = [first]
    for argument in function.arguments:
        parameter = function.parameter(argument)
        if parameter is not None and parameter.shape == "[]" and parameter.kind.name == "count":
            argument = "mw_counts_of(%s, sizeof *%s)" % (argument, argument)
        words.append(argument)
    return ", ".join(words)


def missing_value(function):
    return "mw_missing(MW_FN_%s)" % function.short_name if function.returns is None else "0"


def mode_lines(function):
    if not function.mode:
        return ""
    mode = {"starts": "MW_STARTS", "prepares": "MW_PREPARES"}[function.mode]
    return "    call.mode = %s;\n    call.request = %s;\n" % (mode, function.request)


def buffer_lines(function):
    """What the call sends from and receives into: a parameter that MPI only reads, one that it may
    write; where there is one only, it may be both."""
    read, written = ([p.name for p in function.parameters if p.kind.name == kind and not p.shape]
                     for kind in ("const_buffer", "buffer"))
    if not read and not written:
        return ""
    return "    call.sends = %s;\n    call.receives = %s;\n" % ((read or written)[0],
                                                            (written or read)[0])


def wrapper(function, templates):
    types = [p.wrapper_type(function.large) for p in function.parameters]
    names = [p.name for p in function.parameters]
    for name in names:
        if name in TAKEN_NAMES:
            raise mpi_table.TableError("%s: the wrapper uses %s itself" % (function.name, name))
    declarations = [declaration(c_type, name) for c_type, name in zip(types, names)]
    words = {
        "type": function.return_wrapper_type(), "short": function.short_name,
        "signature": ", ".join(["const enum mw_entry entry", "const void *caller",
                                "const void *frame"] + declarations),
        "types": ", ".join(types) or "void", "names": ", ".join(names),
        "missing": missing_value(function), "mode": mode_lines(function) + buffer_lines(function),
        "class": function.record,
        "begin": handler_arguments(function, "&call"),
        "end": handler_arguments(function, "&call, rc"),
    }
    text = templates["local" if function.is_local else "wrapper"].substitute(words)
    for export in function.exports:
        words.update(export=export, parameters=", ".join(declarations) or "void",
                     entry="MW_ENTRY_PMPI" if export.startswith("P") else "MW_ENTRY_MPI",
                     names="".join(", " + name for name in names))
        text += templates["export"].substitute(words)
    return "\n".join(fold(line, " " * (8 + len(line) - len(line.lstrip()))) if len(line) > 100
                     else line for line in text.split("\n"))


def wrappers_source(functions):
    templates = {name: template(name + ".c.in") for name in ("wrapper", "local", "export")}
    head = BANNER % "Wrappers of MPI functions."
    head += '\n#include <stdint.h>\n\n#include "mpi_functions.h"\n#include "record/handlers.h"\n'
    head += "\n#ifndef MW_EXPORT\n#define MW_EXPORT __attribute__((visibility(\"default\")))\n"
    head += "#endif\n"
    # Call sites and the depth guard rest on the frame of the exported function itself: it must still be
    # running, so its body may not become a function that is jumped to.
    head += "#define MW_IN_EXPORT static inline __attribute__((always_inline))\n"
    return head + "".join(wrapper(f, templates) for f in functions if not f.is_handwritten)


def version_script(functions, appended):
    lines = ["%s {" % LIBRARY_NODE, "    global:"]
    lines += ["        %s;" % name for name in sorted(n for f in functions for n in f.exports)]
    lines += ["    local:", "        *;", "};", ""]
    return "\n".join(lines) + "".join("\n" + text for text in appended)


def in_smaller_list(table):
    """What every library of MPI-3.1 exports: programs that ask for more must not find it here."""
    return [f for f in table.functions
            if not f.is_newer_than(LAST_MPI3) and "optional" not in f.attributes]


def in_middle_list(table):
    """MPI-4.0 without the large forms and the events of MPI_T: what Open MPI 5 has."""
    return [f for f in table.functions
            if not f.is_newer_than("4.0") and "optional" not in f.attributes
            and not f.name.endswith("_c") and not (f.is_newer_than(LAST_MPI3) and f.name.startswith("MPI_T_"))]


def signature_of(function, where):
    types = ", ".join(function.c_types(where)) or "void"
    if function.is_handwritten:
        types += ", ..."
    return "%s(%s)" % (function.c_return_type(where), types)


def check_block(function, table):
    lines = ["", "#ifdef MW_DECLARES_%s" % function.name]
    branch = "#if"
    for where in [w for w in table.wheres if any(d[0] == w for d in function.differences)]:
        lines += ["%s %s" % (branch, table.wheres[where])]
        lines += check_lines(function, where)
        branch = "#elif"
    if branch == "#if":
        lines += check_lines(function, None)
    else:
        lines += ["#else"] + check_lines(function, None) + ["#endif"]
    return lines + ["#endif"]


def check_lines(function, where):
    checks = ["MW_SAME(%s, %s);" % (name, signature_of(function, where))
              for name in function.exports]
    passed = {(function.c_return_type(where), function.return_wrapper_type(), "MW_PASSES")}
    for parameter, c_type in zip(function.parameters, function.c_types(where)):
        read = parameter.name in function.arguments
        passed.add((c_type, parameter.wrapper_type(function.large),
                    "MW_PASSES" if read else "MW_FITS"))
    checks += ["%s(%s, %s);" % (macro, c_type, wrapper_type)
               for c_type, wrapper_type, macro in sorted(passed) if c_type != wrapper_type]
    return [fold(check) for check in checks]


def check_source(table):
    head = BANNER % "Compiled against a real mpi.h, never linked."
    head += """
#include <mpi.h>
#include <stdint.h>

#include "mw_declared.h" /* MW_DECLARES_MPI_X for each function that this mpi.h declares */

typedef uintptr_t mw_handle;

/* Macros of the same name, if any, are not expanded without an opening parenthesis. */
#define MW_SAME(function, ...) \\
    _Static_assert(__builtin_types_compatible_p(__typeof__(function), __VA_ARGS__), \\
                   "prototype differs: " #function)
/* The wrapper gets all of the value, in the same kind of register (the conversion refuses
 * structures). Only a handle may be narrower than what the wrapper takes, for it knows the width;
 * so may a value that the wrapper hands on without reading it. */
#define MW_FITS(c_type, wrapper_type) \\
    _Static_assert(sizeof((wrapper_type)(c_type)0) >= sizeof(c_type), \\
                   "passed differently: " #c_type)
#define MW_PASSES(c_type, wrapper_type) \\
    _Static_assert(sizeof((wrapper_type)(c_type)0) == sizeof(c_type) || \\
                   (sizeof(c_type) < sizeof(mw_handle) && \\
                    __builtin_types_compatible_p(wrapper_type, mw_handle)), \\
                   "passed differently: " #c_type)
"""
    lines = [line for function in table.functions for line in check_block(function, table)]
    return head + "\n".join(lines) + "\n"


def outputs(table, appended):
    """File name -> function that makes its text."""
    written = table.functions
    old = in_smaller_list(table)
    middle = in_middle_list(table)
    files = {
        "mpi_functions.h": lambda: functions_header(table),
        "mpi_names.c": lambda: names_source(table),
        "mpi_check.c": lambda: check_source(table),
        "libmpiwatch.map": lambda: version_script(written, appended),
        "libmpiwatch-mpi3.map": lambda: version_script(old, appended),
        "libmpiwatch-mpi4.map": lambda: version_script(middle, appended),
    }
    for part in range(WRAPPER_FILES):
        files["mpi_wrappers_%d.c" % part] = (
            lambda part=part: wrappers_source(written[part::WRAPPER_FILES]))
    return files


def main():
    parser = argparse.ArgumentParser(description="Make C files from the table of the MPI API.")
    parser.add_argument("--table", required=True)
    parser.add_argument("--out", required=True, help="folder for the files")
    parser.add_argument("--what", action="append", metavar="FILE",
                        help="write this file only (may be repeated); default: all")
    parser.add_argument("--append-map", action="append", default=[], metavar="FILE",
                        help="text to append to the version scripts (more nodes)")
    arguments = parser.parse_args()
    try:
        table = mpi_table.read_table(arguments.table)
        appended = []
        for path in arguments.append_map:
            with open(path, encoding="utf-8") as stream:
                appended.append(stream.read())
        files = outputs(table, appended)
        for name in arguments.what or sorted(files):
            if name not in files:
                sys.exit("no such output: " + name)
            with open(os.path.join(arguments.out, name), "w", encoding="utf-8") as stream:
                stream.write(files[name]())
    except (OSError, mpi_table.TableError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
