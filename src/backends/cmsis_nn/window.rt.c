/* Bands of windowed operators as images. In: a call on any band. Out: what the library calls an image,
 * with the padding that this band has. */
#include "backends/cmsis_nn/image.h"

int tw_cmsis_nn_window_check(const tw_call *call, const tw_window_spans *window)
{
    const tw_tensor *x = call->in[0].tensor, *y = call->out[0].tensor;
    int i;
    if (!tw_is_dense(x) || !tw_is_dense(y))
        return 0;
    for (i = 0; i < (int)x->rank; i++)
        if (x->dim[i] < 1 || x->dim[i] > TW_CMSIS_NN_MOST || y->dim[i] < 1 ||
            y->dim[i] > TW_CMSIS_NN_MOST)
            return 0;
    for (i = 0; i < 2; i++) {
        const tw_span *s = &window->axis[i];
        if (tw_window_reach(s) > TW_CMSIS_NN_MOST || s->stride > TW_CMSIS_NN_MOST ||
            s->pad_begin > TW_CMSIS_NN_MOST)
            return 0;
    }
    /* Bands of columns out of several rows would be images with gaps. */
    return x->rank == 3 || y->dim[1] > 1 || x->dim[1] == 1 || y->dim[2] == 1;
}

int tw_cmsis_nn_windows_touch(const tw_window_spans *window)
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

tw_status tw_cmsis_nn_window(const tw_call *call, const tw_window_spans *window,
                             tw_cmsis_nn_image *image)
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
               (ptrdiff_t)(out.begin[0] - in.begin[0]) * in.stride[0] +
               (ptrdiff_t)rows.skip * in.stride[1] + (ptrdiff_t)columns.skip * in.stride[2];
    image->y = (int8_t *)call->out[0].data;
    image->in = tw_cmsis_nn_dims(out.end[0] - out.begin[0], rows.rows, columns.rows, in.dim[3]);
    image->out = tw_cmsis_nn_dims(image->in.n, out.end[1] - out.begin[1], out.end[2] - out.begin[2],
                                  out.end[3] - out.begin[3]);
    image->padding = tw_cmsis_nn_tile(rows.padding, columns.padding);
    image->channel = out.begin[3];
    return TW_OK;
}
