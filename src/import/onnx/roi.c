/* Regions of images. */
#include <string.h>

#include "import/onnx/onnx.h"

static bool check_image(tw_onnx_node *n)
{
    return n->in[0]->shape.rank == 4 ||
           TW_ONNX_FAIL(n, "the input has rank %d, not 4", n->in[0]->shape.rank);
}

bool tw_onnx_op_roi_align(tw_onnx_node *n)
{
    const char *mode = tw_onnx_text(n, "mode", "avg");
    const char *places = tw_onnx_text(n, "coordinate_transformation_mode",
                                      n->opset < 16 ? "output_half_pixel" : "half_pixel");
    bool half = strcmp(places, "half_pixel") == 0;
    if ((strcmp(mode, "avg") != 0 && strcmp(mode, "max") != 0) ||
        (!half && strcmp(places, "output_half_pixel") != 0))
        return TW_ONNX_FAIL(n,
                            "mode is '%s' and coordinate_transformation_mode '%s'; avg and max, "
                            "half_pixel and output_half_pixel are possible",
                            mode, places);
    if (!check_image(n))
        return false;
    tw_value *in[] = {tw_build_channels_last(n->b, n->in[0]), n->in[1],
                      tw_build_cast(n->b, n->in[2], TW_S64)};
    const tw_setting settings[] = {tw_set_int("height", tw_onnx_int(n, "output_height", 1)),
                                   tw_set_int("width", tw_onnx_int(n, "output_width", 1)),
                                   tw_set_float("scale", tw_onnx_float(n, "spatial_scale", 1)),
                                   tw_set_int("samples", tw_onnx_int(n, "sampling_ratio", 0)),
                                   tw_set_int("half_pixel", half),
                                   tw_set_word("mode", mode),
                                   {.name = NULL}};
    tw_value *y = tw_build(n->b, "RoiAlign", in, 3, settings);
    return tw_onnx_bind(n, 0, tw_build_channels_first(n->b, y));
}

bool tw_onnx_op_max_roi_pool(tw_onnx_node *n)
{
    int64_t extent[2];
    if (!check_image(n) || !tw_onnx_read_list(n, "pooled_shape", 2, 1, 1, extent))
        return false;
    tw_value *in[] = {tw_build_channels_last(n->b, n->in[0]), n->in[1]};
    const tw_setting settings[] = {tw_set_int("height", extent[0]),
                                   tw_set_int("width", extent[1]),
                                   tw_set_float("scale", tw_onnx_float(n, "spatial_scale", 1)),
                                   tw_set_word("mode", "max"),
                                   {.name = NULL}};
    tw_value *y = tw_build(n->b, "MaxRoiPool", in, 2, settings);
    return tw_onnx_bind(n, 0, tw_build_channels_first(n->b, y));
}
