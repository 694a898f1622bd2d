/* Shapes: the same elements with other axes, and axes in another order. */
#include <string.h>

#include "import/pytorch/torch.h"

/* Extents with at most one -1, which is what is left. */
static bool complete(tw_torch_call *c, int64_t elements, int rank, int64_t *dim)
{
    int64_t rest = elements;
    int open = -1;
    for (int i = 0; i < rank; i++) {
        if (dim[i] == -1 && open < 0)
            open = i;
        else if (dim[i] < 0)
            return TW_TORCH_FAIL(c, "an extent of %lld", (long long)dim[i]);
        else if (dim[i] > 0 && rest % dim[i] != 0)
            return TW_TORCH_FAIL(c, "%lld elements do not have the extents asked for",
                                 (long long)elements);
        else if (dim[i] > 0)
            rest /= dim[i];
    }
    if (open >= 0)
        dim[open] = rest;
    return true;
}

static tw_value *reshaped(tw_torch_call *c, tw_value *x, int rank, int64_t *dim)
{
    if (rank > TW_MAX_RANK) {
        TW_TORCH_UNSUPPORTED(c, "a result of rank %d; at most %d are supported", rank, TW_MAX_RANK);
        return NULL;
    }
    if (!x || !complete(c, tw_shape_elements(&x->shape), rank, dim))
        return NULL;
    return tw_build_reshape(c->b, x, rank, dim);
}

/* (x, size) */
bool tw_torch_op_view(tw_torch_call *c)
{
    int64_t dim[TW_MAX_RANK + 1] = {0};
    const int rank = tw_torch_length(c, 1);
    if (rank > TW_MAX_RANK)
        return TW_TORCH_UNSUPPORTED(c, "a result of rank %d; at most %d are supported", rank,
                                    TW_MAX_RANK);
    return (rank == 0 || tw_torch_ints(c, 1, rank, dim)) &&
           tw_torch_give(c, reshaped(c, tw_torch_in(c, 0), rank, dim));
}

/* (x, other) */
bool tw_torch_op_view_as(tw_torch_call *c)
{
    int64_t dim[TW_MAX_RANK] = {0};
    const tw_value *other = tw_torch_in(c, 1);
    for (int i = 0; other && i < other->shape.rank; i++)
        dim[i] = other->shape.dim[i];
    return other && tw_torch_give(c, reshaped(c, tw_torch_in(c, 0), other->shape.rank, dim));
}

/* (x, start_dim, end_dim) */
bool tw_torch_op_flatten(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    int64_t dim[TW_MAX_RANK] = {1};
    int first, last, rank = 0;
    if (!x || !tw_torch_axis(c, tw_torch_int(c, 1), x->shape.rank, &first) ||
        !tw_torch_axis(c, tw_torch_int(c, 2), x->shape.rank, &last))
        return false;
    if (last < first)
        return TW_TORCH_FAIL(c, "start_dim lies behind end_dim");
    for (int i = 0; i < x->shape.rank; i++) {
        if (i > first && i <= last)
            dim[rank - 1] *= x->shape.dim[i];
        else
            dim[rank++] = x->shape.dim[i];
    }
    return tw_torch_give(c, reshaped(c, x, rank ? rank : 1, dim));
}

/* (x, dim, sizes) */
bool tw_torch_op_unflatten(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    int64_t parts[TW_MAX_RANK] = {0}, dim[TW_MAX_RANK];
    const int count = tw_torch_length(c, 2);
    int axis, rank = 0;
    if (!x || count < 1 || x->shape.rank < 1 || x->shape.rank - 1 + count > TW_MAX_RANK ||
        !tw_torch_axis(c, tw_torch_int(c, 1), x->shape.rank, &axis) ||
        !tw_torch_ints(c, 2, count, parts) || !complete(c, x->shape.dim[axis], count, parts))
        return false;
    for (int i = 0; i < x->shape.rank; i++)
        if (i != axis)
            dim[rank++] = x->shape.dim[i];
        else
            for (int k = 0; k < count; k++)
                dim[rank++] = parts[k];
    return tw_torch_give(c, reshaped(c, x, rank, dim));
}

static bool squeeze(tw_torch_call *c, tw_value *x, const bool *flag)
{
    int64_t dim[TW_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < x->shape.rank; i++)
        if (!flag[i] || x->shape.dim[i] != 1)
            dim[rank++] = x->shape.dim[i];
    return tw_torch_give(c, rank == x->shape.rank ? x : tw_build_reshape(c->b, x, rank, dim));
}

/* (x): every axis of extent 1 */
bool tw_torch_op_squeeze_all(tw_torch_call *c)
{
    static const bool all[TW_MAX_RANK] = {true, true, true, true, true, true};
    tw_value *x = tw_torch_in(c, 0);
    return x && squeeze(c, x, all);
}

/* (x, dim) */
bool tw_torch_op_squeeze(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    bool flag[TW_MAX_RANK];
    if (!x || !tw_torch_axes(c, 1, x->shape.rank, flag))
        return false;
    if (tw_torch_length(c, 1) == 0)
        memset(flag, 0, sizeof flag);
    return squeeze(c, x, flag);
}

