/* Address assignment by greedy orders: good placements quickly, for any number of intervals. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "plan/assign.h"

static int last_time(const tw_interval *in, int count)
{
    int last = 0;
    for (int i = 0; i < count; i++)
        if (in[i].last > last)
            last = in[i].last;
    return last;
}

uint64_t tw_assign_bound(const tw_interval *in, int count)
{
    int times = last_time(in, count) + 2;
    tw_arena *arena = tw_arena_new();
    int64_t *change = tw_alloc_array(arena, (size_t)times, sizeof *change);
    int64_t live = 0, peak = 0;
    for (int i = 0; i < count; i++) {
        change[in[i].first] += in[i].bytes;
        change[in[i].last + 1] -= in[i].bytes;
    }
    for (int t = 0; t < times; t++) {
        live += change[t];
        if (live > peak)
            peak = live;
    }
    tw_arena_free(arena);
    return (uint64_t)peak;
}

/* ---- by birth, from a list of free blocks: n log n in practice ---- */

typedef struct tw_block {
    uint64_t start, end;
} tw_block;

typedef struct tw_heap {
    tw_block *free; /* ascending, never touching; the last one is endless */
    int count;
    uint64_t size;
} tw_heap;

/* The smallest block that is large enough. */
static uint64_t take(tw_heap *heap, uint64_t bytes)
{
    int best = heap->count - 1;
    for (int i = 0; i < heap->count; i++) {
        uint64_t room = heap->free[i].end - heap->free[i].start;
        if (room >= bytes && room < heap->free[best].end - heap->free[best].start)
            best = i;
    }
    uint64_t at = heap->free[best].start;
    heap->free[best].start += bytes;
    if (heap->free[best].start == heap->free[best].end) {
        heap->count--;
        memmove(&heap->free[best], &heap->free[best + 1],
                sizeof *heap->free * (size_t)(heap->count - best));
    }
    if (at + bytes > heap->size)
        heap->size = at + bytes;
    return at;
}

static void give_back(tw_heap *heap, uint64_t start, uint64_t end)
{
    int low = 0, high = heap->count;
    if (start == end)
        return;
    while (low < high) {
        int middle = (low + high) / 2;
        if (heap->free[middle].start < start)
            low = middle + 1;
        else
            high = middle;
    }
    bool left = low > 0 && heap->free[low - 1].end == start;
    bool right = low < heap->count && heap->free[low].start == end;
    if (left && right) {
        heap->free[low - 1].end = heap->free[low].end;
        heap->count--;
        memmove(&heap->free[low], &heap->free[low + 1],
                sizeof *heap->free * (size_t)(heap->count - low));
    } else if (left) {
        heap->free[low - 1].end = end;
    } else if (right) {
        heap->free[low].start = start;
    } else {
        memmove(&heap->free[low + 1], &heap->free[low],
                sizeof *heap->free * (size_t)(heap->count - low));
        heap->free[low] = (tw_block){start, end};
        heap->count++;
    }
}

typedef struct tw_order {
    int interval;
    double key, second; /* large first */
} tw_order;

static int by_key(const void *left, const void *right)
{
    const tw_order *a = left, *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    if (a->second != b->second)
        return a->second > b->second ? -1 : 1;
    return a->interval - b->interval;
}

static uint64_t place_by_birth(tw_arena *arena, const tw_interval *in, int count, uint64_t *offset)
{
    size_t n = (size_t)count;
    tw_heap heap = {tw_alloc_array(arena, n + 2, sizeof(tw_block)), 1, 0};
    tw_order *born = tw_alloc_array(arena, n, sizeof *born);
    tw_order *dead = tw_alloc_array(arena, n, sizeof *dead);
    heap.free[0] = (tw_block){0, UINT64_MAX};
    for (int i = 0; i < count; i++) {
        born[i] = (tw_order){i, -in[i].first, in[i].bytes};
        dead[i] = (tw_order){i, -in[i].last, 0};
    }
    qsort(born, n, sizeof *born, by_key);
    qsort(dead, n, sizeof *dead, by_key);
    for (int i = 0, d = 0; i < count; i++) {
        const tw_interval *next = &in[born[i].interval];
        for (; in[dead[d].interval].last < next->first; d++) {
            const tw_interval *gone = &in[dead[d].interval];
            give_back(&heap, offset[dead[d].interval], offset[dead[d].interval] + gone->bytes);
        }
        offset[born[i].interval] = next->bytes ? take(&heap, next->bytes) : 0;
    }
    return heap.size;
}

