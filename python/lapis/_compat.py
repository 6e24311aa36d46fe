"""scikit-learn's base classes, or what they amount to without it."""
import inspect

try:
    from sklearn.base import (BaseEstimator, ClassifierMixin, RegressorMixin,
                              TransformerMixin)
    from sklearn.model_selection import BaseCrossValidator
    from sklearn.utils.metaestimators import available_if
except ImportError:
    class BaseEstimator:
        """Parameters by the names of __init__."""

        @classmethod
        def _names(cls):
            return list(inspect.signature(cls).parameters)

        def get_params(self, deep=True):
            return {name: getattr(self, name) for name in self._names()}

        def set_params(self, **params):
            for name, value in params.items():
                if name not in self._names():
                    raise ValueError(f"{type(self).__name__} has no "
                                     f"parameter {name!r}; it has "
                                     + ", ".join(self._names()))
                setattr(self, name, value)
            return self

        def __repr__(self):
            defaults = inspect.signature(type(self)).parameters
            said = [f"{name}={value!r}"
                    for name, value in self.get_params().items()
                    if value is not defaults[name].default]
            return f"{type(self).__name__}({', '.join(said)})"

    class ClassifierMixin:
        _estimator_type = "classifier"

        def score(self, X, y):
            """Share of the samples whose label is right."""
            return float((self.predict(X) == y).mean())

    class RegressorMixin:
        _estimator_type = "regressor"

        def score(self, X, y):
            """Coefficient of determination."""
            rest = ((y - self.predict(X)) ** 2).sum()
            return float(1 - rest / ((y - y.mean(axis=0)) ** 2).sum())

    class TransformerMixin:
        def fit_transform(self, X, y=None, **fit_params):
            """fit, then transform the same samples."""
            return self.fit(X, y, **fit_params).transform(X)

    class BaseCrossValidator:
        """What splits samples into folds."""

    class _AvailableIf:
        def __init__(self, check, function):
            self._check, self._function = check, function

        def __get__(self, owner, kind=None):
            if owner is not None and not self._check(owner):
                raise AttributeError(self._function.__name__)
            return self._function.__get__(owner, kind)

    def available_if(check):
        return lambda function: _AvailableIf(check, function)

try:
    from sklearn.utils._set_output import _get_output_config
except ImportError:  # before 1.2, and without
    def _get_output_config(method, estimator):
        return {"dense": "default"}


def output_of(transformer):
    """What set_output asks transform for: "default", "pandas", ..."""
    return _get_output_config("transform", transformer)["dense"]


__all__ = ["BaseCrossValidator", "BaseEstimator", "ClassifierMixin", "RegressorMixin",
           "TransformerMixin", "available_if", "output_of"]
