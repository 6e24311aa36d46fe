"""Missing values, filled in."""
from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Optional

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import is_sparse
from ._categories import (as_columns, find_categories, have_words, model_names,
                          objects_of)
from ._compat import TransformerMixin, output_of
from ._core import Warm, warn
from ._estimator import Estimator, of_method
from ._validation import (check_array, check_features, check_fitted,
                          check_size, feature_names, feature_names_of, forget,
                          remember_features, seed_of, unknown_in)
from .exceptions import LapisWarning

if TYPE_CHECKING:
    from typing_extensions import Self


WHOLE = 2e6  # cells that a sparse X may have to be solved as an array


class _Cells:
    """What is seen of X, row after row: compressed rows without scipy."""

    def __init__(self, X, missing):
        self.shape = X.shape
        if is_sparse(X):
            csr = X.tocsr().copy()
            csr.sum_duplicates()
            if missing is not None:
                csr = forget(csr, missing).tocoo()
                known = ~np.isnan(csr.data)
                csr = type(csr)((csr.data[known],
                                 (csr.row[known], csr.col[known])),
                                shape=X.shape).tocsr()
            self.start = csr.indptr.astype(np.int64)
            self.column = csr.indices.astype(np.int32)
            self.value = csr.data.astype(np.float64)
            if np.isnan(self.value).any():
                raise ValueError("X stores NaN; a cell that is not known is "
                                 "left out of a sparse X")
        else:
            seen = ~np.isnan(X)
            self.start = np.concatenate([[0], seen.sum(1).cumsum()])
            self.column = np.nonzero(seen)[1].astype(np.int32)
            self.value = X[seen]
        check_size(self.value, lambda k: (self.row[k], self.column[k]))

    @property
    def row(self):
        return np.repeat(np.arange(self.shape[0]), np.diff(self.start))

    def moments(self):
        """Of each column the mean and deviation of what is seen; 0 of none."""
        d = self.shape[1]
        count = np.maximum(np.bincount(self.column, minlength=d), 1)
        mean = np.bincount(self.column, self.value, minlength=d) / count
        rest = self.value - mean[self.column]
        return mean, np.sqrt(np.bincount(self.column, rest ** 2,
                                         minlength=d) / count)

    @classmethod
    def of(cls, start, column, value, shape):
        self = object.__new__(cls)
        self.start, self.column, self.value = start, column, value
        self.shape = shape
        return self

    def only(self, keep):
        """The same with those cells alone that a mask keeps."""
        counts = np.bincount(self.row[keep], minlength=self.shape[0])
        start = np.concatenate([[0], counts.cumsum()]).astype(np.int64)
        return _Cells.of(start, self.column[keep], self.value[keep],
                         self.shape)

    def compressed(self):
        """(values, starts, columns, shape)."""
        return self.value, self.start, self.column, self.shape

    def dense(self):
        out = np.full(self.shape, np.nan)
        out[self.row, self.column] = self.value
        return out


