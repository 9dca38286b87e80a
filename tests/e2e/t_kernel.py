# SPDX-License-Identifier: BSD-3-Clause
#
# What the kernel knows of a job, and what MPI chose, on real jobs: TCP connections that join across
# ranks, memory read by process, refusals, namespaces, ports, PML and netmod. Raw facts only; what
# the report makes of them is tested elsewhere.
"""Kernel-level probes and MPI's choice."""

import ipaddress
import os
import shutil
import subprocess

from harness import Job, Skip, check, library, main, mpi_test, same, test, tidy
from trace import Trace

MIB = 1 << 20
INIT, DURING, END = 1, 2, 3


def btl(*names, **settings):
    """Open MPI's parameters as environment."""
    env = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": ",".join(names + ("self",))}
    env.update(("OMPI_MCA_" + name, value) for name, value in settings.items())
    return env


def result(job):
    return job.code, tidy(job.stdout), tidy(job.stderr)


def looks(process, when):
    """Looks at connections; those of one time are one look."""
    found = {}
    for look in process.sockets:
        if look["when"] == when:
            found.setdefault(look["time"], []).extend(look["connections"])
    return [found[time] for time in sorted(found)]


def joined(trace):
    """Connections between rank 0 and rank 1 at the end: pairs (seen by 0, seen by 1)."""
    ends = [looks(trace.rank(rank), END)[-1] for rank in (0, 1)]
    others = {(row["local"], row["remote"]): row for row in ends[1]}
    return [
        (row, others[row["remote"], row["local"]])
        for row in ends[0]
        if (row["remote"], row["local"]) in others
    ]


def near(found, expected, what):
    check(
        abs(found - expected) <= 0.02 * expected, "%s: %d, expected %d" % (what, found, expected)
    )


def has_ipv6():
    """An address of IPv6 that is neither of the loopback interface nor local to a link."""
    try:
        with open("/proc/net/if_inet6") as file:
            addresses = [ipaddress.ip_address(bytes.fromhex(line.split()[0])) for line in file]
    except OSError:
        return False
    return any(not address.is_loopback and not address.is_link_local for address in addresses)


# ---- TCP


@mpi_test(only="openmpi", variants=("4", "6"))
def connections_join_and_carry_the_messages(mpi, folder, family):
    if family == "6" and not has_ipv6():
        raise Skip("no address of IPv6")
    program = mpi.build("pairs.c")
    env = btl("tcp", btl_tcp_disable_family="6" if family == "4" else "4")
    plain = mpi.run(2, [program, "1048576x40"], folder, env=env)
    if plain.code:
        raise Skip("Open MPI cannot use IPv%s here" % family)
    job, path = mpi.record(2, [program, "1048576x40"], folder, env=env)
    same(result(job), result(plain), "result")
    pairs = joined(Trace(path, events=False))
    check(pairs, "no connection joins")
    for one, other in pairs:
        for row in (one, other):
            version = ipaddress.ip_address(row["local"][0]).version
            same(version, int(family), "address family of %s" % (row["local"],))
            check(row["interface"], "no interface for %s" % (row["local"],))
            check(row["cookie"] and row["rtt"] and row["min_rtt"] <= row["rtt"], "figures %s" % row)
        check(one["cookie"] != other["cookie"], "cookies")
        near(one["sent"], other["received"] or 1, "sent by 0, received by 1")
    near(sum(one["sent"] for one, other in pairs), 40 * MIB, "sent by rank 0")
    near(sum(other["sent"] for one, other in pairs), 40 * MIB, "sent by rank 1")


@mpi_test(only="mpich")
def connections_of_ucx_join_too(mpi, folder):
    program = mpi.build("pairs.c")
    env = {"UCX_TLS": "tcp,self"}
    plain = mpi.run(2, [program, "1048576x40"], folder, env=env)
    job, path = mpi.record(2, [program, "1048576x40"], folder, env=env)
    same(result(job), result(plain), "result")
    pairs = joined(Trace(path, events=False))
    near(sum(one["sent"] for one, other in pairs), 40 * MIB, "sent by rank 0")
    near(sum(other["sent"] for one, other in pairs), 40 * MIB, "sent by rank 1")


