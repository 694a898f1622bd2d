/* Blocks of pixels to channels or batches, and back. */
#include "import/batches.h"
#include "import/tflite/tflite.h"

static bool blocks(tw_tfl_node *n, const char *op, int32_t block)
{
    tw_value *x = tw_tfl_in(n, 0);
    return x && tw_tfl_set(n, 0, tw_build1(n->b, op, x, TW_SETTINGS(tw_set_int("block", block))));
}

bool tw_tfl_op_space_to_depth(tw_tfl_node *n)
{
    return blocks(n, "SpaceToDepth", tw_tfl_int(n, TW_FIELD(SpaceToDepth, block_size), 0));
}

bool tw_tfl_op_depth_to_space(tw_tfl_node *n)
{
    return blocks(n, "DepthToSpace", tw_tfl_int(n, TW_FIELD(DepthToSpace, block_size), 0));
}

static bool read_batches(tw_tfl_node *n, const char *what, tw_batches *batches)
{
    tw_tfl_list block;
    if (!tw_tfl_list_in(n, 1, "the blocks", &block) || !tw_tfl_known(n, 2, what))
        return false;
    *batches = (tw_batches){block.count, block.v, tw_tfl_in(n, 2)};
    return true;
}

bool tw_tfl_op_space_to_batch_nd(tw_tfl_node *n)
{
    tw_batches batches;
    tw_value *x = tw_tfl_in(n, 0);
    return x && read_batches(n, "the paddings", &batches) &&
           tw_tfl_set(n, 0, tw_build_space_to_batch(n->b, n->op, x, &batches));
}

bool tw_tfl_op_batch_to_space_nd(tw_tfl_node *n)
{
    tw_batches batches;
    tw_value *x = tw_tfl_in(n, 0);
    return x && read_batches(n, "the crops", &batches) &&
           tw_tfl_set(n, 0, tw_build_batch_to_space(n->b, n->op, x, &batches));
}
