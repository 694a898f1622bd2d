/* Operators that work element by element. */
#include <math.h>
#include <string.h>

#include "import/onnx/onnx.h"
#include "import/onnx/tensor.h"

static bool is_float(tw_dtype dtype)
{
    return dtype == TW_F32 || dtype == TW_F16 || dtype == TW_BF16 || dtype == TW_F64;
}

/* --- families ---------------------------------------------------------------------------------- */

/* The second operand of a binary operator. Before opset 7 it is only broadcast when the node says
 * so, and its axes may then begin at any axis of the first one. */
static tw_value *second_operand(tw_onnx_node *n)
{
    tw_value *a = n->in[0], *b = n->in[1];
    if (n->opset >= 7 || !tw_onnx_has(n, "broadcast"))
        return b;
    bool broadcast = tw_onnx_int(n, "broadcast", 0) != 0;
    bool has_axis = tw_onnx_has(n, "axis");
    int64_t axis = tw_onnx_int(n, "axis", 0);
    if (!broadcast || !has_axis || b->shape.rank == 0)
        return b;
    int at, lead = a->shape.rank - b->shape.rank;
    if (!tw_onnx_axis(n, axis, a->shape.rank, &at))
        return NULL;
    if (at > lead) {
        TW_ONNX_FAIL(n, "axis %d leaves no room for an operand of rank %d in rank %d", at,
                     b->shape.rank, a->shape.rank);
        return NULL;
    }
    int64_t dim[TW_MAX_RANK];
    int rank = a->shape.rank - at;
    for (int i = 0; i < rank; i++)
        dim[i] = i < b->shape.rank ? b->shape.dim[i] : 1;
    return rank == b->shape.rank ? b : tw_build_reshape(n->b, b, rank, dim);
}

/* An IR operator that takes the operands as they are, and attributes of its own names. */
bool tw_onnx_op_family(tw_onnx_node *n)
{
    const tw_opdef *op = tw_op_by_name(n->row->becomes);
    tw_setting settings[TW_MAX_RANK] = {{.name = NULL}};
    int count = 0;
    if (n->opset < 6)
        tw_onnx_ignore(n, "consumed_inputs"); /* a hint on memory */
    for (int i = 0; i < op->attribute_count && count + 1 < TW_MAX_RANK; i++) {
        const tw_attribute *a = &op->attributes[i];
        if (!tw_onnx_has(n, a->name))
            continue;
        settings[count++] = a->kind == TW_ATTRIBUTE_FLOAT
                                ? tw_set_float(a->name, tw_onnx_float(n, a->name, 0))
                                : tw_set_int(a->name, tw_onnx_int(n, a->name, 0));
    }
    if (n->in_count != 2)
        return tw_onnx_bind(n, 0, tw_build(n->b, op->name, n->in, n->in_count, settings));
    tw_value *b = second_operand(n);
    return b && tw_onnx_bind(n, 0, tw_build2(n->b, op->name, n->in[0], b, settings));
}

bool tw_onnx_op_gelu(tw_onnx_node *n)
{
    const char *how = tw_onnx_text(n, "approximate", "none");
    if (strcmp(how, "none") != 0 && strcmp(how, "tanh") != 0)
        return TW_ONNX_FAIL(n, "approximate is '%s'; none and tanh are possible", how);
    return tw_onnx_bind(n, 0, tw_build1(n->b, how[0] == 't' ? "GeluTanh" : "Gelu", n->in[0], NULL));
}

bool tw_onnx_op_selu(tw_onnx_node *n)
{
    bool old = n->opset < 6;
    float alpha = tw_onnx_float(n, "alpha", old ? 1.6732f : 1.67326319217681884765625f);
    float gamma = tw_onnx_float(n, "gamma", old ? 1.0507f : 1.05070102214813232421875f);
    if (old)
        tw_onnx_ignore(n, "consumed_inputs");
    return tw_onnx_bind(
        n, 0,
        tw_build1(n->b, "Selu", n->in[0],
                  TW_SETTINGS(tw_set_float("alpha", alpha), tw_set_float("beta", gamma))));
}

