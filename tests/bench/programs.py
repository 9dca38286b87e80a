# SPDX-License-Identifier: BSD-3-Clause
#
# Debian's MPI programs (lammps, hpcc, quantum-espresso, cp2k, h5py; all built for Open MPI) with and without
# the library, two and four ranks: the results that they print or write are the same, digit by digit. Those
# that are not installed skip.
"""Debian's MPI programs under the library."""

import glob
import gzip
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from harness import Skip, check, main, mpi_test, same  # noqa: E402
from trace import Trace  # noqa: E402

RANKS = ("2", "4")

LAMMPS = """\
units lj
atom_style atomic
boundary p p p
lattice fcc 0.9
region all block 0 6 0 6 0 6
create_box 1 all
create_atoms 1 box
mass 1 1.0
velocity all create 1.2 4711 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0
fix move all nve
thermo 10
run 300
"""

# The places of the lines have the meaning, not their words.
HPCC = """\
first line
second line
out
6
1      systems
400    order
1      block sizes
32     block size
0      row-major
1      grids
1      P
%d     Q
16.0   limit of the residual
1      panel factorisations
1      Crout
1      stopping criteria
4      NBMIN
1      numbers of panels
2      NDIV
1      recursive factorisations
2      right
1      broadcasts
1      1ringM
1      depths
1      lookahead
2      mix
64     swapping threshold
0      L1 transposed
0      U transposed
1      equilibration
8      alignment
--
0      more problem sizes for PTRANS
100
0      more block sizes for PTRANS
32
"""

ESPRESSO = """\
&control
  calculation = 'scf', prefix = 'c', outdir = './out', pseudo_dir = '.'
/
&system
  ibrav = 2, celldm(1) = 6.7, nat = 2, ntyp = 1, ecutwfc = 20.0,
  occupations = 'smearing', degauss = 0.02
/
&electrons
  conv_thr = 1.0d-8
/
ATOMIC_SPECIES
 C 12.011 C.UPF
ATOMIC_POSITIONS alat
 C 0.00 0.00 0.00
 C 0.25 0.25 0.25
K_POINTS automatic
 2 2 2 1 1 1
"""

CP2K = """\
&GLOBAL
  PROJECT water
  RUN_TYPE ENERGY_FORCE
  PRINT_LEVEL LOW
&END GLOBAL
&FORCE_EVAL
  METHOD Quickstep
  &DFT
    BASIS_SET_FILE_NAME GTH_BASIS_SETS
    POTENTIAL_FILE_NAME GTH_POTENTIALS
    &MGRID
      CUTOFF 100
    &END MGRID
    &SCF
      MAX_SCF 12
      EPS_SCF 1.0E-5
      SCF_GUESS ATOMIC
    &END SCF
    &XC
      &XC_FUNCTIONAL PADE
      &END XC_FUNCTIONAL
    &END XC
  &END DFT
  &PRINT
    &FORCES ON
    &END FORCES
  &END PRINT
  &SUBSYS
    &CELL
      ABC 6.0 6.0 6.0
    &END CELL
    &COORD
      O 0.000 0.000 0.000
      H 0.757 0.586 0.000
      H -0.757 0.586 0.000
    &END COORD
    &KIND H
      BASIS_SET DZVP-GTH-q1
      POTENTIAL GTH-PADE-q1
    &END KIND
    &KIND O
      BASIS_SET DZVP-GTH-q6
      POTENTIAL GTH-PADE-q6
    &END KIND
  &END SUBSYS
&END FORCE_EVAL
"""

H5PY = """\
import sys
import h5py
import numpy
from mpi4py import MPI
comm = MPI.COMM_WORLD
with h5py.File("data.h5", "w", driver="mpio", comm=comm) as file:
    data = file.create_dataset("data", (comm.size, 1000), dtype="f8")
    with data.collective:
        data[comm.rank] = numpy.arange(1000) * (comm.rank + 1)
    other = file.create_dataset("other", (comm.size,), dtype="i4")
    other[comm.rank] = comm.rank ** 2
with h5py.File("data.h5", "r", driver="mpio", comm=comm) as file:
    total = comm.allreduce(float(file["data"][(comm.rank + 1) % comm.size].sum()))
    if comm.rank == 0:
        print("total", total, list(file["other"]))
"""


def installed(program):
    path = shutil.which(program)
    if not path:
        raise Skip("%s is not installed" % program)
    return path


