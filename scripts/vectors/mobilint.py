#!/usr/bin/env python3
"""src/import/foreign/mobilint/*.txt: every operator of the Mobilint IR by its formula in double precision. No kernel of ours takes part."""
import math

import numpy as np

import twir
from recurrence import layer
from windows import convolve, transpose_convolve, windows
from foreign import ORACLE, Cases, grid, random, real, stored, uniform

FOLDER = "src/import/foreign/mobilint"


def erf(x):
    return np.vectorize(math.erf)(x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def softplus(x):
    return np.logaddexp(0, x)


def last(x):
    """Channels of [n, c, h, w] to the end."""
    return np.moveaxis(x, 1, -1)


def first(x):
    return np.moveaxis(x, -1, 1)


# --- element by element --------------------------------------------------------------------------------------------------------------


def unary(cases):
    x = uniform(1, 2, 3, 4)
    positive, share = uniform(1, 2, 3, 4, low=0.1, high=8), uniform(1, 2, 3, 4, low=0.02, high=0.98)
    for op, f, attributes, data in (
            ("Celu", lambda x: np.maximum(0, x) + np.minimum(0, 0.7 * np.expm1(x / 0.7)), {"alpha": 0.7}, x),
            ("Clip", lambda x: np.clip(x, -1, 2), {"clip_min_value": -1.0, "clip_max_value": 2.0}, x),
            ("Clip", lambda x: np.minimum(x, 0.5), {"clip_max_value": 0.5}, x),
            ("Clip", lambda x: np.maximum(x, -0.5), {"clip_min_value": -0.5}, x),
            ("Clip", lambda x: x, {}, x),
            ("Clip", lambda x: np.full_like(x, -1), {"clip_min_value": 2.0, "clip_max_value": -1.0}, x),
            ("Elu", lambda x: np.where(x > 0, x, 1.3 * np.expm1(x)), {"leaky_alpha": 1.3}, x),
            ("Erf", erf, {}, x), ("Exp", np.exp, {}, x), ("Log", np.log, {}, positive), ("Sqrt", np.sqrt, {}, positive),
            ("Rsqrt", lambda x: 1 / np.sqrt(x), {}, positive), ("Neg", np.negative, {}, x), ("Relu", lambda x: np.maximum(x, 0), {}, x),
            ("Tanh", np.tanh, {}, x), ("Identity", lambda x: x, {}, x), ("Input", lambda x: x, {}, x), ("Output", lambda x: x, {}, x),
            ("Gelu", lambda x: x * (1 + erf(x / math.sqrt(2))) / 2, {}, x),
            ("Gelu", lambda x: x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2, {"approximate": True}, x),
            ("QuickGelu", lambda x: x * sigmoid(1.702 * x), {}, x),
            ("GLU", lambda x: x[..., :2] * sigmoid(x[..., 2:]), {}, x),
            ("HardSigmoid", lambda x: np.clip(0.2 * x + 0.5, 0, 1), {}, x),
            ("HardSigmoid", lambda x: np.clip(0.3 * x + 0.4, 0, 1), {"alpha": 0.3, "beta": 0.4}, x),
            ("Hardtanh", lambda x: np.clip(x, -1, 1), {}, x), ("Hardtanh", lambda x: np.clip(x, -2, 0.5), {"min_val": -2.0, "max_val": 0.5}, x),
            ("HardSwish", lambda x: x * np.clip(x + 3, 0, 6) / 6, {}, 2 * x),
            ("LeakyRelu", lambda x: np.where(x > 0, x, 0.2 * x), {"leaky_alpha": 0.2}, x),
            ("LogSigmoid", lambda x: -softplus(-x), {}, x),
            ("Logit", lambda x: np.log(x / (1 - x)), {}, share),
            ("Logit", lambda x: np.log(np.clip(x, 0.2, 0.8) / (1 - np.clip(x, 0.2, 0.8))), {"eps": 0.2}, share),
            ("Mish", lambda x: x * np.tanh(softplus(x)), {}, x),
            ("Pow", lambda x: x**3, {"exponent": 3.0}, x), ("Pow", lambda x: x**-0.5, {"exponent": -0.5}, positive),
            ("Sigmoid", sigmoid, {}, x), ("Sigmoid", lambda x: sigmoid(1.702 * x), {"alpha": 1.702}, x),
            ("Softplus", softplus, {}, x), ("Swish", lambda x: x * sigmoid(x), {}, x),
            ("Softmax", lambda x: softmax(x, 3), {"axis": 3}, x), ("Softmax", lambda x: softmax(1.5 * x, 1), {"axis": -3, "beta": 1.5}, x)):
        # The reciprocals and logarithms that int8's grid ends near are steep: the product takes zero, or what is near it, elsewhere.
        kinds = "f32" if op in ("Log", "Rsqrt", "Logit", "Pow") and data is not x and attributes.get("eps") is None else "f32 s8"
        cases.add(op, [data], f, attributes, what=",".join(attributes), kinds=kinds)
    # int8 where the function is defined on the whole grid
    for op, f, attributes in (("Log", np.log, {}), ("Rsqrt", lambda x: 1 / np.sqrt(x), {}), ("Pow", lambda x: x**-0.5, {"exponent": -0.5})):
        steep(cases, op, f, attributes, 1, 4)
    steep(cases, "Logit", lambda x: np.log(x / (1 - x)), {}, 0.1, 0.9)


def steep(cases, op, f, attributes, low, high):
    """int8 of a function of numbers from low to high, on a grid without zero."""
    scale = float(np.float32((high - low) / 200))
    quant = twir.Quant(scale, -128)
    q = random.integers(-128 + math.ceil(low / scale), min(127, -128 + math.floor(high / scale)) + 1, (1, 2, 3, 4)).astype(np.int8)
    y = f((q.astype(np.float64) + 128) * quant.scale)
    cases.file.foreign(cases.name(op, ",".join(attributes), "s8"), ORACLE, f"mobilint.{op}", [("x", q)], stored(y, grid(y)), attributes, None,
                       {"x": quant}, grid(y), "ulp 1")


def binary(cases):
    for op, f in (("Adding", np.add), ("Sub", np.subtract), ("Multiply", np.multiply), ("Div", np.divide)):
        b = uniform(1, 2, 3, 4, low=0.5, high=2)
        cases.add(op, [uniform(1, 2, 3, 4), b], f)
        cases.add(op, [uniform(1, 2, 3, 4), b[:, :1, :, :1]], f, what="broadcast")
    channel, full = uniform(4, low=0.5, high=2), uniform(1, 2, 3, 4, low=0.5, high=2)
    for op, f in (("AddingConstant", np.add), ("SubConstant", np.subtract), ("MultiplyConstant", np.multiply), ("DivConstant", np.divide)):
        for c in (channel, full):
            cases.add(op, [uniform(1, 2, 3, 4)], f, {"is_const_first": False}, {"constant": c}, what=f"rank {c.ndim}")
        cases.add(op, [uniform(1, 2, 3, 4, low=0.5, high=3)], lambda x, c, f=f: f(c, x), {"is_const_first": True}, {"constant": channel},
                  what="constant first", kinds="f32" if op == "DivConstant" else "f32 s8")
        cases.add(op, [uniform(1, 2, 3, 4)], lambda x, f=f: f(x, 1.5), {"is_const_first": False, "constant": 1.5}, what="a number")
    for shape, small in (((1, 3, 3, 6), (1, 3, 3, 4)), ((1, 4, 3, 2), (1, 2, 3, 1)), ((1, 2, 3, 4), (1, 1, 1, 4))):
        def partial(a, b):
            y = a.copy()
            if all(s in (1, n) for s, n in zip(b.shape, a.shape)):
                return a + b
            y[tuple(slice(0, s) for s in b.shape)] += b
            return y
        cases.add("AddPartial", [uniform(*shape), uniform(*small)], partial, {"is_input0_larger": True}, kinds="f32")
        cases.add("AddPartial", [uniform(*small), uniform(*shape)], lambda b, a, p=partial: p(a, b), {"is_input0_larger": False}, kinds="f32")
    for w0, w1 in ((np.float32([0.3]), np.float32([0.7])), (uniform(4), uniform(4))):
        cases.add("Weightedsum", [uniform(1, 2, 3, 4), uniform(1, 2, 3, 4)], lambda a, b, w0, w1: a * w0 + b * w1, None, {"weight0": w0, "weight1": w1},
                  what=f"{len(w0)} weights")


# --- images ----------------------------------------------------------------------------------------------------------------------------


def window_attributes(kernel, stride, dilation, begin, end):
    return {"h_kernel": kernel[0], "w_kernel": kernel[1], "h_stride": stride[0], "w_stride": stride[1], "h_dilation": dilation[0], "w_dilation": dilation[1],
            "north_padding": begin[0], "west_padding": begin[1], "south_padding": end[0], "east_padding": end[1]}


def convolutions(cases):
    for op, c, out, groups, kernel, stride, dilation, begin, end in (
            ("Convolution", 3, 4, 1, (3, 2), (1, 1), (1, 1), (1, 0), (1, 1)), ("Convolution", 2, 3, 1, (3, 3), (2, 1), (1, 2), (0, 2), (1, 2)),
            ("DepthwiseConvolution", 3, 3, 3, (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)), ("DepthwiseConvolution", 2, 4, 2, (2, 3), (2, 2), (2, 1), (1, 0), (0, 1)),
            ("GroupConvolution", 4, 6, 2, (3, 3), (1, 2), (1, 1), (1, 1), (0, 1)), ("GroupConvolution", 6, 3, 3, (1, 2), (1, 1), (1, 3), (0, 2), (0, 1))):
        w, b = uniform(out, *kernel, c // groups, low=-1, high=1), uniform(out)
        attributes = {"in_channels": c, "out_channels": out, "group_number": groups, **window_attributes(kernel, stride, dilation, begin, end)}
        x = uniform(1, 6, 5, c)

        def f(x, w, b=None, s=stride, d=dilation, p=begin, q=end, g=groups):
            return convolve(x, w, b, s, d, p, q, g)
        cases.add(op, [x], f, attributes, {"weight": w, "bias": b}, by_axis=["weight"])
        cases.add(op, [x], f, {**attributes, "padding_list": [*begin, *end]}, {"weight": w}, what="no bias, padding_list", by_axis=["weight"])
        cases.add(op, [first(x)], lambda x, w, b, f=f: first(f(last(x), w, b)), {**attributes, "channel_last": False}, {"weight": w, "bias": b},
                  what="channels first", by_axis=["weight"])
    for c, out, groups, kernel, stride, dilation, begin, end, extra in (
            (3, 2, 1, (3, 3), (2, 2), (1, 1), (1, 1), (1, 1), (0, 0)), (4, 6, 2, (2, 3), (1, 2), (2, 1), (0, 1), (1, 0), (0, 0)), (2, 3, 1, (3, 3), (2, 2), (1, 1), (1, 1), (1, 1), (1, 1))):
        w, b, x = uniform(out, *kernel, c // groups, low=-1, high=1), uniform(out), uniform(1, 4, 3, c)
        attributes = {"in_channels": c, "out_channels": out, "group_number": groups, **window_attributes(kernel, stride, dilation, begin, end)}
        if any(extra):
            converted = [dilation[i] * (kernel[i] - 1) - begin[i] for i in range(2)], [dilation[i] * (kernel[i] - 1) - end[i] + extra[i] for i in range(2)]
            attributes.update(window_attributes(kernel, stride, dilation, *converted))
            attributes.update({"og_padding_list": [*begin, *end], "og_out_padding_list": list(extra)})

        def t(x, w, b=None, s=stride, d=dilation, p=begin, q=end, e=extra, g=groups):
            return transpose_convolve(x, w, b, s, d, p, q, e, g)
        what = "og_padding_list" if any(extra) else f"{groups} groups"
        cases.add("TransposeConvolution", [x], t, attributes, {"weight": w, "bias": b}, what=what, by_axis=["weight"])
        cases.add("TransposeConvolution", [first(x)], lambda x, w, t=t: first(t(last(x), w)), {**attributes, "channel_last": False}, {"weight": w},
                  what=what + ", channels first, no bias", by_axis=["weight"])


def pooling(cases):
    for kind, kernel, stride, dilation, begin, end, more in (
            ("max", (3, 2), (2, 1), (1, 1), (1, 0), (1, 1), {}), ("max", (2, 2), (2, 2), (2, 1), (0, 1), (0, 0), {"is_ceil_mode": True}),
            ("avg", (3, 3), (2, 2), (1, 1), (1, 1), (1, 1), {}), ("average", (2, 3), (1, 2), (1, 1), (1, 1), (0, 1), {"is_include_pad": True}),
            ("avg", (2, 2), (3, 3), (1, 1), (0, 0), (1, 1), {"is_ceil_mode": True})):
        def f(x, kind=kind, kernel=kernel, stride=stride, dilation=dilation, begin=begin, end=end, more=more):
            ceil = more.get("is_ceil_mode", False)
            if kind == "max":
                return windows(x, kernel, stride, dilation, begin, end, -np.inf, ceil).max((3, 4))
            v = windows(x, kernel, stride, dilation, begin, end, 0.0, ceil)
            there = np.ones_like(x) if not more.get("is_include_pad") else np.pad(np.ones_like(x), ((0, 0), (begin[0], end[0]), (begin[1], end[1]), (0, 0)), constant_values=1.0)
            edges = (begin, end) if not more.get("is_include_pad") else ((0, 0), (0, 0))
            count = windows(there, kernel, stride, dilation, *edges, 0.0, ceil).sum((3, 4))
            return v.sum((3, 4)) / count
        x = uniform(1, 7, 6, 3)
        attributes = {"pool_type": kind, "pad_mode": "constant", **window_attributes(kernel, stride, dilation, begin, end), **more}
        cases.add("Pooling", [x], f, attributes, what=",".join([kind, *more]))
        cases.add("Pooling", [first(x)], lambda x, f=f: first(f(last(x))), {**attributes, "channel_last": False, "padding_list": [*begin, *end]}, what=f"{kind},channels first", kinds="f32")
    for mode, begin, end in (("same_upper", (0, 1), (1, 1)), ("same_lower", (1, 1), (0, 1))):
        cases.add("Pooling", [uniform(1, 6, 5, 2)], lambda x, b=begin, e=end: windows(x, (3, 3), (2, 2), (1, 1), b, e, -np.inf).max((3, 4)),
                  {"pool_type": "max", "pad_mode": mode, "h_kernel": 3, "w_kernel": 3, "h_stride": 2, "w_stride": 2}, what=mode)
    cases.add("GlobalAveragePooling", [uniform(1, 3, 4, 5)], lambda x: x.mean((1, 2), keepdims=True))
    cases.add("GlobalAveragePooling", [uniform(1, 5, 3, 4)], lambda x: x.mean((2, 3), keepdims=True), {"channel_last": False}, what="channels first")


def padding(cases):
    x = uniform(1, 4, 5, 2)
    compass = {"north_padding": 1, "west_padding": 2, "south_padding": 0, "east_padding": 3}
    for mode, name in (("constant", "constant"), ("reflect", "reflect"), ("edge", "edge"), ("replicate", "edge"), ("symmetric", "symmetric"), ("wrap", "wrap"), ("circular", "wrap")):
        cases.add("Pad", [x], lambda x, n=name: np.pad(x, ((0, 0), (1, 0), (2, 3), (0, 0)), n), {**compass, "pad_mode": mode}, what=mode, ulp=0)
    cases.add("Pad", [x], lambda x: np.pad(x, ((0, 0), (1, 2), (0, 1), (1, 0)), constant_values=0.5), {"padding_list": [0, 1, 0, 1, 0, 2, 1, 0], "pad_mode": "constant", "constant": 0.5},
              what="padding_list")
    cases.add("Pad", [x], lambda x: np.pad(x[:, 1:, :3], ((0, 0), (0, 2), (0, 0), (0, 0))), {"padding_list": [0, -1, 0, 0, 0, 2, -2, 0], "pad_mode": "constant"}, what="negative", ulp=0)


# --- normalisation and reductions --------------------------------------------------------------------------------------------------


def normalised(x, axes, epsilon):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def normalisations(cases):
    c, x = 4, uniform(1, 3, 2, 4)
    gamma, beta, mean, variance, epsilon = uniform(c), uniform(c), uniform(c), uniform(c, low=0.2, high=2), np.float32([1e-3])
    weights = {"gamma": gamma, "beta": beta, "moving_mean": mean, "moving_var": variance}

    def batchnorm(x, g, b, m, v, *_):
        return g * (x - m) / np.sqrt(v + 1e-3) + b
    cases.add("Batchnorm", [x], batchnorm, {"epsilon": 0.001}, weights)
    cases.add("Batchnorm", [first(x)], lambda x, *w: first(batchnorm(last(x), *w)), {"channel_last": False}, {**weights, "epsilon": epsilon}, what="channels first")

    scale, bias = uniform(c), uniform(c)
    for name, shape in (("default", None), ("[4]", [4]), ("[2,4]", [2, 4])):
        size = shape or [c]
        axes = tuple(range(4 - len(size), 4))
        s, b, more = uniform(*size), uniform(*size), {"normalized_shape": shape} if shape else {}
        cases.add("LayerNormalization", [x], lambda x, s, b, a=axes: normalised(x, a, 1e-3) * s + b, {"epsilon": 0.001, **more}, {"scale": s, "bias": b}, what=name, tolerance="rtol 1e-4 atol 1e-5")
        cases.add("RmsNormalization", [x], lambda x, s, *_, a=axes: x / np.sqrt((x * x).mean(a, keepdims=True) + 1e-3) * s, {**more}, {"scale": s, "epsilon": epsilon}, what=name)
    cases.add("LayerNormalization", [x], lambda x, s: normalised(x, (3,), 1e-3) * s, {"epsilon": 0.001}, {"scale": scale}, what="no bias")

    def group(x, s, b=0, groups=2):
        n, h, w, c = x.shape
        return normalised(x.reshape(n, h, w, groups, c // groups), (1, 2, 4), 1e-3).reshape(x.shape) * s + b
    cases.add("GroupNormalization", [x], group, {"num_groups": 2, "epsilon": 0.001}, {"scale": scale, "bias": bias}, tolerance="rtol 1e-4 atol 1e-5")
    cases.add("GroupNormalization", [first(x)], lambda x, s: first(group(last(x), s)), {"num_groups": 2, "epsilon": 0.001, "channel_last": False}, {"scale": scale}, what="channels first, no bias")

    def instance(x, s, b=0):
        return normalised(x, (1, 2), 1e-3) * s + b
    cases.add("InstanceNormalization", [x], instance, {"epsilon": 0.001}, {"scale": scale, "bias": bias})
    cases.add("InstanceNormalization", [first(x)], lambda x, s: first(instance(last(x), s)), {"epsilon": 0.001, "channel_last": False}, {"scale": scale}, what="channels first, no bias")

    # The document's sequences, word for word, for h = 1; and the same for an image.
    def order_1(x, s, b):
        n, h, w, c2 = x.shape
        c = c2 // 2
        y = x.reshape(n, h * w, c, 2).transpose(0, 3, 1, 2)
        y = normalised(y, (1, 2), 1e-3) * s + b
        return y.transpose(0, 2, 3, 1).reshape(x.shape)

    def order_0(x, s, b):
        n, h, w, c2 = x.shape
        y = x.reshape(n, h * w, 2, c2 // 2)
        return (normalised(y, (1, 2), 1e-3) * s + b).reshape(x.shape)
    for order, f in ((1, order_1), (0, order_0)):
        for shape in ((1, 1, 5, 6), (1, 3, 2, 6)):
            cases.add("InstanceNormalization", [uniform(*shape)], f, {"num_groups": 2, "group_order": order, "epsilon": 0.001}, {"scale": uniform(3), "bias": uniform(3)}, what=f"order {order}, {shape[1]} rows")

    for axes in ([3], [-1], [1, 2]):
        over = tuple(a % 4 for a in axes)
        cases.add("L1Normalization", [x], lambda x, a=over: x / np.abs(x).sum(a, keepdims=True), {"norm_axis": axes}, what=f"{axes}")
        cases.add("L2Normalization", [x], lambda x, a=over: x / np.sqrt((x * x).sum(a, keepdims=True)), {"norm_axis": axes}, what=f"{axes}")
    cases.add("L2Normalization", [x], lambda x, e: x / np.maximum(np.sqrt((x * x).sum(3, keepdims=True)), e), {"norm_axis": [3]}, {"epsilon": np.float32([2.5])}, what="epsilon")
    zero = uniform(1, 1, 2, 3)
    zero[0, 0, 0] = 0
    cases.add("L2Normalization", [zero], lambda x: x / np.maximum(np.sqrt((x * x).sum(3, keepdims=True)), 1e-30), {"norm_axis": [3]}, what="zero length")
    for axes, groups in (([3], 1), ([1, 2], 1), ([1, 2, 3], 2), ([3], 2)):
        def rstd(x, axes=tuple(axes), groups=groups):
            if groups == 1:
                return 1 / np.sqrt(x.var(axes, keepdims=True) + 1e-3)
            y = x.reshape(*x.shape[:3], groups, -1)
            return 1 / np.sqrt(y.var(axes[:-1] + (4,), keepdims=True) + 1e-3)[..., 0]
        cases.add("Rstd", [x], rstd, {"reduce_axes": axes, "num_groups": groups, "epsilon": 0.001}, what=f"{axes}, {groups} groups", tolerance="rtol 1e-4 atol 1e-5", kinds="f32 s8" if groups == 2 or len(axes) == 2 else "f32")


def reductions(cases):
    x = uniform(1, 2, 3, 4, low=-2, high=2)
    for op, f in (("ReduceL2", lambda x, **k: np.sqrt(np.sum(x * x, **k))), ("ReduceMax", np.max), ("ReduceMean", np.mean), ("ReduceProd", np.prod), ("ReduceSum", np.sum)):
        for axes, keep in (([1, 2], True), ([3], False), ([-1, 1], True)):
            cases.add(op, [x], lambda x, f=f, a=tuple(axes), k=keep: f(x, axis=a, keepdims=k), {"reduce_axes": axes, "keep_dims": keep, "noop_with_empty_axes": 0}, what=f"{axes}, {'keep' if keep else 'drop'}", ulp=1)
        cases.add(op, [x], lambda x, f=f: f(x, axis=None, keepdims=True), {"reduce_axes": [], "keep_dims": True, "noop_with_empty_axes": 0}, what="all", kinds="f32")
        cases.add(op, [x], lambda x: x, {"reduce_axes": [], "keep_dims": True, "noop_with_empty_axes": 1}, what="none", kinds="f32")


# --- places ---------------------------------------------------------------------------------------------------------------------------


def moves(cases):
    x = uniform(1, 2, 3, 4)
    cases.add("Transpose", [x], lambda x: x.transpose(0, 3, 1, 2), {"transpose_axes": [0, 3, 1, 2]}, ulp=0)
    cases.add("Transpose", [x], lambda x: x.transpose(0, 2, 1, 3), {"transpose_axes": [0, -2, 1, -1]}, what="negative", ulp=0)
    cases.add("Reshape", [x], lambda x: x.reshape(1, 6, 4), {"new_shape": [1, -1, 4]}, ulp=0)
    cases.add("Reshape", [x], lambda x: x.reshape(1, 2, 12), {"new_shape": [0, 0, -1], "is_const_first": True}, what="zeros copy", ulp=0)
    cases.add("Slice", [x], lambda x: x[:, :, 1:, 3:0:-2], {"axis": [2, 3], "start": [1, -1], "end": [9223372036854775807, 0], "step": [1, -2]}, what="steps", ulp=0)
    cases.add("Slice", [x], lambda x: x[:, -1:, :2], {"axis": [-3, 2], "start": [-1, -100], "end": [100, 2]}, ulp=0)
    a, b, c = uniform(1, 2, 3, 4), uniform(1, 2, 3, 2), uniform(1, 2, 3, 1)
    cases.add("Concatenate", [a, b, c], lambda a, b, c: np.concatenate([a, b, c], 3), {"axis": 3})
    cases.add("Concatenate", [a, a + 1], lambda a, b: np.concatenate([a, b], 1), {"axis": -3, "original_axis": 2, "original_key": "cat", "original_inputs": [4, 5]}, what="bookkeeping")
    cases.add("Concatenate", [a, b, c], lambda a, b, c: np.concatenate([b, c, a], 3), {"axis": 3, "input_names": ["b", "c", "a"], "input_index": [1, 2, 0]}, what="input_names")
    cases.add("DeviceBridge", [x], lambda x: x[0][:, None].transpose(1, 0, 3, 2), {"squeeze_axes": [0], "unsqueeze_axes": [1], "permute_axes": [1, 0, 3, 2], "device": "npu"}, ulp=0)
    cases.add("DeviceBridge", [x], lambda x: x, {"squeeze_axes": [], "unsqueeze_axes": [], "permute_axes": []}, what="nothing", ulp=0)
    heads(cases)
    bands(cases)


def heads(cases):
    def view(x, nh, order):
        n, h, w, c = x.shape
        y = x.reshape(1, h, w, nh, c // nh).transpose((0, 1, 3, 2, 4) if order == 0 else (0, 3, 1, 2, 4))
        return y.reshape(1, h * nh, w, c // nh)

    def revert(x, nh, order):
        n, h, w, c = x.shape
        y = x.reshape(1, h // nh, nh, w, c).transpose(0, 1, 3, 2, 4) if order == 0 else x.reshape(1, nh, h // nh, w, c).transpose(0, 2, 3, 1, 4)
        return y.reshape(1, h // nh, w, nh * c)
    for order in (0, 1):
        x = uniform(1, 2, 3, 6)
        cases.add("HeaderView", [x], lambda x, o=order: view(x, 3, o), {"num_heads": 3, "batch_order": order}, what=f"order {order}", ulp=0)
        cases.add("HeaderView", [x], lambda x, o=order: view(x, 3, o), {"view_shape": [1, 6, 3, 2], "batch_order": order}, what=f"order {order}, view_shape", ulp=0)
        y = uniform(1, 6, 3, 2)
        cases.add("HeaderViewRevert", [y], lambda x, o=order: revert(x, 3, o), {"num_heads": 3, "batch_order": order}, what=f"order {order}", ulp=0)
        cases.add("HeaderViewRevert", [y], lambda x, o=order: revert(x, 3, o), {"revert_shape": [1, 2, 3, 6], "batch_order": order}, what=f"order {order}, revert_shape", ulp=0)
        assert np.array_equal(revert(view(x, 3, order), 3, order), x)

    def patchify(x, hk, wk, order):
        n, h, w, c = x.shape
        y = x.reshape(1, h // hk, hk, w // wk, wk, c).transpose([(0, 1, 3, 2, 4, 5), (0, 2, 4, 1, 3, 5), (0, 3, 1, 4, 2, 5)][order])
        return y.reshape(1, y.shape[1] * y.shape[2], y.shape[3] * y.shape[4], c)
    x = uniform(1, 8, 6, 2)
    for order in (0, 1):
        cases.add("OrderedPatchify", [x], lambda x, o=order: patchify(x, 4, 2, o), {"h_kernel": 4, "w_kernel": 2, "order": order}, what=f"order {order}", ulp=0)
    # The inverses: of order 0 by itself with (columns of patches, w_kernel), of order 1 by order 2 with (w_kernel, columns of patches).
    cases.add("OrderedPatchify", [patchify(x, 4, 2, 0)], lambda y: patchify(y, 3, 2, 0), {"h_kernel": 3, "w_kernel": 2}, what="order 0 undone", ulp=0)
    assert np.array_equal(patchify(patchify(x, 4, 2, 0), 3, 2, 0).reshape(x.shape), x)
    cases.add("OrderedPatchify", [patchify(x, 4, 2, 1)], lambda y: patchify(y, 2, 3, 2), {"h_kernel": 2, "w_kernel": 3, "order": 2}, what="order 1 undone", ulp=0)
    assert np.array_equal(patchify(patchify(x, 4, 2, 1), 2, 3, 2), x)


def bands(cases):
    """Relative to absolute positions and back; the document's example with its brackets mended."""
    example = np.repeat(np.arange(1, 6, dtype=np.float32)[:, None], 3, 1)[None, None]

    def staggered(x, reverse, window):
        before, rows, n = x.shape[:-2], x.shape[-2], x.shape[-1]
        y = np.zeros(before + (rows, rows + n - 1))
        for i in range(rows):
            at = rows - 1 - i if reverse else i
            y[..., i, at:at + n] = x[..., i, :]
        if window < 0:
            return y
        first, count = (rows - 1 - window, 2 * window + 1) if reverse else (window, rows)
        y = np.pad(y, [(0, 0)] * (y.ndim - 1) + [(max(0, -first), max(0, first + count - y.shape[-1]))])
        return y[..., max(first, 0):max(first, 0) + count]
    assert np.array_equal(staggered(example, False, 1)[0, 0], [[1, 1, 0, 0, 0], [2, 2, 2, 0, 0], [0, 3, 3, 3, 0], [0, 0, 4, 4, 4], [0, 0, 0, 5, 5]])
    for what, x, attributes in (("the document's", example, {}), ("the document's, sliced", example, {"window_size": 1}), ("the document's, reversed", example, {"reverse": True}),
                                ("relative to absolute", uniform(1, 2, 4, 5), {"axis": -1, "window_size": 2}), ("absolute to relative", uniform(1, 2, 4, 4), {"reverse": True, "window_size": 2}),
                                ("a short sequence", uniform(1, 1, 2, 2), {"reverse": True, "window_size": 3})):
        cases.add("StaggeredPadding", [x], lambda x, a=attributes: staggered(x, a.get("reverse", False), a.get("window_size", -1)), attributes, what=what, ulp=0)
    cases.add("StaggeredPadding", [uniform(1, 3, 2, 2)], lambda x: np.moveaxis(staggered(np.moveaxis(x, 3, 1), False, -1), 1, 3), {"axis": 2}, what="axis 2", ulp=0)


def resizing(cases):
    import ort
    x = uniform(1, 4, 5, 2)
    for what, sizes, onnx, ours, kinds in (
            ("nearest", [1, 8, 7, 2], {"mode": "nearest"}, {}, "f32 s8"), ("nearest, scales", None, {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
             {"scales": [1.0, 2.0, 1.5, 1.0], "transform_mode": "asymmetric", "nearest_mode": "floor", "resize_type": "scales"}, "f32 s8"),
            ("linear", [1, 7, 9, 2], {"mode": "linear"}, {"resize_mode": "linear"}, "f32 s8"),
            ("linear, axes", [1, 7, 9, 2], {"mode": "linear", "coordinate_transformation_mode": "align_corners"}, {"resize_mode": "linear", "transform_mode": "align_corners", "axes": [2, -3], "sizes": [9, 7]}, "f32"),
            ("linear, antialias", [1, 2, 3, 2], {"mode": "linear", "antialias": 1}, {"resize_mode": "linear", "antialias": 1}, "f32"),
            ("cubic", [1, 7, 8, 2], {"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1}, {"resize_mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1}, "f32"),
            ("crop", [1, 3, 3, 2], {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 2.5},
             {"resize_mode": "linear", "transform_mode": "tf_crop_and_resize", "extrapolation_value": 2.5, "roi": [0, 0, 0, 0, 1, 2, 1, 1]}, "f32"),
            ("not larger", [1, 6, 10, 2], {"mode": "nearest", "keep_aspect_ratio_policy": "not_larger"}, {"axes": [1, 2], "sizes": [6, 10], "keep_aspect_ratio_policy": "not_larger"}, "f32")):
        ours = dict(ours)
        if sizes and "sizes" not in ours:
            ours["sizes"] = sizes

        def f(x, sizes=sizes, onnx=onnx, ours=ours, what=what):
            roi = np.float32([0, 0, 0, 0, 1, 1, 2, 1]) if what == "crop" else None
            if what == "not larger":
                return last(ort.run("Resize", [first(x).astype(np.float32), roi, None, np.int64([6, 10])], {**onnx, "axes": [2, 3]}, 18, reference=True)[1])
            order = [0, 3, 1, 2]
            scales = np.float32([ours["scales"][k] for k in order]) if not sizes else None
            inputs = [first(x).astype(np.float32), roi, scales] + ([np.int64([sizes[k] for k in order])] if sizes else [])
            return last(ort.run("Resize", inputs, onnx, 18)[1])
        cases.oracle = f"onnxruntime {ort.onnxruntime.__version__}" if what != "not larger" else f"onnx reference {ort.onnx.__version__}"
        cases.add("Resize", [x], f, ours, what=what, kinds=kinds, tolerance="rtol 1e-4 atol 1e-5")
    cases.oracle = ORACLE


# --- recurrence ------------------------------------------------------------------------------------------------------------------------


def recurrences(cases):
    steps, batch, inputs, size = 4, 2, 3, 2
    for kind, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for what, directions, direction, mask, batch_first, biased, more in (
                ("", 1, "forward", "i", False, True, {}), ("reverse", 1, "reverse", "is", False, False, {}), ("both ways", 2, "bidirectional", "ish", False, True, {}),
                ("batch first", 2, "bidirectional", "ih", True, True, {}), ("options", 1, "forward", "ishc", False, True, {"options": True})):
            weights = {"W": uniform(directions, gates * size, inputs, low=-1, high=1), "R": uniform(directions, gates * size, size, low=-1, high=1)}
            if biased:
                weights["B"] = uniform(directions, 2 * gates * size, low=-1, high=1)
            options = "options" in more
            if options and kind == "LSTM":
                weights["P"] = uniform(directions, 3 * size, low=-1, high=1)
            mask = mask if kind == "LSTM" else mask.replace("c", "")
            x = uniform(*((batch, steps, inputs) if batch_first else (steps, batch, inputs)))
            state = (batch, directions, size) if batch_first else (directions, batch, size)
            operands = [x] + ([np.int32([4, 2])] if "s" in mask else []) + [uniform(*state) for k in "hc" if k in mask]
            attributes = {"input_mask": mask, "direction": direction, "batch_first": batch_first, "hidden_size": size}
            if options and kind == "GRU":
                attributes["linear_before_reset"] = True
            double = {k: w.astype(np.float64) for k, w in weights.items()}
            named = dict(zip(mask, operands))
            outs = layer(kind, directions, x.astype(np.float64), double, named.get("s"), named.get("h"), named.get("c"), direction == "reverse", options, batch_first)
            for letter, y in zip("ohc" if kind == "LSTM" else "oh", outs):
                cases.add(kind, operands, lambda *_, y=y: y, {**attributes, f"{kind.lower()}_group": "", "output_mask": letter}, weights, what=", ".join(filter(None, [what, letter])), kinds="f32")
            names = {"hidden_state_name": "h", "subgraph": "cell", **({"cell_state_name": "c"} if kind == "LSTM" else {})}
            cases.add(f"Stateful{kind}Wrapper", operands, lambda *_, y=outs[:3 if kind == "LSTM" else 2]: list(y), {**attributes, **names, "output_mask": "oh"}, weights, what=what, kinds="f32")


# --- attention --------------------------------------------------------------------------------------------------------------------------


def attention(cases):
    a, b, c = uniform(1, 2, 3, 4), uniform(1, 2, 4, 5), uniform(4, 5)
    cases.add("MatMul", [a, b], np.matmul)
    cases.add("MatMul", [a, b[:, :1]], np.matmul, what="broadcast")
    cases.add("MatMul", [a], np.matmul, None, {"constant": c}, what="constant")
    cases.add("MatMul", [uniform(1, 2, 5, 3)], lambda x, c: c @ x, {"is_const_first": True}, {"constant": c}, what="constant first")
    cases.add("MatMul", [uniform(1, 4, 3, 4), b], lambda a, b: np.matmul(a, np.tile(b, (1, 2, 1, 1))), {"repeat": [1, 2]}, what="repeat 1")
    cases.add("MatMul", [a, uniform(1, 6, 4, 2)], lambda a, b: np.matmul(np.tile(a, (1, 3, 1, 1)), b), {"repeat": [0, 3]}, what="repeat 0")
    masks(cases)
    x = uniform(1, 2, 3, 4)
    for past, more, kept, rest in ((0, {"max_cache_len": 5}, 0, 2), (2, {"max_cache_len": 8}, 2, 3), (5, {"is_sliding": True, "sliding_window": 3}, 2, 0)):
        cases.add("StatefulKVCacheWrapper", [x], lambda x, k=kept, r=rest: np.pad(x, ((0, 0), (0, 0), (k, r), (0, 0))), {"cache_name": "k0", "past_seqlen": past, **more}, what=f"past {past}", ulp=0)
    for length in (0, 2):
        cases.add("StatefulCausalConvCacheWrapper", [uniform(1, 1, 3, 4)], lambda x, k=length: np.pad(x, ((0, 0), (0, 0), (k, 0), (0, 0))), {"cache_name": "conv", "cache_len": length}, what=f"{length} frames", ulp=0)
    rope(cases)


def masks(cases):
    def causal(rows, columns, window=None):
        i, j = np.arange(rows)[:, None] + columns - rows, np.arange(columns)[None]
        return np.where((j <= i) & (True if window is None else j > i - window), 0.0, -10000.0)
    for past, window in ((0, None), (2, None), (0, 2), (3, 3)):
        more = {"is_sliding": True, "sliding_window": window} if window else {}
        x = uniform(1, 2, 3, 3 + past)
        cases.add("StatefulAttentionMaskWrapper", [x], lambda x, p=past, w=window: x + causal(3, 3 + p, w), {"past_seqlen": past, **more}, what=f"past {past}, window {window}", kinds="f32", tolerance="rtol 1e-6 atol 1e-3")
    cases.add("StatefulAttentionMaskWrapper", [uniform(1, 2, 3, 3)], lambda x: x, {"mask_type": "padding_mask"}, what="scores, padding", kinds="f32")
    keep = np.array([[1, 1, 0, 1]], np.float32)
    for kind in ("causal_mask", "padding_mask"):
        def bias(m, kind=kind):
            hidden = np.where(np.asarray(m).reshape(1, 1, 1, 4) != 0, 0.0, -10000.0)
            return np.minimum(hidden, causal(4, 4)) if kind == "causal_mask" else np.broadcast_to(hidden, (1, 1, 4, 4))
        cases.add("StatefulAttentionMaskWrapper", [keep], bias, {"mask_type": kind}, what=f"keep mask, {kind}", kinds="f32")
        cases.add("StatefulAttentionMaskWrapper", [keep.reshape(1, 1, 1, 4).astype(np.int32)], bias, {"mask_type": kind}, what=f"keep mask of integers, {kind}", kinds="f32")


def rope(cases):
    angle = uniform(1, 1, 6, 2)
    for kind in (0, 1):
        for what, tokens, wide, more in (("", 6, 4, {}), ("table longer", 3, 4, {"seqlen": 6}), ("partial", 3, 6, {"rotary_emb_dim": 4})):
            f = np.concatenate([angle, angle], 3) if kind == 0 else np.repeat(angle, 2, 3)
            cosine, sine, x = np.cos(f).astype(np.float32), np.sin(f).astype(np.float32), uniform(1, 2, tokens, wide)

            def turn(x, c, s, kind=kind):
                head, c, s = x[..., :4], c[:, :, :x.shape[2]], s[:, :, :x.shape[2]]
                other = np.concatenate([-head[..., 2:], head[..., :2]], 3) if kind == 0 else np.stack([-head[..., 1::2], head[..., 0::2]], 4).reshape(head.shape)
                return np.concatenate([head * c + other * s, x[..., 4:]], 3)
            cases.add("StatefulRoPEWrapper", [x, cosine, sine], turn, {"rope_type": kind, **more}, what=", ".join(filter(None, [f"type {kind}", what])), kinds="f32")


def constants(cases):
    """A constant without an input, added to one."""
    c, x = uniform(1, 2, 3, 1), uniform(1, 2, 3, 4)
    y = (c.astype(np.float64) + x).astype(np.float32)
    q, k = stored(c, grid(c)), grid(c)
    for kind, constant, typed in (("f32", c, twir.type_of(c)), ("s8", q, twir.type_of(q, k))):
        value = c if kind == "f32" else real(q, k)
        y = (value + x).astype(np.float32)
        result = twir.type_of(constant, None if kind == "f32" else k)
        cases.file.parts.append(f"""case "InputConstant, {kind}" oracle "{ORACLE}" rtol 1e-5 atol 1e-6
graph "g" {{
  input  %x : {twir.type_of(x)}
  const  %c : {typed} = {twir.data(constant)}
  %k : {result} = mobilint.InputConstant () {{constant=%c}}
  %y : {twir.type_of(y)} = mobilint.Adding (%x, %k)
  output %y
  output %k
}}
feed   %x = {twir.data(x)}
expect %y = {twir.data(y)}
expect %k = {twir.data(constant)}
""")


# --- what the document shows, and what is left of the attributes --------------------------------------------------------------------


def documents(cases):
    """The worked examples as printed, with the readings' corrections. Of the large ones a few rows or channels, in the same proportions."""
    x = uniform(1, 1, 5, 6)
    for order, view, axes, back in ((1, (1, 5, 3, 2), (0, 3, 1, 2), (0, 2, 3, 1)), (0, (1, 5, 2, 3), None, None)):
        scale, bias = uniform(3), uniform(3)

        def grouped(x, s, b, v=view, a=axes, r=back):
            y = x.reshape(v)
            y = normalised(y.transpose(a) if a else y, (1, 2), 1e-3) * s + b
            return (y.transpose(r) if r else y).reshape(x.shape)
        cases.add("InstanceNormalization", [x], grouped, {"num_groups": 2, "group_order": order, "epsilon": 0.001}, {"scale": scale, "bias": bias}, what=f"the document's, order {order}", tolerance="rtol 1e-4 atol 1e-5")
    for order in (0, 1):
        def view(x, o=order):
            return x.reshape(1, 2, 3, 4, 2).transpose((0, 1, 3, 2, 4) if o == 0 else (0, 3, 1, 2, 4)).reshape(1, 8, 3, 2)

        def revert(x, o=order):
            return (x.reshape(1, 2, 4, 3, 2).transpose(0, 1, 3, 2, 4) if o == 0 else x.reshape(1, 4, 2, 3, 2).transpose(0, 2, 3, 1, 4)).reshape(1, 2, 3, 8)
        cases.add("HeaderView", [uniform(1, 2, 3, 8)], view, {"num_heads": 4, "batch_order": order}, what=f"the document's, order {order}", ulp=0)
        cases.add("HeaderViewRevert", [uniform(1, 8, 3, 2)], revert, {"num_heads": 4, "batch_order": order}, what=f"the document's, order {order}", ulp=0)
    # 192 by 192 in 16 patches of 12, one channel of 64: here 16 by 12 patches of 3 by 2.
    image = uniform(1, 48, 24, 1)
    for order, f in ((0, lambda x: x.reshape(1, 16, 3, 12, 2, 1).transpose(0, 1, 3, 2, 4, 5).reshape(1, 192, 6, 1)), (1, lambda x: x.reshape(1, 16, 3, 12, 2, 1).transpose(0, 2, 4, 1, 3, 5).reshape(1, 6, 192, 1))):
        cases.add("OrderedPatchify", [image], f, {"h_kernel": 3, "w_kernel": 2, "order": order}, what=f"the document's, order {order}", ulp=0)
    # The readings' case that is not square: 24 by 30 with kernel (4, 10) is undone by order 2 with (10, 3).
    y = image[:, :24, :15].reshape(1, 24, 15, 1)
    y = np.concatenate([y, y + 1], 2)
    patches = y.reshape(1, 6, 4, 3, 10, 1).transpose(0, 2, 4, 1, 3, 5).reshape(1, 40, 18, 1)
    cases.add("OrderedPatchify", [patches], lambda _, y=y: y.astype(np.float64), {"h_kernel": 10, "w_kernel": 3, "order": 2}, what="order 2, not square", kinds="f32")
    # 8 heads against 32, the second operand transposed; fewer tokens and channels than 52 and 64.
    cases.add("MatMul", [uniform(1, 8, 3, 2), uniform(1, 32, 2, 3)], lambda a, b: np.matmul(np.tile(a, (1, 4, 1, 1)), b), {"repeat": [0, 4]}, what="the document's")


def rest(cases):
    x = uniform(1, 7, 8, 2)
    for kind, begin, end in (("max", (1, 2), (0, 1)), ("avg", (0, 1), (1, 2))):
        def f(x, kind=kind, b=begin, e=end):
            v = windows(x, (2, 3), (1, 2), (3, 2), b, e, -np.inf if kind == "max" else 0.0)
            return v.max((3, 4)) if kind == "max" else v.sum((3, 4)) / windows(np.ones_like(x), (2, 3), (1, 2), (3, 2), b, e, 0.0).sum((3, 4))
        cases.add("Pooling", [x], f, {"pool_type": kind, "pad_mode": "notset", **window_attributes((2, 3), (1, 2), (3, 2), begin, end)}, what=f"{kind}, dilation both ways")
    cases.add("Reshape", [uniform(1, 2, 3, 4)], lambda x: x.reshape(2, 12), {"new_shape": [2, 12], "allowzero": 1}, what="allowzero", ulp=0)
    w, b = uniform(3, 3, 2, 2, low=-1, high=1), uniform(3)
    cases.add("TransposeConvolution", [uniform(1, 4, 3, 2)], lambda x, w, b: transpose_convolve(x, w, b, (2, 1), (1, 2), (1, 0), (0, 1), (0, 0), 1),
              {"in_channels": 2, "out_channels": 3, "group_number": 1, **window_attributes((3, 2), (2, 1), (1, 2), (1, 0), (0, 1)), "padding_list": [1, 0, 0, 1]}, {"weight": w, "bias": b}, what="padding_list", by_axis=["weight"])
    for op, out, groups, kernel, stride, dilation, begin, end in (("Convolution", 4, 1, (2, 3), (3, 2), (2, 3), (3, 1), (2, 0)), ("GroupConvolution", 6, 2, (3, 2), (2, 3), (2, 2), (2, 3), (1, 2)),
                                                                  ("DepthwiseConvolution", 8, 4, (2, 3), (3, 2), (1, 2), (0, 3), (2, 1))):
        w, b = uniform(out, *kernel, 4 // groups, low=-1, high=1), uniform(out)
        cases.add(op, [uniform(1, 8, 9, 4)], lambda x, w, b, s=stride, d=dilation, p=begin, q=end, g=groups: convolve(x, w, b, s, d, p, q, g),
                  {"in_channels": 4, "out_channels": out, "group_number": groups, **window_attributes(kernel, stride, dilation, begin, end)}, {"weight": w, "bias": b}, what="every number its own", by_axis=["weight"])
    for mode in ("same_upper", "same_lower", "valid"):
        begin, end = {"same_upper": ((0, 0), (1, 1)), "same_lower": ((1, 1), (0, 0)), "valid": ((0, 0), (0, 0))}[mode]
        cases.add("Pooling", [uniform(1, 6, 4, 2)], lambda x, b=begin, e=end: windows(x, (2, 2), (1, 1), (1, 1), b, e, 0.0).sum((3, 4)) / windows(np.ones_like(x), (2, 2), (1, 1), (1, 1), b, e, 0.0).sum((3, 4)),
                  {"pool_type": "average", "pad_mode": mode, "h_kernel": 2, "w_kernel": 2, "h_stride": 1, "w_stride": 1, **({"north_padding": 0, "south_padding": 0, "west_padding": 0, "east_padding": 0} if mode == "valid" else {})}, what=f"average, {mode}")
    wired(cases)


def wired(cases):
    """Every set of operands that input_mask can name, and every result that output_mask can, of each layer; the document's "ihc" among them."""
    steps, batch, inputs, size = 3, 2, 2, 2
    for kind, gates, letters in (("LSTM", 4, "shc"), ("GRU", 3, "sh"), ("RNN", 1, "sh")):
        for pick in range(1 << len(letters)):
            mask = "i" + "".join(c for k, c in enumerate(letters) if pick >> k & 1)
            weights = {"W": uniform(1, gates * size, inputs, low=-1, high=1), "R": uniform(1, gates * size, size, low=-1, high=1)}
            x, held = uniform(steps, batch, inputs), {c: np.int32([3, 1]) if c == "s" else uniform(1, batch, size) for c in mask[1:]}
            outs = layer(kind, 1, x.astype(np.float64), {k: w.astype(np.float64) for k, w in weights.items()}, held.get("s"), held.get("h"), held.get("c"), False, False, False)
            names = {"hidden_state_name": "h", "subgraph": "", **({"cell_state_name": "c"} if kind == "LSTM" else {})}
            for output in ("o", "h", "c" if kind == "LSTM" else "oh")[:3 if mask == "i" or mask == "ihc" else 1]:
                cases.add(f"Stateful{kind}Wrapper", [x, *held.values()], lambda *_, y=outs[:3 if kind == "LSTM" else 2]: list(y), {"input_mask": mask, "hidden_size": size, **names, "output_mask": output}, weights, what=f"wired {mask}, {output}", kinds="f32")
            cases.add(kind, [x, *held.values()], lambda *_, y=outs[0]: y, {"input_mask": mask, "hidden_size": size, f"{kind.lower()}_group": "", "output_mask": "o"}, weights, what=f"wired {mask}", kinds="f32")


def main():
    cases = Cases("mobilint", "mobilint.py")
    unary(cases)
    binary(cases)
    cases.file.write(f"{FOLDER}/elementwise.txt")
    cases = Cases("mobilint", "mobilint.py")
    convolutions(cases)
    pooling(cases)
    padding(cases)
    cases.file.write(f"{FOLDER}/image.txt")
    for name, parts in (("norm", (normalisations, reductions)), ("move", (moves, constants, resizing)), ("recurrent", (recurrences,)), ("attention", (attention,)), ("rest", (documents, rest))):
        cases = Cases("mobilint", "mobilint.py")
        for part in parts:
            part(cases)
        cases.file.write(f"{FOLDER}/{name}.txt")


main()
