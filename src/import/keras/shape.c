/* Layers that move: shapes, axes, borders, repetitions. */
#include <string.h>

#include "import/keras/keras.h"
#include "import/resize.h"

/* Dropout and its kin, which do nothing but in training. */
bool tw_kr_op_identity(tw_kr_node *n)
{
    return tw_kr_set(n, tw_kr_in(n, 0, TW_MAX_RANK));
}

/* --- shapes ------------------------------------------------------------------------------------ */

bool tw_kr_op_reshape(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 1, TW_MAX_RANK);
    int64_t dim[TW_MAX_RANK], rest, known = 1;
    int open = -1;
    const int count = x ? tw_kr_ints(n, "target_shape", TW_MAX_RANK - 1, false, -1, dim + 1) : -1;
    if (count < 0)
        return false;
    dim[0] = x->shape.dim[0];
    rest = dim[0] > 0 ? tw_shape_elements(&x->shape) / dim[0] : 0;
    for (int i = 1; i <= count; i++) {
        if (dim[i] < -1 || dim[i] > INT32_MAX || (dim[i] == -1 && open >= 0))
            return TW_KR_FAIL(n, "its target shape is damaged");
        if (dim[i] == -1)
            open = i;
        else if ((known *= dim[i]) > INT32_MAX)
            return TW_KR_FAIL(n, "its target shape is larger than a tensor may be");
    }
    if (open >= 0)
        dim[open] = known > 0 ? rest / known : 0;
    return tw_kr_set(n, tw_build_reshape(n->b, x, count + 1, dim));
}

/* Channels go last first: so Keras has it, whatever the backend. */
bool tw_kr_op_flatten(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 1, TW_MAX_RANK);
    if (x && tw_kr_channels_first(n))
        x = tw_build_channels_last(n->b, x);
    if (!x)
        return false;
    const int64_t batch = x->shape.dim[0];
    const int64_t dim[] = {batch, batch > 0 ? tw_shape_elements(&x->shape) / batch : 0};
    return tw_kr_set(n, tw_build_reshape(n->b, x, 2, dim));
}

bool tw_kr_op_permute(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 1, TW_MAX_RANK);
    int64_t perm[TW_MAX_RANK] = {0};
    const int count = x ? tw_kr_ints(n, "dims", TW_MAX_RANK - 1, false, 1, perm + 1) : -1;
    if (count < 0)
        return false;
    if (count != x->shape.rank - 1)
        return TW_KR_FAIL(n, "dims names %d axes of an input of %d behind the batch", count,
                          x->shape.rank - 1);
    return tw_kr_set(n, tw_build_transpose(n->b, x, count + 1, perm));
}

bool tw_kr_op_repeat_vector(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 2, 0);
    const int64_t count = tw_kr_int(n, "n", 1);
    if (!x)
        return false;
    if (count < 1 || count > INT32_MAX)
        return TW_KR_FAIL(n, "%lld repetitions", (long long)count);
    x = tw_build_reshape(n->b, x, 3, (int64_t[]){x->shape.dim[0], 1, x->shape.dim[1]});
    return tw_kr_set(n,
                     tw_build1(n->b, "Tile", x,
                               TW_SETTINGS(tw_set_ints("repeats", 3, (int64_t[]){1, count, 1}))));
}

/* --- borders ----------------------------------------------------------------------------------- */

/* A number for all borders, one an axis, or a pair an axis; of one axis, a number or a pair. */
static bool read_borders(tw_kr_node *n, const char *key, int spatial, int64_t before[3],
                         int64_t after[3])
{
    const json_t *value = tw_kr_get(n, key);
    if (json_is_object(value))
        value = json_object_get(value, "items");
    for (int i = 0; i < spatial; i++) {
        const json_t *own = value;
        if (json_is_array(value))
            own = spatial == 1 ? value : json_array_get(value, (size_t)i);
        if (json_is_object(own))
            own = json_object_get(own, "items");
        const json_t *low = json_is_array(own) ? json_array_get(own, 0) : own;
        const json_t *high = json_is_array(own) ? json_array_get(own, 1) : own;
        before[i] = json_integer_value(low);
        after[i] = json_integer_value(high);
        if (!json_is_integer(low) || !json_is_integer(high) || before[i] < 0 || after[i] < 0 ||
            before[i] > INT32_MAX || after[i] > INT32_MAX)
            return TW_KR_FAIL(n, "%s is damaged, or has a negative border", key);
    }
    return true;
}

