/* The real Fourier transform and its inverse as kissfft computes them: a complex transform of half the
 * length on pairs of samples, radix 4 with one radix 2 where needed, taken apart behind it or put together
 * before it. Integers lose the bits of every stage at the stage; the inverse of floats is divided by the
 * length at the end.
 *
 * A file for each type (signal_fft_s16.rt.c, ...) defines `scalar`, `number` (a complex number), their
 * arithmetic, SCALAR_DTYPE and SCALAR_SIGNATURE, and includes this once. Device code. Scratch holds the
 * complex transform; blobs are the twiddles and those of taking apart (signal.h). */
#include "ops/codes.h"
#include "ops/signal_job.h"

static int is_power_of_two(int32_t v)
{
    return v > 0 && (v & (v - 1)) == 0;
}

static tw_status check_lengths(const tw_call *call, int inverse, uint64_t *work)
{
    const tw_signal_rfft_attributes *a = (const tw_signal_rfft_attributes *)call->attributes;
    uint32_t bytes;
    int32_t in, out;
    if (!tw_signal_check(call, SCALAR_DTYPE, SCALAR_DTYPE, 1, 1, sizeof *a, work) ||
        a->length < 4 || a->length > 1 << 15 || !is_power_of_two(a->length))
        return TW_E_CHECK;
    bytes = (uint32_t)a->length * (uint32_t)sizeof(scalar);
    in = tw_signal_length(call->in[0].tensor);
    out = tw_signal_length(call->out[0].tensor);
    if (inverse ? in != a->length + 2 || out != a->length : in > a->length || out != a->length + 2)
        return TW_E_CHECK;
    return call->blob_count == 2 && call->blobs[0].bytes == bytes &&
                   call->blobs[1].bytes == bytes / 2 && call->scratch_bytes >= bytes
               ? TW_OK
               : TW_E_CHECK;
}

static number add(number a, number b)
{
    a.re = sum_of(a.re, b.re);
    a.im = sum_of(a.im, b.im);
    return a;
}

static number subtract(number a, number b)
{
    a.re = difference_of(a.re, b.re);
    a.im = difference_of(a.im, b.im);
    return a;
}

/* x - i y and x + i y. */
static number turned_back(number x, number y)
{
    x.re = sum_of(x.re, y.im);
    x.im = difference_of(x.im, y.re);
    return x;
}

static number turned_on(number x, number y)
{
    x.re = difference_of(x.re, y.im);
    x.im = sum_of(x.im, y.re);
    return x;
}

/* A stage: `m` butterflies of four (of two), their parts m apart; twiddles `stride` apart. */
typedef struct stage {
    const number *twiddle;
    int32_t stride, m;
    int inverse;
} stage;

static void radix4(number *f, const stage *s)
{
    const int32_t m = s->m;
    int32_t k;
    for (k = 0; k < m; k++, f++) {
        const number a = divide(f[0], 4);
        const number b = multiply(divide(f[m], 4), s->twiddle[k * s->stride]);
        const number c = multiply(divide(f[2 * m], 4), s->twiddle[2 * k * s->stride]);
        const number d = multiply(divide(f[3 * m], 4), s->twiddle[3 * k * s->stride]);
        const number even = subtract(a, c), sum = add(a, c);
        const number both = add(b, d), odd = subtract(b, d);
        f[2 * m] = subtract(sum, both);
        f[0] = add(sum, both);
        f[s->inverse ? 3 * m : m] = turned_back(even, odd);
        f[s->inverse ? m : 3 * m] = turned_on(even, odd);
    }
}

