/* The tables of functions of int16: where a function is infinite they hold an end of the range, where it
 * is not defined zero; where it is a straight line they are exact. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ops/lut_points.h"

static float logarithm(float x, const void *unused)
{
    (void)unused;
    return logf(x);
}

static float exponential(float x, const void *unused)
{
    (void)unused;
    return expf(x);
}

static float infinite(float x, const void *unused)
{
    (void)unused;
    return x < 0 ? -INFINITY : INFINITY;
}

static float half(float x, const void *unused)
{
    (void)unused;
    return x / 2;
}

static void test_ends(void **state)
{
    (void)state;
    int16_t table[TW_LUT_POINTS];
    tw_lut_points(&(tw_lut_curve){0.001f, 0, 0.001f, logarithm, NULL}, table);
    assert_int_equal(table[0], 0); /* of a negative number */
    assert_true(table[TW_LUT_POINTS - 1] > 0);
    tw_lut_points(&(tw_lut_curve){0.1f, 0, 0.1f, infinite, NULL}, table);
    assert_int_equal(table[0], INT16_MIN);
    assert_int_equal(table[TW_LUT_POINTS - 1], INT16_MAX);
    tw_lut_points(&(tw_lut_curve){0.1f, 0, 0.1f, exponential, NULL}, table);
    assert_int_equal(table[0], 0);
    assert_int_equal(table[TW_LUT_POINTS - 1], INT16_MAX);
}

static void test_line(void **state)
{
    (void)state;
    int16_t table[TW_LUT_POINTS];
    tw_lut_points(&(tw_lut_curve){0.25f, 0, 0.25f, half, NULL}, table);
    for (int v = INT16_MIN; v < INT16_MAX; v += 97) {
        int32_t got = tw_lut_between(table, v);
        assert_true(2 * got - v >= -2 && 2 * got - v <= 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
