"""The trained network as ONNX: float32 as trained, and int8 with QuantizeLinear/DequantizeLinear.

The int8 model follows the TFLite quantisation scheme: activations asymmetric per tensor, weights
symmetric per output channel, biases int32 with the product of both scales. Ranges come from the
smallest and largest value seen on calibration images.
"""

import numpy as np
import onnx
from onnx import helper, numpy_helper

import draw
import network


class Builder:
    """A graph under construction; `values` are the calibration images' activations, where known."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, op, inputs, name, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def model(self, title):
        graph = helper.make_graph(
            self.nodes, title,
            [helper.make_tensor_value_info("image", onnx.TensorProto.FLOAT, [1, 1, draw.SIDE, draw.SIDE])],
            [helper.make_tensor_value_info("digit", onnx.TensorProto.FLOAT, [1, 10])], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8,
                                  producer_name="tilewright digits example")
        onnx.checker.check_model(model, full_check=True)
        return model


def conv_attributes(conv):
    pad = conv.kernel // 2
    return dict(kernel_shape=[conv.kernel] * 2, strides=[conv.stride] * 2, pads=[pad] * 4,
                group=len(conv.w) if conv.depthwise else 1)


def float_model(layers):
    b, count = Builder(), iter(range(1, 100))

    def emit(layers, x):
        for layer in layers:
            if isinstance(layer, network.Conv):
                name = f"conv{next(count)}"
                x = b.node("Conv", [x, b.constant(name + ".w", layer.w)], name, **conv_attributes(layer))
            elif isinstance(layer, network.Norm):
                parts = [b.constant(f"{name}.{part}", getattr(layer, part))
                         for part in ("scale", "bias", "mean", "variance")]
                x = b.node("BatchNormalization", [x, *parts], name + ".norm", epsilon=layer.epsilon)
            elif isinstance(layer, network.Relu):
                x = b.node("Relu", [x], name + ".relu")
            elif isinstance(layer, network.Residual):
                added = b.node("Add", [x, emit(layer.body, x)], f"add{next(count)}")
                x = b.node("Relu", [added], added + ".relu")
            else:
                x = b.node("Flatten", [b.node("GlobalAveragePool", [x], "average")], "flat")
                x = b.node("Gemm", [x, b.constant("dense.w", layer.w), b.constant("dense.b", layer.b)],
                           "dense", transB=1)
        return x

    b.node("Softmax", [emit(layers, "image")], "digit", axis=1)
    return b.model("digits")


class Quantiser:
    """Builds the int8 graph while running the float one on calibration images."""

    def __init__(self):
        self.b, self.count = Builder(), iter(range(1, 100))

    def scale_of(self, values):
        low, high = min(0., float(values.min())), max(0., float(values.max()))
        scale = np.float32((high - low) / 255)
        return scale, np.int8(np.clip(np.round(-128 - low / scale), -128, 127))

    def quantised(self, x, name, values=None, scale=None):
        """Q and DQ behind the float value x; returns (DQ's output, scale)."""
        scale, zero = scale or self.scale_of(values)
        s, z = self.b.constant(name + ".scale", scale), self.b.constant(name + ".zero", zero)
        q = self.b.node("QuantizeLinear", [x, s, z], name + ".q")
        return self.b.node("DequantizeLinear", [q, s, z], name + ".dq"), scale

    def weights(self, name, w, bias, input_scale):
        """Names of the dequantised weights and bias."""
        scale = (np.abs(w.reshape(len(w), -1)).max(1) / 127).astype(np.float32)
        q = np.clip(np.round(w / scale.reshape(-1, *[1] * (w.ndim - 1))), -127, 127).astype(np.int8)
        bias_scale = input_scale * scale
        b = np.round(bias / bias_scale).astype(np.int32)
        dq = []
        for part, stored, part_scale in (("w", q, scale), ("b", b, bias_scale)):
            inputs = [self.b.constant(f"{name}.{part}.q", stored), self.b.constant(f"{name}.{part}.scale", part_scale),
                      self.b.constant(f"{name}.{part}.zero", np.zeros(len(w), stored.dtype))]
            dq.append(self.b.node("DequantizeLinear", inputs, f"{name}.{part}", axis=0))
        return dq

    def conv(self, conv, norm, relu, x, scale, values):
        """Convolution with the normalisation folded in, and what follows it."""
        name = f"conv{next(self.count)}"
        factor = norm.scale / np.sqrt(norm.variance + norm.epsilon)
        w = conv.w * factor[:, None, None, None]
        bias = norm.bias - norm.mean * factor
        y = self.b.node("Conv", [x, *self.weights(name, w, bias, scale)], name, **conv_attributes(conv))
        values = norm.forward(conv.forward(values, False), False)
        if relu:
            y, values = self.b.node("Relu", [y], name + ".relu"), np.maximum(values, 0)
        return *self.quantised(y, name, values), values

    def emit(self, layers, x, scale, values):
        layers = list(layers)
        while layers:
            layer = layers.pop(0)
            if isinstance(layer, network.Conv):
                norm, relu = layers.pop(0), bool(layers) and isinstance(layers[0], network.Relu)
                layers = layers[1:] if relu else layers
                x, scale, values = self.conv(layer, norm, relu, x, scale, values)
            elif isinstance(layer, network.Residual):
                y, _, inner = self.emit(layer.body, x, scale, values)
                name = f"add{next(self.count)}"
                values = np.maximum(values + inner, 0)
                y = self.b.node("Relu", [self.b.node("Add", [x, y], name)], name + ".relu")
                x, scale = self.quantised(y, name, values)
            else:
                values = values.mean((2, 3))
                x, scale = self.quantised(self.b.node("GlobalAveragePool", [x], "average"), "average", values)
                x = self.b.node("Flatten", [x], "flat")
                w, bias = self.weights("dense", layer.w, layer.b, scale)
                values = values @ layer.w.T + layer.b
                x, scale = self.quantised(self.b.node("Gemm", [x, w, bias], "dense", transB=1), "dense", values)
        return x, scale, values


def int8_model(layers, images):
    q = Quantiser()
    x, scale = q.quantised("image", "image", images)
    x, _, _ = q.emit(layers, x, scale, images)
    # Probabilities use the whole range by definition: 0 to 255/256.
    y, _ = q.quantised(q.b.node("Softmax", [x], "softmax", axis=1), "digit", scale=(np.float32(1 / 256), np.int8(-128)))
    q.b.nodes[-1].output[0] = "digit"
    return q.b.model("digits-int8")
