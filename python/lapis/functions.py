"""The building blocks on their own: thresholds, proximal steps, assignment."""
from typing import NamedTuple

import numpy as np

from ._arrays import address, as_float, is_sparse, plain, view
from ._core import Context, at_once, run
from ._library import Assignment as _Assignment
from ._library import Mat, SvtInfo, lib
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


def svt(W, t, n_jobs=None):
    """Singular values of W (m, n) less t: the proximal step of t |.|_*.

    A small W takes one thread, whatever n_jobs."""
    W = check_array(W, "W")
    out, info = np.empty_like(W), SvtInfo()
    source, target = view(W)[0], view(out)[0]
    _call(W.size * min(W.shape), n_jobs, lambda context: context.check(
        lib.svt(context, source, float(t), target, info)))
    return Svt(out, info.rank, info.nuclear, info.sigma_1)


def singular_values(W, n_jobs=None):
    """All min(m, n) singular values of W, largest first."""
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


_FLOATS = np.dtype(np.float64), np.dtype(np.float32)


def assign(cost, n_jobs=None):
    """A column of its own for every row of cost (rows <= columns), so that
    the sum of the costs is least.

    Of cost (count, rows, columns), as many problems in one call, which n_jobs
    threads share: match, price and objective have that axis too."""
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


def prox_soft(v, t):
    """f = |z|: soft threshold."""
    (v,), out = _alike(v)
    lib.prox_soft(v.size, v.ctypes.data, float(t), out.ctypes.data)
    return out


def prox_chi2(v, z0, t):
    """f = (z - z0)^2 / (z + z0) on z >= 0."""
    (v, z0, t), out = _alike(v, z0, t)
    lib.prox_chi2(v.size, *_pointers(v, z0, t, out))
    return out


def prox_logistic(v, s, c, gamma, t):
    """f = log(1 + exp(-gamma s (z - c))) / gamma, s in {-1, 1}."""
    (v, s, c, t), out = _alike(v, s, c, t)
    lib.prox_logistic(v.size, *_pointers(v, s, c), float(gamma),
                      *_pointers(t, out))
    return out


def _by_row(out):
    return (row for row in np.ndindex(out.shape[:-1]))


def prox_chi2_simplex(v, z0, t):
    """f = sum of chi2(z_i, z0_i) where z0 is not NaN, on the probability
    simplex, along the last axis; t > 0."""
    (v, z0), out = _alike(v, z0)
    for row in _by_row(out):
        lib.prox_chi2_simplex(v.shape[-1], *_pointers(v[row], z0[row]),
                              float(t), out[row].ctypes.data)
    return out


def project_simplex(v):
    """The nearest point of the probability simplex, along the last axis."""
    (v,), out = _alike(v)
    work = np.empty(v.shape[-1])
    for row in _by_row(out):
        lib.project_simplex(v.shape[-1], *_pointers(v[row], work, out[row]))
    return out
