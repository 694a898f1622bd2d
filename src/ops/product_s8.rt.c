/* The int8 loops of product.h: taps laid side by side, dot products, requantisation. In: operands that
 * a kernel's check has verified and pixels whose taps lie inside them. Out: finished results. */
#include "ops/product.h"

#include "backends/sse2.h"

/* Taps and outputs a round: what the stack holds. STEP: taps that the dot products take at once. */
#ifdef TW_SSE2
enum { PIXELS = TW_PANEL_PIXELS, TAPS = 256, OUTPUTS = 32, STEP = 8 };
#else
enum { PIXELS = TW_PANEL_PIXELS, TAPS = 128, OUTPUTS = 16, STEP = 1 };
#endif

typedef struct tw_round {
    int16_t x[PIXELS][TAPS];
    uint32_t sum[PIXELS][OUTPUTS];
    uint32_t total[PIXELS]; /* of all taps, where the weights have a zero point */
} tw_round;

/* ---- tables ---- */

int tw_channels_check(const tw_call *call, int32_t channels)
{
    const int32_t *multiplier, *shift;
    int32_t i;
    if (call->blob_count != TW_BLOB_COUNT)
        return 0;
    for (i = 0; i < TW_BLOB_COUNT; i++)
        if (call->blobs[i].bytes / 4u < (uint32_t)channels ||
            ((uintptr_t)call->blobs[i].data & 3u) != 0)
            return 0;
    multiplier = (const int32_t *)call->blobs[TW_BLOB_MULTIPLIER].data;
    shift = (const int32_t *)call->blobs[TW_BLOB_SHIFT].data;
    for (i = 0; i < channels; i++)
        if (multiplier[i] < 0 || shift[i] < -31 || shift[i] > 30)
            return 0;
    return call->in[0].tensor->zero_point >= INT8_MIN &&
           call->in[0].tensor->zero_point <= INT8_MAX &&
           call->out[0].tensor->zero_point >= INT8_MIN &&
           call->out[0].tensor->zero_point <= INT8_MAX && call->clamp_low.s32 >= INT8_MIN &&
           call->clamp_low.s32 <= call->clamp_high.s32 && call->clamp_high.s32 <= INT8_MAX;
}

void tw_channels_of(const tw_call *call, tw_channels *q)
{
    q->multiplier = (const int32_t *)call->blobs[TW_BLOB_MULTIPLIER].data;
    q->shift = (const int32_t *)call->blobs[TW_BLOB_SHIFT].data;
    q->bias = (const int32_t *)call->blobs[TW_BLOB_BIAS].data;
    q->in_zero = call->in[0].tensor->zero_point;
    q->w_zero = 0;
    q->out_zero = call->out[0].tensor->zero_point;
    q->low = call->clamp_low.s32 - q->out_zero;
    q->high = call->clamp_high.s32 - q->out_zero;
}

void tw_channels_store(const tw_channels *q, int32_t first, const uint32_t *sum, uint32_t less,
                       int8_t *y, int32_t n)
{
    int32_t k = 0;
#ifdef TW_SSE2
    for (; k + 8 <= n; k += 8) {
        const int32_t *bias = q->bias + first + k, *shift = q->shift + first + k;
        const int32_t *multiplier = q->multiplier + first + k;
        const tw_s32x4 a = (tw_s32x4)tw_load_u32x4(shift), b = (tw_s32x4)tw_load_u32x4(shift + 4);
        if (tw_any_positive(a, b))
            break;
        tw_store_clamped(
            y + k,
            tw_requantize_s32x4(tw_load_u32x4(sum + k) + tw_load_u32x4(bias) - less,
                                tw_load_u32x4(multiplier), a),
            tw_requantize_s32x4(tw_load_u32x4(sum + k + 4) + tw_load_u32x4(bias + 4) - less,
                                tw_load_u32x4(multiplier + 4), b),
            q->low, q->high, q->out_zero);
    }
#endif
    for (; k < n; k++)
        y[k] = tw_channels_finish(q, first + k, (uint32_t)q->bias[first + k] + sum[k] - less);
}

/* ---- taps side by side ---- */

static int16_t *fill(int16_t *to, int32_t value, int32_t n)
{
    int32_t i;
    for (i = 0; i < n; i++)
        to[i] = (int16_t)value;
    return to + n;
}

static int16_t *widen(int16_t *to, const int8_t *from, int32_t n)
{
    int32_t i = 0;
#ifdef TW_SSE2
    for (; i + 8 <= n; i += 8) {
        const tw_s16x8 v = tw_widen_low(tw_load_s8x8(from + i));
        __builtin_memcpy(to + i, &v, sizeof v);
    }
#endif
    for (; i < n; i++)
        to[i] = from[i];
    return to + n;
}

