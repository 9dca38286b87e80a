#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Prints the values that test_statistics.c expects, as SciPy and NumPy compute them. By hand only:
#   python3 statistics_golden.py       (made with SciPy 1.10.1)
import numpy as np
from scipy import stats

BASE = [10.02, 9.87, 10.31, 9.95, 10.10]
FRESH = [8.91, 9.20, 9.02, 8.85]
LEVEL = 0.01


def student():
    for freedom in (1, 2.5, 8, 60):
        for t in (-1.5, 0.1, 2, 12, 80):
            print(f'    {{{t}, {freedom}, {stats.t.sf(t, freedom)!r}}},')
    for freedom in (1, 1.3, 4, 8, 200):
        for tail in (0.05, 0.005, 1e-6):
            t = stats.t.isf(tail, freedom)  # good to 1e-9 only: one step of Newton's more
            t += (stats.t.sf(t, freedom) - tail) / stats.t.pdf(t, freedom)
            print(f'    {{{tail}, {freedom}, {t!r}}},')


def welch():
    base, fresh = np.log(BASE), np.log(FRESH)
    _, p = stats.ttest_ind(fresh, base, equal_var=False)
    parts = [base.var(ddof=1) / len(base), fresh.var(ddof=1) / len(fresh)]
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / (len(base) - 1) + parts[1] ** 2 / (len(fresh) - 1))
    reach = stats.t.isf(LEVEL / 2, freedom) * np.sqrt(sum(parts))
    off = fresh.mean() - base.mean()
    print('welch', *[repr(float(x)) for x in (np.exp(off), np.exp(off - reach), np.exp(off + reach), p)])
    print('means', repr(stats.gmean(BASE)), repr(stats.gmean(FRESH)))


def blocks():
    """What drawing circular blocks at random comes to: a hundred thousand draws."""
    values = np.log([5.0, 5.1, 5.3, 5.2, 4.9, 4.7, 4.8, 5.0, 5.2, 5.3, 5.1, 4.9])
    length = int(np.ceil(len(values) ** 0.5))
    count = len(values) // length
    rng = np.random.default_rng(1)
    starts = rng.integers(0, len(values), (100_000, count))
    drawn = values[(starts[..., None] + np.arange(length)) % len(values)].mean((1, 2))
    variance = drawn.var() * count / (count - 1)
    print('blocks of', length, 'noise', repr(float(np.sqrt(variance * len(values)))))


def medians():
    print('median', np.median(BASE), repr(stats.median_abs_deviation(BASE)), np.median(FRESH),
          repr(stats.median_abs_deviation(FRESH)))


def pooled():
    """Groups of unlike size: Student's own test is the less sure one."""
    base, fresh = np.log([10, 10.4, 9.6, 10.1, 9.9, 10.6, 9.5, 10.2]), np.log([10.9, 11.0])
    for equal in (False, True):
        print('pooled' if equal else 'welch', repr(stats.ttest_ind(fresh, base, equal_var=equal)[1]))


def adjust():
    p = np.array([0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216])
    scaled = p * len(p) / np.arange(1, len(p) + 1)
    print('adjusted', np.minimum.accumulate(scaled[::-1])[::-1].tolist())


if __name__ == '__main__':
    student()
    welch()
    medians()
    pooled()
    blocks()
    adjust()
