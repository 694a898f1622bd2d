/* The rows of a stream that a run still needs: those kept from earlier runs, moved up by the new ones.
 *
 *     History(kept, x)   kept [.., L, ..]   x [.., c, ..], c <= L   out [.., L, ..]
 *
 *     out = the last L rows of kept | x along `axis`
 *
 * As a state's next value it lies over what it is computed from: `kept` may be `out`. */
#ifndef TW_OPS_HISTORY_H
#define TW_OPS_HISTORY_H

#include "ops/attributes.h"

#define TW_HISTORY_ATTRIBUTES(A, T)                                                                \
    A(T, INT, axis, 0, -TW_MAX_RANK, TW_MAX_RANK - 1, "axis along which rows come in")
TW_ATTRIBUTE_STRUCT(history, TW_HISTORY_ATTRIBUTES);

#endif
