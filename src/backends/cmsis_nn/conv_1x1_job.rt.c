/* Convolution without neighbours by CMSIS-NN: check and arguments. */
#include "backends/cmsis_nn/conv_1x1_job.h"

tw_status tw_cmsis_nn_conv_1x1_check(const tw_call *call, uint64_t *work)
{
    const tw_conv_attributes *a = (const tw_conv_attributes *)call->attributes;
    const tw_tensor *w;
    tw_window_spans window;
    int i;
    if (tw_conv_check(call, TW_S8, TW_S8, work) != TW_OK || a->group != 1)
        return TW_E_CHECK;
    w = call->in[1].tensor;
    for (i = 1; i < (int)w->rank - 1; i++)
        if (w->dim[i] != 1)
            return TW_E_CHECK;
    if (!tw_conv_window(call, &window) || window.axis[0].pad_begin != 0 ||
        window.axis[1].pad_begin != 0 || window.axis[0].pad_end != 0 ||
        window.axis[1].pad_end != 0 || !tw_native_window_check(call, &window) || !tw_is_dense(w) ||
        !tw_channels_check(call, w->dim[0]))
        return TW_E_CHECK;
    return TW_OK;
}

static tw_cmsis_nn_product product_of(const tw_call *call, const tw_cmsis_nn_pointwise *functions,
                                      int32_t channel, int32_t outputs)
{
    const tw_tensor *w = call->in[1].tensor;
    tw_cmsis_nn_product p;
    p.depth = w->dim[w->rank - 1];
    p.outputs = outputs;
    p.weights = functions->weights(call, channel);
    p.scales = tw_cmsis_nn_scales(call, channel);
    p.bias = tw_cmsis_nn_table(call, TW_BLOB_BIAS, channel);
    return p;
}

/* With strides: the library steps over what is left out. */
static tw_status run_strided(const tw_call *call, const tw_cmsis_nn_pointwise *functions)
{
    const cmsis_nn_context none = {NULL, 0};
    tw_cmsis_nn_product p;
    tw_cmsis_nn_window window;
    const tw_status status = tw_cmsis_nn_conv_window(call, &window);
    if (status != TW_OK)
        return status;
    p = product_of(call, functions, window.channel, window.out.c);
    if (!p.weights)
        return TW_E_SCHEDULE;
    window.params.input_offset = 0;
    return tw_cmsis_nn_status(functions->strided(&none, &window.params, &p.scales, &window.in,
                                                 window.x, &window.filter, p.weights, &window.out,
                                                 p.bias, &window.out, window.y));
}

/* Without: pixels are rows of a matrix. */
static tw_status run_rows(const tw_call *call, const tw_cmsis_nn_pointwise *functions)
{
    tw_cmsis_nn_product p;
    tw_native_rows rows;
    if (!tw_is_whole(&call->in[1]))
        return TW_E_DATA;
    if (!tw_native_rows_of(call, &rows))
        return TW_E_SCHEDULE;
    p = product_of(call, functions, rows.first, rows.outputs);
    p.x = rows.x;
    p.y = rows.y;
    p.count = rows.count;
    return p.weights ? functions->rows(call, &p) : TW_E_SCHEDULE;
}

static int is_strided(const tw_ints *stride)
{
    return stride->count > 0 && (stride->v[0] != 1 || stride->v[stride->count - 1] != 1);
}

tw_status tw_cmsis_nn_conv_1x1_run(const tw_call *call, const tw_cmsis_nn_pointwise *functions)
{
    return is_strided(&((const tw_conv_attributes *)call->attributes)->stride)
               ? run_strided(call, functions)
               : run_rows(call, functions);
}
