"""The building blocks on their own: thresholds, proximal steps, assignment."""
from __future__ import annotations

import ctypes
import threading
from typing import NamedTuple, Optional

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import address, as_float, is_sparse, plain, view
from ._core import Context, at_once, own_context, run
from ._library import Assignment as _Assignment
from ._library import F32, F64, Mat, SvtInfo, lib
from ._validation import check_array, threads_of

__all__ = ["assign", "project_simplex", "prox_chi2", "prox_chi2_simplex",
           "prox_logistic", "prox_soft", "singular_values", "svt"]


class Svt(NamedTuple):
    """What `svt` has found."""

    array: np.ndarray  # U max(S - t, 0) V'
    rank: int          # singular values above t
    nuclear: float     # sum of what is left of them
    sigma_1: float     # the largest before


class Assignment(NamedTuple):
    """What `assign` has found; of several problems, one after the other."""

    match: np.ndarray  # the column of each row
    price: np.ndarray  # of each column; proves the optimum
    objective: float   # sum of the costs


_AT_ONCE = 2e6  # steps that take about a millisecond


def _call(steps, n_jobs, work):
    """work(context): at once where there are few steps, else where Ctrl-C
    can end it and with as many threads as asked for."""
    if steps <= _AT_ONCE:
        threads_of(n_jobs)  # refuses what is no number of threads
        return at_once(work)
    context = Context(threads=threads_of(n_jobs))
    return run(context, lambda: work(context))


