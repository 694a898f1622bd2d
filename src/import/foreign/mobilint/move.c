/* Shapes and places: what only moves elements. */
#include <string.h>

#include "import/foreign/mobilint/mobilint.h"

bool tw_mobilint_input_constant(tw_foreign_node *n)
{
    tw_value *c = tw_foreign_weight(n, "constant");
    return tw_foreign_result(n, tw_build1(n->b, "Identity", c, NULL));
}

bool tw_mobilint_transpose(tw_foreign_node *n)
{
    const int rank = n->in[0]->shape.rank;
    const tw_foreign_list perm = tw_foreign_ints(n, "transpose_axes");
    int64_t axes[TW_MAX_RANK], sorted[TW_MAX_RANK];
    int axis;
    if (perm.count != rank)
        return TW_FOREIGN_FAIL(n, "the attribute transpose_axes has %d entries, the input %d axes",
                               perm.count, rank);
    if (tw_foreign_axes(n, "transpose_axes", rank, sorted) < 0)
        return false;
    for (int k = 0; k < rank; k++) {
        if (!tw_foreign_axis(n, "transpose_axes", perm.v[k], rank, &axis))
            return false;
        axes[k] = axis;
    }
    return tw_foreign_result(n, tw_build_transpose(n->b, n->in[0], rank, axes));
}

/* --- reshape ------------------------------------------------------------------------------------ */

/* Extents with one -1 for what is left, and 0 for the input's (allowzero: for none). */
static bool read_extents(tw_foreign_node *n, const char *name, bool allow_zero, int64_t *dim)
{
    const tw_shape *x = &n->in[0]->shape;
    const tw_foreign_list list = tw_foreign_ints(n, name);
    int64_t known = 1, elements = tw_shape_elements(x);
    int open = -1;
    if (list.count > TW_MAX_RANK)
        return TW_FOREIGN_UNSUPPORTED(n, "the attribute %s has %d entries; %d axes are possible",
                                      name, list.count, TW_MAX_RANK);
    for (int k = 0; k < list.count; k++) {
        dim[k] = list.v[k];
        if (dim[k] == 0 && !allow_zero && k < x->rank)
            dim[k] = x->dim[k];
        if (dim[k] < -1 || dim[k] > INT32_MAX || (dim[k] == -1 && open >= 0))
            return TW_FOREIGN_FAIL(n, "the attribute %s has the entry %lld%s", name,
                                   (long long)dim[k], open >= 0 ? " again" : "");
        if (dim[k] == -1)
            open = k;
        else if (known <= INT32_MAX)
            known *= dim[k];
    }
    if (open >= 0 && (known == 0 || elements % known != 0))
        return TW_FOREIGN_FAIL(n, "the attribute %s does not divide %lld elements", name,
                               (long long)elements);
    if (open >= 0)
        dim[open] = elements / known;
    else if (known != elements)
        return TW_FOREIGN_FAIL(n, "the attribute %s asks for %s%lld elements, the input has %lld",
                               name, known > INT32_MAX ? "over " : "", (long long)known,
                               (long long)elements);
    return true;
}

bool tw_mobilint_reshape(tw_foreign_node *n)
{
    int64_t dim[TW_MAX_RANK] = {0};
    if (!tw_foreign_has(n, "new_shape"))
        return TW_FOREIGN_UNSUPPORTED(n, "the attribute new_shape is missing, and nothing else "
                                         "says the shape");
    if (!read_extents(n, "new_shape", tw_foreign_int(n, "allowzero") != 0, dim))
        return false;
    const int rank = tw_foreign_ints(n, "new_shape").count;
    return tw_foreign_result(n, tw_build_reshape(n->b, n->in[0], rank, dim));
}

