/* Sequences and optionals of ONNX models: as inputs and outputs of the graph, tensor by tensor; in loops and
 * branches; what cannot be known while importing is refused by name. (Their operators on good data are
 * cases of tests/data/onnx-attributes.txt.) */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "import/import.h"
#include "support/arena_fixture.h"
#include "support/onnx_model.h"

enum { TENSOR, SEQUENCE, OPTIONAL, OPTIONAL_SEQUENCE };

/* A type around another: field 4 a sequence, 9 an optional. */
static tw_wire_bytes around(tw_wire_bytes type, uint32_t field)
{
    tw_wire_bytes holder = {.arena = arena}, outer = {.arena = arena};
    tw_wire_message(&holder, 1, &type);
    tw_wire_message(&outer, field, &holder);
    return outer;
}

/* An input (field 11) or output (12) of the graph: floats without a shape. */
static void declare(tw_onnx_writer *w, uint32_t field, const char *name, int kind)
{
    tw_wire_bytes tensor = {.arena = arena}, type = {.arena = arena}, info = {.arena = arena};
    tw_wire_number(&tensor, 1, ONNX_FLOAT);
    tw_wire_message(&type, 1, &tensor);
    if (kind == SEQUENCE || kind == OPTIONAL_SEQUENCE)
        type = around(type, 4);
    if (kind == OPTIONAL || kind == OPTIONAL_SEQUENCE)
        type = around(type, 9);
    tw_wire_text(&info, 1, name);
    tw_wire_message(&info, 2, &type);
    tw_wire_message(&w->graph, field, &info);
}

static tw_graph *import_shapes(tw_onnx_writer *w, const tw_input_shape *shapes, int count,
                               tw_diag *diag)
{
    const tw_import_options options = {.input_shapes = shapes, .input_shape_count = count};
    tw_wire_bytes file = tw_onnx_write_end(w);
    *diag = (tw_diag){0};
    return tw_import_bytes(arena, file.data, file.bytes, "model.onnx", &options, NULL, diag);
}

static void refused(tw_onnx_writer *w, const tw_input_shape *shapes, int count, tw_code code,
                    const char *op, const char *part)
{
    tw_diag diag;
    char text[2048];
    assert_null(import_shapes(w, shapes, count, &diag));
    tw_diag_text(&diag, text, sizeof text);
    if (diag.code != code || strcmp(diag.operator_name, op) != 0 || !strstr(text, part))
        fail_msg("%d, %s: %s", diag.code, diag.operator_name, text);
}

static const tw_input_shape two[] = {{"s.0", 2, {2, 3}}, {"s.1", 2, {4, 3}}};
static const tw_input_shape nothing = {"s", -1, {0}};
static const int64_t three[] = {3};
static const float zeros[3];

/* --- the ends of the graph --------------------------------------------------------------------- */

static void a_sequence_comes_and_goes(void **state)
{
    (void)state;
    tw_diag diag;
    tw_onnx_writer w = tw_onnx_write(arena, 17);
    declare(&w, 11, "s", SEQUENCE);
    tw_onnx_write_node(&w, "Identity", "s", "t");
    declare(&w, 12, "t", SEQUENCE);
    tw_graph *g = import_shapes(&w, two, 2, &diag);
    assert_non_null(g);
    assert_int_equal(g->input_count, 2);
    assert_int_equal(g->output_count, 2);
    assert_string_equal(g->inputs[1]->name, "s.1");
    assert_string_equal(g->outputs[0]->name, "t.0");
    assert_string_equal(g->outputs[1]->name, "t.1");
    assert_int_equal(g->outputs[1]->shape.dim[0], 4);
}

static void a_sequence_without_shapes_is_empty(void **state)
{
    (void)state;
    tw_diag diag;
    for (int said = 0; said < 2; said++) {
        tw_onnx_writer w = tw_onnx_write(arena, 17);
        declare(&w, 11, "s", SEQUENCE);
        tw_onnx_write_tensor(&w, "c", ONNX_FLOAT, 1, three, zeros, sizeof zeros);
        tw_onnx_write_node(&w, "SequenceInsert", "s c", "t");
        declare(&w, 12, "t", SEQUENCE);
        tw_graph *g = import_shapes(&w, &nothing, said, &diag);
        assert_non_null(g);
        assert_int_equal(g->input_count, 0);
        assert_int_equal(g->output_count, 1);
    }
}

