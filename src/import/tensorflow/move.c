/* Moves: parts, joins, pads, orders of axes, gathering, blocks to batches. */
#include <string.h>

#include "import/batches.h"
#include "import/tensor_file.h"
#include "import/tensorflow/tensorflow.h"
#include "import/window.h"

/* --- joins and parts --------------------------------------------------------------------------- */

static bool join(tw_tf_node *n, int first, int count, int axis_input)
{
    int64_t given;
    int axis;
    tw_value **parts = tw_alloc_array(n->import->scratch, (size_t)count + 1, sizeof *parts);
    for (int i = 0; i < count; i++) {
        parts[i] = tw_tf_in(n, first + i);
        if (!parts[i])
            return false;
    }
    return tw_tf_int_in(n, axis_input, "the axis", &given) &&
           tw_tf_axis(n, given, parts[0]->shape.rank, &axis) &&
           tw_tf_set(n, 0, tw_build_concat(n->b, parts, count, axis));
}

bool tw_tf_op_concat_v2(tw_tf_node *n)
{
    return join(n, 0, n->in_count - 1, n->in_count - 1);
}

bool tw_tf_op_concat(tw_tf_node *n)
{
    return join(n, 1, n->in_count - 1, 0);
}

/* Results of these sizes, one behind the other. */
static bool cut(tw_tf_node *n, tw_value *x, int axis, int64_t count, const int64_t *size)
{
    int64_t begin = 0;
    if (!tw_tf_results(n, count))
        return false;
    for (int i = 0; i < (int)count; i++) {
        if (size[i] < 0 || size[i] > x->shape.dim[axis] - begin)
            return TW_TF_FAIL(n, "part %d has %lld elements of axis %d, which has %d", i,
                              (long long)size[i], axis, (int)x->shape.dim[axis]);
        if (!tw_tf_set(n, i, tw_build_slice(n->b, x, axis, begin, size[i], 1)))
            return false;
        begin += size[i];
    }
    return true;
}

bool tw_tf_op_split(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 1);
    int64_t given, parts = tw_tf_int(n, "num_split", 0);
    int axis;
    if (!x || !tw_tf_int_in(n, 0, "the axis", &given) ||
        !tw_tf_axis(n, given, x->shape.rank, &axis))
        return false;
    if (parts < 1 || parts > TW_TF_MOST_RESULTS || x->shape.dim[axis] % parts != 0)
        return TW_TF_FAIL(n, "%lld parts do not divide the %d elements of axis %d",
                          (long long)parts, (int)x->shape.dim[axis], axis);
    int64_t *size = tw_alloc_array(n->import->scratch, (size_t)parts, sizeof *size);
    for (int i = 0; i < parts; i++)
        size[i] = x->shape.dim[axis] / parts;
    return cut(n, x, axis, parts, size);
}

bool tw_tf_op_split_v(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    tw_tf_ints list;
    int64_t given;
    int axis, open = -1;
    if (!x || !tw_tf_int_in(n, 2, "the axis", &given) ||
        !tw_tf_axis(n, given, x->shape.rank, &axis) || !tw_tf_list_in(n, 1, "the sizes", &list))
        return false;
    int64_t rest = x->shape.dim[axis];
    int64_t *size = tw_alloc_array(n->import->scratch, (size_t)list.count + 1, sizeof *size);
    for (int i = 0; i < list.count; i++) {
        size[i] = list.v[i];
        if (size[i] == -1 && open < 0)
            open = i;
        else if (size[i] < 0 || size[i] > rest)
            return TW_TF_FAIL(n, "part %d has %lld elements, %lld are left", i, (long long)size[i],
                              (long long)rest);
        else
            rest -= size[i];
    }
    if (open >= 0)
        size[open] = rest;
    return cut(n, x, axis, list.count, size);
}

