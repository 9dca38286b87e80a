# SPDX-License-Identifier: BSD-3-Clause
#
# Where ranks may run and by whose leave, what their node is, and who else keeps its processors
# busy: on real jobs bound by launchers, taskset and cpusets, on several nodes, with a foreign process.
# Mostly raw facts; of findings only that they come where ranks share a processor, and not where
# they are bound. Those of made-up machines are tested elsewhere.
"""Placement and topology."""

import json
import os
import subprocess
import sys
import time
import uuid

from harness import SOURCE, Skip, check, command, main, mpi_test, same, setting, tidy
from mpi import OPENMPI
from nodes import Nodes
from trace import Trace

sys.path.insert(0, os.path.join(SOURCE, "tests", "cli"))
from machines import Machine  # noqa: E402  pylint: disable=wrong-import-position

INIT, DURING, END = 1, 2, 3
RULES = ("shared-cpu", "migrated", "far-from-nic", "uneven-nics", "slow-link", "slit-flat")
TRIES = 4  # a busy machine moves processes and has busy ones of others
HERE = sorted(os.sched_getaffinity(0))


def spread(runs):
    return [cpu for first, count in runs for cpu in range(first, first + count)]


def look(process, when):
    found = [row for row in process.placements if row["when"] == when]
    check(found, "rank %s: no look %d: %s" % (process.rank, when, process.placements))
    return found[-1]


def cpus(process, name="cpus", when=INIT):
    return spread(look(process, when)[name])


def record(mpi, folder, line, seconds="0", env=None, trace="job.mpiw"):
    """A job by a launcher's command line of the test's own; the path of its trace."""
    path = os.path.join(folder, trace)
    line = list(line) + ["env", "LD_PRELOAD=%s" % mpi.library(), mpi.build("seconds.c"), seconds]
    command(line, folder, env=dict(env or {}, MPIWATCH_OUT=path)).expect(0)
    return path


def run(*arguments, **options):
    return Trace(record(*arguments, **options), events=False)


def findings(path):
    """Of placement, in the report: {rule: finding}."""
    shown = command([setting("MW_CLI"), "report", "-f", "json", path], os.path.dirname(path))
    found = json.loads(shown.expect(0).stdout)["findings"]
    return {finding["id"]: finding for finding in found if finding["id"] in RULES}


def launcher(mpi, *options):
    """Two ranks, not bound unless the options say so."""
    if mpi is OPENMPI:
        options = options or ("--bind-to", "none")
        return ["mpirun.openmpi", "--oversubscribe", "-n", "2"] + list(options)
    return ["mpirun.mpich", "-n", "2"] + list(options)


def two_processors():
    if len(HERE) < 2:
        raise Skip("needs two processors")


def nodes_writer(trace):
    writers = [process for process in trace.processes if process.topology]
    same(len(writers), 1, "processes that described the node")
    return writers[0]


# ---- What a rank says of itself


@mpi_test
def every_rank_says_where_it_may_run(mpi, folder):
    trace = run(mpi, folder, launcher(mpi))
    for process in trace.processes:
        same([row["when"] for row in process.placements], [INIT, END], "looks")
        for when in (INIT, END):
            row = look(process, when)
            same(spread(row["cpus"]), HERE, "CPUs")
            check(row["cpu"] in HERE, "on CPU %d" % row["cpu"])
            check(row["threads"] >= 1 and row["voluntary"] + row["involuntary"] >= 0, row)
            threads = [thread for thread in row["placed_threads"] if thread["mpi"]]
            same([thread["tid"] for thread in threads], [process.pid], "threads that call MPI")
        parent = "mpirun" if mpi is OPENMPI else "hydra_pmi_proxy"
        check(look(process, INIT)["parent"].startswith(parent), look(process, INIT)["parent"])
        same(cpus(process, "parent_cpus"), HERE, "the launcher's")
        same(process.choice("probe", "placement")["how"], "on", "coverage")


@mpi_test(variants=("outside", "inside"))
def taskset(mpi, folder, where):
    """Around the launcher, whose mask is then the same, or between it and the ranks."""
    two_processors()
    last = str(HERE[-1])
    line = launcher(mpi)
    if where == "outside":
        line = ["taskset", "-c", last] + line
    else:
        line += ["taskset", "-c", last]
    for process in run(mpi, folder, line).processes:
        same(cpus(process), [HERE[-1]], "CPUs")
        same(cpus(process, when=END), [HERE[-1]], "CPUs at the end")
        same(look(process, INIT)["cpu"], HERE[-1], "CPU")
        same(cpus(process, "parent_cpus"), [HERE[-1]] if where == "outside" else HERE, "parent's")


