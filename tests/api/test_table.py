#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Unit tests of the table's reader and of the generator: mistakes in a table are refused with their
# line, numbers never change, the export lists hold what they should. Needs no MPI and no compiler.

import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
API = os.path.join(HERE, "..", "..", "interpose", "api")
sys.dont_write_bytecode = True
sys.path.insert(0, API)
sys.path.insert(0, HERE)

import generate  # noqa: E402
import mpi_facts  # noqa: E402
import table as mpi_table  # noqa: E402

KINDS = """\
handle comm = MPI_Comm
handle request = MPI_Request
struct status = MPI_Status
kind count = int | MPI_Count
kind buffer = void *
kind rank = int
where old = OLD
"""
SEND = """\
7 MPI_Send 1.0 large=8
    buf:buffer count dest:rank comm
    record send count dest comm
"""


def read(text):
    """The table that KINDS and the text make."""
    return mpi_table.Reader("t").read((KINDS + text).splitlines())


class Syntax(unittest.TestCase):
    def refused(self, text, line, words):
        """The text is refused, for a mistake in its line number `line` (of the text, from 1)."""
        with self.assertRaises(mpi_table.TableError) as caught:
            read(text)
        message = str(caught.exception)
        expected = "t:%d: " % (line + KINDS.count("\n"))
        self.assertTrue(message.startswith(expected), message)
        self.assertIn(words, message)

    def test_block(self):
        table = read(SEND)
        send, large = table.functions
        self.assertEqual((send.number, send.name, send.version), (7, "MPI_Send", "1.0"))
        self.assertEqual(send.c_types(), ["void *", "int", "int", "MPI_Comm"])
        self.assertEqual((large.number, large.name, large.version), (8, "MPI_Send_c", "4.0"))
        self.assertEqual(large.c_types(), ["void *", "MPI_Count", "int", "MPI_Comm"])
        self.assertEqual(large.arguments, ["count", "dest", "comm"])

    def test_pointers(self):
        table = read("1 MPI_X 1.0\n    a:comm* b:comm[] c:count* d:count[] e:status[]\n"
                     "    record local\n")
        function = table.function("MPI_X")
        self.assertEqual(function.c_types(), ["MPI_Comm *", "const MPI_Comm *", "int *",
                                              "const int *", "const MPI_Status *"])
        self.assertEqual([p.wrapper_type(True) for p in function.parameters],
                         ["void *", "const void *", "int64_t *", "const int64_t *", "const void *"])

    def test_difference_of_a_header(self):
        table = read(SEND.rstrip() + "\n    differs old dest:unsigned int\n")
        send = table.function("MPI_Send")
        self.assertEqual(send.c_types("old")[2], "unsigned int")
        self.assertEqual(send.c_types()[2], "int")

    def test_later_version_of_a_large_form(self):
        table = read(SEND.replace("large=8", "large=8@4.1"))
        self.assertEqual(table.function("MPI_Send_c").version, "4.1")

    def test_mistakes(self):
        self.refused(SEND + "7 MPI_Other 1.0\n    record local\n", 4, "7 is also")
        self.refused(SEND + "9 MPI_Send_c 4.0\n    record local\n", 1, "MPI_Send_c is also")
        self.refused("0 MPI_Send 1.0\n    record local\n", 1, "NUMBER")
        self.refused("7 Send 1.0\n    record local\n", 1, "not a function name")
        self.refused("7 MPI_Send 1.0 huge=8\n    record local\n", 1, "unknown attribute")
        self.refused("7 MPI_Send 1.0\n    comm\n", 1, "no record line")
        self.refused("7 MPI_Send 1.0\n    com\n    record local\n", 2, "unknown kind: com")
        self.refused("7 MPI_Send 1.0\n    comm comm\n    record local\n", 2, "twice")
        self.refused("7 MPI_Send 1.0\n    status\n    record local\n", 2, "by address")
        self.refused("7 MPI_Send 1.0\n    record local\n    comm\n", 3, "before the other lines")
        self.refused("7 MPI_Send 1.0\n    comm\n    record call con\n", 1, "not a parameter: con")
        self.refused("7 MPI_Send 1.0\n    comm\n    record call &comm\n", 1, "not a pointer")
        self.refused("7 MPI_Send 1.0\n    request\n    starts request\n    record call 0\n", 1,
                     "request*")
        self.refused("7 MPI_Send 1.0\n    record\n", 2, "number of words")
        self.refused("7 MPI_Send 1.0\n    record local\n    differs new comm:int\n", 1,
                     "place: new")
        self.refused("    comm\n", 1, "outside a function")
        self.refused("kind count = long\n", 1, "defined twice")
        self.refused("kind count\n", 1, "expected: kind NAME")
        self.refused("exclude MPI_DUP_FN\n", 1, "reason")

    def test_one_class_has_one_list(self):
        self.refused(SEND + "9 MPI_Bsend 1.0\n    count comm\n    record send count comm\n", 4,
                     "MPI_Bsend records 2 arguments, MPI_Send 3")


