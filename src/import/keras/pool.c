/* Pooling: windows of one to three spatial axes, and whole images. */
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
