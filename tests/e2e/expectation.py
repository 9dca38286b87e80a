# SPDX-License-Identifier: BSD-3-Clause
#
# Compares what the test programs wrote down (programs/expect.h) with what a trace holds, call by
# call. Free are only the things that MPI leaves free: how a Waitsome splits its completions, how
# often a poll fails.
"""Expected records against recorded ones."""

import re

from harness import Failure, check

# Nobody promises how many of these a program makes.
POLLING = {
    "MPI_Test",
    "MPI_Testany",
    "MPI_Testsome",
    "MPI_Testall",
    "MPI_Iprobe",
    "MPI_Improbe",
    "MPI_Waitsome",
    "MPI_Request_get_status",
    "MPI_Win_test",
}


def parse(line):
    """(function, repetitions, expected effects, words) of an expectation."""
    head, *effects = line.split(" | ")
    words = head.split()
    repeat = next((word[1:] for word in words[1:] if word.startswith("*")), "1")
    return (
        words[0],
        repeat,
        [parse_effect(text) for text in effects],
        set(words[1:]) - {"*" + repeat},
    )


def parse_effect(text):
    kind, *rest = text.split()
    effect = {"kind": kind, "flags": set()}
    for word in rest:
        match = re.match(r"(\w+)(!?=)(.*)$", word)
        if not match:
            effect["flags"].add(word)
        elif match.group(1) == "any":
            effect["flags"].add("any_" + match.group(3).lower())
        elif match.group(1) == "mode":
            effect["flags"].add(match.group(3).lower())
        elif match.group(1) == "in":
            effect["in"] = int(match.group(3))
            effect["status"] = match.group(2) == "!="
        elif match.group(1) in ("of", "comm"):
            effect[match.group(1)] = match.group(3)
        else:
            effect[match.group(1)] = int(match.group(3))
    return effect


FLAGS = {
    "any_source",
    "any_tag",
    "sync",
    "buffered",
    "ready",
    "request",
    "persistent",
    "cancelled",
    "freed",
    "matched",
    "nested",
    "collective",
}


def seen_object(process, event):
    """The same of a call on a window or a file."""
    flags = {flag for flag in event.flags if flag in FLAGS | {"status"}}
    effect = {"kind": event.kind, "flags": flags, "comm": process.comm_word(event.comm)}
    effect["status"] = False
    if event.kind in ("RMA", "EPOCH"):
        effect.update(peer=event.peer, window=event.tag)
        effect.update({"out": event.bytes, "in": event.bytes_in} if event.kind == "RMA" else {})
    else:
        effect.update(file=event.tag)
        effect.update({} if event.kind == "FILE" else {"bytes": event.bytes})
        effect.update({} if event.offset is None else {"offset": event.offset})
    return effect


def seen_effect(process, event):
    """The same form for a recorded event; None for a plain call."""
    if event.kind in ("RMA", "EPOCH", "READ", "WRITE", "FILE"):
        return seen_object(process, event)
    if event.kind not in ("SEND", "RECV", "DONE", "COLL"):
        return None
    flags = {flag for flag in event.flags if flag in FLAGS}
    effect = {"kind": event.kind, "flags": flags, "peer": event.peer, "tag": event.tag}
    if event.kind == "DONE":
        flags.discard("request")
        start = process.started(event)
        if start is None:
            raise Failure("a completion without a start: %s" % (event,))
        effect["of"] = start.function
        if start.kind in ("COLL", "CALL", "RMA", "READ", "WRITE"):
            del effect["peer"], effect["tag"]
            flags.discard("persistent")
        elif "matched" not in event.flags:
            effect["peer"], effect["tag"] = start.peer, start.tag
    else:
        effect["comm"] = process.comm_word(event.comm)
    if event.kind == "SEND":
        effect["bytes"] = event.bytes
    elif event.kind == "COLL":
        effect["out"], effect["root"] = event.bytes, effect.pop("peer")
        del effect["tag"]
    if event.kind in ("RECV", "COLL"):
        effect["in"] = event.bytes_in
    elif event.kind == "DONE" and "status" in event.flags:
        effect["in"] = event.bytes_in
    effect["status"] = "status" in event.flags
    return effect


