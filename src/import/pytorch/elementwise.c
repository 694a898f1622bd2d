/* Element by element: functions of one and of two tensors, choices, types. */
#include <math.h>
#include <string.h>

#include "import/pytorch/torch.h"

/* The first operator that the row becomes. */
static const char *operator_of(const tw_torch_call *c)
{
    return tw_strndup(c->t->scratch, c->row->becomes, strcspn(c->row->becomes, " "));
}

/* --- of one tensor ----------------------------------------------------------------------------- */

/* Functions that only floats have: integers are cast. */
bool tw_torch_op_real(tw_torch_call *c)
{
    return tw_torch_give(c, tw_build1(c->b, operator_of(c), tw_torch_real_in(c, 0), NULL));
}

/* log2 and log10, of the natural one */
bool tw_torch_op_log_of_base(tw_torch_call *c)
{
    const double base = strcmp(c->row->name, "log2") == 0 ? 2 : 10;
    tw_value *x = tw_build1(c->b, "Log", tw_torch_real_in(c, 0), NULL);
    return tw_torch_give(c, tw_torch_scaled(c, x, 1 / log(base)));
}

/* Functions that integers have too. */
bool tw_torch_op_any_number(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    return tw_torch_give(c, tw_build1(c->b, operator_of(c), x, NULL));
}

/* Integers are whole already. */
bool tw_torch_op_rounded(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    if (x && x->shape.dtype == TW_F32)
        x = tw_build1(c->b, operator_of(c), x, NULL);
    if (c->count > 1 && tw_torch_int(c, 1) != 0)
        return TW_TORCH_UNSUPPORTED(c, "decimals other than 0 are not supported");
    return tw_torch_give(c, x);
}

/* alpha, and beta where there is one, are the arguments after the tensor. */
bool tw_torch_op_real_with(tw_torch_call *c)
{
    const float alpha = (float)tw_torch_real(c, 1);
    const bool two = c->count > 2;
    const float beta = two ? (float)tw_torch_real(c, 2) : 0;
    return tw_torch_give(
        c, tw_build1(c->b, operator_of(c), tw_torch_real_in(c, 0),
                     two ? TW_SETTINGS(tw_set_float("alpha", alpha), tw_set_float("beta", beta))
                         : TW_SETTINGS(tw_set_float("alpha", alpha))));
}

static tw_value *clipped(tw_torch_call *c, tw_value *x, double low, double high)
{
    return tw_build1(
        c->b, "Clip", x,
        TW_SETTINGS(tw_set_float("alpha", (float)low), tw_set_float("beta", (float)high)));
}

bool tw_torch_op_relu6(tw_torch_call *c)
{
    return tw_torch_give(c, clipped(c, tw_torch_real_in(c, 0), 0, 6));
}

bool tw_torch_op_hardsigmoid(tw_torch_call *c)
{
    return tw_torch_give(
        c, tw_build1(c->b, "HardSigmoid", tw_torch_real_in(c, 0),
                     TW_SETTINGS(tw_set_float("alpha", 1.0f / 6), tw_set_float("beta", 0.5f))));
}

bool tw_torch_op_gelu(tw_torch_call *c)
{
    const bool approximate = strcmp(tw_torch_text(c, 1), "tanh") == 0;
    return tw_torch_give(
        c, tw_build1(c->b, approximate ? "GeluTanh" : "Gelu", tw_torch_real_in(c, 0), NULL));
}

/* (x, alpha, scale, input_scale) */
bool tw_torch_op_elu(tw_torch_call *c)
{
    const double alpha = tw_torch_real(c, 1), scale = tw_torch_real(c, 2);
    tw_value *x = tw_torch_real_in(c, 0);
    if (tw_torch_real(c, 3) != 1)
        return TW_TORCH_UNSUPPORTED(c, "input_scale other than 1 is not supported");
    if (scale == 1)
        x = tw_build1(c->b, "Elu", x, TW_SETTINGS(tw_set_float("alpha", (float)alpha)));
    else
        x = tw_build1(
            c->b, "Selu", x,
            TW_SETTINGS(tw_set_float("alpha", (float)alpha), tw_set_float("beta", (float)scale)));
    return tw_torch_give(c, x);
}

