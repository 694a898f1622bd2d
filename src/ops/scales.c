/* What Quantize, Dequantize and Requantize share in the compiler: their table of scales. */
#include "ops/scales.h"

#include <math.h>

#include "ops/quantize.h"
#include "ops/scale.h"
#include "runtime/elements.h"

bool tw_is_quantised_type(tw_dtype dtype)
{
    int32_t low, high;
    return tw_integer_limits(dtype, &low, &high) != 0;
}

static bool check_value(const tw_node *node, const tw_value *v, const char *which, tw_diag *diag)
{
    if (!tw_is_quantised_type(v->shape.dtype))
        return true;
    if (v->quant.count == 0)
        return tw_fail(diag, TW_CODE_FAILED, node->name, node->op->name,
                       "the %s has no scale; set its quantisation", which);
    int32_t low = 0, high = 0; /* of s32 */
    if (v->shape.dtype != TW_S32)
        tw_integer_limits(v->shape.dtype, &low, &high);
    for (int i = 0; i < v->quant.count; i++)
        if (v->quant.zero_point[i] < low || v->quant.zero_point[i] > high)
            return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                           "the %s is %s with zero point %d; it must lie between %d and %d", which,
                           tw_dtype_name(v->shape.dtype), (int)v->quant.zero_point[i], (int)low,
                           (int)high);
    return true;
}

/* Scale and zero point i of a value; 1 and 0 of one that has none. */
static void part(const tw_value *v, int i, float *scale, int32_t *zero)
{
    int k = v->quant.count > 1 ? i : 0;
    bool has = tw_is_quantised_type(v->shape.dtype);
    *scale = has ? v->quant.scale[k] : 1;
    *zero = has ? v->quant.zero_point[k] : 0;
}

bool tw_lower_scales(const tw_node *node, int signature, tw_arena *arena, tw_lowering *lowering,
                     tw_diag *diag)
{
    const tw_value *in = node->in[0], *out = node->out[0];
    int in_count = in->quant.count, out_count = out->quant.count;
    if (!check_value(node, in, "input", diag) || !check_value(node, out, "result", diag))
        return false;
    if (in_count > 1 && out_count > 1 && in->quant.axis != out->quant.axis)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "the input has scales along axis %d, the result along axis %d; they must "
                       "share one",
                       in->quant.axis, out->quant.axis);
    const tw_quant *many = in_count > 1 ? &in->quant : &out->quant;
    int count = many->count > 1 ? many->count : 1;
    size_t bytes = sizeof(tw_scale_table) + (size_t)count * sizeof(tw_scale_row);
    tw_scale_table *table = tw_alloc(arena, bytes);
    *table = (tw_scale_table){many->count > 1 ? many->axis : -1, count};
    tw_scale_row *rows = (tw_scale_row *)(void *)(table + 1);
    for (int i = 0; i < count; i++) {
        part(in, i, &rows[i].in_scale, &rows[i].in_zero);
        part(out, i, &rows[i].out_scale, &rows[i].out_zero);
        tw_quantize_multiplier((double)rows[i].in_scale / (double)rows[i].out_scale,
                               &rows[i].multiplier, &rows[i].shift);
    }
    lowering->blob[0].data = table;
    lowering->blob[0].bytes = (uint32_t)bytes;
    lowering->blob_count = 1;
    lowering->kernel = tw_op_kernel(node->op, signature);
    tw_lower_clamp(node, lowering);
    if (out_count > 1 && (node->clamp.low > -INFINITY || node->clamp.high < INFINITY))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "a result with several scales cannot be clamped");
    return true;
}
