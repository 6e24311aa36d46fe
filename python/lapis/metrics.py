"""Metrics of answers, as ``lapis eval`` computes them.

Each metric of the library is a function of its name here:
``auroc(truth, scores)``, ``accuracy(truth, labels)``, ``rae(truth, values)``,
... NaN truth is unknown and ignored; several columns are several classes, and
the mean over those that have a value is returned.
"""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import address, as_float, view
from ._core import own_context
from ._library import MatchScores, lib


def metric(name: str, truth: ArrayLike, answers: ArrayLike,
           per_class: bool = False
           ) -> Union[float, Tuple[float, np.ndarray]]:
    """A metric by its name; per_class: (mean, value of each class)."""
    context = own_context()
    truth, answers = as_float(truth, "truth"), as_float(answers, "answers")
    if len(truth) != len(answers):
        raise ValueError(f"{name}: the truth has {len(truth)} samples, the "
                         f"answers have {len(answers)}")
    T, A = view(truth)[0], view(answers)[0]
    count, mean = ctypes.c_int64(), ctypes.c_double()
    context.check(lib.metric_classes(context, name.encode(), T, count))
    values = np.full(max(count.value, 1), np.nan)
    context.check(lib.metric(context, name.encode(), T, A,
                             address(values), mean))
    return (mean.value, values) if per_class else mean.value


def _named(name, kind):
    what = ("scores", "labels", "values", "probabilities")[kind.reads]

    def function(truth, answers, per_class=False):
        return metric(name, truth, answers, per_class)
    function.__name__ = name.replace("-", "_")
    function.__doc__ = (
        f"{name} of {what} against the truth; "
        f"{'less' if kind.less_is_better else 'more'} is better.")
    return function


def _all():
    i = 0
    while kind := lib.metric_at(i):
        name = kind.contents.name.decode()
        yield name.replace("-", "_"), _named(name, kind.contents)
        i += 1


if TYPE_CHECKING:
    def __getattr__(name: str) -> Callable[..., Any]: ...

_functions = dict(_all())
globals().update(_functions)


def _slots(matches):
    return np.require(matches, np.int64, ["C"])


def match_ratio(truth: ArrayLike, found: ArrayLike,
                inlier: Optional[ArrayLike] = None) -> Dict[str, float]:
    """Of matches (n_images, n_slots): {match_ratio, identification_ratio,
    precision, recall}; -1 is missing, the order of slots means nothing."""
    context, out = own_context(), MatchScores()
    arrays = [_slots(given) for given in (truth, found, inlier)
              if given is not None]
    views = [view(array)[0] for array in arrays] + [None]
    context.check(lib.match_ratio(context, *views[:3], out))
    return {name: getattr(out, name) for name, _ in out._fields_}


def iou(truth: ArrayLike,
        found: ArrayLike) -> Tuple[np.ndarray, float, float]:
    """Of boxes (n, 4), x0 y0 x1 y1: intersection over union of each pair,
    their mean, and the share above 1/2."""
    context = own_context()
    truth, found = as_float(truth, "truth"), as_float(found, "found")
    T, F = view(truth)[0], view(found)[0]
    each, mean = np.empty(len(truth)), ctypes.c_double()
    correct = ctypes.c_double()
    context.check(lib.iou(context, T, F, address(each), mean, correct))
    return each, mean.value, correct.value


__all__ = ["iou", "match_ratio", "metric", *_functions]
