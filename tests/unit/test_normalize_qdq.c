/* fuse_qdq: float operators between Dequantize and Quantize become int8 operators. The float graph is
 * the oracle: results of one fused operator are at most one step of the output's scale away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ops/op.h"
#include "support/normalized.h"

#define X "quant(scale=0.04, zero=5)"
#define Y "quant(scale=0.05, zero=-7)"
#define W "quant(scale=[0.01,0.02,0.015,0.005], zero=[0,0,0,0], axis=0)"

static tw_normalized normalized(const char *text, double steps)
{
    tw_normalize_case c = {text, TW_IO_KEEP, 0, -4, 4};
    tw_normalized n = tw_normalize_text(&c);
    if (!(n.difference <= steps))
        fail_msg("differs by %g steps:\n%s", n.difference, text);
    return n;
}

/* s8 in, s8 out; the differences are then in steps. Nothing float is left. */
static tw_normalized int8_graph(const char *body, double steps)
{
    char text[4096];
    snprintf(text, sizeof text,
             "graph \"g\" {\n  input %%q : s8[1,6,6,4] " X "\n  input %%p : s8[1,6,6,4] " Y "\n"
             "  %%x = Dequantize (%%q)\n  %%z = Dequantize (%%p)\n%s  output %%y\n}\n",
             body);
    tw_normalized n = normalized(text, steps);
    for (int v = 0; v < n.after->value_count; v++)
        if (n.after->values[v]->shape.dtype == TW_F32)
            fail_msg("%s is still float:\n%s", n.after->values[v]->name, text);
    return n;
}

static void check_int8(const char *body, const char *op, int nodes, double steps)
{
    tw_normalized n = int8_graph(body, steps);
    if (tw_count_nodes(n.after, op) == 0 || n.after->node_count != nodes)
        fail_msg("%d nodes, %d of them %s:\n%s", n.after->node_count, tw_count_nodes(n.after, op),
                 op, body);
    tw_normalized_free(&n);
}

/* ---- layers ---- */

static void test_layers(void **state)
{
    (void)state;
    check_int8(
        "  const %s : s8[4,3,3,4] " W " = random 1 -100 100\n  %w = Dequantize (%s)\n"
        "  const %c : s32[4] quant(scale=[0.0004,0.0008,0.0006,0.0002], zero=[0,0,0,0], axis=0)"
        " = [100,-200,300,-400]\n  %b = Dequantize (%c)\n"
        "  %r = Conv (%x, %w, %b) {pad_begin=[1,1], pad_end=[1,1]}\n"
        "  %y : s8[1,6,6,4] " Y " = Quantize (%r)\n",
        "Conv", 1, 1);
    /* One weight scale, float bias, activation. */
    check_int8("  const %s : s8[4,3,3,4] quant(scale=0.01, zero=0) = random 1 -100 100\n"
               "  %w = Dequantize (%s)\n  const %b : f32[4] = [0.5,-0.25,1,2]\n"
               "  %r = Conv (%x, %w, %b) {stride=[2,2]}\n  %a = Relu (%r)\n"
               "  %y : s8[1,2,2,4] quant(scale=0.05, zero=-128) = Quantize (%a)\n",
               "Conv", 1, 1);
    check_int8("  const %s : s8[4,3,3,4] " W " = random 1 -100 100\n  %w = Dequantize (%s)\n"
               "  const %b : f32[4] = [0.5,-0.25,1,2]\n"
               "  %r = ConvTranspose (%x, %w, %b) {stride=[2,2], pad_begin=[1,1]}\n"
               "  %y : s8[1,12,12,4] " Y " = Quantize (%r)\n",
               "ConvTranspose", 1, 1);
    check_int8("  %r = Resize (%x) {size=[1,11,9,4], mode=linear}\n"
               "  %y : s8[1,11,9,4] " X " = Quantize (%r)\n",
               "Resize", 1, 1);
    /* Depthwise, from a convolution in groups: scales move to the last axis. */
    check_int8("  const %s : s8[4,3,3,1] " W " = random 1 -100 100\n  %w = Dequantize (%s)\n"
               "  %r = Conv (%x, %w) {group=4}\n"
               "  %y : s8[1,4,4,4] " Y " = Quantize (%r)\n",
               "DepthwiseConv", 1, 1);
    check_int8("  const %s : s8[5,4] quant(scale=0.02, zero=0) = random 1 -100 100\n"
               "  %w = Dequantize (%s)\n  %r = FullyConnected (%x, %w)\n"
               "  %y : s8[1,6,6,5] " Y " = Quantize (%r)\n",
               "FullyConnected", 1, 1);
    /* A product by a constant; the transpose of quantised weights is computed once. */
    check_int8("  const %s : s8[4,5] quant(scale=0.02, zero=0) = random 1 -100 100\n"
               "  %w = Dequantize (%s)\n  %r = MatMul (%x, %w)\n"
               "  %y : s8[1,6,6,5] " Y " = Quantize (%r)\n",
               "FullyConnected", 1, 1);
    /* Weights in u8 around 128, and around another zero point that they stay within. */
    check_int8("  const %s : u8[4,3,3,4] quant(scale=0.01, zero=128) = random 1 20 230\n"
               "  %w = Dequantize (%s)\n  %r = Conv (%x, %w)\n"
               "  %y : s8[1,4,4,4] " Y " = Quantize (%r)\n",
               "Conv", 1, 1);
    check_int8("  const %s : s8[4,3,3,4] quant(scale=0.01, zero=-20) = random 1 -128 100\n"
               "  %w = Dequantize (%s)\n  %r = Conv (%x, %w)\n"
               "  %y : s8[1,4,4,4] " Y " = Quantize (%r)\n",
               "Conv", 1, 1);
}

