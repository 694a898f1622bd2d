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

/* One axis of the band: outputs [begin, end) from inputs [have, have + rows). */
typedef struct tw_reach {
    int32_t skip, rows, padding;
} tw_reach;

static int reach_of(const tw_span *s, int32_t begin, int32_t end, int32_t have_begin,
                    int32_t have_end, tw_reach *reach)
{
    const int32_t first = begin * s->stride - s->pad_begin;
    const int64_t last =
        (int64_t)(end - 1) * s->stride - s->pad_begin + tw_window_reach(s); /* behind it */
    const int32_t from = first < 0 ? 0 : first < s->in ? first : s->in;
    const int32_t to = last < from ? from : last < s->in ? (int32_t)last : s->in;
    if (from < to && (have_begin > from || have_end < to))
        return 0;
    reach->skip = from < to ? from - have_begin : 0;
    reach->rows =
        from < to ? have_end - from : 0; /* those behind `to` keep the pitch of an image */
    reach->padding = from < to ? from - first : 0; /* without rows everything is padding */
    return reach->padding <= INT16_MAX;
}

tw_status tw_native_window(const tw_call *call, const tw_window_spans *window,
                           tw_native_image *image)
{
    tw_image in, out;
    tw_reach rows, columns;
    tw_image_of(&call->in[0], &in);
    tw_image_of(&call->out[0], &out);
    if (in.begin[0] > out.begin[0] || in.end[0] < out.end[0] || in.begin[3] != 0 ||
        in.end[3] != in.dim[3] ||
        !reach_of(&window->axis[0], out.begin[1], out.end[1], in.begin[1], in.end[1], &rows) ||
        !reach_of(&window->axis[1], out.begin[2], out.end[2], in.begin[2], in.end[2], &columns))
        return TW_E_SCHEDULE;
    image->x = (const int8_t *)call->in[0].data +
               ((ptrdiff_t)(out.begin[0] - in.begin[0]) * in.stride[0] +
                (ptrdiff_t)rows.skip * in.stride[1] + (ptrdiff_t)columns.skip * in.stride[2]) *
                   tw_native_bytes(call->in[0].tensor);
    image->y = (int8_t *)call->out[0].data;
    image->images = out.end[0] - out.begin[0];
    image->in_rows = rows.rows;
    image->in_columns = columns.rows;
    image->in_channels = in.dim[3];
    image->out_rows = out.end[1] - out.begin[1];
    image->out_columns = out.end[2] - out.begin[2];
    image->out_channels = out.end[3] - out.begin[3];
    image->pad_rows = rows.padding;
    image->pad_columns = columns.padding;
    image->channel = out.begin[3];
    return TW_OK;
}

int tw_native_rows_of(const tw_call *call, tw_native_rows *rows)
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
    rows->x +=
        (ptrdiff_t)(y->row - x->row) * x->tensor->stride[x->axis] * tw_native_bytes(x->tensor);
    rows->count = (int32_t)(outputs ? tw_view_count(y) / outputs : 0);
    return depth >= 0;
}
