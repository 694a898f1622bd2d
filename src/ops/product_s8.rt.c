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
#endif
    for (; k < n; k++) {
        const int32_t v = (int32_t)((uint32_t)bias[k] + sum[k] - less), s = shift[k];
        const int32_t scaled =
            s < 0 ? tw_requantize_down(v, multiplier[k], s) : tw_requantize(v, multiplier[k], s);
        y[k] = (int8_t)(tw_clamp_s32(scaled, low, high) + out_zero);
    }
}

/* ---- taps side by side ---- */

/* Where tap i of a pixel is. With the DSP extension the taps of every four are in the order 0 2 1 3,
 * which is how the bytes of a word of weights come out. */
static inline int32_t place(int32_t i)
{
#ifdef TW_ARM_DSP
    return (i & ~3) | (i & 1) << 1 | (i >> 1 & 1);
#else
    return i;
#endif
}

static void fill(int16_t *x, int32_t at, int32_t value, int32_t n)
{
    int32_t i;
    for (i = at; i < at + n; i++)
        x[place(i)] = (int16_t)value;
}

static void widen(int16_t *x, int32_t at, const int8_t *from, int32_t n)
{
    const int32_t end = at + n;
#if defined(TW_SSE2)
    for (; at + 8 <= end; at += 8, from += 8) {
        const tw_s16x8 v = tw_widen_low(tw_load_s8x8(from));
        __builtin_memcpy(x + at, &v, sizeof v);
    }
#elif defined(TW_ARM_DSP)
    for (; at < end && (at & 3) != 0; at++)
        x[place(at)] = *from++;
    for (; at + 4 <= end; at += 4, from += 4) {
        const uint32_t v = tw_load_word(from), even = tw_even_bytes(v), odd = tw_odd_bytes(v);
        __builtin_memcpy(x + at, &even, sizeof even);
        __builtin_memcpy(x + at + 2, &odd, sizeof odd);
    }
#endif
    for (; at < end; at++)
        x[place(at)] = *from++;
}

