#!/usr/bin/env python3
"""mpi.py LAPIS [COLUMNS]: one fit divided among 1 and 2 processes of one thread.

Prints wall seconds of the command, processor seconds of all processes together
and the efficiency T(1) / (2 T(2)) of mc by bordered (d = 768) and by admm (d =
200, a tenth missing, 20 iterations); then how much is summed an iteration, as
counted, and by the model of docs/scale.md.  It needs as many free cores
as processes; what it prints on a busy machine says little.
"""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np


def data(folder, n, d, missing):
    draw = np.random.default_rng(1)
    factors = draw.normal(size=(n, 8))
    X = factors @ draw.normal(size=(8, d)) + 0.5 * draw.normal(size=(n, d))
    Y = np.where(factors[:, 0] > 0, 1.0, -1.0)
    Y[draw.random(n) > 0.01] = np.nan
    if missing:
        X[draw.random((n, d)) < missing] = np.nan
    np.save(folder + "/X.npy", X)
    np.save(folder + "/Y.npy", Y)


def run(lapis, folder, ranks, more):
    """info, processor seconds, wall seconds, numbers summed by the solve."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    done = subprocess.run(
        ["mpirun", "--quiet", "--oversubscribe", "-n", str(ranks), lapis,
         "fit", "mc", "-X", folder + "/X.npy", "-Y", folder + "/Y.npy",
         "--mu-rel", "0.02", "--mpi", "--threads", "1", "--json", "-v", *more],
        check=True, capture_output=True, text=True,
        env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1",
             "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    info = json.loads(done.stdout)["info"]
    summed = re.search(r"(\d+) sums of (\d+) numbers", done.stderr)
    return (info, after.ru_utime - before.ru_utime, wall,
            int(summed[2]) if summed else 0)


def main():
    lapis = os.path.realpath(sys.argv[1])
    scale = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    for name, d, n, missing, more in (
            ("bordered", 768, scale, 0, []),
            ("admm", 200, scale // 5, 0.1, ["--max-iters", "20"])):
        with tempfile.TemporaryDirectory() as folder:
            data(folder, n, d, missing)
            wall = {}
            for ranks in (1, 2):
                info, user, wall[ranks], summed = run(lapis, folder, ranks,
                                                      more)
                print(f"{name} {d} x {n} ranks {ranks}: "
                      f"{info['iterations']} iterations, objective "
                      f"{info['objective']:.12g}, gap {info['gap']:.1e}, "
                      f"wall {wall[ranks]:.2f} s, processor {user:.2f} s")
            print(f"  efficiency {wall[1] / (2 * wall[2]):.2f} (whole command)")
            m, k = d + 2, info["iterations"]
            # admm: a Gram matrix a step; in the one proof at the end a
            # triangle of each process and a Gram matrix
            model = (64 * k if name == "bordered"
                     else k * (m * m + 2 * 64) + (ranks + 1) * m * m)
            print(f"  summed by the solve: {8 * summed / k / 1e6:.3f} MB an "
                  f"iteration; the model says {8 * model / k / 1e6:.3f}"
                  + (f", and {8 * (d + 1) ** 2 / 1e6:.2f} once before"
                     if name == "bordered" else ""))


if __name__ == "__main__":
    main()
