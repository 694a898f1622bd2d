/* Lrn: record. */
#include "ops/lrn.h"

#include "ops/axes.h"
#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(lrn, TW_LRN_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_lrn_attributes *a = call->attributes;
    if (tw_shape_axis(call, a->axis) < 0)
        return false;
    if (call->in[0]->shape.dtype != TW_F32)
        return TW_SHAPE_UNSUPPORTED(call, "x is %s; convert it to f32",
                                    tw_dtype_name(call->in[0]->shape.dtype));
    return tw_shape_default(call);
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_lrn_attributes *a = node->attributes;
    return tw_rows_along(node, input, axis, a->axis);
}

static uint64_t macs(const tw_node *node)
{
    const tw_lrn_attributes *a = node->attributes;
    const tw_shape *x = &node->in[0]->shape;
    int32_t n = x->dim[tw_axis(a->axis, x->rank)];
    return n == 0 ? 0 : (uint64_t)tw_shape_elements(x) / (uint64_t)n * tw_lrn_reads(a->size, n);
}

/* clang-format off */
static const char samples[] =
    TW_SAMPLE("channel", "f32[1,6,5,8]", "-4", "4", "", "Lrn (%x) {size=5, alpha=0.2}")
    TW_SAMPLE("even", "f32[1,12,3]", "-4", "4", "", "Lrn (%x) {axis=1, size=4, alpha=0.1, beta=0.5}")
    TW_SAMPLE("long", "f32[3,4]", "-4", "4", "", "Lrn (%x) {size=100, bias=2}");
/* clang-format on */

const tw_opdef tw_op_lrn = {
    TW_OP_LEDGER(lrn),
    TW_OP_ATTRIBUTES(lrn),
    .formula = "x / (bias + alpha * sum of x * x around it along `axis`)^beta",
    .min_in = 1,
    .max_in = 1,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .macs = macs,
    .limits = "f32",
    .samples = samples,
    .onnx = "",
};