/* What the bridge changes of the layout: axes of extent 1 away, others in, then the order. */
bool tw_mobilint_device_bridge(tw_foreign_node *n)
{
    int64_t axes[2 * TW_MAX_RANK], dim[2 * TW_MAX_RANK] = {0};
    const tw_shape *x = &n->in[0]->shape;
    const tw_foreign_list perm = tw_foreign_ints(n, "permute_axes");
    const char *device = tw_foreign_text(n, "device");
    int rank = 0, at = 0, left = tw_foreign_axes(n, "squeeze_axes", x->rank, axes);
    if (*device && strcmp(device, "cpu") != 0 && strcmp(device, "npu") != 0)
        return TW_FOREIGN_FAIL(n, "the attribute device is '%.40s'; cpu and npu are possible",
                               device);
    if (left < 0)
        return false;
    int64_t kept[TW_MAX_RANK] = {0};
    for (int k = 0; k < x->rank; k++) {
        const bool squeezed = at < left && axes[at] == k;
        if (squeezed && x->dim[k] != 1)
            return TW_FOREIGN_FAIL(n, "the attribute squeeze_axes names axis %d of extent %d", k,
                                   (int)x->dim[k]);
        at += squeezed;
        if (!squeezed)
            kept[rank++] = x->dim[k];
    }
    const int more = tw_foreign_ints(n, "unsqueeze_axes").count;
    const int full = rank + more;
    if (full > TW_MAX_RANK)
        return TW_FOREIGN_UNSUPPORTED(n,
                                      "the attribute unsqueeze_axes makes %d axes; %d are "
                                      "possible",
                                      full, TW_MAX_RANK);
    if (tw_foreign_axes(n, "unsqueeze_axes", full, axes) < 0)
        return false;
    for (int k = 0, from = 0, new_one = 0; k < full; k++) {
        const bool is_new = new_one < more && axes[new_one] == k;
        dim[k] = is_new ? 1 : kept[from];
        new_one += is_new;
        from += !is_new;
    }
    n->in[0] = tw_build_reshape(n->b, n->in[0], full, dim);
    if (!n->in[0] || perm.count == 0)
        return tw_foreign_result(n, n->in[0]);
    int64_t order[TW_MAX_RANK];
    if (perm.count != full || tw_foreign_axes(n, "permute_axes", full, axes) < 0)
        return perm.count == full ? false
                                  : TW_FOREIGN_FAIL(n,
                                                    "the attribute permute_axes has %d entries "
                                                    "for %d axes",
                                                    perm.count, full);
    for (int k = 0; k < full; k++)
        order[k] = perm.v[k] < 0 ? perm.v[k] + full : perm.v[k];
    return tw_foreign_result(n, tw_build_transpose(n->b, n->in[0], full, order));
}

/* --- heads and patches -------------------------------------------------------------------------- */

/* Reshape, transpose, reshape: what the views of heads and patches are. */
static tw_value *regrouped(tw_foreign_node *n, int rank, const int64_t *dim, const int64_t *perm,
                           const int64_t *image)
{
    tw_value *x = tw_build_transpose(n->b, tw_build_reshape(n->b, n->in[0], rank, dim), rank, perm);
    return tw_build_reshape(n->b, x, 4, image);
}

/* The number of heads: num_heads, or what an explicit result shape says of axis 1. revert: rows are
 * divided by it, else channels. */
