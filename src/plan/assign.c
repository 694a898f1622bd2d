/* Address assignment by branch and bound. What is placed is an item: an interval, or several that are
 * tied together.
 *
 * A placement can be pushed down until every interval lies at 0 or on top of another that overlaps
 * it, and its intervals can then be listed in order of offset. The search builds such lists: at each
 * node one interval goes to the lowest offset that those below leave it. What is pruned:
 *   order      offsets never fall along the list (equal ones ascend by number), but for tied items:
 *              something may lie below one part of them and on top of another;
 *   gaps       an interval at or above the top that another could reach now would leave a gap into
 *              which the other fits: the other must come first;
 *   sections   at every time, the lowest offset still possible plus all bytes still to place must fit;
 *   islands    intervals that no unplaced neighbour ties together are solved one group by one: a
 *              group that cannot be placed condemns the node, whatever the others do;
 *   twins      of equal intervals the first comes first.
 * Several orders of trying take turns with growing node limits. */
#include "plan/assign.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

typedef struct tw_solver {
    int count, sections;
    const tw_interval *in;
    int *first, *last;           /* sections covered */
    int *next;                   /* the next interval of the same item, or -1 */
    int *items, item_count;      /* the first interval of each item stands for it */
    int *item_first, *item_last; /* by item: sections from its birth to its death */
    int *neighbour, *neighbours; /* of i: neighbour[neighbours[i] .. neighbours[i + 1]) */
    int *twin;                   /* an equal interval with a lower number, or -1 */
    uint64_t *lowest;            /* offset that the placed ones leave an interval */
    uint64_t *offset;
    bool *placed;
    uint64_t *unplaced; /* bytes by section */
    uint64_t *floor;    /* by section, scratch of a node */
    int *rank;          /* the order of trying: small first; breaks ties of offsets */
    struct {
        int interval;
        uint64_t lowest;
    } * trail;
    int trail_count, trail_capacity;
    uint64_t capacity, nodes, limit;
    bool out_of_nodes;
    bool late; /* tied items are tried by their highest part, so that others can slip below it */
    tw_arena *arena;
} tw_solver;

static int by_number(const void *left, const void *right)
{
    int a = *(const int *)left, b = *(const int *)right;
    return a < b ? -1 : a > b;
}

/* Number the sections: the spans of time between births and deaths. */
static void make_sections(tw_solver *s)
{
    int n = s->count, unique = 0;
    int *times = tw_alloc_array(s->arena, 2 * (size_t)n + 1, sizeof *times);
    for (int i = 0; i < n; i++) {
        times[2 * i] = s->in[i].first;
        times[2 * i + 1] = s->in[i].last + 1;
    }
    qsort(times, 2 * (size_t)n, sizeof *times, by_number);
    for (int i = 0; i < 2 * n; i++)
        if (i == 0 || times[i] != times[unique - 1])
            times[unique++] = times[i];
    s->sections = unique > 1 ? unique - 1 : 1;
    for (int i = 0; i < n; i++) {
        int end = s->in[i].last + 1;
        s->first[i] =
            (int)((int *)bsearch(&s->in[i].first, times, (size_t)unique, sizeof *times, by_number) -
                  times);
        s->last[i] =
            (int)((int *)bsearch(&end, times, (size_t)unique, sizeof *times, by_number) - times) -
            1;
    }
}

static bool overlaps(const tw_solver *s, int i, int k)
{
    return s->first[i] <= s->last[k] && s->first[k] <= s->last[i];
}

static void make_neighbours(tw_solver *s)
{
    int total = 0;
    for (int pass = 0; pass < 2; pass++) {
        total = 0;
        for (int i = 0; i < s->count; i++) {
            s->neighbours[i] = total;
            for (int k = 0; k < s->count; k++)
                if (k != i && overlaps(s, i, k)) {
                    if (pass)
                        s->neighbour[total] = k;
                    total++;
                }
        }
        s->neighbours[s->count] = total;
        if (pass == 0)
            s->neighbour = tw_alloc_array(s->arena, (size_t)total + 1, sizeof(int));
    }
    for (int i = 0; i < s->count; i++) {
        s->twin[i] = -1;
        for (int k = 0; k < i; k++)
            if (s->first[k] == s->first[i] && s->last[k] == s->last[i] &&
                s->in[k].bytes == s->in[i].bytes && s->in[k].tie == 0 && s->in[i].tie == 0)
                s->twin[i] = k;
    }
}

