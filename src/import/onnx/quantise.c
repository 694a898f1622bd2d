/* QuantizeLinear, DequantizeLinear and what quantised operators are made of. */
#include "import/onnx/quantise.h"

#include <math.h>
#include <string.h>

#include "import/onnx/model.h"

tw_onnx_scaled tw_onnx_scale_in(tw_onnx_node *n, int scale, int zero, int axis)
{
    tw_value *by = tw_onnx_need(n, scale);
    by = tw_onnx_decoded(n, by, by ? tw_onnx_narrow_of(n->onnx, by) : NULL);
    if (by && by->shape.dtype == TW_S32) /* of QuantizeLinear, a whole number */
        by = tw_build_cast(n->b, by, TW_F32);
    return (tw_onnx_scaled){
        .scale = by, .zero_point = zero < 0 ? NULL : tw_onnx_in(n, zero), .axis = axis};
}

/* --- scales ------------------------------------------------------------------------------------ */

/* Blocks along the axis cover the tensor, the last one perhaps in part. */
static bool check_blocks(tw_onnx_node *n, const tw_shape *x, const tw_onnx_scaled *by)
{
    const tw_shape *s = &by->scale->shape;
    bool fits = s->rank == x->rank && by->axis < x->rank;
    for (int i = 0; fits && i < x->rank; i++)
        fits = i == by->axis ? (x->dim[i] + by->block - 1) / by->block == s->dim[i]
                             : s->dim[i] == x->dim[i];
    char scales[96], tensor[96];
    tw_shape_text(s, scales, sizeof scales);
    tw_shape_text(x, tensor, sizeof tensor);
    return fits || TW_ONNX_FAIL(n,
                                "scales of shape %s do not match blocks of %lld along axis %d of "
                                "a tensor of shape %s",
                                scales, (long long)by->block, by->axis, tensor);
}

/* One scale, or one for each index of the axis; a zero point for each scale. */
static bool check_scale(tw_onnx_node *n, const tw_shape *x, tw_dtype stored, tw_onnx_scaled *by)
{
    const tw_shape *s = &by->scale->shape;
    int64_t count = tw_shape_elements(s);
    if (s->dtype != TW_F32)
        return TW_ONNX_UNSUPPORTED(n, "the scale has type %s; f32 is supported",
                                   tw_dtype_name(s->dtype));
    if (by->block && !check_blocks(n, x, by))
        return false;
    if (s->rank > 1 && count != 1 && !by->block)
        return TW_ONNX_UNSUPPORTED(
            n, "scales of rank %d are supported for blocks (block_size) only", s->rank);
    if (!by->block && count != 1 && (by->axis >= x->rank || count != x->dim[by->axis]))
        return TW_ONNX_FAIL(n, "%lld scales do not match axis %d of the tensor", (long long)count,
                            by->axis);
    if (by->zero_point && tw_shape_elements(&by->zero_point->shape) != count)
        return TW_ONNX_FAIL(n, "%lld zero points are given for %lld scales",
                            (long long)tw_shape_elements(&by->zero_point->shape), (long long)count);
    if (by->zero_point && by->zero_point->shape.dtype != stored)
        return TW_ONNX_FAIL(n, "the zero point has type %s, the tensor %s",
                            tw_dtype_name(by->zero_point->shape.dtype), tw_dtype_name(stored));
    return true;
}

static bool is_known(tw_onnx_node *n, const tw_onnx_scaled *by)
{
    return !by->block && tw_build_known(n->b, by->scale) &&
           (!by->zero_point || tw_build_known(n->b, by->zero_point));
}

/* Known scales as the IR keeps them. */
static bool make_quant(tw_onnx_node *n, const tw_onnx_scaled *by, tw_quant *quant)
{
    int count = (int)tw_shape_elements(&by->scale->shape);
    float *scale = tw_alloc_array(n->b->arena, (size_t)count, sizeof *scale);
    int32_t *zero = tw_alloc_array(n->b->arena, (size_t)count, sizeof *zero);
    for (int i = 0; i < count; i++) {
        scale[i] = (float)tw_constant_at(by->scale, i);
        zero[i] = by->zero_point ? (int32_t)tw_build_int_at(by->zero_point, i) : 0;
        if (!(scale[i] > 0) || !isfinite(scale[i]))
            return TW_ONNX_FAIL(n, "scale %d is %g; scales must be positive", i, (double)scale[i]);
    }
    *quant = (tw_quant){count, count == 1 ? 0 : by->axis, scale, zero};
    return true;
}