/* Weights that the file holds in float, before a Quantize. */
static void test_float_weights(void **state)
{
    (void)state;
    check_int8("  const %f : f32[4,3,3,4] = random 1 -1 1\n"
               "  %s : s8[4,3,3,4] " W " = Quantize (%f)\n  %w = Dequantize (%s)\n"
               "  %o = Transpose (%w) {perm=[0,2,1,3]}\n  %r = Conv (%x, %o)\n"
               "  %y : s8[1,4,4,4] " Y " = Quantize (%r)\n",
               "Conv", 1, 1);
}

/* Batch normalisation behind quantised weights: into their scales, a negative factor into signs. */
static void test_batchnorm(void **state)
{
    (void)state;
    check_int8("  const %s : s8[4,3,3,4] quant(scale=0.01, zero=0) = random 1 -100 100\n"
               "  %w = Dequantize (%s)\n  %r = Conv (%x, %w)\n"
               "  const %k : f32[4] = [0.5,-1.5,0,2]\n  const %t : f32[4] = [1,2,3,-1]\n"
               "  const %m : f32[4] = [0.1,-0.2,0.3,1]\n  const %v : f32[4] = [1,2,3,0.5]\n"
               "  %n = BatchNorm (%r, %k, %t, %m, %v)\n"
               "  %y : s8[1,4,4,4] quant(scale=0.1, zero=10) = Quantize (%n)\n",
               "Conv", 1, 1);
    check_int8("  const %s : s8[4,3,3,1] " W " = random 1 -100 100\n  %w = Dequantize (%s)\n"
               "  %r = Conv (%x, %w) {group=4}\n  const %k : f32[4] = [0.5,-1.5,1,2]\n"
               "  %m = Mul (%r, %k)\n  %y : s8[1,4,4,4] " Y " = Quantize (%m)\n",
               "DepthwiseConv", 1, 1);
}

/* Weights that no symmetric int8 holds: exact in float, not wrong in int8. */
static void test_asymmetric_weights(void **state)
{
    (void)state;
    tw_normalized n =
        normalized("graph \"g\" {\n  input %q : s8[1,6,6,4] " X "\n"
                   "  %x = Dequantize (%q)\n"
                   "  const %s : s8[4,3,3,4] quant(scale=0.01, zero=90) = random 1 -128 127\n"
                   "  %w = Dequantize (%s)\n  %r = Conv (%x, %w)\n"
                   "  %y : s8[1,4,4,4] quant(scale=0.2, zero=0) = Quantize (%r)\n"
                   "  output %y\n}\n",
                   1);
    assert_int_equal(tw_find_node(n.after, "Conv")->out[0]->shape.dtype, TW_F32);
    assert_non_null(tw_find_node(n.after, "Conv")->in[1]->data);
    tw_normalized_free(&n);
}

/* ---- arithmetic ---- */

