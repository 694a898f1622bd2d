/* The FlatBuffer reader: what a sound file holds, and that every kind of damage is refused with the
 * path of the place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "import/tflite/flatbuffer.h"
#include "support/flat_writer.h"

/* A small schema: root { u32 count, parts: [part], name, any: union, wide: [u64] },
 * part { s8 small, u64 large, values: [s32] }. */
static const tw_fb_field COUNT = {0, "count"}, PARTS = {1, "parts"}, NAME = {2, "name"},
                         ANY_TYPE = {3, "any_type"}, ANY = {4, "any"}, WIDE = {5, "wide"},
                         MISSING = {9, "missing"};
static const tw_fb_field SMALL = {0, "small"}, LARGE = {1, "large"}, VALUES = {2, "values"};

typedef struct sample {
    tw_flat flat;
    size_t root, parts, part[2], values, name, any, wide;
} sample;

static void make(sample *s)
{
    static const int32_t values[] = {5, -6, 7};
    static const uint64_t wide[] = {1, UINT64_MAX};
    tw_flat *f = &s->flat;
    tw_flat_start(f, "TEST");
    s->root = tw_flat_table(f, 0, "444144");
    tw_flat_set(f, s->root, 0, 4, 2);
    s->parts = tw_flat_references(f, tw_flat_field(f, s->root, 1), 2);
    for (size_t i = 0; i < 2; i++) {
        s->part[i] = tw_flat_table(f, s->parts + 4 * i, "184");
        tw_flat_set(f, s->part[i], 0, 1, -3);
        tw_flat_set(f, s->part[i], 1, 8, 1LL << 40);
        s->values = tw_flat_vector(f, tw_flat_field(f, s->part[i], 2), 4, 3, values);
    }
    s->name = tw_flat_string(f, tw_flat_field(f, s->root, 2), "sample");
    tw_flat_set(f, s->root, 3, 1, 7);
    s->any = tw_flat_table(f, tw_flat_field(f, s->root, 4), "4");
    s->wide = tw_flat_vector(f, tw_flat_field(f, s->root, 5), 8, 2, wide);
}

typedef struct reading {
    tw_arena *arena;
    tw_diag diag;
    tw_fb_file file;
    tw_fb_table root;
} reading;

static bool open_bytes(reading *r, const void *data, size_t bytes)
{
    *r = (reading){.arena = tw_arena_new()};
    return tw_fb_open(&r->file, r->arena, data, bytes, "TEST", &r->root, &r->diag);
}

/* Everything there is to read. */
static bool read_all(reading *r)
{
    uint32_t count = 0;
    tw_fb_vector parts, values, wide;
    tw_fb_table part, any;
    const char *name = "";
    uint8_t type;
    if (!tw_fb_u32(&r->root, COUNT, &count) || !tw_fb_tables_in(&r->root, PARTS, &parts) ||
        !tw_fb_string_in(&r->root, NAME, &name) ||
        !tw_fb_union_in(&r->root, ANY_TYPE, ANY, &type, &any) ||
        !tw_fb_vector_in(&r->root, WIDE, 8, &wide))
        return false;
    for (uint32_t i = 0; i < parts.count; i++) {
        int8_t small = 0;
        uint64_t large = 0;
        if (!tw_fb_table_at(&parts, i, &part) || !tw_fb_s8(&part, SMALL, &small) ||
            !tw_fb_u64(&part, LARGE, &large) || !tw_fb_vector_in(&part, VALUES, 4, &values))
            return false;
    }
    return tw_fb_finish(&r->file);
}

/* The file with its damage is refused, and the message holds the text. */
static void assert_refused(sample *s, const char *text)
{
    reading r;
    bool ok = open_bytes(&r, s->flat.data, s->flat.bytes) && read_all(&r);
    assert_false(ok);
    if (!strstr(r.diag.message, text))
        fail_msg("'%s' does not hold '%s'", r.diag.message, text);
    tw_arena_free(r.arena);
    tw_flat_free(&s->flat);
}

static void put16(sample *s, size_t at, uint16_t value)
{
    memcpy(s->flat.data + at, &value, sizeof value);
}

static void put32(sample *s, size_t at, uint32_t value)
{
    memcpy(s->flat.data + at, &value, sizeof value);
}

static size_t vtable_of(const sample *s, size_t table)
{
    int32_t back;
    memcpy(&back, s->flat.data + table, sizeof back);
    return table - (size_t)back;
}