static int32_t within(int32_t v, int32_t low, int32_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* Taps from .. to - 1 of one row of a kernel. x: the row's first tap inside. */
static void lay_row(const tw_product *p, tw_taps columns, const int8_t *x, int32_t from, int32_t to,
                    int32_t zero, int16_t *out)
{
    const int32_t left = columns.first * p->depth, right = columns.last * p->depth;
    int32_t at = within(left, from, to), end = within(right, at, to);
    out = fill(out, zero, at - from);
    if (p->x_column == p->depth) {
        out = widen(out, x + (at - left), end - at);
    } else {
        while (at < end) {
            const int32_t column = at / p->depth, behind = (column + 1) * p->depth;
            const int32_t n = (behind < end ? behind : end) - at;
            out = widen(out, x + (column - columns.first) * p->x_column + (at - column * p->depth),
                        n);
            at += n;
        }
    }
    fill(out, zero, to - end);
}

/* Taps from .. from + n - 1 of a kernel, for one pixel. */
static void lay_pixel(const tw_product *p, const tw_panel *panel, int32_t pixel, ptrdiff_t x,
                      int32_t zero, int32_t from, int32_t n, int16_t *out)
{
    static const tw_taps none = {0, 0};
    const tw_taps rows = panel->pixel[pixel].rows;
    const int32_t row_taps = p->columns * p->depth;
    int32_t row = from / row_taps, at = from - row * row_taps;
    for (; n > 0; row++, at = 0) {
        const int32_t take = n < row_taps - at ? n : row_taps - at;
        if (row >= rows.first && row < rows.last)
            lay_row(p, panel->pixel[pixel].columns,
                    panel->pixel[pixel].x + x + (row - rows.first) * p->x_row, at, at + take, zero,
                    out);
        else
            lay_row(p, none, NULL, at, at + take, zero, out);
        out += take;
        n -= take;
    }
}

static void lay(const tw_product_s8 *job, const tw_panel *panel, int32_t from, int32_t n,
                tw_round *round)
{
    int32_t pixel, i;
    for (pixel = 0; pixel < panel->count; pixel++) {
        int16_t *x = round->x[pixel];
        lay_pixel(job->p, panel, pixel, job->x, job->q->in_zero, from, n, x);
        fill(x + n, 0, (STEP - n % STEP) % STEP);
        if (job->q->w_zero != 0)
            for (i = 0; i < n; i++)
                round->total[pixel] += (uint32_t)(0 + x[i]);
    }
}

/* ---- dot products: sums of outputs o .. o + GROUP - 1 over n taps ---- */

/* The weights of a group of outputs; where fewer are left the last one stands in for the others. */
typedef struct tw_rows_s8 {
    const int8_t *w[4];
} tw_rows_s8;

#ifdef TW_SSE2

enum { GROUP = 4 };

/* The last taps, less than STEP: read as STEP where there is room, since what lies behind meets zeros
 * in x. */
static tw_s16x8 load_rest(const int8_t *w, int32_t n, ptrdiff_t room)
{
    int8_t rest[STEP] = {0};
    int32_t i;
    if (room >= STEP)
        return tw_widen_low(tw_load_s8x8(w));
    for (i = 0; i < n; i++)
        rest[i] = w[i];
    return tw_widen_low(tw_load_s8x8(rest));
}

/* Two outputs of four pixels by eight taps. */
static TW_INLINE void step4(tw_u32x4 a[4], tw_u32x4 b[4], const int16_t *x, tw_s16x8 wa,
                            tw_s16x8 wb)
{
    int q;
    for (q = 0; q < 4; q++) {
        const tw_s16x8 v = tw_load_s16x8(x + q * TAPS);
        a[q] += tw_pairs(v, wa);
        b[q] += tw_pairs(v, wb);
    }
}

static void dot4(tw_round *round, const int8_t *const w[4], const ptrdiff_t room[4], int32_t n,
                 int32_t o)
{
    const int16_t *x = round->x[0];
    const int32_t whole = n & ~(STEP - 1);
    tw_u32x4 sum[4];
    int32_t i, q, k;
    for (k = 0; k < 4; k += 2) {
        tw_u32x4 a[4] = {{0}, {0}, {0}, {0}}, b[4] = {{0}, {0}, {0}, {0}};
        for (i = 0; i < whole; i += STEP)
            step4(a, b, x + i, tw_widen_low(tw_load_s8x8(w[k] + i)),
                  tw_widen_low(tw_load_s8x8(w[k + 1] + i)));
        if (whole < n)
            step4(a, b, x + whole, load_rest(w[k] + whole, n - whole, room[k] - whole),
                  load_rest(w[k + 1] + whole, n - whole, room[k + 1] - whole));
        sum[k] = tw_across(a[0], a[1], a[2], a[3]);
        sum[k + 1] = tw_across(b[0], b[1], b[2], b[3]);
    }
    tw_transpose(sum);
    for (q = 0; q < 4; q++)
        tw_store_u32x4(&round->sum[q][o], tw_load_u32x4(&round->sum[q][o]) + sum[q]);
}

/* Four outputs of one pixel. */
static void dot1(tw_round *round, const int8_t *const w[4], const ptrdiff_t room[4], int32_t n,
                 int32_t o, int32_t pixel)
{
    const int16_t *x = round->x[pixel];
    const int32_t whole = n & ~(STEP - 1);
    tw_u32x4 sum[4] = {{0}, {0}, {0}, {0}};
    int32_t i, k;
    for (i = 0; i < whole; i += STEP) {
        const tw_s16x8 v = tw_load_s16x8(x + i);
        for (k = 0; k < 4; k++)
            sum[k] += tw_pairs(v, tw_widen_low(tw_load_s8x8(w[k] + i)));
    }
    if (whole < n) {
        const tw_s16x8 v = tw_load_s16x8(x + whole);
        for (k = 0; k < 4; k++)
            sum[k] += tw_pairs(v, load_rest(w[k] + whole, n - whole, room[k] - whole));
    }
    tw_store_u32x4(&round->sum[pixel][o], tw_load_u32x4(&round->sum[pixel][o]) +
                                              tw_across(sum[0], sum[1], sum[2], sum[3]));
}

static void dot(tw_round *round, const int8_t *const w[GROUP], const ptrdiff_t room[GROUP],
                int32_t n, int32_t o, int32_t pixels)
{
    int32_t q;
    if (pixels > 2)
        dot4(round, w, room, n, o);
    else
        for (q = 0; q < pixels; q++)
            dot1(round, w, room, n, o, q);
}

#else

enum { GROUP = 2 };

static void dot(tw_round *round, const int8_t *const w[GROUP], const ptrdiff_t room[GROUP],
                int32_t n, int32_t o, int32_t pixels)
{
    const int16_t *x = round->x[0];
    const int8_t *u = w[0], *v = w[1];
    uint32_t a = 0, b = 0, c = 0, d = 0;
    int32_t i;
    (void)room;
    if (pixels == 1) {
        for (i = 0; i < n; i++) {
            const int32_t s = x[i];
            a += (uint32_t)(s * u[i]);
            b += (uint32_t)(s * v[i]);
        }
    } else {
        for (i = 0; i < n; i++) {
            const int32_t s = x[i], t = x[i + TAPS];
            a += (uint32_t)(s * u[i]);
            b += (uint32_t)(s * v[i]);
            c += (uint32_t)(t * u[i]);
            d += (uint32_t)(t * v[i]);
        }
        round->sum[1][o] += c;
        round->sum[1][o + 1] += d;
    }
    round->sum[0][o] += a;
    round->sum[0][o + 1] += b;
}

#endif

/* ---- the panel ---- */

/* Sums of `count` outputs from `begin` on over n taps from `from` on. */
static void sum_outputs(const tw_product_s8 *job, const tw_panel *panel, int32_t begin,
                        int32_t count, int32_t from, int32_t n, tw_round *round)
{
    const int8_t *w[GROUP];
    ptrdiff_t room[GROUP];
    int32_t o, k;
    for (o = 0; o < count; o += GROUP) {
        for (k = 0; k < GROUP; k++) {
            const ptrdiff_t at = (begin + (o + k < count ? o + k : count - 1)) * job->p->w_output;
            w[k] = job->w + at + from;
            room[k] = job->room - at - from;
        }
        dot(round, w, room, n, o, panel->count);
    }
}

void tw_product_panel(const tw_product_s8 *job, const tw_panel *panel)
{
    const tw_product *p = job->p;
    const int32_t taps = p->rows * p->columns * p->depth;
    tw_round round;
    int32_t begin, from, q;
    for (begin = 0; begin < job->outputs; begin += OUTPUTS) {
        const int32_t left = job->outputs - begin, count = left < OUTPUTS ? left : OUTPUTS;
        memset(round.sum, 0, (size_t)panel->count * sizeof round.sum[0]);
        if (begin == 0 || taps > TAPS)
            memset(round.total, 0, sizeof round.total);
        for (from = 0; from < taps; from += TAPS) {
            const int32_t n = taps - from < TAPS ? taps - from : TAPS;
            if (begin == 0 || taps > TAPS)
                lay(job, panel, from, n, &round);
            sum_outputs(job, panel, begin, count, from, n, &round);
        }
        for (q = 0; q < panel->count; q++)
            tw_channels_store(job->q, job->first + begin, round.sum[q],
                              (uint32_t)job->q->w_zero * round.total[q],
                              panel->pixel[q].y + job->y + begin, count);
    }
}