bool tw_kr_op_cropping(tw_kr_node *n)
{
    const int spatial = n->row->kind;
    tw_value *x = tw_kr_in(n, spatial + 2, 0);
    int64_t before[3], after[3];
    tw_range ranges[TW_MAX_RANK];
    if (!x || !read_borders(n, "cropping", spatial, before, after))
        return false;
    const int first = tw_kr_channels_first(n) && spatial > 1 ? 2 : 1;
    for (int i = 0; i < x->shape.rank; i++) {
        ranges[i] = (tw_range){0, x->shape.dim[i], 1};
        if (i < first || i >= first + spatial)
            continue;
        ranges[i] = (tw_range){before[i - first],
                               x->shape.dim[i] - before[i - first] - after[i - first], 1};
        if (ranges[i].size < 1)
            return TW_KR_FAIL(n, "nothing is left of axis %d", i);
    }
    return tw_kr_set(n, tw_build_ranges(n->b, x, ranges));
}

bool tw_kr_op_zero_padding(tw_kr_node *n)
{
    const int spatial = n->row->kind;
    tw_value *x = tw_kr_in(n, spatial + 2, 0);
    int64_t before[3], after[3], low[TW_MAX_RANK] = {0}, high[TW_MAX_RANK] = {0};
    if (!x || !read_borders(n, "padding", spatial, before, after))
        return false;
    const int first = tw_kr_channels_first(n) ? 2 : 1;
    for (int i = 0; i < spatial; i++) {
        low[first + i] = before[i];
        high[first + i] = after[i];
    }
    return tw_kr_set(n, tw_build1(n->b, "Pad", x,
                                  TW_SETTINGS(tw_set_ints("before", x->shape.rank, low),
                                              tw_set_ints("after", x->shape.rank, high))));
}

/* --- larger ------------------------------------------------------------------------------------ */

static tw_value *resample(tw_kr_node *n, tw_value *x, const int64_t *size, int first, int count,
                          const char *method)
{
    tw_resizing r;
    tw_resizing_begin(&r, &x->shape);
    for (int i = 0; i < count; i++) {
        if (size[i] < 1 || size[i] > INT32_MAX) {
            TW_KR_FAIL(n, "an image of %lld rows or columns", (long long)size[i]);
            return NULL;
        }
        r.size[first + i] = size[i];
    }
    if (strcmp(method, "nearest") == 0) {
        r.coordinates = "tf_half_pixel_for_nn";
        r.rounding = "floor";
    } else if (strcmp(method, "bilinear") == 0) {
        r.mode = "linear";
    } else if (strcmp(method, "bicubic") == 0) {
        r.mode = "cubic";
        r.cubic = -0.5f;
        r.exclude_outside = true;
    } else {
        TW_KR_UNSUPPORTED(n, "interpolation '%.40s'; nearest, bilinear and bicubic are supported",
                          method);
        return NULL;
    }
    r.antialias = tw_kr_flag(n, "antialias", false) && strcmp(method, "nearest") != 0;
    r.exclude_outside |= r.antialias;
    return tw_resizing_build(n->b, x, &r);
}

bool tw_kr_op_up_sampling(tw_kr_node *n)
{
    const int spatial = n->row->kind;
    tw_value *x = tw_kr_in(n, spatial + 2, 0);
    int64_t size[3];
    const bool first = tw_kr_channels_first(n);
    if (!x || tw_kr_ints(n, "size", spatial, true, 2, size) < 0)
        return false;
    if (first)
        x = tw_build_channels_last(n->b, x);
    for (int i = 0; x && i < spatial; i++) {
        if (size[i] < 1 || size[i] > INT32_MAX)
            return TW_KR_FAIL(n, "a size of %lld", (long long)size[i]);
        size[i] *= x->shape.dim[1 + i];
    }
    x = x ? resample(n, x, size, 1, spatial, tw_kr_word(n, "interpolation", "nearest")) : NULL;
    return tw_kr_set(n, first ? tw_build_channels_first(n->b, x) : x);
}

