/* Conversions of type and scale. */
#include "base/half.h"
#include "import/tflite/tflite.h"

static tw_value *convert(tw_tfl_node *n, const char *op, tw_value *x, tw_dtype dtype, bool rounds)
{
    tw_setting settings[] = {
        tw_set_int("dtype", dtype), tw_set_word("rounding", "half_away"), {.name = NULL}};
    if (!rounds)
        settings[1].name = NULL;
    return tw_tfl_compute(n, 0, op, &x, 1, settings, tw_tfl_no_clamp());
}

/* From floats, or from one scale to another. */
bool tw_tfl_op_quantize(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    tw_quant quant;
    if (!x || !tw_tfl_wants(n, 0))
        return x != NULL;
    tw_dtype dtype = tw_tfl_dtype(tw_tfl_out_tensor(n, 0));
    if (!tw_tfl_quant(n->import, tw_tfl_out_tensor(n, 0), &quant))
        return false;
    if (quant.count == 0)
        return TW_TFL_FAIL(n, "the result has no scale");
    if (x->shape.dtype == TW_F32)
        return tw_tfl_set(n, 0, convert(n, "Quantize", x, dtype, true));
    if (x->quant.count == 0)
        return TW_TFL_UNSUPPORTED(n, "a %s input without a scale", tw_dtype_name(x->shape.dtype));
    if (x->shape.dtype == dtype && tw_quant_equal(&x->quant, &quant))
        return tw_tfl_set(n, 0, tw_build1(n->b, "Identity", x, NULL));
    return tw_tfl_set(n, 0, convert(n, "Requantize", x, dtype, false));
}

bool tw_tfl_is_symmetric(const tw_value *w)
{
    for (int i = 0; i < w->quant.count; i++)
        if (w->quant.zero_point[i] != 0)
            return false;
    return w->data && w->shape.dtype == TW_S8 && w->quant.count > 0;
}

/* One scale for each index of the outermost axis: the kernels then quantise inputs asymmetrically. */
static tw_value *spread_scale(tw_tfl_node *n, tw_value *w)
{
    int count = w->shape.dim[0];
    float *scale = tw_alloc_array(n->b->arena, (size_t)count + 1, sizeof *scale);
    int32_t *zero = tw_alloc_array(n->b->arena, (size_t)count + 1, sizeof *zero);
    for (int i = 0; i < count; i++)
        scale[i] = w->quant.scale[0];
    return tw_build_with_quant(n->b, w, (tw_quant){count, 0, scale, zero});
}

tw_value *tw_tfl_weights(tw_tfl_node *n, const tw_value *x, tw_value *w, tw_tfl_weights_as as)
{
    if (!x || !w || x->shape.dtype != TW_F32 || w->shape.dtype != TW_S8 || w->quant.count == 0)
        return w;
    if (as == TW_TFL_DEQUANTIZED || !tw_tfl_is_symmetric(w))
        return tw_build1(n->b, "Dequantize", w, NULL);
    if (as == TW_TFL_HYBRID_ASYMMETRIC && w->quant.count == 1 && w->shape.dim[0] > 1)
        return spread_scale(n, w);
    return w;
}

/* 16-bit floats that are constant become 32-bit ones here. */
static tw_value *widen(tw_tfl_node *n, const tw_value *x)
{
    int64_t count = tw_shape_elements(&x->shape);
    tw_shape shape = x->shape;
    float *data = tw_alloc(n->b->arena, sizeof *data * (size_t)count + 1);
    const uint16_t *from = x->data;
    for (int64_t i = 0; i < count; i++)
        data[i] = tw_float_widened(x->shape.dtype, &from[i]);
    shape.dtype = TW_F32;
    return tw_build_data(n->b, shape, data);
}

static bool is_half(const tw_value *x)
{
    return x->data && (x->shape.dtype == TW_F16 || x->shape.dtype == TW_BF16);
}

bool tw_tfl_op_dequantize(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    if (!x)
        return false;
    if (is_half(x))
        return tw_tfl_set(n, 0, widen(n, x));
    if (x->quant.count == 0)
        return TW_TFL_UNSUPPORTED(n, "a %s input without a scale", tw_dtype_name(x->shape.dtype));
    return tw_tfl_set(n, 0, tw_tfl_compute(n, 0, "Dequantize", &x, 1, NULL, tw_tfl_no_clamp()));
}

/* Stored numbers as they are, scales left aside. */
bool tw_tfl_op_cast(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    if (!x || !tw_tfl_wants(n, 0))
        return x != NULL;
    if (is_half(x) && tw_tfl_dtype(tw_tfl_out_tensor(n, 0)) == TW_F32)
        return tw_tfl_set(n, 0, widen(n, x));
    x = tw_build_with_quant(n->b, x, (tw_quant){0, 0, NULL, NULL});
    return tw_tfl_set(n, 0, convert(n, "Cast", x, tw_tfl_dtype(tw_tfl_out_tensor(n, 0)), false));
}
