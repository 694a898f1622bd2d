#!/usr/bin/env python3
"""src/ops/{log_softmax_s8,unit_normalize}.txt: int8 along an axis, by the reference kernels of TensorFlow Lite
Micro."""
import numpy as np
from ai_edge_litert import schema_py_generated as schema

import tflm
import twir

random = np.random.default_rng(31)


def cases(path, name, op, options, scales, zero, ir):
    file = twir.File("lanes_s8.py")
    for scale, shape, start in scales:
        x = random.integers(-128, 128, shape).astype(np.int8)
        quant, result = twir.Quant(scale, start), twir.Quant(*zero)
        expected = tflm.run(op, [x], [quant], "int8", result, shape, options)
        expected = expected[1] if isinstance(expected, tuple) else expected
        file.case(f"scale {scale}, zero point {start}, {'x'.join(map(str, shape))}", tflm.VERSION, ir, [("x", x)],
                  expected, None, {"x": quant}, result, tolerance="ulp 0")
    file.write(path)


cases("src/ops/log_softmax_s8.txt", "LogSoftmax", "LOG_SOFTMAX", (schema.LogSoftmaxOptionsT(), "LogSoftmaxOptions"),
      ((0.5, (3, 7), 4), (0.05, (1, 3, 12), -128), (0.002, (2, 5), 0), (3, (4, 4), 9)), (1 / 16, 127), "LogSoftmax")
cases("src/ops/unit_normalize.txt", "UnitNormalize", "L2_NORMALIZATION", (schema.L2NormOptionsT(), "L2NormOptions"),
      ((0.5, (3, 7), 4), (0.05, (1, 2, 30), -128), (1, (5, 2), 0), (0.1, (6, 1), 3)), (1 / 128, 0), "UnitNormalize")
