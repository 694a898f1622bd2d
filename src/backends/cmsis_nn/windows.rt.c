/* Bands of operators with windows by CMSIS-NN. In: a call that has passed its check, on any band. Out: what
 * the library's functions are given. Nothing is verified here but that the band has what it needs: this
 * runs once a row. */
#include "backends/cmsis_nn/windows.h"

static inline int32_t entry_of(const tw_ints *list, int entry, int32_t neutral)
{
    return list->count == 0 ? neutral : list->v[entry];
}

/* list: the attributes of every window. */
static inline void read_span(const tw_ints *list, int entry, tw_span *s)
{
    s->stride = entry_of(&list[0], entry, 1);
    s->dilation = entry_of(&list[1], entry, 1);
    s->pad_begin = entry_of(&list[2], entry, 0);
}

static inline void read_spans(const tw_call *call, const int32_t kernel[2], tw_window_spans *spans)
{
    const tw_ints *list = (const tw_ints *)call->attributes;
    const int32_t *in = call->in[0].tensor->dim, *out = call->out[0].tensor->dim;
    tw_span *rows = &spans->axis[0], *columns = &spans->axis[1];
    const int last = call->in[0].tensor->rank == 4; /* entry of the columns */
    rows->in = rows->out = rows->stride = rows->dilation = 1;
    rows->pad_begin = 0;
    if (last) {
        read_span(list, 0, rows);
        rows->in = in[1];
        rows->out = out[1];
    }
    read_span(list, last, columns);
    columns->in = in[1 + last];
    columns->out = out[1 + last];
    rows->kernel = kernel[0];
    columns->kernel = kernel[1];
}

tw_status tw_cmsis_nn_window_read(const tw_call *call, const int32_t kernel[2],
                                  tw_cmsis_nn_window *window)
{
    const tw_tensor *x = call->in[0].tensor, *y = call->out[0].tensor;
    tw_window_spans spans;
    tw_native_image i;
    read_spans(call, kernel, &spans);
    if (tw_native_window(call, &spans, &i) != TW_OK)
        return TW_E_SCHEDULE;
    window->x = i.x;
    window->y = i.y;
    window->channel = i.channel;
    window->in = tw_cmsis_nn_dims(i.images, i.in_rows, i.in_columns, i.in_channels);
    window->out = tw_cmsis_nn_dims(i.images, i.out_rows, i.out_columns, i.out_channels);
    window->filter = tw_cmsis_nn_dims(1, kernel[0], kernel[1], 1);
    window->params.input_offset = -x->zero_point;
    window->params.output_offset = y->zero_point;
    window->params.stride = tw_cmsis_nn_tile(spans.axis[0].stride, spans.axis[1].stride);
    window->params.dilation = tw_cmsis_nn_tile(spans.axis[0].dilation, spans.axis[1].dilation);
    window->params.padding = tw_cmsis_nn_tile(i.pad_rows, i.pad_columns);
    window->params.activation = tw_cmsis_nn_activation(call);
    return TW_OK;
}
