/* Which depthwise convolutions CMSIS-NN runs, and with what. */
#include "backends/cmsis_nn/depthwise.h"

#include "backends/cmsis_nn/cmsis_nn.h"
#include "backends/cmsis_nn/sums.h"
#include "ops/depthwise_conv.h"

static int64_t taps_of(const tw_node *node)
{
    const tw_shape *w = &node->in[1]->shape;
    return tw_shape_elements(w) / w->dim[w->rank - 1];
}

/* ---- what both kernels need ---- */

static const char *fits(const tw_native_node *n)
{
    const tw_depthwise_conv_attributes *a = n->node->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    const tw_shape *y = &n->node->out[0]->shape;
    if (tw_shape_elements(y) == y->dim[y->rank - 1])
        return "a single output pixel: its bands are channels, which the library does not cut";
    return tw_native_bands(n, &lists, n->node->in[1]->shape.dim);
}

static void prepare(const tw_native_node *n, tw_arena *arena, tw_lowering *lowering)
{
    const tw_shape *w = &n->node->in[1]->shape;
    tw_native_plain_bias(n, w->dim[w->rank - 1], arena, lowering);
}

/* ---- one output a channel ---- */

static const char *fits_plain(const tw_native_node *n)
{
    const tw_depthwise_conv_attributes *a = n->node->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    const tw_shape *x = &n->node->in[0]->shape, *y = &n->node->out[0]->shape;
    const char *why = fits(n);
    if (why)
        return why;
    if (x->dim[x->rank - 1] != y->dim[y->rank - 1])
        return "several outputs a channel: the portable kernel is faster";
    if (tw_cmsis_nn_depthwise_scratch(x->dim[x->rank - 1], taps_of(n->node), n->cpus) == UINT32_MAX)
        return "a kernel of more than 2 GB";
    return tw_native_touch(n, &lists, n->node->in[1]->shape.dim);
}

static const char *can_plain(const tw_native_node *n)
{
    const char *why = fits_plain(n);
    return why ? why : tw_cmsis_nn_slow(n, TW_CMSIS_NN_WITHOUT_MVE);
}

static uint32_t scratch(const tw_native_node *n, const tw_native_band *band)
{
    const tw_shape *x = &n->node->in[0]->shape;
    (void)band; /* pixels are worked on one by one, or four by four */
    return tw_cmsis_nn_depthwise_scratch(x->dim[x->rank - 1], taps_of(n->node), n->cpus);
}

const tw_native tw_native_cmsis_nn_depthwise_plain_s8 = {
    TW_CMSIS_NN_HEAD(depthwise_plain_s8),
    .can = can_plain,
    .scratch = scratch,
    .prepare = prepare,
};

/* ---- 3x3 ---- */

static const char *can_3x3(const tw_native_node *n)
{
    const tw_depthwise_conv_attributes *a = n->node->attributes;
    const tw_shape *w = &n->node->in[1]->shape, *x = &n->node->in[0]->shape;
    const tw_shape *y = &n->node->out[0]->shape;
    const char *why = fits_plain(n);
    if (why)
        return why;
    if ((n->cpus & TW_CMSIS_NN_MVE) || w->rank != 3 || w->dim[0] != 3 || w->dim[1] != 3)
        return "no 3x3 kernel on a processor without MVE";
    const int32_t stride = a->stride.count ? a->stride.v[1] : 1;
    const int32_t pad = a->pad_begin.count ? a->pad_begin.v[1] : 0;
    return pad <= 1 && (int64_t)(y->dim[2] - 1) * stride - pad + 1 < x->dim[2]
               ? tw_cmsis_nn_slow(n, TW_CMSIS_NN_PLAIN)
               : "a window whose middle column is padding";
}

const tw_native tw_native_cmsis_nn_depthwise_3x3_s8 = {
    TW_CMSIS_NN_HEAD(depthwise_3x3_s8),
    .can = can_3x3,
    .prepare = prepare,
};

/* ---- int16 ---- */

static const char *can_s16(const tw_native_node *n)
{
    const tw_shape *y = &n->node->out[0]->shape;
    const char *why = fits_plain(n);
    if (why)
        return why;
    if (!tw_cmsis_nn_is_wide(n))
        return "a bias of 32 bits";
    if (y->dim[y->rank - 1] % 4 != 0)
        return "channels are no multiple of 4: the library reads as many tables";
    if (taps_of(n->node) >= TW_CMSIS_NN_DEPTHWISE_TAPS)
        return "a kernel of 512 taps or more";
    if (tw_cmsis_nn_depthwise_s16_scratch(y->dim[y->rank - 1], taps_of(n->node), n->cpus) ==
        UINT32_MAX)
        return "a kernel of more than 2 GB";
    why = tw_cmsis_nn_sums_fit(n, TW_WEIGHTS_BY_TAP);
    return why ? why : tw_cmsis_nn_slow(n, TW_CMSIS_NN_PLAIN);
}

static uint32_t scratch_s16(const tw_native_node *n, const tw_native_band *band)
{
    const tw_shape *y = &n->node->out[0]->shape;
    (void)band;
    return tw_cmsis_nn_depthwise_s16_scratch(y->dim[y->rank - 1], taps_of(n->node), n->cpus);
}

const tw_native tw_native_cmsis_nn_depthwise_s16 = {
    TW_CMSIS_NN_HEAD(depthwise_s16),
    .can = can_s16,
    .scratch = scratch_s16,
};
