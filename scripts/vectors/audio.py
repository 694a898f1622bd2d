#!/usr/bin/env python3
"""src/ops/signal.txt: the audio front end's operators, each alone, by TensorFlow Lite Micro. What is not
int16 stands in the model or is read behind a Cast where the interpreter's interface lacks its type."""
import flatbuffers
from flatbuffers import flexbuffers
import numpy as np

import twir
from tflm import TYPES, VERSION, schema
from tflite_micro.python.tflite_micro import runtime

TYPES.update({"int16": schema.TensorType.INT16, "uint32": schema.TensorType.UINT32,
              "uint64": schema.TensorType.UINT64})
random = np.random.default_rng(21)


def run(op, inputs, outputs, options):
    """inputs: arrays, the first fed where it is int16, all else constant. outputs: (shape, dtype)."""
    model, graph = schema.ModelT(), schema.SubGraphT()
    model.version, model.description, model.buffers = 3, "signal", [schema.BufferT()]
    graph.tensors, graph.name = [], "main"
    fed = inputs[0].dtype in (np.int16, np.int32, np.float32)
    for i, (shape, dtype) in enumerate([(a.shape, a.dtype.name) for a in inputs] + outputs):
        tensor = schema.TensorT()
        tensor.shape, tensor.type, tensor.name, tensor.buffer = list(shape), TYPES[dtype], f"t{i}", 0
        if i < len(inputs) and not (i == 0 and fed):
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(inputs[i].tobytes(), dtype=np.uint8)
            model.buffers.append(buffer)
            tensor.buffer = len(model.buffers) - 1
        graph.tensors.append(tensor)
    operator, code = schema.OperatorT(), schema.OperatorCodeT()
    operator.inputs = list(range(len(inputs)))
    operator.outputs = [len(inputs) + i for i in range(len(outputs))]
    if options:
        fbb = flexbuffers.Builder()
        with fbb.Map():
            for key, value in sorted(options.items()):
                (fbb.Bool if isinstance(value, bool) else fbb.Int)(key, value)
        operator.customOptions = list(fbb.Finish())
    code.builtinCode, code.deprecatedBuiltinCode, code.version = schema.BuiltinOperator.CUSTOM, 32, 1
    code.customCode = op
    graph.operators, graph.inputs, graph.outputs = [operator], [0] if fed else [], operator.outputs
    model.operatorCodes, model.subgraphs = [code], [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    interpreter = runtime.Interpreter.from_bytes(bytes(builder.Output()), arena_size=1 << 20)
    if fed:
        interpreter.set_input(inputs[0], 0)
    interpreter.invoke()
    return [interpreter.get_output(i).reshape(shape) for i, (shape, _) in enumerate(outputs)]


def case(file, title, name, op, inputs, outputs, options, attributes, constant=(), extra=()):
    """constant: inputs that are constants of the graph. extra: inputs of the IR operator alone."""
    results = run(op, inputs, outputs, options)
    every = list(inputs) + list(extra)
    lines = [f'case "{title}" oracle "{VERSION}"', 'graph "g" {']
    for i, a in enumerate(every):
        if i in constant:
            lines.append(f"  const  %x{i} : {twir.type_of(a)} = {twir.data(a)}")
        else:
            lines.append(f"  input  %x{i} : {twir.type_of(a)}")
    kinds = ", ".join(f"%y{i} : {twir.type_of(r)}" for i, r in enumerate(results))
    operands = ", ".join(f"%x{i}" for i in range(len(every)))
    text = ", ".join(f"{k}={v}" for k, v in attributes.items())
    lines.append(f"  {kinds} = {name} ({operands})" + (f" {{{text}}}" if text else ""))
    lines += [f"  output %y{i}" for i in range(len(results))] + ["}"]
    lines += [f"feed   %x{i} = {twir.data(a)}" for i, a in enumerate(every) if i not in constant]
    lines += [f"expect %y{i} = {twir.data(r)}" for i, r in enumerate(results)]
    file.parts.append("\n".join(lines) + "\n")


def integers(low, high, shape, dtype):
    return random.integers(low, high, shape).astype(dtype)


def main():
    file = twir.File("audio.py")
    x = integers(-32768, 32768, (2, 20), np.int16)
    w = integers(0, 8192, (20,), np.int16)
    case(file, "window", "SignalWindow", "SignalWindow", [x, w], [((2, 20), "int16")], {"shift": 12}, {"shift": 12},
         constant=(1,))
    for title, most in (("quiet", 300), ("loud", 30000)):
        x = integers(-most, most, (24,), np.int16)
        case(file, f"scale, {title}", "SignalAutoScale", "SignalFftAutoScale", [x],
             [((24,), "int16"), ((), "int32")], None, {})
    for length, count in ((16, 13), (64, 64), (32, 32)):
        x = integers(-32768, 32768, (count,), np.int16)
        case(file, f"transform of {length}", "SignalRfft", "SignalRfft", [x], [((length + 2,), "int16")],
             {"T": int(schema.TensorType.INT16), "fft_length": length}, {"length": length})
    x = integers(-32768, 32768, (36,), np.int16)
    case(file, "energy", "SignalEnergy", "SignalEnergy", [x], [((18,), "uint32")],
         {"end_index": 18, "start_index": 0}, {"start": 0, "end": 18})
    x = integers(0, 1 << 31, (17,), np.uint32)
    starts = [np.array(v, np.int16) for v in ([0, 4, 8, 12], [0, 4, 8, 10], [4, 3, 2, 5])]
    weights = [integers(0, 4097, (16,), np.int16) for _ in range(2)]
    case(file, "filter bank", "SignalFilterBank", "SignalFilterBank", [x] + weights + starts, [((3,), "uint64")],
         {"num_channels": 3}, {"channels": 3}, constant=(1, 2, 3, 4, 5))
    x = np.array([0, 1, 2, 3, 99, 100, 65535, 4294836225, 4294967295, 4294967296, 1 << 40, (1 << 62) + 12345,
                  (1 << 64) - 1], np.uint64)
    for bits in (0, 3):
        case(file, f"root, {bits} bits", "SignalSquareRoot", "SignalFilterBankSquareRoot",
             [x, np.array(bits, np.int32)], [((len(x),), "uint32")], None, {})
    x = integers(0, 1 << 20, (9,), np.uint32)
    for clamping in (False, True):
        case(file, f"subtraction, clamp {int(clamping)}", "SignalSubtraction", "SignalFilterBankSpectralSubtraction",
             [x], [((9,), "uint32"), ((9,), "uint32")],
             {"alternate_one_minus_smoothing": 15400, "alternate_smoothing": 17000, "clamping": clamping,
              "min_signal_remaining": 819, "num_channels": 9, "one_minus_smoothing": 15974, "smoothing": 410,
              "smoothing_bits": 10, "spectral_subtraction_bits": 14},
             {"even_new": 410, "even_old": 15974, "odd_new": 17000, "odd_old": 15400, "remaining": 819, "bits": 10,
              "shift": 14, "clamp": int(clamping)}, extra=[np.zeros(9, np.uint32)])
    x = integers(0, 1 << 20, (8,), np.uint32)
    estimate = np.array([0, 1, 2, 3, 700, 5000, 1 << 20, (1 << 32) - 1], np.uint32)
    gains = np.sort(integers(0, 32767, (125,), np.int16))[::-1].copy()
    case(file, "gain", "SignalPcan", "SignalPCAN", [x, estimate, gains], [((8,), "uint32")], {"snr_shift": 6},
         {"shift": 6}, constant=(2,))
    for dtype, kind in ((np.int32, "INT32"), (np.float32, "FLOAT32")):
        for length, count in ((16, 13), (64, 64), (32, 32)):
            x = integers(-(1 << 31), 1 << 31, (count,), dtype) if kind == "INT32" else random.uniform(-1, 1, count).astype(dtype)
            case(file, f"transform of {length}, {kind}", "SignalRfft", "SignalRfft", [x], [((length + 2,), dtype.__name__)],
                 {"T": int(getattr(schema.TensorType, kind)), "fft_length": length}, {"length": length})
    for dtype, kind, low in ((np.int16, "INT16", -32768), (np.int32, "INT32", -(1 << 31)), (np.float32, "FLOAT32", -1)):
        for length in (16, 64, 32):
            x = random.uniform(low, -low, (2, length + 2)).astype(dtype)
            case(file, f"inverse of {length}, {kind}", "SignalIrfft", "SignalIrfft", [x], [((2, length), dtype.__name__)],
                 {"T": int(getattr(schema.TensorType, kind)), "fft_length": length}, {"length": length})
    x = np.array([0, 1, 2, 3, 100, 65535, 65536, 1 << 28], np.uint32)
    case(file, "logarithm", "SignalLog", "SignalFilterBankLog", [x], [((8,), "int16")],
         {"input_correction_bits": 3, "output_scale": 1600}, {"correction": 3, "scale": 1600})
    file.write("src/ops/signal.txt")


main()
