#!/usr/bin/env python3
"""src/ops/reduce_lengths_s8.txt: int8 lengths, requantised as docs/numerics.md states it, and products and logarithms by the
formula in double precision, rounded once, where whole numbers are to give the same if it is no tie nearly."""
import math

import numpy as np

import twir
from fixed import multiplier, rescale

random = np.random.default_rng(17)
FORMULAS = {
    "ReduceProd": np.prod,
    "ReduceL1": lambda v: np.sum(np.abs(v)),
    "ReduceL2": lambda v: math.sqrt(np.sum(v * v)),
    "ReduceSumSquare": lambda v: np.sum(v * v),
    "ReduceLogSum": lambda v: math.log(np.sum(v)),
    "ReduceLogSumExp": lambda v: max(v) + math.log(np.sum(np.exp(v - max(v)))),
}
CASES = (((1, 5, 4, 3), (1, 2), True), ((1, 6, 4), (2,), False), ((1, 9, 3), (1,), True), ((4, 40), (1,), False))


WHOLE = {
    "ReduceL1": lambda v, x, y: rescale(int(np.sum(np.abs(v))), multiplier(x / y)),
    "ReduceL2": lambda v, x, y: rescale(math.isqrt(int(np.sum(v * v)) << 30), multiplier(x / y / 2 ** 15)),
    "ReduceSumSquare": lambda v, x, y: rescale(int(np.sum(v * v)), multiplier(x * x / y)),
}


def lanes_of(x, axes):
    """[results, elements], and the results' extents."""
    lanes = np.moveaxis(x, axes, range(-len(axes), 0))
    return lanes.reshape(-1, math.prod(x.shape[a] for a in axes)), lanes.shape[:-len(axes)]


def results(op, x, zero, scale, axes, keep):
    real = (x.astype(np.float64) - zero) * scale
    flat, shape = lanes_of(real, axes)
    out = np.array([FORMULAS[op](v) for v in flat]).reshape(shape)
    return np.expand_dims(out, axes) if keep else out


def main():
    file = twir.File("reduce_lengths.py")
    for op in FORMULAS:
        for number, (shape, axes, keep) in enumerate(CASES):
            scale, zero = float(np.float32(random.uniform(0.01, 0.05))), int(random.integers(-128, -40) if op == "ReduceLogSum" else random.integers(-60, 60))
            if op == "ReduceProd":
                scale *= 0.7 if number == 3 else 1.2
                scale = float(np.float32(scale))
            while True:
                x = random.integers(-128, 128, shape).astype(np.int8)
                real = results(op, x, zero, scale, axes, keep)
                most = np.max(np.abs(real))
                y_scale, y_zero = float(np.float32(most / 100)), int(random.integers(-20, 20))
                steps = real / y_scale
                if np.all(np.abs(steps - np.floor(steps) - 0.5) > 2e-3):
                    break
            if op in WHOLE:
                flat, _ = lanes_of(x.astype(np.int64) - zero, axes)
                steps = np.array([WHOLE[op](v, scale, y_scale) for v in flat]).reshape(steps.shape)
                assert np.max(np.abs(steps - real / y_scale)) < 0.7
            expected = np.clip(np.floor(np.abs(steps) + 0.5) * np.sign(steps) + y_zero, -128, 127).astype(np.int8)
            attributes = {"axes": list(axes)} if keep else {"axes": list(axes), "keepdims": 0}
            file.case(f"{op}, int8, {'x'.join(map(str, shape))}, axes {list(axes)}", "double precision", op, [("x", x)], expected, attributes,
                      {"x": twir.Quant(scale, zero)}, twir.Quant(y_scale, y_zero))
    file.write("src/ops/reduce_lengths_s8.txt")


main()
