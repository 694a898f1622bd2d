/* Requantize: record. Both quantisations say how. */
#include <math.h>

#include "ops/quantize.h"

#include "ops/ledger.h"
#include "ops/scales.h"

TW_ATTRIBUTE_TABLE(requantize, TW_REQUANTIZE_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_requantize_attributes *a = call->attributes;
    tw_shape_default(call);
    call->out[0].dtype = (tw_dtype)a->dtype;
    if (!tw_is_quantised_type(call->in[0]->shape.dtype) ||
        !tw_is_quantised_type((tw_dtype)a->dtype))
        return TW_SHAPE_UNSUPPORTED(call, "%s to %s; s8, u8, s16, u16 and s32 are supported",
                                    tw_dtype_name(call->in[0]->shape.dtype),
                                    tw_dtype_name((tw_dtype)a->dtype));
    return true;
}

/* A left shift must not lose bits of the largest difference from the zero point. */
static bool shifts_fit(const tw_node *node, const tw_lowering *lowering, tw_diag *diag)
{
    const tw_requantize_attributes *a = node->attributes;
    const tw_scale_table *table = lowering->blob[0].data;
    const tw_scale_row *rows = (const tw_scale_row *)(const void *)(table + 1);
    unsigned bits = 8 * tw_dtype_bytes(node->in[0]->shape.dtype);
    for (int i = 0; i < table->count; i++)
        if (a->rounding == TW_REQUANTIZE_TFLITE && rows[i].in_scale != rows[i].out_scale &&
            rows[i].shift > 0 && (int)bits + rows[i].shift > 31)
            return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                           "from scale %g to %g, 32 bits do not hold the larger numbers; use "
                           "rounding half_even",
                           (double)rows[i].in_scale, (double)rows[i].out_scale);
    return true;
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    return tw_lower_scales(node, TW_SIG_any, arena, lowering, diag) &&
           shifts_fit(node, lowering, diag);
}

/* clang-format off */
static const char samples[] =
    TW_SAMPLE("s8", "s8[1,7,5,3] quant(scale=0.05, zero=-4)", "-128", "128",
              " : s8[1,7,5,3] quant(scale=0.04, zero=3)", "Requantize (%x)")
    TW_SAMPLE("u8", "s8[1,7,5,3] quant(scale=0.05, zero=-4)", "-128", "128",
              " : u8[1,7,5,3] quant(scale=0.04, zero=99)",
              "Requantize (%x) {dtype=u8, rounding=half_even}");
/* clang-format on */

const tw_opdef tw_op_requantize = {
    TW_OP_LEDGER(requantize),
    TW_OP_ATTRIBUTES(requantize),
    .formula = "round((x - zero_in) * scale_in / scale_out) + zero_out, within `dtype`",
    .min_in = 1,
    .max_in = 1,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .lower = lower,
    .limits = "between s8, u8, s16, u16, s32 (zero point 0)",
    .samples = samples,
    .onnx = "",
};
