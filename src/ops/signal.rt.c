/* The audio front end's kernels but for the transform: signal.h has the formulas. */
#include "ops/codes.h"
#include "ops/signal_job.h"
#include "runtime/fixed.h"

int tw_signal_is_whole(const tw_call *call)
{
    uint32_t i;
    for (i = 0; i < call->in_count; i++)
        if (call->in[i].tensor && !tw_is_whole(&call->in[i]))
            return 0;
    for (i = 0; i < call->out_count; i++)
        if (call->out[i].tensor && !tw_is_whole(&call->out[i]))
            return 0;
    return 1;
}

int tw_signal_check(const tw_call *call, uint32_t in, uint32_t out, uint32_t ins, uint32_t outs,
                    uint32_t bytes, uint64_t *work)
{
    if (call->in_count != ins || call->out_count < 1 || call->out_count > outs ||
        call->attribute_bytes != bytes || !tw_operand_check(&call->in[0], in, 1, TW_MAX_RANK) ||
        !tw_operand_check(&call->out[0], out, 1, TW_MAX_RANK) ||
        !tw_signal_alike(call->in[0].tensor, call->out[0].tensor))
        return 0;
    *work = (uint64_t)tw_element_count(call->out[0].tensor);
    return 1;
}

/* One vector: n elements of x, and where its results go. at: its first element, were all dense. */
typedef void (*tw_signal_vector)(const tw_call *call, const void *x, void *y, int32_t n,
                                 ptrdiff_t at);

static tw_status each_vector(const tw_call *call, tw_signal_vector run)
{
    const tw_tensor *x = call->in[0].tensor, *y = call->out[0].tensor;
    const ptrdiff_t x_bytes = (ptrdiff_t)tw_dtype_bytes(x->dtype);
    const ptrdiff_t y_bytes = (ptrdiff_t)tw_dtype_bytes(y->dtype);
    const int32_t vectors = tw_signal_vectors(y), n = tw_signal_length(x);
    int32_t v;
    if (!tw_signal_is_whole(call))
        return TW_E_SCHEDULE;
    for (v = 0; v < vectors; v++)
        run(call, (const char *)call->in[0].data + tw_signal_at(x, v) * x_bytes,
            (char *)call->out[0].data + tw_signal_at(y, v) * y_bytes, n, (ptrdiff_t)v * n);
    return TW_OK;
}

static int is_same(const tw_view *a, const tw_view *b)
{
    return tw_same_shape(a->tensor, b->tensor);
}

static int32_t count_of(const tw_view *v)
{
    return (int32_t)tw_element_count(v->tensor);
}

/* A scalar, or one element. */
static int is_single(const tw_view *v, uint32_t dtype)
{
    return tw_extents_check(v, dtype, 0, TW_MAX_RANK) && tw_element_count(v->tensor) == 1;
}

/* ---- window ---- */

static tw_status check_window(const tw_call *call, uint64_t *work)
{
    const tw_signal_window_attributes *a = (const tw_signal_window_attributes *)call->attributes;
    if (!tw_signal_check(call, TW_S16, TW_S16, 2, 1, sizeof *a, work) || a->shift < 0 ||
        a->shift > 31 || !is_same(&call->in[0], &call->out[0]) ||
        !tw_signal_is(&call->in[1], TW_S16) || call->in[1].tensor->rank != 1 ||
        call->in[1].tensor->dim[0] != tw_signal_length(call->in[0].tensor))
        return TW_E_CHECK;
    return TW_OK;
}

static void window(const tw_call *call, const void *from, void *to, int32_t n, ptrdiff_t at)
{
    const tw_signal_window_attributes *a = (const tw_signal_window_attributes *)call->attributes;
    const int16_t *x = (const int16_t *)from, *w = (const int16_t *)call->in[1].data;
    int16_t *y = (int16_t *)to;
    int32_t i;
    (void)at;
    for (i = 0; i < n; i++)
        y[i] = (int16_t)tw_clamp_s32((x[i] * w[i]) >> a->shift, INT16_MIN, INT16_MAX);
}

static tw_status run_window(const tw_call *call)
{
    return each_vector(call, window);
}

/* ---- scale ---- */

static tw_status check_auto_scale(const tw_call *call, uint64_t *work)
{
    return tw_signal_check(call, TW_S16, TW_S16, 1, 2, 0, work) &&
                   is_same(&call->in[0], &call->out[0]) &&
                   (call->out_count < 2 || is_single(&call->out[1], TW_S32))
               ? TW_OK
               : TW_E_CHECK;
}

