#!/usr/bin/env python3
"""src/import/foreign/tigris/tflite.txt: int8 of the TiGrIS operators that TensorFlow Lite Micro has too, as its reference
kernels compute them, to the bit. Scales and zero points differ between operands and result wherever the operator allows it."""
import numpy as np

import tflm
import twir
from tflm import schema

random = np.random.default_rng(17)
Q, OUT = twir.Quant(0.0371, -7), twir.Quant(0.0293, 11)
SAME, VALID = schema.Padding.SAME, schema.Padding.VALID
REFLECT, SYMMETRIC = 0, 1


def options(kind, **fields):
    made = getattr(schema, kind + "T")()
    for name, value in fields.items():
        setattr(made, name, value)
    return made, kind


def s8(*shape, low=-128, high=127):
    return random.integers(low, high + 1, shape).astype(np.int8)


class Kernels:
    def __init__(self):
        self.file = twir.File("tigris_tflm.py")

    def add(self, op, builtin, inputs, out_shape, attributes=None, more=None, fixed=(), quants=None, out=OUT, out_dtype="int8", extra=(), what="", order=None, held=None):
        """inputs: TFLite's; fixed: indices of constants; extra: (array, quant) of constants that the TiGrIS operator has as
        attributes. order: which inputs the TiGrIS operator takes. held: (array, quant) of a constant that it has in another form, by index."""
        quants = quants or [Q if x.dtype == np.int8 else None for x in inputs]
        operands = list(inputs) + [a for a, _ in extra]
        scales = list(quants) + [q for _, q in extra]
        constants = list(fixed) + list(range(len(inputs), len(operands)))
        y = np.asarray(tflm.run(builtin, operands, scales, out_dtype, out if out_dtype == "int8" else None, out_shape, more, constants)).reshape(out_shape)
        names = "abcdefghi"
        lines = [f'case "{op}, {what + ", " if what else ""}to the bit, s8" oracle "{tflm.VERSION}"', 'graph "g" {']
        order = order or range(len(inputs))
        for i in order:
            array, quant = (held or {}).get(i, (inputs[i], quants[i]))
            lines.append(f"  {'const ' if i in fixed else 'input '} %{names[i]} : {twir.type_of(array, quant)}{' = ' + twir.data(array) if i in fixed else ''}")
        text = ", ".join(f"{k}={twir.written(v)}" for k, v in (attributes or {}).items())
        lines += [f"  %y : {twir.type_of(y, out if out_dtype == 'int8' else None)} = tigris.{op} ({', '.join('%' + names[i] for i in order)}){' {' + text + '}' if text else ''}", "  output %y", "}"]
        lines += [f"feed   %{names[i]} = {twir.data(inputs[i])}" for i in order if i not in fixed] + [f"expect %y = {twir.data(y)}\n"]
        self.file.parts.append("\n".join(lines))


def elementwise(k):
    x = s8(1, 4, 5, 6)
    for op, builtin, quant, out in (("Relu", "RELU", Q, OUT), ("Relu6", "RELU6", Q, Q), ("Sigmoid", "LOGISTIC", Q, twir.Quant(1 / 256, -128)), ("Tanh", "TANH", Q, twir.Quant(1 / 128, 0)), ("HardSwish", "HARD_SWISH", Q, OUT),
                                    ("Abs", "ABS", Q, OUT), ("Elu", "ELU", Q, OUT)):
        k.add(op, builtin, [x], x.shape, quants=[quant], out=out)
    k.add("LeakyRelu", "LEAKY_RELU", [x], x.shape, {"alpha": 0.25}, options("LeakyReluOptions", alpha=0.25))
    k.add("Rsqrt", "RSQRT", [s8(1, 4, 5, low=-100)], (1, 4, 5), quants=[twir.Quant(0.02, -128)], out=twir.Quant(0.0109, -120))
    k.add("PRelu", "PRELU", [x, s8(1, 1, 6)], x.shape, fixed=[1], quants=[Q, twir.Quant(0.0051, 3)])
    for rank, beta in ((2, 1.0), (4, 1.0)):
        k.add("Softmax", "SOFTMAX", [s8(*(1, 3, 4, 7)[-rank:])], (1, 3, 4, 7)[-rank:], more=options("SoftmaxOptions", beta=beta), out=twir.Quant(1 / 256, -128), what=f"rank {rank}")
    k.add("LogSoftmax", "LOG_SOFTMAX", [s8(3, 9)], (3, 9), out=twir.Quant(1 / 16, 127))
    k.add("L2Normalization", "L2_NORMALIZATION", [s8(1, 3, 3, 8)], (1, 3, 3, 8), out=twir.Quant(1 / 128, 0))


