/* Layers of several inputs. */
#include <string.h>

#include "import/keras/keras.h"

/* Inputs of fewer axes get them behind the batch. */
static tw_value *raised(tw_kr_node *n, tw_value *x, int rank)
{
    int64_t dim[TW_MAX_RANK];
    const int lead = rank - x->shape.rank;
    if (lead <= 0 || x->shape.rank < 1)
        return x;
    for (int i = 0; i < rank; i++)
        dim[i] = i == 0 ? x->shape.dim[0] : i <= lead ? 1 : x->shape.dim[i - lead];
    return tw_build_reshape(n->b, x, rank, dim);
}

static bool read_inputs(tw_kr_node *n, int least, tw_value ***parts)
{
    int rank = 0;
    if (n->in_count < least)
        return TW_KR_FAIL(n, "it is called with %d tensors, it takes %d or more", n->in_count,
                          least);
    *parts = tw_alloc_array(n->import->scratch, (size_t)n->in_count + 1, sizeof **parts);
    for (int i = 0; i < n->in_count; i++)
        rank = n->in[i]->shape.rank > rank ? n->in[i]->shape.rank : rank;
    for (int i = 0; i < n->in_count; i++)
        if (!((*parts)[i] = raised(n, n->in[i], rank)))
            return false;
    return true;
}

/* A product in Keras 3: 1 where an input does not count, 0 where none does. */
static tw_value *masked_product(tw_kr_node *n, tw_value **parts)
{
    tw_value *some = NULL, *y = NULL;
    bool all = true;
    for (int i = 0; i < n->in_count; i++) {
        tw_value *own = n->masks[i];
        own = own ? tw_kr_mask_axis(n, own, own->shape.rank) : NULL;
        parts[i] = tw_kr_select(n, own, parts[i], tw_kr_scalar(n, 1));
        y = y ? tw_build2(n->b, "Mul", y, parts[i], NULL) : parts[i];
        some = own && some ? tw_build2(n->b, "Or", some, own, NULL) : own ? own : some;
        all = all && own;
    }
    return all ? tw_kr_select(n, some, y, tw_kr_scalar(n, 0)) : y;
}

/* The greatest or least in Keras 3: of what counts. */
static tw_value *masked_extreme(tw_kr_node *n, tw_value **parts)
{
    tw_value *y = NULL, *before = NULL;
    for (int i = 0; i < n->in_count; i++) {
        tw_value *x = parts[i], *own = n->masks[i];
        own = own ? tw_kr_mask_axis(n, own, own->shape.rank) : NULL;
        if (y) {
            x = tw_kr_select(n, own, x, y);
            y = tw_kr_select(n, before, y, x);
            y = x && y ? tw_build2(n->b, n->row->op, y, x, NULL) : NULL;
            own = own && before ? tw_build2(n->b, "Or", before, own, NULL) : NULL;
        } else {
            y = x;
        }
        before = own;
        if (!y)
            return NULL;
    }
    return y;
}

static bool has_masks(const tw_kr_node *n)
{
    bool some = false;
    for (int i = 0; n->masks && i < n->in_count; i++)
        some = some || n->masks[i];
    return some;
}

/* kind 1: the mean, by the number of inputs. */
bool tw_kr_op_merge(tw_kr_node *n)
{
    tw_value **parts;
    if (!read_inputs(n, 1, &parts))
        return false;
    if (n->import->version >= 3 && has_masks(n)) {
        if (strcmp(n->row->op, "Mul") == 0)
            return tw_kr_set(n, masked_product(n, parts));
        if (strcmp(n->row->op, "Max") == 0 || strcmp(n->row->op, "Min") == 0)
            return tw_kr_set(n, masked_extreme(n, parts));
    }
    tw_value *y = tw_build_chain(n->b, n->row->op, parts, n->in_count);
    if (y && n->row->kind == 1)
        y = tw_build2(n->b, "Mul", y, tw_kr_scalar(n, 1.0 / n->in_count), NULL);
    return tw_kr_set(n, y);
}

bool tw_kr_op_concatenate(tw_kr_node *n)
{
    if (n->in_count < 1)
        return TW_KR_FAIL(n, "it is called with no tensor");
    const int axis = tw_kr_axis(n, "axis", n->in[0]->shape.rank, -1);
    return axis >= 0 && tw_kr_set(n, tw_build_concat(n->b, n->in, n->in_count, axis));
}

/* [N, kept.., K] of x, whose contracted axis goes last; how many elements the kept ones have. */
static tw_value *contracted_last(tw_kr_node *n, tw_value *x, int axis, int64_t *kept)
{
    const int rank = x->shape.rank;
    int64_t perm[TW_MAX_RANK], elements = 1;
    int at = 0;
    for (int i = 0; i < rank; i++)
        if (i != axis)
            perm[at++] = i;
    perm[at] = axis;
    for (int i = 1; i < rank; i++)
        elements *= i == axis ? 1 : x->shape.dim[i];
    *kept = elements;
    if (axis != rank - 1)
        x = tw_build_transpose(n->b, x, rank, perm);
    return x ? tw_build_reshape(n->b, x, 3,
                                (int64_t[]){x->shape.dim[0], elements, x->shape.dim[rank - 1]})
             : NULL;
}

static tw_value *unit(tw_kr_node *n, tw_value *x, int64_t axis)
{
    return tw_build1(n->b, "L2Normalize", x,
                     TW_SETTINGS(tw_set_ints("axes", 1, &axis), tw_set_float("epsilon", 1e-6f)));
}

bool tw_kr_op_dot(tw_kr_node *n)
{
    int64_t axes[2], kept[2], dim[2 * TW_MAX_RANK];
    tw_value *part[2];
    int rank = 0;
    if (n->in_count != 2 || tw_kr_ints(n, "axes", 2, true, -1, axes) != 2)
        return TW_KR_FAIL(n, "it takes two tensors and an axis for each");
    dim[rank++] = n->in[0]->shape.dim[0];
    for (int k = 0; k < 2; k++) {
        const tw_shape *shape = &n->in[k]->shape;
        axes[k] += axes[k] < 0 ? shape->rank : 0;
        if (axes[k] < 1 || axes[k] >= shape->rank)
            return TW_KR_FAIL(n, "axis %lld of an input of %d axes", (long long)axes[k],
                              shape->rank);
        for (int i = 1; i < shape->rank; i++)
            if (i != axes[k])
                dim[rank++] = shape->dim[i];
        part[k] = tw_kr_flag(n, "normalize", false) ? unit(n, n->in[k], axes[k]) : n->in[k];
        if (!part[k] || !(part[k] = contracted_last(n, part[k], (int)axes[k], &kept[k])))
            return false;
    }
    if (rank == 1)
        dim[rank++] = 1;
    if (rank > TW_MAX_RANK)
        return TW_KR_UNSUPPORTED(n, "a result of more than six axes");
    tw_value *y =
        tw_build2(n->b, "MatMul", part[0], part[1], TW_SETTINGS(tw_set_int("transpose_b", 1)));
    return y && tw_kr_set(n, tw_build_reshape(n->b, y, rank, dim));
}
