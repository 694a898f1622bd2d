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

/* Outputs y->row and on along one axis, from inputs [have, until). Positions fit 32 bits, as
 * tw_native_window_check has seen to. */
typedef struct tw_reach {
    int32_t skip, rows, padding;
} tw_reach;

static int reach_of(const tw_span *s, const tw_view *y, int32_t have, int32_t until,
                    tw_reach *reach)
{
    const int32_t first = y->row * s->stride - s->pad_begin;
    const int32_t last =
        first + (y->rows - 1) * s->stride + (s->kernel - 1) * s->dilation + 1; /* behind it */
    const int32_t from = first < 0 ? 0 : first < s->in ? first : s->in;
    const int32_t to = last < from ? from : last < s->in ? last : s->in;
    reach->skip = reach->rows = reach->padding = 0; /* without rows everything is padding */
    if (from == to)
        return 1;
    reach->skip = from - have;
    reach->rows = until - from; /* those behind `to` keep the pitch of an image */
    reach->padding = from - first;
    return have <= from && until >= to;
}

static void whole_image(const tw_call *call, const tw_window_spans *window, tw_native_image *image)
{
    const tw_tensor *x = call->in[0].tensor, *y = call->out[0].tensor;
    const tw_span *rows = &window->axis[0], *columns = &window->axis[1];
    image->x = (const int8_t *)call->in[0].data;
    image->y = (int8_t *)call->out[0].data;
    image->images = y->dim[0];
    image->in_rows = rows->in;
    image->in_columns = columns->in;
    image->in_channels = x->dim[x->rank - 1];
    image->out_rows = rows->out;
    image->out_columns = columns->out;
    image->out_channels = y->dim[y->rank - 1];
    image->pad_rows = rows->pad_begin;
    image->pad_columns = columns->pad_begin;
    image->channel = 0;
}

/* The axis that has been cut: 0 images, 1 rows, 2 columns, 3 channels; of the input, [have, until) is there.
 * 0: the band needs more. */
static int cut_axis(const tw_call *call, const tw_window_spans *window, int32_t have, int32_t until,
                    tw_native_image *image)
{
    const tw_view *y = &call->out[0];
    const tw_tensor *x = call->in[0].tensor;
    const int axis = y->axis > 0 ? y->axis + 4 - (int)x->rank : 0;
    tw_reach reach = {0, 0, 0};
    if (axis == 3) { /* every output channel reads every input channel */
        image->out_channels = y->rows;
        image->channel = y->row;
        return have == 0 && until == image->in_channels;
    }
    if (axis == 0) {
        image->images = y->rows;
        reach.skip = y->row - have;
        if (reach.skip < 0 || until < y->row + y->rows)
            return 0;
    } else if (!reach_of(&window->axis[axis - 1], y, have, until, &reach)) {
        return 0;
    } else if (axis == 1) {
        image->in_rows = reach.rows;
        image->out_rows = y->rows;
        image->pad_rows = reach.padding;
    } else {
        image->in_columns = reach.rows;
        image->out_columns = y->rows;
        image->pad_columns = reach.padding;
    }
    image->x += (ptrdiff_t)reach.skip * x->stride[y->axis] * tw_native_bytes(x);
    return 1;
}

tw_status tw_native_window(const tw_call *call, const tw_window_spans *window,
                           tw_native_image *image)
{
    const tw_view *x = &call->in[0];
    const int32_t axis = call->out[0].axis;
    int32_t have = x->row, until = x->row + x->rows;
    if (x->axis != axis) {
        if (!tw_is_whole(x))
            return TW_E_SCHEDULE;
        have = 0;
        until = x->tensor->dim[axis];
    }
    whole_image(call, window, image);
    return cut_axis(call, window, have, until, image) ? TW_OK : TW_E_SCHEDULE;
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
