/* Small networks as exporters and quantisers write them, compiled and run whole and in bands, against
 * what ONNX Runtime computes of them. The scripts that made them are scripts/fixtures/onnx_quantised.py
 * and onnx_exports.py. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "support/onnx_cases.h"

static void run_folder(const char *folder, int least)
{
    int count, failed = tw_onnx_cases_run(folder, &count);
    printf("%s: %d models, %d fail\n", folder, count, failed);
    assert_int_equal(failed, 0);
    assert_true(count >= least);
}

static void quantised(void **state)
{
    (void)state;
    run_folder("tests/data/onnx-quantised", 35);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(quantised)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
