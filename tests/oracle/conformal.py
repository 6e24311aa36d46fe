"""Sets of classes and intervals of a stated coverage, by what every fold's fit
says: cross-conformal with 1 - p of the class [RSC20, CV+ for classes], CV+
[BCRT21].  Slow and plain: a count, or a sort, a sample.

scores: n, of labels that were held out; fold: n, the fold of each;
said: folds x m x ..., what each fit without a fold says of m new samples.
"""
import numpy as np


def sets(scores, fold, said, share, classes=None):
    """m x K of True and False.  classes: n, the class of each score, where a
    class is held against its own scores alone."""
    _, m, K = said.shape
    inside = np.zeros((m, K), bool)
    for j in range(m):
        for k in range(K):
            of = np.ones(len(scores), bool) if classes is None else classes == k
            miss = 1 - said[fold[of], j, k]
            inside[j, k] = ((scores[of] < miss).sum()
                            < np.round(share * (of.sum() + 1), 9))
    return inside


def intervals(scores, fold, said, share):
    """m x 2."""
    n, m = len(scores), said.shape[1]
    up = int(np.ceil(np.round(share * (n + 1), 9)))
    ends = np.tile([-np.inf, np.inf], (m, 1))
    for j in range(m):
        if up <= n:
            ends[j] = (np.sort(said[fold, j] - scores)[n - up],
                       np.sort(said[fold, j] + scores)[up - 1])
    return ends