def agrees(expected, seen):
    """Why two effects differ; empty when they agree."""
    problems = []
    for key, value in expected.items():
        if key in ("flags", "status"):
            continue
        if key == "in" and seen["kind"] == "DONE" and "in" not in seen:
            continue  # nobody had asked for it
        if seen.get(key) != value:
            problems.append("%s is %s, not %s" % (key, seen.get(key), value))
    if expected["flags"] != seen["flags"]:
        problems.append("flags are %s, not %s" % (sorted(seen["flags"]), sorted(expected["flags"])))
    if expected.get("status") and not seen["status"]:
        problems.append("the received size is not known, though a status was there")
    return problems


def match_effects(expected, seen, where):
    """Pairs each expected effect with a recorded one, in any order."""
    left = list(seen)
    for effect in expected:
        found = next((other for other in left if not agrees(effect, other)), None)
        if found is None:
            near = min(
                left,
                key=lambda other: (other["kind"] != effect["kind"], len(agrees(effect, other))),
                default=None,
            )
            raise Failure(
                "%s\n  expected %s\n  recorded %s\n  %s"
                % (where, effect, seen, near and "nearest: " + "; ".join(agrees(effect, near)))
            )
        left.remove(found)
    if left:
        raise Failure("%s\n  recorded too much: %s" % (where, left))


def compare(process, lines, thread=0, optional=()):
    """Fails unless the calls of a thread are those that `lines` describe. Plain calls that the
    lines never name, and functions in `optional`, are left out."""
    expected = [parse(line) for line in lines]
    named = {entry[0] for entry in expected}
    calls = []
    for call in process.calls(thread):
        if call.kind == "POLL" or (call.function in optional and call.function not in named):
            continue
        effects = [
            effect for effect in (seen_effect(process, event) for event in call.events) if effect
        ]
        for effect in effects:
            effect["flags"].discard("nested")
            if call.nested:
                effect["flags"].add("nested")
        if not effects and call.function not in named:
            continue
        if call.function.startswith(
            ("MPI_Comm_", "MPI_Cart_", "MPI_Graph_", "MPI_Dist_", "MPI_Intercomm_")
        ):
            effects = []  # collectives of no bytes; tested by their communicators
        calls.append((call, effects))
    at = 0
    problems = []
    for number, (function, repeat, effects, words) in enumerate(expected):
        where = "rank %s, line %d: %s" % (process.rank, number + 1, lines[number])
        taken = []
        if repeat == "?":
            while at < len(calls) and calls[at][0].function == function:
                taken.append(calls[at])
                at += 1
            check(
                taken, where, "\n  recorded:", calls[at][0] if at < len(calls) else "nothing more"
            )
        else:
            for _ in range(int(repeat)):
                check(at < len(calls), where, "\n  nothing more was recorded")
                check(calls[at][0].function == function, where, "\n  recorded %s %s" % calls[at])
                taken.append(calls[at])
                at += 1
        if "error" in words:
            check(all(call.error for call, _ in taken), where, "\n  recorded without an error")
            continue
        check(not any(call.error for call, _ in taken), where, "\n  recorded with an error")
        if "any-effects" in words:
            continue
        try:
            match_effects(effects, [effect for _, some in taken for effect in some], where)
        except Failure as problem:
            problems.append(str(problem))
    check(not problems, "%d calls are wrong:\n" % len(problems) + "\n".join(problems[:5]))
    check(
        at == len(calls),
        "rank %s: recorded after the last expected call: %s"
        % (process.rank, [str(call[0]) for call in calls[at : at + 5]]),
    )
