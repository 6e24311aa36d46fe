#!/usr/bin/env python3
"""mpi.py LAPIS [BORDERED [ADMM]]: one fit divided among 1 and 2 processes of one
thread each; results/mpi.md has what it printed.

mc with every feature seen (bordered, d = 768, BORDERED samples: 500000) and with
a tenth missing (admm, d = 1000 and 400, ADMM samples: 20000, 5 and 20
iterations).  Prints wall
seconds, processor seconds of all processes together, the load, and efficiency:
T(1) / (2 T(2)) of wall seconds needs as many free cores as processes;
C(1) / C(2) of processor seconds counts work that is done twice and waiting in
sums, and is what a busy machine can tell.  Then how much is summed an iteration,
as counted and by the model of docs/scale.md, and that model for 1000 processes.
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

AT_ONCE = 20000  # samples that are drawn at a time


def data(folder, n, d, missing):
    draw = np.random.default_rng(1)
    loadings = draw.normal(size=(8, d))
    X = np.lib.format.open_memmap(folder + "/X.npy", "w+", shape=(n, d))
    Y = np.full(n, np.nan)
    for first in range(0, n, AT_ONCE):
        part = slice(first, min(n, first + AT_ONCE))
        count = part.stop - part.start
        factors = draw.normal(size=(count, 8))
        X[part] = factors @ loadings + 0.5 * draw.normal(size=(count, d))
        if missing:
            X[part][draw.random((count, d)) < missing] = np.nan
        Y[part] = np.where(draw.random(count) > 0.01, np.nan,
                           np.where(factors[:, 0] > 0, 1.0, -1.0))
    X.flush()
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
    used = (after.ru_utime + after.ru_stime
            - before.ru_utime - before.ru_stime)
    return info, used, wall, int(summed[2]) if summed else 0


def model(name, d, k, ranks):
    """Numbers that are summed in k iterations; of admm with d >= 600, where
    subspaces take the place of most Gram matrices, at most."""
    m = d + 2
    if name == "bordered":
        return 64 * k
    # a Gram matrix a step; in the one proof at the end a triangle of each
    # process and a Gram matrix
    return k * (m * m + 2 * 64) + (ranks + 1) * m * m


def main():
    lapis = os.path.realpath(sys.argv[1])
    sizes = [int(word) for word in sys.argv[2:]] + [500000, 20000][
        len(sys.argv) - 2:]
    for name, d, n, missing, more in (
            ("bordered", 768, sizes[0], 0, []),
            ("admm", 1000, sizes[1], 0.1, ["--max-iters", "5"]),
            ("admm", 400, sizes[1], 0.1, ["--max-iters", "20"])):
        with tempfile.TemporaryDirectory() as folder:
            data(folder, n, d, missing)
            wall, used = {}, {}
            for ranks in (1, 2):
                info, used[ranks], wall[ranks], summed = run(
                    lapis, folder, ranks, more)
                print(f"{name} {d} x {n} ranks {ranks}: "
                      f"{info['iterations']} iterations, objective "
                      f"{info['objective']:.12g}, gap {info['gap']:.1e}, "
                      f"wall {wall[ranks]:.2f} s, processor "
                      f"{used[ranks]:.2f} s, load {os.getloadavg()[0]:.1f}",
                      flush=True)
            print(f"  efficiency by wall {wall[1] / (2 * wall[2]):.2f}, by "
                  f"processor {used[1] / used[2]:.2f} (whole command)")
            k = info["iterations"]
            says = 8 * model(name, d, k, 2) / k / 1e6
            far = 8 * model(name, d, k, 1000) / k / 1e6
            print(f"  summed by the solve: {8 * summed / k / 1e6:.4f} MB an "
                  f"iteration; the model says {says:.4f}, of 1000 processes "
                  f"{far:.4f}"
                  + (f"; and {8 * (d + 1) ** 2 / 1e6:.2f} MB once before"
                     if name == "bordered" else ""), flush=True)


if __name__ == "__main__":
    main()
