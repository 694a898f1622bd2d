/* Functions of the model, branches, and tensors in other files. */
#define _XOPEN_SOURCE 700 /* mkdtemp, symlink */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/import.h"
#include "support/onnx_model.h"
#include "support/reference.h"

static tw_arena *arena;
static tw_diag diag;
static const int64_t three[] = {3};
static const float x[3] = {-1, 0, 2};

static int set_up(void **state)
{
    (void)state;
    arena = tw_arena_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tw_arena_free(arena);
    return 0;
}

static tw_graph *import_as(tw_onnx_writer *w, const char *path)
{
    tw_wire_bytes file = tw_onnx_write_end(w);
    diag = (tw_diag){0};
    tw_graph *graph = tw_import_bytes(arena, file.data, file.bytes, path, NULL, NULL, &diag);
    if (graph && !tw_graph_check(graph, &diag))
        fail_msg("inconsistent: %s", diag.message);
    return graph;
}

/* Import, run on x, compare output i with want[i]. */
static void gives(tw_onnx_writer *w, const char *path, int count, const float (*want)[3])
{
    tw_graph *graph = import_as(w, path);
    if (!graph)
        fail_msg("%s (%s): %s", diag.node, diag.operator_name, diag.message);
    const void *in[1] = {x}, *out[4];
    assert_int_equal(graph->output_count, count);
    if (!tw_reference_run(graph, arena, in, out, 0, &diag))
        fail_msg("%s", diag.message);
    for (int i = 0; i < count; i++)
        assert_memory_equal(out[i], want[i], sizeof want[i]);
}

static void refused(tw_onnx_writer *w, const char *path, tw_code code, const char *part)
{
    if (import_as(w, path))
        fail_msg("accepted, where '%s' was expected", part);
    if (diag.code != code || !strstr(diag.message, part))
        fail_msg("code %d: %s (%s): %s", (int)diag.code, diag.node, diag.operator_name,
                 diag.message);
}

static tw_onnx_writer model(void)
{
    tw_onnx_writer w = tw_onnx_write(arena, 13);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 1, three);
    return w;
}

static void call(tw_onnx_writer *w, const char *function, const char *inputs, const char *outputs)
{
    tw_onnx_write_node(w, function, inputs, outputs);
    tw_onnx_write_domain(w, "local");
}

/* --- functions --------------------------------------------------------------------------------- */

/* leaky(a) {slope = 0.5}: names inside are the same as outside, and mean something else. */
static void functions(void **state)
{
    (void)state;
    tw_onnx_writer w = model(), body = tw_onnx_write_body(arena, 16);
    tw_onnx_write_node(&body, "LeakyRelu", "x", "y");
    tw_onnx_write_reference(&body, "alpha", 1, "slope");
    tw_onnx_write_node(&body, "Add", "y y", "z");
    tw_onnx_write_function_default(&w, &body, "leaky", "x", "z", "slope", 0.5f);
    call(&w, "leaky", "x", "y"); /* the default */
    call(&w, "leaky", "y", "z");
    tw_onnx_write_real(&w, "slope", 2);
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    tw_onnx_write_output(&w, "z", ONNX_FLOAT);
    gives(&w, "m", 2, (const float[][3]){{-1, 0, 4}, {-4, 0, 8}});
}

/* A function without a default and a call that gives none: the operator's own default. An input
 * that is left out is absent inside. A result that is an input. A function that calls another. */
