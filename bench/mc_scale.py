#!/usr/bin/python3
"""mc on embeddings: time, memory, the proved gap, and AUROC beside a plain
method, at sizes up to a million samples.

    LAPIS_COMMAND=build/lapis OPENBLAS_CORETYPE= OPENBLAS_NUM_THREADS=1 \\
        bench/mc_scale.py [SAMPLES [SHARE [FOLDER [OPTIONS OF fit mc ...]]]]

SAMPLES (20000) x 768 float32 in C order as X.npy, 20 classes, the SHARE (.01)
of samples labelled: x = h A + m + .6 noise, h of 40 numbers around the centre
of its class with deviations from 2 down to .5 (numpy's default_rng(0)).
FOLDER (a temporary one) keeps the data where it is named.  `fit mc` runs with
one thread and OPTIONS (--mu-rel .07, fixed and not tuned here).

The rival is scikit-learn's LogisticRegression on the labelled samples, C of
.001, .01, .1, 1 by three folds of them.  AUROC is the mean over classes, on all
hidden labels.  Seconds are user + system time of the process.  "beside the
file": the largest RssAnon of the process, looked at every 10 ms; peak RSS also
counts the pages of the mapped file that happen to be in memory."""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV

FEATURES, CLASSES, RANK, BLOCK = 768, 20, 40, 20000


def generate(folder, samples, share):
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((CLASSES, RANK))
    basis = rng.standard_normal((RANK, FEATURES)) / np.sqrt(RANK)
    mean = .5 * rng.standard_normal(FEATURES)
    truth = rng.integers(0, CLASSES, samples)
    known = np.sort(rng.permutation(samples)[:int(samples * share)])
    x = np.lib.format.open_memmap(os.path.join(folder, "X.npy"), "w+",
                                  np.float32, (samples, FEATURES))
    for i in range(0, samples, BLOCK):
        k = min(BLOCK, samples - i)
        hidden = .6 * centres[truth[i:i + k]]
        hidden += rng.standard_normal((k, RANK)) * np.linspace(2, .5, RANK)
        x[i:i + k] = (hidden @ basis + mean +
                      .6 * rng.standard_normal((k, FEATURES)))
    x.flush()
    y = np.full((samples, 1), np.nan)
    y[known, 0] = truth[known]
    np.save(os.path.join(folder, "Y.npy"), y)
    np.save(os.path.join(folder, "truth.npy"), truth)


def memory(pid):
    """Peak RSS so far and RssAnon now, in bytes."""
    found = {}
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith(("VmHWM", "RssAnon")):
                    found[line.split(":")[0]] = int(line.split()[1]) * 1024
    except OSError:
        pass
    return found.get("VmHWM", 0), found.get("RssAnon", 0)


def lapis(folder, options):
    out = os.path.join(folder, "scores.npz")
    said, words = tempfile.TemporaryFile(), tempfile.TemporaryFile()
    run = subprocess.Popen(
        [os.environ.get("LAPIS_COMMAND", "build/lapis"), "fit", "mc",
         "-X", os.path.join(folder, "X.npy"),
         "-Y", os.path.join(folder, "Y.npy"), "--threads", "1", "--json",
         "-o", out, *options], stdout=said, stderr=words)
    peak, beside, done = 0, 0, 0
    while not done:
        both = memory(run.pid)
        peak, beside = max(peak, both[0]), max(beside, both[1])
        time.sleep(.01)
        done, status, used = os.wait4(run.pid, os.WNOHANG)
    run.returncode = os.waitstatus_to_exitcode(status)
    said.seek(0), words.seek(0)
    if run.returncode:
        raise RuntimeError(words.read().decode())
    scores = np.load(out)["scores"]
    os.remove(out)
    return scores, json.load(said)["info"], used, peak, beside


def auroc(truth, hidden, scores):
    return np.mean([roc_auc_score(truth[hidden] == c, scores[hidden, c])
                    for c in range(CLASSES)])


def logistic(x, y):
    known = ~np.isnan(y[:, 0])
    start = time.process_time()
    model = GridSearchCV(LogisticRegression(max_iter=2000),
                         {"C": [.001, .01, .1, 1]}, cv=3, scoring="neg_log_loss")
    model.fit(np.asarray(x[known], np.float64), y[known, 0])
    scores = np.vstack([model.decision_function(x[i:i + BLOCK])
                        for i in range(0, len(x), BLOCK)])
    return scores, time.process_time() - start, model.best_params_["C"]


def bench(folder, samples, share, options):
    if not os.path.exists(os.path.join(folder, "truth.npy")):
        generate(folder, samples, share)
    x = np.load(os.path.join(folder, "X.npy"), mmap_mode="r")
    y = np.load(os.path.join(folder, "Y.npy"))
    truth = np.load(os.path.join(folder, "truth.npy"))
    hidden = np.isnan(y[:, 0])
    scores, info, used, peak, beside = lapis(folder, options)
    print(f"{len(x)} x {x.shape[1]} {x.dtype}, {x.nbytes / 1e9:.3f} GB, "
          f"{(~hidden).sum()} labelled; {info['backend']}, "
          f"{info['threads']} thread; fit mc {' '.join(options)}")
    print(f"lapis: {used.ru_utime:.2f} s user + {used.ru_stime:.2f} s system, "
          f"{info['iterations']} steps, gap {info['gap']:.2e}, peak RSS "
          f"{peak / 1e9:.3f} GB, beside the file {beside / 1e9:.3f} GB, "
          f"AUROC {auroc(truth, hidden, scores):.4f}", flush=True)
    scores, seconds, c = logistic(x, y)
    print(f"logistic regression (C {c:g}): {seconds:.2f} s, "
          f"AUROC {auroc(truth, hidden, scores):.4f}")


def main():
    given = sys.argv[1:]
    samples = int(given[0]) if given else 20000
    share = float(given[1]) if len(given) > 1 else .01
    options = given[3:] or ["--mu-rel", ".07"]
    if len(given) > 2:
        os.makedirs(given[2], exist_ok=True)
        return bench(given[2], samples, share, options)
    with tempfile.TemporaryDirectory(prefix="lapis-bench-") as folder:
        return bench(folder, samples, share, options)


if __name__ == "__main__":
    main()