class RealTable(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.table = mpi_table.read_table(os.path.join(API, "mpi.table"))

    def test_numbers_are_permanent(self):
        """Traces store the numbers. numbers.txt is only ever appended to."""
        with open(os.path.join(HERE, "numbers.txt"), encoding="utf-8") as stream:
            lines = [line.split() for line in stream if not line.startswith("#")]
        known = {name: int(number) for number, name in lines}
        real = {function.name: function.number for function in self.table.functions}
        self.assertEqual(len(set(known.values())), len(lines), "a number twice in numbers.txt")
        for name, number in known.items():
            self.assertEqual(real.get(name), number, name)
        self.assertEqual(set(real) - set(known), set(), "append these to numbers.txt")

    def test_frequent_calls_take_one_byte(self):
        for function in self.table.functions:
            if function.record in ("wait", "test", "barrier", "bcast") and not function.mode:
                if not function.large:
                    self.assertLess(function.number, 128, function.name)

    def test_every_nonblocking_call_has_a_mode(self):
        """A request that MPI makes and the recorder does not hear of could never be joined."""
        for function in self.table.functions:
            made = function.name.startswith(("MPI_I", "MPI_R", "MPI_File_i")) or \
                "_init" in function.name
            request = function.parameter("request")
            if made and request is not None and request.shape == "*" and not function.is_local:
                if function.record not in ("request_free",):
                    self.assertIn(function.mode, ("starts", "prepares"), function.name)

    def test_flags(self):
        flags = {f.short_name: generate.function_flags(f) for f in self.table.functions}
        self.assertEqual(flags["Send"], 0)
        self.assertEqual(flags["Comm_rank"], generate.FLAG_LOCAL)
        self.assertEqual(flags["Init_thread"], generate.FLAG_LIFECYCLE | generate.FLAG_EARLY)
        self.assertEqual(flags["Initialized"], generate.FLAG_LOCAL | generate.FLAG_EARLY)
        self.assertEqual(flags["Send_c"], generate.FLAG_NEW)
        self.assertEqual(flags["Session_init"],
                         generate.FLAG_LIFECYCLE | generate.FLAG_NEW | generate.FLAG_EARLY)


class Outputs(unittest.TestCase):
    def generate(self, *options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        subprocess.run([sys.executable, "-B", os.path.join(API, "generate.py"), "--table",
                        os.path.join(API, "mpi.table"), "--out", folder.name] + list(options),
                       check=True, timeout=60)
        texts = {}
        for name in os.listdir(folder.name):
            with open(os.path.join(folder.name, name), encoding="utf-8") as stream:
                texts[name] = stream.read()
        return texts

    def test_export_lists(self):
        texts = self.generate()
        exported = {name: set(re.findall(r"^        (P?MPI_\w+);$", texts[name], re.M))
                    for name in ("libmpiwatch.map", "libmpiwatch-mpi4.map", "libmpiwatch-mpi3.map")}
        full, old = exported["libmpiwatch.map"], exported["libmpiwatch-mpi3.map"]
        middle = exported["libmpiwatch-mpi4.map"]
        self.assertTrue(old < middle < full)
        self.assertTrue({"MPI_Isendrecv", "PMPI_Session_init", "MPI_Psend_init"} <= middle)
        self.assertEqual([name for name in middle if name.endswith("_c") or "_T_event" in name], [])
        self.assertNotIn("MPI_Buffer_flush", middle)
        self.assertTrue({"MPI_Send_c", "PMPI_Send_c", "MPI_Session_init", "MPI_Pcontrol"} <= full)
        self.assertTrue({"MPI_Send", "PMPI_Send", "MPI_Address"} <= old)
        self.assertTrue(old < full)
        self.assertEqual([name for name in old if name.endswith("_c")], [])
        self.assertEqual([name for name in old if "_Session_" in name], [])
        self.assertNotIn("MPI_Aint_add", old)
        defined = set()
        for part in range(generate.WRAPPER_FILES):
            defined |= set(re.findall(r"^\w+ \*?(P?MPI_\w+)\(", texts["mpi_wrappers_%d.c" % part],
                                      re.M))
        self.assertEqual(full - defined, {"MPI_Pcontrol", "PMPI_Pcontrol"})
        self.assertEqual(defined - full, set())

    def test_one_output_and_appended_nodes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = mpi_facts.write(folder, "node", "FABRIC_1.0 { global: fi_getinfo; };\n")
            texts = self.generate("--what", "libmpiwatch.map", "--append-map", path,
                                  "--append-map", path)
        self.assertEqual(list(texts), ["libmpiwatch.map"])
        self.assertEqual(texts["libmpiwatch.map"].count("FABRIC_1.0"), 2)

    def test_same_input_same_output(self):
        self.assertEqual(self.generate(), self.generate())


class HeaderReader(unittest.TestCase):
    """The check of an MPI is only as good as what it finds in the header."""

    def test_declarations(self):
        text = """
# 1 "mpi.h"
typedef int (MPI_Copy_function)(MPI_Comm, int);
typedef struct MPI_Status { int MPI_SOURCE; int MPI_TAG; } MPI_Status;
struct s { int (*MPI_In_a_struct)(void); };
extern int (*MPI_Pointer)(int);
int MPI_Send(const void *buf, int (*f)(MPI_Comm comm))
    __attribute__((visibility("default")));
__attribute__((visibility("default"))) int PMPI_Send(const void *buf);
static inline int helper(void) { return MPI_Not_declared(1); }
MPI_Comm MPI_Comm_f2c(MPI_Fint comm);
double MPI_Wtime(void), MPIX_Other(void);
"""
        self.assertEqual(mpi_facts.declared_in(text),
                         {"MPI_Send", "PMPI_Send", "MPI_Comm_f2c", "MPI_Wtime"})

    def test_exports(self):
        text = """
0000000000026190 T PMPI_Send@@NODE
0000000000026190 W MPI_Send
0000000000000010 D MPI_F_STATUS_IGNORE
0000000000000010 T MPIX_Comm_agree
0000000000000010 T mpi_send_
"""
        self.assertEqual(mpi_facts.exported_in(text), {"MPI_Send", "PMPI_Send"})


if __name__ == "__main__":
    unittest.main()
