# SPDX-License-Identifier: BSD-3-Clause
#
# Two stacks on real MPIs, compared: a provider of libfabric that works and one that fails, which are two
# builds of the same library. What changed must be named, and what did it.
"""Comparisons of real runs."""

import json
import os
import subprocess

import fabric
from harness import STUBS, check, command, main, mpi_test, same, setting
from mpi import build_folder, patient

SIZES = ["8x200", "65536x100"]
FAILS = """__attribute__((constructor)) static void fail(void) { setenv("FAKE_FAIL", "enable", 0); }
"""


def provider(folder, fails):
    """A build of the provider that works, or one that does not: (folder for FI_PROVIDER_PATH, build-id)."""
    fabric.need_headers()
    place = os.path.join(folder, "fails" if fails else "works")
    os.mkdir(place)
    state = os.path.join(place, "state.c")
    with open(state, "w") as file:
        file.write("#include <stdlib.h>\n" + (FAILS if fails else "int mw_works;\n"))
    library = os.path.join(place, "libcxi-fi.so")
    subprocess.run(["gcc", "-g", "-O1", "-shared", "-fPIC", "-Wl,--build-id",
                    os.path.join(STUBS, "fabric", "cxi.c"), state, "-o", library, "-lfabric", "-ldl"], check=True)
    notes = subprocess.run(["readelf", "-n", library], stdout=subprocess.PIPE, check=True).stdout.decode()
    return place, notes.split("Build ID:")[1].split()[0]


def run_over(mpi, folder, name, providers, argv):
    line = ["env", "LD_PRELOAD=%s" % mpi.library()] + [str(part) for part in argv]
    env = dict(fabric.over_cxi(), FI_PROVIDER_PATH=providers, MPIWATCH_OUT=os.path.join(folder, name))
    patient(mpi, env, lambda limit: command(mpi.launch(2, line), folder, env=env, timeout=limit or 90),
            env["MPIWATCH_OUT"]).expect(0)
    return env["MPIWATCH_OUT"]


def compare(folder, code, *arguments):
    """What compare says, as text and as JSON, after it ended with this code."""
    line = [setting("MW_CLI"), "compare"] + list(arguments)
    text = command(line, folder).expect(code).stdout
    document = json.loads(command(line[:2] + ["--format", "json"] + line[2:], folder).expect(code).stdout)
    same(document["exit_code"], code, "exit code in the document")
    return text, document


@mpi_test(only="openmpi")
def the_stack_that_regressed(mpi, folder):
    """C2: exit 1, the change of transport on each pair first, then the provider's library by path and
    build-id before all else; the other way round it is no regression."""
    program = mpi.build("pairs.c")
    works, good_id = provider(folder, fails=False)
    fails, bad_id = provider(folder, fails=True)
    check(good_id != bad_id, "both builds are one")
    good = run_over(mpi, folder, "good.mpiw", works, [program] + SIZES)
    bad = run_over(mpi, folder, "bad.mpiw", fails, [program] + SIZES)
    text, document = compare(folder, 1, good, bad)
    same(document["verdict"], "regression", "verdict")
    print("\n".join("# " + line for line in text.splitlines()))
    print("# " + json.dumps(document, indent=1)[:6000].replace("\n", "\n# "))
    compare(folder, 0, "--only=transports", bad, good)


main()
