/* Execution order: dynamic programming over down-sets, region by region.
 *
 * A down-set is a set of tasks that contains what its members depend on: what may have been done at
 * some moment. Which bytes are live depends on the set alone, not on the order within it, so per set
 * only the lowest peak on the way to it matters. Sets are built level by level, one more task a level;
 * where a level grows beyond the beam, the worst are dropped and the answer is no longer proven. */
#include "plan/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "plan/order_memo.h"

typedef struct tw_problem {
    tw_arena *arena;
    const tw_task *tasks;
    const tw_item *items;
    int task_count, item_count;
    int *reader_count;           /* by item */
    int *first_reader, *readers; /* of item i: readers[first_reader[i] ..) */
    int *first_next, *next;      /* of task t: tasks that wait for it */
    int *waits;                  /* by task: how many tasks it waits for */
} tw_problem;

/* ---- the live bytes, task by task ---- */

typedef struct tw_live {
    int64_t bytes, peak;
} tw_live;

/* Does the task's reading of the item end its life? `left` counts readers not yet done. */
static bool dies(const tw_problem *p, int item, const int *left)
{
    return left[item] == 1 && !p->items[item].kept;
}

static void run_task(const tw_problem *p, int task, int *left, tw_live *live)
{
    const tw_task *t = &p->tasks[task];
    int64_t made = 0, during, freed = 0;
    for (int i = 0; i < t->make_count; i++)
        made += p->items[t->makes[i]].bytes;
    during = live->bytes + made + t->extra;
    if (t->over >= 0 && t->make_count == 1 && dies(p, t->over, left) &&
        p->items[t->over].bytes == p->items[t->makes[0]].bytes)
        during -= p->items[t->makes[0]].bytes;
    for (int i = 0; i < t->read_count; i++) {
        if (dies(p, t->reads[i], left))
            freed += p->items[t->reads[i]].bytes;
        left[t->reads[i]]--;
    }
    for (int i = 0; i < t->make_count; i++)
        if (p->reader_count[t->makes[i]] == 0 && !p->items[t->makes[i]].kept)
            freed += p->items[t->makes[i]].bytes;
    if (during > live->peak)
        live->peak = during;
    live->bytes += made - freed;
}

static int64_t start_bytes(const tw_problem *p)
{
    int64_t bytes = 0;
    for (int i = 0; i < p->item_count; i++)
        if (p->items[i].maker < 0 && (p->reader_count[i] || p->items[i].kept))
            bytes += p->items[i].bytes;
    return bytes;
}

static void build(tw_problem *p)
{
    size_t tasks = (size_t)p->task_count, items = (size_t)p->item_count;
    int edges = 0;
    p->reader_count = tw_alloc_array(p->arena, items + 1, sizeof(int));
    p->first_reader = tw_alloc_array(p->arena, items + 2, sizeof(int));
    p->first_next = tw_alloc_array(p->arena, tasks + 2, sizeof(int));
    p->waits = tw_alloc_array(p->arena, tasks + 1, sizeof(int));
    for (int pass = 0; pass < 2; pass++) {
        for (int t = 0; t < p->task_count; t++) {
            const tw_task *task = &p->tasks[t];
            for (int i = 0; i < task->read_count + task->after_count; i++) {
                bool reads = i < task->read_count;
                int from =
                    reads ? p->items[task->reads[i]].maker : task->after[i - task->read_count];
                if (reads && pass == 0)
                    p->reader_count[task->reads[i]]++;
                if (from < 0)
                    continue;
                if (pass == 0) {
                    p->first_next[from + 2]++;
                    edges++;
                } else {
                    p->next[p->first_next[from + 1]++] = t;
                    p->waits[t]++;
                }
            }
        }
        if (pass == 0) {
            p->next = tw_alloc_array(p->arena, (size_t)edges + 1, sizeof(int));
            for (int t = 0; t < p->task_count; t++)
                p->first_next[t + 2] += p->first_next[t + 1];
        }
    }
}

static int64_t peak_of(const tw_problem *p, const int *order)
{
    int *left = tw_copy(p->arena, p->reader_count, sizeof(int) * ((size_t)p->item_count + 1));
    tw_live live = {start_bytes(p), 0};
    live.peak = live.bytes;
    for (int i = 0; i < p->task_count; i++)
        run_task(p, order[i], left, &live);
    return live.peak;
}

/* ---- a region: tasks order[from .. to), searched as down-sets ---- */

