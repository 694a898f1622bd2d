/* What the adapters of the convolution share: the check. */
#include "backends/cmsis_nn/conv_job.h"

tw_status tw_cmsis_nn_conv_check(const tw_call *call, uint64_t *work)
{
    tw_window_spans window;
    const tw_tensor *w;
    if (tw_conv_check(call, TW_S8, TW_S8, work) != TW_OK || !tw_conv_window(call, &window) ||
        !tw_native_window_check(call, &window))
        return TW_E_CHECK;
    w = call->in[1].tensor;
    return tw_is_dense(w) && tw_channels_check(call, w->dim[0]) &&
                   call->scratch_bytes >=
                       tw_cmsis_nn_conv_scratch((int64_t)window.axis[0].kernel *
                                                    window.axis[1].kernel * w->dim[w->rank - 1],
                                                TW_CMSIS_NN_HERE)
               ? TW_OK
               : TW_E_CHECK;
}
