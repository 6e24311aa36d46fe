#!/usr/bin/python3
"""What completion adds on top of a network's vectors: MSRC v2 and 600 faces.

    LAPIS_ONNXRUNTIME=... LAPIS_DATA=... bench/onnx/today.py NET.onnx [FOLDS [SEEDS]]

NET.onnx is what bench/onnx/mobilenet.py writes.  Features are its vectors (1280
numbers) and sift-bow's words (1000, roots of shares), of the command.  MSRC: 21
labels an image (horse and mountain left out), FOLDS of the data set's five;
faces: sunglasses of 8 people given, of the 12 others asked (data/cmu_faces).  A
line is of one kind of harm: a share of the features of all images missing, or of
the given labels exchanged for each other's at random.  AUROC, mean over labels,
folds and seeds: mc (mc1), logistic regression (L2) and a forest of 300 trees;
the latter two read means in place of gaps.  mu-rel (.02, .1), C (.001, .01, .1)
and the least of a leaf (1, 5) are chosen by the given labels of a fifth of the
given images, as they are, right or wrong."""
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
import numpy as np  # noqa: E402: threads are counted when it is loaded
from sklearn.ensemble import RandomForestClassifier  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import roc_auc_score  # noqa: E402

import lapis  # noqa: E402

COMMAND = os.environ.get("LAPIS_COMMAND", "build/lapis")
LEFT_OUT = (4, 7)
HARM = [("none", 0, 0), ("30 % of features missing", .3, 0),
        ("60 % of features missing", .6, 0),
        ("30 % of labels exchanged", 0, .3),
        ("60 % of labels exchanged", 0, .6)]


def features(kind, folder):
    """Name of an image without its ending, and its vector."""
    with tempfile.TemporaryDirectory() as at:
        file = Path(at, "f.npz")
        subprocess.run([COMMAND, "features", kind, folder, "--threads", "1",
                        "-q", "-o", file], check=True, stdout=sys.stderr)
        with np.load(file) as f:
            X = f["X"].astype(float)
            names = [Path(str(n)).stem for n in f["names"]]
    if kind == "sift-bow":
        X = np.sqrt(X / X.sum(1, keepdims=True))
    return dict(zip(names, X))


def msrc(kind, folds):
    data = Path(os.environ["LAPIS_DATA"], "msrc_v2")
    z = np.load(data / "msrc_v2.npz")
    found = features(kind, data / "images_half")
    X = np.array([found[n] for n in z["names"]])
    keep = [c for c in range(z["labels"].shape[1]) if c not in LEFT_OUT]
    Y = (z["labels"][:, keep] > 0).astype(float)
    for f in np.unique(z["fold"])[:folds]:
        yield X, Y, z["fold"] != f


def faces(kind):
    folder = Path("data/cmu_faces")
    found = features(kind, folder / "images")
    rows = [line.split(",") for line in
            (folder / "index.csv").read_text().split()[1:]]
    X = np.array([found[r[0]] for r in rows])
    Y = np.array([[float(r[5] == "1")] for r in rows])
    yield X, Y, np.array([r[6] == "train" for r in rows])


def harm(X, Y, given, missing, wrong, seed):
    rng = np.random.default_rng(seed)
    X, Y, rows = X.copy(), Y.copy(), np.flatnonzero(given)
    X[rng.random(X.shape) < missing] = np.nan
    if wrong:
        some = rng.permutation(rows)[:round(wrong * len(rows))]
        Y[some] = Y[rng.permutation(some)]
    mean, deviation = np.nanmean(X, 0), np.nanstd(X, 0)
    varies = deviation > 1e-9
    return (X - mean)[:, varies] / deviation[varies], Y


def auroc(truth, scores):
    both = [c for c in range(truth.shape[1])
            if 0 < truth[:, c].sum() < len(truth)]
    return np.mean([roc_auc_score(truth[:, c], scores[:, c]) for c in both])


def complete(X, Y, given, mu_rel):
    known = np.where(given[:, None], Y, np.nan)
    model = lapis.MatrixCompletionClassifier(mu_rel=mu_rel, lambda_=.1,
                                             gamma=3, tol=1e-2)
    model.fit(X, known if Y.shape[1] > 1 else known[:, 0])
    return np.reshape(model.scores_, (len(X), -1))


def logistic(X, Y, given, C):
    X, out = np.nan_to_num(X), np.zeros(Y.shape)
    for c in range(Y.shape[1]):
        if len(np.unique(Y[given, c])) > 1:
            model = LogisticRegression(C=C, max_iter=300)
            out[:, c] = model.fit(X[given], Y[given, c]).predict_proba(X)[:, 1]
    return out


def forest(X, Y, given, least):
    """One of all labels; that of one value only says 0."""
    X, out = np.nan_to_num(X), np.zeros(Y.shape)
    both = [c for c in range(Y.shape[1]) if len(np.unique(Y[given, c])) > 1]
    model = RandomForestClassifier(300, min_samples_leaf=least, random_state=0)
    answers = model.fit(X[given], Y[given][:, both].squeeze()).predict_proba(X)
    for c, p in zip(both, answers if len(both) > 1 else [answers]):
        out[:, c] = p[:, 1]
    return out


METHODS = {"mc": (complete, (.02, .1)), "logistic": (logistic, (.001, .01, .1)),
           "forest": (forest, (1, 5))}


def chosen(scores, values, X, Y, given, seed):
    rows = np.random.default_rng(seed + 99).permutation(np.flatnonzero(given))
    held = np.sort(rows[:len(rows) // 5])
    inner = given.copy()
    inner[held] = False
    part = inner.copy()
    part[held] = True
    return max(values, key=lambda v: auroc(
        Y[held], scores(X[part], Y[part], inner[part], v)[~inner[part]]))


def main():
    folds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    kinds = {"words": "sift-bow", "network": f"onnx:{sys.argv[1]}"}
    print("| data | harm | features |", " | ".join(METHODS), "|")
    print("| --- | --- | --- |", " --- |" * len(METHODS), flush=True)
    for data in "faces", "MSRC":
        sets = {name: list(faces(kind) if data == "faces"
                           else msrc(kind, folds))
                for name, kind in kinds.items()}
        for what, missing, wrong in HARM:
            for name, parts in sets.items():
                row = []
                for scores, values in METHODS.values():
                    began, found = time.time(), []
                    for seed in range(seeds):
                        for X, truth, given in parts:
                            Z, Y = harm(X, truth, given, missing, wrong, seed)
                            v = chosen(scores, values, Z, Y, given, seed)
                            found.append(auroc(
                                truth[~given],
                                scores(Z, Y, given, v)[~given]))
                    row.append(f"{np.mean(found):.3f}")
                    print(data, what, name, row[-1], v,
                          f"{time.time() - began:.0f} s", file=sys.stderr,
                          flush=True)
                print(f"| {data} | {what} | {name} |", " | ".join(row), "|",
                      flush=True)


main()