static void test_arithmetic(void **state)
{
    (void)state;
    check_int8("  %r = Add (%x, %z)\n  %a = Relu (%r)\n"
               "  %y : s8[1,6,6,4] " Y " = Quantize (%a)\n",
               "Add", 1, 1);
    check_int8("  %r = Mul (%x, %z)\n  %y : s8[1,6,6,4] quant(scale=0.3, zero=2) = Quantize (%r)\n",
               "Mul", 1, 1);
    check_int8("  const %h : f32[] = [0.7]\n  %r = Mul (%x, %h)\n"
               "  %y : s8[1,6,6,4] " Y " = Quantize (%r)\n",
               "Mul", 1, 1);
    check_int8("  const %h : f32[1] = [-1.3]\n  %r = Add (%h, %x)\n"
               "  %y : s8[1,6,6,4] " Y " = Quantize (%r)\n",
               "Add", 1, 1);
    check_int8("  %r = Sigmoid (%x)\n"
               "  %y : s8[1,6,6,4] quant(scale=0.00390625, zero=-128) = Quantize (%r)\n",
               "Sigmoid", 1, 1);
    check_int8("  %r = Relu (%x)\n  %y : s8[1,6,6,4] " Y " = Quantize (%r)\n", "Relu", 1, 1);
    check_int8("  %r = Softmax (%x)\n"
               "  %y : s8[1,6,6,4] quant(scale=0.00390625, zero=-128) = Quantize (%r)\n",
               "Softmax", 1, 1);
    check_int8("  %r = AveragePool (%x) {kernel=[3,3]}\n  %y : s8[1,4,4,4] " X " = Quantize (%r)\n",
               "AveragePool", 1, 1);
    check_int8("  %r = ReduceMean (%x) {axes=[1,2], keepdims=0}\n"
               "  %y : s8[1,4] " Y " = Quantize (%r)\n",
               "ReduceMean", 1, 1);
    /* The same, and the activation of a layer before its own Quantize. */
    check_int8("  const %s : s8[4,3,3,4] " W " = random 1 -100 100\n  %w = Dequantize (%s)\n"
               "  %r = Conv (%x, %w)\n  %c : s8[1,4,4,4] " Y " = Quantize (%r)\n"
               "  %d = Dequantize (%c)\n  %e = Relu (%d)\n"
               "  %y : s8[1,4,4,4] " Y " = Quantize (%e)\n",
               "Conv", 1, 1);
}

/* ---- what only moves ---- */

