/* Conv, DepthwiseConv, ConvTranspose, FullyConnected, MatMul and the pools against every fixture of
 * CMSIS-NN, int8, int4 weights, int16 and float: integers bit for bit, with the fixture's own
 * multipliers; whole and in bands. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ops/conv.h"
#include "ops/conv_transpose.h"
#include "ops/depthwise_conv.h"
#include "ops/matmul.h"
#include "ops/pool.h"
#include "ops/product.h"
#include "support/goldens.h"
#include "support/operate.h"

typedef struct tw_fixture {
    tw_arena *arena;
    tw_graph *graph;
    tw_golden golden;
    const char *type;    /* as INDEX.tsv has it; int4: of the weights */
    const char *results; /* of input and output_ref */
    bool is_float;
} tw_fixture;

/* The fixture that is being lowered, and how its operator is lowered otherwise. */
static const tw_fixture *current;
static const tw_opdef *original;

static int each(const char *op, const char *dtype, void (*visit)(tw_fixture *f))
{
    tw_arena *list = tw_arena_new();
    int count = 0;
    for (const char **name = tw_goldens_list(list, op, dtype); *name; name++) {
        tw_fixture f = {tw_arena_new(), NULL, {0}, dtype, dtype, strcmp(dtype, "f32") == 0};
        if (strcmp(dtype, "int4") == 0)
            f.results = "int8";
        f.graph = tw_graph_new(f.arena, *name);
        assert_true(tw_golden_open(f.arena, *name, &f.golden));
        visit(&f);
        count++;
        tw_arena_free(f.arena);
    }
    tw_arena_free(list);
    return count;
}

/* A constant under either of its two names. */
static int32_t number(const tw_fixture *f, const char *key, const char *alias)
{
    double v =
        tw_golden_number(&f->golden, key, alias ? tw_golden_number(&f->golden, alias, NAN) : NAN);
    if (isnan(v))
        fail_msg("%s has no %s", f->golden.folder, key);
    return (int32_t)v;
}

static tw_dtype dtype_of(const char *type)
{
    static const struct {
        const char *name;
        tw_dtype dtype;
    } types[] = {{"f32", TW_F32},   {"int4", TW_S8},   {"int8", TW_S8},
                 {"int16", TW_S16}, {"int32", TW_S32}, {"int64", TW_S64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, type) == 0)
            return types[i].dtype;
    fail_msg("type %s", type);
    return TW_NO_DTYPE;
}

static tw_value *array(tw_fixture *f, const char *name, const char *type, int rank,
                       const int32_t *dim)
{
    int64_t count;
    tw_shape shape = tw_shape_of(dtype_of(type), rank, dim);
    const void *data = tw_golden_array(&f->golden, name, type, &count);
    if (!data || count != tw_shape_elements(&shape))
        fail_msg("%s: %s has %lld elements", f->golden.folder, name, (long long)count);
    tw_value *v = tw_graph_constant(f->graph, name, shape, data);
    if (shape.dtype == TW_S8 || shape.dtype == TW_S16)
        v->quant = tw_quant_per_tensor(f->arena, 1, 0);
    return v;
}

static tw_value *elements(tw_fixture *f, const char *name, int rank, const int32_t *dim)
{
    return array(f, name, f->results, rank, dim);
}

static tw_value *weights(tw_fixture *f, int rank, const int32_t *dim)
{
    const char *type = strcmp(f->type, "int16") == 0 ? "int8" : f->type;
    return array(f, "weights", type, rank, dim);
}

/* int16 fixtures without one have a bias of zeros where their sums are of 64 bits. */
static tw_value *bias(tw_fixture *f, int32_t outputs)
{
    int64_t count;
    const char *named = tw_golden_text(&f->golden, "BIAS_TYPE");
    const char *type = f->is_float ? "f32" : named ? named : "int32";
    if (tw_golden_array(&f->golden, "biases", type, &count))
        return array(f, "biases", type, 1, &outputs);
    if (strcmp(type, "int64") != 0)
        return NULL;
    tw_shape shape = tw_shape_of(TW_S64, 1, &outputs);
    return tw_graph_constant(f->graph, "biases", shape, tw_alloc(f->arena, tw_shape_bytes(&shape)));
}

