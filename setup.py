"""What pip calls beside pyproject.toml: liblapis, built into the package.

LAPIS_LIBRARY=FILE takes a library that is built already.
"""
import os
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel  # since 70.1
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

SONAME = "liblapis.so.0"
SOURCES = Path(__file__).resolve().parent


class BuildWithLibrary(build_py):
    """The modules, and beside them the library.

    Files of HDF5 and images are the command's: Python gives arrays, so the
    library here is the one without the optional parts.
    """

    def run(self):
        super().run()
        if getattr(self, "editable_mode", False):
            return  # the library is found as _library.py says
        library = os.environ.get("LAPIS_LIBRARY")
        if not library:
            library = self.compiled(Path(self.build_lib).resolve().parent)
        to = Path(self.build_lib) / "lapis" / SONAME
        shutil.copyfile(Path(library).resolve(), to)

    def compiled(self, folder):
        build = folder / "liblapis"
        jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", os.cpu_count() or 1)
        subprocess.run(["cmake", "-S", SOURCES, "-B", build,
                        "-DCMAKE_BUILD_TYPE=Release", "-DLAPIS_TESTS=OFF",
                        "-DLAPIS_WITH_PARTS=OFF", "-DLAPIS_WERROR=OFF"],
                       check=True)
        subprocess.run(["cmake", "--build", build, "--target", "lapis",
                        "--parallel", str(jobs)], check=True)
        return build / SONAME


class PlatformWheel(bdist_wheel):
    """One wheel for every Python 3 of a platform: ctypes needs no ABI."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True  # so that the package goes where libraries may lie


setup(distclass=WithLibrary,
      cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