/* (x, lambd): x beyond it, moved towards 0 (soft) or not. */
bool tw_torch_op_softshrink(tw_torch_call *c)
{
    const float by = (float)tw_torch_real(c, 1);
    return tw_torch_give(
        c, tw_build1(c->b, "Shrink", tw_torch_real_in(c, 0),
                     TW_SETTINGS(tw_set_float("alpha", by), tw_set_float("beta", by))));
}

bool tw_torch_op_hardshrink(tw_torch_call *c)
{
    return tw_torch_give(c, tw_build1(c->b, "Shrink", tw_torch_real_in(c, 0),
                                      TW_SETTINGS(tw_set_float("alpha", (float)tw_torch_real(c, 1)),
                                                  tw_set_float("beta", 0))));
}

/* lower and upper at argument i, then training: the mean of the slopes when it does not train. */
static tw_value *leaky_between(tw_torch_call *c, int i)
{
    const double slope = (tw_torch_real(c, i) + tw_torch_real(c, i + 1)) / 2;
    if (tw_torch_flag(c, i + 2))
        return TW_TORCH_UNSUPPORTED(c, "in training; call eval() before exporting"), NULL;
    return tw_build1(c->b, "LeakyRelu", tw_torch_real_in(c, 0),
                     TW_SETTINGS(tw_set_float("alpha", (float)slope)));
}

/* (x, lower, upper, training) */
bool tw_torch_op_rrelu(tw_torch_call *c)
{
    return tw_torch_give(c, leaky_between(c, 1));
}

/* (x, noise, lower, upper, training) */
bool tw_torch_op_rrelu_with_noise(tw_torch_call *c)
{
    return tw_torch_give(c, leaky_between(c, 2));
}

/* The second result is the noise, which only training makes. */
bool tw_torch_op_rrelu_with_noise_functional(tw_torch_call *c)
{
    return tw_torch_give_first(c, leaky_between(c, 2), 2);
}

/* The second result is what training keeps. */
bool tw_torch_op_log_sigmoid_forward(tw_torch_call *c)
{
    return tw_torch_give_first(c, tw_build1(c->b, "LogSigmoid", tw_torch_real_in(c, 0), NULL), 2);
}

tw_value *tw_torch_scaled(tw_torch_call *c, tw_value *x, double factor)
{
    return !x || factor == 1
               ? x
               : tw_build2(c->b, "Mul", x, tw_build_scalar(c->b, x->shape.dtype, factor), NULL);
}

/* (x, beta, threshold): log(1 + e^(beta x)) / beta; beyond the threshold x, which float32 cannot tell apart
 * where it is 20. */
bool tw_torch_op_softplus(tw_torch_call *c)
{
    const double beta = tw_torch_real(c, 1), threshold = tw_torch_real(c, 2);
    tw_value *x = tw_torch_real_in(c, 0);
    tw_value *scaled = tw_torch_scaled(c, x, beta);
    tw_value *y = tw_torch_scaled(c, tw_build1(c->b, "Softplus", scaled, NULL), 1 / beta);
    if (threshold < 16) {
        tw_value *limit = tw_build_scalar(c->b, TW_F32, threshold);
        tw_value *beyond = tw_build2(c->b, "Greater", scaled, limit, NULL);
        y = tw_build(c->b, "Where", (tw_value *const[]){beyond, x, y}, 3, NULL);
    }
    return tw_torch_give(c, y);
}

/* (x, threshold, value): x above the threshold, else the value. */
bool tw_torch_op_threshold(tw_torch_call *c)
{
    tw_value *x = tw_torch_real_in(c, 0);
    tw_value *above =
        tw_build2(c->b, "Greater", x, tw_build_scalar(c->b, TW_F32, tw_torch_real(c, 1)), NULL);
    tw_value *value = tw_build_scalar(c->b, TW_F32, tw_torch_real(c, 2));
    return tw_torch_give(c, tw_build(c->b, "Where", (tw_value *const[]){above, x, value}, 3, NULL));
}

