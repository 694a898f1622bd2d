/* Conv and DepthwiseConv against six plain loops in double precision (float) and in 64-bit integers
 * (int8), over random geometry; bands equal whole; malformed nodes are refused with a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/conv.h"
#include "ops/depthwise_conv.h"
#include "support/operate.h"
#include "support/arithmetic.h"

enum { CASES = 250 };

/* A convolution as plain numbers: rows, then columns. A depthwise one has group == channels. */
typedef struct tw_geometry {
    int spatial; /* 1: no rows */
    int32_t batch, in[2], out[2], channels, outputs, group;
    int32_t kernel[2], stride[2], dilation[2], begin[2], end[2];
} tw_geometry;

static bool finish_geometry(tw_geometry *g)
{
    for (int i = 0; i < 2; i++) {
        if (i < 2 - g->spatial)
            g->in[i] = g->kernel[i] = g->stride[i] = g->dilation[i] = 1,
            g->begin[i] = g->end[i] = 0;
        int32_t room = g->in[i] + g->begin[i] + g->end[i] - (g->kernel[i] - 1) * g->dilation[i] - 1;
        if (room < 0)
            return false;
        g->out[i] = room / g->stride[i] + 1;
    }
    return true;
}

static tw_geometry random_geometry(uint64_t *state, bool depthwise)
{
    tw_geometry g;
    do {
        bool flat = tw_operate_range(state, 0, 5) == 0; /* kernel 1, the short cut's case */
        int32_t multiplier = tw_operate_range(state, 0, 2) ? 1 : tw_operate_range(state, 1, 20);
        g.spatial = tw_operate_range(state, 1, 2);
        g.batch = tw_operate_range(state, 0, 3) ? 1 : tw_operate_range(state, 0, 3);
        g.group = tw_operate_range(state, 0, 2) ? 1 : tw_operate_range(state, 1, 3);
        g.channels = g.group * tw_operate_range(state, 1, 9);
        g.outputs = g.group * tw_operate_range(state, 1, 21);
        if (depthwise) {
            g.channels = g.group = tw_operate_range(state, 1, 40);
            g.outputs = g.channels * multiplier;
        }
        for (int i = 0; i < 2; i++) {
            g.in[i] = tw_operate_range(state, 1, 11);
            g.kernel[i] = flat ? 1 : tw_operate_range(state, 1, 4);
            g.stride[i] = flat || tw_operate_range(state, 0, 1) ? 1 : tw_operate_range(state, 1, 6);
            g.dilation[i] = tw_operate_range(state, 0, 2) ? 1 : tw_operate_range(state, 1, 3);
            g.begin[i] = flat ? 0 : tw_operate_range(state, 0, tw_operate_range(state, 0, 9));
            g.end[i] = flat ? 0 : tw_operate_range(state, 0, tw_operate_range(state, 0, 9));
        }
    } while (!finish_geometry(&g));
    return g;
}

/* The index of tap (i, j) of output o and channel c within its group, as each operator stores it. */
static int64_t weight_index(const tw_geometry *g, bool depthwise, int32_t o, int32_t i, int32_t j,
                            int32_t c)
{
    int64_t depth = g->channels / g->group;
    if (depthwise)
        return ((int64_t)i * g->kernel[1] + j) * g->outputs + o;
    return (((int64_t)o * g->kernel[0] + i) * g->kernel[1] + j) * depth + c;
}

/* Calls `add` for every product of one output element that is not padding. */
typedef void (*tw_add)(void *user, int64_t x, int64_t w);

static void each_product(const tw_geometry *g, bool depthwise, int32_t n, int32_t y, int32_t x,
                         int32_t o, tw_add add, void *user)
{
    int32_t depth = g->channels / g->group, group = o / (g->outputs / g->group);
    for (int32_t i = 0; i < g->kernel[0]; i++)
        for (int32_t j = 0; j < g->kernel[1]; j++)
            for (int32_t c = 0; c < depth; c++) {
                int32_t row = y * g->stride[0] - g->begin[0] + i * g->dilation[0];
                int32_t column = x * g->stride[1] - g->begin[1] + j * g->dilation[1];
                if (row < 0 || row >= g->in[0] || column < 0 || column >= g->in[1])
                    continue;
                add(user,
                    (((int64_t)n * g->in[0] + row) * g->in[1] + column) * g->channels +
                        group * depth + c,
                    weight_index(g, depthwise, o, i, j, c));
            }
}

