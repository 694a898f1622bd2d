/* Quantize, Dequantize, Requantize and Cast: values worked out in double or by the C compiler's own
 * conversions; bands equal whole. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/half.h"
#include "ops/cast.h"
#include "ops/quantize.h"
#include "support/operate.h"

static const tw_dtype quantised[] = {TW_S8, TW_U8, TW_S16, TW_U16, TW_S32};

typedef struct tw_case {
    tw_arena *arena;
    tw_graph *graph;
    uint64_t seed;
    int rank;
    int32_t dim[TW_MAX_RANK];
} tw_case;

static void open_case(tw_case *c, uint64_t seed)
{
    c->seed = seed;
    c->arena = tw_arena_new();
    c->graph = tw_graph_new(c->arena, "case");
    c->rank = tw_operate_range(&c->seed, 1, TW_MAX_RANK);
    int ones = tw_operate_range(&c->seed, 0, 1) ? tw_operate_range(&c->seed, 0, c->rank - 1) : 0;
    for (int k = 0; k < c->rank; k++)
        c->dim[k] = k < ones ? 1 : tw_operate_range(&c->seed, 1, c->rank > 4 ? 4 : 9);
}

static void limits(tw_dtype dtype, double *low, double *high)
{
    double top = ldexp(1, 8 * (int)tw_dtype_bytes(dtype));
    bool is_signed = dtype == TW_S8 || dtype == TW_S16 || dtype == TW_S32;
    *low = is_signed ? -top / 2 : 0;
    *high = is_signed ? top / 2 - 1 : top - 1;
}

/* One scale, or one an index of a random axis. */
static tw_quant random_quant(tw_case *c, tw_dtype dtype, int axis)
{
    int n = axis < 0 ? 1 : c->dim[axis];
    float *scale = tw_alloc_array(c->arena, (size_t)n, sizeof *scale);
    int32_t *zero = tw_alloc_array(c->arena, (size_t)n, sizeof *zero);
    for (int i = 0; i < n; i++) {
        double low, high;
        limits(dtype, &low, &high);
        scale[i] = 0.004f * (float)tw_operate_range(&c->seed, 1, 20);
        zero[i] = dtype == TW_S32 ? 0 : tw_operate_range(&c->seed, (int32_t)low, (int32_t)high);
    }
    return (tw_quant){n, axis < 0 ? 0 : axis, scale, zero};
}

/* Index of element i on the quantisation's axis; 0 for one scale. */
static int64_t channel(const tw_value *v, const tw_quant *q, int64_t i)
{
    for (int k = v->shape.rank - 1; q->count > 1 && k > q->axis; k--)
        i /= v->shape.dim[k];
    return q->count > 1 ? i % v->shape.dim[q->axis] : 0;
}

static double round_half(double v, bool even)
{
    return even ? nearbyint(v) : round(v);
}

static double within(double v, tw_dtype dtype)
{
    double low, high;
    limits(dtype, &low, &high);
    return v < low ? low : v > high ? high : v;
}

static void quantize(void **unused)
{
    (void)unused;
    int banded = 0;
    for (uint64_t n = 0; n < 200; n++) {
        tw_case c;
        open_case(&c, n);
        tw_quantize_attributes a = {(int32_t)quantised[n % 5], (int32_t)(n / 5 % 2)};
        tw_value *x = tw_operate_value(c.graph, TW_F32, c.rank, c.dim, &c.seed);
        float *data = (float *)(uintptr_t)x->data;
        int64_t count = tw_shape_elements(&x->shape);
        tw_quant q = random_quant(
            &c, (tw_dtype)a.dtype,
            tw_operate_range(&c.seed, 0, 1) ? tw_operate_range(&c.seed, 0, c.rank - 1) : -1);
        for (int64_t i = 0; i < count; i += 2) /* halves, so that rounding shows */
            data[i] = ((float)tw_operate_range(&c.seed, -300, 300) + 0.5f) * 0.5f;
        if (n % 2)
            for (int i = 0; i < q.count; i++)
                *(float *)(uintptr_t)&q.scale[i] = 0.5f;
        tw_node *node = tw_operate_node(c.graph, "Quantize", &x, 1, &a);
        node->out[0]->quant = q;
        tw_operate_whole(node, c.arena);
        banded += tw_operate_bands(node, &c.seed);
        for (int64_t i = 0; i < count; i++) {
            int64_t k = channel(x, &q, i);
            double want =
                round_half((double)(data[i] / q.scale[k]), a.rounding == TW_ROUND_HALF_EVEN);
            assert_true(tw_constant_at(node->out[0], i) ==
                        within(want + q.zero_point[k], (tw_dtype)a.dtype));
        }
        tw_arena_free(c.arena);
    }
    assert_true(banded > 150);
}

