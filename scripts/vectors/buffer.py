#!/usr/bin/env python3
"""src/ops/{buffer,await}.txt: one call of a buffer, as a list of frames; a wait that is over."""
import numpy as np

import twir

NUMPY = "numpy " + np.__version__
random = np.random.default_rng(9)


def call(x, held, count, reset, axis, stride, padding, right):
    """The frames that are there are a list; where it stands in the buffer is decided at the end."""
    size, coming = held.shape[axis], np.split(x, x.shape[axis], axis)
    zero = np.zeros_like(coming[0])
    slots, (there, removed) = np.split(held, size, axis), count
    frames = slots[size - there:] if right and not removed else slots[:there]
    if reset:
        frames, removed = [zero] * padding, 0
    if len(frames) + len(coming) > size:
        frames, removed = frames[stride:], 1
    frames = frames + coming
    rest = [zero] * (size - len(frames))
    out = np.concatenate(rest + frames if right and not removed else frames + rest, axis)
    return out, np.array([len(frames), removed], np.int32), np.array([not rest])


def main():
    file = twir.File("buffer.py")
    for axis, shape, size, count, stride, padding, right, reset in (
            (0, (1, 3), 4, (2, 0), 1, 0, 0, None), (1, (1, 2, 2), 6, (6, 1), 4, 0, 0, None), (2, (2, 1, 1), 3, (3, 0), 1, 0, 1, None), (1, (2, 1, 2), 4, (1, 0), 1, 0, 1, False),
            (1, (1, 1, 2), 4, (4, 1), 2, 3, 1, True), (0, (2, 2), 4, (4, 0), 4, 2, 0, True), (0, (1, 2), 3, (1, 1), 3, 0, 1, None)):
        wide = list(shape)
        wide[axis] = size
        x = random.uniform(-3, 3, shape).astype(np.float32)
        held = random.uniform(-3, 3, wide).astype(np.float32)
        out = call(x, held, count, reset, axis, stride, padding, right)[0]
        inputs = [("x", x), ("h", held), ("c", np.array(count, np.int32))]
        inputs += [] if reset is None else [("r", np.array(reset))]
        attributes = {"axis": axis, "stride": stride, "padding": padding, "right": right}
        file.case(f"{count} of {size}, stride {stride}, right {right}, reset {reset}", NUMPY, "Buffer", inputs, out, attributes, tolerance="rtol 0 atol 0")
    file.write("src/ops/buffer.txt")
    file = twir.File("buffer.py")
    x = random.uniform(-3, 3, (2, 3)).astype(np.float32)
    file.case("ready", NUMPY, "Await", [("x", x), ("r", np.array([True]))], x, tolerance="rtol 0 atol 0")
    file.write("src/ops/await.txt")


if __name__ == "__main__":
    main()
