/* The segment search. */
#include "plan/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a simulated run came to. */
typedef struct tw_tight {
    bool bedded; /* simulated with a bed */
    int64_t lead;
    const int32_t *rows; /* by stream of the segment */
    int64_t firings, moved_bytes;
} tw_tight;

/* A stretch of steps [from, to) in bands of `band` rows; band 0: one step, whole; below 0: by columns, a
 * row in -band parts. */
typedef struct tw_stretch {
    int from, to;
    int32_t band;
    bool refused; /* it came to a stop when simulated */
    bool settled; /* its bytes are those of a simulated run, not an estimate */
    bool bedded;  /* what it may save is taken off */
    int64_t bytes;
    int64_t may_save; /* more, at most, by results that take the place of what it consumes */
    double cost;
    const tw_tight *tight; /* or null: not simulated yet */
} tw_stretch;

struct tw_search {
    tw_scene *scene;
    tw_arena *arena;
    tw_stretch *runs; /* grouped by `to` */
    int count, capacity;
    int *first_of; /* by `to`: first run that ends there; [n + 1]: count */
    int steps;
    bool low;  /* only bands of the least memory are looked at */
    bool beds; /* results may take the place of what is consumed */
};

/* ---- prices ---- */

/* Firings of a step in a rolling segment. */
static double firings(const tw_roll_step *s)
{
    if (s->band <= 0)
        return 1;
    if (s->width <= 1)
        return ceil((double)s->extent / s->band);
    const int32_t rows = s->extent / s->width;
    return (double)rows * ceil((double)s->width / s->band);
}

/* Multiply-accumulates that take as long, roughly, as a small core takes: work, by the fastest kernel that there
 * is for a target, calls, bytes moved. Only ratios matter. Where targets are named, a call costs what it was
 * measured to cost there, the loop, a library's arguments and odd pixels at the end of a row included; plans for
 * anything take the least memory that comes near. */
static double price_of(const tw_scene *scene, int from, int to, double calls, double moved)
{
    const double call = scene->schedule->target_count > 1 ? 1150 : 400, move = 0.25;
    double cost = calls * call + moved * move;
    for (int i = from; i < to; i++) {
        const tw_step *s = &scene->schedule->steps[i];
        cost += (double)s->work * 10 / (s->pace ? s->pace : 10);
    }
    return cost;
}

/* Of a run that has not been simulated yet: as if every call made a whole band. */
static double price(const tw_scene *scene, int from, int to, const tw_roll *roll)
{
    double all = roll ? 0 : to - from, moved = 0;
    for (int i = from; roll && i < to; i++) {
        const tw_roll_step *s = &roll->steps[i - from];
        const double calls = firings(s);
        all += calls;
        for (int k = 0; k < s->read_count; k++) {
            int stream = s->reads[k].stream;
            const tw_roll_stream *in = stream < 0 ? NULL : &roll->streams[stream];
            if (in && !in->whole) /* what stays of the window moves down at every call */
                moved += calls * (double)(in->row_bytes * (in->rows > 1 ? in->rows - 1 : 0));
        }
    }
    return price_of(scene, from, to, all, moved);
}

static void add_run(tw_search *s, tw_stretch run)
{
    tw_grow(s->arena, &s->runs, s->count, &s->capacity, sizeof *s->runs);
    s->runs[s->count++] = run;
}

/* Room for the scene value of each stream of a segment. */
static int *streams_of(const tw_search *s, int from, int to, tw_arena *arena)
{
    size_t streams = 1; /* a source */
    for (int i = from; i < to; i++)
        streams += (size_t)s->scene->schedule->steps[i].node->out_count;
    return tw_alloc_array(arena, streams, sizeof(int));
}

