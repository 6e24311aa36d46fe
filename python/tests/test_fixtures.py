"""Every fixture through Python gives the command's answer, bit by bit."""
# needs: numpy
import json
import tempfile
import unittest

import numpy as np

import lapis
from common import command, fixture, fixtures, option

MEMBERS = ("X", "Y", "P", "group")


def mc(case):
    return "mc", dict(variant=case["model"], labels=case["labels"],
                      mu=case["mu"], lambda_=case["lam"], gamma=case["gamma"],
                      tol=1e-8,
                      class_features=bool(case["class_rep_columns"]),
                      certificate=True)


def fpc(case):
    return "mc", dict(variant=case["model"], labels=case["labels"],
                      mu=case["mu"], lambda_=case["lam"], gamma=case["gamma"],
                      solver="fpc", tau=case["tau"], mu_start=case["mu"],
                      tol=0, max_iters=case["steps"])


def rr_alm(case):
    return "rr", dict(eta=case["eta"], lambda_=case["lam"],
                      gamma=case["gamma"], rho=case["rho"])


def rr_fixed(case):
    return "rr", dict(eta=case["eta"], lambda_=case["lam"], certificate=True)


def clean(case):
    return "clean", dict(lambda_=case["lam"], weight="paper", joint=True)


def kernels(case):
    return dict(C=case["C"], gamma=case["gamma"], kernel="rbf",
                kernel_priv="rbf", width=1 / case["rbf_gamma"],
                width_priv=1 / case["rbf_gamma_priv"], tol=1e-9)


def svm_kernel(case):
    return "svmplus", kernels(case)


def svm_original(case):
    return "svmplus", dict(kernels(case), formulation="original")


def svm_linear(case):
    return "svmplus", dict(C=case["C"], gamma=case["gamma"], tol=1e-9,
                           certificate=True)


def misvm(case):
    return "misvm", dict(C=case["C"], gamma=case["gamma"],
                         kernel=case["kernel"],
                         kernel_priv=case["kernel_priv"],
                         positive_ratio=case["positive_ratio"] or 0.0)


def roml(case):
    return "roml", dict(inliers=case["inliers"])


KINDS = {"mc": mc, "fpc_steps": fpc, "rr_alm": rr_alm,
         "rr_fixed_T": rr_fixed, "clean_test": clean,
         "svmplus_kernel": svm_kernel, "svmplus_linear": svm_linear,
         "svmplus_original": svm_original, "misvm": misvm, "roml": roml}


def words(settings):
    """Settings as options of the command."""
    for key, value in settings.items():
        if value is True:
            yield option(key)
        elif value is not False:
            yield from (option(key), value if isinstance(value, str)
                        else repr(value))


