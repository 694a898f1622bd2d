/* The device's float functions against libm in double: error in units in the last place over bit
 * patterns of every kind, special values, and agreement of the two square roots. */
#include "runtime/math.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static double softplus(double x)
{
    return x > 0.0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static const struct {
    const char *name;
    float (*function)(float);
    double (*truth)(double);
    double bound; /* ulp */
} functions[] = {
    {"exp", tw_expf, exp, 1.0},
    {"log", tw_logf, log, 1.0},
    {"tanh", tw_tanhf, tanh, 1.5},
    {"sigmoid", tw_sigmoidf, sigmoid, 2.5},
    {"softplus", tw_softplusf, softplus, 2.0},
    {"log1p", tw_log1pf, log1p, 1.0},
    {"expm1", tw_expm1f, expm1, 1.5},
    {"sqrt", tw_sqrtf, sqrt, 0.5},
    {"sqrt, portable", tw_sqrtf_portable, sqrt, 0.5},
    {"sin", tw_sinf, sin, 1.75},
    {"cos", tw_cosf, cos, 1.75},
    {"tan", tw_tanf, tan, 3.5},
    {"asin", tw_asinf, asin, 2.5},
    {"acos", tw_acosf, acos, 1.25},
    {"atan", tw_atanf, atan, 2.0},
    {"sinh", tw_sinhf, sinh, 1.75},
    {"cosh", tw_coshf, cosh, 1.75},
    {"asinh", tw_asinhf, asinh, 2.0},
    {"acosh", tw_acoshf, acosh, 2.0},
    {"atanh", tw_atanhf, atanh, 2.25},
    {"erf", tw_erff, erf, 1.3},
    {"erfc", tw_erfcf, erfc, 4.0},
    {"floor", tw_floorf, floor, 0.0},
    {"ceil", tw_ceilf, ceil, 0.0},
    {"trunc", tw_truncf, trunc, 0.0},
    {"rint", tw_rintf, rint, 0.0},
    {"round", tw_roundf, round, 0.0},
};

/* |got - truth| in units in the last place of a float at truth; 0 where both are NaN or the same
 * infinity, a huge number where only one is, or where signs differ. */
static double ulps(float got, double truth)
{
    int exponent = 0;
    double limit = 0x1.ffffffp127; /* from here on truth rounds to infinity */
    if (isnan(truth) || isnan(got))
        return isnan(truth) && isnan(got) ? 0.0 : 1e30;
    if (!signbit(truth) != !signbit(got))
        return 1e30;
    if (isinf(got))
        return fabs(truth) >= limit * (1.0 - 0x1p-23) ? 0.0 : 1e30;
    if (fabs(truth) >= limit * (1.0 + 0x1p-23))
        return 1e30;
    frexp(truth, &exponent);
    if (exponent < -125 || truth == 0.0)
        exponent = -125;
    return fabs((double)got - truth) / ldexp(1.0, exponent - 24);
}

static void accuracy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        double worst = 0.0;
        float at = 0.0f;
        /* A prime step: about a million patterns over all signs, exponents and mantissas. */
        for (uint64_t bits = i; bits <= UINT32_MAX; bits += 4093) {
            float x = tw_float_of((uint32_t)bits);
            double error = ulps(functions[i].function(x), functions[i].truth((double)x));
            if (error > worst)
                worst = error, at = x;
        }
        if (worst > functions[i].bound)
            print_error("%s: %.3f ulp at %a, %.3f allowed\n", functions[i].name, worst, (double)at,
                        functions[i].bound);
        assert_true(worst <= functions[i].bound);
    }
}

