/* Addresses. Several greedy orders are tried, each buffer going to the lowest gap that is free for
 * its whole life; the lowest arena wins. The live-range bound says how far that can be from the
 * best. */
#include <stdlib.h>
#include <string.h>

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

typedef struct tw_item {
    tw_buffer *buffer;
    uint32_t offset;
    int key_index; /* original position: ties are broken by it, so that plans are reproducible */
    double key;
} tw_item;

static int by_key(const void *left, const void *right)
{
    const tw_item *a = left, *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return a->key_index - b->key_index;
}

static int by_offset(const void *left, const void *right)
{
    const tw_item *const *a = left, *const *b = right;
    if ((*a)->offset != (*b)->offset)
        return (*a)->offset < (*b)->offset ? -1 : 1;
    return (*a)->key_index - (*b)->key_index;
}

static bool overlap(const tw_buffer *a, const tw_buffer *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* Place items in their order; `taken` is room for as many pointers. Returns the arena's size. */
static uint64_t place_in_order(tw_item *items, int count, tw_item **taken)
{
    uint64_t size = 0;
    for (int i = 0; i < count; i++) {
        int n = 0;
        for (int k = 0; k < i; k++)
            if (overlap(items[i].buffer, items[k].buffer))
                taken[n++] = &items[k];
        qsort(taken, (size_t)n, sizeof *taken, by_offset);
        uint64_t at = 0;
        for (int k = 0; k < n; k++) {
            if (at + items[i].buffer->bytes <= taken[k]->offset)
                break;
            uint64_t end = (uint64_t)taken[k]->offset + taken[k]->buffer->bytes;
            at = end > at ? (end + TW_PLAN_ALIGN - 1) / TW_PLAN_ALIGN * TW_PLAN_ALIGN : at;
        }
        items[i].offset = at > UINT32_MAX ? UINT32_MAX : (uint32_t)at;
        if (at + items[i].buffer->bytes > size)
            size = at + items[i].buffer->bytes;
    }
    return size;
}

static double key_of(const tw_buffer *b, int order)
{
    double life = b->last - b->first + 1;
    switch (order) {
    case 0: return b->bytes;                /* large first */
    case 1: return (double)b->bytes * life; /* large area first */
    case 2: return life;                    /* long-lived first */
    default: return -b->first;              /* in order of birth */
    }
}

uint32_t tw_place_buffers(tw_schedule *s, uint32_t region, bool with_scratch)
{
    tw_arena *arena = tw_arena_new();
    tw_item *items = tw_alloc_array(arena, (size_t)s->buffer_count + 1, sizeof *items);
    tw_item **taken = tw_alloc_array(arena, (size_t)s->buffer_count + 1, sizeof *taken);
    int count = 0;
    for (int b = 0; b < s->buffer_count; b++)
        if (s->buffers[b].region == region &&
            (with_scratch || s->buffers[b].use != TW_BUFFER_SCRATCH)) {
            items[count].buffer = &s->buffers[b];
            items[count++].key_index = b;
        }
    uint64_t best = UINT64_MAX;
    for (int order = 0; order < 4; order++) {
        for (int i = 0; i < count; i++)
            items[i].key = key_of(items[i].buffer, order);
        qsort(items, (size_t)count, sizeof *items, by_key);
        uint64_t size = place_in_order(items, count, taken);
        if (size < best) {
            best = size;
            for (int i = 0; i < count; i++)
                items[i].buffer->offset = items[i].offset;
        }
    }
    tw_arena_free(arena);
    return best > UINT32_MAX ? UINT32_MAX : (uint32_t)best;
}
