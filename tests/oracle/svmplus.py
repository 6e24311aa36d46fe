"""Linear SVM+, kernel l2-SVM+, original SVM+ and mi-SVM-PI [SVMP16], slowly: an oracle that
shares no code with the library.  Plain NumPy, written for clarity.

Notation: x main feature, z privileged feature (the paper's x-tilde), both already augmented with
a constant 1 by `augment` where the text says so; y in {-1,+1}; a = alpha, s = zeta;
w main weights, v privileged weights (the paper's w-tilde).
"""
import numpy as np


def augment(X, value=1.0):
    return np.hstack([np.asarray(X, float), np.full((len(X), 1), value)])


# =====================================================================================
# 1. Linear SVM+  (7):  min 1/2|w|^2 + g/2|v|^2 + C sum v'z_i
#                       s.t.  y_i w'x_i >= 1 - v'z_i,   v'z_i >= 0
#    dual (8):          max 1'a - 1/2|w|^2 - g/2|v|^2,  a,s >= 0
#                       w = sum a_i y_i x_i,  v = (1/g) sum (a_i + s_i - C) z_i
# =====================================================================================
def linear_weights(X, Z, y, C, gamma, a, s):
    return X.T @ (a * y), Z.T @ (a + s - C) / gamma


def linear_dual_value(w, v, gamma, a):
    return a.sum() - 0.5 * w @ w - 0.5 * gamma * v @ v


def paper_f(X, Z, y, C, gamma, a, s):
    """f(beta) of (9) = 1/2 b'Qb - e'b.  Differs from -(dual value) by the constant
    (C^2/(2 gamma)) |sum z|^2 that (9) drops."""
    w, v = linear_weights(X, Z, y, C, gamma, a, s)
    z1 = Z.sum(axis=0)
    return -linear_dual_value(w, v, gamma, a) - 0.5 * C * C / gamma * z1 @ z1


def linear_primal_value(X, Z, y, C, gamma, w, v):
    return 0.5 * w @ w + 0.5 * gamma * v @ v + C * (Z @ v).sum()


def linear_gap(X, Z, y, C, gamma, a, s, w=None, v=None):
    """Certified duality gap.  Needs the last column of Z to be the constant B > 0: raising v[-1]
    by t/B raises every slack v'z_i by t, so (w, v + t/B e_last) is primal feasible for
    t = max(0, max_i -v'z_i, max_i 1 - y_i w'x_i - v'z_i).
    Returns (primal, dual, relative gap)."""
    if w is None:
        w, v = linear_weights(X, Z, y, C, gamma, a, s)
    sl = Z @ v
    t = max(0.0, float(np.max(-sl)), float(np.max(1.0 - y * (X @ w) - sl)))
    vf = v.copy()
    vf[-1] += t / Z[0, -1]
    P = linear_primal_value(X, Z, y, C, gamma, w, vf)
    D = linear_dual_value(w, v, gamma, a)
    return P, D, (P - D) / max(abs(P), abs(D), 1e-300)


