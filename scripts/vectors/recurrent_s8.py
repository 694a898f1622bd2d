#!/usr/bin/env python3
"""src/ops/recurrent_s8.txt: int8 recurrent layers as docs/numerics.md states them, in whole numbers of any size, each held
against ONNX Runtime's result in floats of the layer dequantised."""
import math

import numpy as np

import ort
import twir
from fixed import away, hold, multiplier, rescale

random = np.random.default_rng(93)
INPUTS, OUTPUTS = 3, 4
CELL = 2.0 ** -11


def curve(i):
    return 1 / (1 + math.exp(-i / 24))


def sag(i):
    """The chord from i to i + 1 below the curve, in the middle."""
    return curve(i + 0.5) - (curve(i) + curve(i + 1)) / 2


# Sigmoid and tanh of 12 fraction bits: lines between 256 values, 24 of them a unit, raised by half the mean sag of the
# chords on both sides; results of 15 fraction bits.
TABLE = [math.floor(65536 * (curve(i) + (sag(i) + sag(i - 1)) / 4) + 0.5) for i in range(255)] + [65535]


def line(x, bits):
    step, rest = x >> bits, x & (2 ** bits - 1)
    return (TABLE[step] << bits) + rest * (TABLE[step + 1] - TABLE[step])


def sigmoid(v, factor=3, shift=0):
    v = (v * factor + (2 ** (shift - 1) if shift else 0)) >> shift
    x = abs(v)
    r = 0x7FFF << 10 if x >> 9 >= 255 else line(x, 9)
    return (r + 512 if v >= 0 else 2 ** 25 - r + 511) >> 10


def tanh(v, factor=3, shift=0):
    v = (v * factor + (2 ** (shift - 1) if shift else 0)) >> shift
    x = abs(v)
    r = 0xFFFF << 8 if x >> 8 >= 255 else line(x, 8)
    return (r - 2 ** 23 + 128) >> 8 if v >= 0 else (2 ** 23 - r + 127) >> 8


FUNCTIONS = {"sigmoid": sigmoid, "tanh": tanh}