static void quantize_specials(void **unused)
{
    (void)unused;
    tw_arena *arena = tw_arena_new();
    tw_graph *g = tw_graph_new(arena, "g");
    const int32_t dim[] = {6};
    static const float data[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e-40f};
    static const int8_t want8[] = {-3, 127, -128, 127, -128, -3};
    static const int32_t want32[] = {0, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 0};
    tw_value *x = tw_graph_constant(g, "x", tw_shape_of(TW_F32, 1, dim), data);
    tw_node *node = tw_operate_node(g, "Quantize", &x, 1, NULL);
    node->out[0]->quant = tw_quant_per_tensor(arena, 0.25f, -3);
    assert_memory_equal(tw_operate_whole(node, arena), want8, sizeof want8);
    node->clamp = (tw_clamp){0, 2}; /* a fused activation */
    static const int8_t bounded[] = {-3, 5, -3, 5, -3, -3};
    assert_memory_equal(tw_operate_whole(node, arena), bounded, sizeof bounded);
    node = tw_operate_node(g, "Quantize", &x, 1, &(tw_quantize_attributes){TW_S32, 0});
    node->out[0]->quant = tw_quant_per_tensor(arena, 0.25f, 0);
    assert_memory_equal(tw_operate_whole(node, arena), want32, sizeof want32);
    tw_arena_free(arena);
}

static void dequantize(void **unused)
{
    (void)unused;
    int banded = 0;
    for (uint64_t n = 0; n < 100; n++) {
        tw_case c;
        open_case(&c, n);
        tw_dtype dtype = quantised[n % 5];
        tw_value *x = tw_operate_value(c.graph, dtype, c.rank, c.dim, &c.seed);
        x->quant = random_quant(
            &c, dtype,
            tw_operate_range(&c.seed, 0, 1) ? tw_operate_range(&c.seed, 0, c.rank - 1) : -1);
        tw_node *node = tw_operate_node(c.graph, "Dequantize", &x, 1, NULL);
        const float *got = tw_operate_whole(node, c.arena);
        banded += tw_operate_bands(node, &c.seed);
        for (int64_t i = 0; i < tw_shape_elements(&x->shape); i++) {
            int64_t k = channel(x, &x->quant, i);
            float centred = (float)(tw_constant_at(x, i) - x->quant.zero_point[k]);
            assert_true(got[i] == centred * x->quant.scale[k]);
        }
        tw_arena_free(c.arena);
    }
    assert_true(banded > 70);
}

/* TFLite's double rounding, in wide integers. */
static int64_t tflite_scale(int64_t x, double ratio)
{
    int shift;
    int64_t m = llround(frexp(ratio, &shift) * 2147483648.0);
    int left = shift > 0 ? shift : 0, right = shift > 0 ? 0 : -shift;
    int64_t p = x * (INT64_C(1) << left) * m;
    int64_t high = (p + (p >= 0 ? INT64_C(1) << 30 : 1 - (INT64_C(1) << 30))) / (INT64_C(1) << 31);
    int64_t half = right ? INT64_C(1) << (right - 1) : 0;
    return high >= 0 ? (high + half) >> right : -((-high + half) >> right);
}

