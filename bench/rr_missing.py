"""Missing blocks, in the manner of [RR16] 5.3: ORL faces, the lower third of
the image absent for half of the training images; test images whole.

  LAPIS_COMMAND=build/lapis LAPIS_DATA=... \\
      python3 bench/rr_missing.py [--splits 5] [--cache FILE]

rlda told what is missing (NaN), against leaving the block out of every image
and against the mean of the images that have it.  5 training and 5 test images
a person; every split chooses its settings inside its training half, 3 images
a person against 2.  Accuracy in per cent, mean and deviation."""
import argparse
import os
from itertools import product

import numpy as np

from rr_common import Cache
from rr_faces import by_lambda, lda, split

SETTINGS = list(product([.05, .1], [4, 16], [.1]))  # lambda, weight, gamma
GAMMA = [.01, .1, 1, 10]
BLOCK = np.arange(1024) >= 21 * 32


def missing(A, _):
    return A


def dropped(A, _):
    return A[:, ~BLOCK]


def mean(A, training):
    return np.where(np.isnan(A), np.nanmean(training, 0), A)


def rlda(A, a, B, settings):
    return by_lambda("rlda", A, a, B, settings,
                     ["--eta", 1, "--mu", .01, "--tol", "1e-5"],
                     lambda D, a, new, g: {g[0]: new["labels"].ravel()})


ROWS = {"rlda, missing": (missing, rlda, SETTINGS),
        "rlda, block dropped": (dropped, rlda, SETTINGS),
        "rlda, mean of the others": (mean, rlda, SETTINGS),
        "ridge LDA, block dropped": (dropped, lda, GAMMA),
        "ridge LDA, mean of the others": (mean, lda, GAMMA)}


def accuracy(row, A, a, B, b, settings):
    prepare, method, _ = ROWS[row]
    answers = method(prepare(A, A), a, prepare(B, A), settings)
    return {s: 100 * float(np.mean(labels == b))
            for s, labels in answers.items()}


def one(images, person, seed):
    A, a, B, b = split(images, person, seed, 0, False)
    gone = np.random.default_rng(100 + seed).permutation(200)[:100]
    A[np.ix_(gone, BLOCK)] = np.nan
    held, out = np.tile([False] * 3 + [True] * 2, 40), {}
    for row, (_, _, settings) in ROWS.items():
        tried = accuracy(row, A[~held], a[~held], A[held], a[held], settings)
        best = max(tried, key=tried.get)
        out[row] = [accuracy(row, A, a, B, b, [best])[best], best]
    return out


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--splits", type=int, default=5)
    p.add_argument("--cache")
    o = p.parse_args()
    data = np.load(os.environ["LAPIS_DATA"] + "/orl32/orl32.npz")
    images, person = data["images"] / 255.0, data["subject"].astype(float)
    cache = Cache(o.cache)
    found = [cache.get(str(s), lambda s=s: one(images, person, s))
             for s in range(o.splits)]
    print(f"{o.splits} splits, n = 200 test images each\n")
    print("| | accuracy | of each split |")
    print("| --- | --- | --- |")
    for row in ROWS:
        v = [f[row][0] for f in found]
        print(f"| {row} | {np.mean(v):.1f} +- {np.std(v):.1f} | "
              f"{', '.join(f'{x:.1f}' for x in v)} |")


main()
