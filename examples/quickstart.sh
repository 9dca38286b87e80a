#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# From a fresh Debian 12 to a first report: installs what is missing, builds in build/, runs the
# halo exchange with four ranks of Open MPI under the library, and prints the report and the matrix.
# Run again, it only runs the job.
set -eu
cd "$(dirname "$0")/.."
. tools/setup.sh

# shellcheck disable=SC2086 # lists of words
mw_install $mw_packages_build $mw_packages_run
mw_build build interpose/libmpiwatch.so interpose/libmpiwatch-mpi3.so analyzer/mpiwatch

halo=build/examples/halo
if [ ! -x "$halo" ] || [ examples/halo.c -nt "$halo" ]; then
    mw_say "compiling examples/halo.c with mpicc.openmpi"
    mkdir -p build/examples
    mpicc.openmpi -O2 -g examples/halo.c -o "$halo" -lm
fi

if [ "$(id -u)" = 0 ]; then # Open MPI wants to hear twice that root means it
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
fi

# A name that is not taken: traces are never overwritten.
number=1
while [ -e "build/examples/halo-$number.mpiw" ]; do
    number=$((number + 1))
done
trace=build/examples/halo-$number.mpiw

mw_say "running: LD_PRELOAD=libmpiwatch.so mpirun -n 4 halo   (trace: $trace)"
MPIWATCH_OUT=$PWD/$trace LD_PRELOAD=$PWD/build/interpose/libmpiwatch.so \
    mpirun.openmpi --oversubscribe -n 4 "$halo"

mw_say "mpiwatch report $trace"
build/analyzer/mpiwatch report "$trace"
mw_say "mpiwatch matrix $trace --metric bytes"
build/analyzer/mpiwatch matrix "$trace" --metric bytes
mw_say "done. More: build/analyzer/mpiwatch --help"
