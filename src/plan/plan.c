/* The planner's story: steps, their order, buffers, addresses, and whether they fit. */
#include <string.h>

#include "base/diag.h"
#include "plan/schedule.h"

uint32_t tw_fast_total(const tw_schedule *s)
{
    return s->region_bytes[TW_REGION_FAST] + s->region_bytes[TW_REGION_STATE] +
           (uint32_t)sizeof(tw_context);
}

static void place_all(tw_schedule *s)
{
    uint32_t counters = s->counter_count * 8;
    uint32_t lean = tw_place_buffers(s, TW_REGION_FAST, false);
    uint32_t fast = tw_place_buffers(s, TW_REGION_FAST, true);
    if (fast < lean)
        lean = fast;
    s->region_bytes[TW_REGION_FAST] = fast;
    s->region_bytes[TW_REGION_SLOW] = tw_place_buffers(s, TW_REGION_SLOW, true);
    s->region_bytes[TW_REGION_STATE] = tw_place_buffers(s, TW_REGION_STATE, true);
    s->state = s->region_bytes[TW_REGION_STATE];
    s->scratch = fast - lean;
    s->activations = lean - counters + s->region_bytes[TW_REGION_SLOW];
    s->context = (uint32_t)sizeof(tw_context) + counters;
    s->total = tw_fast_total(s) + s->region_bytes[TW_REGION_SLOW];
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

static bool refuse(const tw_schedule *s, const tw_memories *m, tw_diag *diag)
{
    int at;
    uint32_t needs = tw_live_peak(s, false, &at);
    const tw_node *node = s->step_count ? s->steps[at].node : NULL;
    return tw_fail(diag, TW_CODE_FAILED, node ? node->name : NULL, node ? node->op->name : NULL,
                   "the plan does not fit: this operator and what must be kept while it runs take "
                   "%u bytes, in all %u bytes are needed and %u are allowed; the smallest budget "
                   "that works is %u bytes (-m %u)%s",
                   needs, tw_fast_total(s), m->fast.bytes, s->smallest_budget, s->smallest_budget,
                   m->slow.given ? "" : ", or add slow memory (-m FAST+SLOW)");
}

/* Fit the budget: as it is, or with the largest tensors in slow memory. */
static bool fit(tw_schedule *s, const tw_memories *m, tw_diag *diag)
{
    s->smallest_budget = tw_fast_total(s);
    if (!m->fast.bounded || tw_fast_total(s) <= m->fast.bytes)
        return s->fits = true;
    while (m->slow.given && tw_fast_total(s) > m->fast.bytes) {
        if (!tw_spill(s))
            break;
        place_all(s);
    }
    s->fits = tw_fast_total(s) <= m->fast.bytes &&
              (!m->slow.bounded || s->region_bytes[TW_REGION_SLOW] <= m->slow.bytes);
    return s->fits ? true : refuse(s, m, diag);
}

bool tw_plan(tw_graph *graph, const tw_compile_options *options, tw_schedule *s, tw_diag *diag)
{
    memset(s, 0, sizeof *s);
    s->arena = graph->arena;
    s->graph = graph;
    s->backend = tw_backend_find(options->backends ? options->backends : "reference", diag);
    if (!s->backend || !tw_plan_steps(s, options, diag) || !tw_plan_order(s, diag))
        return false;
    tw_plan_segments(s, options);
    tw_plan_buffers(s, false);
    s->layerwise = tw_live_peak(s, true, NULL);
    tw_plan_buffers(s, true);
    place_all(s);
    s->bound = tw_live_peak(s, false, &s->bound_step);
    if (s->region_bytes[TW_REGION_FAST] > INT32_MAX)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "the activations take more than 2 GB");
    return fit(s, &options->memories, diag);
}
