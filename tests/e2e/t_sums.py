# SPDX-License-Identifier: BSD-3-Clause
#
# Sums instead of events: whatever reduces detail, and whenever, every count and amount of the report and of the
# matrices is the same, and a trace stays within its budget.
"""Budget, summary mode, MPI_Pcontrol."""

import json
import os

from harness import check, command, main, mpi_test, same, setting
from matrices import by_command
from trace import Trace

ROUNDS = 40
OBJECTS = 1500
# settings, mode of the program, reason that the report gives
REDUCED = (
    ({"MPIWATCH_MODE": "summary"}, "plain", "summary"),
    ({"MPIWATCH_BUDGET": "4K"}, "plain", "budget"),
    ({}, "toggle", "MPI_Pcontrol"),
    ({"MPIWATCH_BUDGET": "4K"}, "toggle", "budget"),
)


def report(path, folder):
    job = command([setting("MW_CLI"), "report", "-f", "json", "-n", "100000", path], folder)
    return json.loads(job.expect(0).stdout)


def timeless(value):
    """Without what depends on time or on who was the slowest."""
    if isinstance(value, dict):
        return {
            key: timeless(entry)
            for key, entry in value.items()
            if not key.endswith("_s") and key not in ("share", "mpi_share", "max_rank", "pid", "last_call")
        }
    if isinstance(value, list):
        return [timeless(entry) for entry in value]
    return value


def figures(told):
    """What must not depend on detail, with lists in an order that does not."""
    messages = dict(told["messages"])
    listed = sorted(messages.pop("listed"), key=lambda pair: (pair["src"], pair["dst"]))
    for pair in listed:
        for name in [name for name in pair if "half" in name or "rate" in name]:
            del pair[name]
    return timeless(
        {
            "calls": {call["function"]: call for call in told["calls"]},
            "sites": sorted(told["sites"]["listed"], key=lambda site: json.dumps(site["frames"])),
            "regions": sorted(told["regions"]["listed"], key=lambda entry: entry["region"]),
            "sizes": told["sizes"],
            "messages": messages,
            "pairs": listed,
            "communicators": {
                entry["communicator"]: entry for entry in told["communicators"]["listed"]
            },
            "ranks": [
                {key: entry for key, entry in rank.items() if key != "reduced_from_s"}
                for rank in told["ranks"]
            ],
        }
    )


def difference(wanted, found, where=""):
    if type(wanted) is not type(found):
        return ["%s: %r, not %r" % (where, found, wanted)]
    if isinstance(wanted, dict):
        return [
            line
            for key in sorted(set(wanted) | set(found))
            for line in difference(wanted.get(key), found.get(key), "%s/%s" % (where, key))
        ]
    if isinstance(wanted, list) and len(wanted) == len(found):
        return [
            line
            for index, pair in enumerate(zip(wanted, found))
            for line in difference(*pair, "%s/%d" % (where, index))
        ]
    return [] if wanted == found else ["%s: %r, not %r" % (where, found, wanted)]


@mpi_test
def all_figures_are_the_same(mpi, folder):
    program = mpi.build("sums.c")
    job, full = mpi.record(3, [program, "plain", ROUNDS], folder, trace="full.mpiw", timeout=60)
    job.expect(0)
    told = report(full, folder)
    same(told["detail"]["reduced"], [], "reduced without a reason")
    check(told["messages"]["cancelled"] == 3 * ROUNDS, "cancelled: %s" % told["messages"])
    same([entry["region"] for entry in told["regions"]["listed"] if entry["depth"] == 0], ["all rounds"], "regions")
    same({entry["region"] for entry in told["regions"]["listed"]}, {"all rounds", "odd", "even ä"}, "regions")
    wanted = figures(told)
    matrices = [by_command(full, folder, metric) for metric in ("messages", "bytes")]
    for number, (env, mode, why) in enumerate(REDUCED):
        job, path = mpi.record(
            3, [program, mode, ROUNDS], folder, trace="%d.mpiw" % number, env=env, timeout=60
        )
        job.expect(0)
        found = report(path, folder)
        check(
            why in [reason["why"] for reason in found["detail"]["reduced"]],
            "%s %s: %s" % (env, mode, found["detail"]),
        )
        lines = difference(wanted, figures(found))
        check(not lines, "%s %s:\n%s" % (env, mode, "\n".join(lines[:20])))
        for metric, matrix in zip(("messages", "bytes"), matrices):
            same(by_command(path, folder, metric), matrix, "matrix of %s with %s" % (metric, env))
        # what is in pairs is in pairs, and the time of all calls is that of the classes
        time = sum(by_command(path, folder, "time").values())
        check(abs(time - found["messages"]["time_in_pairs_s"]) < 1e-6, "time of pairs: %s" % time)
        text = command([setting("MW_CLI"), "report", path], folder).expect(0).stdout
        check("reduced on ranks 0-2" in text, text)


# What depends on time alone, or on how often the test itself interferes.
VARYING = ("MPI_Win_test", "MPI_Pcontrol")


