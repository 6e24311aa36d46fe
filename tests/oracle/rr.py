"""Robust regression, robust LDA, robust PCA and cleaning [RR16], slowly: an oracle that shares no
code with the library.

Training problem (pinned; Dh = [D; 1^T], W symmetric positive definite dy x dy):

  J(T,D) = eta/2 * ( ||W (Y - T Dh)||_F^2 + gamma*||T||_F^2 ) + ||D||_* + lam*||P_Omega(X - D)||_1

T is dy x (dx+1).  Jointly NON-convex; convex in D for fixed T (rr_fixed_T gives it with a duality gap)
and in T for fixed D (t_update, closed form).

Test-time problem, convex:   min_Z ||Z||_* + lam/||D||_* * ||P_Omega(Xte - D Z)||_1.
NumPy only.
"""
import numpy as np


def soft(a, b):
    return np.sign(a) * np.maximum(np.abs(a) - b, 0.0)


def svt(A, t):
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    s = np.maximum(s - t, 0.0)
    r = int((s > 0).sum())
    return (U[:, :r] * s[:r]) @ Vt[:r], s[:r]


def nuc(A):
    return np.linalg.svd(A, compute_uv=False).sum()


def aug(D):
    return np.vstack([D, np.ones((1, D.shape[1]))])


def objective(T, D, X, Y, W, eta, lam, gamma, mask=None):
    R = W @ (Y - T @ aug(D))
    E = X - D
    if mask is not None:
        E = E * mask
    return 0.5 * eta * ((R * R).sum() + gamma * (T * T).sum()) + nuc(D) + lam * np.abs(E).sum()


def t_update(Dh, Y, W, gamma):
    """argmin_T ||W(Y - T Dh)||^2 + gamma||T||^2 for any symmetric W (diagonal W: the paper's rows)."""
    l, Q = np.linalg.eigh(W @ W)
    G = Dh @ Dh.T
    R = Q.T @ Y @ Dh.T
    Tq = np.empty_like(R)
    I = np.eye(G.shape[0])
    for i in range(len(l)):
        Tq[i] = np.linalg.solve(l[i] * G + gamma * I, l[i] * R[i])
    return Q @ Tq


def lda_weight(Y):
    """W = (Y Y^T)^(-1/2), symmetric root; multi-label Y gives a full matrix."""
    l, Q = np.linalg.eigh(Y @ Y.T)
    if l.min() <= 1e-12 * l.max():
        raise ValueError('Y Y^T singular: an empty or dependent class')
    return (Q / np.sqrt(l)) @ Q.T


# ------------------------------------------------------------------ Algorithm 1 (corrected, pinned)
def rr_alm(X, Y, eta, lam, gamma, rho=1.05, W=None, mask=None, mu0=None, tol=1e-8, max_it=5000, mu_max=np.inf,
           G1init='paper', log=None, T_first=True):
    """Corrected Algorithm 1.  Order in one iteration: T (from Dh), Dh (from the new T), D, E, multipliers, mu.
    Multipliers use the current mu; then mu *= rho.  do-while: at least one iteration.
    Stop when BOTH residuals <= tol."""
    dx, n = X.shape
    W = np.eye(Y.shape[0]) if W is None else W
    if mask is not None:
        X = np.where(mask, X, 0.0)
    mu = dx * n / (4.0 * np.abs(X).sum()) if mu0 is None else mu0
    mu1 = mu2 = mu
    D = X.copy()
    Dh = aug(D)
    E = np.zeros_like(X)
    if G1init == 'paper':
        s = np.linalg.norm(X, 2)
        G1, G2 = X / s, np.vstack([D, np.zeros((1, n))]) / s
        if mask is not None:
            G1 = np.where(mask, G1, 0.0)
    else:
        G1, G2 = np.zeros_like(X), np.zeros((dx + 1, n))
    WW = W @ W
    I = np.eye(dx + 1)
    nX = np.linalg.norm(X)
    for k in range(1, max_it + 1):
        T = t_update(Dh, Y, W, gamma)
        Dh = np.linalg.solve(eta * T.T @ WW @ T + mu2 * I, eta * T.T @ WW @ Y - G2 + mu2 * aug(D))
        b = mu1 + mu2
        D, s = svt((G1 + mu1 * (X - E) + (G2 + mu2 * Dh)[:dx]) / b, 1.0 / b)
        V = X - D + G1 / mu1
        E = soft(V, lam / mu1)
        if mask is not None:
            E = np.where(mask, E, V)
        R1, R2 = X - D - E, Dh - aug(D)
        G1 = G1 + mu1 * R1
        G2 = G2 + mu2 * R2
        r1, r2 = np.linalg.norm(R1) / nX, np.linalg.norm(R2) / np.linalg.norm(Dh)
        if log is not None:
            log.append((k, r1, r2, mu1, len(s)))
        mu1 = min(mu1 * rho, mu_max)
        mu2 = min(mu2 * rho, mu_max)
        if r1 <= tol and r2 <= tol:
            break
    return dict(T=T, D=D, E=E, Dh=Dh, it=k, r1=r1, r2=r2, rank=len(s), mu=mu1)


