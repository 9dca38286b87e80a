#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""libmpiwatch-trace.so as others see it: exports what its headers declare and nothing else, needs libc alone, and
its headers serve C and C++.

    test_library.py LIBRARY INCLUDE TRACE
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LIBRARY, INCLUDE, TRACE = (os.path.abspath(path) for path in sys.argv[1:4])
del sys.argv[1:4]
HEADERS = ["trace.h", "status.h"]

USER = r"""
#include <mpiwatch/trace.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    mw_trace *trace;
    const char *paths[] = {argv[1]};
    enum mw_status status = mw_trace_open(paths, 1, 0, &trace, NULL);
    if (argc != 2 || status != MW_OK)
        return puts(mw_status_text(status)) < 0;
    printf("%d processes\n", (int)mw_trace_process_count(trace));
    mw_trace_close(trace);
    return 0;
}
"""


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def read(name):
    with open(os.path.join(INCLUDE, "mpiwatch", name), encoding="utf-8") as handle:
        return re.sub(r"/\*.*?\*/", "", handle.read(), flags=re.S)


def needed():
    dynamic = output("readelf", "-dW", LIBRARY)
    names = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
    if any(re.match(r"lib(asan|ubsan|tsan)\.", name) for name in names):
        raise unittest.SkipTest("built with sanitizers")
    return {name for name in names if not name.startswith("ld-linux")}


class Library(unittest.TestCase):
    def test_exports_are_the_headers(self):
        declared = set()
        for name in HEADERS:
            declared |= set(re.findall(r"^[\w *]*?\b(mw_\w+)\(", read(name), flags=re.M))
        self.assertGreater(len(declared), 20)
        names = output("nm", "-D", "--defined-only", LIBRARY).splitlines()
        exported = {line.split()[-1].split("@")[0] for line in names}
        exported = {name for name in exported if not name.startswith("MPIWATCH_TRACE_")}
        self.assertEqual(exported, declared)

    def test_needs_libc_alone(self):
        self.assertEqual(needed(), {"libc.so.6"})
        dynamic = output("readelf", "-dW", LIBRARY)
        self.assertEqual(re.findall(r"\(SONAME\).*\[(.*)\]", dynamic), ["libmpiwatch-trace.so.0"])

    def compile(self, compiler, standard, name):
        if shutil.which(compiler) is None:
            self.skipTest(f"no {compiler} here")
        needed()  # skips where a plain program could not use it
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, name)
            with open(source, "w", encoding="ascii") as handle:
                handle.write(USER)
            program = os.path.join(folder, "user")
            output(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-pedantic",
                   "-I", INCLUDE, source, LIBRARY, "-o", program,
                   f"-Wl,-rpath,{os.path.dirname(LIBRARY)}")
            self.assertEqual(output(program, TRACE), "2 processes\n")
            self.assertEqual(output(program, source), "not an mpiwatch trace\n")

    def test_serves_c(self):
        self.compile("cc", "c99", "user.c")

    def test_serves_cpp(self):
        self.compile("c++", "c++11", "user.cc")


if __name__ == "__main__":
    unittest.main()