static bool read_heads(tw_foreign_node *n, const char *shape, bool revert, int64_t *heads)
{
    const tw_foreign_list list = tw_foreign_ints(n, shape);
    const int64_t order = tw_foreign_int(n, "batch_order");
    *heads = tw_foreign_int(n, "num_heads");
    if (!tw_foreign_rank(n, n->in[0], 4))
        return false;
    if (n->in[0]->shape.dim[0] != 1)
        return TW_FOREIGN_FAIL(n, "the batch must be 1, not %d", (int)n->in[0]->shape.dim[0]);
    if (order != 0 && order != 1)
        return TW_FOREIGN_FAIL(n, "the attribute batch_order is %lld; 0 and 1 are possible",
                               (long long)order);
    if (list.count != 0 && list.count != 4)
        return TW_FOREIGN_FAIL(n, "the attribute %s has %d entries, not 4", shape, list.count);
    const int64_t rows = n->in[0]->shape.dim[1];
    const int64_t divided = n->in[0]->shape.dim[revert ? 1 : 3];
    if (*heads == -1 && list.count == 4 && list.v[1] > 0 && rows > 0)
        *heads = revert ? rows / list.v[1] : list.v[1] / rows;
    if (*heads >= 1 && divided % *heads == 0)
        return true;
    return list.count && tw_foreign_int(n, "num_heads") == -1
               ? TW_FOREIGN_FAIL(n,
                                 "the attribute %s has %lld on axis 1, which does not go with %lld "
                                 "rows and %lld that the heads divide",
                                 shape, (long long)list.v[1], (long long)rows, (long long)divided)
               : TW_FOREIGN_FAIL(n, "the attribute num_heads is %lld, which does not divide %lld",
                                 (long long)*heads, (long long)divided);
    return true;
}

static bool check_result(tw_foreign_node *n, const char *name, const int64_t *image)
{
    const tw_foreign_list list = tw_foreign_ints(n, name);
    for (int k = 0; k < list.count; k++)
        if (list.v[k] != image[k] && list.v[k] != -1)
            return TW_FOREIGN_FAIL(n, "the attribute %s has %lld where the result has %lld", name,
                                   (long long)list.v[k], (long long)image[k]);
    return true;
}

bool tw_mobilint_header_view(tw_foreign_node *n)
{
    static const int64_t orders[2][5] = {{0, 1, 3, 2, 4}, {0, 3, 1, 2, 4}};
    const int32_t *d = n->in[0]->shape.dim;
    int64_t heads;
    if (!read_heads(n, "view_shape", false, &heads))
        return false;
    const int64_t dim[] = {1, d[1], d[2], heads, d[3] / heads};
    const int64_t image[] = {1, d[1] * heads, d[2], d[3] / heads};
    return check_result(n, "view_shape", image) &&
           tw_foreign_result(n,
                             regrouped(n, 5, dim, orders[tw_foreign_int(n, "batch_order")], image));
}

bool tw_mobilint_header_view_revert(tw_foreign_node *n)
{
    static const int64_t orders[2][5] = {{0, 1, 3, 2, 4}, {0, 2, 3, 1, 4}};
    const int32_t *d = n->in[0]->shape.dim;
    const int64_t order = tw_foreign_int(n, "batch_order");
    int64_t heads;
    if (!read_heads(n, "revert_shape", true, &heads))
        return false;
    const int64_t rows = d[1] / heads;
    const int64_t dim[] = {1, order ? heads : rows, order ? rows : heads, d[2], d[3]};
    const int64_t image[] = {1, rows, d[2], heads * d[3]};
    return check_result(n, "revert_shape", image) &&
           tw_foreign_result(n, regrouped(n, 5, dim, orders[order], image));
}

bool tw_mobilint_ordered_patchify(tw_foreign_node *n)
{
    static const int64_t orders[3][6] = {
        {0, 1, 3, 2, 4, 5}, {0, 2, 4, 1, 3, 5}, {0, 3, 1, 4, 2, 5}};
    const int32_t *d = n->in[0]->shape.dim;
    const int64_t order = tw_foreign_int(n, "order");
    const int64_t h = tw_foreign_int(n, "h_kernel"), w = tw_foreign_int(n, "w_kernel");
    if (order < 0 || order > 2)
        return TW_FOREIGN_FAIL(n, "the attribute order is %lld; 0, 1 and 2 are possible",
                               (long long)order);
    if (!tw_foreign_rank(n, n->in[0], 4))
        return false;
    if (d[0] != 1)
        return TW_FOREIGN_FAIL(n, "the batch must be 1, not %d", (int)d[0]);
    if (d[1] % h != 0 || d[2] % w != 0)
        return TW_FOREIGN_FAIL(n,
                               "the attributes h_kernel and w_kernel, %lld and %lld, do not "
                               "divide %d and %d",
                               (long long)h, (long long)w, (int)d[1], (int)d[2]);
    const int64_t dim[] = {1, d[1] / h, h, d[2] / w, w, d[3]};
    const int64_t *perm = orders[order];
    const int64_t image[] = {1, dim[perm[1]] * dim[perm[2]], dim[perm[3]] * dim[perm[4]], d[3]};
    return tw_foreign_result(n, regrouped(n, 6, dim, perm, image));
}

