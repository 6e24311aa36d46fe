"""What goes wrong, as the exceptions that scikit-learn users expect.

With scikit-learn its own classes are used, so that ``except`` clauses written
for it work; without it, classes of the same names and parents.
"""
try:
    from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
    from sklearn.exceptions import NotFittedError
except ImportError:
    class NotFittedError(ValueError, AttributeError):
        """An estimator was asked before it was fitted."""

    class ConvergenceWarning(UserWarning):
        """A solve stopped before its tolerance was met."""

    class DataConversionWarning(UserWarning):
        """Data were reshaped or converted on the way in."""

__all__ = ["ConvergenceWarning", "DataConversionWarning", "DeviceError",
           "FormatError",
           "Interrupted", "LapisWarning", "NotBuiltError", "NotFittedError",
           "NumericalError"]


class LapisWarning(UserWarning):
    """A warning in the library's own sentence.

    What a method remarks has a name that stays, and each name a category of
    its own: ``warnings.simplefilter("ignore", LapisWarning.named(
    "rare-class"))``.
    """

    _of_name = {}

    @classmethod
    def named(cls, name: str) -> type:
        """The category of the remarks of this name."""
        if name == "stopped":
            return ConvergenceWarning
        if name not in cls._of_name:
            words = "".join(word.capitalize() for word in name.split("-"))
            cls._of_name[name] = type(words + "Warning", (LapisWarning,),
                                      {"__module__": __name__})
        return cls._of_name[name]


class NumericalError(ArithmeticError):
    """Arithmetic failed: overflow, or no factorisation."""


class FormatError(ValueError):
    """A file is not what it claims to be."""


class NotBuiltError(NotImplementedError):
    """What was asked for is not in this build, or not in this method."""


class DeviceError(RuntimeError):
    """A device cannot be opened, or failed."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a solve; `result` is what it had found so far.

    ``result`` is None where nothing had been found yet.  A solve that is deep
    inside one step is left to finish that step in the background, so that
    the prompt comes back at once; reading ``result`` then waits for it.
    """

    def __init__(self, job):
        super().__init__("the solve was interrupted; .result of this "
                         "exception holds what was found so far")
        self._job = job

    @property
    def result(self):
        return self._job.partial()


# By the value of lapis_status: see include/lapis/lapis.h.
OF_STATUS = {-1: ValueError, -2: ValueError, -3: ValueError, -4: MemoryError,
             -5: OSError, -6: FormatError, -7: NumericalError,
             -8: NotBuiltError, -9: ValueError, -10: RuntimeError,
             -11: TimeoutError, -12: DeviceError}
CANCELLED = 3
