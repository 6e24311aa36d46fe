"""Where pip put the library of ONNX Runtime, for the features onnx:F.onnx:

    export LAPIS_ONNXRUNTIME=$(python3 -m lapis.onnx)
"""
from importlib.util import find_spec
from pathlib import Path


def library():
    """The file in the package onnxruntime, or None."""
    spec = find_spec("onnxruntime")
    roots = spec.submodule_search_locations if spec is not None else ()
    found = sorted(file for root in roots
                   for file in Path(root, "capi").glob("libonnxruntime.so*"))
    return str(found[0]) if found else None


if __name__ == "__main__":
    print(library() or "")
