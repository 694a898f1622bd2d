/* The graph of a hop. In: how time goes through the clip's graph and which rows are wanted of every value.
 * Out: the same nodes on fewer rows, a History in front of those that look back, and a state behind each.
 *
 * Nodes are changed in place: names, scales and clamps stay. Windows lose their padding, since the rows
 * they are given are exactly those they read. */
#include <string.h>

#include "base/diag.h"
#include "ops/history.h"
#include "ops/pad.h"
#include "ops/slice.h"
#include "ops/view.h"
#include "stream/flow.h"

/* ---- rows ---- */

static tw_value *make_history(tw_streaming *s, tw_value *value, tw_flow *flow)
{
    tw_shape shape = value->shape;
    shape.dim[flow->axis] = (int32_t)flow->kept;
    tw_value *kept =
        tw_graph_state(s->graph, tw_format(s->arena, "%s/kept", value->name), shape, NULL);
    kept->quant = value->quant;
    tw_history_attributes a;
    tw_attributes_default(tw_op_by_code(TW_OPCODE_history), &a);
    a.axis = flow->axis;
    tw_node *node =
        tw_append(s->graph, TW_OPCODE_history, tw_format(s->arena, "%s/history", value->name),
                  (tw_value *[]){kept, value}, 2, &a, s->diag);
    if (!node || !tw_graph_state_next(s->graph, kept, node->out[0], s->diag))
        return NULL;
    return node->out[0];
}

static tw_value *cut(tw_streaming *s, tw_value *value, int axis, int64_t first, int64_t rows)
{
    tw_slice_attributes a;
    tw_attributes_default(tw_op_by_code(TW_OPCODE_slice), &a);
    a.begin.count = a.size.count = value->shape.rank;
    for (int k = 0; k < value->shape.rank; k++) {
        a.begin.v[k] = k == axis ? (int32_t)first : 0;
        a.size.v[k] = k == axis ? (int32_t)rows : value->shape.dim[k];
    }
    tw_node *node = tw_append(s->graph, TW_OPCODE_slice,
                              tw_format(s->arena, "%s/rows", value->name), &value, 1, &a, s->diag);
    return node ? node->out[0] : NULL;
}

/* The rows of a wish, of a value that has its new rows already. */
static tw_value *rows_of(tw_streaming *s, const tw_wish *w)
{
    tw_flow *flow = tw_flow_of(s, w->value);
    const int64_t fresh = tw_fresh(s, flow), wanted = w->back + w->rows;
    if (wanted > fresh && !flow->history) {
        flow->history = make_history(s, w->value, flow);
        if (!flow->history)
            return NULL;
    }
    tw_value *from = wanted > fresh ? flow->history : w->value;
    const int64_t held = wanted > fresh ? flow->kept : fresh;
    if (w->back == 0 && w->rows == held)
        return from;
    return cut(s, from, flow->axis, held - wanted, w->rows);
}

/* ---- nodes ---- */

static void set_item(tw_ints *list, int count, int at, int32_t value)
{
    if (list && list->count == count && at >= 0 && at < count)
        list->v[at] = value;
}

/* What stands beside the frames in time are the rows before them, which they now bring themselves. */
static void leave_frames(tw_streaming *s, tw_node *node, tw_wish *wish)
{
    node->in[0] = node->in[wish->index];
    node->in_count = 1;
    wish->index = 0;
    tw_become(s->graph, node, TW_OPCODE_identity);
}

/* The node on the rows that it is given: nothing in it may count frames of the clip any more. */
static void shorten(tw_node *node, int outputs, int axis, int32_t fresh)
{
    const int rank = node->out[0]->shape.rank;
    switch (node->op->code) {
    case TW_OPCODE_reshape: set_item(tw_ints_of(node, "shape"), rank, axis, fresh); break;
    case TW_OPCODE_slice:
        set_item(tw_ints_of(node, "begin"), rank, axis, 0);
        set_item(tw_ints_of(node, "size"), rank, axis, fresh);
        break;
    case TW_OPCODE_pad:
        set_item(tw_ints_of(node, "before"), rank, axis, 0);
        set_item(tw_ints_of(node, "after"), rank, axis, 0);
        break;
    default:
        set_item(tw_ints_of(node, "pad_begin"), rank - 2, axis - 1, 0);
        set_item(tw_ints_of(node, "pad_end"), rank - 2, axis - 1, 0);
        break;
    }
    for (int i = 0; i < outputs; i++)
        if (node->out[i])
            node->out[i]->shape.dim[axis] = fresh;
}

