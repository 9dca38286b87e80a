# SPDX-License-Identifier: BSD-3-Clause
#
# What the probe of UCX sees, against real jobs of both MPIs: who each rank talks to, how much, over
# which lanes; what was opened and how that failed; UCX's log lines; and that nobody can tell that
# we look on.
"""UCX as the trace has it."""

import os
import re
import signal
import struct
import time

from fabric import other_library
from harness import Failure, Job, Skip, check, command, main, mpi_test, same, tidy
from trace import Trace

OPENMPI_ON_UCX = {
    "OMPI_MCA_pml": "ucx",
    "OMPI_MCA_osc": "ucx",
    "OMPI_MCA_opal_common_ucx_tls": "any",
    "OMPI_MCA_opal_common_ucx_devices": "any",
}
MESSAGES = {"8x1000": (1000, 8000), "5000x200": (200, 1000000), "1048576x20": (20, 20971520)}
SENDS = sum(count for count, _ in MESSAGES.values())
BYTES = sum(amount for _, amount in MESSAGES.values())
SLACK = 1.02
QUIET = {"UCX_VFS_ENABLE": "n"}  # a thread of UCX's own, whose lines come or do not


def settings(mpi, tls=None, **more):
    env = dict(OPENMPI_ON_UCX) if mpi.name == "openmpi" else {}
    env["UCX_TLS"] = tls
    env.update(more)
    return env


def need_ucx(process):
    """Skips where this MPI does not use UCX at all."""
    if process.choice("probe", "ucx")["how"] == "absent":
        raise Skip("this MPI has no UCX")


def recorded(mpi, ranks, program, folder, tls=None, **more):
    job, path = mpi.record(ranks, program, folder, env=settings(mpi, tls, **more), timeout=90)
    trace = Trace(path)
    need_ucx(trace.processes[0])
    same(trace.damage, [], "damage")
    return job, trace


def own_uids(process):
    """{uid: id of the worker}"""
    return {endpoint["address"]: endpoint["id"] for endpoint in process.endpoints}


def pairs_seen(trace):
    """{(source, destination): (sends, sent, lanes)} by the uids of workers; fails where an address
    is nobody's."""
    owner = {}
    for process in trace.processes:
        for uid in own_uids(process):
            check(re.fullmatch("[0-9a-f]{16}", uid), "own uid %r" % uid)
            check(uid not in owner, "two workers have the uid " + uid)
            owner[uid] = process.rank
    seen = {}
    for process in trace.processes:
        for endpoint in process.endpoints:
            for peer in endpoint["peers"]:
                check(peer["address"] in owner, "nobody's uid: %s" % peer)
                key = process.rank, owner[peer["address"]]
                sends, sent, lanes = seen.get(key, (0, 0, []))
                seen[key] = (sends + peer["sends"], sent + peer["sent"], lanes + peer["lanes"])
    return seen


def transports(lanes, use=None):
    return {lane["transport"] for lane in lanes if use is None or lane["use"] == use}


def covered(process):
    choice = process.choice("probe", "ucx")
    same((choice["how"], choice["source"]), ("on", ""), "coverage")
    check(
        re.fullmatch(r"1\.\d+\.\d+", process.choice("version").get("ucx", "")),
        "version: %s" % process.choice("version"),
    )


@mpi_test(variants=("default", "tcp,self", "posix,self"))
def peers_bytes_and_lanes(mpi, folder, tls):
    """Every rank's endpoints lead to the other ranks' own workers, carry what the program sent, and
    use the transports that are allowed."""
    program = [mpi.build("pairs.c")] + list(MESSAGES)
    ranks = 2 if tls == "tcp,self" else 3  # three ranks of MPICH 4.0 hang there, recorded or not
    job, trace = recorded(mpi, ranks, program, folder, None if tls == "default" else tls)
    job.expect(0)
    same(len(trace.processes), ranks, "processes")
    seen = pairs_seen(trace)
    for process in trace.processes:
        covered(process)
        same(process.health, [], "health")
    for source in range(ranks):
        for destination in range(ranks):
            if source == destination:
                continue
            sends, sent, lanes = seen[source, destination]
            check(SENDS <= sends <= SENDS * SLACK + 5, "sends %d of %d" % (sends, SENDS))
            check(BYTES <= sent <= BYTES * SLACK, "sent %d of %d" % (sent, BYTES))
            if tls == "tcp,self":
                same(transports(lanes), {"tcp"}, "transports")
                check(all(lane["device"] for lane in lanes), "devices: %s" % lanes)
            elif tls == "posix,self":
                same(transports(lanes, "am"), {"posix"}, "transport of small messages")
                check(transports(lanes) <= {"posix"}, "transports: %s" % lanes)
            else:
                check(transports(lanes, "am") <= {"posix", "sysv"}, "small messages: %s" % lanes)
                check("tcp" not in transports(lanes), "the network within a node: %s" % lanes)


