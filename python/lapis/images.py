"""Images: numbers that describe them, points of one found in the others, the
object that all share."""
from __future__ import annotations

import ctypes
import os
import re
import tempfile
from collections.abc import Mapping
from contextlib import contextmanager
from typing import Any, List, NamedTuple, Optional

import numpy as np

from ._arrays import plain
from ._core import Context, Result, Solver, run
from ._library import Array, FeaturesOptions, lib
from ._settings import Table
from ._validation import seed_of, threads_of

__all__ = ["image_features", "locate_images", "match_images"]


class ImageFeatures(NamedTuple):
    """What `image_features` has made."""

    X: np.ndarray   # (n, d)
    names: list     # whose row it is: a path, or the place of an array
    result: Result  # all arrays that ``lapis features`` writes


class ImageBoxes(NamedTuple):
    """What `locate_images` has found."""

    boxes: np.ndarray  # (n, 4): x, y, width, height in pixels
    sure: np.ndarray   # of bool (n,); False: in doubt
    names: list        # whose box it is: a path, or the place of an array
    result: Result     # all arrays of ``lapis locate --result``


class ImagePoints:
    """What `match_images` has found.

    Attributes
    ----------
    names : list
        The images: paths, or places of arrays in the list that was given.
    points : list
        What the points are called.
    xy : ndarray (n_images, n_points, 2)
        x, y in pixels, the centre of the first one being 0, 0; NaN: absent.
    sure : ndarray of bool (n_images, n_points)
        False: in doubt.
    placed : ndarray of bool (n_images,) or None
        With `first`; False: all points of an image are in doubt.
    result : Result
        All arrays of ``lapis match --result``.
    """

    def __init__(self, result, names, points):
        match = result["match"]
        at = result["xy"][:, :2][np.maximum(match, 0)]
        self.xy = np.where((match < 0)[:, :, None], np.nan, at)
        self.sure = np.array(result["inlier"]) > 0
        self.placed = (np.array(result["placed"]).ravel() > 0
                       if "placed" in result else None)
        self.names, self.result = names, result
        self.points = list(range(match.shape[1]) if points is None else points)

    def __repr__(self):
        return (f"<{len(self.names)} images, {len(self.points)} points, "
                f"{self.sure.sum()} of {self.sure.size} sure>")

    def frame(self):
        """A data frame of pandas: image, point, x, y, sure."""
        from pandas import DataFrame
        images, points = len(self.names), len(self.points)
        x, y = self.xy.reshape(-1, 2).T
        return DataFrame({
            "image": [name for name in self.names for _ in range(points)],
            "point": self.points * images, "x": x, "y": y,
            "sure": self.sure.ravel()})


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


def _images_in(context, folder):
    """Paths of the images in a folder, as the command takes them."""
    words, listed = (ctypes.c_char_p * 1)(os.fsencode(folder)), Array()
    context.check(lib.image_list(context, words, 1, ctypes.byref(listed)))
    try:
        text = ctypes.cast(listed.mat.val, ctypes.POINTER(ctypes.c_char_p))
        return [os.fsdecode(text[k]) for k in range(listed.mat.cols)]
    finally:
        lib.array_free(ctypes.byref(listed))


class _Images:
    """Files of images, arrays among them."""

    def __init__(self, images, folder):
        self._folder, self.name, self._line = folder, {}, None
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
    def of(cls, context, images):
        """They are there inside the block."""
        if isinstance(images, (str, bytes, os.PathLike)):
            if not os.path.isdir(images):
                raise TypeError("images is one path; it is a folder, or a list "
                                "of paths or arrays, one an image")
            images = _images_in(context, images)
        with tempfile.TemporaryDirectory() as folder:
            yield cls(images, folder)

    def write_points(self, first):
        """Points of the first image as a table; its path, what they are
        called."""
        names, xy = _points(first)
        path, self._line = os.path.join(self._folder, "first"), names
        np.savetxt(path, xy, "%.17g", ",", header="x,y", comments="")
        return path, names

    def said(self, text):
        """A sentence that names files as Python's arguments."""
        path = re.escape(os.path.join(self._folder, "first"))
        text = re.sub(path + r":(\d+)(?::\d+)?", lambda m: "first[%r]"
                      % self._line[int(m[1]) - 2], text)
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


def _points(first):
    """Names and places (n, 2) of points: {name: (x, y)}, a data frame, an
    array."""
    if isinstance(first, Mapping):
        names, xy = list(first), list(first.values())
    elif hasattr(first, "columns"):
        for title in ("x", "y"):
            if title not in first.columns:
                raise ValueError(f"first has no column {title!r}; it has "
                                 + ", ".join(map(repr, first.columns)))
        names = list(first["point"] if "point" in first.columns
                     else first.index)
        xy = plain(first[["x", "y"]])
    else:
        names, xy = None, first
    try:
        xy = np.asarray(xy, float)
    except (TypeError, ValueError):
        raise TypeError("first holds what is no place; it is {name: (x, y)}, "
                        "an array (n, 2), or a data frame with the columns x, "
                        "y and, of names, point") from None
    if xy.ndim != 2 or xy.shape[1] != 2 or len(xy) == 0:
        raise ValueError(f"first has shape {xy.shape}; it holds x, y of one "
                         "point or more, a row a point")
    names = list(range(len(xy))) if names is None else names
    seen, places = set(), {}
    for name, place in zip(names, map(tuple, xy)):
        if not np.isfinite(place).all():
            raise ValueError(f"first[{name!r}] is {place[0]:g}, {place[1]:g}; "
                             "a point has a place")
        if name in seen:
            raise ValueError(f"first: {name!r} is there twice")
        if place in places:
            raise ValueError(f"first: {name!r} is where {places[place]!r} is")
        seen.add(name)
        places[place] = name
    return names, xy


