/* Float32 mathematics with the same result bits on every target: plain IEEE additions,
 * multiplications and divisions in a fixed order (no fused multiply-add, no double, no libm), or
 * integer arithmetic. In: any float, NaN, infinities, subnormals and negative zero included.
 * Out: within the bounds that stand beside each function, in units in the last place (ulp);
 * invalid arguments give the quiet NaN 0x7FC00000, NaN arguments give a NaN.
 * Compile with -ffp-contract=off and without -ffast-math; flush-to-zero modes must be off.
 * The coefficients come from scripts/math/fit.py. */
#ifndef TW_RUNTIME_MATH_H
#define TW_RUNTIME_MATH_H

#include <stdint.h>

#if defined(__FAST_MATH__)
#error "tilewright's float kernels promise exact bits: compile without -ffast-math"
#endif
/* 16: half floats too are computed in their own type. */
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#error "float arithmetic must not carry excess precision; on x86 use SSE"
#endif

typedef union tw_float_bits {
    float f;
    uint32_t u;
} tw_float_bits;

static inline uint32_t tw_bits_of(float x)
{
    tw_float_bits v;
    v.f = x;
    return v.u;
}

static inline float tw_float_of(uint32_t bits)
{
    tw_float_bits v;
    v.u = bits;
    return v.f;
}

#define TW_NAN (tw_float_of(0x7FC00000u))
#define TW_INFINITY (tw_float_of(0x7F800000u))

static inline int tw_isnan(float x)
{
    return (tw_bits_of(x) & 0x7FFFFFFFu) > 0x7F800000u;
}

static inline int tw_isinf(float x)
{
    return (tw_bits_of(x) & 0x7FFFFFFFu) == 0x7F800000u;
}

static inline float tw_absf(float x)
{
    return tw_float_of(tw_bits_of(x) & 0x7FFFFFFFu);
}

/* The magnitude of x with the sign of s. */
static inline float tw_copysignf(float x, float s)
{
    return tw_float_of((tw_bits_of(x) & 0x7FFFFFFFu) | (tw_bits_of(s) & 0x80000000u));
}

/* NaN when either is NaN; of two zeros, -0 is the lesser. */
static inline float tw_maxf(float a, float b)
{
    float zero = tw_float_of(tw_bits_of(a) & tw_bits_of(b));
    return a > b ? a : (b > a ? b : (a == b ? zero : a + b));
}

static inline float tw_minf(float a, float b)
{
    float zero = tw_float_of(tw_bits_of(a) | tw_bits_of(b));
    return a < b ? a : (b < a ? b : (a == b ? zero : a + b));
}

/* NaN stays; where low > high the result is high. */
static inline float tw_clampf(float x, float low, float high)
{
    float above = x < low ? low : x;
    return above > high ? high : above;
}

/* ---- rounding to whole numbers, exact; the sign of zero is kept ---- */

static inline float tw_truncf(float x)
{
    int small = tw_absf(x) < 8388608.0f;
    float whole = (float)(int32_t)(small ? x : 0.0f);
    return small ? tw_copysignf(whole, x) : x;
}

static inline float tw_floorf(float x)
{
    float whole = tw_truncf(x);
    return tw_copysignf(whole - (whole > x ? 1.0f : 0.0f), x);
}

static inline float tw_ceilf(float x)
{
    float whole = tw_truncf(x);
    return tw_copysignf(whole + (whole < x ? 1.0f : 0.0f), x);
}

/* Halves to even. */
static inline float tw_rintf(float x)
{
    float magnitude = tw_absf(x);
    float whole = (magnitude + 8388608.0f) - 8388608.0f;
    return magnitude < 8388608.0f ? tw_copysignf(whole, x) : x;
}

/* Halves away from zero. */
static inline float tw_roundf(float x)
{
    float whole = tw_truncf(x);
    float step = tw_absf(x - whole) >= 0.5f ? 1.0f : 0.0f;
    return tw_absf(x) < 8388608.0f ? tw_copysignf(tw_absf(whole) + step, x) : x;
}

/* ---- to integers: saturating, NaN gives 0 ---- */

static inline int32_t tw_whole_to_s32(float whole)
{
    if (!(whole >= -2147483648.0f))
        return whole < 0.0f ? INT32_MIN : 0;
    return whole < 2147483648.0f ? (int32_t)whole : INT32_MAX;
}

static inline int32_t tw_to_s32_half_even(float x)
{
    return tw_whole_to_s32(tw_rintf(x));
}

static inline int32_t tw_to_s32_half_away(float x)
{
    return tw_whole_to_s32(tw_roundf(x));
}

static inline int32_t tw_to_s32_truncated(float x)
{
    return tw_whole_to_s32(tw_truncf(x));
}

/* whole + zero_point within low..high, whole a rounded float (infinite or NaN too, which counts as
 * 0); |zero_point| < 2^30, low and high within it. */
