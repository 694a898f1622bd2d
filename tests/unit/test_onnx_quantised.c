/* Quantised tensors of ONNX where they are unusual or wrong: integers of less than a byte, scales that do
 * not fit, blocks. Networks are in test_onnx_exports, operators in test_onnx_opsets. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "import/import.h"
#include "import/onnx/tensor.h"
#include "support/arena_fixture.h"
#include "support/onnx_model.h"
#include "support/reference.h"

enum { FLOAT8E5M2 = 19, UINT4 = 21, INT4 = 22, UINT2 = 25, INT2 = 26 };

static tw_diag diag;
static const int64_t six[] = {2, 3};

static tw_graph *import(tw_onnx_writer *w)
{
    tw_wire_bytes file = tw_onnx_write_end(w);
    diag = (tw_diag){0};
    return tw_import_bytes(arena, file.data, file.bytes, "m.onnx", NULL, NULL, &diag);
}

static void refused(tw_onnx_writer *w, tw_code code, const char *part)
{
    if (import(w))
        fail_msg("accepted, where '%s' was expected", part);
    if (diag.code != code || !strstr(diag.message, part))
        fail_msg("code %d: %s (%s): %s", (int)diag.code, diag.node, diag.operator_name,
                 diag.message);
}

/* --- less than a byte -------------------------------------------------------------------------- */

static void expect_elements(tw_wire_bytes tensor, int count, const int *want)
{
    tw_tensor_data t;
    diag = (tw_diag){0};
    if (!tw_onnx_tensor_parse(arena, tensor.data, tensor.bytes, &t, &diag))
        fail_msg("%s", diag.message);
    assert_int_equal(tw_shape_elements(&t.shape), count);
    tw_value value = {.shape = t.shape, .data = t.data};
    for (int i = 0; i < count; i++)
        assert_int_equal((int)tw_constant_at(&value, i), want[i]);
}