static void requantize(void **unused)
{
    (void)unused;
    int banded = 0, checked = 0;
    for (uint64_t n = 0; n < 300; n++) {
        tw_case c;
        open_case(&c, n);
        tw_dtype from = quantised[n % 5];
        tw_requantize_attributes a = {(int32_t)quantised[n / 5 % 5], (int32_t)(n / 25 % 3)};
        tw_value *x = tw_operate_value(c.graph, from, c.rank, c.dim, &c.seed);
        int axis = tw_operate_range(&c.seed, 0, c.rank - 1);
        x->quant = random_quant(&c, from, n % 4 == 0 ? axis : -1);
        tw_node *node = tw_operate_node(c.graph, "Requantize", &x, 1, &a);
        node->out[0]->quant = random_quant(&c, (tw_dtype)a.dtype, n % 4 < 2 ? axis : -1);
        if (n % 7 == 0)
            node->out[0]->quant.scale = x->quant.count >= node->out[0]->quant.count
                                            ? x->quant.scale
                                            : node->out[0]->quant.scale;
        tw_lowering l = {0};
        tw_diag diag = {0};
        bool fits = node->op->lower(node, c.arena, &l, &diag);
        if (!fits) {
            assert_int_equal(from, TW_S32);
            assert_int_equal(a.rounding, TW_REQUANTIZE_TFLITE);
            tw_arena_free(c.arena);
            continue;
        }
        tw_operate_whole(node, c.arena);
        banded += tw_operate_bands(node, &c.seed);
        const tw_quant *qi = &x->quant, *qo = &node->out[0]->quant;
        for (int64_t i = 0; i < tw_shape_elements(&x->shape); i++) {
            int64_t ki = channel(x, qi, i), ko = channel(x, qo, i);
            double centred = tw_constant_at(x, i) - qi->zero_point[ki], want;
            if (qi->scale[ki] == qo->scale[ko])
                want = centred;
            else if (a.rounding == TW_REQUANTIZE_TFLITE)
                want = (double)tflite_scale((int64_t)centred,
                                            (double)qi->scale[ki] / (double)qo->scale[ko]);
            else
                want = round_half((double)((float)centred * qi->scale[ki] / qo->scale[ko]),
                                  a.rounding == TW_REQUANTIZE_HALF_EVEN);
            assert_true(tw_constant_at(node->out[0], i) ==
                        within(within(want, TW_S32) + qo->zero_point[ko], (tw_dtype)a.dtype));
            checked++;
        }
        tw_arena_free(c.arena);
    }
    assert_true(banded > 150 && checked > 3000);
}

/* ---- Cast ---- */

static const double reals[] = {0.0,          -0.0,         0.5,
                               -0.5,         0.99,         1,
                               -1,           1.5,          2.5,
                               -2.5,         127,          128,
                               129,          -128,         -129,
                               255,          256,          300.7,
                               -300.7,       32767,        32768,
                               65535,        65536,        16777217,
                               2147483647.0, 2147483648.0, -2147483649.0,
                               4294967295.0, 4294967296.0, 9007199254740993.0,
                               9.3e18,       -9.3e18,      1.9e19,
                               3e38,         1e-40,        1e-45,
                               1e-8,         6e-8,         65504,
                               65519,        65520,        1e300,
                               -1e300,       5e-324,       3.4028235677973366e38,
                               INFINITY,     -INFINITY,    NAN};
enum { REALS = sizeof reals / sizeof *reals };

static void store_real(tw_dtype dtype, void *at, double v)
{
    float f = (float)v;
    uint16_t h = dtype == TW_F16 ? tw_half_from_double(v) : tw_bfloat_from_double(v);
    memcpy(at,
           dtype == TW_F64   ? (void *)&v
           : dtype == TW_F32 ? (void *)&f
                             : (void *)&h,
           tw_dtype_bytes(dtype));
}

static bool is_float(tw_dtype dtype)
{
    return dtype == TW_F32 || dtype == TW_F16 || dtype == TW_BF16 || dtype == TW_F64;
}

