#!/usr/bin/env python3
"""src/ops/{max_pool,average_pool,sum_pool,max_pool_index,max_unpool}.txt: float and uint8 by ONNX Runtime, int8 by TensorFlow Lite Micro, and
int8 averages that ONNX counts with padding by ONNX Runtime on floats."""
import numpy as np

import ort
import tflm
import twir
from tflm import schema

random = np.random.default_rng(5)


def text(values):
    return "[" + ",".join(str(int(v)) for v in values) + "]"


def attributes(kernel, stride=1, dilation=1, begin=0, end=0, ceil=0, count=0):
    """Ours and ONNX's."""
    size = len(kernel)
    stride, dilation, begin, end = (list(np.broadcast_to(v, size)) for v in (stride, dilation, begin, end))
    ours = {"kernel": text(kernel)}
    for name, values, neutral in (("stride", stride, 1), ("dilation", dilation, 1), ("pad_begin", begin, 0),
                                  ("pad_end", end, 0)):
        if any(v != neutral for v in values):
            ours[name] = text(values)
    ours.update({k: 1 for k, v in (("ceil", ceil), ("count_include_pad", count)) if v})
    onnx = {"kernel_shape": [int(v) for v in kernel], "strides": [int(v) for v in stride],
            "dilations": [int(v) for v in dilation], "pads": [int(v) for v in begin + end], "ceil_mode": ceil}
    return ours, onnx


CASES = (  # name, x, keywords of `attributes`
    ("2x2, stride 2", (1, 6, 4, 3), dict(kernel=(2, 2), stride=2)),
    ("3x3 same", (1, 4, 3, 17), dict(kernel=(3, 3), begin=1, end=1)),
    ("3x2, uneven, ceil, batch 2", (2, 6, 7, 2), dict(kernel=(3, 2), stride=(2, 3), begin=(1, 0), end=(0, 1), ceil=1)),
    ("dilation 2", (1, 7, 6, 2), dict(kernel=(3, 2), dilation=2, begin=(2, 0), end=(1, 1))),
    ("one axis, ceil", (1, 9, 4), dict(kernel=(3,), stride=2, end=1, ceil=1)),
    ("whole image", (1, 4, 3, 5), dict(kernel=(4, 3))),
)


def first(x):
    return np.moveaxis(x, -1, 1)


def last(x):
    return np.moveaxis(x, 1, -1)


def by_onnx(largest, average):
    for name, shape, spans in CASES:
        ours, onnx = attributes(**spans)
        x = np.round(random.uniform(-3, 3, shape), 2).astype(np.float32)
        oracle, y = ort.run("MaxPool", [first(x)], onnx, opset=22)
        largest.case(name, oracle, "MaxPool", [("x", x)], last(y), ours, tolerance="rtol 0 atol 0")
        for count in (0, 1):
            if count and not spans.get("begin") and not spans.get("end"):
                continue
            oracle, y = ort.run("AveragePool", [first(x)], dict(onnx, count_include_pad=count), opset=22)
            average.case(name + (", padding counted" if count else ""), oracle, "AveragePool", [("x", x)], last(y),
                         attributes(**spans, count=count)[0], tolerance="rtol 1e-6 atol 1e-6")
    x = random.integers(0, 256, (1, 5, 6, 4)).astype(np.uint8)
    ours, onnx = attributes(kernel=(3, 3), stride=2, begin=1, end=1)
    oracle, y = ort.run("MaxPool", [first(x)], onnx)
    largest.case("uint8", oracle, "MaxPool", [("x", x)], last(y), ours)


