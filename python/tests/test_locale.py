"""A program whose locale writes 1,5, as a German one: lapis works in it."""
# needs: numpy
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = """
import locale, sys
locale.setlocale(locale.LC_ALL, "")
assert locale.str(1.5) == "1,5"
import numpy as np
import lapis

X = np.random.default_rng(0).normal(size=(40, 5))
y = np.where(X[:, 0] > 0, "yes", "no")
m = lapis.SVMPlusClassifier(C=0.5, gamma=0.25).fit(X, y, X_priv=X[:, :1])
assert m.get_params()["C"] == 0.5
lapis.save(m, sys.argv[1])
back = lapis.load(sys.argv[1])
assert back.get_params()["gamma"] == 0.25
assert (back.decision_function(X) == m.decision_function(X)).all()
assert "default=0.2" in lapis.RobustRegressor.__doc__
"""


class Locale(unittest.TestCase):
    def test_everything_under_a_decimal_comma(self):
        with tempfile.TemporaryDirectory() as folder:
            try:
                subprocess.run(
                    ["localedef", "-i", "de_DE", "-f", "UTF-8",
                     str(Path(folder) / "de_DE.UTF-8")],
                    capture_output=True, check=True)
            except (OSError, subprocess.CalledProcessError):
                self.skipTest("localedef makes no de_DE.UTF-8 (locales)")
            env = {**os.environ, "LOCPATH": folder, "LC_ALL": "de_DE.UTF-8"}
            done = subprocess.run(
                [sys.executable, "-c", PROGRAM, Path(folder) / "m.lapis"],
                env=env, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
