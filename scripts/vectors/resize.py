#!/usr/bin/env python3
"""src/ops/{resize,resize_nearest}.txt: float by ONNX Runtime, or ONNX's reference where that lacks the mode;
int8 by TensorFlow Lite Micro, bit for bit."""
import numpy as np

import ort
import tflm
import twir
from tflm import schema

random = np.random.default_rng(12)


def uniform(shape):
    return np.round(random.uniform(-3, 3, shape), 2).astype(np.float32)


def listed(values):
    return "[" + ",".join(twir.number(v) for v in values) + "]"


def last(values):
    """Of [N, C, spatial..] in the order of [N, spatial.., C]."""
    return [values[0], *values[2:], values[1]]


def by_onnx(files):
    cases = (  # name, shape [N, C, spatial..], sizes or scales of the spatial axes, attributes
        ("linear up", (1, 2, 4, 3), [7, 8], {"mode": "linear"}),
        ("linear down", (1, 2, 7, 8), [3, 5], {"mode": "linear"}),
        ("linear, corners", (1, 2, 4, 5), [9, 3], {"mode": "linear", "coordinate_transformation_mode": "align_corners"}),
        ("linear, asymmetric, scales", (1, 1, 4, 5), [1.7, 0.6], {"mode": "linear", "coordinate_transformation_mode": "asymmetric"}),
        ("linear, half a pixel as PyTorch", (1, 1, 4, 5), [1, 3], {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}),
        ("linear, symmetric, scales", (1, 1, 4, 5), [2.3, 0.7], {"mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric"}),
        ("linear, antialias", (1, 2, 9, 8), [4, 3], {"mode": "linear", "antialias": 1}),
        ("linear, one axis", (2, 3, 6), [11], {"mode": "linear"}),
        ("linear, three axes", (1, 2, 3, 4, 5), [5, 3, 7], {"mode": "linear"}),
        ("cubic up", (1, 1, 4, 5), [9, 8], {"mode": "cubic"}),
        ("cubic down, antialias", (1, 2, 10, 9), [4, 5], {"mode": "cubic", "antialias": 1}),
        ("cubic, corners", (1, 1, 4, 4), [7, 3], {"mode": "cubic", "coordinate_transformation_mode": "align_corners"}),
        ("cubic, nothing outside", (1, 1, 4, 4), [0.8, 1.9], {"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1}),
        ("crop", (1, 2, 5, 6), [4, 7], {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 10.0}),
        ("crop, nearest", (1, 1, 5, 6), [6, 5], {"mode": "nearest", "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": -2.0}),
        ("nearest", (1, 2, 4, 3), [7, 8], {"mode": "nearest"}),
        ("nearest, floor, asymmetric", (1, 3, 3, 4), [6, 8], {"mode": "nearest", "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}),
        ("nearest, ceiling, down", (1, 2, 8, 7), [3, 5], {"mode": "nearest", "nearest_mode": "ceil"}),
        ("nearest, half up, corners", (1, 1, 4, 5), [6, 3], {"mode": "nearest", "nearest_mode": "round_prefer_ceil", "coordinate_transformation_mode": "align_corners"}),
        ("nearest, scales", (1, 2, 5, 7), [0.6, 2.5], {"mode": "nearest"}),
    )
    for name, shape, extents, attributes in cases:
        x = uniform(shape)
        crop = "crop" in name
        region = np.array([0, 0, 0.4, -0.3, 1, 1, 0.8, 1.2], np.float32) if crop else None
        scaled = any(isinstance(v, float) for v in extents)
        full = [1, 1] + [float(v) for v in extents]
        inputs = [x, region, np.array(full, np.float32)] if scaled else \
            [x, region, None, np.array(list(shape[:2]) + extents, np.int64)]
        oracle, y = ort.run("Resize", inputs, attributes, opset=19)
        ours = {"size": listed(last(y.shape))}
        if scaled:
            ours["scale"] = listed(last(np.array(full, np.float32)))
        for theirs, mine in (("mode", "mode"), ("coordinate_transformation_mode", "coordinates"), ("nearest_mode", "rounding"),
                             ("antialias", "antialias"), ("exclude_outside", "exclude_outside"), ("cubic_coeff_a", "cubic"),
                             ("extrapolation_value", "extrapolation")):
            if theirs in attributes:
                ours[mine] = attributes[theirs]
        if crop:
            ours["begin"], ours["end"] = listed(last(region[:4])), listed(last(region[4:]))
        moves = attributes["mode"] == "nearest" and not crop
        files["resize_nearest" if moves else "resize"].case(
            name, oracle, "ResizeNearest" if moves else "Resize", [("x", np.moveaxis(x, 1, -1))], np.moveaxis(y, 1, -1), ours,
            tolerance="" if moves else "rtol 1e-4 atol 1e-5")


def by_tflite(files):
    for shape, size in (((1, 4, 5, 3), (9, 7)), ((1, 7, 9, 17), (3, 4)), ((2, 3, 3, 2), (6, 6)), ((1, 5, 6, 1), (5, 1))):
        for corners, half in ((False, False), (True, False), (False, True)):
            kind = ", corners" if corners else ", half a pixel" if half else ""
            label = f"{'x'.join(map(str, shape[1:3]))} to {'x'.join(map(str, size))}{kind}"
            out = (shape[0],) + size + (shape[3],)
            x, quant = random.integers(-128, 128, shape).astype(np.int8), twir.Quant(0.05, -9)
            options = schema.ResizeBilinearOptionsT()
            options.alignCorners, options.halfPixelCenters = corners, half
            ours = {"size": listed(out), "mode": "linear", "tflite": 1,
                    "coordinates": "align_corners" if corners else "half_pixel" if half else "asymmetric"}
            y = tflm.run("RESIZE_BILINEAR", [x, np.array(size, np.int32)], [quant, None], "int8", quant, out,
                         (options, "ResizeBilinearOptions"), (1,))
            files["resize"].case("int8 " + label, tflm.VERSION, "Resize", [("x", x)], y, ours, {"x": quant}, quant)
            f = uniform(shape)
            y = tflm.run("RESIZE_BILINEAR", [f, np.array(size, np.int32)], [None, None], "float32", None, out,
                         (options, "ResizeBilinearOptions"), (1,))
            files["resize"].case("float " + label, tflm.VERSION, "Resize", [("x", f)], y, ours, tolerance="rtol 1e-5 atol 1e-6")
            options = schema.ResizeNearestNeighborOptionsT()
            options.alignCorners, options.halfPixelCenters = corners, half
            y = tflm.run("RESIZE_NEAREST_NEIGHBOR", [x, np.array(size, np.int32)], [quant, None], "int8", quant, out,
                         (options, "ResizeNearestNeighborOptions"), (1,))
            ours = {"size": listed(out), "rounding": "floor", "tflite": 1,
                    "coordinates": "align_corners" if corners else "tf_half_pixel_for_nn" if half else "asymmetric"}
            files["resize_nearest"].case("int8 " + label, tflm.VERSION, "ResizeNearest", [("x", x)], y, ours, {"x": quant}, quant)


def main():
    files = {name: twir.File("resize.py") for name in ("resize", "resize_nearest")}
    by_onnx(files)
    by_tflite(files)
    for name, file in files.items():
        file.write(f"src/ops/{name}.txt")


main()
