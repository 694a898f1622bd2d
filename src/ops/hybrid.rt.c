/* See hybrid.h. */
#include "ops/hybrid.h"

#include "runtime/math.h"

int tw_hybrid_check(const tw_call *call, int32_t channels, uint64_t scratch)
{
    const tw_hybrid_table *t;
    int32_t i;
    if (call->blob_count != 1 || channels < 1 ||
        call->blobs[0].bytes != sizeof *t + (uint64_t)channels * 4u ||
        call->scratch_bytes < scratch)
        return 0;
    t = (const tw_hybrid_table *)call->blobs[0].data;
    if (t->channels != channels || (t->asymmetric & ~1) != 0)
        return 0;
    for (i = 0; i < channels; i++)
        if (!(tw_hybrid_scales(t)[i] > 0.0f))
            return 0;
    return tw_bias_check(call, channels);
}

tw_status tw_hybrid_open(const tw_call *call, tw_hybrid *h)
{
    const tw_hybrid_table *t = (const tw_hybrid_table *)call->blobs[0].data;
    h->scale = tw_hybrid_scales(t);
    h->asymmetric = t->asymmetric;
    h->low = call->clamp_low.f32;
    h->high = call->clamp_high.f32;
    h->bias = NULL;
    if (call->in_count == 3 && call->in[2].tensor) {
        if (!tw_is_whole(&call->in[2]))
            return TW_E_DATA;
        h->bias = (const float *)call->in[2].data;
    }
    return TW_OK;
}

/* Of what is read; 0 included. */
typedef struct tw_hybrid_range {
    float least, most;
} tw_hybrid_range;

static void measure(tw_hybrid_range *range, const float *x, int32_t count)
{
    int32_t i;
    for (i = 0; i < count; i++) {
        range->least = x[i] < range->least ? x[i] : range->least;
        range->most = x[i] > range->most ? x[i] : range->most;
    }
}

/* The end of the range that gives the zero point with less rounding decides. */
static int32_t zero_point(const tw_hybrid_range *range, float scale)
{
    const float low = range->least / scale, high = range->most / scale;
    const float zero = 128.0f - low < 127.0f + high ? -128.0f - low : 127.0f - high;
    return tw_store_whole(tw_roundf(zero), 0, INT8_MIN, INT8_MAX);
}

static void choose(tw_hybrid *h, const tw_hybrid_range *range)
{
    const float most = range->most > -range->least ? range->most : -range->least;
    h->in_scale = h->inverse = 1.0f;
    h->in_zero = 0;
    if (!(most > 0.0f))
        return;
    if (!h->asymmetric) {
        h->in_scale = most / 127.0f;
        h->inverse = 127.0f / most;
        return;
    }
    h->in_scale = (range->most - range->least) / 255.0f;
    h->inverse = 1.0f / h->in_scale;
    h->in_zero = zero_point(range, h->in_scale);
}

static void store(const tw_hybrid *h, const float *x, int32_t count, int8_t *to)
{
    const int32_t low = h->asymmetric ? INT8_MIN : -INT8_MAX;
    const float zero = (float)h->in_zero;
    int32_t i;
    for (i = 0; i < count; i++)
        to[i] = (int8_t)tw_store_whole(tw_roundf(zero + x[i] * h->inverse), 0, low, INT8_MAX);
}

void tw_hybrid_row(tw_hybrid *h, const float *x, int32_t count, int8_t *to)
{
    tw_hybrid_range range = {0.0f, 0.0f};
    measure(&range, x, count);
    choose(h, &range);
    store(h, x, count, to);
}

/* Of a batch, pixel by pixel: measure it, or with `to` store it. */
static void each_pixel(const tw_hybrid *h, const tw_view *x, int32_t batch, tw_hybrid_range *range,
                       int8_t *to)
{
    const tw_tensor *t = x->tensor;
    const int32_t rows = t->rank == 4 ? t->dim[1] : 1, columns = t->dim[t->rank - 2];
    const int32_t channels = t->dim[t->rank - 1], row = t->rank == 4 ? t->stride[1] : 0;
    const float *from =
        (const float *)x->data + tw_steps(batch - (x->axis == 0 ? x->row : 0), t->stride[0]);
    int32_t r, c;
    for (r = 0; r < rows; r++) {
        for (c = 0; c < columns; c++) {
            const float *pixel = from + tw_steps(r, row) + tw_steps(c, t->stride[t->rank - 2]);
            if (to)
                store(h, pixel, channels, to + ((ptrdiff_t)r * columns + c) * channels);
            else if (range)
                measure(range, pixel, channels);
        }
    }
}

/* One batch of the input into scratch: its tensor and view there. */
static tw_status read_image(const tw_call *call, tw_hybrid *h, int32_t batch, tw_tensor *tensor,
                            tw_view *view)
{
    const tw_view *x = &call->in[0];
    tw_hybrid_range range = {0.0f, 0.0f};
    int32_t stride = 1;
    int i;
    if (x->columns != 0 ||
        !(x->axis == 0 ? batch >= x->row && batch - x->row < x->rows : tw_is_whole(x)))
        return TW_E_SCHEDULE;
    each_pixel(h, x, batch, &range, NULL);
    choose(h, &range);
    each_pixel(h, x, batch, NULL, (int8_t *)call->scratch);
    *tensor = *x->tensor;
    tensor->dtype = TW_S8;
    for (i = (int)tensor->rank - 1; i >= 0; i--) {
        tensor->stride[i] = stride;
        stride = i > 0 ? stride * tensor->dim[i] : stride;
    }
    *view = *x;
    view->tensor = tensor;
    view->data = call->scratch;
    view->axis = 0;
    view->row = batch;
    view->rows = 1;
    return TW_OK;
}

/* The part of an output in one batch, which it holds. */
static tw_view part_of(const tw_view *out, int32_t batch)
{
    tw_view one = *out;
    const int32_t first = out->axis == 0 ? out->row : 0;
    if (out->tensor->dim[0] == 1)
        return one;
    one.data = (float *)out->data + tw_steps(batch - first, out->tensor->stride[0]);
    one.axis = 0;
    one.row = batch;
    one.rows = 1;
    return one;
}

tw_status tw_hybrid_batches(const tw_call *call, tw_hybrid *h, tw_hybrid_function run,
                            void *context)
{
    const tw_view *out = &call->out[0];
    const int32_t first = out->axis == 0 ? out->row : 0;
    const int32_t end = out->axis == 0 ? out->row + out->rows : out->tensor->dim[0];
    int32_t batch;
    for (batch = first; batch < end; batch++) {
        tw_tensor tensor;
        tw_view in[3], part = part_of(out, batch);
        tw_call one = *call;
        tw_status status = read_image(call, h, batch, &tensor, &in[0]);
        if (status != TW_OK)
            return status;
        in[1] = call->in[1];
        one.in = in;
        one.in_count = 2;
        one.out = &part;
        status = run(&one, context);
        if (status != TW_OK)
            return status;
    }
    return TW_OK;
}

uint64_t tw_hybrid_image_bytes(const tw_tensor *x)
{
    uint64_t bytes = 1;
    int i;
    for (i = 1; i < (int)x->rank; i++)
        bytes *= (uint64_t)x->dim[i];
    return bytes;
}

int32_t tw_hybrid_dot(const int8_t *x, int32_t zero, const int8_t *w, int32_t n)
{
    uint32_t sum = 0;
    int32_t i;
    for (i = 0; i < n; i++)
        sum += (uint32_t)((x[i] - zero) * w[i]);
    return (int32_t)sum;
}