/* --- parts -------------------------------------------------------------------------------------- */

/* Operands in the order of input_names: those name all operands, in the original order; input_index
 * says at which place of the computation each of them stands. */
static bool order_operands(tw_foreign_node *n, tw_value **parts)
{
    const tw_foreign_list place = tw_foreign_ints(n, "input_index");
    bool taken[64] = {false};
    const bool ordered = place.count > 0 && tw_foreign_has(n, "input_names");
    if (ordered && (place.count != n->in_count || place.count > 64))
        return TW_FOREIGN_FAIL(n, "the attribute input_index has %d entries for %d inputs",
                               place.count, n->in_count);
    for (int i = 0; i < n->in_count; i++) {
        const int64_t from = ordered ? place.v[i] : i;
        if (from < 0 || from >= n->in_count || (ordered && taken[from]))
            return TW_FOREIGN_FAIL(n, "the attribute input_index is no order of %d inputs",
                                   n->in_count);
        if (ordered)
            taken[from] = true;
        parts[i] = n->in[from];
        if (!parts[i])
            return TW_FOREIGN_FAIL(n, "input %lld is missing", (long long)from);
    }
    return true;
}

bool tw_mobilint_concatenate(tw_foreign_node *n)
{
    tw_value **parts = tw_alloc_array(n->b->arena, (size_t)n->in_count, sizeof(tw_value *));
    const char *name = tw_foreign_has(n, "axis") ? "axis" : "original_axis";
    int axis;
    if (!tw_foreign_has(n, name))
        return TW_FOREIGN_FAIL(n, "the attribute axis is missing");
    return order_operands(n, parts) &&
           tw_foreign_axis(n, name, tw_foreign_int(n, name), parts[0]->shape.rank, &axis) &&
           tw_foreign_result(n, n->in_count == 1 ? tw_build1(n->b, "Identity", parts[0], NULL)
                                                 : tw_build_concat(n->b, parts, n->in_count, axis));
}

bool tw_mobilint_slice(tw_foreign_node *n)
{
    const tw_foreign_list axes = tw_foreign_ints(n, "axis"), start = tw_foreign_ints(n, "start");
    const tw_foreign_list end = tw_foreign_ints(n, "end"), step = tw_foreign_ints(n, "step");
    const tw_shape *x = &n->in[0]->shape;
    const int rank = x->rank;
    int64_t sorted[TW_MAX_RANK];
    tw_range ranges[TW_MAX_RANK];
    if (start.count != axes.count || end.count != axes.count ||
        (step.count != 0 && step.count != axes.count))
        return TW_FOREIGN_FAIL(n,
                               "the attributes axis, start, end and step have %d, %d, %d and %d "
                               "entries",
                               axes.count, start.count, end.count, step.count);
    if (tw_foreign_axes(n, "axis", rank, sorted) < 0)
        return false;
    for (int k = 0; k < rank; k++)
        ranges[k] = (tw_range){0, x->dim[k], 1};
    for (int i = 0; i < axes.count; i++) {
        const int axis = (int)(axes.v[i] < 0 ? axes.v[i] + rank : axes.v[i]);
        const int64_t by = step.count ? step.v[i] : 1;
        if (by == 0)
            return TW_FOREIGN_FAIL(n, "the attribute step has the entry 0");
        ranges[axis] = tw_range_of(x->dim[axis], start.v[i], end.v[i], by);
    }
    return tw_foreign_result(n, tw_build_ranges(n->b, n->in[0], ranges));
}

