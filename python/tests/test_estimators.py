"""scikit-learn's own checks, and what its users do with estimators."""
# needs: numpy sklearn pandas scipy
import copy
import json
import multiprocessing
import os
import pickle
import subprocess
import tempfile
import unittest
import warnings
from datetime import date, datetime

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import r2_score
from sklearn.model_selection import (GridSearchCV, PredefinedSplit,
                                     cross_val_score)
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import lapis
from lapis._settings import table
from lapis.exceptions import DataConversionWarning
from common import COMMAND, command, low_rank, two_classes

CLASSIFIERS = [lapis.MatrixCompletionClassifier, lapis.RobustLDA,
               lapis.SVMPlusClassifier, lapis.MISVMPlusClassifier]
ESTIMATORS = CLASSIFIERS + [lapis.RobustPCA, lapis.RobustRegressor,
                            lapis.Chi2Map]


def fit_rpca(X):
    return lapis.RobustPCA().fit(X).low_rank_


class Checks(unittest.TestCase):
    def check(self, cls, **stated):
        for kind in ("_xfail_checks", "poor_score", "no_validation",
                     "non_deterministic"):
            self.assertFalse(clone(cls())._more_tags().get(kind), kind)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_estimator(cls(**stated))

    def test_check_estimator_completion(self):
        self.check(lapis.MatrixCompletionClassifier, mu_rel=.02)

    def test_check_estimator_auto(self):
        """But for samples of weight 0 among the others: which labels are
        hidden depends on the order of the samples."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for estimator, check in check_estimator(
                    lapis.AutoClassifier(candidates="linear"),
                    generate_only=True):
                if "weights_invariance" not in str(check):
                    check(estimator)

    def test_check_estimator_auto_of_numbers(self):
        """But for weights, as above."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for estimator, check in check_estimator(
                    lapis.AutoRegressor(candidates="linear"),
                    generate_only=True):
                if "weights_invariance" not in str(check):
                    check(estimator)

    def test_what_the_command_chose_is_loaded_as_what_chooses(self):
        """With its sets, or intervals."""
        X, y, _ = two_classes(80)
        for Y, cls in ((y, lapis.AutoClassifier),
                       (X[:, 0] + .3 * X[:, 1], lapis.AutoRegressor)):
            with tempfile.TemporaryDirectory() as folder:
                np.savez(os.path.join(folder, "d.npz"), X=X, Y=Y)
                subprocess.run(
                    [COMMAND, "fit", "auto", "d.npz", "--candidates", "linear",
                     "--coverage", ".9", "--model", "m.lapis", "-q"],
                    cwd=folder, check=True, capture_output=True)
                back = lapis.load(os.path.join(folder, "m.lapis"))
            self.assertIs(type(back), cls)
            if cls is lapis.AutoClassifier:
                self.assertEqual(back.predict_set(X).shape, (80, 2))
                self.assertEqual(back.predict_proba(X).shape, (80, 2))
            else:
                self.assertEqual(back.predict_interval(X).shape, (80, 2))

    def test_what_means_unknown_is_kept_in_a_model_file(self):
        """Whoever wrote it, and whoever reads it."""
        X, y, _ = two_classes(80)
        X[::5, 1] = -999
        Z = X[:20]
        model = lapis.AutoClassifier(candidates="linear", random_state=0,
                                     missing=["", -999]).fit(X, y)
        with tempfile.TemporaryDirectory() as folder:
            lapis.save(model, folder + "/p.lapis")
            table = np.column_stack([X, y])
            titles = [f"x{i}" for i in range(X.shape[1])]
            for name, rows, head in (("x.csv", table, titles + ["y"]),
                                     ("z.csv", Z, titles)):
                np.savetxt(f"{folder}/{name}", rows, "%.17g", ",",
                           header=",".join(head), comments="")
            for words in ("fit auto x.csv --target y --candidates linear "
                          "--missing -999 --model c.lapis",
                          "predict c.lapis z.csv -o c.npz",
                          "predict p.lapis z.csv -o p.npz"):
                subprocess.run([COMMAND, *words.split(), "-q"], cwd=folder,
                               check=True, capture_output=True)
            for name in "pc":
                back = lapis.load(f"{folder}/{name}.lapis")
                self.assertEqual(back.missing, [-999])
                said = back.predict_proba(Z)
                with np.load(f"{folder}/{name}.npz") as kept:
                    np.testing.assert_allclose(
                        said[:, 1], kept["probabilities"].ravel(), atol=1e-9)
                if name == "p":
                    np.testing.assert_array_equal(said,
                                                  model.predict_proba(Z))
            model.missing = "a,b"
            with self.assertRaisesRegex(ValueError, "missing='a,b' has one"):
                lapis.save(model, folder + "/p.lapis")

    def test_parameters_without_effect_are_told(self):
        """By name, and only those that were given."""
        X, y, _ = two_classes(60, 3)
        given = ((lapis.SVMPlusClassifier, "gamma", .01),
                 (lapis.SVMPlusClassifier, "width", 5),
                 (lapis.AutoClassifier, "coverage_by", "class"))
        for cls, name, value in given:
            base = {"candidates": "linear"} if cls is lapis.AutoClassifier \
                else {}
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                cls(**base).fit(X, y)
            with self.assertWarnsRegex(
                    lapis.exceptions.LapisWarning,
                    f"{name} goes with .*; here it has no effect"):
                cls(**base, **{name: value}).fit(X, y)

    def test_names_of_groups_say_nothing(self):
        """The same groups answer alike, whatever they are called."""
        X, y, _ = two_classes(80, 3)
        group = np.arange(80) // 4
        said = [lapis.AutoClassifier(candidates="linear").fit(
            X, y, groups=names).candidates_ for names in (
                group, np.array([f"p{g}" for g in group]), 99 - group)]
        self.assertEqual(said[0], said[1])
        self.assertEqual(said[0], said[2])
        self.assertEqual(sum(c["answers"] for c in said[0]), 1)

    def test_numbers_are_chosen_for(self):
        """Squares of a chess board as heights: no line tells them."""
        rng = np.random.default_rng(1)
        X = rng.uniform(-1, 1, (300, 3))
        y = 100. + 10 * ((X[:, 0] > 0) == (X[:, 1] > 0))
        X[::9, 2] = np.nan
        asked = y.copy()
        asked[200:] = np.nan
        model = lapis.AutoRegressor().fit(X, asked)
        self.assertGreater(r2_score(y[200:], model.transduction_[200:]), .7)
        np.testing.assert_allclose(model.predict(X[200:]),
                                   model.transduction_[200:])
        self.assertGreater(model.candidates_[0]["r2"], .6)
        self.assertFalse({c["method"] for c in model.candidates_}
                         - {"rr", "linear", "trees", "mean"})
        with self.assertRaisesRegex(ValueError, "rr, linear, trees"):
            lapis.AutoRegressor(candidates="mc").fit(X, asked)
        two = lapis.AutoRegressor(candidates="trees").fit(
            X, np.c_[asked, -asked])
        self.assertEqual(two.predict(X).shape, (300, 2))

    def test_gross_errors_among_numbers_are_left_out(self):
        rng = np.random.default_rng(5)
        X = rng.normal(size=(300, 4))
        clean = 30 + 5 * X[:, 0] - 2 * X[:, 1] + rng.normal(size=300)
        y, wrong = clean.copy(), np.arange(5, 300, 40)
        y[wrong] *= (-10.) ** np.arange(1, 9)
        model = lapis.AutoRegressor(candidates="linear", held_out=3)
        with self.assertWarns(lapis.LapisWarning):
            model.fit(X, y)
        self.assertEqual(sorted(model.outliers_), list(wrong))
        self.assertEqual(model.outliers_[0], wrong[-1])
        self.assertGreater(model.score(X, clean), .9)
        self.assertLess(abs(model.held_out_[:, 0] - clean).max(), 6)
        with self.assertWarns(lapis.LapisWarning):
            learnt = lapis.AutoRegressor(candidates="linear",
                                         outliers="learn").fit(X, y)
        self.assertEqual(sorted(learnt.outliers_), list(wrong))
        self.assertLess(learnt.score(X, clean), 0)
        model.fit(np.c_[X, X[:, :1]], np.c_[clean, y])
        self.assertEqual(sorted(map(tuple, model.outliers_)),
                         [(j, 1) for j in wrong])
        self.assertEqual(model.fit(X, clean).outliers_.size, 0)

    def test_labels_that_look_wrong_are_left_out(self):
        rng = np.random.default_rng(5)
        kind = rng.integers(0, 3, 400)
        X = rng.normal(size=(400, 3)) + 6 * np.eye(3)[kind]
        truth, wrong = np.array(["a", "b", "c"])[kind], np.arange(5, 390, 13)
        y = truth.copy()
        y[wrong] = np.array(["a", "b", "c"])[
            (kind[wrong] + rng.integers(1, 3, len(wrong))) % 3]
        model = lapis.AutoClassifier(candidates="linear", doubted="omit")
        weight = np.ones(400)
        weight[:3] = 0
        with self.assertWarns(lapis.LapisWarning):
            model.fit(X, y, sample_weight=weight)
        self.assertLess(len(set(model.doubted_) ^ set(wrong)), 5)
        p = model.predict_proba(X)
        with_gaps = y.astype(object)
        with_gaps[model.doubted_] = None
        again = lapis.AutoClassifier(candidates="linear").fit(
            X, with_gaps, sample_weight=weight)
        np.testing.assert_array_equal(again.predict_proba(X), p)
        self.assertEqual(again.doubted_.size, 0)
        two = lapis.AutoClassifier(candidates="linear", doubted="omit")
        both = np.c_[kind == 0, kind == 1].astype(float)
        pairs = {(j, k) for k in (0, 1) for j in wrong + k}
        for j, k in pairs:
            both[j, k] = 1 - both[j, k]
        with self.assertWarns(lapis.LapisWarning):
            two.fit(X, both)
        self.assertLess(len(set(map(tuple, two.doubted_)) ^ pairs), 10)

    def test_every_parameter_of_the_command_is_there(self):
        """But for targets, which the class settles; numbers are predicted
        without mc and have no classes."""
        of_mc = {"variant", "labels", "lambda_", "gamma", "mu_rel",
                 "class_features", "tol", "max_iters"}
        offered = set(table("auto").keys)
        for cls, absent in ((lapis.AutoClassifier, {"targets", "outliers"}),
                            (lapis.AutoRegressor,
                             {"targets", "coverage_by", "ask", "doubted"}
                             | of_mc)):
            self.assertEqual(offered - set(cls().get_params()), absent)
        for cls in CLASSIFIERS + [lapis.AutoClassifier, lapis.AutoRegressor,
                                  lapis.RobustPCA, lapis.RobustRegressor]:
            with self.assertRaises(TypeError) as caught:
                cls(no_such=1)
            self.assertIn(cls.__name__ + " has no parameter 'no_such'",
                          str(caught.exception))
            for name in cls().get_params():
                self.assertIn(name, str(caught.exception))

    def test_what_is_said_of_hidden_labels_is_kept(self):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(60, 3))
        y = np.where(X[:, 0] > 0, "up", "down").astype(object)
        y[::10] = None
        weight = np.ones(60)
        weight[1] = 0
        model = lapis.AutoClassifier(candidates="linear", held_out=5)
        said = model.fit(X, y, sample_weight=weight).held_out_
        known = np.array([one is not None for one in y]) & (weight > 0)
        self.assertEqual(said.shape, (60, 1))
        np.testing.assert_array_equal(np.isfinite(said[:, 0]), known)
        right = (said[known, 0] > .5) == (y[known] == "up")
        self.assertGreater(right.mean(), .8)
        self.assertFalse(hasattr(model.set_params(held_out=0).fit(X, y),
                                 "held_out_"))
        model = lapis.AutoRegressor(candidates="linear", held_out=5)
        said = model.fit(X, X[:, 0] * 2 + X[:, 1]).held_out_
        np.testing.assert_allclose(said[:, 0], X[:, 0] * 2 + X[:, 1], atol=.5)

    def test_dates_and_texts_are_refused_by_their_place(self):
        day = np.array(["2020-01-02", "2020-01-05", "NaT", "2020-02-02"],
                       "M8[D]")
        frame = pd.DataFrame({"k": [1., 2, 3, 4], "since": day})
        tried = [
            (frame, r"X\[0, 1\] \('since'\) is the date 2020-01-02"),
            (day.reshape(-1, 1), r"X\[0, 0\] is the date 2020-01-02"),
            ([[1, None], [2, date(2020, 1, 5)], [3, 1], [4, 2]],
             r"X\[1, 1\] is the date 2020-01-05"),
            ([["1", "2"], ["3", "red"], ["1", "2"], ["4", "5"]],
             r"X\[1, 1\] is the text 'red'"),
            (frame.assign(since=["1", "x", None, "2"]),
             r"X\[1, 1\] \('since'\) is the text 'x'"),
        ]
        for X, said in tried:
            for cls in (lapis.AutoClassifier, lapis.RobustLDA):
                with self.assertRaisesRegex(ValueError, said):
                    cls().fit(X, ["a", "b", "a", "b"])

    def frame_of_towns(self):
        g = np.random.default_rng(0)
        town = g.choice(["Rome", "Oslo", "Bonn"], 90).astype(object)
        x = g.normal(size=90)
        y = 3 * (town == "Rome") + x
        town[3] = None
        return pd.DataFrame({"town": town, "x": x}), y

    def test_columns_of_words(self):
        X, y = self.frame_of_towns()
        weight = np.r_[np.zeros(4), np.ones(86)]
        new = pd.DataFrame({"town": ["Rome", "Lima", "Lima"], "x": [0., 0, 1]})
        for cls, of in ((lapis.AutoRegressor, y),
                        (lapis.AutoClassifier, np.where(y > 1.5, "a", "b"))):
            model = cls(candidates="trees", importance=True)
            model.fit(X, of, sample_weight=weight)
            self.assertEqual(model.categories_,
                             [["Bonn", "Oslo", "Rome"], None])
            self.assertEqual(list(model.feature_names_in_), ["town", "x"])
            self.assertEqual(model.n_features_in_, 2)
            self.assertEqual(model.feature_importances_.shape, (2,))
            self.assertGreater(model.score(X, of), .9)
            with self.assertWarnsRegex(lapis.LapisWarning,
                                       "column 'town' holds 'Lima'") as said:
                answers = model.predict(new)
            self.assertEqual(len(said.warnings), 1)
            unknown = model.predict(new.assign(town=["Rome", None, None]))
            self.assertTrue((answers == unknown).all())
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "m.lapis")
                lapis.save(model, path)
                again = lapis.load(path)
                self.assertTrue((again.predict(X) == model.predict(X)).all())
                self.assertEqual(again.categories_, model.categories_)
                self.assertEqual(list(again.feature_names_in_), ["town", "x"])
                X.to_csv(path + ".csv", index=False)
                command("predict", path, path + ".csv", "-o", path + "2.csv")
                by = pd.read_csv(path + "2.csv").iloc[:, 1].to_numpy()
            if cls is lapis.AutoClassifier:
                self.assertTrue((by == model.predict(X)).all())
            else:
                np.testing.assert_allclose(by, model.predict(X), rtol=1e-4)
            with self.assertRaisesRegex(ValueError, "features"):
                model.predict(X.to_numpy()[:, :1])
            same = cls(candidates="trees").fit(X["x"].to_frame(), of)
            self.assertEqual(same.categories_, [None])

    def test_words_without_titles_and_too_many(self):
        X, y = self.frame_of_towns()
        model = lapis.AutoRegressor(candidates="trees", missing="Oslo")
        model.fit(X.to_numpy(), y)
        self.assertEqual(model.categories_, [["Bonn", "Rome"], None])
        many = pd.DataFrame({"name": [f"n{k}" for k in range(1001)]})
        with self.assertRaisesRegex(ValueError, "'name' has 1001 .*leave it"):
            lapis.AutoRegressor().fit(many, np.arange(1001.))
        dates = pd.DataFrame({"day": ["2021-06-16", None, "2022-01-01"]})
        with self.assertRaisesRegex(ValueError, "'day'.* is the date 2021"):
            lapis.AutoRegressor().fit(dates, np.arange(3.))
        frame = pd.DataFrame(X).assign(empty=None)
        with self.assertRaisesRegex(ValueError, "'empty' is known of no"):
            lapis.AutoRegressor().fit(frame, y)

    def test_check_estimator_rlda(self):
        self.check(lapis.RobustLDA)

    def test_check_estimator_svmplus(self):
        self.check(lapis.SVMPlusClassifier)

    def test_check_estimator_misvm(self):
        self.check(lapis.MISVMPlusClassifier)

    def test_check_estimator_rpca(self):
        self.check(lapis.RobustPCA)

    def test_check_estimator_rr(self):
        self.check(lapis.RobustRegressor)

    def test_check_estimator_chi2(self):
        self.check(lapis.Chi2Map)

    def test_check_estimator_svmplus_with_a_kernel(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_estimator(lapis.SVMPlusClassifier(kernel="rbf"))


class Habits(unittest.TestCase):
    def test_grid_search_gives_the_commands_numbers(self):
        """X_priv is sliced with the folds; the folds are the command's."""
        X, y, P = two_classes(90)
        said, _ = command("cv", "svmplus", "d.npz", "--grid", "C=0.1,1,10",
                          "--grid", "gamma=0.1,1", "--metric", "auroc",
                          "--json", d={"X": X, "Y": y, "P": P})
        points = json.loads(said)["points"]
        folds = lapis.Folds()
        for cv in (folds, PredefinedSplit(folds.draw(X, y))):
            search = GridSearchCV(
                lapis.SVMPlusClassifier(),
                {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]},
                scoring="roc_auc", cv=cv)
            search.fit(X, y, X_priv=P)
            mean = search.cv_results_["mean_test_score"]
            self.assertEqual(len(points), len(mean))
            for point, params, value in zip(
                    points, search.cv_results_["params"], mean):
                there = point["settings"]
                self.assertEqual(
                    [float(there["C"]), float(there["gamma"])],
                    [params["C"], params["gamma"]])
                self.assertAlmostEqual(point["mean"], value, delta=1e-12)
        # a fold without its own rows of P would give something else
        wrong = GridSearchCV(lapis.SVMPlusClassifier(), {"gamma": [0.1]},
                             scoring="roc_auc", cv=folds).fit(X, y)
        self.assertNotEqual(wrong.best_score_, mean[0])

    def test_r2_is_scikit_learns(self):
        """The mean over columns; one of a single value has none."""
        rng = np.random.default_rng(4)
        truth = rng.standard_normal((40, 3)) * [1, 5, 50] + [0, 1e3, -7]
        said = truth + rng.standard_normal((40, 3)) * [2, 1, 9]
        mean, each = lapis.metrics.r2(truth, said, per_class=True)
        self.assertAlmostEqual(mean, r2_score(truth, said), delta=1e-12)
        np.testing.assert_allclose(
            each, r2_score(truth, said, multioutput="raw_values"), rtol=1e-12)
        truth[:, 1] = 0.1
        self.assertAlmostEqual(
            lapis.metrics.r2(truth, said),
            r2_score(truth[:, ::2], said[:, ::2]), delta=1e-12)
        self.assertTrue(np.isnan(lapis.metrics.r2(truth[:, 1], said[:, 1])))

    def test_groups_stay_whole(self):
        X, y, _ = two_classes(60)
        groups = np.repeat(np.arange(20), 3)
        for shown, hidden in lapis.Folds(4).split(X, y, groups):
            self.assertEqual(set(groups[shown]) & set(groups[hidden]), set())
            self.assertEqual(len(shown) + len(hidden), 60)

    def test_folds_are_of_the_known_labels(self):
        """However it is said that a label is not known."""
        X, y, _ = two_classes(60)
        unknown = np.arange(60) % 3 != 0
        drawn = lapis.Folds(4).draw(X, np.where(unknown, np.nan, y))
        self.assertEqual(np.ptp(np.bincount(drawn[~unknown])), 0)
        for nothing in (None, np.nan, pd.NA):
            words = np.where(y > 0, "a", "b").astype(object)
            words[unknown] = nothing
            for given in (words, words.tolist(), pd.Series(words)):
                np.testing.assert_array_equal(lapis.Folds(4).draw(X, given),
                                              drawn)

    def test_folds_hold_as_much_of_each_class(self):
        """Whatever classes are called; of numbers folds are as they were."""
        X, y = np.zeros((90, 2)), np.repeat([0, 1, 2], [60, 21, 9])
        for given in (y, 7 - y, np.array(["z", "b", "k"])[y], np.eye(3)[y]):
            drawn = lapis.Folds(3).draw(X, given)
            for c, count in enumerate((20, 7, 3)):
                self.assertEqual(np.bincount(drawn[y == c]).tolist(),
                                 [count] * 3)
        np.testing.assert_array_equal(
            lapis.Folds(3).draw(X, np.random.default_rng(1).normal(size=90)),
            lapis.Folds(3).draw(X))

    def test_folds_of_sparse_labels_and_of_too_few(self):
        X, y, _ = two_classes(60)
        labels = np.stack([y > 0, y < 0], axis=1).astype(float)
        drawn = lapis.Folds(4).draw(X, labels)
        for given in (scipy.sparse.csr_matrix(labels),
                      scipy.sparse.csc_array(labels)):
            np.testing.assert_array_equal(lapis.Folds(4).draw(X, given), drawn)
        for wrong in (y[:59], scipy.sparse.csr_matrix(labels[:59])):
            with self.assertRaisesRegex(ValueError, "y has 59, X has 60"):
                lapis.Folds(4).draw(X, wrong)
        with self.assertRaisesRegex(ValueError, "y has 1, X has 60"):
            lapis.Folds(4).draw(X, 1.0)

    def test_pipelines(self):
        X, y, _ = two_classes(80)
        both = make_pipeline(lapis.Chi2Map(), lapis.SVMPlusClassifier())
        both.fit(np.abs(X), y)
        self.assertGreater(cross_val_score(
            make_pipeline(lapis.RobustPCA(lambda_=0.3),
                          lapis.SVMPlusClassifier()), X, y).mean(), 0.8)
        self.assertEqual(both[:-1].get_feature_names_out()[8], "x1_chi2_1")

    def test_units_are_no_concern(self):
        table = load_breast_cancer()
        X, y = table.data[:400], table.target[:400]
        for kernel in ("linear", "rbf"):
            model = lapis.SVMPlusClassifier(kernel=kernel).fit(X, y)
            right = model.score(table.data[400:], table.target[400:])
            self.assertGreater(right, 0.95, kernel)
        lone = lapis.SVMPlusClassifier().fit(X, y)
        np.testing.assert_allclose(
            X @ lone.coef_[0] + lone.intercept_[0],
            lone.decision_function(X), rtol=1e-9, atol=1e-9)
        other = lapis.SVMPlusClassifier(scale="none").fit(X, y)
        self.assertNotEqual(other.coef_[0, 0], lone.coef_[0, 0])
        with self.assertRaisesRegex(Exception, "nothing proved"):
            lapis.SVMPlusClassifier(scale="none").fit(X * 1e9, y)

    def test_robust_lda_left_open_and_by_neighbours(self):
        table = load_iris()
        X, y = table.data * [1, 1e3, 1, 1e-3], table.target
        shown = np.arange(150) % 2 == 0
        for settings in ({}, {"assign": "knn"}):
            model = lapis.RobustLDA(**settings).fit(X[shown], y[shown])
            self.assertGreater(model.score(X[~shown], y[~shown]), 0.94)
        plain = lapis.RobustLDA(denoise="none", assign="knn")
        plain.fit(table.data[shown], y[shown])
        self.assertGreater(plain.score(table.data[~shown], y[~shown]), 0.94)

    def test_every_estimator_survives_pickling_and_cloning(self):
        X, y, _ = two_classes(40)
        for cls in ESTIMATORS:
            one = cls().fit(np.abs(X), y)
            two = pickle.loads(pickle.dumps(one))
            self.assertEqual(clone(one).get_params(), one.get_params())
            ask = "predict" if hasattr(one, "predict") else "transform"
            np.testing.assert_array_equal(getattr(one, ask)(np.abs(X)),
                                          getattr(two, ask)(np.abs(X)))

    def test_labels_of_any_kind(self):
        X, y, _ = two_classes(60)
        three = np.digitize(X[:, 0], [-0.5, 0.5])
        for cls in CLASSIFIERS:
            for names in (["no", "yes"], [3, 7], [False, True], [0.0, 1.0],
                          [-1, 1]):
                given = np.array(names)[(y > 0).astype(int)]
                said = cls().fit(X, given).predict(X)
                self.assertEqual(said.dtype, given.dtype)
                self.assertGreater((said == given).mean(), 0.85, cls)
            if cls is not lapis.MISVMPlusClassifier:
                given = np.array(["low", "mid", "high"], object)[three]
                model = cls().fit(X, given)
                self.assertEqual(model.decision_function(X).shape, (60, 3))
                self.assertEqual(list(model.classes_),
                                 ["high", "low", "mid"])

    def test_labels_that_doubles_do_not_tell_apart(self):
        X, y, _ = two_classes(40)
        ids = np.where(y > 0, 2 ** 60, 2 ** 60 + 1)
        ids[:5] = 7
        for cls in CLASSIFIERS[:3]:
            model = cls().fit(X, ids)
            self.assertEqual(model.classes_.tolist(),
                             [7, 2 ** 60, 2 ** 60 + 1])
            self.assertEqual(model.decision_function(X).shape, (40, 3))
            self.assertEqual(model.predict(X).dtype, ids.dtype)
            self.assertGreater(model.score(X, ids), 0.6)

    def test_labels_that_are_no_doubles(self):
        X, y, _ = two_classes(40)
        for pair in ((2 ** 60 + 1, 5), (2 ** 63 - 1, 5), (-2 ** 53 - 1, 0),
                     np.array([2 ** 64 - 1, 5], np.uint64)):
            ids = np.where(y > 0, *pair)
            for cls in CLASSIFIERS:
                model = cls().fit(X, ids)
                said = model.predict(X)
                self.assertEqual(said.dtype, ids.dtype)
                self.assertEqual(set(said), set(ids))
                self.assertGreater(model.score(X, ids), 0.8, cls)

    def test_whole_numbers_beside_what_is_missing(self):
        X, y, _ = two_classes(40)
        ids = np.where(y > 0, 2 ** 60, 2 ** 60 + 1)
        hidden = np.arange(40) == 3
        nullable = pd.Series(ids, dtype="Int64").mask(hidden)
        for given in (np.ma.array(ids, mask=hidden), nullable, nullable.array,
                      pd.Series(ids).astype("category").mask(hidden),
                      np.where(hidden, None, ids),
                      [np.nan if hide else one
                       for hide, one in zip(hidden, ids.tolist())]):
            for cls in CLASSIFIERS[:3]:
                model = cls().fit(X, given)
                self.assertEqual(model.classes_.tolist(),
                                 [2 ** 60, 2 ** 60 + 1])
                self.assertEqual(model.predict(X).dtype, ids.dtype)
                self.assertGreater(model.score(X, ids), 0.8)
                self.assertEqual(model.score(X, given),
                                 model.score(X[~hidden], ids[~hidden]))
        model = lapis.RobustRegressor().fit(X, nullable)
        self.assertEqual(len(model.transduction_), 40)
        two = pd.DataFrame({"a": nullable, "b": nullable})
        self.assertEqual(set(lapis._validation.labels_of(two)[4]), {ids[4]})

    def test_unknown_labels_are_completed(self):
        X, _ = low_rank(80, rank=2)
        X[5, 7] = np.nan
        y = np.where(X[:, 0] > 0, 1.0, -1.0)
        words = np.where(y > 0, "yes", "no").astype(object)
        for truth, unknown in ((y, np.nan), (words, None),
                               (words, np.nan), (y > 0, np.nan)):
            given = np.where(np.arange(80) % 2, truth, unknown)
            model = lapis.MatrixCompletionClassifier(mu_rel=1e-3)
            said = model.fit_predict(X, given)
            self.assertGreater((said == truth)[::2].mean(), 0.8)
            self.assertGreater(
                (model.predict(X[::2]) == truth[::2]).mean(), 0.8)
        with self.assertRaisesRegex(ValueError, "NaN"):
            lapis.SVMPlusClassifier().fit(
                X, np.where(np.arange(80) % 3, y, np.nan))

    def test_unknown_labels_are_not_scored(self):
        X, _ = low_rank(80, rank=2)
        y = np.where(X[:, 0] > 0, 1.0, -1.0)
        words = np.where(y > 0, "yes", "no").astype(object)
        odd = np.arange(80) % 2 > 0
        for truth, unknown in ((y, np.nan), (words, None)):
            model = lapis.MatrixCompletionClassifier(mu_rel=1e-3)
            model.fit(X, truth)
            part = np.where(odd, truth, unknown)
            part[1] = truth[0] if truth[0] != truth[1] else truth[y != y[1]][0]
            right = model.predict(X)[odd] == part[odd]
            self.assertLess(right.mean(), 1)
            self.assertAlmostEqual(model.score(X, part), right.mean())
            self.assertAlmostEqual(model.score(X, part, np.arange(80)),
                                   np.average(right, weights=np.arange(80)[odd]))
            with self.assertRaisesRegex(ValueError, "NaN alone"):
                model.score(X, np.full(80, unknown))

    def test_mu_is_chosen_as_by_the_command(self):
        """fit mc without --mu, with and without groups: the same bits."""
        X, _ = low_rank(60, rank=2, share=0.1)
        y = np.where(X[:, 0] > 0, 1.0, 0.0)
        y[::3] = np.nan
        people = np.repeat(np.arange(12), 5)
        for groups in (None, people):
            data = {"X": X, "Y": y}
            if groups is not None:
                data["group"] = groups
            said, there = command("fit", "mc", "d.npz", "--json", "-o",
                                  "out.npz", d=data)
            model = lapis.MatrixCompletionClassifier().fit(
                X, y, groups)
            self.assertEqual(json.loads(said)["settings"]["mu-rel"],
                             model.settings_["mu_rel"])
            self.assertEqual(model.settings_["labels"],
                             json.loads(said)["settings"]["labels"])
            self.assertEqual(model.scores_.tobytes(),
                             there["scores"].tobytes())
        with self.assertWarnsRegex(lapis.LapisWarning, "too few known"):
            few = lapis.MatrixCompletionClassifier().fit(
                X[:4], [0, 1, np.nan, np.nan])
        _, there = command("fit", "mc", "d.npz", "-o", "out.npz",
                           d={"X": X[:4], "Y": np.array([0, 1, np.nan,
                                                         np.nan])})
        self.assertEqual(few.settings_["labels"], "pm")
        self.assertEqual(few.scores_.tobytes(), there["scores"].tobytes())
        with self.assertRaisesRegex(ValueError, "mc: tol='cv' is not a number"):
            lapis.MatrixCompletionClassifier(tol="cv").fit(X, y)

    def test_whoever_predicts_hidden_labels_better_answers(self):
        """The answer of fit auto, to the bit."""
        rng = np.random.default_rng(3)
        truth = rng.random(120) < 0.4
        X = rng.normal(size=(120, 4)) + 2 * truth[:, None]
        y = np.where(truth, 1.0, 0.0)
        y[::2] = np.nan
        for who in (None, "trees", "mc,linear"):
            chosen = [] if who is None else ["--candidates", who]
            _, there = command("fit", "auto", "d.npz", *chosen, "-o",
                               "out.npz", d={"X": X, "Y": y})
            model = lapis.AutoClassifier(candidates=who)
            labels = model.fit_predict(X, y)
            self.assertGreater((labels == truth)[::2].mean(), 0.9)
            self.assertEqual(labels.tobytes(), there["labels"].tobytes())
            self.assertEqual(hasattr(model, "low_rank_"), "low_rank" in there)
            self.assertEqual([c["log_loss"] for c in model.candidates_],
                             there["candidate_figures"][:, 0].tolist())
            again = lapis.AutoClassifier(candidates=model.choice_)
            np.testing.assert_array_equal(again.fit(X, y).scores_,
                                          model.scores_)
        unsure = lapis.AutoClassifier(candidates="linear", ask=5).fit(
            X, y, sample_weight=np.r_[0, np.ones(len(X) - 1)])
        self.assertEqual(len(unsure.asked_), 5)
        self.assertTrue(np.isnan(y[unsure.asked_]).all())
        self.assertNotIn(0, unsure.asked_)
        proba = model.predict_proba(X)
        np.testing.assert_allclose(proba.sum(axis=1), 1)
        self.assertGreater(
            (model.classes_[proba.argmax(axis=1)] == truth).mean(), 0.9)
        with self.assertRaisesRegex(ValueError, "fit with coverage"):
            model.predict_set(X)
        with self.assertRaisesRegex(ValueError, "candidates.*best"):
            lapis.AutoClassifier(candidates="best").fit(X, y)
        self.assertEqual(
            lapis.MatrixCompletionClassifier(mu_rel=.1).fit(X, y).candidates_,
            [])

    def test_what_was_covered_is_filled(self):
        """With `refill` alone, and not of an earlier fit."""
        X = np.outer(np.linspace(.2, 1, 20), np.linspace(.2, 1, 12))
        X[3, 4:7] = 0
        model = lapis.RobustPCA(refill=2, tau=.1).fit(X)
        there = lapis.solve("rpca", X, refill=2, tau=.1)["filled"]
        np.testing.assert_array_equal(model.filled_, there)
        model.set_params(refill=0).fit(X)
        self.assertFalse(hasattr(model, "filled_"))

    def test_importance_is_of_features(self):
        """In the order of X; rises and falls of classes and of numbers."""
        rng = np.random.default_rng(6)
        X = rng.normal(size=(300, 4))
        z = 2 * X[:, 1] - X[:, 3]
        words = np.where(z + rng.logistic(size=300) > 0, "up", "down")
        for model, y in ((lapis.AutoClassifier, words),
                         (lapis.AutoRegressor, z + rng.normal(size=300))):
            made = model(candidates="linear", importance=True).fit(X, y)
            worth = made.feature_importances_
            self.assertEqual(worth.shape, (4,))
            self.assertEqual(worth.argsort()[::-1][:2].tolist(), [1, 3])
            clear = worth > 3 * made.feature_importances_error_
            self.assertEqual(clear.tolist(), [False, True, False, True])
            self.assertGreater(made.feature_directions_[1], .5)
            self.assertLess(made.feature_directions_[3], -.5)
            made.set_params(importance=False).fit(X, y)
            self.assertFalse(hasattr(made, "feature_importances_"))

    def test_sets_and_intervals_of_a_coverage(self):
        """Of the fit and of predict; other coverages nest."""
        rng = np.random.default_rng(4)
        X = rng.normal(size=(400, 2))
        z = X[:, 0] + .7 * rng.normal(size=400)
        words = np.array(["low", "mid", "top"])[np.digitize(z, [-.6, .6])]
        given = words.astype(object)
        given[300:] = None
        model = lapis.AutoClassifier(candidates="linear", coverage=.9)
        sets = model.fit(X, given).predict_set(X[300:])
        place = np.searchsorted(model.classes_, words)
        for kept in (sets, model.sets_[300:]):
            self.assertEqual(kept.shape, (100, 3))
            self.assertGreater(kept[np.arange(100), place[300:]].mean(), .84)
            self.assertLess(kept.sum(axis=1).mean(), 2.5)
        self.assertTrue((model.predict_set(X, .99) >=
                         model.predict_set(X, .5)).all())
        self.assertEqual(model.predict_set(X[:9], by_class=True).shape, (9, 3))
        numbers = z.copy()
        numbers[300:] = np.nan
        model = lapis.AutoRegressor(candidates="linear", coverage=.9)
        model.fit(X, numbers)
        for ends in (model.predict_interval(X[300:]), model.intervals_[300:]):
            self.assertEqual(ends.shape, (100, 2))
            inside = (ends[:, 0] <= z[300:]) & (z[300:] <= ends[:, 1])
            self.assertGreater(inside.mean(), .84)
            self.assertLess(np.ptp(ends, axis=1).mean(), 3.5)
        both = np.column_stack([numbers, 2 * numbers])
        model.fit(X, both)
        self.assertEqual(model.predict_interval(X[:5], .5).shape, (5, 2, 2))

    def test_samples_without_targets_are_answered(self):
        """What the command answers; the fit is that of the others."""
        rng = np.random.default_rng(6)
        X = rng.normal(size=(50, 4))
        truth = np.where(X[:, 0] + X[:, 1] > 0, "pine", "oak")
        y = truth.astype(object)
        y[::3] = None
        known = np.array([word is not None for word in y])
        P = X[:, :2].copy()
        P[~known] = np.nan
        for new, extra in ((lapis.RobustLDA, {}),
                           (lapis.SVMPlusClassifier, {"X_priv": P})):
            model = new().fit(X, y, **extra)
            alone = new().fit(X[known], y[known].astype(str), **{
                key: value[known] for key, value in extra.items()})
            self.assertEqual(model.coef_.tobytes(), alone.coef_.tobytes())
            self.assertFalse(hasattr(alone, "transduction_"))
            self.assertGreater((model.transduction_ == truth).mean(), .8)
            self.assertEqual(list(model.transduction_[~known]),
                             list(alone.predict(X[~known])))
        target = X @ [1., 2., 0., -1.]
        target[::3] = np.nan
        model = lapis.RobustRegressor().fit(X, target)
        _, there = command("fit", "rr", "d.npz", "-o", "out.npz",
                           d={"X": X, "Y": target})
        self.assertEqual(model.transduction_.tobytes(),
                         there["scores"].tobytes())

    def test_chosen_settings_tell_blobs_apart(self):
        """24 pairs of blobs; labels as 0 and 1, -1 and 1, 1 and 2, words."""
        rng = np.random.default_rng(0)
        for k in range(24):
            n, d = 80 + 5 * k, 2 + k % 5
            truth = rng.random(n) < (0.3, 0.5, 0.7)[k % 3]
            X = rng.normal(size=(n, d)) + 8 / np.sqrt(d) * truth[:, None]
            X = X * 10.0 ** rng.integers(-2, 3, d) + rng.normal(size=d) * 50
            names = ((0.0, 1.0), (-1.0, 1.0), (1.0, 2.0), ("a", "b"))[k % 4]
            y = np.where(truth, names[1], names[0]).astype(
                object if k % 4 == 3 else float)
            hidden = rng.random(n) < 0.5
            given = y.copy()
            given[hidden] = None if k % 4 == 3 else np.nan
            model = lapis.MatrixCompletionClassifier()
            said = model.fit_predict(X, given)
            self.assertGreater((said == y)[hidden].mean(), 0.95)
            p = model.predict_proba(X)
            np.testing.assert_allclose(p.sum(axis=1), 1)
            self.assertGreater(
                (model.classes_[p.argmax(axis=1)] == y).mean(), 0.95)
            np.testing.assert_array_equal(model.decision_function(X) > 0,
                                          p[:, 1] > 0.5)
        self.assertFalse(hasattr(lapis.MatrixCompletionClassifier(),
                                 "predict_proba"))

    def test_representative_of_a_class(self):
        X = np.repeat(np.eye(2), 20, axis=0)
        y = np.repeat(["a", "b"], 20)
        model = lapis.MatrixCompletionClassifier(mu_rel=.01,
                                                 class_features=True)
        looks = model.fit(X, y).class_features_
        self.assertEqual(looks.shape, (1, 2))
        self.assertEqual(looks.argmax(), 1)  # of b
        plain = lapis.MatrixCompletionClassifier(mu_rel=.01).fit(X, y)
        self.assertFalse(hasattr(plain, "class_features_"))

    def test_several_labels(self):
        X, _, _ = two_classes(80)
        Y = (X[:, :3] > 0).astype(float)
        Y[::4, 1] = np.nan
        model = lapis.MatrixCompletionClassifier(mu_rel=0.01).fit(X, Y)
        self.assertEqual(model.transduction_.shape, Y.shape)
        self.assertEqual(model.predict(X).shape, Y.shape)
        right = (model.transduction_ == (X[:, :3] > 0)).mean(axis=0)
        self.assertGreater(right.min(), 0.8)
        np.testing.assert_array_equal(
            (model.decision_function(X) > 0).astype(float), model.predict(X))

    def test_frames_in_and_out(self):
        clean, X = low_rank()
        names = [f"f{i}" for i in range(X.shape[1])]
        frame = pd.DataFrame(X, columns=names, index=np.arange(100, 160))
        model = lapis.RobustPCA().set_output(transform="pandas").fit(frame)
        self.assertEqual(list(model.feature_names_in_), names)
        out = model.transform(frame)
        self.assertEqual(list(out.columns), names)
        self.assertEqual(list(out.index), list(frame.index))
        with self.assertRaisesRegex(ValueError, "feature names"):
            model.transform(frame[names[::-1]])
        with self.assertWarnsRegex(UserWarning, "feature names"):
            model.transform(X)
        with tempfile.NamedTemporaryFile(suffix=".lapis") as file:
            lapis.save(model, file.name)
            self.assertEqual(list(lapis.load(file.name).feature_names_in_),
                             names)
            self.assertIn("f3", command("info", file.name)[0])

    def test_names_are_those_of_a_fit(self):
        X = np.arange(12.0).reshape(4, 3)
        for cls in (lapis.RobustPCA, lapis.LowRankImputer, lapis.Chi2Map):
            with self.assertRaises(NotFittedError):
                cls().get_feature_names_out()
            model = cls().fit(X)
            with self.assertRaisesRegex(ValueError, r"features \(3\), got 1"):
                model.get_feature_names_out(["a"])
            for given, first in ((None, "x0"), (["a", "b", "c"], "a")):
                name = model.get_feature_names_out(given)[0]
                self.assertEqual(name.partition("_")[0], first)

    def test_frames_with_missing_labels(self):
        X, _ = low_rank(60, rank=2)
        truth = (X[:, 0] > 0).astype(int)
        given = pd.Series(truth).astype("Int64")
        given[::3] = pd.NA
        said = lapis.MatrixCompletionClassifier(mu_rel=1e-3).fit_predict(
            pd.DataFrame(X), given)
        self.assertGreater((said == truth).mean(), 0.9)

    def test_targets_in_frames(self):
        X, y, _ = two_classes(40)
        y = (y > 0).astype(int)
        words = np.array(["no", "yes"])[y]
        for cls in CLASSIFIERS:
            for given, plain in (
                    (pd.Series(y, dtype="Int64"), y),
                    (pd.Series(y, dtype="Float64"), y.astype(float)),
                    (pd.Series(y > 0, dtype="boolean"), y > 0),
                    (pd.array(y, "Int64"), y),
                    (pd.Series(words, dtype="string"), words)):
                want = cls().fit(X, plain)
                forms = [given]
                if isinstance(given, pd.Series):
                    forms.append(given.to_frame())
                for form in forms:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", DataConversionWarning)
                        model = cls().fit(X, form)
                    self.assertEqual(list(model.classes_), list(want.classes_))
                    np.testing.assert_array_equal(model.predict(X),
                                                  want.predict(X))
            with self.assertWarnsRegex(DataConversionWarning, "1d array"):
                cls().fit(X, pd.DataFrame({"y": y}))
        two = pd.DataFrame({"a": y, "b": 1 - y})
        for cls in (lapis.RobustLDA, lapis.MISVMPlusClassifier):
            with self.assertRaisesRegex(ValueError, r"1d array.*\(40, 2\)"):
                cls().fit(X, two)
        model = lapis.MatrixCompletionClassifier(mu_rel=0.01).fit(X, two)
        self.assertEqual(model.predict(X).shape, (40, 2))

    def test_every_sample_has_a_group(self):
        X, y, _ = two_classes(24)
        numbers = [k // 4 for k in range(23)]
        words = [f"p{k}" for k in numbers]
        y = np.repeat([0, 1, 0, 1, 0, 1], 4)
        fits = (lambda g: lapis.Folds(n_splits=3).draw(X, groups=g),
                lambda g: lapis.MISVMPlusClassifier().fit(X, y, groups=g),
                lambda g: lapis.MatrixCompletionClassifier(
                    mu_rel=0.1).fit(X, y, groups=g),
                lambda g: lapis.suspects(lapis.MatrixCompletionClassifier(
                    mu_rel=0.1), X, y, 2, groups=g),
                lambda g: lapis.SVMPlusClassifier().fit(X, y, groups=g),
                lambda g: lapis.RobustLDA().fit(X, y, groups=g),
                lambda g: lapis.RobustRegressor().fit(X, y, groups=g))
        for fit in fits:
            for groups in (pd.array(numbers + [pd.NA], dtype="Int64"),
                           pd.array(words + [pd.NA], dtype="string"),
                           np.array(numbers + [np.nan]), numbers + [None],
                           pd.Series(words + [None]),
                           pd.Series([pd.Timestamp(0)] * 23 + [pd.NaT])):
                with self.assertRaisesRegex(ValueError, "sample 23 has none"):
                    fit(groups)
            with self.assertRaisesRegex(ValueError, "groups has 23"):
                fit(numbers)
        whole = fits[0](numbers + [5])
        for groups in (pd.array(numbers + [5], dtype="Int64"),
                       pd.Series(words + ["p5"], dtype="string"),
                       pd.DataFrame({"g": numbers + [5]})):
            np.testing.assert_array_equal(fits[0](groups), whole)

    def test_groups_are_whole_in_folds(self):
        """24 persons, four rows each, which are of a class by chance: what is
        said of new ones is near the shares, unless a person's other rows
        count as new."""
        person = np.repeat(np.arange(24), 4)
        sure, gamma = {True: [], False: []}, {True: [], False: []}
        for seed in range(6):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(24, 8))[person]
            X += .05 * rng.normal(size=X.shape)
            y, v = person % 2, rng.normal(size=24)[person]
            for whole in (True, False):
                groups = person if whole else None
                model = lapis.SVMPlusClassifier(probability=True)
                p = model.fit(X, y, groups=groups).predict_proba(
                    rng.normal(size=(200, 8)))
                sure[whole].append(np.abs(p - .5).mean())
                fit = lapis.RobustRegressor().fit(X, v, groups=groups)
                gamma[whole].append(fit.settings_["gamma"])
        self.assertLess(np.mean(sure[True]), .15)
        self.assertGreater(np.mean(sure[False]), .22)
        # nothing is to be learnt of new persons
        self.assertGreater(np.mean(gamma[True]), 2 * np.mean(gamma[False]))

    def test_NA_is_missing(self):
        X, y, _ = two_classes(40)
        y = (y > 0).astype(int)
        words = pd.Series(np.array(["no", "yes"])[y], dtype="string")
        for whole in (pd.Series(y, dtype="Int64"),
                      pd.Series(y, dtype="Float64"),
                      pd.Series(y > 0, dtype="boolean"), words,
                      words.astype(object)):
            given = whole.copy()
            given[5] = pd.NA
            for form in (given, given.to_frame(), given.to_numpy()):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", DataConversionWarning)
                    self.check_missing_target(X, form)
        model = lapis.RobustRegressor().fit(
            X, pd.array([pd.NA] + list(range(39))))
        self.assertEqual(model.transduction_.shape, (40,))
        cells = pd.DataFrame(np.round(10 * X)).astype("Int64")
        cells[1] = cells[1].astype("Float64")
        cells[2] = (cells[2] > 0).astype("boolean")
        numbers = cells.to_numpy(np.float64)
        numbers[[3, 4, 5], [0, 1, 2]] = np.nan
        for i, k in ((3, 0), (4, 1), (5, 2)):
            cells.iloc[i, k] = pd.NA
        for cls in (lapis.RobustPCA, lapis.LowRankImputer):
            np.testing.assert_array_equal(
                cls().fit(cells).transform(cells),
                cls().fit(numbers).transform(numbers))
        for cls in (lapis.MatrixCompletionClassifier, lapis.RobustLDA):
            np.testing.assert_array_equal(
                cls().fit(cells, y).predict(cells),
                cls().fit(numbers, y).predict(numbers))
        with self.assertRaisesRegex(ValueError, "NaN at row 3, column 0"):
            lapis.SVMPlusClassifier().fit(cells, y)

    def test_NA_in_arrays_of_objects_is_missing(self):
        _, X = low_rank()
        want = X.copy()
        want[3, 4] = np.nan
        objects = X.astype(object)
        objects[3, 4] = pd.NA
        masked = np.ma.array(X, mask=np.isnan(want))
        for given in (objects, masked, masked.astype(np.float32)):
            np.testing.assert_allclose(fit_rpca(given), fit_rpca(want),
                                       atol=1e-4)
        whole = np.ma.array(np.arange(12).reshape(4, 3))
        np.testing.assert_array_equal(fit_rpca(whole), fit_rpca(whole.data))
        whole[1, 1] = np.ma.masked
        self.assertTrue(np.isnan(lapis._arrays.plain(whole)[1, 1]))

    def test_NaN_among_words_is_no_word(self):
        X, y, _ = two_classes(40)
        words = np.where(y > 0, "yes", "no").tolist()
        given = [np.nan] + words[1:]
        for form in (given, tuple(given), np.ma.array(
                words, mask=np.arange(40) == 0)):
            model = lapis.MatrixCompletionClassifier(mu_rel=0.01).fit(X, form)
            self.assertEqual(model.classes_.tolist(), ["no", "yes"])
        self.assertEqual(model.score(X, given),
                         model.score(X[1:], words[1:]))
        with self.assertWarnsRegex(lapis.LapisWarning, "the word 'nan'"):
            lapis.MatrixCompletionClassifier(mu_rel=0.01).fit(
                X, np.array(given))

    def test_words_for_unknown_are_warned_of(self):
        """The same words that a table takes for "not known", and ''."""
        X, y, _ = two_classes(40)
        for word in ("", " ", "NA", "n/a", "?", "null", "none", "<NA>", "NaT",
                     "#N/A", "n.a.", "N. A."):
            given = np.where(y > 0, "yes", "no").astype(object)
            given[:5] = word
            with self.assertWarnsRegex(lapis.LapisWarning, "the word '"):
                lapis.MatrixCompletionClassifier(mu_rel=0.01).fit(X, given)
        with warnings.catch_warnings():
            warnings.simplefilter("error", lapis.LapisWarning)
            given[:5] = "Namibia"
            lapis.MatrixCompletionClassifier(mu_rel=0.01).fit(X, given)

    def test_classes_that_differ_in_case_are_warned_of(self):
        X, y, _ = two_classes(40)
        given = np.where(y > 0, "yes", "no").astype(object)
        for twin in ("Yes", "NO", "yes "):
            given[:5] = twin
            with self.assertWarnsRegex(lapis.LapisWarning, "differ in case"):
                lapis.SVMPlusClassifier().fit(X, given)

    def check_missing_target(self, X, y):
        model = lapis.MatrixCompletionClassifier(mu_rel=0.01).fit(X, y)
        self.assertEqual(len(model.classes_), 2)
        self.assertIn(model.transduction_[5], model.classes_)
        for cls in (lapis.RobustLDA, lapis.SVMPlusClassifier):
            model = cls().fit(X, y)
            self.assertIn(model.transduction_[5], model.classes_)
        bags = lapis.MISVMPlusClassifier().fit(X, y, groups=np.arange(len(X)))
        self.assertIn(bags.labels_[5], bags.classes_)

    def test_sparse_is_dense_to_svmplus(self):
        X, y, P = two_classes(100)
        X[np.abs(X) < 0.7] = 0
        dense = lapis.SVMPlusClassifier(tol=1e-9).fit(X, y, X_priv=P)
        for kind in (scipy.sparse.csr_matrix, scipy.sparse.csc_matrix,
                     scipy.sparse.coo_matrix):
            sparse = lapis.SVMPlusClassifier(tol=1e-9).fit(
                kind(X), y, X_priv=scipy.sparse.csr_matrix(P))
            np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-4,
                                       atol=1e-6)
            np.testing.assert_array_equal(sparse.predict(kind(X)),
                                          dense.predict(X))
        with self.assertRaisesRegex(TypeError, "sparse"):
            lapis.RobustPCA().fit(scipy.sparse.csr_matrix(X))

    def test_cleaning_is_sample_by_sample(self):
        clean, X = low_rank()
        X[3, 4] = np.nan
        for model in (lapis.RobustPCA(), ):
            both = model.fit_transform(X)
            np.testing.assert_array_equal(both, model.fit(X).transform(X))
            alone = np.vstack([model.transform(x[None]) for x in X])
            # rounding, which others beside change, may decide when to stop
            np.testing.assert_allclose(alone, both, atol=1e-4)
            self.assertLess(np.abs(both - clean).mean(),
                            0.2 * np.nanmean(np.abs(X - clean)))
        y = clean[:, 0]
        model = lapis.RobustRegressor(denoise="rpca").fit(X, y)
        alone = np.vstack([model.clean(x[None]) for x in X])
        np.testing.assert_allclose(alone, model.clean(X), atol=1e-4)
        self.assertGreater(model.score(X, y), 0.9)

    def test_bags(self):
        rng = np.random.default_rng(0)
        bags = np.repeat([f"bag{i}" for i in range(20)], 5)
        X = rng.normal(scale=0.3, size=(100, 3))
        y = np.repeat(np.arange(20) % 2, 5)
        X[::5][1::2] += 2  # one sample of a positive bag makes it so
        model = lapis.MISVMPlusClassifier(kernel="linear", C=1.0).fit(
            X, y, groups=bags)
        np.testing.assert_array_equal(
            model.labels_, np.where(np.arange(100) % 5, 0, y))
        self.assertEqual(set(model.bags_), set(bags))
        self.assertEqual(model.threshold_, 0)
        free = lapis.MISVMPlusClassifier(kernel="linear", C=1.0,
                                         threshold="auto")
        free.fit(X, y, groups=bags)
        np.testing.assert_array_equal(free.coef_, model.coef_)
        self.assertNotEqual(free.threshold_, 0)
        for bag, score in zip(free.bags_, free.bag_scores_):
            self.assertEqual(score > free.threshold_, y[bags == bag][0] == 1)
        chosen = lapis.MISVMPlusClassifier().fit(X, y, groups=bags)
        self.assertIn(chosen.settings_["C"], (.1, 1, 10, 100))
        self.assertEqual(chosen.settings_["threshold"], "auto")
        for bag, score in zip(chosen.bags_, chosen.bag_scores_):
            self.assertEqual(score > chosen.threshold_, y[bags == bag][0] == 1)
        search = GridSearchCV(lapis.MISVMPlusClassifier(kernel="linear"),
                              {"C": [1.0]}, cv=lapis.Folds(4))
        search.fit(X, y, groups=bags, bags=bags)
        self.assertEqual(search.best_estimator_.labels_.tolist(),
                         model.labels_.tolist())

    def test_bags_without_a_label(self):
        """They are answered; what is no bag is said to be none."""
        rng = np.random.default_rng(0)
        bags = np.repeat([f"bag{i}" for i in range(20)], 5)
        X = rng.normal(scale=0.3, size=(100, 3))
        truth = np.repeat(["no", "yes"] * 10, 5)
        X[::5][1::2] += 2
        y = truth.astype(object)
        y[85:] = None
        model = lapis.MISVMPlusClassifier(kernel="linear", C=1.0,
                                          positive="yes")
        model.fit(X, y, groups=bags)
        self.assertEqual(model.bags_[-3:].tolist(), ["bag17", "bag18", "bag19"])
        for bag, label, score in zip(model.bags_, model.bag_labels_,
                                     model.bag_scores_):
            self.assertEqual(label, truth[bags == bag][0])
            self.assertEqual(label == "yes", score > model.threshold_)
        which, label, score = model.predict_bags(X[85:], bags[85:])
        self.assertEqual(which.tolist(), model.bags_[-3:].tolist())
        self.assertEqual(label.tolist(), model.bag_labels_[-3:].tolist())
        np.testing.assert_allclose(score, model.bag_scores_[-3:])
        y[0] = None
        with self.assertRaisesRegex(ValueError, "some of its rows"):
            model.fit(X, y, groups=bags)
        with self.assertWarnsRegex(UserWarning, "a bag of its own"):
            model.fit(X, truth)
        with self.assertRaisesRegex(ValueError, "needs groups"):
            lapis.AutoClassifier(bags=True).fit(X, truth)

    def test_positive_word(self):
        """Which of two words a bag is positive by, as fit --positive says it:
        of 'bad' and 'good' the last, unless it is said."""
        X = np.array([[.1], [3], [.2], [.3], [0], [2.9], [.2], [.1]])
        bags = np.repeat([0, 1, 2, 3], 2)
        y = np.repeat(["bad", "good", "bad", "good"], 2)
        model = lapis.MISVMPlusClassifier(kernel="linear", C=1.0,
                                          positive="bad")
        model.fit(X, y, groups=bags)
        self.assertEqual(model.classes_.tolist(), ["good", "bad"])
        one = ["good", "bad", "good", "good"]
        self.assertEqual(model.labels_.tolist(), one + one)
        again = pickle.loads(pickle.dumps(model))
        self.assertEqual(again.predict(X).tolist(), one + one)
        self.assertGreater(model.decision_function(X)[1], 0)
        same = lapis.SVMPlusClassifier(kernel="linear", positive="good")
        self.assertEqual(same.fit(X, y).classes_.tolist(), ["bad", "good"])
        for kind in (lapis.AutoClassifier, lapis.MatrixCompletionClassifier,
                     lapis.RobustLDA, lapis.SVMPlusClassifier):
            with self.assertRaisesRegex(ValueError, "'ugly' is none of them"):
                kind(positive="ugly").fit(X, y)
            with self.assertRaisesRegex(ValueError, "of numbers the larger"):
                kind(positive=1).fit(X, (y == "bad") * 1)

    def test_bags_as_samples(self):
        """The answer of fit auto --bags: of a bag for each of its rows, of
        new bags, of instances, of words and of a model that was written."""
        rng = np.random.default_rng(1)
        bags = np.repeat(np.arange(60), 4)
        yes = np.repeat(rng.random(60) < .5, 4)
        X = rng.normal(size=(240, 3)) + np.where(yes, .8, -.8)[:, None]
        words = np.where(yes, "binds", "not")
        y = words.astype(object)
        y[160:] = None
        model = lapis.AutoClassifier(bags=True, candidates="linear,misvm")
        said = model.fit_predict(X, y, groups=bags)
        self.assertGreater((said == words)[160:].mean(), .8)
        for given in (said, model.predict(X[::-1], groups=bags[::-1])):
            whole = given.reshape(60, 4)
            self.assertTrue((whole == whole[:, :1]).all())
        self.assertIn("misvm", {c["method"] for c in model.candidates_})
        self.assertEqual(model.instance_scores_.shape, (240, 1))
        self.assertEqual(set(model.instance_labels_), {"binds", "not"})
        self.assertEqual(model.predict_instances(X, bags).shape, (240,))
        read = pickle.loads(pickle.dumps(model))
        np.testing.assert_allclose(read.predict_proba(X, groups=bags),
                                   model.predict_proba(X, groups=bags))
        with self.assertRaisesRegex(ValueError, "group"):
            model.predict(X)
        with self.assertRaisesRegex(ValueError, "bag"):
            model.fit(X, np.arange(240) % 2, groups=bags)
        X[0, 0] = np.nan  # is filled
        self.assertTrue(hasattr(model.fit(X, y, groups=bags),
                                "instance_labels_"))
        y[bags < 20] = "third"
        with self.assertWarnsRegex(lapis.LapisWarning, "misvm"):
            model.fit(X, y, groups=bags)
        self.assertFalse(hasattr(model, "instance_labels_"))
        with self.assertRaisesRegex(ValueError, "misvm"):
            model.predict_instances(X, bags)

    def test_processes_side_by_side(self):
        """joblib's workers, and a forked child after a fit."""
        X, y, P = two_classes(60)
        grid = {"C": [0.1, 1.0]}
        one, two = (GridSearchCV(
            lapis.SVMPlusClassifier(), grid, cv=lapis.Folds(3), n_jobs=jobs)
            .fit(X, y, X_priv=P).cv_results_["mean_test_score"].tolist()
            for jobs in (1, 2))
        self.assertEqual(one, two)
        clean, dirty = low_rank()
        want = lapis.RobustPCA().fit(dirty).low_rank_
        with multiprocessing.get_context("fork").Pool(1) as pool:
            there = pool.apply_async(fit_rpca, (dirty,)).get(timeout=500)
        np.testing.assert_allclose(there, want, atol=1e-6)

    def test_weights_repeat_samples(self):
        X, y, _ = two_classes(50)
        weight = np.arange(50) % 3
        rows = np.repeat(np.arange(50), weight)
        one = lapis.SVMPlusClassifier(tol=1e-10).fit(
            X, y, sample_weight=weight)
        two = lapis.SVMPlusClassifier(tol=1e-10).fit(X[rows], y[rows])
        np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-4)

    def test_samples_of_no_weight_teach_nothing(self):
        X, _, _ = two_classes(60)
        y = np.array(["a", "b", "c"])[np.arange(60) % 3]
        weight = np.where(y == "b", 0.0, 1.0)
        one = lapis.SVMPlusClassifier(probability=True).fit(
            X, y, sample_weight=weight)
        two = lapis.SVMPlusClassifier(probability=True).fit(
            X[y != "b"], y[y != "b"])
        self.assertEqual(one.classes_.tolist(), ["a", "c"])
        self.assertEqual(one.predict_proba(X).shape, (60, 2))
        np.testing.assert_array_equal(one.predict_proba(X),
                                      two.predict_proba(X))
        self.assertEqual(one.transduction_.shape, (60,))  # of every sample
        several = lapis.SVMPlusClassifier().fit(
            X, np.c_[y == "a", y != "a"].astype(int), sample_weight=weight)
        self.assertEqual(several.transduction_.shape, (60, 2))
        K = X @ X.T
        with self.assertRaisesRegex(ValueError, "the samples that are learnt"):
            lapis.SVMPlusClassifier(kernel="precomputed").fit(
                K, y, sample_weight=weight)

    def test_words_and_numbers_that_mean_unknown(self):
        X, truth, P = two_classes(60)
        coded, holes = X.copy(), X.copy()
        coded[5, 1], holes[5, 1] = -999, np.nan
        words = np.where(truth > 0, "yes", "no").astype(object)
        asked = words.copy()
        for word in ("", "NA", "?", "nobody knows"):
            asked[40:], words[40:] = word, None
            one = lapis.MatrixCompletionClassifier(
                mu_rel=.05, missing=[word, -999]).fit(coded, asked)
            two = lapis.MatrixCompletionClassifier(mu_rel=.05).fit(holes,
                                                                   words)
            self.assertEqual(one.classes_.tolist(), ["no", "yes"])
            np.testing.assert_array_equal(one.scores_, two.scores_)
            np.testing.assert_array_equal(one.predict(coded),
                                          two.predict(holes))
        known = np.where(np.arange(60) < 40, truth, 9)
        for cls in (lapis.RobustLDA, lapis.RobustRegressor):
            one = cls(missing=(9, -999)).fit(coded, known)
            two = cls().fit(holes, np.where(known == 9, np.nan, truth))
            np.testing.assert_array_equal(one.transduction_,
                                          two.transduction_)
        for cls in (lapis.LowRankImputer, lapis.Chi2Map):
            one = cls(missing=[999, -1]).fit_transform(np.abs(coded))
            two = cls().fit_transform(np.abs(holes))
            np.testing.assert_array_equal(one, two)
        for form in (scipy.sparse.csr_matrix, scipy.sparse.coo_matrix):
            one = lapis.LowRankImputer(missing=-999).fit(form(coded))
            two = lapis.LowRankImputer(scale=False).fit(holes)
            np.testing.assert_allclose(one.lam_, two.lam_)
            np.testing.assert_array_equal(
                one.transform(form(coded)), one.transform(form(np.where(
                    np.isnan(holes), 0, holes))))
        one = lapis.RobustPCA(missing=-999).fit(coded)
        np.testing.assert_array_equal(one.low_rank_,
                                      lapis.RobustPCA().fit(holes).low_rank_)

    def test_weights_of_robust_fits(self):
        X, y, _ = two_classes(60)
        weight = np.arange(60) % 3
        rows = np.repeat(np.arange(60), weight)
        one = lapis.RobustLDA(denoise="none").fit(X, y, sample_weight=weight)
        two = lapis.RobustLDA(denoise="none").fit(X[rows], y[rows])
        np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-8)
        self.assertEqual(one.transduction_.shape, (60,))
        one = lapis.solve("rr", X, Y=y, sample_weight=weight, denoise="none")
        two = lapis.solve("rr", X[rows], Y=y[rows], denoise="none")
        np.testing.assert_allclose(one["weights"], two["weights"], rtol=1e-8)
        with self.assertRaisesRegex(ValueError, "weight"):
            lapis.RobustLDA(assign="knn").fit(X, y, sample_weight=weight)

    def test_weights_of_labels(self):
        X, y, _ = two_classes(60)
        weight = 1.0 + np.arange(60) % 3
        X[5, 1] = np.nan

        def scores(**more):
            return lapis.MatrixCompletionClassifier(mu_rel=.05).fit(
                X, y, **more).scores_

        np.testing.assert_array_equal(scores(sample_weight=weight),
                                      scores(sample_weight=4 * weight))
        np.testing.assert_array_equal(scores(), scores(sample_weight=2.0))
        self.assertFalse(np.allclose(scores(), scores(sample_weight=weight)))
        weight[::4] = 0  # no part of the completion, answered as new ones
        one = lapis.MatrixCompletionClassifier(mu_rel=.05).fit(
            X, y, sample_weight=weight)
        there = weight > 0
        two = lapis.MatrixCompletionClassifier(mu_rel=.05).fit(
            X[there], y[there], sample_weight=weight[there])
        np.testing.assert_array_equal(one.scores_[there], two.scores_)
        np.testing.assert_array_equal(one.transduction_[~there],
                                      two.predict(X[~there]))
        self.assertEqual(one.low_rank_.shape, X.shape)
        with self.assertRaisesRegex(ValueError, "weight of row 1 is -1"):
            scores(sample_weight=np.where(np.arange(60) == 1, -1, 1.0))

    def test_labels_of_a_model_file_are_of_the_kind_given(self):
        X, y, _ = two_classes(40)
        for pair in ((2 ** 60 + 1, 5), ("no", "yes"),
                     np.array([2 ** 64 - 1, 5], np.uint64),
                     np.array(["2020-02-01", "2021-01-01"], "M8[D]"),
                     np.array([b"caf\xc3\xa9", b"b"]),
                     np.array([b"no", b"yes"], object),
                     np.array([date(2020, 2, 1), date(1999, 1, 1)]),
                     np.array([datetime(2020, 2, 1, 3, 4, 5, 6),
                               datetime(1999, 1, 1)])):
            given = np.where(y > 0, *pair)
            self.check_kinds_of_file(X, given, given)
        for pair in ((1, 2), (True, False), (1.0, 2.0)):
            given = np.where(y > 0, *pair)
            beside = given.astype(object)
            beside[3] = None
            self.check_kinds_of_file(X, given, beside)

    def test_classes_that_are_no_words_are_fitted_and_not_saved(self):
        X, y, _ = two_classes(40)
        for lost, other, kind in ((b"\xff", b"b", "S3"),
                                  (b"\xff", b"b", object),
                                  (b"a\0b", b"b", "S3"), ("a\0b", "b", "U3"),
                                  (np.bytes_(b"a"), np.bytes_(b"b"), object)):
            given = np.array([lost if up else other for up in y > 0], kind)
            model = lapis.SVMPlusClassifier().fit(X, given)
            said = model.predict(X)
            self.assertEqual(set(said.tolist()), {lost, other})
            np.testing.assert_array_equal(
                pickle.loads(pickle.dumps(model)).predict(X), said)
            with tempfile.TemporaryDirectory() as folder:
                with self.assertRaisesRegex(ValueError, "cannot be written"):
                    lapis.save(model, folder + "/m.lapis")

    def check_kinds_of_file(self, X, truth, given):
        for cls in CLASSIFIERS[:3]:
            model = cls().fit(X, given)
            with tempfile.NamedTemporaryFile(suffix=".lapis") as file:
                lapis.save(model, file.name)
                back = lapis.load(file.name)
            self.assertEqual(back.classes_.dtype, truth.dtype)
            np.testing.assert_array_equal(back.classes_, np.unique(truth))
            np.testing.assert_array_equal(back.predict(X), model.predict(X))
            self.assertEqual(back.predict(X).dtype, truth.dtype)
            self.assertEqual(type(back.classes_[0]), type(model.classes_[0]))
            if truth.dtype.kind not in "MSO":  # scikit-learn scores no dates
                self.assertEqual(back.score(X, truth),
                                 model.score(X, truth))

    def test_models_whose_classes_have_no_kind_answer_texts(self):
        X, y, _ = two_classes(40)
        model = lapis.SVMPlusClassifier().fit(X, np.where(y > 0, 1, 2))
        model._model.set_text("class_texts", ["1", "2"])  # as of words
        with tempfile.NamedTemporaryFile(suffix=".lapis") as file:
            lapis.save(model, file.name)
            self.assertEqual(lapis.load(file.name).classes_.tolist(),
                             ["1", "2"])

    def test_what_chooses_is_kept_as_itself(self):
        X, y, _ = two_classes(90)
        words = np.where(y > 0, "up", "down").astype(object)
        three = np.where(X[:, 0] > 1, "far", words)
        both = np.column_stack([y > 0, X[:, 0] > 1]).astype(float)
        both[::7] = np.nan
        for given, who in ((words, "linear"), (three, "trees"), (y, "mc"),
                           (both, "linear")):
            model = lapis.AutoClassifier(candidates=who, coverage=.8,
                                         random_state=3).fit(X, given)
            back = self.through_a_file(model)
            self.assertEqual(back.get_params(), model.get_params())
            np.testing.assert_array_equal(back.classes_, model.classes_)
            for ask in ("predict", "predict_proba", "decision_function",
                        "predict_set"):
                np.testing.assert_array_equal(getattr(back, ask)(X),
                                              getattr(model, ask)(X))
        for given in (X[:, 0] + X[:, 1], X[:, :2] + 1):
            model = lapis.AutoRegressor(candidates="linear",
                                        coverage=.8).fit(X, given)
            back = self.through_a_file(model)
            np.testing.assert_array_equal(back.predict(X), model.predict(X))
            np.testing.assert_array_equal(back.predict_interval(X),
                                          model.predict_interval(X))

    def through_a_file(self, model):
        with tempfile.NamedTemporaryFile(suffix=".lapis") as file:
            lapis.save(model, file.name)
            back = lapis.load(file.name)
        self.assertIs(type(back), type(model))
        return back

    def test_what_has_no_model_file(self):
        X, y, _ = two_classes(40)
        for model in (lapis.LowRankImputer(lam=1.0).fit(X),
                      make_pipeline(lapis.SVMPlusClassifier()).fit(X, y)):
            with self.assertRaisesRegex(TypeError, "^[A-Z]\\w+ has no model "):
                lapis.save(model, "never.lapis")
        with self.assertRaises(NotFittedError):
            lapis.save(lapis.RobustPCA(), "never.lapis")

    def test_suspects_are_the_swapped_labels(self):
        X, y, _ = two_classes(80)
        wrong = np.argsort(-np.abs(X[:, 0] - X[:, 1]))[:3]
        y[wrong] *= -1
        index, margin = lapis.suspects(
            lapis.MatrixCompletionClassifier(mu_rel=0.01), X, y, n=3)
        self.assertEqual(set(index[:, 0]), set(wrong))
        with self.assertRaises(NotFittedError):  # looking is not fitting
            model = lapis.MatrixCompletionClassifier(mu_rel=0.01)
            lapis.suspects(model, X, y, n=3)
            model.predict(X)
        with self.assertRaisesRegex(TypeError, "RobustPCA has no predict_pr"):
            lapis.suspects(lapis.RobustPCA(), X, y)
        self.assertTrue((margin > 0).all() and (np.diff(margin) <= 0).all())

    def test_suspects_of_chosen_settings_are_those_of_the_command(self):
        X, y, _ = two_classes(300)
        wrong = np.arange(0, 300, 8)
        y[wrong] *= -1
        model = lapis.AutoClassifier(candidates="linear")
        for known, said in ((300, True), (50, False), (14, False)):
            given = np.where(np.arange(300) < known, y, np.nan)
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                found = lapis.suspects(model, X, given, n=6)
                index, margin = found
            unsaid = [w for w in heard if "checkable label" in str(w.message)]
            self.assertEqual(len(unsaid), int(not said))
            text, out = command("fit", "auto", "a.npz", "--candidates",
                                "linear", "--suspects", 6, "-o", "out.npz",
                                a={"X": X, "Y": given})
            np.testing.assert_array_equal(index, out["suspect_index"])
            np.testing.assert_array_equal(margin, out["suspect_margin"])
            self.assertEqual(np.isnan(margin).all(), not said)
            self.assertIn(found.says, text)
            least, most, checkable, expected = out["expected_wrong"]
            self.assertEqual(found.checkable, checkable)
            self.assertEqual(
                (found.least, found.most, found.expected),
                (least, most, expected) if said else (None, None, None))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rather = lapis.suspects(model, X, given)
            self.assertLessEqual(len(rather.index), most)
            if said:  # the most doubtful of these are the six
                np.testing.assert_array_equal(rather.index[:6], index)
                self.assertTrue((rather.margin >= .5).all())

    def test_sparse_features_are_taken_as_the_library_takes_them(self):
        X, y, _ = two_classes(60)
        X[np.random.default_rng(1).random(X.shape) < .3] = 0
        groups = np.arange(60) // 2
        for model in (lapis.AutoClassifier(candidates="linear,trees"),
                      lapis.AutoRegressor(candidates="rr,trees"),
                      lapis.MatrixCompletionClassifier(mu_rel=.1),
                      lapis.MatrixCompletionClassifier(
                          mu_rel=.1, absent="missing")):
            seen = X
            given = scipy.sparse.coo_matrix(X)
            if model.absent == "missing":
                seen = np.where(X == 0, np.nan, X)
            weight = np.arange(60) % 7 > 0
            whose = groups if "Auto" in str(model) else None
            sparse = clone(model).fit(given, y, whose, weight)
            dense = model.set_params(absent="zero").fit(seen, y, whose,
                                                        weight)
            np.testing.assert_array_equal(sparse.predict(given),
                                          dense.predict(seen))
            np.testing.assert_array_equal(sparse.transduction_,
                                          dense.transduction_)
        found = lapis.suspects(lapis.AutoClassifier(candidates="linear"),
                               given, y, n=5)
        self.assertEqual(found.checkable, 60)
        with self.assertRaisesRegex(TypeError, "toarray"):
            lapis.AutoImputer().fit(given)

    def test_booleans_are_called_what_they_are(self):
        X, y, _ = two_classes(60)
        few = np.arange(60) == 3
        for model in (lapis.AutoClassifier(candidates="linear"),
                      lapis.MatrixCompletionClassifier(mu_rel=.1),
                      lapis.RobustLDA(), lapis.SVMPlusClassifier(),
                      lapis.MISVMPlusClassifier()):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X, few)
            said = " ".join(note.text for note in model.notes_)
            self.assertIn('"True"', said)
            self.assertNotIn('"1"', said)
            for given in (y > 0, y):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    answer = model.fit(X, given).predict(X)
                self.assertEqual(answer.dtype, given.dtype)
                self.assertEqual(model.classes_.tolist(),
                                 np.unique(given).tolist())
            back = self.through_a_file(model.fit(X, y > 0))
            np.testing.assert_array_equal(back.predict(X), model.predict(X))
            self.assertEqual(back.predict(X).dtype, bool)
        many = np.stack([y > 0, X[:, 1] > 0], axis=1)
        model = lapis.AutoClassifier(candidates="linear").fit(X, many)
        same = lapis.AutoClassifier(candidates="linear").fit(X, many * 1.)
        np.testing.assert_array_equal(model.predict(X), same.predict(X) > 0)

    def test_one_class_is_refused_at_once(self):
        X, y, _ = two_classes(60)
        for model in (lapis.AutoClassifier(),
                      lapis.AutoClassifier(candidates="trees"),
                      lapis.MatrixCompletionClassifier(),
                      lapis.RobustLDA(), lapis.SVMPlusClassifier()):
            for given in (np.full(60, "yes"), np.where(y > 0, 1, np.nan)):
                with warnings.catch_warnings():  # nothing else is said
                    warnings.simplefilter("error")
                    with self.assertRaisesRegex(ValueError, "one class only"):
                        model.fit(X, given)

    def test_lists_of_words_are_lists_or_texts(self):
        X, y, _ = two_classes(60)
        for setting, forms in (
                ("candidates", ("linear,trees", "linear, trees",
                                ["linear", "trees"], ("linear", "trees"))),
                ("map", ("standard,l2", "standard, l2", ["standard", "l2"],
                         ("standard", "l2")))):
            said = [lapis.AutoClassifier(**{"candidates": "linear",
                                            setting: form}).fit(X, y)
                    for form in forms]
            for model in said[1:]:
                self.assertEqual(model.choice_, said[0].choice_)
                np.testing.assert_array_equal(model.predict_proba(X),
                                              said[0].predict_proba(X))
        with self.assertRaisesRegex(ValueError, "'tree'"):
            lapis.AutoClassifier(candidates=["linear", "tree"]).fit(X, y)

    def test_what_a_fit_lacks_says_with_what_it_is_there(self):
        X, y, _ = two_classes(60)
        lacks = (
            (lapis.AutoClassifier(candidates="linear"), (
                ("feature_importances_", "importance=True"),
                ("feature_directions_", "importance=True"),
                ("asked_", "ask"), ("sets_", "coverage"),
                ("held_out_", "held_out"), ("instance_labels_", "bags=True"))),
            (lapis.AutoRegressor(candidates="linear"), (
                ("feature_importances_", "importance=True"),
                ("intervals_", "coverage"))),
            (lapis.SVMPlusClassifier(kernel="rbf"), (
                ("coef_", "kernel='linear'"),
                ("predict_proba", "probability=True"))),
            (lapis.RobustPCA(), (("filled_", "refill"),)))
        for model, attributes in lacks:
            for name, _ in attributes:  # nothing is missing of what is not
                with self.assertRaises(NotFittedError):
                    getattr(model, name)
            model.fit(X, X @ np.arange(5) if "Reg" in str(model) else y)
            for name, setting in attributes:
                with self.subTest(name), self.assertRaisesRegex(
                        AttributeError, f"has no {name}.*`{setting}`"):
                    getattr(model, name)
            self.assertFalse(hasattr(model, "no_such_"))
            self.assertEqual(vars(copy.deepcopy(model)).keys(),
                             vars(model).keys())

    def test_stopping_early_warns(self):
        _, X = low_rank()
        with self.assertWarnsRegex(ConvergenceWarning, "max-iters") as seen:
            lapis.RobustPCA(max_iters=2).fit(X)
        self.assertEqual(seen.filename, __file__)  # points at the caller
        data, y, _ = two_classes(60)
        with self.assertWarnsRegex(ConvergenceWarning, "precision-floor"):
            lapis.SVMPlusClassifier(tol=0).fit(data, y)
        with self.assertRaises(NotFittedError):
            lapis.RobustPCA().transform(X)


if __name__ == "__main__":
    unittest.main()
