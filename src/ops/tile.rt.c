/* Tile: kernel. Runs along the last axis, one after the other. */
#include "ops/tile.h"

#include "ops/codes.h"
#include "runtime/indices.h"

/* Elements first..end-1 of a run of the output: the input's `extent`, over and over. */
static void fill(char *to, const char *from, ptrdiff_t to_step, ptrdiff_t from_step, uint32_t bytes,
                 int32_t extent, int32_t first, int32_t end)
{
    while (first < end) {
        const int32_t start = first % extent;
        const int32_t count = extent == 1                    ? end - first
                              : end - first < extent - start ? end - first
                                                             : extent - start;
        tw_walk w;
        tw_walk_begin(&w, to, from + start * from_step);
        tw_walk_axis(&w, count, to_step, extent == 1 ? 0 : from_step);
        tw_walk_open(&w);
        tw_move_walk(&w, bytes);
        to += count * to_step;
        first += count;
    }
}

static tw_status run(const tw_call *call)
{
    const tw_view *x = &call->in[0], *out = &call->out[0];
    const int32_t rank = (int32_t)out->tensor->rank, last = rank - 1;
    const uint32_t bytes = tw_dtype_bytes(out->tensor->dtype);
    int32_t from[TW_MAX_RANK] = {0}, k;
    tw_box box;
    if (rank == 0)
        memcpy(out->data, x->data, bytes);
    if (rank == 0 || !tw_box_of(&box, out, rank))
        return TW_OK;
    box.rank = last; /* the last axis is one run */
    do {
        for (k = 0; k < last; k++)
            from[k] = box.index[k] % x->tensor->dim[k];
        if (!tw_holds(x, from[x->axis], x->axis == last ? x->tensor->dim[last] : 1))
            return TW_E_SCHEDULE;
        fill(tw_element(out, box.index), tw_element(x, from),
             tw_step(out->tensor->stride[last], bytes), tw_step(x->tensor->stride[last], bytes),
             bytes, x->tensor->dim[last], box.low[last], box.high[last]);
    } while (tw_box_next(&box));
    return TW_OK;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_tile_attributes *a = (const tw_tile_attributes *)call->attributes;
    const tw_tensor *x, *out;
    int32_t k;
    if (tw_check_move(call, 1, 1, work) != TW_OK || call->attribute_bytes != sizeof *a)
        return TW_E_CHECK;
    x = call->in[0].tensor;
    out = call->out[0].tensor;
    if (x->rank != out->rank || (a->repeats.count != 0 && a->repeats.count != (int32_t)out->rank))
        return TW_E_CHECK;
    for (k = 0; k < (int32_t)out->rank; k++) {
        const int64_t copies = a->repeats.count != 0 ? a->repeats.v[k] : 1;
        if (copies < 0 || copies * x->dim[k] != out->dim[k])
            return TW_E_CHECK;
    }
    return TW_OK;
}

TW_KERNEL(tile, any, run, check);
