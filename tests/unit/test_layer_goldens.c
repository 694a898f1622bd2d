/* Add, Mul, Max, Min, Softmax of int16, Svdf and Lstm against every integer fixture of CMSIS-NN, with
 * the fixture's own multipliers: bit for bit, whole and in bands. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ops/binary.h"
#include "ops/lstm.h"
#include "ops/softmax.h"
#include "ops/svdf.h"
#include "support/goldens.h"
#include "support/operate.h"

typedef struct tw_fixture {
    tw_arena *arena;
    tw_graph *graph;
    tw_golden golden;
    const char *type;
} tw_fixture;

/* The fixture that is being lowered, how its operator is lowered otherwise, and what takes the place
 * of the tables that come from scales: the fixture has none. */
static const tw_fixture *current;
static const tw_opdef *original;
static void (*set_tables)(const tw_fixture *f, tw_lowering *lowering);

static int each(const char *op, const char *type, void (*visit)(tw_fixture *f))
{
    tw_arena *list = tw_arena_new();
    int count = 0;
    for (const char **name = tw_goldens_list(list, op, type); *name; name++) {
        tw_fixture f = {tw_arena_new(), NULL, {0}, type};
        f.graph = tw_graph_new(f.arena, *name);
        assert_true(tw_golden_open(f.arena, *name, &f.golden));
        visit(&f);
        count++;
        tw_arena_free(f.arena);
    }
    tw_arena_free(list);
    return count;
}

static int32_t number(const tw_fixture *f, const char *key)
{
    double v = tw_golden_number(&f->golden, key, NAN);
    if (isnan(v))
        fail_msg("%s has no %s", f->golden.folder, key);
    return (int32_t)v;
}

/* A number named PART_KEY. */
static int32_t part(const tw_fixture *f, const char *name, const char *key)
{
    return number(f, tw_format(f->arena, "%s_%s", name, key));
}

static const void *array(const tw_fixture *f, const char *name, const char *type, int64_t count)
{
    int64_t found;
    const void *data = tw_golden_array(&f->golden, name, type, &found);
    if (!data || found != count)
        fail_msg("%s: %s has %lld elements", f->golden.folder, name, (long long)found);
    return data;
}

static bool is_wide(const tw_fixture *f)
{
    return strcmp(f->type, "int16") == 0;
}

static tw_value *constant(tw_fixture *f, const char *name, tw_shape shape, const void *data,
                          int32_t zero)
{
    tw_value *v = tw_graph_constant(f->graph, name, shape, data);
    if (shape.dtype == TW_S8 || shape.dtype == TW_S16)
        v->quant = tw_quant_per_tensor(f->arena, 1.0f / 1024, zero);
    return v;
}

/* An array of the fixture's own type. */
static tw_value *operand(tw_fixture *f, const char *name, int rank, const int32_t *dim,
                         int32_t zero)
{
    tw_shape shape = tw_shape_of(is_wide(f) ? TW_S16 : TW_S8, rank, dim);
    return constant(f, name, shape, array(f, name, f->type, tw_shape_elements(&shape)), zero);
}

static bool lower_as_fixture(const tw_node *node, tw_arena *arena, tw_lowering *lowering,
                             tw_diag *diag)
{
    if (!original->lower(node, arena, lowering, diag))
        return false;
    lowering->clamp_low.s32 =
        (int32_t)tw_golden_number(&current->golden, "OUT_ACTIVATION_MIN", lowering->clamp_low.s32);
    lowering->clamp_high.s32 =
        (int32_t)tw_golden_number(&current->golden, "OUT_ACTIVATION_MAX", lowering->clamp_high.s32);
    if (set_tables)
        set_tables(current, lowering);
    return true;
}

static void begin(const tw_fixture *f, tw_node *node, tw_opdef *op,
                  void (*tables)(const tw_fixture *f, tw_lowering *lowering))
{
    *op = *node->op;
    op->lower = lower_as_fixture;
    original = node->op;
    current = f;
    set_tables = tables;
    node->op = op;
}

/* Compute the node, whole, and compare its output with output_ref, or `want` where it is not null; its
 * bands with itself. */
static void expect(tw_fixture *f, tw_node *node, int32_t zero, const void *want,
                   void (*tables)(const tw_fixture *f, tw_lowering *lowering))
{
    tw_opdef op;
    uint64_t state = 1;
    tw_value *out = node->out[0];
    if (out->quant.count == 0)
        out->quant = tw_quant_per_tensor(f->arena, 1, zero);
    begin(f, node, &op, tables);
    const char *type = out->shape.dtype == TW_S16 ? "int16" : "int8";
    if (!want)
        want = array(f, "output_ref", type, tw_shape_elements(&out->shape));
    const void *got = tw_operate_whole(node, f->arena);
    if (memcmp(got, want, tw_shape_bytes(&out->shape)) != 0)
        fail_msg("%s differs", f->golden.folder);
    tw_operate_bands(node, &state);
    node->op = original;
}