static void packed(void **state)
{
    (void)state;
    static const struct {
        int type, count, want[9];
        const char *raw;
    } cases[] = {
        {INT4, 5, {1, -1, -8, 7, 0}, "\xf1\x78\x00"},
        {UINT4, 5, {1, 15, 8, 7, 9}, "\xf1\x78\x09"},
        {INT2, 6, {0, 1, -2, -1, 1, -1}, "\xe4\x0d"},
        {UINT2, 9, {0, 1, 2, 3, 1, 3, 0, 0, 2}, "\xe4\x0d\x02"},
        {INT4, 0, {0}, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t dim[] = {cases[i].count};
        int bits = cases[i].type < INT4 + 1 ? 4 : 2;
        size_t bytes = ((size_t)cases[i].count * (size_t)bits + 7) / 8;
        expect_elements(
            tw_onnx_tensor_bytes(arena, "t", cases[i].type, 1, dim, cases[i].raw, bytes),
            cases[i].count, cases[i].want);
        /* int32_data: a byte in each element. */
        tw_wire_bytes typed = {.arena = arena}, list = {.arena = arena};
        tw_wire_number(&typed, 1, (uint64_t)dim[0]);
        tw_wire_number(&typed, 2, (uint64_t)cases[i].type);
        for (size_t k = 0; k < bytes; k++)
            tw_wire_varint(&list, (uint8_t)cases[i].raw[k]);
        tw_wire_data(&typed, 5, list.data, list.bytes);
        expect_elements(typed, cases[i].count, cases[i].want);
    }
    tw_tensor_data t;
    tw_wire_bytes wrong =
        tw_onnx_tensor_bytes(arena, "t", INT4, 1, (const int64_t[]){5}, "\1\2", 2);
    diag = (tw_diag){0};
    assert_false(tw_onnx_tensor_parse(arena, wrong.data, wrong.bytes, &t, &diag));
    assert_non_null(strstr(diag.message, "2 bytes of packed numbers, its shape needs 3"));
}

/* One node on an input of type INT4, with a result of type `to`. */
static tw_onnx_writer on_int4(const char *op, int to)
{
    tw_onnx_writer w = tw_onnx_write(arena, 25);
    tw_onnx_write_input(&w, "x", INT4, 2, six);
    tw_onnx_write_node(&w, op, "x", "y");
    tw_onnx_write_output(&w, "y", to);
    return w;
}

/* Tensors of these types are held in bytes, and what moves them keeps their type. */
static void narrow_tensors(void **state)
{
    (void)state;
    tw_onnx_writer w = on_int4("Transpose", INT4);
    tw_graph *graph = import(&w);
    assert_non_null(graph);
    assert_int_equal(graph->inputs[0]->shape.dtype, TW_S8);
    assert_int_equal(graph->outputs[0]->shape.dtype, TW_S8);
    w = on_int4("Transpose", ONNX_INT8);
    refused(&w, TW_CODE_FAILED, "declared as s8 but computed as INT4");
    w = on_int4("Transpose", UINT4);
    refused(&w, TW_CODE_FAILED, "declared as UINT4 but computed as INT4");
}

/* Floats of few bits are codes: nothing computes with them as if they were integers. */
static void codes(void **state)
{
    (void)state;
    tw_onnx_writer w = tw_onnx_write(arena, 25);
    tw_onnx_write_input(&w, "x", FLOAT8E5M2, 2, six);
    tw_onnx_write_node(&w, "Add", "x x", "y");
    tw_onnx_write_output(&w, "y", FLOAT8E5M2);
    refused(&w, TW_CODE_UNSUPPORTED, "element type FLOAT8E5M2, which can be moved, cast");
}

/* --- scales that do not fit -------------------------------------------------------------------- */

/* A Dequantize of u8 [2,3] by this scale and zero point. */
static tw_onnx_writer dequantize(int scale_rank, const int64_t *scale_dim, const float *scale,
                                 int zero_type, int zeros, const void *zero, int axis, int block)
{
    tw_onnx_writer w = tw_onnx_write(arena, 21);
    size_t count = 1;
    for (int i = 0; i < scale_rank; i++)
        count *= (size_t)scale_dim[i];
    tw_onnx_write_input(&w, "x", ONNX_UINT8, 2, six);
    tw_onnx_write_tensor(&w, "s", ONNX_FLOAT, scale_rank, scale_dim, scale, count * 4);
    if (zeros)
        tw_onnx_write_tensor(&w, "z", zero_type, zeros > 1, (const int64_t[]){zeros}, zero,
                             (size_t)zeros);
    tw_onnx_write_node(&w, "DequantizeLinear", zeros ? "x s z" : "x s", "y");
    tw_onnx_write_int(&w, "axis", axis);
    if (block)
        tw_onnx_write_int(&w, "block_size", block);
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    return w;
}

static void wrong_scales(void **state)
{
    (void)state;
    static const float scale[] = {1, 2, 3, 4, 5, 6};
    static const uint8_t zero[6];
    static const struct {
        int rank;
        int64_t dim[2];
        int zero_type, zeros, axis, block;
        tw_code code;
        const char *part;
    } wrong[] = {
        {1, {2}, 0, 0, 1, 0, TW_CODE_FAILED, "2 scales do not match axis 1"},
        {1, {3}, 0, 0, 5, 0, TW_CODE_FAILED, "axis 5 does not exist"},
        {1, {3}, ONNX_UINT8, 2, 1, 0, TW_CODE_FAILED, "2 zero points are given for 3 scales"},
        {1, {3}, ONNX_INT8, 3, 1, 0, TW_CODE_FAILED, "the zero point has type s8, the tensor u8"},
        {2, {2, 3}, 0, 0, 1, 0, TW_CODE_UNSUPPORTED, "for blocks (block_size) only"},
        {2, {2, 3}, 0, 0, 1, 2, TW_CODE_FAILED, "do not match blocks of 2 along axis 1"},
        {1, {3}, 0, 0, 1, 1, TW_CODE_FAILED, "do not match blocks of 1 along axis 1"},
        {2, {2, 2}, 0, 0, 1, -2, TW_CODE_FAILED, "block_size is -2"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tw_onnx_writer w = dequantize(wrong[i].rank, wrong[i].dim, scale, wrong[i].zero_type,
                                      wrong[i].zeros, zero, wrong[i].axis, wrong[i].block);
        refused(&w, wrong[i].code, wrong[i].part);
    }
    static const float bad[] = {0, -1, INFINITY, NAN};
    for (int i = 0; i < 4; i++) {
        tw_onnx_writer w = dequantize(0, NULL, &bad[i], 0, 0, NULL, 0, 0);
        refused(&w, TW_CODE_FAILED, "scales must be positive");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(packed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(narrow_tensors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(codes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_scales, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
