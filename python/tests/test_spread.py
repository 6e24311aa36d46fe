"""Samples divided among the processes of mpi4py: the answer of one."""
# needs: numpy mpi4py
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import lapis
from common import ALL, low_rank

# Every process takes its rows, and rank 0 prints what all agree on.
PROGRAM = """
import sys
import numpy as np
from mpi4py import MPI
import lapis
world = MPI.COMM_WORLD
data = np.load(sys.argv[1])
first, last = (len(data["X"]) * (world.rank + k) // world.size for k in (0, 1))
part = {name: data[name][first:last] for name in data.files}
lapis.set_comm(world)
mc = lapis.solve("mc", part["X"], part["Y"], mu_rel=0.05, tol=1e-12,
                 max_iters=20)
rpca = lapis.solve("rpca", part["X"], tol=1e-12, max_iters=20)
model = rpca.model()
for call, sentence in (
        (lambda: lapis.solve("linear", part["X"], part["Y"]),
         "this method needs all samples in one process"),
        (lambda: lapis.RobustPCA().fit(part["X"]), "set_comm(None)"),
        (lambda: lapis.solve("rpca", part["X"] + (np.inf if world.rank else 0)),
         "(process 2 of")):
    try:
        call()
    except (ValueError, RuntimeError) as error:
        assert sentence in str(error), error
    else:
        raise AssertionError(sentence)
lapis.set_comm(None)
answer = model.predict(part["X"], tol=1e-11)["low_rank"]
found = [world.gather(np.asarray(x)) for x in (
    mc["low_rank"], mc["scores"], rpca["low_rank"], answer)]
if world.rank == 0:
    np.savez(sys.argv[2], mc=mc.info.objective, rpca=rpca.info.objective,
             **{f"a{k}": np.concatenate(x) for k, x in enumerate(found)})
"""


class Spread(unittest.TestCase):
    def setUp(self):
        if shutil.which("mpirun") is None:
            self.skipTest("no mpirun")

    def run_on(self, processes, data):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name)
                     for name in ("program.py", "data.npz", "out.npz")]
            with open(paths[0], "w", encoding="utf-8") as file:
                file.write(PROGRAM)
            np.savez(paths[1], **data)
            done = subprocess.run(
                ["mpirun", "--quiet", "--oversubscribe", "-n", str(processes),
                 sys.executable, *paths], stdin=subprocess.DEVNULL,
                capture_output=True, text=True,
                env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1",
                     "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
            self.assertEqual(done.returncode, 0, done.stderr)
            with np.load(paths[2]) as found:
                return dict(found)

    def test_two_and_three_answer_as_one(self):
        X, _ = low_rank(n=60, d=8)
        X = np.asarray(X)
        Y = np.where(X[:, :1] > 0, 1.0, -1.0)
        Y[::2] = np.nan
        X[3, 2] = X[50, 1] = np.nan
        mc = lapis.solve("mc", X, Y, mu_rel=0.05, tol=1e-12, max_iters=20)
        rpca = lapis.solve("rpca", X, tol=1e-12, max_iters=20)
        answer = rpca.model().predict(X, tol=1e-11)
        wanted = (mc["low_rank"], mc["scores"], rpca["low_rank"],
                  answer["low_rank"])
        for processes in (2, 3) if ALL else (3,):
            found = self.run_on(processes, {"X": X, "Y": Y})
            self.assertAlmostEqual(found["mc"] / mc.info.objective, 1, 10)
            self.assertAlmostEqual(found["rpca"] / rpca.info.objective, 1, 10)
            for k, array in enumerate(wanted):
                np.testing.assert_allclose(found[f"a{k}"], array, atol=1e-8)


if __name__ == "__main__":
    unittest.main()
