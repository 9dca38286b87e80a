#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Reads mpi.table, whose first lines define the syntax, and hands out plain objects. The generator,
# the tests and the documentation tools all use this module; it prints nothing and writes nothing.
# A mistake in the table is a TableError that names the line. Standard library only, Python 3.6.

import re
import sys

LARGE_VERSION = "4.0"
ATTRIBUTES = ("large", "removed", "handwritten", "optional", "early")
WORDS = ("record", "starts", "prepares", "returns", "differs")

# How a value of a C type reaches us when it is no opaque handle, enum or pointer to either.
PLAIN_TYPES = {
    "int": "int",
    "double": "double",
    "MPI_Fint": "int",
    "MPI_Count": "int64_t",
    "MPI_Offset": "int64_t",
    "MPI_Aint": "intptr_t",
}
PLAIN_POINTERS = ("void *", "const void *", "char *", "const char *", "char **", "char ***")


class TableError(Exception):
    """The table is wrong; the text says where and why."""


class Kind:
    """What a parameter means, and with it its C type in the small and in the large forms."""

    def __init__(self, name, sort, small, large):
        self.name = name
        self.sort = sort  # handle, enum, struct or kind
        self.small = small
        self.large = large

    def c_type(self, large):
        return self.large if large else self.small

    def wrapper_type(self, large):
        c_type = self.c_type(large)
        if self.sort == "handle":
            return "mw_handle"
        if self.sort == "enum":
            return "int"
        if c_type in PLAIN_TYPES:
            return PLAIN_TYPES[c_type]
        return c_type if c_type in PLAIN_POINTERS else "void *"


class Parameter:
    """One parameter of one function: name, kind, and whether it is a pointer to the kind."""

    def __init__(self, name, kind, shape):
        self.name = name
        self.kind = kind
        self.shape = shape  # "", "*" (may be written) or "[]" (only read)

    def c_type(self, large):
        base = self.kind.c_type(large)
        if self.shape == "":
            return base
        pointer = base + ("*" if base.endswith("*") else " *")
        return ("const " if self.shape == "[]" else "") + pointer

    def wrapper_type(self, large):
        if self.shape == "":
            return self.kind.wrapper_type(large)
        pointee = PLAIN_TYPES.get(self.kind.c_type(large), "void")
        return ("const " if self.shape == "[]" else "") + pointee + " *"

    def is_pointer(self):
        return self.shape != "" or self.kind.small.endswith("*")


class Function:
    """One exported function. A large form is a Function of its own that shares its base's lists."""

    def __init__(self, number, name, version, line):
        self.number = number
        self.name = name
        self.version = version
        self.line = line
        self.section = ""
        self.attributes = {}
        self.large = False
        self.parameters = []
        self.returns = None  # None: an error code
        self.mode = ""  # "", "starts" or "prepares"
        self.request = ""
        self.record = ""
        self.arguments = []
        self.differences = []  # (where, parameter name or "returns", C type)

    @property
    def short_name(self):
        return self.name[len("MPI_"):]

    @property
    def is_local(self):
        return self.record == "local"

    @property
    def is_lifecycle(self):
        return self.record in ("init", "init_thread", "finalize", "abort", "session_init",
                               "session_finalize")

    @property
    def is_early(self):
        return "early" in self.attributes

    @property
    def is_handwritten(self):
        return "handwritten" in self.attributes

    @property
    def exports(self):
        return [self.name, "P" + self.name]

    def is_newer_than(self, version):
        return version_key(self.version) > version_key(version)

    def parameter(self, name):
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        return None

    def return_type(self):
        return self.returns.c_type(self.large) if self.returns else "int"

    def return_wrapper_type(self):
        return self.returns.wrapper_type(self.large) if self.returns else "int"

    def c_types(self, where=None):
        """The parameters' C types, the standard's or those of the headers of one "where" line."""
        other = {name: c_type for place, name, c_type in self.differences if place == where}
        return [other.get(p.name, p.c_type(self.large)) for p in self.parameters]

    def c_return_type(self, where=None):
        for place, name, c_type in self.differences:
            if place == where and name == "returns":
                return c_type
        return self.return_type()

    def large_form(self):
        number, _, version = self.attributes["large"].partition("@")
        form = Function(int(number), self.name + "_c", version or LARGE_VERSION, self.line)
        form.large = True
        for field in ("section", "parameters", "returns", "mode", "request", "record", "arguments"):
            setattr(form, field, getattr(self, field))
        return form


class Table:
    """Everything that mpi.table says. functions are sorted by number, large forms included."""

    def __init__(self):
        self.kinds = {}
        self.wheres = {}  # name -> preprocessor condition
        self.excluded = {}  # exported function that is no call of the API -> reason
        self.functions = []

    def function(self, name):
        for function in self.functions:
            if function.name == name:
                return function
        return None

    def next_number(self):
        return max(function.number for function in self.functions) + 1


def version_key(version):
    return tuple(int(part) for part in version.split("."))


