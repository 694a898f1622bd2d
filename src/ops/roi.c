/* RoiAlign and MaxRoiPool: records. A region may be anywhere: x is needed whole, regions one by one. */
#include "ops/roi.h"

#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(roi, TW_ROI_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_roi_attributes *a = call->attributes;
    const tw_shape *x = &call->in[0]->shape, *regions = &call->in[1]->shape;
    const tw_shape *batches = call->in_count > 2 ? &call->in[2]->shape : NULL;
    int numbers = batches ? 4 : 5;
    if (x->rank != 4 || x->dtype != TW_F32 || regions->dtype != TW_F32)
        return TW_SHAPE_UNSUPPORTED(call, "x of rank %d and %s with regions of %s; rank 4 and f32",
                                    x->rank, tw_dtype_name(x->dtype),
                                    tw_dtype_name(regions->dtype));
    if (regions->rank != 2 || regions->dim[1] != numbers ||
        (batches &&
         (batches->dtype != TW_S64 || batches->rank != 1 || batches->dim[0] != regions->dim[0])))
        return TW_SHAPE_FAIL(call, "regions must be rows of %d numbers%s", numbers,
                             batches ? ", each with an s64 batch" : "");
    if (x->dim[1] < 1 || x->dim[2] < 1 || x->dim[1] > 1 << 24 || x->dim[2] > 1 << 24)
        return TW_SHAPE_UNSUPPORTED(call, "an image of %d by %d", (int)x->dim[1], (int)x->dim[2]);
    call->out[0] = *x;
    call->out[0].dim[0] = regions->dim[0];
    call->out[0].dim[1] = a->height;
    call->out[0].dim[2] = a->width;
    return true;
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    (void)node;
    return input > 0 && axis == 0 ? tw_rows_identity() : tw_rows_whole();
}

#define IMAGE(title) "graph \"" title "\" {\n  const %x : f32[2,7,6,3] = random 1 -1 1\n"
#define REGIONS "  const %r : f32[3,4] = [0, 0, 5, 6, 1.5, 2, 4, 3.25, -2, 3, 9, 12]\n"
#define BATCHES "  const %b : s64[3] = [0, 1, 1]\n"
#define ROI(attributes) "  %y = RoiAlign (%x, %r, %b) {height=3, width=2" attributes "}\n"

static const char align_samples[] =
    IMAGE("average") REGIONS BATCHES ROI(", samples=2, half_pixel=1") "  output %y\n}\n" //
    IMAGE("largest, by size") REGIONS BATCHES ROI(", mode=max, scale=0.8") "  output %y\n}\n";
static const char pool_samples[] =
    IMAGE("pool") "  const %r : f32[2,5] = [0, 0, 0, 5, 6, 1, 2, 1, 8, 3.5]\n"
                  "  %y = MaxRoiPool (%x, %r) {height=3, width=2, scale=0.9}\n  output %y\n}\n";

#define RECORD(symbol, operands, formula_text, sample_text)                                        \
    const tw_opdef tw_op_##symbol = {                                                              \
        TW_OP_LEDGER(symbol),                                                                      \
        TW_OP_ATTRIBUTES(roi),                                                                     \
        .formula = formula_text,                                                                   \
        .min_in = operands,                                                                        \
        .max_in = operands,                                                                        \
        .min_out = 1,                                                                              \
        .max_out = 1,                                                                              \
        .shape = shape,                                                                            \
        .rows = rows,                                                                              \
        .limits = "f32; outputs to 4096 by 4096, as many places a cell",                           \
        .samples = sample_text,                                                                    \
        .onnx = "",                                                                                \
    }

RECORD(roi_align, 3, "places of each region's cells, averaged", align_samples);
RECORD(max_roi_pool, 2, "the largest element of each region's cells", pool_samples);
