/* Functions of the model, branches, and tensors in other files. */
#define _XOPEN_SOURCE 700 /* mkdtemp, symlink */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import/import.h"
#include "ops/op.h"
#include "support/arena_fixture.h"
#include "support/onnx_model.h"
#include "support/reference.h"

static tw_diag diag;
static const int64_t three[] = {3};
static const float x[3] = {-1, 0, 2};

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

    /* Two that call each other. */
    w = model();
    static const char *const pair[] = {"one", "other"};
    for (int i = 0; i < 2; i++) {
        body = tw_onnx_write_body(arena, 13);
        call(&body, pair[1 - i], "a", "b");
        tw_onnx_write_function(&w, &body, pair[i], "a", "b", "");
    }
    call(&w, "one", "x", "y");
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    refused(&w, "m", TW_CODE_UNSUPPORTED, "inside each other");

    /* Two of one name. */
    w = model();
    for (int i = 0; i < 2; i++) {
        body = tw_onnx_write_body(arena, 13);
        tw_onnx_write_node(&body, "Relu", "a", "b");
        tw_onnx_write_function(&w, &body, "same", "a", "b", "");
    }
    tw_onnx_write_output(&w, "x", ONNX_FLOAT);
    refused(&w, "m", TW_CODE_FAILED, "two functions");

    /* A result that nothing in the body makes. */
    w = model();
    body = tw_onnx_write_body(arena, 13);
    tw_onnx_write_node(&body, "Relu", "a", "b");
    tw_onnx_write_function(&w, &body, "f", "a", "b c", "");
    call(&w, "f", "x", "y z");
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    refused(&w, "m", TW_CODE_FAILED, "output 1, 'c', comes from nowhere");
    assert_string_equal(diag.operator_name, "f");

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

static void write_relu_chain(tw_onnx_writer *body, const char *first, int count)
{
    for (int k = 0; k < count; k++)
        tw_onnx_write_node(body, "Relu", k ? tw_format(arena, "t%d", k) : first,
                           tw_format(arena, "t%d", k + 1));
}

/* Parts of bodies that are no nodes count too: a function of many inputs, called often; a branch with
 * many initializers inside such a function. Constants that grow by themselves, and names. */
