"""MSRC v2, 384 grid moments, 21 classes, 5 folds: [RR16] Table 4's row.

  LAPIS_COMMAND=build/lapis LAPIS_DATA=... \\
      python3 bench/rr_msrc.py [--folds 5] [--cache FILE]

Features standardised by the training images; mean AUROC over the classes that
have both kinds in the test fold.  Settings by AUROC on a fifth of the training
images.  Baselines NumPy and scikit-learn."""
import argparse
import os
from itertools import product

import numpy as np
from scipy.linalg import eigh
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC

from rr_common import Cache, fit_predict, ones

GAMMA = [.01, .1, 1, 10, 100, 1000, 10000]
LOOSE = ["--tol", "1e-3"]
PAPER = {"LDA": .65, "SVM": .79, "PCA+LDA": .76, "MLDA": .63,
         "RPCA+LDA": .75, "rlda": .83}


def auroc(Y, S):
    """Mean over the classes of which some and not all images are."""
    both = (Y.sum(0) > 0) & (Y.sum(0) < len(Y))
    return float(np.mean([roc_auc_score(Y[:, k], S[:, k])
                          for k in np.flatnonzero(both)]))


# ---- methods: (X, Y, new, settings) -> {setting: scores} --------------------
def lda(X, Y, new, gammas):
    """min |W (Y - T [X; 1])|^2 + gamma |T|^2, W = (Y Y')^(-1/2), as rlda: in
    the eigenvectors of W'W the rows of T separate."""
    l, Q = np.linalg.eigh(np.linalg.inv(Y.T @ Y))
    A, out = ones(X), {}
    w, V = np.linalg.eigh(A.T @ A)
    right = V.T @ (A.T @ (Y @ Q))
    w = np.maximum(w, 0)
    for g in gammas:
        T = V @ (l * right / (l * w[:, None] + max(g, 1e-9))) @ Q.T
        out[g] = ones(new) @ T
    return out


def svm(X, Y, new, Cs):
    out = {}
    for C in Cs:
        out[C] = np.zeros((len(new), Y.shape[1]))
        for k in range(Y.shape[1]):
            out[C][:, k] = LinearSVC(C=C, dual=True, max_iter=2000).fit(
                X, Y[:, k]).decision_function(new)
    return out


def components(X, Y, new, kinds):
    """PCA first, the number of components chosen or 99.9 % of the energy."""
    m = X.mean(0)
    s, V = np.linalg.svd(X - m, full_matrices=False)[1:]
    energy = int(np.searchsorted(np.cumsum(s ** 2) / (s @ s), .999)) + 1
    out = {}
    for kind in kinds:
        P = V[:kind or energy].T
        out[kind] = lda((X - m) @ P, Y, (new - m) @ P, [0])[0]
    return out


def mlda(X, Y, new, gammas):
    """Multi-label LDA (Wang, Ding, Huang, ECCV 2010): classes weighted by
    their correlation, an image by its share in them; then regression on the
    projection."""
    size = np.linalg.norm(Y, axis=0)
    Z = Y @ (Y.T @ Y / np.outer(size, size))
    Z /= np.maximum(np.abs(Y).sum(1, keepdims=True), 1)
    n, mean = Z.sum(0), (Z.sum(1) @ X) / Z.sum()
    M = (Z.T @ X) / n[:, None]
    between = (M - mean).T @ (n[:, None] * (M - mean))
    total = (X - mean).T @ (Z.sum(1)[:, None] * (X - mean))
    within, out = total - between, {}
    for g in gammas:
        G = eigh(between, within + g * np.eye(len(within)))[1]
        P = G[:, -(Y.shape[1] - 1):]
        out[g] = lda(X @ P, Y, new @ P, [0])[0]
    return out


def rpca(X, Y, new, settings):
    out = {}
    for lam, weight in sorted({s[:2] for s in settings}):
        _, learnt, clean = fit_predict(
            "rpca", {"X": X}, new, ["--lambda", lam, *LOOSE],
            [["--clean-weight", weight, *LOOSE]])
        gammas = [s[2] for s in settings if s[:2] == (lam, weight)]
        tried = lda(learnt["low_rank"], Y, clean[0]["low_rank"], gammas)
        out |= {(lam, weight, g): tried[g] for g in gammas}
    return out


def rlda(X, Y, new, settings):
    out = {}
    for lam, eta, gamma in sorted({s[:3] for s in settings}):
        weights = [s[3] for s in settings if s[:3] == (lam, eta, gamma)]
        answers = fit_predict(
            "rlda", {"X": X, "Y": Y}, new,
            ["--lambda", lam, "--eta", eta, "--gamma", gamma, "--tol", "1e-4"],
            [["--clean-weight", w, *LOOSE] for w in weights])[2]
        for w, a in zip(weights, answers):
            out[lam, eta, gamma, w] = a["scores"]
    return out


ROWS = {
    "LDA": (lda, [0]),
    "ridge LDA": (lda, GAMMA),
    "SVM": (svm, [1e-4, 1e-3, 1e-2, .1, 1]),
    "PCA+LDA": (components, [0, 10, 20, 40, 80]),
    "MLDA": (mlda, [1e-6]),
    "MLDA, ridge": (mlda, [1, 100, 10000]),
    "RPCA+LDA": (rpca, list(product([.03, .05], [1, 4], [0]))),
    "RPCA+ridge LDA": (rpca, list(product([.03, .05], [1, 4], GAMMA))),
    "rlda": (rlda, list(product([.03, .05], [1], [1, 10, 100], [1, 4]))),
}


def one(X, Y, fold, held):
    test, out = fold == held, {}
    X = (X - X[~test].mean(0)) / X[~test].std(0)
    Xl, Yl = X[~test], Y[~test]
    trial = fold[~test] == (held + 1) % 5
    for row, (method, settings) in ROWS.items():
        best = settings[0]
        if len(settings) > 1:
            tried = method(Xl[~trial], Yl[~trial], Xl[trial], settings)
            best = max(tried, key=lambda s: auroc(Yl[trial], tried[s]))
        answer = method(Xl, Yl, X[test], [best])[best]
        out[row] = [auroc(Y[test], answer), best]
    return out


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--folds", type=int, default=5)
    p.add_argument("--cache")
    o = p.parse_args()
    data = np.load(os.environ["LAPIS_DATA"] + "/msrc_v2/msrc_v2.npz")
    use = [k for k, name in enumerate(data["class_names"])
           if name not in ("horse", "mountain")]
    X = data["grid_moments"].astype(float)
    Y = data["labels"][:, use].astype(float)
    cache = Cache(o.cache)
    found = [cache.get(str(f), lambda f=f: one(X, Y, data["fold"], f))
             for f in range(o.folds)]
    print(f"{o.folds} folds, {len(X)} images, {len(use)} classes\n")
    print("| | AUROC | of each fold | [RR16] Table 4 |")
    print("| --- | --- | --- | --- |")
    for row in ROWS:
        v = [f[row][0] for f in found]
        paper = PAPER.get(row, "")
        print(f"| {row} | {np.mean(v):.3f} +- {np.std(v):.3f} | "
              f"{', '.join(f'{x:.3f}' for x in v)} | {paper} |")


main()
