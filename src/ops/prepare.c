/* Tables and weights for the multiply-accumulate kernels. */
#include "ops/prepare.h"

#include <math.h>
#include <string.h>

#include "ops/product_s16.h"
#include "ops/scale.h"

static bool unsupported(const tw_node *node, tw_diag *diag, const char *what)
{
    return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name, "%s", what);
}

static bool is_usable_scale(float scale)
{
    return scale > 0 && isfinite(scale);
}

/* Everything the tables need is there. */
static bool check_quantisation(const tw_node *node, const tw_weight_layout *l, tw_diag *diag)
{
    const tw_value *x = node->in[0], *w = node->in[1], *y = node->out[0];
    const tw_value *b = node->in_count > 2 ? node->in[2] : NULL;
    if (x->quant.count != 1 || y->quant.count != 1)
        return unsupported(node, diag,
                           "an integer input or output without exactly one scale; give both "
                           "a per-tensor quantisation");
    if (w->quant.count != 1 && (w->quant.count != l->channels || w->quant.axis != l->axis))
        return tw_fail(
            diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
            "weights with %d scales on axis %d; one scale, or %d on axis %d are supported",
            w->quant.count, w->quant.axis, (int)l->channels, l->axis);
    if (!w->data || (b && !b->data))
        return unsupported(node, diag,
                           "integer weights or a bias computed at run time; make them "
                           "constant, or keep the operator in float");
    for (int i = 0; i < w->quant.count; i++) {
        int32_t zero = w->quant.zero_point[i];
        if (zero != 0 &&
            !(l->zero_points && w->quant.count == 1 && zero >= INT8_MIN && zero <= INT8_MAX))
            return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                           "weights with zero point %d; quantise them symmetrically (zero point 0)",
                           (int)zero);
        if (!is_usable_scale(w->quant.scale[i]))
            return unsupported(node, diag, "a scale of the weights is not positive and finite");
    }
    int32_t x_zero = x->quant.zero_point[0], y_zero = y->quant.zero_point[0];
    if (x->shape.dtype == TW_S16 && (x_zero != 0 || y_zero != 0 || w->quant.zero_point[0] != 0))
        return unsupported(node, diag,
                           "a zero point other than 0 of int16 tensors or their weights");
    if (x_zero < INT8_MIN || x_zero > INT8_MAX || y_zero < INT8_MIN || y_zero > INT8_MAX)
        return unsupported(node, diag, "a zero point outside -128..127");
    if (!is_usable_scale(x->quant.scale[0]) || !is_usable_scale(y->quant.scale[0]))
        return unsupported(node, diag, "a scale that is not positive and finite");
    return true;
}

static float weight_scale(const tw_node *node, int32_t channel)
{
    const tw_quant *q = &node->in[1]->quant;
    return q->scale[q->count == 1 ? 0 : channel];
}

/* The scale of the sums must be the bias's: it is stored in their units. */
static bool check_bias_scale(const tw_node *node, int32_t channel, tw_diag *diag)
{
    const tw_value *b = node->in_count > 2 ? node->in[2] : NULL;
    if (!b || b->quant.count == 0)
        return true;
    double want = (double)node->in[0]->quant.scale[0] * (double)weight_scale(node, channel);
    double have = (double)b->quant.scale[b->quant.count == 1 ? 0 : channel];
    int32_t zero = b->quant.zero_point[b->quant.count == 1 ? 0 : channel];
    if (zero == 0 && fabs(have - want) <= 1e-3 * want)
        return true;
    return tw_fail(
        diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
        "the bias of channel %d has scale %g and zero point %d; it must be in units of the "
        "sums, scale %g and zero point 0",
        (int)channel, have, (int)zero, want);
}

