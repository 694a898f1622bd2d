/* Reductions against loops over every index in row-major order, int8 against TFLite's formulas
 * written down again; bands equal whole. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ops/reduce.h"
#include "support/operate.h"

typedef struct tw_case {
    tw_arena *arena;
    tw_graph *graph;
    uint64_t seed;
    tw_value *x;
    tw_reduce_attributes a;
    int mask;
} tw_case;

static void open_case(tw_case *c, uint64_t seed, tw_dtype dtype)
{
    int32_t dim[TW_MAX_RANK];
    c->seed = seed;
    c->arena = tw_arena_new();
    c->graph = tw_graph_new(c->arena, "case");
    int rank = tw_operate_range(&c->seed, 1, TW_MAX_RANK);
    int ones = tw_operate_range(&c->seed, 0, 1) ? tw_operate_range(&c->seed, 0, rank - 1) : 0;
    for (int k = 0; k < rank; k++)
        dim[k] = k < ones ? 1 : tw_operate_range(&c->seed, 1, rank > 4 ? 4 : 7);
    c->x = tw_operate_value(c->graph, dtype, rank, dim, &c->seed);
    c->mask = tw_operate_range(&c->seed, 0, (1 << rank) - 1);
    memset(&c->a, 0, sizeof c->a);
    for (int k = rank - 1; k >= 0; k--)
        if (c->mask >> k & 1)
            c->a.axes.v[c->a.axes.count++] = tw_operate_range(&c->seed, 0, 1) ? k : k - rank;
    if (c->mask == 0)
        c->mask = (1 << rank) - 1;
    c->a.keepdims = tw_operate_range(&c->seed, 0, 1);
}

/* Call visit(user, o, i) for every input element i in row-major order; o: its result's index. */
static void visit_all(const tw_case *c, void (*visit)(void *user, int64_t o, int64_t i), void *user)
{
    const tw_shape *s = &c->x->shape;
    int64_t n = tw_shape_elements(s);
    for (int64_t i = 0; i < n; i++) {
        int64_t o = 0, rest = i, index[TW_MAX_RANK];
        for (int k = s->rank - 1; k >= 0; k--) {
            index[k] = rest % s->dim[k];
            rest /= s->dim[k];
        }
        for (int k = 0; k < s->rank; k++)
            if (!(c->mask >> k & 1))
                o = o * s->dim[k] + index[k];
        visit(user, o, i);
    }
}

enum { MOST = 7 * 7 * 7 * 7 };

typedef struct tw_sums {
    const void *x;
    float f32[MOST];
    int32_t s32[MOST];
    int64_t s64[MOST];
    double f64[MOST];
    bool seen[MOST];
    int32_t n[MOST];
} tw_sums;
static tw_sums sums;

static void restart(const void *x)
{
    memset(&sums, 0, sizeof sums);
    sums.x = x;
}

static void add_f32(void *user, int64_t o, int64_t i)
{
    (void)user;
    sums.f32[o] += ((const float *)sums.x)[i];
    sums.n[o]++;
}

static tw_node *run(tw_case *c, const char *op, const void *attributes, int *banded)
{
    tw_node *node = tw_operate_node(c->graph, op, &c->x, 1, attributes);
    tw_operate_whole(node, c->arena);
    *banded += tw_operate_bands(node, &c->seed);
    return node;
}

static void sum_and_mean_f32(void **unused)
{
    (void)unused;
    int banded = 0;
    for (uint64_t n = 0; n < 150; n++) {
        tw_case c;
        open_case(&c, n, TW_F32);
        restart(c.x->data);
        visit_all(&c, add_f32, NULL);
        tw_reduce_mean_attributes m = {.axes = c.a.axes, .keepdims = c.a.keepdims};
        tw_node *sum = run(&c, "ReduceSum", &c.a, &banded);
        tw_node *mean = run(&c, "ReduceMean", &m, &banded);
        int64_t results = tw_shape_elements(&sum->out[0]->shape);
        assert_int_equal(sum->out[0]->shape.rank,
                         c.a.keepdims ? c.x->shape.rank
                                      : c.x->shape.rank - __builtin_popcount((unsigned)c.mask));
        assert_memory_equal(sum->out[0]->data, sums.f32, (size_t)results * 4);
        for (int64_t o = 0; o < results; o++)
            assert_true(((const float *)mean->out[0]->data)[o] == sums.f32[o] / (float)sums.n[o]);
        tw_arena_free(c.arena);
    }
    assert_true(banded > 150);
}

