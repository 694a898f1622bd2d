/* The text IR: exact round trips, places and remedies of errors, hostile bytes. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "graph/print.h"
#include "import/text/text.h"
#include "import/text/vectors.h"
#include "ops/op.h"

/* ---- chance ---- */

static uint64_t chance_state;

static uint32_t chance(uint32_t below)
{
    chance_state = chance_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(chance_state >> 33) % below;
}

/* Plain names, names to be quoted, and names that look like syntax. */
static char *random_name(tw_arena *arena)
{
    static const char *const odd[] = {
        "_", "a b", "\"", "\\x41", "input", "x:0", "/conv/Conv_1", "\x01\x02", "\xc3\xa9t\xc3\xa9",
        "%", "}",   "-",  "#"};
    if (chance(3) == 0)
        return tw_strdup(arena, odd[chance(sizeof odd / sizeof *odd)]);
    return tw_format(arena, "%c%u", (int)('a' + chance(26)), chance(1000));
}

static tw_shape random_shape(tw_dtype dtype)
{
    int32_t dim[TW_MAX_RANK];
    int rank = (int)chance(5);
    for (int i = 0; i < rank; i++)
        dim[i] = (int32_t)(chance(8) ? 1 + chance(5) : 0);
    return tw_shape_of(dtype, rank, dim);
}

static const void *random_bytes(tw_arena *arena, uint32_t bytes)
{
    static const uint8_t edge[] = {0x00, 0x7F, 0x80, 0xFF, 0xC0, 0x01};
    uint8_t *data = tw_alloc(arena, bytes);
    for (uint32_t i = 0; i < bytes; i++)
        data[i] = chance(2) ? edge[chance(sizeof edge)] : (uint8_t)chance(256);
    return data;
}

static tw_quant random_quant(tw_arena *arena, const tw_shape *shape)
{
    if (shape->dtype != TW_S8 || chance(2))
        return (tw_quant){0, 0, NULL, NULL};
    int axis = shape->rank ? (int)chance((uint32_t)shape->rank) : 0;
    int count = shape->rank && shape->dim[axis] > 0 && chance(2) ? shape->dim[axis] : 1;
    float *scale = tw_alloc_array(arena, (size_t)count, sizeof *scale);
    int32_t *zero = tw_alloc_array(arena, (size_t)count, sizeof *zero);
    for (int i = 0; i < count; i++) {
        scale[i] = (float)(1 + chance(1000000)) * 1e-7f;
        zero[i] = chance(2) ? 0 : (int32_t)chance(256) - 128;
    }
    return (tw_quant){count, count > 1 ? axis : 0, scale, zero};
}

/* Attributes of any kind, within their range. */
static void random_attributes(const tw_opdef *op, char *attributes)
{
    tw_attributes_default(op, attributes);
    for (int i = 0; i < op->attribute_count; i++) {
        const tw_attribute *a = &op->attributes[i];
        double least = a->least < -1000 ? -1000 : a->least;
        double greatest = a->greatest > 1000 ? 1000 : a->greatest;
        int count = 1;
        char *field = attributes + a->offset;
        bool list = a->kind == TW_ATTRIBUTE_INTS || a->kind == TW_ATTRIBUTE_FLOATS;
        if (chance(2))
            continue;
        if (list) {
            count = (int)chance(TW_MAX_RANK + 1);
            memcpy(field, &count, sizeof count);
            field += sizeof count;
        }
        for (int k = 0; k < count; k++, field += 4) {
            double value = least + (greatest - least) * chance(1001) / 1000.0;
            float real = (float)value;
            int32_t word = (int32_t)value;
            bool is_float = a->kind == TW_ATTRIBUTE_FLOAT || a->kind == TW_ATTRIBUTE_FLOATS;
            memcpy(field, is_float ? (const void *)&real : (const void *)&word, 4);
        }
    }
}

