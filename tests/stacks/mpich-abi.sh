#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The standard ABI with a real MPI: an MPICH 5 that was configured with --enable-mpi-abi and installed in PREFIX. In a mount
# namespace of its own its mpicc_abi stands where Debian's mpicc.mpich does, so that the end-to-end tests of "mpich" build
# for the ABI, those in Fortran are skipped; Debian's mpirun.mpich starts the ranks (MPICH: --with-pm=no). By hand, as
# root; docs/tested-stacks.md has the results.
#
#   tests/stacks/mpich-abi.sh PREFIX [BUILD [TOPIC ...]]
#
# BUILD: the build folder (default: build); TOPIC: as in tests/e2e/t_TOPIC.py (default: those below).
set -eu
[ $# -ge 1 ] || {
    sed -n '9,11s/^# \{0,1\}//p' "$0"
    exit 2
}
prefix=$(realpath "$1")
source=$(realpath "$(dirname "$0")/../..")
build=$(realpath "${2:-$source/build}")
[ $# -le 2 ] && topics="calls forms functions onesided traffic sessions harm threads" || {
    shift 2
    topics=$*
}
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT

inside() {
    MW_TEST_BUILD=$programs MW_LIBRARY=$build/interpose/libmpiwatch.so \
        MW_LIBRARY_MPI4=$build/interpose/libmpiwatch-mpi4.so \
        MW_LIBRARY_MPI3=$build/interpose/libmpiwatch-mpi3.so MW_CLI=$build/analyzer/mpiwatch \
        PYTHONDONTWRITEBYTECODE=1 unshare -m sh -c '
            mount --bind "$1/bin/mpicc_abi" "$(realpath "$(command -v mpicc.mpich)")"
            ! fortran=$(command -v mpifort.mpich) || mount --bind /dev/null "$(realpath "$fortran")"
            shift
            exec "$@"' sh "$prefix" "$@"
}

failed=0
for topic in $topics; do
    echo "== $topic"
    tap=$programs/$topic.tap
    inside /usr/bin/python3 "$source/tests/e2e/t_$topic.py" mpich: >"$tap" 2>&1 || true
    grep -E '^not ok|^# |# SKIP' "$tap" | grep -vE '^# [0-9.]+ s$' | cut -c 1-200 || true
    echo "$topic: $(grep -c '^ok' "$tap") ok, $(grep -c '# SKIP' "$tap") of them skipped, $(grep -c '^not ok' "$tap") not ok"
    ! grep -q '^not ok' "$tap" || failed=1
done
exit $failed
