#!/usr/bin/python3
"""What is said of single labels where samples come in groups, hidden whole.

  LAPIS_LIBRARY=build/liblapis.so PYTHONPATH=python LAPIS_DATA=.. \\
    bench/defaults/wrong_groups.py [shape|show]

Labels of faces (pose, dark glasses; groups are people), of Vowel (who speaks) and of
made ones (normal clouds, each group moved by a normal of SHIFT) are exchanged for
others at random, 0, 3, 10 and 20 %.  Probabilities of five folds of whole groups are
logistic regression's or a forest's; `lapis.suspects` is given these and the groups.
`shape` is what the spread of groups was chosen on.  Printed a row of each set: runs
where a number is said and labels are doubted; labels listed as wrong, the sum of their
probabilities, how many of them are; the mean log-loss of "wrong" over all labels; and
of as many labels from the top as are wrong, the share that is."""
import csv
import os
import sys
import warnings

import numpy as np
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lapis

SHARES = (0, .03, .1, .2)
MODELS = {"line": lambda: make_pipeline(StandardScaler(),
                                        LogisticRegression(C=.02, max_iter=300)),
          "forest": lambda: RandomForestClassifier(100, min_samples_leaf=3,
                                                   random_state=0)}


def faces(what, people, seed, some):
    """some: of each person at most so many."""
    at = os.path.join(os.environ["LAPIS_DATA"], "cmu_faces")
    with open(os.path.join(at, "index.csv")) as f:
        rows = list(csv.DictReader(f))
    X = []
    for r in rows:
        with open(f"{at}/images/{r['subject']}/{r['name']}.pgm", "rb") as f:
            X.append(np.frombuffer(f.read()[-128 * 120:], np.uint8).reshape(
                30, 4, 32, 4).mean((1, 3)).ravel())
    who, y = (np.unique([r[k] for r in rows], return_inverse=True)[1]
              for k in ("subject", what))
    rng = np.random.default_rng(seed)
    m = np.isin(who, rng.permutation(20)[:people]) & (rng.random(len(y)) < some / 32)
    return PCA(60, random_state=0).fit_transform(np.array(X))[m], y[m], who[m]


def made(K, groups, each, shift, seed):
    rng = np.random.default_rng(seed)
    means, who = rng.normal(size=(K, 8)) * 1.2, np.repeat(np.arange(groups), each)
    y = rng.integers(0, K, groups * each)
    moved = rng.normal(size=(groups, 8)) * shift
    return means[y] + moved[who] + rng.normal(size=(len(y), 8)), y, who


def vowel():
    import tables
    X, y = tables.load("Vowel")
    who = np.unique(X[:, 0], return_inverse=True)[1]
    return X[:, 1:], np.unique(y, return_inverse=True)[1], who


def sets(which):
    if which == "shape":
        for what in ("pose", "eyes"):
            for people in (8, 14, 20):
                yield f"faces, {what}", faces(what, people, 100, 32)
        for K in (2, 4):
            for groups, each in ((10, 30), (30, 20), (100, 6), (300, 2)):
                for shift in (0, .5, 1, 2):
                    yield f"made, moved {shift}", made(K, groups, each, shift, 0)
        return
    for seed in (1, 2, 3, 4):
        for people in (12, 17):
            for what in ("pose", "eyes"):
                yield f"faces, {what}", faces(what, people, seed, 20)
        for K, groups, each in ((3, 25, 24), (6, 60, 15), (2, 150, 4)):
            for shift in (0, .7, 1.5):
                yield f"made, moved {shift}", made(K, groups, each, shift, 10 + seed)
        yield "Vowel", vowel()


def held_out(X, y, who, model):
    p = np.zeros((len(y), y.max() + 1))
    for train, test in GroupKFold(5).split(X, y, who):
        fitted = model().fit(X[train], y[train])
        p[np.ix_(test, fitted.classes_)] = fitted.predict_proba(X[test])
    return p


def judge(X, truth, who, seed):
    """Sums of what is printed."""
    total = np.zeros(7)
    for share in SHARES:
        for name, model in MODELS.items():
            if name == "forest" and X.shape[1] == 8:
                continue
            rng = np.random.default_rng(seed)
            y, wrong = truth.copy(), rng.random(len(truth)) < share
            y[wrong] += rng.integers(1, truth.max() + 1, wrong.sum())
            y %= truth.max() + 1
            found = lapis.suspects(held_out(X, y, who, model), None, y, n=len(y),
                                   groups=who)
            if found.expected is None or np.isnan(found.margin).any():
                continue
            p = np.zeros(len(y))
            p[found.index[:, 0]] = found.margin
            listed, q = p >= .5, np.clip(p, 1e-4, 1 - 1e-4)
            top = np.argsort(-p, kind="stable")[:max(wrong.sum(), 1)]
            total += (1, listed.sum(), p[listed].sum(), wrong[listed].sum(),
                      -np.log(np.where(wrong, q, 1 - q)).mean(),
                      wrong[top].sum() / max(wrong.sum(), 1), wrong.any())
    return total


def main():
    warnings.simplefilter("ignore")
    totals = {}
    for seed, (name, (X, y, who)) in enumerate(sets(*(sys.argv[1:2] or ["show"]))):
        totals[name] = totals.get(name, 0) + judge(X, y, who, seed)
    totals["all"] = sum(totals.values())
    print("| labels | runs | listed | probabilities | wrong | log-loss | on top |\n"
          + "| --- " * 7 + "|")
    for name, t in totals.items():
        print(f"| {name} | {t[0]:.0f} | {t[1]:.0f} | {t[2]:.0f} | {t[3]:.0f} | "
              f"{t[4] / max(t[0], 1):.4f} | {t[5] / max(t[6], 1):.3f} |")


if __name__ == "__main__":
    main()
