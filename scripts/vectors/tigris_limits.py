#!/usr/bin/env python3
"""src/import/foreign/tigris/limits.txt: what TiGrIS's document states as the limit of an operator, each at its limit
and, marked "beyond", behind it. By formulas in double precision; no kernel of ours takes part."""
import numpy as np

import twir
from foreign import ORACLE, grid, random, real, stored, uniform
from windows import convolve, resized, transpose_convolve, windows

FLOAT, LETTERS = "rtol 1e-5 atol 1e-5", "abcdefghi"


class Constant:
    """An operand that stands in the graph."""

    def __init__(self, array):
        self.array = array


class Limits:
    def __init__(self):
        self.file = twir.File("tigris_limits.py")

    def write_case(self, title, op, operands, quants, results, quant, attributes, tolerance):
        names = [f"%{LETTERS[i]}" for i in range(len(operands))]
        lines = [f'case "{title}" oracle "{ORACLE}"{" " + tolerance if tolerance else ""}', 'graph "g" {']
        for name, operand, q in zip(names, operands, quants):
            constant = isinstance(operand, Constant)
            array = operand.array if constant else operand
            lines.append(f"  {'const ' if constant else 'input '} {name} : {twir.type_of(array, q)}{' = ' + twir.data(array) if constant else ''}")
        outs = [f"%y{i or ''}" for i in range(len(results))]
        text = ", ".join(f"{k}={twir.written(v)}" for k, v in attributes.items())
        typed = ", ".join(f"{out} : {twir.type_of(y, quant)}" for out, y in zip(outs, results))
        lines.append(f"  {typed} = tigris.{op} ({', '.join(names)}){' {' + text + '}' if text else ''}")
        lines += [f"  output {out}" for out in outs] + ["}"]
        lines += [f"feed   {name} = {twir.data(operand)}" for name, operand in zip(names, operands) if not isinstance(operand, Constant)]
        lines += [f"expect {out} = {twir.data(y)}" for out, y in zip(outs, results)]
        self.file.parts.append("\n".join(lines) + "\n")

    def add(self, op, what, operands, f, attributes=None, kinds="f32 s8", same=False, quants=None, out=None, ulp=1):
        """operands: arrays, or Constants. same: one scale for all that is int8, and no rounding. quants, out: in place of
        those that fit the data."""
        arrays = [o.array if isinstance(o, Constant) else o for o in operands]
        for kind in kinds.split():
            held, scales, values = [], [], []
            for i, (operand, array) in enumerate(zip(operands, arrays)):
                q = None
                if kind == "s8" and array.dtype.kind == "f":
                    q = quants[i] if quants else grid(np.concatenate([a.ravel() for a in arrays if a.dtype.kind == "f"])) if same else grid(array)
                    array = stored(array, q)
                held.append(Constant(array) if isinstance(operand, Constant) else array)
                scales.append(q)
                values.append(real(array, q) if q else array.astype(np.float64) if array.dtype.kind == "f" else array)
            y = f(*values)
            ys = [np.asarray(v) for v in (y if isinstance(y, list) else [y])]
            quant = None
            if ys[0].dtype.kind == "f" and kind == "s8":
                quant = out or (next(q for q in scales if q) if same else grid(np.concatenate([v.ravel() for v in ys])))
                ys = [stored(v, quant) for v in ys]
            elif ys[0].dtype.kind == "f":
                ys = [v.astype(np.float32) for v in ys]
            elif ys[0].dtype.kind == "i" and ys[0].dtype != np.int8:
                ys = [v.astype(np.int32) for v in ys]
            exact = ys[0].dtype.kind in "b" or ys[0].dtype == np.int32 or same
            tolerance = "" if exact else f"ulp {ulp}" if kind == "s8" else FLOAT
            self.write_case(f"{op}, {what}, {kind}", op, held, scales, ys, quant, attributes or {}, tolerance)


# --- elementwise -------------------------------------------------------------------------------------------------------