def linear_dcd(X, Z, y, C, gamma, epochs=1000, tol=1e-6, seed=0, variant='block', check=1,
               shrink=False, trace=None):
    """Dual coordinate descent.

    variant 'plain'   : Algorithm 1 with the correct Q_ii, one random permutation of 2n per epoch
            'printed' : Algorithm 1 with Q_ii exactly as printed in step 2 (diverges, see check)
            'block'   : exact minimisation over each pair (a_i, s_i), random permutation of n
    """
    n = len(y)
    rng = np.random.default_rng(seed)
    xx = np.einsum('ij,ij->i', X, X)
    zz = np.einsum('ij,ij->i', Z, Z)
    a = np.zeros(n)
    s = np.zeros(n)
    w = np.zeros(X.shape[1])
    v = -C / gamma * Z.sum(axis=0)
    if variant == 'printed':
        qa, qs = xx, zz
    else:
        qa, qs = xx + zz / gamma, zz / gamma
    gap = np.inf
    for ep in range(1, epochs + 1):
        if variant in ('plain', 'printed'):
            for i in rng.permutation(2 * n):
                if i < n:
                    g = y[i] * (X[i] @ w) - 1.0 + Z[i] @ v          # (13)
                    d = max(-a[i], -g / qa[i])                      # (11)
                    if d != 0.0:
                        a[i] += d
                        w += d * y[i] * X[i]                        # (15)
                        v += d / gamma * Z[i]                       # (16)
                else:
                    i -= n
                    g = Z[i] @ v                                    # (14)
                    d = max(-s[i], -g / qs[i])
                    if d != 0.0:
                        s[i] += d
                        v += d / gamma * Z[i]
            if not np.isfinite(w).all() or np.abs(a).max() > 1e150:
                return dict(w=w, v=v, a=a, s=s, epochs=ep, gap=np.inf, primal=np.inf, dual=-np.inf)
        else:
            for i in rng.permutation(n):
                gz = Z[i] @ v
                da, ds = pair_step(a[i], s[i], y[i] * (X[i] @ w) - 1.0, gz, xx[i], zz[i] / gamma)
                if da != 0.0 or ds != 0.0:
                    a[i] += da
                    s[i] += ds
                    w += da * y[i] * X[i]
                    v += (da + ds) / gamma * Z[i]
        if ep % check == 0 or ep == epochs:
            P, D, gap = linear_gap(X, Z, y, C, gamma, a, s, w, v)
            if trace is not None:
                trace.append((ep, P, D, gap))
            if gap <= tol:
                break
    w, v = linear_weights(X, Z, y, C, gamma, a, s)      # remove the drift of the running sums
    P, D, gap = linear_gap(X, Z, y, C, gamma, a, s, w, v)
    return dict(w=w, v=v, a=a, s=s, epochs=ep, gap=gap, primal=P, dual=D)


def pair_step(a, s, gx, gz, qx, qz):
    """Exact minimiser over (a_i, s_i) >= 0 of the 2x2 subproblem.  With u = a + s the problem
    separates: qx/2 (a'-a*)^2 + qz/2 (u'-u*)^2 over 0 <= a' <= u',
    a* = a - gx/qx (gx = y w'x - 1), u* = a + s - gz/qz (gz = v'z)."""
    ast = a - gx / qx
    ust = a + s - gz / qz
    if ast <= 0.0:
        an, un = 0.0, max(0.0, ust)
    elif ast <= ust:
        an, un = ast, ust
    else:
        an = un = max(0.0, (qx * ast + qz * ust) / (qx + qz))
    return an - a, (un - an) - s


