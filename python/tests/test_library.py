"""The bridge: the structs are the header's, the functions are declared."""
# needs: numpy
import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from lapis import _library

ROOT = Path(__file__).resolve().parents[2]
HEADERS = sorted((ROOT / "include" / "lapis").glob("*.h"))


def c_program():
    """Prints size and offsets of every struct that is mirrored."""
    lines = [f'#include "lapis/{path.name}"' for path in HEADERS]
    lines += ["#include <stdio.h>", "int main(void) {"]
    for struct, name in _library.C_NAMES.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for field, _ in struct._fields_:
            lines.append(f'printf("{name}.{field} %zu\\n", '
                         f"offsetof({name}, {field}));")
    return "\n".join(lines + ["return 0; }"])


class Bridge(unittest.TestCase):
    def test_the_libraries_of_pip_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("cublas/lib/libcublas.so.12", "cu13/lib/libnvrtc.so.13",
                         "cublas/include/cublas.h", "empty/lib/README"):
                path = Path(folder, "nvidia", name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            path = [folder, *sys.path]
            told = subprocess.run(
                [sys.executable, "-m", "lapis.cuda"], text=True, check=True,
                capture_output=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path)})
            self.assertEqual(told.stdout.strip(),
                             f"{folder}/nvidia/cu13/lib:"
                             f"{folder}/nvidia/cublas/lib")

    def test_the_onnx_runtime_of_pip_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            capi = Path(folder, "onnxruntime", "capi")
            capi.mkdir(parents=True)
            for name in ("libonnxruntime.so.1.20.1", "other.so"):
                (capi / name).touch()
            path = [folder, *sys.path]
            told = subprocess.run(
                [sys.executable, "-m", "lapis.onnx"], text=True, check=True,
                capture_output=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path)})
            self.assertEqual(told.stdout.strip(),
                             str(capi / "libonnxruntime.so.1.20.1"))

    def test_layouts_are_those_of_the_headers(self):
        compiler = shutil.which(os.environ.get("CC", "cc"))
        if compiler is None:
            self.skipTest("no C compiler")
        with tempfile.TemporaryDirectory() as folder:
            source, program = Path(folder, "p.c"), Path(folder, "p")
            source.write_text(c_program())
            subprocess.run([compiler, "-I", ROOT / "include", "-o", program,
                            source], check=True)
            said = subprocess.run([program], check=True, text=True,
                                  capture_output=True).stdout
        there = {}
        for struct, name in _library.C_NAMES.items():
            there[name] = ctypes.sizeof(struct)
            for field, _ in struct._fields_:
                there[f"{name}.{field}"] = getattr(struct, field).offset
        for line in said.splitlines():
            key, value = line.split()
            self.assertEqual(there.pop(key), int(value), key)
        self.assertEqual(there, {})

    def test_every_field_of_a_struct_is_mirrored(self):
        """A field added to the header shows in its size or is listed."""
        text = "".join(path.read_text() for path in HEADERS)
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        for struct, name in _library.C_NAMES.items():
            body = re.search(r"typedef struct %s {(.*?)} %s;" % (name, name),
                             text, re.DOTALL).group(1)
            body = re.sub(r"\(\*(\w+)\)\([^)]*\)", r"\1", body)  # functions
            found = re.findall(r"\**(\w+)(?:\[\w+\])?\s*(?=[,;])", body)
            self.assertEqual(found, [f for f, _ in struct._fields_], name)

    def test_arguments_are_as_many_as_the_headers_say(self):
        text = "".join(path.read_text() for path in HEADERS)
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        declared = dict(re.findall(
            r"LAPIS_API[^;()]*?\blapis_(\w+)\(([^;]*?)\);", text))
        for name, (_, arguments) in _library.FUNCTIONS.items():
            list_ = declared[name].strip()
            count = 0 if list_ == "void" else list_.count(",") + 1
            self.assertEqual(len(arguments), count, name)

    def test_a_library_that_is_not_there_is_named(self):
        env = {**os.environ, "LAPIS_LIBRARY": "/nowhere/liblapis.so"}
        done = subprocess.run([sys.executable, "-c", "import lapis"], env=env,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("ImportError: lapis:", done.stderr)
        self.assertIn("/nowhere/liblapis.so", done.stderr)

    def test_works_without_scikit_learn(self):
        """numpy is all that is needed: sklearn, pandas, scipy hidden."""
        program = """
import sys
for name in ("sklearn", "pandas", "scipy", "matplotlib"):
    sys.modules[name] = None
import lapis, numpy as np, pickle
X = np.random.default_rng(0).normal(size=(50, 3))
y = np.where(X[:, 0] > 0, "yes", "no")
m = lapis.SVMPlusClassifier(C=10.0)
assert m.get_params()["C"] == 10
assert repr(m) == "SVMPlusClassifier(C=10.0)", repr(m)
assert m.set_params(C=1.0).C == 1
assert m.fit(X, y, X_priv=X[:, :1]).score(X, y) > 0.9
assert pickle.loads(pickle.dumps(m)).score(X, y) == m.score(X, y)
assert not hasattr(m, "predict_proba")
assert hasattr(lapis.SVMPlusClassifier(probability=True), "predict_proba")
assert lapis.RobustPCA().fit_transform(X).shape == X.shape
assert lapis.RobustRegressor(denoise="none").fit(X, X[:, 0]).score(
    X, X[:, 0]) > 0.9
try:
    lapis.RobustLDA().predict(X)
except lapis.NotFittedError as error:
    assert isinstance(error, ValueError), error
"""
        done = subprocess.run([sys.executable, "-c", program],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
