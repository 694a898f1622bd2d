/* Quantised operators as dequantise, compute, quantise. The Q/DQ fusion makes integer operators of
 * that where it can; elsewhere the graph runs as it stands. What adds up many products is asked first
 * whether it will have an int8 form; where it will not, the sums are made in whole numbers. */
#include <string.h>

#include "import/onnx/integer.h"
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
        return tw_onnx_dequantized(n, bias, (tw_onnx_scaled){.scale = product});
    }
    /* Made here rather than by a node, so that the scale is known at once. */
    float *scale = tw_alloc(n->b->arena, tw_shape_bytes(&w_scale->shape) + 1);
    for (int64_t i = 0; i < tw_shape_elements(&w_scale->shape); i++)
        scale[i] = (float)tw_constant_at(x_scale, 0) * (float)tw_constant_at(w_scale, i);
    return tw_onnx_dequantized(
        n, bias, (tw_onnx_scaled){.scale = tw_build_data(n->b, w_scale->shape, scale)});
}

/* --- sums in whole numbers --------------------------------------------------------------------- */

/* Where a layer has its operands: x and w, each with scale and zero point behind it, the bias, the scale
 * of the result. The scale of w runs along w_axis, and along y_axis of the result. */
typedef struct tw_qlayer {
    int x, w, bias, y;
    int w_axis, y_axis;
    float alpha;
} tw_qlayer;

static bool is_one(const tw_value *v)
{
    return v && tw_shape_elements(&v->shape) == 1;
}

static bool is_scale(const tw_value *v)
{
    return v && v->shape.dtype == TW_F32;
}

static bool is_known_or_absent(tw_onnx_node *n, int i)
{
    tw_value *v = tw_onnx_in(n, i);
    return !v || tw_build_known(n->b, v);
}

/* Do constant weights fit in int8 once their zero points are 0? Those that are not bytes are another's
 * business. */
static bool moves_to_zero(tw_onnx_node *n, const tw_qlayer *l)
{
    const tw_value *w = n->in[l->w], *zero = tw_onnx_in(n, l->w + 2);
    tw_dtype dtype = w->shape.dtype;
    if (!w->data || (dtype != TW_S8 && dtype != TW_U8))
        return true;
    int64_t inner = 1, zeros = zero ? tw_shape_elements(&zero->shape) : 0;
    for (int i = l->w_axis + 1; i < w->shape.rank; i++)
        inner *= w->shape.dim[i];
    for (int64_t i = 0; i < tw_shape_elements(&w->shape); i++) {
        int64_t stored = tw_build_int_at(w, i);
        if (zeros)
            stored -= tw_build_int_at(zero, zeros > 1 ? i / inner % zeros : 0);
        if (stored < INT8_MIN || stored > INT8_MAX)
            return false;
    }
    return true;
}

/* Will the fusion find an int8 operator for it? */
static bool has_int8_form(tw_onnx_node *n, const tw_qlayer *l)
{
    for (int i = 0; i < 2; i++)
        if (!is_known_or_absent(n, l->x + 1 + i) || !is_known_or_absent(n, l->w + 1 + i) ||
            !is_known_or_absent(n, l->y + i))
            return false;
    tw_value *bias = l->bias < 0 ? NULL : tw_onnx_in(n, l->bias);
    bool weights = tw_build_is_weight(n->in[l->w]);
    return tw_onnx_in(n, l->y) && l->alpha == 1 && n->in[l->x]->shape.rank < 5 &&
           (!bias || (weights && tw_build_is_weight(bias))) &&
           (weights ? moves_to_zero(n, l) : is_one(tw_onnx_in(n, l->w + 1)));
}

/* Can sums be made in whole numbers, and scaled by one number, or one a channel? */
static bool has_whole_sums(tw_onnx_node *n, const tw_qlayer *l)
{
    const tw_value *x = tw_onnx_in(n, l->x), *w = tw_onnx_in(n, l->w);
    const tw_value *by = tw_onnx_in(n, l->w + 1), *y = tw_onnx_in(n, l->y);
    const tw_value *bias = l->bias < 0 ? NULL : tw_onnx_in(n, l->bias);
    const tw_value *x_zero = tw_onnx_in(n, l->x + 2);
    if (!x || !w || !is_scale(by) || !is_scale(tw_onnx_in(n, l->x + 1)) || (y && !is_scale(y)) ||
        (bias && bias->shape.dtype != TW_S32))
        return false;
    for (int i = 0; i < 2; i++) {
        tw_dtype dtype = n->in[i ? l->w : l->x]->shape.dtype;
        if ((dtype != TW_S8 && dtype != TW_U8) || n->in[i ? l->w : l->x]->shape.rank < 2)
            return false;
    }
    return is_one(tw_onnx_in(n, l->x + 1)) && (!x_zero || is_one(x_zero)) && (!y || is_one(y)) &&
           (is_one(by) || (by->shape.rank == 1 && by->shape.dim[0] == w->shape.dim[l->w_axis]));
}

static bool is_whole(tw_onnx_node *n, const tw_qlayer *l)
{
    return has_whole_sums(n, l) && !has_int8_form(n, l);
}

static tw_value *plain(tw_onnx_node *n, int i)
{
    return tw_build_with_quant(n->b, tw_onnx_in(n, i), (tw_quant){0, 0, NULL, NULL});
}