static void an_optional_is_there_or_not(void **state)
{
    (void)state;
    tw_diag diag;
    const tw_input_shape tensor = {"s", 1, {3}};
    for (int there = 0; there < 2; there++) {
        tw_onnx_writer w = tw_onnx_write(arena, 17);
        declare(&w, 11, "s", OPTIONAL);
        tw_onnx_write_node(&w, "OptionalHasElement", "s", "h");
        declare(&w, 12, "h", TENSOR);
        /* declared FLOAT, computed as BOOL */
        refused(&w, there ? &tensor : &nothing, 1, TW_CODE_FAILED, "", "declared as f32");
        w = tw_onnx_write(arena, 17);
        declare(&w, 11, "s", OPTIONAL);
        tw_onnx_write_node(&w, "OptionalGetElement", "s", "y");
        declare(&w, 12, "y", OPTIONAL);
        if (there)
            assert_non_null(import_shapes(&w, &tensor, 1, &diag));
        else
            refused(&w, &nothing, 1, TW_CODE_FAILED, "OptionalGetElement", "holds nothing");
    }
    tw_onnx_writer w = tw_onnx_write(arena, 17);
    declare(&w, 11, "s", OPTIONAL_SEQUENCE);
    tw_onnx_write_node(&w, "OptionalGetElement", "s", "t");
    declare(&w, 12, "t", SEQUENCE);
    tw_graph *g = import_shapes(&w, two, 2, &diag);
    assert_non_null(g);
    assert_int_equal(g->output_count, 2);
}

static void ends_that_are_refused(void **state)
{
    (void)state;
    tw_onnx_writer w = tw_onnx_write(arena, 17);
    declare(&w, 11, "s", SEQUENCE);
    tw_onnx_write_node(&w, "Identity", "s", "t");
    declare(&w, 12, "t", SEQUENCE);
    refused(&w, NULL, 0, TW_CODE_UNSUPPORTED, "", "an empty sequence");
    w = tw_onnx_write(arena, 17);
    declare(&w, 11, "s", TENSOR);
    tw_onnx_write_node(&w, "Identity", "s", "t");
    declare(&w, 12, "t", TENSOR);
    refused(&w, &nothing, 1, TW_CODE_USAGE, "", "is no optional");
    w = tw_onnx_write(arena, 17);
    tw_onnx_write_node(&w, "Optional", "", "t");
    declare(&w, 12, "t", OPTIONAL);
    refused(&w, NULL, 0, TW_CODE_UNSUPPORTED, "", "holds nothing");
    w = tw_onnx_write(arena, 17);
    declare(&w, 11, "s", SEQUENCE);
    declare(&w, 11, "s.0", TENSOR); /* its tensor would have this name */
    tw_onnx_write_node(&w, "Identity", "s", "t");
    declare(&w, 12, "t", SEQUENCE);
    refused(&w, two, 2, TW_CODE_FAILED, "", "two tensors have this name");
}

/* --- in the graph ------------------------------------------------------------------------------ */

/* Sequence "s" of two tensors x, position "i" as given; `op` reads `inputs` and gives the output. */
static void refused_node(const char *op, const char *inputs, int64_t position, tw_code code,
                         const char *part)
{
    tw_onnx_writer w = tw_onnx_write(arena, 17);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 1, three);
    tw_onnx_write_input(&w, "j", ONNX_INT64, 0, NULL);
    tw_onnx_write_tensor(&w, "i", ONNX_INT64, 0, NULL, &position, sizeof position);
    tw_onnx_write_node(&w, "SequenceConstruct", "x x", "s");
    tw_onnx_write_node(&w, op, inputs, "y");
    declare(&w, 12, "y", SEQUENCE);
    refused(&w, NULL, 0, code, op, part);
}

static void nodes_that_are_refused(void **state)
{
    (void)state;
    refused_node("Relu", "s", 0, TW_CODE_UNSUPPORTED, "is a sequence; the operator takes tensors");
    refused_node("SequenceConstruct", "s", 0, TW_CODE_UNSUPPORTED, "takes tensors");
    refused_node("SequenceAt", "x i", 0, TW_CODE_FAILED, "a tensor, not a sequence");
    refused_node("SequenceAt", "s i", 2, TW_CODE_FAILED, "position 2 is not in a sequence of 2");
    refused_node("SequenceAt", "s i", INT64_MIN, TW_CODE_FAILED, "is not in a sequence of 2");
    refused_node("SequenceAt", "s j", 0, TW_CODE_UNSUPPORTED, "must be constant");
    refused_node("SequenceErase", "s i", -3, TW_CODE_FAILED, "position -3");
    refused_node("SequenceInsert", "s x i", 3, TW_CODE_FAILED, "position 3");
    refused_node("SequenceInsert", "s s", 0, TW_CODE_UNSUPPORTED, "sequences of tensors");
    refused_node("SplitToSequence", "x i", 0, TW_CODE_FAILED, "parts of 0 rows");
    refused_node("SplitToSequence", "x i", INT64_MIN, TW_CODE_FAILED, "parts of");
    refused_node("ConcatFromSequence", "s", 0, TW_CODE_FAILED, "axis is missing");
    refused_node("SequenceMap", "s", 0, TW_CODE_FAILED, "the body is missing");
    refused_node("SequenceMap", "x", 0, TW_CODE_FAILED, "a tensor, not a sequence");
}

