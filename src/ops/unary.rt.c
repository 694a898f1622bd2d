/* Kernels of the unary family, one set a row of unary.def: shapes equal, any strides, any band. */
#include "ops/unary.h"

#include "ops/codes.h"
#include "runtime/math.h"
#include "runtime/spans.h"

static tw_status check(const tw_call *call, uint32_t in, uint32_t out, uint32_t parameters,
                       uint64_t *work)
{
    tw_status status = tw_check_spans(call, 1, work);
    if (status != TW_OK || call->in_count != 1 ||
        !tw_same_shape(call->in[0].tensor, call->out[0].tensor) ||
        call->in[0].tensor->dtype != in || call->out[0].tensor->dtype != out ||
        call->attribute_bytes != parameters * sizeof(float))
        return TW_E_CHECK;
    return TW_OK;
}

/* ---- float32: tw_k_SYMBOL_f32 ---- */

#define REAL_KERNEL(symbol, parameters, expression)                                                \
    static inline float value_##symbol(float x, const tw_unary_attributes *a)                      \
    {                                                                                              \
        (void)a;                                                                                   \
        return expression;                                                                         \
    }                                                                                              \
    float tw_unary_##symbol(float x, const void *attributes)                                       \
    {                                                                                              \
        return value_##symbol(x, (const tw_unary_attributes *)attributes);                         \
    }                                                                                              \
    static tw_status span_##symbol(const tw_span *s)                                               \
    {                                                                                              \
        const tw_unary_attributes *a = (const tw_unary_attributes *)s->call->attributes;           \
        const float low = s->call->clamp_low.f32, high = s->call->clamp_high.f32;                  \
        const float *in = (const float *)s->in[0];                                                 \
        float *out = (float *)s->out;                                                              \
        for (int32_t i = 0; i < s->count; i++)                                                     \
            out[i] = tw_clampf(value_##symbol(in[i], a), low, high);                               \
        return TW_OK;                                                                              \
    }                                                                                              \
    static tw_status run_##symbol(const tw_call *call)                                             \
    {                                                                                              \
        return tw_for_each_span(call, 1, span_##symbol);                                           \
    }                                                                                              \
    static tw_status check_##symbol(const tw_call *call, uint64_t *work)                           \
    {                                                                                              \
        return check(call, TW_F32, TW_F32, parameters, work);                                      \
    }                                                                                              \
    TW_KERNEL_BLOCKS(symbol, f32, run_##symbol, check_##symbol);

/* ---- plain types: tw_k_SYMBOL_SIGNATURE; T x to TY, U unsigned and at least as wide ---- */

#define PLAIN_KERNEL(symbol, signature, type, unsigned_type, result, in_dtype, out_dtype,          \
                     parameters, expression)                                                       \
    static tw_status span_##symbol##_##signature(const tw_span *s)                                 \
    {                                                                                              \
        typedef type T;                                                                            \
        typedef unsigned_type U;                                                                   \
        const T *in = (const T *)s->in[0];                                                         \
        result *out = (result *)s->out;                                                            \
        (void)sizeof(U);                                                                           \
        for (int32_t i = 0; i < s->count; i++) {                                                   \
            const T x = in[i];                                                                     \
            out[i] = (result)(expression);                                                         \
        }                                                                                          \
        return TW_OK;                                                                              \
    }                                                                                              \
    static tw_status run_##symbol##_##signature(const tw_call *call)                               \
    {                                                                                              \
        return tw_for_each_span(call, 1, span_##symbol##_##signature);                             \
    }                                                                                              \
    static tw_status check_##symbol##_##signature(const tw_call *call, uint64_t *work)             \
    {                                                                                              \
        return check(call, in_dtype, out_dtype, parameters, work);                                 \
    }                                                                                              \
    TW_KERNEL_BLOCKS(symbol, signature, run_##symbol##_##signature, check_##symbol##_##signature);

#define INTEGER_KERNELS(symbol, parameters, e)                                                     \
    PLAIN_KERNEL(symbol, s8x, int8_t, uint32_t, int8_t, TW_S8, TW_S8, parameters, e)               \
    PLAIN_KERNEL(symbol, u8, uint8_t, uint32_t, uint8_t, TW_U8, TW_U8, parameters, e)              \
    PLAIN_KERNEL(symbol, s16x, int16_t, uint32_t, int16_t, TW_S16, TW_S16, parameters, e)          \
    PLAIN_KERNEL(symbol, u16, uint16_t, uint32_t, uint16_t, TW_U16, TW_U16, parameters, e)         \
    PLAIN_KERNEL(symbol, s32, int32_t, uint32_t, int32_t, TW_S32, TW_S32, parameters, e)           \
    PLAIN_KERNEL(symbol, u32, uint32_t, uint32_t, uint32_t, TW_U32, TW_U32, parameters, e)         \
    PLAIN_KERNEL(symbol, s64, int64_t, uint64_t, int64_t, TW_S64, TW_S64, parameters, e)           \
    PLAIN_KERNEL(symbol, u64, uint64_t, uint64_t, uint64_t, TW_U64, TW_U64, parameters, e)

#define KERNELS_INTEGERS_SAME(symbol, e) INTEGER_KERNELS(symbol, 0, e)
#define KERNELS_BOOL_SAME(symbol, e)                                                               \
    PLAIN_KERNEL(symbol, bool, uint8_t, uint32_t, uint8_t, TW_BOOL, TW_BOOL, 0, e)
#define KERNELS_REAL_BOOL(symbol, e)                                                               \
    PLAIN_KERNEL(symbol, f32, float, uint32_t, uint8_t, TW_F32, TW_BOOL, 0, e)

#define TW_UNARY(code, Name, symbol, parameters, alpha, beta, low, high, onnx, formula,            \
                 expression)                                                                       \
    REAL_KERNEL(symbol, parameters, expression)
#define TW_UNARY_INTEGER(code, Name, symbol, parameters, alpha, beta, low, high, onnx, formula,    \
                         expression, integer)                                                      \
    REAL_KERNEL(symbol, parameters, expression)                                                    \
    INTEGER_KERNELS(symbol, parameters, integer)
#define TW_UNARY_PLAIN(code, Name, symbol, TYPES, RESULT, onnx, formula, expression)               \
    KERNELS_##TYPES##_##RESULT(symbol, expression)
#include "ops/unary.def"