bool tw_torch_op_glu(tw_torch_call *c)
{
    tw_value *x = tw_torch_real_in(c, 0);
    int axis;
    if (!x || !tw_torch_axis(c, tw_torch_int(c, 1), x->shape.rank, &axis))
        return false;
    if (x->shape.rank == 0 || x->shape.dim[axis] % 2 != 0)
        return TW_TORCH_FAIL(c, "an odd number of elements has no halves");
    const int32_t half = x->shape.dim[axis] / 2;
    tw_value *gate = tw_build_slice(c->b, x, axis, half, half, 1);
    gate = tw_build1(c->b, "Sigmoid", gate, NULL);
    return tw_torch_give(
        c, tw_build2(c->b, "Mul", tw_build_slice(c->b, x, axis, 0, half, 1), gate, NULL));
}

/* (x, weight): one slope, or one a channel, which is axis 1. */
bool tw_torch_op_prelu(tw_torch_call *c)
{
    tw_value *x = tw_torch_real_in(c, 0), *w = tw_torch_real_in(c, 1);
    int64_t dim[TW_MAX_RANK] = {1, 1, 1, 1, 1, 1};
    if (!x || !w)
        return false;
    const int rank = x->shape.rank;
    const int64_t slopes = tw_shape_elements(&w->shape);
    if (rank > 1)
        dim[1] = slopes;
    else if (slopes != 1)
        return TW_TORCH_FAIL(c, "%lld slopes for a tensor without channels", (long long)slopes);
    return tw_torch_give(
        c, tw_build2(c->b, "PRelu", x, tw_build_reshape(c->b, w, rank > 1 ? rank : 1, dim), NULL));
}

static tw_value *as_bool(tw_torch_call *c, int i)
{
    return tw_torch_in_as(c, i, TW_BOOL);
}

bool tw_torch_op_logical_not(tw_torch_call *c)
{
    return tw_torch_give(c, tw_build1(c->b, "Not", as_bool(c, 0), NULL));
}

bool tw_torch_op_bitwise_not(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    return x && tw_torch_give(
                    c, tw_build1(c->b, x->shape.dtype == TW_BOOL ? "Not" : "BitwiseNot", x, NULL));
}

/* --- of two tensors ---------------------------------------------------------------------------- */

static tw_value *times_alpha(tw_torch_call *c, tw_value *x, int i)
{
    return c->count > i && tw_torch_is_number(c->arg[i])
               ? tw_torch_scaled(c, x, tw_torch_real(c, i))
               : x;
}

/* bool has no arithmetic: what PyTorch takes for it is integer. */
static bool sums(tw_torch_call *c, const char *op, int first, int second, tw_value **y)
{
    tw_value *pair[2];
    if (!tw_torch_pair(c, first, second, false, pair))
        return false;
    for (int i = 0; i < 2; i++)
        if (pair[i]->shape.dtype == TW_BOOL && strcmp(op, "Mul") != 0)
            return TW_TORCH_UNSUPPORTED(c, "of bool it is not supported");
    if (pair[0]->shape.dtype == TW_BOOL)
        op = "And";
    *y = tw_build2(c->b, op, pair[0], times_alpha(c, pair[1], 2), NULL);
    return *y != NULL;
}

/* (x, y, alpha = 1) */
bool tw_torch_op_sum_of(tw_torch_call *c)
{
    tw_value *y;
    return sums(c, operator_of(c), 0, 1, &y) && tw_torch_give(c, y);
}

/* (x, y, alpha = 1): y - alpha * x */
bool tw_torch_op_rsub(tw_torch_call *c)
{
    tw_value *pair[2];
    return tw_torch_pair(c, 0, 1, false, pair) &&
           tw_torch_give(c, tw_build2(c->b, "Sub", pair[1], times_alpha(c, pair[0], 2), NULL));
}

bool tw_torch_op_binary(tw_torch_call *c)
{
    tw_value *pair[2];
    return tw_torch_pair(c, 0, 1, false, pair) &&
           tw_torch_give(c, tw_build2(c->b, operator_of(c), pair[0], pair[1], NULL));
}

