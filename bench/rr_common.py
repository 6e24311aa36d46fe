"""What the Python benches of robust regression share: running the command,
the yardsticks.  The command is named by LAPIS_COMMAND."""
import json
import os
import subprocess
import tempfile

import numpy as np

COMMAND = os.environ.get("LAPIS_COMMAND", "build/lapis")


def run(arguments):
    """lapis ARGUMENTS --json -> the JSON object; its sentence on failure."""
    done = subprocess.run([COMMAND, *map(str, arguments), "--json", "-q"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def fit(method, data, options=(), model=None):
    """Fits: JSON, result arrays; the model is written where `model` says."""
    with tempfile.TemporaryDirectory(prefix="lapis-bench-") as folder:
        np.savez(f"{folder}/data.npz", **data)
        extra = ["--model", model] if model else []
        said = run(["fit", method, f"{folder}/data.npz", *options, *extra,
                    "-o", f"{folder}/out.npz"])
        return said, dict(np.load(f"{folder}/out.npz"))


def predict(model, X, options=()):
    with tempfile.TemporaryDirectory(prefix="lapis-bench-") as folder:
        np.savez(f"{folder}/data.npz", X=X)
        run(["predict", model, f"{folder}/data.npz", *options,
             "-o", f"{folder}/out.npz"])
        return dict(np.load(f"{folder}/out.npz"))


def fit_predict(method, data, X, options=(), asked=((),)):
    """fit's result, and what predict answers to X for each of `asked`."""
    with tempfile.TemporaryDirectory(prefix="lapis-bench-") as folder:
        said, out = fit(method, data, options, f"{folder}/m.lapis")
        return said, out, [predict(f"{folder}/m.lapis", X, o) for o in asked]


class Cache:
    """Results by key in a JSON file, so that a long study can be stopped."""

    def __init__(self, path):
        self.path, self.known = path, {}
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.known = json.load(file)

    def get(self, key, make):
        if key not in self.known:
            self.known[key] = make()
            if self.path:
                with open(self.path + ".new", "w", encoding="utf-8") as file:
                    json.dump(self.known, file)
                os.replace(self.path + ".new", self.path)
        return self.known[key]


def ones(X):
    return np.c_[X, np.ones(len(X))]


def ridge(X, Y, gamma=0.0):
    """Least squares with a bias; gamma |T|^2, the bias included."""
    A = ones(X)
    if gamma == 0:
        return np.linalg.lstsq(A, Y, rcond=None)[0].T
    if len(A) < A.shape[1]:
        G = A @ A.T + gamma * np.eye(len(A))
        return (A.T @ np.linalg.solve(G, Y)).T
    return np.linalg.solve(A.T @ A + gamma * np.eye(A.shape[1]), A.T @ Y).T


def tls(X, Y):
    """Total least squares on centred data."""
    mx, my = X.mean(0), Y.mean(0)
    V = np.linalg.svd(np.c_[X - mx, Y - my], full_matrices=True)[2].T
    d = X.shape[1]
    T = -np.linalg.lstsq(V[d:, d:].T, V[:d, d:].T, rcond=None)[0]
    return np.c_[T, my - T @ mx]
