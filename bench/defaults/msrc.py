#!/usr/bin/python3
"""MSRC v2: what is in a photograph, as in [MC15] Table 3.

  LAPIS_COMMAND=build/lapis LAPIS_DATA=... bench/defaults/msrc.py
      [--sets textons,files,both] [--only "ROW;ROW"] [--folds 5] [--jobs N]
      [--features F.npz]

21 classes (horse and mountain left out), the five folds of the data set, mean
AUROC over classes: mc1, pos and simplex against a linear SVM (LIBLINEAR, hinge
loss).  Three sets of features:

  textons  the 400 texton counts of the data set, of photographs at full size
  files    of the photographs at half size: lapis features
           texton-bow,dense-sift-bow,hog --words 1024 --levels 2 --enlarge 320
           (or what that command wrote before: --features)
  both     the data set's textons, and dense-sift-bow and hog as in files

Every fold chooses its settings (mu-rel, gamma; C) by three folds inside its own
training part, and so does the last row which set and method it answers with:
the row whose settings these inner folds liked best."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold
from sklearn.svm import LinearSVC

LEFT_OUT = (4, 7)
LAPIS = os.environ.get("LAPIS_COMMAND", "build/lapis")
KINDS = "texton-bow,dense-sift-bow,hog"
# Histograms times 100, and roots of length 20: entries of about the size of
# labels.  Roots divided by their sum lie on the simplex again.
METHODS = {
    "textons": {"mc1": ("mc1", "l1-sqrt,standard"),
                "mc1, histograms": ("mc1", "l1,scale:100"),
                "pos": ("pos", "l1,scale:100"),
                "pos, square roots": ("pos", "l1-sqrt,scale:20"),
                "simplex": ("simplex", "l1"),
                "simplex, square roots": ("simplex", "l1-sqrt,l1")},
    "files": {"mc1": ("mc1", "BLOCKS,l1-sqrt,standard,balance"),
              "pos, square roots": ("pos", "BLOCKS,l1-sqrt,scale:20")}}
METHODS["both"] = METHODS["files"]
# Of several kinds mu-rel .02 to .1 is level inside the training part of fold 0.
GRIDS = {"mc1": ["mu-rel=.02,.1", "gamma=3,30"],
         "pos": ["mu-rel=.02,.05", "gamma=3,30"],
         "simplex": ["mu-rel=.005,.02", "gamma=3,30"],
         "pos of several kinds": ["mu-rel=.05", "gamma=10,30"]}
LOOSE = ["--lambda", ".1", "--tol", "1e-2"]
PAPER = {"mc1": .91, "mc1, histograms": .91, "pos": .95, "simplex": .92,
         "linear SVM": .89}


def auroc(truth, scores):
    return float(np.mean([roc_auc_score(truth[:, c], scores[:, c])
                          for c in range(truth.shape[1])
                          if 0 < truth[:, c].sum() < len(truth)]))


def run(*words):
    out = subprocess.run([LAPIS, *words, "--json", "-q"], capture_output=True,
                         text=True)
    if out.returncode:
        sys.exit(out.stderr)
    return json.loads(out.stdout)


def feature_sets(data, z, wanted, held):
    """name: (X, columns of each kind)."""
    textons = z["bow"].astype(float)
    sets = {"textons": (textons, [textons.shape[1]])}
    if set(wanted) - set(sets):
        with tempfile.TemporaryDirectory() as folder:
            out = held or os.path.join(folder, "x.npz")
            if not held:
                run("features", KINDS, os.path.join(data, "images_half"),
                    "--words", "1024", "--levels", "2", "--enlarge", "320",
                    "-o", out)
            made = np.load(out)
        stem = [os.path.basename(str(n))[:-4] for n in made["names"]]
        x = made["X"][[stem.index(str(n)) for n in z["names"]]]
        start = made["block_start"].astype(int)
        sizes = list(np.diff(start))
        sets["files"] = x, sizes
        sets["both"] = (np.hstack([textons, x[:, start[1]:]]),
                        sets["textons"][1] + sizes[1:])
    return {name: sets[name] for name in wanted}


def by_lapis(x, y, hidden, variant, spec, jobs):
    with tempfile.TemporaryDirectory() as folder:
        known, all_, out = (os.path.join(folder, name + ".npz")
                            for name in ("known", "all", "out"))
        masked = y.astype(float).copy()
        masked[hidden] = np.nan
        np.savez(known, X=x[~hidden], Y=y[~hidden])
        np.savez(all_, X=x, Y=masked)
        common = ["--variant", variant, "--map", spec, *LOOSE]
        grid = GRIDS.get(variant + " of several kinds" * ("blocks" in spec),
                         GRIDS[variant])
        grid = [w for each in grid for w in ("--grid", each)]
        best = run("cv", "mc", known, *common, *grid, "--folds", "3",
                   "--jobs", str(jobs), "--threads", str(jobs))["best"]
        chosen = [w for k, v in best["settings"].items()
                  for w in ("--" + k, v)]
        run("fit", "mc", all_, *common, *chosen, "-o", out, "--threads", "1")
        return np.load(out)["scores"][hidden], chosen, best["mean"]


def svm_scores(x, y, at, C):
    clf = [LinearSVC(loss="hinge", C=C, max_iter=20000).fit(x, y[:, c])
           for c in range(y.shape[1])]
    return np.stack([m.decision_function(at) for m in clf], 1)


def by_svm(x, y, hidden):
    xs, ys = x[~hidden], y[~hidden]
    def worth(C):
        return np.mean([auroc(ys[b], svm_scores(xs[a], ys[a], xs[b], C))
                        for a, b in KFold(3, shuffle=True, random_state=0)
                        .split(xs)])
    judged = {C: worth(C) for C in (.1, 1, 10, 100, 1000)}
    C = max(judged, key=judged.get)
    return svm_scores(xs, ys, x[hidden], C), [f"C {C:g}"], judged[C]


def shares(x, sizes):
    """Each kind's numbers divided by their sum."""
    parts = np.split(x, np.cumsum(sizes)[:-1], axis=1)
    return np.hstack([p / np.maximum(p.sum(1, keepdims=True), 1e-300)
                      for p in parts])


