/* What the adapters of means over whole images share. The library has no sums that go on in a later call,
 * so an image that comes in bands is left to the portable kernel, whose step memory these have. Device
 * code. */
#ifndef TW_BACKENDS_ESP_NN_MEAN_JOB_H
#define TW_BACKENDS_ESP_NN_MEAN_JOB_H

#include "backends/bounds.h"
#include "backends/esp_nn/library.h"
#include "ops/product.h"
#include "ops/reduce.h"

/* One dense image, reduced over rows and columns with this rounding and so many tables. */
static inline int tw_esp_nn_mean_check(const tw_call *call, int32_t rounding, uint32_t tables,
                                       uint64_t *work)
{
    const tw_reduce_mean_attributes *a = (const tw_reduce_mean_attributes *)call->attributes;
    tw_reduction r;
    const tw_tensor *x;
    int i;
    if (tw_k_reduce_mean_s8.check(call, work) != TW_OK || call->attribute_bytes != sizeof *a ||
        call->blob_count != tables || a->rounding != rounding || !tw_native_bounded(call, TW_S8))
        return 0;
    x = call->in[0].tensor;
    if (x->rank != 4 || x->dim[0] != 1 || !tw_is_dense(x) || !tw_is_dense(call->out[0].tensor) ||
        !tw_reduce_resolve((const tw_reduce_attributes *)call->attributes, 4, x->dim, &r) ||
        r.mask != 6)
        return 0;
    for (i = 1; i < 4; i++)
        if (x->dim[i] < 1 || x->dim[i] > TW_ESP_NN_MOST)
            return 0;
    return 1;
}

/* Is the image there whole, for the first time? */
static inline int tw_esp_nn_mean_is_whole(const tw_call *call)
{
    const tw_view *x = &call->in[0];
    return tw_is_whole(x) && tw_is_whole(&call->out[0]) && x->fresh == 0 &&
           x->fresh_rows == x->rows;
}

#endif
