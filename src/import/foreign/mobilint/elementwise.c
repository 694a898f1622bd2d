/* Element by element: functions of one activation, of two, of one and a constant. */
#include "import/foreign/mobilint/mobilint.h"

/* --- one activation ---------------------------------------------------------------------------- */

/* Attributes that the IR's functions know as alpha and beta. */
static const struct {
    const char *name, *ours;
} factors[] = {
    {"alpha", "alpha"},   {"leaky_alpha", "alpha"},   {"clip_min_value", "alpha"},
    {"min_val", "alpha"}, {"eps", "alpha"},           {"beta", "beta"},
    {"max_val", "beta"},  {"clip_max_value", "beta"},
};
enum { FACTORS = sizeof factors / sizeof *factors };

bool tw_mobilint_unary(tw_foreign_node *n)
{
    tw_setting settings[FACTORS + 1] = {{.name = NULL}};
    int count = 0;
    for (int i = 0; i < FACTORS; i++)
        if (tw_foreign_has(n, factors[i].name))
            settings[count++] =
                tw_set_float(factors[i].ours, (float)tw_foreign_float(n, factors[i].name));
    return tw_foreign_result(n, tw_build1(n->b, tw_foreign_main(n), n->in[0], settings));
}

/* x times a number. */
static tw_value *scaled(tw_foreign_node *n, double factor)
{
    if (factor == 1)
        return n->in[0];
    return tw_build2(n->b, "Mul", n->in[0], tw_build_scalar(n->b, TW_F32, factor), NULL);
}

bool tw_mobilint_sigmoid(tw_foreign_node *n)
{
    tw_value *x = scaled(n, tw_foreign_float(n, "alpha"));
    return tw_foreign_result(n, tw_build1(n->b, "Sigmoid", x, NULL));
}

bool tw_mobilint_softmax(tw_foreign_node *n)
{
    int axis;
    if (!tw_foreign_axis(n, "axis", tw_foreign_int(n, "axis"), n->in[0]->shape.rank, &axis))
        return false;
    tw_value *x = scaled(n, tw_foreign_float(n, "beta"));
    return tw_foreign_result(n,
                             tw_build1(n->b, "Softmax", x, TW_SETTINGS(tw_set_int("axis", axis))));
}

bool tw_mobilint_gelu(tw_foreign_node *n)
{
    const char *op = tw_foreign_flag(n, "approximate") ? "GeluTanh" : "Gelu";
    return tw_foreign_result(n, tw_build1(n->b, op, n->in[0], NULL));
}

bool tw_mobilint_quick_gelu(tw_foreign_node *n)
{
    return tw_foreign_result(
        n, tw_build1(n->b, "Swish", n->in[0], TW_SETTINGS(tw_set_float("alpha", 1.702f))));
}

bool tw_mobilint_pow(tw_foreign_node *n)
{
    tw_value *exponent = tw_build_scalar(n->b, TW_F32, tw_foreign_float(n, "exponent"));
    return tw_foreign_result(n, tw_build2(n->b, "Pow", n->in[0], exponent, NULL));
}

/* The first half of the channels, gated by the second. */
bool tw_mobilint_glu(tw_foreign_node *n)
{
    tw_builder *b = n->b;
    tw_value *x = n->in[0];
    const int axis = x->shape.rank - 1;
    if (axis < 0 || x->shape.dim[axis] % 2 != 0)
        return TW_FOREIGN_FAIL(n, "the channels must be an even number");
    const int64_t half = x->shape.dim[axis] / 2;
    tw_value *gate = tw_build1(b, "Sigmoid", tw_build_slice(b, x, axis, half, half, 1), NULL);
    return tw_foreign_result(
        n, tw_build2(b, "Mul", tw_build_slice(b, x, axis, 0, half, 1), gate, NULL));
}

/* --- two ---------------------------------------------------------------------------------------- */

bool tw_mobilint_binary(tw_foreign_node *n)
{
    return tw_foreign_result(n, tw_build2(n->b, tw_foreign_main(n), n->in[0], n->in[1], NULL));
}

/* The order matters to Sub and Div alone; Add and Mul give the same bits either way. */
bool tw_mobilint_constant(tw_foreign_node *n)
{
    tw_value *c = tw_foreign_weight(n, "constant");
    const bool first = tw_foreign_flag(n, "is_const_first");
    return tw_foreign_result(
        n, tw_build2(n->b, tw_foreign_main(n), first ? c : n->in[0], first ? n->in[0] : c, NULL));
}

bool tw_mobilint_weighted_sum(tw_foreign_node *n)
{
    tw_builder *b = n->b;
    if (!tw_shape_equal(&n->in[0]->shape, &n->in[1]->shape))
        return TW_FOREIGN_FAIL(n, "the two inputs must have one shape");
    tw_value *x0 = tw_build2(b, "Mul", n->in[0], tw_foreign_weight(n, "weight0"), NULL);
    tw_value *x1 = tw_build2(b, "Mul", n->in[1], tw_foreign_weight(n, "weight1"), NULL);
    return tw_foreign_result(n, tw_build2(b, "Add", x0, x1, NULL));
}

/* Does `small` broadcast to `large`, of one rank? */
static bool broadcasts(const tw_shape *small, const tw_shape *large)
{
    for (int k = 0; k < large->rank; k++)
        if (small->dim[k] != 1 && small->dim[k] != large->dim[k])
            return false;
    return true;
}

/* The smaller is added to the leading part of the larger: to zeros behind it. */
bool tw_mobilint_add_partial(tw_foreign_node *n)
{
    const bool first = tw_foreign_flag(n, "is_input0_larger");
    tw_value *large = n->in[first ? 0 : 1], *small = n->in[first ? 1 : 0];
    const int rank = large->shape.rank;
    int64_t after[TW_MAX_RANK] = {0};
    if (small->shape.rank != rank)
        return TW_FOREIGN_FAIL(n, "the inputs have ranks %d and %d", n->in[0]->shape.rank,
                               n->in[1]->shape.rank);
    for (int k = 0; k < rank; k++) {
        after[k] = large->shape.dim[k] - small->shape.dim[k];
        if (after[k] < 0)
            return TW_FOREIGN_FAIL(n,
                                   "the attribute is_input0_larger does not fit: axis %d of the "
                                   "larger has %d elements, of the smaller %d",
                                   k, (int)large->shape.dim[k], (int)small->shape.dim[k]);
    }
    if (!broadcasts(&small->shape, &large->shape))
        small = tw_build1(n->b, "Pad", small, TW_SETTINGS(tw_set_ints("after", rank, after)));
    return tw_foreign_result(n, tw_build2(n->b, "Add", large, small, NULL));
}
