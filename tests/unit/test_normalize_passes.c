/* Every pass but layout and fuse_qdq: small graphs before and after, results equal, and the structure
 * that the pass promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "import/text/text.h"
#include "normalize/normalize.h"
#include "ops/op.h"
#include "support/normalized.h"

static tw_normalized within(const char *text, double step, double tolerance)
{
    tw_normalize_case c = {text, TW_IO_KEEP, step, -3, 3};
    tw_normalized n = tw_normalize_text(&c);
    if (!(n.difference <= tolerance))
        fail_msg("differs by %g:\n%s", n.difference, text);
    return n;
}

static tw_normalized exactly(const char *text)
{
    return within(text, 1, 0);
}

/* The one node that is left. */
static const tw_node *only_node(const tw_normalized *n)
{
    assert_int_equal(n->after->node_count, 1);
    return n->after->nodes[0];
}

/* ---- fold ---- */

static void test_fold(void **state)
{
    (void)state;
    tw_normalized n = exactly("graph \"g\" {\n"
                              "  input %x : f32[2,3]\n"
                              "  const %a : f32[2,3] = random 1 -2 2\n"
                              "  const %b : f32[3] = random 2 -2 2\n"
                              "  %c = Add (%a, %b)\n"
                              "  %d = Transpose (%c) {perm=[1,0]}\n"
                              "  %e = Reshape (%d) {shape=[2,3]}\n"
                              "  %f = ReduceSum (%e) {axes=[1], keepdims=1}\n"
                              "  %y = Min (%x, %f)\n"
                              "  output %y\n  output %c\n"
                              "}\n");
    assert_string_equal(only_node(&n)->op->name, "Min");
    assert_non_null(n.after->outputs[1]->data);
    tw_normalized_free(&n);
}

/* A few bytes must not become gigabytes: the node stays. */
static void test_fold_is_bounded(void **state)
{
    (void)state;
    static const char text[] = "graph \"g\" {\n"
                               "  input %x : f32[1]\n"
                               "  const %a : f32[1,1] = [3]\n"
                               "  %b = Pad (%a) {before=[30000,0], after=[0,30000]}\n"
                               "  %y = Add (%b, %x)\n"
                               "  output %y\n"
                               "}\n";
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    tw_compile_options options;
    tw_compile_options_default(&options);
    tw_graph *graph = tw_text_parse(arena, text, sizeof text - 1, NULL, &diag);
    if (graph) { /* where tensors of this size are allowed at all */
        assert_true(tw_normalize(graph, &options, &diag));
        assert_int_equal(tw_count_nodes(graph, "Pad"), 1);
    }
    tw_arena_free(arena);
}

/* Each step is small beside its operands, all together are not: some stay. */
static void test_fold_is_bounded_in_all(void **state)
{
    (void)state;
    char text[4096];
    int at = snprintf(text, sizeof text,
                      "graph \"g\" {\n  input %%x : f32[1]\n  const %%c0 : f32[1] = [3]\n");
    for (int i = 0; i < 28; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "  %%c%d = Concat (%%c%d, %%c%d)\n",
                       i + 1, i, i);
    snprintf(text + at, sizeof text - (size_t)at, "  %%y = Add (%%c28, %%x)\n  output %%y\n}\n");
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    tw_compile_options options;
    tw_compile_options_default(&options);
    tw_graph *graph = tw_text_parse(arena, text, strlen(text), NULL, &diag);
    assert_non_null(graph);
    assert_true(tw_normalize(graph, &options, &diag));
    assert_in_range(tw_count_nodes(graph, "Concat"), 1, 10);
    assert_true(tw_arena_bytes(arena) < (size_t)256 << 20);
    tw_arena_free(arena);
}

/* ---- identity ---- */

