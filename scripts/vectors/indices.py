#!/usr/bin/env python3
"""src/ops/{tile,gather,gather_elements,gather_nd,scatter_elements,scatter_nd,update_slice,reverse_sequence,
cumulate,top_indices,det,bit_cast}.txt: operators by index and along axes. ONNX Runtime where it has the operator,
numpy for the others."""
import numpy as np

import ort
import twir

NUMPY = "numpy " + np.__version__
EXACT = "rtol 0 atol 0"
random = np.random.default_rng(23)


def fill(shape, dtype, low=-100, high=100):
    if dtype == bool:
        return random.integers(0, 2, shape).astype(bool)
    if np.issubdtype(dtype, np.floating):
        return random.uniform(-3, 3, shape).astype(dtype)
    return random.integers(low, high, shape).astype(dtype)


def words(*arrays):
    return " and ".join("x".join(map(str, a.shape)) or "scalar" for a in arrays)


def tile():
    file = twir.File("indices.py")
    for dtype, shape, repeats in ((np.float32, (2, 3), (2, 2)), (np.float32, (1, 1, 4), (2, 3, 1)), (np.int8, (1, 3, 1), (1, 2, 5)),
                                  (np.int64, (3,), (3,)), (np.uint8, (2, 1, 2), (1, 4, 0)), (np.float32, (), ())):
        x = fill(shape, dtype) if dtype != np.uint8 else fill(shape, dtype, 0, 256)
        oracle, expected = ort.run("Tile", [x, np.asarray(repeats, np.int64)])
        file.case(f"{words(x)}, {list(repeats)} copies", oracle, "Tile", [("x", x)], expected,
                  {"repeats": list(repeats)} if repeats else None, tolerance=EXACT)
    x = fill((1, 1, 3), np.int16)
    oracle, expected = ort.run("Expand", [x, np.asarray((2, 4, 3), np.int64)])
    file.case("expanded", oracle, "Tile", [("x", x)], expected, {"repeats": [2, 4, 1]}, tolerance=EXACT)
    file.write("src/ops/tile.txt")


def gather():
    file = twir.File("indices.py")
    for dtype, shape, axis, indices, kind in ((np.float32, (5, 4), 0, [[0, 4], [-1, 2]], np.int64), (np.int8, (1, 3, 6), -1, [5, 0, 0, -6], np.int32),
                                              (np.float32, (2, 3, 2), 1, 2, np.int64), (bool, (4,), 0, [3, 1], np.int64),
                                              (np.int64, (2, 4, 3), 1, [[[1, 0, -1]]], np.int32), (np.float16, (3, 2), 0, [], np.int64)):
        x, i = fill(shape, dtype), np.asarray(indices, kind)
        oracle, expected = ort.run("Gather", [x, i], {"axis": axis})
        file.case(f"axis {axis} of {words(x)}, indices {words(i)}", oracle, "Gather", [("x", x), ("i", i)], expected, {"axis": axis},
                  tolerance=EXACT)
    x, i = fill((2, 3, 4), np.float32), random.integers(-3, 3, (2, 5)).astype(np.int32)
    file.case("one shared axis", NUMPY, "Gather", [("x", x), ("i", i)], np.stack([np.take(a, b, 0) for a, b in zip(x, i)]),
              {"axis": 1, "batch_dims": 1}, tolerance=EXACT)
    x, i = fill((2, 3, 4), np.int16), random.integers(0, 4, (2, 2)).astype(np.int64)
    file.case("one shared axis, the last gathered", NUMPY, "Gather", [("x", x), ("i", i)],
              np.stack([np.take(a, b, 1) for a, b in zip(x, i)]), {"axis": 2, "batch_dims": 1}, tolerance=EXACT)
    quant, x, i = twir.Quant(0.05, 7), fill((4, 3), np.int8), np.asarray([2, 0], np.int64)
    file.case("quantised", NUMPY, "Gather", [("x", x), ("i", i)], x[i], None, {"x": quant}, quant)
    file.write("src/ops/gather.txt")


