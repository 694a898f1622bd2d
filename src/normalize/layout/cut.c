/* Minimum cut by maximum flow: shortest augmenting paths in a level graph (Dinic). Networks here
 * are sparse and hold a few thousand nodes at most. */
#include "normalize/layout/cut.h"

typedef struct arc {
    int to, next; /* arc i and arc i ^ 1 are each other's reverse */
    int64_t left;
} arc;

struct tw_cut {
    tw_arena *arena;
    int nodes, source, sink;
    arc *arcs;
    int arc_count, arc_capacity;
    int *first, *level, *at, *queue, *path;
};

tw_cut *tw_cut_new(tw_arena *arena, int nodes)
{
    tw_cut *cut = tw_alloc(arena, sizeof *cut);
    size_t n = (size_t)nodes + 2;
    cut->arena = arena;
    cut->nodes = nodes + 2;
    cut->source = nodes;
    cut->sink = nodes + 1;
    cut->first = tw_alloc_array(arena, n, sizeof(int));
    cut->level = tw_alloc_array(arena, n, sizeof(int));
    cut->at = tw_alloc_array(arena, n, sizeof(int));
    cut->queue = tw_alloc_array(arena, n, sizeof(int));
    cut->path = tw_alloc_array(arena, n, sizeof(int));
    for (int i = 0; i < cut->nodes; i++)
        cut->first[i] = -1;
    return cut;
}

static void add_arc(tw_cut *cut, int from, int to, int64_t capacity)
{
    tw_grow(cut->arena, &cut->arcs, cut->arc_count, &cut->arc_capacity, sizeof *cut->arcs);
    cut->arcs[cut->arc_count] = (arc){to, cut->first[from], capacity};
    cut->first[from] = cut->arc_count++;
}

static void add(tw_cut *cut, int from, int to, int64_t capacity)
{
    if (capacity <= 0)
        return;
    add_arc(cut, from, to, capacity);
    add_arc(cut, to, from, 0);
}

void tw_cut_unary(tw_cut *cut, int i, int64_t cost)
{
    add(cut, cut->source, i, cost);
    add(cut, i, cut->sink, -cost);
}

void tw_cut_pair(tw_cut *cut, int i, int j, int64_t cost)
{
    add(cut, i, j, cost);
}

/* Distances to the sink over arcs with capacity left. */
static bool find_levels(tw_cut *cut)
{
    for (int i = 0; i < cut->nodes; i++)
        cut->level[i] = -1;
    int head = 0, tail = 0;
    cut->queue[tail++] = cut->sink;
    cut->level[cut->sink] = 0;
    while (head < tail) {
        int i = cut->queue[head++];
        for (int a = cut->first[i]; a >= 0; a = cut->arcs[a].next) {
            int j = cut->arcs[a].to;
            if (cut->arcs[a ^ 1].left > 0 && cut->level[j] < 0) {
                cut->level[j] = cut->level[i] + 1;
                cut->queue[tail++] = j;
            }
        }
    }
    return cut->level[cut->source] >= 0;
}

/* Push what one path of the level graph takes; false when no path is left. */
static bool augment(tw_cut *cut)
{
    int depth = 0, i = cut->source;
    while (i != cut->sink) {
        int a = cut->at[i];
        while (a >= 0 &&
               !(cut->arcs[a].left > 0 && cut->level[cut->arcs[a].to] == cut->level[i] - 1))
            a = cut->arcs[a].next;
        cut->at[i] = a;
        if (a >= 0) {
            cut->path[depth++] = a;
            i = cut->arcs[a].to;
        } else if (depth == 0) {
            return false;
        } else { /* a dead end: step back and past the arc that led here */
            a = cut->path[--depth];
            i = cut->arcs[a ^ 1].to;
            cut->at[i] = cut->arcs[a].next;
        }
    }
    int64_t flow = INT64_MAX;
    for (int d = 0; d < depth; d++)
        if (cut->arcs[cut->path[d]].left < flow)
            flow = cut->arcs[cut->path[d]].left;
    for (int d = 0; d < depth; d++) {
        cut->arcs[cut->path[d]].left -= flow;
        cut->arcs[cut->path[d] ^ 1].left += flow;
    }
    return true;
}

void tw_cut_solve(tw_cut *cut)
{
    while (find_levels(cut)) {
        for (int i = 0; i < cut->nodes; i++)
            cut->at[i] = cut->first[i];
        while (augment(cut)) {
        }
    }
    /* What the source still reaches is the least source side of any minimum cut. */
    for (int i = 0; i < cut->nodes; i++)
        cut->at[i] = 0;
    int head = 0, tail = 0;
    cut->queue[tail++] = cut->source;
    cut->at[cut->source] = 1;
    while (head < tail) {
        int i = cut->queue[head++];
        for (int a = cut->first[i]; a >= 0; a = cut->arcs[a].next)
            if (cut->arcs[a].left > 0 && !cut->at[cut->arcs[a].to]) {
                cut->at[cut->arcs[a].to] = 1;
                cut->queue[tail++] = cut->arcs[a].to;
            }
    }
}

bool tw_cut_on_sink_side(const tw_cut *cut, int i)
{
    return !cut->at[i];
}
