/* Sine, cosine, tangent and their inverses with fixed result bits: see math.h. In: any float, however
 * large. Out: what math.h promises. The argument is reduced to an eighth of a turn, or to [0, 1/2], and a
 * polynomial evaluated there. */
#include "runtime/mantissa.h"

/* |x| = quarter * pi/2 + r with |r| <= pi/4; quarter modulo 4. For |x| >= pi/4, finite. The product
 * with 2/pi is exact modulo 4 but for its last bits, whatever the magnitude. */
static float reduce_quarter(float x, uint32_t *quarter)
{
    static const uint32_t two_over_pi[8] = {0u,          0xA2F9836Eu, 0x4E441529u, 0xFC2757D1u,
                                            0xF534DDC0u, 0xDB629599u, 0x3C439041u, 0xFE5163ABu};
    int32_t exponent;
    uint32_t mantissa = tw_mantissa_of(tw_absf(x), &exponent);
    uint32_t from = (uint32_t)(exponent + 30); /* the first bit worth less than 4 quarters */
    uint32_t word = from / 32u, bit = from % 32u, window[3];
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t pair = (uint64_t)two_over_pi[word + i] << 32 | two_over_pi[word + i + 1u];
        window[i] = (uint32_t)(pair << bit >> 32);
    }
    uint64_t middle = (uint64_t)mantissa * window[1] + ((uint64_t)mantissa * window[2] >> 32);
    uint64_t turn = ((uint64_t)(mantissa * window[0]) << 32) + middle; /* 62 fraction bits */
    uint64_t rounded = turn + ((uint64_t)1 << 61);
    uint64_t rest = turn - (rounded & ((uint64_t)3 << 62));
    *quarter = (uint32_t)(rounded >> 62);
    int negative = rest >> 63 != 0;
    if (negative)
        rest = 0u - rest;
    int shift = tw_leading_zeros(rest);
    uint64_t product = (rest << shift >> 32) * 0xC90FDAA2u; /* times pi/2 with 31 fraction bits */
    float r = (float)(uint32_t)(product >> 32) * 0x1p-29f;
    r *= tw_float_of((uint32_t)(127 - shift) << 23);
    return negative ? -r : r;
}

static float sin_near(float r)
{
    float s = r * r;
    float q = 0x1.6cb4ccp-19f;
    q = q * s - 0x1.a00f2ep-13f;
    q = q * s + 0x1.111108p-7f;
    q = q * s - 0x1.555556p-3f;
    return r + r * (s * q);
}

static float cos_near(float r)
{
    float s = r * r;
    float q = -0x1.247334p-22f;
    q = q * s + 0x1.a012c8p-16f;
    q = q * s - 0x1.6c16bcp-10f;
    q = q * s + 0x1.555556p-5f;
    float half = 0.5f * s, first = 1.0f - half;
    return first + (((1.0f - first) - half) + s * (s * q));
}

/* Sine and cosine of |x|, x finite. */
static void sine_cosine(float x, float *sine, float *cosine)
{
    float r = tw_absf(x);
    uint32_t quarter = 0;
    if (r >= 0x1.921fb6p-1f)
        r = reduce_quarter(x, &quarter);
    float s = sin_near(r), c = cos_near(r);
    *sine = quarter & 1u ? c : s;
    *cosine = quarter & 1u ? s : c;
    if (quarter & 2u)
        *sine = -*sine;
    if ((quarter + 1u) & 2u)
        *cosine = -*cosine;
}

float tw_sinf(float x)
{
    float sine, cosine;
    if (!(tw_absf(x) < TW_INFINITY))
        return TW_NAN;
    sine_cosine(x, &sine, &cosine);
    return tw_bits_of(x) >> 31 ? -sine : sine;
}

float tw_cosf(float x)
{
    float sine, cosine;
    if (!(tw_absf(x) < TW_INFINITY))
        return TW_NAN;
    sine_cosine(x, &sine, &cosine);
    return cosine;
}

