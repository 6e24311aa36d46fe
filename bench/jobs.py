#!/usr/bin/env python3
"""What --jobs 2 gains: the same command with one job and with two, each of one
thread.  Prints wall seconds, processor seconds of all processes, and those of
the longest path (the command itself and its busiest worker), which a busy
machine does not change; and whether both printed the same.

    bench/jobs.py [LAPIS] [--runs N]
"""
import argparse
import os
import subprocess
import tempfile
import time

import numpy as np

TICK = os.sysconf("SC_CLK_TCK")
CASES = {
    "cv mc, bordered, 3000 x 400": "cv mc big.npz --grid mu-rel=.3:.01:4 "
                                   "--folds 4",
    "cv mc, admm, 900 x 120 with holes": "cv mc holes.npz --grid "
                                        "mu-rel=.3:.01:4 --folds 6",
    "cv svmplus, rbf, 2500 x 20": "cv svmplus few.npz --kernel rbf --grid "
                                 "C=.1,1,10 --folds 6",
    "cv rr, 600 x 60": "cv rr small.npz --grid lambda=.1,1 --folds 6",
    "fit mc, the choice, 6000 x 60": "fit mc choice.npz",
}


def write_problems(folder):
    rng = np.random.default_rng(0)
    for name, n, d, holes in (("big", 3000, 400, 0), ("holes", 900, 120, .2),
                              ("few", 2500, 20, 0), ("small", 600, 60, 0),
                              ("choice", 6000, 60, 0)):
        rank = min(d, 10)
        X = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d))
        X += rng.normal(size=(n, d))
        Y = np.where(X[:, 0] + X[:, 1] + 4 * rng.normal(size=n) > 0, 1., -1.)
        X[rng.random(X.shape) < holes] = np.nan
        np.savez(os.path.join(folder, name + ".npz"), X=X, Y=Y)


def seconds_of(pid):
    """Processor seconds of a process so far, and its parent."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            fields = f.read().rpartition(")")[2].split()
    except OSError:
        return 0, 0
    return (int(fields[11]) + int(fields[12])) / TICK, int(fields[1])


def run(lapis, arguments, jobs, folder):
    """(wall, all processor seconds, those of the longest path, output)."""
    before, begun = os.times(), time.monotonic()
    out = open(os.path.join(folder, "out"), "w+")
    child = subprocess.Popen(
        [lapis, *arguments.split(), "--threads", "1", "--jobs", str(jobs),
         "--json", "--quiet"], cwd=folder, stdout=out)
    spent = {}
    while child.poll() is None:
        for name in filter(str.isdigit, os.listdir("/proc")):
            now, parent = seconds_of(name)
            if child.pid in (int(name), parent):
                spent[int(name)] = max(now, spent.get(int(name), 0))
        time.sleep(0.01)
    wall, after = time.monotonic() - begun, os.times()
    total = (after.children_user + after.children_system
             - before.children_user - before.children_system)
    own = spent.pop(child.pid, 0)
    # a choice goes in rounds, each with workers of its own: no path is known
    path = (total if jobs == 1 else np.nan if len(spent) > jobs
            else own + max(spent.values(), default=0))
    out.seek(0)
    said = [line for line in out if "seconds" not in line]
    return wall, total, path, said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lapis", nargs="?", default="build/lapis")
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    lapis = os.path.abspath(args.lapis)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; medians of "
          f"{args.runs} runs; seconds")
    print("| | wall 1 | wall 2 | ratio | all 1 | all 2 | longest path 2 | "
          "ratio of all 1 | same |")
    print("|" + " --- |" * 9)
    with tempfile.TemporaryDirectory() as folder:
        write_problems(folder)
        for name, arguments in CASES.items():
            found = {jobs: [run(lapis, arguments, jobs, folder)
                            for _ in range(args.runs)] for jobs in (1, 2)}
            one, two = (np.median([r[:3] for r in found[jobs]], axis=0)
                        for jobs in (1, 2))
            same = all(r[3] == found[1][0][3]
                       for r in found[1] + found[2])
            print(f"| {name} | {one[0]:.2f} | {two[0]:.2f} | "
                  f"{one[0] / two[0]:.2f} | {one[1]:.2f} | {two[1]:.2f} | "
                  f"{two[2]:.2f} | {one[1] / two[2]:.2f} | "
                  f"{'yes' if same else 'NO'} |", flush=True)


if __name__ == "__main__":
    main()
