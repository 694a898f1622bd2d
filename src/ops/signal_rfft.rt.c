/* The real Fourier transform of int16 as kissfft computes it in 16-bit fixed point: a complex transform
 * of half the length on pairs of samples, radix 4 with one radix 2 where needed, every stage scaled down,
 * then taken apart. Scratch holds the complex transform. */
#include "ops/codes.h"
#include "ops/signal_job.h"

static int is_power_of_two(int32_t v)
{
    return v > 0 && (v & (v - 1)) == 0;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_signal_rfft_attributes *a = (const tw_signal_rfft_attributes *)call->attributes;
    if (!tw_signal_check(call, TW_S16, TW_S16, 1, 1, sizeof *a, work) || a->length < 4 ||
        a->length > 1 << 15 || !is_power_of_two(a->length) ||
        tw_signal_length(call->in[0].tensor) > a->length ||
        tw_signal_length(call->out[0].tensor) != a->length + 2 || call->blob_count != 2 ||
        call->blobs[0].bytes != (uint32_t)a->length * 2u ||
        call->blobs[1].bytes != (uint32_t)a->length ||
        call->scratch_bytes < (uint32_t)a->length * 2u)
        return TW_E_CHECK;
    return TW_OK;
}

static int32_t rounded(int32_t product)
{
    return (int32_t)((uint32_t)product + (1u << 14)) >> 15;
}

/* x / parts, parts 2 or 4. */
static tw_complex_s16 divide(tw_complex_s16 x, int32_t parts)
{
    const int32_t factor = 32767 / parts;
    x.re = (int16_t)rounded(x.re * factor);
    x.im = (int16_t)rounded(x.im * factor);
    return x;
}

static tw_complex_s16 multiply(tw_complex_s16 a, tw_complex_s16 b)
{
    tw_complex_s16 r;
    r.re = (int16_t)rounded((int32_t)((uint32_t)(a.re * b.re) - (uint32_t)(a.im * b.im)));
    r.im = (int16_t)rounded((int32_t)((uint32_t)(a.re * b.im) + (uint32_t)(a.im * b.re)));
    return r;
}

static tw_complex_s16 add(tw_complex_s16 a, tw_complex_s16 b)
{
    a.re = (int16_t)(a.re + b.re);
    a.im = (int16_t)(a.im + b.im);
    return a;
}

static tw_complex_s16 subtract(tw_complex_s16 a, tw_complex_s16 b)
{
    a.re = (int16_t)(a.re - b.re);
    a.im = (int16_t)(a.im - b.im);
    return a;
}

/* `m` butterflies of four (of two), their parts m apart; twiddles `stride` apart. */
static void radix4(tw_complex_s16 *f, const tw_complex_s16 *twiddle, int32_t stride, int32_t m)
{
    int32_t k;
    for (k = 0; k < m; k++, f++) {
        const tw_complex_s16 a = divide(f[0], 4);
        const tw_complex_s16 b = multiply(divide(f[m], 4), twiddle[k * stride]);
        const tw_complex_s16 c = multiply(divide(f[2 * m], 4), twiddle[2 * k * stride]);
        const tw_complex_s16 d = multiply(divide(f[3 * m], 4), twiddle[3 * k * stride]);
        const tw_complex_s16 even = subtract(a, c), sum = add(a, c);
        const tw_complex_s16 both = add(b, d), odd = subtract(b, d);
        f[2 * m] = subtract(sum, both);
        f[0] = add(sum, both);
        f[m].re = (int16_t)(even.re + odd.im);
        f[m].im = (int16_t)(even.im - odd.re);
        f[3 * m].re = (int16_t)(even.re - odd.im);
        f[3 * m].im = (int16_t)(even.im + odd.re);
    }
}