bool tw_torch_op_binary_real(tw_torch_call *c)
{
    tw_value *pair[2];
    return tw_torch_pair(c, 0, 1, true, pair) &&
           tw_torch_give(c, tw_build2(c->b, operator_of(c), pair[0], pair[1], NULL));
}

/* (x, y, rounding_mode): None, trunc, floor */
bool tw_torch_op_div(tw_torch_call *c)
{
    const char *mode = c->count > 2 ? tw_torch_text(c, 2) : "";
    tw_value *pair[2];
    if (!tw_torch_pair(c, 0, 1, *mode == 0, pair))
        return false;
    tw_value *y =
        tw_build2(c->b, strcmp(mode, "floor") == 0 ? "FloorDiv" : "Div", pair[0], pair[1], NULL);
    if (strcmp(mode, "trunc") == 0 && pair[0]->shape.dtype == TW_F32)
        y = tw_build1(c->b, "Trunc", y, NULL);
    return tw_torch_give(c, y);
}

/* A square needs no powers. */
bool tw_torch_op_pow(tw_torch_call *c)
{
    const tw_torch_object *e = c->arg[1];
    tw_value *pair[2];
    if (!tw_torch_pair(c, 0, 1, false, pair))
        return false;
    if (pair[0]->shape.dtype == TW_F32 && tw_torch_is_number(e)) {
        const double exponent = tw_torch_number(e);
        const char *op = exponent == 2      ? "Square"
                         : exponent == 0.5  ? "Sqrt"
                         : exponent == -0.5 ? "Rsqrt"
                         : exponent == -1   ? "Reciprocal"
                                            : NULL;
        if (exponent == 1)
            return tw_torch_give(c, pair[0]);
        if (op)
            return tw_torch_give(c, tw_build1(c->b, op, pair[0], NULL));
    }
    return tw_torch_give(c, tw_build2(c->b, "Pow", pair[0], pair[1], NULL));
}

bool tw_torch_op_logical(tw_torch_call *c)
{
    return tw_torch_give(c, tw_build2(c->b, operator_of(c), as_bool(c, 0), as_bool(c, 1), NULL));
}

/* Of bool the logical operator of the same name, which the row has second. */
bool tw_torch_op_bitwise(tw_torch_call *c)
{
    const char *second = c->row->becomes + strcspn(c->row->becomes, " ") + 1;
    tw_value *pair[2];
    return tw_torch_pair(c, 0, 1, false, pair) &&
           tw_torch_give(c,
                         tw_build2(c->b, pair[0]->shape.dtype == TW_BOOL ? second : operator_of(c),
                                   pair[0], pair[1], NULL));
}

/* (x, a, b, value): x + value * a * b, or a / b */
bool tw_torch_op_add_combined(tw_torch_call *c)
{
    tw_value *y =
        tw_build2(c->b, operator_of(c), tw_torch_real_in(c, 1), tw_torch_real_in(c, 2), NULL);
    return tw_torch_give(c, tw_build2(c->b, "Add", tw_torch_real_in(c, 0),
                                      tw_torch_scaled(c, y, tw_torch_real(c, 3)), NULL));
}

/* (start, end, weight): start + weight * (end - start) */
bool tw_torch_op_lerp(tw_torch_call *c)
{
    tw_value *a = tw_torch_real_in(c, 0), *b = tw_torch_real_in(c, 1);
    tw_value *step =
        tw_build2(c->b, "Mul", tw_build2(c->b, "Sub", b, a, NULL), tw_torch_real_in(c, 2), NULL);
    return tw_torch_give(c, tw_build2(c->b, "Add", a, step, NULL));
}

