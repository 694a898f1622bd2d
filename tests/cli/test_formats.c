/* Models of every format through the program: told by their content, whatever they are called; the signatures
 * of a SavedModel, listed and chosen. */
#define _XOPEN_SOURCE 700
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <unistd.h>

#include "expect.h"

static char root[2048]; /* the project's folder */

/* tests/data/five-ways/vector has one network in the five formats. Copied under a name that says nothing. */
static void test_told_by_content(void **state)
{
    (void)state;
    static const char *const ways[][2] = {{"model.onnx", "(onnx)"},
                                          {"model.tflite", "(tflite)"},
                                          {"model.pt2", "(pytorch)"},
                                          {"model.keras", "(keras)"},
                                          {"saved_model", "(tensorflow)"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        expect_shell(0, "rm -rf blank && cp -r '%s/tests/data/five-ways/vector/%s' blank", root,
                     ways[i][0]);
        const tw_result r = tw_process("inspect blank");
        expect_status(r, 0);
        expect_text(r.out, ways[i][1]);
        expect_status(tw_process("compile blank -o blank.twp"), 0);
        expect_status(tw_process("inspect blank.twp"), 0);
    }
}

static void test_signatures(void **state)
{
    (void)state;
    static const char model[] = "tests/data/tensorflow/tf_export_cnn";
    tw_result r = tw_process("inspect %s/%s", root, model);
    expect_status(r, 0);
    expect_text(r.out, "signature serve: x -> output_0");
    expect_text(r.out, "signature serving_default: x -> output_0");
    expect_status(tw_process("compile %s/%s --signature serve -o serve.twp", root, model), 0);
    r = tw_process("compile %s/%s --signature nosuch -o serve.twp", root, model);
    expect_status(r, 2);
    expect_text(r.err, "no signature 'nosuch'; it has ");
    expect_text(r.err, "serve");
    r = tw_process("inspect %s/tests/data/tensorflow/tf_frozen_nchw/frozen.pb --signature serve",
                   root);
    expect_status(r, 2);
    expect_text(r.err, "a frozen graph has none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told_by_content),
        cmocka_unit_test(test_signatures),
    };
    if (!getcwd(root, sizeof root))
        return 1;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