static void absent_and_nested(void **state)
{
    (void)state;
    tw_onnx_writer w = model(), clip = tw_onnx_write_body(arena, 13);
    tw_onnx_write_node(&clip, "Clip", "a low high", "b");
    tw_onnx_write_function(&w, &clip, "clip", "a low high", "b a", "");
    tw_onnx_writer outer = tw_onnx_write_body(arena, 13);
    call(&outer, "clip", "p - q", "r s");
    tw_onnx_write_node(&outer, "Elu", "r", "e");
    tw_onnx_write_reference(&outer, "alpha", 1, "nothing");
    tw_onnx_write_function(&w, &outer, "outer", "p q", "r s e", "nothing");
    tw_onnx_write_tensor(&w, "one", ONNX_FLOAT, 0, NULL, &(const float){1}, 4);
    call(&w, "outer", "x one", "u v -");
    tw_onnx_write_output(&w, "u", ONNX_FLOAT);
    tw_onnx_write_output(&w, "v", ONNX_FLOAT);
    gives(&w, "m", 2, (const float[][3]){{-1, 0, 1}, {-1, 0, 2}});
}

static void hostile_functions(void **state)
{
    (void)state;
    tw_onnx_writer w = model(), body = tw_onnx_write_body(arena, 13);
    call(&body, "again", "a", "b");
    tw_onnx_write_function(&w, &body, "again", "a", "b", "");
    call(&w, "again", "x", "y");
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    refused(&w, "m", TW_CODE_UNSUPPORTED, "inside each other");

    /* Twenty functions, each of which calls the next twenty times. */
    w = model();
    for (int f = 0; f < 20; f++) {
        char own[16], next[16], in[16], out[16];
        snprintf(own, sizeof own, "f%d", f);
        snprintf(next, sizeof next, "f%d", f + 1);
        body = tw_onnx_write_body(arena, 13);
        for (int k = 0; k < 20; k++) {
            snprintf(in, sizeof in, "t%d", k);
            snprintf(out, sizeof out, "t%d", k + 1);
            call(&body, next, in, out);
        }
        tw_onnx_write_function(&w, &body, own, "t0", "t20", "");
    }
    body = tw_onnx_write_body(arena, 13);
    tw_onnx_write_node(&body, "Relu", "a", "b");
    tw_onnx_write_function(&w, &body, "f20", "a", "b", "");
    call(&w, "f0", "x", "y");
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    refused(&w, "m", TW_CODE_UNSUPPORTED, "expand to more than");

    w = model();
    body = tw_onnx_write_body(arena, 13);
    tw_onnx_write_node(&body, "Relu", "x", "b"); /* x is a name outside */
    tw_onnx_write_function(&w, &body, "f", "a", "b", "");
    call(&w, "f", "x", "y");
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    refused(&w, "m", TW_CODE_FAILED, "'x', comes from nowhere");
    assert_string_equal(diag.operator_name, "Relu");
    assert_string_equal(diag.node, "y/b");

    w = model();
    body = tw_onnx_write_body(arena, 13);
    tw_onnx_write_node(&body, "Relu", "a", "b");
    tw_onnx_write_function(&w, &body, "f", "a", "b", "");
    call(&w, "f", "x x", "y");
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    refused(&w, "m", TW_CODE_FAILED, "takes 1 inputs");

    w = model();
    tw_onnx_write_node(&w, "LeakyRelu", "x", "y");
    tw_onnx_write_reference(&w, "alpha", 1, "slope");
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    refused(&w, "m", TW_CODE_FAILED, "of which this node is no part");
}

/* --- branches ---------------------------------------------------------------------------------- */

static void add_if(tw_onnx_writer *w, const char *condition)
{
    /* Both branches call their result y, as the node does, and read names around them. */
    tw_onnx_writer yes = tw_onnx_write(arena, 13), no = tw_onnx_write(arena, 13);
    tw_onnx_write_node(&yes, "Add", "t t", "y");
    tw_onnx_write_output(&yes, "y", ONNX_FLOAT);
    tw_onnx_write_tensor(&no, "k", ONNX_FLOAT, 0, NULL, &(const float){5}, 4);
    tw_onnx_write_node(&no, "Mul", "x k", "y");
    tw_onnx_write_output(&no, "y", ONNX_FLOAT);
    tw_onnx_write_node(w, "If", condition, "y");
    tw_onnx_write_branch(w, "then_branch", &yes);
    tw_onnx_write_branch(w, "else_branch", &no);
    tw_onnx_write_node(w, "Relu", "x", "t"); /* behind the node that reads it */
    tw_onnx_write_output(w, "y", ONNX_FLOAT);
}