/* ---- by a key, each in the lowest gap ---- */

/* Placed intervals by time: a segment tree whose nodes list the intervals that cover them. */
typedef struct tw_link {
    int interval, next;
} tw_link;

typedef struct tw_tree {
    tw_arena *arena;
    int size;  /* leaves, a power of two */
    int *head; /* by node: first link + 1 */
    tw_link *links;
    int link_count, link_capacity;
    int *seen; /* by interval: the query that saw it last */
    int query;
    int *found;
    int found_count;
} tw_tree;

static void insert(tw_tree *t, int interval, int first, int last)
{
    int low = first + t->size, high = last + t->size + 1;
    for (; low < high; low /= 2, high /= 2)
        for (int side = 0; side < 2; side++) {
            int node = side ? high - 1 : low;
            if (!((side ? high : low) & 1))
                continue;
            tw_grow(t->arena, &t->links, t->link_count, &t->link_capacity, sizeof *t->links);
            t->links[t->link_count] = (tw_link){interval, t->head[node]};
            t->head[node] = ++t->link_count;
            if (side)
                high--;
            else
                low++;
        }
}

static void collect(tw_tree *t, int node)
{
    for (int l = t->head[node]; l && t->links; l = t->links[l - 1].next) {
        int i = t->links[l - 1].interval;
        if (t->seen[i] != t->query) {
            t->seen[i] = t->query;
            t->found[t->found_count++] = i;
        }
    }
}

/* All placed intervals that overlap [first, last]: those on nodes that touch it, level by level. */
static void query(tw_tree *t, int first, int last)
{
    t->query++;
    t->found_count = 0;
    for (int low = first + t->size, high = last + t->size; low >= 1; low /= 2, high /= 2)
        for (int node = low; node <= high; node++)
            collect(t, node);
}

