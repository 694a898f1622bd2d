/* Sums and differences of int8 with scales, eight elements at once: a part of binary_scaled.h for one
 * type. Device code. */
#ifndef TW_OPS_BINARY_LANES_H
#define TW_OPS_BINARY_LANES_H

#include "backends/sse2.h"

/* Elements of the run that are done: all but the last few, or none. */
static int32_t sum_lanes(const tw_span *s, const tw_prepared *p, int is_difference)
{
    int32_t i = 0;
#ifdef TW_SSE2
    const tw_binary_scales *c = p->scales;
    const int8_t *pa = (const int8_t *)s->in[0], *pb = (const int8_t *)s->in[1];
    const tw_u32x4 none = {0};
    const tw_u32x4 a_multiplier = none + (uint32_t)c->a_multiplier;
    const tw_u32x4 b_multiplier = none + (uint32_t)c->b_multiplier;
    const tw_u32x4 out_multiplier = none + (uint32_t)c->out_multiplier;
    const tw_s32x4 a_shift = (tw_s32x4)none + c->a_shift, b_shift = (tw_s32x4)none + c->b_shift;
    const tw_s32x4 out_shift = (tw_s32x4)none + c->out_shift;
    int h;
    if (s->in_step[0] != 1 || s->in_step[1] != 1 || c->a_shift > 0 || c->b_shift > 0 ||
        c->out_shift > 0 || c->a_multiplier < 0 || c->b_multiplier < 0 || c->out_multiplier < 0)
        return 0;
    for (; i + 8 <= s->count; i += 8) {
        const tw_s16x8 wide_a = tw_widen_low(tw_load_s8x8(pa + i)) - (int16_t)p->a_zero;
        const tw_s16x8 wide_b = tw_widen_low(tw_load_s8x8(pb + i)) - (int16_t)p->b_zero;
        const tw_u32x4 a[2] = {tw_widen_low16(wide_a), tw_widen_high16(wide_a)};
        const tw_u32x4 b[2] = {tw_widen_low16(wide_b), tw_widen_high16(wide_b)};
        tw_s32x4 out[2];
        for (h = 0; h < 2; h++) {
            const tw_u32x4 qa =
                (tw_u32x4)tw_requantize_s32x4(a[h] << c->left, a_multiplier, a_shift);
            const tw_u32x4 qb =
                (tw_u32x4)tw_requantize_s32x4(b[h] << c->left, b_multiplier, b_shift);
            out[h] =
                tw_requantize_s32x4(is_difference ? qa - qb : qa + qb, out_multiplier, out_shift);
        }
        tw_store_clamped((int8_t *)s->out + i, out[0], out[1], p->low, p->high, p->out_zero);
    }
#else
    (void)s;
    (void)p;
    (void)is_difference;
#endif
    return i;
}

#define BEGIN_add(s, p) sum_lanes(s, p, 0)
#define BEGIN_sub(s, p) sum_lanes(s, p, 1)

#endif