# ------------------------------------------------------------------ exact primal interior point
def linear_ipm(X, Z, y, C, gamma, tol=1e-13, max_iter=200, verbose=False):
    """Primal-dual (Mehrotra) interior point on (7): variables u=(w,v) in R^(D+D~), 2n inequality
    rows A u >= b; the normal matrix H + A' diag(lam/t) A has order D + D~ only.  The multipliers
    are (a, s)."""
    n, D = X.shape
    Dz = Z.shape[1]
    A = np.zeros((2 * n, D + Dz))
    A[:n, :D] = y[:, None] * X
    A[:n, D:] = Z
    A[n:, D:] = Z
    b = np.concatenate([np.ones(n), np.zeros(n)])
    h = np.concatenate([np.ones(D), gamma * np.ones(Dz)])
    c = np.concatenate([np.zeros(D), C * Z.sum(axis=0)])
    u = np.zeros(D + Dz)
    u[-1] = 2.0 / Z[0, -1]
    t = np.maximum(A @ u - b, 1.0)
    lam = np.full(2 * n, max(1.0, C))
    m = 2 * n
    best = None
    for it in range(max_iter):
        rd = h * u + c - A.T @ lam
        rp = A @ u - t - b
        mu = lam @ t / m
        primal = 0.5 * u @ (h * u) + c @ u
        err = max(np.abs(rd).max() / (1 + np.abs(c).max()), np.abs(rp).max(), mu * m / (1 + abs(primal)))
        if verbose:
            print(it, primal, np.abs(rd).max(), np.abs(rp).max(), mu)
        if best is None or err < best[0]:
            best = (err, u.copy(), lam.copy(), it)
        if err < tol:
            break
        if it - best[3] > 15:
            break
        Wd = lam / t
        M = (A.T * Wd) @ A
        M[np.diag_indices_from(M)] += h
        try:
            Lc = np.linalg.cholesky(M)
        except np.linalg.LinAlgError:
            break
        sol = lambda r: np.linalg.solve(Lc.T, np.linalg.solve(Lc, r))

        def direction(rc):
            # H du - A'dl = -rd ; A du - dt = -rp ; t dl + lam dt = -rc
            du = sol(-rd - A.T @ (rc / t + Wd * rp))
            dt = A @ du + rp
            dl = -(rc + lam * dt) / t
            return du, dt, dl

        def step(x, dx):
            neg = dx < 0
            return min(1.0, float(np.min(-x[neg] / dx[neg]))) if neg.any() else 1.0

        du, dt, dl = direction(lam * t)
        ap, ad = step(t, dt), step(lam, dl)
        mua = (t + ap * dt) @ (lam + ad * dl) / m
        sig = (mua / mu) ** 3
        du, dt, dl = direction(lam * t + dt * dl - sig * mu)
        al = 0.995 * min(step(t, dt), step(lam, dl))
        u = u + al * du
        t = t + al * dt
        lam = lam + al * dl
    err, u, lam, it = best
    a, s = lam[:n], lam[n:]
    return dict(w=u[:D], v=u[D:], a=a, s=s, iters=it, err=err,
                primal=linear_primal_value(X, Z, y, C, gamma, u[:D], u[D:]))


def linear_polish(X, Z, y, C, gamma, a, s, w, v, thr=None):
    """Active-set polish: guess the active constraints (multiplier > slack), solve the equality
    constrained problem exactly (least squares on the multipliers), verify KKT."""
    n, D = X.shape
    A = np.zeros((2 * n, D + Z.shape[1]))
    A[:n, :D] = y[:, None] * X
    A[:n, D:] = Z
    A[n:, D:] = Z
    b = np.concatenate([np.ones(n), np.zeros(n)])
    h = np.concatenate([np.ones(D), gamma * np.ones(Z.shape[1])])
    c = np.concatenate([np.zeros(D), C * Z.sum(axis=0)])
    lam0 = np.concatenate([a, s])
    u = np.concatenate([w, v])
    act = np.flatnonzero(lam0 > np.maximum(A @ u - b, 0) * max(1.0, C))
    Aa = A[act]
    # primal point: u = H^-1 (Aa' l - c) with Aa u = b_a (least squares, Aa may be rank deficient)
    S = (Aa / h) @ Aa.T
    l = np.linalg.lstsq(S, b[act] + Aa @ (c / h), rcond=1e-13)[0]
    u = (Aa.T @ l - c) / h
    # multipliers: the smallest change of the incoming ones that restores stationarity
    l = lam0[act] + np.linalg.lstsq(Aa.T, h * u + c - Aa.T @ lam0[act], rcond=1e-13)[0]
    lam = np.zeros(2 * n)
    lam[act] = l
    viol = max(0.0, -l.min() if len(l) else 0.0, float(np.max(b - A @ u)),
               float(np.abs(h * u + c - A.T @ lam).max()))
    return dict(w=u[:D], v=u[D:], a=lam[:n], s=lam[n:], kkt=viol, active=len(act),
                primal=linear_primal_value(X, Z, y, C, gamma, u[:D], u[D:]),
                dual=linear_dual_value(u[:D], u[D:], gamma, lam[:n]))


