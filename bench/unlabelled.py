"""Seconds of the processor and memory of `fit mc` where few rows have a label.

  bench/unlabelled.py LAPIS [LAPIS ...]

Classes of normal samples about 20 normal centres, .35 of the noise's size; float32
and 2 % of the labels given of 200,000 x 512.  One thread, reading and writing with
it; programs in turn, ROUNDS times (2)."""
import os
import subprocess
import sys
import tempfile

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
import numpy as np  # noqa: E402: threads are counted when it is loaded

n, d, K = 200000, 512, 20
folder = tempfile.mkdtemp()


def draw():
    random = np.random.default_rng(0)
    y = random.integers(0, K, n)
    X = .35 * random.standard_normal((K, d), dtype="f4")[y]
    X += random.standard_normal((n, d), dtype="f4")
    Y = y.astype(float)
    Y[random.permutation(n)[n // 50:]] = np.nan
    np.savez(f"{folder}/a.npz", X=X, Y=Y)


def run(lapis):
    child = subprocess.Popen([lapis, "fit", "mc", f"{folder}/a.npz", "-q",
                              "--threads", "1", "-o", f"{folder}/o.npz"],
                             stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{lapis} failed")
    with np.load(f"{folder}/o.npz") as found:
        return (used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6,
                found["probabilities"])


def main():
    draw()
    first = None
    for _ in range(int(os.environ.get("ROUNDS", 2))):
        for lapis in sys.argv[1:]:
            took, held, p = run(lapis)
            first = p if first is None else first
            print("%s: %.1f s, %.2f GB, probabilities differ by %.1e" %
                  (lapis, took, held, np.abs(p - first).max()), flush=True)


if __name__ == "__main__":
    main()