/* The integer that a real becomes: cut off and held within the type. */
static uint64_t integer_of(double v, tw_dtype dtype)
{
    int bits = 8 * (int)tw_dtype_bytes(dtype);
    bool is_signed = dtype == TW_S8 || dtype == TW_S16 || dtype == TW_S32 || dtype == TW_S64;
    double top = ldexp(1, bits - is_signed);
    if (isnan(v))
        return 0;
    if (v >= top)
        return UINT64_MAX >> (64 - bits + is_signed);
    if (v < 0)
        return is_signed ? (uint64_t)(v <= -top ? (int64_t)-top : (int64_t)v) : 0;
    return (uint64_t)v;
}

static const tw_dtype every[] = {TW_F32, TW_S8,  TW_U8,   TW_S16, TW_U16,  TW_S32, TW_U32,
                                 TW_S64, TW_U64, TW_BOOL, TW_F16, TW_BF16, TW_F64};

static void cast_floats(void **unused)
{
    (void)unused;
    const int32_t dim[] = {REALS};
    for (int from = 0; from < 13; from++) {
        if (!is_float(every[from]))
            continue;
        for (int to = 0; to < 13; to++) {
            tw_arena *arena = tw_arena_new();
            tw_graph *g = tw_graph_new(arena, "g");
            uint32_t each = tw_dtype_bytes(every[from]), bytes = tw_dtype_bytes(every[to]);
            char *data = tw_alloc(arena, REALS * 8);
            for (int i = 0; i < REALS; i++)
                store_real(every[from], data + (size_t)i * each, reals[i]);
            tw_value *x = tw_graph_constant(g, "x", tw_shape_of(every[from], 1, dim), data);
            tw_node *node =
                tw_operate_node(g, "Cast", &x, 1, &(tw_cast_attributes){(int32_t)every[to]});
            const char *got = tw_operate_whole(node, arena);
            for (int i = 0; i < REALS; i++) {
                double v = tw_constant_at(x, i); /* as the source type holds it */
                uint64_t want = 0, have = 0;
                memcpy(&have, got + (size_t)i * bytes, bytes);
                if (every[to] == TW_BOOL) {
                    want = v != 0 || isnan(v);
                } else if (is_float(every[to])) {
                    if (isnan(v)) {
                        assert_true(isnan(tw_constant_at(node->out[0], i)));
                        continue;
                    }
                    store_real(every[to], &want, v);
                } else {
                    want = integer_of(v, every[to]) & (UINT64_MAX >> (64 - 8 * bytes));
                }
                if (want != have)
                    fail_msg("%s %g to %s: %llx instead of %llx", tw_dtype_name(every[from]), v,
                             tw_dtype_name(every[to]), (unsigned long long)have,
                             (unsigned long long)want);
            }
            tw_arena_free(arena);
        }
    }
}

/* Sign-extended, or not. */
static uint64_t integer_at(const tw_value *v, int64_t i)
{
    const void *d = v->data;
    switch (v->shape.dtype) {
    case TW_S8: return (uint64_t)((const int8_t *)d)[i];
    case TW_U8: return ((const uint8_t *)d)[i];
    case TW_BOOL: return ((const uint8_t *)d)[i];
    case TW_S16: return (uint64_t)((const int16_t *)d)[i];
    case TW_U16: return ((const uint16_t *)d)[i];
    case TW_S32: return (uint64_t)((const int32_t *)d)[i];
    case TW_U32: return ((const uint32_t *)d)[i];
    default: return ((const uint64_t *)d)[i];
    }
}