/* ---- building the node ---- */

static void fill_lists(const tw_geometry *g, tw_ints *stride, tw_ints *dilation, tw_ints *begin,
                       tw_ints *end)
{
    for (int k = 0; k < g->spatial; k++) {
        int i = k + 2 - g->spatial;
        stride->v[k] = g->stride[i];
        dilation->v[k] = g->dilation[i];
        begin->v[k] = g->begin[i];
        end->v[k] = g->end[i];
    }
    stride->count = dilation->count = begin->count = end->count = g->spatial;
}

static tw_node *make_node(tw_graph *graph, const tw_geometry *g, bool depthwise, tw_dtype dtype,
                          bool with_bias, uint64_t *state)
{
    int32_t kernel[2] = {g->kernel[2 - g->spatial], g->kernel[1]};
    int32_t x[4] = {g->batch, g->in[2 - g->spatial], g->in[1], g->channels};
    int32_t w[4] = {g->outputs, kernel[0], kernel[1], g->channels / g->group};
    int32_t d[3] = {kernel[0], kernel[1], g->outputs};
    if (g->spatial == 1) {
        x[2] = g->channels;
        w[2] = w[3];
        d[1] = g->outputs;
    }
    tw_value *in[3] = {tw_operate_value(graph, dtype, g->spatial + 2, x, state), NULL, NULL};
    in[1] = depthwise ? tw_operate_value(graph, dtype, g->spatial + 1, d, state)
                      : tw_operate_value(graph, dtype, g->spatial + 2, w, state);
    if (with_bias)
        in[2] = tw_operate_value(graph, dtype == TW_S8 ? TW_S32 : TW_F32, 1, &g->outputs, state);
    tw_conv_attributes a = {.group = depthwise ? 1 : g->group};
    tw_depthwise_conv_attributes b = {.stride = {0}};
    fill_lists(g, &a.stride, &a.dilation, &a.pad_begin, &a.pad_end);
    fill_lists(g, &b.stride, &b.dilation, &b.pad_begin, &b.pad_end);
    tw_node *node = tw_operate_node(graph, depthwise ? "DepthwiseConv" : "Conv", in,
                                    with_bias ? 3 : tw_operate_range(state, 2, 3),
                                    depthwise ? (void *)&b : (void *)&a);
    const tw_shape *out = &node->out[0]->shape;
    assert_int_equal(out->dim[1], g->out[2 - g->spatial]);
    assert_int_equal(out->dim[out->rank - 2], g->out[1]);
    assert_int_equal(out->dim[out->rank - 1], g->outputs);
    return node;
}

/* The same bytes through the evaluator, which also uses the weights as the lowering stores them. */
static void check_evaluate(tw_node *node, tw_graph *graph, uint64_t *state)
{
    const void *want = node->out[0]->data;
    tw_diag diag = {0};
    node->out[0]->data = NULL;
    if (!tw_evaluate(node, graph->arena, tw_operate_range(state, 0, 3), &diag))
        fail_msg("%s", diag.message);
    assert_memory_equal(node->out[0]->data, want, tw_shape_bytes(&node->out[0]->shape));
    node->out[0]->data = want;
}

/* ---- float ---- */

typedef struct tw_float_sum {
    const float *x, *w;
    double sum, magnitude;
} tw_float_sum;

static void add_float(void *user, int64_t x, int64_t w)
{
    tw_float_sum *s = user;
    double product = (double)s->x[x] * (double)s->w[w];
    s->sum += product;
    s->magnitude += fabs(product);
}

