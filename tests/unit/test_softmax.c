/* Softmax and LogSoftmax: floats against double precision, int8 against TFLite's reference written
 * down again without a table; bands equal whole. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ops/log_softmax.h"
#include "ops/softmax.h"
#include "support/operate.h"

typedef struct tw_case {
    tw_arena *arena;
    tw_graph *graph;
    uint64_t seed;
    tw_value *x;
    int axis;
    int64_t outer, n, inner; /* around the axis */
} tw_case;

static void open_case(tw_case *c, uint64_t seed, tw_dtype dtype, int longest)
{
    int32_t dim[TW_MAX_RANK];
    c->seed = seed;
    c->arena = tw_arena_new();
    c->graph = tw_graph_new(c->arena, "case");
    int rank = tw_operate_range(&c->seed, 1, 5);
    int ones = tw_operate_range(&c->seed, 0, 1) ? tw_operate_range(&c->seed, 0, rank - 1) : 0;
    for (int k = 0; k < rank; k++)
        dim[k] = k < ones ? 1 : tw_operate_range(&c->seed, 1, rank > 3 ? 4 : 7);
    c->axis = tw_operate_range(&c->seed, 0, rank - 1);
    dim[c->axis] = tw_operate_range(&c->seed, 1, longest);
    c->x = tw_operate_value(c->graph, dtype, rank, dim, &c->seed);
    c->outer = c->inner = 1;
    c->n = dim[c->axis];
    for (int k = 0; k < rank; k++) {
        c->outer *= k < c->axis ? dim[k] : 1;
        c->inner *= k > c->axis ? dim[k] : 1;
    }
}

static void floats(void **unused)
{
    (void)unused;
    int banded = 0;
    for (uint64_t seed = 0; seed < 120; seed++) {
        tw_case c;
        bool is_log = seed % 3 == 2;
        open_case(&c, seed, TW_F32, 40);
        tw_softmax_attributes a = {
            c.axis, is_log ? 1.0f : (float)tw_operate_range(&c.seed, 0, 30) * 0.1f, TW_NO_DTYPE};
        tw_log_softmax_attributes l = {c.axis - c.x->shape.rank};
        tw_node *node = tw_operate_node(c.graph, is_log ? "LogSoftmax" : "Softmax", &c.x, 1,
                                        is_log ? (void *)&l : (void *)&a);
        const float *got = tw_operate_whole(node, c.arena), *x = c.x->data;
        banded += tw_operate_bands(node, &c.seed);
        for (int64_t o = 0; o < c.outer * c.inner; o++) {
            int64_t start = o / c.inner * c.n * c.inner + o % c.inner;
            double sum = 0;
            for (int64_t i = 0; i < c.n; i++)
                sum += exp((double)a.beta * (double)x[start + i * c.inner]);
            for (int64_t i = 0; i < c.n; i++) {
                double v = (double)a.beta * (double)x[start + i * c.inner];
                double want = is_log ? v - log(sum) : exp(v) / sum;
                assert_true(fabs((double)got[start + i * c.inner] - want) <=
                            1e-6 + 2e-6 * fabs(want));
            }
        }
        tw_arena_free(c.arena);
    }
    assert_true(banded > 60);
}

static void large_floats(void **unused)
{
    (void)unused;
    tw_arena *arena = tw_arena_new();
    tw_graph *g = tw_graph_new(arena, "g");
    const int32_t dim[] = {2, 3};
    static const float data[] = {1000, 1001, 999, -3e38f, 0, -INFINITY};
    tw_value *x = tw_graph_constant(g, "x", tw_shape_of(TW_F32, 2, dim), data);
    const float *y = tw_operate_whole(tw_operate_node(g, "Softmax", &x, 1, NULL), arena);
    assert_true(fabs((double)y[1] - 0.66524096) < 1e-6 && y[3] == 0 && y[4] == 1 && y[5] == 0);
    const float *l = tw_operate_whole(tw_operate_node(g, "LogSoftmax", &x, 1, NULL), arena);
    assert_true(fabs((double)l[1] + 0.40760597) < 1e-6 && l[3] == -3e38f && l[4] == 0 &&
                l[5] == -INFINITY);
    tw_arena_free(arena);
}

/* ---- TFLite's reference ---- */

static int64_t saturate32(int64_t v)
{
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
}

/* SaturatingRoundingDoublingHighMul. */
static int64_t product(int64_t a, int64_t b)
{
    int64_t ab = a * b;
    return saturate32((ab + (ab >= 0 ? INT64_C(1) << 30 : 1 - (INT64_C(1) << 30))) /
                      (INT64_C(1) << 31));
}

