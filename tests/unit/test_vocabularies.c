/* The published vocabularies: every name of their documents has a row; every row has cases that name it,
 * in each type that it claims; all cases pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "import/foreign/foreign.h"
#include "support/vector_files.h"

enum { MAX_ROWS = 200, F32 = 1, S8 = 2, BOOL = 4 };

typedef struct tw_tally {
    const tw_vocabulary *vocabulary;
    int tested[MAX_ROWS]; /* types in which a case of the row passed */
    int run, failed;
} tw_tally;

/* ---- names ---- */

/* The names stand one a line, in the order of the document. */
static void test_names(void **state)
{
    (void)state;
    for (int i = 0; tw_vocabulary_at(i); i++) {
        const tw_vocabulary *vocabulary = tw_vocabulary_at(i);
        char path[200], line[100];
        int names = 0, missing = 0;
        snprintf(path, sizeof path, "tests/data/vocabularies/%s.txt", vocabulary->name);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        while (fgets(line, sizeof line, file)) {
            line[strcspn(line, "\n")] = 0;
            names++;
            if (!tw_foreign_find(vocabulary, line)) {
                print_error("%s has no row for %s\n", vocabulary->name, line);
                missing++;
            }
        }
        fclose(file);
        assert_int_equal(missing, 0);
        assert_int_equal(names, vocabulary->count);
    }
}

/* ---- cases ---- */

static int types_of(const tw_vector_case *one)
{
    int types = 0;
    for (int k = 0; k < one->graph->input_count + one->graph->output_count; k++) {
        const int outputs = k - one->graph->input_count;
        const tw_value *value = outputs < 0 ? one->graph->inputs[k] : one->graph->outputs[outputs];
        const tw_dtype type = value->shape.dtype;
        types |= type == TW_F32 ? F32 : type == TW_S8 ? S8 : type == TW_BOOL ? BOOL : 0;
    }
    return types;
}

/* A case is named after its operator. */
static void visit(const tw_vector_case *one, bool passed, void *context)
{
    tw_tally *tally = context;
    char name[100];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(one->name, ","), one->name);
    const tw_foreign_row *row = tw_foreign_find(tally->vocabulary, name);
    if (!row)
        fail_msg("\"%s\" is named after no operator", one->name);
    tally->run++;
    tally->failed += !passed;
    if (passed)
        tally->tested[row - tally->vocabulary->rows] |= types_of(one);
}

static bool is_claimed(const tw_foreign_row *row, const char *type)
{
    const char *at = strstr(row->types, type);
    return at && (at[strlen(type)] == 0 || at[strlen(type)] == ' ');
}

static int count_untested(const tw_tally *tally)
{
    static const struct {
        const char *name;
        int bit;
    } types[] = {{"f32", F32}, {"s8", S8}, {"bool", BOOL}};
    int untested = 0;
    for (int i = 0; i < tally->vocabulary->count; i++)
        for (size_t k = 0; k < sizeof types / sizeof *types; k++)
            if (is_claimed(&tally->vocabulary->rows[i], types[k].name) &&
                !(tally->tested[i] & types[k].bit)) {
                print_error("%s.%s claims %s, which no passing case shows\n",
                            tally->vocabulary->name, tally->vocabulary->rows[i].name,
                            types[k].name);
                untested++;
            }
    return untested;
}

static void test_rows(void **state)
{
    (void)state;
    for (int i = 0; tw_vocabulary_at(i); i++) {
        tw_tally tally = {.vocabulary = tw_vocabulary_at(i)};
        char folder[200];
        snprintf(folder, sizeof folder, "src/import/foreign/%s", tally.vocabulary->name);
        assert_true(tally.vocabulary->count <= MAX_ROWS);
        assert_true(tw_vector_files(folder, visit, &tally) > 0);
        print_message("%s: %d cases of %d operators\n", tally.vocabulary->name, tally.run,
                      tally.vocabulary->count);
        const int untested = count_untested(&tally);
        assert_int_equal(tally.failed, 0);
        assert_int_equal(untested, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
