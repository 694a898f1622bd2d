/* What a quantised network computes in floats: listed with the reason, whatever the operator; and quantised
 * operators that no kernel takes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "normalize/normalize.h"
#include "normalize/pass.h"
#include "support/normalized.h"
#include "support/plans.h"
#include "support/samples.h"

/* ---- every operator ---- */

typedef struct tw_counts {
    int samples, floats;
} tw_counts;

static tw_value *stored_input(tw_graph *graph, const tw_value *like, tw_diag *diag)
{
    tw_shape shape = like->shape;
    shape.dtype = TW_S8;
    tw_value *x = tw_graph_input(graph, "x", shape);
    x->quant = tw_quant_per_tensor(graph->arena, 0.05f, 3);
    tw_node *node = tw_append(graph, TW_OPCODE_dequantize, "d", &x, 1, NULL, diag);
    return node ? node->out[0] : NULL;
}

static bool is_in_floats(const tw_node *node)
{
    return !tw_is_conversion(node) && (node->op->kind == TW_MATH || node->op->kind == TW_LUT) &&
           node->out[0]->shape.dtype == TW_F32;
}

static bool is_listed(const tw_report_float_step *rows, int count, const tw_node *node)
{
    for (int i = 0; i < count; i++)
        if (strcmp(rows[i].name, node->name) == 0)
            return true;
    return false;
}

/* Normalised, each node on floats is one that the report names. */
static void check_listed(tw_graph *graph, const tw_opdef *op, tw_counts *counts)
{
    tw_compile_options options;
    tw_diag diag = {0};
    int count;
    tw_compile_options_default(&options);
    if (!tw_normalize(graph, &options, &diag))
        fail_msg("%s: %s", op->name, diag.message);
    const tw_report_float_step *rows = tw_float_steps(graph, graph->arena, &count);
    for (int n = 0; n < graph->node_count; n++)
        if (is_in_floats(graph->nodes[n]) && !is_listed(rows, count, graph->nodes[n]))
            fail_msg("%s: %s is computed in floats, and nothing says so", op->name,
                     graph->nodes[n]->op->name);
    counts->floats += count;
    counts->samples++;
}

/* The sample between Dequantize of an int8 input and Quantize. */
static void quantised_sample(tw_node *sample, tw_arena *arena, void *user)
{
    tw_value *in[TW_MAX_OPERANDS];
    tw_diag diag = {0};
    if (sample->op->kind == TW_HOST || tw_is_conversion(sample) || sample->in_count < 1 ||
        !sample->in[0] || sample->in[0]->shape.dtype != TW_F32 ||
        sample->out[0]->shape.dtype != TW_F32)
        return;
    tw_graph *graph = tw_graph_new(arena, "quantised");
    for (int i = 0; i < sample->in_count; i++) {
        in[i] = sample->in[i];
        if (i > 0 && in[i]) {
            in[i] = tw_graph_constant(graph, in[i]->name, in[i]->shape, in[i]->data);
            in[i]->quant = sample->in[i]->quant;
        }
    }
    in[0] = stored_input(graph, sample->in[0], &diag);
    assert_non_null(in[0]);
    tw_node *node = tw_graph_node(graph, sample->op, "step", in, sample->in_count, 1, NULL,
                                  sample->attributes, &diag);
    if (!node)
        fail_msg("%s: %s", sample->op->name, diag.message);
    tw_node *after = tw_append(graph, TW_OPCODE_quantize, "q", &node->out[0], 1, NULL, &diag);
    assert_non_null(after);
    after->out[0]->quant = tw_quant_per_tensor(arena, 0.04f, -2);
    tw_graph_output(graph, after->out[0]);
    check_listed(graph, sample->op, user);
}

static void every_operator(void **state)
{
    (void)state;
    tw_counts counts = {0, 0};
    for (int i = 0; i < tw_op_count; i++)
        tw_each_sample(tw_ops[i], quantised_sample, &counts);
    print_message("%d samples, %d operators in floats\n", counts.samples, counts.floats);
    assert_true(counts.samples > 150);
    assert_true(counts.floats > 20 && counts.floats < counts.samples);
}

/* ---- reasons ---- */