/* A node of any operator that accepts what is at hand; none is added when it does not. */
static void random_node(tw_graph *graph)
{
    const tw_opdef *op = tw_ops[chance((uint32_t)tw_op_count)];
    tw_value *in[TW_MAX_OPERANDS] = {NULL};
    int room = op->max_in - op->min_in;
    int in_count = op->min_in + (room > 0 ? (int)chance((uint32_t)(room > 3 ? 4 : room + 1)) : 0);
    char *attributes = tw_alloc(graph->arena, op->attribute_bytes + 4);
    const char *names[1] = {random_name(graph->arena)};
    tw_diag diag = {0};
    if (in_count > 8)
        return;
    for (int i = 0; i < in_count; i++)
        in[i] = i >= op->min_in && chance(4) == 0
                    ? NULL
                    : graph->values[chance((uint32_t)graph->value_count)];
    random_attributes(op, attributes);
    tw_node *node = tw_graph_node(graph, op, random_name(graph->arena), in, in_count, op->min_out,
                                  names, op->attribute_bytes ? attributes : NULL, &diag);
    if (!node)
        return;
    if (chance(3) == 0)
        node->clamp = (tw_clamp){-1.5f, chance(2) ? 6.0f : (float)(1.0 / 0.0)};
    if (node->out[0] && !node->out[0]->quant.count)
        node->out[0]->quant = random_quant(graph->arena, &node->out[0]->shape);
}

/* Some states become a value of their own type. */
static void random_next(tw_graph *graph)
{
    for (int i = 0; i < graph->state_count; i++)
        for (int k = 0; k < graph->value_count && !graph->states[i].next; k++) {
            tw_diag diag = {0};
            tw_value *current = graph->states[i].current, *next = graph->values[k];
            if (chance(4) == 0 && tw_quant_equal(&current->quant, &next->quant))
                tw_graph_state_next(graph, current, next, &diag);
        }
}

static tw_graph *random_graph(tw_arena *arena)
{
    tw_graph *graph = tw_graph_new(arena, random_name(arena));
    for (uint32_t n = 1 + chance(4); n > 0; n--) {
        tw_shape shape = random_shape((tw_dtype)(1 + chance(13)));
        tw_value *value = tw_graph_input(graph, random_name(arena), shape);
        value->quant = random_quant(arena, &shape);
    }
    for (uint32_t n = chance(6); n > 0; n--) {
        tw_shape shape = random_shape((tw_dtype)(1 + chance(13)));
        const void *data = random_bytes(arena, tw_shape_bytes(&shape));
        tw_value *value = tw_graph_constant(graph, random_name(arena), shape, data);
        value->quant = random_quant(arena, &shape);
    }
    for (uint32_t n = chance(3); n > 0; n--) {
        tw_shape shape = random_shape((tw_dtype)(1 + chance(13)));
        tw_graph_state(graph, random_name(arena), shape,
                       chance(2) ? random_bytes(arena, tw_shape_bytes(&shape)) : NULL);
    }
    for (uint32_t n = chance(20); n > 0; n--)
        random_node(graph);
    random_next(graph);
    for (uint32_t n = 1 + chance(3); n > 0; n--)
        tw_graph_output(graph, graph->values[chance((uint32_t)graph->value_count)]);
    return graph;
}

/* ---- round trips ---- */

static char *print(const tw_graph *graph, const char *folder, size_t *bytes)
{
    char *text = NULL;
    tw_diag diag = {0};
    FILE *file = open_memstream(&text, bytes);
    assert_non_null(file);
    assert_true(tw_text_print(graph, file, folder, &diag));
    fclose(file);
    return text;
}

static tw_graph *parse(tw_arena *arena, const char *text, size_t bytes, const char *path)
{
    tw_diag diag = {0};
    char message[2048];
    tw_graph *graph = tw_text_parse(arena, text, bytes, path, &diag);
    tw_diag_text(&diag, message, sizeof message);
    if (!graph)
        fail_msg("%s\n%s", message, text);
    return graph;
}