static void set_zero(tw_fixture *f, tw_value *v, const char *offset)
{
    if (!f->is_float)
        v->quant = tw_quant_per_tensor(f->arena, 1, -number(f, offset, NULL));
}

/* The operator's own lowering, then the fixture's multipliers and bounds instead of those that come
 * from scales: the fixture has no scales. */
static bool lower_as_fixture(const tw_node *node, tw_arena *arena, tw_lowering *lowering,
                             tw_diag *diag)
{
    const tw_golden *g = &current->golden;
    if (!(original->lower ? original->lower : tw_lower_default)(node, arena, lowering, diag))
        return false;
    double low =
        tw_golden_number(g, "OUT_ACTIVATION_MIN", tw_golden_number(g, "ACTIVATION_MIN", NAN));
    double high =
        tw_golden_number(g, "OUT_ACTIVATION_MAX", tw_golden_number(g, "ACTIVATION_MAX", NAN));
    assert_false(isnan(low) || isnan(high));
    if (current->is_float) {
        lowering->clamp_low.f32 = (float)low;
        lowering->clamp_high.f32 = (float)high;
        return true;
    }
    lowering->clamp_low.s32 = (int32_t)low;
    lowering->clamp_high.s32 = (int32_t)high;
    if (tw_golden_number(g, "OUTPUT_OFFSET", 0) > INT8_MAX)
        lowering->clamp_high.s32--;
    if (lowering->blob_count == 0)
        return true;
    int64_t count = 0;
    uint32_t channels = lowering->blob[TW_BLOB_MULTIPLIER].bytes / 4;
    const int32_t *multiplier = tw_golden_array(g, "output_mult", "int32", &count);
    const int32_t *shift = tw_golden_array(g, "output_shift", "int32", &count);
    for (uint32_t c = 0; c < channels; c++) {
        int32_t m = (int32_t)tw_golden_number(g, "OUTPUT_MULTIPLIER", 0);
        int32_t s = (int32_t)tw_golden_number(g, "OUTPUT_SHIFT", 0);
        if (multiplier && shift) {
            assert_int_equal(count, channels);
            m = multiplier[c];
            s = shift[c];
        }
        ((int32_t *)lowering->blob[TW_BLOB_MULTIPLIER].data)[c] = m;
        ((int32_t *)lowering->blob[TW_BLOB_SHIFT].data)[c] = s;
    }
    return true;
}

/* fully_connected_int4_6 adds 128 to its results, which no zero point of an int8 tensor can be: with 127
 * and the upper bound one less they come out one less, down to the lower bound. */
static const int8_t *one_less(tw_fixture *f, const int8_t *want, int64_t count)
{
    int8_t *less = tw_alloc(f->arena, (size_t)count);
    assert_string_equal(f->results, "int8");
    for (int64_t i = 0; i < count; i++) {
        less[i] = (int8_t)(want[i] > INT8_MIN ? want[i] - 1 : INT8_MIN);
    }
    return less;
}

