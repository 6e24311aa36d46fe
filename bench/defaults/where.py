#!/usr/bin/python3
"""Where lapis label --where looks, by two kinds of words, on MSRC v2.

  bench/defaults/where.py [LAPIS] [--seed N] [CLASS...]

One class against all else: 30 photographs with it and 30 without, half of them
labelled.  Prints how many with the class got a window, and of these the share
with its centre in the box around the object, in the object itself, and the
box's share of the picture.  LAPIS_DATA names the folder of the data."""
import argparse
import os
import subprocess
import tempfile

import numpy as np
from PIL import Image

MSRC = os.path.join(os.environ["LAPIS_DATA"], "msrc_v2")
CLASSES = ("cow face car bicycle flower bird sign aeroplane sheep chair cat dog "
           "boat").split()
EACH = 30


def label(lapis, data, of, kind, seed):
    """boxes and the rows of data that they are of"""
    names, has = data["names"], data["labels"][:, of]
    random = np.random.default_rng(seed)
    used = np.concatenate([random.permutation(np.nonzero(has == v)[0])[:EACH]
                           for v in (1, 0)])
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(folder + "/in")
        for i in used:
            os.symlink(f"{MSRC}/images_half/{names[i]}.png",
                       f"{folder}/in/{names[i]}.png")
        with open(folder + "/labels.csv", "w") as f:
            print("name,label", file=f)
            for i in used[random.permutation(len(used))[:EACH]]:
                print(f"{names[i]},{'with' if has[i] else 'nothing'}", file=f)
        subprocess.run([lapis, "label", folder + "/in", "--labels",
                        folder + "/labels.csv", "--features", kind, "--where",
                        "--no-cache", "-q", "--result", folder + "/r.npz"],
                       check=True, stdout=subprocess.DEVNULL)
        with np.load(folder + "/r.npz") as r:
            read = [os.path.basename(str(n))[:-4] for n in r["names"]]
            at = [list(names).index(read[int(i)]) for i in r["box_image"].ravel()]
            return r["boxes"], at


def judge(data, of, boxes, rows):
    found = []
    for box, i in zip(boxes, rows):
        if not data["labels"][i, of]:
            continue
        name = data["names"][i]
        there = np.array(Image.open(f"{MSRC}/labels_half/{name}.png")) == of + 1
        size = Image.open(f"{MSRC}/images_half/{name}.png").size
        x, y = [int((box[k] + box[2 + k] / 2) * there.shape[1 - k] / size[k])
                for k in (0, 1)]
        v, u = np.nonzero(there)
        wide, high = u.max() + 1 - u.min(), v.max() + 1 - v.min()
        found.append((0 <= x - u.min() < wide and 0 <= y - v.min() < high,
                      there[y, x], wide * high / there.size))
    return len(found), *np.mean(found, axis=0)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("lapis", nargs="?", default="build/lapis")
    p.add_argument("classes", nargs="*", default=CLASSES)
    p.add_argument("--seed", type=int, default=0)
    given = p.parse_args()
    data = dict(np.load(MSRC + "/msrc_v2.npz"))
    for name in given.classes:
        of = list(data["class_names"]).index(name)
        for kind in ("sift-bow", "texton-bow"):
            n, box, inside, chance = judge(
                data, of, *label(given.lapis, data, of, kind, given.seed))
            print(f"{name:10} {kind:10} {n:3} {box:.2f} {inside:.2f} "
                  f"{chance:.2f}", flush=True)


main()