static inline int32_t tw_store_whole(float whole, int32_t zero_point, int32_t low, int32_t high)
{
    int32_t bounded = tw_whole_to_s32(tw_clampf(whole, -1073741824.0f, 1073741824.0f));
    int32_t stored = bounded + zero_point;
    return stored < low ? low : stored > high ? high : stored;
}

/* ---- elementary functions ---- */

/* e^r - 1 - r = r^2 * q(r) for |r| <= ln(2)/2. */
static inline float tw_exp_tail(float r)
{
    float q = 0x1.6a0a8ep-10f;
    q = q * r + 0x1.123fb0p-7f;
    q = q * r + 0x1.555926p-5f;
    q = q * r + 0x1.55548ap-3f;
    q = q * r + 0x1.fffffcp-2f;
    return r * r * q;
}

/* e^(x + low) * 2^power, |low| <= ulp(x), |power| <= 8, within 1 ulp. Without branches, so that loops over it become
 * vector code where the target has any. */
static inline float tw_exp_parts(float x, float low, int32_t power)
{
    const float shifter = 12582912.0f; /* 1.5 * 2^23: adding it rounds to a whole number */
    float bounded = x > 100.0f ? 100.0f : (x < -120.0f ? -120.0f : x);
    float shifted = bounded * 0x1.715476p+0f + shifter;
    float n = shifted - shifter;
    int32_t exponent = (int32_t)(tw_bits_of(shifted) - 0x4B400000u) + power;
    float r = (bounded - n * 0x1.62e4p-1f) - (n * 0x1.7f7d1cp-20f - low); /* ln(2) in two parts */
    float e = 1.0f + (r + tw_exp_tail(r));
    /* Two steps, so that overflow and gradual underflow come out of multiplications. */
    int32_t half = exponent >> 1;
    float first = tw_float_of((uint32_t)(half + 127) << 23);
    float second = tw_float_of((uint32_t)(exponent - half + 127) << 23);
    return e * first * second;
}

/* e^x, within 1 ulp. */
static inline float tw_expf(float x)
{
    return tw_exp_parts(x, 0.0f, 0);
}

/* 1 / (1 + e^-x), within 2.5 ulp; no intermediate overflows. */
static inline float tw_sigmoidf(float x)
{
    float e = tw_expf(-tw_absf(x));
    return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

/* Correctly rounded in integers; tw_sqrtf gives the same bits. */
float tw_sqrtf_portable(float x);

/* Correctly rounded; -0 gives -0. In hardware where the target has a square root, spelt so that no
 * compiler option turns it into a call of libm. */
static inline float tw_sqrtf(float x)
{
#if defined(__NO_MATH_ERRNO__) && (defined(__SSE__) || defined(__aarch64__))
    return x < 0.0f ? TW_NAN : __builtin_sqrtf(x);
#elif defined(__GNUC__) && defined(__SSE__)
    float root;
    __asm__("sqrtss %1, %0" : "=x"(root) : "x"(x));
    return x < 0.0f ? TW_NAN : root;
#elif defined(__GNUC__) && defined(__aarch64__)
    float root;
    __asm__("fsqrt %s0, %s1" : "=w"(root) : "w"(x));
    return x < 0.0f ? TW_NAN : root;
#elif defined(__GNUC__) && defined(__ARM_FP) && (__ARM_FP & 4) && !defined(__SOFTFP__)
    float root;
    __asm__("vsqrt.f32 %0, %1" : "=t"(root) : "t"(x));
    return x < 0.0f ? TW_NAN : root;
#elif defined(__GNUC__) && defined(__riscv_flen) && __riscv_flen >= 32 && defined(__riscv_fdiv)
    float root;
    __asm__("fsqrt.s %0, %1" : "=f"(root) : "f"(x));
    return x < 0.0f ? TW_NAN : root;
#else
    return tw_sqrtf_portable(x);
#endif
}

/* Within 4 ulp, most within 2: docs/numerics.md has the table, tests/unit/test_math.c checks it
 * against libm in double. */
float tw_logf(float x);
float tw_log1pf(float x);
float tw_expm1f(float x);
float tw_powf(float x, float y);
float tw_sinf(float x); /* any magnitude */
float tw_cosf(float x);
float tw_tanf(float x);
float tw_asinf(float x);
float tw_acosf(float x);
float tw_atanf(float x);
float tw_atan2f(float y, float x);
float tw_sinhf(float x);
float tw_coshf(float x);
float tw_tanhf(float x);
float tw_asinhf(float x);
float tw_acoshf(float x);
float tw_atanhf(float x);
float tw_erff(float x);
float tw_erfcf(float x);
float tw_fmodf(float x, float y);       /* exact; sign of x */
float tw_floor_modf(float x, float y);  /* sign of y, as Python's % */
float tw_softplusf(float x);            /* log(1 + e^x) */
float tw_logitf(float x, float margin); /* log(z / (1 - z)), z = x kept within the margin >= 0 */

#endif
