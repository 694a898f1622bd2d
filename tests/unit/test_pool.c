/* MaxPool and AveragePool against plain loops over random windows, in every type; bands equal whole;
 * output extents with and without ceil; malformed nodes are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/pool.h"
#include "support/operate.h"
#include "support/arithmetic.h"

enum { CASES = 250 };

typedef struct tw_geometry {
    int spatial;
    int32_t batch, in[2], out[2], channels, kernel[2], stride[2], dilation[2], begin[2], end[2];
    bool ceil, count_padding, half_even;
} tw_geometry;

/* The number of windows on axis i by counting: one every stride as long as they fit; with ceil one
 * more where the last did not reach the end, and then none for one that starts behind the input. */
static int32_t count_windows(const tw_geometry *g, int i)
{
    int32_t padded = g->in[i] + g->begin[i] + g->end[i], n = 0, at = 0;
    int32_t reach = (g->kernel[i] - 1) * g->dilation[i] + 1;
    for (; at + reach <= padded; at += g->stride[i])
        n++;
    if (g->ceil && at - g->stride[i] + reach < padded) {
        n++;
        at += g->stride[i];
    }
    return g->ceil && at - g->stride[i] >= g->in[i] + g->begin[i] ? n - 1 : n;
}

static tw_geometry random_geometry(uint64_t *state)
{
    tw_geometry g;
    do {
        g = (tw_geometry){.spatial = tw_operate_range(state, 1, 2)};
        g.batch = tw_operate_range(state, 0, 3) ? 1 : tw_operate_range(state, 0, 3);
        g.channels = tw_operate_range(state, 1, 37);
        g.ceil = tw_operate_range(state, 0, 1);
        g.count_padding = tw_operate_range(state, 0, 1);
        g.half_even = tw_operate_range(state, 0, 1);
        for (int i = 0; i < 2; i++) {
            bool missing = i < 2 - g.spatial;
            g.in[i] = missing ? 1 : tw_operate_range(state, 1, 11);
            g.kernel[i] = missing ? 1 : tw_operate_range(state, 1, 5);
            g.stride[i] = missing ? 1 : tw_operate_range(state, 1, 4);
            g.dilation[i] =
                missing || tw_operate_range(state, 0, 2) ? 1 : tw_operate_range(state, 2, 3);
            g.begin[i] = missing ? 0 : tw_operate_range(state, 0, tw_operate_range(state, 0, 6));
            g.end[i] = missing ? 0 : tw_operate_range(state, 0, tw_operate_range(state, 0, 6));
            g.out[i] = count_windows(&g, i);
        }
    } while (g.out[0] < 1 || g.out[1] < 1);
    return g;
}

static tw_node *make_node(tw_graph *graph, const tw_geometry *g, const char *op, tw_dtype dtype,
                          uint64_t *state)
{
    tw_pool_attributes a = {.ceil = g->ceil};
    if (strcmp(op, "AveragePool") == 0) {
        a.count_include_pad = g->count_padding;
        a.rounding = g->half_even ? TW_POOL_HALF_EVEN : TW_POOL_HALF_AWAY;
    }
    tw_ints *lists[] = {&a.kernel, &a.stride, &a.dilation, &a.pad_begin, &a.pad_end};
    const int32_t *from[] = {g->kernel, g->stride, g->dilation, g->begin, g->end};
    for (int l = 0; l < 5; l++) {
        lists[l]->count = g->spatial;
        for (int k = 0; k < g->spatial; k++)
            lists[l]->v[k] = from[l][k + 2 - g->spatial];
    }
    int32_t x[4] = {g->batch, g->in[2 - g->spatial], g->in[1], g->channels};
    if (g->spatial == 1)
        x[2] = g->channels;
    tw_value *in = tw_operate_value(graph, dtype, g->spatial + 2, x, state);
    tw_node *node = tw_operate_node(graph, op, &in, 1, &a);
    const tw_shape *out = &node->out[0]->shape;
    assert_int_equal(out->dim[1], g->out[2 - g->spatial]);
    assert_int_equal(out->dim[out->rank - 2], g->out[1]);
    return node;
}

