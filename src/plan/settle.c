/* Addresses for a segmentation. In: steps and segments as they stand. Out: buffers in every region; of what
 * lies over what, only as much as makes the whole smaller: what is tied together is harder to place. */
#include "plan/settle.h"

#include <string.h>

#include "plan/joins.h"
#include "plan/overlap.h"

/* Placements tried in a search for addresses: for a single change of a segmentation, and for each one that
 * is considered. */
enum { TRY_NODES = 500, NODES = 1500 };

/* Addresses in every region: all that `-m` is held against. */
static void place_all(tw_schedule *s, uint64_t nodes)
{
    s->region_bytes[TW_REGION_FAST] = tw_place_buffers(s, TW_REGION_FAST, TW_LAYER_ALL, nodes);
    s->region_bytes[TW_REGION_SLOW] = tw_place_buffers(s, TW_REGION_SLOW, TW_LAYER_ALL, nodes);
    s->region_bytes[TW_REGION_STATE] = tw_place_buffers(s, TW_REGION_STATE, TW_LAYER_ALL, nodes);
}

/* Does the fast memory take what no placement could do without? */
static bool is_tight(const tw_schedule *s)
{
    return s->region_bytes[TW_REGION_FAST] <= tw_live_peak(s, false, NULL);
}

void tw_place_again(tw_schedule *s)
{
    place_all(s, NODES);
}

void tw_place_last(tw_schedule *s)
{
    if (!is_tight(s))
        place_all(s, TW_LAST_NODES);
}

static void make_buffers(tw_schedule *s)
{
    tw_plan_buffers(s, true);
    tw_plan_overlaps(s);
}

/* Is the plan smaller than `least` with the sides that the steps ask for? */
static bool is_smaller(tw_schedule *s, uint32_t *least)
{
    make_buffers(s);
    if (tw_live_peak(s, false, NULL) >= *least)
        return false;
    place_all(s, TRY_NODES);
    if (s->region_bytes[TW_REGION_FAST] >= *least)
        return false;
    *least = s->region_bytes[TW_REGION_FAST];
    return true;
}

static bool lies_over_input(const tw_schedule *s, int step)
{
    const tw_value *out = s->steps[step].node->out[0];
    const tw_buffer *b =
        s->places[out->index].buffer < 0 ? NULL : &s->buffers[s->places[out->index].buffer];
    return b && b->overlap && b->bed >= 0 && b->first == step;
}

static void try_side(tw_schedule *s, int step, tw_side side, uint32_t *least)
{
    tw_side before = s->steps[step].side;
    s->steps[step].side = side;
    if (!is_smaller(s, least))
        s->steps[step].side = before;
}

/* Ties between addresses may cost more than results over their input save: try the other sides, without
 * them one by one, and without all of them. */
static void settle_sides(tw_schedule *s)
{
    enum { MOST_STEPS = 64, TRIES = 8 };
    uint32_t least = s->region_bytes[TW_REGION_FAST];
    size_t steps = (size_t)s->step_count;
    int tries = s->step_count > MOST_STEPS ? TRIES : 0;
    for (int i = 0; i < s->step_count && tries < TRIES; i++) {
        make_buffers(s);
        if (!lies_over_input(s, i))
            continue;
        tries++;
        for (tw_side side = TW_SIDE_BELOW; side <= TW_SIDE_APART; side++)
            try_side(s, i, side, &least);
    }
    tw_step *kept = tw_copy(s->arena, s->steps, sizeof *s->steps * steps);
    for (int i = 0; i < s->step_count; i++)
        s->steps[i].side = TW_SIDE_APART;
    if (!is_smaller(s, &least))
        memcpy(s->steps, kept, sizeof *s->steps * steps);
}

void tw_place_segments(tw_schedule *s, uint32_t worth)
{
    s->to_edges = false;
    tw_plan_joins(s);
    make_buffers(s);
    place_all(s, NODES);
    if (is_tight(s))
        return;
    uint32_t nearest = s->region_bytes[TW_REGION_FAST];
    s->to_edges = true;
    make_buffers(s);
    place_all(s, NODES);
    if (is_tight(s))
        return;
    uint32_t gap = s->region_bytes[TW_REGION_FAST] - tw_live_peak(s, false, NULL);
    bool cares = tw_fast_total(s) - gap < worth;
    s->to_edges = s->region_bytes[TW_REGION_FAST] < nearest;
    s->region_bytes[TW_REGION_FAST] = s->to_edges ? s->region_bytes[TW_REGION_FAST] : nearest;
    if (cares)
        settle_sides(s);
    make_buffers(s);
    place_all(s, NODES);
}

static void leave_out_beds(tw_schedule *s)
{
    for (int v = 0; v < s->graph->value_count; v++)
        s->windows[v].bed = NULL;
}

void tw_drop_beds(tw_schedule *s)
{
    enum { TRIES = 12 };
    uint32_t least = s->region_bytes[TW_REGION_FAST];
    int tries = 0;
    for (int v = 0; v < s->graph->value_count && tries < TRIES; v++) {
        tw_window *w = &s->windows[v];
        const tw_value *bed = w->bed;
        if (!bed)
            continue;
        tries++;
        w->bed = NULL;
        w->bed = is_smaller(s, &least) ? NULL : bed;
    }
    size_t bytes = sizeof *s->windows * (size_t)s->graph->value_count;
    tw_window *kept = tw_copy(s->arena, s->windows, bytes);
    leave_out_beds(s);
    if (!is_smaller(s, &least))
        memcpy(s->windows, kept, bytes);
    tw_place_segments(s, UINT32_MAX);
}

bool tw_spill(tw_schedule *s)
{
    int step;
    tw_live_peak(s, false, &step);
    tw_buffer *largest = NULL;
    for (int b = 0; b < s->buffer_count; b++) {
        tw_buffer *f = &s->buffers[b];
        bool live = f->first <= step && step <= f->last;
        if (live && f->region == TW_REGION_FAST && f->use == TW_BUFFER_ACTIVATION &&
            (!largest || f->bytes > largest->bytes))
            largest = f;
    }
    if (!largest || largest->bytes == 0)
        return false;
    largest->region = TW_REGION_SLOW;
    return true;
}

void tw_spill_rest(tw_schedule *s)
{
    const tw_memories *m = s->memories;
    while (m->slow.given && tw_fast_total(s) > m->fast.bytes && tw_spill(s))
        tw_place_again(s);
}

bool tw_is_within(const tw_schedule *s)
{
    const tw_memories *m = s->memories;
    return (!m->fast.bounded || tw_fast_total(s) <= m->fast.bytes) &&
           (!m->slow.bounded || s->region_bytes[TW_REGION_SLOW] <= m->slow.bytes);
}

void tw_place_chosen(tw_schedule *s)
{
    tw_place_segments(s, UINT32_MAX);
    tw_spill_rest(s);
    tw_place_last(s);
}

uint64_t tw_placed_bytes(const tw_schedule *s)
{
    return (uint64_t)tw_fast_total(s) + s->region_bytes[TW_REGION_SLOW];
}
