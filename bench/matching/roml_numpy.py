"""The iteration of lapis fit roml in plain NumPy and SciPy, for comparison.

    /usr/bin/python3 bench/matching/roml_numpy.py [K NK N [LAPIS]]

Same data as bench/roml.c in kind (seed and generator are NumPy's), same start,
same rho_0 and growth: the start is what LAPIS --max-iters 0 returns, so that
only iterations are compared.  Prints milliseconds an iteration of both, over as
many iterations as LAPIS needed, start and final bookkeeping of LAPIS taken off.
"""
import sys
import time
import warnings

import numpy as np
from scipy.optimize import linear_sum_assignment

from roml_common import D, draw, fit

RATIO = 0.2


def iterate(F, P, rho, growth, iters):
    """F: K x n_k x d, unit rows; P: K x n."""
    K, n = P.shape
    D_ = np.stack([F[k][P[k]].ravel() for k in range(K)], 1)
    lam = 5 / np.sqrt(D_.shape[0])
    E, Y = np.zeros_like(D_), np.zeros_like(D_)
    for _ in range(iters):
        U, s, Vt = np.linalg.svd(D_ - E - Y / rho, full_matrices=False)
        L = (U * np.maximum(s - 1 / rho, 0)) @ Vt
        V = D_ - L - Y / rho
        E = np.sign(V) * np.maximum(np.abs(V) - lam / rho, 0)
        M = L + E + Y / rho
        for k in range(K):
            cost = -M[:, k].reshape(n, D) @ F[k].T
            P[k] = linear_sum_assignment(cost)[1]
            D_[:, k] = F[k][P[k]].ravel()
        Y += rho * (L + E - D_)
        rho *= growth
    return P


def begin(K, each, n, start):
    """Unit features, the start as indices within images, and rho_0."""
    X = draw(K, each, n, RATIO, 1)[0]
    F = (X / np.linalg.norm(X, axis=1, keepdims=True)).reshape(K, each, D)
    P = start - np.arange(K)[:, None] * each
    rng = np.random.default_rng(0)
    R = np.stack([F[k][rng.permutation(each)[:n]].ravel() for k in range(K)], 1)
    return F, P, 0.95 / np.median(np.linalg.svd(R, compute_uv=False))


def duel(K, each, n):
    """For bench/compare: the iterations alone, in this process."""
    import lapis
    X, group, _ = draw(K, each, n, RATIO, 1)

    def fit(most):
        begun = time.process_time()
        found = lapis.solve("roml", X, group=group, inliers=n,
                            max_iters=most)
        return time.process_time() - begun, found

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = fit(0)[1]["match"].copy()
        iters = fit(20000)[1].info.iterations

    def ours():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole, none = (min(fit(most)[0] for _ in range(9))
                           for most in (20000, 0))
        return (whole - none) / iters

    F, P, rho = begin(K, each, n, start)

    def theirs():
        begun = time.process_time()
        iterate(F, P.copy(), rho, 1.01, iters)
        return (time.process_time() - begun) / iters

    yield f"{iters} iterations from the same start", 1, ours, {
        "NumPy + SciPy": theirs}


def main():
    size = [int(a) for a in sys.argv[1:4]] or [10, 1000, 10]
    lapis = sys.argv[4] if len(sys.argv) > 4 else "build/lapis"
    K, each, n = size
    X, group, _ = draw(K, each, n, RATIO, 1)
    took = {}
    for most in (0, 20000):
        run, match = fit(lapis, {"X": X, "group": group}, n, "--threads", "2",
                         "--max-iters", str(most))
        info = run["info"]
        took[most] = info["seconds"]
        if most == 0:
            start = match
    iters = info["iterations"]
    F, P, rho = begin(K, each, n, start)
    begun = time.perf_counter()
    iterate(F, P.copy(), rho, 1.01, iters)
    rival = time.perf_counter() - begun
    ours = took[20000] - took[0]
    print(f"{K} {each} {n}: {iters} iterations, ms each: LAPIS "
          f"{1e3 * ours / iters:.3g}, NumPy + SciPy {1e3 * rival / iters:.3g}, "
          f"ratio {rival / ours:.3g}")


if __name__ == "__main__":
    main()
