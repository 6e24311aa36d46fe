"""Several objects in every image, and images that come later: lapis fit roml
--instances auto, and lapis predict with its model.

    /usr/bin/python3 bench/matching/roml_instances.py WHAT [LAPIS [DRAWS]]

chance   how far an object's set is below chance, and a set of unrelated features:
         the draws (seeds from 0) on which the limit of .94 was chosen
photos   the same of photographs, SIFT, with and without a common object
         (LAPIS_DATA: hotel, MSRC, ducks); seen when the limit was chosen
found    1 to 3 objects of 10 features each in 40 images, other seeds (from 100):
         how often the number is right, and the identification ratio of their
         features; with positions, of each object by itself
absent   a model of 3 objects asked for new images in which one is not there
hotel    80 frames of the CMU hotel learnt (LAPIS_DATA), 31 predicted
"""
import glob
import os
import sys
import tempfile

import numpy as np

from roml_common import D, command, fit, identified

IMAGES, EACH = 40, 10


def scene(r, objects, others, ratio, things=None, K=IMAGES, n=EACH):
    """Objects of n features each, placed and turned by chance in every image,
    among others.  X, group, xy, truth (K x objects n rows of X), the objects."""
    count, sizes = objects * n, int(ratio * D + 0.5)
    if things is None:
        things = (r.standard_normal((count, D)),
                  r.uniform(-50, 50, (count, 2)))
    X, at, truth = [], [], np.empty((K, count), np.int64)
    for k in range(K):
        F = np.concatenate([things[0], r.standard_normal((others, D))])
        spoilt = np.argsort(r.random(F.shape), 1)[:, :sizes]
        most = np.abs(F).max(1, keepdims=True)
        old = np.take_along_axis(F, spoilt, 1)
        np.put_along_axis(F, spoilt,
                          old + r.uniform(-1, 1, old.shape) * most, 1)
        xy = r.uniform(0, (640, 480), (count + others, 2))
        for m in range(objects):
            turn, size = r.uniform(-0.5, 0.5), r.uniform(0.8, 1.25)
            c, s = size * np.cos(turn), size * np.sin(turn)
            mine = slice(m * n, (m + 1) * n)
            xy[mine] = things[1][mine] @ [[c, s], [-s, c]] \
                + r.uniform((80, 80), (560, 400)) + r.normal(size=(n, 2))
        order = r.permutation(count + others)
        X.append(F[order])
        at.append(xy[order])
        truth[k] = k * len(F) + np.argsort(order)[:count]
    each = count + others
    return (np.concatenate(X), np.repeat(np.arange(K), each),
            np.concatenate(at), truth, things)


def header(*cells):
    print("| " + " | ".join(str(c) for c in cells) + " |")
    print("| --- " * len(cells) + "|", flush=True)


def shares(lapis, members, n):
    """Of each set that was looked at, the last one refused or not."""
    try:
        info, out = fit(lapis, members, n, "--instances", "auto", arrays=True)
        return list(out["chance"].ravel())
    except RuntimeError as refused:
        said = str(refused)
        return [float(said.split("cost ")[1].split()[0])]


def chance(lapis, draws):
    header("images", "features", "errors", "of an object, largest",
           "of none, least")
    cases = [(40, 10, 2, 20), (10, 10, 2, 20), (5, 10, 1, 20), (40, 1, 2, 20),
             (40, 3, 2, 20)]
    for K, n, objects, others in cases:
        for ratio in (0.2, 0.4, 0.6, 0.8):
            got = []
            for seed in range(draws):
                X, group, _, _, _ = scene(np.random.default_rng(seed), objects,
                                          others, ratio, K=K, n=n)
                got.append(shares(lapis, {"X": X, "group": group}, n))
            with_, without = [], []
            for g in got:
                with_ += g[:objects]
                without += g[objects:objects + 1]
            least = f"{min(without):.3f}" if without else "-"
            print(f"| {K} | {n} | {ratio} | {max(with_):.3f} | {least} |",
                  flush=True)


def keypoints(lapis, paths):
    with tempfile.TemporaryDirectory() as folder:
        command(lapis, "features", "sift", *paths, "--most", "60", "-q", "-o",
                folder + "/p.npz")
        found = np.load(folder + "/p.npz")
        return {"X": found["X"].astype(float), "group": found["group"]}


def photos(lapis, draws):
    data = os.environ["LAPIS_DATA"]
    hotel = sorted(glob.glob(data + "/cmu_hotel/images/*.png"))
    msrc = sorted(glob.glob(data + "/msrc_v2/images_half/*"))
    duck = np.load(data + "/willow_duck/duck.npz")
    header("photographs", "n", "share of chance")

    def tell(name, members, *sizes):
        for n in sizes:
            if np.unique(members["group"], return_counts=True)[1].min() >= n:
                print(f"| {name} | {n} | "
                      f"{shares(lapis, members, n)[0]:.3f} |", flush=True)

    tell("hotel, 15 frames, every 7th", keypoints(lapis, hotel[::7]), 5, 30)
    tell("hotel, 6 frames, every 20th", keypoints(lapis, hotel[::20]), 5, 30)
    tell("one frame four times", keypoints(lapis, hotel[:1] * 4), 5, 50)
    for seed in range(draws):
        r = np.random.default_rng(seed)
        count = (5, 8, 15)[seed % 3]
        paths = [msrc[i] for i in r.permutation(len(msrc))[:count]]
        tell(f"MSRC, {count} unrelated", keypoints(lapis, paths), 5, 30)
    for name, kept in (("ducks, 40, all points", duck["cand_image"] < 40),
                       ("ducks, 40, keypoints", (duck["cand_image"] < 40)
                        & (duck["cand_id"] >= 0))):
        tell(name, {"X": duck["cand_sift"][kept].astype(float),
                    "group": duck["cand_image"][kept]}, 5, 10)


