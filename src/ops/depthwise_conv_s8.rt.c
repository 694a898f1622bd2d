/* Depthwise convolution in int8. Pixels come in panels (product.h), so that a block of channels'
 * weights, once made ready, serve several, those at the border too. */
#include "ops/depthwise_job.h"

#include "backends/sse2.h"
#include "ops/codes.h"
#include "ops/packed.h"

enum { BLOCK = TW_DEPTHWISE_BLOCK };

typedef struct tw_depthwise_s8 {
    tw_depthwise_job job;
    tw_channels channels;
    tw_range round;  /* the channels whose weights are there ... */
    const int8_t *w; /* ... those of round.begin here */
    tw_panel *panel;
} tw_depthwise_s8;

static tw_status check_s8(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_depthwise_check(call, TW_S8, TW_S8, work);
    return status == TW_OK && !tw_channels_check(call, tw_depthwise_outputs(call)) ? TW_E_CHECK
                                                                                   : status;
}

static int is_inside(const tw_panel *panel, int32_t pixel, int32_t row, int32_t column)
{
    const tw_taps rows = panel->pixel[pixel].rows, columns = panel->pixel[pixel].columns;
    return row >= rows.first && row < rows.last && column >= columns.first && column < columns.last;
}

/* ---- any kernel, any number of channels ---- */

/* Padding counts as the zero point, which the folded bias takes away again. */
static void add_padding(const tw_depthwise_s8 *all, int32_t pixel, const int8_t *w, uint32_t *sum,
                        int32_t n)
{
    const tw_depthwise_job *job = &all->job;
    const int32_t zero = all->channels.in_zero;
    int32_t i, j, k;
    for (i = 0; i < job->rows; i++)
        for (j = 0; j < job->columns; j++) {
            const int8_t *by = w + i * job->w_row + j * job->w_column;
            if (!is_inside(all->panel, pixel, i, j))
                for (k = 0; k < n; k++)
                    sum[k] += (uint32_t)(zero * by[k]);
        }
}

/* The taps inside: sums of four channels, or of one. */
static void four_channels(const tw_depthwise_job *job, tw_taps rows, tw_taps columns,
                          const int8_t *x, const int8_t *w, const int x_step, uint32_t *sum)
{
    uint32_t a = 0, b = 0, c = 0, d = 0;
    int32_t i, j;
    for (i = rows.first; i < rows.last; i++, x += job->x_row) {
        const int8_t *from = x, *by = w + i * job->w_row + columns.first * job->w_column;
        for (j = columns.first; j < columns.last; j++, from += job->x_column, by += job->w_column) {
            a += (uint32_t)(from[0] * by[0]);
            b += (uint32_t)(from[x_step] * by[1]);
            c += (uint32_t)(from[2 * x_step] * by[2]);
            d += (uint32_t)(from[3 * x_step] * by[3]);
        }
    }
    sum[0] = a;
    sum[1] = b;
    sum[2] = c;
    sum[3] = d;
}

static uint32_t one_channel(const tw_depthwise_job *job, tw_taps rows, tw_taps columns,
                            const int8_t *x, const int8_t *w)
{
    uint32_t sum = 0;
    int32_t i, j;
    for (i = rows.first; i < rows.last; i++, x += job->x_row)
        for (j = columns.first; j < columns.last; j++)
            sum += (uint32_t)(x[(j - columns.first) * job->x_column] *
                              w[i * job->w_row + j * job->w_column]);
    return sum;
}

/* n channels of one pixel from o on. */
static void plain_block(const tw_depthwise_s8 *all, int32_t pixel, int32_t o, int32_t n)
{
    const tw_depthwise_job *job = &all->job;
    const tw_taps rows = all->panel->pixel[pixel].rows, columns = all->panel->pixel[pixel].columns;
    const int8_t *x = all->panel->pixel[pixel].x + o / job->multiplier;
    const int8_t *w = all->w + (o - all->round.begin);
    const int apart = job->multiplier == 1;
    uint32_t sum[BLOCK];
    int32_t k;
    for (k = 0; k + 4 <= n; k += 4)
        if (apart)
            four_channels(job, rows, columns, x + k, w + k, 1, sum + k);
        else
            four_channels(job, rows, columns, x, w + k, 0, sum + k);
    for (; k < n; k++)
        sum[k] = one_channel(job, rows, columns, apart ? x + k : x, w + k);
    if (all->channels.in_zero != 0 &&
        (rows.last - rows.first != job->rows || columns.last - columns.first != job->columns))
        add_padding(all, pixel, w, sum, n);
    tw_channels_store(&all->channels, o, sum, 0, all->panel->pixel[pixel].y + (o - job->begin), n);
}

