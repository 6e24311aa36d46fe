"""What help() says: an example that runs, and every parameter."""
# needs: numpy
import doctest
import inspect
import re
import unittest
import warnings

import lapis

# Made for others, or drawn: docs/python.md shows them.
SHOWN_THERE = {"Info", "Matches", "Model", "Result", "functions", "metrics",
               "plot", "set_comm"}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def public():
    for name in lapis.__all__:
        thing = getattr(lapis, name)
        if name not in SHOWN_THERE and not (
                isinstance(thing, type) and issubclass(thing, BaseException)):
            yield name, thing


class Docstrings(unittest.TestCase):
    def test_examples_run(self):
        finder, runner = doctest.DocTestFinder(recurse=False), \
            doctest.DocTestRunner(optionflags=FLAGS)
        for name, thing in public():
            with self.subTest(name):
                said = []
                test, = finder.find(thing, name, globs={})
                self.assertTrue(test.examples, "has no example")
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    done = runner.run(test, out=said.append)
                if "lapis.exceptions.NotBuiltError" in "".join(said):
                    self.skipTest("not in this build")
                self.assertEqual(done.failed, 0, "".join(said))

    def test_parameters_are_described(self):
        for name, thing in public():
            with self.subTest(name):
                text = inspect.getdoc(thing)
                section = re.search(r"\nParameters\n-+\n(.*?)(\n[A-Z][a-z]+\n"
                                    r"-+\n|\Z)", text, re.DOTALL)
                said = {word.strip(" *") for line in re.findall(
                    r"^([*\w][\w, *]*?)(?: :.*)?$",
                    section.group(1) if section else "", re.MULTILINE)
                    for word in line.split(",")}
                takes = set(inspect.signature(thing).parameters)
                self.assertEqual(takes - said - {"context"}, set())
                if not isinstance(thing, type) and name != "save":
                    self.assertIn("\nReturns\n-------\n", text)


if __name__ == "__main__":
    unittest.main()
