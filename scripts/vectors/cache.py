#!/usr/bin/env python3
"""src/ops/{advance,append,attention}.txt: caches as lists of tokens, in double precision."""
import numpy as np

import twir

NUMPY = "numpy " + np.__version__
random = np.random.default_rng(21)


def uniform(*shape):
    return random.uniform(-2, 2, shape).astype(np.float32)


def one(value):
    return np.array([value], np.int32)


def attend(q, keys, values, position, count, scale, window):
    """keys, values: [H, tokens, D], every token there has been."""
    heads, rows = q.shape[1:3]
    out = np.zeros((1, heads, rows, values.shape[2]))
    for h in range(heads):
        head = h // (heads // keys.shape[0])
        for i in range(rows):
            end = position + min(i + 1, count)
            first = max(0, end - window) if window else 0
            s = keys[head, first:end].astype(float) @ q[0, h, i].astype(float) * scale
            e = np.exp(s - s.max())
            out[0, h, i] = e / e.sum() @ values[head, first:end].astype(float)
    return out.astype(np.float32)


def slots(tokens, size, ring):
    """[H, tokens, D] as a cache holds it; what no token fills is noise."""
    cache = uniform(tokens.shape[0], size, tokens.shape[2]).astype(tokens.dtype)
    for t in range(tokens.shape[1]):
        cache[:, t % size if ring else t] = tokens[:, t]
    return cache[None]


def main():
    exact = "rtol 0 atol 0"
    file = twir.File("cache.py")
    file.case("one", NUMPY, "Advance", [("p", one(7))], one(8), tolerance=exact)
    file.case("some", NUMPY, "Advance", [("p", one(7)), ("n", one(3))], one(10), {"tokens": 4, "limit": 10}, tolerance=exact)
    file.write("src/ops/advance.txt")
    file = twir.File("cache.py")
    for position, count, ring in ((2, None, 0), (3, 2, 0), (5, 1, 0), (4, None, 1), (17, 2, 1), (3, 0, 0)):
        cache, x = uniform(1, 2, 6, 3), uniform(1, 2, 3, 3)
        out = cache.copy()
        for i in range(3 if count is None else count):
            out[:, :, (position + i) % 6] = x[:, :, i]
        more = [] if count is None else [("n", one(count))]
        file.case(f"position {position}, {count} of 3, ring {ring}", NUMPY, "Append", [("c", cache), ("x", x), ("p", one(position))] + more, out, {"ring": ring}, tolerance=exact)
    file.write("src/ops/append.txt")
    file = twir.File("cache.py")
    for position, rows, count, window, size, ring in ((0, 1, None, 0, 5, 0), (3, 2, None, 0, 6, 0), (2, 3, 2, 2, 6, 0), (11, 2, None, 4, 5, 1), (4, 2, 1, 3, 8, 1)):
        q, brought = uniform(1, 4, rows, 3), rows if count is None else count
        keys, values = uniform(2, position + brought, 3), uniform(2, position + brought, 4)
        more = [] if count is None else [("n", one(count))]
        for kind in ("f32", "s8"):
            k, v, quants = keys, values, {}
            if kind == "s8":
                quants = {"k": twir.Quant(0.02, 3), "v": twir.Quant(0.03, -5)}
                k, v = (np.clip(np.round(t / s) + z, -128, 127).astype(np.int8) for t, s, z in ((keys, 0.02, 3), (values, 0.03, -5)))
                real = [(t.astype(float) - z) * s for t, s, z in ((k, 0.02, 3), (v, 0.03, -5))]
            else:
                real = [k, v]
            out = attend(q, *real, position, brought, 0.5, window)
            file.case(f"position {position}, {count} of {rows}, window {window}, ring {ring}, {kind}", NUMPY, "Attention", [("q", q), ("k", slots(k, size, ring)), ("v", slots(v, size, ring)), ("p", one(position))] + more, out, {"scale": 0.5, "window": window, "ring": ring}, quants, tolerance="rtol 1e-5 atol 1e-6")
    for position, rows, count, window, size, ring in ((0, 1, None, 0, 5, 0), (3, 2, 1, 0, 6, 0), (11, 2, None, 4, 5, 1), (90, 1, None, 0, 91, 0)):
        brought, width = rows if count is None else count, 16
        quants = {"q": twir.Quant(0.02, -9), "k": twir.Quant(0.02, 3), "v": twir.Quant(0.03, -5), "y": twir.Quant(0.02, 4)}
        stored = {name: random.integers(-128, 128, shape).astype(np.int8) for name, shape in (
            ("q", (1, 4, rows, width)), ("k", (2, position + brought, width)), ("v", (2, position + brought, 4)))}
        real = [(stored[n].astype(float) - quants[n].zero) * quants[n].scale for n in "qkv"]
        out = attend(*real, position, brought, 0.05, window).astype(float)
        out = np.clip(np.floor(np.abs(out / 0.02) + 0.5) * np.sign(out) + 4, -128, 127).astype(np.int8)
        more = [] if count is None else [("n", one(count))]
        file.case(f"int8 throughout: position {position}, {count} of {rows}, window {window}, ring {ring}", NUMPY, "Attention",
                  [("q", stored["q"]), ("k", slots(stored["k"], size, ring)), ("v", slots(stored["v"], size, ring)), ("p", one(position))] + more,
                  out, {"scale": 0.05, "window": window, "ring": ring}, quants, quants["y"], tolerance="ulp 1")
    file.write("src/ops/attention.txt")


if __name__ == "__main__":
    main()
