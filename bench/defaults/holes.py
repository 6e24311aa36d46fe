"""fit auto on tables with holes, beside what else fills them.

  bench/defaults/holes.py TABLE|all|shown [build/lapis]
  bench/defaults/holes.py means TABLE,.. build/lapis [EARLIER/lapis]

Of at most MOST rows a share of the cells is hidden, SEEDS draws each.  A line is
a table and a share: root mean squared error of hidden numbers, in deviations of
their columns, of auto and of each rival, and auto's relative to the best of
these, a figure a draw; of tables with words the share of hidden words that are
filled wrong.  "won": the draws where auto is at most 1.03 of the best rival.

Rivals: scikit-learn's IterativeImputer with BayesianRidge and with ExtraTrees,
missForest [SB12] by its forests (words by a classifier; it stops where changes
grow), softImpute along a path of ten, KNNImputer; the two last choose by cells
that are hidden once more.  Words are columns of 0 and 1 for whom needs numbers,
the largest decides.  Tables are those of bench/tables.py and, where LAPIS_DATA
has them, emotions; those of SHOWN have shaped nothing.

"means" asks column by column instead: squared errors (of words wrong ones) of
all draws in shares of those of the column's mean, or commonest word, of what is
seen.  A line is a table and a share: errors of auto and of means, columns, those
behind their mean by two standard errors of the paired difference, and the
largest ratio.  Also of tables made here: "made-N" has N rows of five columns
that tell of each other and four that nothing tells of, "noise-N" only such."""
import csv
import os
import subprocess
import sys
import tempfile
import time
import warnings

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
import numpy as np  # noqa: E402: threads are counted when it is loaded
from sklearn.ensemble import (ExtraTreesRegressor, RandomForestClassifier,
                              RandomForestRegressor)
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.linear_model import BayesianRidge

import tables

SEEDS, MOST, TREES, ROUNDS, SHARES = 3, 300, 50, 5, (.1, .3)
SHAPED = ["iris", "wine", "diabetes", "Glass", "Vowel", "BostonHousing",
          "PimaIndiansDiabetes2"]
SHOWN = ["breast_cancer", "digits", "Sonar", "Vehicle", "Ionosphere", "Ozone",
         "quakes", "swiss", "airquality", "friedman3", "emotions", "Servo",
         "Zoo", "Soybean", "HouseVotes84", "infert"]
WORDS = {"Servo", "Zoo", "Soybean", "HouseVotes84", "infert"}
folder = tempfile.mkdtemp()


