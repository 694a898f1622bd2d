/* DepthToSpace and SpaceToDepth: records. */
#include "ops/depth_space.h"

#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(depth_space, TW_DEPTH_SPACE_ATTRIBUTES);

static bool is_image(const tw_shape_call *call)
{
    int rank = call->in[0]->shape.rank;
    return rank == 4 || TW_SHAPE_FAIL(call, "the input has rank %d, not 4", rank);
}

static bool check_extents(const tw_shape_call *call)
{
    for (int k = 1; k < 4; k++)
        if (call->out[0].dim[k] < 0)
            return TW_SHAPE_UNSUPPORTED(call, "axis %d of the result is too long", k);
    return true;
}

/* factor times block, -1 where that does not fit. */
static int32_t times(int32_t extent, int64_t factor)
{
    return extent * factor <= INT32_MAX ? (int32_t)(extent * factor) : -1;
}

static bool shape_to_space(const tw_shape_call *call)
{
    const tw_depth_space_attributes *a = call->attributes;
    const tw_shape *x = &call->in[0]->shape;
    if (!is_image(call))
        return false;
    int64_t square = (int64_t)a->block * a->block;
    if (x->dim[3] % square != 0)
        return TW_SHAPE_FAIL(call, "%d channels do not divide by %lld, a block's pixels",
                             (int)x->dim[3], (long long)square);
    call->out[0] = *x;
    call->out[0].dim[1] = times(x->dim[1], a->block);
    call->out[0].dim[2] = times(x->dim[2], a->block);
    call->out[0].dim[3] = (int32_t)(x->dim[3] / square);
    return check_extents(call);
}

static bool shape_to_depth(const tw_shape_call *call)
{
    const tw_depth_space_attributes *a = call->attributes;
    const tw_shape *x = &call->in[0]->shape;
    if (!is_image(call))
        return false;
    if (x->dim[1] % a->block != 0 || x->dim[2] % a->block != 0)
        return TW_SHAPE_FAIL(call, "%d rows and %d columns do not divide into blocks of %d",
                             (int)x->dim[1], (int)x->dim[2], (int)a->block);
    call->out[0] = *x;
    call->out[0].dim[1] = x->dim[1] / a->block;
    call->out[0].dim[2] = x->dim[2] / a->block;
    call->out[0].dim[3] = times(x->dim[3], (int64_t)a->block * a->block);
    return check_extents(call);
}

static tw_rowmap rows_to_space(const tw_node *node, int input, int axis)
{
    const tw_depth_space_attributes *a = node->attributes;
    (void)input;
    return axis == 0  ? tw_rows_identity()
           : axis < 3 ? tw_rows_mapped(a->block, 1, 0, 0)
                      : tw_rows_whole();
}

static tw_rowmap rows_to_depth(const tw_node *node, int input, int axis)
{
    const tw_depth_space_attributes *a = node->attributes;
    (void)input;
    return axis == 0  ? tw_rows_identity()
           : axis < 3 ? tw_rows_mapped(1, a->block, 0, 0)
                      : tw_rows_whole();
}

/* clang-format off */
#define SAMPLES(Name)                                                                              \
    TW_SAMPLE("f32", "f32[1,6,4,12]", "-3", "3", "", Name " (%x) {block=2}")                       \
    TW_SAMPLE("s8", "s8[2,3,6,18]", "-128", "128", "", Name " (%x) {block=3, order=channel_first}") \
    TW_SAMPLE("s16", "s16[1,2,4,8]", "-99", "99", "", Name " (%x) {block=2, order=channel_first}")
/* clang-format on */

#define RECORD(symbol, name, direction, formula_text)                                              \
    const tw_opdef tw_op_##symbol = {                                                              \
        TW_OP_LEDGER(symbol),                                                                      \
        TW_OP_ATTRIBUTES(depth_space),                                                             \
        .formula = formula_text,                                                                   \
        .min_in = 1,                                                                               \
        .max_in = 1,                                                                               \
        .min_out = 1,                                                                              \
        .max_out = 1,                                                                              \
        .shape = shape_##direction,                                                                \
        .rows = rows_##direction,                                                                  \
        .limits = "rank 4; blocks of at most 16384 pixels in each direction",                      \
        .samples = SAMPLES(name),                                                                  \
        .onnx = "",                                                                                \
    }

RECORD(depth_to_space, "DepthToSpace", to_space, "channels become blocks of pixels");
RECORD(space_to_depth, "SpaceToDepth", to_depth, "blocks of pixels become channels");
