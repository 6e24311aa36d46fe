"""Variants of ROML that LAPIS does not have, in NumPy and SciPy, to see when
they would pay: an affine term, and updates of some images at a time."""
import time

import numpy as np
from scipy.optimize import linear_sum_assignment


def low_rank(A, rho):
    """argmin |L|_* + rho/2 |L - A|^2, by the smaller Gram matrix."""
    if len(A) < A.shape[1]:
        return low_rank(A.T, rho).T
    s2, V = np.linalg.eigh(A.T @ A)
    s = np.sqrt(np.maximum(s2, 1e-300))
    return A @ (V * np.maximum(1 - 1 / (rho * s), 0)) @ V.T


def stacked(F, P, points):
    """D: a column an image; of points, two rows an image."""
    picked = np.stack([f[p] for f, p in zip(F, P)])
    return picked.transpose(0, 2, 1).reshape(-1, P.shape[1]) if points \
        else picked.reshape(len(P), -1).T


def cost(F, M, k, points):
    """Of image k: a row a slot, a column a feature."""
    m = M[2 * k:2 * k + 2].T if points else M[:, k].reshape(-1, F.shape[2])
    return (F[k] ** 2).sum(1) / 2 - m @ F[k].T


def iterate(F, P, weight, points=False, affine=False, share=1., growth=1.01,
            most=4000):
    """From the start P (K x n, within images): P, iterations and processor
    seconds.  affine: minimize |L|_* + lambda |E|_1 subject to
    L + t 1' + E = D, t free, a number a row of D; L and t together have a
    closed form, as t is the mean of a row.  share: of the images that are
    assigned anew in an iteration, by chance.  F: K x n_k x d."""
    r, P, K = np.random.default_rng(0), P.copy(), len(P)
    began = time.process_time()

    def mean(A):
        return A.mean(1, keepdims=True) if affine else 0.

    blind = stacked(F, np.array([r.permutation(F.shape[1])[:P.shape[1]]
                                 for _ in range(K)]), points)
    rho = .95 / np.median(np.linalg.svd(blind - mean(blind),
                                        compute_uv=False))
    D = stacked(F, P, points)
    weight, floor = weight / np.sqrt(len(D)), np.linalg.norm(D)
    E, Y = np.zeros_like(D), np.zeros_like(D)
    for t in range(1, most + 1):
        A = D - E - Y / rho
        L = low_rank(A - mean(A), rho) + mean(A)
        V = D - L - Y / rho
        E = np.sign(V) * np.maximum(np.abs(V) - weight / rho, 0)
        M = L + E + Y / rho
        some = range(K) if share == 1 else np.flatnonzero(r.random(K) < share)
        for k in some:
            P[k] = linear_sum_assignment(cost(F, M, k, points))[1]
        D = stacked(F, P, points)
        Y += rho * (L + E - D)
        rho *= growth
        if np.linalg.norm(L + E - D) < 1e-7 * floor:
            break
    return P, t, time.process_time() - began
