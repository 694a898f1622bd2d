#!/usr/bin/env python3
"""tests/data/decoder/: a decoder of a small language model in the text IR, with caches of 320 tokens in float and in int8, and
what PyTorch chooses for each of 256 given tokens. Weights are `random` in the text and the same here.

Two layers of width 32: 4 heads of queries share 2 of keys and values, rotary embedding, a gated network of 64, 50 words. A run
takes up to 8 tokens, `%n` of which are there."""
import numpy as np
import torch

WIDTH, HEADS, SHARED, SIZE, INNER, WORDS, LAYERS, SLOTS, CHUNK, TOKENS = 32, 4, 2, 8, 64, 50, 2, 320, 8, 256
FOLDER = "tests/data/decoder"


def splitmix(seed, shape, low, high):
    """The text's `random`: double precision, then float."""
    state, out = seed, np.empty(int(np.prod(shape)), np.float64)
    mask = (1 << 64) - 1
    for i in range(out.size):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        out[i] = ((z ^ (z >> 31)) >> 11) * 2.0 ** -53
    return (low + (high - low) * out).astype(np.float32).reshape(shape)


class Weights:
    def __init__(self):
        self.lines, self.of = [], {}

    def add(self, name, shape, bound):
        seed = len(self.of) + 1
        self.of[name] = torch.from_numpy(splitmix(seed, shape, -bound, bound))
        self.lines.append(f"  const %{name} : f32[{','.join(map(str, shape))}] = random {seed} {-bound} {bound}")


def make_weights():
    w = Weights()
    w.add("words", (WORDS, WIDTH), 1)
    for i in range(LAYERS):
        for name, rows, columns in (("q", HEADS * SIZE, WIDTH), ("k", SHARED * SIZE, WIDTH), ("v", SHARED * SIZE, WIDTH), ("o", WIDTH, HEADS * SIZE), ("gate", INNER, WIDTH), ("up", INNER, WIDTH), ("down", WIDTH, INNER)):
            w.add(f"{name}{i}", (rows, columns), 0.3)  # variance 1 / WIDTH: unit gain
    w.add("head", (WORDS, WIDTH), 1)
    return w


def tables():
    angle = np.arange(SLOTS)[:, None] / 10000 ** (np.arange(0, SIZE, 2) / SIZE)
    angle = np.concatenate([angle, angle], 1)
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def rms(x):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5)


def turned(x, cosine, sine):
    half = SIZE // 2
    return x * cosine + torch.cat([-x[..., half:], x[..., :half]], -1) * sine


