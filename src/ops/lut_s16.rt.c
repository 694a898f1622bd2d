/* Unary operators on int16 with scales: lut.h has the forms. */
#include "ops/codes.h"
#include "ops/lut.h"
#include "ops/sigmoid_s16.h"
#include "runtime/fixed.h"
#include "runtime/spans.h"

static int32_t line(const tw_lut_s16 *l, int32_t x)
{
    const int32_t v = x < 0 ? tw_requantize(x, l->below_multiplier, l->below_shift)
                            : tw_requantize(x, l->above_multiplier, l->above_shift);
    return (x < 0 ? l->below_negated : l->above_negated) ? (int32_t)(0u - (uint32_t)v) : v;
}

static int32_t apply(const tw_lut_s16 *l, const void *table, int32_t x)
{
    switch (l->form) {
    case TW_LUT_LINES: return line(l, x);
    case TW_LUT_TABLE: return tw_lut_between((const int16_t *)table, x);
    case TW_LUT_SIGMOID:
        return tw_sigmoid_s16((const uint16_t *)table, x, l->above_multiplier, l->above_shift);
    default: return tw_tanh_s16((const uint16_t *)table, x, l->above_multiplier, l->above_shift);
    }
}

static tw_status span(const tw_span *s)
{
    const tw_call *call = s->call;
    const tw_lut_s16 *l = (const tw_lut_s16 *)call->blobs[0].data;
    const void *table =
        call->blobs[call->blob_count - 1u].data; /* lines have none, and read none */
    const int16_t *in = (const int16_t *)s->in[0];
    int16_t *out = (int16_t *)s->out;
    int32_t i;
    for (i = 0; i < s->count; i++)
        out[i] = (int16_t)tw_clamp_s32(apply(l, table, in[i]), call->clamp_low.s32,
                                       call->clamp_high.s32);
    return TW_OK;
}

static tw_status run(const tw_call *call)
{
    return tw_for_each_span(call, 1, span);
}

static int is_s16(const tw_tensor *t)
{
    return t->dtype == TW_S16 && t->zero_point == 0;
}

static int is_shift(int32_t shift)
{
    return shift >= -31 && shift <= 30;
}

static int has_table(const tw_call *call, const tw_lut_s16 *l)
{
    if (l->form == TW_LUT_LINES)
        return call->blob_count == 1 && is_shift(l->above_shift) && is_shift(l->below_shift) &&
               l->above_multiplier >= 0 && l->below_multiplier >= 0;
    if (call->blob_count != 2 || ((uintptr_t)call->blobs[1].data & 1u) != 0)
        return 0;
    if (l->form == TW_LUT_TABLE)
        return call->blobs[1].bytes == TW_LUT_POINTS * sizeof(int16_t);
    return call->blobs[1].bytes == TW_SIGMOID_POINTS * sizeof(uint16_t) &&
           l->above_multiplier >= 0 && l->above_multiplier <= INT16_MAX && l->above_shift >= 0 &&
           l->above_shift <= 31 && tw_sigmoid_rises((const uint16_t *)call->blobs[1].data);
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_status status = tw_check_spans(call, 1, work);
    const tw_lut_s16 *l;
    if (status != TW_OK || call->in_count != 1 || call->blob_count < 1 ||
        call->blobs[0].bytes != sizeof *l || !is_s16(call->in[0].tensor) ||
        !is_s16(call->out[0].tensor) || !tw_same_shape(call->in[0].tensor, call->out[0].tensor) ||
        call->clamp_low.s32 < INT16_MIN || call->clamp_low.s32 > call->clamp_high.s32 ||
        call->clamp_high.s32 > INT16_MAX)
        return TW_E_CHECK;
    l = (const tw_lut_s16 *)call->blobs[0].data;
    return l->form >= 0 && l->form < TW_LUT_FORMS && has_table(call, l) ? TW_OK : TW_E_CHECK;
}

TW_KERNEL_BLOCKS(lut, s16, run, check);