def object_figures(path, folder):
    """Accesses, files and collectives: all matrices, and what the report says of them."""
    told = report(path, folder)
    found = {
        "one_sided": timeless(told["one_sided"]),
        "files": timeless(told["files"]),
        "sizes": told["sizes"],
        "calls": {
            call["function"]: timeless(call) for call in told["calls"] if call["function"] not in VARYING
        },
    }
    for kind in ("p2p", "rma", "coll", "io"):
        for metric in ("messages", "bytes"):
            job = command(
                [setting("MW_CLI"), "matrix", "-k", kind, "-m", metric, "-f", "csv", path], folder
            )
            found["%s by %s" % (kind, metric)] = sorted(job.expect(0).stdout.splitlines())
    times(told)
    return found


def times(told):
    """Every call's time is in a class, a function and a call site."""
    whole = told["time"]["mpi_s"]
    for name, parts in (
        ("classes", told["time"]["by_class"].values()),
        ("ranks", [rank["time_s"] for rank in told["ranks"]]),
        ("calls", [call["time_s"] for call in told["calls"]]),
        ("sites", [site["time_s"] for site in told["sites"]["listed"]]),
    ):
        found = sum(part or 0 for part in parts)  # null: counted only
        check(abs(found - whole) < 1e-6, "%s: %s, not %s" % (name, found, whole))


@mpi_test(variants=("rma_io.c", "coll_flow.c"))
def windows_files_and_collectives(mpi, folder, source):
    program = mpi.build(source)
    wanted = None
    for number, env in enumerate(
        ({}, {"MPIWATCH_MODE": "summary"}, {"MPIWATCH_BUDGET": "4K"}, {"MWTEST_TOGGLE": "1"})
    ):
        env = dict(
            env,
            MWTEST_EXPECT=os.path.join(folder, "expect"),
            MWTEST_FILE=os.path.join(folder, "data.bin"),
        )
        job, path = mpi.record(4, [program], folder, trace="%d.mpiw" % number, env=env, timeout=120)
        job.expect(0)
        same(job.stdout, "done\n", "output")
        check(bool(report(path, folder)["detail"]["reduced"]) == (number > 0), "reduced: %s" % env)
        found = object_figures(path, folder)
        lines = difference(wanted or found, found)
        check(not lines, "%s:\n%s" % (env, "\n".join(lines[:20])))
        wanted = found


