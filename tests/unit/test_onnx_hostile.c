/* ONNX files that are damaged, hostile, or beyond what is supported: each is refused with the right
 * code and a message that names the file, the node and the operator; nothing crashes, and nothing
 * makes the importer allocate much more than the file's size. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "import/import.h"
#include "import/onnx/onnx.h"
#include "import/wire.h"
#include "support/arena_fixture.h"
#include "support/message_parts.h"
#include "support/onnx_model.h"

static tw_graph *import(tw_wire_bytes file, tw_diag *diag)
{
    *diag = (tw_diag){0};
    /* An exact copy, so that reading past the end is seen. */
    const void *exact = tw_copy(arena, file.data, file.bytes);
    tw_graph *graph = tw_import_bytes(arena, exact, file.bytes, "model.onnx", NULL, NULL, diag);
    if (!graph) {
        assert_int_not_equal(diag->code, TW_CODE_OK);
        assert_true(diag->message[0] != 0);
        assert_string_equal(diag->file, "model.onnx");
    }
    return graph;
}

static void refused(tw_wire_bytes file, tw_code code, const char *node, const char *op,
                    const char *part)
{
    tw_diag diag;
    char text[2048];
    if (import(file, &diag))
        fail_msg("accepted, where '%s' was expected", part);
    tw_diag_text(&diag, text, sizeof text);
    if (!strstr(text, part) || diag.code != code || strcmp(diag.node, node) != 0 ||
        strcmp(diag.operator_name, op) != 0)
        fail_msg("code %d, node '%s', operator '%s': %s", (int)diag.code, diag.node,
                 diag.operator_name, text);
}

static const int64_t four[] = {1, 2, 4, 4};

/* x [1,2,4,4] -> Conv -> c -> MaxPool -> y */
static tw_wire_bytes small_model(void)
{
    tw_onnx_writer w = tw_onnx_write(arena, 13);
    static const float weights[3 * 2 * 3 * 3];
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 4, four);
    tw_onnx_write_tensor(&w, "w", ONNX_FLOAT, 4, (const int64_t[]){3, 2, 3, 3}, weights,
                         sizeof weights);
    tw_onnx_write_node(&w, "Conv", "x w", "c");
    tw_onnx_write_ints(&w, "pads", 4, (const int64_t[]){1, 1, 1, 1});
    tw_onnx_write_node(&w, "MaxPool", "c", "y");
    tw_onnx_write_ints(&w, "kernel_shape", 2, (const int64_t[]){2, 2});
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    return tw_onnx_write_end(&w);
}

static void well_formed(void **state)
{
    (void)state;
    tw_diag diag;
    tw_graph *graph = import(small_model(), &diag);
    assert_non_null(graph);
    assert_true(tw_graph_check(graph, &diag));
    assert_int_equal(graph->input_count, 1);
    assert_string_equal(graph->inputs[0]->name, "x");
    assert_int_equal(graph->output_count, 1);
    assert_string_equal(graph->outputs[0]->name, "y");
    assert_int_equal(graph->outputs[0]->shape.dim[1], 3);
    assert_int_equal(graph->outputs[0]->shape.dim[3], 3);
}

/* --- files ------------------------------------------------------------------------------------- */

static void other_files(void **state)
{
    (void)state;
    tw_wire_bytes file = {.arena = arena};
    refused(file, TW_CODE_FAILED, "", "", "empty");
    static const struct {
        const char *bytes;
        size_t length;
        tw_code code;
        const char *part;
    } cases[] = {
        {"\x1c\0\0\0TFL3", 8, TW_CODE_FAILED, "outside the file"},
        {"TWPL\1\0\0\0", 8, TW_CODE_UNSUPPORTED, "plan"},
        {"PK\3\4", 4, TW_CODE_UNSUPPORTED, "zip"},
        {"hello, world", 12, TW_CODE_FAILED, "TensorFlow Lite models (.tflite), "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file.data = tw_copy(arena, cases[i].bytes, cases[i].length);
        file.bytes = cases[i].length;
        refused(file, cases[i].code, "", "", cases[i].part);
    }
    tw_diag diag = {0};
    assert_null(tw_import(arena, "/nonexistent/model.onnx", NULL, NULL, &diag));
    assert_int_equal(diag.code, TW_CODE_FAILED);
}

/* The last fields of a model import domains that this one can do without: cut between them, it is
 * whole. */
static bool is_between_domains(size_t n, size_t bytes)
{
    static const char *const last[] = {"tigris", "qti_aisw", "mobilint", "com.microsoft", "local"};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++) {
        bytes -= 2 + 2 + strlen(last[i]) + 2;
        if (n == bytes)
            return true;
    }
    return false;
}