static int32_t within(int32_t v, int32_t low, int32_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* Taps from .. to - 1 of one row of a kernel, laid from `at` on. first: the row's first tap inside. */
static void lay_row(const tw_product *p, tw_taps columns, const int8_t *first, int32_t from,
                    int32_t to, int32_t zero, int16_t *x, int32_t at)
{
    const int32_t left = columns.first * p->depth, right = columns.last * p->depth;
    int32_t begin = within(left, from, to), end = within(right, begin, to), n;
    if (begin > from)
        fill(x, at, zero, begin - from);
    if (to > end)
        fill(x, at + (end - from), zero, to - end);
    if (p->x_column == p->depth) {
        widen(x, at + (begin - from), first + (begin - left), end - begin);
        return;
    }
    for (; begin < end; begin += n) {
        const int32_t column = begin / p->depth, behind = (column + 1) * p->depth;
        n = (behind < end ? behind : end) - begin;
        widen(x, at + (begin - from),
              first + (column - columns.first) * p->x_column + (begin - column * p->depth), n);
    }
}

/* Taps from .. from + n - 1 of a kernel, for one pixel. */
static void lay_pixel(const tw_product_s8 *job, const tw_panel *panel, int32_t pixel, int32_t from,
                      int32_t n, int16_t *x)
{
    const tw_product *p = job->p;
    const tw_taps rows = panel->pixel[pixel].rows, columns = panel->pixel[pixel].columns;
    const int8_t *first = panel->pixel[pixel].x + job->x;
    const int32_t row_taps = p->columns * p->depth; /* 0: nor are there any taps to lay */
    int32_t row = row_taps ? from / row_taps : 0, begin = from - row * row_taps, at = 0, take;
    for (; at < n; row++, at += take, begin = 0) {
        take = n - at < row_taps - begin ? n - at : row_taps - begin;
        if (row >= rows.first && row < rows.last)
            lay_row(p, columns, first + (row - rows.first) * p->x_row, begin, begin + take,
                    job->q->in_zero, x, at);
        else
            fill(x, at, job->q->in_zero, take);
    }
}

/* Taps from .. from + n - 1 of the whole panel, zeros behind them up to a whole step. */
static void lay(const tw_product_s8 *job, const tw_panel *panel, int32_t from, int32_t n,
                tw_round *round)
{
    const int32_t steps = (n + STEP - 1) / STEP * STEP;
    int32_t pixel, i;
    if (panel->count == 3) /* the fourth's sums are not used */
        fill(round->x[TW_PANEL_PIXELS - 1], 0, 0, steps);
    for (pixel = 0; pixel < panel->count; pixel++) {
        int16_t *x = round->x[pixel];
        fill(x, n, 0, steps - n);
        lay_pixel(job, panel, pixel, from, n, x);
        if (job->q->w_zero == 0)
            continue;
        round->total[pixel] = from == 0 ? 0 : round->total[pixel];
        for (i = 0; i < steps; i++)
            round->total[pixel] += (uint32_t)(0 + x[i]); /* NOLINT: laid just above */
    }
}

/* ---- dot products: sums of outputs o .. o + GROUP - 1 over n taps ---- */

/* What the dot products of a group are given. */
typedef struct tw_group {
    const int8_t *w[4];  /* of each output, from the first tap laid on */
    const int8_t *limit; /* weights end here */
    int32_t n, o;        /* taps; the first output's place in round->sum */
    int is_first;        /* of the rounds of taps: begins the sums */
} tw_group;

#if defined(TW_SSE2)

enum { GROUP = 4 };

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

#else

enum { GROUP = 2 };

#ifdef TW_ARM_DSP

/* As above, of four taps. */
static uint32_t load_rest(const tw_group *g, int32_t k, int32_t whole)
{
    const int8_t *w = g->w[k] + whole;
    uint32_t v = 0;
    int32_t i;
    if (g->limit - w >= STEP)
        return tw_load_word(w);
    for (i = g->n - whole; i-- > 0;)
        v = v << 8 | (uint8_t)w[i];
    return v;
}

/* Four taps of two outputs. */
typedef struct tw_word_pair {
    uint32_t u_even, u_odd, v_even, v_odd;
} tw_word_pair;

static TW_INLINE tw_word_pair word_pair(uint32_t u, uint32_t v)
{
    tw_word_pair w;
    w.u_even = tw_even_bytes(u);
    w.u_odd = tw_odd_bytes(u);
    w.v_even = tw_even_bytes(v);
    w.v_odd = tw_odd_bytes(v);
    return w;
}

static TW_INLINE void step(uint32_t *u_sum, uint32_t *v_sum, const int16_t *x, tw_word_pair w)
{
    const uint32_t *taps = (const uint32_t *)__builtin_assume_aligned(x, 8);
    const uint32_t even = tw_load_word(taps), odd = tw_load_word(taps + 1);
    *u_sum = tw_add_products(odd, w.u_odd, tw_add_products(even, w.u_even, *u_sum));
    *v_sum = tw_add_products(odd, w.v_odd, tw_add_products(even, w.v_even, *v_sum));
}

/* Functions of their own, so that the loops have all registers. */
static __attribute__((noinline)) void sums_of_one(const tw_round *round, const tw_group *g,
                                                  uint32_t sum[4])
{
    const int32_t whole = g->n & ~(STEP - 1);
    const int16_t *x = round->x[0], *const end = x + whole;
    const int8_t *u = g->w[0], *v = g->w[1];
    uint32_t a = 0, b = 0;
    for (; x < end; x += STEP, u += STEP, v += STEP)
        step(&a, &b, x, word_pair(tw_load_word(u), tw_load_word(v)));
    if (whole < g->n)
        step(&a, &b, x, word_pair(load_rest(g, 0, whole), load_rest(g, 1, whole)));
    sum[0] = a;
    sum[1] = b;
}

static __attribute__((noinline)) void sums_of_two(const tw_round *round, const tw_group *g,
                                                  uint32_t sum[4])
{
    const int32_t whole = g->n & ~(STEP - 1);
    const int16_t *x = round->x[0], *const end = x + whole;
    const int8_t *u = g->w[0], *v = g->w[1];
    uint32_t a = 0, b = 0, c = 0, d = 0;
    tw_word_pair w;
    for (; x < end; x += STEP, u += STEP, v += STEP) {
        w = word_pair(tw_load_word(u), tw_load_word(v));
        step(&a, &b, x, w);
        step(&c, &d, x + TAPS, w);
    }
    if (whole < g->n) {
        w = word_pair(load_rest(g, 0, whole), load_rest(g, 1, whole));
        step(&a, &b, x, w);
        step(&c, &d, x + TAPS, w);
    }
    sum[0] = a;
    sum[1] = b;
    sum[2] = c;
    sum[3] = d;
}

#else

static void sums_of_one(const tw_round *round, const tw_group *g, uint32_t sum[4])
{
    const int16_t *x = round->x[0];
    const int8_t *u = g->w[0], *v = g->w[1];
    const int32_t n = g->n;
    uint32_t a = 0, b = 0;
    int32_t i;
    for (i = 0; i < n; i++) {
        a += (uint32_t)(x[i] * u[i]);
        b += (uint32_t)(x[i] * v[i]);
    }
    sum[0] = a;
    sum[1] = b;
}

static void sums_of_two(const tw_round *round, const tw_group *g, uint32_t sum[4])
{
    const int16_t *x = round->x[0];
    const int8_t *u = g->w[0], *v = g->w[1];
    const int32_t n = g->n;
    uint32_t a = 0, b = 0, c = 0, d = 0;
    int32_t i;
    for (i = 0; i < n; i++) {
        const int32_t s = x[i], t = x[i + TAPS];
        a += (uint32_t)(s * u[i]);
        b += (uint32_t)(s * v[i]);
        c += (uint32_t)(t * u[i]);
        d += (uint32_t)(t * v[i]);
    }
    sum[0] = a;
    sum[1] = b;
    sum[2] = c;
    sum[3] = d;
}

#endif

static void dot(tw_round *round, const tw_group *g, int32_t pixels)
{
    uint32_t sum[4];
    int32_t q;
    (pixels == 1 ? sums_of_one : sums_of_two)(round, g, sum);
    for (q = 0; q < pixels; q++) {
        uint32_t *to = &round->sum[q][g->o];
        to[0] = sum[2 * q] + (g->is_first ? 0 : to[0]);
        to[1] = sum[2 * q + 1] + (g->is_first ? 0 : to[1]);
    }
}

#endif

/* ---- the panel ---- */

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
