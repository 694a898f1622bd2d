/* Results over the input of the very call that makes them. In: buffers, where a step that runs whole has
 * its input for a bed (plan/buffers.c), and what its kernel allows (tw_lowering.overlap). Out: on which
 * side of its bed each result begins and how far away; beds that save nothing where memory is fullest are
 * given up, since what is tied together is harder to place. */
#include "plan/overlap.h"

#include <stdlib.h>

static int64_t aligned(int64_t bytes)
{
    return (bytes + TW_PLAN_ALIGN - 1) / TW_PLAN_ALIGN * TW_PLAN_ALIGN;
}

int64_t tw_lead_bytes(int64_t lead, int64_t in, int64_t out)
{
    int64_t below = lead < 0 ? in : lead + in, above = lead < 0 ? out - lead : out;
    return below > above ? below : above;
}

int64_t tw_overlap_bytes(const tw_buffer *f, const tw_buffer *bed)
{
    if (f->side == TW_SIDE_OPEN)
        return (int64_t)f->bytes + bed->bytes - tw_overlap_saves(f->overlap, bed->bytes, f->bytes);
    int64_t nearest = f->side == TW_SIDE_BELOW ? f->overlap->below : -f->overlap->above;
    nearest = nearest < 0 ? -aligned(-nearest) : aligned(nearest);
    return tw_lead_bytes(nearest, bed->bytes, f->bytes);
}

int64_t tw_overlap_saves(const tw_overlap *overlap, int64_t in, int64_t out)
{
    if (!overlap->may)
        return 0;
    int64_t below = tw_lead_bytes(aligned(overlap->below), in, out);
    int64_t above = tw_lead_bytes(-aligned(overlap->above), in, out);
    int64_t least = below < above ? below : above;
    return in + out > least ? in + out - least : 0;
}

/* Bytes in use at each step, those that share counted once. */
static int64_t *live_bytes(const tw_schedule *s)
{
    int64_t *live = calloc((size_t)s->step_count + 2, sizeof *live);
    if (!live)
        abort();
    for (int b = 0; b < s->buffer_count; b++) {
        const tw_buffer *f = &s->buffers[b];
        if (f->region != TW_REGION_FAST)
            continue;
        live[f->first] += f->bytes;
        live[f->last + 1] -= f->bytes;
    }
    for (int i = 0; i < s->step_count; i++)
        live[i + 1] += live[i];
    return live;
}

/* Keep the beds without which the fullest step would be fuller. Each is of a step by itself. */
static void loosen(tw_schedule *s)
{
    int64_t *live = live_bytes(s);
    int64_t peak = tw_live_peak(s, false, NULL);
    for (int b = 0; b < s->buffer_count; b++) {
        tw_buffer *f = &s->buffers[b];
        if (f->overlap && f->bed >= 0 && live[f->first] <= peak)
            f->bed = -1;
    }
    free(live);
}

/* A chain of buffers, each the bed of the next, as it has been laid out so far. */
typedef struct tw_chain {
    int64_t from, low, high; /* where its last buffer begins; what all of it covers */
} tw_chain;

static tw_chain extend(const tw_chain *chain, int64_t from, const tw_buffer *f)
{
    tw_chain next = *chain;
    next.from = from;
    next.low = from < next.low ? from : next.low;
    next.high = from + f->bytes > next.high ? from + f->bytes : next.high;
    return next;
}

/* The chain with f below its bed, and above: as near as may be, or, to the edges, as far as the chain
 * reaches anyway, which leaves the next one more room. */
static tw_chain below_bed(const tw_chain *chain, const tw_buffer *f, bool to_edges)
{
    int64_t nearest = chain->from - aligned(f->overlap->below);
    return extend(chain, to_edges && nearest > chain->low ? chain->low : nearest, f);
}

static tw_chain above_bed(const tw_chain *chain, const tw_buffer *f, bool to_edges)
{
    int64_t nearest = chain->from + aligned(f->overlap->above), highest = chain->high - f->bytes;
    return extend(chain, to_edges && nearest < highest ? highest : nearest, f);
}

/* Choose sides so that a chain stays where it is instead of wandering off. Beds stand before what lies
 * in them. */
static void choose_sides(tw_schedule *s)
{
    tw_chain *chains = calloc((size_t)s->buffer_count + 1, sizeof *chains);
    if (!chains)
        abort();
    for (int b = 0; b < s->buffer_count; b++) {
        tw_buffer *f = &s->buffers[b];
        chains[b] = (tw_chain){0, 0, f->bytes};
        if (f->bed < 0)
            continue;
        const tw_chain *bed = &chains[f->bed];
        if (f->overlap) {
            tw_chain down = below_bed(bed, f, s->to_edges), up = above_bed(bed, f, s->to_edges);
            bool rises = f->side == TW_SIDE_OPEN ? up.high - up.low < down.high - down.low
                                                 : f->side == TW_SIDE_ABOVE;
            f->lead = bed->from - (rises ? up.from : down.from);
            f->side = rises ? TW_SIDE_ABOVE : TW_SIDE_BELOW;
        }
        chains[b] = extend(bed, bed->from - f->lead, f);
    }
    free(chains);
}

void tw_plan_overlaps(tw_schedule *s)
{
    for (int b = 0; b < s->buffer_count; b++) {
        tw_buffer *f = &s->buffers[b];
        if (f->overlap && tw_overlap_saves(f->overlap, s->buffers[f->bed].bytes, f->bytes) == 0)
            f->bed = -1;
    }
    loosen(s);
    choose_sides(s);
}
