/* Resize and Upsample. What says the extents (scales, sizes, regions) is read by the model's axes and
 * handed on in the order of the IR's. */
#include <string.h>

#include "import/onnx/onnx.h"
#include "import/resize.h"

/* The floats of input i, in the model's order; *count -1: absent or empty. */
static bool read_floats(tw_onnx_node *n, int i, const char *what, int least, float *values,
                        int *count)
{
    tw_value *list = tw_onnx_in(n, i);
    *count = -1;
    if (!list || tw_shape_elements(&list->shape) == 0)
        return true;
    if (!tw_build_constant(n->b, list))
        return TW_ONNX_UNSUPPORTED(n, "%s computed at run time; make them constant", what);
    int64_t elements = tw_shape_elements(&list->shape);
    if (list->shape.dtype != TW_F32 || elements != least)
        return TW_ONNX_FAIL(n, "%s must be %d floats, not %lld elements of %s", what, least,
                            (long long)elements, tw_dtype_name(list->shape.dtype));
    *count = (int)elements;
    for (int k = 0; k < *count; k++)
        values[k] = (float)tw_constant_at(list, k);
    return true;
}

/* The axes that scales, sizes and regions are about, in their order. */
static bool read_axes(tw_onnx_node *n, int rank, int *axis, int *count)
{
    tw_onnx_list list = tw_onnx_ints(n, "axes");
    bool used[TW_MAX_RANK] = {false};
    *count = list.count < 0 ? rank : list.count;
    for (int i = 0; i < *count; i++) {
        axis[i] = i;
        if (list.count >= 0 && (i >= rank || !tw_onnx_axis(n, list.v[i], rank, &axis[i])))
            return i < rank ? false : TW_ONNX_FAIL(n, "axes has more entries than %d", rank);
        if (used[axis[i]])
            return TW_ONNX_FAIL(n, "axis %d is given twice", axis[i]);
        used[axis[i]] = true;
    }
    return true;
}

static bool read_sizes(tw_onnx_node *n, const tw_shape *x, tw_resizing *r, const int *axis,
                       int count, const char *policy)
{
    tw_onnx_list sizes;
    if (!tw_onnx_list_in(n, 3, "the sizes", &sizes))
        return false;
    if (sizes.count != count)
        return TW_ONNX_FAIL(n, "%d sizes for %d axes", sizes.count, count);
    return tw_resizing_sizes(n->b, x, r, axis, count, sizes.v, policy);
}

/* Opsets from 11: inputs roi, scales, sizes. */
static bool read_extents(tw_onnx_node *n, const tw_shape *x, tw_resizing *r)
{
    float values[2 * TW_MAX_RANK];
    int axis[TW_MAX_RANK] = {0}, count, given;
    const char *policy = tw_onnx_text(n, "keep_aspect_ratio_policy", "stretch"); /* of sizes */
    if (!read_axes(n, x->rank, axis, &count) ||
        !tw_onnx_word(n, "keep_aspect_ratio_policy", policy, "stretch not_larger not_smaller"))
        return false;
    if (strcmp(r->coordinates, "tf_crop_and_resize") == 0) {
        if (!read_floats(n, 1, "the region", 2 * count, values, &given))
            return false;
        for (int i = 0; i < count && given > 0; i++) {
            r->begin[axis[i]] = values[i];
            r->end[axis[i]] = values[count + i];
        }
    }
    if (!read_floats(n, 2, "the scales", count, values, &given))
        return false;
    if (given < 0)
        return tw_onnx_need(n, 3) && read_sizes(n, x, r, axis, count, policy);
    if (tw_onnx_in(n, 3) && tw_shape_elements(&n->in[3]->shape) > 0)
        return TW_ONNX_FAIL(n, "it has both scales and sizes; one of them must be absent");
    for (int i = 0; i < count; i++)
        if (!tw_resizing_scale(n->b, x, r, axis[i], values[i]))
            return false;
    return true;
}

/* In the order of the IR: channels last. */
static tw_value *resample(tw_onnx_node *n, tw_value *x, const tw_resizing *r)
{
    tw_resizing last = *r;
    bool image = r->rank > 2;
    for (int k = 0; image && k < r->rank; k++) {
        int from = k == 0 ? 0 : k + 1 < r->rank ? k + 1 : 1;
        last.size[k] = r->size[from];
        last.scale[k] = r->scale[from];
        last.begin[k] = r->begin[from];
        last.end[k] = r->end[from];
    }
    const bool sums = strcmp(r->mode, "nearest") != 0;
    const tw_dtype dtype = x->shape.dtype;
    x = sums ? tw_onnx_as_float(n, x) : x;
    tw_value *y = tw_resizing_build(n->b, image ? tw_build_channels_last(n->b, x) : x, &last);
    y = image ? tw_build_channels_first(n->b, y) : y;
    return sums ? tw_onnx_from_float(n, y, dtype) : y;
}

