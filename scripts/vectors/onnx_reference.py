#!/usr/bin/env python3
"""tests/data/onnx-reference.txt: operators by ONNX's own reference, and by ONNX Runtime where it has them, in the format of
scripts/fixtures/onnx_opsets.py.

usage: onnx_reference.py > tests/data/onnx-reference.txt     (needs numpy, onnx, onnxruntime)
"""
import os
import sys

import numpy as np
from onnx.reference import ReferenceEvaluator

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from onnx_opsets import case, head, make_model, node  # noqa: E402

random = np.random.default_rng(27)


def f(*shape, low=-1.0, high=1.0):
    """Multiples of 1/16: exact in text."""
    return (np.round(random.uniform(low, high, shape) * 16) / 16).astype(np.float32)


def by_reference(title, opset, nodes, feeds, consts=None):
    outputs = [o for o in nodes[-1][2].split(",") if o != "-"]
    expect = ReferenceEvaluator(make_model(opset, nodes, feeds, consts or {}, outputs)).run(outputs, feeds)
    case(title, opset, nodes, feeds, consts, expect=[np.asarray(e, np.float32) if np.asarray(e).dtype == np.float64 else e for e in expect])


def deformed():
    for opset in (19, 22):
        x, w, b = f(1, 2, 5, 5), f(3, 2, 2, 2), f(3)
        by_reference(f"DeformConv {opset}: plain", opset, [node("DeformConv", "x,w,o", kernel_shape=[2, 2])], {"x": x, "o": f(1, 8, 4, 4)}, {"w": w})
        by_reference(f"DeformConv {opset}: a bias, a mask, strides, dilations, pads", opset,
                     [node("DeformConv", "x,w,o,b,m", kernel_shape=[2, 2], strides=[2, 1], dilations=[1, 2], pads=[1, 0, 0, 1])],
                     {"x": x, "o": f(1, 8, 3, 4), "m": f(1, 4, 3, 4)}, {"w": w, "b": b})
        by_reference(f"DeformConv {opset}: groups of both kinds", opset,
                     [node("DeformConv", "x,w,o", kernel_shape=[2, 2], group=2, offset_group=2)], {"x": x, "o": f(1, 16, 4, 4)}, {"w": f(4, 1, 2, 2)})


def trained():
    for opset in (14, 15):
        feeds = {"x": f(2, 3, 2, 2), "s": f(3), "b": f(3), "m": f(3), "v": f(3, low=0.5, high=2)}
        by_reference(f"BatchNormalization {opset}: by the batch's statistics", opset,
                     [node("BatchNormalization", "x,s,b,m,v", "y,rm,rv", training_mode=1, momentum=0.75, epsilon=0.25)], feeds)


def features():
    x = np.array([[2, 3, 5, 2, 3, 7], [7, 8, 6, 7, 2, 3]], np.int64)
    pool = {"pool_int64s": [2, 3, 7, 2, 3, 7, 6, 5, 5], "ngram_counts": [0, 3], "ngram_indexes": [0, 3, 1, 5, 4, 2], "min_gram_length": 1, "max_gram_length": 2}
    weights = [0.5, 2.0, 1.5, 3.0, 0.25, 1.0]
    for mode in ("TF", "IDF", "TFIDF"):
        for skips in (0, 2):
            case(f"TfIdfVectorizer 9: {mode}, {skips} left out", 9,
                 node("TfIdfVectorizer", "x", mode=mode, max_skip_count=skips, weights=weights, **pool), {"x": x})
    case("TfIdfVectorizer 9: pairs only, of one list", 9,
         node("TfIdfVectorizer", "x", mode="TF", max_skip_count=1, **dict(pool, min_gram_length=2)), {"x": x[0].astype(np.int32)})


def attend(title, q_heads, heads, rows=3, batch=2, past=False, decay=None, beta=None, **attributes):
    size, v_size = 4, 6
    feeds = {"q": f(batch, rows, q_heads * size), "k": f(batch, rows, heads * size, low=-0.5, high=0.5), "v": f(batch, rows, heads * v_size)}
    if past:
        feeds["s"] = f(batch, heads, size, v_size)
    if decay:
        feeds["g"] = f(batch, rows, decay, low=-1, high=0)
    if beta:
        feeds["b"] = f(batch, rows, beta, low=0)
    inputs = ",".join(["q,k,v"] + [n if n in feeds else "-" for n in "sgb"]).rstrip("-,")
    nodes = [node("LinearAttention", inputs, "y,z", q_num_heads=q_heads, kv_num_heads=heads, **attributes)]
    by_reference("LinearAttention 27: " + title, 27, nodes, feeds)


if __name__ == "__main__":
    head("../vectors/onnx_reference.py")
    attend("linear", 2, 2, update_rule="linear")
    attend("linear, another scale, a past", 2, 2, past=True, update_rule="linear", scale=0.5)
    attend("gated by column, chunks are of no influence", 2, 2, decay=8, update_rule="gated", chunk_size=16)
    attend("gated by head, shared by queries", 4, 2, decay=2, update_rule="gated", past=True)
    attend("delta", 2, 2, beta=2, update_rule="delta")
    attend("gated delta, one head for all, one rate", 4, 1, decay=4, beta=1, past=True)
    attend("one token", 4, 2, rows=1, past=True, decay=2, beta=1, update_rule="gated_delta")
    deformed()
    trained()
    features()