#ifdef TW_SSE2

/* ---- eight or sixteen channels, taps in pairs ---- */

enum { MOST_TAPS = 64 };

/* Weights of channel pairs of lanes: tap 2 i and tap 2 i + 1 of each channel side by side. */
typedef struct tw_pair_weights {
    tw_s16x8 w[MOST_TAPS / 2][BLOCK / 4];
} tw_pair_weights;

static TW_INLINE tw_s8x16 load_channels(const int8_t *from, const int n)
{
    return n == 16 ? tw_load_s8x16(from) : tw_load_s8x8(from);
}

/* Two taps of n channels, interleaved, as int16. */
static TW_INLINE void load_pair(tw_s16x8 pair[4], const int8_t *one, const int8_t *other,
                                const int n)
{
    const tw_s8x16 a = load_channels(one, n), b = load_channels(other, n);
    const tw_s8x16 low = tw_interleave_low(a, b);
    pair[0] = tw_widen_low(low);
    pair[1] = tw_widen_high(low);
    if (n == 16) {
        const tw_s8x16 high = tw_interleave_high(a, b);
        pair[2] = tw_widen_low(high);
        pair[3] = tw_widen_high(high);
    }
}

static TW_INLINE void ready_weights(const tw_depthwise_s8 *all, int32_t o, tw_pair_weights *ready,
                                    const int n)
{
    const tw_depthwise_job *job = &all->job;
    const int8_t *w = all->w + (o - all->round.begin);
    static const int8_t none[BLOCK] = {0};
    const int8_t *tap[MOST_TAPS + 1];
    int32_t i, j, t = 0;
    for (i = 0; i < job->rows; i++)
        for (j = 0; j < job->columns; j++)
            tap[t++] = w + i * job->w_row + j * job->w_column;
    tap[t] = none;
    for (i = 0; i < t; i += 2)
        load_pair(ready->w[i / 2], tap[i], tap[i + 1], n);
}

/* Where each tap of a pixel's n channels is: in the image, or `zero`. The one behind the last may be
 * anything: its weights are zeros. */
static void find_taps(const tw_depthwise_s8 *all, int32_t pixel, int32_t o, const int8_t *zero,
                      const int8_t *tap[MOST_TAPS + 1])
{
    const tw_depthwise_job *job = &all->job;
    const tw_taps rows = all->panel->pixel[pixel].rows, columns = all->panel->pixel[pixel].columns;
    const int8_t *x = all->panel->pixel[pixel].x + o;
    const int whole =
        rows.last - rows.first == job->rows && columns.last - columns.first == job->columns;
    int32_t i, j, t = 0;
    for (i = 0; i < job->rows; i++) {
        const int8_t *row = x + (i - rows.first) * job->x_row;
        for (j = 0; j < job->columns; j++, t++)
            tap[t] = whole || is_inside(all->panel, pixel, i, j)
                         ? row + (j - columns.first) * job->x_column
                         : zero;
    }
    tap[t] = zero;
}

static TW_INLINE void pair_pixel(const tw_depthwise_s8 *all, int32_t pixel, int32_t o,
                                 const tw_pair_weights *ready, const int8_t *zero, const int n)
{
    const tw_depthwise_job *job = &all->job;
    const int32_t taps = job->rows * job->columns;
    const int8_t *tap[MOST_TAPS + 1];
    tw_u32x4 sum[4] = {{0}, {0}, {0}, {0}};
    uint32_t done[BLOCK];
    int32_t t;
    int k;
    find_taps(all, pixel, o, zero, tap);
    for (t = 0; t < taps; t += 2) {
        tw_s16x8 pair[4];
        load_pair(pair, tap[t], tap[t + 1], n);
        for (k = 0; k < n / 4; k++)
            sum[k] += tw_pairs(pair[k], ready->w[t / 2][k]);
    }
    for (k = 0; k < n / 4; k++)
        tw_store_u32x4(done + 4 * k, sum[k]);
    tw_channels_store(&all->channels, o, done, 0, all->panel->pixel[pixel].y + (o - job->begin), n);
}

