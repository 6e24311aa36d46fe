"""Matrix completion."""
import numpy as np

from ._estimator import Classifier, of_method


@of_method("mc")
class MatrixCompletionClassifier(Classifier):
    """Labels and features are completed together, so `y` and `X` may both
    hold NaN (or None, among words) where nothing is known.  ``fit_predict``
    answers for the samples themselves; ``predict`` folds new ones into what
    was completed.  `y` of several columns is several labels a sample.

    ``mu_rel="cv"`` chooses it as the command does, by folds of the known
    labels, in which `groups` (people, images) stay whole.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    transduction_ : ndarray (n_samples,) or (n_samples, n_labels)
        Labels of all samples, those that were unknown included.
    scores_ : ndarray (n_samples, n_classes)
        Completed label scores.
    low_rank_, sparse_ : ndarray (n_samples, n_features)
        Features without their errors, and the errors.
    """

    _missing_labels = _several = True

    def fit(self, X, y, groups=None):
        """Complete X and y; NaN is what is not known."""
        X = self._begin(X)
        y = self._encode(y, len(X))
        if groups is not None:
            groups = np.unique(groups, return_inverse=True)[1]
        result = self._solve(X, y, group=groups)
        self._name_classes()
        self.transduction_ = self._decode(result["labels"])
        # copies, so that the workspace of the solve can go
        for name in ("scores", "low_rank", "sparse", "class_features"):
            if name in result:
                setattr(self, name + "_", result[name].copy())
        return self

    def fit_predict(self, X, y, groups=None):
        """fit, and the labels of all samples."""
        return self.fit(X, y, groups).transduction_

    def _threshold(self):
        """Scores decide at 1/2 where labels are 0 and 1."""
        kind = self.settings_["labels"]
        if kind == "auto":
            kind = "pm" if set(self.classes_) <= {-1, 1} else "01"
        return 0.5 if kind == "01" else 0.0
