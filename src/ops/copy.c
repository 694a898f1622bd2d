/* Copy: the same elements elsewhere, with other strides. What comes in goes out; the planner puts
 * one where a tensor must change its place or its layout in memory. */
#include "ops/ledger.h"

const tw_opdef tw_op_copy = {
    TW_OP_LEDGER(copy), .formula = "out = x", .min_in = 1,  .max_in = 1,
    .min_out = 1,       .max_out = 1,         .limits = "", .onnx = "",
};
