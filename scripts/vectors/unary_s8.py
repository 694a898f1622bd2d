#!/usr/bin/env python3
"""src/ops/unary_s8.txt: int8 unary operators, by TensorFlow Lite Micro."""
import numpy as np

import tflm
import twir
from tflm import schema

STORED = np.arange(-128, 128, dtype=np.int8).reshape(1, 16, 16, 1)


def alpha(value):
    options = schema.LeakyReluOptionsT()
    options.alpha = value
    return options, "LeakyReluOptions"


def main():
    file = twir.File("unary_s8.py")
    seen = set()
    random = np.random.default_rng(7)

    def case(title, op, foreign, x, y, options=None, attributes=None):
        """Every stored value the first time, a sixth of them after that."""
        stored = random.choice(STORED.ravel(), (1, 7, 6, 1), replace=False) if op in seen else STORED
        seen.add(op)
        expected = tflm.run(foreign, [stored], [x], "int8", y, stored.shape, options)
        file.case(f"{op}, {title}", tflm.VERSION, op, [("x", stored)], expected, attributes, {"x": x}, y)

    for op, foreign, y in (("Sigmoid", "LOGISTIC", twir.Quant(1 / 256, -128)), ("Tanh", "TANH", twir.Quant(1 / 128, 0))):
        for scale, zero in ((0.05, -3), (0.0234, 40), (0.1049, -5), (0.17, 3), (0.0061, -90), (0.0321, 12)):
            case(f"scale {scale}", op, foreign, twir.Quant(scale, zero), y)
    for i in range(4):
        x = twir.Quant(random.uniform(0.01, 0.1), random.integers(-128, 128))
        y = twir.Quant(random.uniform(0.01, 0.1), random.integers(-128, 64))
        case(f"scales {i}", "Relu", "RELU", x, y)
        case(f"scales {i}", "HardSwish", "HARD_SWISH", x, y)
        case(f"scales {i}", "Elu", "ELU", x, y)
        case(f"scales {i}", "Abs", "ABS", x, y)
        slope = float(np.float32((0.01, 0.3, -0.25, 0.1)[i]))
        case(f"scales {i}", "LeakyRelu", "LEAKY_RELU", x, y, alpha(slope), {"alpha": twir.number(slope)})
        positive = twir.Quant(x.scale, -128)
        case(f"scales {i}", "Rsqrt", "RSQRT", positive, twir.Quant(random.uniform(0.01, 0.1), -100))
    for scale, zero in ((6 / 255, -128), (0.0472, -128), (0.05, -60)):
        same = twir.Quant(scale, zero)
        case(f"scale {scale:.4g}", "Clip", "RELU6", same, same, None, {"alpha": "0", "beta": "6"})
    same = twir.Quant(0.05, 9)
    case("equal scales", "Relu", "RELU", same, same)
    case("equal scales", "Abs", "ABS", same, same)
    file.write("src/ops/unary_s8.txt")


main()
