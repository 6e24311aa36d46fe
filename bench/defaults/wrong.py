#!/usr/bin/python3
"""How often the range of wrong labels holds how many are wrong.

  LAPIS_LIBRARY=build/liblapis.so PYTHONPATH=python bench/defaults/wrong.py [shape|show [TABLE,..]]

Of each table, at most 1,500 rows of it, a share of the labels is exchanged, each for
another at random, twice.  Held-out probabilities of five folds are logistic
regression's (C = .3, standardised), a forest's (150 trees, leaves of 3) or their mean,
whichever has the least log-loss; `lapis.suspects` is given these.  `five-SEP-SEED` are
made: five classes by a rule of which no model knows, the harder to tell the smaller
SEP; `gauss-K-SEP-SEED` K normal clouds.  `shape` is what the upper end of the range was
chosen on.  Printed of each table: runs, of how many a number was said, in how many
the range holds the truth, ends below it, begins above it, its mean width by labels."""
import sys
import warnings

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import flips
import lapis

SHAPE = ("cancer wine digits iris made5 emotions0 emotions3 Sonar Vehicle Ionosphere "
         "HouseVotes84 PimaIndiansDiabetes2 five-1.3-1 five-1.3-2 five-3-3 gauss-2-.5-1 "
         "gauss-4-.6-2 gauss-8-1-3").split()
SHOW = ("Glass Vowel Soybean BreastCancer Satellite DNA LetterRecognition five-2-11 "
        "five-1-12 five-.5-13 gauss-3-.5-14 gauss-6-.8-15 gauss-2-.3-16").split()
SHARES, MOST, FEWEST = (0, .02, .05, .1, .2), 1500, 5


def five(sep, seed):
    rng = np.random.default_rng(seed)
    N, plan = rng.normal(size=(MOST, 20)), rng.random(MOST)
    both = N[:, 0] * N[:, 1]
    z = (1.5 * (N[:, 5] > 0) - .75 + 1.2 * np.sign(both) * (abs(both) > .2)
         + .8 * (plan > .7))
    other = 1.5 * (N[:, 2] + 1.5 * (N[:, 3] > 0) * (N[:, 4] > 0))
    known = np.c_[z, -z, other, -other, np.where(plan < .6, 1., -.5)]
    return np.c_[N, plan], (sep * known + rng.gumbel(size=known.shape)).argmax(1)


def gauss(K, sep, seed):
    rng = np.random.default_rng(seed)
    means, y = rng.normal(size=(K, 6)) * sep, rng.integers(0, K, MOST)
    return means[y] + rng.normal(size=(MOST, 6)), y


def load(name):
    if name.startswith("five"):
        _, sep, seed = name.split("-")
        return five(float(sep), int(seed))
    if name.startswith("gauss"):
        _, K, sep, seed = name.split("-")
        return gauss(int(K), float(sep), int(seed))
    rng = np.random.default_rng(5)
    if name.startswith("emotions"):
        X, y, _ = flips.emotions(rng)
        y = y[:, int(name[-1])]
    else:
        X, y, _ = flips.SETS.get(name, lambda rng: flips.table(name))(rng)
        y = y[:, 0]
    some = rng.permutation(len(y))[:MOST]
    return X[some], np.unique(y[some], return_inverse=True)[1]


def log_loss(p, y):
    return -np.log(np.maximum(p[np.arange(len(y)), y], 1e-12)).mean()


def held_out(X, y):
    models = (make_pipeline(StandardScaler(), LogisticRegression(max_iter=500, C=.3)),
              RandomForestClassifier(150, min_samples_leaf=3, random_state=0))
    said = np.zeros((3, len(y), y.max() + 1))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for train, test in folds.split(X, y):
        for p, model in zip(said, models):
            p[test] = model.fit(X[train], y[train]).predict_proba(X[test])
    said[2] = said[:2].mean(0)
    return min(said, key=lambda p: log_loss(p, y))


def judge(name, tally):
    X, truth = load(name)
    for share in SHARES:
        for seed in (7, 107):
            y, wrong = flips.flip(truth, True, share, np.random.default_rng(seed))
            if np.bincount(y, minlength=truth.max() + 1).min() < FEWEST:
                continue
            found, count = lapis.suspects(held_out(X, y), None, y), wrong.sum()
            tally[0] += 1
            if found.expected is None:
                continue
            tally[1:] += (1, found.least <= count <= found.most, count > found.most,
                          count < found.least, (found.most - found.least) / len(y))


def show(name, tally):
    print(f"| {name} | " + " | ".join(f"{v:.0f}" for v in tally[:5])
          + f" | {tally[5] / max(tally[1], 1):.3f} |", flush=True)


def main():
    warnings.simplefilter("ignore")
    which = SHAPE if sys.argv[1:2] == ["shape"] else SHOW
    if len(sys.argv) > 2:
        which = sys.argv[2].split(",")
    print("| table | runs | said | holds | ends below | begins above | width |\n"
          + "| --- " * 7 + "|")
    total = np.zeros(6)
    for name in which:
        tally = np.zeros(6)
        judge(name, tally)
        show(name, tally)
        total += tally
    show("all", total)


if __name__ == "__main__":
    main()