static uint64_t next_random(uint64_t *seed)
{
    *seed += 0x9E3779B97F4A7C15u;
    uint64_t z = (*seed ^ *seed >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static void check_power(float x, float y, double bound)
{
    double error = ulps(tw_powf(x, y), pow((double)x, (double)y));
    if (error > bound)
        print_error("pow(%a, %a) = %a: %.3f ulp\n", (double)x, (double)y, (double)tw_powf(x, y),
                    error);
    assert_true(error <= bound);
}

static void power(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 400000; i++) {
        uint64_t r = next_random(&seed);
        float x = tw_float_of((uint32_t)r), y = tw_float_of((uint32_t)(r >> 32));
        check_power(x, y, 0.75);
        /* Bases around 1 and exponents that keep the result finite. */
        float near = tw_float_of(0x3F800000u + (uint32_t)(int32_t)(r % 40000001u) - 20000000u);
        if (near > 0.0f && near != 1.0f) {
            float wide = (float)((double)(int32_t)(r >> 32) * 0x1p-31 * 130.0 / log2((double)near));
            check_power(near, wide, 0.75);
            check_power(-near, tw_truncf(wide), 0.75);
        }
        check_power(tw_absf(x), 0.5f, 0.75);
        check_power(x, 2.0f, 0.75);
        check_power(x, 3.0f, 0.75);
        check_power(x, -1.0f, 0.75);
    }
    static const float special[] = {0.0f,        1.0f,        0.5f,
                                    2.0f,        3.0f,        2.5f,
                                    0x1p-149f,   0x1p-126f,   0x1.fffffep127f,
                                    16777215.0f, 16777216.0f, 0x1.fffffep-1f,
                                    INFINITY,    NAN};
    int count = (int)(sizeof special / sizeof *special);
    for (int i = 0; i < count * 2; i++)
        for (int j = 0; j < count * 2; j++)
            check_power(i % 2 ? -special[i / 2] : special[i / 2],
                        j % 2 ? -special[j / 2] : special[j / 2], 0.75);
}

static void remainders(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int i = 0; i < 200000; i++) {
        uint64_t r = next_random(&seed);
        float x = tw_float_of((uint32_t)r), y = tw_float_of((uint32_t)(r >> 32));
        if (i % 2) /* quotients of a size that matters */
            y = tw_float_of((tw_bits_of(x) & 0x7F800000u) - ((uint32_t)(r >> 40) % 60u << 23)) +
                tw_float_of((uint32_t)(r >> 33) & 0x7FFFFFu);
        float got = tw_fmodf(x, y), truth = fmodf(x, y);
        assert_true((isnan(got) && isnan(truth)) || tw_bits_of(got) == tw_bits_of(truth));
        float modulo = tw_floor_modf(x, y);
        if (!isnan(truth) && truth != 0.0f)
            assert_true(tw_bits_of(modulo) ==
                        tw_bits_of((truth < 0) != (y < 0) ? truth + y : truth));
    }
    assert_true(tw_bits_of(tw_floor_modf(-6.0f, 3.0f)) == 0);
    assert_true(tw_bits_of(tw_floor_modf(6.0f, -3.0f)) == 0x80000000u);
    assert_true(tw_floor_modf(-7.5f, 2.0f) == 0.5f);
}

static void angles(void **state)
{
    (void)state;
    static const float special[] = {0.0f, 1.0f, 3.0f, 0x1p-126f, 0x1.fffffep127f, INFINITY};
    enum { SPECIAL = sizeof special / sizeof *special };
    uint64_t seed = 3;
    double worst = 0;
    for (int i = 0; i < 400000; i++) {
        uint64_t r = next_random(&seed);
        float y = tw_float_of((uint32_t)r), x = tw_float_of((uint32_t)(r >> 32));
        if (i % 2) /* not far from each other */
            x = tw_float_of((tw_bits_of(x) & 0x80FFFFFFu) | (tw_bits_of(y) & 0x7F000000u));
        double error = ulps(tw_atan2f(y, x), atan2((double)y, (double)x));
        worst = error > worst ? error : worst;
    }
    if (worst > 2.5)
        fail_msg("atan2 is off by %.3f ulp", worst);
    for (int i = 0; i < 4 * SPECIAL * SPECIAL; i++) {
        float y = special[i / 4 % SPECIAL], x = special[i / 4 / SPECIAL];
        y = i & 1 ? -y : y;
        x = i & 2 ? -x : x;
        assert_true(ulps(tw_atan2f(y, x), atan2((double)y, (double)x)) <= 2.5);
    }
}

