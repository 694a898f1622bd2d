/* Which parts of a network are computed twice. In: a graph whose plan does not fit. Out: the plan of a graph in which
 * chains of nodes stand twice.
 *
 * Step by step: of the chains that may lower the plan where it is fullest, each is tried with a plan of its own. If
 * any of them fits, the one of the least work is it; else the search goes on from the one that is lowest. What is
 * tried does not depend on the budget, only when it ends does: so a larger budget never takes more work, nor less
 * memory. How much is tried is counted, not timed: the same on every machine. */
#include "plan/recompute.h"

#include <string.h>

#include "plan/chains.h"
#include "plan/held.h"

enum {
    CANDIDATES = 6,  /* a level */
    MOST_TRIES = 96, /* in all */
    WORK = 6000,     /* steps times tries */
    PLATEAU = 3,     /* levels in a row that need not be lower than the one before */
    MISSES = 3,      /* plans that turn out not to fit, a level */
    FINE = 16        /* a sketch may be so much of its bytes above or below the plan */
};

/* A graph in which chains are computed again, and a sketch of its plan. */
typedef struct tw_variant {
    tw_arena *arena; /* null: none */
    tw_graph *graph;
    tw_schedule sketch;
    uint32_t least; /* bytes of fast memory that it takes at least, roughly */
    uint64_t work;  /* computed again */
} tw_variant;

typedef struct tw_recompute {
    const tw_compile_options *options; /* as given */
    tw_compile_options quiet;          /* for sketches */
    tw_graph *graph;
    uint64_t layerwise; /* of that graph */
    tw_diag before;
    tw_variant now, lowest;
    tw_variant tried[CANDIDATES];
    int tried_count;
    int tries, most_tries;
} tw_recompute;

static void drop(tw_variant *v)
{
    tw_arena_free(v->arena);
    *v = (tw_variant){0};
}

/* Sketch the variant's graph; false: it is dropped. */
static bool sketch(tw_recompute *r, tw_variant *v)
{
    tw_diag ignored = {0};
    r->tries++;
    if (r->options->progress)
        r->options->progress(r->options->progress_user, "recompute",
                             (double)r->tries / (r->most_tries + 1));
    if (!tw_plan_sketch(v->graph, &r->quiet, &v->sketch, &ignored)) {
        drop(v);
        return false;
    }
    v->least = v->sketch.smallest_budget;
    return true;
}

static void try_chains(tw_recompute *r)
{
    tw_chain chains[CANDIDATES];
    tw_arena *arena = tw_arena_new();
    const int count = tw_find_chains(&r->now.sketch, chains, CANDIDATES, arena);
    r->tried_count = 0;
    for (int i = 0; i < count && r->tries < r->most_tries; i++) {
        tw_variant *v = &r->tried[r->tried_count];
        *v = (tw_variant){.arena = tw_arena_new(), .work = r->now.work + chains[i].work};
        v->graph = tw_compute_again(&r->now.sketch, &chains[i], v->arena);
        r->tried_count += sketch(r, v);
    }
    tw_arena_free(arena);
}

/* The plan of a variant, in the memory of the graph that was given. */
static bool plan_variant(const tw_recompute *r, const tw_variant *v, tw_schedule *s, tw_diag *diag)
{
    tw_compile_options fast_only = *r->options;
    fast_only.memories.slow.given = false;
    const bool fits = tw_plan(tw_graph_copy(v->graph, r->graph->arena), &fast_only, s, diag);
    s->memories = &r->options->memories;
    s->layerwise = r->layerwise;
    return fits;
}

/* Of what was tried on this level, the plan of the least work that fits. */
static bool find_fitting(tw_recompute *r, tw_schedule *s)
{
    const uint32_t budget = r->options->memories.fast.bytes;
    bool missed[CANDIDATES] = {false};
    for (int misses = 0; misses < MISSES; misses++) {
        int best = -1;
        for (int i = 0; i < r->tried_count; i++)
            if (!missed[i] && r->tried[i].least - r->tried[i].least / FINE <= budget &&
                (best < 0 || r->tried[i].work < r->tried[best].work))
                best = i;
        if (best < 0)
            return false;
        tw_schedule found;
        tw_diag ignored = {0};
        if (plan_variant(r, &r->tried[best], &found, &ignored)) {
            *s = found;
            return true;
        }
        missed[best] = true;
    }
    return false;
}

