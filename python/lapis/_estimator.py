"""What the estimators share: parameters from the tables, fitting, asking."""
from __future__ import annotations

import datetime
import functools
import inspect
import numbers
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import is_sparse, plain
from ._categories import (as_columns, check_known, find_categories, have_words,
                          model_names, objects_of)
from ._compat import ClassifierMixin
from ._core import Context, solve_given, warn
from ._settings import table
from ._tags import Tagged
from ._validation import (are_doubles, check_array, check_classes,
                          check_features, check_fitted, check_groups,
                          check_shape, check_y, feature_names, forget,
                          labels_of, means_missing, remember_features,
                          seed_of, threads_of, unknown_in)
from .exceptions import LapisWarning

# What no table has, because it belongs to the context.
COMMON = {
    "random_state": (None, """int, numpy generator or None, default=None
    Seed of everything random; None: 0, as the command."""),
    "n_jobs": (None, """int or None, default=None
    Threads; None and -1: all cores."""),
    "missing": (None, """word, number or list of these, default=None
    What means "not known" in X and y, besides NaN and None."""),
    "verbose": (0, """int, default=0
    1: a progress bar; 2: also what was chosen and why; 3: iterations."""),
}
_ATTRIBUTES = """
n_features_in_ : int
    Number of features seen during fit.
feature_names_in_ : ndarray of str
    Names of the features, where X was a data frame.
n_iter_ : int
    Iterations done.
info_ : Info
    Status, objective, gap, seconds and the like of the fit.
notes_ : list
    What the method remarked of data and answer: (level, name, text) each, the
    level "note" or "warning"; warnings are Python's, too.
settings_ : dict
    Every parameter as used, automatic values filled in.
history_ : dict
    What was recorded in each iteration, by name.
"""


def _section(title, text):
    return f"\n{title}\n{'-' * len(title)}\n{text.strip()}\n"


def _as_numbers(classes):
    """Classes that were objects for the sake of None or NaN beside them."""
    given = classes.tolist()
    if len(set(map(type, given))) != 1 or not isinstance(given[0],
                                                         numbers.Real):
        return classes
    made = np.array(given)
    return made if made.dtype != object and made.tolist() == given else classes


# Of classes that are objects of one type: to words, and back.
_WRITTEN = {kind.__name__: (kind.isoformat, kind.fromisoformat)
            for kind in (datetime.date, datetime.datetime)}
_WRITTEN["bytes"] = (bytes.decode, str.encode)


def _as_words(classes):
    """Classes as words of a model file, and the kind that they were of, which
    makes them of the words again; None: words are what they are."""
    kind, given = classes.dtype, classes.tolist()
    if kind.kind in "iubfM" and kind.itemsize <= 8:
        return classes, kind.str
    name = type(given[0]).__name__ if len(set(map(type, given))) == 1 else ""
    if name not in _WRITTEN:
        return classes, None
    try:
        words = [_WRITTEN[name][0](one) for one in given]
    except UnicodeDecodeError:  # bytes that are no text
        return classes, None
    return words, kind.str if kind.kind == "S" else name


def unkept_class(classes):
    """The first class that a model file has no word for; None: there is none.
    """
    kind = _as_words(classes)[1]
    for given in classes.tolist():
        try:
            word = given.decode() if isinstance(given, bytes) else str(given)
        except UnicodeDecodeError:
            return given
        if "\0" in word or (kind is None and isinstance(given, bytes)):
            return given
    return None


def _of_words(words, kind):
    if kind is None:
        return words
    if kind == "|b1":
        return words == "True"
    name = "bytes" if kind.startswith("|S") else kind
    if name not in _WRITTEN:
        return words.astype(kind)
    made = np.empty(len(words), object)
    made[:] = [_WRITTEN[name][1](str(word)) for word in words]
    return made if name == kind else made.astype(kind)