static void compare_float(const tw_node *node, const tw_geometry *g, bool depthwise)
{
    const float *bias = node->in_count > 2 && node->in[2] ? node->in[2]->data : NULL;
    const float *got = node->out[0]->data;
    for (int32_t n = 0; n < g->batch; n++)
        for (int32_t y = 0; y < g->out[0]; y++)
            for (int32_t x = 0; x < g->out[1]; x++)
                for (int32_t o = 0; o < g->outputs; o++) {
                    tw_float_sum s = {node->in[0]->data, node->in[1]->data, 0, 0};
                    s.sum = bias ? (double)bias[o] : 0;
                    each_product(g, depthwise, n, y, x, o, add_float, &s);
                    double want =
                        fmin(fmax(s.sum, (double)node->clamp.low), (double)node->clamp.high);
                    if (!(fabs((double)*got - want) <= 1e-6 * (1 + s.magnitude)))
                        fail_msg("pixel %d,%d,%d channel %d: %g, expected %g", (int)n, (int)y,
                                 (int)x, (int)o, (double)*got, want);
                    got++;
                }
}

static void test_float(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    int banded = 0;
    for (int i = 0; i < CASES; i++) {
        bool depthwise = i % 2;
        tw_arena *arena = tw_arena_new();
        tw_graph *graph = tw_graph_new(arena, "float");
        tw_geometry g = random_geometry(&state, depthwise);
        tw_node *node =
            make_node(graph, &g, depthwise, TW_F32, tw_operate_range(&state, 0, 1), &state);
        if (tw_operate_range(&state, 0, 2) == 0)
            node->clamp = (tw_clamp){-2, 6};
        tw_operate_whole(node, arena);
        compare_float(node, &g, depthwise);
        banded += tw_operate_bands(node, &state);
        check_evaluate(node, graph, &state);
        tw_arena_free(arena);
    }
    assert_true(banded > CASES);
}

/* Weights that only arrive at run time lie in the graph's order: the same bytes. */
static void test_weights_at_run_time(void **unused)
{
    (void)unused;
    uint64_t state = 2;
    for (int i = 0; i < 40; i++) {
        tw_arena *arena = tw_arena_new();
        tw_graph *graph = tw_graph_new(arena, "float");
        tw_geometry g = random_geometry(&state, false);
        tw_node *node = make_node(graph, &g, false, TW_F32, true, &state);
        tw_operate_whole(node, arena);
        tw_lowering lowering = {0};
        tw_diag diag = {0};
        const void *data = node->in[1]->data;
        node->in[1]->data = NULL;
        assert_true(node->op->lower(node, arena, &lowering, &diag));
        assert_null(lowering.stored[1].data);
        node->in[1]->data = data;

        tw_tensor tensors[4];
        tw_view views[4];
        float *y = tw_alloc(arena, tw_shape_bytes(&node->out[0]->shape) + 1);
        for (int k = 0; k < 4; k++) {
            tw_value *v = k < 3 ? node->in[k] : node->out[0];
            tensors[k] = tw_tensor_of(v);
            views[k] = (tw_view){.tensor = &tensors[k],
                                 .data = k < 3 ? (void *)(uintptr_t)v->data : y,
                                 .rows = v->shape.dim[0],
                                 .fresh_rows = v->shape.dim[0]};
        }
        tw_call call = {.in = views,
                        .out = views + 3,
                        .in_count = 3,
                        .out_count = 1,
                        .attributes = node->attributes,
                        .attribute_bytes = node->op->attribute_bytes,
                        .clamp_low = lowering.clamp_low,
                        .clamp_high = lowering.clamp_high};
        uint64_t work = 0;
        assert_int_equal(lowering.kernel->check(&call, &work), TW_OK);
        assert_int_equal(lowering.kernel->run(&call), TW_OK);
        assert_memory_equal(y, node->out[0]->data, tw_shape_bytes(&node->out[0]->shape));
        tw_arena_free(arena);
    }
}

/* ---- int8 ---- */

typedef struct tw_integer_sum {
    const int8_t *x, *w;
    int32_t zero;
    int64_t sum;
} tw_integer_sum;

static void add_integer(void *user, int64_t x, int64_t w)
{
    tw_integer_sum *s = user;
    s->sum += (int64_t)(s->x[x] - s->zero) * s->w[w];
}