def pointwise(limits):
    x = uniform(1, 5, 4)
    for op, f in (("Relu6", lambda x: np.clip(x, 0, 6)), ("Sigmoid", lambda x: 1 / (1 + np.exp(-x))), ("HardSwish", lambda x: x * np.clip(x + 3, 0, 6) / 6)):
        limits.add(op, "rank 3", [2 * x], f)
    limits.add("Clip", "no upper bound", [x], lambda x: np.maximum(x, 0.5), {"min": 0.5})
    limits.add("Elu", "rank 2, beyond", [uniform(3, 7)], lambda x: np.where(x > 0, x, 2 * np.expm1(x)), {"alpha": 2.0})
    # Requantisation far from 1: everything saturates, everything vanishes.
    for what, scale in (("results far beyond the scale", 1e-6), ("results far below the scale", 1e6)):
        quant, out = twir.Quant(0.25, 3), twir.Quant(scale, -5)
        y = uniform(1, 3, 5)
        limits.add("Abs", what, [y], np.abs, kinds="s8", quants=[quant], out=out)
        limits.add("SquaredDifference", what, [y, uniform(1, 3, 5)], lambda a, b: (a - b)**2, kinds="s8", quants=[quant, twir.Quant(0.125, -9)], out=out)
        limits.add("Div", what, [y, uniform(1, 3, 5, low=1, high=3)], np.divide, kinds="s8", quants=[quant, twir.Quant(0.125, -9)], out=out)
        limits.add("Sum", what, [y, uniform(1, 3, 5), uniform(1, 3, 5)], lambda *v: sum(v), kinds="s8", quants=[quant] * 3, out=out)
    quant = twir.Quant(0.05, -128)
    limits.add("Rsqrt", "least inputs", [np.float32([0.05, 0.1, 0.15, 1, 2, 12])], lambda x: 1 / np.sqrt(x), kinds="s8", quants=[quant], out=twir.Quant(4.5 / 255, -128))


BINARY = (("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Div", np.divide), ("SquaredDifference", lambda a, b: (a - b)**2), ("Max", np.maximum), ("Min", np.minimum))
FLOORS = (("FloorDiv", lambda a, b: np.floor(a / b)), ("FloorMod", lambda a, b: a - b * np.floor(a / b)))
COMPARISONS = (("Equal", np.equal), ("Less", np.less), ("LessOrEqual", np.less_equal), ("Greater", np.greater), ("GreaterOrEqual", np.greater_equal))


def between(shape, low=0.5, high=3.0):
    return uniform(*shape, low=low, high=high)


def binary(limits):
    """Each operand has the result's shape or broadcasts to it; a constant on either side: one number, one a channel, one an element."""
    for op, f in BINARY:
        limits.add(op, "both operands broadcast", [between((1, 3, 1, 4)), between((1, 1, 2, 4))], f)
        limits.add(op, "the first operand broadcasts", [between((1, 1, 1, 4)), between((1, 3, 2, 4))], f)
        limits.add(op, "rank 3", [between((1, 5, 4)), between((1, 5, 4))], f)
        limits.add(op, "rank 6 and batch, beyond", [between((2, 1, 2, 1, 3, 2)), between((1, 2, 1, 2, 3, 1))], f)
        for side in (0, 1):
            for what, shape in (("one number", ()), ("one an element", (1, 3, 2, 4))):
                x, c = between((1, 3, 2, 4)), Constant(between(shape))
                limits.add(op, f"constant operand {side}, {what}", [c, x] if side == 0 else [x, c], f)
        if op in ("Max", "Min"):
            limits.add(op, "one quantisation", [between((1, 3, 4)), between((1, 3, 4))], f, kinds="s8", same=True)
    for op, f in FLOORS:
        quants, out = [twir.Quant(0.25, 3), twir.Quant(0.25, 3)], twir.Quant(0.5, 0) if op == "FloorDiv" else twir.Quant(0.25, -20)

        def whole(*shape, low=2, high=12):
            return (random.integers(low, high, shape) * 0.25).astype(np.float32)
        for side in (0, 1):
            for what, shape in (("one number", ()), ("one a channel", (4,)), ("one an element", (1, 3, 2, 4))):
                x, c = whole(1, 3, 2, 4), Constant(np.asarray(whole(*shape)))
                limits.add(op, f"constant operand {side}, {what}", [c, x] if side == 0 else [x, c], f, quants=quants, out=out)
        limits.add(op, "both operands broadcast", [whole(1, 3, 1, 4, low=-12), whole(1, 1, 2, 4)], f, quants=quants, out=out)
        limits.add(op, "negative divisors", [whole(1, 3, 4, low=-12), whole(1, 3, 4, low=-12, high=-1)], f, quants=quants, out=out)
    for op, f in COMPARISONS:
        a, b = [(random.integers(-3, 4, s) * 0.5).astype(np.float32) for s in ((1, 3, 1, 4), (1, 1, 2, 4))]
        half = [twir.Quant(0.5, -3)] * 2
        limits.add(op, "both operands broadcast", [a, b], f, quants=half)
        for side in (0, 1):
            for what, c in (("one number", np.asarray(b[0, 0, 0, 0])), ("one a channel", b[0, 0, 0])):
                limits.add(op, f"constant operand {side}, {what}", [Constant(c), a] if side == 0 else [a, Constant(c)], f, quants=half)
        limits.add(op, "two scales", [a, b], f, kinds="s8", quants=[twir.Quant(0.5, -3), twir.Quant(0.25, 7)])
        limits.add(op, "a scale above 1, beyond", [4 * a, 4 * b], f, kinds="s8", quants=[twir.Quant(2, -3)] * 2)
    alpha = lambda a, b: np.where(a < 0, a * b, a)
    for what, shape in (("one number", ()), ("one a channel", (4,)), ("one an element", (1, 3, 2, 4))):
        limits.add("PRelu", f"constant alpha, {what}", [uniform(1, 3, 2, 4), Constant(between(shape, 0.1, 0.6))], alpha)
    limits.add("PRelu", "rank 5, beyond", [uniform(1, 2, 3, 2, 4), Constant(between((3, 1, 4), 0.1, 0.6))], alpha)