typedef struct tw_set {
    uint64_t *done; /* bit i: the region's i-th task */
    tw_live live;
    int parent, task; /* in the level before; the task that was added */
} tw_set;

typedef struct tw_level {
    tw_set *sets;
    int count, capacity;
} tw_level;

typedef struct tw_region {
    const tw_problem *p;
    tw_arena *arena;
    const int *task; /* the region's tasks */
    int count, words;
    int *number;          /* by task: its number in the region, or -1 */
    const uint64_t *need; /* words a task: those of the region that it waits for */
    int *left;            /* by item: readers left, scratch of a set */
    const int *left_at_start;
    int64_t limit; /* peaks at or above it are of no use */
    int *slot;     /* hash of the level being built: set index + 1 */
    int slots;
} tw_region;

static bool has(const uint64_t *done, int i)
{
    return done[i / 64] >> (i % 64) & 1;
}

static uint64_t hash_set(const uint64_t *done, int words)
{
    uint64_t h = 0x9E3779B97F4A7C15u;
    for (int w = 0; w < words; w++) {
        h = (h ^ done[w]) * 0xBF58476D1CE4E5B9u;
        h ^= h >> 29;
    }
    return h;
}

static void set_needs(tw_region *r)
{
    const tw_problem *p = r->p;
    uint64_t *need = tw_alloc_array(r->arena, (size_t)r->count * (size_t)r->words, sizeof *need);
    for (int i = 0; i < r->count; i++) {
        const tw_task *t = &p->tasks[r->task[i]];
        uint64_t *own = need + (size_t)i * (size_t)r->words;
        for (int k = 0; k < t->read_count + t->after_count; k++) {
            int from =
                k < t->read_count ? p->items[t->reads[k]].maker : t->after[k - t->read_count];
            const int number = from >= 0 ? r->number[from] : -1;
            if (number >= 0)
                own[number / 64] |= (uint64_t)1 << (number % 64);
        }
    }
    r->need = need;
}

/* Everything the task waits for is done: before the region, or in the set. */
static bool is_ready(const tw_region *r, const uint64_t *done, int i)
{
    const uint64_t *need = r->need + (size_t)i * (size_t)r->words;
    for (int w = 0; w < r->words; w++)
        if (need[w] & ~done[w])
            return false;
    return true;
}

/* Readers left of every item that the region's tasks read, given what is done. */
static void count_left(tw_region *r, const uint64_t *done)
{
    const tw_problem *p = r->p;
    for (int i = 0; i < r->count; i++) {
        const tw_task *t = &p->tasks[r->task[i]];
        for (int k = 0; k < t->read_count; k++)
            r->left[t->reads[k]] = r->left_at_start[t->reads[k]];
    }
    for (int i = 0; i < r->count; i++) {
        const tw_task *t = &p->tasks[r->task[i]];
        for (int k = 0; has(done, i) && k < t->read_count; k++)
            r->left[t->reads[k]]--;
    }
}

static void rehash(tw_region *r, const tw_level *level)
{
    r->slots = r->slots ? r->slots * 2 : 256;
    r->slot = tw_alloc_array(r->arena, (size_t)r->slots, sizeof(int));
    for (int s = 0; s < level->count; s++) {
        uint64_t at = hash_set(level->sets[s].done, r->words) & (uint64_t)(r->slots - 1);
        while (r->slot[at])
            at = (at + 1) & (uint64_t)(r->slots - 1);
        r->slot[at] = s + 1;
    }
}

/* Put a set into the level unless it is there with a peak as low. */
static void put(tw_region *r, tw_level *level, const uint64_t *done, tw_live live, int parent,
                int task)
{
    if (!r->slot || level->count * 2 >= r->slots)
        rehash(r, level);
    uint64_t at = hash_set(done, r->words) & (uint64_t)(r->slots - 1);
    for (; r->slot[at]; at = (at + 1) & (uint64_t)(r->slots - 1)) {
        tw_set *s = &level->sets[r->slot[at] - 1];
        if (memcmp(s->done, done, sizeof *done * (size_t)r->words) != 0)
            continue;
        if (live.peak < s->live.peak) {
            s->live = live;
            s->parent = parent;
            s->task = task;
        }
        return;
    }
    tw_grow(r->arena, &level->sets, level->count, &level->capacity, sizeof *level->sets);
    tw_set *s = &level->sets[level->count++];
    s->done = tw_copy(r->arena, done, sizeof *done * (size_t)r->words);
    s->live = live;
    s->parent = parent;
    s->task = task;
    r->slot[at] = level->count;
}