/* A number for each block as a number for each element of x: each is repeated along the axis, and what
 * goes beyond x is cut off. */
static tw_value *by_element(tw_onnx_node *n, tw_value *list, const tw_shape *x,
                            const tw_onnx_scaled *by)
{
    if (x->rank == TW_MAX_RANK) {
        TW_ONNX_UNSUPPORTED(n, "blocks of a tensor of rank %d are not supported", x->rank);
        return NULL;
    }
    int64_t apart[TW_MAX_RANK], together[TW_MAX_RANK] = {0};
    tw_shape wide = {.dtype = list->shape.dtype, .rank = x->rank + 1};
    for (int i = 0; i <= x->rank; i++) {
        int from = i <= by->axis ? i : i - 1;
        apart[i] = i == by->axis + 1 ? 1 : list->shape.dim[from];
        wide.dim[i] = (int32_t)(i == by->axis + 1 ? by->block : apart[i]);
    }
    for (int i = 0; i < x->rank; i++)
        together[i] = list->shape.dim[i] * (i == by->axis ? by->block : 1);
    list = tw_build_reshape(n->b, list, x->rank + 1, apart);
    list = tw_build_reshape(n->b, tw_build_expand(n->b, list, &wide), x->rank, together);
    return list && together[by->axis] > x->dim[by->axis]
               ? tw_build_slice(n->b, list, by->axis, 0, x->dim[by->axis], 1)
               : list;
}

/* Scales or zero points, shaped so that they broadcast to x. */
static tw_value *spread(tw_onnx_node *n, tw_value *list, const tw_shape *x,
                        const tw_onnx_scaled *by)
{
    int64_t dim[TW_MAX_RANK] = {1, 1, 1, 1, 1, 1};
    if (list && by->block)
        return by_element(n, list, x, by);
    if (!list || tw_shape_elements(&list->shape) == 1)
        return list && list->shape.rank ? tw_build_reshape(n->b, list, 0, NULL) : list;
    dim[0] = list->shape.dim[0];
    return tw_build_reshape(n->b, list, x->rank - by->axis, dim);
}

static bool is_stored(tw_dtype dtype)
{
    return dtype == TW_S8 || dtype == TW_U8 || dtype == TW_S16 || dtype == TW_S32;
}

static bool is_possible(tw_dtype dtype)
{
    return is_stored(dtype) || dtype == TW_U16;
}

/* The zero point of floats of few bits, shaped to broadcast to x; null where it is 0, as it always should be. */
static tw_value *codes_zero(tw_onnx_node *n, const tw_onnx_narrow *type, const tw_shape *x,
                            const tw_onnx_scaled *by)
{
    tw_value *zero = tw_onnx_decoded(n, by->zero_point, type);
    bool is_zero = !zero || tw_build_known(n->b, zero);
    for (int64_t i = 0; zero && is_zero && i < tw_shape_elements(&zero->shape); i++)
        is_zero = tw_constant_at(zero, i) == 0;
    return is_zero ? NULL : spread(n, zero, x, by);
}

static tw_value *codes_dequantized(tw_onnx_node *n, tw_value *x, const tw_onnx_narrow *type,
                                   const tw_onnx_scaled *by)
{
    tw_shape shape = x->shape;
    tw_value *zero = codes_zero(n, type, &shape, by), *y = tw_onnx_decoded(n, x, type);
    if (zero)
        y = tw_build2(n->b, "Sub", y, zero, NULL);
    return tw_build2(n->b, "Mul", y, spread(n, by->scale, &shape, by), NULL);
}

static tw_value *codes_quantized(tw_onnx_node *n, tw_value *y, const tw_onnx_scaled *by)
{
    tw_shape shape = y->shape;
    tw_value *zero = codes_zero(n, by->narrow, &shape, by);
    y = tw_build2(n->b, "Div", y, spread(n, by->scale, &shape, by), NULL);
    if (zero)
        y = tw_build2(n->b, "Add", y, zero, NULL);
    return tw_onnx_encoded(n, y, by->narrow, !by->lets_go, "up");
}

