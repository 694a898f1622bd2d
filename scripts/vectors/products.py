#!/usr/bin/env python3
"""src/ops/{conv,depthwise_conv,fully_connected,matmul}.txt: float by ONNX Runtime, int8 by TensorFlow
Lite Micro, bit for bit, and by ONNX Runtime's QLinear operators, which round in float: within one."""
import numpy as np

import ort
import tflm
import twir
from tflm import schema

TOLERANCE = "rtol 1e-5 atol 1e-5"
random = np.random.default_rng(3)


def uniform(shape):
    return np.round(random.uniform(-1, 1, shape), 3).astype(np.float32)


def stored(shape, low=-128, high=128):
    return random.integers(low, high, shape).astype(np.int8)


def to_first(x):
    """Channels last to channels first."""
    return np.moveaxis(x, -1, 1)


def to_last(x):
    return np.moveaxis(x, 1, -1)


def geometry(spatial, stride=1, dilation=1, begin=0, end=0):
    """The lists of our operator and of ONNX's."""
    full = {k: list(np.broadcast_to(v, spatial)) for k, v in
            (("stride", stride), ("dilation", dilation), ("pad_begin", begin), ("pad_end", end))}
    ours = {k: "[" + ",".join(map(str, v)) + "]" for k, v in full.items() if any(v) and set(v) != {1}
            or k.startswith("pad") and any(v)}
    onnx = {"strides": full["stride"], "dilations": full["dilation"], "pads": full["pad_begin"] + full["pad_end"]}
    return ours, {k: [int(i) for i in v] for k, v in onnx.items()}


