/* Quantised programs: pairs of quantising and dequantising around floats, as PyTorch 2's export quantisation
 * writes them, and fake quantisation, which is such a pair in one. They become Quantize and Dequantize of
 * known scales; normalisation makes int8 operators of what stands between. */
#include <math.h>

#include "import/pytorch/torch.h"

/* How a tensor is stored: its type, scales, and the least and greatest number that is used. */
typedef struct tw_torch_storing {
    tw_dtype dtype;
    tw_quant quant;
    int64_t low, high;
} tw_torch_storing;

/* Where the arguments stand; zero points and an axis may be absent, -1. */
typedef struct tw_storing_places {
    int scale, zero, axis, low;
} tw_storing_places;

static bool range_of(tw_dtype dtype, int64_t *low, int64_t *high)
{
    const bool is_signed = dtype != TW_U8;
    *low = *high = 0;
    if (dtype != TW_S8 && dtype != TW_U8 && dtype != TW_S16 && dtype != TW_S32)
        return false;
    const int bits = 8 * (int)tw_dtype_bytes(dtype);
    *low = is_signed ? -(INT64_C(1) << (bits - 1)) : 0;
    *high = (INT64_C(1) << (bits - is_signed)) - 1;
    return true;
}

/* A number, or a tensor of one, that is known. */
static bool known_int(tw_torch_call *c, int i, int64_t *to)
{
    tw_value *v = tw_torch_in(c, i);
    if (!v)
        return false;
    if (!tw_build_known(c->b, v) || tw_shape_elements(&v->shape) != 1)
        return TW_TORCH_UNSUPPORTED(c, "argument %d must be one number that is known", i);
    const double number = tw_constant_at(v, 0);
    if (!(fabs(number) < 4294967296.0) || number != floor(number))
        return TW_TORCH_FAIL(c, "argument %d is %g", i, number);
    *to = (int64_t)number;
    return true;
}

/* One scale, or one for each index of an axis of x. */
static bool read_scales(tw_torch_call *c, const tw_value *x, tw_storing_places at,
                        tw_torch_storing *s)
{
    tw_value *scale = tw_torch_in(c, at.scale);
    tw_value *zero = tw_torch_has(c, at.zero) ? tw_torch_in(c, at.zero) : NULL;
    if (!scale || (!zero && tw_torch_has(c, at.zero)))
        return false;
    if (!tw_build_known(c->b, scale) || (zero && !tw_build_known(c->b, zero)))
        return TW_TORCH_UNSUPPORTED(
            c, "scales that are known only while the network runs are not supported; quantise with "
               "is_dynamic=False");
    int axis = 0;
    if (at.axis >= 0 && !tw_torch_axis_of(c, x, at.axis, &axis))
        return false;
    const int64_t count = tw_shape_elements(&scale->shape);
    if (count != (at.axis >= 0 ? x->shape.dim[axis] : 1) || count < 1 ||
        (zero && tw_shape_elements(&zero->shape) != count))
        return TW_TORCH_FAIL(c, "%lld scales do not fit the tensor or its zero points",
                             (long long)count);
    float *scales = tw_alloc_array(c->b->arena, (size_t)count, sizeof *scales);
    int32_t *zeros = tw_alloc_array(c->b->arena, (size_t)count, sizeof *zeros);
    int64_t low, high;
    range_of(s->dtype, &low, &high);
    for (int64_t i = 0; i < count; i++) {
        const double point = zero ? tw_constant_at(zero, i) : 0;
        scales[i] = (float)tw_constant_at(scale, i);
        if (!(scales[i] > 0) || !isfinite(scales[i]))
            return TW_TORCH_FAIL(c, "scale %lld is %g; scales must be positive", (long long)i,
                                 (double)scales[i]);
        if (!(point >= (double)low) || !(point <= (double)high) || point != floor(point))
            return TW_TORCH_UNSUPPORTED(c, "zero point %lld is %g, which %s cannot hold",
                                        (long long)i, point, tw_dtype_name(s->dtype));
        zeros[i] = (int32_t)point;
    }
    s->quant = (tw_quant){(int)count, count == 1 ? 0 : axis, scales, zeros};
    return true;
}

