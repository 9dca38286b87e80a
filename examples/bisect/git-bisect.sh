#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A step of `git bisect run`: builds the commit that is checked out, runs a job with it and with a
# good commit in turn, and says by its exit code whether the job regressed. README.md has more.
#
#   git bisect start BAD GOOD
#   git bisect run .../git-bisect.sh -b 'make -s' -- mpirun -n 2 ./bench
#
#   -b BUILD   how to build, a shell command; a commit where it fails is skipped
#   -g GOOD    the commit to compare with (default: the oldest good one of the bisection)
#   -n RUNS    runs a side, at most (default: 20)
#   -c OPTION  for mpiwatch compare, as --threshold=3% or --only=transports; may be given again
set -eu
trap 'exit 129' EXIT # without judge.sh, too
# shellcheck source-path=SCRIPTDIR source=judge.sh
. "$(dirname "$0")/judge.sh"

build=:
while getopts :b:g:n:c: letter; do
    case $letter in
    b) build=$OPTARG ;;
    *) take_option "$letter" "${OPTARG-}" ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || stop "git-bisect.sh [OPTION...] -- COMMAND..."
find_revisions
plan_looks
cd "$(git rev-parse --show-toplevel)"

# The good commit is built once, in a work tree of its own.
good_tree=$kept/tree-$good
if [ ! -e "$kept/built-$good" ]; then
    git worktree prune
    [ -d "$good_tree" ] || git worktree add --quiet --detach "$good_tree" "$good" >&2 ||
        stop "cannot make a work tree for $good"
    (cd "$good_tree" && sh -c "$build") >&2 || stop "the good commit does not build"
    : >"$kept/built-$good"
fi
sh -c "$build" >&2 || decide 125 "does not build: skipped"

run_new() {
    trace=$1
    shift
    mpiwatch run -o "$trace" -- "$@" >&2
}
run_good() {
    (cd "$good_tree" && run_new "$@")
}
judge "$@"
