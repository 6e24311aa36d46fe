"""Folds as the command draws them, and labels that look wrong."""
import copy
import ctypes

import numpy as np

from ._arrays import plain
from ._core import Context, Inputs, lib, run
from ._library import cv_options
from ._settings import table
from ._validation import check_groups, seed_of, threads_of


class Folds:
    """A splitter for GridSearchCV with the folds of ``lapis cv``.

    Parameters
    ----------
    n_splits : int, default=5
    random_state : int, numpy generator or None, default=None
        None: 0, as the command.
    """

    def __init__(self, n_splits=5, random_state=None):
        self.n_splits, self.random_state = n_splits, random_state

    def get_n_splits(self, X=None, y=None, groups=None):
        return self.n_splits

    def draw(self, X, y=None, groups=None):
        """The fold that hides each sample; groups stay whole."""
        context = Context(seed=seed_of(self.random_state))
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        inputs = _placeholders(n, y, groups)
        options = cv_options()
        options.folds, options.by_group = self.n_splits, groups is not None
        fold = np.empty(n, np.int64)
        context.check(lib.cv_draw(context, inputs.data, options,
                                  fold.ctypes.data))
        return fold

    def split(self, X, y=None, groups=None):
        """(training, hidden) of each fold, as indices."""
        fold = self.draw(X, y, groups)
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def _placeholders(n, y, groups):
    """Data of which only the known targets and the groups are looked at."""
    known = np.zeros((n, 1))
    y = None if y is None else np.asarray(plain(y))
    if y is not None and y.dtype.kind == "f":
        known[np.isnan(y.reshape(n, -1)).all(axis=1)] = np.nan
    code = None
    if groups is not None:
        code = check_groups(groups, n)[1]
    return Inputs(X=np.zeros((n, 1)), Y=known, group=code)


def suspects(estimator, X, y, n=10, groups=None):
    """The n known labels that the rest of the data contradicts most.

    They are hidden fold by fold (groups whole) and completed with the
    parameters of `estimator`, a MatrixCompletionClassifier.  Returns
    (index, margin): (m, 2) sample and class, and how far it is contradicted,
    largest first.
    """
    estimator = copy.copy(estimator)  # what is looked at is no fit
    X = estimator._begin(X)
    context = Context(seed=seed_of(estimator.random_state),
                      threads=threads_of(estimator.n_jobs),
                      verbose=estimator.verbose)
    if groups is not None:
        groups = check_groups(groups, len(X))[1]
    inputs = Inputs(X=X, Y=estimator._encode(y, len(X)), group=groups)
    rows = table(estimator._method)
    struct, _kept = rows.fill(context, estimator._settings())
    options = cv_options()
    options.by_group = groups is not None
    index, margin = np.empty((n, 2), np.int64), np.empty(n)
    found = ctypes.c_int64()
    run(context, lambda: context.check(lib.suspects(
        context, rows.method, inputs.data, struct, options, n,
        index.ctypes.data, margin.ctypes.data, found)))
    return index[:found.value].copy(), margin[:found.value].copy()
