"""Checks of what users pass, the same with and without scikit-learn.

Shapes and kinds are checked here, because they are Python's; what the numbers
may be is the library's to say, in its own sentence.
"""
import datetime
import numbers
import os

import numpy as np

from ._arrays import as_float, is_sparse, objects, plain
from ._core import warn
from ._library import lib
from .exceptions import DataConversionWarning, NotFittedError


# ---- X ---------------------------------------------------------------------
def check_shape(shape, name):
    if len(shape) != 2:
        raise ValueError(
            f"Expected 2D array, got {len(shape)}D array instead: {name} has "
            f"shape {shape}. Reshape your data either using "
            "array.reshape(-1, 1) if it has a single feature or "
            "array.reshape(1, -1) if it is a single sample.")
    for count, what in zip(shape, ("sample", "feature")):
        if count == 0:
            raise ValueError(f"Found array with 0 {what}(s) (shape={shape}) "
                             "while a minimum of 1 is required.")


def check_array(X, name="X", sparse=False):
    """X as the library takes it: float64 in C order, or sparse."""
    if is_sparse(X):
        if not sparse:
            raise TypeError(f"{name}: sparse data were passed, but this "
                            "estimator needs dense data; X.toarray() makes "
                            "them dense")
        check_shape(X.shape, name)
        return X.tocsr()
    array = np.asarray(plain(X))
    if np.iscomplexobj(array):
        raise ValueError(f"{name}: Complex data not supported")
    check_shape(array.shape, name)
    if array.dtype.kind not in "fiub":
        array = _numbers(array, name, feature_names(X))
    return as_float(array, name)


def _numbers(array, name, titles):
    """Of words and objects; pandas' NA is NaN.  A date, or a text that is no
    number, is refused by its place, as the command does."""
    try:
        if array.dtype.kind != "M":
            return array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    unknown = unknown_in(array).reshape(array.shape)
    for place, cell in np.ndenumerate(array):
        if not unknown[place]:
            check_cell(cell, name, place, titles)
    return np.where(unknown, np.nan, array).astype(np.float64)


def check_cell(cell, name, place, titles):
    title = "" if titles is None else f" ({titles[place[1]]!r})"
    at = f"{name}[{place[0]}, {place[1]}]{title}"
    if isinstance(cell, (datetime.date, np.datetime64)):
        raise ValueError(f"{at} is the date {cell}; a feature is a number: "
                         "write days since a first date instead, as "
                         "(column - column.min()).dt.days, or leave the "
                         "column out")
    if isinstance(cell, (str, bytes)):
        try:
            float(cell)
        except ValueError:
            raise ValueError(f"{at} is the text {cell!r}; a feature is a "
                             "number, or NaN; pandas.get_dummies makes a "
                             "column of 0 and 1 for each word") from None


LARGEST = 1e150  # the library's own: squares have to be finite


def check_size(values, place):
    """Refuses the first that is too large; place(k): its row and column."""
    large = np.flatnonzero(np.abs(values) > LARGEST)
    if large.size:
        row, column = place(large[0])
        raise ValueError(
            f"X is {values[large[0]]:g} at row {row}, column {column}, too "
            f"large to compute with (at most {LARGEST:g}); scale the data, or "
            "write NaN for a value that was not observed")


def feature_names(X):
    """Column names of a data frame, all text; None where there are none."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    names = np.asarray(columns, dtype=object)
    kinds = {isinstance(name, str) for name in names}
    if kinds == {True, False}:
        raise TypeError("Feature names are only supported if all input "
                        "features have string names; convert them all by "
                        "X.columns = X.columns.astype(str)")
    return names if kinds == {True} else None


def remember_features(estimator, X, count):
    """n_features_in_ and, of a data frame, feature_names_in_."""
    names = feature_names(X)
    estimator.n_features_in_ = count
    if names is not None:
        estimator.feature_names_in_ = names
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def check_features(estimator, X, shape):
    """New samples have the features of the fit, in the same order."""
    fitted = getattr(estimator, "feature_names_in_", None)
    names, me = feature_names(X), type(estimator).__name__
    if names is not None and fitted is not None:
        if list(names) != list(fitted):
            raise ValueError("The feature names should match those that were "
                             f"passed during fit: {list(fitted)}, not "
                             f"{list(names)}")
    elif names is not None:
        warn(f"X has feature names, but {me} was fitted without feature "
             "names", UserWarning)
    elif fitted is not None:
        warn(f"X does not have valid feature names, but {me} was fitted with "
             "feature names", UserWarning)
    if shape[1] != estimator.n_features_in_:
        raise ValueError(f"X has {shape[1]} features, but {me} is expecting "
                         f"{estimator.n_features_in_} features as input")


def check_fitted(estimator):
    if not hasattr(estimator, "n_features_in_"):
        raise NotFittedError(
            f"This {type(estimator).__name__} instance is not fitted yet; "
            "call 'fit' before this method")


def feature_names_of(estimator, given=None):
    """The features of the fit by name: those given, its own, or x0, x1, ..."""
    check_fitted(estimator)
    count = estimator.n_features_in_
    if given is None:
        given = getattr(estimator, "feature_names_in_",
                        [f"x{i}" for i in range(count)])
    if len(given) != count:
        raise ValueError("input_features should have length equal to number "
                         f"of features ({count}), got {len(given)}")
    return np.asarray(given, dtype=object)


# ---- y ---------------------------------------------------------------------
def _warn_of_column():
    warn("A column-vector y was passed when a 1d array was expected; "
         "y.ravel() is one", DataConversionWarning)


def labels_of(y):
    """y as a plain array, in which NaN that stands in a list among words is
    still NaN, of which numpy makes a word; and a whole number beside what is
    missing still itself, of which a double is made."""
    array = np.asarray(plain(y))
    if array.dtype.kind in "US" and not hasattr(y, "dtype"):
        given = objects(y)
        if unknown_in(given).any():
            return given
    if array.dtype.kind == "f" and array is not y:
        size = np.abs(array.astype(np.float64))
        large = (size >= 2.0 ** 53) & (size < np.inf)
        given = objects(y) if large.any() else array
        return array if are_doubles(given[large]) else given
    return array


def check_y(y, n_samples, missing=False):
    """Targets as a plain array of one or two axes and as many samples."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the "
                         "target y is None")
    if is_sparse(y):
        raise TypeError("y: sparse targets are not supported; y.toarray() "
                        "makes them dense")
    if hasattr(y, "iloc") and y.ndim == 2 and y.shape[1] == 1:
        _warn_of_column()
        y = y.iloc[:, 0]  # of its own type
    y = labels_of(y)
    if np.iscomplexobj(y):
        raise ValueError("y: Complex data not supported")
    if y.ndim == 2 and y.shape[1] == 1:
        _warn_of_column()
        y = y.ravel()
    if y.ndim not in (1, 2):
        raise ValueError(f"y should be a 1d array of targets or a 2d array "
                         f"of several, got an array of shape {y.shape}")
    check_length(y, n_samples, "y")
    if y.dtype.kind == "f" and (np.isinf(y).any()
                                or not missing and np.isnan(y).any()):
        raise ValueError("Input y contains NaN or infinity; each target must "
                         "be known and finite")
    return y


