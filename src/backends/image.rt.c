/* Bands as images and matrices. In: a call on any band. Out: what libraries call an image, with the padding
 * that this band has, or rows of a matrix. */
#include "backends/image.h"

int tw_native_window_check(const tw_call *call, const tw_window_spans *window)
{
    const tw_tensor *x = call->in[0].tensor, *y = call->out[0].tensor;
    int i;
    if (!tw_is_dense(x) || !tw_is_dense(y))
        return 0;
    for (i = 0; i < (int)x->rank; i++)
        if (x->dim[i] < 1 || x->dim[i] > TW_NATIVE_MOST || y->dim[i] < 1 ||
            y->dim[i] > TW_NATIVE_MOST)
            return 0;
    for (i = 0; i < 2; i++) {
        const tw_span *s = &window->axis[i];
        if (tw_window_reach(s) > TW_NATIVE_MOST || s->stride > TW_NATIVE_MOST ||
            s->pad_begin > TW_NATIVE_MOST)
            return 0;
    }
    /* Bands of columns out of several rows would be images with gaps. */
    return x->rank == 3 || y->dim[1] > 1 || x->dim[1] == 1 || y->dim[2] == 1;
}

int tw_native_windows_touch(const tw_window_spans *window)
{
    int i;
    for (i = 0; i < 2; i++) {
        const tw_span *s = &window->axis[i];
        if (s->dilation != 1 || s->pad_begin >= s->kernel ||
            (int64_t)(s->out - 1) * s->stride - s->pad_begin >= s->in)
            return 0;
    }
    return 1;
}

tw_status tw_native_window(const tw_call *call, const tw_window_spans *window,
                           tw_native_image *image)
{
    const tw_tensor *x = call->in[0].tensor, *y = call->out[0].tensor;
    const tw_span *rows = &window->axis[0], *columns = &window->axis[1];
    tw_native_cut cut;
    if (!tw_native_cut_of(call, window, &cut))
        return TW_E_SCHEDULE;
    image->x = (const int8_t *)call->in[0].data + cut.skip * tw_native_bytes(x);
    image->y = (int8_t *)call->out[0].data;
    image->images = cut.axis == 0 ? cut.out : y->dim[0];
    image->in_rows = cut.axis == 1 ? cut.in : rows->in;
    image->in_columns = cut.axis == 2 ? cut.in : columns->in;
    image->in_channels = x->dim[x->rank - 1];
    image->out_rows = cut.axis == 1 ? cut.out : rows->out;
    image->out_columns = cut.axis == 2 ? cut.out : columns->out;
    image->out_channels = cut.axis == 3 ? cut.out : y->dim[y->rank - 1];
    image->pad_rows = cut.axis == 1 ? cut.padding : rows->pad_begin;
    image->pad_columns = cut.axis == 2 ? cut.padding : columns->pad_begin;
    image->channel = cut.axis == 3 ? call->out[0].row : 0;
    return TW_OK;
}

/* Rows of a dense view of fewer than 2^31 elements: what is present on all axes but the last; 0 where rows
 * are empty. */
static int32_t rows_before(const tw_view *v, int last)
{
    uint32_t count = v->tensor->dim[last] > 0;
    int i;
    for (i = 0; i < last; i++)
        count *= (uint32_t)(i == v->axis ? v->rows : v->tensor->dim[i]);
    return (int32_t)count;
}

int tw_native_rows_of(const tw_call *call, tw_native_rows *rows)
{
    const tw_view *x = &call->in[0], *y = &call->out[0];
    const int last = (int)y->tensor->rank - 1;
    rows->x = (const int8_t *)x->data;
    rows->y = (int8_t *)y->data;
    rows->first = 0;
    rows->outputs = y->tensor->dim[last];
    if (y->axis == last) { /* a band of outputs of one row */
        if (!tw_is_whole(x))
            return 0;
        rows->count = rows_before(y, last);
        rows->first = y->row;
        rows->outputs = y->rows;
        return rows->count <= 1;
    }
    if (x->axis != y->axis || x->row > y->row || x->row + x->rows < y->row + y->rows)
        return 0;
    rows->x +=
        (ptrdiff_t)(y->row - x->row) * x->tensor->stride[x->axis] * tw_native_bytes(x->tensor);
    rows->count = rows_before(y, last);
    return 1;
}
