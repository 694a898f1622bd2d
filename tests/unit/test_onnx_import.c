/* What an ONNX graph may look like around its operators: open axes, offered inputs, defaults, absent
 * names, order, names of any bytes, outputs that are anything. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "import/import.h"
#include "import/onnx/onnx.h"
#include "support/onnx_model.h"
#include "support/reference.h"

static tw_arena *arena;
static tw_diag diag;
static char warnings[4096];

static void keep_warning(void *user, const char *text)
{
    (void)user;
    size_t used = strlen(warnings);
    snprintf(warnings + used, sizeof warnings - used, "%s\n", text);
}

static int set_up(void **state)
{
    (void)state;
    arena = tw_arena_new();
    diag = (tw_diag){.warn = keep_warning};
    warnings[0] = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tw_arena_free(arena);
    return 0;
}

static tw_graph *import(tw_onnx_writer *w, const tw_import_options *options)
{
    tw_wire_bytes file = tw_onnx_write_end(w);
    diag.code = TW_CODE_OK;
    diag.message[0] = diag.node[0] = diag.operator_name[0] = 0;
    const char *format = NULL;
    tw_graph *graph =
        tw_import_bytes(arena, file.data, file.bytes, "model.onnx", options, &format, &diag);
    assert_string_equal(format, "onnx");
    if (graph && !tw_graph_check(graph, &diag))
        fail_msg("inconsistent: %s", diag.message);
    return graph;
}

static tw_graph *must_import(tw_onnx_writer *w, const tw_import_options *options)
{
    tw_graph *graph = import(w, options);
    if (!graph)
        fail_msg("%s: %s", diag.node, diag.message);
    return graph;
}

static void assert_shape(const tw_value *value, const char *expected)
{
    char text[96];
    tw_shape_text(&value->shape, text, sizeof text);
    assert_string_equal(text, expected);
}

/* --- open axes --------------------------------------------------------------------------------- */

static tw_onnx_writer two_open_inputs(void)
{
    tw_onnx_writer w = tw_onnx_write(arena, 13);
    tw_onnx_write_input(&w, "a", ONNX_FLOAT, 2, (const int64_t[]){-1, 3});
    tw_onnx_write_input(&w, "b", ONNX_FLOAT, 2, (const int64_t[]){-1, 3});
    tw_onnx_write_node(&w, "Add", "a b", "y");
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    return w;
}

static void open_axes(void **state)
{
    (void)state;
    tw_onnx_writer w = two_open_inputs();
    assert_shape(must_import(&w, NULL)->outputs[0], "f32[1,3]");
    assert_non_null(strstr(warnings, "model.onnx: a: axis 0, n is open and taken as 1"));
    assert_int_equal(diag.warnings, 1); /* once a symbol */

    /* A shape for one input fixes the symbol for the other, whichever comes first. */
    for (int i = 0; i < 2; i++) {
        tw_input_shape shape = {.name = i ? "b" : "a", .rank = 2, .dim = {5, 3}};
        tw_import_options options = {.input_shapes = &shape, .input_shape_count = 1};
        w = two_open_inputs();
        tw_graph *graph = must_import(&w, &options);
        assert_shape(graph->outputs[0], "f32[5,3]");
        assert_string_equal(graph->inputs[0]->name, "a");
        assert_string_equal(graph->inputs[1]->name, "b");
    }
    assert_int_equal(diag.warnings, 1);

    /* No name: the first input. */
    tw_input_shape shape = {.name = NULL, .rank = 2, .dim = {7, 3}};
    tw_import_options options = {.input_shapes = &shape, .input_shape_count = 1};
    w = two_open_inputs();
    assert_shape(must_import(&w, &options)->outputs[0], "f32[7,3]");

    static const struct {
        tw_input_shape shape;
        tw_code code;
        const char *part;
    } wrong[] = {
        {{.name = "a", .rank = 3, .dim = {5, 3, 1}}, TW_CODE_FAILED, "rank 2"},
        {{.name = "a", .rank = 2, .dim = {5, 4}},
         TW_CODE_FAILED,
         "extent 3, the shape given says 4"},
        {{.name = "c", .rank = 2, .dim = {5, 3}}, TW_CODE_USAGE, "'c', which is not an input"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        options.input_shapes = &wrong[i].shape;
        w = two_open_inputs();
        assert_null(import(&w, &options));
        assert_int_equal(diag.code, wrong[i].code);
        assert_non_null(strstr(diag.message, wrong[i].part));
    }
}

static void unknown_shape(void **state)
{
    (void)state;
    tw_onnx_writer w = tw_onnx_write(arena, 13);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, -1, NULL);
    tw_onnx_write_node(&w, "Flatten", "x", "y");
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    tw_input_shape shape = {.name = "x", .rank = 3, .dim = {2, 3, 4}};
    tw_import_options options = {.input_shapes = &shape, .input_shape_count = 1};
    assert_shape(must_import(&w, &options)->outputs[0], "f32[2,12]");
}