def binding(mpi, folder):
    """Two ranks, each with a core of its own."""
    two_processors()
    options = ("--bind-to", "core", "--map-by", "core") if mpi is OPENMPI else ("-bind-to", "core")
    line = launcher(mpi, *options)
    if command(line + ["true"], folder).code:
        raise Skip("this launcher cannot bind here")
    return line


@mpi_test
def bound_by_the_launcher(mpi, folder):
    trace = run(mpi, folder, binding(mpi, folder))
    masks = [cpus(process) for process in trace.processes]
    check(all(len(mask) < len(HERE) for mask in masks), "not bound: %s" % masks)
    check(not set(masks[0]) & set(masks[1]), "both on %s" % masks)
    for process in trace.processes:
        same(cpus(process, "parent_cpus"), HERE, "the launcher's")


@mpi_test(variants=("nobody", "launcher", "wrapper", "script", "openmp"))
def who_bound_them(mpi, folder, who):
    """As the report's section says, of real jobs."""
    two_processors()
    with open("/sys/devices/system/cpu/online") as file:
        if len(HERE) != sum(part.count("-") and int(part.split("-")[1]) - int(part.split("-")[0]) + 1 or 1
                            for part in file.read().strip().split(",")):
            raise Skip("this process may not use all processors")
    last, env = str(HERE[-1]), {}
    line, expected = launcher(mpi), "narrowed"
    if who == "nobody":
        expected = "none"
    elif who == "launcher":
        line, expected = binding(mpi, folder), "launcher"
    elif who == "wrapper":  # becomes the program
        line += ["sh", "-c", 'exec taskset -c %s "$@"' % last, "sh"]
    elif who == "script":  # stays, and is bound itself
        line += ["sh", "-c", 'taskset -pc %s $$ > script.log; "$@"; exit $?' % last, "sh"]
        expected = "inherited"
    else:
        env = {"OMP_PROC_BIND": "true"}
    program = mpi.build("seconds.c", "-Wl,--no-as-needed", "-lgomp", name="seconds_openmp")
    path = os.path.join(folder, "job.mpiw")
    line += ["env", "LD_PRELOAD=%s" % mpi.library(), program, "0"]
    command(line, folder, env=dict(env, MPIWATCH_OUT=path)).expect(0)
    shown = command([setting("MW_CLI"), "placement", "-f", "json", path], folder).expect(0).stdout
    found = json.loads(shown)["placement"]["ranks"]
    same([rank["origin"] for rank in found], [expected] * 2, "who bound the ranks")


@mpi_test
def within_a_cpuset(mpi, folder):
    two_processors()
    base = "/sys/fs/cgroup/cpuset"
    old = os.path.isdir(base)
    group = "%s/mwtest-%s" % (base if old else "/sys/fs/cgroup", uuid.uuid4().hex[:8])
    try:
        os.mkdir(group)
    except OSError as error:
        raise Skip("no cpuset here: %s" % error)
    try:
        try:
            for name, value in (("cpuset.mems", "0"), ("cpuset.cpus", str(HERE[0]))):
                with open(os.path.join(group, name), "w") as file:
                    file.write(value)
        except OSError as error:
            raise Skip("no cpuset here: %s" % error)
        enter = "echo $$ > %s/cgroup.procs && exec \"$@\"" % group
        trace = run(mpi, folder, ["sh", "-c", enter, "sh"] + launcher(mpi))
        for process in trace.processes:
            same(cpus(process), [HERE[0]], "CPUs")
            same(cpus(process, "cgroup_cpus"), [HERE[0]], "the cpuset's")
        machine = spread(nodes_writer(trace).topology["slit"][0]["cpus"])
        check(len(machine) >= len(HERE), "the node has only %s" % machine)
    finally:
        for _ in range(100):
            try:
                os.rmdir(group)
                break
            except OSError:
                time.sleep(0.05)


# ---- The node


def pus(xml):
    return xml.count(b'type="PU"')


