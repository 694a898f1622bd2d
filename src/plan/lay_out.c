/* Bodies laid out in one graph: see control.h. */
#include <string.h>

#include "ops/control.h"
#include "ops/ledger.h"
#include "plan/control.h"
#include "plan/ends.h"

typedef struct lay_out {
    tw_graph *graph;
    uint32_t most;
    tw_diag *diag;
} lay_out;

/* What stands for a value: a body's input for what it was handed. */
static tw_value *resolved(tw_value *v)
{
    while (v->forward)
        v = v->forward;
    return v;
}

static int add_control(lay_out *l, uint32_t kind, const tw_value *value, uint32_t most)
{
    tw_graph *g = l->graph;
    tw_grow(g->arena, &g->controls, g->control_count, &g->control_capacity, sizeof *g->controls);
    g->controls[g->control_count] = (tw_control){kind, g->node_count, -1, value, most, -1};
    return g->control_count++;
}

static void append_node(tw_graph *g, tw_node *node)
{
    tw_grow(g->arena, &g->nodes, g->node_count, &g->node_capacity, sizeof *g->nodes);
    g->nodes[g->node_count++] = node;
}

/* A copy of `from` under a name of its own. */
static tw_value *copy(lay_out *l, const char *name, tw_value *from)
{
    tw_node *node = tw_graph_node(l->graph, tw_op_by_code(TW_OPCODE_copy), name, &from, 1, 1, NULL,
                                  NULL, l->diag);
    if (!node)
        return NULL;
    node->out[0]->quant = from->quant;
    return node->out[0];
}

/* `out`, a value without a producer, becomes a copy of `from`. */
static bool copy_to(lay_out *l, tw_value *out, tw_value *from)
{
    tw_value *made = copy(l, out->name, from);
    if (!made)
        return false;
    tw_node *node = made->producer;
    node->out[0] = out;
    out->producer = node;
    return true;
}

/* The first value of a place. */
static bool copy_to_place(lay_out *l, tw_value *place, tw_value *from)
{
    place->is_target = true;
    return copy_to(l, place, from);
}

/* `out` is nothing but `value`; a result of the network keeps its own name. */
static bool stand_for(lay_out *l, tw_value *out, tw_value *value)
{
    if (out->is_output)
        return copy_to(l, out, value);
    out->forward = value;
    return true;
}

static bool write_into(lay_out *l, tw_value *place, tw_value *from)
{
    tw_value *made = copy(l, place->name, from);
    if (made)
        made->into = place;
    return made != NULL;
}

static void hand_in(tw_graph *body, tw_value *const *operands)
{
    for (int i = 0; i < body->input_count; i++) {
        body->inputs[i]->forward = operands[i];
        body->inputs[i]->is_input = false;
    }
}

static bool lay_out_nodes(lay_out *l, tw_node *const *nodes, int count);

/* The nodes and constants of a body become the graph's; `out` receives its results. Depth is bounded
 * by the checker. */
static bool lay_out_body(lay_out *l, tw_graph *body, tw_value **out)
{
    tw_graph *g = l->graph;
    for (int i = 0; i < body->value_count; i++) {
        tw_value *v = body->values[i];
        v->is_output = false;
        if (v->forward)
            continue;
        v->name = tw_unique_name(g, v->name);
        tw_grow(g->arena, &g->values, g->value_count, &g->value_capacity, sizeof *g->values);
        g->values[g->value_count++] = v;
    }
    if (!lay_out_nodes(l, body->nodes, body->node_count))
        return false;
    for (int i = 0; i < body->output_count; i++)
        out[i] = resolved(body->outputs[i]);
    return true;
}

static bool has_results(const tw_node *node)
{
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i])
            return true;
    return false;
}

/* The branch is known after all. */
static bool lay_out_chosen(lay_out *l, tw_node *node)
{
    tw_value *out[TW_MAX_NODE_OPERANDS] = {NULL};
    tw_graph *body = node->body[*(const uint8_t *)node->in[0]->data ? 0 : 1];
    hand_in(body, node->in + 1);
    if (!lay_out_body(l, body, out))
        return false;
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i] && !stand_for(l, node->out[i], out[i]))
            return false;
    return true;
}

static bool lay_out_if(lay_out *l, tw_node *node)
{
    tw_value *out[TW_MAX_NODE_OPERANDS] = {NULL};
    if (!has_results(node))
        return true;
    if (!node->in[0])
        return false; /* never: the checker has seen it */
    if (node->in[0]->data)
        return lay_out_chosen(l, node);
    int yes = add_control(l, TW_CONTROL_IF, node->in[0], 0);
    hand_in(node->body[0], node->in + 1);
    hand_in(node->body[1], node->in + 1);
    if (!lay_out_body(l, node->body[0], out))
        return false;
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i] && !copy_to_place(l, node->out[i], out[i]))
            return false;
    int no = add_control(l, TW_CONTROL_ELSE, NULL, 0);
    if (!lay_out_body(l, node->body[1], out))
        return false;
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i] && !write_into(l, node->out[i], out[i]))
            return false;
    int end = add_control(l, TW_CONTROL_END, NULL, 0);
    l->graph->controls[yes].partner = no;
    l->graph->controls[no].partner = end;
    return true;
}

/* ---- loops ---- */

