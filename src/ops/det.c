/* Det: record. */
#include "ops/elementwise.h"
#include "ops/ledger.h"

static bool shape(const tw_shape_call *call)
{
    const tw_shape *x = &call->in[0]->shape;
    if (x->rank < 2 || x->dim[x->rank - 1] != x->dim[x->rank - 2])
        return TW_SHAPE_FAIL(call, "the last two axes must be a square matrix");
    if (x->dim[x->rank - 1] > 1024)
        return TW_SHAPE_UNSUPPORTED(call, "a matrix of %d rows; at most 1024 are supported",
                                    (int)x->dim[x->rank - 1]);
    call->out[0] = *x;
    call->out[0].rank = x->rank - 2;
    return true;
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    (void)input;
    return axis < node->out[0]->shape.rank ? tw_rows_identity() : tw_rows_whole();
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_shape *x = &node->in[0]->shape;
    const uint32_t n = (uint32_t)x->dim[x->rank - 1];
    (void)arena;
    lowering->scratch = n * n * 4u;
    return tw_lower_plain(node, lowering, diag);
}

/* clang-format off */
static const char samples[] =
    TW_SAMPLE("one", "f32[4,4]", "-2", "2", "", "Det (%x)")
    TW_SAMPLE("many", "f32[1,6,3,3]", "-2", "2", "", "Det (%x)");
/* clang-format on */

const tw_opdef tw_op_det = {
    TW_OP_LEDGER(det),  .formula = "determinant of each matrix x[.., :, :]",
    .min_in = 1,        .max_in = 1,
    .min_out = 1,       .max_out = 1,
    .shape = shape,     .rows = rows,
    .lower = lower,     .limits = "f32; at most 1024 rows",
    .samples = samples, .onnx = "Det",
};