/* Domain errors give one NaN pattern, whatever the processor's own would be. */
static void special_values(void **state)
{
    (void)state;
    float (*const domain[])(float) = {tw_sqrtf, tw_sqrtf_portable, tw_logf};
    for (size_t i = 0; i < sizeof domain / sizeof *domain; i++) {
        assert_int_equal(tw_bits_of(domain[i](-1.0f)), 0x7FC00000u);
        assert_int_equal(tw_bits_of(domain[i](-INFINITY)), 0x7FC00000u);
    }
    assert_int_equal(tw_bits_of(tw_sinf(INFINITY)), 0x7FC00000u);
    assert_int_equal(tw_bits_of(tw_asinf(2.0f)), 0x7FC00000u);
    assert_int_equal(tw_bits_of(tw_acoshf(0.5f)), 0x7FC00000u);
    assert_int_equal(tw_bits_of(tw_powf(-2.0f, 0.5f)), 0x7FC00000u);
    assert_int_equal(tw_bits_of(tw_fmodf(1.0f, 0.0f)), 0x7FC00000u);
    assert_int_equal(tw_bits_of(tw_sqrtf(-0.0f)), 0x80000000u);
    assert_int_equal(tw_bits_of(tw_expf(-0.0f)), 0x3F800000u);
    assert_int_equal(tw_bits_of(tw_expf(-200.0f)), 0u);
    assert_true(tw_expf(200.0f) == INFINITY && tw_expf(-INFINITY) == 0.0f);
    assert_true(tw_sigmoidf(-INFINITY) == 0.0f && tw_sigmoidf(INFINITY) == 1.0f);
    assert_true(tw_maxf(-0.0f, 0.0f) == 0.0f && !signbit(tw_maxf(-0.0f, 0.0f)));
    assert_true(signbit(tw_minf(0.0f, -0.0f)));
    assert_true(isnan(tw_maxf(NAN, 1.0f)) && isnan(tw_minf(1.0f, NAN)));
    assert_true(tw_maxf(2.0f, -3.0f) == 2.0f && tw_minf(2.0f, -3.0f) == -3.0f);
    assert_true(isnan(tw_clampf(NAN, 0.0f, 6.0f)) && tw_clampf(3.0f, 5.0f, 1.0f) == 1.0f);
}

static void to_integers(void **state)
{
    (void)state;
    assert_int_equal(tw_to_s32_half_even(2.5f), 2);
    assert_int_equal(tw_to_s32_half_even(-3.5f), -4);
    assert_int_equal(tw_to_s32_half_away(2.5f), 3);
    assert_int_equal(tw_to_s32_half_away(-2.5f), -3);
    assert_int_equal(tw_to_s32_half_away(0x1.fffffep-2f), 0);
    assert_int_equal(tw_to_s32_truncated(-2.9f), -2);
    assert_int_equal(tw_to_s32_half_even(NAN), 0);
    assert_int_equal(tw_to_s32_half_even(INFINITY), INT32_MAX);
    assert_int_equal(tw_to_s32_half_even(-INFINITY), INT32_MIN);
    assert_int_equal(tw_to_s32_half_away(2147483648.0f), INT32_MAX);
    assert_int_equal(tw_to_s32_half_away(-2147483648.0f), INT32_MIN);
    assert_int_equal(tw_to_s32_truncated(2147483520.0f), 2147483520);
    assert_int_equal(tw_store_whole(INFINITY, -5, -128, 127), 127);
    assert_int_equal(tw_store_whole(-1e30f, 100, -128, 127), -128);
    assert_int_equal(tw_store_whole(NAN, 7, -128, 127), 7);
    assert_int_equal(tw_store_whole(-3.0f, 7, -128, 127), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accuracy),    cmocka_unit_test(power),
        cmocka_unit_test(remainders),  cmocka_unit_test(special_values),
        cmocka_unit_test(to_integers), cmocka_unit_test(angles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
