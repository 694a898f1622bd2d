/* Results with as many rows as the data decides: with room for more than there are they end with what says
 * that nothing is there, and the count beside them is right; with less room the count still is. Where
 * something computes with them they are refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "host/session.h"
#include "support/arena_fixture.h"
#include "support/onnx_model.h"
#include "support/plans.h"
#include "tilewright/compiler.h"

/* An output of the graph; rank 0: without a shape. */
static void declare(tw_onnx_writer *w, const char *name, int type, int rank, const int64_t *dim)
{
    tw_wire_bytes shape = {.arena = arena}, tensor = shape, of = shape, info = shape;
    for (int i = 0; i < rank; i++) {
        tw_wire_bytes one = {.arena = arena};
        tw_wire_number(&one, 1, (uint64_t)dim[i]);
        tw_wire_message(&shape, 1, &one);
    }
    tw_wire_number(&tensor, 1, (uint64_t)type);
    if (rank)
        tw_wire_message(&tensor, 2, &shape);
    tw_wire_message(&of, 1, &tensor);
    tw_wire_text(&info, 1, name);
    tw_wire_message(&info, 2, &of);
    tw_wire_message(&w->graph, 12, &info);
}

/* One input of `bytes` bytes; the outputs are compared, in order, with s64 or f32 lists. */
typedef struct tw_want {
    const char *name;
    const void *data;
    size_t bytes;
} tw_want;

static void gives(tw_onnx_writer *w, const void *input, size_t bytes, const tw_want *want,
                  int count)
{
    tw_compiled compiled;
    tw_session s;
    tw_diag diag;
    if (!tw_test_try_compile_onnx(w, NULL, &compiled, &diag) ||
        !tw_session_open(&s, compiled.plan, compiled.plan_bytes, &diag))
        fail_msg("%s", diag.message);
    memcpy(tw_session_input(&s, 0), input, bytes);
    assert_true(tw_session_run(&s, &diag));
    assert_int_equal(s.model.output_count, count);
    for (int i = 0; i < count; i++) {
        assert_string_equal(s.output_names[i], want[i].name);
        assert_int_equal(tw_tensor_bytes(tw_output_tensor(&s.model, (uint32_t)i)), want[i].bytes);
        assert_memory_equal(tw_session_output(&s, (uint32_t)i), want[i].data, want[i].bytes);
    }
    tw_session_close(&s);
    tw_compiled_free(&compiled);
}

#define LIST(name, ...)                                                                            \
    {                                                                                              \
        name, (const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__})                     \
    }
#define REALS(name, ...)                                                                           \
    {                                                                                              \
        name, (const float[]){__VA_ARGS__}, sizeof((float[]){__VA_ARGS__})                         \
    }

static const int64_t two_by_three[] = {2, 3}, six[] = {6};

static void places_of_what_is_not_zero(void **state)
{
    (void)state;
    static const float x[] = {0, 1, 0, 2, 0, -3};
    tw_onnx_writer w = tw_onnx_write(arena, 17);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 2, two_by_three);
    tw_onnx_write_node(&w, "NonZero", "x", "y");
    declare(&w, "y", ONNX_INT64, 0, NULL);
    gives(
        &w, x, sizeof x,
        (const tw_want[]){LIST("y", 0, 1, 1, -1, -1, -1, 1, 0, 2, -1, -1, -1), LIST("y.count", 3)},
        2);
    static const int64_t small[] = {2, 2};
    w = tw_onnx_write(arena, 17);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 2, two_by_three);
    tw_onnx_write_node(&w, "NonZero", "x", "y");
    declare(&w, "y", ONNX_INT64, 2, small);
    gives(&w, x, sizeof x, (const tw_want[]){LIST("y", 0, 1, 1, 0), LIST("y.count", 3)}, 2);
}

static void rows_where_a_condition_holds(void **state)
{
    (void)state;
    static const float x[] = {1, 2, 3, 4, 5, 6};
    static const int64_t three[] = {3};
    static const uint8_t condition[] = {0, 1, 1};
    tw_onnx_writer w = tw_onnx_write(arena, 17);
    tw_onnx_write_input(&w, "c", ONNX_BOOL, 1, three);
    tw_onnx_write_tensor(&w, "x", ONNX_FLOAT, 2, two_by_three, x, sizeof x);
    tw_onnx_write_node(&w, "Compress", "x c", "y");
    tw_onnx_write_int(&w, "axis", 1);
    declare(&w, "y", ONNX_FLOAT, 0, NULL);
    gives(&w, condition, sizeof condition,
          (const tw_want[]){REALS("y", 2, 3, 0, 5, 6, 0), LIST("y.count", 2)}, 2);
}

