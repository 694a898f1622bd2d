"""One operator in a TensorFlow Lite model, run by the reference kernels of TensorFlow Lite Micro.
Needs the packages tflite-micro, ai-edge-litert (its schema) and flatbuffers."""
import importlib.metadata

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from tflite_micro.python.tflite_micro import runtime

VERSION = "tflite-micro " + importlib.metadata.version("tflite-micro")
TYPES = {"float32": schema.TensorType.FLOAT32, "int8": schema.TensorType.INT8, "int32": schema.TensorType.INT32,
         "bool": schema.TensorType.BOOL}


def build(op, inputs, constants, out, options=None):
    """inputs, out: (shape, dtype name, quant or None); constants: index to array, of inputs that are in the
    model. options: a pair of the schema's option object and its type's name."""
    model, graph = schema.ModelT(), schema.SubGraphT()
    model.version, model.description, model.buffers = 3, "one operator", [schema.BufferT()]
    graph.tensors, graph.name = [], "main"
    for i, (shape, dtype, quant) in enumerate(list(inputs) + [out]):
        tensor = schema.TensorT()
        tensor.shape, tensor.type, tensor.name, tensor.buffer = list(shape), TYPES[dtype], f"t{i}", 0
        if i in constants:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(constants[i].tobytes(), dtype=np.uint8)
            model.buffers.append(buffer)
            tensor.buffer = len(model.buffers) - 1
        if quant:
            tensor.quantization = schema.QuantizationParametersT()
            by_axis = hasattr(quant, "axis")
            tensor.quantization.scale = [float(v) for v in quant.scales] if by_axis else [quant.scale]
            tensor.quantization.zeroPoint = [int(v) for v in quant.zeros] if by_axis else [quant.zero]
            tensor.quantization.quantizedDimension = quant.axis if by_axis else 0
        graph.tensors.append(tensor)
    operator, code = schema.OperatorT(), schema.OperatorCodeT()
    operator.inputs, operator.outputs = list(range(len(inputs))), [len(inputs)]
    if options:
        operator.builtinOptions = options[0]
        operator.builtinOptionsType = getattr(schema.BuiltinOptions, options[1])
    graph.operators = [operator]
    graph.inputs = [i for i in range(len(inputs)) if i not in constants]
    graph.outputs = operator.outputs
    code.builtinCode = getattr(schema.BuiltinOperator, op)
    code.deprecatedBuiltinCode, code.version = min(code.builtinCode, 127), 1
    model.operatorCodes, model.subgraphs = [code], [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def run(op, inputs, quants, out_dtype, out_quant, out_shape, options=None, constants=()):
    """inputs: arrays; constants: indices of those that stand in the model."""
    model = build(op, [(a.shape, a.dtype.name, q) for a, q in zip(inputs, quants)],
                  {i: inputs[i] for i in constants}, (out_shape, out_dtype, out_quant), options)
    interpreter = runtime.Interpreter.from_bytes(model, arena_size=1 << 22)
    fed = [a for i, a in enumerate(inputs) if i not in constants]
    for i, array in enumerate(fed):
        interpreter.set_input(array, i)
    interpreter.invoke()
    return interpreter.get_output(0)