/* The other float members, in double, within a tolerance. */
static int member;

static void fold_f64(void *user, int64_t o, int64_t i)
{
    double x = (double)((const float *)sums.x)[i], *a = &sums.f64[o];
    (void)user;
    switch (member) {
    case 0: *a = sums.seen[o] ? fmax(*a, x) : x; break;
    case 1: *a = sums.seen[o] ? fmin(*a, x) : x; break;
    case 2: *a = sums.seen[o] ? *a * x : x; break;
    case 3: *a += fabs(x); break;
    case 4:
    case 7: *a += x * x; break;
    case 5: *a += x; break;
    default: *a += exp(x); break;
    }
    sums.seen[o] = true;
}

static void others_f32(void **unused)
{
    static const char *const names[] = {"ReduceMax",       "ReduceMin",      "ReduceProd",
                                        "ReduceL1",        "ReduceL2",       "ReduceLogSum",
                                        "ReduceLogSumExp", "ReduceSumSquare"};
    (void)unused;
    int banded = 0;
    for (uint64_t n = 0; n < 320; n++) {
        tw_case c;
        member = (int)(n % 8);
        open_case(&c, n, TW_F32);
        if (member == 5) /* sums of positive numbers, away from 0 */
            for (int64_t i = 0; i < tw_shape_elements(&c.x->shape); i++)
                ((float *)(uintptr_t)c.x->data)[i] += 3.5f;
        restart(c.x->data);
        visit_all(&c, fold_f64, NULL);
        tw_node *node = run(&c, names[member], &c.a, &banded);
        for (int64_t o = 0; o < tw_shape_elements(&node->out[0]->shape); o++) {
            double want = sums.f64[o], got = (double)((const float *)node->out[0]->data)[o];
            want = member == 4 ? sqrt(want) : member == 5 || member == 6 ? log(want) : want;
            if (!(fabs(got - want) <= 1e-6 + 1e-5 * fabs(want)))
                fail_msg("%s: %g instead of %g", names[member], got, want);
        }
        tw_arena_free(c.arena);
    }
    assert_true(banded > 150);
}

static void special_floats(void **unused)
{
    (void)unused;
    tw_arena *arena = tw_arena_new();
    tw_graph *g = tw_graph_new(arena, "g");
    const int32_t dim[] = {3, 3};
    static const float data[] = {-INFINITY, -INFINITY, -INFINITY, 1, INFINITY,
                                 INFINITY,  200,       NAN,       1};
    tw_value *x = tw_graph_constant(g, "x", tw_shape_of(TW_F32, 2, dim), data);
    tw_reduce_attributes a = {{1, {1}}, 1};
    const float *lse = tw_operate_whole(tw_operate_node(g, "ReduceLogSumExp", &x, 1, &a), arena);
    assert_true(lse[0] == -INFINITY && lse[1] == INFINITY && isnan(lse[2]));
    const float *max = tw_operate_whole(tw_operate_node(g, "ReduceMax", &x, 1, &a), arena);
    assert_true(max[0] == -INFINITY && max[1] == INFINITY && isnan(max[2]));
    /* Of nothing. */
    const int32_t none[] = {2, 0};
    tw_value *e = tw_graph_constant(g, "e", tw_shape_of(TW_F32, 2, none), data);
    static const char *const names[] = {"ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin",
                                        "ReduceLogSumExp"};
    const float want[] = {0, 1, -INFINITY, INFINITY, -INFINITY};
    for (int i = 0; i < 5; i++) {
        const float *got = tw_operate_whole(tw_operate_node(g, names[i], &e, 1, &a), arena);
        assert_true(got[0] == want[i] && got[1] == want[i]);
    }
    const float *mean = tw_operate_whole(
        tw_operate_node(g, "ReduceMean", &e, 1, &(tw_reduce_mean_attributes){.axes = {1, {1}}}),
        arena);
    assert_true(isnan(mean[0]));
    tw_arena_free(arena);
}