@mpi_test(only="openmpi")
def connections_are_looked_at_in_between(mpi, folder):
    """Opened after MPI_Init, found at the first look of a run of some seconds."""
    job, path = mpi.record(2, [mpi.build("seconds.c"), "8"], folder, env=btl("tcp"), timeout=120)
    job.expect(0)
    trace = Trace(path, events=False)
    pairs = joined(trace)
    check(pairs, "no connection joins")
    cookie = pairs[0][0]["cookie"]
    process = trace.rank(0)
    rows = [row for look in looks(process, DURING) for row in look if row["cookie"] == cookie]
    check(rows, "not looked at in between: %s" % [len(look) for look in looks(process, DURING)])
    sent = [row["sent"] for row in rows] + [pairs[0][0]["sent"]]
    check(0 < sent[0] and sent == sorted(sent), "bytes grow: %s" % sent)


@mpi_test(variants=("exit0", "exit_without", "mpi_abort"))
def the_last_look_without_finalize(mpi, folder, how):
    env = btl("tcp") if mpi.name == "openmpi" else {"UCX_TLS": "tcp,self"}
    job, path = mpi.record(2, [mpi.build("ending.c"), how, 50], folder, env=env)
    trace = Trace(path, events=False)
    check(trace.processes, "no process")
    ended = [process for process in trace.processes if looks(process, END)]
    wanted = {"exit0": "finalize", "exit_without": "exit", "mpi_abort": "abort"}[how]
    check(any(process.end == wanted for process in ended), "no last look at the end: %s" % wanted)
    # launchers kill the others when one ends early
    lacking = [p.rank for p in trace.processes if p.end != "none" and p not in ended]
    same(lacking, [], "ranks that ended by themselves without a last look")


# ---- Reads of other processes' memory


def by_pid(process):
    return {row["pid"]: row for row in process.cma}


@mpi_test(only="openmpi")
def large_messages_are_read_by_process(mpi, folder):
    program = mpi.build("pairs.c")
    plain = mpi.run(2, [program, "1048576x40"], folder, env=btl("vader"))
    job, path = mpi.record(2, [program, "1048576x40"], folder, env=btl("vader"))
    same(result(job), result(plain), "result")
    trace = Trace(path, events=False)
    one, other = trace.rank(0), trace.rank(1)
    for process, peer in ((one, other), (other, one)):
        row = by_pid(process).get(peer.pid)
        if not row:
            raise Skip("Open MPI does not read memory here (ptrace_scope?): %s" % process.cma)
        near(row["read"], 40 * MIB, "read by rank %d" % process.rank)
        same((row["refused"], row["error"]), (0, 0), "refusals")
        check(row["reads"] >= 40, "calls: %s" % row)
    same(joined(trace), [], "connections between the ranks")


@mpi_test
def a_kernel_that_refuses(mpi, folder):
    program, wrapper = mpi.build("pairs.c"), mpi.build("nocma.c")
    if subprocess.run([wrapper, "true"], stdin=subprocess.DEVNULL).returncode:
        raise Skip("seccomp filters cannot be set here")
    env = btl("vader") if mpi.name == "openmpi" else {}
    plain = mpi.run(2, [wrapper, program, "1048576x20"], folder, env=env)
    job, path = mpi.record(2, [wrapper, program, "1048576x20"], folder, env=env)
    same((job.code, tidy(job.stdout)), (plain.code, tidy(plain.stdout)), "result")
    same(sorted(set(tidy(job.stderr))), sorted(set(tidy(plain.stderr))), "kinds of lines on stderr")
    same(len(tidy(job.stderr)), len(tidy(plain.stderr)), "lines on stderr")
    trace = Trace(path, events=False)
    for process in trace.processes:
        facts = {(fact["section"], fact["key"]): fact["value"] for fact in process.facts}
        same(facts.get(("process", "seccomp")), "filter", "seccomp")
        refused = [row for row in process.cma if row["refused"]]
        check(refused, "rank %d: no refusal: %s" % (process.rank, process.cma))
        for row in refused:
            same((row["error"], row["read"], row["written"]), (1, 0, 0), "refusal: errno, bytes")
            check(row["error_time"] > 0, "time of the first")
    if mpi.name == "openmpi":  # it asks for every message; UCX asks itself once, at the start
        one, other = trace.rank(0), trace.rank(1)
        check(by_pid(one)[other.pid]["refused"] >= 20, "refusals: %s" % one.cma)
        check(by_pid(other)[one.pid]["refused"] >= 20, "refusals: %s" % other.cma)


