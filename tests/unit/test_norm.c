/* Normalisation over axes: against double precision over random axes, operands and bands, of int8 too; far from 0;
 * groups of equal elements; refusals. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ops/axes.h"
#include "ops/norm.h"
#include "support/operate.h"

static const char *const members[] = {"Normalize", "RmsNormalize", "Standardize", "L1Normalize",
                                      "L2Normalize"};
enum { MEMBERS = sizeof members / sizeof *members };

typedef struct tw_case {
    tw_arena *arena;
    tw_graph *graph;
    uint64_t seed;
    tw_value *in[3];
    int in_count, member;
    tw_norm_attributes attributes;
} tw_case;

static void open_case(tw_case *c, uint64_t seed)
{
    int32_t dim[TW_MAX_RANK];
    memset(c, 0, sizeof *c);
    c->seed = seed;
    c->arena = tw_arena_new();
    c->graph = tw_graph_new(c->arena, "case");
    c->member = (int)(seed % MEMBERS);
    int rank = tw_operate_range(&c->seed, 1, 5);
    int ones = tw_operate_range(&c->seed, 0, 1) ? tw_operate_range(&c->seed, 0, rank - 1) : 0;
    for (int k = 0; k < rank; k++)
        dim[k] = k < ones ? 1 : tw_operate_range(&c->seed, 1, rank > 3 ? 4 : 11);
    for (int k = 0; k < rank; k++)
        if (tw_operate_range(&c->seed, 0, 1))
            c->attributes.axes.v[c->attributes.axes.count++] = k % 2 ? k : k - rank;
    c->attributes.epsilon = (float)tw_operate_range(&c->seed, 1, 5) * 0.01f;
    c->in[0] = tw_operate_value(c->graph, TW_F32, rank, dim, &c->seed);
    c->in_count = tw_operate_range(&c->seed, 1, 3);
    for (int i = 1; i < c->in_count; i++) {
        int missing = tw_operate_range(&c->seed, 0, rank);
        int32_t own[TW_MAX_RANK] = {1};
        for (int k = missing; k < rank; k++)
            own[k - missing] = tw_operate_range(&c->seed, 0, 2) ? dim[k] : 1;
        c->in[i] = tw_operate_value(c->graph, TW_F32, rank - missing, own, &c->seed);
    }
}

/* Element `at` of x meets this element of an operand. */
static double operand_at(const tw_value *operand, const tw_shape *x, const int *at)
{
    int64_t i = 0;
    int missing = x->rank - operand->shape.rank;
    for (int k = 0; k < operand->shape.rank; k++)
        i = i * operand->shape.dim[k] + (operand->shape.dim[k] == 1 ? 0 : at[k + missing]);
    return (double)((const float *)operand->data)[i];
}

static void indices(const tw_shape *x, int64_t i, int *at)
{
    for (int k = x->rank - 1; k >= 0; k--) {
        at[k] = (int)(i % x->dim[k]);
        i /= x->dim[k];
    }
}

static bool same_group(int32_t mask, int rank, const int *a, const int *b)
{
    for (int k = 0; k < rank; k++)
        if (!(mask >> k & 1) && a[k] != b[k])
            return false;
    return true;
}

