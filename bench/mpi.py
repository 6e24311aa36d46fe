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
as counted by the plug-in's caller and by a model (see model below), and that
model for 1000 processes.
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
    """info, processor seconds, wall seconds, what was said."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    done = subprocess.run(
        ["mpirun", "--quiet", "--oversubscribe", "-n", str(ranks), lapis,
         "fit", "mc", "-X", folder + "/X.npy", "-Y", folder + "/Y.npy",
         "--mu-rel", "0.02", "--mpi", "--threads", "1", "--json", "-vv", *more],
        check=True, capture_output=True, text=True,
        env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1",
             "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    info = json.loads(done.stdout)["info"]
    used = (after.ru_utime + after.ru_stime
            - before.ru_utime - before.ru_stime)
    return info, used, wall, done.stderr


def counted(said):
    """Messages, and numbers in them, of the solve; 0, 0 of one process."""
    found = re.search(r"(\d+) sums of (\d+) numbers", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def model(name, d, said, ranks):
    """Numbers that are summed by so many processes, of m = d + 2 rows:

        m^2 G      G Gram matrices: steps with many singular values, proofs
        m^2 T P    T proofs by triangles, one of each of the P processes
        m C        C columns that subspaces multiply with W W', in S products
        64 B       B blocks: one before each of these sums, and those of all
                   else (losses, the clock, Ctrl-C)

    What a run took of each is in what it said (-vv); G, T, C and B do not hang
    on P.  bordered sums blocks alone.
    """
    m = d + 2
    messages, _ = counted(said)
    if name == "bordered":
        return 64 * messages
    order = f"order {m}$"
    # the first is of the largest singular value, before the solve
    gram = len(re.findall("svt: Gram matrix of " + order, said, re.M)) - 1
    own = [int(k) for k in
           re.findall(r"svt: (\d+) triangles of " + order, said, re.M)]
    spaces = re.findall(rf"svt: subspace of {m}, .*: (\d+) columns in (\d+)",
                        said)
    columns = sum(int(c) for c, _ in spaces)
    products = sum(int(s) for _, s in spaces)
    blocks = messages - gram - sum(own) - products
    return m * m * (gram + len(own) * ranks) + m * columns + 64 * blocks


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
                info, used[ranks], wall[ranks], said = run(
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
            summed = 8 * counted(said)[1] / k / 1e6
            says = 8 * model(name, d, said, 2) / k / 1e6
            far = 8 * model(name, d, said, 1000) / k / 1e6
            print(f"  summed by the solve: {summed:.4f} MB an iteration; the "
                  f"model says {says:.4f} ({says / summed - 1:+.1%}), of 1000 "
                  f"processes {far:.4f}"
                  + (f"; and {8 * (d + 1) ** 2 / 1e6:.2f} MB once before"
                     if name == "bordered" else ""), flush=True)


if __name__ == "__main__":
    main()
