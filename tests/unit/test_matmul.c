/* FullyConnected and MatMul against plain loops in double precision (float) and in 64-bit integers
 * (int8), over random ranks and broadcasts; bands equal whole; malformed nodes are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/matmul.h"
#include "support/operate.h"
#include "support/arithmetic.h"

enum { CASES = 250 };

/* A product as plain numbers. a [batch.., rows, depth], b [batch.., depth, columns]. */
typedef struct tw_problem {
    bool connected; /* FullyConnected: b is [columns, depth], out has a's axes */
    bool transposed;
    int a_rank, b_rank, rank;
    int32_t a[TW_MAX_RANK], b[TW_MAX_RANK], out[TW_MAX_RANK];
    int32_t rows, columns, depth;
} tw_problem;

static tw_problem random_problem(uint64_t *state, bool connected)
{
    tw_problem p = {.connected = connected};
    p.transposed = connected || tw_operate_range(state, 0, 1);
    p.rows = tw_operate_range(state, 1, 7);
    p.columns = tw_operate_range(state, 1, 40);
    p.depth = tw_operate_range(state, 0, 20) ? tw_operate_range(state, 1, 50) : 0;
    p.a_rank = tw_operate_range(state, connected ? 1 : 2, 5);
    p.b_rank = connected ? 2 : tw_operate_range(state, 2, 5);
    p.rank = p.a_rank > p.b_rank || connected ? p.a_rank : p.b_rank;
    for (int k = 0; k < p.rank - 2; k++) {
        int32_t extent = tw_operate_range(state, 0, 2) ? tw_operate_range(state, 1, 3) : 1;
        int i = k - p.rank + p.a_rank, j = k - p.rank + p.b_rank;
        int which = tw_operate_range(state, 0, 3); /* 0: only a has it, 1: only b, else both */
        p.out[k] = 1;
        if (i >= 0)
            p.out[k] = p.a[i] = which == 1 && !connected ? 1 : extent;
        if (j >= 0 && !connected)
            p.b[j] = which == 0 ? 1 : extent;
        if (j >= 0 && !connected && p.b[j] != 1)
            p.out[k] = p.b[j];
    }
    if (p.a_rank >= 2)
        p.a[p.a_rank - 2] = p.rows;
    else
        p.rows = 1;
    p.a[p.a_rank - 1] = p.depth;
    p.b[p.b_rank - (p.transposed ? 2 : 1)] = p.columns;
    p.b[p.b_rank - (p.transposed ? 1 : 2)] = p.depth;
    if (p.rank >= 2)
        p.out[p.rank - 2] = p.rows;
    p.out[p.rank - 1] = p.columns;
    return p;
}

/* Elements from the start of an operand to the matrix of out's batch `batch` (counted over all). */
static int64_t matrix_of(const tw_problem *p, const int32_t *dim, int rank, int64_t batch)
{
    int64_t offset = 0, stride = 1;
    for (int i = rank - 1; i >= 0 && i >= rank - 2; i--)
        stride *= dim[i];
    for (int k = p->rank - 3; k >= 0; k--) {
        int32_t index = (int32_t)(batch % p->out[k]);
        int i = k - p->rank + rank;
        batch /= p->out[k];
        if (i < 0)
            continue;
        offset += dim[i] == 1 ? 0 : index * stride;
        stride *= dim[i];
    }
    return offset;
}

