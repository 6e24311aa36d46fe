"""The imputer: what it keeps, what it finds, what it refuses."""
# needs: numpy sklearn scipy pandas
import pickle
import unittest
import warnings

import numpy as np
import pandas
import scipy.sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import lapis


def holes(n=80, d=50, rank=3, seen=0.5, noise=0.2, seed=0):
    """(Z of low rank, X with noise and NaN)"""
    g = np.random.default_rng(seed)
    Z = g.standard_normal((n, rank)) @ g.standard_normal((rank, d)) + 2
    X = Z + noise * g.standard_normal((n, d))
    X[g.random((n, d)) > seen] = np.nan
    X[np.arange(n), np.arange(n) % d] = Z[np.arange(n), np.arange(n) % d]
    return Z, X


def as_sparse(X):
    row, column = np.nonzero(~np.isnan(X))
    return scipy.sparse.csr_matrix((X[row, column], (row, column)),
                                   shape=X.shape)


class Auto(unittest.TestCase):
    def test_check_estimator(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_estimator(lapis.AutoImputer())

    def test_curves_are_filled_and_so_are_new_rows(self):
        g = np.random.default_rng(4)
        a = g.uniform(-1, 1, 200)
        Z = np.stack([a, a ** 2, np.sin(3 * a)], axis=1)
        X = np.where(g.random(Z.shape) < .15, np.nan, Z)
        imputer = lapis.AutoImputer(random_state=1)
        filled = imputer.fit_transform(X[:150])
        seen = ~np.isnan(X[:150])
        self.assertTrue((filled[seen] == X[:150][seen]).all())
        low = lapis.LowRankImputer().fit_transform(X[:150])
        error, lines = (np.sqrt(np.mean((out - Z[:150])[~seen] ** 2))
                        for out in (filled, low))
        self.assertLess(error, .8 * lines)
        gaps = np.isnan(X[150:])
        more = imputer.transform(X[150:])
        self.assertLess(np.abs((more - Z[150:])[gaps]).mean(), .2)
        np.testing.assert_allclose(imputer.transform(X[150:152]), more[:2],
                                   atol=1e-8)
        np.testing.assert_allclose(
            pickle.loads(pickle.dumps(imputer)).transform(X[150:]), more)

    def test_what_nothing_tells_of_is_filled_with_its_mean(self):
        g = np.random.default_rng(6)
        a = g.random(150)
        X = np.empty((150, 4), dtype=object)
        X[:, 0], X[:, 2], X[:, 3] = a, g.standard_normal(150), 10 * a
        X[:, 1] = np.where(a < .4, "low", "top")
        X[g.random(X.shape) < .15] = None
        gone = np.array([v is None for v in X.ravel()]).reshape(X.shape)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            filled = lapis.AutoImputer().fit_transform(X)
        self.assertIn("auto: column 2: hidden cells", str(said[0].message))
        mean = X[~gone[:, 2], 2].astype(float).mean()
        np.testing.assert_allclose(filled[gone[:, 2], 2].astype(float), mean)

    def test_words_are_filled_with_words(self):
        g = np.random.default_rng(5)
        a = g.random(120)
        kind = np.array(["low", "mid", "top"], dtype=object)[
            np.minimum((3 * a).astype(int), 2)]
        truth = np.empty((120, 3), dtype=object)
        truth[:, 0], truth[:, 1], truth[:, 2] = a, kind, 10 * a
        X = truth.copy()
        X[g.random(X.shape) < .15] = None
        gone = np.array([v is None for v in X.ravel()]).reshape(X.shape)
        imputer = lapis.AutoImputer().fit(X)
        self.assertEqual(imputer.categories_,
                         [None, ["low", "mid", "top"], None])
        filled = imputer.fit_transform(X)
        self.assertTrue((filled[~gone] == X[~gone]).all())
        words = gone[:, 1]
        self.assertGreater((filled == truth)[words, 1].mean(), .7)
        self.assertEqual(set(filled[:, 1]), {"low", "mid", "top"})
        self.assertIn(imputer.transform([[.9, None, 9.1]])[0, 1],
                      ("mid", "top"))
        with self.assertRaisesRegex(ValueError, "column 1.*'high'"):
            imputer.transform([[.9, "high", 9.1]])
        frame = pandas.DataFrame(X, columns=["share", "kind", "tenfold"])
        imputer.fit(frame)
        frame["tenfold"] = frame["tenfold"].astype(float) * 100
        with self.assertWarnsRegex(UserWarning,
                                   "tenfold: .* 100 times larger"):
            imputer.transform(frame)

    def test_places_are_those_of_X(self):
        X = np.empty((30, 3), dtype=object)
        X[:, 0] = np.resize(["low", "mid", "top"], 30)
        X[:, 1:] = np.arange(60.).reshape(30, 2)
        for value, said in ((np.inf, "inf"), (1e200, "1e.200")):
            bad = X.copy()
            bad[4, 2] = value
            place = f"X is {said} at row 4, column 2"
            with self.assertRaisesRegex(ValueError, place):
                lapis.AutoImputer().fit(bad)
            with self.assertRaisesRegex(ValueError, place):
                lapis.AutoImputer().fit(X).transform(bad)
            with self.assertRaisesRegex(ValueError, place[:-1] + "1"):
                lapis.LowRankImputer().fit(bad[:, 1:].astype(float))
        X[:, 2] = np.nan
        with self.assertWarnsRegex(lapis.LapisWarning, "1 of 3 .*, column 2"):
            lapis.AutoImputer().fit(X)

    def test_frames_keep_their_kinds_of_columns(self):
        X = pandas.DataFrame({"number": np.arange(40.),
                              "word": np.resize(["a", "b"], 40)},
                             index=np.arange(40) + 7)
        X.loc[9, "number"], X.loc[12, "word"] = np.nan, None
        imputer = lapis.AutoImputer().set_output(transform="pandas")
        for out in (imputer.fit_transform(X), imputer.transform(X)):
            self.assertEqual(list(out.columns), ["number", "word"])
            self.assertEqual(out["number"].dtype, np.float64)
            self.assertTrue((out.index == X.index).all())
            self.assertFalse(out.isna().any().any())
        X["day"] = pandas.date_range("2020-01-01", periods=40)
        with self.assertRaisesRegex(ValueError, "X.0, 2. .'day'. is the date"):
            lapis.AutoImputer().fit(X)


class Imputer(unittest.TestCase):
    def test_check_estimator(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_estimator(lapis.LowRankImputer())

    def test_seen_cells_stay_and_the_rest_comes_near(self):
        Z, X = holes()
        imputer = lapis.LowRankImputer()
        out = imputer.fit_transform(X)
        seen = ~np.isnan(X)
        self.assertTrue((out[seen] == X[seen]).all())
        error = np.sqrt(np.mean((out - Z)[~seen] ** 2))
        self.assertLess(error, 0.25 * np.std(Z))
        self.assertLessEqual(imputer.info_.gap, imputer.tol)
        lams = [point[0] for point in imputer.path_]
        self.assertEqual(lams, sorted(lams, reverse=True))

    def test_the_answer_is_optimal(self):
        """Recomputed from X and the factors: the residual's norm is lam, and
        it aligns with what the factors span."""
        _, X = holes(seed=1)
        imputer = lapis.LowRankImputer(lam=4.0, tol=1e-9, center=False)
        imputer.fit(X)
        Z = imputer.factors_ @ imputer.feature_factors_.T
        rest = np.where(np.isnan(X), 0, X - Z)
        nuclear = np.linalg.svd(Z, compute_uv=False).sum()
        self.assertLess(np.linalg.norm(rest, 2), 4 * (1 + 1e-3))
        self.assertAlmostEqual((rest * Z).sum() / (4 * nuclear), 1, places=5)
        self.assertAlmostEqual(imputer.singular_values_.sum() / nuclear, 1,
                               places=7)

    def test_a_small_weight_is_no_dearer(self):
        """Noise leaves no column out; the answer is optimal all the same, and
        nobody is asked for units that lam has been given in."""
        rng = np.random.default_rng(9)
        X = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 96))
        X += rng.normal(size=X.shape) * rng.uniform(.1, 2, 96)
        X[rng.random(X.shape) < .3] = np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            imputer = lapis.LowRankImputer(lam=2.0, center=False).fit(X)
        Z = imputer.factors_ @ imputer.feature_factors_.T
        rest = np.where(np.isnan(X), 0, X - Z)
        nuclear = np.linalg.svd(Z, compute_uv=False).sum()
        objective = (rest ** 2).sum() / 2 + 2 * nuclear
        rest *= min(1, 2 / np.linalg.norm(rest, 2))
        known = np.nan_to_num(X)
        dual = (rest * known).sum() - (rest ** 2).sum() / 2
        self.assertLess((objective - dual) / objective, 2e-4)
        self.assertGreater(imputer.singular_values_.size, 80)
        self.assertLess(imputer.n_iter_, 100)

    def test_no_unit_decides(self):
        Z, X = holes(seed=8)
        unit = 10.0 ** np.random.default_rng(8).uniform(-3, 3, X.shape[1])
        hidden = np.isnan(X)
        plain = lapis.LowRankImputer(random_state=0).fit(X)
        imputer = lapis.LowRankImputer(random_state=0).fit(X * unit)
        out = imputer.transform(X * unit)
        np.testing.assert_allclose(out / unit, plain.transform(X), atol=1e-6)
        completed = (imputer.factors_ @ imputer.feature_factors_.T
                     * imputer.scale_ + imputer.mean_)
        rows, columns = np.nonzero(hidden)
        np.testing.assert_allclose(completed[hidden],
                                   imputer.predict_cells(rows, columns))

        def error(Y):
            return np.sqrt(np.mean((Y / unit - Z)[hidden] ** 2)) / np.std(Z)
        self.assertLess(error(out), 0.25)
        left = lapis.LowRankImputer(scale=False, random_state=0)
        self.assertGreater(error(left.fit_transform(X * unit)), 0.6)

    def test_what_is_scaled(self):
        _, X = holes(seed=9)
        for imputer, value, scaled in (
                (lapis.LowRankImputer(), X, True),
                (lapis.LowRankImputer(), as_sparse(X), False),
                (lapis.LowRankImputer(lam=4.0), X, False),
                (lapis.LowRankImputer(lam=4.0, scale=True), X, True),
                (lapis.LowRankImputer(scale=True), as_sparse(X), True),
                (lapis.LowRankImputer(scale=False), X, False)):
            imputer.fit(value)
            self.assertEqual((imputer.scale_ != 1).all(), scaled)
            self.assertEqual((imputer.scale_ == 1).all(), not scaled)
        with self.assertRaisesRegex(ValueError, "scale is 'standard'"):
            lapis.LowRankImputer(scale="standard").fit(X)

    def test_sparse_is_dense_with_holes(self):
        _, X = holes(seed=2)
        dense = lapis.LowRankImputer(lam=5.0).fit_transform(X)
        stored = lapis.LowRankImputer(lam=5.0).fit_transform(as_sparse(X))
        np.testing.assert_array_equal(dense, stored)

    def test_stored_zeros_are_seen(self):
        _, X = holes(seed=3)
        X[0, np.flatnonzero(~np.isnan(X[0]))] = 0.0
        out = lapis.LowRankImputer(lam=5.0).fit_transform(as_sparse(X))
        self.assertTrue((out[0][~np.isnan(X[0])] == 0).all())

    def test_training_rows_fold_in_to_themselves(self):
        _, X = holes(seed=4)
        imputer = lapis.LowRankImputer(lam=4.0, tol=1e-10)
        out = imputer.fit_transform(X)
        np.testing.assert_allclose(imputer.transform(X), out, atol=1e-4)

    def test_other_units_are_remarked(self):
        rng = np.random.default_rng(0)
        X = 50 + rng.normal(size=(60, 2)) @ rng.normal(size=(2, 6))
        for given in ({}, {"center": False, "scale": False}):
            imputer = lapis.LowRankImputer(**given).fit(X)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                imputer.transform(X[:5])
            new = X[:5].copy()
            new[:, 3] *= 1000
            with self.assertWarnsRegex(lapis.LapisWarning, "column 3 "):
                imputer.transform(new)

    def test_empty_rows_and_columns(self):
        _, X = holes(seed=5)
        X[3], X[:, 7] = np.nan, np.nan
        with self.assertWarnsRegex(UserWarning, "1 of 50 features"):
            imputer = lapis.LowRankImputer(lam=4.0).fit(X)
        out = imputer.transform(X)
        np.testing.assert_allclose(out[3], imputer.mean_)
        self.assertTrue((out[:, 7] == 0).all())
        cells = imputer.predict_cells([0, 3], [7, 1])
        np.testing.assert_allclose(cells, [0, imputer.mean_[1]])

    def test_refusals(self):
        _, X = holes(seed=6)
        stored = as_sparse(X)
        stored.data[0] = np.nan
        with self.assertRaisesRegex(ValueError, "stores NaN"):
            lapis.LowRankImputer().fit(stored)
        with self.assertRaisesRegex(ValueError, "lam is 0"):
            lapis.LowRankImputer(lam=0).fit(X)
        for name, wrong in {"lam": (-1, np.inf, np.nan, "cv", True),
                            "hide": (0, 1, -0.1, np.nan, "a tenth", None),
                            "path": (0, 2.5, np.inf, None, "long")}.items():
            for value in wrong:
                with self.assertRaisesRegex(
                        ValueError, f"^{name} is .*; it must be a "):
                    lapis.LowRankImputer(**{name: value}).fit(X)
        large = X.copy()
        large[2, 1] = -1e200
        for form in (large, as_sparse(large)):  # whose squares are infinite
            with self.assertRaisesRegex(ValueError, "-1e.200 at row 2, column"
                                        " 1, too large"):
                lapis.LowRankImputer().fit(form)
            with self.assertRaisesRegex(ValueError, "too large"):
                lapis.LowRankImputer(lam=1.0).fit(X).transform(form)
        with self.assertRaisesRegex(ValueError, "no value that is seen"):
            lapis.LowRankImputer().fit(np.full((3, 3), np.nan))

    def test_it_travels(self):
        _, X = holes(seed=7)
        imputer = lapis.LowRankImputer(lam=4.0).fit(X)
        other = pickle.loads(pickle.dumps(imputer))
        np.testing.assert_array_equal(imputer.transform(X),
                                      other.transform(X))
        self.assertEqual(clone(imputer).lam, 4.0)


class Certificate(unittest.TestCase):
    def test_the_dual_is_sparse_and_proves_the_gap(self):
        _, X = holes(seed=8)
        mu = 4.0 / (~np.isnan(X)).sum()
        result = lapis.solve("mc", X, mu=mu, solver="factored", tol=1e-6,
                             certificate=True)
        G = result["dual"]
        self.assertTrue(scipy.sparse.issparse(G))
        seen = ~np.isnan(X)
        self.assertEqual(G.nnz, seen.sum())
        y = G.toarray()[seen]
        dual = -(y @ X[seen] + seen.sum() * (y @ y) / 2)
        self.assertLess(np.linalg.norm(G.toarray(), 2), mu * (1 + 1e-12))
        self.assertAlmostEqual(dual, result.info.dual, places=12)


if __name__ == "__main__":
    unittest.main()
