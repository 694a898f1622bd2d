"""Requantisation of TensorFlow Lite, in whole numbers of any size."""
import math
from fractions import Fraction


def multiplier(real):
    """31 bits and a shift, as TensorFlow Lite has it."""
    if real == 0:
        return 0, 0
    fraction, shift = math.frexp(real)
    whole = math.floor(fraction * 2 ** 31 + 0.5)
    if whole == 2 ** 31:
        whole, shift = whole // 2, shift + 1
    return (0, 0) if shift < -31 else (whole, shift)


def away(value, bits):
    """value / 2^bits to the nearest, halves away from zero."""
    half = Fraction(value, 2 ** bits)
    return int(math.floor(abs(half) + Fraction(1, 2))) * (-1 if value < 0 else 1)


def rescale(value, by):
    whole, shift = by
    high = (value * 2 ** max(shift, 0) * whole + 2 ** 30) >> 31
    return away(high, max(-shift, 0))


def hold(value, bits=16):
    return max(-2 ** (bits - 1), min(2 ** (bits - 1) - 1, value))