static void price_rolling(tw_search *s, int from, int to, int32_t band)
{
    tw_arena *arena = tw_arena_new();
    tw_roll roll;
    int *of = streams_of(s, from, to, arena);
    if (tw_scene_roll(s->scene, from, to, band, &roll, of, arena)) {
        bool exact = tw_scene_estimate(s->scene, from, band, &roll, of);
        int bed = tw_scene_bed(s->scene, from, to, &roll, arena);
        add_run(s,
                (tw_stretch){.from = from,
                             .to = to,
                             .band = band,
                             .settled = exact,
                             .bytes = tw_scene_bytes(s->scene, from, to, &roll),
                             .may_save = bed < 0 ? 0 : tw_scene_bed_saves(s->scene, bed, &roll, 0),
                             .cost = price(s->scene, from, to, &roll)});
    }
    tw_arena_free(arena);
}

tw_search *tw_search_open(tw_scene *scene, bool low, tw_arena *arena)
{
    static const int32_t lowest[] = {1, 0};
    static const int32_t all_bands[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 0};
    static const int32_t few_bands[] = {1, 2, 4, 8, 16, 32, 0};
    enum {
        LONGEST = 96,
        MANY = 160,
        LONGEST_OF_MANY = 40,
        THOUSANDS = 4000,
        LONGEST_OF_THOUSANDS = 24
    };
    tw_search *s = tw_alloc(arena, sizeof *s);
    s->scene = scene;
    s->arena = arena;
    s->low = low;
    s->steps = scene->schedule->step_count;
    const int32_t *bands = low ? lowest : s->steps > MANY ? few_bands : all_bands;
    const int longest = s->steps > THOUSANDS ? LONGEST_OF_THOUSANDS
                        : s->steps > MANY    ? LONGEST_OF_MANY
                                             : LONGEST;
    s->first_of = tw_alloc_array(arena, (size_t)s->steps + 2, sizeof *s->first_of);
    for (int to = 1; to <= s->steps; to++) {
        s->first_of[to] = s->count;
        bool by_rows = tw_scene_is_by_rows(scene, to - 1);
        if (!by_rows)
            add_run(s, (tw_stretch){.from = to - 1,
                                    .to = to,
                                    .settled = true,
                                    .bytes = tw_scene_bytes(scene, to - 1, to, NULL),
                                    .cost = price(scene, to - 1, to, NULL)});
        for (int from = to - 1; from >= 0 && to - from <= longest; from--) {
            int32_t tallest = 0;
            if ((scene->alone[from] && (from < to - 1 || !(by_rows || scene->banded[from]))) ||
                scene->schedule->steps[from].axis != scene->schedule->steps[to - 1].axis)
                break;
            for (int i = from; i < to; i++)
                if (scene->schedule->steps[i].extent > tallest)
                    tallest = scene->schedule->steps[i].extent;
            for (int b = 0; bands[b] && (b == 0 || bands[b] < tallest); b++)
                price_rolling(s, from, to, bands[b]);
        }
    }
    s->first_of[s->steps + 1] = s->count;
    return s;
}

/* Runs stand grouped by where they end, in each group in the order in which they were added. */
static void group_runs(tw_search *s)
{
    tw_arena *arena = tw_arena_new();
    tw_stretch *runs = tw_copy(arena, s->runs, sizeof *runs * (size_t)s->count);
    int *next = tw_alloc_array(arena, (size_t)s->steps + 2, sizeof *next);
    for (int r = 0; r < s->count; r++)
        next[runs[r].to + 1]++;
    for (int to = 1; to <= s->steps + 1; to++) {
        next[to] += next[to - 1];
        s->first_of[to] = next[to];
    }
    for (int r = 0; r < s->count; r++)
        s->runs[next[runs[r].to]++] = runs[r];
    tw_arena_free(arena);
}

void tw_search_use_columns(tw_search *s)
{
    static const int32_t all_parts[] = {2, 4, 8, 16, 32, 0}, few_parts[] = {8, 32, 0};
    const int32_t *parts = s->low ? few_parts : all_parts;
    enum { LONGEST = 24 };
    for (int to = 1; to <= s->steps; to++)
        for (int from = to - 1; from >= 0 && to - from <= LONGEST; from--) {
            const tw_step *steps = s->scene->schedule->steps;
            if (!steps[from].columns || s->scene->alone[from] ||
                steps[from].axis != steps[to - 1].axis)
                break;
            int32_t widest = 0;
            for (int i = from; i < to; i++) {
                const tw_shape *out = &steps[i].node->out[0]->shape;
                widest =
                    out->dim[steps[i].axis + 1] > widest ? out->dim[steps[i].axis + 1] : widest;
            }
            for (int p = 0; parts[p] && parts[p] <= widest; p++)
                price_rolling(s, from, to, -parts[p]);
        }
    group_runs(s);
}

