/* Bands of operators with windows by CMSIS-NN. In: a call that has passed its check, on any band. Out: what
 * the library's functions are given. Nothing is verified here but that the band has what it needs: this
 * runs once a row. */
#include "backends/cmsis_nn/windows.h"

/* The entries of a list for rows and columns: of an image of one row, it has one at most. */
static inline cmsis_nn_tile read_list(const tw_ints *list, int columns, int32_t neutral)
{
    cmsis_nn_tile tile;
    tile.h = tile.w = neutral;
    if (list->count > 0) {
        tile.w = list->v[columns];
        if (columns > 0)
            tile.h = list->v[0];
    }
    return tile;
}

static inline tw_span span_of(int32_t in, int32_t kernel, int32_t stride, int32_t dilation,
                              int32_t padding)
{
    const tw_span span = {in, 0, kernel, stride, dilation, padding, 0};
    return span;
}

/* The whole images. */
static inline void read_whole(const tw_call *call, const int32_t kernel[2],
                              tw_cmsis_nn_window *window)
{
    const tw_ints *list = (const tw_ints *)call->attributes;
    const tw_tensor *x = call->in[0].tensor, *y = call->out[0].tensor;
    const int columns =
        x->rank == 4; /* their place in lists, and one less than that of their extents */
    cmsis_nn_conv_params *params = &window->params;
    window->y = (int8_t *)call->out[0].data;
    window->channel = 0;
    window->in.n = x->dim[0];
    window->in.h = columns ? x->dim[1] : 1;
    window->in.w = x->dim[columns + 1];
    window->in.c = x->dim[columns + 2];
    window->out.n = x->dim[0];
    window->out.h = columns ? y->dim[1] : 1;
    window->out.w = y->dim[columns + 1];
    window->out.c = y->dim[columns + 2];
    window->filter.n = window->filter.c = 1;
    window->filter.h = kernel[0];
    window->filter.w = kernel[1];
    params->input_offset = -x->zero_point;
    params->output_offset = y->zero_point;
    params->stride = read_list(&list[0], columns, 1);
    params->dilation = read_list(&list[1], columns, 1);
    params->padding = read_list(&list[2], columns, 0);
    params->activation.min = call->clamp_low.s32;
    params->activation.max = call->clamp_high.s32;
}

tw_status tw_cmsis_nn_window_read(const tw_call *call, const int32_t kernel[2],
                                  tw_cmsis_nn_window *window)
{
    cmsis_nn_conv_params *params = &window->params;
    tw_window_spans spans;
    tw_native_cut cut;
    read_whole(call, kernel, window);
    spans.axis[0] =
        span_of(window->in.h, kernel[0], params->stride.h, params->dilation.h, params->padding.h);
    spans.axis[1] =
        span_of(window->in.w, kernel[1], params->stride.w, params->dilation.w, params->padding.w);
    if (!tw_native_cut_of(call, &spans, &cut))
        return TW_E_SCHEDULE;
    window->x = (const int8_t *)call->in[0].data + cut.skip * tw_native_bytes(call->in[0].tensor);
    if (cut.axis == 1) {
        window->in.h = cut.in;
        window->out.h = cut.out;
        params->padding.h = cut.padding;
    } else if (cut.axis == 2) {
        window->in.w = cut.in;
        window->out.w = cut.out;
        params->padding.w = cut.padding;
    } else if (cut.axis == 0) {
        window->in.n = window->out.n = cut.out;
    } else {
        window->out.c = cut.out;
        window->channel = call->out[0].row;
    }
    return TW_OK;
}
