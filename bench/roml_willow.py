"""Willow ducks: photographs of one class, matched by lapis fit roml and by three
that know less.

    LAPIS_DATA=FOLDER /usr/bin/python3 bench/roml_willow.py [LAPIS [DRAWS]]

A draw: K images; in each the 10 labelled keypoints and a number of others,
uniform in 0 .. `most`, of the (up to 60) interest points found on it, shuffled.
Descriptors are SIFT to unit length, positions pixels.  Match ratio, in order:

    roml         --map embed, defaults: is told nothing but n = 10
    roml sync    the same embedding, permutation synchronisation alone
    sync         permutation synchronisation of the descriptors
    nearest *    of each keypoint, among all candidates of the other image
    pairwise *   assignment of the 10 keypoints to those candidates

* is told which candidates of one image are keypoints.  Mean and deviation over
draws, which are the same for all.  With most = 0 all five only order the ten.
"""
import os
import sys

import numpy as np
from scipy.optimize import linear_sum_assignment

from roml_common import fit, identified

N_KEYPOINTS = 10


def draw(duck, K, most, seed):
    r = np.random.default_rng(seed)
    rows, group, truth = [], [], np.empty((K, N_KEYPOINTS), np.int64)
    for k, image in enumerate(r.permutation(50)[:K]):
        mine = np.flatnonzero(duck["cand_image"] == image)
        label = duck["cand_id"][mine]
        others = r.permutation(mine[label < 0])
        others = others[:r.integers(0, most + 1)]
        chosen = r.permutation(np.concatenate([mine[label >= 0], others]))
        ids = duck["cand_id"][chosen]
        for place in np.flatnonzero(ids >= 0):
            truth[k, ids[place]] = len(rows) + place
        rows += list(chosen)
        group += [k] * len(chosen)
    X = duck["cand_sift"][rows].astype(float)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, duck["cand_xy"][rows].astype(float), np.array(group), truth


def rivals(X, group, truth):
    K, right = len(truth), np.zeros(2)
    of = [np.flatnonzero(group == k) for k in range(K)]
    for a in range(K):
        for b in range(K):
            if a == b:
                continue
            likeness = X[truth[a]] @ X[of[b]].T
            for i, j in enumerate((likeness.argmax(1),
                                   linear_sum_assignment(-likeness)[1])):
                right[i] += np.mean(of[b][j] == truth[b])
    return right / (K * (K - 1))


def one(lapis, duck, K, most, seed):
    X, xy, group, truth = draw(duck, K, most, seed)
    members = {"X": X, "xy": xy, "group": group}
    alone = ("--start", "sync", "--max-iters", "0")
    mine = [identified(lapis, truth,
                       fit(lapis, members, N_KEYPOINTS, *options)[1])[0]
            for options in (("--map", "embed"), ("--map", "embed", *alone),
                            alone)]
    return np.concatenate([mine, rivals(X, group, truth)])


def main():
    lapis = sys.argv[1] if len(sys.argv) > 1 else "build/lapis"
    draws = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    duck = np.load(os.environ["LAPIS_DATA"] + "/willow_duck/duck.npz")
    duck = {name: duck[name] for name in duck.files}
    print("| images | others | draws | roml | roml sync | sync | nearest * "
          "| pairwise * |\n" + "| --- " * 8 + "|")
    for K, most in ((15, 60), (25, 60), (50, 60), (15, 0), (50, 0)):
        got = np.array([one(lapis, duck, K, most, s) for s in range(draws)])
        cells = [f"{m:.3f} +- {d:.3f}"
                 for m, d in zip(got.mean(0), got.std(0, ddof=1))]
        print(f"| {K} | 0-{most} | {draws} | " + " | ".join(cells) + " |",
              flush=True)


if __name__ == "__main__":
    main()