void tw_search_count_joins(tw_search *s, bool count)
{
    s->scene->apart = !count;
    for (int r = 0; r < s->count; r++)
        if (s->runs[r].band == 0)
            s->runs[r].bytes = tw_scene_bytes(s->scene, s->runs[r].from, s->runs[r].to, NULL);
}

/* ---- cuts ---- */

int64_t tw_search_least(const tw_search *s)
{
    int64_t *peak = calloc((size_t)s->steps + 1, sizeof *peak);
    if (!peak)
        abort();
    for (int to = 1; to <= s->steps; to++) {
        peak[to] = INT64_MAX;
        for (int r = s->first_of[to]; r < s->first_of[to + 1]; r++) {
            const tw_stretch *run = &s->runs[r];
            int64_t p = run->bytes > peak[run->from] ? run->bytes : peak[run->from];
            if (!run->refused && p < peak[to])
                peak[to] = p;
        }
    }
    int64_t least = peak[s->steps];
    free(peak);
    return least;
}

/* Least cost within the budget; chosen[to]: the run that ends there. Infinite when none fits. */
static double cheapest(const tw_search *s, int64_t budget, int *chosen)
{
    double *cost = calloc((size_t)s->steps + 1, sizeof *cost);
    if (!cost)
        abort();
    for (int to = 1; to <= s->steps; to++) {
        cost[to] = INFINITY;
        for (int r = s->first_of[to]; r < s->first_of[to + 1]; r++) {
            const tw_stretch *run = &s->runs[r];
            if (run->refused || run->bytes > budget || cost[run->from] + run->cost >= cost[to])
                continue;
            cost[to] = cost[run->from] + run->cost;
            if (chosen)
                chosen[to] = r;
        }
    }
    double total = cost[s->steps];
    free(cost);
    return total;
}

static int by_size(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* The distinct sizes of runs, ascending, from `least` to `most`: where the answer can change. */
static int sizes(const tw_search *s, int64_t least, int64_t most, int64_t *size)
{
    int count = 0, unique = 0;
    for (int r = 0; r < s->count; r++)
        if (!s->runs[r].refused && s->runs[r].bytes >= least && s->runs[r].bytes <= most)
            size[count++] = s->runs[r].bytes;
    qsort(size, (size_t)count, sizeof *size, by_size);
    for (int i = 0; i < count; i++)
        if (i == 0 || size[i] != size[unique - 1])
            size[unique++] = size[i];
    return unique;
}

/* The smallest budget whose cost is at most `limit`. */
static int64_t smallest_within(const tw_search *s, int64_t budget, double limit)
{
    tw_arena *arena = tw_arena_new();
    int64_t *size = tw_alloc_array(arena, (size_t)s->count + 1, sizeof *size);
    int low = 0, high = sizes(s, tw_search_least(s), budget, size) - 1;
    int64_t found = budget;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (cheapest(s, size[middle], NULL) <= limit) {
            found = size[middle];
            high = middle - 1;
        } else {
            low = middle + 1;
        }
    }
    tw_arena_free(arena);
    return found;
}

int tw_search_pareto(const tw_search *s, tw_pareto *points, int most)
{
    tw_arena *arena = tw_arena_new();
    int64_t *size = tw_alloc_array(arena, (size_t)s->count + 1, sizeof *size);
    int count = sizes(s, tw_search_least(s), INT64_MAX, size), found = 0;
    enum { LOOKED_AT = 400 };
    double last = INFINITY;
    int stride = 1 + count / LOOKED_AT;
    for (int i = 0; i < count && found < most; i += stride) {
        double cost = cheapest(s, size[i], NULL);
        if (cost < last * (1 - 1e-9))
            points[found++] = (tw_pareto){size[i], cost};
        last = cost < last ? cost : last;
    }
    tw_arena_free(arena);
    return found;
}

