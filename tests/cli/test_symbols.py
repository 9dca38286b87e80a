# SPDX-License-Identifier: BSD-3-Clause
"""Call sites: functions and lines by the very build that was recorded, else module and offset."""

import os
import re
import shutil
import subprocess
import sys

import build_trace as b
from build_trace import Process, job, module, site
from cli import CliTest, main

SOURCE = r"""
#include <stdio.h>
void __attribute__((noinline)) halo_exchange(int step) { printf("%d\n", step); } /* line 3 */
int main(int argc, char **argv)
{
    halo_exchange(argc);  /* line 6 */
    return 0;
}
"""
CPP_SOURCE = r"""
#include <cstdio>
namespace solver {
template <class T> struct Grid { void __attribute__((noinline)) step(T value) { std::printf("%g\n", (double)value); } };
}
int main(int argc, char **) { solver::Grid<double> grid; grid.step(argc); return 0; }
"""
INLINE_SOURCE = r"""
#include <stdio.h>
static inline __attribute__((always_inline)) void pack(int n) { puts(n ? "a" : "b"); } /* line 3 */
static inline __attribute__((always_inline)) void exchange(int n)
{
    pack(n); /* line 6 */
}
int main(int argc, char **argv)
{
    exchange(argc);
    return 0;
}
"""
FORTRAN_SOURCE = """
module halo
contains
  subroutine exchange(n)
    integer, intent(in) :: n
    call outside(n)   ! line 6
  end subroutine
end module
program heat
  use halo
  call exchange(command_argument_count())   ! line 11
end program
subroutine outside(n)
  integer, intent(in) :: n
  print *, n
end subroutine
"""


def have(*tools):
    return all(shutil.which(tool) for tool in tools)


