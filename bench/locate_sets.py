"""lapis locate on sets of photographs whose true boxes are known.

    LAPIS_DATA=FOLDER /usr/bin/python3 bench/locate_sets.py [LAPIS [SET...]]

Shares of correct boxes (CorLoc).  All rows of a set choose among the same
proposed boxes; `best possible` is told the truth.  `--without` is given
pictures that do not show the object (locate_common.without says which).
Settings were chosen on the sets of CHOOSE; those of SHOW had no part in it.
"""
import sys
import time

import numpy as np

from locate_common import (candidates, correct, ducks, eyes, locate,
                           locate_without, msrc, without)

CHOOSE = ["cow", "sheep", "aeroplane", "car", "bicycle", "face"]
SHOW = ["duck", "eyes", "flower", "sign", "bird", "chair", "cat", "dog", "boat"]


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
    ways = [[c[np.argmax(c[:, 4])] for c in of], alone["boxes"],
            chosen["boxes"], against["boxes"],
            [best(c, t) for c, (_, t) in zip(of, pictures)]]
    figures = [correct(w, pictures) for w in ways]
    print(f"| {name} | {len(pictures)} | " +
          " | ".join(f"{v:.2f}" for v in figures) + f" | {seconds:.1f} |",
          flush=True)
    return figures


def table(lapis, names):
    print("| set | pictures | highest objectness | --rounds 0 | "
          "lapis locate | --without | best possible | s |\n" +
          "| --- " * 8 + "|")
    mean = np.mean([row(lapis, n) for n in names], 0)
    print("| mean | | " + " | ".join(f"{v:.3f}" for v in mean) + " | |\n")


def main():
    lapis = sys.argv[1] if len(sys.argv) > 1 else "build/lapis"
    if len(sys.argv) > 2:
        table(lapis, sys.argv[2:])
        return
    table(lapis, CHOOSE)
    table(lapis, SHOW)


main()
