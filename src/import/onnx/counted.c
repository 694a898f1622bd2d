/* Results with as many rows as the data decides: NonZero, Compress and NonMaxSuppression of what is computed
 * while the network runs. They have room for a number that is known when compiling, and a count beside
 * them; so they can be outputs of the model only. Behind the last: -1 in lists of places, else 0. */
#include "import/onnx/counted.h"

#include <string.h>

#include "import/onnx/model.h"
#include "ops/non_max.h"

/* ---- extents and counts ---- */

static const Tw__Onnx__ValueInfo *output_of_model(const tw_onnx_node *n, const char *name)
{
    const tw_onnx *o = n->onnx;
    const Tw__Onnx__Graph *g = o->model->graph;
    if (o->scope->outer || o->scope->call || o->body)
        return NULL;
    for (size_t i = 0; i < g->n_output; i++)
        if (strcmp(tw_onnx_or_empty(g->output[i]->name), name) == 0)
            return g->output[i];
    return NULL;
}

/* Does a node of the model's graph, or one of its branches, read the name? */
static bool is_read(const Tw__Onnx__Graph *g, const char *name, int depth)
{
    for (size_t i = 0; i < g->n_node; i++) {
        const Tw__Onnx__Node *node = g->node[i];
        for (size_t k = 0; k < node->n_input; k++)
            if (strcmp(node->input[k], name) == 0)
                return true;
        for (size_t k = 0; k < node->n_attribute && depth < TW_ONNX_DEPTH; k++)
            if (node->attribute[k]->g && is_read(node->attribute[k]->g, name, depth + 1))
                return true;
    }
    return false;
}

bool tw_onnx_open_extent(tw_onnx_node *n, int i, int axis, int64_t most, int64_t *extent)
{
    const char *name = n->proto->output[i];
    const Tw__Onnx__ValueInfo *info = output_of_model(n, name);
    if (!info || is_read(n->onnx->model->graph, name, 0))
        return TW_ONNX_UNSUPPORTED(n,
                                   "how many rows its result '%s' has depends on what is computed "
                                   "while the network runs: it can be an output of the model, but "
                                   "nothing can compute with it",
                                   name);
    const Tw__Onnx__Shape *shape =
        info->type && info->type->tensor_type ? info->type->tensor_type->shape : NULL;
    const Tw__Onnx__Dimension *dim = shape && (size_t)axis < shape->n_dim ? shape->dim[axis] : NULL;
    *extent = dim && dim->has_value && dim->value >= 0 && dim->value < most ? dim->value : most;
    return true;
}

bool tw_onnx_count(tw_onnx_node *n, int i, tw_value *count)
{
    tw_onnx *o = n->onnx;
    const int64_t one[1] = {1};
    count = count ? tw_build_reshape(n->b, count, 1, one) : NULL;
    if (!count)
        return false;
    count = tw_build1(n->b, "Identity", count, NULL);
    if (!count)
        return false;
    count->name =
        tw_unique_name(o->b.graph, tw_format(n->b->arena, "%s.count", n->proto->output[i]));
    tw_grow(n->b->arena, &o->counts, o->count_count, &o->count_capacity, sizeof *o->counts);
    o->counts[o->count_count++] = count;
    return true;
}

/* ---- parts ---- */

tw_value *tw_onnx_below(tw_builder *b, int64_t extent, tw_value *count)
{
    return count
               ? tw_build2(b, "Less", tw_build_iota(b, TW_S64, 1, 0, (int32_t)extent), count, NULL)
               : NULL;
}

tw_value *tw_onnx_filled(tw_builder *b, tw_value *x, tw_value *mask, int axis, double fill)
{
    int64_t dim[TW_MAX_RANK];
    if (!x || !mask)
        return NULL;
    for (int k = 0; k < x->shape.rank; k++)
        dim[k] = k == axis ? x->shape.dim[k] : 1;
    tw_value *in[] = {tw_build_reshape(b, mask, x->shape.rank, dim), x,
                      tw_build_scalar(b, x->shape.dtype, fill)};
    return in[0] && in[2] ? tw_build(b, "Where", in, 3, NULL) : NULL;
}

tw_value *tw_onnx_truths(tw_builder *b, tw_value *flags)
{
    const int64_t one[1] = {1};
    tw_value *numbers = flags ? tw_build_cast(b, flags, TW_S64) : NULL;
    return numbers ? tw_build_reshape(b, tw_build1(b, "ReduceSum", numbers, NULL), 1, one) : NULL;
}

/* Where the first `extent` true ones of a list stand, in order; behind them false ones. */
static tw_value *true_places(tw_builder *b, tw_value *flags, int64_t extent)
{
    return tw_build1(b, "TopIndices", flags,
                     TW_SETTINGS(tw_set_int("axis", 0), tw_set_int("k", extent)));
}

/* ---- operators ---- */

/* Which index of axis k each place has, counted through a tensor of these extents. */
static tw_value *index_of(tw_builder *b, tw_value *places, const tw_shape *shape, int k)
{
    int64_t inner = 1;
    for (int i = k + 1; i < shape->rank; i++)
        inner *= shape->dim[i];
    if (inner > 1)
        places = tw_build2(b, "Div", places, tw_build_scalar(b, TW_S64, (double)inner), NULL);
    if (k > 0)
        places = tw_build2(b, "Mod", places, tw_build_scalar(b, TW_S64, shape->dim[k]), NULL);
    const int64_t row[2] = {1, places ? places->shape.dim[0] : 0};
    return places ? tw_build_reshape(b, places, 2, row) : NULL;
}

