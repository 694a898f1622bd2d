/* CumSum and CumProd: records. */
#include <math.h>
#include <stdlib.h>

#include "ops/cumulate.h"

#include "ops/axes.h"
#include "ops/elementwise.h"
#include "ops/ledger.h"
#include "ops/scale.h"

TW_ATTRIBUTE_TABLE(cumulate, TW_CUMULATE_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_cumulate_attributes *a = call->attributes;
    if (tw_shape_axis(call, a->axis) < 0)
        return false;
    return tw_shape_default(call);
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_cumulate_attributes *a = node->attributes;
    return tw_rows_along(node, input, axis, a->axis);
}

/* The largest a sum can become, in the input's steps. */
static double greatest_sum(const tw_cumulate_attributes *a, int32_t n, int32_t zero)
{
    double low = a->start + (double)n * (INT8_MIN - zero);
    double high = a->start + (double)n * (INT8_MAX - zero);
    return fmax(fmax(-low, high), abs(a->start));
}

/* The sum itself is exact; shifted left as far as TFLite does it (19), or as 32 bits allow, it is
 * rescaled once a result. */
static bool lower_s8(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_cumulate_attributes *a = node->attributes;
    const tw_value *in = node->in[0], *out = node->out[0];
    tw_cumulate_table *t = tw_alloc(arena, sizeof *t);
    if (node->op->code != TW_OPCODE_cum_sum)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "no kernel for s8 with scales; put Dequantize before it");
    if (in->quant.count != 1 || out->quant.count != 1)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "int8 input and result each need one scale and zero point");
    int32_t n = in->shape.dim[tw_axis(a->axis, in->shape.rank)];
    double ratio = (double)in->quant.scale[0] / (double)out->quant.scale[0];
    if (n > TW_CUMULATE_S8_MOST || !(ratio < 1 << 10) || !(ratio > 0x1p-20))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "%d int8 elements at a ratio of scales of %g; keep it in f32", (int)n,
                       ratio);
    t->left = 19;
    double greatest = greatest_sum(a, n, in->quant.zero_point[0]);
    while (t->left > 0 && ldexp(greatest, t->left) > 2147483647.0)
        t->left--;
    tw_quantize_multiplier(ldexp(ratio, -t->left), &t->multiplier, &t->shift);
    if (t->shift > 0) { /* a left shift could lose bits: leave that to the first one */
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "the result's scale %g is too small beside the input's %g for 32 bits",
                       (double)out->quant.scale[0], (double)in->quant.scale[0]);
    }
    lowering->kernel = &tw_k_cum_sum_s8;
    lowering->blob[0].data = t;
    lowering->blob[0].bytes = sizeof *t;
    lowering->blob_count = 1;
    tw_lower_clamp(node, lowering);
    return true;
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_cumulate_attributes *a = node->attributes;
    bool scaled = node->in[0]->quant.count || node->out[0]->quant.count;
    if (a->start != 0 && !(node->in[0]->shape.dtype == TW_S8 && scaled))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "a start other than 0 needs int8 with scales");
    return node->in[0]->shape.dtype == TW_S8 && scaled ? lower_s8(node, arena, lowering, diag)
                                                       : tw_lower_plain(node, lowering, diag);
}

/* A lane is read before it is written, element by element. */
static bool in_place(const tw_node *node, int input)
{
    (void)node;
    return input == 0;
}

/* clang-format off */
#define SAMPLES(Name)                                                                              \
    TW_SAMPLE("rows", "f32[1,7,3]", "-2", "2", "", Name " (%x) {axis=1}")                          \
    TW_SAMPLE("exclusive", "f32[1,5,6]", "-2", "2", "", Name " (%x) {axis=-1, exclusive=1}")       \
    TW_SAMPLE("reverse", "s32[2,5,3]", "-9", "9", "", Name " (%x) {axis=1, reverse=1}")            \
    TW_SAMPLE("both", "s64[1,4,5]", "-9", "9", "", Name " (%x) {axis=2, reverse=1, exclusive=1}")
#define RECORD(symbol, Name, text, limits_text, more_samples)                                                                 \
    const tw_opdef tw_op_##symbol = {                                                              \
        TW_OP_LEDGER(symbol),                                                                      \
        TW_OP_ATTRIBUTES(cumulate),                                                                \
        .formula = text,                                                                           \
        .min_in = 1,                                                                               \
        .max_in = 1,                                                                               \
        .min_out = 1,                                                                              \
        .max_out = 1,                                                                              \
        .shape = shape,                                                                            \
        .rows = rows,                                                                              \
        .lower = lower,                                                                            \
        .in_place = in_place,                                                                      \
        .limits = limits_text,                                                                     \
        .samples = SAMPLES(Name) more_samples,                                                                  \
        .onnx = "",                                                                                \
    }
/* clang-format on */

#define PLAIN "f32; s32, u32, s64, u64, which wrap around"
RECORD(cum_sum, "CumSum", "out[i] = sum of x[0..i] along `axis`",
       PLAIN "; s8 with one scale a tensor, at most 2^23 elements along the axis",
       TW_SAMPLE("s8", "s8[1,6,5] quant(scale=0.05, zero=-9)", "-128", "128",
                 " : s8[1,6,5] quant(scale=0.3, zero=4)", "CumSum (%x) {axis=2}")
           TW_SAMPLE("s8 from 9", "s8[1,6,5] quant(scale=0.05, zero=-9)", "-128", "128",
                     " : s8[1,6,5] quant(scale=0.3, zero=4)", "CumSum (%x) {axis=2, start=9}"));
RECORD(cum_prod, "CumProd", "out[i] = product of x[0..i] along `axis`", PLAIN, "");