def logic(limits):
    def bools(*shape):
        return random.integers(0, 2, shape).astype(bool)
    for op, f in (("And", np.logical_and), ("Or", np.logical_or)):
        limits.add(op, "both operands broadcast", [bools(1, 3, 1, 4), bools(1, 1, 2, 4)], f, kinds="bool")
        for side in (0, 1):
            for what, shape in (("one value", ()), ("one a channel", (4,)), ("one an element", (1, 3, 2, 4))):
                x, c = bools(1, 3, 2, 4), Constant(bools(*shape))
                limits.add(op, f"constant operand {side}, {what}", [c, x] if side == 0 else [x, c], f, kinds="bool")
    limits.add("Not", "rank 6", [bools(1, 2, 1, 3, 2, 2)], np.logical_not, kinds="bool")
    for axis in range(3):
        limits.add("ReduceAll", f"rank 3, axis {axis}", [bools(2, 3, 2)], lambda x, a=axis: x.all(a, keepdims=True), {"axes": [axis]}, kinds="bool")
    limits.add("ReduceAll", "rank 4, two axes, beyond", [bools(1, 2, 2, 3)], lambda x: x.all((1, 3)), {"axes": [1, -1], "keepdims": False}, kinds="bool")
    c, a, b = bools(1, 3, 1, 2, 4), uniform(2, 2, 4), uniform(4)
    limits.add("Where", "rank 5", [c, a, b], np.where, kinds="s8", same=True)
    for what, operands in (("constant condition", [Constant(bools(3, 4)), uniform(2, 3, 4), uniform(2, 3, 4)]), ("first branch constant", [bools(2, 3, 4), Constant(uniform(4)), uniform(2, 3, 4)]),
                           ("second branch constant", [bools(2, 3, 4), uniform(2, 3, 4), Constant(uniform(1))]), ("both branches constant, beyond", [bools(2, 3, 4), Constant(uniform(4)), Constant(uniform(1))])):
        limits.add("Where", what, operands, np.where, same=True)
    limits.add("Where", "rank 6, beyond", [bools(1, 2, 1, 3, 1, 2), uniform(2, 1, 1, 3, 1, 1), uniform(2, 2)], np.where, same=True)
    limits.add("Where", "three scales, beyond", [bools(2, 3, 4), uniform(2, 3, 4), 2 * uniform(2, 3, 4)], np.where, kinds="s8")
    limits.add("Cast", "an encoding of its own", [bools(1, 3, 4)], lambda x: x.astype(np.float64), kinds="s8", out=twir.Quant(0.1, -7))
    for count in (2, 8):
        limits.add("Sum", f"{count} operands, one scale", [uniform(1, 3, 4) for _ in range(count)], lambda *v: sum(v), kinds="f32 s8", quants=[twir.Quant(0.025, 4)] * count)
    limits.add("Sum", "one operand, beyond", [uniform(1, 3, 4)], lambda x: x)
    limits.add("Sum", "scales and shapes of their own, beyond", [uniform(1, 3, 4), 2 * uniform(4), 3 * uniform(2, 1, 1)], lambda *v: sum(v))


