"""The step of bench/mc.c's fpc (mc1) in NumPy.

    OPENBLAS_CORETYPE= /usr/bin/python3 bench/rivals/mc_numpy.py

fpc [MC11 Alg. 1]: gradient step, full SVD, shrink, row of ones.
"""
import time

import numpy as np


def shrink(w, t):
    u, s, v = np.linalg.svd(w, full_matrices=False)
    s = np.maximum(s - t, 0)
    return (u * s) @ v, s.sum()


def fpc_step(z, z0, seen, labels, tau, mu, a, b, gamma):
    g = np.zeros_like(z)
    f = seen[labels:-1]
    g[labels:-1][f] = a * (z[labels:-1][f] - z0[labels:-1][f])
    f = seen[:labels]
    y = z0[:labels][f]
    g[:labels][f] = -b * y / (1 + np.exp(gamma * y * z[:labels][f]))
    z, _ = shrink(z - tau * g, tau * mu)
    z[-1] = 1
    return z


rng = np.random.default_rng(1)
z0 = rng.random((600, 10)) @ rng.random((10, 1500)) / 10
z0[:9] = np.sign(z0[:9] - z0[:9].mean(axis=1, keepdims=True))
z0[-1] = 1
seen = rng.random(z0.shape) < 0.5
a, b = 1 / seen[9:-1].sum(), 0.1 / seen[:9].sum()
tau = min(4 * seen[:9].sum() / 0.3, seen[9:-1].sum())
mu = 0.02 * a * np.linalg.norm(np.where(seen, z0, 0), 2)
times, z = [], np.where(seen, z0, 0)
for _ in range(7):
    start = time.perf_counter()
    z = fpc_step(z, z0, seen, 9, tau, mu, a, b, 3)
    times.append(time.perf_counter() - start)
print(f"numpy {np.__version__}: fpc step 600 x 1500 {np.median(times):.3f} s")
