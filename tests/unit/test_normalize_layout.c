/* The layout pass: networks as importers of channels-first models write them, before and after. All
 * data are small integers, so that results must be equal whatever the order of sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ops/op.h"
#include "support/normalized.h"

#define NHWC "{perm=[0,2,3,1]}"
#define NCHW "{perm=[0,3,1,2]}"

static tw_normalized normalized(const char *text, tw_io_layout io_layout)
{
    tw_normalize_case c = {text, io_layout, 1, -3, 3};
    tw_normalized n = tw_normalize_text(&c);
    if (n.difference != 0)
        fail_msg("differs by %g:\n%s", n.difference, text);
    return n;
}

static int transposes(const char *text, tw_io_layout io_layout)
{
    tw_normalized n = normalized(text, io_layout);
    int count = tw_count_nodes(n.after, "Transpose");
    tw_normalized_free(&n);
    return count;
}

static const char dscnn[] =
    "graph \"dscnn\" {\n"
    "  input %x : f32[1,3,12,10]\n"
    "  const %w0 : f32[8,3,3,3] = random 1 -1 1\n"
    "  const %w1 : f32[8,3,3,1] = random 2 -1 1\n"
    "  const %w2 : f32[6,1,1,8] = random 3 -1 1\n"
    "  const %b : f32[8] = random 4 -2 2\n"
    "  const %f : f32[4,6] = random 5 -1 1\n"
    "  const %s : f32[8] = [1,2,1,0.5,1,1,2,4]\n"
    "  const %t : f32[8] = random 6 -2 2\n"
    "  const %v : f32[8] = [1,1,4,1,4,1,1,16]\n"
    "  %a0 = Transpose (%x) " NHWC "\n"
    "  %a1 = Conv \"first\" (%a0, %w0, %b) {pad_begin=[1,1], pad_end=[1,1], stride=[2,2]}\n"
    "  %a2 = Transpose (%a1) " NCHW "\n"
    "  %a3 = Transpose (%a2) " NHWC "\n"
    "  %a4 = BatchNorm \"norm\" (%a3, %s, %t, %b, %v) {epsilon=0}\n"
    "  %a5 = Transpose (%a4) " NCHW "\n"
    "  %a6 = Clip \"relu6\" (%a5) {alpha=0, beta=6}\n"
    "  %a7 = Transpose (%a6) " NHWC "\n"
    "  %a8 = Conv \"second\" (%a7, %w1) {pad_begin=[1,1], pad_end=[1,1], group=8}\n"
    "  %a9 = Transpose (%a8) " NCHW "\n"
    "  %c1 = Relu \"relu\" (%a9)\n"
    "  %c2 = Transpose (%c1) " NHWC "\n"
    "  %c3 = Conv \"third\" (%c2, %w2)\n"
    "  %c4 = Transpose (%c3) " NCHW "\n"
    "  %c5 = ReduceMax \"pool\" (%c4) {axes=[2,3], keepdims=0}\n"
    "  %y = FullyConnected \"classes\" (%c5, %f)\n"
    "  output %y\n"
    "}\n";

static void test_dscnn(void **state)
{
    (void)state;
    tw_normalized n = normalized(dscnn, TW_IO_KEEP);
    assert_int_equal(tw_count_nodes(n.after, "Transpose"), 1);
    assert_ptr_equal(tw_find_node(n.after, "Transpose")->in[0], n.after->inputs[0]);
    /* Transpose, three layers, pool, fully connected. */
    assert_int_equal(tw_count_nodes(n.after, NULL), 6);
    assert_int_equal(tw_count_nodes(n.after, "Conv"), 2);
    assert_int_equal(tw_count_nodes(n.after, "DepthwiseConv"), 1);
    assert_string_equal(tw_find_node(n.after, "Conv")->name, "first");
    assert_true(tw_find_node(n.after, "Conv")->clamp.high == 6);
    assert_true(tw_find_node(n.after, "DepthwiseConv")->clamp.low == 0);
    tw_normalized_free(&n);
    n = normalized(dscnn, TW_IO_NHWC);
    assert_int_equal(tw_count_nodes(n.after, "Transpose"), 0);
    assert_int_equal(n.after->inputs[0]->shape.dim[3], 3);
    tw_normalized_free(&n);
}