/* The numbers used are at argument at.low and the next; those of the type where they are not given. */
static bool read_storing(tw_torch_call *c, const tw_value *x, tw_storing_places at,
                         tw_torch_storing *s)
{
    int64_t low, high;
    if (!x)
        return false;
    if (!range_of(s->dtype, &low, &high))
        return TW_TORCH_UNSUPPORTED(c, "tensors stored as %s are not supported",
                                    tw_dtype_name(s->dtype));
    if (s->low > s->high)
        return TW_TORCH_FAIL(c, "numbers from %lld to %lld", (long long)s->low, (long long)s->high);
    s->low = s->low < low ? low : s->low;
    s->high = s->high > high ? high : s->high;
    return read_scales(c, x, at, s);
}

/* The real number that is stored as `stored`, of every scale, broadcasting to x. */
static tw_value *real_bound(tw_torch_call *c, const tw_value *x, const tw_torch_storing *s,
                            int64_t stored)
{
    const tw_quant *q = &s->quant;
    int32_t dim[TW_MAX_RANK];
    for (int i = 0; i < x->shape.rank; i++)
        dim[i] = i == q->axis ? q->count : 1;
    float *real = tw_alloc_array(c->b->arena, (size_t)q->count, sizeof *real);
    for (int i = 0; i < q->count; i++)
        real[i] = (float)((double)(stored - q->zero_point[i]) * (double)q->scale[i]);
    return tw_build_data(c->b, tw_shape_of(TW_F32, x->shape.rank, dim), real);
}

/* x kept within what the numbers used can say, where the type could say more. */
static tw_value *bounded(tw_torch_call *c, tw_value *x, const tw_torch_storing *s)
{
    const tw_quant *q = &s->quant;
    int64_t low, high;
    range_of(s->dtype, &low, &high);
    if (s->low == low && s->high == high)
        return x;
    if (q->count > 1) {
        x = tw_build2(c->b, "Max", x, real_bound(c, x, s, s->low), NULL);
        return x ? tw_build2(c->b, "Min", x, real_bound(c, x, s, s->high), NULL) : NULL;
    }
    const double scale = (double)q->scale[0];
    const float least = (float)((double)(s->low - q->zero_point[0]) * scale);
    const float most = (float)((double)(s->high - q->zero_point[0]) * scale);
    return tw_build1(c->b, "Clip", x,
                     TW_SETTINGS(tw_set_float("alpha", s->low == low ? -INFINITY : least),
                                 tw_set_float("beta", s->high == high ? INFINITY : most)));
}

/* Weights are quantised at once, so that they are stored as what they become. */
static tw_value *quantised(tw_torch_call *c, tw_value *x, const tw_torch_storing *s)
{
    tw_value *bound = bounded(c, x, s);
    tw_value *q = bound ? tw_build_quantize(c->b, bound, s->dtype, s->quant, "half_even") : NULL;
    if (q && tw_build_is_weight(x))
        tw_build_known(c->b, q);
    return q;
}

static tw_value *dequantised(tw_torch_call *c, tw_value *x, const tw_torch_storing *s)
{
    return tw_build1(c->b, "Dequantize", tw_build_with_quant(c->b, x, s->quant), NULL);
}

/* --- pairs: (x, scale, zero_point, axis?, quant_min, quant_max, dtype) -------------------------- */

static const tw_storing_places by_tensor = {1, 2, -1, 3}, by_channel = {1, 2, 3, 4};

static bool quantise(tw_torch_call *c, tw_storing_places at)
{
    tw_torch_storing s;
    tw_value *x = tw_torch_real_in(c, 0);
    return tw_torch_type(c, at.low + 2, TW_S8, &s.dtype) && known_int(c, at.low, &s.low) &&
           known_int(c, at.low + 1, &s.high) && read_storing(c, x, at, &s) &&
           tw_torch_give(c, quantised(c, x, &s));
}

/* The least and greatest number do not matter any more. */
static bool dequantise(tw_torch_call *c, tw_storing_places at)
{
    tw_torch_storing s = {.low = INT32_MIN, .high = INT32_MAX};
    tw_value *x = tw_torch_in(c, 0);
    if (!x || !tw_torch_type(c, at.low + 2, TW_S8, &s.dtype))
        return false;
    if (x->shape.dtype != s.dtype)
        return TW_TORCH_FAIL(c, "the tensor is %s, and said to be %s",
                             tw_dtype_name(x->shape.dtype), tw_dtype_name(s.dtype));
    return read_storing(c, x, at, &s) && tw_torch_give(c, dequantised(c, x, &s));
}

