/* Addresses: the buffers of a region as intervals of plan/assign. */
#include <stdlib.h>

#include "plan/assign.h"
#include "plan/schedule.h"

/* The bed of a buffer while both are in one memory, or null. */
static const tw_buffer *bed_of(const tw_schedule *s, const tw_buffer *upper)
{
    const tw_buffer *bed = upper->bed < 0 ? NULL : &s->buffers[upper->bed];
    return bed && bed->region == upper->region ? bed : NULL;
}

uint32_t tw_bed_bytes(const tw_schedule *s, const tw_buffer *upper)
{
    const tw_buffer *bed = bed_of(s, upper);
    uint32_t below = bed ? upper->lead + bed->bytes : 0;
    return below > upper->bytes ? below : upper->bytes;
}

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
        const tw_buffer *bed = bed_of(s, f);
        if (!bed)
            continue;
        int64_t saved = (int64_t)f->bytes + bed->bytes - tw_bed_bytes(s, f);
        change[f->first] -= saved;
        change[bed->last + 1] += saved;
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

/* Intervals under construction, and the buffer whose offset each of them finds. */
typedef struct tw_intervals {
    tw_interval *in;
    tw_buffer **buffer;
    int count;
} tw_intervals;

static void add_interval(tw_intervals *all, tw_buffer *f, int first, int last, uint32_t bytes,
                         int tie, uint32_t above)
{
    if (first > last)
        return;
    all->buffer[all->count] = f;
    all->in[all->count++] = (tw_interval){first, last, bytes, 0, tie, above};
}

/* A buffer, its bed, that one's bed and so on, the last result first: what each has to itself and what
 * two share are intervals of a tie, which keeps them where they are to each other. */
static void add_chain(tw_schedule *s, tw_buffer *top, tw_intervals *all, int tie)
{
    uint32_t above = 0;
    int end = top->last;
    tie = bed_of(s, top) ? tie : 0;
    for (tw_buffer *f = top; f; f = bed_of(s, f) ? &s->buffers[f->bed] : NULL) {
        const tw_buffer *bed = bed_of(s, f);
        int shared = bed ? bed->last : f->first - 1; /* with its bed until then */
        add_interval(all, f, shared + 1, end, f->bytes, tie, above);
        if (bed)
            add_interval(all, f, f->first, shared, tw_bed_bytes(s, f), tie, above);
        end = f->first - 1;
        above += f->lead;
    }
}

/* Offsets of buffers that share all of their life follow from what they lie in. */
static void finish_chain(tw_schedule *s, tw_buffer *top)
{
    for (tw_buffer *f = top; bed_of(s, f); f = &s->buffers[f->bed])
        s->buffers[f->bed].offset = f->offset + f->lead;
}

uint32_t tw_place_buffers(tw_schedule *s, uint32_t region, tw_layer most, uint64_t nodes)
{
    tw_arena *arena = tw_arena_new();
    size_t room = 2 * (size_t)s->buffer_count + 1;
    tw_intervals all = {tw_alloc_array(arena, room, sizeof *all.in),
                        tw_alloc_array(arena, room, sizeof *all.buffer), 0};
    bool *is_bed = tw_alloc_array(arena, room, sizeof *is_bed);
    for (int b = 0; b < s->buffer_count; b++)
        if (bed_of(s, &s->buffers[b]))
            is_bed[s->buffers[b].bed] = true;
    for (int b = 0; b < s->buffer_count; b++) {
        tw_buffer *f = &s->buffers[b];
        if (f->region == region && layer_of(f->use) <= most && !is_bed[b])
            add_chain(s, f, &all, b + 1);
    }
    uint64_t size = tw_assign_best(all.in, all.count, nodes);
    for (int i = 0; i < all.count; i++)
        all.buffer[i]->offset = all.in[i].offset;
    for (int b = 0; b < s->buffer_count; b++)
        if (s->buffers[b].region == region && !is_bed[b])
            finish_chain(s, &s->buffers[b]);
    tw_arena_free(arena);
    return size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
}
