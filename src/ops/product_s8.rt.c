/* The int8 loops of product.h: taps laid side by side, dot products, requantisation. In: operands that
 * a kernel's check has verified and pixels whose taps lie inside them. Out: finished results. */
#include "ops/product.h"

#include "backends/arm_dsp.h"
#include "backends/sse2.h"

/* Taps and outputs a round: what the stack holds. STEP: taps that the dot products take at once. */
#ifdef TW_SSE2
enum { PIXELS = TW_PANEL_ROOM, TAPS = 256, OUTPUTS = 32, STEP = 8 };
#elif defined(TW_ARM_DSP)
enum { PIXELS = TW_PANEL_ROOM, TAPS = 128, OUTPUTS = 32, STEP = 4 };
#else
enum { PIXELS = TW_PANEL_ROOM, TAPS = 128, OUTPUTS = 32, STEP = 1 };
#endif

typedef char tw_panel_promise[(int)TW_PANEL_PIXELS <= (int)TW_PANEL_MOST_PIXELS &&
                                      (int)TAPS >= (int)TW_PANEL_COPIED_TAPS &&
                                      (int)OUTPUTS >= (int)TW_PANEL_COPIED_OUTPUTS
                                  ? 1
                                  : -1];

typedef struct tw_round {
    int16_t x[PIXELS][TAPS] __attribute__((aligned(8)));
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

#ifdef TW_ARM_DSP

/* As tw_channels_store where results are held within all of int8: how many it did. */
static __attribute__((noinline)) int32_t store_all(const tw_channels *q, int32_t first,
                                                   const uint32_t *sum, int8_t *y, int32_t n)
{
    const int32_t *multiplier = q->multiplier + first, *shift = q->shift + first;
    const int32_t *bias = q->bias + first;
    const int32_t rounded_zero = 2 * q->out_zero + 1;
    int32_t left, down;
    for (left = n; left > 0; left--) {
        down = ~*shift++;
        if (down < 0)
            break;
        *y++ = tw_requantize_down_s8((int32_t)((uint32_t)*bias++ + *sum++), *multiplier++, down,
                                     rounded_zero);
    }
    return n - left;
}

#endif

void tw_channels_store(const tw_channels *q, int32_t first, const uint32_t *sum, uint32_t less,
                       int8_t *y, int32_t n)
{
    const int32_t *multiplier = q->multiplier + first, *shift = q->shift + first;
    const int32_t *bias = q->bias + first;
    const int32_t low = q->low, high = q->high, out_zero = q->out_zero; /* y might be q */
    int32_t k = 0;
#ifdef TW_SSE2
    for (; k + 8 <= n; k += 8) {
        const tw_s32x4 a = (tw_s32x4)tw_load_u32x4(shift + k);
        const tw_s32x4 b = (tw_s32x4)tw_load_u32x4(shift + k + 4);
        if (tw_any_positive(a, b))
            break;
        tw_store_clamped(
            y + k,
            tw_requantize_s32x4(tw_load_u32x4(sum + k) + tw_load_u32x4(bias + k) - less,
                                tw_load_u32x4(multiplier + k), a),
            tw_requantize_s32x4(tw_load_u32x4(sum + k + 4) + tw_load_u32x4(bias + k + 4) - less,
                                tw_load_u32x4(multiplier + k + 4), b),
            low, high, out_zero);
    }
#elif defined(TW_ARM_DSP)
    if (less == 0 && low + out_zero == INT8_MIN && high + out_zero == INT8_MAX)
        k = store_all(q, first, sum, y, n);
#endif
    for (; k < n; k++) {
        const int32_t v = (int32_t)((uint32_t)bias[k] + sum[k] - less), s = shift[k];
        const int32_t scaled =
            s < 0 ? tw_requantize_down(v, multiplier[k], s) : tw_requantize(v, multiplier[k], s);
        y[k] = (int8_t)(tw_clamp_s32(scaled, low, high) + out_zero);
    }
}

/* ---- taps side by side ---- */

#ifdef TW_ARM_DSP

/* They are laid as bytes and spread then, in the order in which the bytes of a word of weights come out:
 * 0 2 1 3 of every four. */
typedef int8_t tw_lain;

static void lay_run(tw_lain *to, const int8_t *from, int32_t n)
{
    for (; n >= 4; n -= 4, from += 4, to += 4) {
        const uint32_t v = tw_load_word(from);
        __builtin_memcpy(to, &v, sizeof v);
    }
    while (n-- > 0)
        *to++ = *from++;
}

static void spread(int16_t *x, const int8_t *from, int32_t n)
{
    const int8_t *const end = from + n;
    for (; from < end; from += 4, x += 4) {
        const uint32_t v = tw_load_word(from), even = tw_even_bytes(v), odd = tw_odd_bytes(v);
        int16_t *to = (int16_t *)__builtin_assume_aligned(x, 8);
        __builtin_memcpy(to, &even, sizeof even);
        __builtin_memcpy(to + 2, &odd, sizeof odd);
    }
}

#else

typedef int16_t tw_lain;

static void lay_run(tw_lain *to, const int8_t *from, int32_t n)
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
}

