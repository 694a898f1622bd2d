#!/usr/bin/env python3
"""src/ops/{depth_to_space,space_to_depth}.txt: by ONNX Runtime, int8 by TensorFlow Lite Micro."""
import numpy as np

import ort
import tflm
import twir
from tflm import schema

random = np.random.default_rng(13)


def main():
    space, depth = twir.File("blocks.py"), twir.File("blocks.py")
    for shape, block in (((1, 2, 3, 8), 2), ((2, 1, 2, 18), 3), ((1, 1, 4, 4), 2)):
        x = np.round(random.uniform(-3, 3, shape), 2).astype(np.float32)
        name = f"{'x'.join(map(str, shape))}, blocks of {block}"
        for mode, order in (("DCR", "block_first"), ("CRD", "channel_first")):
            oracle, y = ort.run("DepthToSpace", [np.moveaxis(x, -1, 1)], {"blocksize": block, "mode": mode}, opset=13)
            y = np.moveaxis(y, 1, -1)
            space.case(name + (", channels first" if mode == "CRD" else ""), oracle, "DepthToSpace", [("x", x)], y,
                       {"block": block, "order": order})
            # and back: of channels first the oracle has no operator, but it is the inverse
            if mode == "DCR":
                oracle, x_again = ort.run("SpaceToDepth", [np.moveaxis(y, -1, 1)], {"blocksize": block}, opset=13)
                assert np.array_equal(np.moveaxis(x_again, 1, -1), x)
            depth.case(name + (", channels first" if mode == "CRD" else ""), oracle + (", inverse" if mode == "CRD" else ""),
                       "SpaceToDepth", [("x", y)], x, {"block": block, "order": order})
    quant = twir.Quant(0.05, -9)
    x = random.integers(-128, 128, (1, 4, 6, 3)).astype(np.int8)
    options = schema.SpaceToDepthOptionsT()
    options.blockSize = 2
    y = tflm.run("SPACE_TO_DEPTH", [x], [quant], "int8", quant, (1, 2, 3, 12), (options, "SpaceToDepthOptions"))
    depth.case("int8", tflm.VERSION, "SpaceToDepth", [("x", x)], y, {"block": 2}, {"x": quant}, quant)
    options = schema.DepthToSpaceOptionsT()
    options.blockSize = 2
    back = tflm.run("DEPTH_TO_SPACE", [y], [quant], "int8", quant, (1, 4, 6, 3), (options, "DepthToSpaceOptions"))
    space.case("int8", tflm.VERSION, "DepthToSpace", [("x", y)], back, {"block": 2}, {"x": quant}, quant)
    space.write("src/ops/depth_to_space.txt")
    depth.write("src/ops/space_to_depth.txt")


main()
