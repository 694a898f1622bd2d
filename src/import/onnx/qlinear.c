/* Quantised operators as dequantise, compute, quantise. The Q/DQ fusion makes integer operators of
 * that where it can; elsewhere the graph runs as it stands. */
#include <string.h>

#include "import/onnx/model.h"
#include "import/onnx/quantise.h"

/* Operand i, with scale and zero point behind it; several of them run along an axis, which may be
 * counted from the end. */
static tw_value *operand_along(tw_onnx_node *n, int i, int axis)
{
    tw_value *x = tw_onnx_need(n, i);
    if (x && axis < 0)
        axis = x->shape.rank + axis < 0 ? 0 : x->shape.rank + axis;
    return tw_onnx_dequantized(n, x, tw_onnx_scale_in(n, i + 1, i + 2, axis));
}

static tw_value *operand(tw_onnx_node *n, int i)
{
    return operand_along(n, i, 0);
}

/* The result, quantised by inputs `scale` and `scale` + 1, in the zero point's type or, where there
 * is none, in the first operand's. */
static bool result(tw_onnx_node *n, tw_value *y, int scale, tw_dtype otherwise)
{
    const tw_value *zero = tw_onnx_in(n, scale + 1);
    tw_dtype dtype = zero ? zero->shape.dtype : otherwise;
    return tw_onnx_bind(n, 0,
                        tw_onnx_quantized(n, y, dtype, tw_onnx_scale_in(n, scale, scale + 1, 0)));
}

/* A bias of 32-bit integers has the scale of the products: of x times that of each channel. */
static tw_value *bias_operand(tw_onnx_node *n, tw_value *bias, tw_value *x_scale, tw_value *w_scale)
{
    if (bias->shape.dtype != TW_S32) {
        TW_ONNX_FAIL(n, "the bias must be of type INT32, not %s", tw_dtype_name(bias->shape.dtype));
        return NULL;
    }
    if (!tw_build_known(n->b, x_scale) || !tw_build_known(n->b, w_scale) ||
        x_scale->shape.dtype != TW_F32 || w_scale->shape.dtype != TW_F32 ||
        tw_shape_elements(&x_scale->shape) != 1) {
        tw_value *product = tw_build2(n->b, "Mul", x_scale, w_scale, NULL);
        return tw_onnx_dequantized(n, bias, (tw_onnx_scaled){product, NULL, 0, 0});
    }
    /* Made here rather than by a node, so that the scale is known at once. */
    float *scale = tw_alloc(n->b->arena, tw_shape_bytes(&w_scale->shape) + 1);
    for (int64_t i = 0; i < tw_shape_elements(&w_scale->shape); i++)
        scale[i] = (float)tw_constant_at(x_scale, 0) * (float)tw_constant_at(w_scale, i);
    return tw_onnx_dequantized(
        n, bias, (tw_onnx_scaled){tw_build_data(n->b, w_scale->shape, scale), NULL, 0, 0});
}

/* The left matrix has a scale a row, the right one a column. */
bool tw_onnx_op_qlinear_matmul(tw_onnx_node *n)
{
    return result(n, tw_onnx_matmul(n, operand_along(n, 0, -2), operand_along(n, 3, -1)), 6,
                  n->in[0]->shape.dtype);
}

bool tw_onnx_op_qgemm(tw_onnx_node *n)
{
    tw_value *c = tw_onnx_in(n, 6);
    bool rows = tw_onnx_int(n, "transB", 0) != 0; /* of b are what the result has as columns */
    tw_value *a = operand(n, 0), *b = operand_along(n, 3, rows ? 0 : 1);
    if (!a || !b || (c && !(c = bias_operand(n, c, n->in[1], n->in[4]))))
        return false;
    tw_value *y = tw_onnx_gemm(n, a, b, c);
    return tw_onnx_in(n, 7) ? result(n, y, 7, n->in[0]->shape.dtype) : tw_onnx_bind(n, 0, y);
}

/* QLinearAdd, QLinearMul: the name says which. */
bool tw_onnx_op_qlinear_binary(tw_onnx_node *n)
{
    const char *op = n->op + strlen("QLinear");
    return result(n, tw_build2(n->b, op, operand(n, 0), operand(n, 3), NULL), 6,
                  n->in[0]->shape.dtype);
}

bool tw_onnx_op_qlinear_unary(tw_onnx_node *n)
{
    const char *op = n->op + strlen("QLinear");
    float alpha = tw_onnx_float(n, "alpha", 0.01f);
    bool leaky = strcmp(op, "LeakyRelu") == 0;
    tw_value *y = tw_build1(n->b, op, operand(n, 0),
                            leaky ? TW_SETTINGS(tw_set_float("alpha", alpha)) : NULL);
    return result(n, y, 3, n->in[0]->shape.dtype);
}