static void unlike_elements(void **state)
{
    (void)state;
    static const float x[] = {2, 1, 1, 3, 4, 3};
    for (int sorted = 0; sorted < 2; sorted++) {
        tw_onnx_writer w = tw_onnx_write(arena, 17);
        tw_onnx_write_input(&w, "x", ONNX_FLOAT, 1, six);
        tw_onnx_write_node(&w, "Unique", "x", "y i r n");
        tw_onnx_write_int(&w, "sorted", sorted);
        declare(&w, "y", ONNX_FLOAT, 0, NULL);
        declare(&w, "i", ONNX_INT64, 0, NULL);
        declare(&w, "r", ONNX_INT64, 0, NULL);
        declare(&w, "n", ONNX_INT64, 0, NULL);
        if (sorted)
            gives(&w, x, sizeof x,
                  (const tw_want[]){REALS("y", 1, 2, 3, 4, 0, 0), LIST("i", 1, 0, 3, 4, -1, -1),
                                    LIST("r", 1, 0, 0, 2, 3, 2), LIST("n", 2, 1, 2, 1, 0, 0),
                                    LIST("y.count", 4)},
                  5);
        else
            gives(&w, x, sizeof x,
                  (const tw_want[]){REALS("y", 2, 1, 3, 4, 0, 0), LIST("i", 0, 1, 3, 4, -1, -1),
                                    LIST("r", 0, 1, 1, 2, 3, 2), LIST("n", 1, 2, 2, 1, 0, 0),
                                    LIST("y.count", 4)},
                  5);
    }
}

static void boxes_that_remain(void **state)
{
    (void)state;
    static const int64_t boxes[] = {1, 3, 4}, scores[] = {1, 1, 3}, limit = 3;
    static const float box[] = {0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 0, 10, 1, 11};
    static const float score[] = {0.5f, 0.9f, 0.7f}, overlap = 0.5f;
    tw_onnx_writer w = tw_onnx_write(arena, 17);
    tw_onnx_write_input(&w, "s", ONNX_FLOAT, 3, scores);
    tw_onnx_write_tensor(&w, "b", ONNX_FLOAT, 3, boxes, box, sizeof box);
    tw_onnx_write_tensor(&w, "k", ONNX_INT64, 0, NULL, &limit, sizeof limit);
    tw_onnx_write_tensor(&w, "o", ONNX_FLOAT, 0, NULL, &overlap, sizeof overlap);
    tw_onnx_write_node(&w, "NonMaxSuppression", "b s k o", "y");
    declare(&w, "y", ONNX_INT64, 0, NULL);
    gives(&w, score, sizeof score,
          (const tw_want[]){LIST("y", 0, 0, 1, 0, 0, 2, -1, -1, -1), LIST("y.count", 2)}, 2);
}

static void what_is_computed_with(void **state)
{
    (void)state;
    static const char *const ops[] = {"NonZero", "Unique"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        tw_compiled compiled;
        tw_diag diag;
        tw_onnx_writer w = tw_onnx_write(arena, 17);
        tw_onnx_write_input(&w, "x", ONNX_FLOAT, 1, six);
        tw_onnx_write_node(&w, ops[i], "x", "y");
        tw_onnx_write_node(&w, "Neg", "y", "z");
        declare(&w, "z", i ? ONNX_FLOAT : ONNX_INT64, 0, NULL);
        assert_false(tw_test_try_compile_onnx(&w, NULL, &compiled, &diag));
        assert_int_equal(diag.code, TW_CODE_UNSUPPORTED);
        assert_string_equal(diag.operator_name, ops[i]);
        assert_non_null(strstr(diag.message, "nothing can compute with it"));
        tw_compiled_free(&compiled);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(places_of_what_is_not_zero, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_where_a_condition_holds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unlike_elements, set_up, tear_down),
        cmocka_unit_test_setup_teardown(boxes_that_remain, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_computed_with, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
