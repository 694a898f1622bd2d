#!/usr/bin/env python3
"""src/ops/unary.txt: the unary family on float32 and plain types, Lut and Where. ONNX Runtime where it has the
operator, numpy in float64 for the others."""
import math

import numpy as np

import ort
import twir

NUMPY = "numpy " + np.__version__
SHAPE = (1, 6, 5)
erf, erfc = np.vectorize(math.erf), np.vectorize(math.erfc)

# IR name, ONNX name or float64 function, attributes, low, high
FLOATS = [
    ("Relu", "Relu", {}, -3, 3),
    ("LeakyRelu", "LeakyRelu", {"alpha": 0.125}, -3, 3),
    ("LeakyRelu", "LeakyRelu", {}, -3, 3),
    ("Elu", "Elu", {"alpha": 1.5}, -5, 3),
    ("Selu", "Selu", {}, -5, 3),
    ("Celu", "Celu", {"alpha": 2.0}, -5, 3),
    ("ThresholdedRelu", "ThresholdedRelu", {"alpha": 0.5}, -2, 2),
    ("Sigmoid", "Sigmoid", {}, -12, 12),
    ("HardSigmoid", "HardSigmoid", {"alpha": 0.25, "beta": 0.375}, -4, 4),
    ("HardSigmoid", "HardSigmoid", {}, -4, 4),
    ("HardSwish", "HardSwish", {}, -5, 5),
    ("Tanh", "Tanh", {}, -5, 5),
    ("Softplus", "Softplus", {}, -10, 10),
    ("Softsign", "Softsign", {}, -10, 10),
    ("Mish", "Mish", {}, -8, 8),
    ("Gelu", lambda x: 0.5 * x * erfc(-x / math.sqrt(2)), {}, -5, 5),
    ("GeluTanh", lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))), {}, -5, 5),
    ("Swish", lambda x: x / (1 + np.exp(-1.702 * x)), {"alpha": 1.702}, -8, 8),
    ("Swish", lambda x: x / (1 + np.exp(-x)), {}, -8, 8),
    ("Erf", "Erf", {}, -4, 4),
    ("Erfc", erfc, {}, -3, 8),
    ("Exp", "Exp", {}, -20, 20),
    ("Log", "Log", {}, 0.001, 50),
    ("Sqrt", "Sqrt", {}, 0, 50),
    ("Rsqrt", lambda x: 1 / np.sqrt(x), {}, 0.001, 50),
    ("Reciprocal", "Reciprocal", {}, -4, 4),
    ("Abs", "Abs", {}, -3, 3),
    ("Neg", "Neg", {}, -3, 3),
    ("Floor", "Floor", {}, -4, 4),
    ("Ceil", "Ceil", {}, -4, 4),
    ("Round", "Round", {}, -4, 4),
    ("Trunc", np.trunc, {}, -4, 4),
    ("Sign", "Sign", {}, -3, 3),
    ("Square", np.square, {}, -5, 5),
    ("Sin", "Sin", {}, -50, 50),
    ("Cos", "Cos", {}, -50, 50),
    ("Clip", lambda x: np.clip(x, -1.5, 2.25), {"alpha": -1.5, "beta": 2.25}, -4, 4),
    ("Tan", "Tan", {}, -1.5, 1.5),
    ("Asin", "Asin", {}, -1, 1),
    ("Acos", "Acos", {}, -1, 1),
    ("Atan", "Atan", {}, -8, 8),
    ("Sinh", "Sinh", {}, -6, 6),
    ("Cosh", "Cosh", {}, -6, 6),
    ("Asinh", "Asinh", {}, -20, 20),
    ("Acosh", "Acosh", {}, 1, 20),
    ("Atanh", "Atanh", {}, -0.99, 0.99),
    ("Shrink", lambda x: np.where(x < -0.75, x + 0.25, np.where(x > 0.75, x - 0.25, 0)), {"alpha": 0.75, "beta": 0.25}, -3, 3),
    ("LogSigmoid", lambda x: -np.log1p(np.exp(-x)), {}, -10, 10),
    ("Expm1", np.expm1, {}, -5, 5),
    ("Log1p", np.log1p, {}, -0.95, 20),
    ("Logit", lambda x: np.log(x / (1 - x)), {}, 0.01, 0.99),
    ("Logit", lambda x: np.log(np.clip(x, 0.125, 0.875) / (1 - np.clip(x, 0.125, 0.875))), {"alpha": 0.125}, 0, 1),
]


def main():
    file = twir.File("unary.py")
    random = np.random.default_rng(3)

    def case(title, op, x, foreign=None, attributes=None):
        oracle, expected = ort.run(foreign or op, [x], attributes)
        file.case(title, oracle, op, [("x", x)], expected)

    for op, function, attributes, low, high in FLOATS:
        x = random.uniform(low, high, SHAPE).astype(np.float32)
        ends = [low, high, 0.5, 1.0] + ([0.0, -0.0, 2.5, -0.5, 1.5] if low < 0 and high > 1 else [])
        x.ravel()[:len(ends)] = ends
        if isinstance(function, str):
            oracle, expected = ort.run(function, [x], attributes)
        else:
            oracle, expected = NUMPY, function(x.astype(np.float64)).astype(np.float32)
        file.case(op, oracle, op, [("x", x)], expected, {k: twir.number(v) for k, v in attributes.items()},
                  tolerance="rtol 1e-5 atol 1e-6")

    for dtype in (np.int8, np.int16, np.int32, np.int64):
        limits = np.iinfo(dtype)
        x = random.integers(limits.min, limits.max, (1, 4, 3), dtype=dtype, endpoint=True)
        x.ravel()[:4] = limits.min + 1, limits.max, 0, -1
        for op in ("Relu", "Abs", "Neg", "Sign"):
            case(f"{op}, {np.dtype(dtype).name}", op, x)
    for dtype in (np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int32):
        limits = np.iinfo(dtype)
        x = random.integers(limits.min, limits.max, (1, 4, 3), dtype=dtype, endpoint=True)
        case(f"BitwiseNot, {np.dtype(dtype).name}", "BitwiseNot", x)
    flags = random.integers(0, 2, (1, 5, 3)).astype(bool)
    case("Not", "Not", flags)
    special = np.array([[0, -1, np.nan, np.inf, -np.inf, 3e38]], np.float32).T
    case("IsNaN", "IsNaN", special)
    for op, positive, negative in (("IsInf", 1, 1), ("IsPositiveInf", 1, 0), ("IsNegativeInf", 0, 1)):
        case(op, op, special, "IsInf", {"detect_positive": positive, "detect_negative": negative})
    table = random.integers(-128, 128, 256).astype(np.int8)
    x = random.integers(-128, 128, (1, 6, 7)).astype(np.int8)
    file.case("Lut", NUMPY, "Lut", [("x", x), ("t", table)], table[x.view(np.uint8)], constants=("t",))
    choice = random.integers(0, 2, (1, 5, 1, 3)).astype(bool)
    for dtype in (np.float32, np.int64, np.uint8, np.int16):
        a, b = random.integers(0, 100, (1, 5, 2, 3)).astype(dtype), random.integers(0, 100, (3,)).astype(dtype)
        oracle, expected = ort.run("Where", [choice, a, b])
        file.case(f"Where, {np.dtype(dtype).name}", oracle, "Where", [("c", choice), ("a", a), ("b", b)], expected)
    file.write("src/ops/unary.txt")


main()
