/* Tile: record. */
#include "ops/tile.h"

#include "ops/ledger.h"
#include "ops/moved.h"

TW_ATTRIBUTE_TABLE(tile, TW_TILE_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_tile_attributes *a = call->attributes;
    const tw_shape *x = &call->in[0]->shape;
    if (a->repeats.count != 0 && a->repeats.count != x->rank)
        return TW_SHAPE_FAIL(call, "%d numbers of copies for %d axes", (int)a->repeats.count,
                             x->rank);
    call->out[0] = *x;
    for (int k = 0; k < a->repeats.count; k++) {
        int64_t extent = (int64_t)x->dim[k] * a->repeats.v[k];
        if (extent > INT32_MAX)
            return TW_SHAPE_UNSUPPORTED(call,
                                        "axis %d of the result has %lld elements; at most %d "
                                        "are supported",
                                        k, (long long)extent, INT32_MAX);
        call->out[0].dim[k] = (int32_t)extent;
    }
    return tw_shape_is_storable(call, 0);
}

/* clang-format off */
static const char samples[] =
    TW_SAMPLE("spread", "f32[1,1,1,3]", "-3", "3", "", "Tile (%x) {repeats=[1,5,4,1]}")
    TW_SAMPLE("last", "s16[1,6,1]", "-99", "99", "", "Tile (%x) {repeats=[1,1,7]}")
    TW_SAMPLE("copies", "s8[1,3,2]", "-128", "128", "", "Tile (%x) {repeats=[1,2,3]}")
    TW_SAMPLE("rows", "s64[2,3]", "-99", "99", "", "Tile (%x) {repeats=[3,1]}");
/* clang-format on */

const tw_opdef tw_op_tile = {
    TW_OP_LEDGER(tile),
    TW_OP_ATTRIBUTES(tile),
    .formula = "out[i] = x[i mod extent] on every axis",
    .min_in = 1,
    .max_in = 1,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .lower = tw_lower_moved,
    .limits = "every type; rows pass where the band axis is not copied",
    .samples = samples,
    .onnx = "",
};
