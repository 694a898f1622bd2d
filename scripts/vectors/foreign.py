"""Cases of foreign operators in float32 and int8, both by one function in double precision.

int8: operands are rounded to a grid, the function is given what the grid stands for, and its result is rounded to a grid again. The
product may be a step away: it rounds on the way, or takes halves the other way."""
import numpy as np

import twir

ORACLE = f"numpy {np.__version__}, double precision"
random = np.random.default_rng(8)


def uniform(*shape, low=-3.0, high=3.0):
    return random.uniform(low, high, shape).astype(np.float32)


def grid(x):
    """Scale and zero point with which int8 holds the range of x and zero."""
    low, high = min(float(np.min(x)), 0.0), max(float(np.max(x)), 0.0)
    scale = float(np.float32(max(high - low, 1e-3) / 254))
    return twir.Quant(scale, int(np.clip(round(-127 - low / scale), -128, 127)))


def stored(x, quant):
    return np.clip(np.rint(np.asarray(x, np.float64) / quant.scale) + quant.zero, -128, 127).astype(np.int8)


def real(q, quant):
    return (q.astype(np.float64) - quant.zero) * quant.scale


def by_channel(w):
    """A weight as int8 with a scale for each index of axis 0: (stored, quantisation), and what it stands for."""
    scales = np.float32(np.maximum(np.abs(w).reshape(w.shape[0], -1).max(1), 1e-3) / 127)
    q = np.clip(np.rint(w / scales.reshape((-1,) + (1,) * (w.ndim - 1))), -127, 127).astype(np.int8)
    return (q, twir.QuantByAxis(scales, [0] * len(scales), 0)), q * scales.astype(np.float64).reshape((-1,) + (1,) * (w.ndim - 1))


class Cases:
    def __init__(self, system, script):
        self.system, self.file, self.seen, self.oracle = system, twir.File(script), {}, ORACLE

    def name(self, op, what, kind):
        name = ", ".join(filter(None, [op, what, kind]))
        self.seen[name] = self.seen.get(name, 0) + 1
        return name if self.seen[name] == 1 else f"{name}, {self.seen[name]}"

    def add(self, op, inputs, function, attributes=None, weights=None, what="", tolerance="rtol 1e-5 atol 1e-5", kinds="f32 s8", ulp=1,
            by_axis=()):
        """inputs: arrays; function: of the inputs in double precision and then the weights. by_axis: weights that int8 cases quantise."""
        labels = "abcdefghi" if len(inputs) > 1 else "x"
        weights = weights or {}
        if "f32" in kinds:
            y = function(*[x.astype(np.float64) if x.dtype.kind == "f" else x for x in inputs], *[w.astype(np.float64) for w in weights.values()])
            y = [np.asarray(v, np.float32) for v in y] if isinstance(y, list) else \
                np.asarray(y) if np.asarray(y).dtype.kind in "bi" else np.asarray(y, np.float32)
            self.file.foreign(self.name(op, what, "f32"), self.oracle, f"{self.system}.{op}", list(zip(labels, inputs)), y, attributes, weights,
                              tolerance=tolerance)
        if "s8" in kinds:
            self.add_s8(op, inputs, function, attributes, weights, what, ulp, by_axis)

    def write_slots(self, op, what, operands, outputs, attributes):
        """Operands by position, None for one that is absent."""
        names = [None if x is None else f"%{c}" for c, x in zip("abcdefghi", operands)]
        lines = [f'case "{self.name(op, what, "f32")}" oracle "{self.oracle}" rtol 1e-5 atol 1e-5', 'graph "g" {']
        lines += [f"  input  {name} : {twir.type_of(x)}" for name, x in zip(names, operands) if name]
        results = [(f"%y{i or ''}", np.asarray(y, np.float32)) for i, y in enumerate(outputs)]
        lines.append(f"  {', '.join(f'{name} : {twir.type_of(y)}' for name, y in results)} = {self.system}.{op} ({', '.join(name or '_' for name in names)}) {{{', '.join(f'{k}={twir.written(v)}' for k, v in attributes.items())}}}")
        lines += [f"  output {name}" for name, _ in results] + ["}"]
        lines += [f"feed   {name} = {twir.data(x)}" for name, x in zip(names, operands) if name]
        self.file.parts.append("\n".join(lines + [f"expect {name} = {twir.data(y)}" for name, y in results]) + "\n")

    def add_s8(self, op, inputs, function, attributes, weights, what, ulp, by_axis):
        labels = "abcdefghi" if len(inputs) > 1 else "x"
        quants, feeds, reals, constants, values = {}, [], [], {}, []
        for label, x in zip(labels, inputs):
            if x.dtype.kind != "f":
                feeds.append((label, x))
                reals.append(x)
                continue
            quants[label] = grid(x)
            feeds.append((label, stored(x, quants[label])))
            reals.append(real(feeds[-1][1], quants[label]))
        for label, w in weights.items():
            constants[label], value = by_channel(w) if label in by_axis else (w, w.astype(np.float64))
            values.append(value)
        y = function(*reals, *values)
        if np.asarray(y).dtype.kind == "b":
            out, quant = np.asarray(y), None
        else:
            quant = grid(y) if ulp else next(iter(quants.values()))  # what only moves keeps its grid
            out = stored(y, quant)
        self.file.foreign(self.name(op, what, "s8"), self.oracle, f"{self.system}.{op}", feeds, out, attributes, constants, quants, quant,
                          f"ulp {ulp}" if ulp else "")
