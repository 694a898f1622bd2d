/* LogSoftmax: out[i] = x[i] - log(sum over j of exp(x[j])), i and j along one axis. */
#ifndef TW_OPS_LOG_SOFTMAX_H
#define TW_OPS_LOG_SOFTMAX_H

#include "ops/attributes.h"

#define TW_LOG_SOFTMAX_ATTRIBUTES(A, T)                                                            \
    A(T, INT, axis, -1, -TW_MAX_RANK, TW_MAX_RANK - 1, "axis whose exponentials sum to 1")
TW_ATTRIBUTE_STRUCT(log_softmax, TW_LOG_SOFTMAX_ATTRIBUTES);

#endif
