/* BatchNorm: out = (x - mean) / sqrt(variance + epsilon) * scale + bias, one scale, bias, mean and
 * variance for each index of the last axis. */
#ifndef TW_OPS_BATCH_NORM_H
#define TW_OPS_BATCH_NORM_H

#include "ops/attributes.h"

#define TW_BATCH_NORM_ATTRIBUTES(A, T) A(T, FLOAT, epsilon, 1e-5, 0, 1e6, "added to the variance")
TW_ATTRIBUTE_STRUCT(batch_norm, TW_BATCH_NORM_ATTRIBUTES);

#endif
