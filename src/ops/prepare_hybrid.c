/* The table of operators on floats with int8 weights. */
#include <math.h>

#include "ops/hybrid.h"
#include "ops/prepare.h"

bool tw_is_hybrid(const tw_node *node)
{
    return node->in[0]->shape.dtype == TW_F32 && node->in[1]->shape.dtype == TW_S8;
}

bool tw_prepare_hybrid(const tw_node *node, int32_t channels, int axis, int64_t scratch,
                       tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_value *w = node->in[1];
    const tw_quant *q = &w->quant;
    bool ok = w->data && (q->count == 1 || (q->count == channels && q->axis == axis));
    for (int i = 0; ok && i < q->count; i++)
        ok = q->zero_point[i] == 0 && q->scale[i] > 0 && isfinite(q->scale[i]);
    if (!ok)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "s8 weights of f32 activations must be constant and symmetric, with one "
                       "scale or one an output channel");
    if (scratch > INT32_MAX)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "the input has %lld elements, which must be held as int8 at once; "
                       "dequantise the weights",
                       (long long)scratch);
    uint32_t bytes = (uint32_t)(sizeof(tw_hybrid_table) + (size_t)channels * sizeof(float));
    tw_hybrid_table *table = tw_alloc(arena, bytes);
    *table = (tw_hybrid_table){channels, q->count > 1};
    float *scale = (float *)(void *)(table + 1);
    for (int32_t c = 0; c < channels; c++)
        scale[c] = q->scale[q->count > 1 ? c : 0];
    lowering->kernel = tw_op_kernel(node->op, TW_SIG_f32w8);
    lowering->blob_count = 1;
    lowering->blob[0].data = table;
    lowering->blob[0].bytes = bytes;
    lowering->scratch = (uint32_t)scratch;
    tw_lower_clamp(node, lowering);
    return true;
}