def of_words(name):
    """Columns, each of numbers or of words (NaN and "" where unknown)."""
    where = "mlbench" if name in tables.MLBENCH else "datasets"
    subprocess.run(["Rscript", "-e", f"data({name}, package='{where}'); "
                    f"write.csv({name}, '{folder}/r.csv', row.names=FALSE, "
                    "na='')"], check=True, stdout=subprocess.DEVNULL)
    with open(f"{folder}/r.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = []
    for key in rows[0]:
        values = np.array([row[key] for row in rows], dtype=object)
        try:
            columns.append(np.array([float(v or "nan") for v in values]))
        except ValueError:
            columns.append(values)
    return columns


def load(name):
    if name in WORDS:
        return of_words(name)
    if name == "emotions":
        path = os.environ["LAPIS_DATA"] + "/emotions"
        file = sorted(f for f in os.listdir(path) if f.endswith(".npz"))[0]
        with np.load(f"{path}/{file}") as found:
            return list(np.asarray(found["X"], float).T)
    return list(np.asarray(tables.load(name)[0], float).T)


class Table:
    """Numbers behind the columns: in deviations, words as 0 and 1."""

    def __init__(self, columns, rows):
        self.blocks, parts = [], []
        for column in columns:
            column, at = column[rows], sum(p.shape[1] for p in parts)
            if column.dtype != object:
                if np.nanstd(column) > 0:
                    parts.append(column[:, None])
                    self.blocks.append((at, at + 1))
                continue
            kinds = sorted(set(column) - {""})
            if len(kinds) > 1:
                part = (column[:, None] == np.array(kinds, object)).astype(float)
                part[column == ""] = np.nan
                parts.append(part)
                self.blocks.append((at, at + len(kinds)))
        self.X = np.hstack(parts)
        self.words = [b - a > 1 for a, b in self.blocks]

    def hide(self, share, random):
        """Of each column: X with cells hidden, in units of what is left."""
        hidden = np.zeros(self.X.shape, bool)
        for a, b in self.blocks:
            hit = (random.rand(len(self.X)) < share) & ~np.isnan(self.X[:, a])
            hidden[:, a:b] = hit[:, None]
        seen = np.where(hidden, np.nan, self.X)
        mean, size = np.nanmean(seen, 0), np.nanstd(seen, 0)
        for (a, b), words in zip(self.blocks, self.words):
            if words:
                mean[a:b], size[a:b] = 0, 1
        size[size == 0] = 1
        return (seen - mean) / size, (self.X - mean) / size, hidden

    def errors(self, filled, truth, hidden):
        """Of numbers, and of words."""
        off, wrong = [], []
        for (a, b), words in zip(self.blocks, self.words):
            hit = hidden[:, a]
            if words:
                wrong += list(filled[hit, a:b].argmax(1)
                              != truth[hit, a:b].argmax(1))
            else:
                off += list((filled[hit, a] - truth[hit, a]) ** 2)
        return (np.sqrt(np.mean(off)) if off else np.nan,
                np.mean(wrong) if wrong else np.nan)


# ---- rivals -----------------------------------------------------------------
def iterative(model):
    def fill(table, X):
        return IterativeImputer(model(), max_iter=2 * ROUNDS,
                                random_state=0).fit_transform(X)
    return fill


def miss_forest(table, X):
    Z = np.where(np.isnan(X), np.nanmean(X, 0), X)
    gaps = [np.isnan(X[:, a]) for a, _ in table.blocks]
    before, last = np.inf, Z
    for _ in range(ROUNDS):
        last, Z = Z, Z.copy()
        for k in np.argsort([g.sum() for g in gaps]):
            (a, b), gap = table.blocks[k], gaps[k]
            if not gap.any():
                continue
            others = np.delete(Z, np.s_[a:b], axis=1)
            kind = RandomForestClassifier if b - a > 1 else RandomForestRegressor
            y = X[~gap, a:b].argmax(1) if b - a > 1 else X[~gap, a]
            model = kind(TREES, random_state=0).fit(others[~gap], y)
            said = model.predict(others[gap])
            Z[gap, a:b] = said[:, None] if b - a == 1 else np.eye(b - a)[said]
        change = ((Z - last) ** 2).sum() / (Z ** 2).sum()
        if change > before:
            return last
        before = change
    return Z


def soft_path(X):
    known, mean = ~np.isnan(X), np.nanmean(X, 0)
    A = np.zeros_like(X)
    Y = np.where(known, X - mean, 0)
    for share in np.geomspace(.7, .01, 10):
        lam = share * np.linalg.norm(Y, 2)
        for _ in range(100):
            U, s, V = np.linalg.svd(np.where(known, Y, A), full_matrices=False)
            A, old = (U * np.maximum(s - lam, 0)) @ V, A
            if np.abs(A - old).max() < 1e-4:
                break
        yield A + mean


def near_path(X):
    for k in (1, 3, 5, 10, 20):
        yield KNNImputer(n_neighbors=k, weights="distance").fit_transform(X)


def tuned(path):
    """By a tenth of the cells."""
    def fill(table, X):
        hit = (np.random.RandomState(7).rand(*X.shape) < .1) & ~np.isnan(X)
        off = [np.mean((Z - X)[hit] ** 2)
               for Z in path(np.where(hit, np.nan, X))]
        return list(path(X))[int(np.argmin(off))]
    return fill


RIVALS = {"ridge": iterative(BayesianRidge),
          "trees": iterative(lambda: ExtraTreesRegressor(TREES,
                                                         random_state=0)),
          "missForest": miss_forest, "softImpute": tuned(soft_path),
          "kNN": tuned(near_path)}


# ---- auto -------------------------------------------------------------------
def auto(lapis, X):
    np.savez(f"{folder}/a.npz", X=X)
    subprocess.run([lapis, "fit", "auto", f"{folder}/a.npz", "-q", "--threads",
                    "1", "-o", f"{folder}/o.npz"], check=True,
                   stdout=subprocess.DEVNULL)
    with np.load(f"{folder}/o.npz") as found:
        return found["completed"]


def draws(name, share, lapis):
    """A row a draw: auto and rivals, of numbers or of words; seconds."""
    columns = load(name)
    numbers, words = [], []
    for seed in range(SEEDS):
        random = np.random.RandomState(seed)
        rows = random.permutation(len(columns[0]))[:MOST]
        table = Table(columns, rows)
        X, truth, hidden = table.hide(share, random)
        found, took = [], []
        for fill in [lambda _, X: auto(lapis, X)] + list(RIVALS.values()):
            started = time.time()
            found.append(table.errors(fill(table, X), truth, hidden))
            took.append(time.time() - started)
        found = np.array(found).T
        numbers.append(np.append(found[0], took[0]))
        words.append(np.append(found[1], took[0]))
    return [np.array(kind) for kind in (numbers, words)]


# ---- against means ----------------------------------------------------------
def made(name, seed):
    kind, n = name.split("-")
    g = np.random.RandomState(seed)
    n = int(n)
    a, b = g.randn(n), g.randn(n)

    def word():
        return np.array(["x", "y", "z"], object)[
            np.digitize(g.rand(n), [.5, .8])]
    free = [g.randn(n), np.exp(g.randn(n)), g.rand(n), word()]
    if kind == "noise":
        return free + [g.randn(n), word()]
    return free + [a + .3 * g.randn(n), a * b, b + .3 * g.randn(n),
                   .5 * a + g.randn(n),
                   np.array(["p", "q"], object)[(a > .3).astype(int)]]


def costs(table, filled, truth, hidden):
    """Of each column, of its hidden cells."""
    out = []
    for (a, b), words in zip(table.blocks, table.words):
        hit = hidden[:, a]
        out.append((filled[hit, a:b].argmax(1) != truth[hit, a:b].argmax(1))
                   .astype(float) if words
                   else (filled[hit, a] - truth[hit, a]) ** 2)
    return out


def against_means(name, share, lapis):
    own, means, words = None, None, None
    for seed in range(SEEDS):
        columns = made(name, seed) if "-" in name else load(name)
        random = np.random.RandomState(seed)
        rows = random.permutation(len(columns[0]))[:MOST]
        table = Table(columns, rows)
        X, truth, hidden = table.hide(share, random)
        plain = np.where(np.isnan(X), np.nanmean(X, 0), X)
        found = [costs(table, Z, truth, hidden) for Z in (auto(lapis, X), plain)]
        words = np.array(table.words)
        if own is None:
            own, means = ([[] for _ in table.blocks] for _ in range(2))
        for to, of in zip((own, means), found):
            for i, one in enumerate(of):
                to[i] += list(one)
    behind, ratio = 0, []
    for a, b in zip(own, means):
        d = np.array(a) - np.array(b)
        behind += d.mean() > 2 * d.std() / np.sqrt(len(d)) + 1e-9
        ratio.append(np.mean(a) / np.mean(b))

    def mean(of, kind):
        cells = [c for x, w in zip(of, words) if w == kind for c in x]
        return np.nan if not cells else (
            np.mean(cells) if kind else np.sqrt(np.mean(cells)))
    print(f"| {name}, {share:g} |",
          " | ".join("%.3f" % mean(of, kind) for kind in (False, True)
                     for of in (own, means)),
          f"| {len(ratio)} | {behind} | {max(ratio):.3f} |", flush=True)


def line(name, share, rows):
    ratio = rows[:, 0] / rows[:, 1:-1].min(1)
    print(f"| {name}, {share:g} |", " | ".join("%.3f" % v
                                              for v in rows[:, :-1].mean(0)),
          "|", " ".join("%.3f" % v for v in ratio),
          "| %.1f |" % rows[:, -1].mean(), flush=True)
    return list(ratio)


if __name__ == "__main__":
    asked, lapis = sys.argv[1], (sys.argv[2:] or ["build/lapis"])[0]
    warnings.simplefilter("ignore")
    if asked == "means":
        for name in sys.argv[2].split(","):
            for share in SHARES:
                for lapis in sys.argv[3:]:
                    against_means(name, share, lapis)
        sys.exit()
    head = ["table, share", "auto", *RIVALS, "auto / best, a draw each", "s"]
    print("|", " | ".join(head), "|\n|" + " --- |" * len(head))
    of = {"numbers": [], "words": []}
    for name in {"all": SHAPED, "shown": SHOWN}.get(asked, [asked]):
        for share in SHARES:
            for kind, rows in zip(of, draws(name, share, lapis)):
                if not np.isnan(rows).any():
                    title = name + (" (words)" if kind == "words" else "")
                    of[kind] += line(title, share, rows)
    for kind, ratios in of.items():
        if ratios:
            print(f"{kind}: won {np.mean(np.array(ratios) <= 1.03):.3f} of "
                  f"{len(ratios)}, mean ratio {np.mean(ratios):.3f}")
