"""Pictures of what was found, by matplotlib.

Each function draws into `ax` (or a figure of its own) and returns what it
drew into.  NaN, what was not observed, is magenta everywhere.
"""
import numpy as np

from ._validation import unknown_in

__all__ = ["calibration", "coefficients", "confusion", "convergence",
           "decomposition", "heatmap", "holes", "matches", "roc", "suspects"]

MISSING = "magenta"


def _pyplot():
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("lapis.plot draws by matplotlib, which is not "
                          "installed (Debian: python3-matplotlib)") from error
    return pyplot


def _axes(ax):
    return _pyplot().subplots()[1] if ax is None else ax


def _map(name):
    colours = _pyplot().get_cmap(name).copy()
    colours.set_bad(MISSING)
    return colours


def _show(ax, picture, name="gray", **limits):
    ax.set_xticks([])
    ax.set_yticks([])
    return ax.imshow(np.ma.masked_invalid(picture), cmap=_map(name), **limits)


# ---- correspondences -------------------------------------------------------
def _side_by_side(images, gap):
    """One picture of all, and where each begins."""
    height = max(image.shape[0] for image in images)
    width = sum(image.shape[1] + gap for image in images) - gap
    canvas, starts, at = np.ones((height, width)), [], 0
    for image in images:
        grey = image if image.ndim == 2 else image[..., :3].mean(axis=2)
        span = max(grey.max(), 1e-300)
        canvas[:grey.shape[0], at:at + grey.shape[1]] = grey / span
        starts.append(at)
        at += grey.shape[1] + gap
    return canvas, starts


def matches(found, xy, images=None, ax=None, gap=10):
    """Lines through the points that correspond, image beside image.

    Parameters
    ----------
    found : Matches or ndarray of int (n_images, n_slots)
        Rows of xy; -1: absent.  A line goes from each image in which a slot
        is filled to the next in which it is; doubtful ones are dashed.
    xy : ndarray (n_points, 2)
        Positions in their own images, in pixels.
    images : list of ndarray, optional
        Pictures; without them, points alone, side by side.
    """
    rows = getattr(found, "match", found)
    trusted = getattr(found, "inlier", rows >= 0).astype(bool)
    xy, ax = np.asarray(xy, float), _axes(ax)
    if images is not None:
        canvas, starts = _side_by_side(images, gap)
        _show(ax, canvas, vmin=0, vmax=1)
    else:
        wide = np.nanmax(xy[:, 0]) + gap
        starts = [k * wide for k in range(len(rows))]
        ax.invert_yaxis()
    colours = _pyplot().get_cmap("hsv")(
        np.linspace(0, 0.9, max(rows.shape[1], 1)))
    for slot, colour in enumerate(colours[:rows.shape[1]]):
        filled = np.flatnonzero(rows[:, slot] >= 0)
        at = xy[rows[filled, slot]] + np.array(
            [[starts[k], 0] for k in filled]).reshape(-1, 2)
        sure = trusted[filled, slot].all()
        ax.plot(at[:, 0], at[:, 1], marker="o", markersize=3, color=colour,
                linewidth=1, linestyle="-" if sure else "--")
    ax.set_axis_off()
    return ax


# ---- pictures --------------------------------------------------------------
def heatmap(values, image=None, ax=None, alpha=0.6):
    """Where in an image something is: a grid of values over a picture.

    `values` (rows, columns) may be coarser than `image`; it is laid over the
    whole of it.
    """
    ax, values = _axes(ax), np.asarray(values, float)
    extent = None
    if image is not None:
        height, width = np.shape(image)[:2]
        extent = (-0.5, width - 0.5, height - 0.5, -0.5)
        ax.imshow(image, cmap="gray")
    drawn = _show(ax, values, "viridis", extent=extent,
                  alpha=1 if image is None else alpha)
    ax.figure.colorbar(drawn, ax=ax)
    return ax


def decomposition(X, low_rank, sparse, shape, samples=range(4)):
    """Samples as pictures: what was seen = clean + removed.

    `shape` is that of a sample as a picture, (height, width).  The clean part
    and what was seen share their scale; what was removed is red and blue
    around 0.  Returns the figure.
    """
    samples = list(samples)
    figure, grid = _pyplot().subplots(
        3, len(samples), squeeze=False,
        figsize=(1.6 * len(samples) + 0.6, 4.8))
    low, high = np.nanmin(low_rank), np.nanmax(low_rank)
    size = np.nanmax(np.abs(np.asarray(sparse)[samples])) or 1
    rows = (("seen", X, "gray", low, high),
            ("clean", low_rank, "gray", low, high),
            ("removed", sparse, "seismic", -size, size))
    for axes, (title, arrays, colours, least, most) in zip(grid, rows):
        axes[0].set_ylabel(title)
        for ax, sample in zip(axes, samples):
            _show(ax, np.reshape(np.asarray(arrays)[sample], shape), colours,
                  vmin=least, vmax=most)
    for ax, sample in zip(grid[0], samples):
        ax.set_title(str(sample), fontsize="small")
    return figure


