/* LogSoftmax: out[i] = x[i] - log(sum over j of exp(x[j])), i and j along one axis. */
#ifndef TW_OPS_LOG_SOFTMAX_H
#define TW_OPS_LOG_SOFTMAX_H

#include "ops/attributes.h"

#define TW_LOG_SOFTMAX_ATTRIBUTES(A, T)                                                            \
    A(T, INT, axis, -1, -TW_MAX_RANK, TW_MAX_RANK - 1, "axis whose exponentials sum to 1")
TW_ATTRIBUTE_STRUCT(log_softmax, TW_LOG_SOFTMAX_ATTRIBUTES);

/* int8, by the distance from the greatest element of the lane: what TFLite's reference makes of it with
 * 26 fraction bits, and its exponential with 19. Distances up to `most` are representable. */
typedef struct tw_log_softmax_table {
    int32_t distance[256], exp[256];
    int32_t most;
    int32_t multiplier, shift; /* from 26 fraction bits back to the input's steps */
} tw_log_softmax_table;

/* Most int8 elements of a lane: 32 bits hold the sum of exponentials. */
#define TW_LOG_SOFTMAX_S8_LONGEST 4095

#endif
