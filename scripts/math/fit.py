#!/usr/bin/env python3
"""Minimax polynomials behind src/runtime/math.c and math.h: prints every coefficient they use.

Needs mpmath. Each fit is Remez's exchange algorithm on a weighted error; float coefficients are
then rounded to nearest, which costs little because each polynomial is added to a larger term. The
exponent behind a title is the largest weighted error that remains.
"""
import struct
import mpmath as mp

mp.mp.dps = 50


def to_float(value):
    return mp.mpf(struct.unpack("f", struct.pack("f", float(value)))[0])


def hex_float(value):
    return float(value).hex().replace("0000000p", "p") + "f"


def remez(function, weight, low, high, powers):
    """Coefficients c with the least maximum of |weight * (function - sum c_i x^powers_i)|."""
    count = len(powers)
    points = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / count) for i in range(count + 1)]
    points[0] += (high - low) * mp.mpf("1e-9")
    grid = [low + (high - low) * (mp.mpf(i) + mp.mpf("0.5")) / 2000 for i in range(2000)]
    values = [(x, function(x), weight(x)) for x in grid]
    for _ in range(12):
        matrix, right = mp.matrix(count + 1, count + 1), mp.matrix(count + 1, 1)
        for i, x in enumerate(points):
            for j, power in enumerate(powers):
                matrix[i, j] = x ** power
            matrix[i, count] = (-1) ** i / weight(x)
            right[i] = function(x)
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[j] for j in range(count)]
        errors = [w * (f - sum(c * x ** p for c, p in zip(coefficients, powers))) for x, f, w in values]
        extremes = []
        for i, error in enumerate(errors):
            if extremes and (errors[extremes[-1]] > 0) == (error > 0):
                if abs(error) > abs(errors[extremes[-1]]):
                    extremes[-1] = i
            else:
                extremes.append(i)
        while len(extremes) > count + 1:
            extremes.pop(0 if abs(errors[extremes[0]]) < abs(errors[extremes[-1]]) else -1)
        if len(extremes) < count + 1:
            break
        points = [grid[i] for i in extremes]
    return coefficients, max(abs(e) for e in errors)


def fit_float(title, function, weight, low, high, degree):
    """Coefficients of 1, x, .. x^degree, each a float."""
    low, high = mp.mpf(low), mp.mpf(high)
    coefficients, _ = remez(function, weight, low, high, list(range(degree + 1)))
    fixed = [to_float(c) for c in coefficients]
    error = max(abs(weight(x) * (function(x) - sum(c * x ** p for p, c in enumerate(fixed))))
                for x in (low + (high - low) * (mp.mpf(i) + mp.mpf("0.5")) / 3000 for i in range(3000)))
    print(f"{title}: 2^{float(mp.log(error, 2)):.2f}")
    for power, c in enumerate(fixed):
        print(f"    {power}: {hex_float(c)}")


def fit_fixed(title, function, low, high, degree, fraction_bits):
    """Coefficients of 1, x, .. x^degree in fixed point; error relative to the function."""
    low, high = mp.mpf(low), mp.mpf(high)
    coefficients, error = remez(function, lambda x: 1 / function(x), low, high, list(range(degree + 1)))
    print(f"{title}: 2^{float(mp.log(error, 2)):.2f}")
    for power, c in enumerate(coefficients):
        print(f"    {power}: {int(mp.nint(c * 2 ** fraction_bits))}")


def in_square(function):
    return lambda s: function(mp.sqrt(s))