static void truncated_everywhere(void **state)
{
    (void)state;
    tw_wire_bytes file = small_model();
    for (size_t n = 0; n < file.bytes; n++) {
        tw_diag diag = {0};
        tw_wire_bytes part = file;
        part.bytes = n;
        if ((import(part, &diag) != NULL) != is_between_domains(n, file.bytes))
            fail_msg("wrong about the first %zu of %zu bytes", n, file.bytes);
    }
}

static uint64_t next(uint64_t *seed)
{
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void random_bytes(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int round = 0; round < 2000; round++) {
        uint8_t data[96];
        size_t bytes = next(&seed) % sizeof data;
        for (size_t i = 0; i < bytes; i++)
            data[i] = (uint8_t)next(&seed);
        if (round % 2)
            data[0] = 0x08, data[1] = 8; /* as a model begins */
        tw_diag diag = {0};
        import((tw_wire_bytes){.data = data, .bytes = bytes}, &diag);
    }
}

/* A valid model with some bytes changed: refused, or imported to a graph that passes the check. */
static void mutated(void **state)
{
    (void)state;
    uint64_t seed = 11;
    tw_wire_bytes file = small_model();
    for (int round = 0; round < 4000; round++) {
        tw_wire_bytes copy = file;
        copy.data = tw_copy(arena, file.data, file.bytes);
        for (int changes = 1 + (int)(next(&seed) % 3); changes; changes--)
            copy.data[next(&seed) % copy.bytes] = (uint8_t)next(&seed);
        tw_diag diag = {0};
        tw_graph *graph = import(copy, &diag);
        if (graph && !tw_graph_check(graph, &diag))
            fail_msg("round %d: an inconsistent graph: %s", round, diag.message);
        if (round % 500 == 0) {
            tw_arena_free(arena);
            arena = tw_arena_new();
            file = small_model();
        }
    }
}

/* --- the wire ---------------------------------------------------------------------------------- */

/* A model whose attribute holds a graph, whose node's attribute holds a graph, and so on. */
static void nested(void **state)
{
    (void)state;
    for (int depth = 1; depth < 200; depth++) {
        tw_wire_bytes graph = {.arena = arena}, model = graph;
        for (int i = 0; i < depth; i++) {
            tw_wire_bytes attribute = {.arena = arena}, node = attribute, outer = attribute;
            tw_wire_message(&attribute, 6, &graph);
            tw_wire_message(&node, 5, &attribute);
            tw_wire_message(&outer, 1, &node);
            graph = outer;
        }
        tw_wire_number(&model, 1, 8);
        tw_wire_message(&model, 7, &graph);
        tw_diag diag = {0};
        assert_null(import(model, &diag));
        /* Each level is three messages; the model is one and its graph another. */
        bool deep = 2 + 3 * depth > TW_WIRE_DEPTH;
        assert_int_equal(strstr(diag.message, "nested") != NULL, deep);
    }
}

