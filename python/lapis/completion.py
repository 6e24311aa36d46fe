"""Labels, or numbers, that are not known, from those that are."""
from __future__ import annotations

from typing import TYPE_CHECKING, Optional

import numpy as np
from numpy.typing import ArrayLike

from ._compat import RegressorMixin, available_if
from ._estimator import POSITIVE, Classifier, Estimator, of_method
from ._validation import check_fitted, check_weight, check_y, forget

if TYPE_CHECKING:
    from typing_extensions import Self


def _joined(name, result, others, absent):
    """A row a sample: of the fit, or of `others` (NaN: they have none) where
    `absent` from it; a copy, so that the workspace of the solve can go."""
    rows = np.empty((len(absent),) + result[name].shape[1:])
    rows[~absent] = result[name]
    if absent.any():
        rows[absent] = others[name] if name in others else np.nan
    return rows


# Of candidate_figures (docs/methods/auto.md).
_FIGURES = ("log_loss", "error", "auroc", "accuracy", "accuracy_least",
            "accuracy_most", "behind", "behind_error", "learnt",
            "accuracy_commonest")
_OF_NUMBERS = ("squared_error", "error", "r2", None, None, None, "behind",
               "behind_error", "learnt")


def _candidates(result, names):
    """What was compared, best first."""
    if "candidates" not in result:
        return []
    chosen = int(result["chosen"].ravel()[0])
    return [{"method": str(method), "settings": str(settings),
             "answers": k == chosen,
             **{name: float(v) for name, v in zip(names, row) if name}}
            for k, ((method, settings), row) in enumerate(zip(
                result["candidates"], result["candidate_figures"]))]


def _choice(result):
    """The method that answered, as `candidates` takes it; None: none was compared."""
    return str(result["choice"].ravel()[0]) if "choice" in result else None


_IMPORTANCE = ("feature_importances_", "feature_importances_error_",
               "feature_directions_")


_OF_IMPORTANCE = dict.fromkeys(_IMPORTANCE, "importance")


def _a_column(model, values):
    """Of each column of X: the words of one are shuffled together, and have
    one value."""
    counts = [len(words or [None]) for words in model.categories_]
    return values[np.cumsum([0] + counts[:-1])]


def _keep_importance(model, result):
    """The columns of `importance`, where the fit was asked for it."""
    for k, name in enumerate(_IMPORTANCE):
        vars(model).pop(name, None)
        if "importance" in result:
            setattr(model, name,
                    _a_column(model, np.array(result["importance"][:, k])))