static void expect(tw_fixture *f, tw_node *node)
{
    int64_t count;
    uint64_t state = 1;
    int32_t offset = (int32_t)tw_golden_number(&f->golden, "OUTPUT_OFFSET", 0);
    tw_opdef op = *node->op;
    op.lower = lower_as_fixture;
    original = node->op;
    current = f;
    node->op = &op;
    if (!f->is_float && node->out[0]->quant.count == 0)
        node->out[0]->quant =
            tw_quant_per_tensor(f->arena, 1, offset > INT8_MAX ? INT8_MAX : offset);
    const void *want = tw_golden_array(&f->golden, "output_ref", f->results, &count);
    assert_non_null(want);
    if (offset > INT8_MAX)
        want = one_less(f, want, count);
    if (count != tw_shape_elements(&node->out[0]->shape))
        fail_msg("%s: %lld elements expected", f->golden.folder, (long long)count);
    tw_value expected = {.shape = node->out[0]->shape, .data = want};
    (void)tw_operate_whole(node, f->arena);
    for (int64_t i = 0; i < count; i++) {
        double a = tw_constant_at(node->out[0], i), b = tw_constant_at(&expected, i);
        if (f->is_float ? !(fabs(a - b) <= 2e-5 * fmax(1, fabs(b))) : a != b)
            fail_msg("%s: element %lld is %g, expected %g", f->golden.folder, (long long)i, a, b);
    }
    tw_operate_bands(node, &state);
    node->op = original;
}

/* ---- windows ---- */

typedef struct tw_window_keys {
    int32_t in[2], out[2], kernel[2], stride[2], dilation[2], begin[2], end[2];
} tw_window_keys;

static tw_window_keys window_of(const tw_fixture *f)
{
    tw_window_keys w = {{number(f, "INPUT_H", NULL), number(f, "INPUT_W", NULL)},
                        {number(f, "OUTPUT_H", NULL), number(f, "OUTPUT_W", NULL)},
                        {number(f, "FILTER_Y", "FILTER_H"), number(f, "FILTER_X", "FILTER_W")},
                        {number(f, "STRIDE_Y", "STRIDE_H"), number(f, "STRIDE_X", "STRIDE_W")},
                        {1, 1},
                        {number(f, "PAD_Y", "PADDING_H"), number(f, "PAD_X", "PADDING_W")},
                        {0, 0}};
    if (tw_golden_text(&f->golden, "DILATION_Y") || tw_golden_text(&f->golden, "DILATION_H")) {
        w.dilation[0] = number(f, "DILATION_Y", "DILATION_H");
        w.dilation[1] = number(f, "DILATION_X", "DILATION_W");
    }
    for (int i = 0; i < 2; i++) { /* what the output needs at the end */
        int32_t reach = (w.out[i] - 1) * w.stride[i] + (w.kernel[i] - 1) * w.dilation[i] + 1;
        int32_t end = reach - w.in[i] - w.begin[i];
        w.end[i] = end > 0 ? end : 0;
    }
    return w;
}

static tw_ints list(const int32_t *v)
{
    return (tw_ints){2, {v[0], v[1]}};
}

static void check_conv(tw_fixture *f)
{
    tw_window_keys w = window_of(f);
    int32_t channels = number(f, "IN_CH", NULL), outputs = number(f, "OUT_CH", NULL);
    int32_t depth = (int32_t)tw_golden_number(&f->golden, "FILTER_CH", channels);
    int32_t x[4] = {number(f, "INPUT_BATCHES", NULL), w.in[0], w.in[1], channels};
    int32_t k[4] = {outputs, w.kernel[0], w.kernel[1], depth};
    tw_conv_attributes a = {list(w.stride), list(w.dilation), list(w.begin), list(w.end),
                            channels / depth};
    tw_value *in[3] = {elements(f, "input", 4, x), weights(f, 4, k), bias(f, outputs)};
    set_zero(f, in[0], "INPUT_OFFSET");
    expect(f, tw_operate_node(f->graph, "Conv", in, 3, &a));
}

static void check_depthwise(tw_fixture *f)
{
    tw_window_keys w = window_of(f);
    int32_t outputs = number(f, "OUT_CH", NULL);
    int32_t x[4] = {number(f, "INPUT_BATCHES", NULL), w.in[0], w.in[1], number(f, "IN_CH", NULL)};
    int32_t k[3] = {w.kernel[0], w.kernel[1], outputs};
    tw_depthwise_conv_attributes a = {list(w.stride), list(w.dilation), list(w.begin), list(w.end)};
    tw_value *in[3] = {elements(f, "input", 4, x), weights(f, 3, k), bias(f, outputs)};
    set_zero(f, in[0], "INPUT_OFFSET");
    expect(f, tw_operate_node(f->graph, "DepthwiseConv", in, 3, &a));
}

