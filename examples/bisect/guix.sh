#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A step of `git bisect run` in a checkout of Guix, or in one of a package's sources: runs a job in
# the environment that Guix makes of the commit that is checked out, and in that of a good one in
# turn, and says by its exit code whether the job regressed. README.md has more.
#
#   git bisect start BAD GOOD                             # in a checkout of Guix
#   git bisect run .../guix.sh -s 'openmpi osu-micro-benchmarks' -- mpirun -n 2 osu_bw
#
#   git bisect start v1.22.0 v1.21.0                      # in a checkout of libfabric
#   git bisect run .../guix.sh -p libfabric -s 'openmpi osu-micro-benchmarks' -- mpirun -n 2 osu_bw
#
#   -s SHELL   packages and options for guix shell
#   -p PACKAGE the package whose sources are bisected; without it the commits are Guix's own
#   -g, -n, -c as in git-bisect.sh
set -eu
trap 'exit 129' EXIT # without judge.sh, too
# shellcheck source-path=SCRIPTDIR source=judge.sh
. "$(dirname "$0")/judge.sh"

packages='' package=
while getopts :s:p:g:n:c: letter; do
    case $letter in
    s) packages=$OPTARG ;;
    p) package=$OPTARG ;;
    *) take_option "$letter" "${OPTARG-}" ;;
    esac
done
shift $((OPTIND - 1))
if [ $# = 0 ] || [ -z "$packages" ]; then
    stop "guix.sh -s 'PACKAGE...' [OPTION...] -- COMMAND..."
fi
find_revisions
plan_looks

# in_guix COMMIT COMMAND...: in the environment that this commit gives.
in_guix() {
    commit=$1
    shift
    # shellcheck disable=SC2086 # packages are several words
    if [ -n "$package" ]; then
        guix shell --with-commit="$package=$commit" $packages -- "$@"
    else
        guix time-machine --commit="$commit" -- shell $packages -- "$@"
    fi >&2
}
run_in() {
    commit=$1 trace=$2
    shift 2
    in_guix "$commit" mpiwatch run -o "$trace" -- "$@"
}
run_good() {
    run_in "$good" "$@"
}
run_new() {
    run_in "$new" "$@"
}

command -v guix >/dev/null || stop "guix is not in PATH"
in_guix "$good" true || stop "Guix cannot build the good commit"
in_guix "$new" true || decide 125 "Guix cannot build it: skipped"
judge "$@"
