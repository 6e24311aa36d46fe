"""Coverage and size of the sets and intervals of auto, on tables.

  bench/defaults/coverage.py TABLE|all|numbers|labels [build/lapis]

A line is of SEEDS draws of a table and a coverage: 60 % of at most MOST rows
teach, the others are asked.  Coverage is the share of asked truths inside; its
error is the binomial standard error of as many rows as were asked in all.
"kept" says whether it lies within two of them of the promise, or above.  Beside
it the same of scikit-learn's forest (500 trees) with the cross-conformal sets
and CV+ intervals of tests/oracle/conformal.py, in five folds.  Size is the median
width of intervals, in standard deviations of the target, and the mean (median)
number of classes."""
import os
import subprocess
import sys
import tempfile
import warnings

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
import numpy as np  # noqa: E402: threads are counted when it is loaded
from sklearn import ensemble
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, here + "/../../tests/oracle"]
import conformal as oracle  # noqa: E402
from tables import LABELS, NUMBERS, SHOWN, draws, load  # noqa: E402

LEVELS, FOLDS = (.8, .9, .95), 5
folder = tempfile.mkdtemp()


def ask(lapis, X, y, Z, numbers):
    """What is inside at each level: bool m x K, or ends m x 2."""
    np.savez(f"{folder}/a.npz", X=X, Y=y.astype(float))
    np.savez(f"{folder}/b.npz", X=Z)
    subprocess.run([lapis, "fit", "auto", f"{folder}/a.npz", "-q", "--threads",
                    "1", "--coverage", ".9", "--model", f"{folder}/m",
                    "--targets", "numbers" if numbers else "classes"],
                   check=True, stdout=subprocess.DEVNULL)
    for level in LEVELS:
        subprocess.run([lapis, "predict", f"{folder}/m", f"{folder}/b.npz",
                        "-q", "--coverage", str(level), "-o",
                        f"{folder}/o.npz"],
                       check=True, stdout=subprocess.DEVNULL)
        with np.load(f"{folder}/o.npz") as found:
            yield (np.column_stack([found["set_low"], found["set_high"]])
                   if numbers else found["classes_kept"] > 0)


def rival(X, y, Z, numbers):
    forest = (ensemble.RandomForestRegressor if numbers
              else ensemble.RandomForestClassifier)
    K = 0 if numbers else int(y.max()) + 1
    fold = np.zeros(len(y), int)
    scores = np.zeros(len(y))
    said = []
    for f, (shown, hidden) in enumerate(
            KFold(FOLDS, shuffle=True, random_state=0).split(X)):
        model = make_pipeline(SimpleImputer(), forest(500, random_state=0))
        model.fit(X[shown], y[shown])
        fold[hidden] = f
        if numbers:
            scores[hidden] = np.abs(y[hidden] - model.predict(X[hidden]))
            said.append(model.predict(Z))
            continue
        both = []
        for rows in (X[hidden], Z):
            p = np.zeros((len(rows), K))
            p[:, model.classes_] = model.predict_proba(rows)
            both.append(p)
        scores[hidden] = 1 - both[0][np.arange(len(hidden)), y[hidden]]
        said.append(both[1])
    for level in LEVELS:
        yield (oracle.intervals if numbers else oracle.sets)(
            scores, fold, np.array(said), level)


def rows(name, lapis):
    numbers = name in NUMBERS + SHOWN["numbers"]
    X, y = load(name)
    if not numbers:
        y = np.unique(y, return_inverse=True)[1]
    found = {level: ([], [], [], []) for level in LEVELS}
    for train, test, _ in draws(X, y):
        code = y[train]
        if not numbers:
            classes, code = np.unique(code, return_inverse=True)
            test = test[np.isin(y[test], classes)]
        truth = y[test] if numbers else np.searchsorted(classes, y[test])
        for who, answers in enumerate((ask, rival)):
            args = (lapis,) if who == 0 else ()
            for level, of in zip(LEVELS, answers(*args, X[train], code, X[test],
                                                 numbers)):
                if numbers:
                    inside = (truth >= of[:, 0]) & (truth <= of[:, 1])
                    size = (of[:, 1] - of[:, 0]) / y.std()
                else:
                    inside, size = of[np.arange(len(test)), truth], of.sum(1)
                found[level][2 * who].extend(inside)
                found[level][2 * who + 1].extend(size)
    for level, (inside, size, theirs, width) in found.items():
        error = np.sqrt(level * (1 - level) / len(inside))
        cover, other = np.mean(inside), np.mean(theirs)
        kept = "no" if cover < level - 2 * error else (
            "above" if cover > level + 2 * error else "yes")
        sizes = [f"{np.median(s):.2f}" if numbers
                 else f"{np.mean(s):.2f} ({np.median(s):.0f})"
                 for s in (size, width)]
        print(f"{name} | {level} | {cover:.3f} | {error:.3f} | {kept} | "
              f"{sizes[0]} | {other:.3f} | {sizes[1]}", flush=True)
        yield kept


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    table, lapis = sys.argv[1], (sys.argv[2:] or ["build/lapis"])[0]
    labels = LABELS + SHOWN["labels"]
    numbers = NUMBERS + SHOWN["numbers"]
    print("table | promise | coverage | error | kept | size | forest's | size")
    names = {"all": labels + numbers, "labels": labels,
             "numbers": numbers}.get(table, [table])
    kept = [k for name in names for k in rows(name, lapis)]
    print(*(f"{word}: {kept.count(word)}" for word in ("yes", "above", "no")))