# ------------------------------------------------------------------ convex D-step with certificate
def rr_fixed_T(X, Y, T, eta, lam, W=None, mask=None, rho=None, max_it=20000, tol=1e-12, D0=None, state=None, check=25):
    """min_D eta/2||W(Y - T[D;1])||^2 + ||D||_* + lam||P(X-D)||_1 ; consensus ADMM, Fenchel gap."""
    dx, n = X.shape
    W = np.eye(Y.shape[0]) if W is None else W
    M = np.ones_like(X, bool) if mask is None else mask
    X = np.where(M, X, 0.0)
    Tx, tb = T[:, :dx], T[:, dx:]
    R = Y - tb
    WW = W @ W
    iWW = np.linalg.inv(WW)
    H = eta * Tx.T @ WW @ Tx
    q = eta * Tx.T @ WW @ R
    l, Q = np.linalg.eigh(H)
    rho = 2.0 / max(np.linalg.norm(X, 2), 1e-12) * 5 if rho is None else rho
    L = X.copy() if D0 is None else D0.copy()
    S = L.copy()
    U1, U2 = np.zeros_like(X), np.zeros_like(X)
    if state is not None:
        L, S, U1, U2, rho = state
        U1, U2 = U1 / rho, U2 / rho
    best = None
    al = 1.6
    for k in range(1, max_it + 1):
        D = Q @ ((Q.T @ (q + rho * (L - U1 + S - U2))) / (l + 2 * rho)[:, None])
        Lp, Sp = L, S
        D1, D2 = al * D + (1 - al) * L, al * D + (1 - al) * S
        L, s = svt(D1 + U1, 1.0 / rho)
        V = D2 + U2
        S = np.where(M, X + soft(V - X, lam / rho), V)
        U1 = U1 + D1 - L
        U2 = U2 + D2 - S
        if k % check == 0 or k == max_it:
            # several primal candidates
            Mp = eta * WW @ (Tx @ L - R)
            A = Tx.T @ Mp
            C = rho * U2                      # exactly |C|<=lam on Omega, 0 off Omega
            B = -(A + C)
            sc = 1.0 / max(1.0, np.linalg.norm(B, 2))
            f_ = sc * (Mp * R).sum() + sc * sc / (2 * eta) * (Mp * (iWW @ Mp)).sum()
            # h*(C) = sup <C,D> - lam|X-D| = <C,X>
            dual = -(f_ + sc * (C * X).sum())
            Rr = W @ (Y - T @ aug(L))
            prim = 0.5 * eta * (Rr * Rr).sum() + s.sum() + lam * np.abs(np.where(M, X - L, 0)).sum()
            g = prim - dual
            if best is None or g < best[0]:
                best = (g, L.copy(), dict(it=k, primal=prim, dual=dual, gap=g, rank=len(s), rho=rho))
            if g <= tol * abs(prim):
                break
        if k in (10, 20, 40, 80, 120, 160, 200, 300, 400, 500, 700, 1000):
            r = np.sqrt(np.linalg.norm(D - L) ** 2 + np.linalg.norm(D - S) ** 2)
            d = rho * np.sqrt(np.linalg.norm(L - Lp) ** 2 + np.linalg.norm(S - Sp) ** 2)
            r /= max(np.linalg.norm(D), 1e-300)
            d /= max(rho * np.sqrt(np.linalg.norm(U1) ** 2 + np.linalg.norm(U2) ** 2), 1e-300)
            f = 1.7 if r > 3 * d else (1 / 1.7 if d > 3 * r else 1.0)
            rho *= f
            U1 /= f
            U2 /= f
    g, D, info = best
    info['state'] = (L, S, rho * U1, rho * U2, rho)
    return D, info


