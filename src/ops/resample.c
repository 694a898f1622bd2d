/* Taps and weights of resampling. In: attributes, two extents. Out: for every output a run of inputs
 * inside, with their weights; what would lie outside weighs on the edge. */
#include "ops/resample.h"

#include <math.h>

static double scale_of(const tw_resize_attributes *a, int k, int32_t in, int32_t out)
{
    if (k < a->scale.count && a->scale.v[k] > 0)
        return (double)a->scale.v[k];
    return in > 0 && out > 0 ? (double)out / in : 1;
}

/* By how much windows are stretched: 1 / min(scale, 1). */
static double stretch_of(const tw_resize_attributes *a, double scale)
{
    return a->antialias && a->mode != TW_RESIZE_NEAREST && scale < 1 ? 1 / scale : 1;
}

/* The offset of the first tap from the element at or before the position: a window of half width 1 or
 * 2, stretched. */
static double first_offset(const tw_resize_attributes *a, double scale)
{
    return floor(-(a->mode == TW_RESIZE_CUBIC ? 2 : 1) * stretch_of(a, scale)) + 1;
}

int64_t tw_resample_taps(const tw_resize_attributes *a, int k, int32_t in, int32_t out)
{
    double taps =
        a->mode == TW_RESIZE_NEAREST ? 1 : 2 - 2 * first_offset(a, scale_of(a, k, in, out));
    return taps <= TW_RESIZE_ENTRIES ? (int64_t)taps : TW_RESIZE_ENTRIES + 1;
}

static double crop_position(const tw_resize_attributes *a, int k, int32_t in, double out, int32_t o)
{
    double begin = k < a->begin.count ? (double)a->begin.v[k] : 0;
    double end = k < a->end.count ? (double)a->end.v[k] : 1;
    double span = (end - begin) * (in - 1.0);
    return (out == 1 ? span / 2 : o * span / (out - 1)) + begin * (in - 1.0);
}

/* Where output o stands, in elements of the input. */
static double position(const tw_resize_attributes *a, int k, int32_t in, int32_t out, int32_t o)
{
    double scale = scale_of(a, k, in, out), length = scale * in;
    double half = (o + 0.5) / scale - 0.5;
    switch (a->coordinates) {
    case TW_RESIZE_HALF_PIXEL_SYMMETRIC: return in / 2.0 * (1 - out / length) + half;
    case TW_RESIZE_PYTORCH_HALF_PIXEL: return length == 1 ? -0.5 : half;
    case TW_RESIZE_ALIGN_CORNERS: return length == 1 ? 0 : o * (in - 1.0) / (length - 1);
    case TW_RESIZE_ASYMMETRIC: return o / scale;
    case TW_RESIZE_TF_HALF_PIXEL: return (o + 0.5) / scale;
    case TW_RESIZE_CROP: return crop_position(a, k, in, length, o);
    default: return half;
    }
}

/* ---- TFLite ---- */

static float tflite_scale(bool corners, int32_t in, int32_t out)
{
    return corners && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
}

static double tflite_nearest(const tw_resize_attributes *a, int32_t in, int32_t out, int32_t o)
{
    bool corners = a->coordinates == TW_RESIZE_ALIGN_CORNERS;
    float offset = a->coordinates == TW_RESIZE_TF_HALF_PIXEL ? 0.5f : 0.0f;
    float at = ((float)o + offset) * tflite_scale(corners, in, out);
    return corners ? (double)roundf(at) : (double)floorf(at);
}

static double tflite_linear(const tw_resize_attributes *a, int32_t in, int32_t out, int32_t o)
{
    float scale = tflite_scale(a->coordinates == TW_RESIZE_ALIGN_CORNERS, in, out);
    if (a->coordinates == TW_RESIZE_HALF_PIXEL)
        return (double)(((float)o + 0.5f) * scale - 0.5f);
    return (double)((float)o * scale);
}

/* ---- taps ---- */

static double kernel_at(const tw_resize_attributes *a, double t)
{
    double c = (double)a->cubic;
    t = fabs(t);
    if (a->mode == TW_RESIZE_LINEAR)
        return t < 1 ? 1 - t : 0;
    if (t <= 1)
        return ((c + 2) * t - (c + 3)) * t * t + 1;
    return t < 2 ? ((c * t - 5 * c) * t + 8 * c) * t - 4 * c : 0;
}

static double nearest(const tw_resize_attributes *a, double at)
{
    switch (a->rounding) {
    case TW_RESIZE_FLOOR: return floor(at);
    case TW_RESIZE_CEIL: return ceil(at);
    case TW_RESIZE_PREFER_CEIL: return floor(at) + (at - floor(at) >= 0.5);
    default: return floor(at) + (at - floor(at) > 0.5);
    }
}

