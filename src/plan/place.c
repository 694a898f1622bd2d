/* Addresses: the buffers of a region as intervals of plan/assign. */
#include <stdlib.h>

#include "plan/assign.h"
#include "plan/schedule.h"

uint32_t tw_live_peak(const tw_schedule *s, bool activations_only, int *step)
{
    int count = s->step_count > 0 ? s->step_count : 1;
    int64_t *change = calloc((size_t)count + 1, sizeof *change);
    int64_t live = 0, peak = 0;
    int at = 0;
    if (!change)
        abort();
    for (int b = 0; b < s->buffer_count; b++) {
        const tw_buffer *f = &s->buffers[b];
        if (f->region != TW_REGION_FAST || (activations_only && f->use != TW_BUFFER_ACTIVATION))
            continue;
        change[f->first] += f->bytes;
        change[f->last + 1] -= f->bytes;
    }
    for (int i = 0; i < count; i++) {
        live += change[i];
        if (live > peak) {
            peak = live;
            at = i;
        }
    }
    free(change);
    if (step)
        *step = at;
    return peak > UINT32_MAX ? UINT32_MAX : (uint32_t)peak;
}

static tw_layer layer_of(tw_buffer_use use)
{
    return use == TW_BUFFER_SCRATCH   ? TW_LAYER_SCRATCH
           : use == TW_BUFFER_CONTEXT ? TW_LAYER_ALL
                                      : TW_LAYER_TENSORS;
}

uint32_t tw_place_buffers(tw_schedule *s, uint32_t region, tw_layer most)
{
    enum { NODES = 20000 }; /* about a tenth of a second */
    tw_arena *arena = tw_arena_new();
    tw_interval *intervals = tw_alloc_array(arena, (size_t)s->buffer_count + 1, sizeof *intervals);
    tw_buffer **buffers = tw_alloc_array(arena, (size_t)s->buffer_count + 1, sizeof *buffers);
    int count = 0;
    for (int b = 0; b < s->buffer_count; b++) {
        tw_buffer *f = &s->buffers[b];
        if (f->region != region || layer_of(f->use) > most)
            continue;
        intervals[count] = (tw_interval){f->first, f->last, f->bytes, 0};
        buffers[count++] = f;
    }
    uint64_t size = tw_assign_best(intervals, count, NODES);
    for (int i = 0; i < count; i++)
        buffers[i]->offset = intervals[i].offset;
    tw_arena_free(arena);
    return size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
}
