/* Attributes of ONNX nodes that hardly make sense: each attribute of the models that the importer's tests
 * are made of, replaced by numbers that are too small, too large or far too many, and by words of no
 * meaning. The model is taken, and then its graph holds, or it is refused with node, operator and
 * attribute named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/map.h"
#include "import/import.h"
#include "support/onnx_case.h"

static const char *const numbers[] = {"0",     "-1",         "3",
                                      "65536", "2147483647", "-9223372036854775808"};
enum {
    NUMBERS = sizeof numbers / sizeof *numbers,
    MOST_TIMES = 1, /* that one attribute of one operator is tried */
    SHOWN = 60
};

typedef struct tw_tally {
    tw_arena *arena;
    tw_map times; /* by "OPERATOR.ATTRIBUTE" */
    int tried, refused, wrong;
} tw_tally;

/* One word of a node's line: NAME=VALUE. */
typedef struct tw_word {
    const char *op, *name, *at; /* at: where it begins in the case */
    size_t bytes;
} tw_word;

static void try_model(const char *text, const tw_word *w, const char *value, tw_tally *tally)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    char *changed = (char *)tw_format(arena, "%.*s%s=%s%s", (int)(w->at - text), text, w->name,
                                      value, w->at + w->bytes);
    tw_onnx_case c = tw_onnx_case_read(arena, changed);
    tw_wire_bytes file = tw_onnx_write_end(&c.model);
    tw_graph *graph = tw_import_bytes(arena, file.data, file.bytes, "model", NULL, NULL, &diag);
    tally->tried++;
    if (graph) {
        if (!tw_graph_check(graph, &diag))
            fail_msg("%s %s=%s: %s", w->op, w->name, value, diag.message);
    } else if (!strstr(diag.message,
                       "is declared as")) { /* another type: the model's output says so */
        tally->refused++;
        if (!diag.node[0] || strcmp(diag.operator_name, w->op) != 0 ||
            !strstr(diag.message, w->name)) {
            if (tally->wrong++ < SHOWN)
                print_error("%s: %s=%s: %s (%s): %s\n", w->op, w->name, value, diag.node,
                            diag.operator_name, diag.message);
        }
    }
    tw_arena_free(arena);
}

/* As many numbers as there were, and all that a case can have. */
static void try_lists(const char *text, const tw_word *w, const char *number, tw_tally *tally)
{
    const char *old = w->at + strlen(w->name) + 1;
    int count = 1;
    for (size_t i = 0; i < w->bytes - strlen(w->name) - 1; i++)
        count += old[i] == ',';
    const int lengths[] = {count, TW_ONNX_CASE_MOST};
    for (int k = 0; k < 2; k++) {
        char list[TW_ONNX_CASE_MOST * 24] = "[";
        for (int i = 0; i < lengths[k] && i < TW_ONNX_CASE_MOST; i++)
            (void)snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? "," : "",
                           number);
        (void)snprintf(list + strlen(list), sizeof list - strlen(list), "]");
        try_model(text, w, list, tally);
    }
}

static void try_word(const char *text, const tw_word *w, tw_tally *tally)
{
    char value[40];
    const char kind = w->at[strlen(w->name) + 1];
    if (kind == 's')
        try_model(text, w, "snonsense", tally);
    for (int i = 0; i < NUMBERS && kind != 's'; i++) {
        (void)snprintf(value, sizeof value, "%c%s", kind, numbers[i]);
        if (kind == '[')
            try_lists(text, w, numbers[i], tally);
        else if (kind == 'i' || kind == 'f' || kind == 'F')
            try_model(text, w, value, tally);
    }
}

static bool is_new(tw_tally *tally, const tw_word *w)
{
    const char *key = tw_format(tally->arena, "%s.%s", w->op, w->name);
    int *times = tw_map_get(&tally->times, key);
    if (!times) {
        times = tw_alloc(tally->arena, sizeof *times);
        *times = 0;
        tw_map_put(tally->arena, &tally->times, key, times);
    }
    return (*times)++ < MOST_TIMES;
}

/* "node OP INPUTS -> OUTPUTS NAME=VALUE ...", the case's only one. */
static void try_case(const char *text, tw_tally *tally)
{
    const char *line = strstr(text, "\nnode ");
    if (!line || strstr(line + 1, "\nnode "))
        return;
    line += 6;
    const char *end = line + strcspn(line, "\n"),
               *op = tw_strndup(tally->arena, line, strcspn(line, " "));
    for (const char *at = line; at < end; at += strspn(at, " ")) {
        tw_word w = {.op = op, .at = at, .bytes = strcspn(at, " \n")};
        const size_t name = strcspn(at, "=");
        at += w.bytes;
        if (name >= w.bytes)
            continue;
        w.name = tw_strndup(tally->arena, w.at, name);
        if (is_new(tally, &w))
            try_word(text, &w, tally);
    }
}

static void every_attribute(void **state)
{
    static const char *const files[] = {"attributes", "opsets",    "versions",  "windows",
                                        "index",      "microsoft", "reference", "types"};
    (void)state;
    tw_tally tally = {.arena = tw_arena_new()};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        tw_onnx_case_texts texts = tw_onnx_case_file(
            tally.arena, tw_format(tally.arena, "tests/data/onnx-%s.txt", files[i]));
        for (int k = 0; k < texts.count; k++)
            try_case(texts.text[k], &tally);
    }
    print_message("%d tried, %d refused, %d of them without node, operator or attribute\n",
                  tally.tried, tally.refused, tally.wrong);
    assert_true(tally.refused > tally.tried / 4);
    assert_int_equal(tally.wrong, 0);
    tw_arena_free(tally.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_attribute)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
