/* Small networks as exporters and quantisers write them, compiled and run whole and in bands, against
 * what ONNX Runtime computes of them. The scripts that made them are scripts/fixtures/onnx_exports.py,
 * onnx_tf2onnx.py, onnx_quantised.py, onnx_integer.py and onnx_optimised.py. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "support/cases.h"

/* All match or are refused by name, and so many match. */
static void run_folder(const char *folder, int least)
{
    tw_cases_result r = tw_cases_run(folder);
    printf("%s: %d pass, %d unsupported, %d fail\n", folder, r.passed, r.refused, r.failed);
    assert_int_equal(r.failed, 0);
    assert_true(r.passed >= least);
}

static void pytorch(void **state)
{
    (void)state;
    run_folder("tests/data/onnx-exports", 182);
}

static void quantised(void **state)
{
    (void)state;
    run_folder("tests/data/onnx-quantised", 49);
}

/* What has no int8 form is computed in whole numbers and rounded as ONNX Runtime rounds. */
static void integers(void **state)
{
    (void)state;
    run_folder("tests/data/onnx-integer", 19);
}

static void tensorflow(void **state)
{
    (void)state;
    run_folder("tests/data/onnx-tf2onnx", 173);
}

/* What ONNX Runtime's optimisers write, control flow, and what newer opsets have as one operator. */
static void optimised(void **state)
{
    (void)state;
    run_folder("tests/data/onnx-optimised", 26);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pytorch), cmocka_unit_test(quantised),
                                       cmocka_unit_test(integers), cmocka_unit_test(tensorflow),
                                       cmocka_unit_test(optimised)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
