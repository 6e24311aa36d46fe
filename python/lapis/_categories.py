"""Columns of words as columns of 0 and 1 for the library, one a word."""
import numbers
from datetime import date

import numpy as np

from ._arrays import is_sparse, plain
from ._validation import check_cell, check_size, unknown_in

# NaN of a word that no row of the fit has: base_unmet() of src/base/unmet.c
UNMET = np.array(0x7ff8000000554e4d, np.uint64).view(np.float64)
MOST = 1000  # different words of a column, as --one-hot takes


def as_number(word):
    try:
        return float(word)
    except (TypeError, ValueError):
        return None


def _is_date(text):
    try:
        return date.fromisoformat(text) is not None
    except (TypeError, ValueError):
        return False


def objects_of(X):
    """X as a table of objects, which may hold words; None: numbers alone."""
    if is_sparse(X):
        return None
    array = np.asarray(plain(X))
    return array if array.ndim == 2 and array.dtype.kind in "OUS" else None


def _words_of(column, i, titles, mixed):
    """The sorted words of column i, or None: it holds numbers.  A text among
    numbers is a word where columns may be `mixed`, else it is refused."""
    known = [(j, v) for j, v in enumerate(column)
             if not unknown_in(column[j:j + 1])[0]]
    for j, v in known:
        if isinstance(v, (date, np.datetime64)):
            check_cell(v, "X", (j, i), titles)  # refuses it
        if not isinstance(v, (str, bytes, numbers.Number)):
            raise TypeError("argument must be a string or a number, not "
                            f"{type(v).__name__}")
    texts = [(j, v) for j, v in known if as_number(v) is None]
    if not texts:
        return None
    if all(_is_date(v) for _, v in texts):
        check_cell(date.fromisoformat(texts[0][1]), "X", (texts[0][0], i),
                   titles)
    if not mixed and len(texts) < len(known):
        check_cell(texts[0][1], "X", (texts[0][0], i), titles)
    words = sorted({str(v) for _, v in known})
    if len(words) > MOST:
        raise ValueError(f"column {_shown(i, titles)} has {len(words)} "
                         f"different words, more than {MOST}; leave it out, "
                         "or write fewer, larger kinds")
    return words


def _shown(i, titles):
    return i if titles is None else repr(titles[i])


def find_categories(X, titles, mixed=False):
    """The words of each column of X; None where it holds numbers, or for all:
    X is of numbers alone."""
    given = objects_of(X)
    return None if given is None else [
        _words_of(column, i, titles, mixed)
        for i, column in enumerate(given.T)]


def check_known(given, titles):
    for i, column in enumerate(given.T):
        if unknown_in(column).all():
            raise ValueError(f"column {_shown(i, titles)} is known of no "
                             "sample; leave it out")


def have_words(categories):
    return categories is not None and any(
        of is not None for of in categories)


def model_names(names, categories):
    """What the library's features are called: "town=Rome" of words; its
    sentences count from 1, and are brought to Python's count."""
    if names is None:
        names = [f"column {i + 1}" for i in range(len(categories))]
    return [name if word is None else f"{name}={word}"
            for name, of in zip(names, categories) for word in (of or [None])]


def _of_numbers(column, i, titles):
    gone = unknown_in(column)
    for j in np.flatnonzero(~gone):
        if as_number(column[j]) is None:
            check_cell(column[j], "X", (j, i), titles)
    part = np.array([np.nan if none else float(v)
                     for v, none in zip(column, gone)])
    check_size(part, lambda k: (k, i))
    return part[:, None]


def _of_words(column, of):
    """0 and 1; and which cells hold a word that no row of the fit has, of
    which nothing is known."""
    place = {word: k for k, word in enumerate(of)}
    gone = unknown_in(column)
    code = np.array([-1 if none else place.get(str(v), -1)
                     for v, none in zip(column, gone)])
    part = (code[:, None] == np.arange(len(of))).astype(np.float64)
    part[gone] = np.nan
    new = ~gone & (code < 0)
    part[new] = UNMET
    return part, new


def as_columns(given, categories, titles):
    """A table for the library; and its cells of new words, (column, words)
    each."""
    parts, strange = [], []
    for i, (of, column) in enumerate(zip(categories, given.T)):
        if of is None:
            parts.append(_of_numbers(column, i, titles))
            continue
        part, new = _of_words(column, of)
        parts.append(part)
        if new.any():
            strange.append((_shown(i, titles), column[new]))
    return np.hstack(parts), strange