class LowRankImputer(TransformerMixin, Estimator):
    """Fill missing values by a matrix of low rank, solved to a proved gap.

    minimizes  1/2 |X - Z|^2 on the cells that are seen + lam |Z|_*

    after the means of the columns, which is softImpute's problem.  NaN is a
    missing cell; of a scipy sparse matrix what is stored is seen, zeros too.
    Cells that are seen are kept as they are.

    Parameters
    ----------
    lam : float or None, default=None
        Weight of the nuclear norm, softImpute's lambda.  None: a share of the
        cells is hidden, completed along a path of weights, each warm from the
        one before, and the weight with the smallest error is taken (a smaller
        one only where it is better by a thousandth and a standard error).
    hide : float, default=0.1
        Share of the cells that choosing hides.
    path : int, default=12
        Weights of that path, from the one that leaves nothing down to 1/100.
    center : bool, default=True
        Subtract the means of the columns first.
    scale : bool or None, default=None
        Divide the columns by their deviations, too, so that the unit of none
        decides.  None: where lam is None and X is dense; columns of few cells,
        as sparse ratings have, say little of their deviation.
    most_rank : int or None, default=None
        The most columns the factors may have, with solver factored; None: 256
        where that solver is taken (docs/methods/mc.md: large X, most of it
        unseen).
    proof : "random" or "exact", default="random"
        How solver factored proves the gap: docs/methods/mc.md.
    tol : float, default=1e-4
        Relative gap to be proved; ten times as much along the path.
    max_iters : int, default=1000
        Iterations at most, of each solve.
    random_state, n_jobs, missing, verbose :
        As for the other estimators.

    Attributes
    ----------
    lam_ : float
        The weight that was used.
    path_ : list of (lam, error, rank)
        What choosing saw: root mean square error of the hidden cells, after
        scale_.
    factors_, feature_factors_ : ndarray (n_samples, r), (n_features, r)
        Z = factors_ @ feature_factors_.T * scale_ + mean_.
    singular_values_ : ndarray (r,)
    mean_, scale_ : ndarray (n_features,)
        What was subtracted, and what the columns were divided by.
    info_ : Info
        Status, objective, dual, gap and the like of the fit.
    notes_ : list of (level, name, text)
        What the fit remarked.
    n_features_in_, feature_names_in_, n_iter_

    Examples
    --------
    >>> import numpy as np, lapis
    >>> X = np.outer([1.0, 2, 3, 4], [1, 2, 3])
    >>> X[1, 1] = np.nan
    >>> imputer = lapis.LowRankImputer(lam=0.01, center=False)
    >>> np.round(imputer.fit_transform(X)[1], 1)
    array([2., 4., 6.])
    """

    _sparse = True
    _tags = {"allow_nan": True, "X_types": ["2darray", "sparse"]}

    def __init__(self, *, lam: Optional[float] = None, hide: float = 0.1,
                 path: int = 12, center: bool = True,
                 scale: Optional[bool] = None,
                 most_rank: Optional[int] = None, proof: str = "random",
                 tol: float = 1e-4, max_iters: int = 1000,
                 random_state: object = None, n_jobs: Optional[int] = None,
                 missing: object = None, verbose: int = 0) -> None:
        self.lam = lam
        self.hide = hide
        self.path = path
        self.center = center
        self.scale = scale
        self.most_rank = most_rank
        self.proof = proof
        self.tol = tol
        self.max_iters = max_iters
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.missing = missing
        self.verbose = verbose

    # ---- fitting -----------------------------------------------------------
    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn the factors from the cells that are seen."""
        self._fit(X)
        return self

    def fit_transform(self, X: ArrayLike, y: object = None) -> np.ndarray:
        """X with its missing cells filled, a dense array."""
        cells = self._fit(X)
        out = (self.factors_ @ self.feature_factors_.T * self.scale_
               + self.mean_)
        out[cells.row, cells.column] = cells.value
        return out

    def _check_arguments(self):
        """Those that are Python's; the others are the library's to judge."""
        if self.lam is not None and not (_is_number(self.lam)
                                         and self.lam > 0):
            raise ValueError(f"lam is {self.lam!r}; it must be a finite "
                             "number above 0, or None to choose it")
        if not (_is_number(self.hide) and 0 < self.hide < 1):
            raise ValueError(f"hide is {self.hide!r}; it must be a share "
                             "above 0 and below 1 of the cells")
        if not (_is_number(self.path) and self.path >= 1
                and self.path == int(self.path)):
            raise ValueError(f"path is {self.path!r}; it must be a whole "
                             "number of weights, 1 at least")

        if self.scale not in (None, True, False):
            raise ValueError(f"scale is {self.scale!r}; it must be a bool, "
                             "or None")

    def _known(self, X):
        """X, of which a sparse one is rid of what means unknown as cells."""
        return check_array(X if is_sparse(X) else forget(X, self.missing),
                           sparse=True)

    def _fit(self, X):
        self._check_arguments()
        array = self._known(X)
        cells = _Cells(array, self.missing)
        remember_features(self, X, array.shape[1])
        n, d = cells.shape
        count = np.bincount(cells.column, minlength=d)
        if not cells.value.size:
            raise ValueError("X has no value that is seen")
        if (count == 0).any():
            warn(f"{(count == 0).sum()} of {d} features are seen in no "
                 f"sample, feature {np.argmin(count)} first; they are "
                 "filled with 0", LapisWarning)
        mean, deviation = cells.moments()
        self._near = mean, 5 * deviation + 1e-9 * np.abs(mean)
        self.mean_ = mean if self.center else np.zeros(d)
        rest = cells.only(np.ones(cells.value.size, bool))
        rest.value = rest.value - self.mean_[rest.column]
        self.scale_ = np.ones(d)
        if self._scales(array):
            square = np.bincount(cells.column, rest.value ** 2, minlength=d)
            size = np.sqrt(square / np.maximum(count, 1))
            # what rounding leaves of a constant is no deviation
            least = 1e-12 * np.abs(self.mean_)
            self.scale_ = np.where(size > least, size, 1.0)
            rest.value = rest.value / self.scale_[rest.column]
        self.path_, self._dense = [], not is_sparse(array)
        lam = self.lam
        if lam is None:
            lam = self._choose(rest)
        self._complete(rest, lam)
        return cells

    def _scales(self, X):
        if self.scale is None:
            return self.lam is None and not is_sparse(X)
        return bool(self.scale)

    def _solver(self, cells):
        """A function of lam, warm from its last call, that completes what is
        left without rows and columns of no cell; which they are."""
        rows = np.flatnonzero(np.diff(cells.start))
        columns = np.flatnonzero(np.bincount(cells.column,
                                             minlength=cells.shape[1]))
        place = np.zeros(cells.shape[1], np.int32)
        place[columns] = np.arange(columns.size)
        start = np.concatenate([[0], np.diff(cells.start)[rows].cumsum()])
        packed = _Cells.of(start.astype(np.int64), place[cells.column],
                           cells.value, (rows.size, columns.size))
        whole = self.most_rank is None and self.proof == "random" and (
            self._dense or rows.size * columns.size <= WHOLE)
        context = self._context()
        context.unsaid = {"units-differ"}  # scale has decided
        solver = Warm("mc", packed.dense() if whole else packed.compressed(),
                      context, solver="auto" if whole else "factored",
                      dense=whole, absent="missing", most_rank=self.most_rank,
                      proof=self.proof, max_iters=self.max_iters)

        def solve(lam, tol):
            return solver.solve(mu=lam / cells.value.size, tol=tol)
        return solve, rows, columns

    def _choose(self, cells):
        """The weight whose completion is nearest to cells it has not seen; a
        smaller one has to be clearly nearer, since it keeps more noise."""
        largest = _largest(cells)
        if not largest > 0:
            return 1.0  # nothing is left of X after the means
        g = np.random.default_rng(seed_of(self.random_state))
        keep = g.random(cells.value.size) >= self.hide
        order = g.permutation(cells.value.size)
        for line in (cells.row, cells.column):  # none loses its last cell
            first = np.full(line.max() + 1, -1)
            first[line[order]] = order
            keep[first[first >= 0]] = True
        if keep.all() or self.path < 2:
            return largest / 10
        train, hidden = cells.only(keep), cells.only(~keep)
        solve, rows, columns = self._solver(train)
        row = np.searchsorted(rows, hidden.row)
        column = np.searchsorted(columns, hidden.column)
        best, worse = None, 0
        for lam in np.geomspace(0.7, 0.01, int(self.path)) * _largest(train):
            result = solve(lam, 10 * self.tol)
            z = _cells_of(result, row, column)
            square = (z - hidden.value) ** 2
            self.path_.append((float(lam), float(np.sqrt(square.mean())),
                               int(result.info.rank)))
            if best is None or _clearly_less(square, best[1]):
                best, worse = (lam, square), 0
            else:
                worse += 1
            if worse == 2:
                break
        # the norm of noise grows as the root of the share that is seen
        return best[0] * np.sqrt(cells.value.size / train.value.size)

    def _complete(self, cells, lam):
        solve, rows, columns = self._solver(cells)
        result = solve(lam, self.tol)
        A, B, self.singular_values_ = _factors(result)
        self.factors_ = np.zeros((cells.shape[0], A.shape[1]))
        self.feature_factors_ = np.zeros((cells.shape[1], A.shape[1]))
        self.factors_[rows], self.feature_factors_[columns] = A, B
        self.lam_, self.info_ = float(lam), result.info
        self.notes_ = result.notes
        self.n_iter_ = max(1, int(result.info.iterations))

    # ---- new samples -------------------------------------------------------
    def transform(self, X: ArrayLike) -> np.ndarray:
        """X with its missing cells filled: of each row a ridge regression of
        what is seen on the factors of the features, the fit's own."""
        check_fitted(self)
        array = self._known(X)
        check_features(self, X, array.shape)
        cells = _Cells(array, self.missing)
        self._check_units(cells, X)
        r = self.feature_factors_.shape[1]
        out = np.tile(self.mean_, (cells.shape[0], 1))
        rest = ((cells.value - self.mean_[cells.column])
                / self.scale_[cells.column])
        for i in range(cells.shape[0]):
            seen = slice(cells.start[i], cells.start[i + 1])
            column = cells.column[seen]
            A = self.feature_factors_[column]
            b = np.linalg.solve(A.T @ A + self.lam_ * np.eye(r),
                                A.T @ rest[seen])
            out[i] += self.scale_ * (self.feature_factors_ @ b)
            out[i, column] = cells.value[seen]
        return out

    def _check_units(self, cells, X):
        """Of one distribution at most 1 in 25 is 5 deviations off."""
        d, (mean, most) = cells.shape[1], self._near
        off = np.abs(cells.value - mean[cells.column]) > most[cells.column]
        seen = np.bincount(cells.column, minlength=d)
        far = np.flatnonzero(
            2 * np.bincount(cells.column[off], minlength=d) > seen)
        if not far.size:
            return
        titles = feature_names(X)
        named = [str(titles[i]) if titles is not None else f"column {i}"
                 for i in far[:3]]
        warn(f"transform: half of the values of {', '.join(named)}"
             f"{', ...' if far.size > 3 else ''} are over 5 deviations from "
             "the mean of the fit; are they in the same unit?", LapisWarning)

    def predict_cells(self, rows: ArrayLike,
                      columns: ArrayLike) -> np.ndarray:
        """Completed values of single cells (of the samples of the fit)."""
        check_fitted(self)
        z = np.einsum("ij,ij->i", self.factors_[rows],
                      self.feature_factors_[columns])
        return z * self.scale_[columns] + self.mean_[columns]

    def get_feature_names_out(
            self, input_features: Optional[ArrayLike] = None) -> np.ndarray:
        """The names of the features: they stay what they were."""
        return feature_names_of(self, input_features)


