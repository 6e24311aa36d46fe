"""Matrix completion."""
from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Optional

import numpy as np
from numpy.typing import ArrayLike

from ._compat import available_if
from ._core import warn
from ._estimator import Classifier, of_method
from ._settings import table
from ._validation import check_fitted, check_weight
from .exceptions import LapisWarning

if TYPE_CHECKING:
    from typing_extensions import Self


_BY = {"by": ("mc", """{"mc", "linear", "trees", "both", "auto"}, default="mc"
    With ``mu_rel="cv"``: who answers; see above.""")}


def _joined(name, result, others, absent):
    """A row a sample: of the completion, or of `others` where `absent` from
    it; a copy, so that the workspace of the solve can go."""
    rows = np.empty((len(absent),) + result[name].shape[1:])
    rows[~absent] = result[name]
    if absent.any():
        rows[absent] = others[name]
    return rows


@of_method("mc", more=_BY)
class MatrixCompletionClassifier(Classifier):
    """Labels and features are completed together, so `y` and `X` may both
    hold NaN (or None, among words) where nothing is known.  ``fit_predict``
    answers for the samples themselves; ``predict`` folds new ones into what
    was completed.  `y` of several columns is several labels a sample.

    ``mu_rel="cv"`` leaves the choice to LAPIS, as the command does: how labels
    are coded, a map of the features (``low_rank_`` is then of mapped ones),
    `lambda_` and `gamma` where they are at their defaults, and what decides
    labels, by hiding known labels as labels are missing; `groups` (people,
    images) stay whole.  Then there are probabilities, too, and `by` may name
    who answers: "mc", logistic regression, lines or behind a kernel
    ("linear"), randomised "trees", the mean of mc and linear ("both"), or
    whichever of the three tells hidden labels best, the mean in a toss-up
    ("auto"); then ``low_rank_`` is there only
    if mc had a part in the answer.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    transduction_ : ndarray (n_samples,) or (n_samples, n_labels)
        Labels of all samples, those that were unknown included.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> X = np.array([[1, 2], [2, 4], [np.nan, -2], [-2, -4], [3, 6.0]])
    >>> y = np.array(["up", "up", "down", "down", None], dtype=object)
    >>> lapis.MatrixCompletionClassifier(mu_rel=0.01).fit_predict(X, y)[4]
    'up'
    """

    _missing_labels = _several = True
    _kept = ("scores", "low_rank", "sparse", "class_features")
    _tags = {"allow_nan": True, "multilabel": True}

    def fit(self, X: ArrayLike, y: ArrayLike,
            groups: Optional[ArrayLike] = None,
            sample_weight: Optional[ArrayLike] = None) -> Self:
        """Complete X and y; NaN is what is not known.  A weight multiplies
        the loss of its sample's labels; samples of weight 0 are no part of
        the completion and are answered as new ones."""
        X = self._begin(X)
        members = {"group": self._whose(groups, len(X))}
        absent = np.zeros(len(X), dtype=bool)
        if sample_weight is not None:
            weight = check_weight(sample_weight, len(X))
            members["sample_weight"] = weight
            if (weight >= 0).all():  # else the library refuses one by its row
                absent = weight == 0
        y = self._encode(y, len(X), absent)
        self._warn_of_sizes(X)
        part = ~absent if absent.any() else slice(None)
        result = self._solve(X[part], y[part], by=self.by, **{
            name: None if of is None else of[part]
            for name, of in members.items()})
        self._name_classes()
        self._keep(result)
        others = self._ask(X[absent]) if absent.any() else {}
        self.transduction_ = self._decode(
            _joined("labels", result, others, absent))
        for name in ("scores", "low_rank", "sparse"):
            if name in result:
                setattr(self, name + "_",
                        _joined(name, result, others, absent))
        return self

    def _warn_of_sizes(self, X):
        """Where mu is left at its default, which knows no units."""
        usual = table("mc").defaults
        if any(getattr(self, key) not in (None, usual[key])
               for key in ("mu", "mu_rel")):
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # empty columns
            size = np.nanstd(X, axis=0)
        size = size[size > 0]
        if size.size and size.max() > 100 * min(1, size.min()):
            how = ("standardises them and chooses, or scale them first "
                   "(sklearn.preprocessing.StandardScaler)"
                   if self.variant in (None, usual["variant"]) else
                   "brings them to one size and chooses")
            warn("MatrixCompletionClassifier: features differ much in size, or "
                 'are far from 1, and mu_rel=0.02 knows no units: mu_rel="cv" '
                 + how, LapisWarning)

    def fit_predict(self, X: ArrayLike, y: ArrayLike,
                    groups: Optional[ArrayLike] = None,
                    sample_weight: Optional[ArrayLike] = None) -> np.ndarray:
        """fit, and the labels of all samples."""
        return self.fit(X, y, groups, sample_weight).transduction_

    def _calibrated(self):
        model = getattr(self, "_model", None)
        return model is not None and model.get("calibration") is not None

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Scores of new samples: above 0 speaks for a class; binary: one
        column, for ``classes_[1]``."""
        check_fitted(self)
        if not self._calibrated() or getattr(self, "by", None) in (
                None, self._method):
            return super().decision_function(X)
        p = np.clip(self._ask(X)["probabilities"], 1e-12, 1 - 1e-12)
        odds = np.log(p) - np.log1p(-p)
        return odds[:, 0] if odds.shape[1] == 1 else odds

    @available_if(_calibrated)
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Probabilities of the classes, after ``mu_rel="cv"``."""
        p = np.array(self._ask(X)["probabilities"])
        return np.hstack([1 - p, p]) if p.shape[1] == 1 else p

    def _decide(self, scores):
        """Log-odds, where there are probabilities."""
        calibration = self._model.get("calibration")
        if calibration is None:
            return super()._decide(scores)
        scores = scores * calibration[:, 0] + calibration[:, 1]
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _threshold(self):
        """Scores decide at 1/2 where labels are 0 and 1."""
        kind = self.settings_["labels"]
        if kind == "auto":
            kind = "pm" if set(self.classes_) <= {-1, 1} else "01"
        return 0.5 if kind == "01" else 0.0
