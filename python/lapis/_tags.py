"""What scikit-learn asks of an estimator: a dict before 1.6, objects since.

`_tags` of a class, under the names of before, are the one place; who asks in
the new way gets them put into what scikit-learn itself has made.
"""
from ._compat import BaseEstimator


class Tagged(BaseEstimator):
    """An estimator that says by `_tags` what it takes."""

    _tags = {"allow_nan": True}

    def _said(self):
        return self._tags

    def _more_tags(self):
        return self._said()

    def __sklearn_tags__(self):
        tags, said = super().__sklearn_tags__(), self._said()
        tags.input_tags.allow_nan = said["allow_nan"]
        tags.input_tags.sparse = "sparse" in said.get("X_types", ())
        tags.input_tags.pairwise = said.get("pairwise", False)
        tags.input_tags.positive_only = said.get("requires_positive_X", False)
        several = said.get("multioutput", False)
        tags.target_tags.multi_output = several
        tags.target_tags.two_d_labels = several
        return tags