#define X "  input %x : s8[1,5,4] quant(scale=0.05, zero=3)\n  %d = Dequantize (%x)\n"
#define Y "  %y : s8[1,5,4] quant(scale=0.04, zero=-9) = Quantize (%r) {dtype=s8}\n  output %y\n}\n"

#define GATES                                                                                      \
    "  const %a : s8[3,4,4] quant(scale=0.01, zero=0) = random 1 -127 128\n"                       \
    "  %w = Dequantize (%a)\n"                                                                     \
    "  const %b : s8[3,4,4] quant(scale=0.01, zero=0) = random 2 -127 128\n"                       \
    "  %u = Dequantize (%b)\n"

static void expect(const char *body, int count, const char *op, tw_float_reason reason)
{
    tw_compile_options options;
    tw_compiled compiled;
    char text[1024];
    snprintf(text, sizeof text, "graph \"g\" {\n%s", body);
    tw_compile_options_default(&options);
    tw_test_compile(text, &options, &compiled);
    if (compiled.report.float_step_count != count)
        fail_msg("%d operators in floats:\n%s", compiled.report.float_step_count, text);
    if (count) {
        assert_string_equal(compiled.report.float_steps[0].operator_name, op);
        assert_int_equal(compiled.report.float_steps[0].reason, reason);
    }
    tw_compiled_free(&compiled);
}

static void reasons(void **state)
{
    (void)state;
    expect(X "  %r = Normalize (%d) {axes=[-1], epsilon=0.001}\n" Y, 0, NULL, TW_FLOAT_NO_FORM);
    expect(X "  %r = Softmax (%d)\n" Y, 0, NULL, TW_FLOAT_NO_FORM);
    expect(X "  %r = CumProd (%d) {axis=1}\n" Y, 1, "CumProd", TW_FLOAT_NO_FORM);
    expect(X "  %e = Exp (%d)\n  %r = Normalize (%e) {axes=[-1]}\n" Y, 2, "Exp", TW_FLOAT_NO_SCALE);
    expect(X "  %r = LogSoftmax (%d)\n" Y, 1, "LogSoftmax", TW_FLOAT_REFUSED);
    expect(X GATES "  %r = Gru (%d, %w, %u)\n" Y, 0, NULL, TW_FLOAT_NO_FORM);
    expect(X GATES "  %r = Gru (%d, %w, %u) {g=relu}\n" Y, 1, "Gru", TW_FLOAT_REFUSED);
    /* nothing behind it is quantised */
    expect(X "  %r = CumProd (%d) {axis=1}\n  output %r\n}\n", 0, NULL, TW_FLOAT_NO_FORM);
}

/* ---- quantised operators without a kernel ---- */

static void refused_operators(void **state)
{
    (void)state;
    const tw_normalize_case c = {
        "graph \"g\" {\n  input %x : s8[1,5,4] quant(scale=0.05, zero=3)\n"
        "  %y : s8[1,5,4] quant(scale=0.05, zero=100) = LogSoftmax (%x)\n  output %y\n}\n",
        TW_IO_KEEP, 0, -4, 4};
    tw_arena *arena = tw_arena_new();
    tw_compile_options options;
    tw_diag diag = {0};
    int count;
    tw_compile_options_default(&options);
    tw_graph *graph = tw_parse_rounded(arena, c.text, 0);
    if (!tw_normalize(graph, &options, &diag))
        fail_msg("%s", diag.message);
    assert_int_equal(graph->node_count, 3);
    assert_string_equal(graph->nodes[0]->op->name, "Dequantize");
    assert_string_equal(graph->nodes[1]->op->name, "LogSoftmax");
    assert_int_equal(graph->nodes[1]->out[0]->shape.dtype, TW_F32);
    assert_string_equal(graph->nodes[2]->op->name, "Quantize");
    assert_int_equal(*tw_int_of(graph->nodes[2], "rounding"), 1); /* half_away */
    const tw_report_float_step *rows = tw_float_steps(graph, arena, &count);
    assert_int_equal(count, 1);
    assert_int_equal(rows[0].reason, TW_FLOAT_REFUSED);
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operator),
        cmocka_unit_test(reasons),
        cmocka_unit_test(refused_operators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
