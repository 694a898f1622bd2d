/* Resize: ONNX's attributes under names of the vocabulary's own, over the axes of the stored tensor. */
#include <string.h>

#include "import/foreign/mobilint/mobilint.h"
#include "import/resize.h"

/* words: what is possible. Absent: the default stays. */
static bool read_word(tw_foreign_node *n, const char *name, const char *words, const char **word)
{
    if (!tw_foreign_has(n, name))
        return true;
    *word = tw_foreign_text(n, name);
    return tw_is_word(*word, words) ||
           TW_FOREIGN_FAIL(n, "the attribute %s is '%.40s'; possible are: %s", name, *word, words);
}

/* The axes that scales, sizes and roi are about, in their order. */
static int read_axes(tw_foreign_node *n, int rank, int *axis)
{
    const tw_foreign_list list = tw_foreign_ints(n, "axes");
    int64_t sorted[TW_MAX_RANK];
    if (!tw_foreign_has(n, "axes")) {
        for (int k = 0; k < rank; k++)
            axis[k] = k;
        return rank;
    }
    if (tw_foreign_axes(n, "axes", rank, sorted) < 0)
        return -1;
    for (int i = 0; i < list.count; i++)
        axis[i] = (int)(list.v[i] < 0 ? list.v[i] + rank : list.v[i]);
    return list.count;
}

static bool read_region(tw_foreign_node *n, tw_resizing *r, const int *axis, int count)
{
    const tw_foreign_list roi = tw_foreign_ints(n, "roi");
    if (strcmp(r->coordinates, "tf_crop_and_resize") != 0 || roi.count == 0)
        return true;
    if (roi.count != 2 * count)
        return TW_FOREIGN_FAIL(n, "the attribute roi has %d entries, not %d", roi.count, 2 * count);
    for (int i = 0; i < count; i++) {
        r->begin[axis[i]] = (float)roi.v[i];
        r->end[axis[i]] = (float)roi.v[count + i];
    }
    return true;
}

static bool read_sizes(tw_foreign_node *n, const tw_shape *x, tw_resizing *r, const int *axis,
                       int count)
{
    float scales[TW_MAX_RANK];
    const int given = tw_foreign_floats(n, "scales", scales);
    const tw_foreign_list sizes = tw_foreign_ints(n, "sizes");
    const char *policy = tw_foreign_text(n, "keep_aspect_ratio_policy");
    if ((given != 0) == (sizes.count != 0))
        return TW_FOREIGN_FAIL(n, "one of the attributes scales and sizes must be given");
    if (given + sizes.count != count)
        return TW_FOREIGN_FAIL(n, "the attribute %s has %d entries for %d axes",
                               given ? "scales" : "sizes", given + sizes.count, count);
    for (int i = 0; i < given; i++)
        if (!tw_resizing_scale(n->b, x, r, axis[i], scales[i]))
            return false;
    return given ||
           tw_resizing_sizes(n->b, x, r, axis, count, sizes.v, *policy ? policy : "stretch");
}

/* resize_type says again what the other attributes say. */
bool tw_mobilint_resize(tw_foreign_node *n)
{
    const tw_shape *x = &n->in[0]->shape;
    int axis[TW_MAX_RANK] = {0};
    tw_resizing r;
    tw_resizing_begin(&r, x);
    r.antialias = tw_foreign_int(n, "antialias") != 0;
    r.exclude_outside = tw_foreign_int(n, "exclude_outside") != 0;
    r.extrapolation = (float)tw_foreign_float(n, "extrapolation_value");
    if (tw_foreign_has(n, "cubic_coeff_a"))
        r.cubic = (float)tw_foreign_float(n, "cubic_coeff_a");
    const int count = read_axes(n, x->rank, axis);
    return count >= 0 && read_word(n, "resize_mode", TW_RESIZING_MODES, &r.mode) &&
           read_word(n, "transform_mode", TW_RESIZING_COORDINATES, &r.coordinates) &&
           read_word(n, "nearest_mode", TW_RESIZING_ROUNDINGS, &r.rounding) &&
           read_region(n, &r, axis, count) && read_sizes(n, x, &r, axis, count) &&
           tw_foreign_result(n, tw_resizing_build(n->b, n->in[0], &r));
}
