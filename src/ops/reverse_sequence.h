/* ReverseSequence: the first elements of an axis in reverse order, as many as each batch entry says. */
#ifndef TW_OPS_REVERSE_SEQUENCE_H
#define TW_OPS_REVERSE_SEQUENCE_H

#include "ops/attributes.h"

#define TW_REVERSE_SEQUENCE_ATTRIBUTES(A, T)                                                       \
    A(T, INT, axis, 0, -TW_MAX_RANK, TW_MAX_RANK - 1, "axis that is reversed")                     \
    A(T, INT, batch_axis, 1, -TW_MAX_RANK, TW_MAX_RANK - 1, "axis with a length for each index")
TW_ATTRIBUTE_STRUCT(reverse_sequence, TW_REVERSE_SEQUENCE_ATTRIBUTES);

#endif
