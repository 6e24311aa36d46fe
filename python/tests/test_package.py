"""Wheel and installation: what a user gets works away from the sources."""
# needs: numpy setuptools wheel pip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import lapis
from lapis import _library

PYTHON = Path(__file__).resolve().parents[1]
PROGRAM = ("import lapis, numpy as np; print(lapis.__file__); "
           "print(lapis.assign(np.eye(3)).objective)")


class Package(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.at = Path(self._folder.name)

    def answers(self, path, **env):
        """lapis imported from path alone: it is that one, and it works."""
        clean = {key: value for key, value in os.environ.items()
                 if key not in ("PYTHONPATH", "LAPIS_LIBRARY")}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], text=True, capture_output=True,
            cwd=self.at, env={**clean, "PYTHONPATH": str(path), **env})
        self.assertEqual(done.returncode, 0, done.stderr)
        place, value = done.stdout.split()
        self.assertTrue(place.startswith(str(path)), place)
        self.assertEqual(float(value), 0)

    def test_the_wheel_holds_the_package(self):
        shutil.copytree(PYTHON, self.at / "python",
                        ignore=shutil.ignore_patterns("__pycache__", "tests"))
        subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet",
                        "--no-build-isolation", "--no-deps", "--no-index",
                        "--wheel-dir", self.at, self.at / "python"],
                       check=True)
        wheel, = self.at.glob("lapis-*-py3-none-any.whl")
        shutil.unpack_archive(wheel, self.at / "unpacked", "zip")
        there = {path.name for path in
                 (self.at / "unpacked" / "lapis").glob("*.py")}
        here = {path.name for path in (PYTHON / "lapis").glob("*.py")}
        self.assertEqual(there, here)
        self.answers(self.at / "unpacked", LAPIS_LIBRARY=_library.lib.path)

    def test_the_library_is_found_beside_an_installation(self):
        """PREFIX/lib/python3.X/site-packages finds PREFIX/lib/liblapis."""
        for folder in ("lib", "lib/x86_64-linux-gnu"):
            prefix = self.at / folder.replace("/", "_")
            site = prefix / "lib/python3/site-packages"
            shutil.copytree(PYTHON / "lapis", site / "lapis",
                            ignore=shutil.ignore_patterns("__pycache__"))
            (prefix / folder).mkdir(exist_ok=True)
            shutil.copy(_library.lib.path, prefix / folder / _library.SONAME)
            self.answers(site)

    def test_one_version(self):
        version = re.search(r'^version = "(.*)"$',
                            (PYTHON / "pyproject.toml").read_text(),
                            re.MULTILINE).group(1)
        self.assertEqual(version, lapis.__version__)


if __name__ == "__main__":
    unittest.main()
