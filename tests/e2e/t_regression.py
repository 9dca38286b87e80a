# SPDX-License-Identifier: BSD-3-Clause
#
# Two stacks on real MPIs, compared and kept in a history: a provider of libfabric that works and one that fails,
# which are two builds of the same library. What changed must be named, and what did it.
"""Comparisons and histories of real runs."""

import json
import os
import subprocess

import fabric
from harness import STUBS, Job, check, command, main, mpi_test, same, setting
from mpi import build_folder, patient

SIZES = ["8x200", "65536x100"]
FAILS = """__attribute__((constructor)) static void fail(void) { setenv("FAKE_FAIL", "enable", 0); }
"""


def provider(place, fails):
    """Builds the provider in a folder for FI_PROVIDER_PATH; returns its path and its build-id."""
    fabric.need_headers()
    os.makedirs(place, exist_ok=True)
    state = os.path.join(place, "state.c")
    with open(state, "w") as file:
        file.write("#include <stdlib.h>\n" + (FAILS if fails else "int mw_works;\n"))
    library = os.path.join(place, "libcxi-fi.so")
    subprocess.run(["gcc", "-g", "-O1", "-shared", "-fPIC", "-Wl,--build-id",
                    os.path.join(STUBS, "fabric", "cxi.c"), state, "-o", library, "-lfabric", "-ldl"], check=True)
    notes = subprocess.run(["readelf", "-n", library], stdout=subprocess.PIPE, check=True).stdout.decode()
    return library, notes.split("Build ID:")[1].split()[0]


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


@mpi_test(only="openmpi", variants=("in its place", "in another place"))
def the_stack_that_regressed(mpi, folder, variant):
    """C2: exit 1, the change of transport on each pair first, then the provider's library by path and
    build-id before all else; the other way round it is no regression."""
    program = mpi.build("pairs.c")
    first = os.path.join(folder, "providers")
    second = first if variant == "in its place" else os.path.join(folder, "other")
    works = provider(first, fails=False)
    good = run_over(mpi, folder, "good.mpiw", first, [program] + SIZES)
    fails = provider(second, fails=True)
    bad = run_over(mpi, folder, "bad.mpiw", second, [program] + SIZES)
    check(works[1] != fails[1], "both builds are one")

    text, document = compare(folder, 1, good, bad)
    same(document["verdict"], "regression", "verdict")
    change = document["identity"][0]
    same((change["kind"], change["base"].split()[0], change["new"].split()[0], change["worse"]),
         ("transport", "cxi", "tcp", True), "the first change")
    same([(pair["src"], pair["dst"]) for pair in change["listed"]], [(0, 1), (1, 0)], "its pairs")
    suspect = document["suspects"]["listed"][0]
    same((suspect["kind"], suspect["name"]), ("library", "libcxi-fi.so"), "the first suspect")
    for (path, build_id), side in ((works, "base"), (fails, "new")):
        check(build_id in suspect[side] and path in suspect[side + "_detail"],
              "%s: %s" % (side, suspect))
    if variant == "in its place":
        same(document["suspects"]["total"], 1, "suspects in %s" % document["suspects"])
    check(text.index("transport: cxi") < text.index("libcxi-fi.so"), "the order of\n" + text)

    # what the "card" gives is no faster than tcp, over which it goes: ways alone
    same(compare(folder, 0, "--only=transports", bad, good)[1]["verdict"], "no regression", "the other way round")


def history(folder, *arguments):
    return command([setting("MW_CLI"), "history"] + list(arguments), folder).expect(0).stdout


def added_at_once(folder, file, *sides):
    """Each side's runs by a writer of its own, the writers together."""
    writers = [Job([setting("MW_CLI"), "history", "add", file, "--tag", "side=%s" % name] + traces, folder)
               for name, traces in sides]
    for writer in writers:
        writer.wait().expect(0)


@mpi_test(only="openmpi")
def a_history_of_two_stacks(mpi, folder):
    """Runs with both providers, added by two writers at once: none is lost, the first run with the other provider
    is known by its transport and its library, and the pages say so."""
    program, file = mpi.build("pairs.c"), os.path.join(folder, "runs.db")
    providers = os.path.join(folder, "providers")
    traces, build_ids = {}, {}
    for side in ("works", "fails"):
        build_ids[side] = provider(providers, fails=side == "fails")[1]
        traces[side] = [run_over(mpi, folder, "%s%d.mpiw" % (side, number), providers, [program] + SIZES)
                        for number in range(3)]
    added_at_once(folder, file, *traces.items())
    runs = json.loads(history(folder, "list", file, "-f", "json"))["runs"]
    same(sorted((run["tags"]["side"], os.path.basename(run["path"])) for run in runs),
         sorted((side, os.path.basename(trace)) for side in traces for trace in traces[side]), "runs")
    same(len({run["benchmark"] for run in runs}), 1, "benchmarks")
    same(len({(run["stack"], run["tags"]["side"]) for run in runs}), 2, "stacks")
    check(all(run["in_trends"] for run in runs), "not in trends: %s" % runs)

    first = [run for run in runs if run["tags"]["side"] == "fails"][0]
    shown = json.loads(history(folder, "show", file, str(first["id"]), "-f", "json"))["difference"]
    change, suspect = shown["identity"][0], shown["suspects"]["listed"][0]
    same((change["kind"], change["base"].split()[0], change["new"].split()[0]), ("layer", "cxi", "tcp"), "the change")
    same(suspect["name"], "libcxi-fi.so", "the first suspect")
    check(build_ids["works"] in suspect["base"] and build_ids["fails"] in suspect["new"], "build-ids: %s" % suspect)
    check("libcxi-fi.so" in history(folder, "show", file, str(first["id"])), "no library in the text")

    history(folder, "html", file, "-o", os.path.join(folder, "site"))
    pages = os.listdir(os.path.join(folder, "site"))
    same(len([page for page in pages if page.startswith("run-") and page.endswith(".html")]), 6, "pages of runs")
    (page,) = [page for page in pages if page.startswith("benchmark-") and page.endswith(".html")]
    with open(os.path.join(folder, "site", page)) as text:
        check("libcxi-fi.so" in text.read(), "the page of the benchmark does not name the library")


main()
