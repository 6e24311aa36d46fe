"""ORL faces under black squares, the protocol of [RR16] Table 3 in kind.

  LAPIS_COMMAND=build/lapis LAPIS_DATA=... \\
      python3 bench/rr_faces.py [--splits 5] [--cells 0,5,20,40,20m,40m] \\
                                [--cache FILE] [--why]

5 training and 5 test images a person; squares over both; one square, or (m)
many of 6 x 6.  Every split chooses its settings inside its training half, 3
images a person against 2.  Accuracy in per cent, mean and deviation.

RPCA+LDA is ridge LDA on what `lapis fit rpca` and `lapis predict` leave of
the images, which is what `rlda --denoise rpca` does; apart, one robust PCA
serves all gammas.

--why: what holds rlda back at 20 %?  The label term (eta) against mu_0, at
lambda .05, gamma .1, cleaning weight 4: accuracy, J and rank of D."""
import argparse
import os
import warnings
from itertools import product

import numpy as np
from sklearn.linear_model import Lasso
from sklearn.svm import LinearSVC

from rr_common import Cache, fit, fit_predict, ones, ridge

GAMMA = [.01, .1, 1, 10, 100]
LOOSE = ["--tol", "1e-3"]


def cover(images, share, many, rng):
    out = images.copy()
    for im in out:
        if not many:
            side = round(32 * share ** .5)
            y, x = rng.integers(0, 33 - side, 2)
            im[y:y + side, x:x + side] = 0
            continue
        while (im == 0).mean() < share:
            y, x = rng.integers(0, 27, 2)
            im[y:y + 6, x:x + 6] = 0
    return out.reshape(len(out), -1)


# ---- methods: (training images, persons, new images, settings)
#      -> {setting: labels} ---------------------------------------------------
def neighbour(A, a, B, caps):
    """One nearest neighbour by sum of min(|difference|, cap); 0: squares."""
    out = {}
    for cap in caps:
        d = [np.minimum(np.abs(A - b), cap).sum(1) if cap
             else ((A - b) ** 2).sum(1) for b in B]
        out[cap] = a[np.argmin(d, 1)]
    return out


def svm(A, a, B, Cs):
    return {C: LinearSVC(C=C, dual=True, max_iter=2000, random_state=0)
            .fit(A, a).predict(B) for C in Cs}


def soft(A, t):
    return np.sign(A) * np.maximum(np.abs(A) - t, 0)


def extended(U, X, rho=50, steps=100):
    """min |Z|_1 + |E|_1, U Z + E = X by ADMM: the dictionary [U I] of
    sparse-representation classification under occlusion."""
    inverse = np.linalg.inv(U.T @ U + np.eye(U.shape[1]))
    Z, E, y = np.zeros((U.shape[1], X.shape[1])), 0 * X, 0 * X
    u = 0 * Z
    for _ in range(steps):
        V = inverse @ (U.T @ (X - E - y) + Z - u)
        miss = X - U @ V
        E, Z = soft(miss - y, 1 / rho), soft(V + u, 1 / rho)
        u, y = u + V - Z, y + E - miss
    return Z, E


def src(A, a, B, alphas):
    """Sparse-representation classification: the class whose share of the
    coefficients leaves the smallest residual; alpha 0: [U I]."""
    U, classes, out = A.T / np.linalg.norm(A, axis=1), np.unique(a), {}
    X = B.T / np.linalg.norm(B, axis=1)
    for alpha in alphas:
        if alpha:
            Z, E = Lasso(alpha=alpha, fit_intercept=False, max_iter=300,
                         tol=1e-3, precompute=U.T @ U).fit(U, X).coef_.T, 0
        else:
            Z, E = extended(U, X)
        miss = [np.linalg.norm(X - E - U @ (Z.T * (a == c)).T, axis=0)
                for c in classes]
        out[alpha] = classes[np.argmin(miss, 0)]
    return out


def lda(A, a, B, gammas):
    """Ridge LDA; W = (Y Y')^(-1/2) is a multiple of I, so gamma has it."""
    Y, classes = (a[:, None] == np.unique(a)).astype(float), np.unique(a)
    return {g: classes[np.argmax(ones(B) @ ridge(A, Y, g).T, 1)]
            for g in gammas}


def by_lambda(method, A, a, B, settings, options, answer):
    """One fit a lambda; `answer` to each (lambda, weight, gamma)."""
    out = {}
    for lam in sorted({s[0] for s in settings}):
        weights = sorted({s[1] for s in settings if s[0] == lam})
        _, learnt, new = fit_predict(
            method, {"X": A, "Y": a}, B, [*options, "--lambda", lam],
            [["--clean-weight", w, *LOOSE] for w in weights])
        for w, made in zip(weights, new):
            gammas = [s[2] for s in settings if s[:2] == (lam, w)]
            for g, labels in answer(learnt, a, made, gammas).items():
                out[lam, w, g] = labels
    return out


def rpca(A, a, B, settings):
    return by_lambda("rpca", A, a, B, settings, LOOSE, lambda D, a, new, g:
                     lda(D["low_rank"], a, new["low_rank"], g))


def rlda(A, a, B, settings):
    return by_lambda("rlda", A, a, B, settings,
                     ["--eta", 1, "--tol", "1e-4"], lambda D, a, new, g:
                     {g[0]: new["labels"].ravel()})


def refill(A, B):
    """The images with what is covered found and filled: training, new."""
    _, learnt, new = fit_predict(
        "rpca", {"X": A}, B, ["--lambda", .03, "--refill", 3, *LOOSE],
        [LOOSE])
    return learnt["filled"], new[0]["filled"]


