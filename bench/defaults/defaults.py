#!/usr/bin/python3
"""What `fit mc` answers without settings, against plain methods and against the
best of a grid in hindsight.

  LAPIS_COMMAND=build/lapis LAPIS_DATA=... bench/defaults/defaults.py run FILE \\
      [--sets A,B] [--hidden .5,.7,.9] [--missing 0,.3,.6] [--flipped 0,.1] \\
      [--seeds 3] [--part .25] [--by auto,mc] [--grid] [--seconds 600]
  bench/defaults/defaults.py table FILE

`run` adds a line of JSON to FILE for each cell (set, hidden, missing, flipped,
seed) that it does not hold yet, until the seconds are over; so a bench of hours
is a command that is given again.  --part takes a share of the cells, drawn once
and for all.  `table` prints FILE as tables.

Sets: tables of scikit-learn and, where LAPIS_DATA has them, emotions, scene and
MSRC (textons; of these three single cells are hidden, else whole rows),
mnist_plus, scene15, ORL, musk1 and elephant (instances, with the label of their
bag), cmu (faces, whether they wear sunglasses); 300 samples (MOST) at most, drawn
by the seed.  Plain methods read standardised features, gaps filled by the mean
(and once more by IterativeImputer with ten nearest features, where some are
missing and there are at most 300), and are tuned by three folds of the known
rows: logistic regression (C .01 .1 1 10; of classes the multinomial one), a
linear SVM (C .001 to 1), ridge regression (.1 to 1000), a random forest (200
trees), k nearest neighbours (1, 5, 15).  --grid: the best of 12 settings of
`mc1 --map standard` by the hidden labels themselves.  One thread; AUROC (mean
over labels) and accuracy of what was hidden."""
import argparse
import json
import os
import resource
import subprocess
import tempfile
import time
import warnings

import numpy as np
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

MOST = int(os.environ.get("MOST", 300))
SHAPED = ("iris", "wine", "cancer", "digits", "emotions", "moons", "circles",
          "made")
STUDIED = ("scene", "msrc", "orl", "scene15")  # in the first study, 70 %
GRID = [(labels, mu, weight) for labels in ("rare", "pm")
        for mu in (.7, .3, .05) for weight in (.1, 1)]
IMPUTED = 300  # features at most


