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
from common import long

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / "python"
PROGRAM = ("import lapis, numpy as np; print(lapis.__file__); "
           "print(lapis.assign(np.eye(3)).objective)")
# The libraries that come with one, beside those of a bare Python.
MAPPED = """
import ctypes, sys
def mapped():
    return {line.split()[-1] for line in open("/proc/self/maps")
            if ".so" in line}
before = mapped()
ctypes.CDLL(sys.argv[1])
print(*sorted(mapped() - before), sep="\\n")
"""


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

    def wheel(self):
        """The wheel of this tree around the library under test."""
        for name in ("pyproject.toml", "setup.py", "LICENSE", "MANIFEST.in"):
            shutil.copy(ROOT / name, self.at / name)
        shutil.copytree(ROOT / "python", self.at / "python",
                        ignore=shutil.ignore_patterns("__pycache__", "tests"))
        subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet",
                        "--no-build-isolation", "--no-deps", "--no-index",
                        "--wheel-dir", self.at, self.at], check=True,
                       env={**os.environ,
                            "LAPIS_LIBRARY": _library.lib.path})
        wheel, = self.at.glob("lapis_solvers-*-py3-none-linux_*.whl")
        return wheel

    def test_the_wheel_holds_package_and_library(self):
        shutil.unpack_archive(self.wheel(), self.at / "unpacked", "zip")
        there = {path.name for path in
                 (self.at / "unpacked" / "lapis").glob("*.*")}
        here = {path.name for path in (ROOT / "python/lapis").glob("*.*")}
        self.assertEqual(there, here | {_library.SONAME})
        self.answers(self.at / "unpacked")

    @long
    @unittest.skipUnless(shutil.which("patchelf"), "patchelf is not there")
    def test_a_wheel_with_all_libraries_stands_alone(self):
        subprocess.run([ROOT / "tools/vendor-wheel", self.wheel(),
                        self.at / "house"], check=True, stdout=subprocess.PIPE)
        wheel, = (self.at / "house").glob("*-py3-none-manylinux_2_*.whl")
        shutil.unpack_archive(wheel, self.at / "unpacked", "zip")
        self.answers(self.at / "unpacked")
        mapped = subprocess.run(
            [sys.executable, "-c", MAPPED,
             self.at / "unpacked/lapis" / _library.SONAME],
            check=True, text=True, capture_output=True).stdout.split()
        self.assertTrue(any("openblas" in path for path in mapped))
        for path in mapped:  # those of Python itself were there before
            self.assertTrue(path.startswith(str(self.at)) or
                            re.search(r"/(ld-linux|lib(c|m|mvec|pthread|dl|rt|"
                                      r"resolv|util)\.)", path), path)

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
                            (ROOT / "pyproject.toml").read_text(),
                            re.MULTILINE).group(1)
        self.assertEqual(version, lapis.__version__)


if __name__ == "__main__":
    unittest.main()
