"""Points of images that are shifted, scaled or turned: does --invariance auto
choose right?

    LAPIS_DATA=FOLDER /usr/bin/python3 bench/matching/roml_invariance.py
        [LAPIS [FROM [TO]]]

Seeds FROM to TO - 1 of three kinds of sets, each with its images left alone,
shifted, shifted and scaled, shifted and turned, or all of it: points in space
seen by 6 or 10 cameras (8 or 12 of them, noise of 0 or 3 % of their size, in
half of the draws also up to 3 points of clutter an image); CMU hotel (every 7th
frame, 30 landmarks); Willow ducks (15 photographs, 10 landmarks).  All points
are shuffled.  Match ratio of `none`, of `auto`, of the kind that is true, told;
and of the best of the five, which auto is right when it is within .01 of.
"""
import os
import sys

import numpy as np

from roml_common import fit, identified

KINDS = ("none", "shift", "scale", "rotation", "similarity")


def shuffle(images, n, r):
    """truth: of each image the rows of its first n points."""
    out, truth, at = [], [], 0
    for x in images:
        order = r.permutation(len(x))
        out.append(x[order])
        truth.append(at + np.argsort(order)[:n])
        at += len(x)
    return out, np.array(truth)


def made(r):
    K, n = r.choice([6, 10]), r.choice([8, 12])
    noise, clutter = r.choice([0, .03]), r.choice([0, 3])
    thing, images = r.standard_normal((n, 3)), []
    for _ in range(K):
        A = np.array([[1, 0, 0], [0, 1, 0.]])
        A = A + .3 * r.standard_normal((2, 3)) * [.3, .3, 1]
        x = thing @ A.T + noise * r.standard_normal((n, 2))
        more = r.standard_normal((r.integers(0, clutter + 1), 2))
        images.append(100 * np.concatenate([x, more]))
    return images, n


def hotel(r):
    xy = np.load(os.environ["LAPIS_DATA"] + "/cmu_hotel/hotel.npz")["xy"]
    return [xy[k] for k in range(r.integers(0, 8), 100, 7)], 30


def ducks(r):
    duck = np.load(os.environ["LAPIS_DATA"] + "/willow_duck/duck.npz")
    return [duck["keypoints"][k] for k in r.permutation(50)[:15]], 10


def move(images, kind, r):
    size = np.mean([x.std() for x in images])
    out = []
    for x in images:
        turn = r.uniform(0, 2 * np.pi) * (kind in ("rotation", "similarity"))
        scale = np.exp(r.uniform(-.7, .7) * (kind in ("scale", "similarity")))
        shift = r.uniform(-3, 3, 2) * size * (kind != "none")
        c, s = np.cos(turn), np.sin(turn)
        out.append(scale * (x - x.mean(0)) @ [[c, s], [-s, c]] + x.mean(0)
                   + shift)
    return out


def ratios(lapis, draw, kind, seed):
    r = np.random.default_rng(seed)
    images, n = draw(r)
    images, truth = shuffle(move(images, kind, r), n, r)
    members = {"X": np.concatenate(images),
               "group": np.repeat(np.arange(len(images)),
                                  [len(x) for x in images])}
    return [identified(lapis, truth,
                       fit(lapis, members, n, "--layout", "coordinates",
                           "--invariance", word)[1])[0]
            for word in ("auto", *KINDS)]


def main():
    lapis = sys.argv[1] if len(sys.argv) > 1 else "build/lapis"
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    last = int(sys.argv[3]) if len(sys.argv) > 3 else first + 10
    print("| points | images differ by | draws | none | told | auto | best "
          "| auto right |\n" + "| --- " * 8 + "|")
    for draw in (made, hotel, ducks):
        for kind in KINDS:
            got = np.array([ratios(lapis, draw, kind, seed)
                            for seed in range(first, last)])
            best = got.max(1)
            cells = (got[:, 1], got[:, 1 + KINDS.index(kind)], got[:, 0], best)
            print(f"| {draw.__name__} | {kind} | {len(got)} | "
                  + " | ".join(f"{c.mean():.3f}" for c in cells)
                  + f" | {np.sum(got[:, 0] >= best - .01)} of {len(got)} |",
                  flush=True)


if __name__ == "__main__":
    main()
