# needs: numpy threadpoolctl joblib
"""How many threads work where others have set a limit: OpenMP's and OpenBLAS's
variables, threadpoolctl, joblib's workers, and the processors we may run on."""
import os
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

import lapis


def threads_of_a_fit(n_jobs=0):
    """What the fit says, and how many threads were there that were not before:
    its own and those of its OpenMP team."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 100))
    before, most, over = len(os.listdir("/proc/self/task")), [0], []

    def watch():
        while not over:
            most[0] = max(most[0], len(os.listdir("/proc/self/task")))
            time.sleep(0.001)  # threads of a team stay

    watcher = threading.Thread(target=watch)
    watcher.start()
    context = lapis._core.Context(threads=n_jobs)
    said = lapis.solve("rpca", X, context=context, max_iters=40,
                       tol=0).info.threads
    over.append(True)
    watcher.join()
    return said, most[0] - before - 1


def in_a_process(lines="", **variables):
    """The same in a new process, before which LINES run."""
    here = os.path.dirname(os.path.abspath(__file__))
    code = (f"import sys, warnings; sys.path.insert(0, {here!r})\n"
            "warnings.simplefilter('ignore')\n"
            f"{lines or 'from test_threads import threads_of_a_fit'}\n"
            "print(*threads_of_a_fit())\n")
    env = {k: v for k, v in os.environ.items()
           if k not in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    out = subprocess.run([sys.executable, "-c", code], check=True, text=True,
                         stdout=subprocess.PIPE, env=dict(env, **variables))
    said, extra = map(int, out.stdout.split())
    return said, extra


IMPORT = "from test_threads import threads_of_a_fit\n"


class Limits(unittest.TestCase):
    def check_one(self, got):
        self.assertEqual(got[0], 1)
        self.assertLessEqual(got[1], 1)  # the solve's own thread

    def test_variables(self):
        self.check_one(in_a_process(OMP_NUM_THREADS="1"))
        self.check_one(in_a_process(OMP_THREAD_LIMIT="1"))
        self.check_one(in_a_process(OPENBLAS_NUM_THREADS="1"))
        wide = len(os.sched_getaffinity(0))
        self.assertEqual(in_a_process(OPENBLAS_NUM_THREADS="none")[0], wide)
        self.assertEqual(in_a_process(OMP_NUM_THREADS="4096")[0], wide)

    def test_processors(self):
        one = min(os.sched_getaffinity(0))
        self.check_one(in_a_process(
            f"import os\nos.sched_setaffinity(0, [{one}])\n{IMPORT}"))

    def test_threadpoolctl(self):
        self.check_one(in_a_process(
            f"{IMPORT}import threadpoolctl\n"
            "limit = threadpoolctl.threadpool_limits(1)"))

    def test_workers_of_joblib_share_the_processors(self):
        from joblib import Parallel, delayed
        wide = len(os.sched_getaffinity(0))
        got = Parallel(n_jobs=max(wide, 2))(
            delayed(threads_of_a_fit)() for _ in range(2))
        for one in got:
            self.check_one(one)

    def test_what_is_asked_for_is_given(self):
        self.assertEqual(threads_of_a_fit(n_jobs=3)[0], 3)


if __name__ == "__main__":
    unittest.main()