class Reader:
    """Builds a Table line by line."""

    def __init__(self, path):
        self.path = path
        self.table = Table()
        self.current = None
        self.number = 0
        self.section = ""

    def fail(self, text):
        raise TableError("%s:%d: %s" % (self.path, self.number, text))

    def read(self, lines):
        for self.number, raw in enumerate(lines, 1):
            if raw.startswith("# ---- "):
                self.section = raw[len("# ---- "):].strip()
            line = raw.split("#", 1)[0].rstrip()
            if not line:
                continue
            if line[0].isspace():
                self.read_detail(line.split())
            elif line.split()[0] in ("kind", "handle", "enum", "struct", "where"):
                self.read_definition(line)
            elif line.startswith("exclude "):
                self.read_exclusion(line)
            else:
                self.read_function(line.split())
        self.finish()
        return self.table

    def read_definition(self, line):
        self.current = None
        head, equals, body = line.partition(" = ")
        words = head.split()
        if not equals or len(words) != 2:
            self.fail("expected: %s NAME = ..." % words[0])
        sort, name = words
        if sort == "where":
            self.table.wheres[name] = body.strip()
            return
        if name in self.table.kinds:
            self.fail("kind %s is defined twice" % name)
        small, bar, large = (part.strip() for part in body.partition("|"))
        self.table.kinds[name] = Kind(name, sort, small, large if bar else small)

    def read_exclusion(self, line):
        self.current = None
        names, colon, reason = line[len("exclude "):].partition(":")
        if not colon:
            self.fail("expected: exclude NAME ...: reason")
        for name in names.split():
            self.table.excluded[name] = reason.strip()

    def read_function(self, words):
        if len(words) < 3 or not re.match(r"[1-9]\d*$", words[0]):
            self.fail("expected: NUMBER MPI_NAME VERSION ...")
        number, name, version = int(words[0]), words[1], words[2]
        if not re.match(r"MPI_[A-Z]\w*$", name) or not re.match(r"\d\.\d$", version):
            self.fail("not a function name and a version: %s %s" % (name, version))
        self.current = Function(number, name, version, self.number)
        self.current.section = self.section
        for word in words[3:]:
            attribute, _, value = word.partition("=")
            if attribute not in ATTRIBUTES:
                self.fail("unknown attribute: " + word)
            self.current.attributes[attribute] = value
        self.table.functions.append(self.current)

    def read_detail(self, words):
        function = self.current
        if function is None:
            self.fail("an indented line outside a function")
        if words[0] not in WORDS:
            if function.record:
                self.fail("parameters come before the other lines")
            for word in words:
                self.read_parameter(word)
            return
        word, rest = words[0], words[1:]
        if word == "differs":
            name, colon, first = rest[1].partition(":") if len(rest) > 1 else ("", "", "")
            if not colon:
                self.fail("expected: differs WHERE name:TYPE")
            function.differences.append((rest[0], name, " ".join([first] + rest[2:])))
        elif not rest or (word != "record" and len(rest) > 1):
            self.fail("wrong number of words after " + word)
        elif word == "returns":
            function.returns = self.kind(rest[0])
        elif word == "record":
            function.record, function.arguments = rest[0], rest[1:]
        else:
            function.mode, function.request = word, rest[0]

    def read_parameter(self, word):
        name, colon, kind = word.partition(":")
        kind = kind if colon else name
        match = re.match(r"([a-z]\w*)(\*|\[\]|)$", kind)
        if not match or not re.match(r"[a-z]\w*$", name):
            self.fail("not a parameter: " + word)
        if self.current.parameter(name):
            self.fail("parameter %s twice" % name)
        parameter = Parameter(name, self.kind(match.group(1)), match.group(2))
        if parameter.kind.sort == "struct" and not parameter.shape:
            self.fail("%s can only be passed by address" % kind)
        self.current.parameters.append(parameter)

    def kind(self, name):
        if name not in self.table.kinds:
            self.fail("unknown kind: " + name)
        return self.table.kinds[name]

    def finish(self):
        functions = self.table.functions
        functions += [f.large_form() for f in functions if "large" in f.attributes]
        numbers, names = {}, {}
        for function in functions:
            self.number = function.line
            for seen, key in ((numbers, function.number), (names, function.name)):
                if key in seen:
                    self.fail("%s is also used in line %d" % (key, seen[key]))
                seen[key] = function.line
            self.check(function)
        functions.sort(key=lambda function: function.number)
        self.check_classes()

    def check(self, function):
        if not function.record:
            self.fail("%s has no record line" % function.name)
        if function.mode:
            request = function.parameter(function.request)
            if request is None or request.kind.name != "request" or request.shape != "*":
                self.fail("%s must name a parameter of kind request*" % function.mode)
        for argument in function.arguments:
            parameter = function.parameter(argument.lstrip("&"))
            if parameter is None and not re.match(r"([A-Z][A-Z0-9_]*|0)$", argument):
                self.fail("not a parameter: " + argument)
            if argument.startswith("&") and not (parameter and parameter.is_pointer()):
                self.fail("not a pointer: " + argument)
        for where, name, _ in function.differences:
            if where not in self.table.wheres:
                self.fail("unknown place: " + where)
            if name != "returns" and function.parameter(name) is None:
                self.fail("not a parameter: " + name)

    def check_classes(self):
        """One handler serves all functions of a class: all argument lists have one length."""
        first = {}
        for function in self.table.functions:
            self.number = function.line
            known = first.setdefault(function.record, function)
            if len(known.arguments) != len(function.arguments):
                self.fail("%s records %d arguments, %s %d" % (
                    function.name, len(function.arguments), known.name, len(known.arguments)))


def read_table(path):
    with open(path, encoding="utf-8") as stream:
        return Reader(path).read(stream)


if __name__ == "__main__":
    try:
        TABLE = read_table(sys.argv[1] if len(sys.argv) > 1 else "mpi.table")
    except (OSError, TableError) as error:
        sys.exit(str(error))
    print("%d functions; the next number is %d" % (len(TABLE.functions), TABLE.next_number()))
