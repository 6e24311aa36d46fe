"""auto on tables of labels and of numbers, beside scikit-learn's.

  bench/defaults/tables.py labels|numbers TABLE|all [build/lapis ...]

A line is the mean of SEEDS draws: 60 % of at most MOST rows teach, the others
are asked.  Tables are scikit-learn's, Debian's r-cran-mlbench and R's own (read
by Rscript); those of SHOWN have shaped nothing.

labels: AUROC (one against all others) / log-loss / seconds.
numbers: R^2 / seconds, of the table as it is; with gross errors (WRONG of the
entries of X, FAR deviations off) where it teaches; and there and where it is
asked.  The forest is scikit-learn's with what it has by default and 500 trees;
ridge chooses among 13 by leaving one out.  PICKED=1 adds the best by five folds
of these, boosted trees, and kernel ridge regression (15 settings), which takes
long; ALONE=1 leaves all rivals out, MOST=2500 draws more rows, SEEDS=1 once.  RUNS=4: of labels the mean of so many
--seed, too."""
import csv
import os
import subprocess
import sys
import tempfile
import time
import warnings

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
import numpy as np  # noqa: E402: threads are counted when it is loaded
from sklearn import datasets, ensemble
from sklearn.compose import TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, label_binarize
from sklearn.svm import SVC

SEEDS = int(os.environ.get("SEEDS", 3))
MOST, SHARE, WRONG, FAR = int(os.environ.get("MOST", 600)), .6, .1, 8
GAMMAS = np.array([.1, .3, 1, 3])  # of kernels, over the number of features
MLBENCH = {"BostonHousing": "medv", "Ozone": "V4", "Servo": "Class",
           "Sonar": "Class", "Glass": "Type", "Vehicle": "Class",
           "Vowel": "Class", "Ionosphere": "Class",
           "PimaIndiansDiabetes2": "diabetes", "HouseVotes84": "Class",
           "Soybean": "Class", "Zoo": "type", "BreastCancer": "Class",
           "DNA": "Class", "Satellite": "classes", "Shuttle": "Class",
           "LetterRecognition": "lettr"}
OF_R = {"airquality": "Temp", "quakes": "mag", "swiss": "Fertility",
        "attitude": "rating", "infert": "age"}


def parts(seed, rows=6000, columns=12):
    """Labels by the sum of parts of one or two features each, and chance."""
    random = np.random.RandomState(seed)
    X = random.randn(rows, columns)
    f = (X[:, 0] + 1.5 * np.sin(2 * X[:, 1]) - np.abs(X[:, 4])
         + 2 * (X[:, 2] > .5) * (X[:, 3] > 0) + .5 * X[:, 5] * X[:, 6])
    return X, (random.rand(rows) < 1 / (1 + np.exp(-1.5 * f - .3))).astype(int)


MADE = {"parts": lambda: parts(0),
        "friedman1": lambda: datasets.make_friedman1(
            max(MOST, 600), noise=1, random_state=0),
        "friedman2": lambda: datasets.make_friedman2(600, noise=125,
                                                     random_state=0),
        "friedman3": lambda: datasets.make_friedman3(600, noise=.1,
                                                     random_state=0),
        "lines": lambda: datasets.make_regression(
            300, 40, n_informative=15, effective_rank=20, noise=2,
            random_state=0)}
LABELS = ["iris", "wine", "breast_cancer", "digits", "Sonar", "Glass",
          "Vehicle", "Vowel", "Ionosphere", "PimaIndiansDiabetes2",
          "HouseVotes84"]
NUMBERS = ["diabetes", "BostonHousing", "Ozone", "friedman1", "friedman2",
           "lines"]
SHOWN = {"labels": ["Soybean", "Zoo", "BreastCancer"],
         "numbers": ["Servo", "friedman3", "airquality", "quakes", "swiss",
                     "infert"]}
folder = tempfile.mkdtemp()
alone, picked = "ALONE" in os.environ, "PICKED" in os.environ


