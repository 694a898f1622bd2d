#!/usr/bin/env python3
"""src/import/foreign/qti_aisw/*.txt: the first call of each block operator, by its definition, in double precision."""
import numpy as np

from foreign import Cases, uniform
from recurrence import layer

FOLDER = "src/import/foreign/qti_aisw"


def first_call(x, axis, size, padding, stride, mode):
    """A buffer as slots: its frames after one call, and where they stand."""
    frames = x.shape[axis]
    zero = np.zeros_like(np.take(x, [0], axis))
    held = [zero] * padding
    evicted = len(held) + frames > size
    if evicted:
        held = held[stride:]
    held += [np.take(x, [k], axis) for k in range(frames)]
    rest = [zero] * (size - len(held))
    return np.concatenate(rest + held if mode == 2 and not evicted else held + rest, axis)


def buffers(cases):
    for axis, shape, size, padding, stride, mode in ((1, (1, 1, 2, 3), 4, 0, None, 1), (1, (1, 2, 2, 3), 6, 1, 2, 1), (2, (1, 3, 1, 2), 5, 2, 1, 2), (3, (2, 1, 2, 2), 4, 4, 2, 2),
                                                     (1, (1, 1, 2, 3), 3, 3, 2, 1), (1, (1, 2, 3), 2, 0, 2, 0), (0, (1, 4), 3, 2, 1, 0), (2, (1, 3, 2, 2), 8, 7, 6, 2)):
        attributes = {"buffer_size": size, "buffer_dim": axis, "buffer_padding": padding, "mode": mode}
        if stride:
            attributes["stride"] = stride

        def f(x, *reset, a=axis, s=size, p=padding, t=stride or 1, m=mode):
            return first_call(x, a, s, p, t, m)
        cases.add("Buffer", [uniform(*shape)], f, attributes, what=f"mode {mode}, {size} frames, {padding} zeros", ulp=0)
    for reset in (False, True):
        cases.add("Buffer", [uniform(1, 1, 2, 3), np.array(reset)], lambda x, reset: first_call(x, 1, 3, 1, 1, 1), {"buffer_size": 3, "buffer_dim": 1, "buffer_padding": 1, "mode": 1}, what=f"reset {reset}", ulp=0)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def masks(cases):
    mask = ((np.array([[1, 1, 1, 0, 1], [0, 1, 0, 0, 1]]) - 1) * 10000).astype(np.int32)
    cases.add("MaskedSoftmax", [uniform(2, 2, 3, 5), mask], lambda x, m: softmax(x + m[:, None, None]), what="uncompressed")
    cases.add("MaskedSoftmax", [uniform(1, 1, 2, 4), np.full((1, 4), -10000, np.int32)], lambda x, m: softmax(x), {"mode": 0}, what="nothing left", tolerance="rtol 2e-3 atol 1e-5", kinds="f32")

    def packed(x, lengths):
        """Sequences behind one another see themselves alone."""
        batch, height, places = x.shape[:3]
        y = np.full_like(x, 1 / places)
        for n in range(batch):
            at = 0
            for length in filter(None, lengths[n]):
                block = slice(at, at + length)
                y[n, :, block] = 0
                y[n, :, block, block] = softmax(x[n, :, block, block])
                at += length
        return y
    # The document's lengths: masks 1000, 1110 and 1111 come to 1, 3 and 4.
    cases.add("MaskedSoftmax", [uniform(1, 2, 8, 8), np.int32([[1, 3, 4]])], packed, {"mode": 1}, what="compressed, the document's")
    cases.add("MaskedSoftmax", [uniform(2, 1, 6, 6), np.int32([[2, 0, 3], [1, 4, 0]])], packed, {"mode": 1}, what="compressed, padding behind")


