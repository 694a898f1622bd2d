#!/usr/bin/env python3
"""src/ops/reduce.txt: the reductions on float32 and plain types. ONNX Runtime where it has the type, ONNX's
reference or numpy for the others."""
import numpy as np

import ort
import twir

NUMPY = "numpy " + np.__version__
random = np.random.default_rng(12)
OPS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
       "ReduceLogSumExp", "ReduceSumSquare")
CASES = (((1, 5, 4, 3), (1, 2), 1), ((1, 5, 4), (-1,), 0), ((2, 3, 2), (), 1), ((3, 4), (0,), 1), ((2, 1, 3, 2), (0, 3), 0))


def main():
    file = twir.File("reduce.py")

    def case(op, x, axes, keep, oracle, expected, tolerance):
        shape = "x".join(map(str, x.shape))
        attributes = {"axes": list(axes)} if axes else {}
        if not keep:
            attributes["keepdims"] = 0
        file.case(f"{op}, {x.dtype.name}, {shape}, axes {list(axes) or 'all'}{'' if keep else ', dropped'}", oracle, op, [("x", x)],
                  expected, attributes, tolerance=tolerance)

    def onnx(op, x, axes, keep, tolerance):
        inputs = [x] + ([np.asarray(axes, np.int64)] if axes else [])
        oracle, expected = ort.run(op, inputs, {"keepdims": keep}, opset=20)
        case(op, x, axes, keep, oracle, np.asarray(expected), tolerance)

    for op in OPS:
        for shape, axes, keep in CASES:
            low = 0.1 if op == "ReduceLogSum" else -2
            onnx(op, random.uniform(low, 2, shape).astype(np.float32), axes, keep, "rtol 1e-5 atol 1e-6")
    for op in OPS:
        if op in ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp"):
            continue
        for dtype in (np.int32, np.int64):
            for shape, axes, keep in CASES[:2]:
                # ONNX Runtime does not wrap products around: they stay small
                low, high = (1, 3) if op == "ReduceProd" else (-9, 10)
                onnx(op, random.integers(low, high, shape).astype(dtype), axes, keep, "")
    for op in ("ReduceMax", "ReduceMin"):
        for dtype in (np.uint8, np.int8):
            limits = np.iinfo(dtype)
            onnx(op, random.integers(limits.min, limits.max, CASES[0][0], dtype=dtype, endpoint=True), (1, 2), 1, "")
    for op, function in (("ReduceAll", np.all), ("ReduceAny", np.any)):
        for shape, axes, keep in CASES:
            x = random.random(shape) < (0.8 if op == "ReduceAll" else 0.2)
            case(op, x, axes, keep, NUMPY, np.asarray(function(x, tuple(axes) or None, keepdims=bool(keep))), "")
    wrapped = {"ReduceSum": np.add.reduce, "ReduceProd": np.multiply.reduce, "ReduceMax": np.max, "ReduceMin": np.min,
               "ReduceL1": lambda x, **how: np.add.reduce(abs(x), **how), "ReduceSumSquare": lambda x, **how: np.add.reduce(x * x, **how),
               "ReduceMean": lambda x, **how: np.add.reduce(x, **how) // x.dtype.type(20),
               "ReduceL2": lambda x, **how: np.floor(np.sqrt(np.add.reduce(x.astype(np.float64) ** 2, **how))).astype(x.dtype)}
    for op, function in wrapped.items():
        for dtype in (np.uint32, np.uint64) + ((np.int32, np.int64) if op == "ReduceL2" else ()):
            x = random.integers(0, 1 << 12 if op == "ReduceL2" else 1 << 29, CASES[0][0]).astype(dtype)
            case(op, x, (1, 2), 1, NUMPY, np.asarray(function(x, axis=(1, 2), keepdims=True), dtype), "")
    for op in OPS: # nothing to band on, and the result has less axes
        x = random.uniform(0.1, 2, (1, 1)).astype(np.float32)
        onnx(op, x, (1,), 0, "rtol 1e-5 atol 1e-6")
    case("ReduceAll", np.ones((1, 1, 1), bool), (2,), 0, NUMPY, np.ones((1, 1), bool), "")
    file.write("src/ops/reduce.txt")


main()