/* ---- Add, Mul, Max, Min ---- */

static void binary_tables(const tw_fixture *f, tw_lowering *lowering)
{
    tw_binary_scales *s = lowering->blob[0].data;
    s->left = (int32_t)tw_golden_number(&f->golden, "LEFT_SHIFT", 0);
    s->a_multiplier = (int32_t)tw_golden_number(&f->golden, "INPUT1_MULT", 0);
    s->a_shift = (int32_t)tw_golden_number(&f->golden, "INPUT1_SHIFT", 0);
    s->b_multiplier = (int32_t)tw_golden_number(&f->golden, "INPUT2_MULT", 0);
    s->b_shift = (int32_t)tw_golden_number(&f->golden, "INPUT2_SHIFT", 0);
    s->out_multiplier = number(f, "OUTPUT_MULT");
    s->out_shift = number(f, "OUTPUT_SHIFT");
}

static void check_binary(tw_fixture *f, const char *op)
{
    int32_t dim[1] = {number(f, "DST_SIZE")};
    tw_value *in[2] = {operand(f, "input1", 1, dim, -number(f, "INPUT1_OFFSET")),
                       operand(f, "input2", 1, dim, -number(f, "INPUT2_OFFSET"))};
    expect(f, tw_operate_node(f->graph, op, in, 2, NULL), number(f, "OUTPUT_OFFSET"), NULL,
           binary_tables);
}

static void check_add(tw_fixture *f)
{
    check_binary(f, "Add");
}

static void check_mul(tw_fixture *f)
{
    check_binary(f, "Mul");
}

/* All of one scale: what the scale is does not matter. */
static void check_choice(tw_fixture *f, const char *op)
{
    static const char *const axes[] = {"BATCH", "HEIGHT", "WIDTH", "CHANNEL"};
    tw_value *in[2];
    for (int i = 0; i < 2; i++) {
        int32_t dim[4];
        for (int k = 0; k < 4; k++)
            dim[k] = number(f, tw_format(f->arena, "%s_%d", axes[k], i + 1));
        in[i] = operand(f, tw_format(f->arena, "input%d", i + 1), 4, dim, 0);
    }
    tw_node *node = tw_operate_node(f->graph, op, in, 2, NULL);
    node->out[0]->quant = in[0]->quant;
    expect(f, node, 0, NULL, NULL);
}

static void check_max(tw_fixture *f)
{
    check_choice(f, "Max");
}

static void check_min(tw_fixture *f)
{
    check_choice(f, "Min");
}

static void test_binary(void **unused)
{
    (void)unused;
    assert_int_equal(each("add", "int8", check_add), 1);
    assert_int_equal(each("mul", "int8", check_mul), 1);
    assert_int_equal(each("add", "int16", check_add), 2);
    assert_int_equal(each("mul", "int16", check_mul), 2);
    assert_int_equal(each("maximum", "int8", check_max), 7);
    assert_int_equal(each("minimum", "int8", check_min), 7);
}

/* ---- Softmax ---- */

/* The fixture has the tables too: they must be ours. */
static void softmax_tables(const tw_fixture *f, tw_lowering *lowering)
{
    tw_softmax_s16 *t = lowering->blob[0].data;
    assert_memory_equal(t->exp, array(f, "exp_lut", "int16", 513), sizeof t->exp);
    assert_memory_equal(t->reciprocal, array(f, "one_by_one_lut", "int16", 513),
                        sizeof t->reciprocal);
    t->multiplier = number(f, "INPUT_MULT");
    t->shift = number(f, "INPUT_LEFT_SHIFT");
}

static void check_softmax(tw_fixture *f)
{
    int32_t dim[2] = {number(f, "NUM_ROWS"), number(f, "ROW_SIZE")};
    tw_value *x = operand(f, "input", 2, dim, 0);
    tw_node *node = tw_operate_node(f->graph, "Softmax", &x, 1, NULL);
    node->out[0]->quant = tw_quant_per_tensor(f->arena, 1.0f / 32768, 0);
    expect(f, node, 0, NULL, softmax_tables);
}

