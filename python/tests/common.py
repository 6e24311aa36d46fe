"""What several tests share: the command, fixtures, small problems."""
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

ALL = os.environ.get("LAPIS_TEST_ALL") == "1"  # tools/run-tests --all
COMMAND = os.environ.get("LAPIS_COMMAND", "")


def long(case):
    """A case that only `tools/run-tests --all` runs."""
    case.long = True
    return case


def changed(*paths):
    """Whether the working tree or the commits after LAPIS_TEST_SINCE (else the
    last one) have changed them, as far as git knows."""
    since = os.environ.get("LAPIS_TEST_SINCE") or "HEAD~1"
    return subprocess.run(
        ["git", "diff", "--quiet", since, "--", *paths], check=False,
        cwd=Path(__file__).parents[2], stderr=subprocess.DEVNULL
    ).returncode == 1


def fixtures():
    """The folder of the verified problems: that of the tree, or another one
    that LAPIS_FIXTURES names."""
    return Path(os.environ.get("LAPIS_FIXTURES") or
                Path(__file__).resolve().parents[2] / "tests" / "fixtures")


def fixture(name):
    """(arrays of data.npz, case.json) of a verified problem."""
    at = fixtures() / name
    with np.load(at / "data.npz") as arrays:
        data = {key: arrays[key] for key in arrays.files}
    return data, json.loads((at / "case.json").read_text())


def command(*words, **files):
    """Runs lapis in a fresh folder that holds these arrays as .npz files;
    what it printed, and the arrays of out.npz where it wrote one."""
    with tempfile.TemporaryDirectory() as folder:
        for name, arrays in files.items():
            np.savez(os.path.join(folder, name + ".npz"), **arrays)
        done = subprocess.run([COMMAND, *map(str, words)], cwd=folder,
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"{words}: {done.stderr}")
        out = os.path.join(folder, "out.npz")
        arrays = dict(np.load(out)) if os.path.exists(out) else {}
        return done.stdout, arrays


def option(key):
    """The command's name of a Python keyword."""
    return "--" + key.rstrip("_").replace("_", "-")


def two_classes(n=60, d=5, seed=0):
    """Samples of two classes, and features that say how sure they are."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    margin = X[:, 0] - X[:, 1] + 0.2 * rng.normal(size=n)
    return X, np.where(margin > 0, 1.0, -1.0), np.abs(margin)[:, None]


def low_rank(n=60, d=20, rank=3, share=0.05, seed=0):
    """Low-rank samples, and the same with gross errors in a share of them."""
    rng = np.random.default_rng(seed)
    clean = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d))
    wrong = rng.random((n, d)) < share
    return clean, clean + wrong * rng.normal(scale=10, size=(n, d))