static int by_start(const void *left, const void *right)
{
    const tw_block *a = left, *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

static double key_of(const tw_interval *in, int order)
{
    double life = in->last - in->first + 1.0;
    switch (order) {
    case 0: return in->bytes;
    case 1: return in->bytes * life;
    case 2: return life;
    default: return in->first; /* backwards in time */
    }
}

static uint64_t place_by_key(tw_arena *arena, const tw_interval *in, int count, int order,
                             uint64_t *offset)
{
    size_t n = (size_t)count;
    tw_tree t = {.arena = arena, .size = 1};
    while (t.size < last_time(in, count) + 1)
        t.size *= 2;
    t.head = tw_alloc_array(arena, 2 * (size_t)t.size, sizeof(int));
    t.seen = tw_alloc_array(arena, n, sizeof(int));
    t.found = tw_alloc_array(arena, n, sizeof(int));
    tw_block *taken = tw_alloc_array(arena, n, sizeof *taken);
    tw_order *by = tw_alloc_array(arena, n, sizeof *by);
    uint64_t size = 0;
    for (int i = 0; i < count; i++)
        by[i] = (tw_order){i, key_of(&in[i], order), in[i].bytes};
    qsort(by, n, sizeof *by, by_key);
    for (int i = 0; i < count; i++) {
        const tw_interval *next = &in[by[i].interval];
        uint64_t at = 0;
        query(&t, next->first, next->last);
        for (int k = 0; k < t.found_count; k++)
            taken[k] = (tw_block){offset[t.found[k]], offset[t.found[k]] + in[t.found[k]].bytes};
        qsort(taken, (size_t)t.found_count, sizeof *taken, by_start);
        for (int k = 0; k < t.found_count && at + next->bytes > taken[k].start; k++)
            at = taken[k].end > at ? taken[k].end : at;
        offset[by[i].interval] = next->bytes ? at : 0;
        if (offset[by[i].interval] + next->bytes > size)
            size = offset[by[i].interval] + next->bytes;
        insert(&t, by[i].interval, next->first, next->last);
    }
    return size;
}

/* Pairs that overlap: what the orders by key cost. */
static double overlap_pairs(const tw_interval *in, int count)
{
    int times = last_time(in, count) + 2;
    tw_arena *arena = tw_arena_new();
    int64_t *births = tw_alloc_array(arena, (size_t)times, sizeof *births);
    double pairs = 0;
    for (int i = 0; i < count; i++)
        births[in[i].first]++;
    for (int t = 1; t < times; t++)
        births[t] += births[t - 1];
    for (int i = 0; i < count; i++) /* those born while it lives */
        pairs += (double)(births[in[i].last] - (in[i].first ? births[in[i].first - 1] : 0));
    tw_arena_free(arena);
    return pairs;
}

static uint64_t place_greedily(tw_interval *intervals, int count)
{
    enum { BIRTH = 4 };
    const double most_pairs = 2e6;
    tw_arena *arena = tw_arena_new();
    uint64_t *offset = tw_alloc_array(arena, (size_t)count + 1, sizeof *offset);
    uint64_t best = UINT64_MAX, bound = tw_assign_bound(intervals, count);
    bool all = overlap_pairs(intervals, count) < most_pairs;
    for (int order = BIRTH; order >= 0 && best > bound; order--) {
        if (order != BIRTH && !all)
            continue;
        uint64_t size = order == BIRTH ? place_by_birth(arena, intervals, count, offset)
                                       : place_by_key(arena, intervals, count, order, offset);
        if (size >= best)
            continue;
        best = size;
        for (int i = 0; i < count; i++)
            intervals[i].offset = (uint32_t)offset[i];
    }
    tw_arena_free(arena);
    return count ? best : 0;
}

/* One interval for each tie: as long and as high as all of it. *of: by interval, its hull. */
static int make_hulls(tw_arena *arena, const tw_interval *in, int count, tw_interval *hull, int *of)
{
    int hulls = 0, ties = 0;
    for (int i = 0; i < count; i++)
        ties = in[i].tie > ties ? in[i].tie : ties;
    int *hull_of = tw_alloc_array(arena, (size_t)ties + 1, sizeof *hull_of); /* + 1; 0: none yet */
    for (int i = 0; i < count; i++) {
        int h = in[i].tie == 0 || hull_of[in[i].tie] == 0 ? hulls : hull_of[in[i].tie] - 1;
        of[i] = h;
        hull_of[in[i].tie] = h + 1;
        if (h == hulls)
            hull[hulls++] = (tw_interval){in[i].first, in[i].last, 0, 0, 0, 0};
        if (in[i].first < hull[h].first)
            hull[h].first = in[i].first;
        if (in[i].last > hull[h].last)
            hull[h].last = in[i].last;
        if (in[i].above + in[i].bytes > hull[h].bytes)
            hull[h].bytes = in[i].above + in[i].bytes;
    }
    return hulls;
}

uint64_t tw_assign_greedy(tw_interval *intervals, int count)
{
    tw_arena *arena = tw_arena_new();
    tw_interval *hull = tw_alloc_array(arena, (size_t)count + 1, sizeof *hull);
    int *of = tw_alloc_array(arena, (size_t)count + 1, sizeof *of);
    int hulls = make_hulls(arena, intervals, count, hull, of);
    uint64_t size = place_greedily(hull, hulls);
    for (int i = 0; i < count; i++)
        intervals[i].offset = hull[of[i]].offset + intervals[i].above;
    tw_arena_free(arena);
    return size;
}

uint64_t tw_assign_best(tw_interval *intervals, int count, uint64_t node_limit)
{
    enum { LARGEST = 2000 }; /* the search keeps all overlapping pairs */
    uint64_t bound = tw_assign_bound(intervals, count);
    uint64_t best = tw_assign_greedy(intervals, count);
    if (count > LARGEST)
        return best;
    /* The bound first: it is nearly always reached. Then halve what lies between. */
    uint64_t low = bound, target = bound, step = 16;
    for (int tries = 0; best > low && tries < 12; tries++) {
        if (tw_assign(intervals, count, target, node_limit) == TW_ASSIGN_FOUND)
            best = target;
        else
            low = target + step;
        target = low + (best - low) / 2 / step * step;
    }
    return best;
}
