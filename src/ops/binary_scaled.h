/* The kernels of the binary family on integers with scales, for one element type: binary.h has the
 * arithmetic. Operands broadcast, any strides, any band. Device code.
 *
 * Included once by a source for each type, which defines
 *
 *     TW_SCALED, TW_SCALED_DTYPE, TW_SCALED_SIGNATURE     the type: int8_t, TW_S8, s8
 *     TW_SCALED_LEAST, TW_SCALED_MOST                     its range
 *     TW_SCALED_ZERO_LEAST, TW_SCALED_ZERO_MOST           that of its zero points
 *     TW_SCALED_LEFT                                      the most bits an operand is shifted left
 *     TW_SCALED_LANES                                     if binary_lanes.h is for it */
#include "ops/binary.h"

#include "ops/codes.h"
#include "runtime/fixed.h"
#include "runtime/math.h"
#include "runtime/spans.h"

/* What a run of elements needs, read once. */
typedef struct tw_prepared {
    const tw_binary_scales *scales;
    int32_t a_zero, b_zero, out_zero;
    int32_t low, high; /* of the result before the output's zero point is added */
} tw_prepared;

static tw_prepared prepare(const tw_call *call)
{
    const tw_tensor *out = call->out[0].tensor;
    tw_prepared p;
    p.scales = call->blob_count ? (const tw_binary_scales *)call->blobs[0].data : NULL;
    p.a_zero = call->in[0].tensor->zero_point;
    p.b_zero = call->in[1].tensor->zero_point;
    p.out_zero = out->zero_point;
    p.low = call->clamp_low.s32 - p.out_zero;
    p.high = call->clamp_high.s32 - p.out_zero;
    return p;
}

static int is_scaled(const tw_tensor *t)
{
    return t->dtype == TW_SCALED_DTYPE && t->zero_point >= TW_SCALED_ZERO_LEAST &&
           t->zero_point <= TW_SCALED_ZERO_MOST;
}

static int is_bound(tw_bound bound)
{
    return bound.s32 >= TW_SCALED_LEAST && bound.s32 <= TW_SCALED_MOST;
}

static int is_shift(int32_t shift)
{
    return shift >= -31 && shift <= 30;
}

/* blobs: 1 where the kernel reads scales. */
static tw_status check(const tw_call *call, int is_compare, uint32_t blobs, uint64_t *work)
{
    tw_status status = tw_check_spans(call, 2, work);
    if (status != TW_OK || call->in_count != 2 || !is_scaled(call->in[0].tensor) ||
        !is_scaled(call->in[1].tensor) || call->blob_count != blobs)
        return TW_E_CHECK;
    if (blobs) {
        const tw_binary_scales *scales = (const tw_binary_scales *)call->blobs[0].data;
        if (call->blobs[0].bytes != sizeof *scales || scales->left < 0 ||
            scales->left > TW_SCALED_LEFT || !is_shift(scales->a_shift) ||
            !is_shift(scales->b_shift) || !is_shift(scales->out_shift))
            return TW_E_CHECK;
    }
    if (is_compare)
        return call->out[0].tensor->dtype == TW_BOOL && call->out[0].tensor->zero_point == 0
                   ? TW_OK
                   : TW_E_CHECK;
    return is_scaled(call->out[0].tensor) && is_bound(call->clamp_low) && is_bound(call->clamp_high)
               ? TW_OK
               : TW_E_CHECK;
}

static TW_SCALED store(const tw_prepared *p, int32_t x)
{
    return (TW_SCALED)(tw_clamp_s32(x, p->low, p->high) + p->out_zero);
}

static int32_t rescale(int32_t q, int32_t left, int32_t multiplier, int32_t shift)
{
    return tw_requantize(q * (1 << left), multiplier, shift);
}

/* ---- QUOTIENT ---- */

/* Bits by which x can be shifted left without overflow. */
static int32_t headroom(int32_t x)
{
    uint32_t magnitude = x < 0 ? 2u * (0u - (uint32_t)x) - 1u : (uint32_t)x * 2u;
    int32_t n = 0;
    for (uint32_t bit = 0x80000000u; bit > magnitude && bit != 0; bit >>= 1)
        n++;
    return x == 0 ? 31 : n;
}

/* a / b scaled by scale->out, |a| and |b| at most 2^15. */
static int32_t quotient(int32_t a, int32_t b, const tw_binary_scales *scales)
{
    if (b == 0)
        return a > 0 ? INT16_MAX : (a < 0 ? INT16_MIN : 0);
    if (b < 0) {
        a = -a;
        b = -b;
    }
    /* b = (1 + x) * 2^(30 - up), 0 <= x < 1 */
    int32_t up = headroom(b);
    int32_t x = (int32_t)(((uint32_t)b << (up + 1)) - 0x80000000u);
    int32_t room = headroom(a);
    int32_t ratio = tw_high_mul((int32_t)((uint32_t)a << room), tw_reciprocal(x));
    int32_t shift = scales->out_shift - (30 - up) - room;
    if (shift < -31)
        return 0;
    if (shift > 0) /* results that large saturate whatever they are */
        return ratio > 0 ? INT16_MAX : (ratio < 0 ? INT16_MIN : 0);
    return tw_shift_right(tw_high_mul(ratio, scales->out_multiplier), -shift);
}

/* ---- one function an element and method; a, b less their zero points ---- */

#define RESULT_PRODUCT(a, b) tw_requantize(a *b, p.scales->out_multiplier, p.scales->out_shift)
#define RESULT_QUOTIENT(a, b) quotient(a, b, p.scales)
#define RESULT_SLOPE(a, b)                                                                         \
    (a >= 0 ? tw_requantize(a, p.scales->a_multiplier, p.scales->a_shift)                          \
            : tw_requantize(a * b, p.scales->out_multiplier, p.scales->out_shift))