#endif

static void fill(tw_lain *to, int32_t value, int32_t n)
{
    int32_t i;
    for (i = 0; i < n; i++)
        to[i] = (tw_lain)value;
}

static int32_t within(int32_t v, int32_t low, int32_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* Are a row's taps one run of bytes, all of them inside? */
static int is_run(const tw_product *p, tw_taps columns)
{
    return columns.last - columns.first == p->columns &&
           (p->columns == 1 || p->x_column == p->depth);
}

/* Taps from .. to - 1 of one row of a kernel. first: the row's first tap inside. */
static void lay_row(const tw_product *p, tw_taps columns, const int8_t *first, int32_t from,
                    int32_t to, int32_t zero, tw_lain *x)
{
    const int32_t left = columns.first * p->depth, right = columns.last * p->depth;
    const int32_t begin = within(left, from, to), end = within(right, begin, to);
    int32_t at = begin, n;
    fill(x, zero, begin - from);
    fill(x + (end - from), zero, to - end);
    for (; at < end; at += n) {
        const int32_t column = at / p->depth, behind = (column + 1) * p->depth;
        n = (p->x_column == p->depth || behind > end ? end : behind) - at;
        lay_run(x + (at - from),
                first + (column - columns.first) * p->x_column + (at - column * p->depth), n);
    }
}

/* Taps from .. from + n - 1 of a kernel, for one pixel. */
static void lay_pixel(const tw_product_s8 *job, const tw_panel *panel, int32_t pixel, int32_t from,
                      int32_t n, tw_lain *x)
{
    const tw_product *p = job->p;
    const tw_taps rows = panel->pixel[pixel].rows, columns = panel->pixel[pixel].columns;
    const int8_t *first = panel->pixel[pixel].x + job->x;
    const int32_t row_taps = p->columns * p->depth; /* 0: nor are there any taps to lay */
    const int run = is_run(p, columns);
    int32_t row = row_taps ? from / row_taps : 0, begin = from - row * row_taps, take;
    for (; n > 0; row++, x += take, n -= take, begin = 0) {
        const int8_t *of_row = first + (row - rows.first) * p->x_row;
        take = n < row_taps - begin ? n : row_taps - begin;
        if (row < rows.first || row >= rows.last)
            fill(x, job->q->in_zero, take);
        else if (run)
            lay_run(x, of_row + begin, take);
        else
            lay_row(p, columns, of_row, begin, begin + take, job->q->in_zero, x);
    }
}

#ifdef TW_ARM_DSP

/* Taps from .. from + n - 1 for one pixel, zeros behind them up to `steps`: spread. Those of a row that
 * is a run are where they are. */
static void lay_steps(const tw_product_s8 *job, const tw_panel *panel, int32_t pixel, int32_t from,
                      int32_t n, int32_t steps, int16_t *x)
{
    const tw_taps rows = panel->pixel[pixel].rows;
    const int8_t *taps = panel->pixel[pixel].x + job->x + from;
    int8_t lain[TAPS];
    if (n != steps || job->p->rows != 1 || rows.first == rows.last ||
        !is_run(job->p, panel->pixel[pixel].columns)) {
        lay_pixel(job, panel, pixel, from, n, lain);
        fill(lain + n, 0, steps - n);
        taps = lain;
    }
    spread(x, taps, steps);
}

#else

static void lay_steps(const tw_product_s8 *job, const tw_panel *panel, int32_t pixel, int32_t from,
                      int32_t n, int32_t steps, int16_t *x)
{
    lay_pixel(job, panel, pixel, from, n, x);
    fill(x + n, 0, steps - n);
}

#endif

/* Taps from .. from + n - 1 of the whole panel. */
static void lay(const tw_product_s8 *job, const tw_panel *panel, int32_t from, int32_t n,
                tw_round *round)
{
    const int32_t steps = (n + STEP - 1) / STEP * STEP;
    int32_t pixel, i;
    if (panel->count == 3) /* the fourth's sums are not used */
        memset(round->x[TW_PANEL_PIXELS - 1], 0, (size_t)steps * sizeof(int16_t));
    for (pixel = 0; pixel < panel->count; pixel++) {
        int16_t *x = round->x[pixel];
        lay_steps(job, panel, pixel, from, n, steps, x);
        if (job->q->w_zero == 0)
            continue;
        round->total[pixel] = from == 0 ? 0 : round->total[pixel];
        for (i = 0; i < steps; i++)
            round->total[pixel] += (uint32_t)(0 + x[i]); /* NOLINT: laid just above */
    }
}

/* ---- dot products: sums of outputs over n taps ---- */

#if defined(TW_SSE2)

enum { GROUP = 4 };

/* Outputs o .. o + GROUP - 1. */
typedef struct tw_group {
    const int8_t *w[GROUP]; /* of each output, from the first tap laid on */
    const int8_t *limit;    /* weights end here */
    int32_t n, o;           /* taps; the first output's place in round->sum */
    int is_first;           /* of the rounds of taps: begins the sums */
} tw_group;

/* The last taps, less than STEP: read as STEP where weights go on that far, since what lies behind
 * meets zeros in x. */
static tw_s16x8 load_rest(const tw_group *g, int32_t k, int32_t whole)
{
    const int8_t *w = g->w[k] + whole;
    int8_t rest[STEP] = {0};
    int32_t i;
    if (g->limit - w >= STEP)
        return tw_widen_low(tw_load_s8x8(w));
    for (i = 0; i < g->n - whole; i++)
        rest[i] = w[i];
    return tw_widen_low(tw_load_s8x8(rest));
}

static void put(tw_round *round, const tw_group *g, int32_t pixel, tw_u32x4 sum)
{
    uint32_t *to = &round->sum[pixel][g->o];
    tw_store_u32x4(to, g->is_first ? sum : tw_load_u32x4(to) + sum);
}

/* Two outputs of four or five pixels by eight taps. */
static TW_INLINE void step(tw_u32x4 a[5], tw_u32x4 b[5], const int16_t *x, tw_s16x8 wa, tw_s16x8 wb,
                           const int pixels)
{
    int q;
    for (q = 0; q < pixels; q++) {
        const tw_s16x8 v = tw_load_s16x8(x + q * TAPS);
        a[q] += tw_pairs(v, wa);
        b[q] += tw_pairs(v, wb);
    }
}

static TW_INLINE void dot_many(tw_round *round, const tw_group *g, const int pixels)
{
    const int16_t *x = round->x[0];
    const int32_t whole = g->n & ~(STEP - 1);
    tw_u32x4 sum[4], fifth[4];
    int32_t i, q, k;
    for (k = 0; k < 4; k += 2) {
        tw_u32x4 a[5] = {{0}, {0}, {0}, {0}, {0}}, b[5] = {{0}, {0}, {0}, {0}, {0}};
        const int8_t *u = g->w[k], *v = g->w[k + 1];
        for (i = 0; i < whole; i += STEP)
            step(a, b, x + i, tw_widen_low(tw_load_s8x8(u + i)), tw_widen_low(tw_load_s8x8(v + i)),
                 pixels);
        if (whole < g->n)
            step(a, b, x + whole, load_rest(g, k, whole), load_rest(g, k + 1, whole), pixels);
        sum[k] = tw_across(a[0], a[1], a[2], a[3]);
        sum[k + 1] = tw_across(b[0], b[1], b[2], b[3]);
        fifth[k] = a[4];
        fifth[k + 1] = b[4];
    }
    tw_transpose(sum);
    for (q = 0; q < 4; q++)
        put(round, g, q, sum[q]);
    if (pixels == 5)
        put(round, g, 4, tw_across(fifth[0], fifth[1], fifth[2], fifth[3]));
}

static void dot4(tw_round *round, const tw_group *g)
{
    dot_many(round, g, 4);
}

/* A function of its own: the rarer, it is to leave the other's registers alone. */
static __attribute__((noinline)) void dot5(tw_round *round, const tw_group *g)
{
    dot_many(round, g, 5);
}

/* Four outputs of one pixel. */
static void dot1(tw_round *round, const tw_group *g, int32_t pixel)
{
    const int16_t *x = round->x[pixel];
    const int32_t whole = g->n & ~(STEP - 1);
    tw_u32x4 sum[4] = {{0}, {0}, {0}, {0}};
    int32_t i, k;
    for (i = 0; i < whole; i += STEP) {
        const tw_s16x8 v = tw_load_s16x8(x + i);
        for (k = 0; k < 4; k++)
            sum[k] += tw_pairs(v, tw_widen_low(tw_load_s8x8(g->w[k] + i)));
    }
    if (whole < g->n) {
        const tw_s16x8 v = tw_load_s16x8(x + whole);
        for (k = 0; k < 4; k++)
            sum[k] += tw_pairs(v, load_rest(g, k, whole));
    }
    put(round, g, pixel, tw_across(sum[0], sum[1], sum[2], sum[3]));
}

static void dot(tw_round *round, const tw_group *g, int32_t pixels)
{
    int32_t q;
    if (pixels == 5)
        dot5(round, g);
    else if (pixels > 2)
        dot4(round, g);
    else
        for (q = 0; q < pixels; q++)
            dot1(round, g, q);
}

/* Sums of `count` outputs from `begin` on over n taps from `from` on. */
static void sum_outputs(const tw_product_s8 *job, const tw_panel *panel, int32_t begin,
                        int32_t count, int32_t from, int32_t n, tw_round *round)
{
    tw_group g;
    int32_t k;
    g.limit = job->w + job->room;
    g.n = n;
    g.is_first = from == 0;
    for (g.o = 0; g.o < count; g.o += GROUP) {
        for (k = 0; k < GROUP; k++) { /* the last one stands in for those that are not there */
            const int32_t output = begin + (g.o + k < count ? g.o + k : count - 1);
            g.w[k] = job->w + output * job->p->w_output + from;
        }
        dot(round, &g, panel->count);
    }
}

#else

#ifdef TW_ARM_DSP

/* One output of one or two pixels by four taps. */
static TW_INLINE void step(uint32_t sum[2], const uint32_t taps[4], uint32_t w, const int pixels)
{
    const uint32_t even = tw_even_bytes(w), odd = tw_odd_bytes(w);
    int q;
    for (q = 0; q < pixels; q++)
        sum[q] = tw_add_products(taps[2 * q], even, sum[q]);
    for (q = 0; q < pixels; q++)
        sum[q] = tw_add_products(taps[2 * q + 1], odd, sum[q]);
}

/* n: a multiple of STEP. */
static TW_INLINE void add_taps(uint32_t a[2], uint32_t b[2], const int16_t *x, const int8_t *u,
                               const int8_t *v, int32_t n, const int pixels)
{
    const int16_t *const end = x + n;
    for (; x < end; x += STEP, u += STEP, v += STEP) {
        const int16_t *from = (const int16_t *)__builtin_assume_aligned(x, 8);
        uint32_t taps[4];
        int q;
        for (q = 0; q < pixels; q++) {
            taps[2 * q] = tw_load_word(from + q * TAPS);
            taps[2 * q + 1] = tw_load_word(from + q * TAPS + 2);
        }
        step(a, taps, tw_load_word(u), pixels);
        __asm__("" : "+r"(v), "+r"(a[0])); /* not before: registers are few */
        step(b, taps, tw_load_word(v), pixels);
    }
}

#elif defined(__ARM_ARCH_6M__)

/* One pixel after the other: eight registers hold no more. */
static TW_INLINE void add_taps(uint32_t a[2], uint32_t b[2], const int16_t *x, const int8_t *u,
                               const int8_t *v, int32_t n, const int pixels)
{
    int q;
    for (q = 0; q < pixels; q++, x += TAPS) {
        uint32_t to_a = 0, to_b = 0;
        int32_t i;
        for (i = 0; i < n; i++) {
            const int32_t tap = x[i];
            to_a += (uint32_t)(tap * u[i]);
            to_b += (uint32_t)(tap * v[i]);
        }
        a[q] += to_a;
        b[q] += to_b;
    }
}

#else

static TW_INLINE void add_taps(uint32_t a[2], uint32_t b[2], const int16_t *x, const int8_t *u,
                               const int8_t *v, int32_t n, const int pixels)
{
    int32_t i;
    int q;
    for (i = 0; i < n; i++)
        for (q = 0; q < pixels; q++) {
            a[q] += (uint32_t)(x[i + q * TAPS] * u[i]);
            b[q] += (uint32_t)(x[i + q * TAPS] * v[i]);
        }
}

#endif

/* Pairs of outputs. */
typedef struct tw_output_pairs {
    const int8_t *u, *v; /* weights of the first two from the first tap laid on */
    ptrdiff_t next;      /* to those of the next two */
    int32_t n, o, count; /* taps; the first output's place in round->sum, outputs */
    int is_first;        /* of the rounds of taps: begins the sums */
} tw_output_pairs;

static TW_INLINE void sum_pairs(tw_round *round, const tw_output_pairs *g, const int pixels)
{
    const int8_t *u = g->u, *v = g->v;
    uint32_t *to = &round->sum[0][g->o], *const end = to + g->count;
    const int32_t n = g->n;
    int q;
    for (; to < end; to += 2, u += g->next, v += g->next) {
        uint32_t a[2] = {0, 0}, b[2] = {0, 0};
        add_taps(a, b, round->x[0], u, v, n, pixels);
        for (q = 0; q < pixels; q++) {
            to[q * OUTPUTS] = a[q] + (g->is_first ? 0 : to[q * OUTPUTS]);
            to[q * OUTPUTS + 1] = b[q] + (g->is_first ? 0 : to[q * OUTPUTS + 1]);
        }
    }
}

/* Functions of their own, so that the loops have all registers. */
static __attribute__((noinline)) void sums_of_one(tw_round *round, const tw_output_pairs *g)
{
    sum_pairs(round, g, 1);
}

static __attribute__((noinline)) void sums_of_two(tw_round *round, const tw_output_pairs *g)
{
    sum_pairs(round, g, 2);
}

/* Two outputs, or the last alone, of which weights must not be read in whole steps: then a copy is. */
static void pair_up(tw_output_pairs *g, const int8_t *limit, int32_t n, int is_alone,
                    int8_t copy[STEP + TAPS])
{
    g->count = 2;
    if (is_alone)
        g->v = g->u;
    else if (limit - g->u < g->n) {
        memcpy(copy, g->u, (size_t)n); /* less than a step: the other's are behind them */
        g->u = copy;
    }
    if (limit - g->v < g->n) {
        memcpy(copy + STEP, g->v, (size_t)n);
        g->v = copy + STEP;
    }
    if (is_alone)
        g->u = g->v;
}

/* Sums of `count` outputs from `begin` on over n taps from `from` on. */
static void sum_outputs(const tw_product_s8 *job, const tw_panel *panel, int32_t begin,
                        int32_t count, int32_t from, int32_t n, tw_round *round)
{
    const ptrdiff_t w_output = job->p->w_output;
    const int8_t *const w = job->w + begin * w_output + from, *const limit = job->w + job->room;
    int8_t copy[STEP + TAPS];
    tw_output_pairs g;
    g.next = 2 * w_output;
    g.n = (n + STEP - 1) & ~(STEP - 1); /* what lies behind meets zeros in x */
    g.is_first = from == 0;
    for (g.o = 0; g.o < count; g.o += g.count) {
        g.u = w + g.o * w_output;
        g.v = g.u + w_output;
        g.count = (count - g.o) & ~1;
        while (g.count > 0 && limit - g.u - (g.count - 1) * w_output < g.n)
            g.count -= 2;
        if (g.count == 0)
            pair_up(&g, limit, n, count - g.o == 1, copy);
        if (panel->count == 1)
            sums_of_one(round, &g);
        else
            sums_of_two(round, &g);
    }
}

#endif

/* ---- the panel ---- */

void tw_product_panel(const tw_product_s8 *job, const tw_panel *panel)
{
    const tw_product *p = job->p;
    const int32_t taps = p->rows * p->columns * p->depth;
    tw_round round;
    int32_t begin, from, q;
    for (q = 0; q < panel->count; q++)
        round.total[q] = 0;
    for (begin = 0; begin < job->outputs; begin += OUTPUTS) {
        const int32_t left = job->outputs - begin, count = left < OUTPUTS ? left : OUTPUTS;
        from = 0;
        do { /* once where there are no taps at all */
            const int32_t n = taps - from < TAPS ? taps - from : TAPS;
            if (begin == 0 || taps > TAPS)
                lay(job, panel, from, n, &round);
            sum_outputs(job, panel, begin, count, from, n, &round);
            from += n;
        } while (from < taps);
        for (q = 0; q < panel->count; q++)
            tw_channels_store(job->q, job->first + begin, round.sum[q],
                              (uint32_t)job->q->w_zero * round.total[q],
                              panel->pixel[q].y + job->y + begin, count);
    }
}

void tw_product_sums(const tw_product_s8 *job, const int8_t *x, uint32_t *sum)
{
    const int32_t taps = job->p->depth;
    tw_product_s8 part = *job;
    tw_panel panel;
    tw_round round;
    int32_t begin, from, n, k;
    memset(&panel, 0, sizeof panel);
    panel.count = panel.pixel[0].rows.last = panel.pixel[0].columns.last = 1;
    panel.pixel[0].x = x;
    for (from = 0; from < taps; from += n, part.w += n, part.room -= n) {
        n = taps - from < TAPS ? taps - from : TAPS;
        round.total[0] = 0;
        lay(job, &panel, from, n, &round);
        for (begin = 0; begin < job->outputs; begin += OUTPUTS) {
            const int32_t left = job->outputs - begin, count = left < OUTPUTS ? left : OUTPUTS;
            sum_outputs(&part, &panel, begin, count, 0, n, &round);
            for (k = 0; k < count; k++)
                sum[begin + k] += round.sum[0][k] - (uint32_t)job->q->w_zero * round.total[0];
        }
    }
}
