"""Folds as the command draws them, and labels that look wrong."""
from __future__ import annotations

import copy
import ctypes
from typing import Iterator, Optional, Tuple

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import is_sparse, plain
from ._compat import BaseCrossValidator
from ._core import Context, Inputs, lib, run
from ._library import cv_options
from ._settings import table
from ._validation import (check_groups, check_length, check_y, labels_of,
                          seed_of, threads_of, unknown_in)


class Folds(BaseCrossValidator):
    """A splitter for GridSearchCV with the folds of ``lapis cv``.

    Classes and labels are spread evenly over them, where y is given.

    Parameters
    ----------
    n_splits : int, default=5
    random_state : int, numpy generator or None, default=None
        None: 0, as the command.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> people = np.repeat([0, 1, 2, 3], 2)
    >>> fold = lapis.Folds(n_splits=2).draw(np.zeros((8, 1)), groups=people)
    >>> bool((fold[::2] == fold[1::2]).all())  # nobody is divided
    True
    """

    __metadata_request__split = {"groups": True}  # routed where they are given

    def __init__(self, n_splits: int = 5,
                 random_state: object = None) -> None:
        self.n_splits, self.random_state = n_splits, random_state

    def get_n_splits(self, X: object = None, y: object = None,
                     groups: object = None) -> int:
        return self.n_splits

    def draw(self, X: ArrayLike, y: Optional[ArrayLike] = None,
             groups: Optional[ArrayLike] = None) -> np.ndarray:
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

    def split(self, X: ArrayLike, y: Optional[ArrayLike] = None,
              groups: Optional[ArrayLike] = None
              ) -> Iterator[Tuple[np.ndarray, np.ndarray]]:
        """(training, hidden) of each fold, as indices."""
        fold = self.draw(X, y, groups)
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def _placeholders(n, y, groups):
    """Data of which only the targets and the groups are looked at."""
    targets = np.zeros((n, 1))
    if y is not None:
        y = np.atleast_1d(labels_of(y.toarray() if is_sparse(y) else y))
        check_length(y, n, "y")
        targets = _codes(y).reshape(n, -1)
    code = None
    if groups is not None:
        code = check_groups(groups, n)[1]
    return Inputs(X=np.zeros((n, 1)), Y=targets, group=code)


def _codes(y):
    """Numbers, or words by the place of each among all; NaN: not known."""
    if y.dtype.kind in "fiub":
        return y.astype(np.float64)
    known = ~unknown_in(y)
    codes = np.full(y.size, np.nan)
    words = [str(word) for word in y.ravel()[known]]
    codes[known] = np.unique(words, return_inverse=True)[1]
    return codes


def suspects(estimator: object, X: Optional[ArrayLike], y: ArrayLike,
             n: int = 10, groups: Optional[ArrayLike] = None
             ) -> Tuple[np.ndarray, np.ndarray]:
    """The n given labels that look wrong, most doubtful first.

    Labels are hidden fold by fold (groups whole) and answered by the others.

    Parameters
    ----------
    estimator : estimator, or array (n_samples, n_classes)
        An estimator of LAPIS, whose parameters are used (nothing is fitted in
        it); any classifier with ``predict_proba``; or probabilities that were
        found without the sample's own label, as by
        ``cross_val_predict(..., method="predict_proba")``, one column for each
        label in sorted order.
    X : array (n_samples, n_features)
        Samples; None with probabilities.
    y : array (n_samples,)
        Labels; NaN (or None, among words) where not known.
    n : int, default=10
        How many to return at most.
    groups : array (n_samples,), optional
        Who a sample is of: hidden together.

    Returns
    -------
    index : ndarray of int (m, 2)
        Sample, and column of y; of classes a sample once, and the place among
        the sorted ones of that which it rather is (of probabilities: of the
        given one).
    margin : ndarray (m,)
        How far it is contradicted, largest first: of scores, beyond the
        threshold; of probabilities, that of the likeliest other label less its
        own.  Of an estimator that chooses its settings, as ``fit --suspects``
        lists them: the probability that the label is wrong, or NaN and a
        warning that says why there is none.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> p = np.array([[0.9, 0.1], [0.2, 0.8], [0.1, 0.9]])
    >>> index, margin = lapis.suspects(p, None, ["no", "yes", "no"], n=1)
    >>> index.tolist()                         # sample 2 is no "no"
    [[2, 0]]
    """
    if hasattr(estimator, "_encode"):
        return _by_scores(estimator, X, y, n, groups)
    if hasattr(estimator, "fit"):
        if not hasattr(estimator, "predict_proba"):
            raise TypeError(f"{type(estimator).__name__} has no predict_proba "
                            "to compare a label with")
        y = check_y(y, X.shape[0] if hasattr(X, "shape") else len(X), True)
        return _by_probabilities(_held_out(estimator, X, y, groups), y, n)
    p = np.asarray(plain(estimator), np.float64)
    if p.ndim != 2:
        raise ValueError("probabilities should be an array (n_samples, "
                         f"n_classes), got one of shape {p.shape}")
    return _by_probabilities(p, check_y(y, len(p), True), n)


def _rows(X, which):
    if hasattr(X, "iloc"):
        return X.iloc[which]
    return X[which] if is_sparse(X) else np.asarray(X)[which]


def _held_out(estimator, X, y, groups):
    """What it says of each known label by the others: 0 of labels that it was
    not shown."""
    known = np.flatnonzero(~unknown_in(y))
    labels = np.unique(y[known])
    n_splits = 5
    if groups is not None:
        groups = check_groups(groups, len(y))[1][known]
        n_splits = max(2, min(5, len(np.unique(groups))))
    p = np.full((len(y), len(labels)), np.nan)
    folds = Folds(n_splits, random_state=getattr(estimator, "random_state",
                                                 None))
    for shown, hidden in folds.split(known, y[known], groups):
        shown, hidden = known[shown], known[hidden]
        fitted = copy.deepcopy(estimator).fit(
            _rows(X, shown), y[shown].astype(labels.dtype))
        p[hidden] = 0
        p[np.ix_(hidden, np.searchsorted(labels, fitted.classes_))] = \
            fitted.predict_proba(_rows(X, hidden))
    return p


def _by_probabilities(p, y, n):
    known = np.flatnonzero(~unknown_in(y))
    labels, place = np.unique(y[known], return_inverse=True)
    if p.shape[1] != len(labels):
        raise ValueError(f"probabilities of {p.shape[1]} classes, but y has "
                         f"{len(labels)} labels")
    p, at = p[known], np.arange(len(known))
    own = p[at, place]
    p[at, place] = -np.inf
    margin = p.max(axis=1) - own
    best = np.argsort(-margin, kind="stable")[:n]
    best = best[~np.isnan(margin[best])]
    return np.stack([known[best], place[best]], axis=1), margin[best]


def _by_scores(estimator, X, y, n, groups):
    """By the library, which completes what it hides."""
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
    options.folds = 0  # as many as there are groups, at most 5
    index, margin = np.empty((n, 2), np.int64), np.empty(n)
    found = ctypes.c_int64()
    run(context, lambda: context.check(lib.suspects(
        context, rows.method, inputs.data, struct, options, n,
        index.ctypes.data, margin.ctypes.data, found)))
    return index[:found.value].copy(), margin[:found.value].copy()
