#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Every test with one command: installs what is missing, builds in build/, runs all suites and
# counts. The last line is "N passed, N failed, N skipped"; the exit code is 0 only when nothing
# failed. Arguments go to "meson test".
set -eu
cd "$(dirname "$0")/.."
. tools/setup.sh

give_up() {
    mw_say "$1: no test was run" >&2
    echo "0 passed, 1 failed"
    exit 1
}

# shellcheck disable=SC2086 # lists of words
mw_install $mw_packages_build $mw_packages_run $mw_packages_test ||
    give_up "packages could not be installed"
mw_build build || give_up "the build failed"

mw_say "running the tests (their output: build/meson-logs/testlog.txt)"
rm -f build/meson-logs/testlog.json build/meson-logs/testlog.junit.xml
meson test -C build --no-rebuild --print-errorlogs "$@" || true # what failed is counted below
exec python3 tests/count.py build/meson-logs
