/* Comparing results: tolerances, special values, distances; and strided storage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "host/compare.h"

static bool floats(float got, float want, double rtol, double atol, tw_difference *d)
{
    tw_tolerance tolerance = {rtol, atol, 0};
    *d = tw_no_difference();
    return tw_compare(TW_F32, 1, &got, &want, &tolerance, 0, d);
}

static void test_floats(void **state)
{
    (void)state;
    tw_difference d;
    assert_true(floats(1.001f, 1, 1e-2, 0, &d));
    assert_false(floats(1.001f, 1, 1e-4, 0, &d));
    assert_int_equal(d.differing, 1);
    assert_int_equal(d.first, 0);
    assert_true(floats(1e-8f, 0, 0, 1e-7, &d));
    assert_true(isinf(d.max_rel));
    assert_true(floats(-0.0f, 0.0f, 0, 0, &d));
    assert_int_equal(d.max_ulp, 0);
    assert_true(floats(nextafterf(1, 2), 1, 1e-3, 0, &d));
    assert_int_equal(d.max_ulp, 1);
    assert_true(floats(NAN, -NAN, 0, 0, &d));
    assert_false(floats(NAN, 1, 1, 1, &d));
    assert_false(floats(1, NAN, 1, 1, &d));
    assert_true(floats(INFINITY, INFINITY, 0, 0, &d));
    assert_false(floats(INFINITY, -INFINITY, 1e-3, 1e-7, &d));
    assert_false(floats(1, INFINITY, 0, 1, &d));
}

static void test_integers(void **state)
{
    (void)state;
    static const int8_t got[] = {-128, 127, 3, 0}, want[] = {-127, 127, 5, 0};
    tw_tolerance exact = {1, 1, 0}, loose = {0, 0, 1};
    tw_difference d = tw_no_difference();
    assert_false(tw_compare(TW_S8, 4, got, want, &exact, 10, &d));
    assert_int_equal(d.differing, 2);
    assert_int_equal(d.first, 10);
    assert_true(d.got == -128 && d.want == -127 && d.max_abs == 2 && d.max_ulp == 2);
    d = tw_no_difference();
    assert_false(tw_compare(TW_S8, 4, got, want, &loose, 0, &d));
    assert_int_equal(d.differing, 1);
    static const uint64_t large[] = {UINT64_MAX}, small[] = {UINT64_MAX - 1};
    d = tw_no_difference();
    assert_false(tw_compare(TW_U64, 1, large, small, &exact, 0, &d));
    static const int64_t low[] = {INT64_MIN}, high[] = {INT64_MAX};
    d = tw_no_difference();
    assert_false(tw_compare(TW_S64, 1, low, high, &exact, 0, &d));
    assert_true(d.max_ulp == UINT64_MAX);
    /* Files of goldens hold what some program had in its memory: any byte but 0 is true. */
    static const uint8_t truth[] = {1, 0, 241}, same[] = {241, 0, 1}, other[] = {1, 1, 1};
    d = tw_no_difference();
    assert_true(tw_compare(TW_BOOL, 3, truth, same, &exact, 0, &d));
    assert_false(tw_compare(TW_BOOL, 3, truth, other, &exact, 0, &d));
    assert_int_equal(d.first, 1);
}

static void test_strides(void **state)
{
    (void)state;
    int16_t storage[20], dense[6] = {1, 2, 3, 4, 5, 6}, back[6] = {0};
    tw_tensor t = {.dtype = TW_S16, .rank = 2, .dim = {2, 3}, .stride = {7, 2}};
    memset(storage, 0x55, sizeof storage);
    tw_scatter(&t, storage, dense);
    assert_int_equal(storage[0], 1);
    assert_int_equal(storage[4], 3);
    assert_int_equal(storage[7], 4);
    assert_int_equal(storage[11], 6);
    assert_int_equal(storage[1], 0x5555);
    tw_gather(&t, storage, back);
    assert_memory_equal(back, dense, sizeof dense);
    tw_tensor scalar = {.dtype = TW_S16, .rank = 0}, empty = {.dtype = TW_S16, .rank = 1};
    tw_gather(&scalar, storage, back);
    assert_int_equal(back[0], 1);
    back[0] = 9;
    tw_gather(&empty, storage, back);
    assert_int_equal(back[0], 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_strides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