def gather_elements():
    file = twir.File("indices.py")
    for dtype, shape, axis, count, kind in ((np.float32, (3, 4), 0, (2, 4), np.int64), (np.int8, (2, 3, 5), -1, (2, 3, 7), np.int32),
                                            (np.int64, (3, 3), 1, (2, 3), np.int64), (bool, (4,), 0, (6,), np.int32)):
        x = fill(shape, dtype)
        i = random.integers(-shape[axis], shape[axis], count).astype(kind)
        oracle, expected = ort.run("GatherElements", [x, i], {"axis": axis})
        file.case(f"axis {axis} of {words(x)}, indices {words(i)}", oracle, "GatherElements", [("x", x), ("i", i)], expected,
                  {"axis": axis}, tolerance=EXACT)
    file.write("src/ops/gather_elements.txt")


def gather_nd():
    file = twir.File("indices.py")
    for dtype, shape, count, batch in ((np.float32, (3, 4, 2), (5, 2), 0), (np.int8, (3, 4), (2, 3, 1), 0), (np.int64, (2, 3, 4), (2, 2, 1), 1),
                                       (np.float32, (2, 3, 4), (2, 3, 1), 2), (np.float32, (3, 2), (4, 2), 0)):
        x = fill(shape, dtype)
        i = np.stack([random.integers(-d, d, count[:-1]) for d in shape[batch:batch + count[-1]]], -1).astype(np.int64)
        oracle, expected = ort.run("GatherND", [x, i], {"batch_dims": batch})
        file.case(f"{words(x)}, tuples {words(i)}, {batch} shared", oracle, "GatherND", [("x", x), ("i", i)], expected,
                  {"batch_dims": batch}, tolerance=EXACT)
    x, i = fill((3, 2), np.float32), np.asarray([[2], [-3]], np.int32)
    file.case("32-bit indices", NUMPY, "GatherND", [("x", x), ("i", i)], x[i[:, 0]], tolerance=EXACT)
    file.write("src/ops/gather_nd.txt")


def scatter_elements():
    file = twir.File("indices.py")
    for dtype, shape, axis, count, how in ((np.float32, (4, 3), 0, (2, 3), "none"), (np.int8, (2, 3, 5), -1, (2, 3, 2), "none"),
                                           (np.float32, (3, 5), 1, (3, 4), "add"), (np.int64, (3, 5), 1, (2, 7), "max"),
                                           (np.int32, (4, 2), 0, (5, 2), "mul"), (np.float32, (1, 6), -1, (1, 9), "min")):
        x, updates = fill(shape, dtype), fill(count, dtype)
        if how == "none":  # no place twice
            i = np.argsort(random.uniform(size=[shape[k] if k == axis % len(shape) else d for k, d in enumerate(count)]), axis)
            i = np.take(i, range(count[axis]), axis).astype(np.int64)
        else:
            i = random.integers(-shape[axis], shape[axis], count).astype(np.int64)
        oracle, expected = ort.run("ScatterElements", [x, i, updates], {"axis": axis, "reduction": how})
        file.case(f"axis {axis} of {words(x)}, updates {words(updates)}, {how}", oracle, "ScatterElements",
                  [("x", x), ("i", i), ("u", updates)], expected, {"axis": axis, "reduction": how}, tolerance=EXACT if how != "add" else "")
    file.write("src/ops/scatter_elements.txt")


