/* LogSoftmax: kernel. A lane is read three times and written in the last pass, element by element, so
 * that the output may lie over the input. */
#include "ops/axes.h"
#include "ops/codes.h"
#include "ops/log_softmax.h"
#include "runtime/fixed.h"
#include "runtime/lanes.h"
#include "runtime/math.h"

static float at(const tw_lane *l, int32_t i)
{
    return *(const float *)(const void *)(l->from + i * l->from_step);
}

static void lane(const tw_call *call, const tw_lane *l)
{
    float peak = -TW_INFINITY, sum = 0.0f, log_sum;
    int32_t i;
    for (i = 0; i < l->n; i++)
        peak = at(l, i) > peak ? at(l, i) : peak;
    for (i = 0; i < l->n; i++)
        sum += tw_expf(at(l, i) - peak);
    log_sum = tw_logf(sum);
    for (i = 0; i < l->count; i++)
        *(float *)(void *)(l->to + i * l->to_step) = tw_clampf(
            (at(l, l->first + i) - peak) - log_sum, call->clamp_low.f32, call->clamp_high.f32);
}

static int32_t axis_of(const tw_call *call)
{
    return tw_axis(((const tw_log_softmax_attributes *)call->attributes)->axis,
                   (int32_t)call->out[0].tensor->rank);
}

static tw_status run_f32(const tw_call *call)
{
    return tw_lanes(call, axis_of(call), lane);
}

static tw_status check(const tw_call *call, uint32_t dtype, uint64_t *work)
{
    if (call->out_count != 1 || !call->out[0].tensor ||
        call->attribute_bytes != sizeof(tw_log_softmax_attributes))
        return TW_E_CHECK;
    return tw_check_lanes(call, axis_of(call), dtype, dtype, work);
}

static tw_status check_f32(const tw_call *call, uint64_t *work)
{
    return check(call, TW_F32, work);
}

TW_KERNEL(log_softmax, f32, run_f32, check_f32);

/* --- int8: TFLite's reference arithmetic -------------------------------------------------------- */

/* log(x) with 26 fraction bits, of x >= 1 with 19. x is z * 2^n in two ways, with z around sqrt(1/2) or
 * sqrt(1/2) times that; a rational function of the z nearer to 2^-1/4 gives the rest of the logarithm,
 * which has 25 fraction bits until the end. */
static int32_t log_of(int32_t x)
{
    const int32_t log_2 = 1488522236, root_half = 1518500250, middle = 1805811301;
    const int32_t num_2 = 117049297, den_2 = 127690142, den_0 = 1057819769, den_1 = 638450708;
    const int32_t quarter = 1 << 23;
    const int32_t a = __builtin_clz((unsigned)x);
    const int32_t b = __builtin_clz((unsigned)tw_high_mul(x, root_half)) - 1;
    const int32_t za = tw_saturating_left(tw_high_mul(tw_saturating_left(x, a - 1), root_half), 1);
    const int32_t zb = tw_saturating_left(x, b);
    const int32_t na = (12 - a) * (1 << 25) + quarter, nb = (12 - b) * (1 << 25) - quarter;
    const int32_t z = za < zb ? za : zb, n = na > nb ? na : nb;
    const int32_t p = (int32_t)(((int64_t)z + middle + 1) / 2), q = 2 * (z - middle);
    const int32_t q2 = tw_high_mul(q, q);
    const int32_t num = tw_high_mul(q, z) + tw_high_mul(tw_high_mul(q, q2), num_2);
    const int32_t den = tw_high_mul(p, den_0 + q + tw_high_mul(den_2, q2)) + tw_high_mul(den_1, q);
    return tw_saturating_left(
        tw_high_mul(n, log_2) + tw_high_mul(tw_shift_right(num, 6), tw_reciprocal(den)), 1);
}

static int32_t at_s8(const tw_lane *l, int32_t i)
{
    return *(const int8_t *)(const void *)(l->from + i * l->from_step);
}

static void lane_s8(const tw_call *call, const tw_lane *l)
{
    const tw_log_softmax_table *t = (const tw_log_softmax_table *)call->blobs[0].data;
    int32_t peak = INT8_MIN, sum = 0, log_sum, least, i;
    for (i = 0; i < l->n; i++)
        peak = at_s8(l, i) > peak ? at_s8(l, i) : peak;
    for (i = 0; i < l->n; i++)
        sum += t->exp[peak - at_s8(l, i)];
    log_sum = log_of(sum);
    /* Below this, distance and logarithm together leave the range. */
    least = tw_requantize(log_sum + INT32_MIN, t->multiplier, t->shift);
    least = least > -t->most - 1 ? least : -t->most - 1;
    for (i = 0; i < l->count; i++) {
        const int32_t d = peak - at_s8(l, l->first + i);
        int32_t y = INT8_MIN;
        if (-d > least)
            y = tw_shift_right((int32_t)((uint32_t)t->distance[d] - (uint32_t)log_sum), 22) + 127;
        *(int8_t *)(void *)(l->to + i * l->to_step) =
            (int8_t)tw_clamp_s32(y, call->clamp_low.s32, call->clamp_high.s32);
    }
}

static tw_status run_s8(const tw_call *call)
{
    return tw_lanes(call, axis_of(call), lane_s8);
}

/* A sum of exponentials is at least 1 and fits 32 bits. */
static int is_sound(const tw_log_softmax_table *t)
{
    int32_t d;
    if (t->most < 0 || t->most > 255 || t->shift < -31 || t->shift > 0 || t->exp[0] != 1 << 19)
        return 0;
    for (d = 0; d < 256; d++)
        if (t->exp[d] < 0 || t->exp[d] > 1 << 19 || t->distance[d] > 0)
            return 0;
    return 1;
}

static tw_status check_s8(const tw_call *call, uint64_t *work)
{
    const tw_status status = check(call, TW_S8, work);
    if (status != TW_OK || call->blob_count != 1 ||
        call->blobs[0].bytes != sizeof(tw_log_softmax_table) ||
        !is_sound((const tw_log_softmax_table *)call->blobs[0].data) ||
        call->in[0].tensor->dim[axis_of(call)] > TW_LOG_SOFTMAX_S8_LONGEST ||
        call->clamp_low.s32 < INT8_MIN || call->clamp_high.s32 > INT8_MAX ||
        call->clamp_low.s32 > call->clamp_high.s32)
        return TW_E_CHECK;
    return TW_OK;
}

TW_KERNEL(log_softmax, s8, run_s8, check_s8);