/* The extents of x with a 1 put in at `axis` of the result. */
static int with_axis(const tw_value *x, int axis, int64_t *dim)
{
    for (int i = 0, k = 0; i <= x->shape.rank; i++)
        dim[i] = i == axis ? 1 : x->shape.dim[k++];
    return x->shape.rank + 1;
}

bool tw_tf_op_pack(tw_tf_node *n)
{
    tw_value *first = tw_tf_in(n, 0);
    tw_value **parts = tw_alloc_array(n->import->scratch, (size_t)n->in_count + 1, sizeof *parts);
    int64_t dim[TW_MAX_RANK + 1];
    int axis;
    if (!first || !tw_tf_axis(n, tw_tf_int(n, "axis", 0), first->shape.rank + 1, &axis))
        return false;
    if (first->shape.rank == TW_MAX_RANK)
        return TW_TF_UNSUPPORTED(n, "a result of more than %d axes", TW_MAX_RANK);
    for (int i = 0; i < n->in_count; i++) {
        tw_value *part = tw_tf_in(n, i);
        if (!part)
            return false;
        if (!tw_shape_equal(&part->shape, &first->shape))
            return TW_TF_FAIL(n, "inputs 0 and %d have different shapes", i);
        parts[i] = tw_build_reshape(n->b, part, with_axis(part, axis, dim), dim);
    }
    return tw_tf_set(n, 0, tw_build_concat(n->b, parts, n->in_count, axis));
}

bool tw_tf_op_unpack(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    int64_t dim[TW_MAX_RANK];
    int axis, rank = 0;
    if (!x || !tw_tf_axis(n, tw_tf_int(n, "axis", 0), x->shape.rank, &axis) ||
        !tw_tf_results(n, x->shape.dim[axis]))
        return false;
    for (int i = 0; i < x->shape.rank; i++)
        if (i != axis)
            dim[rank++] = x->shape.dim[i];
    for (int i = 0; i < x->shape.dim[axis]; i++) {
        tw_value *part = tw_build_slice(n->b, x, axis, i, 1, 1);
        if (!tw_tf_set(n, i, tw_build_reshape(n->b, part, rank, dim)))
            return false;
    }
    return true;
}

bool tw_tf_op_slice(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    tw_tf_ints begin, size;
    tw_range ranges[TW_MAX_RANK];
    if (!x || !tw_tf_list_in(n, 1, "the begin", &begin) || !tw_tf_list_in(n, 2, "the size", &size))
        return false;
    if (begin.count != x->shape.rank || size.count != x->shape.rank)
        return TW_TF_FAIL(n, "begin and size of %d and %d axes for a tensor of %d", begin.count,
                          size.count, x->shape.rank);
    for (int i = 0; i < x->shape.rank; i++) {
        const int64_t extent = x->shape.dim[i];
        const int64_t part = size.v[i] == -1 ? extent - begin.v[i] : size.v[i];
        if (begin.v[i] < 0 || part < 0 || begin.v[i] > extent || part > extent - begin.v[i])
            return TW_TF_FAIL(n, "%lld elements from %lld on of axis %d, which has %lld",
                              (long long)part, (long long)begin.v[i], i, (long long)extent);
        ranges[i] = (tw_range){begin.v[i], part, 1};
    }
    return tw_tf_set(n, 0, tw_build_ranges(n->b, x, ranges));
}

bool tw_tf_op_strided_slice(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    tw_tf_ints begin, end, stride;
    if (!x || !tw_tf_list_in(n, 1, "the begin", &begin) || !tw_tf_list_in(n, 2, "the end", &end) ||
        !tw_tf_list_in(n, 3, "the strides", &stride))
        return false;
    if (end.count != begin.count || stride.count != begin.count)
        return TW_TF_FAIL(n, "begin, end and strides of %d, %d and %d entries", begin.count,
                          end.count, stride.count);
    const tw_strided s = {.count = begin.count,
                          .begin = begin.v,
                          .end = end.v,
                          .stride = stride.v,
                          .begin_mask = tw_tf_int(n, "begin_mask", 0),
                          .end_mask = tw_tf_int(n, "end_mask", 0),
                          .ellipsis_mask = tw_tf_int(n, "ellipsis_mask", 0),
                          .new_axis_mask = tw_tf_int(n, "new_axis_mask", 0),
                          .shrink_axis_mask = tw_tf_int(n, "shrink_axis_mask", 0)};
    return tw_tf_set(n, 0, tw_build_strided(n->b, n->op, x, &s));
}

