"""The building blocks on their own: thresholds, proximal steps, assignment."""
from typing import NamedTuple

import numpy as np

from ._arrays import as_float, view
from ._core import Context, run
from ._library import Assignment as _Assignment
from ._library import SvtInfo, lib
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
    """What `assign` has found."""

    match: np.ndarray  # the column of each row
    price: np.ndarray  # of each column; proves the optimum
    objective: float   # sum of the costs


def svt(W, t, n_jobs=None):
    """Singular values of W (m, n) less t: the proximal step of t |.|_*."""
    W = check_array(W, "W")
    out, info = np.empty_like(W), SvtInfo()
    context = Context(threads=threads_of(n_jobs))
    source, target = view(W)[0], view(out)[0]
    run(context, lambda: context.check(
        lib.svt(context, source, float(t), target, info)))
    return Svt(out, info.rank, info.nuclear, info.sigma_1)


def singular_values(W, n_jobs=None):
    """All min(m, n) singular values of W, largest first."""
    W = check_array(W, "W")
    out = np.empty(min(W.shape))
    context, source = Context(threads=threads_of(n_jobs)), view(W)[0]
    run(context, lambda: context.check(
        lib.singular_values(context, source, out.ctypes.data)))
    return out


def assign(cost, n_jobs=None):
    """A column of its own for every row of cost (rows <= columns), so that
    the sum of the costs is least."""
    if not (isinstance(cost, np.ndarray) and cost.dtype == np.float32
            and cost.flags.c_contiguous):
        cost = check_array(cost, "cost")
    match = np.empty(len(cost), np.int64)
    price = np.empty(cost.shape[1])
    io = _Assignment(match.ctypes.data, price.ctypes.data, False, 0)
    context, source = Context(threads=threads_of(n_jobs)), view(cost)[0]
    run(context, lambda: context.check(lib.assign(context, source, io)))
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