/* The multiplier of one channel as TFLite computes it. */
static double real_multiplier(const tw_node *node, const tw_weight_layout *l, int32_t channel)
{
    float x = node->in[0]->quant.scale[0], w = weight_scale(node, channel);
    double y = (double)node->out[0]->quant.scale[0];
    if (l->float_product && node->in[1]->quant.count == 1) {
        float product = x * w;
        return (double)product / y;
    }
    return (double)x * (double)w / y;
}

typedef struct tw_sum {
    int64_t folded;    /* the bias table's entry */
    int64_t low, high; /* what the sum can reach, over all inputs; at the ends of int64 a bias that
                          leaves no room for sums */
} tw_sum;

static int64_t bias_at(const tw_node *node, int32_t channel)
{
    const tw_value *b = node->in_count > 2 ? node->in[2] : NULL;
    return !b                         ? 0
           : b->shape.dtype == TW_S64 ? ((const int64_t *)b->data)[channel]
                                      : ((const int32_t *)b->data)[channel];
}

static tw_sum sum_of(const tw_node *node, const tw_weight_layout *l, int32_t channel)
{
    const int8_t *w = node->in[1]->data;
    const bool is_s16 = node->in[0]->shape.dtype == TW_S16;
    const int32_t lowest = is_s16 ? INT16_MIN : INT8_MIN, highest = is_s16 ? INT16_MAX : INT8_MAX;
    int32_t x_zero = node->in[0]->quant.zero_point[0], w_zero = node->in[1]->quant.zero_point[0];
    tw_sum s = {bias_at(node, channel), 0, 0};
    s.low = s.high = s.folded;
    if (s.folded < INT64_MIN / 2 || s.folded > INT64_MAX / 2)
        return (tw_sum){s.folded, INT64_MIN, INT64_MAX};
    for (int32_t k = 0; k < l->taps; k++) {
        int64_t v = (int64_t)w[channel * l->channel + k * l->tap] - w_zero;
        int64_t least = v * (lowest - x_zero), most = v * (highest - x_zero);
        s.low += least < most ? least : most;
        s.high += least < most ? most : least;
        s.folded -= v * x_zero;
    }
    return s;
}

/* Sums and their requantisation shift left must stay within 32 bits; those of 64 bits within 48. */
static bool fits(const tw_sum *s, int32_t shift, bool wide)
{
    int64_t bound = wide ? INT64_C(1) << 47 : (int64_t)INT32_MAX >> (shift > 0 ? shift : 0);
    return s->low >= -bound && s->high <= bound;
}

static bool check_wide_shift(const tw_node *node, int32_t shift, tw_diag *diag)
{
    return shift <= 14 ||
           unsupported(node, diag,
                       "the output's scale is more than 2^14 times finer than that of the sums; "
                       "give it a larger one");
}

/* One channel's entries of the tables. */
static bool fill_channel(const tw_node *node, const tw_weight_layout *l, int32_t c, bool wide,
                         const tw_sum *s, void *const *table, tw_diag *diag)
{
    int32_t *shift = &((int32_t *)table[TW_BLOB_SHIFT])[c];
    if (!check_bias_scale(node, c, diag))
        return false;
    tw_quantize_multiplier(real_multiplier(node, l, c), &((int32_t *)table[TW_BLOB_MULTIPLIER])[c],
                           shift);
    if (wide) {
        ((int64_t *)table[TW_BLOB_BIAS])[c] = s->folded;
        return check_wide_shift(node, *shift, diag);
    }
    if (s->folded < INT32_MIN || s->folded > INT32_MAX)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "the bias of channel %d, zero points folded in, is %lld and leaves 32 bits; "
                       "keep the operator in float",
                       (int)c, (long long)s->folded);
    ((int32_t *)table[TW_BLOB_BIAS])[c] = (int32_t)s->folded;
    return true;
}