float tw_tanf(float x)
{
    float sine, cosine;
    if (!(tw_absf(x) < TW_INFINITY))
        return TW_NAN;
    sine_cosine(x, &sine, &cosine);
    sine /= cosine;
    return tw_bits_of(x) >> 31 ? -sine : sine;
}

/* asin(x) - x for 0 <= x <= 1/2, s = x^2. */
static float asin_tail(float x, float s)
{
    float q = 0x1.5c98dcp-5f;
    q = q * s + 0x1.8a2728p-6f;
    q = q * s + 0x1.74746ep-5f;
    q = q * s + 0x1.3305c8p-4f;
    q = q * s + 0x1.5555acp-3f;
    return x * (s * q);
}

float tw_asinf(float x)
{
    float a = tw_absf(x);
    if (!(a <= 1.0f))
        return TW_NAN;
    if (a <= 0.5f)
        return tw_copysignf(a + asin_tail(a, a * a), x);
    float s = 0.5f * (1.0f - a), root = tw_sqrtf(s);
    float half = root + asin_tail(root, s); /* asin(a) = pi/2 - 2 asin(root) */
    return tw_copysignf(0x1.921fb6p+0f - (2.0f * half + 0x1.777a5cp-25f), x);
}

float tw_acosf(float x)
{
    float a = tw_absf(x);
    if (!(a <= 1.0f))
        return TW_NAN;
    if (a <= 0.5f)
        return 0x1.921fb6p+0f - (x + (0x1.777a5cp-25f + tw_copysignf(asin_tail(a, a * a), x)));
    float s = 0.5f * (1.0f - a), root = tw_sqrtf(s);
    float tail = asin_tail(root, s);
    if (x < 0.0f)
        return 0x1.921fb6p+1f - (2.0f * (root + tail) + 0x1.777a5cp-24f);
    /* The root's own rounding error: (s - root^2) / (2 root). root^2 = high + low exactly. */
    float high = tw_float_of(tw_bits_of(root) & 0xFFFFF000u), low = root - high;
    float lost = root > 0.0f ? ((s - high * high) - low * (high + root)) / (root + root) : 0.0f;
    return 2.0f * (root + (tail + lost));
}

/* atan(x) for 0 <= x <= tan(pi/8), less x. */
static float atan_tail(float x)
{
    float s = x * x;
    float q = -0x1.ee0e12p-5f;
    q = q * s + 0x1.b161c4p-4f;
    q = q * s - 0x1.23b19cp-3f;
    q = q * s + 0x1.9991e2p-3f;
    q = q * s - 0x1.55554cp-2f;
    return x * (s * q);
}

float tw_atanf(float x)
{
    float a = tw_absf(x), y;
    if (tw_isnan(x))
        return x;
    if (a <= 0x1.a8279ap-2f) {
        y = a + atan_tail(a);
    } else if (a < 0x1.3504f4p+1f) { /* tan(3 pi/8): around pi/4 */
        float t = (a - 1.0f) / (a + 1.0f);
        y = 0x1.921fb6p-1f + (t + (atan_tail(t) - 0x1.777a5cp-26f));
    } else {
        float t = 1.0f / a;
        y = 0x1.921fb6p+0f - (t + (atan_tail(t) + 0x1.777a5cp-25f));
    }
    return tw_copysignf(y, x);
}

float tw_atan2f(float y, float x)
{
    float a = tw_absf(y), b = tw_absf(x), angle;
    if (tw_isnan(x) || tw_isnan(y))
        return x + y;
    if (a == b) /* both may be zero, or infinite */
        angle = a == 0.0f ? 0.0f : 0x1.921fb6p-1f;
    else
        angle = a < b ? tw_atanf(a / b) : 0x1.921fb6p+0f - (tw_atanf(b / a) + 0x1.777a5cp-25f);
    if (tw_copysignf(1.0f, x) < 0.0f)
        angle = 0x1.921fb6p+1f - (angle + 0x1.777a5cp-24f);
    return tw_copysignf(angle, y);
}
