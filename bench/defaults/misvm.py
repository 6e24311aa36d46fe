"""Musk1 and elephant: bag accuracy by 10 folds over bags.

    bench/defaults/misvm.py LAPIS DATA [SETTING...]

LAPIS is the command, DATA the folder with mil/.  No privileged features come
with these sets: the second half of the columns plays that part (training
only), beside mi-SVM on the first half alone and on all columns.  A bag is
positive when its largest instance score is above 0, or above the threshold
that `--threshold auto` finds on folds of the nine other folds alone; C and
gamma are 1 there, features standardised, seed 0.  "open": nothing is stated, and C,
kernel and threshold are chosen on folds of the nine other folds alone.  SETTINGs
(--width 3) go to all fits.
Seconds are processor time of all fits.
"""
import os
import resource
import subprocess
import sys
import tempfile

import numpy as np


def used():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def fold_right(lapis, folder, train, test, privileged, settings):
    parts = {"X": train[0], "Y": train[1], "group": train[2]}
    if privileged is not None:
        parts["P"] = privileged
    np.savez(os.path.join(folder, "train.npz"), **parts)
    np.savez(os.path.join(folder, "test.npz"), X=test[0], group=test[2])
    model, out = (os.path.join(folder, n) for n in ("m.lapis", "out.npz"))
    subprocess.run([lapis, "fit", "misvm", os.path.join(folder, "train.npz"),
                    "-q", "--threads", "1", "--model", model, *settings],
                   check=True, capture_output=True)
    subprocess.run([lapis, "predict", model, os.path.join(folder, "test.npz"),
                    "-o", out], check=True, capture_output=True)
    answer = np.load(out)
    truth = {g: y for g, y in zip(test[2], test[1])}
    labels = answer["bag_labels"].ravel()
    return [(int(y == truth[int(g)]), int(y > 0))
            for g, y in zip(answer["bags"].ravel(), labels)]


def main():
    lapis, data = sys.argv[1], sys.argv[2]
    for name in ("musk1", "elephant"):
        z = np.load(os.path.join(data, "mil", name + ".npz"))
        x, bag = z["x"].astype(float), z["bag"].astype(np.int64)
        y = z["bag_label"].astype(float)[bag]
        half = x.shape[1] // 2
        fold_of = np.arange(bag.max() + 1) % 10
        np.random.default_rng(0).shuffle(fold_of)
        for what, columns, priv in (("all columns", slice(None), None),
                                    ("first half", slice(half), None),
                                    ("first half + privileged half",
                                     slice(half), slice(half, None))):
            stated = ["--C", "1", "--map", "standard"] + (
                [] if priv is None else ["--map-priv", "standard"])
            for threshold, how in (
                    ("fixed", stated + ["--threshold", "fixed"]),
                    ("auto", stated + ["--threshold", "auto"]), ("open", [])):
                right, begin = [], used()
                for k in range(10):
                    out = fold_of[bag] == k
                    with tempfile.TemporaryDirectory() as folder:
                        right += fold_right(
                            lapis, folder,
                            (x[~out, columns], y[~out], bag[~out]),
                            (x[out, columns], y[out], bag[out]),
                            None if priv is None else x[~out, priv],
                            [*how, *sys.argv[3:]])
                told, positive = 100 * np.mean(right, axis=0)
                print(f"{name:9s} mi-SVM, {what:30s} {threshold:6s}"
                      f"{told:.1f} % of {len(right)} bags, {positive:.0f} % "
                      f"called positive, {used() - begin:.1f} s", flush=True)


if __name__ == "__main__":
    main()
