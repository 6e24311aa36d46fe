#!/usr/bin/python3
"""What `fit mc` answers without settings, against the best of a grid in
hindsight and against plain methods.

  LAPIS_COMMAND=build/lapis LAPIS_DATA=... bench/defaults.py \\
      [SEEDS [LABELS-HIDDEN [FEATURES-MISSING,... [FLIPPED [SET,... [GRID]]]]]]

Tables of scikit-learn and, where LAPIS_DATA has them, emotions, scene and MSRC
(textons; labels hidden one by one), mnist_plus, scene15, ORL, musk1 and elephant
(instances, with the label of their bag); 400 samples (MOST) at most, drawn by the seed.  Hidden labels of whole rows, or
of cells for emotions.  Plain methods read standardised features whose gaps hold
the mean and are tuned by three folds of the known rows: logistic regression (C
.01 .1 1 10; of classes the multinomial one), a linear SVM (the same C), ridge
regression (.1 to 1000), a random forest (300 trees), k nearest neighbours (1, 5,
15).  GRID 0 leaves out the best of a grid in hindsight.
One thread; AUROC (mean over labels) and accuracy of what was hidden."""
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

MOST = int(os.environ.get("MOST", 400))
SHAPED = {"iris", "wine", "cancer", "digits", "emotions"}
GRID = [(labels, mu, weight) for labels in ("rare", "pm")
        for mu in (.7, .3, .1, .02) for weight in (.1, 1, 10)]


def tables():
    for name, load in (("iris", datasets.load_iris),
                       ("wine", datasets.load_wine),
                       ("cancer", datasets.load_breast_cancer),
                       ("digits", datasets.load_digits)):
        both = load()
        yield name, both.data, both.target[:, None]
    root = os.environ.get("LAPIS_DATA")
    for name, path in (("emotions", "emotions/emotions.npz"),
                       ("mnist_plus", "mnist_plus/mnist_plus.npz"),
                       ("scene", "scene/scene.npz"),
                       ("msrc", "msrc_v2/msrc_v2.npz"),
                       ("scene15", "scene15/scene15.npz"),
                       ("orl", "orl32/orl32.npz"),
                       ("musk1", "mil/musk1.npz"),
                       ("elephant", "mil/elephant.npz")):
        if root and os.path.exists(os.path.join(root, path)):
            data = np.load(os.path.join(root, path), allow_pickle=True)
            x, y = pick(data)
            yield name, np.asarray(x, float), y


def pick(data):
    """X and Y of a file: of bags, each instance has its bag's label."""
    if "bag" in data:
        _, place = np.unique(data["bag"], return_inverse=True)
        return data["x"].astype(float), data["bag_label"][place][:, None]
    if "bow" in data:  # MSRC without horse and mountain, as the papers have it
        keep = [c for c in range(23) if c not in (4, 7)]
        return data["bow"].astype(float), data["labels"][:, keep]
    if "main" in data:
        return data["main"].astype(float), data["label"][:, None]
    if "subject" in data:
        return (data["images"].reshape(len(data["images"]), -1).astype(float),
                data["subject"][:, None])
    if "val_x" in data:
        return data["val_x"].astype(float), data["val_digit"][:, None]
    return data["train_x"].astype(float), data["train_y"]


def draw(x, y, labels, gaps, flips, seed):
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(x))[:MOST]
    x, truth = x[rows].copy(), y[rows].astype(float)
    x = x[:, np.nanstd(x, 0) > 0]
    known = truth.copy()
    if flips > 0:
        for c in range(y.shape[1]):
            wrong = rng.random(len(x)) < flips
            known[wrong, c] = rng.permutation(truth[:, c])[wrong]
    hidden = rng.random((len(x), 1 if y.shape[1] == 1 else y.shape[1])) < labels
    known[np.broadcast_to(hidden, known.shape)] = np.nan
    gone = rng.random(x.shape) < gaps
    gone[gone.all(axis=1), 0] = False  # a sample has a feature at least
    x[gone] = np.nan
    return x, known, truth


