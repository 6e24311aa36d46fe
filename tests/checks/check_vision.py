#!/usr/bin/python3
"""check_vision.py ops|features|words|sift FOLDER: what LAPIS made of images, compared
with scikit-image, SciPy, OpenCV, and with the formulas in numpy."""
import pathlib
import sys

import numpy as np

what, folder = sys.argv[1], pathlib.Path(sys.argv[2])


def load(name):
    return np.load(folder / f"{name}.npy").astype("f8")


def near(name, got, wanted, tolerance):
    off = np.abs(got - wanted).max() if got.shape == wanted.shape else np.inf
    print(f"{name}: off by at most {off:.3g}, {tolerance:.3g} allowed")
    if not off <= tolerance:
        sys.exit(f"{name}: {got.shape} {wanted.shape}")


def ops():
    import cv2
    from scipy import ndimage
    from skimage import color, filters
    image = load("image")
    # scikit-image's white point is not quite what its matrix makes of white
    near("lab", load("lab"), color.rgb2lab(image), 0.02)
    bgr = image[..., ::-1].astype("f4")
    near("grey", load("grey")[..., 0], cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY),
         1e-6)
    for x in range(3):
        for y in range(3):
            near(f"gaussian{x}{y}", load(f"gaussian{x}{y}"),
                 np.stack([ndimage.gaussian_filter(image[..., c], 1.7, (y, x),
                                                   mode="nearest", truncate=4)
                           for c in range(3)], 2), 1e-6)
    near("blur", load("gaussian00"), filters.gaussian(
        image, 1.7, mode="nearest", truncate=4, channel_axis=2), 1e-6)
    near("small", load("small"),
         cv2.resize(image, (21, 16), interpolation=cv2.INTER_AREA), 1e-5)
    near("large", load("large"),
         cv2.resize(image, (128, 96), interpolation=cv2.INTER_LINEAR), 1e-5)


# ---- features: the formulas of images, again -----------------------------
def images():
    """P5 and P6 of 16 bits, as (height, width, channels)."""
    for path in sorted(folder.glob("?.pnm")):
        head, body = path.read_bytes().split(b"65535\n", 1)
        width, height = map(int, head.split()[1:3])
        v = np.frombuffer(body, ">u2").reshape(height, width, -1)
        yield v / 65535


