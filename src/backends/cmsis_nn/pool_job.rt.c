/* Pooling by CMSIS-NN: the arguments. */
#include "backends/bounds.h"
#include "backends/cmsis_nn/pool_job.h"

static void read_kernel(const tw_call *call, int32_t kernel[2])
{
    const tw_pool_attributes *a = (const tw_pool_attributes *)call->attributes;
    kernel[0] = a->kernel.count == 2 ? a->kernel.v[0] : 1;
    kernel[1] = a->kernel.v[a->kernel.count - 1];
}

static int read_window(const tw_call *call, tw_window_spans *window)
{
    const tw_pool_attributes *a = (const tw_pool_attributes *)call->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    int32_t kernel[2];
    read_kernel(call, kernel);
    return tw_window_read(window, call->in[0].tensor, call->out[0].tensor, kernel, &lists, a->ceil);
}

int tw_cmsis_nn_pool_check(const tw_call *call, uint32_t dtype, uint64_t *work)
{
    tw_window_spans window;
    if (tw_pool_check(call, dtype, work) != TW_OK || call->blob_count != 0 ||
        !read_window(call, &window) || !tw_native_window_check(call, &window) ||
        !tw_native_windows_touch(&window) || !tw_native_bounded(call, dtype))
        return 0;
    /* Sums of int16 over so many taps stay within 32 bits. */
    return dtype == TW_S8 ||
           ((int64_t)window.axis[0].kernel * window.axis[1].kernel <= UINT16_MAX &&
            call->in[0].tensor->zero_point == 0 && call->out[0].tensor->zero_point == 0);
}

int tw_cmsis_nn_average_check(const tw_call *call, uint32_t dtype, uint64_t *work)
{
    const tw_pool_attributes *a = (const tw_pool_attributes *)call->attributes;
    const tw_tensor *y;
    if (!tw_cmsis_nn_pool_check(call, dtype, work) || a->count_include_pad ||
        a->rounding != TW_POOL_HALF_AWAY)
        return 0;
    y = call->out[0].tensor;
    return call->scratch_bytes >=
           tw_cmsis_nn_average_scratch(y->dim[y->rank - 1], TW_CMSIS_NN_HERE);
}

tw_status tw_cmsis_nn_pool_read(const tw_call *call, tw_cmsis_nn_pool *job)
{
    int32_t kernel[2];
    tw_status status;
    read_kernel(call, kernel);
    status = tw_cmsis_nn_window_read(call, kernel, &job->window);
    if (status != TW_OK)
        return status;
    if (job->window.out.c != job->window.in.c)
        return TW_E_SCHEDULE; /* the library has no bands of channels */
    job->context = tw_cmsis_nn_context(call);
    job->params.stride = job->window.params.stride;
    job->params.padding = job->window.params.padding;
    job->params.activation = job->window.params.activation;
    return TW_OK;
}