/* (x, dim) */
bool tw_torch_op_unsqueeze(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    int axis;
    return x && tw_torch_axis(c, tw_torch_int(c, 1), x->shape.rank + 1, &axis) &&
           tw_torch_give(c, tw_torch_with_axis(c, x, axis));
}

/* --- order ------------------------------------------------------------------------------------- */

static bool permuted(tw_torch_call *c, tw_value *x, const int64_t *perm)
{
    bool moved = false;
    for (int i = 0; x && i < x->shape.rank; i++)
        moved |= perm[i] != i;
    return x && tw_torch_give(c, moved ? tw_build_transpose(c->b, x, x->shape.rank, perm) : x);
}

/* (x, dims) */
bool tw_torch_op_permute(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    int64_t dims[TW_MAX_RANK] = {0};
    bool used[TW_MAX_RANK] = {false};
    if (!x || tw_torch_length(c, 1) != x->shape.rank ||
        (x->shape.rank && !tw_torch_ints(c, 1, x->shape.rank, dims)))
        return false;
    for (int i = 0; i < x->shape.rank; i++) {
        int axis;
        if (!tw_torch_axis(c, dims[i], x->shape.rank, &axis))
            return false;
        if (used[axis])
            return TW_TORCH_FAIL(c, "axis %d comes twice", axis);
        used[axis] = true;
        dims[i] = axis;
    }
    return permuted(c, x, dims);
}

/* (x, dim0, dim1) */
bool tw_torch_op_transpose(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    int64_t perm[TW_MAX_RANK] = {0, 1, 2, 3, 4, 5};
    int a, b;
    if (!x || !tw_torch_axis(c, tw_torch_int(c, 1), x->shape.rank, &a) ||
        !tw_torch_axis(c, tw_torch_int(c, 2), x->shape.rank, &b))
        return false;
    perm[a] = b;
    perm[b] = a;
    return permuted(c, x, perm);
}

/* (x): of a matrix; with other ranks every axis, in reverse */
bool tw_torch_op_reverse_axes(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    int64_t perm[TW_MAX_RANK] = {0};
    for (int i = 0; x && i < x->shape.rank; i++)
        perm[i] = x->shape.rank - 1 - i;
    return permuted(c, x, perm);
}

/* (x): the last two axes */
bool tw_torch_op_swap_last(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    int64_t perm[TW_MAX_RANK] = {0, 1, 2, 3, 4, 5};
    if (!x || x->shape.rank < 2)
        return false;
    perm[x->shape.rank - 1] = x->shape.rank - 2;
    perm[x->shape.rank - 2] = x->shape.rank - 1;
    return permuted(c, x, perm);
}

/* (x, source, destination) */
bool tw_torch_op_movedim(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    const int count = tw_torch_length(c, 1);
    int64_t from[TW_MAX_RANK], to[TW_MAX_RANK], perm[TW_MAX_RANK];
    bool moved[TW_MAX_RANK] = {false};
    if (!x || count < 1 || count > x->shape.rank || tw_torch_length(c, 2) != count ||
        !tw_torch_ints(c, 1, count, from) || !tw_torch_ints(c, 2, count, to))
        return false;
    for (int i = 0; i < x->shape.rank; i++)
        perm[i] = -1;
    for (int i = 0; i < count; i++) {
        int a, b;
        if (!tw_torch_axis(c, from[i], x->shape.rank, &a) ||
            !tw_torch_axis(c, to[i], x->shape.rank, &b))
            return false;
        if (moved[a] || perm[b] >= 0)
            return TW_TORCH_FAIL(c, "an axis comes twice");
        moved[a] = true;
        perm[b] = a;
    }
    for (int i = 0, next = 0; i < x->shape.rank; i++) {
        if (perm[i] >= 0)
            continue;
        while (moved[next])
            next++;
        perm[i] = next++;
    }
    return permuted(c, x, perm);
}

/* --- repetition -------------------------------------------------------------------------------- */

static bool expanded(tw_torch_call *c, tw_value *x, int rank, int64_t *dim)
{
    tw_shape shape;
    const int lead = rank - x->shape.rank;
    for (int i = 0; i < rank; i++) {
        const int64_t own = i < lead ? 1 : x->shape.dim[i - lead];
        if (dim[i] == -1 && i >= lead)
            dim[i] = own;
        if (own != 1 && own != dim[i])
            return TW_TORCH_FAIL(c, "an extent of %lld cannot become %lld", (long long)own,
                                 (long long)dim[i]);
    }
    return lead >= 0 && tw_torch_shape(c->t, x->shape.dtype, rank, dim, &shape) &&
           tw_torch_give(c, tw_build_expand(c->b, x, &shape));
}

/* (x, size) */
bool tw_torch_op_expand(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    int64_t dim[TW_MAX_RANK] = {0};
    const int rank = tw_torch_length(c, 1);
    return x && rank <= TW_MAX_RANK && (rank == 0 || tw_torch_ints(c, 1, rank, dim)) &&
           expanded(c, x, rank, dim);
}

