# SPDX-License-Identifier: BSD-3-Clause
#
# Sums instead of events: whatever reduces detail, and whenever, every count and amount of the report and of the
# matrices is the same, and a trace stays within its budget.
"""Budget, summary mode, MPI_Pcontrol."""

import json
import os

from harness import check, command, main, mpi_test, same, setting
from matrices import by_command

ROUNDS = 40
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


if __name__ == "__main__":
    main()
