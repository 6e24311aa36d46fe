"""What forests cost, for the constants of src/methods/auto/cost.c.

  bench/defaults/forests.py [build/lapis]

A line is a made table: rows, features, targets; processor seconds of 300 trees
by one thread, and what they are of a sample, a feature that a split tries and a
level, in multiplications of which there are 35 thousand million a second; beside
it what cost.c says.  The last lines are the least squares of relative error."""
import os
import resource
import subprocess
import sys
import tempfile

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
import numpy as np  # noqa: E402: threads are counted when it is loaded

PER_SECOND, FEW, MANY = 3.5e10, 2, 60
# rows, features, targets
TABLES = {"classes": [(500, 64, 2), (600, 512, 20), (1000, 100, 5),
                      (2000, 512, 8), (4000, 60, 3), (3000, 100, 50)],
          "labels": [(3000, 100, 10), (1500, 200, 60), (2000, 300, 200)],
          "numbers": [(1000, 60, 1), (3000, 30, 1), (2000, 90, 4),
                      (2000, 90, 20)]}
SAID = {"classes": (220, 15), "labels": (650, 95), "numbers": (500, 60)}
folder = tempfile.mkdtemp()


def draw(kind, n, d, K):
    random = np.random.RandomState(0)
    Z = random.randn(n, 15)
    if kind == "classes":
        y = random.randint(K, size=n)
        Z += 1.2 * random.randn(K, 15)[y]
    else:
        y = Z @ random.randn(15, K)
    if kind == "labels":
        share = .02 + .2 * random.rand(K) ** 2
        y = y > [np.quantile(s, 1 - q) for s, q in zip(y.T, share)]
    X = Z @ random.randn(15, d) / np.sqrt(15) + random.randn(n, d)
    np.savez(f"{folder}/a.npz", X=X, Y=np.squeeze(y.astype(float)))


def seconds(lapis, kind, trees):
    of = resource.getrusage(resource.RUSAGE_CHILDREN)
    of_kind = ["--targets", "numbers"] if kind == "numbers" else []
    subprocess.run([lapis, "fit", "trees", f"{folder}/a.npz", "--kind",
                    "forest", "--trees", str(trees), "--threads", "1", "-q"] +
                   of_kind, check=True, stdout=subprocess.DEVNULL)
    then = resource.getrusage(resource.RUSAGE_CHILDREN)
    return then.ru_utime + then.ru_stime - of.ru_utime - of.ru_stime


def main():
    lapis = sys.argv[1] if len(sys.argv) > 1 else "build/lapis"
    print("targets | rows | features | of them | 300 trees | a cell | said")
    found = {}
    for kind, tables in TABLES.items():
        for n, d, K in tables:
            draw(kind, n, d, K)
            tree = (seconds(lapis, kind, MANY) -
                    seconds(lapis, kind, FEW)) / (MANY - FEW)
            tried = d / 3 if kind == "numbers" else np.sqrt(d)
            cell = tree * PER_SECOND / (np.log2(n) * n * tried)
            one, more = SAID[kind]
            ways = 1 if kind == "classes" and K == 2 else K
            found.setdefault(kind, []).append((ways, cell))
            print(kind, n, d, K, f"{300 * tree:.2f} s", f"{cell:.0f}",
                  f"{one + more * ways:.0f}", sep=" | ", flush=True)
    for kind, all in found.items():
        K, cell = np.array(all).T
        A = np.c_[1 / cell, K / cell]
        print(kind, *np.linalg.lstsq(A, np.ones(len(K)), rcond=None)[0].round())


if __name__ == "__main__":
    main()
