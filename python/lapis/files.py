"""Model files, shared with the command."""
from __future__ import annotations

import json
import numbers
from os import PathLike
from typing import Any, Union

import numpy as np

from ._categories import as_number, have_words
from ._core import Model
from ._estimator import unkept_class
from ._settings import table
from .completion import (AutoClassifier, AutoRegressor,
                         MatrixCompletionClassifier)
from .exceptions import NotFittedError
from .robust import RobustLDA, RobustPCA, RobustRegressor
from .svm import MISVMPlusClassifier, SVMPlusClassifier

_CLASSES = {cls._method: cls for cls in (
    MatrixCompletionClassifier, MISVMPlusClassifier, RobustLDA, RobustPCA,
    RobustRegressor, SVMPlusClassifier)}
# Those whose model is that of whichever method answers: it says whose it is.
_CHOOSERS = {cls.__name__: cls for cls in (AutoClassifier, AutoRegressor)}


def _keep_missing(estimator, model):
    """What means unknown, as the command's --missing: words between commas."""
    missing = estimator.missing
    if missing is None:
        return
    listed = ([missing] if isinstance(missing, (str, bytes, numbers.Number))
              else list(missing))
    words = [word.decode() if isinstance(word, bytes) else str(word)
             for word in listed]
    lost = [word for word in words if "," in word]
    if lost:
        raise ValueError("a model file keeps words between commas, and "
                         f"missing={lost[0]!r} has one in it; pickle keeps it")
    model.set_text("missing", [",".join(filter(None, words))])


def _missing_of(model):
    kept = model.get("missing")
    words = [] if kept is None else str(np.ravel(kept)[0]).split(",")
    read = [(as_number(word), word) for word in words if word]
    return [word if number is None else number
            for number, word in read] or None


def _sign(estimator, model):
    """Whose model it is, and what of it the library does not keep."""
    plain = (bool, int, float, str, type(None))
    own = {key: value for key, value in estimator.get_params().items()
           if isinstance(value, plain)}
    state = {key: getattr(estimator, key) for key in estimator._saved}
    if have_words(estimator.categories_):
        names = getattr(estimator, "feature_names_in_", None)
        state["categories_"] = estimator.categories_
        state["feature_names_in_"] = None if names is None else list(names)
    model.set_text("estimator", [type(estimator).__name__, json.dumps(own),
                                 json.dumps(state)])


def _signed(model, path):
    """The estimator that `_sign` wrote into a model, unfitted, and its state;
    of a model by the command those of its method."""
    signed = model.get("estimator")
    if signed is not None:
        try:
            name, own, state = (str(text) for text in np.ravel(signed))
            state = json.loads(state)
            estimator = _CHOOSERS[name](**json.loads(own))
            _ = [state[key] for key in estimator._saved]
            return estimator, state
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"{path}: which estimator it is of cannot be "
                             "read; save it again") from None
    chosen = model.get("chosen_by")
    if chosen is not None:  # by fit auto of the command
        _, what, targets = (str(text) for text in np.ravel(chosen))
        if what == "classes":
            return AutoClassifier(), {"_wide": targets != "1"}
        return AutoRegressor(), {"_one": targets == "1"}
    cls = _CLASSES.get(model.method)
    if cls is None:
        raise ValueError(f"{path}: a model of {model.method} has no estimator")
    settings = model.settings
    words = {row.key: row.choices for row in table(model.method).rows
             if row.is_matrix}
    return cls(**{key: settings[key] for key in table(model.method).keys
                  if key not in words or settings[key] in words[key]}), {}


def _restore_words(estimator, state):
    """The features are the columns of X, of which the model has more where
    they hold words."""
    categories = state.setdefault("categories_",
                                  [None] * estimator.n_features_in_)
    if "feature_names_in_" not in state:
        return
    estimator.n_features_in_ = len(categories)
    vars(estimator).pop("feature_names_in_", None)
    names = state.pop("feature_names_in_")
    if names is not None:
        state["feature_names_in_"] = np.array(names, dtype=object)


def save(estimator: object, path: Union[str, PathLike]) -> None:
    """Write the model of a fitted estimator; ``lapis predict`` reads it.

    Parameters
    ----------
    estimator : a fitted estimator of LAPIS
    path : str or path

    Examples
    --------
    >>> import os, tempfile, numpy as np, lapis
    >>> path = os.path.join(tempfile.mkdtemp(), "m.lapis")
    >>> model = lapis.SVMPlusClassifier().fit([[0.0], [1.0]], ["a", "b"])
    >>> lapis.save(model, path)
    >>> lapis.load(path).predict([[2.0]]).tolist()
    ['b']
    """
    known = [*_CLASSES.values(), *_CHOOSERS.values()]
    if not isinstance(estimator, tuple(known)):
        raise TypeError(
            f"{type(estimator).__name__} has no model file, as "
            + ", ".join(cls.__name__ for cls in known)
            + " have; pickle keeps it")
    model = getattr(estimator, "_model", None)
    if model is None:
        raise NotFittedError(f"This {type(estimator).__name__} has no model "
                             "to save; call 'fit' first")
    if getattr(estimator, "_coded", False):
        lost = unkept_class(estimator.classes_)
        if lost is not None:
            raise ValueError(
                f"the class {lost!r} cannot be written: a model file holds "
                "classes as words without zero bytes, those of type bytes "
                "where they are text (UTF-8); pickle keeps it")
    if isinstance(estimator, tuple(_CHOOSERS.values())):
        _sign(estimator, model)
    _keep_missing(estimator, model)
    model.save(path)


def load(path: Union[str, PathLike]) -> Any:
    """The estimator of a model file, ready to predict.

    What belongs to the training samples (`low_rank_`, `scores_`, ...) is not
    in the file.

    Parameters
    ----------
    path : str or path
        What `save`, or the command's ``--model``, has written.

    Returns
    -------
    estimator

    Examples
    --------
    See `save`:

    >>> import lapis
    >>> lapis.load("nowhere.lapis")
    Traceback (most recent call last):
    OSError: nowhere.lapis: cannot be opened: No such file or directory
    """
    model = Model.load(path)
    estimator, state = _signed(model, path)
    estimator._model, estimator.settings_ = model, model.settings
    estimator.n_features_in_ = model.n_features
    names = model.get("feature_names")
    if names is not None:
        estimator.feature_names_in_ = names.astype(object)
    estimator._restore()
    estimator.missing = _missing_of(model)
    if estimator._words:
        _restore_words(estimator, state)
    vars(estimator).update(state)
    return estimator