static const char resnet[] = "graph \"resnet\" {\n"
                             "  input %x : f32[1,3,6,5]\n"
                             "  const %mean : f32[3,1,1] = random 11 -2 2\n"
                             "  const %scale : f32[1,3,1,1] = [1,2,4]\n"
                             "  const %w0 : f32[4,3,3,3] = random 1 -1 1\n"
                             "  const %w1 : f32[4,3,3,4] = random 2 -1 1\n"
                             "  const %w2 : f32[4,3,3,2] = random 3 -1 1\n"
                             "  const %f : f32[3,120] = random 4 -1 1\n"
                             "  const %fb : f32[3] = random 5 -1 1\n"
                             "  %p0 = Sub (%x, %mean)\n"
                             "  %p1 = Mul (%p0, %scale)\n"
                             "  %a0 = Transpose (%p1) " NHWC "\n"
                             "  %a1 = Conv (%a0, %w0) {pad_begin=[1,1], pad_end=[1,1]}\n"
                             "  %a2 = Transpose (%a1) " NCHW "\n"
                             "  %a3 = Relu (%a2)\n"
                             "  %a4 = Transpose (%a3) " NHWC "\n"
                             "  %a5 = Conv (%a4, %w1) {pad_begin=[1,1], pad_end=[1,1]}\n"
                             "  %a6 = Transpose (%a5) " NCHW "\n"
                             "  %a7 = Add \"residual\" (%a6, %a3)\n"
                             "  %a8 = Relu (%a7)\n"
                             "  %a9 = Transpose (%a8) " NHWC "\n"
                             "  %b0 = Conv (%a9, %w2) {pad_begin=[1,1], pad_end=[1,1], group=2}\n"
                             "  %b1 = Transpose (%b0) " NCHW "\n"
                             "  %b2 = Reshape (%b1) {shape=[1,120]}\n"
                             "  %b3 = Clip (%b2) {alpha=-8, beta=8}\n"
                             "  %y = FullyConnected (%b3, %f, %fb)\n"
                             "  output %y\n"
                             "}\n";

static void test_resnet(void **state)
{
    (void)state;
    tw_normalized n = normalized(resnet, TW_IO_KEEP);
    assert_int_equal(tw_count_nodes(n.after, "Transpose"), 1);
    assert_ptr_equal(tw_find_node(n.after, "Transpose")->in[0], n.after->inputs[0]);
    assert_int_equal(tw_count_nodes(n.after, "Relu"), 0);
    assert_true(tw_find_node(n.after, "Add")->clamp.low == 0);
    tw_normalized_free(&n);
    assert_int_equal(transposes(resnet, TW_IO_NHWC), 0);
}

