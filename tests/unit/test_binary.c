/* The binary family against loops over every index: every row, every type, random broadcasting, in
 * random bands and strides; int8 against real arithmetic; what must be refused. (That int8 equals
 * the TFLite reference bit for bit is shown by the vectors in src/ops/binary_s8.txt.) */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ops/binary.h"
#include "runtime/spans.h"
#include "support/operate.h"

typedef struct tw_case {
    tw_arena *arena;
    tw_graph *graph;
    uint64_t seed;
    int rank[2];
    int32_t dim[2][TW_MAX_RANK];
} tw_case;

/* Two random shapes that broadcast, of different ranks at times. */
static void open_case(tw_case *c, uint64_t seed)
{
    c->arena = tw_arena_new();
    c->graph = tw_graph_new(c->arena, "case");
    c->seed = seed;
    int rank = tw_operate_range(&c->seed, 0, TW_MAX_RANK);
    int ones = tw_operate_range(&c->seed, 0, 2) ? tw_operate_range(&c->seed, 0, rank) : 0;
    int kind = tw_operate_range(&c->seed, 0, 3); /* 0: equal shapes; 1, 2: one is full */
    for (int i = 0; i < 2; i++) {
        int cut = kind != 0 && kind != i + 1 ? tw_operate_range(&c->seed, 0, rank) : 0;
        uint64_t shape_seed = seed; /* the same extents for both */
        c->rank[i] = rank - cut;
        for (int k = 0; k < rank; k++) {
            int32_t extent = tw_operate_range(&shape_seed, 1, rank > 4 ? 3 : 6);
            bool one = kind != 0 && kind != i + 1 && tw_operate_range(&c->seed, 0, 2) == 0;
            if (k >= cut)
                c->dim[i][k - cut] = k < ones || one ? 1 : extent;
        }
    }
}

/* Call f with the flat indices (out, a, b) of each element of the result. */
static void each(const tw_node *node, void (*f)(const tw_node *, int64_t, int64_t, int64_t))
{
    const tw_shape *out = &node->out[0]->shape;
    int64_t n = tw_shape_elements(out);
    for (int64_t o = 0; o < n; o++) {
        int64_t flat[2];
        for (int i = 0; i < 2; i++) {
            const tw_shape *s = &node->in[i]->shape;
            int64_t rest = o, at = 0, size = 1;
            for (int k = out->rank - 1; k >= 0; k--) {
                int own = k - (out->rank - s->rank);
                int64_t index = rest % out->dim[k];
                rest /= out->dim[k];
                if (own >= 0) {
                    at += s->dim[own] == 1 ? 0 : index * size;
                    size *= s->dim[own];
                }
            }
            flat[i] = at;
        }
        f(node, o, flat[0], flat[1]);
    }
}

static tw_node *make(tw_case *c, const char *op, tw_dtype dtype)
{
    tw_value *in[2];
    for (int i = 0; i < 2; i++)
        in[i] = tw_operate_value(c->graph, dtype, c->rank[i], c->dim[i], &c->seed);
    return tw_operate_node(c->graph, op, in, 2, NULL);
}

/* ---- float32 ---- */

static double real_truth(const char *op, double a, double b)
{
    struct {
        const char *name;
        double value;
    } all[] = {
        {"Add", a + b},
        {"Sub", a - b},
        {"Mul", a * b},
        {"Div", a / b},
        {"Max", a > b ? a : b},
        {"Min", a < b ? a : b},
        {"Pow", pow(a, b)},
        {"Mod", a - b * floor(a / b)},
        {"FMod", a - b * trunc(a / b)},
        {"FloorDiv", floor(a / b)},
        {"SquaredDifference", (a - b) * (a - b)},
        {"PRelu", a < 0 ? a * b : a},
        {"Equal", a == b},
        {"NotEqual", a != b},
        {"Less", a < b},
        {"LessOrEqual", a <= b},
        {"Greater", a > b},
        {"GreaterOrEqual", a >= b},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, op) == 0)
            return all[i].value;
    fail_msg("%s has no formula in this test", op);
    return 0;
}

