#!/usr/bin/env python3
"""src/ops/double.txt: what float64 is computed with, by numpy in double."""
import math

import numpy as np

import twir

NUMPY = "numpy " + np.__version__
erf, erfc = np.vectorize(math.erf), np.vectorize(math.erfc)


def soft_plus(x):
    return np.logaddexp(0, x)


# IR name, function, attributes, low, high
UNARY = [
    ("Relu", lambda x: np.maximum(x, 0), {}, -3, 3),
    ("LeakyRelu", lambda x: np.where(x < 0, 0.125 * x, x), {"alpha": 0.125}, -3, 3),
    ("Elu", lambda x: np.where(x > 0, x, 1.5 * np.expm1(x)), {"alpha": 1.5}, -3, 3),
    ("Selu", lambda x: 1.25 * np.where(x > 0, x, 1.5 * np.expm1(x)), {"alpha": 1.5, "beta": 1.25}, -3, 3),
    ("Celu", lambda x: np.where(x > 0, x, 2 * np.expm1(x / 2)), {"alpha": 2.0}, -3, 3),
    ("ThresholdedRelu", lambda x: np.where(x > 0.5, x, 0), {"alpha": 0.5}, -2, 2),
    ("Sigmoid", lambda x: 1 / (1 + np.exp(-x)), {}, -9, 9),
    ("HardSigmoid", lambda x: np.clip(0.25 * x + 0.375, 0, 1), {"alpha": 0.25, "beta": 0.375}, -4, 4),
    ("HardSwish", lambda x: x * np.clip(x / 6 + 0.5, 0, 1), {}, -4, 4),
    ("Tanh", np.tanh, {}, -4, 4),
    ("Softplus", soft_plus, {}, -9, 9),
    ("Softsign", lambda x: x / (1 + np.abs(x)), {}, -9, 9),
    ("Mish", lambda x: x * np.tanh(soft_plus(x)), {}, -5, 5),
    ("Gelu", lambda x: 0.5 * x * erfc(-x / math.sqrt(2)), {}, -4, 4),
    ("GeluTanh", lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))), {}, -4, 4),
    ("Swish", lambda x: x / (1 + np.exp(-1.5 * x)), {"alpha": 1.5}, -6, 6),
    ("Erf", erf, {}, -3, 3),
    ("Erfc", erfc, {}, -3, 3),
    ("Exp", np.exp, {}, -9, 9),
    ("Expm1", np.expm1, {}, -2, 2),
    ("Log", np.log, {}, 0.01, 9),
    ("Log1p", np.log1p, {}, -0.9, 9),
    ("Sqrt", np.sqrt, {}, 0, 9),
    ("Rsqrt", lambda x: 1 / np.sqrt(x), {}, 0.1, 9),
    ("Reciprocal", lambda x: 1 / x, {}, 0.2, 5),
    ("Abs", np.abs, {}, -3, 3),
    ("Neg", np.negative, {}, -3, 3),
    ("Floor", np.floor, {}, -4, 4),
    ("Ceil", np.ceil, {}, -4, 4),
    ("Round", np.rint, {}, -4, 4),
    ("Trunc", np.trunc, {}, -4, 4),
    ("Sign", np.sign, {}, -3, 3),
    ("Square", np.square, {}, -3, 3),
    ("Clip", lambda x: np.clip(x, -1.5, 2.25), {"alpha": -1.5, "beta": 2.25}, -4, 4),
    ("Sin", np.sin, {}, -9, 9),
    ("Cos", np.cos, {}, -9, 9),
    ("Tan", np.tan, {}, -1.5, 1.5),
    ("Asin", np.arcsin, {}, -1, 1),
    ("Acos", np.arccos, {}, -1, 1),
    ("Atan", np.arctan, {}, -5, 5),
    ("Sinh", np.sinh, {}, -3, 3),
    ("Cosh", np.cosh, {}, -3, 3),
    ("Asinh", np.arcsinh, {}, -5, 5),
    ("Acosh", np.arccosh, {}, 1, 6),
    ("Atanh", np.arctanh, {}, -0.9, 0.9),
    ("LogSigmoid", lambda x: -soft_plus(-x), {}, -6, 6),
]
SPECIAL = np.array([0.5, np.nan, np.inf, -np.inf, -2.0])
TESTS = [("IsNaN", np.isnan), ("IsInf", np.isinf), ("IsPositiveInf", np.isposinf), ("IsNegativeInf", np.isneginf)]
BINARY = [
    ("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Div", np.divide), ("Max", np.maximum), ("Min", np.minimum),
    ("Mod", np.mod), ("FMod", np.fmod), ("FloorDiv", lambda a, b: np.floor(a / b)), ("SquaredDifference", lambda a, b: (a - b) ** 2),
    ("PRelu", lambda a, b: np.where(a < 0, a * b, a)), ("Atan2", np.arctan2),
    ("Equal", np.equal), ("NotEqual", np.not_equal), ("Less", np.less), ("LessOrEqual", np.less_equal), ("Greater", np.greater),
    ("GreaterOrEqual", np.greater_equal),
]
REDUCE = [
    ("ReduceSum", np.sum), ("ReduceMean", np.mean), ("ReduceMax", np.max), ("ReduceMin", np.min), ("ReduceProd", np.prod),
    ("ReduceL1", lambda x, **k: np.sum(np.abs(x), **k)), ("ReduceL2", lambda x, **k: np.sqrt(np.sum(x * x, **k))),
    ("ReduceLogSum", lambda x, **k: np.log(np.sum(x, **k))), ("ReduceLogSumExp", lambda x, **k: np.log(np.sum(np.exp(x), **k))),
    ("ReduceSumSquare", lambda x, **k: np.sum(x * x, **k)),
]


