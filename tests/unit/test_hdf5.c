/* The reader of HDF5: files of every form that it knows (scripts/fixtures/hdf5_files.py writes them with the
 * HDF5 library, and says what is in them), and the same files damaged: cut off, with every byte changed in turn,
 * and with structure that leads out of the file or in circles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "import/hdf5/hdf5.h"

#define FOLDER "tests/data/hdf5"

enum { FILE_BYTES = 1 << 20 };

static uint8_t *read_file(tw_arena *arena, const char *name, size_t *bytes)
{
    tw_diag diag = {0};
    void *data;
    if (!tw_read_file(arena, tw_format(arena, FOLDER "/%s", name), FILE_BYTES, &data, bytes, &diag))
        fail_msg("%s", diag.message);
    return data;
}

/* --- what is in them --------------------------------------------------------------------------- */

static const char *hex(tw_arena *arena, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    char *text = tw_alloc(arena, 2 * bytes + 1);
    for (size_t i = 0; i < bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", at[i]);
    return text;
}

/* As expected.txt has it: what is behind '='. */
static const char *joined(tw_arena *arena, int count, const char *const *words)
{
    const char *text = "";
    for (int i = 0; i < count; i++)
        text = tw_format(arena, "%s%s%s", text, i ? " " : "", words[i]);
    return text;
}

static const char *children_of(tw_arena *arena, tw_h5 *file, const char *path)
{
    const char *const *names;
    const int count = tw_h5_children(file, path, &names);
    return count < 0 ? "(none)" : joined(arena, count, names);
}

static const char *texts_of(tw_arena *arena, tw_h5 *file, const char *path, const char *attribute)
{
    const char *const *texts;
    const int count = tw_h5_texts(file, path, attribute, &texts);
    const char **words = tw_alloc_array(arena, (size_t)(count < 0 ? 0 : count) + 1, sizeof *words);
    for (int i = 0; i < count; i++)
        words[i] = *texts[i] ? hex(arena, texts[i], strlen(texts[i])) : "-";
    return count < 0 ? "(none)" : joined(arena, count, words);
}

static const char *letter_of(const tw_h5_type *type)
{
    return type->class == TW_H5_OPAQUE  ? "V"
           : type->class == TW_H5_FLOAT ? "f"
           : type->is_bool              ? "b"
           : type->is_signed            ? "i"
                                        : "u";
}

static const char *data_of(tw_arena *arena, tw_h5 *file, const char *path)
{
    tw_h5_dataset d;
    const void *data = NULL;
    const char *extents = "";
    if (tw_h5_find_dataset(file, path, &d))
        data = tw_h5_read(file, path, &d);
    if (!data)
        return "(none)";
    for (int i = 0; i < d.rank; i++)
        extents = tw_format(arena, "%s%s%llu", extents, i ? "," : "", (unsigned long long)d.dim[i]);
    return tw_format(arena, "%s%zu[%s] = %s", letter_of(&d.type), d.type.bytes, extents,
                     hex(arena, data, d.bytes));
}

/* What is refused leaves nothing else to be read: a file of its own for each. */
static void expect_refused(const uint8_t *data, size_t bytes, const char *path, const char *words)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    tw_h5 *file = tw_h5_open(arena, data, bytes, &diag);
    const char *found = data_of(arena, file, path);
    if (strcmp(found, "(none)") != 0 || !strstr(diag.message, words))
        fail_msg("%s: %s, '%s' does not hold '%s'", path, found, diag.message, words);
    assert_string_equal(diag.node, path);
    assert_false(tw_h5_has(file, ""));
    tw_arena_free(arena);
}