/* The ones with int8 results are among the fixtures of moves. */
static void check_softmax_to_wide(tw_fixture *f)
{
    int64_t count;
    if (!tw_golden_array(&f->golden, "output_ref", "int16", &count))
        return;
    int32_t dim[2] = {number(f, "NUM_ROWS"), number(f, "ROW_SIZE")};
    tw_value *x = operand(f, "input", 2, dim, 0);
    x->quant = tw_quant_per_tensor(/* the multiplier stands for scale * 2^26 */
                                   f->arena,
                                   (float)ldexp(number(f, "INPUT_MULT"),
                                                number(f, "INPUT_LEFT_SHIFT") - 31 - 26),
                                   0);
    tw_softmax_attributes a = {-1, 1, TW_S16};
    tw_node *node = tw_operate_node(f->graph, "Softmax", &x, 1, &a);
    node->out[0]->quant = tw_quant_per_tensor(f->arena, 1.0f / 65536, -32768);
    expect(f, node, 0, NULL, NULL);
}

static void test_softmax(void **unused)
{
    (void)unused;
    assert_int_equal(each("softmax", "int16", check_softmax), 1);
    assert_int_equal(each("softmax", "int8", check_softmax_to_wide), 2);
}

/* ---- Svdf ---- */

static void svdf_tables(const tw_fixture *f, tw_lowering *lowering)
{
    tw_svdf_scales *s = lowering->blob[TW_SVDF_BLOB_SCALES].data;
    s->feature_multiplier = number(f, "MULTIPLIER_IN");
    s->feature_shift = number(f, "SHIFT_1");
    s->out_multiplier = number(f, "MULTIPLIER_OUT");
    s->out_shift = number(f, "SHIFT_2");
}

/* The memory after a step that is not the last. */
static const void *svdf_step(tw_fixture *f, tw_node *node)
{
    tw_opdef op;
    tw_diag diag = {0};
    node->out[0]->quant = tw_quant_per_tensor(f->arena, 1, number(f, "OUTPUT_OFFSET"));
    node->out[1]->quant = node->in[4]->quant;
    begin(f, node, &op, svdf_tables);
    assert_true(tw_evaluate(node, f->arena, 0, &diag));
    node->op = original;
    return node->out[1]->data;
}

static void check_svdf(tw_fixture *f)
{
    int64_t count;
    int32_t batch = number(f, "INPUT_BATCHES"), inputs = number(f, "INPUT_SIZE");
    int32_t filters = number(f, "FEATURE_BATCHES"), taps = number(f, "TIME_BATCHES");
    tw_svdf_attributes a = {number(f, "RANK"), false};
    int32_t units = filters / a.rank;
    const char *memory = tw_golden_array(&f->golden, "state", "int8", &count) ? "int8" : "int16";
    tw_dtype kept = strcmp(memory, "int8") == 0 ? TW_S8 : TW_S16;
    const int32_t x[] = {batch, inputs}, s[] = {batch, filters * taps};
    const int32_t w[] = {filters, inputs}, t[] = {filters, taps};
    tw_value *in[5] = {NULL, operand(f, "weights_feature", 2, w, 0), NULL, NULL, NULL};
    in[2] = constant(f, "weights_time", tw_shape_of(kept, 2, t),
                     array(f, "weights_time", memory, filters * taps), 0);
    if (tw_golden_array(&f->golden, "biases", "int32", &count))
        in[3] = constant(f, "biases", tw_shape_of(TW_S32, 1, &units),
                         array(f, "biases", "int32", units), 0);
    const void *state = array(f, "state", memory, batch * filters * taps);
    const int8_t *sequence = tw_golden_array(&f->golden, "input_sequence", "int8", &count);
    assert_non_null(sequence);
    const int64_t steps = count / (batch * inputs);
    for (int64_t i = 0; i < steps; i++) {
        const bool last = i == steps - 1;
        in[0] = constant(f, "x", tw_shape_of(TW_S8, 2, x), sequence + i * batch * inputs,
                         number(f, "INPUT_OFFSET"));
        in[4] = constant(f, "s", tw_shape_of(kept, 2, s), state, 0);
        tw_diag diag = {0};
        tw_node *node = tw_graph_node(f->graph, tw_op_by_name("Svdf"), "", in, 5, last ? 1 : 2,
                                      NULL, &a, &diag);
        assert_non_null(node);
        if (last)
            expect(f, node, number(f, "OUTPUT_OFFSET"), NULL, svdf_tables);
        else
            state = svdf_step(f, node);
    }
}

static void test_svdf(void **unused)
{
    (void)unused;
    assert_int_equal(each("svdf", "int8", check_svdf), 6);
}

/* ---- Lstm ---- */

static const char *const gates[] = {"INPUT", "FORGET", "CELL", "OUTPUT"};

