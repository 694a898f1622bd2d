/* GatherND and ScatterND: blocks at the places that tuples of indices say. */
#ifndef TW_OPS_GATHER_ND_H
#define TW_OPS_GATHER_ND_H

#include "ops/attributes.h"
#include "runtime/indices.h"

#define TW_GATHER_ND_ATTRIBUTES(A, T)                                                              \
    A(T, INT, batch_dims, 0, 0, TW_MAX_RANK, "leading axes that input and indices share")
TW_ATTRIBUTE_STRUCT(gather_nd, TW_GATHER_ND_ATTRIBUTES);

#define TW_SCATTER_ND_ATTRIBUTES(A, T)                                                             \
    A(T, ENUM, reduction, 0, 0, 4, TW_COMBINE_WORDS "how an update meets what is there")
TW_ATTRIBUTE_STRUCT(scatter_nd, TW_SCATTER_ND_ATTRIBUTES);

/* The indices' last axis holds tuples of `width` indices; the axes before it are `lead` axes of blocks.
 * A block is found behind `batch` shared axes and the tuple's; it has `rank` - `lead` axes. */
typedef struct tw_tuples {
    int32_t lead, width, batch, rank;
} tw_tuples;

/* x: rank of the tensor that the tuples point into; last: the indices' last extent. 0: no such. */
static inline int tw_tuples_resolve(int32_t x, int32_t index_rank, int32_t last, int32_t batch,
                                    tw_tuples *t)
{
    t->lead = index_rank - 1;
    t->width = last;
    t->batch = batch;
    t->rank = 0;
    if (index_rank < 1 || batch < 0 || batch > t->lead || last < 0 || last > x - batch)
        return 0;
    t->rank = t->lead + x - batch - last;
    return t->rank <= TW_MAX_RANK;
}

/* Reads the tuple at at[0..lead-1] into to[batch..]. TW_E_DATA: it points outside of x. */
tw_status tw_read_tuple(const tw_view *indices, const tw_tuples *t, const int32_t *at,
                        const tw_tensor *x, int32_t *to);

#endif