static TW_INLINE void pair_block(const tw_depthwise_s8 *all, int32_t o, const int8_t *zero,
                                 const int n)
{
    tw_pair_weights ready;
    int32_t pixel;
    ready_weights(all, o, &ready, n);
    for (pixel = 0; pixel < all->panel->count; pixel++)
        pair_pixel(all, pixel, o, &ready, zero, n);
}

/* Channels in [o, end) that this can do; the first that it leaves over. */
static int32_t pair_blocks(const tw_depthwise_s8 *all, int32_t o, int32_t end)
{
    const tw_depthwise_job *job = &all->job;
    int8_t zero[BLOCK];
    if (job->multiplier != 1 || (int64_t)job->rows * job->columns > MOST_TAPS)
        return o;
    memset(zero, all->channels.in_zero, sizeof zero);
    for (; o + 16 <= end; o += 16)
        pair_block(all, o, zero, 16);
    for (; o + 8 <= end; o += 8)
        pair_block(all, o, zero, 8);
    return o;
}

#endif

static void flush(const tw_depthwise_s8 *all)
{
    const tw_depthwise_job *job = &all->job;
    const int32_t end = job->end < all->round.end ? job->end : all->round.end;
    int32_t o = job->begin > all->round.begin ? job->begin : all->round.begin, n, pixel;
#ifdef TW_SSE2
    o = pair_blocks(all, o, end);
#endif
    for (; o < end; o += n) {
        n = tw_depthwise_length(job, o);
        n = n < end - o ? n : end - o;
        for (pixel = 0; pixel < all->panel->count; pixel++)
            plain_block(all, pixel, o, n);
    }
    all->panel->count = 0;
}

static void visit_s8(const void *of, const tw_patch *patch)
{
    const tw_depthwise_s8 *all = (const tw_depthwise_s8 *)of;
    const tw_depthwise_job *job = &all->job;
    const int8_t *x = (const int8_t *)job->x + patch->in;
    int8_t *y = (int8_t *)job->y + patch->out;
    int32_t pixel;
    for (pixel = 0; pixel < patch->pixels; pixel++)
        if (tw_panel_add(all->panel, patch, x + pixel * job->x_pixel, y + pixel * job->y_pixel))
            flush(all);
    if (patch->closes && all->panel->count > 0)
        flush(all);
}

static tw_status run_s8(const tw_call *call)
{
    tw_panel panel;
    tw_depthwise_s8 all;
    tw_status status;
    panel.count = 0;
    all.panel = &panel;
    all.round.begin = 0;
    all.round.end = tw_depthwise_outputs(call);
    all.w = (const int8_t *)call->in[1].data;
    tw_channels_of(call, &all.channels);
    status = tw_depthwise_run(call, &all.job, visit_s8, &all);
    if (panel.count > 0)
        flush(&all);
    return status;
}

static tw_status check_s8w4(const tw_call *call, uint64_t *work)
{
    tw_packed packed;
    return tw_packed_open(call, TW_PACKED_LAST, &packed) ? check_s8(&packed.call, work)
                                                         : TW_E_CHECK;
}

/* The whole band for the channels of a round, then for those of the next. */
static tw_status run_s8w4(const tw_call *call)
{
    const tw_range present = tw_present(&call->out[0], (int)call->out[0].tensor->rank - 1);
    tw_panel panel;
    tw_packed packed;
    tw_depthwise_s8 all;
    tw_status status = TW_OK;
    int32_t begin;
    if (!tw_packed_open(call, TW_PACKED_LAST, &packed))
        return TW_E_DATA;
    panel.count = 0;
    all.panel = &panel;
    tw_channels_of(call, &all.channels);
    for (begin = present.begin; begin < present.end && status == TW_OK; begin = all.round.end) {
        all.round = tw_packed_round(&packed, present, begin);
        all.w = tw_packed_weights(&packed, all.round);
        status = tw_depthwise_run(&packed.call, &all.job, visit_s8, &all);
        if (panel.count > 0)
            flush(&all);
    }
    return status;
}

TW_KERNEL_BLOCKS(depthwise_conv, s8, run_s8, check_s8);
TW_KERNEL_BLOCKS(depthwise_conv, s8w4, run_s8w4, check_s8w4);