def rr_alternate(X, Y, eta, lam, gamma, W=None, mask=None, D0=None, T0=None, outer=200, tol=1e-12, inner_tol=1e-11, log=None):
    """Monotone block descent on J: exact T, (near-)exact convex D.  Slow, safe, stationary limit."""
    W = np.eye(Y.shape[0]) if W is None else W
    D = np.where(mask, X, 0.0) if (D0 is None and mask is not None) else (X.copy() if D0 is None else D0)
    T = t_update(aug(D), Y, W, gamma) if T0 is None else T0
    Jp = objective(T, D, X, Y, W, eta, lam, gamma, mask)
    state = None
    for k in range(outer):
        Dn, info = rr_fixed_T(X, Y, T, eta, lam, W, mask, tol=inner_tol, D0=D, state=state, max_it=3000)
        state = info['state']
        if objective(T, Dn, X, Y, W, eta, lam, gamma, mask) <= objective(T, D, X, Y, W, eta, lam, gamma, mask):
            D = Dn
        T = t_update(aug(D), Y, W, gamma)
        J = objective(T, D, X, Y, W, eta, lam, gamma, mask)
        if log is not None:
            log.append(J)
        if Jp - J <= tol * abs(J):
            break
        Jp = J
    return dict(T=T, D=D, E=X - D, J=J, it=k + 1, info=info)


# ------------------------------------------------------------------ RPCA and test-time cleaning
def rpca(X, lam=None, mask=None, tol=1e-9, rho=1.1, max_it=2000, mu_fac=1.25):
    m, n = X.shape
    lam = 1.0 / np.sqrt(max(m, n)) if lam is None else lam
    M = np.ones_like(X, bool) if mask is None else mask
    X = np.where(M, X, 0.0)
    s2 = np.linalg.norm(X, 2)
    mu = mu_fac / s2
    mub = mu * 1e7
    Yd = X / max(s2, np.abs(X).max() / lam)
    E = np.zeros_like(X)
    for k in range(max_it):
        D, s = svt(X - E + Yd / mu, 1 / mu)
        V = X - D + Yd / mu
        E = np.where(M, soft(V, lam / mu), V)
        R = X - D - E
        Yd = Yd + mu * R
        mu = min(mu * rho, mub)
        if np.linalg.norm(R) <= tol * np.linalg.norm(X):
            break
    return D, np.where(M, X - D, 0.0)


