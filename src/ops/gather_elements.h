/* GatherElements and ScatterElements: single elements, at the places that indices say on one axis. */
#ifndef TW_OPS_GATHER_ELEMENTS_H
#define TW_OPS_GATHER_ELEMENTS_H

#include "ops/attributes.h"
#include "runtime/indices.h"

#define TW_GATHER_ELEMENTS_ATTRIBUTES(A, T)                                                        \
    A(T, INT, axis, 0, -TW_MAX_RANK, TW_MAX_RANK - 1, "axis that the indices mean")
TW_ATTRIBUTE_STRUCT(gather_elements, TW_GATHER_ELEMENTS_ATTRIBUTES);

#define TW_SCATTER_ELEMENTS_ATTRIBUTES(A, T)                                                       \
    A(T, INT, axis, 0, -TW_MAX_RANK, TW_MAX_RANK - 1, "axis that the indices mean")                \
    A(T, ENUM, reduction, 0, 0, 4, TW_COMBINE_WORDS "how an update meets what is there")
TW_ATTRIBUTE_STRUCT(scatter_elements, TW_SCATTER_ELEMENTS_ATTRIBUTES);

#endif
