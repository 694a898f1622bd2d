"""Test vectors as text: cases of docs/text-ir.md with feeds and expected values."""
import numpy as np

NAMES = {"float32": "f32", "int8": "s8", "uint8": "u8", "int16": "s16", "uint16": "u16", "int32": "s32",
         "uint32": "u32", "int64": "s64", "uint64": "u64", "bool": "bool", "float16": "f16", "float64": "f64"}


class Quant:
    def __init__(self, scale, zero):
        self.scale, self.zero = float(np.float32(scale)), int(zero)

    def text(self):
        return f"scale={number(np.float32(self.scale))}, zero={self.zero}"


class QuantByAxis:
    """One scale and zero point for each index of an axis."""

    def __init__(self, scales, zeros, axis):
        self.scales, self.zeros, self.axis = np.asarray(scales, np.float32), np.asarray(zeros), axis

    def text(self):
        return f"scale={data(self.scales)}, zero={data(self.zeros)}, axis={self.axis}"


def number(value, kind=np.float32):
    """The shortest form that reads back to the same element; kind: of a float."""
    if isinstance(value, (bool, np.bool_)):
        return "1" if value else "0"
    if isinstance(value, (float, np.floating)):
        if np.isnan(value):
            return "nan"
        if np.isinf(value):
            return "inf" if value > 0 else "-inf"
        return np.format_float_positional(kind(value), unique=True, trim="-") \
            if 1e-4 <= abs(float(value)) < 1e7 or value == 0 else \
            np.format_float_scientific(kind(value), unique=True, trim="-")
    return str(int(value))


def data(array):
    array = np.asarray(array)
    kind = array.dtype.type if array.dtype.kind == "f" else np.float32
    return "[" + ", ".join(number(v, kind) for v in array.ravel()) + "]"


def written(value):
    """An attribute: a number, a text, or a list of either."""
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(written(v) for v in value) + "]"
    if isinstance(value, str):
        return f'"{value}"'
    return "true" if value is True else "false" if value is False else repr(value)


def type_of(array, quant=None):
    array = np.asarray(array)
    text = f"{NAMES[array.dtype.name]}[{','.join(str(d) for d in array.shape)}]"
    if quant:
        text += f" quant({quant.text()})"
    return text


class File:
    """Collects cases; writes them behind a line that names the script."""

    def __init__(self, script):
        self.parts = [f"# Made by scripts/vectors/{script}.\n"]

    def case(self, name, oracle, op, inputs, expected, attributes=None, quants=None, out_quant=None,
             tolerance="", constants=(), clamp=None):
        """inputs: (name, array) pairs, None for an absent one; those in `constants` stand in the graph. quants: by name.
        expected: an array of out_quant, or a list of pairs of an array and its Quant, one a result.
        clamp: bounds of a fused activation."""
        quants = quants or {}
        lines = [f'case "{name}" oracle "{oracle}"{" " + tolerance if tolerance else ""}', 'graph "g" {']
        operands = ", ".join("_" if array is None else "%" + label for label, array in inputs)
        inputs = [(label, array) for label, array in inputs if array is not None]
        for label, array in inputs:
            kind = f"const  %{label} : {type_of(array, quants.get(label))} = {data(array)}" \
                if label in constants else f"input  %{label} : {type_of(array, quants.get(label))}"
            lines.append("  " + kind)
        text = ", ".join(f"{k}={v}" for k, v in (attributes or {}).items())
        expected = expected if isinstance(expected, list) else [(expected, out_quant)]
        results = [f"%y{i or ''}" for i in range(len(expected))]
        typed = ", ".join(f"{r} : {type_of(*e)}" for r, e in zip(results, expected))
        lines.append(f"  {typed} = {op} ({operands})"
                     + (f" {{{text}}}" if text else "")
                     + (f" clamp({number(clamp[0])}, {number(clamp[1])})" if clamp else ""))
        lines += [f"  output {r}" for r in results] + ["}"]
        lines += [f"feed   %{label} = {data(array)}" for label, array in inputs if label not in constants]
        lines += [f"expect {r} = {data(e[0])}" for r, e in zip(results, expected)]
        self.parts.append("\n".join(lines) + "\n")

    def foreign(self, name, oracle, op, inputs, expected, attributes=None, weights=None, quants=None, out_quant=None, tolerance=""):
        """An operator of another vocabulary. inputs: (name, array) pairs; expected: an array or a list of them. attributes: numbers,
        texts and lists; weights: arrays (or pairs of an array and its Quant...) that become constants, named by attributes."""
        quants, outputs = quants or {}, expected if isinstance(expected, list) else [expected]
        lines = [f'case "{name}" oracle "{oracle}"{" " + tolerance if tolerance else ""}', 'graph "g" {']
        lines += [f"  input  %{label} : {type_of(array, quants.get(label))}" for label, array in inputs]
        text = [f"{k}={written(v)}" for k, v in (attributes or {}).items()]
        for k, w in (weights or {}).items():
            w, quant = w if isinstance(w, tuple) else (w, None)
            lines.append(f"  const  %{k} : {type_of(w, quant)} = {data(w)}")
            text.append(f"{k}=%{k}")
        results = [f"%y{i or ''}" for i in range(len(outputs))]
        typed = ", ".join(f"{r} : {type_of(y, out_quant)}" for r, y in zip(results, outputs))
        operands = ", ".join("%" + label for label, _ in inputs)
        lines.append(f"  {typed} = {op} ({operands})" + (f" {{{', '.join(text)}}}" if text else ""))
        lines += [f"  output {r}" for r in results] + ["}"]
        lines += [f"feed   %{label} = {data(array)}" for label, array in inputs]
        lines += [f"expect {r} = {data(y)}" for r, y in zip(results, outputs)]
        self.parts.append("\n".join(lines) + "\n")

    def write(self, path):
        with open(path, "w", encoding="ascii") as file:
            file.write("\n".join(self.parts))