# --- windows and matrices ------------------------------------------------------------------------------------------------


def weighted(limits, op, what, x, w, b, f, attributes, axis):
    """As a layer: weights in int8 have a scale for each index of `axis`."""
    scales = np.float32(np.abs(w).max(tuple(k for k in range(w.ndim) if k != axis)) / 127)
    along = scales.reshape([-1 if k == axis else 1 for k in range(w.ndim)])
    q = np.clip(np.rint(w / along), -127, 127).astype(np.int8)
    doubles = [x.astype(np.float64), w.astype(np.float64), b.astype(np.float64)]
    limits.write_case(f"{op}, {what}, f32", op, [x, Constant(w), Constant(b)], [None] * 3, [f(*doubles).astype(np.float32)], None, attributes, FLOAT)
    xq = grid(x)
    y = f(real(stored(x, xq), xq), q * along.astype(np.float64), doubles[2])
    limits.write_case(f"{op}, {what}, s8", op, [stored(x, xq), Constant(q), Constant(b)], [xq, twir.QuantByAxis(scales, [0] * len(scales), axis), None], [stored(y, grid(y))], grid(y), attributes, "ulp 1")


def layers(limits):
    def depthwise(x, w, b, s, d, p, q):
        c = x.shape[3]
        return convolve(x, w.transpose(2, 0, 1)[..., None], b, s, d, p, q, c)
    for what, shape, w, s, d, p, q in (("multiplier 1", (1, 5, 5, 3), (3, 3, 3), (1, 1), (1, 1), (1, 1), (1, 1)), ("multiplier 4, dilation", (1, 6, 7, 2), (2, 3, 8), (2, 1), (2, 3), (1, 0), (0, 2)),
                                       ("batch 2, beyond", (2, 4, 4, 3), (2, 2, 6), (2, 2), (1, 1), (0, 0), (0, 0)), ("kernel beyond the image", (1, 2, 2, 3), (5, 4, 3), (1, 1), (1, 1), (2, 2), (2, 1))):
        weighted(limits, "DepthwiseConv", what, uniform(*shape), uniform(*w, low=-1, high=1), uniform(w[2]), lambda x, w, b, s=s, d=d, p=p, q=q: depthwise(x, w, b, s, d, p, q),
                 {"stride": list(s), "dilation": list(d), "pad_begin": list(p), "pad_end": list(q)}, 2)
    for what, shape, w, s, d, p, q, groups in (("1x1", (1, 4, 3, 5), (6, 1, 1, 5), (1, 1), (1, 1), (0, 0), (0, 0), 1), ("as many groups as channels", (1, 4, 4, 4), (8, 3, 3, 1), (1, 1), (1, 1), (1, 1), (1, 1), 4),
                                               ("stride beyond the kernel, dilation", (1, 9, 8, 2), (3, 2, 2, 2), (3, 4), (3, 2), (0, 1), (2, 0), 1), ("batch 2, beyond", (2, 4, 4, 2), (3, 2, 2, 2), (1, 1), (1, 1), (0, 0), (0, 0), 1)):
        weighted(limits, "Conv", what, uniform(*shape), uniform(*w, low=-1, high=1), uniform(w[0]), lambda x, w, b, s=s, d=d, p=p, q=q, g=groups: convolve(x, w, b, s, d, p, q, g),
                 {"stride": list(s), "dilation": list(d), "pad_begin": list(p), "pad_end": list(q), "group": groups}, 0)
    for what, shape, w, s, d, p, q, extra, groups in (("2 groups, output_pad", (1, 3, 4, 4), (6, 3, 2, 2), (2, 3), (1, 1), (1, 0), (0, 1), (1, 2), 2), ("dilation", (1, 3, 3, 2), (3, 2, 3, 2), (1, 2), (2, 2), (1, 1), (1, 1), (0, 0), 1)):
        weighted(limits, "ConvTranspose", what, uniform(*shape), uniform(*w, low=-1, high=1), uniform(w[0]),
                 lambda x, w, b, s=s, d=d, p=p, q=q, e=extra, g=groups: transpose_convolve(x, w, b, s, d, p, q, e, g),
                 {"stride": list(s), "dilation": list(d), "pad_begin": list(p), "pad_end": list(q), "output_pad": list(extra), "group": groups}, 0)
    for what, shape, w, s, d, p, q, groups in (("stride, dilation and pads", (1, 11, 3), (4, 3, 3), 2, 3, 2, 4, 1), ("2 groups, beyond", (1, 8, 4), (6, 3, 2), 1, 1, 1, 1, 2)):
        weighted(limits, "Conv1D", what, uniform(*shape), uniform(*w, low=-1, high=1), uniform(w[0]),
                 lambda x, w, b, s=s, d=d, p=p, q=q, g=groups: convolve(x[:, None], w[:, None], b, (1, s), (1, d), (0, p), (0, q), g)[:, 0], {"stride": [s], "dilation": [d], "pad_begin": [p], "pad_end": [q], "group": groups}, 0)
    for axis in (2, 1):
        axes = tuple(range(axis, 4))
        x, s, b = uniform(1, 3, 2, 4), uniform(*(1, 3, 2, 4)[axis:]), uniform(*(1, 3, 2, 4)[axis:])

        def normalised(x, s, b, a=axes):
            return (x - x.mean(a, keepdims=True)) / np.sqrt(x.var(a, keepdims=True) + 1e-5) * s + b
        limits.write_case(f"LayerNormalization, from axis {axis}, beyond, f32", "LayerNormalization", [x, Constant(s), Constant(b)], [None] * 3, [normalised(x.astype(np.float64), s, b).astype(np.float32)], None, {"axis": axis}, "rtol 1e-4 atol 1e-5")
        quant = grid(x)
        y = normalised(real(stored(x, quant), quant), s.astype(np.float64), b)
        limits.write_case(f"LayerNormalization, from axis {axis}, beyond, s8", "LayerNormalization", [stored(x, quant), Constant(s), Constant(b)], [quant, None, None], [stored(y, grid(y))], grid(y), {"axis": axis}, "ulp 1")


