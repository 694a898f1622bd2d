/* Activations: by name, as a layer's attribute or as layers of their own. A name is a row: an operator
 * with its two numbers, or a function here that composes it. */
#include <math.h>
#include <string.h>

#include "import/keras/keras.h"

/* An operator on x and a number, or two values. */
static tw_value *with(tw_kr_node *n, const char *op, tw_value *x, double y)
{
    return x ? tw_build2(n->b, op, x, tw_kr_scalar(n, y), NULL) : NULL;
}

static tw_value *both(tw_kr_node *n, const char *op, tw_value *x, tw_value *y)
{
    return x && y ? tw_build2(n->b, op, x, y, NULL) : NULL;
}

static tw_value *clip(tw_kr_node *n, tw_value *x, double low, double high)
{
    return x ? tw_build1(n->b, "Clip", x,
                         TW_SETTINGS(tw_set_float("alpha", (float)low),
                                     tw_set_float("beta", (float)high)))
             : NULL;
}

tw_value *tw_kr_softmax(tw_kr_node *n, tw_value *x, const char *op)
{
    return x ? tw_build1(n->b, op, x, TW_SETTINGS(tw_set_int("axis", x->shape.rank - 1))) : NULL;
}

static tw_value *softmax(tw_kr_node *n, tw_value *x)
{
    return tw_kr_softmax(n, x, "Softmax");
}

static tw_value *log_softmax(tw_kr_node *n, tw_value *x)
{
    return tw_kr_softmax(n, x, "LogSoftmax");
}

/* Keras 3 has the steeper one. */
static tw_value *hard_sigmoid(tw_kr_node *n, tw_value *x)
{
    const float slope = n->import->version < 3 ? 0.2f : 1.0f / 6.0f;
    return tw_build1(n->b, "HardSigmoid", x,
                     TW_SETTINGS(tw_set_float("alpha", slope), tw_set_float("beta", 0.5f)));
}

static tw_value *relu6(tw_kr_node *n, tw_value *x)
{
    return clip(n, x, 0, 6);
}

static tw_value *hard_tanh(tw_kr_node *n, tw_value *x)
{
    return clip(n, x, -1, 1);
}

static tw_value *sparse_sigmoid(tw_kr_node *n, tw_value *x)
{
    return tw_build1(n->b, "HardSigmoid", x,
                     TW_SETTINGS(tw_set_float("alpha", 0.5f), tw_set_float("beta", 0.5f)));
}

static tw_value *tanh_shrink(tw_kr_node *n, tw_value *x)
{
    return both(n, "Sub", x, tw_build1(n->b, "Tanh", x, NULL));
}

/* (x + sqrt(x^2 + 4)) / 2 */
static tw_value *squareplus(tw_kr_node *n, tw_value *x)
{
    tw_value *root = with(n, "Add", tw_build1(n->b, "Square", x, NULL), 4);
    return with(n, "Mul", both(n, "Add", x, root ? tw_build1(n->b, "Sqrt", root, NULL) : NULL),
                0.5);
}

/* ((x + 1) / 2)^2 between -1 and 1, 0 below, x above: the square up to 1, and what x has beyond. */
static tw_value *sparse_plus(tw_kr_node *n, tw_value *x)
{
    tw_value *low = with(n, "Add", clip(n, x, -1, 1), 1);
    tw_value *square = low ? with(n, "Mul", tw_build1(n->b, "Square", low, NULL), 0.25) : NULL;
    tw_value *beyond = tw_build1(n->b, "Relu", with(n, "Sub", x, 1), NULL);
    return both(n, "Add", square, beyond);
}

/* The first half of the last axis, times the sigmoid of the second. */
static tw_value *glu(tw_kr_node *n, tw_value *x)
{
    const int axis = x->shape.rank - 1, half = x->shape.rank ? x->shape.dim[axis] / 2 : 0;
    if (half < 1 || x->shape.dim[axis] % 2 != 0) {
        TW_KR_FAIL(n, "glu halves an axis of %d elements",
                   x->shape.rank ? (int)x->shape.dim[axis] : 0);
        return NULL;
    }
    tw_value *gate = tw_build_slice(n->b, x, axis, half, half, 1);
    return both(n, "Mul", tw_build_slice(n->b, x, axis, 0, half, 1),
                gate ? tw_build1(n->b, "Sigmoid", gate, NULL) : NULL);
}

