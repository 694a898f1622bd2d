/* UnitNormalize: int8 vectors along an axis brought to length 1, as TFLite does it. */
#ifndef TW_OPS_UNIT_NORMALIZE_H
#define TW_OPS_UNIT_NORMALIZE_H

#include "ops/attributes.h"

#define TW_UNIT_NORMALIZE_ATTRIBUTES(A, T)                                                         \
    A(T, INT, axis, -1, -TW_MAX_RANK, TW_MAX_RANK - 1, "axis of the vectors")
TW_ATTRIBUTE_STRUCT(unit_normalize, TW_UNIT_NORMALIZE_ATTRIBUTES);

/* Most elements of a vector: 32 bits hold the sum of squares. */
#define TW_UNIT_NORMALIZE_LONGEST 32768

#endif