/* RoundingDivideByPOT. */
static int64_t divide(int64_t x, int bits)
{
    int64_t unit = INT64_C(1) << bits, floor = x >> bits, rest = x - floor * unit;
    return floor + (rest > (unit - 1) / 2 + (x < 0 ? 1 : 0));
}

static int64_t exp_on_interval(int64_t a) /* Q0.31, [-1/4, 0) */
{
    int64_t x = a + (INT64_C(1) << 28), x2 = product(x, x);
    int64_t x3 = product(x2, x), x4 = product(x2, x2);
    int64_t rest = divide(product(divide(x4, 2) + x3, 715827883) + x2, 1);
    return 1895147668 + product(1895147668, x + rest);
}

static int64_t exp_on_negative(int64_t a) /* Q5.26 to Q0.31 */
{
    static const struct {
        int exponent;
        int64_t factor;
    } barrel[] = {{-2, 1672461947}, {-1, 1302514674}, {0, 790015084}, {1, 290630308},
                  {2, 39332535},    {3, 720401},      {4, 242}};
    int64_t quarter = INT64_C(1) << 24, below = (a & (quarter - 1)) - quarter;
    int64_t result = exp_on_interval(saturate32(below * 32)), rest = below - a;
    for (int i = 0; i < 7; i++)
        if (rest & (INT64_C(1) << (26 + barrel[i].exponent)))
            result = product(result, barrel[i].factor);
    return a == 0 ? INT32_MAX : result;
}

static int64_t one_over_one_plus(int64_t a) /* Q0.31 */
{
    int64_t half = (a + INT32_MAX + 1) / 2;
    int64_t x = 1515870810 + product(half, -1010580540);
    for (int i = 0; i < 3; i++)
        x += saturate32(product(x, (INT64_C(1) << 29) - product(half, x)) * 4);
    return saturate32(x * 2);
}

/* One lane; multiplier, left_shift and diff_min as TFLite's Prepare makes them. bits: 8 or 16. */
static void tflite_softmax(const int8_t *x, int64_t n, int64_t step, int64_t multiplier, int left,
                           int64_t diff_min, int bits, int64_t *out)
{
    int64_t most = -128, sum = 0;
    for (int64_t i = 0; i < n; i++)
        most = x[i * step] > most ? x[i * step] : most;
    for (int64_t i = 0; i < n; i++)
        if (x[i * step] - most >= diff_min)
            sum += divide(
                exp_on_negative(product((x[i * step] - most) * (INT64_C(1) << left), multiplier)),
                12);
    int headroom = 0;
    while (!(sum << headroom & INT64_C(1) << 31))
        headroom++;
    int64_t scale = one_over_one_plus((sum << headroom) - (INT64_C(1) << 31));
    for (int64_t i = 0; i < n; i++) {
        out[i] = 0;
        if (x[i * step] - most < diff_min)
            continue;
        int64_t e =
            exp_on_negative(product((x[i * step] - most) * (INT64_C(1) << left), multiplier));
        out[i] = divide(product(scale, e), 12 - headroom + 31 - bits);
    }
}

static void prepare(double beta, double scale, int64_t *multiplier, int *left, int64_t *diff_min)
{
    double real = fmin(beta * scale * (1 << 26), 2147483647.0);
    *multiplier = llround(frexp(real, left) * 2147483648.0);
    if (*multiplier == INT64_C(1) << 31) {
        *multiplier /= 2;
        ++*left;
    }
    if (*left > 30) {
        *left = 30;
        *multiplier = INT32_MAX;
    }
    *diff_min = -(int64_t)floor(31.0 * (1 << 26) / ldexp(1, *left));
}

static int64_t clamp8(int64_t v)
{
    return v < -128 ? -128 : v > 127 ? 127 : v;
}