/* Scales that put sums of this many products somewhere near int8. */
static void quantise(tw_graph *graph, tw_node *node, const tw_geometry *g, bool depthwise,
                     uint64_t *state)
{
    tw_arena *arena = graph->arena;
    int32_t count = tw_operate_range(state, 0, 2) ? g->outputs : 1;
    float *scales = tw_alloc_array(arena, (size_t)count, sizeof *scales);
    int32_t *zeros = tw_alloc_array(arena, (size_t)count, sizeof *zeros);
    int32_t depth = g->channels / g->group;
    double taps = (double)g->kernel[0] * g->kernel[1] * depth;
    for (int32_t c = 0; c < count; c++)
        scales[c] = (float)tw_operate_range(state, 1, 1000) * 1e-4f;
    int32_t zero = tw_operate_range(state, 0, 3) ? tw_operate_range(state, -128, 127) : 0;
    node->in[0]->quant = tw_quant_per_tensor(arena, 0.031f, zero);
    node->in[1]->quant = (tw_quant){count,
                                    count == 1  ? 0
                                    : depthwise ? node->in[1]->shape.rank - 1
                                                : 0,
                                    scales, zeros};
    node->out[0]->quant = tw_quant_per_tensor(
        arena, (float)(0.031 * 0.05 * 5000 * sqrt(taps) / 128), tw_operate_range(state, -128, 127));
    if (node->in_count > 2 && node->in[2]) {
        int32_t *bias = tw_alloc_array(arena, (size_t)g->outputs, sizeof *bias);
        for (int32_t c = 0; c < g->outputs; c++)
            bias[c] = tw_operate_range(state, -60000, 60000);
        node->in[2]->data = bias;
    }
}

static void compare_integer(const tw_node *node, const tw_geometry *g, bool depthwise)
{
    const int32_t *bias = node->in_count > 2 && node->in[2] ? node->in[2]->data : NULL;
    const int8_t *got = node->out[0]->data;
    const tw_quant *x_quant = &node->in[0]->quant, *w_quant = &node->in[1]->quant;
    double y_scale = (double)node->out[0]->quant.scale[0];
    int64_t y_zero = node->out[0]->quant.zero_point[0], low = -128, high = 127;
    if (isfinite(node->clamp.low)) {
        low = arithmetic_clamp(arithmetic_stored((double)node->clamp.low, y_scale, y_zero), -128,
                               127);
        high = arithmetic_clamp(arithmetic_stored((double)node->clamp.high, y_scale, y_zero), -128,
                                127);
    }
    for (int32_t n = 0; n < g->batch; n++)
        for (int32_t y = 0; y < g->out[0]; y++)
            for (int32_t x = 0; x < g->out[1]; x++)
                for (int32_t o = 0; o < g->outputs; o++) {
                    tw_integer_sum s = {node->in[0]->data, node->in[1]->data,
                                        x_quant->zero_point[0], bias ? bias[o] : 0};
                    each_product(g, depthwise, n, y, x, o, add_integer, &s);
                    double w_scale = (double)w_quant->scale[w_quant->count == 1 ? 0 : o];
                    double real = (double)x_quant->scale[0] * w_scale / y_scale;
                    int64_t want =
                        arithmetic_clamp(arithmetic_requantize(s.sum, real) + y_zero, low, high);
                    if (*got != want)
                        fail_msg("pixel %d,%d,%d channel %d: %d, expected %d", (int)n, (int)y,
                                 (int)x, (int)o, *got, (int)want);
                    got++;
                }
}

static void test_int8(void **unused)
{
    (void)unused;
    uint64_t state = 3;
    int banded = 0;
    for (int i = 0; i < CASES; i++) {
        bool depthwise = i % 2;
        tw_arena *arena = tw_arena_new();
        tw_graph *graph = tw_graph_new(arena, "int8");
        tw_geometry g = random_geometry(&state, depthwise);
        tw_node *node =
            make_node(graph, &g, depthwise, TW_S8, tw_operate_range(&state, 0, 1), &state);
        quantise(graph, node, &g, depthwise, &state);
        if (tw_operate_range(&state, 0, 2) == 0)
            node->clamp = (tw_clamp){0, 0.7f * 128 * node->out[0]->quant.scale[0]};
        tw_operate_whole(node, arena);
        compare_integer(node, &g, depthwise);
        banded += tw_operate_bands(node, &state);
        check_evaluate(node, graph, &state);
        tw_arena_free(arena);
    }
    assert_true(banded > CASES);
}

/* ---- refusals ---- */

typedef struct tw_refusal {
    const char *op, *message;
    tw_code code;
    int x_rank, w_rank;
    int32_t x[5], w[5];
    tw_ints stride, dilation, pad_begin, pad_end;
    int32_t group, bias;
    tw_dtype w_dtype;
} tw_refusal;

