# SPDX-License-Identifier: BSD-3-Clause
#
# The incidents that the tool is for, provoked on real stacks: the silent fallback, settings that nobody
# reads, the network inside a node, refused single copies, ranks that disagree. Each must be said, with
# its evidence, and nothing must be said of healthy jobs.
"""Findings on real jobs."""

import json
import os
import shutil
import subprocess

import fabric
from harness import PROGRAMS, Job, Skip, check, command, main, mpi_test, same, setting, tidy
from mpi import OPENMPI, build_folder, compile_file, patient
from stacks import shared_btl

SIZES = ["8x50", "1048576x20"]
CXI = ["--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include", "cxi", "--mca", "btl", "tcp,self"]


def job(mpi, folder, ranks, options, argv, env=None, preload=True, timeout=90):
    """Runs a job with options for the launcher; the trace is job.mpiw."""
    argv = [str(part) for part in argv]
    more = dict(env or {})
    if preload:
        argv = ["env", "LD_PRELOAD=%s" % mpi.library()] + argv
        more["MPIWATCH_OUT"] = os.path.join(folder, "job.mpiw")
    more["OMPI_MCA_orte_base_help_aggregate"] = "0"
    line = mpi.launch(ranks, argv)
    return patient(
        mpi, more, lambda limit: command(line[:1] + list(options) + line[1:], folder, env=more,
                                         timeout=limit or timeout), more.get("MPIWATCH_OUT"))


def said(text):
    """What a job said on stderr, as a set: Open MPI's processes mix their lines, and its relay of help
    messages complains now and then about itself."""
    noise = ("reported by process", "sent help message", "orte_base_help_aggregate")
    return sorted({line for line in tidy(text) if not any(word in line for word in noise)})


def findings(folder, trace="job.mpiw"):
    run = command(
        [setting("MW_CLI"), "report", "--format", "json", os.path.join(folder, trace)], folder
    ).expect(0)
    found = json.loads(run.stdout)["findings"]
    # what else the machine does while it is tested is true, and no concern of these tests
    return [finding for finding in found if not ("of others" in finding["title"] and finding["id"] == "shared-cpu")]


def of(found, name):
    """The findings of one rule."""
    return [f for f in found if f["id"] == name]


def text_of(finding):
    return "\n".join([finding["title"]] + finding["evidence"]
                     + [finding["cost"] or "", finding["advice"] or ""])


def has(finding, *parts):
    for part in parts:
        check(part in text_of(finding), "%r is not in\n%s" % (part, text_of(finding)))


def expectation(folder, *expectations):
    line = [setting("MW_CLI"), "check", os.path.join(folder, "job.mpiw")]
    for text in expectations:
        line += ["--expect", text]
    return command(line, folder)


def cxi_environment(**fake):
    """The test provider is found; `fake` tells it what to do (tests/stubs/fabric/cxi.c)."""
    more = {"FAKE_" + name: value for name, value in fake.items()}
    return dict(FI_PROVIDER_PATH=fabric.provider_folder(), **more)


def forbidding_single_copies():
    """A program that runs another one without process_vm_readv and _writev."""
    return compile_file("gcc", os.path.join(PROGRAMS, "nocma.c"),
                        os.path.join(build_folder(), "nocma"), ["-g", "-O1", "-Wall"])


@mpi_test
def healthy_jobs_have_no_finding(mpi, folder):
    job(mpi, folder, 2, [], [mpi.build("pairs.c")] + SIZES).expect(0)
    same(findings(folder), [], "findings")
    expectation(folder, "no-finding", "ranks=2", "ended=MPI_Finalize").expect(0)
    expectation(folder, "transport=cxi").expect(1)


@mpi_test(only="openmpi")
def the_healthy_card(mpi, folder):
    job(mpi, folder, 2, CXI, [mpi.build("pairs.c")] + SIZES, cxi_environment()).expect(0)
    same(findings(folder), [], "findings")
    expectation(folder, "transport=cxi", "no-finding").expect(0)
    expectation(folder, "transport=tcp").expect(1)


