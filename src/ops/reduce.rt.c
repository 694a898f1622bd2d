/* Reductions: kernels of reduce.def. In: x, and for int8 a table. Out: one result for each index of
 * the axes that stay.
 *
 * Axes outside the first reduced one are loops of their own; behind it, all results are made at the
 * same time, each in an accumulator of step memory, from elements in row-major order. Where the band
 * axis is that first reduced axis the accumulators live on from call to call. Hence the same bits
 * for any banding. */
#include "ops/axes.h"
#include "ops/codes.h"
#include "ops/reduce_job.h"
#include "runtime/fixed.h"
#include "runtime/math.h"
#include "runtime/move.h"

int tw_reduce_resolve(const tw_reduce_attributes *a, int32_t rank, const int32_t *dim,
                      tw_reduction *r)
{
    int64_t count = 1, accumulators = 1;
    int32_t k, place = 0;
    r->mask = tw_axis_mask(&a->axes, rank);
    r->first = rank;
    if (r->mask < 0)
        return 0;
    for (k = 0; k < rank; k++) {
        const int reduced = (r->mask >> k & 1) != 0;
        r->out_axis[k] = reduced && !a->keepdims ? -1 : place++;
        if (reduced && dim[k] != 1 && r->first == rank)
            r->first = k;
        if (reduced)
            count *= dim[k];
        else if (r->first < rank)
            accumulators *= dim[k];
        if (count > INT32_MAX || accumulators > INT32_MAX / (int32_t)sizeof(int64_t))
            return 0;
    }
    r->out_rank = place;
    r->count = (int32_t)count;
    r->accumulators = (int32_t)accumulators;
    return 1;
}

/* ---- one call ---- */

typedef struct tw_reducing {
    const tw_call *call;
    const tw_fold *fold;
    const tw_view *in, *out;
    int32_t rank;
    tw_reduction r;
    int32_t low[TW_MAX_RANK], extent[TW_MAX_RANK]; /* of the input, for this call */
    int begins, ends;
} tw_reducing;

/* Which part of the input this call takes, and whether the views hold it and its results. */
static tw_status set_ranges(tw_reducing *p)
{
    const tw_view *in = p->in, *out = p->out;
    int64_t loops = 1;
    int32_t k;
    int out_rows_stay = 0; /* the output's rows are rows of an axis that stays */
    p->begins = p->ends = 1;
    for (k = 0; k < p->rank; k++) {
        p->low[k] = 0;
        p->extent[k] = in->tensor->dim[k];
        if (p->r.out_axis[k] == out->axis && (p->r.mask >> k & 1) == 0) {
            p->low[k] = out->row;
            p->extent[k] = out->rows;
            out_rows_stay = 1;
        } else if (k == p->r.first && k == in->axis) {
            p->low[k] = in->fresh;
            p->extent[k] = in->fresh_rows;
            p->begins = in->fresh == 0;
            p->ends = (int64_t)in->fresh + in->fresh_rows >= in->tensor->dim[k];
        }
        if (k < p->r.first)
            loops *= p->extent[k];
    }
    if (p->rank > 0 && !tw_holds(in, p->low[in->axis], p->extent[in->axis]))
        return TW_E_SCHEDULE;
    if (p->ends && !out_rows_stay && !tw_holds(out, 0, 1))
        return TW_E_SCHEDULE;
    /* One set of accumulators cannot wait for several outer indices. */
    return loops > 1 && !(p->begins && p->ends) ? TW_E_SCHEDULE : TW_OK;
}

static ptrdiff_t out_step(const tw_reducing *p, int32_t k)
{
    const tw_tensor *t = p->out->tensor;
    return p->r.out_axis[k] < 0 ? 0
                                : tw_step(t->stride[p->r.out_axis[k]], tw_dtype_bytes(t->dtype));
}

