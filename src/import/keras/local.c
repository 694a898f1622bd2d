/* Locally connected layers: convolutions of which every place has weights of its own. The image's windows,
 * side by side, are multiplied with a matrix a place; Keras 2 keeps the matrices in one of three ways. One
 * spatial axis is two, the second of extent 1. */
#include <string.h>

#include "import/keras/keras.h"

enum { MOST_OFFSETS = 1024 }; /* of a window: each is a slice of the image */

/* How the file has the weights. */
enum { BY_PLACE = 1, DENSE, SPARSE };

typedef struct local {
    int64_t in[2], out[2], kernel[2], stride[2], begin[2], end[2];
    int64_t channels, filters;
    int64_t depth; /* elements of a window */
    int way;
    bool first; /* the file has the channels in front of the places */
    int64_t *reach
        [2]; /* by axis: of the places in front of place i, elements that windows have in the image */
} local;

/* An element of the weights: a place, an offset in its window, a channel and a filter. */
typedef struct element {
    int64_t place[2], offset[2], channel, filter;
} element;

/* --- the window -------------------------------------------------------------------------------- */

/* Keras has the middle of a window of `same` at the place times the stride: not as convolutions do. */
static bool place_windows(tw_kr_node *n, local *l)
{
    const char *padding = tw_kr_word(n, "padding", "valid");
    const bool same = strcmp(padding, "same") == 0;
    if (!same && strcmp(padding, "valid") != 0)
        return TW_KR_FAIL(n, "padding '%.40s' is neither valid nor same", padding);
    if (same && l->way == BY_PLACE)
        return TW_KR_FAIL(n, "implementation 1 has no padding 'same'");
    for (int i = 0; i < 2; i++) {
        const int64_t in = l->in[i], kernel = l->kernel[i], stride = l->stride[i];
        if (kernel < 1 || stride < 1 || kernel > MOST_OFFSETS || stride > INT32_MAX)
            return TW_KR_UNSUPPORTED(n, "a kernel of %lld in steps of %lld; up to %d are supported",
                                     (long long)kernel, (long long)stride, MOST_OFFSETS);
        l->begin[i] = same ? kernel / 2 : 0;
        l->out[i] = same ? (in + stride - 1) / stride : (in - kernel + stride) / stride;
        if (in < 1 || (!same && kernel > in))
            return TW_KR_FAIL(n, "a kernel of %lld on %lld elements", (long long)kernel,
                              (long long)in);
        const int64_t used = (l->out[i] - 1) * stride - l->begin[i] + kernel;
        l->end[i] = used > in ? used - in : 0;
    }
    return l->kernel[0] * l->kernel[1] <= MOST_OFFSETS ||
           TW_KR_UNSUPPORTED(n, "a kernel of %lld x %lld; at most %d elements are supported",
                             (long long)l->kernel[0], (long long)l->kernel[1], MOST_OFFSETS);
}

static bool read_local(tw_kr_node *n, const tw_value *x, int spatial, local *l)
{
    *l = (local){.kernel = {1, 1}, .stride = {1, 1}};
    if (tw_kr_ints(n, "kernel_size", spatial, true, 1, l->kernel) < 0 ||
        tw_kr_ints(n, "strides", spatial, true, 1, l->stride) < 0)
        return false;
    const int64_t way = tw_kr_int(n, "implementation", BY_PLACE);
    if (way < BY_PLACE || way > SPARSE)
        return TW_KR_FAIL(n, "implementation %lld is none of 1, 2 and 3", (long long)way);
    l->way = (int)way;
    l->first = tw_kr_channels_first(n);
    l->in[0] = x->shape.dim[1];
    l->in[1] = spatial == 2 ? x->shape.dim[2] : 1;
    l->channels = x->shape.dim[spatial + 1];
    l->filters = tw_kr_int(n, "filters", 0);
    if (l->filters < 1 || l->filters > INT32_MAX)
        return TW_KR_FAIL(n, "%lld filters", (long long)l->filters);
    if (!place_windows(n, l))
        return false;
    l->depth = l->kernel[0] * l->kernel[1] * l->channels;
    const int64_t places = l->out[0] * l->out[1], most = TW_BUILD_LIMIT / (int64_t)sizeof(float);
    return (l->depth <= most / l->filters && places <= most / (l->depth * l->filters + 1)) ||
           TW_KR_UNSUPPORTED(n, "weights of more than %d bytes", TW_BUILD_LIMIT);
}