WORDS = {  # step: what the failing call returned, in its own words
    "getinfo": ("fi_getinfo", "cxi"),
    "fabric": ("fi_fabric", "-22", "Invalid argument"),
    "domain": ("fi_domain", "-22", "Invalid argument"),
    "endpoint": ("fi_endpoint", "-28", "No space left on device"),
    "enable": ("fi_enable", "-262", "Invalid resource domain", "Failed to allocate CP",
               "Failed to allocate control TXQ"),
}


@mpi_test(only="openmpi", variants=tuple((step, who) for step in WORDS for who in ("all", "one")))
def the_silent_fallback(mpi, folder, variant):
    """Said with the first failing call, its code in words, the lines that the provider logged, and what was
    used instead; the job itself says what it says without us."""
    step, who = variant
    env = cxi_environment(FAIL=step)
    if who == "one":
        env["FAKE_FAIL_RANK"] = "1"
    argv = [mpi.build("pairs.c")] + SIZES
    plain = job(mpi, folder, 2, CXI, argv, env, preload=False)
    seen = job(mpi, folder, 2, CXI, argv, env)
    same((seen.code, seen.stdout), (plain.code, plain.stdout), "exit code and stdout")
    if seen.code == 0:  # ranks that are killed have said more or less until then
        same(said(seen.stderr), said(plain.stderr), "stderr")
    check("mpiwatch" not in seen.stderr, seen.stderr)
    found = findings(folder)
    fallback = of(found, "fallback")
    same(len(fallback), 1, "fallback findings in %s" % [f["title"] for f in found])
    has(fallback[0], *WORDS[step])
    check("1 of 2 ranks" in text_of(fallback[0]) if who == "one" else "2 of 2 ranks" in text_of(fallback[0]),
          text_of(fallback[0]))
    if seen.code == 0:
        same(fallback[0]["severity"], "critical", "severity")
        has(fallback[0], "ob1", "tcp", "40.0 MiB")
        if step in ("domain", "endpoint", "enable"):
            has(fallback[0], "25.0 GB/s")
    same([f["id"] for f in found if f["severity"] != "notice" and f["id"] not in
          ("fallback", "transports-disagree", "network-inside-node")], [], "other findings")
    expectation(folder, "transport=cxi").expect(1 if seen.code == 0 else 125)
    expectation(folder, "no-finding>=warning").expect(1)
    expectation(folder, "no-finding=fallback").expect(1)


@mpi_test(only="openmpi")
def a_code_that_is_another_one(mpi, folder):
    """The words are those of the code that was returned, whichever it is."""
    env = cxi_environment(FAIL="domain", ERROR="12")
    job(mpi, folder, 2, CXI, [mpi.build("pairs.c"), "8x5"], env).expect(0)
    has(of(findings(folder), "fallback")[0], "-12", "Cannot allocate memory")


@mpi_test(only="openmpi")
def an_abort_inside_init(mpi, folder):
    env = cxi_environment(FAIL="enable")
    argv = [mpi.build("pairs.c"), "8x5"]
    plain = job(mpi, folder, 2, CXI + ["--mca", "pml", "cm"], argv, env, preload=False)
    seen = job(mpi, folder, 2, CXI + ["--mca", "pml", "cm"], argv, env)
    check(plain.code != 0, "the job should not run:\n" + plain.describe())
    same((seen.code, seen.stdout), (plain.code, plain.stdout), "exit code and stdout")
    fallback = of(findings(folder), "fallback")
    same(len(fallback), 1, "fallback findings")
    has(fallback[0], "fi_enable", "-262", "MPI_Init")
    expectation(folder, "transport=cxi").expect(125)
    expectation(folder, "no-finding>=warning").expect(1)


