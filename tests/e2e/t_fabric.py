# SPDX-License-Identifier: BSD-3-Clause
#
# What the probe of libfabric sees: attempts, endpoints, peers and log lines as raw facts, on Open MPI
# over its own providers and over a test provider that fails on command; and that nobody notices.
"""libfabric."""

import os
import re
import signal
import struct

from fabric import need_headers, other_library, over_cxi, over_libfabric, wait_for_open_calls
from harness import check, main, mpi_test, same, tidy
from mpi import build_folder, compile_file
from trace import Trace

PAIRS = ["8x50", "1000x20", "100000x3"]
PAYLOAD = 8 * 50 + 1000 * 20 + 100000 * 3

# What the provider logs when fi_enable fails.
ENABLE_LOG = [
    ("domain", "node0: Failed to allocate CP, ret: -22 VNI: 1 TC: BEST_EFFORT TYPE: DEFAULT"),
    ("domain", "node0: Remapping original TC from BEST_EFFORT to BEST_EFFORT"),
    ("domain", "node0: Failed to allocate CP, ret: -22 VNI: 1 TC: BEST_EFFORT TYPE: DEFAULT"),
    ("domain", "node0: Failed to allocate CP: -22"),
    ("ep_ctrl", "node0: Unable to allocate CMDQ, ret: -22"),
    ("ep_ctrl", "node0: Failed to allocate control TXQ, ret: -28"),
    ("ep_ctrl", "node0: cxip_ep_ctrl_init returned: -262"),
]


def result(job):
    """What a user sees of a job, but for process ids, the time and keys."""
    text = re.sub(r"libfabric:\d+:\d+:", "libfabric:PID:TIME:", job.stdout + job.stderr)
    text = re.sub(r"job key: [0-9a-f-]+", "job key", text)
    text = re.sub(r"by process \[\d+,", "by process [JOB,", text)
    return job.code, tidy(text)


def both(mpi, folder, program, env, ranks=2, **options):
    """Runs a job without and with the library; nobody may see a difference. Returns the trace."""
    plain = mpi.run(ranks, program, folder, env=env, **options)
    job, path = mpi.record(ranks, program, folder, env=env, **options)
    same(result(job), result(plain), "what a user sees")
    return Trace(path)


def outer(process):
    """Its endpoints that are no layer's own."""
    return [endpoint for endpoint in process.endpoints if not endpoint["inner"]]


NO_DATA = -61


def failed(process):
    """What failed, but for questions to which the answer is "nothing of that kind": Open MPI 5 asks one."""
    return [
        (attempt["call"], attempt["result"], attempt["words"], attempt["provider"])
        for attempt in process.attempts
        if attempt["result"] and (attempt["call"], attempt["result"]) != ("fi_getinfo", NO_DATA)
    ]


def logged(process):
    """The lines of the test provider; others of libfabric 2 log at every start that they have nothing."""
    return [line for line in process.log if line["provider"] == "cxi"]


def coverage(process):
    return process.choice("probe", "libfabric")["how"]


def check_healthy(trace, provider, ranks=2):
    """Every rank has one endpoint, and what it sent went to the others' endpoints."""
    addresses = {}
    for process in trace.processes:
        same([e["provider"] for e in outer(process)], [provider], "endpoints")
        addresses[process.rank] = outer(process)[0]["address"]
    same(len(set(addresses.values())), ranks, "different addresses")
    for process in trace.processes:
        same(coverage(process), "on", "coverage")
        same(failed(process), [], "failed attempts")
        check(all(attempt["end"] for attempt in process.attempts), "an attempt has no end")
        endpoint = outer(process)[0]
        peers = {peer["address"]: peer for peer in endpoint["peers"]}
        others = {a for rank, a in addresses.items() if rank != process.rank}
        same(set(peers), others, "peers of rank %d" % process.rank)
        for peer in peers.values():
            check(
                PAYLOAD <= peer["sent"] <= PAYLOAD * 1.02,
                "sent %d, the program %d" % (peer["sent"], PAYLOAD),
            )
            check(73 <= peer["sends"] <= 100, "sends: %d" % peer["sends"])
            same((peer["unsized"], endpoint["unlisted"]), (0, 0), "not counted")


