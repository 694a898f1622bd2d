/* Lut: record, and the tables of unary operators on 8-bit types. */
#include "ops/lut.h"

#include <math.h>

#include "ops/elementwise.h"
#include "ops/ledger.h"
#include "ops/lut_fixed.h"
#include "runtime/fixed.h"
#include "runtime/math.h"

static bool is_byte(tw_dtype dtype)
{
    return dtype == TW_S8 || dtype == TW_U8;
}

/* The stored result for stored value q less its zero point: dequantise, apply, multiply by the
 * scale's reciprocal, round half away from zero, add the zero point, clamp. All in float32, as
 * TFLite fills its tables. What the function does not define (NaN) is stored as zero. */
static int32_t stored_result(const tw_node *node, const tw_lowering *l, int32_t q)
{
    const tw_value *out = node->out[0];
    float y = node->op->scalar(node->in[0]->quant.scale[0] * (float)q, node->attributes);
    return tw_store_whole(tw_roundf(y * (1.0f / out->quant.scale[0])), out->quant.zero_point[0],
                          l->clamp_low.s32, l->clamp_high.s32);
}

/* table[stored x taken as unsigned]. */
static void fill_table(const tw_node *node, const tw_lowering *l, uint8_t table[TW_LUT_SIZE])
{
    const tw_value *in = node->in[0];
    const tw_fixed_unary fixed = tw_fixed_unary_of(node);
    for (int i = 0; i < TW_LUT_SIZE; i++) {
        int32_t q = (in->shape.dtype == TW_S8 ? (int8_t)i : i) - in->quant.zero_point[0];
        int32_t y = fixed ? tw_clamp_s32(fixed(q, node) + node->out[0]->quant.zero_point[0],
                                         l->clamp_low.s32, l->clamp_high.s32)
                          : stored_result(node, l, q);
        table[i] = (uint8_t)y;
    }
}

bool tw_lower_table(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_value *in = node->in[0], *out = node->out[0];
    if (in->shape.dtype == TW_F32)
        return tw_lower_default(node, arena, lowering, diag);
    if (in->shape.dtype == TW_S16 && in->quant.count > 0)
        return tw_lower_table_s16(node, arena, lowering, diag);
    if (!is_byte(in->shape.dtype) || in->quant.count == 0)
        return tw_lower_plain(node, lowering, diag);
    if (in->quant.count != 1 || out->quant.count != 1)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "on %s it needs one scale for the input and one for the result (they have "
                       "%d and %d)",
                       tw_dtype_name(in->shape.dtype), in->quant.count, out->quant.count);
    lowering->kernel = &tw_k_lut_s8;
    tw_lower_clamp(node, lowering);
    uint8_t *table = tw_alloc(arena, TW_LUT_SIZE);
    fill_table(node, lowering, table);
    lowering->blob_count = 1;
    lowering->blob[0].data = table;
    lowering->blob[0].bytes = TW_LUT_SIZE;
    return true;
}

/* ---- the operator ---- */

static bool shape(const tw_shape_call *call)
{
    const tw_shape *x = &call->in[0]->shape, *table = &call->in[1]->shape;
    if (!is_byte(x->dtype) || !is_byte(table->dtype))
        return TW_SHAPE_UNSUPPORTED(call, "x and table must be s8 or u8, not %s and %s",
                                    tw_dtype_name(x->dtype), tw_dtype_name(table->dtype));
    if (table->rank != 1 || table->dim[0] != TW_LUT_SIZE)
        return TW_SHAPE_FAIL(call, "the table must have shape [%d]", TW_LUT_SIZE);
    call->out[0] = *x;
    call->out[0].dtype = table->dtype;
    return true;
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    (void)node, (void)axis;
    return input == 0 ? tw_rows_identity() : tw_rows_whole();
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    (void)arena;
    if (!node->in[1]->data)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "the table must be constant");
    if (node->clamp.low > -INFINITY || node->clamp.high < INFINITY)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "no clamp on a table; clamp its entries");
    lowering->kernel = &tw_k_lut_s8;
    return true;
}

static bool in_place(const tw_node *node, int input)
{
    return input == 0 && tw_in_place_elementwise(node, input);
}

const tw_opdef tw_op_lut = {
    TW_OP_LEDGER(lut),
    .formula = "out[i] = table[x[i]], x's byte taken as unsigned",
    .min_in = 2,
    .max_in = 2,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .lower = lower,
    .in_place = in_place,
    .limits = "s8 and u8; the table is constant",
    .samples = "graph \"s8\" {\n"
               "  const %x : s8[1,7,5,3] = random 1 -128 128\n"
               "  const %t : s8[256] = random 2 -128 128\n"
               "  %y = Lut (%x, %t)\n"
               "  output %y\n"
               "}\n",
    .onnx = "",
};