def tables():
    for name, load in (("iris", datasets.load_iris),
                       ("wine", datasets.load_wine),
                       ("cancer", datasets.load_breast_cancer),
                       ("digits", datasets.load_digits)):
        both = load()
        yield name, both.data, both.target[:, None]
    x, y = datasets.make_moons(300, noise=.2, random_state=0)
    yield "moons", x, y[:, None]
    x, y = datasets.make_circles(300, noise=.15, factor=.5, random_state=0)
    yield "circles", x, y[:, None]
    x, y = datasets.make_classification(
        300, 20, n_informative=6, n_redundant=4, n_classes=3, random_state=0)
    yield "made", x, y[:, None]
    root = os.environ.get("LAPIS_DATA")
    for name, path in (("emotions", "emotions/emotions.npz"),
                       ("mnist_plus", "mnist_plus/mnist_plus.npz"),
                       ("scene", "scene/scene.npz"),
                       ("msrc", "msrc_v2/msrc_v2.npz"),
                       ("scene15", "scene15/scene15.npz"),
                       ("orl", "orl32/orl32.npz"),
                       ("cmu", "cmu_faces/cmu_faces_small.npz"),
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
    if "quarter" in data:  # sunglasses or not
        return (data["quarter"].reshape(len(data["label"]), -1).astype(float),
                data["label"][:, None])
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


def judge(truth, known, classes, scores, answers):
    """classes: of each column of scores, where one of several is asked."""
    hidden, aurocs = np.isnan(known), []
    for c in range(scores.shape[1]):
        column = c if truth.shape[1] > 1 else 0
        h = hidden[:, column]
        yes = (truth[h, column] == classes[c] if classes is not None
               else truth[h, column] == truth.max())
        if 0 < yes.sum() < len(yes):
            aurocs.append(roc_auc_score(yes, scores[h, c]))
    return [float(np.mean(aurocs)), float((answers == truth)[hidden].mean())]


def lapis(folder, *options):
    """scores, labels, classes, seconds of the processor."""
    out = os.path.join(folder, "o.npz")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = subprocess.run(
        [os.environ.get("LAPIS_COMMAND", "build/lapis"), "fit", "mc",
         os.path.join(folder, "d.npz"), "--threads", "1", "-o", out, *options],
        capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    with np.load(out) as found:
        labels = found["labels"].reshape(len(found["labels"]), -1)
        classes = found["classes"].ravel() if "classes" in found else None
        return found["scores"], labels, classes, spent


def plain(z, known, model):
    """One label column after the other."""
    answers, scores, classes = np.empty_like(known), [], None
    for c in range(known.shape[1]):
        seen = ~np.isnan(known[:, c])
        if len(np.unique(known[seen, c])) < 2:
            answers[:, c] = known[seen, c][0]
            scores.append(np.zeros((len(z), 1)))
            continue
        try:
            fitted = model().fit(z[seen], known[seen, c])
        except ValueError:  # a fold without one of the kinds
            fitted = model().estimator.fit(z[seen], known[seen, c])
        answers[:, c] = fitted.predict(z)
        if hasattr(fitted, "predict_proba"):
            p = fitted.predict_proba(z)
            scores.append(p[:, 1:] if p.shape[1] == 2 else p)
        else:
            p = fitted.decision_function(z)
            scores.append(p[:, None] if p.ndim == 1 else p)
        classes = fitted.classes_
    several = known.shape[1] == 1 and classes is not None and len(classes) > 2
    return classes if several else None, np.hstack(scores), answers


PLAIN = {
    "logistic": lambda: GridSearchCV(LogisticRegression(max_iter=300),
                                     {"C": [.01, .1, 1, 10]}, cv=3,
                                     scoring="neg_log_loss"),
    "svm": lambda: GridSearchCV(LinearSVC(dual=True),
                                {"C": [.001, .01, .1, 1]}, cv=3),
    "ridge": lambda: GridSearchCV(RidgeClassifier(),
                                  {"alpha": [.1, 1, 10, 100, 1000]}, cv=3),
    "forest": lambda: RandomForestClassifier(200, random_state=0),
    "neighbours": lambda: GridSearchCV(KNeighborsClassifier(),
                                       {"n_neighbors": [1, 5, 15]}, cv=3),
}


def fillings(x):
    """Standardised features, by how gaps are filled."""
    mean, deviation = np.nanmean(x, 0), np.nanstd(x, 0)
    z = (x - mean) / np.where(deviation > 0, deviation, 1)
    yield "", np.nan_to_num(z)
    if np.isnan(x).any() and x.shape[1] <= IMPUTED:
        z[:, np.isnan(z).all(axis=0)] = 0
        yield "+", IterativeImputer(
            n_nearest_features=min(10, x.shape[1] - 1), max_iter=5,
            random_state=0).fit_transform(z)


def cell(x, y, labels, gaps, flips, seed, by, grid):
    x, known, truth = draw(x, y, labels, gaps, flips, seed)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        np.savez(os.path.join(folder, "d.npz"), X=x,
                 Y=known if known.shape[1] > 1 else known[:, 0])
        for who in by:
            scores, answers, classes, spent = lapis(folder, "-q", "--by", who)
            found[who] = judge(truth, known, classes, scores, answers)
            found["seconds " + who] = round(spent, 2)
        tried = []
        for code, mu, weight in GRID if grid else []:
            scores, answers, classes, _ = lapis(
                folder, "-q", "--map", "standard", "--labels", code,
                "--mu-rel", str(mu), "--lambda", str(weight), "--tol", "1e-3")
            tried.append(judge(truth, known, classes, scores, answers))
        if grid:
            found["hindsight"] = [float(v) for v in np.max(tried, axis=0)]
    for filling, z in fillings(x):
        for name, model in PLAIN.items():
            found[name + filling] = judge(truth, known,
                                          *plain(z, known, model))
    return found


# ---- cells, one after the other ----------------------------------------------
def key(row):
    return tuple(row[k] for k in ("set", "hidden", "missing", "flipped", "seed"))


def wanted(o):
    """Cells of the sets asked for, in an order drawn once and for all, so that
    any beginning of it is a fair sample."""
    every = [(name, h, m, f, s) for name in o.sets.split(",")
             for h in o.hidden for m in o.missing for f in o.flipped
             for s in range(o.seeds)]
    rng = np.random.default_rng(17)
    order = rng.permutation(len(every))
    return [every[k] for k in order[:int(np.ceil(o.part * len(every)))]]


def run(o):
    done = set()
    if os.path.exists(o.file):
        with open(o.file, encoding="utf-8") as lines:
            done = {key(json.loads(line)) for line in lines}
    started, data = time.monotonic(), {t[0]: t[1:] for t in tables()}
    o.sets = o.sets or ",".join(data)
    for name, h, m, f, s in wanted(o):
        if time.monotonic() - started > o.seconds:
            break
        if (name, h, m, f, s) in done:
            continue
        row = {"set": name, "hidden": h, "missing": m, "flipped": f, "seed": s}
        try:
            row.update(cell(*data[name], h, m, f, s, o.by.split(","), o.grid))
        except RuntimeError as why:  # such as as many classes as labels
            row["refused"] = str(why)
        with open(o.file, "a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")


# ---- tables ------------------------------------------------------------------
def best_plain(row, at):
    return max(row[n + f][at] for n in PLAIN for f in ("", "+") if n + f in row)


def groups(rows):
    yield "shaped the choice", [r for r in rows if r["set"] in SHAPED]
    yield "in the first study", [r for r in rows if r["set"] in STUDIED]
    yield "judges", [r for r in rows if r["set"] not in SHAPED + STUDIED]
    yield "all", rows


def counts(rows, by):
    print("| sets | cells | within .005 of the best plain, or ahead | mean "
          "distance | .02 behind or more |")
    print("| --- | --- | --- | --- | --- |")
    for title, some in groups(rows):
        off = np.array([r[by][0] - best_plain(r, 0) for r in some])
        if len(off):
            print(f"| {title} | {len(off)} | {(off >= -.005).sum()} "
                  f"({(off >= -.005).mean():.0%}) | {off.mean():+.4f} | "
                  f"{(off <= -.02).sum()} |")


def table(o):
    with open(o.file, encoding="utf-8") as lines:
        rows = sorted((json.loads(line) for line in lines), key=key)
    refused = [r for r in rows if "refused" in r]
    rows = [r for r in rows if "refused" not in r]
    print(f"{len(rows)} cells; refused by lapis besides:", len(refused))
    who = [n for n in ("auto", "mc", "linear", "both") if n in rows[0]]
    for by in who:
        print(f"\n`--by {by}`, AUROC:\n")
        counts(rows, by)
    against = [r for r in rows if "hindsight" in r and "mc" in r]
    for by in who:
        if against:
            off = np.array([np.subtract(r[by], r["hindsight"])
                            for r in against])
            fine = (off[:, 0] >= -.01) & (off[:, 1] >= -.02)
            print(f"\n`--by {by}` against the grid in hindsight: {len(off)} "
                  f"cells, AUROC within .01 in {(off[:, 0] >= -.01).sum()}, "
                  f"accuracy within .02 in {(off[:, 1] >= -.02).sum()}, both "
                  f"in {fine.sum()}; worst {off[:, 0].min():+.3f}")
    names = who + [n + f for f in ("", "+") for n in PLAIN]
    names += ["hindsight"] * any("hindsight" in r for r in rows)
    print("\n| set | hidden | missing | flipped | seed | "
          + " | ".join(names) + " |")
    print("| --- " * (5 + len(names)) + "|")
    for r in rows:
        print("| " + " | ".join(
            [r["set"]] + [f"{v:g}" for v in key(r)[1:]]
            + ["%.3f / %.3f" % tuple(r[n]) if n in r else ""
               for n in names]) + " |")


def numbers(text):
    return [float(v) for v in text.split(",")]


def main():
    warnings.simplefilter("ignore")
    p = argparse.ArgumentParser()
    p.add_argument("what", choices=("run", "table"))
    p.add_argument("file")
    p.add_argument("--sets")
    p.add_argument("--hidden", type=numbers, default=[.5, .7, .9])
    p.add_argument("--missing", type=numbers, default=[0, .3, .6])
    p.add_argument("--flipped", type=numbers, default=[0, .1])
    p.add_argument("--seeds", type=int, default=3)
    p.add_argument("--part", type=float, default=1)
    p.add_argument("--by", default="auto,mc")
    p.add_argument("--grid", action="store_true")
    p.add_argument("--seconds", type=float, default=600)
    o = p.parse_args()
    (run if o.what == "run" else table)(o)


if __name__ == "__main__":
    main()
