#!/usr/bin/python3
"""Which labels to ask for next: ways beside the smallest margin, and chance.

  LAPIS_DATA=... bench/ask.py [DRAWS [SET,.. [BATCH]]]
  LAPIS_DATA=... bench/ask.py checked [DRAWS [SET,..]]

Of a SET six in ten samples may be asked, the others judge (AUROC, one class
against all others, macro).  FIRST samples a class, by lot, are labelled; then
each WAY asks BATCH after BATCH, ROUNDS times, and logistic regression
(standardised features, C = .1) is fitted again.  Printed a set: the mean AUROC
over all rounds of chance, and what each way adds to it, paired, with twice its
standard error; and the labels with which it reaches the AUROC that chance has
at the end.  Sets of SHOWN shaped nothing.

checked: LABELLED labels are given, a share of them wrong; a person checks a
tenth, those least likely by four folds, and corrects them.  Printed a set and
share: AUROC where the checked weigh as the others, and what more weight adds
(weights have mean 1)."""
import os
import sys
import warnings

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
import numpy as np  # noqa: E402: threads are counted when it is loaded
from sklearn import datasets
from sklearn.cluster import KMeans
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "defaults"))
sys.argv, given = sys.argv[:1] + ["labels"], sys.argv[1:]
import tables  # noqa: E402

FIRST, ROUNDS, MOST, FAR = 3, 8, 1200, 5
SHOWN = ["Vowel", "Vehicle", "Sonar"]


def kept(path):
    with np.load(os.path.join(os.environ["LAPIS_DATA"], path),
                 allow_pickle=True) as data:
        return dict(data)


def msrc():
    data = kept("msrc_v2/msrc_v2.npz")
    keep = [c for c in range(23) if c not in (4, 7)]
    X = data["bow"] / data["bow"].sum(1, keepdims=True)
    return np.sqrt(X), data["labels"][:, keep].astype(int)


def faces():
    data = kept("cmu_faces/cmu_faces_bow.npz")
    X = data["bow"].astype(float)
    y = np.unique(data["label"], return_inverse=True)[1]
    return np.sqrt(X / X.sum(1, keepdims=True)), y


def table(name):
    X, y = tables.of_r(name)
    return X, np.unique(y, return_inverse=True)[1]


SETS = {"msrc": msrc, "faces": faces,
        "digits": lambda: datasets.load_digits(return_X_y=True),
        **{n: lambda n=n: table(n) for n in
           ("Ionosphere", "PimaIndiansDiabetes2", "Glass", *SHOWN)}}


# ---- what is said: probabilities (n x K) of yes, or of each class
def said(X, y, known):
    many = y.ndim > 1
    out = np.full((len(X), y.shape[1] if many else y.max() + 1), 1e-3)
    for c in range(out.shape[1]) if many else [None]:
        of = (y[:, c] if many else y)[known]
        if len(np.unique(of)) < 2:
            continue
        model = LogisticRegression(C=.1, max_iter=200).fit(X[known], of)
        p = model.predict_proba(X)
        if many:
            out[:, c] = p[:, 1]
        else:
            out[:, model.classes_] = p
    return out


def auroc(p, y):
    truth = y if y.ndim > 1 else np.eye(p.shape[1], dtype=int)[y]
    each = [roc_auc_score(truth[:, c], p[:, c]) for c in range(p.shape[1])
            if 0 < truth[:, c].sum() < len(truth)]
    return np.mean(each)


# ---- ways: numbers of `count` of the samples that may be asked
def margin(p, many):
    if many:
        return np.abs(2 * p - 1).mean(1)
    two = np.sort(p, 1)[:, -2:]
    return two[:, 1] - two[:, 0]


def first(by, count):
    return np.argsort(by, kind="stable")[:count]