/* All elements behind one outer index into the accumulators. */
static void take(const tw_reducing *p, const char *x, const ptrdiff_t *accumulator_step)
{
    const uint32_t bytes = tw_dtype_bytes(p->in->tensor->dtype);
    int32_t k, last;
    tw_walk w;
    tw_walk_begin(&w, p->call->memory, x);
    for (k = p->r.first; k < p->rank; k++)
        tw_walk_axis(&w, p->extent[k], accumulator_step[k],
                     tw_step(p->in->tensor->stride[k], bytes));
    if (!tw_walk_open(&w))
        return;
    last = w.rank - 1;
    do
        p->fold->step(p->call, w.to, w.to_step[last], w.from, w.from_step[last], w.extent[last]);
    while (tw_walk_next(&w, last));
}

/* The accumulators behind one outer index into the output. */
static void give(const tw_reducing *p, char *out, const ptrdiff_t *accumulator_step)
{
    int32_t k, last;
    tw_walk w;
    tw_walk_begin(&w, out, p->call->memory);
    for (k = p->r.first; k < p->rank; k++)
        if ((p->r.mask >> k & 1) == 0)
            tw_walk_axis(&w, p->extent[k], out_step(p, k), accumulator_step[k]);
    if (!tw_walk_open(&w))
        return;
    last = w.rank - 1;
    do
        p->fold->finish(p->call, p->r.count, w.to, w.to_step[last], w.from, w.from_step[last],
                        w.extent[last]);
    while (tw_walk_next(&w, last));
}

tw_status tw_reduce_run(const tw_call *call, const tw_fold *fold)
{
    const tw_view *in = &call->in[0], *out = &call->out[0];
    const uint32_t bytes = tw_dtype_bytes(in->tensor->dtype);
    ptrdiff_t accumulator_step[TW_MAX_RANK], step = (ptrdiff_t)fold->accumulator_bytes;
    int32_t k;
    tw_status status;
    tw_reducing p;
    tw_walk w;
    p.call = call;
    p.fold = fold;
    p.in = in;
    p.out = out;
    p.rank = (int32_t)in->tensor->rank;
    if (!tw_reduce_resolve((const tw_reduce_attributes *)call->attributes, p.rank, in->tensor->dim,
                           &p.r))
        return TW_E_DATA;
    status = set_ranges(&p);
    if (status != TW_OK)
        return status;
    for (k = p.rank - 1; k >= p.r.first; k--) {
        accumulator_step[k] = (p.r.mask >> k & 1) != 0 ? 0 : step;
        if ((p.r.mask >> k & 1) == 0)
            step *= p.extent[k];
    }
    tw_walk_begin(&w, (char *)out->data, tw_element(in, p.low));
    for (k = 0; k < p.r.first; k++)
        tw_walk_axis(&w, p.extent[k], out_step(&p, k), tw_step(in->tensor->stride[k], bytes));
    if (!tw_walk_open(&w))
        return TW_OK;
    do {
        if (p.begins)
            fold->begin(call->memory, p.r.accumulators);
        take(&p, w.from, accumulator_step);
        if (p.ends)
            give(&p, w.to, accumulator_step);
    } while (tw_walk_next(&w, w.rank));
    return TW_OK;
}

/* The table of int8, null when there is none. */
static const tw_reduce_table *table_of(const tw_call *call)
{
    return call->blob_count == 0 ? NULL : (const tw_reduce_table *)call->blobs[0].data;
}

