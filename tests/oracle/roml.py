"""ROML [ROML16], slowly: an oracle that shares no code with the library.

Plain NumPy/SciPy, written for clarity.  Conventions used everywhere:

  F     : list of K arrays, F[k] has shape (d, n_k); columns are the features of image k
  idx   : int array (K, n);  idx[k, j] = i  <=>  P^k[i, j] = 1   (partial permutation)
  D     : (d*n, K),  D[:, k] = vec(F^k P^k), i.e. rows j*d:(j+1)*d hold slot j
  L,E,Y : (d*n, K)
  augmented Lagrangian (scaled form of (6); the printed "+ (1/rho) Y'Y" is a shorthand):
      |L|_* + lam |E|_1 + <Y, L+E-D> + rho/2 |L+E-D|_F^2
"""
import numpy as np
from scipy.optimize import linear_sum_assignment


# ----------------------------------------------------------------- proximal operators
def soft(x, t):
    return np.sign(x) * np.maximum(np.abs(x) - t, 0.0)


def svt_svd(M, t):
    """argmin_L t|L|_* + 1/2|L-M|_F^2 by a full thin SVD; returns L and the kept singular values."""
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    s = np.maximum(s - t, 0.0)
    return (U * s) @ Vt, s


def svt_gram(M, t):
    """Same through the small Gram matrix (works on the smaller side).

    L = M V diag(1 - t/s)_+ V'  where M'M = V diag(s^2) V'.  Only directions with s > t are
    used, so the division by s is benign as long as t >> eps * s_max."""
    if M.shape[0] < M.shape[1]:
        L, s = svt_gram(M.T, t)
        return L.T, s
    w, V = np.linalg.eigh(M.T @ M)
    s = np.sqrt(np.maximum(w, 0.0))
    keep = s > t
    if not keep.any():
        return np.zeros_like(M), np.zeros(0)
    V = V[:, keep]
    s = s[keep]
    g = 1.0 - t / s
    return (M @ (V * g)) @ V.T, np.sort(s - t)[::-1]


# ----------------------------------------------------------------- helpers
def normalise(F, c=1.0):
    """Scale every column of every F[k] to l2 norm c (zero columns are left at zero)."""
    out = []
    for Fk in F:
        nr = np.linalg.norm(Fk, axis=0)
        nr[nr == 0] = 1.0
        out.append(c * Fk / nr)
    return out


def stack(F, idx):
    """D({P^k}) of eq. (2)."""
    return np.stack([F[k][:, idx[k]].T.ravel() for k in range(len(F))], axis=1)


def lsap_step(F, W, sqn=None, rho=None, fixed=None, idx_prev=None):
    """Eq. (16): for each image minimise -<W_k, vec(F^k P^k)> over partial permutations.

    With sqn (list of squared column norms) the exact quadratic (15) is used instead: a quadratic
    term rho/2 |f_i|^2 is linear in the 0/1 matrix as well, so equal norms are never needed."""
    K = len(F)
    d = F[0].shape[0]
    n = W.shape[0] // d
    idx = np.empty((K, n), dtype=int)
    for k in range(K):
        if fixed is not None and k in fixed:
            idx[k] = fixed[k]
            continue
        C = -(W[:, k].reshape(n, d) @ F[k])            # (n, n_k)
        if sqn is not None:
            C = C + 0.5 * rho * sqn[k][None, :]
        r, c = linear_sum_assignment(C)
        idx[k, r] = c
    return idx


