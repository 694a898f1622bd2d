/* The real Fourier transform of float32. */
#include <stdint.h>

#include "ops/signal.h"

typedef float scalar;
typedef tw_complex_f32 number;

#define SCALAR_DTYPE TW_F32
#define SCALAR_SIGNATURE f32

static scalar sum_of(scalar a, scalar b)
{
    return a + b;
}

static scalar difference_of(scalar a, scalar b)
{
    return a - b;
}

static scalar half_sum(scalar a, scalar b)
{
    return (a + b) * 0.5f;
}

static scalar half_difference(scalar a, scalar b)
{
    return (a - b) * 0.5f;
}

static number divide(number x, int32_t parts)
{
    (void)parts; /* nothing overflows */
    return x;
}

static number multiply(number a, number b)
{
    number r;
    r.re = a.re * b.re - a.im * b.im;
    r.im = a.re * b.im + a.im * b.re;
    return r;
}

static scalar at_last(scalar x, int32_t length)
{
    return x / (float)length;
}

#include "ops/signal_fft.h"