static bool rewrite_node(tw_streaming *s, tw_node *node, int *wish)
{
    const tw_flow none = {.kind = TW_FLOW_CLIP};
    const tw_flow *out = node->out[0] ? tw_flow_of(s, node->out[0]) : &none;
    tw_wish *first = &s->wishes[*wish];
    if (*wish == s->wish_count || first->node != node)
        return true; /* nothing of the stream comes here as rows */
    if (out->kind == TW_FLOW_ROWS && tw_stream_joins_time(node, out->axis))
        leave_frames(s, node, first);
    for (; *wish < s->wish_count && s->wishes[*wish].node == node; ++*wish) {
        tw_value *rows = rows_of(s, &s->wishes[*wish]);
        if (!rows)
            return false;
        node->in[s->wishes[*wish].index] = rows;
    }
    if (out->kind == TW_FLOW_ROWS)
        shorten(node, tw_stream_layer(s, node) ? 1 : node->out_count, out->axis,
                (int32_t)tw_fresh(s, out));
    return tw_shape_holds(node) ||
           tw_fail(s->diag, TW_CODE_UNSUPPORTED, node->name, tw_node_spelling(node),
                   "does not work on a hop of %lld frames; choose another hop", (long long)s->hop);
}

/* ---- ends ---- */

static bool rewrite_output(tw_streaming *s, const tw_wish *wish)
{
    tw_value *rows = rows_of(s, wish), *old = wish->value;
    if (!rows || rows == old)
        return rows != NULL;
    if (rows->is_output || tw_node_is_history(rows->producer)) /* its place is a state's */
        rows = cut(s, rows, tw_flow_of(s, old)->axis, 0, wish->rows);
    if (!rows)
        return false;
    s->graph->outputs[wish->index] = rows;
    bool still = false;
    for (int i = 0; i < s->graph->output_count; i++)
        still |= s->graph->outputs[i] == old;
    if (still)
        rows->is_output = true;
    else
        tw_hand_over(old, rows);
    return true;
}

static void drop_value(tw_value **list, int *count, const tw_value *value)
{
    for (int i = 0; i < *count; i++)
        if (list[i] == value) {
            memmove(list + i, list + i + 1, sizeof *list * (size_t)(*count - i - 1));
            --*count;
            return;
        }
}

/* A cache that the model carries by hand is the history of what it stands before. */
static void drop_cache(tw_graph *g, const tw_cache *cache, tw_diag *diag)
{
    for (int i = 0; i < g->state_count; i++)
        if (g->states[i].current == cache->current) {
            memmove(g->states + i, g->states + i + 1,
                    sizeof *g->states * (size_t)(g->state_count - i - 1));
            g->state_count--;
            break;
        }
    if (cache->current->is_input)
        tw_warn(diag, cache->current->name, NULL,
                "is what output %.80s was a run before: the plan keeps it as state",
                cache->next->name);
    drop_value(g->inputs, &g->input_count, cache->current);
    drop_value(g->outputs, &g->output_count, cache->next);
    cache->current->is_input = cache->current->is_state = false;
    cache->next->is_output = false;
    for (int i = 0; i < g->output_count; i++)
        cache->next->is_output |= g->outputs[i] == cache->next;
}

tw_value *tw_stream_countdown(tw_streaming *s, int64_t runs)
{
    tw_graph *g = s->graph;
    int32_t *initial = tw_alloc(g->arena, sizeof *initial);
    *initial = runs > INT32_MAX ? INT32_MAX : (int32_t)runs;
    tw_value *left =
        tw_graph_state(g, "runs to go", tw_shape_of(TW_S32, 1, (int32_t[]){1}), initial);
    tw_node *count = tw_graph_node(g, tw_op_by_code(TW_OPCODE_countdown), "runs to go", &left, 1, 2,
                                   NULL, NULL, s->diag);
    return count && tw_graph_state_next(g, left, count->out[0], s->diag) ? count->out[1] : NULL;
}

/* Outputs wait until everything that they depend on has come. */
static bool hold_outputs(tw_streaming *s)
{
    tw_graph *g = s->graph;
    const int64_t runs = (s->depth + s->hop - 1) / s->hop - 1;
    if (runs <= 0)
        return true;
    tw_value *ready = tw_stream_countdown(s, runs);
    if (!ready)
        return false;
    for (int i = 0; i < g->output_count; i++) {
        tw_value *old = g->outputs[i];
        tw_node *node =
            tw_append(g, TW_OPCODE_await, old->name, (tw_value *[]){old, ready}, 2, NULL, s->diag);
        if (!node)
            return false;
        node->out[0]->quant = old->quant;
        tw_hand_over(old, node->out[0]);
        for (int k = g->output_count - 1; k >= i; k--)
            if (g->outputs[k] == old)
                g->outputs[k] = node->out[0];
    }
    return true;
}

bool tw_stream_rewrite(tw_streaming *s)
{
    const int count = s->graph->node_count;
    int wish = 0;
    s->input->shape.dim[s->axis] = (int32_t)s->hop;
    for (int n = 0; n < count; n++)
        if (!rewrite_node(s, s->graph->nodes[n], &wish))
            return false;
    for (; wish < s->wish_count; wish++)
        if (!rewrite_output(s, &s->wishes[wish]))
            return false;
    for (int i = 0; i < s->cache_count; i++)
        drop_cache(s->graph, &s->caches[i], s->diag);
    return tw_stream_begin_layers(s) && hold_outputs(s) && tw_graph_sweep(s->graph, s->diag);
}