def by_tflite(largest, average):
    for name, shape, kernel, stride, same in (
            ("int8 2x2, stride 2", (1, 6, 4, 3), (2, 2), (2, 2), False),
            ("int8 3x3 same", (1, 4, 3, 17), (3, 3), (1, 1), True),
            ("int8 3x2 same, stride 2x1", (2, 7, 5, 4), (3, 2), (2, 1), True),
            ("int8 whole image", (1, 4, 3, 5), (4, 3), (1, 1), False)):
        quant = twir.Quant(0.05, random.integers(-128, 128))
        x = random.integers(-128, 128, shape).astype(np.int8)
        options = schema.Pool2DOptionsT()
        options.padding = schema.Padding.SAME if same else schema.Padding.VALID
        options.strideH, options.strideW = stride
        options.filterHeight, options.filterWidth = kernel
        if same:
            out = [-(-shape[1 + i] // stride[i]) for i in range(2)]
            total = [max((out[i] - 1) * stride[i] + kernel[i] - shape[1 + i], 0) for i in range(2)]
        else:
            out, total = [(shape[1 + i] - kernel[i]) // stride[i] + 1 for i in range(2)], [0, 0]
        ours, _ = attributes(kernel, stride, begin=[t // 2 for t in total], end=[t - t // 2 for t in total])
        for file, op, foreign in ((largest, "MaxPool", "MAX_POOL_2D"), (average, "AveragePool", "AVERAGE_POOL_2D")):
            y = tflm.run(foreign, [x], [quant], "int8", quant, (shape[0], *out, shape[-1]), (options, "Pool2DOptions"))
            file.case(name, tflm.VERSION, op, [("x", x)], y, ours, {"x": quant}, quant)


def quantised_by_onnx(average):
    """Dequantise, average in float, quantise: within one where the scales differ, because only then is
    there more than the last rounding; otherwise equal."""
    for name, y_quant, spans in (
            ("int8 half to even", None, dict(kernel=(2, 2), stride=2)),
            ("int8 half to even, padding counted", None, dict(kernel=(2, 2), stride=2, begin=1, end=1, count=1)),
            ("int8 other scale", twir.Quant(0.09, 17), dict(kernel=(3, 3), stride=2, begin=1, end=1))):
        ours, onnx = attributes(**spans)
        quant = twir.Quant(0.0625, -7)
        x = random.integers(-128, 128, (1, 6, 6, 5)).astype(np.int8)
        real = np.float32(quant.scale) * (x.astype(np.float32) - quant.zero)
        oracle, y = ort.run("AveragePool", [first(real)], dict(onnx, count_include_pad=spans.get("count", 0)))
        target = y_quant or quant
        stored = np.clip(np.rint(last(y).astype(float) / target.scale) + target.zero, -128, 127).astype(np.int8)
        average.case(name, oracle + " on floats", "AveragePool", [("x", x)], stored, dict(ours, rounding="half_even"),
                     {"x": quant}, target, tolerance="ulp 1" if y_quant else "")


def sums_and_places(sums, places, back):
    for name, shape, spans in CASES:
        ours, onnx = attributes(**spans)
        x = np.round(random.uniform(0, 3, shape), 2).astype(np.float32)
        oracle, y = ort.run("LpPool", [first(x)], dict(onnx, p=1), opset=22)  # of what is not negative: the sum
        sums.case(name, oracle, "SumPool", [("x", x)], last(y), ours, tolerance="rtol 1e-6 atol 1e-6")
        oracle, y = ort.run("MaxPool", [first(x)], onnx, opset=22, output=1)
        places.case(name, oracle, "MaxPoolIndex", [("x", x)], last(y), ours)
    x = random.integers(-128, 128, (2, 5, 6, 3)).astype(np.int8)
    ours, onnx = attributes(kernel=(3, 2), stride=2, begin=1, end=0)
    oracle, y = ort.run("MaxPool", [first(x)], onnx, opset=22, output=1)
    places.case("int8, ties", oracle, "MaxPoolIndex", [("x", x)], last(y), ours)
    for shape in ((1, 6, 4, 3), (2, 8, 2)):
        size = len(shape) - 2
        onnx = {"kernel_shape": [2] * size, "strides": [2] * size}
        x = np.round(random.uniform(-3, 3, shape), 2).astype(np.float32)
        y = ort.run("MaxPool", [first(x)], onnx, opset=22)[1]
        index = ort.run("MaxPool", [first(x)], onnx, opset=22, output=1)[1]
        oracle, z = ort.run("MaxUnpool", [y, index], onnx)
        back.case("x".join(map(str, shape)), oracle, "MaxUnpool", [("x", last(y)), ("i", last(index))], last(z),
                  {"size": text(shape[1:-1])})


def main():
    sums, places, back = twir.File("pools.py"), twir.File("pools.py"), twir.File("pools.py")
    largest, average = twir.File("pools.py"), twir.File("pools.py")
    by_onnx(largest, average)
    by_tflite(largest, average)
    quantised_by_onnx(average)
    sums_and_places(sums, places, back)
    sums.write("src/ops/sum_pool.txt")
    places.write("src/ops/max_pool_index.txt")
    back.write("src/ops/max_unpool.txt")
    largest.write("src/ops/max_pool.txt")
    average.write("src/ops/average_pool.txt")


main()