@mpi_test
def what_was_opened(mpi, folder):
    """The successful attempts, who asked for what, and what could be had."""
    job, trace = recorded(mpi, 2, [mpi.build("pairs.c"), "8x10"], folder, "tcp,self")
    job.expect(0)
    for process in trace.processes:
        attempts = [entry for entry in process.attempts if entry["library"] == "ucx"]
        same([entry["call"] for entry in attempts[:2]], ["ucp_init", "ucp_worker_create"], "calls")
        for entry in attempts:
            same((entry["result"], entry["words"], entry["inner"]), (0, "", 0), "result")
            check(0 < entry["start"] <= entry["end"], "times: %s" % entry)
            caller = process.modules[entry["caller"]]
            check(
                "mpi" in os.path.basename(caller["path"]) or "ucx" in caller["path"],
                "called by %s" % caller["path"],
            )
        check("tag" in attempts[0]["asked"].split(), "asked for %r" % attempts[0]["asked"])
        offers = {(offer["provider"], offer["domain"]) for offer in attempts[0]["offers"]}
        same({name for name, _ in offers}, {"tcp", "self"}, "resources")
        check(("tcp", "lo") in offers, "devices: %s" % offers)
        same(attempts[1]["endpoint"], process.endpoints[0]["id"], "the worker that came of it")


@mpi_test
def nothing_can_be_opened(mpi, folder):
    """MPI ends the job inside MPI_Init; what is on disk says why, in UCX's words."""
    program = [mpi.build("pairs.c"), "8x10"]
    job, path = mpi.record(1, program, folder, env=settings(mpi, "nonsense"), timeout=60)
    check(job.code != 0, job.describe())
    trace = Trace(path)
    process = trace.processes[0]
    need_ucx(process)
    attempt = process.attempts[0]
    same((attempt["library"], attempt["call"]), ("ucx", "ucp_init"), "attempt")
    same((attempt["result"], attempt["words"]), (-14, "No such device"), "result")
    check(attempt["end"] >= attempt["start"] > 0, "times: %s" % attempt)
    same(attempt["offers"], [], "resources")
    lines = {line["level"]: line for line in process.log}
    check("no usable transports/devices" in lines["ERROR"]["text"], process.log)
    check("nonsense" in lines["WARN"]["text"], process.log)
    same(lines["ERROR"]["library"], "ucx", "library")
    same(lines["ERROR"]["subsystem"], "ucp_context.c", "source file")
    check(lines["ERROR"]["line"] > 0 and lines["ERROR"]["function"], lines["ERROR"])


@mpi_test
def endpoint_that_cannot_be_made(mpi, folder):
    """Ranks that have no transport in common: the failing ucp_ep_create is told."""
    script = (
        "if [ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = 0 ]; then UCX_TLS=tcp,self; "
        "else UCX_TLS=posix,self; fi; export UCX_TLS; LD_PRELOAD=%s exec %s 8x10"
        % (mpi.library(), mpi.build("pairs.c"))
    )
    path = os.path.join(folder, "job.mpiw")
    env = settings(mpi, MPIWATCH_OUT=path)
    job = Job(mpi.launch(2, ["sh", "-c", script]), folder, env=env, timeout=60)
    try:
        job.wait(orphans=False)
    finally:
        job.stop()
    check("done" not in job.stdout, "they talked: " + job.describe())  # MPICH 4.2 exits with 0
    check(os.path.exists(path), "no trace: " + job.describe())
    trace = Trace(path, events=False)
    need_ucx(trace.processes[0])
    failed = [
        entry
        for process in trace.processes
        for entry in process.attempts
        if entry["call"] == "ucp_ep_create"
    ]
    check(failed, "no failed ucp_ep_create: " + job.describe())
    for entry in failed:
        check(entry["result"] < 0 and entry["words"], entry)
        check(entry["end"] >= entry["start"] > 0, entry)
        check(entry["endpoint"] > 0, "of no worker: %s" % entry)


def told(text):
    """Output without times, process ids and the order of lines of different ranks."""
    text = re.sub(r"\[\d{9,}\.\d+\]", "[TIME]", text)
    text = re.sub(r"\[[^\s\[\]:]+:\d+:\w+\]", "[HOST:PID:THREAD]", text)
    text = re.sub(r"\b(worker|ep|context|iface|md) ?0x\w+", r"\1 ADDRESS", text)
    return [re.sub(r"\s+", " ", line) for line in tidy(text)]


