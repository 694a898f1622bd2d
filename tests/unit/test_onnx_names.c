/* Names in an ONNX graph, and what its outputs may be, through the whole compiler: names that stand
 * twice, are empty, very long or of any bytes; outputs that are inputs or constants, stand twice, or are
 * read again inside. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "host/session.h"
#include "support/arena_fixture.h"
#include "support/onnx_model.h"
#include "support/plans.h"

static const int64_t three[] = {3};
static const float x[3] = {-1, 0, 2}, w[3] = {1, 2, 3};

static void refused(tw_onnx_writer *writer, const char *part)
{
    tw_compiled compiled;
    tw_diag diag;
    if (tw_test_try_compile_onnx(writer, NULL, &compiled, &diag))
        fail_msg("accepted, where '%s' was expected", part);
    if (diag.code != TW_CODE_FAILED || !strstr(diag.message, part))
        fail_msg("code %d: %s (%s): %s", (int)diag.code, diag.node, diag.operator_name,
                 diag.message);
    tw_compiled_free(&compiled);
}

/* Compile, run on x; the plan's outputs have these names and values. */
static void gives(tw_onnx_writer *writer, int count, const char *const *names,
                  const float (*want)[3])
{
    tw_compiled compiled;
    tw_session session;
    tw_diag diag;
    if (!tw_test_try_compile_onnx(writer, NULL, &compiled, &diag))
        fail_msg("%s (%s): %s", diag.node, diag.operator_name, diag.message);
    if (!tw_session_open(&session, compiled.plan, compiled.plan_bytes, &diag))
        fail_msg("%s", diag.message);
    assert_int_equal(session.model.output_count, count);
    if (session.model.input_count)
        memcpy(tw_session_input(&session, 0), x, sizeof x);
    if (!tw_session_run(&session, &diag))
        fail_msg("%s", diag.message);
    for (int i = 0; i < count; i++) {
        assert_string_equal(session.output_names[i], names[i]);
        assert_memory_equal(tw_session_output(&session, (uint32_t)i), want[i], sizeof want[i]);
    }
    tw_session_close(&session);
    tw_compiled_free(&compiled);
}

static tw_onnx_writer model(void)
{
    tw_onnx_writer writer = tw_onnx_write(arena, 13);
    tw_onnx_write_input(&writer, "x", ONNX_FLOAT, 1, three);
    return writer;
}

static void outputs_of_any_kind(void **state)
{
    (void)state;
    /* An input, a constant, a result that is read again, one that is another by another name, the
     * last one, and that twice. */
    static const char *const names[] = {"x", "w", "r", "d", "y", "y"};
    tw_onnx_writer writer = model();
    tw_onnx_write_tensor(&writer, "w", ONNX_FLOAT, 1, three, w, sizeof w);
    tw_onnx_write_node(&writer, "Relu", "x", "r");
    tw_onnx_write_node(&writer, "Dropout", "r", "d");
    tw_onnx_write_node(&writer, "Add", "d w", "y");
    for (int i = 0; i < 6; i++)
        tw_onnx_write_output(&writer, names[i], ONNX_FLOAT);
    gives(&writer, 6, names,
          (const float[][3]){{-1, 0, 2}, {1, 2, 3}, {0, 0, 2}, {0, 0, 2}, {1, 2, 5}, {1, 2, 5}});
}

static void nothing_but_names(void **state)
{
    (void)state;
    /* No node at all; no input at all. */
    tw_onnx_writer writer = model();
    tw_onnx_write_output(&writer, "x", ONNX_FLOAT);
    gives(&writer, 1, (const char *const[]){"x"}, (const float[][3]){{-1, 0, 2}});
    writer = tw_onnx_write(arena, 13);
    tw_onnx_write_tensor(&writer, "w", ONNX_FLOAT, 1, three, w, sizeof w);
    tw_onnx_write_node(&writer, "Identity", "w", "y");
    tw_onnx_write_output(&writer, "w", ONNX_FLOAT);
    tw_onnx_write_output(&writer, "y", ONNX_FLOAT);
    gives(&writer, 2, (const char *const[]){"w", "y"}, (const float[][3]){{1, 2, 3}, {1, 2, 3}});
}

