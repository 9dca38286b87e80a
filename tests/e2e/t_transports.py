# SPDX-License-Identifier: BSD-3-Clause
#
# Which transport, on real stacks: for each way that an MPI can be made to go, "mpiwatch transports"
# names it for every pair of ranks, what was counted adds up to what MPI was asked to move, and the job's
# own output stays what it is without the library.
"""Transports of real jobs."""

import csv
import io
import json
import os

from harness import Skip, check, command, main, mpi_test, same, setting, tidy
from mpi import MPICH, OPENMPI, patient
from nodes import Nodes
from stacks import shared_btl

SMALL, LARGE = (8, 40), (1 << 20, 30)
SIZES = ["%dx%d" % SMALL, "%dx%d" % LARGE]
EACH = SMALL[0] * SMALL[1] + LARGE[0] * LARGE[1]  # bytes in each direction of each pair
WITHIN = 0.02


class Routes:
    """What "mpiwatch transports" says of a trace."""

    def __init__(self, path, folder):
        run = command([setting("MW_CLI"), "transports", "--format", "csv", path], folder).expect(0)
        same(run.stderr, "", "stderr of mpiwatch transports")
        self.text = run.stdout
        self.pairs = {}
        for row in csv.DictReader(io.StringIO(run.stdout)):
            self.pairs.setdefault((int(row["src"]), int(row["dst"])), []).append(row)

    def known(self, pair):
        check(pair in self.pairs, "no pair %s in\n%s" % (pair, self.text))
        rows = self.pairs[pair]
        check(not any(row["unknown"] for row in rows), "%s is not known:\n%s" % (pair, self.text))
        return rows

    def of_size(self, pair, size):
        """The main route of a size of message."""
        for row in self.known(pair):
            if row["from"] and int(row["from"]) <= size <= int(row["to"]):
                return row
        check(False, "nothing for %d bytes of %s in\n%s" % (size, pair, self.text))

    def is_way(self, pair, size, name, device=None, where=None):
        row = self.of_size(pair, size)
        names = name if isinstance(name, tuple) else (name,)
        check(row["transport"] in names, "%d bytes of %s went by %s, not by %s:\n%s"
              % (size, pair, row["transport"], names, self.text))
        if device is not None:
            same(row["device"], device, "device of %d bytes of %s" % (size, pair))
        if where is not None:
            same(row["where"], where, "where %s lies" % (pair,))
        return row

    def carried(self, pair):
        return sum(int(row["carried"]) for row in self.known(pair))

    def adds_up(self, pair, amount=EACH):
        carried = self.carried(pair)
        check(abs(carried - amount) <= WITHIN * amount,
              "%s: %d bytes were counted, %d were sent (%.2f %% off)\n%s"
              % (pair, carried, amount, 100.0 * (carried - amount) / amount, self.text))


def run_pairs(mpi, folder, ranks, options, env=None, sizes=SIZES, timeout=120):
    """Runs pairs.c plain and recorded with the launcher's options; returns what it used."""
    program = mpi.build("pairs.c")
    path = os.path.join(folder, "job.mpiw")

    def job(argv, more):
        line = mpi.launch(ranks, [str(part) for part in argv])
        line = line[:1] + list(options) + line[1:]
        every = dict(env or {}, **more)
        return patient(
            mpi, every, lambda limit: command(line, folder, env=every, timeout=limit or timeout),
            every.get("MPIWATCH_OUT"))

    plain = job([program] + sizes, {})
    if plain.code:
        raise Skip("this MPI cannot go that way here: %s" % plain.stderr.strip()[-200:])
    recorded = job(["env", "LD_PRELOAD=%s" % mpi.library(), program] + sizes,
                   {"MPIWATCH_OUT": path})
    recorded.expect(0)
    same(recorded.stdout, plain.stdout, "stdout")
    same(tidy(recorded.stderr), tidy(plain.stderr), "stderr")
    return Routes(path, folder)


UCX_OPTIONS = ["--mca", "pml", "ucx", "--mca", "opal_common_ucx_tls", "any",
               "--mca", "opal_common_ucx_devices", "any"]
OFI_OPTIONS = ["--mca", "pml", "cm", "--mca", "mtl", "ofi",
               "--mca", "mtl_ofi_provider_include"]


@mpi_test(only="openmpi")
def shared_memory_of_ob1(mpi, folder):
    """Small messages leave no trace in the kernel: concluded. Large ones are single copies, which are
    counted."""
    btl = shared_btl()
    routes = run_pairs(mpi, folder, 3, ["--mca", "pml", "ob1", "--mca", "btl", btl + ",self"])
    for pair in [(a, b) for a in range(3) for b in range(3) if a != b]:
        row = routes.is_way(pair, 8, btl, where="node")
        same(row["certainty"], "concluded", "small messages of %s" % (pair,))
        row = routes.is_way(pair, LARGE[0], "cma", where="node")
        same(row["certainty"], "seen", "large messages of %s" % (pair,))
        routes.adds_up(pair, LARGE[0] * LARGE[1])


