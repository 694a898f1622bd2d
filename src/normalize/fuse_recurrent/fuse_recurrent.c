/* fuse_recurrent: a recurrent layer whose steps are written out, as converters that unroll loops leave it,
 * becomes the one operator that it is. Cells are found (cell.c) and linked, each to the one whose hidden
 * state it reads with the same weights; the steps of a chain must go through one sequence in order. Exact,
 * but for the order of sums. States that begin as zeros lose their constants. */
#include <string.h>

#include "normalize/fuse_recurrent/cell.h"
#include "ops/concat.h"
#include "ops/lstm.h"
#include "ops/recurrent.h"
#include "ops/slice.h"

typedef struct tw_link {
    tw_cell cell;
    int previous, next; /* -1: none */
    int x;              /* which of the cell's leaves goes along the sequence; the other is of h */
} tw_link;

typedef struct tw_links {
    tw_link *all;
    int count, capacity;
} tw_links;

/* A chain's cells from its first step to its last, and what the operator has of it. */
typedef struct tw_chain {
    const tw_link **step;
    int count;
    tw_value *x; /* the sequence, [.., T, .., I] */
    int axis;
    int32_t first, stride;
} tw_chain;

/* ---- equal constants ---- */

static bool is_zeros(const tw_value *value)
{
    float element;
    return tw_is_uniform(value, &element) && element == 0;
}

static bool same_rows(const tw_rows *a, const tw_rows *b, int32_t units)
{
    if (!a->w || !b->w)
        return a->w == b->w;
    const int32_t width = a->w->shape.dim[1];
    if (b->w->shape.dim[1] != width)
        return false;
    const float *one = (const float *)a->w->data + (size_t)a->at * (size_t)width;
    const float *other = (const float *)b->w->data + (size_t)b->at * (size_t)width;
    return one == other || memcmp(one, other, sizeof *one * (size_t)units * (size_t)width) == 0;
}

static bool same_leaf(const tw_leaf *a, const tw_leaf *b, int32_t units)
{
    for (int g = 0; g < TW_CELL_GATES; g++)
        if (!same_rows(&a->rows[g], &b->rows[g], units))
            return false;
    return (a->projected.from == NULL) == (b->projected.from == NULL);
}

static bool same_biases(const tw_cell *a, const tw_cell *b)
{
    for (int g = 0; g < a->gates; g++)
        for (int32_t i = 0; i < a->units; i++)
            if (a->bias[g][i] != b->bias[g][i])
                return false;
    return true;
}

/* ---- linking ---- */

static tw_pick step_of(const tw_leaf *leaf)
{
    return leaf->projected.from ? leaf->projected : tw_cell_pick(leaf->x);
}

/* Does the cell's other leaf take the hidden state that cell `before` makes? */
static bool follows(const tw_cell *cell, int x, const tw_link *before)
{
    const tw_cell *p = &before->cell;
    const tw_leaf *h = &cell->leaf[!x];
    return h->x == tw_cell_root(p->h) && !h->projected.from && p->kind == cell->kind &&
           p->units == cell->units && p->batch == cell->batch && p->gates == cell->gates &&
           p->resets_first == cell->resets_first && before->next < 0 &&
           same_leaf(&cell->leaf[x], &p->leaf[before->x], cell->units) &&
           (before->previous < 0 || same_leaf(h, &p->leaf[!before->x], cell->units)) &&
           same_biases(cell, p) && (!cell->c0 || tw_cell_root(cell->c0) == tw_cell_root(p->c)) &&
           (!cell->h0 || cell->h0 == h->x);
}

/* A first step: from zero, which leaves nothing of h's product, or from a given state. */
static bool begins(tw_link *link)
{
    const tw_cell *cell = &link->cell;
    if (cell->leaves == 1) {
        link->x = 0;
        return step_of(&cell->leaf[0]).from && (!cell->h0 || is_zeros(cell->h0));
    }
    for (int i = 0; i < cell->leaves; i++)
        if (step_of(&cell->leaf[i]).from && !cell->leaf[!i].projected.from &&
            !step_of(&cell->leaf[!i]).from) {
            link->x = i;
            return !cell->h0 || cell->h0 == cell->leaf[!i].x;
        }
    return false;
}