def pools(limits):
    x = uniform(1, 7, 6, 3)
    for what, kernel, stride, dilation, begin, end, ceil in (("explicit padding, floor", (3, 2), (2, 2), (1, 1), (1, 1), (0, 1), False), ("the whole image", (7, 6), (1, 1), (1, 1), (0, 0), (0, 0), False),
                                                             ("ceil, beyond", (3, 3), (2, 2), (1, 1), (0, 1), (0, 0), True), ("dilation, beyond", (2, 3), (1, 2), (3, 2), (1, 0), (1, 2), False)):
        attributes = {"kernel": list(kernel), "stride": list(stride), "dilation": list(dilation), "pad_begin": list(begin), "pad_end": list(end), "ceil": ceil}
        arguments = (kernel, stride, dilation, begin, end)

        def average(x, a=arguments, ceil=ceil):
            return windows(x, *a, 0.0, ceil).sum((3, 4)) / windows(np.ones_like(x), *a, 0.0, ceil).sum((3, 4))
        limits.add("MaxPool", what, [x], lambda x, a=arguments, c=ceil: windows(x, *a, -np.inf, c).max((3, 4)), attributes, same=True)
        limits.add("AveragePool", what, [x], average, attributes)
        limits.add("L2Pool", what, [x], lambda x, f=average: np.sqrt(f(x * x)), attributes)


# --- reductions and indices ------------------------------------------------------------------------------------------------