@test
def a_process_without_mpi(folder):
    """The wrapped calls work, by an unversioned reference too, and leave nothing."""
    script = os.path.join(folder, "read.py")
    with open(script, "w") as file:
        file.write(
            "import ctypes, os\n"
            "class V(ctypes.Structure):\n"
            "    _fields_ = [('base', ctypes.c_void_p), ('size', ctypes.c_size_t)]\n"
            "libc = ctypes.CDLL(None, use_errno=True)\n"
            "a = ctypes.create_string_buffer(b'in memory'); b = ctypes.create_string_buffer(9)\n"
            "l = V(ctypes.addressof(b), 9); r = V(ctypes.addressof(a), 9)\n"
            "ref = ctypes.byref\n"
            "print(libc.process_vm_readv(os.getpid(), ref(l), 1, ref(r), 1, 0), b.raw)\n"
            "print(libc.process_vm_readv(-3, ref(l), 1, ref(r), 1, 0), ctypes.get_errno())\n"
            "print(libc.process_vm_writev(os.getpid(), ref(l), 1, ref(r), 1, 0))\n"
        )
    python = shutil.which("python3")
    plain = Job([python, script], folder).wait()
    wrapped = Job([python, script], folder, env={"LD_PRELOAD": library()}).wait()
    same(result(wrapped), result(plain), "result")
    check("in memory" in wrapped.stdout, wrapped.stdout)
    same(os.listdir(folder), ["read.py"], "files")


# ---- Namespaces


def facts(process, section):
    return {fact["key"]: fact["value"] for fact in process.facts if fact["section"] == section}


