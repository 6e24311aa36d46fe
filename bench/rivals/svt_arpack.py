"""ARPACK, told the rank, on the problems of bench/svt.c.

    OPENBLAS_CORETYPE= /usr/bin/python3 bench/rivals/svt_arpack.py [ROWS COLS [RANK]]
"""
import sys
import time

import numpy as np
import scipy
from scipy.sparse.linalg import svds


def reflected(s, rows, cols, rng):
    """Q_1 diag(s) Q_2', products of four reflections, as in the C program
    (numpy's generator instead of splitmix64: the same spectra)."""
    w = np.zeros((rows, cols), order="F")
    np.fill_diagonal(w, s)
    for _ in range(4):
        v = rng.random(rows) - 0.5
        w -= np.outer(2 / (v @ v) * v, v @ w)
    for _ in range(4):
        v = rng.random(cols) - 0.5
        w -= np.outer(w @ v, 2 / (v @ v) * v)
    return w


rows, cols, rank = ([int(a) for a in sys.argv[1:]] + [4117, 9963, 50][
    len(sys.argv) - 1:])[:3]
rng = np.random.default_rng(1)
i = np.arange(min(rows, cols))
spectra = {"power": 1 / (i + 1),
           "geometric": np.maximum(0.95 ** i, 1e-4),
           "flat": np.where(i < rank, 1, 0.792 * rng.random(i.size))}
print("numpy", np.__version__, "scipy", scipy.__version__)
print("| spectrum | ARPACK seconds | error / sigma_1 |\n| --- | --- | --- |")
for name, s in spectra.items():
    w = reflected(s, rows, cols, rng)
    start = time.perf_counter()
    found = np.sort(svds(w, rank, return_singular_vectors=True)[1])[::-1]
    seconds = time.perf_counter() - start
    truth = np.sort(s)[::-1][:rank]
    print(f"| {name} | {seconds:.3f} | {abs(found - truth).max():.1e} |",
          flush=True)
