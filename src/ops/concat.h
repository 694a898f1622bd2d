/* Concat: the inputs one behind the other along an axis. */
#ifndef TW_OPS_CONCAT_H
#define TW_OPS_CONCAT_H

#include "ops/attributes.h"

#define TW_CONCAT_ATTRIBUTES(A, T)                                                                 \
    A(T, INT, axis, 0, -TW_MAX_RANK, TW_MAX_RANK - 1, "axis along which the inputs are joined")
TW_ATTRIBUTE_STRUCT(concat, TW_CONCAT_ATTRIBUTES);

#endif
