/* The samples that operator records bring along (`samples`: graphs of the text IR, one node each, on
 * constants): each runs whole and in random bands with random strides, to the same bytes. An operator
 * that is added by a row is tested here without a line of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "import/text/text.h"
#include "support/operate.h"

enum { BAND_SEEDS = 4 };

/* Where the graph behind `text` begins, or the end of the text. */
static const char *next_graph(const char *text)
{
    const char *at = strstr(text, "\ngraph ");
    return at ? at + 1 : text + strlen(text);
}

static void run_sample(const tw_opdef *op, const char *text, size_t bytes, int *banded)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    char message[2048];
    tw_graph *graph = tw_text_parse(arena, text, bytes, NULL, &diag);
    if (!graph) {
        tw_diag_text(&diag, message, sizeof message);
        fail_msg("%s: %s\n%.*s", op->name, message, (int)bytes, text);
        return;
    }
    assert_int_equal(graph->node_count, 1);
    assert_true(graph->nodes[0]->op == op);
    tw_operate_whole(graph->nodes[0], arena);
    for (uint64_t seed = 0; seed < BAND_SEEDS; seed++) {
        uint64_t state = seed;
        *banded += tw_operate_bands(graph->nodes[0], &state);
    }
    tw_arena_free(arena);
}

static void samples(void **state)
{
    (void)state;
    int count = 0, banded = 0;
    for (int i = 0; i < tw_op_count; i++)
        for (const char *at = tw_ops[i]->samples; at && *at;) {
            const char *end = next_graph(at);
            run_sample(tw_ops[i], at, (size_t)(end - at), &banded);
            count++;
            at = end;
        }
    print_message("%d samples, %d banded runs\n", count, banded);
    assert_true(count > 200);
    assert_true(banded > 2 * count);
}

/* A family's row brings its samples. */
static void families_have_samples(void **state)
{
    (void)state;
    for (int i = 0; i < tw_op_count; i++)
        if (tw_ops[i]->kind == TW_LUT &&
            !strstr(tw_ops[i]->samples ? tw_ops[i]->samples : "", "s8"))
            fail_msg("%s has no int8 sample", tw_ops[i]->name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples),
        cmocka_unit_test(families_have_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