@mpi_test
def the_node_once(mpi, folder):
    trace = run(mpi, folder, launcher(mpi))
    writer = nodes_writer(trace)
    check(writer.facts_node, "another process wrote the node's facts")
    topology = writer.topology
    online = [name for name in os.listdir("/sys/devices/system/cpu") if name[3:].isdigit()]
    if topology["failure"] == "hwloc is not installed":
        check(not topology["xml"], "XML without hwloc")
    else:
        same(topology["failure"], "", "hwloc")
        same(pus(topology["xml"]), len(online), "CPUs in hwloc's XML")
        check(topology["source"].startswith("hwloc, interface 2."), topology["source"])
    nodes = [name for name in os.listdir("/sys/devices/system/node") if name[4:].isdigit()]
    same(sorted("node%d" % row["node"] for row in topology["slit"]), sorted(nodes), "NUMA nodes")
    for row in topology["slit"]:
        with open("/sys/devices/system/node/node%d/distance" % row["node"]) as file:
            same(row["distance"], [int(part) for part in file.read().split()], "distances")
    for row in topology["pci"]:
        with open("/sys/bus/pci/devices/%s/class" % row["address"]) as file:
            same(row["class"], int(file.read(), 16), "class of " + row["address"])
    known = {fact["key"] for fact in writer.facts if fact["section"] in ("cpu", "memory", "system")}
    check({"numa_nodes", "MemTotal", "kernel"} <= known, "settings of the machine: %s" % known)


@mpi_test
def what_a_process_may_not_use_is_there(mpi, folder):
    """The XML is of the whole machine, however little of it the job has."""
    two_processors()
    trace = run(mpi, folder, ["taskset", "-c", str(HERE[0])] + launcher(mpi))
    topology = nodes_writer(trace).topology
    if not topology["xml"]:
        raise Skip(topology["failure"])
    check(pus(topology["xml"]) >= len(HERE), "only %d CPUs" % pus(topology["xml"]))


@mpi_test(variants=("process", "node"))
def once_also_with_a_file_for_each_process(mpi, folder, files):
    nodes_writer(run(mpi, folder, launcher(mpi), env={"MPIWATCH_FILES": files}))


@mpi_test
def two_nodes(mpi, folder):
    path = os.path.join(folder, "job.mpiw")
    options = ["--mca", "btl_tcp_if_include", "eth0"] if mpi is OPENMPI else []
    env = {} if mpi is OPENMPI else {"UCX_TLS": "tcp,posix,self", "UCX_NET_DEVICES": "eth0"}
    with Nodes(2, folder) as nodes:
        nodes.record(mpi, 4, [mpi.build("pairs.c"), "8x5"], path, *options, env=env).expect(0)
    processes = Trace(path, events=False).processes
    hosts = sorted(process.host for process in processes if process.topology)
    same(hosts, ["node1", "node2"], "nodes that were described")
    same([len(process.placements) for process in processes], [2] * 4, "looks")


@mpi_test
def a_description_by_the_site(mpi, folder):
    xml = os.path.join(folder, "machine.xml")
    content = b'<?xml version="1.0"?>\n<topology version="2.0"><object/></topology>\n'
    with open(xml, "wb") as file:
        file.write(content)
    env = {"MPIWATCH_HWLOC_XML": xml}
    topology = nodes_writer(run(mpi, folder, launcher(mpi), env=env)).topology
    same(topology["xml"], content, "XML")
    same((topology["source"], topology["failure"]), ("file " + xml, ""), "where it is from")
    env = {"MPIWATCH_HWLOC_XML": xml + ".gone"}
    topology = nodes_writer(run(mpi, folder, launcher(mpi), env=env, trace="gone.mpiw")).topology
    same(topology["xml"], b"", "XML")
    check("cannot read" in topology["failure"], topology["failure"])


@mpi_test(variants=("-topology", "-placement"))
def switched_off(mpi, folder, probe):
    trace = run(mpi, folder, launcher(mpi), env={"MPIWATCH_PROBES": probe})
    for process in trace.processes:
        same(process.choice("probe", probe[1:])["how"], "off", "coverage")
        same(len(process.placements), 0 if probe == "-placement" else 2, "looks")
    topologies = [process for process in trace.processes if process.topology]
    same(len(topologies), 0 if probe == "-topology" else 1, "topologies")


INIT_MOST = 50000  # us of processor time that we may add to MPI_Init of the one that describes the node
LARGE_MOST = 200000000  # ns, where hwloc reads a large machine


def large_machine(folder):
    """hwloc's XML of two sockets of 64 cores, with 8 GPUs and 8 cards; its path."""
    path = os.path.join(folder, "large.xml")
    nics = {node: ["mlx5_%d ib%d" % (node, node)] for node in range(8)}
    machine = Machine(packages=2, numas=4, cores=16, threads=2, nics=nics,
                      gpus={node: 1 for node in range(8)}, slit=lambda a, b: 10 if a == b else 20)
    with open(path, "w") as file:
        file.write(machine.xml())
    return path


