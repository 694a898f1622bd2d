/* The unary family: every row's f32 kernel and int8 table against the same formula in double, and in
 * random bands and strides; plain integers; special values; what must be refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ops/lut_fixed.h"
#include "ops/unary.h"
#include "runtime/math.h"
#include "support/operate.h"

typedef double (*tw_truth)(double x, double alpha, double beta);

#define TRUTH(symbol, expression)                                                                  \
    static double truth_##symbol(double x, double alpha, double beta)                              \
    {                                                                                              \
        (void)x, (void)alpha, (void)beta;                                                          \
        return expression;                                                                         \
    }
TRUTH(relu, x > 0 ? x : 0)
TRUTH(leaky_relu, x < 0 ? alpha * x : x)
TRUTH(elu, x > 0 ? x : alpha * (exp(x) - 1))
TRUTH(selu, beta *(x > 0 ? x : alpha * (exp(x) - 1)))
TRUTH(celu, fmax(0, x) + fmin(0, alpha *(exp(x / alpha) - 1)))
TRUTH(thresholded_relu, x > alpha ? x : 0)
TRUTH(sigmoid, 1 / (1 + exp(-x)))
TRUTH(hard_sigmoid, fmax(0, fmin(1, alpha *x + beta)))
TRUTH(hard_swish, x *fmax(0, fmin(1, x / 6 + 0.5)))
TRUTH(tanh, tanh(x))
TRUTH(softplus, log(1 + exp(x)))
TRUTH(softsign, x / (1 + fabs(x)))
TRUTH(mish, x *tanh(log(1 + exp(x))))
TRUTH(gelu, x *(1 + erf(x * sqrt(0.5))) / 2)
TRUTH(gelu_tanh, x *(1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))) / 2)
TRUTH(swish, x / (1 + exp(-alpha * x)))
TRUTH(erf, erf(x))
TRUTH(erfc, 1 - erf(x))
TRUTH(exp, exp(x))
TRUTH(log, log(x))
TRUTH(sqrt, sqrt(x))
TRUTH(rsqrt, 1 / sqrt(x))
TRUTH(reciprocal, 1 / x)
TRUTH(abs, fabs(x))
TRUTH(neg, -x)
TRUTH(floor, floor(x))
TRUTH(ceil, ceil(x))
TRUTH(round, nearbyint(x))
TRUTH(trunc, trunc(x))
TRUTH(sign, (x > 0) - (x < 0))
TRUTH(square, x *x)
TRUTH(sin, sin(x))
TRUTH(cos, cos(x))
TRUTH(clip, fmin(fmax(x, alpha), beta))
TRUTH(tan, tan(x))
TRUTH(asin, asin(x))
TRUTH(acos, acos(x))
TRUTH(atan, atan(x))
TRUTH(sinh, sinh(x))
TRUTH(cosh, cosh(x))
TRUTH(asinh, asinh(x))
TRUTH(acosh, acosh(x))
TRUTH(atanh, atanh(x))
TRUTH(shrink, x<-alpha ? x + beta : x> alpha ? x - beta : 0)
TRUTH(log_sigmoid, -log(1 + exp(-x)))
TRUTH(expm1, exp(x) - 1)
TRUTH(log1p, log(1 + x))
TRUTH(logit, alpha >= 0
                 ? log(fmin(fmax(x, alpha), 1 - alpha) / (1 - fmin(fmax(x, alpha), 1 - alpha)))
                 : log(x / (1 - x)))

/* A row, its range of inputs and what it should compute. */
typedef struct tw_member {
    const char *name;
    double low, high;
    int parameters;
    double alpha, beta;
    tw_truth truth; /* null for a row that is not in this file */
} tw_member;

