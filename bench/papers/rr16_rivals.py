"""Rivals of robust regression and discriminant analysis, and MinNDC: written
against NumPy, SciPy and scikit-learn, apart from LAPIS."""
import numpy as np
from scipy.linalg import eigh
from sklearn.linear_model import (HuberRegressor, Lasso, MultiTaskLasso,
                                  MultiTaskLassoCV, RANSACRegressor)
from sklearn.svm import LinearSVC

from common import ones, ridge


# ---- regression: (X, Y) -> T, the offset last -------------------------------
def ransac(X, Y, seed, far=.1):
    m = RANSACRegressor(random_state=seed, max_trials=1000,
                        residual_threshold=far).fit(X, Y)
    return np.c_[m.estimator_.coef_, m.estimator_.intercept_]


def huber(X, Y):
    rows = [HuberRegressor(alpha=0, max_iter=1000).fit(X, y) for y in Y.T]
    return np.array([np.r_[m.coef_, m.intercept_] for m in rows])


def group_lasso(X, Y, alpha=None):
    m = (MultiTaskLasso(alpha) if alpha else MultiTaskLassoCV(cv=5)).fit(X, Y)
    return np.c_[m.coef_, m.intercept_]


# ---- classes: (images, persons, new images, settings) -> {setting: labels} --
def neighbour(A, a, B, _):
    return {0: a[np.argmin([((A - b) ** 2).sum(1) for b in B], 1)]}


def svm(A, a, B, Cs, scores=False):
    """Labels; with columns of indicators the scores of each."""
    def one(C, y):
        m = LinearSVC(C=C, dual=True, max_iter=2000, random_state=0).fit(A, y)
        return m.decision_function(B) if scores else m.predict(B)
    return {C: np.stack([one(C, y) for y in a.T], 1) if scores else one(C, a)
            for C in Cs}


def src(A, a, B, alphas, rebuild=False):
    """Sparse-representation classification: the class whose share of the
    coefficients leaves the smallest residual; or what is rebuilt."""
    length = np.linalg.norm(B, axis=1)
    U, X, out = A.T / np.linalg.norm(A, axis=1), B.T / length, {}
    for alpha in alphas:
        Z = Lasso(alpha=alpha, fit_intercept=False, max_iter=300, tol=1e-3,
                  precompute=U.T @ U).fit(U, X).coef_.T
        if rebuild:
            return (U @ Z).T * length[:, None]
        classes = np.unique(a)
        left = [np.linalg.norm(X - U @ (Z.T * (a == c)).T, axis=0)
                for c in classes]
        out[alpha] = classes[np.argmin(left, 0)]
    return out


def lda(A, a, B, gammas):
    """Ridge LDA: (Y Y')^(-1/2) is a multiple of I, so gamma has it."""
    classes = np.unique(a)
    Y = (a[:, None] == classes).astype(float)
    return {g: classes[np.argmax(ones(B) @ ridge(A, Y, g).T, 1)]
            for g in gammas}


# ---- several labels: (X, Y, new, settings) -> {setting: scores} -------------
def weighted_lda(X, Y, new, gammas):
    """min |W (Y - T [X; 1])|^2 + gamma |T|^2, W = (Y Y')^(-1/2), as rlda: in
    the eigenvectors of W'W the rows of T separate."""
    l, Q = np.linalg.eigh(np.linalg.inv(Y.T @ Y))
    A, out = ones(X), {}
    w, V = np.linalg.eigh(A.T @ A)
    right, w = V.T @ (A.T @ (Y @ Q)), np.maximum(w, 0)
    for g in gammas:
        T = V @ (l * right / (l * w[:, None] + max(g, 1e-9))) @ Q.T
        out[g] = ones(new) @ T
    return out


def pca_lda(X, Y, new, kinds):
    """So many components, or (0) 99.9 % of the energy, first."""
    m = X.mean(0)
    s, V = np.linalg.svd(X - m, full_matrices=False)[1:]
    energy = int(np.searchsorted(np.cumsum(s ** 2) / (s @ s), .999)) + 1
    return {k: weighted_lda((X - m) @ V[:k or energy].T, Y,
                            (new - m) @ V[:k or energy].T, [0])[0]
            for k in kinds}


def mlda(X, Y, new, gammas):
    """Multi-label LDA (Wang, Ding, Huang, ECCV 2010): classes weighted by
    their correlation, an image by its share in them; then regression on the
    projection."""
    size = np.linalg.norm(Y, axis=0)
    Z = Y @ (Y.T @ Y / np.outer(size, size))
    Z /= np.maximum(np.abs(Y).sum(1, keepdims=True), 1)
    n, mean = Z.sum(0), (Z.sum(1) @ X) / Z.sum()
    M = (Z.T @ X) / n[:, None]
    between = (M - mean).T @ (n[:, None] * (M - mean))
    total = (X - mean).T @ (Z.sum(1)[:, None] * (X - mean))
    within, out = total - between, {}
    for g in gammas:
        P = eigh(between, within + g * np.eye(len(within)))[1][
            :, -(Y.shape[1] - 1):]
        out[g] = weighted_lda(X @ P, Y, new @ P, [0])[0]
    return out


def min_ndc(Y, scores):
    """Least of P(miss) + 12.49 P(false alarm) over thresholds: costs 80 and 1,
    a prior of .001, as in TRECVID MED; mean over classes."""
    each = []
    for y, s in zip(Y.T > 0, scores.T):
        order = np.argsort(-s)
        miss = 1 - np.r_[0, np.cumsum(y[order])] / y.sum()
        false = np.r_[0, np.cumsum(~y[order])] / (~y).sum()
        each.append(np.min(miss + 12.4875 * false))
    return float(np.mean(each))
