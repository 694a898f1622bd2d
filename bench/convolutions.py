"""Single int8 convolutions as ONNX models, between DequantizeLinear and QuantizeLinear, for bench/models."""

import numpy as np

# Name; rows, columns, channels, outputs, kernel rows, kernel columns, stride. Padding as TensorFlow's SAME.
LAYERS = [
    ("32x32x3 to 16, 3x3", 32, 32, 3, 16, 3, 3, 1),
    ("32x32x16 to 16, 3x3", 32, 32, 16, 16, 3, 3, 1),
    ("32x32x16 to 32, 3x3, stride 2", 32, 32, 16, 32, 3, 3, 2),
    ("16x16x32 to 32, 3x3", 16, 16, 32, 32, 3, 3, 1),
    ("8x8x64 to 64, 3x3", 8, 8, 64, 64, 3, 3, 1),
    ("49x10x1 to 64, 10x4, stride 2", 49, 10, 1, 64, 10, 4, 2),
    ("96x96x3 to 8, 3x3, stride 2", 96, 96, 3, 8, 3, 3, 2),
    ("56x56x64 to 64, 3x3", 56, 56, 64, 64, 3, 3, 1),
    ("25x5x64 to 64, 1x1", 25, 5, 64, 64, 1, 1, 1),
    ("32x32x128 to 128, 1x1", 32, 32, 128, 128, 1, 1, 1),
    ("8x8x512 to 512, 1x1", 8, 8, 512, 512, 1, 1, 1),
    ("48x48x8 to 16, 1x1", 48, 48, 8, 16, 1, 1, 1),
]


def same(extent, kernel, stride):
    """Output extent, padding before and behind."""
    out = -(-extent // stride)
    total = max(0, (out - 1) * stride + kernel - extent)
    return out, total // 2, total - total // 2


def write(path, rows, columns, channels, outputs, kernel_rows, kernel_columns, stride):
    import onnx
    from onnx import TensorProto, helper

    random = np.random.default_rng(1)
    out_rows, top, bottom = same(rows, kernel_rows, stride)
    out_columns, left, right = same(columns, kernel_columns, stride)
    shape = [outputs, channels, kernel_rows, kernel_columns]

    def constant(name, kind, dims, values):
        return helper.make_tensor(name, kind, dims, values)

    constants = [
        constant("x_scale", TensorProto.FLOAT, [], [0.05]),
        constant("x_zero", TensorProto.INT8, [], [3]),
        constant("y_scale", TensorProto.FLOAT, [], [0.5]),
        constant("y_zero", TensorProto.INT8, [], [-5]),
        constant("w_scale", TensorProto.FLOAT, [outputs], [0.01] * outputs),
        constant("w_zero", TensorProto.INT8, [outputs], [0] * outputs),
        constant("b_scale", TensorProto.FLOAT, [outputs], [0.05 * 0.01] * outputs),
        constant("b_zero", TensorProto.INT32, [outputs], [0] * outputs),
        constant("w", TensorProto.INT8, shape, random.integers(-127, 128, shape).flatten().tolist()),
        constant("b", TensorProto.INT32, [outputs], random.integers(-900, 900, outputs).tolist()),
    ]
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "x_scale", "x_zero"], ["x_real"]),
        helper.make_node("DequantizeLinear", ["w", "w_scale", "w_zero"], ["w_real"], axis=0),
        helper.make_node("DequantizeLinear", ["b", "b_scale", "b_zero"], ["b_real"], axis=0),
        helper.make_node("Conv", ["x_real", "w_real", "b_real"], ["y_real"], strides=[stride, stride],
                         kernel_shape=[kernel_rows, kernel_columns], pads=[top, left, bottom, right]),
        helper.make_node("QuantizeLinear", ["y_real", "y_scale", "y_zero"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "convolution",
        [helper.make_tensor_value_info("x", TensorProto.INT8, [1, channels, rows, columns])],
        [helper.make_tensor_value_info("y", TensorProto.INT8, [1, outputs, out_rows, out_columns])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, path)
