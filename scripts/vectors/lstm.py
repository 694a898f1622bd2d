#!/usr/bin/env python3
"""src/ops/lstm.txt: int8 by TensorFlow Lite Micro, float by ONNX Runtime."""
import flatbuffers
import numpy as np
import onnx
import onnxruntime
from onnx import helper

import twir
from tflm import TYPES, VERSION, schema
from tflite_micro.python.tflite_micro import runtime

TYPES["int16"] = schema.TensorType.INT16
random = np.random.default_rng(11)


class Network:
    """A subgraph of UNIDIRECTIONAL_SEQUENCE_LSTM: 24 inputs, two of them variable tensors."""

    def __init__(self):
        self.model, self.graph = schema.ModelT(), schema.SubGraphT()
        self.model.version, self.model.description, self.model.buffers = 3, "lstm", [schema.BufferT()]
        self.graph.tensors, self.graph.name = [], "main"

    def tensor(self, shape, dtype, quant=None, data=None, variable=False):
        t = schema.TensorT()
        t.shape, t.type, t.name = list(shape), TYPES[dtype], f"t{len(self.graph.tensors)}"
        t.buffer, t.isVariable = 0, variable
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(data.tobytes(), dtype=np.uint8)
            self.model.buffers.append(buffer)
            t.buffer = len(self.model.buffers) - 1
        if quant:
            t.quantization = schema.QuantizationParametersT()
            t.quantization.scale, t.quantization.zeroPoint = [quant.scale], [quant.zero]
        self.graph.tensors.append(t)
        return len(self.graph.tensors) - 1

    def run(self, inputs, output, clip, x):
        options = schema.UnidirectionalSequenceLSTMOptionsT()
        options.fusedActivationFunction, options.cellClip = schema.ActivationFunctionType.TANH, clip
        operator, code = schema.OperatorT(), schema.OperatorCodeT()
        operator.inputs, operator.outputs = inputs, [output]
        operator.builtinOptions = options
        operator.builtinOptionsType = schema.BuiltinOptions.UnidirectionalSequenceLSTMOptions
        code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM
        code.version = 1
        self.graph.operators, self.graph.inputs, self.graph.outputs = [operator], [inputs[0]], [output]
        self.model.operatorCodes, self.model.subgraphs = [code], [self.graph]
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        interpreter = runtime.Interpreter.from_bytes(bytes(builder.Output()), arena_size=1 << 20)
        interpreter.set_input(x, 0)
        interpreter.invoke()
        return interpreter.get_output(0)


def int8_case(file, title, steps, inputs, outputs, x_quant, h_quant, power, clip):
    net = Network()
    x = random.integers(-128, 128, (1, steps, inputs)).astype(np.int8)
    w = random.integers(-127, 128, (4, outputs, inputs)).astype(np.int8)
    r = random.integers(-127, 128, (4, outputs, outputs)).astype(np.int8)
    w_scales = np.float32(random.uniform(0.004, 0.02, 4))
    r_scales = np.float32(random.uniform(0.004, 0.02, 4))
    b = random.integers(-3000, 3000, (4, outputs)).astype(np.int32)
    cell = twir.Quant(2.0 ** power, 0)
    tensors = [net.tensor(x.shape, "int8", x_quant)]
    for weights, scales in ((w, w_scales), (r, r_scales)):
        tensors += [net.tensor(weights[g].shape, "int8", twir.Quant(scales[g], 0), weights[g]) for g in range(4)]
    tensors += [-1] * 3
    tensors += [net.tensor((outputs,), "int32", twir.Quant(x_quant.scale * w_scales[g], 0), b[g]) for g in range(4)]
    tensors += [-1, -1, net.tensor((1, outputs), "int8", h_quant, None, True),
                net.tensor((1, outputs), "int16", cell, None, True)] + [-1] * 4
    expected = net.run(tensors, net.tensor((1, steps, outputs), "int8", h_quant), clip, x)
    zeros = np.zeros((1, outputs), np.int16)
    quants = {"x": x_quant, "w": twir.QuantByAxis(w_scales, [0] * 4, 0), "r": twir.QuantByAxis(r_scales, [0] * 4, 0),
              "h": h_quant, "c": cell}
    # Variable tensors begin at the zero point.
    values = [("x", x), ("w", w), ("r", r), ("b", b), ("h", np.full((1, outputs), h_quant.zero, np.int8)), ("c", zeros)]
    file.case(title, VERSION, "Lstm", values, expected, {"cell_clip": twir.number(clip)} if clip else None, quants,
              h_quant, constants=("w", "r", "b", "h", "c"))


def float_case(file, title, batch, steps, inputs, outputs):
    def values(*shape):
        return np.float32(random.uniform(-1, 1, shape))
    x, w, r = values(batch, steps, inputs), values(4, outputs, inputs), values(4, outputs, outputs)
    b, h, c = values(4, outputs), values(batch, outputs), values(batch, outputs)
    order = [0, 3, 1, 2]  # of ONNX's gates (input, output, forget, cell) among ours
    node = helper.make_node("LSTM", ["x", "w", "r", "b", "", "h", "c"], ["y", "y_h", "y_c"], hidden_size=outputs)
    feeds = {"x": x.transpose(1, 0, 2), "w": w[order].reshape(1, -1, inputs), "r": r[order].reshape(1, -1, outputs),
             "b": np.concatenate([b[order].ravel(), np.zeros(4 * outputs, np.float32)])[None], "h": h[None],
             "c": c[None]}
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info(k, onnx.TensorProto.FLOAT, v.shape) for k, v in feeds.items()],
        [helper.make_empty_tensor_value_info(k) for k in ("y", "y_h", "y_c")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    y, y_h, y_c = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)
    results = {"y": y[:, 0].transpose(1, 0, 2), "yh": y_h[0], "yc": y_c[0]}
    inputs_ = {"x": x, "w": w, "r": r, "b": b, "h": h, "c": c}
    lines = [f'case "{title}" oracle "onnxruntime {onnxruntime.__version__}" rtol 1e-5 atol 1e-6', 'graph "g" {']
    lines += [f"  input  %{k} : {twir.type_of(v)}" for k, v in inputs_.items()]
    lines.append("  " + ", ".join(f"%{k}" for k in results) + " = Lstm (%x, %w, %r, %b, %h, %c)")
    lines += [f"  output %{k}" for k in results] + ["}"]
    lines += [f"feed   %{k} = {twir.data(v)}" for k, v in inputs_.items()]
    lines += [f"expect %{k} = {twir.data(v)}" for k, v in results.items()]
    file.parts.append("\n".join(lines) + "\n")


def main():
    file = twir.File("lstm.py")
    float_case(file, "float, one sequence", 1, 7, 5, 3)
    float_case(file, "float, two sequences", 2, 4, 3, 4)
    int8_case(file, "int8, cell 2^-11", 9, 6, 5, twir.Quant(0.03, -20), twir.Quant(1 / 128, -4), -11, 0)
    int8_case(file, "int8, cell 2^-13", 6, 5, 4, twir.Quant(0.011, 7), twir.Quant(1 / 140, 10), -13, 0)
    int8_case(file, "int8, clipped", 8, 4, 6, twir.Quant(0.05, 0), twir.Quant(1 / 128, 0), -12, 1.5)
    file.write("src/ops/lstm.txt")


if __name__ == "__main__":
    main()
