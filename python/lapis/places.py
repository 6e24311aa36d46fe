"""Where in an image: heat maps and windows of visual words."""
from __future__ import annotations

import ctypes
from typing import Tuple

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import address, as_float, view
from ._core import at_once
from ._library import Box, Words, lib

__all__ = ["find_windows", "heat_map"]


def _words(word, xy, size, count):
    """The words of one image, and what has to outlive the call."""
    word = np.asarray(word)
    if word.dtype.kind not in "iu":
        raise TypeError(f"word holds {word.dtype}, not numbers of words")
    word = np.ascontiguousarray(word.reshape(-1, 1), np.int64)
    xy = as_float(np.ascontiguousarray(np.asarray(xy, float)[:, :2]))
    if len(word) != len(xy):
        raise ValueError(f"word has {len(word)} words, xy {len(xy)} places")
    width, height = (int(v) for v in size)
    kept = [view(word), view(xy)]
    return Words(kept[0][0], kept[1][0], count, width, height), kept


def heat_map(word: ArrayLike, xy: ArrayLike, size: Tuple[int, int],
             weights: ArrayLike, shape: Tuple[int, int] = (32, 32)):
    """How much the words in each part of an image speak for a class.

    Parameters
    ----------
    word : array (m,) of int
        The visual words of one image, of ``lapis features``:
        ``word[word_start[i]:word_start[i + 1]]``.
    xy : array (m, 2 or more)
        Their places in pixels, likewise of ``word_xy``.
    size : (width, height)
        Of the image, of ``image_size``.
    weights : array (words,)
        What each word says: a row of ``class_features`` less its mean, or the
        repaired histogram of the image less its mean.
    shape : (rows, columns), default=(32, 32)

    Returns
    -------
    ndarray of that shape
        The mean weight of the words in each cell; NaN where there are none.
        `lapis.plot.heatmap` draws it.

    Examples
    --------
    >>> import lapis
    >>> lapis.heat_map([0, 1, 1], [[0, 0], [9, 0], [9, 5]], (10, 6), [-1., 1.],
    ...                shape=(2, 2)).tolist()
    [[-1.0, 1.0], [nan, 1.0]]
    """
    weights = np.ascontiguousarray(weights, float).ravel()
    words, kept = _words(word, xy, size, len(weights))
    rows, columns = (int(v) for v in shape)
    out = np.empty((max(rows, 0), max(columns, 0)))
    at_once(lambda context: context.check(lib.heat_map(
        context, ctypes.byref(words), address(weights), columns, rows,
        address(out))))
    del kept
    return out


def find_windows(word: ArrayLike, xy: ArrayLike, size: Tuple[int, int],
                 histogram: ArrayLike, count: int = 1):
    """Windows whose words are nearest to a histogram, by the chi-squared distance.

    Parameters
    ----------
    word, xy, size
        As `heat_map` has them.
    histogram : array (words,)
        Counts or shares, 0 or more: the repaired features of the image.
    count : int, default=1
        How many windows, apart from each other, nearest first.

    Returns
    -------
    ndarray (found, 5)
        x, y, width, height, distance.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> xy = np.argwhere(np.ones((40, 40)))[:, ::-1]  # a word a pixel
    >>> word = (abs(xy - [10, 30]).max(1) < 8).astype(int)
    >>> x, y, wide, high, _ = lapis.find_windows(word, xy, (40, 40), [0., 1.])[0]
    >>> bool(x >= 3 and x + wide <= 18 and y >= 23 and y + high <= 38)
    True
    """
    histogram = as_float(np.asarray(histogram, float).reshape(-1, 1))
    words, kept = _words(word, xy, size, len(histogram))
    boxes, found = (Box * max(int(count), 1))(), ctypes.c_int64()
    target = view(histogram)[0]
    at_once(lambda context: context.check(lib.windows_find(
        context, ctypes.byref(words), target, None, int(count), boxes,
        ctypes.byref(found), None)))
    del kept
    return np.array([(b.x, b.y, b.width, b.height, b.score)
                     for b in boxes[:found.value]]).reshape(-1, 5)
