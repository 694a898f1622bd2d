/* The operators of a streaming U-Net with int16 activations and int8 weights, one a model, against the
 * goldens of TensorFlow Lite Micro: to the last bit, whole and in random bands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "support/model_folder.h"

static const struct {
    const char *op;
    int models;
} ops[] = {{"add", 17},     {"conv", 22}, {"leaky_relu", 23},    {"pad", 19},
           {"quantize", 2}, {"sub", 5},   {"strided_slice", 34}, {"transpose_conv", 5}};

/* Numbers with commas between them, as int16 or int32. False where there is no such file. */
static bool read_numbers(tw_arena *arena, const char *stem, const char *dtype, tw_io_row *row)
{
    void *text;
    size_t bytes, size = strcmp(dtype, "int16") == 0 ? 2 : 4;
    tw_diag diag = {0};
    const char *path = tw_format(arena, "%s_%s.csv", stem, dtype);
    if (!tw_read_file(arena, path, 1 << 26, &text, &bytes, &diag))
        return false;
    const char *at = tw_strndup(arena, text, bytes);
    uint8_t *data = tw_alloc(arena, bytes * 4 + 4);
    size_t count = 0;
    for (char *end; *at; at = *end ? end + 1 : end) {
        int32_t v = (int32_t)strtol(at, &end, 10);
        if (end == at)
            break;
        memcpy(data + count++ * size, &v, size); /* little-endian */
    }
    *row = (tw_io_row){.role = TW_IO_IN,
                       .name = "",
                       .dtype = dtype,
                       .rank = TW_MAX_RANK + 1, /* no shape is offered */
                       .steps = 1,
                       .data = data,
                       .bytes = count * size};
    return true;
}

static bool read_row(tw_arena *arena, const char *stem, tw_io_row *row)
{
    return read_numbers(arena, stem, "int16", row) || read_numbers(arena, stem, "int32", row);
}

static void check_model(const char *folder, const char *name)
{
    tw_arena *arena = tw_arena_new();
    tw_io_row rows[4];
    tw_model_folder f = {.path = folder, .oracle = "", .rows = rows, .steps = 1};
    f.model = tw_format(arena, "%s/%s.tflite", folder, name);
    for (int i = 0; i < 2; i++)
        f.row_count +=
            read_row(arena, tw_format(arena, "%s/%s_input%d", folder, name, i), &rows[f.row_count]);
    assert_true(f.row_count > 0);
    assert_true(
        read_row(arena, tw_format(arena, "%s/%s_golden", folder, name), &rows[f.row_count]));
    rows[f.row_count++].role = TW_IO_OUT;
    tw_model_folder_must_pass(arena, &f, (tw_tolerance){0, 0, 0});
    tw_arena_free(arena);
}

static void test_operators(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    const char *place = tw_test_archive(arena, "kernel-goldens/tflm-seanet-int16.tar.xz");
    if (!place) {
        tw_arena_free(arena);
        skip();
    }
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        const char *folder = tw_format(arena, "%s/tflm-seanet-int16/%s", place, ops[i].op);
        for (int k = 0; k < ops[i].models; k++)
            check_model(folder, tw_format(arena, "%s%d", ops[i].op, k));
    }
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
