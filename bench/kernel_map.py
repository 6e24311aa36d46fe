#!/usr/bin/python3
"""Does completion want a kernel in front?  Single labels are hidden; `fit mc`
with a linear map, and with the kernel map that hidden labels of its own choose,
against an RBF SVM and a linear one, tuned.

  LAPIS_COMMAND=build/lapis LAPIS_DATA=... bench/kernel_map.py \\
      [--sets emotions,scene,msrc,faces,...] [--seeds 3] [--hidden .7] \\
      [--all] [--ways "WAY;WAY"]

Sets: moons, circles (400 points, one label); emotions (593 x 72, 6 labels),
scene (2407 x 294, 6), msrc (591 x 400 counts, 23), faces (624 x 1000 counts,
sunglasses).  In front of mc stands `standard`, of counts `l1-sqrt,standard`; the
SVMs have the same numbers or, of counts, those of `l1-sqrt`, as their folds
choose.

The choice: a fifth of the known labels is hidden once more; of `linear` and
nystrom:{.25,1,4}auto:500 the one with the best mean AUROC there learns from all
known labels.  mc chooses mu by itself each time.  With --all also the way `mc,
every sample`: the same three widths, every sample a landmark (which is completion
with the kernel matrix in place of X).  --ways: only these, as "mc;RBF SVM".
SVMs: C in .1 to 100 and, RBF, gamma in {.25, 1, 4} / (median |x - z|^2), by
three folds of the known labels, one SVM a label.  Reported: mean AUROC and
accuracy over labels of what was hidden, mean and deviation over the seeds;
processor seconds, one thread."""
import argparse
import json
import os
import resource
import subprocess
import tempfile

import numpy as np
from sklearn import datasets
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

LAPIS = os.environ.get("LAPIS_COMMAND", "build/lapis")
WIDTHS = (.25, 1, 4)


def table(name):
    """X (n x d), Y (n x K of 0 and 1), the map in front."""
    if name == "moons":
        x, y = datasets.make_moons(400, noise=.1, random_state=0)
        return x, y[:, None], "standard"
    if name == "circles":
        x, y = datasets.make_circles(400, noise=.1, factor=.5, random_state=0)
        return x, y[:, None], "standard"
    file, features, labels, front = {
        "emotions": ("emotions/emotions.npz", "x", "y", "standard"),
        "scene": ("scene/scene.npz", "x", "y", "standard"),
        "msrc": ("msrc_v2/msrc_v2.npz", "bow", "labels", "l1-sqrt,standard"),
        "faces": ("cmu_faces/cmu_faces_bow.npz", "bow", "label", "l1-sqrt,standard"),
    }[name]
    with np.load(os.path.join(os.environ["LAPIS_DATA"], file)) as held:
        whole = {name: held[name] for name in held.files}
    for part in "xy":  # halves that are one set here
        if "train_" + part in whole:
            whole[part] = np.concatenate([whole["train_" + part],
                                          whole["test_" + part]])
    features, y = whole[features], whole[labels]
    y = y[:, None] if y.ndim == 1 else y
    return features.astype(float), (y > 0).astype(int), front


def standard(x):
    deviation = x.std(0)
    return (x - x.mean(0)) / np.where(deviation > 0, deviation, 1)


def prepared(x, front):
    """What may stand in front of the SVMs."""
    if front == "standard":
        return [standard(x)]
    root = np.sqrt(x / np.maximum(x.sum(1, keepdims=True), 1e-300))
    return [standard(root), root]