static void compare_values(const tw_graph *a, const tw_graph *b)
{
    int k = 0;
    for (int i = 0; i < a->value_count; i++) {
        const tw_value *left = a->values[i], *right = NULL;
        for (k = 0; k < b->value_count && !right; k++)
            right = strcmp(b->values[k]->name, left->name) == 0 ? b->values[k] : NULL;
        if (!right) {
            fail_msg("%s is lost", left->name);
            return;
        }
        assert_true(tw_shape_equal(&left->shape, &right->shape));
        assert_true(tw_quant_equal(&left->quant, &right->quant));
        assert_int_equal(left->data != NULL, right->data != NULL);
        if (left->data && right->data)
            assert_memory_equal(left->data, right->data, tw_shape_bytes(&left->shape));
    }
    assert_int_equal(a->value_count, b->value_count);
}

static void compare_states(const tw_graph *a, const tw_graph *b)
{
    assert_int_equal(a->state_count, b->state_count);
    for (int i = 0; i < a->state_count; i++) {
        const tw_state *left = &a->states[i], *right = &b->states[i];
        assert_string_equal(left->current->name, right->current->name);
        assert_int_equal(left->next != NULL, right->next != NULL);
        if (left->next && right->next)
            assert_string_equal(left->next->name, right->next->name);
        assert_int_equal(left->initial != NULL, right->initial != NULL);
        if (left->initial)
            assert_memory_equal(left->initial, right->initial,
                                tw_shape_bytes(&left->current->shape));
    }
}

static void compare_nodes(const tw_graph *a, const tw_graph *b)
{
    assert_int_equal(a->node_count, b->node_count);
    for (int i = 0; i < a->node_count; i++) {
        const tw_node *left = a->nodes[i], *right = b->nodes[i];
        assert_ptr_equal(left->op, right->op);
        assert_string_equal(left->name, right->name);
        assert_memory_equal(&left->clamp, &right->clamp, sizeof left->clamp);
        if (left->op->attribute_bytes)
            assert_memory_equal(left->attributes, right->attributes, left->op->attribute_bytes);
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        size_t bytes, again_bytes;
        tw_arena *arena = tw_arena_new();
        chance_state = seed;
        tw_graph *graph = random_graph(arena);
        char *text = print(graph, NULL, &bytes);
        tw_graph *copy = parse(arena, text, bytes, NULL);
        char *again = print(copy, NULL, &again_bytes);
        assert_string_equal(text, again);
        compare_values(graph, copy);
        compare_nodes(graph, copy);
        compare_states(graph, copy);
        free(text);
        free(again);
        tw_arena_free(arena);
    }
}

static const char sample[] =
    "# a comment\n"
    "graph \"tiny\" {\n"
    "  input  %x : f32[1,4]\n"
    "  const  %k : f32[130] = random 7 -0.5 0.5\n"
    "  const  %odd : s8[2] quant(scale=[0.5, 0.25], zero=[0, 3], axis=0) = [-128, 0x7f]\n"
    "  const  %n : f32[5] = [nan, nan(0x7fa00001), -inf, -0, 0x1p-149]\n"
    "  %y : f32[1,4] = Relu \"first\" (%x) clamp(0, 6)\n"
    "  output %y\n"
    "  output %k\n"
    "}\n";

static void test_side_files(void **state)
{
    (void)state;
    size_t bytes, again_bytes;
    char folder[] = "/tmp/twtextXXXXXX";
    assert_non_null(mkdtemp(folder));
    tw_arena *arena = tw_arena_new();
    char *path = tw_format(arena, "%s/tiny.twir", folder);
    tw_graph *graph = parse(arena, sample, sizeof sample - 1, NULL);
    char *text = print(graph, folder, &bytes);
    assert_non_null(strstr(text, "= file \"tiny.k.npy\"\n"));
    assert_non_null(strstr(text, "[nan, nan(0x7fa00001), -inf, -0, 1e-45]\n"));
    tw_graph *copy = parse(arena, text, bytes, path);
    compare_values(graph, copy);
    char *again = print(copy, folder, &again_bytes);
    assert_string_equal(text, again);
    free(text);
    free(again);
    unlink(tw_format(arena, "%s/tiny.k.npy", folder));
    assert_int_equal(rmdir(folder), 0);
    tw_arena_free(arena);
}