def binary(k):
    a, b, other = s8(1, 4, 5, 6), s8(1, 4, 5, 6), twir.Quant(0.0213, 19)
    for op, builtin, kind in (("Add", "ADD", "AddOptions"), ("Sub", "SUB", "SubOptions"), ("Mul", "MUL", "MulOptions"), ("SquaredDifference", "SQUARED_DIFFERENCE", "SquaredDifferenceOptions"), ("Div", "DIV", "DivOptions")):
        low = 20 if op == "Div" else -128
        for what, second, fixed in (("", s8(1, 4, 5, 6, low=low), []), ("broadcast", s8(1, 1, 5, 1, low=low), []), ("a constant", s8(6, low=low), [1])):
            k.add(op, builtin, [a, second], a.shape, more=options(kind), fixed=fixed, quants=[Q, other], what=what)
    for op, builtin in (("Max", "MAXIMUM"), ("Min", "MINIMUM")):
        k.add(op, builtin, [a, b], a.shape, more=options("MaximumMinimumOptions"), out=Q)
    for op, builtin in (("Equal", "EQUAL"), ("Less", "LESS"), ("LessOrEqual", "LESS_EQUAL"), ("Greater", "GREATER"), ("GreaterOrEqual", "GREATER_EQUAL")):
        k.add(op, builtin, [s8(1, 6, 7, low=-9, high=9), s8(1, 6, 7, low=-9, high=9)], (1, 6, 7), out_dtype="bool", what="one scale")
        k.add(op, builtin, [a, b], a.shape, out_dtype="bool", quants=[Q, other], what="two scales")
    for count in (2, 5):  # zero point 0: the reference counts another one time too few
        k.add("Sum", "ADD_N", [s8(1, 4, 6) for _ in range(count)], (1, 4, 6), more=options("AddNOptions"), quants=[twir.Quant(0.0371, 0)] * count, what=f"{count} operands")
    k.add("Where", "SELECT_V2", [random.integers(0, 2, (1, 4, 5, 6)).astype(bool), a, b], a.shape, quants=[None, Q, Q], out=Q)


