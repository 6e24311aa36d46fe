#!/usr/bin/python3
"""Missing data: `scene` with 70 % of the label entries and 30 % of the feature
entries removed; mc1, mu by cross-validation, against linear SVMs on
mean-imputed, standardised features, C by cross-validation.

  LAPIS_COMMAND=build/lapis LAPIS_DATA=... bench/defaults/scene.py [SEEDS [LABELS FEATURES]]

Mean AUROC over the six classes on the label entries that were removed: mean,
deviation and number of seeds.  numpy and scikit-learn do the rival's part;
entries are drawn by numpy's default_rng(seed)."""
import json
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC


def remove(x, y, labels, features, seed):
    rng = np.random.default_rng(seed)
    x, y = x.astype(float).copy(), y.astype(float).copy()
    x[rng.random(x.shape) < features] = np.nan
    y[rng.random(y.shape) < labels] = np.nan
    return x, y


def mean_auroc(truth, scores, known):
    each = [roc_auc_score(truth[h, c], scores[h, c])
            for c in range(truth.shape[1]) for h in [np.isnan(known[:, c])]]
    return float(np.mean(each))


def by_lapis(x, y, folder):
    data, out = os.path.join(folder, "data.npz"), os.path.join(folder, "r.npz")
    np.savez(data, X=x, Y=y)
    run = subprocess.run(
        [os.environ.get("LAPIS_COMMAND", "build/lapis"), "fit", "mc", data,
         "--map", "standard", "--json", "-q", "-o", out],
        capture_output=True, text=True, check=True)
    return np.load(out)["scores"], json.loads(run.stdout)["settings"]["mu-rel"]


def by_svm(x, y):
    mean, deviation = np.nanmean(x, 0), np.nanstd(x, 0)
    deviation[deviation == 0] = 1
    z = np.nan_to_num((x - mean) / deviation)
    scores = np.zeros(y.shape)
    for c in range(y.shape[1]):
        known = ~np.isnan(y[:, c])
        search = GridSearchCV(LinearSVC(loss="hinge", max_iter=20000),
                              {"C": [1e-4, 1e-3, 1e-2, 1e-1, 1]},
                              scoring="roc_auc", cv=5)
        search.fit(z[known], y[known, c])
        scores[:, c] = search.decision_function(z)
    return scores


def main():
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    labels, features = map(float, sys.argv[2:4]) if len(sys.argv) > 3 else (.7, .3)
    z = np.load(os.path.join(os.environ["LAPIS_DATA"], "scene", "scene.npz"))
    x = np.vstack([z["train_x"], z["test_x"]])
    truth = np.vstack([z["train_y"], z["test_y"]]).astype(float)
    rows = []
    for seed in range(seeds):
        xs, ys = remove(x, truth, labels, features, seed)
        with tempfile.TemporaryDirectory() as folder:
            scores, mu = by_lapis(xs, ys, folder)
        rows.append([mean_auroc(truth, scores, ys),
                     mean_auroc(truth, by_svm(xs, ys), ys)])
        print(f"seed {seed}: mc1 {rows[-1][0]:.4f} (mu-rel {mu:.4g})  "
              f"SVM {rows[-1][1]:.4f}", flush=True)
    for name, v in zip(["mc1", "linear SVM"], np.array(rows).T):
        print(f"{name:12s} {v.mean():.4f} +- {v.std(ddof=1) if seeds > 1 else 0:.4f}"
              f"  (n = {seeds}; {labels:.0%} of labels, {features:.0%} of "
              "features removed)")


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main()
