/* Moving elements between views without looking at them: what Copy, Slice, Concat, Transpose and the
 * inside of Pad are made of. */
#ifndef TW_RUNTIME_MOVE_H
#define TW_RUNTIME_MOVE_H

#include "runtime/walk.h"

/* Index i[k], 0 <= i[k] < extent[k], of output axis k goes
 *     to   index to[k] + i[k] of output axis k
 *     from index from[k] + i[k] * step[k] of input axis axis[k]. */
typedef struct tw_move {
    int32_t extent[TW_MAX_RANK], to[TW_MAX_RANK];
    int32_t from[TW_MAX_RANK], step[TW_MAX_RANK], axis[TW_MAX_RANK];
} tw_move;

/* The band or block that `out` holds, from the same indices of an input of the same rank. */
void tw_move_same(tw_move *m, const tw_view *out);

/* Do it. Every index must lie inside the tensors; rows and columns that a view does not hold are refused with
 * TW_E_SCHEDULE before anything is written. */
tw_status tw_move_elements(const tw_view *out, const tw_view *in, const tw_move *m);

/* The elements of an opened walk, each of so many bytes. */
void tw_move_walk(tw_walk *w, uint32_t element_bytes);

/* What all moves check: one output, `least` to `most` inputs, all present and of one element type.
 * *work: elements of the output. */
tw_status tw_check_move(const tw_call *call, uint32_t least, uint32_t most, uint64_t *work);

/* The first index of axis k that the view holds, and how many. */
static inline int32_t tw_first_of(const tw_view *v, int32_t k)
{
    if (k == v->axis)
        return v->row;
    return v->columns != 0 && k == v->axis + 1 ? v->column : 0;
}

static inline int32_t tw_count_of(const tw_view *v, int32_t k)
{
    if (k == v->axis)
        return v->rows;
    return v->columns != 0 && k == v->axis + 1 ? v->columns : v->tensor->dim[k];
}

/* Are indices [first, first + count) of axis k in the view? */
static inline int tw_holds_of(const tw_view *v, int32_t k, int64_t first, int64_t count)
{
    return count <= 0 || (first >= tw_first_of(v, k) &&
                          first + count <= (int64_t)tw_first_of(v, k) + tw_count_of(v, k));
}

/* Are rows [first, first + rows) in the view? */
static inline int tw_holds(const tw_view *v, int64_t first, int64_t rows)
{
    return tw_holds_of(v, v->axis, first, rows);
}

/* Address of an element that the view holds. */
static inline char *tw_element(const tw_view *v, const int32_t *index)
{
    const uint32_t bytes = tw_dtype_bytes(v->tensor->dtype);
    char *at = (char *)v->data;
    int32_t k;
    for (k = 0; k < (int32_t)v->tensor->rank; k++) {
        at += (index[k] - tw_first_of(v, k)) * tw_step(v->tensor->stride[k], bytes);
    }
    return at;
}

#endif