def one_fold(name, x, sizes, y, hidden, ask):
    """row: how to get its scores, settings and worth inside the training part"""
    blocks = "blocks:" + "+".join(map(str, sizes))
    rows = {row: lambda v=variant, m=spec.replace("BLOCKS", blocks):
            by_lapis(x, y, hidden, v, m, ask.jobs)
            for row, (variant, spec) in METHODS[name].items()}
    share = shares(x, sizes)
    if name == "textons":
        rows["linear SVM"] = lambda: by_svm(share, y, hidden)
    rows["linear SVM, square roots"] = lambda: by_svm(np.sqrt(share), y,
                                                      hidden)
    for row, answer in rows.items():
        if not ask.only or row in ask.only.split(";"):
            yield f"{name}: {row}", answer()


def main():
    reader = argparse.ArgumentParser()
    reader.add_argument("--sets", default="textons,files,both")
    reader.add_argument("--only", default="")
    reader.add_argument("--folds", type=int, default=5)
    reader.add_argument("--jobs", type=int, default=1)
    reader.add_argument("--features", default="")
    ask = reader.parse_args()
    data = os.path.join(os.environ["LAPIS_DATA"], "msrc_v2")
    z = np.load(os.path.join(data, "msrc_v2.npz"))
    keep = [c for c in range(23) if c not in LEFT_OUT]
    y = z["labels"][:, keep]
    sets = feature_sets(data, z, ask.sets.split(","), ask.features)
    found = {}
    for f in range(ask.folds):
        hidden = z["fold"] == f
        liked = (-1, None)
        for name, (x, sizes) in sets.items():
            for row, (scores, chosen, worth) in one_fold(name, x, sizes, y,
                                                         hidden, ask):
                worth_here = auroc(y[hidden], scores)
                found.setdefault(row, []).append(worth_here)
                if "SVM" not in row:
                    liked = max(liked, (worth, row))
                print(f"fold {f}: {row:32s} {worth_here:.4f}  inside "
                      f"{worth:.4f}  {' '.join(chosen)}", flush=True)
        if liked[1]:
            found.setdefault("completion that the inner folds like best",
                             []).append(found[liked[1]][-1])
            print(f"fold {f}: liked best: {liked[1]}")
    print("| | mean AUROC | each fold | [MC15] Table 3 |\n"
          "| --- | --- | --- | --- |")
    for row, v in found.items():
        each = ", ".join(f"{a:.3f}" for a in v)
        paper = PAPER.get(row.split(": ")[-1], "")
        print(f"| {row} | {np.mean(v):.3f} | {each} | {paper} |")


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main()