/* Of integers the comparisons are those with whole numbers, in the operand's own type. */
static tw_value *shrink_integers(tw_onnx_node *n, double lambda, double bias)
{
    tw_builder *b = n->b;
    tw_value *x = n->in[0];
    tw_dtype dtype = x->shape.dtype;
    bool is_unsigned = dtype == TW_U8 || dtype == TW_U16 || dtype == TW_U32 || dtype == TW_U64;
    double low = ceil(-lambda), high = floor(lambda);
    if (bias != floor(bias) || fabs(bias) > 127 || fabs(lambda) > 127 || lambda < 0) {
        TW_ONNX_UNSUPPORTED(n,
                            "lambd is %g and bias %g: of integers, lambd from 0 to 127 and whole "
                            "numbers up to 127 are supported",
                            lambda, bias);
        return NULL;
    }
    tw_value *shift = tw_build_scalar(b, dtype, fabs(bias));
    const char *towards = bias < 0 ? "Add" : "Sub", *away = bias < 0 ? "Sub" : "Add";
    tw_value *above[] = {tw_build2(b, "Greater", x, tw_build_scalar(b, dtype, high), NULL),
                         tw_build2(b, towards, x, shift, NULL), tw_build_scalar(b, dtype, 0)};
    tw_value *y = above[0] && above[1] ? tw_build(b, "Where", above, 3, NULL) : NULL;
    if (is_unsigned || !y)
        return y;
    tw_value *below[] = {tw_build2(b, "Less", x, tw_build_scalar(b, dtype, low), NULL),
                         tw_build2(b, away, x, shift, NULL), y};
    return below[0] && below[1] ? tw_build(b, "Where", below, 3, NULL) : NULL;
}

bool tw_onnx_op_shrink(tw_onnx_node *n)
{
    float lambda = tw_onnx_float(n, "lambd", 0.5f), bias = tw_onnx_float(n, "bias", 0);
    if (!is_float(n->in[0]->shape.dtype))
        return tw_onnx_bind(n, 0, shrink_integers(n, (double)lambda, (double)bias));
    return tw_onnx_bind(
        n, 0,
        tw_build1(n->b, "Shrink", n->in[0],
                  TW_SETTINGS(tw_set_float("alpha", lambda), tw_set_float("beta", bias))));
}

bool tw_onnx_op_swi_glu(tw_onnx_node *n)
{
    float alpha = tw_onnx_float(n, "alpha", 1);
    if (!tw_shape_equal(&n->in[0]->shape, &n->in[1]->shape))
        return TW_ONNX_FAIL(n, "gate and value must have one shape and type");
    tw_value *gate = tw_build1(n->b, "Swish", n->in[0], TW_SETTINGS(tw_set_float("alpha", alpha)));
    return tw_onnx_bind(n, 0, tw_build2(n->b, "Mul", gate, n->in[1], NULL));
}

bool tw_onnx_op_prelu(tw_onnx_node *n)
{
    tw_value *x = n->in[0], *slope = n->in[1];
    if (n->opset < 6)
        tw_onnx_ignore(n, "consumed_inputs");
    /* Before opset 7 a list of slopes is one a channel. */
    if (n->opset < 7 && slope->shape.rank == 1 && slope->shape.dim[0] != 1 && x->shape.rank > 2) {
        int64_t dim[TW_MAX_RANK] = {slope->shape.dim[0], 1, 1, 1, 1, 1};
        slope = tw_build_reshape(n->b, slope, x->shape.rank - 1, dim);
    }
    return tw_onnx_bind(n, 0, tw_build2(n->b, "PRelu", x, slope, NULL));
}