def suspects(index, margin, X, shape, classes=None, columns=5):
    """The samples whose labels the rest of the data contradicts most, as
    pictures, with the class and by how much.  Takes what ``lapis.suspects``
    returns, and returns the figure."""
    count = len(index)
    rows = max(1, -(-count // columns))
    figure, grid = _pyplot().subplots(
        rows, min(columns, max(count, 1)), squeeze=False,
        figsize=(1.7 * min(columns, max(count, 1)), 2.0 * rows))
    for ax in grid.flat:
        ax.set_axis_off()
    for ax, (sample, place), by in zip(grid.flat, index, margin):
        _show(ax, np.reshape(np.asarray(X)[sample], shape))
        name = f"class {place}" if classes is None else classes[place]
        by = "" if np.isnan(by) else f"\n{by:+.2f}"
        ax.set_title(f"{sample}: {name}{by}", fontsize="small")
    return figure


# ---- convergence -------------------------------------------------------------
def _history(of):
    """{name: values} of an estimator, a Result or such a dict."""
    if hasattr(of, "history_"):
        return of.history_
    if "history_columns" in of:
        return dict(zip(of["history_columns"], np.array(of["history"]).T))
    return of


def _losses(candidates, ax):
    """A bar a candidate: its loss while labels were hidden, +- its error."""
    loss = "log_loss" if "log_loss" in candidates[0] else "squared_error"
    names = [f"{one['method']} {one['settings']}" for one in candidates]
    ax.barh(range(len(names)), [one[loss] for one in candidates],
            xerr=[one["error"] for one in candidates])
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlabel(f"{loss.replace('_', ' ')} on hidden labels")
    return ax


def convergence(of, ax=None, names=("gap", "residual")):
    """What a solve recorded, iteration by iteration, on a log scale.

    `of` is a fitted estimator or a Result; of `names` those are drawn that
    were recorded, and all else but the iteration where none was.  What is not
    iterated (trees, a mean of candidates) has no history: of an estimator that
    compared candidates their loss on hidden labels is drawn, best first.
    """
    history = _history(of)
    compared = getattr(of, "candidates_", [])
    if not any(np.size(values) for values in history.values()):
        if not compared:
            raise ValueError("no iterations were recorded, so there is no "
                             "convergence to draw; the answer was computed "
                             "directly")
        return _losses(compared, _axes(ax))
    ax = _axes(ax)
    shown = [name for name in names if name in history] or [
        name for name in history if name != "iteration"]
    at = history.get("iteration")
    for name in shown:
        values = np.abs(np.asarray(history[name], float))
        where = np.arange(1, len(values) + 1) if at is None else at
        ax.semilogy(where, np.where(values > 0, values, np.nan),
                    marker="." if len(values) == 1 else None, label=name)
    ax.set_xlabel("iteration")
    ax.legend()
    return ax


# ---- how sure ----------------------------------------------------------------
def _known(y, said):
    """Known labels as places among the sorted ones; what is said of them, a
    column a label (two labels: of the second alone); the labels."""
    y, said = np.asarray(y), np.asarray(said, float)
    known = ~unknown_in(y)
    labels, place = np.unique(y[known].astype(type(y[known][0])),
                              return_inverse=True)
    said = said[known]
    if said.ndim == 2 and said.shape[1] == 2 == len(labels):
        said = said[:, 1]
    if said.ndim == 2 and said.shape[1] == 1:
        said = said[:, 0]
    columns = len(labels) if len(labels) > 2 else 1
    if said.shape != ((len(place), columns) if columns > 1 else (len(place),)):
        raise ValueError(f"y has {len(labels)} labels, so {columns} column"
                         f"{'s' if columns > 1 else ''} of what is said of "
                         f"each is needed, not shape {said.shape}")
    return place, said, labels


def _curve(positive, score):
    """Shares of the negatives and of the positives above each score."""
    order = np.argsort(-score, kind="stable")
    last = np.append(np.diff(score[order]) != 0, True)
    found = np.cumsum(positive[order])[last]
    taken = np.cumsum(~positive[order])[last]
    share = [np.append(0, n) / max(n[-1], 1) for n in (taken, found)]
    mean = (share[1][1:] + share[1][:-1]) / 2
    return share, np.sum(np.diff(share[0]) * mean)


def roc(y, scores, ax=None):
    """The ROC curve of each label, and the area under it.

    `scores` are decisions or probabilities: one a sample of two labels (of the
    second in their order), else a column a label.  Samples whose label is not
    known do not count.
    """
    place, said, labels = _known(y, scores)
    ax = _axes(ax)
    for k in range(1, 2) if said.ndim == 1 else range(len(labels)):
        score = said if said.ndim == 1 else said[:, k]
        (taken, found), area = _curve(place == k, score)
        ax.plot(taken, found, label=f"{labels[k]}  AUROC {area:.3f}")
    ax.plot([0, 1], [0, 1], color="gray", linewidth=.8, linestyle=":")
    ax.set_xlabel("share of the others taken for it")
    ax.set_ylabel("share of it found")
    ax.set_aspect("equal")
    ax.legend(loc="lower right")
    return ax


def calibration(y, probabilities, ax=None, bins=10):
    """How often answers of a probability are right.

    Of labels that were held out (``held_out``, ``cross_val_predict``), not of
    those that the fit was given.  A dot is a tenth of the probabilities, its
    area how many answers have them; on the line they are true.
    """
    place, said, labels = _known(y, probabilities)
    if said.ndim == 1:
        sure = np.maximum(said, 1 - said)
        right = (said > .5) == (place == 1)
    else:
        sure, right = said.max(axis=1), said.argmax(axis=1) == place
    ax, seen = _axes(ax), ~np.isnan(sure)
    sure, right = sure[seen], right[seen]
    at = np.minimum((sure * bins).astype(int), bins - 1)
    dots = [(sure[at == k].mean(), right[at == k].mean(), (at == k).sum())
            for k in range(bins) if (at == k).any()]
    x, share, count = np.transpose(dots)
    ax.plot([0, 1], [0, 1], color="gray", linewidth=.8, linestyle=":")
    ax.plot(x, share, linewidth=.8)
    ax.scatter(x, share, s=20 + 300 * count / count.sum())
    ax.set_xlabel("probability of the answer")
    ax.set_ylabel("share that was right")
    ax.set_aspect("equal")
    return ax


def _name_classes(ax, names):
    """Names of the rows and columns of a square picture, so small, and turned
    where they have to be, that none lies over the next; the size."""
    names = [n if len(n) <= 24 else n[:23] + "\u2026" for n in map(str, names)]
    room = 72 * ax.get_window_extent().width / ax.figure.dpi / len(names)
    size = min(10, .8 * room)
    turned = .6 * size * max(map(len, names)) > .9 * room
    ax.set_xticks(range(len(names)), names, fontsize=size,
                  rotation=90 if turned else 0)
    ax.set_yticks(range(len(names)), names, fontsize=size)
    return size


def confusion(y, predicted, ax=None):
    """What was given (rows), and what was predicted of it (columns); without
    `ax` the figure grows with the number of labels."""
    y, predicted = np.asarray(y), np.asarray(predicted)
    known = ~unknown_in(y) & ~unknown_in(predicted)
    y, predicted = y[known], predicted[known]
    labels = np.unique(np.concatenate([y, predicted]).astype(type(y[0])))
    count = np.array([[np.sum((y == a) & (predicted == b)) for b in labels]
                      for a in labels])
    if ax is None:
        side = min(max(4.8, .36 * len(labels) + 1.5), 40)
        ax = _pyplot().subplots(figsize=(1.2 * side, side),
                                layout="constrained")[1]
    ax.imshow(count, cmap="Blues")
    size = _name_classes(ax, labels)
    size = min(size, 1.6 * size / len(str(count.max())))
    for (i, j), n in np.ndenumerate(count):
        ax.text(j, i, n, ha="center", va="center", fontsize=size,
                color="white" if 2 * n > count.max() else "black")
    ax.set_xlabel("predicted")
    ax.set_ylabel("given")
    return ax


# ---- features ----------------------------------------------------------------
def _names(of, count, names):
    found = getattr(of, "feature_names_in_", getattr(of, "columns", None))
    names = found if names is None else names
    return [f"x{i + 1}" for i in range(count)] if names is None else list(names)


def holes(X, ax=None, names=None):
    """Which entries of X are missing, magenta, a row a sample; the share
    of each feature is named below it."""
    gaps = np.isnan(np.asarray(X, float))
    ax = _axes(ax)
    colours = _pyplot().matplotlib.colors.ListedColormap(["0.9", MISSING])
    ax.imshow(gaps, cmap=colours, vmin=0, vmax=1, aspect="auto",
              interpolation="nearest")
    titles = [f"{name}\n{share:.0%}" for name, share in
              zip(_names(X, gaps.shape[1], names), gaps.mean(axis=0))]
    if len(titles) <= 30:
        ax.set_xticks(range(len(titles)), titles, fontsize="small")
    ax.set_xlabel("feature")
    ax.set_ylabel("sample")
    return ax


def coefficients(of, ax=None, names=None, most=20):
    """The largest coefficients of a linear estimator (`coef_`, or an array),
    largest first; several classes beside each other.  Of features in one unit
    they say what matters."""
    weights = np.atleast_2d(np.asarray(getattr(of, "coef_", of), float))
    names = _names(of, weights.shape[1], names)
    order = np.argsort(-np.abs(weights).max(axis=0), kind="stable")[:most]
    ax, height = _axes(ax), .8 / len(weights)
    labels = getattr(of, "classes_", np.arange(len(weights)))
    for k, row in enumerate(weights):
        ax.barh(np.arange(len(order)) + height * (k - (len(weights) - 1) / 2),
                row[order], height=height,
                label=str(labels[k]) if len(weights) > 1 else None)
    ax.set_yticks(range(len(order)), [names[i] for i in order])
    ax.invert_yaxis()
    ax.axvline(0, color="gray", linewidth=.8)
    ax.set_xlabel("coefficient")
    if len(weights) > 1:
        ax.legend()
    return ax
