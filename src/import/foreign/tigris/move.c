/* What only moves elements, and what finds them. */
#include <string.h>

#include "import/foreign/tigris/tigris.h"

/* --- shapes ------------------------------------------------------------------------------------- */

bool tw_tigris_flatten(tw_foreign_node *n)
{
    const tw_shape *x = &n->in[0]->shape;
    const int64_t axis = tw_foreign_int(n, "axis");
    int64_t dim[] = {1, 1};
    if (axis < -x->rank || axis > x->rank)
        return TW_FOREIGN_FAIL(n, "the attribute axis is %lld, the input has %d axes",
                               (long long)axis, x->rank);
    for (int k = 0; k < x->rank; k++)
        dim[k < (axis < 0 ? axis + x->rank : axis) ? 0 : 1] *= x->dim[k];
    return tw_foreign_result(n, tw_build_reshape(n->b, n->in[0], 2, dim));
}

bool tw_tigris_squeeze(tw_foreign_node *n)
{
    const tw_shape *x = &n->in[0]->shape;
    int64_t axes[TW_MAX_RANK], dim[TW_MAX_RANK];
    const int count = tw_foreign_axes(n, "axes", x->rank, axes);
    int rank = 0, at = 0;
    for (int k = 0; count >= 0 && k < x->rank; k++) {
        const bool named = at < count && axes[at] == k;
        at += named;
        if (named && x->dim[k] != 1)
            return TW_FOREIGN_FAIL(n, "the attribute axes names axis %d of extent %d", k,
                                   (int)x->dim[k]);
        if (!named && (count > 0 || x->dim[k] != 1)) /* no axes: all of extent 1 */
            dim[rank++] = x->dim[k];
    }
    return count >= 0 && tw_foreign_result(n, tw_build_reshape(n->b, n->in[0], rank, dim));
}

bool tw_tigris_unsqueeze(tw_foreign_node *n)
{
    const tw_shape *x = &n->in[0]->shape;
    const int count = tw_foreign_ints(n, "axes").count, rank = x->rank + count;
    int64_t axes[TW_MAX_RANK], dim[TW_MAX_RANK];
    if (rank > TW_MAX_RANK)
        return TW_FOREIGN_UNSUPPORTED(n, "the attribute axes makes %d axes; %d are possible", rank,
                                      TW_MAX_RANK);
    if (tw_foreign_axes(n, "axes", rank, axes) < 0)
        return false;
    for (int k = 0, at = 0, from = 0; k < rank; k++) {
        const bool named = at < count && axes[at] == k;
        dim[k] = named ? 1 : x->dim[from];
        at += named;
        from += !named;
    }
    return tw_foreign_result(n, tw_build_reshape(n->b, n->in[0], rank, dim));
}

/* --- parts -------------------------------------------------------------------------------------- */

bool tw_tigris_concat(tw_foreign_node *n)
{
    int axis;
    for (int i = 0; i < n->in_count; i++)
        if (!n->in[i])
            return TW_FOREIGN_FAIL(n, "input %d is missing", i);
    return tw_foreign_axis(n, "axis", tw_foreign_int(n, "axis"), n->in[0]->shape.rank, &axis) &&
           tw_foreign_result(n, n->in_count == 1 ? tw_build1(n->b, "Identity", n->in[0], NULL)
                                                 : tw_build_concat(n->b, n->in, n->in_count, axis));
}

/* In the sizes that `split` gives, or equal ones. */
bool tw_tigris_split(tw_foreign_node *n)
{
    const tw_shape *x = &n->in[0]->shape;
    const tw_foreign_list sizes = tw_foreign_ints(n, "split");
    int64_t begin = 0;
    int axis;
    if (!tw_foreign_axis(n, "axis", tw_foreign_int(n, "axis"), x->rank, &axis))
        return false;
    if (sizes.count ? sizes.count != n->out_count : x->dim[axis] % n->out_count != 0)
        return TW_FOREIGN_FAIL(n,
                               "the attribute split does not fit %d outputs of the %d elements "
                               "along axis %d",
                               n->out_count, (int)x->dim[axis], axis);
    for (int i = 0; i < n->out_count; i++) {
        const int64_t size = sizes.count ? sizes.v[i] : x->dim[axis] / n->out_count;
        if (size < 0 || size > x->dim[axis] - begin)
            return TW_FOREIGN_FAIL(
                n, "the attribute split has the entry %lld; axis %d has %d elements",
                (long long)size, axis, (int)x->dim[axis]);
        n->out[i] = tw_build_slice(n->b, n->in[0], axis, begin, size, 1);
        if (!n->out[i])
            return false;
        begin += size;
    }
    return begin == x->dim[axis] ||
           TW_FOREIGN_FAIL(n, "the attribute split comes to %lld of %d elements along axis %d",
                           (long long)begin, (int)x->dim[axis], axis);
}