/* What becomes of an image of another aspect ratio than the one asked for. */
enum aspect { STRETCHED, CUT, PADDED };

/* The largest part of the image, or the smallest image around it, of the same aspect ratio as `size`. An odd
 * row or column that remains is lost behind. */
static tw_value *in_aspect(tw_kr_node *n, tw_value *x, const int64_t *size, enum aspect aspect)
{
    int64_t border[TW_MAX_RANK] = {0};
    if (!x || aspect == STRETCHED)
        return x;
    const int64_t extent[] = {x->shape.dim[1], x->shape.dim[2]};
    for (int i = 0; x && i < 2; i++) {
        const int64_t fit = extent[1 - i] * size[i] / size[1 - i], take = fit < 1 ? 1 : fit;
        if (aspect == PADDED && fit > extent[i])
            border[1 + i] = (fit - extent[i]) / 2;
        else if (aspect == CUT && take < extent[i])
            x = tw_build_slice(n->b, x, 1 + i, (extent[i] - take) / 2, take, 1);
    }
    if (!x || (border[1] == 0 && border[2] == 0))
        return x;
    return tw_build1(n->b, "Pad", x,
                     TW_SETTINGS(tw_set_ints("before", x->shape.rank, border),
                                 tw_set_ints("after", x->shape.rank, border),
                                 tw_set_float("value", (float)tw_kr_real(n, "fill_value", 0))));
}

static bool read_size(tw_kr_node *n, int64_t *size)
{
    size[0] = tw_kr_int(n, "height", 0);
    size[1] = tw_kr_int(n, "width", 0);
    return (size[0] >= 1 && size[0] <= INT32_MAX && size[1] >= 1 && size[1] <= INT32_MAX) ||
           TW_KR_FAIL(n, "an image of %lld rows and %lld columns", (long long)size[0],
                      (long long)size[1]);
}

static bool set_image(tw_kr_node *n, tw_value *x, const int64_t *size, enum aspect aspect)
{
    const bool first = tw_kr_channels_first(n);
    x = in_aspect(n, first ? tw_build_channels_last(n->b, x) : x, size, aspect);
    x = x ? resample(n, x, size, 1, 2, tw_kr_word(n, "interpolation", "bilinear")) : NULL;
    return tw_kr_set(n, first ? tw_build_channels_first(n->b, x) : x);
}

bool tw_kr_op_resizing(tw_kr_node *n)
{
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, 4, 0));
    const bool cut = tw_kr_flag(n, "crop_to_aspect_ratio", false);
    int64_t size[2];
    if (!x || !read_size(n, size))
        return false;
    return set_image(n, x, size,
                     cut                                           ? CUT
                     : tw_kr_flag(n, "pad_to_aspect_ratio", false) ? PADDED
                                                                   : STRETCHED);
}

/* The middle; of an image that is too small, as much as has the aspect ratio, resampled. */
bool tw_kr_op_center_crop(tw_kr_node *n)
{
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, 4, 0));
    const int first = tw_kr_channels_first(n) ? 2 : 1;
    int64_t size[2];
    if (!x || !read_size(n, size))
        return false;
    if (size[0] > x->shape.dim[first] || size[1] > x->shape.dim[first + 1])
        return set_image(n, x, size, CUT);
    for (int i = 0; x && i < 2; i++)
        x = tw_build_slice(n->b, x, first + i, (x->shape.dim[first + i] - size[i]) / 2, size[i], 1);
    return tw_kr_set(n, x);
}

/* Outside training Keras 2, and 3 up to 3.5, resamples what has the aspect ratio, and from 3.8 on the image
 * stays as it is. What 3.6 and 3.7 cut out begins where the part of the aspect ratio would, and has another
 * size. */