static void expect_line(tw_arena *arena, tw_h5 *file, const char *line, const char *kind,
                        const char *path, const char *rest)
{
    const char *found = "";
    if (strcmp(path, "/") == 0)
        path = "";
    if (strcmp(kind, "absent") == 0) {
        assert_false(tw_h5_has(file, path));
    } else {
        assert_true(tw_h5_has(file, path));
    }
    if (strcmp(kind, "children") == 0)
        found = tw_format(arena, "= %s", children_of(arena, file, path));
    if (strcmp(kind, "data") == 0)
        found = data_of(arena, file, path);
    if (strcmp(kind, "texts") == 0) {
        const char *name = tw_strndup(arena, rest, strcspn(rest, " "));
        found = tw_format(arena, "%s = %s", name, texts_of(arena, file, path, name));
    }
    /* Nothing behind '=' leaves no blank. */
    const size_t length = strlen(rest);
    if (strncmp(found, rest, length) != 0 || strspn(found + length, " ") != strlen(found + length))
        fail_msg("%s\nbut found: %s", line, found);
}

static void facts(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    size_t bytes = 0, text_bytes;
    char *text = (char *)read_file(arena, "expected.txt", &text_bytes);
    const char *name = "";
    const uint8_t *data = NULL;
    tw_h5 *file = NULL;
    tw_diag diag = {0};
    int count = 0;
    text = tw_strndup(arena, text, text_bytes);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), count++) {
        char own[80], kind[16], path[80];
        int at = 0;
        assert_int_equal(sscanf(line, "%79s %15s %79s %n", own, kind, path, &at), 3);
        if (strcmp(own, name) != 0) {
            name = tw_strdup(arena, own);
            data = read_file(arena, name, &bytes);
            file = tw_h5_open(arena, data, bytes, &diag);
        }
        if (strcmp(kind, "refused") == 0)
            expect_refused(data, bytes, path, line + at + 2);
        else
            expect_line(arena, file, line, kind, path, line + at);
        if (diag.code != TW_CODE_OK)
            fail_msg("%s: %s: %s", line, diag.node, diag.message);
    }
    assert_true(count > 2000);
    tw_arena_free(arena);
}

/* --- damaged files ----------------------------------------------------------------------------- */

/* Everything that can be reached, below a few groups. False with a message. */
static bool read_below(tw_arena *arena, tw_h5 *file, const char *path, int depth, tw_diag *diag)
{
    static const char *const attributes[] = {"names", "fixed", "attribute-3", "list", "large"};
    const char *const *names, *const *texts;
    tw_h5_dataset d;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        tw_h5_texts(file, path, attributes[i], &texts);
    const int count = tw_h5_children(file, path, &names);
    if (count < 0 && *path && diag->code == TW_CODE_OK && tw_h5_find_dataset(file, path, &d))
        tw_h5_read(file, path, &d);
    for (int i = 0; i < count && depth > 0 && diag->code == TW_CODE_OK; i++)
        read_below(arena, file, tw_format(arena, *path ? "%s/%s" : "%s%s", path, names[i]),
                   depth - 1, diag);
    return diag->code == TW_CODE_OK;
}

/* Nothing may happen but a message. */
static bool read_quietly(const uint8_t *data, size_t bytes)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    /* As long as the file and no longer, for the sanitizer. */
    uint8_t *own = malloc(bytes + !bytes);
    assert_non_null(own);
    if (bytes > 0)
        memcpy(own, data, bytes);
    tw_h5 *file = tw_h5_open(arena, own, bytes, &diag);
    const bool sound = file && read_below(arena, file, "", 2, &diag);
    if (!sound && !*diag.message)
        fail_msg("refused without a message");
    tw_arena_free(arena);
    free(own);
    return sound;
}

static void every_byte(void **state)
{
    (void)state;
    static const char *const files[] = {"little.h5", "little-latest.h5", "sizes2.h5"};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        tw_arena *arena = tw_arena_new();
        size_t bytes;
        uint8_t *data = read_file(arena, files[k], &bytes);
        assert_true(read_quietly(data, bytes)); /* whole */
        int refused = 0;
        for (size_t i = 0; i < bytes; i++) {
            const uint8_t before = data[i];
            data[i] = (uint8_t)~before;
            refused += !read_quietly(data, bytes);
            data[i] = before;
        }
        assert_true(refused > 100);
        for (size_t length = 0; length < bytes; length += 13)
            read_quietly(data, length);
        tw_arena_free(arena);
    }
}