/* [batch, rows, columns, channels] to the windows [batch, rows, columns, depth]. */
static tw_value *windows(tw_kr_node *n, const local *l, tw_value *x)
{
    const int64_t before[] = {0, l->begin[0], l->begin[1], 0},
                  after[] = {0, l->end[0], l->end[1], 0};
    tw_value *part[MOST_OFFSETS];
    int count = 0;
    if (before[1] || before[2] || after[1] || after[2])
        x = tw_build1(
            n->b, "Pad", x,
            TW_SETTINGS(tw_set_ints("before", 4, before), tw_set_ints("after", 4, after)));
    for (int64_t r = 0; x && r < l->kernel[0]; r++) {
        tw_value *rows = tw_build_slice(n->b, x, 1, r, l->out[0], l->stride[0]);
        for (int64_t c = 0; rows && c < l->kernel[1]; c++)
            part[count++] = tw_build_slice(n->b, rows, 2, c, l->out[1], l->stride[1]);
    }
    return count == l->kernel[0] * l->kernel[1] ? tw_build_concat(n->b, part, count, 3) : NULL;
}

/* --- the weights ------------------------------------------------------------------------------- */

/* The part of a window that lies in the image. */
static int64_t first_of(const local *l, int axis, int64_t place)
{
    const int64_t at = place * l->stride[axis] - l->begin[axis];
    return at > 0 ? at : 0;
}

static int64_t count_of(const local *l, int axis, int64_t place)
{
    const int64_t end = place * l->stride[axis] - l->begin[axis] + l->kernel[axis];
    return (end < l->in[axis] ? end : l->in[axis]) - first_of(l, axis, place);
}

/* Places of a list of axes, one in the other. */
static int64_t at_axes(int count, const int64_t *extent, const int64_t *at)
{
    int64_t index = 0;
    for (int i = 0; i < count; i++)
        index = index * extent[i] + at[i];
    return index;
}

/* Of a dense kernel, from the image [rows, columns, channels] to the result [rows, columns, filters]. */
static int64_t dense_index(const local *l, const element *e, const int64_t *at)
{
    if (l->first)
        return at_axes(
            6, (int64_t[]){l->channels, l->in[0], l->in[1], l->filters, l->out[0], l->out[1]},
            (int64_t[]){e->channel, at[0], at[1], e->filter, e->place[0], e->place[1]});
    return at_axes(6,
                   (int64_t[]){l->in[0], l->in[1], l->channels, l->out[0], l->out[1], l->filters},
                   (int64_t[]){at[0], at[1], e->channel, e->place[0], e->place[1], e->filter});
}

/* Of the list of a dense kernel's elements that count, the result's axes outermost. */
static int64_t sparse_index(const local *l, const element *e, const int64_t *at)
{
    int64_t own[2], inside[2];
    for (int i = 0; i < 2; i++) {
        own[i] = count_of(l, i, e->place[i]);
        inside[i] = at[i] - first_of(l, i, e->place[i]);
    }
    const int64_t before = l->channels * (l->reach[0][e->place[0]] * l->reach[1][l->out[1]] +
                                          own[0] * l->reach[1][e->place[1]]);
    if (l->first)
        return e->filter * l->channels * l->reach[0][l->out[0]] * l->reach[1][l->out[1]] + before +
               at_axes(3, (int64_t[]){l->channels, own[0], own[1]},
                       (int64_t[]){e->channel, inside[0], inside[1]});
    return before * l->filters + at_axes(4, (int64_t[]){l->filters, own[0], own[1], l->channels},
                                         (int64_t[]){e->filter, inside[0], inside[1], e->channel});
}

/* Where the file has the element; -1 where the window is outside the image. */
static int64_t index_of(const local *l, const element *e)
{
    int64_t at[2];
    for (int i = 0; i < 2; i++) {
        at[i] = e->place[i] * l->stride[i] - l->begin[i] + e->offset[i];
        if (at[i] < 0 || at[i] >= l->in[i])
            return -1;
    }
    if (l->way == DENSE)
        return dense_index(l, e, at);
    if (l->way == SPARSE)
        return sparse_index(l, e, at);
    if (l->first)
        return at_axes(
            6,
            (int64_t[]){l->out[0], l->out[1], l->channels, l->kernel[0], l->kernel[1], l->filters},
            (int64_t[]){e->place[0], e->place[1], e->channel, e->offset[0], e->offset[1],
                        e->filter});
    return at_axes(
        6, (int64_t[]){l->out[0], l->out[1], l->kernel[0], l->kernel[1], l->channels, l->filters},
        (int64_t[]){e->place[0], e->place[1], e->offset[0], e->offset[1], e->channel, e->filter});
}

