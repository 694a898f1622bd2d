/* Lanes along an axis: lanes.h says what they are. */
#include "runtime/lanes.h"

#include "runtime/move.h"

tw_status tw_lanes(const tw_call *call, int32_t axis, tw_lane_run run)
{
    const tw_view *in = &call->in[0], *out = &call->out[0];
    const uint32_t in_bytes = tw_dtype_bytes(in->tensor->dtype);
    const uint32_t out_bytes = tw_dtype_bytes(out->tensor->dtype);
    const int along = axis == out->axis;
    int32_t first[TW_MAX_RANK] = {0}, k;
    tw_lane lane;
    tw_walk w;
    lane.n = out->tensor->dim[axis];
    lane.first = along ? out->row : 0;
    lane.count = along ? out->rows : lane.n;
    if (in->axis != out->axis ||
        !(along ? tw_holds(in, 0, lane.n) : tw_holds(in, out->row, out->rows)))
        return TW_E_SCHEDULE;
    first[out->axis] = along ? 0 : out->row;
    tw_walk_begin(&w, out->data, tw_element(in, first));
    for (k = 0; k < (int32_t)out->tensor->rank; k++)
        if (k != axis)
            tw_walk_axis(&w, k == out->axis ? out->rows : out->tensor->dim[k],
                         tw_step(out->tensor->stride[k], out_bytes),
                         tw_step(in->tensor->stride[k], in_bytes));
    if (!tw_walk_open(&w) || lane.count <= 0)
        return TW_OK;
    lane.to_step = tw_step(out->tensor->stride[axis], out_bytes);
    lane.from_step = tw_step(in->tensor->stride[axis], in_bytes);
    do {
        lane.to = w.to;
        lane.from = w.from;
        run(call, &lane);
    } while (tw_walk_next(&w, w.rank));
    return TW_OK;
}

tw_status tw_check_lanes(const tw_call *call, int32_t axis, uint32_t in_dtype, uint32_t out_dtype,
                         uint64_t *work)
{
    const tw_tensor *in, *out;
    if (call->in_count != 1 || call->out_count != 1 || !call->in[0].tensor || !call->out[0].tensor)
        return TW_E_CHECK;
    in = call->in[0].tensor;
    out = call->out[0].tensor;
    if (in->dtype != in_dtype || out->dtype != out_dtype || !tw_same_shape(in, out) || axis < 0 ||
        axis >= (int32_t)out->rank)
        return TW_E_CHECK;
    *work = (uint64_t)tw_element_count(out);
    return TW_OK;
}
