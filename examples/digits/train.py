#!/usr/bin/env python3
"""Makes this folder's models and inputs from nothing but a seed.

    python3 -m venv /tmp/digits && /tmp/digits/bin/pip install numpy onnx onnxruntime
    /tmp/digits/bin/python examples/digits/train.py

Draws digits (draw.py), trains a small residual network on them (network.py), writes it as a float
and as an int8 ONNX model (export.py), and bundles ten drawings that training never saw. ONNX Runtime
is used only to say how often each model is right and to record the outputs that tests compare with.
"""

import pathlib

import numpy as np
import onnxruntime

import draw
import export
import network

HERE = pathlib.Path(__file__).parent
BUNDLED = 10


def bundle(images, digits):
    """Indices of the first drawing of each digit, in the digits' order."""
    return [int(np.argmax(digits == d)) for d in range(BUNDLED)]


def run(model, images):
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return np.vstack([session.run(None, {"image": i[None]})[0] for i in images])


def main():
    print("drawing")
    images, digits = draw.batch(12000, seed=1)
    unseen, answers = draw.batch(2000, seed=2)
    layers = network.build(seed=3)
    network.train(layers, images, digits, epochs=8, seed=4)

    chosen = bundle(unseen, answers)
    models = {"float": export.float_model(layers), "int8": export.int8_model(layers, images[:500])}
    for name, model in models.items():
        (HERE / f"{name}.onnx").write_bytes(model.SerializeToString())
        run(model, unseen[chosen]).tofile(HERE / f"{name}.expected.bin")
        right = (run(model, unseen).argmax(1) == answers).mean()
        print(f"{name}: {right:.2%} of {len(unseen)} unseen drawings, "
              f"{len(model.SerializeToString())} bytes")
    unseen[chosen].tofile(HERE / "images.bin")
    (HERE / "labels.txt").write_text("".join(f"{answers[i]}\n" for i in chosen))


if __name__ == "__main__":
    main()
