/* Kernels of the binary family, one set a row of binary.def, for float32 and plain types. Operands
 * broadcast, any strides, any band. The int8 kernels are in binary_s8.rt.c. */
#include "ops/binary.h"

#include "ops/codes.h"
#include "runtime/math.h"
#include "runtime/spans.h"

static tw_status check(const tw_call *call, uint32_t in, uint32_t out, uint64_t *work)
{
    tw_status status = tw_check_spans(call, 2, work);
    if (status != TW_OK || call->in_count != 2 || call->in[0].tensor->dtype != in ||
        call->in[1].tensor->dtype != in || call->out[0].tensor->dtype != out)
        return TW_E_CHECK;
    return TW_OK;
}

/* ---- integer expressions of the rows; T is the element type, U unsigned and as wide ---- */

#define IS_SIGNED ((T)-1 < (T)1)
#define IS_NEGATIVE(x) (IS_SIGNED && (x) < (T)1 && (x) != 0)
/* A divisor of -1 wraps the least value around instead of trapping. */
#define BY_MINUS_ONE(b) (IS_SIGNED && (b) == (T)-1)
#define NO_RESULT (status = TW_E_DATA, (T)0)

#define DIVIDE(a, b) (b == 0 ? NO_RESULT : BY_MINUS_ONE(b) ? (T)(0u - (U)a) : (T)(a / b))
#define REMAINDER(a, b) (b == 0 ? NO_RESULT : BY_MINUS_ONE(b) ? (T)0 : (T)(a % b))
/* Does the quotient lie below zero with a rest? */
#define ROUNDS_DOWN(a, b) (IS_NEGATIVE(a) != IS_NEGATIVE(b) && a % b != 0)
#define FLOOR_MODULO(a, b)                                                                         \
    (b == 0 ? NO_RESULT : BY_MINUS_ONE(b) ? (T)0 : ROUNDS_DOWN(a, b) ? (T)(a % b + b) : (T)(a % b))
#define FLOOR_DIVIDE(a, b)                                                                         \
    (b == 0              ? NO_RESULT                                                               \
     : BY_MINUS_ONE(b)   ? (T)(0u - (U)a)                                                          \
     : ROUNDS_DOWN(a, b) ? (T)(a / b - 1)                                                          \
                         : (T)(a / b))
#define POWER(a, b)                                                                                \
    (IS_NEGATIVE(b) ? (a == 0            ? NO_RESULT                                               \
                       : a == 1          ? (T)1                                                    \
                       : BY_MINUS_ONE(a) ? (T)((b & 1) ? (T)-1 : (T)1)                             \
                                         : (T)0)                                                   \
                    : (T)power((uint64_t)a, (uint64_t)b))

/* base^exponent modulo 2^64, and so modulo any narrower type's range. */
static uint64_t power(uint64_t base, uint64_t exponent)
{
    uint64_t result = 1;
    for (; exponent != 0; exponent >>= 1) {
        if (exponent & 1u)
            result *= base;
        base *= base;
    }
    return result;
}

/* ---- the kernels: tw_k_SYMBOL_SIGNATURE ---- */