static void int8(void **unused)
{
    (void)unused;
    int banded = 0, interior = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        tw_case c;
        open_case(&c, seed, TW_S8, seed % 30 == 0 ? 3000 : 60);
        float scale = powf(10.0f, (float)tw_operate_range(&c.seed, -40, 10) * 0.1f);
        tw_softmax_attributes a = {c.axis, seed % 4 ? 1.0f : 0.37f, TW_NO_DTYPE};
        bool usual = seed % 3 != 0;
        float out_scale = usual ? 1.0f / 256 : 0.0101f;
        int32_t zero = usual ? -128 : -50;
        int64_t multiplier, diff_min, want[3000];
        int left;
        prepare((double)a.beta, (double)scale, &multiplier, &left, &diff_min);
        c.x->quant = tw_quant_per_tensor(c.arena, scale, tw_operate_range(&c.seed, -128, 127));
        tw_node *node = tw_operate_node(c.graph, "Softmax", &c.x, 1, &a);
        node->out[0]->quant = tw_quant_per_tensor(c.arena, out_scale, zero);
        const int8_t *got = tw_operate_whole(node, c.arena), *x = c.x->data;
        banded += tw_operate_bands(node, &c.seed);
        for (int64_t o = 0; o < c.outer * c.inner; o++) {
            int64_t start = o / c.inner * c.n * c.inner + o % c.inner;
            tflite_softmax(x + start, c.n, c.inner, multiplier, left, diff_min, usual ? 8 : 16,
                           want);
            for (int64_t i = 0; i < c.n; i++) {
                int8_t y = got[start + i * c.inner];
                double exact = (double)want[i] / 65536 / (double)out_scale + zero;
                if (usual)
                    assert_int_equal(y, clamp8(want[i] + zero));
                else if (exact > -128 && exact < 127) /* one more rounding, to the other scale */
                    assert_true(fabs((double)y - exact) <= 0.51);
                interior += y > -128 && y < 127;
            }
        }
        tw_arena_free(c.arena);
    }
    assert_true(banded > 150);
    assert_true(interior > 2000);
}

/* The reference above is a softmax at all: within two steps of the real one. */
static void int8_is_softmax(void **unused)
{
    (void)unused;
    uint64_t state = 9;
    for (int n = 1; n < 40; n++) {
        int8_t x[40];
        int64_t y[40], multiplier, diff_min;
        int left;
        double sum = 0, scale = 0.05;
        prepare(1, scale, &multiplier, &left, &diff_min);
        for (int i = 0; i < n; i++)
            x[i] = (int8_t)tw_operate_range(&state, -128, 127);
        tflite_softmax(x, n, 1, multiplier, left, diff_min, 8, y);
        for (int i = 0; i < n; i++)
            sum += exp(scale * x[i]);
        for (int i = 0; i < n; i++)
            assert_true(fabs((double)y[i] - 256 * exp(scale * x[i]) / sum) <= 1);
    }
}

static void refuse(tw_node *node, tw_arena *arena, tw_code code, const char *words)
{
    tw_diag diag = {0};
    tw_lowering l = {0};
    assert_false(node->op->lower(node, arena, &l, &diag));
    assert_int_equal(diag.code, code);
    if (!strstr(diag.message, words))
        fail_msg("\"%s\" does not say \"%s\"", diag.message, words);
}

static void refusals(void **unused)
{
    (void)unused;
    tw_arena *arena = tw_arena_new();
    tw_graph *g = tw_graph_new(arena, "g");
    uint64_t s = 1;
    const int32_t dim[] = {2, 3}, far[] = {8192};
    tw_value *x = tw_operate_value(g, TW_F32, 2, dim, &s),
             *h = tw_operate_value(g, TW_F16, 2, dim, &s);
    tw_value *q = tw_operate_value(g, TW_S8, 2, dim, &s),
             *wide = tw_operate_value(g, TW_S8, 1, far, &s);
    tw_diag diag = {0};
    assert_null(tw_graph_node(g, tw_op_by_name("Softmax"), "n", &x, 1, 1, NULL,
                              &(tw_softmax_attributes){2, 1, TW_NO_DTYPE}, &diag));
    assert_non_null(strstr(diag.message, "axis 2 does not exist"));
    refuse(tw_operate_node(g, "Softmax", &h, 1, NULL), arena, TW_CODE_UNSUPPORTED,
           "no kernel for f16");
    q->quant = tw_quant_per_tensor(arena, 1, 0);
    refuse(tw_operate_node(g, "Softmax", &q, 1, NULL), arena, TW_CODE_FAILED, "one scale and zero");
    q->quant = tw_quant_per_tensor(arena, 1e-9f, 0);
    tw_node *node = tw_operate_node(g, "Softmax", &q, 1, NULL);
    node->out[0]->quant = tw_quant_per_tensor(arena, 1.0f / 256, -128);
    refuse(node, arena, TW_CODE_UNSUPPORTED, "more than 2^-26");
    wide->quant = tw_quant_per_tensor(arena, 1, 0);
    node = tw_operate_node(g, "Softmax", &wide, 1, NULL);
    node->out[0]->quant = tw_quant_per_tensor(arena, 1.0f / 256, -128);
    refuse(node, arena, TW_CODE_UNSUPPORTED, "8192 elements");
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats),          cmocka_unit_test(large_floats), cmocka_unit_test(int8),
        cmocka_unit_test(int8_is_softmax), cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