def _make_init(defaults):
    """An __init__ with these keywords: what scikit-learn looks at."""
    names = list(defaults)
    head = ", ".join(f"{name}=_defaults[{name!r}]" for name in names)
    body = "".join(f"    self.{name} = {name}\n" for name in names)
    space = {"_defaults": defaults}
    exec(f"def __init__(self, *, {head}):\n{body}", space)
    init = space["__init__"]

    @functools.wraps(init)
    def checked(self, *args, **given):
        if args:
            raise TypeError(f"{type(self).__name__} takes its parameters by "
                            f"name, as {names[0]}=...")
        for name in given:
            if name not in defaults:
                raise TypeError(f"{type(self).__name__} has no parameter "
                                f"{name!r}; it has {', '.join(names)}")
        init(self, **given)
    return checked


def _document(cls, rows, common):
    """The docstring: the class's words, the table's rows, the attributes."""
    words = inspect.cleandoc(cls.__doc__)
    words, _, example = words.partition("Examples\n--------\n")
    head, _, own = words.partition("Attributes\n----------\n")
    shown = "\n".join(f"{name} : {text}"
                      for name, (_, text) in common.items())
    return (f"{rows.title.capitalize()}: {rows.summary}.\n\n{head.strip()}\n"
            + _section("Parameters", rows.describe(cls._left_out) + "\n"
                       + textwrap.dedent(shown))
            + _section("Attributes", own.rstrip() + "\n"
                       + rows.describe_results(getattr(cls, "_kept", ()))
                       + _ATTRIBUTES.lstrip())
            + _section("Examples", example))


def of_method(name, leave_out=(), more=None):
    """Gives a class the parameters of a method, from the library's table;
    more: of its own, as in COMMON."""
    def decorate(cls):
        rows = table(name)
        cls._method, cls._left_out = name, tuple(leave_out)
        defaults = {key: value for key, value in rows.defaults.items()
                    if key not in leave_out}
        own = {**(more or {}), **COMMON}
        defaults.update({key: value for key, (value, _) in own.items()})
        cls.__init__ = _make_init(defaults)
        cls.__init__.__qualname__ = cls.__qualname__ + ".__init__"
        cls.__doc__ = _document(cls, rows, own)
        return cls
    return decorate