bool tw_tf_op_reverse(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    tw_tf_ints axes;
    tw_range ranges[TW_MAX_RANK];
    if (!x || !tw_tf_list_in(n, 1, "the axes", &axes))
        return false;
    for (int i = 0; i < x->shape.rank; i++)
        ranges[i] = (tw_range){0, x->shape.dim[i], 1};
    for (int i = 0; i < axes.count; i++) {
        int axis;
        if (!tw_tf_axis(n, axes.v[i], x->shape.rank, &axis))
            return false;
        if (x->shape.dim[axis] > 0)
            ranges[axis] = (tw_range){x->shape.dim[axis] - 1, x->shape.dim[axis], -1};
    }
    return tw_tf_set(n, 0, tw_build_ranges(n->b, x, ranges));
}

/* --- pads and orders --------------------------------------------------------------------------- */

/* Input i: two numbers an axis, from `axis` on. */
static bool pairs_in(tw_tf_node *n, int i, int axis, int count, int64_t *before, int64_t *after)
{
    tw_value *pads = tw_tf_in(n, i);
    if (!pads)
        return false;
    if (!tw_build_constant(n->b, pads))
        return TW_TF_UNSUPPORTED(n,
                                 "input %d is computed while the network runs; it must be "
                                 "constant",
                                 i);
    if (pads->shape.rank != 2 || pads->shape.dim[0] != count || pads->shape.dim[1] != 2 ||
        (pads->shape.dtype != TW_S32 && pads->shape.dtype != TW_S64))
        return TW_TF_FAIL(n, "input %d must hold integers of shape [%d,2]", i, count);
    for (int k = 0; k < count; k++) {
        before[axis + k] = tw_build_int_at(pads, 2 * (int64_t)k);
        after[axis + k] = tw_build_int_at(pads, 2 * (int64_t)k + 1);
    }
    return true;
}

bool tw_tf_op_pad(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0), *fill = n->in_count > 2 ? tw_tf_in(n, 2) : NULL;
    int64_t before[TW_MAX_RANK], after[TW_MAX_RANK];
    const char *mode = tw_tf_text(n, "mode", "constant");
    if (!x || (n->in_count > 2 && !fill) || !pairs_in(n, 1, 0, x->shape.rank, before, after))
        return false;
    if (fill && (!tw_build_constant(n->b, fill) || tw_shape_elements(&fill->shape) != 1))
        return TW_TF_UNSUPPORTED(n, "the value must be one constant");
    const tw_setting settings[] = {tw_set_ints("before", x->shape.rank, before),
                                   tw_set_ints("after", x->shape.rank, after),
                                   tw_set_word("mode", strcmp(mode, "REFLECT") == 0 ? "reflect"
                                                       : strcmp(mode, "SYMMETRIC") == 0
                                                           ? "symmetric"
                                                           : mode),
                                   tw_set_float("value", fill ? (float)tw_constant_at(fill, 0) : 0),
                                   {.name = NULL}};
    return tw_tf_set(n, 0, tw_build1(n->b, "Pad", x, settings));
}

bool tw_tf_op_transpose(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    tw_tf_ints list;
    int64_t perm[TW_MAX_RANK];
    bool seen[TW_MAX_RANK] = {false};
    if (!x || !tw_tf_list_in(n, 1, "the order of axes", &list))
        return false;
    if (list.count != x->shape.rank)
        return TW_TF_FAIL(n, "an order of %d axes for a tensor of %d", list.count, x->shape.rank);
    for (int i = 0; i < list.count; i++) {
        int axis;
        if (!tw_tf_axis(n, list.v[i], list.count, &axis))
            return false;
        if (seen[axis])
            return TW_TF_FAIL(n, "axis %d stands twice in the order", axis);
        seen[axis] = true;
        perm[i] = axis;
    }
    return tw_tf_set(n, 0, tw_build_transpose(n->b, x, list.count, perm));
}

