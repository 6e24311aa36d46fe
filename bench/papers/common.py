"""What the programs of the papers share: their items, the command, rivals.

An item is a table or a figure of a paper.  Its function takes `quick` and
returns rows (label, theirs, ours) and claims (sentence, does it hold here?);
`said` is an item without a run, and why.  Results are kept in
bench/results/papers.json, from which tools/papers makes docs/papers.md."""
import argparse
import fcntl
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = os.path.join(HERE, "../results/papers.json")
FACES = os.path.join(HERE, "../../data/cmu_faces")
LAPIS = os.environ.get("LAPIS_COMMAND",
                       os.path.join(HERE, "../../build/lapis"))
ITEMS = {}  # of each paper


# ---- items ------------------------------------------------------------------
def add(name, shows, note, function):
    """To the items of the program that asks for it, the caller's caller."""
    paper = os.path.basename(sys._getframe(2).f_globals["__file__"])[:-3]
    ITEMS.setdefault(paper, {})[name] = {"shows": shows, "note": note,
                                         "run": function}
    return function


def item(name, shows, note=""):
    def keep(function):
        return add(name, shows, note, function)
    return keep


def said(name, shows, note):
    add(name, shows, note, None)


def data(*path):
    """A file of LAPIS_DATA; whoever has none is told so."""
    folder = os.environ.get("LAPIS_DATA")
    if not folder:
        sys.exit("LAPIS_DATA names no folder with " + "/".join(path))
    return os.path.join(folder, *path)


def number(v):
    return v if isinstance(v, str) else "" if v is None else f"{v:.4g}"


def show(name, kept):
    print(f"{name}: {kept['shows']}" + "; " * bool(kept["note"])
          + kept["note"])
    if kept.get("rows"):
        print("| | theirs | ours |\n| --- | --- | --- |")
        for row in kept["rows"]:
            print("| " + " | ".join(number(c) for c in row) + " |")
    for sentence, holds in kept.get("claims", []):
        print(f"{'holds' if holds else 'DOES NOT HOLD'}: {sentence}")
    sys.stdout.flush()