/* Words and numbers in places drawn at random, in files with all kinds of structure. */
static void random_places(void **state)
{
    (void)state;
    static const char *const files[] = {"earliest.h5", "latest.h5", "ordered-latest.h5"};
    static const uint64_t numbers[] = {0,  1,  0xff, 0xffff, 0xffffffff, UINT64_MAX, UINT64_MAX / 2,
                                       96, 800};
    uint32_t random = 1;
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        tw_arena *arena = tw_arena_new();
        size_t bytes;
        uint8_t *data = read_file(arena, files[k], &bytes);
        for (int i = 0; i < 400; i++) {
            uint8_t before[8];
            random = random * 1664525u + 1013904223u;
            const size_t at = (random >> 8) % (bytes - sizeof before);
            memcpy(before, data + at, sizeof before);
            memcpy(data + at, &numbers[(size_t)i % (sizeof numbers / sizeof *numbers)],
                   (size_t)1 << i % 4);
            read_quietly(data, bytes);
            memcpy(data + at, before, sizeof before);
        }
        tw_arena_free(arena);
    }
}

/* Number `bytes` wide, little-endian. */
static void put(uint8_t *to, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(number >> 8 * i);
}

static size_t find(const uint8_t *data, size_t bytes, const char *signature)
{
    size_t at = 0;
    while (at + 4 < bytes && memcmp(data + at, signature, 4) != 0)
        at++;
    assert_true(at + 4 < bytes);
    return at;
}

/* What is found at the root, or refused with these words. */
static void expect_damaged(const uint8_t *data, size_t bytes, const char *words)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    const char *const *names;
    tw_h5 *file = tw_h5_open(arena, data, bytes, &diag);
    assert_int_equal(file ? tw_h5_children(file, "", &names) : -1, -1);
    assert_int_equal(diag.code, TW_CODE_FAILED);
    if (!strstr(diag.message, words))
        fail_msg("'%s' does not hold '%s'", diag.message, words);
    tw_arena_free(arena);
}

/* Structure that leads back to itself, out of the file, or announces what cannot be. In the old form the
 * root's header is at byte 96, and its messages begin at 112. */
static void circles(void **state)
{
    enum { HEADER = 96, MESSAGES = 112, TREE_LEVEL = 5, TREE_COUNT = 6, FIRST_CHILD = 32 };
    (void)state;
    tw_arena *arena = tw_arena_new();
    size_t bytes;
    uint8_t *data = read_file(arena, "little.h5", &bytes), *copy = tw_alloc(arena, bytes);
    const size_t tree = find(data, bytes, "TREE"), table = find(data, bytes, "SNOD");
#define AGAIN() memcpy(copy, data, bytes)
    AGAIN(); /* a header that goes on where it began */
    put(copy + MESSAGES, 16, 2);
    put(copy + MESSAGES + 8, MESSAGES, 8);
    put(copy + MESSAGES + 16, 24, 8);
    expect_damaged(copy, bytes, "over and over");
    AGAIN(); /* and beyond the file's end */
    put(copy + MESSAGES, 16, 2);
    put(copy + MESSAGES + 8, UINT64_MAX - 7, 8);
    put(copy + MESSAGES + 16, 24, 8);
    expect_damaged(copy, bytes, "outside of the file");
    AGAIN(); /* a tree below itself */
    put(copy + tree + FIRST_CHILD, tree, 8);
    put(copy + tree + TREE_LEVEL, 1, 1);
    expect_damaged(copy, bytes, "another kind");
    AGAIN();
    put(copy + tree + TREE_COUNT, 0xffff, 2);
    expect_damaged(copy, bytes, "begin");
    AGAIN();
    put(copy + table + 6, 0xffff, 2);
    expect_damaged(copy, bytes, "the HDF5 file is damaged");
    AGAIN();
    put(copy + HEADER + 8, UINT32_MAX, 4);
    expect_damaged(copy, bytes, "cut off");
#undef AGAIN
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(facts), cmocka_unit_test(circles),
                                       cmocka_unit_test(every_byte),
                                       cmocka_unit_test(random_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
