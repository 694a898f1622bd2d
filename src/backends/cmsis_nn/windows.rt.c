/* Bands of operators with windows by CMSIS-NN. In: a call that has passed its check, on any band. Out: what
 * the library's functions are given. Nothing is verified here but that the band has what it needs: this
 * runs once a row. */
#include "backends/cmsis_nn/windows.h"

tw_status tw_cmsis_nn_window_read(const tw_call *call, const int32_t kernel[2],
                                  tw_cmsis_nn_window *window)
{
    const tw_ints *list = (const tw_ints *)call->attributes;
    const tw_window_lists lists = {&list[0], &list[1], &list[2], &list[3]};
    const tw_tensor *x = call->in[0].tensor, *y = call->out[0].tensor;
    tw_window_spans spans;
    tw_native_image i;
    tw_window_of(&spans, x, y, kernel, &lists);
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
