#!/usr/bin/env python3
"""src/import/foreign/tigris/*.txt: every operator of TiGrIS's table by its formula in double precision. No kernel of ours takes part."""
import math

import numpy as np

import twir
from foreign import ORACLE, Cases, grid, random, real, stored, uniform
from windows import convolve, transpose_convolve, windows

FOLDER = "src/import/foreign/tigris"


def erf(x):
    return np.vectorize(math.erf)(x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def unary(cases):
    x, wide = uniform(1, 3, 4, 3), uniform(1, 5, 4)
    for op, f, attributes, data in (
            ("Relu", lambda x: np.maximum(x, 0), {}, x), ("Relu", lambda x: np.maximum(x, 0), {}, wide), ("Relu6", lambda x: np.clip(x, 0, 6), {}, 3 * x),
            ("Softmax", softmax, {}, x), ("Softmax", lambda x: softmax(x.swapaxes(1, 3)).swapaxes(1, 3), {"axis": 1}, x), ("Sigmoid", sigmoid, {}, x), ("Tanh", np.tanh, {}, wide),
            ("LeakyRelu", lambda x: np.where(x < 0, 0.01 * x, x), {}, x), ("LeakyRelu", lambda x: np.where(x < 0, 0.3 * x, x), {"alpha": 0.3}, x), ("Erf", erf, {}, x),
            ("HardSwish", lambda x: x * np.clip(x + 3, 0, 6) / 6, {}, 2 * x), ("Abs", np.abs, {}, x), ("Neg", np.negative, {}, x), ("Exp", np.exp, {}, x), ("Square", np.square, {}, x),
            ("Sin", np.sin, {}, 2 * x), ("Cos", np.cos, {}, 2 * x), ("Elu", lambda x: np.where(x > 0, x, np.expm1(x)), {}, x), ("Elu", lambda x: np.where(x > 0, x, 0.5 * np.expm1(x)), {"alpha": 0.5}, x),
            ("Clip", lambda x: np.clip(x, -1, 2), {"min": -1.0, "max": 2.0}, x), ("Clip", lambda x: np.minimum(x, 1), {"max": 1.0}, x),
            ("Sqrt", np.sqrt, {}, np.abs(x))):
        cases.add(op, [data], f, attributes, what=",".join([f"rank {data.ndim}", *attributes]))
    for op, f in (("Floor", np.floor), ("Ceil", np.ceil), ("Round", np.rint)):
        cases.add(op, [x], f)
    for op, f in (("Log", np.log), ("Rsqrt", lambda x: 1 / np.sqrt(x))):
        cases.add(op, [uniform(1, 2, 3, 4, low=0.1, high=8)], f, kinds="f32")
        quant = twir.Quant(0.02, -128)
        q = random.integers(-88, 128, (1, 2, 3, 4)).astype(np.int8)
        y = f(real(q, quant))
        out = twir.Quant(float(np.ptp(np.append(y, 0))) / 250, round(-min(y.min(), 0) / (float(np.ptp(np.append(y, 0))) / 250)) - 125)
        cases.file.foreign(cases.name(op, "", "s8"), ORACLE, f"tigris.{op}", [("x", q)], stored(y, out), None, None, {"x": quant}, out, "ulp 1")
    logits = uniform(1, 2, 3, 5)
    cases.add("LogSoftmax", [logits], lambda x: np.log(softmax(x)), kinds="f32")
    fixed(cases, "LogSoftmax", logits, lambda x: np.log(softmax(x)), 1 / 16, 127)


def fixed(cases, op, x, f, scale, zero, attributes=None):
    """int8 of an operator whose result has one scale whatever comes in."""
    q, quant, out = stored(x, grid(x)), grid(x), twir.Quant(scale, zero)
    cases.file.foreign(cases.name(op, "", "s8"), ORACLE, f"tigris.{op}", [("x", q)], stored(f(real(q, quant)), out), attributes, None, {"x": quant}, out, "ulp 1")


def binary(cases):
    shape = (1, 3, 2, 4)
    for op, f in (("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Div", np.divide), ("SquaredDifference", lambda a, b: (a - b)**2), ("Max", np.maximum), ("Min", np.minimum),
                  ("PRelu", lambda a, b: np.where(a < 0, a * b, a))):
        for what, small in (("", shape), ("by channel", (4,)), ("broadcast", (1, 1, 2, 1))):
            cases.add(op, [uniform(*shape), uniform(*small, low=0.5, high=2)], f, what=what)
    for op, f in (("FloorDiv", lambda a, b: np.floor(a / b)), ("FloorMod", lambda a, b: a - b * np.floor(a / b))):
        b = uniform(1, 1, 2, 4, low=0.5, high=2)
        # int8: whole numbers of steps on one grid, so that what is between two whole quotients is so on both.
        cases.add(op, [uniform(*shape, low=-6, high=6), b], f, kinds="f32")
        cases.add(op, [uniform(1, 5, 4), uniform(4, low=1, high=3)], f, what="rank 3", kinds="f32")
        quant, out = twir.Quant(0.25, 3), twir.Quant(0.5, 0) if op == "FloorDiv" else twir.Quant(0.25, -20)
        p, q = random.integers(-60, 60, shape).astype(np.int8), random.integers(5, 40, shape).astype(np.int8)
        y = f(real(p, quant), real(q, quant))
        cases.file.foreign(cases.name(op, "", "s8"), ORACLE, f"tigris.{op}", [("a", p), ("b", q)], stored(y, out), None, None, {"a": quant, "b": quant}, out)
    cases.add("Sum", [uniform(*shape), uniform(*shape), uniform(*shape)], lambda a, b, c: a + b + c)
    for op, f in (("Equal", np.equal), ("Less", np.less), ("LessOrEqual", np.less_equal), ("Greater", np.greater), ("GreaterOrEqual", np.greater_equal)):
        a, b = [random.integers(-2, 3, s).astype(np.float32) for s in (shape, (1, 1, 2, 4))]
        cases.add(op, [a, b], f, kinds="f32")
        quant = twir.Quant(0.5, -3)
        p, q = [random.integers(-3, 3, s).astype(np.int8) for s in (shape, (4,))]
        cases.file.foreign(cases.name(op, "", "s8"), ORACLE, f"tigris.{op}", [("a", p), ("b", q)], f(p, q), None, None, {"a": quant, "b": quant})
    logic(cases, shape)


def constants(cases):
    """One operand a constant, on either side; in int8 with a scale of its own."""
    from twir import data, type_of
    shape, channel = (1, 3, 2, 4), (4,)
    for op, f in (("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Div", np.divide), ("SquaredDifference", lambda a, b: (a - b)**2), ("Max", np.maximum), ("Min", np.minimum)):
        for side in (0, 1):
            x, c = uniform(*shape, low=0.5, high=3), uniform(*channel, low=0.5, high=3)
            q, k, xq, kq = stored(x, grid(x)), stored(c, grid(c)), grid(x), grid(c)
            for kind in ("f32", "s8"):
                feed, fixed_one, feed_quant, quant = (x, c, None, None) if kind == "f32" else (q, k, xq, kq)
                a, b = (x.astype(np.float64), c.astype(np.float64)) if kind == "f32" else (real(q, xq), real(k, kq))
                y = f(b, a) if side == 0 else f(a, b)
                want, out = (y.astype(np.float32), None) if kind == "f32" else (stored(y, grid(y)), grid(y))
                operands = "%c, %x" if side == 0 else "%x, %c"
                cases.file.parts.append("\n".join((
                    f'case "{cases.name(op, f"constant operand {side}", kind)}" oracle "{ORACLE}" {"rtol 1e-5 atol 1e-5" if kind == "f32" else "ulp 1"}', 'graph "g" {', f"  input  %x : {type_of(feed, feed_quant)}",
                    f"  const  %c : {type_of(fixed_one, quant)} = {data(fixed_one)}", f"  %y : {type_of(want, out)} = tigris.{op} ({operands})", "  output %y", "}", f"feed   %x = {data(feed)}",
                    f"expect %y = {data(want)}\n")))


def logic(cases, shape):
    a, b = random.integers(0, 2, shape).astype(bool), random.integers(0, 2, (1, 1, 2, 4)).astype(bool)
    for op, f in (("And", np.logical_and), ("Or", np.logical_or)):
        cases.add(op, [a, b], f, what="bool", kinds="f32")
    cases.add("Not", [a], np.logical_not, what="bool", kinds="f32")
    for axes, keep in (([1], True), ([2, 3], False)):
        cases.add("ReduceAll", [a], lambda x, n=tuple(axes), k=keep: x.all(n, keepdims=k), {"axes": axes, "keepdims": keep}, what=f"bool, {axes}", kinds="f32")
    cases.add("Cast", [a], lambda a: a.astype(np.float64), what="from bool", kinds="f32 s8")
    x, y = uniform(*shape), uniform(1, 1, 2, 4)
    cases.add("Where", [a, x, y], lambda c, x, y: np.where(c, x, y), kinds="f32")
    cases.add("Where", [random.integers(0, 2, (1, 3, 1, 2, 4)).astype(bool), uniform(2, 2, 4), uniform(4)], lambda c, x, y: np.where(c, x, y), what="rank 5", kinds="f32")
    quant = twir.Quant(0.1, 5)
    p, q = [random.integers(-128, 128, s).astype(np.int8) for s in (shape, (4,))]
    cases.file.foreign(cases.name("Where", "", "s8"), ORACLE, "tigris.Where", [("c", a), ("a", p), ("b", q)], np.where(a, p, q), None, None, {"a": quant, "b": quant}, quant)


def layers(cases):
    for op, x, w, stride, dilation, begin, end, groups in (
            ("Conv", (1, 6, 5, 3), (4, 3, 3, 3), (2, 1), (1, 1), (1, 1), (1, 1), 1), ("Conv", (1, 6, 6, 4), (6, 2, 3, 2), (1, 1), (2, 1), (0, 1), (1, 1), 2),
            ("ConvTranspose", (1, 3, 4, 2), (3, 3, 2, 2), (2, 2), (1, 1), (1, 0), (0, 1), 1)):
        weight, bias = uniform(*w, low=-1, high=1), uniform(w[0])
        attributes = {"stride": list(stride), "dilation": list(dilation), "pad_begin": list(begin), "pad_end": list(end), "group": groups}

        def f(x, w, b=None, op=op, s=stride, d=dilation, p=begin, q=end, g=groups):
            return convolve(x, w, b, s, d, p, q, g) if op == "Conv" else transpose_convolve(x, w, b, s, d, p, q, (0, 0), g)
        layer(cases, op, uniform(*x), weight, bias, f, attributes, f"{groups} groups")
        layer(cases, op, uniform(*x), weight, None, f, attributes, f"{groups} groups, no bias")
    weight, bias = uniform(2, 3, 6, low=-1, high=1), uniform(6)
    layer(cases, "DepthwiseConv", uniform(1, 5, 6, 3), weight, bias, lambda x, w, b: convolve(x, w.transpose(2, 0, 1)[..., None], b, (1, 2), (1, 1), (1, 0), (0, 1), 3),
          {"stride": [1, 2], "pad_begin": [1, 0], "pad_end": [0, 1]}, "multiplier 2", axis=2)
    weight, bias = uniform(4, 3, 2, low=-1, high=1), uniform(4)
    layer(cases, "Conv1D", uniform(1, 9, 2), weight, bias, lambda x, w, b: convolve(x[:, None], w[:, None], b, (1, 2), (1, 2), (0, 2), (0, 1), 1)[:, 0],
          {"stride": [2], "dilation": [2], "pad_begin": [2], "pad_end": [1]}, "")
    weight, bias = uniform(4, 5, low=-1, high=1), uniform(4)
    layer(cases, "Gemm", uniform(2, 5), weight, bias, lambda x, w, b: x @ w.T + b, {"transB": True}, "transB")
    cases.add("Gemm", [uniform(3, 2), uniform(3, 4), uniform(2, 4)], lambda a, b, c: 0.5 * a.T @ b - 2 * c, {"alpha": 0.5, "beta": -2.0, "transA": True}, what="alpha, beta, transA")
    cases.add("MatMul", [uniform(1, 2, 3, 4), uniform(1, 2, 4, 5)], np.matmul)
    cases.add("MatMul", [uniform(2, 3, 4), uniform(5, 4)], lambda a, b: a @ b.T, {"transpose_b": True}, what="transpose_b")


def layer(cases, op, x, w, b, f, attributes, what, axis=0):
    """Weights stand in the graph; in int8 they have a scale for each output."""
    y = f(x.astype(np.float64), w.astype(np.float64), *([] if b is None else [b.astype(np.float64)]))
    names = "%x, %w" + ("" if b is None else ", %b")
    text = ", ".join(f"{k}={twir.written(v)}" for k, v in attributes.items())
    scales = np.float32(np.abs(w).max(tuple(k for k in range(w.ndim) if k != axis)) / 127)
    along = scales.reshape([-1 if k == axis else 1 for k in range(w.ndim)])
    stored_w = np.clip(np.rint(w / along), -127, 127).astype(np.int8)
    q, quant = stored(x, grid(x)), grid(x)
    operands = [("x", x), ("w", w)] + ([] if b is None else [("b", b)])
    y8 = f(real(q, quant), stored_w * along.astype(np.float64), *([] if b is None else [b.astype(np.float64)]))
    out = grid(y8)
    for kind, feed, weight, want, xq, wq, yq, tolerance in (("f32", x, w, y.astype(np.float32), None, None, None, "rtol 1e-5 atol 1e-5"),
                                                         ("s8", q, stored_w, stored(y8, out), quant, twir.QuantByAxis(scales, [0] * len(scales), axis), out, "ulp 1")):
        lines = [f'case "{cases.name(op, what, kind)}" oracle "{ORACLE}" {tolerance}', 'graph "g" {', f"  input  %x : {twir.type_of(feed, xq)}",
                 f"  const  %w : {twir.type_of(weight, wq)} = {twir.data(weight)}"]
        lines += [] if b is None else [f"  const  %b : {twir.type_of(b)} = {twir.data(b)}"]
        lines += [f"  %y : {twir.type_of(want, yq)} = tigris.{op} ({names}) {{{text}}}", "  output %y", "}", f"feed   %x = {twir.data(feed)}", f"expect %y = {twir.data(want)}\n"]
        cases.file.parts.append("\n".join(lines))


def pools(cases):
    x = uniform(1, 6, 5, 3)
    window = {"kernel": [3, 2], "stride": [2, 1], "pad_begin": [1, 0], "pad_end": [1, 1]}

    def average(x, include=False):
        v = windows(x, (3, 2), (2, 1), (1, 1), (1, 0), (1, 1), 0.0).sum((3, 4))
        return v / (6 if include else windows(np.ones_like(x), (3, 2), (2, 1), (1, 1), (1, 0), (1, 1), 0.0).sum((3, 4)))
    cases.add("MaxPool", [x], lambda x: windows(x, (3, 2), (2, 1), (1, 1), (1, 0), (1, 1), -np.inf).max((3, 4)), window)
    cases.add("AveragePool", [x], average, window)
    cases.add("AveragePool", [x], lambda x: average(x, True), {**window, "count_include_pad": True}, what="padding counted")
    cases.add("L2Pool", [x], lambda x: np.sqrt(average(x * x)), window)
    for op, f in (("GlobalAveragePool", np.mean), ("GlobalMaxPool", np.max)):
        cases.add(op, [x], lambda x, f=f: f(x, axis=(1, 2), keepdims=True))
        cases.add(op, [uniform(1, 7, 4)], lambda x, f=f: f(x, axis=1, keepdims=True), what="rank 3")


def reductions(cases):
    x = uniform(1, 5, 4)
    for op, f in (("ReduceMean", np.mean), ("ReduceMax", np.max), ("ReduceMin", np.min), ("ReduceSum", np.sum)):
        for axes, keep in (([1], True), ([2], False), ([-2, -1], True)):
            cases.add(op, [x], lambda x, f=f, a=tuple(axes), k=keep: f(x, axis=a, keepdims=k), {"axes": axes, "keepdims": keep}, what=f"{axes}")
    for more in ({}, {"exclusive": True}, {"reverse": True}, {"exclusive": True, "reverse": True}):
        def cumulative(x, more=more):
            x = x[:, ::-1] if "reverse" in more else x
            y = np.cumsum(x, 1) - (x if "exclusive" in more else 0)
            return y[:, ::-1] if "reverse" in more else y
        cases.add("CumSum", [x], cumulative, {"axis": 1, **more}, what=",".join(more))
    for op, f in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
        for axis, shape in ((1, (1, 5, 4)), (0, (7,)), (-1, (1, 2, 1, 3, 2, 4))):
            tied = random.integers(-2, 3, shape)
            for kind, data, quant in (("f32", tied.astype(np.float32), None), ("s8", tied.astype(np.int8), twir.Quant(0.5, 1))):
                cases.file.foreign(cases.name(op, f"axis {axis}", kind), ORACLE, f"tigris.{op}", [("x", data)], f(tied, axis).astype(np.int32), {"axis": axis, "keepdims": False}, None, {"x": quant} if quant else None)
        cases.add(op, [uniform(1, 3, 4)], lambda x, f=f: f(x, axis=2, keepdims=True).astype(np.int32), {"axis": 2}, what="keepdims", kinds="f32")


def normalised(x, axes, epsilon):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def norms(cases):
    x, s, b, m, v = uniform(1, 4, 3, 5), uniform(5), uniform(5), uniform(5), uniform(5, low=0.3, high=2)
    for op, arrays, f, attributes in (("LayerNormalization", [s, b], lambda x, s, b: normalised(x, (3,), 1e-3) * s + b, {"epsilon": 0.001}), ("LayerNormalization", [s], lambda x, s: normalised(x, (3,), 1e-5) * s, {}),
                                      ("InstanceNormalization", [s, b], lambda x, s, b: normalised(x, (1, 2), 1e-3) * s + b, {"epsilon": 0.001}),
                                      ("BatchNormalization", [s, b, m, v], lambda x, s, b, m, v: (x - m) / np.sqrt(v + 1e-3) * s + b, {"epsilon": 0.001})):
        constant_operands(cases, op, x, arrays, f, attributes)
    cases.add("L2Normalization", [x], lambda x: x / np.sqrt((x * x).sum(-1, keepdims=True)), kinds="f32")
    fixed(cases, "L2Normalization", x, lambda x: x / np.sqrt((x * x).sum(-1, keepdims=True)), 1 / 128, 0)


def constant_operands(cases, op, x, arrays, f, attributes):
    q, quant = stored(x, grid(x)), grid(x)
    doubles = [a.astype(np.float64) for a in arrays]
    y, y8 = f(x.astype(np.float64), *doubles), f(real(q, quant), *doubles)
    text = ", ".join(f"{k}={twir.written(v)}" for k, v in attributes.items())
    names = [f"c{i}" for i in range(len(arrays))]
    for kind, feed, want, xq, yq, tolerance in (("f32", x, y.astype(np.float32), None, None, "rtol 1e-4 atol 1e-5"), ("s8", q, stored(y8, grid(y8)), quant, grid(y8), "ulp 1")):
        lines = [f'case "{cases.name(op, f"{len(arrays)} constants", kind)}" oracle "{ORACLE}" {tolerance}', 'graph "g" {', f"  input  %x : {twir.type_of(feed, xq)}"]
        lines += [f"  const  %c{i} : {twir.type_of(a)} = {twir.data(a)}" for i, a in enumerate(arrays)]
        lines += [f"  %y : {twir.type_of(want, yq)} = tigris.{op} (%x, {', '.join(f'%c{i}' for i in range(len(arrays)))})" + (f" {{{text}}}" if text else ""), "  output %y", "}",
                  f"feed   %x = {twir.data(feed)}", f"expect %y = {twir.data(want)}\n"]
        cases.file.parts.append("\n".join(lines))


def moves(cases):
    x = uniform(1, 3, 4, 2)
    flat = x.reshape(1, -1)
    cases.add("Concat", [x, x + 1], lambda a, b: np.concatenate([a, b], 3), {"axis": 3})
    cases.add("Concat", [uniform(1, 3, 2), uniform(1, 2, 2), uniform(1, 1, 2)], lambda a, b, c: np.concatenate([a, b, c], 1), {"axis": -2}, what="rank 3")
    cases.add("Pad", [x], lambda x: np.pad(x, ((0, 0), (1, 0), (2, 1), (0, 3))), {"before": [0, 1, 2, 0], "after": [0, 0, 1, 3]}, ulp=0)
    cases.add("Pad", [x], lambda x: np.pad(x, ((0, 0), (1, 0), (0, 0), (0, 0)), constant_values=1.5), {"before": [0, 1, 0, 0], "value": 1.5}, what="value")
    cases.add("Flatten", [x], lambda x: x.reshape(flat.shape), ulp=0)
    cases.add("Flatten", [x], lambda x: x.reshape(12, 2), {"axis": -1}, what="axis -1", ulp=0)
    cases.add("Reshape", [x], lambda x: x.reshape(3, 2, 4), {"shape": [3, 2, 4]}, ulp=0)
    cases.add("Squeeze", [x], lambda x: x[0], ulp=0)
    cases.add("Squeeze", [uniform(1, 2, 1, 3)], lambda x: x[:, :, 0], {"axes": [-2]}, what="axes", ulp=0)
    cases.add("Unsqueeze", [x[0]], lambda x: x[None, :, :, :, None], {"axes": [0, -1]}, ulp=0)
    cases.add("Transpose", [x], lambda x: x.transpose(0, 3, 1, 2), {"perm": [0, 3, 1, 2]}, ulp=0)
    cases.add("MirrorPad", [x], lambda x: np.pad(x, ((0, 0), (2, 1), (0, 3), (0, 0)), "reflect"), {"before": [0, 2, 0, 0], "after": [0, 1, 3, 0], "mode": "reflect"}, what="reflect", ulp=0)
    cases.add("MirrorPad", [x], lambda x: np.pad(x, ((0, 0), (3, 1), (0, 4), (0, 0)), "symmetric"), {"before": [0, 3, 0, 0], "after": [0, 1, 4, 0], "mode": "symmetric"}, what="symmetric", ulp=0)
    cases.add("ReverseV2", [x], lambda x: x[:, ::-1, :, ::-1], {"axes": [1, -1]}, ulp=0)
    cases.add("StridedSlice", [x], lambda x: x[:, 2:0:-1, 1:, ::2], {"begin": [0, 2, 1, 0], "end": [1, 0, 100, 2], "strides": [1, -1, 1, 2]}, ulp=0)
    index = np.int32([2, 0, 2])
    cases.add("Gather", [x, index], lambda x, i: np.take(x, i, 1), {"axis": 1}, ulp=0)
    cases.add("GatherND", [x, np.int32([[0, 2, 1], [0, 0, 3]])], lambda x, i: x[tuple(i.T)], ulp=0)
    cases.add("EmbeddingLookup", [index, uniform(4, 5)], lambda i, t: t[i], ulp=0)
    cases.add("Split", [x], lambda x: [x[:, :, :2], x[:, :, 2:]], {"axis": 2}, what="equal", kinds="f32")
    cases.add("Split", [x], lambda x: [x[:, :, :1], x[:, :, 1:]], {"axis": -2, "split": [1, 3]}, what="sizes", kinds="f32")
    quant = twir.Quant(0.1, 4)
    q = random.integers(-128, 128, (1, 4, 6)).astype(np.int8)
    cases.file.foreign(cases.name("Split", "", "s8"), ORACLE, "tigris.Split", [("x", q)], [q[:, :, :2], q[:, :, 2:4], q[:, :, 4:]], {"axis": 2}, None, {"x": quant}, quant)
    update(cases)
    from windows import resized
    for op, more in (("Resize", {}), ("Resize", {"coordinates": "half_pixel", "rounding": "round_prefer_ceil"}), ("Resize", {"coordinates": "align_corners", "rounding": "round_prefer_ceil"}),
                     ("ResizeLinear", {}), ("ResizeLinear", {"coordinates": "asymmetric"}), ("ResizeLinear", {"coordinates": "align_corners"})):
        size = [1, 7, 6, 2]
        cases.add(op, [x], lambda x, o=op, m=more: resized(x, (7, 6), o == "ResizeLinear", m.get("coordinates", "half_pixel" if o == "ResizeLinear" else "asymmetric"), m.get("rounding", "floor")),
                  {"size": size, **more}, what=",".join(more.values()), ulp=1 if op == "ResizeLinear" else 0)


def update(cases):
    x, u, at = uniform(1, 5, 4), uniform(1, 2, 3), np.int32([0, 2, 9])

    def f(x, u, at):
        y = x.copy()
        begin = [min(max(int(b), 0), n - m) for b, n, m in zip(at, x.shape, u.shape)]
        y[tuple(slice(b, b + m) for b, m in zip(begin, u.shape))] = u
        return y
    cases.add("DynamicUpdateSlice", [x, u, at], f, kinds="f32")
    quant = twir.Quant(0.1, 4)
    p, q = [random.integers(-128, 128, s.shape).astype(np.int8) for s in (x, u)]
    cases.file.foreign(cases.name("DynamicUpdateSlice", "", "s8"), ORACLE, "tigris.DynamicUpdateSlice", [("x", p), ("u", q), ("at", at)], f(p, q, at), None, None, {"x": quant, "u": quant}, quant)


def main():
    for name, parts in (("elementwise", (unary, binary, constants)), ("layer", (layers, pools)), ("reduce", (reductions, norms)), ("move", (moves,))):
        cases = Cases("tigris", "tigris.py")
        for part in parts:
            part(cases)
        cases.file.write(f"{FOLDER}/{name}.txt")


main()