def of_objects(lapis, truth, match, instance):
    """Identification of each object by the instance that has most of it."""
    objects = truth.shape[1] // EACH
    least = 1.0
    for m in range(objects):
        mine = truth[:, m * EACH:(m + 1) * EACH]
        least = min(least, max(
            identified(lapis, mine, match[:, instance == i])[1]
            for i in np.unique(instance)))
    return least


def found(lapis, draws):
    header("objects", "others", "errors", "number right", "recovery",
           "least", "of its object", "least")
    for objects in (1, 2, 3):
        for share in (0.2, 0.4):
            for ratio in (0.2, 0.4):
                others = round(share / (1 - share) * objects * EACH) + EACH
                right, got, apart = 0, [], []
                for seed in range(100, 100 + draws):
                    r = np.random.default_rng(seed)
                    X, group, xy, truth, _ = scene(r, objects, others, ratio)
                    _, out = fit(lapis, {"X": X, "group": group, "xy": xy},
                                 EACH, "--instances", "auto", arrays=True)
                    right += out["instance"].max() == objects
                    got.append(identified(lapis, truth, out["match"])[1])
                    apart.append(of_objects(lapis, truth, out["match"],
                                            out["instance"].ravel()))
                print(f"| {objects} | {others} | {ratio} | {right} of {draws} "
                      f"| {np.mean(got):.3f} | {min(got):.3f} "
                      f"| {np.mean(apart):.3f} | {min(apart):.3f} |",
                      flush=True)


def predict(lapis, learnt, later, n, *options):
    with tempfile.TemporaryDirectory() as folder:
        np.savez(folder + "/d.npz", **learnt)
        np.savez(folder + "/new.npz", **later)
        command(lapis, "fit", "roml", folder + "/d.npz", "--inliers", str(n),
                "-q", "-o", folder + "/o.npz", "--model", folder + "/m.lapis",
                *options)
        command(lapis, "predict", folder + "/m.lapis", folder + "/new.npz",
                "-q", "-o", folder + "/p.npz")
        return dict(np.load(folder + "/o.npz")), dict(
            np.load(folder + "/p.npz"))


def absent(lapis, draws):
    header("errors", "draws", "right slots of objects there",
           "slots taken of the one that is not")
    for ratio in (0.2, 0.4):
        there, taken = [], []
        for seed in range(100, 100 + draws):
            r = np.random.default_rng(seed)
            X, group, xy, truth, things = scene(r, 3, 20, ratio)
            less = tuple(t[:2 * EACH] for t in things)
            X2, group2, _, truth2, _ = scene(r, 2, 30, ratio, less, K=20)
            out, new = predict(lapis, {"X": X, "group": group, "xy": xy},
                               {"X": X2, "group": group2}, EACH,
                               "--instances", "3")
            slot = {row: j for j, row in enumerate(out["match"][0])}
            order = [slot.get(row, -1) for row in truth[0]]
            hits = [np.mean(new["match"][:, j] == truth2[:, i]) if j >= 0
                    else 0 for i, j in enumerate(order[:2 * EACH])]
            there.append(np.mean(hits))
            gone = [j for j in order[2 * EACH:] if j >= 0]
            taken.append(np.mean(new["match"][:, gone] >= 0))
        print(f"| {ratio} | {draws} | {np.mean(there):.3f} "
              f"| {np.mean(taken):.3f} |", flush=True)


def shuffled(r, frames):
    X, truth = [], []
    for k, frame in enumerate(frames):
        order = r.permutation(len(frame))
        X.append(frame[order].astype(float))
        truth.append(k * len(frame) + np.argsort(order))
    return (np.concatenate(X), np.repeat(np.arange(len(frames)),
                                         len(frames[0])), np.array(truth))


def hotel(lapis, draws):
    frames = np.load(os.environ["LAPIS_DATA"] + "/cmu_hotel/hotel.npz")["xy"]
    header("features", "learnt", "predicted", "shuffles", "match ratio learnt",
           "predicted", "least")
    parts = (("first 80", np.arange(80), np.arange(70, 101)),
             ("first 70", np.arange(70), np.arange(70, 101)),
             ("80 by chance", None, None))
    for name, known, later in parts:
        first, second = [], []
        for seed in range(draws):
            r = np.random.default_rng(seed)
            if known is None or name.startswith("80"):
                order = r.permutation(101)
                known, later = order[:80], np.concatenate(
                    [order[80:], r.permutation(order[:80])[:10]])
            X, group, truth = shuffled(r, frames[known])
            X2, group2, truth2 = shuffled(r, frames[later])
            out, new = predict(lapis, {"X": X, "group": group},
                               {"X": X2, "group": group2}, 30, "--layout",
                               "coordinates")
            slot = {row: j for j, row in enumerate(out["match"][0])}
            order = [slot[row] for row in truth[0]]
            first.append(np.mean(out["match"][:, order] == truth))
            second.append(np.mean(new["match"][:, order] == truth2))
        print(f"| points | {name} | {len(later)} | {draws} "
              f"| {np.mean(first):.4f} | {np.mean(second):.4f} "
              f"| {min(second):.4f} |", flush=True)


def main():
    what = {"chance": (chance, 10), "photos": (photos, 6), "found": (found, 20),
            "absent": (absent, 5), "hotel": (hotel, 3)}
    if len(sys.argv) < 2 or sys.argv[1] not in what:
        sys.exit(__doc__)
    lapis = sys.argv[2] if len(sys.argv) > 2 else "build/lapis"
    run, draws = what[sys.argv[1]]
    run(lapis, int(sys.argv[3]) if len(sys.argv) > 3 else draws)


main()