static void test_identity(void **state)
{
    (void)state;
    tw_normalized n = exactly("graph \"g\" {\n"
                              "  input %x : f32[2,3,4]\n"
                              "  const %one : f32[] = [1]\n"
                              "  %a = Identity (%x)\n"
                              "  %b = Reshape (%a) {shape=[2,3,4]}\n"
                              "  %c = Transpose (%b) {perm=[0,1,2]}\n"
                              "  %d = Slice (%c) {begin=[0,0,0], size=[2,3,4], step=[1,1,1]}\n"
                              "  %e = Pad (%d) {before=[0,0,0], after=[0,0,0]}\n"
                              "  %f = Neg (%e)\n"
                              "  %g = Neg (%f)\n"
                              "  %h = Mul (%g, %one)\n"
                              "  %i = Concat (%h) {axis=1}\n"
                              "  %j = Transpose (%i) {perm=[1,2,0]}\n"
                              "  %k = Transpose (%j) {perm=[2,0,1]}\n"
                              "  %l = Reshape (%k) {shape=[6,4]}\n"
                              "  %m = Reshape (%l) {shape=[24]}\n"
                              "  %n = MaxPool (%k) {kernel=[1]}\n"
                              "  %y = Abs \"absolute\" (%m)\n"
                              "  %z = Abs (%n)\n"
                              "  output %y\n  output %z\n"
                              "}\n");
    assert_int_equal(tw_count_nodes(n.after, "Abs"), 2);
    assert_int_equal(tw_count_nodes(n.after, "Reshape"), 1);
    assert_int_equal(tw_count_nodes(n.after, NULL), 3);
    tw_normalized_free(&n);
}

/* What looks like nothing but is something. */
static void test_not_identity(void **state)
{
    (void)state;
    tw_normalized n = exactly("graph \"g\" {\n"
                              "  input %x : f32[4,4]\n"
                              "  const %ones : f32[2,4,4] = [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
                              "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]\n"
                              "  const %one : f32[] = [1]\n"
                              "  %a = Transpose (%x) {perm=[1,0]}\n"
                              "  %b = Slice (%a) {begin=[3,0], size=[4,4], step=[-1,1]}\n"
                              "  %c = Mul (%b, %ones)\n"
                              "  %d = Sub (%one, %c)\n"
                              "  %y = Div (%one, %d)\n"
                              "  output %y\n"
                              "}\n");
    assert_int_equal(tw_count_nodes(n.after, NULL), 5);
    tw_normalized_free(&n);
}

static void test_matmul_transposed(void **state)
{
    (void)state;
    tw_normalized n = exactly("graph \"g\" {\n"
                              "  input %a : f32[2,3,4]\n"
                              "  input %b : f32[2,5,4]\n"
                              "  %t = Transpose (%b) {perm=[0,2,1]}\n"
                              "  %y = MatMul (%a, %t)\n"
                              "  output %y\n"
                              "}\n");
    assert_string_equal(only_node(&n)->op->name, "MatMul");
    tw_normalized_free(&n);
}

/* ---- batch normalisation ---- */

#define NORM                                                                                       \
    "  const %s : f32[4] = [0.5,-1.25,3,0.1]\n  const %t : f32[4] = [1,2,-0.3,0.7]\n"              \
    "  const %m : f32[4] = [0.2,-0.4,1,5]\n  const %v : f32[4] = [0.9,2,0.3,1.7]\n"

