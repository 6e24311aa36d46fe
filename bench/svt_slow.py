"""svt_slow.py [M N SPECTRUM COUNT]...: cold calls of lapis.svt, with t between two
singular values, beside PROPACK and ARPACK of scipy, which are told how many stand
above it and prove nothing.  Processor seconds, least of 5 (of fewer where they take
seconds), one thread; prints rows of bench/results/svt.md.  PROPACK's warnings go to
stderr.

    OPENBLAS_CORETYPE= OPENBLAS_NUM_THREADS=1 /usr/bin/python3 bench/svt_slow.py 2>/dev/null

W = U diag(s) V', U and V orthonormal of Gaussian numbers (seed 0), or of four
reflections where W is large.  SPECTRUM: p.5 is i^-.5, d.97 is .97^i, plateau is COUNT
ones, then .7 less up to 1e-3 of it, equal is COUNT ones, then halves.  Share: of the
better rival.  A rival that does not converge has no figure.  Without arguments: all
SIZES, SPECTRA and COUNTS of which an eighth of the singular values at most are above."""
import os
import sys
import time

os.environ["SCIPY_USE_PROPACK"] = "1"
import lapis  # noqa: E402  before numpy: it chooses OpenBLAS's core
import numpy as np  # noqa: E402
from scipy.sparse.linalg import svds  # noqa: E402

SIZES = [(300, 300), (600, 600), (800, 1200), (1000, 2000), (2000, 1000), (2000, 3000)]
SPECTRA = ["p.25", "p.5", "p1", "equal", "plateau"]
COUNTS = [5, 50]
REPEATS, ENOUGH = 5, 2  # calls; seconds of them
LARGE = 3000  # sides that are reflected


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


def reflected(W, rng):
    for _ in range(4):
        v = rng.normal(size=W.shape[0])
        W -= np.outer(2 / (v @ v) * v, v @ W)
    return W


def matrix(m, n, s, rng):
    if min(m, n) < LARGE:
        return orthonormal(m, s.size, rng) * s @ orthonormal(n, s.size, rng).T
    W = np.zeros((m, n))
    np.fill_diagonal(W, s)
    reflected(W, rng)
    return np.ascontiguousarray(reflected(W.T, rng).T)


def seconds(call):
    times = []
    while len(times) < REPEATS and sum(times) < ENOUGH:
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def rival(W, count, s, solver):
    try:
        found = svds(W, k=count, solver=solver, return_singular_vectors=False)
        if abs(np.sort(found)[::-1] - s[:count]).max() > 1e-8 * s[0]:
            return np.inf
        return seconds(lambda: svds(W, k=count, solver=solver))
    except Exception:  # of each kind that Fortran's errors come as
        return np.inf


def grid():
    return [(m, n, name, count) for m, n in SIZES for name in SPECTRA
            for count in COUNTS if 8 * count <= min(m, n)]


def main(words):
    rows = [(int(m), int(n), name, int(count)) for m, n, name, count
            in zip(*[iter(words)] * 4)] or grid()
    print("| sides | spectrum | above t | svt | PROPACK | ARPACK | share |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for m, n, name, count in rows:
        rng = np.random.default_rng(0)
        s = spectrum(name, min(m, n), count, rng)
        W = matrix(m, n, s, rng)
        t = (s[count - 1] + s[count]) / 2
        assert lapis.svt(W, t, n_jobs=1).rank == count
        own = seconds(lambda: lapis.svt(W, t, n_jobs=1))
        rivals = [rival(W, count, s, each) for each in ("propack", "arpack")]
        shown = ["-" if r == np.inf else f"{r:.4f}" for r in rivals]
        print(f"| {m} x {n} | {name} | {count} | {own:.4f} | {shown[0]} | "
              f"{shown[1]} | {own / min(rivals):.2f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