/* Padded in front; what is too much behind is cut off. */
static void check_transpose(tw_fixture *f)
{
    tw_window_keys w = window_of(f);
    int32_t channels = number(f, "IN_CH", NULL), outputs = number(f, "OUT_CH", NULL);
    int32_t x[4] = {number(f, "INPUT_BATCHES", NULL), w.in[0], w.in[1], channels};
    int32_t k[4] = {outputs, w.kernel[0], w.kernel[1], channels}, end[2], more[2];
    for (int i = 0; i < 2; i++) {
        int32_t full = (w.in[i] - 1) * w.stride[i] + (w.kernel[i] - 1) * w.dilation[i] + 1;
        int32_t rest = full - w.begin[i] - w.out[i];
        end[i] = rest > 0 ? rest : 0;
        more[i] = rest < 0 ? -rest : 0;
    }
    tw_conv_transpose_attributes a = {list(w.stride), list(w.dilation), list(w.begin), list(end), 1,
                                      list(more)};
    tw_value *in[3] = {elements(f, "input", 4, x), weights(f, 4, k), bias(f, outputs)};
    set_zero(f, in[0], "INPUT_OFFSET");
    expect(f, tw_operate_node(f->graph, "ConvTranspose", in, 3, &a));
}

static void check_pool(tw_fixture *f, const char *op)
{
    tw_window_keys w = window_of(f);
    int64_t count;
    int32_t x[4] = {1, w.in[0], w.in[1], number(f, "INPUT_C", NULL)};
    assert_non_null(tw_golden_array(&f->golden, "input", f->results, &count));
    x[0] = (int32_t)(count / x[1] / x[2] / x[3]);
    tw_pool_attributes a = {
        list(w.stride),   list(w.dilation), list(w.begin), list(w.end), list(w.kernel), 0, 0,
        TW_POOL_HALF_AWAY};
    tw_value *in = elements(f, "input", 4, x);
    tw_node *node = tw_operate_node(f->graph, op, &in, 1, &a);
    node->out[0]->quant = in->quant;
    expect(f, node);
}

static void check_max(tw_fixture *f)
{
    check_pool(f, "MaxPool");
}

static void check_average(tw_fixture *f)
{
    check_pool(f, "AveragePool");
}

/* ---- matrices ---- */

static void check_connected(tw_fixture *f)
{
    int32_t outputs = number(f, "OUT_CH", NULL), batch = number(f, "INPUT_BATCHES", NULL);
    int32_t depth =
        number(f, "INPUT_H", NULL) * number(f, "INPUT_W", NULL) * number(f, "IN_CH", NULL);
    int32_t x[2] = {batch, depth}, k[2] = {outputs, depth};
    tw_value *in[3] = {elements(f, "input", 2, x), weights(f, 2, k), bias(f, outputs)};
    set_zero(f, in[0], "INPUT_OFFSET");
    if (tw_golden_text(&f->golden, "FILTER_OFFSET"))
        set_zero(f, in[1], "FILTER_OFFSET");
    expect(f, tw_operate_node(f->graph, "FullyConnected", in, 3, NULL));
}