def plain(value):
    """As JSON has it, four digits."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    return float(f"{value:.4g}") if isinstance(value, (float, np.floating)) \
        else value


def run(paper, name, quick):
    one = ITEMS[paper][name]
    kept = {k: one[k] for k in ("shows", "note")}
    if one["run"]:
        began = time.perf_counter()
        rows, claims = one["run"](quick)
        kept["rows"] = [[plain(c) for c in row] for row in rows]
        kept["claims"] = [[s, bool(holds)] for s, holds in claims]
        # `_`: there is nothing that could be quicker
        same = one["run"].__code__.co_varnames[0] == "_"
        kept["how"] = "quick" if quick and not same else "whole"
        print(f"({time.perf_counter() - began:.0f} s)", file=sys.stderr)
    return kept


def record(paper, found):
    """Into the file, in the paper's order; what was not run stays."""
    with open(KEPT, "r+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        kept = json.load(file)
        add_found(kept, paper, found)
        text = ",\n".join(f"{json.dumps(name)}: {{\n" + ",\n".join(
            f" {json.dumps(k)}: {json.dumps(v)}" for k, v in
            items.items()) + "}" for name, items in kept.items())
        file.seek(0)
        file.truncate()
        file.write("{" + text + "}\n")  # an item a line


def add_found(kept, paper, found):
    old, new = kept.get(paper, {}), {}
    for name, i in ITEMS[paper].items():
        new[name] = found.get(name) or dict(old.get(name, {}),
                                            shows=i["shows"], note=i["note"])
        if i["run"] is None:
            new[name] = {"shows": i["shows"], "note": i["note"]}
        new[name]["runs"] = i["run"] is not None
    kept[paper] = new


def differs(kept, now):
    """What is not as it was kept: claims, labels, figures by more than a
    twentieth and .02."""
    if now.get("claims") != kept.get("claims"):
        return "claims"
    for a, b in zip(now["rows"], kept["rows"], strict=True):
        if a[:2] != b[:2] or isinstance(b[2], str) and a[2] != b[2]:
            return a[0]
        if not isinstance(b[2], str) and \
                abs(a[2] - b[2]) > .02 + abs(b[2]) / 20:
            return f"{a[0]}: {a[2]}, kept: {b[2]}"
    return ""


def main():
    warnings.filterwarnings("ignore")
    paper = os.path.basename(sys.argv[0])[:-3]
    p = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    p.add_argument("items", nargs="*", help="as they are listed without any")
    p.add_argument("--quick", action="store_true",
                   help="fewer draws; without items: the whole paper")
    p.add_argument("--all", action="store_true", help="the whole paper")
    p.add_argument("--record", action="store_true",
                   help="keep results in bench/results/papers.json")
    p.add_argument("--check", action="store_true",
                   help="run as what was kept; fail where it differs")
    o = p.parse_args()
    items = ITEMS[paper]
    unknown = set(o.items) - set(items)
    if unknown:
        p.error("no item " + ", ".join(sorted(unknown)))
    with open(KEPT, encoding="utf-8") as file:
        kept = json.load(file).get(paper, {})
    found = {}
    for name in o.items or (items if o.quick or o.all else ()):
        found[name] = run(paper, name, o.quick or o.check and
                          kept[name]["how"] == "quick")
        show(name, found[name])
        if o.record:
            record(paper, found)
        if o.check:
            other = differs(kept[name], found[name])
            if other:
                sys.exit(f"{paper} {name}: not as kept: {other}")
    if not o.items and not found:
        for name, i in items.items():
            print(f"{name:8s} {i['shows']}" + " (no run)" * (not i["run"]))
    if o.record:
        record(paper, found)


# ---- the command ------------------------------------------------------------
def lapis(*words):
    """lapis WORDS --json -> the object; its sentence on failure."""
    done = subprocess.run([LAPIS, *map(str, words), "--json", "-q"],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def fit(method, members, *options, model=None):
    """What was said, and the arrays."""
    with tempfile.TemporaryDirectory(prefix="lapis-bench-") as folder:
        np.savez(f"{folder}/d.npz", **members)
        extra = ["--model", model] if model else []
        told = lapis("fit", method, f"{folder}/d.npz", *options, *extra, "-o",
                     f"{folder}/o.npz")
        with np.load(f"{folder}/o.npz") as out:
            return told, dict(out)


def predict(model, X, *options, **members):
    with tempfile.TemporaryDirectory(prefix="lapis-bench-") as folder:
        np.savez(f"{folder}/d.npz", X=X, **members)
        lapis("predict", model, f"{folder}/d.npz", *options, "-o",
              f"{folder}/o.npz")
        with np.load(f"{folder}/o.npz") as out:
            return dict(out)


def fit_predict(method, members, X, options=(), asked=((),)):
    """fit's words and arrays, and what predict answers for each of `asked`."""
    with tempfile.TemporaryDirectory(prefix="lapis-bench-") as folder:
        told, out = fit(method, members, *options, model=f"{folder}/m.lapis")
        return told, out, [predict(f"{folder}/m.lapis", X, *o) for o in asked]


def choose(method, members, grids, *options, folds=3):
    """Options that `lapis cv` likes best: each grid alone, in turn."""
    with tempfile.TemporaryDirectory(prefix="lapis-bench-") as folder:
        np.savez(f"{folder}/d.npz", **members)
        best = {}
        for name, values in grids.items():
            given = [w for k, v in best.items() for w in ("--" + k, v)]
            best[name] = lapis(
                "cv", method, f"{folder}/d.npz", "--folds", folds, "--grid",
                f"{name}={values}", *given, *options)["best"]["settings"][name]
        return [w for k, v in best.items() for w in ("--" + k, v)]


def listed(values, how):
    """Several figures in a cell."""
    return " ".join(v if isinstance(v, str) else format(v, how)
                    for v in values)


# ---- measures, and rivals of several papers ---------------------------------
def auroc(truth, scores):
    """Of truth -1 or 0 and 1; NaN is left out.  A mean over columns."""
    truth, scores = np.atleast_2d(truth.T), np.atleast_2d(scores.T)
    each = []
    for y, s in zip(truth, scores):
        y, s = y[~np.isnan(y)], s[~np.isnan(y)]
        more = s[y > 0][:, None] - s[y <= 0][None, :]
        if more.size:
            each.append(np.mean((more > 0) + .5 * (more == 0)))
    return float(np.mean(each))


def ones(X):
    return np.c_[X, np.ones(len(X))]


def ridge(X, Y, gamma=0.0):
    """Least squares with a bias; gamma |T|^2, the bias included."""
    A = ones(X)
    if gamma == 0:
        return np.linalg.lstsq(A, Y, rcond=None)[0].T
    if len(A) < A.shape[1]:
        G = A @ A.T + gamma * np.eye(len(A))
        return (A.T @ np.linalg.solve(G, Y)).T
    return np.linalg.solve(A.T @ A + gamma * np.eye(A.shape[1]), A.T @ Y).T


def tls(X, Y):
    """Total least squares on centred data."""
    mx, my = X.mean(0), Y.mean(0)
    V = np.linalg.svd(np.c_[X - mx, Y - my], full_matrices=True)[2].T
    d = X.shape[1]
    T = -np.linalg.lstsq(V[d:, d:].T, V[:d, d:].T, rcond=None)[0]
    return np.c_[T, my - T @ mx]


def linear_svm(x, y, at, C, **more):
    """Hinge loss, a column of y each (0 or -1, and 1)."""
    from sklearn.svm import LinearSVC
    y = y if y.ndim == 2 else y[:, None]
    made = [LinearSVC(loss="hinge", C=C, max_iter=20000, **more)
            .fit(x, y[:, c]) for c in range(y.shape[1])]
    return np.stack([m.decision_function(at) for m in made], 1)


def validated_svm(x, y, at, Cs, groups=None):
    """The C that three folds of x like best."""
    from sklearn.model_selection import GroupKFold, KFold
    folds = GroupKFold(3) if groups is not None else \
        KFold(3, shuffle=True, random_state=0)
    folds = list(folds.split(x, groups=groups))

    def worth(C):
        return np.mean([auroc(y[b], linear_svm(x[a], y[a], x[b], C))
                        for a, b in folds])
    return linear_svm(x, y, at, max(Cs, key=worth))
