/* Pooling by ESP-NN: the arguments. Its functions keep to the image by themselves; every window must have an
 * element, and channels come eight at a time (of other counts, the ESP32-S3's maxima do nothing or forget
 * a bound). */
#include "backends/bounds.h"
#include "backends/esp_nn/pool_job.h"

static int read_window(const tw_call *call, tw_window_spans *window)
{
    const tw_pool_attributes *a = (const tw_pool_attributes *)call->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    int32_t kernel[2];
    kernel[0] = a->kernel.count == 2 ? a->kernel.v[0] : 1;
    kernel[1] = a->kernel.v[a->kernel.count - 1];
    return tw_window_read(window, call->in[0].tensor, call->out[0].tensor, kernel, &lists, a->ceil);
}

int tw_esp_nn_pool_check(const tw_call *call, uint64_t *work)
{
    tw_window_spans window;
    const tw_tensor *x;
    if (tw_pool_check(call, TW_S8, work) != TW_OK || call->blob_count != 0 ||
        !read_window(call, &window) || !tw_native_window_check(call, &window) ||
        !tw_native_windows_touch(&window) || !tw_native_bounded(call, TW_S8))
        return 0;
    x = call->in[0].tensor;
    return x->dim[x->rank - 1] % 8 == 0;
}

tw_status tw_esp_nn_pool_read(const tw_call *call, tw_esp_nn_pool *job)
{
    tw_status status;
    if (!read_window(call, &job->window))
        return TW_E_DATA;
    status = tw_native_window(call, &job->window, &job->image);
    if (status != TW_OK)
        return status;
    return job->image.out_channels == job->image.in_channels ? TW_OK : TW_E_SCHEDULE;
}
