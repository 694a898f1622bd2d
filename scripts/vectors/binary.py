#!/usr/bin/env python3
"""src/ops/binary.txt: the binary family on float32 and plain types. ONNX Runtime where it has the operator,
numpy for the others."""
import numpy as np

import ort
import twir

NUMPY = "numpy " + np.__version__
SHAPES = [((1, 5, 4), (1, 5, 4)), ((1, 5, 4), (4,)), ((), (1, 6, 3)), ((1, 4, 1, 3), (2, 1)), ((1, 3, 2, 1, 2, 2), (3, 1, 2, 1, 2))]
FLOATS = [  # IR name, ONNX name or float64 function, lows and highs of both operands
    ("Add", "Add", -3, 3, -3, 3),
    ("Sub", "Sub", -3, 3, -3, 3),
    ("Mul", "Mul", -3, 3, -3, 3),
    ("Div", "Div", -3, 3, 0.25, 3),
    ("Max", "Max", -3, 3, -3, 3),
    ("Min", "Min", -3, 3, -3, 3),
    ("Pow", "Pow", 0.1, 3, -3, 3),
    ("FMod", ("Mod", {"fmod": 1}), -9, 9, 0.5, 3),
    ("Mod", np.mod, -9, 9, -3, -0.5),
    ("FloorDiv", np.floor_divide, -9, 9, 0.5, 3),
    ("SquaredDifference", lambda a, b: (a - b) ** 2, -3, 3, -3, 3),
    ("PRelu", "PRelu", -3, 3, -1, 1),
]
COMPARE = [("Equal", "Equal"), ("Less", "Less"), ("LessOrEqual", "LessOrEqual"), ("Greater", "Greater"),
           ("GreaterOrEqual", "GreaterOrEqual"), ("NotEqual", np.not_equal)]
INTEGERS = [("Add", "Add"), ("Sub", "Sub"), ("Mul", "Mul"), ("Div", "Div"), ("Max", "Max"), ("Min", "Min"), ("Pow", np.power),
            ("Mod", "Mod"), ("FMod", np.fmod), ("FloorDiv", np.floor_divide), ("SquaredDifference", lambda a, b: (a - b) * (a - b)),
            ("PRelu", lambda a, b: np.where(a < 0, a * b, a))]


def compute(function, a, b, real):
    if isinstance(function, str):
        return ort.run(function, [a, b])
    if isinstance(function, tuple):
        return ort.run(function[0], [a, b], function[1])
    if real:
        a, b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(over="ignore"):
        result = function(a, b)
    return NUMPY, np.asarray(result, np.float32 if real and result.dtype != bool else result.dtype)


def main():
    file = twir.File("binary.py")
    random = np.random.default_rng(5)

    def case(op, title, oracle, a, b, expected, tolerance=""):
        shapes = " and ".join("x".join(map(str, x.shape)) or "scalar" for x in (a, b))
        file.case(f"{op}, {title}, {shapes}", oracle, op, [("a", a), ("b", b)], expected, tolerance=tolerance)

    def both(op, foreign, a, b, attributes=None):
        oracle, expected = ort.run(foreign, [a, b], attributes)
        case(op, a.dtype.name, oracle, a, b, expected)

    for op, function, *ranges in FLOATS:
        for left, right in (SHAPES if op in ("Add", "Sub", "Div") else SHAPES[1::2]):
            if op == "PRelu" and len(right) == 2:
                right = (3,)
            a = random.uniform(ranges[0], ranges[1], left).astype(np.float32)
            b = random.uniform(ranges[2], ranges[3], right).astype(np.float32)
            oracle, expected = compute(function, a, b, True)
            case(op, "float32", oracle, a, b, expected, "rtol 1e-5 atol 1e-6")
    for op, function in COMPARE:
        for dtype in (np.float32, np.int32, np.int64):
            a, b = (random.integers(-2, 3, s).astype(dtype) for s in ((1, 4, 3), (3,)))
            oracle, expected = compute(function, a, b, False)
            case(op, np.dtype(dtype).name, oracle, a, b, expected)
    for dtype in (np.int32, np.int64, np.uint8, np.int8):
        limits = np.iinfo(dtype)
        for op, function in INTEGERS:
            a = random.integers(limits.min, limits.max, (1, 4, 3), dtype=dtype, endpoint=True)
            b = random.integers(1, 5 if op in ("Pow", "PRelu") else 50, (1, 1, 3)).astype(dtype)
            if limits.min < 0 and op not in ("Pow", "PRelu"):
                b.ravel()[0] = -7
            oracle, expected = compute(function, a, b, False)
            case(op, np.dtype(dtype).name, oracle, a, b, expected.astype(dtype))
    for op in ("And", "Or", "Xor"):
        a, b = (random.integers(0, 2, s).astype(bool) for s in ((1, 4, 3), (4, 1)))
        both(op, op, a, b)
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        for dtype in (np.int32, np.uint8):
            limits = np.iinfo(dtype)
            a, b = (random.integers(limits.min, limits.max, s, dtype=dtype, endpoint=True) for s in ((1, 4, 3), (3,)))
            both(op, op, a, b)
    for op, direction in (("ShiftLeft", "LEFT"), ("ShiftRight", "RIGHT")):
        for dtype in (np.uint8, np.uint32, np.uint64):
            a = random.integers(0, np.iinfo(dtype).max, (1, 4, 3), dtype=dtype, endpoint=True)
            b = random.integers(0, 8, (3,)).astype(dtype)
            both(op, "BitShift", a, b, {"direction": direction})
    for dtype in (np.int8, np.int32, np.int64, np.uint16):
        limits = np.iinfo(dtype)
        bits = 8 * np.dtype(dtype).itemsize
        a = random.integers(limits.min, limits.max, (1, 4, 3), dtype=dtype, endpoint=True)
        b = np.asarray([3, bits + 2, -1 if limits.min < 0 else 0], dtype)
        case("ArithmeticShiftRight", np.dtype(dtype).name, NUMPY, a, b, np.right_shift(a, np.clip(b, 0, bits - 1)))
    a, b = (random.uniform(-3, 3, s).astype(np.float32) for s in ((1, 4, 3), (3,)))
    a[0, 0], b[0] = [0, -0.0, np.inf], -1
    case("Atan2", "float32", NUMPY, a, b, np.arctan2(a.astype(np.float64), b.astype(np.float64)).astype(np.float32))
    file.write("src/ops/binary.txt")


main()