/* --- offered inputs ---------------------------------------------------------------------------- */

static void offers(void **state)
{
    (void)state;
    static const int64_t shape[] = {3, 2};
    static const float data[6] = {1, 2, 3, 4, 5, 6};
    const tw_offered_input offered[] = {
        {.name = "x", .dtype = TW_F32, .rank = 2, .dim = {2, 3}, .data = data},
        {.name = "s", .dtype = TW_S64, .rank = 1, .dim = {2}, .data = shape},
    };
    tw_import_options options = {.offered = offered, .offered_count = 2};
    for (int take = 0; take < 2; take++) {
        tw_onnx_writer w = tw_onnx_write(arena, 13);
        tw_onnx_write_input(&w, "x", ONNX_FLOAT, 2, (const int64_t[]){2, 3});
        tw_onnx_write_input(&w, "s", ONNX_INT64, 1, (const int64_t[]){2});
        tw_onnx_write_node(&w, "Identity", "s", "t"); /* a step on the way is followed */
        tw_onnx_write_node(&w, "Reshape", "x t", "y");
        tw_onnx_write_output(&w, "y", ONNX_FLOAT);
        tw_graph *graph = import(&w, take ? &options : NULL);
        if (!take) {
            assert_null(graph);
            assert_int_equal(diag.code, TW_CODE_UNSUPPORTED);
            assert_non_null(strstr(diag.message, "the shape (input 1, 't')"));
            continue;
        }
        /* Only what fixes the shape is taken; data stays an input. */
        assert_non_null(graph);
        assert_shape(graph->outputs[0], "f32[3,2]");
        assert_int_equal(graph->input_count, 1);
        assert_string_equal(graph->inputs[0]->name, "x");
    }
    /* A scale is data: it stays open although a value is offered. */
    tw_onnx_writer w = tw_onnx_write(arena, 13);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 2, (const int64_t[]){2, 3});
    tw_onnx_write_input(&w, "scale", ONNX_FLOAT, 0, NULL);
    tw_onnx_write_node(&w, "QuantizeLinear", "x scale", "y");
    tw_onnx_write_output(&w, "y", ONNX_UINT8);
    const tw_offered_input scale = {.name = "scale", .dtype = TW_F32, .data = data};
    options = (tw_import_options){.offered = &scale, .offered_count = 1};
    assert_int_equal(must_import(&w, &options)->input_count, 2);
}

