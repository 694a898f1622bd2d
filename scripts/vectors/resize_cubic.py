#!/usr/bin/env python3
"""src/ops/resize_cubic_s8.txt: cubic Resize of int8 as docs/numerics.md states it, in whole numbers, held against the
cubic interpolation in double precision."""
import math

import numpy as np

import twir

random = np.random.default_rng(23)


def kernel(t, a):
    t = abs(t)
    return (a + 2) * t ** 3 - (a + 3) * t ** 2 + 1 if t <= 1 else a * t ** 3 - 5 * a * t ** 2 + 8 * a * t - 4 * a if t < 2 else 0.0


def place(o, n, m, coordinates):
    if coordinates == "align_corners":
        return o * (n - 1) / (m - 1) if m > 1 else 0.0
    return o * n / m if coordinates == "asymmetric" else (o + 0.5) * n / m - 0.5


def weights(n, m, coordinates, a):
    """[m][n], real and of ten bits; elements outside are those at the edge."""
    real, whole = np.zeros((m, n)), np.zeros((m, n), int)
    for o in range(m):
        x = place(o, n, m, coordinates)
        first = math.floor(x) - 1
        for i in range(first, first + 4):
            real[o, min(max(i, 0), n - 1)] += kernel(x - i, a)
        seen = range(min(max(first, 0), n - 1), min(max(first + 3, 0), n - 1) + 1)
        for i in seen:
            whole[o, i] = math.copysign(math.floor(abs(real[o, i]) * 1024 + 0.5), real[o, i])
        whole[o, seen[0]] = 1024 - sum(whole[o, i] for i in seen[1:])
    return real, whole


def case(file, name, shape, size, coordinates="half_pixel", a=-0.75):
    x = random.integers(-128, 128, shape).astype(np.int8)
    (real_y, y), (real_x, w) = weights(shape[1], size[1], coordinates, a), weights(shape[2], size[2], coordinates, a)
    sums = np.einsum("yr,xc,nrck->nyxk", y, w, x.astype(int))
    bits = 10 * ((shape[1] != size[1]) + (shape[2] != size[2]))
    sums = sums >> (20 - bits)  # an axis that stays has the weight 1024, exactly
    rounded = np.sign(sums) * ((np.abs(sums) + (1 << (bits - 1))) >> bits)
    expected = np.clip(rounded, -128, 127).astype(np.int8)
    exact = np.clip(np.einsum("yr,xc,nrck->nyxk", real_y, real_x, x.astype(float)), -128, 127)
    assert np.max(np.abs(exact - expected)) < 1, name
    quant = twir.Quant(0.05, -7)
    attributes = {"size": list(size), "mode": "cubic"}
    attributes.update({k: v for k, v, d in (("coordinates", coordinates, "half_pixel"), ("cubic", a, -0.75)) if v != d})
    text = {k: v if k != "coordinates" and k != "mode" else v for k, v in attributes.items()}
    file.case(name, "docs/numerics.md in Python's integers", "Resize", [("x", x)], expected, text, {"x": quant}, quant)


def main():
    file = twir.File("resize_cubic.py")
    case(file, "cubic of int8, twice as large", (1, 6, 5, 3), (1, 12, 10, 3))
    case(file, "cubic of int8, by corners", (1, 7, 5, 2), (1, 11, 3, 2), "align_corners")
    case(file, "cubic of int8, asymmetric, another coefficient", (2, 5, 6, 1), (2, 13, 9, 1), "asymmetric", -0.5)
    case(file, "cubic of int8, one axis", (1, 6, 4, 3), (1, 15, 4, 3))
    case(file, "cubic of int8, of two elements", (1, 2, 3, 2), (1, 5, 7, 2))
    file.write("src/ops/resize_cubic_s8.txt")


main()