static void branches(void **state)
{
    (void)state;
    static const float want[2][1][3] = {{{-5, 0, 10}}, {{0, 0, 4}}};
    for (int yes = 0; yes < 2; yes++) {
        tw_onnx_writer w = model();
        tw_onnx_write_tensor(&w, "c", ONNX_BOOL, 0, NULL, &(const uint8_t){(uint8_t)yes}, 1);
        add_if(&w, "c");
        gives(&w, "m", 1, want[yes]);
    }
    tw_onnx_writer w = model();
    tw_onnx_write_input(&w, "c", ONNX_BOOL, 0, NULL);
    add_if(&w, "c");
    refused(&w, "m", TW_CODE_UNSUPPORTED, "the condition ('c')");
    assert_string_equal(diag.operator_name, "If");
}

/* --- other files ------------------------------------------------------------------------------- */

static char folder[] = "/tmp/tilewright-external-XXXXXX";

static const char *in_folder(const char *name)
{
    return tw_format(arena, "%s/%s", folder, name);
}

static tw_onnx_writer with_external(const char *location, const char *offset, const char *length)
{
    tw_onnx_writer w = model();
    tw_onnx_write_external(&w, "k", ONNX_FLOAT, 1, three, location, offset, length);
    tw_onnx_write_node(&w, "Mul", "x k", "y");
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    return w;
}

static void external(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    static const float data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    FILE *f = fopen(in_folder("w.bin"), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 4, 8, f), 8);
    fclose(f);
    assert_int_equal(symlink("/etc/passwd", in_folder("link")), 0);
    const char *path = in_folder("m.onnx");

    tw_onnx_writer w = with_external("w.bin", NULL, NULL);
    gives(&w, path, 1, (const float[][3]){{-1, 0, 6}});
    w = with_external("./w.bin", "16", "12");
    gives(&w, path, 1, (const float[][3]){{-5, 0, 14}});
    w = with_external("w.bin", "4", "12"); /* not aligned */
    gives(&w, path, 1, (const float[][3]){{-2, 0, 8}});

    static const struct {
        const char *location, *offset, *length, *part;
    } wrong[] = {
        {NULL, NULL, NULL, "not named"},
        {"w.bin", "24", NULL, "beyond the end"},
        {"w.bin", "33", "12", "beyond the end"},
        {"w.bin", "-4", "12", "not a number in range"},
        {"w.bin", "18446744073709551612", "12", "not a number in range"},
        {"w.bin", "0", "16", "not that of its shape"},
        {"w.bin", "0", "", "not a number in range"},
        {"none.bin", NULL, NULL, "none.bin"},
        {"../w.bin", NULL, NULL, "without \"..\""},
        {"/etc/passwd", NULL, NULL, "must be relative"},
        {"link", NULL, NULL, "through a link"},
        {".", NULL, NULL, ""},
        {"", NULL, NULL, ""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        w = with_external(wrong[i].location, wrong[i].offset, wrong[i].length);
        refused(&w, path, TW_CODE_FAILED, wrong[i].part);
    }
    /* Many tensors over the same bytes would copy the file many times. */
    w = with_external("w.bin", "4", "12");
    for (int i = 0; i < 3; i++)
        tw_onnx_write_external(&w, tw_format(arena, "k%d", i), ONNX_FLOAT, 1, three, "w.bin", "4",
                               "12");
    refused(&w, path, TW_CODE_FAILED, "overlap");
    unlink(in_folder("w.bin"));
    unlink(in_folder("link"));
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(functions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(absent_and_nested, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hostile_functions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(branches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(external, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