def both(mpi, ranks, argv, folder, files, results):
    """Runs with and without the library, each in a folder of its own that holds `files` (name: text);
    results(job, place) are to be the same and not empty."""
    found = {}
    for side, preload in (("plain", None), ("ours", mpi.library())):
        place = os.path.join(folder, side)
        os.mkdir(place)
        for name, text in files.items():
            with open(os.path.join(place, name), "w") as file:
                file.write(text)
        env = {"OMP_NUM_THREADS": "1", "MPIWATCH_OUT": os.path.join(folder, side + ".mpiw")}
        job = mpi.run(ranks, argv, place, preload=preload, env=env, timeout=240).expect(0)
        found[side] = results(job, place), job.stderr
    check(found["plain"][0], "no results to compare")
    same(found["ours"], found["plain"], "results and stderr")
    trace = Trace(os.path.join(folder, "ours.mpiw"))
    same([process.rank for process in trace.processes], list(range(ranks)), "recorded ranks")
    check(not os.path.exists(os.path.join(folder, "plain.mpiw")), "recorded without the library")


@mpi_test(only="openmpi", variants=RANKS)
def lammps(mpi, folder, ranks):
    def results(job, place):
        return re.findall(r"^ *\d+(?: +-?[\d.]+(?:e[+-]\d+)?){5} *$", job.stdout, re.M)

    argv = [installed("lmp"), "-in", "in.lj", "-log", "none"]
    both(mpi, int(ranks), argv, folder, {"in.lj": LAMMPS}, results)


@mpi_test(only="openmpi", variants=RANKS)
def hpcc(mpi, folder, ranks):
    """HPL, PTRANS, STREAM, RandomAccess, FFT: residuals and verdicts; the rest are speeds."""

    def results(job, place):
        with open(os.path.join(place, "hpccoutf.txt")) as file:
            text = file.read()
        check("Success=1" in text, "hpcc reports failure:\n" + text[-3000:])
        keep = r"^(.*(?:PASSED|FAILED).*|.*Found \d+ errors.*|.*_(?:N|NB|RC)=.*|Success=.*)$"
        lines = [
            re.sub(r"^((?:WALL|CPU) .*?) +\S+ (PASSED|FAILED) +\S+", r"\1 \2", line)  # time, GB/s
            for line in re.findall(keep, text, re.M)
        ]
        return sorted(set(lines))  # PTRANS is run as often as the time allows

    both(mpi, int(ranks), [installed("hpcc")], folder, {"hpccinf.txt": HPCC % int(ranks)}, results)


@mpi_test(only="openmpi", variants=RANKS)
def quantum_espresso(mpi, folder, ranks):
    program = installed("pw.x")
    potentials = "/usr/share/doc/quantum-espresso/examples/EPW/diamond/pp/C_*.UPF*"
    path = (glob.glob(potentials) or [None])[0]
    if not path:
        raise Skip("quantum-espresso-data is not installed")
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        potential = file.read()

    def results(job, place):
        keep = r"^(!? +total energy +=.*|.*highest occupied.*|.*convergence has been.*|(?: +-?\d+\.\d{4}){3,} *)$"
        return re.findall(keep, job.stdout, re.M)

    argv = [program, "-in", "c.in"]
    both(mpi, int(ranks), argv, folder, {"c.in": ESPRESSO, "C.UPF": potential}, results)


@mpi_test(only="openmpi", variants=RANKS)
def cp2k(mpi, folder, ranks):
    def results(job, place):
        keep = r"^(.*ENERGY\|.*|.*SUM OF ATOMIC FORCES.*| +\d+ +\d+ +[OH](?: +-?\d+\.\d+){3} *)$"
        return re.findall(keep, job.stdout, re.M)

    program = shutil.which("cp2k") or installed("cp2k.popt")
    both(mpi, int(ranks), [program, "-i", "water.inp"], folder, {"water.inp": CP2K}, results)


@mpi_test(only="openmpi", variants=RANKS)
def h5py(mpi, folder, ranks):
    """Python, HDF5 and MPI's files."""
    if not glob.glob("/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi"):
        raise Skip("python3-h5py-mpi is not installed")

    def results(job, place):
        with open(os.path.join(place, "data.h5"), "rb") as file:
            size = len(file.read())
        return job.stdout.splitlines() + [size]

    argv = ["/usr/bin/python3", "data.py"]
    both(mpi, int(ranks), argv, folder, {"data.py": H5PY}, results)


main()