/* Without data only the extents count: for open axes, never instead of the input. */
static void offered_extents(void **state)
{
    (void)state;
    const tw_offered_input offered[] = {{.name = "x", .rank = 2, .dim = {2, 3}},
                                        {.name = "s", .rank = 1, .dim = {2}}};
    tw_import_options options = {.offered = offered, .offered_count = 2};
    for (int with_shape = 0; with_shape < 2; with_shape++) {
        tw_onnx_writer w = tw_onnx_write(arena, 13);
        tw_onnx_write_input(&w, "x", ONNX_FLOAT, 2, (const int64_t[]){-1, 3});
        if (with_shape)
            tw_onnx_write_input(&w, "s", ONNX_INT64, 1, (const int64_t[]){2});
        tw_onnx_write_node(&w, with_shape ? "Reshape" : "Relu", with_shape ? "x s" : "x", "y");
        tw_onnx_write_output(&w, "y", ONNX_FLOAT);
        tw_graph *graph = import(&w, &options);
        if (with_shape)
            assert_null(graph);
        else
            assert_shape(graph->outputs[0], "f32[2,3]");
    }
    assert_string_equal(warnings, "");
}

/* --- names, defaults, order -------------------------------------------------------------------- */

static void nodes_in_any_order(void **state)
{
    (void)state;
    tw_onnx_writer w = tw_onnx_write(arena, 13);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 2, (const int64_t[]){2, 3});
    tw_onnx_write_node(&w, "Relu", "c", "y");
    tw_onnx_write_node(&w, "Relu", "b", "c");
    tw_onnx_write_node(&w, "Relu", "x", "b");
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    assert_int_equal(must_import(&w, NULL)->node_count, 3);
}

/* An input with an initializer is a constant: files before IR version 4 list every initializer. */
static void defaults(void **state)
{
    (void)state;
    static const float data[3] = {1, 2, 3};
    tw_onnx_writer w = tw_onnx_write(arena, 13);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 2, (const int64_t[]){2, 3});
    tw_onnx_write_input(&w, "w", ONNX_FLOAT, 1, (const int64_t[]){3});
    tw_onnx_write_tensor(&w, "w", ONNX_FLOAT, 1, (const int64_t[]){3}, data, sizeof data);
    tw_onnx_write_node(&w, "Mul", "x w", "y");
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    assert_int_equal(must_import(&w, NULL)->input_count, 1);
}

static void names_of_any_bytes(void **state)
{
    (void)state;
    static const char hostile[] = "\x1b[31m\xff\n%s%n/../\"";
    tw_onnx_writer w = tw_onnx_write(arena, 13);
    tw_onnx_write_input(&w, "Relu", ONNX_FLOAT, 2, (const int64_t[]){2, 3});
    tw_onnx_write_node(&w, "Relu", "Relu", hostile);
    tw_onnx_write_name(&w, "Relu");
    tw_onnx_write_node(&w, "Relu", hostile, "Relu_1");
    tw_onnx_write_name(&w, "Relu");
    tw_onnx_write_output(&w, hostile, ONNX_FLOAT);
    tw_onnx_write_output(&w, "Relu_1", ONNX_FLOAT);
    tw_graph *graph = must_import(&w, NULL);
    assert_string_equal(graph->inputs[0]->name, "Relu");
    assert_string_equal(graph->outputs[0]->name, hostile);
    assert_string_equal(graph->outputs[1]->name, "Relu_1");
    /* In messages control characters do not reach the terminal. */
    w = tw_onnx_write(arena, 13);
    tw_onnx_write_output(&w, hostile, ONNX_FLOAT);
    assert_null(import(&w, NULL));
    assert_null(strchr(diag.node, '\x1b'));
    assert_null(strchr(diag.node, '\n'));
}

static void outputs_of_any_kind(void **state)
{
    (void)state;
    static const float data[3] = {1, 2, 3};
    tw_onnx_writer w = tw_onnx_write(arena, 13);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 2, (const int64_t[]){2, 3});
    tw_onnx_write_tensor(&w, "w", ONNX_FLOAT, 1, (const int64_t[]){3}, data, sizeof data);
    tw_onnx_write_node(&w, "Relu", "x", "r");
    tw_onnx_write_node(&w, "Dropout", "r", "d");
    tw_onnx_write_node(&w, "Relu", "d", "y");
    static const char *const names[] = {"x", "w", "r", "d", "y", "y"};
    for (int i = 0; i < 6; i++)
        tw_onnx_write_output(&w, names[i], ONNX_FLOAT);
    tw_graph *graph = must_import(&w, NULL);
    assert_int_equal(graph->output_count, 6);
    for (int i = 0; i < 6; i++)
        assert_string_equal(graph->outputs[i]->name, names[i]);
}