/* by_value: hidden states' places among the links, at the index of what makes them. */
static bool add_link(tw_arena *arena, tw_links *links, const tw_cell *cell)
{
    tw_link link = {.cell = *cell, .previous = -1, .next = -1};
    for (int x = 0; cell->leaves == TW_CELL_LEAVES && x < 2 && link.previous < 0; x++) {
        const tw_node *maker = cell->leaf[!x].x->producer;
        if (links->all && maker && maker->index > 0 &&
            follows(cell, x, &links->all[maker->index - 1])) {
            link.previous = maker->index - 1;
            link.x = x;
        }
    }
    if (link.previous < 0 && !begins(&link))
        return false;
    tw_grow(arena, &links->all, links->count, &links->capacity, sizeof *links->all);
    if (link.previous >= 0)
        links->all[link.previous].next = links->count;
    links->all[links->count++] = link;
    return true;
}

static void find_links(tw_graph *graph, tw_arena *arena, tw_links *links)
{
    for (int n = 0; n < graph->node_count; n++)
        graph->nodes[n]->index = 0;
    for (int n = 0; n < graph->node_count; n++) {
        tw_node *node = graph->nodes[n];
        tw_cell cell;
        if (node->out_count == 1 && node->out[0] && node->out[0]->shape.dtype == TW_F32 &&
            tw_cell_find(arena, node->out[0], &cell) && add_link(arena, links, &cell))
            node->index = links->count;
    }
}

/* ---- chains ---- */

static const tw_leaf *x_of(const tw_link *link)
{
    return &link->cell.leaf[link->x];
}

/* The steps from a first one on, where they are several, of one sequence and in order. */
static bool read_chain(tw_arena *arena, const tw_links *links, int first, tw_chain *chain)
{
    int count = 0;
    for (int i = first; i >= 0; i = links->all[i].next)
        count++;
    *chain = (tw_chain){.step = tw_alloc_array(arena, (size_t)count + 1, sizeof *chain->step)};
    for (int i = first; i >= 0; i = links->all[i].next)
        chain->step[chain->count++] = &links->all[i];
    if (count < 2)
        return false;
    const tw_pick one = step_of(x_of(chain->step[0])), two = step_of(x_of(chain->step[1]));
    chain->x = one.from;
    chain->axis = one.axis;
    chain->first = one.at;
    chain->stride = two.at - one.at;
    if (chain->stride != 1 && chain->stride != -1)
        return false;
    for (int i = 0; i < count; i++) {
        const tw_pick pick = step_of(x_of(chain->step[i]));
        if (pick.from != chain->x || pick.axis != chain->axis ||
            pick.at != chain->first + i * chain->stride)
            return false;
    }
    return true;
}

/* ---- tensors ---- */

typedef struct tw_put {
    tw_graph *graph;
    const char *name;
    tw_diag *diag;
} tw_put;

static tw_value *reshape(const tw_put *p, tw_value *value, int rank, const int32_t *dim)
{
    const tw_shape shape = tw_shape_of(TW_F32, rank, dim);
    if (!value || tw_shape_equal(&shape, &value->shape))
        return value;
    return tw_append_reshape(p->graph, p->name, value, &shape, p->diag);
}

static tw_value *swap_time(const tw_put *p, tw_value *value)
{
    static const int32_t perm[3] = {1, 0, 2};
    return value ? tw_append_transpose(p->graph, p->name, value, perm, p->diag) : NULL;
}

/* Elements of one axis of three, from `first` on. */
static tw_value *part(const tw_put *p, tw_value *value, int axis, int32_t first, int32_t size,
                      int32_t step)
{
    tw_slice_attributes a = {.begin.count = 3, .size.count = 3, .step.count = 3};
    if (!value || (first == 0 && step == 1 && size == value->shape.dim[axis]))
        return value;
    for (int i = 0; i < 3; i++) {
        a.begin.v[i] = i == axis ? first : 0;
        a.size.v[i] = i == axis ? size : value->shape.dim[i];
        a.step.v[i] = i == axis ? step : 1;
    }
    tw_node *node = tw_append(p->graph, TW_OPCODE_slice, p->name, &value, 1, &a, p->diag);
    return node ? node->out[0] : NULL;
}

