/* Zip archives in memory: what is packed reads back, and archives that lie about their members or would
 * unpack to more than a model holds are refused with a message. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "import/archive.h"
#include "support/zip_writer.h"

static tw_archive *open_archive(tw_arena *arena, const tw_test_zip *zip, tw_diag *diag)
{
    *diag = (tw_diag){0};
    return tw_archive_open(arena, zip->data, zip->bytes, diag);
}

static void members_read_back(void **state)
{
    (void)state;
    static const char text[] = "import torch";
    uint8_t zeros[5000] = {0};
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    tw_test_zip zip;
    tw_test_zip_begin(&zip, arena);
    tw_test_zip_add(&zip, "model/code/a.py", text, sizeof text, true);
    tw_test_zip_add(&zip, "model/data/0", zeros, sizeof zeros, false);
    tw_test_zip_add(&zip, "model/empty", "", 0, false);
    tw_test_zip_end(&zip);

    tw_archive *a = open_archive(arena, &zip, &diag);
    assert_non_null(a);
    assert_int_equal(tw_archive_count(a), 3);
    assert_string_equal(tw_archive_name(a, 1), "model/data/0");
    assert_int_equal(tw_archive_bytes(a, 1), sizeof zeros);
    size_t root = 0;
    assert_int_equal(tw_archive_find(a, "model/empty"), 2);
    assert_int_equal(tw_archive_find(a, "empty"), -1);
    assert_int_equal(tw_archive_find_below(a, "data/0", &root), 1);
    assert_int_equal(root, strlen("model/"));
    assert_int_equal(tw_archive_find_below(a, "ata/0", NULL), -1);
    void *data;
    size_t bytes;
    assert_true(tw_archive_read(a, arena, 0, &data, &bytes, &diag));
    assert_int_equal(bytes, sizeof text);
    assert_memory_equal(data, text, sizeof text);
    assert_true(tw_archive_read(a, arena, 1, &data, &bytes, &diag));
    assert_memory_equal(data, zeros, sizeof zeros);
    assert_true(tw_archive_read(a, arena, 2, &data, &bytes, &diag));
    assert_int_equal(bytes, 0);
    tw_archive_close(a);

    assert_true(tw_is_archive_with(zip.data, zip.bytes, "data/0", true));
    assert_false(tw_is_archive_with(zip.data, zip.bytes, "data/0", false));
    assert_true(tw_is_archive_with(zip.data, zip.bytes, "model/data/0", false));
    assert_false(tw_is_archive_with(text, sizeof text, "data/0", true));
    tw_arena_free(arena);
}

static void expect_refusal(const tw_test_zip *zip, const char *words)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag;
    tw_archive *a = open_archive(arena, zip, &diag);
    void *data;
    size_t bytes;
    bool refused = !a;
    for (int i = 0; a && i < tw_archive_count(a) && !refused; i++)
        refused = !tw_archive_read(a, arena, i, &data, &bytes, &diag);
    tw_archive_close(a);
    assert_true(refused);
    if (!strstr(diag.message, words))
        fail_msg("'%s' is not in '%s'", words, diag.message);
    tw_arena_free(arena);
}

static void names_stay_inside_and_apart(void **state)
{
    (void)state;
    static const char *const names[] = {"../x", "/x", "a/../../x", "a\\..\\x", "C:/x", "a/.."};
    tw_arena *arena = tw_arena_new();
    tw_test_zip zip;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tw_test_zip_begin(&zip, arena);
        tw_test_zip_add(&zip, names[i], "x", 1, false);
        tw_test_zip_end(&zip);
        expect_refusal(&zip, "outside");
    }
    tw_test_zip_begin(&zip, arena);
    tw_test_zip_add(&zip, "a", "x", 1, false);
    tw_test_zip_add(&zip, "a", "y", 1, false);
    tw_test_zip_end(&zip);
    expect_refusal(&zip, "two members");
    tw_arena_free(arena);
}

static void bombs_are_refused(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    const size_t large = (size_t)40 << 20;
    void *zeros = tw_alloc(arena, large);
    tw_test_zip zip;

    /* One that deflate alone makes. */
    tw_test_zip_begin(&zip, arena);
    tw_test_zip_add(&zip, "bomb", zeros, large, true);
    tw_test_zip_end(&zip);
    assert_true(zip.bytes < 100000);
    expect_refusal(&zip, "no model does");

    /* Members that share their bytes. */
    tw_test_zip_begin(&zip, arena);
    tw_test_zip_add(&zip, "first", zeros, 100000, false);
    for (int i = 0; i < 3; i++)
        tw_test_zip_again(&zip, tw_format(arena, "again%d", i));
    tw_test_zip_end(&zip);
    expect_refusal(&zip, "overlap");

    /* Sizes that are only said. */
    tw_test_zip_begin(&zip, arena);
    tw_test_zip_add(&zip, "huge", "x", 1, true);
    zip.entries[0].said = 0xfffffffe;
    tw_test_zip_end(&zip);
    expect_refusal(&zip, "more than");
    tw_test_zip_begin(&zip, arena);
    tw_test_zip_add(&zip, "small", zeros, 1000, true);
    zip.entries[0].said = 10;
    tw_test_zip_end(&zip);
    expect_refusal(&zip, "damaged");
    tw_arena_free(arena);
}

static void damage_is_found(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    static const char text[] = "some bytes that are to stay as they are";
    tw_test_zip zip;
    for (int packed = 0; packed < 2; packed++) {
        tw_test_zip_begin(&zip, arena);
        tw_test_zip_add(&zip, "a", text, sizeof text, packed);
        tw_test_zip_end(&zip);
        zip.data[30 + 1 + 5] ^= 1;
        expect_refusal(&zip, "damaged");
        zip.data[30 + 1 + 5] ^= 1;
        /* Cut anywhere: a message, never a crash. */
        const size_t whole = zip.bytes;
        for (zip.bytes = 4; zip.bytes < whole; zip.bytes++)
            expect_refusal(&zip, "archive");
    }
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_read_back),
        cmocka_unit_test(names_stay_inside_and_apart),
        cmocka_unit_test(bombs_are_refused),
        cmocka_unit_test(damage_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
