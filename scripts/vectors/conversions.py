#!/usr/bin/env python3
"""src/ops/{quantize,dequantize,requantize,cast,batch_norm}.txt. ONNX Runtime; TensorFlow Lite Micro's reference kernels
for its roundings; numpy for casts that neither has."""
import numpy as np

import ort
import tflm
import twir

NUMPY = "numpy " + np.__version__
random = np.random.default_rng(15)
STORED = (np.int8, np.uint8, np.int16, np.uint16)


def by_axis(dtype, n, axis):
    limits = np.iinfo(dtype)
    return twir.QuantByAxis(random.uniform(0.01, 0.1, n), random.integers(limits.min // 2, limits.max // 2, n).astype(dtype), axis)


def quantize():
    file = twir.File("conversions.py")
    x = np.concatenate([np.arange(-12, 12) * 0.25, [1e9, -1e9], random.uniform(-40, 40, 10)]).astype(np.float32).reshape(1, 12, 3)
    for dtype in STORED:
        name, quant = twir.NAMES[np.dtype(dtype).name], twir.Quant(0.5, np.dtype(dtype).type(3))
        oracle, expected = ort.run("QuantizeLinear", [x, np.asarray(quant.scale, np.float32), np.asarray(quant.zero, dtype)], opset=21)
        file.case(f"{name}, halves to even", oracle, "Quantize", [("x", x)], expected, {"dtype": name}, out_quant=quant)
    quant = by_axis(np.int8, 3, 2)
    oracle, expected = ort.run("QuantizeLinear", [x, quant.scales, quant.zeros], {"axis": 2})
    file.case("by channel", oracle, "Quantize", [("x", x)], expected, out_quant=quant)
    quant = by_axis(np.uint8, 12, 1)
    oracle, expected = ort.run("QuantizeLinear", [x, quant.scales, quant.zeros], {"axis": 1})
    file.case("by row", oracle, "Quantize", [("x", x)], expected, {"dtype": "u8"}, out_quant=quant)
    quant = twir.Quant(0.5, -7)
    expected = tflm.run("QUANTIZE", [x], [None], "int8", quant, x.shape)
    file.case("halves away from zero", tflm.VERSION, "Quantize", [("x", x)], expected, {"rounding": "half_away"}, out_quant=quant)
    file.write("src/ops/quantize.txt")


def dequantize():
    file = twir.File("conversions.py")
    for dtype in STORED + (np.int32,):
        limits = np.iinfo(dtype)
        stored = random.integers(limits.min, limits.max, (1, 6, 4), dtype=dtype, endpoint=True)
        quant = twir.Quant(0.037, 0 if dtype == np.int32 else 5)
        oracle, expected = ort.run("DequantizeLinear", [stored, np.asarray(quant.scale, np.float32), np.asarray(quant.zero, dtype)], opset=21)
        file.case(np.dtype(dtype).name, oracle, "Dequantize", [("x", stored)], expected, quants={"x": quant}, tolerance="rtol 0 atol 0")
    stored = random.integers(-128, 128, (1, 5, 3)).astype(np.int8)
    quant = by_axis(np.int8, 3, 2)
    oracle, expected = ort.run("DequantizeLinear", [stored, quant.scales, quant.zeros], {"axis": 2})
    file.case("by channel", oracle, "Dequantize", [("x", stored)], expected, quants={"x": quant}, tolerance="rtol 0 atol 0")
    file.write("src/ops/dequantize.txt")


def requantize():
    file = twir.File("conversions.py")
    stored = np.arange(-128, 128).astype(np.int8).reshape(1, 16, 16)
    for i in range(4):
        x = twir.Quant(random.uniform(0.01, 0.1), random.integers(-128, 128))
        y = twir.Quant(x.scale if i == 3 else random.uniform(0.01, 0.1), random.integers(-128, 128))
        expected = tflm.run("QUANTIZE", [stored], [x], "int8", y, stored.shape)
        file.case(f"int8 to int8, scales {i}", tflm.VERSION, "Requantize", [("x", stored)], expected, quants={"x": x}, out_quant=y)
    for source, target in ((np.int8, np.uint8), (np.uint8, np.int8), (np.int16, np.int8)):
        limits = np.iinfo(source)
        stored = random.integers(limits.min, limits.max, (1, 6, 5), dtype=source, endpoint=True)
        x, y = twir.Quant(0.031, 4), twir.Quant(0.017 if source != np.int16 else 3.1, 9)
        _, real = ort.run("DequantizeLinear", [stored, np.asarray(x.scale, np.float32), np.asarray(x.zero, source)], opset=21)
        oracle, expected = ort.run("QuantizeLinear", [real, np.asarray(y.scale, np.float32), np.asarray(y.zero, target)], opset=21)
        file.case(f"{np.dtype(source).name} to {np.dtype(target).name}, through f32", oracle, "Requantize", [("x", stored)], expected,
                  {"dtype": twir.NAMES[np.dtype(target).name], "rounding": "half_even"}, {"x": x}, y)
    file.write("src/ops/requantize.txt")


def cast():
    file = twir.File("conversions.py")
    integers = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)
    floats = (np.float16, np.float32, np.float64)

    def case(x, dtype, oracle, expected):
        name = twir.NAMES[np.dtype(dtype).name]
        file.case(f"{x.dtype.name} to {np.dtype(dtype).name}", oracle, "Cast", [("x", x)], expected, {"dtype": name}, tolerance="rtol 0 atol 0")

    for dtype in integers + floats + (bool,):
        for source in floats: # within every integer type
            x = np.asarray([0, 0.5, 1.5, 2.5, 0.99, 100.7, 126.9, 3], source).reshape(1, 4, 2)
            number = ort.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
            case(x, dtype, *ort.run("Cast", [x], {"to": number}))
    for source in integers:
        limits = np.iinfo(source)
        x = random.integers(limits.min, limits.max, (1, 8), dtype=source, endpoint=True)
        x[0, 0] = 0
        for dtype in integers + (np.float32, np.float64, bool):
            if dtype != source: # numpy wraps, as ONNX's reference does
                case(x, dtype, NUMPY, x.astype(dtype))
    x = np.asarray([[True, False, True]])
    for dtype in (np.float32, np.int8, np.int64):
        case(x, dtype, NUMPY, x.astype(dtype))
    edges = np.asarray([65504, 65519, 65520, 1e-8, 6e-8, -1e-5, np.inf, -np.inf, np.nan, -0.0], np.float32)
    with np.errstate(over="ignore"):
        case(edges, np.float16, NUMPY, edges.astype(np.float16))
    case(np.asarray([1e300, -1e-300, 1.1, 16777217, np.inf], np.float64), np.float32, *ort.run(
        "Cast", [np.asarray([1e300, -1e-300, 1.1, 16777217, np.inf], np.float64)], {"to": 1}))
    file.write("src/ops/cast.txt")


def batch_norm():
    file = twir.File("conversions.py")
    for shape, epsilon in (((2, 5), 1e-5), ((1, 4, 3, 2), 1e-3)):
        x = random.uniform(-2, 2, shape).astype(np.float32)
        parts = [random.uniform(0.5, 2, shape[-1]).astype(np.float32) for _ in range(4)]
        oracle, expected = ort.run("BatchNormalization", [np.moveaxis(x, -1, 1)] + parts, {"epsilon": epsilon}, opset=15)
        names = ("scale", "bias", "mean", "variance")
        file.case("x".join(map(str, shape)), oracle, "BatchNorm", [("x", x)] + list(zip(names, parts)),
                  np.ascontiguousarray(np.moveaxis(expected, 1, -1)), {"epsilon": epsilon} if epsilon != 1e-5 else None,
                  tolerance="rtol 1e-5 atol 1e-5", constants=names)
    file.write("src/ops/batch_norm.txt")


quantize()
dequantize()
requantize()
cast()
batch_norm()