static void hostile_sizes(void **state)
{
    (void)state;
    tw_onnx_writer w = model(), body = tw_onnx_write_body(arena, 13);
    char *many = tw_alloc(arena, 16 * 2000), *at = many;
    for (int i = 0; i < 2000; i++)
        at += sprintf(at, "i%d ", i);
    tw_onnx_write_node(&body, "Relu", "i0", "b");
    tw_onnx_write_function(&w, &body, "wide", many, "b", "");
    for (int i = 0; i < 400; i++)
        call(&w, "wide", "x", tw_format(arena, "y%d", i));
    tw_onnx_write_output(&w, "y0", ONNX_FLOAT);
    refused(&w, "m", TW_CODE_UNSUPPORTED, "expand to more than");

    /* Each name of 60 kB stands once in the file and 20,000 times in the graph. */
    w = model();
    body = tw_onnx_write_body(arena, 13);
    char *long_name = tw_alloc(arena, 60001);
    memset(long_name, 'n', 60000);
    tw_onnx_write_node(&body, "Relu", "a", long_name);
    write_relu_chain(&body, long_name, 9);
    tw_onnx_write_function(&w, &body, "named", "a", "t9", "");
    for (int i = 0; i < 20000; i++)
        call(&w, "named", "x", tw_format(arena, "y%d", i));
    tw_onnx_write_output(&w, "y0", ONNX_FLOAT);
    refused(&w, "m", TW_CODE_UNSUPPORTED, "of memory");

    /* 60 MB each, a few bytes of the file. */
    w = tw_onnx_write(arena, 13);
    tw_onnx_write_tensor(&w, "s", ONNX_INT64, 1, (const int64_t[]){1}, (const int64_t[]){15000000},
                         8);
    for (int i = 0; i < 40; i++)
        tw_onnx_write_node(&w, "ConstantOfShape", "s", tw_format(arena, "c%d", i));
    tw_onnx_write_output(&w, "c0", ONNX_FLOAT);
    refused(&w, "m", TW_CODE_UNSUPPORTED, "of memory");

    /* Work without memory: conditions that are sums of a large constant. */
    w = model();
    tw_onnx_write_tensor(&w, "s", ONNX_INT64, 1, (const int64_t[]){1}, (const int64_t[]){15000000},
                         8);
    tw_onnx_write_node(&w, "ConstantOfShape", "s", "c");
    for (int i = 0; i < 200; i++) {
        tw_onnx_write_node(&w, "ReduceSum", "c", tw_format(arena, "r%d", i));
        tw_onnx_write_int(&w, "keepdims", 0);
        tw_onnx_write_node(&w, "Clip", tw_format(arena, "x r%d", i), tw_format(arena, "y%d", i));
    }
    tw_onnx_write_output(&w, "y0", ONNX_FLOAT);
    refused(&w, "m", TW_CODE_UNSUPPORTED, "operations to compute");
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

static bool has_if(const tw_graph *graph)
{
    bool found = false;
    for (int i = 0; graph && i < graph->node_count; i++)
        found |= strcmp(graph->nodes[i]->op->name, "If") == 0;
    return found;
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
    assert_true(has_if(import_as(&w, "m"))); /* test_onnx_control.c runs such */
}

/* A value offered for the condition is taken only where it is the same in every run. */
static void offered_condition(void **state)
{
    (void)state;
    static const uint8_t yes = 1;
    for (int fixed = 0; fixed < 2; fixed++) {
        const tw_offered_input offered = {
            .name = "c", .dtype = TW_BOOL, .data = &yes, .fixed = fixed};
        const tw_import_options options = {.offered = &offered, .offered_count = 1};
        tw_onnx_writer w = model();
        tw_onnx_write_input(&w, "c", ONNX_BOOL, 0, NULL);
        add_if(&w, "c");
        tw_wire_bytes file = tw_onnx_write_end(&w);
        diag = (tw_diag){0};
        tw_graph *graph = tw_import_bytes(arena, file.data, file.bytes, "m", &options, NULL, &diag);
        assert_non_null(graph);
        assert_int_equal(graph->input_count, fixed ? 1 : 2);
        assert_int_equal(has_if(graph), !fixed);
    }
}

/* A condition that shapes decide; branches in branches, of which the inner one reads names of the
 * outer one and of the graph; a branch whose result is a name from outside; a function inside. */
static void nested_branches(void **state)
{
    (void)state;
    tw_onnx_writer w = model();
    tw_onnx_writer body = tw_onnx_write_body(arena, 13);
    tw_onnx_write_node(&body, "Add", "a a", "b");
    tw_onnx_write_function(&w, &body, "twice", "a", "b", "");
    tw_onnx_writer inner = tw_onnx_write(arena, 13), around = tw_onnx_write(arena, 13),
                   other = tw_onnx_write(arena, 13), unused = tw_onnx_write(arena, 13);
    call(&inner, "twice", "u", "v");
    tw_onnx_write_node(&inner, "Add", "v x", "w");
    tw_onnx_write_output(&inner, "w", ONNX_FLOAT);
    tw_onnx_write_node(&unused, "Frobnicate", "x", "w"); /* never looked at */
    tw_onnx_write_output(&unused, "w", ONNX_FLOAT);
    tw_onnx_write_node(&around, "Relu", "x", "u");
    tw_onnx_write_node(&around, "If", "c", "y");
    tw_onnx_write_branch(&around, "then_branch", &inner);
    tw_onnx_write_branch(&around, "else_branch", &unused);
    tw_onnx_write_output(&around, "y", ONNX_FLOAT);
    tw_onnx_write_output(&other, "x", ONNX_FLOAT);
    tw_onnx_write_tensor(&w, "three", ONNX_INT64, 1, (const int64_t[]){1}, three, 8);
    tw_onnx_write_node(&w, "Shape", "x", "s");
    tw_onnx_write_node(&w, "Equal", "s three", "c");
    tw_onnx_write_node(&w, "Not", "c", "d");
    tw_onnx_write_node(&w, "If", "c", "y");
    tw_onnx_write_branch(&w, "then_branch", &around);
    tw_onnx_write_branch(&w, "else_branch", &other);
    tw_onnx_write_node(&w, "If", "d", "z");
    tw_onnx_write_branch(&w, "then_branch", &around);
    tw_onnx_write_branch(&w, "else_branch", &other);
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    tw_onnx_write_output(&w, "z", ONNX_FLOAT);
    gives(&w, "m", 2, (const float[][3]){{-1, 0, 6}, {-1, 0, 2}});
}

static void wrong_branches(void **state)
{
    (void)state;
    static const struct {
        const char *part;
        int kind;
    } wrong[] = {{"a branch is missing", 0},
                 {"cannot have inputs", 1},
                 {"output 0, 'q', comes from nowhere", 2},
                 {"the branch gives 1 outputs, the node has 2", 3},
                 {"must be one element", 4}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int kind = wrong[i].kind;
        tw_onnx_writer w = model(), branch = tw_onnx_write(arena, 13);
        uint8_t yes[2] = {1, 1};
        tw_onnx_write_tensor(&w, "c", ONNX_BOOL, 1, (const int64_t[]){kind == 4 ? 2 : 1}, yes,
                             kind == 4 ? 2 : 1);
        if (kind == 1)
            tw_onnx_write_input(&branch, "p", ONNX_FLOAT, 1, three);
        tw_onnx_write_node(&branch, "Relu", "x", "r");
        tw_onnx_write_output(&branch, kind == 2 ? "q" : "r", ONNX_FLOAT);
        tw_onnx_write_node(&w, "If", "c", kind == 3 ? "y z" : "y");
        tw_onnx_write_branch(&w, "then_branch", &branch);
        if (kind != 0)
            tw_onnx_write_branch(&w, "else_branch", &branch);
        tw_onnx_write_output(&w, "y", ONNX_FLOAT);
        refused(&w, "m", TW_CODE_FAILED, wrong[i].part);
        assert_string_equal(diag.operator_name, "If");
    }
}

/* --- other files ------------------------------------------------------------------------------- */

static char folder[64];

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

/* w.bin holds 1 to 8 and has a second name only in `hard`, made where that is tested. */
static void make_folder(void)
{
    static const float data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    strcpy(folder, "/tmp/tilewright-external-XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(mkdir(in_folder("sub"), 0700), 0);
    FILE *f = fopen(in_folder("w.bin"), "wb"), *g = fopen(in_folder("sub/w.bin"), "wb");
    assert_non_null(f);
    assert_non_null(g);
    assert_int_equal(fwrite(data, 4, 8, f), 8);
    assert_int_equal(fwrite(data + 1, 4, 7, g), 7);
    fclose(f);
    fclose(g);
    assert_int_equal(symlink("/etc/passwd", in_folder("link")), 0);
    assert_int_equal(symlink("w.bin", in_folder("link-inside")), 0);
    assert_int_equal(symlink("sub", in_folder("folder-link")), 0);
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
}

static void remove_folder(void)
{
    static const char *const files[] = {"w.bin",       "sub/w.bin", "link", "link-inside",
                                        "folder-link", "pipe",      "hard", "sparse.bin"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(in_folder(files[i]));
    rmdir(in_folder("sub"));
    rmdir(folder);
}

static void external(void **state)
{
    (void)state;
    make_folder();
    const char *path = in_folder("m.onnx");
    tw_onnx_writer w = with_external("w.bin", NULL, NULL);
    gives(&w, path, 1, (const float[][3]){{-1, 0, 6}});
    w = with_external("./w.bin", "16", "12");
    gives(&w, path, 1, (const float[][3]){{-5, 0, 14}});
    w = with_external("w.bin", "4", "12"); /* not aligned */
    gives(&w, path, 1, (const float[][3]){{-2, 0, 8}});
    w = with_external("sub//./w.bin", NULL, NULL);
    gives(&w, path, 1, (const float[][3]){{-2, 0, 8}});

    static const struct {
        const char *location, *offset, *length, *part;
    } wrong[] = {
        {NULL, NULL, NULL, "not named"},
        {"w.bin", "24", NULL, "beyond the end"},
        {"w.bin", "33", "12", "beyond the end"},
        {"w.bin", "9223372036854775807", "12", "not a number in range"},
        {"w.bin", "900000000000000000", "12", "beyond the end"},
        {"w.bin", "-4", "12", "not a number in range"},
        {"w.bin", "0", "-12", "not a number in range"},
        {"w.bin", "0x4", "12", "not a number in range"},
        {"w.bin", " 4", "12", "not a number in range"},
        {"w.bin", "18446744073709551612", "12", "not a number in range"},
        {"w.bin", "0", "16", "not that of its shape"},
        {"w.bin", "0", "", "not a number in range"},
        {"none.bin", NULL, NULL, "none.bin"},
        {"w.bin/", NULL, NULL, ""},
        {"../w.bin", NULL, NULL, "without \"..\""},
        {"sub/../w.bin", NULL, NULL, "without \"..\""},
        {"/etc/passwd", NULL, NULL, "must be relative"},
        {"\\etc\\passwd", NULL, NULL, "must be relative"},
        {"link", NULL, NULL, "through a link"},
        {"link-inside", NULL, NULL, "through a link"},
        {"folder-link/w.bin", NULL, NULL, "through a link"},
        {"pipe", NULL, NULL, "not a plain file"},
        {"sub", NULL, NULL, "not a plain file"},
        {".", NULL, NULL, ""},
        {"", NULL, NULL, ""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        w = with_external(wrong[i].location, wrong[i].offset, wrong[i].length);
        refused(&w, path, TW_CODE_FAILED, wrong[i].part);
    }
    w = with_external("w.bin", NULL, NULL);
    refused(&w, in_folder("nowhere/m.onnx"), TW_CODE_FAILED, "model's own folder");
    assert_int_equal(link(in_folder("w.bin"), in_folder("hard")), 0);
    w = with_external("w.bin", NULL, NULL);
    refused(&w, path, TW_CODE_FAILED, "hard link");
    remove_folder();
}

static void add_external(tw_onnx_writer *w, int i, const char *location, const char *offset)
{
    tw_onnx_write_external(w, tw_format(arena, "k%d", i), ONNX_FLOAT, 1, three, location, offset,
                           "12");
}

/* Memory is taken for bytes that are there, and once for each of them. */
static void external_memory(void **state)
{
    (void)state;
    make_folder();
    const char *path = in_folder("m.onnx");
    /* Tied weights: the same range under many names. */
    tw_onnx_writer w = with_external("w.bin", "4", "12");
    for (int i = 0; i < 40; i++)
        add_external(&w, i, "w.bin", "4");
    gives(&w, path, 1, (const float[][3]){{-2, 0, 8}});
    /* Many ranges over the same bytes would copy the file many times, under whatever name. */
    w = with_external("w.bin", "4", "12");
    add_external(&w, 0, "w.bin", "5");
    add_external(&w, 1, "./w.bin", "6");
    refused(&w, path, TW_CODE_FAILED, "overlap");
    /* 1.6 GB that the file does not have. */
    w = model();
    tw_onnx_write_external(&w, "k", ONNX_FLOAT, 1, (const int64_t[]){400000000}, "w.bin", NULL,
                           NULL);
    tw_onnx_write_output(&w, "k", ONNX_FLOAT);
    size_t before = tw_arena_bytes(arena);
    refused(&w, path, TW_CODE_FAILED, "beyond the end");
    assert_true(tw_arena_bytes(arena) - before < 1 << 20);
    /* A few bytes at the end of a large file. */
    FILE *f = fopen(in_folder("sparse.bin"), "wb");
    assert_non_null(f);
    assert_int_equal(ftruncate(fileno(f), (off_t)5 << 30), 0);
    fclose(f);
    w = with_external("sparse.bin", "5368709108", "12");
    before = tw_arena_bytes(arena);
    gives(&w, path, 1, (const float[][3]){{-0.0f, 0, 0}});
    assert_true(tw_arena_bytes(arena) - before < 1 << 20);
    remove_folder();
}

/* Operators of a published vocabulary are what the vocabulary says, whatever body the model brings. */
static void vocabulary_before_functions(void **state)
{
    static const float want[][6] = {{-1, 0, 2, 0, 0, 0}};
    const void *in[1] = {x}, *out[1];
    (void)state;
    for (int spelling = 0; spelling < 2; spelling++) {
        const char *op = spelling ? "BUFFER" : "Buffer";
        tw_onnx_writer w = tw_onnx_write(arena, 17), body = tw_onnx_write_body(arena, 17);
        tw_onnx_write_node(&body, "Identity", "a", "b");
        tw_onnx_write_function_of(&w, &body, "qti_aisw", op, "a", "b");
        tw_onnx_write_input(&w, "x", ONNX_FLOAT, 1, three);
        tw_onnx_write_node(&w, op, "x", "y");
        tw_onnx_write_domain(&w, "qti_aisw");
        tw_onnx_write_int(&w, "buffer_size", 6);
        tw_onnx_write_int(&w, "buffer_dim", 0);
        tw_onnx_write_int(&w, "mode", 1);
        tw_onnx_write_output(&w, "y", ONNX_FLOAT);
        tw_graph *graph = import_as(&w, NULL);
        if (!graph || !tw_reference_run(graph, arena, in, out, 0, &diag))
            fail_msg("%s (%s): %s", diag.node, diag.operator_name, diag.message);
        assert_memory_equal(out[0], want[0], sizeof want[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(functions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(absent_and_nested, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hostile_functions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hostile_sizes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(branches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(offered_condition, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nested_branches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_branches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(external, set_up, tear_down),
        cmocka_unit_test_setup_teardown(external_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(vocabulary_before_functions, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
