/* Attributes of the views (view.def). */
#ifndef TW_OPS_VIEW_H
#define TW_OPS_VIEW_H

#include "ops/attributes.h"

#define TW_RESHAPE_ATTRIBUTES(A, T)                                                                \
    A(T, INTS, shape, 0, 0, INT32_MAX, "extents of the result; empty: a scalar")
TW_ATTRIBUTE_STRUCT(reshape, TW_RESHAPE_ATTRIBUTES);

#endif