static void expand(tw_region *r, const tw_level *from, int index, tw_level *to, uint64_t *done)
{
    const tw_set *s = &from->sets[index];
    memcpy(done, s->done, sizeof *done * (size_t)r->words);
    count_left(r, done);
    for (int i = 0; i < r->count; i++) {
        if (has(done, i) || !is_ready(r, done, i))
            continue;
        const tw_task *t = &r->p->tasks[r->task[i]];
        tw_live live = s->live;
        run_task(r->p, r->task[i], r->left, &live);
        for (int k = 0; k < t->read_count; k++) /* as it was for the next */
            r->left[t->reads[k]]++;
        if (live.peak >= r->limit)
            continue;
        done[i / 64] |= (uint64_t)1 << (i % 64);
        put(r, to, done, live, index, i);
        done[i / 64] &= ~((uint64_t)1 << (i % 64));
    }
}

static int by_peak(const void *left, const void *right)
{
    const tw_set *a = left, *b = right;
    if (a->live.peak != b->live.peak)
        return a->live.peak < b->live.peak ? -1 : 1;
    if (a->live.bytes != b->live.bytes)
        return a->live.bytes < b->live.bytes ? -1 : 1;
    return a->parent != b->parent ? (a->parent < b->parent ? -1 : 1) : a->task - b->task;
}

/* Search the region: where an order with a peak below the limit is found, it is written. True: there is
 * none of a lower peak than the order that is left. */
static bool search_region(tw_region *r, tw_live start, int beam, int *order)
{
    tw_level *levels = tw_alloc_array(r->arena, (size_t)r->count + 1, sizeof *levels);
    uint64_t *done = tw_alloc_array(r->arena, (size_t)r->words, sizeof *done);
    bool proven = true;
    set_needs(r);
    r->slots = 0;
    put(r, &levels[0], done, start, -1, -1);
    for (int n = 0; n < r->count; n++) {
        tw_level *from = &levels[n];
        if (from->count > beam) {
            qsort(from->sets, (size_t)from->count, sizeof *from->sets, by_peak);
            from->count = beam;
            proven = false;
        }
        r->slots = 0;
        rehash(r, &levels[n + 1]);
        for (int s = 0; s < from->count; s++)
            expand(r, from, s, &levels[n + 1], done);
        if (levels[n + 1].count == 0)
            return proven;
    }
    int at = 0;
    int *numbers = tw_alloc_array(r->arena, (size_t)r->count + 1, sizeof(int));
    for (int n = r->count; n > 0; n--) {
        numbers[n - 1] = levels[n].sets[at].task;
        at = levels[n].sets[at].parent;
    }
    int *tasks = tw_copy(r->arena, r->task, sizeof(int) * (size_t)r->count);
    for (int n = 0; n < r->count; n++)
        order[n] = tasks[numbers[n]];
    return proven;
}

/* ---- regions that are alike ---- */

/* What the search of a region depends on, in numbers of its own: equal words, equal answer. Bytes that
 * are live all the time raise every peak alike, and do not count. */
typedef struct tw_words {
    tw_arena *arena;
    int64_t *at;
    int count, capacity;
} tw_words;

static void add_word(tw_words *w, int64_t word)
{
    tw_grow(w->arena, &w->at, w->count, &w->capacity, sizeof *w->at);
    w->at[w->count++] = word;
}

/* An item is described where it first appears. item_number: by item, 0 before that. */
static void add_item(tw_words *w, const tw_region *r, int item, int *item_number, int *items)
{
    const tw_item *it = &r->p->items[item];
    if (item_number[item] == 0) {
        item_number[item] = ++*items;
        add_word(w, it->bytes);
        add_word(w, it->kept);
        add_word(w, r->left_at_start[item]);
        add_word(w, it->maker < 0 ? -1 : r->number[it->maker]);
    }
    add_word(w, item_number[item]);
}