static void make_items(tw_solver *s)
{
    for (int i = 0; i < s->count; i++) {
        int item = i;
        s->next[i] = -1;
        s->item_first[i] = s->first[i];
        s->item_last[i] = s->last[i];
        for (int k = 0; k < s->item_count && s->in[i].tie != 0; k++)
            if (s->in[s->items[k]].tie == s->in[i].tie)
                item = s->items[k];
        if (item == i) {
            s->items[s->item_count++] = i;
            continue;
        }
        s->next[i] = s->next[item];
        s->next[item] = i;
        if (s->first[i] < s->item_first[item])
            s->item_first[item] = s->first[i];
        if (s->last[i] > s->item_last[item])
            s->item_last[item] = s->last[i];
    }
}

/* ---- placing and taking back ---- */

/* The offset that the placed ones leave an item. */
static uint64_t lowest_of(const tw_solver *s, int item)
{
    uint64_t lowest = 0;
    for (int i = item; i >= 0; i = s->next[i])
        if (s->lowest[i] > lowest + s->in[i].above)
            lowest = s->lowest[i] - s->in[i].above;
    return lowest;
}

/* How far up an item reaches from its offset. */
static uint64_t height_of(const tw_solver *s, int item)
{
    uint64_t height = 0;
    for (int i = item; i >= 0; i = s->next[i])
        if ((uint64_t)s->in[i].above + s->in[i].bytes > height)
            height = (uint64_t)s->in[i].above + s->in[i].bytes;
    return height;
}

/* How far the highest part of an item begins from its offset. */
static uint64_t rise_of(const tw_solver *s, int item)
{
    uint64_t rise = 0;
    for (int i = item; i >= 0; i = s->next[i])
        if (s->in[i].above > rise)
            rise = s->in[i].above;
    return rise;
}

static void place_interval(tw_solver *s, int i, uint64_t offset)
{
    uint64_t top = offset + s->in[i].bytes;
    s->placed[i] = true;
    s->offset[i] = offset;
    for (int t = s->first[i]; t <= s->last[i]; t++)
        s->unplaced[t] -= s->in[i].bytes;
    for (int n = s->neighbours[i]; n < s->neighbours[i + 1]; n++) {
        int k = s->neighbour[n];
        if (s->placed[k] || s->lowest[k] >= top)
            continue;
        tw_grow(s->arena, &s->trail, s->trail_count, &s->trail_capacity, sizeof *s->trail);
        s->trail[s->trail_count].interval = k;
        s->trail[s->trail_count++].lowest = s->lowest[k];
        s->lowest[k] = top;
    }
}

static void place(tw_solver *s, int item)
{
    uint64_t offset = lowest_of(s, item);
    for (int i = item; i >= 0; i = s->next[i])
        place_interval(s, i, offset + s->in[i].above);
}

static void take_back(tw_solver *s, int item, int trail_mark)
{
    for (int i = item; i >= 0; i = s->next[i]) {
        s->placed[i] = false;
        for (int t = s->first[i]; t <= s->last[i]; t++)
            s->unplaced[t] += s->in[i].bytes;
    }
    while (s->trail_count > trail_mark) {
        s->trail_count--;
        s->lowest[s->trail[s->trail_count].interval] = s->trail[s->trail_count].lowest;
    }
}

/* ---- a node ---- */

static uint64_t max64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Can the group still fit? *ceiling receives the lowest top that any of it could reach now. */
static bool may_fit(tw_solver *s, const int *group, int count, uint64_t level, uint64_t *ceiling)
{
    *ceiling = UINT64_MAX;
    for (int g = 0; g < count; g++)
        for (int i = group[g]; i >= 0; i = s->next[i])
            for (int t = s->first[i]; t <= s->last[i]; t++)
                s->floor[t] = UINT64_MAX;
    for (int g = 0; g < count; g++) {
        uint64_t lowest = lowest_of(s, group[g]);
        uint64_t low = s->in[group[g]].tie != 0 ? lowest : max64(lowest, level);
        uint64_t height = height_of(s, group[g]);
        if (low + height > s->capacity)
            return false;
        if (lowest + height < *ceiling)
            *ceiling = lowest + height;
        for (int i = group[g]; i >= 0; i = s->next[i])
            for (int t = s->first[i]; t <= s->last[i]; t++)
                if (low + s->in[i].above < s->floor[t])
                    s->floor[t] = low + s->in[i].above;
    }
    for (int g = 0; g < count; g++)
        for (int i = group[g]; i >= 0; i = s->next[i])
            for (int t = s->first[i]; t <= s->last[i]; t++)
                if (s->floor[t] + s->unplaced[t] > s->capacity)
                    return false;
    return true;
}