def main():
    random, file, near = np.random.default_rng(64), twir.File("double.py"), "rtol 1e-13 atol 1e-15"
    for op, function, attributes, low, high in UNARY:
        x = random.uniform(low, high, (1, 3, 4))
        file.case(f"{op}, float64", NUMPY, op, [("x", x)], function(x), attributes, tolerance=near)
    for op, function in TESTS:
        file.case(f"{op}, float64", NUMPY, op, [("x", SPECIAL)], function(SPECIAL))
    for op, function in BINARY:
        a, b = random.uniform(-3, 3, (2, 3, 4)), random.uniform(-3, 3, (3, 1))
        a[0, 0, 0] = b[0, 0]
        file.case(f"{op}, float64", NUMPY, op, [("a", a), ("b", b)], function(a, b), tolerance=near)
    a, b = random.uniform(0.1, 3, (1, 5)), random.uniform(-3, 3, (1, 5))
    file.case("Pow, float64", NUMPY, "Pow", [("a", a), ("b", b)], np.power(a, b), tolerance=near)
    a = np.array([np.nan, 1, np.nan, 2.0])
    b = np.array([1, np.nan, np.nan, 3.0])
    file.case("Max of NaN, float64", NUMPY, "Max", [("a", a), ("b", b)], np.maximum(a, b))
    file.case("Min of NaN, float64", NUMPY, "Min", [("a", a), ("b", b)], np.minimum(a, b))
    for op, function in REDUCE:
        x = random.uniform(0.1, 3, (2, 3, 4))
        file.case(f"{op} of two axes, float64", NUMPY, op, [("x", x)], function(x, axis=(1, 2), keepdims=True), {"axes": "[1, 2]"}, tolerance=near)
        file.case(f"{op} of the first axis, float64", NUMPY, op, [("x", x)], function(x, axis=0), {"axes": "[0]", "keepdims": 0}, tolerance=near)
    x = random.uniform(-2, 2, (2, 5))
    file.case("CumSum, float64", NUMPY, "CumSum", [("x", x)], np.cumsum(x, 1), {"axis": 1}, tolerance=near)
    file.case("CumProd, float64", NUMPY, "CumProd", [("x", x)], np.cumprod(x[::-1], 0)[::-1], {"axis": 0, "reverse": 1}, tolerance=near)
    a, b = random.uniform(-1, 1, (2, 3, 4)), random.uniform(-1, 1, (4, 5))
    file.case("MatMul, float64", NUMPY, "MatMul", [("a", a), ("b", b)], a @ b, tolerance=near)
    c = np.ascontiguousarray(b.T)
    file.case("MatMul by a turned matrix, float64", NUMPY, "MatMul", [("a", a), ("b", c)], a @ b, {"transpose_b": 1}, tolerance=near)
    file.write("src/ops/double.txt")


if __name__ == "__main__":
    main()
