"""What --certificate writes is a proof: an independent program that has the
data and the written arrays finds a bound, and the answer close to it."""
# needs: numpy scipy
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" /
                       "oracle"))

import conformal  # noqa: E402
import mc  # noqa: E402
import roml  # noqa: E402
import rr  # noqa: E402
import svmplus  # noqa: E402
from common import command, fixture, fixtures  # noqa: E402

TOL = 1e-8  # every run is asked for it; the proof has to show 10 times it


def fit(method, data, *words, tol=TOL, **files):
    _, arrays = command("fit", method, "d.npz", "-o", "out.npz",
                        "--certificate", "--tol", tol, *words, d=data, **files)
    return arrays


def observed(X):
    """Features in columns, 0 where nothing was seen; and what was seen."""
    seen = ~np.isnan(X.T)
    return np.where(seen, X.T, 0.0), seen


class Oracle(unittest.TestCase):
    def proved(self, primal, dual, case=None):
        """The bound is a bound, and the answer is near it; where the problem
        has a verified optimum, that lies between the two."""
        size = max(abs(primal), abs(dual))
        self.assertGreaterEqual(primal - dual, -1e-11 * size)
        self.assertLessEqual(primal - dual, 10 * TOL * size)
        if case is not None:
            self.assertLessEqual(abs(primal - case["objective"]),
                                 case["rtol_objective"] * size)

    def box(self, C, seen, weight):
        """The multiplier of weight |P(.)|_1: bounded, 0 where unseen."""
        self.assertLessEqual(np.abs(C[seen]).max(), weight * (1 + 1e-12))
        self.assertEqual(np.abs(C[~seen]).max(initial=0), 0)

    def test_mc(self):
        for name in ("mc1_01_missing", "pos_pm", "simplex_pm",
                     "simplex_01_missing"):
            with self.subTest(name):
                data, case = fixture(name)
                out = fit("mc", {k: data[k] for k in ("X", "Y")},
                          "--variant", case["model"],
                          "--labels", case["labels"], "--mu", case["mu"],
                          "--lambda", case["lam"], "--gamma", case["gamma"])
                X, seen = observed(data["X"])
                Y, known = observed(data["Y"])
                problem = mc.MC(Y, known, X, seen, case["model"],
                                case["labels"], case["lam"], case["gamma"])
                Z = np.vstack([out["scores"].T, out["low_rank"].T,
                               np.ones((1, len(data["X"])))])
                self.assertLessEqual(problem.infeas(Z), 1e-9)
                primal, dual, _ = problem.gap(Z, out["dual"].T, case["mu"])
                self.proved(primal, dual, case)

    def test_rpca(self):
        data, case = fixture("rpca_missing")
        out = fit("rpca", {"X": data["X"]}, "--lambda", case["lam"])
        X, seen = observed(data["X"])
        D, C = out["low_rank"].T, out["dual"].T
        self.box(C, seen, case["lam"])
        self.assertLessEqual(np.linalg.norm(C, 2), 1 + 1e-12)
        primal = rr.nuc(D) + case["lam"] * np.abs((X - D)[seen]).sum()
        self.proved(primal, (C * X).sum(), case)

    def test_rr_with_given_weights(self):
        """The bound: for any M, eta/2 |W(R - Tx D)|^2 >= <M, Tx D - R> -
        |W^-1 M|^2/(2 eta), |D|_* >= <C - Tx'M, D> where that matrix is at
        most 1 in the spectral norm, lambda |P(X - D)|_1 >= <C, X - D>.
        M = eta W^2 (Tx D - R) is made from D, which errs by the root of the
        gap; hence a smaller one is asked for than has to be shown."""
        for name in ("rr_fixedT_synth", "rr_fixedT_missing_multilabelW"):
            with self.subTest(name):
                data, case = fixture(name)
                T = fixture_weights(name)
                eta, lam = case["eta"], case["lam"]
                out = fit("rr", {k: data[k] for k in ("X", "Y")},
                          "--eta", eta, "--lambda", lam, "--weight", "W.npz:W",
                          "--fix-weights", "W.npz:T",
                          tol=1e-3 * TOL, W={"W": data["W"], "T": T})
                X, seen = observed(data["X"])
                D, C, W = out["low_rank"].T, out["dual"].T, data["W"]
                self.box(C, seen, lam)
                R, Tx = data["Y"].T - T[:, -1:], T[:, :-1]
                M = eta * W @ W @ (Tx @ D - R)
                scale = 1 / max(1, np.linalg.norm(C - Tx.T @ M, 2))
                dual = scale * ((C * X).sum() - (M * R).sum()) - (
                    scale ** 2 / (2 * eta) *
                    (M * np.linalg.solve(W @ W, M)).sum())
                primal = rr.objective(T, D, X, data["Y"].T, W, eta, lam, 0,
                                      seen)
                self.proved(primal, dual, case)

    def test_clean(self):
        data, case = fixture("clean_test_missing")
        out = fit("clean", {k: data[k] for k in ("X", "dictionary")},
                  "--lambda", case["lam"], "--weight", "paper", "--joint")
        X, seen = observed(data["X"])
        D, Z = data["dictionary"].T, out["coefficients"].T
        C, weight = out["dual"].T, case["lam"] / rr.nuc(D)
        self.box(C, seen, weight)
        self.assertLessEqual(np.linalg.norm(D.T @ C, 2), 1 + 1e-12)
        primal = rr.nuc(Z) + weight * np.abs((X - D @ Z)[seen]).sum()
        self.proved(primal, (C * X).sum(), case)

    def test_svmplus_linear(self):
        data, case = fixture("svmplus_linear_C1_g0.1")
        out = fit("svmplus", {k: data[k] for k in ("X", "Y", "P")},
                  "--C", case["C"], "--gamma", case["gamma"])
        a, s = out["alpha"].ravel(), out["zeta"].ravel()
        self.assertGreaterEqual(min(a.min(), s.min()), 0)
        primal, dual, _ = svmplus.linear_gap(
            svmplus.augment(data["X"]), svmplus.augment(data["P"]),
            data["Y"].ravel(), case["C"], case["gamma"], a, s)
        self.proved(primal, dual)
        self.assertLessEqual(abs(dual - case["dual"]), 1e-7 * abs(dual))

    def test_svmplus_l2(self):
        data, case = fixture("svmplus_kernel_C1_g1")
        K = svmplus.rbf(data["X"], data["X"], case["rbf_gamma"])
        Kt = svmplus.rbf(data["P"], data["P"], case["rbf_gamma_priv"])
        out = fit("svmplus", {k: data[k] for k in ("X", "Y", "P")},
                  "--C", case["C"], "--gamma", case["gamma"],
                  "--kernel", "rbf", "--kernel-priv", "rbf",
                  "--width", 1 / case["rbf_gamma"],
                  "--width-priv", 1 / case["rbf_gamma_priv"])
        a, y = out["alpha"].ravel(), data["Y"].ravel()
        self.assertGreaterEqual(a.min(), 0)
        self.assertLessEqual(abs(a.sum() - 1), 1e-12)
        Q = (K + 1) * np.outer(y, y) + svmplus.privileged_G(
            Kt + 1, case["C"], case["gamma"])
        value = 0.5 * a @ Q @ a
        # the problem of (18) is min of the primal; -a'Qa/2 is its dual value
        primal, _, _ = svmplus.l2svmplus_primal(K, Kt, y, case["C"],
                                                case["gamma"], {"a": a})
        self.proved(primal, -value)
        self.assertLessEqual(abs(value - case["half_aQa"]), 1e-7 * value)

    def test_misvm_stays_where_it_ended(self):
        """One more round from the labels that were written changes none."""
        data, case = fixture("misvm_one")
        _, out = command(
            "fit", "misvm", "d.npz", "-o", "out.npz", "--C", case["C"],
            "--gamma", case["gamma"], "--kernel", case["kernel"],
            "--kernel-priv", case["kernel_priv"],
            d={k: data[k] for k in ("X", "Y", "P", "group")})
        K = svmplus.rbf(data["X"], data["X"], svmplus.rbf_gamma(data["X"]))
        y = out["labels"].ravel().astype(float)
        model = svmplus.l2svmplus_train(K, data["P"] @ data["P"].T, y,
                                        case["C"], case["gamma"])
        f = (K + 1) @ model["coef"]
        for bag in np.unique(data["group"]):
            inside = data["group"].ravel() == bag
            if data["Y"].ravel()[inside][0] < 0:
                self.assertTrue((y[inside] < 0).all())
                continue
            new = np.where(f[inside] >= 0, 1.0, -1.0)
            if (new > 0).sum() < 1:
                new[np.argmax(f[inside])] = 1.0
            self.assertEqual(new.tolist(), y[inside].tolist())

    def test_roml(self):
        """No certificate, the problem is not convex; but the objective is
        that of the choice written, and the choice is the planted one."""
        data, case = fixture("roml_small")
        say, out = command("fit", "roml", "d.npz", "-o", "out.npz",
                           "--inliers", case["inliers"], "--json",
                           d={k: data[k] for k in ("X", "group")})
        group, match = data["group"].ravel(), out["match"].astype(int)
        F, idx = [], []
        for k, image in enumerate(np.unique(group)):
            rows = np.flatnonzero(group == image)
            F.append(data["X"][rows].T)
            idx.append(np.searchsorted(rows, match[k]))
        F, idx = roml.normalise(F), np.array(idx)
        D = roml.stack(F, idx)
        objective = json.loads(say)["info"]["objective"]
        self.assertLessEqual(abs(objective - rr.nuc(D)), 1e-9 * objective)
        truth = fixture_expected("roml_small", "match").astype(int)
        first = np.array([np.flatnonzero(group == g)[0]
                          for g in np.unique(group)])
        rate = roml.recovery_rate(idx, truth - first[:, None])
        self.assertGreaterEqual(rate, case["required_recovery"])

    def test_assignment(self):
        """Prices v <= 0 prove an assignment: none costs less than
        sum_i min_j (cost[i, j] - v_j) + sum_j v_j."""
        data, case = fixture("lsap_7x30")
        _, out = command("assign", "d.npz", "-o", "out.npz", d=data)
        rows = np.arange(len(data["cost"]))
        match, price = out["match"].ravel().astype(int), out["price"].ravel()
        self.assertEqual(len(set(match)), len(rows))
        self.assertLessEqual(price.max(), 0)
        primal = data["cost"][rows, match].sum()
        dual = (data["cost"] - price).min(axis=1).sum() + price.sum()
        self.assertLessEqual(abs(primal - dual), 1e-12 * abs(primal))
        self.assertLessEqual(abs(primal - case["optimum"]),
                             case["rtol"] * abs(primal))


    def test_coverage(self):
        """Sets and intervals by the models without a fold, which the file of
        the whole holds, and by scores that these models say of known labels
        that they had not seen."""
        for numbers in (False, True):
            with self.subTest(numbers=numbers):
                self.covered(numbers)

    def covered(self, numbers):
        random = np.random.default_rng(5)
        X, Z = random.normal(size=(90, 3)), random.normal(size=(60, 3))
        y = X @ [1, 2, .5] + random.normal(size=90)
        if not numbers:
            y = np.digitize(y, [-1, 1]).astype(float)
        said = "scores" if numbers else "probabilities"
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "m.lapis")
            command("fit", "auto", "d.npz", "--candidates", "linear",
                    "--coverage", ".8", "--model", file, d={"X": X, "Y": y})
            with np.load(file, allow_pickle=True) as arrays:
                model = dict(arrays)
            everyone = [member(command("predict", path, "d.npz", "-o",
                                       "out.npz", d={"X": np.vstack([X, Z])})[1],
                               said)
                        for path in folds_of(model, folder)]
            lists, scores, _ = model["coverage_scores"].T
            fold = lists.astype(int) % len(everyone)
            classes = lists.astype(int) // len(everyone)
            of, known = np.array([e[90:] for e in everyone]), np.arange(90)
            for f, e in enumerate(everyone):
                miss = abs(y - e[:90, 0]) if numbers else \
                    1 - e[known, y.astype(int)]
                own = np.abs(miss - scores[fold == f][:, None]).min(axis=1)
                self.assertLess(own.max(), 1e-9)
            self.assertEqual(len(scores), 90)
            for share in (.5, .8, .9, .95, .999):
                for each in (False,) if numbers else (False, True):
                    _, out = command(
                        "predict", file, "d.npz", "-o", "out.npz",
                        "--coverage", share, "--coverage-by",
                        "class" if each else "all", d={"X": Z})
                    self.same(out, scores, fold, of, share,
                              classes if each else None)

    def same(self, out, scores, fold, said, share, classes):
        if "set_low" in out:
            ends = conformal.intervals(scores, fold, said[:, :, 0], share)
            answer = out["scores"].ravel()
            np.testing.assert_allclose(
                out["set_low"].ravel(), np.minimum(ends[:, 0], answer),
                rtol=1e-9)
            np.testing.assert_allclose(
                out["set_high"].ravel(), np.maximum(ends[:, 1], answer),
                rtol=1e-9)
            return
        inside = conformal.sets(scores, fold, said, share, classes)
        p = out["probabilities"]
        inside |= p == p.max(axis=1, keepdims=True)
        np.testing.assert_array_equal(out["classes_kept"] > 0, inside)


def member(arrays, name):
    return arrays[name].reshape(len(arrays[name]), -1)


def folds_of(model, folder):
    """Files of the models without a fold, cut out of that of the whole."""
    k = 0
    while any(name.startswith("fold.") for name in model):
        head = json.loads(str(model["lapis"].ravel()[0]))
        inner = {**head["fold"], "lapis": head["lapis"],
                 "format": head["format"]}
        model = {name[len("fold."):]: array for name, array in model.items()
                 if name.startswith("fold.")}
        model["lapis"] = np.array(json.dumps(inner))
        alone = {name: array for name, array in model.items()
                 if not name.startswith("fold.")}
        alone["lapis"] = np.array(json.dumps(
            {key: v for key, v in inner.items() if key != "fold"}))
        path = os.path.join(folder, f"fold-{k}.npz")
        np.savez(path, **alone)
        yield path
        k += 1


def fixture_expected(name, member):
    with np.load(fixtures() / name / "expected.npz") as arrays:
        return arrays[member]


def fixture_weights(name):
    return fixture_expected(name, "weights")


if __name__ == "__main__":
    unittest.main()
