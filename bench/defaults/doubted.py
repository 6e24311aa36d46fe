#!/usr/bin/python3
"""Whether auto should learn from labels that are likelier wrong than right.

  LAPIS_LIBRARY=build/liblapis.so PYTHONPATH=python bench/defaults/doubted.py
      decided|shown|TABLE,.. [SHARE,.. [SEED,..]]

Of at most MOST (800) rows that teach a SHARE of the labels is exchanged, each for another
at random; up to NEW others with true labels are asked.  Both values of `doubted` are fitted
as they come.  A line is a table and a share, the mean over SEEDs (0,1): how many labels
are wrong, how many are left out, and of these wrong; accuracy, log-loss, and how far the
accuracy that is said is from the true one, with learn and with omit; processor time in
seconds.  Behind them, by share: the same over tables, and how often omit is worse and
better in log-loss by more than TIE and two standard errors over the new samples.

Of `decided` and the made ones: wrong.py; embed-K-SEP-SEED is K normal clouds in
64 dimensions.  The others are tables of flips.py."""
import os
import sys
import time
import warnings

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
import numpy as np  # noqa: E402: threads are counted when it is loaded

import flips
import lapis
import wrong

DECIDED = ("cancer wine digits iris made5 Sonar Vehicle Ionosphere PimaIndiansDiabetes2 "
           "five-1.3-1 gauss-2-.5-1 gauss-4-.6-2 embed-20-.45-1").split()
SHOWN = ("Glass Vowel Soybean BreastCancer Satellite DNA LetterRecognition five-2-11 "
         "five-1-12 gauss-3-.5-14 gauss-6-.8-15 gauss-2-.3-16 embed-20-.3-17 "
         "embed-30-.6-18").split()
SHARES, MOST, NEW, FEWEST, TIE = "0,.03,.06,.1,.2", int(os.environ.get(
    "MOST", 800)), 3000, 5, .002
MODES = ("learn", "omit")


def embed(K, sep, seed):
    rng = np.random.default_rng(seed)
    means, y = rng.normal(size=(K, 64)) * sep, rng.integers(0, K, MOST + NEW)
    return means[y] + rng.normal(size=(MOST + NEW, 64)), y


def load(name):
    if name.startswith("embed"):
        _, K, sep, seed = name.split("-")
        return embed(int(K), float(sep), int(seed))
    wrong.MOST = MOST + NEW
    return wrong.load(name)


def draw(X, y, seed):
    """Rows that teach, and new ones; every class has some of both."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    n = min(int(.6 * len(y)), MOST)
    keep = np.flatnonzero(np.bincount(y[order[:n]], minlength=y.max() + 1) >= FEWEST)
    order = order[np.isin(y[order], keep)]
    n = min(int(.6 * len(order)), MOST)
    y = np.searchsorted(keep, y)
    return X[order[:n]], y[order[:n]], X[order[n:]], y[order[n:]], rng


def ask(mode, X, given, new, truth):
    """Accuracy, losses of the new, |said - true|, what is left out, seconds."""
    before = time.process_time()
    model = lapis.AutoClassifier(doubted=mode).fit(X, given)
    took = time.process_time() - before
    p = np.asarray(model.predict_proba(new))
    place = np.searchsorted(model.classes_, truth)
    right = p.argmax(1) == place
    losses = -np.log(np.clip(p[np.arange(len(truth)), place], 1e-6, 1))
    said = next(c["accuracy"] for c in model.candidates_ if c["answers"])
    return right.mean(), losses, abs(said - right.mean()), model.doubted_, took


def judge(name, share, seeds):
    X, y = load(name)
    rows, lost, clear = [], [], np.zeros(2, int)
    for seed in seeds:
        x, truth, new, of_new, rng = draw(X, y, seed)
        given, bad = flips.flip(truth, True, share, rng)
        got = [ask(mode, x, given, new, of_new) for mode in MODES]
        by = got[1][1] - got[0][1]
        error = by.std() / np.sqrt(len(by))
        sure = abs(by.mean()) > max(TIE, 2 * error)
        clear += [sure and by.mean() > 0, sure and by.mean() < 0]
        left = got[1][3]
        rows.append([bad.sum(), len(left), bad[left].sum()]
                    + [f(g) for f in (lambda g: g[0], lambda g: g[1].mean(),
                                      lambda g: g[2], lambda g: g[4]) for g in got])
    return np.mean(rows, 0), clear


def line(name, share, r, clear):
    print(f"| {name} | {100 * share:g} % | {r[0]:.0f} | {r[1]:.0f} | {r[2]:.0f} | "
          f"{r[3]:.4f} | {r[4]:.4f} | {r[5]:.4f} | {r[6]:.4f} | {r[7]:.4f} | "
          f"{r[8]:.4f} | {r[9]:.0f} | {r[10]:.0f} | {clear[0]} | {clear[1]} |", flush=True)


def main(which, shares=SHARES, seeds="0,1"):
    warnings.simplefilter("ignore")
    names = {"decided": DECIDED, "shown": SHOWN}.get(which) or which.split(",")
    print("| table | exchanged | wrong | left out | of these wrong | accuracy, learn | omit | "
          "log-loss, learn | omit | said - true, learn | omit | s, learn | omit | worse | "
          "better |\n" + "| --- " * 15 + "|")
    for share in map(float, shares.split(",")):
        all_of, clear = [], np.zeros(2, int)
        for name in names:
            r, by = judge(name, share, [int(s) for s in seeds.split(",")])
            line(name, share, r, by)
            all_of.append(r)
            clear += by
        line("all", share, np.mean(all_of, 0), clear)


if __name__ == "__main__":
    main(*sys.argv[1:])
