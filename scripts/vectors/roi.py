#!/usr/bin/env python3
"""src/ops/{roi_align,max_roi_pool}.txt: by ONNX Runtime."""
import itertools

import numpy as np

import ort
import twir

random = np.random.default_rng(17)


def main():
    align, pool = twir.File("roi.py"), twir.File("roi.py")
    x = np.round(random.uniform(-2, 2, (2, 6, 5, 3)), 2).astype(np.float32)
    regions = np.array([[0, 0, 4, 5], [1.25, 2.5, 3.75, 3], [-2, 3, 7, 9]], np.float32)
    batches = np.array([1, 0, 1], np.int64)
    for mode, places, samples in itertools.product(("avg", "max"), ("half_pixel", "output_half_pixel"), (0, 2)):
        oracle, y = ort.run("RoiAlign", [np.moveaxis(x, -1, 1), regions, batches],
                            {"mode": mode, "coordinate_transformation_mode": places, "sampling_ratio": samples, "output_height": 2,
                             "output_width": 3, "spatial_scale": 0.75})
        align.case(f"{mode}, {places}, {samples} samples", oracle, "RoiAlign", [("x", x), ("r", regions), ("b", batches)],
                   np.moveaxis(y, 1, -1), {"height": 2, "width": 3, "scale": 0.75, "samples": samples,
                                           "half_pixel": int(places == "half_pixel"), "mode": mode}, tolerance="rtol 1e-5 atol 1e-6")
    regions = np.array([[1, 0, 0, 4, 5], [0, 1.25, 2.5, 3.75, 3], [1, -2, 3, 7, 9]], np.float32)
    for scale in (1.0, 0.5):
        oracle, y = ort.run("MaxRoiPool", [np.moveaxis(x, -1, 1), regions], {"pooled_shape": [2, 3], "spatial_scale": scale})
        pool.case(f"scale {scale}", oracle, "MaxRoiPool", [("x", x), ("r", regions)], np.moveaxis(y, 1, -1),
                  {"height": 2, "width": 3, "scale": scale})
    align.write("src/ops/roi_align.txt")
    pool.write("src/ops/max_roi_pool.txt")


main()
