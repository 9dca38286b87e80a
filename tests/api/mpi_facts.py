# SPDX-License-Identifier: BSD-3-Clause
#
# What an installed MPI says about itself: the functions its mpi.h declares, those its library
# exports, its version. Used by the checks of this folder; runs a compiler, nm and ldd, never MPI.

import os
import re
import shutil
import subprocess

TIMEOUT = 120
FUNCTION_NAME = re.compile(r"P?MPI_[A-Z]\w*$")


class Unavailable(Exception):
    """The compiler wrapper is not installed."""


def run(command, folder):
    """The output of a command that has to succeed."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, timeout=TIMEOUT)
    if done.returncode != 0:
        raise RuntimeError("%s failed:\n%s" % (" ".join(command), done.stderr))
    return done.stdout


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)
    return path


def top_level_statements(text):
    """C text cut at the semicolons and function bodies outside all brackets, braces left out."""
    statement, parens, braces, is_body = [], 0, 0, False
    for character in text:
        if character == "{":
            if braces == 0:
                is_body = "".join(statement).rstrip().endswith(")")
            braces += 1
        elif character == "}":
            braces -= 1
            if braces == 0 and is_body:
                statement = []
        elif braces == 0:
            parens += {"(": 1, ")": -1}.get(character, 0)
            if character == ";" and parens == 0:
                yield "".join(statement)
                statement = []
            else:
                statement.append(character)


def declared_in(preprocessed):
    """Names of the MPI functions that a preprocessed header declares."""
    text = re.sub(r"^#.*$", "", preprocessed, flags=re.M)
    names = set()
    for statement in top_level_statements(text):
        words = re.sub(r"__attribute__\s*\(\(.*?\)\)", " ", statement, flags=re.S)
        match = re.search(r"\b(P?MPI_[A-Z]\w*)\s*\(", words)
        if match and not re.match(r"\s*typedef\b", words) and "(" not in words[:match.start()]:
            names.add(match.group(1))
    return names


def exported_in(nm_output):
    """Names of the MPI functions among the dynamic symbols that nm -D --defined-only lists."""
    names = set()
    for line in nm_output.splitlines():
        words = line.split()
        if len(words) >= 2 and words[-2] in "TWi":
            name = words[-1].split("@")[0]
            if FUNCTION_NAME.match(name):
                names.add(name)
    return names


class Mpi:
    """One installed MPI, reached through its compiler wrapper."""

    def __init__(self, compiler, folder):
        if shutil.which(compiler) is None:
            raise Unavailable(compiler + " is not installed")
        self.compiler = compiler
        self.folder = folder
        write(folder, "header.c", "#include <mpi.h>\nMW_VERSION_IS MPI_VERSION.MPI_SUBVERSION\n")
        write(folder, "program.c",
              "#include <mpi.h>\nint main(int c, char **v) { return MPI_Init(&c, &v); }\n")
        text = run([compiler, "-E", "header.c"], folder)
        run([compiler, "program.c", "-o", "program"], folder)
        self.version = re.search(r"MW_VERSION_IS (\d+)\s*\.\s*(\d+)", text).groups()
        self.version = ".".join(self.version)
        self.declared = declared_in(text)
        self.libraries = {}
        for path in re.findall(r"=> (/\S+)", run(["ldd", "program"], folder)):
            names = exported_in(run(["nm", "-D", "--defined-only", path], folder))
            if "PMPI_Init" in names:
                self.libraries[path] = names
        if not self.libraries:
            raise RuntimeError(compiler + " links no shared library with MPI functions")
        self.exported = set().union(*self.libraries.values())

    def compile(self, source, *options):
        """None, or the compiler's messages when it refuses the file."""
        done = subprocess.run([self.compiler, "-c", source, "-o", os.devnull] + list(options),
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, timeout=TIMEOUT)
        return done.stderr if done.returncode else None