static const char *const arithmetic[] = {
#define TW_BINARY(code, Name, symbol, METHOD, onnx, formula, real, integer) #Name,
#define TW_COMPARE(code, Name, symbol, onnx, formula, expression)
#define TW_LOGIC(code, Name, symbol, TYPES, onnx, formula, expression)
#include "ops/binary.def"
};
static const char *const comparisons[] = {
#define TW_BINARY(code, Name, symbol, METHOD, onnx, formula, real, integer)
#define TW_COMPARE(code, Name, symbol, onnx, formula, expression) #Name,
#define TW_LOGIC(code, Name, symbol, TYPES, onnx, formula, expression)
#include "ops/binary.def"
};
enum {
    ARITHMETIC = sizeof arithmetic / sizeof *arithmetic,
    COMPARISONS = sizeof comparisons / sizeof *comparisons
};

static void check_real(const tw_node *node, int64_t o, int64_t a, int64_t b)
{
    const float x = ((const float *)node->in[0]->data)[a],
                y = ((const float *)node->in[1]->data)[b];
    const double want = real_truth(node->op->name, (double)x, (double)y);
    const double got = tw_constant_at(node->out[0], o);
    if (isnan(want) && isnan(got))
        return;
    if (!(fabs(got - want) <= 1e-6 + 1e-6 * fabs(want)))
        fail_msg("%s(%.9g, %.9g) = %.9g, not %.9g", node->op->name, (double)x, (double)y, got,
                 want);
}

static void real_numbers(void **state)
{
    (void)state;
    int banded = 0;
    for (uint64_t seed = 0; seed < 60; seed++)
        for (int i = 0; i < ARITHMETIC + COMPARISONS; i++) {
            const char *op = i < ARITHMETIC ? arithmetic[i] : comparisons[i - ARITHMETIC];
            tw_case c;
            open_case(&c, seed * 100 + (uint64_t)i);
            tw_node *node = make(&c, op, TW_F32);
            float *x = (float *)(uintptr_t)node->in[0]->data;
            float *y = (float *)(uintptr_t)node->in[1]->data;
            if (i >= ARITHMETIC) /* equal values must occur */
                for (int k = 0; k < 2; k++)
                    for (int64_t n = tw_shape_elements(&node->in[k]->shape) - 1; n >= 0; n--)
                        (k ? y : x)[n] = floorf((k ? y : x)[n]);
            tw_operate_whole(node, c.arena);
            each(node, check_real);
            banded += tw_operate_bands(node, &c.seed);
            tw_arena_free(c.arena);
        }
    assert_true(banded > 500);
}

/* ---- plain integers: in 64 bits, cut to the type ---- */

static uint64_t extended(const tw_value *v, int64_t i)
{
    uint64_t bits = 0;
    unsigned bytes = tw_dtype_bytes(v->shape.dtype);
    memcpy(&bits, (const char *)v->data + i * bytes, bytes);
    tw_dtype t = v->shape.dtype;
    bool is_signed = t == TW_S8 || t == TW_S16 || t == TW_S32 || t == TW_S64;
    if (is_signed && bytes < 8 && bits >> (bytes * 8 - 1))
        bits |= UINT64_MAX << bytes * 8;
    return bits;
}

static bool is_signed_type(tw_dtype t)
{
    return t == TW_S8 || t == TW_S16 || t == TW_S32 || t == TW_S64;
}

/* Division rounded towards zero or down, -1 handled by negation. */
static uint64_t divide(uint64_t a, uint64_t b, bool is_signed, bool down, uint64_t *rest)
{
    if (!is_signed) {
        *rest = a % b;
        return a / b;
    }
    if (b == UINT64_MAX) {
        *rest = 0;
        return 0 - a;
    }
    int64_t q = (int64_t)a / (int64_t)b, r = (int64_t)a % (int64_t)b;
    if (down && r != 0 && (r < 0) != ((int64_t)b < 0)) {
        q--;
        r += (int64_t)b;
    }
    *rest = (uint64_t)r;
    return (uint64_t)q;
}