/* The elements under a window: stored values, how many are inside, how many are padding. */
typedef struct tw_under {
    double values[256];
    int inside, padding;
} tw_under;

static tw_under look_under(const tw_node *node, const tw_geometry *g, int64_t element)
{
    tw_under u = {.inside = 0};
    int32_t c = (int32_t)(element % g->channels);
    int32_t x = (int32_t)(element / g->channels % g->out[1]);
    int32_t y = (int32_t)(element / g->channels / g->out[1] % g->out[0]);
    int64_t n = element / g->channels / g->out[1] / g->out[0];
    for (int32_t i = 0; i < g->kernel[0]; i++)
        for (int32_t j = 0; j < g->kernel[1]; j++) {
            int32_t row = y * g->stride[0] - g->begin[0] + i * g->dilation[0];
            int32_t column = x * g->stride[1] - g->begin[1] + j * g->dilation[1];
            if (row >= 0 && row < g->in[0] && column >= 0 && column < g->in[1])
                u.values[u.inside++] = tw_constant_at(
                    node->in[0], ((n * g->in[0] + row) * g->in[1] + column) * g->channels + c);
            else if (row < g->in[0] + g->end[0] && column < g->in[1] + g->end[1])
                u.padding++;
        }
    return u;
}

static void check_bytes(tw_node *node, tw_graph *graph, int *banded, uint64_t *state)
{
    const void *want = node->out[0]->data;
    tw_diag diag = {0};
    *banded += tw_operate_bands(node, state);
    node->out[0]->data = NULL;
    if (!tw_evaluate(node, graph->arena, tw_operate_range(state, 0, 3), &diag))
        fail_msg("%s", diag.message);
    assert_memory_equal(node->out[0]->data, want, tw_shape_bytes(&node->out[0]->shape));
    node->out[0]->data = want;
}

static double largest_of(const tw_under *u, double least)
{
    for (int i = 0; i < u->inside; i++)
        least = u->values[i] > least ? u->values[i] : least;
    return least;
}

/* Tests both operators in one type. `expect` gives the value that an element should have. */
typedef double (*tw_expectation)(const tw_node *node, const tw_geometry *g, const tw_under *u);

static void run_cases(const char *op, tw_dtype dtype, bool quantised, tw_expectation expect,
                      double tolerance, uint64_t seed)
{
    uint64_t state = seed;
    int banded = 0;
    for (int i = 0; i < CASES; i++) {
        tw_arena *arena = tw_arena_new();
        tw_graph *graph = tw_graph_new(arena, "pool");
        tw_geometry g = random_geometry(&state);
        tw_node *node = make_node(graph, &g, op, dtype, &state);
        if (quantised) {
            float scale = tw_operate_range(&state, 0, 1) ? 0.5f : 0.2f;
            node->in[0]->quant =
                tw_quant_per_tensor(arena, 0.5f, tw_operate_range(&state, -128, 127));
            node->out[0]->quant = node->in[0]->quant;
            if (scale != 0.5f)
                node->out[0]->quant =
                    tw_quant_per_tensor(arena, scale, tw_operate_range(&state, -128, 127));
        }
        if (dtype == TW_F32 && tw_operate_range(&state, 0, 2) == 0)
            node->clamp = (tw_clamp){-0.5f, 1};
        tw_operate_whole(node, arena);
        int64_t count = tw_shape_elements(&node->out[0]->shape);
        for (int64_t e = 0; e < count; e++) {
            tw_under u = look_under(node, &g, e);
            double want = expect(node, &g, &u), got = tw_constant_at(node->out[0], e);
            if (!(fabs(got - want) <= tolerance) && got != want)
                fail_msg("case %d, element %d: %g, expected %g", i, (int)e, got, want);
        }
        check_bytes(node, graph, &banded, &state);
        tw_arena_free(arena);
    }
    assert_true(banded > CASES);
}

