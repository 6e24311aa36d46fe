"""What the benchmarks of roml share: data as in [ROML16 Sec. 3.2.2], and calls
of the command."""
import json
import subprocess
import tempfile

import numpy as np

D = 50


def draw(K, each, n, ratio, seed):
    """Features of K images, n of them an object's; errors uniform in +-max|f|
    on a share of the entries; shuffled.  X, group, truth (K x n rows of X)."""
    r = np.random.default_rng(seed)
    thing, X = r.standard_normal((n, D)), []
    truth = np.empty((K, n), np.int64)
    spoilt = int(ratio * D + 0.5)
    for k in range(K):
        F = np.concatenate([thing, r.standard_normal((each - n, D))])
        at = np.argsort(r.random((each, D)), 1)[:, :spoilt]
        most = np.abs(F).max(1, keepdims=True)
        old = np.take_along_axis(F, at, 1)
        np.put_along_axis(F, at, old + r.uniform(-1, 1, old.shape) * most, 1)
        order = r.permutation(each)
        X.append(F[order])
        truth[k] = k * each + np.argsort(order)[:n]
    return np.concatenate(X), np.repeat(np.arange(K), each), truth


def command(lapis, *words):
    """What it prints; a failure's sentence as a RuntimeError."""
    run = subprocess.run([lapis, *words], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr)
    return run.stdout


def fit(lapis, members, n, *options, arrays=False):
    """The run's JSON, and match; or all arrays."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(folder + "/d.npz", **members)
        said = command(lapis, "fit", "roml", folder + "/d.npz", "--inliers",
                       str(n), "--json", "-o", folder + "/o.npz", "-q",
                       *options)
        with np.load(folder + "/o.npz") as out:
            found = dict(out) if arrays else out["match"]
        return json.loads(said), found


def identified(lapis, truth, match):
    """Match and identification ratio; -1 in truth: not there."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(folder + "/t.npz", match=truth)
        np.savez(folder + "/o.npz", match=match)
        run = subprocess.run(
            [lapis, "eval", "match-ratio", "--truth", folder + "/t.npz",
             "--scores", folder + "/o.npz", "--json"],
            check=True, capture_output=True, text=True)
    got = json.loads(run.stdout)
    return got["match_ratio"], got["identification_ratio"]