/* Extents before and behind an axis, the last one left out. */
static void around(const tw_shape *shape, int axis, int64_t *before, int64_t *behind)
{
    *before = *behind = 1;
    for (int i = 0; i < shape->rank - 1; i++)
        if (i != axis)
            *(i < axis ? before : behind) *= shape->dim[i];
}

/* Does the sequence hold as many rows a step as the batch has, in front of the time or behind it? */
static bool fits(const tw_shape *shape, int axis, int32_t batch)
{
    int64_t before, behind;
    around(shape, axis, &before, &behind);
    return before * behind == batch && (before == 1 || behind == 1);
}

/* The sequence as [N, T, I]. */
static tw_value *sequence(const tw_put *p, const tw_chain *chain)
{
    const tw_leaf *leaf = x_of(chain->step[0]);
    const int32_t steps = chain->x->shape.dim[chain->axis];
    const int32_t batch = chain->step[0]->cell.batch;
    tw_value *x = leaf->projected.from ? leaf->x : chain->x;
    const int32_t width = x->shape.dim[x->shape.rank - 1];
    int64_t before, behind;
    around(&chain->x->shape, chain->axis, &before, &behind);
    if (before == 1 && batch > 1)
        x = swap_time(p, reshape(p, x, 3, (int32_t[]){steps, batch, width}));
    else
        x = reshape(p, x, 3, (int32_t[]){batch, steps, width});
    return part(p, x, 1, chain->first, chain->count, chain->stride);
}

/* All steps, [N, T, O], in the shape of a tensor in which time is this axis; back: last step first. */
static tw_value *steps_as(const tw_put *p, tw_value *y, const tw_shape *shape, int axis, bool back)
{
    int64_t before, behind;
    const int32_t steps = y->shape.dim[1];
    around(shape, axis, &before, &behind);
    if (back)
        y = part(p, y, 1, steps - 1, steps, -1);
    if (before == 1 && y && y->shape.dim[0] > 1)
        y = swap_time(p, y);
    return reshape(p, y, shape->rank, shape->dim);
}

/* ---- the operator ---- */

/* The rows of `gates` gates one behind the other; each has some (is_whole). */
static tw_value *stack(const tw_put *p, const tw_leaf *leaf, int gates, const int *place,
                       int32_t units)
{
    const int32_t width = leaf->rows[place[0]].w->shape.dim[1];
    float *data;
    tw_value *value =
        tw_float_constant(p->graph, p->name, 3, (int32_t[]){gates, units, width}, &data);
    const size_t count = (size_t)units * (size_t)width;
    for (int g = 0; g < gates; g++) {
        const tw_rows *rows = &leaf->rows[place[g]];
        memcpy(data + count * (size_t)g,
               (const float *)rows->w->data + (size_t)rows->at * (size_t)width,
               count * sizeof *data);
    }
    return value;
}

static tw_value *biases(const tw_put *p, const tw_cell *cell)
{
    const bool two = cell->kind != TW_CELL_LSTM;
    const int gates = (int)cell->kind;
    const int32_t dim[3] = {2, gates, cell->units};
    const size_t units = (size_t)cell->units;
    float *data;
    tw_value *value = tw_float_constant(p->graph, p->name, two ? 3 : 2, two ? dim : dim + 1, &data);
    if (two)
        memset(data, 0, 2 * (size_t)gates * units * sizeof *data);
    for (int g = 0; g < cell->gates; g++) {
        const size_t to = g == TW_CELL_CANDIDATE_H && cell->kind == TW_CELL_GRU
                              ? TW_CELL_GRU + TW_CELL_CANDIDATE
                              : (size_t)g;
        for (size_t i = 0; i < units; i++)
            data[to * units + i] = (float)cell->bias[g][i];
    }
    return value;
}

