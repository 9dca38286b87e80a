# SPDX-License-Identifier: BSD-3-Clause
#
# Settings of MPI and the fabric in real jobs: each with the place it comes from, mistakes found with what was
# meant, and no word about the hundreds of names that are right.
"""Parameters and their sources."""

import ctypes.util
import glob
import json
import os
import re
import subprocess
import sys

from harness import SOURCE, Skip, check, command, main, mpi_test, same, setting, tidy
from stacks import open_mpi_version

sys.path.insert(0, os.path.join(SOURCE, "tests", "cli"))
from build_trace import chunk, module, record, text  # noqa: E402  (needs the path above)

DEBIAN = "/etc/openmpi/openmpi-mca-params.conf"


def settings_of(path, folder):
    """The report's settings by name, and its text with single blanks."""
    done = command([setting("MW_CLI"), "report", "--format", "json", path], folder)
    done.expect(0)
    words = command([setting("MW_CLI"), "report", path], folder)
    words.expect(0)
    found = {entry["name"]: entry for entry in json.loads(done.stdout)["settings"]}
    return found, " ".join(words.stdout.split())


def in_force(entry):
    same(len(entry["variants"]), 1, "variants of %s" % entry["name"])
    return entry["variants"][0]["value"], entry["variants"][0]["source"]


def overridden(entry):
    return [(place["value"], place["source"]) for place in entry["variants"][0]["overridden"]]


def put(path, words):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(words)


def job(mpi, folder, env=None, options=(), plain=False):
    """A short job with options of the launcher; the trace's path, or without us the job."""
    program = mpi.build("ending.c")
    head = mpi.launch(2, ["env"] if plain else ["env", "LD_PRELOAD=%s" % mpi.library()])
    argv = head[:1] + list(options) + head[1:] + [program, "exit0", "5"]
    path = os.path.join(folder, "job.mpiw")
    done = command(argv, folder, env=dict(env or {}, **({} if plain else {"MPIWATCH_OUT": path})))
    return (done, path)


