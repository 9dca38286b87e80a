# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced by examples/quickstart.sh and tests/run.sh: which Debian packages the project needs, how
# they are installed and how it is built. One place, so that the two commands of the README agree.
# POSIX sh; run from the project's root.

# Debian's own tools come first: the Python modules the tests use are Debian packages.
PATH=/usr/bin:/bin:/usr/sbin:/sbin:$PATH
export PATH

mw_packages_build="gcc libc6-dev meson ninja-build pkg-config python3 libzstd-dev libxxhash-dev
    uthash-dev libdw-dev libelf-dev libjansson-dev libsmartcols-dev libsqlite3-dev libunwind-dev"
mw_packages_run="openmpi-bin libopenmpi-dev"
mw_packages_test="libcmocka-dev mpich libmpich-dev g++ gfortran clang python3-mpi4py
    python3-jsonschema python3-zstandard python3-xxhash scdoc strace binutils util-linux gdb
    libfabric-dev libucx-dev iproute2 git make zsh fish hwloc valgrind"

# Only there for some processors: headers that the stubs of GPU runtimes are compiled against.
case $(dpkg --print-architecture 2>/dev/null) in
    amd64) mw_packages_test="$mw_packages_test libamdhip64-dev" ;;
esac

mw_say() {
    printf '== %s\n' "$*"
}

# Runs a command as root: directly, or by sudo.
mw_as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null 2>&1; then
        sudo "$@"
    else
        mw_say "this needs root, and there is no sudo: $*" >&2
        return 1
    fi
}

mw_is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" = "ii " ]
}

# mw_install PACKAGE ...: installs what is missing; does nothing, and asks nobody, when all is
# there.
mw_install() {
    if ! command -v dpkg-query >/dev/null 2>&1; then
        mw_say "this is no Debian system: not installing anything, hoping that all is there"
        return 0
    fi
    mw_missing=
    for mw_package in "$@"; do
        mw_is_installed "$mw_package" || mw_missing="$mw_missing $mw_package"
    done
    mw_installed=$mw_missing
    if [ -z "$mw_missing" ]; then
        mw_say "all $# Debian packages are installed"
        return 0
    fi
    mw_say "installing Debian packages:$mw_missing"
    mw_as_root apt-get update -q || return 1
    # shellcheck disable=SC2086 # a list of words
    mw_as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends $mw_missing
}

# mw_build FOLDER [TARGET ...]: configures once, then builds what has changed (all, or the named
# targets).
mw_build() {
    if [ -f "$1/build.ninja" ] && [ -n "${mw_installed:-}" ]; then
        mw_say "configuring again and building in $1: there are new packages"
        meson setup --reconfigure "$1" || return 1
    elif [ -f "$1/build.ninja" ]; then
        mw_say "building what has changed in $1"
    else
        mw_say "configuring and building in $1"
        meson setup "$1" || return 1
    fi
    mw_folder=$1
    shift
    ninja -C "$mw_folder" "$@"
}
