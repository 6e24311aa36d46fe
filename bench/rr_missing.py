"""Missing blocks, in the manner of [RR16] 5.3: ORL faces, a third of the image
absent for half of the training images.

  LAPIS_COMMAND=build/lapis LAPIS_DATA=... python3 bench/rr_missing.py \\
      [--block lower|middle|upper] [--asked lacking|whole] [--splits 5]
      [--cache FILE]

Test images lack the block, too (the paper's question: its test has the 49 points
of one set, training also images with the 68 of another), or are whole.  rlda
told what is missing (NaN), against leaving the block out of every image, against
the training images that lack it alone, against the mean of the images that have
it, and against nothing missing at all, which no way of filling can pass: what
the block tells.  5 training and 5 test
images a person; every split chooses its settings inside its training half, 3
images a person against 2; what is left open chooses for itself.  Accuracy in
per cent, mean and deviation."""
import argparse
import os
import sys
from itertools import product

import numpy as np

from rr_common import Cache, fit_predict
from rr_faces import by_lambda, lda, split

SETTINGS = list(product([.05, .1], [4, 16], [.1]))  # lambda, weight, gamma
GAMMA = [.01, .1, 1, 10]
ROW = np.arange(1024) // 32
BLOCKS = {"lower": ROW >= 21, "middle": (ROW >= 11) & (ROW < 21),
          "upper": ROW < 11}


def as_it_is(A, _, __):
    return A


def dropped(A, _, block):
    return A[:, ~block]


def alone(A, _, block):
    """Dropped, and only training images without the block (in accuracy)."""
    return dropped(A, _, block)


def mean(A, training, _):
    return np.where(np.isnan(A), np.nanmean(training, 0), A)


def rlda(A, a, B, settings):
    return by_lambda("rlda", A, a, B, settings,
                     ["--eta", 1, "--mu", .01, "--tol", "1e-5"],
                     lambda D, a, new, g: {g[0]: new["labels"].ravel()})


def left_open(A, a, B, settings):
    new = fit_predict("rlda", {"X": A, "Y": a}, B, ["--map", settings[0]],
                      [[]])[2][0]
    return {settings[0]: new["labels"].ravel()}


ROWS = {"rlda, nothing missing": (as_it_is, rlda, SETTINGS),
        "rlda, missing": (as_it_is, rlda, SETTINGS),
        "rlda, block dropped": (dropped, rlda, SETTINGS),
        "rlda, images without the block alone": (alone, rlda, SETTINGS),
        "rlda, mean of the others": (mean, rlda, SETTINGS),
        "rlda left open, missing": (as_it_is, left_open, ["none"]),
        "rlda left open, filled by --map impute":
            (as_it_is, left_open, ["standard,impute"]),
        "rlda left open, block dropped": (dropped, left_open, ["none"]),
        "ridge LDA, nothing missing": (as_it_is, lda, GAMMA),
        "ridge LDA, block dropped": (dropped, lda, GAMMA),
        "ridge LDA, mean of the others": (mean, lda, GAMMA)}


def accuracy(row, data, settings, block):
    prepare, method, _ = ROWS[row]
    A, a, B, b = data
    if prepare is alone:
        a, A = a[(lack := np.isnan(A).any(1))], A[lack]
    answers = method(prepare(A, A, block), a, prepare(B, A, block), settings)
    return {s: 100 * float(np.mean(labels == b))
            for s, labels in answers.items()}


def one(images, person, seed, block, asked_lack):
    A, a, B, b = split(images, person, seed, 0, False)
    gone = np.random.default_rng(100 + seed).permutation(200)[:100]
    with_gaps = A.copy()
    with_gaps[np.ix_(gone, block)] = np.nan
    B_gaps = np.where(block & asked_lack, np.nan, B)
    held, out = np.tile([False] * 3 + [True] * 2, 40), {}
    for row, (_, _, settings) in ROWS.items():
        whole = row.endswith("nothing missing")
        A_row, B_row = (A, B) if whole else (with_gaps, B_gaps)
        best = settings[0]
        if len(settings) > 1:
            gap = block & asked_lack & (not whole)
            hidden = np.where(gap, np.nan, A_row[held])
            trial = A_row[~held], a[~held], hidden, a[held]
            tried = accuracy(row, trial, settings, block)
            best = max(tried, key=tried.get)
        out[row] = [accuracy(row, (A_row, a, B_row, b), [best], block)[best], best]
        print(seed, row, out[row], file=sys.stderr)
    return out


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--splits", type=int, default=5)
    p.add_argument("--block", choices=BLOCKS, default="lower")
    p.add_argument("--asked", choices=("lacking", "whole"), default="lacking")
    p.add_argument("--cache")
    o = p.parse_args()
    data = np.load(os.environ["LAPIS_DATA"] + "/orl32/orl32.npz")
    images, person = data["images"] / 255.0, np.char.add(
        "p", data["subject"].astype(str))  # words: rlda asks for classes
    cache = Cache(o.cache)
    found = [cache.get(f"{o.block} {o.asked} {s}",
                       lambda s=s: one(images, person, s, BLOCKS[o.block],
                                       o.asked == "lacking"))
             for s in range(o.splits)]
    print(f"{o.splits} splits, n = 200 test images each\n")
    print("| | accuracy | of each split |")
    print("| --- | --- | --- |")
    for row in ROWS:
        v = [f[row][0] for f in found]
        print(f"| {row} | {np.mean(v):.1f} +- {np.std(v):.1f} | "
              f"{', '.join(f'{x:.1f}' for x in v)} |")


main()
