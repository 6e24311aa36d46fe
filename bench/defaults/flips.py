#!/usr/bin/python3
"""Wrong labels that `lapis label` lists, beside confident learning.

  LAPIS_COMMAND=build/lapis LAPIS_DATA=... bench/defaults/flips.py [SET,.. [SHARE,.. [SEED]]]

SETs: cancer, wine, digits, iris (scikit-learn), emotions (6 labels an image), msrc
(21 columns, 60 % of the cells empty, textons), orl20 (20 people's faces, every
second pixel of every second row), made5 (five classes that are hard to tell), and
of r-cran-mlbench Glass, Vowel, Soybean, BreastCancer, which shaped nothing.  A SHARE of the known labels is
exchanged, each for another at random.  Printed a line each: how many are wrong;
listed, and of these wrong, by lapis label as it comes; and by confident
learning [Northcutt, Jiang, Chuang 2021] over logistic regression (standardised
features, C = 1, probabilities of 4 folds): thresholds are the mean
probability of a class among samples labelled so, and either the samples off the
diagonal of the confident joint are listed, or as many as it estimates, those of
largest margin ("prune by noise rate")."""
import os
import resource
import subprocess
import sys
import tempfile

import numpy as np
from sklearn import datasets
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

FOLDS, HIDDEN = 4, .6
SHOWN = ["Glass", "Vowel", "Soybean", "BreastCancer"]


# ---- data: features, columns of labels (n x K), which are known, exclusive
def bundled(load):
    data = load()
    return data.data, data.target[:, None], np.ones((len(data.data), 1), bool)


def emotions(rng):
    data = np.load(os.path.join(os.environ["LAPIS_DATA"], "emotions",
                                "emotions.npz"), allow_pickle=True)
    X, truth = (np.concatenate([data["train_" + k], data["test_" + k]])
                for k in "xy")
    return X, truth.astype(int), np.ones(truth.shape, bool)


def msrc(rng):
    data = np.load(os.path.join(os.environ["LAPIS_DATA"], "msrc_v2",
                                "msrc_v2.npz"), allow_pickle=True)
    keep = [c for c in range(23) if c not in (4, 7)]
    truth = data["labels"][:, keep].astype(int)
    known = rng.random(truth.shape) >= HIDDEN
    return data["bow"].astype(float), truth, known


def orl20(rng):
    data = np.load(os.path.join(os.environ["LAPIS_DATA"], "orl32",
                                "orl32.npz"))
    few = data["subject"] < 20
    X = data["images"][few, ::2, ::2].reshape(few.sum(), -1)
    return (X.astype(float), data["subject"][few, None].astype(int),
            np.ones((few.sum(), 1), bool))


def table(name):
    import tables
    X, y = tables.load(name)
    X = np.where(np.isnan(X), np.nanmean(X, 0), X)
    return X, np.unique(y, return_inverse=True)[1][:, None], np.ones(
        (len(y), 1), bool)


def made5(rng):
    X, y = datasets.make_classification(600, 20, n_informative=6, n_classes=5,
                                        class_sep=.8, flip_y=0, random_state=3)
    return X, y[:, None], np.ones((600, 1), bool)


SETS = {"cancer": lambda rng: bundled(datasets.load_breast_cancer),
        "wine": lambda rng: bundled(datasets.load_wine),
        "digits": lambda rng: bundled(datasets.load_digits),
        "iris": lambda rng: bundled(datasets.load_iris),
        "emotions": emotions, "msrc": msrc, "orl20": orl20, "made5": made5}
SETS.update({name: lambda rng, name=name: table(name) for name in SHOWN})


def flip(truth, known, share, rng):
    """Labels, and which are wrong: another class at random."""
    wrong = (rng.random(truth.shape) < share) & known
    classes = truth.max() + 1
    other = (truth + rng.integers(1, classes, truth.shape)) % classes
    return np.where(wrong, other, truth), wrong