static const char unet[] = "graph \"unet\" {\n"
                           "  input %x : f32[1,2,8,8]\n"
                           "  const %w0 : f32[4,3,3,2] = random 1 -1 1\n"
                           "  const %w1 : f32[4,3,3,4] = random 2 -1 1\n"
                           "  const %w2 : f32[2,1,1,9] = random 3 -1 1\n"
                           "  const %scale : f32[8] = random 4 -2 2\n"
                           "  %a0 = Transpose (%x) " NHWC "\n"
                           "  %a1 = Conv (%a0, %w0) {pad_begin=[1,1], pad_end=[1,1]}\n"
                           "  %a2 = Transpose (%a1) " NCHW "\n"
                           "  %a3 = Abs (%a2)\n"
                           "  %a4 = Transpose (%a3) " NHWC "\n"
                           "  %a5 = MaxPool (%a4) {kernel=[2,2], stride=[2,2]}\n"
                           "  %a6 = Transpose (%a5) " NCHW "\n"
                           "  %a7 = Pad (%a6) {before=[0,0,2,2], after=[0,0,2,2], mode=reflect}\n"
                           "  %a8 = Transpose (%a7) " NHWC "\n"
                           "  %a9 = Conv (%a8, %w1) {pad_begin=[1,1], pad_end=[1,1]}\n"
                           "  %b0 = Transpose (%a9) " NCHW "\n"
                           "  %s = Slice (%a3) {begin=[0,3,0,0], size=[1,1,8,8], step=[1,-1,1,1]}\n"
                           "  %b1 = Concat (%b0, %a3, %s) {axis=1}\n"
                           "  %b2 = Mul (%b1, %scale)\n"
                           "  %b3 = Transpose (%b2) " NHWC "\n"
                           "  %b4 = Conv (%b3, %w2)\n"
                           "  %y = Transpose (%b4) " NCHW "\n"
                           "  output %y\n"
                           "}\n";

static void test_unet(void **state)
{
    (void)state;
    tw_normalized n = normalized(unet, TW_IO_KEEP);
    assert_int_equal(tw_count_nodes(n.after, "Transpose"), 2);
    assert_ptr_equal(n.after->outputs[0]->producer->op, tw_op_by_name("Transpose"));
    tw_normalized_free(&n);
    assert_int_equal(transposes(unet, TW_IO_NHWC), 0);
}

/* Normalisation by instance and by group between convolutions, as channels-first models have it: it
 * works in the convolutions' order. Its sums then run in another order. */
static const char norms[] = "graph \"norms\" {\n"
                            "  input %x : f32[1,4,6,5]\n"
                            "  const %w : f32[6,3,3,4] = random 1 -1 1\n"
                            "  const %v : f32[6,1,1,6] = random 2 -1 1\n"
                            "  const %s : f32[6,1,1] = random 3 1 2\n"
                            "  const %t : f32[3,2,1,1] = random 4 -1 1\n"
                            "  %a0 = Transpose (%x) " NHWC "\n"
                            "  %a1 = Conv (%a0, %w) {pad_begin=[1,1], pad_end=[1,1]}\n"
                            "  %a2 = Transpose (%a1) " NCHW "\n"
                            "  %a3 = Normalize (%a2, %s) {axes=[2,3], epsilon=0.1}\n"
                            "  %a4 = Transpose (%a3) " NHWC "\n"
                            "  %a5 = Conv (%a4, %v)\n"
                            "  %a6 = Transpose (%a5) " NCHW "\n"
                            "  %b0 = Reshape (%a6) {shape=[1,3,2,6,5]}\n"
                            "  %b1 = Normalize (%b0, %t, %t) {axes=[2,3,4], epsilon=0.1}\n"
                            "  %b2 = Reshape (%b1) {shape=[1,6,6,5]}\n"
                            "  %b3 = L2Normalize (%b2) {axes=[1]}\n"
                            "  %b4 = Lrn (%b3) {axis=1, size=3}\n"
                            "  %b5 = Transpose (%b4) " NHWC "\n"
                            "  %b6 = Conv (%b5, %v)\n"
                            "  %y = Transpose (%b6) " NCHW "\n"
                            "  output %y\n"
                            "}\n";