def calls_of(process, call, provider):
    return [a for a in process.attempts if a["call"] == call and a["provider"] == provider]


@mpi_test(only="openmpi", variants=("tcp;ofi_rxm", "sockets"))
def a_provider_that_works(mpi, folder, provider):
    program = [mpi.build("pairs.c")] + PAIRS
    trace = both(mpi, folder, program, over_libfabric(provider))
    check_healthy(trace, provider)
    for process in trace.processes:
        for call in ("fi_fabric", "fi_domain", "fi_endpoint", "fi_enable"):
            same(len(calls_of(process, call, provider)), 1, call)
        offers = {o["provider"] for a in process.attempts for o in a["offers"]}
        check(provider in offers, "offers: %s" % offers)
        opened = calls_of(process, "fi_endpoint", provider)[0]
        same(opened["endpoint"], outer(process)[0]["id"], "endpoint of the attempt")
        module = process.modules[opened["caller"]]
        check("mtl_ofi" in module["path"] or "libmpi." in module["path"], module["path"])
        same(process.choice("mtl", "ofi")["how"], "selected", "the MTL")
        if provider != "sockets":  # which warns of buffers
            lines = [line for line in process.log if line["provider"] in provider.split(";")]
            same(lines, [], "log lines of a healthy run")
        check(process.choice("version", "libfabric"), "no version of libfabric")


@mpi_test(only="openmpi")
def layers_are_told_from_what_mpi_opened(mpi, folder):
    job, path = mpi.record(
        2, [mpi.build("pairs.c")] + PAIRS, folder, env=over_libfabric("tcp;ofi_rxm")
    )
    job.expect(0)
    for process in Trace(path).processes:
        inner = [endpoint for endpoint in process.endpoints if endpoint["inner"]]
        check(inner, "the layer has endpoints of its own")
        same({endpoint["provider"] for endpoint in inner}, {"tcp"}, "provider below")
        for endpoint in inner:
            check("libfabric" in process.modules[endpoint["caller"]]["path"], "caller of a layer")
        same({a["inner"] for a in calls_of(process, "fi_domain", "tcp")}, {1}, "inner")


@mpi_test(only="openmpi")
def all_pairs_of_four(mpi, folder):
    trace = both(
        mpi, folder, [mpi.build("pairs.c")] + PAIRS, over_libfabric("tcp;ofi_rxm"), ranks=4
    )
    check_healthy(trace, "tcp;ofi_rxm", ranks=4)


@mpi_test(only="openmpi", variants=(1, 2))
def a_card_that_works(mpi, folder, copies):
    """Also with the provider there twice."""
    trace = both(
        mpi, folder, [mpi.build("pairs.c")] + PAIRS, over_cxi(forced=True, copies=copies)
    )
    check_healthy(trace, "cxi")
    for process in trace.processes:
        endpoint = outer(process)[0]
        same(
            (endpoint["domain"], endpoint["device"], endpoint["speed"]),
            ("cxi0", "cxi0", 200000000000),
            "the card",
        )
        offers = [o for a in process.attempts for o in a["offers"] if o["provider"] == "cxi"]
        same(
            [(o["domain"], o["device"], o["speed"], o["state"], o["driver"]) for o in offers],
            [("cxi0", "cxi0", 200000000000, "up", "cxi_ss1")],
            "what was offered",
        )


FAILURES = {
    "fabric": ("fi_fabric", -22, "Invalid argument"),
    "domain": ("fi_domain", -22, "Invalid argument"),
    "endpoint": ("fi_endpoint", -28, "No space left on device"),
    "enable": ("fi_enable", -262, "Invalid resource domain"),
}


@mpi_test(only="openmpi", variants=("getinfo",) + tuple(FAILURES))
def a_card_that_fails(mpi, folder, step):
    program, env = [mpi.build("pairs.c"), "8x10"], over_cxi(FAIL=step)
    for process in both(mpi, folder, program, env).processes:
        same(process.choice("pml", "ob1")["how"], "selected", "the PML")
        if step == "getinfo":
            offers = {o["provider"] for a in process.attempts for o in a["offers"]}
            check("cxi" not in offers, "the card was offered: %s" % offers)
            texts = [line["text"] for line in logged(process)]
            same(texts, ["node0: cxil_get_device_list returned: -22"], "log")
            continue
        same(failed(process), [FAILURES[step] + ("cxi",)], "what failed")
        words = [(line["subsystem"], line["text"]) for line in logged(process)]
        same({line["level"] for line in logged(process)} - {"warn"}, set(), "levels")
        if step == "enable":
            same(words, ENABLE_LOG, "log")
        check(words or step == "fabric", "nothing was logged")


