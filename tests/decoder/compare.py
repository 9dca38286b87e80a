#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads traces with both decoders and says where they differ.

    compare.py DUMP_EVENTS TRACE...       each TRACE (folder or file) by itself
"""

import contextlib
import io
import itertools
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import mwdecode  # noqa: E402


def by_python(trace):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        mwdecode.print_trace(mwdecode.Trace([trace]), True)
    return out.getvalue().splitlines()


def by_reader(dump, trace):
    """The lines, or None and the word that says why the trace was refused."""
    result = subprocess.run([dump, trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            timeout=600, check=False)
    if result.returncode == 0 and not result.stderr:
        return result.stdout.decode("ascii").splitlines(), ""
    if result.returncode == 1:
        return None, result.stderr.decode().rsplit(": ", 1)[-1].strip()
    raise RuntimeError(f"{dump} {trace}: status {result.returncode}: {result.stderr.decode()}")


def difference(dump, trace):
    """A description of the first difference, or None."""
    reader, refused = by_reader(dump, trace)
    python = by_python(trace)
    if reader is None:
        usable = [line for line in python if '"record":"process"' in line]
        return f"refused ({refused}), but has {len(usable)} processes" if usable else None
    pairs = itertools.zip_longest(python, reader)
    for number, (mine, theirs) in enumerate(pairs, 1):
        if mine != theirs:
            return f"line {number}:\n  mwdecode.py: {mine}\n  reader:      {theirs}"
    return None


def main(arguments):
    dump, traces = arguments[0], arguments[1:]
    bad = 0
    for trace in traces:
        found = difference(dump, trace)
        if found:
            print(f"{trace}: {found}")
            bad += 1
        else:
            print(f"{trace}: the same")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