/* Group normalisation written as normalisation of merged axes. */
static const char merged_groups[] = "graph \"merged\" {\n"
                                    "  input %x : f32[1,4,6,5]\n"
                                    "  const %w : f32[6,3,3,4] = random 1 -1 1\n"
                                    "  const %v : f32[6,1,1,6] = random 2 -1 1\n"
                                    "  const %s : f32[3,1] = random 3 1 2\n"
                                    "  const %t : f32[60] = random 4 -1 1\n"
                                    "  %a0 = Transpose (%x) " NHWC "\n"
                                    "  %a1 = Conv (%a0, %w) {pad_begin=[1,1], pad_end=[1,1]}\n"
                                    "  %a2 = Transpose (%a1) " NCHW "\n"
                                    "  %b0 = Reshape (%a2) {shape=[1,3,60]}\n"
                                    "  %b1 = Normalize (%b0, %s, %t) {axes=[-1], epsilon=0.1}\n"
                                    "  %b2 = Reshape (%b1) {shape=[1,6,6,5]}\n"
                                    "  %b5 = Transpose (%b2) " NHWC "\n"
                                    "  %b6 = Conv (%b5, %v)\n"
                                    "  %y = Transpose (%b6) " NCHW "\n"
                                    "  output %y\n"
                                    "}\n";

static void test_norms(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        bool keep = i % 2 == 0;
        tw_normalize_case c = {i / 2 ? merged_groups : norms, keep ? TW_IO_KEEP : TW_IO_NHWC, 1, -3,
                               3};
        tw_normalized n = tw_normalize_text(&c);
        assert_true(n.difference < 1e-5);
        assert_int_equal(tw_count_nodes(n.after, "Transpose"), keep ? 2 : 0);
        tw_normalized_free(&n);
    }
}

/* Squeeze and excitation: a product of the map with a vector of channels. */
static const char excite[] = "graph \"se\" {\n"
                             "  input %x : f32[1,4,6,6]\n"
                             "  const %w0 : f32[4,3,3,4] = random 1 -1 1\n"
                             "  const %w1 : f32[2,1,1,4] = random 2 -1 1\n"
                             "  const %w2 : f32[4,1,1,2] = random 3 -1 1\n"
                             "  %a0 = Transpose (%x) " NHWC "\n"
                             "  %a1 = Conv (%a0, %w0) {pad_begin=[1,1], pad_end=[1,1]}\n"
                             "  %a2 = Transpose (%a1) " NCHW "\n"
                             "  %g0 = ReduceSum (%a2) {axes=[2,3], keepdims=1}\n"
                             "  %g1 = Transpose (%g0) " NHWC "\n"
                             "  %g2 = Conv \"squeeze\" (%g1, %w1)\n"
                             "  %g3 = Transpose (%g2) " NCHW "\n"
                             "  %g4 = Relu (%g3)\n"
                             "  %g5 = Transpose (%g4) " NHWC "\n"
                             "  %g6 = Conv \"excite\" (%g5, %w2)\n"
                             "  %g7 = Transpose (%g6) " NCHW "\n"
                             "  %g8 = Clip (%g7) {alpha=0, beta=3}\n"
                             "  %y = Mul (%a2, %g8)\n"
                             "  output %y\n"
                             "}\n";

static void test_excite(void **state)
{
    (void)state;
    assert_int_equal(transposes(excite, TW_IO_KEEP), 2);
    tw_normalized n = normalized(excite, TW_IO_NHWC);
    assert_int_equal(tw_count_nodes(n.after, "Transpose"), 0);
    assert_int_equal(tw_count_nodes(n.after, "FullyConnected"), 2);
    assert_int_equal(tw_count_nodes(n.after, "Reshape"), 0);
    assert_true(tw_find_node(n.after, "FullyConnected")->clamp.low == 0);
    tw_normalized_free(&n);
}

/* Shuffling channels moves bytes in any layout, once. */
static const char shuffle[] = "graph \"shuffle\" {\n"
                              "  input %x : f32[1,6,4,4]\n"
                              "  const %w : f32[6,3,3,3] = random 1 -1 1\n"
                              "  %a0 = Transpose (%x) " NHWC "\n"
                              "  %a1 = Conv (%a0, %w) {pad_begin=[1,1], pad_end=[1,1], group=2}\n"
                              "  %a2 = Transpose (%a1) " NCHW "\n"
                              "  %a3 = Reshape (%a2) {shape=[1,2,3,4,4]}\n"
                              "  %a4 = Transpose (%a3) {perm=[0,2,1,3,4]}\n"
                              "  %a5 = Reshape (%a4) {shape=[1,6,4,4]}\n"
                              "  %a6 = Transpose (%a5) " NHWC "\n"
                              "  %a7 = Conv (%a6, %w) {pad_begin=[1,1], pad_end=[1,1], group=2}\n"
                              "  %y = Transpose (%a7) " NCHW "\n"
                              "  output %y\n"
                              "}\n";

