#!/usr/bin/env python3
"""src/ops/reduce_s8.txt: int8 sums, means and extremes as the reference kernels of TensorFlow Lite Micro do them."""
import numpy as np
from ai_edge_litert import schema_py_generated as schema

import tflm
import twir

random = np.random.default_rng(13)
CASES = (((1, 5, 4, 3), (1, 2), True), ((1, 7, 2, 5), (1, 2), True), ((1, 6, 4), (2,), False), ((1, 9, 3), (1,), True))


def main():
    file = twir.File("reduce_s8.py")

    def case(op, foreign, shape, axes, keep, x, y, title):
        stored = random.integers(-128, 128, shape).astype(np.int8)
        options = schema.ReducerOptionsT()
        options.keepDims = keep
        out = [1 if k in axes else d for k, d in enumerate(shape)] if keep else [d for k, d in enumerate(shape) if k not in axes]
        expected = tflm.run(foreign, [stored, np.asarray(axes, np.int32)], [x, None], "int8", y, out, (options, "ReducerOptions"), (1,))
        attributes = {"axes": list(axes)} if keep else {"axes": list(axes), "keepdims": 0}
        file.case(f"{op}, {'x'.join(map(str, shape))}, axes {list(axes)}, {title}", tflm.VERSION, op, [("x", stored)], expected, attributes,
                  {"x": x}, y)

    for shape, axes, keep in CASES:
        for i in range(2):
            x = twir.Quant(random.uniform(0.01, 0.1), random.integers(-128, 128))
            y = twir.Quant(random.uniform(0.01, 0.1), random.integers(-128, 128))
            case("ReduceMean", "MEAN", shape, axes, keep, x, y, f"scales {i}")
            wide = twir.Quant(y.scale * 20, random.integers(-60, 60))
            case("ReduceSum", "SUM", shape, axes, keep, x, wide, f"scales {i}")
        same = twir.Quant(0.04, 3)
        case("ReduceMean", "MEAN", shape, axes, keep, same, same, "equal scales")
        case("ReduceMax", "REDUCE_MAX", shape, axes, keep, same, same, "equal scales")
    file.write("src/ops/reduce_s8.txt")


main()