tw_value *tw_onnx_dequantized(tw_onnx_node *n, tw_value *x, tw_onnx_scaled by)
{
    if (!x || !by.scale || !check_scale(n, &x->shape, x->shape.dtype, &by))
        return NULL;
    if (!is_possible(x->shape.dtype)) {
        TW_ONNX_UNSUPPORTED(n, "a tensor of type %s cannot be dequantised",
                            tw_dtype_name(x->shape.dtype));
        return NULL;
    }
    const tw_onnx_narrow *narrow = tw_onnx_narrow_of(n->onnx, x);
    if (narrow && narrow->format)
        return codes_dequantized(n, x, narrow, &by);
    tw_quant quant;
    if (is_stored(x->shape.dtype) && is_known(n, &by))
        return make_quant(n, &by, &quant)
                   ? tw_build1(n->b, "Dequantize", tw_build_with_quant(n->b, x, quant), NULL)
                   : NULL;
    /* (x - zero point) in 32-bit integers, then the scale. */
    tw_shape shape = x->shape;
    x = tw_build_with_quant(n->b, x, (tw_quant){0, 0, NULL, NULL});
    if (by.zero_point)
        x = tw_build2(n->b, "Sub", tw_build_cast(n->b, x, TW_S32),
                      tw_build_cast(n->b, spread(n, by.zero_point, &shape, &by), TW_S32), NULL);
    return tw_build2(n->b, "Mul", tw_build_cast(n->b, x, TW_F32), spread(n, by.scale, &shape, &by),
                     NULL);
}

/* The least and the greatest number of a type of up to 16 bits. */
static bool range_of(tw_onnx_node *n, tw_dtype dtype, const tw_onnx_narrow *narrow, float *low,
                     float *high)
{
    bool is_signed = dtype == TW_S8 || dtype == TW_S16;
    if (!is_signed && dtype != TW_U8 && dtype != TW_U16)
        return TW_ONNX_UNSUPPORTED(n, "tensors cannot be quantised to type %s",
                                   tw_dtype_name(dtype));
    int bits = narrow ? narrow->bits : 8 * (int)tw_dtype_bytes(dtype);
    *low = is_signed ? -ldexpf(1, bits - 1) : 0;
    *high = ldexpf(1, bits - is_signed) - 1;
    return true;
}

tw_value *tw_onnx_quantized(tw_onnx_node *n, tw_value *y, tw_dtype dtype, tw_onnx_scaled by)
{
    if (!y || !by.scale || !check_scale(n, &y->shape, dtype, &by))
        return NULL;
    tw_quant quant;
    float low, high;
    y = tw_build_cast(n->b, y, TW_F32);
    if (y && by.narrow && by.narrow->format)
        return codes_quantized(n, y, &by);
    if (y && is_stored(dtype) && !by.narrow && is_known(n, &by))
        return make_quant(n, &by, &quant) ? tw_build_quantize(n->b, y, dtype, quant, "half_even")
                                          : NULL;
    if (!y || !range_of(n, dtype, by.narrow, &low, &high))
        return NULL;
    /* Rounded before the zero point is added, which is exact. */
    tw_shape shape = y->shape;
    tw_value *q = tw_build2(n->b, "Div", y, spread(n, by.scale, &shape, &by), NULL);
    q = tw_build1(n->b, "Round", q, NULL);
    if (by.zero_point)
        q = tw_build2(n->b, "Add", q,
                      tw_build_cast(n->b, spread(n, by.zero_point, &shape, &by), TW_F32), NULL);
    q = tw_build1(n->b, "Clip", q,
                  TW_SETTINGS(tw_set_float("alpha", low), tw_set_float("beta", high)));
    return tw_build_cast(n->b, q, dtype);
}

/* --- the linear operators ---------------------------------------------------------------------- */

static bool is_real(tw_dtype dtype)
{
    return dtype == TW_F32 || dtype == TW_F64 || tw_onnx_is_widened(dtype);
}

/* Inputs 1 and 2, with the axis of a list of scales, or of blocks. Before opset 13 there is one scale
 * only. */
static bool read_scale(tw_onnx_node *n, const tw_shape *x, tw_onnx_scaled *by)
{
    int64_t axis = tw_onnx_int(n, "axis", 1), block = tw_onnx_int(n, "block_size", 0);
    *by = tw_onnx_scale_in(n, 1, 2, 0);
    if (block < 0 || block > INT32_MAX)
        return TW_ONNX_FAIL(n, "block_size is %lld", (long long)block);
    by->block = block;
    if (by->scale && tw_shape_elements(&by->scale->shape) == 1 && !block)
        return true; /* the axis has no meaning, and may not exist */
    return tw_onnx_axis(n, axis, x->rank, &by->axis);
}

