#!/usr/bin/env python3
"""src/ops/non_max.txt: boxes that no better ones of their class overlap, by ONNX Runtime."""
import numpy as np
import onnxruntime
from onnx import TensorProto, helper

import twir

ORACLE = "onnxruntime " + onnxruntime.__version__
random = np.random.default_rng(192)


def selected(boxes, scores, limit, overlap, threshold, centre):
    inputs = [("boxes", boxes), ("scores", scores), ("limit", limit), ("overlap", overlap), ("threshold", threshold)]
    present = [(name, np.asarray(v)) for name, v in inputs if v is not None]
    node = helper.make_node("NonMaxSuppression", [name if v is not None else "" for name, v in inputs], ["y"], center_point_box=centre)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for name, v in present],
                              [helper.make_tensor_value_info("y", TensorProto.INT64, None)])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 11)])
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, dict(present))[0]


def main():
    file = twir.File("non_max.py")

    def case(name, boxes, scores, limit, overlap, threshold, centre=0, most=None):
        want = selected(boxes, scores, limit if limit is not None else np.array([boxes.shape[1]]), overlap, threshold, centre)
        most = len(want) + 2 if most is None else most
        rows = np.concatenate([want, np.full((most, 3), -1)])[:most].astype(np.int64)
        inputs = [("boxes", boxes), ("scores", scores), ("limit", limit), ("overlap", overlap), ("threshold", threshold)]
        while inputs[-1][1] is None:
            inputs.pop()
        lines = [f'case "{name}" oracle "{ORACLE}"', 'graph "g" {']
        lines += [f"  input  %{label} : {twir.type_of(v)}" for label, v in inputs if v is not None]
        operands = ", ".join("_" if v is None else "%" + label for label, v in inputs)
        lines += [f"  %y : s64[{most},3], %n : s64[1] = NonMaxSuppression ({operands}) {{most={most}, centre={centre}}}", "  output %y", "  output %n", "}"]
        lines += [f"feed   %{label} = {twir.data(v)}" for label, v in inputs if v is not None]
        lines += [f"expect %y = {twir.data(rows)}", f"expect %n = [{len(want)}]\n"]
        file.parts.append("\n".join(lines))

    def boxes(batch, count, centre=0):
        corner, size = random.uniform(0, 1, (batch, count, 2)), random.uniform(0.2, 0.8, (batch, count, 2))
        made = np.concatenate([corner, size if centre else corner + size], 2).astype(np.float32)
        if not centre: # any two opposite corners
            turned = made[:, ::2, [2, 1, 0, 3]]
            made[:, ::2] = turned
        return made

    def scores(batch, classes, count):
        return random.uniform(0, 1, (batch, classes, count)).astype(np.float32)

    one = lambda v: np.array([v], np.float32)
    case("one class", boxes(1, 12), scores(1, 1, 12), np.array([5]), one(0.3), one(0.2))
    case("classes and batches", boxes(2, 9), scores(2, 3, 9), np.array([3]), one(0.4), one(0.35))
    case("as many as there are", boxes(1, 9), scores(1, 2, 9), None, one(0.25), None)
    case("any overlap removes", boxes(1, 9), scores(1, 2, 9), np.array([9]), None, None)
    case("centres and sizes", boxes(1, 10, 1), scores(1, 2, 10), np.array([10]), one(0.5), one(0.1), 1)
    case("less room than boxes", boxes(1, 12), scores(1, 2, 12), np.array([12]), one(0.6), None, most=4)
    case("none is good enough", boxes(1, 5), scores(1, 1, 5), np.array([5]), one(0.5), one(2.0))
    case("none is asked for", boxes(1, 5), scores(1, 1, 5), np.array([0]), one(0.5), None)
    same = np.repeat(boxes(1, 1), 4, 1)
    case("equal boxes, equal scores", same, np.full((1, 1, 4), 0.5, np.float32), np.array([4]), one(0.5), None)
    flat = np.array([[[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 1, 1]]], np.float32)
    case("boxes without an area", flat, scores(1, 1, 3), np.array([3]), one(0.1), None)
    file.write("src/ops/non_max.txt")


if __name__ == "__main__":
    main()
