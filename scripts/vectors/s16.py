#!/usr/bin/env python3
"""src/ops/s16.txt: operators on int16 with scales, by TensorFlow Lite Micro."""
import numpy as np

import tflm
import twir
from tflm import VERSION, schema

tflm.TYPES.update({"int16": schema.TensorType.INT16, "int64": schema.TensorType.INT64})
random = np.random.default_rng(31)
NONE, RELU6 = schema.ActivationFunctionType.NONE, schema.ActivationFunctionType.RELU6


def wide(shape, most=32768):
    return random.integers(-most, most, shape).astype(np.int16)


def narrow(shape):
    return random.integers(-127, 128, shape).astype(np.int8)


def case(file, title, name, op, inputs, quants, out_shape, out_quant, options=None, attributes="", clamp="",
         dtype="int16", constants=(), shown=None, graph_inputs=None):
    """shown: what the graph has instead of the model's inputs, where they differ."""
    y = tflm.run(op, inputs, quants, dtype, out_quant, out_shape, options, constants)
    seen = graph_inputs if graph_inputs is not None else list(zip(inputs, quants))
    lines = [f'case "{title}" oracle "{VERSION}"', 'graph "g" {']
    for i, (a, q) in enumerate(seen):
        if i in constants:
            lines.append(f"  const  %x{i} : {twir.type_of(a, q)} = {twir.data(a)}")
        else:
            lines.append(f"  input  %x{i} : {twir.type_of(a, q)}")
    operands = ", ".join(f"%x{i}" for i in range(len(seen)))
    text = f" {{{attributes}}}" if attributes else ""
    lines += [f"  %y : {twir.type_of(y, out_quant)} = {name} ({operands}){text}{clamp}", "  output %y", "}"]
    lines += [f"feed   %x{i} = {twir.data(a)}" for i, (a, _) in enumerate(seen) if i not in constants]
    lines.append(f"expect %y = {twir.data(y)}")
    file.parts.append("\n".join(lines) + "\n")


def unary(file):
    x = wide((3, 40))
    for scale in (3 / 32768, 8 / 32768, 0.0011):
        for name, op in (("Sigmoid", "LOGISTIC"), ("Tanh", "TANH")):
            case(file, f"{name} of scale {scale:.6f}", name, op, [x], [twir.Quant(scale, 0)], x.shape,
                 twir.Quant(1 / 32768, 0))
    options = schema.LeakyReluOptionsT()
    options.alpha = 0.3
    case(file, "LeakyRelu", "LeakyRelu", "LEAKY_RELU", [x], [twir.Quant(0.0007, 0)], x.shape, twir.Quant(0.0005, 0),
         (options, "LeakyReluOptions"), "alpha=0.3")


def softmax(file):
    for scale, length in ((0.0002, 9), (0.001, 33)):
        options = schema.SoftmaxOptionsT()
        options.beta = 1.0
        x = wide((2, length))
        case(file, f"Softmax of {length}", "Softmax", "SOFTMAX", [x], [twir.Quant(scale, 0)], x.shape,
             twir.Quant(1 / 32768, 0), (options, "SoftmaxOptions"))


def binary(file):
    a, b = wide((2, 5, 3)), wide((2, 5, 3))
    quants, out = [twir.Quant(0.0005, 0), twir.Quant(0.0002, 0)], twir.Quant(0.0006, 0)
    for name, op in (("Add", "ADD"), ("Sub", "SUB"), ("Mul", "MUL")):
        for activation, clamp in ((NONE, ""), (RELU6, " clamp(0, 6)")):
            options = getattr(schema, f"{name}OptionsT")()
            options.fusedActivationFunction = activation
            if name != "Mul":
                options.potScaleInt16 = False
            case(file, f"{name}{', bounded' if clamp else ''}", name, op, [a, b], quants, a.shape, out,
                 (options, f"{name}Options"), "", clamp)
    same = twir.Quant(0.0005, 0)
    for name, op in (("Max", "MAXIMUM"), ("Min", "MINIMUM")):
        case(file, name, name, op, [a, b], [same, same], a.shape, same)


def pools(file):
    x, quant = wide((1, 5, 6, 3)), twir.Quant(0.0005, 0)
    for name, op in (("MaxPool", "MAX_POOL_2D"), ("AveragePool", "AVERAGE_POOL_2D")):
        options = schema.Pool2DOptionsT()
        options.padding, options.fusedActivationFunction = schema.Padding.SAME, NONE
        options.filterHeight, options.filterWidth, options.strideH, options.strideW = 3, 2, 1, 1
        case(file, name, name, op, [x], [quant], x.shape, quant, (options, "Pool2DOptions"),
             "kernel=[3, 2], pad_begin=[1, 0], pad_end=[1, 1]")


def products(file):
    x, w, b = wide((3, 50)), narrow((4, 50)), random.integers(-1 << 20, 1 << 20, (4,)).astype(np.int64)
    quants = [twir.Quant(0.0005, 0), twir.Quant(0.01, 0)]
    out, none = twir.Quant(0.004, 0), None
    options = schema.FullyConnectedOptionsT()
    case(file, "FullyConnected", "FullyConnected", "FULLY_CONNECTED", [x, w, b],
         quants + [twir.Quant(0.0005 * 0.01, 0)], (3, 4), out, (options, "FullyConnectedOptions"),
         constants=(1, 2), graph_inputs=[(x, quants[0]), (w, quants[1]), (b, none)])
    x, w = wide((1, 6, 5, 2)), narrow((3, 3, 2, 2))
    b = random.integers(-1 << 20, 1 << 20, (3,)).astype(np.int64)
    options = schema.Conv2DOptionsT()
    options.padding, options.fusedActivationFunction = schema.Padding.VALID, NONE
    options.strideH = options.strideW = options.dilationHFactor = options.dilationWFactor = 1
    weights = twir.QuantByAxis([0.01, 0.02, 0.005], [0, 0, 0], 0)
    sums = twir.QuantByAxis([0.0005 * s for s in (0.01, 0.02, 0.005)], [0, 0, 0], 0)
    case(file, "Conv", "Conv", "CONV_2D", [x, w, b], [quants[0], weights, sums], (1, 4, 4, 3), out,
         (options, "Conv2DOptions"), constants=(1, 2), graph_inputs=[(x, quants[0]), (w, weights), (b, none)])
    a, b = wide((2, 4, 6)), wide((2, 6, 3))
    options = schema.BatchMatMulOptionsT()
    case(file, "MatMul", "MatMul", "BATCH_MATMUL", [a, b], [twir.Quant(0.0005, 0), twir.Quant(0.0003, 0)], (2, 4, 3),
         twir.Quant(0.01, 0), (options, "BatchMatMulOptions"))


def main():
    file = twir.File("s16.py")
    unary(file)
    softmax(file)
    binary(file)
    pools(file)
    products(file)
    file.write("src/ops/s16.txt")


main()
