# SPDX-License-Identifier: BSD-3-Clause
#
# Test nodes on one machine: network namespaces that hang on a switch of their own, each with its own
# host name and IPC namespace. Open MPI and MPICH start ranks on them by a launcher agent as they
# would by ssh. Needs root, network namespaces and iproute2; where they are missing the test skips.
"""Several nodes on one machine."""

import os
import shutil
import stat
import subprocess
import uuid

from harness import Skip, command
from mpi import patient

AGENT = """#!/bin/sh
# Launcher agent: [options] HOST COMMAND... runs COMMAND on that node.
while :; do case $1 in -*) shift ;; *) break ;; esac; done
host=$1
shift
case $host in
    10.*) number=${host##*.} ;;
    *) number=${host#node} ;;
esac
clock=
[ -e "$0.clock.$number" ] && clock=$(cat "$0.clock.$number")
exec ip netns exec "%(prefix)s$number" unshare -u -i $clock sh -c "hostname node$number; $*"
"""


def _ip(*arguments, check=True):
    return subprocess.run(
        ["ip"] + [str(a) for a in arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=check,
    )


def missing():
    """Why there can be no nodes here; None when there can."""
    if os.geteuid() != 0:
        return "needs root: it makes network namespaces"
    for tool in ("ip", "unshare", "hostname"):
        if not shutil.which(tool, path="/usr/bin:/bin:/usr/sbin:/sbin"):
            return "%s is not installed" % tool
    name = "mw%s" % uuid.uuid4().hex[:6]
    made = _ip("netns", "add", name, check=False)
    if made.returncode:
        return "no network namespaces here: %s" % made.stdout.decode(errors="replace").strip()
    try:
        bridge = _ip("-n", name, "link", "add", "sw", "type", "bridge", check=False)
        if bridge.returncode:
            return "no bridges here: %s" % bridge.stdout.decode(errors="replace").strip()
        entered = subprocess.run(
            ["ip", "netns", "exec", name, "unshare", "-u", "-i", "true"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if entered.returncode:
            return "namespaces cannot be entered: %s" % entered.stdout.decode(errors="replace").strip()
    finally:
        _ip("netns", "del", name, check=False)
    return None


class Nodes:
    """Nodes node1 to nodeN (10.77.0.N on eth0), for a with statement."""

    def __init__(self, count, folder):
        reason = missing()
        if reason:
            raise Skip(reason)
        self.count, self.folder = count, folder
        self.prefix = "mw%s-" % uuid.uuid4().hex[:6]
        self.switch = self.prefix + "sw"
        self.agent = os.path.join(folder, "agent.sh")

    def __enter__(self):
        with open(self.agent, "w") as file:
            file.write(AGENT % {"prefix": self.prefix})
        os.chmod(self.agent, os.stat(self.agent).st_mode | stat.S_IXUSR)
        try:
            _ip("netns", "add", self.switch)
            _ip("-n", self.switch, "link", "add", "sw", "type", "bridge")
            _ip("-n", self.switch, "link", "set", "sw", "up")
            for number in range(1, self.count + 1):
                self._add(number)
        except Exception:
            self.__exit__()
            raise
        return self

    def _add(self, number):
        node, port = self.prefix + str(number), "p%d" % number
        _ip("netns", "add", node)
        _ip("-n", self.switch, "link", "add", port, "type", "veth", "peer", "name", "eth0",
            "netns", node)
        _ip("-n", self.switch, "link", "set", port, "master", "sw", "up")
        _ip("-n", node, "addr", "add", "10.77.0.%d/24" % number, "dev", "eth0")
        _ip("-n", node, "link", "set", "eth0", "up")
        _ip("-n", node, "link", "set", "lo", "up")

    def __exit__(self, *_):
        for number in range(1, self.count + 1):
            _ip("netns", "del", self.prefix + str(number), check=False)
        _ip("netns", "del", self.switch, check=False)

    def on(self, number, argv):
        """The command line that runs argv on a node."""
        return [self.agent, "node%d" % number] + [str(part) for part in argv]

    def ahead(self, number, seconds):
        """Shifts what CLOCK_MONOTONIC says on a node; skips where that cannot be. CLOCK_REALTIME is one on the
        machine."""
        shift = ["-T", "--monotonic", str(seconds)]
        made = subprocess.run(["unshare"] + shift + ["sh", "-c", "true; true"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if made.returncode:
            raise Skip("no time namespaces here: %s" % made.stdout.decode(errors="replace").strip())
        with open("%s.clock.%d" % (self.agent, number), "w") as file:
            file.write(" ".join(shift))

    def rate(self, number, rate):
        """Limits what a node sends ("800mbit"); skips where the kernel has no such queue."""
        node = self.prefix + str(number)
        made = subprocess.run(
            ["ip", "netns", "exec", node, "tc", "qdisc", "replace", "dev", "eth0", "root", "tbf",
             "rate", rate, "burst", "256kb", "latency", "50ms"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if made.returncode:
            raise Skip("no rate limits here: %s" % made.stdout.decode(errors="replace").strip())

    def launch(self, mpi, ranks, argv, *options):
        """The command line that starts `ranks` ranks, dealt out node by node."""
        each = (ranks + self.count - 1) // self.count
        if mpi.name == "openmpi":
            hosts = ",".join("node%d:%d" % (n, each) for n in range(1, self.count + 1))
            line = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none",
                    "--mca", "plm_rsh_agent", self.agent, "--host", hosts,
                    "--mca", "oob_tcp_if_include", "eth0", "-n", ranks]
        else:
            hosts = ",".join("10.77.0.%d:%d" % (n, each) for n in range(1, self.count + 1))
            line = ["mpiexec.mpich", "-launcher", "rsh", "-launcher-exec", self.agent,
                    "-hosts", hosts, "-iface", "eth0", "-n", ranks]
        return self.on(1, line + list(options) + list(argv))

    def record(self, mpi, ranks, argv, trace, *options, env=None, timeout=120):
        """Runs a job on the nodes under the library, to its end."""
        line = ["env", "LD_PRELOAD=%s" % mpi.library()] + [str(part) for part in argv]
        every = dict(env or {}, MPIWATCH_OUT=trace)
        return patient(
            mpi,
            every,
            lambda limit: command(
                self.launch(mpi, ranks, line, *options), self.folder, env=every,
                timeout=limit or timeout),
            trace,
        )
