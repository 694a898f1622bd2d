#!/usr/bin/env python3
"""src/ops/norm.txt, lrn.txt: by ONNX Runtime, its channels-first operators fed and read in our order of axes."""
import numpy as np

import ort
import twir

random = np.random.default_rng(31)
TOLERANCE = "rtol 1e-5 atol 2e-6"


def uniform(*shape, low=-3, high=3):
    return random.uniform(low, high, shape).astype(np.float32)


def first(x):
    return np.moveaxis(x, -1, 1)


def last(x):
    return np.moveaxis(x, 1, -1)


def layers(file):
    for shape, axis, far in (((1, 5, 12), -1, 0), ((2, 3, 4), 1, 0), ((1, 2, 3, 5), 2, 100), ((1, 1, 19), 2, 0), ((7,), 0, 0)):
        x, scale, bias = uniform(*shape) + np.float32(far), uniform(*shape[axis:]), uniform(*shape[axis:])
        axes = list(range(axis % len(shape), len(shape)))
        name = f"over axes {axes}, {'x'.join(map(str, shape))}" + (", far from 0" if far else "")
        oracle, y = ort.run("LayerNormalization", [x, scale, bias], {"axis": axis, "epsilon": 1e-3})
        tolerance = "rtol 1e-4 atol 1e-4" if far else TOLERANCE
        file.case(name, oracle, "Normalize", [("x", x), ("scale", scale), ("bias", bias)], y, {"axes": axes, "epsilon": 0.001}, tolerance=tolerance)
        oracle, y = ort.run("RMSNormalization", [x, scale], {"axis": axis, "epsilon": 1e-3}, opset=23)
        file.case(name, oracle, "RmsNormalize", [("x", x), ("scale", scale)], y, {"axes": axes, "epsilon": 0.001}, tolerance=TOLERANCE)


def images(file):
    for shape in ((1, 4, 5, 3), (2, 9, 2), (1, 2, 3, 2, 2)):
        x, scale, bias = uniform(*shape), uniform(shape[-1]), uniform(shape[-1])
        axes = list(range(1, len(shape) - 1))
        oracle, y = ort.run("InstanceNormalization", [first(x), scale, bias], {"epsilon": 1e-3})
        file.case(f"instances, {'x'.join(map(str, shape))}", oracle, "Normalize", [("x", x), ("scale", scale), ("bias", bias)], last(y),
                  {"axes": axes, "epsilon": 0.001}, tolerance=TOLERANCE)
    x, scale, bias = uniform(1, 3, 4, 6), uniform(6), uniform(6)
    oracle, y = ort.run("GroupNormalization", [first(x), scale, bias], {"num_groups": 2, "epsilon": 1e-3}, opset=21)
    file.case("groups of channels", oracle, "Normalize", [("x", x.reshape(1, 3, 4, 2, 3)), ("scale", scale.reshape(2, 3)), ("bias", bias.reshape(2, 3))],
              last(y).reshape(1, 3, 4, 2, 3), {"axes": [1, 2, 4], "epsilon": 0.001}, tolerance=TOLERANCE)
    x = uniform(2, 3, 4, 3)
    oracle, y = ort.run("MeanVarianceNormalization", [first(x)], {"axes": [0, 2, 3]}, opset=13)
    file.case("batch and space", oracle, "Standardize", [("x", x)], last(y), {"axes": [0, 1, 2], "epsilon": 1e-9}, tolerance=TOLERANCE)


def lengths(file):
    for p, op in ((1, "L1Normalize"), (2, "L2Normalize")):
        for shape, axis in (((2, 3, 11), 2), ((1, 4, 3, 2), 1)):
            x = uniform(*shape)
            x[0, 0] = 0
            oracle, y = ort.run("LpNormalization", [x], {"axis": axis, "p": p}, opset=22)
            file.case(f"axis {axis}, {'x'.join(map(str, shape))}", oracle, op, [("x", x)], y, {"axes": [axis]}, tolerance=TOLERANCE)


def neighbours(file):
    """ONNX Runtime has no even windows; ONNX's reference sums as many channels as there are batches, so they are equal."""
    for shape, size, alpha, beta, bias in (((1, 3, 2, 7), 5, 1e-4, 0.75, 1), ((1, 2, 2, 6), 3, 0.5, 0.6, 2), ((6, 6), 4, 0.3, 0.5, 1), ((1, 4, 3), 11, 1, 1, 0.5)):
        x = uniform(*shape)
        wide = first(x).reshape(first(x).shape + (1,) * (4 - len(shape)))
        oracle, y = ort.run("LRN", [wide], {"size": size, "alpha": float(alpha), "beta": float(beta), "bias": float(bias)}, 13, reference=size % 2 == 0)
        y = y.reshape(first(x).shape)
        file.case(f"{'x'.join(map(str, shape))}, window of {size}", oracle, "Lrn", [("x", x)], last(y),
                  {"size": size, "alpha": float(np.float32(alpha) / np.float32(size)), "beta": beta, "bias": bias}, tolerance=TOLERANCE)


def main():
    file = twir.File("norm.py")
    layers(file)
    images(file)
    lengths(file)
    file.write("src/ops/norm.txt")
    file = twir.File("norm.py")
    neighbours(file)
    file.write("src/ops/lrn.txt")


main()
