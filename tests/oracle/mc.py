"""Multi-label classification by matrix completion [MC11], [MC15], slowly: an oracle that shares
no code with the library.

Problem (Z is (K+D+1) x n : K label rows, D feature rows, one row of ones):

  min_Z  mu*||Z||_*  +  1/|OX| * sum_{OX} c_x(z, z0)  +  lam/|OY| * sum_{OY} c_y(z, z0)
  s.t.   last row = 1,  and  Z_X free (mc1) / Z_X >= 0 (pos) / columns of Z_X in the simplex (simplex)

  mc1          c_x = (z-z0)^2 / 2
  pos,simplex  c_x = (z-z0)^2/(z+z0)      (z0 = 0:  c_x = z for every z >= 0)
  labels 'pm'  c_y = log(1+exp(-g*z0*z))/g            z0 in {-1,1}
  labels '01'  c_y = log(1+exp(-g*(2*z0-1)*(z-z0)))/g z0 in {0,1}

NumPy only.  Certificate: Fenchel duality gap (see gap()).
"""
import numpy as np


def _softplus(t):
    return np.logaddexp(0.0, t)


def _sigm(t):
    out = np.empty_like(t)
    p = t >= 0
    out[p] = 1.0 / (1.0 + np.exp(-t[p]))
    e = np.exp(t[~p])
    out[~p] = e / (1.0 + e)
    return out


# ------------------------------------------------------------------ scalar pieces
def chi2(z, z0):
    s = z + z0
    return np.where(s > 0, (z - z0) ** 2 / np.where(s > 0, s, 1.0), 0.0)


def chi2_grad(z, z0):
    """(z-z0)(z+3 z0)/(z+z0)^2 ; z = z0 = 0 -> right derivative 1."""
    s = z + z0
    return np.where(s > 0, (z - z0) * (z + 3 * z0) / np.where(s > 0, s, 1.0) ** 2, 1.0)


def chi2_prox(v, z0, t):
    """argmin_{z>=0} t*chi2(z,z0) + (z-v)^2/2, t scalar or array.
    s=z+z0 is the positive root of s^3 + (t-z0-v) s^2 - 4 t z0^2 = 0; Newton from above is monotone."""
    p = t - z0 - v
    q = 4.0 * t * z0 * z0
    s = np.maximum(-p, 0.0) + np.cbrt(q)
    for _ in range(100):
        g = s * s * (s + p) - q
        d = s * (3 * s + 2 * p)
        st = np.where(d > 0, g / np.where(d > 0, d, 1.0), 0.0)
        s2 = np.maximum(s - st, 0.0)
        if np.all(np.abs(s2 - s) <= 4e-16 * np.maximum(s, 1e-300)):
            s = s2
            break
        s = s2
    z = np.where(z0 > 0, np.maximum(s - z0, 0.0), np.maximum(v - t, 0.0))
    return z


def chi2_conj(y, z0, a):
    """sup_{z>=0} y z - a*chi2(z,z0);  +inf for y > a."""
    q = np.sqrt(np.maximum(1.0 - y / a, 0.0))
    val = np.where(q >= 2.0, -a * z0, a * z0 * (q - 1.0) * (q - 3.0))
    return np.where(y <= a * (1 + 1e-14), val, np.inf)


def log_prox(v, sgn, c, gam, t):
    """argmin_z (t/gam) log(1+exp(-gam*sgn*(z-c))) + (z-v)^2/2."""
    w = sgn * (v - c)
    # root of r(u) = u - w - t*sigm(-gam*u), increasing, in [w, w+t].  Plain Newton cycles (and even a
    # bracketed Newton can crawl) when t*gam is large, so every third step is a bisection.
    lo, hi = w.copy(), w + t
    u = w + t * _sigm(-gam * w)
    for it in range(300):
        sg = _sigm(-gam * u)
        r = u - w - t * sg
        hi = np.where(r >= 0, u, hi)
        lo = np.where(r <= 0, u, lo)
        un = u - r / (1.0 + t * gam * sg * (1.0 - sg))
        step = np.abs(un - u)
        bad = (un <= lo) | (un >= hi)
        if it % 3 == 2:
            bad |= step > 1e-3 * (hi - lo)
        fin = (r == 0) | (hi - lo <= 2e-15 * (1 + np.abs(u))) | (step <= 5e-16 * (1 + np.abs(u)))
        un = np.where(fin, u, np.where(bad, 0.5 * (lo + hi), un))
        u = un
        if fin.all():
            break
    return c + sgn * u


