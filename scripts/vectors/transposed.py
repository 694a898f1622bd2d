#!/usr/bin/env python3
"""src/ops/conv_transpose.txt: float by ONNX Runtime, int8 by TensorFlow Lite Micro, bit for bit."""
import numpy as np

import ort
import tflm
import twir
from tflm import schema

random = np.random.default_rng(11)


def uniform(shape):
    return np.round(random.uniform(-1, 1, shape), 3).astype(np.float32)


def stored(shape, low=-128):
    return random.integers(low, 128, shape).astype(np.int8)


def listed(values):
    return "[" + ",".join(str(int(v)) for v in values) + "]"


def floats(file):
    cases = (  # name, x, kernel, outputs, group, stride, dilation, begin, end, output padding
        ("3x3, stride 2", (1, 4, 3, 3), (3, 3), 4, 1, (2, 2), (1, 1), (1, 1), (1, 1), (1, 0)),
        ("2x2, stride 2, batch 2", (2, 3, 4, 2), (2, 2), 9, 1, (2, 2), (1, 1), (0, 0), (0, 0), (0, 0)),
        ("stride 1", (1, 4, 5, 2), (3, 2), 3, 1, (1, 1), (1, 1), (1, 0), (0, 1), (0, 0)),
        ("gaps where the stride is beyond the kernel", (1, 3, 4, 2), (1, 2), 3, 1, (3, 4), (1, 1), (0, 0), (0, 0), (2, 1)),
        ("dilation 2x3", (1, 4, 3, 2), (3, 2), 2, 1, (2, 2), (2, 3), (1, 2), (2, 0), (0, 1)),
        ("two groups", (1, 3, 3, 4), (3, 3), 6, 2, (2, 1), (1, 1), (1, 1), (0, 1), (0, 0)),
        ("each channel a group", (1, 3, 4, 3), (4, 4), 3, 3, (2, 2), (1, 1), (1, 1), (1, 1), (0, 0)),
        ("one axis", (1, 6, 3), (5,), 4, 1, (3,), (1,), (2,), (1,), (1,)),
        ("one axis, dilation equal to the stride", (1, 5, 2), (3,), 2, 1, (2,), (2,), (1,), (1,), (1,)),
    )
    for i, (name, shape, kernel, outputs, group, stride, dilation, begin, end, added) in enumerate(cases):
        x, b = uniform(shape), uniform(outputs)
        w = uniform((outputs,) + kernel + (shape[-1] // group,))
        # [O, k.., C/g] to [C, O/g, k..]
        grouped = np.moveaxis(w.reshape((group, outputs // group) + w.shape[1:]), -1, 1)
        foreign = np.ascontiguousarray(grouped.reshape((shape[-1], outputs // group) + kernel))
        oracle, y = ort.run("ConvTranspose", [np.moveaxis(x, -1, 1), foreign, b],
                            {"strides": stride, "dilations": dilation, "pads": begin + end, "output_padding": added, "group": group})
        ours = {"stride": listed(stride), "dilation": listed(dilation), "pad_begin": listed(begin), "pad_end": listed(end),
                "output_pad": listed(added), "group": group}
        file.case(name, oracle, "ConvTranspose", [("x", x), ("w", w), ("b", b)], np.moveaxis(y, 1, -1), ours,
                  tolerance="rtol 1e-5 atol 1e-5", constants=("w", "b") if i % 2 else ())


def integers(file):
    cases = (  # name, x, kernel, outputs, stride, padding, output extents, with a bias
        ("3x3, stride 2, SAME", (1, 4, 5, 3), (3, 3), 4, (2, 2), "SAME", (8, 10), True),
        ("2x2, stride 2, VALID", (1, 3, 3, 6), (2, 2), 5, (2, 2), "VALID", (6, 6), True),
        ("4x3, stride 2x1, SAME, odd", (1, 3, 4, 2), (4, 3), 3, (2, 1), "SAME", (5, 4), False),
        ("stride 3 beyond the kernel", (1, 3, 3, 2), (2, 1), 3, (3, 3), "VALID", (9, 8), True),
    )
    for name, shape, kernel, outputs, stride, padding, extents, biased in cases:
        x_quant = twir.Quant(random.uniform(0.02, 0.05), random.integers(-60, 60))
        y_quant = twir.Quant(random.uniform(0.05, 0.1), random.integers(-60, 60))
        w_quant = twir.QuantByAxis(random.uniform(0.002, 0.02, outputs), np.zeros(outputs, int), 0)
        x, w = stored(shape), stored((outputs,) + kernel + (shape[-1],), -127)
        b = random.integers(-3000, 3000, outputs).astype(np.int32)
        options = schema.TransposeConvOptionsT()
        options.padding = getattr(schema.Padding, padding)
        options.strideH, options.strideW = stride
        out = (shape[0],) + extents + (outputs,)
        inputs = [np.array(out, np.int32), w, x] + ([b] if biased else [])
        b_quant = twir.QuantByAxis(np.float32(x_quant.scale) * w_quant.scales, np.zeros(outputs, int), 0)
        y = tflm.run("TRANSPOSE_CONV", inputs, [None, w_quant, x_quant] + ([b_quant] if biased else []), "int8", y_quant, out,
                     (options, "TransposeConvOptions"), (0, 1, 3) if biased else (0, 1))
        steps = [-(-e // s) if padding == "SAME" else (e + s - k) // s for e, s, k in zip(extents, stride, kernel)]
        begin = [max(0, (n - 1) * s + k - e) // 2 for n, s, k, e in zip(steps, stride, kernel, extents)]
        rest = [(i - 1) * s + k - p - e for i, s, k, p, e in zip(shape[1:3], stride, kernel, begin, extents)]
        ours = {"stride": listed(stride), "pad_begin": listed(begin), "pad_end": listed(max(r, 0) for r in rest),
                "output_pad": listed(max(-r, 0) for r in rest)}
        file.case("int8 " + name, tflm.VERSION, "ConvTranspose", [("x", x), ("w", w)] + ([("b", b)] if biased else []), y, ours,
                  {"x": x_quant, "w": w_quant, "b": b_quant}, y_quant, constants=("w", "b"))


def main():
    file = twir.File("transposed.py")
    floats(file)
    integers(file)
    file.write("src/ops/conv_transpose.txt")


main()