/* Element i by the formulas as they stand. */
static double expected(const tw_case *c, int64_t i)
{
    const tw_shape *x = &c->in[0]->shape;
    const float *data = c->in[0]->data;
    int32_t mask = tw_axis_mask(&c->attributes.axes, x->rank);
    int64_t elements = tw_shape_elements(x);
    double n = 0, sum = 0, squares = 0, size = 0, e = (double)c->attributes.epsilon;
    int at[TW_MAX_RANK], other[TW_MAX_RANK];
    indices(x, i, at);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t j = 0; j < elements; j++) {
            indices(x, j, other);
            if (!same_group(mask, x->rank, at, other))
                continue;
            double v = (double)data[j], d = c->member % 2 ? v : v - sum / n;
            n += pass == 0;
            sum += pass == 0 ? v : 0;
            squares += pass ? (c->member == 4 ? v * v : d * d) : 0;
            size += pass ? fabs(v) : 0;
        }
    double v = (double)data[i], centred = v - sum / n, y;
    switch (c->member) {
    case 0: y = centred / sqrt(squares / n + e); break;
    case 1: y = v / sqrt(squares / n + e); break;
    case 2: y = centred / (sqrt(squares / n) + e); break;
    case 3: y = v / fmax(size, e); break;
    default: y = v / fmax(sqrt(squares), e); break;
    }
    if (c->in_count > 1)
        y *= operand_at(c->in[1], x, at);
    return c->in_count > 2 ? y + operand_at(c->in[2], x, at) : y;
}

static void formulas(void **unused)
{
    (void)unused;
    int banded = 0;
    for (uint64_t seed = 0; seed < 250; seed++) {
        tw_case c;
        open_case(&c, seed);
        tw_node *node =
            tw_operate_node(c.graph, members[c.member], c.in, c.in_count, &c.attributes);
        const float *got = tw_operate_whole(node, c.arena);
        for (int64_t i = 0; i < tw_shape_elements(&node->out[0]->shape); i++) {
            double want = expected(&c, i);
            assert_true(fabs((double)got[i] - want) <= 5e-6 + 5e-6 * fabs(want));
        }
        banded += tw_operate_bands(node, &c.seed);
        tw_arena_free(c.arena);
    }
    assert_true(banded > 150);
}

/* x stored with this zero point, and the floats that it then stands for. */
static tw_value *store(tw_case *c, int32_t zero)
{
    const tw_shape real = c->in[0]->shape;
    tw_shape shape = real;
    const float scale = 0.025f, *from = c->in[0]->data;
    const size_t count = (size_t)tw_shape_elements(&real);
    int8_t *stored = tw_alloc(c->arena, count + 1);
    float *floats = tw_alloc_array(c->arena, count + 1, sizeof *floats);
    for (size_t i = 0; i < count; i++) {
        const double q = round((double)from[i] / (double)scale) + zero;
        stored[i] = (int8_t)fmax(-128, fmin(127, q));
        floats[i] = scale * (float)(stored[i] - zero);
    }
    shape.dtype = TW_S8;
    tw_value *x = tw_graph_constant(c->graph, "stored", shape, stored);
    x->quant = tw_quant_per_tensor(c->arena, scale, zero);
    c->in[0] = tw_graph_constant(c->graph, "floats", real, floats);
    return x;
}

/* int8: the formula in double, rounded to the result's scale, but where that is next to a tie. */
static void stored(void **unused)
{
    (void)unused;
    int banded = 0;
    for (uint64_t seed = 0; seed < 250; seed++) {
        tw_case c;
        open_case(&c, seed);
        const int32_t zero = tw_operate_range(&c.seed, -100, 100);
        const double scale = 0.03125;
        tw_value *in[3] = {store(&c, tw_operate_range(&c.seed, -60, 60)), c.in[1], c.in[2]};
        tw_node *node = tw_operate_node(c.graph, members[c.member], in, c.in_count, &c.attributes);
        node->out[0]->quant = tw_quant_per_tensor(c.arena, (float)scale, zero);
        const int8_t *got = tw_operate_whole(node, c.arena);
        for (int64_t i = 0; i < tw_shape_elements(&node->out[0]->shape); i++) {
            const double want = fmax(-128, fmin(127, expected(&c, i) / scale + zero));
            if (!(fabs(got[i] - want) <= 0.5 + 1e-3))
                fail_msg("seed %d, %s: %d, expected %g", (int)seed, members[c.member], got[i],
                         want);
        }
        banded += tw_operate_bands(node, &c.seed);
        tw_arena_free(c.arena);
    }
    assert_true(banded > 150);
}

