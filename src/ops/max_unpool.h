/* MaxUnpool: pooling by maximum undone, elements put where they came from.
 *
 *     MaxUnpool(x, index)   x, index [N, spatial.., C]   out [N, size.., C]
 *
 *     out[index[i]] = x[i], zero elsewhere
 *
 * An index counts n, c, spatial.. in rows of C and the extents of the output, as MaxPoolIndex does for
 * an input of those extents. Where two elements have one index the later in x remains. */
#ifndef TW_OPS_MAX_UNPOOL_H
#define TW_OPS_MAX_UNPOOL_H

#include "ops/attributes.h"

#define TW_MAX_UNPOOL_ATTRIBUTES(A, T)                                                             \
    A(T, INTS, size, 0, 0, INT32_MAX, "the output's spatial extents")
TW_ATTRIBUTE_STRUCT(max_unpool, TW_MAX_UNPOOL_ATTRIBUTES);

#endif