static void describe(tw_words *w, const tw_region *r, int *item_number)
{
    const tw_problem *p = r->p;
    int items = 0;
    add_word(w, r->count);
    for (int i = 0; i < r->count; i++) {
        const tw_task *t = &p->tasks[r->task[i]];
        add_word(w, t->extra);
        add_word(w, t->read_count);
        add_word(w, t->make_count);
        add_word(w, t->after_count);
        for (int k = 0; k < t->read_count; k++)
            add_item(w, r, t->reads[k], item_number, &items);
        for (int k = 0; k < t->make_count; k++)
            add_item(w, r, t->makes[k], item_number, &items);
        for (int k = 0; k < t->after_count; k++)
            add_word(w, r->number[t->after[k]]);
        add_word(w, t->over < 0 ? 0 : item_number[t->over]);
    }
    for (int i = 0; i < r->count; i++) {
        const tw_task *t = &p->tasks[r->task[i]];
        for (int k = 0; k < t->read_count; k++)
            item_number[t->reads[k]] = 0;
        for (int k = 0; k < t->make_count; k++)
            item_number[t->makes[k]] = 0;
    }
}

/* ---- the whole ---- */

/* Positions that everything passes through: no task later starts afresh, and all that is live there
 * was made by the task just before. cut[i]: the region ends before order[i]. */
static void find_cuts(const tw_problem *p, const int *order, bool *cut)
{
    int n = p->task_count, last_root = 0;
    int *position = tw_alloc_array(p->arena, (size_t)n + 1, sizeof(int));
    for (int i = 0; i < n; i++) {
        position[order[i]] = i;
        if (p->waits[order[i]] == 0)
            last_root = i;
    }
    int farthest = 0; /* the last position that anything before i - 1 is needed at */
    for (int i = 1; i < n; i++) {
        cut[i] = i > last_root && farthest < i;
        int t = order[i - 1];
        for (int k = p->first_next[t]; k < p->first_next[t + 1]; k++)
            if (position[p->next[k]] > farthest)
                farthest = position[p->next[k]];
    }
}

enum {
    WIDE = 4096,  /* sets a level: exact for nearly all regions of thirty tasks */
    NARROW = 16,  /* beam of large regions */
    WHOLE = 40,   /* so few tasks are one region */
    LARGEST = 160 /* above, only the greedy rule is tried */
};

/* What the search of one region after the other shares. */
typedef struct tw_searching {
    const tw_problem *p;
    const int *left; /* by item: readers left at the region's start */
    int *scratch, *number, *item_number;
    tw_order_memo memo;
    bool proven; /* no order of the regions searched so far has a lower peak */
} tw_searching;

/* The best order found for the region's tasks, `count` of them at `order`; live at its start is
 * `start`, and the order as it stands has the peak `limit`. */
static void order_region(tw_searching *s, int *order, int count, tw_live start, int64_t limit)
{
    tw_region r = {.p = s->p, .arena = tw_arena_new(), .count = count, .limit = limit};
    tw_words words = {.arena = r.arena};
    int *rank = tw_alloc_array(r.arena, (size_t)count, sizeof(int));
    r.task = tw_copy(r.arena, order, sizeof *order * (size_t)count);
    r.words = count / 64 + 1;
    r.number = s->number;
    r.left = s->scratch;
    r.left_at_start = s->left;
    for (int i = 0; i < count; i++)
        s->number[order[i]] = i;
    describe(&words, &r, s->item_number);
    const int *known = tw_order_memo_find(&s->memo, words.at, words.count);
    if (known) {
        for (int i = 0; i < count; i++)
            order[i] = r.task[known[i]];
    } else {
        s->proven &= search_region(&r, start, count <= WHOLE ? WIDE : NARROW, order);
        for (int i = 0; i < count; i++)
            rank[i] = s->number[order[i]];
        tw_order_memo_keep(&s->memo, words.at, words.count, rank, count);
    }
    for (int i = 0; i < count; i++)
        s->number[r.task[i]] = -1;
    tw_arena_free(r.arena);
}

/* True: the order that is left is the best there is. */
static bool search_regions(tw_problem *p, int *order)
{
    int n = p->task_count;
    const size_t item_bytes = sizeof(int) * ((size_t)p->item_count + 1);
    bool *cut = tw_alloc_array(p->arena, (size_t)n + 1, sizeof(bool));
    int *left = tw_copy(p->arena, p->reader_count, item_bytes);
    tw_searching s = {
        .p = p, .left = left, .memo = {.arena = p->arena}, .proven = n > 2 && n <= WHOLE};
    s.scratch = tw_copy(p->arena, left, item_bytes);
    s.number = tw_alloc_array(p->arena, (size_t)n + 1, sizeof(int));
    s.item_number = tw_alloc_array(p->arena, (size_t)p->item_count + 1, sizeof(int));
    memset(s.number, -1, sizeof(int) * ((size_t)n + 1));
    if (n > WHOLE)
        find_cuts(p, order, cut);
    tw_live live = {start_bytes(p), 0};
    for (int from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && !cut[to]; to++)
            ;
        const tw_live start = {live.bytes, live.bytes};
        tw_live given = start;
        memcpy(s.scratch, left, item_bytes);
        for (int i = from; i < to; i++)
            run_task(p, order[i], s.scratch, &given);
        if (to - from > 2 && to - from <= LARGEST)
            order_region(&s, order + from, to - from, start, given.peak);
        for (int i = from; i < to; i++)
            run_task(p, order[i], left, &live);
    }
    return s.proven;
}

