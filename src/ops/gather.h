/* Gather: slices of the input along one axis, chosen by indices that may be data. */
#ifndef TW_OPS_GATHER_H
#define TW_OPS_GATHER_H

#include "ops/attributes.h"

#define TW_GATHER_ATTRIBUTES(A, T)                                                                 \
    A(T, INT, axis, 0, -TW_MAX_RANK, TW_MAX_RANK - 1, "axis of the input that the indices mean")   \
    A(T, INT, batch_dims, 0, 0, TW_MAX_RANK, "leading axes that input and indices share")
TW_ATTRIBUTE_STRUCT(gather, TW_GATHER_ATTRIBUTES);

/* Axes of the result: those of the input before `axis`, those of the indices behind the shared ones (up
 * to `lead`), those of the input behind `axis`. */
typedef struct tw_gathering {
    int32_t axis, batch, lead, rank;
} tw_gathering;

/* 0 when axis or batch_dims do not fit the ranks. */
static inline int tw_gather_resolve(const tw_gather_attributes *a, int32_t rank, int32_t index_rank,
                                    tw_gathering *g)
{
    g->axis = a->axis < 0 ? a->axis + rank : a->axis;
    g->batch = a->batch_dims;
    g->lead = g->rank = 0;
    if (g->axis < 0 || g->axis >= rank || g->batch < 0 || g->batch > g->axis ||
        g->batch > index_rank)
        return 0;
    g->lead = g->axis + index_rank - g->batch;
    g->rank = rank - 1 + index_rank - g->batch;
    return g->rank <= TW_MAX_RANK;
}

#endif
