/* Images of other sizes, and sampled at places. Tensors are [N, C, spatial..]. */
#include <string.h>

#include "import/pytorch/torch.h"
#include "import/resize.h"

/* A mode, and how it takes places and rounds them. */
typedef struct tw_resize_way {
    const char *mode, *coordinates, *rounding;
} tw_resize_way;

/* Extents from a list of sizes, or from factors where it is None. */
static bool resize(tw_torch_call *c, const tw_resize_way *way, int factors)
{
    enum { sizes = 1 };
    tw_value *x = tw_build_channels_last(c->b, tw_torch_real_in(c, 0));
    tw_resizing r;
    if (!x || x->shape.rank < 3)
        return false;
    const int spatial = x->shape.rank - 2;
    tw_resizing_begin(&r, &x->shape);
    r.mode = way->mode;
    r.coordinates = way->coordinates;
    r.rounding = way->rounding;
    if (tw_torch_has(c, sizes)) {
        static const int axis[] = {1, 2, 3};
        int64_t size[3];
        if (!tw_torch_ints(c, sizes, spatial, size) ||
            !tw_resizing_sizes(c->b, &x->shape, &r, axis, spatial, size, "stretch"))
            return false;
    }
    /* Factors beside sizes say how places are computed. */
    for (int i = 0; i < spatial && factors + i < c->count; i++)
        if (tw_torch_has(c, sizes) && c->arg[factors + i]->kind == TW_TORCH_FLOAT)
            r.scale[1 + i] = (float)c->arg[factors + i]->real;
    const tw_torch_object *list = c->arg[factors];
    if (!tw_torch_has(c, sizes) && (list->kind == TW_TORCH_NONE || list->count != spatial))
        return TW_TORCH_FAIL(c, "neither sizes nor factors are given for %d axes", spatial);
    for (int i = 0; i < spatial && !tw_torch_has(c, sizes); i++)
        if (!tw_resizing_scale(c->b, &x->shape, &r, 1 + i, (float)tw_torch_number(list->items[i])))
            return false;
    return tw_torch_give(c, tw_build_channels_first(c->b, tw_resizing_build(c->b, x, &r)));
}

/* (x, size, scale_factors) */
bool tw_torch_op_upsample_nearest(tw_torch_call *c)
{
    return resize(c, &(tw_resize_way){"nearest", "asymmetric", "floor"}, 2);
}

/* floor((i + 0.5) * scale): the centre, with the half that the other way takes off put back. */
bool tw_torch_op_upsample_nearest_exact(tw_torch_call *c)
{
    return resize(c, &(tw_resize_way){"nearest", "half_pixel", "round_prefer_ceil"}, 2);
}

static const char *centre(const tw_torch_call *c)
{
    return tw_torch_flag(c, 2) ? "align_corners" : "half_pixel";
}

/* (x, size, align_corners, scale_factors) */
bool tw_torch_op_upsample_linear(tw_torch_call *c)
{
    return resize(c, &(tw_resize_way){"linear", centre(c), "floor"}, 3);
}

bool tw_torch_op_upsample_cubic(tw_torch_call *c)
{
    return resize(c, &(tw_resize_way){"cubic", centre(c), "floor"}, 3);
}

/* --- blocks of pixels -------------------------------------------------------------------------- */

static bool blocks(tw_torch_call *c, const char *op)
{
    tw_value *x = tw_torch_in(c, 0);
    const int64_t block = tw_torch_int(c, 1);
    if (!x || block < 1)
        return false;
    if (x->shape.rank != 4)
        return TW_TORCH_UNSUPPORTED(c, "the input has rank %d; 4 is supported", x->shape.rank);
    tw_value *y =
        tw_build1(c->b, op, tw_build_channels_last(c->b, x),
                  TW_SETTINGS(tw_set_int("block", block), tw_set_word("order", "channel_first")));
    return tw_torch_give(c, tw_build_channels_first(c->b, y));
}

/* (x, factor) */
bool tw_torch_op_pixel_shuffle(tw_torch_call *c)
{
    return blocks(c, "DepthToSpace");
}

bool tw_torch_op_pixel_unshuffle(tw_torch_call *c)
{
    return blocks(c, "SpaceToDepth");
}

/* --- places ------------------------------------------------------------------------------------ */

/* (x, grid, mode, padding, align_corners): modes bilinear, nearest, bicubic; padding zeros, border,
 * reflection */
bool tw_torch_op_grid_sampler(tw_torch_call *c)
{
    static const char *const modes[] = {"linear", "nearest", "cubic"};
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    const int64_t mode = tw_torch_int(c, 2), padding = tw_torch_int(c, 3);
    if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
        return TW_TORCH_FAIL(c, "mode %lld, padding %lld", (long long)mode, (long long)padding);
    tw_value *x = tw_build_channels_last(c->b, tw_torch_real_in(c, 0));
    tw_value *y = tw_build2(c->b, "GridSample", x, tw_torch_real_in(c, 1),
                            TW_SETTINGS(tw_set_word("mode", modes[mode]),
                                        tw_set_word("padding", paddings[padding]),
                                        tw_set_int("align_corners", tw_torch_flag(c, 4))));
    return tw_torch_give(c, tw_build_channels_first(c->b, y));
}
