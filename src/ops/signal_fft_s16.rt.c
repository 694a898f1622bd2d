/* The real Fourier transform of int16 in 16-bit fixed point, every stage scaled down. */
#include <stdint.h>

#include "ops/signal.h"

typedef int16_t scalar;
typedef tw_complex_s16 number;

#define SCALAR_DTYPE TW_S16
#define SCALAR_SIGNATURE s16x

static scalar sum_of(int32_t a, int32_t b)
{
    return (scalar)(a + b);
}

static scalar difference_of(int32_t a, int32_t b)
{
    return (scalar)(a - b);
}

static scalar half_sum(int32_t a, int32_t b)
{
    return (scalar)((a + b) >> 1);
}

static scalar half_difference(int32_t a, int32_t b)
{
    return (scalar)((a - b) >> 1);
}

static scalar rounded(uint32_t product)
{
    return (scalar)((int32_t)(product + (1u << 14)) >> 15);
}

/* x / parts, parts 2 or 4. */
static number divide(number x, int32_t parts)
{
    const int32_t factor = 32767 / parts;
    x.re = rounded((uint32_t)(x.re * factor));
    x.im = rounded((uint32_t)(x.im * factor));
    return x;
}

static number multiply(number a, number b)
{
    number r;
    r.re = rounded((uint32_t)(a.re * b.re) - (uint32_t)(a.im * b.im));
    r.im = rounded((uint32_t)(a.re * b.im) + (uint32_t)(a.im * b.re));
    return r;
}

static scalar at_last(scalar x, int32_t length)
{
    (void)length;
    return x;
}

#include "ops/signal_fft.h"