static double clamped(const tw_node *node, double v)
{
    return fmin(fmax(v, (double)node->clamp.low), (double)node->clamp.high);
}

static double expect_max_f32(const tw_node *node, const tw_geometry *g, const tw_under *u)
{
    (void)g;
    return clamped(node, largest_of(u, -INFINITY));
}

static double expect_average_f32(const tw_node *node, const tw_geometry *g, const tw_under *u)
{
    double sum = 0;
    int count = u->inside + (g->count_padding ? u->padding : 0);
    for (int i = 0; i < u->inside; i++)
        sum += u->values[i];
    return clamped(node, count ? sum / count : 0);
}

static double ratio_of(const tw_node *node)
{
    return (double)node->in[0]->quant.scale[0] / (double)node->out[0]->quant.scale[0];
}

static bool is_rescaled(const tw_node *node)
{
    return node->in[0]->quant.count && !tw_quant_equal(&node->in[0]->quant, &node->out[0]->quant);
}

static double expect_max_s8(const tw_node *node, const tw_geometry *g, const tw_under *u)
{
    (void)g;
    int64_t v = (int64_t)largest_of(u, -128);
    if (is_rescaled(node))
        v = arithmetic_requantize(v - node->in[0]->quant.zero_point[0], ratio_of(node)) +
            node->out[0]->quant.zero_point[0];
    return (double)arithmetic_clamp(v, -128, 127);
}

static double expect_max_u8(const tw_node *node, const tw_geometry *g, const tw_under *u)
{
    (void)node;
    (void)g;
    return largest_of(u, 0);
}

/* Nearest integer of sum / count. */
static int64_t nearest(int64_t sum, int64_t count, bool half_even)
{
    double v = (double)sum / (double)count; /* exact enough: ties are representable */
    return (int64_t)(half_even ? nearbyint(v) : round(v));
}

static int64_t average_of(const tw_node *node, const tw_geometry *g, const tw_under *u,
                          int64_t zero_in, int64_t zero_out)
{
    int64_t sum = 0, count = u->inside + (g->count_padding ? u->padding : 0);
    for (int i = 0; i < u->inside; i++)
        sum += (int64_t)u->values[i];
    if (count == 0)
        return zero_out;
    if (is_rescaled(node))
        return nearest(arithmetic_requantize(sum - zero_in * u->inside, ratio_of(node)), count,
                       g->half_even) +
               zero_out;
    if (g->half_even)
        return nearest(sum - zero_in * u->inside, count, true) + zero_in;
    return nearest(sum + zero_in * (count - u->inside), count, false); /* TFLite */
}

static double expect_average_s8(const tw_node *node, const tw_geometry *g, const tw_under *u)
{
    return (double)arithmetic_clamp(
        average_of(node, g, u, node->in[0]->quant.zero_point[0], node->out[0]->quant.zero_point[0]),
        -128, 127);
}

static double expect_average_u8(const tw_node *node, const tw_geometry *g, const tw_under *u)
{
    return (double)average_of(node, g, u, 0, 0);
}

static void test_max(void **unused)
{
    (void)unused;
    run_cases("MaxPool", TW_F32, false, expect_max_f32, 0, 1);
    run_cases("MaxPool", TW_S8, true, expect_max_s8, 0, 2);
    run_cases("MaxPool", TW_U8, false, expect_max_u8, 0, 3);
}

static void test_average(void **unused)
{
    (void)unused;
    run_cases("AveragePool", TW_F32, false, expect_average_f32, 2e-6, 4);
    run_cases("AveragePool", TW_S8, true, expect_average_s8, 0, 5);
    run_cases("AveragePool", TW_U8, false, expect_average_u8, 0, 6);
}