def svt(W: ArrayLike, t: float, n_jobs: Optional[int] = None) -> Svt:
    """Singular values of W less t: the proximal step of t |.|_*.

    Parameters
    ----------
    W : array (m, n)
    t : float
        What is taken off each; those below it vanish.
    n_jobs : int or None, default=None
        Threads; None and -1: all cores.  A small W takes one.

    Returns
    -------
    Svt
        array, rank, nuclear, sigma_1.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> lapis.svt(np.diag([3.0, 1.0]), 2).array.tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    W = check_array(W, "W")
    out, info = np.empty_like(W), SvtInfo()
    source, target = view(W)[0], view(out)[0]
    _call(W.size * min(W.shape), n_jobs, lambda context: context.check(
        lib.svt(context, source, float(t), target, info)))
    return Svt(out, info.rank, info.nuclear, info.sigma_1)


def singular_values(W: ArrayLike,
                    n_jobs: Optional[int] = None) -> np.ndarray:
    """All singular values, largest first.

    Parameters
    ----------
    W : array (m, n)
    n_jobs : int or None, default=None
        Threads; None and -1: all cores.

    Returns
    -------
    ndarray (min(m, n),)

    Examples
    --------
    >>> import numpy as np, lapis
    >>> lapis.singular_values(np.diag([1.0, 3.0])).tolist()
    [3.0, 1.0]
    """
    W = check_array(W, "W")
    out = np.empty(min(W.shape))
    source = view(W)[0]
    _call(W.size * min(W.shape), n_jobs, lambda context: context.check(
        lib.singular_values(context, source, address(out))))
    return out


def _rows_of(count, first, bytes_each):
    """Addresses of the rows of an array."""
    return np.arange(count, dtype=np.uintp) * bytes_each + first


def _assign_all(cost, match, price, n_jobs):
    """Several problems, cost (count, rows, cols), in one call."""
    count, rows, cols = cost.shape
    problems = np.zeros(count, np.dtype(Mat))
    one = view(cost[0])[0]
    for field in ("dtype", "rows", "cols", "ld"):
        problems[field] = getattr(one, field)
    problems["val"] = _rows_of(count, one.val, cost[0].nbytes)
    io = np.zeros(count, np.dtype(_Assignment))
    io["match"] = _rows_of(count, address(match), 8 * rows)
    io["price"] = _rows_of(count, address(price), 8 * cols)
    _call(cost.size * rows, n_jobs, lambda context: context.check(
        lib.assign_batch(context, count, address(problems), address(io))))
    return io["objective"].copy()


_FLOATS = {np.dtype(np.float64): F64, np.dtype(np.float32): F32}
_own = threading.local()


class _Problem:
    """What a small call passes to the library, made once a thread, and for each
    shape anew: that takes as long as to solve ten rows."""

    def __init__(self):
        self.context, self.of = own_context(), None
        self.mat, self.io = Mat(), _Assignment()
        self.arguments = (self.context._as_parameter_, ctypes.byref(self.mat),
                          ctypes.byref(self.io))

    def shape(self, dtype, shape):
        self.of, (rows, cols) = (dtype, shape), shape
        self.match, self.price = np.empty(rows, np.int64), np.empty(cols)
        mat, io = self.mat, self.io
        mat.dtype, mat.rows, mat.cols, mat.ld = _FLOATS[dtype], cols, rows, cols
        io.match, io.price = address(self.match), address(self.price)


def _assign_small(cost, n_jobs):
    threads_of(n_jobs)
    # A signal handler that calls this, too, finds none and makes its own.
    one = _own.__dict__.pop("problem", None) or _Problem()
    if one.of != (cost.dtype, cost.shape):
        one.shape(cost.dtype, cost.shape)
    one.mat.val = address(cost)
    status = lib.assign(*one.arguments)
    if status != 0 or one.context.talk.warnings:
        one.context.end()
        one.context.check(status)
    found = Assignment(one.match.copy(), one.price.copy(), one.io.objective)
    _own.problem = one
    return found


def assign(cost: ArrayLike, n_jobs: Optional[int] = None) -> Assignment:
    """A column of its own for every row, so that the sum of costs is least.

    Parameters
    ----------
    cost : array (rows, columns) or (count, rows, columns)
        rows <= columns; three axes are `count` problems in one call.
    n_jobs : int or None, default=None
        Threads that share the problems; None and -1: all cores.

    Returns
    -------
    Assignment
        match, price, objective; of several problems with that axis first.

    Examples
    --------
    >>> import lapis
    >>> lapis.assign([[4.0, 1.0, 3.0], [2.0, 0.0, 5.0]]).match.tolist()
    [1, 0]
    """
    if (type(cost) is np.ndarray and cost.ndim == 2 and cost.dtype in _FLOATS
            and cost.flags.c_contiguous
            and 0 < cost.size * len(cost) <= _AT_ONCE):
        return _assign_small(cost, n_jobs)
    if not is_sparse(cost):
        cost = np.asarray(plain(cost))
    shape = cost.shape
    if len(shape) == 3:
        cost = cost.reshape(-1, shape[2])
    as_it_is = (isinstance(cost, np.ndarray) and cost.flags.c_contiguous
                and cost.dtype in _FLOATS and cost.ndim == 2 and cost.size)
    if not as_it_is:
        cost = check_array(cost, "cost")
    match = np.empty(cost.shape[:1] if len(shape) < 3 else shape[:2], np.int64)
    price = np.empty(cost.shape[1:] if len(shape) < 3 else shape[::2])
    if len(shape) == 3:
        return Assignment(match, price, _assign_all(
            cost.reshape(shape), match, price, n_jobs))
    io = _Assignment(address(match), address(price), False, 0)
    source = view(cost)[0]
    _call(cost.size * len(cost), n_jobs, lambda context: context.check(
        lib.assign(context, source, io)))
    return Assignment(match, price, io.objective)


# ---- proximal steps: argmin_z t f(z) + (z - v)^2 / 2 -------------------------
def _alike(*arrays):
    """Arrays of one shape, in C order, and an empty one for the answer."""
    arrays = np.broadcast_arrays(*[np.asarray(a, np.float64)
                                   for a in arrays])
    arrays = [as_float(a, ndim=0) for a in arrays]
    return arrays, np.empty(arrays[0].shape)


def _pointers(*arrays):
    return [array.ctypes.data for array in arrays]


def prox_soft(v: ArrayLike, t: float) -> np.ndarray:
    """argmin_z t |z| + (z - v)^2 / 2: the soft threshold.

    Parameters
    ----------
    v : array
    t : float, at least 0

    Returns
    -------
    ndarray, as the arguments broadcast

    Examples
    --------
    >>> import lapis
    >>> lapis.prox_soft([-3.0, 0.5, 2.0], 1.0).tolist()
    [-2.0, 0.0, 1.0]
    """
    (v,), out = _alike(v)
    lib.prox_soft(v.size, v.ctypes.data, float(t), out.ctypes.data)
    return out


def prox_chi2(v: ArrayLike, z0: ArrayLike, t: ArrayLike) -> np.ndarray:
    """argmin_z t (z - z0)^2 / (z + z0) + (z - v)^2 / 2 over z >= 0.

    Parameters
    ----------
    v, z0, t : arrays that broadcast
        z0 at least 0, t above 0.

    Returns
    -------
    ndarray, as the arguments broadcast

    Examples
    --------
    >>> import lapis
    >>> float(lapis.prox_chi2(2.0, 2.0, 1.0))  # nothing pulls
    2.0
    """
    (v, z0, t), out = _alike(v, z0, t)
    lib.prox_chi2(v.size, *_pointers(v, z0, t, out))
    return out


def prox_logistic(v: ArrayLike, s: ArrayLike, c: ArrayLike, gamma: float,
                  t: ArrayLike) -> np.ndarray:
    """argmin_z t log(1 + exp(-gamma s (z - c))) / gamma + (z - v)^2 / 2.

    Parameters
    ----------
    v, s, c, t : arrays that broadcast
        s is -1 or 1, t above 0.
    gamma : float
        How sharp the loss is.

    Returns
    -------
    ndarray, as the arguments broadcast

    Examples
    --------
    >>> import lapis
    >>> z = lapis.prox_logistic([0.0, 0.0], [1.0, -1.0], 0.0, 3.0, 1.0)
    >>> bool(z[0] == -z[1] > 0)
    True
    """
    (v, s, c, t), out = _alike(v, s, c, t)
    lib.prox_logistic(v.size, *_pointers(v, s, c), float(gamma),
                      *_pointers(t, out))
    return out


def _by_row(out):
    return (row for row in np.ndindex(out.shape[:-1]))


def prox_chi2_simplex(v: ArrayLike, z0: ArrayLike, t: float) -> np.ndarray:
    """prox_chi2 on the probability simplex, along the last axis.

    Parameters
    ----------
    v, z0 : arrays that broadcast
        Where z0 is NaN nothing is known, and nothing pulls.
    t : float, above 0

    Returns
    -------
    ndarray, as the arguments broadcast

    Examples
    --------
    >>> import numpy as np, lapis
    >>> z = lapis.prox_chi2_simplex([0.5, 0.5, 0.5], [0.2, 0.8, np.nan], 1.0)
    >>> round(float(z.sum()), 12)
    1.0
    """
    (v, z0), out = _alike(v, z0)
    for row in _by_row(out):
        lib.prox_chi2_simplex(v.shape[-1], *_pointers(v[row], z0[row]),
                              float(t), out[row].ctypes.data)
    return out


def project_simplex(v: ArrayLike) -> np.ndarray:
    """The nearest point of the probability simplex, along the last axis.

    Parameters
    ----------
    v : array

    Returns
    -------
    ndarray, as the arguments broadcast

    Examples
    --------
    >>> import lapis
    >>> lapis.project_simplex([2.0, 0.0]).tolist()
    [1.0, 0.0]
    """
    (v,), out = _alike(v)
    work = np.empty(v.shape[-1])
    for row in _by_row(out):
        lib.project_simplex(v.shape[-1], *_pointers(v[row], work, out[row]))
    return out