static void test_batchnorm_folds(void **state)
{
    (void)state;
    static const char *const layers[] = {
        "  input %x : f32[1,5,5,3]\n  const %w : f32[4,3,3,3] = random 1 -1 1\n"
        "  %a = Conv \"layer\" (%x, %w)\n",
        "  input %x : f32[1,5,5,2]\n  const %w : f32[4,3,3,1] = random 1 -1 1\n"
        "  const %b : f32[4] = random 2 -1 1\n  %a = Conv \"layer\" (%x, %w, %b) {group=2}\n",
        "  input %x : f32[3,6]\n  const %w : f32[4,6] = random 1 -1 1\n"
        "  const %b : f32[4] = random 2 -1 1\n  %a = FullyConnected \"layer\" (%x, %w, %b)\n",
        "  input %x : f32[3,6]\n  const %w : f32[6,4] = random 1 -1 1\n"
        "  %a = MatMul \"layer\" (%x, %w)\n"};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "graph \"g\" {\n%s%s  %%c = BatchNorm \"norm\" (%%a, %%s, %%t, %%m, %%v)\n"
                 "  %%y = Relu (%%c)\n  output %%y\n}\n",
                 layers[i], NORM);
        tw_normalized n = within(text, 0, 2e-5);
        if (i != 3) { /* a product becomes a layer after this pass, merge_scale then takes both */
            assert_string_equal(only_node(&n)->name, "layer");
            assert_true(n.after->nodes[0]->clamp.low == 0);
        }
        assert_int_equal(n.after->node_count, 1);
        tw_normalized_free(&n);
    }
}

static void test_batchnorm_alone(void **state)
{
    (void)state;
    tw_normalized n = within("graph \"g\" {\n  input %x : f32[2,3,4]\n" NORM
                             "  %y = BatchNorm \"norm\" (%x, %s, %t, %m, %v)\n  output %y\n}\n",
                             0, 2e-6);
    assert_int_equal(tw_count_nodes(n.after, "Mul"), 1);
    assert_int_equal(tw_count_nodes(n.after, "Add"), 1);
    assert_int_equal(n.after->node_count, 2);
    tw_normalized_free(&n);
}

/* Read twice: the layer keeps its weights. */
static void test_batchnorm_shared(void **state)
{
    (void)state;
    tw_normalized n = within("graph \"g\" {\n  input %x : f32[3,6]\n" NORM
                             "  const %w : f32[4,6] = random 1 -1 1\n"
                             "  %a = FullyConnected (%x, %w)\n"
                             "  %y = BatchNorm (%a, %s, %t, %m, %v)\n"
                             "  output %y\n  output %a\n}\n",
                             0, 1e-5);
    assert_int_equal(n.after->node_count, 3);
    tw_normalized_free(&n);
}

static void test_batchnorm_computed(void **state)
{
    (void)state;
    tw_normalized n = within("graph \"g\" {\n  input %x : f32[3,4]\n  input %u : f32[4]\n" NORM
                             "  %d = Square (%u)\n"
                             "  %y = BatchNorm (%x, %s, %t, %u, %d) {epsilon=0.5}\n"
                             "  output %y\n}\n",
                             0, 2e-5);
    assert_int_equal(tw_count_nodes(n.after, "BatchNorm"), 0);
    tw_normalized_free(&n);
}

/* ---- scale ---- */

static void test_merge_scale(void **state)
{
    (void)state;
    tw_normalized n = within("graph \"g\" {\n  input %x : f32[2,3,6]\n"
                             "  const %w : f32[6,4] = random 1 -1 1\n"
                             "  const %k : f32[4] = [0.5,2,-3,0.25]\n"
                             "  const %t : f32[1,1,4] = [1,2,3,4]\n  const %two : f32[] = [2]\n"
                             "  %a = MatMul \"layer\" (%x, %w)\n"
                             "  %b = Add (%t, %a)\n"
                             "  %c = Mul (%b, %k)\n"
                             "  %d = Div (%c, %two)\n"
                             "  %y = Sub (%two, %d)\n"
                             "  output %y\n}\n",
                             0, 2e-5);
    assert_string_equal(only_node(&n)->op->name, "FullyConnected");
    assert_string_equal(only_node(&n)->name, "layer");
    tw_normalized_free(&n);
}

