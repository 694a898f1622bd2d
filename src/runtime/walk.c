/* Nested loops over two strided tensors: walk.h says how they are used. */
#include "runtime/walk.h"

void tw_walk_begin(tw_walk *w, void *to, const void *from)
{
    memset(w, 0, sizeof *w);
    w->to = (char *)to;
    w->from = (const char *)from;
}

void tw_walk_axis(tw_walk *w, int32_t extent, ptrdiff_t to_step, ptrdiff_t from_step)
{
    int32_t k = w->rank - 1;
    if (extent <= 0)
        w->empty = 1;
    if (extent <= 1 || w->empty)
        return;
    if (k >= w->closed && tw_steps_join(w->to_step[k], to_step, extent) &&
        tw_steps_join(w->from_step[k], from_step, extent)) {
        w->extent[k] *= extent;
    } else {
        k = w->rank++;
        w->extent[k] = extent;
    }
    w->to_step[k] = to_step;
    w->from_step[k] = from_step;
}

int tw_walk_open(tw_walk *w)
{
    if (w->rank == 0) {
        w->extent[0] = 1;
        w->rank = 1;
    }
    return !w->empty;
}

int tw_walk_next(tw_walk *w, int32_t loops)
{
    int32_t k;
    for (k = loops - 1; k >= 0; k--) {
        if (++w->index[k] < w->extent[k]) {
            w->to += w->to_step[k];
            w->from += w->from_step[k];
            return 1;
        }
        w->to -= w->to_step[k] * (w->extent[k] - 1);
        w->from -= w->from_step[k] * (w->extent[k] - 1);
        w->index[k] = 0;
    }
    return 0;
}