def scatter_nd():
    file = twir.File("indices.py")
    for dtype, shape, tuples, how in ((np.float32, (4, 3, 2), [[2], [-4]], "none"), (np.int8, (3, 4), [[[0, 1], [2, -1]], [[1, 1], [0, 0]]], "none"),
                                      (np.float32, (4, 3), [[2], [0], [2]], "add"), (np.int32, (3, 3), [[1, 1], [0, 2], [1, 1]], "mul"),
                                      (np.int64, (5,), [[4], [0], [4]], "max"), (np.float32, (2, 2, 3), [[1, 0], [1, 0]], "min")):
        i = np.asarray(tuples, np.int64)
        x, updates = fill(shape, dtype), fill(i.shape[:-1] + shape[i.shape[-1]:], dtype)
        oracle, expected = ort.run("ScatterND", [x, i, updates], {"reduction": how})
        file.case(f"{words(x)}, tuples {words(i)}, {how}", oracle, "ScatterND", [("x", x), ("i", i), ("u", updates)], expected,
                  {"reduction": how}, tolerance=EXACT if how != "add" else "")
    file.write("src/ops/scatter_nd.txt")


def update_slice():
    file = twir.File("indices.py")
    for dtype, shape, part, begin in ((np.float32, (1, 5, 3), (1, 2, 3), (0, 3, 0)), (np.int8, (4, 4), (2, 3), (9, -2)), (np.int64, (6,), (6,), (3,))):
        x, u = fill(shape, dtype), fill(part, dtype)
        at = [min(max(b, 0), s - p) for b, s, p in zip(begin, shape, part)]
        expected = x.copy()
        expected[tuple(slice(a, a + p) for a, p in zip(at, part))] = u
        file.case(f"{words(u)} in {words(x)} at {list(begin)}", NUMPY, "UpdateSlice", [("x", x), ("u", u), ("b", np.asarray(begin, np.int32))],
                  expected, tolerance=EXACT)
    file.write("src/ops/update_slice.txt")


def reverse_sequence():
    file = twir.File("indices.py")
    for dtype, shape, time, batch, lengths in ((np.float32, (4, 3, 2), 0, 1, (4, 1, 3)), (np.float32, (2, 5), 1, 0, (3, 5)), (np.int8, (3, 2, 2), 1, 0, (1, 2, 2))):
        x, n = fill(shape, dtype), np.asarray(lengths, np.int64)
        if dtype == np.float32:
            oracle, expected = ort.run("ReverseSequence", [x, n], {"time_axis": time, "batch_axis": batch})
        else:
            oracle, expected = NUMPY, np.stack([np.concatenate([a[:k][::-1], a[k:]]) for a, k in zip(x, lengths)])
        file.case(f"axis {time} of {words(x)}, lengths {list(lengths)}", oracle, "ReverseSequence", [("x", x), ("n", n)], expected,
                  {"axis": time, "batch_axis": batch}, tolerance=EXACT)
    x = fill((2, 2, 3), np.int16)
    expected = np.stack([x[0, :, [1, 0, 2]].T, x[1, :, [2, 1, 0]].T])
    file.case("last axis", NUMPY, "ReverseSequence", [("x", x), ("n", np.asarray([2, 3], np.int32))], expected, {"axis": 2, "batch_axis": 0},
              tolerance=EXACT)
    file.write("src/ops/reverse_sequence.txt")