static void any_bytes(void **state)
{
    (void)state;
    static const char hostile[] = "\x1b[31m\xff\n%s%n/../\"\\";
    tw_onnx_writer writer = model();
    tw_onnx_write_node(&writer, "Relu", "x", hostile);
    tw_onnx_write_name(&writer, "x"); /* a node with a tensor's name */
    tw_onnx_write_node(&writer, "Neg", hostile, "x_1");
    tw_onnx_write_name(&writer, hostile);
    tw_onnx_write_output(&writer, hostile, ONNX_FLOAT);
    tw_onnx_write_output(&writer, "x_1", ONNX_FLOAT);
    gives(&writer, 2, (const char *const[]){hostile, "x_1"},
          (const float[][3]){{0, 0, 2}, {-0.0f, -0.0f, -2}});
}

static void very_long(void **state)
{
    (void)state;
    enum { LONG = 200000 };
    char *name = tw_alloc(arena, LONG + 2);
    memset(name, 'n', LONG);
    tw_onnx_writer writer = model();
    tw_onnx_write_node(&writer, "Relu", "x", name);
    tw_onnx_write_name(&writer, name);
    tw_onnx_write_output(&writer, name, ONNX_FLOAT);
    gives(&writer, 1, (const char *const[]){name}, (const float[][3]){{0, 0, 2}});
    /* In a message the beginning is enough. */
    writer = model();
    tw_onnx_write_node(&writer, name, "x", name);
    tw_onnx_write_output(&writer, name, ONNX_FLOAT);
    tw_compiled compiled;
    tw_diag diag;
    assert_false(tw_test_try_compile_onnx(&writer, NULL, &compiled, &diag));
    assert_int_equal(diag.code, TW_CODE_UNSUPPORTED);
    tw_compiled_free(&compiled);
}

static void twice(void **state)
{
    (void)state;
    tw_onnx_writer writer = model();
    tw_onnx_write_tensor(&writer, "w", ONNX_FLOAT, 1, three, w, sizeof w);
    tw_onnx_write_tensor(&writer, "w", ONNX_FLOAT, 1, three, w, sizeof w);
    tw_onnx_write_output(&writer, "x", ONNX_FLOAT);
    refused(&writer, "two tensors have this name");
    writer = model();
    tw_onnx_write_tensor(&writer, "w", ONNX_FLOAT, 1, three, w, sizeof w);
    tw_onnx_write_node(&writer, "Relu", "x", "w");
    tw_onnx_write_output(&writer, "w", ONNX_FLOAT);
    refused(&writer, "two tensors have this name");
    writer = model();
    tw_onnx_write_node(&writer, "Split", "x", "y y y");
    tw_onnx_write_output(&writer, "y", ONNX_FLOAT);
    refused(&writer, "two tensors have this name");
    /* Two nodes of one name are common. */
    writer = model();
    tw_onnx_write_node(&writer, "Relu", "x", "r");
    tw_onnx_write_name(&writer, "n");
    tw_onnx_write_node(&writer, "Neg", "r", "y");
    tw_onnx_write_name(&writer, "n");
    tw_onnx_write_output(&writer, "y", ONNX_FLOAT);
    gives(&writer, 1, (const char *const[]){"y"}, (const float[][3]){{-0.0f, -0.0f, -2}});
}

static void empty(void **state)
{
    (void)state;
    tw_onnx_writer writer = model();
    tw_onnx_write_input(&writer, "", ONNX_FLOAT, 1, three);
    tw_onnx_write_output(&writer, "x", ONNX_FLOAT);
    refused(&writer, "a graph input has no name");
    writer = model();
    tw_onnx_write_tensor(&writer, "", ONNX_FLOAT, 1, three, w, sizeof w);
    tw_onnx_write_output(&writer, "x", ONNX_FLOAT);
    refused(&writer, "an initializer has no name");
    writer = model();
    tw_onnx_write_output(&writer, "", ONNX_FLOAT);
    refused(&writer, "comes from nowhere");
    writer = model();
    tw_onnx_write_node(&writer, "", "x", "y");
    tw_onnx_write_output(&writer, "y", ONNX_FLOAT);
    tw_compiled compiled;
    tw_diag diag;
    assert_false(tw_test_try_compile_onnx(&writer, NULL, &compiled, &diag));
    assert_int_equal(diag.code, TW_CODE_UNSUPPORTED);
    tw_compiled_free(&compiled);
    /* A result without a name is not wanted. */
    writer = model();
    tw_onnx_write_node(&writer, "Relu", "x", "-");
    tw_onnx_write_output(&writer, "x", ONNX_FLOAT);
    gives(&writer, 1, (const char *const[]){"x"}, (const float[][3]){{-1, 0, 2}});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(outputs_of_any_kind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_but_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(any_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(very_long, set_up, tear_down),
        cmocka_unit_test_setup_teardown(twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(empty, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