#define PLAIN .group = 1, .w_dtype = TW_F32
static const tw_refusal refusals[] = {
    {"Conv",
     "group 3 does not divide 16 input",
     TW_CODE_FAILED,
     4,
     4,
     {1, 5, 5, 16},
     {3, 3, 3, 5},
     .group = 3,
     .w_dtype = TW_F32},
    {"Conv",
     "group 2 does not divide 3 output",
     TW_CODE_FAILED,
     4,
     4,
     {1, 5, 5, 4},
     {3, 3, 3, 2},
     .group = 2,
     .w_dtype = TW_F32},
    {"Conv", "of 5 channels", TW_CODE_FAILED, 4, 4, {1, 5, 5, 16}, {3, 3, 3, 5}, PLAIN},
    {"Conv", "rank 5", TW_CODE_UNSUPPORTED, 5, 5, {1, 5, 5, 5, 4}, {3, 3, 3, 3, 4}, PLAIN},
    {"Conv", "rank 2", TW_CODE_FAILED, 4, 2, {1, 5, 5, 4}, {3, 4}, PLAIN},
    {"Conv", "spatial axes", TW_CODE_FAILED, 4, 3, {1, 5, 5, 4}, {3, 3, 4}, PLAIN},
    {"Conv", "enlarge the pads", TW_CODE_FAILED, 4, 4, {1, 5, 2, 4}, {3, 3, 3, 4}, PLAIN},
    {"Conv",
     "stride has 1 entries",
     TW_CODE_FAILED,
     4,
     4,
     {1, 5, 5, 4},
     {3, 3, 3, 4},
     .stride = {1, {2}},
     PLAIN},
    {"Conv",
     "stride",
     TW_CODE_FAILED,
     4,
     4,
     {1, 5, 5, 4},
     {3, 3, 3, 4},
     .stride = {2, {0, 1}},
     PLAIN},
    {"Conv",
     "pad_begin",
     TW_CODE_FAILED,
     4,
     4,
     {1, 5, 5, 4},
     {3, 3, 3, 4},
     .pad_begin = {2, {-1, 0}},
     PLAIN},
    {"Conv",
     "dilation",
     TW_CODE_FAILED,
     4,
     4,
     {1, 5, 5, 4},
     {3, 3, 3, 4},
     .dilation = {2, {INT32_MAX, 1}},
     PLAIN},
    {"Conv",
     "pads 0 and 1048576",
     TW_CODE_UNSUPPORTED,
     3,
     3,
     {1, 536870911, 1},
     {1, 1, 1},
     .pad_end = {1, {1048576}},
     PLAIN},
    {"Conv", "must be at least 1", TW_CODE_FAILED, 4, 4, {1, 5, 5, 4}, {3, 0, 3, 4}, PLAIN},
    {"Conv", "0 outputs", TW_CODE_FAILED, 4, 4, {1, 5, 5, 4}, {0, 3, 3, 4}, PLAIN},
    {"Conv",
     "one for each of 3",
     TW_CODE_FAILED,
     4,
     4,
     {1, 5, 5, 4},
     {3, 3, 3, 4},
     .bias = 2,
     PLAIN},
    {"Conv",
     "one type",
     TW_CODE_UNSUPPORTED,
     4,
     4,
     {1, 5, 5, 4},
     {3, 3, 3, 4},
     .group = 1,
     .w_dtype = TW_S16},
    {"DepthwiseConv", "10 output channels", TW_CODE_FAILED, 4, 3, {1, 5, 5, 4}, {3, 3, 10}, PLAIN},
    {"DepthwiseConv", "rank 1", TW_CODE_FAILED, 4, 1, {1, 5, 5, 4}, {4}, PLAIN},
    {"DepthwiseConv", "spatial axes", TW_CODE_FAILED, 4, 2, {1, 5, 5, 4}, {3, 4}, PLAIN},
};