def judge(truth, known, scores, answers):
    hidden, aurocs = np.isnan(known), []
    for c in range(scores.shape[1]):
        column = c if truth.shape[1] > 1 else 0
        h = hidden[:, column]
        yes = (truth[h, column] == np.unique(truth)[c] if
               scores.shape[1] > 1 and truth.shape[1] == 1
               else truth[h, column] == truth.max())
        if 0 < yes.sum() < len(yes):
            aurocs.append(roc_auc_score(yes, scores[h, c]))
    return np.mean(aurocs), (answers == truth)[hidden].mean()


def lapis(folder, *options):
    out = os.path.join(folder, "o.npz")
    run = subprocess.run(
        [os.environ.get("LAPIS_COMMAND", "build/lapis"), "fit", "mc",
         os.path.join(folder, "d.npz"), "--threads", "1", "-o", out, *options],
        capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr)
    found = np.load(out)
    return found["scores"], found["labels"].reshape(len(found["labels"]), -1)


def plain(x, known, model):
    """One label column after the other."""
    mean, deviation = np.nanmean(x, 0), np.nanstd(x, 0)
    z = np.nan_to_num((x - mean) / np.where(deviation > 0, deviation, 1))
    answers, scores = np.empty_like(known), []
    for c in range(known.shape[1]):
        seen = ~np.isnan(known[:, c])
        fitted = model().fit(z[seen], known[seen, c])
        answers[:, c] = fitted.predict(z)
        if hasattr(fitted, "predict_proba"):
            p = fitted.predict_proba(z)
            scores.append(p[:, 1:] if p.shape[1] == 2 else p)
        else:
            p = fitted.decision_function(z)
            scores.append(p[:, None] if p.ndim == 1 else p)
    return np.hstack(scores), answers


PLAIN = {
    "logistic": lambda: GridSearchCV(LogisticRegression(max_iter=500),
                                     {"C": [.01, .1, 1, 10]}, cv=3,
                                     scoring="neg_log_loss"),
    "svm": lambda: GridSearchCV(LinearSVC(dual=True),
                                {"C": [.001, .01, .1, 1]}, cv=3),
    "ridge": lambda: GridSearchCV(RidgeClassifier(),
                                  {"alpha": [.1, 1, 10, 100, 1000]}, cv=3),
    "forest": lambda: RandomForestClassifier(300, random_state=0),
    "neighbours": lambda: GridSearchCV(KNeighborsClassifier(),
                                       {"n_neighbors": [1, 5, 15]}, cv=3),
}


BY = ("mc", "auto", "both")


def cell(x, y, labels, gaps, flips, seed, grid):
    x, known, truth = draw(x, y, labels, gaps, flips, seed)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        np.savez(os.path.join(folder, "d.npz"), X=x,
                 Y=known if known.shape[1] > 1 else known[:, 0])
        for by in BY:
            found[by] = judge(truth, known, *lapis(folder, "-q", "--by", by))
        tried = [judge(truth, known, *lapis(
            folder, "-q", "--map", "standard", "--labels", code, "--mu-rel",
            str(mu), "--lambda", str(weight), "--tol", "1e-3"))
            for code, mu, weight in (GRID if grid else [])]
        if grid:
            found["hindsight"] = tuple(np.max(tried, axis=0))
    for name, model in PLAIN.items():
        found[name] = judge(truth, known, *plain(x, known, model))
    return found


def main():
    warnings.simplefilter("ignore")
    given = sys.argv[1:] + [None] * 6
    only = given[4].split(",") if given[4] else None
    seeds, labels = int(given[0] or 3), float(given[1] or .7)
    gaps = [float(g) for g in (given[2] or "0,.3").split(",")]
    flips = float(given[3] or 0)
    grid = given[5] != "0"
    names = [*BY] + ["hindsight"] * grid + list(PLAIN)
    print("| set | missing | " + " | ".join(names) + " |")
    print("| --- | --- |" + " --- |" * len(names))
    for name, x, y in tables():
        for gap in gaps if only is None or name in only else []:
            all_ = [cell(x, y, labels, gap, flips, s, grid) for s in range(seeds)]
            row = ["%.3f / %.3f" % tuple(np.mean([f[n] for f in all_], axis=0))
                   for n in names]
            mark = "" if name in SHAPED else " (judges)"
            print(f"| {name}{mark} | {gap:g} | " + " | ".join(row) + " |",
                  flush=True)


if __name__ == "__main__":
    main()