static void radix2(tw_complex_s16 *f, const tw_complex_s16 *twiddle, int32_t stride, int32_t m)
{
    int32_t k;
    for (k = 0; k < m; k++, f++) {
        const tw_complex_s16 a = divide(f[0], 2);
        const tw_complex_s16 t = multiply(divide(f[m], 2), twiddle[k * stride]);
        f[m] = subtract(a, t);
        f[0] = add(a, t);
    }
}

/* Where in the order of the innermost stage element i of n stands: its digits, base 4 from the lowest
 * (and the highest base 2 where n is no power of 4), turned round. */
static int32_t place_of(int32_t i, int32_t n)
{
    int32_t place = 0;
    while (n > 1) {
        const int32_t radix = n % 4 == 0 ? 4 : 2;
        n /= radix;
        place += i % radix * n;
        i /= radix;
    }
    return place;
}

static void transform(tw_complex_s16 *f, const tw_complex_s16 *twiddle, int32_t n)
{
    int32_t m = 1, i;
    while (m < n) { /* from the innermost factor, which is 2 where n is no power of 4, outwards */
        const int32_t radix = m == 1 && (n & 0x2AAAAAAA) != 0 ? 2 : 4;
        for (i = 0; i < n; i += radix * m) {
            if (radix == 2)
                radix2(f + i, twiddle, n / (radix * m), m);
            else
                radix4(f + i, twiddle, n / (radix * m), m);
        }
        m *= radix;
    }
}

static void put(int16_t *y, int32_t k, int32_t re, int32_t im)
{
    y[2 * k] = (int16_t)re;
    y[2 * k + 1] = (int16_t)im;
}

/* The real transform's n + 1 values from the complex one of pairs. */
static void take_apart(const tw_complex_s16 *f, const tw_complex_s16 *twiddle, int32_t n,
                       int16_t *y)
{
    const tw_complex_s16 first = divide(f[0], 2);
    int32_t k;
    put(y, 0, first.re + first.im, 0);
    put(y, n, first.re - first.im, 0);
    for (k = 1; k <= n / 2; k++) {
        tw_complex_s16 mirrored = f[n - k], sum, turned;
        mirrored.im = (int16_t)-mirrored.im;
        mirrored = divide(mirrored, 2);
        sum = add(divide(f[k], 2), mirrored);
        turned = multiply(subtract(divide(f[k], 2), mirrored), twiddle[k - 1]);
        put(y, k, (sum.re + turned.re) >> 1, (sum.im + turned.im) >> 1);
        put(y, n - k, (sum.re - turned.re) >> 1, (turned.im - sum.im) >> 1);
    }
}

/* Sample i of x, 0 behind its end. */
static int16_t sample(const int16_t *x, int32_t count, int32_t i)
{
    if (i < count)
        return x[i];
    return 0;
}

static tw_status run(const tw_call *call)
{
    const tw_signal_rfft_attributes *a = (const tw_signal_rfft_attributes *)call->attributes;
    const int32_t n = a->length / 2, count = tw_signal_length(call->in[0].tensor);
    const int32_t vectors = tw_signal_vectors(call->out[0].tensor);
    tw_complex_s16 *f = (tw_complex_s16 *)call->scratch;
    int32_t v, i;
    if (!tw_signal_is_whole(call))
        return TW_E_SCHEDULE;
    for (v = 0; v < vectors; v++) {
        const int16_t *x = (const int16_t *)call->in[0].data + tw_signal_at(call->in[0].tensor, v);
        for (i = 0; i < n; i++) {
            tw_complex_s16 *to = &f[place_of(i, n)];
            to->re = sample(x, count, 2 * i);
            to->im = sample(x, count, 2 * i + 1);
        }
        transform(f, (const tw_complex_s16 *)call->blobs[0].data, n);
        take_apart(f, (const tw_complex_s16 *)call->blobs[1].data, n,
                   (int16_t *)call->out[0].data + tw_signal_at(call->out[0].tensor, v));
    }
    return TW_OK;
}

TW_KERNEL(signal_rfft, s16x, run, check);