# ---- lapis label
def ask_lapis(features, labels, known):
    """(image, column) of what is listed, scores, what was said, seconds."""
    n, columns = labels.shape
    with tempfile.TemporaryDirectory() as folder:
        at = {name: os.path.join(folder, name)
              for name in ("in", "x.npy", "labels.csv", "o.npz")}
        os.mkdir(at["in"])
        for i in range(n):
            with open(f"{at['in']}/i{i:05}.pgm", "wb") as to:
                to.write(b"P5 1 1 255\n0")
        np.save(at["x.npy"], features)
        with open(at["labels.csv"], "w") as to:
            to.write("name," + ",".join(f"c{k}" for k in range(columns)) + "\n")
            for i in range(n):
                cells = [str(v) if k else ""
                         for v, k in zip(labels[i], known[i])]
                to.write(f"i{i:05}.pgm," + ",".join(cells) + "\n")
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        run = subprocess.run(
            [os.environ.get("LAPIS_COMMAND", "build/lapis"), "label", at["in"],
             "--labels", at["labels.csv"], "--features", "table:" + at["x.npy"],
             "--result", at["o.npz"], "--no-cache", "--threads", "1",
             "--suspects", "100000", "-q"],
            capture_output=True, text=True)
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        if run.returncode != 0:
            sys.exit(run.stderr)
        found = np.load(at["o.npz"])
        listed = found.get("suspect_index", np.empty((0, 2), int))
        scores = found["scores"]
        wrong = [int(v) for v in found["expected_wrong"]]
    if columns == 1:  # the second number is the class that it rather is
        listed = [(i, 0) for i, _ in listed]
    return ({(int(i), int(c)) for i, c in listed}, scores,
            f"{wrong[0]} to {wrong[1]}, "
            f"{wrong[3] if wrong[3] >= 0 else 'unsaid'}", seconds)


# ---- confident learning
def held_out(features, y):
    p = np.zeros((len(y), y.max() + 1))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for train, test in folds.split(features, y):
        scale = StandardScaler().fit(features[train])
        model = LogisticRegression(max_iter=2000)
        model.fit(scale.transform(features[train]), y[train])
        p[np.ix_(test, model.classes_)] = model.predict_proba(
            scale.transform(features[test]))
    return p


def confident(features, y):
    """Marks of samples: off the confident joint's diagonal; pruned."""
    K = y.max() + 1
    if min(np.bincount(y, minlength=K)) < FOLDS:
        return np.zeros((2, len(y)), bool)
    p = held_out(features, y)
    threshold = np.array([p[y == k, k].mean() for k in range(K)])
    above = np.where(p >= threshold, p, -1)
    guess = np.where(above.max(1) >= 0, above.argmax(1), -1)
    off = (guess >= 0) & (guess != y)
    joint = np.array([[np.sum((y == i) & (guess == j)) for j in range(K)]
                      for i in range(K)], float)
    joint *= (np.bincount(y, minlength=K) / np.maximum(joint.sum(1), 1))[:, None]
    pruned = np.zeros(len(y), bool)
    for i in range(K):
        rows = np.flatnonzero(y == i)
        for j in range(K):
            count = int(round(joint[i, j])) if i != j else 0
            margin = p[rows, j] - p[rows, i]
            pruned[rows[np.argsort(-margin, kind="stable")[:count]]] = True
    return off, pruned


def ask_rival(features, labels, known):
    found = [set(), set()]
    for c in range(labels.shape[1]):
        rows = np.flatnonzero(known[:, c])
        for marks, to in zip(confident(features[rows], labels[rows, c]), found):
            to.update((int(i), c) for i in rows[marks])
    return found


# ---- telling
def figures(listed, wrong):
    right = sum(bool(wrong[i, c]) for i, c in listed)
    precision = f"{right / len(listed):.2f}" if listed else "-"
    recall = f"{right / wrong.sum():.2f}" if wrong.any() else "-"
    return f"{len(listed)} | {precision} | {recall}"


def main():
    given = sys.argv[1:] + [None] * 3
    names = given[0].split(",") if given[0] else list(SETS)
    shares = [float(s) for s in (given[1] or "0,.02,.05,.1,.2").split(",")]
    seed = int(given[2] or 0)
    print("| set | flipped | labels | wrong | listed | precision | recall | "
          "expected, as printed | joint | precision | recall | pruned | "
          "precision | recall | AUROC | s |\n" + "| --- " * 16 + "|")
    for name in names:
        for share in shares:
            rng = np.random.default_rng(seed)
            features, truth, known = SETS[name](rng)
            labels, wrong = flip(truth, known, share, rng)
            listed, scores, said, seconds = ask_lapis(features, labels, known)
            rivals = ask_rival(features, labels, known)
            hidden = [roc_auc_score(truth[~k, c], scores[~k, c])
                      for c, k in enumerate(known.T)
                      if len(set(truth[~k, c])) > 1]
            area = f"{np.mean(hidden):.3f}" if hidden else "-"
            print(f"| {name} | {share:g} | {known.sum()} | {wrong.sum()} | "
                  f"{figures(listed, wrong)} | {said} | "
                  f"{figures(rivals[0], wrong)} | {figures(rivals[1], wrong)} | "
                  f"{area} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