static void test_moves(void **state)
{
    (void)state;
    check_int8("  %r = MaxPool (%x) {kernel=[2,2]}\n  %y : s8[1,5,5,4] " X " = Quantize (%r)\n",
               "MaxPool", 1, 0);
    check_int8("  %r = Reshape (%x) {shape=[36,4]}\n  %y : s8[36,4] " X " = Quantize (%r)\n",
               "Reshape", 1, 0);
    check_int8("  %r = Slice (%x) {begin=[0,1,2,0], size=[1,4,3,4]}\n"
               "  %y : s8[1,4,3,4] " X " = Quantize (%r)\n",
               "Slice", 1, 0);
    check_int8("  %r = Pad (%x) {before=[0,1,1,0], after=[0,1,1,0]}\n"
               "  %y : s8[1,8,8,4] " X " = Quantize (%r)\n",
               "Pad", 1, 0);
    /* A constant that the scale does not hold: stored as Quantize would. */
    check_int8("  %r = Pad (%x) {before=[0,1,1,0], after=[0,1,1,0], value=1.01}\n"
               "  %y : s8[1,8,8,4] " X " = Quantize (%r)\n",
               "Pad", 1, 0);
    check_int8("  const %i : s64[3] = [5, 0, 2]\n  %r = Gather (%x, %i) {axis=2}\n"
               "  %y : s8[1,6,3,4] " X " = Quantize (%r)\n",
               "Gather", 1, 0);
    check_int8("  %r = ResizeNearest (%x) {size=[1,12,9,4]}\n"
               "  %y : s8[1,12,9,4] " X " = Quantize (%r)\n",
               "ResizeNearest", 1, 0);
    check_int8("  %r = DepthToSpace (%x) {block=2}\n  %y : s8[1,12,12,1] " X " = Quantize (%r)\n",
               "DepthToSpace", 1, 0);
    check_int8("  %r = SpaceToDepth (%x) {block=2}\n  %y : s8[1,3,3,16] " X " = Quantize (%r)\n",
               "SpaceToDepth", 1, 0);
    check_int8("  %r = Tile (%x) {repeats=[1,1,2,1]}\n  %y : s8[1,6,12,4] " X " = Quantize (%r)\n",
               "Tile", 1, 0);
    check_int8("  const %b : s32[4] = [0, 4, 0, 0]\n  const %s : s8[1,2,6,4] " X
               " = random 3 -128 128\n"
               "  %u = Dequantize (%s)\n  %r = UpdateSlice (%x, %u, %b)\n"
               "  %y : s8[1,6,6,4] " X " = Quantize (%r)\n",
               "UpdateSlice", 1, 0);
    check_int8("  %r = Concat (%x, %x) {axis=3}\n  %y : s8[1,6,6,8] " X " = Quantize (%r)\n",
               "Concat", 1, 0);
    check_int8("  %r = Concat (%x, %z) {axis=3}\n  %y : s8[1,6,6,8] " Y " = Quantize (%r)\n",
               "Requantize", 2, 0);
    check_int8("  %y : s8[1,6,6,4] " Y " = Quantize (%x)\n", "Requantize", 1, 0);
    /* Between a layer and its Quantize; between a Dequantize and a layer. */
    check_int8("  const %s : s8[3,4] quant(scale=0.02, zero=0) = random 1 -100 100\n"
               "  %w = Dequantize (%s)\n  %t = Reshape (%x) {shape=[6,6,4]}\n"
               "  %r = FullyConnected (%t, %w)\n  %u = Reshape (%r) {shape=[36,3]}\n"
               "  %y : s8[36,3] " Y " = Quantize (%u)\n",
               "FullyConnected", 3, 1);
    /* A bound that the scale holds goes along, one that it does not stays in float. */
    check_int8("  const %s : s8[4,3,3,4] " W " = random 1 -100 100\n  %w = Dequantize (%s)\n"
               "  %r = Conv (%x, %w)\n  %m = MaxPool (%r) {kernel=[2,2]}\n  %a = Relu (%m)\n"
               "  %y : s8[1,3,3,4] " Y " = Quantize (%a)\n",
               "Conv", 2, 1);
    check_int8("  %m = MaxPool (%x) {kernel=[2,2]}\n  %a = Clip (%m) {alpha=-0.39, beta=1.01}\n"
               "  %y : s8[1,5,5,4] " X " = Quantize (%a)\n",
               "MaxPool", 1, 1);
    check_int8("  %t = Pad (%x) {before=[0,1,1,0], after=[0,1,1,0]}\n"
               "  %r = AveragePool (%t) {kernel=[3,3]}\n  %y : s8[1,6,6,4] " X " = Quantize (%r)\n",
               "AveragePool", 1, 0);
    check_int8("  %t = Pad (%x) {before=[0,1,1,0], after=[0,1,1,0], value=-9}\n"
               "  %r = MaxPool (%t) {kernel=[2,2]}\n  %y : s8[1,7,7,4] " X " = Quantize (%r)\n",
               "MaxPool", 1, 0);
    /* Pads of zero become those of the layer, in int8 too. */
    check_int8("  const %s : s8[4,3,3,4] " W " = random 1 -100 100\n  %w = Dequantize (%s)\n"
               "  %t = Pad (%x) {before=[0,1,1,0], after=[0,1,1,0]}\n  %r = Conv (%t, %w)\n"
               "  %y : s8[1,6,6,4] " Y " = Quantize (%r)\n",
               "Conv", 1, 1);
}

static void test_pair_vanishes(void **state)
{
    (void)state;
    tw_normalized n = normalized("graph \"g\" {\n  input %q : s8[4] " X "\n  %x = Dequantize (%q)\n"
                                 "  %r : s8[4] " X " = Quantize (%x)\n  %d = Dequantize (%r)\n"
                                 "  %y = Neg (%d)\n  output %y\n}\n",
                                 1e-6);
    assert_int_equal(tw_count_nodes(n.after, "Dequantize"), 1);
    assert_int_equal(tw_count_nodes(n.after, "Quantize"), 0);
    tw_normalized_free(&n);
}

/* ---- what stays float ---- */