static tw_value *read_kernel(tw_kr_node *n, local *l, int spatial)
{
    int64_t dim[6] = {l->out[0] * l->out[1], l->depth, l->filters};
    int rank = 3;
    for (int i = 0; i < 2; i++) {
        l->reach[i] = tw_alloc_array(n->import->scratch, (size_t)l->out[i] + 1, sizeof(int64_t));
        for (int64_t p = 0; p < l->out[i]; p++)
            l->reach[i][p + 1] = l->reach[i][p] + count_of(l, i, p);
    }
    if (l->way == SPARSE) {
        rank = 1;
        dim[0] = l->channels * l->filters * l->reach[0][l->out[0]] * l->reach[1][l->out[1]];
    } else if (l->way == DENSE) {
        rank = 0;
        for (int side = 0; side < 2; side++) {
            const int64_t wide = side ? l->filters : l->channels;
            if (l->first)
                dim[rank++] = wide;
            for (int i = 0; i < spatial; i++)
                dim[rank++] = side ? l->out[i] : l->in[i];
            if (!l->first)
                dim[rank++] = wide;
        }
    }
    return tw_kr_variable(n, n->store, 0, "kernel", rank, dim);
}

/* [1, rows, columns, depth, filters] */
static tw_value *weights_of(tw_kr_node *n, local *l, int spatial)
{
    tw_value *kernel = read_kernel(n, l, spatial);
    if (!kernel)
        return NULL;
    const float *from = kernel->data;
    if (kernel->shape.dtype != TW_F32 || !from) {
        TW_KR_FAIL(n, "its kernel is %s; it must be floats", tw_dtype_name(kernel->shape.dtype));
        return NULL;
    }
    const int32_t dim[] = {1, (int32_t)l->out[0], (int32_t)l->out[1], (int32_t)l->depth,
                           (int32_t)l->filters};
    const int64_t extent[] = {l->out[0],    l->out[1],   l->kernel[0],
                              l->kernel[1], l->channels, l->filters};
    const tw_shape shape = tw_shape_of(TW_F32, 5, dim);
    float *to = tw_alloc(n->b->arena, tw_shape_bytes(&shape) + 1);
    for (int64_t i = 0; i < tw_shape_elements(&shape); i++) {
        int64_t at[6], rest = i;
        for (int k = 5; k >= 0; rest /= extent[k--])
            at[k] = rest % extent[k];
        const element e = {{at[0], at[1]}, {at[2], at[3]}, at[4], at[5]};
        const int64_t source = index_of(l, &e);
        to[i] = source < 0 ? 0 : from[source];
    }
    return tw_build_data(n->b, shape, to);
}

/* To [rows, columns, filters]. Channels first, Keras reads the numbers as [filters, rows, columns]. */
static tw_value *bias_of(tw_kr_node *n, const local *l, int spatial)
{
    int64_t dim[3] = {l->out[0], l->out[1]};
    dim[spatial] = l->filters;
    tw_value *bias = tw_kr_variable(n, n->store, 1, "bias", spatial + 1, dim);
    if (!bias || !l->first)
        return tw_build_reshape(n->b, bias, 3, (int64_t[]){l->out[0], l->out[1], l->filters});
    bias = tw_build_reshape(n->b, bias, 3, (int64_t[]){l->filters, l->out[0], l->out[1]});
    return tw_build_transpose(n->b, bias, 3, (int64_t[]){1, 2, 0});
}

bool tw_kr_op_local(tw_kr_node *n)
{
    const int spatial = n->row->kind;
    tw_value *x = tw_kr_image(n, spatial);
    local l;
    if (!x || !read_local(n, x, spatial, &l))
        return false;
    const int64_t batch = x->shape.dim[0];
    int64_t out[] = {batch, l.out[0], l.out[1], l.filters};
    x = tw_build_reshape(n->b, x, 4, (int64_t[]){batch, l.in[0], l.in[1], l.channels});
    x = x ? windows(n, &l, x) : NULL;
    x = tw_build_reshape(n->b, x, 5, (int64_t[]){batch, l.out[0], l.out[1], 1, l.depth});
    tw_value *weights = weights_of(n, &l, spatial);
    tw_value *y = x && weights ? tw_build2(n->b, "MatMul", x, weights, NULL) : NULL;
    y = tw_build_reshape(n->b, y, 4, out);
    if (tw_kr_flag(n, "use_bias", true))
        y = y ? tw_build2(n->b, "Add", y, bias_of(n, &l, spatial), NULL) : NULL;
    out[spatial + 1] = l.filters;
    return tw_kr_set_image(n, tw_build_reshape(n->b, y, spatial + 2, out));
}