static void test_shuffle(void **state)
{
    (void)state;
    assert_int_equal(transposes(shuffle, TW_IO_KEEP), 3);
    assert_int_equal(transposes(shuffle, TW_IO_NHWC), 1);
}

/* Axes are renamed in every operator that names them. */
static const char axes[] =
    "graph \"axes\" {\n"
    "  input %x : f32[1,4,5,6]\n"
    "  const %w : f32[4,3,3,4] = random 1 -1 1\n"
    "  const %line : f32[6] = random 2 -2 2\n"
    "  const %map : f32[5,6] = random 3 -2 2\n"
    "  %a0 = Transpose (%x) " NHWC "\n"
    "  %a1 = Conv (%a0, %w) {pad_begin=[1,1], pad_end=[1,1]}\n"
    "  %a2 = Transpose (%a1) " NCHW "\n"
    "  %a3 = Add (%a2, %line)\n"
    "  %a4 = Mul (%map, %a3)\n"
    "  %a5 = Softmax (%a4) {axis=1}\n"
    "  %a6 = Softmax (%a4) {axis=-1}\n"
    "  %r0 = ReduceSum (%a4) {axes=[1], keepdims=1}\n"
    "  %r1 = ReduceMax (%a4) {axes=[-1], keepdims=0}\n"
    "  %r2 = ReduceMin (%a4) {axes=[1,2], keepdims=0}\n"
    "  %r3 = ReduceSum (%a4)\n"
    "  %p = Pad (%a4) {before=[0,1,2,0], after=[0,0,0,3], value=7}\n"
    "  %s = Slice (%p) {begin=[0,4,0,8], size=[1,3,4,3], step=[1,-2,2,-3]}\n"
    "  %c = Concat (%a4, %a3) {axis=2}\n"
    "  %q = Sub (%a4, %r0)\n"
    "  output %a5\n  output %a6\n  output %r0\n  output %r1\n  output %r2\n  output %r3\n"
    "  output %p\n  output %s\n  output %c\n  output %q\n"
    "}\n";

static void test_axes(void **state)
{
    (void)state;
    tw_normalized n = normalized(axes, TW_IO_KEEP);
    tw_normalized_free(&n);
    assert_int_equal(transposes(axes, TW_IO_NHWC) <= 3, 1);
}

/* A segmentation's head: classes by pixel, spread, summed up and picked from, all channels first. */
static const char by_index[] = "graph \"index\" {\n"
                               "  input %x : f32[1,3,6,5]\n"
                               "  const %w : f32[4,3,3,3] = random 1 -1 1\n"
                               "  %t0 = Transpose (%x) {perm=[0,2,3,1]}\n"
                               "  %c = Conv (%t0, %w) {pad_begin=[1,1], pad_end=[1,1]}\n"
                               "  %y = Transpose (%c) {perm=[0,3,1,2]}\n"
                               "  %k = TopIndices (%y) {axis=1, k=2}\n"
                               "  %b = GatherElements (%y, %k) {axis=1}\n"
                               "  %s = CumSum (%y) {axis=2, reverse=1}\n"
                               "  %i = Tile (%s) {repeats=[1,2,1,3]}\n"
                               "  %u = ScatterElements (%y, %k, %b) {axis=1, reduction=add}\n"
                               "  output %k\n  output %b\n  output %i\n  output %u\n"
                               "}\n";

static void test_by_index(void **state)
{
    (void)state;
    tw_normalized n = normalized(by_index, TW_IO_KEEP);
    tw_normalized_free(&n);
    assert_int_equal(transposes(by_index, TW_IO_NHWC), 0);
}

