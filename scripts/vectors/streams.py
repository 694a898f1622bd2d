#!/usr/bin/env python3
"""src/ops/{history,countdown}.txt: what a stream keeps from run to run, from numpy."""
import numpy as np

import twir

NUMPY = "numpy " + np.__version__
EXACT = "rtol 0 atol 0"
random = np.random.default_rng(168)


def fill(shape, dtype):
    if np.issubdtype(dtype, np.floating):
        return random.uniform(-3, 3, shape).astype(dtype)
    return random.integers(-100, 100, shape).astype(dtype)


def history():
    file = twir.File("streams.py")
    quant = twir.Quant(0.05, 7)
    for dtype, axis, kept, fresh in ((np.float32, 1, (1, 4, 3), 1), (np.int8, 1, (1, 5, 1, 2), 2), (np.int16, 0, (6, 2), 5),
                                     (np.float32, -1, (2, 3, 4), 3), (np.int32, 1, (2, 3, 2), 3)):
        new = list(kept)
        new[axis] = fresh
        old, x = fill(kept, dtype), fill(new, dtype)
        both = np.concatenate([old, x], axis)
        expected = np.take(both, range(both.shape[axis] - kept[axis], both.shape[axis]), axis)
        quants = {"kept": quant, "x": quant} if dtype == np.int8 else None
        file.case(f"axis {axis}: {fresh} rows to {kept[axis]}", NUMPY, "History", [("kept", old), ("x", x)], expected,
                  {"axis": axis}, quants, quant if quants else None, tolerance=EXACT)
    file.write("src/ops/history.txt")


def countdown():
    file = twir.File("streams.py")
    for left in (3, 1, 0, -5):
        x = np.asarray([left], np.int32)
        file.case(f"{left} left", NUMPY, "Countdown", [("x", x)], np.maximum(x - 1, 0), tolerance=EXACT)
        file.parts[-1] = file.parts[-1].replace("  %y : s32[1] =", "  %y : s32[1], %ready : bool[1] =") \
            .replace("  output %y\n", "  output %y\n  output %ready\n") + \
            f"expect %ready = {twir.data(x <= 0)}\n"
    file.write("src/ops/countdown.txt")


history()
countdown()
