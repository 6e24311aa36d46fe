"""Rivals of ROML, written against NumPy and SciPy, apart from LAPIS.  X:
descriptors, xy: positions, group: image of each row."""
import numpy as np
from scipy.cluster.vq import kmeans2
from scipy.linalg import eigh
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist


def images(group, K=None):
    return [np.flatnonzero(group == k) for k in
            range(group.max() + 1 if K is None else K)]


def one_shot(X, xy, group, n, dim=20, seed=0):
    """Torki and Elgammal: Laplacian embedding of all points, near in an image
    or alike in two; k-means; in every image the clusters take the nearest."""
    of = images(group)
    scale = np.median(cdist(X[of[0]], X[of[1]]).min(1)) + 1e-12
    A = np.exp(-cdist(X, X, "sqeuclidean") / (2 * scale ** 2))
    for k in of:
        d = cdist(xy[k], xy[k])
        A[np.ix_(k, k)] = np.exp(-d ** 2 / (2 * (.12 * d.max()) ** 2))
    deg = A.sum(1)
    F = eigh(np.diag(deg) - A, np.diag(deg),
             subset_by_index=[1, min(dim, len(A) - 1)])[1]
    centre, at = kmeans2(F, n, minit="++", seed=seed)
    spread = [F[at == c].var() if (at == c).any() else np.inf
              for c in range(n)]
    centre = centre[np.argsort(spread)]
    return np.array([k[linear_sum_assignment(cdist(centre, F[k]))[1]]
                     for k in of])


def over_pairs(group, truth, match):
    """Mean over ordered pairs of images: how many of the keypoints of the one
    `match` (their rows, rows of the other) finds in the other."""
    of, K, right = images(group), len(truth), []
    for a in range(K):
        for b in range(K):
            if a != b:
                right.append(np.mean(match(truth[a], of[b]) == truth[b]))
    return np.mean(right)


def nearest(X, group, truth):
    return over_pairs(group, truth, lambda i, j: j[(X[i] @ X[j].T).argmax(1)])


def pairwise(X, group, truth):
    return over_pairs(group, truth, lambda i, j: j[
        linear_sum_assignment(-X[i] @ X[j].T)[1]])


def spectral(X, xy, group, truth, descriptors=True, most=40):
    """Leordeanu and Hebert's spectral matching: the first eigenvector of the
    matrix of compatible candidate pairs, then an assignment."""
    def match(i, j):
        near = cdist(X[i], X[j]) if descriptors else \
            cdist(xy[i] - xy[i].mean(0), xy[j] - xy[j].mean(0))
        each = max(3, most // len(i))
        a = np.repeat(np.arange(len(i)), each)
        b = np.argsort(near, 1)[:, :each].ravel()
        d, e = cdist(xy[i], xy[i])[np.ix_(a, a)], cdist(xy[j], xy[j])[
            np.ix_(b, b)]
        width = .1 * d.max() + 1e-12
        M = np.exp(-(d - e) ** 2 / (2 * width ** 2))
        M[(a[:, None] == a) ^ (b[:, None] == b)] = 0
        alike = np.exp(-near[a, b] / (np.median(near) + 1e-12))
        np.fill_diagonal(M, alike)
        v = np.ones(len(a))
        for _ in range(60):
            v = M @ v
            v /= np.linalg.norm(v)
        score = np.zeros((len(i), len(j)))
        score[a, b] = v
        return j[linear_sum_assignment(-score)[1]]
    return over_pairs(group, truth, match)
