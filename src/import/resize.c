/* Resampling: extents from scales or sizes, and the node. */
#include "import/resize.h"

#include <math.h>
#include <string.h>

bool tw_is_word(const char *word, const char *words)
{
    const size_t length = strlen(word);
    for (const char *at = words; *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        if (n == length && memcmp(at, word, length) == 0)
            return true;
        at += n;
    }
    return false;
}

void tw_resizing_begin(tw_resizing *r, const tw_shape *x)
{
    *r = (tw_resizing){.rank = x->rank,
                       .mode = "nearest",
                       .coordinates = "half_pixel",
                       .rounding = "round_prefer_floor",
                       .cubic = -0.75f};
    for (int k = 0; k < x->rank; k++) {
        r->size[k] = x->dim[k];
        r->end[k] = 1;
    }
}

bool tw_resizing_scale(tw_builder *b, const tw_shape *x, tw_resizing *r, int axis, float scale)
{
    /* In float, as every other reader of such scales has it: 5 elements at 1.4 are 7, not 6.9999999. */
    float size = floorf(scale * (float)x->dim[axis]);
    if (!(scale > 0) || !(size < (float)INT32_MAX))
        return tw_fail(b->diag, TW_CODE_FAILED, b->node, NULL, "axis %d has scale %g in scales",
                       axis, (double)scale);
    r->scale[axis] = scale;
    r->size[axis] = (int64_t)size;
    return true;
}

/* One scale for all axes, such that none is larger (or none smaller) than asked for. */
static bool keep_ratio(tw_builder *b, const tw_shape *x, tw_resizing *r, const int *axis, int count,
                       bool larger)
{
    double scale = larger ? 0 : INFINITY;
    for (int i = 0; i < count; i++) {
        double own = (double)r->size[axis[i]] / x->dim[axis[i]];
        scale = larger ? fmax(scale, own) : fmin(scale, own);
    }
    for (int i = 0; i < count; i++) {
        double size = floor(scale * x->dim[axis[i]] + 0.5);
        if (!(scale > 0) || !(size <= INT32_MAX))
            return tw_fail(b->diag, TW_CODE_FAILED, b->node, NULL,
                           "sizes and extents have no common scale");
        r->size[axis[i]] = (int64_t)size;
        r->scale[axis[i]] = (float)scale;
    }
    return true;
}

bool tw_resizing_sizes(tw_builder *b, const tw_shape *x, tw_resizing *r, const int *axis, int count,
                       const int64_t *sizes, const char *policy)
{
    for (int i = 0; i < count; i++) {
        r->size[axis[i]] = sizes[i];
        if (sizes[i] < 1 || sizes[i] > INT32_MAX || x->dim[axis[i]] < 1)
            return tw_fail(b->diag, TW_CODE_FAILED, b->node, NULL,
                           "axis %d of %d elements is to have %lld by sizes", axis[i],
                           (int)x->dim[axis[i]], (long long)sizes[i]);
    }
    if (!tw_is_word(policy, "stretch not_larger not_smaller"))
        return tw_fail(b->diag, TW_CODE_FAILED, b->node, NULL,
                       "keep_aspect_ratio_policy is '%s'; stretch, not_larger and not_smaller are "
                       "possible",
                       policy);
    return strcmp(policy, "stretch") == 0 ||
           keep_ratio(b, x, r, axis, count, strcmp(policy, "not_smaller") == 0);
}

tw_value *tw_resizing_build(tw_builder *b, tw_value *x, const tw_resizing *r)
{
    const bool moves =
        strcmp(r->mode, "nearest") == 0 && strcmp(r->coordinates, "tf_crop_and_resize") != 0;
    const tw_setting settings[] = {tw_set_ints("size", r->rank, r->size),
                                   tw_set_floats("scale", r->rank, r->scale),
                                   tw_set_word("mode", r->mode),
                                   tw_set_word("coordinates", r->coordinates),
                                   tw_set_word("rounding", r->rounding),
                                   tw_set_int("tflite", r->tflite),
                                   tw_set_int("antialias", r->antialias),
                                   tw_set_int("exclude_outside", r->exclude_outside),
                                   tw_set_float("cubic", r->cubic),
                                   tw_set_float("extrapolation", r->extrapolation),
                                   tw_set_floats("begin", r->rank, r->begin),
                                   tw_set_floats("end", r->rank, r->end),
                                   {.name = NULL}};
    return tw_build1(b, moves ? "ResizeNearest" : "Resize", x, settings);
}