static const struct {
    const char *name, *op; /* op: null where there is none, or several */
    int numbers;           /* of the operator's attributes alpha and beta, given here */
    float alpha, beta;
    tw_value *(*compose)(tw_kr_node *n, tw_value *x);
} activations[] = {
    {"linear", NULL, 0, 0, 0, NULL},
    {"relu", "Relu", 0, 0, 0, NULL},
    {"sigmoid", "Sigmoid", 0, 0, 0, NULL},
    {"tanh", "Tanh", 0, 0, 0, NULL},
    {"softmax", NULL, 0, 0, 0, softmax},
    {"log_softmax", NULL, 0, 0, 0, log_softmax},
    {"relu6", "Clip", 0, 0, 0, relu6},
    {"elu", "Elu", 1, 1, 0, NULL},
    {"selu", "Selu", 0, 0, 0, NULL},
    {"celu", "Celu", 1, 1, 0, NULL},
    {"softplus", "Softplus", 0, 0, 0, NULL},
    {"softsign", "Softsign", 0, 0, 0, NULL},
    {"swish", "Swish", 1, 1, 0, NULL},
    {"silu", "Swish", 1, 1, 0, NULL},
    {"gelu", "Gelu", 0, 0, 0, NULL},
    {"exponential", "Exp", 0, 0, 0, NULL},
    {"hard_sigmoid", "HardSigmoid", 0, 0, 0, hard_sigmoid},
    {"hard_silu", "HardSwish", 0, 0, 0, NULL},
    {"hard_swish", "HardSwish", 0, 0, 0, NULL},
    {"leaky_relu", "LeakyRelu", 1, 0.2f, 0, NULL},
    {"mish", "Mish", 0, 0, 0, NULL},
    {"log_sigmoid", "LogSigmoid", 0, 0, 0, NULL},
    {"hard_tanh", NULL, 0, 0, 0, hard_tanh},
    {"hard_shrink", "Shrink", 2, 0.5f, 0, NULL},
    {"soft_shrink", "Shrink", 2, 0.5f, 0.5f, NULL},
    {"tanh_shrink", NULL, 0, 0, 0, tanh_shrink},
    {"squareplus", NULL, 0, 0, 0, squareplus},
    {"sparse_plus", NULL, 0, 0, 0, sparse_plus},
    {"sparse_sigmoid", NULL, 0, 0, 0, sparse_sigmoid},
    {"glu", NULL, 0, 0, 0, glu},
};

const char *tw_kr_function_operator(const char *name)
{
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
        if (activations[i].op && strcmp(activations[i].name, name) == 0)
            return activations[i].op;
    return NULL;
}

tw_value *tw_kr_function(tw_kr_node *n, const char *name, tw_value *x)
{
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++) {
        if (strcmp(activations[i].name, name) != 0)
            continue;
        if (activations[i].compose)
            return activations[i].compose(n, x);
        if (!activations[i].op)
            return x;
        tw_setting settings[] = {tw_set_float("alpha", activations[i].alpha),
                                 tw_set_float("beta", activations[i].beta),
                                 {.name = NULL}};
        settings[activations[i].numbers].name = NULL;
        return tw_build1(n->b, activations[i].op, x, settings);
    }
    TW_KR_UNSUPPORTED(
        n,
        "the activation '%.64s' is not one of Keras's own that are supported; the file does "
        "not hold the code of others",
        name);
    return NULL;
}

/* The name of an activation, or the layer that is one: a text, Keras 3's record of a function, or a
 * layer's record. */
static const char *name_of(const json_t *value)
{
    const char *class = tw_kr_class(value);
    if (json_is_object(value) && strcmp(class, "function") == 0)
        return tw_kr_or_empty(json_string_value(json_object_get(value, "config")));
    return json_string_value(value);
}

tw_value *tw_kr_activate(tw_kr_node *n, const char *key, tw_value *x)
{
    const json_t *value = tw_kr_get(n, key);
    if (!x || !value)
        return x;
    const char *name = name_of(value);
    if (name)
        return tw_kr_function(n, name, x);
    if (!tw_kr_find_layer(tw_kr_class(value))) {
        TW_KR_UNSUPPORTED(n, "its activation is '%.64s', which is not known", tw_kr_class(value));
        return NULL;
    }
    tw_value *mask = NULL;
    return tw_kr_inner(n, value, n->store, x, &mask);
}

/* --- layers ------------------------------------------------------------------------------------ */

static tw_value *real_in(tw_kr_node *n)
{
    return tw_kr_real_value(n, tw_kr_in(n, 0, TW_MAX_RANK));
}