/* Go on from the lowest; of those that are nearly as low, from the one of the least work. */
static void go_on(tw_recompute *r)
{
    int best = -1;
    uint32_t least = UINT32_MAX;
    for (int i = 0; i < r->tried_count; i++)
        least = r->tried[i].least < least ? r->tried[i].least : least;
    const uint32_t near = least < r->now.least ? least + (r->now.least - least) / 16 : least;
    for (int i = 0; i < r->tried_count; i++)
        if (r->tried[i].least <= near && (best < 0 || r->tried[i].work < r->tried[best].work))
            best = i;
    for (int i = 0; i < r->tried_count; i++)
        if (i != best)
            drop(&r->tried[i]);
    if (r->now.arena != r->lowest.arena)
        drop(&r->now);
    r->now = r->tried[best];
    r->tried_count = 0;
    if (r->now.least < r->lowest.least) {
        drop(&r->lowest);
        r->lowest = r->now;
    }
}

/* The variant whose plan fits, else false and the lowest. */
static bool search(tw_recompute *r, tw_schedule *s)
{
    for (int level = 0, flat = 0; flat < PLATEAU && r->tries < r->most_tries; level++) {
        try_chains(r);
        if (r->tried_count == 0)
            return false;
        if (find_fitting(r, s))
            return true;
        const uint32_t before = r->lowest.least;
        go_on(r);
        flat = r->lowest.least < before ? 0 : flat + 1;
    }
    return false;
}

/* Nothing fitted: what would, and the plan of the least memory in place of the one that does not fit either. True:
 * it does, its sketch took more. */
static bool take_lowest(const tw_recompute *r, tw_schedule *s, tw_diag *diag)
{
    tw_schedule lowest;
    tw_diag why = r->before;
    why.warn = NULL; /* the same warnings again */
    const bool fits = plan_variant(r, &r->lowest, &lowest, &why);
    if (!lowest.smallest_budget || lowest.smallest_budget >= s->smallest_budget)
        return false;
    if (s->fits && !fits) {
        s->smallest_budget = lowest.smallest_budget;
        return false;
    }
    *s = lowest;
    why.warn = diag->warn;
    why.warnings = diag->warnings;
    *diag = why;
    return fits;
}

bool tw_plan_recomputing(tw_graph *graph, const tw_compile_options *options, tw_schedule *s,
                         tw_diag *diag)
{
    tw_diag why = *diag;
    const bool fits = tw_plan_held(graph, options, s, &why);
    const bool enough = fits && s->region_bytes[TW_REGION_SLOW] == 0;
    if (enough || !s->smallest_budget || !options->memories.fast.bounded || options->no_recompute ||
        options->random_bands || s->control_count) {
        *diag = why;
        return fits;
    }
    tw_recompute r = {.options = options,
                      .quiet = *options,
                      .graph = graph,
                      .layerwise = s->layerwise,
                      .before = *diag};
    r.quiet.progress = NULL;
    r.most_tries =
        WORK / (s->step_count + 1) < MOST_TRIES ? WORK / (s->step_count + 1) : MOST_TRIES;
    r.now.arena = tw_arena_new();
    r.now.graph = tw_graph_copy(s->graph, r.now.arena);
    bool found = false;
    if (sketch(&r, &r.now)) {
        r.lowest = r.now;
        found = search(&r, s);
        if (!found && r.lowest.work)
            found = take_lowest(&r, s, &why);
    }
    for (int i = 0; i < r.tried_count; i++)
        drop(&r.tried[i]);
    if (r.now.arena != r.lowest.arena)
        drop(&r.now);
    drop(&r.lowest);
    if (found)
        diag->warnings = why.warnings;
    else
        *diag = why;
    return fits || found;
}
