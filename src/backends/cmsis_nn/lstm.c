/* Which LSTM layers CMSIS-NN runs: their products. */
#include "backends/cmsis_nn/lstm.h"

#include <stdlib.h>

#include "backends/cmsis_nn/cmsis_nn.h"
#include "backends/cmsis_nn/sums.h"

static int32_t outputs_of(const tw_native_node *n)
{
    return n->node->in[1]->shape.dim[1];
}

static const char *can(const tw_native_node *n)
{
    const tw_shape *w = &n->node->in[1]->shape;
    if (w->dim[1] < 1 || w->dim[2] < 1)
        return "an extent of 0";
    return tw_cmsis_nn_lstm_scratch(outputs_of(n), 1) <= INT32_MAX
               ? tw_cmsis_nn_slow(n, TW_CMSIS_NN_PLAIN)
               : "gates of more than 2 GB";
}

/* The library adds int16's products up in 32 bits, MVE's with the bias. */
static const char *can_s16(const tw_native_node *n)
{
    const tw_lstm_scales *s = n->portable->blob[TW_LSTM_BLOB_SCALES].data;
    const int64_t *bias = n->portable->blob[TW_LSTM_BLOB_BIAS].data;
    const int64_t rows = (int64_t)outputs_of(n) * TW_LSTM_GATES;
    for (int64_t r = 0; r < rows; r++) {
        const int g = (int)(r / outputs_of(n));
        for (int operand = 1; operand <= 2; operand++) {
            const tw_value *w = n->node->in[operand];
            const tw_lstm_rescale *scale = operand == 1 ? &s->x[g] : &s->h[g];
            const int64_t most =
                tw_cmsis_nn_row_reach((const int8_t *)w->data + r * w->shape.dim[2],
                                      w->shape.dim[2]) +
                (operand == 1 ? (int64_t)llabs(bias[r]) : 0);
            if (most > INT32_MAX ||
                tw_cmsis_nn_rescaled_reach(most, scale->multiplier, scale->shift) >= INT32_MAX / 2)
                return "sums that may exceed 32 bits";
        }
    }
    return can(n);
}

static uint32_t scratch_s8(const tw_native_node *n, const tw_native_band *band)
{
    (void)band; /* steps are worked on one by one */
    return (uint32_t)tw_cmsis_nn_lstm_scratch(outputs_of(n), 0);
}

static uint32_t scratch_s16(const tw_native_node *n, const tw_native_band *band)
{
    (void)band;
    return (uint32_t)tw_cmsis_nn_lstm_scratch(outputs_of(n), 1);
}

/* As the portable kernel, whose walk it is: states are copied before the first step, and written behind the
 * last. */
static bool alias(const tw_native_node *n, int input)
{
    (void)n;
    (void)input;
    return true;
}

const tw_native tw_native_cmsis_nn_lstm_s8 = {
    TW_CMSIS_NN_HEAD(lstm_s8),
    .can = can,
    .scratch = scratch_s8,
    .alias = alias,
};

const tw_native tw_native_cmsis_nn_lstm_s16 = {
    TW_CMSIS_NN_HEAD(lstm_s16),
    .can = can_s16,
    .scratch = scratch_s16,
    .alias = alias,
};
