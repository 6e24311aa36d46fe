"""Willow ducks: lapis locate, and two that do not compare pictures.

    LAPIS_DATA=FOLDER /usr/bin/python3 bench/locate_ducks.py [LAPIS]

The truth is the box around a duck's 10 keypoints; a box is correct at an
intersection over union of .5 or more.  All choose among the same proposed boxes;
`best possible` is told the truth.
"""
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np


def overlap(a, b):
    """Of boxes x, y, width, height."""
    w = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    h = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    both = max(w, 0) * max(h, 0)
    return both / (a[2] * a[3] + b[2] * b[3] - both)


def stem(name):
    return os.path.splitext(os.path.basename(str(name)))[0]


def truths(folder, names):
    duck = np.load(folder + "/duck.npz")
    number = {stem(n): i for i, n in enumerate(duck["names"])}
    boxes = []
    for name in names:
        points = duck["keypoints"][number[stem(name)]] - 0.5
        low, high = points.min(0), points.max(0)
        boxes.append((*low, *(high - low)))
    return boxes


def locate(lapis, images, *options):
    with tempfile.TemporaryDirectory() as folder:
        result = folder + "/r.npz"
        subprocess.run([lapis, "locate", *images, "--result", result, "-q",
                        "--cache", folder, *options],
                       check=True, stdout=subprocess.DEVNULL)
        with np.load(result) as r:
            return {name: r[name] for name in r.files}


def row(title, chosen, truth):
    each = [overlap(a, b) for a, b in zip(chosen, truth)]
    correct = np.mean([v >= 0.5 for v in each])
    print(f"| {title} | {correct:.2f} | {np.mean(each):.3f} |", flush=True)


def main():
    lapis = sys.argv[1] if len(sys.argv) > 1 else "build/lapis"
    folder = os.environ["LAPIS_DATA"] + "/willow_duck"
    images = sorted(glob.glob(folder + "/images/*.png"))
    print("| choice | correct boxes | mean IoU |\n" + "| --- " * 3 + "|")
    first = locate(lapis, images)
    truth = truths(folder, first["names"])
    row("lapis locate", first["boxes"], truth)
    for options in (("--noise", "0"), ("--candidates", "10")):
        r = locate(lapis, images, *options)
        row("lapis locate " + " ".join(options), r["boxes"], truth)
    of = [first["candidate"][first["group"] == k] for k in range(len(truth))]
    row("highest objectness", [c[np.argmax(c[:, 4])] for c in of], truth)
    row("largest box", [c[np.argmax(c[:, 2] * c[:, 3])] for c in of], truth)
    row("best possible", [max(c, key=lambda b: overlap(b, t))
                          for c, t in zip(of, truth)], truth)


main()