class Fixtures(unittest.TestCase):
    def each(self, kinds, check):
        """check(data, case) of the fixtures of these kinds."""
        found = 0
        for path in sorted(fixtures().glob("*/case.json")):
            if json.loads(path.read_text())["kind"] in kinds:
                found += 1
                with self.subTest(path.parent.name):
                    check(*fixture(path.parent.name))
        self.assertGreater(found, 0)

    def same(self, result, arrays):
        """Each array of the result file is the result's, to the last bit."""
        self.assertGreater(len(arrays), 0)
        for name, there in arrays.items():
            if name == "notes":  # each door spells settings its own way
                self.assertEqual([n.name for n in result.notes],
                                 [str(row[1]) for row in there])
                continue
            here = result[name]
            self.assertEqual(here.shape, there.shape, name)
            if there.dtype.kind == "U":
                self.assertEqual(list(here), list(there))
            else:
                # bytes: NaN equals NaN, and 0 differs from -0
                self.assertEqual(np.ascontiguousarray(here).tobytes(),
                                 there.tobytes(), name)

    def compare(self, data, case, files=(), extra=(), **matrices):
        method, settings = KINDS[case["kind"]](case)
        inputs = {key: data[key] for key in MEMBERS if key in data}
        if method == "clean":
            inputs["dictionary"] = data["dictionary"]
        _, arrays = command("fit", method, "d.npz", "-o", "out.npz",
                            *words(settings), *extra, d=inputs, **dict(files))
        inputs.pop("dictionary", None)
        result = lapis.solve(method, **inputs, **settings, **matrices)
        self.same(result, arrays)

    def test_completion(self):
        self.each(["mc", "fpc_steps"], self.compare)

    def test_svmplus(self):
        self.each(["svmplus_kernel", "svmplus_linear", "svmplus_original"],
                  self.compare)

    def test_misvm(self):
        self.each(["misvm"], self.compare)

    def test_roml(self):
        self.each(["roml"], self.compare)

    def test_cleaning_with_a_dictionary(self):
        self.each(["clean_test"], lambda data, case: self.compare(
            data, case, dictionary=data["dictionary"]))

    def test_robust_regression(self):
        self.each(["rr_alm"], lambda data, case: self.compare(
            data, case, {"W": {"W": data["W"]}}, ["--weight", "W.npz:W"],
            weight=data["W"]))

    def test_robust_regression_with_given_weights(self):
        def check(data, case):
            path = fixtures() / case["name"] / "expected.npz"
            T = np.load(path)["weights"]
            self.compare(data, case, {"W": {"W": data["W"], "T": T}},
                         ["--weight", "W.npz:W", "--fix-weights", "W.npz:T"],
                         weight=data["W"], fix_weights=T)
        self.each(["rr_fixed_T"], check)

    def test_assignment(self):
        def check(data, case):
            _, arrays = command("assign", "d.npz", "-o", "out.npz", d=data)
            found = lapis.assign(data["cost"])
            self.assertEqual(found.match.tobytes(),
                             arrays["match"].tobytes())
            self.assertEqual(found.price.tobytes(),
                             arrays["price"].tobytes())
            self.assertLessEqual(
                abs(found.objective - case["optimum"]),
                case["rtol"] * abs(case["optimum"]))
        self.each(["lsap"], check)

    def test_scalar_steps(self):
        data, case = fixture("scalar_chi2")
        found = lapis.prox_chi2(data["v"], data["z0"], data["t"])
        np.testing.assert_allclose(found, data["prox"], rtol=0,
                                   atol=case["atol"])
        self.assertEqual(lapis.prox_soft([3.0, -0.5], 1.0).tolist(), [2, 0])

    def test_estimators_answer_as_the_command_predicts(self):
        """fit --model and predict, against fit and decision_function."""
        data, case = fixture("svmplus_kernel_C1_g1")
        settings = kernels(case)
        train = {key: data[key] for key in ("X", "Y", "P")}
        path = str(fixtures() / "svmplus_kernel_C1_g1")
        estimator = lapis.SVMPlusClassifier(**settings)
        estimator.fit(data["X"], data["Y"][:, 0], X_priv=data["P"])
        with np.load(path + "/expected.npz") as expected:
            np.testing.assert_allclose(
                estimator.decision_function(data["X_test"]),
                expected["decision"], rtol=1e-5, atol=1e-6)

        with tempfile.TemporaryDirectory() as place:
            model = place + "/m.lapis"
            command("fit", "svmplus", "d.npz", "--model", model,
                    *words(settings), d=train)
            _, arrays = command("predict", model, "t.npz", "-o", "out.npz",
                                t={"X": data["X_test"]})
            self.assertEqual(
                estimator.decision_function(data["X_test"]).tobytes(),
                arrays["scores"][:, 0].tobytes())
            loaded = lapis.load(model)
            self.assertEqual(
                loaded.decision_function(data["X_test"]).tobytes(),
                arrays["scores"][:, 0].tobytes())
            # and back: a model saved here is one the command reads
            lapis.save(estimator, model)
            _, again = command("predict", model, "t.npz", "-o", "out.npz",
                               t={"X": data["X_test"]})
            self.assertEqual(again["scores"].tobytes(),
                             arrays["scores"].tobytes())


if __name__ == "__main__":
    unittest.main()