static tw_node *make_node(tw_graph *graph, const tw_problem *p, tw_dtype dtype, uint64_t *state)
{
    tw_value *in[3] = {tw_operate_value(graph, dtype, p->a_rank, p->a, state),
                       tw_operate_value(graph, dtype, p->b_rank, p->b, state), NULL};
    tw_matmul_attributes a = {p->transposed};
    int count = p->connected ? tw_operate_range(state, 2, 3) : 2;
    if (count == 3 && tw_operate_range(state, 0, 3))
        in[2] = tw_operate_value(graph, dtype == TW_S8 ? TW_S32 : TW_F32, 1, &p->columns, state);
    tw_node *node = tw_operate_node(graph, p->connected ? "FullyConnected" : "MatMul", in, count,
                                    p->connected ? NULL : &a);
    assert_int_equal(node->out[0]->shape.rank, p->rank);
    for (int k = 0; k < p->rank; k++)
        assert_int_equal(node->out[0]->shape.dim[k], p->out[k]);
    return node;
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

/* Where element (m, n) of a batch is, and the first of its factors with the steps between them. */
typedef struct tw_element {
    int64_t at, a, b, b_step;
    int32_t column;
} tw_element;

static tw_element element_of(const tw_problem *p, int64_t index)
{
    int64_t batch = index / p->columns / p->rows;
    int32_t row = (int32_t)(index / p->columns % p->rows);
    tw_element e = {.at = index, .column = (int32_t)(index % p->columns)};
    e.a = matrix_of(p, p->a, p->a_rank, batch) + (int64_t)row * p->depth;
    e.b = p->connected ? 0 : matrix_of(p, p->b, p->b_rank, batch);
    e.b += p->transposed ? (int64_t)e.column * p->depth : e.column;
    e.b_step = p->transposed ? 1 : p->columns;
    return e;
}

static void compare_float(const tw_node *node, const tw_problem *p)
{
    const float *a = node->in[0]->data, *b = node->in[1]->data, *got = node->out[0]->data;
    const float *bias = node->in_count > 2 && node->in[2] ? node->in[2]->data : NULL;
    int64_t count = tw_shape_elements(&node->out[0]->shape);
    for (int64_t i = 0; i < count; i++) {
        tw_element e = element_of(p, i);
        double sum = bias ? (double)bias[e.column] : 0, magnitude = 1;
        for (int32_t k = 0; k < p->depth; k++) {
            double product = (double)a[e.a + k] * (double)b[e.b + k * e.b_step];
            sum += product;
            magnitude += fabs(product);
        }
        double want = fmin(fmax(sum, (double)node->clamp.low), (double)node->clamp.high);
        if (!(fabs((double)got[i] - want) <= 1e-6 * magnitude))
            fail_msg("element %d: %g, expected %g", (int)i, (double)got[i], want);
    }
}

static void test_float(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    int banded = 0;
    for (int i = 0; i < CASES; i++) {
        tw_arena *arena = tw_arena_new();
        tw_graph *graph = tw_graph_new(arena, "float");
        tw_problem p = random_problem(&state, i % 2);
        tw_node *node = make_node(graph, &p, TW_F32, &state);
        if (tw_operate_range(&state, 0, 2) == 0)
            node->clamp = (tw_clamp){-2, 6};
        tw_operate_whole(node, arena);
        compare_float(node, &p);
        check_bytes(node, graph, &banded, &state);
        tw_arena_free(arena);
    }
    assert_true(banded > CASES);
}

static void quantise(tw_graph *graph, tw_node *node, const tw_problem *p, uint64_t *state)
{
    tw_arena *arena = graph->arena;
    bool each = p->connected && tw_operate_range(state, 0, 1);
    int32_t count = each ? p->columns : 1;
    float *scales = tw_alloc_array(arena, (size_t)count, sizeof *scales);
    int32_t *zeros = tw_alloc_array(arena, (size_t)count, sizeof *zeros);
    for (int32_t c = 0; c < count; c++)
        scales[c] = (float)tw_operate_range(state, 1, 1000) * 1e-4f;
    if (count == 1)
        zeros[0] = tw_operate_range(state, 0, 1) ? tw_operate_range(state, -128, 127) : 0;
    node->in[0]->quant = tw_quant_per_tensor(arena, 0.031f, tw_operate_range(state, -128, 127));
    node->in[1]->quant = (tw_quant){count, 0, scales, zeros};
    node->out[0]->quant =
        tw_quant_per_tensor(arena, (float)(0.031 * 0.05 * 5000 * sqrt(p->depth + 1.0) / 128),
                            tw_operate_range(state, -128, 127));
    if (node->in_count > 2 && node->in[2]) {
        int32_t *bias = tw_alloc_array(arena, (size_t)p->columns, sizeof *bias);
        for (int32_t c = 0; c < p->columns; c++)
            bias[c] = tw_operate_range(state, -60000, 60000);
        node->in[2]->data = bias;
    }
}

static void compare_integer(const tw_node *node, const tw_problem *p)
{
    const int8_t *a = node->in[0]->data, *b = node->in[1]->data, *got = node->out[0]->data;
    const int32_t *bias = node->in_count > 2 && node->in[2] ? node->in[2]->data : NULL;
    const tw_quant *aq = &node->in[0]->quant, *bq = &node->in[1]->quant;
    const tw_quant *yq = &node->out[0]->quant;
    int64_t count = tw_shape_elements(&node->out[0]->shape);
    for (int64_t i = 0; i < count; i++) {
        tw_element e = element_of(p, i);
        int64_t sum = bias ? bias[e.column] : 0;
        for (int32_t k = 0; k < p->depth; k++)
            sum += (int64_t)(a[e.a + k] - aq->zero_point[0]) *
                   (b[e.b + k * e.b_step] - bq->zero_point[0]);
        float product = aq->scale[0] * bq->scale[0]; /* one scale: rounded to float first */
        double scale =
            bq->count == 1 ? (double)product : (double)aq->scale[0] * (double)bq->scale[e.column];
        int64_t want = arithmetic_requantize(sum, scale / (double)yq->scale[0]);
        want = arithmetic_clamp(want + yq->zero_point[0], -128, 127);
        if (got[i] != want)
            fail_msg("element %d: %d, expected %d", (int)i, got[i], (int)want);
    }
}

static void test_int8(void **unused)
{
    (void)unused;
    uint64_t state = 2;
    int banded = 0;
    for (int i = 0; i < CASES; i++) {
        tw_arena *arena = tw_arena_new();
        tw_graph *graph = tw_graph_new(arena, "int8");
        tw_problem p = random_problem(&state, i % 2);
        tw_node *node = make_node(graph, &p, TW_S8, &state);
        quantise(graph, node, &p, &state);
        tw_operate_whole(node, arena);
        compare_integer(node, &p);
        check_bytes(node, graph, &banded, &state);
        tw_arena_free(arena);
    }
    assert_true(banded > CASES);
}

typedef struct tw_refusal {
    const char *op, *message;
    tw_code code;
    int a_rank, b_rank;
    int32_t a[3], b[3];
    tw_dtype b_dtype;
} tw_refusal;

static const tw_refusal refusals[] = {
    {"MatMul", "3 columns, the second 4 rows", TW_CODE_FAILED, 2, 2, {2, 3}, {4, 5}, TW_F32},
    {"MatMul", "rows and columns", TW_CODE_FAILED, 1, 2, {3}, {3, 5}, TW_F32},
    {"MatMul", "2 and 3 do not broadcast", TW_CODE_FAILED, 3, 3, {2, 2, 4}, {3, 4, 2}, TW_F32},
    {"MatMul", "convert one", TW_CODE_UNSUPPORTED, 2, 2, {2, 3}, {3, 5}, TW_S8},
    {"FullyConnected", "weights for 4 channels", TW_CODE_FAILED, 2, 2, {2, 3}, {5, 4}, TW_F32},
    {"FullyConnected", "rank 3", TW_CODE_FAILED, 2, 3, {2, 3}, {5, 3, 1}, TW_F32},
    {"FullyConnected", "last axis has 0", TW_CODE_FAILED, 0, 2, {0}, {5, 3}, TW_F32},
};

static void test_refusals(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const tw_refusal *r = &refusals[i];
        tw_arena *arena = tw_arena_new();
        tw_graph *graph = tw_graph_new(arena, "refusals");
        tw_diag diag = {0};
        tw_value *in[2] = {tw_graph_input(graph, "a", tw_shape_of(TW_F32, r->a_rank, r->a)),
                           tw_graph_input(graph, "b", tw_shape_of(r->b_dtype, r->b_rank, r->b))};
        tw_node *node =
            tw_graph_node(graph, tw_op_by_name(r->op), "mm", in, 2, 1, NULL, NULL, &diag);
        if (node || diag.code != r->code || !strstr(diag.message, r->message))
            fail_msg("case %zu: %s, code %d, \"%s\"", i, node ? "accepted" : "refused", diag.code,
                     diag.message);
        tw_arena_free(arena);
    }
}