bool tw_onnx_non_zero_counted(tw_onnx_node *n)
{
    tw_value *x = n->in[0], *index[TW_MAX_RANK];
    const tw_shape shape = x->shape;
    int64_t elements = tw_shape_elements(&shape), extent;
    if (shape.rank == 0 || elements == 0)
        return TW_ONNX_UNSUPPORTED(n, "the input is %s, and computed while the network runs",
                                   shape.rank ? "empty" : "a scalar");
    if (!tw_onnx_open_extent(n, 0, 1, elements, &extent))
        return false;
    tw_value *flags = tw_build_reshape(n->b, x, 1, &elements);
    if (flags && shape.dtype != TW_BOOL)
        flags = tw_build2(n->b, "NotEqual", flags, tw_build_scalar(n->b, shape.dtype, 0), NULL);
    tw_value *count = tw_onnx_truths(n->b, flags);
    tw_value *places = count ? true_places(n->b, flags, extent) : NULL;
    for (int k = 0; k < shape.rank; k++)
        if (!places || !(index[k] = index_of(n->b, places, &shape, k)))
            return false;
    tw_value *all = tw_build_concat(n->b, index, shape.rank, 0);
    return tw_onnx_bind(n, 0,
                        tw_onnx_filled(n->b, all, tw_onnx_below(n->b, extent, count), 1, -1)) &&
           tw_onnx_count(n, 0, count);
}

bool tw_onnx_compress_counted(tw_onnx_node *n, tw_value *x, tw_value *condition, int axis)
{
    int64_t extent;
    if (!tw_onnx_open_extent(n, 0, axis, condition->shape.dim[0], &extent))
        return false;
    tw_value *count = tw_onnx_truths(n->b, condition);
    tw_value *places = count ? true_places(n->b, condition, extent) : NULL;
    tw_value *y = places ? tw_build_gather(n->b, x, places, axis, 0) : NULL;
    return tw_onnx_bind(n, 0,
                        tw_onnx_filled(n->b, y, tw_onnx_below(n->b, extent, count), axis, 0)) &&
           tw_onnx_count(n, 0, count);
}

/* At most so many boxes of a class; 0 where the operator is not told. */
static int64_t boxes_of_class(tw_onnx_node *n, int32_t boxes)
{
    tw_value *limit = tw_onnx_in(n, 2);
    if (!limit)
        return 0;
    if (!tw_build_known(n->b, limit) || tw_shape_elements(&limit->shape) != 1)
        return boxes;
    const int64_t most = tw_build_int_at(limit, 0);
    return most < 0 ? 0 : most < boxes ? most : boxes;
}

bool tw_onnx_op_non_max_suppression(tw_onnx_node *n)
{
    const tw_shape *x = &n->in[0]->shape, *s = &n->in[1]->shape;
    const tw_opdef *op = tw_op_by_name("NonMaxSuppression");
    const int64_t centre = tw_onnx_int(n, "center_point_box", 0);
    int64_t extent;
    if (x->rank != 3 || s->rank != 3)
        return TW_ONNX_FAIL(n, "boxes have rank %d and scores rank %d; both must have rank 3",
                            x->rank, s->rank);
    if (centre != 0 && centre != 1)
        return TW_ONNX_FAIL(n, "center_point_box is %lld", (long long)centre);
    const int64_t lists = (int64_t)s->dim[0] * s->dim[1], each = boxes_of_class(n, s->dim[2]);
    const int64_t most =
        each > 0 && lists > TW_NON_MAX_MOST / each ? TW_NON_MAX_MOST + 1 : lists * each;
    if (!tw_onnx_open_extent(n, 0, 0, most, &extent))
        return false;
    if (extent > TW_NON_MAX_MOST)
        return TW_ONNX_UNSUPPORTED(n, "it may give more than %d boxes", TW_NON_MAX_MOST);
    if (!tw_onnx_in(n, 2) || extent == 0) { /* none are asked for */
        tw_value *count = tw_build_list(n->b, 1, (const int64_t[]){0});
        const int32_t dim[2] = {0, 3};
        return tw_onnx_bind(n, 0, tw_build_data(n->b, tw_shape_of(TW_S64, 2, dim), "")) &&
               tw_onnx_count(n, 0, count);
    }
    const tw_non_max_attributes attributes = {(int32_t)extent, (int32_t)centre};
    tw_value *in[5] = {NULL};
    for (int i = 0; i < n->in_count; i++)
        in[i] = n->in[i];
    if (in[2] && in[2]->shape.dtype == TW_S32)
        in[2] = tw_build_cast(n->b, in[2], TW_S64);
    tw_node *node =
        tw_graph_node(n->b->graph, op, n->b->node, in, 5, 2, NULL, &attributes, n->b->diag);
    return node && tw_onnx_bind(n, 0, node->out[0]) && tw_onnx_count(n, 0, node->out[1]);
}