bool tw_tf_op_tile(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    tw_tf_ints list;
    if (!x || !tw_tf_list_in(n, 1, "the numbers of copies", &list))
        return false;
    if (list.count != x->shape.rank)
        return TW_TF_FAIL(n, "%d numbers of copies for %d axes", list.count, x->shape.rank);
    for (int i = 0; i < list.count; i++)
        if (list.v[i] < 0)
            return TW_TF_FAIL(n, "%lld copies along axis %d", (long long)list.v[i], i);
    return tw_tf_set(
        n, 0, tw_build1(n->b, "Tile", x, TW_SETTINGS(tw_set_ints("repeats", list.count, list.v))));
}

/* --- gathering --------------------------------------------------------------------------------- */

bool tw_tf_op_gather(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0), *indices = tw_tf_in(n, 1);
    int64_t given = 0, batch = tw_tf_int(n, "batch_dims", 0);
    int axis;
    if (!x || !indices || (n->in_count > 2 && !tw_tf_int_in(n, 2, "the axis", &given)) ||
        !tw_tf_axis(n, given, x->shape.rank, &axis))
        return false;
    batch += batch < 0 ? indices->shape.rank : 0;
    if (batch < 0 || batch > axis)
        return TW_TF_FAIL(n, "%lld batch axes before axis %d", (long long)batch, axis);
    return tw_tf_set(n, 0, tw_build_gather(n->b, x, indices, axis, (int)batch));
}

bool tw_tf_op_gather_nd(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0), *indices = tw_tf_in(n, 1);
    return x && indices && tw_tf_set(n, 0, tw_build2(n->b, "GatherND", x, indices, NULL));
}

bool tw_tf_op_one_hot(tw_tf_node *n)
{
    tw_value *indices = tw_tf_in(n, 0), *on = tw_tf_in(n, 2), *off = tw_tf_in(n, 3);
    int64_t depth;
    int axis;
    if (!indices || !on || !off || !tw_tf_int_in(n, 1, "the depth", &depth) ||
        !tw_tf_axis(n, tw_tf_int(n, "axis", -1), indices->shape.rank + 1, &axis))
        return false;
    tw_value *in[] = {tw_build_hot(n->b, n->op, indices, axis, depth), on, off};
    return in[0] && tw_tf_set(n, 0, tw_build(n->b, "Where", in, 3, NULL));
}

/* --- scattering, turning ----------------------------------------------------------------------- */

/* Into zeros of a shape; what meets is added. */
bool tw_tf_op_scatter_nd(tw_tf_node *n)
{
    tw_value *indices = tw_tf_in(n, 0), *updates = tw_tf_in(n, 1);
    tw_tf_ints extents;
    tw_shape shape;
    if (!indices || !updates || !tw_tf_extents_in(n, 2, false, &extents) ||
        !tw_shape_from_file("the result", updates->shape.dtype, (size_t)extents.count, extents.v,
                            &shape, n->b->diag))
        return false;
    tw_value *in[] = {tw_build_full(n->b, shape, 0), indices, updates};
    return in[0] && tw_tf_set(n, 0,
                              tw_build(n->b, "ScatterND", in, 3,
                                       TW_SETTINGS(tw_set_word("reduction", "add"))));
}

