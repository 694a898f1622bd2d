/* Bands of matrices. In: a call whose input and output differ in their last extent alone. */
#include "backends/cmsis_nn/image.h"

int tw_cmsis_nn_rows_of(const tw_call *call, tw_cmsis_nn_rows *rows)
{
    const tw_view *x = &call->in[0], *y = &call->out[0];
    const int last = (int)y->tensor->rank - 1;
    const int32_t depth = x->tensor->dim[last], outputs = y->tensor->dim[last];
    rows->x = (const int8_t *)x->data;
    rows->y = (int8_t *)y->data;
    rows->first = 0;
    rows->outputs = outputs;
    if (y->axis == last) { /* a band of outputs of one row */
        if (!tw_is_whole(x))
            return 0;
        rows->count = (int32_t)(outputs ? tw_element_count(y->tensor) / outputs : 0);
        rows->first = y->row;
        rows->outputs = y->rows;
        return rows->count <= 1;
    }
    if (x->axis != y->axis || x->row > y->row || x->row + x->rows < y->row + y->rows)
        return 0;
    rows->x += (ptrdiff_t)(y->row - x->row) * x->tensor->stride[x->axis];
    rows->count = (int32_t)(outputs ? tw_view_count(y) / outputs : 0);
    return depth >= 0;
}
