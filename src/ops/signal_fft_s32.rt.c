/* The real Fourier transform of int32 in 32-bit fixed point, every stage scaled down; sums wrap around. */
#include <stdint.h>

#include "ops/signal.h"

typedef int32_t scalar;
typedef tw_complex_s32 number;

#define SCALAR_DTYPE TW_S32
#define SCALAR_SIGNATURE s32

static scalar sum_of(scalar a, scalar b)
{
    return (scalar)((uint32_t)a + (uint32_t)b);
}

static scalar difference_of(scalar a, scalar b)
{
    return (scalar)((uint32_t)a - (uint32_t)b);
}

static scalar half_sum(scalar a, scalar b)
{
    return sum_of(a, b) >> 1;
}

static scalar half_difference(scalar a, scalar b)
{
    return difference_of(a, b) >> 1;
}

static scalar rounded(uint64_t product)
{
    return (scalar)((int64_t)(product + (UINT64_C(1) << 30)) >> 31);
}

static uint64_t product_of(scalar a, scalar b)
{
    return (uint64_t)((int64_t)a * b);
}

/* x / parts, parts 2 or 4. */
static number divide(number x, int32_t parts)
{
    const int32_t factor = INT32_MAX / parts;
    x.re = rounded(product_of(x.re, factor));
    x.im = rounded(product_of(x.im, factor));
    return x;
}

static number multiply(number a, number b)
{
    number r;
    r.re = rounded(product_of(a.re, b.re) - product_of(a.im, b.im));
    r.im = rounded(product_of(a.re, b.im) + product_of(a.im, b.re));
    return r;
}

static scalar at_last(scalar x, int32_t length)
{
    (void)length;
    return x;
}

#include "ops/signal_fft.h"
