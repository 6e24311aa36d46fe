"""Support vector machines that learn from privileged information."""
from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Optional, Tuple

import numpy as np
from numpy.typing import ArrayLike

from ._compat import available_if
from ._estimator import POSITIVE, Classifier, of_method
from ._validation import (check_array, check_groups, check_length,
                          check_weight, forget)

if TYPE_CHECKING:
    from typing_extensions import Self


def _has_probabilities(estimator):
    return estimator.probability


class _Privileged(Classifier):
    """Features P that only training has."""

    _tags = {"allow_nan": False}
    _made_of = {"coef_": "weights", "intercept_": "weights",
                "predict_proba": "probabilities", "transduction_": "used"}

    def _privileged(self, X_priv, n_samples, sparse=False):
        if X_priv is None:
            return None
        P = check_array(forget(X_priv, self.missing), "X_priv", sparse)
        check_length(P if not sparse else range(P.shape[0]), n_samples,
                     "X_priv")
        return P

    def _keep_weights(self, result):
        for name in ("coef_", "intercept_"):
            vars(self).pop(name, None)
        if "weights" in result:
            weights = np.array(result["weights"])
            self.coef_, self.intercept_ = weights[:, :-1], weights[:, -1]


@of_method("svmplus", more=POSITIVE)
class SVMPlusClassifier(_Privileged):
    """``fit(X, y, X_priv=P)`` learns with features `P` that only training
    has; without them it is the plain support vector machine.  `X` and
    `X_priv` may be sparse where both kernels are linear.  Several classes
    are told one from the rest; `y` of several columns of 0 and 1 is several
    labels a sample.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    coef_ : ndarray (n_classes or 1, n_features)
        Weights, of a linear kernel.
    intercept_ : ndarray (n_classes or 1,)
        Bias, of a linear kernel.
    transduction_ : ndarray (n_samples,) or (n_samples, n_labels)
        Where `y` has NaN (or None, among words), or a weight is 0: labels of
        all samples; the others are learnt from, and `X_priv` may hold NaN for
        these.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> rng = np.random.default_rng(0)
    >>> P = rng.normal(size=(100, 1))          # known while training only
    >>> X = P + 0.3 * rng.normal(size=(100, 1))
    >>> y = np.where(P[:, 0] > 0, "cat", "dog")
    >>> model = lapis.SVMPlusClassifier(C=10.0).fit(X, y, X_priv=P)
    >>> model.predict([[2.0], [-2.0]]).tolist()
    ['cat', 'dog']
    """

    _sparse = _several = _missing_labels = True
    _tags = {"allow_nan": False, "multilabel": True,
             "X_types": ["2darray", "sparse"]}

    def fit(self, X: ArrayLike, y: ArrayLike,
            X_priv: Optional[ArrayLike] = None,
            sample_weight: Optional[ArrayLike] = None,
            groups: Optional[ArrayLike] = None) -> Self:
        """Learn the classes of X; X_priv is known here only.  Folds that
        probabilities are fitted on keep `groups` (people, images) whole."""
        X = self._begin(X)
        n = X.shape[0]
        without = None
        if sample_weight is not None:
            sample_weight = check_weight(sample_weight, n)
            without = sample_weight == 0
            sample_weight = np.where(without, 1, sample_weight)
        y = self._encode(y, n, without)
        P = self._privileged(X_priv, n, sparse=True)
        result = self._solve(X, y, P=P, sample_weight=sample_weight,
                             group=self._whose(groups, n))
        self._keep_weights(result)
        self._name_classes()
        self._keep_answers(result)
        return self

    @available_if(_has_probabilities)
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Probabilities of the classes, where ``probability=True``."""
        result = self._ask(X)
        p = np.array(result["probabilities"])
        if p.shape[1] == 1:
            return np.hstack([1 - p, p])
        return p

    def _said(self):
        square = "precomputed" in (self.kernel, self.kernel_priv)
        return {**self._tags, "pairwise": square}


@of_method("misvm", more=POSITIVE)
class MISVMPlusClassifier(_Privileged):
    """Samples come in bags, and labels are known for bags: a bag is positive
    when one of its samples is.  Each sample carries the label of its bag, or
    NaN (None, among words) where that is not known; `groups` says which bag
    that is, and without it each sample is its own.

    Attributes
    ----------
    classes_ : ndarray
        The two classes, the positive one last.
    labels_ : ndarray (n_samples,)
        What the samples turned out to be.
    bags_, bag_scores_, bag_labels_ : ndarray (n_bags,)
        The groups, those without a label last; the score of each, that of its
        best sample; and what that decides.
    threshold_ : float
        A bag scored above it is positive: found on held-out bags where `C` is
        left open or ``threshold="auto"``, else 0.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> X = np.array([[0.1], [3.0], [0.2], [0.3], [0.0], [2.9], [0.2], [0.1]])
    >>> bags = np.repeat(["p", "q", "r", "s"], 2)
    >>> y = np.array([1, 1, 0, 0, 1, 1, 0, 0])  # of the bag, for each sample
    >>> model = lapis.MISVMPlusClassifier(kernel="linear", C=1.0)
    >>> model.fit(X, y, groups=bags).labels_.tolist()
    [0, 1, 0, 0, 0, 1, 0, 0]
    """

    _missing_labels = True
    _tags = {"allow_nan": False, "binary_only": True}

    def fit(self, X: ArrayLike, y: ArrayLike,
            groups: Optional[ArrayLike] = None,
            X_priv: Optional[ArrayLike] = None,
            bags: Optional[ArrayLike] = None) -> Self:
        """Learn from bags; `bags` is `groups` under a name that
        ``GridSearchCV.fit`` of scikit-learn does not take for itself."""
        X = self._begin(X)
        n = X.shape[0]
        y = self._encode(y, n)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the "
                f"target is multiclass: y has {len(self.classes_)} classes")
        P = self._privileged(X_priv, n)
        names, code = self._bags(groups if groups is not None else bags, n)
        if groups is None and bags is None:
            warnings.warn("MISVMPlusClassifier: no groups were given: each row "
                          "is a bag of its own", UserWarning, stacklevel=2)
        result = self._solve(X, y, P=P, group=code)
        self._keep_weights(result)
        self._name_classes()
        self.labels_ = self._decode(result["labels"])
        self.bags_ = names[result["bags"][:, 0].astype(np.intp)]
        self.bag_scores_ = np.array(result["bag_scores"][:, 0])
        self.bag_labels_ = self._decode(result["bag_labels"][:, 0])
        self.threshold_ = (float(np.squeeze(result["threshold"]))
                           if "threshold" in result else 0.0)
        return self

    def predict_bags(self, X: ArrayLike, groups: ArrayLike) \
            -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """New bags: which they are, and of each its label and its score."""
        names, code = self._bags(groups, len(X))
        result = self._ask(X, group=code)
        return (names[result["bags"][:, 0].astype(np.intp)],
                self._decode(result["bag_labels"][:, 0]),
                np.array(result["bag_scores"][:, 0]))

    @staticmethod
    def _bags(groups, n_samples):
        """The bags, and whose each sample is."""
        return check_groups(np.arange(n_samples) if groups is None else groups,
                            n_samples)
