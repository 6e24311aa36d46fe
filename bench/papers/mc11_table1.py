#!/usr/bin/python3
"""[MC11] Table 1 on the bundled CMU faces: who wears sunglasses?

    LAPIS_COMMAND=build/lapis bench/papers/mc11_table1.py [--people 0,1,..]
        [--known] [-o DIR]

Word histograms of 624 pictures; labels of some people (of 0 to 19; the paper's
first eight) are known, and asked for the others.  Settings of each variant are
chosen by `lapis cv` over the training people, hidden in four folds: one setting
after another, mu first, each with the values of those before that did best.
--known: only mc1 and pos, with settings known to be good.  Printed: AUROC of the
people left out; of a model that never saw them and answers later ("folded"); the
paper's.  The rival: `lapis fit linear`, its C chosen likewise.  -o DIR keeps each
variant's data (X, Y, group, hidden) and answers."""
import argparse
import json
import os
import subprocess
import tempfile

import numpy as np

LAPIS = os.environ.get("LAPIS_COMMAND", "build/lapis")
FACES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "../../data/cmu_faces/faces.npz")
MAPS = {"sqrt": np.sqrt, "none": lambda X: X,
        "l1": lambda X: X / X.sum(axis=1, keepdims=True)}
# variant, map, settings known to be good, grids, iterations of a fit that helps
# to choose, tolerance of the fit, the paper's AUROC
TRIALS = [
    ("mc1", "sqrt", {"mu-rel": ".02", "lambda": ".1", "gamma": "3"},
     {"mu-rel": ".05,.02,.01", "lambda": ".1,.3", "gamma": "3,10"},
     10, "1e-4", .96),
    ("pos", "none", {"mu-rel": ".002", "lambda": ".01", "gamma": "1"},
     {"mu-rel": ".004,.002", "lambda": ".01,.1", "gamma": "1,3"},
     5, "1e-3", .97),
    ("simplex", "l1", {"mu-rel": ".1", "lambda": ".01", "gamma": "3"},
     {"mu-rel": ".3,.1", "lambda": ".01,.001"}, 5, "1e-3", .96)]


def run(*words):
    out = subprocess.run([LAPIS, *map(str, words), "--json", "-q"], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return json.loads(out)


def auroc(truth, scores):
    y, s = truth[~np.isnan(truth)], scores[~np.isnan(truth)]
    more = s[y > 0][:, None] - s[y < 0][None, :]
    return np.mean((more > 0) + .5 * (more == 0))


def given(settings):
    return [w for name, v in settings.items() for w in ("--" + name, v)]


def choose(method, file, settings, grids, *more):
    """One setting after the other."""
    for name, values in grids.items():
        rest = {k: v for k, v in settings.items() if k != name}
        best = run("cv", method, file, "--groups", "--folds", 4, "--grid",
                   name + "=" + values, *given(rest), *more)["best"]["settings"]
        settings = dict(rest, **{name: best[name]})
    return settings


def ask(method, folder, data, settings, *more):
    """AUROC of what is hidden: completed with the rest, and folded in."""
    np.savez(folder + "/all.npz", X=data["X"], Y=data["Y"])
    seen = ~np.isnan(data["Y"])
    np.savez(folder + "/seen.npz", X=data["X"][seen], Y=data["Y"][seen])
    done = run("fit", method, folder + "/all.npz", "-o", folder + "/a.npz",
               *given(settings), *more)
    run("fit", method, folder + "/seen.npz", "--model", folder + "/m.lapis",
        *given(settings), *more)
    run("predict", folder + "/m.lapis", folder + "/all.npz", "-o",
        folder + "/p.npz")
    scores = np.load(folder + "/a.npz")["scores"].ravel()
    folded = np.load(folder + "/p.npz")["scores"].ravel()
    return (auroc(data["hidden"], scores), auroc(data["hidden"], folded),
            done["info"], scores)


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--people", default="0,1,2,3,4,5,6,7")
    args.add_argument("--known", action="store_true")
    args.add_argument("-o", dest="out")
    args = args.parse_args()
    faces = np.load(FACES)
    label = faces["label"].astype(float)
    train = np.isin(faces["subject"], [int(p) for p in args.people.split(",")])
    data = {"Y": np.where(train, label, np.nan), "group": faces["subject"],
            "hidden": np.where(train, np.nan, label)}
    print("| | features | AUROC | folded | paper's | rank | gap | settings |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="lapis-bench-") as folder:
        for name, map_, settings, grids, iters, tol, paper in TRIALS:
            if args.known and name == "simplex":
                continue
            data["X"] = MAPS[map_](faces["counts"].astype(float))
            np.savez(folder + "/cv.npz", X=data["X"][train],
                     Y=label[train], group=data["group"][train])
            variant = ("--variant", name)
            if not args.known:
                settings = choose("mc", folder + "/cv.npz", settings, grids,
                                  *variant, "--tol", "1e-2", "--max-iters",
                                  iters)
            now, folded, info, scores = ask(
                "mc", folder, data, settings, *variant, "--tol",
                "1e-4" if args.known else tol)
            print(f"| {name} | {map_} | {now:.4f} | {folded:.4f} | {paper} | "
                  f"{info['rank']} | {info['gap']:.1e} | {settings} |",
                  flush=True)
            if args.out:
                os.makedirs(args.out, exist_ok=True)
                np.savez(f"{args.out}/{name}.npz", **data)
                np.savez(f"{args.out}/{name}-scores.npz", scores=scores)
        for map_, paper in () if args.known else (("l1", .90), ("sqrt", "")):
            data["X"] = MAPS[map_](faces["counts"].astype(float))
            np.savez(folder + "/cv.npz", X=data["X"][train],
                     Y=label[train], group=data["group"][train])
            settings = choose("linear", folder + "/cv.npz", {},
                              {"C": ".01,.1,1,10,100,1e3,1e4"})
            now, folded, _, _ = ask("linear", folder, data, settings)
            print(f"| linear | {map_} | {now:.4f} | {folded:.4f} | {paper} | | "
                  f"| {settings} |", flush=True)


main()
