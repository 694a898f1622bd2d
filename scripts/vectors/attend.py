#!/usr/bin/env python3
"""src/ops/attend.txt: attention as sums over tokens, in double precision."""
import numpy as np

import twir

random = np.random.default_rng(31)


def uniform(*shape):
    return random.uniform(-2, 2, shape).astype(np.float32)


def attend(q, k, v, scale, mask):
    s = np.einsum("bthd,bshd->bhts", q.astype(float), k.astype(float)) * scale + mask
    e = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("bhts,bshe->bthe", e / e.sum(-1, keepdims=True), v.astype(float)).astype(np.float32)


def main():
    file = twir.File("attend.py")
    for name, q, k, width, mask in (("plain", (1, 3, 2, 4), 5, 3, None), ("one query", (1, 1, 2, 3), 6, 2, (1, 1, 1, 6)),
                                    ("by heads", (1, 4, 3, 2), 4, 2, (1, 3, 4, 4)), ("batch", (2, 2, 1, 3), 3, 3, (2, 1, 1, 3)),
                                    ("by queries", (1, 3, 2, 5), 9, 4, (1, 1, 3, 1))):
        queries, keys, values = uniform(*q), uniform(q[0], k, *q[2:]), uniform(q[0], k, q[2], width)
        inputs = [(n, a.reshape(*a.shape[:2], -1)) for n, a in (("q", queries), ("k", keys), ("v", values))]
        if mask:
            inputs.append(("m", uniform(*mask)))
        for attributes, scale in (({"scale": 0.5}, 0.5), ({"scale": 1.5, "divide": 1}, 1 / 1.5)):
            out = attend(queries, keys, values, scale, inputs[3][1].astype(float) if mask else 0)
            file.case(f"{name}, {scale:.3g}", "numpy " + np.__version__, "Attend", inputs, out.reshape(*out.shape[:2], -1),
                      {"heads": q[2], **attributes}, tolerance="rtol 1e-5 atol 1e-6")
    file.write("src/ops/attend.txt")


if __name__ == "__main__":
    main()
