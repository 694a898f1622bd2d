/* What the kernels of FullyConnectedMap share: which elements of the map a call brings, in runs that lie side by
 * side in the map and in the weights. Device code. */
#ifndef TW_OPS_MAP_JOB_H
#define TW_OPS_MAP_JOB_H

#include "ops/connected_map.h"
#include "ops/product.h"
#include "runtime/walk.h"

typedef struct tw_map_job {
    tw_product product; /* of one run; depth: its elements */
    int32_t outputs;
    int begins, ends;
    tw_walk walk;      /* to: weights of the first output; from: the map */
    ptrdiff_t element; /* bytes of one of the map's */
} tw_map_job;

/* Everything but bias and tables. `weights`: their type; sum_bytes: of what is kept for an output. */
tw_status tw_map_check(const tw_call *call, uint32_t dtype, uint32_t weights, uint32_t sum_bytes,
                       uint64_t *work);

/* TW_E_SCHEDULE where a view lacks what the call needs. */
tw_status tw_map_open(const tw_call *call, tw_map_job *job);

/* Add the products of a run, of job->product.depth elements, to the sums. */
typedef void (*tw_map_function)(const tw_map_job *job, const void *x, const void *w, void *context);
void tw_map_each(tw_map_job *job, tw_map_function add, void *context);

#endif