class Symbols(CliTest):
    def build(self, *options, source=SOURCE, suffix=".c", compiler="gcc"):
        with open(self.path("app" + suffix), "w", encoding="utf-8") as file:
            file.write(source)
        subprocess.run([compiler, "-O1", "-Wl,--build-id=sha1", *options, "app" + suffix, "-o", "app"],
                       cwd=self.folder, check=True)
        notes = subprocess.run(["readelf", "-n", "app"], cwd=self.folder, check=True,
                               stdout=subprocess.PIPE).stdout.decode()
        return bytes.fromhex(re.search(r"Build ID: ([0-9a-f]+)", notes).group(1))

    def return_address(self, caller, callee):
        """The offset, from the start of the image, of what follows a call."""
        code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "app"], cwd=self.folder,
                              check=True, stdout=subprocess.PIPE).stdout.decode()
        body = code[code.index(f"<{caller}>:"):]
        lines = body.splitlines()
        place = next(i for i, line in enumerate(lines) if re.search(rf"(call|bl|jmp).*{callee}", line))
        return int(lines[place + 1].split(":")[0], 16) - self.base()

    def base(self):
        headers = subprocess.run(["readelf", "-lW", "app"], cwd=self.folder, check=True,
                                 stdout=subprocess.PIPE).stdout.decode()
        loads = re.findall(r"LOAD\s+0x[0-9a-f]+ (0x[0-9a-f]+)", headers)
        return int(loads[0], 16)

    def separate(self, build_id, place, keep=True):
        """Moves the debug information to a file of its own; keep: the program stays, stripped."""
        os.makedirs(os.path.dirname(place))
        subprocess.run(["objcopy", "--only-keep-debug", "app", place], cwd=self.folder, check=True)
        if keep:
            subprocess.run(["strip", "app"], cwd=self.folder, check=True)
        else:
            os.remove(self.path("app"))

    def trace(self, build_id, *frames, path=None):
        process = Process(0, 1).world()
        process.add("MODULES", module(1, path or self.path("app"), build_id),
                    module(2, "/usr/lib/libmpi_mpifh.so", role=2))
        process.add("SITES", site(1, *frames))
        process.call("MPI_Barrier", 2000, 3000, site=1)
        return b.write(self.path("job.mpiw"), job(), process)

    def caller(self, trace, **env):
        entry = self.run_cli("report", "--format", "json", trace, env=env).json()["sites"]["listed"][0]
        return entry["frames"][entry["caller"]]

    def test_function_and_line(self):
        for options in (("-g",), ("-g", "-no-pie")):
            with self.subTest(options):
                build_id = self.build(*options)
                offset = self.return_address("main", "halo_exchange")
                frame = self.caller(self.trace(build_id, (1, offset)))
                self.assertEqual((frame["function"], os.path.basename(frame["file"]), frame["line"]),
                                 ("main", "app.c", 6))
                self.assertIn("app!main app.c:6", self.run_cli("report", "job.mpiw").out)

    def test_function_without_debug_information(self):
        build_id = self.build()
        frame = self.caller(self.trace(build_id, (1, self.return_address("main", "halo_exchange"))))
        self.assertEqual((frame["function"], frame["file"], frame["line"]), ("main", None, None))

    def test_another_build_gets_no_names(self):
        build_id = self.build("-g")
        offset = self.return_address("main", "halo_exchange")
        frame = self.caller(self.trace(bytes(20), (1, offset)))
        self.assertIsNone(frame["function"])
        self.assertIn("another build-id", frame["reason"])
        self.assertIn(f"app+0x{offset:x}", self.run_cli("report", "job.mpiw").out)
        frame = self.caller(self.trace(b"", (1, offset)))
        self.assertIn("no build-id", frame["reason"])
        os.remove(self.path("app"))
        frame = self.caller(self.trace(build_id, (1, offset)))
        self.assertIn("not on this machine", frame["reason"])

    def test_stripped(self):
        build_id = self.build()
        offset = self.return_address("main", "halo_exchange")
        subprocess.run(["strip", "app"], cwd=self.folder, check=True)
        self.assertEqual(self.caller(self.trace(build_id, (1, offset)))["reason"], "no symbol there")

    def test_debug_information_elsewhere(self):
        """In a folder by build-id or as debuginfod left it; with the program stripped, or gone."""
        for keep in (True, False):
            for name in ("folder", "cache", "home"):
                with self.subTest(name, keep=keep):
                    build_id = self.build("-g")
                    offset = self.return_address("main", "halo_exchange")
                    trace, text = self.trace(build_id, (1, offset)), build_id.hex()
                    base = self.path("%s-%d" % (name, keep))
                    place, env = {
                        "folder": ("%s/.build-id/%s/%s.debug" % (base, text[:2], text[2:]),
                                   {"MPIWATCH_DEBUGINFO": "/nowhere::" + base}),
                        "cache": ("%s/%s/debuginfo" % (base, text), {"DEBUGINFOD_CACHE_PATH": base}),
                        "home": ("%s/.cache/debuginfod_client/%s/debuginfo" % (base, text), {"HOME": base}),
                    }[name]
                    env = {"XDG_CACHE_HOME": "", **env}
                    self.separate(build_id, place, keep)
                    reason = "no symbol there" if keep else "not on this machine"
                    self.assertIn(reason, self.caller(trace)["reason"])
                    frame = self.caller(trace, **env)
                    self.assertEqual((frame["function"], os.path.basename(frame["file"] or ""), frame["line"]),
                                     ("main", "app.c", 6))
                    # Of another build: not used, whatever it is called.
                    self.build("-g", "-DOTHER", source=SOURCE + "int other;")
                    os.replace(self.path("app"), place)
                    frame = self.caller(trace, **env)
                    self.assertEqual((frame["function"], frame["file"]), (None, None))

    def test_debug_information_beside_the_program(self):
        build_id = self.build("-g")
        offset = self.return_address("main", "halo_exchange")
        self.separate(build_id, self.path(".debug/app.debug"))
        subprocess.run(["objcopy", "--add-gnu-debuglink=.debug/app.debug", "app"], cwd=self.folder, check=True)
        frame = self.caller(self.trace(build_id, (1, offset)))
        self.assertEqual((frame["function"], frame["line"]), ("main", 6))

    def test_a_library(self):
        build_id = self.build("-g", "-shared", "-fPIC", source=SOURCE.replace("main", "step"))
        offset = self.return_address("step", "halo_exchange")
        frame = self.caller(self.trace(build_id, (1, offset)))
        self.assertEqual((frame["function"], frame["line"]), ("step", 6))

    def test_inlined(self):
        build_id = self.build("-g", source=INLINE_SOURCE)
        trace = self.trace(build_id, (1, self.return_address("main", "puts")))
        frame = self.caller(trace)
        self.assertEqual((frame["function"], frame["inlined_into"], frame["line"]), ("pack", "main", 3))
        self.assertIn("app!pack in main app.c:3", self.run_cli("report", trace).out)

    def test_fortran(self):
        if not have("gfortran"):
            self.skipTest("no gfortran")
        fortran = {"source": FORTRAN_SOURCE, "suffix": ".f90", "compiler": "gfortran"}
        for options, name, program in ((("-g",), "halo::exchange", "heat"), ((), "halo::exchange", "MAIN__")):
            with self.subTest(options):
                build_id = self.build(*options, "-O0", **fortran)
                frame = self.caller(self.trace(build_id, (1, self.return_address("__halo_MOD_exchange", "outside_"))))
                self.assertEqual((frame["function"], frame["line"]), (name, 6 if options else None))
                frame = self.caller(self.trace(build_id, (1, self.return_address("MAIN__", "__halo_MOD_exchange"))))
                self.assertEqual((frame["function"], frame["line"]), (program, 11 if options else None))

    def test_many_wrong_builds(self):
        """Files of another build are closed again: those that come later are found."""
        build_id = self.build("-g")
        offset = self.return_address("main", "halo_exchange")
        process = Process(0, 1).world()
        path = self.path("app")
        process.add("MODULES", *[module(2 + n, path, n.to_bytes(20, "big")) for n in range(2000)],
                    module(9000, path, build_id))
        sites = [site(1 + n, (2 + n, offset)) for n in range(2000)]
        process.add("SITES", *sites, site(9000, (9000, offset)))
        for n in [*range(1, 2001), 9000]:
            process.call("MPI_Barrier", 2000 + 10 * n, 2005 + 10 * n, site=n)
        listed = self.report(b.write(self.path("job.mpiw"), job(), process), "--top", "3000")["sites"]["listed"]
        self.assertEqual(len(listed), 2001)
        functions = [entry["frames"][0]["function"] for entry in listed]
        self.assertEqual([function for function in functions if function], ["main"])

    def test_the_caller_is_behind_bindings(self):
        build_id = self.build("-g")
        offset = self.return_address("main", "halo_exchange")
        trace = self.trace(build_id, (2, 0x100), (1, offset))
        self.assertEqual(self.report(trace)["sites"]["listed"][0]["caller"], 1)
        self.assertEqual(self.caller(trace)["function"], "main")

    def test_what_is_no_program_is_not_opened(self):
        """A path in a trace may lead anywhere: a pipe must not hang the report."""
        os.mkfifo(self.path("pipe"))
        trace = self.trace(bytes(20), (1, 0x1000), path=self.path("pipe"))
        self.assertIn("not on this machine", self.caller(trace)["reason"])
        for path in ("/dev/zero", "/", "", "/proc/self/mem", "linux-vdso.so.1", "[vdso]"):
            self.assertIsNone(self.caller(self.trace(bytes(20), (1, 0x1000), path=path))["function"])

    def test_offsets_that_lead_nowhere(self):
        build_id = self.build("-g")
        for offset in (0, 1, 1 << 62, (1 << 64) - 1):
            self.assertIsNone(self.caller(self.trace(build_id, (1, offset)))["function"], offset)
        self.assertEqual(self.caller(self.trace(build_id, (9, 5)))["reason"],
                         "the module was not recorded")

    def test_cpp(self):
        if not have("g++"):
            self.skipTest("no g++")
        build_id = self.build("-g", source=CPP_SOURCE, suffix=".cc", compiler="g++")
        code = subprocess.run(["nm", "app"], cwd=self.folder, check=True, stdout=subprocess.PIPE)
        address = next(int(line.split()[0], 16) for line in code.stdout.decode().splitlines()
                       if "GridIdE4step" in line)
        frame = self.caller(self.trace(build_id, (1, address - self.base() + 4)))
        self.assertEqual(frame["function"], "solver::Grid<double>::step")

    def test_sites_are_joined_over_ranks(self):
        """The same place has other numbers in each process."""
        ranks = []
        for rank in range(3):
            process = Process(rank, 3).world()
            process.add("MODULES", module(10 + rank, "/opt/app/solver", bytes(20)))
            process.add("SITES", site(1 + rank, (10 + rank, 0x500), (10 + rank, 0x900)))
            process.call("MPI_Barrier", 2000, 3000 + rank, site=1 + rank)
            ranks.append(process)
        ranks[2].call("MPI_Barrier", 4000, 4001)
        doc = self.report(b.write(self.path("job.mpiw"), *ranks))["sites"]
        self.assertEqual(doc["total"], 2)
        self.assertEqual((doc["listed"][0]["processes"], doc["listed"][0]["calls"]), (3, 3))
        self.assertEqual(doc["listed"][0]["max_rank"], 2)
        self.assertEqual(doc["listed"][1]["frames"], [])


if __name__ == "__main__":
    if not have("gcc", "objdump", "readelf", "nm", "strip"):
        print("skipped: a C compiler and binutils are needed")
        sys.exit(77)
    main()
