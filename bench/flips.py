#!/usr/bin/python3
"""Wrong labels that `lapis label` lists: MSRC's textons, flipped labels.

  LAPIS_COMMAND=build/lapis LAPIS_DATA=... bench/flips.py [SHARE [SEED]]

60 % of the cells of 21 columns are empty, SHARE of the others are flipped.
Prints how many are flipped, listed, and rightly so, what is expected, and the
AUROC of the empty cells."""
import os
import subprocess
import sys
import tempfile

import numpy as np
from sklearn.metrics import roc_auc_score

HIDDEN = .6


def write(folder, names, columns, labels, known, features):
    np.save(os.path.join(folder, "x.npy"), features)
    with open(os.path.join(folder, "names.txt"), "w") as to:
        to.writelines(f"{name}.png\n" for name in names)
    with open(os.path.join(folder, "labels.csv"), "w") as to:
        to.write("name," + ",".join(columns) + "\n")
        for row, seen, name in zip(labels, known, names):
            cells = [str(v) if k else "" for v, k in zip(row, seen)]
            to.write(f"{name}.png," + ",".join(cells) + "\n")


def main():
    share = float(sys.argv[1]) if len(sys.argv) > 1 else .1
    rng = np.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    root = os.path.join(os.environ["LAPIS_DATA"], "msrc_v2")
    data = np.load(os.path.join(root, "msrc_v2.npz"), allow_pickle=True)
    keep = [c for c in range(23) if c not in (4, 7)]
    truth = data["labels"][:, keep].astype(int)
    known = rng.random(truth.shape) >= HIDDEN
    wrong = (rng.random(truth.shape) < share) & known
    with tempfile.TemporaryDirectory() as folder:
        write(folder, data["names"], data["class_names"][keep],
              np.where(wrong, 1 - truth, truth), known,
              data["bow"].astype(float))
        images = [os.path.join(root, "images_half", f"{name}.png")
                  for name in data["names"]]
        at = {name: os.path.join(folder, name)
              for name in ("x.npy", "names.txt", "labels.csv", "o.npz")}
        run = subprocess.run(
            [os.environ.get("LAPIS_COMMAND", "build/lapis"), "label", *images,
             "--labels", at["labels.csv"], "--features", "table:" + at["x.npy"],
             "--names", at["names.txt"], "--result", at["o.npz"], "--no-cache",
             "--threads", "1", "--suspects", "100000", "-q"],
            capture_output=True, text=True, check=True)
        found = np.load(at["o.npz"])
    listed = found["suspect_index"]
    right = sum(wrong[i, c] for i, c in listed)
    said = [line for line in run.stdout.splitlines()
            if line.startswith("Wrong labels")]
    aurocs = [roc_auc_score(truth[~known[:, c], c],
                            found["scores"][~known[:, c], c])
              for c in range(len(keep)) if truth[~known[:, c], c].any()]
    print(f"flipped {wrong.sum()} listed {len(listed)} right {right}; "
          f"{said[0] if said else ''}; AUROC {np.mean(aurocs):.3f}")


if __name__ == "__main__":
    main()