def reductions(limits):
    x, image = uniform(2, 5, 4), uniform(1, 4, 3, 5)
    for op, f in (("ReduceMean", np.mean), ("ReduceMax", np.max), ("ReduceMin", np.min), ("ReduceSum", np.sum)):
        same = op in ("ReduceMax", "ReduceMin")
        for axis in range(3):
            limits.add(op, f"rank 3, axis {axis}", [x], lambda x, a=axis: f(x, a, keepdims=True), {"axes": [axis]}, same=same)
        limits.add(op, "image", [image], lambda x: f(x, (1, 2), keepdims=True), {"axes": [1, 2]}, same=same)
        limits.add(op, "rank 6, all axes, beyond", [uniform(1, 2, 1, 3, 2, 2)], lambda x: np.asarray(f(x)), {"axes": [], "keepdims": False}, same=same)
    limits.add("ReduceSum", "4096 greatest", [np.full((1, 4096, 2), 127, np.float32)], lambda x: x.sum(1, keepdims=True), {"axes": [1]}, quants=[twir.Quant(1, 0)], out=twir.Quant(4096, 0))
    for axis in (0, 1, 2):
        for exclusive in (False, True):
            for reverse in (False, True):
                def cumulative(x, a=axis, e=exclusive, r=reverse):
                    x = np.flip(x, a) if r else x
                    y = np.cumsum(x, a) - (x if e else 0)
                    return np.flip(y, a) if r else y
                limits.add("CumSum", f"rank 3, axis {axis}{', exclusive' * exclusive}{', reverse' * reverse}", [x], cumulative, {"axis": axis, "exclusive": exclusive, "reverse": reverse}, quants=[twir.Quant(3 / 127, 0)])
    limits.add("CumSum", "rank 5, axis -2, beyond", [uniform(1, 2, 2, 4, 2)], lambda x: np.cumsum(x, -2), {"axis": -2})
    for op, f in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
        for rank in range(1, 7):
            tied = random.integers(-2, 3, (2, 3, 2, 4, 2, 3)[-rank:]).astype(np.float32)
            for axis in sorted({0, rank - 1, rank // 2}):
                limits.add(op, f"rank {rank}, axis {axis}", [tied], lambda x, a=axis: f(x, a), {"axis": axis, "keepdims": False}, quants=[twir.Quant(0.5, 1)])


def indices(limits):
    x, table = uniform(1, 3, 4, 2), uniform(5, 3)
    at, pairs = Constant(np.int32([3, 0, 3])), Constant(np.int32([[0, 2, 1], [0, 0, 3]]))
    limits.add("Gather", "constant indices", [x, at], lambda x, i: np.take(x, i, 2), {"axis": 2}, same=True)
    limits.add("Gather", "indices of rank 2", [x, Constant(np.int32([[1, 0], [2, 2]]))], lambda x, i: np.take(x, i, 1), {"axis": 1}, same=True)
    limits.add("Gather", "in batches, beyond", [uniform(2, 4, 3), np.int32([[3, 1], [0, 2]])], lambda x, i: np.stack([x[n][i[n]] for n in range(2)]), {"axis": 1, "batch_dims": 1}, same=True)
    limits.add("GatherND", "constant indices", [x, pairs], lambda x, i: x[tuple(i.T)], same=True)
    limits.add("GatherND", "in batches, beyond", [uniform(2, 4, 3), np.int32([[[3], [1]], [[0], [2]]])], lambda x, i: np.stack([x[n][i[n, :, 0]] for n in range(2)]), {"batch_dims": 1}, same=True)
    limits.add("EmbeddingLookup", "constant indices", [Constant(np.int32([4, 0, 4])), table], lambda i, t: t[i], same=True)
    limits.add("EmbeddingLookup", "constant table", [np.int32([4, 0, 4]), Constant(table)], lambda i, t: t[i], same=True)
    for what, bound in (("constant bounds", Constant(np.int32([0, 1, 9]))), ("bounds clamped, beyond", np.int32([-4, 7, 1]))):
        def update(x, u, at):
            y, begin = x.copy(), [min(max(int(b), 0), n - m) for b, n, m in zip(at, x.shape, u.shape)]
            y[tuple(slice(b, b + m) for b, m in zip(begin, u.shape))] = u
            return y
        limits.add("DynamicUpdateSlice", what, [uniform(1, 5, 4), uniform(1, 2, 3), bound], update, same=True)
    limits.add("StridedSlice", "rank 6", [uniform(1, 2, 3, 2, 4, 3)], lambda x: x[:, ::-1, 1:, :1, 3:0:-2, -2:], {"begin": [0, 1, 1, 0, 3, -2], "end": [1, -9, 3, 1, 0, 3], "strides": [1, -1, 1, 1, -2, 1]}, same=True)
    limits.add("ReverseV2", "rank 5, every axis", [uniform(1, 2, 3, 2, 2)], lambda x: x[:, ::-1, ::-1, ::-1, ::-1], {"axes": [1, 2, 3, 4]}, same=True)
    for mode in ("reflect", "symmetric"):
        most = 3 if mode == "reflect" else 4
        limits.add("MirrorPad", f"{mode}, as far as it goes", [uniform(1, 4, 2)], lambda x, m=mode, n=most: np.pad(x, ((0, 0), (n, n), (0, 0)), m), {"before": [0, most, 0], "after": [0, most, 0], "mode": mode}, same=True)


def moves(limits):
    a, b = uniform(1, 3, 4, 2), uniform(1, 3, 4, 2)
    for axis in range(4):
        limits.add("Concat", f"rank 4, axis {axis}{', beyond' * (axis == 0)}", [a, b], lambda a, b, x=axis: np.concatenate([a, b], x), {"axis": axis}, same=True)
    for axis in range(3):
        limits.add("Concat", f"rank 3, axis {axis}{', beyond' * (axis == 0)}", [a[0], b[0]], lambda a, b, x=axis: np.concatenate([a, b], x), {"axis": axis}, same=True)
    limits.add("Concat", "leading constant", [Constant(a), b], lambda a, b: np.concatenate([a, b], 3), {"axis": 3}, same=True)
    limits.add("Concat", "constants elsewhere, beyond", [a, Constant(b), b, Constant(a)], lambda *v: np.concatenate(v, 2), {"axis": 2}, same=True)
    limits.add("Pad", "rank 3, a value", [a[0]], lambda x: np.pad(x, ((1, 0), (0, 2), (3, 1)), constant_values=-0.75), {"before": [1, 0, 3], "after": [0, 2, 1], "value": -0.75}, same=False)
    for axis in range(3):
        extent = (4, 2, 6)[axis]
        limits.add("Split", f"axis {axis}", [uniform(4, 2, 6)], lambda x, a=axis: np.split(x, 2, a), {"axis": axis}, same=True)
        limits.add("Split", f"axis {axis}, parts of their own", [uniform(4, 2, 6)], lambda x, a=axis, e=extent: np.split(x, [1], a), {"axis": axis, "split": [1, extent - 1]}, same=True)
    for perm in ((1, 0), (0, 2, 1), (2, 0, 1), (0, 3, 1, 2), (0, 2, 3, 1), (4, 0, 3, 1, 2), (5, 4, 3, 2, 1, 0)):
        limits.add("Transpose", f"perm {','.join(map(str, perm))}", [uniform(*(2, 3, 4, 2, 3, 2)[:len(perm)])], lambda x, p=perm: x.transpose(p), {"perm": list(perm)}, same=True)
    x = uniform(1, 3, 5, 2)
    for op, more in (("Resize", {}), ("Resize", {"coordinates": "half_pixel"}), ("Resize", {"coordinates": "align_corners", "rounding": "round_prefer_ceil"}), ("ResizeLinear", {}), ("ResizeLinear", {"coordinates": "asymmetric"}),
                     ("ResizeLinear", {"coordinates": "align_corners"})):
        for what, size, form in (("up, scale", (6, 10), {"scale": [1.0, 2.0, 2.0, 1.0]}), ("down", (2, 3), {"size": [1, 2, 3, 2]})):
            def resize(x, o=op, m=more, s=size):
                return resized(x, s, o == "ResizeLinear", m.get("coordinates", "half_pixel" if o == "ResizeLinear" else "asymmetric"), m.get("rounding", "floor"))
            same = op == "Resize"
            quant = grid(x)
            limits.add(op, ", ".join([what, *more.values()]), [x], resize, {**form, **more}, same=same, quants=[quant], out=quant)


def softmaxes(limits):
    def softmax(x, axis):
        e = np.exp(x - x.max(axis, keepdims=True))
        return e / e.sum(axis, keepdims=True)
    for rank in (2, 3):
        limits.add("Softmax", f"rank {rank}, final axis", [uniform(*(3, 4, 5)[-rank:])], lambda x: softmax(x, -1), out=twir.Quant(1 / 256, -128))
    x, fixed = uniform(1, 3, 4, 5), twir.Quant(1 / 16, 127)
    limits.add("LogSoftmax", "final axis", [x], lambda x: np.log(softmax(x, -1)), {"axis": 3}, out=fixed)
    limits.add("LogSoftmax", "another axis, beyond", [x], lambda x: np.log(softmax(x, 1)), {"axis": 1}, out=fixed)
    limits.add("LogSoftmax", "a scale of its own, beyond", [x], lambda x: np.log(softmax(x, -1)), kinds="s8")
    length = lambda x, axis: x / np.sqrt((x * x).sum(axis, keepdims=True))
    limits.add("L2Normalization", "final axis", [x], lambda x: length(x, -1), {"axis": -1}, out=twir.Quant(1 / 128, 0))
    limits.add("L2Normalization", "another axis, beyond", [x], lambda x: length(x, 1), {"axis": 1}, out=twir.Quant(1 / 128, 0))


def main():
    limits = Limits()
    for part in (pointwise, binary, logic, layers, pools, reductions, indices, moves, softmaxes):
        part(limits)
    limits.file.write("src/import/foreign/tigris/limits.txt")


main()