static void count_warning(void *user, const char *text)
{
    if (strstr(text, "32 bits"))
        ++*(int *)user;
}

/* Two activations: 33,025 products of 255 * 255 fit 31 bits, one more does not. */
static void test_overflow(void **unused)
{
    (void)unused;
    int warnings = 0;
    tw_diag diag = {.warn = count_warning, .warn_user = &warnings};
    for (int32_t depth = 33025; depth <= 33026; depth++) {
        tw_arena *arena = tw_arena_new();
        tw_graph *graph = tw_graph_new(arena, "wide");
        int32_t a[2] = {1, depth}, b[2] = {depth, 1};
        tw_value *in[2] = {tw_graph_input(graph, "a", tw_shape_of(TW_S8, 2, a)),
                           tw_graph_input(graph, "b", tw_shape_of(TW_S8, 2, b))};
        in[0]->quant = in[1]->quant = tw_quant_per_tensor(arena, 1, -128);
        tw_node *node = tw_operate_node(graph, "MatMul", in, 2, NULL);
        node->out[0]->quant = tw_quant_per_tensor(arena, 1e6f, 0);
        tw_lowering lowering = {0};
        assert_true(node->op->lower(node, arena, &lowering, &diag));
        assert_int_equal(warnings, depth - 33025);
        tw_arena_free(arena);
    }
}

