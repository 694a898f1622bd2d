/* The planner's story: steps, their order, buffers, addresses, and whether they fit. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "plan/assign_memo.h"
#include "plan/by_rows.h"
#include "plan/chains.h"
#include "plan/control.h"
#include "plan/ends.h"
#include "plan/pack.h"
#include "plan/parts.h"
#include "plan/search.h"
#include "plan/settle.h"

uint32_t tw_fast_total(const tw_schedule *s)
{
    return s->region_bytes[TW_REGION_FAST] + s->region_bytes[TW_REGION_STATE] +
           (uint32_t)sizeof(tw_context);
}

/* What of the fast memory tensors, scratch and counters take: what each adds to those before. */
static void account(tw_schedule *s)
{
    const uint64_t nodes = TW_LAST_NODES;
    tw_place_last(s);
    uint32_t tensors = tw_place_buffers(s, TW_REGION_FAST, TW_LAYER_TENSORS, nodes);
    uint32_t scratch = tw_place_buffers(s, TW_REGION_FAST, TW_LAYER_SCRATCH, nodes);
    uint32_t fast = tw_place_buffers(s, TW_REGION_FAST, TW_LAYER_ALL, nodes);
    scratch = scratch < fast ? scratch : fast;
    tensors = tensors < scratch ? tensors : scratch;
    s->state = s->region_bytes[TW_REGION_STATE];
    s->activations = tensors + s->region_bytes[TW_REGION_SLOW];
    s->scratch = scratch - tensors;
    s->context = (uint32_t)sizeof(tw_context) + fast - scratch;
    s->total = tw_fast_total(s) + s->region_bytes[TW_REGION_SLOW];
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

/* A segmentation set aside: what the search writes into the schedule. */
typedef struct tw_kept {
    tw_step *steps;
    tw_segment *segments;
    tw_window *windows;
    int segment_count;
    const bool *slow;
    uint32_t total; /* UINT32_MAX: none */
} tw_kept;

static void keep(const tw_schedule *s, tw_kept *kept, tw_arena *arena)
{
    kept->steps = tw_copy(arena, s->steps, sizeof *s->steps * (size_t)s->step_count);
    kept->segments = tw_copy(arena, s->segments, sizeof *s->segments * (size_t)s->segment_count);
    kept->windows = tw_copy(arena, s->windows, sizeof *s->windows * (size_t)s->graph->value_count);
    kept->segment_count = s->segment_count;
    kept->slow = s->slow;
    kept->total = tw_fast_total(s);
}

static void restore(tw_schedule *s, const tw_kept *kept)
{
    memcpy(s->steps, kept->steps, sizeof *s->steps * (size_t)s->step_count);
    memcpy(s->windows, kept->windows, sizeof *s->windows * (size_t)s->graph->value_count);
    s->segments =
        tw_copy(s->arena, kept->segments, sizeof *s->segments * (size_t)kept->segment_count);
    s->segment_count = kept->segment_count;
    s->slow = kept->slow;
    tw_place_segments(s, UINT32_MAX);
}

/* What the plan takes with the addresses that it would be given if it were chosen. */
static void take_care(tw_schedule *s, tw_kept *kept)
{
    restore(s, kept);
    tw_place_last(s);
    if (tw_fast_total(s) < kept->total)
        kept->total = tw_fast_total(s);
}

static bool keep_if_less(const tw_schedule *s, tw_kept *least, tw_arena *arena)
{
    if (tw_fast_total(s) >= least->total)
        return false;
    keep(s, least, arena);
    return true;
}

/* Does any preference within this budget take less than the least so far? */
static bool try_budget(tw_schedule *s, tw_search *search, int64_t budget, tw_kept *least,
                       tw_arena *arena)
{
    bool better = false;
    for (tw_prefer prefer = 0; prefer <= TW_PREFER_SPEED; prefer++) {
        int64_t limit = budget - s->region_bytes[TW_REGION_STATE] - (int64_t)sizeof(tw_context);
        if (!tw_search_apply(search, limit, prefer, s))
            continue;
        tw_place_segments(s, least->total);
        better |= keep_if_less(s, least, arena);
    }
    return better;
}

/* The segmentation of least memory as placed. The search prices windows by closed forms and bytes
 * without gaps; each answer that was placed corrects its prices, so it is asked a few times, first
 * without and then with results in the place of what they consume. Whole execution is among the
 * candidates. */
static void find_least(tw_schedule *s, tw_search *search, tw_kept *least, tw_arena *arena)
{
    enum { SETTLE = 48, SETTLE_AT = 2, BEDS_AT = 4, TRIES = 10, BUDGETS = 6 };
    bool better = true;
    uint32_t whole = 0;
    for (int tries = 0; tries < TRIES; tries++) {
        tw_prefer prefer = tries == 0 ? TW_PREFER_SPEED : TW_PREFER_MEMORY;
        if (tries == BEDS_AT)
            tw_search_use_beds(search);
        if (tries == SETTLE_AT || tries == BEDS_AT)
            tw_search_settle(search, SETTLE);
        else if (tries > SETTLE_AT && !better)
            continue; /* it would answer the same */
        if (!tw_search_apply(search, INT64_MAX, prefer, s))
            continue;
        tw_place_segments(s, least->total);
        if (tries >= BEDS_AT && s->region_bytes[TW_REGION_FAST] > tw_live_peak(s, false, NULL))
            tw_drop_beds(s);
        better = keep_if_less(s, least, arena);
        whole = tries == 0 ? tw_fast_total(s) : whole;
    }
    /* Segmentations of equal bytes differ in the gaps their addresses leave: those that a budget of the
     * least would bring are tried too, or a larger budget could end below it. */
    while (try_budget(s, search, least->total, least, arena))
        ;
    /* What joining saves depends on what else is whole: the prices know the step alone. */
    uint32_t low = least->total;
    for (int part = 1; s->joins && part <= BUDGETS; part++)
        (void)try_budget(s, search, low + (int64_t)(whole - low) * part / BUDGETS, least, arena);
    if (!s->joins)
        return;
    tw_search_count_joins(search, false);
    while (try_budget(s, search, least->total, least, arena))
        ;
    tw_search_count_joins(search, true);
}

/* The preferred segmentation within the budget. The search counts bytes, the addresses may lose a few
 * to gaps: then it is asked again for as much less. */
static bool search_budget(tw_schedule *s, tw_search *search, const tw_memories *m, tw_prefer prefer)
{
    int64_t limit = INT64_MAX;
    if (m->fast.bounded)
        limit =
            (int64_t)m->fast.bytes - s->region_bytes[TW_REGION_STATE] - (int64_t)sizeof(tw_context);
    for (int tries = 0; tries < 8 && limit > 0; tries++) {
        if (!tw_search_apply(search, limit, prefer, s))
            return false;
        tw_place_segments(s, UINT32_MAX);
        if (tw_is_within(s))
            return true;
        limit -= (int64_t)tw_fast_total(s) - m->fast.bytes;
    }
    return false;
}

/* Placed, what costs least may take less than what takes a little less by its price: then it is better. */
static bool search_within(tw_schedule *s, tw_search *search, const tw_compile_options *options,
                          tw_arena *arena)
{
    const tw_memories *m = &options->memories;
    tw_kept balanced;
    if (!search_budget(s, search, m, options->prefer))
        return false;
    if (options->prefer != TW_PREFER_BALANCED ||
        s->region_bytes[TW_REGION_FAST] <= tw_live_peak(s, false, NULL))
        return true;
    keep(s, &balanced, arena);
    if (!search_budget(s, search, m, TW_PREFER_SPEED) || tw_fast_total(s) > balanced.total)
        restore(s, &balanced);
    return true;
}

/* What each point of the search takes when it is placed; those that another beats are left out. */
static void find_pareto(tw_schedule *s, tw_search *search)
{
    enum { POINTS = 48 };
    tw_pareto points[POINTS];
    int count = tw_search_pareto(search, points, POINTS);
    s->pareto = tw_alloc_array(s->arena, POINTS, sizeof *s->pareto);
    for (int i = 0; i < count; i++) {
        if (!tw_search_apply(search, points[i].peak, TW_PREFER_SPEED, s))
            continue;
        tw_place_segments(s, 0);
        uint32_t total = tw_fast_total(s);
        while (s->pareto_count && s->pareto[s->pareto_count - 1].budget >= total)
            s->pareto_count--;
        s->pareto[s->pareto_count++] = (tw_report_point){total, points[i].cost};
    }
    for (int i = 0; i < s->pareto_count; i++)
        s->pareto[i].cost /= s->pareto[s->pareto_count - 1].cost;
}

/* ---- slow memory ---- */

/* What keeping tensors in slow memory costs: bytes, where memory is preferred, else what moves there. */
static double slow_cost(tw_schedule *s, tw_prefer prefer)
{
    if (prefer == TW_PREFER_MEMORY)
        return (double)tw_fast_total(s) + s->region_bytes[TW_REGION_SLOW];
    uint64_t moved = 0;
    tw_plan_traffic(s);
    for (int i = 0; i < s->step_count; i++)
        moved +=
            s->steps[i].traffic.read[TW_REGION_SLOW] + s->steps[i].traffic.written[TW_REGION_SLOW];
    return (double)moved;
}

/* The least fast memory with these tensors in slow memory; by columns, too, where memory is preferred. */
static tw_kept least_with(tw_schedule *s, const bool *slow, tw_prefer prefer, tw_arena *arena)
{
    tw_scene scene;
    tw_kept least = {.total = UINT32_MAX};
    s->slow = slow;
    tw_scene_build(&scene, s, arena);
    tw_search *search = tw_search_open(&scene, false, arena);
    find_least(s, search, &least, arena);
    if (prefer == TW_PREFER_MEMORY) {
        tw_search_use_columns(search);
        find_least(s, search, &least, arena);
    }
    return least;
}

/* `slow` and all values of a buffer: whole, they are slow from now on; as windows they stay. */
static bool *slow_with(const tw_schedule *s, const bool *slow, int buffer, tw_arena *arena)
{
    bool *more = tw_copy(arena, slow, sizeof *slow * (size_t)s->graph->value_count);
    for (int v = 0; v < s->graph->value_count; v++)
        more[v] |= s->places[v].buffer == buffer;
    return more;
}

/* Is there a value of the buffer that is not said to be slow yet? */
static bool may_move(const tw_schedule *s, const bool *slow, int buffer)
{
    for (int v = 0; v < s->graph->value_count; v++)
        if (s->places[v].buffer == buffer && !slow[v])
            return true;
    return false;
}

/* The largest tensors and windows where the fast memory is fullest: their buffers, the largest first. */
static int find_large(const tw_schedule *s, const bool *slow, int *large, int most)
{
    int step, count = 0;
    tw_live_peak(s, false, &step);
    for (int b = 0; b < s->buffer_count; b++) {
        const tw_buffer *f = &s->buffers[b];
        if (f->region != TW_REGION_FAST || f->use != TW_BUFFER_ACTIVATION || f->bytes == 0 ||
            f->first > step || step > f->last || !may_move(s, slow, b))
            continue;
        int at = count < most ? count++ : most;
        for (; at > 0 && s->buffers[large[at - 1]].bytes < f->bytes; at--)
            if (at < most)
                large[at] = large[at - 1];
        if (at < most)
            large[at] = b;
    }
    return count;
}

/* One more tensor to slow memory, of the largest at the fullest moment of `now` the one that lets the plan
 * fit at the least cost, or else leaves the least. Returns whether it fits. */
static bool move_one(tw_schedule *s, const tw_compile_options *options, tw_kept *now,
                     tw_arena *arena)
{
    enum { CANDIDATES = 3 };
    int large[CANDIDATES];
    const tw_kept before = *now;
    bool fits = false;
    double least_cost = 0;
    restore(s, &before);
    int count = find_large(s, before.slow, large, CANDIDATES);
    bool *slow[CANDIDATES];
    for (int i = 0; i < count; i++)
        slow[i] = slow_with(s, before.slow, large[i], arena);
    now->total = UINT32_MAX;
    for (int i = 0; i < count; i++) {
        tw_kept with = least_with(s, slow[i], options->prefer, arena);
        if (with.total == UINT32_MAX)
            continue;
        restore(s, &with);
        bool within = tw_is_within(s);
        double cost = within ? slow_cost(s, options->prefer) : 0;
        if (within ? !fits || cost < least_cost : !fits && with.total < now->total) {
            *now = with;
            least_cost = cost;
            fits = within;
        }
    }
    return fits;
}

/* Tensors whose moving turned out not to be needed come back. */
static void take_back(tw_schedule *s, const tw_compile_options *options, tw_kept *now,
                      tw_arena *arena)
{
    restore(s, now);
    double least = slow_cost(s, options->prefer);
    for (int v = 0; v < s->graph->value_count; v++) {
        if (!now->slow[v])
            continue;
        bool *fewer = tw_copy(arena, now->slow, sizeof *fewer * (size_t)s->graph->value_count);
        fewer[v] = false;
        tw_kept with = least_with(s, fewer, options->prefer, arena);
        if (with.total == UINT32_MAX)
            continue;
        restore(s, &with);
        if (!tw_is_within(s) || slow_cost(s, options->prefer) > least)
            continue;
        least = slow_cost(s, options->prefer);
        *now = with;
    }
}

/* Whole tensors go to slow memory, one by one, each time with a segmentation of its own; or, where that is
 * cheaper or alone suffices, the largest of the segmentation of least memory as it stands. */
static bool plan_slow(tw_schedule *s, const tw_compile_options *options, const tw_kept *least,
                      tw_arena *arena)
{
    enum { WORK = 400, MOST_ROUNDS = 16 }; /* steps times rounds */
    restore(s, least);
    tw_spill_rest(s);
    bool spilled = tw_is_within(s), fits = false;
    if (!options->memories.slow.given || s->region_bytes[TW_REGION_SLOW] == 0 ||
        s->step_count > WORK)
        return spilled;
    double cost = spilled ? slow_cost(s, options->prefer) : INFINITY, best_cost = INFINITY;
    tw_kept now = *least, best = {.total = UINT32_MAX};
    now.slow = tw_alloc_array(arena, (size_t)s->graph->value_count + 1, sizeof(bool));
    int rounds = WORK / (s->step_count + 1);
    rounds = rounds < MOST_ROUNDS ? rounds : MOST_ROUNDS;
    /* Where memory is preferred, more in slow memory may take less in all. */
    for (int round = 0; round < rounds && now.total != UINT32_MAX; round++) {
        if (!move_one(s, options, &now, arena))
            continue;
        restore(s, &now);
        double moved = slow_cost(s, options->prefer);
        if (!fits || moved < best_cost) {
            best = now;
            best_cost = moved;
            fits = true;
        }
        if (options->prefer != TW_PREFER_MEMORY)
            break;
    }
    now = best;
    if (fits) {
        take_back(s, options, &now, arena);
        restore(s, &now);
        if (slow_cost(s, options->prefer) <= cost)
            return true;
    }
    restore(s, least);
    tw_spill_rest(s);
    return spilled;
}

/* Below what rows can do: segments by columns, which cost more calls. They are looked for where rows do
 * not fit, and to know the smallest budget. True: the plan fits. */
static bool plan_columns(tw_schedule *s, tw_search *search, const tw_compile_options *options,
                         tw_arena *arena)
{
    tw_kept least = {.total = s->smallest_budget};
    tw_search_use_columns(search);
    find_least(s, search, &least, arena);
    if (!least.steps)
        return false;
    s->smallest_budget = least.total;
    if (!options->memories.fast.bounded || least.total > options->memories.fast.bytes)
        return false;
    /* Columns are paid for in time: no more of them than the budget asks for. */
    if (search_budget(s, search, &options->memories,
                      options->prefer == TW_PREFER_MEMORY ? TW_PREFER_BALANCED : options->prefer))
        return true;
    restore(s, &least);
    return tw_is_within(s);
}

static bool plan_rolling(tw_schedule *s, const tw_compile_options *options, tw_arena *arena)
{
    const tw_memories *m = &options->memories;
    tw_scene scene;
    tw_kept least = {.total = UINT32_MAX};
    tw_scene_build(&scene, s, arena);
    tw_search *search = tw_search_open(&scene, false, arena);
    find_least(s, search, &least, arena);
    if (least.total == UINT32_MAX)
        return false;
    s->smallest_budget = s->smallest_by_rows = least.total;
    if (options->pareto)
        find_pareto(s, search);
    bool within_rows =
        options->prefer != TW_PREFER_MEMORY && search_within(s, search, options, arena);
    bool within = within_rows || !m->fast.bounded || least.total <= m->fast.bytes;
    if (!within) {
        take_care(s, &least);
        s->smallest_budget = s->smallest_by_rows = least.total;
        within = least.total <= m->fast.bytes;
    }
    tw_kept chosen = least;
    if (within_rows)
        keep(s, &chosen, arena);
    if (plan_columns(s, search, options, arena) && !within)
        return true;
    restore(s, &chosen);
    return within || plan_slow(s, options, &least, arena);
}

/* Steps, their order, and every step whole: what all plans of the graph begin with. */
static bool begin_plan(tw_graph *graph, const tw_compile_options *options, tw_schedule *s,
                       tw_diag *diag)
{
    memset(s, 0, sizeof *s);
    s->arena = graph->arena;
    s->graph = graph;
    s->memories = &options->memories;
    s->assigned = tw_alloc(s->arena, sizeof *s->assigned);
    s->assigned->arena = s->arena;
    if (!tw_targets_parse(s->arena, options->backends, &s->targets, &s->target_count, diag) ||
        !tw_plan_steps(s, options, diag))
        return false;
    tw_plan_controls(s);
    if (!tw_plan_order(s, diag))
        return false;
    tw_name_again(s);
    if (!tw_find_by_rows(s, options, diag))
        return false;
    s->windows = tw_alloc_array(s->arena, (size_t)graph->value_count + 1, sizeof *s->windows);
    tw_plan_segments(s, options);
    tw_plan_buffers(s, false);
    s->layerwise = tw_live_peak(s, true, NULL);
    return true;
}

bool tw_plan_sketch(tw_graph *graph, const tw_compile_options *options, tw_schedule *s,
                    tw_diag *diag)
{
    tw_scene scene;
    tw_kept least = {.total = UINT32_MAX};
    if (!begin_plan(graph, options, s, diag))
        return false;
    tw_arena *arena = tw_arena_new();
    tw_scene_build(&scene, s, arena);
    tw_search *search = tw_search_open(&scene, true, arena);
    find_least(s, search, &least, arena);
    tw_search_use_columns(search);
    find_least(s, search, &least, arena);
    if (least.total != UINT32_MAX) {
        restore(s, &least);
        s->smallest_budget = least.total;
        s->bound = tw_live_peak(s, false, &s->bound_step);
    }
    tw_arena_free(arena);
    return s->smallest_budget > 0;
}

bool tw_plan(tw_graph *graph, const tw_compile_options *options, tw_schedule *s, tw_diag *diag)
{
    if (!begin_plan(graph, options, s, diag))
        return false;
    if (options->random_bands) {
        tw_place_segments(s, UINT32_MAX);
        s->smallest_budget = s->smallest_by_rows = tw_fast_total(s);
        tw_spill_rest(s);
        s->fits = tw_is_within(s);
    } else {
        tw_arena *arena = tw_arena_new();
        s->fits = plan_rolling(s, options, arena);
        if (s->slow)
            s->slow = tw_copy(s->arena, s->slow, sizeof *s->slow * (size_t)graph->value_count);
        tw_arena_free(arena);
    }
    if (!s->smallest_budget)
        return tw_refuse_by_rows(options, diag);
    if (s->fits) {
        tw_plan_parts(s, options);
        tw_plan_packed(s, options);
    }
    account(s);
    if (s->fits && s->region_bytes[TW_REGION_SLOW] == 0 && s->total < s->smallest_budget)
        s->smallest_budget = s->total; /* more placements were tried for this one */
    tw_plan_traffic(s);
    s->bound = tw_live_peak(s, false, &s->bound_step);
    if (s->region_bytes[TW_REGION_FAST] > INT32_MAX)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "the activations take more than 2 GB");
    return s->fits ? true : refuse(s, &options->memories, diag);
}
