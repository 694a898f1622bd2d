/* TopIndices: where the k greatest (or least) elements of an axis stand, the first of them first. */
#ifndef TW_OPS_TOP_INDICES_H
#define TW_OPS_TOP_INDICES_H

#include "ops/attributes.h"

#define TW_TOP_INDICES_ATTRIBUTES(A, T)                                                            \
    A(T, INT, axis, -1, -TW_MAX_RANK, TW_MAX_RANK - 1, "axis that is searched")                    \
    A(T, INT, k, 1, 0, INT32_MAX, "how many are found")                                            \
    A(T, BOOL, largest, 1, 0, 1, "the greatest, or the least")                                     \
    A(T, BOOL, last, 0, 0, 1, "of equal elements the last comes first, not the first")             \
    A(T, DTYPE, dtype, TW_S64, 1, 13, "s64 or s32: the type of the result")
TW_ATTRIBUTE_STRUCT(top_indices, TW_TOP_INDICES_ATTRIBUTES);

#endif