def moments(image, grid):
    image = np.repeat(image, 3 // image.shape[2], 2) * 255
    out = []
    edges = [[i * n // grid for i in range(grid + 1)] for n in image.shape[:2]]
    for a, b in zip(edges[0], edges[0][1:]):
        for c, d in zip(edges[1], edges[1][1:]):
            cell = image[a:b, c:d].reshape(-1, 3)
            out.append(np.stack([cell.mean(0), cell.var(0)], 1).ravel())
    return np.concatenate(out)


def grey(image):
    if image.shape[2] == 1:
        return image[..., 0]
    return image @ [0.299, 0.587, 0.114]


def shrunk(image, side):
    step = len(image) // side
    return image.reshape(side, step, side, step).mean((1, 3))


def gist(image, side, scales, orientations, blocks):
    v = shrunk(grey(image), side)
    v = np.log1p(255 * (v - v.min()) / (v.max() - v.min()))
    half, n = side // 2, 2 * side

    def mirrored(a):
        return np.pad(a, half, "symmetric")

    f = np.fft.fftfreq(n) * n
    fx, fy = np.meshgrid(f, f)
    low = np.exp(-np.log(2) * (fx ** 2 + fy ** 2) / 4 / 4 ** 2)

    def smooth(a):
        return np.fft.ifft2(np.fft.fft2(a) * low).real

    v = mirrored(v)
    h = v - smooth(v)
    p = (h / (0.2 + np.sqrt(np.abs(smooth(h * h)))))[half:-half, half:-half]
    z = np.fft.fft2(mirrored(p))
    r, t = np.hypot(fx, fy) / n, np.arctan2(fy, fx)
    out = []
    for k in range(scales):
        for j in range(orientations):
            d = t + np.pi * j / orientations
            d = np.angle(np.exp(1j * d))
            g = np.exp(-3.5 * (r / (0.3 / 1.85 ** k) - 1) ** 2
                       - 2 * np.pi * (orientations / 8) ** 2 * d ** 2)
            a = np.abs(np.fft.ifft2(z * g))[half:-half, half:-half]
            edges = [i * side // blocks for i in range(blocks + 1)]
            out += [a[u:v, x:y].mean() for u, v in zip(edges, edges[1:])
                    for x, y in zip(edges, edges[1:])]
    return np.array(out)


def hog(image, cell):
    """[FGMR10, Sec. 6]: signed and unsigned orientations, four energies; those
    of unsigned orientations here, of signed ones there."""
    dy, dx = np.zeros_like(image), np.zeros_like(image)
    dx[1:-1, 1:-1] = image[1:-1, 2:] - image[1:-1, :-2]
    dy[1:-1, 1:-1] = image[2:, 1:-1] - image[:-2, 1:-1]
    size = np.hypot(dx, dy)
    best = size.argmax(2)[..., None]
    dx, dy, size = (np.take_along_axis(a, best, 2)[..., 0]
                    for a in (dx, dy, size))
    # an edge half way between two directions goes to the first
    bins = np.arctan2(dy, dx) % (2 * np.pi) / (np.pi / 9)
    bins = np.ceil(bins - 0.5 - 1e-9).astype(int) % 18
    n = len(image) // cell
    h = np.zeros((n, n, 18))
    for y in range(len(image)):
        for x in range(len(image)):
            v, u = (y + .5) / cell - .5, (x + .5) / cell - .5
            for j in (int(np.floor(v)), int(np.floor(v)) + 1):
                for i in (int(np.floor(u)), int(np.floor(u)) + 1):
                    if 0 <= j < n and 0 <= i < n:
                        h[j, i, bins[y, x]] += (size[y, x] * (1 - abs(v - j))
                                                * (1 - abs(u - i)))
    both = h[..., :9] + h[..., 9:]
    energy = np.pad((both ** 2).sum(2), 1, "edge")
    out = np.zeros((n, n, 31))
    for b, (j, i) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
        around = sum(energy[j + y:j + y + n, i + x:i + x + n]
                     for y in (0, 1) for x in (0, 1))
        scale = 1 / np.sqrt(around)[..., None]
        signed = np.minimum(0.2, h * scale)
        out[..., :18] += signed / 2
        unsigned = np.minimum(0.2, both * scale)
        out[..., 18:27] += unsigned / 2
        out[..., 27 + b] = unsigned.sum(2) / np.sqrt(18)
    return out


def against_skimage(got, image):
    """No interpolation and no blocks there, bins of 10 degrees that begin at 0;
    ours are 20 degrees around multiples of 20: two of theirs.  What is left is
    compared by direction, cell by cell."""
    from skimage import feature
    bins = feature.hog(image, 18, (8, 8), (1, 1), "L1", feature_vector=False,
                       channel_axis=2)[:, :, 0, 0]
    theirs = np.roll(bins, 1, 2).reshape(*bins.shape[:2], 9, 2).sum(3)
    ours = got[..., 18:27]
    cosine = (theirs * ours).sum(2) / np.linalg.norm(theirs, axis=2) / (
        np.linalg.norm(ours, axis=2))
    print(f"hog, scikit-image: cosine {cosine.mean():.3f} on average, "
          f"{cosine.min():.3f} at least")
    if cosine.mean() < 0.9:
        sys.exit("hog: not what scikit-image makes")


def features():
    for k, image in enumerate(images()):
        near("moments", load("moments")[k], moments(image, 5), 1e-3)
        near("gist", load("gist")[k], gist(image, 128, 4, 8, 4), 1e-5)
        near("small gist", load("gist_small")[k], gist(image, 32, 2, 6, 3),
             1e-5)
        ours = load("hog")[k].reshape(16, 16, 31)
        # one pixel that floats put on the other side of a bin's end is 0.003
        near("hog", ours, hog(image, 8), 1e-2)
        against_skimage(ours, image)


# ---- words -------------------------------------------------------------------
def walk(points, v):
    """Down the tree of words, and how close the decision was."""
    points = (points - v["shift"]) / v["scale"]
    node, margin = np.zeros(len(points), int), np.full(len(points), np.inf)
    branch = len(v["level_1"])
    for level in range(1, 5):
        if f"level_{level}" not in v:
            break
        c = v[f"level_{level}"].reshape(-1, branch, points.shape[1])[node]
        d = ((points[:, None] - c) ** 2).sum(2)
        two = np.sort(d, 1)
        margin = np.minimum(margin, (two[:, 1] - two[:, 0]) / two[:, 1])
        node = node * branch + d.argmin(1)
    return node, margin


def same_words(name, got, points, v, allowed):
    """Words that differ are near ties."""
    wanted, margin = walk(points, v)
    off = got != wanted
    print(f"{name}: {off.mean():.4f} of the words differ, by margins of at "
          f"most {margin[off].max(initial=0):.2g}")
    if off.mean() > allowed:
        sys.exit(f"{name}: {allowed} allowed")


def correlate(a, k, axis):
    from scipy import ndimage
    return ndimage.correlate1d(a, k, axis, mode="nearest")


def dense_sift(image, size, magnif):
    """[Lowe 2004, Sec. 6], upright, every cell at once: the descriptor with its
    first cell at (x, y) is out[y, x]."""
    from scipy import ndimage
    sigma = np.sqrt(max(0, (size / magnif) ** 2 - .25))
    a = ndimage.gaussian_filter(image, sigma, mode="nearest", truncate=4)
    dy, dx = np.gradient(a)
    at = np.arctan2(dy, dx) % (2 * np.pi) / (2 * np.pi) * 8
    maps = [np.hypot(dx, dy) * np.maximum(0, 1 - np.abs((at - k + 4) % 8 - 4))
            for k in range(8)]
    triangle = 1 - np.abs(np.arange(1 - size, size)) / size
    maps = np.stack([correlate(correlate(m, triangle, 0), triangle, 1)
                     for m in maps], 2)
    t = np.arange(1 - size, size)[:, None] + size * (np.arange(4) - 1.5)
    weight = np.exp(-(t / (2 * size)) ** 2 / 2).mean(0)
    h, w = (n - 3 * size for n in image.shape)
    cells = [maps[r * size:r * size + h, c * size:c * size + w]
             * weight[r] * weight[c] for r in range(4) for c in range(4)]
    v = np.stack(cells, 2).reshape(h, w, 128)
    for cut in (0.2, np.inf):
        v = np.minimum(v / np.linalg.norm(v, axis=2, keepdims=True), cut)
    return np.minimum(np.floor(512 * v), 255)


def textons(image):
    from scipy import ndimage
    from skimage import color
    lab = color.rgb2lab(np.repeat(image, 3 // image.shape[2], 2))
    L = lab[..., 0]

    def gauss(a, sigma, order=0):
        return ndimage.gaussian_filter(a, sigma, order, mode="nearest",
                                       truncate=4)

    out = [gauss(lab[..., c], s) for s in (1, 2, 4) for c in range(3)]
    out += [s * s * (gauss(L, s, (0, 2)) + gauss(L, s, (2, 0)))
            for s in (1, 2, 4, 8)]
    out += [s * gauss(L, s, o) for s in (2, 4) for o in ((0, 1), (1, 0))]
    return np.stack(out, 2).reshape(-1, 17)


def words():
    dense, dense_v = (np.load(folder / f"dense{n}.npz") for n in ("", "_v"))
    texton, texton_v = (np.load(folder / f"textons{n}.npz") for n in ("", "_v"))
    for k, image in enumerate(images()):
        a, b = dense["word_start"].ravel()[k:k + 2]
        got, xy = dense["word"].ravel()[a:b], dense["word_xy"][a:b]
        points = np.zeros((b - a, 128))
        for size in (4, 6, 9):
            m = xy[:, 2] == 4 * size
            x, y = np.rint(xy[m, :2] - 1.5 * size).astype(int).T
            points[m] = dense_sift(grey(image), size, 4)[y, x]
        # rounding down may go either way
        same_words("dense SIFT", got, points, dense_v, 0.002)
        a, b = texton["word_start"].ravel()[k:k + 2]
        same_words("textons", texton["word"].ravel()[a:b], textons(image),
                   texton_v, 0.002)


# ---- keypoints ---------------------------------------------------------------
def found_again(name, ours, theirs, share, off, angles=True):
    """x, y, scale, angle of keypoints; indices of those that agree."""
    pairs = []
    for i, p in enumerate(ours):
        apart = np.hypot(*(theirs[:, :2] - p[:2]).T)
        turn = np.angle(np.exp(1j * (theirs[:, 3] - p[3])))
        good = (apart < 1) & (np.abs(np.log(theirs[:, 2] / p[2])) < 0.18)
        good &= np.abs(turn) < 0.2 if angles else True
        if good.any():
            pairs.append((i, np.where(good, apart, 9).argmin()))
    a, b = np.array(pairs).T
    apart = np.median(np.hypot(*(ours[a, :2] - theirs[b, :2]).T))
    print(f"{name}: {len(a)} of {len(ours)} keypoints, half of them within "
          f"{apart:.2f} pixels, scale times "
          f"{np.median(theirs[b, 2] / ours[a, 2]):.3f}")
    if len(a) < share * len(ours) or apart > off:
        sys.exit(f"{name}: {share} of them and {off} wanted")
    return a, b


def sift():
    import cv2
    from skimage.feature import SIFT
    z = np.load(folder / "sift.npz")
    ours, vectors = z["xy"].astype("f8"), z["X"].astype("f8")
    image = next(iter(images()))[..., 0]
    keys, theirs = cv2.SIFT_create(
        contrastThreshold=0.01).detectAndCompute(
            np.rint(image * 255).astype("u1"), None)
    place = np.array([[*k.pt, k.size / 2, np.deg2rad(k.angle)] for k in keys])
    # their doubled image is a quarter of a pixel off along both axes
    a, b = found_again("OpenCV", ours, place, 0.65, 0.5)
    # they count directions the other way round
    theirs = theirs.astype("f8").reshape(-1, 16, 8)[b][..., -np.arange(8) % 8]
    theirs, vectors = theirs.reshape(-1, 128), vectors[a]
    cosine = (theirs * vectors).sum(1) / np.linalg.norm(theirs, axis=1) / (
        np.linalg.norm(vectors, axis=1))
    print(f"OpenCV: cosine of descriptors {np.median(cosine):.3f}, a tenth "
          f"below {np.quantile(cosine, 0.1):.3f}")
    if np.median(cosine) < 0.97:
        sys.exit("descriptors differ from OpenCV's")
    other = SIFT(c_dog=0.02 / 3)
    other.detect(image)
    place = np.c_[other.keypoints[:, ::-1], other.sigmas,
                  np.pi / 2 - other.orientations]
    # directions there are to the nearest of 36
    found_again("scikit-image", ours, place, 0.75, 0.7)


{"ops": ops, "features": features, "words": words,
 "sift": sift}[what]()