static void claims(void **state)
{
    (void)state;
    /* A raw_data of 3 GB in a file of a few bytes. */
    tw_wire_bytes tensor = {.arena = arena}, graph = tensor, model = tensor;
    tw_wire_number(&tensor, 2, ONNX_FLOAT);
    tw_wire_varint(&tensor, 9 << 3 | 2);
    tw_wire_varint(&tensor, UINT64_C(3) << 30);
    tw_wire_message(&graph, 5, &tensor);
    tw_wire_number(&model, 1, 8);
    tw_wire_message(&model, 7, &graph);
    refused(model, TW_CODE_FAILED, "", "",
            "model.graph.initializer[0].raw_data: it claims 3221225472 bytes, 0 are left");
    /* The graph itself claims 2^63 bytes. */
    model.bytes = 0;
    tw_wire_number(&model, 1, 8);
    tw_wire_varint(&model, 7 << 3 | 2);
    tw_wire_varint(&model, UINT64_C(1) << 63);
    refused(model, TW_CODE_FAILED, "", "", "model.graph: it claims 9223372036854775808 bytes");
    /* Dims of 2^40 with no data. */
    tw_onnx_writer w = tw_onnx_write(arena, 13);
    tw_onnx_write_tensor(&w, "w", ONNX_FLOAT, 2, (const int64_t[]){1 << 20, 1 << 20}, "", 0);
    tw_onnx_write_output(&w, "w", ONNX_FLOAT);
    refused(tw_onnx_write_end(&w), TW_CODE_UNSUPPORTED, "", "", "larger than 2 GB");
    /* A constant made of a shape. */
    w = tw_onnx_write(arena, 13);
    tw_onnx_write_tensor(&w, "s", ONNX_INT64, 1, (const int64_t[]){2},
                         (const int64_t[]){20000, 20000}, 16);
    tw_onnx_write_node(&w, "ConstantOfShape", "s", "y");
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    refused(tw_onnx_write_end(&w), TW_CODE_UNSUPPORTED, "y", "ConstantOfShape", "1600000000 bytes");
}

static void wire_forms(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        const char *part;
    } cases[] = {
        {"\x08\x08\x3a", 3, "length is cut off"},
        {"\x08\x08\x08\x09", 4, "model.ir_version: the field is given twice"},
        {"\x08\x08\x3d\0\0\0\0", 7, "model.graph: the field has the wrong kind"},
        {"\x08\x08\x3b\x00", 4, "model.graph"},
        {"\x08\x08\x00\x00", 4, "impossible number"},
        {"\x08\x08\x12\x03\x61\x00\x62", 7, "model.producer_name: the text holds a zero byte"},
        {"\x08\x08\x3a\x04\x2a\x02\x22\x03", 8, "float_data"},
        {"\x08\x08\x3a\x07\x2a\x05\x22\x03\1\2\3", 11, "whole number of elements"},
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_wire_bytes file = {.arena = arena, .bytes = cases[i].length};
        file.data = tw_copy(arena, cases[i].bytes, cases[i].length);
        refused(file, TW_CODE_FAILED, "", "", cases[i].part);
    }
}

/* A megabyte of empty messages would unpack to a hundred. */
static void small_messages(void **state)
{
    (void)state;
    for (uint32_t field = 1; field <= 15; field++) {
        tw_wire_bytes graph = {.arena = arena}, model = graph;
        for (int i = 0; i < 300000; i++)
            tw_wire_data(&graph, field, "", 0);
        tw_wire_number(&model, 1, 8);
        tw_wire_message(&model, 7, &graph);
        tw_diag diag = {0};
        tw_arena *own = tw_arena_new();
        assert_null(tw_import_bytes(own, model.data, model.bytes, "model.onnx", NULL, NULL, &diag));
        if (tw_arena_bytes(own) > 80 * model.bytes + TW_WIRE_HEAD)
            fail_msg("field %u: %zu bytes for a file of %zu", field, tw_arena_bytes(own),
                     model.bytes);
        tw_arena_free(own);
    }
}

/* --- graphs ------------------------------------------------------------------------------------ */

static tw_onnx_writer with_input(void)
{
    tw_onnx_writer w = tw_onnx_write(arena, 13);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 4, four);
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    return w;
}

static void unknown_operators(void **state)
{
    (void)state;
    tw_onnx_writer w = with_input();
    tw_onnx_write_node(&w, "Frobnicate", "x", "y");
    tw_onnx_write_name(&w, "frob 1");
    refused(tw_onnx_write_end(&w), TW_CODE_UNSUPPORTED, "frob 1", "Frobnicate",
            "model.onnx: frob 1 (Frobnicate): the operator Frobnicate of domain 'ai.onnx' (opset "
            "13) is not supported");
    w = with_input();
    tw_onnx_write_node(&w, "Conv", "x", "y");
    tw_onnx_write_domain(&w, "org.example");
    refused(tw_onnx_write_end(&w), TW_CODE_UNSUPPORTED, "y", "Conv", "domain 'org.example'");
    w = with_input();
    tw_onnx_write_node(&w, "Flatten", "x", "y");
    tw_onnx_write_int(&w, "axes", 1);
    refused(tw_onnx_write_end(&w), TW_CODE_UNSUPPORTED, "y", "Flatten", "attribute axes");
    w = with_input();
    tw_onnx_write_node(&w, "Flatten", "x", "y");
    tw_onnx_write_real(&w, "axis", 1);
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "y", "Flatten", "wrong kind");
    w = with_input();
    tw_onnx_write_node(&w, "StringNormalizer", "x", "y");
    refused(tw_onnx_write_end(&w), TW_CODE_UNSUPPORTED, "y", "StringNormalizer", "not supported");
    w = tw_onnx_write(arena, 29);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 4, four);
    tw_onnx_write_output(&w, "x", ONNX_FLOAT);
    refused(tw_onnx_write_end(&w), TW_CODE_UNSUPPORTED, "", "", "opset 29");
}