static void cast_integers(void **unused)
{
    (void)unused;
    int banded = 0;
    for (uint64_t n = 0; n < 13 * 13; n++) {
        tw_dtype from = every[n / 13], to = every[n % 13];
        tw_case c;
        if (is_float(from))
            continue;
        open_case(&c, n);
        tw_value *x = tw_operate_value(c.graph, from, c.rank, c.dim, &c.seed);
        tw_node *node = tw_operate_node(c.graph, "Cast", &x, 1, &(tw_cast_attributes){(int32_t)to});
        const char *got = tw_operate_whole(node, c.arena);
        banded += tw_operate_bands(node, &c.seed);
        for (int64_t i = 0; i < tw_shape_elements(&x->shape); i++) {
            uint64_t v = integer_at(x, i), have = 0, want = v;
            uint32_t bytes = tw_dtype_bytes(to);
            bool is_signed = from == TW_S8 || from == TW_S16 || from == TW_S32 || from == TW_S64;
            memcpy(&have, got + (size_t)i * bytes, bytes);
            if (to == TW_BOOL) {
                want = v != 0;
            } else if (to == TW_F32) { /* the compiler's own rounding, once */
                float f = is_signed ? (float)(int64_t)v : (float)v;
                memcpy(&want, &f, 8 > sizeof f ? sizeof f : 8);
                want &= UINT32_MAX;
            } else if (to == TW_F64) {
                double d = is_signed ? (double)(int64_t)v : (double)v;
                memcpy(&want, &d, 8);
            } else if (is_float(to)) {
                if (tw_dtype_bytes(from) == 8)
                    continue; /* a double holds the others exactly */
                want = 0;
                store_real(to, &want, is_signed ? (double)(int64_t)v : (double)v);
            } else {
                want &= UINT64_MAX >> (64 - 8 * bytes);
            }
            if (want != have)
                fail_msg("%s %llx to %s: %llx instead of %llx", tw_dtype_name(from),
                         (unsigned long long)v, tw_dtype_name(to), (unsigned long long)have,
                         (unsigned long long)want);
        }
        tw_arena_free(c.arena);
    }
    assert_true(banded > 100);
}

static void refuse(tw_graph *graph, const char *op, tw_value *x, const void *attributes,
                   const char *words)
{
    tw_diag diag = {0};
    tw_lowering l = {0};
    tw_node *node = tw_graph_node(graph, tw_op_by_name(op), "n", &x, 1, 1, NULL, attributes, &diag);
    if (node)
        assert_false(node->op->lower(node, graph->arena, &l, &diag));
    assert_int_not_equal(diag.code, TW_CODE_OK);
    if (!strstr(diag.message, words))
        fail_msg("\"%s\" does not say \"%s\"", diag.message, words);
}

static void refusals(void **unused)
{
    (void)unused;
    tw_arena *arena = tw_arena_new();
    tw_graph *g = tw_graph_new(arena, "g");
    uint64_t s = 1;
    const int32_t dim[] = {2, 3};
    tw_value *f = tw_operate_value(g, TW_F32, 2, dim, &s),
             *q = tw_operate_value(g, TW_S8, 2, dim, &s);
    tw_value *w = tw_operate_value(g, TW_S32, 2, dim, &s);
    refuse(g, "Quantize", f, NULL, "no scale");
    refuse(g, "Quantize", f, &(tw_quantize_attributes){TW_F16, 0}, "s8, u8, s16, u16 and s32");
    refuse(g, "Quantize", f, &(tw_quantize_attributes){99, 0}, "dtype is 99");
    refuse(g, "Quantize", q, NULL, "convert it to f32");
    refuse(g, "Dequantize", q, NULL, "no scale");
    refuse(g, "Dequantize", f, NULL, "x is f32");
    q->quant = tw_quant_per_tensor(arena, 1, 200);
    refuse(g, "Dequantize", q, NULL, "zero point 200");
    w->quant = tw_quant_per_tensor(arena, 1, 5);
    refuse(g, "Dequantize", w, NULL, "zero point 5");
    refuse(g, "Requantize", f, NULL, "f32 to s8");
    q->quant = tw_quant_per_tensor(arena, 1, 0);
    refuse(g, "Requantize", q, NULL, "the result has no scale");
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantize),    cmocka_unit_test(quantize_specials),
        cmocka_unit_test(dequantize),  cmocka_unit_test(requantize),
        cmocka_unit_test(cast_floats), cmocka_unit_test(cast_integers),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