/* A term that is not by channel, a constant divided by the result. */
static void test_not_scale(void **state)
{
    (void)state;
    tw_normalized n = within("graph \"g\" {\n  input %x : f32[4,6]\n"
                             "  const %w : f32[4,6] = random 1 -1 1\n"
                             "  const %k : f32[4,1] = [0.5,2,-3,0.25]\n"
                             "  const %b : f32[4] = [40,50,60,70]\n"
                             "  %a = FullyConnected (%x, %w, %b)\n"
                             "  %c = Add (%a, %k)\n"
                             "  %d = FullyConnected (%x, %w, %b)\n"
                             "  %e = Div (%k, %d)\n"
                             "  output %c\n  output %e\n}\n",
                             0, 1e-5);
    assert_int_equal(n.after->node_count, 4);
    tw_normalized_free(&n);
}

/* ---- pads ---- */

static void check_pad(const char *input, const char *layer, int pads_left)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "graph \"g\" {\n  input %%i : f32[1,6,6,2]\n"
        "  const %%w : f32[3,3,3,2] = random 1 -1 1\n  const %%d : f32[2,3,3,1] = random 2 -1 1\n"
        "%s%s  output %%y\n}\n",
        input, layer);
    tw_normalized n = exactly(text);
    if (tw_count_nodes(n.after, "Pad") != pads_left)
        fail_msg("%d pads left:\n%s", tw_count_nodes(n.after, "Pad"), text);
    tw_normalized_free(&n);
}

static void test_merge_pad(void **state)
{
    (void)state;
    static const char zero[] = "  %x = Pad (%i) {before=[0,1,2,0], after=[0,0,1,0]}\n";
    static const char two[] = "  %x = Pad (%i) {before=[0,1,1,0], after=[0,1,1,0], value=2}\n";
    static const char least[] = "  %x = Pad (%i) {before=[0,1,1,0], after=[0,1,1,0], value=-inf}\n";
    static const char edge[] = "  %x = Pad (%i) {before=[0,1,1,0], after=[0,1,1,0], mode=edge}\n";
    static const char channel[] = "  %x = Pad (%i) {before=[0,1,1,0], after=[0,1,1,0]}\n";
    static const char positive[] = "  %j = Relu (%i)\n"
                                   "  %x = Pad (%j) {before=[0,1,1,0], after=[0,1,1,0]}\n";
    check_pad(zero, "  %y = Conv (%x, %w) {pad_begin=[1,0], pad_end=[0,1]}\n", 0);
    check_pad(zero, "  %y = Conv (%x, %d) {group=2}\n", 0);
    check_pad(two, "  %y = Conv (%x, %w)\n", 1);
    check_pad(edge, "  %y = Conv (%x, %w)\n", 1);
    check_pad(zero, "  %y = AveragePool (%x) {kernel=[4,4]}\n", 0);
    check_pad(channel, "  %y = AveragePool (%x) {kernel=[2,2], stride=[2,2]}\n", 0);
    check_pad(channel,
              "  %y = AveragePool (%x) {kernel=[2,2], pad_begin=[1,1], "
              "count_include_pad=1}\n",
              0);
    check_pad(least, "  %y = MaxPool (%x) {kernel=[2,2], pad_begin=[1,1]}\n", 1);
    check_pad(channel,
              "  %y = AveragePool (%x) {kernel=[4,4], pad_begin=[1,1], "
              "count_include_pad=1}\n",
              0);
    check_pad(channel, "  %y = AveragePool (%x) {kernel=[4,4], pad_begin=[1,1]}\n", 1);
    check_pad(least, "  %y = MaxPool (%x) {kernel=[2,2]}\n", 0);
    check_pad(channel, "  %y = MaxPool (%x) {kernel=[2,2]}\n", 1);
    check_pad(positive, "  %y = MaxPool (%x) {kernel=[2,2]}\n", 0);
    check_pad(channel, "  %a = Conv (%x, %w)\n  %y = ReduceSum (%a) {axes=[3]}\n", 0);
    check_pad(channel, "  %y = Conv (%x, %w)\n  output %x\n", 1);
}

/* ---- global pooling ---- */

