"""svt_slow.py [M N SPECTRUM COUNT]...: cold calls of lapis.svt, with t between two
singular values, beside PROPACK and ARPACK of scipy, which are told how many stand
above it and prove nothing.  Processor seconds, least of 5, one thread; prints rows of
bench/results/svt.md.

    OPENBLAS_CORETYPE= OPENBLAS_NUM_THREADS=1 /usr/bin/python3 bench/svt_slow.py

W = U diag(s) V', U and V orthonormal of Gaussian numbers (seed 0).  SPECTRUM: p.5 is
i^-.5, d.97 is .97^i, plateau is COUNT ones, then .7 less up to 1e-3 of it, equal is
COUNT ones, then halves.  A rival that does not converge has no figure.  The rules were
chosen on the rows of 1000 x 2000."""
import os
import sys
import time

os.environ["SCIPY_USE_PROPACK"] = "1"
import lapis  # noqa: E402  before numpy: it chooses OpenBLAS's core
import numpy as np  # noqa: E402
from scipy.sparse.linalg import svds  # noqa: E402

ROWS = [(1000, 2000, "p.25", 50), (1000, 2000, "p.35", 50),
        (1000, 2000, "p.5", 50), (1000, 2000, "p1", 50),
        (1000, 2000, "p.5", 20), (1000, 2000, "d.97", 50),
        (1000, 2000, "plateau", 50), (1000, 2000, "p.5", 150),
        (1000, 2000, "p.25", 5), (1000, 2000, "p.5", 5),
        (1000, 2000, "p1", 5), (1000, 2000, "equal", 5),
        (2000, 3000, "p.5", 50), (2000, 3000, "p.25", 50),
        (2000, 3000, "p.5", 20), (2000, 3000, "p.25", 5),
        (2000, 1000, "p.25", 5), (500, 4000, "p.5", 20),
        (800, 1200, "p.4", 40), (800, 1200, "p.25", 5),
        (600, 600, "p.5", 30), (600, 600, "p.5", 15),
        (600, 600, "p.25", 5), (300, 300, "p.5", 5)]
REPEATS = 5


def spectrum(name, sides, count, rng):
    i = np.arange(1, sides + 1.0)
    if name == "plateau":
        below = np.sort(.7 * (1 - 1e-3 * rng.random(sides)))[::-1]
        return np.where(i <= count, 1.0, below)
    if name == "equal":
        return np.where(i <= count, 1.0, .5)
    number = float(name[1:])
    return i ** -number if name[0] == "p" else number ** i


def orthonormal(rows, columns, rng):
    return np.linalg.qr(rng.normal(size=(rows, columns)))[0]


def seconds(call):
    least = np.inf
    for _ in range(REPEATS):
        start = time.process_time()
        call()
        least = min(least, time.process_time() - start)
    return least


def rival(W, count, s, solver):
    try:
        found = svds(W, k=count, solver=solver, return_singular_vectors=False)
        if abs(np.sort(found)[::-1] - s[:count]).max() > 1e-8 * s[0]:
            return "-"
        return f"{seconds(lambda: svds(W, k=count, solver=solver)):.3f}"
    except Exception:  # of each kind that Fortran's errors come as
        return "-"


def main(words):
    rows = [(int(m), int(n), name, int(count)) for m, n, name, count
            in zip(*[iter(words)] * 4)] or ROWS
    print("| sides | spectrum | above t | svt | PROPACK | ARPACK |")
    print("| --- | --- | --- | --- | --- | --- |")
    for m, n, name, count in rows:
        rng = np.random.default_rng(0)
        sides = min(m, n)
        s = spectrum(name, sides, count, rng)
        W = orthonormal(m, sides, rng) * s @ orthonormal(n, sides, rng).T
        t = (s[count - 1] + s[count]) / 2
        assert lapis.svt(W, t, n_jobs=1).rank == count
        own = seconds(lambda: lapis.svt(W, t, n_jobs=1))
        print(f"| {m} x {n} | {name} | {count} | {own:.3f} | "
              f"{rival(W, count, s, 'propack')} | "
              f"{rival(W, count, s, 'arpack')} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
