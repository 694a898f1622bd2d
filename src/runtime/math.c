/* Float32 functions with fixed result bits: see math.h. Each reduces its argument exactly (or with
 * a known remainder) to a short interval, evaluates a polynomial there and puts the parts together
 * in an order that keeps the last rounding the only large one. */
#include "runtime/mantissa.h"

/* ---- exponentials and logarithms ---- */

/* e^r - 1 - r = r^2 * q(r), accurate relative to e^r - 1. */
static float expm1_tail(float r)
{
    float q = 0x1.a18350p-13f;
    q = q * r + 0x1.6dafdap-10f;
    q = q * r + 0x1.1110a8p-7f;
    q = q * r + 0x1.555466p-5f;
    q = q * r + 0x1.555556p-3f;
    q = q * r + 0.5f;
    return r * r * q;
}

float tw_expm1f(float x)
{
    if (tw_isnan(x))
        return x;
    if (x > 89.0f)
        return TW_INFINITY;
    if (x < -18.0f)
        return -1.0f;
    float n = tw_rintf(x * 0x1.715476p+0f);
    float high = x - n * 0x1.62e4p-1f, low = n * 0x1.7f7d1cp-20f;
    float r = high - low;
    if (n == 0.0f) /* keeps -0 */
        return tw_copysignf(r + expm1_tail(r), x);
    float lost = (high - r) - low; /* what rounding took from r */
    float p = r + (expm1_tail(r) + lost);
    int32_t k = (int32_t)n;
    if (k == 128)
        return ((p + 1.0f) * 0x1p127f) * 2.0f;
    float scale = tw_float_of((uint32_t)(k + 127) << 23);
    if (k > 24)
        return (p - 1.0f / scale + 1.0f) * scale;
    return scale * p + (scale - 1.0f);
}

/* log(1 + f) = f - f^2/2 + log_tail(f) for sqrt(1/2) <= 1 + f <= sqrt(2). */
static float log_tail(float f)
{
    float q = 0x1.1c26cap-4f;
    q = q * f - 0x1.e53e06p-4f;
    q = q * f + 0x1.e6f718p-4f;
    q = q * f - 0x1.fafb5cp-4f;
    q = q * f + 0x1.232aa4p-3f;
    q = q * f - 0x1.55641ap-3f;
    q = q * f + 0x1.99a512p-3f;
    q = q * f - 0x1.ffffeap-3f;
    q = q * f + 0x1.555548p-2f;
    return f * f * f * q;
}

/* A positive finite x as (1 + f) * 2^k with sqrt(1/2) <= 1 + f < sqrt(2). */
static float split_exponent(float x, int32_t *k)
{
    int32_t below = 0;
    if (x < 0x1p-126f) {
        x *= 0x1p25f;
        below = 25;
    }
    uint32_t bits = tw_bits_of(x);
    uint32_t offset = bits - 0x3F3504F3u; /* from sqrt(1/2) */
    uint32_t whole = offset & 0xFF800000u;
    *k = (int32_t)(offset >> 23 ^ 0x100u) - 0x100 - below;
    return tw_float_of(bits - whole);
}

/* k * ln(2) + log(1 + f) + extra, extra tiny. */
static float log_sum(int32_t k, float f, float extra)
{
    float n = (float)k;
    float small = log_tail(f) + (n * 0x1.7f7d1cp-20f + extra);
    return n * 0x1.62e4p-1f + (f - (0.5f * f * f - small));
}

float tw_logf(float x)
{
    if (tw_isnan(x) || (x > 0.0f && tw_isinf(x)))
        return x;
    if (x == 0.0f)
        return -TW_INFINITY;
    if (x < 0.0f)
        return TW_NAN;
    int32_t k;
    float f = split_exponent(x, &k) - 1.0f;
    return log_sum(k, f, 0.0f);
}

float tw_log1pf(float x)
{
    if (tw_isnan(x) || (x > 0.0f && tw_isinf(x)))
        return x;
    if (x == -1.0f)
        return -TW_INFINITY;
    if (x < -1.0f)
        return TW_NAN;
    if (tw_absf(x) < 0.25f) /* 1 + x needs no exponent; keeps -0 */
        return tw_copysignf(x - (0.5f * x * x - log_tail(x)), x);
    int32_t k;
    float u = 1.0f + x;
    float lost = x >= 1.0f ? 1.0f - (u - x) : x - (u - 1.0f);
    float f = split_exponent(u, &k) - 1.0f;
    return log_sum(k, f, k < 100 ? lost / u : 0.0f);
}