static const char one_channel[] = "graph \"one\" {\n"
                                  "  input %x : f32[1,1,8,8]\n"
                                  "  const %w0 : f32[4,3,3,1] = random 1 -1 1\n"
                                  "  const %f : f32[3,4] = random 2 -1 1\n"
                                  "  %a0 = Transpose (%x) " NHWC "\n"
                                  "  %a1 = Conv (%a0, %w0)\n"
                                  "  %a2 = Transpose (%a1) " NCHW "\n"
                                  "  %a3 = ReduceSum (%a2) {axes=[2,3], keepdims=1}\n"
                                  "  %a4 = Reshape (%a3) {shape=[1,4]}\n"
                                  "  %y = FullyConnected (%a4, %f)\n"
                                  "  output %y\n"
                                  "}\n";

static void test_one_channel(void **state)
{
    (void)state;
    assert_int_equal(transposes(one_channel, TW_IO_KEEP), 0);
    tw_normalized n = normalized(one_channel, TW_IO_NHWC);
    assert_int_equal(tw_count_nodes(n.after, "Transpose"), 0);
    assert_int_equal(n.after->inputs[0]->shape.dim[3], 1);
    tw_normalized_free(&n);
}

static const char conv1d[] =
    "graph \"conv1d\" {\n"
    "  input %x : f32[1,3,16]\n"
    "  const %w0 : f32[4,3,3] = random 1 -1 1\n"
    "  const %w1 : f32[4,3,1] = random 2 -1 1\n"
    "  %a0 = Transpose (%x) {perm=[0,2,1]}\n"
    "  %a1 = Conv (%a0, %w0) {pad_begin=[1], pad_end=[1]}\n"
    "  %a2 = Transpose (%a1) {perm=[0,2,1]}\n"
    "  %a3 = Relu (%a2)\n"
    "  %a4 = Transpose (%a3) {perm=[0,2,1]}\n"
    "  %a5 = Conv (%a4, %w1) {pad_begin=[2], pad_end=[2], dilation=[2], group=4}\n"
    "  %a6 = Transpose (%a5) {perm=[0,2,1]}\n"
    "  %y = Abs (%a6)\n"
    "  output %y\n"
    "}\n";

static void test_conv1d(void **state)
{
    (void)state;
    assert_int_equal(transposes(conv1d, TW_IO_KEEP), 2);
    tw_normalized n = normalized(conv1d, TW_IO_NHWC);
    assert_int_equal(tw_count_nodes(n.after, "Transpose"), 0);
    assert_int_equal(tw_count_nodes(n.after, "DepthwiseConv"), 1);
    tw_normalized_free(&n);
}

/* Outputs that repeat, that are inputs, and that name a value which disappears. */
static const char outputs[] = "graph \"outputs\" {\n"
                              "  input %x : f32[1,3,4,5]\n"
                              "  const %w : f32[3,1,1,3] = random 1 -1 1\n"
                              "  %a0 = Transpose (%x) " NHWC "\n"
                              "  %a1 = Conv (%a0, %w)\n"
                              "  %a2 = Transpose (%a1) " NCHW "\n"
                              "  %a3 = Transpose (%a0) " NCHW "\n"
                              "  %i = Identity (%x)\n"
                              "  output %a1\n  output %a2\n  output %a2\n  output %a3\n  output "
                              "%a0\n  output %x\n  output %i\n"
                              "}\n";

static void test_outputs(void **state)
{
    (void)state;
    tw_normalized n = normalized(outputs, TW_IO_KEEP);
    tw_normalized_free(&n);
}