@mpi_test(only="openmpi")
def a_hang_inside_init(mpi, folder):
    path = os.path.join(folder, "job.mpiw")
    env = dict(cxi_environment(HANG="enable"), MPIWATCH_OUT=path)
    argv = [str(mpi.build("pairs.c")), "8x5"]
    line = mpi.launch(2, ["env", "LD_PRELOAD=%s" % mpi.library()] + argv)
    running = Job(line[:1] + CXI + line[1:], folder, env=env, timeout=60)
    try:
        fabric.wait_for_open_calls(path, [["fi_enable"]] * 2)
    finally:
        running.stop()
    command([setting("MW_CLI"), "collect", path], folder)
    fallback = of(findings(folder), "fallback")
    same(len(fallback), 1, "fallback findings")
    has(fallback[0], "fi_enable", "MPI_Init")


@mpi_test(only="openmpi")
def a_flood_of_warnings(mpi, folder):
    """A provider that logs a thousand lines a rank is quoted within bounds."""
    env = cxi_environment(FAIL="enable", FLOOD="3000")
    argv = [mpi.build("pairs.c"), "8x5"]
    plain = job(mpi, folder, 2, CXI, argv, env, preload=False).expect(0)
    seen = job(mpi, folder, 2, CXI, argv, env).expect(0)
    same((seen.stdout, said(seen.stderr)), (plain.stdout, said(plain.stderr)), "output")
    fallback = of(findings(folder), "fallback")
    same(len(fallback), 1, "fallback findings")
    check(len(fallback[0]["evidence"]) < 60, "%d lines of evidence" % len(fallback[0]["evidence"]))
    check(sum(os.path.getsize(os.path.join(folder, "job.mpiw", name))
              for name in os.listdir(os.path.join(folder, "job.mpiw"))) < 300000, "a large trace")


@mpi_test(only="openmpi")
def excluded_by_a_file_is_shown(mpi, folder):
    """Debian's parameter file keeps UCX and OFI out: shown with its lines, and no finding where no fast
    device is."""
    path = "/etc/openmpi/openmpi-mca-params.conf"
    if not os.path.exists(path) or "mtl = ^ofi" not in open(path).read():
        raise Skip("%s does not keep OFI out here" % path)
    lines = open(path).read().splitlines()
    number = [i for i, line in enumerate(lines, 1) if line.replace(" ", "") == "mtl=^ofi"][0]
    job(mpi, folder, 2, [], [mpi.build("pairs.c"), "8x5"]).expect(0)
    text = command([setting("MW_CLI"), "report", os.path.join(folder, "job.mpiw")], folder).stdout
    check("%s:%d" % (path, number) in text, "line %d of the file is not in the report" % number)
    same(of(findings(folder), "excluded"), [], "findings without a fast device")


@mpi_test(only="openmpi")
def excluded_by_a_file_where_a_card_is(mpi, folder):
    """The same file is a finding where libfabric has a card to offer that was never used."""
    path = "/etc/openmpi/openmpi-mca-params.conf"
    if not os.path.exists(path) or "mtl = ^ofi" not in open(path).read():
        raise Skip("%s does not keep OFI out here" % path)
    options = ["--mca", "btl", "tcp,self"]
    program = mpi.build("opens_fabric.c", "-lfabric")
    job(mpi, folder, 2, options, [program] + SIZES, cxi_environment()).expect(0)
    found = of(findings(folder), "excluded")
    same(len(found), 1, "findings")
    has(found[0], path, "^ofi", "cxi")


@mpi_test
def settings_that_nobody_reads(mpi, folder):
    wrong = {"OMPI_MCA_btll": "tcp,self"} if mpi is OPENMPI else {"UCX_TLSS": "tcp,self"}
    job(mpi, folder, 2, [], [mpi.build("pairs.c"), "8x5"], wrong).expect(0)
    found = of(findings(folder), "dead-setting")
    same([f["severity"] for f in found], ["warning"], "findings")
    has(found[0], *list(wrong) + (["OMPI_MCA_btl"] if mpi is OPENMPI else ["UCX_TLS"]))