bool tw_onnx_op_mod(tw_onnx_node *n)
{
    bool truncates = tw_onnx_int(n, "fmod", 0) != 0;
    return tw_onnx_bind(n, 0,
                        tw_build2(n->b, truncates ? "FMod" : "Mod", n->in[0], n->in[1], NULL));
}

/* The unsigned type of the same width; the type itself where it has no sign. */
static tw_dtype without_sign(tw_dtype dtype)
{
    return dtype == TW_S8    ? TW_U8
           : dtype == TW_S16 ? TW_U16
           : dtype == TW_S32 ? TW_U32
           : dtype == TW_S64 ? TW_U64
                             : dtype;
}

static tw_value *bits_as(tw_onnx_node *n, tw_value *x, tw_dtype dtype)
{
    return !x || x->shape.dtype == dtype
               ? x
               : tw_build1(n->b, "BitCast", x, TW_SETTINGS(tw_set_int("dtype", dtype)));
}

/* A negative count is, without its sign, one beyond the type's bits. Of signed integers a shift to the
 * right keeps the sign: by as many bits as there are, it is what is left. */
bool tw_onnx_op_bit_shift(tw_onnx_node *n)
{
    const char *way = tw_onnx_text(n, "direction", "");
    tw_dtype dtype = n->in[0]->shape.dtype, plain = without_sign(dtype);
    if (strcmp(way, "LEFT") != 0 && strcmp(way, "RIGHT") != 0)
        return TW_ONNX_FAIL(n, "direction is '%s'; LEFT and RIGHT are possible", way);
    if (n->in[1]->shape.dtype != dtype)
        return TW_ONNX_FAIL(n, "the operands are %s and %s", tw_dtype_name(dtype),
                            tw_dtype_name(n->in[1]->shape.dtype));
    tw_value *count = bits_as(n, n->in[1], plain);
    if (dtype == plain || way[0] == 'L') {
        const char *op = way[0] == 'L' ? "ShiftLeft" : "ShiftRight";
        tw_value *y = tw_build2(n->b, op, bits_as(n, n->in[0], plain), count, NULL);
        return tw_onnx_bind(n, 0, bits_as(n, y, dtype));
    }
    tw_value *most = tw_build_scalar(n->b, plain, 8.0 * tw_dtype_bytes(dtype) - 1);
    count = bits_as(n, tw_build2(n->b, "Min", count, most, NULL), dtype);
    return tw_onnx_bind(n, 0, tw_build2(n->b, "ArithmeticShiftRight", n->in[0], count, NULL));
}

bool tw_onnx_op_is_inf(tw_onnx_node *n)
{
    bool negative = tw_onnx_int(n, "detect_negative", 1) != 0;
    bool positive = tw_onnx_int(n, "detect_positive", 1) != 0;
    const char *op = !negative ? "IsPositiveInf" : !positive ? "IsNegativeInf" : "IsInf";
    tw_value *found = tw_build1(n->b, op, n->in[0], NULL);
    if (found && !negative && !positive) /* nothing counts */
        found = tw_build2(n->b, "Xor", found, found, NULL);
    return tw_onnx_bind(n, 0, found);
}

/* The result has the base's type, whatever the exponent's. */
bool tw_onnx_op_pow(tw_onnx_node *n)
{
    tw_value *base = n->in[0], *exponent = second_operand(n);
    if (!exponent)
        return false;
    tw_dtype type = base->shape.dtype, with = type;
    if (!is_float(type) && is_float(exponent->shape.dtype))
        with = exponent->shape.dtype;
    tw_value *y = tw_build2(n->b, "Pow", tw_build_cast(n->b, base, with),
                            tw_build_cast(n->b, exponent, with), NULL);
    return tw_onnx_bind(n, 0, tw_build_cast(n->b, y, type));
}

/* --- any number of operands -------------------------------------------------------------------- */