/* The first operand as rows by depth: MatMul transposes only its second. */
static tw_value *straighten(tw_fixture *f, tw_value *v)
{
    int32_t rows = v->shape.dim[2], columns = v->shape.dim[3];
    int32_t dim[4] = {v->shape.dim[0], v->shape.dim[1], columns, rows};
    size_t bytes = tw_dtype_bytes(v->shape.dtype);
    char *data = tw_alloc(f->arena, tw_shape_bytes(&v->shape));
    for (int32_t m = 0; m < dim[0] * dim[1]; m++)
        for (int32_t r = 0; r < rows; r++)
            for (int32_t c = 0; c < columns; c++) {
                int64_t from = ((int64_t)m * rows + r) * columns + c;
                int64_t to = ((int64_t)m * columns + c) * rows + r;
                memcpy(data + (size_t)to * bytes, (const char *)v->data + (size_t)from * bytes,
                       bytes);
            }
    tw_value *turned =
        tw_graph_constant(f->graph, "turned", tw_shape_of(v->shape.dtype, 4, dim), data);
    turned->quant = v->quant;
    return turned;
}

static void check_matmul(tw_fixture *f)
{
    int32_t a[4] = {number(f, "LHS_BATCH", NULL), number(f, "LHS_HEIGHT", NULL),
                    number(f, "LHS_ROWS", NULL), number(f, "LHS_COLS", NULL)};
    int32_t b[4] = {number(f, "RHS_BATCH", NULL), number(f, "RHS_HEIGHT", NULL),
                    number(f, "RHS_ROWS", NULL), number(f, "RHS_COLS", NULL)};
    tw_matmul_attributes attributes = {number(f, "ADJ_Y", NULL)};
    tw_value *in[2] = {elements(f, "lhs", 4, a), elements(f, "rhs", 4, b)};
    set_zero(f, in[0], "LHS_OFFSET");
    set_zero(f, in[1], "RHS_OFFSET");
    if (number(f, "ADJ_X", NULL))
        in[0] = straighten(f, in[0]);
    expect(f, tw_operate_node(f->graph, "MatMul", in, 2, &attributes));
}

static void test_int8(void **unused)
{
    (void)unused;
    assert_int_equal(each("conv", "int8", check_conv), 31);
    assert_int_equal(each("depthwise_conv", "int8", check_depthwise), 12);
    assert_int_equal(each("transpose_conv", "int8", check_transpose), 8);
    assert_int_equal(each("fully_connected", "int8", check_connected), 8);
    assert_int_equal(each("batch_matmul", "int8", check_matmul), 5);
    assert_int_equal(each("max_pool", "int8", check_max), 8);
    assert_int_equal(each("avg_pool", "int8", check_average), 6);
}

static void test_int4(void **unused)
{
    (void)unused;
    assert_int_equal(each("conv", "int4", check_conv), 51);
    assert_int_equal(each("depthwise_conv", "int4", check_depthwise), 10);
    assert_int_equal(each("fully_connected", "int4", check_connected), 6);
}

static void test_int16(void **unused)
{
    (void)unused;
    assert_int_equal(each("conv", "int16", check_conv), 13);
    assert_int_equal(each("depthwise_conv", "int16", check_depthwise), 12);
    assert_int_equal(each("fully_connected", "int16", check_connected), 3);
    assert_int_equal(each("batch_matmul", "int16", check_matmul), 5);
    assert_int_equal(each("max_pool", "int16", check_max), 3);
    assert_int_equal(each("avg_pool", "int16", check_average), 4);
}

static void test_float(void **unused)
{
    (void)unused;
    assert_int_equal(each("conv", "f32", check_conv), 35);
    assert_int_equal(each("depthwise_conv", "f32", check_depthwise), 15);
    assert_int_equal(each("transpose_conv", "f32", check_transpose), 2);
    assert_int_equal(each("fully_connected", "f32", check_connected), 12);
    assert_int_equal(each("batch_matmul", "f32", check_matmul), 7);
    assert_int_equal(each("max_pool", "f32", check_max), 11);
    assert_int_equal(each("avg_pool", "f32", check_average), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_int8),
        cmocka_unit_test(test_int4),
        cmocka_unit_test(test_int16),
        cmocka_unit_test(test_float),
    };
    if (!tw_goldens_present())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
