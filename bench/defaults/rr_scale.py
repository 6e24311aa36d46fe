#!/usr/bin/python3
"""rr as a stranger calls it, on tables in their own units, against ridge and
Huber's regression of scikit-learn behind means for gaps and standardised columns.

  PYTHONPATH=python LAPIS_LIBRARY=build/liblapis.so [LAPIS_DATA=...] \\
      bench/defaults/rr_scale.py [choose|show] [--draws 5]

`choose`: the tables that chose scale, list of settings and cleaning; `show`: those
that chose nothing.  60 % of at most 300 samples teach; R^2 of the others, mean over
targets and draws.  Errors strike training and test: see `spoil`."""
import argparse
import os
import warnings

import numpy as np
from sklearn import datasets
from sklearn.impute import SimpleImputer
from sklearn.linear_model import HuberRegressor, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lapis

warnings.simplefilter("ignore")


def made(n, d, rank, seed, mean):
    """Features of `rank` causes, in units from .01 to 1000; a target of them."""
    g = np.random.default_rng(seed)
    U, B = g.normal(size=(n, rank)), g.normal(size=(rank, d))
    unit, off = 10.0 ** g.uniform(-2, 3, d), 3 * g.normal(size=d)
    X = (U @ B + .1 * g.normal(size=(n, d)) + off) * unit
    return X, U @ g.normal(size=rank) + .1 * g.normal(size=n) + mean


def houses(n, seed):
    """Made like the houses of California: skewed columns, nothing low-rank."""
    g = np.random.default_rng(seed)
    income, age = np.exp(g.normal(1.2, .45, n)), g.integers(1, 53, n) * 1.0
    rooms = 5 + 1.2 * np.log(income) + .9 * g.normal(size=n)
    beds, people = 1.05 + .12 * g.normal(size=n), np.exp(g.normal(7, .7, n))
    each, lat = np.exp(g.normal(1.05, .2, n)), 35.6 + 2.1 * g.normal(size=n)
    east = .7 * g.normal(size=n)
    X = np.c_[income, age, rooms, beds, people, each, lat,
              east - 119.5 - .85 * (lat - 35.6)]
    return X, 1e5 * (2 + .45 * (income - 3.6) + .01 * (age - 28) - .05 * (
        rooms - 6) - .4 * (each - 2.9) - .3 * east + .5 * g.normal(size=n))


def column(name, k, rows=None):
    """A table of scikit-learn, one column of which is asked."""
    X = getattr(datasets, "load_" + name)().data[:rows]
    return np.delete(X, k, 1), X[:, k]


def hotel():
    """Which frame of 101, from 30 points that turn with the house."""
    xy = np.load(os.environ["LAPIS_DATA"] + "/cmu_hotel/hotel.npz")["xy"]
    return xy.reshape(len(xy), -1), np.arange(len(xy)) * 1.0


TABLES = {
    "choose": {
        "made, 12 of 3": lambda: made(200, 12, 3, 1, 20.),
        "made, 8 of 8": lambda: made(200, 8, 8, 3, 50.),
        "wine, alcohol": lambda: column("wine", 0),
        "diabetes": lambda: datasets.load_diabetes(return_X_y=True,
                                                   scaled=False)},
    "show": {
        "made, 40 of 6": lambda: made(150, 40, 6, 2, 1000.),
        "houses": lambda: houses(400, 5),
        "wine, flavanoids": lambda: column("wine", 6),
        "breast cancer, area": lambda: column("breast_cancer", 3, 400),
        "linnerud": lambda: datasets.load_linnerud(return_X_y=True),
        "hotel, frame": hotel}}


def spoil(X, kind, g):
    Z, dev = X.copy(), X.std(0)
    if kind == "gross":
        Z += 8 * dev * np.sign(g.normal(size=X.shape)) * (g.random(X.shape) < .07)
    if kind == "far":
        Z += 100 * dev * (g.random(X.shape) < .05)
    if kind == "missing":
        Z[g.random(X.shape) < .1] = np.nan
    return Z


def rr(**settings):
    return lambda X, y, new: lapis.RobustRegressor(
        **settings).fit(X, y).predict(new)


def plain(model):
    def answer(X, y, new):
        pipe = make_pipeline(SimpleImputer(), StandardScaler(), model)
        ys = y.reshape(len(y), -1).T
        return np.stack([pipe.fit(X, one).predict(new) for one in ys], 1)
    return answer


WAYS = {"rr": rr(), "`--scale standard`": rr(scale="standard"),
        "`--gamma .1`": rr(gamma=.1), "`--scale none`": rr(scale="none"),
        "ridge": plain(RidgeCV(np.logspace(-3, 4, 15))),
        "Huber": plain(HuberRegressor(max_iter=500))}


def told(y, said):
    y, said = y.reshape(len(y), -1), said.reshape(len(y), -1)
    left = ((y - said) ** 2).sum(0) / ((y - y.mean(0)) ** 2).sum(0)
    return 1 - left.mean()


def draw(X, y, kind, seed):
    g = np.random.default_rng(seed)
    order = g.permutation(len(y))[:300]
    Z, n = spoil(X, kind, g), int(.6 * len(order))
    a, b = order[:n], order[n:]
    return [told(y[b], way(Z[a], y[a], Z[b])) for way in WAYS.values()]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("which", nargs="?", default="show", choices=list(TABLES))
    p.add_argument("--draws", type=int, default=5)
    o = p.parse_args()
    print("| | " + " | ".join(WAYS) + " |")
    print("| --- |" + " --- |" * len(WAYS))
    for name, table in TABLES[o.which].items():
        X, y = table()
        for kind in ("as it is", "gross", "far", "missing"):
            mean = np.mean([draw(X, y, kind, 100 + seed)
                            for seed in range(o.draws)], 0)
            print(f"| {name}, {kind} | " + " | ".join(
                f"{v:.2f}" for v in mean) + " |", flush=True)


if __name__ == "__main__":
    main()
