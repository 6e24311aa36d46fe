"""Errors and warnings in Python's words."""
# needs: numpy sklearn
import re
import unittest
import warnings

import numpy as np

import lapis
from lapis._settings import methods, table
from lapis._words import in_python
from common import two_classes

SAID = (
    ("mc: --mu-rel is 2; it must be above 0", "mc: mu_rel is 2; it must be "
     "above 0"),
    ("clean: --weight is 'x'; no", "clean: weight is 'x'; no"),
    ("mc: --tol 'cv' is not a number", "mc: tol='cv' is not a number"),
    ("mc: --solver fpc cannot", "mc: solver='fpc' cannot"),
    ("a larger --lambda keeps more", "a larger lambda_ keeps more"),
    ("fewer than --inliers 12", "fewer than inliers=12"),
    ("(--threads N makes them equal)", "(n_jobs=N makes them equal)"),
    ("name one by --dictionary FILE", "name one by dictionary=ARRAY"),
    ("bring them near 1 (--map standard)",
     "bring them near 1 (sklearn.preprocessing.StandardScaler())"),
    ("takes no missing values; --map impute fills them in",
     "takes no missing values; lapis.LowRankImputer() fills them in"),
    ("takes no missing values; --map-priv impute fills them in",
     "takes no missing values; lapis.LowRankImputer() fills them in"),
    ("add --map standard,impute to fit, or",
     "add sklearn.preprocessing.StandardScaler() and lapis.LowRankImputer() "
     "to fit, or"),
    ("auto: logistic regression --map standard --C 10 answers (log-loss",
     "auto: logistic regression (standardised features) C=10 answers "
     "(log-loss"),
    ("auto: kernel logistic regression --map standard,impute,nystrom:auto:500 "
     "--C 10 on the same labels: AUROC", "auto: kernel logistic regression "
     "(standardised features, gaps filled in) C=10 on the same labels: AUROC"),
    ("auto: no methods are compared: linear --map standard,impute --C 1 was "
     "given", "auto: no methods are compared: linear --map standard,impute "
     "--C 1 was given"),
    ("--map l1,chi2: 0.9", "map l1,chi2: 0.9"),
    ("leave it out, or --normalise none", "leave it out, or normalise='none'"),
    ("X is NaN at row 4, column 3", "X is NaN at row 3, column 2"),
    ("bag 3 has mixed labels (rows 4 and 11)",
     "bag 3 has mixed labels (rows 3 and 10)"),
    ("0.2 at row 1, column 3 and 0.7 mirrored",
     "0.2 at row 0, column 2 and 0.7 mirrored"),
    ("samples 3 and 4.", "samples 2 and 3."),
    ("sample 17 and 6 more: at least", "sample 16 and 6 more: at least"),
    ("column 2, and so in 3 others", "column 1, and so in 3 others"),
    ("rows 46, 658, 795, ... (17 rows) of X",
     "rows 45, 657, 794, ... (17 rows) of X"),
    ("there are no groups; -G FILE says which bag a sample belongs to",
     "there are no groups; groups says which bag a sample belongs to"),
    ("mc: class 2 has 3 negative and 4 positive known labels",
     "mc: class 1 has 3 negative and 4 positive known labels"),
    ("X has 3 rows and 4 columns", "X has 3 rows and 4 columns"),
)


class Words(unittest.TestCase):
    def test_options_are_keywords_and_arrays_begin_at_0(self):
        for there, here in SAID:
            self.assertEqual(in_python(there), here)

    def test_no_setting_keeps_its_dashes(self):
        """Each refused with a word that it cannot be."""
        X, y, _ = two_classes(20)
        asked = 0
        for method in methods():
            given = {"group": np.arange(20)} if method == "roml" else {}
            if "Y" in table(method).reads:
                given["Y"] = y
            for row in table(method).rows:
                if row.is_matrix or not row.default == row.default:
                    continue
                try:
                    lapis.solve(method, X, **given,
                                **{row.key: "no such word"})
                except ValueError as error:
                    asked += 1
                    self.assertNotRegex(str(error), r"--\w")
                    self.assertIn(row.key, re.findall(r"\w+", str(error)))
        self.assertGreater(asked, 60)

    def test_the_row_that_is_named_is_the_one(self):
        X, y, P = two_classes(20)
        for given, extra in ((X, {}), (P, {"X_priv": P})):
            given[7, 0] = np.nan
            with self.assertRaisesRegex(ValueError, "row 7, column 0"):
                lapis.SVMPlusClassifier().fit(X, y, **extra)
            given[7, 0] = 0
        with self.assertRaisesRegex(ValueError, "row 2, column 1"):
            lapis.Chi2Map().fit(np.array([[1, 2], [3, 4], [5, -6.0]]))

    def test_what_fills_in_is_named(self):
        X, y, _ = two_classes(20)
        X[7, 0] = np.nan
        for model in (lapis.SVMPlusClassifier(),
                      lapis.RobustLDA(denoise="none")):
            with self.assertRaisesRegex(ValueError, "row 7.*LowRankImputer"):
                model.fit(X, y)

    def test_minus_one_is_a_label(self):
        X, y, _ = two_classes(40)
        for most, words in ((1, "three classes"), (2, "missing=-1")):
            y = np.where(y > 0, most, 0)
            y[::4] = -1
            for cls in (lapis.RobustLDA, lapis.SVMPlusClassifier):
                with warnings.catch_warnings(record=True) as said:
                    warnings.simplefilter("always")
                    model = cls().fit(X, y)
                self.assertEqual([words in str(one.message)
                                  for one in said], [True])
                self.assertEqual(list(model.classes_), [-1, 0, most])
                unknown = cls().fit(X, np.where(y == -1, np.nan, y))
                self.assertEqual(list(unknown.classes_), [0, most])
        with warnings.catch_warnings():
            warnings.simplefilter("error", lapis.LapisWarning)
            lapis.RobustLDA().fit(X, np.where(y > 0, 1, -1))


if __name__ == "__main__":
    unittest.main()
