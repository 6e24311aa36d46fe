"""run.py FILE: the tests of one file, told as tools/run-tests reads them.

Each case is announced and judged on lines like cmocka's; `run` beside this
file chooses the interpreter.  As in tests/room.c, LAPIS_TEST_ALL=1 adds the
long cases (common.long), and LAPIS_TEST_TIMES=1 prints the processor time of
each.
"""
import os
import resource
import sys
import unittest
from pathlib import Path


def seconds():
    """Processor time of this process and of its children that ended."""
    return sum(used.ru_utime + used.ru_stime for used in map(
        resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def due(suite):
    """The cases, without the long ones unless they are asked for."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from due(test)
        elif os.environ.get("LAPIS_TEST_ALL") == "1" or not getattr(
                getattr(test, test._testMethodName, None), "long", False):
            yield test


class Told(unittest.TestResult):
    """One line when a case starts and one when it ends."""

    def startTest(self, test):
        super().startTest(test)
        self._verdict, self._why = "      OK", ""
        self._begun = seconds()
        print(f"[ RUN      ] {self._name(test)}", flush=True)

    def stopTest(self, test):
        super().stopTest(test)
        if self._why:
            print(self._why)
        print(f"[{self._verdict} ] {self._name(test)}", flush=True)
        if os.environ.get("LAPIS_TEST_TIMES"):
            print(f"{seconds() - self._begun:7.2f} s of {self._name(test)}")

    @staticmethod
    def _name(test):
        return test.id().rpartition(".")[2]

    def addError(self, test, error):
        super().addError(test, error)
        self._fail(self.errors[-1][1], test)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._fail(self.failures[-1][1], test)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            text = self._exc_info_to_string(error, test)
            self._fail(f"{subtest}\n{text}", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._verdict, self._why = "  SKIPPED", "skipped: " + reason

    def _fail(self, why, test):
        if not hasattr(self, "_verdict"):  # outside of a case
            print(f"[ RUN      ] {test}\n{why}\n[  FAILED  ] {test}")
            return
        self._verdict, self._why = "  FAILED ", self._why + why


def main():
    path = Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(path.parent))
    suite = unittest.TestSuite(
        due(unittest.defaultTestLoader.loadTestsFromName(path.stem)))
    print(f"[==========] Running {suite.countTestCases()} test(s).")
    result = Told()
    suite.run(result)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