bool tw_tigris_strided_slice(tw_foreign_node *n)
{
    const tw_foreign_list begin = tw_foreign_ints(n, "begin"), end = tw_foreign_ints(n, "end");
    const tw_foreign_list strides = tw_foreign_ints(n, "strides");
    const tw_shape *x = &n->in[0]->shape;
    const int rank = x->rank;
    tw_range ranges[TW_MAX_RANK];
    if (begin.count != rank || end.count != rank || (strides.count && strides.count != rank))
        return TW_FOREIGN_FAIL(n, "the attributes begin, end and strides need %d entries", rank);
    for (int k = 0; k < rank; k++) {
        const int64_t step = strides.count ? strides.v[k] : 1;
        if (step == 0)
            return TW_FOREIGN_FAIL(n, "the attribute strides has the entry 0");
        ranges[k] = tw_range_of(x->dim[k], begin.v[k], end.v[k], step);
    }
    return tw_foreign_result(n, tw_build_ranges(n->b, n->in[0], ranges));
}

bool tw_tigris_reverse(tw_foreign_node *n)
{
    int64_t axes[TW_MAX_RANK];
    tw_value *x = n->in[0];
    const int count = tw_foreign_axes(n, "axes", x->shape.rank, axes);
    if (count == 0)
        return TW_FOREIGN_FAIL(n, "the attribute axes is empty");
    for (int i = 0; x && i < count; i++) {
        const int64_t extent = x->shape.dim[axes[i]];
        x = tw_build_slice(n->b, x, (int)axes[i], extent ? extent - 1 : 0, extent, -1);
    }
    return count > 0 && tw_foreign_result(n, x);
}

bool tw_tigris_mirror_pad(tw_foreign_node *n)
{
    const char *mode = tw_foreign_text(n, "mode");
    return strcmp(mode, "reflect") == 0 || strcmp(mode, "symmetric") == 0
               ? tw_tigris_pass(n)
               : TW_FOREIGN_FAIL(n,
                                 "the attribute mode is '%.40s'; reflect and symmetric are "
                                 "possible",
                                 mode);
}

/* --- by index ----------------------------------------------------------------------------------- */

/* Operands: indices, then the table. */
bool tw_tigris_embedding_lookup(tw_foreign_node *n)
{
    return tw_foreign_result(n, tw_build_gather(n->b, n->in[1], n->in[0], 0, 0));
}

/* Of equal elements the first wins. */
bool tw_tigris_arg_extreme(tw_foreign_node *n)
{
    const tw_shape *x = &n->in[0]->shape;
    const bool keep = tw_foreign_flag(n, "keepdims");
    int64_t dim[TW_MAX_RANK];
    int axis, rank = 0;
    if (!tw_foreign_axis(n, "axis", tw_foreign_int(n, "axis"), x->rank, &axis))
        return false;
    tw_value *stored = tw_foreign_stored(n, 0); /* in the same order */
    tw_value *y = tw_build1(n->b, "TopIndices", stored ? stored : n->in[0],
                            TW_SETTINGS(tw_set_int("axis", axis), tw_set_int("k", 1),
                                        tw_set_int("largest", strcmp(n->row->name, "ArgMax") == 0),
                                        tw_set_int("dtype", TW_S32)));
    for (int k = 0; k < x->rank; k++)
        if (k != axis)
            dim[rank++] = x->dim[k];
    return tw_foreign_result(n, keep ? y : tw_build_reshape(n->b, y, rank, dim));
}
