# needs: numpy sklearn joblib distributed
"""Searches whose fits run beside each other: joblib's backends loky (processes),
threading and dask give what one job gives."""
import unittest
import warnings

import joblib
import numpy as np
from distributed import Client
from sklearn.model_selection import GridSearchCV, cross_val_predict

import lapis
from common import two_classes

CASES = (
    (lapis.MatrixCompletionClassifier(mu_rel=0.1), {"mu_rel": [0.3, 0.1]}),
    (lapis.SVMPlusClassifier(), {"C": [0.1, 1.0], "kernel": ["rbf"]}),
    (lapis.RobustLDA(), {"lambda_": [0.1, 1.0]}),
)


def search(model, grid, jobs, backend=None):
    """Scores of every fold and point, who is best, and scores of all samples
    while they are hidden."""
    X, y, _ = two_classes(60)
    folds = lapis.Folds(3)

    def both():
        found = GridSearchCV(model, grid, cv=folds, n_jobs=jobs).fit(X, y)
        hidden = cross_val_predict(found.best_estimator_, X, y, cv=folds,
                                   method="decision_function", n_jobs=jobs)
        return found, hidden
    if backend is None:
        found, hidden = both()
    else:
        with joblib.parallel_backend(backend):
            found, hidden = both()
    scores = [found.cv_results_[f"split{k}_test_score"] for k in range(3)]
    return np.array(scores), found.best_params_, np.asarray(hidden)


class SideBySide(unittest.TestCase):
    def check(self, backend):
        for model, grid in CASES:
            with self.subTest(model=type(model).__name__):
                scores, best, hidden = search(model, grid, 1)
                self.assertTrue(np.isfinite(scores).all())
                got = search(model, grid, 2, backend)
                np.testing.assert_allclose(got[0], scores, rtol=0, atol=1e-12)
                self.assertEqual(got[1], best)
                np.testing.assert_allclose(got[2], hidden, rtol=1e-12,
                                           atol=1e-12)

    def test_loky(self):
        self.check("loky")

    def test_threading(self):
        self.check("threading")

    def test_dask(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # dask's own
            with Client(processes=False, n_workers=2, threads_per_worker=1,
                        dashboard_address=None):
                self.check("dask")

    def test_threads_have_a_context_each(self):
        """Eight fits of four threads: what each says is its own."""
        X, y, _ = two_classes(80)
        jobs = [(0.05 * (k % 3 + 1), k % 2) for k in range(8)]

        def fit(mu_rel, seed):
            model = lapis.MatrixCompletionClassifier(
                mu_rel=mu_rel, random_state=seed, n_jobs=1)
            return model.fit(X, y).decision_function(X)
        want = [fit(*job) for job in jobs]
        with joblib.parallel_backend("threading"):
            got = joblib.Parallel(n_jobs=4)(
                joblib.delayed(fit)(*job) for job in jobs)
        for one, other in zip(want, got):
            np.testing.assert_array_equal(one, other)


if __name__ == "__main__":
    unittest.main()