def layers(k):
    def bias(count, weight):
        scales = np.float32(Q.scale) * np.float32(weight.scales)
        return random.integers(-4000, 4000, count).astype(np.int32), twir.QuantByAxis(scales, [0] * count, 0)
    for what, x, w, stride, dilation in (("3x3", (1, 6, 7, 4), (5, 3, 3, 4), (1, 1), (1, 1)), ("1x1", (1, 4, 5, 8), (6, 1, 1, 8), (1, 1), (1, 1)), ("stride", (1, 9, 8, 3), (4, 3, 2, 3), (2, 3), (1, 1)),
                                         ("dilation", (1, 9, 8, 3), (4, 3, 3, 3), (1, 1), (2, 3)), ("2 groups", (1, 5, 5, 4), (6, 3, 3, 2), (1, 1), (1, 1))):
        scales = twir.QuantByAxis(random.uniform(0.002, 0.02, w[0]), [0] * w[0], 0)
        b, bq = bias(w[0], scales)
        size = [(x[1 + i] - dilation[i] * (w[1 + i] - 1) - 1) // stride[i] + 1 for i in range(2)]
        k.add("Conv", "CONV_2D", [s8(*x), s8(*w, low=-127), b], (1, *size, w[0]), {"stride": list(stride), "dilation": list(dilation), "group": x[3] // w[3]},
              options("Conv2DOptions", padding=VALID, strideH=stride[0], strideW=stride[1], dilationHFactor=dilation[0], dilationWFactor=dilation[1]), [1, 2], [Q, scales, bq], twir.Quant(0.31, 5), what=what)
    for what, c, multiplier, stride, dilation in (("multiplier 1", 5, 1, (1, 1), (1, 1)), ("multiplier 3", 2, 3, (2, 2), (1, 1)), ("dilation", 4, 1, (1, 1), (2, 2))):
        n = c * multiplier
        w, scales = s8(1, 3, 3, n, low=-127), twir.QuantByAxis(random.uniform(0.002, 0.02, n), [0] * n, 3)
        b, bq = bias(n, scales)
        size = [(d - dilation[i] * 2 - 1) // stride[i] + 1 for i, d in enumerate((8, 7))]
        k.add("DepthwiseConv", "DEPTHWISE_CONV_2D", [s8(1, 8, 7, c), w, b], (1, *size, n), {"stride": list(stride), "dilation": list(dilation)},
              options("DepthwiseConv2DOptions", padding=VALID, strideH=stride[0], strideW=stride[1], dilationHFactor=dilation[0], dilationWFactor=dilation[1], depthMultiplier=multiplier), [1, 2], [Q, scales, bq], twir.Quant(0.19, 5),
              what=what, held={1: (w[0], twir.QuantByAxis(scales.scales, scales.zeros, 2))})
    w, scales = s8(4, 3, 2, 3, low=-127), twir.QuantByAxis(random.uniform(0.002, 0.02, 4), [0] * 4, 0)
    b, bq = bias(4, scales)
    k.add("ConvTranspose", "TRANSPOSE_CONV", [np.int32([1, 9, 8, 4]), w, s8(1, 4, 4, 3), b], (1, 9, 8, 4), {"stride": [2, 2]}, options("TransposeConvOptions", padding=VALID, strideH=2, strideW=2), [0, 1, 3], [None, scales, Q, bq], twir.Quant(0.19, 5),
          order=[2, 1, 3])
    w = s8(5, 7, low=-127)
    k.add("Gemm", "FULLY_CONNECTED", [s8(2, 7), w, random.integers(-4000, 4000, 5).astype(np.int32)], (2, 5), {"transB": True}, options("FullyConnectedOptions"), [1, 2], [Q, twir.Quant(0.011, 0), twir.Quant(float(np.float32(Q.scale) * np.float32(0.011)), 0)], twir.Quant(0.13, 5))
    k.add("MatMul", "BATCH_MATMUL", [s8(2, 3, 6), s8(2, 6, 5)], (2, 3, 5), None, options("BatchMatMulOptions", adjX=False, adjY=False), quants=[Q, twir.Quant(0.017, 4)], out=twir.Quant(0.05, 5))
    k.add("MatMul", "BATCH_MATMUL", [s8(2, 3, 6), s8(2, 5, 6)], (2, 3, 5), {"transpose_b": True}, options("BatchMatMulOptions", adjX=False, adjY=True), quants=[Q, twir.Quant(0.017, 4)], out=twir.Quant(0.05, 5), what="transpose_b")
    x = s8(1, 8, 7, 5)
    for op, builtin in (("MaxPool", "MAX_POOL_2D"), ("AveragePool", "AVERAGE_POOL_2D")):
        for what, padding, size, begin, end in (("no padding", VALID, (3, 3), (0, 0), (0, 0)), ("padding", SAME, (4, 4), (0, 1), (1, 1))):
            k.add(op, builtin, [x], (1, *size, 5), {"kernel": [3, 3], "stride": [2, 2], "pad_begin": list(begin), "pad_end": list(end)}, options("Pool2DOptions", padding=padding, strideH=2, strideW=2, filterHeight=3, filterWidth=3), out=Q, what=what)


def reductions(k):
    x = s8(1, 6, 5, 4)
    for op, builtin, out in (("ReduceMean", "MEAN", OUT), ("ReduceSum", "SUM", twir.Quant(0.31, 5)), ("ReduceMax", "REDUCE_MAX", Q), ("ReduceMin", "REDUCE_MIN", Q)):
        for axes in ((1,), (1, 2), (3,)):
            shape = tuple(1 if i in axes else d for i, d in enumerate(x.shape))
            k.add(op, builtin, [x], shape, {"axes": list(axes)}, options("ReducerOptions", keepDims=True), extra=[(np.int32(axes), None)], out=out, what=f"axes {','.join(map(str, axes))}")
    for op, builtin, out in (("GlobalAveragePool", "MEAN", OUT), ("GlobalMaxPool", "REDUCE_MAX", Q)):
        k.add(op, builtin, [x], (1, 1, 1, 4), None, options("ReducerOptions", keepDims=True), extra=[(np.int32([1, 2]), None)], out=out)
    k.add("ReduceAll", "REDUCE_ALL", [random.integers(0, 4, (1, 4, 5)).astype(bool)], (1, 1, 5), {"axes": [1]}, options("ReducerOptions", keepDims=True), extra=[(np.int32([1]), None)], out_dtype="bool")
    for exclusive in (False, True):
        for reverse in (False, True):
            k.add("CumSum", "CUMSUM", [s8(1, 6, 5, low=-30, high=30)], (1, 6, 5), {"axis": 1, "exclusive": exclusive, "reverse": reverse}, options("CumsumOptions", exclusive=exclusive, reverse=reverse), extra=[(np.int32([1]), None)],
                  quants=[twir.Quant(0.0371, 0)], out=twir.Quant(0.0371, 0), what=f"exclusive {exclusive}, reverse {reverse}")
    for op, builtin, kind in (("ArgMax", "ARG_MAX", "ArgMaxOptions"), ("ArgMin", "ARG_MIN", "ArgMinOptions")):
        k.add(op, builtin, [s8(1, 6, 5, low=-3, high=3)], (1, 6), {"axis": 2, "keepdims": False}, options(kind, outputType=schema.TensorType.INT32), extra=[(np.int32(2), None)], out_dtype="int32")


def moves(k):
    x = s8(1, 4, 5, 3)
    k.add("Reshape", "RESHAPE", [x], (1, 10, 6), {"shape": [1, 10, 6]}, options("ReshapeOptions", newShape=[1, 10, 6]), extra=[(np.int32([1, 10, 6]), None)], out=Q)
    k.add("Transpose", "TRANSPOSE", [x], (1, 3, 4, 5), {"perm": [0, 3, 1, 2]}, options("TransposeOptions"), extra=[(np.int32([0, 3, 1, 2]), None)], out=Q)
    k.add("Concat", "CONCATENATION", [x, s8(1, 4, 5, 2)], (1, 4, 5, 5), {"axis": 3}, options("ConcatenationOptions", axis=3), out=Q)
    k.add("Pad", "PAD", [x], (1, 7, 6, 4), {"before": [0, 1, 0, 1], "after": [0, 2, 1, 0]}, options("PadOptions"), extra=[(np.int32([[0, 0], [1, 2], [0, 1], [1, 0]]), None)], out=Q)
    for mode, name in ((REFLECT, "reflect"), (SYMMETRIC, "symmetric")):
        k.add("MirrorPad", "MIRROR_PAD", [x], (1, 7, 6, 3), {"before": [0, 1, 0, 0], "after": [0, 2, 1, 0], "mode": name}, options("MirrorPadOptions", mode=mode), extra=[(np.int32([[0, 0], [1, 2], [0, 1], [0, 0]]), None)], out=Q, what=name)
    k.add("StridedSlice", "STRIDED_SLICE", [x], (1, 2, 2, 3), {"begin": [0, 3, 1, 0], "end": [1, 0, 5, 3], "strides": [1, -2, 2, 1]}, options("StridedSliceOptions"),
          extra=[(np.int32(v), None) for v in ([0, 3, 1, 0], [1, 0, 5, 3], [1, -2, 2, 1])], out=Q)
    k.add("ReverseV2", "REVERSE_V2", [x], x.shape, {"axes": [1]}, options("ReverseV2Options"), extra=[(np.int32([1]), None)], out=Q)
    k.add("Gather", "GATHER", [x, np.int32([2, 0, 2, 3])], (1, 4, 5, 3), {"axis": 1}, options("GatherOptions", axis=1, batchDims=0), fixed=[1], out=Q)
    k.add("GatherND", "GATHER_ND", [s8(4, 5, 3), np.int32([[2, 0], [1, 4]])], (2, 3), None, options("GatherNdOptions"), fixed=[1], out=Q)
    k.add("DynamicUpdateSlice", "DYNAMIC_UPDATE_SLICE", [s8(1, 5, 4), s8(1, 2, 3), np.int32([0, 2, 1])], (1, 5, 4), None, options("DynamicUpdateSliceOptions"), out=Q)
    for op, builtin, kind in (("Resize", "RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions"), ("ResizeLinear", "RESIZE_BILINEAR", "ResizeBilinearOptions")):
        for coordinates in ("asymmetric", "half_pixel", "align_corners"):
            rounding = {"rounding": "floor" if coordinates == "asymmetric" else "round_prefer_ceil"} if op == "Resize" else {}
            if coordinates == "half_pixel" and op == "Resize":
                rounding = {"rounding": "round_prefer_ceil"}
            k.add(op, builtin, [x], (1, 7, 9, 3), {"size": [1, 7, 9, 3], "coordinates": coordinates, **rounding}, options(kind, alignCorners=coordinates == "align_corners", halfPixelCenters=coordinates == "half_pixel"),
                  extra=[(np.int32([7, 9]), None)], out=Q, what=coordinates)


def main():
    k = Kernels()
    for part in (elementwise, binary, layers, reductions, moves):
        part(k)
    k.file.write("src/import/foreign/tigris/tflite.txt")


main()