/* ---- integers ---- */

static int64_t element(const tw_value *x, int64_t i)
{
    switch (x->shape.dtype) {
    case TW_S8: return ((const int8_t *)x->data)[i];
    case TW_U8: return ((const uint8_t *)x->data)[i];
    case TW_S32: return ((const int32_t *)x->data)[i];
    default: return ((const int64_t *)x->data)[i];
    }
}

static const tw_value *fold_value;

static void fold_integer(void *user, int64_t o, int64_t i)
{
    int64_t x = element(fold_value, i), *a = &sums.s64[o];
    uint64_t ux = (uint64_t)x, ua = (uint64_t)*a;
    (void)user;
    switch (member) {
    case 0: *a = !sums.seen[o] || x > *a ? x : *a; break;
    case 1: *a = !sums.seen[o] || x < *a ? x : *a; break;
    case 2: *a = sums.seen[o] ? (int64_t)(ua * ux) : x; break;
    case 3: *a = (int64_t)(ua + (x < 0 ? 0 - ux : ux)); break;
    case 4: *a = (int64_t)(ua + ux * ux); break;
    default: *a = (int64_t)(ua + ux); break;
    }
    sums.seen[o] = true;
    sums.n[o]++;
}

/* Sums wrap around, as the type does. */
static void integers(void **unused)
{
    static const char *const names[] = {"ReduceMax",       "ReduceMin", "ReduceProd", "ReduceL1",
                                        "ReduceSumSquare", "ReduceSum", "ReduceMean"};
    static const tw_dtype types[] = {TW_S32, TW_S64, TW_U8, TW_S8};
    (void)unused;
    int banded = 0;
    for (uint64_t n = 0; n < 280; n++) {
        tw_case c;
        member = (int)(n % 7);
        tw_dtype dtype = types[n / 7 % (member < 2 ? 4 : 2)];
        open_case(&c, n, dtype);
        restart(c.x->data);
        fold_value = c.x;
        visit_all(&c, fold_integer, NULL);
        tw_reduce_mean_attributes m = {.axes = c.a.axes, .keepdims = c.a.keepdims};
        tw_node *node = run(&c, names[member], member == 6 ? (void *)&m : (void *)&c.a, &banded);
        for (int64_t o = 0; o < tw_shape_elements(&node->out[0]->shape); o++) {
            int64_t want = sums.s64[o];
            if (member == 6) /* its sum does not wrap around */
                want /= sums.n[o];
            if (dtype == TW_S32)
                want = (int32_t)want;
            assert_int_equal(element(node->out[0], o), want);
        }
        tw_arena_free(c.arena);
    }
    assert_true(banded > 100);
}

static void all_and_any(void **unused)
{
    (void)unused;
    int banded = 0;
    for (uint64_t n = 0; n < 60; n++) {
        tw_case c;
        open_case(&c, n, TW_BOOL);
        const uint8_t *x = c.x->data;
        tw_node *all = run(&c, "ReduceAll", &c.a, &banded),
                *any = run(&c, "ReduceAny", &c.a, &banded);
        restart(x);
        for (int64_t i = 0; i < tw_shape_elements(&all->out[0]->shape); i++)
            sums.s32[i] = 1;
        const tw_shape *s = &c.x->shape;
        for (int64_t i = 0; i < tw_shape_elements(s); i++) {
            int64_t o = 0, place = tw_shape_elements(s);
            for (int k = 0; k < s->rank; k++) {
                place /= s->dim[k];
                if (!(c.mask >> k & 1))
                    o = o * s->dim[k] + i / place % s->dim[k];
            }
            sums.s32[o] = sums.s32[o] && x[i];
            sums.n[o] = sums.n[o] || x[i];
        }
        for (int64_t o = 0; o < tw_shape_elements(&all->out[0]->shape); o++) {
            assert_int_equal(((const uint8_t *)all->out[0]->data)[o], sums.s32[o]);
            assert_int_equal(((const uint8_t *)any->out[0]->data)[o], sums.n[o]);
        }
        tw_arena_free(c.arena);
    }
    assert_true(banded > 50);
}