def cumulate():
    file = twir.File("indices.py")
    for op in ("CumSum", "CumProd"):
        for dtype, shape, axis, exclusive, reverse in ((np.float32, (2, 5), 1, 0, 0), (np.float32, (4, 3), 0, 1, 0), (np.int32, (2, 4, 3), -2, 0, 1),
                                                       (np.int64, (6,), 0, 1, 1), (np.uint32, (2, 3), 1, 0, 0), (np.uint64, (3, 2), 0, 0, 0)):
            x = fill(shape, dtype, 0, 30)
            oracle = NUMPY
            if op == "CumSum" and dtype not in (np.uint32, np.uint64):
                oracle, expected = ort.run("CumSum", [x, np.asarray(axis, np.int64)], {"exclusive": exclusive, "reverse": reverse})
            else:
                run = np.cumsum if op == "CumSum" else np.cumprod
                y = np.flip(x, axis) if reverse else x
                expected = run(y, axis, dtype)
                if exclusive:
                    first = np.full_like(np.take(expected, [0], axis), op == "CumProd")
                    expected = np.concatenate([first, np.take(expected, range(shape[axis] - 1), axis)], axis)
                expected = np.flip(expected, axis) if reverse else expected
            file.case(f"{op}, axis {axis} of {words(x)}, exclusive {exclusive}, reverse {reverse}", oracle, op, [("x", x)], expected,
                      {"axis": axis, "exclusive": exclusive, "reverse": reverse})
    one, other = twir.Quant(0.05, -9), twir.Quant(0.3, 4)
    for exclusive, reverse in ((0, 0), (1, 1)):
        x = fill((2, 7), np.int8, -128, 128)
        y = (x.astype(np.float64) + 9) * one.scale
        y = np.flip(y, 1) if reverse else y
        y = np.cumsum(y, 1) - (y if exclusive else 0)
        y = np.flip(y, 1) if reverse else y
        expected = np.clip(np.floor(np.abs(y) / other.scale + 0.5) * np.sign(y) + 4, -128, 127).astype(np.int8)
        file.case(f"CumSum, int8, exclusive {exclusive}, reverse {reverse}", NUMPY, "CumSum", [("x", x)], expected,
                  {"axis": 1, "exclusive": exclusive, "reverse": reverse}, {"x": one}, other)
    file.write("src/ops/cumulate.txt")


def top_indices():
    file = twir.File("indices.py")
    for dtype in (np.float32, np.int8, np.int32, np.int64):
        x = fill((2, 7, 3), dtype, -3, 4)
        for op, largest in (("ArgMax", 1), ("ArgMin", 0)):
            for last in (0, 1):
                oracle, expected = ort.run(op, [x], {"axis": 1, "keepdims": 1, "select_last_index": last})
                file.case(f"{op} of {words(x)}, {dtype.__name__}, the {'last' if last else 'first'}", oracle, "TopIndices", [("x", x)], expected,
                          {"axis": 1, "largest": largest, "last": last}, tolerance=EXACT)
    for dtype, shape, axis, k, largest in ((np.float32, (3, 6), -1, 4, 1), (np.int32, (5, 4), 0, 5, 0), (np.uint8, (1, 9), 1, 3, 1), (bool, (6,), 0, 6, 1),
                                           (np.uint64, (4,), 0, 2, 0), (np.int16, (2, 5), 1, 0, 1)):
        x = fill(shape, dtype, *(0, 5) if np.issubdtype(dtype, np.unsignedinteger) else (-4, 5))
        keys = x.astype(np.float64)
        expected = np.take(np.argsort(-keys if largest else keys, axis, "stable"), range(k), axis).astype(np.int32)
        file.case(f"{k} of axis {axis} of {words(x)}, {dtype.__name__}", NUMPY, "TopIndices", [("x", x)], expected,
                  {"axis": axis, "k": k, "largest": largest, "dtype": "s32"}, tolerance=EXACT)
    x = np.asarray([1, np.nan, np.inf, -np.inf, np.nan, -0.0, 0.0], np.float32)
    file.case("no number is greater than NaN", NUMPY, "TopIndices", [("x", x)], np.asarray([1, 4, 2, 0, 5, 6, 3], np.int64), {"k": 7}, tolerance=EXACT)
    file.write("src/ops/top_indices.txt")


def det():
    file = twir.File("indices.py")
    for shape in ((1, 1), (2, 2), (4, 4), (2, 3, 3), (1, 2, 5, 5), (0, 0)):
        x = fill(shape, np.float32)
        if shape == (2, 3, 3):
            x[1, 2] = x[1, 0] * 2
            x[0, 0, 0] = 0
        oracle, expected = (ort.run("Det", [x]) if x.size else (NUMPY, np.asarray(1, np.float32)))
        file.case(words(x), oracle, "Det", [("x", x)], np.asarray(expected), tolerance="rtol 1e-5 atol 1e-5")
    file.write("src/ops/det.txt")