bool tw_prepare_channels(const tw_node *node, const tw_weight_layout *layout, tw_arena *arena,
                         tw_lowering *lowering, tw_diag *diag)
{
    if (!check_quantisation(node, layout, diag))
        return false;
    const tw_value *b = node->in_count > 2 ? node->in[2] : NULL;
    const bool wide =
        node->in[0]->shape.dtype == TW_S16 && (b ? b->shape.dtype == TW_S64 : layout->wide_sums);
    void *table[TW_BLOB_COUNT];
    for (int i = 0; i < TW_BLOB_COUNT; i++) {
        uint32_t bytes = (uint32_t)layout->channels * (i == TW_BLOB_BIAS && wide ? 8u : 4u);
        table[i] = tw_alloc(arena, bytes);
        lowering->blob[i].data = table[i];
        lowering->blob[i].bytes = bytes;
    }
    lowering->blob_count = TW_BLOB_COUNT;
    int32_t beyond = -1;
    const int32_t *shift = table[TW_BLOB_SHIFT];
    for (int32_t c = 0; c < layout->channels; c++) {
        tw_sum s = sum_of(node, layout, c);
        if (!fill_channel(node, layout, c, wide, &s, table, diag))
            return false;
        if (beyond < 0 && !fits(&s, shift[c], wide))
            beyond = c;
    }
    if (beyond >= 0) {
        tw_sum s = sum_of(node, layout, beyond);
        tw_warn(
            diag, node->name, node->op->name,
            "the sum of channel %d can reach %lld..%lld, which %d bits%s do not hold: it wraps, as "
            "the reference's does; use smaller weights or keep the operator in float",
            (int)beyond, (long long)s.low, (long long)s.high, wide ? 48 : 32,
            !wide && shift[beyond] > 0 ? " shifted for the output's scale" : "");
    }
    if (b)
        lowering->unread |= 1u << 2;
    return true;
}

void tw_prepare_single(double real, tw_arena *arena, tw_lowering *lowering)
{
    for (int i = 0; i < TW_BLOB_COUNT; i++) {
        lowering->blob[i].data = tw_alloc(arena, 4);
        lowering->blob[i].bytes = 4;
    }
    lowering->blob_count = TW_BLOB_COUNT;
    tw_quantize_multiplier(real, lowering->blob[TW_BLOB_MULTIPLIER].data,
                           lowering->blob[TW_BLOB_SHIFT].data);
}

bool tw_prepare_single_wide(const tw_node *node, double real, tw_arena *arena,
                            tw_lowering *lowering, tw_diag *diag)
{
    tw_prepare_single(real, arena, lowering);
    lowering->blob[TW_BLOB_BIAS].data = tw_alloc(arena, 8);
    lowering->blob[TW_BLOB_BIAS].bytes = 8;
    return check_wide_shift(node, *(const int32_t *)lowering->blob[TW_BLOB_SHIFT].data, diag);
}

void tw_prepare_order(const tw_node *node, int i, const int *order, tw_arena *arena,
                      tw_lowering *lowering)
{
    const tw_value *v = node->in[i];
    const int rank = v->shape.rank;
    if (!v->data)
        return;
    size_t bytes = tw_dtype_bytes(v->shape.dtype);
    const tw_tensor dense = tw_tensor_of(v);
    int32_t stride = 1, index[TW_MAX_RANK] = {0};
    for (int k = rank - 1; k >= 0; k--) {
        lowering->stored[i].stride[order[k]] = stride;
        stride *= v->shape.dim[order[k]];
    }
    int64_t count = tw_shape_elements(&v->shape);
    char *to = tw_alloc(arena, (size_t)count * bytes);
    for (int64_t n = 0; n < count; n++) { /* to in its own order */
        int64_t from = 0;
        for (int k = 0; k < rank; k++)
            from += (int64_t)index[k] * dense.stride[k];
        memcpy(to + (size_t)n * bytes, (const char *)v->data + (size_t)from * bytes, bytes);
        for (int k = rank - 1; k >= 0 && ++index[order[k]] == v->shape.dim[order[k]]; k--)
            index[order[k]] = 0;
    }
    lowering->stored[i].data = to;
}