def proj_simplex_cols(V):
    """Columns of V onto {w >= 0, sum w = 1}."""
    F, n = V.shape
    S = -np.sort(-V, axis=0)
    css = np.cumsum(S, axis=0) - 1.0
    k = np.arange(1, F + 1)[:, None]
    rho = F - np.argmax((S - css / k > 0)[::-1], axis=0)          # last index that holds
    theta = css[rho - 1, np.arange(n)] / rho
    return np.maximum(V - theta, 0.0)


def svt(A, t):
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    s = np.maximum(s - t, 0.0)
    r = int((s > 0).sum())
    return (U[:, :r] * s[:r]) @ Vt[:r], s[:r]


def svt_gram(A, t):
    """SVT through the Gram matrix of the short side (fast; ~sqrt(eps) accurate on tiny s.v.)."""
    import scipy.linalg as sl
    tr = A.shape[0] > A.shape[1]
    B = A.T if tr else A
    G = B @ B.T
    w, Q = sl.eigh(G, driver='evd', check_finite=False, overwrite_a=True)
    s = np.sqrt(np.maximum(w, 0.0))
    k = s > t
    Q = Q[:, k]
    s = s[k]
    R = (Q * ((s - t) / s)) @ (Q.T @ B)
    return (R.T if tr else R), (s - t)[::-1]