def bit_cast():
    file = twir.File("indices.py")
    for dtype, shape, to in ((np.float32, (2, 3), np.int32), (np.int32, (4,), np.float32), (np.int32, (2, 2), np.uint8), (np.int16, (3, 4), np.int64),
                             (np.uint8, (4,), np.int8), (np.int64, (), np.int16)):
        x = fill(shape, dtype) if dtype != np.uint8 else fill(shape, dtype, 0, 256)
        if to == np.float32:
            x = fill(shape, np.float32).view(np.int32)
        small, large = np.dtype(to).itemsize, x.dtype.itemsize
        out = list(shape) + [large // small] if small < large else list(shape)[:-1] if small > large else list(shape)
        expected = np.frombuffer(x.tobytes(), to).reshape(out)
        file.case(f"{x.dtype.name} {words(x)} as {np.dtype(to).name}", NUMPY, "BitCast", [("x", x)], expected, {"dtype": twir.NAMES[np.dtype(to).name]},
                  tolerance=EXACT)
    file.write("src/ops/bit_cast.txt")


def integer_matmul():
    file = twir.File("indices.py")
    for a_type, b_type, a_shape, b_shape, zeros in ((np.uint8, np.uint8, (4, 3), (3, 2), (1, 1)), (np.uint8, np.int8, (2, 3, 5), (5, 4), (1, 4)),
                                                    (np.int8, np.int8, (2, 6), (6, 3), None)):
        a = random.integers(np.iinfo(a_type).min, np.iinfo(a_type).max, a_shape, a_type, endpoint=True)
        b = random.integers(np.iinfo(b_type).min, np.iinfo(b_type).max, b_shape, b_type, endpoint=True)
        inputs = [a, b]
        if zeros:
            inputs += [random.integers(0, 100, zeros[:1]).astype(a_type), random.integers(0, 100, zeros[1:]).astype(b_type)]
        if a_type == b_type:
            oracle, expected = ort.run("MatMulInteger", inputs)
        else:  # ONNX Runtime saturates pairs of products to 16 bits on some processors
            wide = [v.astype(np.int32) for v in inputs]
            oracle, expected = NUMPY, (wide[0] - wide[2]) @ (wide[1] - wide[3])
        file.case(f"{a.dtype.name} {words(a)} by {b.dtype.name} {words(b)}", oracle, "IntegerMatMul",
                  list(zip(("a", "b", "za", "zb"), inputs)), expected, tolerance=EXACT)
    a, b = fill((3, 4), np.int8), fill((4, 2), np.int8)
    za, zb = fill((3,), np.int8), fill((2,), np.int8)
    wide = [v.astype(np.int32) for v in (a, b, za, zb)]
    file.case("zero points by row and column", NUMPY, "IntegerMatMul", [("a", a), ("b", b), ("za", za), ("zb", zb)],
              (wide[0] - wide[2][:, None]) @ (wide[1] - wide[3]), tolerance=EXACT)
    for dtype, a_shape, b_shape in ((np.int32, (3, 4), (4, 2)), (np.uint32, (2, 1, 3), (3, 4)), (np.int64, (2, 2, 3), (2, 3, 2)), (np.uint64, (1, 5), (5, 1))):
        a, b = (random.integers(0, 1 << 20, shape).astype(dtype) - dtype(1 << 10) for shape in (a_shape, b_shape))
        file.case(f"{np.dtype(dtype).name} {words(a)} by {words(b)}, wrapping around", NUMPY, "IntegerMatMul", [("a", a), ("b", b)], a @ b,
                  tolerance=EXACT)
    file.write("src/ops/integer_matmul.txt")


for part in (tile, gather, gather_elements, gather_nd, scatter_elements, scatter_nd, update_slice, reverse_sequence, cumulate, top_indices, det, bit_cast, integer_matmul):
    part()
