#!/usr/bin/env python3
"""src/ops/softmax.txt, log_softmax.txt: by ONNX Runtime on float32, by the reference kernels of TensorFlow Lite Micro
on int8."""
import numpy as np
from ai_edge_litert import schema_py_generated as schema

import ort
import tflm
import twir

random = np.random.default_rng(14)


def floats(file, op):
    for shape, axis in (((1, 10), -1), ((1, 6, 5), 1), ((2, 3, 4), 0), ((1, 3, 2, 4), 3), ((1, 1, 1, 7), 3)):
        x = random.uniform(-5, 5, shape).astype(np.float32)
        if shape == (1, 10):
            x[0, 0], x[0, 1] = 80, -80
        oracle, expected = ort.run(op, [x], {"axis": axis})
        file.case(f"{'x'.join(map(str, shape))}, axis {axis}", oracle, op, [("x", x)], expected, {"axis": axis}, tolerance="rtol 1e-5 atol 1e-6")


def main():
    file = twir.File("softmax.py")
    floats(file, "Softmax")
    x = random.uniform(-2, 2, (1, 4, 3)).astype(np.float32)
    oracle, expected = ort.run("Softmax", [x * np.float32(0.5)], {"axis": -1})
    file.case("beta 0.5", oracle, "Softmax", [("x", x)], expected, {"beta": 0.5}, tolerance="rtol 1e-5 atol 1e-6")
    for shape, scale, beta in (((1, 10), 0.1, 1), ((1, 12), 0.6, 1), ((5, 4), 0.02, 1), ((2, 3, 6), 0.3, 0.25), ((1, 300), 0.05, 1), ((1, 8), 3, 1)):
        stored = random.integers(-128, 128, shape).astype(np.int8)
        options = schema.SoftmaxOptionsT()
        options.beta = beta
        quant, out = twir.Quant(scale, random.integers(-128, 128)), twir.Quant(1 / 256, -128)
        expected = tflm.run("SOFTMAX", [stored], [quant], "int8", out, shape, (options, "SoftmaxOptions"))
        file.case(f"int8, {'x'.join(map(str, shape))}, scale {scale}", tflm.VERSION, "Softmax", [("x", stored)], expected,
                  {"beta": beta} if beta != 1 else None, {"x": quant}, out)
    file.write("src/ops/softmax.txt")
    file = twir.File("softmax.py")
    floats(file, "LogSoftmax")
    file.write("src/ops/log_softmax.txt")


main()
