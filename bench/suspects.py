"""Wrong labels: 5 % of the known face labels flipped, and looked for.

    LAPIS_COMMAND=build/lapis OPENBLAS_CORETYPE= \\
        /usr/bin/python3 bench/suspects.py [SEEDS]

The bundled faces (square-rooted counts, people as groups), mc1 at lambda .1,
gamma 3, mu-rel .02; for each seed of numpy's default_rng 13 of the 254 known labels are
flipped and the ten most suspicious asked for.  Prints how many of the ten were
flipped: each seed, mean, deviation.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

COMMAND = os.environ.get("LAPIS_COMMAND", "build/lapis")
FACES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "../data/cmu_faces/faces.npz")


def lapis(*args):
    subprocess.run([COMMAND, *args, "-q"], check=True,
                   stdout=subprocess.DEVNULL)


def hits(data, seed, folder):
    y = data["Y"].ravel().astype(float).copy()
    known = np.flatnonzero(~np.isnan(y))
    count = round(0.05 * known.size)
    flipped = np.random.default_rng(seed).choice(known, count, replace=False)
    y[flipped] *= -1
    to, out = os.path.join(folder, "x.npz"), os.path.join(folder, "s.npz")
    np.savez(to, X=data["X"], Y=y[:, None], group=data["group"])
    lapis("fit", "mc", to, "--lambda", ".1", "--gamma", "3", "--mu-rel", ".02",
          "--tol", "1e-2", "--suspects", "10", "-o", out)
    return np.isin(np.load(out)["suspect_index"][:, 0], flipped).sum()


seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
with tempfile.TemporaryDirectory(prefix="lapis-bench-") as folder:
    faces = np.load(FACES)
    data = {"X": np.sqrt(faces["counts"].astype(float)), "Y": faces["known"],
            "group": faces["subject"]}
    found = [hits(data, seed, folder) for seed in range(seeds)]
print("flipped among the ten most suspicious, seed by seed:",
      " ".join(map(str, found)))
print(f"mean {np.mean(found):.1f}, deviation {np.std(found, ddof=1):.1f}, "
      f"n {seeds}")
