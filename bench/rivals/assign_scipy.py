"""The problems of bench/assign.c through scipy.optimize.linear_sum_assignment.

    /usr/bin/python3 bench/rivals/assign_scipy.py
"""
import time

import numpy as np
import scipy
from scipy.optimize import linear_sum_assignment

PROBLEMS = 7
SIZES = [(10, 100), (100, 100), (100, 1000), (100, 10000), (500, 1000),
         (1000, 1000), (2000, 2000)]


def uniform(seed, count):
    """splitmix64, as in the C program."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * \
            np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0 ** -53


print("scipy", scipy.__version__)
print("| rows x columns | ms | sum of optima |\n| --- | --- | --- |")
for rows, cols in SIZES:
    times, total = [], 0.0
    for t in range(PROBLEMS):
        cost = uniform(1 + 1000 * t, rows * cols).reshape(rows, cols)
        best = np.inf
        for _ in range(3):
            start = time.perf_counter()
            i, j = linear_sum_assignment(cost)
            best = min(best, time.perf_counter() - start)
        times.append(best)
        total += cost[i, j].sum()
    print(f"| {rows} x {cols} | {1e3 * np.median(times):.4g} | {total:.12g} |")