static void wrong_graphs(void **state)
{
    (void)state;
    tw_onnx_writer w = with_input();
    tw_onnx_write_node(&w, "Conv", "x w", "y");
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "y", "Conv", "'w', comes from nowhere");
    w = with_input();
    tw_onnx_write_node(&w, "Conv", "x -", "y");
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "y", "Conv", "input 1 is missing");
    w = with_input();
    tw_onnx_write_node(&w, "Flatten", "b", "a");
    tw_onnx_write_node(&w, "Flatten", "a", "b");
    tw_onnx_write_node(&w, "Flatten", "b", "y");
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "b", "Flatten", "depends on its own result");
    w = with_input();
    tw_onnx_write_node(&w, "Flatten", "y", "y");
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "y", "Flatten", "depends on its own result");
    w = with_input();
    tw_onnx_write_node(&w, "Flatten", "x", "y");
    tw_onnx_write_node(&w, "Flatten", "x", "y");
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "y", "", "two tensors have this name");
    w = with_input();
    tw_onnx_write_node(&w, "Flatten", "x", "x");
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "x", "", "two tensors have this name");
    w = with_input();
    tw_onnx_write_node(&w, "Flatten", "x", "z");
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "y", "", "graph output comes from nowhere");
    w = with_input();
    tw_onnx_write_node(&w, "Flatten", "x x", "y");
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "y", "Flatten", "2 inputs");
    w = with_input();
    tw_onnx_write_node(&w, "Shape", "x", "y");
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "y", "", "declared as f32 but computed as s64");
}

static void wrong_ranks(void **state)
{
    (void)state;
    static const float zero[64];
    tw_onnx_writer w = with_input();
    tw_onnx_write_tensor(&w, "w", ONNX_FLOAT, 3, (const int64_t[]){3, 2, 3}, zero, 72);
    tw_onnx_write_node(&w, "Conv", "x w", "y");
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "y", "Conv", "rank 4, the weights have rank 3");
    w = with_input();
    tw_onnx_write_tensor(&w, "w", ONNX_FLOAT, 4, (const int64_t[]){4, 2, 1, 1}, zero, 32);
    tw_onnx_write_node(&w, "Conv", "x w", "y");
    tw_onnx_write_int(&w, "group", 3);
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "y", "Conv", "group 3 does not divide");
    w = with_input();
    tw_onnx_write_tensor(&w, "w", ONNX_FLOAT, 4, (const int64_t[]){4, 3, 1, 1}, zero, 48);
    tw_onnx_write_node(&w, "Conv", "x w", "y");
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "y", "Conv", "take 3 channels");
    w = with_input();
    tw_onnx_write_tensor(&w, "w", ONNX_FLOAT, 4, (const int64_t[]){4, 2, 5, 5}, zero, 50);
    tw_onnx_write_node(&w, "Conv", "x w", "y");
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "", "", "holds 50 bytes");
    w = with_input();
    tw_onnx_write_node(&w, "MaxPool", "x", "y");
    tw_onnx_write_ints(&w, "kernel_shape", 2, (const int64_t[]){2, 2});
    tw_onnx_write_ints(&w, "strides", 2, (const int64_t[]){0, 1});
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "y", "MaxPool", "strides holds 0");
    w = with_input();
    tw_onnx_write_node(&w, "MaxPool", "x", "y");
    tw_onnx_write_ints(&w, "kernel_shape", 2, (const int64_t[]){9, 9});
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "y", "MaxPool", "");
    w = with_input();
    tw_onnx_write_node(&w, "Transpose", "x", "y");
    tw_onnx_write_ints(&w, "perm", 4, (const int64_t[]){0, 1, 1, 3});
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "y", "Transpose", "axis 1 twice");
    w = with_input();
    tw_onnx_write_node(&w, "Flatten", "x", "y");
    tw_onnx_write_int(&w, "axis", INT64_MIN);
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "y", "Flatten", "does not exist");
    w = with_input();
    tw_onnx_write_tensor(&w, "s", ONNX_INT64, 1, (const int64_t[]){2}, (const int64_t[]){5, -1},
                         16);
    tw_onnx_write_node(&w, "Reshape", "x s", "y");
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "y", "Reshape", "do not divide");
    w = with_input();
    tw_onnx_write_node(&w, "MatMul", "x x", "y");
    tw_onnx_write_node(&w, "MatMul", "x v", "z");
    tw_onnx_write_tensor(&w, "v", ONNX_FLOAT, 1, (const int64_t[]){5}, zero, 20);
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "z", "MatMul", "4 columns meet 5 rows");
}