@mpi_test(variants=("here", "large by a file", "large by hwloc"))
def time_in_init(mpi, folder, what):
    """Processor time, the least of several runs: other work on the machine does not count."""
    large = large_machine(folder)
    env = {"large by a file": {"MPIWATCH_HWLOC_XML": large},
           "large by hwloc": {"HWLOC_XMLFILE": large, "HWLOC_THISSYSTEM": "0"}}.get(what, {})
    program = mpi.build("init_time.c")
    line = ["env"] + ["%s=%s" % pair for pair in env.items()] + [program]
    without, used, took = [], [], []
    for number in range(TRIES):
        without.append(int(mpi.run(1, line, folder).expect(0).stdout))
        job, path = mpi.record(1, line, folder, trace="job%d.mpiw" % number)
        used.append(int(job.expect(0).stdout))
        topology = nodes_writer(Trace(path, events=False)).topology
        took.append(topology["took"])
    if what != "large by a file" and not topology["xml"]:
        raise Skip(topology["failure"])
    if what != "here":
        same(pus(topology["xml"]), 256, "CPUs in the XML")
    added = min(used) - min(without)
    print("# %s, %s: %d us added, %d us for the XML" % (mpi.name, what, added, min(took) // 1000))
    check(added <= INIT_MOST, "added %d us of processor time: %s, %s" % (added, used, without))
    check(min(took) <= LARGE_MOST, "took %s ns" % took)


# ---- Others


def processor_seconds(pid):
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@mpi_test
def a_foreign_spinner(mpi, folder):
    # With several threads it has its share on a busy machine, too.
    argv = ["taskset", "-c", str(HERE[-1]), mpi.build("spinner.c", "-pthread"), "8"]
    spinner = subprocess.Popen(argv, stdin=subprocess.DEVNULL)
    began = time.monotonic()
    try:
        trace = run(mpi, folder, launcher(mpi), seconds="2")
        share = processor_seconds(spinner.pid) / (time.monotonic() - began)
        if share < 0.25:
            raise Skip("the machine is busy: the spinner had %.0f %%" % (100 * share))
    finally:
        spinner.kill()
        spinner.wait()
    writer = nodes_writer(trace)
    for process in trace.processes:
        same(look(process, INIT)["foreigners"], [], "found at the first look")
        check(process is writer or not look(process, END)["watched"], "a second one looked")
    row = look(writer, END)
    check(row["watched"] > 10**9, "watched %d ns" % row["watched"])
    found = [other for other in row["foreigners"] if other["pid"] == spinner.pid]
    check(found, "not among %s; %d not looked at" % (row["foreigners"], row["unwatched"]))
    same((found[0]["cpu"], spread(found[0]["cpus"]), found[0]["same_user"], found[0]["parent"]),
         (HERE[-1], [HERE[-1]], 1, os.getpid()), "the spinner")
    check(found[0]["busy"] >= 20, "busy %d %%" % found[0]["busy"])
    ranks = {process.pid for process in trace.processes}
    check(not ranks & {other["pid"] for other in row["foreigners"]}, "ranks among the foreign ones")


# ---- What the report makes of it


@mpi_test
def two_ranks_on_one_processor(mpi, folder):
    two_processors()
    line = ["taskset", "-c", str(HERE[0])] + launcher(mpi)
    found = findings(record(mpi, folder, line)).get("shared-cpu")
    check(found, "no finding")
    same((found["severity"], found["ranks"]), ("warning", "0-1"), found["title"])


@mpi_test
def bound_ranks_are_fine(mpi, folder):
    line = binding(mpi, folder)
    titles = []
    for number in range(TRIES):
        found = findings(record(mpi, folder, line, trace="job%d.mpiw" % number))
        if not found:
            return
        titles += [one["title"] for one in found.values()]
        check(found.keys() <= {"shared-cpu"}, titles)
    # Ranks that have their own can only share a processor with others' processes.
    trace = Trace(os.path.join(folder, "job%d.mpiw" % (TRIES - 1)), events=False)
    check(any(look(process, END)["foreigners"] for process in trace.processes), titles)
    raise Skip("other processes keep this machine's processors busy")


# ---- No harm


@mpi_test(variants=("plain", "verbose"))
def nothing_is_printed_or_left(mpi, folder, how):
    """Output, descriptors, masks and environment, also where hwloc is told to talk."""
    env = {"HWLOC_COMPONENTS_VERBOSE": "1"} if how == "verbose" else {}
    program = mpi.build("state.c", "-lm")
    plain = mpi.run(2, [program], folder, env=env)
    job, path = mpi.record(2, [program], folder, env=env)
    same(job.stdout.splitlines(), plain.stdout.splitlines(), "state")
    same((job.code, tidy(job.stderr)), (plain.code, tidy(plain.stderr)), "exit code and stderr")
    if how == "verbose":
        topology = nodes_writer(Trace(path, events=False)).topology
        check("HWLOC_COMPONENTS_VERBOSE" in topology["failure"], topology["failure"])


main()