def linear_svm_dcd(X, y, C, epochs=5000, tol=1e-8, seed=0):
    """Plain L1-loss linear SVM with the bias absorbed (the paper's LIBLINEAR baseline)."""
    n = len(y)
    rng = np.random.default_rng(seed)
    q = np.einsum('ij,ij->i', X, X)
    a = np.zeros(n)
    w = np.zeros(X.shape[1])
    for ep in range(epochs):
        for i in rng.permutation(n):
            g = y[i] * (X[i] @ w) - 1
            na = min(max(a[i] - g / q[i], 0.0), C)
            if na != a[i]:
                w += (na - a[i]) * y[i] * X[i]
                a[i] = na
        P = 0.5 * w @ w + C * np.maximum(0, 1 - y * (X @ w)).sum()
        Dv = a.sum() - 0.5 * w @ w
        if P - Dv <= tol * max(P, 1e-300):
            break
    return w


# =====================================================================================
# 2. Original SVM+ dual (4): biases free => y'a = 0, 1'(a + s - C) = 0
# =====================================================================================
def original_objective(K, Kt, y, C, gamma, a, s):
    """(4), minimised: 1/2 (a y)'K(a y) - 1'a + 1/(2 gamma) (a+s-C)'Kt(a+s-C)."""
    dl = a + s - C
    return 0.5 * (a * y) @ K @ (a * y) - a.sum() + 0.5 / gamma * dl @ Kt @ dl


# =====================================================================================
# 3. Kernel l2-SVM+ (18)/(22):  min 1/2 a'Qa, 1'a = 1, a >= 0, Q = (K+1).*(yy') + G,
#    G = Kt+ (gamma I + C Kt+)^-1 = (1/C)(I - (I + (C/gamma) Kt+)^-1),   Kt+ = Kt + 1
# =====================================================================================
def privileged_G(Kt_aug, C, gamma):
    """Cholesky solve of (gamma I + C Kt) G = Kt: no cancellation for small C/gamma, unlike the
    printed I - inv(...) form."""
    n = len(Kt_aug)
    M = C * Kt_aug + gamma * np.eye(n)
    G = np.linalg.solve(M, Kt_aug)
    return 0.5 * (G + G.T)


def privileged_G_printed(Kt_aug, C, gamma):
    n = len(Kt_aug)
    return (np.eye(n) - np.linalg.inv(np.eye(n) + C / gamma * Kt_aug)) / C


def simplex_qp(Q, tol=1e-12, max_iter=2000000, polish=True):
    """min 1/2 a'Qa on the simplex by SMO with second-order working-set selection, then an exact
    solve on the support.  Stops on the relative Frank-Wolfe gap
    (a'Qa - min_i (Qa)_i) <= tol * a'Qa / 2, which is a certified duality gap."""
    n = len(Q)
    a = np.full(n, 1.0 / n)
    g = Q @ a
    dq = np.diag(Q).copy()
    it = 0
    for it in range(max_iter):
        i = int(np.argmin(g))
        obj2 = a @ g
        if obj2 - g[i] <= tol * 0.5 * obj2:
            break
        # choose j among a_j > 0 with g_j > g_i maximising (g_j - g_i)^2 / curvature
        diff = g - g[i]
        curv = np.maximum(dq + dq[i] - 2 * Q[i], 1e-300)
        gain = np.where((a > 0) & (diff > 0), diff * diff / curv, -1.0)
        j = int(np.argmax(gain))
        if gain[j] <= 0:
            break
        dlt = min(a[j], diff[j] / curv[j])
        a[i] += dlt
        a[j] -= dlt
        g += dlt * (Q[:, i] - Q[:, j])
        if it % 5000 == 4999:
            g = Q @ a
    if polish:
        S = np.flatnonzero(a > 1e-9 / n)
        for _ in range(50):
            x = np.linalg.solve(Q[np.ix_(S, S)], np.ones(len(S)))
            x /= x.sum()
            if (x > 0).all():
                b = np.zeros(n)
                b[S] = x
                gb = Q @ b
                out = np.flatnonzero(gb < (b @ gb) * (1 - 1e-13))
                out = np.setdiff1d(out, S)
                if len(out) == 0:
                    a = b
                    break
                S = np.union1d(S, out[np.argmin(gb[out])])
            else:
                S = S[x > 0]
    g = Q @ a
    rho = a @ g
    return dict(a=a, rho=rho, obj=0.5 * rho, gap=(rho - g.min()) / (0.5 * rho), iters=it,
                nsv=int((a > 0).sum()))