/* ---- int8: TFLite's arithmetic, written down from its definition ---- */

/* round(a * b / 2^31), halves up in magnitude as the reference's nudge does. */
static int32_t high_mul(int32_t a, int32_t b)
{
    int64_t p = (int64_t)a * b;
    int64_t nudge = p >= 0 ? ((int64_t)1 << 30) : 1 - ((int64_t)1 << 30);
    return (int32_t)((p + nudge) / ((int64_t)1 << 31));
}

static int32_t rounding_right(int32_t x, int n)
{
    if (n == 0)
        return x;
    int64_t half = (int64_t)1 << (n - 1), v = x;
    return (int32_t)(v >= 0 ? (v + half) >> n : -((-v + half) >> n)); /* halves away from zero */
}

static int32_t by_multiplier(int32_t x, int32_t m, int shift)
{
    return rounding_right(high_mul((int32_t)(x * ((int64_t)1 << (shift > 0 ? shift : 0))), m),
                          shift > 0 ? 0 : -shift);
}

static void to_multiplier(double real, int32_t *m, int *shift)
{
    *m = (int32_t)llround(frexp(real, shift) * 2147483648.0);
}

static int32_t saturate(int64_t v)
{
    return (int32_t)(v < -128 ? -128 : v > 127 ? 127 : v);
}

static int32_t tflite_sum(int32_t sum, int32_t n, double ratio, int32_t zi, int32_t zo, bool mean)
{
    int32_t m;
    int shift;
    to_multiplier(ratio, &m, &shift);
    if (mean) {
        int bits = 63 - __builtin_clzll((unsigned long long)n);
        bits = bits > 32 ? 32 : bits;
        bits = bits > 31 + shift ? 31 + shift : bits;
        m = (int32_t)(((int64_t)m << bits) / n);
        shift -= bits;
    }
    return saturate((int64_t)by_multiplier(sum - zi * n, m, shift) + zo);
}

/* Nearest integer of num/den, den > 0. */
static int64_t nearest(int64_t num, int64_t den, bool even)
{
    int64_t q = num / den, rest = num % den < 0 ? -(num % den) : num % den;
    if (2 * rest > den || (2 * rest == den && (!even || q % 2 != 0)))
        q += num < 0 ? -1 : 1;
    return q;
}

static void sum_and_mean_s8(void **unused)
{
    (void)unused;
    int banded = 0, moved = 0;
    for (uint64_t n = 0; n < 400; n++) {
        tw_case c;
        open_case(&c, n, TW_S8);
        member = 5;
        restart(c.x->data);
        fold_value = c.x;
        visit_all(&c, fold_integer, NULL);
        float si = 0.02f + (float)tw_operate_range(&c.seed, 0, 100) * 0.003f;
        float so = n % 3 == 0 ? si : 0.02f + (float)tw_operate_range(&c.seed, 0, 100) * 0.003f;
        int32_t zi = tw_operate_range(&c.seed, -128, 127);
        int32_t zo = n % 6 == 0 ? zi : tw_operate_range(&c.seed, -128, 127);
        tw_reduce_mean_attributes m = {c.a.axes, c.a.keepdims, (int32_t)(n % 4 ? n % 4 - 1 : 0)};
        bool mean = n % 4 != 0;
        c.x->quant = tw_quant_per_tensor(c.arena, si, zi);
        tw_node *node = tw_operate_node(c.graph, mean ? "ReduceMean" : "ReduceSum", &c.x, 1,
                                        mean ? (void *)&m : (void *)&c.a);
        node->out[0]->quant = tw_quant_per_tensor(c.arena, so, zo);
        const int8_t *got = tw_operate_whole(node, c.arena);
        banded += tw_operate_bands(node, &c.seed);
        double ratio = (double)si / (double)so;
        for (int64_t o = 0; o < tw_shape_elements(&node->out[0]->shape); o++) {
            int32_t sum = (int32_t)sums.s64[o], count = sums.n[o];
            if (!mean || m.rounding == TW_MEAN_TFLITE) {
                assert_int_equal(got[o], tflite_sum(sum, count, ratio, zi, zo, mean));
            } else if (si == so && zi == zo) {
                assert_int_equal(got[o], nearest(sum, count, m.rounding == TW_MEAN_HALF_EVEN));
            } else { /* one rounding of the exact quotient, up to the multiplier's own error */
                double exact = (double)(sum - count * zi) * ratio / count + zo;
                if (exact >= -128 && exact <= 127)
                    assert_true(fabs(got[o] - exact) <= 0.5 + 1e-6);
            }
            moved += got[o] != -128 && got[o] != 127;
        }
        tw_arena_free(c.arena);
    }
    assert_true(banded > 200);
    assert_true(moved > 1000); /* not all saturated */
}