static tw_truth truth_of(const char *name)
{
    static const struct {
        const char *name;
        tw_truth truth;
    } known[] = {
        {"Relu", truth_relu},
        {"LeakyRelu", truth_leaky_relu},
        {"Elu", truth_elu},
        {"Selu", truth_selu},
        {"Celu", truth_celu},
        {"ThresholdedRelu", truth_thresholded_relu},
        {"Sigmoid", truth_sigmoid},
        {"HardSigmoid", truth_hard_sigmoid},
        {"HardSwish", truth_hard_swish},
        {"Tanh", truth_tanh},
        {"Softplus", truth_softplus},
        {"Softsign", truth_softsign},
        {"Mish", truth_mish},
        {"Gelu", truth_gelu},
        {"GeluTanh", truth_gelu_tanh},
        {"Swish", truth_swish},
        {"Erf", truth_erf},
        {"Erfc", truth_erfc},
        {"Exp", truth_exp},
        {"Log", truth_log},
        {"Sqrt", truth_sqrt},
        {"Rsqrt", truth_rsqrt},
        {"Reciprocal", truth_reciprocal},
        {"Abs", truth_abs},
        {"Neg", truth_neg},
        {"Floor", truth_floor},
        {"Ceil", truth_ceil},
        {"Round", truth_round},
        {"Trunc", truth_trunc},
        {"Sign", truth_sign},
        {"Square", truth_square},
        {"Sin", truth_sin},
        {"Cos", truth_cos},
        {"Clip", truth_clip},
        {"Tan", truth_tan},
        {"Asin", truth_asin},
        {"Acos", truth_acos},
        {"Atan", truth_atan},
        {"Sinh", truth_sinh},
        {"Cosh", truth_cosh},
        {"Asinh", truth_asinh},
        {"Acosh", truth_acosh},
        {"Atanh", truth_atanh},
        {"Shrink", truth_shrink},
        {"LogSigmoid", truth_log_sigmoid},
        {"Expm1", truth_expm1},
        {"Log1p", truth_log1p},
        {"Logit", truth_logit},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].truth;
    return NULL;
}

