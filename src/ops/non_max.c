/* NonMaxSuppression: record. Everything is needed whole. */
#include "ops/non_max.h"

#include <math.h>

#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(non_max, TW_NON_MAX_ATTRIBUTES);

static bool is_one(const tw_value *v, tw_dtype dtype)
{
    return !v ||
           (v->shape.dtype == dtype && v->shape.rank <= 1 && tw_shape_elements(&v->shape) == 1);
}

static bool shape(const tw_shape_call *call)
{
    const tw_non_max_attributes *a = call->attributes;
    const tw_shape *x = &call->in[0]->shape, *s = &call->in[1]->shape;
    if (x->dtype != TW_F32 || s->dtype != TW_F32)
        return TW_SHAPE_UNSUPPORTED(call, "operands of %s and %s; put Dequantize before them",
                                    tw_dtype_name(x->dtype), tw_dtype_name(s->dtype));
    if (x->rank != 3 || s->rank != 3 || x->dim[0] != s->dim[0] || x->dim[1] != s->dim[2] ||
        x->dim[2] != 4)
        return TW_SHAPE_FAIL(call, "boxes [B, N, 4] and scores [B, C, N] must agree");
    for (int i = 2; i < call->in_count; i++)
        if (!is_one(call->in[i], i == 2 ? TW_S64 : TW_F32))
            return TW_SHAPE_FAIL(call, "operand %d must be one element of %s", i,
                                 i == 2 ? "s64" : "f32");
    const int32_t dim[2] = {a->most, 3}, one[1] = {1};
    call->out[0] = tw_shape_of(TW_S64, 2, dim);
    if (call->out_count > 1)
        call->out[1] = tw_shape_of(TW_S64, 1, one);
    return true;
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    (void)arena;
    if (node->clamp.low > -INFINITY || node->clamp.high < INFINITY)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "it has no clamp; put Clip behind it");
    lowering->kernel = node->op->kernels[0];
    lowering->scratch = (uint32_t)node->in[0]->shape.dim[1];
    return true;
}

/* clang-format off */
#define SAMPLE(title, attributes, more, operands)                                                  \
    "graph \"" title "\" {\n  const %x : f32[2,7,4] = random 1 0 1\n"                              \
    "  const %s : f32[2,3,7] = random 2 0 1\n" more                                                \
    "  %y : s64[9,3], %n : s64[1] = NonMaxSuppression (%x, %s" operands ") {most=9" attributes     \
    "}\n  output %y\n  output %n\n}\n"
static const char samples[] =
    SAMPLE("corners", "", "", "")
    SAMPLE("limited", "", "  const %k : s64[1] = [2]\n  const %o : f32[] = [0.4]\n  const %t : f32[1] = [0.3]\n", ", %k, %o, %t")
    SAMPLE("centres", ", centre=1", "  const %o : f32[1] = [0.1]\n", ", _, %o");
/* clang-format on */

const tw_opdef tw_op_non_max = {
    TW_OP_LEDGER(non_max),
    TW_OP_ATTRIBUTES(non_max),
    .formula = "places of boxes that no better box of their class overlaps, and how many they are",
    .min_in = 2,
    .max_in = 5,
    .min_out = 1,
    .max_out = 2,
    .shape = shape,
    .rows = tw_rows_at_once,
    .final_output = tw_final_but_first,
    .lower = lower,
    .limits = "f32; room for 2^20 boxes",
    .samples = samples,
    .onnx = "",
};