typedef struct tw_try {
    int interval;
    uint64_t lowest, promise;
    int rank;
} tw_try;

static int by_promise(const void *left, const void *right)
{
    const tw_try *a = left, *b = right;
    if (a->promise != b->promise)
        return a->promise < b->promise ? -1 : 1;
    return a->rank - b->rank;
}

/* Nothing unplaced overlaps it: whatever fails with it placed fails without it. */
static bool is_alone(const tw_solver *s, int item)
{
    for (int i = item; i >= 0; i = s->next[i])
        for (int n = s->neighbours[i]; n < s->neighbours[i + 1]; n++)
            if (!s->placed[s->neighbour[n]])
                return false;
    return true;
}

static bool solve(tw_solver *s, const int *group, int count, uint64_t level, int rank);

/* Place one of the group and solve the rest; `group` ascends by first section. */
static bool branch(tw_solver *s, const int *group, int count, uint64_t level, int rank)
{
    uint64_t ceiling;
    if (s->nodes++ >= s->limit) {
        s->out_of_nodes = true;
        return false;
    }
    if (!may_fit(s, group, count, level, &ceiling))
        return false;
    tw_try *tries = malloc((sizeof *tries + sizeof(int)) * (size_t)count);
    if (!tries)
        abort();
    int *rest = (int *)(void *)(tries + count);
    int try_count = 0;
    for (int g = 0; g < count; g++) {
        int i = group[g];
        uint64_t lowest = lowest_of(s, i);
        bool tied = s->in[i].tie != 0;
        bool in_order = tied || lowest > level || (lowest == level && s->rank[i] > rank);
        if (in_order && lowest < ceiling && (s->twin[i] < 0 || s->placed[s->twin[i]]))
            tries[try_count++] =
                (tw_try){i, lowest, s->late ? lowest + rise_of(s, i) : lowest, s->rank[i]};
    }
    qsort(tries, (size_t)try_count, sizeof *tries, by_promise);
    bool found = false;
    for (int t = 0; !found && !s->out_of_nodes && t < try_count; t++) {
        int i = tries[t].interval, mark = s->trail_count, n = 0;
        for (int g = 0; g < count; g++)
            if (group[g] != i)
                rest[n++] = group[g];
        place(s, i);
        bool alone = is_alone(s, i);
        bool higher = tries[t].lowest >= level;
        found = solve(s, rest, n, higher ? tries[t].lowest : level, higher ? s->rank[i] : rank);
        if (!found)
            take_back(s, i, mark);
        if (alone)
            break;
    }
    free(tries);
    return found;
}

/* Split the group into islands and solve each. On failure nothing of it stays placed. */
static bool solve(tw_solver *s, const int *group, int count, uint64_t level, int rank)
{
    int start = 0, mark = s->trail_count;
    while (start < count) {
        int end = start + 1, reach = s->item_last[group[start]];
        while (end < count && s->item_first[group[end]] <= reach) {
            if (s->item_last[group[end]] > reach)
                reach = s->item_last[group[end]];
            end++;
        }
        bool island = end - start < count; /* its list is its own: it starts afresh */
        if (!branch(s, group + start, end - start, island ? 0 : level, island ? -1 : rank)) {
            for (int g = 0; g < start; g++)
                take_back(s, group[g], mark);
            return false;
        }
        start = end;
    }
    return true;
}

/* ---- orders ---- */

enum { ORDERS = 3 };

/* What makes an interval hard: a long life, a large area, a crowded time. Hard ones go first; the
 * orders differ in what weighs most. */
typedef struct tw_hardness {
    int interval;
    double key[3];
} tw_hardness;

static int by_hardness(const void *left, const void *right)
{
    const tw_hardness *a = left, *b = right;
    for (int k = 0; k < 3; k++)
        if (a->key[k] != b->key[k])
            return a->key[k] > b->key[k] ? -1 : 1;
    return a->interval - b->interval;
}