class Layer:
    """w [rows, I], r [rows, O] of int8 with a scale a row, b [2, rows] and p [3, O] of floats."""

    def __init__(self, kind, w, w_scale, r, r_scale, b, p, x, h, cell, clip, linear, coupled, g, out):
        self.kind, self.x, self.h, self.cell, self.linear, self.coupled = kind, x, h, cell, linear, coupled
        self.w, self.r = w.astype(int).tolist(), r.astype(int).tolist()
        self.g, self.out = FUNCTIONS[g], FUNCTIONS[out]
        rows = len(w)
        single = np.float32

        def by_row(scales, k):
            return float(scales[k // (rows // len(scales))])
        self.of_x = [multiplier(x.scale * by_row(w_scale, k) * 4096) for k in range(rows)]
        self.of_h = [multiplier(h.scale * by_row(r_scale, k) * 4096) for k in range(rows)]
        self.bias_x, self.bias_h = [], []
        for k in range(rows):
            apart = kind == "Gru" and linear and k >= 2 * OUTPUTS
            real = [0.0, 0.0] if b is None else [float(single(b[0][k])), float(single(b[1][k]))]
            first, second = (real[0], real[1]) if apart else (real[0] + real[1], 0.0)
            self.bias_x.append(self.stored(first, x.scale * by_row(w_scale, k)) - x.zero * sum(self.w[k]))
            self.bias_h.append(self.stored(second, h.scale * by_row(r_scale, k)) - h.zero * sum(self.r[k]))
        self.result = multiplier((2.0 ** -30 if kind == "PeepholeLstm" else 2.0 ** -15) / h.scale)
        self.forget, self.input = multiplier(2.0 ** -15), multiplier(2.0 ** -30 / cell)
        self.p, self.of_c = None, []
        if p is not None:
            self.p = []
            for row in p.astype(np.float32):
                step = float(max(abs(row))) / 32767
                self.p.append([int(math.copysign(math.floor(abs(float(v) / step) + 0.5), v)) for v in row])
                self.of_c.append(multiplier(step * cell * 4096))
        power = round(math.log2(cell)) + 12
        self.table = (3 << power, 0) if power >= 0 else (3, -power)
        self.clip = min(32767, max(1, round(float(np.float32(clip)) * 4096))) if clip else None

    @staticmethod
    def stored(real, step):
        ratio = real / step
        return int(math.copysign(math.floor(abs(ratio) + 0.5), ratio))

    def from_x(self, x, k):
        return hold(rescale(self.bias_x[k] + sum(a * b for a, b in zip(x, self.w[k])), self.of_x[k]))

    def from_h(self, h, k):
        return hold(rescale(self.bias_h[k] + sum(a * b for a, b in zip(h, self.r[k])), self.of_h[k]))

    def bound(self, v):
        v = hold(v)
        return v if self.clip is None else max(-self.clip, min(self.clip, v))

    def step(self, x, h, c):
        n, zero = OUTPUTS, self.h.zero
        if self.kind == "Rnn":
            gates = [self.g(self.bound(self.from_x(x, k) + self.from_h(h, k))) for k in range(n)]
            return [hold(rescale(v, self.result) + zero, 8) for v in gates], c
        if self.kind == "Gru":
            gates = [sigmoid(self.bound(self.from_x(x, k) + self.from_h(h, k))) for k in range(2 * n)]
            update, reset = gates[:n], gates[n:]
            small = [away(reset[k] * (h[k] - zero), 11) for k in range(n)]
            fresh = []
            for k in range(n):
                row = 2 * n + k
                if self.linear:
                    part = away(reset[k] * self.from_h(h, row), 15)
                else:
                    by = self.of_h[row][0], self.of_h[row][1] - 4
                    part = hold(rescale(sum(a * b for a, b in zip(small, self.r[row])), by))
                fresh.append(self.g(self.bound(self.from_x(x, row) + part)))
            return [hold(away(rescale((32768 - update[k]) * fresh[k], self.result) + update[k] * (h[k] - zero), 15) + zero, 8) for k in range(n)], c
        sums = [hold(self.from_x(x, k) + self.from_h(h, k)) for k in range(4 * n)]
        y, cells = [], []
        for k in range(n):
            def seen(which, cell):
                return hold(rescale(self.p[which][k] * cell, self.of_c[which])) if self.p else 0
            i = sigmoid(self.bound(sums[k] + seen(0, c[k])))
            f = 32768 - i if self.coupled else sigmoid(self.bound(sums[2 * n + k] + seen(2, c[k])))
            kept = hold(rescale(f * c[k], self.forget))
            added = hold(rescale(i * self.g(self.bound(sums[3 * n + k])), self.input))
            cell = hold(kept + added)
            o = sigmoid(self.bound(sums[n + k] + seen(1, cell)))
            y.append(hold(rescale(self.out(cell, *self.table) * o, self.result) + zero, 8))
            cells.append(cell)
        return y, cells


KINDS = {"Rnn": ("RNN", 1), "Gru": ("GRU", 3), "PeepholeLstm": ("LSTM", 4)}
SCALES = {"tensor": lambda gates: 1, "gate": lambda gates: gates, "row": lambda gates: gates * OUTPUTS}


def case(file, name, op, batch=1, steps=6, lengths=None, state=False, cell=False, peepholes=False, clip=0, linear=False, coupled=False, g="tanh", out="tanh", bias=True,
         scales="tensor", h_scale=1 / 128, zero=0, most=3):
    onnx, gates = KINDS[op]
    rows = gates * OUTPUTS
    x_quant, h_quant = twir.Quant(2 / 128, -11), twir.Quant(h_scale, zero)
    x = random.integers(-128, 128, (batch, steps, INPUTS)).astype(np.int8)
    count = SCALES[scales](gates)
    w_scale, r_scale = [np.float32(random.uniform(top / 3, top, count)) for top in (0.012, 0.005)]
    w, r = [random.integers(-127, 128, (rows, depth)).astype(np.int8) for depth in (INPUTS, OUTPUTS)]
    b = random.uniform(-1, 1, (2, rows)).astype(np.float32) if bias else None
    p = random.uniform(-1, 1, (3, OUTPUTS)).astype(np.float32) if peepholes else None
    h0 = random.integers(-128, 128, (batch, OUTPUTS)).astype(np.int8) if state else None
    c0 = random.integers(-6000, 6000, (batch, OUTPUTS)).astype(np.int16) if cell else None
    layer = Layer(op, w, w_scale, r, r_scale, b, p, x_quant, h_quant, CELL, clip, linear, coupled, g, out)
    y = np.full((batch, steps, OUTPUTS), zero, np.int8)
    h_last, c_last = np.zeros((batch, OUTPUTS), np.int8), np.zeros((batch, OUTPUTS), np.int16)
    for n in range(batch):
        h = [zero] * OUTPUTS if h0 is None else h0[n].astype(int).tolist()
        c = [0] * OUTPUTS if c0 is None else c0[n].astype(int).tolist()
        for t in range(steps if lengths is None else lengths[n]):
            h, c = layer.step(x[n, t].astype(int).tolist(), h, c)
            y[n, t] = h
        h_last[n], c_last[n] = h, c
    check_floats(name, onnx, x, x_quant, w, w_scale, r, r_scale, b, p, h0, h_quant, c0, lengths, clip, linear, coupled, g, out, y, most)
    attributes = {k: v for k, v in (("g", g), ("h", out)) if v != "tanh"}
    attributes.update({k: v for k, v in (("clip", clip), ("linear_before_reset", int(linear)), ("input_forget", int(coupled))) if v})
    per_row = scales == "row"
    shape = (1, rows) if per_row else (gates, OUTPUTS)
    of_w, of_r = [twir.Quant(s[0], 0) if count == 1 else twir.QuantByAxis(s, np.zeros(count, int), int(per_row)) for s in (w_scale, r_scale)]
    given = [("x", x), ("w", w.reshape(*shape, INPUTS)), ("r", r.reshape(*shape, OUTPUTS)), ("b", None if b is None else b.reshape(2, gates, OUTPUTS)),
             ("n", None if lengths is None else np.array(lengths, np.int32)), ("h", h0), ("c", c0), ("p", p)]
    while given[-1][1] is None:
        given.pop()
    results = [(y, h_quant), (h_last, h_quant)] + ([(c_last, twir.Quant(CELL, 0))] if op == "PeepholeLstm" else [])
    file.case(name, "docs/numerics.md in Python's integers", op, given, results, attributes, {"x": x_quant, "w": of_w, "r": of_r, "h": h_quant, "c": twir.Quant(CELL, 0)},
              constants=("w", "r", "b", "p"))


def check_floats(name, onnx, x, x_quant, w, w_scale, r, r_scale, b, p, h0, h_quant, c0, lengths, clip, linear, coupled, g, out, y, most):
    """The float layer, where h is not rounded to int8 in every step, stays within `most` steps of h."""
    rows, batch = len(w), len(x)

    def real(stored, scales):
        return (stored * np.repeat(scales, rows // len(scales))[:, None]).astype(np.float32)[None]
    feeds = [np.moveaxis(((x.astype(int) - x_quant.zero) * x_quant.scale).astype(np.float32), 1, 0), real(w, w_scale), real(r, r_scale), None if b is None else b.reshape(1, -1),
             None if lengths is None else np.array(lengths, np.int32), None if h0 is None else ((h0.astype(int) - h_quant.zero) * h_quant.scale).astype(np.float32)[None]]
    attributes = {"hidden_size": OUTPUTS, "activations": {"RNN": [g], "GRU": ["sigmoid", g], "LSTM": ["sigmoid", g, out]}[onnx]}
    attributes["activations"] = [a.capitalize() for a in attributes["activations"]]
    if onnx == "LSTM":
        feeds += [None if c0 is None else (c0 * CELL).astype(np.float32)[None], None if p is None else p.reshape(1, -1)]
        attributes["input_forget"] = int(coupled)
    if onnx == "GRU":
        attributes["linear_before_reset"] = int(linear)
    if clip:
        attributes["clip"] = float(clip)
    while feeds[-1] is None:
        feeds.pop()
    _, wanted = ort.run(onnx, feeds, attributes, 14)
    wanted = np.moveaxis(wanted[:, 0], 0, 1).reshape(batch, -1, OUTPUTS)
    wanted = np.clip(wanted / h_quant.scale + h_quant.zero, -128, 127)
    distance = np.max(np.abs(wanted - y))
    assert distance <= most, f"{name}: {distance} steps from the float layer"


def main():
    file = twir.File("recurrent_s8.py")
    for op in KINDS:
        case(file, f"{op}, int8, one scale", op)
        case(file, f"{op}, int8, a scale a gate", op, scales="gate", state=True, cell=op == "PeepholeLstm", zero=-9, h_scale=1 / 115)
        case(file, f"{op}, int8, a scale a row", op, scales="row", bias=False)
        case(file, f"{op}, int8, sequences of their own lengths", op, batch=3, lengths=[6, 2, 4], state=True, zero=13, h_scale=1 / 100)
        case(file, f"{op}, int8, clipped", op, clip=0.5)
    case(file, "Rnn, int8, sigmoid", "Rnn", g="sigmoid", zero=-128, h_scale=1 / 256)
    case(file, "Gru, int8, the linear map before the reset", "Gru", batch=2, linear=True, zero=5, scales="row", state=True, h_scale=1 / 120)
    case(file, "PeepholeLstm, int8, peepholes", "PeepholeLstm", batch=2, peepholes=True, cell=True, zero=-3, h_scale=1 / 120)
    case(file, "PeepholeLstm, int8, input and forget gate coupled", "PeepholeLstm", coupled=True, peepholes=True)
    case(file, "PeepholeLstm, int8, other activations", "PeepholeLstm", g="sigmoid", out="sigmoid", h_scale=1 / 256, zero=-128)
    file.write("src/ops/recurrent_s8.txt")


main()
