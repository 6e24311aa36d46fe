#!/usr/bin/python3
"""What is said of few labels, some of them wrong, beside what is true.

  bench/few_labels.py [LAPIS [SEEDS [LABELS,.. [SET,..]]]]

Of a SET so many labels are given, a share of them (0, .1, .3) each exchanged
for another at random, and all other samples are asked.  A line is of a number of
labels and a share, over all sets and seeds.  Accuracy: how many of the 95 %
intervals of "expected accuracy on new samples" hold the share of other samples
whose label, exchanged alike, is the answer, and their mean width; beside it
Wilson's interval of the accuracy on hidden labels of who was chosen, with a
trial a label.  Doubts: how often a number of wrong labels is said, how many of
these ranges hold the truth; how many labels are listed with a probability of
being wrong, its mean, and how many of them are wrong."""
import json
import os
import subprocess
import sys
import tempfile

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
import numpy as np  # noqa: E402: threads are counted when it is loaded
from sklearn import datasets  # noqa: E402

SHARES = (0, .1, .3)


def made(seed, **how):
    return lambda: datasets.make_classification(
        4000, n_redundant=0, flip_y=0, random_state=seed, **how)


def digits(*of):
    X, y = datasets.load_digits(return_X_y=True)
    keep = np.isin(y, of)
    return X[keep], np.unique(y[keep], return_inverse=True)[1]


def lot():
    rng = np.random.default_rng(5)
    return rng.normal(size=(4000, 10)), rng.integers(0, 2, 4000)


SETS = {
    "cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "digits38": lambda: digits(3, 8),
    "digits1479": lambda: digits(1, 4, 7, 9),
    "easy": made(1, n_features=8, n_informative=4, class_sep=1.5),
    "middling": made(2, n_features=10, n_informative=4, class_sep=.8),
    "hard": made(3, n_features=20, n_informative=6, class_sep=.5),
    "three": made(4, n_features=12, n_informative=5, n_classes=3,
                  n_clusters_per_class=1),
    "moons": lambda: datasets.make_moons(4000, noise=.3, random_state=7),
    "lot": lot}


def wilson(f, n):
    z = 1.96
    middle = (f + z * z / 2 / n) / (1 + z * z / n)
    half = z * np.sqrt(f * (1 - f) / n + z * z / 4 / n / n) / (1 + z * z / n)
    return middle - half, middle + half


def ask(lapis, folder, X, given, Z, seed):
    np.savez(folder + "/a.npz", X=X, Y=given.astype(float))
    np.savez(folder + "/b.npz", X=Z)
    found = subprocess.run(
        [lapis, "fit", "auto", folder + "/a.npz", "--targets", "classes",
         "--seed", str(seed), "--threads", "1", "--suspects", "100000",
         "--json", "--model", folder + "/m", "-o", folder + "/o.npz"],
        check=True, capture_output=True, text=True)
    subprocess.run([lapis, "predict", folder + "/m", folder + "/b.npz", "-q",
                    "-o", folder + "/p.npz"], check=True,
                   stdout=subprocess.DEVNULL)
    with np.load(folder + "/o.npz") as o, np.load(folder + "/p.npz") as p:
        return json.loads(found.stdout), dict(o), p["labels"].ravel()


def one(lapis, folder, X, y, n, share, seed):
    """(holds, width) of both intervals, or None where a class is too rare;
    then what is said of doubts."""
    rng, K = np.random.default_rng(seed), y.max() + 1
    order = rng.permutation(len(y))
    shown, asked = order[:n], order[n:]
    wrong = rng.random(n) < share
    given = np.where(wrong, (y[shown] + rng.integers(1, K, n)) % K, y[shown])
    if min(np.bincount(given, minlength=K)) < 2:
        return None
    said, o, answers = ask(lapis, folder, X[shown], given, X[asked], seed)
    out = {}
    if "candidate_figures" in o:
        right = np.mean(answers == y[asked])
        truth = right * (1 - share) + (1 - right) * share / (K - 1)
        f = o["candidate_figures"][int(o["chosen"].ravel()[0])]
        for name, (low, high) in (("now", f[4:6]), ("plain", wilson(
                f[3], o["hidden"].ravel()[0]))):
            out[name] = (low <= truth <= high, high - low)
    expected = said.get("expected_wrong") or {}
    if expected.get("expected", expected.get("most")) is not None:
        out["range"] = expected["least"] <= wrong.sum() <= expected["most"]
    for at, p in zip(o.get("suspect_index", ()), o.get(
            "suspect_margin", np.full(n, np.nan)).ravel()):
        if not np.isnan(p):
            out.setdefault("listed", []).append((p, wrong[at[0]]))
    return out


def line(n, share, found):
    def of(name):
        kept = [r[name] for r in found if name in r]
        return np.mean(kept, axis=0) if kept else (np.nan, np.nan)
    ranges = [r["range"] for r in found if "range" in r]
    listed = [pair for r in found for pair in r.get("listed", ())]
    p, hit = np.mean(listed, axis=0) if listed else (np.nan, np.nan)
    print(f"{n} | {share} | {len(found)} | {of('now')[0]:.3f} | "
          f"{of('now')[1]:.2f} | {of('plain')[0]:.3f} | {of('plain')[1]:.2f} | "
          f"{len(ranges)} | {np.mean(ranges) if ranges else np.nan:.3f} | "
          f"{len(listed)} | {p:.2f} | {hit:.2f}", flush=True)


if __name__ == "__main__":
    lapis, seeds, labels, names = (sys.argv[1:] + [None] * 4)[:4]
    with tempfile.TemporaryDirectory() as folder:
        for n in (int(v) for v in (labels or "10,20,50,200").split(",")):
            for share in SHARES:
                rows = []
                for name in (names or ",".join(SETS)).split(","):
                    X, y = SETS[name]()
                    rows += [one(lapis or "build/lapis", folder, X, y, n, share,
                                 seed) for seed in range(int(seeds or 5))
                             if 2 * n <= len(y)]
                line(n, share, [r for r in rows if r is not None])
