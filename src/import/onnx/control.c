/* Control flow, as far as it is decided while importing. */
#include "import/onnx/onnx.h"

bool tw_onnx_op_if(tw_onnx_node *n)
{
    tw_value *condition = n->in[0];
    const Tw__Onnx__Attribute *yes = tw_onnx_attribute(n, "then_branch");
    const Tw__Onnx__Attribute *no = tw_onnx_attribute(n, "else_branch");
    if (!yes || !no || !yes->g || !no->g)
        return TW_ONNX_FAIL(n, "a branch is missing");
    if (tw_shape_elements(&condition->shape) != 1)
        return TW_ONNX_FAIL(n, "the condition must be one element");
    if (!tw_build_fixed(n->b, condition))
        return TW_ONNX_UNSUPPORTED(n,
                                   "the condition ('%s') is computed while the network runs; it "
                                   "must be constant",
                                   condition->name);
    return tw_onnx_branch(n, tw_constant_at(condition, 0) != 0 ? yes->g : no->g);
}
