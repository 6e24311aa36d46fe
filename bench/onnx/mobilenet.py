#!/usr/bin/python3
"""A MobileNet V2 that npm's package nsfwjs brings, as a network for LAPIS.

    npm pack nsfwjs@4.2.1 && tar xzf nsfwjs-4.2.1.tgz
    bench/onnx/mobilenet.py package mobilenet.onnx

Needs node, python3-numpy and python3-onnx.  The package (MIT) has Keras' network
in the format of TensorFlow.js, with weights in 8 bits; layers up to
block_10_project_BN are frozen ones of ImageNet, those behind them were trained further, on other
photographs.  Written are all up to the mean over places (1280 numbers, the output
"vector"); every layer's value bears the layer's name, so that --layer finds it.
Levels are 0 to 1, as the package gives them, and the metadata say so.
"""
import json
import pathlib
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIDE, CHANNELS, LAST = 224, 1280, "out_relu"
READ = """const [at, file] = process.argv.slice(1), of = m => m.default || m
const all = require("fs").readdirSync(at).filter(f => /^group1/.test(f)).sort()
const bytes = all.map(f => Buffer.from(of(require(at + "/" + f)), "base64"))
require("fs").writeFileSync(file, Buffer.concat(bytes))
console.log(JSON.stringify(of(require(at + "/model.min.js"))))"""


def read(package):
    """The network's description, and its weights by name."""
    at = pathlib.Path(package, "dist/models/mobilenet_v2").resolve()
    held = pathlib.Path(sys.argv[2] + ".weights")
    said = subprocess.run(["node", "-e", READ, str(at), str(held)], check=True,
                          text=True, capture_output=True).stdout
    model, raw, start, weights = json.loads(said), held.read_bytes(), 0, {}
    held.unlink()
    for w in model["weightsManifest"][0]["weights"]:
        size, how = int(np.prod(w["shape"])), w["quantization"]
        part = np.frombuffer(raw, np.uint8, size, start).reshape(w["shape"])
        weights[w["name"]] = (part * how["scale"] + how["min"]).astype("f4")
        start += size
    return model["modelTopology"]["model_config"]["config"]["layers"], weights


def pads(layer, padding, stride):
    """Top, left, bottom, right."""
    if padding == "valid":
        return [0] * 4
    return [0, 0, 1, 1] if stride == 2 else [1, 1, 1, 1]


def convolution(layer, weights, source, padded):
    c, name = layer["config"], layer["name"]
    deep = layer["class_name"] == "DepthwiseConv2D"
    w = weights[f"{name}/{'depthwise_' if deep else ''}kernel"]
    w = w.transpose(2, 3, 0, 1) if deep else w.transpose(3, 2, 0, 1)
    stride, side = c["strides"][0], c["kernel_size"][0]
    around = padded or ([0] * 4 if side == 1
                        else pads(layer, c["padding"], stride))
    node = helper.make_node("Conv", [source, name + "/w"], [name],
                            kernel_shape=[side, side], strides=[stride] * 2,
                            pads=around, group=w.shape[0] if deep else 1)
    return node, {name + "/w": np.ascontiguousarray(w)}


def normalisation(layer, weights, source):
    name, held = layer["name"], {}
    for part in ("gamma", "beta", "moving_mean", "moving_variance"):
        held[f"{name}/{part}"] = weights[f"{name}/{part}"]
    return helper.make_node("BatchNormalization", [source, *held], [name],
                            epsilon=layer["config"]["epsilon"]), held


def build(layers, weights):
    nodes, held, came, around = [], {"0": np.float32(0), "6": np.float32(6)}, {}, {}
    for layer in layers:
        name, kind = layer["name"], layer["class_name"]
        sources = [came[i[0]] for i in (layer["inbound_nodes"] or [[]])[0]]
        came[name] = name
        more = {}
        if kind == "InputLayer":
            continue
        if kind == "ZeroPadding2D":
            (top, bottom), (left, right) = layer["config"]["padding"]
            came[name], around[sources[0]] = sources[0], [top, left, bottom,
                                                          right]
            continue
        if kind in ("Conv2D", "DepthwiseConv2D"):
            node, more = convolution(layer, weights, sources[0],
                                     around.get(sources[0]))
        elif kind == "BatchNormalization":
            node, more = normalisation(layer, weights, sources[0])
        elif kind == "ReLU":
            node = helper.make_node("Clip", [sources[0], "0", "6"], [name])
        elif kind == "Add":
            node = helper.make_node("Add", sources, [name])
        else:
            sys.exit(f"{name}: {kind} is not known")
        nodes.append(node)
        held.update(more)
        if name == LAST:
            return nodes, held
    sys.exit(f"there is no layer {LAST}")


def main():
    layers, weights = read(sys.argv[1])
    nodes, held = build(layers, weights)
    nodes += [helper.make_node("GlobalAveragePool", [LAST], ["mean"]),
              helper.make_node("Flatten", ["mean"], ["vector"])]
    image = helper.make_tensor_value_info(layers[0]["name"], TensorProto.FLOAT,
                                          ["n", 3, SIDE, SIDE])
    vector = helper.make_tensor_value_info("vector", TensorProto.FLOAT,
                                           ["n", CHANNELS])
    graph = helper.make_graph(nodes, "mobilenet", [image], [vector],
                              [numpy_helper.from_array(v, k)
                               for k, v in held.items()])
    model = helper.make_model(graph,
                              opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    helper.set_model_props(model, {"image_mean": "0", "image_std": "1",
                                   "rescale_factor": repr(1 / 255)})
    onnx.checker.check_model(model)
    onnx.save(model, sys.argv[2])


main()
