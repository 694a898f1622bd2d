/* QuantizeLinear, DequantizeLinear and what quantised operators are made of. */
#include "import/onnx/quantise.h"

#include <math.h>
#include <string.h>

#include "import/onnx/tensor.h"

tw_onnx_scaled tw_onnx_scale_in(const tw_onnx_node *n, int scale, int zero, int axis)
{
    return (tw_onnx_scaled){tw_onnx_need(n, scale), zero < 0 ? NULL : tw_onnx_in(n, zero), axis};
}

/* --- scales ------------------------------------------------------------------------------------ */

/* One scale, or one for each index of the axis; a zero point for each scale. */
static bool check_scale(tw_onnx_node *n, const tw_shape *x, tw_dtype stored, tw_onnx_scaled *by)
{
    const tw_shape *s = &by->scale->shape;
    int64_t count = tw_shape_elements(s);
    if (s->dtype != TW_F32)
        return TW_ONNX_UNSUPPORTED(n, "the scale has type %s; f32 is supported",
                                   tw_dtype_name(s->dtype));
    if (s->rank > 1 && count != 1)
        return TW_ONNX_UNSUPPORTED(n, "scales for blocks (rank %d) are not supported", s->rank);
    if (count != 1 && (by->axis >= x->rank || count != x->dim[by->axis]))
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
    return tw_build_known(n->b, by->scale) &&
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

/* A list along `axis`, shaped so that it broadcasts to rank `rank`. */
static tw_value *along(tw_onnx_node *n, tw_value *list, int rank, int axis)
{
    int64_t dim[TW_MAX_RANK] = {1, 1, 1, 1, 1, 1};
    if (!list || tw_shape_elements(&list->shape) == 1)
        return list && list->shape.rank ? tw_build_reshape(n->b, list, 0, NULL) : list;
    dim[0] = list->shape.dim[0];
    return tw_build_reshape(n->b, list, rank - axis, dim);
}

static bool is_stored(tw_dtype dtype)
{
    return dtype == TW_S8 || dtype == TW_U8 || dtype == TW_S16 || dtype == TW_S32;
}

static bool is_possible(tw_dtype dtype)
{
    return is_stored(dtype) || dtype == TW_U16;
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
    tw_quant quant;
    if (is_stored(x->shape.dtype) && is_known(n, &by))
        return make_quant(n, &by, &quant)
                   ? tw_build1(n->b, "Dequantize", tw_build_with_quant(n->b, x, quant), NULL)
                   : NULL;
    /* (x - zero point) in 32-bit integers, then the scale. */
    int rank = x->shape.rank;
    x = tw_build_with_quant(n->b, x, (tw_quant){0, 0, NULL, NULL});
    if (by.zero_point)
        x = tw_build2(n->b, "Sub", tw_build_cast(n->b, x, TW_S32),
                      tw_build_cast(n->b, along(n, by.zero_point, rank, by.axis), TW_S32), NULL);
    return tw_build2(n->b, "Mul", tw_build_cast(n->b, x, TW_F32), along(n, by.scale, rank, by.axis),
                     NULL);
}

static const struct {
    tw_dtype dtype;
    float low, high;
} ranges[] = {{TW_S8, -128, 127}, {TW_U8, 0, 255}, {TW_S16, -32768, 32767}, {TW_U16, 0, 65535}};

tw_value *tw_onnx_quantized(tw_onnx_node *n, tw_value *y, tw_dtype dtype, tw_onnx_scaled by)
{
    if (!y || !by.scale || !check_scale(n, &y->shape, dtype, &by))
        return NULL;
    tw_quant quant;
    y = tw_build_cast(n->b, y, TW_F32);
    if (y && is_stored(dtype) && is_known(n, &by))
        return make_quant(n, &by, &quant) ? tw_build_quantize(n->b, y, dtype, quant) : NULL;
    int r = 0, rank = y ? y->shape.rank : 0;
    while (r < 4 && ranges[r].dtype != dtype)
        r++;
    if (r == 4) {
        TW_ONNX_UNSUPPORTED(n, "tensors cannot be quantised to type %s", tw_dtype_name(dtype));
        return NULL;
    }
    /* Rounded before the zero point is added, which is exact. */
    tw_value *q = tw_build2(n->b, "Div", y, along(n, by.scale, rank, by.axis), NULL);
    q = tw_build1(n->b, "Round", q, NULL);
    if (by.zero_point)
        q = tw_build2(n->b, "Add", q,
                      tw_build_cast(n->b, along(n, by.zero_point, rank, by.axis), TW_F32), NULL);
    q = tw_build1(
        n->b, "Clip", q,
        TW_SETTINGS(tw_set_float("alpha", ranges[r].low), tw_set_float("beta", ranges[r].high)));
    return tw_build_cast(n->b, q, dtype);
}

/* --- the linear operators ---------------------------------------------------------------------- */

/* The axis of a list of scales; operators before opset 13 know one scale only. */
static bool read_axis(tw_onnx_node *n, const tw_shape *x, int *axis)
{
    int64_t given = tw_onnx_int(n, "axis", 1);
    *axis = 0;
    if (tw_onnx_int(n, "block_size", 0) != 0)
        return TW_ONNX_UNSUPPORTED(n, "quantisation in blocks (block_size) is not supported");
    if (tw_onnx_need(n, 1) && tw_shape_elements(&n->in[1]->shape) == 1)
        return true; /* the axis has no meaning, and may not exist */
    return tw_onnx_axis(n, given, x->rank, axis);
}

bool tw_onnx_op_quantize_linear(tw_onnx_node *n)
{
    tw_value *x = n->in[0], *zero = tw_onnx_in(n, 2);
    int axis;
    tw_dtype dtype = zero ? zero->shape.dtype : TW_U8;
    int64_t given = tw_onnx_int(n, "output_dtype", 0), precision = tw_onnx_int(n, "precision", 0);
    tw_onnx_ignore(n, "saturate"); /* about 8-bit floats, which are refused */
    if (given != 0 && tw_onnx_dtype(given) == TW_NO_DTYPE)
        return tw_onnx_refuse_dtype(given, "the result", n->b->diag);
    if (given != 0 && zero && tw_onnx_dtype(given) != dtype)
        return TW_ONNX_FAIL(n, "output_dtype is not the type of the zero point");
    if (precision != 0 && tw_onnx_dtype(precision) != TW_F32)
        return TW_ONNX_UNSUPPORTED(n, "precision other than FLOAT is not supported");
    if (given != 0)
        dtype = tw_onnx_dtype(given);
    return read_axis(n, &x->shape, &axis) &&
           tw_onnx_bind(n, 0, tw_onnx_quantized(n, x, dtype, tw_onnx_scale_in(n, 1, 2, axis)));
}

bool tw_onnx_op_dequantize_linear(tw_onnx_node *n)
{
    int axis;
    int64_t given = tw_onnx_int(n, "output_dtype", 0);
    if (given != 0 && tw_onnx_dtype(given) != TW_F32)
        return TW_ONNX_UNSUPPORTED(n, "output_dtype other than FLOAT is not supported");
    return read_axis(n, &n->in[0]->shape, &axis) &&
           tw_onnx_bind(n, 0, tw_onnx_dequantized(n, n->in[0], tw_onnx_scale_in(n, 1, 2, axis)));
}

/* Scale and zero point from the tensor's own range, which is widened to hold 0. */
bool tw_onnx_op_dynamic_quantize_linear(tw_onnx_node *n)
{
    tw_builder *b = n->b;
    tw_value *x = n->in[0], *zero = tw_build_scalar(b, TW_F32, 0);
    const tw_setting *whole = TW_SETTINGS(tw_set_int("keepdims", 0));
    tw_value *low = tw_build2(b, "Min", tw_build1(b, "ReduceMin", x, whole), zero, NULL);
    tw_value *high = tw_build2(b, "Max", tw_build1(b, "ReduceMax", x, whole), zero, NULL);
    tw_value *scale = tw_build2(b, "Div", tw_build2(b, "Sub", high, low, NULL),
                                tw_build_scalar(b, TW_F32, 255), NULL);
    tw_value *point = tw_build2(b, "Div", tw_build2(b, "Sub", zero, low, NULL), scale, NULL);
    const tw_setting *bytes = TW_SETTINGS(tw_set_float("alpha", 0), tw_set_float("beta", 255));
    point = tw_build1(b, "Round", tw_build1(b, "Clip", point, bytes), NULL);
    point = tw_build_cast(b, point, TW_U8);
    if (!scale || !point)
        return false;
    return tw_onnx_bind(n, 1, scale) && tw_onnx_bind(n, 2, point) &&
           tw_onnx_bind(n, 0, tw_onnx_quantized(n, x, TW_U8, (tw_onnx_scaled){scale, point, 0}));
}