static void test_random_data_is_fixed(void **state)
{
    (void)state;
    static const char text[] = "graph \"r\" { const %a : f32[3] = random 1 0 1 "
                               "const %b : s8[4] = random 2 -128 128 output %a output %b }";
    static const float want[3] = {0x1.22145cp-1f, 0x1.7dd71cp-1f, 0x1.f12746p-1f};
    static const int8_t integers[4] = {23, 63, 24, 67};
    tw_arena *arena = tw_arena_new();
    tw_graph *graph = parse(arena, text, sizeof text - 1, NULL);
    const float *got = graph->outputs[0]->data;
    for (int i = 0; i < 3; i++)
        assert_true(got[i] == want[i]);
    assert_memory_equal(graph->outputs[1]->data, integers, sizeof integers);
    tw_arena_free(arena);
}

/* ---- errors ---- */

typedef struct tw_error_case {
    const char *text;
    int line, column;
    tw_code code;
    const char *says;
} tw_error_case;

#define IN "graph \"g\" {\n  input %x : f32[1,4]\n"

static const tw_error_case errors[] = {
    {"", 1, 1, TW_CODE_FAILED, "expected 'graph', found the end"},
    {"grap", 1, 1, TW_CODE_FAILED, "expected 'graph'"},
    {"graph tiny {}", 1, 7, TW_CODE_FAILED, "name in quotes"},
    {"graph \"g\" {}", 1, 12, TW_CODE_FAILED, "no output"},
    {"graph \"g", 1, 7, TW_CODE_FAILED, "close it with"},
    {"graph \"g\\q\" {", 1, 7, TW_CODE_FAILED, "unknown escape"},
    {"graph \"g\" {\n  @", 2, 3, TW_CODE_FAILED, "0x40 means nothing"},
    {"graph \"g\" { input %x : f33[1] output %x }", 1, 24, TW_CODE_FAILED, "an element type"},
    {"graph \"g\" { input %x : f32[-1] output %x }", 1, 28, TW_CODE_FAILED, "0 or more"},
    {"graph \"g\" { input %x : f32[99999,99999] output %x }", 1, 34, TW_CODE_UNSUPPORTED, "2 GB"},
    {"graph \"g\" { input %x : f32[0,99999,99999] }", 1, 36, TW_CODE_UNSUPPORTED, "2 GB"},
    {"graph \"g\" { input %x : f32[1,1,1,1,1,1,1] }", 1, 40, TW_CODE_UNSUPPORTED, "merge axes"},
    {"graph \"g\" { input %x : f32[1.5] }", 1, 28, TW_CODE_FAILED, "a whole number"},
    {"graph \"g\" { const %x : f32[2] = [1] }", 1, 35, TW_CODE_FAILED, "holds 1 of the 2"},
    {"graph \"g\" { const %x : f32[2] = [1,2,3] }", 1, 38, TW_CODE_FAILED, "longer than the 2"},
    {"graph \"g\" { const %x : f32[400000000] = [1] }", 1, 41, TW_CODE_FAILED, "shorter than"},
    {"graph \"g\" { const %x : s8[1] = [128] }", 1, 33, TW_CODE_FAILED, "out of the range of s8"},
    {"graph \"g\" { const %x : f32[1] = [1e999] }", 1, 34, TW_CODE_FAILED, "out of the range"},
    {"graph \"g\" { const %x : f32[1] = [one] }", 1, 34, TW_CODE_FAILED, "a number such as"},
    {"graph \"g\" { const %x : f32[1] = file \"a.npy\" }", 1, 38, TW_CODE_FAILED, "a file itself"},
    {"graph \"g\" { const %x : f32[1] = random 1 2 1 }", 1, 33, TW_CODE_FAILED, "in order"},
    {"graph \"g\" { const %x : f32[400000000] = random 1 0 1 }", 1, 41, TW_CODE_UNSUPPORTED,
     "random numbers in one text"},
    {"graph \"g\" { input %x : s8[2] quant(scale=[1,2,3], zero=0) }", 1, 30, TW_CODE_FAILED,
     "3 scales do not match"},
    {"graph \"g\" { input %x : s8[2] quant(scale=0, zero=0) }", 1, 30, TW_CODE_FAILED, "positive"},
    {IN "  %y = Relu(%z)\n", 3, 13, TW_CODE_FAILED, "%z is not defined above"},
    {IN "  %x = Relu(%x)\n", 3, 3, TW_CODE_FAILED, "%x is defined twice"},
    {IN "  %y, %y = Relu(%x)\n", 3, 7, TW_CODE_FAILED, "%y is defined twice"},
    {IN "  %y = Rule(%x)\n", 3, 8, TW_CODE_UNSUPPORTED, "Rule is not an operator"},
    {IN "  %y = other.Thing(%x) {a=1}\n", 3, 8, TW_CODE_UNSUPPORTED, "vocabulary other"},
    {IN "  %y = Relu(%x, %x)\n", 3, 8, TW_CODE_FAILED, "2 inputs given"},
    {IN "  %y = Relu(_)\n", 3, 8, TW_CODE_FAILED, "input 0 is missing"},
    {IN "  %y : f32[4] = Relu(%x)\n", 3, 17, TW_CODE_FAILED, "written as f32[4] but is f32[1,4]"},
    {IN "  %y = Relu(%x) {no=1}\n", 3, 18, TW_CODE_UNSUPPORTED, "Relu has no attribute no"},
    {IN "  % = Relu(%x)\n", 3, 3, TW_CODE_FAILED, "needs a name"},
    {IN "  output %x\n} graph", 4, 3, TW_CODE_FAILED, "expected the end of the file"},
};

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        const tw_error_case *e = &errors[i];
        tw_arena *arena = tw_arena_new();
        tw_diag diag = {0};
        assert_null(tw_text_parse(arena, e->text, strlen(e->text), NULL, &diag));
        if (!strstr(diag.message, e->says) || diag.line != e->line || diag.column != e->column ||
            diag.code != e->code)
            fail_msg("%s\n%d:%d: (%d) %s, where %d:%d: (%d) %s was expected", e->text, diag.line,
                     diag.column, (int)diag.code, diag.message, e->line, e->column, (int)e->code,
                     e->says);
        tw_arena_free(arena);
    }
}

