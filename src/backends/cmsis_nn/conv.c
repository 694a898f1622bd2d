/* Which convolutions CMSIS-NN runs, and with what. */
#include "backends/cmsis_nn/conv.h"

#include "backends/cmsis_nn/cmsis_nn.h"
#include "backends/cmsis_nn/sums.h"
#include "ops/conv.h"

static int64_t taps_of(const tw_node *node)
{
    const tw_shape *w = &node->in[1]->shape;
    return tw_shape_elements(w) / w->dim[0];
}

/* why, or, where there is none, that the portable kernel of int8 (or 4 bit) weights is faster: all but on MVE. */
static const char *or_slow(const tw_native_node *n, const char *why)
{
    return why ? why : tw_cmsis_nn_slow(n, TW_CMSIS_NN_WITHOUT_MVE);
}

/* ---- 1x1 ---- */

/* Bands of a single output pixel are outputs. */
static bool is_pixel(const tw_node *node)
{
    const tw_shape *y = &node->out[0]->shape;
    return tw_shape_elements(y) == y->dim[y->rank - 1];
}

static bool has_padding(const tw_ints *list)
{
    for (int i = 0; i < list->count; i++)
        if (list->v[i] != 0)
            return true;
    return false;
}

static const char *is_1x1(const tw_native_node *n)
{
    const tw_conv_attributes *a = n->node->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    const tw_shape *w = &n->node->in[1]->shape;
    if (a->group != 1 || has_padding(&a->pad_begin) || has_padding(&a->pad_end) ||
        taps_of(n->node) != w->dim[w->rank - 1])
        return "no 1x1 convolution";
    return tw_native_bands(n, &lists, w->dim + 1);
}

static const char *can_1x1(const tw_native_node *n)
{
    return or_slow(n, is_1x1(n));
}

const tw_native tw_native_cmsis_nn_conv_1x1_s8 = {
    TW_CMSIS_NN_HEAD(conv_1x1_s8),
    .can = can_1x1,
};

/* ---- any window ---- */

static const char *fits(const tw_native_node *n)
{
    const tw_conv_attributes *a = n->node->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    const tw_shape *w = &n->node->in[1]->shape;
    if (a->group > 1 && is_pixel(n->node))
        return "groups of a single output pixel: its bands are channels";
    if (tw_cmsis_nn_conv_scratch(taps_of(n->node), n->cpus) == UINT32_MAX)
        return "a kernel of more than 2 GB";
    return tw_native_bands(n, &lists, w->dim + 1);
}

static const char *can(const tw_native_node *n)
{
    return or_slow(n, fits(n));
}

static uint32_t scratch(const tw_native_node *n, const tw_native_band *band)
{
    (void)band; /* pixels are worked on one by one */
    return tw_cmsis_nn_conv_scratch(taps_of(n->node), n->cpus);
}

static void prepare(const tw_native_node *n, tw_arena *arena, tw_lowering *lowering)
{
    tw_native_plain_bias(n, n->node->in[1]->shape.dim[0], arena, lowering);
}

const tw_native tw_native_cmsis_nn_conv_s8 = {
    TW_CMSIS_NN_HEAD(conv_s8),
    .can = can,
    .scratch = scratch,
    .prepare = prepare,
};

/* ---- weights of 4 bits ---- */

static const char *pairs_fit(const tw_native_node *n)
{
    return is_pixel(n->node) && taps_of(n->node) % 2
               ? "a single output pixel of an odd number of taps: bands would begin within a byte"
               : NULL;
}

static const char *can_1x1_s8w4(const tw_native_node *n)
{
    const char *why = is_1x1(n);
    return or_slow(n, why ? why : pairs_fit(n));
}

const tw_native tw_native_cmsis_nn_conv_1x1_s8w4 = {
    TW_CMSIS_NN_HEAD(conv_1x1_s8w4),
    .can = can_1x1_s8w4,
};

static const char *can_s8w4(const tw_native_node *n)
{
    const tw_conv_attributes *a = n->node->attributes;
    const char *why = a->group != 1 ? "groups" : pairs_fit(n);
    return or_slow(n, why ? why : fits(n));
}

const tw_native tw_native_cmsis_nn_conv_s8w4 = {
    TW_CMSIS_NN_HEAD(conv_s8w4),
    .can = can_s8w4,
    .scratch = scratch,
    .prepare = prepare,
};

/* ---- int16 ---- */

static const char *can_s16(const tw_native_node *n)
{
    const tw_conv_attributes *a = n->node->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    const tw_shape *w = &n->node->in[1]->shape;
    if (a->group != 1)
        return "groups";
    if (tw_cmsis_nn_is_wide(n) && taps_of(n->node) > TW_CMSIS_NN_MOST_TAPS)
        return "more than 512 products an output";
    if (tw_cmsis_nn_conv_s16_scratch(taps_of(n->node), n->cpus) == UINT32_MAX)
        return "a kernel of more than 2 GB";
    const char *why = tw_native_bands(n, &lists, w->dim + 1);
    return why ? why : tw_cmsis_nn_sums_fit(n, TW_WEIGHTS_BY_OUTPUT);
}

static uint32_t scratch_s16(const tw_native_node *n, const tw_native_band *band)
{
    (void)band;
    return tw_cmsis_nn_conv_s16_scratch(taps_of(n->node), n->cpus);
}

const tw_native tw_native_cmsis_nn_conv_s16 = {
    TW_CMSIS_NN_HEAD(conv_s16),
    .can = can_s16,
    .scratch = scratch_s16,
};
