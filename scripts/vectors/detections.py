#!/usr/bin/env python3
"""src/ops/detections.txt: what is left of a detector's boxes, by TensorFlow Lite Micro; boxes that give more than
one class by TensorFlow Lite. What the oracles leave unwritten behind the last detection is zero here."""
import importlib.metadata

import flatbuffers
import numpy as np
from ai_edge_litert.interpreter import Interpreter
from flatbuffers import flexbuffers

import twir
from tflm import TYPES, VERSION, schema
from tflite_micro.python.tflite_micro import runtime

random = np.random.default_rng(5)
LITE = "ai-edge-litert " + importlib.metadata.version("ai-edge-litert")


def model(arrays, shapes, options):
    m, graph = schema.ModelT(), schema.SubGraphT()
    m.version, m.description, m.buffers = 3, "detections", [schema.BufferT()]
    graph.tensors, graph.name = [], "main"
    for i, shape in enumerate([a.shape for a in arrays] + shapes):
        tensor = schema.TensorT()
        tensor.shape, tensor.type, tensor.name, tensor.buffer = list(shape), TYPES["float32"], f"t{i}", 0
        graph.tensors.append(tensor)
    operator, code = schema.OperatorT(), schema.OperatorCodeT()
    operator.inputs, operator.outputs = [0, 1, 2], [3, 4, 5, 6]
    builder = flexbuffers.Builder()
    with builder.Map():
        for key, value in sorted(options.items()):
            {bool: builder.Bool, int: builder.Int, float: builder.Float}[type(value)](key, value)
    operator.customOptions = list(builder.Finish())
    code.builtinCode, code.deprecatedBuiltinCode, code.version = schema.BuiltinOperator.CUSTOM, 32, 1
    code.customCode = "TFLite_Detection_PostProcess"
    graph.operators, graph.inputs, graph.outputs = [operator], [0, 1, 2], [3, 4, 5, 6]
    m.operatorCodes, m.subgraphs = [code], [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(m.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def by_micro(content, arrays):
    interpreter = runtime.Interpreter.from_bytes(content, arena_size=1 << 20)
    for i, a in enumerate(arrays):
        interpreter.set_input(a, i)
    interpreter.invoke()
    return [interpreter.get_output(i) for i in range(4)]


def by_lite(content, arrays):
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    for detail, a in zip(interpreter.get_input_details(), arrays):
        interpreter.set_tensor(detail["index"], a)
    interpreter.invoke()
    return [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]


NAMES = {"most": "max_detections", "classes": "num_classes", "per_box": "max_classes_per_detection", "per_class": "detections_per_class",
         "regular": "use_regular_nms", "threshold": "nms_score_threshold", "overlap": "nms_iou_threshold", "y_scale": "y_scale",
         "x_scale": "x_scale", "h_scale": "h_scale", "w_scale": "w_scale"}


def case(file, title, boxes, background, coarse, **attributes):
    """coarse: scores in steps of an eighth, so that there are equal ones."""
    a = {"most": 5, "classes": 3, "per_box": 1, "per_class": 100, "regular": False, "threshold": 0.3, "overlap": 0.4, "y_scale": 10.0,
         "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0} | attributes
    columns = a["classes"] + background
    x = random.uniform(-2, 2, (1, boxes, 4)).astype(np.float32)
    s = random.integers(0, 9, (1, boxes, columns)).astype(np.float32) / 8 if coarse else random.uniform(0, 1, (1, boxes, columns)).astype(np.float32)
    n = np.concatenate([random.uniform(0, 1, (boxes, 2)), random.uniform(0.2, 0.6, (boxes, 2))], 1).astype(np.float32)
    most = a["most"] * a["per_box"]
    arrays, shapes = [x, s, n], [(1, most, 4), (1, most), (1, most), (1,)]
    content = model(arrays, shapes, {NAMES[k]: v for k, v in a.items()})
    oracle, run = (LITE, by_lite) if a["per_box"] > 1 else (VERSION, by_micro)
    results = [r.reshape(shape).astype(np.float32).copy() for r, shape in zip(run(content, arrays), shapes)]
    count = int(results[3][0])
    written = np.zeros(most, bool)
    written.reshape(-1, a["per_box"])[:count, :a["classes"]] = True
    for r in results[:3]:
        r[:, ~written] = 0
    print(title, count, results[1], results[2])
    lines = [f'case "{title}" oracle "{oracle}"', 'graph "g" {']
    lines += [f"  input  %{k} : {twir.type_of(v)}" for k, v in zip("xsa", arrays)]
    kinds = ", ".join(f"%y{i} : {twir.type_of(r)}" for i, r in enumerate(results))
    text = ", ".join(f"{k}={int(v) if isinstance(v, bool) else v}" for k, v in a.items())
    lines.append(f"  {kinds} = Detections (%x, %s, %a) {{{text}}}")
    lines += [f"  output %y{i}" for i in range(4)] + ["}"]
    lines += [f"feed   %{k} = {twir.data(v)}" for k, v in zip("xsa", arrays)]
    lines += [f"expect %y{i} = {twir.data(r)}" for i, r in enumerate(results)]
    file.parts.append("\n".join(lines) + "\n")


def main():
    file = twir.File("detections.py")
    case(file, "fast", 12, 1, False)
    case(file, "fast, equal scores", 16, 0, True, most=8)
    case(file, "fast, few left", 6, 1, False, threshold=0.9)
    case(file, "fast, two classes each", 9, 1, False, per_box=2, most=4)
    case(file, "fast, more classes than there are", 7, 0, False, per_box=5, most=3, threshold=0.6)
    case(file, "regular", 12, 1, False, regular=True)
    case(file, "regular, equal scores", 16, 0, True, regular=True, most=9, per_class=3)
    case(file, "regular, few left", 6, 1, False, regular=True, threshold=0.95, most=7)
    file.write("src/ops/detections.txt")


main()