def lines_of(path):
    """What a parameter file sets: name → [(value, line)], later lines last."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            name, equals, value = line.partition("=")
            if equals and not line.lstrip().startswith("#"):
                found.setdefault(name.strip(), []).append((value.strip(), number))
    return found


@mpi_test(only="openmpi")
def files_of_the_installation(mpi, folder):
    """Debian keeps the fast paths out, in a file that nobody looks at."""
    if not os.path.exists(DEBIAN):
        raise Skip("no %s" % DEBIAN)
    known = lines_of(DEBIAN)
    home = os.path.join(folder, "home")
    done, path = job(mpi, folder, env={"HOME": home})
    done.expect(0)
    settings, words = settings_of(path, folder)
    for name, places in known.items():
        value, line = places[-1]
        same(in_force(settings["OMPI_MCA_" + name]), (value, "%s:%d" % (DEBIAN, line)), name)
        same(settings["OMPI_MCA_" + name]["verdict"] in ("unknown", "idle"), False, name)
        check("%s:%d" % (DEBIAN, line) in words, "%s:%d is not in the report" % (DEBIAN, line))


@mpi_test(only="openmpi")
def which_of_several_places(mpi, folder):
    """The user's file before the installation's, the environment before both, and the launcher's
    command line is where that came from."""
    home = os.path.join(folder, "home")
    put(
        home + "/.openmpi/mca-params.conf",
        "# mine\nmtl = psm2\ncoll_sync_priority = 1\nmtl = ^psm\n",
    )
    options = [
        "--mca",
        "coll_sync_priority",
        "3",
        "-x",
        "UCX_RNDV_THRESH=8192",
        "--mca",
        "plm_rsh_agent",
        "ssh",
    ]
    plain, _ = job(mpi, folder, env={"HOME": home}, options=options, plain=True)
    done, path = job(mpi, folder, env={"HOME": home}, options=options)
    same(
        (done.code, tidy(done.stdout), tidy(done.stderr)),
        (plain.code, tidy(plain.stdout), tidy(plain.stderr)),
        "result",
    )
    settings, words = settings_of(path, folder)
    mine = home + "/.openmpi/mca-params.conf"
    if open_mpi_version() >= 5:  # whose launcher reads the file, too, and hands it on
        same(in_force(settings["OMPI_MCA_mtl"]), ("^psm", "environment"), "mtl")
        same(overridden(settings["OMPI_MCA_mtl"])[0], ("^psm", mine + ":4"), "the file")
    else:
        same(in_force(settings["OMPI_MCA_mtl"]), ("^psm", mine + ":4"), "mtl")
        same(overridden(settings["OMPI_MCA_mtl"])[0], ("psm2", mine + ":2"), "the line before")
    if os.path.exists(DEBIAN):
        check(DEBIAN in overridden(settings["OMPI_MCA_mtl"])[-1][1], "Debian's file is overridden")
    value, source = in_force(settings["OMPI_MCA_coll_sync_priority"])
    same(value, "3", "coll_sync_priority")
    check(
        re.fullmatch(r"environment, from the command line of mpirun\S* \(pid \d+\)", source), source
    )
    same(overridden(settings["OMPI_MCA_coll_sync_priority"]), [("1", mine + ":3")], "overridden")
    check("from the command line of" in in_force(settings["UCX_RNDV_THRESH"])[1], "-x")
    same(settings["OMPI_MCA_plm_rsh_agent"]["verdict"], "launcher", "plm_rsh_agent")


@mpi_test(only="openmpi")
def files_that_an_option_names(mpi, folder):
    tune = os.path.join(folder, "tune.conf")
    put(tune, "coll_sync_priority=7\n")
    done, path = job(mpi, folder, options=["--tune", tune])
    if done.code:
        raise Skip("mpirun does not take --tune: %s" % done.stderr[-300:])
    value, source = in_force(settings_of(path, folder)[0]["OMPI_MCA_coll_sync_priority"])
    same(value, "7", "value")
    check(tune + ":1" in source, source)


@mpi_test(only="mpich")
def files_of_ucx(mpi, folder):
    home = os.path.join(folder, "home")
    put(home + "/ucx.conf", "UCX_RNDV_THRESH=16384\nUCX_MAX_EAGER_LANES=1\n")
    done, path = job(
        mpi,
        folder,
        env={"HOME": home, "UCX_MAX_EAGER_LANES": "1"},
        options=["-genv", "UCX_ZCOPY_THRESH", "30000"],
    )
    done.expect(0)
    settings, words = settings_of(path, folder)
    same(in_force(settings["UCX_RNDV_THRESH"]), ("16384", home + "/ucx.conf:1"), "a file")
    same(in_force(settings["UCX_MAX_EAGER_LANES"]), ("1", "environment"), "the environment wins")
    same(overridden(settings["UCX_MAX_EAGER_LANES"]), [("1", home + "/ucx.conf:2")], "overridden")
    value, source = in_force(settings["UCX_ZCOPY_THRESH"])
    check(value == "30000" and "from the command line of mp" in source, source)


MISTYPED = {
    "openmpi": {
        "OMPI_MCA_btll": "OMPI_MCA_btl",
        "OMPI_MCA_blt_tcp_if_include": "OMPI_MCA_btl_tcp_if_include",
        "OMPI_MCA_btl_tcp_if_inclde": "OMPI_MCA_btl_tcp_if_include",
        "OMPI_MCA_coll_tuned_use_dynamic_rule": "OMPI_MCA_coll_tuned_use_dynamic_rules",
        "OMPI_MCA_pml_ob1_prioritty": "OMPI_MCA_pml_ob1_priority",
        "OMPI_MAC_pml": "OMPI_MCA_pml",
    },
    "mpich": {
        "UCX_TLSS": "UCX_TLS",
        "UCX_RNDV_THRES": "UCX_RNDV_THRESH",
        "UCX_NET_DEVCIES": "UCX_NET_DEVICES",
        "MPIR_CVAR_CH4_NETMODD": "MPIR_CVAR_CH4_NETMOD",
        "MPICH_ASYNC_PROGRES": "MPICH_ASYNC_PROGRESS",
        "MPIR_CVAR_BCAST_INTRA_ALGORITM": "MPIR_CVAR_BCAST_INTRA_ALGORITHM",
    },
}
NEVER = {
    "openmpi": ("FI_PROVIDER", "UCX_TLS", "MPIR_CVAR_CH4_NETMOD", "I_MPI_FABRICS", "PSM2_DEVICES"),
    "mpich": ("FI_PROVIDER", "FI_PROVIDR", "OMPI_MCA_btl", "OMPI_MCA_pmll", "I_MPI_FABRICS"),
}


@mpi_test
def mistyped_names(mpi, folder):
    wrong = dict(MISTYPED[mpi.name])
    if mpi.name == "openmpi" and open_mpi_version() >= 5:
        del wrong["OMPI_MCA_pml_ob1_prioritty"]  # "priority" is only the tail of another name there
    done, path = job(mpi, folder, env=dict.fromkeys(wrong, "1"))
    done.expect(0)
    settings, words = settings_of(path, folder)
    for name, meant in wrong.items():
        same((settings[name]["verdict"], settings[name]["suggestion"]), ("unknown", meant), name)
        check("did you mean %s?" % meant in words, "the report does not ask for %s" % meant)


@mpi_test
def variables_of_libraries_that_never_come(mpi, folder):
    if mpi.name == "openmpi" and open_mpi_version() >= 5:
        raise Skip("this Open MPI is linked with all of them")
    names = NEVER[mpi.name]
    done, path = job(mpi, folder, env=dict.fromkeys(names, "none"))
    done.expect(0)
    settings, words = settings_of(path, folder)
    same(
        {name: settings[name]["verdict"] for name in names},
        dict.fromkeys(names, "idle"),
        "verdicts",
    )
    if mpi.name == "mpich":
        check(
            "device here is ch4:ucx" in settings["FI_PROVIDER"]["reason"],
            settings["FI_PROVIDER"]["reason"],
        )
    elif os.path.exists(DEBIAN):
        check(DEBIAN in settings["FI_PROVIDER"]["reason"], settings["FI_PROVIDER"]["reason"])


@mpi_test
def names_in_lists(mpi, folder):
    name, value, word, meant = {
        "openmpi": ("OMPI_MCA_coll", "^tunde,absent", "tunde", "tuned"),
        "mpich": ("UCX_TLS", "posix,self,cmaa", "cmaa", "cma"),
    }[mpi.name]
    done, path = job(mpi, folder, env={name: value})
    done.expect(0)
    settings, words = settings_of(path, folder)
    strangers = settings[name]["variants"][0]["strangers"]
    same(
        [(entry["word"], entry["suggestion"]) for entry in strangers], [(word, meant)], "strangers"
    )
    same(settings[name]["verdict"] in ("known", "unchecked"), True, "the name is right")


# ---- No false alarm: every name that the libraries themselves list, put into a real trace


def extended(path, names, libraries=()):
    """The trace with these variables set in its first process, and these libraries loaded there."""
    files = sorted(glob.glob(os.path.join(path, "*.mpiw")))
    whole = b"".join(open(file, "rb").read() for file in files)
    dump = subprocess.run(
        [
            sys.executable,
            "-B",
            os.path.join(SOURCE, "tests", "decoder", "mwdecode.py"),
            "--no-events",
            path,
        ],
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    key = next(
        int(line["process"], 16)
        for line in map(json.loads, dump.splitlines())
        if line["record"] == "process"
    )
    parts = [whole]
    for at in range(0, len(names), 200):
        facts = [
            record(3, text(1, "env"), text(2, name), text(3, "1"), text(4, "environment"))
            for name in names[at : at + 200]
        ]
        parts.append(chunk("ENVIRONMENT", *facts, process=key))
    for number, library in enumerate(libraries):
        notes = subprocess.run(
            ["readelf", "-n", library], stdout=subprocess.PIPE, check=True
        ).stdout
        build_id = re.search(rb"Build ID: ([0-9a-f]+)", notes).group(1).decode()
        parts.append(
            chunk("MODULES", module(9000 + number, library, bytes.fromhex(build_id)), process=key)
        )
    out = path.replace(".mpiw", "-more.mpiw")
    with open(out, "wb") as file:
        file.write(b"".join(parts))
    return out


def no_alarm(path, folder, names, few):
    check(len(names) >= few, "only %d names were found" % len(names))
    settings, words = settings_of(path, folder)
    alarms = {
        name: settings[name]["suggestion"]
        for name in names
        if settings[name]["verdict"] in ("unknown", "idle")
    }
    same(alarms, {}, "alarms about names that are right, of %d" % len(names))
    strangers = {
        name: settings[name]["variants"][0]["strangers"]
        for name in settings
        if settings[name]["variants"][0]["strangers"] and name not in names
    }
    same(strangers, {}, "names in lists")
    known = [
        name for name in names if settings[name]["verdict"] in ("known", "launcher", "not_loaded")
    ]
    # names that are only tails of others are not judged: the newer the linker's work, the more
    check(len(known) > len(names) * 0.6, "only %d of %d names are known" % (len(known), len(names)))


def listed(script, *arguments):
    """Names that a library lists, asked in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    if done.returncode:
        raise Skip("the library could not be asked: %s" % done.stderr.decode()[-300:])
    return done.stdout.decode()