/* Resize of opset 10, Upsample: scales only. Places are o / scale; the nearest element is the one
 * before, or (where it is there to shrink) behind. */
static bool resize_by_scales(tw_onnx_node *n, const float *scale, int count)
{
    const tw_shape *x = &n->in[0]->shape;
    tw_resizing r;
    tw_resizing_begin(&r, x);
    r.mode = tw_onnx_text(n, "mode", "nearest");
    r.coordinates = "asymmetric";
    r.rounding = "floor";
    if (strcmp(r.mode, "bilinear") == 0 && n->opset < 7)
        r.mode = "linear";
    if (strcmp(r.mode, "nearest") != 0 && strcmp(r.mode, "linear") != 0)
        return TW_ONNX_FAIL(n, "the mode is '%s'; nearest and linear are possible", r.mode);
    if (count != x->rank)
        return TW_ONNX_FAIL(n, "%d scales for %d axes", count, x->rank);
    bool grows = false;
    for (int k = 0; k < x->rank; k++) {
        if (!tw_resizing_scale(n->b, x, &r, k, scale[k]))
            return false;
        grows = grows || scale[k] > 1;
        if (scale[k] < 1)
            r.rounding = "ceil";
    }
    if (grows && strcmp(r.rounding, "ceil") == 0 && strcmp(r.mode, "nearest") == 0)
        return TW_ONNX_UNSUPPORTED(n, "scales above and below 1 in one node; use two, or opset 11");
    return tw_onnx_bind(n, 0, resample(n, n->in[0], &r));
}

static bool resize_by_input(tw_onnx_node *n)
{
    float scale[TW_MAX_RANK] = {0};
    int count;
    if (!tw_onnx_need(n, 1) ||
        !read_floats(n, 1, "the scales", n->in[0]->shape.rank, scale, &count))
        return false;
    return resize_by_scales(n, scale, count);
}

bool tw_onnx_op_resize(tw_onnx_node *n)
{
    const tw_shape *x = &n->in[0]->shape;
    tw_resizing r;
    if (n->opset < 11)
        return resize_by_input(n);
    tw_resizing_begin(&r, x);
    r.mode = tw_onnx_text(n, "mode", "nearest");
    r.coordinates = tw_onnx_text(n, "coordinate_transformation_mode", "half_pixel");
    r.rounding = tw_onnx_text(n, "nearest_mode", "round_prefer_floor");
    r.antialias = tw_onnx_int(n, "antialias", 0) != 0;
    r.exclude_outside = tw_onnx_int(n, "exclude_outside", 0) != 0;
    r.cubic = tw_onnx_float(n, "cubic_coeff_a", -0.75f);
    r.extrapolation = tw_onnx_float(n, "extrapolation_value", 0);
    if (!tw_onnx_word(n, "mode", r.mode, TW_RESIZING_MODES) ||
        !tw_onnx_word(n, "coordinate_transformation_mode", r.coordinates,
                      TW_RESIZING_COORDINATES) ||
        !tw_onnx_word(n, "nearest_mode", r.rounding, TW_RESIZING_ROUNDINGS) ||
        !read_extents(n, x, &r))
        return false;
    return tw_onnx_bind(n, 0, resample(n, n->in[0], &r));
}

bool tw_onnx_op_upsample(tw_onnx_node *n)
{
    const tw_shape *x = &n->in[0]->shape;
    if (n->opset >= 9)
        return resize_by_input(n);
    float scale[TW_MAX_RANK] = {1, 1};
    if (n->opset < 7) {
        scale[2] = tw_onnx_float(n, "height_scale", 1);
        scale[3] = tw_onnx_float(n, "width_scale", 1);
        return x->rank == 4 ? resize_by_scales(n, scale, 4)
                            : TW_ONNX_FAIL(n, "the input has rank %d, not 4", x->rank);
    }
    const Tw__Onnx__Attribute *list = tw_onnx_attribute(n, "scales");
    if (!list || list->n_floats != (size_t)x->rank)
        return TW_ONNX_FAIL(n, "the attribute scales needs one entry for each of %d axes", x->rank);
    memcpy(scale, list->floats, sizeof *scale * (size_t)x->rank);
    return resize_by_scales(n, scale, x->rank);
}