/* Has each gate the weights that its operator wants? */
static bool is_whole(const tw_chain *chain)
{
    static const bool gru[2][TW_CELL_GATES] = {{true, true, true, false, false},
                                               {true, true, false, true, false}};
    const tw_link *last = chain->step[chain->count - 1];
    const tw_cell *cell = &last->cell;
    const bool resets_behind = cell->kind == TW_CELL_GRU && !cell->resets_first;
    for (int k = 0; k < 2; k++) {
        const tw_leaf *leaf = &cell->leaf[k ? !last->x : last->x];
        for (int g = 0; g < TW_CELL_GATES; g++) {
            const bool wanted = resets_behind ? gru[k][g] : g < (int)cell->kind;
            if (wanted != (leaf->rows[g].w != NULL))
                return false;
            if (wanted && k && leaf->rows[g].w->shape.dim[1] != cell->units)
                return false;
            if (wanted && leaf->rows[g].w->shape.dim[1] != leaf->rows[0].w->shape.dim[1])
                return false;
        }
    }
    return fits(&chain->x->shape, chain->axis, cell->batch);
}

/* What a state begins as, [N, O]; null: zeros. */
static tw_value *initial(const tw_put *p, const tw_cell *cell, tw_value *value)
{
    if (!value || is_zeros(value))
        return NULL;
    return reshape(p, value, 2, (int32_t[]){cell->batch, cell->units});
}

static tw_node *make(const tw_put *p, const tw_chain *chain)
{
    static const int own[] = {0, 1, 2, 3}, candidate_h[] = {0, 1, TW_CELL_CANDIDATE_H};
    static const tw_lstm_attributes plain = {0};
    const tw_link *first = chain->step[0], *last = chain->step[chain->count - 1];
    const tw_cell *cell = &last->cell;
    const bool lstm = cell->kind == TW_CELL_LSTM, gru = cell->kind == TW_CELL_GRU;
    const tw_opdef *op = tw_op_by_name(lstm ? "Lstm" : gru ? "Gru" : "Rnn");
    const int gates = (int)cell->kind;
    tw_value *h0 = first->cell.leaves == 1 ? NULL : first->cell.leaf[!first->x].x;
    tw_value *x = sequence(p, chain), *w = stack(p, x_of(last), gates, own, cell->units);
    const bool resets_behind = gru && !cell->resets_first;
    tw_value *r =
        stack(p, &cell->leaf[!last->x], gates, resets_behind ? candidate_h : own, cell->units);
    tw_value *b = biases(p, cell);
    h0 = initial(p, cell, h0);
    tw_value *c0 = initial(p, cell, first->cell.c0);
    tw_recurrent_attributes a;
    tw_value *short_list[] = {x, w, r, b, h0, c0}, *full_list[] = {x, w, r, b, NULL, h0};
    if (!x || p->diag->code != TW_CODE_OK)
        return NULL;
    if (!lstm) {
        tw_attributes_default(op, &a);
        a.linear_before_reset = resets_behind;
    }
    return tw_graph_node(p->graph, op, p->name, lstm ? short_list : full_list, 6, lstm ? 3 : 2,
                         NULL, lstm ? (const void *)&plain : &a, p->diag);
}

/* ---- what reads it ---- */

/* What element `at` of an axis is, where it was one tensor before it was joined with others: through Concats
 * along the axis and Slices of it, as lists of tensors become that are set one by one. */
static tw_value *element_of(tw_value *value, int axis, int32_t at)
{
    for (;;) {
        const tw_pick pick = tw_pick_through(value, axis, at);
        if (pick.from != value) {
            value = pick.from;
            at = pick.at;
            continue;
        }
        const tw_node *node = value->producer;
        if (!tw_is(node, TW_OPCODE_concat) ||
            ((const tw_concat_attributes *)node->attributes)->axis != axis)
            return value->shape.dim[axis] == 1 ? value : NULL;
        int i = 0;
        for (; i + 1 < node->in_count && at >= node->in[i]->shape.dim[axis]; i++)
            at -= node->in[i]->shape.dim[axis];
        value = node->in[i];
    }
}

/* Is it the hidden state of that step? */
static bool is_step(const tw_chain *chain, tw_value *joined, int axis, int32_t at, int step)
{
    tw_value *one = element_of(joined, axis, at);
    return one && tw_cell_root(one) == tw_cell_root(chain->step[step]->cell.h);
}

/* Is the Concat of all hidden states, in order or the other way round? From the end, which is what a list
 * that is half filled lacks. */
