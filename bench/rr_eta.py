#!/usr/bin/python3
"""Does rlda's label term ever help under occlusion?  ORL faces, one black square
over a share of every image; rlda at each (eta, gamma), against ridge LDA after
robust PCA at the same lambda and cleaning weights (which is eta -> 0).

  LAPIS_COMMAND=build/lapis LAPIS_DATA=... bench/rr_eta.py \\
      [--splits 5] [--shares 0,10,20,30] [--cache FILE]

5 training and 5 test images a person.  Inside its training half (3 images a
person against 2) every split chooses gamma and the cleaning weight for each eta,
and eta, too, for the row `by validation`; `in hindsight` takes eta and gamma by
the test images themselves: no choice can pass it.  lambda .05, mu_0 .01,
tolerance 1e-4.  Accuracy in per cent, mean and deviation."""
import argparse
import os
import sys

import numpy as np

from rr_common import Cache, fit_predict
from rr_faces import LOOSE, lda, split

ETAS, GAMMAS, WEIGHTS = [.01, .1, 1, 10], [.1, 1, 10], [4, 16]
LAMBDA = .05


def tried(A, a, B, b, etas):
    """{(eta, gamma, weight): accuracy}; eta 0: robust PCA, then ridge LDA."""
    asked = [["--clean-weight", w, *LOOSE] for w in WEIGHTS]
    out = {}
    for eta in etas:
        for gamma in GAMMAS if eta else [None]:
            how = ["--eta", eta, "--gamma", gamma, "--mu", .01, "--tol", "1e-4"]
            _, learnt, new = fit_predict(
                "rlda" if eta else "rpca", {"X": A, "Y": a}, B,
                ["--lambda", LAMBDA, *(how if eta else LOOSE)], asked)
            for weight, answer in zip(WEIGHTS, new):
                labels = {gamma: answer["labels"].ravel()} if eta else lda(
                    learnt["low_rank"], a, answer["low_rank"], GAMMAS)
                for g, said in labels.items():
                    out[f"{eta} {g} {weight}"] = 100 * float(np.mean(said == b))
    return out


def one(images, person, seed, share):
    A, a, B, b = split(images, person, seed, share / 100, False)
    held = np.tile([False] * 3 + [True] * 2, 40)
    both = [tried(A[~held], a[~held], A[held], a[held], [0, *ETAS]),
            tried(A, a, B, b, [0, *ETAS])]
    print(seed, share, both, file=sys.stderr, flush=True)
    return both


def best(judge, answer, etas):
    of = [key for key in judge if float(key.split()[0]) in etas]
    chosen = max(of, key=lambda key: judge[key])
    return answer[chosen], float(chosen.split()[0])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--splits", type=int, default=5)
    p.add_argument("--shares", default="0,10,20,30")
    p.add_argument("--cache")
    o = p.parse_args()
    data = np.load(os.environ["LAPIS_DATA"] + "/orl32/orl32.npz")
    images, person = data["images"] / 255.0, data["subject"].astype(float)
    cache, shares = Cache(o.cache), [int(s) for s in o.shares.split(",")]
    found = {share: [cache.get(f"{share} {s}", lambda s=s, c=share:
                               one(images, person, s, c))
                     for s in range(o.splits)] for share in shares}
    rows = {"RPCA+LDA": (0, [0]),
            **{f"rlda, eta {eta}": (0, [eta]) for eta in ETAS},
            "rlda, eta by validation": (0, ETAS),
            "RPCA+LDA, in hindsight": (1, [0]),
            "rlda, in hindsight": (1, ETAS)}
    print("| | " + " | ".join(f"{share} %" for share in shares) + " |")
    print("| --- |" + " --- |" * len(shares))
    for row, (judge, etas) in rows.items():
        cells = []
        for share in shares:
            each = [best(f[judge], f[1], etas) for f in found[share]]
            v = [accuracy for accuracy, _ in each]
            etas_said = "" if len(etas) == 1 else \
                " (" + ", ".join(f"{eta:g}" for _, eta in each) + ")"
            cells.append(f"{np.mean(v):.1f} +- {np.std(v):.1f}{etas_said}")
        print(f"| {row} | " + " | ".join(cells) + " |")


main()
