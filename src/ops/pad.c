/* Pad: record. The constant is prepared as the bits of one element. */
#include <math.h>
#include <string.h>

#include "ops/pad.h"

#include "base/half.h"
#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(pad, TW_PAD_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_pad_attributes *a = call->attributes;
    const tw_shape *in = &call->in[0]->shape;
    if ((a->before.count != 0 && a->before.count != in->rank) ||
        (a->after.count != 0 && a->after.count != in->rank))
        return TW_SHAPE_FAIL(call,
                             "before and after need one entry for each of the input's %d axes, or "
                             "none",
                             in->rank);
    call->out[0] = *in;
    for (int k = 0; k < in->rank; k++) {
        int64_t before = tw_pad_before(a, k), after = tw_pad_after(a, k);
        int64_t extent = before + in->dim[k] + after;
        if (extent > INT32_MAX)
            return TW_SHAPE_UNSUPPORTED(call, "axis %d would have %lld elements; at most %d fit", k,
                                        (long long)extent, INT32_MAX);
        if (a->mode != TW_PAD_CONSTANT && in->dim[k] == 0 && extent > 0)
            return TW_SHAPE_FAIL(
                call, "axis %d is empty: there is nothing to repeat; use mode constant", k);
        call->out[0].dim[k] = (int32_t)extent;
    }
    return true;
}

/* Constant: output row o is input row o - before, and rows outside need none. Edge and the mirrors
 * look back and forth by at most `before` and `after` rows more, wrap at the other end. */
static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_pad_attributes *a = node->attributes;
    const tw_shape *in = &node->in[input]->shape;
    if (axis >= in->rank)
        return tw_rows_whole();
    int64_t before = tw_pad_before(a, axis), after = tw_pad_after(a, axis), n = in->dim[axis];
    if (a->mode == TW_PAD_CONSTANT || before + after == 0)
        return tw_rows_mapped(1, 1, before, -before);
    if (a->mode == TW_PAD_EDGE)
        return tw_rows_mapped(1, 1, 0, -before - after);
    if (a->mode == TW_PAD_WRAP || before >= n || after >= n)
        return tw_rows_whole();
    return tw_rows_mapped(1, 1, -before, -before - 2 * after);
}

/* An integer type's bits of a real value: cut off, then held within the type. NaN is 0. */
static uint64_t integer_bits(double v, unsigned bits, bool is_signed)
{
    double top = ldexp(1, (int)bits - is_signed), low = is_signed ? -top : 0;
    uint64_t most = UINT64_MAX >> (64 - bits + is_signed);
    if (isnan(v))
        return 0;
    if (v >= top)
        return most;
    if (v < low)
        v = low;
    return v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
}

/* The element that stands for `real`, in the low bytes. */
static uint64_t fill_bits(const tw_value *value, float real)
{
    tw_dtype dtype = value->shape.dtype;
    double v = (double)real;
    uint64_t bits = 0;
    if (value->quant.count)
        v = round(v / (double)value->quant.scale[0]) + value->quant.zero_point[0];
    switch (dtype) {
    case TW_F32: memcpy(&bits, &real, sizeof real); break;
    case TW_F64: memcpy(&bits, &v, sizeof v); break;
    case TW_F16: bits = tw_half_from_double(v); break;
    case TW_BF16: bits = tw_bfloat_from_double(v); break;
    case TW_BOOL: bits = v != 0; break;
    default:
        bits =
            integer_bits(v, 8 * tw_dtype_bytes(dtype),
                         dtype == TW_S8 || dtype == TW_S16 || dtype == TW_S32 || dtype == TW_S64);
    }
    return bits;
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_pad_attributes *a = node->attributes;
    const tw_value *in = node->in[0];
    if (in->quant.count > 1 || !tw_quant_equal(&in->quant, &node->out[0]->quant))
        return tw_fail(diag, TW_CODE_FAILED, node->name, node->op->name,
                       "input and result need the same single scale and zero point; put a "
                       "Requantize behind it");
    if (a->mode == TW_PAD_CONSTANT) {
        uint64_t bits = fill_bits(in, a->value);
        lowering->blob[0].bytes = tw_dtype_bytes(in->shape.dtype);
        lowering->blob[0].data = tw_copy(arena, &bits, lowering->blob[0].bytes);
        lowering->blob_count = 1;
    }
    return tw_lower_default(node, arena, lowering, diag);
}

/* clang-format off */
static const char samples[] =
    TW_SAMPLE("constant", "f32[1,5,4,3]", "-3", "3",
              "", "Pad (%x) {before=[0,2,1,0], after=[0,1,2,0], value=1.5}")
    TW_SAMPLE("reflect", "f32[1,5,4,3]", "-3", "3",
              "", "Pad (%x) {before=[0,2,1,0], after=[0,1,3,0], mode=reflect}")
    TW_SAMPLE("edge", "f32[1,5,4,3]", "-3", "3",
              "", "Pad (%x) {before=[0,2,1,0], after=[0,1,3,0], mode=edge}")
    TW_SAMPLE("wrap", "f32[1,5,4,3]", "-3", "3",
              "", "Pad (%x) {before=[0,2,1,0], after=[0,1,3,0], mode=wrap}")
    TW_SAMPLE("symmetric", "f32[1,5,4,3]", "-3", "3",
              "", "Pad (%x) {before=[0,2,1,0], after=[0,1,3,0], mode=symmetric}")
    TW_SAMPLE("s8", "s8[1,7,5,3] quant(scale=0.05, zero=-4)", "-128", "128",
              "", "Pad (%x) {before=[0,1,1,1], after=[0,2,0,0], value=-2}");
/* clang-format on */

const tw_opdef tw_op_pad = {
    TW_OP_LEDGER(pad),
    TW_OP_ATTRIBUTES(pad),
    .formula = "out[i] = x[i - before], outside x by `mode`",
    .min_in = 1,
    .max_in = 1,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .lower = lower,
    .limits = "pads are not negative (use Slice to cut); wrap needs its whole input on a padded "
              "axis, and so do mirrors wider than the input",
    .samples = samples,
    .onnx = "",
};
