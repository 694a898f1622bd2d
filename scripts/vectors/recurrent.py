#!/usr/bin/env python3
"""src/ops/recurrent.txt: by ONNX Runtime, whose time comes first and whose outputs are [T, 1, N, O]."""
import numpy as np

import ort
import twir

random = np.random.default_rng(91)
STEPS, INPUTS, OUTPUTS = 5, 3, 4


def uniform(*shape):
    return random.uniform(-1, 1, shape).astype(np.float32)


def case(file, name, op, onnx, gates, batch=1, lengths=None, state=True, peepholes=False, ours=None, theirs=None, bias=True):
    x, w, r = uniform(batch, STEPS, INPUTS), uniform(gates, OUTPUTS, INPUTS), uniform(gates, OUTPUTS, OUTPUTS)
    b = uniform(2, gates, OUTPUTS) if bias else None
    n = None if lengths is None else np.array(lengths, np.int32)
    h = uniform(batch, OUTPUTS) if state else None
    c = uniform(batch, OUTPUTS) if peepholes else None
    p = uniform(3, OUTPUTS) if peepholes else None
    given = [("x", x), ("w", w), ("r", r), ("b", b), ("n", n), ("h", h), ("c", c), ("p", p)]
    while given[-1][1] is None:
        given.pop()
    feeds = [np.moveaxis(x, 1, 0), w.reshape(1, -1, INPUTS), r.reshape(1, -1, OUTPUTS)]
    feeds += [None if v is None else v.reshape(shape) for v, shape in
              ((b, (1, -1)), (n, (-1,)), (h, (1, batch, OUTPUTS)), (c, (1, batch, OUTPUTS)), (p, (1, -1)))][:len(given) - 3]
    oracle, y = ort.run(onnx, feeds, {"hidden_size": OUTPUTS, **(theirs or {})}, 14)
    file.case(name, oracle, op, given, np.moveaxis(y[:, 0], 0, 1), ours, tolerance="rtol 1e-5 atol 1e-6", constants=("w", "r", "b", "p"))


def steps(file, name, op, onnx, gates, taken, hold):
    """Steps that are left out: ONNX Runtime on those that are taken, put where they stand."""
    taken = np.array(taken, bool)
    x, w, r, b = uniform(1, STEPS, INPUTS), uniform(gates, OUTPUTS, INPUTS), uniform(gates, OUTPUTS, OUTPUTS), uniform(2, gates, OUTPUTS)
    h = uniform(1, OUTPUTS)
    feeds = [np.moveaxis(x, 1, 0)[taken], w.reshape(1, -1, INPUTS), r.reshape(1, -1, OUTPUTS), b.reshape(1, -1), None, h.reshape(1, 1, OUTPUTS)]
    oracle, made = ort.run(onnx, feeds, {"hidden_size": OUTPUTS}, 14)
    y, last = np.zeros((1, STEPS, OUTPUTS), np.float32), h[0]
    for t, row in enumerate(taken):
        last = made[taken[:t].sum(), 0, 0] if row else last
        y[0, t] = last if row or hold else 0
    file.case(name, oracle, op, [("x", x), ("w", w), ("r", r), ("b", b), ("n", taken[None]), ("h", h)], y, {"hold": 1} if hold else None,
              tolerance="rtol 1e-5 atol 1e-6", constants=("w", "r", "b"))


def main():
    file = twir.File("recurrent.py")
    for op, onnx, gates in (("Rnn", "RNN", 1), ("Gru", "GRU", 3), ("PeepholeLstm", "LSTM", 4)):
        case(file, "as it is", op, onnx, gates)
        case(file, "without bias and state", op, onnx, gates, bias=False, state=False)
        case(file, "a batch of sequences of their own lengths", op, onnx, gates, batch=3, lengths=[5, 2, 4])
        case(file, "clipped", op, onnx, gates, ours={"clip": 0.5}, theirs={"clip": 0.5})
    case(file, "another activation", "Rnn", "RNN", 1, ours={"g": "elu", "alpha": [1, 0.5, 1]}, theirs={"activations": ["Elu"], "activation_alpha": [0.5]})
    case(file, "the linear map before the reset", "Gru", "GRU", 3, batch=2, ours={"linear_before_reset": 1}, theirs={"linear_before_reset": 1})
    case(file, "other activations", "Gru", "GRU", 3, ours={"f": "hard_sigmoid", "g": "softsign", "alpha": [0.25, 1, 1], "beta": [0.5, 0, 0]},
         theirs={"activations": ["HardSigmoid", "Softsign"], "activation_alpha": [0.25], "activation_beta": [0.5]})
    case(file, "peepholes", "PeepholeLstm", "LSTM", 4, batch=2, peepholes=True)
    case(file, "input and forget gate coupled", "PeepholeLstm", "LSTM", 4, ours={"input_forget": 1}, theirs={"input_forget": 1})
    case(file, "other activations", "PeepholeLstm", "LSTM", 4,
         ours={"f": "hard_sigmoid", "g": "affine", "h": "relu", "alpha": [0.25, 1.5, 1], "beta": [0.5, 0.25, 0]},
         theirs={"activations": ["HardSigmoid", "Affine", "Relu"], "activation_alpha": [0.25, 1.5], "activation_beta": [0.5, 0.25]})
    for op, onnx, gates in (("Rnn", "RNN", 1), ("Gru", "GRU", 3), ("PeepholeLstm", "LSTM", 4)):
        steps(file, "steps that are left out", op, onnx, gates, [0, 1, 1, 0, 1], False)
        steps(file, "steps that are left out hold the state", op, onnx, gates, [0, 1, 0, 1, 0], True)
    file.write("src/ops/recurrent.txt")


main()