/* A state of a channels-first model is stored channels last. */
static const char streaming[] = "graph \"streaming\" {\n"
                                "  input %x : f32[1,4,1]\n"
                                "  state %past : f32[1,4,2]\n"
                                "  const %w : f32[4,3,4] = random 1 -1 1\n"
                                "  %a0 = Concat (%past, %x) {axis=2}\n"
                                "  %a1 = Transpose (%a0) {perm=[0,2,1]}\n"
                                "  %a2 = Conv (%a1, %w)\n"
                                "  %y = Transpose (%a2) {perm=[0,2,1]}\n"
                                "  %next = Slice (%a0) {begin=[0,0,1], size=[1,4,2]}\n"
                                "  next %past = %next\n"
                                "  output %y\n"
                                "}\n";

static void test_streaming(void **state)
{
    (void)state;
    tw_normalized n = normalized(streaming, TW_IO_KEEP);
    assert_int_equal(tw_count_nodes(n.after, "Transpose"), 0);
    assert_int_equal(n.after->states[0].current->shape.dim[2], 4);
    tw_normalized_free(&n);
}

/* Three spatial axes, a skip around a pooling written as two and a transposed convolution. */
static const char volume[] =
    "graph \"volume\" {\n"
    "  input %x : f32[1,2,4,6,4]\n"
    "  const %w0 : f32[6,3,3,3,2] = random 1 -1 1\n"
    "  const %w1 : f32[4,2,2,2,6] = random 2 -1 1\n"
    "  const %w2 : f32[3,1,1,1,10] = random 3 -1 1\n"
    "  const %b : f32[6] = random 4 -2 2\n"
    "  %a0 = Transpose (%x) {perm=[0,2,3,4,1]}\n"
    "  %a1 = Conv3d \"first\" (%a0, %w0, %b) {pad_begin=[1,1,1], pad_end=[1,1,1]}\n"
    "  %a2 = Transpose (%a1) {perm=[0,4,1,2,3]}\n"
    "  %a3 = Relu \"relu\" (%a2)\n"
    "  %c0 = Transpose (%a3) {perm=[0,2,3,4,1]}\n"
    "  %c1 = Reshape (%c0) {shape=[4,6,4,6]}\n"
    "  %c2 = MaxPool (%c1) {kernel=[2,2], stride=[2,2]}\n"
    "  %c3 = Reshape (%c2) {shape=[1,4,36]}\n"
    "  %c4 = MaxPool (%c3) {kernel=[2], stride=[2]}\n"
    "  %c5 = Reshape (%c4) {shape=[1,2,3,2,6]}\n"
    "  %c6 = Transpose (%c5) {perm=[0,4,1,2,3]}\n"
    "  %d0 = Transpose (%c6) {perm=[0,2,3,4,1]}\n"
    "  %d1 = ConvTranspose3d (%d0, %w1) {stride=[2,2,2]}\n"
    "  %d2 = Transpose (%d1) {perm=[0,4,1,2,3]}\n"
    "  %e0 = Concat (%d2, %a3) {axis=1}\n"
    "  %e1 = Transpose (%e0) {perm=[0,2,3,4,1]}\n"
    "  %e2 = Conv3d (%e1, %w2)\n"
    "  %y = Transpose (%e2) {perm=[0,4,1,2,3]}\n"
    "  output %y\n"
    "}\n";

static void test_volume(void **state)
{
    (void)state;
    assert_int_equal(transposes(volume, TW_IO_KEEP), 2);
    assert_int_equal(transposes(volume, TW_IO_NHWC), 0);
    tw_normalized n = normalized(volume, TW_IO_KEEP);
    assert_int_equal(tw_count_nodes(n.after, "Relu"), 0);
    tw_normalized_free(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dscnn),     cmocka_unit_test(test_resnet),
        cmocka_unit_test(test_unet),      cmocka_unit_test(test_norms),
        cmocka_unit_test(test_excite),    cmocka_unit_test(test_shuffle),
        cmocka_unit_test(test_axes),      cmocka_unit_test(test_one_channel),
        cmocka_unit_test(test_conv1d),    cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_streaming), cmocka_unit_test(test_volume),
        cmocka_unit_test(test_by_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