bool tw_kr_op_random_crop(tw_kr_node *n)
{
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, 4, 0));
    const int first = tw_kr_channels_first(n) ? 2 : 1;
    const int version = n->import->version, minor = n->import->minor;
    int64_t size[2];
    if (!x || !read_size(n, size))
        return false;
    if (version > 3 || (version == 3 && minor >= 8) ||
        (size[0] == x->shape.dim[first] && size[1] == x->shape.dim[first + 1]))
        return tw_kr_set(n, x);
    if (version == 3 && minor >= 6)
        return TW_KR_UNSUPPORTED(n,
                                 "Keras 3.%d cuts an image of another size at the wrong place "
                                 "outside training; use CenterCrop, or Resizing with "
                                 "crop_to_aspect_ratio",
                                 minor);
    return set_image(n, x, size, CUT);
}

/* --- numbers ----------------------------------------------------------------------------------- */

tw_value *tw_kr_numbers(tw_kr_node *n, const char *key, const json_t *value, double otherwise)
{
    if (json_is_object(value)) /* Keras 3's records of arrays and tuples */
        value = json_object_get(value, "items")
                    ? json_object_get(value, "items")
                    : json_object_get(json_object_get(value, "config"), "value");
    if (!json_is_array(value))
        return tw_kr_scalar(n, json_is_number(value) ? json_number_value(value) : otherwise);
    const size_t count = json_array_size(value);
    double *list = tw_alloc_array(n->import->scratch, count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        if (!json_is_number(json_array_get(value, i))) {
            TW_KR_FAIL(n, "%s is no list of numbers", key);
            return NULL;
        }
        list[i] = json_number_value(json_array_get(value, i));
    }
    return tw_kr_list(n, (int)count, list);
}

bool tw_kr_op_rescaling(tw_kr_node *n)
{
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, 0, TW_MAX_RANK));
    tw_value *scale = tw_kr_numbers(n, "scale", tw_kr_get(n, "scale"), 1);
    tw_value *offset = tw_kr_numbers(n, "offset", tw_kr_get(n, "offset"), 0);
    if (!x || !scale || !offset)
        return false;
    x = tw_build2(n->b, "Mul", x, scale, NULL);
    return x && tw_kr_set(n, tw_build2(n->b, "Add", x, offset, NULL));
}

/* x from one range of values to another. */
static tw_value *rescaled(tw_kr_node *n, tw_value *x, const double *from, const double *to)
{
    if (!x || (from[0] == to[0] && from[1] == to[1]))
        return x;
    const double factor = (to[1] - to[0]) / (from[1] - from[0]);
    x = tw_build2(n->b, "Mul", x, tw_kr_scalar(n, factor), NULL);
    return x ? tw_build2(n->b, "Add", x, tw_kr_scalar(n, to[0] - from[0] * factor), NULL) : NULL;
}

/* Every channel stretched to the whole range; one that has a single value stays as it is. */
bool tw_kr_op_auto_contrast(tw_kr_node *n)
{
    static const double bytes[] = {0, 255};
    const json_t *given = tw_kr_get(n, "value_range");
    double range[2] = {0, 255};
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, 4, 0)), *limit[2];
    for (size_t i = 0; i < json_array_size(given) && i < 2; i++)
        range[i] = json_number_value(json_array_get(given, i));
    if (!x)
        return false;
    if (!(range[1] > range[0]))
        return TW_KR_FAIL(n, "its value_range, %g to %g, is empty", range[0], range[1]);
    tw_value *y = rescaled(n, x, range, bytes);
    for (int i = 0; y && i < 2; i++) {
        const int64_t axes[] = {1, 2};
        limit[i] = tw_build1(n->b, i ? "ReduceMax" : "ReduceMin", y,
                             TW_SETTINGS(tw_set_ints("axes", 2, axes), tw_set_int("keepdims", 1)));
    }
    tw_value *extent =
        y && limit[0] && limit[1] ? tw_build2(n->b, "Sub", limit[1], limit[0], NULL) : NULL;
    tw_value *factor = extent ? tw_build2(n->b, "Div", tw_kr_scalar(n, 255), extent, NULL) : NULL;
    tw_value *several =
        extent ? tw_build2(n->b, "NotEqual", extent, tw_kr_scalar(n, 0), NULL) : NULL;
    if (!factor || !several)
        return false;
    y = tw_build2(n->b, "Sub", y, limit[0], NULL);
    y = y ? tw_build2(n->b, "Mul", y, factor, NULL) : NULL;
    y = y ? tw_build1(n->b, "Clip", y,
                      TW_SETTINGS(tw_set_float("alpha", 0), tw_set_float("beta", 255)))
          : NULL;
    y = rescaled(n, y, bytes, range);
    return y && tw_kr_set(n, tw_kr_select(n, several, y, x));
}

