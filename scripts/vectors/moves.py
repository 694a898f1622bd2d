#!/usr/bin/env python3
"""src/ops/{concat,slice,pad,transpose,copy,view}.txt: moves and views. ONNX Runtime where it has the operator,
numpy for the others."""
import numpy as np

import ort
import twir

NUMPY = "numpy " + np.__version__
EXACT = "rtol 0 atol 0"
random = np.random.default_rng(11)


def fill(shape, dtype):
    if dtype == bool:
        return random.integers(0, 2, shape).astype(bool)
    if np.issubdtype(dtype, np.floating):
        return random.uniform(-3, 3, shape).astype(dtype)
    return random.integers(-100, 100, shape).astype(dtype)


def words(*arrays):
    return " and ".join("x".join(map(str, a.shape)) or "scalar" for a in arrays)


def concat():
    file = twir.File("moves.py")
    for dtype, axis, shapes in ((np.float32, 1, ((1, 2, 3), (1, 4, 3))), (np.float32, -1, ((1, 3, 2), (1, 3, 1), (1, 3, 4))),
                                (np.int64, 0, ((2, 2), (1, 2))), (np.int8, 2, ((2, 1, 3, 2), (2, 1, 1, 2))),
                                (bool, 1, ((1, 5), (1, 3)))):
        parts = [fill(s, dtype) for s in shapes]
        oracle, expected = ort.run("Concat", parts, {"axis": axis})
        file.case(f"axis {axis}, {words(*parts)}", oracle, "Concat", [(f"x{i}", p) for i, p in enumerate(parts)],
                  expected, {"axis": axis}, tolerance=EXACT)
    quant = twir.Quant(0.05, 7)
    parts = [fill((1, 4, 2), np.int8), fill((1, 2, 2), np.int8)]
    file.case("quantised", NUMPY, "Concat", [("a", parts[0]), ("b", parts[1])], np.concatenate(parts, 1), {"axis": 1},
              {"a": quant, "b": quant}, quant)
    file.write("src/ops/concat.txt")


def cut():
    file = twir.File("moves.py")
    far = -1000
    for dtype, shape, starts, ends, steps in (
            (np.float32, (1, 9, 3), (0, 2, 1), (1, 8, 3), (1, 1, 1)), (np.float32, (1, 9, 2), (0, 1, 0), (1, 9, 2), (1, 3, 1)),
            (np.int16, (2, 5, 4), (0, 4, 3), (2, far, far), (1, -2, -1)), (np.uint8, (7,), (6,), (0,), (-3,)),
            (np.int64, (1, 1, 6), (0, 0, 5), (1, 1, far), (1, 1, -1))):
        x = fill(shape, dtype) if dtype != np.uint8 else random.integers(0, 256, shape).astype(dtype)
        axes = np.arange(len(shape))
        oracle, expected = ort.run("Slice", [x] + [np.asarray(a, np.int64) for a in (starts, ends, axes, steps)])
        file.case(f"{words(x)}, steps {list(steps)}", oracle, "Slice", [("x", x)], expected,
                  {"begin": list(starts), "size": list(expected.shape), "step": list(steps)}, tolerance=EXACT)
    file.write("src/ops/slice.txt")


def pad():
    file = twir.File("moves.py")
    modes = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "wrap", "symmetric": None}
    for mode, foreign in modes.items():
        for dtype, shape, before, after in ((np.float32, (1, 4, 3), (0, 2, 1), (0, 1, 2)), (np.int32, (2, 3, 2, 1), (0, 1, 1, 0), (1, 2, 0, 0))):
            x = fill(shape, dtype)
            if mode == "reflect" and len(shape) == 4:
                before, after = (0, 1, 1, 0), (1, 2, 1, 0)
            if foreign:
                value = [np.asarray(5, dtype)] if mode == "constant" else []
                oracle, expected = ort.run("Pad", [x, np.asarray(before + after, np.int64)] + value, {"mode": foreign})
            else:
                oracle, expected = NUMPY, np.pad(x, list(zip(before, after)), "symmetric")
            attributes = {"before": list(before), "after": list(after), "mode": mode}
            if mode == "constant":
                attributes["value"] = 5
            file.case(f"{mode}, {words(x)}", oracle, "Pad", [("x", x)], expected, attributes, tolerance=EXACT)
    x = fill((1, 3, 2), np.int8)
    quant = twir.Quant(0.5, -11)
    expected = np.pad(x, [(0, 0), (1, 2), (0, 0)], constant_values=-11 + 6)
    file.case("quantised, value 3", NUMPY, "Pad", [("x", x)], expected, {"before": [0, 1, 0], "after": [0, 2, 0], "value": 3},
              {"x": quant}, quant)
    file.write("src/ops/pad.txt")


def transpose():
    file = twir.File("moves.py")
    for dtype, shape, perm in ((np.float32, (1, 3, 4, 2), (0, 2, 3, 1)), (np.float32, (1, 3, 4, 2), (0, 3, 1, 2)), (np.int8, (3, 5), (1, 0)),
                               (np.int64, (2, 1, 3), (2, 0, 1)), (np.float16, (2, 3, 1, 2, 2, 2), (5, 0, 3, 1, 2, 4)), (np.int16, (2, 3, 4), None)):
        x = fill(shape, dtype)
        oracle, expected = ort.run("Transpose", [x], {"perm": list(perm)} if perm else None)
        file.case(f"{words(x)}, perm {list(perm) if perm else 'reversed'}", oracle, "Transpose", [("x", x)], expected,
                  {"perm": list(perm)} if perm else None, tolerance=EXACT)
    file.write("src/ops/transpose.txt")


def same():
    copies, views = twir.File("moves.py"), twir.File("moves.py")
    x = fill((1, 3, 4), np.float32)
    oracle, expected = ort.run("Identity", [x])
    copies.case(words(x), oracle, "Copy", [("x", x)], expected, tolerance=EXACT)
    views.case(words(x), oracle, "Identity", [("x", x)], expected, tolerance=EXACT)
    for dtype, shape, target in ((np.float32, (1, 3, 4), (1, 12)), (np.int32, (2, 6), (3, 1, 4)), (np.uint8, (1,), ()), (np.float32, (), (1, 1, 1))):
        x = fill(shape, dtype) if dtype != np.uint8 else np.asarray([200], np.uint8)
        oracle, expected = ort.run("Reshape", [x, np.asarray(target, np.int64)])
        views.case(f"{words(x)} to {list(target)}", oracle, "Reshape", [("x", x)], expected, {"shape": list(target)}, tolerance=EXACT)
    copies.write("src/ops/copy.txt")
    views.write("src/ops/view.txt")


concat()
cut()
pad()
transpose()
same()
