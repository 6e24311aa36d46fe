"""lapis match on image files: CMU hotel frames and Willow ducks.

    LAPIS_DATA=FOLDER /usr/bin/python3 bench/matching/match_images.py [LAPIS]

What lapis match finds are keypoints, not the labelled landmarks.  A match of
two images is right when the landmarks carry the point of the one to within a
tolerance of the point of the other: an affine map is fitted to the six
landmarks nearest to the point, nearer ones weighing more.  Tolerance: 10 pixels
on the 512-pixel hotel frames (15 of them, every 7th), a tenth of the
landmarks' larger side on a duck; a point farther than that from every
landmark's bounding box is not on the duck, and its match wrong.  Chance: the
slots of every image shuffled.

Then the landmarks themselves are given (--xy), in every image in another order:
right are two that are one landmark.
"""
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

NEAREST = 6


def carry(a, b, p):
    """Where landmarks a -> b (m x 2) take the point p."""
    far = np.hypot(*(a - p).T)
    near = np.argsort(far)[:NEAREST]
    weight = 1 / (far[near] + 5)
    left = np.c_[a[near], np.ones(NEAREST)] * weight[:, None]
    map_, *_ = np.linalg.lstsq(left, b[near] * weight[:, None], rcond=None)
    return np.r_[p, 1] @ map_


def right(result, marks, tolerance, bounded):
    """Share of pairs of sure points that are right."""
    match, sure, xy = result["match"], result["inlier"], result["xy"][:, :2]
    good = pairs = 0
    for a in range(len(match)):
        low, high = marks[a].min(0) - tolerance[a], marks[a].max(0) + tolerance[a]
        for slot in np.flatnonzero(sure[a]):
            p = xy[match[a, slot]]
            inside = not bounded or ((p >= low) & (p <= high)).all()
            for b in np.flatnonzero(sure[:, slot]):
                if a == b:
                    continue
                q = carry(marks[a], marks[b], p)
                pairs += 1
                good += inside and (np.hypot(*(q - xy[match[b, slot]]))
                                    < tolerance[b])
    return good / max(pairs, 1), pairs


def match(lapis, images, cache, *options):
    result = cache + "/r.npz"
    subprocess.run([lapis, "match", *images, "--result", result, "-q",
                    "--cache", cache, *options],
                   check=True, stdout=subprocess.DEVNULL)
    with np.load(result) as r:
        return {name: r[name] for name in r.files}


def shuffled(result):
    random = np.random.default_rng(0)
    order = [random.permutation(result["match"].shape[1])
             for _ in result["match"]]
    return {**result, **{name: np.array([row[o] for row, o in
                                         zip(result[name], order)])
                         for name in ("match", "inlier")}}


def rows(lapis, title, images, marks, tolerance, bounded, runs):
    with tempfile.TemporaryDirectory() as cache:
        for options in runs:
            r = match(lapis, images, cache, *options)
            share, pairs = right(r, marks, tolerance, bounded)
            chance, _ = right(shuffled(r), marks, tolerance, bounded)
            print(f"| {title} | {' '.join(options) or 'defaults'} "
                  f"| {r['match'].shape[1]} | {1 - np.mean(r['inlier']):.3f} "
                  f"| {share:.3f} | {chance:.3f} | {pairs} |", flush=True)


def same(result, landmark):
    """Share of pairs of sure points that are one landmark."""
    of, sure = landmark[result["match"]], result["inlier"] > 0
    pairs = good = 0
    for slot in range(of.shape[1]):
        found = of[sure[:, slot], slot]
        pairs += len(found) * (len(found) - 1)
        good += sum(np.sum(found == one) - 1 for one in found)
    return good / max(pairs, 1), pairs


def landmark_rows(lapis, title, images, marks, runs):
    random = np.random.default_rng(0)
    order = [random.permutation(len(m)) for m in marks]
    # one is labelled a pixel below its picture
    marks = [m.clip(0, np.array(Image.open(name).size) - 1)
             for name, m in zip(images, marks)]
    with tempfile.TemporaryDirectory() as cache:
        with open(cache + "/xy.csv", "w") as f:
            f.writelines(f"{name},{x},{y}\n"
                         for name, m, o in zip(images, marks, order)
                         for x, y in m[o])
        for options in runs:
            r = match(lapis, images, cache, "--xy", cache + "/xy.csv",
                      "--inliers", str(len(marks[0])), *options)
            share, pairs = same(r, np.concatenate(order))
            chance, _ = same(shuffled(r), np.concatenate(order))
            print(f"| {title} | {' '.join(('--xy F.csv', *options))} "
                  f"| {r['match'].shape[1]} | {1 - np.mean(r['inlier']):.3f} "
                  f"| {share:.3f} | {chance:.3f} | {pairs} |", flush=True)


def main():
    lapis = sys.argv[1] if len(sys.argv) > 1 else "build/lapis"
    folder = os.environ["LAPIS_DATA"]
    print("| images | options | inliers | doubtful | right | chance | pairs |\n"
          + "| --- " * 7 + "|")
    frames = range(0, 99, 7)
    xy = np.load(folder + "/cmu_hotel/hotel.npz")["xy"]
    images = [f"{folder}/cmu_hotel/images/hotel{k:03d}.png" for k in frames]
    rows(lapis, "15 hotel frames", images, [xy[k] for k in frames],
         [10] * len(frames), False,
         ((), ("--inliers", "10"), ("--inliers", "30"),
          ("--inliers", "30", "--points", "100"), ("--map", "embed", "--inliers", "30")))
    landmark_rows(lapis, "15 hotel frames, 30 landmarks", images,
                  [xy[k] for k in frames],
                  ((), ("--map", "embed"), ("--map", "positions")))
    duck = np.load(folder + "/willow_duck/duck.npz")
    images = sorted(glob.glob(folder + "/willow_duck/images/*.png"))[:15]
    number = {os.path.splitext(str(n))[0]: i for i, n in enumerate(duck["names"])}
    marks = [duck["keypoints"][number[os.path.splitext(os.path.basename(n))[0]]]
             - 1 for n in images]
    rows(lapis, "15 ducks", images, marks,
         [0.1 * np.ptp(m, axis=0).max() for m in marks], True,
         (("--inliers", "10"), ("--inliers", "10", "--map", "embed")))
    for start, step in ((3, 7), (0, 1), (40, 1), (0, 20)):
        frames = range(start, 100, step)[:15]
        rows(lapis, f"{len(frames)} hotel frames from {start}, step {step}",
             [f"{folder}/cmu_hotel/images/hotel{k:03d}.png" for k in frames],
             [xy[k] for k in frames], [10] * len(frames), False, ((),))
    landmark_rows(lapis, "15 ducks, 10 landmarks", images, marks,
                  ((), ("--map", "embed"), ("--map", "positions")))


main()