static uint64_t integer_power(uint64_t a, uint64_t b, bool is_signed)
{
    if (is_signed && (int64_t)b < 0)
        return a == 1 ? 1 : a == UINT64_MAX ? (b & 1 ? UINT64_MAX : 1) : 0;
    uint64_t result = 1;
    for (uint64_t i = 0; i < b && i < 64; i++) /* the test keeps exponents below 64 */
        result *= a;
    return result;
}

static uint64_t integer_truth(const char *op, uint64_t a, uint64_t b, bool s, unsigned bits)
{
    bool less = s ? (int64_t)a < (int64_t)b : a < b;
    bool zero = b == 0;
    uint64_t rest = 0, floor_rest = 0, q = 0, floor_q = 0;
    if (!zero) {
        q = divide(a, b, s, false, &rest);
        floor_q = divide(a, b, s, true, &floor_rest);
    }
    struct {
        const char *name;
        uint64_t value;
    } all[] = {
        {"Add", a + b},
        {"Sub", a - b},
        {"Mul", a * b},
        {"Div", q},
        {"Max", less ? b : a},
        {"Min", less ? a : b},
        {"Pow", integer_power(a, b, s)},
        {"Mod", floor_rest},
        {"FMod", rest},
        {"FloorDiv", floor_q},
        {"SquaredDifference", (a - b) * (a - b)},
        {"PRelu", s && (int64_t)a < 0 ? a * b : a},
        {"Equal", a == b},
        {"NotEqual", a != b},
        {"Less", less},
        {"LessOrEqual", less || a == b},
        {"Greater", !less && a != b},
        {"GreaterOrEqual", !less},
        {"BitwiseAnd", a & b},
        {"BitwiseOr", a | b},
        {"BitwiseXor", a ^ b},
        {"ShiftLeft", b < bits ? a << b : 0},
        {"ShiftRight", b < bits ? a >> b : 0},
        {"And", a && b},
        {"Or", a || b},
        {"Xor", !a != !b},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, op) == 0)
            return all[i].value;
    fail_msg("%s has no formula in this test", op);
    return 0;
}

static void check_integer(const tw_node *node, int64_t o, int64_t a, int64_t b)
{
    const tw_value *x = node->in[0], *out = node->out[0];
    unsigned bytes = tw_dtype_bytes(x->shape.dtype), out_bytes = tw_dtype_bytes(out->shape.dtype);
    uint64_t left = extended(x, a), right = extended(node->in[1], b), got = 0;
    uint64_t want =
        integer_truth(node->op->name, left, right, is_signed_type(x->shape.dtype), bytes * 8);
    memcpy(&got, (const char *)out->data + o * out_bytes, out_bytes);
    want &= UINT64_MAX >> (64 - out_bytes * 8);
    if (got != want)
        fail_msg("%s(%lld, %lld) = %llu, not %llu", node->op->name, (long long)left,
                 (long long)right, (unsigned long long)got, (unsigned long long)want);
}

/* Small right operands where the operator calls for them, and never a zero divisor. */
static void tame(const tw_node *node)
{
    const char *op = node->op->name;
    bool divides = strstr(op, "Div") || strstr(op, "Mod"), power = strcmp(op, "Pow") == 0;
    bool shift = strncmp(op, "Shift", 5) == 0;
    unsigned bytes = tw_dtype_bytes(node->in[1]->shape.dtype);
    int64_t n = tw_shape_elements(&node->in[1]->shape);
    for (int64_t i = 0; i < n; i++) {
        char *at = (char *)(uintptr_t)node->in[1]->data + i * bytes;
        uint64_t v = 0;
        memcpy(&v, at, bytes);
        if (power || shift)
            v %= 63;
        else if (divides && i % 3)
            v = v % 7 - (is_signed_type(node->in[1]->shape.dtype) ? 3 : 0);
        memcpy(at, &v, bytes);
        memcpy(&v, at, bytes);
        if (divides && (v & (UINT64_MAX >> (64 - bytes * 8))) == 0)
            *at = 1;
    }
}

