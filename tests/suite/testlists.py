# SPDX-License-Identifier: BSD-3-Clause
#
# The programs of a test suite that is built in a folder, as its testlist files name them: a line is
# a folder to go into, or "PROGRAM RANKS KEY=VALUE ...". Lists that configuring wrote lie in the build
# folder, the others in that of the sources.
"""Reads testlist files."""

import os
import re


class Entry:
    """A line of a list: one run of a program. `key` names it."""

    def __init__(self, folder, words):
        self.folder, self.program = os.path.split(os.path.join(folder, words[0]))
        has_ranks = len(words) > 1 and words[1].isdigit()
        self.ranks = int(words[1]) if has_ranks else 2
        self.arguments, self.environment, self.launcher = [], {}, []
        self.result, self.limit, self.memory, self.to_fail = "", None, 0, False
        for word in words[1:]:
            name, equals, value = word.partition("=")
            if not equals:
                continue
            if name == "arg":
                self.arguments.append(value)
            elif name == "env":
                variable, _, content = value.partition("=")
                self.environment[variable] = content
            elif name == "mpiexecarg":
                self.launcher.append(value)
            elif name == "resultTest":
                self.result = value
            elif name == "timeLimit":
                self.limit = int(value)
            elif name == "xfail":
                self.to_fail = True
            elif name == "mem":
                self.memory = float(value)
        settings = ["%s=%s" % pair for pair in self.environment.items()]
        self.key = " ".join(
            [os.path.join(self.folder, self.program), str(self.ranks)] + self.arguments + settings
        )

    @property
    def top(self):
        return self.folder.split(os.sep)[0]

    def path(self, build):
        return os.path.join(build, self.folder, self.program)


def source_of(build):
    """Where the sources of the suite in `build` are: its Makefile knows."""
    try:
        with open(os.path.join(build, "Makefile")) as file:
            found = re.search(r"^abs_top_srcdir *= *(.+)$", file.read(), re.M)
    except OSError:
        found = None
    return found.group(1).strip() if found else build


def _lines(build, source, folder):
    for place in (build, source):
        path = os.path.join(place, folder, "testlist")
        if os.path.exists(path) and os.path.getsize(path):
            with open(path, errors="replace") as file:
                return [line.split("#")[0].split() for line in file]
    return []


def entries(build, folder=""):
    """Yields the entries of a folder's list and of those below, each once."""
    source, seen = source_of(build), set()

    def walk(here):
        for words in _lines(build, source, here):
            if not words or words[0].startswith("!"):  # "!folder:target": a list to be made
                continue
            below = os.path.join(here, words[0])
            if os.path.isdir(os.path.join(source, below)) and not os.path.isfile(
                os.path.join(build, below)
            ):
                yield from walk(below)
                continue
            entry = Entry(here, words)
            if entry.key not in seen:
                seen.add(entry.key)
                yield entry

    yield from walk(folder)
