"""SVM+ with C and gamma left open: AUROC on small tasks.

  /usr/bin/python3 bench/defaults/svmplus_open.py [build/lapis [SEEDS [wrong]]]

Tables of scikit-learn: breast cancer (10 means are X, 20 other columns P), wine
(5 columns, 8), two digits (means of 2 x 2 pixels, all 64 pixels); 80 samples
teach, at most 400 others are asked.  "1, 1": C = gamma = 1 with P, what fit did
before; "without P": the SVM with C = 1; "open": what fit does now; the best of
C = .1, 1, 10, 100 without P by the samples that are asked stands beside it.
Seconds are processor time of fit.

wrong: 30 % of the labels that teach are wrong, and P tells which, with noise: a
column of 1 where the label is wrong and 0 elsewhere, plus .4 times a normal
number, and a column of noise.  "with P": gamma = 1, C left open; the best of C
and gamma with P by the samples that are asked, whose labels are right, stands
beside it."""
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
wrong = len(sys.argv) > 3 and sys.argv[3] == "wrong"
Cs = (".1", "1", "10", "100")
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


def score(X, P, y, first, rest, *how, shown=None):
    """P and shown, the labels that teach (None: right), are those of first."""
    held = {"X": X[first],
            "Y": (y[first] if shown is None else shown).astype(float)}
    if P is not None:
        held["P"] = P
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


def is_right(X, P, y, at, k, both):
    """AUROC: gamma 1 with C 1, without P, open, its seconds, best without P."""
    got = score(X, P, y, *at, *both)
    one = score(X, P, y, *at, *both, "--C", "1", "--gamma", "1")
    plain = score(X, None, y, *at, *k, "--C", "1")
    best = max(score(X, None, y, *at, *k, "--C", C)[0] for C in Cs)
    return [one[0], plain[0], got[0], got[1], best], got[2]


def is_wrong(X, random, y, at, k, both):
    """AUROC: with P, without P, open, best with P, best without P."""
    n = len(at[0])
    flip = random.rand(n) < .3
    shown = np.where(flip, 1 - y[at[0]], y[at[0]])
    P = np.c_[flip + .4 * random.randn(n), random.randn(n)]

    def ask(P, *how):
        return score(X, P, y, *at, *how, shown=shown)

    got = ask(P, *both)
    grid = [ask(P, *both, "--C", C, "--gamma", g)[0]
            for C in Cs for g in (".01", "1", "100")]
    plain = [ask(None, *k, "--C", C)[0] for C in Cs]
    return [ask(P, *both, "--gamma", "1")[0], plain[1], got[0], max(grid),
            max(plain)], got[2]


def main():
    print("| task | kernels | with P | without P | open | best with P | "
          "best without P |" if wrong else
          "| task | kernels | 1, 1 | without P | open | s | best without P |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, X, P, y in tasks():
        for kernel in ("linear", "rbf"):
            rows = []
            k = ["--kernel", kernel]
            both = [*k, "--kernel-priv", kernel]
            for seed in range(seeds):
                random = np.random.RandomState(seed)
                order = random.permutation(len(y))
                at = (order[:80], order[80:480])
                row, said = (is_wrong(X, random, y, at, k, both) if wrong else
                             is_right(X, P[at[0]], y, at, k, both))
                rows.append(row)
                print(name, kernel, seed, [s for s in said.splitlines()
                                           if "chosen" in s], file=sys.stderr)
            print(f"| {name} | {kernel} | "
                  + " | ".join(f"{x:.4f}" for x in np.mean(rows, 0)) + " |",
                  flush=True)


main()