@of_method("auto", leave_out=(
    "candidates", "targets", "map", "variant", "labels", "lambda_", "gamma",
    "mu_rel", "absent", "class_features", "held_out", "coverage",
    "coverage_by", "fill", "outliers", "doubted", "tol", "max_iters"))
class AutoImputer(TransformerMixin, Estimator):
    """Fill missing values with a mean of several ways (factors, and each
    column from the others by ridge regression, neighbours, kernels, trees),
    weighed a column at a time by cells that are hidden; where they are not a
    standard error ahead, with the column's mean, which a note says.  A column
    of words (in an array of objects or a data frame) is filled with one of
    its words; numbers are not rounded.
    `transform` fills new rows, each by itself, by the rows of the fit.

    Attributes
    ----------
    categories_ : list
        The words of each column; None where it holds numbers.
    ways_ : ndarray of str
        The ways.
    weights_ : ndarray (n_columns, n_ways)
        Their weights, the rest to 1 that of the column's mean; a column of
        words has a row a word.
    error_ : ndarray (n_columns,)
        Root mean squared error of hidden cells, in deviations of the column;
        a column of words has an entry a word.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> X = np.outer(np.arange(1.0, 31), [1, 2, 3])
    >>> X[4, 1] = np.nan
    >>> bool(abs(lapis.AutoImputer().fit_transform(X)[4, 1] - 10) < 1)
    True
    """

    _tags = {"allow_nan": True}

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn from the cells that are known."""
        self._fit(X)
        return self

    def fit_transform(self, X: ArrayLike, y: object = None) -> np.ndarray:
        """X with its missing cells filled."""
        return self._fit(X)

    def transform(self, X: ArrayLike) -> np.ndarray:
        """New rows with their missing cells filled."""
        check_fitted(self)
        array, given = self._as_numbers(X)
        check_features(self, X, given.shape)
        return self._as_given(given, self._model.predict(
            array, context=self._context())["completed"])

    def _fit(self, X):
        vars(self).pop("categories_", None)
        array, given = self._as_numbers(X)
        remember_features(self, X, given.shape[1])
        names = model_names(getattr(self, "feature_names_in_", None),
                            self.categories_)
        result = self._solve(array, feature_names=names)
        self.ways_ = np.array(result["fill_ways"]).ravel()
        self.weights_ = result["fill_weights"].copy()
        self.error_ = result["fill_error"].ravel().copy()
        return self._as_given(given, result["completed"])

    def _as_numbers(self, X):
        """X for the library, a column of 0 and 1 for each word; and X."""
        known = forget(X, self.missing)
        given = objects_of(known)
        if given is None:
            given = check_array(known)
        titles = feature_names(X)
        if not hasattr(self, "categories_"):
            self.categories_ = (find_categories(known, titles, mixed=True)
                                or [None] * given.shape[1])
        if not have_words(self.categories_):
            return check_array(known), given
        array, strange = as_columns(given, self.categories_, titles)
        for at, words in strange:
            raise ValueError(f"column {at} holds {words[0]!r}, which no row "
                             "of the fit has")
        return check_array(array), given

    def _as_given(self, given, filled):
        if not have_words(self.categories_):
            return filled.copy()
        out = np.array(given, dtype=object)
        at = 0
        for i, of in enumerate(self.categories_):
            gone = unknown_in(out[:, i])
            width = 1 if of is None else len(of)
            part = filled[gone, at:at + width]
            out[gone, i] = (part[:, 0] if of is None
                            else np.array(of, object)[part.argmax(1)])
            at += width
        if output_of(self) == "pandas":  # columns of numbers stay numbers
            import pandas
            return pandas.DataFrame(out).infer_objects()
        return out

    def get_feature_names_out(
            self, input_features: Optional[ArrayLike] = None) -> np.ndarray:
        """The names of the features: they stay what they were."""
        return feature_names_of(self, input_features)


def _is_number(value):
    return (isinstance(value, numbers.Real) and not isinstance(value, bool)
            and value == value and abs(value) < np.inf)


def _cells_of(result, row, column):
    if "low_rank" in result:
        return result["low_rank"][row, column]
    return np.einsum("ij,ij->i", result["factors"][row],
                     result["feature_factors"][column])


def _factors(result):
    """Those of a result, or of its low_rank; the squares of their lengths."""
    if "factors" in result:
        return (result["factors"], result["feature_factors"],
                result["singular_values"].ravel().copy())
    U, values, V = np.linalg.svd(result["low_rank"], full_matrices=False)
    r = int(result.info.rank)
    root = np.sqrt(values[:r])
    return U[:, :r] * root, V[:r].T * root, values[:r]


def _clearly_less(square, than):
    """Whether squared errors are smaller by more than a thousandth, and than
    a standard error of their difference."""
    less = than - square
    return less.mean() > max(less.std() / np.sqrt(less.size),
                             1e-3 * than.mean())


def _largest(cells):
    """The largest singular value of the cells, the others 0."""
    n, d = cells.shape
    row, column, value = cells.row, cells.column, cells.value
    v = np.random.default_rng(0).standard_normal(d)
    size = 0.0
    for _ in range(30):
        u = np.bincount(row, value * v[column], minlength=n)
        v = np.bincount(column, value * u[row], minlength=d)
        size = np.linalg.norm(v)
        if not size > 0:
            return 0.0
        v /= size
    return float(np.sqrt(size))
