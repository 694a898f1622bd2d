/* Fully connected layers with weights of 4 bits by CMSIS-NN: a product of matrices, be it of one row. The
 * bias table has the zero points folded in. */
#include "backends/cmsis_nn/connected.h"
#include "backends/cmsis_nn/packed.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_packed packed;
    return tw_cmsis_nn_packed(call, TW_PACKED_FIRST, &packed) &&
                   tw_cmsis_nn_connected_check(&packed.call, work)
               ? TW_OK
               : TW_E_CHECK;
}

static tw_status run(const tw_call *call)
{
    tw_cmsis_nn_connected job;
    tw_cmsis_nn_product p;
    tw_packed packed;
    tw_status status;
    if (!tw_cmsis_nn_packed(call, TW_PACKED_FIRST, &packed))
        return TW_E_DATA;
    status = tw_cmsis_nn_connected_read(&packed.call, &job);
    if (status != TW_OK || job.rows.outputs < 1)
        return status;
    p = tw_cmsis_nn_connected_rows(&packed.call, &job);
    p.weights = tw_cmsis_nn_pairs(&packed.call, job.rows.first);
    return p.weights ? tw_cmsis_nn_product_pairs(call, &p) : TW_E_SCHEDULE;
}

TW_CMSIS_NN_KERNEL(fully_connected_s8w4, run, check);
