"""Model files, shared with the command."""
from __future__ import annotations

from os import PathLike
from typing import Any, Union

from ._core import Model
from ._estimator import unkept_class
from ._settings import table
from .completion import AutoClassifier, MatrixCompletionClassifier
from .exceptions import NotFittedError
from .robust import RobustLDA, RobustPCA, RobustRegressor
from .svm import MISVMPlusClassifier, SVMPlusClassifier

_CLASSES = {cls._method: cls for cls in (
    MatrixCompletionClassifier, MISVMPlusClassifier, RobustLDA, RobustPCA,
    RobustRegressor, SVMPlusClassifier)}


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
    if not isinstance(estimator, tuple(_CLASSES.values())):
        raise TypeError(
            f"a {type(estimator).__name__} has no model file, as "
            + ", ".join(cls.__name__ for cls in _CLASSES.values())
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
    cls = _CLASSES.get(model.method)
    if cls is None:
        raise ValueError(f"{path}: a model of {model.method} has no estimator")
    settings = model.settings
    words = {row.key: row.choices for row in table(model.method).rows
             if row.is_matrix}
    estimator = cls(**{
        key: settings[key] for key in table(model.method).keys
        if key not in words or settings[key] in words[key]})
    estimator._model, estimator.settings_ = model, settings
    estimator.n_features_in_ = model.n_features
    names = model.get("feature_names")
    if names is not None:
        estimator.feature_names_in_ = names.astype(object)
    estimator._restore()
    return estimator