def decode(w, tokens):
    """All tokens at once, under a causal mask: the logits of each."""
    count, x = len(tokens), w["words"][tokens]
    cosine, sine = (torch.from_numpy(t[:count]) for t in tables())
    ranges = []
    for i in range(LAYERS):
        h = rms(x)

        def heads(name, n):
            return (h @ w[f"{name}{i}"].T).view(count, n, SIZE).transpose(0, 1)
        q, k, v = turned(heads("q", HEADS), cosine, sine), turned(heads("k", SHARED), cosine, sine), heads("v", SHARED)
        ranges.append((k.abs().max().item(), v.abs().max().item()))
        k, v = (t.repeat_interleave(HEADS // SHARED, 0) for t in (k, v))
        score = (q @ k.transpose(1, 2)) / SIZE ** 0.5 + torch.full((count, count), -torch.inf).triu(1)
        x = x + (torch.softmax(score, -1) @ v).transpose(0, 1).reshape(count, HEADS * SIZE) @ w[f"o{i}"].T
        h = rms(x)
        x = x + (torch.nn.functional.silu(h @ w[f"gate{i}"].T) * (h @ w[f"up{i}"].T)) @ w[f"down{i}"].T
    return rms(x) @ w["head"].T, ranges


def turn_lines(name, heads):
    half, shape = SIZE // 2, [1, heads, CHUNK, SIZE // 2]
    return [f"  %{name}.a = Slice (%{name}) {{begin=[0,0,0,0], size={shape}, step=[1,1,1,1]}}",
            f"  %{name}.b = Slice (%{name}) {{begin=[0,0,0,{half}], size={shape}, step=[1,1,1,1]}}",
            f"  %{name}.m = Neg (%{name}.b)", f"  %{name}.r = Concat (%{name}.m, %{name}.a) {{axis=3}}", f"  %{name}.c = Mul (%{name}, %cosine)",
            f"  %{name}.s = Mul (%{name}.r, %sine)", f"  %{name}.t = Add (%{name}.c, %{name}.s)"]


def head_lines(name, i, heads):
    return [f"  %{name}{i}.f = FullyConnected (%h{i}, %{name}{i})", f"  %{name}{i}.h = Reshape (%{name}{i}.f) {{shape=[1,{CHUNK},{heads},{SIZE}]}}",
            f"  %{name}h{i} = Transpose (%{name}{i}.h) {{perm=[0,2,1,3]}}"]


def cache_lines(name, i, rows, scale):
    kind = f"s8[1,{SHARED},{SLOTS},{SIZE}] quant(scale={scale:.6g}, zero=0)" if scale else f"f32[1,{SHARED},{SLOTS},{SIZE}]"
    lines = [f"  state %{name}cache{i} : {kind}"]
    if scale:
        lines.append(f"  %{name}s{i} : s8[1,{SHARED},{CHUNK},{SIZE}] quant(scale={scale:.6g}, zero=0) = Quantize ({rows}) {{dtype=s8}}")
        rows = f"%{name}s{i}"
    return lines + [f"  %{name}all{i} : {kind} = Append (%{name}cache{i}, {rows}, %tokens, %n)", f"  next %{name}cache{i} = %{name}all{i}"]


def text(w, ranges, int8):
    cosine, sine = (", ".join(repr(float(v)) for v in t.ravel()) for t in tables())
    table = f"f32[{SLOTS},{SIZE}]"
    lines = [f'graph "decoder{"_s8" if int8 else ""}" {{', f"  input %ids : s32[1,{CHUNK}]", "  input %n : s32[1]", "  state %tokens : s32[1]", *w.lines,
             f"  const %one : f32[{WIDTH}] = [{', '.join(['1'] * WIDTH)}]", f"  const %place : s32[{CHUNK}] = {list(range(CHUNK))}", f"  const %last : s32[1] = [{SLOTS - 1}]",
             f"  const %cosines : {table} = [{cosine}]", f"  const %sines : {table} = [{sine}]",
             "  %at0 = Add (%place, %tokens)", "  %at = Min (%at0, %last)", "  %cosine = Gather (%cosines, %at) {axis=0}", "  %sine = Gather (%sines, %at) {axis=0}", "  %x0 = Gather (%words, %ids) {axis=0}",
             f"  %now = Advance (%tokens, %n) {{tokens={CHUNK}, limit={SLOTS}}}", "  next %tokens = %now"]
    norm = "{axes=[2], epsilon=1e-5}"
    for i in range(LAYERS):
        lines += [f"  %h{i} = RmsNormalize (%x{i}, %one) {norm}", *head_lines("q", i, HEADS), *head_lines("k", i, SHARED), *head_lines("v", i, SHARED), *turn_lines(f"qh{i}", HEADS), *turn_lines(f"kh{i}", SHARED),
                  *cache_lines("k", i, f"%kh{i}.t", int8 and ranges[i][0] / 127), *cache_lines("v", i, f"%vh{i}", int8 and ranges[i][1] / 127),
                  f"  %y{i} = Attention (%qh{i}.t, %kall{i}, %vall{i}, %tokens, %n)", f"  %y{i}.t = Transpose (%y{i}) {{perm=[0,2,1,3]}}", f"  %y{i}.f = Reshape (%y{i}.t) {{shape=[1,{CHUNK},{HEADS * SIZE}]}}",
                  f"  %y{i}.o = FullyConnected (%y{i}.f, %o{i})", f"  %z{i} = Add (%x{i}, %y{i}.o)", f"  %g{i} = RmsNormalize (%z{i}, %one) {norm}", f"  %gate{i}.y = FullyConnected (%g{i}, %gate{i})",
                  f"  %gate{i}.s = Sigmoid (%gate{i}.y)", f"  %gate{i}.g = Mul (%gate{i}.y, %gate{i}.s)", f"  %up{i}.y = FullyConnected (%g{i}, %up{i})", f"  %up{i}.g = Mul (%gate{i}.g, %up{i}.y)",
                  f"  %down{i}.y = FullyConnected (%up{i}.g, %down{i})", f"  %x{i + 1} = Add (%z{i}, %down{i}.y)"]
    lines += [f"  %h = RmsNormalize (%x{LAYERS}, %one) {norm}", "  %logits = FullyConnected (%h, %head)", "  output %logits", "}"]
    return f"# Made by scripts/vectors/decoder.py.\n" + "\n".join(lines) + "\n"


def main():
    torch.set_num_threads(1)
    w = make_weights()
    tokens = np.random.default_rng(5).integers(0, WORDS, TOKENS)
    logits, ranges = decode(w.of, torch.from_numpy(tokens))
    best = logits.topk(2).values
    with open(f"{FOLDER}/golden.txt", "w", encoding="ascii") as file:
        file.write(f"# Made by scripts/vectors/decoder.py with PyTorch {torch.__version__.split('+')[0]}: a token, what is chosen behind it, by which margin.\n")
        for token, choice, (first, second) in zip(tokens, logits.argmax(-1), best):
            file.write(f"{token} {choice.item()} {(first - second).item():.6g}\n")
    for int8 in (False, True):
        with open(f"{FOLDER}/decoder{'_s8' if int8 else ''}.twir", "w", encoding="ascii") as file:
            file.write(text(w, ranges, int8))
    print("ranges", ranges, "smallest margins", sorted((best[:, 0] - best[:, 1]).tolist())[:8])


main()