bool tw_onnx_op_variadic(tw_onnx_node *n)
{
    bool mean = strcmp(n->op, "Mean") == 0;
    if (n->opset < 6)
        tw_onnx_ignore(n, "consumed_inputs");
    for (int i = 0; i < n->in_count; i++)
        if (!tw_onnx_need(n, i))
            return false;
    tw_value *y = tw_build_chain(n->b, mean || n->op[0] == 'S' ? "Add" : n->op, n->in, n->in_count);
    if (mean && y && n->in_count > 1)
        y = tw_build2(n->b, "Div", y, tw_build_scalar(n->b, y->shape.dtype, n->in_count), NULL);
    return tw_onnx_bind(n, 0, y);
}

/* --- clip -------------------------------------------------------------------------------------- */

static bool is_bound(tw_onnx_node *n, const tw_value *bound)
{
    if (!bound || tw_shape_elements(&bound->shape) == 1)
        return true;
    return TW_ONNX_FAIL(n, "a bound of %lld elements; one is needed",
                        (long long)tw_shape_elements(&bound->shape));
}

/* Rank 0, so that it cannot raise the result's rank. */
static tw_value *as_scalar(tw_builder *b, tw_value *x)
{
    return x && x->shape.rank ? tw_build_reshape(b, x, 0, NULL) : x;
}

bool tw_onnx_op_clip(tw_onnx_node *n)
{
    tw_value *x = n->in[0], *low = tw_onnx_in(n, 1), *high = tw_onnx_in(n, 2);
    float least = -INFINITY, greatest = INFINITY;
    if (n->opset < 11) {
        least = tw_onnx_float(n, "min", least);
        greatest = tw_onnx_float(n, "max", greatest);
        if (n->opset < 6)
            tw_onnx_ignore(n, "consumed_inputs");
        if (low || high)
            return TW_ONNX_FAIL(n, "bounds are attributes in opset %lld", (long long)n->opset);
    }
    if (!is_bound(n, low) || !is_bound(n, high))
        return false;
    if (low && low->shape.dtype == TW_F32 && tw_build_known(n->b, low)) {
        least = (float)tw_constant_at(low, 0);
        low = NULL;
    }
    if (high && high->shape.dtype == TW_F32 && tw_build_known(n->b, high)) {
        greatest = (float)tw_constant_at(high, 0);
        high = NULL;
    }
    tw_value *y = x;
    if (low || high || x->shape.dtype != TW_F32 || !(least <= greatest)) {
        /* Max first: where the bounds cross, the upper one wins. */
        if (!low && least > -INFINITY)
            low = tw_build_scalar(n->b, TW_F32, (double)least);
        if (!high && greatest < INFINITY)
            high = tw_build_scalar(n->b, TW_F32, (double)greatest);
        y = low ? tw_build2(n->b, "Max", y, as_scalar(n->b, low), NULL) : y;
        y = high ? tw_build2(n->b, "Min", y, as_scalar(n->b, high), NULL) : y;
    } else if (least > -INFINITY || greatest < INFINITY) {
        y = tw_build1(n->b, "Clip", x,
                      TW_SETTINGS(tw_set_float("alpha", least), tw_set_float("beta", greatest)));
    }
    return tw_onnx_bind(n, 0, y);
}

/* --- casts ------------------------------------------------------------------------------------- */

static bool is_narrow(tw_dtype dtype)
{
    return dtype == TW_BOOL || dtype == TW_S8 || dtype == TW_U8 || dtype == TW_S16 ||
           dtype == TW_U16;
}

tw_value *tw_onnx_as_float(tw_onnx_node *n, tw_value *x)
{
    return is_narrow(x->shape.dtype) ? tw_build_cast(n->b, x, TW_F32) : x;
}

tw_value *tw_onnx_from_float(tw_onnx_node *n, tw_value *y, tw_dtype dtype)
{
    return is_narrow(dtype) ? tw_build_cast(n->b, tw_build1(n->b, "Round", y, NULL), dtype) : y;
}