/* Greedy: of the tasks that are ready, the one that leaves the fewest bytes live; depth first among
 * equals (what just became ready goes before what has waited). A task's change is counted when it
 * becomes ready: readers of its inputs that run later can only lower it, so it is tried late at
 * worst. */
typedef struct tw_ready {
    int64_t change;
    int age, task;
} tw_ready;

static bool before(const tw_ready *a, const tw_ready *b)
{
    return a->change != b->change ? a->change < b->change : a->age > b->age;
}

static void push(tw_ready *heap, int *count, tw_ready r)
{
    int at = (*count)++;
    for (; at > 0 && before(&r, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = r;
}

static tw_ready pop(tw_ready *heap, int *count)
{
    tw_ready top = heap[0], last = heap[--*count];
    int at = 0;
    for (int child; (child = 2 * at + 1) < *count; at = child) {
        if (child + 1 < *count && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &last))
            break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return top;
}

static int64_t change_of(const tw_problem *p, int task, const int *left)
{
    tw_live live = {0, 0};
    const tw_task *t = &p->tasks[task];
    for (int i = 0; i < t->make_count; i++)
        if (p->reader_count[t->makes[i]] || p->items[t->makes[i]].kept)
            live.bytes += p->items[t->makes[i]].bytes;
    for (int i = 0; i < t->read_count; i++)
        if (dies(p, t->reads[i], left))
            live.bytes -= p->items[t->reads[i]].bytes;
    return live.bytes;
}

static void greedy(const tw_problem *p, int *order)
{
    size_t n = (size_t)p->task_count;
    int *waits = tw_copy(p->arena, p->waits, sizeof(int) * (n + 1));
    int *left = tw_copy(p->arena, p->reader_count, sizeof(int) * ((size_t)p->item_count + 1));
    tw_ready *heap = tw_alloc_array(p->arena, n + 1, sizeof *heap);
    int count = 0, age = 0;
    tw_live live = {0, 0};
    for (int t = p->task_count - 1; t >= 0; t--)
        if (waits[t] == 0)
            push(heap, &count, (tw_ready){change_of(p, t, left), age++, t});
    for (int i = 0; i < p->task_count; i++) {
        tw_ready top = pop(heap, &count);
        order[i] = top.task;
        run_task(p, top.task, left, &live);
        for (int k = p->first_next[top.task]; k < p->first_next[top.task + 1]; k++)
            if (--waits[p->next[k]] == 0)
                push(heap, &count, (tw_ready){change_of(p, p->next[k], left), age++, p->next[k]});
    }
}

int64_t tw_order_peak(const tw_task *tasks, int task_count, const tw_item *items, int item_count,
                      const int *order)
{
    tw_problem p = {.arena = tw_arena_new(),
                    .tasks = tasks,
                    .items = items,
                    .task_count = task_count,
                    .item_count = item_count};
    build(&p);
    int64_t peak = peak_of(&p, order);
    tw_arena_free(p.arena);
    return peak;
}

int64_t tw_order_search(const tw_task *tasks, int task_count, const tw_item *items, int item_count,
                        int *order)
{
    tw_problem p = {.arena = tw_arena_new(),
                    .tasks = tasks,
                    .items = items,
                    .task_count = task_count,
                    .item_count = item_count};
    size_t bytes = sizeof(int) * (size_t)task_count;
    build(&p);
    int64_t best = peak_of(&p, order);
    int *trial = tw_alloc(p.arena, bytes + sizeof(int));
    bool proven = false;
    for (int start = 0; start < 2 && !proven; start++) {
        if (start == 0)
            memcpy(trial, order, bytes);
        else
            greedy(&p, trial);
        proven = search_regions(&p, trial);
        int64_t peak = peak_of(&p, trial);
        if (peak < best) {
            best = peak;
            memcpy(order, trial, bytes);
        }
    }
    tw_arena_free(p.arena);
    return best;
}
