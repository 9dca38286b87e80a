#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A step of `git bisect run` in a checkout of a package's sources: installs by Spack what depends on
# the commit that is checked out, runs a job with it and with a good commit in turn, and says by its
# exit code whether the job regressed. README.md has more.
#
#   git bisect start v1.22.0 v1.21.0                      # in a checkout of libfabric
#   git bisect run .../spack.sh -s 'osu-micro-benchmarks ^openmpi ^libfabric@git.{}=main' \
#       -- mpirun -n 2 osu_bw
#
#   -s SPEC    what to install and to load; each {} stands for the commit
#   -g, -n, -c as in git-bisect.sh
set -eu
trap 'exit 129' EXIT # without judge.sh, too
# shellcheck source-path=SCRIPTDIR source=judge.sh
. "$(dirname "$0")/judge.sh"

template=
while getopts :s:g:n:c: letter; do
    case $letter in
    s) template=$OPTARG ;;
    *) take_option "$letter" "${OPTARG-}" ;;
    esac
done
shift $((OPTIND - 1))
if [ $# = 0 ] || [ -z "$template" ]; then
    stop "spack.sh -s SPEC [OPTION...] -- COMMAND..."
fi
case $template in *'{}'*) ;; *) stop "-s: {} has to stand for the commit" ;; esac
find_revisions
plan_looks

# spec_of COMMIT: the template with the commit in each place.
spec_of() {
    rest=$template spec=
    while [ "${rest#*'{}'}" != "$rest" ]; do
        spec=$spec${rest%%'{}'*}$1
        rest=${rest#*'{}'}
    done
    echo "$spec$rest"
}
# run_in COMMIT TRACE COMMAND...: in a shell of its own, which is all that is loaded into.
run_in() (
    spec=$(spec_of "$1")
    trace=$2
    shift 2
    loading=$(spack load --sh "$spec") || exit 1
    eval "$loading"
    mpiwatch run -o "$trace" -- "$@" >&2
)
run_good() {
    run_in "$good" "$@"
}
run_new() {
    run_in "$new" "$@"
}

command -v spack >/dev/null || stop "spack is not in PATH"
spack install "$(spec_of "$good")" >&2 || stop "Spack cannot install the good commit"
spack install "$(spec_of "$new")" >&2 || decide 125 "Spack cannot install it: skipped"
judge "$@"