static void test_files_stay_inside(void **state)
{
    (void)state;
    static const char *const names[] = {"/etc/passwd", "../a.npy",    "a/../../b.npy", "..", "",
                                        "out.npy",     "missing.npy", "folder"};
    char base[] = "/tmp/twtextXXXXXX";
    assert_non_null(mkdtemp(base));
    tw_arena *arena = tw_arena_new();
    char *inside = tw_format(arena, "%s/in", base), *link = tw_format(arena, "%s/out.npy", inside);
    char *folder = tw_format(arena, "%s/folder", inside);
    assert_int_equal(mkdir(inside, 0700) | mkdir(folder, 0700), 0);
    assert_int_equal(symlink("/etc/hostname", link), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tw_diag diag = {0};
        char *text = tw_format(arena, "graph \"g\" { const %%x : f32[1] = file \"%s\" }", names[i]);
        assert_null(
            tw_text_parse(arena, text, strlen(text), tw_format(arena, "%s/a.twir", inside), &diag));
        assert_int_equal(diag.column, 38);
        assert_true(strstr(diag.message, "model's folder") ||
                    strstr(diag.message, "model's own folder") ||
                    strstr(diag.message, "not a plain file"));
    }
    unlink(link);
    rmdir(folder);
    rmdir(inside);
    assert_int_equal(rmdir(base), 0);
    tw_arena_free(arena);
}