/* The signature is a macro: it must be expanded before TW_KERNEL_BLOCKS pastes it. */
#define TW_KERNEL_NAMED(symbol, signature, run, check)                                             \
    TW_KERNEL_BLOCKS(symbol, signature, run, check)

#define RECORD(symbol, is_compare, blobs)                                                          \
    static tw_status run_##symbol(const tw_call *call)                                             \
    {                                                                                              \
        return tw_for_each_span(call, 2, span_##symbol);                                           \
    }                                                                                              \
    static tw_status check_##symbol(const tw_call *call, uint64_t *work)                           \
    {                                                                                              \
        return check(call, is_compare, blobs, work);                                               \
    }                                                                                              \
    TW_KERNEL_NAMED(symbol, TW_SCALED_SIGNATURE, run_##symbol, check_##symbol);

/* qa, qb stand for the elements less their zero points; those before `begin` are done. */
#define SPAN(symbol, RESULT, statement) SPAN_FROM(symbol, RESULT, 0, statement)
#define SPAN_FROM(symbol, RESULT, begin, statement)                                                \
    static tw_status span_##symbol(const tw_span *s)                                               \
    {                                                                                              \
        const tw_prepared p = prepare(s->call);                                                    \
        const TW_SCALED *pa = (const TW_SCALED *)s->in[0], *pb = (const TW_SCALED *)s->in[1];      \
        RESULT *out = (RESULT *)s->out;                                                            \
        const int32_t done = (begin);                                                              \
        pa += done * s->in_step[0];                                                                \
        pb += done * s->in_step[1];                                                                \
        for (int32_t i = done; i < s->count; i++) {                                                \
            const int32_t qa = *pa - p.a_zero, qb = *pb - p.b_zero;                                \
            statement;                                                                             \
            pa += s->in_step[0];                                                                   \
            pb += s->in_step[1];                                                                   \
        }                                                                                          \
        return TW_OK;                                                                              \
    }

/* Elements that a faster loop has done. */
#ifdef TW_SCALED_LANES
#include "ops/binary_lanes.h"
#else
#define BEGIN_add(s, p) 0
#define BEGIN_sub(s, p) 0
#endif
#define BEGIN_max(s, p) 0
#define BEGIN_min(s, p) 0
#define BEGIN_squared_difference(s, p) 0

/* Operands rescaled to a common scale, then the row's expression. */
#define COMMON_SCALE                                                                               \
    const T a = rescale(qa, p.scales->left, p.scales->a_multiplier, p.scales->a_shift);            \
    const T b = rescale(qb, p.scales->left, p.scales->b_multiplier, p.scales->b_shift)

#define KERNEL_SUM(symbol, real, integer)                                                          \
    static int32_t common_##symbol(int32_t a, int32_t b)                                           \
    {                                                                                              \
        typedef int32_t T;                                                                         \
        typedef uint32_t U;                                                                        \
        (void)sizeof(U), (void)sizeof(T);                                                          \
        return (T)(integer);                                                                       \
    }                                                                                              \
    SPAN_FROM(symbol, TW_SCALED, BEGIN_##symbol(s, &p), typedef int32_t T; COMMON_SCALE;           \
              out[i] = store(&p, tw_requantize(common_##symbol(a, b), p.scales->out_multiplier,    \
                                               p.scales->out_shift)))                              \
    RECORD(symbol, 0, 1)
#define KERNEL_SQUARE(symbol, real, integer) KERNEL_SUM(symbol, real, integer)
#define KERNEL_PRODUCT(symbol, real, integer)                                                      \
    SPAN(symbol, TW_SCALED, out[i] = store(&p, RESULT_PRODUCT(qa, qb))) RECORD(symbol, 0, 1)
#define KERNEL_QUOTIENT(symbol, real, integer)                                                     \
    SPAN(symbol, TW_SCALED, out[i] = store(&p, RESULT_QUOTIENT(qa, qb))) RECORD(symbol, 0, 1)
#define KERNEL_SLOPE(symbol, real, integer)                                                        \
    SPAN(symbol, TW_SCALED, out[i] = store(&p, RESULT_SLOPE(qa, qb))) RECORD(symbol, 0, 1)

#define KERNEL_REAL(symbol, real, integer)                                                         \
    static float real_##symbol(float a, float b)                                                   \
    {                                                                                              \
        return real;                                                                               \
    }                                                                                              \
    SPAN(symbol, TW_SCALED,                                                                        \
         const float r = real_##symbol(s->call->in[0].tensor->scale * (float)qa,                   \
                                       s->call->in[1].tensor->scale * (float)qb);                  \
         const float inverse = 1.0f / s->call->out[0].tensor->scale;                               \
         out[i] = (TW_SCALED)tw_store_whole(tw_roundf(r * inverse), p.out_zero,                    \
                                            s->call->clamp_low.s32, s->call->clamp_high.s32))      \
    RECORD(symbol, 0, 0)

#define TW_BINARY(code, Name, symbol, METHOD, onnx, formula, real, integer)                        \
    KERNEL_##METHOD(symbol, real, integer)
#define TW_COMPARE(code, Name, symbol, onnx, formula, expression)                                  \
    SPAN(symbol, uint8_t, typedef int32_t T; COMMON_SCALE; out[i] = (uint8_t)(expression))         \
    RECORD(symbol, 1, 1)
#define TW_LOGIC(code, Name, symbol, TYPES, onnx, formula, expression)
#include "ops/binary.def"