/* ---- what was chosen, put into the schedule ---- */

/* bed: the scene value whose place roll->bed.stream takes, or -1. */
static void set_windows(const tw_search *s, const tw_roll *roll, const int *of, int bed,
                        int64_t lead, tw_schedule *out)
{
    for (int i = 0; i < roll->stream_count; i++) {
        const tw_roll_stream *stream = &roll->streams[i];
        const tw_value *v = s->scene->values[of[i]].value;
        int leader = i;
        while (roll->streams[leader].over >= 0)
            leader = roll->streams[leader].over;
        tw_window *w = &out->windows[v->index];
        *w = (tw_window){0};
        if (bed >= 0 && i == roll->bed.stream) {
            w->bed = s->scene->values[bed].value;
            w->lead = (uint32_t)((lead + TW_PLAN_ALIGN - 1) / TW_PLAN_ALIGN * TW_PLAN_ALIGN);
        }
        if (!stream->whole)
            w->rows = roll->streams[leader].rows;
        if (leader != i)
            w->over = s->scene->values[of[leader]].value;
    }
}

/* The windows and the lead of a run as simulated: once, then from memory. False: it cannot roll. */
static bool tighten(const tw_search *s, tw_stretch *run, tw_roll *roll, const int *of,
                    int64_t *lead)
{
    if (!run->tight || run->tight->bedded != run->bedded) {
        tw_roll_run did;
        tw_scene_estimate(s->scene, run->from, run->band, roll, of);
        roll->quick = roll->columns; /* smaller windows would be made of smaller calls */
        /* Plans for anything take the memory; those for a target keep to the calls they are priced by. */
        roll->keeps_calls = run->band > 1 && s->scene->schedule->target_count > 1;
        if (!tw_roll_tighten(roll, &did, s->arena))
            return false;
        int32_t *rows = tw_alloc_array(s->arena, (size_t)roll->stream_count + 1, sizeof *rows);
        for (int i = 0; i < roll->stream_count; i++)
            rows[i] = roll->streams[i].rows;
        const tw_tight tight = {run->bedded, did.lead, rows, did.firings, did.moved_bytes};
        run->tight = tw_copy(s->arena, &tight, sizeof tight);
    }
    for (int i = 0; i < roll->stream_count; i++)
        roll->streams[i].rows = run->tight->rows[i];
    *lead = run->tight->lead;
    return true;
}

/* Simulate and tighten one run, and put it into `out` unless null; false: it cannot roll. */
static bool settle(tw_search *s, tw_stretch *run, tw_schedule *out)
{
    tw_arena *arena = tw_arena_new();
    int *of = streams_of(s, run->from, run->to, arena);
    tw_roll roll;
    int bed = -1;
    int64_t saves = 0, lead = 0;
    bool ok = tw_scene_roll(s->scene, run->from, run->to, run->band, &roll, of, arena);
    if (ok) {
        if (run->bedded)
            bed = tw_scene_bed(s->scene, run->from, run->to, &roll, arena);
        ok = tighten(s, run, &roll, of, &lead);
    }
    if (ok) {
        saves = bed < 0 ? 0 : tw_scene_bed_saves(s->scene, bed, &roll, lead);
        run->bytes = tw_scene_bytes(s->scene, run->from, run->to, &roll) - saves;
        run->settled = true;
    }
    if (ok && out) {
        set_windows(s, &roll, of, saves ? bed : -1, lead, out);
        for (int i = run->from; i < run->to; i++)
            out->steps[i].band = roll.steps[i - run->from].band;
        out->segments[out->steps[run->from].segment].source_band = roll.source_band;
    }
    tw_arena_free(arena);
    return ok;
}

static int64_t may_save(const tw_search *s, const tw_stretch *run)
{
    return s->beds && !run->bedded ? run->may_save : 0;
}

