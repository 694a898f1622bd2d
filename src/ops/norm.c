/* Normalisation over axes: records of norm.def. */
#include "ops/norm.h"

#include "ops/axes.h"
#include "ops/elementwise.h"
#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(norm, TW_NORM_ATTRIBUTES);

static bool broadcasts(const tw_shape *operand, const tw_shape *x)
{
    int missing = x->rank - operand->rank;
    for (int k = 0; missing >= 0 && k < operand->rank; k++)
        if (operand->dim[k] != 1 && operand->dim[k] != x->dim[k + missing])
            return false;
    return missing >= 0;
}

static bool shape(const tw_shape_call *call)
{
    static const char *const names[] = {"x", "scale", "bias"};
    const tw_norm_attributes *a = call->attributes;
    const tw_shape *x = &call->in[0]->shape;
    tw_norm_axes n;
    if (tw_axis_mask(&a->axes, x->rank) < 0)
        return TW_SHAPE_FAIL(call, "axes must name axes of a tensor of rank %d, each once",
                             x->rank);
    if (!tw_norm_resolve(a, x->rank, x->dim, &n))
        return TW_SHAPE_UNSUPPORTED(call, "the tensor has too many groups; split it");
    for (int i = 0; i < call->in_count && i < 3; i++) {
        const tw_value *in = call->in[i];
        if (!in)
            continue;
        if (in->shape.dtype != TW_F32 && (i > 0 || in->shape.dtype != TW_S8))
            return TW_SHAPE_UNSUPPORTED(call, "%s is %s; convert it to f32", names[i],
                                        tw_dtype_name(in->shape.dtype));
        if (!broadcasts(&in->shape, x))
            return TW_SHAPE_FAIL(call, "%s does not broadcast to x: its extents must be x's or 1",
                                 names[i]);
    }
    return tw_shape_default(call);
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_shape *x = &node->in[0]->shape;
    tw_norm_axes n;
    bool along = axis >= x->rank || !tw_norm_resolve(node->attributes, x->rank, x->dim, &n) ||
                 axis >= n.first;
    if (input > 0)
        return along ? tw_rows_whole() : tw_rows_broadcast(node, input, axis);
    return along ? tw_rows_once() : tw_rows_identity();
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_shape *x = &node->in[0]->shape;
    tw_norm_axes n;
    if (!tw_lower_default(node, arena, lowering, diag) ||
        !tw_norm_resolve(node->attributes, x->rank, x->dim, &n))
        return false;
    const bool stored = x->dtype == TW_S8;
    if (stored && (node->in[0]->quant.count != 1 || node->out[0]->quant.count != 1 ||
                   n.groups > INT32_MAX / TW_NORM_S8_GROUP_BYTES))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "s8 needs one scale for x and one for the result, and at most %d groups at "
                       "the same time",
                       INT32_MAX / TW_NORM_S8_GROUP_BYTES);
    lowering->scratch =
        (uint32_t)n.groups * (stored ? TW_NORM_S8_GROUP_BYTES : TW_NORM_GROUP_BYTES);
    return true;
}

/* A group is read to its end before its first result is written. */
static bool in_place(const tw_node *node, int input)
{
    (void)node;
    return input == 0;
}

/* clang-format off */
#define OVER_CHANNELS(Name)                                                                        \
    TW_SAMPLE("channel", "f32[1,6,5,8]", "-4", "4", "", Name " (%x) {axes=[-1], epsilon=0.001}")
#define OVER_SPACE(Name)                                                                           \
    TW_SAMPLE("space", "f32[1,5,4,3]", "-4", "4", "", Name " (%x) {axes=[1,2], epsilon=0.001}")
#define OVER_ALL(Name)                                                                             \
    TW_SAMPLE("all", "f32[3,2,4]", "-4", "4", "", Name " (%x) {epsilon=0.001}")
#define SCALED(Name)                                                                               \
    "graph \"scaled\" {\n"                                                                         \
    "  const %x : f32[1,7,2,6] = random 1 -4 4\n"                                                  \
    "  const %scale : f32[2,1] = random 2 -2 2\n"                                                  \
    "  const %bias : f32[1,7,1,6] = random 3 -1 1\n"                                               \
    "  %y = " Name " (%x, %scale, %bias) {axes=[-1], epsilon=0.001}\n  output %y\n}\n"
#define STORED(Name)                                                                               \
    "graph \"s8\" {\n"                                                                            \
    "  const %x : s8[1,5,4,6] quant(scale=0.04, zero=-9) = random 1 -128 128\n"                    \
    "  const %scale : f32[4,1] = random 2 -2 2\n"                                                  \
    "  const %bias : f32[6] = random 3 -1 1\n"                                                     \
    "  %y : s8[1,5,4,6] quant(scale=0.02, zero=5) = " Name                                          \
    " (%x, %scale, %bias) {axes=[-1], epsilon=0.001}\n  output %y\n}\n"                           \
    "graph \"s8 space\" {\n"                                                                      \
    "  const %x : s8[1,5,4,3] quant(scale=0.04, zero=20) = random 1 -128 128\n"                    \
    "  %y : s8[1,5,4,3] quant(scale=0.02, zero=0) = " Name                                          \
    " (%x) {axes=[1,2], epsilon=0.001}\n  output %y\n}\n"
/* clang-format on */

#define TW_NORM(code, Name, symbol, CENTRED, TERMS, text, factor)                                  \
    static const char symbol##_samples[] =                                                         \
        OVER_CHANNELS(#Name) OVER_SPACE(#Name) OVER_ALL(#Name) SCALED(#Name) STORED(#Name);        \
    const tw_opdef tw_op_##symbol = {                                                              \
        TW_OP_LEDGER(symbol),                                                                      \
        TW_OP_ATTRIBUTES(norm),                                                                    \
        .formula = text,                                                                           \
        .min_in = 1,                                                                               \
        .max_in = 3,                                                                               \
        .min_out = 1,                                                                              \
        .max_out = 1,                                                                              \
        .shape = shape,                                                                            \
        .rows = rows,                                                                              \
        .lower = lower,                                                                            \
        .in_place = in_place,                                                                      \
        .limits = "f32; s8 with one scale a tensor, scale and bias f32",                           \
        .samples = symbol##_samples,                                                               \
        .onnx = "",                                                                                \
    };
#include "ops/norm.def"
