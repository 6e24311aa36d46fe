"""What auto keeps, and what it saves, where candidates would take long.

  bench/defaults/cost.py SHAPE|shaping|shown [build/lapis]

A line is the mean of SEEDS draws of a made table: what auto leaves out of itself
(capped) beside all candidates (--candidates mc,linear,trees).  Processor seconds
of the fit by one thread; of rows that were asked accuracy / log-loss of classes,
AUROC / log-loss (means over labels) of several labels.  Shapes of `shaping` have
chosen the limit, those of `shown` have not.

A class is a cloud of its own in RANK directions; each feature mixes them, with
NOISE deviations of noise.  Labels are signs of lines in such a space, above the
share that gives each its frequency.  bent: squares take the directions' place."""
import os
import resource
import subprocess
import sys
import tempfile

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
import numpy as np  # noqa: E402: threads are counted when it is loaded
from sklearn.metrics import log_loss, roc_auc_score

SEEDS, ASKED = int(os.environ.get("SEEDS", 2)), 4000
# rows, features, rows that have labels, classes (negative: labels), rank,
# noise, bent, and the share of X that is not known where there is one
SHAPING = {"unlabelled": (60000, 256, 900, 8, 12, 1.5, False),
           "labels": (4500, 499, 4500, -374, 30, 1, False),
           "classes": (2000, 512, 600, 20, 25, 1, False),
           "gaps": (60000, 64, 900, 8, 12, 1.5, False, .02)}
SHOWN = {"unlabelled, bent": (40000, 128, 500, 4, 8, 1, True),
         "unlabelled, wide": (20000, 600, 400, 5, 15, 2, False),
         "labelled": (20000, 60, 20000, 3, 10, 1, True),
         "labels, fewer": (3000, 200, 3000, -60, 20, 1, True),
         "classes, more": (5000, 100, 5000, 50, 20, 1, False),
         "gaps, wide": (60000, 256, 900, 8, 12, 1.5, False, .02)}
folder = tempfile.mkdtemp()


def draw(shape, seed):
    n, d, known, K, rank, noise, bent, gaps = (*shape, 0)[:8]
    random = np.random.RandomState(seed)
    m = n + (ASKED if K < 0 or known == n else 0)
    Z = random.randn(m, rank)
    if K > 0:
        y = random.randint(K, size=m)
        Z += 1.2 * random.randn(K, rank)[y]
    else:
        scores = (Z ** 2 if bent else Z) @ random.randn(rank, -K)
        share = .02 + .2 * random.rand(-K) ** 2
        y = (scores > [np.quantile(s, 1 - q)
                       for s, q in zip(scores.T, share)]).astype(float)
    if bent and K > 0:
        Z = np.c_[Z[:, :rank // 2], Z[:, rank // 2:] ** 2]
    X = Z @ random.randn(rank, d) / np.sqrt(rank) + noise * random.randn(m, d)
    X[random.rand(*X.shape) < gaps] = np.nan
    Y = y[:n].astype(float)
    hidden = random.permutation(n)[known:]
    Y[hidden] = np.nan
    asked = np.arange(n, m) if m > n else hidden[:ASKED]
    return X[:n], Y, X[asked], y[asked]


def seconds():
    of = resource.getrusage(resource.RUSAGE_CHILDREN)
    return of.ru_utime + of.ru_stime


def ask(lapis, X, Y, Z, y, more):
    np.savez(f"{folder}/a.npz", X=X, Y=Y)
    np.savez(f"{folder}/b.npz", X=Z)
    began = seconds()
    subprocess.run([lapis, "fit", "auto", f"{folder}/a.npz", "-q", "--threads",
                    "1", "--model", f"{folder}/m"] + more, check=True,
                   stdout=subprocess.DEVNULL)
    took = seconds() - began
    subprocess.run([lapis, "predict", f"{folder}/m", f"{folder}/b.npz", "-q",
                    "-o", f"{folder}/o.npz"], check=True,
                   stdout=subprocess.DEVNULL)
    with np.load(f"{folder}/o.npz") as found:
        p = np.clip(found["probabilities"].reshape(len(Z), -1), 1e-9, 1 - 1e-9)
    if y.ndim == 1:
        p /= p.sum(1, keepdims=True)
        return (p.argmax(1) == y).mean(), log_loss(y, p), took
    loss = -np.where(y == 1, np.log(p), np.log(1 - p)).mean()
    return roc_auc_score(y, p), loss, took


def main():
    lapis = sys.argv[2] if len(sys.argv) > 2 else "build/lapis"
    every = {**SHAPING, **SHOWN}
    names = {"shaping": SHAPING, "shown": SHOWN}.get(sys.argv[1],
                                                    [sys.argv[1]])
    print("shape | capped | all")
    for name in names:
        runs = np.array([[ask(lapis, *draw(every[name], seed), more)
                          for more in ([], ["--candidates",
                                            "mc,linear,trees"])]
                         for seed in range(SEEDS)]).mean(0)
        print(name, *["%.4f / %.4f / %.1f s" % tuple(run) for run in runs],
              sep=" | ", flush=True)


if __name__ == "__main__":
    main()