static tw_status run_auto_scale(const tw_call *call)
{
    const tw_tensor *in = call->in[0].tensor, *out = call->out[0].tensor;
    const int32_t vectors = tw_signal_vectors(in), n = tw_signal_length(in);
    int32_t v, i, most = 0, bits;
    if (!tw_signal_is_whole(call))
        return TW_E_SCHEDULE;
    for (v = 0; v < vectors; v++) {
        const int16_t *x = (const int16_t *)call->in[0].data + tw_signal_at(in, v);
        for (i = 0; i < n; i++) {
            const int32_t size = x[i] < 0 ? -x[i] : x[i];
            most = size > most ? size : most;
        }
    }
    bits = most == 0 ? 0 : 15 - tw_signal_bits((uint32_t)most);
    bits = bits < 0 ? 0 : bits;
    for (v = 0; v < vectors; v++) {
        const int16_t *x = (const int16_t *)call->in[0].data + tw_signal_at(in, v);
        int16_t *y = (int16_t *)call->out[0].data + tw_signal_at(out, v);
        for (i = 0; i < n; i++)
            y[i] = (int16_t)(x[i] * (1 << bits));
    }
    if (call->out_count > 1)
        *(int32_t *)call->out[1].data = bits;
    return TW_OK;
}

/* ---- energy ---- */

static tw_status check_energy(const tw_call *call, uint64_t *work)
{
    const tw_signal_energy_attributes *a = (const tw_signal_energy_attributes *)call->attributes;
    if (!tw_signal_check(call, TW_S16, TW_U32, 1, 1, sizeof *a, work) ||
        tw_signal_length(call->in[0].tensor) % 2 != 0 ||
        tw_signal_length(call->in[0].tensor) / 2 != tw_signal_length(call->out[0].tensor) ||
        a->start < 0 || a->end > tw_signal_length(call->out[0].tensor))
        return TW_E_CHECK;
    return TW_OK;
}

static void energy(const tw_call *call, const void *from, void *to, int32_t n, ptrdiff_t at)
{
    const tw_signal_energy_attributes *a = (const tw_signal_energy_attributes *)call->attributes;
    const int16_t *x = (const int16_t *)from;
    uint32_t *y = (uint32_t *)to;
    int32_t i;
    (void)at;
    for (i = 0; i < n / 2; i++)
        y[i] = i < a->start || i >= a->end
                   ? 0
                   : (uint32_t)(x[2 * i] * x[2 * i]) + (uint32_t)(x[2 * i + 1] * x[2 * i + 1]);
}

static tw_status run_energy(const tw_call *call)
{
    return each_vector(call, energy);
}

/* ---- filter bank ---- */

static tw_status check_filter_bank(const tw_call *call, uint64_t *work)
{
    const tw_signal_filter_bank_attributes *a =
        (const tw_signal_filter_bank_attributes *)call->attributes;
    const tw_filter_run *run;
    int32_t i, x, w;
    if (!tw_signal_check(call, TW_U32, TW_U64, 6, 1, sizeof *a, work) || a->channels < 1 ||
        a->channels != tw_signal_length(call->out[0].tensor) ||
        !tw_signal_is(&call->in[1], TW_S16) || !tw_signal_is(&call->in[2], TW_S16) ||
        !is_same(&call->in[1], &call->in[2]) || call->blob_count != 1 ||
        call->blobs[0].bytes != ((uint64_t)a->channels + 1) * sizeof *run)
        return TW_E_CHECK;
    run = (const tw_filter_run *)call->blobs[0].data;
    x = tw_signal_length(call->in[0].tensor);
    w = count_of(&call->in[1]);
    for (i = 0; i <= a->channels; i++)
        if (run[i].count < 0 || run[i].x < 0 || run[i].x > x - run[i].count || run[i].w < 0 ||
            run[i].w > w - run[i].count)
            return TW_E_CHECK;
    return TW_OK;
}

static void filter(const tw_call *call, const void *from, void *to, int32_t n, ptrdiff_t at)
{
    const tw_filter_run *run = (const tw_filter_run *)call->blobs[0].data;
    const int16_t *weight = (const int16_t *)call->in[1].data;
    const int16_t *rest = (const int16_t *)call->in[2].data;
    const int32_t channels = tw_signal_length(call->out[0].tensor);
    const uint32_t *x = (const uint32_t *)from;
    uint64_t *y = (uint64_t *)to, own, next = 0;
    int32_t c, k;
    (void)n, (void)at;
    for (c = 0; c <= channels; c++) {
        own = next;
        next = 0;
        for (k = 0; k < run[c].count; k++) {
            const uint64_t v = x[run[c].x + k];
            own += (uint64_t)(int64_t)weight[run[c].w + k] * v;
            next += (uint64_t)(int64_t)rest[run[c].w + k] * v;
        }
        if (c > 0)
            y[c - 1] = own;
    }
}

static tw_status run_filter_bank(const tw_call *call)
{
    return each_vector(call, filter);
}

/* ---- square root ---- */

