/* BitCast: record. Of elements of different sizes, the smaller ones have one axis more, the last, which
 * is as long as one of the larger ones. */
#include "ops/bit_cast.h"

#include <math.h>

#include "ops/ledger.h"
#include "ops/moved.h"

TW_ATTRIBUTE_TABLE(bit_cast, TW_BIT_CAST_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_bit_cast_attributes *a = call->attributes;
    const tw_shape *x = &call->in[0]->shape;
    tw_shape *out = &call->out[0];
    int32_t from = (int32_t)tw_dtype_bytes(x->dtype);
    int32_t to = (int32_t)tw_dtype_bytes((uint32_t)a->dtype);
    *out = *x;
    out->dtype = (tw_dtype)a->dtype;
    if (from > to) {
        if (x->rank == TW_MAX_RANK)
            return TW_SHAPE_UNSUPPORTED(call, "a result of rank %d; at most %d is supported",
                                        x->rank + 1, TW_MAX_RANK);
        out->dim[out->rank++] = from / to;
    } else if (from < to) {
        if (x->rank < 1 || x->dim[x->rank - 1] != to / from)
            return TW_SHAPE_FAIL(call,
                                 "the last axis must hold the %d elements of %s that make one "
                                 "of %s",
                                 (int)(to / from), tw_dtype_name(x->dtype),
                                 tw_dtype_name(out->dtype));
        out->rank--;
    }
    return tw_shape_is_storable(call, 0);
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    int x = node->in[input]->shape.rank, out = node->out[0]->shape.rank;
    return axis < (x < out ? x : out) ? tw_rows_identity() : tw_rows_whole();
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    (void)arena;
    if (node->clamp.low > -INFINITY || node->clamp.high < INFINITY)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "it has no clamp; put Clip behind it");
    lowering->kernel = &tw_k_bit_cast_any;
    return true;
}

static bool in_place(const tw_node *node, int input)
{
    return node->in[input]->shape.rank == node->out[0]->shape.rank;
}

/* clang-format off */
static const char samples[] =
    TW_SAMPLE("same", "f32[1,7,5]", "-3", "3", "", "BitCast (%x) {dtype=s32}")
    TW_SAMPLE("smaller", "s32[1,6,3]", "-99", "99", "", "BitCast (%x) {dtype=u8}")
    TW_SAMPLE("larger", "s16[6,2,4]", "-99", "99", "", "BitCast (%x) {dtype=s64}");
/* clang-format on */

const tw_opdef tw_op_bit_cast = {
    TW_OP_LEDGER(bit_cast),
    TW_OP_ATTRIBUTES(bit_cast),
    .formula = "the bytes of x, as elements of `dtype`",
    .min_in = 1,
    .max_in = 1,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .lower = lower,
    .in_place = in_place,
    .limits = "every type",
    .samples = samples,
    .onnx = "",
};
