/* The layout of inputs and outputs of channels-first networks: --io-layout keep leaves them as the model
 * has them, nhwc makes them channels last. The values are the same ones, and inside the network no
 * transpose is left. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "host/compare.h"
#include "host/session.h"
#include "support/arena_fixture.h"
#include "support/plans.h"
#include "tilewright/compiler.h"

typedef struct tw_ran {
    tw_tensor in, out;
    uint8_t *in_data, *out_data; /* dense */
    int transposes, boundary;
} tw_ran;

/* [N, spatial.., C] of [N, C, spatial..], or back. */
static uint8_t *turned(const tw_tensor *t, const uint8_t *dense, bool to_last, tw_tensor *as)
{
    uint32_t size = tw_dtype_bytes(t->dtype),
             channels = (uint32_t)t->dim[to_last ? 1 : t->rank - 1];
    uint32_t pixels = tw_tensor_bytes(t) / size / channels;
    uint8_t *to = tw_alloc(arena, tw_tensor_bytes(t));
    assert_int_equal(t->dim[0], 1);
    for (uint32_t p = 0; p < pixels; p++)
        for (uint32_t c = 0; c < channels; c++) {
            uint32_t first = c * pixels + p, last = p * channels + c;
            memcpy(to + (to_last ? last : first) * size, dense + (to_last ? first : last) * size,
                   size);
        }
    *as = *t;
    for (int i = 1; i < t->rank; i++)
        as->dim[i] =
            to_last ? t->dim[i + 1 < t->rank ? i + 1 : 1] : t->dim[i > 1 ? i - 1 : t->rank - 1];
    return to;
}

/* Compile and run. input: dense, null for numbers of our own. */
static tw_ran run(const char *model, tw_io_layout layout, const uint8_t *input)
{
    tw_ran r;
    tw_compiled compiled;
    tw_session session;
    tw_diag diag = {0};
    uint64_t seed = 1;
    tw_compile_options options;
    tw_compile_options_default(&options);
    options.io_layout = layout;
    if (!tw_compile_file(model, &options, &compiled, &diag) ||
        !tw_session_open(&session, compiled.plan, compiled.plan_bytes, &diag))
        fail_msg("%s: %s", diag.node, diag.message);
    r.in = *tw_input_tensor(&session.model, 0);
    r.out = *tw_output_tensor(&session.model, 0);
    r.transposes = compiled.report.transposes;
    r.boundary = compiled.report.boundary_transposes;
    r.in_data = tw_alloc(arena, tw_tensor_bytes(&r.in));
    r.out_data = tw_alloc(arena, tw_tensor_bytes(&r.out));
    if (input)
        memcpy(r.in_data, input, tw_tensor_bytes(&r.in));
    else
        tw_test_fill(&r.in, r.in_data, &seed);
    memcpy(tw_session_input(&session, 0), r.in_data, tw_tensor_bytes(&r.in));
    if (!tw_session_run(&session, &diag))
        fail_msg("%s", diag.message);
    tw_gather(&r.out, tw_output(&session.context, 0), r.out_data);
    tw_session_close(&session);
    tw_compiled_free(&compiled);
    return r;
}

static void expect_dims(const tw_tensor *a, const tw_tensor *b)
{
    assert_int_equal(a->rank, b->rank);
    assert_memory_equal(a->dim, b->dim, sizeof *a->dim * a->rank);
}

/* A network whose output is a list of classes, as float and quantised: the input turns. */
static void classifier(void **state)
{
    (void)state;
    static const char *const models[] = {"tests/data/onnx-quantised/qdq-s8s8-cnn.onnx",
                                         "tests/data/onnx-quantised/qop-u8u8-cnn.onnx",
                                         "examples/digits/float.onnx", "examples/digits/int8.onnx"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        tw_tensor last;
        tw_ran keep = run(models[m], TW_IO_KEEP, NULL);
        const uint8_t *turned_input = turned(&keep.in, keep.in_data, true, &last);
        tw_ran nhwc = run(models[m], TW_IO_NHWC, turned_input);
        expect_dims(&nhwc.in, &last);
        expect_dims(&nhwc.out, &keep.out);
        assert_memory_equal(nhwc.out_data, keep.out_data, tw_tensor_bytes(&keep.out));
        assert_int_equal(keep.transposes + nhwc.transposes + nhwc.boundary, 0);
    }
}

/* One whose output is an image too. */
static void image_to_image(void **state)
{
    (void)state;
    static const char model[] = "tests/data/onnx-quantised/qdq-s8s8-mixed.onnx";
    tw_tensor last;
    tw_ran keep = run(model, TW_IO_KEEP, NULL);
    tw_ran nhwc = run(model, TW_IO_NHWC, turned(&keep.in, keep.in_data, true, &last));
    expect_dims(&nhwc.in, &last);
    const uint8_t *out = turned(&keep.out, keep.out_data, true, &last);
    expect_dims(&nhwc.out, &last);
    assert_memory_equal(nhwc.out_data, out, tw_tensor_bytes(&keep.out));
    assert_int_equal(keep.transposes, 0);
    assert_int_equal(keep.boundary, 2);
    assert_int_equal(nhwc.transposes + nhwc.boundary, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(classifier, set_up, tear_down),
        cmocka_unit_test_setup_teardown(image_to_image, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
