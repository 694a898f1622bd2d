#!/usr/bin/env python3
"""src/ops/grid_sample.txt: by ONNX Runtime, or ONNX's reference where that lacks the mode."""
import itertools

import numpy as np

import ort
import twir

random = np.random.default_rng(15)


def main():
    file = twir.File("grid.py")
    for mode, padding, corners in itertools.product(("nearest", "linear", "cubic"), ("zeros", "border", "reflection"), (0, 1)):
        x = np.round(random.uniform(-2, 2, (1, 4, 3, 2)), 2).astype(np.float32)
        grid = np.round(random.uniform(-1.5, 1.5, (1, 3, 4, 2)), 3).astype(np.float32)
        attributes = {"mode": mode, "padding_mode": padding, "align_corners": corners}
        oracle, y = ort.run("GridSample", [np.moveaxis(x, -1, 1), grid], attributes)
        file.case(f"{mode}, {padding}{', corners' if corners else ''}", oracle, "GridSample", [("x", x), ("g", grid)],
                  np.moveaxis(y, 1, -1), {"mode": mode, "padding": padding, "align_corners": corners}, tolerance="rtol 1e-4 atol 1e-5")
    x = np.round(random.uniform(-2, 2, (2, 2, 3, 4, 2)), 2).astype(np.float32)
    grid = np.round(random.uniform(-1.2, 1.2, (2, 2, 2, 3, 3)), 3).astype(np.float32)
    oracle, y = ort.run("GridSample", [np.moveaxis(x, -1, 1), grid], {"mode": "linear"})
    file.case("three axes, batch 2", oracle, "GridSample", [("x", x), ("g", grid)], np.moveaxis(y, 1, -1), {"mode": "linear"},
              tolerance="rtol 1e-4 atol 1e-5")
    file.write("src/ops/grid_sample.txt")


main()