def may_unshare(*options):
    tried = subprocess.run(
        ["unshare", *options, "true"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    if tried.returncode:
        raise Skip("unshare %s is not permitted" % " ".join(options))


@mpi_test
def ranks_in_user_namespaces_of_their_own(mpi, folder):
    may_unshare("-U", "-r")
    program = ["unshare", "-U", "-r", mpi.build("pairs.c"), "1048576x10"]
    # Debian's MPICH fails there over shared memory
    env = btl("vader") if mpi.name == "openmpi" else {"UCX_TLS": "tcp,self"}
    plain = mpi.run(2, program, folder, env=env)
    job, path = mpi.record(2, program, folder, env=env)
    same((job.code, tidy(job.stdout)), (plain.code, tidy(plain.stdout)), "result")
    # what Open MPI prints of it differs from run to run: its messages cross
    check("mpiwatch" not in job.stderr.lower(), "a line of ours: %s" % job.stderr)
    spaces = [facts(process, "namespace") for process in Trace(path, events=False).processes]
    same(len(spaces), 2, "processes")
    for kind in ("user", "ipc", "net", "pid", "mnt", "uts"):
        check(all(kind in space for space in spaces), "namespace %s is not there" % kind)
    own = os.readlink("/proc/self/ns/user")
    same(len({spaces[0]["user"], spaces[1]["user"], own}), 3, "user namespaces")
    same(spaces[0]["net"], spaces[1]["net"], "network namespaces")


@mpi_test(only="mpich")  # Open MPI's ranks find their daemon through the network
def ports_of_network_namespaces(mpi, folder):
    """Each namespace that is not the first process's has its own ports in the trace."""
    may_unshare("-n")
    env = {"UCX_TLS": "posix,self"}
    job, path = mpi.record(2, ["unshare", "-n", mpi.build("pairs.c"), "8x10"], folder, env=env)
    if job.code:
        raise Skip("MPICH does not run without a network: %s" % job.stderr[-300:])
    processes = Trace(path, events=False).processes
    same(len({facts(process, "namespace")["net"] for process in processes}), 2, "namespaces")
    for process in processes:
        same({look["when"] for look in process.ports}, {INIT, END}, "looks at ports")
        names = {
            port["name"]
            for look in process.ports
            for port in look["ports"]
            if port["kind"] == "net"
        }
        check("lo" in names and "eth0" not in names, "interfaces of a new namespace: %s" % names)


# ---- Ports


@mpi_test(only="openmpi")
def bytes_through_the_loopback_interface(mpi, folder):
    env = btl("tcp", btl_tcp_if_include="lo")
    job, path = mpi.record(2, [mpi.build("pairs.c"), "1048576x40"], folder, env=env)
    job.expect(0)
    trace = Trace(path, events=False)
    writers = [process for process in trace.processes if process.ports]
    same(len(writers), 1, "processes that wrote the node's ports")
    counts = {}
    for look in writers[0].ports:
        for port in look["ports"]:
            if (port["kind"], port["name"]) == ("net", "lo"):
                counts[look["when"]] = (port["sent"], port["received"])
    same(sorted(counts), [INIT, END], "looks at lo")
    grown = [after - before for before, after in zip(counts[INIT], counts[END])]
    check(min(grown) >= 80 * MIB, "lo grew by %s" % grown)
    interfaces = {row["interface"] for pair in joined(trace) for row in pair}
    same(interfaces, {"lo"}, "interface of the connections")


# ---- MPI's choice


def chosen(process, what):
    return sorted(
        row["name"]
        for row in process.choices
        if row["what"] == what and row["how"] in ("selected", "default")
    )


def ofi(folder):
    return {
        "OMPI_MCA_pml": "cm",
        "OMPI_MCA_mtl": "ofi",
        "OMPI_MCA_mtl_ofi_provider_include": "tcp;ofi_rxm",
    }


def ucx(folder):
    return {
        "OMPI_MCA_pml": "ucx",
        "OMPI_MCA_opal_common_ucx_tls": "any",
        "OMPI_MCA_opal_common_ucx_devices": "any",
    }


OPENMPI_CHOICES = {
    "vader": (lambda folder: btl("vader"), ["ob1"], [], ["self", "vader"]),
    "tcp": (lambda folder: btl("tcp"), ["ob1"], [], ["self", "tcp"]),
    "both": (lambda folder: btl("tcp", "vader"), ["ob1"], [], ["self", "tcp", "vader"]),
    "ofi": (ofi, ["cm"], ["ofi"], None),
    "ucx": (ucx, ["ucx"], [], None),
}


@mpi_test(only="openmpi", variants=tuple(OPENMPI_CHOICES))
def the_choice_of_openmpi(mpi, folder, variant):
    env, pml, mtl, btls = OPENMPI_CHOICES[variant]
    program = mpi.build("pairs.c")
    if mpi.run(2, [program, "8x1"], folder, env=env(folder)).code:
        raise Skip("%s does not work here" % variant)
    job, path = mpi.record(2, [program, "65536x10"], folder, env=env(folder))
    job.expect(0)
    for process in Trace(path, events=False).processes:
        same(chosen(process, "pml"), pml, "PML")
        same(chosen(process, "mtl"), mtl, "MTL")
        if btls is not None and not process.library_version.startswith("Open MPI v5"):
            same(chosen(process, "btl"), btls, "BTLs")
        same(process.choice("probe", "openmpi")["how"], "on", "coverage")
        same(process.choice("probe", "mpich")["how"], "absent", "coverage of MPICH")
        same(chosen(process, "netmod"), [], "netmod")
        if variant == "vader":
            mapped = [
                row["name"]
                for row in process.choices
                if row["what"] == "shm" and row["how"] == "mapped"
            ]
            check("vader_segment" in mapped or "sm_segment" in mapped, "mapped: %s" % mapped)


@mpi_test(only="mpich")
def the_choice_of_mpich(mpi, folder):
    job, path = mpi.record(2, [mpi.build("pairs.c"), "65536x10"], folder)
    job.expect(0)
    shown = subprocess.run(
        ["mpichversion"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ).stdout.decode()
    device = shown.partition("Device:")[2].split()[0]
    for process in Trace(path, events=False).processes:
        same(chosen(process, "netmod"), [device.partition(":")[2]], "netmod of %s" % device)
        same(len(chosen(process, "shm")), 1, "shared memory")
        same(process.choice("probe", "openmpi")["how"], "absent", "coverage of Open MPI")


# ---- Odd descriptors


@mpi_test(variants=(("0", "0", "closed"), ("1500", "0", "open"), ("300", "300", "closed")))
def programs_with_odd_descriptors(mpi, folder, variant):
    program = mpi.build("descriptors.c")
    arguments = [program] + list(variant)
    plain = mpi.run(2, arguments, folder)
    if plain.code:
        raise Skip("fails without us: %s" % plain.stderr[-300:])
    job, path = mpi.record(2, arguments, folder)
    same(result(job), result(plain), "result")
    for process in Trace(path, events=False).processes:
        same(process.end, "finalize", "end")
        for when in (INIT, END):
            rows = [row for look in looks(process, when) for row in look]
            wanted = 2 * int(variant[1])  # each has both its ends in one process
            own = {(row["local"], row["remote"]) for row in rows}
            both = [row for row in rows if (row["remote"], row["local"]) in own]
            same(len(both), wanted, "connections with itself")
        unseen = sum(look["unseen"] for look in process.sockets)
        same(unseen, 0, "descriptors that were not looked at")


# ---- Switches


@mpi_test
def switched_off_one_by_one(mpi, folder):
    env = dict(btl("tcp") if mpi.name == "openmpi" else {}, MPIWATCH_PROBES="-sockets,-cma")
    job, path = mpi.record(2, [mpi.build("pairs.c"), "1048576x4"], folder, env=env)
    job.expect(0)
    trace = Trace(path, events=False)
    for process in trace.processes:
        same((process.sockets, process.cma, process.health), ([], [], []), "what is off")
        for name in ("sockets", "cma"):
            row = process.choice("probe", name)
            same((row["how"], row["source"]), ("off", "MPIWATCH_PROBES"), name)
        same(process.choice("probe", "ports")["how"], "on", "ports")
    check(any(process.ports for process in trace.processes), "no ports")


@mpi_test
def one_alone_and_none(mpi, folder):
    program = mpi.build("pairs.c")
    job, path = mpi.record(2, [program, "8x4"], folder, env={"MPIWATCH_PROBES": "sockets"})
    job.expect(0)
    for process in Trace(path, events=False).processes:
        check(process.sockets, "no connections looked at")
        same((process.ports, process.cma, process.attempts), ([], [], []), "what is off")
        same({row["what"] for row in process.choices}, {"probe"}, "choices")
    job, path = mpi.record(2, [program, "8x4"], folder, "none.mpiw", {"MPIWATCH_PROBES": "none"})
    job.expect(0)
    for process in Trace(path, events=False).processes:
        same((process.sockets, process.endpoints, process.log), ([], [], []), "what is off")
        same({row["how"] for row in process.choices}, {"off"}, "choices")


@mpi_test
def a_probe_that_does_not_exist(mpi, folder):
    """Is said, and switches nothing off."""
    job, path = mpi.record(
        2, [mpi.build("pairs.c"), "8x4"], folder, env={"MPIWATCH_PROBES": "sokets"}
    )
    job.expect(0)
    for process in Trace(path, events=False).processes:
        check(process.sockets, "the others are off")
        check(
            any("MPIWATCH_PROBES" in health["message"] for health in process.health),
            "nobody is told: %s" % process.health,
        )


main()
