"""Correspondences across a set of images."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from ._core import Context, solve
from ._estimator import of_method
from ._settings import table
from ._validation import (check_array, check_groups, check_length, seed_of,
                          threads_of)


class Matches:
    """What corresponds.

    Attributes
    ----------
    match : ndarray of int (n_images, n_slots)
        Row of the features that fills a slot in an image; -1: absent.
    inlier : ndarray (n_images, n_slots)
        1 where the match is trusted.
    instance : ndarray of int (n_slots,)
        Whose a slot is, from 1: of the objects of `instances`.
    images : ndarray
        The groups, in the order of the rows of `match`.
    transform : ndarray (n_images, 2, 3) or None
        ``layout="coordinates"``: how each image was moved first, as
        `invariance` says; a point x went to ``A[:, :2] @ x + A[:, 2]``.
        ``result["low_rank"] + result["sparse"]`` are the points matched, as
        moved.
    invariance : str or None
        How images may differ, as it was told or (``"auto"``) chosen.
    result : Result
        All arrays and numbers of the solve.
    """

    def __init__(self, result, images, first):
        self.result, self.images = result, images
        self.match = np.array(result["match"])
        self.inlier = np.array(result["inlier"])
        self.instance = np.array(result["instance"]).ravel()
        self.transform = self.invariance = None
        if "transform" in result:
            self.transform = np.array(result["transform"])
            self.invariance = str(np.ravel(result["invariance"])[0])
        self._first = first

    @property
    def local(self):
        """`match` with rows counted from the first of each image."""
        return np.where(self.match < 0, -1,
                        self.match - self._first[:, None])

    @property
    def model(self):
        """What was learnt (`Model`): ``save`` it, or ask ``predict``."""
        return self.result.model()

    def predict(self, features, groups=None):
        """The same points in images that come later.

        `features` and `groups` as in `MultiImageMatcher.match`.  Returns an
        ndarray of int (n_images, n_slots): the row of `features` (of all
        images below each other) that fills a slot; -1: not there.
        """
        X, groups, _ = _stack(features, groups, None)
        _, code = check_groups(groups)
        return np.array(self.model.predict(X, group=code)["match"])

    def pairs(self, a, b):
        """Corresponding rows (n, 2) of the images at places a and b."""
        both = np.stack([self.match[a], self.match[b]], axis=1)
        return both[(both >= 0).all(axis=1)]


def _stack(features, groups, xy):
    """Features of all images below each other, and whose they are."""
    if groups is not None:
        X, groups = check_array(features, "features"), np.asarray(groups)
        check_length(groups, len(X), "groups")
        return X, groups, xy
    if np.ndim(features) == 2:
        raise ValueError("one array of all images' points needs groups: the "
                         "image of each row; or give a list of arrays, one an "
                         "image")
    groups = np.repeat(np.arange(len(features)), [len(f) for f in features])
    if xy is not None:
        xy = np.concatenate(list(xy))
    return check_array(np.concatenate(list(features)), "features"), groups, xy


@of_method("roml")
class MultiImageMatcher:
    """``match`` takes the features of all images at once: a list with an
    array (n_points, n_features) an image, or one array and `groups`, which
    says whose image each row is.

    Attributes
    ----------
    The answer of ``match`` is a `Matches`; nothing is kept here.

    Examples
    --------
    >>> import numpy as np, lapis
    >>> rng = np.random.default_rng(0)
    >>> points = rng.normal(size=(4, 8))
    >>> order = [rng.permutation(4) for _ in range(3)]
    >>> found = lapis.MultiImageMatcher(inliers=4).match(
    ...     [points[rows] for rows in order])
    >>> found.match.shape
    (3, 4)
    """

    if TYPE_CHECKING:  # made from the table
        def __init__(self, **settings: Any) -> None: ...

    def __repr__(self):
        keys = table("roml").defaults
        said = [f"{key}={getattr(self, key)!r}" for key in keys
                if getattr(self, key) is not keys[key]]
        return f"MultiImageMatcher({', '.join(said)})"

    def match(self, features: Union[ArrayLike, Sequence[ArrayLike]],
              groups: Optional[ArrayLike] = None,
              xy: Union[ArrayLike, Sequence[ArrayLike], None] = None
              ) -> Matches:
        """Finds the same points in every image: `Matches`.

        `xy` holds positions (n_points, 2), in the same form as `features`;
        ``map="embed"`` reads them.
        """
        X, groups, xy = _stack(features, groups, xy)
        images, code = check_groups(groups)
        first = np.unique(code, return_index=True)[1]
        context = Context(seed=seed_of(self.random_state),
                          threads=threads_of(self.n_jobs),
                          verbose=self.verbose)
        result = solve("roml", X, group=code, xy=xy, context=context,
                       **{key: getattr(self, key)
                          for key in table("roml").keys})
        return Matches(result, images, first)