UCX = """
import ctypes, sys
ctypes.CDLL("libucp.so.0", ctypes.RTLD_GLOBAL)
ucs, uct, libc = ctypes.CDLL("libucs.so.0"), ctypes.CDLL("libuct.so.0"), ctypes.CDLL(None)
components, count = ctypes.c_void_p(), ctypes.c_uint()
uct.uct_query_components(ctypes.byref(components), ctypes.byref(count))
libc.fdopen.restype = ctypes.c_void_p
out = ctypes.c_void_p(libc.fdopen(1, b"w"))
everything = ctypes.c_char.in_dll(ucs, "ucs_config_global_list")
ucs.ucs_config_parser_print_all_opts(out, ctypes.c_char_p(b"UCX_"), ctypes.c_ulong(1 | 2 | 8),
                                     ctypes.byref(everything))
libc.fflush(out)
"""
FABRIC = """
import ctypes
class Parameter(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int), ("help", ctypes.c_char_p),
                ("value", ctypes.c_char_p)]
library = ctypes.CDLL("libfabric.so.1")
parameters, count = ctypes.POINTER(Parameter)(), ctypes.c_int()
library.fi_getparams(ctypes.byref(parameters), ctypes.byref(count))
print("\\n".join(parameters[i].name.decode() for i in range(count.value)))
"""


