"""What scikit-learn of 1.6 and later asks, by itself where it is that."""
# needs: numpy sklearn
import unittest
import warnings
from contextlib import ExitStack
from types import SimpleNamespace
from unittest import mock

import numpy as np
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (BaseCrossValidator, GridSearchCV,
                                     cross_val_predict)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lapis
from common import two_classes

SINCE = tuple(int(n) for n in sklearn.__version__.split(".")[:2])


def _base(estimator):
    """The tags of a plain estimator there, as far as they are set here."""
    return SimpleNamespace(
        estimator_type=None, classifier_tags=None,
        input_tags=SimpleNamespace(allow_nan=False, sparse=False,
                                   pairwise=False, positive_only=False),
        target_tags=SimpleNamespace(multi_output=False, two_d_labels=False))


def _classifier(estimator):
    tags = super(ClassifierMixin, estimator).__sklearn_tags__()
    tags.estimator_type = "classifier"
    tags.classifier_tags = SimpleNamespace(multi_class=True, multi_label=False)
    return tags


def tags_of(estimator):
    with ExitStack() as stack:
        if SINCE < (1, 6):
            for cls, function in ((BaseEstimator, _base),
                                  (ClassifierMixin, _classifier)):
                stack.enter_context(mock.patch.object(
                    cls, "__sklearn_tags__", function, create=True))
        return estimator.__sklearn_tags__()


class Later(unittest.TestCase):
    def test_tags(self):
        for estimator, takes, labels in (
                (lapis.MatrixCompletionClassifier(), {"allow_nan", "sparse"},
                 (1, 1)),
                (lapis.RobustLDA(), {"allow_nan"}, (1, 0)),
                (lapis.SVMPlusClassifier(), {"sparse"}, (1, 1)),
                (lapis.SVMPlusClassifier(kernel="precomputed"),
                 {"sparse", "pairwise"}, (1, 1)),
                (lapis.MISVMPlusClassifier(), set(), (0, 0)),
                (lapis.RobustPCA(), {"allow_nan"}, None),
                (lapis.RobustRegressor(), {"allow_nan"}, None),
                (lapis.LowRankImputer(), {"allow_nan", "sparse"}, None),
                (lapis.Chi2Map(), {"allow_nan", "positive_only"}, None)):
            tags = tags_of(estimator)
            there = {name for name in ("allow_nan", "sparse", "pairwise",
                                       "positive_only")
                     if getattr(tags.input_tags, name)}
            self.assertEqual(there, takes, estimator)
            if labels is not None:
                self.assertEqual(tags.estimator_type, "classifier")
                self.assertEqual((tags.classifier_tags.multi_class,
                                  tags.classifier_tags.multi_label), labels)
            self.assertEqual(tags.target_tags.multi_output,
                             isinstance(estimator, lapis.RobustRegressor))

    def test_groups_and_privileged_features_are_routed(self):
        """As asked for, with and without routing (1.4 and later)."""
        X, y, P = two_classes(60)
        bags, folds = np.repeat(np.arange(30), 2), lapis.Folds(3)
        self.assertIsInstance(folds, BaseCrossValidator)
        want = GridSearchCV(lapis.SVMPlusClassifier(), {"C": [.1, 1]},
                            cv=folds).fit(X, y, groups=bags, X_priv=P)
        if SINCE < (1, 4):
            self.assertEqual(folds._Folds__metadata_request__split,
                             {"groups": True})
            return
        with sklearn.config_context(enable_metadata_routing=True):
            model = lapis.SVMPlusClassifier().set_fit_request(X_priv=True)
            search = GridSearchCV(model, {"C": [.1, 1]}, cv=folds)
            search.fit(X, y, groups=bags, X_priv=P)
            self.assertEqual(search.best_score_, want.best_score_)
            model = lapis.MISVMPlusClassifier(C=1.0).set_fit_request(
                groups=True)
            y = y[::2].repeat(2)
            search = GridSearchCV(model, {"kernel": ["linear"]}, cv=folds)
            search.fit(X, y, groups=bags)
            self.assertEqual(len(search.best_estimator_.bags_), 30)

    def test_suspects_of_any_classifier(self):
        X, y, _ = two_classes(300)
        wrong = np.arange(0, 300, 10)
        y[wrong] *= -1
        words = np.where(y > 0, "yes", "no").astype(object)
        words[41] = None
        model = LogisticRegression()
        for given in (y, words):
            found = lapis.suspects(model, X, given)
            index, margin = found
            self.assertGreater(np.isin(index[:, 0], wrong).mean(), .8)
            self.assertTrue((margin >= .5).all()
                            and (np.diff(margin) <= 0).all())
            self.assertTrue(0 < found.least <= 30 <= found.most)
            self.assertEqual(found.checkable, sum(v is not None
                                                  for v in given))
            self.assertEqual(len(lapis.suspects(model, X, given, n=3).index),
                             3)
        self.assertFalse(hasattr(model, "classes_"))
        p = cross_val_predict(model, X, y, cv=lapis.Folds(),
                              method="predict_proba")
        index, margin = lapis.suspects(model, X, y, n=10)
        again, same = lapis.suspects(p, None, y, n=10)
        np.testing.assert_array_equal(index, again)
        np.testing.assert_array_equal(margin, same)
        with self.assertRaisesRegex(ValueError, "1d array"):
            lapis.suspects(p, None, np.stack([y, y], axis=1))
        with self.assertRaisesRegex(TypeError, "predict_proba"):
            lapis.suspects(
                GridSearchCV(lapis.RobustRegressor(), {}), X, y)
        with self.assertRaisesRegex(ValueError, "of 3 classes"):
            lapis.suspects(np.ones((300, 3)), None, y)

    def test_suspects_of_a_pipeline_that_ends_in_lapis(self):
        X, y, _ = two_classes(300)
        y[::10] *= -1
        model = lapis.AutoClassifier(candidates="linear")
        found = lapis.suspects(make_pipeline(StandardScaler(), model), X, y)
        self.assertTrue(found.least <= 30 <= found.most)
        self.assertGreater(np.mean(found.index[:, 0] % 10 == 0), .8)
        none = lapis.MatrixCompletionClassifier(mu_rel=0.01)
        with self.assertRaisesRegex(TypeError, "Pipeline has no predict_pr"):
            lapis.suspects(make_pipeline(StandardScaler(), none), X, y)

    def test_suspects_say_once_what_each_fold_warns_of(self):
        class Warns(LogisticRegression):
            def fit(self, X, y):
                some = lapis.LapisWarning
                warnings.warn(f"mc: no sample is \"{y[0]}\", which {X[0, 0]} "
                              "are; but see", some)
                warnings.warn(f"auto: no sample is \"b\", which {len(X)} are",
                              some)
                warnings.warn("nearly singular", ConvergenceWarning)
                return super().fit(X, y)

        X, y, _ = two_classes(100)
        model = make_pipeline(StandardScaler(), Warns())
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            lapis.suspects(model, X, y)
        folds = [str(one.message) for one in said
                 if "are; but see" in str(one.message)]
        self.assertEqual(len(folds), 1)
        self.assertIn("5 of 5 folds", folds[0])
        self.assertFalse([one for one in said
                          if str(one.message).startswith("auto: ")])
        self.assertEqual(sum(one.category is ConvergenceWarning
                             for one in said), 1)
        self.assertTrue(all(one.filename == __file__ for one in said))
        with warnings.catch_warnings(), \
                self.assertRaises(ConvergenceWarning):
            warnings.simplefilter("error", ConvergenceWarning)
            lapis.suspects(model, X, y)


if __name__ == "__main__":
    unittest.main()