static void a_large_part_is_all(void **state)
{
    (void)state;
    tw_diag diag;
    const int64_t most = INT64_MAX;
    tw_onnx_writer w = tw_onnx_write(arena, 17);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 1, three);
    tw_onnx_write_tensor(&w, "n", ONNX_INT64, 0, NULL, &most, sizeof most);
    tw_onnx_write_node(&w, "SplitToSequence", "x n", "y");
    declare(&w, 12, "y", SEQUENCE);
    tw_graph *g = import_shapes(&w, NULL, 0, &diag);
    assert_non_null(g);
    assert_int_equal(g->output_count, 1);
}

static void sizes_that_do_not_add_up(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{1, 1}, {2, 2}, {-1, 4}, {INT64_MAX, INT64_MAX}};
    static const int64_t dim[] = {2};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tw_onnx_writer w = tw_onnx_write(arena, 17);
        tw_onnx_write_input(&w, "x", ONNX_FLOAT, 1, three);
        tw_onnx_write_tensor(&w, "n", ONNX_INT64, 1, dim, sizes[i], sizeof sizes[i]);
        tw_onnx_write_node(&w, "SplitToSequence", "x n", "y");
        declare(&w, 12, "y", SEQUENCE);
        refused(&w, NULL, 0, TW_CODE_FAILED, "SplitToSequence", "do not add up");
    }
}

/* SequenceMap: a sequence and a tensor that is the same in every round. */
static void a_body_for_each_tensor(void **state)
{
    (void)state;
    tw_diag diag;
    tw_onnx_writer body = tw_onnx_write(arena, 17), w = tw_onnx_write(arena, 17);
    declare(&body, 11, "a", TENSOR);
    declare(&body, 11, "b", TENSOR);
    tw_onnx_write_node(&body, "Add", "a b", "c");
    declare(&body, 12, "c", TENSOR);
    declare(&w, 11, "s", SEQUENCE);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 1, three);
    tw_onnx_write_node(&w, "SequenceMap", "s x", "t");
    tw_onnx_write_branch(&w, "body", &body);
    declare(&w, 12, "t", SEQUENCE);
    tw_graph *g = import_shapes(&w, two, 2, &diag);
    assert_non_null(g);
    assert_int_equal(g->output_count, 2);
    assert_int_equal(g->outputs[1]->shape.dim[0], 4);
}

/* A branch that is chosen while the network runs cannot choose what sequences are made of; it may read
 * one of around it. */
static void branches(void **state)
{
    (void)state;
    tw_diag diag;
    const int64_t last = 1;
    for (int at = 0; at < 2; at++) {
        tw_onnx_writer branch[2], w = tw_onnx_write(arena, 17);
        tw_onnx_write_input(&w, "x", ONNX_FLOAT, 1, three);
        tw_onnx_write_input(&w, "q", ONNX_BOOL, 0, NULL);
        tw_onnx_write_tensor(&w, "i", ONNX_INT64, 0, NULL, &last, sizeof last);
        tw_onnx_write_node(&w, "Neg", "x", "n");
        tw_onnx_write_node(&w, "SequenceConstruct", "x n", "s");
        for (int k = 0; k < 2; k++) {
            branch[k] = tw_onnx_write(arena, 17);
            tw_onnx_write_node(&branch[k], at ? "SequenceAt" : "Identity", at ? "s i" : "s",
                               k ? "t" : "e");
            declare(&branch[k], 12, k ? "t" : "e", at ? TENSOR : SEQUENCE);
        }
        tw_onnx_write_node(&w, "If", "q", "y");
        tw_onnx_write_branch(&w, "then_branch", &branch[1]);
        tw_onnx_write_branch(&w, "else_branch", &branch[0]);
        declare(&w, 12, "y", at ? TENSOR : SEQUENCE);
        if (at)
            assert_non_null(import_shapes(&w, NULL, 0, &diag));
        else
            refused(&w, NULL, 0, TW_CODE_UNSUPPORTED, "If", "computed while the network runs");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_sequence_comes_and_goes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_sequence_without_shapes_is_empty, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_optional_is_there_or_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ends_that_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nodes_that_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_large_part_is_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sizes_that_do_not_add_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_body_for_each_tensor, set_up, tear_down),
        cmocka_unit_test_setup_teardown(branches, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
