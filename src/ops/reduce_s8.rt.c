/* Reductions of int8 to products, lengths and logarithms: rows of TW_FOLD_S8 in reduce.def. In: x and a table.
 * Sums of stored values less the zero point are exact; what becomes of them is whole numbers too. */
#include "ops/codes.h"
#include "ops/log_fixed.h"
#include "ops/reduce_job.h"
#include "runtime/fixed.h"

static const tw_reduce_s8_table *table_of(const tw_call *call)
{
    return (const tw_reduce_s8_table *)call->blobs[0].data;
}

#define ZERO call->in[0].tensor->zero_point

static int32_t placed(const tw_call *call, int32_t scaled)
{
    return (int32_t)((uint32_t)scaled + (uint32_t)call->out[0].tensor->zero_point);
}

static int32_t rescaled(const tw_call *call, int32_t sum)
{
    return placed(call, tw_requantize(sum, table_of(call)->multiplier, table_of(call)->shift));
}

#define SIZE(v) ((v) < 0 ? -(v) : (v))
#define RESCALED(a) rescaled(call, a)

/* ---- roots ---- */

/* The square root of a sum of squares with 15 fraction bits, cut off: a bit a round. */
static int32_t root_of(int32_t sum)
{
    uint64_t rest = (uint64_t)(uint32_t)sum << 30, root = 0, bit = (uint64_t)1 << 60;
    for (; bit != 0; bit >>= 2) {
        if (rest >= root + bit) {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return (int32_t)root;
}

#define ROOT(a) rescaled(call, root_of(a))

/* ---- products ---- */

#define ONE one()

static tw_scaled_product one(void)
{
    tw_scaled_product a;
    a.mantissa = 1 << 30;
    a.exponent = -30;
    return a;
}

/* a * x, rounded to 31 bits, halves away from zero. */
static tw_scaled_product scaled_product(tw_scaled_product a, int32_t x)
{
    const int64_t product = (int64_t)a.mantissa * x;
    uint64_t size = (uint64_t)(product < 0 ? -product : product);
    int32_t shift = 0;
    if (product == 0) {
        a.mantissa = 0;
        return a;
    }
    while (size >> shift >= (uint64_t)1 << 31)
        shift++;
    if (shift > 0)
        size = (size + ((uint64_t)1 << (shift - 1))) >> shift;
    if (size == (uint64_t)1 << 31) {
        size >>= 1;
        shift++;
    }
    a.mantissa = product < 0 ? -(int32_t)size : (int32_t)size;
    a.exponent = (int32_t)((uint32_t)a.exponent + (uint32_t)shift);
    return a;
}

static int32_t product_result(const tw_call *call, tw_scaled_product a)
{
    const tw_reduce_s8_table *t = table_of(call);
    const int32_t v = tw_high_mul(a.mantissa, t->multiplier);
    const int32_t shift = (int32_t)((uint32_t)a.exponent + (uint32_t)t->shift);
    if (v == 0 || shift < -31)
        return placed(call, 0);
    if (shift > 0)
        return v < 0 ? INT8_MIN : INT8_MAX;
    return placed(call, tw_clamp_s32(tw_shift_right(v, -shift), -1024, 1024));
}

#define PRODUCT(a) product_result(call, a)

/* ---- logarithms ---- */

/* log(x), x > 0, with 20 fraction bits. */
static int32_t log_of_whole(int32_t x)
{
    const int32_t log_2 = 726817; /* with 20 fraction bits */
    int32_t up = 0;
    while (x << up < 1 << 19)
        up++;
    return tw_shift_right(tw_log_fixed(x << up), 6) + (19 - up) * log_2;
}

/* Of nothing the lowest number, of a negative one the zero point. */
static int32_t log_result(const tw_call *call, int32_t sum)
{
    if (sum <= 0)
        return sum < 0 ? placed(call, 0) : INT8_MIN;
    return rescaled(call, log_of_whole(sum) + table_of(call)->add);
}

#define LOGARITHM(a) log_result(call, a)

#define NO_TERMS no_terms()

static tw_peak_terms no_terms(void)
{
    tw_peak_terms a;
    a.peak = INT8_MIN;
    a.sum = 0;
    return a;
}

/* e^-d, d as step memory has it: whatever it holds, one of the table. */
static int32_t term(const tw_call *call, int32_t high, int32_t low)
{
    const int32_t *exponential = (const int32_t *)(const void *)(table_of(call) + 1);
    return exponential[((uint32_t)high - (uint32_t)low) & (TW_REDUCE_EXPONENTIALS - 1u)];
}

/* What was summed so far counts less where there is a new peak. */
static tw_peak_terms add_term(const tw_call *call, tw_peak_terms a, int32_t x)
{
    if (x > a.peak) {
        a.sum = (int32_t)(((int64_t)a.sum * term(call, x, a.peak) + (1 << 18)) >> 19);
        a.peak = x;
    }
    a.sum = (int32_t)((uint32_t)a.sum + (uint32_t)term(call, a.peak, x));
    return a;
}

static int32_t terms_result(const tw_call *call, tw_peak_terms a)
{
    const int32_t peak = tw_clamp_s32(a.peak, INT8_MIN, INT8_MAX) - call->in[0].tensor->zero_point;
    if (a.sum < 1 << 19)
        return INT8_MIN; /* of nothing */
    return rescaled(call, peak * table_of(call)->step + tw_shift_right(tw_log_fixed(a.sum), 6));
}

#define LOG_TERMS(a) terms_result(call, a)

/* ---- the rows made into kernels ---- */

static int are_exponentials(const int32_t *exponential)
{
    int i;
    for (i = 0; i < TW_REDUCE_EXPONENTIALS; i++)
        if (exponential[i] < 0 || exponential[i] > 1 << 19)
            return 0;
    return exponential[0] == 1 << 19;
}

/* Bounds of what the kernel of an operator may be given. */
static tw_status check(const tw_call *call, uint32_t code, const tw_fold *fold, uint64_t *work)
{
    const int product = code == TW_OPCODE_reduce_prod, terms = code == TW_OPCODE_reduce_log_sum_exp;
    const int squares = code == TW_OPCODE_reduce_l2 || code == TW_OPCODE_reduce_sum_square;
    const tw_reduce_attributes *a = (const tw_reduce_attributes *)call->attributes;
    const tw_reduce_s8_table *t;
    tw_call plain = *call;
    tw_reduction r;
    plain.blob_count = 0;
    if (call->blob_count != 1 || tw_reduce_check(&plain, fold, TW_S8, 1, work) != TW_OK ||
        call->blobs[0].bytes !=
            sizeof *t + (terms ? TW_REDUCE_EXPONENTIALS * sizeof(int32_t) : 0) ||
        !tw_reduce_resolve(a, (int32_t)call->in[0].tensor->rank, call->in[0].tensor->dim, &r) ||
        (squares && r.count > TW_REDUCE_SQUARES_MOST) || (terms && r.count > TW_REDUCE_TERMS_MOST))
        return TW_E_CHECK;
    t = table_of(call);
    if (call->in[0].tensor->zero_point < INT8_MIN || call->in[0].tensor->zero_point > INT8_MAX ||
        t->multiplier < 0 || t->shift < (product ? -(1 << 30) : -31) ||
        t->shift > (product ? 1 << 30 : 30) || t->add < -(1 << 28) || t->add > 1 << 28 ||
        t->step < 0 || t->step > 1 << 22 ||
        (terms && !are_exponentials((const int32_t *)(const void *)(t + 1))))
        return TW_E_CHECK;
    return TW_OK;
}

#define CLAMP_s8(v) tw_clamp_s32(v, call->clamp_low.s32, call->clamp_high.s32)

#define TW_FOLD(symbol, signature, element, accumulator, initial, step, finish)
#define TW_FOLD_BOOL(symbol, initial, step, finish)
#define TW_FOLD_S8(symbol, accumulator, initial, expression, result)                               \
    TW_FOLD_LOOPS(symbol, s8, int8_t, accumulator, initial, expression, result)                    \
    static tw_status symbol##_s8_check(const tw_call *call, uint64_t *work)                        \
    {                                                                                              \
        return check(call, TW_OPCODE_##symbol, &symbol##_s8_fold, work);                           \
    }                                                                                              \
    TW_KERNEL(symbol, s8, symbol##_s8_run, symbol##_s8_check);
#define TW_REDUCE(code, Name, symbol, attributes, samples, onnx, formula, folds) folds
#include "ops/reduce.def"
#undef TW_REDUCE
#undef TW_FOLD
#undef TW_FOLD_BOOL
#undef TW_FOLD_S8
