/* CumSum and CumProd: running sums and products along an axis. */
#ifndef TW_OPS_CUMULATE_H
#define TW_OPS_CUMULATE_H

#include "ops/attributes.h"

#define TW_CUMULATE_ATTRIBUTES(A, T)                                                               \
    A(T, INT, axis, 0, -TW_MAX_RANK, TW_MAX_RANK - 1, "axis along which it runs")                  \
    A(T, BOOL, exclusive, 0, 0, 1, "an element is not part of its own result")                     \
    A(T, BOOL, reverse, 0, 0, 1, "from the last element to the first")
TW_ATTRIBUTE_STRUCT(cumulate, TW_CUMULATE_ATTRIBUTES);

#endif
