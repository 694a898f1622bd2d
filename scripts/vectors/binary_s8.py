#!/usr/bin/env python3
"""src/ops/binary_s8.txt: int8 binary operators, by TensorFlow Lite Micro."""
import numpy as np

import tflm
import twir
from tflm import schema

SHAPES = (((1, 7, 2, 3), (1, 7, 2, 3)), ((1, 5, 3, 3), (1, 1, 1, 3)), ((1, 1, 1, 1), (1, 5, 4, 2)))


def options(foreign):
    """ADD and its like must carry their (empty) options."""
    name = {"ADD": "Add", "SUB": "Sub", "MUL": "Mul", "DIV": "Div"}.get(foreign)
    return (getattr(schema, name + "OptionsT")(), name + "Options") if name else None


def large_quotients(stored, a, b, y):
    """The reference shifts quotients of nearly nothing by more than 31 bits and yields anything; so it
    does for division by zero. Those operands give way to the one before zero and the farthest from it."""
    top, bottom = (x.astype(int) - q.zero for x, q in zip(stored, (a, b)))
    quotient = np.abs(top * a.scale / (np.where(bottom == 0, 1, bottom) * b.scale * y.scale))
    small = (quotient < 1) | (bottom == 0)
    far, near = (-128 if a.zero > 0 else 127), (b.zero - 1 if b.zero > 0 else b.zero + 1)
    return [np.where(small, far, stored[0]).astype(np.int8), np.where(small, near, stored[1]).astype(np.int8)]


def main():
    file = twir.File("binary_s8.py")
    random = np.random.default_rng(11)

    def quant(low=0.004, high=0.1):
        return twir.Quant(random.uniform(low, high), random.integers(-128, 128))

    def case(op, foreign, shapes, a, b, y, constants=(), result="int8"):
        stored = [random.integers(-128, 128, s).astype(np.int8) for s in shapes]
        if foreign == "DIV":
            stored = large_quotients(stored, a, b, y)
        out = np.broadcast_shapes(*shapes)
        if foreign == "PRELU":
            flat = [stored[0], stored[1].reshape(stored[1].shape[1:])]
        else:
            flat = stored
        expected = tflm.run(foreign, flat, [a, b], result, y if result == "int8" else None, out,
                            options(foreign), constants)
        title = " and ".join("x".join(map(str, s)) for s in shapes)
        file.case(f"{op}, {title}", tflm.VERSION, op, [("a", stored[0]), ("b", stored[1])], expected, None,
                  {"a": a, "b": b}, y if result == "int8" else None)

    for shapes in SHAPES:
        case("Add", "ADD", shapes, quant(), quant(), quant())
        case("Sub", "SUB", shapes, quant(), quant(), quant())
        case("Mul", "MUL", shapes, quant(), quant(), quant(0.01, 0.05))
        case("SquaredDifference", "SQUARED_DIFFERENCE", shapes, quant(), quant(), quant(0.01, 0.2))
        same = quant()
        case("Max", "MAXIMUM", shapes, same, same, same)
        case("Min", "MINIMUM", shapes, same, same, same)
        for op, foreign in (("Equal", "EQUAL"), ("NotEqual", "NOT_EQUAL"), ("Less", "LESS"), ("LessOrEqual", "LESS_EQUAL"),
                            ("Greater", "GREATER"), ("GreaterOrEqual", "GREATER_EQUAL")):
            coarse = quant(0.3, 0.9)  # the reference rounds finer scales away
            case(op, foreign, shapes, coarse, coarse, None, result="bool")
    for _ in range(3):
        case("Add", "ADD", SHAPES[0], quant(0.001, 0.3), quant(0.001, 0.3), quant(0.001, 0.3))
        case("PRelu", "PRELU", ((1, 6, 2, 4), (1, 1, 1, 4)), quant(), quant(), quant(), (1,))
        case("Div", "DIV", SHAPES[0], quant(), quant(0.01, 0.1), quant(0.02, 0.1))
    # Operators without a fixed-point reference: the real formula. Scales are powers of two, so that the
    # operands and the quotients' jumps are exact.
    for op, function in (("Pow", np.power), ("Mod", np.mod), ("FMod", np.fmod), ("FloorDiv", np.floor_divide)):
        a, b, y = twir.Quant(0.0625, -128 if op == "Pow" else 5), twir.Quant(0.25, -9), twir.Quant(0.125, -70)
        stored = [random.integers(-126, 128, s).astype(np.int8) for s in SHAPES[1]]
        stored[1] = np.where(stored[1] == b.zero, np.int8(-1), stored[1])
        if op == "Pow":
            stored[1] = random.integers(-17, 3, SHAPES[1][1]).astype(np.int8)
        real = function(*(q.scale * (x.astype(float) - q.zero) for x, q in zip(stored, (a, b)))) / y.scale
        expected = np.clip(np.sign(real) * np.floor(np.abs(real) + 0.5) + y.zero, -128, 127).astype(np.int8)
        file.case(op, "numpy " + np.__version__, op, [("a", stored[0]), ("b", stored[1])], expected, None,
                  {"a": a, "b": b}, y)
    file.write("src/ops/binary_s8.txt")


main()