def l2svmplus_train(K, Kt, y, C, gamma, G=None, **kw):
    """K, Kt un-augmented; adds the +1 of the absorbed biases to both."""
    if G is None:
        G = privileged_G(Kt + 1.0, C, gamma)
    Q = (K + 1.0) * np.outer(y, y) + G
    r = simplex_qp(Q, **kw)
    r['coef'] = r['a'] * y
    return r


def l2svmplus_decision(Ktest, coef, rho=None):
    """f(x) = sum a_i y_i (k(x_i,x) + 1); threshold 0, LIBSVM's one-class rho must not be
    subtracted.  Pass rho to get margins on the usual scale (support vectors with zero slack at 1);
    needed only to compare different classifiers."""
    f = (Ktest + 1.0) @ coef
    return f if rho is None else f / rho


def l2svmplus_primal(K, Kt, y, C, gamma, r):
    """Primal objective of (18) at the (feasible) point implied by a with rho := min_i (Qa)_i."""
    a = r['a']
    Ka, Kta = K + 1.0, Kt + 1.0
    n = len(y)
    ww = (a * y) @ Ka @ (a * y)
    sl = Kta @ np.linalg.solve(gamma * np.eye(n) + C * Kta, a)          # v'psi(x_i)
    vv = a @ np.linalg.solve(gamma * np.eye(n) + C * Kta, sl)
    marg = y * (Ka @ (a * y)) + sl
    rho = marg.min()
    return 0.5 * (ww + gamma * vv) + 0.5 * C * sl @ sl - rho, sl, marg


def rbf_gamma(X):
    """Default bandwidth: exp(-|x-x'|^2 / mean_{ij}|x_i-x_j|^2), mean over all n^2 pairs."""
    n2 = (X * X).sum(1)
    d2 = np.maximum(n2[:, None] + n2[None] - 2 * X @ X.T, 0)
    return 1.0 / d2.mean()


def rbf(X, Y, g):
    d2 = (X * X).sum(1)[:, None] + (Y * Y).sum(1)[None] - 2 * X @ Y.T
    return np.exp(-g * np.maximum(d2, 0))


# =====================================================================================
# 4. multi-class (one-vs-all) and mi-SVM-PI
# =====================================================================================
def l2svmplus_ova(K, Kt, labels, C, gamma):
    """One G for all classes (it does not depend on y)."""
    G = privileged_G(Kt + 1.0, C, gamma)
    cls = np.unique(labels)
    return cls, [l2svmplus_train(K, Kt, np.where(labels == c, 1.0, -1.0), C, gamma, G) for c in cls]


def mi_svm_pi(K, Kt, bag, bag_label, C, gamma, ratio=None, max_iter=50):
    """bag[i]: bag id of instance i, bag_label[b] in {-1,+1}.  At least max(1, ceil(ratio*|B|))
    positives are kept in every positive bag (ratio None: one).  G is computed once.
    Returns final model, instance labels, list of objectives (rho/2 each)."""
    G = privileged_G(Kt + 1.0, C, gamma)
    y = np.array([float(bag_label[b]) for b in bag])
    hist, seen = [], set()
    for it in range(max_iter):
        seen.add(y.tobytes())
        m = l2svmplus_train(K, Kt, y, C, gamma, G)
        f = (K + 1.0) @ m['coef']
        hist.append(m['obj'])
        new = y.copy()
        for b, lab in enumerate(bag_label):
            if lab < 0:
                continue
            I = np.flatnonzero(bag == b)
            need = 1 if ratio is None else max(1, int(np.ceil(ratio * len(I) - 1e-12)))
            new[I] = np.where(f[I] >= 0, 1.0, -1.0)
            if (new[I] > 0).sum() < need:
                top = I[np.argsort(-f[I], kind='stable')[:need]]
                new[I] = -1.0
                new[top] = 1.0
        if (new == y).all():
            return m, y, hist, True
        if new.tobytes() in seen:
            return m, y, hist, False
        y = new
    return m, y, hist, False