static const tw_member members[] = {
#define TW_UNARY(code, Name, symbol, parameters, alpha, beta, low, high, onnx, formula, e)         \
    {#Name, low, high, parameters, alpha, beta, NULL},
#define TW_UNARY_INTEGER(code, Name, symbol, parameters, alpha, beta, low, high, onnx, formula, e, \
                         integer)                                                                  \
    {#Name, low, high, parameters, alpha, beta, NULL},
#define TW_UNARY_PLAIN(code, Name, symbol, TYPES, RESULT, onnx, formula, e)
#include "ops/unary.def"
};
enum { MEMBERS = sizeof members / sizeof *members };

typedef struct tw_case {
    tw_arena *arena;
    tw_graph *graph;
    uint64_t seed;
} tw_case;

static void open_case(tw_case *c, uint64_t seed)
{
    c->arena = tw_arena_new();
    c->graph = tw_graph_new(c->arena, "case");
    c->seed = seed;
}

static tw_value *real_input(tw_case *c, int rank, const int32_t *dim, double low, double high)
{
    tw_value *x = tw_operate_value(c->graph, TW_F32, rank, dim, &c->seed);
    float *data = (float *)(uintptr_t)x->data;
    int64_t n = tw_shape_elements(&x->shape);
    for (int64_t i = 0; i < n; i++)
        data[i] = (float)(low + (high - low) * ((double)data[i] + 3) / 6);
    return x;
}

/* Attributes other than the defaults where a row has any (finite ones). */
static tw_unary_attributes attributes_of(const tw_member *m, int turn)
{
    tw_unary_attributes a = {(float)m->alpha, (float)m->beta};
    if (turn % 2 && strcmp(m->name, "Logit") == 0)
        a.alpha = 0.125f;
    else if (turn % 2)
        a = (tw_unary_attributes){0.75f, isfinite(m->beta) ? (float)m->beta + 0.25f : 1.5f};
    return a;
}

static void real_accuracy(void **state)
{
    (void)state;
    for (int i = 0; i < MEMBERS; i++)
        for (int turn = 0; turn < 2; turn++) {
            const tw_member *m = &members[i];
            tw_truth truth = truth_of(m->name);
            tw_unary_attributes a = attributes_of(m, turn);
            tw_case c;
            open_case(&c, (uint64_t)i);
            tw_value *x = real_input(&c, 2, (int32_t[]){70, 60}, m->low, m->high);
            tw_node *node = tw_operate_node(c.graph, m->name, &x, 1, m->parameters ? &a : NULL);
            const float *y = tw_operate_whole(node, c.arena), *data = x->data;
            for (int k = 0; truth && k < 70 * 60; k++) {
                double want = truth((double)data[k], (double)a.alpha, (double)a.beta);
                if (fabs((double)y[k] - want) > 2e-7 + 2e-6 * fabs(want))
                    fail_msg("%s(%.9g) = %.9g, not %.9g", m->name, (double)data[k], (double)y[k],
                             want);
            }
            tw_arena_free(c.arena);
        }
}

/* table[x] is the formula in double, quantised; where the double lies almost half-way between two
 * stored values either will do; so where TFLite's fixed point rounds twice (unary_s8.txt has the
 * exact values). */
static void check_table(const tw_member *m, const tw_node *node, tw_unary_attributes a,
                        int32_t least, int32_t greatest)
{
    const tw_value *x = node->in[0], *y = node->out[0];
    int64_t n = tw_shape_elements(&x->shape);
    for (int64_t k = 0; k < n; k++) {
        double stored = tw_constant_at(x, k), got = tw_constant_at(y, k);
        double real = ((double)x->quant.scale[0] * (stored - x->quant.zero_point[0]));
        double want = truth_of(m->name)(real, (double)a.alpha, (double)a.beta);
        if (isnan(want))
            want = 0;
        double exact = want / (double)y->quant.scale[0];
        double tie = fabs(exact - trunc(exact));
        double rounded = round(exact) + y->quant.zero_point[0];
        rounded = fmin(fmax(rounded, least), greatest);
        bool near_tie = fabs(tie - 0.5) < 1e-4 || tw_fixed_unary_of(node) != NULL;
        if (got != rounded && !(near_tie && fabs(got - rounded) <= 1))
            fail_msg("%s: table[%g] = %g, not %g (%.9g)", m->name, stored, got, rounded, exact);
    }
}

static void tables(void **state)
{
    (void)state;
    static const struct {
        float scale;
        int32_t zero;
    } in[] = {{0.0625f, -3}, {0.03125f, 100}, {1.0f, 0}}, out[] = {{0.04f, 5}, {0.0078125f, -128}};
    for (int i = 0; i < MEMBERS; i++)
        for (int turn = 0; turn < 12; turn++) {
            const tw_member *m = &members[i];
            tw_unary_attributes a = attributes_of(m, turn / 6);
            bool is_unsigned = turn % 3 == 2;
            tw_dtype dtype = is_unsigned ? TW_U8 : TW_S8;
            tw_case c;
            open_case(&c, (uint64_t)turn);
            tw_value *x = tw_operate_value(c.graph, dtype, 1, (int32_t[]){256}, &c.seed);
            for (int k = 0; k < 256; k++)
                ((uint8_t *)(uintptr_t)x->data)[k] = (uint8_t)k;
            x->quant = tw_quant_per_tensor(c.arena, in[turn % 3].scale,
                                           in[turn % 3].zero + (is_unsigned ? 128 : 0));
            tw_node *node = tw_operate_node(c.graph, m->name, &x, 1, m->parameters ? &a : NULL);
            node->out[0]->quant = tw_quant_per_tensor(c.arena, out[turn % 2].scale,
                                                      out[turn % 2].zero + (is_unsigned ? 128 : 0));
            tw_operate_whole(node, c.arena);
            if (truth_of(m->name))
                check_table(m, node, a, is_unsigned ? 0 : -128, is_unsigned ? 255 : 127);
            tw_arena_free(c.arena);
        }
}

/* A fused clamp is folded into the table and applied by the f32 kernel. */
static void clamps(void **state)
{
    (void)state;
    tw_case c;
    open_case(&c, 5);
    tw_value *x = real_input(&c, 2, (int32_t[]){9, 31}, -4, 4);
    tw_node *node = tw_operate_node(c.graph, "Square", &x, 1, NULL);
    node->clamp = (tw_clamp){1.5f, 6.0f};
    const float *y = tw_operate_whole(node, c.arena);
    for (int k = 0; k < 9 * 31; k++) {
        float v = ((const float *)x->data)[k];
        assert_true(y[k] == fminf(fmaxf(v * v, 1.5f), 6.0f));
    }
    tw_value *q = tw_operate_value(c.graph, TW_S8, 1, (int32_t[]){300}, &c.seed);
    q->quant = tw_quant_per_tensor(c.arena, 0.05f, 3);
    tw_node *table = tw_operate_node(c.graph, "Neg", &q, 1, NULL);
    table->out[0]->quant = tw_quant_per_tensor(c.arena, 0.05f, -7);
    table->clamp = (tw_clamp){0.0f, 3.0f};
    const int8_t *t = tw_operate_whole(table, c.arena);
    for (int k = 0; k < 300; k++) {
        int v = 3 - ((const int8_t *)q->data)[k] - 7;
        assert_int_equal(t[k], v < -7 ? -7 : v > 53 ? 53 : v);
    }
    tw_arena_free(c.arena);
}

static void bands(void **state)
{
    (void)state;
    static const int32_t shapes[][6] = {{1, 7, 5, 3}, {11}, {1, 1, 9, 2, 1, 3}, {4, 5}, {1, 0, 3}};
    static const int ranks[] = {4, 1, 6, 2, 3};
    int banded = 0;
    for (int i = 0; i < MEMBERS; i++)
        for (int turn = 0; turn < 5; turn++) {
            const tw_member *m = &members[i];
            tw_case c;
            open_case(&c, (uint64_t)i * 5 + (uint64_t)turn);
            tw_value *x = real_input(&c, ranks[turn], shapes[turn], m->low, m->high);
            tw_node *node = tw_operate_node(c.graph, m->name, &x, 1, NULL);
            tw_operate_whole(node, c.arena);
            banded += tw_operate_bands(node, &c.seed);
            tw_value *q = tw_operate_value(c.graph, TW_S8, ranks[turn], shapes[turn], &c.seed);
            q->quant = tw_quant_per_tensor(c.arena, 0.02f, 10);
            tw_node *table = tw_operate_node(c.graph, m->name, &q, 1, NULL);
            table->out[0]->quant = tw_quant_per_tensor(c.arena, 0.05f, -20);
            tw_operate_whole(table, c.arena);
            banded += tw_operate_bands(table, &c.seed);
            tw_arena_free(c.arena);
        }
    assert_true(banded > 300);
}

static void integers(void **state)
{
    (void)state;
    static const tw_dtype types[] = {TW_S8, TW_U8, TW_S16, TW_U16, TW_S32, TW_U32, TW_S64, TW_U64};
    static const char *const names[] = {"Relu", "Abs", "Neg", "Sign", "BitwiseNot"};
    for (int t = 0; t < 8; t++)
        for (int n = 0; n < 5; n++) {
            tw_case c;
            open_case(&c, (uint64_t)t + 10 * (uint64_t)n);
            tw_value *x = tw_operate_value(c.graph, types[t], 2, (int32_t[]){13, 5}, &c.seed);
            unsigned bytes = tw_dtype_bytes(types[t]);
            bool is_signed = t % 2 == 0;
            uint64_t least = is_signed ? (uint64_t)1 << (bytes * 8 - 1) : 0; /* wraps in Abs, Neg */
            memcpy((void *)(uintptr_t)x->data, &least, bytes);
            memset((char *)(uintptr_t)x->data + bytes, 0, bytes);
            tw_node *node = tw_operate_node(c.graph, names[n], &x, 1, NULL);
            const char *y = tw_operate_whole(node, c.arena);
            for (int k = 0; k < 65; k++) {
                uint64_t v = 0, got = 0, mask = UINT64_MAX >> (64 - bytes * 8);
                memcpy(&v, (const char *)x->data + (size_t)k * bytes, bytes);
                memcpy(&got, y + (size_t)k * bytes, bytes);
                bool negative = is_signed && v >> (bytes * 8 - 1);
                uint64_t want[] = {negative ? 0 : v, negative ? 0 - v : v, 0 - v,
                                   negative ? UINT64_MAX : (uint64_t)(v != 0), ~v};
                assert_true(got == (want[n] & mask));
            }
            tw_operate_bands(node, &c.seed);
            tw_arena_free(c.arena);
        }
}

static void tests_of_values(void **state)
{
    (void)state;
    static const float special[] = {0.0f, -0.0f, 1.0f, -INFINITY, INFINITY, NAN, -NAN, 1e38f};
    static const char *const names[] = {"IsNaN", "IsInf", "IsPositiveInf", "IsNegativeInf"};
    tw_case c;
    open_case(&c, 1);
    tw_value *x = tw_graph_constant(c.graph, "x", tw_shape_of(TW_F32, 1, (int32_t[]){8}), special);
    for (int n = 0; n < 4; n++) {
        const uint8_t *y =
            tw_operate_whole(tw_operate_node(c.graph, names[n], &x, 1, NULL), c.arena);
        for (int k = 0; k < 8; k++) {
            float v = special[k];
            bool want[] = {isnan(v), isinf(v), v == INFINITY, v == -INFINITY};
            assert_int_equal(y[k], want[n]);
        }
    }
    tw_value *b = tw_operate_value(c.graph, TW_BOOL, 1, (int32_t[]){40}, &c.seed);
    const uint8_t *y = tw_operate_whole(tw_operate_node(c.graph, "Not", &b, 1, NULL), c.arena);
    for (int k = 0; k < 40; k++)
        assert_int_equal(y[k], !((const uint8_t *)b->data)[k]);
    tw_arena_free(c.arena);
}

static float apply(tw_case *c, const char *name, float x)
{
    float *data = tw_alloc(c->arena, 16);
    *data = x;
    tw_value *v = tw_graph_constant(c->graph, "x", tw_shape_of(TW_F32, 0, NULL), data);
    return *(const float *)tw_operate_whole(tw_operate_node(c->graph, name, &v, 1, NULL), c->arena);
}

static void special_values(void **state)
{
    (void)state;
    tw_case c;
    open_case(&c, 1);
    static const char *const keep_nan[] = {
        "Relu",      "LeakyRelu", "Elu",      "Selu", "Celu",  "Sigmoid", "HardSigmoid",
        "HardSwish", "Tanh",      "Softplus", "Gelu", "Mish",  "Erf",     "Exp",
        "Log",       "Sqrt",      "Abs",      "Neg",  "Floor", "Ceil",    "Round",
        "Sign",      "Clip",      "Sin",      "Atan"};
    for (size_t i = 0; i < sizeof keep_nan / sizeof *keep_nan; i++)
        assert_true(isnan(apply(&c, keep_nan[i], NAN)));
    assert_true(apply(&c, "Sigmoid", -INFINITY) == 0.0f && apply(&c, "Sigmoid", INFINITY) == 1.0f);
    assert_true(apply(&c, "Softplus", -INFINITY) == 0.0f);
    assert_true(apply(&c, "Softplus", 1000.0f) == 1000.0f);
    assert_true(apply(&c, "Elu", -INFINITY) == -1.0f);
    assert_true(apply(&c, "Exp", 1000.0f) == INFINITY && apply(&c, "Log", 0.0f) == -INFINITY);
    assert_true(apply(&c, "Reciprocal", -0.0f) == -INFINITY);
    assert_true(apply(&c, "Rsqrt", 0.0f) == INFINITY);
    assert_true(signbit(apply(&c, "Ceil", -0.5f)) && signbit(apply(&c, "Sqrt", -0.0f)));
    assert_true(apply(&c, "Round", 0.5f) == 0.0f && apply(&c, "Round", 1.5f) == 2.0f);
    assert_true(apply(&c, "Relu", INFINITY) == INFINITY);
    tw_arena_free(c.arena);
}

/* What must be refused, with a message, and never run. */
static void refusals(void **state)
{
    (void)state;
    tw_case c;
    open_case(&c, 1);
    tw_diag diag = {0};
    tw_lowering lowering = {0};
    tw_value *x = tw_operate_value(c.graph, TW_S8, 1, (int32_t[]){4}, &c.seed);
    tw_node *plain = tw_operate_node(c.graph, "Tanh", &x, 1, NULL);
    assert_false(plain->op->lower(plain, c.arena, &lowering, &diag));
    assert_int_equal(diag.code, TW_CODE_UNSUPPORTED);
    x->quant = tw_quant_per_tensor(c.arena, 0.1f, 0);
    diag = (tw_diag){0};
    assert_false(plain->op->lower(plain, c.arena, &lowering, &diag)); /* the result has no scale */
    assert_int_equal(diag.code, TW_CODE_UNSUPPORTED);
    tw_value *s = tw_operate_value(c.graph, TW_S32, 1, (int32_t[]){4}, &c.seed);
    tw_node *clamped = tw_operate_node(c.graph, "Abs", &s, 1, NULL);
    clamped->clamp.high = 6.0f;
    diag = (tw_diag){0};
    assert_false(clamped->op->lower(clamped, c.arena, &lowering, &diag));
    assert_int_equal(diag.code, TW_CODE_UNSUPPORTED);
    tw_arena_free(c.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_accuracy),  cmocka_unit_test(tables),
        cmocka_unit_test(clamps),         cmocka_unit_test(bands),
        cmocka_unit_test(integers),       cmocka_unit_test(tests_of_values),
        cmocka_unit_test(special_values), cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
