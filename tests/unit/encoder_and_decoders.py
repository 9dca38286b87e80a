#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the encoder writes is read alike by the reader and by the decoder that knows the norm alone.

    encoder_and_decoders.py WRITE_TRACE DUMP_EVENTS COMPARE
"""

import os
import subprocess
import sys
import tempfile

try:
    import xxhash  # noqa: F401
    import zstandard  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

WRITE, DUMP, COMPARE = sys.argv[1:]
EVENTS = 2 * 20000

with tempfile.TemporaryDirectory() as folder:
    for seed in ("1", "2"):
        trace = os.path.join(folder, "node.mpiw")
        subprocess.run([WRITE, trace, seed], check=True)
        dump = subprocess.run([DUMP, trace], check=True, stdout=subprocess.PIPE).stdout
        if dump.count(b"\n") < EVENTS / 2:  # parts share the line of their call
            sys.exit(f"{trace}: too few lines to compare")
        if b'"record":"damage"' in dump:
            sys.exit("the reader found damage in what the encoder wrote")
        subprocess.run([sys.executable, "-B", COMPARE, DUMP, trace], check=True)
