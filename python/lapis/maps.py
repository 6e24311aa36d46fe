"""Maps of features, as transformers."""
from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING, Optional

import numpy as np
from numpy.typing import ArrayLike

from ._compat import TransformerMixin
from ._core import Context, lib
from ._arrays import view
from ._tags import Tagged
from ._validation import (check_array, check_features, check_fitted,
                          feature_names_of, forget, remember_features)

if TYPE_CHECKING:
    from typing_extensions import Self


class _Map:
    """A lapis_map."""

    def __init__(self, context, spec):
        handle = ctypes.c_void_p()
        context.check(lib.map_new(context, spec.encode(),
                                  ctypes.byref(handle)))
        self._as_parameter_ = handle.value
        weakref.finalize(self, lib.map_free, handle.value)

    def apply(self, context, X):
        mat, _kept = view(X)
        out = np.empty((len(X), lib.map_rows(self, X.shape[1])))
        context.check(lib.map_fit(context, self, ctypes.byref(mat)))
        context.check(lib.map_apply(context, self, ctypes.byref(mat),
                                    out.ctypes.data))
        return out


class Chi2Map(TransformerMixin, Tagged):
    """Features whose inner products are close to the chi-squared kernel.

    Seven numbers a feature (a homogeneous kernel map of order 3), for
    histograms in front of a linear method.  It learns nothing; NaN stays NaN.

    Parameters
    ----------
    missing : word, number or list of these, default=None
        What means "not known" in X, besides NaN and None.

    Attributes
    ----------
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of str
        Names of the features, where X was a data frame.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> counts = np.array([[4.0, 0.0], [1.0, 9.0]])
    >>> Z = lapis.Chi2Map().fit_transform(counts)
    >>> Z.shape
    (2, 14)
    >>> np.round(Z @ Z.T, 1)[0, 0]            # 2 x y / (x + y), summed
    4.0
    """

    _tags = {"allow_nan": True, "requires_positive_X": True}

    def __init__(self, *, missing: object = None) -> None:
        self.missing = missing

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Remembers the number of features; refuses what has no map."""
        array = check_array(forget(X, self.missing))
        if (array < 0).any():
            i, j = np.argwhere(array < 0)[0]
            raise ValueError("Negative values in data passed to Chi2Map: X is "
                             f"{array[i, j]:g} at row {i}, column {j}; it "
                             "takes counts or shares, 0 or more")
        if np.isinf(array).any():
            self._map(array)  # the library says what is wrong, and where
        remember_features(self, X, array.shape[1])
        return self

    @staticmethod
    def _map(array):
        context = Context()
        return _Map(context, "chi2").apply(context, array)

    def transform(self, X: ArrayLike) -> np.ndarray:
        """The mapped features (n_samples, 7 n_features)."""
        check_fitted(self)
        array = check_array(forget(X, self.missing))
        check_features(self, X, array.shape)
        return self._map(array)

    def get_feature_names_out(
            self, input_features: Optional[ArrayLike] = None) -> np.ndarray:
        """NAME_chi2_0 .. NAME_chi2_6 for each feature."""
        return np.array([f"{name}_chi2_{k}"
                         for name in feature_names_of(self, input_features)
                         for k in range(7)], dtype=object)