/* --- bands -------------------------------------------------------------------------------------- */

/* The axes of x as [before, rows, columns, behind]: rows and columns are axis - 1 and axis. */
static tw_value *as_matrix(tw_foreign_node *n, tw_value *x, int axis, int64_t *dim)
{
    dim[0] = dim[3] = 1;
    dim[1] = x->shape.dim[axis - 1];
    dim[2] = x->shape.dim[axis];
    for (int k = 0; k < axis - 1; k++)
        dim[0] *= x->shape.dim[k];
    for (int k = axis + 1; k < x->shape.rank; k++)
        dim[3] *= x->shape.dim[k];
    return tw_build_reshape(n->b, x, 4, dim);
}

static tw_value *padded_columns(tw_foreign_node *n, tw_value *x, int64_t before, int64_t after)
{
    const int64_t front[] = {0, 0, before, 0}, behind[] = {0, 0, after, 0};
    return tw_build1(n->b, "Pad", x,
                     TW_SETTINGS(tw_set_ints("before", 4, front), tw_set_ints("after", 4, behind)));
}

/* Row i moved i columns to the right, zeros elsewhere: rows a column longer than they will be stand
 * behind one another, so that each begins a column later than the one above. */
static tw_value *staggered(tw_foreign_node *n, tw_value *x, const int64_t *dim)
{
    tw_builder *b = n->b;
    const int64_t rows = dim[1], width = dim[2] + rows - 1, all = rows * (width + 1);
    x = tw_build_reshape(b, padded_columns(n, x, 0, rows), 3, (int64_t[]){dim[0], all, dim[3]});
    x = tw_build_slice(b, x, 1, 0, all - rows, 1);
    return tw_build_reshape(b, x, 4, (int64_t[]){dim[0], rows, width, dim[3]});
}

/* Columns first to first + count, those outside being zeros. */
static tw_value *window_of(tw_foreign_node *n, tw_value *x, int64_t first, int64_t count)
{
    const int64_t width = x ? x->shape.dim[2] : 0, last = first + count;
    const int64_t before = first < 0 ? -first : 0, after = last > width ? last - width : 0;
    if (x && (before || after))
        x = padded_columns(n, x, before, after);
    return tw_build_slice(n->b, x, 2, first + before, count, 1);
}

bool tw_mobilint_staggered_padding(tw_foreign_node *n)
{
    tw_builder *b = n->b;
    const int rank = n->in[0]->shape.rank;
    const bool reverse = tw_foreign_flag(n, "reverse");
    const int64_t window = tw_foreign_int(n, "window_size");
    int64_t dim[4], extents[TW_MAX_RANK];
    int axis;
    if (!tw_foreign_axis(n, "axis", tw_foreign_int(n, "axis"), rank, &axis))
        return false;
    if (axis < 1)
        return TW_FOREIGN_FAIL(n, "the attribute axis is 0: there are no rows in front of it");
    if (window < -1 || window > (1 << 24))
        return TW_FOREIGN_FAIL(n, "the attribute window_size is %lld", (long long)window);
    tw_value *x = as_matrix(n, n->in[0], axis, dim);
    const int64_t rows = dim[1];
    if (rows < 1 || rows > (1 << 15))
        return TW_FOREIGN_UNSUPPORTED(n, "the attribute axis has %lld rows in front of it",
                                      (long long)rows);
    if (reverse)
        x = tw_build_slice(b, x, 1, rows - 1, rows, -1);
    x = staggered(n, x, dim);
    if (reverse)
        x = tw_build_slice(b, x, 1, rows - 1, rows, -1);
    if (window >= 0)
        x = reverse ? window_of(n, x, rows - 1 - window, 2 * window + 1)
                    : window_of(n, x, window, rows);
    for (int k = 0; x && k < rank; k++)
        extents[k] = k == axis ? x->shape.dim[2] : n->in[0]->shape.dim[k];
    return tw_foreign_result(n, tw_build_reshape(b, x, rank, extents));
}