bool tw_onnx_op_quantize_linear(tw_onnx_node *n)
{
    tw_value *x = n->in[0], *zero = tw_onnx_in(n, 2);
    tw_onnx_scaled by;
    tw_dtype dtype = zero ? zero->shape.dtype : TW_U8;
    int64_t given = tw_onnx_int(n, "output_dtype", 0), precision = tw_onnx_int(n, "precision", 0);
    bool saturate = tw_onnx_int(n, "saturate", 1) != 0;
    const tw_onnx_narrow *narrow =
        zero ? tw_onnx_narrow_of(n->onnx, zero) : tw_onnx_narrow_type(given);
    if (given != 0 && tw_onnx_held_as(given) == TW_NO_DTYPE)
        return tw_onnx_refuse_dtype(given, "the result", n->b->diag);
    if (given != 0 && zero &&
        (tw_onnx_held_as(given) != dtype || tw_onnx_narrow_type(given) != narrow))
        return TW_ONNX_FAIL(n, "output_dtype is not the type of the zero point");
    if (precision != 0 && !is_real(tw_onnx_dtype(precision)))
        return TW_ONNX_FAIL(n, "precision is no type of floats");
    if (given != 0)
        dtype = tw_onnx_held_as(given);
    if (!read_scale(n, &x->shape, &by))
        return false;
    by.narrow = narrow;
    by.lets_go = !saturate;
    tw_value *y = tw_onnx_quantized(n, x, dtype, by);
    tw_onnx_note_type(n->onnx, y, narrow);
    return tw_onnx_bind(n, 0, y);
}

bool tw_onnx_op_dequantize_linear(tw_onnx_node *n)
{
    tw_onnx_scaled by;
    int64_t given = tw_onnx_int(n, "output_dtype", 0);
    tw_dtype dtype = given == 0 ? TW_F32 : tw_onnx_dtype(given);
    if (!is_real(dtype))
        return TW_ONNX_FAIL(n, "output_dtype is no type of floats");
    if (!read_scale(n, &n->in[0]->shape, &by))
        return false;
    tw_value *y = tw_onnx_dequantized(n, n->in[0], by);
    return tw_onnx_bind(n, 0, y ? tw_build_cast(n->b, y, dtype) : NULL);
}

tw_value *tw_onnx_quantized_dynamically(tw_onnx_node *n, tw_value *x, tw_onnx_scaled *by)
{
    tw_builder *b = n->b;
    tw_value *zero = tw_build_scalar(b, TW_F32, 0);
    const tw_setting *whole = TW_SETTINGS(tw_set_int("keepdims", 0));
    tw_value *low = tw_build2(b, "Min", tw_build1(b, "ReduceMin", x, whole), zero, NULL);
    tw_value *high = tw_build2(b, "Max", tw_build1(b, "ReduceMax", x, whole), zero, NULL);
    tw_value *scale = tw_build2(b, "Div", tw_build2(b, "Sub", high, low, NULL),
                                tw_build_scalar(b, TW_F32, 255), NULL);
    tw_value *point = tw_build2(b, "Div", tw_build2(b, "Sub", zero, low, NULL), scale, NULL);
    const tw_setting *bytes = TW_SETTINGS(tw_set_float("alpha", 0), tw_set_float("beta", 255));
    point = tw_build1(b, "Round", tw_build1(b, "Clip", point, bytes), NULL);
    point = tw_build_cast(b, point, TW_U8);
    *by = (tw_onnx_scaled){.scale = scale, .zero_point = point};
    return scale && point ? tw_onnx_quantized(n, x, TW_U8, *by) : NULL;
}

bool tw_onnx_op_dynamic_quantize_linear(tw_onnx_node *n)
{
    tw_onnx_scaled by;
    tw_value *q = tw_onnx_quantized_dynamically(n, n->in[0], &by);
    return tw_onnx_bind(n, 0, q) && tw_onnx_bind(n, 1, by.scale) &&
           tw_onnx_bind(n, 2, by.zero_point);
}
