"""match_first.py [LAPIS]: points of one picture that lapis match --first finds
in the others, as a table.  LAPIS_DATA names the folder of the data.

Frames of the CMU hotel: the 30 landmarks, right within 10 pixels of 512 x 480.
Warped: ten photographs of MSRC v2, each moved, turned by up to 6 degrees,
scaled by up to 12 %, slanted and made brighter or darker in five ways; 12 points
of each at random, at least 30 pixels inside; right within 10 pixels of 320 x 213.
"""
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

LAPIS = sys.argv[1] if len(sys.argv) > 1 else "build/lapis"
DATA = os.environ.get("LAPIS_DATA", "")


def found(images, first, points, options):
    """places (images x points x 2), whether sure (images x points)"""
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/f.csv", "w") as f:
            f.writelines(f"{images[first]},{x},{y}\n" for x, y in points)
        subprocess.run([LAPIS, "match", *images, "--first", folder + "/f.csv",
                        "--no-cache", "-q", "--result", folder + "/r.npz",
                        *options], check=True, stdout=subprocess.DEVNULL)
        with np.load(folder + "/r.npz") as r:
            return r["xy"][r["match"]][:, :, :2], r["inlier"] > 0


def row(title, options, runs):
    """runs: (images, first, places of the points in each image, tolerance)"""
    right, sure = [], []
    for images, first, truth, tolerance in runs:
        at, certain = found(images, first, truth[first], options)
        off = np.hypot(*np.moveaxis(at - truth, 2, 0))
        others = np.arange(len(images)) != first
        right.append((off < tolerance)[others].ravel())
        sure.append(certain[others].ravel())
    right, sure = np.concatenate(right), np.concatenate(sure)
    print(f"| {title} | {' '.join(options) or 'defaults'} | {right.size} "
          f"| {right.mean():.3f} | {sure.mean():.3f} "
          f"| {right[sure].mean() if sure.any() else np.nan:.3f} |", flush=True)


def hotel(frames):
    marks = np.load(DATA + "/cmu_hotel/hotel.npz")["xy"][frames]
    images = [f"{DATA}/cmu_hotel/images/hotel{k:03d}.png" for k in frames]
    return [(images, 0, marks, 10)]


def warped(folder):
    random = np.random.default_rng(0)
    files = sorted(glob.glob(DATA + "/msrc_v2/images_half/*.png"))[::59][:10]
    for number, name in enumerate(files):
        image = Image.open(name).convert("L")
        image = image.resize((2 * image.width, 2 * image.height),
                             Image.Resampling.BICUBIC)
        size = np.array(image.size)
        points = random.uniform(30, size - 31, (12, 2))
        images, truth = [f"{folder}/{number}_0.png"], [points]
        image.save(images[0])
        for k in range(1, 6):
            turn = np.deg2rad(random.uniform(-6, 6))
            scale = random.uniform(.88, 1.12)
            A = scale * np.array([[np.cos(turn), -np.sin(turn)],
                                  [np.sin(turn), np.cos(turn)]])
            A = A @ (np.eye(2) + random.uniform(-.06, .06, (2, 2)))
            t = size / 2 - A @ (size / 2) + random.uniform(-8, 8, 2)
            B = np.linalg.inv(A)
            shown = image.transform(image.size, Image.Transform.AFFINE,
                                    (*B[0], -B[0] @ t, *B[1], -B[1] @ t),
                                    Image.Resampling.BICUBIC)
            light = random.uniform(.7, 1.2)
            shown = shown.point(lambda v, light=light: min(255, v * light))
            images.append(f"{folder}/{number}_{k}.png")
            shown.save(images[-1])
            truth.append((points + .5) @ A.T + t - .5)
        truth = np.array(truth)
        inside = ((truth > 4) & (truth < size - 5)).all(axis=(0, 2))
        yield images, 0, truth[:, inside], 10


def main():
    print("| pictures | options | points | right | sure | right of the sure |\n"
          + "| --- " * 6 + "|")
    for title, frames in (("7 hotel frames from 0, step 1", range(7)),
                          ("15 hotel frames from 0, step 1", range(15)),
                          ("15 hotel frames from 0, step 7", range(0, 99, 7)),
                          ("8 hotel frames from 0, step 14", range(0, 99, 14)),
                          ("6 hotel frames from 0, step 20", range(0, 101, 20))):
        row(title, (), hotel(list(frames)))
    row("6 hotel frames from 0, step 20", ("--grid", "4"),
        hotel(list(range(0, 101, 20))))
    with tempfile.TemporaryDirectory() as folder:
        runs = list(warped(folder))
        for options in ((), ("--grid", "4")):
            row("10 photographs, warped 5 times", options, runs)


if __name__ == "__main__":
    main()