# ----------------------------------------------------------------- Algorithm 1
def roml(F, n, lam=None, rho0=1e-4, growth=1.001, max_iter=20000, tol=1e-6, patience=20,
         idx0=None, init='first', seed=0, fixed=None, exact_quadratic=False, svt=svt_gram,
         rho_max=1e12, trace=None, printed_threshold=False):
    """Algorithm 1 with the misprints corrected.

    stop: primal residual |L+E-D|_F <= tol*|D|_F and P unchanged for `patience` iterations.
    fixed: {k: idx_k} images whose PPM is known (first-frame mode of section 5.3)."""
    K = len(F)
    d = F[0].shape[0]
    if lam is None:
        lam = 5.0 / np.sqrt(d * n)
    rng = np.random.default_rng(seed)
    if idx0 is not None:
        idx = np.array(idx0, dtype=int).copy()
    elif init == 'first':
        idx = np.tile(np.arange(n), (K, 1))
    elif init == 'random':
        idx = np.stack([rng.permutation(F[k].shape[1])[:n] for k in range(K)])
    else:
        raise ValueError(init)
    if fixed:
        for k, v in fixed.items():
            idx[k] = v
    sqn = [np.sum(Fk * Fk, axis=0) for Fk in F] if exact_quadratic else None
    D = stack(F, idx)
    L = np.zeros_like(D)
    E = np.zeros_like(D)
    Y = np.zeros_like(D)
    rho = rho0
    same = 0
    it = 0
    for it in range(1, max_iter + 1):
        L, s = svt(D - E - Y / rho, (lam if printed_threshold else 1.0) / rho)
        E = soft(D - L - Y / rho, lam / rho)
        new = lsap_step(F, Y + rho * (L + E), sqn, rho, fixed)
        changed = int(np.count_nonzero(new != idx))
        idx = new
        Dn = stack(F, idx)
        R = L + E - Dn
        Y = Y + rho * R
        pri = np.linalg.norm(R)
        dual = rho * np.linalg.norm(Dn - D)
        D = Dn
        if trace is not None:
            trace.append((it, rho, pri, dual, float(np.sum(s)) + lam * np.abs(E).sum(), changed, len(s)))
        same = same + 1 if changed == 0 else 0
        if pri <= tol * max(1e-300, np.linalg.norm(D)) and same >= patience:
            break
        rho = min(rho * growth, rho_max)
    return dict(idx=idx, L=L, E=E, Y=Y, D=D, iters=it, rho=rho, primal_residual=float(pri),
                objective=float(np.linalg.svd(L, compute_uv=False).sum() + lam * np.abs(E).sum()))


# ----------------------------------------------------------------- coordinates: formulation (27)
def stack_coords(F, idx):
    """D' of (27): the d x n blocks F^k P^k one below the other, (d*K, n)."""
    return np.vstack([F[k][:, idx[k]] for k in range(len(F))])


def roml_coords(F, n, lam=None, rho0=1e-6, growth=1.0001, max_iter=200000, tol=1e-6, patience=20,
                idx0=None, fixed=None, quadratic=None, trace=None):
    """Algorithm 1 on D' (2K x n).  The P-step of image k sees only its own two rows M_k of
    L+E+Y/rho: min_P |M_k - F^k P|^2, an LSAP with cost -<m_j, f_i> + |f_i|^2/2.  The second
    term matters only if n_k > n (coordinates must not be rescaled to equal norms).
    The Gram trick acts on the smaller side of D'."""
    K = len(F)
    d = F[0].shape[0]
    if lam is None:
        lam = 5.0 / np.sqrt(d * K)
    idx = np.tile(np.arange(n), (K, 1)) if idx0 is None else np.array(idx0, int).copy()
    if fixed:
        for k, v in fixed.items():
            idx[k] = v
    if quadratic is None:
        quadratic = any(Fk.shape[1] != n for Fk in F)
    half = [0.5 * (Fk * Fk).sum(0) if quadratic else 0.0 for Fk in F]
    D = stack_coords(F, idx)
    L = np.zeros_like(D)
    E = np.zeros_like(D)
    Y = np.zeros_like(D)
    rho, same = rho0, 0
    for it in range(1, max_iter + 1):
        L, s = svt_svd(D - E - Y / rho, 1.0 / rho)
        E = soft(D - L - Y / rho, lam / rho)
        M = L + E + Y / rho
        changed = 0
        for k in range(K):
            if fixed is not None and k in fixed:
                continue
            C = half[k] - M[k * d:(k + 1) * d].T @ F[k]
            r, c = linear_sum_assignment(C)
            changed += int(np.count_nonzero(idx[k, r] != c))
            idx[k, r] = c
        D = stack_coords(F, idx)
        R = L + E - D
        Y = Y + rho * R
        pri = np.linalg.norm(R)
        if trace is not None:
            trace.append((it, rho, pri, float(s.sum()) + lam * np.abs(E).sum(), changed,
                          int((s > 0).sum())))
        same = same + 1 if changed == 0 else 0
        if pri <= tol * max(1e-300, np.linalg.norm(D)) and same >= patience:
            break
        rho *= growth
    return dict(idx=idx, L=L, E=E, Y=Y, D=D, iters=it, rho=rho, primal_residual=float(pri),
                objective=float(np.linalg.svd(L, compute_uv=False).sum() + lam * np.abs(E).sum()))