/* (x, other) */
bool tw_torch_op_expand_as(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0), *other = tw_torch_in(c, 1);
    int64_t dim[TW_MAX_RANK] = {0};
    for (int i = 0; other && i < other->shape.rank; i++)
        dim[i] = other->shape.dim[i];
    return x && other && expanded(c, x, other->shape.rank, dim);
}

/* (x, source): the source in x's shape and type */
bool tw_torch_op_copy(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    tw_value *source = x ? tw_torch_in_as(c, 1, x->shape.dtype) : NULL;
    int64_t dim[TW_MAX_RANK] = {0};
    for (int i = 0; x && i < x->shape.rank; i++)
        dim[i] = x->shape.dim[i];
    return source && expanded(c, source, x->shape.rank, dim);
}

/* (x, repeats): axes of extent 1 come in front where there are more repeats than axes */
bool tw_torch_op_repeat(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    int64_t repeats[TW_MAX_RANK] = {0}, all[TW_MAX_RANK], dim[TW_MAX_RANK];
    const int count = tw_torch_length(c, 1);
    if (!x || count > TW_MAX_RANK || (count && !tw_torch_ints(c, 1, count, repeats)))
        return false;
    const int rank = count > x->shape.rank ? count : x->shape.rank;
    bool plain = true;
    for (int i = 0; i < rank; i++) {
        const int own = i - (rank - x->shape.rank), given = i - (rank - count);
        dim[i] = own < 0 ? 1 : x->shape.dim[own];
        all[i] = given < 0 ? 1 : repeats[given];
        plain &= all[i] == 1;
        if (all[i] < 1)
            return TW_TORCH_UNSUPPORTED(c, "%lld repeats are not supported", (long long)all[i]);
    }
    if (rank > x->shape.rank)
        x = tw_build_reshape(c->b, x, rank, dim);
    return tw_torch_give(
        c, plain ? x : tw_build1(c->b, "Tile", x, TW_SETTINGS(tw_set_ints("repeats", rank, all))));
}

/* (x, repeats, dim): each element several times */
bool tw_torch_op_repeat_interleave(tw_torch_call *c)
{
    tw_value *x = tw_torch_in(c, 0);
    const int64_t times = tw_torch_int(c, 1);
    int axis = 0;
    if (!x || times < 1 || times > INT32_MAX)
        return false;
    if (!tw_torch_has(c, 2)) {
        const int64_t all = tw_shape_elements(&x->shape);
        x = tw_build_reshape(c->b, x, 1, &all);
    } else if (!tw_torch_axis(c, tw_torch_int(c, 2), x->shape.rank, &axis)) {
        return false;
    }
    int64_t repeats[TW_MAX_RANK + 1] = {1, 1, 1, 1, 1, 1, 1}, dim[TW_MAX_RANK];
    x = tw_torch_with_axis(c, x, axis + 1);
    repeats[axis + 1] = times;
    x = x ? tw_build1(c->b, "Tile", x, TW_SETTINGS(tw_set_ints("repeats", x->shape.rank, repeats)))
          : NULL;
    if (!x)
        return false;
    const int rank = x->shape.rank - 1;
    for (int i = 0; i < rank; i++)
        dim[i] = i < axis    ? x->shape.dim[i]
                 : i == axis ? (int64_t)x->shape.dim[i] * x->shape.dim[i + 1]
                             : x->shape.dim[i + 1];
    return tw_torch_give(c, tw_build_reshape(c->b, x, rank, dim));
}

/* --- asking ------------------------------------------------------------------------------------ */

/* (x) */
bool tw_torch_op_size(tw_torch_call *c)
{
    const tw_value *x = tw_torch_in(c, 0);
    c->result = tw_torch_new(c->t->scratch, TW_TORCH_LIST);
    for (int i = 0; x && i < x->shape.rank; i++)
        tw_torch_push(c->t->scratch, c->result, tw_torch_new_int(c->t->scratch, x->shape.dim[i]));
    return x != NULL;
}

/* (x, dim) */
bool tw_torch_op_size_of(tw_torch_call *c)
{
    const tw_value *x = tw_torch_in(c, 0);
    int axis;
    return x && x->shape.rank && tw_torch_axis(c, tw_torch_int(c, 1), x->shape.rank, &axis) &&
           tw_torch_give_int(c, x->shape.dim[axis]);
}

bool tw_torch_op_rank(tw_torch_call *c)
{
    const tw_value *x = tw_torch_in(c, 0);
    return x && tw_torch_give_int(c, x->shape.rank);
}

bool tw_torch_op_numel(tw_torch_call *c)
{
    const tw_value *x = tw_torch_in(c, 0);
    return x && tw_torch_give_int(c, tw_shape_elements(&x->shape));
}

/* The first extent. */
bool tw_torch_op_length(tw_torch_call *c)
{
    const tw_value *x = tw_torch_in(c, 0);
    return x && x->shape.rank && tw_torch_give_int(c, x->shape.dim[0]);
}
