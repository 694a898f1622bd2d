#!/usr/bin/env python3
"""src/ops/svdf.txt: several steps of one layer, by TensorFlow Lite Micro."""
import flatbuffers
import numpy as np

import twir
from lstm import Network
from tflm import VERSION, schema
from tflite_micro.python.tflite_micro import runtime

random = np.random.default_rng(12)


class Layer(Network):
    def interpreter(self, inputs, output, rank, activation):
        options = schema.SVDFOptionsT()
        options.rank, options.fusedActivationFunction = rank, activation
        operator, code = schema.OperatorT(), schema.OperatorCodeT()
        operator.inputs, operator.outputs = inputs, [output]
        operator.builtinOptions, operator.builtinOptionsType = options, schema.BuiltinOptions.SVDFOptions
        code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.SVDF
        code.version = 3
        self.graph.operators, self.graph.inputs, self.graph.outputs = [operator], [inputs[0]], [output]
        self.model.operatorCodes, self.model.subgraphs = [code], [self.graph]
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return runtime.Interpreter.from_bytes(bytes(builder.Output()), arena_size=1 << 20)


def case(file, title, steps, inputs, filters, length, rank, kind, clamp, tolerance=""):
    """kind: the type of time weights and memory."""
    layer, units = Layer(), filters // rank
    quantised = kind != np.float32
    x_quant = twir.Quant(0.04, -15) if quantised else None
    f_quant = twir.Quant(0.009, 0) if quantised else None
    t_quant = twir.Quant(0.002 if kind == np.int16 else 0.012, 0) if quantised else None
    s_quant = (twir.Quant(0.004, 0) if kind == np.int16 else twir.Quant(0.3, -30)) if quantised else None
    y_quant = twir.Quant(0.08, -128) if quantised else None
    narrow = np.int8 if quantised else np.float32

    def values(shape, dtype, low, high):
        return (random.integers(low, high, shape) if quantised else random.uniform(-1, 1, shape)).astype(dtype)
    xs = [values((1, inputs), narrow, -128, 128) for _ in range(steps)]
    f = values((filters, inputs), narrow, -127, 128)
    t = values((filters, length), kind, -127, 128) * (80 if kind == np.int16 else 1)
    t = t.astype(kind)
    b = values((units,), np.int32 if quantised else np.float32, -5000, 5000)
    tensors = [layer.tensor(a.shape, a.dtype.name, q, None if i == 0 else a)
               for i, (a, q) in enumerate(((xs[0], x_quant), (f, f_quant), (t, t_quant)))]
    scale = twir.Quant(s_quant.scale * t_quant.scale, 0) if quantised else None
    tensors.append(layer.tensor(b.shape, b.dtype.name, scale, b))
    tensors.append(layer.tensor((1, filters * length), np.dtype(kind).name, s_quant, None, True))
    activation = schema.ActivationFunctionType.RELU
    interpreter = layer.interpreter(tensors, layer.tensor((1, units), np.dtype(narrow).name, y_quant), rank, activation)
    ys = []
    for x in xs:
        interpreter.set_input(x, 0)
        interpreter.invoke()
        ys.append(interpreter.get_output(0))
    zero = np.full((1, filters * length), s_quant.zero if quantised else 0).astype(kind)
    lines = [f'case "{title}" oracle "{VERSION}"{" " + tolerance if tolerance else ""}', 'graph "g" {']
    lines += [f"  input  %x{i} : {twir.type_of(x, x_quant)}" for i, x in enumerate(xs)]
    lines += [f"  const  %{n} : {twir.type_of(a, q)} = {twir.data(a)}"
              for n, a, q in (("f", f, f_quant), ("t", t, t_quant), ("b", b, None), ("s", zero, s_quant))]
    state = "s"
    for i in range(steps):
        kinds = f"%y{i} : {twir.type_of(ys[i], y_quant)}, %s{i} : {twir.type_of(zero, s_quant)}"
        if i == steps - 1:
            kinds = f"%y{i} : {twir.type_of(ys[i], y_quant)}"
        lines.append(f"  {kinds} = Svdf (%x{i}, %f, %t, %b, %{state}) {{rank={rank}}}{clamp}")
        state = f"s{i}"
    lines += [f"  output %y{i}" for i in range(steps)] + ["}"]
    lines += [f"feed   %x{i} = {twir.data(x)}" for i, x in enumerate(xs)]
    lines += [f"expect %y{i} = {twir.data(y)}" for i, y in enumerate(ys)]
    file.parts.append("\n".join(lines) + "\n")


def main():
    file = twir.File("svdf.py")
    case(file, "float", 4, 5, 6, 3, 2, np.float32, " clamp(0, inf)", "rtol 1e-5 atol 1e-6")
    case(file, "int8, memory int16", 5, 6, 4, 4, 1, np.int16, "")
    case(file, "int8, memory int16, rank 2", 4, 5, 8, 3, 2, np.int16, "")
    case(file, "int8, memory int8", 5, 6, 4, 4, 1, np.int8, "")
    file.write("src/ops/svdf.txt")


main()