# ------------------------------------------------------------------ problem
class MC:
    def __init__(self, Y, MY, X, MX, model='pos', labels='pm', lam=1.0, gam=1.0):
        self.Y, self.MY, self.X, self.MX = Y, MY.astype(bool), X, MX.astype(bool)
        self.model, self.labels, self.lam, self.gam = model, labels, float(lam), float(gam)
        self.K, self.n = Y.shape
        self.D = X.shape[0]
        self.a = 1.0 / max(1, self.MX.sum())
        self.b = lam / max(1, self.MY.sum())
        y = np.where(self.MY, Y, 0.0)
        if labels == 'pm':
            self.sgn, self.c = np.where(self.MY, y, 1.0), np.zeros_like(y)
        else:
            self.sgn, self.c = np.where(self.MY, 2 * y - 1, 1.0), y
        self.X0 = np.where(self.MX, X, 0.0)
        self.Z0 = np.vstack([y, self.X0, np.ones((1, self.n))])
        self.m = self.K + self.D + 1

    def split(self, Z):
        return Z[:self.K], Z[self.K:self.K + self.D], Z[-1]

    def loss(self, Z):
        ZY, ZX, _ = self.split(Z)
        ly = _softplus(-self.gam * self.sgn * (ZY - self.c)) / self.gam
        lx = 0.5 * (ZX - self.X0) ** 2 if self.model == 'mc1' else chi2(ZX, self.X0)
        return self.a * lx[self.MX].sum() + self.b * ly[self.MY].sum()

    def obj(self, Z, mu):
        return self.loss(Z) + mu * np.linalg.svd(Z, compute_uv=False).sum()

    def infeas(self, Z):
        _, ZX, z1 = self.split(Z)
        v = np.abs(z1 - 1).max()
        if self.model != 'mc1':
            v = max(v, -min(0.0, ZX.min()))
        if self.model == 'simplex':
            v = max(v, np.abs(ZX.sum(0) - 1).max())
        return v

    def grad(self, Z):
        ZY, ZX, _ = self.split(Z)
        G = np.zeros_like(Z)
        G[:self.K] = np.where(self.MY, -self.b * self.sgn * _sigm(-self.gam * self.sgn * (ZY - self.c)), 0.0)
        gx = (ZX - self.X0) if self.model == 'mc1' else chi2_grad(ZX, self.X0)
        G[self.K:-1] = np.where(self.MX, self.a * gx, 0.0)
        return G

    def lipschitz(self):
        Ly = self.b * self.gam / 4.0
        if self.model == 'mc1':
            Lx = self.a
        else:
            pos = self.X0[self.MX]
            pos = pos[pos > 0]
            Lx = self.a * (8.0 / pos.min() if pos.size else 0.0)
        return Lx, Ly

    def project(self, Z):
        Z = Z.copy()
        if self.model == 'pos':
            Z[self.K:-1] = np.maximum(Z[self.K:-1], 0.0)
        elif self.model == 'simplex':
            Z[self.K:-1] = proj_simplex_cols(Z[self.K:-1])
        Z[-1] = 1.0
        return Z

    def rank1_init(self):
        U, s, Vt = np.linalg.svd(self.Z0, full_matrices=False)
        return s[0] * np.outer(U[:, 0], Vt[0])

    # ------------------------------------------------ prox of the whole separable part
    def prox_phi(self, V, t):
        """argmin_Z loss(Z) + indicator(C) + ||Z-V||^2/(2t)."""
        Z = np.empty_like(V)
        VY, VX, _ = self.split(V)
        ZY = VY.copy()
        M = self.MY
        ZY[M] = log_prox(VY[M], self.sgn[M], self.c[M], self.gam, t * self.b)
        Z[:self.K] = ZY
        ta = t * self.a
        if self.model == 'mc1':
            ZX = np.where(self.MX, (VX + ta * self.X0) / (1 + ta), VX)
        elif self.model == 'pos':
            ZX = np.where(self.MX, chi2_prox(VX, self.X0, ta), np.maximum(VX, 0.0))
        else:
            ZX = self._prox_simplex(VX, ta)
        Z[self.K:-1] = ZX
        Z[-1] = 1.0
        return Z

    def _prox_simplex(self, VX, ta):
        """per column: prox of ta*chi2 + simplex: find theta with sum_i z_i(v_i-theta) = 1.
        z_i(.) is nondecreasing and convex-concave, so safeguarded Newton."""
        n = VX.shape[1]
        hi = VX.max(0) + 3 * ta                       # all z = 0 at theta >= max(v)+3t  (c'(0) = -3)
        lo = hi - (1.0 + 4 * ta + (VX.max(0) - VX.min(0)))  # crude, enlarged below if needed

        def ev(th, cols):
            W = VX[:, cols] - th
            z = np.where(self.MX[:, cols], chi2_prox(W, self.X0[:, cols], ta), np.maximum(W, 0.0))
            return z
        for _ in range(60):
            s = ev(lo, slice(None)).sum(0)
            if (s >= 1).all():
                break
            lo = np.where(s < 1, lo - (hi - lo), lo)
        act = np.arange(n)
        th = 0.5 * (lo + hi)
        out = np.empty_like(VX)
        for it in range(200):
            z = ev(th[act], act)
            X0 = self.X0[:, act]
            s = z + X0
            d = np.where(self.MX[:, act] & (X0 > 0), 1.0 / (1.0 + ta * 8 * X0 ** 2 / np.where(s > 0, s, 1.0) ** 3), 1.0)
            d = np.where(z > 0, d, 0.0).sum(0)
            r = z.sum(0) - 1.0
            out[:, act] = z
            h, l = hi[act], lo[act]
            h = np.where(r < 0, th[act], h)
            l = np.where(r >= 0, th[act], l)
            hi[act], lo[act] = h, l
            tn = th[act] + r / np.maximum(d, 1e-300)
            bad = (tn <= l) | (tn >= h) | (d == 0)
            tn = np.where(bad, 0.5 * (l + h), tn)
            done = (np.abs(r) < 1e-15) | (np.abs(tn - th[act]) <= 2e-16 * np.maximum(1e-300, np.abs(th[act])))
            th[act] = np.where(done, th[act], tn)
            act = act[~done]
            if act.size == 0:
                break
        return out

    # ------------------------------------------------ duality gap
    def conj(self, G):
        """phi*(G), phi = loss + indicator(C); an upper bound (exact up to 1-d min accuracy) for simplex."""
        GY, GX, g1 = self.split(G)
        M = self.MY
        if np.abs(GY[~M]).max(initial=0) > 0:
            return np.inf
        p = -GY[M] * self.sgn[M] / self.b
        if p.min(initial=0) < -1e-12 or p.max(initial=0) > 1 + 1e-12:
            return np.inf
        p = np.clip(p, 0, 1)
        ent = np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0) + np.where(p < 1, (1 - p) * np.log(np.where(p < 1, 1 - p, 1)), 0)
        val = (GY[M] * self.c[M]).sum() + self.b / self.gam * ent.sum() + g1.sum()
        MX = self.MX
        if self.model == 'mc1':
            if np.abs(GX[~MX]).max(initial=0) > 0:
                return np.inf
            y = GX[MX]
            return val + (y * self.X0[MX] + y * y / (2 * self.a)).sum()
        if self.model == 'pos':
            if GX[~MX].max(initial=0) > 0:
                return np.inf
            return val + chi2_conj(GX[MX], self.X0[MX], self.a).sum()
        # simplex: min_theta theta + sum_i phi_i*(y_i - theta); convex in theta, golden section per column
        lo = np.where(MX, GX - self.a, GX).max(0)
        hi = lo + 1.0

        def ev(th):
            W = GX - th
            t = np.where(MX, np.where(W <= self.a * (1 + 1e-12) + 1e-300, chi2_conj(np.minimum(W, self.a), self.X0, self.a), np.inf), 0.0)
            return th + t.sum(0)
        hi = np.maximum(hi, (GX + 3 * self.a).max(0) + 1e-9)
        gr = (np.sqrt(5) - 1) / 2
        l, h = lo.copy(), hi.copy()
        c, d = h - gr * (h - l), l + gr * (h - l)
        fc, fd = ev(c), ev(d)
        for _ in range(120):
            left = fc < fd
            h = np.where(left, d, h)
            l = np.where(left, l, c)
            c, d = h - gr * (h - l), l + gr * (h - l)
            fc, fd = ev(c), ev(d)
        best = np.minimum(np.minimum(fc, fd), ev(lo))
        return val + best.sum()

    def gap(self, Z, G, mu):
        """Z feasible; G = candidate subgradient of phi (i.e. -Y, Y dual). Returns primal, dual, gap."""
        nrm = np.linalg.norm(G, 2)
        s = min(1.0, mu / nrm) if nrm > 0 else 1.0
        P = self.obj(Z, mu)
        D = -self.conj(G * s)
        return P, D, P - D

    # ------------------------------------------------ certificate from a primal point alone
    def dual_from_primal(self, Z, mu, tol=1e-9):
        """G := grad f on smooth free entries, 0 on unknown labels, active-set entries and the bias row
        taken from -mu*U V^T (clipped to the domain).  A cheap certificate for solvers without a dual."""
        U, s, Vt = np.linalg.svd(Z, full_matrices=False)
        r = int((s > tol * s[0]).sum())
        Y = mu * U[:, :r] @ Vt[:r]
        G = self.grad(Z)
        ZY, ZX, _ = self.split(Z)
        G[-1] = -Y[-1]
        if self.model == 'pos':
            act = ZX <= tol
            GX = G[self.K:-1]
            YX = -Y[self.K:-1]
            up = np.where(self.MX, np.where(self.X0 > 0, -3 * self.a, self.a), 0.0)
            G[self.K:-1] = np.where(act, np.minimum(YX, up), GX)
        elif self.model == 'simplex':
            raise ValueError('simplex: pass the multiplier to gap(), it cannot be rebuilt from Z')
        return G