static void whole_numbers(const char *const *ops, int count, const tw_dtype *types, int type_count,
                          int seeds)
{
    uint64_t seed = 0;
    for (int turn = 0; turn < seeds; turn++)
        for (int i = 0; i < count; i++)
            for (int t = 0; t < type_count; t++) {
                tw_case c;
                open_case(&c, seed++);
                tw_node *node = make(&c, ops[i], types[t]);
                tame(node);
                tw_operate_whole(node, c.arena);
                each(node, check_integer);
                tw_operate_bands(node, &c.seed);
                tw_arena_free(c.arena);
            }
}

static void plain_integers(void **state)
{
    (void)state;
    static const tw_dtype types[] = {TW_S8, TW_U8, TW_S16, TW_U16, TW_S32, TW_U32, TW_S64, TW_U64};
    static const char *const bitwise[] = {"BitwiseAnd", "BitwiseOr", "BitwiseXor"};
    static const char *const shifts[] = {"ShiftLeft", "ShiftRight"};
    static const tw_dtype is_unsigned[] = {TW_U8, TW_U16, TW_U32, TW_U64};
    static const tw_dtype boolean[] = {TW_BOOL};
    static const char *const logic[] = {"And", "Or", "Xor"};
    whole_numbers(arithmetic, ARITHMETIC, types, 8, 12);
    whole_numbers(comparisons, COMPARISONS, types, 8, 8);
    whole_numbers(comparisons, 2, boolean, 1, 8); /* Equal, NotEqual */
    whole_numbers(bitwise, 3, types, 8, 4);
    whole_numbers(shifts, 2, is_unsigned, 4, 8);
    whole_numbers(logic, 3, boolean, 1, 20);
}

/* No trap and no value made up: the run ends with TW_E_DATA. The least value over -1 wraps. */
static void no_result(void **state)
{
    (void)state;
    static const char *const ops[] = {"Div", "Mod", "FMod", "FloorDiv"};
    static const int32_t least[] = {INT32_MIN}, minus_one[] = {-1}, zero[] = {0};
    static const int64_t least64[] = {INT64_MIN}, minus_one64[] = {-1};
    for (int i = 0; i < 4; i++) {
        tw_arena *arena = tw_arena_new();
        tw_graph *g = tw_graph_new(arena, "g");
        tw_shape s32 = tw_shape_of(TW_S32, 0, NULL), s64 = tw_shape_of(TW_S64, 0, NULL);
        tw_value *by_zero[] = {tw_graph_constant(g, "a", s32, least),
                               tw_graph_constant(g, "b", s32, zero)};
        tw_value *wraps[] = {tw_graph_constant(g, "a", s32, least),
                             tw_graph_constant(g, "b", s32, minus_one)};
        tw_value *wraps64[] = {tw_graph_constant(g, "a", s64, least64),
                               tw_graph_constant(g, "b", s64, minus_one64)};
        tw_diag diag = {0};
        assert_false(tw_evaluate(tw_operate_node(g, ops[i], by_zero, 2, NULL), arena, 0, &diag));
        bool modulo = strstr(ops[i], "Mod") != NULL;
        tw_node *node = tw_operate_node(g, ops[i], wraps, 2, NULL);
        assert_int_equal(*(const int32_t *)tw_operate_whole(node, arena), modulo ? 0 : INT32_MIN);
        node = tw_operate_node(g, ops[i], wraps64, 2, NULL);
        assert_true(*(const int64_t *)tw_operate_whole(node, arena) == (modulo ? 0 : INT64_MIN));
        tw_arena_free(arena);
    }
    tw_arena *arena = tw_arena_new();
    tw_graph *g = tw_graph_new(arena, "g");
    tw_value *in[] = {tw_graph_constant(g, "a", tw_shape_of(TW_S32, 0, NULL), zero),
                      tw_graph_constant(g, "b", tw_shape_of(TW_S32, 0, NULL), minus_one)};
    tw_diag diag = {0};
    assert_false(tw_evaluate(tw_operate_node(g, "Pow", in, 2, NULL), arena, 0, &diag));
    tw_arena_free(arena);
}

/* ---- int8 ---- */

