"""Small tables of scikit-learn as they are: svmplus by --scale, rlda with its
settings left open.

  bench/small_tables.py svmplus|rlda [build/lapis]

No setting is chosen by these tables; a row is the mean over SEEDS draws."""
import subprocess
import sys
import tempfile

import numpy as np
from sklearn import datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

TABLES = ["iris", "wine", "breast_cancer", "digits"]
SEEDS, MOST, SHARE = 5, 600, 0.6
WRONG, FAR = 0.1, 8  # gross errors: share of entries, deviations
method = sys.argv[1]
lapis = sys.argv[2] if len(sys.argv) > 2 else "build/lapis"
folder = tempfile.mkdtemp()


def right(train, test, options):
    """Share of the test samples that the method tells right."""
    np.savez(f"{folder}/a.npz", X=train[0], Y=train[1].astype(float))
    np.savez(f"{folder}/b.npz", X=test[0])
    subprocess.run([lapis, "fit", method, f"{folder}/a.npz", "-q", "--threads",
                    "1", "--model", f"{folder}/m"] + options,
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run([lapis, "predict", f"{folder}/m", f"{folder}/b.npz", "-q",
                    "-o", f"{folder}/o.npz"],
                   check=True, stdout=subprocess.DEVNULL)
    return (np.load(f"{folder}/o.npz")["labels"].ravel() == test[1]).mean()


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
