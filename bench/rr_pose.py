"""Head pose of the CMU faces under random blocks, in the manner of [RR16]
5.1.2: left, straight and right as (cos, sin) of -90, 0 and 90 degrees.

  LAPIS_COMMAND=build/lapis LAPIS_DATA=... \\
      python3 bench/rr_pose.py [--splits 5] [--cache FILE]

Images of 30 x 32; a black block over 20 % of every image, training and test;
10 people learn, the other 10 are asked.  Every split chooses its settings
among its training people, 6 against 4.  `lapis eval angle-error`: mean
absolute difference in degrees; mean and deviation over splits."""
import argparse
import os
import tempfile
from itertools import product

import numpy as np

from rr_common import Cache, fit_predict, ones, ridge, run, tls

GAMMA = [.01, .1, 1, 10, 100, 1000]
LOOSE = ["--tol", "1e-3"]


def cover(images, rng):
    out = images.copy()
    for im in out:
        y, x = rng.integers(0, 31 - 14), rng.integers(0, 33 - 14)
        im[y:y + 14, x:x + 14] = 0  # 196 of 960 pixels
    return out.reshape(len(out), -1)


def angle_error(truth, scores):
    with tempfile.TemporaryDirectory(prefix="lapis-bench-") as folder:
        np.save(f"{folder}/t.npy", truth)
        np.save(f"{folder}/s.npy", scores)
        said = run(["eval", "angle-error", "--truth", f"{folder}/t.npy",
                    "--scores", f"{folder}/s.npy"])
    return said["mean"]


# ---- methods: (X, Y, new, settings) -> {setting: scores} --------------------
def linear(X, Y, new, gammas):
    return {g: ones(new) @ ridge(X, Y, g).T for g in gammas}


def total(X, Y, new, dims):
    """More pixels than images: TLS needs principal components first."""
    m, out = X.mean(0), {}
    V = np.linalg.svd(X - m, full_matrices=False)[2].T
    for k in dims:
        P = V[:, :k]
        out[k] = ones((new - m) @ P) @ tls((X - m) @ P, Y).T
    return out


def rpca(X, Y, new, settings, refill=()):
    """LSR (gamma 0) or ridge on what robust PCA leaves."""
    out = {}
    part = "filled" if refill else "low_rank"
    for lam, weight in sorted({s[:2] for s in settings}):
        _, learnt, clean = fit_predict(
            "rpca", {"X": X}, new, ["--lambda", lam, *refill, *LOOSE],
            [["--clean-weight", weight, *LOOSE]])
        for g in [s[2] for s in settings if s[:2] == (lam, weight)]:
            T = ridge(learnt[part], Y, g)
            out[lam, weight, g] = ones(clean[0][part]) @ T.T
    return out


def refilled(X, Y, new, settings):
    return rpca(X, Y, new, settings, ["--refill", 3])


def rr(X, Y, new, settings):
    out = {}
    for lam, eta, gamma in sorted({s[:3] for s in settings}):
        weights = [s[3] for s in settings if s[:3] == (lam, eta, gamma)]
        answers = fit_predict(
            "rr", {"X": X, "Y": Y}, new,
            ["--lambda", lam, "--eta", eta, "--gamma", gamma, "--tol", "1e-4"],
            [["--clean-weight", w, *LOOSE] for w in weights])[2]
        for w, a in zip(weights, answers):
            out[lam, eta, gamma, w] = a["scores"]
    return out


ROWS = {
    "LSR": (linear, [0]),
    "ridge": (linear, GAMMA),
    "TLS on principal components": (total, [5, 10, 20, 40, 80]),
    "RPCA + LSR": (rpca, list(product([.02, .04], [1, 4], [0]))),
    "RPCA + ridge": (rpca, list(product([.02, .04], [1, 4], GAMMA))),
    "rr": (rr, list(product([.02, .04], [1, 10], [1, 100], [1, 4]))),
    "RPCA + ridge, refill 3": (refilled, list(product([.03], [1], GAMMA))),
}


def one(images, pose, subject, seed):
    rng = np.random.default_rng(seed)
    X, who = cover(images, rng), rng.permutation(20)
    angle = np.deg2rad([-90.0, 0.0, 90.0])[pose]
    Y = np.c_[np.cos(angle), np.sin(angle)]
    first, second, test = (np.isin(subject, w) for w in
                           (who[:6], who[6:10], who[10:]))
    train, out = first | second, {}
    for row, (method, settings) in ROWS.items():
        best = settings[0]
        if len(settings) > 1:
            tried = method(X[first], Y[first], X[second], settings)
            best = min(tried, key=lambda s: angle_error(Y[second], tried[s]))
        answer = method(X[train], Y[train], X[test], [best])[best]
        out[row] = [angle_error(Y[test], answer), best]
    return out


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--splits", type=int, default=5)
    p.add_argument("--cache")
    o = p.parse_args()
    data = np.load(os.environ["LAPIS_DATA"]
                   + "/cmu_faces/cmu_faces_small.npz")
    use = data["pose"] < 3
    images, pose = data["quarter"][use] / 255.0, data["pose"][use]
    images = images / images.max((1, 2), keepdims=True)
    subject, cache = data["subject"][use], Cache(o.cache)
    found = [cache.get(str(s), lambda s=s: one(images, pose, subject, s))
             for s in range(o.splits)]
    print(f"{o.splits} splits of 20 people, {len(images)} images\n")
    print("| | angle error, degrees | of each split |")
    print("| --- | --- | --- |")
    for row in ROWS:
        v = [f[row][0] for f in found]
        print(f"| {row} | {np.mean(v):.1f} +- {np.std(v):.1f} | "
              f"{', '.join(f'{x:.1f}' for x in v)} |")


main()