def clusters(by, X, count, rng, weighed):
    """Of the FAR times as many least sure, but of half of them at most, those
    nearest to k-means' centres; weighed: by how unsure they are [Zhdanov 2019]."""
    near = first(by, min(FAR * count, max(len(by) // 2, count)))
    if len(near) <= count:
        return near
    means = KMeans(count, n_init=1, random_state=int(rng.integers(1 << 30)))
    means.fit(X[near], sample_weight=1 - by[near] + 1e-6 if weighed else None)
    d = means.transform(X[near])
    return np.unique(near[d.argmin(0)])


def ask(way, p, X, many, open_, count, rng):
    at = np.flatnonzero(open_)
    by = margin(p[at], many)
    if way == "chance":
        return rng.permutation(at)[:count]
    if way == "margin":
        return at[first(by, count)]
    return at[clusters(by, X[at], count, rng, way == "weighed")]


WAYS = ["chance", "margin", "clusters", "weighed"]


def curve(way, X, y, seed, batch):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))[:MOST]
    X, y = X[order], y[order]
    X = StandardScaler().fit_transform(SimpleImputer().fit_transform(X))
    X /= np.sqrt(X.shape[1])
    X *= np.sqrt(20)
    pool = np.arange(len(X)) < .6 * len(X)
    known = np.zeros(len(X), bool)
    many = y.ndim > 1
    if many:
        known[:20] = True
    else:
        for c in range(y.max() + 1):
            known[np.flatnonzero((y == c) & pool)[:FIRST]] = True
    labels, of = [], []
    for _ in range(ROUNDS + 1):
        p = said(X, y, known)
        labels.append(known.sum())
        of.append(auroc(p[~pool], y[~pool]))
        known[ask(way, p, X, many, pool & ~known, batch, rng)] = True
    return np.array(labels), np.array(of)


def needed(labels, of, goal):
    """Labels at which the curve first is there, between rounds by a line."""
    at = np.flatnonzero(of >= goal)
    if not len(at):
        return np.nan
    k = at[0]
    if k == 0:
        return labels[0]
    share = (goal - of[k - 1]) / (of[k] - of[k - 1])
    return labels[k - 1] + share * (labels[k] - labels[k - 1])


# ---- the weight of what a person has checked
LABELLED, WEIGHTS = 200, (2, 3, 5)


def checked_once(X, y, share, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    X, y = StandardScaler().fit_transform(SimpleImputer().fit_transform(
        X[order])) * (20 / X.shape[1]) ** .5, y[order]
    n, K = min(LABELLED, len(X) // 2), y.max() + 1
    given = y[:n].copy()
    wrong = rng.random(n) < share
    given[wrong] = (given[wrong] + rng.integers(1, K, wrong.sum())) % K
    p = cross_val_predict(LogisticRegression(C=.1), X[:n], given, cv=4,
                          method="predict_proba")
    at = first(p[np.arange(n), np.unique(given, return_inverse=True)[1]],
               n // 10)
    given[at] = y[at]
    out = []
    for weight in (1, *WEIGHTS):
        w = np.ones(n)
        w[at] = weight
        w /= w.mean()
        model = LogisticRegression(C=.1).fit(X[:n], given, w)
        q = np.zeros((len(X) - n, K))
        q[:, model.classes_] = model.predict_proba(X[n:])
        out.append(auroc(q, y[n:]))
    return out


def checked(draws="10", names="faces,digits,Ionosphere,PimaIndiansDiabetes2,"
            "Vehicle,Sonar"):
    print("set", "wrong", "AUROC", *(f"weight {w}" for w in WEIGHTS), sep="\t")
    for name in names.split(","):
        X, y = SETS[name]()
        for share in (.1, .2, .3):
            of = np.array([checked_once(np.asarray(X, float), y, share, seed)
                           for seed in range(int(draws))])
            by = of[:, 1:] - of[:, :1]
            error = 2 * by.std(0, ddof=1) / len(by) ** .5
            print(name, share, f"{of[:, 0].mean():.3f}",
                  *(f"{b:+.3f} +- {e:.3f}" for b, e in zip(by.mean(0), error)),
                  sep="\t", flush=True)


def main(draws="10", names=",".join(SETS), batch="10"):
    print("set", "chance", *WAYS[1:], sep="\t")
    for name in names.split(","):
        X, y = SETS[name]()
        X = np.asarray(X, float)
        runs = {way: [curve(way, X, y, seed, int(batch))
                      for seed in range(int(draws))] for way in WAYS}
        mean = {w: np.array([of[1:].mean() for _, of in runs[w]]) for w in WAYS}
        course = {w: np.mean([of for _, of in runs[w]], 0) for w in WAYS}
        count = {w: np.mean([n for n, _ in runs[w]], 0) for w in WAYS}
        goal = course["chance"][-1]
        line = [f"{mean['chance'].mean():.3f} ({count['chance'][-1]:.0f})"]
        for way in WAYS[1:]:
            by = mean[way] - mean["chance"]
            line.append(f"{by.mean():+.3f} +- {2 * by.std(ddof=1) / len(by) ** .5:.3f}"
                        f" ({needed(count[way], course[way], goal):.0f})")
        print(name, *line, sep="\t", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    checked(*given[1:]) if given[:1] == ["checked"] else main(*given)
