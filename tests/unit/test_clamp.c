/* A fused activation's bounds in stored numbers: divided in float and rounded away from zero, as TFLite
 * does. Scales for which a division in double would round otherwise are looked for here. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ops/op.h"

static int32_t bound_of(float bound, float scale)
{
    tw_arena *arena = tw_arena_new();
    tw_graph *graph = tw_graph_new(arena, "clamp");
    tw_lowering lowering = {0};
    tw_diag diag = {0};
    const int32_t dim[] = {4};
    tw_value *x = tw_graph_input(graph, "x", tw_shape_of(TW_S8, 1, dim));
    x->quant = tw_quant_per_tensor(arena, scale, -128);
    tw_node *node =
        tw_graph_node(graph, tw_op_by_name("Relu"), "relu", &x, 1, 1, NULL, NULL, &diag);
    assert_non_null(node);
    node->out[0]->quant = x->quant;
    node->clamp = (tw_clamp){0, bound};
    tw_lower_clamp(node, &lowering);
    assert_int_equal(lowering.clamp_low.s32, -128);
    int32_t high = lowering.clamp_high.s32;
    tw_arena_free(arena);
    return high;
}

static void test_ties(void **state)
{
    (void)state;
    int differing = 0;
    for (int k = 1; k < 250; k++) {
        const float scale = 6.0f / ((float)k + 0.5f);
        const int32_t by_float = (int32_t)roundf(6.0f / scale);
        const int32_t by_double = (int32_t)round(6.0 / (double)scale);
        differing += by_float != by_double;
        assert_int_equal(bound_of(6, scale), by_float - 128);
    }
    assert_true(differing > 0); /* else nothing is tested */
}

static void test_infinite(void **state)
{
    (void)state;
    assert_int_equal(bound_of(INFINITY, 0.1f), 127);
    assert_int_equal(bound_of(6, 1e-30f), 127);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_infinite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
