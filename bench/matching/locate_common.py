"""What the studies of lapis locate share: sets of pictures and their true boxes.

A set is a list of (path, boxes); a choice is correct where its intersection
over union (IoU) with one of the boxes is .5 or more.
"""
import csv
import glob
import os
import subprocess
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


def ducks():
    folder = os.environ["LAPIS_DATA"] + "/willow_duck"
    duck = np.load(folder + "/duck.npz")
    number = {stem(n): i for i, n in enumerate(duck["names"])}
    out = []
    for path in sorted(glob.glob(folder + "/images/*.png")):
        points = duck["keypoints"][number[stem(path)]] - 0.5
        low, high = points.min(0), points.max(0)
        out.append((path, [(*low, *(high - low))]))
    return out


def msrc(name):
    """Pictures that show a class, a box around each instance that fills a
    hundredth of the picture or more."""
    from PIL import Image
    folder = os.environ["LAPIS_DATA"] + "/msrc_v2"
    all_ = np.load(folder + "/msrc_v2.npz", allow_pickle=True)
    c = list(all_["class_names"]).index(name)
    out = []
    for image in all_["names"][all_["labels"][:, c] == 1]:
        label, instance = (np.array(Image.open(f"{folder}/{kind}_half/{image}"
                                               ".png"))
                           for kind in ("labels", "instances"))
        boxes = []
        for i in np.unique(instance[(label == c + 1) & (instance > 0)]):
            y, x = np.nonzero(instance == i)
            box = (x.min(), y.min(), np.ptp(x) + 1, np.ptp(y) + 1)
            if (label[y, x] == c + 1).mean() >= 0.5 and \
                    box[2] * box[3] >= label.size / 100:
                boxes.append(box)
        if boxes:
            out.append((f"{folder}/images_half/{image}.png", boxes))
    return out


def eyes():
    """The sunglasses of the CMU faces that look straight ahead, by hand."""
    here = os.path.dirname(os.path.abspath(__file__))
    images = here + "/../../data/cmu_faces/images/"
    with open(here + "/eye_boxes.csv") as file:
        return [(images + r["name"] + ".png",
                 [[float(r[k]) for k in ("x", "y", "width", "height")]])
                for r in csv.DictReader(file)]


GROUND = ["grass", "tree", "sky", "water", "road", "building", "mountain"]


def without(name):
    """Paths of pictures without the object: of eyes, the same people without
    sunglasses; of a class of MSRC, up to 50 that show the ground its pictures
    most often show (of faces any ground, but no body); of ducks, water."""
    data = os.environ["LAPIS_DATA"]
    if name == "eyes":
        here = os.path.dirname(os.path.abspath(__file__))
        return sorted(p for kind in ("neutral", "happy") for p in glob.glob(
            f"{here}/../../data/cmu_faces/images/*_straight_{kind}_open.png"))
    all_ = np.load(data + "/msrc_v2/msrc_v2.npz", allow_pickle=True)
    names, shown = list(all_["class_names"]), all_["labels"] == 1
    ground = [names.index(g) for g in GROUND if g in names]
    if name == "duck":
        takes = shown[:, names.index("water")]
    elif name == "face":
        takes = shown[:, ground].any(1) & \
            ~shown[:, [names.index("face"), names.index("body")]].any(1)
    else:
        own = shown[:, names.index(name)]
        takes = shown[:, max(ground, key=lambda g: shown[own, g].mean())] & ~own
    order = np.random.RandomState(0).permutation(all_["names"][takes])
    return [f"{data}/msrc_v2/images_half/{n}.png" for n in sorted(order[:50])]


def locate_without(lapis, pictures, others):
    """As locate, with links to the others in a folder."""
    with tempfile.TemporaryDirectory() as folder:
        for path in others:
            os.symlink(os.path.abspath(path),
                       folder + "/" + os.path.basename(path))
        return locate(lapis, pictures, "--without", folder)


def locate(lapis, pictures, *options):
    with tempfile.TemporaryDirectory() as folder:
        result = folder + "/r.npz"
        subprocess.run([lapis, "locate", *(p for p, _ in pictures), "--result",
                        result, "-q", "--no-cache", *options],
                       check=True, stdout=subprocess.DEVNULL)
        with np.load(result) as r:
            return {name: r[name] for name in r.files}


def candidates(result, pictures):
    return [result["candidate"][result["group"] == k]
            for k in range(len(pictures))]


def overlaps(chosen, pictures):
    return [max(overlap(b, t) for t in truth)
            for b, (_, truth) in zip(chosen, pictures)]


def correct(chosen, pictures):
    return np.mean([v >= 0.5 for v in overlaps(chosen, pictures)])
