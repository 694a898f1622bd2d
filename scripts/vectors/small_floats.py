#!/usr/bin/env python3
"""src/ops/small_float.txt: casts by ONNX's own reference, whose results are read as codes."""
import numpy as np

import ort
import twir

random = np.random.default_rng(180)
FORMATS = {"e4m3fn": 17, "e4m3fnuz": 18, "e5m2": 19, "e5m2fnuz": 20, "e2m1": 23, "e8m0": 24}
EDGES = [0, -0.0, np.inf, -np.inf, np.nan, 1e6, -1e6, 1e-7, -1e-7, 2.0**-127, 1e-40, 448, 464, 465, 240, 248, 57344, 61440, 61441, 6, 7,
         0.25, 0.75, 1.25, -2.5, 2.0**-9, 2.0**-10, 1.5 * 2.0**-10, 2.0**-17, 1.5 * 2.0**-17, 3.4e38]


def case(file, name, x, attributes):
    onnx = {"to": FORMATS[attributes["format"]], "saturate": int(attributes.get("saturate") != "false")}
    if "power" in attributes:
        onnx["round_mode"] = attributes["power"]
    oracle, expected = ort.run("Cast", [x], onnx, opset=25, reference=True)
    file.case(name, oracle, "ToSmallFloat", [("x", x)], expected.view(np.uint8), attributes, tolerance="rtol 0 atol 0")


file = twir.File("small_floats.py")
edges = np.asarray(EDGES + [0.0], np.float32).reshape(1, 8, 4)
for name in list(FORMATS)[:5]:
    small = np.concatenate([random.uniform(-1, 1, 24), random.uniform(-8, 8, 24)]).astype(np.float32).reshape(1, 12, 4)
    case(file, f"{name}, edges", edges, {"format": name})
    case(file, f"{name}, random", small, {"format": name})
    if name != "e2m1":
        case(file, f"{name}, not saturated", edges, {"format": name, "saturate": "false"})
for power in ("up", "down", "nearest"):
    x = np.concatenate([random.uniform(0, 4, 12), [0, 1.5, 1.25, 0.75, 6, 2.0**-127, 1e-40, 0.51, np.nan, 3e38, 3.0, 1.0]]).astype(np.float32)
    case(file, f"e8m0, {power}", x.reshape(1, 6, 4), {"format": "e8m0", "power": power})
file.write("src/ops/small_float.txt")