static void test_reads(void **state)
{
    (void)state;
    sample s;
    reading r;
    make(&s);
    assert_true(open_bytes(&r, s.flat.data, s.flat.bytes));
    assert_true(read_all(&r));
    uint32_t count = 0, missing = 17;
    int8_t small = 0;
    uint64_t large = 0;
    uint8_t type = 0;
    const char *name = "";
    tw_fb_vector parts, values, wide, none;
    tw_fb_table part, any, nobody;
    assert_true(tw_fb_u32(&r.root, COUNT, &count));
    assert_int_equal(count, 2);
    assert_true(tw_fb_u32(&r.root, MISSING, &missing));
    assert_int_equal(missing, 17);
    assert_true(tw_fb_tables_in(&r.root, PARTS, &parts));
    assert_int_equal(parts.count, 2);
    assert_true(tw_fb_table_at(&parts, 1, &part));
    assert_true(tw_fb_s8(&part, SMALL, &small));
    assert_int_equal(small, -3);
    assert_true(tw_fb_u64(&part, LARGE, &large));
    assert_true(large == 1ULL << 40);
    assert_true(tw_fb_vector_in(&part, VALUES, 4, &values));
    assert_int_equal(values.count, 3);
    assert_int_equal(((const int32_t *)values.data)[1], -6);
    assert_true(tw_fb_string_in(&r.root, NAME, &name));
    assert_string_equal(name, "sample");
    assert_true(tw_fb_union_in(&r.root, ANY_TYPE, ANY, &type, &any));
    assert_int_equal(type, 7);
    assert_true(any.at != 0);
    assert_true(tw_fb_vector_in(&r.root, WIDE, 8, &wide));
    assert_true(((const uint64_t *)wide.data)[1] == UINT64_MAX);
    assert_true(tw_fb_vector_in(&r.root, MISSING, 4, &none));
    assert_false(none.present);
    assert_true(tw_fb_table_in(&r.root, MISSING, &nobody));
    assert_int_equal(nobody.at, 0);
    assert_true(tw_fb_u32(&nobody, COUNT, &missing));
    assert_int_equal(missing, 17);
    tw_arena_free(r.arena);
    tw_flat_free(&s.flat);
}

/* The same file at an odd address is copied, not read there. */
static void test_misaligned_memory(void **state)
{
    (void)state;
    sample s;
    reading r;
    make(&s);
    uint8_t *copy = malloc(s.flat.bytes + 3);
    assert_non_null(copy);
    memcpy(copy + 3, s.flat.data, s.flat.bytes);
    assert_true(open_bytes(&r, copy + 3, s.flat.bytes));
    assert_true(read_all(&r));
    tw_arena_free(r.arena);
    free(copy);
    tw_flat_free(&s.flat);
}

static void test_header(void **state)
{
    (void)state;
    static const uint8_t eight[8] = {0x18, 0, 0, 0, 'T', 'E', 'S', 'T'};
    static const uint8_t wrong[16] = {8, 0, 0, 0, 'N', 'O', 'N', 'E', 4, 0, 4, 0};
    reading r;
    for (size_t bytes = 0; bytes <= 8; bytes++) {
        assert_false(open_bytes(&r, eight, bytes));
        assert_non_null(strstr(r.diag.message, "the file: "));
        tw_arena_free(r.arena);
    }
    assert_false(open_bytes(&r, wrong, sizeof wrong));
    assert_non_null(strstr(r.diag.message, "identifier"));
    tw_arena_free(r.arena);
}

/* Cut anywhere, the file is refused or reads the same: never beyond its end. */
static void test_truncation(void **state)
{
    (void)state;
    sample s;
    make(&s);
    for (size_t bytes = 0; bytes < s.flat.bytes; bytes++) {
        uint8_t *copy = malloc(bytes + 1); /* its end is watched by the sanitizer */
        assert_non_null(copy);
        memcpy(copy, s.flat.data, bytes);
        reading r;
        assert_false(open_bytes(&r, copy, bytes) && read_all(&r));
        tw_arena_free(r.arena);
        free(copy);
    }
    tw_flat_free(&s.flat);
}

/* Every byte changed to a few values: no outcome is wrong but a crash. */
static void test_mutation(void **state)
{
    (void)state;
    static const uint8_t values[] = {0, 1, 2, 3, 4, 0x7f, 0x80, 0xfc, 0xff};
    sample s;
    make(&s);
    for (size_t at = 0; at < s.flat.bytes; at++)
        for (size_t k = 0; k < sizeof values; k++) {
            uint8_t before = s.flat.data[at];
            reading r;
            s.flat.data[at] = values[k];
            if (open_bytes(&r, s.flat.data, s.flat.bytes))
                read_all(&r);
            s.flat.data[at] = before;
            tw_arena_free(r.arena);
        }
    tw_flat_free(&s.flat);
}

