"""Estimators that remove outliers inside a sample and take missing entries."""
from __future__ import annotations

from typing import TYPE_CHECKING, Optional

import numpy as np
from numpy.typing import ArrayLike

from ._compat import RegressorMixin, TransformerMixin
from ._estimator import POSITIVE, Classifier, Estimator, of_method
from ._validation import check_weight, check_y, feature_names_of, forget

if TYPE_CHECKING:
    from typing_extensions import Self


class _Cleaner:
    """Estimators whose models know what clean samples look like."""

    _kept = ("low_rank", "sparse", "filled")
    _made_of = {"transduction_": "used"}

    def clean(self, X: ArrayLike) -> np.ndarray:
        """New samples without their errors, missing entries filled in.

        Each is cleaned on its own: the answer does not depend on the others.
        """
        return self._ask(X)["low_rank"]


@of_method("rpca")
class RobustPCA(_Cleaner, TransformerMixin, Estimator):
    """``fit`` splits the training samples; ``transform`` cleans samples one
    by one with what was learnt, also the training samples.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> clean = np.outer(np.arange(1.0, 21), np.linspace(1, 2, 20))
    >>> dirty = clean.copy()
    >>> dirty[3, 4] += 50
    >>> model = lapis.RobustPCA().fit(dirty)
    >>> int(np.argmax(model.sparse_[3])), round(float(model.sparse_[3, 4]))
    (4, 50)
    """

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Split X, in which NaN is what is not known."""
        self._keep(self._solve(self._begin(X)))
        return self

    def transform(self, X: ArrayLike) -> np.ndarray:
        """The same as ``clean``."""
        return self.clean(X)

    def get_feature_names_out(
            self, input_features: Optional[ArrayLike] = None) -> np.ndarray:
        """Names of what ``transform`` gives: those of what it takes."""
        return feature_names_of(self, input_features)


@of_method("rr")
class RobustRegressor(_Cleaner, RegressorMixin, Estimator):
    """Features may be wrong or missing in part; targets are real numbers,
    one column or several.  `weight` takes a matrix (n_targets, n_targets),
    `fix_weights` a matrix (n_targets, n_features + 1), bias last.

    Attributes
    ----------
    coef_ : ndarray (n_features,) or (n_targets, n_features)
        Weights of the regression.
    intercept_ : float or ndarray (n_targets,)
        Its bias.
    transduction_ : ndarray (n_samples,) or (n_samples, n_targets)
        Where `y` has NaN: what is answered for all samples.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 10))
    >>> y = X @ np.ones(10)
    >>> X[5, 3] = np.nan                       # not observed
    >>> model = lapis.RobustRegressor(denoise="rpca").fit(X, y)
    >>> round(model.score(X, y), 2)
    1.0
    """

    _tags = {"allow_nan": True, "multioutput": True}

    def fit(self, X: ArrayLike, y: ArrayLike,
            groups: Optional[ArrayLike] = None) -> Self:
        """Regress y on X; NaN is what is not known.  Samples with all their
        targets are learnt from, the others are answered.  Folds that choose
        settings keep `groups` (people, images) whole.  For weights of samples
        see ``lapis.solve``."""
        X = self._begin(X)
        y = check_y(forget(y, self.missing), len(X), missing=True)
        if y.dtype.kind not in "fiub":
            y = y.astype(np.float64)
        result = self._keep(
            self._solve(X, y, group=self._whose(groups, len(X))))
        self._keep_weights(result["weights"], y.ndim == 1)
        vars(self).pop("transduction_", None)
        if "used" in result:
            scores = result["scores"].copy()
            self.transduction_ = scores[:, 0] if self._one else scores
        return self

    def _keep_weights(self, weights, one):
        self.coef_, self.intercept_ = weights[:, :-1].copy(), weights[:, -1]
        self._one = one
        if one:
            self.coef_, self.intercept_ = self.coef_[0], self.intercept_[0]
        else:
            self.intercept_ = self.intercept_.copy()

    def _restore(self):
        weights = self._model.get("weights")
        self._keep_weights(weights, len(weights) == 1)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Targets of new samples, which are cleaned on the way."""
        scores = self._ask(X)["scores"]
        return scores[:, 0] if self._one else scores


@of_method("rlda", more=POSITIVE)
class RobustLDA(_Cleaner, Classifier):
    """Classes of samples whose features may be wrong or missing in part.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    coef_ : ndarray (n_classes or 1, n_features)
        Weights of the regression on the classes.
    intercept_ : ndarray (n_classes or 1,)
        Its bias.
    transduction_ : ndarray (n_samples,)
        Where `y` has NaN (or None, among words): labels of all samples.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 10))
    >>> y = np.where(X[:, 0] > 0, "cat", "dog")
    >>> model = lapis.RobustLDA(denoise="rpca").fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    _missing_labels = True

    def fit(self, X: ArrayLike, y: ArrayLike,
            groups: Optional[ArrayLike] = None,
            sample_weight: Optional[ArrayLike] = None) -> Self:
        """Learn the classes of X; NaN is what is not known.  Samples with a
        label are learnt from, the others are answered.  Folds that choose
        settings keep `groups` (people, images) whole; weights multiply the
        squares of the fit, and samples of weight 0 are answered alone."""
        X = self._begin(X)
        weight = absent = None
        if sample_weight is not None:
            weight = check_weight(sample_weight, len(X))
            absent = weight == 0
        y = self._encode(y, len(X), absent)
        result = self._keep(self._solve(
            X, y, group=self._whose(groups, len(X)), sample_weight=weight))
        self._name_classes()
        self._keep_answers(result)
        weights = np.array(result["weights"])
        self.coef_, self.intercept_ = weights[:, :-1], weights[:, -1]
        return self