static void max_and_min_s8(void **unused)
{
    (void)unused;
    int banded = 0;
    for (uint64_t n = 0; n < 120; n++) {
        tw_case c;
        open_case(&c, n, TW_S8);
        member = (int)(n % 2);
        restart(c.x->data);
        fold_value = c.x;
        visit_all(&c, fold_integer, NULL);
        float si = 0.1f, so = n % 3 == 0 ? 0.17f : 0.1f;
        int32_t zi = 5, zo = n % 3 == 1 ? -9 : 5;
        c.x->quant = tw_quant_per_tensor(c.arena, si, zi);
        tw_node *node = tw_operate_node(c.graph, member ? "ReduceMin" : "ReduceMax", &c.x, 1, &c.a);
        node->out[0]->quant = tw_quant_per_tensor(c.arena, so, zo);
        const int8_t *got = tw_operate_whole(node, c.arena);
        banded += tw_operate_bands(node, &c.seed);
        for (int64_t o = 0; o < tw_shape_elements(&node->out[0]->shape); o++)
            assert_int_equal(got[o], tflite_sum((int32_t)sums.s64[o], 1, (double)si / (double)so,
                                                zi, zo, false));
        tw_arena_free(c.arena);
    }
    assert_true(banded > 50);
}

/* A fused activation. */
static void clamped(void **unused)
{
    (void)unused;
    tw_arena *arena = tw_arena_new();
    tw_graph *g = tw_graph_new(arena, "g");
    const int32_t dim[] = {2, 2};
    static const float f[] = {1, 2, 30, 40};
    static const int8_t q[] = {10, 10, 100, 120};
    tw_value *x = tw_graph_constant(g, "x", tw_shape_of(TW_F32, 2, dim), f);
    tw_value *y = tw_graph_constant(g, "y", tw_shape_of(TW_S8, 2, dim), q);
    tw_reduce_mean_attributes a = {{1, {1}}, 0, 0};
    tw_node *node = tw_operate_node(g, "ReduceMean", &x, 1, &a);
    node->clamp = (tw_clamp){2, 6};
    const float *got = tw_operate_whole(node, arena);
    assert_true(got[0] == 2 && got[1] == 6);
    y->quant = tw_quant_per_tensor(arena, 0.5f, 0);
    node = tw_operate_node(g, "ReduceMean", &y, 1, &a);
    node->out[0]->quant = y->quant;
    node->clamp = (tw_clamp){6, 20};
    const int8_t *stored = tw_operate_whole(node, arena);
    assert_true(stored[0] == 12 && stored[1] == 40);
    tw_arena_free(arena);
}

