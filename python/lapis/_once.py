"""Warnings of several fits of one kind, each said once."""
import contextlib
import re
import warnings

from ._core import warn
from .exceptions import LapisWarning


def _kind(said):
    """What two fits say alike: not who of a fit, nor which words and numbers,
    nor what follows."""
    text = re.sub(r"^\w+: ", "", str(said.message)).partition(";")[0]
    text = re.sub(r"\"[^\"]*\"|'[^']*'", "", text)
    return said.category, re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "", text)


class Once:
    """Gathers what fits warn of, until it is said, the first of a kind with the
    number of the fits that said so."""

    def __init__(self, who):
        self.who, self.fits, self.met = who, 0, {}

    @contextlib.contextmanager
    def fit(self):
        """Around one of the fits."""
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            try:
                yield
            finally:
                self.fits += 1
                for said in heard:
                    first, fits = self.met.setdefault(_kind(said),
                                                      (said, set()))
                    fits.add(self.fits)

    def say(self):
        for said, fits in self.met.values():
            if issubclass(said.category, LapisWarning):
                warn(f"{self.who}: in {len(fits)} of {self.fits} folds, first: "
                     f"{said.message}", said.category)
            else:
                warn(said.message, said.category)