class _Transductive(Classifier):
    """What answers for the samples of the fit, those without labels among
    them; where hidden labels have chosen, by probabilities."""

    _missing_labels = _several = _sparse = True
    _tags = {"allow_nan": True, "multilabel": True,
             "X_types": ["2darray", "sparse"]}
    _made_of = {"predict_proba": "probabilities"}

    def fit(self, X: ArrayLike, y: ArrayLike,
            groups: Optional[ArrayLike] = None,
            sample_weight: Optional[ArrayLike] = None) -> Self:
        """Learn from X and y, and answer where y is not known (NaN).  `groups`
        (people, images) stay whole while labels are hidden.  A weight
        multiplies the loss of its sample's labels; samples of weight 0 are no
        part of the fit and are answered as new ones."""
        if getattr(self, "bags", False) and groups is None:
            raise ValueError("bags=True needs groups: the bag of each row")
        X = self._begin(X)
        n = X.shape[0]
        members = {"group": self._whose(groups, n)}
        absent = np.zeros(n, dtype=bool)
        if sample_weight is not None:
            weight = check_weight(sample_weight, n)
            members["sample_weight"] = weight
            if (weight >= 0).all():  # else the library refuses one by its row
                absent = weight == 0
        y = self._encode(y, n, absent)
        part = ~absent if absent.any() else slice(None)
        result = self._keep(self._solve(X[part], y[part], **{
            name: None if of is None else of[part]
            for name, of in members.items()}))
        self._name_classes()
        self._probable = "probabilities" in result
        self.candidates_ = _candidates(result, _FIGURES)
        self.choice_ = _choice(result)
        others = self._model.predict(
            X[absent], context=self._context()) if absent.any() else {}
        self.transduction_ = self._decode(
            _joined("labels", result, others, absent))
        self._wide = self.transduction_.ndim > 1
        vars(self).pop("doubted_", None)
        if hasattr(self, "doubted"):
            self.doubted_ = self._doubted_of(result, np.flatnonzero(~absent))
        vars(self).pop("asked_", None)
        if "ask_index" in result:
            self.asked_ = np.flatnonzero(~absent)[
                result["ask_index"].ravel().astype(int)]
        _keep_importance(self, result)
        vars(self).pop("sets_", None)
        if "classes_kept" in result:
            self.sets_ = self._sets(_joined("classes_kept", result, others,
                                            absent))
        vars(self).pop("instance_labels_", None)
        if "instance_labels" in result:
            self.instance_labels_ = self._decode(
                result["instance_labels"][:, 0])
        for name in ("scores", "low_rank", "sparse", "held_out"):
            if name in result and (name in others or name == "held_out"
                                   or not absent.any()):
                setattr(self, name + "_",
                        _joined(name, result, others, absent))
        return self

    def _doubted_of(self, result, rows):
        """Samples, and of several labels which, that nobody learnt from."""
        list_ = np.array(result["doubted"] if "doubted" in result
                         else np.empty((0, 3)))[:, :2].astype(int)
        list_[:, 0] = rows[list_[:, 0]]
        return list_ if self._wide else list_[:, 0]

    def _restore(self):
        super()._restore()
        self._probable = self._model.get("calibration") is not None

    def fit_predict(self, X: ArrayLike, y: ArrayLike,
                    groups: Optional[ArrayLike] = None,
                    sample_weight: Optional[ArrayLike] = None) -> np.ndarray:
        """fit, and the labels of all samples."""
        return self.fit(X, y, groups, sample_weight).transduction_

    def _asked(self, X, groups):
        if groups is None:
            return self._ask(X)
        return self._ask(X, group=self._whose(groups, np.shape(X)[0]))

    def predict(self, X: ArrayLike,
                groups: Optional[ArrayLike] = None) -> np.ndarray:
        """Labels of new samples; `groups`: their bags, after a fit of
        `bags`."""
        return self._decode(self._asked(X, groups)["labels"])

    def decision_function(self, X: ArrayLike,
                          groups: Optional[ArrayLike] = None) -> np.ndarray:
        """Scores of new samples: above 0 speaks for a class; binary: one
        column, for ``classes_[1]``.  Where there are probabilities, their
        log-odds."""
        check_fitted(self)
        result = self._asked(X, groups)
        if not self._probable:
            return self._decide(result["scores"])
        p = np.clip(result["probabilities"], 1e-12, 1 - 1e-12)
        odds = np.log(p) - np.log1p(-p)
        return odds[:, 0] if odds.shape[1] == 1 else odds

    @available_if(lambda self: getattr(self, "_probable", False))
    def predict_proba(self, X: ArrayLike,
                      groups: Optional[ArrayLike] = None) -> np.ndarray:
        """Probabilities of the classes, where hidden labels have chosen."""
        p = np.array(self._asked(X, groups)["probabilities"])
        return np.hstack([1 - p, p]) if p.shape[1] == 1 else p


