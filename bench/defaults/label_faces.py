#!/usr/bin/python3
"""lapis label on the 624 bundled faces: who wears sunglasses, and where.

  bench/defaults/label_faces.py [LAPIS] [--people a,b,...] [--seed N] [OPTION...]

Runs `lapis label data/cmu_faces/images --target sunglasses --groups person
--where --no-cache` with labels of eight of the twenty people: those of
data/cmu_faces/labels.csv, or those that --people names.  Prints what it chose,
the AUROC over the pictures of all others, the share of those with sunglasses
whose window's centre lies in the eye band (x 32 to 96, y 38 to 66, or 26 to 52
where the head is raised), seconds and memory.  Other options are lapis's."""
import argparse
import csv
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.metrics import roc_auc_score

FACES = os.path.join(os.path.dirname(__file__), "../../data/cmu_faces")


def read_truth():
    with open(os.path.join(FACES, "index.csv"), newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def write_labels(path, truth, people):
    unknown = set(people) - {row["subject"] for row in truth.values()}
    if unknown:
        sys.exit("no such person: " + ", ".join(sorted(unknown)))
    with open(path, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["name", "sunglasses", "person"])
        for name, row in truth.items():
            if row["subject"] in people:
                worn = "yes" if row["eyes"] == "sunglasses" else "no"
                table.writerow([name, worn, row["subject"]])


def label(lapis, labels, result, options):
    """What lapis said on standard error, and its seconds."""
    started = time.monotonic()
    out = subprocess.run(
        [lapis, "label", os.path.join(FACES, "images"), "--labels", labels,
         "--target", "sunglasses", "--groups", "person", "--where",
         "--no-cache", "--progress", "never", "--result", result, *options],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if out.returncode:
        sys.exit(out.stderr)
    return out.stderr, time.monotonic() - started


def in_eye_band(box, pose):
    x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
    low, high = (26, 52) if pose == "up" else (38, 66)
    return 32 <= x <= 96 and low <= y <= high


def judge(path, truth):
    """AUROC and share in the eye band over the pictures without a label."""
    with np.load(path) as r:
        names = [os.path.splitext(os.path.basename(str(n)))[0]
                 for n in r["names"]]
        asked = ~r["known"].ravel().astype(bool)
        scores, boxes = r["scores"].ravel(), r["boxes"]
        image = r["box_image"].ravel().astype(int)
    rows = [truth[n] for n in names]
    worn = np.array([row["eyes"] == "sunglasses" for row in rows])
    hits = [in_eye_band(box, rows[i]["pose"])
            for box, i in zip(boxes, image) if asked[i] and worn[i]]
    assert len(hits) == (asked & worn).sum(), "a box for every picture"
    return roc_auc_score(worn[asked], scores[asked]), np.mean(hits)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("lapis", nargs="?", default="build/lapis")
    p.add_argument("--people", help="those whose labels are known")
    p.add_argument("--seed", default="0")
    given, options = p.parse_known_args()
    truth = read_truth()
    with tempfile.TemporaryDirectory() as folder:
        labels = os.path.join(FACES, "labels.csv")
        if given.people:
            labels = os.path.join(folder, "labels.csv")
            write_labels(labels, truth, given.people.split(","))
        result = os.path.join(folder, "result.npz")
        said, seconds = label(given.lapis, labels, result,
                              ["--seed", given.seed, *options])
        auroc, band = judge(result, truth)
    chosen = re.search(r"auto: (.*?) answers .*?AUROC ([^,]+)", said)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"chosen {chosen[1]} (AUROC {chosen[2]} on those hidden)"
          if chosen else "nothing chosen")
    print(f"AUROC {auroc:.4f}, in the eye band {band:.3f}, "
          f"{seconds:.0f} s ({used.ru_utime + used.ru_stime:.0f} s of "
          f"processor time), {used.ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