/* With one scale for the weights the reference multiplies the two scales in float, with one for each
 * channel in double. These scales tell the difference. */
static void test_multipliers(void **unused)
{
    (void)unused;
    const float x_scale = 0.1f, w_scale = 0.3f, y_scale = 0.7f;
    float product = x_scale * w_scale;
    double reals[2] = {(double)product / (double)y_scale,
                       (double)x_scale * (double)w_scale / (double)y_scale};
    for (int each = 0; each < 2; each++) {
        uint64_t state = 1;
        tw_arena *arena = tw_arena_new();
        tw_graph *graph = tw_graph_new(arena, "multipliers");
        int32_t x[2] = {1, 4}, w[2] = {2, 4}, zeros[2] = {0, 0};
        float scales[2] = {w_scale, w_scale};
        tw_value *in[2] = {tw_operate_value(graph, TW_S8, 2, x, &state),
                           tw_operate_value(graph, TW_S8, 2, w, &state)};
        in[0]->quant = tw_quant_per_tensor(arena, x_scale, 3);
        in[1]->quant = (tw_quant){each ? 2 : 1, 0, scales, zeros};
        tw_node *node = tw_operate_node(graph, "FullyConnected", in, 2, NULL);
        node->out[0]->quant = tw_quant_per_tensor(arena, y_scale, 0);
        tw_lowering lowering = {0};
        tw_diag diag = {0};
        assert_true(node->op->lower(node, arena, &lowering, &diag));
        for (int c = 0; c < 2; c++) {
            int32_t multiplier = ((const int32_t *)lowering.blob[0].data)[c];
            int32_t shift = ((const int32_t *)lowering.blob[1].data)[c];
            int exponent;
            double want = round(ldexp(frexp(reals[each], &exponent), 31));
            assert_int_equal(multiplier, (int64_t)want);
            assert_int_equal(shift, exponent);
        }
        tw_arena_free(arena);
    }
    assert_true(reals[0] != reals[1]);
    assert_true(fabs(reals[0] / reals[1] - 1) > 0x1p-30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float),       cmocka_unit_test(test_int8),
        cmocka_unit_test(test_refusals),    cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_multipliers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
