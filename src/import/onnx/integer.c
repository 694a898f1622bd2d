/* Products of plain 8-bit integers less their zero points, in 32 bits. */
#include "import/onnx/integer.h"

static bool is_byte(const tw_value *x)
{
    return x->shape.dtype == TW_S8 || x->shape.dtype == TW_U8;
}

/* A zero point of the operand's type: one, or a list of `count`. */
static bool check_zero(tw_onnx_node *n, const tw_value *zero, const tw_value *of, int32_t count)
{
    if (!zero)
        return true;
    int64_t elements = tw_shape_elements(&zero->shape);
    if (zero->shape.dtype != of->shape.dtype)
        return TW_ONNX_FAIL(n, "a zero point is %s, its operand %s",
                            tw_dtype_name(zero->shape.dtype), tw_dtype_name(of->shape.dtype));
    return elements == 1 || elements == count ||
           TW_ONNX_UNSUPPORTED(n, "%lld zero points; one, or %d, are supported",
                               (long long)elements, (int)count);
}

/* As a list of one or `count`, whatever axes of extent 1 it had. */
static tw_value *as_list(tw_onnx_node *n, tw_value *zero)
{
    int64_t count = zero ? tw_shape_elements(&zero->shape) : 0;
    return !zero || zero->shape.rank == 1 ? zero : tw_build_reshape(n->b, zero, 1, &count);
}

tw_value *tw_onnx_integer_matmul(tw_onnx_node *n, tw_value *a, tw_value *b, tw_value *a_zero,
                                 tw_value *b_zero)
{
    int a_rank = a->shape.rank, b_rank = b->shape.rank;
    if (a_rank < 2 || b_rank < 2 || !is_byte(a) || !is_byte(b)) {
        TW_ONNX_UNSUPPORTED(n, "matrices of INT8 or UINT8 are supported");
        return NULL;
    }
    if (!check_zero(n, a_zero, a, a->shape.dim[a_rank - 2]) ||
        !check_zero(n, b_zero, b, b->shape.dim[b_rank - 1]))
        return NULL;
    tw_value *in[] = {a, b, as_list(n, a_zero), as_list(n, b_zero)};
    return n->b->diag->code == TW_CODE_OK ? tw_build(n->b, "IntegerMatMul", in, 4, NULL) : NULL;
}

bool tw_onnx_op_matmul_integer(tw_onnx_node *n)
{
    return tw_onnx_bind(
        n, 0, tw_onnx_integer_matmul(n, n->in[0], n->in[1], tw_onnx_in(n, 2), tw_onnx_in(n, 3)));
}

/* --- convolution ------------------------------------------------------------------------------- */

/* Products of so many pairs of 9-bit integers add up exactly in a float. */
enum { EXACT = 256 };

/* (x - zero point) as floats; the zero point along `axis` where it is a list. */
static tw_value *less_zero(tw_onnx_node *n, tw_value *x, tw_value *zero, int axis)
{
    int64_t dim[TW_MAX_RANK] = {1, 1, 1, 1, 1, 1};
    tw_value *real = tw_build_cast(n->b, x, TW_F32);
    if (!zero)
        return real;
    dim[axis] = tw_shape_elements(&zero->shape);
    zero = tw_build_reshape(n->b, tw_build_cast(n->b, zero, TW_F32), x->shape.rank, dim);
    return tw_build2(n->b, "Sub", real, zero, NULL);
}

/* Channels [at, at + count) of each group of an operand whose axis 1 has `groups` times `each`. */
static tw_value *channels_of(tw_onnx_node *n, tw_value *x, int64_t groups, int64_t at,
                             int64_t count)
{
    int64_t dim[TW_MAX_RANK], each = x->shape.dim[1] / groups;
    int rank = x->shape.rank;
    if (count == each)
        return x;
    if (groups == 1)
        return tw_build_slice(n->b, x, 1, at, count, 1);
    dim[0] = x->shape.dim[0];
    dim[1] = groups;
    dim[2] = each;
    for (int i = 2; i < rank; i++)
        dim[i + 1] = x->shape.dim[i];
    x = tw_build_slice(n->b, tw_build_reshape(n->b, x, rank + 1, dim), 2, at, count, 1);
    dim[1] = groups * count;
    for (int i = 2; i < rank; i++)
        dim[i] = dim[i + 1];
    return tw_build_reshape(n->b, x, rank, dim);
}

/* Part by part of the channels, each of which adds up exactly, and the parts in integers. */
static tw_value *conv_in_parts(tw_onnx_node *n, tw_value *x, tw_value *w, int64_t taps)
{
    int64_t channels = w->shape.dim[1], group = tw_onnx_int(n, "group", 1), part = EXACT / taps;
    tw_value *sum = NULL;
    for (int64_t at = 0; at < channels; at += part) {
        int64_t count = channels - at < part ? channels - at : part;
        tw_value *y = tw_onnx_conv(n, channels_of(n, x, group, at, count),
                                   channels_of(n, w, 1, at, count), NULL);
        y = tw_build_cast(n->b, y, TW_S32);
        sum = sum ? tw_build2(n->b, "Add", sum, y, NULL) : y;
        if (!sum)
            return NULL;
    }
    return sum;
}

static int64_t taps_of(const tw_value *w)
{
    int64_t taps = 1;
    for (int i = 2; i < w->shape.rank && taps <= EXACT; i++)
        taps *= w->shape.dim[i];
    return taps;
}

bool tw_onnx_has_integer_conv(const tw_value *x, const tw_value *w)
{
    return is_byte(x) && is_byte(w) && w->shape.rank >= 3 && w->shape.rank <= 5 &&
           x->shape.rank == w->shape.rank && taps_of(w) <= EXACT;
}

tw_value *tw_onnx_integer_conv(tw_onnx_node *n, tw_value *x, tw_value *w, tw_value *x_zero,
                               tw_value *w_zero)
{
    if (!check_zero(n, x_zero, x, 1) || !check_zero(n, w_zero, w, w->shape.dim[0]))
        return NULL;
    int64_t taps = taps_of(w), group = tw_onnx_int(n, "group", 1);
    if (taps < 1 || w->shape.dim[1] < 1 || group < 1 ||
        x->shape.dim[1] != w->shape.dim[1] * group) {
        TW_ONNX_FAIL(n,
                     "the weights take %d channels a group, the input has %d in %lld groups; the "
                     "window has %lld elements",
                     (int)w->shape.dim[1], (int)x->shape.dim[1], (long long)group, (long long)taps);
        return NULL;
    }
    x = less_zero(n, x, x_zero, 0);
    w = less_zero(n, w, w_zero, 0);
    return x && w ? conv_in_parts(n, x, w, taps) : NULL;
}

bool tw_onnx_op_conv_integer(tw_onnx_node *n)
{
    if (!tw_onnx_has_integer_conv(n->in[0], n->in[1]))
        return TW_ONNX_UNSUPPORTED(n,
                                   "tensors of INT8 or UINT8 with batch, channels and one to three "
                                   "spatial axes are supported, and windows of at most %d "
                                   "elements, which add up exactly",
                                   EXACT);
    return tw_onnx_bind(
        n, 0, tw_onnx_integer_conv(n, n->in[0], n->in[1], tw_onnx_in(n, 2), tw_onnx_in(n, 3)));
}