@mpi_test
def a_variable_for_a_library_that_never_comes(mpi, folder):
    if mpi is OPENMPI:
        env = {"MPIR_CVAR_CH4_NETMOD": "ofi"}
    else:
        env = {"FI_PROVIDER": "cxi"}
    job(mpi, folder, 2, [], [mpi.build("pairs.c"), "8x5"], env).expect(0)
    found = of(findings(folder), "dead-setting")
    same([f["severity"] for f in found], ["notice"], "findings")
    has(found[0], *list(env))


@mpi_test
def the_network_inside_a_node(mpi, folder):
    options = ["--mca", "btl", "tcp,self"] if mpi is OPENMPI else []
    env = {} if mpi is OPENMPI else {"UCX_TLS": "tcp,self"}
    job(mpi, folder, 2, options, [mpi.build("pairs.c")] + SIZES, env).expect(0)
    found = of(findings(folder), "network-inside-node")
    same([f["severity"] for f in found], ["warning"], "findings")
    has(found[0], "tcp", "100 %", "OMPI_MCA_btl" if mpi is OPENMPI else "UCX_TLS")


@mpi_test(only="openmpi", variants=("seccomp", "user namespaces"))
def no_single_copies(mpi, folder, variant):
    kind = variant if isinstance(variant, str) else variant[0]
    program = mpi.build("pairs.c")
    if kind == "seccomp":
        front = [forbidding_single_copies()]
    else:
        front = ["unshare", "-U", "-r"]
        if not shutil.which("unshare") or subprocess.run(front + ["true"]).returncode:
            raise Skip("no user namespaces here")
    options = ["--mca", "pml", "ob1", "--mca", "btl", shared_btl() + ",self"]
    plain = job(mpi, folder, 2, options, front + [program] + SIZES, preload=False)
    seen = job(mpi, folder, 2, options, front + [program] + SIZES)
    same((seen.code, seen.stdout), (plain.code, plain.stdout), "exit code and stdout")
    same(said(seen.stderr), said(plain.stderr), "stderr")
    found = of(findings(folder), "single-copy-refused")
    same([f["severity"] for f in found], ["warning"], "findings")
    has(found[0], "40.0 MiB", *(["process_vm_readv", "seccomp"] if kind == "seccomp"
                                else ["user namespace"]))


@mpi_test(only="openmpi")
def ranks_disagree(mpi, folder):
    """One rank without shared memory: named, and what it does instead."""
    program = mpi.build("pairs.c")
    path = os.path.join(folder, "job.mpiw")
    ours = ["env", "LD_PRELOAD=%s" % mpi.library()]
    parts = [(2, ours + [program] + SIZES),
             (1, ours + ["OMPI_MCA_btl=tcp,self", program] + SIZES)]
    run = command(mpi.launch_parts(parts), folder, env={"MPIWATCH_OUT": path}, timeout=90)
    if run.code and not os.path.exists(path):
        raise Skip("this mpirun cannot start two programs: %s" % run.stderr[-200:])
    run.expect(0)
    found = of(findings(folder), "transports-disagree")
    same([f["severity"] for f in found], ["warning"], "findings")
    has(found[0], "tcp", "2")


@mpi_test(only="mpich")
def check_in_a_script(mpi, folder):
    """The exit codes that git bisect run wants."""
    job(mpi, folder, 2, [], [mpi.build("pairs.c"), "8x5"]).expect(0)
    expectation(folder).expect(0)
    expectation(folder, "transport!=tcp", "no-finding>=warning").expect(0)
    expectation(folder, "ranks=3").expect(1)
    expectation(folder, "nonsense").expect(129)
    command([setting("MW_CLI"), "check", os.path.join(folder, "none.mpiw")], folder).expect(125)


main()
