"""LAPIS: low-rank and privileged-information solvers.

Learn from visual data as it really is: labels missing or wrong, features
occluded or absent, extra information that exists at training time only.
"""
from . import functions, metrics, plot
from ._core import Info, Model, Result, solve
from ._library import lib as _lib
from ._settings import methods
from ._spread import set_comm
from .completion import (AutoClassifier, AutoRegressor,
                         MatrixCompletionClassifier)
from .exceptions import (ConvergenceWarning, DataConversionWarning,
                         DeviceError, FormatError, Interrupted, LapisWarning,
                         NotBuiltError, NotFittedError, NumericalError)
from .files import load, save
from .functions import (assign, project_simplex, prox_chi2,
                        prox_chi2_simplex, prox_logistic, prox_soft,
                        singular_values, svt)
from .images import image_features, locate_images, match_images
from .imputer import AutoImputer, LowRankImputer
from .maps import Chi2Map
from .matching import Matches, MultiImageMatcher
from .places import find_windows, heat_map
from .robust import RobustLDA, RobustPCA, RobustRegressor
from .selection import Folds, suspects
from .svm import MISVMPlusClassifier, SVMPlusClassifier

__version__ = _lib.version().decode()
__all__ = [
    "AutoClassifier", "AutoImputer", "AutoRegressor",
    "Chi2Map", "ConvergenceWarning", "DataConversionWarning", "DeviceError",
    "Folds",
    "FormatError", "Info", "Interrupted", "LapisWarning",
    "LowRankImputer", "MISVMPlusClassifier", "Matches", "MatrixCompletionClassifier", "Model",
    "MultiImageMatcher", "NotBuiltError", "NotFittedError", "NumericalError",
    "Result", "RobustLDA", "RobustPCA", "RobustRegressor",
    "SVMPlusClassifier", "assign", "find_windows", "functions", "heat_map",
    "image_features", "load", "locate_images", "match_images", "methods", "metrics",
    "plot", "project_simplex", "prox_chi2", "prox_chi2_simplex",
    "prox_logistic", "prox_soft", "save", "set_comm", "singular_values", "solve",
    "suspects", "svt"]
