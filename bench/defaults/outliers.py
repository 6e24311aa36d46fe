"""auto on numbers of which a few are gross errors, and on numbers with long
tails, beside scikit-learn's.

  bench/defaults/outliers.py errors|tails decided|shown|TABLE [build/lapis]

R^2 on 4,000 new samples (of errors: without any) of auto that learns from all
known numbers (--outliers learn), of auto as it is, and of the best of
HistGradientBoosting by squares and by absolute errors, HuberRegressor and a
random forest by the mean absolute error of five folds; processor time in
seconds of the two of auto.  errors: a line is SIZES (300,2000) rows, a kind
of error (a factor of 10 to 1000 of either sign, 99999, Cauchy noise ten
deviations wide) and how many per cent have it, SHARES (0,1,3,10).  What the
`decided` tables said decided the rule; the `shown` ones have shaped nothing.
ALONE=1 leaves the rivals out."""
import os
import resource
import subprocess
import sys
import tempfile
import warnings

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
import numpy as np  # noqa: E402: threads are counted when it is loaded
from sklearn.ensemble import HistGradientBoostingRegressor as Boosting
from sklearn.ensemble import RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import HuberRegressor
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SIZES = [int(n) for n in os.environ.get("SIZES", "300,2000").split(",")]
SHARES = [int(n) for n in os.environ.get("SHARES", "0,1,3,10").split(",")]
SEEDS, NEW = int(os.environ.get("SEEDS", 1)), 4000
alone = "ALONE" in os.environ
warnings.simplefilter("ignore")


# ---- tables: X, what is told, noise -----------------------------------------
def friedman1(n, random):
    X = random.rand(n, 10)
    f = (10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - .5) ** 2
         + 10 * X[:, 3] + 5 * X[:, 4])
    return X, f + random.randn(n)


def with_gaps(n, random):
    X = random.randn(n, 8)
    kind = random.randint(0, 4, n)
    f = X[:, :5] @ [3, -2, 1.5, 1, .5] + np.array([0, 2, -2, 4])[kind]
    X = np.c_[X, np.eye(4)[kind]]
    X[random.rand(*X.shape) < .08] = np.nan
    return X, f + 2 * random.randn(n)


def impedance(n, random):  # Friedman's second
    X = random.rand(n, 4) * [100, 520 * np.pi, 1, 10] + [0, 40 * np.pi, 0, 1]
    f = np.hypot(X[:, 0], X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3]))
    return X, f + 125 * random.randn(n)


def ratings(n, random):  # words, steps, a square, few told apart
    X = random.randn(n, 9)
    kind, place = random.randint(0, 6, n), random.randint(0, 3, n)
    f = (np.arange(6)[kind] + (X[:, 0] > 0) * (place == 1) * 4 + X[:, 1] ** 2
         - 2 * X[:, 2] * (place == 2))
    return np.c_[X, np.eye(6)[kind], np.eye(3)[place]], f + random.randn(n)


def told(n, random):
    X = random.randn(n, 6)
    return X, .6 * (X[:, 0] + .6 * X[:, 1] * X[:, 2] + .5 * np.abs(X[:, 3]))


def tail(draw, of=told):
    def make(n, random):
        X, f = of(n, random)
        return X, draw(f, n, random)
    return make


def sums(f, n, random):  # of none, one or more claims
    return np.array([random.lognormal(6, 1, k).sum()
                     for k in random.poisson(.5 * np.exp(f))])


ERRORS = {"decided": {"friedman1": friedman1, "with_gaps": with_gaps},
          "shown": {"impedance": impedance, "ratings": ratings}}
TAILS = {
    "decided": {
        "lognormal": tail(lambda f, n, r: np.exp(f + .5 * r.randn(n))),
        "lognormal1": tail(lambda f, n, r: np.exp(f + r.randn(n))),
        "exponential": tail(lambda f, n, r: np.exp(f) * r.exponential(size=n)),
        "counts": tail(lambda f, n, r: r.poisson(3 * np.exp(f) * r.gamma(
            1, 1, n)).astype(float)),
        "pareto": tail(lambda f, n, r: np.exp(f) * (1 + r.pareto(2.5, n))),
        "student3": tail(lambda f, n, r: 3 * f + r.standard_t(3, n)),
        "rare kind": tail(lambda f, n, r: f + .5 * r.randn(n) + 60 * (
            f > np.quantile(f, .97))),
        "rare events": tail(lambda f, n, r: np.where(
            r.rand(n) < 1 / (1 + np.exp(4.5 - 2 * f)),
            1000 * np.exp(r.randn(n)), 0))},
    "shown": {
        "prices": tail(lambda f, n, r: np.round(1e5 * np.exp(
            1.2 * f + .7 * r.randn(n)), -3)),
        "weibull": tail(lambda f, n, r: np.exp(f) * r.weibull(.7, n)),
        "claims": tail(sums),
        "incomes": tail(lambda f, n, r: np.exp(.8 * f + .5 * r.randn(n)) * (
            1 + 15 * (r.rand(n) < .02 * np.exp(1.5 * f)))),
        "noise lognormal": tail(lambda f, n, r: 3 * f + np.exp(r.randn(n))),
        "wider": tail(lambda f, n, r: 3 * f + np.exp(1.2 * f) * r.randn(n))}}


