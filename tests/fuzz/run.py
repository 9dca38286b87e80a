#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the corpus of a fuzz target from the golden traces and runs it for some seconds.

    run.py TARGET PROGRAM libfuzzer|standalone

MPIWATCH_FUZZ_SECONDS: how long (12: five targets make the minute of the usual test run).
MPIWATCH_FUZZ_SEED: where chance begins. Inputs that once made trouble are in regressions/TARGET.
MPIWATCH_FUZZ_CORPUS: a folder of further traces, for long runs; its small files join the corpus.
"""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "decoder"))
# pylint: disable=wrong-import-position
import mwformat  # noqa: E402
from mwrandom import Random  # noqa: E402

GOLDEN = os.path.join(HERE, "..", "golden", "v1")
EVENTS = 9
LARGEST = 1 << 16  # an input


def trace_files(root):
    for folder, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(".mpiw") and os.path.getsize(path) <= LARGEST:
                with open(path, "rb") as handle:
                    yield handle.read()


def random_files():
    for seed in range(40):
        yield b"".join(Random(seed).trace())


def chunks(file):
    return mwformat.chunks(file, lambda *_: None)


def plain(header, payload):
    """The payload as it was before compression; of events, with the content after the head."""
    try:
        if header.type == EVENTS:
            chunk = mwformat.EventChunk(payload)
            head = payload[:len(payload) - len(chunk.frame)]
            return head + mwformat.decompress_beginning(chunk.frame)
        return mwformat.content(header, payload)
    except mwformat.Malformed:
        return payload


def files(target):
    """The corpus of a target."""
    real = trace_files(os.environ.get("MPIWATCH_FUZZ_CORPUS", ""))
    for file in [*trace_files(GOLDEN), *random_files(), *real]:
        if target == "file":
            yield file
            continue
        records = b""
        for header, payload in chunks(file):
            content = plain(header, payload)[:0xFFFF]
            if target == "fields" and header.type != EVENTS:
                yield content
            elif target == "events" and header.type == EVENTS:
                yield content
                yield payload
            elif target == "chunks":
                how = header.process & 7 | (header.flags & 1) << 3
                records += bytes((header.type & 0xFF, how)) + len(content).to_bytes(2, "little")
                records += content
        if target == "chunks":
            yield records


def residue_files():
    """Changes to a mapping at the places that matter: header, threads, rings."""
    yield b"\0"
    yield b"\1"
    places = list(range(0, 200, 8)) + list(range(1200, 1400, 8)) + list(range(16384, 16500, 8))
    for place in places:
        for value in (b"\xff" * 8, b"\0" * 8, b"\x01\x40" + b"\0" * 6):
            yield b"\0" + place.to_bytes(3, "little") + b"\x08" + value


def main(target, program, kind):
    program = os.path.abspath(program)
    seconds = os.environ.get("MPIWATCH_FUZZ_SECONDS", "12")
    seed = os.environ.get("MPIWATCH_FUZZ_SEED", "1")
    environment = dict(os.environ, MPIWATCH_FUZZ_TARGET=target,
                       ASAN_OPTIONS="allocator_may_return_null=1:detect_leaks=1",
                       UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1")
    with tempfile.TemporaryDirectory() as folder:
        corpus = os.path.join(folder, "corpus")
        os.mkdir(corpus)
        known = residue_files() if target == "residue" else files(target)
        for number, content in enumerate(known):
            with open(os.path.join(corpus, f"{number:05}"), "wb") as handle:
                handle.write(content)
        folders = [corpus]
        regressions = os.path.join(HERE, "regressions", target)
        if os.path.isdir(regressions):
            folders.append(regressions)
        if kind == "libfuzzer":
            command = [program, f"-max_total_time={seconds}", f"-seed={seed}", "-timeout=20",
                       "-rss_limit_mb=3000", f"-max_len={LARGEST}", "-print_final_stats=1",
                       *folders]
        else:
            command = [program, seconds, seed, *folders]
        status = subprocess.run(command, cwd=folder, env=environment, check=False).returncode
        if status:
            save(folder, target)
        return status


def save(folder, target):
    """What made the trouble, as text, so that it survives this folder."""
    for name in sorted(os.listdir(folder)):
        if name.startswith(("crash-", "leak-", "timeout-", "oom-", "slow-unit-")):
            with open(os.path.join(folder, name), "rb") as handle:
                print(f"{name}: put these bytes into tests/fuzz/regressions/{target}/:")
                print(handle.read().hex())


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