/* Bytes changed, dropped, doubled: parsed or refused, never worse. The sanitizers watch. */
static void test_damage(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        char text[2 * sizeof sample];
        size_t bytes = sizeof sample - 1;
        chance_state = seed;
        memcpy(text, sample, bytes);
        for (uint32_t n = 1 + chance(4); n > 0; n--) {
            size_t at = chance((uint32_t)bytes), run = 1 + chance(8);
            switch (chance(3)) {
            case 0: text[at] = (char)chance(256); break;
            case 1:
                run = run > bytes - at ? bytes - at : run;
                memmove(text + at, text + at + run, bytes - at - run);
                bytes -= run < bytes ? run : 0;
                break;
            default: text[at] = sample[chance(sizeof sample - 1)]; break;
            }
        }
        tw_arena *arena = tw_arena_new();
        tw_diag diag = {0};
        tw_graph *graph = tw_text_parse(arena, text, bytes, NULL, &diag);
        assert_int_equal(graph == NULL, diag.code != TW_CODE_OK);
        tw_arena_free(arena);
    }
}

static void test_recognise(void **state)
{
    (void)state;
    assert_true(tw_text_recognise("# x\n\n graph \"a\"", 15));
    assert_true(tw_text_recognise("graph", 5));
    assert_false(tw_text_recognise("grap", 4));
    assert_false(tw_text_recognise("", 0));
    assert_false(tw_text_recognise("\0graph", 6));
    assert_false(tw_text_recognise("# only a comment", 16));
}

/* ---- vectors ---- */

static void test_vectors(void **state)
{
    (void)state;
    static const char text[] =
        "case \"one\" oracle \"by hand\" rtol 1e-5 ulp 2\n" IN "  %y = Relu(%x)\n  output %y\n}\n"
        "feed %x = [-1, 0, 2, 3]\nexpect %y = [0, 0, 2, 3]\n"
        "case \"two\" oracle \"by hand\"\n" IN "  output %x\n}\n"
        "feed %x = random 1 0 1\nexpect %x = [0,0,0,0]\n";
    tw_arena *arena = tw_arena_new();
    tw_vector_file file;
    tw_diag diag = {0};
    if (!tw_vectors_parse(arena, text, sizeof text - 1, "v.txt", &file, &diag))
        fail_msg("%d:%d: %s", diag.line, diag.column, diag.message);
    assert_int_equal(file.count, 2);
    assert_true(file.cases[0].rtol == 1e-5 && file.cases[0].atol == 1e-7);
    assert_int_equal(file.cases[0].ulp, 2);
    assert_true(((const float *)file.cases[0].expects[0].data)[3] == 3.0f);
    assert_string_equal(file.cases[1].oracle, "by hand");
    tw_arena_free(arena);
}

static void test_vector_errors(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"case \"a\" " IN "output %x }", "names no oracle"},
        {"case \"a\" oracle \"o\" " IN "output %x }", "%x has no feed"},
        {"case \"a\" oracle \"o\" " IN "output %x } feed %x = [1,2,3,4]", "%x has no expect"},
        {"case \"a\" oracle \"o\" " IN "output %x } feed %z = [1,2,3,4]", "is not an input"},
        {"case \"a\" oracle \"o\" rtol 2 " IN "output %x }", "a tolerance lies"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tw_arena *arena = tw_arena_new();
        tw_vector_file file;
        tw_diag diag = {0};
        assert_false(tw_vectors_parse(arena, texts[i][0], strlen(texts[i][0]), NULL, &file, &diag));
        assert_non_null(strstr(diag.message, texts[i][1]));
        tw_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_side_files),
        cmocka_unit_test(test_random_data_is_fixed),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_files_stay_inside),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_recognise),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_vector_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