static void check_global(const char *layer, const char *op)
{
    char text[1024];
    snprintf(text, sizeof text,
             "graph \"g\" {\n  input %%x : f32[1,6,5,2]\n  %%y = %s\n  output %%y\n}\n", layer);
    tw_normalized n = exactly(text);
    assert_string_equal(n.after->nodes[0]->op->name, op);
    tw_normalized_free(&n);
}

static void test_global_pool(void **state)
{
    (void)state;
    check_global("AveragePool (%x) {kernel=[6,5]}", "ReduceMean");
    check_global("MaxPool (%x) {kernel=[6,5], stride=[2,2]}", "ReduceMax");
    check_global("AveragePool (%x) {kernel=[6,4]}", "AveragePool");
    check_global("AveragePool (%x) {kernel=[6,5], pad_begin=[1,0], pad_end=[1,0]}", "AveragePool");
    check_global("MaxPool (%x) {kernel=[6,5], pad_begin=[1,0]}", "MaxPool");
}

/* ---- activations ---- */

static void check_activation(const char *layer, const char *activation, float low, float high,
                             int nodes)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "graph \"g\" {\n  input %%x : f32[1,6,6,2]\n  input %%z : f32[1,6,6,2]\n"
        "  const %%w : f32[3,3,3,2] = random 1 -1 1\n  const %%d : f32[2,3,3,1] = random 2 -1 1\n"
        "  const %%f : f32[4,2] = random 3 -1 1\n"
        "  const %%m : f32[2,3] = random 4 -1 1\n"
        "  const %%six : f32[1] = [6]\n  const %%many : f32[2] = [1,2]\n"
        "  %%a = %s\n%s  output %%y\n}\n",
        layer, activation);
    tw_normalized n = exactly(text);
    const tw_node *first = n.after->nodes[0];
    if (n.after->node_count != nodes || first->clamp.low != low || first->clamp.high != high)
        fail_msg("%d nodes, clamp %g to %g:\n%s", n.after->node_count, (double)first->clamp.low,
                 (double)first->clamp.high, text);
    tw_normalized_free(&n);
}

static void test_activations(void **state)
{
    (void)state;
    static const char *const layers[] = {"Conv (%x, %w)",
                                         "Conv (%x, %d) {group=2}",
                                         "FullyConnected (%x, %f)",
                                         "MatMul (%x, %m)",
                                         "MaxPool (%x) {kernel=[2,2]}",
                                         "AveragePool (%x) {kernel=[2,2]}",
                                         "Add (%x, %z)",
                                         "Sub (%x, %z)",
                                         "Mul (%x, %z)",
                                         "Max (%x, %z)",
                                         "Min (%x, %z)"};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        check_activation(layers[i], "  %y = Relu (%a)\n", 0, INFINITY, 1);
        check_activation(layers[i], "  %y = Clip (%a) {alpha=-1, beta=2}\n", -1, 2, 1);
    }
    check_activation("Add (%x, %z)", "  %b = Max (%a, %six)\n  %y = Min (%six, %b)\n", 6, 6, 1);
    check_activation("Add (%x, %z)", "  %b = Clip (%a) {alpha=-3, beta=4}\n  %y = Relu (%b)\n", 0,
                     4, 1);
    check_activation("Add (%x, %z)",
                     "  %b = Clip (%a) {alpha=5, beta=4}\n  %y = Clip (%b) {alpha=0, beta=2}\n", 2,
                     2, 1);
    check_activation("Add (%x, %z)", "  %y = Max (%a, %many)\n", -INFINITY, INFINITY, 2);
    check_activation("Add (%x, %z)", "  %y = LeakyRelu (%a) {alpha=0.5}\n", -INFINITY, INFINITY, 2);
    check_activation("Abs (%x)", "  %y = Clip (%a) {alpha=1, beta=2}\n", -INFINITY, INFINITY, 2);
    /* Read twice: the bound is not everybody's. */
    check_activation("Add (%x, %z)", "  %y = Relu (%a)\n  output %a\n", -INFINITY, INFINITY, 2);
}

/* ---- depthwise ---- */