def of_r(name):
    """X, words as columns of 0 and 1, and the target."""
    where = "mlbench" if name in MLBENCH else "datasets"
    target = MLBENCH.get(name) or OF_R[name]
    subprocess.run(["Rscript", "-e", f"data({name}, package='{where}'); "
                    f"write.csv({name}, '{folder}/r.csv', row.names=FALSE, "
                    "na='')"], check=True, stdout=subprocess.DEVNULL)
    with open(f"{folder}/r.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row[target] != ""]
    columns = []
    for key in rows[0]:
        values = [row[key] for row in rows]
        if key in (target, "Id"):
            continue
        try:
            columns.append([float(v) if v else np.nan for v in values])
        except ValueError:
            kinds = sorted(set(values) - {""})
            for kind in kinds[len(kinds) == 2:]:
                columns.append([float(v == kind) if v else np.nan
                                for v in values])
    y = [row[target] for row in rows]
    numbers = name in NUMBERS + SHOWN["numbers"]
    return np.array(columns).T, np.array(y, float if numbers else str)


def load(name):
    if name in MADE:
        return MADE[name]()
    if name in MLBENCH or name in OF_R:
        return of_r(name)
    return getattr(datasets, "load_" + name)(return_X_y=True)


def spoil(X, random):
    hit = random.rand(*X.shape) < WRONG
    step = FAR * np.nanstd(X, 0) * np.sign(random.randn(*X.shape))
    return np.where(hit, X + step, X)


def draws(X, y):
    for seed in range(SEEDS):
        random = np.random.RandomState(seed)
        order = random.permutation(len(y))[:MOST]
        n = int(SHARE * len(order))
        yield order[:n], order[n:], random


def ask(lapis, train, test, key, seed=0):
    started = time.time()
    np.savez(f"{folder}/a.npz", X=train[0], Y=train[1].astype(float))
    np.savez(f"{folder}/b.npz", X=test)
    more = ["--targets", "numbers"] if key == "scores" else []
    subprocess.run([lapis, "fit", "auto", f"{folder}/a.npz", "-q", "--threads",
                    "1", "--seed", str(seed), "--model", f"{folder}/m"] + more,
                   check=True, stdout=subprocess.DEVNULL)
    took = time.time() - started
    subprocess.run([lapis, "predict", f"{folder}/m", f"{folder}/b.npz", "-q",
                    "-o", f"{folder}/o.npz"],
                   check=True, stdout=subprocess.DEVNULL)
    with np.load(f"{folder}/o.npz") as found:
        return found[key].reshape(len(test), -1), took


# ---- numbers ----------------------------------------------------------------
def number_rivals():
    def behind(model):
        return TransformedTargetRegressor(
            make_pipeline(SimpleImputer(), StandardScaler(), model),
            transformer=StandardScaler())
    if alone:
        return {}
    few = {"forest": behind(ensemble.RandomForestRegressor(500)),
           "ridge": behind(RidgeCV(np.logspace(-3, 3, 13)))}
    if not picked:
        return few
    return {**few,
            "boosted": behind(ensemble.HistGradientBoostingRegressor()),
            "kernel": GridSearchCV(
                behind(KernelRidge(kernel="rbf")),
                {"regressor__kernelridge__alpha": [.01, .1, 1],
                 "regressor__kernelridge__gamma": [.003, .01, .03, .1, .3]})}


def number_rows(name, programs):
    X, y = load(name)
    of = {"clean": [], "trained on errors": [], "errors in both": []}
    for train, test, random in draws(X, y):
        Z = spoil(X, random)
        for cell, (A, B) in zip(of, ((X, X), (Z, X), (Z, Z))):
            row = []
            for lapis in programs:
                said, took = ask(lapis, (A[train], y[train]), B[test],
                                 "scores")
                row += [r2_score(y[test], said), took]
            by, told, started = [], [], time.time()
            for model in number_rivals().values():
                folds = KFold(5, shuffle=True, random_state=0)
                by.append(0 if not picked else cross_val_score(model, A[train], y[train],
                                          cv=folds).mean())
                told.append(r2_score(y[test], model.fit(
                    A[train], y[train]).predict(B[test])))
            best = told[np.argmax(by)] if picked else np.nan
            of[cell].append(row + told[:2] + [best, time.time() - started])
    for cell, rows in of.items():
        print(f"{name}, {cell} |",
              " | ".join("%.3f" % v for v in np.mean(rows, 0)), flush=True)
    return [np.mean(rows, 0) for rows in of.values()]


# ---- labels -----------------------------------------------------------------
def likely(model, X, y):
    """The log-likelihood of classes that the model knows."""
    known = np.isin(y, model.classes_)
    return -log_loss(y[known], model.predict_proba(X[known]),
                     labels=model.classes_)


def label_rivals(columns):
    def behind(model):
        return make_pipeline(SimpleImputer(), StandardScaler(), model)
    if alone:
        return []
    return [behind(ensemble.RandomForestClassifier(500)),
            behind(ensemble.HistGradientBoostingClassifier()),
            behind(LogisticRegressionCV(max_iter=1000, scoring=likely)),
            GridSearchCV(behind(SVC(probability=True, random_state=0)),
                         {"svc__C": [1, 10, 100],
                          "svc__gamma": GAMMAS / columns},
                         scoring=likely)]


def judge(truth, p, classes):
    """AUROC and log-loss."""
    if p.shape[1] == 1:
        p = np.hstack([1 - p, p])
    kinds = np.flatnonzero((truth[:, None] == classes).any(0))
    of = [roc_auc_score(truth == c, p[:, c]) for c in kinds]
    p = np.clip(p, 1e-6, 1)
    p /= p.sum(1, keepdims=True)
    return [np.mean(of), log_loss(truth, p, labels=classes)]


def label_rows(name, programs):
    X, y = load(name)
    y = np.unique(y, return_inverse=True)[1]
    rows = []
    for train, test, _ in draws(X, y):
        classes, code = np.unique(y[train], return_inverse=True)
        test = test[np.isin(y[test], classes)]
        truth, row = np.searchsorted(classes, y[test]), []
        for lapis in programs:
            said = [ask(lapis, (X[train], code), X[test], "probabilities", run)
                    for run in range(int(os.environ.get("RUNS", 1)))]
            row += list(np.mean([judge(truth, p, np.arange(len(classes))) + [s]
                                 for p, s in said], 0))
        by, told, started = [], [], time.time()
        for model in label_rivals(X.shape[1]):
            by.append(cross_val_score(model, X[train], code,
                                      scoring=likely).mean())
            model.fit(X[train], code)
            told.append(judge(truth, model.predict_proba(X[test]),
                              np.arange(len(classes))))
        if told:
            row += told[np.nanargmax(by)]
            row += [max(t[0] for t in told), min(t[1] for t in told)]
        rows.append(row + [time.time() - started])
    print(f"{name} |", " | ".join("%.3f" % v for v in np.mean(rows, 0)),
          flush=True)
    return [np.mean(rows, 0)]


if __name__ == "__main__":
    kind, table = sys.argv[1:3]
    programs = sys.argv[3:] or ["build/lapis"]
    warnings.simplefilter("ignore")
    if kind == "numbers":
        each, rivals = ["R^2", "s"], ["forest", "ridge", "picked", "s"]
    else:
        each = ["AUROC", "log-loss", "s"]
        rivals = ["picked AUROC", "log-loss", "best AUROC", "log-loss", "s"]
    print("table |", " | ".join([f"{p} {e}" for p in programs for e in each]
                                + rivals))
    chosen = NUMBERS if kind == "numbers" else LABELS
    names = {"all": chosen, "shown": SHOWN[kind]}.get(table, [table])
    means = [m for name in names for m in
             (number_rows if kind == "numbers" else label_rows)(name, programs)]
    print("mean |", " | ".join("%.3f" % v for v in np.mean(means, 0)))
