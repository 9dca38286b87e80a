#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A second stack beside the one of this machine: Debian 13 (Open MPI 5.0, MPICH 4.2, libfabric 2.1,
# UCX 1.18) in a chroot. Sets it up where ROOT is empty (about two minutes, 1.5 GB), and runs
# end-to-end tests in it with the library and the command as built *here*, so that what was built on an
# older system is shown to load and to see right on a newer one. By hand, as root; docs/tested-stacks.md
# has the results.
#
#   tests/stacks/debian13.sh ROOT [BUILD [TOPIC ...]]
#
# BUILD: the build folder (default: build); TOPIC: as in tests/e2e/t_TOPIC.py (default: those below).
# MIRROR: where packages come from (default: http://deb.debian.org/debian).
set -eu
[ $# -ge 1 ] || {
    sed -n '9,14s/^# \{0,1\}//p' "$0"
    exit 2
}
root=$(realpath -m "$1")
source=$(realpath "$(dirname "$0")/../..")
build=$(realpath "${2:-$source/build}")
[ $# -le 2 ] && topics="calls traffic sessions fabric ucx kernel parameters transports verdicts" || {
    shift 2
    topics=$*
}
packages=openmpi-bin,libopenmpi-dev,mpich,libmpich-dev,libfabric-dev,libfabric-bin,libucx-dev,ucx-utils
packages=$packages,gcc,gfortran,libc6-dev,python3,python3-zstandard,python3-xxhash,python3-jsonschema
packages=$packages,libdw1t64,libelf1t64,libjansson4,libsmartcols1,libunwind8,iproute2,strace,binutils

if [ ! -e "$root/etc/debian_version" ]; then
    debootstrap --variant=minbase --include="$packages" trixie "$root" \
        "${MIRROR:-http://deb.debian.org/debian}"
fi

unmount() {
    for place in mpiwatch/build mpiwatch/source dev/shm dev/pts dev sys proc \
        run/netns ''; do
        ! mountpoint -q "$root/$place" || umount "$root/$place" || umount -l "$root/$place"
    done
}
trap unmount EXIT
unmount
mkdir -p "$root/mpiwatch/source" "$root/mpiwatch/build" "$root/dev/pts" "$root/dev/shm"
mount --bind "$root" "$root" # ip netns wants the root to be a mount of its own
mount -t proc proc "$root/proc"
mount -t sysfs sys "$root/sys"
mount --bind /dev "$root/dev"
mount --bind /dev/pts "$root/dev/pts"
mount -t tmpfs tmpfs "$root/dev/shm"
mount --bind "$source" "$root/mpiwatch/source"
mount --bind "$build" "$root/mpiwatch/build"

# Open MPI 5 complains about machines with one interface, in an order that differs from run to run, unless
# it is told to use lo.
mkdir -p "$root/root/.openmpi"
echo "btl_tcp_if_include = lo" >"$root/root/.openmpi/mca-params.conf"

inside() {
    chroot "$root" env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LC_ALL=C \
        PYTHONDONTWRITEBYTECODE=1 MW_TEST_BUILD=/tmp/mwtest-programs \
        MW_LIBRARY=/mpiwatch/build/interpose/libmpiwatch.so \
        MW_LIBRARY_MPI4=/mpiwatch/build/interpose/libmpiwatch-mpi4.so \
        MW_LIBRARY_MPI3=/mpiwatch/build/interpose/libmpiwatch-mpi3.so \
        MW_CLI=/mpiwatch/build/analyzer/mpiwatch "$@"
}

inside sh -c 'cat /etc/debian_version; ompi_info --version | head -1; mpichversion | head -1
    fi_info --version | grep libfabric:; ucx_info -v | head -1; ldd --version | head -1'
failed=0
for topic in $topics; do
    echo "== $topic"
    inside python3 "/mpiwatch/source/tests/e2e/t_$topic.py" >"$root/tmp/$topic.tap" 2>&1 || true
    grep -E '^not ok|^# |# SKIP' "$root/tmp/$topic.tap" | grep -vE '^# [0-9.]+ s$' | cut -c 1-200 || true
    echo "$topic: $(grep -c '^ok' "$root/tmp/$topic.tap") ok," \
        "$(grep -c '# SKIP' "$root/tmp/$topic.tap") of them skipped," \
        "$(grep -c '^not ok' "$root/tmp/$topic.tap") not ok"
    ! grep -q '^not ok' "$root/tmp/$topic.tap" || failed=1
done
exit $failed