static bool joins(const tw_chain *chain, tw_node *node, bool *back)
{
    const int axis = ((const tw_concat_attributes *)node->attributes)->axis;
    const tw_shape *shape = &node->out[0]->shape;
    const int last = chain->count - 1;
    if (axis < 0 || axis >= shape->rank - 1 || shape->dim[axis] != chain->count ||
        !fits(shape, axis, chain->step[0]->cell.batch))
        return false;
    *back = is_step(chain, node->out[0], axis, last, 0);
    for (int i = last; i >= 0; i--)
        if (!is_step(chain, node->out[0], axis, i, *back ? last - i : i))
            return false;
    return true;
}

static bool hand_joined(const tw_put *p, const tw_chain *chain, const tw_node *made, int node_count)
{
    for (int n = 0; n < node_count; n++) {
        tw_node *node = p->graph->nodes[n];
        bool back;
        if (!tw_is(node, TW_OPCODE_concat) || node->out[0]->forward || !joins(chain, node, &back))
            continue;
        const int axis = ((const tw_concat_attributes *)node->attributes)->axis;
        tw_value *y = steps_as(p, made->out[0], &node->out[0]->shape, axis, back);
        if (!y)
            return false;
        tw_forward(p->graph, node->out[0], y);
    }
    return true;
}

static bool hand(const tw_put *p, tw_value *from, tw_value *to)
{
    to = reshape(p, to, from->shape.rank, from->shape.dim);
    if (to && !tw_takes_name(to)) /* an output already */
        to = tw_append_reshape(p->graph, p->name, to, &from->shape, p->diag);
    return to && tw_forward(p->graph, from, to);
}

/* Everything that reads a step reads the layer's results. */
static bool hand_over(const tw_put *p, const tw_chain *chain, tw_node *made, int node_count)
{
    const int last = chain->count - 1;
    if (!hand_joined(p, chain, made, node_count))
        return false;
    for (int i = 0; i < last; i++)
        if (!hand(p, chain->step[i]->cell.h, part(p, made->out[0], 1, i, 1, 1)))
            return false;
    const tw_cell *end = &chain->step[last]->cell;
    return hand(p, end->h, made->out[1]) &&
           (end->kind != TW_CELL_LSTM || hand(p, end->c, made->out[2]));
}

static bool fuse(tw_graph *graph, tw_arena *arena, const tw_links *links, bool *changed,
                 tw_diag *diag)
{
    const int node_count = graph->node_count;
    for (int i = 0; i < links->count; i++) {
        tw_chain chain;
        if (links->all[i].previous >= 0 || !read_chain(arena, links, i, &chain) ||
            !is_whole(&chain))
            continue;
        const tw_put p = {graph, chain.step[chain.count - 1]->cell.h->producer->name, diag};
        tw_node *made = make(&p, &chain);
        if (!made || !hand_over(&p, &chain, made, node_count))
            return false;
        *changed = true;
    }
    return true;
}

/* ---- layers that begin at zero ---- */

/* Where the states of a layer of floats begin as zeros, they need no constants. */
static void drop_zeros(tw_node *node)
{
    const bool lstm = tw_is(node, TW_OPCODE_lstm);
    const int h0 = lstm ? TW_RECURRENT_LENGTHS : TW_RECURRENT_H0; /* c0 stands behind it */
    if (node->out[0] == NULL || node->out[0]->shape.dtype != TW_F32 ||
        (!lstm && !tw_is(node, TW_OPCODE_rnn) && !tw_is(node, TW_OPCODE_gru) &&
         !tw_is(node, TW_OPCODE_peephole_lstm)))
        return;
    for (int i = h0; i <= h0 + 1 && i < node->in_count; i++)
        if (node->in[i] && !is_zeros(node->in[i]))
            return;
    for (int i = h0; i <= h0 + 1 && i < node->in_count; i++)
        if (node->in[i]) {
            node->in[i]->index--;
            node->in[i] = NULL;
        }
}

bool tw_pass_fuse_recurrent(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    tw_arena *arena = tw_arena_new();
    tw_links links = {NULL, 0, 0};
    bool changed = false;
    tw_count_reads(graph);
    for (int n = 0; n < graph->node_count; n++)
        drop_zeros(graph->nodes[n]);
    find_links(graph, arena, &links);
    const bool ok = fuse(graph, arena, &links, &changed, diag);
    tw_arena_free(arena);
    return ok && tw_finish(graph, diag) && (!changed || tw_pass_dead(graph, options, diag));
}