static void radix2(number *f, const stage *s)
{
    int32_t k;
    for (k = 0; k < s->m; k++, f++) {
        const number a = divide(f[0], 2);
        const number t = multiply(divide(f[s->m], 2), s->twiddle[k * s->stride]);
        f[s->m] = subtract(a, t);
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

/* From the innermost factor, which is 2 where n is no power of 4, outwards. */
static void transform(number *f, const number *twiddle, int32_t n, int inverse)
{
    stage s;
    int32_t i;
    s.twiddle = twiddle;
    s.inverse = inverse;
    s.m = 1;
    while (s.m < n) {
        const int32_t radix = s.m == 1 && (n & 0x2AAAAAAA) != 0 ? 2 : 4;
        s.stride = n / (radix * s.m);
        for (i = 0; i < n; i += radix * s.m) {
            if (radix == 2)
                radix2(f + i, &s);
            else
                radix4(f + i, &s);
        }
        s.m *= radix;
    }
}

static number conjugate(number x)
{
    x.im = difference_of(0, x.im);
    return x;
}

static void put(scalar *y, int32_t k, scalar re, scalar im)
{
    y[2 * k] = re;
    y[2 * k + 1] = im;
}

static number get(const scalar *x, int32_t k)
{
    number r;
    r.re = x[2 * k];
    r.im = x[2 * k + 1];
    return r;
}

/* The real transform's n + 1 values from the complex one of pairs. */
static void take_apart(const number *f, const number *twiddle, int32_t n, scalar *y)
{
    const number first = divide(f[0], 2);
    int32_t k;
    put(y, 0, sum_of(first.re, first.im), 0);
    put(y, n, difference_of(first.re, first.im), 0);
    for (k = 1; k <= n / 2; k++) {
        const number own = divide(f[k], 2), mirrored = divide(conjugate(f[n - k]), 2);
        const number sum = add(own, mirrored);
        const number turned = multiply(subtract(own, mirrored), twiddle[k - 1]);
        put(y, k, half_sum(sum.re, turned.re), half_sum(sum.im, turned.im));
        put(y, n - k, half_difference(sum.re, turned.re), half_difference(turned.im, sum.im));
    }
}

/* The other way round, each value at its place. */
static void put_together(const scalar *x, const number *twiddle, int32_t n, number *f)
{
    number first;
    int32_t k;
    first.re = sum_of(x[0], x[2 * n]);
    first.im = difference_of(x[0], x[2 * n]);
    f[place_of(0, n)] = divide(first, 2);
    for (k = 1; k <= n / 2; k++) {
        const number own = divide(get(x, k), 2), mirrored = divide(conjugate(get(x, n - k)), 2);
        const number even = add(own, mirrored);
        const number odd = multiply(subtract(own, mirrored), twiddle[k - 1]);
        f[place_of(k, n)] = add(even, odd);
        f[place_of(n - k, n)] = conjugate(subtract(even, odd));
    }
}

/* Sample i of x, 0 behind its end. */
static scalar sample(const scalar *x, int32_t count, int32_t i)
{
    if (i < count)
        return x[i];
    return 0;
}

static tw_status run_forward(const tw_call *call)
{
    const tw_signal_rfft_attributes *a = (const tw_signal_rfft_attributes *)call->attributes;
    const int32_t n = a->length / 2, count = tw_signal_length(call->in[0].tensor);
    const int32_t vectors = tw_signal_vectors(call->out[0].tensor);
    number *f = (number *)call->scratch;
    int32_t v, i;
    if (!tw_signal_is_whole(call))
        return TW_E_SCHEDULE;
    for (v = 0; v < vectors; v++) {
        const scalar *x = (const scalar *)call->in[0].data + tw_signal_at(call->in[0].tensor, v);
        for (i = 0; i < n; i++) {
            number *to = &f[place_of(i, n)];
            to->re = sample(x, count, 2 * i);
            to->im = sample(x, count, 2 * i + 1);
        }
        transform(f, (const number *)call->blobs[0].data, n, 0);
        take_apart(f, (const number *)call->blobs[1].data, n,
                   (scalar *)call->out[0].data + tw_signal_at(call->out[0].tensor, v));
    }
    return TW_OK;
}

static tw_status run_inverse(const tw_call *call)
{
    const tw_signal_rfft_attributes *a = (const tw_signal_rfft_attributes *)call->attributes;
    const int32_t n = a->length / 2, vectors = tw_signal_vectors(call->out[0].tensor);
    number *f = (number *)call->scratch;
    int32_t v, i;
    if (!tw_signal_is_whole(call))
        return TW_E_SCHEDULE;
    for (v = 0; v < vectors; v++) {
        scalar *y = (scalar *)call->out[0].data + tw_signal_at(call->out[0].tensor, v);
        put_together((const scalar *)call->in[0].data + tw_signal_at(call->in[0].tensor, v),
                     (const number *)call->blobs[1].data, n, f);
        transform(f, (const number *)call->blobs[0].data, n, 1);
        for (i = 0; i < n; i++)
            put(y, i, at_last(f[i].re, a->length), at_last(f[i].im, a->length));
    }
    return TW_OK;
}

static tw_status check_forward(const tw_call *call, uint64_t *work)
{
    return check_lengths(call, 0, work);
}

static tw_status check_inverse(const tw_call *call, uint64_t *work)
{
    return check_lengths(call, 1, work);
}

/* The signature is a macro, which must be replaced before it is pasted. */
#define TRANSFORM_KERNEL(symbol, signature, run, check) TW_KERNEL(symbol, signature, run, check)
TRANSFORM_KERNEL(signal_rfft, SCALAR_SIGNATURE, run_forward, check_forward);
TRANSFORM_KERNEL(signal_irfft, SCALAR_SIGNATURE, run_inverse, check_inverse);