#define RECORD(symbol, signature, in_dtype, out_dtype)                                             \
    static tw_status run_##symbol##_##signature(const tw_call *call)                               \
    {                                                                                              \
        return tw_for_each_span(call, 2, span_##symbol##_##signature);                             \
    }                                                                                              \
    static tw_status check_##symbol##_##signature(const tw_call *call, uint64_t *work)             \
    {                                                                                              \
        return check(call, in_dtype, out_dtype, work);                                             \
    }                                                                                              \
    TW_KERNEL_BLOCKS(symbol, signature, run_##symbol##_##signature, check_##symbol##_##signature);

/* Two loops for floats: without steps, and for broadcast operands. */
#define REAL_KERNEL(symbol, expression)                                                            \
    static tw_status span_##symbol##_f32(const tw_span *s)                                         \
    {                                                                                              \
        const float low = s->call->clamp_low.f32, high = s->call->clamp_high.f32;                  \
        const float *pa = (const float *)s->in[0], *pb = (const float *)s->in[1];                  \
        float *out = (float *)s->out;                                                              \
        const int32_t a_step = s->in_step[0], b_step = s->in_step[1];                              \
        if (a_step != 0 && b_step != 0) {                                                          \
            for (int32_t i = 0; i < s->count; i++) {                                               \
                const float a = pa[i], b = pb[i];                                                  \
                out[i] = tw_clampf(expression, low, high);                                         \
            }                                                                                      \
        } else {                                                                                   \
            for (int32_t i = 0; i < s->count; i++) {                                               \
                const float a = pa[i * a_step], b = pb[i * b_step];                                \
                out[i] = tw_clampf(expression, low, high);                                         \
            }                                                                                      \
        }                                                                                          \
        return TW_OK;                                                                              \
    }                                                                                              \
    RECORD(symbol, f32, TW_F32, TW_F32)

#define PLAIN_KERNEL(symbol, signature, type, unsigned_type, result, in_dtype, out_dtype,          \
                     expression)                                                                   \
    static tw_status span_##symbol##_##signature(const tw_span *s)                                 \
    {                                                                                              \
        typedef type T;                                                                            \
        typedef unsigned_type U;                                                                   \
        const T *pa = (const T *)s->in[0], *pb = (const T *)s->in[1];                              \
        result *out = (result *)s->out;                                                            \
        tw_status status = TW_OK;                                                                  \
        (void)sizeof(U);                                                                           \
        for (int32_t i = 0; i < s->count; i++) {                                                   \
            const T a = *pa, b = *pb;                                                              \
            out[i] = (result)(expression);                                                         \
            pa += s->in_step[0];                                                                   \
            pb += s->in_step[1];                                                                   \
        }                                                                                          \
        return status;                                                                             \
    }                                                                                              \
    RECORD(symbol, signature, in_dtype, out_dtype)

/* The types of plain integers: signature, element, unsigned, dtype. */
#define UNSIGNED_TYPES(X, symbol, e)                                                               \
    X(symbol, u8, uint8_t, uint32_t, TW_U8, e)                                                     \
    X(symbol, u16, uint16_t, uint32_t, TW_U16, e)                                                  \
    X(symbol, u32, uint32_t, uint32_t, TW_U32, e)                                                  \
    X(symbol, u64, uint64_t, uint64_t, TW_U64, e)
#define INTEGER_TYPES(X, symbol, e)                                                                \
    UNSIGNED_TYPES(X, symbol, e)                                                                   \
    X(symbol, s8x, int8_t, uint32_t, TW_S8, e)                                                     \
    X(symbol, s16x, int16_t, uint32_t, TW_S16, e)                                                  \
    X(symbol, s32, int32_t, uint32_t, TW_S32, e)                                                   \
    X(symbol, s64, int64_t, uint64_t, TW_S64, e)

#define TO_SAME(symbol, signature, T, U, dtype, e)                                                 \
    PLAIN_KERNEL(symbol, signature, T, U, T, dtype, dtype, e)
#define TO_BOOL(symbol, signature, T, U, dtype, e)                                                 \
    PLAIN_KERNEL(symbol, signature, T, U, uint8_t, dtype, TW_BOOL, e)

#define LOGIC_BOOL(symbol, e) TO_SAME(symbol, bool, uint8_t, uint32_t, TW_BOOL, e)
#define LOGIC_REAL(symbol, e) TO_SAME(symbol, f32, float, uint32_t, TW_F32, e)
#define LOGIC_INTEGERS(symbol, e) INTEGER_TYPES(TO_SAME, symbol, e)
#define LOGIC_UNSIGNED(symbol, e) UNSIGNED_TYPES(TO_SAME, symbol, e)

#define TW_BINARY(code, Name, symbol, METHOD, onnx, formula, real, integer)                        \
    REAL_KERNEL(symbol, real)                                                                      \
    INTEGER_TYPES(TO_SAME, symbol, integer)
#define TW_COMPARE(code, Name, symbol, onnx, formula, expression)                                  \
    TO_BOOL(symbol, f32, float, uint32_t, TW_F32, expression)                                      \
    INTEGER_TYPES(TO_BOOL, symbol, expression)                                                     \
    TO_BOOL(symbol, bool, uint8_t, uint32_t, TW_BOOL, expression)
#define TW_LOGIC(code, Name, symbol, TYPES, onnx, formula, expression)                             \
    LOGIC_##TYPES(symbol, expression)
#include "ops/binary.def"
