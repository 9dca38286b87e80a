# SPDX-License-Identifier: BSD-3-Clause
#
# Measuring on a machine that others use, too: how busy it is, and trying again.
"""Whether anything can be measured here."""

import time

from harness import Failure, Skip, note

BUSY = 0.1  # share of the processors' time that others use


def used():
    """The share of the processors' time that somebody used in the last half second."""

    def read():
        with open("/proc/stat") as file:
            times = [int(word) for word in file.readline().split()[1:]]
        return sum(times), times[3] + times[4]

    total, idle = read()
    time.sleep(0.5)
    now, rests = read()
    return 1 - (rests - idle) / max(1, now - total)


def again(body, times=3):
    """A busy machine takes the processor away from a rank that has nothing to wait for: what it did to a run it does
    not do to each. Where others were busy before or after each run that failed, nothing can be measured."""
    quiet = 0
    for left in range(times - 1, -1, -1):
        before = used()
        try:
            return body()
        except Failure as problem:
            note("once more: %s" % problem)
            others = max(before, used())
            quiet += others < BUSY
            if left:
                continue
            if not quiet:
                raise Skip("the machine is too busy to measure: %.0f %% are used" % (100 * others))
            raise
    return None