def clean_test(Xte, D, lam, mask=None, tol=1e-10, max_it=20000, check=25, weight='paper', rtol=1e-12):
    """Exact min ||Z||_* + lp||P(Xte - D Z)||_1, lp = lam/||D||_*, through the reduction Z = V Q
    (D = U S V^T): an r x nte problem.  Two-block ADMM; gap from |C|<=lp, ||D^T C||_2<=1."""
    U, s, Vt = np.linalg.svd(D, full_matrices=False)
    r = int((s > rtol * s[0]).sum())
    U, s, Vt = U[:, :r], s[:r], Vt[:r]
    lp = lam / s.sum() if weight == 'paper' else lam
    M = np.ones_like(Xte, bool) if mask is None else mask
    X = np.where(M, Xte, 0.0)
    A = U * s
    n = X.shape[1]
    # two penalties: rq for Q=J, re for E
    rq = 1.0 / max(1e-12, np.abs(X).max() / s[0])
    re = rq / s[0] ** 2 * 3
    Q = (U.T @ X) / s[:, None] * 0
    J, E = Q.copy(), X.copy()
    Uq, Ue = np.zeros_like(Q), np.zeros_like(X)
    best = None
    al = 1.6
    for k in range(1, max_it + 1):
        Q = (rq * (J - Uq) + re * (A.T @ (X - E - Ue))) / (rq + re * s ** 2)[:, None]
        AQ = A @ Q
        Qr = al * Q + (1 - al) * J
        Fr = al * (X - AQ) + (1 - al) * E
        Jp, Ep = J, E
        J, sj = svt(Qr + Uq, 1 / rq)
        V = Fr - Ue
        E = np.where(M, soft(V, lp / re), V)
        Uq = Uq + Qr - J
        Ue = Ue + E - Fr
        if k % check == 0 or k == max_it:
            C = np.where(M, -re * Ue, 0.0)
            # sign: multiplier of l1 at E; E-step: lp d|E| + re(E - V) = 0 -> lp d|E| = re(V-E) = -re*Ue_new
            sc = 1.0 / max(1.0, np.linalg.norm(A.T @ C, 2))
            dual = sc * (C * X).sum()
            prim = sj.sum() + lp * np.abs(np.where(M, X - A @ J, 0)).sum()
            g = prim - dual
            if best is None or g < best[0]:
                best = (g, J.copy(), dict(it=k, primal=prim, dual=dual, gap=g, rank=len(sj), lp=lp))
            if g <= tol * abs(prim):
                break
        if k in (10, 20, 40, 80, 120, 160, 200, 300, 400, 500, 700, 1000, 1500, 2000, 3000):
            r_ = np.hypot(np.linalg.norm(Q - J) / max(np.linalg.norm(J), 1e-300), np.linalg.norm(X - AQ - E) / np.linalg.norm(X))
            d_ = np.hypot(np.linalg.norm(J - Jp) / max(np.linalg.norm(Uq), 1e-300), np.linalg.norm(E - Ep) / max(np.linalg.norm(Ue), 1e-300))
            f = 1.7 if r_ > 3 * d_ else (1 / 1.7 if d_ > 3 * r_ else 1.0)
            rq *= f; re *= f
            Uq /= f; Ue /= f
    g, Q, info = best
    return Vt.T @ Q, info


def ladmap_paper(Xte, D, lam, rho=1.1, mask=None, mu0=None, tol=1e-8, max_it=5000, beta='fixed', weight='paper', mu_max=1e10, eps2=None):
    """Algorithm 2 with its errata corrected (beta='fixed') or as printed (beta='printed': mu*||D^T D||_F^2)."""
    n = D.shape[1]
    nte = Xte.shape[1]
    M = np.ones_like(Xte, bool) if mask is None else mask
    X = np.where(M, Xte, 0.0)
    lp = lam / nuc(D) if weight == 'paper' else lam
    d2 = ((X[:, None, :] - D[:, :, None]) ** 2 * M[:, None, :]).sum(0) if X.shape[0] * n * nte < 5e7 else None
    Z = np.zeros((n, nte))
    if d2 is not None:
        Z[d2.argmin(0), np.arange(nte)] = 1
    E = X - D @ Z
    G = X / np.linalg.norm(X)
    mu = X.shape[0] * nte / (4 * np.abs(X).sum()) if mu0 is None else mu0
    eta = 1.02 * np.linalg.norm(D, 2) ** 2 if beta == 'fixed' else np.linalg.norm(D.T @ D) ** 2
    for k in range(1, max_it + 1):
        b = mu * eta
        S = Z - (-D.T @ G + mu * D.T @ (D @ Z - (X - E))) / b
        Zp = Z
        Z, s = svt(S, 1 / b)
        V = X - D @ Z + G / mu
        Ep = E
        E = np.where(M, soft(V, lp / mu), V)
        R = X - D @ Z - E
        G = G + mu * R
        r = np.linalg.norm(R) / np.linalg.norm(X)
        ch = mu * max(np.sqrt(eta) * np.linalg.norm(Z - Zp), np.linalg.norm(E - Ep)) / np.linalg.norm(X)
        if eps2 is None or ch < eps2:
            mu = min(mu * rho, mu_max)
        if r <= tol and (eps2 is None or ch < eps2):
            break
    obj = s.sum() + lp * np.abs(np.where(M, X - D @ Z, 0)).sum()
    return Z, dict(it=k, r=r, obj=obj, rank=len(s), lp=lp)


def predict(T, D, Z):
    return T @ aug(D @ Z)
