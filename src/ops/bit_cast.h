/* BitCast: the bytes of elements taken for elements of another type. */
#ifndef TW_OPS_BIT_CAST_H
#define TW_OPS_BIT_CAST_H

#include "ops/attributes.h"

#define TW_BIT_CAST_ATTRIBUTES(A, T) A(T, DTYPE, dtype, TW_F32, 1, 13, "type of the result")
TW_ATTRIBUTE_STRUCT(bit_cast, TW_BIT_CAST_ATTRIBUTES);

#endif