tw_status tw_reduce_check(const tw_call *call, const tw_fold *fold, uint32_t dtype, int with_table,
                          uint64_t *work)
{
    const tw_reduce_attributes *a = (const tw_reduce_attributes *)call->attributes;
    const tw_tensor *in, *out;
    tw_reduction r;
    int32_t k;
    if (call->in_count != 1 || call->out_count != 1 || !call->in[0].tensor ||
        !call->out[0].tensor || call->attribute_bytes < sizeof *a || a->keepdims < 0 ||
        a->keepdims > 1)
        return TW_E_CHECK;
    in = call->in[0].tensor;
    out = call->out[0].tensor;
    if (in->dtype != dtype || out->dtype != dtype ||
        !tw_reduce_resolve(a, (int32_t)in->rank, in->dim, &r) || r.out_rank != (int32_t)out->rank)
        return TW_E_CHECK;
    for (k = 0; k < (int32_t)in->rank; k++) {
        const int32_t want = (r.mask >> k & 1) != 0 ? 1 : in->dim[k];
        if (r.out_axis[k] >= 0 && out->dim[r.out_axis[k]] != want)
            return TW_E_CHECK;
    }
    if ((uint64_t)r.accumulators * fold->accumulator_bytes > call->memory_bytes)
        return TW_E_CHECK;
    if (call->blob_count > (with_table ? 1u : 0u))
        return TW_E_CHECK;
    if (with_table) {
        const tw_reduce_table *table = table_of(call);
        if (r.count > TW_REDUCE_S8_MOST)
            return TW_E_CHECK;
        if (table && (call->blobs[0].bytes != sizeof *table || table->multiplier < 0 ||
                      table->shift < -31 || table->shift > 30))
            return TW_E_CHECK;
    }
    *work = (uint64_t)tw_element_count(in);
    if (*work < (uint64_t)tw_element_count(out))
        *work = (uint64_t)tw_element_count(out);
    return TW_OK;
}

/* ---- arithmetic of the rows ---- */

#define ADD_S32(a, x) (int32_t)((uint32_t)(a) + (uint32_t)(x))
#define MUL_S32(a, x) (int32_t)((uint32_t)(a) * (uint32_t)(x))
#define ABS_S32(x) ((x) < 0 ? (int32_t)(0u - (uint32_t)(x)) : (x))
#define ADD_S64(a, x) (int64_t)((uint64_t)(a) + (uint64_t)(x))
#define MUL_S64(a, x) (int64_t)((uint64_t)(a) * (uint64_t)(x))
#define ABS_S64(x) ((x) < 0 ? (int64_t)(0u - (uint64_t)(x)) : (x))

/* Of nothing: NaN, and 0 where there is none. Integers are cut off. */
#define MEAN_F32(a) (count == 0 ? TW_NAN : (a) / (float)count)
#define MEAN_INT(a) (count == 0 ? 0 : (a) / count)
#define MEAN_UINT(a) (count == 0 ? 0u : (a) / (uint64_t)count)

/* Squares of 32 bits add up in 64. */
#define SQUARE_ADD(a, x) ((a) + (uint64_t)(x) * (uint64_t)(x))