/* (x, min, max): numbers or tensors, either may be None */
bool tw_torch_op_clamp(tw_torch_call *c)
{
    int which[3] = {0}, count = 1;
    bool numbers = true;
    for (int i = 1; i < 3 && i < c->count; i++)
        if (tw_torch_has(c, i)) {
            which[count++] = i;
            numbers &= tw_torch_is_number(c->arg[i]);
        }
    const tw_dtype dtype = tw_torch_common_type(c, which, count);
    tw_value *x = tw_torch_in_as(c, 0, dtype);
    if (numbers && dtype == TW_F32)
        return tw_torch_give(
            c, clipped(c, x, tw_torch_has(c, 1) ? tw_torch_real(c, 1) : -INFINITY,
                       c->count > 2 && tw_torch_has(c, 2) ? tw_torch_real(c, 2) : INFINITY));
    if (tw_torch_has(c, 1))
        x = tw_build2(c->b, "Max", x, tw_torch_in_as(c, 1, dtype), NULL);
    if (c->count > 2 && tw_torch_has(c, 2))
        x = tw_build2(c->b, "Min", x, tw_torch_in_as(c, 2, dtype), NULL);
    return tw_torch_give(c, x);
}

bool tw_torch_op_clamp_max(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    if (x && x->shape.dtype == TW_F32 && tw_torch_is_number(c->arg[1]))
        return tw_torch_give(c, clipped(c, x, -INFINITY, tw_torch_real(c, 1)));
    tw_value *pair[2];
    return tw_torch_pair(c, 0, 1, false, pair) &&
           tw_torch_give(c, tw_build2(c->b, "Min", pair[0], pair[1], NULL));
}

/* --- choices ----------------------------------------------------------------------------------- */

/* (condition, x, y) */
bool tw_torch_op_where(tw_torch_call *c)
{
    const tw_dtype dtype = tw_torch_common_type(c, (const int[]){1, 2}, 2);
    tw_value *in[] = {as_bool(c, 0), tw_torch_in_as(c, 1, dtype), tw_torch_in_as(c, 2, dtype)};
    return tw_torch_give(c, tw_build(c->b, "Where", in, 3, NULL));
}

/* (x, mask, value) */
bool tw_torch_op_masked_fill(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    if (!x)
        return false;
    tw_value *in[] = {as_bool(c, 1), tw_torch_in_as(c, 2, x->shape.dtype), x};
    return tw_torch_give(c, tw_build(c->b, "Where", in, 3, NULL));
}

/* --- types ------------------------------------------------------------------------------------- */

/* The result is the first argument, in argument `i`'s type. */
static bool cast(tw_torch_call *c, int i)
{
    tw_value *x = tw_torch_in(c, 0);
    tw_dtype dtype;
    if (!x || !tw_torch_type(c, i, x->shape.dtype, &dtype))
        return false;
    if (dtype == x->shape.dtype) {
        c->result = c->arg[0];
        return true;
    }
    return tw_torch_give(c, tw_build_cast(c->b, x, dtype));
}

/* (x, ...): the rest is about where and how elements are held */
bool tw_torch_op_same(tw_torch_call *c)
{
    c->result = c->arg[0];
    return true;
}

/* A copy: what happens to it does not happen to the original. */
bool tw_torch_op_clone(tw_torch_call *c)
{
    return tw_torch_give(c, tw_torch_in(c, 0));
}

bool tw_torch_op_to(tw_torch_call *c)
{
    return cast(c, 1);
}

/* (x, device, type) */
bool tw_torch_op_to_second(tw_torch_call *c)
{
    return cast(c, 2);
}

/* (x, other) */
bool tw_torch_op_to_like(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0), *other = tw_torch_in(c, 1);
    return x && other && tw_torch_give(c, tw_build_cast(c->b, x, other->shape.dtype));
}

static bool trains(tw_torch_call *c)
{
    return (!tw_torch_has(c, 2) || tw_torch_flag(c, 2)) && tw_torch_real(c, 1) != 0 &&
           !TW_TORCH_UNSUPPORTED(c, "in training; call eval() before exporting");
}

/* (x, p, train) */
bool tw_torch_op_dropout(tw_torch_call *c)
{
    c->result = c->arg[0];
    return !trains(c);
}

/* (x, p, train) to the result and what was kept */
bool tw_torch_op_native_dropout(tw_torch_call *c)
{
    return !trains(c) && tw_torch_give_first(c, tw_torch_in(c, 0), 2);
}
