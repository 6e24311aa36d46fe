"""Which end of an iteration is better, asked without the truth?

    LAPIS_DATA=FOLDER /usr/bin/python3 bench/roml_criteria.py [LAPIS [DRAWS [K]]]

K photographs of ducks with up to 60 other points, --map embed, seeds from 200.
Four answers of a draw: the seeded start and its end, synchronisation and its
end.  Of every criterion: how often it prefers, of a start and its end, the one
with the higher match ratio, and the match ratio of what it prefers of all four.

    objective   |D|_*, which the method itself goes by
    slots       sum of |D_j|_* over slots
    likeness    mean cosine of a slot's features with their mean
    sift        the same of the descriptors that the embedding was made of
    layout      residual of the points of an image about those of all, each moved
                and scaled onto their mean
    sift-pairs  share of matches of two images that are each other's nearest SIFT
                among all points
"""
import os
import sys

import numpy as np

from roml_common import fit, identified
from roml_willow import N_KEYPOINTS, draw

OPTIONS = {"seeded": ("--max-iters", "0"), "end": (),
           "sync": ("--start", "sync", "--max-iters", "0"),
           "sync end": ("--start", "sync")}


def likeness(D):
    """D: images x slots x d."""
    D = D / np.maximum(np.linalg.norm(D, axis=2, keepdims=True), 1e-300)
    return np.linalg.norm(D.mean(0), axis=1).mean()


def layout(xy):
    """xy: images x slots x 2."""
    xy = xy - xy.mean(1, keepdims=True)
    xy = xy / np.sqrt((xy ** 2).sum((1, 2), keepdims=True))
    return -((xy - xy.mean(0)) ** 2).sum() / len(xy)


def nearest_pairs(X, group, match):
    images = [np.flatnonzero(group == k) for k in range(len(match))]
    right = count = 0
    for a in range(len(match)):
        for b in range(a):
            S = X[images[a]] @ X[images[b]].T
            i, j = match[a] - images[a][0], match[b] - images[b][0]
            right += np.sum((S.argmax(1)[i] == j) & (S.argmax(0)[j] == i))
            count += len(i)
    return right / count


def judge(X, xy, group, info, out):
    """Of every criterion: larger is better."""
    D, match = out["low_rank"] + out["sparse"], out["match"]
    return {"objective": -info["info"]["objective"],
            "slots": -sum(np.linalg.svd(D[:, j], compute_uv=False).sum()
                          for j in range(D.shape[1])),
            "likeness": likeness(D), "sift": likeness(X[match]),
            "layout": layout(xy[match]),
            "sift-pairs": nearest_pairs(X, group, match)}


def main():
    lapis = sys.argv[1] if len(sys.argv) > 1 else "build/lapis"
    draws = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    K = int(sys.argv[3]) if len(sys.argv) > 3 else 25
    duck = np.load(os.environ["LAPIS_DATA"] + "/willow_duck/duck.npz")
    duck = {name: duck[name] for name in duck.files}
    truth, says = [], []
    for seed in range(200, 200 + draws):
        X, xy, group, right = draw(duck, K, 60, seed)
        members = {"X": X, "xy": xy, "group": group}
        of, by = {}, {}
        for name, options in OPTIONS.items():
            info, out = fit(lapis, members, N_KEYPOINTS, "--map", "embed",
                            *options, arrays=True)
            of[name] = identified(lapis, right, out["match"])[0]
            by[name] = judge(X, xy, group, info, out)
        truth.append(of)
        says.append(by)
        print(seed, " ".join(f"{n} {v:.3f}" for n, v in of.items()),
              file=sys.stderr, flush=True)
    means = {n: np.mean([t[n] for t in truth]) for n in OPTIONS}
    print(f"{K} images, {draws} draws: " + ", ".join(
        f"{n} {m:.3f}" for n, m in means.items())
        + f", the best of each draw "
        f"{np.mean([max(t.values()) for t in truth]):.3f}\n")
    print("| criterion | agrees with the truth | match ratio of its choice |\n"
          "| --- | --- | --- |")
    pairs = (("seeded", "end"), ("sync", "sync end"))
    for c in says[0]["end"]:
        agreed = [(by[a][c] > by[b][c]) == (t[a] > t[b])
                  for t, by in zip(truth, says) for a, b in pairs
                  if t[a] != t[b]]
        chosen = np.mean([t[max(by, key=lambda n: by[n][c])]
                          for t, by in zip(truth, says)])
        print(f"| {c} | {sum(agreed)} of {len(agreed)} | {chosen:.3f} |")


main()
