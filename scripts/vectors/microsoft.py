#!/usr/bin/env python3
"""tests/data/onnx-microsoft.txt: operators of com.microsoft as ONNX Runtime's CPU kernels compute them, in the format of
scripts/fixtures/onnx_opsets.py.

usage: microsoft.py > tests/data/onnx-microsoft.txt     (needs numpy, onnx, onnxruntime)
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from onnx_opsets import case, head, node, run  # noqa: E402

MS = "com.microsoft"
random = np.random.default_rng(8)


def f(*shape, scale=1.0):
    """Multiples of 1/16: exact in text."""
    return (np.round(random.uniform(-scale, scale, shape) * 16) / 16).astype(np.float32)


def ms(op, inputs, outputs="y", **attributes):
    return node(op, inputs, outputs, MS, **attributes)


def normalisations():
    x, skip, gamma, beta, bias = f(2, 3, 8), f(2, 3, 8), f(8), f(8), f(8)
    case("SkipLayerNormalization", 17, ms("SkipLayerNormalization", "x,s,g,b"), {"x": x, "s": skip}, {"g": gamma, "b": beta})
    case("SkipLayerNormalization: a bias, and the sum as a result", 17,
         ms("SkipLayerNormalization", "x,s,g,b,c", "y,-,-,sum", epsilon=1e-5), {"x": x, "s": skip}, {"g": gamma, "b": beta, "c": bias})
    case("SkipLayerNormalization: no beta, one skip for all", 17, ms("SkipLayerNormalization", "x,s,g"), {"x": x, "s": skip[:1]}, {"g": gamma})
    case("SkipSimplifiedLayerNormalization", 17, ms("SkipSimplifiedLayerNormalization", "x,s,g", epsilon=1e-6), {"x": x, "s": skip}, {"g": gamma})
    case("SkipSimplifiedLayerNormalization: a bias, and the sum", 17,
         ms("SkipSimplifiedLayerNormalization", "x,s,g,c", "y,-,-,sum"), {"x": x, "s": skip}, {"g": gamma, "c": bias})
    case("SimplifiedLayerNormalization", 17, node("SimplifiedLayerNormalization", "x,g", axis=-1, epsilon=1e-5), {"x": x}, {"g": gamma})
    ids, kinds = np.array([[1, 4, 0], [2, 3, 3]], np.int32), np.array([[0, 0, 1], [0, 1, 1]], np.int32)
    tables = {"w": f(5, 8), "p": f(4, 8), "t": f(2, 8), "g": gamma, "b": beta}
    case("EmbedLayerNormalization", 17, ms("EmbedLayerNormalization", "i,k,w,p,t,g,b", "y,m"), {"i": ids, "k": kinds}, tables)
    case("EmbedLayerNormalization: a mask, the sum", 17, ms("EmbedLayerNormalization", "i,k,w,p,t,g,b,a", "y,m,sum"),
         {"i": ids, "k": kinds, "a": np.array([[1, 1, 0], [1, 1, 1]], np.int32)}, tables)
    case("EmbedLayerNormalization: no segments, positions given", 17, ms("EmbedLayerNormalization", "i,-,w,p,-,g,b,-,q", "y,m"),
         {"i": ids, "q": np.array([[3, 0, 1], [2, 2, 0]], np.int32)}, {k: v for k, v in tables.items() if k != "t"})


def activations():
    x, bias = f(2, 3, 8, scale=4), f(8)
    case("Gelu", 17, ms("Gelu", "x"), {"x": x})
    case("BiasGelu", 17, ms("BiasGelu", "x,b"), {"x": x}, {"b": bias})
    case("FastGelu", 17, ms("FastGelu", "x"), {"x": x})
    case("FastGelu: a bias", 17, ms("FastGelu", "x,b"), {"x": x}, {"b": bias})
    case("QuickGelu", 17, ms("QuickGelu", "x"), {"x": x})
    case("QuickGelu: alpha", 17, ms("QuickGelu", "x", alpha=1.0), {"x": x})


def linear():
    x, w, b = f(1, 2, 5, 5), f(3, 2, 3, 3), f(3)
    for name, params in (("Relu", None), ("Tanh", None), ("Sigmoid", None), ("LeakyRelu", [0.125]), ("Clip", [-0.5, 0.75]), ("HardSigmoid", [0.25, 0.5])):
        more = {"activation_params": params} if params else {}
        case(f"FusedConv: {name}", 17, ms("FusedConv", "x,w,b", pads=[1, 1, 1, 1], kernel_shape=[3, 3], activation=name, **more), {"x": x}, {"w": w, "b": b})
    case("FusedConv: a sum, then the activation", 17, ms("FusedConv", "x,w,b,z", kernel_shape=[3, 3], activation="Relu"),
         {"x": x, "z": f(1, 3, 3, 3)}, {"w": w, "b": b})
    case("FusedGemm: Relu", 17, ms("FusedGemm", "x,w,b", transB=1, activation="Relu"), {"x": f(3, 6)}, {"w": f(4, 6), "b": f(4)})
    case("FusedGemm: LeakyRelu, alpha", 17, ms("FusedGemm", "x,w,b", alpha=0.5, activation="LeakyRelu", activation_alpha=0.25), {"x": f(3, 6)},
         {"w": f(6, 4), "b": f(4)})
    case("FusedMatMul: alpha, both transposed", 17, ms("FusedMatMul", "x,z", alpha=0.25, transA=1, transB=1), {"x": f(2, 5, 3), "z": f(2, 4, 5)})
    case("FusedMatMul: transposed weights", 17, ms("FusedMatMul", "x,w", transB=1), {"x": f(2, 3, 5)}, {"w": f(4, 5)})
    case("FusedMatMul: the batch comes last", 17, ms("FusedMatMul", "x,z", transBatchA=1, transBatchB=1), {"x": f(3, 2, 5), "z": f(5, 2, 4)})
    case("FusedMatMul: the batch comes last, and transposed", 17, ms("FusedMatMul", "x,z", transA=1, transBatchA=1), {"x": f(5, 2, 3), "z": f(2, 5, 4)})


def quantised():
    for bits, block, k in ((4, 16, 48), (4, 32, 40), (8, 16, 32), (4, 32, 32), (8, 64, 40)):
        blocks = -(-k // block)
        w = random.integers(0, 256, (5, blocks, block * bits // 8)).astype(np.uint8)
        scales, zeros = np.abs(f(5 * blocks)) + np.float32(1 / 16), random.integers(0, 256, 5 * -(-blocks * bits // 8)).astype(np.uint8)
        attributes = {"K": k, "N": 5, "bits": bits, "block_size": block}
        case(f"MatMulNBits: {bits} bits, blocks of {block}, {k} columns", 17, ms("MatMulNBits", "x,w,s", **attributes), {"x": f(2, k)}, {"w": w, "s": scales})
        case(f"MatMulNBits: {bits} bits, blocks of {block}, zero points", 17, ms("MatMulNBits", "x,w,s,z", **attributes), {"x": f(2, k)},
             {"w": w, "s": scales, "z": zeros})
    w = random.integers(0, 256, (4, 2, 8)).astype(np.uint8)
    case("MatMulNBits: a bias", 17, ms("MatMulNBits", "x,w,s,-,-,b", K=32, N=4, bits=4, block_size=16), {"x": f(1, 3, 32)},
         {"w": w, "s": np.abs(f(8)) + np.float32(1 / 16), "b": f(4)})
    a, b = random.integers(0, 256, (3, 6)).astype(np.uint8), random.integers(-128, 128, (6, 4)).astype(np.int8)
    scales = {"as": np.float32(1 / 16), "bs": np.abs(f(4)) + np.float32(1 / 16)}
    case("MatMulIntegerToFloat: no zero points", 17, ms("MatMulIntegerToFloat", "a,b,as,bs"), {"a": a}, dict(scales, b=b))
    case("MatMulIntegerToFloat: zero points, a bias", 17, ms("MatMulIntegerToFloat", "a,b,as,bs,az,bz,c"), {"a": a},
         dict(scales, b=b, az=np.uint8(120), bz=np.array([1, -2, 0, 3], np.int8), c=f(4)))
    case("DynamicQuantizeMatMul", 17, ms("DynamicQuantizeMatMul", "x,b,bs"), {"x": f(3, 6)}, {"b": b, "bs": np.float32(1 / 32)})
    case("DynamicQuantizeMatMul: by column, a zero point, a bias", 17, ms("DynamicQuantizeMatMul", "x,b,bs,bz,c"), {"x": f(2, 3, 6)},
         {"b": b.astype(np.int16).__add__(128).astype(np.uint8), "bs": scales["bs"], "bz": np.full(4, 128, np.uint8), "c": f(4)})


def attention():
    x, w, b = f(2, 4, 8), f(8, 24), f(24)
    qkv = {"w": w, "b": b}
    case("Attention", 17, ms("Attention", "x,w,b", num_heads=2), {"x": x}, qkv)
    case("Attention: causal, another scale", 17, ms("Attention", "x,w,b", num_heads=2, unidirectional=1, scale=0.25), {"x": x}, qkv)
    case("Attention: a mask of keys", 17, ms("Attention", "x,w,b,m", num_heads=2), {"x": x, "m": np.array([[1, 1, 1, 0], [1, 0, 1, 1]], np.int32)}, qkv)
    case("Attention: lengths", 17, ms("Attention", "x,w,b,m", num_heads=2), {"x": x, "m": np.array([3, 2], np.int32)}, qkv)
    case("Attention: a mask of pairs", 17, ms("Attention", "x,w,b,m", num_heads=2),
         {"x": x, "m": np.tril(np.ones((2, 4, 4), np.int32))}, qkv)
    case("Attention: past and present", 17, ms("Attention", "x,w,b,-,p", "y,z", num_heads=2, unidirectional=1), {"x": x, "p": f(2, 2, 2, 3, 4)}, qkv)
    case("Attention: a bias on scores", 17, ms("Attention", "x,w,b,-,-,a", num_heads=2), {"x": x, "a": f(2, 2, 4, 4)}, qkv)
    case("Attention: values of another size", 17, ms("Attention", "x,w,b", num_heads=2, qkv_hidden_sizes=[8, 8, 4]), {"x": x}, {"w": w[:, :20], "b": b[:20]})
    q, k, v = f(2, 3, 8), f(2, 5, 8), f(2, 5, 12)
    case("MultiHeadAttention", 17, ms("MultiHeadAttention", "q,k,v", num_heads=2), {"q": q, "k": k, "v": v})
    case("MultiHeadAttention: a bias, a mask of keys", 17, ms("MultiHeadAttention", "q,k,v,b,m", num_heads=2),
         {"q": q, "k": k, "v": v, "m": np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]], np.int32)}, {"b": f(28)})
    case("MultiHeadAttention: a bias on scores", 17, ms("MultiHeadAttention", "q,k,v,-,-,a", num_heads=2, scale=0.5),
         {"q": q, "k": k, "v": v, "a": f(1, 2, 3, 5)})
    case("MultiHeadAttention: keys and values by heads", 17, ms("MultiHeadAttention", "q,k,v", num_heads=2), {"q": q, "k": f(2, 2, 5, 4), "v": f(2, 2, 5, 4)})
    # Packed operands are of GPUs; the same apart is computed on CPUs.
    def apart(q, packed):
        feeds = {"q": q, "k": packed[:, :, :, -2].reshape(2, -1, 8), "v": packed[:, :, :, -1].reshape(2, -1, 8)}
        return run(17, [ms("MultiHeadAttention", "q,k,v", num_heads=2)], feeds, {}, ["y"])

    three, two = f(2, 4, 2, 3, 4), f(2, 5, 2, 2, 4)
    case("MultiHeadAttention: packed", 17, ms("MultiHeadAttention", "q", num_heads=2), {"q": three}, expect=apart(three[:, :, :, 0].reshape(2, 4, 8), three))
    case("MultiHeadAttention: keys packed with values", 17, ms("MultiHeadAttention", "q,k", num_heads=2), {"q": q, "k": two}, expect=apart(q, two))
    case("MultiHeadAttention: past and present, causal", 17, ms("MultiHeadAttention", "q,k,v,-,-,-,pk,pv", "y,zk,zv", num_heads=2, unidirectional=1),
         {"q": f(2, 2, 8), "k": f(2, 2, 8), "v": f(2, 2, 8), "pk": f(2, 2, 3, 4), "pv": f(2, 2, 3, 4)})


def angles(positions, half):
    a = np.arange(positions)[:, None] / 10000 ** (np.arange(half) / half)
    return {"cos": (np.round(np.cos(a) * 256) / 256).astype(np.float32), "sin": (np.round(np.sin(a) * 256) / 256).astype(np.float32)}


def grouped():
    caches = angles(8, 4)
    case("RotaryEmbedding: the first position", 17, ms("RotaryEmbedding", "x,p,cos,sin"), {"x": f(2, 3, 16), "p": np.array([2], np.int64)}, caches)
    case("RotaryEmbedding: positions, by heads, interleaved", 17, ms("RotaryEmbedding", "x,p,cos,sin", interleaved=1),
         {"x": f(2, 2, 3, 8), "p": np.array([[0, 1, 2], [4, 5, 6]], np.int64)}, caches)
    case("RotaryEmbedding: a part of each head", 17, ms("RotaryEmbedding", "x,p,cos,sin", num_heads=2, rotary_embedding_dim=8),
         {"x": f(2, 3, 24), "p": np.array([[0, 1, 2], [4, 5, 6]], np.int64)}, caches)

    def gqa(title, rows, past, total, lengths, packed=False, batch=2, **attributes):
        heads, kv, size = 4, 2, 16
        feeds = {"q": f(batch, rows, (heads + 2 * kv) * size)} if packed else {"q": f(batch, rows, heads * size), "k": f(batch, rows, kv * size), "v": f(batch, rows, kv * size)}
        names = "q,-,-" if packed else "q,k,v"
        if past is not None:
            feeds.update(pk=f(batch, kv, past, size), pv=f(batch, kv, past, size))
            for i, n in enumerate(lengths):  # what stands behind a shorter entry's past is nobody's
                feeds["pk"][i, :, n - rows:], feeds["pv"][i, :, n - rows:] = 0, 0
        feeds["l"] = np.array(lengths, np.int32) - 1
        consts = {"t": np.int32(total)}
        inputs = f"{names},{'pk,pv' if past is not None else '-,-'},l,t"
        if attributes.get("do_rotary"):
            inputs += ",cos,sin"
            consts.update(angles(8, 8))
        case("GroupQueryAttention: " + title, 17, ms("GroupQueryAttention", inputs, "y,zk,zv", num_heads=heads, kv_num_heads=kv, **attributes), feeds, consts)

    gqa("a prompt", 3, 0, 3, [3, 3])
    gqa("a prompt, packed, turned", 3, 0, 3, [3, 3], packed=True, do_rotary=1)
    gqa("one more token, turned", 1, 4, 5, [5, 5], do_rotary=1)
    gqa("one more token of entries of two lengths, turned", 1, 4, 5, [5, 3], do_rotary=1)
    gqa("one entry, interleaved", 1, 4, 5, [5], batch=1, do_rotary=1, rotary_interleaved=1)
    gqa("a window, a cap, a scale", 1, 6, 7, [7, 7], local_window_size=3, softcap=2.0, scale=0.5)
    gqa("a prompt with a window", 5, 0, 5, [5, 5], local_window_size=2)
    gqa("a token into a cache with room", 1, 8, 8, [5], batch=1)
    gqa("the last token that has room, turned", 1, 8, 8, [8], batch=1, do_rotary=1)
    gqa("three tokens into a cache with room, a window, turned", 3, 8, 8, [6], batch=1, do_rotary=1, local_window_size=2, scale=0.5)
    gqa("a token into a cache with room, a cap", 1, 8, 8, [5], batch=1, softcap=2.0)


if __name__ == "__main__":
    head("../vectors/microsoft.py")
    for part in (normalisations, activations, linear, quantised, attention, grouped):
        part()
