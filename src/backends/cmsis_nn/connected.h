/* What the adapters of fully connected layers share. The bias table has the zero points folded in: it is
 * what the library takes for the bias and, on MVE, for the sums of the weights that it would otherwise
 * compute in every call. Device code. */
#ifndef TW_BACKENDS_CMSIS_NN_CONNECTED_H
#define TW_BACKENDS_CMSIS_NN_CONNECTED_H

#include "backends/cmsis_nn/image.h"
#include "backends/cmsis_nn/product.h"
#include "ops/connected_job.h"

/* The arguments of the library's functions but for the scales. */
typedef struct tw_cmsis_nn_connected {
    tw_native_rows rows;
    cmsis_nn_context sums;
    cmsis_nn_fc_params params; /* the weights' zero point is theirs to take off */
    cmsis_nn_dims input, filter, bias, output;
    const int8_t *weights;
} tw_cmsis_nn_connected;

static inline int tw_cmsis_nn_connected_check(const tw_call *call, uint64_t *work)
{
    return tw_connected_check(call, TW_S8, TW_S8, work) == TW_OK &&
           tw_is_dense(call->in[0].tensor) && tw_is_dense(call->out[0].tensor) &&
           tw_is_dense(call->in[1].tensor) && tw_channels_check(call, call->in[1].tensor->dim[0]);
}

static inline tw_status tw_cmsis_nn_connected_read(const tw_call *call, tw_cmsis_nn_connected *job)
{
    const tw_tensor *w = call->in[1].tensor;
    const int32_t depth = w->dim[1];
    tw_native_rows *rows = &job->rows;
    if (!tw_is_whole(&call->in[1]) || !tw_native_rows_of(call, rows))
        return TW_E_SCHEDULE;
    job->params.input_offset = 0;
    job->params.filter_offset = -w->zero_point;
    job->params.output_offset = call->out[0].tensor->zero_point;
    job->params.activation = tw_cmsis_nn_activation(call);
    job->sums.buf = tw_cmsis_nn_table(call, TW_BLOB_BIAS, rows->first);
    job->sums.size = rows->outputs * 4;
    job->input = tw_cmsis_nn_dims(rows->count, 1, 1, depth);
    job->filter = tw_cmsis_nn_dims(depth, 1, 1, rows->outputs);
    job->bias = tw_cmsis_nn_dims(1, 1, 1, rows->outputs);
    job->output = tw_cmsis_nn_dims(rows->count, 1, 1, rows->outputs);
    job->weights = (const int8_t *)call->in[1].data + (ptrdiff_t)rows->first * depth;
    return TW_OK;
}

/* Several rows: the functions for vectors read all weights once a row. */
static inline int tw_cmsis_nn_connected_is_product(const tw_cmsis_nn_connected *job)
{
    return job->rows.count > 1 && job->params.filter_offset == 0;
}

static inline tw_cmsis_nn_product tw_cmsis_nn_connected_rows(const tw_call *call,
                                                             const tw_cmsis_nn_connected *job)
{
    tw_cmsis_nn_product p;
    p.x = job->rows.x;
    p.y = job->rows.y;
    p.weights = job->weights;
    p.count = job->rows.count;
    p.depth = call->in[1].tensor->dim[1];
    p.outputs = job->rows.outputs;
    p.scales = tw_cmsis_nn_scales(call, job->rows.first);
    p.bias = tw_cmsis_nn_table(call, TW_BLOB_BIAS, job->rows.first);
    return p;
}

static inline tw_status tw_cmsis_nn_connected_product(const tw_call *call,
                                                      const tw_cmsis_nn_connected *job)
{
    const tw_cmsis_nn_product p = tw_cmsis_nn_connected_rows(call, job);
    return tw_cmsis_nn_product_run(call, &p);
}

#endif
