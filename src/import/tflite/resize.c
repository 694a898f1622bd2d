/* Resampling of images. */
#include "import/tflite/tflite.h"

/* Which coordinates the two flags mean; half pixels are another formula for the nearest element. */
static const char *coordinates(bool corners, bool half, bool nearest)
{
    return corners   ? "align_corners"
           : !half   ? "asymmetric"
           : nearest ? "tf_half_pixel_for_nn"
                     : "half_pixel";
}

static bool resize(tw_tfl_node *n, bool corners, bool half, bool nearest)
{
    tw_value *x = tw_tfl_in(n, 0);
    tw_tfl_list size;
    if (!x || !tw_tfl_list_in(n, 1, "the size", &size))
        return false;
    if (x->shape.rank != 4 || size.count != 2)
        return TW_TFL_FAIL(n,
                           "the input must have rank 4, not %d, and the size two elements, not %d",
                           x->shape.rank, size.count);
    if (corners && half)
        return TW_TFL_FAIL(n, "align_corners and half_pixel_centers exclude each other");
    const int64_t dim[4] = {x->shape.dim[0], size.v[0], size.v[1], x->shape.dim[3]};
    const tw_setting settings[] = {tw_set_ints("size", 4, dim),
                                   tw_set_word("mode", nearest ? "nearest" : "linear"),
                                   tw_set_word("coordinates", coordinates(corners, half, nearest)),
                                   tw_set_word("rounding", "floor"),
                                   tw_set_int("tflite", 1),
                                   {.name = NULL}};
    if (nearest)
        return tw_tfl_set(n, 0, tw_build1(n->b, "ResizeNearest", x, settings));
    return tw_tfl_set(n, 0, tw_tfl_compute(n, 0, "Resize", &x, 1, settings, tw_tfl_no_clamp()));
}

bool tw_tfl_op_resize_bilinear(tw_tfl_node *n)
{
    return resize(n, tw_tfl_flag(n, TW_FIELD(ResizeBilinear, align_corners)),
                  tw_tfl_flag(n, TW_FIELD(ResizeBilinear, half_pixel_centers)), false);
}

bool tw_tfl_op_resize_nearest_neighbor(tw_tfl_node *n)
{
    bool corners = tw_tfl_flag(n, TW_FIELD(ResizeNearest, align_corners));
    bool half = tw_tfl_flag(n, TW_FIELD(ResizeNearest, half_pixel_centers));
    return resize(n, corners, half, true);
}