float tw_softplusf(float x)
{
    float e = tw_log1pf(tw_expf(-tw_absf(x)));
    return x > 0.0f ? x + e : e;
}

float tw_logitf(float x, float margin)
{
    float z = margin >= 0.0f ? tw_clampf(x, margin, 1.0f - margin) : x;
    return z < 0.25f ? tw_logf(z / (1.0f - z)) : tw_log1pf(((z - 0.5f) + (z - 0.5f)) / (1.0f - z));
}

/* ---- power, in integers ---- */

/* log2(m) / f of f = m - 1 in units of 2^-24, with 37 fraction bits. Terms shrink by at least
 * 0.42 each, so the products stay below 2^61. */
static int64_t log2_ratio(int32_t f)
{
    static const int64_t coefficient[13] = {198282496596, -99141248358, 66094167504, -49570612446,
                                            39656264892,  -33047631110, 28336483803, -24780285238,
                                            21821716954,  -19676320643, 19891775325, -19624884808,
                                            10629869033};
    int64_t sum = coefficient[12];
    for (int i = 11; i >= 0; i--)
        sum = coefficient[i] + (sum * f >> 24);
    return sum;
}

/* 2^fraction, fraction in units of 2^-32, as 30 fraction bits. */
static uint32_t exp2_fraction(uint32_t fraction)
{
    static const uint32_t coefficient[8] = {1073741824u, 744261124u, 257941116u, 59598178u,
                                            10322969u,   1441248u,   154106u,    23084u};
    uint32_t sum = coefficient[7];
    for (int i = 6; i >= 0; i--)
        sum = coefficient[i] + (uint32_t)((uint64_t)sum * fraction >> 32);
    return sum;
}

/* mantissa * 2^(exponent - 30), mantissa in [2^30, 2^31), rounded half to even. */
static float compose(uint32_t mantissa, int32_t exponent)
{
    if (exponent > 127)
        return TW_INFINITY;
    if (exponent < -151)
        return 0.0f;
    int32_t shift = 7 + (exponent < -126 ? -126 - exponent : 0);
    if (shift > 31)
        return 0.0f;
    uint32_t kept = mantissa >> shift, rest = mantissa & ((1u << shift) - 1u);
    uint32_t half = 1u << (shift - 1);
    kept += rest > half || (rest == half && (kept & 1u));
    return tw_float_of(exponent < -126 ? kept : kept + ((uint32_t)(exponent + 126) << 23));
}

/* x^y for finite x > 0 other than 1 and finite y other than 0. */
static float positive_power(float x, float y)
{
    int32_t k, log_exponent, y_exponent;
    float m = split_exponent(x, &k);
    int32_t f = (int32_t)((m - 1.0f) * 16777216.0f);
    int64_t log = log2_ratio(f) * f; /* 61 fraction bits */
    if (k != 0)
        log = (log >> 8) + k * ((int64_t)1 << 53);
    log_exponent = k != 0 ? -53 : -61;
    int negative = (log < 0) != (y < 0.0f);
    uint64_t magnitude = log < 0 ? 0u - (uint64_t)log : (uint64_t)log;
    int shift = 25 - tw_leading_zeros(magnitude); /* keep 39 bits */
    magnitude = shift > 0 ? magnitude >> shift : magnitude << -shift;
    uint64_t product = magnitude * tw_mantissa_of(tw_absf(y), &y_exponent); /* below 2^63 */
    int32_t exponent = log_exponent + shift + y_exponent;
    if (exponent > -54) /* |y log2 x| >= 2^8 */
        return negative ? 0.0f : TW_INFINITY;
    int32_t right = -32 - exponent;
    int64_t power = right < 64 ? (int64_t)(product >> right) : 0; /* 32 fraction bits */
    if (negative)
        power = -power;
    uint64_t bits = (uint64_t)power;
    int32_t whole = (int32_t)(uint32_t)(bits >> 32); /* floor */
    return compose(exp2_fraction((uint32_t)bits), whole);
}