@of_method("auto", leave_out=("targets", "outliers"), more=POSITIVE)
class AutoClassifier(_Transductive):
    """Whichever method predicts known labels best while they are hidden:
    completion, logistic regression (lines, or behind a kernel) or trees; the
    mean of those that are not clearly behind.  `y` may hold NaN (or None,
    among words) where a label is not known, and `X`, which may be sparse, where
    a feature is not.
    ``fit_predict`` answers for the samples themselves, ``predict`` for new
    ones.  `y` of several columns is several labels a sample; `groups` (people,
    images) stay whole while labels are hidden.  With `bags` they are bags of
    instances, `y` is the label of the bag, for each of its rows, and so are
    all answers but ``instance_labels_`` and ``predict_instances``.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    categories_ : list
        The words of each column of X, a data frame or an array of objects;
        None where it holds numbers.  A word has a feature of 0 and 1 of its
        own in the model; importances are of whole columns.
    transduction_ : ndarray (n_samples,) or (n_samples, n_labels)
        Labels of all samples, those that were unknown included.
    candidates_ : list of dict
        What was compared, best first: method, settings, whether it answers,
        figures on hidden labels.
    choice_ : str or None
        The method that answered, as `candidates` takes it: for the same
        features with other labels, without a comparison.
    doubted_ : ndarray (n_doubted,) or (n_doubted, 2)
        With ``doubted="omit"``: the samples (of several labels: and labels)
        whose known labels are likelier wrong than right, the most doubtful
        first.  They are not learnt from, nor counted in accuracy.
    asked_ : ndarray of int
        With `ask`: samples without a label whose labels would help most.
    feature_importances_ : ndarray (n_features,)
        With `importance`: how much more log-loss hidden labels have once the
        values of a feature are shuffled; ``feature_importances_error_`` is the
        standard error, and ``feature_directions_`` whether the larger class
        is likelier as the feature grows (up to 1), or less likely (to -1).
    sets_ : ndarray of bool
        With `coverage`: as `predict_set`, of all samples.
    instance_labels_ : ndarray (n_samples,)
        With `bags`, where misvm took part: labels of the samples themselves.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> X = np.array([[1, 2], [2, 4], [1.5, 3], [-1, -2], [-2, -4], [-3, -6.]])
    >>> y = np.array(["up", "up", None, "down", "down", None], dtype=object)
    >>> lapis.AutoClassifier(candidates="linear").fit_predict(X, y)[2]
    'up'
    """

    _kept = ("scores", "low_rank", "sparse", "held_out", "instance_scores")
    _made_of = {**_Transductive._made_of, **_OF_IMPORTANCE,
                "asked_": "ask_index", "sets_": "classes_kept",
                "instance_labels_": "instance_labels"}
    _words = True
    _saved = ("_probable", "_wide")

    def _settings(self):
        return {**super()._settings(), "targets": "classes"}

    def predict_instances(self, X: ArrayLike, groups: ArrayLike) -> np.ndarray:
        """After a fit of `bags` in which misvm took part: labels of new
        samples themselves."""
        result = self._asked(X, groups)
        if "instance_labels" not in result:
            raise ValueError("instances are answered by misvm, which had no "
                             "part in the fit: notes_ says why")
        return self._decode(result["instance_labels"][:, 0])

    def predict_set(self, X: ArrayLike, coverage: Optional[float] = None,
                    by_class: Optional[bool] = None) -> np.ndarray:
        """Which classes each new sample may have: True for those of
        ``classes_`` in the set that holds the truth in a share `coverage` of
        new samples (`by_class`: of each class's); where they are None, as the
        fit was asked.  (n_samples, n_classes); of several columns of labels
        (n_samples, n_labels, 2), no and yes.  Needs a fit with `coverage`."""
        result = self._cover(X, coverage, by_class)
        return self._sets(np.array(result["classes_kept"]))

    def _sets(self, kept):
        return (kept.reshape(len(kept), -1, 2) if self._wide else kept) > 0


@of_method("auto", leave_out=(
    "targets", "coverage_by", "doubted", "variant", "labels", "lambda_", "gamma", "mu_rel",
    "class_features", "ask", "tol", "max_iters"))
