/* Pooling: windows of one to three spatial axes, by their size or by how many there are, and whole images. */
#include <string.h>

#include "import/keras/keras.h"
#include "import/window.h"

bool tw_kr_op_pool(tw_kr_node *n)
{
    const int spatial = n->row->kind;
    tw_value *x = tw_kr_in(n, spatial + 2, 0);
    tw_window p = {.dilation = {1, 1, 1}};
    const bool first = tw_kr_channels_first(n);
    const bool same = strcmp(tw_kr_word(n, "padding", "valid"), "same") == 0;
    x = tw_kr_real_value(n, first ? tw_build_channels_last(n->b, x) : x);
    if (!x || tw_kr_ints(n, "pool_size", spatial, true, 2, p.kernel) < 0)
        return false;
    memcpy(p.stride, p.kernel, sizeof p.stride);
    if (tw_kr_get(n, "strides") && tw_kr_ints(n, "strides", spatial, true, 1, p.stride) < 0)
        return false;
    for (int i = 0; i < spatial; i++)
        if (!tw_window_pads(n->b, n->op, x->shape.dim[1 + i], same, &p, i))
            return false;
    x = tw_build_pool(n->b, n->row->op, x, spatial, &p);
    return tw_kr_set(n, first ? tw_build_channels_first(n->b, x) : x);
}

/* --- windows by the output's extent ------------------------------------------------------------ */

enum { MOST_WINDOWS = 64 }; /* of an axis whose windows are not all alike */

/* Result i of `to` is of elements from floor(i * from / to) up to before ceil((i + 1) * from / to). */
static int64_t window_begin(int64_t i, int64_t from, int64_t to)
{
    return i * from / to;
}

static int64_t window_size(int64_t i, int64_t from, int64_t to)
{
    return ((i + 1) * from + to - 1) / to - window_begin(i, from, to);
}

/* Are they of one size and distance? So they are where nothing, or one element, is left of a division. */
static bool alike(int64_t from, int64_t to)
{
    return to <= from && from % to <= 1;
}

/* Each window by itself, end to end. */
static tw_value *by_window(tw_kr_node *n, tw_value *x, int axis, int64_t to)
{
    const int64_t from = x->shape.dim[axis], axes[] = {axis};
    const char *reduce = strcmp(n->row->op, "MaxPool") == 0 ? "ReduceMax" : "ReduceMean";
    tw_value *parts[MOST_WINDOWS];
    if (to > MOST_WINDOWS) {
        TW_KR_UNSUPPORTED(n,
                          "%lld windows of different sizes; at most %d are supported: choose an "
                          "output_size that divides %lld, or resize",
                          (long long)to, MOST_WINDOWS, (long long)from);
        return NULL;
    }
    for (int64_t i = 0; i < to; i++) {
        tw_value *part =
            tw_build_slice(n->b, x, axis, window_begin(i, from, to), window_size(i, from, to), 1);
        if (part && part->shape.dim[axis] > 1)
            part = tw_build1(n->b, reduce, part,
                             TW_SETTINGS(tw_set_ints("axes", 1, axes), tw_set_int("keepdims", 1)));
        if (!(parts[i] = part))
            return NULL;
    }
    return tw_build_concat(n->b, parts, (int)to, axis);
}

/* One pooling over the axes with windows that are alike, then the others one by one. */
bool tw_kr_op_adaptive_pool(tw_kr_node *n)
{
    const int spatial = n->row->kind;
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, spatial + 2, 0));
    tw_window p = {.kernel = {1, 1, 1}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}};
    const bool first = tw_kr_channels_first(n);
    int64_t to[3];
    bool own[3] = {false}, pooled = false;
    x = first ? tw_build_channels_last(n->b, x) : x;
    if (!x || tw_kr_ints(n, "output_size", spatial, true, 0, to) < 0)
        return false;
    for (int i = 0; i < spatial; i++) {
        const int64_t from = x->shape.dim[1 + i];
        if (to[i] < 1 || to[i] > INT32_MAX || from < 1)
            return TW_KR_FAIL(n, "an output_size of %lld on %lld elements", (long long)to[i],
                              (long long)from);
        own[i] = !alike(from, to[i]);
        if (own[i] || to[i] == from)
            continue;
        p.kernel[i] = window_size(0, from, to[i]);
        p.stride[i] = from / to[i];
        pooled = true;
    }
    if (pooled)
        x = tw_build_pool(n->b, n->row->op, x, spatial, &p);
    for (int i = 0; x && i < spatial; i++)
        x = own[i] ? by_window(n, x, 1 + i, to[i]) : x;
    return tw_kr_set(n, first ? tw_build_channels_first(n->b, x) : x);
}

/* --- whole images ------------------------------------------------------------------------------ */

/* The mean of the steps that count. */
static bool masked_mean(tw_kr_node *n, tw_value *x, tw_value *mask)
{
    const int64_t steps = tw_kr_channels_first(n) ? 2 : 1;
    const tw_setting *settings = TW_SETTINGS(
        tw_set_ints("axes", 1, &steps), tw_set_int("keepdims", tw_kr_flag(n, "keepdims", false)));
    mask = tw_kr_mask_axis(n, mask, 3 - (int)steps);
    x = tw_kr_select(n, mask, x, tw_kr_scalar(n, 0));
    x = x ? tw_build1(n->b, "ReduceSum", x, settings) : NULL;
    mask = x ? tw_build1(n->b, "ReduceSum", tw_build_cast(n->b, mask, TW_F32), settings) : NULL;
    return mask && tw_kr_set(n, tw_build2(n->b, "Div", x, mask, NULL));
}

/* kind: spatial axes. */
bool tw_kr_op_global_pool(tw_kr_node *n)
{
    const int spatial = n->row->kind;
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, spatial + 2, 0));
    tw_value *mask = tw_kr_mask(n, 1, 0);
    int64_t axes[3];
    if (x && mask && strcmp(n->op, "GlobalAveragePooling1D") == 0)
        return masked_mean(n, x, mask);
    for (int i = 0; i < spatial; i++)
        axes[i] = tw_kr_channels_first(n) ? 2 + i : 1 + i;
    return tw_kr_set(
        n, tw_build1(n->b, n->row->op, x,
                     TW_SETTINGS(tw_set_ints("axes", spatial, axes),
                                 tw_set_int("keepdims", tw_kr_flag(n, "keepdims", false)))));
}
