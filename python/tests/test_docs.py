"""docs/python.md and the README: what they show is what happens."""
# needs: numpy sklearn matplotlib pandas scipy
import doctest
import os
import re
import sys
import tempfile
import unittest
import warnings
from pathlib import Path
from unittest import mock

import matplotlib
import numpy as np
from sklearn.svm import LinearSVC

import lapis
from common import changed, long

matplotlib.use("Agg")
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "python.md"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Page(unittest.TestCase):
    def test_the_page_runs(self):
        """Its blocks one after another, in a folder of their own."""
        text = PAGE.read_text()
        blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        self.assertGreater(len(blocks), 10)
        test = doctest.DocTestParser().get_doctest(
            "".join(blocks), {}, "python.md", str(PAGE), 0)
        said = []
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        home = os.getcwd()
        with tempfile.TemporaryDirectory() as folder, \
                warnings.catch_warnings():
            warnings.simplefilter("ignore")
            os.chdir(folder)
            try:
                runner.run(test, out=said.append)
            finally:
                os.chdir(home)
        self.assertEqual(runner.failures, 0, "".join(said))
        self.assertGreater(runner.tries, 40)

    def test_the_errata_run(self):
        """With the oracle, which shares no code with the library."""
        text = (ROOT / "docs" / "errata.md").read_text()
        blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        self.assertGreater(len(blocks), 10)
        test = doctest.DocTestParser().get_doctest(
            "".join(blocks), {}, "errata.md", "errata.md", 0)
        said = []
        runner = doctest.DocTestRunner()
        with mock.patch.object(sys, "path",
                               [str(ROOT / "tests" / "oracle"), *sys.path]):
            runner.run(test, out=said.append)
        self.assertEqual(runner.failures, 0, "".join(said))
        self.assertGreater(runner.tries, 40)

    if not changed("docs/errata.md", "tests/oracle"):
        test_the_errata_run = long(test_the_errata_run)

    def test_the_readme_runs(self):
        text = (ROOT / "README.md").read_text()
        block, = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        test = doctest.DocTestParser().get_doctest(
            block, {}, "README.md", "README.md", 0)
        said = []
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        runner.run(test, out=said.append)
        self.assertEqual(runner.failures, 0, "".join(said))
        self.assertGreater(runner.tries, 3)

    def test_every_public_name_is_on_the_page(self):
        page = set(re.findall(r"\w+", PAGE.read_text()))
        returned = {"DataConversionWarning", "Info", "Matches", "functions"}
        self.assertEqual(set(lapis.__all__) - page, returned)

    def test_a_linear_svm_is_liblinears_problem(self):
        """The row of the table that says so."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(120, 4))
        y = np.where(X[:, 0] + 0.7 * rng.normal(size=120) > 0, 1, -1)

        def objective(model):
            w, b = model.coef_[0], model.intercept_[0]
            loss = np.maximum(0, 1 - y * (X @ w + b)).sum()
            return (w @ w + b * b) / 2 + 3 * loss
        there = LinearSVC(loss="hinge", C=3, tol=1e-10, max_iter=10 ** 7)
        here = lapis.SVMPlusClassifier(C=3.0, tol=1e-10)
        self.assertAlmostEqual(objective(here.fit(X, y)),
                               objective(there.fit(X, y)), delta=1e-5)

    def test_completion_without_labels_is_soft_impute(self):
        """The row of the table: its objective is the answer's, and no step
        from the answer lowers it."""
        rng = np.random.default_rng(1)
        X = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 10))
        X[rng.random(X.shape) < 0.2] = np.nan
        seen, weight = ~np.isnan(X), 1.5
        result = lapis.solve("mc", X, mu=weight / seen.sum(), tol=1e-10)
        Z = result["low_rank"]

        def objective(A):
            return (np.where(seen, A - np.nan_to_num(X), 0) ** 2).sum() / 2 \
                + weight * np.linalg.svd(A, compute_uv=False).sum()
        best = objective(Z)
        self.assertAlmostEqual(best / seen.sum(), result.info.objective,
                               delta=1e-9)
        for _ in range(50):
            other = Z + 0.01 * rng.normal(size=X.shape)
            self.assertGreater(objective(other), best)


if __name__ == "__main__":
    unittest.main()
