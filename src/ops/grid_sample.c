/* GridSample: record. A place may be anywhere: x is needed whole, the grid row by row. */
#include "ops/grid_sample.h"

#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(grid_sample, TW_GRID_SAMPLE_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_shape *x = &call->in[0]->shape, *grid = &call->in[1]->shape;
    if (x->rank < 3 || x->rank > 5)
        return TW_SHAPE_UNSUPPORTED(call, "an input of rank %d; 3 to 5 are supported", x->rank);
    if (x->dtype != TW_F32 || grid->dtype != TW_F32)
        return TW_SHAPE_UNSUPPORTED(call, "%s sampled by %s; both must be f32",
                                    tw_dtype_name(x->dtype), tw_dtype_name(grid->dtype));
    if (grid->rank != x->rank || grid->dim[grid->rank - 1] != x->rank - 2 ||
        grid->dim[0] != x->dim[0])
        return TW_SHAPE_FAIL(call,
                             "the grid has rank %d, a batch of %d and %d numbers a place; it "
                             "needs %d, %d and %d",
                             grid->rank, (int)grid->dim[0],
                             grid->rank > 0 ? (int)grid->dim[grid->rank - 1] : 0, x->rank,
                             (int)x->dim[0], x->rank - 2);
    for (int k = 1; k < x->rank - 1; k++)
        if (x->dim[k] < 1 || x->dim[k] > 1 << 24)
            return TW_SHAPE_UNSUPPORTED(call, "spatial axis %d of x has %d elements", k - 1,
                                        (int)x->dim[k]);
    call->out[0] = *grid;
    call->out[0].dim[grid->rank - 1] = x->dim[x->rank - 1];
    return true;
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    int rank = node->in[0]->shape.rank;
    if (axis == 0 || (input == 1 && axis < rank - 1))
        return tw_rows_identity();
    return tw_rows_whole();
}

#define SAMPLE(title, x, grid, attributes)                                                         \
    "graph \"" title "\" {\n"                                                                      \
    "  const %x : f32" x " = random 1 -1 1\n"                                                      \
    "  const %g : f32" grid " = random 2 -1.4 1.4\n"                                               \
    "  %y = GridSample (%x, %g) {" attributes "}\n"                                                \
    "  output %y\n}\n"

const tw_opdef tw_op_grid_sample = {
    TW_OP_LEDGER(grid_sample),
    TW_OP_ATTRIBUTES(grid_sample),
    .formula = "x sampled at the places of the grid",
    .min_in = 2,
    .max_in = 2,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .limits = "f32; one to three spatial axes",
    .samples = SAMPLE("linear", "[1,5,6,3]", "[1,7,4,2]", "")
        SAMPLE("cubic, mirrored", "[2,5,4,2]", "[2,3,4,2]", "mode=cubic, padding=reflection")
            SAMPLE("nearest, border", "[1,6,3]", "[1,9,1]",
                   "mode=nearest, padding=border, align_corners=1")
                SAMPLE("three axes", "[1,3,4,2,3]", "[1,4,2,3,3]", "padding=border"),
    .onnx = "",
};
