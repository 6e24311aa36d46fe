"""ORL faces under black squares, the protocol of [RR16] Table 3 in kind.

  LAPIS_COMMAND=build/lapis LAPIS_DATA=... \\
      python3 bench/rr_faces.py [splits] [cells, as 0,5,20,40,20m,40m]

5 training and 5 test images a person; squares over both; one square, or (m)
many of 6 x 6.  Settings are chosen inside the training half, 3 images against
2, on the first split of a cell.  Accuracy in per cent, mean and deviation."""
import os
import sys

import numpy as np
from sklearn.linear_model import Lasso
from sklearn.svm import LinearSVC

from rr_common import fit, predict

GRID = {"lambda": [.02, .03, .05], "gamma": [.3, 3, 30], "C": [.01, .1, 1],
        "alpha": [3e-4, 1e-3, 3e-3], "cap": [.1, .2, .4]}


def cover(images, share, many, rng):
    out = images.copy()
    for im in out:
        if not many:
            side = round(32 * share ** .5)
            y, x = rng.integers(0, 33 - side, 2)
            im[y:y + side, x:x + side] = 0
            continue
        while (im == 0).mean() < share:
            y, x = rng.integers(0, 27, 2)
            im[y:y + 6, x:x + 6] = 0
    return out.reshape(len(out), -1)


def neighbour(A, a, B, cap):
    d = [np.minimum(np.abs(A - b), cap).sum(1) if cap else
         ((A - b) ** 2).sum(1) for b in B]
    return a[np.argmin(d, 1)]


def src(A, a, B, alpha):
    U = A / np.linalg.norm(A, axis=1, keepdims=True)
    Z = Lasso(alpha=alpha, fit_intercept=False, max_iter=2000).fit(U.T, B.T)
    Z = np.atleast_2d(Z.coef_)
    classes = np.unique(a)
    miss = [np.linalg.norm(B - (Z * (a == c)) @ U, axis=1) for c in classes]
    return classes[np.argmin(miss, 0)]


def lapis(options):
    def method(A, a, B, setting):
        name = "--gamma" if "none" in options else "--lambda"
        model = fit("rlda", {"X": A, "Y": a}, ["--eta", 10, *options, name,
                                               setting], model=True)[2]
        return predict(model, B)["labels"]
    return method


METHODS = {
    "1-NN": (lambda A, a, B, s: neighbour(A, a, B, 0), [0]),
    "capped 1-NN": (neighbour, GRID["cap"]),
    "linear SVM": (lambda A, a, B, C: LinearSVC(C=C, dual=True, max_iter=5000)
                   .fit(A, a).predict(B), GRID["C"]),
    "SRC": (src, GRID["alpha"]),
    "ridge LDA": (lapis(["--denoise", "none"]), GRID["gamma"]),
    "RPCA+LDA": (lapis(["--denoise", "rpca", "--gamma", "1", "--tol", "1e-5"]),
                 GRID["lambda"]),
    "rlda": (lapis(["--gamma", "1", "--tol", "1e-6"]), GRID["lambda"]),
    "rlda, refill 3": (lapis(["--gamma", "1", "--tol", "1e-6", "--refill",
                              "3"]), [.03]),
    "RPCA+LDA, refill 3": (lapis(["--denoise", "rpca", "--gamma", "1",
                                  "--refill", "3"]), [.03]),
}


def choose(name, X, y):
    method, grid = METHODS[name]
    if len(grid) == 1:
        return grid[0]
    held = np.tile([False] * 3 + [True] * 2, 40)
    score = [np.mean(method(X[~held], y[~held], X[held], s) == y[held])
             for s in grid]
    return grid[int(np.argmax(score))]


def split(images, person, seed, share, many):
    rng = np.random.default_rng(seed)
    take = np.concatenate([10 * p + rng.permutation(10)[:5] for p in range(40)])
    rest = np.setdiff1d(np.arange(400), take)
    return (cover(images[take], share, many, rng), person[take],
            cover(images[rest], share, many, rng), person[rest])


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    cells = (sys.argv[2] if len(sys.argv) > 2 else "0,5,20,40,20m,40m")
    data = np.load(os.environ["LAPIS_DATA"] + "/orl32/orl32.npz")
    images, person = data["images"] / 255.0, data["subject"].astype(float)
    rows = {name: [] for name in METHODS}
    for cell in cells.split(","):
        many, share = cell.endswith("m"), float(cell.rstrip("m")) / 100
        chosen = None
        hits = {name: [] for name in METHODS}
        for seed in range(count):
            A, a, B, b = split(images, person, seed, share, many)
            if chosen is None:
                chosen = {m: choose(m, A, a) for m in METHODS}
            for m in METHODS:
                hits[m].append(100 * np.mean(
                    METHODS[m][0](A, a, B, chosen[m]) == b))
        for m in METHODS:
            rows[m].append(f"{np.mean(hits[m]):.1f} +- {np.std(hits[m]):.1f}")
        print(cell, chosen, {m: rows[m][-1] for m in METHODS},
              file=sys.stderr, flush=True)
    print(f"{count} splits, n = 200 test images each\n")
    print("| |", " | ".join(cells.split(",")), "|")
    print("| ---" * (1 + len(cells.split(","))) + " |")
    for m in METHODS:
        print(f"| {m} | " + " | ".join(rows[m]) + " |")


main()