static void test_nan(void **unused)
{
    (void)unused;
    tw_arena *arena = tw_arena_new();
    tw_graph *graph = tw_graph_new(arena, "nan");
    int32_t dim[3] = {1, 4, 1};
    const float x[4] = {1, NAN, 3, 4};
    tw_value *in = tw_graph_constant(graph, "x", tw_shape_of(TW_F32, 3, dim), x);
    tw_pool_attributes a = {.kernel = {1, {2}}, .stride = {1, {2}}};
    const float *y = tw_operate_whole(tw_operate_node(graph, "MaxPool", &in, 1, &a), arena);
    assert_true(isnan(y[0]));
    assert_true(y[1] == 4);
    tw_arena_free(arena);
}

static bool try_node(int rank, const tw_pool_attributes *a, tw_diag *diag)
{
    tw_arena *arena = tw_arena_new();
    tw_graph *graph = tw_graph_new(arena, "refusals");
    int32_t dim[6] = {1, 5, 5, 3, 1, 1};
    tw_value *in = tw_graph_input(graph, "x", tw_shape_of(TW_F32, rank, dim));
    bool ok = tw_graph_node(graph, tw_op_by_name("MaxPool"), "pool", &in, 1, 1, NULL, a, diag);
    tw_arena_free(arena);
    return ok;
}

typedef struct tw_refusal {
    const char *message;
    int rank;
    tw_code code;
    tw_pool_attributes attributes;
} tw_refusal;

static const tw_refusal refusals[] = {
    {"kernel is empty", 4, TW_CODE_FAILED, {.ceil = 0}},
    {"kernel", 4, TW_CODE_FAILED, {.kernel = {2, {0, 2}}}},
    {"1 spatial axes and the input 2", 4, TW_CODE_FAILED, {.kernel = {1, {2}}}},
    {"rank 2", 2, TW_CODE_UNSUPPORTED, {.kernel = {1, {2}}}},
    {"rank 0", 0, TW_CODE_UNSUPPORTED, {.kernel = {1, {2}}}},
    {"reaches over 6", 4, TW_CODE_FAILED, {.kernel = {2, {6, 2}}}},
    {"more than 4194304",
     4,
     TW_CODE_UNSUPPORTED,
     {.kernel = {2, {4096, 4096}}, .pad_begin = {2, {5000, 5000}}}},
    {"dilation has 3", 4, TW_CODE_FAILED, {.kernel = {2, {2, 2}}, .dilation = {3, {1, 1, 1}}}},
};

static void test_refusals(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        tw_diag diag = {0};
        const tw_refusal *r = &refusals[i];
        bool ok = try_node(r->rank, &r->attributes, &diag);
        if (ok || diag.code != r->code || !strstr(diag.message, r->message))
            fail_msg("case %zu: %s, code %d, \"%s\"", i, ok ? "accepted" : "refused", diag.code,
                     diag.message);
    }
}

/* An input scale too coarse for the output's: sums of a window would leave 32 bits. */
static void test_rescale_refusal(void **unused)
{
    (void)unused;
    uint64_t state = 7;
    tw_diag diag = {0};
    tw_lowering lowering = {0};
    tw_arena *arena = tw_arena_new();
    tw_graph *graph = tw_graph_new(arena, "rescale");
    int32_t dim[3] = {1, 4, 1};
    tw_value *in = tw_operate_value(graph, TW_S8, 3, dim, &state);
    tw_pool_attributes a = {.kernel = {1, {2}}};
    in->quant = tw_quant_per_tensor(arena, 1, 0);
    tw_node *node = tw_operate_node(graph, "AveragePool", &in, 1, &a);
    node->out[0]->quant = tw_quant_per_tensor(arena, 1e-7f, 0);
    assert_false(node->op->lower(node, arena, &lowering, &diag));
    assert_int_equal(diag.code, TW_CODE_UNSUPPORTED);
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_max),
        cmocka_unit_test(test_average),
        cmocka_unit_test(test_nan),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_rescale_refusal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