static void test_mixed(void **state)
{
    (void)state;
    /* The last layer has no Quantize: float, weights dequantised once; the first is int8. */
    tw_normalized n = normalized(
        "graph \"g\" {\n  input %v : f32[2,8]\n"
        "  %q : s8[2,8] quant(scale=0.04, zero=3) = Quantize (%v)\n  %x = Dequantize (%q)\n"
        "  const %s : s8[6,8] quant(scale=0.01, zero=0) = random 1 -100 100\n  %w = Dequantize "
        "(%s)\n"
        "  const %k : s8[3,6] quant(scale=0.02, zero=0) = random 2 -100 100\n  %l = Dequantize "
        "(%k)\n"
        "  %a = FullyConnected \"one\" (%x, %w)\n"
        "  %c : s8[2,6] quant(scale=0.1, zero=-10) = Quantize (%a)\n  %d = Dequantize (%c)\n"
        "  %y = FullyConnected \"two\" (%d, %l)\n  %z = Exp (%d)\n  output %y\n  output %z\n}\n",
        1e9);
    assert_int_equal(n.after->node_count, 5);
    const tw_node *one = tw_find_node(n.after, "FullyConnected");
    assert_string_equal(one->name, "one");
    assert_int_equal(one->out[0]->shape.dtype, TW_S8);
    for (int i = 0; i < n.after->node_count; i++)
        if (strcmp(n.after->nodes[i]->name, "two") == 0) {
            assert_int_equal(n.after->nodes[i]->out[0]->shape.dtype, TW_F32);
            assert_int_equal(n.after->nodes[i]->in[1]->shape.dtype, TW_F32);
            assert_non_null(n.after->nodes[i]->in[1]->data);
        }
    tw_normalized_free(&n);
    /* Read as float by something else: not rounded behind its back. */
    n = normalized("graph \"g\" {\n  input %q : s8[2,8] " X "\n  %x = Dequantize (%q)\n"
                   "  %r = Sigmoid (%x)\n  %y : s8[2,8] quant(scale=0.01, zero=0) = Quantize (%r)\n"
                   "  output %y\n  output %r\n}\n",
                   1e-6);
    assert_int_equal(tw_find_node(n.after, "Sigmoid")->out[0]->shape.dtype, TW_F32);
    tw_normalized_free(&n);
}

/* ---- u8 ---- */

static void test_unsigned(void **state)
{
    (void)state;
    tw_normalized n =
        normalized("graph \"g\" {\n  input %q : u8[1,6,6,4] quant(scale=0.04, zero=120)\n"
                   "  %x = Dequantize (%q)\n"
                   "  const %s : s8[4,3,3,4] " W " = random 1 -100 100\n  %w = Dequantize (%s)\n"
                   "  %a = Conv (%x, %w)\n  %b : u8[1,4,4,4] quant(scale=0.05, zero=100) = "
                   "Quantize (%a) {dtype=u8}\n"
                   "  %c = Reshape (%b) {shape=[16,4]}\n  %d = Dequantize (%c)\n"
                   "  const %k : u8[4,3] quant(scale=0.01, zero=128) = random 2 10 240\n  %l = "
                   "Dequantize (%k)\n"
                   "  %e = MatMul (%d, %l)\n  %y : u8[16,3] quant(scale=0.04, zero=127) = Quantize "
                   "(%e) {dtype=u8}\n"
                   "  output %y\n}\n",
                   2);
    assert_int_equal(tw_count_nodes(n.after, "Requantize"), 2);
    assert_int_equal(tw_count_nodes(n.after, "Quantize"), 0);
    assert_int_equal(tw_count_nodes(n.after, "Dequantize"), 0);
    assert_int_equal(tw_find_node(n.after, "Conv")->out[0]->shape.dtype, TW_S8);
    assert_int_equal(tw_find_node(n.after, "FullyConnected")->out[0]->shape.dtype, TW_S8);
    assert_int_equal(n.after->inputs[0]->shape.dtype, TW_U8);
    assert_int_equal(n.after->outputs[0]->shape.dtype, TW_U8);
    tw_normalized_free(&n);
    /* Nothing to gain: as it was. */
    n = normalized("graph \"g\" {\n  input %q : u8[4] quant(scale=0.04, zero=120)\n"
                   "  %x = Dequantize (%q)\n  %y = Exp (%x)\n  output %y\n}\n",
                   1e-3);
    assert_int_equal(n.after->node_count, 2);
    tw_normalized_free(&n);
    /* u8 without a scale is numbers, with and without moves in between. */
    n = normalized("graph \"g\" {\n  input %q : u8[4]\n  const %k : u8[1] = [250]\n"
                   "  %x = Add (%q, %k)\n  %y = Reshape (%x) {shape=[2,2]}\n  output %y\n}\n",
                   0);
    assert_int_equal(n.after->outputs[0]->shape.dtype, TW_U8);
    tw_normalized_free(&n);
}