/* 0: y is not whole, 1: odd, 2: even. */
static int parity(float y)
{
    float magnitude = tw_absf(y);
    if (magnitude >= 16777216.0f)
        return 2;
    if (tw_truncf(magnitude) != magnitude)
        return 0;
    return (int32_t)magnitude & 1 ? 1 : 2;
}

float tw_powf(float x, float y)
{
    /* What networks raise to most; the general path gives the same but for a rounding. */
    if (y == 2.0f)
        return x * x;
    if (y == 1.0f)
        return x;
    if (y == -1.0f)
        return 1.0f / x;
    if (y == 0.0f || x == 1.0f)
        return 1.0f;
    if (tw_isnan(x) || tw_isnan(y))
        return TW_NAN;
    float magnitude = tw_absf(x);
    if (tw_isinf(y)) {
        if (magnitude == 1.0f)
            return 1.0f;
        return (magnitude > 1.0f) == (y > 0.0f) ? TW_INFINITY : 0.0f;
    }
    int whole = parity(y);
    float sign = tw_bits_of(x) >> 31 && whole == 1 ? -1.0f : 1.0f;
    if (magnitude == 0.0f || tw_isinf(x))
        return sign * ((magnitude == 0.0f) == (y > 0.0f) ? 0.0f : TW_INFINITY);
    if (x < 0.0f && whole == 0)
        return TW_NAN;
    return sign * (magnitude == 1.0f ? 1.0f : positive_power(magnitude, y));
}

/* ---- square root in integers ---- */