static void check_s8(const tw_node *node, int64_t o, int64_t a, int64_t b)
{
    const tw_value *x = node->in[0], *y = node->in[1], *out = node->out[0];
    double qa = tw_constant_at(x, a) - x->quant.zero_point[0];
    double qb = tw_constant_at(y, b) - y->quant.zero_point[0];
    /* In float, as dequantising is: whether an exponent is whole depends on it. */
    double ra = (double)(x->quant.scale[0] * (float)qa),
           rb = (double)(y->quant.scale[0] * (float)qb);
    double want = real_truth(node->op->name, ra, rb), got = tw_constant_at(out, o);
    if (out->shape.dtype == TW_BOOL) {
        if (fabs(ra - rb) > 1e-5 && got != want)
            fail_msg("%s(%g, %g) = %g", node->op->name, ra, rb, got);
        return;
    }
    if (isnan(want))
        want = 0;
    want = fmin(fmax(want, (double)node->clamp.low), (double)node->clamp.high);
    want = want / (double)out->quant.scale[0] + out->quant.zero_point[0];
    want = fmin(fmax(want, -128), 127);
    /* Rounding twice costs most where nothing is shifted left before it. */
    bool coarse = strcmp(node->op->name, "Mul") == 0 || strcmp(node->op->name, "PRelu") == 0;
    if (fabs(got - want) > (coarse ? 1.01 : 0.51) + 1e-3 * fabs(want))
        fail_msg("%s(%g * %g, %g * %g) = %g, not %.4f", node->op->name, qa,
                 (double)x->quant.scale[0], qb, (double)y->quant.scale[0], got, want);
}

/* Quotients jump between whole results where rounding decides; their truth is checked elsewhere. */
static bool is_continuous(const char *op)
{
    return strcmp(op, "Mod") != 0 && strcmp(op, "FMod") != 0 && strcmp(op, "FloorDiv") != 0;
}

static void quantised(void **state)
{
    (void)state;
    static const float scales[] = {0.02f, 0.05f, 0.013f, 0.125f};
    int banded = 0;
    for (uint64_t seed = 0; seed < 24; seed++)
        for (int i = 0; i < ARITHMETIC + COMPARISONS; i++) {
            const char *op = i < ARITHMETIC ? arithmetic[i] : comparisons[i - ARITHMETIC];
            tw_case c;
            open_case(&c, seed * 1000 + (uint64_t)i);
            tw_node *node = make(&c, op, TW_S8);
            for (int k = 0; k < 2; k++)
                node->in[k]->quant =
                    tw_quant_per_tensor(c.arena, scales[tw_operate_range(&c.seed, 0, 3)],
                                        tw_operate_range(&c.seed, -128, 127));
            if (i < ARITHMETIC)
                node->out[0]->quant =
                    tw_quant_per_tensor(c.arena, 0.11f * (float)tw_operate_range(&c.seed, 1, 3),
                                        tw_operate_range(&c.seed, -60, 60));
            if (i < ARITHMETIC && seed % 3 == 0)
                node->clamp = (tw_clamp){0.0f, 6.0f};
            tw_operate_whole(node, c.arena);
            if (is_continuous(op))
                each(node, check_s8);
            banded += tw_operate_bands(node, &c.seed);
            tw_arena_free(c.arena);
        }
    assert_true(banded > 200);
}

/* With equal scales, comparison and extremes are those of the stored values. */
static void equal_scales(void **state)
{
    (void)state;
    static const float scales[] = {1e-6f, 0.0117f, 1.0f, 300.0f};
    for (int s = 0; s < 4; s++) {
        tw_case c;
        open_case(&c, 1);
        c.rank[0] = c.rank[1] = 2;
        for (int i = 0; i < 2; i++) {
            c.dim[i][i] = 256;
            c.dim[i][1 - i] = 1;
        }
        tw_node *nodes[3] = {make(&c, "Equal", TW_S8), make(&c, "Less", TW_S8),
                             make(&c, "Max", TW_S8)};
        const uint8_t *equal = NULL, *less = NULL;
        for (int n = 0; n < 3; n++) {
            for (int i = 0; i < 2; i++) {
                int8_t *data = (int8_t *)(uintptr_t)nodes[n]->in[i]->data;
                for (int k = 0; k < 256; k++)
                    data[k] = (int8_t)(k - 128);
                nodes[n]->in[i]->quant = tw_quant_per_tensor(c.arena, scales[s], -9);
            }
            if (n == 2)
                nodes[n]->out[0]->quant = tw_quant_per_tensor(c.arena, scales[s], -9);
            const void *y = tw_operate_whole(nodes[n], c.arena);
            equal = n == 0 ? y : equal;
            less = n == 1 ? y : less;
        }
        const int8_t *most = nodes[2]->out[0]->data;
        for (int a = 0; a < 256; a++)
            for (int b = 0; b < 256; b++) {
                assert_int_equal(equal[a * 256 + b], a == b);
                assert_int_equal(less[a * 256 + b], a < b);
                assert_int_equal(most[a * 256 + b], (a > b ? a : b) - 128);
            }
        tw_arena_free(c.arena);
    }
}