/* The attribute opset says by whose rules the axis is read. */
bool tw_onnx_op_qlinear_softmax(tw_onnx_node *n)
{
    n->opset = tw_onnx_int(n, "opset", 13);
    return result(n, tw_onnx_softmax(n, operand(n, 0)), 3, n->in[0]->shape.dtype);
}

/* With channels_last the operand already has the layout that others are brought to. */
static tw_value *channels_second(tw_onnx_node *n, tw_value *x, bool last)
{
    return last ? tw_build_channels_first(n->b, x) : x;
}

static tw_value *as_it_was(tw_onnx_node *n, tw_value *y, bool last)
{
    return last ? tw_build_channels_last(n->b, y) : y;
}

bool tw_onnx_op_qlinear_conv(tw_onnx_node *n)
{
    /* com.microsoft's has the attribute; its weights are as everywhere. */
    bool last = tw_onnx_domain(n->proto->domain)[0] && tw_onnx_int(n, "channels_last", 0) != 0;
    tw_value *x = channels_second(n, operand(n, 0), last), *w = operand(n, 3);
    tw_value *bias = tw_onnx_in(n, 8);
    if (!x || !w)
        return false;
    if (bias && !(bias = bias_operand(n, bias, n->in[1], n->in[4])))
        return false;
    return result(n, as_it_was(n, tw_onnx_conv(n, x, w, bias), last), 6, n->in[0]->shape.dtype);
}

bool tw_onnx_op_qlinear_average_pool(tw_onnx_node *n)
{
    bool last = tw_onnx_int(n, "channels_last", 0) != 0;
    tw_value *y = tw_onnx_average_pool(n, channels_second(n, operand(n, 0), last));
    return result(n, as_it_was(n, y, last), 3, n->in[0]->shape.dtype);
}

bool tw_onnx_op_qlinear_global_average_pool(tw_onnx_node *n)
{
    bool last = tw_onnx_int(n, "channels_last", 0) != 0;
    tw_value *y = tw_onnx_global_pool(n, channels_second(n, operand(n, 0), last), "ReduceMean");
    return result(n, as_it_was(n, y, last), 3, n->in[0]->shape.dtype);
}

bool tw_onnx_op_qlinear_reduce_mean(tw_onnx_node *n)
{
    tw_onnx_list list = tw_onnx_ints(n, "axes");
    bool flag[TW_MAX_RANK] = {false}, keep = tw_onnx_int(n, "keepdims", 1) != 0;
    int64_t axes[TW_MAX_RANK];
    int count = 0, rank = n->in[0]->shape.rank;
    if (!tw_onnx_axes(n, &list, rank, flag))
        return false;
    for (int i = 0; i < rank; i++)
        if (flag[i] || list.count <= 0)
            axes[count++] = i;
    tw_value *y =
        tw_build1(n->b, "ReduceMean", operand(n, 0),
                  TW_SETTINGS(tw_set_ints("axes", count, axes), tw_set_int("keepdims", keep)));
    return result(n, y, 3, n->in[0]->shape.dtype);
}

/* Inputs: the result's scale and zero point, then each part with its own. */
bool tw_onnx_op_qlinear_concat(tw_onnx_node *n)
{
    int count = (n->in_count - 2) / 3, axis;
    if (n->in_count % 3 != 2 || !tw_onnx_has(n, "axis"))
        return TW_ONNX_FAIL(n, "each part needs a scale and a zero point, the node an axis");
    tw_value **parts = tw_alloc_array(n->b->arena, (size_t)count, sizeof *parts);
    for (int i = 0; i < count; i++)
        if (!(parts[i] = operand(n, 2 + 3 * i)))
            return false;
    return tw_onnx_axis(n, tw_onnx_int(n, "axis", 0), parts[0]->shape.rank, &axis) &&
           result(n, tw_build_concat(n->b, parts, count, axis), 0, n->in[2]->shape.dtype);
}

bool tw_onnx_op_qlinear_where(tw_onnx_node *n)
{
    tw_value *in[] = {n->in[0], operand(n, 1), operand(n, 4)};
    return result(n, tw_build(n->b, "Where", in, 3, NULL), 7, n->in[1]->shape.dtype);
}

/* MaxPool of [N, spatial.., C]. */
bool tw_onnx_op_nhwc_max_pool(tw_onnx_node *n)
{
    tw_value *y = tw_onnx_max_pool(n, tw_build_channels_first(n->b, n->in[0]));
    return tw_onnx_bind(n, 0, tw_build_channels_last(n->b, y));
}