def recurrences(cases):
    steps, batch, inputs, size = 4, 2, 3, 2
    for op, kind, gates in (("StatefulGru", "GRU", 3), ("StatefulLstm", "LSTM", 4), ("StatefulGRU", "GRU", 3), ("StatefulLSTM", "LSTM", 4)):
        for what, directions, direction, clip, option, full in (("", 1, "forward", None, 0, False), ("every slot", 1, "reverse", 0.6, 1, True), ("both ways", 2, "bidirectional", 1.5, 1, True), ("options off", 1, "forward", None, 0, True)):
            if op.isupper() or op[-2:].isupper() and what != "every slot":
                continue  # the other spelling once
            x = uniform(steps, batch, inputs)
            weights = [uniform(directions, gates * size, inputs, low=-1, high=1), uniform(directions, gates * size, size, low=-1, high=1)]
            bias, h0, c0, p = uniform(directions, 2 * gates * size, low=-1, high=1), uniform(directions, batch, size), uniform(directions, batch, size), uniform(directions, 3 * size, low=-1, high=1)
            lengths = np.int32([4, 2])
            operands = [x, *weights]
            if full:
                operands += [bias, lengths, h0] + ([c0, p] if kind == "LSTM" else []) + [np.array(what == "every slot")]
            attributes = {"hidden_size": size, "direction": direction, "linear_before_reset" if kind == "GRU" else "input_forget": option}
            if clip:
                attributes["clip"] = clip
            double = {"W": weights[0].astype(np.float64), "R": weights[1].astype(np.float64)}
            if full:
                double["B"] = bias.astype(np.float64)
                if kind == "LSTM":
                    double["P"] = p.astype(np.float64)
            outs = layer(kind, directions, x.astype(np.float64), double, lengths if full else None, h0.astype(np.float64) if full else None, c0.astype(np.float64) if full else None,
                         direction == "reverse", bool(option), False, clip, bool(option))
            cases.add(op, operands, lambda *_, y=outs[:3 if kind == "LSTM" else 2]: list(y), attributes, what=what, kinds="f32")


def slots(cases):
    """Each input slot that may be left out, alone; each attribute alone; every result."""
    steps, batch, inputs, size = 3, 2, 2, 2
    for op, kind, gates, names in (("StatefulGru", "GRU", 3, ("B", "sequence_lens", "initial_h", "reset")), ("StatefulLstm", "LSTM", 4, ("B", "sequence_lens", "initial_h", "initial_c", "P", "reset"))):
        option = "linear_before_reset" if kind == "GRU" else "input_forget"
        held = {"B": uniform(1, 2 * gates * size, low=-1, high=1), "sequence_lens": np.int32([3, 1]), "initial_h": uniform(1, batch, size), "initial_c": uniform(1, batch, size),
                "P": uniform(1, 3 * size, low=-1, high=1), "reset": np.array(True)}
        x, w, r = uniform(steps, batch, inputs), uniform(1, gates * size, inputs, low=-1, high=1), uniform(1, gates * size, size, low=-1, high=1)
        for what, wired, attributes in [(f"{name} alone", (name,), {}) for name in names] + [("clip alone", (), {"clip": 0.3}), ("reverse alone", (), {"direction": "reverse"}), (f"{option} alone", ("B",), {option: 1})]:
            given = {k: v.astype(np.float64) for k, v in held.items() if k in wired and k in ("B", "P")}
            outs = layer(kind, 1, x.astype(np.float64), {"W": w.astype(np.float64), "R": r.astype(np.float64), **given}, held["sequence_lens"] if "sequence_lens" in wired else None, held["initial_h"] if "initial_h" in wired else None,
                         held["initial_c"] if "initial_c" in wired else None, "direction" in attributes, option in attributes, False, attributes.get("clip"), option in attributes)
            operands = [x, w, r] + [held[name] if name in wired else None for name in names]
            while operands[-1] is None:
                operands.pop()
            cases.write_slots(op, what, operands, outs[:3 if kind == "LSTM" else 2], {"hidden_size": size, **attributes})


def main():
    for name, part in (("buffer", buffers), ("softmax", masks), ("recurrent", recurrences), ("slots", slots)):
        cases = Cases("qti_aisw", "qti_aisw.py")
        part(cases)
        cases.file.write(f"{FOLDER}/{name}.txt")


main()