/* ---- float special cases ---- */

static float apply(const char *op, float a, float b)
{
    tw_arena *arena = tw_arena_new();
    tw_graph *g = tw_graph_new(arena, "g");
    tw_shape s = tw_shape_of(TW_F32, 0, NULL);
    tw_value *in[] = {tw_graph_constant(g, "a", s, &a), tw_graph_constant(g, "b", s, &b)};
    float y = *(const float *)tw_operate_whole(tw_operate_node(g, op, in, 2, NULL), arena);
    tw_arena_free(arena);
    return y;
}

static void special_values(void **state)
{
    (void)state;
    assert_true(isnan(apply("Max", NAN, 1.0f)) && isnan(apply("Max", 1.0f, NAN)));
    assert_true(isnan(apply("Min", NAN, 1.0f)) && isnan(apply("Min", 1.0f, NAN)));
    assert_true(apply("Div", 1.0f, 0.0f) == INFINITY && apply("Div", -1.0f, 0.0f) == -INFINITY);
    assert_true(isnan(apply("Div", 0.0f, 0.0f)) && isnan(apply("Mod", 1.0f, 0.0f)));
    assert_true(apply("Pow", 2.0f, -1.0f) == 0.5f && apply("Pow", 0.0f, 0.0f) == 1.0f);
    assert_true(apply("Mod", -7.0f, 3.0f) == 2.0f && apply("FMod", -7.0f, 3.0f) == -1.0f);
    assert_true(apply("PRelu", -2.0f, 0.25f) == -0.5f && isnan(apply("PRelu", NAN, 0.25f)));
}

/* ---- refusals ---- */

static void refuse(tw_graph *g, const char *op, tw_value *a, tw_value *b, tw_code code)
{
    tw_diag diag = {0};
    tw_value *in[] = {a, b};
    assert_null(tw_graph_node(g, tw_op_by_name(op), "n", in, 2, 1, NULL, NULL, &diag));
    assert_int_equal(diag.code, code);
}

static void refusals(void **state)
{
    (void)state;
    tw_case c;
    open_case(&c, 3);
    tw_value *f = tw_operate_value(c.graph, TW_F32, 2, (int32_t[]){4, 3}, &c.seed);
    tw_value *g = tw_operate_value(c.graph, TW_F32, 2, (int32_t[]){4, 2}, &c.seed);
    tw_value *i = tw_operate_value(c.graph, TW_S32, 2, (int32_t[]){4, 3}, &c.seed);
    tw_value *q = tw_operate_value(c.graph, TW_S8, 2, (int32_t[]){4, 3}, &c.seed);
    refuse(c.graph, "Add", f, g, TW_CODE_FAILED);
    refuse(c.graph, "Add", f, i, TW_CODE_FAILED);
    tw_value *long_a = tw_graph_constant(c.graph, "a", tw_shape_of(TW_F32, 1, (int32_t[]){60000}),
                                         f->data); /* data is not read */
    tw_value *long_b =
        tw_graph_constant(c.graph, "b", tw_shape_of(TW_F32, 2, (int32_t[]){60000, 1}), f->data);
    refuse(c.graph, "Add", long_a, long_b, TW_CODE_UNSUPPORTED); /* 14 GB */

    q->quant = tw_quant_per_tensor(c.arena, 0.5f, 0);
    tw_value *both[] = {q, q};
    tw_lowering lowering = {0};
    tw_diag diag = {0};
    tw_node *node = tw_operate_node(c.graph, "Add", both, 2, NULL);
    assert_false(node->op->lower(node, c.arena, &lowering, &diag)); /* the result has no scale */
    assert_int_equal(diag.code, TW_CODE_UNSUPPORTED);
    node->out[0]->quant = tw_quant_per_tensor(c.arena, 1e-9f, 0); /* overflows */
    diag = (tw_diag){0};
    assert_false(node->op->lower(node, c.arena, &lowering, &diag));
    assert_int_equal(diag.code, TW_CODE_UNSUPPORTED);
    tw_value *logic[] = {f, f};
    tw_node *no_kernel = tw_operate_node(c.graph, "And", logic, 2, NULL);
    diag = (tw_diag){0};
    assert_false(no_kernel->op->lower(no_kernel, c.arena, &lowering, &diag));
    assert_int_equal(diag.code, TW_CODE_UNSUPPORTED);
    tw_arena_free(c.arena);
}

