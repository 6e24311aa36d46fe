"""Folds as the command draws them, and labels that look wrong."""
from __future__ import annotations

import copy
import ctypes
from typing import Iterator, NamedTuple, Optional, Tuple

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import is_sparse, plain
from ._compat import BaseCrossValidator
from ._core import Context, Inputs, lib, run, warn
from ._library import cv_options
from ._once import Once
from ._settings import table
from ._validation import (check_groups, check_length, check_y, labels_of,
                          seed_of, threads_of, unknown_in)
from .exceptions import LapisWarning


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


class _Listed(NamedTuple):
    index: np.ndarray
    margin: np.ndarray


class Suspects(_Listed):
    """What `suspects` has found: index and margin, and how many labels are
    wrong, as ``lapis fit --suspects`` says it."""

    least: Optional[int] = None      # wrong of all labels, between these two;
    most: Optional[int] = None       # None: it is not known
    expected: Optional[int] = None
    checkable: Optional[int] = None  # labels that were looked at
    says: str = ""                   # the same as a sentence


def suspects(estimator: object, X: Optional[ArrayLike], y: ArrayLike,
             n: Optional[int] = None, groups: Optional[ArrayLike] = None
             ) -> Suspects:
    """The given labels that look wrong, most doubtful first, and how many are.

    Labels are hidden fold by fold (groups whole) and answered by the others.

    Parameters
    ----------
    estimator : estimator, or array (n_samples, n_classes)
        An estimator of LAPIS, whose parameters are used (nothing is fitted in
        it); any classifier with ``predict_proba``, a Pipeline, too, which is
        fitted to samples with labels alone; or probabilities that were found
        without the sample's own label, as by
        ``cross_val_predict(..., method="predict_proba")``, one column for each
        label in sorted order.
    X : array (n_samples, n_features)
        Samples; None with probabilities.
    y : array (n_samples,)
        Labels; NaN (or None, among words) where not known.
    n : int or None, default=None
        How many to return at most, whether or not they look wrong; None: those
        that are wrong rather than right.
    groups : array (n_samples,), optional
        Who a sample is of: hidden together.

    Returns
    -------
    Suspects
        Of two arrays, (index, margin), with more as attributes.

        index : ndarray of int (m, 2)
            Sample, and column of y; of three classes or more a sample once, and
            the place among the sorted ones of that which it rather is.
        margin : ndarray (m,)
            The probability that the label is wrong, largest first, or NaN and a
            warning that says why there is none.  Of an estimator of LAPIS
            whose settings are given: how far its score is beyond the threshold.
        least, most, expected, checkable : int or None
            How many labels are wrong, of how many that could be checked; None
            where it cannot be said, or settings are given.
        says : str
            The same as a sentence; why, where it cannot be said.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> p = np.repeat([[0.95, 0.05], [0.05, 0.95]], 100, axis=0)
    >>> y = np.repeat(["no", "yes"], 100)
    >>> y[::10] = y[::-10]                     # twenty are exchanged
    >>> found = lapis.suspects(p, None, y)
    >>> bool((found.index[:, 0] == np.arange(0, 200, 10)).all())
    True
    >>> found.least <= 20 <= found.most
    True
    """
    if hasattr(estimator, "_encode"):
        return _by_scores(estimator, X, y, n, groups)
    fits = hasattr(estimator, "fit")
    if not fits:
        p = np.asarray(plain(estimator), np.float64)
        if p.ndim != 2:
            raise ValueError("probabilities should be an array (n_samples, "
                             f"n_classes), got one of shape {p.shape}")
    y = check_y(y, len(p) if not fits else X.shape[0] if hasattr(X, "shape")
                else len(X), True)
    if y.ndim != 1:
        raise ValueError("y should be a 1d array, one label a sample, got an "
                         f"array of shape {y.shape}")
    if groups is not None:
        groups = check_groups(groups, len(y))[1]
    if fits:
        p = _held_out(estimator, X, y, groups)
    return _by_probabilities(p, y, n, groups)


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
        groups = groups[known]
        n_splits = max(2, min(5, len(np.unique(groups))))
    p = np.full((len(y), len(labels)), np.nan)
    folds = Folds(n_splits, random_state=getattr(estimator, "random_state",
                                                 None))
    once = Once("suspects")

    def answer(shown, hidden):
        fitted = copy.deepcopy(estimator).fit(
            _rows(X, shown), y[shown].astype(labels.dtype))
        if not hasattr(fitted, "predict_proba"):  # of some once fitted alone
            raise TypeError(f"{type(estimator).__name__} has no predict_proba "
                            "to compare a label with")
        p[hidden] = 0
        p[np.ix_(hidden, np.searchsorted(labels, fitted.classes_))] = \
            fitted.predict_proba(_rows(X, hidden))

    try:
        for shown, hidden in folds.split(known, y[known], groups):
            with once.fit():
                answer(known[shown], known[hidden])
    finally:
        once.say()
    return p


def _listed(n, labels, work):
    """Of work(count, index, margin, found, wrong), which returns how many of
    so many labels it has listed."""
    count = labels if n is None else min(n, labels)
    index, margin = np.empty((count, 2), np.int64), np.empty(count)
    wrong, text = np.zeros(5, np.int64), ctypes.create_string_buffer(320)
    count = work(count, index.ctypes.data, margin.ctypes.data, wrong)
    if n is None:
        count = wrong[4]
    out = Suspects(index[:count].copy(), margin[:count].copy())
    out.says = lib.doubts_text(wrong.ctypes.data, text, len(text)).decode()
    if wrong[2] > 0:
        out.checkable = int(wrong[2])
        if wrong[3] >= 0:
            out.least, out.most, out.expected = map(int, wrong[[0, 1, 3]])
    return out


def _by_probabilities(p, y, n, groups):
    known = np.flatnonzero(~unknown_in(y))
    labels = np.unique(y[known])
    if p.shape[1] != len(labels):
        raise ValueError(f"probabilities of {p.shape[1]} classes, but y has "
                         f"{len(labels)} labels")
    if len(labels) == 2:
        p = p[:, 1:]
    inputs = Inputs(X=p, Y=_codes(y)[:, None], group=groups)

    def work(count, index, margin, wrong):
        context, found = Context(), ctypes.c_int64()
        context.check(lib.doubts(
            context, inputs.data.Y, inputs.data.group, inputs.data.X, count,
            index, margin, found, wrong.ctypes.data))
        wrong[4] = found.value
        return lib.doubts_shown(wrong.ctypes.data, count)

    out = _listed(n, y.size, work)
    if out.expected is None:
        warn("suspects: " + out.says, LapisWarning)
    return out


def _by_scores(estimator, X, y, n, groups):
    """By the library, which completes what it hides."""
    estimator = copy.copy(estimator)  # what is looked at is no fit
    X = estimator._begin(X)
    context = Context(seed=seed_of(estimator.random_state),
                      threads=threads_of(estimator.n_jobs),
                      verbose=estimator.verbose)
    if groups is not None:
        groups = check_groups(groups, X.shape[0])[1]
    y = estimator._encode(y, X.shape[0])
    inputs = Inputs(X=X, Y=y, group=groups, **estimator._called())
    rows = table(estimator._method)
    struct, _kept = rows.fill(context, estimator._settings())
    options = cv_options()
    options.folds = 0  # as many as there are groups, at most 5

    def work(count, index, margin, wrong):
        found = ctypes.c_int64()
        run(context, lambda: context.check(lib.suspects(
            context, rows.method, inputs.data, struct, options, count,
            index, margin, found, wrong.ctypes.data)))
        return found.value

    return _listed(n, y.size, work)
