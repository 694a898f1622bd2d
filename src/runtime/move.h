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

/* The band that `out` holds, from the same indices of an input of the same rank. */
void tw_move_same(tw_move *m, const tw_view *out);

/* Do it. Every index must lie inside the tensors; rows that a view does not hold are refused with
 * TW_E_SCHEDULE before anything is written. */
tw_status tw_move_elements(const tw_view *out, const tw_view *in, const tw_move *m);

/* The elements of an opened walk, each of so many bytes. */
void tw_move_walk(tw_walk *w, uint32_t element_bytes);

/* What all moves check: one output, `least` to `most` inputs, all present and of one element type.
 * *work: elements of the output. */
tw_status tw_check_move(const tw_call *call, uint32_t least, uint32_t most, uint64_t *work);

/* Are rows [first, first + rows) in the view? */
static inline int tw_holds(const tw_view *v, int64_t first, int64_t rows)
{
    return rows <= 0 || (first >= v->row && first + rows <= (int64_t)v->row + v->rows);
}

/* Address of an element of which the view holds the row. */
static inline char *tw_element(const tw_view *v, const int32_t *index)
{
    const uint32_t bytes = tw_dtype_bytes(v->tensor->dtype);
    char *at = (char *)v->data;
    int32_t k;
    for (k = 0; k < (int32_t)v->tensor->rank; k++) {
        const int32_t i = k == v->axis ? index[k] - v->row : index[k];
        at += i * tw_step(v->tensor->stride[k], bytes);
    }
    return at;
}

#endif