class Estimator(Tagged):
    """Parameters, checks and a model; the methods differ in the rest."""

    _sparse = False
    _words = False  # X may have columns of words
    _kept = ()  # arrays of a fit that become attributes, with a _ behind them
    _made_of = {}  # other attributes: the result that they are made of

    if TYPE_CHECKING:  # made from the tables when the package is imported
        def __init__(self, **settings: Any) -> None: ...

    def __getattr__(self, name):
        """Of what a fit has with some settings alone: which."""
        made_of = {**{kept + "_": kept for kept in self._kept},
                   **self._made_of}
        why = ""
        if name in made_of:
            check_fitted(self)
            why = table(self._method).why_missing(made_of[name])
        raise AttributeError(f"this {type(self).__name__} has no {name}{why}")

    def __sklearn_is_fitted__(self):
        return hasattr(self, "n_features_in_")

    def _context(self):
        return Context(seed=seed_of(self.random_state),
                       threads=threads_of(self.n_jobs), verbose=self.verbose)

    def _settings(self):
        return {key: getattr(self, key) for key in table(self._method).keys
                if key not in self._left_out}

    def _called(self):
        """What remarks call the classes and features of a fit."""
        words = self.classes_ if getattr(self, "_coded", False) else None
        names = getattr(self, "feature_names_in_", None)
        if have_words(getattr(self, "categories_", None)):
            names = model_names(names, self.categories_)
        return {"words": words, "feature_names": names}

    def _solve(self, X, Y=None, **members):
        """Fits; the model and what every fit tells become attributes."""
        result = solve_given(self._method, X, Y, context=self._context(),
                             strict=False, **{**self._called(), **members},
                             **self._settings())
        self._model = result.model()
        self.info_, self.settings_ = result.info, result.settings
        self.notes_ = result.notes
        self.n_iter_ = max(1, int(result.info.iterations))
        self.history_ = {}
        if "history" in result:  # trees are grown, not iterated
            self.history_ = dict(zip(result["history_columns"],
                                     np.array(result["history"]).T))
        return result

    def _keep(self, result):
        """Copies, so that the workspace of the solve can go."""
        for name in self._kept:
            vars(self).pop(name + "_", None)
            if name in result:
                setattr(self, name + "_", result[name].copy())
        return result

    def _begin(self, X):
        """X of a fit, checked."""
        known, titles = forget(X, self.missing), feature_names(X)
        words = find_categories(known, titles) if self._words else None
        if have_words(words):
            array = as_columns(objects_of(known), words, titles)[0]
            check_known(objects_of(known), titles)
        array = check_array(array if have_words(words) else known,
                            sparse=self._sparse)
        columns = len(words) if have_words(words) else array.shape[1]
        remember_features(self, X, columns)
        if self._words:
            self.categories_ = words or [None] * columns
        return array

    def _read(self, X):
        """X of new samples, checked; of a word that no row of the fit has
        nothing is known."""
        known = forget(X, self.missing)
        words = getattr(self, "categories_", None)
        if not have_words(words):
            array = check_array(known, sparse=self._sparse)
            check_features(self, X, array.shape)
            return array
        given = known.toarray() if is_sparse(X) else np.asarray(plain(known))
        check_shape(given.shape, "X")
        check_features(self, X, given.shape)
        array, strange = as_columns(given, words, feature_names(X))
        if strange:
            warn("; ".join(f"column {at} holds {new[0]!r}"
                           for at, new in strange)
                 + ": no row of the fit has such a word; it is taken as "
                 "unknown", LapisWarning)
        return check_array(array)

    @staticmethod
    def _whose(groups, n_samples):
        """The number of the group that each sample is of; None: no groups."""
        return None if groups is None else check_groups(groups, n_samples)[1]

    def _restore(self):
        """What can be said of a fit by its model alone."""

    def _ask(self, X, covering=None, **settings):
        """What the model says of new samples; covering: that of another
        coverage."""
        check_fitted(self)
        array = self._read(X)
        if not (self._said()["allow_nan"] or is_sparse(array)) \
                and np.isnan(array).any():
            raise ValueError("Input X contains NaN; this estimator takes no "
                             "missing values; lapis.LowRankImputer() fills "
                             "them in")
        return (covering or self._model).predict(
            array, context=self._context(), **settings)

    def _cover(self, X, coverage, by_class):
        """Results of a coverage, which the fit was asked for."""
        check_fitted(self)
        if self._model.get("coverage") is None:
            raise ValueError("there are no sets, nor intervals, without "
                             "held-out scores: fit with coverage=0.9, and "
                             "with enough known to hold some out")
        return self._ask(X, self._model.covering(coverage, by_class))


POSITIVE = {"positive": (None, """word or None, default=None
    Of two words of y the positive one, ``classes_[1]``; None: the last in
    their order.""")}