/* A plan may say anything: the check refuses what the run could not survive, the run what the check
 * cannot know. */
static void hostile_calls(void **state)
{
    (void)state;
    extern const tw_kernel tw_k_add_f32, tw_k_add_s8;
    float data[32] = {0};
    tw_tensor t[3];
    tw_view v[3];
    tw_call call = {.in = v, .out = v + 2, .in_count = 2, .out_count = 1};
    uint64_t work;
    for (int i = 0; i < 3; i++) {
        t[i] = (tw_tensor){.dtype = TW_F32, .rank = 2, .dim = {4, 3, 1, 1, 1, 1}, .stride = {3, 1}};
        v[i] = (tw_view){&t[i], data, 0, 0, 4, 0, 4, 0, 0};
    }
    assert_int_equal(tw_k_add_f32.check(&call, &work), TW_OK);
    assert_int_equal(work, 12);
    t[1].dim[1] = 2;
    assert_int_equal(tw_k_add_f32.check(&call, &work), TW_E_CHECK);
    t[1].dim[1] = 3;
    t[1].rank = 3;
    assert_int_equal(tw_k_add_f32.check(&call, &work), TW_E_CHECK);
    t[1].rank = 2;
    t[0].dtype = TW_S32;
    assert_int_equal(tw_k_add_f32.check(&call, &work), TW_E_CHECK);
    t[0].dtype = TW_F32;
    v[0].tensor = NULL;
    assert_int_equal(tw_k_add_f32.check(&call, &work), TW_E_CHECK);
    v[0].tensor = &t[0];
    v[1].row = 1, v[1].rows = 2; /* too few rows of an operand */
    v[1].data = NULL;
    assert_int_equal(tw_k_add_f32.run(&call), TW_E_SCHEDULE);
    v[1] = v[0];

    tw_binary_scales scales = {20, 1 << 30, 0, 1 << 30, 0, 1 << 30, 0};
    tw_blob blob = {&scales, sizeof scales};
    for (int i = 0; i < 3; i++)
        t[i].dtype = TW_S8;
    call.blobs = &blob;
    call.clamp_low.s32 = -128;
    call.clamp_high.s32 = 127;
    assert_int_equal(tw_k_add_s8.check(&call, &work), TW_E_CHECK); /* no table */
    call.blob_count = 1;
    assert_int_equal(tw_k_add_s8.check(&call, &work), TW_OK);
    scales.out_shift = -32;
    assert_int_equal(tw_k_add_s8.check(&call, &work), TW_E_CHECK);
    scales.out_shift = 0;
    call.clamp_high.s32 = INT32_MAX;
    assert_int_equal(tw_k_add_s8.check(&call, &work), TW_E_CHECK);
    call.clamp_high.s32 = 127;
    t[2].zero_point = INT32_MAX;
    assert_int_equal(tw_k_add_s8.check(&call, &work), TW_E_CHECK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_numbers), cmocka_unit_test(plain_integers),
        cmocka_unit_test(no_result),    cmocka_unit_test(quantised),
        cmocka_unit_test(equal_scales), cmocka_unit_test(special_values),
        cmocka_unit_test(refusals),     cmocka_unit_test(hostile_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
