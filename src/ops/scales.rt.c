/* What Quantize, Dequantize and Requantize share on the device: the check of their table. */
#include "ops/quantize.h"
#include "runtime/elements.h"

static int is_zero_point(int32_t zero, uint32_t dtype)
{
    int32_t low = 0, high = 0; /* f32: none */
    if (dtype != TW_S32)       /* s32 has none either */
        tw_integer_limits(dtype, &low, &high);
    return zero >= low && zero <= high;
}

static int is_scale(float scale)
{
    return scale > 0.0f && scale <= 3.4e38f;
}

int tw_scale_table_ok(const tw_call *call)
{
    const tw_tensor *in = call->in[0].tensor, *out = call->out[0].tensor;
    const tw_scale_table *t;
    int32_t i, wanted;
    if (call->blob_count != 1 || call->blobs[0].bytes < sizeof *t)
        return 0;
    t = (const tw_scale_table *)call->blobs[0].data;
    if (t->axis < -1 || t->axis >= (int32_t)out->rank)
        return 0;
    wanted = t->axis < 0 ? 1 : out->dim[t->axis];
    if (t->count != wanted ||
        (uint64_t)wanted * sizeof(tw_scale_row) + sizeof *t != call->blobs[0].bytes)
        return 0;
    for (i = 0; i < wanted; i++) {
        const tw_scale_row *row = &tw_scale_rows(call)[i];
        if (!is_scale(row->in_scale) || !is_scale(row->out_scale) ||
            !is_zero_point(row->in_zero, in->dtype) || !is_zero_point(row->out_zero, out->dtype) ||
            row->multiplier < 0 || row->shift < -31 || row->shift > 30)
            return 0;
    }
    return 1;
}
