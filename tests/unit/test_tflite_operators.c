/* Single operators of TensorFlow Lite, compiled and run whole and in bands, against what the reference
 * kernels compute of them. The script that made them is scripts/fixtures/tflite_operators.py. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "import/tflite/tflite.h"
#include "support/cases.h"

static void operators(void **state)
{
    (void)state;
    tw_cases_result r = tw_cases_run("tests/data/tflite-operators");
    printf("%d models agree, %d refused, %d fail\n", r.passed, r.refused, r.failed);
    assert_int_equal(r.refused + r.failed, 0);
    assert_true(r.passed >= 54);
}

static void one_row_each(void **state)
{
    (void)state;
    tw_tfl_row row, other;
    for (int i = 0; tw_tfl_row_at(i, &row); i++)
        for (int k = 0; k < i && tw_tfl_row_at(k, &other); k++)
            if (row.code == other.code && strcmp(row.name, other.name) == 0)
                fail_msg("%s has two rows", row.name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(operators), cmocka_unit_test(one_row_each)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