/* Layers one behind the other. */
bool tw_kr_op_pipeline(tw_kr_node *n)
{
    const json_t *layers = tw_kr_get(n, "layers");
    tw_value *x = tw_kr_in(n, 0, TW_MAX_RANK), *mask = tw_kr_mask(n, -1, 0);
    tw_kr_store **stores =
        tw_kr_cells(n->import, tw_kr_child(n->import, n->store, "layers"), layers);
    for (size_t i = 0; x && i < json_array_size(layers); i++)
        x = tw_kr_inner(n, json_array_get(layers, i), stores[i], x, &mask);
    n->out_mask[0] = mask;
    return tw_kr_set(n, x);
}

/* The layer's numbers, flattened: in the configuration, or learned. They stand for the axes that are
 * kept, side by side. */
static tw_value *statistics(tw_kr_node *n, const char *key, int i, const int64_t *dim, int rank,
                            const int64_t *kept, int kept_count)
{
    const json_t *given = tw_kr_get(n, key);
    while (json_is_array(given) && json_array_size(given) == 1 &&
           json_is_array(json_array_get(given, 0)))
        given = json_array_get(given, 0); /* [[1, 2, 3]] */
    tw_value *v = given ? tw_kr_numbers(n, key, given, 0)
                        : tw_kr_variable(n, n->store, i, key, kept_count, kept);
    if (!v || tw_shape_elements(&v->shape) == 1)
        return v ? tw_build_reshape(n->b, v, 0, NULL) : NULL;
    return tw_build_reshape(n->b, v, rank, dim);
}

/* (x - mean) / sqrt(variance), the root held above 1e-7; inverted: the other way round. */
bool tw_kr_op_normalization(tw_kr_node *n)
{
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, 1, TW_MAX_RANK));
    int64_t axes[TW_MAX_RANK], dim[TW_MAX_RANK], kept[TW_MAX_RANK];
    int count = 0;
    if (!x || (tw_kr_get(n, "axis") && (count = tw_kr_axes(n, "axis", x, -1, axes)) < 0))
        return false;
    for (int i = 0; i < x->shape.rank; i++)
        dim[i] = 1;
    for (int i = 0; i < count; i++)
        kept[i] = dim[axes[i]] = x->shape.dim[axes[i]];
    tw_value *mean = statistics(n, "mean", 0, dim, x->shape.rank, kept, count);
    tw_value *variance = statistics(n, "variance", 1, dim, x->shape.rank, kept, count);
    if (!mean || !variance)
        return false;
    tw_value *root = tw_build1(n->b, "Sqrt", variance, NULL);
    root = root ? tw_build2(n->b, "Max", root, tw_kr_scalar(n, 1e-7), NULL) : NULL;
    if (!root)
        return false;
    if (tw_kr_flag(n, "invert", false)) {
        x = tw_build2(n->b, "Mul", x, root, NULL);
        return x && tw_kr_set(n, tw_build2(n->b, "Add", x, mean, NULL));
    }
    x = tw_build2(n->b, "Sub", x, mean, NULL);
    return x && tw_kr_set(n, tw_build2(n->b, "Div", x, root, NULL));
}