def check_length(array, n_samples, name):
    if len(array) != n_samples:
        raise ValueError(f"Found input variables with inconsistent numbers "
                         f"of samples: {name} has {len(array)}, X has "
                         f"{n_samples}")


def check_classes(y):
    """Targets are labels: whole numbers, or words."""
    if y.dtype.kind == "f" and not np.array_equal(
            y[~np.isnan(y)], np.round(y[~np.isnan(y)])):
        raise ValueError("Unknown label type: continuous values are no "
                         "labels; AutoRegressor and RobustRegressor "
                         "take them")


def are_doubles(numbers):
    """Whether doubles hold each of these whole numbers: beyond 2^53 there are
    some that they do not."""
    return all(int(one) == float(one) for one in numbers.tolist())


def _is_missing(value):
    try:
        return value is None or bool(value != value)
    except TypeError:  # pd.NA
        return True


def forget(array, missing):
    """array with NaN where it holds what `missing` lists, a word, a number or
    several; as it is where it holds none."""
    if missing is None or array is None:
        return array
    listed = ([missing] if isinstance(missing, (str, bytes, numbers.Number))
              else list(missing))
    if is_sparse(array):
        out = array.tocsr().astype(np.float64, copy=True)
        out.data = forget(out.data, listed)
        return out
    given = np.asarray(plain(array))
    meant = np.array([value in listed for value in given.ravel().tolist()],
                     dtype=bool).reshape(given.shape)
    if not meant.any():
        return array
    kind = np.float64 if given.dtype.kind in "fiub" else object
    out = given.astype(kind)
    out[meant] = np.nan
    return out


def unknown_in(array):
    """Of each entry, whether it is not known: NaN, None, pandas' NA."""
    if array.dtype.kind in "fmM":
        return np.isnan(array).ravel()
    if array.dtype.kind != "O":
        return np.zeros(array.size, bool)
    return np.array([_is_missing(value) for value in array.ravel()], bool)


def means_missing(word):
    """Whether a table would take the word for "not known": "", "NA", "?"."""
    text = word if isinstance(word, bytes) else str(word).encode("utf-8",
                                                                 "replace")
    return text == b"NaT" or lib.text_missing(text)


def check_groups(groups, n_samples=None):
    """The groups as they are met, and whose each sample is: each has a group."""
    groups = np.asarray(groups)
    if groups.ndim == 2 and groups.shape[1] == 1:
        groups = groups.ravel()
    if groups.ndim != 1:
        raise ValueError("groups should be a 1d array, one group a sample, "
                         f"got an array of shape {groups.shape}")
    if n_samples is not None:
        check_length(groups, n_samples, "groups")
    if groups.dtype.kind in "OfcmM":
        for k, group in enumerate(groups):
            if _is_missing(group):
                raise ValueError(f"groups: sample {k} has none ({group}); "
                                 "give it a group, one of its own if need be")
    names, first, of = np.unique(groups, return_index=True,
                                 return_inverse=True)
    order = np.argsort(first)
    return names[order], np.argsort(order)[of]


def check_weight(weight, n_samples):
    """Weights of samples, one each, at least 0."""
    if isinstance(weight, numbers.Number):
        return np.full(n_samples, float(weight))
    weight = np.asarray(plain(weight), dtype=np.float64)
    if weight.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if weight.size != n_samples:
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected "
                         f"({n_samples},)!")
    if not weight.any():
        raise ValueError("sample_weight is zero for every sample; at least "
                         "one has to count")
    return weight


# ---- random_state, n_jobs ----------------------------------------------------
def seed_of(random_state):
    """None: 0, the library's own; a generator draws one."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    for draw in ("integers", "randint"):
        if hasattr(random_state, draw):
            return int(getattr(random_state, draw)(2 ** 31 - 1))
    raise ValueError(f"{random_state!r} is not a random_state: give None, a "
                     "whole number or a numpy generator")


def threads_of(n_jobs):
    """None and -1: all cores, as the command does."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if n_jobs == 1 and type(n_jobs) is int:
        return 1
    if not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs is {n_jobs!r}; it must be a whole number "
                         "other than 0, or None")
    if n_jobs > 0:
        return int(n_jobs)
    return max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
