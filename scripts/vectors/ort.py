"""One ONNX operator, run by ONNX Runtime, or by ONNX's own reference where that lacks the type. Needs the
packages onnx and onnxruntime."""
import onnx
import onnxruntime
import onnx.reference
from onnx import helper
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as Missing


def run(op, inputs, attributes=None, opset=20, domain="", reference=False, output=0):
    """inputs: arrays. reference: by ONNX's own one at once. The oracle's name, and an output as an array."""
    element = onnx.helper.np_dtype_to_tensor_dtype
    names = ["" if a is None else f"x{i}" for i, a in enumerate(inputs)]
    outputs = [f"y{i}" for i in range(output + 1)]
    node = helper.make_node(op, names, outputs, domain=domain, **(attributes or {}))
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info(n, element(a.dtype), a.shape) for n, a in zip(names, inputs) if n],
        [helper.make_empty_tensor_value_info(outputs[-1])])
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    feeds = {n: a for n, a in zip(names, inputs) if n}
    try:
        if reference:
            raise Missing
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        return "onnxruntime " + onnxruntime.__version__, session.run(None, feeds)[0]
    except Missing:
        return "onnx reference " + onnx.__version__, onnx.reference.ReferenceEvaluator(model).run(None, feeds)[0]