@mpi_test(only="openmpi", variants=(5, 110, 263, 9999))
def words_are_the_librarys_own(mpi, folder, code):
    env = over_cxi(FAIL="enable", ERROR=code)
    job, path = mpi.record(2, [mpi.build("hello.c")], folder, env=env)
    job.expect(0)
    words = {
        5: "Input/output error",
        110: "Connection timed out",
        263: "Missing or unavailable completion queue",
        9999: "Unspecified error",
    }
    for process in Trace(path).processes:
        same(failed(process), [("fi_enable", -code, words[code], "cxi")], "what failed")


@mpi_test(only="openmpi")
def a_card_that_fails_on_one_rank(mpi, folder):
    # Ranks that disagree about the PML do not start, with and without us; how much of what they say
    # gets through before mpirun ends them is chance.
    env = over_cxi(FAIL="enable", FAIL_RANK=1)
    plain = mpi.run(2, [mpi.build("hello.c")], folder, env=env)
    job, path = mpi.record(2, [mpi.build("hello.c")], folder, env=env)
    same(job.code, plain.code, "exit code")
    check("selected pml ob1, but peer" in job.stderr, "Open MPI's own words: " + job.stderr)
    by_hint = {process.rank_hint: failed(process) for process in Trace(path).processes}
    same(by_hint[0], [], "rank 0")
    same(by_hint[1], [("fi_enable", -262, "Invalid resource domain", "cxi")], "rank 1")


@mpi_test(only="openmpi")
def an_abort_in_mpi_init_is_explained(mpi, folder):
    env = over_cxi(forced=True, FAIL="enable")
    plain = mpi.run(2, [mpi.build("hello.c")], folder, env=env)
    job, path = mpi.record(2, [mpi.build("hello.c")], folder, env=env)
    check(plain.code != 0, "the job did not fail")
    same(job.code, plain.code, "exit code")
    trace = Trace(path)
    # Whoever is second may be killed before it gets there.
    explained = [p for p in trace.processes if failed(p)]
    check(explained, "nobody says what failed")
    for process in explained:
        same(failed(process), [FAILURES["enable"] + ("cxi",)], "what failed")
        same([line["text"] for line in logged(process)], [text for _, text in ENABLE_LOG], "log")
        check(not process.has_rank, "it never got through MPI_Init")


@mpi_test(only="openmpi", variants=("getinfo", "fabric", "domain", "endpoint", "enable"))
def a_hang_in_mpi_init_is_explained(mpi, folder, step):
    program = mpi.build("hello.c")
    path = os.path.join(folder, "job.mpiw")
    job = mpi.start(
        2,
        [program],
        folder,
        preload=mpi.library(),
        env=dict(over_cxi(HANG=step), MPIWATCH_OUT=path),
    )
    try:
        # No snapshot, no collecting: what is in the file while it hangs.
        wait_for_open_calls(path, [["fi_" + step]] * 2)
        for pid in job.pids(program):
            os.kill(pid, signal.SIGKILL)
    finally:
        job.stop()
    for process in Trace(path).processes:
        attempt = [a for a in process.attempts if not a["end"]][0]
        if step != "getinfo":
            same(attempt["provider"], "cxi", "provider")