def spent():
    both = [resource.getrusage(who) for who in
            (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in both)


def complete(x, known, front):
    """Scores (n x K) of mc."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/data.npz", X=x, Y=known)
        subprocess.run([LAPIS, "fit", "mc", f"{folder}/data.npz", "--map",
                        front, "-q", "--threads", "1", "-o",
                        f"{folder}/r.npz"],
                       check=True, stdout=subprocess.DEVNULL)
        return np.load(f"{folder}/r.npz")["scores"]


def quality(scores, y, asked):
    """Mean over labels of AUROC and of accuracy, of the cells asked."""
    auroc, accuracy = [], []
    for c in range(y.shape[1]):
        at = asked[:, c]
        if at.any() and len(set(y[at, c])) == 2:
            auroc.append(roc_auc_score(y[at, c], scores[at, c]))
            accuracy.append(((scores[at, c] > 0) == y[at, c]).mean())
    return np.mean(auroc), np.mean(accuracy)


def grid_of(x, kernel):
    grid = {"C": [.1, 1, 10, 100]}
    if kernel == "rbf":
        distance = ((x[:300, None] - x[None, :300]) ** 2).sum(2)
        median = np.median(distance[np.triu_indices(len(distance), 1)])
        grid["gamma"] = [1 / (w * median) for w in WIDTHS]
    return grid


def by_svm(fronts, known, kernel):
    """Scores (n x K), one SVM a label, the front by its folds as well."""
    scores, grids = np.zeros(known.shape), [grid_of(x, kernel) for x in fronts]
    for c in range(known.shape[1]):
        at = ~np.isnan(known[:, c])
        if np.bincount(known[at, c].astype(int), minlength=2).min() < 3:
            continue  # three folds want three of each
        best = -1
        for x, grid in zip(fronts, grids):
            search = GridSearchCV(SVC(kernel=kernel), grid, scoring="roc_auc",
                                  cv=3)
            search.fit(x[at], known[at, c])
            if search.best_score_ > best:
                best = search.best_score_
                scores[:, c] = search.decision_function(x)
    return scores


def by_mc(x, y, known, front, maps, rng):
    """The maps tried where a fifth of what is known is hidden once more; the
    best one then learns from all."""
    inner = known.copy()
    asked = ~np.isnan(known) & (rng.random(known.shape) < .2)
    inner[asked] = np.nan
    judged = {m: quality(complete(x, inner, m), y, asked)[0] for m in maps}
    best = max(maps, key=lambda m: judged[m])
    return complete(x, known, best), best


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("--sets", default="moons,circles,emotions,faces,msrc,scene")
    ask.add_argument("--seeds", type=int, default=3)
    ask.add_argument("--hidden", type=float, default=.7)
    ask.add_argument("--all", action="store_true")
    ask.add_argument("--ways", default="")
    x = ask.parse_args()
    for name in x.sets.split(","):
        features, y, front = table(name)
        maps = [f"{front},nystrom:{w}auto:500" for w in WIDTHS]
        whole = [f"{front},nystrom:{w}auto:{len(y)}" for w in WIDTHS]
        ready, rows = prepared(features, front), {}
        for seed in range(x.seeds):
            rng = np.random.default_rng(seed)
            known = y.astype(float)
            known[rng.random(y.shape) < x.hidden] = np.nan
            asked = np.isnan(known)
            ways = {
                "mc": lambda: (complete(features, known, front), front),
                "mc, kernel": lambda: by_mc(features, y, known, front,
                                            maps, rng),
                "mc, chosen": lambda: by_mc(features, y, known, front,
                                            [front] + maps, rng),
                "mc, every sample": lambda: by_mc(features, y, known, front,
                                                  whole, rng),
                "linear SVM": lambda: (by_svm(ready, known, "linear"), ""),
                "RBF SVM": lambda: (by_svm(ready, known, "rbf"), "")}
            if not x.all:
                del ways["mc, every sample"]
            for way, answer in ways.items():
                if x.ways and way not in x.ways.split(";"):
                    continue
                began = spent()
                scores, chosen = answer()
                row = (*quality(scores, y, asked), spent() - began, chosen)
                rows.setdefault(way, []).append(row)
                print(json.dumps({"set": name, "seed": seed, "way": way,
                                  "auroc": row[0], "accuracy": row[1],
                                  "seconds": row[2], "map": chosen}),
                      flush=True)
        for way, each in rows.items():
            figures = np.array([row[:3] for row in each])
            print("| %s | %s | %.3f (%.3f) | %.3f | %.1f |" % (
                name, way, figures[:, 0].mean(), figures[:, 0].std(),
                figures[:, 1].mean(), np.median(figures[:, 2])), flush=True)


main()
