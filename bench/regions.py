#!/usr/bin/env python3
"""Regions of MSRC v2 against the true masks, and nuclear norm ratios.

    bench/regions.py [STRIDE [OPTIONS OF fit mc...]]

needs numpy and LAPIS_DATA and a build with LAPIS_BENCH; only every STRIDE-th
image is asked.  Class representatives are completed five times,
each time without the labels of one fold, whose images are then asked
(bench/regions.c prints the table).  The nuclear norm ratio of a class,
[MC15] (27), is |X1|_* / |X2|_*: X1 the texton histograms of all segments of
the class, X2 as many columns, an equal number from every class, each column
of length 1; the mean of five draws.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

DROPPED = (4, 7)  # horse, mountain
LEAST_SEGMENTS = 200
DRAWS = 5


def fold_fits(lapis, options, d, folder):
    keep = [c for c in range(23) if c not in DROPPED]
    labels = d["labels"][:, keep].astype(float)
    np.savez(folder + "/truth.npz", names=d["names"], fold=d["fold"],
             labels=labels)
    for fold in range(5):
        hidden = labels.copy()
        hidden[d["fold"] == fold] = np.nan
        data, out = folder + "/data.npz", f"{folder}/fold{fold}.npz"
        np.savez(data, X=d["bow"].astype(float), Y=hidden)
        subprocess.run([lapis, "fit", "mc", data, "--class-features", "-q",
                        "-o", out] + options, check=True,
                       stdout=subprocess.DEVNULL)


def nuclear(columns):
    unit = columns / np.linalg.norm(columns, axis=1, keepdims=True)
    return np.linalg.svd(unit, compute_uv=False).sum()


def equal_draw(rng, X, cls, classes, size):
    """size rows, as equal a number from every class as there are rows."""
    pools = [rng.permutation(np.flatnonzero(cls == c)) for c in classes]
    chosen = []
    turn = 0
    while len(chosen) < size:
        for p in pools:
            if turn < len(p) and len(chosen) < size:
                chosen.append(p[turn])
        turn += 1
    return X[chosen]


def ratios(d):
    X, cls = d["seg_bow"].astype(float), d["seg_class"]
    classes = [c for c in range(23) if c not in DROPPED]
    rng = np.random.default_rng(0)
    print("| class | segments | nuclear norm ratio |\n| --- | --- | --- |")
    for c in classes:
        own = X[cls == c]
        ratio = np.mean([nuclear(own) / nuclear(
            equal_draw(rng, X, cls, classes, len(own)))
            for _ in range(DRAWS)])
        mark = " (200 or more)" if len(own) >= LEAST_SEGMENTS else ""
        print(f"| {d['class_names'][c]} | {len(own)}{mark} | {ratio:.3f} |")


def main():
    lapis, bench = "build/lapis", "build/bench/bench_regions"
    stride = sys.argv[1] if len(sys.argv) > 1 else "1"
    options = sys.argv[2:] or [
        "--variant", "pos", "--map", "scale:auto,scale:10", "--mu-rel", "0.002"]
    data = os.environ["LAPIS_DATA"] + "/msrc_v2"
    d = np.load(data + "/msrc_v2.npz")
    print("fit mc " + " ".join(options), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        fold_fits(lapis, options, d, folder)
        subprocess.run([bench, data, folder, folder + "/truth.npz",
                        stride],
                       check=True)
    print()
    ratios(d)


if __name__ == "__main__":
    main()
