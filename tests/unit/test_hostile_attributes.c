/* Attributes that hardly make sense, for every operator of the IR: each attribute of each sample replaced
 * by numbers that are too small, too large or not whole, and by lists of them of any length. The graph is
 * taken, and then holds, or it is refused with node, operator and attribute named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "import/text/text.h"
#include "ops/op.h"

static const char *const numbers[] = {"0",     "-1",         "3",           "7",
                                      "65536", "2147483647", "-2147483648", "9223372036854775807"};
enum { NUMBERS = sizeof numbers / sizeof *numbers, LONGEST = 6, SHOWN = 40 };

typedef struct tw_tally {
    int tried, refused, wrong;
} tw_tally;

/* A sample's node: the text in front of its attributes, they, and what is behind. */
typedef struct tw_parts {
    const char *head, *attributes, *tail;
} tw_parts;

static tw_parts take_apart(tw_arena *arena, const tw_opdef *op, const char *text, size_t bytes)
{
    char *copy = tw_strndup(arena, text, bytes);
    char *call = strstr(copy, tw_format(arena, " = %s (", op->name));
    assert_non_null(call);
    char *end = strchr(call + 1, '\n'), *open = strchr(call, '{');
    if (!open || open > end)
        return (tw_parts){tw_strndup(arena, copy, (size_t)(end - copy)), "", tw_strdup(arena, end)};
    char *close = strchr(open, '}');
    assert_true(close && close < end);
    return (tw_parts){tw_strndup(arena, copy, (size_t)(open - copy)),
                      tw_strndup(arena, open + 1, (size_t)(close - open) - 1),
                      tw_strdup(arena, close + 1)};
}

/* The attributes without one of them. */
static const char *without(tw_arena *arena, const char *attributes, const char *name)
{
    const char *rest = "";
    while (*attributes) {
        const size_t word = strcspn(attributes, "=");
        size_t n = word + 1;
        if (attributes[n] == '[')
            n += strcspn(attributes + n, "]") + 1;
        n += strcspn(attributes + n, ",");
        if (strncmp(attributes, name, word) != 0 || name[word])
            rest = tw_format(arena, "%s%.*s, ", rest, (int)n, attributes);
        attributes += n + strspn(attributes + n, ", ");
    }
    return rest;
}

static void try_value(const tw_opdef *op, const tw_parts *p, const char *name, const char *value,
                      tw_tally *tally)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    const char *text = tw_format(arena, "%s {%s%s=%s}%s", p->head,
                                 without(arena, p->attributes, name), name, value, p->tail);
    tw_graph *graph = tw_text_parse(arena, text, strlen(text), NULL, &diag);
    tally->tried++;
    if (graph) {
        if (!tw_graph_check(graph, &diag))
            fail_msg("%s {%s=%s}: an inconsistent graph: %s", op->name, name, value, diag.message);
    } else {
        tally->refused++;
        const bool type = strstr(diag.message, "the type"); /* what was written of the result */
        if (!diag.node[0] || strcmp(diag.operator_name, op->name) != 0 ||
            (!type && !strstr(diag.message, name))) {
            if (tally->wrong++ < SHOWN)
                print_error("%s {%s=%s}: %s (%s): %s\n", op->name, name, value, diag.node,
                            diag.operator_name, diag.message);
        }
    }
    tw_arena_free(arena);
}

static void try_attribute(const tw_opdef *op, const tw_parts *p, const tw_attribute *a,
                          tw_tally *tally)
{
    const bool list = a->kind == TW_ATTRIBUTE_INTS || a->kind == TW_ATTRIBUTE_FLOATS;
    if (a->kind == TW_ATTRIBUTE_ENUM || a->kind == TW_ATTRIBUTE_DTYPE)
        return;
    for (int i = 0; i < NUMBERS; i++) {
        char value[200] = "[";
        if (!list)
            try_value(op, p, a->name, numbers[i], tally);
        for (int n = 0; list && n < LONGEST; n++) {
            (void)snprintf(value + strlen(value), sizeof value - strlen(value), "%s%s",
                           n ? ", " : "", numbers[i]);
            char closed[204];
            (void)snprintf(closed, sizeof closed, "%s]", value);
            try_value(op, p, a->name, closed, tally);
        }
    }
}

/* Two have no kernel, and samples are what kernels are tested with. */
static const char *samples_of(const tw_opdef *op)
{
    return strcmp(op->name, "Reshape") == 0
               ? TW_SAMPLE("view", "f32[1,6,4]", "-1", "1", "", "Reshape (%x) {shape=[2,3,4]}")
           : strcmp(op->name, "BatchNorm") == 0
               ? TW_SAMPLE("norm", "f32[4]", "0.5", "1", "", "BatchNorm (%x, %x, %x, %x, %x)")
               : op->samples;
}

static void every_attribute(void **state)
{
    (void)state;
    tw_tally tally = {0, 0, 0};
    for (int i = 0; i < tw_op_count; i++) {
        const tw_opdef *op = tw_ops[i];
        const char *samples = samples_of(op);
        if (op->attribute_count && !samples)
            fail_msg("%s has no sample", op->name);
        for (const char *at = samples; at && *at;) {
            const char *next = strstr(at + 1, "\ngraph ");
            const size_t bytes = next ? (size_t)(next - at) + 1 : strlen(at);
            tw_arena *arena = tw_arena_new();
            const tw_parts p = take_apart(arena, op, at, bytes);
            for (int k = 0; k < op->attribute_count; k++)
                try_attribute(op, &p, &op->attributes[k], &tally);
            tw_arena_free(arena);
            at += bytes;
        }
    }
    print_message("%d tried, %d refused, %d of them without node, operator or attribute\n",
                  tally.tried, tally.refused, tally.wrong);
    assert_true(tally.refused > tally.tried / 4);
    assert_int_equal(tally.wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_attribute)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
