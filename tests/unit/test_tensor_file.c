/* Tensor files: what is written reads back, both element orders, and every damaged form is refused
 * with a message. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/onnx/tensor.h"
#include "import/tensor_file.h"

static char folder[] = "/tmp/tilewright-tensor-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const void *data, size_t bytes)
{
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, bytes, f), bytes);
    fclose(f);
}

/* A version 1 header around `text`, then `payload` bytes of 1, 2, 3, ... */
static size_t npy(uint8_t *to, int version, const char *text, size_t payload)
{
    size_t length = strlen(text), start = version == 1 ? 10 : 12;
    memcpy(to, "\x93NUMPY", 6);
    to[6] = (uint8_t)version;
    to[7] = 0;
    memset(to + 8, 0, 4);
    to[8] = (uint8_t)length;
    memcpy(to + start, text, length);
    for (size_t i = 0; i < payload; i++)
        to[start + length + i] = (uint8_t)(i + 1);
    return start + length + payload;
}

static bool parse(int version, const char *text, size_t payload, tw_tensor_data *out,
                  tw_arena *arena, tw_diag *diag)
{
    uint8_t file[512];
    *diag = (tw_diag){0};
    return tw_npy_parse(arena, file, npy(file, version, text, payload), out, diag);
}

static void npy_round_trip(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    static const tw_dtype all[] = {
#define DTYPE(name, symbol, value, bytes) symbol,
        TW_DTYPE_LIST(DTYPE)
#undef DTYPE
    };
    static const int32_t dim[TW_MAX_RANK] = {2, 1, 3, 2, 1, 2};
    uint8_t bytes[24 * 8];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + 1);
    for (size_t t = 0; t < sizeof all / sizeof *all; t++) {
        for (int rank = 0; rank <= TW_MAX_RANK; rank++) {
            tw_shape shape = tw_shape_of(all[t], rank, dim);
            tw_diag diag = {0};
            tw_tensor_data out;
            assert_true(tw_npy_write(path_of("a.npy"), &shape, bytes, &diag));
            assert_true(tw_tensor_read(arena, path_of("a.npy"), NULL, &out, &diag));
            assert_true(tw_shape_equal(&shape, &out.shape));
            assert_int_equal(out.bytes, tw_shape_bytes(&shape));
            assert_memory_equal(out.data, bytes, out.bytes);
        }
    }
    tw_shape empty = tw_shape_of(TW_F32, 2, (const int32_t[]){0, 5});
    tw_diag diag = {0};
    tw_tensor_data out;
    assert_true(tw_npy_write(path_of("a.npy"), &empty, bytes, &diag));
    assert_true(tw_tensor_read(arena, path_of("a.npy"), NULL, &out, &diag));
    assert_true(tw_shape_equal(&empty, &out.shape));
    assert_false(tw_npy_write(path_of("no/such/folder.npy"), &empty, bytes, &diag));
    assert_int_equal(diag.code, TW_CODE_FAILED);
    tw_arena_free(arena);
}

static void npy_forms(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    tw_diag diag;
    tw_tensor_data out;
    /* Columns first: stored 1..6 is [[1,3,5],[2,4,6]]. */
    assert_true(parse(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }  \n", 6, &out,
                      arena, &diag));
    assert_memory_equal(out.data, ((const uint8_t[]){1, 3, 5, 2, 4, 6}), 6);
    assert_true(parse(2, "{\"shape\":(2,2,2),\"fortran_order\":True,\"descr\":\"<i2\"}\n", 16, &out,
                      arena, &diag));
    static const uint8_t cube[] = {1, 2, 9, 10, 5, 6, 13, 14, 3, 4, 11, 12, 7, 8, 15, 16};
    assert_memory_equal(out.data, cube, sizeof cube);
    assert_true(parse(3, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", 4, &out,
                      arena, &diag));
    assert_int_equal(out.shape.rank, 0);
    tw_arena_free(arena);
}

