/* Blocks of pixels to channels and back. */
#include <string.h>

#include "import/onnx/onnx.h"

static bool blocks(tw_onnx_node *n, const char *op, const char *order)
{
    int64_t block = tw_onnx_int(n, "blocksize", 0);
    if (n->in[0]->shape.rank != 4)
        return TW_ONNX_FAIL(n, "the input has rank %d, not 4", n->in[0]->shape.rank);
    if (block < 1)
        return TW_ONNX_FAIL(n, "blocksize is %lld; it must be at least 1", (long long)block);
    tw_value *y = tw_build1(n->b, op, tw_build_channels_last(n->b, n->in[0]),
                            TW_SETTINGS(tw_set_int("block", block), tw_set_word("order", order)));
    return tw_onnx_bind(n, 0, tw_build_channels_first(n->b, y));
}

bool tw_onnx_op_depth_to_space(tw_onnx_node *n)
{
    const char *mode = tw_onnx_text(n, "mode", "DCR");
    if (strcmp(mode, "DCR") != 0 && strcmp(mode, "CRD") != 0)
        return TW_ONNX_FAIL(n, "mode is '%s'; DCR and CRD are possible", mode);
    return blocks(n, "DepthToSpace", strcmp(mode, "DCR") == 0 ? "block_first" : "channel_first");
}

bool tw_onnx_op_space_to_depth(tw_onnx_node *n)
{
    const char *mode = tw_onnx_text(n, "mode", "DCR"); /* from opset 28 on */
    if (strcmp(mode, "DCR") != 0 && strcmp(mode, "CRD") != 0)
        return TW_ONNX_FAIL(n, "mode is '%s'; DCR and CRD are possible", mode);
    return blocks(n, "SpaceToDepth", strcmp(mode, "DCR") == 0 ? "block_first" : "channel_first");
}