# ------------------------------------------------------------------ solvers
def fpc_paper(P, mu_end=1e-9, mu_fac=0.25, rel=1e-2, tau=None, tau_X=1.0, mu0=None, max_inner=1000,
              Z=None, log=None, nuc='shrunk', mu_list=None, svtf=svt):
    """Algorithm 1 exactly as printed: p_C o S_{tau mu} o h, with mu continuation."""
    if tau is None:
        nX, nY = P.MX.sum(), P.MY.sum()
        tau = min(4.0 * nY / (P.lam * P.gam), tau_X * nX)
    Z = P.rank1_init() if Z is None else Z.copy()
    if mu_list is None:
        mu = 0.25 * np.linalg.norm(P.Z0, 2) if mu0 is None else mu0
        mu_list = []
        while mu > mu_end:
            mu_list.append(mu)
            mu *= mu_fac
        mu_list.append(mu_end)
    iters = 0
    for mu in mu_list:
        Fp = None
        for k in range(max_inner):
            W, s = svtf(Z - tau * P.grad(Z if P.model == 'mc1' else P.project(Z) if iters == 0 else Z), tau * mu)
            Z = P.project(W)
            iters += 1
            F = P.loss(Z) + mu * (s.sum() if nuc == 'shrunk' else np.linalg.svd(Z, compute_uv=False).sum())
            if Fp is not None and abs(F - Fp) <= rel * abs(Fp):
                break
            Fp = F
        if log is not None:
            log.append((mu, k + 1, F, len(s), Z.copy()))
    return Z, iters, mu_list[-1]