def convolutions(conv, depthwise):
    cases = (  # name, x, kernel, outputs, group, geometry
        ("3x3 same", (1, 5, 6, 3), (3, 3), 4, 1, dict(begin=1, end=1)),
        ("3x3, stride 2, uneven pads, batch 2", (2, 6, 5, 2), (3, 3), 5, 1, dict(stride=2, begin=(0, 1), end=(1, 2))),
        ("1x1, 9 outputs", (1, 3, 4, 5), (1, 1), 9, 1, {}),
        ("1x1, stride 2", (1, 5, 5, 3), (1, 1), 8, 1, dict(stride=2)),
        ("2x3, dilation 2x3, pads beyond the kernel", (1, 5, 7, 2), (2, 3), 3, 1, dict(dilation=(2, 3), begin=(3, 8), end=(4, 2))),
        ("stride beyond the kernel", (1, 8, 9, 2), (2, 1), 3, 1, dict(stride=(3, 4))),
        ("two groups", (1, 4, 5, 6), (3, 2), 8, 2, dict(begin=1, end=0)),
        ("each channel a group", (1, 4, 5, 3), (3, 3), 6, 3, dict(begin=1, end=1)),
        ("one axis", (1, 9, 4), (3,), 5, 1, dict(stride=2, begin=1, end=1)),
        ("one axis, groups, dilation", (1, 10, 4), (3,), 4, 2, dict(dilation=2, begin=2, end=2)),
    )
    for i, (name, shape, kernel, outputs, group, spans) in enumerate(cases):
        ours, onnx = geometry(len(kernel), **spans)
        x, w, b = uniform(shape), uniform((outputs,) + kernel + (shape[-1] // group,)), uniform(outputs)
        oracle, y = ort.run("Conv", [to_first(x), to_first(w), b], dict(onnx, group=group))
        given = [("x", x), ("w", w)] + ([("b", b)] if i % 3 else [])
        if i % 3 == 0:
            y = y - b.reshape((-1,) + (1,) * len(kernel))
        conv.case(name, oracle, "Conv", given, to_last(y), dict(ours, **({"group": group} if group > 1 else {})),
                  tolerance=TOLERANCE, constants=("w", "b") if i % 2 else ())
    cases = (
        ("3x3 same", (1, 5, 6, 5), (3, 3), 1, dict(begin=1, end=1)),
        ("3x3, stride 2, 18 channels", (1, 4, 5, 18), (3, 3), 1, dict(stride=2, begin=0, end=1)),
        ("multiplier 3, batch 2", (2, 4, 4, 2), (2, 3), 3, dict(begin=1, end=0)),
        ("one channel in, 18 out", (1, 4, 3, 1), (3, 3), 18, dict(begin=1, end=1)),
        ("one axis, dilation, pads beyond the kernel", (1, 7, 4), (3,), 1, dict(dilation=2, begin=6, end=5)),
    )
    for i, (name, shape, kernel, multiplier, spans) in enumerate(cases):
        ours, onnx = geometry(len(kernel), **spans)
        channels = shape[-1] * multiplier
        x, w, b = uniform(shape), uniform(kernel + (channels,)), uniform(channels)
        oracle, y = ort.run("Conv", [to_first(x), np.moveaxis(w, -1, 0)[:, None], b], dict(onnx, group=shape[-1]))
        depthwise.case(name, oracle, "DepthwiseConv", [("x", x), ("w", w), ("b", b)], to_last(y), ours,
                       tolerance=TOLERANCE, constants=("w", "b") if i % 2 else ())


def weights_quant(count, axis, per_channel):
    scales = random.uniform(0.002, 0.02, count if per_channel else 1)
    if per_channel:
        return twir.QuantByAxis(scales, np.zeros(count, int), axis)
    return twir.Quant(scales[0], 0)


def bias_quant(x, w):
    if hasattr(w, "axis"):
        return twir.QuantByAxis(np.float32(x.scale) * w.scales, np.zeros(len(w.scales), int), 0)
    return twir.Quant(np.float32(x.scale) * np.float32(w.scale), 0)


def same_pads(extent, kernel, stride, dilation):
    """TensorFlow's SAME: as many outputs as strides, the odd element at the end."""
    out = -(-extent // stride)
    total = max((out - 1) * stride + (kernel - 1) * dilation + 1 - extent, 0)
    return out, total // 2, total - total // 2


def int8_windows(conv, depthwise):
    relu6 = schema.ActivationFunctionType.RELU6
    cases = (  # name, depthwise multiplier or 0, x, kernel, outputs, SAME, stride, dilation, per channel, activation
        ("int8 3x3 same", 0, (1, 5, 6, 3), (3, 3), 5, True, (1, 1), (1, 1), True, 0),
        ("int8 3x3 same, stride 2, one scale", 0, (2, 6, 5, 4), (3, 3), 4, True, (2, 2), (1, 1), False, 0),
        ("int8 1x1, 9 outputs, ReLU6", 0, (1, 3, 4, 5), (1, 1), 9, False, (1, 1), (1, 1), True, relu6),
        ("int8 3x2 same, dilation 2", 0, (1, 6, 5, 2), (3, 2), 3, True, (1, 1), (2, 2), True, 0),
        ("int8 two groups", 0, (1, 4, 4, 6), (2, 2), 8, False, (1, 2), (1, 1), True, 0),
        ("int8 3x3 same", 1, (1, 5, 6, 5), (3, 3), 5, True, (1, 1), (1, 1), True, 0),
        ("int8 3x3 same, stride 2, 18 channels", 1, (1, 4, 5, 18), (3, 3), 18, True, (2, 2), (1, 1), True, relu6),
        ("int8 multiplier 3", 3, (1, 4, 4, 2), (2, 3), 6, True, (1, 1), (1, 1), True, 0),
        ("int8 one channel in, 18 out", 18, (1, 4, 3, 1), (3, 3), 18, True, (1, 1), (1, 1), True, 0),
    )
    for name, multiplier, shape, kernel, outputs, same, stride, dilation, per_channel, activation in cases:
        group = 2 if "groups" in name else 1
        x_quant, y_quant = twir.Quant(random.uniform(0.02, 0.05), random.integers(-128, 128)), \
            twir.Quant(random.uniform(0.02, 0.08), random.integers(-100, 50))
        axis = len(kernel) if multiplier else 0
        w_quant = weights_quant(outputs, axis, per_channel)
        w_shape = kernel + (outputs,) if multiplier else (outputs,) + kernel + (shape[-1] // group,)
        x, w, b = stored(shape), stored(w_shape, -127), random.integers(-3000, 3000, outputs).astype(np.int32)
        pads = [same_pads(shape[1 + i], kernel[i], stride[i], dilation[i]) if same else
                ((shape[1 + i] - (kernel[i] - 1) * dilation[i] - 1) // stride[i] + 1, 0, 0) for i in range(2)]
        options = schema.DepthwiseConv2DOptionsT() if multiplier else schema.Conv2DOptionsT()
        options.padding = schema.Padding.SAME if same else schema.Padding.VALID
        options.strideH, options.strideW = stride
        options.dilationHFactor, options.dilationWFactor = dilation
        options.fusedActivationFunction = activation
        if multiplier:
            options.depthMultiplier = multiplier
        foreign = w[None] if multiplier else w
        foreign_quant = twir.QuantByAxis(w_quant.scales, w_quant.zeros, 3) if multiplier and per_channel else w_quant
        if not per_channel:  # the reference wants one scale for each channel
            foreign_quant = twir.QuantByAxis([w_quant.scale] * outputs, [0] * outputs, 3 if multiplier else 0)
        y = tflm.run("DEPTHWISE_CONV_2D" if multiplier else "CONV_2D", [x, foreign, b],
                     [x_quant, foreign_quant, bias_quant(x_quant, foreign_quant)], "int8", y_quant,
                     (shape[0], pads[0][0], pads[1][0], outputs),
                     (options, ("DepthwiseConv2D" if multiplier else "Conv2D") + "Options"), (1, 2))
        ours, _ = geometry(2, stride, dilation, [p[1] for p in pads], [p[2] for p in pads])
        if group > 1:
            ours["group"] = group
        (depthwise if multiplier else conv).case(
            name, tflm.VERSION, "DepthwiseConv" if multiplier else "Conv", [("x", x), ("w", w), ("b", b)], y, ours,
            {"x": x_quant, "w": w_quant, "b": bias_quant(x_quant, w_quant)}, y_quant, constants=("w", "b"),
            clamp=(0, 6) if activation else None)


def qlinear_conv(conv):
    for name, shape, kernel, outputs, group, spans in (
            ("int8 one axis, uneven pads", (1, 9, 3), (3,), 5, 1, dict(begin=1, end=2, stride=2)),
            ("int8 uneven pads, dilation", (1, 6, 7, 4), (3, 2), 6, 2, dict(begin=(2, 0), end=(0, 1), dilation=(1, 2)))):
        ours, onnx = geometry(len(kernel), **spans)
        x_quant, w_quant, y_quant = twir.Quant(0.03, -20), weights_quant(outputs, 0, True), twir.Quant(0.05, 11)
        x, w = stored(shape), stored((outputs,) + kernel + (shape[-1] // group,), -127)
        b = random.integers(-3000, 3000, outputs).astype(np.int32)
        oracle, y = ort.run("QLinearConv", [
            to_first(x), np.array(x_quant.scale, np.float32), np.array(x_quant.zero, np.int8), to_first(w), w_quant.scales.astype(np.float32),
            np.zeros(outputs, np.int8), np.array(y_quant.scale, np.float32), np.array(y_quant.zero, np.int8), b], dict(onnx, group=group))
        conv.case(name, oracle, "Conv", [("x", x), ("w", w), ("b", b)], to_last(y),
                  dict(ours, **({"group": group} if group > 1 else {})), {"x": x_quant, "w": w_quant}, y_quant,
                  tolerance="ulp 1", constants=("w", "b"))


def connected(file):
    for i, (shape, outputs) in enumerate((((1, 12), 10), ((3, 7), 17), ((1, 2, 5, 6), 4), ((9,), 3))):
        x, w, b = uniform(shape), uniform((outputs, shape[-1])), uniform(outputs)
        oracle, y = ort.run("Gemm", [x.reshape(-1, shape[-1]), w, b], {"transB": 1})
        file.case("x".join(map(str, shape)), oracle, "FullyConnected", [("x", x), ("w", w), ("b", b)],
                  y.reshape(shape[:-1] + (outputs,)), tolerance=TOLERANCE, constants=("w", "b") if i % 2 == 0 else ())
    for shape, outputs, per_channel, activation in (((1, 12), 10, False, 0), ((3, 21), 9, True, 0), ((2, 16), 5, False, 1)):
        x_quant, y_quant = twir.Quant(0.03, random.integers(-128, 128)), twir.Quant(0.06, random.integers(-128, 20))
        w_quant = weights_quant(outputs, 0, per_channel)
        x, w, b = stored(shape), stored((outputs, shape[-1]), -127), random.integers(-3000, 3000, outputs).astype(np.int32)
        options = schema.FullyConnectedOptionsT()
        options.fusedActivationFunction = schema.ActivationFunctionType.RELU if activation else 0
        y = tflm.run("FULLY_CONNECTED", [x, w, b], [x_quant, w_quant, bias_quant(x_quant, w_quant)], "int8", y_quant,
                     (shape[0], outputs), (options, "FullyConnectedOptions"), (1, 2))
        file.case(f"int8 {shape[0]}x{shape[1]}{', ReLU' if activation else ''}", tflm.VERSION, "FullyConnected",
                  [("x", x), ("w", w), ("b", b)], y, None,
                  {"x": x_quant, "w": w_quant, "b": bias_quant(x_quant, w_quant)}, y_quant, constants=("w", "b"),
                  clamp=(0, np.inf) if activation else None)


def matrices(file):
    for i, (a, b) in enumerate((((3, 4), (4, 9)), ((2, 3, 5), (2, 5, 4)), ((2, 1, 3, 4), (3, 4, 17)),
                                ((2, 2), (3, 1, 2, 1)), ((1, 6), (6, 8)))):
        left, right = uniform(a), uniform(b)
        oracle, y = ort.run("MatMul", [left, right])
        turned = i % 2
        file.case(f"{'x'.join(map(str, a))} by {'x'.join(map(str, b))}{', turned' if turned else ''}", oracle, "MatMul",
                  [("a", left), ("b", np.ascontiguousarray(np.swapaxes(right, -1, -2)) if turned else right)], y,
                  {"transpose_b": 1} if turned else None, tolerance=TOLERANCE, constants=("b",) if i > 2 else ())
    for a, b, turned in (((1, 3, 4), (1, 4, 17), 0), ((2, 3, 10), (2, 9, 10), 1), ((2, 2, 3, 5), (2, 2, 5, 4), 0)):
        quants = [twir.Quant(random.uniform(0.02, 0.05), random.integers(-128, 128)) for _ in range(3)]
        quants[2] = twir.Quant(0.05, random.integers(-60, 60))
        left, right = stored(a), stored(b)
        options = schema.BatchMatMulOptionsT()
        options.adjX, options.adjY, options.asymmetricQuantizeInputs = False, bool(turned), False
        shape = a[:-1] + (b[-2 if turned else -1],)
        y = tflm.run("BATCH_MATMUL", [left, right], quants[:2], "int8", quants[2], shape, (options, "BatchMatMulOptions"))
        file.case(f"int8 {'x'.join(map(str, a))} by {'x'.join(map(str, b))}{', turned' if turned else ''}", tflm.VERSION,
                  "MatMul", [("a", left), ("b", right)], y, {"transpose_b": 1} if turned else None,
                  {"a": quants[0], "b": quants[1]}, quants[2])


def main():
    files = {name: twir.File("products.py") for name in ("conv", "depthwise_conv", "fully_connected", "matmul")}
    convolutions(files["conv"], files["depthwise_conv"])
    int8_windows(files["conv"], files["depthwise_conv"])
    qlinear_conv(files["conv"])
    connected(files["fully_connected"])
    matrices(files["matmul"])
    for name, file in files.items():
        file.write(f"src/ops/{name}.txt")


main()