def spoil(y, share, kind, random):
    y, k = y.copy(), int(round(share * len(y) / 100))
    hit = random.permutation(len(y))[:k]
    if kind == "factor":
        y[hit] *= 10 ** random.uniform(1, 3, k) * random.choice([-1, 1], k)
    elif kind == "99999":
        y[hit] = 99999
    else:
        y[hit] += 10 * y.std() * random.standard_cauchy(k)
    return y


# ---- who answers ------------------------------------------------------------
folder = tempfile.mkdtemp()


def ask(lapis, X, y, new, *more):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    np.savez(f"{folder}/a.npz", X=X, Y=y)
    np.savez(f"{folder}/b.npz", X=new)
    subprocess.run([lapis, "fit", "auto", f"{folder}/a.npz", "-q", "--threads",
                    "1", "--targets", "numbers", "--model", f"{folder}/m",
                    "-o", f"{folder}/f.npz", *more],
                   check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([lapis, "predict", f"{folder}/m", f"{folder}/b.npz", "-q",
                    "-o", f"{folder}/o.npz"], check=True, capture_output=True)
    with np.load(f"{folder}/f.npz") as fit, np.load(f"{folder}/o.npz") as said:
        left = len(fit["outliers"]) if "outliers" in fit else 0
        return said["scores"].ravel(), left, after.ru_utime - before.ru_utime


def rival(X, y, new):
    def filled(model):
        return make_pipeline(SimpleImputer(), StandardScaler(), model)
    models = {"boosting": Boosting(), "absolute": Boosting(loss="absolute_error"),
              "huber": filled(HuberRegressor(max_iter=1000)),
              "forest": filled(RandomForestRegressor(
                  100, min_samples_leaf=3, random_state=0))}
    folds = KFold(5, shuffle=True, random_state=0)
    best = min(models, key=lambda name: mean_absolute_error(
        y, cross_val_predict(models[name], X, y, cv=folds)))
    return models[best].fit(X, y).predict(new), best


def line(name, lapis, make, n, kind="", share=0):
    sums, lefts, who = np.zeros(5), [], []
    for seed in range(SEEDS):
        random = np.random.RandomState(seed)
        X, y = make(n + NEW, random)
        given = spoil(y[:n], share, kind, random) if share else y[:n]
        new, truth = X[n:], y[n:]
        before, _, slow = ask(lapis, X[:n], given, new, "--outliers", "learn")
        after, left, took = ask(lapis, X[:n], given, new)
        best, named = (0 * truth, "") if alone else rival(
            X[:n], given, new)
        sums += [r2_score(truth, before), r2_score(truth, after),
                 r2_score(truth, best), slow, took]
        lefts.append(left)
        who.append(named)
    r = sums / SEEDS
    print(f"{name:16}{n:6} {kind:>7} {share:3} %  {max(r[0], -99):7.3f} "
          f"{r[1]:7.3f} {max(r[2], -99):7.3f}  left out {np.mean(lefts):6.1f}"
          f"  {r[3]:6.1f} {r[4]:6.1f} s  {','.join(sorted(set(who)))}",
          flush=True)


def main(what, which, lapis="build/lapis"):
    tables = {"errors": ERRORS, "tails": TAILS}[what]
    chosen = tables.get(which) or {which: {**tables["decided"],
                                           **tables["shown"]}[which]}
    for name, make in chosen.items():
        for n in SIZES:
            if what == "tails":
                line(name, lapis, make, n)
                continue
            for share in SHARES:
                for kind in ["factor", "99999", "cauchy"] if share else [""]:
                    line(name, lapis, make, n, kind, share)


main(*sys.argv[1:])