@mpi_test(only="openmpi")
def every_parameter_of_openmpi(mpi, folder):
    info = command(["ompi_info", "--param", "all", "all", "--level", "9", "--parsable"], folder)
    names = sorted({"OMPI_MCA_" + name for name in re.findall(r":param:([^:]*):", info.stdout)})
    done, path = job(mpi, folder)
    done.expect(0)
    no_alarm(extended(path, names), folder, names, 300)


@mpi_test(only="mpich")
def every_variable_of_mpich_and_ucx(mpi, folder):
    info = command(["mpivars", "-nodesc"], folder)
    names = set(re.findall(r"^\s*(MPIR_CVAR_\w+)", info.stdout, re.MULTILINE))
    done, path = job(mpi, folder)
    done.expect(0)
    check(len(names) > 100, "names of MPICH: %d" % len(names))
    names |= set(re.findall(r"^#?\s*(UCX_\w+)=", listed(UCX), re.MULTILINE))
    no_alarm(extended(path, sorted(names)), folder, sorted(names), 300)


@mpi_test(only="mpich")
def every_variable_of_libfabric(mpi, folder):
    if not ctypes.util.find_library("fabric"):
        raise Skip("no libfabric")
    names = sorted(set(listed(FABRIC).split()))
    libraries = glob.glob("/usr/lib/*/libfabric.so.1")
    if not libraries:
        raise Skip("libfabric is not where it was looked for")
    done, path = job(mpi, folder)
    done.expect(0)
    out = extended(path, names + ["FI_PROVIDR"], [os.path.realpath(libraries[0])])
    no_alarm(out, folder, names, 50)
    same(
        settings_of(out, folder)[0]["FI_PROVIDR"]["suggestion"],
        "FI_PROVIDER",
        "a mistake among them",
    )


main()