void tw_search_use_beds(tw_search *s)
{
    s->beds = true;
}

void tw_search_settle(tw_search *s, int most)
{
    int64_t least = tw_search_least(s);
    for (int tries = 0; tries < most; tries++) {
        tw_stretch *next = NULL;
        for (int r = 0; r < s->count; r++) {
            tw_stretch *run = &s->runs[r];
            int64_t hope = run->bytes - may_save(s, run);
            bool matters = may_save(s, run)
                               ? run->bytes >= least && hope < least
                               : !run->settled && run->bytes > least && hope < least + least / 3;
            if (!run->refused && run->band <= 1 && run->band != 0 && matters &&
                (!next || hope < next->bytes - may_save(s, next)))
                next = run;
        }
        if (!next)
            return;
        next->bedded = s->beds;
        next->refused = !settle(s, next, NULL);
        int64_t now = tw_search_least(s);
        least = now < least ? now : least;
    }
}

static bool write_segments(tw_search *s, const int *chosen, tw_schedule *out)
{
    int count = 0;
    for (int to = s->steps; to > 0; to = s->runs[chosen[to]].from)
        count++;
    out->segment_count = count;
    out->segments = tw_alloc_array(out->arena, (size_t)count + 1, sizeof *out->segments);
    memset(out->windows, 0, sizeof *out->windows * (size_t)out->graph->value_count);
    for (int to = s->steps; to > 0; to = s->runs[chosen[to]].from) {
        tw_stretch *run = &s->runs[chosen[to]];
        count--;
        out->segments[count] = (tw_segment){
            run->from, run->to - run->from, out->steps[run->from].axis, run->band < 0, 0, -1};
        for (int i = run->from; i < run->to; i++) {
            out->steps[i].segment = count;
            out->steps[i].side = TW_SIDE_OPEN;
            out->steps[i].band = out->steps[i].extent > 0 ? out->steps[i].extent : 1;
        }
        if (run->band && !settle(s, run, out)) {
            run->refused = true;
            return false;
        }
    }
    return true;
}

/* Prices of what was chosen, as simulated, for a named processor. Plans for anything keep to the estimates: they
 * take the least memory that comes near. Does any cost more than it was chosen for? */
static bool correct_prices(const tw_search *s, const int *chosen)
{
    bool dearer = false;
    for (int to = s->steps; to > 0; to = s->runs[chosen[to]].from) {
        tw_stretch *run = &s->runs[chosen[to]];
        if (!run->tight || s->scene->schedule->target_count <= 1)
            continue;
        const double cost = price_of(s->scene, run->from, run->to, (double)run->tight->firings,
                                     (double)run->tight->moved_bytes);
        dearer |= cost > run->cost * (1 + 1e-9);
        run->cost = cost;
    }
    return dearer;
}

bool tw_search_apply(tw_search *s, int64_t budget, tw_prefer prefer, tw_schedule *out)
{
    enum { MOST_TRIES = 12 };
    tw_arena *arena = tw_arena_new();
    int *chosen = tw_alloc_array(arena, (size_t)s->steps + 1, sizeof *chosen);
    bool ok = false;
    if (s->steps == 0) {
        out->segment_count = 0;
        tw_arena_free(arena);
        return true;
    }
    /* A run refused by simulation is one run fewer, one that costs more than it was thought to is known
     * better: this ends. */
    for (int tries = 0;; tries++) {
        int64_t within = budget;
        if (prefer == TW_PREFER_MEMORY) {
            within = tw_search_least(s);
            if (within > budget)
                break;
        }
        double cost = cheapest(s, within, chosen);
        if (!isfinite(cost))
            break;
        if (prefer == TW_PREFER_BALANCED)
            cheapest(s, smallest_within(s, within, cost * 1.1), chosen);
        ok = write_segments(s, chosen, out);
        if (ok && (prefer == TW_PREFER_MEMORY || tries >= MOST_TRIES || !correct_prices(s, chosen)))
            break;
    }
    tw_arena_free(arena);
    return ok;
}
