/* Kernels for float64, one a row of double.def. They walk as the device kernels do, so bands of rows give
 * the bits of the whole; transcendental functions are the host's, so that the last bits are its own. */
#include "ops/double.h"

#include <math.h>

#include "ops/cumulate_job.h"
#include "ops/reduce_job.h"
#include "ops/unary.h"
#include "runtime/spans.h"

/* ---- what the expressions call ---- */

static double limited(double x, double low, double high)
{
    const double least = x < low ? low : x;
    return least > high ? high : least;
}

static double soft_plus(double x)
{
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

/* The sign of b. */
static double floor_modulo(double a, double b)
{
    const double rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* A running log(sum(exp)), as tw_peak_sum of reduce.h. */
typedef struct tw_double_peak {
    double peak, sum;
} tw_double_peak;

_Static_assert(sizeof(tw_double_peak) <= TW_DOUBLE_ACCUMULATOR, "reduce.c reserves less");

static const tw_double_peak no_peak = {-INFINITY, 0};

static tw_double_peak add_exp(tw_double_peak a, double x)
{
    if (x > a.peak)
        return (tw_double_peak){x, a.sum * exp(a.peak - x) + 1};
    a.sum += x == a.peak ? 1 : exp(x - a.peak);
    return a;
}

/* ---- records ---- */

#define KERNEL(symbol, run_function, check_function)                                               \
    static const tw_kernel kernel_##symbol = {TW_KERNEL_ID(0, TW_OPCODE_##symbol, TW_SIG_f64),     \
                                              run_function, check_function, 0};

/* ---- element by element ---- */

static tw_status check_elements(const tw_call *call, uint32_t inputs, uint32_t out, uint64_t *work)
{
    if (tw_check_spans(call, inputs, work) != TW_OK || call->in_count != inputs ||
        call->out[0].tensor->dtype != out)
        return TW_E_CHECK;
    for (uint32_t i = 0; i < inputs; i++)
        if (call->in[i].tensor->dtype != TW_F64)
            return TW_E_CHECK;
    return TW_OK;
}

#define ELEMENTS(symbol, inputs, dtype)                                                            \
    static tw_status run_##symbol(const tw_call *call)                                             \
    {                                                                                              \
        return tw_for_each_span(call, inputs, span_##symbol);                                      \
    }                                                                                              \
    static tw_status check_##symbol(const tw_call *call, uint64_t *work)                           \
    {                                                                                              \
        return check_elements(call, inputs, dtype, work);                                          \
    }                                                                                              \
    KERNEL(symbol, run_##symbol, check_##symbol)

#define OF_ONE(symbol, result, dtype, expression)                                                  \
    static tw_status span_##symbol(const tw_span *s)                                               \
    {                                                                                              \
        const double *from = s->in[0];                                                             \
        result *to = s->out;                                                                       \
        for (int32_t i = 0; i < s->count; i++) {                                                   \
            const double x = from[i];                                                              \
            to[i] = expression;                                                                    \
        }                                                                                          \
        return TW_OK;                                                                              \
    }                                                                                              \
    ELEMENTS(symbol, 1, dtype)

#define OF_TWO(symbol, result, dtype, expression)                                                  \
    static tw_status span_##symbol(const tw_span *s)                                               \
    {                                                                                              \
        const double *first = s->in[0], *second = s->in[1];                                        \
        result *to = s->out;                                                                       \
        for (int32_t i = 0; i < s->count; i++) {                                                   \
            const double a = first[i * s->in_step[0]], b = second[i * s->in_step[1]];              \
            to[i] = expression;                                                                    \
        }                                                                                          \
        return TW_OK;                                                                              \
    }                                                                                              \
    ELEMENTS(symbol, 2, dtype)

/* The attributes, however many of them the operator has. */
static tw_unary_attributes attributes_of(const tw_call *call)
{
    tw_unary_attributes a = {0, 0};
    if (call->attribute_bytes)
        memcpy(&a, call->attributes,
               call->attribute_bytes < sizeof a ? call->attribute_bytes : sizeof a);
    return a;
}

#define TW_DOUBLE_UNARY(symbol, expression)                                                        \
    static double value_##symbol(double x, const tw_unary_attributes *a)                           \
    {                                                                                              \
        (void)a;                                                                                   \
        return expression;                                                                         \
    }                                                                                              \
    static tw_status span_##symbol(const tw_span *s)                                               \
    {                                                                                              \
        const double *from = s->in[0];                                                             \
        double *to = s->out;                                                                       \
        const tw_unary_attributes a = attributes_of(s->call);                                      \
        for (int32_t i = 0; i < s->count; i++)                                                     \
            to[i] = value_##symbol(from[i], &a);                                                   \
        return TW_OK;                                                                              \
    }                                                                                              \
    ELEMENTS(symbol, 1, TW_F64)
#define TW_DOUBLE_TEST(symbol, expression) OF_ONE(symbol, uint8_t, TW_BOOL, expression)
#define TW_DOUBLE_BINARY(symbol, expression) OF_TWO(symbol, double, TW_F64, expression)
#define TW_DOUBLE_COMPARE(symbol, expression) OF_TWO(symbol, uint8_t, TW_BOOL, expression)

/* ---- along axes ---- */

#define CLAMP_f64(v) (v)
#define TYPE_f64 TW_F64
#define TW_DOUBLE_FOLD(symbol, accumulator, initial, step, finish)                                 \
    TW_FOLD_FUNCTIONS(symbol, f64, double, accumulator, initial, step, finish)                     \
    KERNEL(symbol, symbol##_f64_run, symbol##_f64_check)
#define TW_DOUBLE_CUMULATE(symbol, initial, step)                                                  \
    TW_CUMULATE_FUNCTIONS(symbol, f64, double, TW_F64, initial, step)                              \
    KERNEL(symbol, run_##symbol##_f64, check_##symbol##_f64)

#include "ops/double.def"

/* ---- the list ---- */

static const tw_kernel *const kernels[] = {
#define TW_DOUBLE_UNARY(symbol, expression) &kernel_##symbol,
#define TW_DOUBLE_TEST(symbol, expression) &kernel_##symbol,
#define TW_DOUBLE_BINARY(symbol, expression) &kernel_##symbol,
#define TW_DOUBLE_COMPARE(symbol, expression) &kernel_##symbol,
#define TW_DOUBLE_FOLD(symbol, accumulator, initial, step, finish) &kernel_##symbol,
#define TW_DOUBLE_CUMULATE(symbol, initial, step) &kernel_##symbol,
#include "ops/double.def"
    &tw_double_matmul,
};

const tw_kernel *tw_double_kernel(uint32_t code)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if ((kernels[i]->id >> 8 & 0xFFFFu) == code)
            return kernels[i];
    return NULL;
}