static void npy_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t payload;
        tw_code code;
        const char *part;
    } cases[] = {
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", 4, TW_CODE_UNSUPPORTED,
         "big-endian"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", 8, TW_CODE_UNSUPPORTED,
         "<c8"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4,
         TW_CODE_UNSUPPORTED, "records"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 4, TW_CODE_FAILED,
         "needs 12 bytes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 8, TW_CODE_FAILED,
         "needs 4 bytes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999, 99999), }", 8,
         TW_CODE_UNSUPPORTED, "2 GB"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 99999, 99999), }", 0,
         TW_CODE_UNSUPPORTED, "2 GB"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 8,
         TW_CODE_UNSUPPORTED, "2 GB"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1), }", 4,
         TW_CODE_UNSUPPORTED, "rank 7"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 4, TW_CODE_FAILED, "shape"},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }", 4, TW_CODE_FAILED,
         "fortran_order"},
        {"{'descr': '<f4', 'shape': (1,), }", 4, TW_CODE_FAILED, "key"},
        {"{'descr': '<f4', 'descr': '<f4', 'shape': (1,), }", 4, TW_CODE_FAILED, "key"},
        {"{'descr", 4, TW_CODE_FAILED, "key"},
        {"", 4, TW_CODE_FAILED, "dictionary"},
    };
    tw_arena *arena = tw_arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_diag diag;
        tw_tensor_data out;
        assert_false(parse(1, cases[i].text, cases[i].payload, &out, arena, &diag));
        assert_int_equal(diag.code, cases[i].code);
        if (!strstr(diag.message, cases[i].part))
            fail_msg("case %zu: '%s' lacks '%s'", i, diag.message, cases[i].part);
    }
    tw_arena_free(arena);
}

/* Every truncation and every single wrong byte of the header: refused or read, never a crash. */
static void npy_damaged(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    uint8_t file[256], copy[256];
    size_t bytes = npy(file, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }\n", 8);
    tw_tensor_data out;
    for (size_t n = 0; n < bytes; n++) {
        tw_diag diag = {0};
        uint8_t *exact = tw_copy(arena, file, n);
        assert_false(tw_npy_parse(arena, exact, n, &out, &diag));
        assert_int_equal(diag.code, TW_CODE_FAILED);
        for (int value = 0; value < 256; value += 5) {
            memcpy(copy, file, bytes);
            copy[n] = (uint8_t)value;
            diag = (tw_diag){0};
            if (!tw_npy_parse(arena, copy, bytes, &out, &diag))
                assert_int_not_equal(diag.code, TW_CODE_OK);
        }
    }
    tw_arena_free(arena);
}

static void raw_files(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    tw_tensor_data out;
    tw_shape shape = tw_shape_of(TW_S16, 1, (const int32_t[]){3});
    static const uint8_t data[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    put("a.bin", data, 12);
    assert_true(tw_tensor_read(arena, path_of("a.bin"), &shape, &out, &diag));
    assert_int_equal(out.bytes, 12); /* two steps */
    assert_memory_equal(out.data, data, 12);
    assert_false(tw_tensor_read(arena, path_of("a.bin"), NULL, &out, &diag));
    diag = (tw_diag){0};
    put("a.bin", data, 11);
    assert_false(tw_tensor_read(arena, path_of("a.bin"), &shape, &out, &diag));
    assert_non_null(strstr(diag.message, "11 bytes"));
    assert_non_null(strstr(diag.file, "a.bin"));
    diag = (tw_diag){0};
    assert_false(tw_tensor_read(arena, path_of("none.bin"), &shape, &out, &diag));
    assert_non_null(strstr(diag.message, "cannot open"));
    diag = (tw_diag){0};
    assert_false(tw_tensor_read(arena, folder, &shape, &out, &diag));
    assert_int_equal(diag.code, TW_CODE_FAILED);
    tw_arena_free(arena);
}

static void proto_files(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    tw_tensor_data out;
    /* dims 2, data_type INT8, name "ab", int32_data -1 and 2 */
    static const uint8_t typed[] = {0x08, 2,    0x10, 3,    0x42, 2,    'a',  'b',  0x2a, 11, 0xff,
                                    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,    2};
    put("t.pb", typed, sizeof typed);
    assert_true(tw_tensor_read(arena, path_of("t.pb"), NULL, &out, &diag));
    assert_int_equal(out.shape.dtype, TW_S8);
    assert_int_equal(out.shape.rank, 1);
    assert_memory_equal(out.data, ((const int8_t[]){-1, 2}), 2);
    assert_string_equal(out.name, "ab");
    /* dims 3 but two bytes of raw data */
    static const uint8_t raw[] = {0x08, 3, 0x10, 3, 0x4a, 2, 1, 2};
    assert_false(tw_onnx_tensor_parse(arena, raw, sizeof raw, &out, &diag));
    assert_non_null(strstr(diag.message, "needs 3"));
    tw_arena_free(arena);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {"a.npy", "a.bin", "t.pb"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i]));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(npy_round_trip), cmocka_unit_test(npy_forms),
        cmocka_unit_test(npy_refused),    cmocka_unit_test(npy_damaged),
        cmocka_unit_test(raw_files),      cmocka_unit_test(proto_files),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
