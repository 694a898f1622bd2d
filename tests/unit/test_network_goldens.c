/* The two keyword spotting networks of CMSIS-NN's fixtures, layer by layer with the fixtures' own
 * multipliers, from the input to the probabilities: bit for bit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ops/conv.h"
#include "ops/depthwise_conv.h"
#include "ops/pool.h"
#include "ops/product.h"
#include "support/goldens.h"
#include "support/operate.h"

enum { MOST_LAYERS = 20 };

typedef struct tw_network {
    tw_arena *arena;
    tw_graph *graph;
    tw_golden golden;
    const char *kind; /* of the layer in hand: "CONV_2D" */
    int layer;
} tw_network;

/* The network whose layer is being lowered, and how its operator is lowered otherwise. */
static const tw_network *current;
static const tw_opdef *original;

static double constant(const tw_network *n, const char *key)
{
    const char *name = tw_format(n->arena, "%s_%d_%s", n->kind, n->layer, key);
    return tw_golden_number(&n->golden, name, NAN);
}

static int32_t number(const tw_network *n, const char *key)
{
    double v = constant(n, key);
    if (isnan(v))
        fail_msg("%s: layer %d has no %s", n->golden.folder, n->layer, key);
    return (int32_t)v;
}

/* An array of the layer, under its kind in small letters. */
static const void *array(const tw_network *n, const char *what, const char *type, int64_t *count)
{
    char kind[64] = "";
    for (size_t i = 0; n->kind[i] && i + 1 < sizeof kind; i++)
        kind[i] = (char)(n->kind[i] >= 'A' && n->kind[i] <= 'Z' ? n->kind[i] + 32 : n->kind[i]);
    return tw_golden_array(&n->golden, tw_format(n->arena, "layer_%d_%s_%s", n->layer, kind, what),
                           type, count);
}

static bool lower_as_fixture(const tw_node *node, tw_arena *arena, tw_lowering *lowering,
                             tw_diag *diag)
{
    int64_t count;
    if (!original->lower(node, arena, lowering, diag))
        return false;
    lowering->clamp_low.s32 = number(current, "OUT_ACTIVATION_MIN");
    lowering->clamp_high.s32 = number(current, "OUT_ACTIVATION_MAX");
    if (lowering->blob_count == 0)
        return true;
    const int32_t *multiplier = array(current, "output_mult", "int32", &count);
    const int32_t *shift = array(current, "output_shift", "int32", &count);
    for (uint32_t c = 0; c < lowering->blob[TW_BLOB_MULTIPLIER].bytes / 4; c++) {
        ((int32_t *)lowering->blob[TW_BLOB_MULTIPLIER].data)[c] =
            multiplier ? multiplier[c] : number(current, "OUTPUT_MULTIPLIER");
        ((int32_t *)lowering->blob[TW_BLOB_SHIFT].data)[c] =
            shift ? shift[c] : number(current, "OUTPUT_SHIFT");
    }
    return true;
}

static tw_value *compute(tw_network *n, const char *op, tw_value *const *in, int in_count,
                         const void *attributes)
{
    tw_node *node = tw_operate_node(n->graph, op, in, in_count, attributes);
    tw_opdef as_fixture = *node->op;
    as_fixture.lower = lower_as_fixture;
    node->out[0]->quant = tw_quant_per_tensor(n->arena, 1, number(n, "OUTPUT_OFFSET"));
    current = n;
    original = node->op;
    node->op = &as_fixture;
    tw_operate_whole(node, n->arena);
    node->op = original;
    return node->out[0];
}

static tw_value *stored(tw_network *n, const char *what, const char *type, int rank,
                        const int32_t *dim)
{
    int64_t count;
    tw_shape shape = tw_shape_of(type[3] == '8' ? TW_S8 : TW_S32, rank, dim);
    const void *data = array(n, what, type, &count);
    if (!data || count != tw_shape_elements(&shape))
        fail_msg("%s: layer %d: %s has %lld elements", n->golden.folder, n->layer, what,
                 (long long)count);
    tw_value *v = tw_graph_constant(n->graph, what, shape, data);
    if (shape.dtype == TW_S8)
        v->quant = tw_quant_per_tensor(n->arena, 1, 0);
    return v;
}

static tw_value *reshaped(tw_network *n, const tw_value *x, int rank, const int32_t *dim)
{
    tw_shape shape = tw_shape_of(x->shape.dtype, rank, dim);
    assert_int_equal(tw_shape_elements(&shape), tw_shape_elements(&x->shape));
    tw_value *v = tw_graph_constant(n->graph, "reshaped", shape, x->data);
    v->quant = x->quant;
    return v;
}

static tw_ints pair(const tw_network *n, const char *rows, const char *columns)
{
    return (tw_ints){2, {number(n, rows), number(n, columns)}};
}

/* What the output needs behind the input's end. */
static tw_ints pads_behind(const tw_network *n)
{
    const tw_ints kernel = pair(n, "FILTER_Y", "FILTER_X"),
                  stride = pair(n, "STRIDE_Y", "STRIDE_X");
    const tw_ints in = pair(n, "INPUT_H", "INPUT_W"), out = pair(n, "OUTPUT_H", "OUTPUT_W");
    const tw_ints before = pair(n, "PAD_Y", "PAD_X");
    tw_ints behind = {2, {0}};
    for (int i = 0; i < 2; i++) {
        int32_t rest = (out.v[i] - 1) * stride.v[i] + kernel.v[i] - in.v[i] - before.v[i];
        behind.v[i] = rest > 0 ? rest : 0;
    }
    return behind;
}