@mpi_test(only="openmpi")
def a_flood_of_log_lines(mpi, folder):
    lines = 20000
    env = over_cxi(forced=True, FLOOD=lines)
    trace = both(mpi, folder, [mpi.build("hello.c")], env, timeout=60)
    for process in trace.processes:
        check(len(process.log) <= 128, "%d lines" % len(process.log))
        retries = [line["count"] for line in process.log if "retry" in line["text"]]
        same(retries, [lines // 4] * 4, "counts of what repeats")
        dropped = [line for line in process.log if "dropped" in line["text"]]
        check(1 <= len(dropped) <= 4, "%d lines of one place" % len(dropped))
        total = sum(line["count"] for line in logged(process)) + process.log_lost
        same(total, 2 * lines, "all lines")
    size = sum(entry.stat().st_size for entry in os.scandir(os.path.join(folder, "job.mpiw")))
    check(size < 1 << 20, "the trace has %d bytes" % size)


@mpi_test(only="openmpi", variants=("warn", "info"))
def what_the_user_lets_libfabric_print(mpi, folder, level):
    # One rank: lines of several would mix.
    env = over_cxi(FAIL="enable")
    env["FI_LOG_LEVEL"] = level
    plain = mpi.run(1, [mpi.build("hello.c")], folder, env=env)
    check("Failed to allocate control TXQ" in plain.stderr, "nothing is printed")
    job, path = mpi.record(1, [mpi.build("hello.c")], folder, env=env)
    same(result(job), result(plain), "what a user sees")
    texts = [line["text"] for line in logged(Trace(path).rank(0)) if line["level"] == "warn"]
    for _, text in ENABLE_LOG:
        check(text in texts, "not in the trace: %s" % text)


@mpi_test(only="openmpi", variants=("unset", "warn"))
def what_a_provider_says_before_it_aborts(mpi, folder, level):
    """A line that is logged without asking whether it is wanted is printed, once."""
    env = over_cxi(FAIL="endpoint", SHOUT="this is the end")
    if level != "unset":
        env["FI_LOG_LEVEL"] = level
    plain = mpi.run(1, [mpi.build("hello.c")], folder, env=env)
    check("this is the end" in plain.stderr, "it is not printed without us")
    job, path = mpi.record(1, [mpi.build("hello.c")], folder, env=env)
    same(result(job), result(plain), "what a user sees")
    texts = [line["text"] for line in logged(Trace(path).rank(0))]
    check("node0: this is the end" in texts, "log: %s" % texts)


@mpi_test(only="openmpi", variants=("import", "late"))
def somebody_else_takes_the_log(mpi, folder, mode):
    need_headers()
    program = [mpi.build("fabric_user.c", "-lfabric", "-ldl", "-lpthread"), mode]
    env = over_cxi(forced=True, FAIL="getinfo") if mode == "late" else over_cxi(FAIL="enable")
    env = dict(env, OMPI_MCA_pml="ob1", OMPI_MCA_mtl=None) if mode == "late" else env
    plain = mpi.run(1, program, folder, env=env)
    check("import 0" in plain.stdout and "taken: node0" in plain.stdout, plain.stdout)
    job, path = mpi.record(1, program, folder, env=env)
    same(result(job), result(plain), "what a user sees")
    texts = [line["text"] for line in logged(Trace(path).rank(0))]
    wanted = "cxil_get_device_list" if mode == "late" else "cxip_ep_ctrl_init"
    check(any(wanted in text for text in texts), "log: %s" % texts)


def version_code(major, minor):
    """x86-64: what fi_version does, mov and ret."""
    return struct.pack("<BI", 0xB8, major << 16 | minor) + b"\xc3"


@mpi_test(only="openmpi", variants=("unset", "warn"))
def a_libfabric_whose_log_cannot_be_imported(mpi, folder, level):
    """As before 1.16: fi_open knows no object "logging", the lines come by way of fi_log."""
    env = over_cxi(FAIL="enable")
    env["LD_LIBRARY_PATH"] = other_library(
        "libfabric.so.1", "older", (version_code(1, 17), version_code(1, 15)),
        (b"\0logging\0", b"\0loggins\0"))
    if level != "unset":
        env["FI_LOG_LEVEL"] = level
    plain = mpi.run(1, [mpi.build("hello.c")], folder, env=env)
    same("Failed to allocate control TXQ" in plain.stderr, level != "unset", "printed without us")
    job, path = mpi.record(1, [mpi.build("hello.c")], folder, env=env)
    same(result(job), result(plain), "what a user sees")
    process = Trace(path).rank(0)
    same(process.choice("version", "libfabric")["how"], "1.15", "version")
    words = [(line["subsystem"], line["text"]) for line in logged(process)]
    same([line for line in words if line in ENABLE_LOG], ENABLE_LOG, "log")
    same(failed(process), [FAILURES["enable"] + ("cxi",)], "what failed")


@mpi_test(only="openmpi")
def a_libfabric_newer_than_any(mpi, folder):
    """Passed through, counted as far as it is known, and named."""
    env = over_libfabric("tcp;ofi_rxm")
    env["LD_LIBRARY_PATH"] = other_library(
        "libfabric.so.1", "newer", (version_code(1, 17), version_code(9, 99)))
    trace = both(mpi, folder, [mpi.build("pairs.c")] + PAIRS, env)
    for process in trace.processes:
        same(process.choice("version", "libfabric")["how"], "9.99", "version")
        choice = process.choice("probe", "libfabric")
        same(choice["how"], "partly", "coverage")
        check("newer than the newest that is known" in choice["source"], choice["source"])
        sent = [peer["sent"] for peer in outer(process)[0]["peers"]]
        check(sent and PAYLOAD <= sent[0] <= PAYLOAD * 1.02, "sent: %s" % sent)


@mpi_test(only="openmpi")
def switched_off(mpi, folder):
    env = dict(over_cxi(FAIL="enable"), MPIWATCH_PROBES="-libfabric")
    trace = both(mpi, folder, [mpi.build("hello.c")], env)
    for process in trace.processes:
        same((process.attempts, process.endpoints, process.log), ([], [], []), "facts")
        same(coverage(process), "off", "coverage")


@mpi_test
def where_it_is_not_used(mpi, folder):
    trace = both(mpi, folder, [mpi.build("hello.c")], {})
    for process in trace.processes:
        facts = process.attempts + process.endpoints + process.log
        same([fact for fact in facts if fact["library"] == "libfabric"], [], "facts")
        check(coverage(process) in ("absent", "not covered"), coverage(process))


def used_by_program(trace, endpoints=1):
    """The only peer of each endpoint that the program opened."""
    process = trace.rank(0)
    mine = outer(process)
    same(len(mine), endpoints, "endpoints")
    for endpoint in mine:
        path = process.modules[endpoint["caller"]]["path"]
        check("fabric_user" in path, "opened by %s" % path)
        same([peer["address"] for peer in endpoint["peers"]], [endpoint["address"]], "peers")
        same(endpoint["unlisted"], 0, "unlisted")
    return [endpoint["peers"][0] for endpoint in mine]


@mpi_test(only="openmpi")
def a_program_with_an_endpoint_of_its_own(mpi, folder):
    need_headers()
    program = [mpi.build("fabric_user.c", "-lfabric", "-ldl", "-lpthread"), "own"]
    trace = both(mpi, folder, program, {}, ranks=1)
    (peer,) = used_by_program(trace)
    counts = [peer[name] for name in ("sends", "sent", "puts", "put", "gets", "got", "unsized")]
    same(counts, [24, 1404, 5, 272, 4, 224, 0], "sends, sent, puts, put, gets, got, unsized")


@mpi_test(only="openmpi")
def threads_that_share_an_endpoint(mpi, folder):
    need_headers()
    program = [mpi.build("fabric_user.c", "-lfabric", "-ldl", "-lpthread"), "threads"]
    trace = both(mpi, folder, program, {}, ranks=1)
    (peer,) = used_by_program(trace)
    same((peer["sends"], peer["sent"]), (20000, 320000), "sends, sent")


@mpi_test(only="openmpi")
def a_libfabric_that_is_unloaded(mpi, folder):
    need_headers()
    plugin = compile_file(
        "mpicc.openmpi",
        os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "fabric_user.c"),
        os.path.join(build_folder(), "fabric_user_plugin.so"),
        ["-g", "-O1", "-w", "-DPLUGIN", "-shared", "-fPIC", "-lfabric"],
    )
    host = mpi.build("fabric_user.c", "-DHOST", "-ldl", name="fabric_host")
    trace = both(mpi, folder, [host, plugin], {}, ranks=1)
    for peer in used_by_program(trace, endpoints=3):
        same((peer["sends"], peer["sent"]), (24, 1404), "sends, sent")


if __name__ == "__main__":
    main()