/* Operand i goes round unchanged: the loop only reads it. */
static bool is_unchanged(const tw_node *node, int i)
{
    const tw_graph *body = node->body[1];
    return i >= node->out_count || body->outputs[i] == body->inputs[i];
}

/* What the loop carries gets its places; `operands` receives what the bodies read. */
static bool begin_carried(lay_out *l, tw_node *node, tw_value **operands, bool *carries)
{
    *carries = false;
    for (int i = 0; i < node->in_count; i++) {
        tw_value *place = i < node->out_count ? node->out[i] : NULL;
        operands[i] = node->in[i];
        if (!operands[i])
            return false; /* never: the checker has seen it */
        if (is_unchanged(node, i)) {
            if (place && !stand_for(l, place, node->in[i]))
                return false;
            continue;
        }
        *carries = true;
        operands[i] = place ? place : copy(l, node->in[i]->name, node->in[i]);
        if (!operands[i] || (place && !copy_to_place(l, place, node->in[i])))
            return false;
        operands[i]->is_target = true;
    }
    return true;
}

/* Results of a round that lie where another is about to be written are taken aside first. */
static bool end_round(lay_out *l, const tw_node *node, tw_value *const *operands, tw_value **out)
{
    for (int i = 0; i < node->out_count; i++) {
        const tw_value *root = tw_view_root(out[i]);
        bool moves = false;
        for (int k = 0; k < node->out_count; k++)
            moves |= k != i && !is_unchanged(node, k) && root == operands[k];
        if (!is_unchanged(node, i) && moves)
            out[i] = copy(l, operands[i]->name, out[i]);
        if (!out[i])
            return false;
    }
    for (int i = 0; i < node->out_count; i++)
        if (!is_unchanged(node, i) && !write_into(l, operands[i], out[i]))
            return false;
    return true;
}

/* A condition without a step of its own gets one: every part of a loop has steps. */
static bool ask(lay_out *l, tw_node *node, tw_value **condition)
{
    const int before = l->graph->node_count;
    bool steps = false;
    if (!lay_out_body(l, node->body[0], condition))
        return false;
    for (int n = before; n < l->graph->node_count; n++)
        steps |= l->graph->nodes[n]->op->kind != TW_VIEW;
    if (!steps)
        *condition = copy(l, "condition", *condition);
    return *condition != NULL;
}

static bool lay_out_while(lay_out *l, tw_node *node)
{
    tw_value *operands[TW_MAX_NODE_OPERANDS] = {NULL}, *out[TW_MAX_NODE_OPERANDS] = {NULL};
    tw_value *condition = NULL;
    const int32_t most = ((const tw_loop_attributes *)node->attributes)->most;
    bool carries;
    if (!begin_carried(l, node, operands, &carries))
        return false;
    if (!carries)
        return true; /* nothing comes of its rounds */
    int loop = add_control(l, TW_CONTROL_LOOP, NULL, 0);
    hand_in(node->body[0], operands);
    hand_in(node->body[1], operands);
    if (!ask(l, node, &condition))
        return false;
    int round = add_control(l, TW_CONTROL_WHILE, condition, most ? (uint32_t)most : l->most);
    if (!lay_out_body(l, node->body[1], out) || !end_round(l, node, operands, out))
        return false;
    int repeat = add_control(l, TW_CONTROL_REPEAT, NULL, 0);
    l->graph->controls[loop].partner = round;
    l->graph->controls[round].partner = repeat;
    l->graph->controls[repeat].partner = loop;
    return true;
}

/* The ordering of waits has put what does not depend on it in front, and has seen to outputs. */
static bool lay_out_await(lay_out *l, tw_node *node)
{
    (void)add_control(l, TW_CONTROL_AWAIT, node->in[1], 0);
    return stand_for(l, node->out[0], node->in[0]);
}

static bool lay_out_nodes(lay_out *l, tw_node *const *nodes, int count)
{
    for (int n = 0; n < count; n++) {
        tw_node *node = nodes[n];
        bool ok = true;
        for (int i = 0; i < node->in_count; i++)
            if (node->in[i])
                node->in[i] = resolved(node->in[i]);
        if (node->op->code == TW_OPCODE_branch)
            ok = lay_out_if(l, node);
        else if (node->op->code == TW_OPCODE_loop)
            ok = lay_out_while(l, node);
        else if (node->op->code == TW_OPCODE_await)
            ok = lay_out_await(l, node);
        else
            append_node(l->graph, node);
        if (!ok)
            return false;
    }
    return true;
}

bool tw_lay_out_bodies(tw_graph *graph, uint32_t most, tw_diag *diag)
{
    lay_out l = {graph, most, diag};
    tw_node **nodes = graph->nodes;
    const int count = graph->node_count;
    bool any = false;
    for (int n = 0; n < count; n++)
        any |= nodes[n]->op->bodies > 0 || nodes[n]->op->code == TW_OPCODE_await;
    if (!any)
        return true;
    graph->nodes = NULL;
    graph->node_count = graph->node_capacity = 0;
    if (!lay_out_nodes(&l, nodes, count))
        return false;
    for (int i = 0; i < graph->output_count; i++)
        graph->outputs[i] = resolved(graph->outputs[i]);
    for (int i = 0; i < graph->state_count; i++)
        if (graph->states[i].next)
            graph->states[i].next = resolved(graph->states[i].next);
    return tw_graph_sweep(graph, diag);
}
