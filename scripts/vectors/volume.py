#!/usr/bin/env python3
"""src/ops/{conv3d,conv_transpose3d}.txt: by ONNX Runtime."""
import numpy as np

import ort
import twir

random = np.random.default_rng(16)


def uniform(shape):
    return np.round(random.uniform(-1, 1, shape), 3).astype(np.float32)


def listed(values):
    return "[" + ",".join(str(int(v)) for v in values) + "]"


def main():
    plain, transposed = twir.File("volume.py"), twir.File("volume.py")
    cases = (  # name, x, kernel, outputs, group, stride, dilation, begin, end, output padding
        ("3x3x3 same", (1, 3, 4, 3, 2), (3, 3, 3), 3, 1, (1, 1, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1), (0, 0, 0)),
        ("stride 2, uneven pads, batch 2", (2, 4, 3, 4, 2), (2, 3, 2), 2, 1, (2, 1, 2), (1, 1, 1), (1, 0, 0), (0, 1, 1), (1, 0, 0)),
        ("dilation, two groups", (1, 4, 4, 3, 4), (2, 2, 2), 2, 2, (1, 2, 1), (2, 1, 2), (0, 1, 1), (1, 0, 1), (0, 1, 0)),
        ("each channel a group, slices of padding", (1, 2, 3, 3, 2), (1, 2, 2), 2, 2, (1, 1, 1), (1, 1, 1), (1, 0, 0), (1, 0, 0), (0, 0, 0)),
    )
    for i, (name, shape, kernel, outputs, group, stride, dilation, begin, end, added) in enumerate(cases):
        x, b = uniform(shape), uniform(outputs)
        w = uniform((outputs,) + kernel + (shape[-1] // group,))
        onnx = {"strides": stride, "dilations": dilation, "pads": begin + end, "group": group}
        ours = {"stride": listed(stride), "dilation": listed(dilation), "pad_begin": listed(begin), "pad_end": listed(end), "group": group}
        fixed = ("w", "b") if i % 2 else ()
        oracle, y = ort.run("Conv", [np.moveaxis(x, -1, 1), np.moveaxis(w, -1, 1), b], onnx)
        plain.case(name, oracle, "Conv3d", [("x", x), ("w", w), ("b", b)], np.moveaxis(y, 1, -1), ours,
                   tolerance="rtol 1e-5 atol 1e-5", constants=fixed)
        if "slices of padding" in name:
            onnx["pads"], ours["pad_begin"], ours["pad_end"] = (0,) * 6, "[0,0,0]", "[0,0,0]"
            onnx["strides"], ours["stride"] = (2, 1, 1), "[2,1,1]"
        grouped = np.moveaxis(w.reshape((group, outputs // group) + w.shape[1:]), -1, 1)  # [O, k.., C/g] to [C, O/g, k..]
        foreign = np.ascontiguousarray(grouped.reshape((shape[-1], outputs // group) + kernel))
        oracle, y = ort.run("ConvTranspose", [np.moveaxis(x, -1, 1), foreign, b], dict(onnx, output_padding=added))
        transposed.case(name, oracle, "ConvTranspose3d", [("x", x), ("w", w), ("b", b)], np.moveaxis(y, 1, -1),
                        dict(ours, output_pad=listed(added)), tolerance="rtol 1e-5 atol 1e-5", constants=fixed)
    plain.write("src/ops/conv3d.txt")
    transposed.write("src/ops/conv_transpose3d.txt")


main()
