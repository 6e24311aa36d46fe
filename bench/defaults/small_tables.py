"""Small tables of scikit-learn as they are: svmplus by --scale, rlda with its
settings left open; and either where one class is rare.

  [LAPIS_DATA=...] bench/defaults/small_tables.py svmplus|rlda|rare [build/lapis]

No setting is chosen by these tables; a row is the mean over SEEDS draws.

rare: one class against the rest.  3 % of the training samples are of it; 600 at
most of the rest teach, 2000 are asked, with all of the class that is left.
AUROC / balanced accuracy, DRAWS draws.  Logistic regression is scikit-learn's,
C by the AUROC of five folds."""
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from sklearn import datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

TABLES = ["iris", "wine", "breast_cancer", "digits"]
SEEDS, MOST, SHARE = 5, 600, 0.6
WRONG, FAR = 0.1, 8  # gross errors: share of entries, deviations
method = sys.argv[1]
lapis = sys.argv[2] if len(sys.argv) > 2 else "build/lapis"
folder = tempfile.mkdtemp()


def answer(method, train, test, options):
    """Labels and scores of the test samples."""
    np.savez(f"{folder}/a.npz", X=train[0], Y=train[1].astype(float))
    np.savez(f"{folder}/b.npz", X=test[0])
    subprocess.run([lapis, "fit", method, f"{folder}/a.npz", "-q", "--threads",
                    "1", "--model", f"{folder}/m"] + options,
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run([lapis, "predict", f"{folder}/m", f"{folder}/b.npz", "-q",
                    "-o", f"{folder}/o.npz"],
                   check=True, stdout=subprocess.DEVNULL)
    with np.load(f"{folder}/o.npz") as found:
        return found["labels"].ravel(), found["scores"].squeeze()


def right(train, test, options):
    """Share of the test samples that the method tells right."""
    return (answer(method, train, test, options)[0] == test[1]).mean()


def draws(name, wrong):
    X, y = getattr(datasets, "load_" + name)(return_X_y=True)
    for seed in range(SEEDS):
        random = np.random.RandomState(seed)
        order = random.permutation(len(y))[:MOST]
        n, Z = int(SHARE * len(order)), X.copy()
        hit = random.rand(*X.shape) < wrong
        step = FAR * X.std(0) * np.sign(random.randn(*X.shape))
        Z[hit] = (Z + step)[hit]
        yield (Z[order[:n]], y[order[:n]]), (Z[order[n:]], y[order[n:]])


def plain(train, test):
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    return model.fit(*train).score(*test)


# ---- a rare class -----------------------------------------------------------
SHARE_RARE, MOST_RARE, ASKED, DRAWS = .03, 600, 2000, 3
RIVALS = {
    "shrinkage LDA": lambda: make_pipeline(
        StandardScaler(),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")),
    "logistic regression": lambda: GridSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        {"logisticregression__C": [.01, .1, 1, 10, 100]}, scoring="roc_auc"),
}


def cases():
    """Name, X, whether a sample is of the class."""
    for d, told, more in ((20, 6, 2), (50, 10, 10)):
        X, y = datasets.make_classification(
            6000, d, n_informative=told, n_redundant=more, weights=[.9],
            flip_y=0, random_state=0)
        yield f"made, {d} features", X, y == 1
    from defaults import tables  # slow to load
    every = {name: (X, y) for name, X, y in tables()}
    for name, of in (("cancer", 0), ("digits", 8), ("digits", 3), ("wine", 1),
                     ("digits", 5), ("digits", 9), ("mnist_plus", 8),
                     ("scene", 0), ("scene", 3), ("scene15", 2),
                     ("emotions", 4), ("elephant", 1)):
        if name in every:
            X, y = every[name]
            several = y.shape[1] > 1
            yield (f"{name}, {of}", X,
                   y[:, of] == 1 if several else y[:, 0] == of)


def thin(X, of_class, seed):
    random = np.random.RandomState(seed)
    rare, rest = (random.permutation(np.flatnonzero(of_class == v))
                  for v in (True, False))
    n = min(6 * len(rest) // 10, MOST_RARE)
    k = max(2, round(n * SHARE_RARE / (1 - SHARE_RARE)))
    train = random.permutation(np.r_[rest[:n], rare[:k]])
    test = np.r_[rest[n:n + ASKED], rare[k:]]
    return [(X[rows], of_class[rows].astype(int)) for rows in (train, test)]


def rare():
    warnings.simplefilter("ignore")  # a fold with one class
    columns = [c.split() for c in (
        "rlda", "svmplus", "svmplus --balanced", "linear --map standard",
        "mc --by auto")]
    print("class |", " | ".join([" ".join(c) for c in columns] + list(RIVALS)))
    for name, X, of_class in cases():
        sums = np.zeros((len(columns) + len(RIVALS), 2))
        for seed in range(DRAWS):
            train, test = thin(X, of_class, seed)
            found = [answer(c[0], train, test, c[1:]) for c in columns]
            for model in RIVALS.values():
                fitted = model().fit(*train)
                found.append((fitted.predict(test[0]),
                              fitted.decision_function(test[0])))
            sums += [[roc_auc_score(test[1], scores),
                      balanced_accuracy_score(test[1], labels)]
                     for labels, scores in found]
        print(f"{name} |", " | ".join("%.3f / %.3f" % tuple(v)
                                      for v in sums / DRAWS), flush=True)


if method == "rare":
    rare()
    sys.exit()
if method == "svmplus":
    columns = [["--kernel", kernel, "--scale", scale]
               for kernel in ("linear", "rbf") for scale in ("none", "auto")]
else:
    columns = [[], ["--gamma", ".1"], ["--assign", "knn"]]
print("table, wrong |", " | ".join(" ".join(c) or "left open" for c in columns),
      "| shrinkage LDA")
for table in TABLES:
    for share in ([0] if method == "svmplus" else [0, WRONG]):
        rows = [[right(*draw, c) for c in columns] + [plain(*draw)]
                for draw in draws(table, share)]
        print(f"{table}, {share} |",
              " | ".join(f"{v:.3f}" for v in np.mean(rows, 0)), flush=True)
