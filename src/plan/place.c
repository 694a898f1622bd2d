/* Addresses: the buffers of a region as intervals of plan/assign. */
#include <stdlib.h>

#include "plan/assign_memo.h"
#include "plan/overlap.h"

/* The bed of a buffer while both are in one memory, or null. */
static const tw_buffer *bed_of(const tw_schedule *s, const tw_buffer *upper)
{
    const tw_buffer *bed = upper->bed < 0 ? NULL : &s->buffers[upper->bed];
    return bed && bed->region == upper->region ? bed : NULL;
}

uint32_t tw_bed_bytes(const tw_schedule *s, const tw_buffer *upper)
{
    const tw_buffer *bed = bed_of(s, upper);
    if (!bed)
        return upper->bytes;
    if (upper->overlap)
        return (uint32_t)tw_overlap_bytes(upper, bed);
    return (uint32_t)tw_lead_bytes(upper->lead, bed->bytes, upper->bytes);
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

/* Intervals under construction, the buffer whose offset each of them finds, and how far that begins
 * above the interval. */
typedef struct tw_intervals {
    tw_interval *in;
    tw_buffer **buffer;
    int64_t *shift;
    int count;
} tw_intervals;

/* `at`: where the buffer itself begins, counted from the tie's lowest byte like in->above. */
static void add_interval(tw_intervals *all, tw_buffer *f, const tw_interval *in, int64_t at)
{
    if (in->first > in->last)
        return;
    all->buffer[all->count] = f;
    all->shift[all->count] = at - in->above;
    all->in[all->count++] = *in;
}

/* By how much the lowest of a chain of beds begins before the last result in it. */
static int64_t depth_of(const tw_schedule *s, const tw_buffer *top)
{
    int64_t at = 0, lowest = 0;
    for (const tw_buffer *f = top; bed_of(s, f); f = &s->buffers[f->bed]) {
        at += f->lead;
        lowest = at < lowest ? at : lowest;
    }
    return -lowest;
}

/* A buffer, its bed, that one's bed and so on, the last result first: what each has to itself and what
 * two share are intervals of a tie, which keeps them where they are to each other. */
static void add_chain(tw_schedule *s, tw_buffer *top, tw_intervals *all, int tie)
{
    int64_t at = depth_of(s, top);
    int end = top->last;
    tie = bed_of(s, top) ? tie : 0;
    for (tw_buffer *f = top; f; f = bed_of(s, f) ? &s->buffers[f->bed] : NULL) {
        const tw_buffer *bed = bed_of(s, f);
        int shared = bed ? bed->last : f->first - 1; /* with its bed until then */
        tw_interval own = {shared + 1, end, f->bytes, 0, tie, (uint32_t)at};
        add_interval(all, f, &own, at);
        if (bed) {
            int64_t low = f->lead < 0 ? at + f->lead : at;
            tw_interval both = {f->first, shared, 0, 0, tie, (uint32_t)low};
            both.bytes = (uint32_t)tw_lead_bytes(f->lead, bed->bytes, f->bytes);
            add_interval(all, f, &both, at);
        }
        end = f->first - 1;
        at += f->lead;
    }
}

/* Offsets of buffers that share all of their life follow from what they lie in. */
static void finish_chain(tw_schedule *s, tw_buffer *top)
{
    for (tw_buffer *f = top; bed_of(s, f); f = &s->buffers[f->bed])
        s->buffers[f->bed].offset = (uint32_t)(f->offset + f->lead);
}

uint32_t tw_place_buffers(tw_schedule *s, uint32_t region, tw_layer most, uint64_t nodes)
{
    tw_arena *arena = tw_arena_new();
    size_t room = 2 * (size_t)s->buffer_count + 1;
    tw_intervals all = {tw_alloc_array(arena, room, sizeof *all.in),
                        tw_alloc_array(arena, room, sizeof *all.buffer),
                        tw_alloc_array(arena, room, sizeof *all.shift), 0};
    bool *is_bed = tw_alloc_array(arena, room, sizeof *is_bed);
    for (int b = 0; b < s->buffer_count; b++)
        if (bed_of(s, &s->buffers[b]))
            is_bed[s->buffers[b].bed] = true;
    for (int b = 0; b < s->buffer_count; b++) {
        tw_buffer *f = &s->buffers[b];
        if (f->region == region && layer_of(f->use) <= most && !is_bed[b])
            add_chain(s, f, &all, b + 1);
    }
    uint64_t size = tw_assign_remembered(s->assigned, all.in, all.count, nodes);
    for (int i = 0; i < all.count; i++)
        all.buffer[i]->offset = (uint32_t)(all.in[i].offset + all.shift[i]);
    for (int b = 0; b < s->buffer_count; b++)
        if (s->buffers[b].region == region && !is_bed[b])
            finish_chain(s, &s->buffers[b]);
    tw_arena_free(arena);
    return size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
}
