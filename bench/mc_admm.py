#!/usr/bin/env python3
"""Two lapis commands side by side on what mc's ADMM solves, one thread each.

    LAPIS_DATA=... bench/mc_admm.py OLD NEW [RUNS [NAME]]

OLD and NEW are two lapis binaries.  Jobs: the faces (quarter size, divided by
255, 624 x 960, half of the label "sunglasses" hidden) as pos and as simplex
(--map l1), scene with 30 % of the features missing, mc1 of the faces with
--solver admm, and the same kinds on generated data (rank 10 and noise, counts).
Printed: the median of the processor seconds of the
whole command, their ratio, and iterations, objective, gap of both.  NAME: only
the jobs whose name holds it.
"""
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile

import numpy as np

DATA = os.environ.get("LAPIS_DATA", "")


def hide(y, share, rng):
    y = y.astype(float)
    y[rng.random(y.shape) < share] = np.nan
    return y


def faces(folder):
    rng = np.random.default_rng(0)
    d = np.load(DATA + "/cmu_faces/cmu_faces_small.npz")
    x = d["quarter"].reshape(len(d["label"]), -1) / 255.0
    path = folder + "/faces.npz"
    np.savez(path, X=x, Y=hide(d["label"].reshape(-1, 1), .5, rng))
    return path


def scene(folder):
    rng = np.random.default_rng(0)
    d = np.load(DATA + "/scene/scene.npz")
    x = d["train_x"].copy()
    x[rng.random(x.shape) < .3] = np.nan
    path = folder + "/scene.npz"
    np.savez(path, X=x, Y=hide(2.0 * d["train_y"] - 1, .5, rng))
    return path


def generated(folder, name, kind):
    rng = np.random.default_rng(1)
    n, d = 800, 700
    left, right = rng.random((n, 10)), rng.random((10, d))
    if kind == "counts":
        x = rng.poisson(2 * left @ right).astype(float)
    else:
        x = (left - .5) @ (right - .5) + .1 * rng.standard_normal((n, d))
        x[rng.random(x.shape) < .2] = np.nan
    y = np.sign((left - .5) @ rng.standard_normal((10, 4)))
    path = folder + "/" + name + ".npz"
    np.savez(path, X=x, Y=hide(y, .5, rng))
    return path


def jobs(folder):
    f, s = faces(folder), scene(folder)
    c = generated(folder, "counts", "counts")
    g = generated(folder, "holes", "holes")
    simplex = ["--variant", "simplex", "--map", "l1", "--mu-rel"]
    return [
        ("faces, pos, mu-rel .002", f, ["--variant", "pos", "--mu-rel", ".002"]),
        ("faces, pos, mu-rel .02", f, ["--variant", "pos", "--mu-rel", ".02"]),
        ("faces, simplex, mu-rel .02", f, simplex + [".02"]),
        ("faces, mc1, mu-rel .02", f, ["--solver", "admm", "--mu-rel", ".02"]),
        ("scene, 30 % missing, mu-rel .05", s,
         ["--solver", "admm", "--mu-rel", ".05"]),
        ("generated, mc1, 20 % missing, mu-rel .05", g,
         ["--solver", "admm", "--mu-rel", ".05"]),
        ("generated counts, pos, mu-rel .02", c,
         ["--variant", "pos", "--mu-rel", ".02"]),
        ("generated counts, simplex, mu-rel .05", c, simplex + [".05"]),
    ]


def run(binary, path, options):
    """User and system seconds, and what the command says of the fit."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [binary, "fit", "mc", path, "--threads", "1", "--json"] + options
    out = subprocess.run(command, capture_output=True, text=True, check=True,
                         env=dict(os.environ, OPENBLAS_NUM_THREADS="1"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + \
        after.ru_stime - before.ru_stime
    return seconds, json.loads(out.stdout)["info"]


def main():
    old, new = sys.argv[1:3]
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    only = sys.argv[4] if len(sys.argv) > 4 else ""
    with tempfile.TemporaryDirectory() as folder:
        for name, path, options in jobs(folder):
            if only not in name:
                continue
            seconds, said = ([], []), [None, None]
            for _ in range(runs):
                for i, binary in enumerate((old, new)):
                    o = options
                    if i == 0:  # from before there was a choice of solvers
                        o = [v for v in o if v not in ("--solver", "admm")]
                    t, said[i] = run(binary, path, o)
                    seconds[i].append(t)
            a, b = map(statistics.median, seconds)
            print("| %s | %.2f | %.2f | %.2f |" % (name, a, b, a / b), end="")
            for s in said:
                print(" %s steps, %.8g, %.1e |" % (
                    s["iterations"], s["objective"], s["gap"]), end="")
            print(flush=True)


main()