def _context(random_state, n_jobs, verbose):
    return Context(seed=seed_of(random_state), threads=threads_of(n_jobs),
                   verbose=verbose)


def _run(verb, given, context, settings, answer):
    """The result of a pipeline, which has this array."""
    rows = Table(lib.flow_find(verb.encode()))
    settings.setdefault("no_cache", settings.get("cache") is None)
    struct, kept = rows.fill(context, settings)
    rows.check_effects(context, struct, 0, settings)
    result = given.run(context, lambda paths, count, out: lib.flow_new(
        context, rows.method, paths, count, struct, out), rows, struct, kept)
    if answer not in result:
        raise TimeoutError(f"{verb}: stopped before there was an answer; give "
                           "a larger time_limit")
    return result


# ---- points ----------------------------------------------------------------
def match_images(images: Any, first: Any = None, *,
                 random_state: Optional[int] = None,
                 n_jobs: Optional[int] = None, verbose: int = 0,
                 **settings: Any) -> ImagePoints:
    """The same points of one object in all images, as ``lapis match`` finds them.

    Parameters
    ----------
    images : list or path
        A folder; or paths, or arrays (height, width) or (height, width, 3) of uint8 or of
        floats from 0 to 1.
    first : {name: (x, y)}, array (n, 2), data frame or path, default=None
        Points of the first image, which are found in the others: a data frame
        has the columns x, y and, of names, point; a path is a table as
        ``--first`` takes it.  None: keypoints are found.
    random_state, n_jobs, verbose
        As of the estimators.
    **settings
        Those of ``lapis match --help`` with underscores: ``grid``, ``scale``,
        ``inliers``, ...; nothing is cached without ``cache``.

    Returns
    -------
    ImagePoints
        names, points, xy, sure, placed, result, frame().

    Examples
    --------
    >>> import numpy as np, lapis
    >>> rng = np.random.default_rng(0)
    >>> scene = np.kron(rng.random((18, 18)), np.ones((8, 8)))
    >>> found = lapis.match_images([scene[8:136, 8:136], scene[4:132, 4:132]],
    ...                            {"eye": (40, 50), "ear": (80, 60)}, grid=2)
    >>> found.xy[1].tolist()
    [[44.0, 54.0], [84.0, 64.0]]
    """
    context = _context(random_state, n_jobs, verbose)
    points = None
    with _Images.of(context, images) as given:
        if isinstance(first, (str, os.PathLike)):
            settings["first"] = os.fspath(first)
        elif first is not None:
            settings["first"], points = given.write_points(first)
        result = _run("match", given, context, settings, "match")
    if points is None and "point_names" in result:
        points = [str(name) for name in result["point_names"]]
    return ImagePoints(result, given.named(result), points)


# ---- boxes -----------------------------------------------------------------
def locate_images(images: Any, *,
                  random_state: Optional[int] = None,
                  n_jobs: Optional[int] = None, verbose: int = 0,
                  **settings: Any) -> ImageBoxes:
    """The object that all images share, as ``lapis locate`` finds it.

    Of nine sets of photographs .55 of the boxes were right.

    Parameters
    ----------
    images : list or path
        As `match_images` takes them.
    random_state, n_jobs, verbose
        As of the estimators.
    **settings
        Those of ``lapis locate --help`` with underscores: ``candidates``,
        ``without``, ``net``, ``layer``, ``grid``, ...; nothing is cached
        without ``cache``.

    Returns
    -------
    ImageBoxes
        boxes (n, 4), sure, names, result.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> rng = np.random.default_rng(0)
    >>> thing, images = rng.random((60, 60)), np.full((4, 160, 160), .5)
    >>> for k, image in enumerate(images):
    ...     image[20 * k:20 * k + 60, 90 - 20 * k:150 - 20 * k] = thing
    >>> found = lapis.locate_images(images, candidates=20)
    >>> found.boxes.shape
    (4, 4)
    """
    context = _context(random_state, n_jobs, verbose)
    with _Images.of(context, images) as given:
        result = _run("locate", given, context, settings, "boxes")
    return ImageBoxes(np.array(result["boxes"])[:, :4],
                      np.array(result["inlier"]).ravel() > 0,
                      given.named(result), result)


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


def image_features(images: Any, kind: str, *,
                   cache: Optional[str] = None, keep_going: bool = False,
                   random_state: Optional[int] = None,
                   n_jobs: Optional[int] = None, verbose: int = 0,
                   **options: Any) -> ImageFeatures:
    """Numbers that describe images, as ``lapis features`` makes them.

    Parameters
    ----------
    images : list or path
        As `match_images` takes them.
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
    with _Images.of(context, images) as given:
        result = given.run(context, lambda paths, count, out: lib.features_new(
            context, rows.method, struct, paths, count, ctypes.byref(how),
            out), rows, struct, kept, how)
    return ImageFeatures(np.array(result["X"], float), given.named(result),
                         result)
