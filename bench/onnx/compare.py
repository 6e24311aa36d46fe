#!/usr/bin/env python3
"""Vectors of the kind onnx against NumPy, by the real ONNX Runtime.

    LAPIS_ONNXRUNTIME=/path/libonnxruntime.so.1 bench/onnx/compare.py build/lapis

Needs python3-onnx.  A residual network with fixed weights is written, with
its preprocessing in the metadata; what LAPIS says of some faces, of its output
and of a layer inside, has to be what NumPy says, to 1e-4 of the largest.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIDE, WIDE, OUT = 32, 8, 10
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def weights():
    rng = np.random.default_rng(5)
    shapes = {"w0": (WIDE, 3, 3, 3), "w1": (WIDE, WIDE, 3, 3),
              "w2": (OUT, WIDE)}
    return {name: (rng.normal(size=shape) / 4).astype(np.float32)
            for name, shape in shapes.items()}


def write(path, w):
    conv = dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    node = helper.make_node
    nodes = [node("Conv", ["image", "w0"], ["c0"], strides=[2, 2], **conv),
             node("Relu", ["c0"], ["r0"]),
             node("Conv", ["r0", "w1"], ["c1"], **conv),
             node("Add", ["c1", "r0"], ["a1"]), node("Relu", ["a1"], ["r1"]),
             node("GlobalAveragePool", ["r1"], ["g"]),
             node("Flatten", ["g"], ["v"]),
             node("Gemm", ["v", "w2"], ["out"], transB=1)]
    graph = helper.make_graph(
        nodes, "net",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT,
                                       ["n", 3, SIDE, SIDE])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, ["n", OUT])],
        [numpy_helper.from_array(v, k) for k, v in w.items()])
    model = helper.make_model(graph, opset_imports=[
        helper.make_opsetid("", 13)])
    model.ir_version = 7
    helper.set_model_props(model, {"image_mean": str(list(MEAN)),
                                   "image_std": str(list(STD))})
    onnx.save(model, path)


def conv(x, w, stride):
    x = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    rows, columns = (s - 2 for s in x.shape[1:])
    parts = [[np.einsum("oc,cyx->oyx", w[:, :, i, j],
                        x[:, i:i + rows:stride, j:j + columns:stride])
              for j in range(3)] for i in range(3)]
    return sum(sum(row) for row in parts)


def by_hand(grey, w):
    x = np.repeat(grey[None], 3, 0)
    x = (x - np.reshape(MEAN, (3, 1, 1))) / np.reshape(STD, (3, 1, 1))
    r0 = np.maximum(conv(x, w["w0"], 2), 0)
    r1 = np.maximum(conv(r0, w["w1"], 1) + r0, 0)
    return w["w2"] @ r1.mean((1, 2)), r0


def main():
    lapis, images = sys.argv[1], sys.argv[2:] or ["data/cmu_faces/images"]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        w = weights()
        write(folder / "net.onnx", w)

        def features(kind, *options):
            subprocess.run([lapis, "features", kind, *images, *options, "-o",
                            folder / "f.npz"], check=True)
            with np.load(folder / "f.npz") as f:
                return f["X"]

        net = f"onnx:{folder / 'net.onnx'}"
        grey = features("pixels", "--size", f"{SIDE}x{SIDE}")
        want = [by_hand(x.reshape(SIDE, SIDE), w) for x in grey]
        cells = SIDE // 8
        r0 = np.array([b.reshape(WIDE, 4, cells, 4, cells).mean((2, 4))
                       .transpose(1, 2, 0).ravel() for _, b in want])
        for name, got, right in [
                ("out", features(net), np.array([a for a, _ in want])),
                ("r0", features(net, "--layer", "r0", "--grid", "4"), r0)]:
            off = abs(got - right).max() / abs(right).max()
            print(f"{name}: {len(got)} images, {got.shape[1]} numbers, "
                  f"off by {off:.1e}")
            if off > 1e-4:
                sys.exit(1)


main()