static void inputs(void **state)
{
    (void)state;
    tw_onnx_writer w = tw_onnx_write(arena, 13);
    tw_onnx_write_input(&w, "x", 10, 4, four);
    tw_onnx_write_output(&w, "x", 10);
    tw_diag diag;
    assert_non_null(import(tw_onnx_write_end(&w), &diag)); /* FLOAT16 is stored as declared */
    w = tw_onnx_write(arena, 13);
    tw_onnx_write_input(&w, "x", 8, 4, four);
    tw_onnx_write_output(&w, "x", 8);
    refused(tw_onnx_write_end(&w), TW_CODE_UNSUPPORTED, "", "", "'x' has element type STRING");
    w = tw_onnx_write(arena, 13);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 7, (const int64_t[]){1, 1, 1, 1, 1, 1, 1});
    tw_onnx_write_output(&w, "x", ONNX_FLOAT);
    refused(tw_onnx_write_end(&w), TW_CODE_UNSUPPORTED, "", "", "rank 7");
    w = tw_onnx_write(arena, 13);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, -1, NULL);
    tw_onnx_write_output(&w, "x", ONNX_FLOAT);
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "x", "", "--input-shape");
    w = tw_onnx_write(arena, 13);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 4, four);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 4, four);
    tw_onnx_write_output(&w, "x", ONNX_FLOAT);
    refused(tw_onnx_write_end(&w), TW_CODE_FAILED, "x", "", "two tensors");
}

/* A model without one of its parts. False: it has no such part. */
static bool import_without(tw_wire_bytes file, const char *path, int part)
{
    tw_arena *own = tw_arena_new();
    tw_diag diag = {0}, broken = {0};
    ProtobufCMessage *model =
        tw_wire_unpack(&tw__onnx__model__descriptor, "model", file.data, file.bytes, own, &diag);
    assert_non_null(model);
    const bool there = tw_message_drop(model, part);
    uint8_t *rest = tw_alloc(own, protobuf_c_message_get_packed_size(model) + 1);
    const size_t left = protobuf_c_message_pack(model, rest);
    const tw_graph *g = tw_import_bytes(own, rest, left, path, NULL, NULL, &diag);
    if (g ? !tw_graph_check(g, &broken) : !*diag.message)
        fail_msg("%s without part %d: '%s'", path, part, broken.message);
    tw_arena_free(own);
    return there;
}

/* Every eighth part of whole models missing in its turn: a message, or a graph that is whole. */
static void missing_parts(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob("tests/data/onnx-optimised/*.onnx", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        tw_diag diag = {0};
        void *data;
        tw_wire_bytes file = {0};
        if (!tw_read_file(arena, found.gl_pathv[i], 1 << 20, &data, &file.bytes, &diag))
            fail_msg("%s", diag.message);
        file.data = data;
        for (int part = (int)i % 8; import_without(file, found.gl_pathv[i], part); part += 8)
            ;
    }
    assert_true(found.gl_pathc > 20);
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(well_formed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(truncated_everywhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(random_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mutated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nested, set_up, tear_down),
        cmocka_unit_test_setup_teardown(claims, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wire_forms, set_up, tear_down),
        cmocka_unit_test_setup_teardown(small_messages, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unknown_operators, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_graphs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_ranks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(inputs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_parts, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
