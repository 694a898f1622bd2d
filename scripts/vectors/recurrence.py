"""ONNX's recurrent layers in double precision."""
import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def recurrent(kind, x, w, r, b, p, lengths, h, c, reverse, linear, clip=None, coupled=False):
    """One direction; x [T, N, I], w [G * H, I]; ONNX's gate order. Returns y [T, N, H], h, c."""
    steps, batch = x.shape[:2]
    size = r.shape[1]
    wb, rb = (b[:len(b) // 2], b[len(b) // 2:]) if b is not None else (np.zeros(len(w)), np.zeros(len(w)))
    y = np.zeros((steps, batch, size))
    h, c = h.copy(), c.copy()

    def bounded(v):
        return v if clip is None else np.clip(v, -clip, clip)
    for n in range(batch):
        for t in (range(lengths[n])[::-1] if reverse else range(lengths[n])):
            g, k = w @ x[t, n] + wb, r @ h[n] + rb
            if kind == "RNN":
                h[n] = np.tanh(bounded(g + k))
            elif kind == "GRU":
                z, s = sigmoid(bounded(g[:size] + k[:size])), sigmoid(bounded(g[size:2 * size] + k[size:2 * size]))
                inner = s * k[2 * size:] if linear else r[2 * size:] @ (s * h[n]) + rb[2 * size:]
                h[n] = (1 - z) * np.tanh(bounded(g[2 * size:] + inner)) + z * h[n]
            else:
                i, o, f, e = np.split(g + k, 4)
                pi, po, pf = np.split(p, 3) if p is not None else (0, 0, 0)
                i, f = sigmoid(bounded(i + pi * c[n])), sigmoid(bounded(f + pf * c[n]))
                c[n] = (1 - i if coupled else f) * c[n] + i * np.tanh(bounded(e))
                h[n] = sigmoid(bounded(o + po * c[n])) * np.tanh(c[n])
            y[t, n] = h[n]
    return y, h, c


def layer(kind, directions, x, weights, lengths, h0, c0, reverse, linear, batch_first, clip=None, coupled=False):
    x = np.moveaxis(x, 1, 0) if batch_first else x
    steps, batch = x.shape[:2]
    size = weights["R"].shape[2]
    state = (directions, batch, size)
    h0, c0 = [np.zeros(state) if v is None else np.moveaxis(v, 1, 0) if batch_first else v for v in (h0, c0)]
    results = [recurrent(kind, x, weights["W"][d], weights["R"][d], weights["B"][d] if "B" in weights else None, weights["P"][d] if "P" in weights else None,
                         lengths if lengths is not None else [steps] * batch, h0[d], c0[d], reverse or d == 1, linear, clip, coupled) for d in range(directions)]
    y, h, c = [np.stack([r[i] for r in results], 1 if i == 0 else 0) for i in range(3)]
    return (y.transpose(2, 0, 1, 3), h.transpose(1, 0, 2), c.transpose(1, 0, 2)) if batch_first else (y, h, c)
