"""Memory, threads, signals, freeing, refusals: the library under Python."""
# needs: numpy
import gc
import inspect
import json
import logging
import os
import pickle
import pty
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import unittest
import warnings

import numpy as np

import lapis
from lapis import _core
from lapis._arrays import address
from lapis._library import lib, on_progress
from common import command, long, low_rank, option, two_classes


def resident():
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def slow():
    """A problem that takes many seconds, one short step after another."""
    _, X = low_rank(400, 300, rank=60, share=0.3)
    return dict(X=X, tol=0.0, max_iters=10 ** 9)


def watched(act):
    """A context that does something once, when a solve shows progress."""
    context, acted = _core.Context(), []

    def show(now, _):
        if not acted:
            acted.append(now.contents.iter)
            act()
        return True
    context._show = on_progress(show)
    lib.ctx_on_progress(context, context._show, None)
    return context


class Memory(unittest.TestCase):
    def test_addresses_are_numpys(self):
        a = np.arange(24.0).reshape(4, 6)
        locked = a.copy()
        locked.flags.writeable = False
        for array in (a, locked, np.asfortranarray(a), a[1:], a[::2],
                      a[:, ::3], a[:0], np.empty(0), np.zeros(()),
                      np.zeros(3, [("m", "i8"), ("v", "f8")])):
            self.assertEqual(address(array), array.ctypes.data)

    def test_c_ordered_doubles_are_used_in_place(self):
        X, y, P = two_classes()
        inputs = _core.Inputs(X=X, Y=y, P=P, weight=y ** 2)
        self.assertEqual(inputs.data.X.val, X.ctypes.data)
        self.assertEqual(inputs.data.Y.val, y.ctypes.data)
        self.assertEqual(inputs.data.P.val, P.ctypes.data)
        self.assertEqual((inputs.data.X.rows, inputs.data.X.cols), (5, 60))
        self.assertIs(lapis._validation.check_array(X), X)

    def test_what_is_not_used_is_refused(self):
        X, y, P = two_classes()
        for method, more, said in (
                ("linear", {"P": P}, "linear: P is given"),
                ("rpca", {"Y": y}, "rpca: Y is given"),
                ("rpca", {"xy": P}, "rpca: xy is given"),
                ("misvm", {"Y": y, "group": np.arange(60),
                           "sample_weight": y ** 2}, "sample_weight is given"),
                ("svmplus", {"Y": y, "width": 3.0},
                 "width goes with kernel='rbf' or chi2"),
                ("rpca", {"tau": .3}, "tau goes with refill")):
            with self.assertRaisesRegex(ValueError, said):
                lapis.solve(method, X, **more)
        lapis.SVMPlusClassifier(width=3.0).fit(X, y)  # as any grid may have

    def test_others_are_converted_once_with_a_note(self):
        X, _, _ = two_classes()
        for other in (np.asfortranarray(X), X.astype(np.float32), X[::2],
                      X[:, :3]):
            with self.assertLogs("lapis", logging.DEBUG) as said:
                once = lapis._validation.check_array(other)
            self.assertEqual(len(said.output), 1)
            self.assertIn("copied to C-ordered float64", said.output[0])
            with self.assertNoLogs("lapis", logging.DEBUG):
                inputs = _core.Inputs(X=once)
            self.assertEqual(inputs.data.X.val, once.ctypes.data)
            np.testing.assert_array_equal(once, other)

    def test_sparse_parts_are_used_in_place(self):
        try:
            from scipy import sparse
        except ImportError:
            self.skipTest("no scipy")
        matrix = sparse.random(50, 30, 0.2, "csr", random_state=0)
        data = _core.Inputs(X=matrix).data
        self.assertEqual(data.X.val, matrix.data.ctypes.data)
        self.assertEqual(data.X.rowidx, matrix.indices.ctypes.data)

    def test_a_mapped_file_is_read_where_it_is(self):
        X, y, _ = two_classes(500)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "X.npy")
            np.save(path, X)
            mapped = np.load(path, mmap_mode="r")
            inputs = _core.Inputs(X=mapped)
            self.assertEqual(inputs.data.X.val, mapped.ctypes.data)
            one = lapis.SVMPlusClassifier().fit(mapped, y)
            two = lapis.SVMPlusClassifier().fit(X, y)
            self.assertEqual(one.coef_.tobytes(), two.coef_.tobytes())

    def test_the_peak_holds_no_second_copy(self):
        """Linear svmplus on 200 MB: less than a tenth of that on top, where
        the features are of a size that needs no scaled copy."""
        program = """
import resource, numpy as np, lapis
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
rng = np.random.default_rng(0)
X = np.empty((2500, 10000))
for row in X: row[:] = 0.1 * rng.random(10000)
y = np.where(X[:, :50].sum(axis=1) > 2.5, 1.0, -1.0)
lapis.SVMPlusClassifier(max_iters=2).fit(X[:50, :20].copy(), y[:50])
before = peak()
lapis.SVMPlusClassifier(max_iters=3).fit(X, y)
print((peak() - before) / X.nbytes)
"""
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", program],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(float(done.stdout), 0.1)

    @long
    def test_a_thousand_fits_leak_nothing(self):
        X, y, P = two_classes(40)
        _, L = low_rank(20, 8, rank=2)
        fits = [lambda: lapis.SVMPlusClassifier().fit(X, y, X_priv=P)
                .predict(X),
                lambda: lapis.RobustPCA(tol=1e-2).fit(L).transform(L),
                lambda: lapis.MatrixCompletionClassifier(mu_rel=0.1).fit(X, y)
                .predict(X),
                lambda: lapis.RobustRegressor(tol=1e-2).fit(X, y).predict(X)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(50):
                for fit in fits:
                    fit()
            gc.collect()
            before = resident()
            for _ in range(250):
                for fit in fits:
                    fit()
        gc.collect()
        self.assertLess(resident() - before, 2 << 20)

    def test_objects_may_be_freed_in_any_order(self):
        """Arrays, result, model, context: every order, then all are used."""
        X, y, _ = two_classes()
        truth = lapis.solve("svmplus", X, y)["scores"].copy()
        for order in ("rsm", "rms", "srm", "smr", "mrs", "msr"):
            result = lapis.solve("svmplus", X.copy(), y)
            held = {"r": result, "s": result["scores"], "m": result.model()}
            del result
            for key in order:
                gc.collect()
                if "s" in held:
                    np.testing.assert_array_equal(held["s"], truth)
                if "m" in held:
                    np.testing.assert_allclose(
                        held["m"].predict(X)["scores"], truth, atol=1e-12)
                del held[key]

    def test_handles_may_be_freed_in_any_order(self):
        """The same one level below: a context before what was made in it."""
        X, y, _ = two_classes()
        result = lapis.solve("svmplus", X, y)
        model, solver = result.model(), result._solver
        lib.ctx_free(solver.context._as_parameter_)
        solver.context._as_parameter_ = None
        del result, solver
        gc.collect()
        self.assertGreater((model.predict(X)["labels"] == y).mean(), 0.8)

    def test_a_model_outlives_its_solver_and_data(self):
        X, y, _ = two_classes()
        model = lapis.SVMPlusClassifier(kernel="rbf").fit(X.copy(), y)
        before = model.decision_function(X)
        gc.collect()
        np.empty_like(X)[:] = np.nan
        np.testing.assert_array_equal(model.decision_function(X), before)


class Signals(unittest.TestCase):
    def test_ctrl_c_ends_a_solve_with_its_partial_result(self):
        data, context = slow(), watched(
            lambda: os.kill(os.getpid(), signal.SIGINT))
        with self.assertRaises(lapis.Interrupted) as caught:
            lapis.solve("rpca", context=context, **data)
        result = caught.exception.result
        self.assertEqual(result.info.status, "cancelled")
        self.assertGreater(result.info.iterations, 0)
        np.testing.assert_allclose(result["low_rank"] + result["sparse"],
                                   data["X"], atol=1e-8)

    def test_ctrl_c_does_not_wait_for_a_long_step(self):
        """A step that cannot be left takes long: the prompt is back before
        it ends, and the result when it is asked for."""
        done, main = threading.Event(), threading.main_thread().ident

        def waits():
            stack = traceback.extract_stack(sys._current_frames()[main])
            return "_wait_for_signals" in [entry.name for entry in stack]

        def work():
            while not waits():
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)
            done.wait(300)  # deaf to cancelling
            return None
        with self.assertRaises(lapis.Interrupted) as caught:
            _core.run(_core.Context(), work)
        self.assertFalse(caught.exception._job._over.is_set())
        done.set()
        self.assertIsNone(caught.exception.result)

    def test_another_signal_passes_through(self):
        class Late(Exception):
            pass

        def ring(*_):
            raise Late
        before = signal.signal(signal.SIGALRM, ring)
        try:
            context = watched(lambda: os.kill(os.getpid(), signal.SIGALRM))
            with self.assertRaises(Late):
                lapis.solve("rpca", context=context, **slow())
        finally:
            signal.signal(signal.SIGALRM, before)

    def test_other_threads_run_during_a_fit(self):
        """Another thread ends a fit that would not end by itself."""
        begun = threading.Event()
        context = watched(begun.set)

        def end():
            begun.wait()
            sum(range(10 ** 6))  # more than one turn of the interpreter
            context.cancel()
        thread = threading.Thread(target=end)
        thread.start()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = lapis.solve("rpca", context=context, **slow())
        thread.join()
        self.assertEqual(result.info.status, "cancelled")

    def test_fits_in_threads_agree(self):
        X, y, _ = two_classes(200)
        want = lapis.SVMPlusClassifier(n_jobs=1).fit(X, y).coef_
        found = [None] * 8

        def fit(k):
            found[k] = lapis.SVMPlusClassifier(n_jobs=1).fit(X, y).coef_
        threads = [threading.Thread(target=fit, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for coef in found:
            self.assertEqual(coef.tobytes(), want.tobytes())


class Travel(unittest.TestCase):
    def test_results_pickle(self):
        _, X = low_rank()
        result = lapis.solve("rpca", X)
        there = pickle.loads(pickle.dumps(result))
        self.assertEqual(list(there), list(result))
        for name in result:
            np.testing.assert_array_equal(there[name], result[name])
        self.assertEqual(there.settings, result.settings)
        self.assertEqual(vars(there.info), vars(result.info))
        self.assertEqual(repr(there), repr(result))
        self.assertEqual(result.model().method, "rpca")
        with self.assertRaisesRegex(ValueError, "was pickled"):
            there.model()

    def test_matches_pickle(self):
        rng = np.random.default_rng(0)
        points = rng.normal(size=(4, 8))
        found = lapis.MultiImageMatcher(inliers=4).match([points] * 3)
        there = pickle.loads(pickle.dumps(found))
        np.testing.assert_array_equal(there.match, found.match)
        np.testing.assert_array_equal(there.local, found.local)
        np.testing.assert_array_equal(there.result["low_rank"],
                                      found.result["low_rank"])


class Talk(unittest.TestCase):
    def test_the_librarys_sentence_is_raised(self):
        X, y, _ = two_classes()
        bad = X.copy()
        bad[3, 2] = np.nan
        for error, words, call in [
                (ValueError, "X is NaN at row 3, column 2",
                 lambda: lapis.SVMPlusClassifier().fit(bad, y)),
                (ValueError, "infinite at row 3, column 2",
                 lambda: lapis.RobustPCA().fit(np.where(
                     np.isnan(bad), np.inf, bad))),
                (ValueError, "svmplus: C is -1",
                 lambda: lapis.SVMPlusClassifier(C=-1).fit(X, y)),
                (ValueError, "'cubic' is not one of linear|rbf|chi2",
                 lambda: lapis.SVMPlusClassifier(kernel="cubic").fit(X, y)),
                (ValueError, "one class only",
                 lambda: lapis.SVMPlusClassifier().fit(X, y * 0)),
                (ValueError, "dictionary",
                 lambda: lapis.solve("clean", X)),
                (ValueError, "no method 'svm'",
                 lambda: lapis.solve("svm", X)),
                (TypeError, "no parameter 'c'",
                 lambda: lapis.solve("svmplus", X, y, c=1)),
                (TypeError, "has no parameter",
                 lambda: lapis.SVMPlusClassifier(c=1)),
                (lapis.NotFittedError, "not fitted",
                 lambda: lapis.SVMPlusClassifier().predict(X)),
                (lapis.NotFittedError, "call 'fit'",
                 lambda: lapis.save(lapis.RobustPCA(), "x.lapis")),
                (OSError, "no-such-folder",
                 lambda: lapis.load("no-such-folder/m.lapis")),
                (lapis.FormatError, "",
                 lambda: lapis.load(__file__)),
                (lapis.NotBuiltError, "new ones have none",
                 lambda: lapis.solve("roml", X, group=np.repeat(
                     range(6), 10), xy=X[:, :2], inliers=2,
                     map="embed").model()),
                (ValueError, "X has 3 features",
                 lambda: lapis.RobustPCA().fit(X).transform(X[:, :3])),
                (ValueError, "y has 59",
                 lambda: lapis.RobustLDA().fit(X, y[:-1])),
                (ValueError, "X_priv has 59",
                 lambda: lapis.SVMPlusClassifier().fit(X, y, X_priv=X[1:])),
                (ValueError, "Expected 2D array",
                 lambda: lapis.RobustPCA().fit(y)),
                (ValueError, "is the text",
                 lambda: lapis.RobustPCA().fit([["a", "b"]])),
                (ValueError, "Complex",
                 lambda: lapis.RobustPCA().fit(X * 1j)),
                (ValueError, "continuous",
                 lambda: lapis.RobustLDA().fit(X, X[:, 0])),
                (ValueError, "transpose the costs",
                 lambda: lapis.assign(np.ones((3, 2))))]:
            with self.subTest(words), self.assertRaisesRegex(error, words):
                call()

    def test_problems_of_one_call_are_solved_each(self):
        costs = np.random.default_rng(3).random((7, 5, 9))
        for given in (costs, costs.astype(np.float32), costs[:, :, ::-1]):
            found = lapis.assign(given)
            self.assertEqual(found.match.shape, (7, 5))
            for k, cost in enumerate(given):
                one = lapis.assign(cost)
                self.assertEqual(one.match.tolist(), found.match[k].tolist())
                self.assertEqual(one.price.tobytes(),
                                 found.price[k].tobytes())
                self.assertEqual(one.objective, found.objective[k])

    def test_an_answer_stays_after_other_calls(self):
        costs = np.random.default_rng(5).random((4, 6, 8))
        kinds = [(np.float64, 6), (np.float64, 6), (np.float32, 6),
                 (np.float64, 4)]
        given = [np.ascontiguousarray(cost[:rows], kind)
                 for cost, (kind, rows) in zip(costs, kinds)]
        found = [lapis.assign(cost) for cost in given + given[::-1]]
        for cost, one, again in zip(given, found, found[::-1]):
            self.assertEqual(len(one.match), len(cost))
            self.assertAlmostEqual(
                one.objective, cost[np.arange(len(cost)), one.match].sum(), 5)
            self.assertEqual(one.match.tolist(), again.match.tolist())
            self.assertEqual(one.price.tobytes(), again.price.tobytes())

    def test_small_calls_are_alike_in_all_threads(self):
        W = np.random.default_rng(4).standard_normal((20, 30))
        there = []
        other = threading.Thread(target=lambda: there.append(
            (lapis.svt(W, 1.0).array, lapis.singular_values(W))))
        other.start()
        other.join()
        self.assertTrue((there[0][0] == lapis.svt(W, 1.0).array).all())
        np.testing.assert_allclose(
            there[0][1], np.linalg.svd(W, compute_uv=False), rtol=1e-12)
        for _ in range(2):  # a call that fails leaves nothing behind
            with self.assertRaisesRegex(ValueError, "nan"):
                lapis.assign(np.full((2, 2), np.nan))
        self.assertEqual(lapis.assign(np.eye(2)).objective, 0)

    def test_tables_are_what_solve_reads(self):
        X = np.outer(np.arange(1.0, 9), np.arange(1.0, 6))
        with self.assertRaisesRegex(ValueError, r"X has shape \(1, 8, 5\)"):
            lapis.solve("rpca", X[None])
        hidden = X > 30
        masked = lapis.solve("mc", np.ma.array(X, mask=hidden), mu_rel=0.1)
        holes = lapis.solve("mc", np.where(hidden, np.nan, X), mu_rel=0.1)
        np.testing.assert_array_equal(masked["low_rank"], holes["low_rank"])

    def test_warnings_are_the_librarys(self):
        X, y, _ = two_classes()
        with self.assertWarnsRegex(lapis.LapisWarning, "smaller lambda_ removes"):
            lapis.RobustPCA(lambda_=5.0).fit(X)

    def test_verbose_tells(self):
        program = ("import sys, lapis, numpy as np\n"
                   "X = np.random.default_rng(0).normal(size=(30, 4))\n"
                   "for k in range(4):\n"
                   "    lapis.RobustPCA(verbose=k).fit(X)\n"
                   "    print('|', end='', file=sys.stderr, flush=True)\n")
        said = subprocess.run([sys.executable, "-W", "ignore", "-c", program],
                              text=True, capture_output=True).stderr.split("|")
        self.assertEqual(said[0], "")
        self.assertEqual(said[1], "")  # no terminal: no bar
        self.assertGreaterEqual(len(said[3]), len(said[2]))
        self.assertIn("lapis: ", said[3])

    def test_the_bar_is_drawn_and_wiped(self):
        program = ("import sys; sys.path.insert(0, %r)\n"
                   "import lapis, threading, time, warnings, test_solving\n"
                   "warnings.simplefilter('ignore')\n"
                   "context = lapis._core.Context(verbose=1)\n"
                   "def end():\n"
                   "    while not context.bar._shown: time.sleep(0.01)\n"
                   "    context.cancel()\n"
                   "threading.Thread(target=end).start()\n"
                   "lapis.solve('rpca', context=context,"
                   " **test_solving.slow())\n"
                   % os.path.dirname(__file__))
        master, slave = pty.openpty()
        child = subprocess.Popen([sys.executable, "-c", program],
                                 stderr=slave, stdout=slave)
        os.close(slave)
        text = b""
        try:
            while chunk := os.read(master, 4096):
                text += chunk
        except OSError:  # the other side is closed
            pass
        self.assertEqual(child.wait(), 0)
        self.assertRegex(text, rb"\rrpca \[[#.]{24}\] \d+  objective")
        self.assertTrue(text.endswith(b"\r\x1b[K"))


class Parameters(unittest.TestCase):
    def test_keywords_and_defaults_are_those_of_the_command(self):
        """Against what the command itself says of every setting, where it
        chooses none."""
        X, y, _ = two_classes()
        for cls, method in ((lapis.SVMPlusClassifier, "svmplus"),
                            (lapis.RobustLDA, "rlda"),
                            (lapis.RobustPCA, "rpca"),
                            (lapis.RobustRegressor, "rr"),
                            (lapis.MISVMPlusClassifier, "misvm"),
                            (lapis.MatrixCompletionClassifier, "mc")):
            said = command("fit", method, "--help")[0]
            arrays = {"X": X, "Y": y, "group": np.arange(60)}
            used = json.loads(command(
                "fit", method, "d.npz", "--json", *(
                    {"mc": ["--mu-rel", "0.02"],
                     "rr": ["--eta", "10"],
                     "rlda": ["--gamma", ".1"]}.get(method, [])),
                d=arrays)[0])["settings"]
            rows = inspect.signature(cls).parameters
            own = [key for key in rows
                   if key not in ("random_state", "n_jobs", "verbose",
                                  "missing", "positive")]
            self.assertEqual([option(key)[2:] for key in own], list(used))
            for key in own:
                value, default = used[option(key)[2:]], rows[key].default
                self.assertIn(f"\n  {option(key)}", said)
                self.assertIn(f"\n{key} : ", cls.__doc__)
                if default not in ("auto", "with-C", None, np.inf):
                    self.assertEqual(value, default, (method, key))

    def test_values_reach_the_library_exactly(self):
        X, y, _ = two_classes()
        for value in (0.1, 1 / 3, 1e-300, np.float32(0.1), np.float64(2) / 3,
                      7, np.int64(3)):
            C = lapis.solve("svmplus", X, y, C=value).settings["C"]
            self.assertEqual(C, float(value))

    def test_seeds(self):
        X, y, _ = two_classes()
        draw = [lapis.Folds(random_state=s).draw(X).tolist()
                for s in (None, 0, 1, np.random.default_rng(4),
                          np.random.default_rng(4))]
        self.assertEqual(draw[0], draw[1])
        self.assertNotEqual(draw[1], draw[2])
        self.assertEqual(draw[3], draw[4])
        with self.assertRaisesRegex(ValueError, "random_state"):
            lapis.SVMPlusClassifier(random_state="x").fit(X, y)
        with self.assertRaisesRegex(ValueError, "n_jobs"):
            lapis.SVMPlusClassifier(n_jobs=0).fit(X, y)
        one = lapis.SVMPlusClassifier(n_jobs=1).fit(X, y)
        self.assertEqual(one.info_.threads, 1)


if __name__ == "__main__":
    unittest.main()
