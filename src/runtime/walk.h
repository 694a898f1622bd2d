/* Nested loops over two strided tensors at once, outermost first. In: axes, one after the other.
 * Out: the two addresses, in row-major order of the index. Axes of extent 1 vanish and neighbours
 * that are contiguous in both tensors become one loop, which never changes the order of elements.
 *
 *     tw_walk w;
 *     tw_walk_begin(&w, to, from);
 *     for (k = 0; k < rank; k++)
 *         tw_walk_axis(&w, dim[k], to_step[k], from_step[k]);
 *     if (tw_walk_open(&w))
 *         do
 *             run(w.to, w.from, w.extent[w.rank - 1], ...);
 *         while (tw_walk_next(&w, w.rank - 1));
 */
#ifndef TW_RUNTIME_WALK_H
#define TW_RUNTIME_WALK_H

#include "runtime/kernel.h"

typedef struct tw_walk {
    int32_t rank;
    int32_t closed; /* loops before this one take in no further axis */
    int32_t empty;  /* some extent is 0 */
    int32_t extent[TW_MAX_RANK], index[TW_MAX_RANK];
    ptrdiff_t to_step[TW_MAX_RANK], from_step[TW_MAX_RANK]; /* bytes */
    char *to;
    const char *from;
} tw_walk;

void tw_walk_begin(tw_walk *w, void *to, const void *from);

/* Append an axis inside the present ones. At most TW_MAX_RANK. */
void tw_walk_axis(tw_walk *w, int32_t extent, ptrdiff_t to_step, ptrdiff_t from_step);

/* Ready to go: at least one loop; 0 when there is nothing to visit. */
int tw_walk_open(tw_walk *w);

/* On to the next index of the outermost `loops` loops; 0 after the last. */
int tw_walk_next(tw_walk *w, int32_t loops);

/* outer == inner * extent, computed where nothing overflows: the loops are contiguous. */
static inline int tw_steps_join(ptrdiff_t outer, ptrdiff_t inner, int32_t extent)
{
    return (size_t)outer == (size_t)inner * (size_t)extent;
}

/* Bytes from one index to the next. Unsigned on the way: an axis of extent 1 may have any stride. */
static inline ptrdiff_t tw_step(int32_t stride, uint32_t element_bytes)
{
    return (ptrdiff_t)((size_t)stride * element_bytes);
}

#endif