def admm(P, mu, rho=None, Z=None, U=None, max_it=20000, tol=1e-10, relax=1.6, adapt=True, check=50,
         svtf=svt, log=None, target=None):
    """min mu||A||_* + phi(B), A=B.  Returns B (feasible), G (= rho*U in d phi(B)), info."""
    if rho is None:
        rho = mu / (0.05 * np.linalg.norm(P.Z0, 2) + 1e-300)
    B = P.project(P.Z0) if Z is None else Z.copy()
    U = np.zeros_like(B) if U is None else U.copy()
    info = dict(it=0, gap=np.inf)
    best = None
    for k in range(1, max_it + 1):
        A, s = svtf(B - U, mu / rho)
        Ah = relax * A + (1 - relax) * B
        Bp = B
        B = P.prox_phi(Ah + U, 1.0 / rho)
        U = U + Ah - B
        if k % check == 0 or k == max_it:
            Pr, Du, g = P.gap(B, rho * U, mu)
            info = dict(it=k, primal=Pr, dual=Du, gap=g, rank=len(s), rho=rho)
            if log is not None:
                log.append(info)
            if best is None or g < best[0]:
                best = (g, B.copy(), rho * U, dict(info))
            if g <= tol * max(1e-300, abs(Pr)) or (target is not None and Pr <= target):
                break
        if adapt and k in (10, 20, 40, 80, 120, 160, 200, 300, 400, 500, 600, 800, 1000):
            r = np.linalg.norm(A - B)
            d = rho * np.linalg.norm(B - Bp)
            # compare on relative scales
            r /= max(np.linalg.norm(B), 1e-300)
            d /= max(rho * np.linalg.norm(U), 1e-300)
            if r > 3 * d:
                rho *= 1.7
                U /= 1.7
            elif d > 3 * r:
                rho /= 1.7
                U *= 1.7
    g, B, G, info = best
    return B, G, info


def davis_yin(P, mu, tau=None, Z=None, max_it=5000, check=50, tol=1e-8, svtf=svt, log=None, target=None):
    """Three-operator splitting: prox of mu||.||_*, projection on C, gradient of the smooth loss."""
    if tau is None:
        tau = 1.9 / max(P.lipschitz())
    V = P.project(P.Z0) if Z is None else Z.copy()
    info = None
    for k in range(1, max_it + 1):
        Zc = P.project(V)
        A, s = svtf(2 * Zc - V - tau * P.grad(Zc), tau * mu)
        V = V + A - Zc
        if k % check == 0:
            Pr = P.obj(Zc, mu)
            info = dict(it=k, primal=Pr, res=np.linalg.norm(A - Zc) / np.linalg.norm(Zc), rank=len(s))
            if log is not None:
                log.append(info)
            if info['res'] < tol or (target is not None and Pr <= target):
                break
    return P.project(V), info
