"""Images: numbers that describe them."""
from __future__ import annotations

import ctypes
import os
import re
import tempfile
from contextlib import contextmanager
from typing import Any, List, NamedTuple, Optional, Sequence

import numpy as np

from ._core import Context, Result, Solver, run
from ._library import FeaturesOptions, lib
from ._settings import Table
from ._validation import seed_of, threads_of

__all__ = ["image_features"]


class ImageFeatures(NamedTuple):
    """What `image_features` has made."""

    X: np.ndarray   # (n, d)
    names: list     # whose row it is: a path, or the place of an array
    result: Result  # all arrays that ``lapis features`` writes


# ---- what is given ---------------------------------------------------------
def _write_image(array, i, path):
    """As PNM, which needs no library: 8 bits, or of floats 16."""
    array = np.asarray(array)
    if array.ndim not in (2, 3) or array.shape[2:] not in ((), (3,)):
        raise ValueError(f"images[{i}] has shape {array.shape}; an image is "
                         "(height, width) or (height, width, 3)")
    if array.dtype.kind == "f":
        if not (array.min(initial=0) >= 0 and array.max(initial=0) <= 1):
            raise ValueError(f"images[{i}] holds floats that are not all from "
                             "0 to 1; divide them by the largest there may be")
        array = np.round(65535 * array).astype(">u2")
    elif array.dtype != np.uint8:
        raise TypeError(f"images[{i}] holds {array.dtype}; an image holds "
                        "uint8, or floats from 0 to 1")
    high, wide = array.shape[:2]
    with open(path, "wb") as file:
        file.write(b"P%d %d %d %d\n" % (array.ndim + 3, wide, high,
                                        (1 << 8 * array.itemsize) - 1))
        file.write(array.tobytes())


class _Images:
    """Files of images, arrays among them."""

    def __init__(self, images, folder):
        self._folder, self.name = folder, {}
        paths = []
        for i, image in enumerate(images):
            path = os.path.join(folder, f"{i}.pnm")
            if isinstance(image, (str, bytes, os.PathLike)):
                path = image = os.fsdecode(image)
            else:
                _write_image(image, i, path)
                image = i
            self.name[path] = image
            paths.append(os.fsencode(path))
        if not paths:
            raise ValueError("images holds none")
        self.paths = (ctypes.c_char_p * len(paths))(*paths)

    @classmethod
    @contextmanager
    def of(cls, images):
        """They are there inside the block."""
        if isinstance(images, (str, bytes, os.PathLike)):
            raise TypeError("images is one path; it is a list of paths or "
                            "arrays, one an image")
        with tempfile.TemporaryDirectory() as folder:
            yield cls(images, folder)

    def said(self, text):
        """A sentence that names files as Python's arguments."""
        path = re.escape(self._folder + os.sep)
        return re.sub(path + r"(\d+)\.pnm", r"images[\1]", text)

    def named(self, result):
        return [self.name.get(path, path) for path in result["names"]]

    def run(self, context, create, rows, *kept):
        """The result of a solver of these images."""
        try:
            return Result(run(context, lambda: Solver(
                context, lambda out: create(self.paths, len(self.paths), out),
                rows, self.paths, *kept)))
        except Exception as error:
            said = self.said(str(error))
            if said == str(error):
                raise
            raise type(error)(said) from None


def _context(random_state, n_jobs, verbose):
    return Context(seed=seed_of(random_state), threads=threads_of(n_jobs),
                   verbose=verbose)


# ---- features --------------------------------------------------------------
def _kinds() -> List[str]:
    found, i = [], 0
    while row := lib.feature_at(i):
        found.append(row.contents.name.decode())
        i += 1
    return found


def _kind(kind):
    """The table of a kind, and the file that ``onnx:FILE`` names, or None."""
    size, file, raw = ctypes.c_size_t(), ctypes.c_size_t(), os.fsencode(kind)
    found = lib.feature_named(raw, ctypes.byref(size), ctypes.byref(file))
    if not found:
        raise ValueError(f"there is no kind of features {kind!r}; there are "
                         + ", ".join(_kinds()))
    if size.value < len(raw):
        raise ValueError(f"{kind!r} is several kinds of features; ask for each "
                         "and put them side by side by np.hstack")
    at = size.value - file.value
    return Table(found), os.fsdecode(raw[at:]) if file.value else None


def image_features(images: Sequence[Any], kind: str, *,
                   cache: Optional[str] = None, keep_going: bool = False,
                   random_state: Optional[int] = None,
                   n_jobs: Optional[int] = None, verbose: int = 0,
                   **options: Any) -> ImageFeatures:
    """Numbers that describe images, as ``lapis features`` makes them.

    Parameters
    ----------
    images : list
        Paths, or arrays (height, width) or (height, width, 3) of uint8 or of
        floats from 0 to 1.
    kind : str
        "hog", "sift-bow", "onnx:FILE.onnx", ...: one that ``lapis features``
        lists.  Of several vectors an image (``sift``) ``result["group"]`` says
        whose they are.  Words are learnt from these images, unless
        ``vocabulary`` names a file that ``save_vocabulary`` wrote.
    cache : path, default=None
        A folder that keeps features by content: a second run reads them.
    keep_going : bool, default=False
        Leaves out images that are refused; ``result["refused"]`` says why.
    random_state, n_jobs, verbose
        As of the estimators.
    **options
        Those of ``lapis features KIND --help`` with underscores.

    Returns
    -------
    ImageFeatures
        X (n, d), names, result.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> squares = np.kron(np.eye(2), np.ones((8, 8)))
    >>> lapis.image_features([squares], "pixels", size="2x2").X.tolist()
    [[1.0, 0.0, 0.0, 1.0]]
    """
    rows, net = _kind(kind)
    context = _context(random_state, n_jobs, verbose)
    if net is not None:
        options["net"] = net
    struct, kept = rows.fill(context, options)
    rows.check_effects(context, struct, 0, options)
    how = FeaturesOptions(ctypes.sizeof(FeaturesOptions), bool(keep_going),
                          None if cache is None else os.fsencode(cache), None)
    with _Images.of(images) as given:
        result = given.run(context, lambda paths, count, out: lib.features_new(
            context, rows.method, struct, paths, count, ctypes.byref(how),
            out), rows, struct, kept, how)
    return ImageFeatures(np.array(result["X"], float), given.named(result),
                         result)
