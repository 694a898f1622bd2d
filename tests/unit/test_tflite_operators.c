/* Single operators of TensorFlow Lite, compiled and run whole and in bands, against what the reference
 * kernels compute of them. The script that made them is scripts/fixtures/tflite_operators.py. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "support/onnx_cases.h"

static void operators(void **state)
{
    (void)state;
    tw_cases_result r = tw_onnx_cases_run("tests/data/tflite-operators");
    printf("%d models agree, %d refused, %d fail\n", r.passed, r.refused, r.failed);
    assert_int_equal(r.refused + r.failed, 0);
    assert_true(r.passed >= 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(operators)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