static void test_depthwise(void **state)
{
    (void)state;
    tw_normalized n = exactly("graph \"g\" {\n  input %x : f32[1,6,6,3]\n"
                              "  const %w : f32[6,3,2,1] = random 1 -2 2\n"
                              "  const %b : f32[6] = random 2 -2 2\n"
                              "  %y = Conv \"layer\" (%x, %w, %b) {group=3, stride=[2,1], "
                              "dilation=[1,2], pad_begin=[1,0], pad_end=[0,1]}\n"
                              "  output %y\n}\n");
    const tw_node *node = only_node(&n);
    assert_string_equal(node->op->name, "DepthwiseConv");
    assert_string_equal(node->name, "layer");
    assert_int_equal(node->in[1]->shape.rank, 3);
    assert_int_equal(node->in[1]->shape.dim[2], 6);
    assert_non_null(node->in[1]->data);
    tw_normalized_free(&n);
}

static void test_point_is_fully_connected(void **state)
{
    (void)state;
    tw_normalized n = exactly("graph \"g\" {\n  input %x : f32[2,1,1,5]\n"
                              "  const %w : f32[4,1,1,5] = random 1 -2 2\n"
                              "  %y = Conv \"layer\" (%x, %w) {stride=[2,2]}\n  output %y\n}\n");
    assert_string_equal(only_node(&n)->op->name, "FullyConnected");
    assert_int_equal(only_node(&n)->out[0]->shape.rank, 4);
    tw_normalized_free(&n);
}

/* ---- dead code, dumps ---- */

static void test_dead(void **state)
{
    (void)state;
    tw_normalized n = exactly("graph \"g\" {\n  input %x : f32[2]\n  input %unused : f32[2]\n"
                              "  const %k : f32[2] = [1,2]\n"
                              "  %a = Mul (%x, %k)\n  %b = Abs (%a)\n  %y = Neg (%x)\n"
                              "  output %y\n}\n");
    assert_int_equal(n.after->node_count, 1);
    assert_int_equal(n.after->input_count, 2);
    for (int v = 0; v < n.after->value_count; v++)
        assert_null(n.after->values[v]->data);
    tw_normalized_free(&n);
}

static void count_dump(void *user, const char *stage, const tw_graph *graph)
{
    int *count = user;
    assert_non_null(graph);
    assert_string_equal(stage, tw_pass_stages[*count]);
    ++*count;
}

static void test_dump(void **state)
{
    (void)state;
    static const char text[] =
        "graph \"g\" {\n  input %x : f32[2]\n  %y = Neg (%x)\n  output %y\n}\n";
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    tw_compile_options options;
    tw_compile_options_default(&options);
    int count = 0;
    options.dump = count_dump;
    options.dump_user = &count;
    tw_graph *graph = tw_text_parse(arena, text, sizeof text - 1, NULL, &diag);
    assert_non_null(graph);
    assert_true(tw_normalize(graph, &options, &diag));
    assert_int_equal(count, tw_pass_stage_count);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(tw_pass_stages[i], tw_pass_stages[k]);
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fold),
        cmocka_unit_test(test_fold_is_bounded),
        cmocka_unit_test(test_fold_is_bounded_in_all),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_not_identity),
        cmocka_unit_test(test_matmul_transposed),
        cmocka_unit_test(test_batchnorm_folds),
        cmocka_unit_test(test_batchnorm_alone),
        cmocka_unit_test(test_batchnorm_shared),
        cmocka_unit_test(test_batchnorm_computed),
        cmocka_unit_test(test_merge_scale),
        cmocka_unit_test(test_not_scale),
        cmocka_unit_test(test_merge_pad),
        cmocka_unit_test(test_global_pool),
        cmocka_unit_test(test_activations),
        cmocka_unit_test(test_depthwise),
        cmocka_unit_test(test_point_is_fully_connected),
        cmocka_unit_test(test_dead),
        cmocka_unit_test(test_dump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
