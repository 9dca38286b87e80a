# shellcheck shell=sh disable=SC2034
# SPDX-License-Identifier: BSD-3-Clause
#
# What the scripts of this folder share: runs of a good revision and of a new one in turn, compared
# until it is sure whether the new one regressed. A script that sources this ends with what
# `git bisect run` understands: 0 (good), 1 (regressed), 125 (cannot be judged: skip it) or 129
# (stop), and with 129, too, where it dies of something that nobody thought of: any other number
# would be taken for a bad commit. It defines
#
#   run_good TRACE COMMAND...   runs COMMAND by `mpiwatch run -o TRACE` with the good revision
#   run_new TRACE COMMAND...    the same with the revision that is to be judged

good=      # -g: the good revision
most=20    # -n: runs a side, at most
options='' # -c: options for mpiwatch compare
verdict=129
trap 'exit "$verdict"' EXIT
trap 'exit' HUP INT TERM

say() {
    echo "${0##*/}: $*" >&2
}

stop() {
    say "$*"
    exit
}

# decide CODE REASON: the end.
decide() {
    verdict=$1
    shift
    say "$*"
    exit
}

# take_option LETTER VALUE: those that all the scripts have.
take_option() {
    case $1 in
    g) good=$2 ;;
    n) most=$2 ;;
    c) options="$options $2" ;;
    *) stop "wrong usage; see the beginning of $0" ;;
    esac
    case $most in '' | 0* | *[!0-9]*) stop "-n: $most is no number of runs" ;; esac
}

# Sets `new`, the commit that is checked out, `good`, to compare with (the oldest good one of the
# bisection that is going on unless -g named one), and `kept`, a folder that no commit touches.
find_revisions() {
    new=$(git rev-parse --verify HEAD) || stop "not in a git repository"
    [ -n "$good" ] || good=$(git for-each-ref --sort=committerdate --count=1 \
        --format='%(objectname)' 'refs/bisect/good-*')
    [ -n "$good" ] || stop "no good commit: no bisection is going on, and no -g"
    good=$(git rev-parse --verify --quiet "$good^{commit}") || stop "-g: no such commit"
    kept=$(cd "$(git rev-parse --git-common-dir)" && pwd)/mpiwatch-bisect
}

# Sets `parts` to what -c asks mpiwatch compare for, " transports calls"; none: all.
find_parts() {
    parts='' before=''
    for word in $options; do
        case $before in --only | -O) word=--only=$word ;; esac
        before=$word
        case $word in
        --only=*) parts="$parts ${word#--only=}" ;;
        -O?*) parts="$parts ${word#-O}" ;;
        esac
    done
}

# Sets `plan`: how many runs a side there are at each comparison. A change of transport shows in one run; speeds
# need three, or more.
plan_looks() {
    find_parts
    case $parts in
    ' transports') plan=1 && return ;;
    '' | *transports*) looks='1 3 5 10 20 40 80' ;;
    *) looks='3 5 10 20 40 80' ;;
    esac
    [ "$most" != 1 ] ||
        stop "-n 1: one run a side never says that speeds are well (try -c --only=transports)"
    plan=
    for runs in $looks; do
        [ "$runs" -ge "$most" ] || plan="$plan $runs"
    done
    plan="$plan $most"
}

# compared FORMAT: of the runs that there are, into compare.FORMAT.
compared() {
    only=
    [ "$recorded" != 1 ] || only=--only=transports
    # shellcheck disable=SC2086 # several words or none
    mpiwatch compare --looks="$(echo "$plan" | wc -w)" $options $only --format="$1" \
        -o "$state/compare.$1" "$state"/good-*.mpiw -- "$state"/new-*.mpiw
}

# member NAME: one of the verdict itself, which stands before all others of that name; empty: null.
member() {
    sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$state/compare.json" | head -n 1
}

# record RUNS COMMAND...: until there are so many of each.
record() {
    wanted=$1
    shift
    while [ "$recorded" -lt "$wanted" ]; do
        recorded=$((recorded + 1))
        run_good "$state/good-$recorded" "$@" || stop "the job failed with the good revision"
        run_new "$state/new-$recorded" "$@" || decide 125 "the job failed: skipped"
    done
}

# Ends when the runs that there are settle it.
look() {
    rm -f "$state"/compare.*
    code=0
    compared json || code=$?
    case $code in
    0) # transports alone have not said anything of speeds
        if [ "$recorded" != 1 ] || [ "$plan" = 1 ]; then
            decide 0 "no regression in $recorded runs a side"
        fi
        ;;
    1)
        compared text || cat "$state/compare.text" >&2
        decide 1 "regressed in $recorded runs a side"
        ;;
    125)
        if [ "$(member verdict)" != 'not sure' ]; then
            compared text || cat "$state/compare.text" >&2 || : # a trace that cannot be read: none
            decide 125 "cannot be compared: skipped"
        fi
        ;;
    *) stop "mpiwatch compare ended with $code" ;;
    esac
}

# judge COMMAND...: never returns. Comparisons that could not settle it by the noise that was seen
# so far are left out.
judge() {
    command -v mpiwatch >/dev/null || stop "mpiwatch is not in PATH"
    state=$kept/$new
    rm -rf "$state"
    mkdir -p "$state" || stop "cannot make $state"
    recorded=0
    needed=0
    for runs in $plan; do
        [ "$runs" -ge "$needed" ] || [ "$runs" = "$most" ] || continue
        record "$runs" "$@"
        look
        needed=$(member runs_needed)
        case $needed in '' | *[!0-9]*) needed=0 ;; esac
    done
    decide 125 "not sure after $recorded runs a side: skipped (-n allows more)"
}