static void test_refusals(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const tw_refusal *r = &refusals[i];
        tw_arena *arena = tw_arena_new();
        tw_graph *graph = tw_graph_new(arena, "refusals");
        tw_diag diag = {0};
        tw_value *in[3] = {tw_graph_input(graph, "x", tw_shape_of(TW_F32, r->x_rank, r->x)),
                           tw_graph_input(graph, "w", tw_shape_of(r->w_dtype, r->w_rank, r->w)),
                           r->bias ? tw_graph_input(graph, "b", tw_shape_of(TW_F32, 1, &r->bias))
                                   : NULL};
        tw_conv_attributes a = {r->stride, r->dilation, r->pad_begin, r->pad_end, r->group};
        tw_depthwise_conv_attributes d = {r->stride, r->dilation, r->pad_begin, r->pad_end};
        const tw_opdef *op = tw_op_by_name(r->op);
        tw_node *node = tw_graph_node(graph, op, "conv1", in, 3, 1, NULL,
                                      strcmp(r->op, "Conv") ? (void *)&d : (void *)&a, &diag);
        if (node || diag.code != r->code || !strstr(diag.message, r->message))
            fail_msg("case %zu: %s, code %d, \"%s\"", i, node ? "accepted" : "refused", diag.code,
                     diag.message);
        tw_arena_free(arena);
    }
}

typedef struct tw_warning {
    int count;
    char text[2048];
} tw_warning;

static void take_warning(void *user, const char *text)
{
    tw_warning *w = user;
    w->count++;
    snprintf(w->text, sizeof w->text, "%s", text);
}

/* A convolution of `channels` channels whose weights are all 127: lower it. */
static bool lower_wide(int32_t channels, int32_t bias_value, float bias_scale, tw_diag *diag)
{
    tw_arena *arena = tw_arena_new();
    tw_graph *graph = tw_graph_new(arena, "wide");
    int32_t x[3] = {1, 1, channels}, w[3] = {1, 1, channels}, one = 1;
    int8_t *weights = tw_alloc(arena, (size_t)channels);
    memset(weights, 127, (size_t)channels);
    tw_value *in[3] = {tw_graph_input(graph, "x", tw_shape_of(TW_S8, 3, x)),
                       tw_graph_constant(graph, "w", tw_shape_of(TW_S8, 3, w), weights),
                       tw_graph_constant(graph, "b", tw_shape_of(TW_S32, 1, &one), &bias_value)};
    in[0]->quant = tw_quant_per_tensor(arena, 1, -128);
    in[1]->quant = tw_quant_per_tensor(arena, 0.5f, 0);
    if (bias_scale > 0)
        in[2]->quant = tw_quant_per_tensor(arena, bias_scale, 0);
    tw_node *node = tw_operate_node(graph, "Conv", in, 3, NULL);
    node->out[0]->quant = tw_quant_per_tensor(arena, 1000, 0);
    tw_lowering lowering = {0};
    bool ok = node->op->lower(node, arena, &lowering, diag);
    if (ok)
        assert_int_equal(lowering.unread, 4);
    tw_arena_free(arena);
    return ok;
}

/* 127 * 255 a channel: 66,000 fit 31 bits, 70,000 do not; a bias near the end tips it over. */
static void test_overflow(void **unused)
{
    (void)unused;
    tw_warning warning = {0};
    tw_diag diag = {.warn = take_warning, .warn_user = &warning};
    assert_true(lower_wide(66000, 0, 0, &diag));
    assert_int_equal(warning.count, 0);
    assert_true(lower_wide(70000, 0, 0, &diag));
    assert_int_equal(warning.count, 1);
    assert_non_null(strstr(warning.text, "2266950000"));
    assert_true(lower_wide(50, INT32_MAX - 1000000, 0, &diag));
    assert_int_equal(warning.count, 2);
    assert_false(lower_wide(1000, INT32_MAX - 100, 0, &diag));
    assert_int_equal(diag.code, TW_CODE_UNSUPPORTED);
    assert_non_null(strstr(diag.message, "leaves 32 bits"));
}

static void test_bias_scale(void **unused)
{
    (void)unused;
    tw_diag diag = {0};
    assert_true(lower_wide(10, 5, 0.5f, &diag));
    assert_false(lower_wide(10, 5, 0.6f, &diag));
    assert_non_null(strstr(diag.message, "units of the sums"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float),    cmocka_unit_test(test_weights_at_run_time),
        cmocka_unit_test(test_int8),     cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_overflow), cmocka_unit_test(test_bias_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