/* ---- a whole network, channels first ---- */

static void test_network(void **state)
{
    (void)state;
    tw_normalize_case c = {
        "graph \"net\" {\n  input %v : f32[1,3,8,8]\n"
        "  %q0 : s8[1,3,8,8] quant(scale=0.03, zero=5) = Quantize (%v)\n  %d0 = Dequantize (%q0)\n"
        "  const %s1 : s8[4,3,3,3] " W " = random 1 -100 100\n  %w1 = Dequantize (%s1)\n"
        "  %o1 = Transpose (%w1) {perm=[0,2,3,1]}\n  %t1 = Transpose (%d0) {perm=[0,2,3,1]}\n"
        "  %c1 = Conv \"one\" (%t1, %o1) {pad_begin=[1,1], pad_end=[1,1]}\n"
        "  %u1 = Transpose (%c1) {perm=[0,3,1,2]}\n  %r1 = Relu (%u1)\n"
        "  %q1 : s8[1,4,8,8] quant(scale=0.02, zero=-128) = Quantize (%r1)\n  %d1 = Dequantize "
        "(%q1)\n"
        "  const %s2 : s8[4,1,3,3] " W " = random 2 -100 100\n  %w2 = Dequantize (%s2)\n"
        "  %o2 = Transpose (%w2) {perm=[0,2,3,1]}\n  %t2 = Transpose (%d1) {perm=[0,2,3,1]}\n"
        "  %c2 = Conv \"two\" (%t2, %o2) {pad_begin=[1,1], pad_end=[1,1], group=4}\n"
        "  %u2 = Transpose (%c2) {perm=[0,3,1,2]}\n"
        "  %q2 : s8[1,4,8,8] quant(scale=0.025, zero=-7) = Quantize (%u2)\n  %d2 = Dequantize "
        "(%q2)\n"
        "  %a3 = Add \"three\" (%d1, %d2)\n"
        "  %q3 : s8[1,4,8,8] quant(scale=0.03, zero=-20) = Quantize (%a3)\n  %d3 = Dequantize "
        "(%q3)\n"
        "  %t4 = Transpose (%d3) {perm=[0,2,3,1]}\n  %c4 = MaxPool \"four\" (%t4) {kernel=[2,2], "
        "stride=[2,2]}\n"
        "  %u4 = Transpose (%c4) {perm=[0,3,1,2]}\n"
        "  %q4 : s8[1,4,4,4] quant(scale=0.03, zero=-20) = Quantize (%u4)\n  %d4 = Dequantize "
        "(%q4)\n"
        "  %f5 = Reshape (%d4) {shape=[1,64]}\n"
        "  %q5 : s8[1,64] quant(scale=0.03, zero=-20) = Quantize (%f5)\n  %d5 = Dequantize (%q5)\n"
        "  const %s6 : s8[4,64] " W " = random 3 -100 100\n  %w6 = Dequantize (%s6)\n"
        "  %c6 = FullyConnected \"six\" (%d5, %w6)\n"
        "  %q6 : s8[1,4] quant(scale=0.06, zero=3) = Quantize (%c6)\n  %y = Dequantize (%q6)\n"
        "  output %y\n}\n",
        TW_IO_KEEP, 0, -4, 4};
    tw_normalized n = tw_normalize_text(&c);
    if (!(n.difference <= 3 * 0.06))
        fail_msg("differs by %g", n.difference);
    assert_int_equal(tw_count_nodes(n.after, "Transpose"), 1);
    assert_int_equal(tw_count_nodes(n.after, "Quantize"), 1);
    assert_int_equal(tw_count_nodes(n.after, "Dequantize"), 1);
    /* Transpose, Quantize, Conv, DepthwiseConv, Add, MaxPool, Reshape, FullyConnected, Dequantize. */
    assert_int_equal(n.after->node_count, 9);
    for (int v = 0; v < n.after->value_count; v++)
        if (n.after->values[v]->data)
            assert_int_equal(n.after->values[v]->shape.dtype, TW_S8);
    tw_normalized_free(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers),        cmocka_unit_test(test_asymmetric_weights),
        cmocka_unit_test(test_batchnorm),     cmocka_unit_test(test_float_weights),
        cmocka_unit_test(test_arithmetic),    cmocka_unit_test(test_moves),
        cmocka_unit_test(test_pair_vanishes), cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_unsigned),      cmocka_unit_test(test_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