/* Where rows of a reduced axis come one after the other, they are taken so. */
static void row_maps(void **unused)
{
    (void)unused;
    tw_arena *arena = tw_arena_new();
    tw_graph *g = tw_graph_new(arena, "g");
    uint64_t s = 1;
    const int32_t image[] = {1, 5, 6, 4}, batch[] = {2, 5, 6, 4};
    tw_value *x = tw_operate_value(g, TW_F32, 4, image, &s),
             *b = tw_operate_value(g, TW_F32, 4, batch, &s);
    tw_reduce_attributes spatial = {{2, {1, 2}}, 1}, channel = {{1, {-1}}, 1},
                         dropped = {{1, {1}}, 0};
    tw_node *node = tw_operate_node(g, "ReduceSum", &x, 1, &spatial);
    assert_int_equal(node->op->rows(node, 0, 1).rows, TW_ROWS_ACCUMULATED);
    assert_int_equal(node->op->rows(node, 0, 2).rows, TW_ROWS_WHOLE);
    assert_int_equal(node->op->rows(node, 0, 0).rows, TW_ROWS_MAPPED);
    node = tw_operate_node(g, "ReduceSum", &b, 1, &spatial);
    assert_int_equal(node->op->rows(node, 0, 1).rows, TW_ROWS_WHOLE);
    node = tw_operate_node(g, "ReduceSum", &x, 1, &channel);
    assert_int_equal(node->op->rows(node, 0, 1).rows, TW_ROWS_MAPPED);
    node = tw_operate_node(g, "ReduceSum", &x, 1, &dropped);
    assert_int_equal(node->op->rows(node, 0, 1).rows, TW_ROWS_ACCUMULATED);
    assert_int_equal(node->op->rows(node, 0, 2).rows, TW_ROWS_WHOLE);
    tw_arena_free(arena);
}

static void refusals(void **unused)
{
    (void)unused;
    tw_arena *arena = tw_arena_new();
    tw_graph *g = tw_graph_new(arena, "g");
    uint64_t s = 1;
    const int32_t dim[] = {2, 3};
    tw_value *x = tw_operate_value(g, TW_F32, 2, dim, &s),
             *h = tw_operate_value(g, TW_F16, 2, dim, &s);
    tw_value *q = tw_operate_value(g, TW_S8, 2, dim, &s);
    const tw_reduce_attributes bad[] = {{{1, {2}}, 1}, {{1, {-3}}, 1}, {{2, {0, -2}}, 1}};
    for (int i = 0; i < 3; i++) {
        tw_diag diag = {0};
        assert_null(
            tw_graph_node(g, tw_op_by_name("ReduceSum"), "n", &x, 1, 1, NULL, &bad[i], &diag));
        assert_int_equal(diag.code, TW_CODE_FAILED);
        assert_non_null(strstr(diag.message, "rank 2, each once"));
    }
    tw_lowering l = {0};
    tw_diag diag = {0};
    tw_node *node = tw_operate_node(g, "ReduceSum", &h, 1, NULL);
    assert_false(node->op->lower(node, arena, &l, &diag));
    assert_int_equal(diag.code, TW_CODE_UNSUPPORTED);
    tw_diag second = {0};
    q->quant = tw_quant_per_tensor(arena, 1, 0);
    node = tw_operate_node(g, "ReduceSum", &q, 1, NULL);
    assert_false(node->op->lower(node, arena, &l, &second));
    assert_non_null(strstr(second.message, "one scale and zero point"));
    tw_diag third = {0};
    node->out[0]->quant = tw_quant_per_tensor(arena, 1e-8f, 0);
    assert_false(node->op->lower(node, arena, &l, &third));
    assert_int_equal(third.code, TW_CODE_UNSUPPORTED);
    assert_non_null(strstr(third.message, "too small"));
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sum_and_mean_f32), cmocka_unit_test(others_f32),
        cmocka_unit_test(special_floats),   cmocka_unit_test(integers),
        cmocka_unit_test(all_and_any),      cmocka_unit_test(sum_and_mean_s8),
        cmocka_unit_test(max_and_min_s8),   cmocka_unit_test(clamped),
        cmocka_unit_test(row_maps),         cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