static void weights_stay_quantised(void **state)
{
    (void)state;
    /* Conv whose weights are DequantizeLinear(int8 constant) along the output channels: below the
     * convolution stands a Dequantize of the rearranged integers, its scales along the right axis. */
    static const int8_t weights[2 * 3 * 3 * 3] = {1, 2, 3};
    static const float scale[3] = {.5f, .25f, 2};
    static const int8_t zero[3] = {0, 0, 0};
    for (int depthwise = 0; depthwise < 2; depthwise++) {
        tw_onnx_writer w = tw_onnx_write(arena, 13);
        int64_t channels = depthwise ? 3 : 2;
        tw_onnx_write_input(&w, "x", ONNX_FLOAT, 4, (const int64_t[]){1, channels, 5, 5});
        tw_onnx_write_tensor(&w, "w", ONNX_INT8, 4, (const int64_t[]){3, depthwise ? 1 : 2, 3, 3},
                             weights, depthwise ? 27 : 54);
        tw_onnx_write_tensor(&w, "s", ONNX_FLOAT, 1, (const int64_t[]){3}, scale, sizeof scale);
        tw_onnx_write_tensor(&w, "z", ONNX_INT8, 1, (const int64_t[]){3}, zero, sizeof zero);
        tw_onnx_write_node(&w, "DequantizeLinear", "w s z", "f");
        tw_onnx_write_int(&w, "axis", 0);
        tw_onnx_write_node(&w, "Conv", "x f", "y");
        tw_onnx_write_int(&w, "group", depthwise ? 3 : 1);
        tw_onnx_write_output(&w, "y", ONNX_FLOAT);
        tw_graph *graph = must_import(&w, NULL);
        const tw_node *conv = graph->nodes[0];
        for (int i = 0; i < graph->node_count; i++)
            if (strstr(graph->nodes[i]->op->name, "Conv"))
                conv = graph->nodes[i];
        assert_string_equal(conv->op->name, depthwise ? "DepthwiseConv" : "Conv");
        const tw_node *below = conv->in[1]->producer;
        assert_string_equal(below->op->name, "Dequantize");
        assert_shape(below->in[0], depthwise ? "s8[3,3,3]" : "s8[3,3,3,2]");
        assert_int_equal(below->in[0]->quant.count, 3);
        assert_int_equal(below->in[0]->quant.axis, depthwise ? 2 : 0);
    }
}

/* Every row names operators that exist, and no operator has two rows. */
static void ledger(void **state)
{
    (void)state;
    tw_onnx_row row, other;
    int count = 0;
    for (; tw_onnx_row_at(count, &row); count++) {
        for (const char *at = row.becomes; *at; at += strcspn(at, " "), at += *at == ' ') {
            char *name = tw_strndup(arena, at, strcspn(at, " "));
            if (!tw_build_has(name))
                fail_msg("%s becomes %s, which is not in the ledger", row.name, name);
        }
        for (int i = 0; i < count; i++)
            if (tw_onnx_row_at(i, &other) && strcmp(row.name, other.name) == 0 &&
                strcmp(row.domain, other.domain) == 0)
                fail_msg("%s has two rows", row.name);
    }
    assert_true(count > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(open_axes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unknown_shape, set_up, tear_down),
        cmocka_unit_test_setup_teardown(offers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(offered_extents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nodes_in_any_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(defaults, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_of_any_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(outputs_of_any_kind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(weights_stay_quantised, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ledger, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
