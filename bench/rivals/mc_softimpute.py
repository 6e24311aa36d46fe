"""Plain completion against softImpute's published loop, at the same penalty.

    LAPIS_COMMAND=build/lapis OPENBLAS_CORETYPE= \\
        /usr/bin/python3 bench/rivals/mc_softimpute.py [ROWS COLS RANK SEEN [TOL]]

X = U V', U and V standard normal (numpy's default_rng(0)), plus 10 % noise;
30 % of 1000 x 2000 entries seen, rank 10.  Both minimise
    |P(X - Z)|^2 / 2 + l |Z|_*,   l = mu |Omega_X|,
and both objectives are computed here from the Z returned.  Debian has no
softImpute, so that its loop stands here as Mazumder, Hastie and Tibshirani
published it (JMLR 2010, Algorithm 1 at one l): Z <- S_l(P(X) + P_perp(Z)), a
full SVD a step, until the objective moves by less than TOL (1e-6) of itself
over ten steps.

    OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE= PYTHONPATH=python \
        /usr/bin/python3 bench/rivals/mc_softimpute.py path [ROWS COLS RANK NOISE SHARE]

The penalty open (5000 256 10 .5 .3: this share is unseen): lapis.LowRankImputer
and the loop, both along the same path of penalties by a hidden tenth, warm,
standardised columns, the loop until Z moves by less than 1e-4 of itself.
Processor time, and the error of the unseen cells against the truth with noise.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np


def objective(x, seen, z, penalty):
    nuclear = np.linalg.svd(z, compute_uv=False).sum()
    return ((x - z)[seen] ** 2).sum() / 2 + penalty * nuclear


def soft_impute(x, seen, penalty, tol):
    z, values, steps = np.zeros_like(x), [np.inf], 0
    while True:
        u, s, v = np.linalg.svd(np.where(seen, x, z), full_matrices=False)
        s = np.maximum(s - penalty, 0)
        z = (u * s) @ v
        steps += 1
        values.append(((x - z)[seen] ** 2).sum() / 2 + penalty * s.sum())
        if len(values) > 11 and values[-11] - values[-1] < tol * values[-1]:
            return z, steps


def loop_along_path(x, seen, rng):
    mean, size = np.nanmean(x, 0), np.nanstd(x, 0)
    scaled = np.where(seen, (x - mean) / size, 0)
    hidden = seen & (rng.random(x.shape) < 0.1)
    train = seen & ~hidden

    def solve(known, penalty, z):
        for _ in range(1000):
            u, s, v = np.linalg.svd(np.where(known, scaled, z),
                                    full_matrices=False)
            new = (u * np.maximum(s - penalty, 0)) @ v
            moved = np.linalg.norm(new - z) / max(np.linalg.norm(z), 1e-9)
            z = new
            if moved < 1e-4:
                break
        return z
    z, best, worse = np.zeros_like(scaled), (np.inf, None), 0
    for penalty in (np.geomspace(0.7, 0.01, 12)
                    * np.linalg.norm(np.where(train, scaled, 0), 2)):
        z = solve(train, penalty, z)
        error = ((z - scaled)[hidden] ** 2).mean()
        worse = 0 if error < best[0] else worse + 1
        best = min(best, (error, penalty))
        if worse == 2:
            break
    penalty = best[1] * np.sqrt(seen.sum() / train.sum())
    return solve(seen, penalty, z) * size + mean


def path(given):
    from lapis import LowRankImputer
    rows, cols, rank, noise, share = given + [5000, 256, 10, 0.5, 0.3][
        len(given):]
    rng = np.random.default_rng(0)
    shape = int(rows), int(cols)
    x = rng.standard_normal((shape[0], int(rank))) @ rng.standard_normal(
        (int(rank), shape[1])) + noise * rng.standard_normal(shape)
    seen = rng.random(shape) >= share
    gaps = np.where(seen, x, np.nan)
    print("| | seconds | error |\n|---|---|---|")
    for name, fill in (
            ("LowRankImputer", lambda: LowRankImputer(
                random_state=0).fit_transform(gaps)),
            ("softImpute's loop", lambda: loop_along_path(gaps, seen, rng))):
        start = time.process_time()
        filled = fill()
        seconds = time.process_time() - start
        error = np.sqrt(((filled - x)[~seen] ** 2).mean())
        print(f"| {name} | {seconds:.2f} | {error:.4f} |", flush=True)


def lapis(x, tol, folder):
    data, out = os.path.join(folder, "x.npz"), os.path.join(folder, "z.npz")
    np.savez(data, X=x)
    run = subprocess.run(
        [os.environ.get("LAPIS_COMMAND", "build/lapis"), "fit", "mc", data,
         "--mu-rel", "0.05", "--tol", str(tol), "--json", "-q", "-o", out],
        capture_output=True, text=True, check=True)
    return np.load(out)["low_rank"], json.loads(run.stdout)


def main():
    if sys.argv[1:2] == ["path"]:
        return path([float(a) for a in sys.argv[2:]])
    given = [float(a) for a in sys.argv[1:]]
    rows, cols, rank, share, tol = given + [1000, 2000, 10, 0.3, 1e-6][
        len(given):]
    rng = np.random.default_rng(0)
    shape = int(rows), int(cols)
    x = rng.standard_normal((shape[0], int(rank))) @ rng.standard_normal(
        (int(rank), shape[1]))
    x += 0.1 * rng.standard_normal(shape)
    seen = rng.random(shape) < share
    with tempfile.TemporaryDirectory(prefix="lapis-bench-") as folder:
        z, said = lapis(np.where(seen, x, np.nan), tol, folder)
    penalty = said["settings"]["mu"] * seen.sum()
    ours = objective(x, seen, z, penalty)
    start = time.perf_counter()
    theirs_z, steps = soft_impute(x, seen, penalty, tol)
    seconds = time.perf_counter() - start
    theirs = objective(x, seen, theirs_z, penalty)
    info = said["info"]
    print(f"{info['backend']}, {info['threads']} threads; numpy "
          f"{np.__version__}; {shape[0]} x {shape[1]}, {seen.mean():.0%} seen")
    print("| | objective | rank | steps | seconds |\n|---|---|---|---|---|")
    print(f"| lapis (gap {info['gap']:.1e}) | {ours:.10g} | {info['rank']} | "
          f"{info['iterations']} | {info['seconds']:.2f} |")
    print(f"| softImpute's loop | {theirs:.10g} | "
          f"{np.linalg.matrix_rank(theirs_z)} | {steps} | {seconds:.2f} |")
    print(f"relative difference {(theirs - ours) / ours:.1e}; "
          f"between the two Z {np.abs(theirs_z - z).max():.1e}; "
          f"the loop takes {seconds / info['seconds']:.1f} times as long")


main()