def rlda_filled(A, a, B, etas):
    """As `rlda --refill 3`: learnt and applied on the filled images."""
    T = {eta: fit("rlda", {"X": A, "Y": a},
                  ["--eta", eta, "--lambda", .03, "--tol", "1e-4"])[1]
         ["weights"] for eta in etas}
    return {eta: np.unique(a)[np.argmax(ones(B) @ T[eta].T, 1)] for eta in T}


PLAIN = {
    "1-NN": (neighbour, [0]),
    "capped 1-NN": (neighbour, [.05, .1, .2, .4]),
    "linear SVM": (svm, [.01, .1, 1]),
    "SRC": (src, [0, 1e-7, 1e-6, 1e-5, 1e-4]),
    "ridge LDA": (lda, GAMMA),
    "RPCA+LDA": (rpca, list(product([.03, .05], [1, 4, 8], GAMMA))),
    "rlda": (rlda, list(product([.03, .05], [1, 4, 8], [.1]))),
}
FILLED = {
    "rlda, refill 3": (rlda_filled, [1]),
    "RPCA+LDA, refill 3": (lda, GAMMA),
    "refill 3, then capped 1-NN": (neighbour, [.05, .1, .2, .4]),
}


# ---- the study --------------------------------------------------------------
def split(images, person, seed, share, many):
    rng = np.random.default_rng(seed)
    take = np.concatenate([10 * p + rng.permutation(10)[:5] for p in range(40)])
    rest = np.setdiff1d(np.arange(400), take)
    return (cover(images[take], share, many, rng), person[take],
            cover(images[rest], share, many, rng), person[rest])


def choose(trial, truth, new):
    """The setting that gets most of the trial's new images right."""
    A, a, B = trial
    best = {}
    for table, first, second in ((PLAIN, A, B), (FILLED, *new)):
        for name, (method, settings) in table.items():
            best[name] = settings[0]
            if len(settings) > 1:
                tried = method(first, a, second, settings)
                best[name] = max(tried, key=lambda s, t=tried:
                                 np.mean(t[s] == truth))
    return best


def one(images, person, seed, cell):
    """{method: [accuracy, setting]}: settings by the training half alone."""
    many, share = cell.endswith("m"), float(cell.rstrip("m")) / 100
    A, a, B, b = split(images, person, seed, share, many)
    held = np.tile([False] * 3 + [True] * 2, 40)
    best = choose((A[~held], a[~held], A[held]), a[held],
                  refill(A[~held], A[held]))
    out, full = {}, refill(A, B)
    for table, first, second in ((PLAIN, A, B), (FILLED, *full)):
        for name, (method, _) in table.items():
            labels = method(first, a, second, [best[name]])[best[name]]
            out[name] = [100 * float(np.mean(labels == b)), best[name]]
    return out


WHY = list(product([.01, 1, 10, 100], ["auto", .01]))  # eta, mu


def why(images, person, seed):
    """{"eta mu_0": [accuracy, J, rank]}, and RPCA+LDA with the same gamma."""
    A, a, B, b = split(images, person, seed, .2, False)
    out = {}
    for eta, mu in WHY:
        said, _, new = fit_predict(
            "rlda", {"X": A, "Y": a}, B,
            ["--lambda", .05, "--eta", eta, "--tol", "1e-5"]
            + ([] if mu == "auto" else ["--mu", mu]),
            [["--clean-weight", 4, *LOOSE]])
        hits = np.mean(new[0]["labels"].ravel() == b)
        out[f"{eta} {mu}"] = [100 * float(hits), said["info"]["objective"],
                              said["info"]["rank"]]
    said, _, new = fit_predict(
        "rlda", {"X": A, "Y": a}, B,
        ["--denoise", "rpca", "--lambda", .05, "--tol", "1e-5"],
        [["--clean-weight", 4, *LOOSE]])
    hits = np.mean(new[0]["labels"].ravel() == b)
    out["RPCA+LDA"] = [100 * float(hits), said["info"]["objective"],
                       said["info"]["rank"]]
    return out


def print_why(found):
    print(f"{len(found)} splits\n\n| eta, mu_0 | accuracy | J | rank |")
    print("| --- | --- | --- | --- |")
    for row in found[0]:
        v = np.array([f[row] for f in found])
        print(f"| {row} | {v[:, 0].mean():.1f} +- {v[:, 0].std():.1f} | "
              f"{v[:, 1].mean():.2f} | {v[:, 2].mean():.0f} |")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--splits", type=int, default=5)
    p.add_argument("--cells", default="20,20m,5,0,40,40m")
    p.add_argument("--cache")
    p.add_argument("--why", action="store_true")
    o = p.parse_args()
    warnings.filterwarnings("ignore")  # SVM and lasso stopped by their steps
    data = np.load(os.environ["LAPIS_DATA"] + "/orl32/orl32.npz")
    images, person = data["images"] / 255.0, data["subject"].astype(float)
    cache, cells = Cache(o.cache), o.cells.split(",")
    if o.why:
        return print_why([cache.get(f"why/{s}", lambda s=s:
                                    why(images, person, s))
                          for s in range(o.splits)])
    found = {c: [cache.get(f"{c}/{s}", lambda c=c, s=s:
                           one(images, person, s, c))
                 for s in range(o.splits)] for c in cells}
    print(f"{o.splits} splits, n = 200 test images each\n")
    print("| |", " | ".join(cells), "|")
    print("| ---" * (1 + len(cells)) + " |")
    for m in {**PLAIN, **FILLED}:
        row = [[f[m][0] for f in found[c]] for c in cells]
        print(f"| {m} | " + " | ".join(
            f"{np.mean(r):.1f} +- {np.std(r):.1f}" for r in row) + " |")
    return None


if __name__ == "__main__":
    main()
