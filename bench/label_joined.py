#!/usr/bin/python3
"""lapis label on MSRC v2: kinds of features alone and side by side.

  bench/label_joined.py [LAPIS] [--seed N] [--hide SHARE] [OPTION...]

591 photographs at half size, 21 columns of labels, of which a share of the
cells (60 %) is hidden; mean AUROC of the hidden cells over the columns, seconds
of processor time.  Rows: each list of KINDS at one fixed setting (--variant mc1
--mu-rel .2 --lambda .1 --gamma 3), and logistic regression (scikit-learn, C .1,
a class each) on the same mapped features.  Words are learnt from all images.
Other options are lapis's.  Needs LAPIS_DATA."""
import argparse
import csv
import os
import resource
import subprocess
import tempfile

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

DATA = os.path.join(os.environ["LAPIS_DATA"], "msrc_v2")
KINDS = ["texton-bow", "sift-bow", "sift-bow,texton-bow",
         "texton-bow,color-moments,gist"]
FIXED = ["--variant", "mc1", "--mu-rel", ".2", "--lambda", ".1", "--gamma",
         "3", "--suspects", "0"]


def read_truth():
    data = np.load(os.path.join(DATA, "msrc_v2.npz"))
    kept = [k for k in range(23) if k not in (4, 7)]  # horse, mountain: few
    names = [str(name) for name in data["names"]]
    return names, data["labels"][:, kept].astype(float)


def write_labels(path, names, labels, known):
    with open(path, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["name"] + [f"c{k}" for k in range(labels.shape[1])])
        for i, name in enumerate(names):
            cells = [f"{labels[i, k]:.0f}" if known[i, k] else ""
                     for k in range(labels.shape[1])]
            table.writerow([name + ".png"] + cells)


def auroc(labels, known, scores):
    areas = []
    for k in range(labels.shape[1]):
        hidden = ~known[:, k]
        if len(set(labels[hidden, k])) == 2:
            areas.append(roc_auc_score(labels[hidden, k], scores[hidden, k]))
    return np.mean(areas)


def run(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    out = subprocess.run(command, capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(out.stderr)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def logistic(features, labels, known):
    scores = np.zeros_like(labels)
    for k in range(labels.shape[1]):
        rows = known[:, k]
        if len(set(labels[rows, k])) == 2:
            fit = LogisticRegression(C=.1, max_iter=500)
            fit.fit(features[rows], labels[rows, k])
            scores[:, k] = fit.decision_function(features)
    return scores


def blocks(X, starts, counts):
    """Each kind standardised and divided by the root of its size: what
    logistic regression reads."""
    parts = []
    for first, last, count in zip(starts[:-1], starts[1:], counts):
        part = X[:, first:last]
        if count:
            part = np.sqrt(part / part.sum(axis=1, keepdims=True))
        deviation = part.std(axis=0)
        deviation[deviation == 0] = 1
        part = (part - part.mean(axis=0)) / deviation
        parts.append(part / np.sqrt(last - first))
    return np.hstack(parts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lapis", nargs="?", default="build/lapis")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--hide", type=float, default=.6)
    parser.add_argument("--cache", default=None)
    parser.add_argument("--automatic", action="store_true")
    args, rest = parser.parse_known_args()
    names, labels = read_truth()
    known = np.random.default_rng(args.seed).random(labels.shape) >= args.hide
    images = os.path.join(DATA, "images_half")
    with tempfile.TemporaryDirectory() as folder:
        cache = args.cache or os.path.join(folder, "cache")
        table = os.path.join(folder, "labels.csv")
        result = os.path.join(folder, "r.npz")
        write_labels(table, names, labels, known)
        print("| features | mc1 | s | logistic |\n| --- | --- | --- | --- |")
        for kinds in KINDS:
            features = os.path.join(folder, "x.npz")
            run([args.lapis, "features", kinds, images, "-o", features, "-q",
                 "--threads", "1", "--cache", cache])
            made = np.load(features)
            starts = (made["block_start"] if "," in kinds
                      else np.array([0, made["X"].shape[1]]))
            counts = [k.endswith("-bow") for k in kinds.split(",")]
            order = [os.path.splitext(os.path.basename(str(n)))[0]
                     for n in made["names"]]
            row = [order.index(name) for name in names]
            X = blocks(made["X"][row], starts, counts)
            sizes = "+".join(str(b - a) for a, b in zip(starts, starts[1:]))
            given = [] if args.automatic else FIXED + [
                "--map", f"blocks:{sizes},"
                + ("l1-sqrt," if all(counts) else "") + "standard,balance"]
            seconds = run(
                [args.lapis, "label", images, "--labels", table, "--features",
                 kinds, "--words-from", "all", "--cache", cache, "--threads",
                 "1", "--result", result, "-q", *given, *rest])
            answer = np.load(result)
            place = {os.path.splitext(os.path.basename(str(n)))[0]: i
                     for i, n in enumerate(answer["names"])}
            scores = answer["scores"].reshape(len(place), -1)
            scores = scores[[place[name] for name in names]]
            plain = auroc(labels, known, logistic(X, labels, known))
            print(f"| {kinds} | {auroc(labels, known, scores):.3f} "
                  f"| {seconds:.0f} | {plain:.3f} |", flush=True)


main()