@mpi_test
def a_budget_that_is_used_up_on_the_way(mpi, folder):
    """Much as events, the rest as sums: together what the program did."""
    program = mpi.build("sums.c")
    found, env = [], {}
    for number in range(2):
        job, path = mpi.record(
            2, [program, "plain", 600], folder, trace="%d.mpiw" % number, env=env, timeout=60
        )
        job.expect(0)
        found.append(report(path, folder))
        times(found[-1])
        whole = Trace(path, events=False).rank(1).cost["bytes"]
        env = {"MPIWATCH_BUDGET": str(whole * 3 // 4)}
    reason = found[1]["detail"]["reduced"][0]
    share = reason["calls"] / found[1]["detail"]["calls"]
    check(reason["why"] == "budget" and 0.05 < share < 0.95, "reduced: %s of the calls" % share)
    lines = difference(figures(found[0]), figures(found[1]))
    check(not lines, "\n".join(lines[:20]))


@mpi_test(variants=({"MPIWATCH_MODE": "summary"}, {"MPIWATCH_BUDGET": "100K"}))
def many_threads(mpi, folder, env):
    """Eight at once, then many that come and go: none of their calls is lost or counted twice."""
    program = mpi.build("thread_counts.c", "-lpthread")
    for mode, threads, messages in (("run", 8, 100000), ("come", 300, 50), ("hold", 100, 50)):
        job, path = mpi.record(
            1, [program, mode, threads, messages], folder, trace=mode + ".mpiw", env=env, timeout=120
        )
        job.expect(0)
        told = report(path, folder)
        same(told["health"], [], "health")
        calls = {call["function"]: call for call in told["calls"]}["MPI_Sendrecv"]
        same(calls["calls"], threads * messages, "calls")
        same(calls["counted_calls"], threads * messages, "calls counted")
        left = threads if mode == "hold" else 0
        same(
            by_command(path, folder, "messages"), {(0, 0): float(threads * messages + left)}, "messages"
        )


@mpi_test(variants=(0, 1))
def ordinals_go_on(mpi, folder, reduced):
    """Whether the process is killed with detail or without."""
    calls = 100
    job, path = mpi.record(1, [mpi.build("sums.c"), "parts", reduced, 4 * calls], folder, timeout=60)
    check(job.code != 0, "not killed")
    command([setting("MW_CLI"), "collect", path], folder).expect(0)
    wanted = list(range(calls)) + list(range(2 * calls, (3 if reduced else 4) * calls))
    process = Trace(path).rank(0)
    for kind in ("SEND", "RECV", "COLL"):
        events = [event for call in process.all_calls() for event in call.events if event.kind == kind]
        same([event.ordinal for event in events], wanted, "ordinals of %s" % kind)
    told = report(path, folder)
    same(told["ranks"][0]["calls_missing"], 0, "missing calls")
    for call in told["calls"]:
        if call["function"] in ("MPI_Irecv", "MPI_Send", "MPI_Wait", "MPI_Barrier"):
            same(call["calls"], 4 * calls, call["function"])
    reason = told["detail"]["reduced"][0]
    same(reason["why"], "MPI_Pcontrol", "why")
    same(reason["calls"], 4 * calls * (1 + reduced), "calls without detail")


@mpi_test(only="openmpi")  # a send to itself waits for the receive under MPICH
def sums_survive_a_kill(mpi, folder):
    """Rank by rank, as one that dies takes the others along."""
    program = mpi.build("sums.c")
    wanted = None
    for number, env in enumerate(({}, {"MPIWATCH_MODE": "summary"})):
        job, path = mpi.record(
            1, [program, "kill", ROUNDS], folder, trace="%d.mpiw" % number, env=env, timeout=60
        )
        check(job.code != 0, "not killed")
        command([setting("MW_CLI"), "collect", path], folder).expect(0)
        told = report(path, folder)
        same(told["ranks"][0]["calls_missing"], 0, "missing calls")
        same(told["ranks"][0]["last_call"]["function"], "MPI_Pcontrol", "last call")
        found = figures(told)
        if wanted:
            lines = difference(wanted, found)
            check(not lines, "\n".join(lines[:20]))
        wanted = found


@mpi_test(variants=(400_000, 10_000_000))
def many_calls_stay_within_the_budget(mpi, folder, calls):
    if calls > 10**6 and mpi.name != "openmpi":
        return
    budget = 256 * 1024
    job, path = mpi.record(
        1, [mpi.build("sums.c"), "many", 0, calls], folder, env={"MPIWATCH_BUDGET": "256k"}, timeout=90
    )
    job.expect(0)
    size = sum(os.path.getsize(os.path.join(path, name)) for name in os.listdir(path))
    check(size <= budget, "%d bytes" % size)
    told = report(path, folder)
    by_name = {call["function"]: call for call in told["calls"]}
    for name in ("MPI_Irecv", "MPI_Wait", "MPI_Send", "MPI_Barrier"):
        check(by_name[name]["calls"] >= calls // 4, "%s: %s" % (name, by_name[name]))
        same(by_name[name]["calls"], by_name[name]["counted_calls"], name)
    reason = told["detail"]["reduced"][0]
    same(reason["why"], "budget", "why")
    check(reason["first_s"] > 0, "since when: %s" % reason)
    check(told["trace"]["events"] > 1000, "no detail before the budget was used: %s" % told["trace"])


@mpi_test
def wrong_settings_are_said(mpi, folder):
    for number, (name, value) in enumerate(
        (("MPIWATCH_BUDGET", "12Q"), ("MPIWATCH_BUDGET", "-1"), ("MPIWATCH_BUDGET", "99999999999999G"),
         ("MPIWATCH_MODE", "less"))
    ):
        job, path = mpi.record(
            1, [mpi.build("hello.c")], folder, trace="%d.mpiw" % number, env={name: value}
        )
        job.expect(0)
        told = json.dumps(report(path, folder)["health"])
        check(name in told, "%s=%s: %s" % (name, value, told))


@mpi_test
def what_describes_is_in_the_budget(mpi, folder):
    """Communicators, windows and their names are left out when the budget is used up, no call is."""
    windows = 500
    budget = 320 << 10  # of each of two processes
    job, path = mpi.record(
        2,
        [mpi.build("many_objects.c"), str(OBJECTS), str(OBJECTS), str(windows)],
        folder,
        env={"MPIWATCH_BUDGET": str(budget)},
        timeout=90,
    )
    same(job.expect(0).stdout.strip(), "done", "output")
    size = sum(os.path.getsize(os.path.join(path, name)) for name in os.listdir(path))
    check(size <= 2 * budget, "the trace has %d bytes" % size)
    told = report(path, folder)
    calls = {call["function"]: call["calls"] for call in told["calls"]}
    for name in ("MPI_Comm_dup", "MPI_Comm_free", "MPI_Send", "MPI_Irecv", "MPI_Alltoallv"):
        same(calls[name], 2 * OBJECTS, name)
    for name in ("MPI_Win_create", "MPI_Win_fence", "MPI_Win_free"):
        same(calls[name], 2 * windows, name)
    counted = {call["function"]: call["counted_calls"] for call in told["calls"]}
    same(counted["MPI_Type_free"], 2 * OBJECTS, "MPI_Type_free")
    same(counted["MPI_Comm_set_name"], 2 * OBJECTS, "MPI_Comm_set_name")
    same(by_command(path, folder, "bytes"), {(0, 0): 3 * OBJECTS, (1, 1): 3 * OBJECTS}, "messages")
    same(by_command(path, folder, "bytes", "--kind", "coll"), {(0, 1): OBJECTS, (1, 0): OBJECTS}, "amounts by peer")
    left_out = {note["code"]: note for note in told["health"]}["unlisted"]
    same(left_out["processes"], 2, "who say what was left out")
    check(OBJECTS // 4 < left_out["count"] < 2 * (OBJECTS + windows), "%s" % left_out)


if __name__ == "__main__":
    main()