static void rank_by(tw_solver *s, int order)
{
    enum { LIFE, AREA, CROWD };
    static const int weight[ORDERS][3] = {
        {LIFE, AREA, CROWD}, {CROWD, AREA, LIFE}, {CROWD, LIFE, AREA}};
    tw_hardness *h = tw_alloc_array(s->arena, (size_t)s->item_count, sizeof *h);
    for (int k = 0; k < s->item_count; k++) {
        double value[3] = {0, 0, 0};
        for (int i = s->items[k]; i >= 0; i = s->next[i]) {
            double life = s->in[i].last - s->in[i].first + 1.0;
            value[LIFE] += life;
            value[AREA] += life * s->in[i].bytes;
            for (int t = s->first[i]; t <= s->last[i]; t++)
                if ((double)s->unplaced[t] > value[CROWD])
                    value[CROWD] = (double)s->unplaced[t];
        }
        h[k].interval = s->items[k];
        for (int w = 0; w < 3; w++)
            h[k].key[w] = value[weight[order][w]];
    }
    qsort(h, (size_t)s->item_count, sizeof *h, by_hardness);
    for (int k = 0; k < s->item_count; k++)
        s->rank[h[k].interval] = k;
}

static const int *sort_firsts;

static int by_first(const void *left, const void *right)
{
    int a = *(const int *)left, b = *(const int *)right;
    if (sort_firsts[a] != sort_firsts[b])
        return sort_firsts[a] < sort_firsts[b] ? -1 : 1;
    return a - b;
}

tw_assigned tw_assign(tw_interval *intervals, int count, uint64_t capacity, uint64_t node_limit)
{
    if (count == 0)
        return TW_ASSIGN_FOUND;
    if (tw_assign_bound(intervals, count) > capacity)
        return TW_ASSIGN_IMPOSSIBLE;
    tw_arena *arena = tw_arena_new();
    size_t n = (size_t)count;
    tw_solver s = {.count = count, .in = intervals, .arena = arena, .capacity = capacity};
    s.first = tw_alloc_array(arena, n, sizeof(int));
    s.last = tw_alloc_array(arena, n, sizeof(int));
    s.next = tw_alloc_array(arena, n, sizeof(int));
    s.items = tw_alloc_array(arena, n, sizeof(int));
    s.item_first = tw_alloc_array(arena, n, sizeof(int));
    s.item_last = tw_alloc_array(arena, n, sizeof(int));
    s.neighbours = tw_alloc_array(arena, n + 1, sizeof(int));
    s.twin = tw_alloc_array(arena, n, sizeof(int));
    s.lowest = tw_alloc_array(arena, n, sizeof(uint64_t));
    s.offset = tw_alloc_array(arena, n, sizeof(uint64_t));
    s.placed = tw_alloc_array(arena, n, sizeof(bool));
    s.rank = tw_alloc_array(arena, n, sizeof(int));
    make_sections(&s);
    make_items(&s);
    s.unplaced = tw_alloc_array(arena, (size_t)s.sections, sizeof(uint64_t));
    s.floor = tw_alloc_array(arena, (size_t)s.sections, sizeof(uint64_t));
    make_neighbours(&s);
    int *group = tw_copy(arena, s.items, n * sizeof(int));
    for (int i = 0; i < count; i++) {
        for (int t = s.first[i]; t <= s.last[i]; t++)
            s.unplaced[t] += intervals[i].bytes;
    }
    sort_firsts = s.item_first;
    qsort(group, (size_t)s.item_count, sizeof *group, by_first);
    tw_assigned result = TW_ASSIGN_UNKNOWN;
    uint64_t used = 0;
    for (uint64_t turn = 2 * n; result == TW_ASSIGN_UNKNOWN && used < node_limit; turn *= 2)
        for (int order = 0; order < ORDERS && result == TW_ASSIGN_UNKNOWN; order++) {
            if (used >= node_limit)
                break;
            rank_by(&s, order);
            s.late = order > 0;
            s.nodes = 0;
            s.limit = turn < node_limit - used ? turn : node_limit - used;
            s.out_of_nodes = false;
            if (solve(&s, group, s.item_count, 0, -1))
                result = TW_ASSIGN_FOUND;
            else if (!s.out_of_nodes)
                result = TW_ASSIGN_IMPOSSIBLE;
            used += s.nodes;
        }
    if (result == TW_ASSIGN_FOUND)
        for (int i = 0; i < count; i++)
            intervals[i].offset = (uint32_t)s.offset[i];
    tw_arena_free(arena);
    return result;
}