float tw_sqrtf_portable(float x)
{
    if (tw_isnan(x) || x == 0.0f || (tw_isinf(x) && x > 0.0f))
        return x;
    if (x < 0.0f)
        return TW_NAN;
    int32_t exponent;
    uint32_t mantissa = tw_mantissa_of(x, &exponent);
    if (exponent & 1) {
        mantissa <<= 1;
        exponent--;
    }
    /* The root of mantissa * 2^24 has 24 or 25 bits; the 25th serves to round. */
    uint64_t rest = (uint64_t)mantissa << 24;
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 48; bit != 0; bit >>= 2) {
        if (rest >= root + bit) {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    /* Never a tie: a root of 24 bits and a half would need a radicand of 49. */
    exponent = exponent / 2 - 12;
    uint32_t kept = (uint32_t)root;
    if (kept >= 1u << 24) {
        kept = (kept + 1u) >> 1;
        exponent++;
    } else if (rest > root) {
        kept++;
    }
    return tw_float_of(((uint32_t)(exponent + 149) << 23) + kept);
}

/* ---- hyperbolic functions ---- */

float tw_sinhf(float x)
{
    float a = tw_absf(x);
    if (a <= 1.0f) {
        float s = x * x;
        float q = 0x1.7a5d18p-19f;
        q = q * s + 0x1.9ffd06p-13f;
        q = q * s + 0x1.111136p-7f;
        q = q * s + 0x1.555556p-3f;
        return tw_copysignf(a + a * (s * q), x);
    }
    float half = tw_exp_parts(a, 0.0f, -1);
    return tw_copysignf(half - 0.25f / half, x);
}

float tw_coshf(float x)
{
    float half = tw_exp_parts(tw_absf(x), 0.0f, -1);
    return half + 0.25f / half;
}

float tw_tanhf(float x)
{
    float a = tw_absf(x);
    if (a < 0.625f) {
        float s = x * x;
        float q = -0x1.733f6ap-8f;
        q = q * s + 0x1.51c5d0p-6f;
        q = q * s - 0x1.b83a12p-5f;
        q = q * s + 0x1.1107acp-3f;
        q = q * s - 0x1.55553ap-2f;
        return tw_copysignf(a + a * (s * q), x);
    }
    return tw_copysignf(1.0f - 2.0f / (tw_expf(a + a) + 1.0f), x);
}

/* log(2 a) without overflow. */
static float log_twice(float a)
{
    int32_t k;
    float f = split_exponent(a, &k) - 1.0f;
    return log_sum(k + 1, f, 0.0f);
}

float tw_asinhf(float x)
{
    float a = tw_absf(x), y;
    if (tw_isnan(x) || tw_isinf(x))
        return x;
    if (a > 0x1p13f) /* sqrt(1 + a^2) = a */
        y = log_twice(a);
    else
        y = tw_log1pf(a + a * a / (1.0f + tw_sqrtf(1.0f + a * a)));
    return tw_copysignf(y, x);
}

float tw_acoshf(float x)
{
    if (tw_isnan(x) || (tw_isinf(x) && x > 0.0f))
        return x;
    if (x < 1.0f)
        return TW_NAN;
    if (x > 0x1p13f)
        return log_twice(x);
    float t = x - 1.0f;
    return tw_log1pf(t + tw_sqrtf(t + t + t * t));
}

float tw_atanhf(float x)
{
    float a = tw_absf(x);
    if (!(a <= 1.0f))
        return TW_NAN;
    if (a == 1.0f)
        return tw_copysignf(TW_INFINITY, x);
    return tw_copysignf(0.5f * tw_log1pf((a + a) / (1.0f - a)), x);
}

/* ---- the error function ---- */

/* erf(x) - x for 0 <= x <= 0.875. */
static float erf_tail(float x)
{
    float s = x * x;
    float q = 0x1.6bdf1ep-14f;
    q = q * s - 0x1.ae7f26p-11f;
    q = q * s + 0x1.553aa2p-8f;
    q = q * s - 0x1.b819a2p-6f;
    q = q * s + 0x1.ce2e84p-4f;
    q = q * s - 0x1.812744p-2f;
    q = q * s + 0x1.06eba8p-3f;
    return x * q;
}

/* erfc(a) for a >= 0.5. */
static float erfc_far(float a)
{
    if (a > 10.25f)
        return 0.0f;
    float square = a * a;
    float high = tw_float_of(tw_bits_of(a) & 0xFFFFF000u), low = a - high;
    float lost = ((high * high - square) + 2.0f * high * low) + low * low; /* a^2 - square */
    float t = (a - 4.0f) / (a + 4.0f);
    float q = 0x1.59a1a4p-8f;
    q = q * t - 0x1.0f8b20p-6f;
    q = q * t + 0x1.2f0adcp-5f;
    q = q * t - 0x1.0f68dcp-4f;
    q = q * t + 0x1.8012c0p-4f;
    q = q * t - 0x1.9de0b2p-4f;
    q = q * t + 0x1.16ea4cp-4f;
    q = q * t + 0x1.f7f73ap-7f;
    q = q * t - 0x1.1df1a6p-3f;
    q = q * t + 0x1.3ba592p+0f;
    return tw_exp_parts(-square, -lost, 0) * (q / (1.0f + 2.0f * a));
}

float tw_erff(float x)
{
    float a = tw_absf(x);
    if (tw_isnan(x))
        return x;
    return tw_copysignf(a <= 0.875f ? a + erf_tail(a) : 1.0f - erfc_far(a), x);
}

float tw_erfcf(float x)
{
    float a = tw_absf(x);
    if (tw_isnan(x))
        return x;
    if (a <= 0.75f)
        return 1.0f - (x + tw_copysignf(1.0f, x) * erf_tail(a));
    return x < 0.0f ? 2.0f - erfc_far(a) : erfc_far(a);
}

/* ---- remainders ---- */

float tw_fmodf(float x, float y)
{
    float a = tw_absf(x), b = tw_absf(y);
    if (!(a < TW_INFINITY) || !(b > 0.0f) || tw_isnan(y))
        return TW_NAN;
    if (a < b)
        return x;
    int32_t ea, eb;
    uint32_t rest = tw_mantissa_of(a, &ea), divisor = tw_mantissa_of(b, &eb);
    /* One quotient bit a turn, at most 277 turns. */
    for (; ea > eb; ea--) {
        rest = rest >= divisor ? rest - divisor : rest;
        rest <<= 1;
    }
    rest = rest >= divisor ? rest - divisor : rest;
    /* rest * 2^eb in two exact steps, each scale a normal number. */
    int32_t half = eb >> 1;
    float result = (float)rest * tw_float_of((uint32_t)(half + 127) << 23);
    result *= tw_float_of((uint32_t)(eb - half + 127) << 23);
    return tw_copysignf(result, x);
}

float tw_floor_modf(float x, float y)
{
    float rest = tw_fmodf(x, y);
    if (rest == 0.0f)
        return tw_copysignf(0.0f, y);
    return (rest < 0.0f) != (y < 0.0f) ? rest + y : rest;
}