bool tw_tf_op_tensor_scatter(tw_tf_node *n)
{
    static const struct {
        const char *op, *how;
    } kinds[] = {{"TensorScatterUpdate", "none"},
                 {"TensorScatterAdd", "add"},
                 {"TensorScatterSub", "add"},
                 {"TensorScatterMin", "min"},
                 {"TensorScatterMax", "max"}};
    tw_value *in[] = {tw_tf_in(n, 0), tw_tf_in(n, 1), tw_tf_in(n, 2)};
    size_t kind = 0;
    while (kind + 1 < sizeof kinds / sizeof *kinds && strcmp(kinds[kind].op, n->op) != 0)
        kind++;
    if (in[2] && strcmp(n->op, "TensorScatterSub") == 0)
        in[2] = tw_build1(n->b, "Neg", in[2], NULL);
    return in[0] && in[1] && in[2] &&
           tw_tf_set(n, 0,
                     tw_build(n->b, "ScatterND", in, 3,
                              TW_SETTINGS(tw_set_word("reduction", kinds[kind].how))));
}

bool tw_tf_op_reverse_sequence(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0), *lengths = tw_tf_in(n, 1);
    return x && lengths &&
           tw_tf_set(
               n, 0,
               tw_build2(n->b, "ReverseSequence", x, lengths,
                         TW_SETTINGS(tw_set_int("axis", tw_tf_int(n, "seq_dim", 0)),
                                     tw_set_int("batch_axis", tw_tf_int(n, "batch_dim", 0)))));
}

/* Elements go on by so many places, those at the end to the beginning. */
bool tw_tf_op_roll(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    tw_tf_ints shift, axes;
    if (!x || !tw_tf_list_in(n, 1, "the shift", &shift) || !tw_tf_list_in(n, 2, "the axis", &axes))
        return false;
    if (shift.count != axes.count)
        return TW_TF_FAIL(n, "%d shifts of %d axes", shift.count, axes.count);
    for (int i = 0; x && i < axes.count; i++) {
        int axis;
        if (!tw_tf_axis(n, axes.v[i], x->shape.rank, &axis))
            return false;
        const int64_t extent = x->shape.dim[axis], by = extent ? shift.v[i] % extent : 0;
        const int64_t first = extent ? (extent - by) % extent : 0; /* of the result */
        if (first == 0)
            continue;
        tw_value *parts[] = {tw_build_slice(n->b, x, axis, first, extent - first, 1),
                             tw_build_slice(n->b, x, axis, 0, first, 1)};
        x = parts[0] && parts[1] ? tw_build_concat(n->b, parts, 2, axis) : NULL;
    }
    return x && tw_tf_set(n, 0, x);
}

/* --- blocks to batches, and back: dilated convolutions of older models ------------------------- */

/* The older operators have one block for both axes, and what goes around as their second input. */
static bool read_batches(tw_tf_node *n, tw_batches *batches)
{
    const bool older = n->in_count == 2;
    tw_value *around = tw_tf_in(n, older ? 1 : 2);
    tw_tf_ints block = {2, NULL};
    if (!around || (!older && !tw_tf_list_in(n, 1, "the blocks", &block)))
        return false;
    if (older) {
        int64_t *both = tw_alloc_array(n->import->scratch, 2, sizeof *both);
        both[0] = both[1] = tw_tf_int(n, "block_size", 0);
        block.v = both;
    }
    *batches = (tw_batches){block.count, block.v, around};
    return tw_build_constant(n->b, around) ||
           TW_TF_UNSUPPORTED(n, "what goes around is computed while the network runs; it must be "
                                "constant");
}

bool tw_tf_op_space_to_batch(tw_tf_node *n)
{
    tw_batches batches;
    tw_value *x = tw_tf_in(n, 0);
    return x && read_batches(n, &batches) &&
           tw_tf_set(n, 0, tw_build_space_to_batch(n->b, n->op, x, &batches));
}

bool tw_tf_op_batch_to_space(tw_tf_node *n)
{
    tw_batches batches;
    tw_value *x = tw_tf_in(n, 0);
    return x && read_batches(n, &batches) &&
           tw_tf_set(n, 0, tw_build_batch_to_space(n->b, n->op, x, &batches));
}
