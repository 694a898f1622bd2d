/* The walk of matrix.h. In: views that tw_matrix_check has seen whole. Out: parts that lie inside
 * what is present, whatever bands the views hold. */
#include "ops/matrix.h"

tw_range tw_present(const tw_view *view, int axis)
{
    tw_range r;
    r.begin = 0;
    r.end = view->tensor->dim[axis];
    if (axis == view->axis) {
        r.begin = view->row;
        r.end = view->row + view->rows;
    }
    return r;
}

int tw_matrix_check(const tw_tensor *a, const tw_tensor *b, int transposed, const tw_tensor *out)
{
    const tw_tensor *in[2];
    int rank = (int)out->rank, i, k;
    in[0] = a;
    in[1] = b;
    if (a->rank < 2 || b->rank < 2 || rank != (a->rank > b->rank ? (int)a->rank : (int)b->rank))
        return 0;
    for (k = 0; k < rank - 2; k++) {
        int32_t extent = 1;
        for (i = 0; i < 2; i++) {
            int axis = k - rank + (int)in[i]->rank;
            int32_t dim = axis >= 0 ? in[i]->dim[axis] : 1;
            if (dim != 1 && extent != 1 && dim != extent)
                return 0;
            extent = dim != 1 ? dim : extent;
        }
        if (out->dim[k] != extent)
            return 0;
    }
    return a->dim[a->rank - 2] == out->dim[rank - 2] &&
           a->dim[a->rank - 1] == b->dim[(int)b->rank - (transposed ? 1 : 2)] &&
           b->dim[(int)b->rank - (transposed ? 2 : 1)] == out->dim[rank - 1];
}

/* Does `in` hold, on its axis, what range `of` of out needs? `shared`: one index serves all. */
static int holds(const tw_view *in, int axis, tw_range of, int shared)
{
    tw_range r = tw_present(in, axis);
    return shared ? r.begin == 0 && r.end >= 1 : r.begin <= of.begin && r.end >= of.end;
}

/* The axis of `in` that stands under axis k of out; negative: none. */
static int under(const tw_view *in, const tw_view *out, int k)
{
    return k - (int)out->tensor->rank + (int)in->tensor->rank;
}

static int is_shared(const tw_view *in, const tw_view *out, int axis, int k)
{
    return in->tensor->dim[axis] == 1 && out->tensor->dim[k] != 1;
}

static int covers(const tw_view *a, const tw_view *b, int transposed, const tw_view *out)
{
    const int rank = (int)out->tensor->rank;
    const int inner = (int)a->tensor->rank - 1;
    const int b_inner = (int)b->tensor->rank - (transposed ? 1 : 2);
    const int b_columns = (int)b->tensor->rank - (transposed ? 2 : 1);
    tw_range depth;
    int k;
    depth.begin = 0;
    depth.end = a->tensor->dim[inner];
    for (k = 0; k < rank - 2; k++) {
        int i = under(a, out, k), j = under(b, out, k);
        if ((i >= 0 && !holds(a, i, tw_present(out, k), is_shared(a, out, i, k))) ||
            (j >= 0 && !holds(b, j, tw_present(out, k), is_shared(b, out, j, k))))
            return 0;
    }
    return holds(a, inner - 1, tw_present(out, rank - 2), 0) && holds(a, inner, depth, 0) &&
           holds(b, b_inner, depth, 0) && holds(b, b_columns, tw_present(out, rank - 1), 0);
}

/* Elements from a view's data to `index` on an axis, or to 0 where it is shared. */
static ptrdiff_t offset(const tw_view *in, const tw_view *out, int k, int32_t index)
{
    int axis = under(in, out, k);
    if (axis < 0 || is_shared(in, out, axis, k))
        return 0;
    return (ptrdiff_t)(index - tw_present(in, axis).begin) * in->tensor->stride[axis];
}

static tw_matrix_part part_of(const tw_view *a, const tw_view *b, int transposed,
                              const tw_view *out, const int32_t *index)
{
    const int rank = (int)out->tensor->rank;
    const int column_axis = (int)b->tensor->rank - (transposed ? 2 : 1);
    tw_range rows = tw_present(out, rank - 2), columns = tw_present(out, rank - 1);
    tw_matrix_part part;
    int k;
    part.rows = rows.end - rows.begin;
    part.a = offset(a, out, rank - 2, rows.begin);
    part.b = (ptrdiff_t)(columns.begin - tw_present(b, column_axis).begin) *
             b->tensor->stride[column_axis];
    part.out = 0; /* out's own rows and columns begin at its data */
    for (k = 0; k < rank - 2; k++) {
        part.a += offset(a, out, k, index[k]);
        part.b += offset(b, out, k, index[k]);
        part.out += offset(out, out, k, index[k]);
    }
    return part;
}

tw_status tw_matrix_walk(const tw_view *a, const tw_view *b, int transposed, const tw_view *out,
                         tw_matrix_function visit, const void *job)
{
    const int batches = (int)out->tensor->rank - 2;
    int32_t index[TW_MAX_RANK];
    int k;
    for (k = 0; k < (int)out->tensor->rank; k++) {
        tw_range r = tw_present(out, k);
        if (r.begin >= r.end)
            return TW_OK;
        index[k] = r.begin;
    }
    if (!covers(a, b, transposed, out))
        return TW_E_DATA;
    for (;;) {
        tw_matrix_part part = part_of(a, b, transposed, out, index);
        visit(job, &part);
        for (k = batches - 1; k >= 0; k--) {
            if (++index[k] < tw_present(out, k).end)
                break;
            index[k] = tw_present(out, k).begin;
        }
        if (k < 0)
            return TW_OK;
    }
}