/* The layer in hand over x, the result of the one before. */
static tw_value *run_layer(tw_network *n, tw_value *x)
{
    const int32_t channels = strcmp(n->kind, "SOFTMAX") ? number(n, "IN_CH") : 0;
    if (strcmp(n->kind, "SOFTMAX") == 0) {
        const int32_t dim[] = {number(n, "NUM_ROWS"), number(n, "ROW_SIZE")};
        x = reshaped(n, x, 2, dim);
        x->quant =
            tw_quant_per_tensor(/* the multiplier stands for scale * 2^26 */
                                n->arena,
                                (float)ldexp(number(n, "MULT"), number(n, "SHIFT") - 31 - 26), 0);
        tw_node *node = tw_operate_node(n->graph, "Softmax", &x, 1, NULL);
        node->out[0]->quant = tw_quant_per_tensor(n->arena, 1.0f / 256, -128);
        tw_operate_whole(node, n->arena);
        return node->out[0];
    }
    const int32_t outputs = number(n, "OUT_CH");
    if (strcmp(n->kind, "FULLY_CONNECTED") == 0) {
        const int32_t dim[] = {1, channels}, w[] = {outputs, channels};
        tw_value *in[] = {reshaped(n, x, 2, dim), stored(n, "weights", "int8", 2, w),
                          stored(n, "bias", "int32", 1, &outputs)};
        return compute(n, "FullyConnected", in, 3, NULL);
    }
    const tw_ints kernel = pair(n, "FILTER_Y", "FILTER_X"),
                  stride = pair(n, "STRIDE_Y", "STRIDE_X");
    const tw_ints one = {2, {1, 1}}, before = pair(n, "PAD_Y", "PAD_X"), behind = pads_behind(n);
    const int32_t image[] = {1, number(n, "INPUT_H"), number(n, "INPUT_W"), channels};
    x = reshaped(n, x, 4, image);
    if (strcmp(n->kind, "AVERAGE_POOL_2D") == 0) {
        const tw_pool_attributes a = {stride, one, before, behind, kernel, 0, 0, TW_POOL_HALF_AWAY};
        return compute(n, "AveragePool", &x, 1, &a);
    }
    if (strcmp(n->kind, "DEPTHWISE_CONV_2D") == 0) {
        const tw_depthwise_conv_attributes a = {stride, one, before, behind};
        const int32_t w[] = {kernel.v[0], kernel.v[1], outputs};
        tw_value *in[] = {x, stored(n, "weights", "int8", 3, w),
                          stored(n, "bias", "int32", 1, &outputs)};
        return compute(n, "DepthwiseConv", in, 3, &a);
    }
    const tw_conv_attributes a = {stride, one, before, behind, 1};
    const int32_t w[] = {outputs, kernel.v[0], kernel.v[1], channels};
    tw_value *in[] = {x, stored(n, "weights", "int8", 4, w),
                      stored(n, "bias", "int32", 1, &outputs)};
    return compute(n, "Conv", in, 3, &a);
}

/* The kind of layer `layer`, or null: its constants name it. */
static const char *kind_of(tw_network *n, int layer)
{
    static const char *const kinds[] = {"CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D",
                                        "FULLY_CONNECTED", "SOFTMAX"};
    n->layer = layer;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        n->kind = kinds[i];
        if (!isnan(constant(n, "OUT_CH")))
            return kinds[i];
    }
    return NULL;
}

static void run_network(const char *name)
{
    tw_network n = {.arena = tw_arena_new()};
    int64_t count;
    int layers = 0;
    n.graph = tw_graph_new(n.arena, name);
    assert_true(tw_golden_open(n.arena, name, &n.golden));
    const void *input = tw_golden_array(&n.golden, "input", "int8", &count);
    const int32_t all = (int32_t)count;
    assert_non_null(input);
    tw_value *x = tw_graph_constant(n.graph, "input", tw_shape_of(TW_S8, 1, &all), input);
    for (int i = 0; i < MOST_LAYERS; i++) {
        if (!kind_of(&n, i))
            continue;
        if (layers++ == 0)
            x->quant = tw_quant_per_tensor(n.arena, 1, -number(&n, "INPUT_OFFSET"));
        x = run_layer(&n, x);
    }
    assert_true(layers > 10);
    const void *want = tw_golden_array(&n.golden, "output_ref", "int8", &count);
    assert_int_equal(count, tw_shape_elements(&x->shape));
    assert_memory_equal(x->data, want, (size_t)count);
    tw_arena_free(n.arena);
}

static void test_networks(void **unused)
{
    (void)unused;
    tw_arena *list = tw_arena_new();
    int count = 0;
    for (const char **name = tw_goldens_list(list, "network", "int8"); *name; name++, count++)
        run_network(*name);
    assert_int_equal(count, 2);
    tw_arena_free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_networks),
    };
    if (!tw_goldens_present())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