/* One number, or a list along an axis of a tensor of this rank. */
static tw_value *along(tw_onnx_node *n, tw_value *list, int rank, int axis)
{
    int64_t dim[TW_MAX_RANK] = {1, 1, 1, 1, 1, 1};
    if (!list || is_one(list))
        return list && list->shape.rank ? tw_build_reshape(n->b, list, 0, NULL) : list;
    dim[0] = list->shape.dim[0];
    return tw_build_reshape(n->b, list, rank - axis, dim);
}

/* Sums as the result: times x's scale times w's over the result's, rounded once, as ONNX Runtime does. */
static bool whole_result(tw_onnx_node *n, const tw_qlayer *l, tw_value *sum, tw_value *bias)
{
    if (sum && bias)
        sum = tw_build2(n->b, "Add", sum, bias, NULL);
    if (!sum)
        return false;
    int rank = sum->shape.rank;
    tw_value *x_scale = along(n, tw_onnx_in(n, l->x + 1), rank, 0);
    tw_value *scale = tw_onnx_in(n, l->w + 1), *y_scale = tw_onnx_in(n, l->y);
    if (l->alpha != 1)
        x_scale =
            tw_build2(n->b, "Mul", tw_build_scalar(n->b, TW_F32, (double)l->alpha), x_scale, NULL);
    scale = tw_build2(n->b, "Mul", x_scale, along(n, scale, rank, l->y_axis), NULL);
    if (y_scale)
        scale = tw_build2(n->b, "Div", scale, along(n, y_scale, rank, 0), NULL);
    tw_value *y = tw_build2(n->b, "Mul", tw_build_cast(n->b, sum, TW_F32), scale, NULL);
    if (!y || !y_scale)
        return tw_onnx_bind(n, 0, y);
    tw_value *zero = tw_onnx_in(n, l->y + 1);
    tw_onnx_scaled by = {.scale = tw_build_scalar(n->b, TW_F32, 1),
                         .zero_point = along(n, zero, rank, 0)};
    return tw_onnx_bind(
        n, 0, tw_onnx_quantized(n, y, zero ? zero->shape.dtype : n->in[l->x]->shape.dtype, by));
}

/* --- layers ------------------------------------------------------------------------------------ */

/* The left matrix has a scale a row, the right one a column. */
bool tw_onnx_op_qlinear_matmul(tw_onnx_node *n)
{
    const tw_value *b = tw_onnx_need(n, 3);
    int columns = b && b->shape.rank ? b->shape.rank - 1 : 0;
    tw_qlayer l = {0, 3, -1, 6, columns, 0, 1};
    if (is_whole(n, &l)) {
        tw_value *sum =
            tw_onnx_integer_matmul(n, plain(n, 0), plain(n, 3), tw_onnx_in(n, 2), tw_onnx_in(n, 5));
        l.y_axis = sum ? sum->shape.rank - 1 : 0;
        return whole_result(n, &l, sum, NULL);
    }
    return result(n, tw_onnx_matmul(n, operand_along(n, 0, -2), operand_along(n, 3, -1)), 6,
                  n->in[0]->shape.dtype);
}

/* The bias has the scale of the products, alpha included. */
static bool whole_gemm(tw_onnx_node *n, const tw_qlayer *l)
{
    static const int64_t swap[] = {1, 0};
    tw_value *a = plain(n, 0), *b = plain(n, 3);
    if (tw_onnx_int(n, "transA", 0) != 0)
        a = tw_build_transpose(n->b, a, 2, swap);
    if (tw_onnx_int(n, "transB", 0) != 0)
        b = tw_build_transpose(n->b, b, 2, swap);
    if (!a || !b)
        return false;
    return whole_result(n, l, tw_onnx_integer_matmul(n, a, b, tw_onnx_in(n, 2), tw_onnx_in(n, 5)),
                        plain(n, 6));
}

bool tw_onnx_op_qgemm(tw_onnx_node *n)
{
    tw_value *c = tw_onnx_in(n, 6);
    bool rows = tw_onnx_int(n, "transB", 0) != 0; /* of b are what the result has as columns */
    tw_qlayer l = {0, 3, 6, 7, rows ? 0 : 1, 1, tw_onnx_float(n, "alpha", 1)};
    if (is_whole(n, &l) && n->in[0]->shape.rank == 2 && n->in[3]->shape.rank == 2)
        return whole_gemm(n, &l);
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
    tw_value *bias = tw_onnx_in(n, 8);
    const tw_qlayer l = {0, 3, 8, 6, 0, last ? n->in[0]->shape.rank - 1 : 1, 1};
    if (is_whole(n, &l) && tw_onnx_has_integer_conv(n->in[0], n->in[3])) {
        tw_value *sum = tw_onnx_integer_conv(n, channels_second(n, plain(n, 0), last), plain(n, 3),
                                             tw_onnx_in(n, 2), tw_onnx_in(n, 5));
        return whole_result(n, &l, as_it_was(n, sum, last),
                            along(n, bias, n->in[0]->shape.rank, l.y_axis));
    }
    tw_value *x = channels_second(n, operand(n, 0), last), *w = operand(n, 3);
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