@mpi_test(variants=("", "info", "diag", "error", "info off"))
def output_is_as_without_us(mpi, folder, level):
    """Whatever UCX is told to log: the same lines with and without the library."""
    level, _, off = level.partition(" ")
    program = [mpi.build("pairs.c"), "8x10", "100000x2"]
    env = settings(mpi, "tcp,self", UCX_LOG_LEVEL=level or None, UCX_NEVER_HEARD_OF="1", **QUIET)
    probes = {"MPIWATCH_PROBES": "-ucx" if off else None}
    job, path = mpi.record(2, program, folder, env=dict(env, **probes), timeout=60)
    job.expect(0)
    ours = told(job.stdout + job.stderr)
    for _ in range(3):  # the lines of two ranks mix now and then
        plain = mpi.run(2, program, folder, env=env, timeout=60).expect(0)
        if told(plain.stdout + plain.stderr) == ours:
            break
    same(ours, told(plain.stdout + plain.stderr), "output")
    if off:
        return
    process = Trace(path, events=False).processes[0]
    need_ucx(process)
    texts = {line["text"]: line for line in process.log}
    unused = [line for text, line in texts.items() if "UCX_NEVER_HEARD_OF" in text]
    if level != "error":
        same([line["level"] for line in unused], ["WARN"], "unused variable")
    same(any(line["level"] == "INFO" for line in process.log), level == "info", "INFO lines kept")


@mpi_test
def log_file_is_as_without_us(mpi, folder):
    """UCX_LOG_FILE gets the same lines, too."""
    files = {}
    for name in ("plain", "recorded"):
        log = os.path.join(folder, name + ".log")
        env = settings(mpi, "self,tcp", UCX_LOG_LEVEL="info", UCX_LOG_FILE=log, **QUIET)
        program = [mpi.build("pairs.c"), "8x10"]
        if name == "plain":
            job = command(mpi.launch(1, program), folder, env=env, timeout=60)
        else:
            job, _ = mpi.record(1, program, folder, env=env, timeout=60)
        job.expect(0)
        check(os.path.exists(os.path.join(folder, name + ".log")), os.listdir(folder))
        with open(os.path.join(folder, name + ".log")) as file:
            files[name] = told(file.read().replace(name + ".log", "LOG"))
    check(files["plain"], "UCX wrote nothing")
    same(files["recorded"], files["plain"], "UCX's log file")


@mpi_test
def lines_that_ucx_keeps_back(mpi, folder):
    """While it is opened, DIAG lines are kept although nobody asked for them, and not printed."""
    job, trace = recorded(mpi, 1, [mpi.build("pairs.c"), "8x10"], folder)
    job.expect(0)
    check("DIAG" not in job.stdout + job.stderr, job.describe())
    check(
        {line["level"] for line in trace.processes[0].log} <= {"DIAG", "WARN"},
        trace.processes[0].log,
    )
    if not os.path.exists("/dev/infiniband/rdma_cm"):
        check(
            any("rdma" in line["text"] for line in trace.processes[0].log),
            "nothing about the missing RDMA CM: %s" % trace.processes[0].log,
        )


@mpi_test
def a_ucx_newer_than_any(mpi, folder):
    """Passed through, counted, its log left alone, and named."""
    store = "<HI"  # x86-64: what ucp_get_version writes to its arguments
    version = struct.pack(store, 0x07C7, 1) + struct.pack(store, 0x06C7, 13)
    newer = struct.pack(store, 0x07C7, 1) + struct.pack(store, 0x06C7, 99)
    env = settings(mpi, LD_LIBRARY_PATH=other_library("libucp.so.0", "newer", (version, newer)))
    program = [mpi.build("pairs.c")] + list(MESSAGES)
    plain = mpi.run(2, program, folder, env=env)
    job, path = mpi.record(2, program, folder, env=env)
    same((job.code, tidy(job.stdout), tidy(job.stderr)), (plain.code, tidy(plain.stdout), tidy(plain.stderr)),
         "what a user sees")
    for process in Trace(path).processes:
        need_ucx(process)
        check(process.choice("version", "ucx")["how"].startswith("1.99."), "version")
        choice = process.choice("probe", "ucx")
        same(choice["how"], "partly", "coverage")
        check("newer than those that were looked at" in choice["source"], choice["source"])
        sent = sum(peer["sent"] for endpoint in process.endpoints for peer in endpoint["peers"])
        check(BYTES <= sent <= BYTES * SLACK, "sent: %d" % sent)


