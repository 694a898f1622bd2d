/* Indices that come while a network runs and point outside their axis: the run ends with TW_E_DATA, and
 * where an operator clamps or counts from the end, it does so at both ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "import/text/text.h"
#include "ops/op.h"

/* One operator on x, 0, 1, .. in this shape, and on one index or length of type s64 or s32. */
typedef struct tw_indexed {
    const char *inputs; /* of the graph, behind x and i */
    const char *x, *i, *call;
    int64_t last; /* the greatest index that is inside */
    int least;    /* the smallest */
} tw_indexed;

static const tw_indexed operators[] = {
    {"", "f32[4,2]", "s64[1]", "Gather (%x, %i)", 3, -4},
    {"", "s8[2,4]", "s32[1]", "Gather (%x, %i) {axis=1}", 3, -4},
    {"", "f32[3,4]", "s64[1,1]", "GatherElements (%x, %i) {axis=0}", 2, -3},
    {"", "s16[5,2]", "s32[1,1]", "GatherND (%x, %i)", 4, -5},
    {"const %u : f32[1,1] = [7]", "f32[3,4]", "s64[1,1]", "ScatterElements (%x, %i, %u) {axis=1}",
     3, -4},
    {"const %u : s64[1,2] = [7, 8]", "s64[5,2]", "s32[1,1]", "ScatterND (%x, %i, %u)", 4, -5},
    {"const %u : f32[1,2] = [7, 8]", "f32[5,2]", "s64[1,1]",
     "ScatterND (%x, %i, %u) {reduction=add}", 4, -5},
    {"", "f32[1,6]", "s64[1]", "ReverseSequence (%x, %i) {axis=1, batch_axis=0}", 6, 0},
};

static tw_status run(tw_arena *arena, const tw_indexed *o, int64_t index)
{
    const char *text = tw_format(
        arena,
        "graph \"g\" {\n  const %%x : %s = random 1 -9 9\n  const %%i : %s = [%lld]\n  %s\n"
        "  %%y = %s\n  output %%y\n}\n",
        o->x, o->i, (long long)index, o->inputs, o->call);
    tw_diag diag = {0};
    tw_graph *graph = tw_text_parse(arena, text, strlen(text), NULL, &diag);
    if (!graph)
        fail_msg("%s: %s", o->call, diag.message);
    if (tw_evaluate(graph->nodes[0], arena, 0, &diag))
        return TW_OK;
    assert_non_null(strstr(diag.message, tw_status_text(TW_E_DATA)));
    return TW_E_DATA;
}

static void ends_of_the_axis(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof operators / sizeof *operators; k++) {
        const tw_indexed *o = &operators[k];
        bool wide = strncmp(o->i, "s64", 3) == 0;
        const int64_t outside[] = {o->last + 1,
                                   o->least - 1,
                                   INT32_MAX,
                                   INT32_MIN,
                                   wide ? INT64_MAX : INT32_MAX,
                                   wide ? INT64_MIN : INT32_MIN};
        tw_arena *arena = tw_arena_new();
        assert_int_equal(run(arena, o, o->last), TW_OK);
        assert_int_equal(run(arena, o, o->least), TW_OK);
        for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
            if (run(arena, o, outside[i]) != TW_E_DATA)
                fail_msg("%s: index %lld was accepted", o->call, (long long)outside[i]);
        tw_arena_free(arena);
    }
}

/* A part that is put beyond an end is moved to it. */
static void clamped(void **state)
{
    (void)state;
    static const int64_t begins[] = {INT64_MIN, -1, 0, 3, 4, INT64_MAX};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        tw_arena *arena = tw_arena_new();
        tw_diag diag = {0};
        const char *text =
            tw_format(arena,
                      "graph \"g\" {\n  const %%x : s32[5] = [0, 1, 2, 3, 4]\n"
                      "  const %%u : s32[2] = [7, 8]\n  const %%b : s64[1] = [%lld]\n"
                      "  %%y = UpdateSlice (%%x, %%u, %%b)\n  output %%y\n}\n",
                      (long long)begins[i]);
        tw_graph *graph = tw_text_parse(arena, text, strlen(text), NULL, &diag);
        assert_non_null(graph);
        assert_true(tw_evaluate(graph->nodes[0], arena, 0, &diag));
        const int32_t *y = graph->nodes[0]->out[0]->data;
        const int at = begins[i] < 0 ? 0 : begins[i] > 3 ? 3 : (int)begins[i];
        for (int k = 0; k < 5; k++)
            assert_int_equal(y[k], k == at ? 7 : k == at + 1 ? 8 : k);
        tw_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_of_the_axis),
        cmocka_unit_test(clamped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
