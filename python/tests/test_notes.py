# needs: numpy sklearn
"""What a method remarks: the same as the command says, in Python's words."""
import json
import os
import pickle
import subprocess
import tempfile
import unittest
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import lapis
from lapis._words import in_python

N = 60


def data():
    g = np.random.default_rng(4)
    X = g.normal(size=(N, 2)) * [1, 1000]
    noise = g.normal(size=N)
    noise[50:] = np.nan
    seldom = np.where(np.arange(N) % 15 == 4, 1.0, 0.0)
    codes = np.where(np.arange(N) == 9, 3.0, np.arange(N) % 2)
    holes = np.where(np.arange(N) > 50, np.nan, np.arange(N) % 2)
    stars = 1 + np.arange(N) % 9 / 2
    stars[50:] = np.nan
    gaps = X.copy()
    gaps[::5, 0] = np.nan
    return {"X": X, "gaps": gaps, "noise": noise, "seldom": seldom,
            "codes": codes, "holes": holes, "stars": stars,
            "unknown": np.arange(N) % 4 - 1.0}


# method, X, Y, settings, what is remarked among others
CASES = [
    ("svmplus", "X", "seldom", {}, {"never-predicted", "standardised"}),
    ("svmplus", "X", "stars", {}, {"number-targets", "rows-used"}),
    ("svmplus", "X", "seldom", {"max_iters": 1}, {"stopped"}),
    ("rr", "X", "noise", {}, {"rows-used", "chosen", "unsure"}),
    ("rlda", "X", "holes", {}, {"rows-used", "chosen"}),
    ("linear", "X", "seldom", {"C": 0.01}, {"never-predicted"}),
    ("mc", "gaps", "seldom", {"mu_rel": 0.5}, {"units-differ"}),
    ("rpca", "gaps", None, {}, {"units-differ"}),
    ("trees", "X", "unknown", {}, {"minus-one"}),
    ("trees", "X", "codes", {}, {"rare-class"})]


def said_by_command(method, X, Y, settings):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "d.npz")
        np.savez(path, X=X, **({} if Y is None else {"Y": Y}))
        given = [word for key, value in settings.items()
                 for word in ("--" + key.replace("_", "-"), str(value))]
        ran = subprocess.run([os.environ["LAPIS_COMMAND"], "fit", method, path,
                              "--json", *given], text=True, check=True,
                             capture_output=True)
    return [(note["level"], note["name"], in_python(note["text"]))
            for note in json.loads(ran.stdout)["notes"]]


class NotesTest(unittest.TestCase):
    def test_the_same_as_the_command(self):
        given = data()
        for method, X, Y, settings, names in CASES:
            with self.subTest(method=method, Y=Y):
                Y = None if Y is None else given[Y]
                with warnings.catch_warnings(record=True) as heard:
                    warnings.simplefilter("always")
                    result = lapis.solve(method, given[X], Y, **settings)
                self.assertEqual([tuple(note) for note in result.notes],
                                 said_by_command(method, given[X], Y,
                                                 settings))
                self.assertLessEqual(names,
                                     {note.name for note in result.notes})
                self.assertEqual(
                    [(one.category, str(one.message)) for one in heard],
                    [(lapis.LapisWarning.named(note.name), note.text)
                     for note in result.notes if note.level == "warning"])

    def test_each_name_is_a_category(self):
        rare = lapis.LapisWarning.named("rare-class")
        self.assertTrue(issubclass(rare, lapis.LapisWarning))
        self.assertIs(rare, lapis.LapisWarning.named("rare-class"))
        self.assertIs(lapis.LapisWarning.named("stopped"), ConvergenceWarning)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", rare)
            lapis.solve("trees", data()["X"], data()["codes"])

    def test_estimators_keep_them_in_words(self):
        words = np.where(data()["seldom"] > 0, "yes", "no")
        with self.assertWarnsRegex(
                lapis.LapisWarning.named("never-predicted"),
                'predicted to be "yes", which 4 of 60 are'):
            model = lapis.SVMPlusClassifier().fit(data()["X"], words)
        self.assertIn("never-predicted", [note.name for note in model.notes_])
        clean = lapis.RobustPCA()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clean.fit(data()["gaps"])
        self.assertEqual(clean.notes_[0].name, "units-differ")

    def test_suspects_say_words(self):
        g = np.random.default_rng(5)
        X = g.normal(size=(200, 4))
        codes = (X[:, 0] > 0).astype(int)
        codes[::12] = 2
        words = np.array(["calm", "open", "shut"])[codes]
        with self.assertWarnsRegex(lapis.LapisWarning, '"shut"'):
            lapis.suspects(lapis.AutoClassifier(candidates="linear",
                                                coverage=.9), X, words)

    def test_new_samples_unlike_those_learnt_from(self):
        g = np.random.default_rng(3)
        X = np.column_stack([500 + 100 * g.normal(size=90),
                             g.normal(size=90)])
        y = np.where(X[:, 0] > 500, "high", "low")
        for names in (None, ["metres", "income"]):
            frame = X if names is None else named(X, names)
            if frame is None:
                continue  # no pandas
            called = names or ["feature 0", "feature 1"]
            model = lapis.AutoClassifier(candidates="linear,mc")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(frame, y)
            model = pickle.loads(pickle.dumps(model))
            with warnings.catch_warnings():
                warnings.simplefilter("error", lapis.LapisWarning)
                model.predict(frame)
            inside = X / 1000  # another unit
            far, empty = inside[:5].copy(), X.copy()
            inside[:, 1], far[:, 1] = X[:, 1], X[:5, 1]
            empty[:, 1] = np.nan
            for new, name, feature in ((inside, "values-multiplied", 0),
                                       (far, "values-outside", 0),
                                       (empty, "values-unknown", 1)):
                with self.assertWarnsRegex(lapis.LapisWarning.named(name),
                                           "^predict: " + called[feature]):
                    model.predict(new if names is None else named(new, names))

    def test_a_new_word_is_told_once(self):
        g = np.random.default_rng(3)
        x = g.normal(size=90)
        words = np.array(["red", "blue", "green"], object)[np.arange(90) % 3]
        new = words.copy()
        new[::2] = "pink"
        frames = [named(np.column_stack([x.astype(object), w]), ["x", "colour"])
                  for w in (words, new)]
        if frames[0] is None:
            self.skipTest("no pandas")
        y = np.where(x + (words == "red") > 0, "a", "b")
        model = lapis.AutoClassifier(candidates="linear")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(frames[0], y)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model.predict(frames[1])
        self.assertEqual(len(said), 1, [str(w.message) for w in said])


def named(X, names):
    try:
        import pandas
    except ImportError:
        return None
    return pandas.DataFrame(X, columns=names)


if __name__ == "__main__":
    unittest.main()
