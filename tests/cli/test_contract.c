/* The contract that `tilewright ops --system NAME` prints: every name of a vocabulary's document has a
 * row, every row that claims a type names a test, and the tests named are there. That the tests pass,
 * in each type, is what test_vocabularies, test_vectors and the importers' tests say. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

static char root[2048]; /* the project's folder */
/* The first five have documents that list their names. */
static const char *const systems[] = {"onnx",   "tflite",  "mobilint", "qti_aisw",
                                      "tigris", "pytorch", "keras",    "tensorflow"};
enum { SYSTEMS = sizeof systems / sizeof *systems, LISTED = 5 };

static json_t *rows_of(const char *system)
{
    tw_result r = tw_process("ops --system %s --json", system);
    expect_status(r, 0);
    json_t *rows = parse_json(r.out);
    assert_true(json_is_array(rows));
    return rows;
}

static const char *text_at(const json_t *row, const char *key)
{
    const json_t *text = json_object_get(row, key);
    if (!json_is_string(text))
        fail_msg("a row has no %s", key);
    return json_string_value(text);
}

static bool has_row(const json_t *rows, const char *name)
{
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row) if (strcmp(text_at(row, "name"), name) == 0) return true;
    return false;
}

/* tests/data/vocabularies/SYSTEM.txt: the names of the document, one a line. */
static void test_every_name_has_a_row(void **state)
{
    (void)state;
    for (int s = 0; s < LISTED; s++) {
        char path[2200], line[100];
        int missing = 0, names = 0;
        json_t *rows = rows_of(systems[s]);
        snprintf(path, sizeof path, "%s/tests/data/vocabularies/%s.txt", root, systems[s]);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        for (; fgets(line, sizeof line, file); names++) {
            line[strcspn(line, "\n")] = 0;
            if (has_row(rows, line))
                continue;
            missing++;
            print_error("%s: no row for %s\n", systems[s], line);
        }
        fclose(file);
        json_decref(rows);
        assert_true(names > 0);
        assert_int_equal(missing, 0);
    }
}

/* Names of files are relative to where data of their kind stands. */
static bool is_there(const char *file)
{
    static const char *const folders[] = {"src/ops", "src/import/foreign", "tests/data"};
    char path[4400];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", root, folders[i], file);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

static void test_every_claim_names_a_test(void **state)
{
    (void)state;
    for (int s = 0; s < SYSTEMS; s++) {
        json_t *rows = rows_of(systems[s]);
        size_t i, k;
        const json_t *row, *test;
        int bare = 0;
        json_array_foreach(rows, i, row)
        {
            expect_keys(row, "name system becomes types bands backends fallback limits tests");
            const json_t *tests = json_object_get(row, "tests");
            if (json_array_size(json_object_get(row, "types")) && !json_array_size(tests)) {
                bare++;
                print_error("%s.%s claims types and names no test\n", systems[s],
                            text_at(row, "name"));
            }
            json_array_foreach(tests, k, test) if (!is_there(json_string_value(test)))
                fail_msg("%s: there is no file %s", text_at(row, "name"), json_string_value(test));
        }
        json_decref(rows);
        assert_int_equal(bare, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_name_has_a_row),
        cmocka_unit_test(test_every_claim_names_a_test),
    };
    if (!getcwd(root, sizeof root))
        return 1;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