class Classifier(ClassifierMixin, Estimator):
    """Labels of any kind in front of the library's numbers."""

    _missing_labels = False  # NaN in y: to be answered
    _several = False         # y of several columns

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        said = self._said()
        tags.classifier_tags.multi_class = not said.get("binary_only", False)
        tags.classifier_tags.multi_label = said.get("multilabel", False)
        return tags

    def _encode(self, y, n_samples, without=None):
        """y as numbers, and classes_; without: samples whose labels are as if
        they were not known.

        Numbers go as they are, because a method may tell {0, 1} and {-1, 1}
        apart; words, booleans and all else, whole numbers too that are no
        doubles, as their place among the sorted classes.
        """
        y = check_y(forget(y, self.missing), n_samples, self._missing_labels)
        if y.ndim > 1 and not self._several:
            raise ValueError(f"y should be a 1d array, got an array of shape "
                             f"{y.shape} instead")
        check_classes(y)
        if n_samples < 2:
            raise ValueError("n_samples = 1: classes cannot be distinguished by 1 sample; give at least 2")
        unknown = unknown_in(y).reshape(y.shape)
        if unknown.any() and not self._missing_labels:
            raise ValueError("Input y contains NaN; each label must be known")
        if without is not None:
            unknown[without] = True
        self.classes_, codes = np.unique(y[~unknown], return_inverse=True)
        if y.dtype == object:
            self.classes_ = _as_numbers(self.classes_)
        self._coded = (y.dtype.kind not in "fiu"
                       or not are_doubles(self.classes_))
        if self.positive is not None and self._turn():
            self.classes_, codes = self.classes_[::-1], 1 - codes
        self._warn_of_classes()
        out = np.full(y.shape, np.nan)
        out[~unknown] = codes if self._coded else y[~unknown]
        return out

    def _turn(self):
        """Whether `positive` is the first of two words."""
        if not self._coded:
            raise ValueError("positive is one of two words; of numbers the "
                             "larger is positive")
        if len(self.classes_) != 2 or self.positive not in self.classes_:
            raise ValueError(f"positive is one of two words, and "
                             f"{self.positive!r} is none of them")
        return self.positive == self.classes_[0]

    def _warn_of_classes(self):
        """What may stand for "not known": a word that was made of NaN (of -1
        the library speaks)."""
        if self._coded:
            for word in self.classes_ if self._missing_labels else ():
                if means_missing(word):
                    warn(f"y holds the word {str(word)!r}: it is taken for a "
                         "class of its own; a label that is not known is NaN "
                         "or None, in an array of objects", LapisWarning)
            first = {}
            for word in self.classes_:
                twin = first.setdefault(str(word).strip().lower(), word)
                if twin is not word:
                    warn(f"the classes {str(twin)!r} and {str(word)!r} differ "
                         "in case or blanks alone", LapisWarning)

    def _decode(self, labels):
        """The library's labels as they were given."""
        if self._coded:
            return self.classes_[labels.astype(np.intp)]
        return labels.astype(self.classes_.dtype)

    def _name_classes(self):
        """Words travel with the model, for the command; and what to make of
        them, where it was no words that were given."""
        if self._coded:
            words, kind = _as_words(self.classes_)
            self._model.set_text("class_texts", words)
            if kind is not None:
                self._model.set_text("class_dtype", [kind])

    def _keep_answers(self, result):
        """Labels of all samples, where some had none."""
        vars(self).pop("transduction_", None)
        if "used" in result:
            self.transduction_ = self._decode(result["labels"])

    def _restore(self):
        texts = self._model.get("class_texts")
        self._coded = texts is not None
        if self._coded:
            kind = self._model.get("class_dtype")
            self.classes_ = _of_words(texts, None if kind is None
                                      else str(kind[0]))
            return
        for name in ("classes", "values", "class_values"):
            values = self._model.get(name)
            if values is not None:
                self.classes_ = np.array(values[:, 0])

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight=None) -> float:
        """Share of the samples whose label is right; samples with a label that
        is not known (NaN or None) are left out, as by ``lapis eval``."""
        truth = labels_of(forget(y, self.missing))
        known = ~unknown_in(truth)
        if known.all():
            more = {} if sample_weight is None else {
                "sample_weight": sample_weight}
            return super().score(X, y, **more)
        if not known.any():
            raise ValueError("Input y contains NaN alone; to score, some "
                             "labels must be known")
        said = np.asarray(self.predict(X))
        known = known.reshape(truth.shape)
        if known.ndim > 1:
            known = known.all(axis=1)
        right = said[known] == truth[known].astype(said.dtype)
        if right.ndim > 1:
            right = right.all(axis=1)
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight)[known]
        return float(np.average(right, weights=sample_weight))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Labels of new samples."""
        return self._decode(self._ask(X)["labels"])

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Scores of new samples: above 0 speaks for a class; binary: one
        column, for ``classes_[1]``."""
        return self._decide(self._ask(X)["scores"])

    def _decide(self, scores):
        scores = scores - self._threshold()
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _threshold(self):
        return 0.0