static void lstm_tables(const tw_fixture *f, tw_lowering *lowering)
{
    tw_lstm_scales *s = lowering->blob[TW_LSTM_BLOB_SCALES].data;
    for (int g = 0; g < TW_LSTM_GATES; g++) {
        const char *in = tw_format(f->arena, "%s_GATE_INPUT", gates[g]);
        const char *hidden = tw_format(f->arena, "%s_GATE_HIDDEN", gates[g]);
        s->x[g] = (tw_lstm_rescale){part(f, in, "MULTIPLIER"), part(f, in, "SHIFT")};
        s->h[g] = (tw_lstm_rescale){part(f, hidden, "MULTIPLIER"), part(f, hidden, "SHIFT")};
    }
    s->forget = (tw_lstm_rescale){number(f, "FORGET_TO_CELL_MULTIPLIER"),
                                  number(f, "FORGET_TO_CELL_SHIFT")};
    s->input =
        (tw_lstm_rescale){number(f, "INPUT_TO_CELL_MULTIPLIER"), number(f, "INPUT_TO_CELL_SHIFT")};
    s->output = (tw_lstm_rescale){number(f, "OUTPUT_MULTIPLIER"), number(f, "OUTPUT_SHIFT")};
    s->clip = number(f, "CELL_CLIP");
}

/* What the four gates have, one behind the other. */
static const void *of_gates(const tw_fixture *f, const char *what, const char *type, size_t size,
                            int64_t count)
{
    static const char *const names[] = {"input", "forget", "cell", "output"};
    char *all = tw_alloc(f->arena, size * (size_t)count * TW_LSTM_GATES);
    for (int g = 0; g < TW_LSTM_GATES; g++)
        memcpy(all + size * (size_t)count * (size_t)g,
               array(f, tw_format(f->arena, "%s_gate_%s", names[g], what), type, count),
               size * (size_t)count);
    return all;
}

/* [T, N, I] to [N, T, I]: the operator has the batch outside. */
static const void *batch_first(const tw_fixture *f, const void *data, const int32_t dim[3],
                               size_t size)
{
    const size_t row = size * (size_t)dim[2];
    char *to = tw_alloc(f->arena, row * (size_t)dim[0] * (size_t)dim[1]);
    for (int32_t n = 0; n < dim[0]; n++)
        for (int32_t t = 0; t < dim[1]; t++)
            memcpy(to + row * (size_t)(n * dim[1] + t),
                   (const char *)data + row * (size_t)(t * dim[0] + n), row);
    return to;
}

static void check_lstm(tw_fixture *f)
{
    const int32_t batch = number(f, "BATCH_SIZE"), steps = number(f, "TIME_STEPS");
    const int32_t inputs = number(f, "INPUT_SIZE"), outputs = number(f, "HIDDEN_SIZE");
    const int32_t x[] = {batch, steps, inputs}, w[] = {TW_LSTM_GATES, outputs, inputs};
    const int32_t r[] = {TW_LSTM_GATES, outputs, outputs}, b[] = {TW_LSTM_GATES, outputs};
    const int32_t s[] = {batch, outputs};
    const bool wide = is_wide(f), swap = number(f, "TIME_MAJOR") != 0 && batch > 1;
    tw_value *in[6] = {operand(f, "input", 3, x, -number(f, "INPUT_ZERO_POINT"))};
    if (swap)
        in[0]->data = batch_first(f, in[0]->data, x, wide ? 2 : 1);
    in[1] = constant(f, "w", tw_shape_of(TW_S8, 3, w),
                     of_gates(f, "input_weights", "int8", 1, outputs * inputs), 0);
    in[2] = constant(f, "r", tw_shape_of(TW_S8, 3, r),
                     of_gates(f, "hidden_weights", "int8", 1, outputs * outputs), 0);
    in[3] = constant(f, "b", tw_shape_of(wide ? TW_S64 : TW_S32, 2, b),
                     of_gates(f, "bias", wide ? "int64" : "int32", wide ? 8 : 4, outputs), 0);
    tw_shape cell = tw_shape_of(TW_S16, 2, s);
    in[5] = constant(f, "c", cell, tw_alloc(f->arena, tw_shape_bytes(&cell)), 0);
    in[5]->quant = tw_quant_per_tensor(f->arena, (float)ldexp(1, number(f, "CELL_SCALE_POWER")), 0);
    tw_node *node = tw_operate_node(f->graph, "Lstm", in, 6, NULL);
    const void *want = array(f, "output_ref", f->type, batch * steps * outputs);
    if (swap)
        want = batch_first(f, want, node->out[0]->shape.dim, wide ? 2 : 1);
    expect(f, node, number(f, "OUTPUT_ZERO_POINT"), want, lstm_tables);
}

static void test_lstm(void **unused)
{
    (void)unused;
    assert_int_equal(each("lstm", "int8", check_lstm), 6);
    assert_int_equal(each("lstm", "int16", check_lstm), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_svdf),
        cmocka_unit_test(test_lstm),
    };
    if (!tw_goldens_present())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