/* A long group whose mean is a thousand times its deviation keeps its digits. */
static void far_from_zero(void **unused)
{
    (void)unused;
    tw_arena *arena = tw_arena_new();
    tw_graph *graph = tw_graph_new(arena, "g");
    uint64_t seed = 5;
    int32_t dim[] = {1, 20000, 3};
    tw_value *x = tw_operate_value(graph, TW_F32, 3, dim, &seed);
    float *data = (float *)(uintptr_t)x->data;
    for (int i = 0; i < 60000; i++)
        data[i] += 2000.0f;
    static const tw_norm_attributes by_channel = {{1, {1}}, 1e-5f}, all = {{2, {1, 2}}, 1e-5f};
    for (int i = 0; i < 2; i++) {
        tw_node *node = tw_operate_node(graph, "Normalize", &x, 1, i ? &all : &by_channel);
        int step = i ? 1 : 3, n = 60000 / step;
        const float *y = tw_operate_whole(node, arena);
        double sum = 0, squares = 0;
        for (int k = 0; k < n; k++) {
            sum += (double)y[k * step];
            squares += (double)y[k * step] * (double)y[k * step];
        }
        assert_true(fabs(sum / n) < 1e-4);
        assert_true(fabs(squares / n - 1) < 1e-4);
    }
    tw_arena_free(arena);
}

static void equal_elements(void **unused)
{
    (void)unused;
    tw_arena *arena = tw_arena_new();
    tw_graph *graph = tw_graph_new(arena, "g");
    static const float zeros[9], same[9] = {3, 3, 3, 3, 3, 3, 3, 3, 3};
    int32_t dim[] = {9};
    for (int m = 2; m < MEMBERS; m++) {
        tw_value *x = tw_graph_constant(graph, "x", tw_shape_of(TW_F32, 1, dim),
                                        m == 2 ? (const void *)same : zeros);
        const float *y = tw_operate_whole(tw_operate_node(graph, members[m], &x, 1, NULL), arena);
        for (int i = 0; i < 9; i++)
            assert_true(y[i] == 0.0f);
    }
    tw_arena_free(arena);
}

static void refusals(void **unused)
{
    (void)unused;
    tw_arena *arena = tw_arena_new();
    tw_graph *graph = tw_graph_new(arena, "g");
    tw_diag diag = {0};
    tw_value *x = tw_graph_input(graph, "x", tw_shape_of(TW_F32, 3, (int32_t[]){1, 4, 6}));
    tw_value *five = tw_graph_input(graph, "s", tw_shape_of(TW_F32, 1, (int32_t[]){5}));
    tw_value *deep = tw_graph_input(graph, "d", tw_shape_of(TW_F32, 4, (int32_t[]){1, 1, 4, 6}));
    tw_value *whole = tw_graph_input(graph, "w", tw_shape_of(TW_S32, 1, (int32_t[]){6}));
    tw_value *others[] = {five, deep, whole};
    const tw_opdef *op = tw_op_by_name("Normalize");
    for (int i = 0; i < 3; i++) {
        tw_value *in[] = {x, others[i]};
        assert_null(tw_graph_node(graph, op, "n", in, 2, 1, NULL, NULL, &diag));
        assert_int_equal(diag.code, i < 2 ? TW_CODE_FAILED : TW_CODE_UNSUPPORTED);
        diag = (tw_diag){0};
    }
    assert_null(tw_graph_node(graph, op, "n", &whole, 1, 1, NULL, NULL, &diag));
    diag = (tw_diag){0};
    tw_norm_attributes beyond = {{1, {3}}, 0}, twice = {{2, {1, -2}}, 0};
    assert_null(tw_graph_node(graph, op, "n", &x, 1, 1, NULL, &beyond, &diag));
    diag = (tw_diag){0};
    assert_null(tw_graph_node(graph, op, "n", &x, 1, 1, NULL, &twice, &diag));
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas),      cmocka_unit_test(stored),
        cmocka_unit_test(far_from_zero), cmocka_unit_test(equal_elements),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