@mpi_test(only="openmpi")
def tcp_of_ob1(mpi, folder):
    routes = run_pairs(mpi, folder, 3, ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"])
    for pair in [(a, b) for a in range(3) for b in range(3) if a != b]:
        for size in (SMALL[0], LARGE[0]):
            row = routes.is_way(pair, size, "tcp", where="node")
            same(row["certainty"], "seen", "certainty of %s" % (pair,))
            check(row["device"], "the interface is not named:\n" + routes.text)
        routes.adds_up(pair)


@mpi_test(only="openmpi", variants=("tcp;ofi_rxm", "sockets"))
def libfabric_through_cm(mpi, folder, provider):
    routes = run_pairs(mpi, folder, 2, OFI_OPTIONS + [provider])
    for pair in [(0, 1), (1, 0)]:
        for size in (SMALL[0], LARGE[0]):
            row = routes.is_way(pair, size, provider)
            same((row["layer"], row["certainty"]), ("libfabric", "seen"), "layer")
        routes.adds_up(pair)


@mpi_test(only="openmpi", variants=("shared", "tcp"))
def ucx_under_open_mpi(mpi, folder, variant):
    env = {"UCX_TLS": "tcp,self"} if variant == "tcp" else {}
    routes = run_pairs(mpi, folder, 2, UCX_OPTIONS, env)
    check_ucx(routes, variant)


@mpi_test(only="mpich", variants=("unset", "tcp,self", "posix,self"))
def ucx_under_mpich(mpi, folder, variant):
    tls = "" if variant == ("unset",) else ",".join(variant) if isinstance(variant, tuple) else variant
    routes = run_pairs(mpi, folder, 2, [], {} if tls in ("", "unset") else {"UCX_TLS": tls})
    check_ucx(routes, "tcp" if tls == "tcp,self" else "posix" if tls == "posix,self" else "shared")


def check_ucx(routes, kind):
    shared = ("posix", "sysv")
    for pair in [(0, 1), (1, 0)]:
        small = routes.is_way(pair, 8, "tcp" if kind == "tcp" else shared)
        large = routes.is_way(
            pair, LARGE[0], "tcp" if kind == "tcp" else shared if kind == "posix" else ("cma",) + shared)
        same((small["layer"], large["layer"]), ("UCX", "UCX"), "layers")
        routes.adds_up(pair)


@mpi_test
def two_nodes(mpi, folder):
    """Pairs within a node and between nodes are told apart, and the interface is named."""
    path = os.path.join(folder, "job.mpiw")
    env, options = {}, []
    if mpi is OPENMPI:
        options = ["--mca", "btl_tcp_if_include", "eth0"]
    else:
        env = {"UCX_TLS": "tcp,posix,cma,self", "UCX_NET_DEVICES": "eth0"}
    with Nodes(2, folder) as nodes:
        program = mpi.build("pairs.c")
        nodes.record(mpi, 3, [program, "8x10", "%dx10" % LARGE[0]], path, *options, env=env).expect(0)
    routes = Routes(path, folder)
    amount = 8 * 10 + LARGE[0] * 10
    near = shared_btl() if mpi is OPENMPI else ("posix", "sysv")
    for pair in [(0, 1), (1, 0)]:
        routes.is_way(pair, 8, near, where="node")
    for pair in [(0, 2), (2, 0), (1, 2), (2, 1)]:
        routes.is_way(pair, 8, "tcp", device="eth0", where="network")
        routes.is_way(pair, LARGE[0], "tcp", device="eth0", where="network")
        routes.adds_up(pair, amount)
    found = json.loads(command([setting("MW_CLI"), "report", "--format", "json", path], folder)
                       .expect(0).stdout)
    # what else the machine does while it is tested is true, and no concern of these tests
    same([f for f in found["findings"] if f["severity"] != "notice" and f["id"] != "shared-cpu"], [], "findings")


@mpi_test(variants=("-libfabric,-ucx,-sockets,-cma,-openmpi,-mpich", "none"))
def without_probes_nothing_is_guessed(mpi, folder, variant):
    """Where nothing was looked at, the answer is unknown, with the reason."""
    switch = ",".join(variant) if isinstance(variant, tuple) else variant
    env = {"MPIWATCH_PROBES": switch}
    if mpi is MPICH:
        env["UCX_TLS"] = "tcp,self"
    options = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"] if mpi is OPENMPI else []
    routes = run_pairs(mpi, folder, 2, options, env, ["8x5"])
    for pair in [(0, 1), (1, 0)]:
        rows = routes.pairs.get(pair, [])
        check(any(row["unknown"] for row in rows), "should not be known:\n" + routes.text)
        check(not any(row["certainty"] == "seen" for row in rows), "nothing was seen:\n" + routes.text)


@mpi_test
def matrix_of_transports(mpi, folder):
    options = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"] if mpi is OPENMPI else []
    run_pairs(mpi, folder, 2, options, {"UCX_TLS": "tcp,self"} if mpi is MPICH else {}, ["8x5"])
    path = os.path.join(folder, "job.mpiw")
    for form in ("text", "csv", "json"):
        told = command([setting("MW_CLI"), "matrix", "--metric", "transport", "--format", form, path],
                       folder).expect(0)
        check("tcp" in told.stdout, "no tcp in the matrix:\n" + told.stdout)


main()
