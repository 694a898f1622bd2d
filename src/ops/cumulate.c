/* CumSum and CumProd: records. */
#include "ops/cumulate.h"

#include "ops/axes.h"
#include "ops/elementwise.h"
#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(cumulate, TW_CUMULATE_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_cumulate_attributes *a = call->attributes;
    int rank = call->in[0]->shape.rank;
    if (tw_axis(a->axis, rank) < 0)
        return TW_SHAPE_FAIL(call, "axis %d does not exist in a tensor of rank %d", (int)a->axis,
                             rank);
    return tw_shape_default(call);
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_cumulate_attributes *a = node->attributes;
    int rank = node->in[input]->shape.rank;
    return axis >= rank || tw_axis(a->axis, rank) == axis ? tw_rows_once() : tw_rows_identity();
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    (void)arena;
    return tw_lower_plain(node, lowering, diag);
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
#define RECORD(symbol, Name, text)                                                                 \
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
        .limits = "f32; s32, u32, s64, u64, which wrap around",                                    \
        .samples = SAMPLES(Name),                                                                  \
        .onnx = "",                                                                                \
    }
/* clang-format on */

RECORD(cum_sum, "CumSum", "out[i] = sum of x[0..i] along `axis`");
RECORD(cum_prod, "CumProd", "out[i] = product of x[0..i] along `axis`");
