/* Where CMSIS-NN's arithmetic on int16 is the reference's: it adds products up in 32 bits, and takes what is
 * left of a sum of 64 bits, rescaled, for 32. */
#include "backends/cmsis_nn/sums.h"

int64_t tw_cmsis_nn_row_reach(const int8_t *weights, int64_t count)
{
    int64_t most = 0;
    for (int64_t i = 0; i < count; i++)
        most += (int64_t)32768 * (weights[i] < 0 ? -weights[i] : weights[i]);
    return most;
}

int64_t tw_cmsis_nn_rescaled_reach(int64_t most, int32_t multiplier, int32_t shift)
{
    const int64_t rough = multiplier < 0x7FFF0000 ? (multiplier + (1 << 15)) >> 16 : 0x7FFF;
    return (most * rough) >> (14 - shift);
}

const char *tw_cmsis_nn_sums_fit(const tw_native_node *n, tw_weight_order order)
{
    const tw_lowering *l = n->portable;
    const tw_shape *w = &n->node->in[1]->shape;
    const int8_t *weights = n->node->in[1]->data;
    const int32_t *multiplier = l->blob[TW_BLOB_MULTIPLIER].data,
                  *shift = l->blob[TW_BLOB_SHIFT].data;
    const int64_t channels = (int64_t)(l->blob[TW_BLOB_MULTIPLIER].bytes / 4u);
    const int64_t taps = tw_shape_elements(w) / channels;
    const bool wide = tw_cmsis_nn_is_wide(n);
    for (int64_t o = 0; o < channels; o++) {
        const int64_t bias = wide ? ((const int64_t *)l->blob[TW_BLOB_BIAS].data)[o]
                                  : ((const int32_t *)l->blob[TW_BLOB_BIAS].data)[o];
        int64_t most = 0;
        for (int64_t t = 0; t < taps; t++) {
            const int v =
                order == TW_WEIGHTS_BY_OUTPUT ? weights[o * taps + t] : weights[t * channels + o];
            most += (int64_t)32768 * (v < 0 ? -v : v);
        }
        const int64_t all = most + (bias < 0 ? -bias : bias);
        if (most > INT32_MAX || all >= (int64_t)1 << 47 || (!wide && all > INT32_MAX) ||
            (wide && tw_cmsis_nn_rescaled_reach(all, multiplier[o], shift[o]) >= INT32_MAX))
            return "sums that may exceed 32 bits";
    }
    return NULL;
}

const char *tw_cmsis_nn_products_fit(const tw_native_node *n, int32_t depth)
{
    const tw_lowering *l = n->portable;
    const int32_t *multiplier = l->blob[TW_BLOB_MULTIPLIER].data,
                  *shift = l->blob[TW_BLOB_SHIFT].data;
    const int64_t most = ((int64_t)1 << 30) * depth;
    return most < (int64_t)1 << 47 &&
                   tw_cmsis_nn_rescaled_reach(most, *multiplier, *shift) < INT32_MAX
               ? NULL
               : "sums that may exceed 32 bits";
}