bool tw_kr_op_activation(tw_kr_node *n)
{
    return tw_kr_set(n, tw_kr_activate(n, "activation", real_in(n)));
}

/* Above the threshold x, below it a slope from there, in all no more than a bound. */
bool tw_kr_op_relu_layer(tw_kr_node *n)
{
    tw_value *x = real_in(n), *y = NULL;
    const double slope = tw_kr_real(n, "negative_slope", 0),
                 most = tw_kr_real(n, "max_value", INFINITY);
    const double threshold = tw_kr_real(n, "threshold", 0);
    if (!x)
        return false;
    if (threshold == 0 && slope == 0)
        y = tw_build1(n->b, "Relu", x, NULL);
    else if (threshold == 0)
        y = tw_build1(n->b, "LeakyRelu", x, TW_SETTINGS(tw_set_float("alpha", (float)slope)));
    else {
        tw_value *above = with(n, "Greater", x, threshold);
        tw_value *below = with(n, "Mul", with(n, "Sub", x, threshold), slope);
        tw_value *in[] = {above, x, below};
        y = above && below ? tw_build(n->b, "Where", in, 3, NULL) : NULL;
    }
    return tw_kr_set(n, isinf(most) ? y : with(n, "Min", y, most));
}

/* kind: of the two names that the number has had, the default in hundredths. */
bool tw_kr_op_slope(tw_kr_node *n)
{
    const double otherwise = n->row->kind / 100.0;
    const double alpha = tw_kr_real(n, "alpha", tw_kr_real(n, "negative_slope", otherwise));
    tw_value *x = real_in(n);
    return x && tw_kr_set(n, tw_build1(n->b, n->row->op, x,
                                       TW_SETTINGS(tw_set_float("alpha", (float)alpha))));
}

bool tw_kr_op_thresholded(tw_kr_node *n)
{
    tw_value *x = real_in(n);
    return x &&
           tw_kr_set(
               n, tw_build1(n->b, "ThresholdedRelu", x,
                            TW_SETTINGS(tw_set_float("alpha", (float)tw_kr_real(n, "theta", 1)))));
}

bool tw_kr_op_prelu(tw_kr_node *n)
{
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, 2, TW_MAX_RANK));
    int64_t shared[TW_MAX_RANK], dim[TW_MAX_RANK];
    int count = 0;
    if (!x)
        return false;
    if (tw_kr_get(n, "shared_axes") && (count = tw_kr_axes(n, "shared_axes", x, 1, shared)) < 0)
        return false;
    for (int i = 1; i < x->shape.rank; i++)
        dim[i - 1] = x->shape.dim[i];
    for (int i = 0; i < count; i++)
        if (shared[i] > 0)
            dim[shared[i] - 1] = 1;
    return tw_kr_set(
        n, both(n, "PRelu", x, tw_kr_variable(n, n->store, 0, "alpha", x->shape.rank - 1, dim)));
}

/* Along several axes these are merged for the purpose: they must stand side by side. */
bool tw_kr_op_softmax_layer(tw_kr_node *n)
{
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, 1, TW_MAX_RANK));
    int64_t axes[TW_MAX_RANK], dim[TW_MAX_RANK], whole[TW_MAX_RANK];
    const int count = tw_kr_axes(n, "axis", x, -1, axes);
    if (count < 1)
        return false;
    tw_value *mask = tw_kr_mask(n, 1, 0);
    int rank = 0;
    x = tw_kr_select(n, mask, x, tw_kr_scalar(n, TW_KR_EXCLUDED));
    if (!x)
        return false;
    for (int i = 0; i < x->shape.rank; i++) {
        whole[i] = x->shape.dim[i];
        if (rank > 0 && i > axes[0] && i <= axes[count - 1])
            dim[rank - 1] *= x->shape.dim[i];
        else
            dim[rank++] = x->shape.dim[i];
    }
    if (axes[count - 1] - axes[0] != count - 1)
        return TW_KR_UNSUPPORTED(n, "a softmax over axes that do not stand side by side");
    if (count > 1)
        x = tw_build_reshape(n->b, x, rank, dim);
    x = x ? tw_build1(n->b, "Softmax", x, TW_SETTINGS(tw_set_int("axis", axes[0]))) : NULL;
    x = x && count > 1 ? tw_build_reshape(n->b, x, n->in[0]->shape.rank, whole) : x;
    /* Where nothing counts, Keras 3 has zeros. */
    return tw_kr_set(n, n->import->version >= 3 ? tw_kr_select(n, mask, x, tw_kr_scalar(n, 0)) : x);
}