static int32_t inside(double i, int32_t in)
{
    return i < 0 ? 0 : i > in - 1 ? in - 1 : (int32_t)i;
}

/* Weights of one output from the tap at `base`, `taps` of them, gathered on the elements inside. */
static void weigh(const tw_resize_attributes *a, tw_resample *r, int32_t o, double at, double base,
                  int64_t taps, double stretch)
{
    double *weight = &r->weight[(int64_t)o * r->taps], total = 0;
    int32_t first = inside(base, r->in), last = inside(base + (double)(taps - 1), r->in);
    for (int64_t t = 0; t < taps; t++) {
        double i = base + (double)t, w = kernel_at(a, (i - at) / stretch);
        if (a->exclude_outside && (i < 0 || i > r->in - 1))
            continue;
        weight[inside(i, r->in) - first] += w;
        total += w;
    }
    if (a->antialias || a->exclude_outside)
        for (int32_t i = 0; i <= last - first; i++)
            weight[i] = total != 0 ? weight[i] / total : 0;
    int32_t skip = 0, count = last - first + 1;
    while (count > 1 && weight[count - 1] == 0) /* what weighs nothing is not read */
        count--;
    while (skip < count - 1 && weight[skip] == 0)
        skip++;
    for (int32_t i = 0; skip && i < count - skip; i++)
        weight[i] = weight[i + skip];
    r->first[o] = first + skip;
    r->count[o] = count - skip;
}

static void resample(const tw_resize_attributes *a, int k, tw_resample *r, int32_t o)
{
    double at = position(a, k, r->in, r->out, o), scale = scale_of(a, k, r->in, r->out);
    if (a->coordinates == TW_RESIZE_CROP && !(at >= 0 && at <= r->in - 1))
        return; /* no taps */
    if (a->tflite)
        at = a->mode == TW_RESIZE_NEAREST ? tflite_nearest(a, r->in, r->out, o)
                                          : tflite_linear(a, r->in, r->out, o);
    if (a->mode == TW_RESIZE_NEAREST) {
        r->first[o] = inside(nearest(a, at), r->in);
        r->count[o] = 1;
        r->weight[(int64_t)o * r->taps] = 1;
        return;
    }
    double offset = first_offset(a, scale);
    weigh(a, r, o, at, floor(at) + offset, (int64_t)(2 - 2 * offset), stretch_of(a, scale));
}

void tw_resample_axis(const tw_resize_attributes *a, int k, int32_t in, int32_t out,
                      tw_arena *arena, tw_resample *r)
{
    int64_t taps = tw_resample_taps(a, k, in, out);
    *r = (tw_resample){in, out, taps < in ? (int32_t)taps : in, NULL, NULL, NULL, in == out};
    r->first = tw_alloc_array(arena, (size_t)out + 1, sizeof *r->first);
    r->count = tw_alloc_array(arena, (size_t)out + 1, sizeof *r->count);
    r->weight = tw_alloc_array(arena, (size_t)out * (size_t)r->taps + 1, sizeof *r->weight);
    for (int32_t o = 0; o < out; o++) {
        resample(a, k, r, o);
        r->identity = r->identity && r->first[o] == o && r->count[o] == 1 &&
                      r->weight[(int64_t)o * r->taps] == 1;
    }
}

/* ---- rows ---- */

/* v input rows allow floor((v * num + off) / den) outputs, never more than are ready: off is the
 * largest for which that holds at every v; off2 likewise for the first row needed. */
tw_rowmap tw_resample_rows(const tw_resample *r)
{
    int64_t a = r->in, b = r->out;
    if (r->identity)
        return tw_rows_identity();
    if (a < 1 || b < 1)
        return tw_rows_whole();
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    int64_t num = r->out / a, den = r->in / a, off = INT64_MAX, off2 = INT64_MAX;
    int32_t ready = 0, least = r->in;
    for (int32_t v = 0; v < r->in; v++) {
        while (ready < r->out && (r->count[ready] == 0 || r->first[ready] + r->count[ready] <= v))
            ready++;
        if (ready < r->out && den * (ready + 1) - 1 - v * num < off)
            off = den * (ready + 1) - 1 - v * num;
    }
    for (int32_t o = r->out - 1; o >= 0; o--) {
        if (r->count[o] > 0 && r->first[o] < least)
            least = r->first[o];
        if (num * (least + (int64_t)1) - 1 - o * den < off2)
            off2 = num * (least + (int64_t)1) - 1 - o * den;
    }
    return tw_rows_mapped(num, den, off, off2);
}