static void test_tables(void **state)
{
    (void)state;
    sample s;
    make(&s);
    put32(&s, 0, 0x7fffffff);
    assert_refused(&s, "the file: bytes");
    make(&s);
    put32(&s, s.root, 0x7fffffff); /* the vtable lies before the file */
    assert_refused(&s, "before the file");
    make(&s);
    put32(&s, s.root, 0x80000000);
    assert_refused(&s, "outside the file");
    make(&s);
    put16(&s, vtable_of(&s, s.part[1]), 3);
    assert_refused(&s, "parts[1]: its vtable has 3 bytes");
    make(&s);
    put16(&s, vtable_of(&s, s.part[1]), 0xfffe);
    assert_refused(&s, "parts[1]: bytes");
    make(&s);
    put16(&s, vtable_of(&s, s.part[0]) + 2, 0xfffc);
    assert_refused(&s, "parts[0]: bytes");
    make(&s);
    put16(&s, vtable_of(&s, s.part[0]) + 4, 2); /* a field over the distance to the vtable */
    assert_refused(&s, "parts[0].small: it stands at byte 2");
    make(&s);
    put16(&s, vtable_of(&s, s.part[0]) + 6, 20); /* a field that ends behind its table */
    assert_refused(&s, "parts[0].large: it stands at byte 20");
    make(&s);
    put16(&s, vtable_of(&s, s.part[0]) + 6, 12);
    assert_refused(&s, "parts[0].large: offset");
    make(&s);
    put32(&s, s.parts, 0);
    assert_refused(&s, "parts[0]: ");
}

static void test_vectors(void **state)
{
    (void)state;
    sample s;
    make(&s);
    put32(&s, s.values - 4, 0xffffffff);
    assert_refused(&s, "parts[1].values: it claims 4294967295 elements");
    make(&s);
    put32(&s, s.parts - 4, 1 << 20);
    assert_refused(&s, "parts: it claims");
    make(&s);
    put32(&s, tw_flat_field(&s.flat, s.root, 1), 0);
    assert_refused(&s, "parts: it refers to itself");
    make(&s);
    size_t slot = tw_flat_field(&s.flat, s.part[1], 2); /* two bytes further */
    put32(&s, slot, (uint32_t)(s.values - 4 - slot + 2));
    assert_refused(&s, "parts[1].values: offset");
    make(&s);
    slot = tw_flat_field(&s.flat, s.root, 5); /* 8-byte elements on a multiple of 4 */
    put32(&s, slot, (uint32_t)(s.wide - 4 - slot - 4));
    put32(&s, s.wide - 8, 1);
    assert_refused(&s, "wide: offset");
    make(&s);
    slot = tw_flat_field(&s.flat, s.root, 2);
    put32(&s, slot, 0xfffffff0);
    assert_refused(&s, "name: ");
}

static void test_strings(void **state)
{
    (void)state;
    sample s;
    make(&s);
    s.flat.data[s.name + 6] = 'x';
    assert_refused(&s, "name: the text does not end in zero");
    make(&s);
    put32(&s, s.name - 4, 5);
    assert_refused(&s, "name: the text does not end in zero");
}

static void test_overlap(void **state)
{
    (void)state;
    sample s;
    make(&s);
    size_t slot = tw_flat_field(&s.flat, s.part[0], 2); /* the text's bytes as integers */
    put32(&s, slot, (uint32_t)(s.name - 4 - slot));
    put32(&s, s.name - 4, 4);
    s.flat.data[s.name + 4] = 0;
    assert_refused(&s, "bytes overlap those of");
}

/* One vector named by many tables is no work without end. */
static void test_amplification(void **state)
{
    (void)state;
    enum { PARTS_COUNT = 4000, VALUES_COUNT = 4000 };
    tw_flat f;
    reading r;
    tw_flat_start(&f, "TEST");
    size_t root = tw_flat_table(&f, 0, "44");
    size_t parts = tw_flat_references(&f, tw_flat_field(&f, root, 1), PARTS_COUNT);
    size_t part = tw_flat_table(&f, parts, "184");
    tw_flat_vector(&f, tw_flat_field(&f, part, 2), 4, VALUES_COUNT, NULL);
    for (size_t i = 1; i < PARTS_COUNT; i++)
        tw_flat_link(&f, parts + 4 * i, part);
    assert_false(open_bytes(&r, f.data, f.bytes) && read_all(&r));
    assert_non_null(strstr(r.diag.message, "again and again"));
    tw_arena_free(r.arena);
    tw_flat_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),    cmocka_unit_test(test_misaligned_memory),
        cmocka_unit_test(test_header),   cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_mutation), cmocka_unit_test(test_tables),
        cmocka_unit_test(test_vectors),  cmocka_unit_test(test_strings),
        cmocka_unit_test(test_overlap),  cmocka_unit_test(test_amplification),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
