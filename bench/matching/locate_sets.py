"""lapis locate on sets of photographs whose true boxes are known.

    LAPIS_DATA=FOLDER [NET=F.onnx LAYER=NAME] /usr/bin/python3 \\
        bench/matching/locate_sets.py [LAPIS [SET...]]

Shares of correct boxes (CorLoc).  All rows of a set choose among the same
proposed boxes; `best possible` is told the truth.  `--without` is given
pictures that do not show the object (locate_common.without says which); where
NET names a network there is a column of --net.  The last two columns: correct
boxes of those that are not doubtful, and of those that are.
Settings were chosen on the sets of CHOOSE; those of SHOW had no part in it.
"""
import os
import sys
import time

import numpy as np

from locate_common import (candidates, correct, ducks, eyes, locate,
                           locate_without, msrc, overlaps, without)

CHOOSE = ["cow", "sheep", "aeroplane", "car", "bicycle", "face"]
SHOW = ["duck", "eyes", "flower", "sign", "bird", "chair", "cat", "dog", "boat"]
NET = ["--net", os.environ["NET"]] if "NET" in os.environ else []
if "LAYER" in os.environ:
    NET += ["--layer", os.environ["LAYER"]]


def pictures_of(name):
    return {"duck": ducks, "eyes": eyes}.get(name, lambda: msrc(name))()


def best(candidate, truth):
    from locate_common import overlap
    return max(candidate, key=lambda b: max(overlap(b, t) for t in truth))


def row(lapis, name):
    pictures = pictures_of(name)
    began = time.perf_counter()
    chosen = locate(lapis, pictures)
    seconds = time.perf_counter() - began
    alone = locate(lapis, pictures, "--rounds", "0")
    against = locate_without(lapis, pictures, without(name))
    of = candidates(chosen, pictures)
    by_net = [locate(lapis, pictures, *NET)["boxes"]] if NET else []
    ways = [[c[np.argmax(c[:, 4])] for c in of], alone["boxes"],
            chosen["boxes"], against["boxes"], *by_net,
            [best(c, t) for c, (_, t) in zip(of, pictures)]]
    figures = [correct(w, pictures) for w in ways]
    right = np.array(overlaps(chosen["boxes"], pictures)) >= 0.5
    sure = chosen["inlier"].ravel() == 1
    told = [right[sure], right[~sure]]
    print(f"| {name} | {len(pictures)} | " +
          " | ".join(f"{v:.2f}" for v in figures) + f" | {seconds:.1f} | " +
          " | ".join(f"{r.sum()} of {len(r)}" for r in told) + " |",
          flush=True)
    return figures, [(r.sum(), len(r)) for r in told]


def table(lapis, names):
    print("| set | pictures | highest objectness | --rounds 0 | "
          "lapis locate | --without | " + "--net | " * bool(NET) +
          "best possible | s | sure | doubtful |\n" +
          "| --- " * (11 if NET else 10) + "|")
    rows = [row(lapis, n) for n in names]
    mean = np.mean([figures for figures, _ in rows], 0)
    told = np.sum([t for _, t in rows], 0)
    print("| mean | | " + " | ".join(f"{v:.3f}" for v in mean) + " | | " +
          " | ".join(f"{a} of {n}" for a, n in told) + " |\n")


def main():
    lapis = sys.argv[1] if len(sys.argv) > 1 else "build/lapis"
    if len(sys.argv) > 2:
        table(lapis, sys.argv[2:])
        return
    table(lapis, CHOOSE)
    table(lapis, SHOW)


main()
