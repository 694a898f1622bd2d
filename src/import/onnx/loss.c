/* Losses of classification: the negative log likelihood of a class, of log-probabilities or of scores. */
#include <string.h>

#include "import/onnx/onnx.h"

/* [N, C, d1, d2, ..] as [N, C, the rest], the labels as [N, 1, the rest]. */
typedef struct tw_loss {
    tw_value *x, *labels, *weight;
    tw_value *ignored; /* bool, like the labels; null: nothing is ignored */
    const char *reduction;
} tw_loss;

static bool read_loss(tw_onnx_node *n, tw_loss *l)
{
    const tw_shape *x = &n->in[0]->shape, *t = &n->in[1]->shape;
    int64_t rest = 1;
    l->weight = tw_onnx_in(n, 2);
    l->reduction = tw_onnx_text(n, "reduction", "mean");
    bool fits = x->rank >= 2 && t->rank == x->rank - 1 && t->dim[0] == x->dim[0];
    for (int i = 1; fits && i < t->rank; i++) {
        fits = t->dim[i] == x->dim[i + 1];
        rest *= t->dim[i];
    }
    if (!fits || (t->dtype != TW_S64 && t->dtype != TW_S32))
        return TW_ONNX_FAIL(n, "the labels must be integers in the shape of the input without its "
                               "axis of classes");
    if (l->weight && (l->weight->shape.rank != 1 || l->weight->shape.dim[0] != x->dim[1]))
        return TW_ONNX_FAIL(n, "the weights must be a list of %d, one a class", (int)x->dim[1]);
    if (strcmp(l->reduction, "mean") != 0 && strcmp(l->reduction, "sum") != 0 &&
        strcmp(l->reduction, "none") != 0)
        return TW_ONNX_FAIL(n, "reduction is '%s'; none, mean and sum are possible", l->reduction);
    int64_t dim[] = {x->dim[0], x->dim[1], rest};
    l->x = tw_build_reshape(n->b, n->in[0], 3, dim);
    dim[1] = 1;
    l->labels = tw_build_reshape(n->b, n->in[1], 3, dim);
    l->ignored = NULL;
    if (tw_onnx_has(n, "ignore_index") && l->labels) {
        tw_dtype type = l->labels->shape.dtype;
        tw_value *label = tw_build_scalar(n->b, type, (double)tw_onnx_int(n, "ignore_index", 0));
        l->ignored = tw_build2(n->b, "Equal", l->labels, label, NULL);
        tw_value *in[] = {l->ignored, tw_build_scalar(n->b, type, 0), l->labels};
        l->labels = l->ignored ? tw_build(n->b, "Where", in, 3, NULL) : NULL;
    }
    return l->x && l->labels;
}

/* 0 in place of what belongs to an ignored label. */
static tw_value *without_ignored(tw_onnx_node *n, const tw_loss *l, tw_value *x)
{
    if (!x || !l->ignored)
        return x;
    tw_value *in[] = {l->ignored, tw_build_scalar(n->b, x->shape.dtype, 0), x};
    return tw_build(n->b, "Where", in, 3, NULL);
}

static tw_value *sum_of_all(tw_onnx_node *n, tw_value *x)
{
    return tw_build1(n->b, "ReduceSum", x, TW_SETTINGS(tw_set_int("keepdims", 0)));
}

/* What each label counts: its class's weight, 0 where it is ignored. Null where all count 1. */
static tw_value *counted(tw_onnx_node *n, const tw_loss *l)
{
    if (l->weight) {
        int64_t dim[] = {1, l->x->shape.dim[1], 1};
        tw_shape shape = l->x->shape;
        tw_value *w = tw_build_reshape(n->b, l->weight, 3, dim);
        w = tw_build_expand(n->b, w, &shape);
        w = tw_build2(n->b, "GatherElements", w, l->labels, TW_SETTINGS(tw_set_int("axis", 1)));
        return without_ignored(n, l, w);
    }
    if (!l->ignored)
        return NULL;
    tw_value *in[] = {l->ignored, tw_build_scalar(n->b, l->x->shape.dtype, 0),
                      tw_build_scalar(n->b, l->x->shape.dtype, 1)};
    return tw_build(n->b, "Where", in, 3, NULL);
}

/* -log_probability[label] * weight, reduced as asked for. */
static tw_value *negative_log_likelihood(tw_onnx_node *n, const tw_loss *l, tw_value *log)
{
    tw_value *y =
        tw_build2(n->b, "GatherElements", log, l->labels, TW_SETTINGS(tw_set_int("axis", 1)));
    tw_value *weight = counted(n, l);
    if (n->b->diag->code != TW_CODE_OK)
        return NULL;
    y = tw_build1(n->b, "Neg", without_ignored(n, l, y), NULL);
    if (l->weight)
        y = tw_build2(n->b, "Mul", y, weight, NULL);
    if (strcmp(l->reduction, "none") == 0) {
        const tw_shape *t = &n->in[1]->shape;
        int64_t dim[TW_MAX_RANK];
        for (int i = 0; i < t->rank; i++)
            dim[i] = t->dim[i];
        return tw_build_reshape(n->b, y, t->rank, dim);
    }
    y = sum_of_all(n, y);
    if (strcmp(l->reduction, "sum") == 0)
        return y;
    tw_value *count = weight ? sum_of_all(n, weight)
                             : tw_build_scalar(n->b, log->shape.dtype,
                                               (double)tw_shape_elements(&l->labels->shape));
    return tw_build2(n->b, "Div", y, count, NULL);
}

bool tw_onnx_op_negative_log_likelihood_loss(tw_onnx_node *n)
{
    tw_loss l;
    return read_loss(n, &l) && tw_onnx_bind(n, 0, negative_log_likelihood(n, &l, l.x));
}

/* Of the scores' LogSoftmax, which is the second output. */
bool tw_onnx_op_softmax_cross_entropy_loss(tw_onnx_node *n)
{
    tw_loss l;
    if (!read_loss(n, &l))
        return false;
    tw_value *log = tw_build1(n->b, "LogSoftmax", l.x, TW_SETTINGS(tw_set_int("axis", 1)));
    if (!tw_onnx_bind(n, 0, negative_log_likelihood(n, &l, log)))
        return false;
    int64_t dim[TW_MAX_RANK];
    const tw_shape *x = &n->in[0]->shape;
    for (int i = 0; i < x->rank; i++)
        dim[i] = x->dim[i];
    return !tw_onnx_wants(n, 1) || tw_onnx_bind(n, 1, tw_build_reshape(n->b, log, x->rank, dim));
}
