/* Measuring traffic, firing by firing. */
#include "host/traffic.h"

#include <string.h>

#include "ops/op.h"
#include "runtime/rows.h"

static uint64_t bytes_of(const tw_view *v)
{
    uint64_t bytes = tw_tensor_bytes(v->tensor);
    int32_t extent = tw_extent(v->tensor, (uint32_t)v->axis);
    if (v->columns != 0)
        return bytes / (uint32_t)extent / (uint32_t)v->tensor->dim[v->axis + 1] *
               (uint32_t)v->rows * (uint32_t)v->columns;
    return v->rows == extent ? bytes : extent ? bytes / (uint32_t)extent * (uint32_t)v->rows : 0;
}

/* Rows that the step makes in all or, where it accumulates, takes. */
static int32_t rows_in_all(const tw_call *call, const tw_plan_operand *operands, bool *accumulates)
{
    const tw_view *counts = &call->out[0];
    for (uint32_t i = 0; i < call->in_count; i++)
        if (call->in[i].tensor && operands[i].rows == TW_ROWS_ACCUMULATED) {
            counts = &call->in[i];
            *accumulates = true;
        }
    return tw_extent(counts->tensor, (uint32_t)counts->axis);
}

void tw_traffic_add(const tw_model *model, const tw_firing *firing, tw_traffic *traffic)
{
    const tw_call *call = firing->call;
    const tw_plan_operand *operands = &model->operands[model->steps[firing->step].first_operand];
    bool accumulates = false;
    int32_t all = rows_in_all(call, operands, &accumulates);
    bool complete = firing->row + firing->rows >= all;
    const tw_opdef *op = tw_op_by_code(firing->operator_code);
    uint64_t made = bytes_of(&call->out[0]);
    for (uint32_t i = 0; i < call->in_count; i++) {
        if (!call->in[i].tensor)
            continue;
        uint64_t bytes = bytes_of(&call->in[i]);
        bool part = op && op->kind == TW_MOVE && operands[i].rows == TW_ROWS_WHOLE;
        traffic->read[call->in[i].tensor->region] += part && made < bytes ? made : bytes;
    }
    for (uint32_t i = 0; i < call->blob_count; i++)
        traffic->read[TW_REGION_CONSTANT] += call->blobs[i].bytes;
    for (uint32_t i = 0; i < call->out_count; i++) {
        const tw_view *v = &call->out[i];
        bool final = operands[call->in_count + i].rows == TW_ROWS_FINAL;
        if (v->tensor && (!final || complete))
            traffic->written[v->tensor->region] += bytes_of(v);
    }
}

void tw_traffic_sum(const tw_traffic *more, tw_traffic *sum)
{
    for (int r = 0; r < TW_MAX_REGIONS; r++) {
        sum->read[r] += more->read[r];
        sum->written[r] += more->written[r];
    }
}

bool tw_traffic_equal(const tw_traffic *a, const tw_traffic *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}
