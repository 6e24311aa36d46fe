"""Pictures of what was found, by matplotlib.

Each function draws into `ax` (or a figure of its own) and returns what it
drew into.  NaN, what was not observed, is magenta everywhere.
"""
import numpy as np

__all__ = ["convergence", "decomposition", "heatmap", "matches", "suspects"]

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
        ax.set_title(f"{sample}: {name}\n{by:+.2f}", fontsize="small")
    return figure


# ---- convergence -------------------------------------------------------------
def _history(of):
    """{name: values} of an estimator, a Result or such a dict."""
    if hasattr(of, "history_"):
        return of.history_
    if "history_columns" in of:
        return dict(zip(of["history_columns"], np.array(of["history"]).T))
    return of


def convergence(of, ax=None, names=("gap", "residual")):
    """What a solve recorded, iteration by iteration, on a log scale.

    `of` is a fitted estimator or a Result; of `names` those are drawn that
    were recorded, and all else but the iteration where none was.
    """
    history, ax = _history(of), _axes(ax)
    shown = [name for name in names if name in history] or [
        name for name in history if name != "iteration"]
    at = history.get("iteration")
    for name in shown:
        values = np.abs(np.asarray(history[name], float))
        where = np.arange(1, len(values) + 1) if at is None else at
        ax.semilogy(where, np.where(values > 0, values, np.nan), label=name)
    ax.set_xlabel("iteration")
    ax.legend()
    return ax