static tw_status check_square_root(const tw_call *call, uint64_t *work)
{
    return tw_signal_check(call, TW_U64, TW_U32, 2, 1, 0, work) &&
                   is_same(&call->in[0], &call->out[0]) && is_single(&call->in[1], TW_S32)
               ? TW_OK
               : TW_E_CHECK;
}

/* Rounded to nearest, but at most `most`. Digit by digit from the highest pair of bits. */
static uint32_t root(uint64_t x, int32_t bits, uint32_t most)
{
    uint64_t result = 0, bit;
    if (bits == 0)
        return 0;
    for (bit = (uint64_t)1 << ((bits - 1) & ~1); bit != 0; bit >>= 2) {
        if (x >= result + bit) {
            x -= result + bit;
            result = (result >> 1) + bit;
        } else {
            result >>= 1;
        }
    }
    return (uint32_t)(result + (x > result && result != most));
}

static void square_root(const tw_call *call, const void *from, void *to, int32_t n, ptrdiff_t at)
{
    const int32_t shift = *(const int32_t *)call->in[1].data;
    const uint64_t *x = (const uint64_t *)from;
    uint32_t *y = (uint32_t *)to;
    int32_t i;
    (void)at;
    for (i = 0; i < n; i++) {
        const uint32_t high = (uint32_t)(x[i] >> 32);
        y[i] = (high ? root(x[i], 32 + tw_signal_bits(high), UINT32_MAX)
                     : root(x[i], tw_signal_bits((uint32_t)x[i]), UINT16_MAX)) >>
               shift;
    }
}

static tw_status run_square_root(const tw_call *call)
{
    int32_t shift;
    if (!tw_signal_is_whole(call))
        return TW_E_SCHEDULE;
    shift = *(const int32_t *)call->in[1].data;
    return shift < 0 || shift > 31 ? TW_E_DATA : each_vector(call, square_root);
}

/* ---- noise ---- */

static tw_status check_subtraction(const tw_call *call, uint64_t *work)
{
    const tw_signal_subtraction_attributes *a =
        (const tw_signal_subtraction_attributes *)call->attributes;
    if (!tw_signal_check(call, TW_U32, TW_U32, 2, 2, sizeof *a, work) || a->bits < 0 ||
        a->bits > 31 || a->shift < 0 || a->shift > 63 || !is_same(&call->in[0], &call->out[0]) ||
        !tw_signal_is(&call->in[1], TW_U32) || !is_same(&call->in[0], &call->in[1]) ||
        (call->out_count > 1 &&
         (!tw_signal_is(&call->out[1], TW_U32) || !is_same(&call->in[0], &call->out[1]))))
        return TW_E_CHECK;
    return TW_OK;
}

static void subtract(const tw_call *call, const void *from, void *to, int32_t n, ptrdiff_t at)
{
    const tw_signal_subtraction_attributes *a =
        (const tw_signal_subtraction_attributes *)call->attributes;
    const uint32_t *x = (const uint32_t *)from, *old = (const uint32_t *)call->in[1].data + at;
    uint32_t *y = (uint32_t *)to;
    uint32_t *kept = call->out_count > 1 ? (uint32_t *)call->out[1].data + at : NULL;
    int32_t i;
    for (i = 0; i < n; i++) {
        const int odd = i & 1;
        const uint32_t scaled = x[i] << a->bits;
        const uint64_t fresh = (uint64_t)scaled * (uint32_t)(odd ? a->odd_new : a->even_new);
        const uint64_t held = (uint64_t)old[i] * (uint32_t)(odd ? a->odd_old : a->even_old);
        const uint32_t estimate = (uint32_t)((fresh + held) >> a->shift);
        const uint32_t bounded = estimate > scaled ? scaled : estimate;
        const uint32_t least = (uint32_t)(((uint64_t)x[i] * (uint32_t)a->remaining) >> a->shift);
        const uint32_t left = (scaled - bounded) >> a->bits;
        if (kept)
            kept[i] = a->clamp ? bounded : estimate;
        y[i] = left > least ? left : least;
    }
}

static tw_status run_subtraction(const tw_call *call)
{
    return each_vector(call, subtract);
}

/* ---- gain ---- */

static tw_status check_pcan(const tw_call *call, uint64_t *work)
{
    const tw_signal_pcan_attributes *a = (const tw_signal_pcan_attributes *)call->attributes;
    if (!tw_signal_check(call, TW_U32, TW_U32, 3, 1, sizeof *a, work) || a->shift < 0 ||
        a->shift > 63 || !is_same(&call->in[0], &call->out[0]) ||
        !tw_signal_is(&call->in[1], TW_U32) || !is_same(&call->in[0], &call->in[1]) ||
        !tw_signal_is(&call->in[2], TW_S16) || count_of(&call->in[2]) < TW_PCAN_TABLE)
        return TW_E_CHECK;
    return TW_OK;
}