class AutoRegressor(RegressorMixin, Estimator):
    """Whichever method predicts known numbers best while they are hidden:
    robust regression, ridge regression (lines, or behind a kernel), forests,
    boosted or random trees; or the mean of those that are not clearly behind, where
    it is ahead.  `y` may hold NaN where a number is not known, and `X`, which may
    be sparse, where a feature is not.  `y` of several columns is several numbers a sample.

    Attributes
    ----------
    categories_ : list
        The words of each column of X, a data frame or an array of objects;
        None where it holds numbers.  A word has a feature of 0 and 1 of its
        own in the model; importances are of whole columns.
    transduction_ : ndarray (n_samples,) or (n_samples, n_targets)
        What is answered for all samples, those that were unknown included.
    candidates_ : list of dict
        What was compared, best first: method, settings, whether it answers,
        squared error relative to that of the mean, R^2 and more on hidden rows.
    choice_ : str or None
        The method that answered, as `candidates` takes it.
    feature_importances_ : ndarray (n_features,)
        With `importance`: R^2 that hidden numbers lose once the values of a
        feature are shuffled; ``feature_importances_error_`` is the standard
        error, and ``feature_directions_`` whether numbers rise with the
        feature (up to 1), or fall (to -1).
    outliers_ : ndarray (n_outliers,) or (n_outliers, 2)
        The samples (of several targets: and targets) whose known numbers are
        far from what all others say of them, the farthest first.  With
        ``outliers="omit"`` they are not learnt from, nor counted in R^2; with
        ``"learn"`` they are.
    intervals_ : ndarray
        With `coverage`: as `predict_interval`, of all samples.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> y = np.where(X[:, 0] > 0, 5.0, 1.0) + X[:, 1]
    >>> model = lapis.AutoRegressor(candidates="trees").fit(X, y)
    >>> model.score(X, y) > .8
    True
    """

    _sparse = True
    _tags = {"allow_nan": True, "multioutput": True,
             "X_types": ["2darray", "sparse"]}
    _kept = ("held_out",)
    _made_of = {**_OF_IMPORTANCE, "intervals_": "set_low"}
    _words = True
    _saved = ("_one",)

    def _settings(self):
        return {**super()._settings(), "targets": "numbers"}

    def fit(self, X: ArrayLike, y: ArrayLike,
            groups: Optional[ArrayLike] = None,
            sample_weight: Optional[ArrayLike] = None) -> Self:
        """Learn from X and y, and answer where y is not known (NaN).  `groups`
        (people, images) stay whole while numbers are hidden.  A sample of
        weight 0 is answered, not learnt from."""
        X = self._begin(X)
        n = X.shape[0]
        y = check_y(forget(y, self.missing), n, missing=True)
        if y.dtype.kind not in "fiub":
            y = y.astype(np.float64)
        members = {"group": self._whose(groups, n)}
        if sample_weight is not None:
            members["sample_weight"] = check_weight(sample_weight, n)
        result = self._keep(self._solve(X, y, **members))
        self._one = y.ndim == 1
        self.candidates_ = _candidates(result, _OF_NUMBERS)
        self.choice_ = _choice(result)
        self.transduction_ = self._shape(result["scores"].copy())
        far = np.array(result["outliers"] if "outliers" in result
                       else np.empty((0, 2))).astype(int)
        self.outliers_ = far[:, 0] if self._one else far
        _keep_importance(self, result)
        vars(self).pop("intervals_", None)
        if "set_low" in result:
            self.intervals_ = self._ends(result)
        return self

    def _shape(self, scores):
        return scores[:, 0] if self._one else scores

    def fit_predict(self, X: ArrayLike, y: ArrayLike,
                    groups: Optional[ArrayLike] = None,
                    sample_weight: Optional[ArrayLike] = None) -> np.ndarray:
        """fit, and the numbers of all samples."""
        return self.fit(X, y, groups, sample_weight).transduction_

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Numbers of new samples."""
        return self._shape(self._ask(X)["scores"])

    def predict_interval(self, X: ArrayLike,
                         coverage: Optional[float] = None) -> np.ndarray:
        """From and to of the interval that holds the truth in a share
        `coverage` of new samples; None: as the fit was asked.  (n_samples, 2)
        or (n_samples, n_targets, 2).  Needs a fit with `coverage`."""
        return self._ends(self._cover(X, coverage, None))

    def _ends(self, result):
        ends = np.stack([result["set_low"], result["set_high"]], axis=2)
        return ends[:, 0] if self._one else ends


@of_method("mc", more=POSITIVE)
class MatrixCompletionClassifier(_Transductive):
    """Labels and features are completed together, so `y` and `X`, which may be
    sparse, may both hold NaN (or None, among words) where nothing is known.  ``fit_predict``
    answers for the samples themselves; ``predict`` folds new ones into what
    was completed.  `y` of several columns is several labels a sample.

    Where neither `mu` nor `mu_rel` is given, hidden labels choose, as
    ``AutoClassifier(candidates="mc")`` does: how labels are coded, a map of
    the features (``low_rank_`` is then of mapped ones), `lambda_` and `gamma`
    where they are open, and what decides labels; `groups` stay whole.  Then
    there are probabilities, too.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    transduction_ : ndarray (n_samples,) or (n_samples, n_labels)
        Labels of all samples, those that were unknown included.
    candidates_ : list of dict
        As of ``AutoClassifier``; empty where mu was given.
    choice_ : str or None
        The method that answered, as `candidates` of ``AutoClassifier``
        takes it.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> X = np.array([[1, 2], [2, 4], [np.nan, -2], [-2, -4], [3, 6.0]])
    >>> y = np.array(["up", "up", "down", "down", None], dtype=object)
    >>> lapis.MatrixCompletionClassifier(mu_rel=0.01).fit_predict(X, y)[4]
    'up'
    """

    _kept = ("scores", "low_rank", "sparse", "held_out", "class_features")

    def _threshold(self):
        """Scores decide at 1/2 where labels are 0 and 1."""
        kind = self.settings_["labels"]
        if kind == "auto":
            kind = "pm" if set(self.classes_) <= {-1, 1} else "01"
        return 0.5 if kind == "01" else 0.0
