"""Faces in varied light and under gross errors: rlda with settings left open.

  LAPIS_DATA=... python3 bench/defaults/rlda_faces.py [build/lapis [DRAWS [OTHER]]]

ORL (40 people, 10 images of 32 x 32) where LAPIS_DATA has it, and the bundled
CMU faces (20 people, the 32 images of each at 20 x 20); half of the images of
each person teach, the others are told.  light: each image is multiplied by a
gain and a slope of its own.  Errors strike both halves, those in the test the
other half alone: a share of the pixels takes any grey value, or a square of the
image is black.  rlda's own choice (and that of OTHER, another build), and
linear --map l2,standard, with the processor seconds of fit and predict; shrinkage LDA
(Ledoit-Wolf) on the images, and on images of length 1; and on what robust PCA
of the half that teaches leaves, the others cleaned one at a time."""
import csv
import os
import resource
import subprocess
import sys
import tempfile

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

lapis = sys.argv[1] if len(sys.argv) > 1 else "build/lapis"
draws = int(sys.argv[2]) if len(sys.argv) > 2 else 3
other = sys.argv[3] if len(sys.argv) > 3 else None
folder = tempfile.mkdtemp()
FACES = os.path.join(os.path.dirname(__file__), "../../data/cmu_faces")
ERRORS = ["none", "light", "light, square 10 % in the test", "pixels 10 %",
          "pixels 30 %", "square 10 %", "square 25 %"]


def run(*words, by=None):
    return subprocess.run([by or lapis, *words, "--threads", "1"], check=True,
                          capture_output=True, text=True)


def orl():
    all_ = np.load(os.path.join(os.environ["LAPIS_DATA"], "orl32/orl32.npz"))
    X, y = all_["images"], all_["subject"]
    X = X.reshape(-1, 32, 32).astype(float)
    return X / X.max(), y.ravel().astype(float)


def cmu():
    with open(os.path.join(FACES, "index.csv")) as f:
        rows = list(csv.DictReader(f))
    run("features", "pixels", os.path.join(FACES, "images"), "--size", "20x20",
        "-o", f"{folder}/f.npz", "-q")
    made = np.load(f"{folder}/f.npz")
    who = {r["name"]: r["subject"] for r in rows}
    name = [os.path.splitext(os.path.basename(str(n)))[0] for n in made["names"]]
    y = np.unique([who[n] for n in name], return_inverse=True)[1].astype(float)
    X = made["X"].reshape(len(y), 20, 20).astype(float)
    return X / X.max(), y


def lit(X, random):
    side = X.shape[1]
    at = np.linspace(-1, 1, side)
    X = X.copy()
    for image in X:
        across, down = random.uniform(-1.2, 1.2, 2)
        slope = 1 + across * at[None, :] + down * at[:, None]
        image *= random.uniform(.3, 1) * np.maximum(slope, .05)
    return X


def strike(X, how, random, first):
    X = lit(X, random) if how.startswith("light") else X.copy()
    side = X.shape[1]
    words = how.replace(",", "").split()
    share = next((float(w) / 100 for w in words if w.isdigit()), 0)
    for image in (X[k] for k in range(len(X))
                  if not (first[k] and "test" in words)):
        if "pixels" in words:
            hit = random.rand(side, side) < share
            image[hit] = random.rand(hit.sum())
        elif "square" in words:
            wide = round(side * share ** .5)
            i, j = random.randint(0, side - wide + 1, 2)
            image[i:i + wide, j:j + wide] = 0
    return X.reshape(len(X), -1)


def spent_so_far():
    of = resource.getrusage(resource.RUSAGE_CHILDREN)
    return of.ru_utime + of.ru_stime


def told(command, X, y, first, *how):
    """Share right, seconds, and what it said."""
    np.savez(f"{folder}/a.npz", X=X[first], Y=y[first])
    np.savez(f"{folder}/b.npz", X=X[~first])
    began = spent_so_far()
    said = run(*how, f"{folder}/a.npz", "--model", f"{folder}/m", by=command)
    run("predict", f"{folder}/m", f"{folder}/b.npz", "-q", "-o",
        f"{folder}/o.npz", by=command)
    spent = spent_so_far() - began
    right = np.load(f"{folder}/o.npz")["labels"].ravel() == y[~first]
    return [right.mean(), spent], said.stderr.splitlines()


def lda(X, y, first):
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    return model.fit(X[first], y[first]).score(X[~first], y[~first])


def cleaned_apart(X, first):
    """Learnt from the first half alone, as rlda is."""
    out = np.empty(X.shape)
    np.savez(f"{folder}/p.npz", X=X[first])
    np.savez(f"{folder}/q.npz", X=X[~first])
    run("fit", "rpca", f"{folder}/p.npz", "-q", "--tol", "1e-3", "--model",
        f"{folder}/r", "-o", f"{folder}/l.npz")
    run("predict", f"{folder}/r", f"{folder}/q.npz", "-q", "--clean",
        "nuclear", "--tol", "1e-3", "-o", f"{folder}/n.npz")
    out[first] = np.load(f"{folder}/l.npz")["low_rank"]
    out[~first] = np.load(f"{folder}/n.npz")["low_rank"]
    return out


def main():
    sets = {"ORL": orl} if "LAPIS_DATA" in os.environ else {}
    sets["CMU faces"] = cmu
    names = ["rlda, left open", "s"] + (["before", "s"] if other else []) + [
        "linear, l2", "s", "shrinkage LDA", "of length 1", "RPCA + LDA"]
    print("| faces | errors | " + " | ".join(names) + " |")
    print("| --- " * (2 + len(names)) + "|")
    for name, read in sets.items():
        images, y = read()
        for how in ERRORS:
            found = []
            for seed in range(draws):
                random = np.random.RandomState(seed)
                first = np.zeros(len(y), bool)
                for k in np.unique(y):
                    at = random.permutation(np.flatnonzero(y == k))
                    first[at[:len(at) // 2]] = True
                X = strike(images, how, random, first)
                row, chose = told(lapis, X, y, first, "fit", "rlda")
                if other:
                    row += told(other, X, y, first, "fit", "rlda")[0]
                row += told(lapis, X, y, first, "fit", "linear", "--map",
                            "l2,standard")[0]
                unit = X / np.linalg.norm(X, axis=1, keepdims=True)
                row += [lda(X, y, first), lda(unit, y, first),
                        lda(cleaned_apart(X, first), y, first)]
                found.append(row)
                print(name, how, seed, chose, file=sys.stderr, flush=True)
            print(f"| {name} | {how} | " + " | ".join(
                f"{v:.2f}" if n == "s" else f"{v:.3f}"
                for n, v in zip(names, np.mean(found, 0))) + " |", flush=True)


main()
