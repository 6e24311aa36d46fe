#!/usr/bin/python3
"""MSRC v2, one setting, judged inside the training part of fold 0 alone.

  LAPIS_COMMAND=build/lapis LAPIS_DATA=... bench/msrc_inside.py FEATURES \\
      --variant pos --map BLOCKS,l1-sqrt,scale:20 --gamma 30 --mu-rel .05

FEATURES: textons (those of the data set), files of `lapis features`, or several
joined by commas; BLOCKS becomes blocks:N+N with their widths.  All options are
those of fit mc.  Prints the mean AUROC over 21 classes of three folds, drawn with
seed 0; no image of fold 0 is read but for words that were learnt from all."""
import os
import subprocess
import sys
import tempfile

import numpy as np
from sklearn.model_selection import KFold

from msrc import LAPIS, LEFT_OUT, auroc


def features(name, z):
    if name == "textons":
        return z["bow"].astype(float)
    with np.load(name) as made:
        stem = [os.path.basename(str(n))[:-4] for n in made["names"]]
        return made["X"][[stem.index(str(n)) for n in z["names"]]]


def main():
    z = np.load(os.path.join(os.environ["LAPIS_DATA"], "msrc_v2",
                             "msrc_v2.npz"))
    keep = [c for c in range(23) if c not in LEFT_OUT]
    parts = [features(name, z) for name in sys.argv[1].split(",")]
    blocks = "blocks:" + "+".join(str(p.shape[1]) for p in parts)
    options = [w.replace("BLOCKS", blocks) for w in sys.argv[2:]]
    if "--lambda" not in options:
        options += ["--lambda", ".1"]
    train = z["fold"] != 0
    x, y = np.hstack(parts)[train], z["labels"][train][:, keep].astype(float)
    found = []
    for _, asked in KFold(3, shuffle=True, random_state=0).split(x):
        known = y.copy()
        known[asked] = np.nan
        with tempfile.TemporaryDirectory() as folder:
            data, out = folder + "/data.npz", folder + "/out.npz"
            np.savez(data, X=x, Y=known)
            subprocess.run([LAPIS, "fit", "mc", data, "--tol", "1e-2",
                            "--threads", "1", *options, "-q", "-o", out],
                           check=True, stdout=subprocess.DEVNULL)
            found.append(auroc(y[asked], np.load(out)["scores"][asked]))
    print(f"{np.mean(found):.4f}")


if __name__ == "__main__":
    main()