/* The whole part of the square root: a bit a round, from the highest that can be in it. */
static uint64_t integer_root(uint64_t a)
{
    uint64_t root = 0, bit = (uint64_t)1 << 62;
    for (; bit != 0; bit >>= 2) {
        if (a >= root + bit) {
            a -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return root;
}

#define NO_PEAK no_peak()

static tw_peak_sum no_peak(void)
{
    tw_peak_sum a;
    a.peak = -TW_INFINITY;
    a.sum = 0.0f;
    return a;
}

/* The sum is kept relative to the peak, so that no exp overflows. */
static tw_peak_sum add_exp(tw_peak_sum a, float x)
{
    if (x > a.peak) {
        a.sum = a.sum * tw_expf(a.peak - x) + 1.0f;
        a.peak = x;
    } else {
        a.sum += x == a.peak ? 1.0f : tw_expf(x - a.peak);
    }
    return a;
}

#define SUM_S8(a) sum_s8(call, a, count)
#define MEAN_S8(a) mean_s8(call, a, count)
#define PICK_S8(a) sum_s8(call, a, 1)

/* From `n` elements' stored sum to the output's scale. */
static int32_t sum_s8(const tw_call *call, int32_t sum, int32_t n)
{
    const tw_reduce_table *table = table_of(call);
    const int32_t zero_in = call->in[0].tensor->zero_point;
    const int32_t zero_out = call->out[0].tensor->zero_point;
    const int32_t centred = (int32_t)((uint32_t)sum - (uint32_t)n * (uint32_t)zero_in);
    const int32_t scaled =
        table ? tw_requantize(centred, table->multiplier, table->shift) : centred;
    return (int32_t)((uint32_t)scaled + (uint32_t)zero_out);
}

/* value / 2^shift to the nearest; halves to even, or away from zero. 1 <= shift <= 62. */
static int32_t round_shift(int64_t value, int32_t shift, int even)
{
    const int64_t floor = value >> shift, rest = value - floor * ((int64_t)1 << shift);
    const int64_t half = (int64_t)1 << (shift - 1);
    const int up = even ? rest > half || (rest == half && (floor & 1) != 0)
                        : rest > half || (rest == half && value > 0);
    return (int32_t)(floor + up);
}

/* a / n to the nearest; halves to even, or away from zero. */
static int32_t round_divide(int32_t a, int32_t n, int even)
{
    int32_t quotient = a / n;
    const int32_t rest = a < 0 ? -(a % n) : a % n;
    if (rest > n - rest || (rest == n - rest && (!even || (quotient & 1) != 0)))
        quotient += a < 0 ? -1 : 1;
    return quotient;
}

static int32_t mean_s8(const tw_call *call, int32_t sum, int32_t n)
{
    const tw_reduce_mean_attributes *a = (const tw_reduce_mean_attributes *)call->attributes;
    const tw_reduce_table *table = table_of(call);
    const int32_t rounding = call->attribute_bytes == sizeof *a ? a->rounding : TW_MEAN_TFLITE;
    const int32_t zero_out = call->out[0].tensor->zero_point;
    int32_t centred;
    if (n == 0)
        return zero_out;
    if (!table)
        return round_divide(sum, n, rounding == TW_MEAN_HALF_EVEN);
    if (rounding == TW_MEAN_TFLITE)
        return sum_s8(call, sum, n);
    centred = (int32_t)((uint32_t)sum - (uint32_t)n * (uint32_t)call->in[0].tensor->zero_point);
    return (int32_t)((uint32_t)round_shift((int64_t)centred * table->multiplier, 31 - table->shift,
                                           rounding == TW_MEAN_HALF_EVEN) +
                     (uint32_t)zero_out);
}

/* ---- the rows made into kernels ---- */

#define CLAMP_f32(v) tw_clampf(v, call->clamp_low.f32, call->clamp_high.f32)
#define CLAMP_s8(v) tw_clamp_s32(v, call->clamp_low.s32, call->clamp_high.s32)
#define CLAMP_s8x(v) (v)
#define CLAMP_u8(v) (v)
#define CLAMP_s32(v) (v)
#define CLAMP_s64(v) (v)
#define CLAMP_u32(v) (v)
#define CLAMP_u64(v) (v)
#define CLAMP_bool(v) (v)
#define TYPE_f32 TW_F32
#define TYPE_s8 TW_S8
#define TYPE_s8x TW_S8
#define TYPE_u8 TW_U8
#define TYPE_s32 TW_S32
#define TYPE_s64 TW_S64
#define TYPE_u32 TW_U32
#define TYPE_u64 TW_U64
#define TYPE_bool TW_BOOL

#define TW_FOLD TW_FOLD_KERNEL
#define TW_FOLD_BOOL(symbol, initial, step, finish)                                                \
    TW_FOLD(symbol, bool, uint8_t, uint32_t, initial, step, finish)
#define TW_FOLD_S8(symbol, accumulator, initial, step, finish)
#define TW_REDUCE(code, Name, symbol, attributes, samples, onnx, formula, folds) folds
#include "ops/reduce.def"
#undef TW_REDUCE
#undef TW_FOLD
#undef TW_FOLD_BOOL
#undef TW_FOLD_S8