bool tw_torch_op_quantise(tw_torch_call *c)
{
    return quantise(c, by_tensor);
}

bool tw_torch_op_quantise_channels(tw_torch_call *c)
{
    return quantise(c, by_channel);
}

bool tw_torch_op_dequantise(tw_torch_call *c)
{
    return dequantise(c, by_tensor);
}

bool tw_torch_op_dequantise_channels(tw_torch_call *c)
{
    return dequantise(c, by_channel);
}

/* --- fake quantisation: (x, scale, zero_point, axis?, quant_min, quant_max) ---------------------- */

/* The smallest type that holds the numbers used. */
static tw_dtype type_for(int64_t low, int64_t high)
{
    static const tw_dtype types[] = {TW_S8, TW_U8, TW_S16, TW_S32};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        int64_t least, most;
        if (range_of(types[i], &least, &most) && low >= least && high <= most)
            return types[i];
    }
    return TW_NO_DTYPE;
}

static tw_value *rounded(tw_torch_call *c, tw_storing_places at)
{
    tw_torch_storing s;
    tw_value *x = tw_torch_real_in(c, 0);
    if (!known_int(c, at.low, &s.low) || !known_int(c, at.low + 1, &s.high))
        return NULL;
    s.dtype = type_for(s.low, s.high);
    if (s.dtype == TW_NO_DTYPE) {
        TW_TORCH_UNSUPPORTED(c, "numbers from %lld to %lld are not supported", (long long)s.low,
                             (long long)s.high);
        return NULL;
    }
    if (!read_storing(c, x, at, &s))
        return NULL;
    tw_value *q = quantised(c, x, &s);
    return q ? dequantised(c, q, &s) : NULL;
}

bool tw_torch_op_fake_quantise(tw_torch_call *c)
{
    return tw_torch_give(c, rounded(c, by_tensor));
}

bool tw_torch_op_fake_quantise_channels(tw_torch_call *c)
{
    return tw_torch_give(c, rounded(c, by_channel));
}

/* The second result says for training where x was within the bounds. */
bool tw_torch_op_fake_quantise_masked(tw_torch_call *c)
{
    return tw_torch_give_first(c, rounded(c, by_tensor), 2);
}

bool tw_torch_op_fake_quantise_channels_masked(tw_torch_call *c)
{
    return tw_torch_give_first(c, rounded(c, by_channel), 2);
}

/* (x, scale, zero_point, enabled, quant_min, quant_max) */
bool tw_torch_op_fake_quantise_enabled(tw_torch_call *c)
{
    enum { ENABLED = 3 };
    int64_t enabled;
    if (!known_int(c, ENABLED, &enabled))
        return false;
    tw_value *x = enabled ? rounded(c, (tw_storing_places){1, 2, -1, 4}) : tw_torch_real_in(c, 0);
    return tw_torch_give_first(c, x, 2);
}

/* (x, observer_on, fake_quant_on, running_min, running_max, scale, zero_point, averaging_const, quant_min,
 * quant_max, ch_axis, per_row_fake_quant, symmetric_quant): fake quantisation that first looks at x in training */
bool tw_torch_op_fake_quantise_observed(tw_torch_call *c)
{
    enum { OBSERVES = 1, ENABLED, SCALE = 5, ZERO, LOW = 8, AXIS = 10, BY_CHANNEL };
    int64_t observes, enabled;
    if (!known_int(c, OBSERVES, &observes) || !known_int(c, ENABLED, &enabled))
        return false;
    if (observes)
        return TW_TORCH_UNSUPPORTED(c, "it still observes; call "
                                       "model.apply(torch.ao.quantization.disable_observer) before "
                                       "exporting");
    const tw_storing_places at = {SCALE, ZERO, tw_torch_flag(c, BY_CHANNEL) ? AXIS : -1, LOW};
    return tw_torch_give(c, enabled ? rounded(c, at) : tw_torch_real_in(c, 0));
}
