/* Copy: the same elements elsewhere, with other strides. What comes in goes out; the planner puts
 * one where a tensor must change its place or its layout in memory. */
#include "ops/ledger.h"

/* clang-format off */
static const char samples[] =
    TW_SAMPLE("f32", "f32[1,7,5,3]", "-3", "3", "", "Copy (%x)")
    TW_SAMPLE("s16", "s16[2,3,4]", "-99", "99", "", "Copy (%x)");
/* clang-format on */

const tw_opdef tw_op_copy = {
    TW_OP_LEDGER(copy), .formula = "out = x", .min_in = 1,        .max_in = 1, .min_out = 1,
    .max_out = 1,       .limits = "",         .samples = samples, .onnx = "",
};