# ----------------------------------------------------------------- evaluation
def align(idx, gt):
    """Slots are found up to one common permutation (gauge).  Returns perm with
    idx[:, perm] best matching gt (maximal number of equal entries, an n x n LSAP)."""
    O = np.array([[np.count_nonzero(idx[:, a] == gt[:, b]) for b in range(gt.shape[1])]
                  for a in range(idx.shape[1])])
    r, c = linear_sum_assignment(-O)
    perm = np.empty(gt.shape[1], dtype=int)
    perm[:] = -1
    perm[c] = r
    return perm, O


def recovery_rate(idx, gt):
    """sum_k |P^k o P^k*|_0 / sum_k |P^k*|_0 after the gauge alignment."""
    perm, O = align(idx, gt)
    return sum(O[perm[b], b] for b in range(gt.shape[1]) if perm[b] >= 0) / gt.size


def match_ratios(idx, gt, valid=None):
    """Footnote 4: pair-wise (gauge free).  idx (K,n), gt (K,n*) feature ids, valid (K,n*) marks
    non-missing inliers.  Match Ratio = found true / (pairs * n); Identification = found/true."""
    K, n = idx.shape
    ns = gt.shape[1]
    lab = np.full((K, n), -1)
    for k in range(K):
        m = {int(g): b for b, g in enumerate(gt[k]) if valid is None or valid[k, b]}
        lab[k] = [m.get(int(i), -1) for i in idx[k]]
    good = true = tot = 0
    for p in range(K):
        for q in range(p + 1, K):
            good += np.count_nonzero((lab[p] >= 0) & (lab[p] == lab[q]))
            true += ns if valid is None else np.count_nonzero(valid[p] & valid[q])
            tot += n
    return good / tot, good / true


def canonical(idx, ref=0):
    """Footnote 3: order the slots by the feature id selected in image `ref`."""
    return idx[:, np.argsort(idx[ref], kind='stable')]


# ----------------------------------------------------------------- 3.2.4 number of inliers
def gamma_n(D, d):
    """(24): the largest nuclear norm over the n blocks D_j (d x K)."""
    n = D.shape[0] // d
    return max(np.linalg.svd(D[j * d:(j + 1) * d], compute_uv=False).sum() for j in range(n))


def stop_rule(gammas, delta=0.05):
    """(25): smallest n with (gamma_{n+1} - mean(gamma_1..gamma_n)) / mean > delta, or None."""
    for n in range(1, len(gammas)):
        m = np.mean(gammas[:n])
        if (gammas[n] - m) / m > delta:
            return n
    return None


# ----------------------------------------------------------------- 3.2.5 true inliers
def rpca(D, lam=None, tol=1e-8, max_iter=2000, growth=1.05):
    """Inexact ALM for min |L|_* + lam |E|_1, D = L + E."""
    if lam is None:
        lam = 1.0 / np.sqrt(max(D.shape))
    nrm2 = np.linalg.norm(D, 2)
    Y = D / max(nrm2, np.abs(D).max() / lam)
    rho = 1.25 / nrm2
    E = np.zeros_like(D)
    nf = np.linalg.norm(D)
    for it in range(max_iter):
        L, s = svt_svd(D - E + Y / rho, 1 / rho)
        E = soft(D - L + Y / rho, lam / rho)
        R = D - L - E
        Y = Y + rho * R
        if np.linalg.norm(R) <= tol * nf:
            break
        rho *= growth
    return L, E, it + 1


def detect_inliers(D, d, xi=4.0, lam=None):
    """(26) for unit-norm features: bool (K, n), True = accepted as a true inlier."""
    n, K = D.shape[0] // d, D.shape[1]
    L, E, _ = rpca(D, 1.0 / np.sqrt(d * n) if lam is None else lam)
    return np.abs(E).reshape(n, d, K).sum(axis=1).T < xi


# ----------------------------------------------------------------- Appendix 1: embedded features
def embed(coords, desc, dim, sig_spa=10.0, sig_des=0.2):
    """coords[k] (n_k, 2), desc[k] (n_k, p).  Bottom `dim` non-trivial generalised eigenvectors of
    (D_A - A) f = beta D_A f, F' D_A F = I.  Solved as the top eigenvectors of the symmetric
    D^-1/2 A D^-1/2 (beta = 1 - mu), so no inverse of a singular Laplacian is needed.
    A has 1 on its diagonal by the printed formula; that changes D_A, hence the eigenvectors."""
    sizes = [len(c) for c in coords]
    off = np.concatenate([[0], np.cumsum(sizes)])
    N = off[-1]
    P = np.vstack(desc)
    n2 = (P * P).sum(1)
    A = np.exp(-np.maximum(n2[:, None] + n2[None] - 2 * P @ P.T, 0) / (2 * sig_des ** 2))
    for k, c in enumerate(coords):
        d2 = ((c[:, None] - c[None]) ** 2).sum(-1)
        A[off[k]:off[k + 1], off[k]:off[k + 1]] = np.exp(-d2 / (2 * sig_spa ** 2))
    deg = A.sum(1)
    B = A / np.sqrt(deg[:, None] * deg[None])
    mu, V = np.linalg.eigh(0.5 * (B + B.T))
    order = np.argsort(-mu)
    beta = 1.0 - mu[order]
    Fm = (V / np.sqrt(deg)[:, None])[:, order]
    use = slice(1, dim + 1)                       # drop the constant vector (beta = 0)
    return [Fm[off[k]:off[k + 1], use].T.copy() for k in range(len(coords))], beta[use], A