@mpi_test
def switched_off(mpi, folder):
    job, path = mpi.record(
        2,
        [mpi.build("pairs.c"), "8x100"],
        folder,
        env=settings(mpi, MPIWATCH_PROBES="-ucx"),
        timeout=60,
    )
    job.expect(0)
    for process in Trace(path).processes:
        same(process.choice("probe", "ucx")["how"], "off", "coverage")
        same([entry for entry in process.attempts if entry["library"] == "ucx"], [], "attempts")
        same([entry for entry in process.endpoints if entry["library"] == "ucx"], [], "endpoints")
        same([line for line in process.log if line["library"] == "ucx"], [], "log")


@mpi_test
def many_threads_count_exactly(mpi, folder):
    """MPI_THREAD_MULTIPLE: four threads on one endpoint lose no message and no byte."""
    program = [mpi.build("many_threads.c", "-lpthread")]
    job, trace = recorded(mpi, 2, program, folder, "posix,self")
    job.expect(0)
    seen = pairs_seen(trace)
    for pair in ((0, 1), (1, 0)):
        sends, sent, _ = seen[pair]
        check(20000 <= sends <= 20010, "sends: %d" % sends)
        check(2000000 <= sent <= 2000500, "bytes: %d" % sent)


@mpi_test(variants=("default", "tcp,self"))
def one_sided(mpi, folder, tls):
    """Puts and gets by the right neighbour, over two windows."""
    program = [mpi.build("onesided.c")]
    job, trace = recorded(mpi, 2, program, folder, None if tls == "default" else tls)
    job.expect(0)
    owner = {uid: process.rank for process in trace.processes for uid in own_uids(process)}
    for process in trace.processes:
        put = got = puts = gets = 0
        for endpoint in process.endpoints:
            for peer in endpoint["peers"]:
                if owner[peer["address"]] == 1 - process.rank:
                    puts, gets = puts + peer["puts"], gets + peer["gets"]
                    put, got = put + peer["put"], got + peer["got"]
        check(400 <= puts <= 430 and 1600000 <= put <= 1602000, "puts: %d, %d bytes" % (puts, put))
        check(200 <= gets <= 230 and 800000 <= got <= 802000, "gets: %d, %d bytes" % (gets, got))
        covered(process)


@mpi_test
def types_of_messages(mpi, folder):
    """Derived types go as generic ones whose size only MPI knows: counted as such, not guessed."""
    prefix = os.path.join(folder, "sent")
    job, trace = recorded(mpi, 2, [mpi.build("traffic.c")], folder, MWTEST_EXPECT=prefix)
    job.expect(0)
    for process in trace.processes:
        unsized = sum(
            peer["unsized"] for endpoint in process.endpoints for peer in endpoint["peers"]
        )
        check(unsized > 0, "traffic.c sends a vector")
        for endpoint in process.endpoints:
            for peer in endpoint["peers"]:
                check(peer["unsized"] <= peer["sends"], peer)


def sent_so_far(path):
    """Messages that the trace of a running job has; 0 where it cannot be read yet."""
    try:
        processes = Trace(path, events=False).processes
    except Failure:
        return 0
    return min(
        (
            sum(peer["sends"] for endpoint in process.endpoints for peer in endpoint["peers"])
            for process in processes
        ),
        default=0,
    )


@mpi_test
def killed_job_has_its_peers(mpi, folder):
    """A killed job: what it opened, and what had gone where over which lanes seconds before."""
    path = os.path.join(folder, "job.mpiw")
    env = settings(mpi, MPIWATCH_OUT=path)
    program = mpi.build("pairs.c")
    ours = ["env", "LD_PRELOAD=" + mpi.library(), program, "8x100000000"]
    job = Job(mpi.launch_parts([(2, ours)]), folder, env=env, timeout=60)
    try:
        end = time.monotonic() + 40
        while time.monotonic() < end and not sent_so_far(path):
            time.sleep(1)
        for pid in job.pids(program):
            os.kill(pid, signal.SIGKILL)
        job.wait(orphans=False)
    finally:
        job.stop()
    trace = Trace(path, events=False)
    for process in trace.processes:
        calls = [entry["call"] for entry in process.attempts if entry["library"] == "ucx"]
        if not calls:
            raise Skip("this MPI has no UCX")
        same(calls[:2], ["ucp_init", "ucp_worker_create"], "calls")
    seen = pairs_seen(trace)
    for pair in ((0, 1), (1, 0)):
        check(pair in seen, "peers: %s" % seen)
        sends, sent, lanes = seen[pair]
        check(sends > 100 and 7 * sends <= sent <= 9 * sends, "sends %d, %d bytes" % (sends, sent))
        check(transports(lanes, "am"), "no lane: %s" % lanes)


main()
