"""SVM+ with C and gamma left open: AUROC on small tasks.

  /usr/bin/python3 bench/defaults/svmplus_open.py [build/lapis [SEEDS]]

Tables of scikit-learn: breast cancer (10 means are X, 20 other columns P), wine
(5 columns, 8), two digits (means of 2 x 2 pixels, all 64 pixels); 80 samples
teach, at most 400 others are asked.  "1, 1": C = gamma = 1 with P, what fit did
before; "without P": the SVM with C = 1; "open": what fit does now; the best of
C = .1, 1, 10, 100 without P by the samples that are asked stands beside it.
Seconds are processor time of fit."""
import os
import resource
import subprocess
import sys
import tempfile

import numpy as np
from sklearn import datasets
from sklearn.metrics import roc_auc_score

lapis = sys.argv[1] if len(sys.argv) > 1 else "build/lapis"
seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
folder = tempfile.mkdtemp()


def used():
    of = resource.getrusage(resource.RUSAGE_CHILDREN)
    return of.ru_utime + of.ru_stime


def tasks():
    X, y = datasets.load_breast_cancer(return_X_y=True)
    yield "breast cancer", X[:, :10], X[:, 10:], y
    X, y = datasets.load_wine(return_X_y=True)
    yield "wine, 2nd class", X[:, :5], X[:, 5:], (y == 1) * 1
    X, y = datasets.load_digits(return_X_y=True)
    small = X.reshape(-1, 4, 2, 4, 2).mean((2, 4)).reshape(-1, 16)
    for a, b in [(3, 8), (1, 7), (5, 9)]:
        k = (y == a) | (y == b)
        yield f"digits {a}, {b}", small[k], X[k], (y[k] == a) * 1


def score(X, P, y, first, rest, *how):
    held = {"X": X[first], "Y": y[first].astype(float)}
    if P is not None:
        held["P"] = P[first]
    np.savez(f"{folder}/a.npz", **held)
    np.savez(f"{folder}/b.npz", X=X[rest])
    began = used()
    said = subprocess.run(
        [lapis, "fit", "svmplus", f"{folder}/a.npz", "--scale", "standard",
         "--threads", "1", "--model", f"{folder}/m", *how],
        check=True, capture_output=True, text=True)
    spent = used() - began
    subprocess.run([lapis, "predict", f"{folder}/m", f"{folder}/b.npz", "-q",
                    "-o", f"{folder}/o.npz"], check=True, capture_output=True)
    with np.load(f"{folder}/o.npz") as found:
        return roc_auc_score(y[rest], found["scores"].ravel()), spent, said.stderr


def main():
    print("| task | kernels | 1, 1 | without P | open | s | best without P |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, X, P, y in tasks():
        for kernel in ("linear", "rbf"):
            rows = []
            k = ["--kernel", kernel]
            both = [*k, "--kernel-priv", kernel]
            for seed in range(seeds):
                order = np.random.RandomState(seed).permutation(len(y))
                at = (order[:80], order[80:480])
                got = score(X, P, y, *at, *both)
                one = score(X, P, y, *at, *both, "--C", "1", "--gamma", "1")
                plain = score(X, None, y, *at, *k, "--C", "1")
                best = max(score(X, None, y, *at, *k, "--C", C)[0]
                           for C in (".1", "1", "10", "100"))
                rows.append([one[0], plain[0], got[0], got[1], best])
                print(name, kernel, seed, [s for s in got[2].splitlines()
                                           if "chosen" in s], file=sys.stderr)
            m = np.mean(rows, 0)
            print(f"| {name} | {kernel} | {m[0]:.4f} | {m[1]:.4f} | "
                  f"{m[2]:.4f} | {m[3]:.2f} | {m[4]:.4f} |", flush=True)


main()