# ----------------------------------------------------------------- accelerated start
def seeded_init(F, n, ref=0, rounds=6, overlap=0.3):
    """Consensus start: every feature of image `ref` is a template; in each round it is replaced by
    the normalised sum of its best match in every image.  Templates are ranked by the sum of their
    best similarities, near-duplicates (sharing more than `overlap` of the matches) are dropped, the
    first n become the slots and one LSAP per image assigns features to them."""
    K = len(F)
    T = F[ref] / np.maximum(np.linalg.norm(F[ref], axis=0), 1e-300)
    for _ in range(rounds):
        S = np.zeros_like(T)
        for k in range(K):
            S += F[k][:, np.argmax(F[k].T @ T, axis=0)]
        T = S / np.maximum(np.linalg.norm(S, axis=0), 1e-300)
    B = np.stack([np.argmax(F[k].T @ T, axis=0) for k in range(K)])        # (K, candidates)
    score = sum(np.max(F[k].T @ T, axis=0) for k in range(K))
    keep = []
    for c in np.argsort(-score, kind='stable'):
        if all(np.mean(B[:, c] == B[:, o]) < overlap for o in keep):
            keep.append(c)
            if len(keep) == n:
                break
    slots = np.zeros((F[0].shape[0], n))
    slots[:, :len(keep)] = T[:, keep]
    return lsap_step(F, np.tile(slots.T.ravel()[:, None], (1, K)))


def rho_start(F, n, factor=0.95, seed=0):
    """rho below which the P-step is still disordered: 1/rho equals the bulk singular value of D at
    a random P (sqrt(n) for unit-norm features and K << d n)."""
    rng = np.random.default_rng(seed)
    idx = np.stack([rng.permutation(Fk.shape[1])[:n] for Fk in F])
    s = np.linalg.svd(stack(F, idx), compute_uv=False)
    return factor / np.median(s)


def synth(K, d, n, n_out, ratio, rng, amp=1.0, shuffle=True):
    """Section 3.2.2 data.  amp=1: errors uniform in [-max|f|, max|f|] (reproduces Fig. 1b and
    Table 2); amp=2: the range printed in the paper (does not)."""
    base = rng.standard_normal((d, n))
    F, gt = [], np.empty((K, n), int)
    ne = int(round(ratio * d))
    for k in range(K):
        G = np.concatenate([base, rng.standard_normal((d, n_out))], axis=1)
        m = G.shape[1]
        for i in range(m):
            a = amp * np.abs(G[:, i]).max()
            p = rng.permutation(d)[:ne]
            G[p, i] += rng.uniform(-a, a, ne)
        G /= np.linalg.norm(G, axis=0)
        perm = rng.permutation(m) if shuffle else np.arange(m)
        inv = np.empty(m, int)
        inv[perm] = np.arange(m)
        F.append(np.ascontiguousarray(G[:, perm]))
        gt[k] = inv[:n]
    return F, gt


def chain_init(F):
    """No-outlier coordinates: match each frame to the previous one (Euclidean LSAP)."""
    idx = [np.arange(F[0].shape[1])]
    for k in range(1, len(F)):
        A = F[k - 1][:, idx[-1]]
        C = ((A[:, :, None] - F[k][:, None, :]) ** 2).sum(0)
        idx.append(linear_sum_assignment(C)[1])
    return np.array(idx)


def admm_step(F, D, E, Y, rho, lam):
    """One iteration of Algorithm 1 (corrected): returns L, E, idx, D, Y."""
    L, _ = svt_svd(D - E - Y / rho, 1.0 / rho)
    E = soft(D - L - Y / rho, lam / rho)
    idx = lsap_step(F, Y + rho * (L + E))
    D = stack(F, idx)
    return L, E, idx, D, Y + rho * (L + E - D)
