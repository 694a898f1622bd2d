/* CumSum and CumProd: running sums and products along an axis. */
#ifndef TW_OPS_CUMULATE_H
#define TW_OPS_CUMULATE_H

#include "ops/attributes.h"

#define TW_CUMULATE_ATTRIBUTES(A, T)                                                               \
    A(T, INT, axis, 0, -TW_MAX_RANK, TW_MAX_RANK - 1, "axis along which it runs")                  \
    A(T, BOOL, exclusive, 0, 0, 1, "an element is not part of its own result")                     \
    A(T, BOOL, reverse, 0, 0, 1, "from the last element to the first")                             \
    A(T, INT, start, 0, -255, 255, "int8 with scales: what a sum begins with, in the input's steps")
TW_ATTRIBUTE_STRUCT(cumulate, TW_CUMULATE_ATTRIBUTES);

/* int8: from the sum of stored elements less their zero point, times 2^left, to the output's scale. */
typedef struct tw_cumulate_table {
    int32_t multiplier, shift, left;
} tw_cumulate_table;

/* Most int8 elements of a lane: 32 bits hold the sum. */
#define TW_CUMULATE_S8_MOST (1 << 23)

#endif