/* Four entries for each power of two: value, slope, curvature. */
static int16_t gain_at(const int16_t *table, uint32_t x)
{
    int32_t power, fraction;
    uint32_t v;
    if (x <= 2)
        return table[x];
    power = tw_signal_bits(x);
    table += 4 * power - 6;
    fraction = (int32_t)((power < 11 ? x << (11 - power) : x >> (power - 11)) & 0x3FF);
    v = (uint32_t)((table[2] * fraction) >> 5) + ((uint32_t)(int32_t)table[1] << 5);
    v *= (uint32_t)fraction;
    v = (uint32_t)((int32_t)(v + (1u << 14)) >> 15);
    return (int16_t)((int32_t)v + table[0]);
}

/* 12 fraction bits to 6: x^2 / 4 below 2, x - 1 above. */
static uint32_t shrink(uint32_t x)
{
    return x < 2u << 12 ? (x * x) >> 20 : (x >> 6) - (1u << 6);
}

static void pcan(const tw_call *call, const void *from, void *to, int32_t n, ptrdiff_t at)
{
    const tw_signal_pcan_attributes *a = (const tw_signal_pcan_attributes *)call->attributes;
    const uint32_t *x = (const uint32_t *)from, *estimate = (const uint32_t *)call->in[1].data + at;
    const int16_t *table = (const int16_t *)call->in[2].data;
    uint32_t *y = (uint32_t *)to;
    int32_t i;
    for (i = 0; i < n; i++) {
        const uint32_t gain = (uint32_t)(int32_t)gain_at(table, estimate[i]);
        y[i] = shrink((uint32_t)(((uint64_t)x[i] * gain) >> a->shift));
    }
}

static tw_status run_pcan(const tw_call *call)
{
    return each_vector(call, pcan);
}

/* ---- logarithm ---- */

static tw_status check_log(const tw_call *call, uint64_t *work)
{
    const tw_signal_log_attributes *a = (const tw_signal_log_attributes *)call->attributes;
    return tw_signal_check(call, TW_U32, TW_S16, 1, 1, sizeof *a, work) && a->correction >= 0 &&
                   a->correction <= 31 && a->scale >= 0 && is_same(&call->in[0], &call->out[0]) &&
                   call->blob_count == 1 && call->blobs[0].bytes == TW_LOG_TABLE * 2u
               ? TW_OK
               : TW_E_CHECK;
}

/* log(x) * scale, rounded; x >= 1. */
static uint32_t logarithm(const uint16_t *table, uint32_t x, uint32_t scale)
{
    const int32_t whole = tw_signal_bits(x) - 1;
    const uint32_t above = x - (1u << whole); /* 16 fraction bits: */
    const uint32_t fraction = whole < 16 ? above << (16 - whole) : above >> (whole - 16);
    const uint32_t segment = fraction >> 9;
    const int32_t low = table[segment], high = table[segment + 1];
    const int32_t between = ((high - low) * (int32_t)(fraction - (segment << 9))) >> 16;
    const uint32_t log2 = ((uint32_t)whole << 16) + fraction + (uint32_t)(low + between);
    const uint32_t natural = (uint32_t)(((uint64_t)45426 * log2 + 32768u) >> 16); /* ln 2 */
    return (scale * natural + 32768u) >> 16;
}

static void log_of(const tw_call *call, const void *from, void *to, int32_t n, ptrdiff_t at)
{
    const tw_signal_log_attributes *a = (const tw_signal_log_attributes *)call->attributes;
    const uint16_t *table = (const uint16_t *)call->blobs[0].data;
    const uint32_t *x = (const uint32_t *)from;
    int16_t *y = (int16_t *)to;
    int32_t i;
    (void)at;
    for (i = 0; i < n; i++) {
        const uint32_t scaled = x[i] << a->correction;
        const uint32_t v = scaled > 1 ? logarithm(table, scaled, (uint32_t)a->scale) : 0;
        y[i] = (int16_t)(v < INT16_MAX ? v : INT16_MAX);
    }
}

static tw_status run_log(const tw_call *call)
{
    return each_vector(call, log_of);
}

TW_KERNEL(signal_window, s16x, run_window, check_window);
TW_KERNEL(signal_auto_scale, s16x, run_auto_scale, check_auto_scale);
TW_KERNEL(signal_energy, s16x, run_energy, check_energy);
TW_KERNEL(signal_filter_bank, u32, run_filter_bank, check_filter_bank);
TW_KERNEL(signal_square_root, u64, run_square_root, check_square_root);
TW_KERNEL(signal_subtraction, u32, run_subtraction, check_subtraction);
TW_KERNEL(signal_pcan, u32, run_pcan, check_pcan);
TW_KERNEL(signal_log, u32, run_log, check_log);
