/* Cast: the same numbers in another type.
 *
 *     integer to integer   the low bits: wraps around
 *     float to integer     cut off towards zero, then held within the type; NaN is 0
 *     to float             nearest, halves to even; beyond the range infinity
 *     to bool              x != 0 (NaN is true)
 */
#ifndef TW_OPS_CAST_H
#define TW_OPS_CAST_H

#include "ops/attributes.h"

#define TW_CAST_ATTRIBUTES(A, T) A(T, DTYPE, dtype, TW_F32, 1, 13, "type of the result")
TW_ATTRIBUTE_STRUCT(cast, TW_CAST_ATTRIBUTES);

#endif
