"""Recovery of lapis fit roml on data like [ROML16]'s, printed as tables.

    /usr/bin/python3 bench/roml_figures.py WHAT [LAPIS [TRIALS]]

fig1b   Fig. 1b: K = 30, d = 50, n = 10, outliers 0 .. 40, error ratios 0 .. .8;
        mean identification ratio of 5 trials a cell
few     (K, n_k, n) = (10, 100, 10), ratio .2, 20 trials, beside permutation
        synchronisation on the same data
region  one common region (n = 1) among 100 candidates in 40 images, 5 trials
table4  Table 4 in kind: 15 frames of CMU hotel (LAPIS_DATA), shuffled; 1, 3, 5
        points of each frame replaced by wrong ones; plain with the wrong ones 75
        to 115 px away, --robust with them anywhere in the object's box more than
        100 px away; identification ratio of the points left
"""
import os
import sys

import numpy as np

from roml_common import draw, fit, identified

OUTLIERS, RATIOS = range(0, 41, 4), [i / 10 for i in range(9)]


def recovery(lapis, K, each, n, ratio, seed, *options):
    X, group, truth = draw(K, each, n, ratio, seed)
    return identified(lapis, truth, fit(lapis, {"X": X, "group": group}, n,
                                        *options)[1])[1]


def header(*cells):
    print("| " + " | ".join(str(c) for c in cells) + " |")
    print("| --- " * len(cells) + "|", flush=True)


def fig1b(lapis, trials):
    header("outliers", *RATIOS)
    cells = np.zeros((len(OUTLIERS), len(RATIOS)))
    for i, outliers in enumerate(OUTLIERS):
        for j, ratio in enumerate(RATIOS):
            cells[i, j] = np.mean(
                [recovery(lapis, 30, 10 + outliers, 10, ratio,
                          10000 * i + 100 * j + t) for t in range(trials)])
        print(f"| {outliers} | " + " | ".join(f"{c:.3f}" for c in cells[i])
              + " |", flush=True)
    print("mean    | " + " | ".join(f"{c:.3f}" for c in cells.mean(0)) + " |")


def few(lapis, trials):
    header("trials", "roml", "least", "synchronisation", "least")
    alone = ("--start", "sync", "--max-iters", "0")
    got = np.array([[recovery(lapis, 10, 100, 10, 0.2, seed, *options)
                     for options in ((), alone)] for seed in range(trials)])
    print(f"| {trials} | " + " | ".join(
        f"{v.mean():.3f} +- {v.std(ddof=1):.3f} | {v.min():.3f}"
        for v in got.T) + " |")


def region(lapis, trials):
    header("ratio", "trials", "recovery")
    for ratio in (0.3, 0.6):
        got = [recovery(lapis, 40, 100, 1, ratio, s) for s in range(trials)]
        print(f"| {ratio} | {trials} | {np.mean(got):.3f} |", flush=True)


def wrong_point(r, xy, i, low, high):
    """A point low to high px from point i, or in the box of all, low away."""
    if np.isfinite(high):
        turn, far = r.uniform(0, 2 * np.pi), r.uniform(low, high)
        return xy[i] + far * np.array([np.cos(turn), np.sin(turn)])
    while True:
        at = r.uniform(xy.min(0), xy.max(0))
        if np.hypot(*(at - xy[i])) > low:
            return at


def hotel(frames, wrong, low, high, seed):
    r = np.random.default_rng(seed)
    X, truth = [], np.empty((15, 30), np.int64)
    for k, frame in enumerate(r.permutation(15)):
        xy = frames[7 * frame].astype(float)
        changed = r.permutation(30)[:wrong]
        F = xy.copy()
        for i in changed:
            F[i] = wrong_point(r, xy, i, low, high)
        order = r.permutation(30)
        X.append(F[order])
        truth[k] = k * 30 + np.argsort(order)
        truth[k, changed] = -1
    return np.concatenate(X), np.repeat(np.arange(15), 30), truth


def table4(lapis, trials):
    folder = os.environ["LAPIS_DATA"]
    frames = np.load(folder + "/cmu_hotel/hotel.npz")["xy"]
    header("wrong points", "trials", "75-115 px, plain",
           "anywhere > 100 px, --robust")
    points = ("--layout", "coordinates")
    for wrong in (0, 1, 3, 5):
        means = []
        for far, options in (((75, 115), ()), ((100, np.inf), ("--robust",))):
            got = []
            for seed in range(trials):
                X, group, truth = hotel(frames, wrong, *far, seed)
                match = fit(lapis, {"X": X, "group": group}, 30, *points,
                            *options)[1]
                got.append(identified(lapis, truth, match)[1])
            means.append(f"{np.mean(got):.3f}")
        print(f"| {wrong} | {trials} | " + " | ".join(means) + " |",
              flush=True)


def main():
    what = {"fig1b": (fig1b, 5), "few": (few, 20), "region": (region, 5),
            "table4": (table4, 5)}
    if len(sys.argv) < 2 or sys.argv[1] not in what:
        sys.exit(__doc__)
    lapis = sys.argv[2] if len(sys.argv) > 2 else "build/lapis"
    run, trials = what[sys.argv[1]]
    run(lapis, int(sys.argv[3]) if len(sys.argv) > 3 else trials)


main()