def main():
    half_ln2 = mp.log(2) / 2
    fit_float("exp: (e^r - 1 - r) / r^2 on |r| <= ln(2)/2",
              lambda r: (mp.exp(r) - 1 - r) / r ** 2, lambda r: r ** 2 / mp.exp(r),
              -half_ln2 * mp.mpf("1.011"), half_ln2 * mp.mpf("1.01"), 4)
    fit_float("expm1: the same, weighted for e^r - 1",
              lambda r: (mp.exp(r) - 1 - r) / r ** 2, lambda r: r ** 2 / mp.expm1(r),
              -half_ln2 * mp.mpf("1.011"), half_ln2 * mp.mpf("1.01"), 5)
    fit_float("log: (log(1 + f) - f + f^2/2) / f^3 on sqrt(1/2) <= 1 + f <= sqrt(2)",
              lambda f: (mp.log1p(f) - f + f ** 2 / 2) / f ** 3, lambda f: f ** 3 / mp.log1p(f),
              mp.sqrt(mp.mpf("0.5")) - 1, mp.sqrt(2) - 1, 8)
    fit_float("tanh: (tanh x - x) / x^3 of s = x^2, x <= 0.625",
              in_square(lambda x: (mp.tanh(x) - x) / x ** 3), in_square(lambda x: x ** 3 / mp.tanh(x)),
              mp.mpf("1e-6"), mp.mpf("0.625") ** 2, 4)
    fit_float("sinh: (sinh x - x) / x^3 of s = x^2, x <= 1",
              in_square(lambda x: (mp.sinh(x) - x) / x ** 3), in_square(lambda x: x ** 3 / mp.sinh(x)),
              mp.mpf("1e-6"), 1, 3)
    quarter = mp.pi / 4 * mp.mpf("1.001")
    fit_float("sin: (sin x - x) / x^3 of s = x^2, x <= pi/4",
              in_square(lambda x: (mp.sin(x) - x) / x ** 3), in_square(lambda x: x ** 3 / mp.sin(x)),
              mp.mpf("1e-6"), quarter ** 2, 3)
    fit_float("cos: (cos x - 1 + x^2/2) / x^4 of s = x^2, x <= pi/4",
              in_square(lambda x: (mp.cos(x) - 1 + x ** 2 / 2) / x ** 4), in_square(lambda x: x ** 4 / mp.cos(x)),
              mp.mpf("1e-6"), quarter ** 2, 3)
    fit_float("asin: (asin x - x) / x^3 of s = x^2, x <= 1/2",
              in_square(lambda x: (mp.asin(x) - x) / x ** 3), in_square(lambda x: x ** 3 / mp.asin(x)),
              mp.mpf("1e-6"), mp.mpf("0.25"), 4)
    fit_float("atan: (atan x - x) / x^3 of s = x^2, x <= tan(pi/8)",
              in_square(lambda x: (mp.atan(x) - x) / x ** 3), in_square(lambda x: x ** 3 / mp.atan(x)),
              mp.mpf("1e-6"), mp.tan(mp.pi / 8) ** 2 * mp.mpf("1.001"), 4)
    fit_float("erf: (erf x - c x) / x of s = x^2, x <= 0.875, c = 1",
              in_square(lambda x: (mp.erf(x) - x) / x), in_square(lambda x: x / mp.erf(x)),
              mp.mpf("1e-6"), mp.mpf("0.875") ** 2, 6)
    # t = (x - 4) / (x + 4): a fraction whose rounding error hardly moves the result.
    def scaled_erfc(t):
        x = 4 * (1 + t) / (1 - t)
        return (1 + 2 * x) * mp.erfc(x) * mp.exp(x * x)

    low, high = mp.mpf("-3.5") / mp.mpf("4.5"), mp.mpf("6.25") / mp.mpf("14.25")
    fit_float("erfc: (1 + 2x) e^(x^2) erfc(x), of t = (x - 4) / (x + 4), 0.5 <= x <= 10.25",
              scaled_erfc, lambda t: 1 / scaled_erfc(t), low * mp.mpf("1.001"), high * mp.mpf("1.001"), 9)
    fit_fixed("log2: log2(1 + f) / f on sqrt(1/2) <= 1 + f <= sqrt(2), 37 fraction bits",
              lambda f: mp.log(1 + f, 2) / f if f else 1 / mp.log(2),
              mp.sqrt(mp.mpf("0.5")) - 1 - mp.mpf("1e-6"), mp.sqrt(2) - 1 + mp.mpf("1e-6"), 12, 37)
    fit_fixed("exp2: 2^f on 0 <= f < 1, 30 fraction bits",
              lambda f: mp.mpf(2) ** f, 0, 1, 7, 30)


main()
