#!/usr/bin/env python3
"""src/ops/connected_map.txt: whole maps as vectors; float by ONNX Runtime's Gemm, int8 and int16 by TensorFlow Lite
Micro's FULLY_CONNECTED, bit for bit."""
import numpy as np

import ort
import tflm
import twir
from tflm import schema

random = np.random.default_rng(188)
tflm.TYPES.update({"int16": schema.TensorType.INT16, "int64": schema.TensorType.INT64})


def uniform(*shape):
    return np.round(random.uniform(-1, 1, shape), 3).astype(np.float32)


def float32(file):
    for shape, outputs, rank in (((1, 4, 3, 2), 5, 2), ((1, 12), 10, 4), ((1, 1, 7, 3), 3, 2), ((6, 2), 17, 1)):
        size = int(np.prod(shape))
        x, w, b = uniform(*shape), uniform(outputs, size), uniform(outputs)
        oracle, y = ort.run("Gemm", [x.reshape(1, size), w, b], {"transB": 1})
        file.case("x".join(map(str, shape)), oracle, "FullyConnectedMap", [("x", x), ("w", w), ("b", b)],
                  y.reshape((1,) * (rank - 1) + (outputs,)), {"rank": rank}, tolerance="rtol 1e-5 atol 1e-5",
                  constants=("w", "b") if rank % 2 == 0 else ())


def integers(file):
    for kind, shape, outputs, scales, relu in (("int8", (1, 5, 4, 3), 6, 1, False), ("int8", (1, 3, 7), 9, 9, True),
                                               ("int8", (1, 33), 4, 1, False), ("int16", (1, 4, 5), 5, 1, False),
                                               ("int16", (1, 1, 9, 3), 3, 3, True)):
        narrow, size = kind == "int8", int(np.prod(shape))
        x_quant = twir.Quant(0.03, random.integers(-128, 128)) if narrow else twir.Quant(0.0005, 0)
        y_quant = twir.Quant(0.2, random.integers(-100, 20)) if narrow else twir.Quant(0.002, 0)
        found = random.uniform(0.002, 0.02, scales)
        if scales > 1:
            w_quant = twir.QuantByAxis(found, np.zeros(scales, int), 0)
            b_quant = twir.QuantByAxis(np.float32(x_quant.scale) * w_quant.scales, np.zeros(scales, int), 0)
        else:
            w_quant = twir.Quant(found[0], 0)
            b_quant = twir.Quant(np.float32(x_quant.scale) * np.float32(w_quant.scale), 0)
        most = 128 if narrow else 32768
        x = random.integers(-most, most, shape).astype(kind)
        w = random.integers(-127, 128, (outputs, size)).astype(np.int8)
        b = random.integers(-3000, 3000, outputs).astype(np.int32 if narrow else np.int64)
        options = schema.FullyConnectedOptionsT()
        options.fusedActivationFunction = schema.ActivationFunctionType.RELU if relu else 0
        y = tflm.run("FULLY_CONNECTED", [x.reshape(1, size), w, b], [x_quant, w_quant, b_quant], kind, y_quant, (1, outputs),
                     (options, "FullyConnectedOptions"), (1, 2))
        quants = {"x": x_quant, "w": w_quant}
        if narrow:
            quants["b"] = b_quant
        file.case(f"{kind} {'x'.join(map(str, shape))}{', ReLU' if relu else ''}", tflm.VERSION, "FullyConnectedMap",
                  [("x", x), ("w", w), ("b", b)], y, None, quants, y_quant, constants=("w", "b"), clamp=(0, np.inf) if relu else None)


def main():
    file = twir.File("maps.py")
    float32(file)
    integers(file)
    file.write("src/ops/connected_map.txt")


if __name__ == "__main__":
    main()
